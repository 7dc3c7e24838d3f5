"""What a metric is: a documented pure function, its unit, which way is better, how it repeats, what it resolves."""

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Literal

import numpy as np

from reference_engine.dense import norm
from reference_engine.elementary import squared
from scenarios.scenario import Noise
from validation.metrics.observation import Observation, free, free_mass, point_speed, shared, size
from validation.records.measurement import Better, Measurement

Scale = Literal["width", "link", "angle", "speed", "spin", "energy", "time", "momentum", "angular momentum", "share"]
"""What of the scene a value is large or small against."""
Happens = Literal["always", "perhaps"]
"""perhaps: NaN where what the metric is about has not happened. always: every motion has a value, and one beyond the
largest double is infinite."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A value with what differs from the metric's own unit and direction in this scenario."""

    value: float
    unit: str | None = None
    better: Better | None = None
    resolution: float | None = None  # in the same unit, where the sampling limits it


@dataclass(frozen=True, slots=True)
class Sentence:
    """What a value means for the bodies. {new} is the value with its unit, {name} what the metric is called, {subject}
    what the scene is of."""

    of_bodies: str = "{name} is {new}"
    of_subject: str = ""  # where it is known what the scene is of; "": as of_bodies
    never: str = ""  # where what the metric is about has not happened; "": it is no number


@dataclass(frozen=True, slots=True)
class Metric:
    measure: Callable[[Observation], float | Reading | None]
    """NaN: what it is about has not happened. None: it says nothing about such a scene, and is left out."""
    unit: str
    noise: Noise  # where the scenario does not say
    _: KW_ONLY
    better: Better = "lower"
    happens: Happens = "always"
    law: str = ""  # the law or invariant that it measures; every metric of which less is better has one
    scale: Scale | None = None  # None: that of its unit
    sentence: Sentence = Sentence()

    @property
    def name(self) -> str:
        return self.measure.__name__

    def of(self, observation: Observation) -> Measurement | None:
        """None where it says nothing about such a scene."""
        with np.errstate(over="ignore", invalid="ignore"):  # speeds may be as large as doubles are
            found = self.measure(observation)
            if found is None:
                return None
            reading = found if isinstance(found, Reading) else Reading(value=found)
            unit, noise = reading.unit or self.unit, observation.scenario.noise.get(self.name, self.noise)
            resolution = reading.resolution
            if noise not in ("exact", "timing"):
                step = step_fall(observation, unit) if noise in ("step", "chaotic") else 0.0
                open_to_doubt = max(round_off(observation, unit), step)
                if open_to_doubt > 0.0:
                    resolution = max(resolution or 0.0, open_to_doubt)
        value = float(reading.value)
        if math.isnan(value) and self.happens == "always":
            value = math.inf  # a sum or difference of what is beyond the largest double
        better = reading.better or self.better
        return Measurement(metric=self.name, value=value, unit=unit, better=better, noise=noise, resolution=resolution)


# --- what a measurement cannot resolve ------------------------------------------------------------------------------
#
# The reasons are single precision, and the time step at a contact. A body that starts in contact is held from the first
# step on; where round-off puts it 1e-12 m off, it falls freely through that step first: by g dt^2, at g dt. Every later
# contact is found as late. In runs of the same code all of this is noise, and the falls of several bodies are
# independent: they add like a random walk.

SINGLE = 1e-6  # of the scale of a quantity: single precision, several operations
LEAST_SHARE = 0.01  # ratios of impulses are taken to a scale that may be as small a share of the largest


@shared
def scales(o: Observation) -> dict[str, float]:
    """Of each unit the largest that the motion has of it."""
    M, L, v = float(free_mass(o).sum()), size(o), float(point_speed(o).max())
    momentum = M * v
    return {
        "m": L,
        "rad": 1.0,
        "m/s": v,
        "J": 0.5 * momentum * v,
        "kg m/s": momentum,
        "kg m^2/s": momentum * L,
        "1": 1.0 / LEAST_SHARE,
    }


def round_off(o: Observation, unit: str) -> float:
    """In `unit`: what single precision leaves open; 0 where that says nothing, or the scale is beyond all bounds."""
    scale = scales(o).get(unit, 0.0)
    return SINGLE * scale if math.isfinite(scale) else 0.0


def step_fall(o: Observation, unit: str) -> float:
    """In `unit`: what free fall through a time step leaves open. With F free bodies of mass M, bounding radius L/2

    d = (1 + sqrt(F)) g dt^2 (m),  2 d / L (rad),  d / dt (m/s),  M g d (J),  M d / dt (kg m/s),  d / (g dt) (s)
    """
    g, dt, M = float(norm(o.gravity)), o.trajectory.dt, float(free_mass(o).sum())
    several = 1.0 + math.sqrt(int(free(o).sum()))
    d = several * g * squared(dt)
    return {
        "m": d,
        "rad": 2.0 * d / size(o),
        "m/s": d / dt,
        "J": M * g * d,
        "kg m/s": M * d / dt,
        "s": several * dt,
    }.get(unit, 0.0)

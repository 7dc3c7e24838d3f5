"""What a metric is: a documented pure function, its unit, which way is better, how it repeats."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from scenarios.scenario import Noise
from validation.metrics.observation import Observation
from validation.metrics.resolution import round_off, step_fall
from validation.records.measurement import Better, Measurement

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    measure: Callable[[Observation], float | Reading | None]
    """NaN: what it is about has not happened. None: it says nothing about such a scene, and is left out."""
    unit: str
    better: Better
    noise: Noise
    """Where the scenario does not say."""
    happens: Happens
    law: str = ""  # the law or invariant that it measures; every metric of which less is better has one
    sentence: Sentence = Sentence()

    @property
    def name(self) -> str:
        return self.measure.__name__

    @property
    def summary(self) -> str:
        """The first sentence of its documentation."""
        return " ".join((inspect.getdoc(self.measure) or "").split("\n\n", 1)[0].split())

    def of(self, observation: Observation) -> Measurement | None:
        with np.errstate(over="ignore", invalid="ignore"):  # speeds may be as large as doubles are
            return self._of(observation)

    def _of(self, observation: Observation) -> Measurement | None:
        found = self.measure(observation)
        if found is None:
            return None
        reading = found if isinstance(found, Reading) else Reading(value=found)
        unit = reading.unit or self.unit
        noise = observation.scenario.noise.get(self.name, self.noise)
        resolution = reading.resolution
        if noise not in ("exact", "timing"):
            step = step_fall(observation, unit) if noise in ("step", "chaotic") else 0.0
            open_to_doubt = max(round_off(observation, unit), step)
            if open_to_doubt > 0.0:
                resolution = max(resolution or 0.0, open_to_doubt)
        value = float(reading.value)
        if math.isnan(value) and self.happens == "always":
            value = math.inf  # a sum or difference of what is beyond the largest double
        return Measurement(
            metric=self.name,
            value=value,
            unit=unit,
            better=reading.better or self.better,
            noise=noise,
            resolution=resolution,
        )

"""Rest: when it begins, and how still it is.

At rest, every point of every free body is slower than 1 % of sqrt(g L), L the diameter of the smallest one (3.7 cm/s
for a unit square), from then to the end, for sqrt(L / g) at least: what is slow only for a moment at the top of its
flight is held by nothing. Jitter and drift are taken over the last half of the time at rest, when settling is over.
Speeds are as recorded: what rests has no acceleration that a lag between velocities and poses could multiply.
"""

import functools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from reference_engine import elementary
from reference_engine.dense import mul, norm
from reference_engine.elementary import squared
from scenarios.forces import jointed
from scenarios.given_motion import given_bodies
from validation.metrics.axes import rotation_from
from validation.metrics.metric import Metric, Sentence
from validation.metrics.observation import Array, Observation, bounding_radius, free, length, point_speed, shared, size
from validation.metrics.proximity import pairs
from validation.records.trajectory import PlanarTrajectory

REST_SPEED = 0.01  # of sqrt(g L)
NEVER = "bodies do not come to rest"
TENTH = 0.1  # of the window: drift is from the mean over the first to the mean over the last


class Stillness(NamedTuple):
    """Free bodies F over the W samples of the last half of the time at rest."""

    weight: Array  # (W,) sum 1: share of time of each sample
    speed: Array  # (W, F) m/s: sqrt(v^2 + (bounding radius spin)^2)
    position: Array  # (W, F, 3 or 6) m: position, and rotation times bounding radius; about the first sample


def can_rest(o: Observation) -> bool:
    """Whether there is gravity, and something that may hold a body against it, and nothing moves by a plan."""
    return bool(np.any(o.gravity)) and bool(pairs(o) or jointed(o.scene)) and not given_bodies(o.scene)


def rest_time(o: Observation) -> float | None:
    """Time from which all bodies stay slower than the rest speed; NaN where they never do."""
    return rest_start(o) if can_rest(o) else None


@shared
def rest_start(o: Observation) -> float:
    return start_of_rest(o, 1.0)


def start_of_rest(o: Observation, leniency: float) -> float:
    """s; NaN where it never is at rest. With a leniency of 2 bodies may be twice as fast, for half as long."""
    g = float(norm(o.gravity))
    fastest = leniency * REST_SPEED * math.sqrt(g * size(o))
    moving = np.flatnonzero((point_speed(o)[:, free(o)] > fastest).any(axis=1))
    first = int(moving[-1]) + 1 if moving.size else 0
    if first == len(o.time) or o.time[-1] - o.time[first] < math.sqrt(size(o) / g) / leniency:
        return math.nan
    return float(o.time[first])


def at_rest(quantity: Callable[[Stillness], float]) -> Callable[[Observation], float | None]:
    """Of the last half of the time at rest; None where nothing can rest, NaN where something never does."""

    @functools.wraps(quantity)
    def measure(o: Observation) -> float | None:
        if not can_rest(o):
            return None
        still = stillness(o)
        return math.nan if still is None else quantity(still)

    return measure


@at_rest
def jitter_velocity(still: Stillness) -> float:
    """Root mean square over time and bodies of the speed at rest, spin counted at the body's furthest point."""
    return math.sqrt(float((mul(still.weight, squared(still.speed))).mean()))


@at_rest
def jitter_position(still: Stillness) -> float:
    """Root mean square over time and bodies of the displacement from the mean position at rest, rotation included."""
    mean = np.einsum("w,wfi->fi", still.weight, still.position)
    return math.sqrt(float((mul(still.weight, squared(length(still.position - mean)))).mean()))


@at_rest
def rest_drift(still: Stillness) -> float:
    """How far the body that creeps most gets, from the first tenth to the last tenth of the window, means of each."""
    passed = np.cumsum(still.weight)
    first, last = still.position[passed <= max(TENTH, passed[0])], still.position[passed >= 1.0 - TENTH]
    return float(length(last.mean(axis=0) - first.mean(axis=0)).max())


@shared
def stillness(o: Observation) -> Stillness | None:
    """Of the last half of the time at rest; None where it never rests."""
    start = rest_start(o)
    if math.isnan(start):
        return None
    trajectory, moving, arm = o.trajectory, free(o), bounding_radius(o)[free(o)]
    window = o.time >= 0.5 * (start + o.time[-1])
    time, velocity, spin = o.time[window], trajectory.velocity[window][:, moving], trajectory.spin[window][:, moving]
    position = trajectory.position[window][:, moving]
    if isinstance(trajectory, PlanarTrajectory):
        spin = spin[..., None]
        angle = trajectory.angle[window][:, moving]
        turned = (angle - angle[0])[..., None]
    else:
        turned = rotation_vector(trajectory.orientation[window][:, moving])
    weight = np.convolve(np.diff(time, prepend=time[0], append=time[-1]), [0.5, 0.5], "valid")
    return Stillness(
        weight / weight.sum(),
        elementary.hypot(length(velocity), arm * length(spin)),
        np.concatenate([position - position[0], arm[:, None] * turned], axis=2),
    )


def rotation_vector(orientation: Array) -> Array:
    """(W, F, 3) rad: of q q0*, the turn since the first sample, world axes."""
    scalar, vector = rotation_from(orientation[:1], orientation)
    vector, scalar = np.where(scalar < 0.0, -vector, vector), np.abs(scalar)
    sine = length(vector)[..., None]
    # sinc-like and smooth at 0, where angle / sine tends to 2
    return vector * np.where(sine > 1e-12, 2.0 * elementary.atan2(sine, scalar) / np.where(sine > 0.0, sine, 1.0), 2.0)


METRICS = (
    Metric(
        rest_time,
        "s",
        "step",
        better="neither",
        happens="perhaps",
        sentence=Sentence(
            "bodies come to rest after {new}", of_subject="{subject} comes to rest after {new}", never=NEVER
        ),
    ),
    Metric(
        rest_drift,
        "m",
        "round-off",
        happens="perhaps",
        law="rest",
        sentence=Sentence("bodies at rest creep by {new}", of_subject="{subject} creeps by {new} at rest", never=NEVER),
    ),
    Metric(
        jitter_velocity,
        "m/s",
        "round-off",
        happens="perhaps",
        law="rest",
        sentence=Sentence(
            "bodies at rest tremble at {new}", of_subject="{subject} trembles at {new} when at rest", never=NEVER
        ),
    ),
    Metric(
        jitter_position,
        "m",
        "round-off",
        happens="perhaps",
        law="rest",
        sentence=Sentence(
            "bodies at rest tremble by {new}", of_subject="{subject} trembles by {new} when at rest", never=NEVER
        ),
    ),
)

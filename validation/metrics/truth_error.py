"""How far the motion is from the scenario's truth, over the time in which the truth holds."""

import math
from typing import cast

import numpy as np

from reference_engine import elementary
from scenarios.truth import Motion
from validation.metrics.axes import rotation_from
from validation.metrics.impact import impact_time, impacts
from validation.metrics.metric import Metric, Reading, Sentence
from validation.metrics.observation import Array, Flags, Observation, length, shared
from validation.records.trajectory import PlanarTrajectory


@shared
def in_span(o: Observation) -> Flags:
    """(S,) samples at whose time the truth holds."""
    start, end = o.truth.span
    return (o.time >= start) & (o.time <= end)


@shared
def exact_pose(o: Observation) -> Array | None:
    """(S', B, 3 or 7) of the samples in the span; None where the truth knows no poses."""
    return None if o.truth.pose is None else o.truth.pose(o.time[in_span(o)])


def truth_error_position(o: Observation) -> float | None:
    """Largest distance of a centre of mass from where it should be, along the coordinates that the truth knows."""
    exact = exact_pose(o)
    if exact is None:
        return None
    D = o.trajectory.position.shape[2]
    miss = o.trajectory.position[in_span(o)] - exact[..., :D]
    known = ~np.isnan(exact[..., :D])
    if not known.any():
        return math.nan if not len(miss) else None
    return float(length(np.where(known, miss, 0.0)).max())


def truth_error_angle(o: Observation) -> float | None:
    """Largest angle between a body's orientation and the one that it should have.

    Planar: of the unwrapped angles, so that a turn too many counts. Spatial: of the rotation between the two.
    """
    exact = exact_pose(o)
    if exact is None:
        return None
    if isinstance(o.trajectory, PlanarTrajectory):
        miss = np.abs(o.trajectory.angle[in_span(o)] - exact[..., 2])
    else:
        miss = rotation_between(o.trajectory.orientation[in_span(o)], exact[..., 3:])
    if not miss.size:
        return math.nan
    return None if np.isnan(exact[..., -1]).all() else float(np.nanmax(miss))


def rotation_between(q: Array, p: Array) -> Array:
    """(...,) rad in [0, pi]: angle of q p*; accurate also where it is small. (..., 4), (..., 4)"""
    scalar, vector = rotation_from(p, q)
    return 2.0 * elementary.atan2(length(vector), np.abs(scalar[..., 0]))


def truth_error_event_time(o: Observation) -> Reading | None:
    """Largest error of the time of an impact that the truth knows; NaN where one of them does not happen.

    The number-th impact of the pair counts as that impact. The resolution is the largest distance between the samples
    around those impacts.
    """
    if not o.truth.events:
        return None
    index = {member.name: i for i, member in enumerate((*o.scene.bodies, *o.scene.boundaries))}
    found = impacts(o)
    error, resolution = 0.0, 0.0
    for event in o.truth.events:
        a, b = sorted((index[event.a], index[event.b]))
        intervals = found.interval[(found.a == a) & (found.b == b)]
        if len(intervals) < event.number:
            return Reading(value=math.nan)
        moment = impact_time(o, a, b, int(intervals[event.number - 1]))
        error = max(error, abs(moment.time - event.time))
        resolution = max(resolution, moment.resolution)
    return Reading(value=error, resolution=resolution)


def truth_error_goal(o: Observation) -> Reading | None:
    """Error of the scenario's goal quantity, in its own unit; NaN where what it is about has not happened."""
    goal = o.truth.goal
    if goal is None:
        return None
    return Reading(value=abs(float(goal.measure(cast(Motion, o.trajectory))) - goal.value), unit=goal.unit)


METRICS = (
    Metric(
        truth_error_goal,
        "1",
        "tolerance",
        happens="perhaps",
        law="exact solution",
        sentence=Sentence("{name} is off by {new}", never="what the scene is about does not happen"),
    ),
    Metric(
        truth_error_position,
        "m",
        "tolerance",
        happens="perhaps",
        law="exact motion",
        sentence=Sentence(
            "bodies are up to {new} from where they have to be",
            of_subject="{subject} is up to {new} from where it has to be",
        ),
    ),
    Metric(
        truth_error_angle,
        "rad",
        "tolerance",
        happens="perhaps",
        law="exact motion",
        sentence=Sentence(
            "bodies are turned by up to {new} from how they have to be",
            of_subject="{subject} is turned by up to {new} from how it has to be",
        ),
    ),
    Metric(
        truth_error_event_time,
        "s",
        "tolerance",
        happens="perhaps",
        law="exact impacts",
        sentence=Sentence(
            "impacts are up to {new} too early or too late", never="an impact that has to happen does not"
        ),
    ),
)

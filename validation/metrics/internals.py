"""What the engine's process reads of a model beside its motion: work of actuators, errors of servos and ties.

A model is one of the user's own; a scene has none of these. Values are the engine's own of its own state.
"""

import math

import numpy as np

from validation.metrics.metric import Metric, Reading, Sentence
from validation.metrics.observation import Array, Observation
from validation.metrics.proximity import proximities_within


def actuator_work(o: Observation) -> float | None:
    """Work of all actuators on the bodies from the start to the end, summed over every step."""
    internals = o.trajectory.internals
    return None if internals is None or internals.actuators is None or not _is_driven(o) else _last(internals.actuators)


def given_work(o: Observation) -> float | None:
    """Work of a body of given motion on the free ones from the start to the end, summed over every step."""
    internals = o.trajectory.internals
    return None if internals is None or internals.given is None else _last(internals.given)


def tracking_angle(o: Observation) -> float | None:
    """Mean over time of the angle between the control and the position of the position servo that is furthest off."""
    return _mean(o, "tracking_angle")


def tracking_travel(o: Observation) -> float | None:
    """Likewise, the distance, of servos that move along a line or by a tendon."""
    return _mean(o, "tracking_travel")


def tracking_final_angle(o: Observation) -> float | None:
    """That angle at the end."""
    return _at_the_end(o, "tracking_angle")


def tracking_final_travel(o: Observation) -> float | None:
    """That distance at the end."""
    return _at_the_end(o, "tracking_travel")


def equality_angle(o: Observation) -> float | None:
    """Largest angle over time by which a weld, or an equality of hinges, is open."""
    return _largest(o, "equality_angle")


def equality_gap(o: Observation) -> float | None:
    """Largest distance over time by which a weld, or an equality of sliders or tendons, is open."""
    return _largest(o, "equality_gap")


def tendon_excess(o: Observation) -> float | None:
    """Largest length over time by which a tendon is shorter or longer than its limits."""
    return _largest(o, "tendon_excess")


def solver_iterations(o: Observation) -> float | None:
    """Most iterations that the constraint solver took in a step."""
    return _largest(o, "iterations")


def solver_residual(o: Observation) -> float | None:
    """Largest scaled gradient with which the constraint solver ended a step; of PGS its improvement."""
    return _largest(o, "residual")


def contact_range(o: Observation) -> Reading | None:
    """Of a sweep that moves two bodies apart: our own gap between them where the engine has them in contact last."""
    there = _column(o, "in_contact")
    if there is None or not is_swept(o) or o.scene.native is None:
        return None
    probe = o.scene.native.model.probe
    assert probe is not None
    names = [member.name for member in (*o.scene.bodies, *o.scene.boundaries)]
    pair, near = {names.index(probe.body), names.index(probe.other)}, proximities_within(o, FURTHEST)
    last = np.flatnonzero(there > 0.0)
    rows = [k for k in range(len(near)) if len(last) and near.sample[k] == last[-1]]
    gaps = [float(near.gap[k]) for k in rows if {int(near.a[k]), int(near.b[k])} == pair]
    return Reading(value=min(gaps, default=math.nan), resolution=probe.size)


def is_swept(o: Observation) -> bool:
    """Whether a body of a model is moved from outside, so that its poses are no motion."""
    native = getattr(o.scene, "native", None)
    return native is not None and native.model.probe is not None and native.model.probe.kind == "separation"


FURTHEST = 0.2  # m: no sweep goes further
SWEPT = ("contact_range",)
"""All that is measured of a sweep."""


def _is_driven(o: Observation) -> bool:
    internals = o.trajectory.internals
    return internals is not None and internals.actuators is not None and bool(np.any(internals.actuators != 0.0))


def _column(o: Observation, name: str) -> Array | None:
    internals = o.trajectory.internals
    found: Array | None = None if internals is None else getattr(internals, name)
    return found


def _last(values: Array) -> float:
    return float(values[-1])


def _at_the_end(o: Observation, name: str) -> float | None:
    values = _column(o, name)
    return None if values is None else _last(values)


def _largest(o: Observation, name: str) -> float | None:
    values = _column(o, name)
    return None if values is None else float(values.max())


def _mean(o: Observation, name: str) -> float | None:
    values = _column(o, name)
    if values is None or o.time[-1] == o.time[0]:
        return None
    between = 0.5 * (values[1:] + values[:-1])
    return float((between * o.interval).sum() / (o.time[-1] - o.time[0]))


SERVOS, JOINTS = "servos follow", "joints hold"
METRICS = (
    Metric(actuator_work, "J", "tolerance", better="neither", sentence=Sentence("actuators do {new} of work")),
    Metric(given_work, "J", "tolerance", better="neither", sentence=Sentence("given motion does {new} of work")),
    Metric(
        tracking_angle,
        "rad",
        "tolerance",
        law=SERVOS,
        sentence=Sentence("servos are {new} from their controls on average"),
    ),
    Metric(
        tracking_travel,
        "m",
        "tolerance",
        law=SERVOS,
        sentence=Sentence("servos are {new} from their controls on average"),
    ),
    Metric(
        tracking_final_angle,
        "rad",
        "tolerance",
        law=SERVOS,
        sentence=Sentence("at the end servos are {new} from their controls"),
    ),
    Metric(
        tracking_final_travel,
        "m",
        "tolerance",
        law=SERVOS,
        sentence=Sentence("at the end servos are {new} from their controls"),
    ),
    Metric(
        equality_angle,
        "rad",
        "tolerance",
        law=JOINTS,
        sentence=Sentence("welds and equalities of hinges open by {new}"),
    ),
    Metric(
        equality_gap,
        "m",
        "tolerance",
        law=JOINTS,
        sentence=Sentence("welds and equalities of sliders open by {new}"),
    ),
    Metric(
        tendon_excess,
        "m",
        "tolerance",
        law=JOINTS,
        sentence=Sentence("tendons go {new} beyond their limits"),
    ),
    Metric(
        contact_range,
        "m",
        "tolerance",
        better="neither",
        happens="perhaps",
        sentence=Sentence("contact begins at a gap of {new}", never="there is no contact at any gap"),
    ),
    Metric(
        solver_iterations,
        "1",
        "chaotic",
        better="neither",
        sentence=Sentence("the constraint solver takes up to {new} iterations"),
    ),
    Metric(
        solver_residual,
        "1",
        "chaotic",
        better="neither",
        sentence=Sentence("the constraint solver ends up to {new} from its minimum, by its scaled gradient"),
    ),
)

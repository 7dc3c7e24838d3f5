"""How far joints go beyond their limits, by the poses of the bodies that they tie.

Of a model the engine says where a joint is at the start; how far it has gone since then is measured. Where poses do
not give it, of balls and of several joints of one body, it is what the engine's own coordinates say.
"""

import numpy as np

from reference_engine import elementary
from reference_engine.dense import cross, norm
from scenarios.joints import AxialJoint
from scenarios.native import JointLimit
from scenarios.scene import Hinge, JointLimits, Slider
from validation.metrics.axes import to_body_axes
from validation.metrics.joint_gap import anchor
from validation.metrics.metric import Metric, Sentence
from validation.metrics.observation import Array, Observation
from validation.records.trajectory import SpatialTrajectory

WORLD = np.array((1.0, 0.0, 0.0, 0.0))


def limit_excess_angle(o: Observation) -> float | None:
    """Largest angle over time by which any hinge, or ball of a model, is beyond its limits."""
    return _excess(o, Hinge, "limit_angle")


def limit_excess_travel(o: Observation) -> float | None:
    """Largest distance over time by which any slider is beyond its limits."""
    return _excess(o, Slider, "limit_travel")


def _excess(o: Observation, kind: type[Hinge | Slider], column: str) -> float | None:
    """`column`: of the engine's own account."""
    native = getattr(o.scene, "native", None)
    joints = {joint.name: joint for joint in o.scene.joints if isinstance(joint, kind)}
    limits: list[tuple[Hinge | Slider, float, JointLimit | JointLimits]] = [
        (joint, joint.start, joint.limits) for joint in joints.values() if joint.limits is not None
    ]
    if native is not None:
        limits += [(joints[one.joint], one.start, one) for one in native.limits if one.joint in joints]
    found = [_beyond(limit, value_of(o, joint, start)) for joint, start, limit in limits]
    own = None if o.trajectory.internals is None else getattr(o.trajectory.internals, column)
    found += [] if own is None else [own]
    return float(np.max([beyond.max() for beyond in found])) if found else None


def _beyond(limit: JointLimit | JointLimits, value: Array) -> Array:
    return np.maximum(0.0, np.maximum(limit.low - value, value - limit.high))


def value_of(o: Observation, joint: AxialJoint, start: float) -> Array:
    """(S,) rad or m, where a hinge or slider is; `start`: where it is at the first sample."""
    axis = np.array(joint.axis) / norm(np.array(joint.axis))
    q = _orientation(o, joint.a)
    if isinstance(joint, Slider):
        apart = anchor(o, joint.a, joint.anchor_a) - anchor(o, joint.b, joint.anchor_b)
        along = (to_body_axes(q, apart) * axis).sum(axis=1)
        return start + (along - along[0])
    turn = _product(_conjugate(_orientation(o, joint.b)), q)  # of a, seen from b
    since = _product(_conjugate(turn[:1]), turn)
    angle = 2.0 * elementary.atan2((since[:, 1:] * axis).sum(axis=1), since[:, 0])
    return start + np.unwrap(angle)


def _orientation(o: Observation, name: str | None) -> Array:
    """(S or 1, 4)"""
    assert isinstance(o.trajectory, SpatialTrajectory)
    if name is None:
        return WORLD[None]
    return o.trajectory.orientation[:, [body.name for body in o.scene.bodies].index(name)]


def _conjugate(q: Array) -> Array:
    return q * np.array((1.0, -1.0, -1.0, -1.0))


def _product(p: Array, q: Array) -> Array:
    w, u, w0, u0 = p[:, :1], p[:, 1:], q[:, :1], q[:, 1:]
    scalar = w * w0 - (u * u0).sum(axis=1, keepdims=True)
    return np.concatenate([scalar, w * u0 + w0 * u + cross(*np.broadcast_arrays(u, u0))], axis=1)


METRICS = (
    Metric(
        limit_excess_angle,
        "rad",
        "tolerance",
        law="joints hold",
        sentence=Sentence(
            "hinges turn {new} beyond their limits", of_subject="hinges of {subject} turn {new} beyond their limits"
        ),
    ),
    Metric(
        limit_excess_travel,
        "m",
        "tolerance",
        law="joints hold",
        sentence=Sentence(
            "sliders go {new} beyond their limits", of_subject="sliders of {subject} go {new} beyond their limits"
        ),
    ),
)

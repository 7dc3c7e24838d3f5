"""How far joints come apart."""

from typing import Any

import numpy as np

from reference_engine import elementary
from reference_engine.dense import cross
from validation.metrics.metric import Metric, Sentence
from validation.metrics.observation import Array, Observation, length
from validation.records.trajectory import PlanarTrajectory


def joint_gap(o: Observation) -> float | None:
    """Largest distance over time by which any joint is apart.

    Revolute, ball, hinge, fixed: between the two anchors. Prismatic, slider: of b's anchor from the line along which
    it may move. Rod: | |d| - length |. Rope: what it is longer than its length. Track: from the nearest point of the
    curve. What bodies turn that must not is not in it.
    """
    if not o.scene.joints:
        return None
    return float(np.max([gap_of(o, joint).max() for joint in o.scene.joints]))


def gap_of(o: Observation, joint: Any) -> Array:
    """(S,) m, of one joint."""
    if joint.kind == "track":
        return joint.curve.nearest(anchor(o, joint.a, joint.anchor_a))[1]
    apart = anchor(o, joint.b, joint.anchor_b) - anchor(o, joint.a, joint.anchor_a)
    distance = length(apart)
    match joint.kind:
        case "revolute" | "ball" | "hinge" | "fixed":
            return distance
        case "prismatic" | "slider":
            ahead = tuple(p + e for p, e in zip(joint.anchor_a, joint.axis))
            axis = anchor(o, joint.a, ahead) - anchor(o, joint.a, joint.anchor_a)
            axis /= length(axis)[:, None]
            return length(apart - (apart * axis).sum(axis=-1, keepdims=True) * axis)
        case "rod":
            return np.abs(distance - joint.length)
        case "rope":
            return np.maximum(distance - joint.length, 0.0)
    raise TypeError(joint)


def anchor(o: Observation, name: str | None, point: tuple[float, ...]) -> Array:
    """(S or 1, D) m: the body's point over time, world axes; of the world where `name` is None."""
    if name is None:
        return np.array([point])
    i = next(i for i, body in enumerate(o.scene.bodies) if body.name == name)
    position = o.trajectory.position[:, i]
    if isinstance(o.trajectory, PlanarTrajectory):
        s, c = elementary.sine_cosine(o.trajectory.angle[:, i])
        return position + np.column_stack([c * point[0] - s * point[1], s * point[0] + c * point[1]])
    w, u = o.trajectory.orientation[:, i, :1], o.trajectory.orientation[:, i, 1:]
    arm = np.broadcast_to(np.array(point), u.shape)
    return position + arm + 2.0 * cross(u, w * arm + cross(u, arm))


METRICS = (
    Metric(
        joint_gap,
        "m",
        "tolerance",
        law="joints hold",
        scale="link",
        sentence=Sentence("joints come apart by {new}", of_subject="{subject} comes apart by {new} at its joints"),
    ),
)

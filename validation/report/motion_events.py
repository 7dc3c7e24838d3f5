"""What there is to jump to in a motion: what happened, laws that it breaks, where it differs from another motion.

Times and words come from what is stored, and from the samples; impacts are marked apart (`player.impact_times`).
"""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from reference_engine.array_types import Array
from scenarios.mass import bounding_radius
from scenarios.scene import Scene
from validation.judging.evidence.divergence import first_divergence
from validation.judging.verdict import Defect
from validation.metrics.energy import gained
from validation.metrics.observation import Observation
from validation.metrics.proximity import proximities
from validation.records.case import Result
from validation.records.names import metric_name
from validation.records.outcome import Outcome
from validation.records.quantities import contrast, quantity
from validation.records.trajectory import PlanarTrajectory, Trajectory
from validation.report.motion import Event, poses_at
from validation.report.sentences import describe_difference, describe_happening

APART = 1e-2  # of the smallest free body's diameter: points that are further apart are seen to be


def happened(outcomes: Iterable[Outcome] | None, scene: Scene) -> list[Event]:
    """Outcomes of which the time is known."""
    index = {body.name: i for i, body in enumerate(scene.bodies)}
    return [
        Event(
            time=one.time,
            kind="outcome",
            text=describe_happening(replace(one, time=None)),
            bodies=tuple(index[name] for name in one.bodies if name in index),
        )
        for one in outcomes or ()
        if one.time is not None
    ]


def one_of_many(trajectory: Trajectory) -> list[Event]:
    """From when on mechanics leaves the motion open."""
    if trajectory.left_open_from is None:
        return []
    text = (
        "from here on the motion is one of many: other contact forces obey all laws, too, and move the bodies otherwise"
    )
    return [Event(time=trajectory.left_open_from, kind="outcome", text=text)]


def passed_limits(o: Observation, defects: Iterable[Defect], result: Result) -> list[Event]:
    """Of the laws that can be followed through time, overlap and energy: when and by whom the limit is first passed."""
    found = []
    members = [member.name for member in (*o.scene.bodies, *o.scene.boundaries)]
    for defect in defects:
        time, pair = _first_beyond(o, defect)
        if time is not None:
            value, limit = contrast(defect.value, defect.limit, defect.unit)
            who = f" ({' and '.join(members[i] for i in pair)})" if pair else ""
            text = (
                f"{metric_name(defect.metric, result.case)} passes {limit}, which physics allows{who}; at most {value}"
            )
            bodies = tuple(i for i in pair if i < len(o.scene.bodies))
            found.append(Event(time=time, kind="law", text=text, bodies=bodies))
    return found


def _first_beyond(o: Observation, defect: Defect) -> tuple[float | None, tuple[int, ...]]:
    """s; and the two bodies, or a body and a boundary, where there are two."""
    if defect.metric == "penetration_max":
        near = proximities(o)
        deep = np.flatnonzero(near.gap < -defect.limit)
        if not len(deep):
            return None, ()
        k = int(deep[np.argmin(near.sample[deep])])
        return float(o.time[near.sample[k]]), (int(near.a[k]), int(near.b[k]))
    if defect.metric == "energy_gain":
        beyond = np.flatnonzero(gained(o) > defect.limit)
        return (float(o.time[beyond[0]]) if len(beyond) else None), ()
    return None, ()


def differences(scene: Scene, own: Trajectory, other: Trajectory, label: str, *, same_engine: bool) -> list[Event]:
    """Of two motions of the scene: the first sample that differs in its bits, where one engine made both, and when
    some body is first seen to be elsewhere."""
    index = {body.name: i for i, body in enumerate(scene.bodies)}
    found = []
    if same_engine:
        members = [member.name for member in (*scene.bodies, *scene.boundaries)]
        first = first_divergence(other, own, members).first
        if first is not None:
            words = describe_difference(first).partition(": ")[2]
            text = f"first difference from {label}: {words}"
            found.append(Event(time=first.time, kind="difference", text=text, bodies=(index[first.body],)))
    least = APART * min(2.0 * bounding_radius(body.shape) for body in scene.bodies if not body.fixed)
    time, apart = distances(scene, own, other)
    seen = np.flatnonzero((apart > least).any(axis=1))
    if len(seen):
        body = int(np.argmax(apart[seen[0]]))
        text = f"differs from {label}: {scene.bodies[body].name} is more than {quantity(least, 'm')} away"
        found.append(Event(time=float(time[seen[0]]), kind="difference", text=text, bodies=(body,)))
    return found


def distances(scene: Scene, own: Trajectory, other: Trajectory) -> tuple[Array, Array]:
    """(T,) s, the samples of `own` that both motions have; (T, B) m: how far some point of a body is at most from where
    it is in the other motion, to first order in the angle between them."""
    time = own.time[own.time <= other.time[-1]]
    a, b = poses_at(own, time), poses_at(other, time)
    d = 2 if isinstance(own, PlanarTrajectory) else 3
    radius = np.array([bounding_radius(body.shape) for body in scene.bodies])
    if d == 2:
        angle = np.abs(a[..., 2] - b[..., 2])
    else:
        q, p = a[..., 3:], b[..., 3:]
        p = np.where((q * p).sum(axis=2, keepdims=True) < 0.0, -p, p)
        angle = 2.0 * np.sqrt(np.square(q - p).sum(axis=2))
    return time, np.sqrt(np.square(a[..., :d] - b[..., :d]).sum(axis=2)) + radius * angle

"""Motion to look at: outlines and frames of it. `pictures` and `player` draw them.

Bodies are drawn as outlines: polylines in the body frame, moved by the recorded poses. Contact forces are red lines
where the engine reported them. Spatial scenes are drawn in a parallel projection that the player can turn.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from reference_engine import rotation
from reference_engine.array_types import Array
from reference_engine.geometry.proximities import Proximities
from scenarios.forces import Spring
from scenarios.joints import Track as TrackJoint
from scenarios.mass import bounding_radius, piece_frame
from scenarios.scene import PlanarScene, Scene
from scenarios.track import Curve
from validation.records.trajectory import PlanarTrajectory, Trajectory

FRAME_RATE = 30.0  # frames/s
MAX_FRAMES = 1500
ROUND, ROUNDER = 40, 96  # points of a body's circle, and of a boundary's, which is larger
CURVE_POINTS = 400  # of a track
FORCE_SHOWN = 0.15  # s for which a reported contact force stays visible
CAMERA = (0.5, 0.25)  # rad: azimuth and elevation of the first look at a spatial scene


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something in a motion to jump to."""

    time: float  # s
    kind: Literal["outcome", "law", "difference"]
    text: str  # what it is, without the time
    bodies: tuple[int, ...] = ()  # of the scene, that it is about


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """One engine's motion, and curves to draw below it: name -> (times, values)."""

    label: str
    trajectory: Trajectory
    note: str = ""
    series: Mapping[str, tuple[Array, Array]] = field(default_factory=dict)
    near: Proximities | None = None  # by our own geometry, of the trajectory's samples
    events: Sequence[Event] = ()
    ended: str = ""  # why the motion ends before the scene does


# --- outlines ---------------------------------------------------------------------------------------------------


def outlines(scene: Scene) -> list[list[Array]]:
    """For each body its polylines, (n, 2) or (n, 3) in the body frame, m."""
    return [_outline(body.shape) for body in scene.bodies]


def _circle(radius: float, u: Any = (1, 0), v: Any = (0, 1), *, points: int = ROUND) -> Array:
    turn = np.linspace(0.0, 2.0 * math.pi, points + 1)[:, None]
    return radius * (np.cos(turn) * np.array(u, float) + np.sin(turn) * np.array(v, float))


def _three_circles(points: int = ROUND) -> list[Array]:
    """Of radius 1, across the axes of space."""
    x, y, z = np.eye(3)
    return [_circle(1.0, u, v, points=points) for u, v in ((x, y), (y, z), (z, x))]


def _closed(points: Any) -> Array:
    p = np.asarray(points, dtype=np.float64)
    return np.vstack([p, p[:1]])


def _outline(shape: Any) -> list[Array]:
    match shape.kind:
        case "disc":
            return [_circle(shape.radius), np.array([[0.0, 0.0], [shape.radius, 0.0]])]
        case "polygon":
            return [_closed(shape.vertices)]
        case "arc-polygon":
            from scenarios.mass import arc_outline

            return [_closed(arc_outline(shape.vertices, shape.bulges))]
        case "sphere":
            return [shape.radius * circle for circle in _three_circles()]
        case "ellipsoid":
            return [np.array(shape.semi_axes) * circle for circle in _three_circles()]
        case "box":
            corners = (
                np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)]) * np.array(shape.size) / 2
            )
            pairs = [(i, j) for i in range(8) for j in range(i) if np.count_nonzero(corners[i] != corners[j]) == 1]
            return [corners[[i, j]] for i, j in pairs]
        case "capsule" | "cylinder":
            r, h = shape.radius, shape.length / 2
            rings = [_circle(r, (1, 0, 0), (0, 1, 0)) + np.array([0, 0, s * h]) for s in (-1, 1)]
            top = h + r if shape.kind == "capsule" else h
            sides = [
                _closed([[r * c, r * s, -h], [r * c, r * s, h], [0, 0, top], [0, 0, -top]])
                for c, s in ((1, 0), (-1, 0), (0, 1), (0, -1))
            ]
            return rings + sides
        case "convex-mesh":
            from scipy.spatial import ConvexHull

            p = np.array(shape.points)
            return [_closed(p[triangle]) for triangle in ConvexHull(p).simplices]
        case "compound":
            return [line for piece in shape.pieces for line in _placed(piece)]
    raise TypeError(shape)


def _placed(piece: Any) -> list[Array]:
    """The lines of a compound's piece, in the frame of the body."""
    origin, axes = piece_frame(piece)
    return [origin + line @ axes.T for line in _outline(piece.shape)]


def boundary_outlines(scene: Scene, extent: float) -> list[Array]:
    """Polylines of the boundaries and tracks in world axes, as far as the eye reaches."""
    lines = [_track_outline(joint.curve, extent) for joint in scene.joints if isinstance(joint, TrackJoint)]
    for b in scene.boundaries:
        if b.kind == "half-plane":
            along = np.array([-b.normal[1], b.normal[0]])
            lines.append(np.array(b.point) + np.outer([-extent, extent], along))
        elif b.kind == "bowl":
            lines.append(np.array(b.center) + _circle(b.radius, points=ROUNDER))
        elif b.kind == "half-space":
            n = np.array(b.normal)
            u, v = rotation.tangents(n / np.linalg.norm(n))
            ends = np.array([-extent, extent])
            for t in np.linspace(-extent, extent, 9):
                lines += [b.point + np.outer(ends, along) + t * across for along, across in ((u, v), (v, u))]
        else:
            lines += [np.array(b.center) + b.radius * circle for circle in _three_circles(ROUNDER)]
    return lines


def _track_outline(curve: Curve, extent: float) -> Array:
    far = np.linspace(0.0, curve.length, CURVE_POINTS)
    return curve.at(np.concatenate([[-extent], far, [curve.length + extent]]))[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A joint or a spring, from an anchor in a body to one in another, or in the world."""

    a: int  # body
    b: int | None  # None: the world
    anchor_a: Array  # (2,) or (3,) m, in the body
    anchor_b: Array  # likewise, or in the world
    elastic: bool  # a spring
    pull: Spring | None = None  # whose end in the world moves along a path, and which acts for a while


def links(scene: Scene) -> list[Link]:
    index = {body.name: i for i, body in enumerate(scene.bodies)}
    return [
        Link(
            a=index[tie.a],
            b=None if tie.b is None else index[tie.b],
            anchor_a=np.array(tie.anchor_a),
            anchor_b=np.array(tie.anchor_b),
            elastic=isinstance(tie, Spring),
            pull=tie if isinstance(tie, Spring) and tie.anchor_path is not None else None,
        )
        for tie in (*(joint for joint in scene.joints if not isinstance(joint, TrackJoint)), *scene.springs)
    ]


# --- frames -----------------------------------------------------------------------------------------------------


def frame_times(tracks: Sequence[Track]) -> Array:
    """Evenly spaced times over the longest track."""
    end = max(float(track.trajectory.time[-1]) for track in tracks)
    count = int(min(MAX_FRAMES, max(2, round(end * FRAME_RATE) + 1)))
    return np.linspace(0.0, end, count)


def poses_at(trajectory: Trajectory, times: Array) -> Array:
    """(T, B, 3) planar, (T, B, 7) spatial; linear between samples, constant beyond the end."""
    t = np.asarray(trajectory.time)
    after = np.clip(np.searchsorted(t, times, side="right"), 1, max(1, len(t) - 1))
    before = after - 1
    if len(t) == 1:
        after = before
    span = np.where(t[after] > t[before], t[after] - t[before], 1.0)
    share = np.clip((times - t[before]) / span, 0.0, 1.0)[:, None, None]
    if isinstance(trajectory, PlanarTrajectory):
        return (1.0 - share) * trajectory.pose[before] + share * trajectory.pose[after]
    position = (1.0 - share) * trajectory.position[before] + share * trajectory.position[after]
    q0, q1 = trajectory.orientation[before], trajectory.orientation[after]
    q1 = np.where((q0 * q1).sum(axis=2, keepdims=True) < 0.0, -q1, q1)
    q = (1.0 - share) * q0 + share * q1
    return np.concatenate([position, q / np.linalg.norm(q, axis=2, keepdims=True)], axis=2)


Rows = list[list[float]]


def forces_at(scene: Scene, trajectory: Trajectory, times: Array) -> list[Rows]:
    """For each frame the contact forces to draw: those of the last report that is not older than FORCE_SHOWN."""
    reported, rows = reported_forces(scene, trajectory)
    latest = np.searchsorted(reported, times + 1e-9) - 1
    return [rows[k] if k >= 0 and t - reported[k] <= FORCE_SHOWN else [] for t, k in zip(times, latest)]


def reported_forces(scene: Scene, trajectory: Trajectory) -> tuple[Array, list[Rows]]:
    """Times of the engine's reports of contacts, and what to draw of each: [body, point ..., force ...], m and N.

    The force is that on the body that can move; where both can, on the one that the scene names later, whichever way
    round the engine names the pair. Forces on a body at one point, as a prism's two edges have in the plane, are one.
    """
    contacts = trajectory.contacts
    if contacts is None or len(contacts.sample) == 0:
        return np.zeros(0), []
    movable = np.array([not body.fixed for body in scene.bodies] + [False] * len(scene.boundaries))
    a, b = contacts.a, contacts.b
    on_b = movable[b] & (~movable[a] | (b > a))
    body = np.where(on_b, b, a)
    force = np.where(on_b, 1.0, -1.0)[:, None] * contacts.impulse / trajectory.dt
    first = np.flatnonzero(np.diff(contacts.sample, prepend=-1))  # rows are in order of their samples
    last = np.append(first[1:], len(contacts.sample))
    reported_times = trajectory.time[contacts.sample[first]]
    drawn: list[Rows] = []
    for begin, end in zip(first, last):
        merged: dict[tuple[float, ...], Array] = {}  # key: body, point
        for i, point, f in zip(body[begin:end].tolist(), contacts.point[begin:end], force[begin:end]):
            if movable[i] and np.isfinite(f).all():
                key = (i, *(float(c) for c in np.round(point, 4)))
                merged[key] = merged.get(key, np.zeros_like(f)) + f
        drawn.append([[*key, *map(float, f)] for key, f in merged.items()])
    return reported_times, drawn


FLATTEST = 0.45  # of a picture: its height over its width
CALM = 2.0  # so many times the extent of the calmest of several tracks is shown


def extent(scene: Scene, tracks: Sequence[Track]) -> tuple[Array, float]:
    """Centre and half-width of what to show: where the bodies are, without those that flew far away.

    Of several motions none that explodes makes the others small.
    """
    centre, halves = _shown(scene, tracks)
    return centre, float(np.max(halves))


def aspect(scene: Scene, tracks: Sequence[Track]) -> float:
    """Height over width of a picture of a planar scene that is wider than high; 1 of any other, which may turn."""
    if not isinstance(scene, PlanarScene):
        return 1.0
    _, (wide, high) = _shown(scene, tracks)
    return float(np.clip(high / wide, FLATTEST, 1.0))


def _shown(scene: Scene, tracks: Sequence[Track]) -> tuple[Array, Array]:
    centre, halves = _extent(scene, tracks)
    calm, least = min((_extent(scene, [track]) for track in tracks), key=lambda found: float(np.max(found[1])))
    return (calm, CALM * least) if np.max(halves) > CALM * np.max(least) else (centre, halves)


def _extent(scene: Scene, tracks: Sequence[Track]) -> tuple[Array, Array]:
    size = max(bounding_radius(body.shape) for body in scene.bodies if not body.fixed)
    points = []
    for track in tracks:
        p = track.trajectory.position[:, [not body.fixed for body in scene.bodies]]
        points.append(p.reshape(-1, p.shape[-1]))
    cloud = np.vstack(points)
    cloud = cloud[np.isfinite(cloud).all(axis=1)]
    middle = np.median(cloud, axis=0)
    start = np.array([body.position for body in scene.bodies if not body.fixed])
    span = 3.0 * float(np.max(np.ptp(start, axis=0))) + 12.0 * size
    curves = [np.array(joint.points) for joint in scene.joints if isinstance(joint, TrackJoint)]
    span += float(max((np.max(np.ptp(curve, axis=0)) for curve in curves), default=0.0))
    near = cloud[(np.abs(cloud - middle) < span).all(axis=1)]
    low, high = near.min(axis=0) - 1.3 * size, near.max(axis=0) + 1.3 * size
    for curve in curves:
        low, high = np.minimum(low, curve.min(axis=0) - size), np.maximum(high, curve.max(axis=0) + size)
    for b in scene.boundaries:
        if b.kind in ("bowl", "hollow-sphere"):
            low = np.minimum(low, np.array(b.center) - 1.05 * b.radius)
            high = np.maximum(high, np.array(b.center) + 1.05 * b.radius)
    return (low + high) / 2, (high - low) / 2


def thin(count: int, most: int) -> slice:
    """Every nth of so many that at most `most` are left."""
    return slice(None, None, max(1, math.ceil(count / most)))


def force_scale(scene: Scene, half: float) -> float:
    """m for each N: the heaviest body's weight, or 1 N without gravity, is a tenth of the picture."""
    g = math.hypot(*scene.gravity)
    weight = max((body.mass or 0.0) * g for body in scene.bodies)
    return 0.2 * half / weight if weight > 0.0 else 0.2 * half

"""How deep bodies with straight and circular edges overlap: by points of the one's boundary inside the other.

Corners, and of each arc its middle and its points towards and away from the features of the other body, where a
shallow overlap is deepest. It asks nothing of the bodies but their boundaries: no convexity, no parts.
"""

import math
from dataclasses import dataclass

import numpy as np

from reference_engine import elementary
from reference_engine.array_types import Array, Flags
from reference_engine.dense import mul
from reference_engine.elementary import squared

CHUNK = 20_000  # points at a time


@dataclass(frozen=True)
class Boundary:
    """Edges of a body, from the origin of its frame; or none: `bowl_radius`, then all outside the circle of its radius,

    else everything below y = 0.
    """

    start: Array  # (E, 2) m
    end: Array  # (E, 2) m
    centre: Array  # (E, 2) m; of straight edges nan
    sweep: Array  # (E,) rad, counter-clockwise; 0 of straight edges
    bowl_radius: float = 0.0  # m

    @property
    def bounding_radius(self) -> float:
        """Furthest point from the origin [m]."""
        if not len(self.start):
            return math.inf
        round_ones = elementary.hypot(*self.centre.T) + elementary.hypot(*(self.start - self.centre).T)
        return float(max(elementary.hypot(*self.start.T).max(), np.nan_to_num(round_ones).max()))


def bulged(vertices: Array, bulges: Array) -> Boundary:
    """Edge i goes from vertex i to the next; bulge = tan(angle / 4), positive to the right of it."""
    start = np.asarray(vertices, np.float64)
    bulge, end = np.asarray(bulges, np.float64)[:, None], np.roll(start, -1, axis=0)
    along = end - start
    with np.errstate(divide="ignore", invalid="ignore"):
        far = (1.0 - squared(bulge)) / (4.0 * bulge)
        centre = 0.5 * (start + end) + far * np.stack([-along[:, 1], along[:, 0]], axis=1)
    centre[bulge[:, 0] == 0.0] = np.nan
    return Boundary(start, end, centre, 4.0 * elementary.atan(bulge[:, 0]))


def inscribed(boundary: Boundary, step: float) -> Array:
    """(n, 2): a polygon within a body whose edges run counter-clockwise: chords of arcs that bulge outward, tangents of

    the others, each over an angle of at most `step`.
    """
    points = []
    for start, centre, sweep in zip(boundary.start, boundary.centre, boundary.sweep):
        points.append(start)
        if sweep == 0.0:
            continue
        count = max(2, math.ceil(abs(sweep) / step))
        inner = np.arange(1, count) / count if sweep > 0.0 else (np.arange(count) + 0.5) / count
        further = 1.0 if sweep > 0.0 else 1.0 / elementary.cos(0.5 * sweep / count)
        x, y = (start - centre) * further
        c, s = elementary.cos(inner * sweep), elementary.sin(inner * sweep)
        points.extend(centre + np.stack([c * x - s * y, s * x + c * y], axis=1))
    return np.array(points)


def depths(boundary: Boundary, points: Array) -> Array:
    """(N,) of points (N, 2) [m] inside the body, from the nearest point of its boundary; negative outside."""
    if not len(boundary.start):
        return elementary.hypot(*points.T) - boundary.bowl_radius if boundary.bowl_radius > 0.0 else -points[:, 1]
    nearest, around = np.full(len(points), np.inf), np.zeros(len(points))
    for start, end, centre, sweep in zip(boundary.start, boundary.end, boundary.centre, boundary.sweep):
        a, b = start - points, end - points
        seen = elementary.atan2(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0], (a * b).sum(axis=1))
        if sweep == 0.0:
            along = end - start
            share = np.clip(-(mul(a, along)) / (mul(along, along)), 0.0, 1.0)
            away = elementary.hypot(*(a + share[:, None] * along).T)
        else:
            from_centre, radius = points - centre, math.dist(start, centre)
            away = np.minimum(elementary.hypot(*a.T), elementary.hypot(*b.T))
            on = is_on(start - centre, sweep, from_centre)
            off = elementary.hypot(*from_centre.T) - radius
            away = np.where(on, np.abs(off), away)
            seen = np.where(off < 0.0, inner_angle(seen, sweep), seen)
        nearest, around = np.minimum(nearest, away), around + seen
    return np.where(np.abs(around) > math.pi, nearest, -nearest)


def inner_angle(seen: Array, sweep: float) -> Array:
    """Angle that an arc subtends at points inside its circle [rad], of the angle in (-pi, pi] between its ends."""
    whole = math.copysign(2.0 * math.pi, sweep)
    if abs(sweep) > 2.0 * math.pi - 1e-9:
        return np.full_like(seen, whole)
    return np.where(seen * sweep < 0.0, seen + whole, seen)


def is_on(start: Array, sweep: float, direction: Array) -> Flags:
    """Do directions (..., 2) from the centre meet the arc that starts at `start`?"""
    turned = elementary.atan2(
        start[0] * direction[..., 1] - start[1] * direction[..., 0],
        start[0] * direction[..., 0] + start[1] * direction[..., 1],
    )
    return np.mod(turned * math.copysign(1.0, sweep), 2.0 * math.pi) <= abs(sweep)


def probes(boundary: Boundary, other: Boundary, x: Array, y: Array, angle: Array) -> Array:
    """(S, K, 2) points of the boundary to look at [m], where the other body has the poses (S,) in its axes."""
    corners = [np.broadcast_to(boundary.start, (len(x), *boundary.start.shape))]
    c, s = elementary.cos(angle)[:, None], elementary.sin(angle)[:, None]
    if len(other.start):
        round_ones = other.centre[other.sweep != 0.0]
        features = np.concatenate([other.start, round_ones])
        along = (other.end - other.start)[other.sweep == 0.0]
        normals = np.stack([along[:, 1], -along[:, 0]], axis=1)
    else:
        features, normals = np.zeros((1, 2)), np.array([[0.0, 1.0]])
    moved = turned(features, c, s) + np.stack([x, y], axis=1)[:, None]
    for start, centre, sweep in zip(boundary.start, boundary.centre, boundary.sweep):
        if sweep == 0.0:
            continue
        radius = math.dist(start, centre)
        middle = 0.5 * sweep + elementary.atan2(*(start - centre)[::-1])
        towards = np.concatenate([turned(normals, c, s), moved - centre], axis=1)
        towards = np.concatenate([towards, -towards], axis=1)
        length = elementary.hypot(towards[..., 0], towards[..., 1])
        unit = towards / np.where(length > 0.0, length, 1.0)[..., None]
        there = np.where(
            (is_on(start - centre, sweep, unit) & (length > 0.0))[..., None], centre + radius * unit, start
        )
        corners += [there, np.broadcast_to(centre + radius * np.array([elementary.cos(middle), elementary.sin(middle)]),
                                           (len(x), 1, 2))]  # fmt: skip
    return np.concatenate(corners, axis=1)


def turned(points: Array, c: Array, s: Array) -> Array:
    """(S, K, 2): points (K, 2) by the angles whose cosines and sines (S, 1) are given."""
    return np.stack([c * points[:, 0] - s * points[:, 1], s * points[:, 0] + c * points[:, 1]], axis=-1)


def deepest(boundary: Boundary, other: Boundary, pose: Array, other_pose: Array) -> Array:
    """(S,) depth of the deepest point found of either body in the other, over poses (S, 3); 0 where there is none."""
    found = np.zeros(len(pose))
    near = np.flatnonzero(
        elementary.hypot(*(pose - other_pose)[:, :2].T) <= boundary.bounding_radius + other.bounding_radius
    )
    for a, b, p, q in ((boundary, other, pose, other_pose), (other, boundary, other_pose, pose)):
        if not len(a.start):
            continue
        for at in np.array_split(near, max(1, len(near) // CHUNK)):
            dx, dy, turn = (q[at] - p[at]).T
            c, s = elementary.cos(p[at, 2]), elementary.sin(p[at, 2])
            points = probes(a, b, c * dx + s * dy, c * dy - s * dx, turn)
            # into the axes of b
            world = turned_each(points, p[at, 2]) + (p[at] - q[at])[:, None, :2]
            there = turned_each(world, -q[at, 2])
            depth = depths(b, there.reshape(-1, 2)).reshape(there.shape[:2])
            found[at] = np.maximum(found[at], depth.max(axis=1, initial=0.0))
    return found


def turned_each(points: Array, angle: Array) -> Array:
    """Points (S, K, 2) by the angles (S,)."""
    c, s = elementary.cos(angle)[:, None], elementary.sin(angle)[:, None]
    return np.stack([c * points[..., 0] - s * points[..., 1], s * points[..., 0] + c * points[..., 1]], axis=-1)

"""Bodies with straight and circular edges: how far apart or deep, for whole trajectories.

Where two boundaries are nearest, a corner of one is, or a point of an arc whose normal meets the other at a right
angle; so it is where one goes into the other by little. Those points of both are looked at (`probes`: corners, and of
each arc its middle and its points towards and away from the features of the other body), each with its distance from
the other body: nothing is asked of convexity. Where bodies overlap by much, edges may cross with all these points
outside (a cross of two bars); so polygons inscribed in both are measured too, by their convex parts, and what they
overlap by more is kept: a lower bound of the depth.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference_engine import elementary
from reference_engine.array_types import Array, Flags, Indices
from reference_engine.dense import mul
from reference_engine.elementary import squared

CHUNK = 2000  # poses of a pair at a time


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


def inner_angle(seen: Array, sweep: float) -> Array:
    """Angle that an arc subtends at points inside its circle [rad], of the angle in (-pi, pi] between its ends."""
    whole = math.copysign(2.0 * math.pi, sweep)
    if abs(sweep) > 2.0 * math.pi - 1e-9:
        return np.full_like(seen, whole)
    return np.where(seen * sweep < 0.0, seen + whole, seen)


def is_on(start: Array, sweep: float, direction: Array) -> Flags:
    """Do directions (..., 2) from the centre meet the arc that starts at `start`?"""
    along = start[0] * direction[..., 0] + start[1] * direction[..., 1]
    return np.mod(elementary.atan2(cross(start, direction), along) * math.copysign(1.0, sweep), 2.0 * math.pi) <= abs(
        sweep
    )


def probes(boundary: Boundary, other: Boundary, x: Array, y: Array, angle: Array) -> Array:
    """(S, K, 2) points of the boundary to look at [m], where the other body has the poses (S,) in its axes."""
    corners = [np.broadcast_to(boundary.start, (len(x), *boundary.start.shape))]
    if len(other.start):
        round_ones = other.centre[other.sweep != 0.0]
        features = np.concatenate([other.start, round_ones])
        along = (other.end - other.start)[other.sweep == 0.0]
        normals = np.stack([along[:, 1], -along[:, 0]], axis=1)
    else:
        features, normals = np.zeros((1, 2)), np.array([[0.0, 1.0]])
    normals, moved = turned(normals, angle), turned(features, angle) + np.stack([x, y], axis=1)[:, None]
    for start, centre, sweep in zip(boundary.start, boundary.centre, boundary.sweep):
        if sweep == 0.0:
            continue
        radius = math.dist(start, centre)
        middle = 0.5 * sweep + elementary.atan2(*(start - centre)[::-1])
        towards = np.concatenate([normals, moved - centre], axis=1)
        towards = np.concatenate([towards, -towards], axis=1)
        length = elementary.hypot(towards[..., 0], towards[..., 1])
        unit = towards / np.where(length > 0.0, length, 1.0)[..., None]
        there = np.where(
            (is_on(start - centre, sweep, unit) & (length > 0.0))[..., None], centre + radius * unit, start
        )
        corners += [there, np.broadcast_to(centre + radius * np.array([elementary.cos(middle), elementary.sin(middle)]),
                                           (len(x), 1, 2))]  # fmt: skip
    return np.concatenate(corners, axis=1)


def turned(points: Array, angle: Array) -> Array:
    """(S, K, 2): points (K, 2) or (S, K, 2) by the angles (S,)."""
    c, s = elementary.cos(angle)[:, None], elementary.sin(angle)[:, None]
    return np.stack([c * points[..., 0] - s * points[..., 1], s * points[..., 0] + c * points[..., 1]], axis=-1)


def deepest(boundary: Boundary, other: Boundary, pose: Array, other_pose: Array) -> Array:
    """(S,) depth of the deepest point found of either body in the other, over poses (S, 3); 0 where there is none."""
    found = np.zeros(len(pose))
    near = np.flatnonzero(
        elementary.hypot(*(pose - other_pose)[:, :2].T) <= boundary.bounding_radius + other.bounding_radius
    )
    for at in np.array_split(near, 1 + len(near) // CHUNK):
        sample, gap, *_ = contact_points(boundary, other, pose[at], other_pose[at], 0.0, 1)
        found[at[sample]] = -gap
    return found


NEXT_TO = 0.5  # cosine between the normals of a second point and the first
SAME_POINT = 1e-9  # of the bounding radius: points that are nearer to one another are one
RIGHT_ANGLE = 1e-7  # sine between the normals of an arc and of what it is nearest to
POINTS = 4  # of one pair, at most


def edge_normals(boundary: Boundary) -> tuple[Array, Array]:
    """(E, 2) unit, outward, at the start and at the end of each edge of a body that lies left of its edges."""
    along = boundary.end - boundary.start
    is_arc = boundary.sweep[:, None] != 0.0
    length = np.where(is_arc[:, 0], 1.0, elementary.hypot(*along.T))[:, None]
    straight = np.stack([along[:, 1], -along[:, 0]], axis=1) / length
    radius = np.where(is_arc[:, 0], elementary.hypot(*(boundary.start - boundary.centre).T), 1.0)[:, None]
    outward = np.sign(boundary.sweep)[:, None] / radius
    first, last = (outward * np.where(is_arc, at - boundary.centre, 0.0) for at in (boundary.start, boundary.end))
    return np.where(is_arc, first, straight), np.where(is_arc, last, straight)


def heights(boundary: Boundary, points: Array) -> tuple[Array, Array]:
    """Height (N,) of points (N, 2) [m] above the body, negative inside, and its outward unit normal (N, 2) below them.

    The nearest point of the boundary is point - height * normal. On a corner the normal lies between its edges'.
    """
    if not len(boundary.start):
        if boundary.bowl_radius == 0.0:
            return points[:, 1].copy(), np.broadcast_to([0.0, 1.0], points.shape).copy()
        distance = elementary.hypot(*points.T)
        inward = -points / np.where(distance > 0.0, distance, 1.0)[:, None]
        return boundary.bowl_radius - distance, np.where(distance[:, None] > 0.0, inward, [0.0, 1.0])
    first, last = edge_normals(boundary)
    between = first + np.roll(last, 1, axis=0)
    least, around = np.full(len(points), np.inf), np.zeros(len(points))
    height, normal, corner = np.zeros(len(points)), np.zeros((len(points), 2)), np.full(len(points), -1)
    for k, (start, end, centre, sweep) in enumerate(zip(boundary.start, boundary.end, boundary.centre, boundary.sweep)):
        a, b = start - points, end - points
        seen = elementary.atan2(cross(a, b), (a * b).sum(axis=1))
        if sweep == 0.0:
            along = end - start
            share = -(mul(a, along)) / (mul(along, along))
            over, above, out = (share >= 0.0) & (share <= 1.0), -(mul(a, first[k])), np.broadcast_to(first[k], a.shape)
        else:
            from_centre, radius, sign = points - centre, math.dist(start, centre), math.copysign(1.0, sweep)
            distance = elementary.hypot(*from_centre.T)
            over = is_on(start - centre, sweep, from_centre)
            above, out = sign * (distance - radius), sign * from_centre / np.maximum(distance, 1e-300)[:, None]
            out[distance == 0.0] = first[k]
            seen = np.where(distance < radius, inner_angle(seen, sweep), seen)
        around += seen
        to_corner = elementary.hypot(*a.T)
        on_edge = over & (np.abs(above) < least)
        least, height, normal, corner = (
            np.where(on_edge, np.abs(above), least), np.where(on_edge, above, height),
            np.where(on_edge[:, None], out, normal), np.where(on_edge, -1, corner),
        )  # fmt: skip
        on_corner = to_corner < least
        least, corner = np.where(on_corner, to_corner, least), np.where(on_corner, k, corner)
    at = np.flatnonzero(corner >= 0)
    height[at] = np.where(np.abs(around[at]) > math.pi, -least[at], least[at])
    away = (points[at] - boundary.start[corner[at]]) / np.where(height[at] == 0.0, 1.0, height[at])[:, None]
    normal[at] = np.where((height[at] == 0.0)[:, None], between[corner[at]], away)
    normal[at] /= elementary.hypot(*normal[at].T)[:, None]
    return height, normal


def corner_cones(boundary: Boundary) -> tuple[Array, Array, Flags]:
    """Outward normals (E, 2) before and after each corner, and whether it is one: it points outward, is not smooth."""
    after, last = edge_normals(boundary)
    before = np.roll(last, 1, axis=0)
    return before, after, cross(before, after) > RIGHT_ANGLE


def cross(a: Array, b: Array) -> Array:
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


def candidate_points(boundary: Boundary, other: Boundary, pose: Array, other_pose: Array) -> tuple[NDArray[Any], ...]:
    """Points of the body, against the other, over poses (S, 3).

    The points (S, K, 2) from the body's place in world axes; their heights (S, K); normals (S, K, 2) of the other body
    in world axes; whether the gap is least there (S, K), and whether it is that of a corner (S, K).
    """
    dx, dy, turn = (other_pose - pose).T
    c, s = elementary.cos(pose[:, 2]), elementary.sin(pose[:, 2])
    points = probes(boundary, other, c * dx + s * dy, c * dy - s * dx, turn)
    world = turned(points, pose[:, 2])
    there = turned(world + (pose - other_pose)[:, None, :2], -other_pose[:, 2])
    height, normal = (
        found.reshape(*there.shape[:2], *found.shape[1:]) for found in heights(other, there.reshape(-1, 2))
    )
    normal = turned(normal, other_pose[:, 2])
    towards = turned(-normal, -pose[:, 2])  # from the body to the other, in axes of the body
    edges = len(boundary.start)
    before, after, is_corner = corner_cones(boundary)
    chosen = [(cross(before, towards[:, :edges]) >= 0.0) & (cross(towards[:, :edges], after) >= 0.0) & is_corner]
    per_arc = (points.shape[1] - edges) // max(1, np.count_nonzero(boundary.sweep))
    for k, edge in enumerate(np.flatnonzero(boundary.sweep)):
        those = slice(edges + k * per_arc, edges + (k + 1) * per_arc)
        out = (points[:, those] - boundary.centre[edge]) * np.sign(boundary.sweep[edge])
        aligned = np.abs(cross(out, towards[:, those])) < RIGHT_ANGLE * elementary.hypot(*np.moveaxis(out, -1, 0))
        chosen.append(aligned & ((out * towards[:, those]).sum(axis=-1) > 0.0))
    corner = np.zeros(height.shape, bool)
    corner[:, :edges] = is_corner
    return world, height, normal, np.concatenate(chosen, axis=1), corner


def contact_points(
    a: Boundary, b: Boundary, pose_a: Array, pose_b: Array, cutoff: float, points: int
) -> tuple[NDArray[Any], ...]:
    """Where bodies are nearer than the cutoff [m], over poses (S, 3).

    Indices of poses (K,), gaps (K,), normals (K, 2) from a to b, points (K, 2) of a and of b [m]. The least gap first;
    with `points` 2 also the other places where the gap is least, and the next nearest corners, so that a block on one
    corner shows its other corner too.
    """
    sides = []
    if len(a.start):
        world, height, normal, least, corner = candidate_points(a, b, pose_a, pose_b)
        sides.append((world, world - height[..., None] * normal, height, -normal, least, corner))
    if len(b.start):
        world, height, normal, least, corner = candidate_points(b, a, pose_b, pose_a)
        world = world + (pose_b - pose_a)[:, None, :2]
        sides.append((world - height[..., None] * normal, world, height, normal, least, corner))
    on_a, on_b, gap, normal, least, corner = (np.concatenate(arrays, axis=1) for arrays in zip(*sides))
    near, same_point = gap < cutoff, SAME_POINT * min(a.bounding_radius, b.bounding_radius)
    each = np.arange(len(gap))
    found: list[Indices] = []
    beside = np.zeros(gap.shape, bool)
    for k in range(POINTS if points > 1 else 1):
        wanted = near & ~beside
        if k > 0:
            wanted &= least | (corner & ((normal * normal[each, found[0]][:, None]).sum(axis=-1) > NEXT_TO))
        chosen = np.where(wanted, gap, np.inf).argmin(axis=1)
        found.append(np.where(wanted[each, chosen], chosen, -1))
        apart = np.abs(on_a - on_a[each, chosen][:, None]).sum(axis=-1) + np.abs(
            on_b - on_b[each, chosen][:, None]
        ).sum(axis=-1)
        beside |= (apart <= same_point) & wanted[each, chosen][:, None]
    chosen = np.stack(found, axis=1)
    sample, nth = np.nonzero(chosen >= 0)
    at = sample, chosen[sample, nth]
    origin = pose_a[sample, :2]
    return sample, gap[at], normal[at], on_a[at] + origin, on_b[at] + origin

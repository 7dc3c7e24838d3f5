"""Our own gaps of a motion, checked row by row against the shapes' support functions.

The signed distance of two convex bodies is the maximum over unit n of

    f(n) = n . (x_b - x_a) - h_a(n) - h_b(-n)

apart and in one another (Cameron & Culley 1986). So f at the normal of a row may not be less than its gap, and f at no
other direction more: tried are normals of faces, products of edges, lines of centres and of corners. Apart, two points
of the bodies that are as far apart as the gap says leave nothing open. A pair that is not listed may have no two points
nearer than the cutoff.

Tolerances: 2^-52 times coordinates and sizes, times `OPERATIONS` for closed forms. In the plane corners count as face
to face that miss it by `FLAT` of their distance (`planar_gap.polygon_polygon`). The others by what
`spatial_proximities` says of them: 1e-9 of the size apart, 1e-5 in one another, beside the uncertainty that a row
states; their normal is that of two points, so it is off by more the nearer these are.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from reference_engine.array_types import Array, Indices
from reference_engine.geometry.proximities import Proximities
from scenarios.scene import colliding_pairs
from validation.tools.fuzzing.independent import shapes
from validation.tools.fuzzing.independent.motion import Motion, in_space, is_planar

OPERATIONS = 512
EPSILON = 2.0**-52
APART, INSIDE = 1e-9, 1e-5  # of the size: of gaps and depths that are searched for
SWEPT = {"sphere", "capsule"}  # a point or a segment with a radius
PLANES = ("half-plane", "half-space")
FLAT = 4e-12
ON_BODIES = 1e-8  # of the size: of points that are searched for
MOST_ROWS = 24  # of a pair that are checked: the smallest gaps, and others
MOST_PRODUCTS = 40  # of edges
ROUNDS = 12  # of the search for near points


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Of one pair, K of them."""

    sample: Indices
    gap: Array
    normal: Array  # (K, 3)
    point_a: Array
    point_b: Array
    uncertainty: Array
    least: Array  # (K,) whether it is the pair's smallest gap at its sample


def wrong_gap(motion: Motion, near: Proximities, cutoff: float) -> str | None:
    """The first row, or missing row, that is wrong; None where all are right."""
    keys = (near.sample * 10**6 + near.a) * 10**6 + near.b
    if (np.diff(keys) < 0).any():
        return "near pairs are not in order"
    members = (*motion.scene.bodies, *motion.scene.boundaries)
    for name_a, name_b in colliding_pairs(motion.scene):
        a, b = sorted((motion.names[name_a], motion.names[name_b]))
        of_pair = np.flatnonzero((near.a == a) & (near.b == b))
        names = f"{members[a].name!r} and {members[b].name!r}"
        for found in (_wrong_row(motion, a, b, _rows(near, of_pair)), _missing(motion, a, b, near, of_pair, cutoff)):
            if found is not None:
                return f"{names} {found}"
    return None


def _rows(near: Proximities, rows: Indices) -> Rows:
    smallest = np.full(int(near.sample[rows].max(initial=0)) + 1, np.inf)
    np.minimum.at(smallest, near.sample[rows], near.gap[rows])
    if len(rows) > MOST_ROWS:
        rows = np.concatenate([rows[np.argsort(near.gap[rows])[: MOST_ROWS // 2]], rows[:: 2 * len(rows) // MOST_ROWS]])
    return Rows(
        sample=near.sample[rows], gap=near.gap[rows], normal=in_space(near.normal[rows]),
        point_a=in_space(near.point_a[rows]), point_b=in_space(near.point_b[rows]),
        uncertainty=near.uncertainty[rows], least=near.gap[rows] == smallest[near.sample[rows]],
    )  # fmt: skip


def _wrong_row(motion: Motion, a: int, b: int, rows: Rows) -> str | None:
    if not len(rows.gap):
        return None
    scale = _scale(motion, a, b, rows.sample) + np.abs(rows.gap)
    fine = OPERATIONS * EPSILON * scale
    checks = [
        ("have a normal that is no unit vector", np.abs(np.linalg.norm(rows.normal, axis=1) - 1.0) - 1e-12),
        (
            "have points that are not as far apart as their gap",
            np.linalg.norm(rows.point_b - rows.point_a - rows.gap[:, None] * rows.normal, axis=1)
            - _points_apart(motion, a, b, rows, fine),
        ),
        *_checks_of_values(motion, a, b, rows, fine),
    ]
    for words, excess in checks:
        worst = int(np.argmax(excess))
        if not excess[worst] <= 0.0:
            time = motion.time[rows.sample[worst]]
            return f"{words}: gap {rows.gap[worst]:.17g} m at {time:.6g} s, off by {excess[worst]:.3g} m"
    return None


def _scale(motion: Motion, a: int, b: int, sample: Indices) -> Array:
    """(K,) m: coordinates and sizes."""
    bodies, total = len(motion.scene.bodies), np.zeros(len(sample))
    for i in (a, b):
        if i < bodies:
            total += np.linalg.norm(motion.x[sample, i], axis=1) + motion.radius[i]
        else:
            boundary: Any = motion.scene.boundaries[i - bodies]
            total += np.linalg.norm(getattr(boundary, "point", getattr(boundary, "center", 0.0)))
            total += getattr(boundary, "radius", 0.0)
    return total


def _tolerance(motion: Motion, a: int, b: int, rows: Rows, fine: Array) -> Array:
    """(K,) m, of a value of f at the normal of a row."""
    if is_planar(motion) or b >= len(motion.radius):
        return fine + FLAT * np.maximum(rows.gap, 0.0)
    size = motion.radius[a] + motion.radius[b]
    if _kinds(motion, a, b) <= SWEPT:  # the normal is along what joins their cores
        of_a, of_b = (cast(Any, motion.scene.bodies[i].shape) for i in (a, b))
        between = np.maximum(rows.gap + of_a.radius + of_b.radius, EPSILON * size)
        return fine * (1.0 + size / OPERATIONS / between)
    off_normal = 4.0 * (fine + rows.uncertainty) * size / np.maximum(rows.gap, INSIDE * size)
    apart, inside = (0.0, 0.0) if _is_closed(motion, a, b) else (APART * size, INSIDE * size)
    if _kinds(motion, a, b) == {"box"}:  # no normal is better where edges are parallel but for 1e-10
        apart = APART * size
    return fine + rows.uncertainty + np.where(rows.gap > 0.0, apart + off_normal, inside)


def _points_apart(motion: Motion, a: int, b: int, rows: Rows, fine: Array) -> Array:
    boxes = not is_planar(motion) and b < len(motion.radius) and _kinds(motion, a, b) == {"box"}
    if _is_closed(motion, a, b) and not boxes:  # of two boxes the gap is, not the points
        return fine
    # |v - g n|^2 <= 2 g (g - n . v) of points v apart, g = |v|, and a normal that proves g to the uncertainty
    turned = np.sqrt(2.0 * np.maximum(rows.gap, 0.0) * (fine + rows.uncertainty))
    return fine + turned + (0.0 if boxes else INSIDE * (motion.radius[a] + motion.radius[b]))


def _kinds(motion: Motion, a: int, b: int) -> set[str]:
    return {motion.scene.bodies[i].shape.kind for i in (a, b)}


def _is_closed(motion: Motion, a: int, b: int) -> bool:
    """Whether `spatial_proximities` promises the gap to round-off."""
    if is_planar(motion) or b >= len(motion.scene.bodies):
        return True
    kinds = _kinds(motion, a, b)
    return kinds <= SWEPT or kinds in ({"sphere", "box"}, {"sphere", "cylinder"}, {"box"})


def _checks_of_values(motion: Motion, a: int, b: int, rows: Rows, fine: Array) -> Iterator[tuple[str, Array]]:
    bodies = motion.scene.bodies
    body_a: Any = bodies[a].shape
    if not shapes.is_convex(body_a):
        return
    tolerance = _tolerance(motion, a, b, rows, fine)
    on_bodies = fine if is_planar(motion) else fine + ON_BODIES * motion.radius[a]
    if b >= len(bodies):
        exact = _gap_of_boundary(motion, a, motion.scene.boundaries[b - len(bodies)], rows.sample)
        if exact is not None:
            yield "have another gap by their support", np.where(rows.least, np.abs(exact - rows.gap), 0.0) - tolerance
        yield "have a point outside of the body", _outside(motion, a, rows.sample, rows.point_a) - on_bodies
        return
    body_b: Any = bodies[b].shape
    if not shapes.is_convex(body_b):
        return
    own = separation(motion, a, b, rows.sample, rows.normal[:, None])[:, 0]
    yield "are nearer along their normal than their gap", np.where(rows.least, rows.gap - own, 0.0) - tolerance
    further = separation(motion, a, b, rows.sample, directions(motion, a, b, rows.sample)).max(axis=1)
    yield "are further apart than their gap", np.where(rows.least, further - rows.gap, 0.0) - tolerance
    apart = rows.gap > 0.0
    for i, point in ((a, rows.point_a), (b, rows.point_b)):
        outside = np.where(apart, _outside(motion, i, rows.sample, point), 0.0)
        yield "have a point outside of the body", outside - on_bodies


def separation(motion: Motion, a: int, b: int, sample: Indices, n: Array) -> Array:
    """(K, C) m: f at directions (K, C, 3) from a to b."""
    count, width = n.shape[:2]
    d = motion.x[sample, b] - motion.x[sample, a]
    found = np.einsum("kci,ki->kc", n, d)
    for i, sign in ((a, 1.0), (b, -1.0)):
        local = sign * np.einsum("kji,kcj->kci", motion.R[sample, i], n)
        found -= shapes.support(motion.scene.bodies[i].shape, local.reshape(-1, 3)).reshape(count, width)
    return found


def directions(motion: Motion, a: int, b: int, sample: Indices) -> Array:
    """(K, C, 3) unit vectors from a to b, at which f may be largest."""
    found, edges = [], []
    angular = [
        (i, sign) for i, sign in ((a, 1.0), (b, -1.0)) if shapes.corners(motion.scene.bodies[i].shape) is not None
    ]
    d = motion.x[sample, b] - motion.x[sample, a]
    length = np.linalg.norm(d, axis=1)[:, None]
    found.append(np.where(length > 0.0, d / np.where(length > 0.0, length, 1.0), (1.0, 0.0, 0.0))[:, None])
    for i, sign in angular:
        shape, R = motion.scene.bodies[i].shape, motion.R[sample, i]
        found.append(sign * np.einsum("kij,fj->kfi", R, shapes.faces(shape)[0]))
        to = motion.x[sample, b if i == a else a] - motion.x[sample, i]
        corners = shapes.own_corners(shape)
        ray = sign * (to[:, None] - np.einsum("kij,fj->kfi", R, corners))
        size = np.linalg.norm(ray, axis=2, keepdims=True)
        found.append(np.where(size > 0.0, ray / np.where(size > 0.0, size, 1.0), (1.0, 0.0, 0.0)))
        if not is_planar(motion):
            edges.append(np.einsum("kij,fj->kfi", R, shapes.edges(shape)))
    if len(edges) == 2:
        crossed = np.cross(edges[0][:, :, None], edges[1][:, None]).reshape(len(sample), -1, 3)
        crossed = crossed[:, :: max(1, crossed.shape[1] // MOST_PRODUCTS)]
        size = np.linalg.norm(crossed, axis=2, keepdims=True)
        crossed = np.where(size > 1e-6, crossed / np.where(size > 1e-6, size, 1.0), found[0])
        found += [crossed, -crossed]
    return np.concatenate(found, axis=1)


def _outside(motion: Motion, i: int, sample: Indices, point: Array) -> Array:
    local = np.einsum("kji,kj->ki", motion.R[sample, i], point - motion.x[sample, i])
    return shapes.outside(motion.scene.bodies[i].shape, local)


def _gap_of_boundary(motion: Motion, a: int, boundary: Any, sample: Indices) -> Array | None:
    """(K,) m, exactly; None of what is not worked out here."""
    shape, x, R = motion.scene.bodies[a].shape, motion.x[sample, a], motion.R[sample, a]
    if boundary.kind in PLANES:
        normal, point = in_space(np.array(boundary.normal)), in_space(np.array(boundary.point))
        normal = normal / np.linalg.norm(normal)
        down = -np.einsum("kji,j->ki", R, normal)
        found: Array = (x - point) @ normal - shapes.support(shape, down)
        return found
    d = x - in_space(np.array(boundary.center))
    if shape.kind in ("disc", "sphere"):
        return np.asarray(boundary.radius - np.linalg.norm(d, axis=1) - shape.radius)
    corners = shapes.corners(shape)
    if corners is None:
        return None
    furthest = np.linalg.norm(d[:, None] + np.einsum("kij,fj->kfi", R, corners), axis=2).max(axis=1)
    return np.asarray(boundary.radius - furthest)


# --- pairs that are not listed --------------------------------------------------------------------------------------


def _missing(motion: Motion, a: int, b: int, near: Proximities, of_pair: Indices, cutoff: float) -> str | None:
    bodies = motion.scene.bodies
    absent = np.setdiff1d(np.arange(len(motion.time)), near.sample[of_pair])
    if not len(absent) or not shapes.is_convex(bodies[a].shape):
        return None
    if b < len(bodies):
        if not shapes.is_convex(bodies[b].shape):
            return None
        apart = np.linalg.norm(motion.x[absent, b] - motion.x[absent, a], axis=1)
        order = np.argsort(apart)[:MOST_ROWS]
        absent = absent[order][apart[order] < motion.radius[a] + motion.radius[b] + cutoff]
        bound = nearest(motion, a, b, absent) if len(absent) else np.zeros(0)
    else:
        exact = _gap_of_boundary(motion, a, motion.scene.boundaries[b - len(bodies)], absent)
        bound = np.full(len(absent), np.inf) if exact is None else exact
    margin = OPERATIONS * EPSILON * (_scale(motion, a, b, absent) + cutoff) + 1e-9 * cutoff
    missing = np.flatnonzero(bound < cutoff - margin)
    if not len(missing):
        return None
    k = missing[np.argmin(bound[missing])]
    return f"are not listed at {motion.time[absent[k]]:.6g} s, though they are at most {bound[k]:.6g} m apart"


def nearest(motion: Motion, a: int, b: int, sample: Indices) -> Array:
    """(K,) m: a distance between two points of the bodies, from above the gap where they are apart; 0 where a corner
    or the centre of one is in the other."""
    ends = [(i, motion.scene.bodies[i].shape, motion.R[sample, i], motion.x[sample, i]) for i in (a, b)]
    d = ends[1][3] - ends[0][3]
    size = np.linalg.norm(d, axis=1)[:, None]
    n, best = np.where(size > 0.0, d / np.where(size > 0.0, size, 1.0), (1.0, 0.0, 0.0)), np.full(len(d), np.inf)
    for _ in range(ROUNDS):
        first, second = (_furthest(shape, R, x, sign * n) for (_, shape, R, x), sign in zip(ends, (1.0, -1.0)))
        apart = second - first
        size = np.linalg.norm(apart, axis=1)
        best = np.minimum(best, size)  # the gap of two that are in one another is less, too
        faces_each_other = np.einsum("ki,ki->k", apart, n) > 0.0
        n = np.where(faces_each_other[:, None], apart / np.where(size > 0.0, size, 1.0)[:, None], n)
    for (_, shape, R, x), (j, _, _, _) in (ends, ends[::-1]):
        points = shapes.corners(shape)
        points = np.zeros((1, 3)) if points is None else points
        for p in points:
            world = x + R @ p
            inside = _outside(motion, j, sample, world) == 0.0
            best = np.where(inside, 0.0, np.minimum(best, _over_face(motion, j, sample, world)))
    return best


def _over_face(motion: Motion, j: int, sample: Indices, world: Array) -> Array:
    """(K,) m, from points to a hull where they are over the inside of a face; infinite elsewhere."""
    shape = motion.scene.bodies[j].shape
    if shapes.corners(shape) is None:
        return np.full(len(world), np.inf)
    local = np.einsum("kji,kj->ki", motion.R[sample, j], world - motion.x[sample, j])
    normals, offsets = shapes.faces(shape)
    height = local @ normals.T - offsets
    face = height.argmax(axis=1)
    top = height[np.arange(len(local)), face]
    foot = local - top[:, None] * normals[face]
    return np.where((top > 0.0) & (shapes.outside(shape, foot) <= 1e-12), top, np.inf)


def _furthest(shape: Any, R: Array, x: Array, n: Array) -> Array:
    """(K, 3) m: the point of the body that is furthest along n (K, 3)."""
    local = np.einsum("kji,kj->ki", R, n)
    corners = shapes.corners(shape)
    if corners is not None:
        point = corners[(local @ corners.T).argmax(axis=1)]
    elif shape.kind == "ellipsoid":
        axes = np.array(shape.semi_axes)
        point = local * axes**2 / np.linalg.norm(local * axes, axis=1)[:, None]
    elif shape.kind == "cylinder":
        across = np.hypot(local[:, 0], local[:, 1])[:, None]
        rim = shape.radius * local[:, :2] / np.where(across > 0.0, across, 1.0)
        point = np.column_stack([rim, np.where(local[:, 2] >= 0.0, 0.5, -0.5) * shape.length])
    else:
        half = getattr(shape, "length", 0.0) / 2.0
        axis = np.where(local[:, 2] >= 0.0, half, -half) if shape.kind == "capsule" else np.zeros(len(local))
        point = shape.radius * local + axis[:, None] * (0.0, 0.0, 1.0)
    return np.asarray(x + np.einsum("kij,kj->ki", R, point))

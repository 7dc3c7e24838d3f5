"""Which spatial bodies are near one another, how near, where: the table of shapes, and whole trajectories."""

import numpy as np
from numpy.typing import ArrayLike

from reference_engine.compiler.kernels import entry, kernel
from reference_engine.geometry.core_gap import (
    box_box,
    half_space,
    over_face,
    point_box,
    point_cylinder,
    segment_segment,
    sphere_interior,
)
from reference_engine.geometry.epa import depth, search_work
from reference_engine.geometry.gjk import APART, FAR, separation
from reference_engine.geometry.proximities import Proximities, all_rows, candidate_pairs, proximities_of
from reference_engine.geometry.spatial_shapes import (
    BOX,
    CAPSULE,
    CYLINDER,
    HALF_SPACE,
    SPHERE,
    SPHERE_INTERIOR,
    SpatialShapes,
)
from reference_engine.geometry.support import FIELDS, pose_bodies, posed_shapes, write

CERTIFIED = 1e-9  # of the distance: a wider bracket is looked into


@kernel
def is_far(posed, p, q, dx, dy, dz, cutoff):
    """By the sphere around p alone: a lower bound of the gap is above the cutoff."""
    kind, body = posed.kind, posed.body
    bounding_radius = body[p, 16]
    if kind[q] == HALF_SPACE:
        nx, ny, nz = body[q, 20], body[q, 21], body[q, 22]
        return -(nx * (dx + body[q, 17]) + ny * (dy + body[q, 18]) + nz * (dz + body[q, 19])) - bounding_radius > cutoff
    if kind[q] == SPHERE_INTERIOR:
        clearance = body[q, 12] - bounding_radius - cutoff
        return clearance > 0.0 and dx * dx + dy * dy + dz * dz < clearance * clearance
    apart = bounding_radius + body[q, 16] + cutoff
    return apart < 0.0 or dx * dx + dy * dy + dz * dz > apart * apart


@kernel
def searched(posed, p, q, dx, dy, dz, cutoff, work, found):
    """Distance, else depth.  A distance that is not certified may be a depth lost in round-off: both are asked."""
    body = posed.body
    extent = body[p, 16] + body[q, 16]
    state = separation(posed, p, q, dx, dy, dz, cutoff, work.points, work.weight, found)
    if state == FAR:
        return False
    if state == APART and found[10] <= CERTIFIED * found[0] + 1e-14 * extent:
        return found[0] < cutoff
    on_face = depth(posed, p, q, dx, dy, dz, work, found)
    gap, nx, ny, nz, uncertainty = found[0], found[1], found[2], found[3], found[10]
    if gap > 0.0 and state == APART:
        separation(posed, p, q, dx, dy, dz, np.inf, work.points, work.weight, found)
        found[10] = max(0.0, min(found[10], found[0] - gap))
    elif not on_face:  # parted along the normal, the points are the nearest ones
        shift = 1e-2 * extent - gap
        apart = separation(
            posed, p, q, dx + shift * nx, dy + shift * ny, dz + shift * nz, np.inf, work.points, work.weight, found
        )
        if apart == APART:
            px, py, pz = found[4], found[5], found[6]
            write(found, gap, nx, ny, nz, px, py, pz, px + gap * nx, py + gap * ny, pz + gap * nz, uncertainty)
    return found[0] < cutoff


@kernel
def cores(posed, p, q, dx, dy, dz, cutoff, work, found):
    """Gap of the cores of p and q, kind of p not above that of q.  False if it is not below the cutoff."""
    kind, body = posed.kind, posed.body
    if kind[q] == HALF_SPACE:
        half_space(posed, p, q, dx, dy, dz, found)
    elif kind[q] == SPHERE_INTERIOR:
        sphere_interior(posed, p, q, dx, dy, dz, found)
    elif kind[q] <= CAPSULE:
        p_half = body[p, 13] if kind[p] == CAPSULE else 0.0
        q_half = body[q, 13] if kind[q] == CAPSULE else 0.0
        segment_segment(body, p, q, dx, dy, dz, p_half, q_half, found)
    elif kind[q] == BOX and kind[p] == SPHERE:
        point_box(body, q, dx, dy, dz, found)
    elif kind[q] == CYLINDER and kind[p] == SPHERE:
        point_cylinder(body, q, dx, dy, dz, found)
    elif kind[q] == BOX and kind[p] == BOX:
        return box_box(posed, p, q, dx, dy, dz, cutoff, work.points, work.weight, found)
    elif kind[p] == BOX and over_face(posed, p, q, dx, dy, dz, found):
        return found[0] < cutoff
    elif kind[q] == BOX and over_face(posed, q, p, -dx, -dy, -dz, found):
        for k in range(3):
            d = dx if k == 0 else (dy if k == 1 else dz)
            on_box, on_p = found[4 + k], found[7 + k]
            found[1 + k], found[4 + k], found[7 + k] = -found[1 + k], on_p + d, on_box + d
    else:
        return searched(posed, p, q, dx, dy, dz, cutoff, work, found)
    return found[0] < cutoff


@kernel
def body_pair(posed, a, b, cutoff, work, found):
    """`found` for bodies a, b: relative to the centre of a, normal from a to b.  False: not below the cutoff."""
    kind, body = posed.kind, posed.body
    p, q = (a, b) if kind[a] <= kind[b] else (b, a)
    dx, dy, dz = body[q, 0] - body[p, 0], body[q, 1] - body[p, 1], body[q, 2] - body[p, 2]
    if is_far(posed, p, q, dx, dy, dz, cutoff):
        return False
    margin = body[p, 15] + body[q, 15]
    if not cores(posed, p, q, dx, dy, dz, cutoff + margin, work, found):
        return False
    found[0] -= margin
    for k in range(3):
        found[4 + k] += body[p, 15] * found[1 + k]
        found[7 + k] -= body[q, 15] * found[1 + k]
    if p != a:
        for k in range(3):
            d = body[q, k] - body[p, k]
            on_p, on_q = found[4 + k], found[7 + k]
            found[1 + k] = -found[1 + k]
            found[4 + k], found[7 + k] = on_q - d, on_p - d
    return True


@entry
def sweep(posed, pairs, position, orientation, cutoff, work, found, sample_out, pair_out, found_out):
    """All samples, all pairs.  Returns how many rows there are, also beyond those that fit."""
    body = posed.body
    total = 0
    for s in range(position.shape[0]):
        pose_bodies(posed, position[s], orientation[s])
        for k in range(pairs.shape[0]):
            a, b = pairs[k, 0], pairs[k, 1]
            dx, dy, dz = body[b, 0] - body[a, 0], body[b, 1] - body[a, 1], body[b, 2] - body[a, 2]
            apart = body[a, 16] + body[b, 16] + cutoff
            if dx * dx + dy * dy + dz * dz > apart * apart:  # most pairs end here; before the call, which costs more
                continue
            if body_pair(posed, a, b, cutoff, work, found):
                if total < sample_out.shape[0]:
                    sample_out[total] = s
                    pair_out[total] = k
                    for column in range(FIELDS):
                        found_out[total, column] = found[column]
                    for column in range(4, 10):
                        found_out[total, column] += body[a, (column - 4) % 3]
                total += 1
    return total


def spatial_proximities(
    shapes: SpatialShapes, position: ArrayLike, orientation: ArrayLike, cutoff: float, ignore: ArrayLike | None = None
) -> Proximities:
    """Every pair with gap < cutoff at every sample, one pair of nearest points each.

    position: (S, B, 3) or (B, 3).  orientation: (S, B, 4) or (B, 4), w x y z, body to world, of any
    length but zero.  ignore: (P, 2) pairs of bodies, in any order.

    Disjoint: the Euclidean distance.  Overlapping: minus the least translation that parts the two.
    Closed form, to round-off (1e-15 of the pair's size): plane and hollow sphere with anything,
    spheres and capsules among themselves, sphere with box or cylinder; box and box over all fifteen axes.
    A body apart from a box and over one of its faces: closed form.  All other pairs carry the width of
    their certified bracket in `uncertainty`: as a rule 1e-10 of the gap, more where the least
    translation has no one direction (curved bodies nearly concentric).  Not in it: 1e-10 of the
    pair's size where edges of overlapping meshes are parallel but for 1e-10.  The points of curved bodies
    that overlap are on them to 1e-6 of their size, their normal to 1e-5 rad.
    Hollow sphere: how far the furthest point sticks out, a lower bound of the translation where
    several do.  Concentric spheres: the normal is +z.
    """
    r, o = np.asarray(position, dtype=np.float64), np.asarray(orientation, dtype=np.float64)
    r, o = (np.require(x[None] if x.ndim == 2 else x, requirements=["C", "W"]) for x in (r, o))
    bodies = len(shapes.kind)
    if r.shape[1:] != (bodies, 3) or o.shape != (len(r), bodies, 4):
        raise ValueError(
            f"position, orientation: shapes {np.shape(position)}, {np.shape(orientation)}; "
            f"{bodies} bodies need (S, {bodies}, 3) and (S, {bodies}, 4)"
        )
    pairs = candidate_pairs(shapes.static, ignore)
    given = posed_shapes(shapes), pairs, r, o, float(cutoff), search_work(), np.empty(FIELDS)
    capacity = 4 * len(r) * max(1, bodies)
    sample, pair, found = all_rows(lambda *out: sweep(*given, *out), capacity=capacity, fields=FIELDS)
    return proximities_of(found, pairs[pair, 0], pairs[pair, 1], sample)

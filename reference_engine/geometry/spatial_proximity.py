"""Which spatial bodies are near one another, how near, where: the table of shapes, and whole trajectories."""

import numpy as np
from numpy.typing import ArrayLike

from reference_engine.compiler.kernels import entry, kernel
from reference_engine.geometry import core_gap, spatial_shapes
from reference_engine.geometry import layout as col
from reference_engine.geometry.epa import depth, search_work
from reference_engine.geometry.gjk import APART, FAR, separation
from reference_engine.geometry.proximities import Proximities, all_rows, candidate_pairs, proximities_of
from reference_engine.geometry.spatial_shapes import BOX, CAPSULE, CYLINDER, SPHERE, SpatialShapes
from reference_engine.geometry.support import exchange, from_origin, pose_bodies, posed_shapes, write_from_p
from reference_engine.vectors import along, dot, length, minus, opposite, plus, row, set_three, three

CERTIFIED = 1e-9  # of the distance: a wider bracket is looked into


@kernel
def is_far(posed, p, q, d, cutoff):
    """By the sphere around p alone: a lower bound of the gap is above the cutoff."""
    bounding_radius = posed.bounding_radius[p]
    if posed.kind[q] == spatial_shapes.HALF_SPACE:
        return -dot(row(posed.plane_normal, q), plus(d, row(posed.plane_point, q))) - bounding_radius > cutoff
    if posed.kind[q] == spatial_shapes.SPHERE_INTERIOR:
        clearance = posed.size[q, 0] - bounding_radius - cutoff
        return clearance > 0.0 and dot(d, d) < clearance * clearance
    apart = bounding_radius + posed.bounding_radius[q] + cutoff
    return apart < 0.0 or dot(d, d) > apart * apart


@kernel
def searched(posed, p, q, d, cutoff, work, found):
    """Distance, else depth.  A distance that is not certified may be a depth lost in round-off: both are asked."""
    points, weight = work.points, work.weight
    extent = posed.bounding_radius[p] + posed.bounding_radius[q]
    state = separation(posed, p, q, d, cutoff, points, weight, found)
    if state == FAR:
        return False
    if state == APART and found[col.UNCERTAINTY] <= CERTIFIED * found[col.GAP] + 1e-14 * extent:
        return found[col.GAP] < cutoff
    on_face = depth(posed, p, q, d, work, found)
    gap, n, uncertainty = found[col.GAP], three(found, col.NORMAL), found[col.UNCERTAINTY]
    if gap > 0.0 and state == APART:
        separation(posed, p, q, d, np.inf, points, weight, found)
        if found[col.GAP] - gap < found[col.UNCERTAINTY]:  # points so near that round-off turns what joins them
            found[col.UNCERTAINTY] = max(0.0, found[col.GAP] - gap)
            set_three(found, col.NORMAL, n)
    elif not on_face:  # parted along the normal, the points are the nearest ones
        shift = 1e-2 * extent - gap
        if separation(posed, p, q, along(d, shift, n), np.inf, points, weight, found) == APART:
            if gap > 0.0:  # these points are not further apart, moved back
                between = along(minus(three(found, col.ON_Q), three(found, col.ON_P)), -shift, n)
                uncertainty = min(uncertainty, max(0.0, length(between) - gap))
            write_from_p(found, gap, n, three(found, col.ON_P), uncertainty)
    return found[col.GAP] < cutoff


@kernel
def cores(posed, p, q, d, cutoff, work, found):
    """Gap of the cores of p and q, kind of p not above that of q.  False if it is not below the cutoff."""
    of_p, of_q = posed.kind[p], posed.kind[q]
    if of_q == spatial_shapes.HALF_SPACE:
        core_gap.half_space(posed, p, q, d, found)
    elif of_q == spatial_shapes.SPHERE_INTERIOR:
        core_gap.sphere_interior(posed, p, q, d, found)
    elif of_q <= CAPSULE:
        p_half = posed.size[p, 1] if of_p == CAPSULE else 0.0
        q_half = posed.size[q, 1] if of_q == CAPSULE else 0.0
        core_gap.segment_segment(posed, p, q, d, p_half, q_half, found)
    elif of_q == BOX and of_p == SPHERE:
        core_gap.point_box(posed, q, d, found)
    elif of_q == CYLINDER and of_p == SPHERE:
        core_gap.point_cylinder(posed, q, d, found)
    elif of_q == BOX and of_p == BOX:
        return core_gap.box_box(posed, p, q, d, cutoff, work.points, work.weight, found)
    elif of_p == BOX and core_gap.over_face(posed, p, q, d, found):
        return found[col.GAP] < cutoff
    elif of_q == BOX and core_gap.over_face(posed, q, p, opposite(d), found):
        exchange(found, opposite(d))
    else:
        return searched(posed, p, q, d, cutoff, work, found)
    return found[col.GAP] < cutoff


@kernel
def body_pair(posed, a, b, cutoff, work, found):
    """`found` for bodies a, b: relative to the centre of a, normal from a to b.  False: not below the cutoff."""
    p, q = (a, b) if posed.kind[a] <= posed.kind[b] else (b, a)
    d = minus(row(posed.centre, q), row(posed.centre, p))
    if is_far(posed, p, q, d, cutoff):
        return False
    margin = posed.margin[p] + posed.margin[q]
    if not cores(posed, p, q, d, cutoff + margin, work, found):
        return False
    found[col.GAP] -= margin
    n = three(found, col.NORMAL)
    set_three(found, col.ON_P, along(three(found, col.ON_P), posed.margin[p], n))
    set_three(found, col.ON_Q, along(three(found, col.ON_Q), -posed.margin[q], n))
    if p != a:
        exchange(found, d)
    return True


@entry
def sweep(posed, pairs, position, orientation, cutoff, work, found, sample_out, pair_out, found_out):
    """All samples, all pairs.  Returns how many rows there are, also beyond those that fit."""
    total = 0
    for s in range(position.shape[0]):
        pose_bodies(posed, position[s], orientation[s])
        for k in range(pairs.shape[0]):
            a, b = pairs[k, 0], pairs[k, 1]
            d = minus(row(posed.centre, b), row(posed.centre, a))
            apart = posed.bounding_radius[a] + posed.bounding_radius[b] + cutoff
            if dot(d, d) > apart * apart:  # most pairs end here; before the call, which costs more
                continue
            if body_pair(posed, a, b, cutoff, work, found):
                if total < sample_out.shape[0]:
                    sample_out[total] = s
                    pair_out[total] = k
                    from_origin(found, row(posed.centre, a))
                    for column in range(col.FIELDS):
                        found_out[total, column] = found[column]
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
    pair's size where edges of overlapping meshes are parallel but for 1e-10; the normal of what is
    apart is off by as much there.  The points of curved bodies
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
    given = posed_shapes(shapes), pairs, r, o, float(cutoff), search_work(), np.empty(col.FIELDS)
    capacity = 4 * len(r) * max(1, bodies)
    sample, pair, found = all_rows(lambda *out: sweep(*given, *out), capacity=capacity, fields=col.FIELDS)
    return proximities_of(found, pairs[pair, 0], pairs[pair, 1], sample)

"""Which planar bodies are near one another, how near, where: for whole trajectories."""

from collections.abc import Sequence
from dataclasses import fields

import numpy as np
from numpy.typing import ArrayLike

from reference_engine import elementary
from reference_engine.array_types import Array, Indices
from reference_engine.geometry.layout import GAP, PLANAR_FIELDS
from reference_engine.geometry.outline_gap import CHUNK, contact_points, turned
from reference_engine.geometry.planar_gap import sweep
from reference_engine.geometry.planar_shapes import HALF_PLANE, PlanarShapes
from reference_engine.geometry.planar_support import posed_planar_shapes
from reference_engine.geometry.proximities import Proximities, all_rows, candidate_pairs, proximities_of

FEW = 64  # pairs that overlap, of those that may


def planar_proximities(
    shapes: PlanarShapes, poses: ArrayLike, cutoff: float, ignore: ArrayLike | None = None, *, points: int = 2
) -> Proximities:
    """Every pair with gap < cutoff at every sample, one pair of nearest points each, or up to two for each pair of
    convex pieces, each with its own gap < cutoff.

    poses: (S, B, 3) x, y, angle; or (B, 3).  ignore: (P, 2) pairs of bodies, in any order.  points: 1 or 2.

    Disjoint: the Euclidean distance.  Overlapping convex shapes: minus the least translation that
    parts them.  Both to round-off: 1e-15 of the pair's size, plus what the poses hold (1e-12 m at 1e4 m).
    Concave polygons, of straight edges: the deepest pair of convex pieces, which is the depth of a shallow contact and
    a lower bound of a deep one.  Bowl: how far the furthest point sticks out, a lower bound of the
    translation where two corners do.  Concentric discs: the normal is +y.  Polygons with arcs: the
    depth of the deepest point of either that is looked at (`outline_gap`), a lower bound of a deep overlap's.

    Two points: the ends of the overlap of two edges; of a half-plane or bowl the two corners nearest to it.
    A disc, and two corners that face one another, have one.  A body with arcs: `outline_gap.contact_points`.
    """
    poses = pose_array(shapes, poses)
    pairs = candidate_pairs(shapes.static, ignore)
    given = posed_planar_shapes(shapes), pairs, poses, float(cutoff), points
    capacity = 4 * len(poses) * max(1, len(shapes.kind))
    sample, pair, rows = all_rows(lambda *out: sweep(*given, *out), capacity=capacity, fields=PLANAR_FIELDS)
    found = proximities_of(rows, pairs[pair, 0], pairs[pair, 1], sample, dimension=2)
    return with_arcs(found, shapes, pairs, poses, float(cutoff), points) if shapes.boundary else found


def deepest_overlap(
    shapes: PlanarShapes, poses: ArrayLike, pairs: Sequence[tuple[int, int]]
) -> tuple[float, int, int, int] | None:
    """(gap, sample, a, b) of the pair a < b that overlaps most in any of the poses; None where none does.

    Of bodies without arcs but discs and bowls.
    """
    pair_rows = np.array(pairs, np.int64).reshape(-1, 2)
    given = posed_planar_shapes(shapes), pair_rows, pose_array(shapes, poses), 0.0, 1
    sample, pair, found = all_rows(lambda *out: sweep(*given, *out), capacity=FEW, fields=PLANAR_FIELDS)
    if not len(found):
        return None
    k = int(found[:, GAP].argmin())
    return float(found[k, GAP]), int(sample[k]), *pairs[pair[k]]


def with_arcs(
    found: Proximities, shapes: PlanarShapes, pairs: Indices, poses: Array, cutoff: float, points: int
) -> Proximities:
    """The rows of pairs with an ArcPolygon by its true boundary; where inscribed polygons overlap by more, theirs."""
    rows = [np.flatnonzero(~(shapes.arc_polygon[found.a] | shapes.arc_polygon[found.b]))]
    more: list[tuple[Array, ...]] = []
    for a, b in pairs[shapes.arc_polygon[pairs].any(axis=1)]:
        pose_a, pose_b = boundary_poses(shapes, poses, a), boundary_poses(shapes, poses, b)
        apart = elementary.hypot(*(poses[:, a] - poses[:, b])[:, :2].T)
        at = np.flatnonzero(~(apart > shapes.bounding_radius[a] + shapes.bounding_radius[b] + cutoff))
        own = np.flatnonzero((found.a == a) & (found.b == b))
        inscribed_gap, gap = np.full(len(poses), np.inf), np.full(len(poses), np.inf)
        np.minimum.at(inscribed_gap, found.sample[own], found.gap[own])
        exact = []
        for chunk in np.array_split(at, 1 + len(at) // CHUNK):
            of_chunk, *rest = contact_points(
                shapes.boundary[a], shapes.boundary[b], pose_a[chunk], pose_b[chunk], cutoff, points
            )
            exact.append((chunk[of_chunk], *rest))
        sample, *others = (np.concatenate(column) for column in zip(*exact))
        np.minimum.at(gap, sample, others[0])
        crosses = (inscribed_gap < 0.0) & (inscribed_gap < gap)
        rows.append(own[crosses[found.sample[own]]])
        kept = ~crosses[sample]
        pair = np.full((2, int(kept.sum())), [[a], [b]])
        more.append((sample[kept], *pair, *(column[kept] for column in others), np.zeros(pair.shape[1])))
    if not more:  # what has arcs meets nothing
        return found
    taken = np.concatenate(rows)
    columns = [np.concatenate([getattr(found, field.name)[taken], *arrays])
               for field, arrays in zip(fields(Proximities), zip(*more))]  # fmt: skip
    order = np.lexsort((columns[2], columns[1], columns[0]))
    return Proximities(**{field.name: column[order] for field, column in zip(fields(Proximities), columns)})


def boundary_poses(shapes: PlanarShapes, poses: Array, i: int) -> Array:
    """(S, 3) of a body's boundary: of a half-plane, whose boundary is y = 0, that of its line."""
    if shapes.kind[i] != HALF_PLANE:
        return poses[:, i]
    nx, ny = shapes.axis[i]
    point = turned(shapes.point[i : i + 1], poses[:, i, 2])[:, 0]
    return poses[:, i] + np.column_stack([point, np.full(len(poses), elementary.atan2(-nx, ny))])


def pose_array(shapes: PlanarShapes, poses: ArrayLike) -> Array:
    array = np.require(poses, np.float64, ["C", "W"])  # of what is read-only kernels would be compiled anew
    if array.ndim == 2:
        array = array[None]
    if array.ndim != 3 or array.shape[1:] != (len(shapes.kind), 3):
        raise ValueError(f"poses: shape {np.shape(poses)}; {len(shapes.kind)} bodies need (S, {len(shapes.kind)}, 3)")
    return array

"""Which planar bodies are near one another, how near, where: for whole trajectories."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reference_engine.geometry.planar_gap import FIELDS, sweep
from reference_engine.geometry.planar_shapes import PlanarShapes
from reference_engine.geometry.proximities import Proximities, candidate_pairs, collect

Array = NDArray[np.float64]


def planar_proximities(
    shapes: PlanarShapes, poses: ArrayLike, cutoff: float, ignore: ArrayLike | None = None
) -> Proximities:
    """Every pair with gap < cutoff at every sample, one witness each.

    poses: (S, B, 3) x, y, angle; or (B, 3).  ignore: (P, 2) pairs of bodies, in any order.

    Disjoint: the Euclidean distance.  Overlapping convex shapes: minus the least translation that
    parts them.  Both to round-off: 1e-15 of the pair's size, plus what the poses hold (1e-12 m at 1e4 m).
    Concave polygons: the deepest pair of convex parts, which is the depth of a shallow contact and a
    lower bound of a deep one.  Bowl: how far the furthest point sticks out, a lower bound of the
    translation where two corners do.  Concentric discs: the normal is +y.
    """
    return proximities(shapes, poses, cutoff, ignore, points=1)


def planar_contact_points(
    shapes: PlanarShapes, poses: ArrayLike, cutoff: float, ignore: ArrayLike | None = None
) -> Proximities:
    """The same pairs with up to two points for each pair of convex parts, each with its own gap < cutoff.

    Faces: the ends of the overlap of the two edges.  Half-plane, bowl: the two corners nearest to it.
    A disc, and two corners that face one another, have one point.
    """
    return proximities(shapes, poses, cutoff, ignore, points=2)


def planar_minimum_gap(shapes: PlanarShapes, poses: ArrayLike, ignore: ArrayLike | None = None) -> Array:
    """(S,) smallest gap of any pair at each sample; infinite where there is no pair."""
    poses = pose_array(shapes, poses)
    gap = np.full(len(poses), np.inf)
    near = planar_proximities(shapes, poses, np.inf, ignore)
    np.minimum.at(gap, near.sample, near.gap)
    return gap


def proximities(
    shapes: PlanarShapes, poses: ArrayLike, cutoff: float, ignore: ArrayLike | None, *, points: int
) -> Proximities:
    poses = pose_array(shapes, poses)
    pairs = candidate_pairs(shapes.static, ignore)
    given = (*packed(shapes), pairs, poses, float(cutoff), points, *scratch(shapes))
    capacity = 4 * len(poses) * max(1, len(shapes.kind))
    return collect(lambda *out: sweep(*given, *out), pairs, capacity=capacity, fields=FIELDS, dimension=2)


def pose_array(shapes: PlanarShapes, poses: ArrayLike) -> Array:
    array = np.ascontiguousarray(poses, dtype=np.float64)
    if array.ndim == 2:
        array = array[None]
    if array.ndim != 3 or array.shape[1:] != (len(shapes.kind), 3):
        raise ValueError(f"poses: shape {np.shape(poses)}; {len(shapes.kind)} bodies need (S, {len(shapes.kind)}, 3)")
    return array


def packed(shapes: PlanarShapes) -> tuple[NDArray, ...]:
    """The arrays in the order in which the kernels take them."""
    return (
        shapes.kind, shapes.radius, shapes.reach, shapes.point, shapes.axis, shapes.part_start,
        shapes.vertex_start, shapes.vertex_body, shapes.vertex, shapes.edge_normal, shapes.edge_length,
    )  # fmt: skip


def scratch(shapes: PlanarShapes) -> tuple[Array, ...]:
    """body, edge, row, found."""
    parts = int(np.diff(shapes.part_start).max(initial=1))
    return (
        np.empty((len(shapes.kind), 8)),
        np.empty((len(shapes.vertex), 5)),
        np.empty((2, FIELDS)),
        np.empty((2 * parts * parts, FIELDS)),
    )

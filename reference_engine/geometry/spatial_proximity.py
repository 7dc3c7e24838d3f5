"""Which spatial bodies are near one another, how near, where: for whole trajectories."""

import numpy as np
from numpy.typing import ArrayLike

from reference_engine.geometry.epa import MOST_FACES, MOST_POINTS
from reference_engine.geometry.proximities import Proximities, candidate_pairs, collect
from reference_engine.geometry.spatial_gap import FIELDS, sweep
from reference_engine.geometry.spatial_shapes import SpatialShapes
from reference_engine.geometry.support import COLUMNS


def spatial_proximities(
    shapes: SpatialShapes,
    position: ArrayLike,
    orientation: ArrayLike,
    cutoff: float,
    ignore: ArrayLike | None = None,
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
    scratch = (
        np.empty((bodies, COLUMNS)), np.empty((MOST_POINTS, 9)), np.empty(4),
        np.empty((MOST_FACES, 4), np.int64), np.empty((MOST_FACES, 4)), np.empty((MOST_FACES, 2), np.int64),
        np.empty(FIELDS),
    )  # fmt: skip
    packed = (
        shapes.kind, shapes.size, shapes.margin, shapes.bounding_radius, shapes.point, shapes.axis,
        shapes.vertex_start, shapes.vertex,
    )  # fmt: skip
    given = (*packed, pairs, r, o, float(cutoff), *scratch)
    capacity = 4 * len(r) * max(1, bodies)
    return collect(lambda *out: sweep(*given, *out), pairs, capacity=capacity, fields=FIELDS, dimension=3)

"""The gaps of pairs of convex bodies by Minkowski portal refinement, from arrays to `Proximities`."""

import numpy as np
from numpy.typing import ArrayLike

from reference_engine.geometry import spatial_shapes
from reference_engine.geometry.mpr import mpr_gaps, mpr_work
from reference_engine.geometry.proximities import Proximities, proximities_of
from reference_engine.geometry.spatial_shapes import HALF_SPACE, SpatialShapes
from reference_engine.geometry.support import FIELDS, posed_shapes

THINNEST = 1e-6  # of the bounding radius; what is flatter has no inside from which a ray could start


def mpr_proximities(
    shapes: SpatialShapes, position: ArrayLike, orientation: ArrayLike, pairs: ArrayLike
) -> Proximities:
    """Every pair, in the order given.

    position (B, 3) m; orientation (B, 4), w x y z, body to world, of any length but zero; pairs (P, 2) bodies.

    gap: apart the distance; touching or a little in one another minus the least translation that parts the two, to
    1e-14 of the pair's bounding radius where both are spheres or ellipsoids, else 1e-11, rims too: there the slope of
    the gap around its normal shows a search that ended early. Deep in one another minus a translation that parts them,
    the least near the line of centres. `uncertainty`: as `ellipsoid_proximities` has it for spheres and ellipsoids, but
    of the nearest local minimum; else how far the search was from its end, and so the points may be from the surfaces.

    Raises ValueError, naming what is wrong: a shape that is unbounded or flat, a body that does not exist or is paired
    with itself, a pair with one centre: no direction leads out of it.
    """
    check_thickness(shapes)
    r, o = (np.require(x, np.float64, ["C", "W"]) for x in (position, orientation))
    bodies = len(shapes.kind)
    if r.shape != (bodies, 3) or o.shape != (bodies, 4):
        raise ValueError(f"position, orientation: shapes {r.shape}, {o.shape}; ({bodies}, 3) and ({bodies}, 4)")
    if not np.isfinite(r).all() or not np.isfinite(o).all() or not o.any(axis=1).all():
        raise ValueError("position, orientation: finite numbers, and quaternions of a length above 0")
    chosen = np.ascontiguousarray(np.asarray(pairs).reshape(-1, 2), np.int64)
    wrong = np.flatnonzero((chosen < 0).any(axis=1) | (chosen >= bodies).any(axis=1) | (chosen[:, 0] == chosen[:, 1]))
    if wrong.size:
        raise ValueError(f"pairs[{wrong[0]}]: {chosen[wrong[0]].tolist()}; two different bodies of 0 ... {bodies - 1}")
    unbounded = np.flatnonzero((shapes.kind[chosen] >= HALF_SPACE).any(axis=1))
    if unbounded.size:
        raise ValueError(f"pairs[{unbounded[0]}]: {chosen[unbounded[0]].tolist()}; bodies that are bounded")
    found = np.empty((len(chosen), FIELDS))
    one_centre = mpr_gaps(posed_shapes(shapes), r, o, chosen, mpr_work(), found)
    if one_centre >= 0:
        raise ValueError(f"pairs[{one_centre}]: {chosen[one_centre].tolist()} have one centre; no direction parts them")
    return proximities_of(found, chosen[:, 0], chosen[:, 1])


def check_thickness(shapes: SpatialShapes) -> None:
    """Raises ValueError where a bounded shape is flat, or a mesh does not have its origin well inside."""
    for i, kind in enumerate(shapes.kind):
        depth, bounding_radius = inner_radius(shapes, i), shapes.bounding_radius[i]
        if kind < HALF_SPACE and not depth > THINNEST * bounding_radius:
            raise ValueError(
                f"shapes[{i}]: {depth:g} m from its origin to its surface, of a reach of {bounding_radius:g} m; "
                f"more than {THINNEST:g} of it: a flat body has no inside"
            )


def inner_radius(shapes: SpatialShapes, i: int) -> float:
    """Of a ball about the origin of body i that is inside it; below 0 if the origin is not. [m]"""
    match shapes.kind[i]:
        case spatial_shapes.SPHERE | spatial_shapes.CAPSULE:
            return float(shapes.margin[i])
        case spatial_shapes.CYLINDER:
            return float(shapes.size[i, :2].min())
        case spatial_shapes.CONE:
            return float(shapes.size[i, :2].min()) / 4.0
        case spatial_shapes.MESH:
            from scipy.spatial import ConvexHull  # here: it takes long to import

            corners = shapes.vertex[shapes.vertex_start[i] : shapes.vertex_start[i + 1]]
            return -float(ConvexHull(corners).equations[:, 3].max())
    return float(shapes.size[i].min())

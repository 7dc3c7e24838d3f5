"""The gaps of pairs of convex bodies by Minkowski portal refinement alone, from arrays to `Proximities`."""

import numpy as np

from reference_engine.compiler.kernels import entry
from reference_engine.geometry.layout import FIELDS
from reference_engine.geometry.mpr import COINCIDENT, mpr_pair, mpr_work
from reference_engine.geometry.proximities import proximities_of
from reference_engine.geometry.spatial_shapes import check_thickness
from reference_engine.geometry.support import from_origin, pose_bodies, posed_shapes
from reference_engine.vectors import row


@entry
def mpr_gaps(posed, position, orientation, pairs, work, found):
    """found (P, 11) of the pairs (P, 2), points from the world's origin. The number of a coincident pair, or -1."""
    pose_bodies(posed, position, orientation)
    for k in range(pairs.shape[0]):
        p = pairs[k, 0]
        if mpr_pair(posed, p, pairs[k, 1], work, found[k]) == COINCIDENT:
            return k
        from_origin(found[k], row(posed.centre, p))
    return -1


def mpr_proximities(shapes, position, orientation, pairs):
    """Every pair (P, 2) of bounded bodies, in the order given, whatever the gap.

    position (B, 3) m; orientation (B, 4), w x y z, body to world, of any length but zero.

    gap: apart the distance; touching or a little in one another minus the least translation that parts the two, to
    1e-14 of the pair's bounding radius where both are spheres or ellipsoids, else 1e-11, rims too: there the slope of
    the gap around its normal shows a search that ended early. Deep in one another minus a translation that parts them,
    the least near the line of centres. `uncertainty`: as `ellipsoid_proximities` has it for spheres and ellipsoids, but
    of the nearest local minimum; else how far the search was from its end, and so the points may be from the surfaces.

    Raises ValueError for a flat shape, and a pair with one centre: no direction leads out of it.
    """
    check_thickness(shapes)
    r, o = (np.require(x, np.float64, ["C", "W"]) for x in (position, orientation))
    chosen = np.ascontiguousarray(np.asarray(pairs).reshape(-1, 2), np.int64)
    found = np.empty((len(chosen), FIELDS))
    one_centre = mpr_gaps(posed_shapes(shapes), r, o, chosen, mpr_work(), found)
    if one_centre >= 0:
        raise ValueError(f"pairs[{one_centre}]: {chosen[one_centre].tolist()} have one centre; no direction parts them")
    return proximities_of(found, chosen[:, 0], chosen[:, 1])

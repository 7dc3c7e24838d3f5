"""The gap of two ellipsoids, apart, touching or overlapping, as one maximum over directions.

    gap = max over unit n of  g(n) = n . d - h_1(n) - h_2(n),   h(n) = |A^T n|,   d = centre 2 - centre 1

Apart that is the distance: the widest slab between them. Overlapping it is minus the least translation that parts
them: the thinnest slab that holds what they share. g is concave and g(s n) = s g(n), so apart there is one maximum on
the sphere; overlapping there may be several, and ellipsoid_depth proves which.

What is returned is certain to `uncertainty`. Apart: g(n) is no more than the distance and the points are no nearer.
Overlapping: with w = d - p_1 - p_2 = g n + r, the same n is exactly stationary for centres |r| away, and gap is
1-Lipschitz in d.
"""

import numpy as np

from reference_engine.compiler.kernels import entry, kernel
from reference_engine.geometry import layout as col
from reference_engine.geometry.ellipsoid_depth import proven_radius, search
from reference_engine.geometry.ellipsoid_support import (
    ascend,
    centre,
    first_contact_normal,
    furthest_along,
    support_point,
)
from reference_engine.geometry.support import from_origin, write
from reference_engine.vectors import along, dot, length, minus, over, set_three, three

ROUND = 2e-15  # of the pair's size: some fifteen roundings of numbers of that size
GLOBAL = 1e-10  # of h_1 + h_2: what the search in cells leaves open


@kernel
def start_normal(body, p, q, d, distance):
    """The line of centres if it parts them, else the normal of first touch."""
    if not distance > 0.0:
        return 0.0, 0.0, 1.0
    n = over(d, distance)
    _, over_h = support_point(body, p, n)
    _, over_k = support_point(body, q, n)
    if 1.0 / over_h + 1.0 / over_k < distance:
        return n
    first = first_contact_normal(body, p, q, d, over_k / (over_h + over_k))
    return first if abs(first[0]) <= 1.0 else n  # NaN: too flat for its matrix


@kernel
def conclude(body, p, q, d, n, size, unproven, found):
    """`found` of the normal n, and how certain the gap is."""
    on_p, h = furthest_along(body, p, n)
    on_q, k = furthest_along(body, q, n)
    w = minus(minus(d, on_p), on_q)
    gap = dot(d, n) - h - k
    r = length(along(w, -dot(w, n), n))
    if gap > 0.0:
        r *= r / (gap + np.sqrt(gap * gap + r * r))  # |w| - gap
    write(found, gap, n, on_p, minus(d, on_q), r + unproven + ROUND * size)


@kernel
def ellipsoid_pair(body, p, q, normal, cutoff, stack, found):
    """`found` (see layout), the points from the centre of p. False, and a lower bound of the gap: it is above.

    normal (3,): where to start, 0: anywhere; the last one on return.
    """
    d = minus(centre(body, q), centre(body, p))
    distance = length(d)
    size = distance + body[p, col.LONGEST] + body[q, col.LONGEST]
    n = three(normal, 0)
    if n[0] == 0.0 and n[1] == 0.0 and n[2] == 0.0:
        n = start_normal(body, p, q, d, distance)
    n, g = ascend(body, p, q, d, n, size, cutoff)
    unproven = 0.0
    if g < 0.0 and proven_radius(body, p, q, n, -g) < np.inf:
        _, over_h = support_point(body, p, n)
        _, over_k = support_point(body, q, n)
        tolerance = GLOBAL * (1.0 / over_h + 1.0 / over_k)
        n, g, unproven = search(body, p, q, d, n, size, tolerance, stack)
    set_three(normal, 0, n)
    found[col.GAP] = g
    if g > cutoff:
        return False
    conclude(body, p, q, d, n, size, unproven, found)
    return True


@entry
def ellipsoid_gaps(body, pairs, cutoff, normal, stack, found):
    """found (P, 11) of the pairs (P, 2) and their next start normal (P, 3). Above the cutoff: see ellipsoid_pair.

    Points in world axes from the origin. Returns how many gaps are not above the cutoff.
    """
    near = 0
    for k in range(pairs.shape[0]):
        p = pairs[k, 0]
        if ellipsoid_pair(body, p, pairs[k, 1], normal[k], cutoff, stack, found[k]):
            near += 1
            from_origin(found[k], centre(body, p))
    return near

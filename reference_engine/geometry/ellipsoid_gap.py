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
from reference_engine.geometry.ellipsoid_depth import proven_radius, search
from reference_engine.geometry.ellipsoid_support import ascend, first_contact_normal, furthest_along, support_point
from reference_engine.geometry.support import write

ROUND = 2e-15  # of the pair's size: some fifteen roundings of numbers of that size
GLOBAL = 1e-10  # of h_1 + h_2: what the search in cells leaves open


@kernel
def start_normal(body, p, q, dx, dy, dz, distance):
    """The line of centres if it parts them, else the normal of first touch."""
    if not distance > 0.0:
        return 0.0, 0.0, 1.0
    x, y, z = dx / distance, dy / distance, dz / distance
    _, _, _, over_h = support_point(body, p, x, y, z)
    _, _, _, over_k = support_point(body, q, x, y, z)
    if 1.0 / over_h + 1.0 / over_k < distance:
        return x, y, z
    u, v, w = first_contact_normal(body, p, q, dx, dy, dz, over_k / (over_h + over_k))
    return (u, v, w) if abs(u) <= 1.0 else (x, y, z)  # NaN: too flat for its matrix


@kernel
def conclude(body, p, q, dx, dy, dz, x, y, z, size, unproven, found):
    px, py, pz, h = furthest_along(body, p, x, y, z)
    qx, qy, qz, k = furthest_along(body, q, x, y, z)
    wx, wy, wz = dx - px - qx, dy - py - qy, dz - pz - qz
    gap = dx * x + dy * y + dz * z - h - k
    along = wx * x + wy * y + wz * z
    rx, ry, rz = wx - along * x, wy - along * y, wz - along * z
    r = np.sqrt(rx * rx + ry * ry + rz * rz)
    if gap > 0.0:
        r *= r / (gap + np.sqrt(gap * gap + r * r))  # |w| - gap
    write(found, gap, x, y, z, px, py, pz, dx - qx, dy - qy, dz - qz, r + unproven + ROUND * size)


@kernel
def ellipsoid_pair(body, p, q, normal, cutoff, stack, found):
    """`found` (support.write), the points from the centre of p. False, and a lower bound of the gap: it is above.

    normal (3,): where to start, 0: anywhere; the last one on return.
    """
    dx, dy, dz = body[q, 0] - body[p, 0], body[q, 1] - body[p, 1], body[q, 2] - body[p, 2]
    distance = np.sqrt(dx * dx + dy * dy + dz * dz)
    size = distance + body[p, 18] + body[q, 18]
    x, y, z = normal[0], normal[1], normal[2]
    if x == 0.0 and y == 0.0 and z == 0.0:
        x, y, z = start_normal(body, p, q, dx, dy, dz, distance)
    x, y, z, g = ascend(body, p, q, dx, dy, dz, x, y, z, size, cutoff)
    unproven = 0.0
    if g < 0.0 and proven_radius(body, p, q, x, y, z, -g) < np.inf:
        _, _, _, over_h = support_point(body, p, x, y, z)
        _, _, _, over_k = support_point(body, q, x, y, z)
        tolerance = GLOBAL * (1.0 / over_h + 1.0 / over_k)
        x, y, z, g, unproven = search(body, p, q, dx, dy, dz, x, y, z, size, tolerance, stack)
    normal[0], normal[1], normal[2] = x, y, z
    found[0] = g
    if g > cutoff:
        return False
    conclude(body, p, q, dx, dy, dz, x, y, z, size, unproven, found)
    return True


@entry
def ellipsoid_gaps(body, pairs, cutoff, normal, stack, found):
    """found (P, 11) of the pairs (P, 2) and their next start normal (P, 3). Above the cutoff: see ellipsoid_pair.

    Points in world axes from the origin. Returns how many gaps are not above the cutoff.
    """
    near = 0
    for k in range(pairs.shape[0]):
        p, q = pairs[k, 0], pairs[k, 1]
        if ellipsoid_pair(body, p, q, normal[k], cutoff, stack, found[k]):
            near += 1
            for i in range(3):
                found[k, 4 + i] += body[p, i]
                found[k, 7 + i] += body[p, i]
    return near

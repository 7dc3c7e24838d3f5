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
from reference_engine.geometry.support import to_body, to_world, write

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


PARALLEL = 1e-10  # rad, between the line and the normals; the distance is off by its square where the gap is not small


@kernel
def squares(body, i):
    """a_k^2, from the columns of A."""
    return (
        body[i, 3] ** 2 + body[i, 6] ** 2 + body[i, 9] ** 2,
        body[i, 4] ** 2 + body[i, 7] ** 2 + body[i, 10] ** 2,
        body[i, 5] ** 2 + body[i, 8] ** 2 + body[i, 11] ** 2,
    )


@kernel
def to_unit_ball(body, i, x, y, z):
    """A^-1 (x, y, z)."""
    aa, bb, cc = squares(body, i)
    u, v, w = to_body(body, i, x, y, z)
    return u / aa, v / bb, w / cc


@kernel
def ball_centre(body, i, u, v, w):
    """Of the ball that touches at A (u, v, w) from inside: A of (u, v, w) shrunk by 1 - least^2 / a_k^2."""
    aa, bb, cc = squares(body, i)
    least = min(aa, bb, cc)
    u, v, w = u * (1.0 - least / aa), v * (1.0 - least / bb), w * (1.0 - least / cc)
    return to_world(body, i, u, v, w)


@kernel
def leaves(body, i, x, y, z, lx, ly, lz):
    """How far along (lx, ly, lz) the line from (x, y, z), inside, meets the surface of i; there in the unit ball."""
    u, v, w = to_unit_ball(body, i, x, y, z)
    a, b, c = to_unit_ball(body, i, lx, ly, lz)
    square, half = a * a + b * b + c * c, a * u + b * v + c * w
    t = (np.sqrt(max(half * half + square * (1.0 - u * u - v * v - w * w), 0.0)) - half) / square
    return t, u + t * a, v + t * b, w + t * c


@kernel
def sine(body, i, u, v, w, lx, ly, lz):
    """Of the angle between the normal A^-T (u, v, w) and the line."""
    aa, bb, cc = squares(body, i)
    u, v, w = u / aa, v / bb, w / cc
    x, y, z = to_world(body, i, u, v, w)
    rx, ry, rz = y * lz - z * ly, z * lx - x * lz, x * ly - y * lx
    return np.sqrt((rx * rx + ry * ry + rz * rz) / ((x * x + y * y + z * z) * (lx * lx + ly * ly + lz * lz)))


@kernel
def ball_pair(body, p, q, most_rounds, found):
    """The distance by balls rolled inside both (Lin & Han 2002, SIAM J. Optim. 13, 298): the method of a source.

    At a point of each surface sits the largest ball of one size for all points that stays inside. The line between the
    two balls' centres leaves the first body and enters the second at two new points; where the line is along both
    normals, these are the nearest. Slow where bodies are flat or long: its error shrinks by 1 - (shortest / longest
    axis)^2 a round. Rounds needed; negative: they overlap, and `found` is not written.
    """
    dx, dy, dz = body[q, 0] - body[p, 0], body[q, 1] - body[p, 1], body[q, 2] - body[p, 2]
    lx, ly, lz = dx, dy, dz
    ax = ay = az = bx = by = bz = 0.0  # the balls' centres, each from its body's
    length = np.sqrt(lx * lx + ly * ly + lz * lz)
    if not length > 0.0:
        return -1
    size = length + body[p, 18] + body[q, 18]
    rounds = 0
    for _ in range(most_rounds):
        rounds += 1
        out, u, v, w = leaves(body, p, ax, ay, az, lx, ly, lz)
        back, r, s, t = leaves(body, q, bx, by, bz, -lx, -ly, -lz)
        if out + back >= 1.0:
            return -rounds
        if sine(body, p, u, v, w, lx, ly, lz) < PARALLEL and sine(body, q, r, s, t, lx, ly, lz) < PARALLEL:
            break
        ax, ay, az = ball_centre(body, p, u, v, w)
        bx, by, bz = ball_centre(body, q, r, s, t)
        lx, ly, lz = dx + bx - ax, dy + by - ay, dz + bz - az
    length = np.sqrt(lx * lx + ly * ly + lz * lz)
    conclude(body, p, q, dx, dy, dz, lx / length, ly / length, lz / length, size, 0.0, found)
    return rounds


@entry
def ball_method_gaps(body, pairs, most_rounds, rounds, found):
    """As `ellipsoid_gaps` for pairs that are apart; rounds (P,), negative where a pair overlaps."""
    for k in range(pairs.shape[0]):
        p = pairs[k, 0]
        rounds[k] = ball_pair(body, p, pairs[k, 1], most_rounds, found[k])
        if rounds[k] > 0:
            for i in range(3):
                found[k, 4 + i] += body[p, i]
                found[k, 7 + i] += body[p, i]

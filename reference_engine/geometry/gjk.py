"""Distance of two convex cores that are apart.

Gilbert, Johnson & Keerthi 1988 (IEEE J. Robot. Autom. 4): the point v of P - Q nearest to the origin,
over simplices of support points.  |v| is the distance of two points that exist, so an upper bound;
the support plane across any direction gives a lower one: the two are the certificate.
"""

import numpy as np

from reference_engine.compiler.kernels import kernel
from reference_engine.geometry.support import support_difference, write

FAR, APART, OVERLAPPING = range(3)
MOST_STEPS = 200
RELATIVE_TOLERANCE = 1e-11  # of the distance, of the bracket at which the search ends
CONTACT_TOLERANCE = 1e-14  # of the two bounding radii: closer than this is left to the depth


@kernel
def nearest_on_segment(points, i, j, weight):
    """Nearest to the origin on rows i, j; weights; squared distance."""
    ex, ey, ez = points[j, 0] - points[i, 0], points[j, 1] - points[i, 1], points[j, 2] - points[i, 2]
    length = ex * ex + ey * ey + ez * ez
    t = 0.0
    if length > 0.0:
        t = -(ex * points[i, 0] + ey * points[i, 1] + ez * points[i, 2]) / length
    t = min(1.0, max(0.0, t))
    for k in range(4):
        weight[k] = 0.0
    weight[i] = 1.0 - t
    weight[j] = t
    return (points[i, 0] + t * ex) ** 2 + (points[i, 1] + t * ey) ** 2 + (points[i, 2] + t * ez) ** 2


@kernel
def nearest_on_triangle(points, i, j, k, weight):
    """The foot of the perpendicular if it lies inside, else the best of the three sides."""
    ax, ay, az = points[i, 0], points[i, 1], points[i, 2]
    bx, by, bz = points[j, 0] - ax, points[j, 1] - ay, points[j, 2] - az
    cx, cy, cz = points[k, 0] - ax, points[k, 1] - ay, points[k, 2] - az
    nx, ny, nz = by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx
    nn = nx * nx + ny * ny + nz * nz
    if nn > 0.0:
        s = -(nx * (ay * cz - az * cy) + ny * (az * cx - ax * cz) + nz * (ax * cy - ay * cx)) / nn
        t = -(nx * (by * az - bz * ay) + ny * (bz * ax - bx * az) + nz * (bx * ay - by * ax)) / nn
        if s >= 0.0 and t >= 0.0 and s + t <= 1.0:
            for r in range(4):
                weight[r] = 0.0
            weight[i], weight[j], weight[k] = 1.0 - s - t, s, t
            return (ax + s * bx + t * cx) ** 2 + (ay + s * by + t * cy) ** 2 + (az + s * bz + t * cz) ** 2
    best, side = np.inf, 0
    for r in range(3):
        first, second = (i, j) if r == 0 else ((j, k) if r == 1 else (k, i))
        distance = nearest_on_segment(points, first, second, weight)
        if distance < best:
            best, side = distance, r
    first, second = (i, j) if side == 0 else ((j, k) if side == 1 else (k, i))
    return nearest_on_segment(points, first, second, weight)


@kernel
def is_beyond(points, i, j, k, opposite):
    """Is the origin not strictly on the side of the face i, j, k on which the opposite corner is?"""
    ax, ay, az = points[i, 0], points[i, 1], points[i, 2]
    bx, by, bz = points[j, 0] - ax, points[j, 1] - ay, points[j, 2] - az
    cx, cy, cz = points[k, 0] - ax, points[k, 1] - ay, points[k, 2] - az
    nx, ny, nz = by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx
    inner = nx * (points[opposite, 0] - ax) + ny * (points[opposite, 1] - ay) + nz * (points[opposite, 2] - az)
    return -(nx * ax + ny * ay + nz * az) * inner <= 0.0


@kernel
def nearest_on_simplex(points, n, weight, is_apart):
    """Weights of the nearest point; true if the origin is inside a tetrahedron, which it is not if `is_apart`.

    A flat tetrahedron seems to have it inside by round-off: then the nearest of all four faces is taken.
    """
    if n == 1:
        weight[0] = 1.0
    elif n == 2:
        nearest_on_segment(points, 0, 1, weight)
    elif n == 3:
        nearest_on_triangle(points, 0, 1, 2, weight)
    else:
        best, face = np.inf, -1
        for of_all in range(2):
            for f in range(4):
                i, j, k = (f + 1) % 4, (f + 2) % 4, (f + 3) % 4
                if of_all == 1 or is_beyond(points, i, j, k, f):
                    distance = nearest_on_triangle(points, i, j, k, weight)
                    if distance < best:
                        best, face = distance, f
            if face >= 0 or not is_apart:
                break
        if face < 0:
            return True
        nearest_on_triangle(points, (face + 1) % 4, (face + 2) % 4, (face + 3) % 4, weight)
    return False


@kernel
def separation(posed, p, q, dx, dy, dz, cutoff, points, weight, found):
    """FAR if the distance is not below the cutoff, OVERLAPPING if it is zero, else APART and `found`.

    Rows of `points` with a weight above 0 are the simplex of the nearest points.
    """
    body = posed.body
    extent = body[p, 16] + body[q, 16]
    vx, vy, vz = -dx, -dy, -dz
    length = np.sqrt(vx * vx + vy * vy + vz * vz)
    if length == 0.0:
        vx, length = 1.0, 1.0
    lower, upper, n = -np.inf, np.inf, 0
    for _ in range(MOST_STEPS):
        nx, ny, nz = -vx / length, -vy / length, -vz / length
        support_difference(posed, p, q, dx, dy, dz, nx, ny, nz, n, points)
        wx, wy, wz = points[n, 0], points[n, 1], points[n, 2]
        across = -(nx * wx + ny * wy + nz * wz)
        lower = max(lower, across)
        if lower >= cutoff:
            return FAR
        if n > 0 and upper - across <= RELATIVE_TOLERANCE * upper:  # of this normal, not the best bound so far
            break
        repeated = False
        for k in range(n):
            repeated = repeated or (points[k, 0] == wx and points[k, 1] == wy and points[k, 2] == wz)
        if repeated:
            break
        if nearest_on_simplex(points, n + 1, weight, lower > CONTACT_TOLERANCE * extent):
            return OVERLAPPING
        kept = 0
        for k in range(n + 1):
            if weight[k] > 0.0:
                weight[kept] = weight[k]
                for column in range(9):
                    points[kept, column] = points[k, column]
                kept += 1
        for k in range(kept, 4):
            weight[k] = 0.0
        n = kept
        vx, vy, vz, px, py, pz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for k in range(n):
            vx, vy, vz = (vx + weight[k] * points[k, 0], vy + weight[k] * points[k, 1], vz + weight[k] * points[k, 2])
            px, py, pz = (px + weight[k] * points[k, 3], py + weight[k] * points[k, 4], pz + weight[k] * points[k, 5])
        length = np.sqrt(vx * vx + vy * vy + vz * vz)
        if length <= CONTACT_TOLERANCE * extent or n == 4:
            return OVERLAPPING
        if length >= upper:  # round-off: no nearer than before
            break
        upper = length
        write(found, length, -vx / length, -vy / length, -vz / length, px, py, pz, px - vx, py - vy, pz - vz, 0.0)
    found[10] = max(0.0, upper - lower)
    return APART

"""Distance of two convex cores that are apart.

Gilbert, Johnson & Keerthi 1988 (IEEE J. Robot. Autom. 4): the point v of P - Q nearest to the origin,
over simplices of support points.  |v| is the distance of two points that exist, so an upper bound;
the support plane across any direction gives a lower one: the two are the certificate.
"""

import numpy as np

from reference_engine.compiler.kernels import kernel
from reference_engine.geometry import layout as col
from reference_engine.geometry.support import support_difference, write
from reference_engine.vectors import along, cross, dot, length, minus, opposite, over, row, set_row, set_three

FAR, APART, OVERLAPPING = range(3)
MOST_STEPS = 200
RELATIVE_TOLERANCE = 1e-11  # of the distance, of the bracket at which the search ends
CERTIFIED = 1e-9  # of the distance: a normal whose own bound is worse than the best one by more is none
CONTACT_TOLERANCE = 1e-14  # of the two bounding radii: closer than this is left to the depth


@kernel
def difference(points, k):
    return row(points[k], col.DIFFERENCE)


@kernel
def is_among(points, n, point):
    found = False
    for k in range(n):
        found = found or difference(points, k) == point
    return found


@kernel
def triangle(points, i, j, k):
    """The corner i of P - Q, the two sides from there, and their product: across the triangle."""
    a = difference(points, i)
    b, c = minus(difference(points, j), a), minus(difference(points, k), a)
    return a, b, c, cross(b, c)


@kernel
def foot(a, b, c, n):
    """The foot of the perpendicular from the origin on the plane of `triangle` is a + s b + t c: s, t."""
    nn = dot(n, n)
    return -dot(n, cross(a, c)) / nn, -dot(n, cross(b, a)) / nn


@kernel
def nearest_on_segment(points, i, j, weight):
    """Nearest to the origin between two points; weights; squared distance."""
    a = difference(points, i)
    side = minus(difference(points, j), a)
    square, t = dot(side, side), 0.0
    if square > 0.0:
        t = -dot(side, a) / square
    t = min(1.0, max(0.0, t))
    for k in range(4):
        weight[k] = 0.0
    weight[i] = 1.0 - t
    weight[j] = t
    nearest = along(a, t, side)
    return dot(nearest, nearest)


@kernel
def nearest_on_triangle(points, i, j, k, weight):
    """The foot of the perpendicular if it lies inside, else the best of the three sides."""
    a, b, c, n = triangle(points, i, j, k)
    if dot(n, n) > 0.0:
        s, t = foot(a, b, c, n)
        if s >= 0.0 and t >= 0.0 and s + t <= 1.0:
            for r in range(4):
                weight[r] = 0.0
            weight[i], weight[j], weight[k] = 1.0 - s - t, s, t
            nearest = along(along(a, s, b), t, c)
            return dot(nearest, nearest)
    best, side = np.inf, 0
    for r in range(3):
        first, second = (i, j) if r == 0 else ((j, k) if r == 1 else (k, i))
        distance = nearest_on_segment(points, first, second, weight)
        if distance < best:
            best, side = distance, r
    first, second = (i, j) if side == 0 else ((j, k) if side == 1 else (k, i))
    return nearest_on_segment(points, first, second, weight)


@kernel
def is_beyond(points, i, j, k, opposite_corner):
    """Is the origin not strictly on the side of the face i, j, k on which the opposite corner is?"""
    a, _, _, n = triangle(points, i, j, k)
    return -dot(n, a) * dot(n, minus(difference(points, opposite_corner), a)) <= 0.0


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
def separation(posed, p, q, d, cutoff, points, weight, found):
    """FAR if the distance is not below the cutoff, OVERLAPPING if it is zero, else APART and `found`.

    Points with a weight above 0 are the simplex of the nearest points.
    """
    extent = posed.bounding_radius[p] + posed.bounding_radius[q]
    v = opposite(d)
    distance = length(v)
    if distance == 0.0:
        v, distance = (1.0, v[1], v[2]), 1.0
    lower, upper, across, n, proof = -np.inf, np.inf, -np.inf, 0, (0.0, 0.0, 0.0)
    for _ in range(MOST_STEPS):
        normal = over(opposite(v), distance)
        support_difference(posed, p, q, d, normal, n, points)
        newest = difference(points, n)
        across = -dot(normal, newest)
        proof = normal if across > lower else proof
        lower = max(lower, across)
        if lower >= cutoff:
            return FAR
        if n > 0 and upper - across <= RELATIVE_TOLERANCE * upper:  # of this normal, not the best bound so far
            break
        if is_among(points, n, newest):
            break
        if nearest_on_simplex(points, n + 1, weight, lower > CONTACT_TOLERANCE * extent):
            return OVERLAPPING
        kept = 0
        for k in range(n + 1):
            if weight[k] > 0.0:
                weight[kept] = weight[k]
                for of in range(3):
                    set_row(points[kept], of, row(points[k], of))
                kept += 1
        for k in range(kept, 4):
            weight[k] = 0.0
        n = kept
        v, on_p = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for k in range(n):
            v = along(v, weight[k], difference(points, k))
            on_p = along(on_p, weight[k], row(points[k], col.OF_P))
        distance = length(v)
        if distance <= CONTACT_TOLERANCE * extent or n == 4:
            return OVERLAPPING
        if distance >= upper:  # round-off: no nearer than before
            break
        upper = distance
        write(found, distance, over(opposite(v), distance), on_p, minus(on_p, v), 0.0)
    if lower - across > CERTIFIED * upper:  # points so near that round-off turns what joins them
        set_three(found, col.NORMAL, proof)
    found[col.UNCERTAINTY] = max(0.0, upper - lower)
    return APART

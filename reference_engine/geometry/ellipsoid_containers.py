"""Ellipsoids above planes and inside hollow spheres; the point of one that is furthest from a given point.

The furthest point is by the secular equation; and where there are several.
"""

import numpy as np

from reference_engine.compiler.kernels import entry, kernel
from reference_engine.geometry import layout as col
from reference_engine.geometry.ellipsoid_support import centre, furthest_along, gathered, stretched
from reference_engine.geometry.support import write_from_p
from reference_engine.vectors import dot, length, minus, opposite, over, plus, row, set_row, three

ONE_POINT, TWO_POINTS, CIRCLE, SPHERE = range(4)
MOST_POINTS = 4


@kernel
def longest_of(a):
    """The semi-axis, and which it is."""
    longest = max(a[0], a[1], a[2])
    return longest, 0 if a[0] == longest else (1 if a[1] == longest else 2)


@kernel
def coordinate(a, c, longest, mu, i):
    """x_i of the point of the root mu, 0 where c_i is."""
    below = (longest - a[i]) * (longest + a[i]) + mu
    return -a[i] * a[i] * c[i] / below if c[i] != 0.0 and below > 0.0 else 0.0


@kernel
def point_of_root(a, c, mu, side):
    """On the ellipsoid, beyond its centre as seen from c along the longest axis (side -1), or on this side (1)."""
    longest, axis = longest_of(a)
    point = coordinate(a, c, longest, mu, 0), coordinate(a, c, longest, mu, 1), coordinate(a, c, longest, mu, 2)
    rest = 1.0
    for i in range(3):
        if i != axis:
            rest -= (point[i] / a[i]) ** 2
    along = (side if c[axis] > 0.0 else -side) * longest * np.sqrt(max(0.0, rest))
    return along if axis == 0 else point[0], along if axis == 1 else point[1], along if axis == 2 else point[2]


@kernel
def furthest_on_ellipsoid(a, c):
    """Point of the ellipsoid with semi-axes a that is furthest from c; own axes.

    x_i = a_i^2 c_i / (a_i^2 - lambda) with the root lambda > max a_i^2 of the secular equation
    sum of (a_i c_i / (a_i^2 - lambda))^2 = 1, in mu = lambda - max a_i^2, by Newton's method on
    1 / sqrt(sum) - 1, which is concave and rises, inside a bracket.  If the sum stays below 1 at mu = 0
    (c on a plane of symmetry) the furthest point lies off that plane: of the two the positive one.
    """
    longest, axis = longest_of(a)
    high = np.sqrt((a[0] * c[0]) ** 2 + (a[1] * c[1]) ** 2 + (a[2] * c[2]) ** 2)
    low = abs(longest * c[axis])
    mu = high
    if high > 0.0:
        for _ in range(100):
            total, slope = secular(a, c, longest, mu)
            if total >= 1.0:
                low = max(low, mu)
            else:
                high = min(high, mu)
            # f = total^(-1/2) - 1,  f' = total^(-3/2) slope
            step = (1.0 - np.sqrt(total)) * total / slope
            following = mu - step
            if not low <= following <= high:
                following = 0.5 * (low + high)
            if abs(following - mu) <= 1e-16 * mu or mu < 1e-300:
                break
            mu = following
    return point_of_root(a, c, mu, -1.0)


@kernel
def secular(a, c, longest, mu):
    """The sum of the secular equation, and half its slope in mu with the sign turned."""
    total = slope = 0.0
    for i in range(3):
        below = (longest - a[i]) * (longest + a[i]) + mu
        if c[i] != 0.0:
            ratio = a[i] * c[i] / below
            total += ratio * ratio
            slope += ratio * ratio / below
    return total, slope


@kernel
def other_root(a, c):
    """mu < 0 of the other local maximum of the distance, on the far side of the long axis; 0 if there is none.

    1 / sqrt(sum) is concave between the poles (a power mean of the distances from them), and at mu = -|a c| of the
    long axis it is still below 1: Newton's method from there comes to the first root without passing it, or turns.
    """
    longest, axis = longest_of(a)
    edge = np.inf
    for i in range(3):
        if i != axis:
            edge = min(edge, (longest - a[i]) * (longest + a[i]))
    mu = -abs(longest * c[axis])
    for _ in range(60):
        if mu <= -edge:
            return 0.0
        total, slope = secular(a, c, longest, mu)
        if slope >= 0.0:
            return 0.0
        step = (1.0 - np.sqrt(total)) * total / slope
        if step <= -1e-16 * mu:
            break
        mu -= step
    return mu


@kernel
def distance_without(a, i, j, point, c):
    """From c, of the surface point that is left of another if its coordinates i and j are 0: where a pair, or a circle,
    of points draws together. As far as they are, it is the only one: a square root makes 1e-8 of round-off."""
    total = square = 0.0
    for k in range(3):
        if k != i and k != j:
            total += (point[k] / a[k]) ** 2
    for k in range(3):
        x = point[k] / np.sqrt(total) if k != i and k != j and total > 0.0 else 0.0
        square += (x - c[k]) ** 2
    return np.sqrt(square) if total > 0.0 else 0.0


@kernel
def furthest_points(a, c, tie, point):
    """Rows of `point`: the furthest from c, then what else may touch a sphere about c.  Own axes.  (kind, rows).

    Two that differ by at most `tie` in their distance from c count as equally far.  One point or two: the second row is
    the other local maximum where there is one, tied or not.  A circle: four points of it.  The whole sphere: four, as
    far from one another as can be.
    """
    set_row(point, 0, furthest_on_ellipsoid(a, c))
    distance = length(minus(row(point, 0), c))
    least = min(a[0], a[1], a[2])
    if distance - (least - length(c)) <= tie:
        side = least / np.sqrt(3.0)
        for k in range(4):
            point[k, 0] = side * (1.0 - 2.0 * (k & 1))
            point[k, 1] = side * (1.0 - (k & 2))
            point[k, 2] = side * (1.0 - 2.0 * ((k & 1) ^ (k >> 1)))
        return SPHERE, 4
    _, i = longest_of(a)
    j, k = (i + 1) % 3, (i + 2) % 3
    j = j if a[j] >= a[k] else k
    u, v = point[0, i] / a[i], point[0, j] / a[j]
    # |x - c|^2 on the circle: 2 r (a_i c_i cos + a_j c_j sin) and r^2 (a_i^2 - a_j^2) cos^2 are all that varies
    varies = 4.0 * np.sqrt((u * u + v * v) * ((a[i] * c[i]) ** 2 + (a[j] * c[j]) ** 2))
    varies += (u * u + v * v) * (a[i] - a[j]) * (a[i] + a[j])
    if varies <= 2.0 * distance * tie and distance - distance_without(a, i, j, point[0], c) > tie:
        for other in range(1, 4):
            u, v = -v, u
            set_row(point, other, row(point, 0))
            point[other, i], point[other, j] = a[i] * u, a[j] * v
        return CIRCLE, 4
    if c[i] == 0.0:
        if distance - distance_without(a, i, i, point[0], c) <= tie:
            return ONE_POINT, 1
        set_row(point, 1, row(point, 0))
        point[1, i] = -point[0, i]
        return TWO_POINTS, 2
    mu = other_root(a, c)
    if mu == 0.0:
        return ONE_POINT, 1
    set_row(point, 1, point_of_root(a, c, mu, 1.0))
    return TWO_POINTS if distance - length(minus(row(point, 1), c)) <= tie else ONE_POINT, 2


ROUND = 2e-15  # of the distances that a gap is the difference of


@kernel
def half_space_gap(body, i, point, normal, found):
    """found: ellipsoid i above the plane through `point` with the unit `normal`, points from the world's origin.

    Closed form: the height of the centre less h(n) = |A^T n|, at the point that is furthest down.
    """
    n = three(normal, 0)
    lowest, h = furthest_along(body, i, opposite(n))
    d = minus(centre(body, i), three(point, 0))
    gap = dot(n, d) - h
    round_off = ROUND * (abs(d[0]) + abs(d[1]) + abs(d[2]) + body[i, col.LONGEST])
    write_from_p(found, gap, opposite(n), plus(centre(body, i), lowest), round_off)


@entry
def half_space_gaps(body, point, normal, found):
    """Of all ellipsoids: found (B, FIELDS)."""
    for i in range(body.shape[0]):
        half_space_gap(body, i, point, normal, found[i])


@kernel
def sphere_interior_gap(semi_axes, body, i, middle, radius, tie, point, found):
    """Ellipsoid i inside the sphere: rows of found (4, FIELDS); ONE_POINT ... SPHERE, and how many rows.

    Normals point outward, into the sphere's solid. At the very centre of the sphere: +z. point (4, 3) is scratch.
    """
    a, b, c = three(semi_axes[i], 0)
    d = minus(three(middle, 0), centre(body, i))
    x, y, z = gathered(body, i, d)
    kind, rows = furthest_points((a, b, c), (x / a, y / b, z / c), tie, point)
    round_off = ROUND * (abs(d[0]) + abs(d[1]) + abs(d[2]) + body[i, col.LONGEST] + radius)
    for k in range(rows):
        on_body = stretched(body, i, (point[k, 0] / a, point[k, 1] / b, point[k, 2] / c))
        out = minus(on_body, d)
        distance = length(out)
        n = over(out, distance) if distance > 0.0 else (0.0, 0.0, 1.0)
        write_from_p(found[k], radius - distance, n, plus(on_body, centre(body, i)), round_off)
    return kind, rows


@entry
def sphere_interior_gaps(semi_axes, body, middle, radius, tie, kind, point, found):
    """Of all ellipsoids: kind (B, 2), found (B, 4, FIELDS)."""
    for i in range(body.shape[0]):
        kind[i, 0], kind[i, 1] = sphere_interior_gap(semi_axes, body, i, middle, radius, tie, point, found[i])

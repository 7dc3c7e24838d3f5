"""Ellipsoids above planes and inside hollow spheres; the point of one that is furthest from a given point.

The furthest point is by the secular equation; and where there are several.
"""

import numpy as np

from reference_engine.compiler.kernels import entry, kernel
from reference_engine.geometry import layout as col
from reference_engine.geometry.ellipsoid_support import centre, furthest_along, gathered, stretched
from reference_engine.geometry.support import write_from_p
from reference_engine.vectors import dot, length, minus, opposite, over, plus, three

ONE_POINT, TWO_POINTS, CIRCLE, SPHERE = range(4)
MOST_POINTS = 4


@kernel
def coordinate(a, c, largest, mu, i):
    """x_i of the furthest point, 0 where c_i is."""
    below = (largest - a[i]) * (largest + a[i]) + mu
    return -a[i] * a[i] * c[i] / below if c[i] != 0.0 and below > 0.0 else 0.0


@kernel
def furthest_on_ellipsoid(a, cx, cy, cz):
    """Point of the ellipsoid with semi-axes a that is furthest from c; own axes.

    x_i = a_i^2 c_i / (a_i^2 - lambda) with the root lambda > max a_i^2 of the secular equation
    sum of (a_i c_i / (a_i^2 - lambda))^2 = 1, in mu = lambda - max a_i^2, by Newton's method on
    1 / sqrt(sum) - 1, which is concave and rises, inside a bracket.  If the sum stays below 1 at mu = 0
    (c on a plane of symmetry) the furthest point lies off that plane: of the two the positive one.
    """
    c = (cx, cy, cz)
    largest = max(a[0], a[1], a[2])
    long_axis = 0 if a[0] == largest else (1 if a[1] == largest else 2)
    high = np.sqrt((a[0] * cx) ** 2 + (a[1] * cy) ** 2 + (a[2] * cz) ** 2)
    low = abs(largest * c[long_axis])
    mu = high
    if high > 0.0:
        for _ in range(100):
            total, slope = secular(a, c, largest, mu)
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
    x = coordinate(a, c, largest, mu, 0)
    y = coordinate(a, c, largest, mu, 1)
    z = coordinate(a, c, largest, mu, 2)
    rest = 1.0
    for i in range(3):
        if i != long_axis:
            rest -= (coordinate(a, c, largest, mu, i) / a[i]) ** 2
    along = largest * np.sqrt(max(0.0, rest))
    along = -along if c[long_axis] > 0.0 else along
    return along if long_axis == 0 else x, along if long_axis == 1 else y, along if long_axis == 2 else z


@kernel
def secular(a, c, largest, mu):
    """The sum of the secular equation, and half its slope in mu with the sign turned."""
    total = slope = 0.0
    for i in range(3):
        below = (largest - a[i]) * (largest + a[i]) + mu
        if c[i] != 0.0:
            ratio = a[i] * c[i] / below
            total += ratio * ratio
            slope += ratio * ratio / below
    return total, slope


@kernel
def distance_to(point, cx, cy, cz):
    return np.sqrt((point[0] - cx) ** 2 + (point[1] - cy) ** 2 + (point[2] - cz) ** 2)


@kernel
def other_root(a, c, long_axis):
    """mu < 0 of the other local maximum of the distance, on the far side of the long axis; 0 if there is none.

    1 / sqrt(sum) is concave between the poles (a power mean of the distances from them), and at mu = -|a c| of the
    long axis it is still below 1: Newton's method from there comes to the first root without passing it, or turns.
    """
    largest = a[long_axis]
    edge = np.inf
    for i in range(3):
        if i != long_axis:
            edge = min(edge, (largest - a[i]) * (largest + a[i]))
    mu = -abs(largest * c[long_axis])
    for _ in range(60):
        if mu <= -edge:
            return 0.0
        total, slope = secular(a, c, largest, mu)
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
def furthest_points(a, cx, cy, cz, tie, point):
    """Rows of `point`: the furthest from c, then what else may touch a sphere about c.  Own axes.  (kind, rows).

    Two that differ by at most `tie` in their distance from c count as equally far.  One point or two: the second row is
    the other local maximum where there is one, tied or not.  A circle: four points of it.  The whole sphere: four, as
    far from one another as can be.
    """
    c = (cx, cy, cz)
    x, y, z = furthest_on_ellipsoid(a, cx, cy, cz)
    point[0, 0], point[0, 1], point[0, 2] = x, y, z
    distance = distance_to(point[0], cx, cy, cz)
    least = min(a[0], a[1], a[2])
    if distance - (least - np.sqrt(cx * cx + cy * cy + cz * cz)) <= tie:
        side = least / np.sqrt(3.0)
        for k in range(4):
            point[k, 0] = side * (1.0 - 2.0 * (k & 1))
            point[k, 1] = side * (1.0 - (k & 2))
            point[k, 2] = side * (1.0 - 2.0 * ((k & 1) ^ (k >> 1)))
        return SPHERE, 4
    largest = max(a[0], a[1], a[2])
    i = 0 if a[0] == largest else (1 if a[1] == largest else 2)
    j, k = (i + 1) % 3, (i + 2) % 3
    j = j if a[j] >= a[k] else k
    u, v = point[0, i] / a[i], point[0, j] / a[j]
    # |x - c|^2 on the circle: 2 r (a_i c_i cos + a_j c_j sin) and r^2 (a_i^2 - a_j^2) cos^2 are all that varies
    varies = 4.0 * np.sqrt((u * u + v * v) * ((a[i] * c[i]) ** 2 + (a[j] * c[j]) ** 2))
    varies += (u * u + v * v) * (a[i] - a[j]) * (a[i] + a[j])
    if varies <= 2.0 * distance * tie and distance - distance_without(a, i, j, point[0], c) > tie:
        for row in range(1, 4):
            u, v = -v, u
            for axis in range(3):
                point[row, axis] = point[0, axis]
            point[row, i], point[row, j] = a[i] * u, a[j] * v
        return CIRCLE, 4
    if c[i] == 0.0:
        if distance - distance_without(a, i, i, point[0], c) <= tie:
            return ONE_POINT, 1
        for axis in range(3):
            point[1, axis] = -point[0, axis] if axis == i else point[0, axis]
        return TWO_POINTS, 2
    mu = other_root(a, c, i)
    if mu == 0.0:
        return ONE_POINT, 1
    rest = 1.0
    for axis in range(3):
        if axis != i:
            point[1, axis] = coordinate(a, c, largest, mu, axis)
            rest -= (point[1, axis] / a[axis]) ** 2
    along = largest * np.sqrt(max(0.0, rest))
    point[1, i] = along if c[i] > 0.0 else -along
    return TWO_POINTS if distance - distance_to(point[1], cx, cy, cz) <= tie else ONE_POINT, 2


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
    kind, rows = furthest_points((a, b, c), x / a, y / b, z / c, tie, point)
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

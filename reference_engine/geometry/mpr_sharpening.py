"""The last digits of a normal where curved bodies touch corners, edges, sides, rims or one another.

Nearest points that are found as mixtures of support points know the distance to round-off, and so the direction of a
curved body's normal only to its root: 1e-7 and more, without any smoothness from one state to the next. Here g(n) =
n . d - h_P(n) - h_Q(-n) is climbed by Newton's method among the normals that the simplex of those points leaves free: a
flat side leaves none, an edge, a ruling of a cylinder or a core segment those across it, a slant those of its cone,
corners, rims and ellipsoids all. At its maximum x = s_Q(-n) - s_P(n) has no part along these, and with H the second
derivatives of both support functions the step is (H + n . x)^-1 times that part (as in ellipsoid_support).
"""

import numpy as np

from reference_engine.compiler.kernels import kernel
from reference_engine.geometry import layout as col
from reference_engine.geometry.gjk import difference
from reference_engine.geometry.spatial_shapes import CONE, CYLINDER, ELLIPSOID
from reference_engine.geometry.support import is_curved, support, support_difference, to_body, to_world
from reference_engine.vectors import along, cross, dot, length, minus, opposite, over, plus, row, three, times

POINT, LINE, SIDE, SLANT = range(4)  # what of a body is nearest: free normals 2, 1, 0, 1
PARALLEL = 1e-6  # sine of an angle: lines nearer than this to one direction have one
LEVEL = 1e-5  # of a normal: a part along a disc below this is none, and the disc itself is touched
SHARP = 1e-13  # a step on the sphere of directions below this is the last: the next is its square
MOST_CLIMBS = 8
NOWHERE = (0.0, 0.0, 0.0)


@kernel
def nearest_feature(posed, points, weight, of, i, n):
    """What of body i the simplex touches, n its outward normal: POINT, LINE along, SIDE across, SLANT.

    of: column of the body's points.
    """
    kind = posed.kind[i]
    if kind == ELLIPSOID:
        return POINT, NOWHERE
    if kind in (CYLINDER, CONE):
        u, v, w = to_body(posed.R, i, n)
        if u * u + v * v < LEVEL * LEVEL and (kind == CYLINDER or w < 0.0):
            return SIDE, to_world(posed.R, i, (0.0, 0.0, 1.0 if w > 0.0 else -1.0))
        axis = to_world(posed.R, i, (0.0, 0.0, 1.0))
        least, most = np.inf, -np.inf
        for k in range(4):
            if weight[k] > 0.0:
                height = dot(axis, row(points[k], of))
                least, most = min(least, height), max(most, height)
        if most - least > 0.5 * posed.size[i, 1]:  # of 2 half-lengths, or of a height
            return (LINE if kind == CYLINDER else SLANT), axis
        return POINT, NOWHERE
    first, edge = -1, NOWHERE
    for k in range(4):
        if weight[k] > 0.0:
            if first < 0:
                first = k
                continue
            side = minus(row(points[k], of), row(points[first], of))
            size = length(side)
            if size == 0.0:
                continue
            side = over(side, size)
            if edge == NOWHERE:
                edge = side
                continue
            side = cross(edge, side)
            across = length(side)
            if across > PARALLEL:
                return SIDE, over(side, across)
    return (POINT if edge == NOWHERE else LINE), edge


@kernel
def bend(posed, i, n, s, t):
    """s . H t, H the second derivatives of body i's support function along its normal n."""
    kind = posed.kind[i]
    if not is_curved(kind):
        return 0.0
    x, y, z = to_body(posed.R, i, n)
    a, b, c = to_body(posed.R, i, s)
    d, e, f = to_body(posed.R, i, t)
    if kind == ELLIPSOID:
        u, v, w = posed.size[i, 0] ** 2, posed.size[i, 1] ** 2, posed.size[i, 2] ** 2
        h = np.sqrt(u * x * x + v * y * y + w * z * z)
        first, second = u * x * a + v * y * b + w * z * c, u * x * d + v * y * e + w * z * f
        return (u * a * d + v * b * e + w * c * f - first * second / (h * h)) / h
    across = np.sqrt(x * x + y * y)
    if kind == CONE and posed.size[i, 1] * z >= posed.size[i, 0] * across:
        return 0.0  # its apex
    return posed.size[i, 0] / across**3 * (x * b - y * a) * (x * e - y * d)


@kernel
def slant_length(posed, i):
    """Of cone i, from its apex to its rim."""
    return np.sqrt(posed.size[i, 0] ** 2 + posed.size[i, 1] ** 2)


@kernel
def on_slant(posed, i, n):
    """The normal of cone i's slant nearest to n, the way out from its axis, and that way's part of it."""
    u, v, _ = to_body(posed.R, i, n)
    across, side = np.sqrt(u * u + v * v), slant_length(posed, i)
    u, v, out = u / across, v / across, posed.size[i, 1] / side
    slanted = to_world(posed.R, i, (out * u, out * v, posed.size[i, 0] / side))
    return slanted, to_world(posed.R, i, (u, v, 0.0)), out


@kernel
def down_slant(posed, i, n):
    """Along the ruling of cone i's slant that has the normal n, from its apex."""
    u, v, _ = to_body(posed.R, i, n)
    across, side = np.sqrt(u * u + v * v), slant_length(posed, i)
    scale = posed.size[i, 0] / (side * across)
    return to_world(posed.R, i, (scale * u, scale * v, -posed.size[i, 1] / side))


@kernel
def unit_cross(a, b):
    """The direction of their product, 0 if they have one direction, and its length."""
    n = cross(a, b)
    size = length(n)
    return times(1.0 / size if size > 0.0 else 0.0, n), size


@kernel
def base_point(posed, i, feature, n):
    """A point of what is nearest of body i, for its outward normal: of a slant the apex."""
    if feature == SLANT:
        return to_world(posed.R, i, (0.0, 0.0, 0.75 * posed.size[i, 1]))
    return support(posed, i, n)


@kernel
def aslant(posed, p, q, d, found, tilt, is_steepest, points, weight):
    """A simplex for `climb`: the support points along three normals that far from the one in `found`.

    Or only those along the one on whose side g rises most. Returns how steeply, and that normal; else the one in found.
    """
    n = three(found, col.NORMAL)
    x = 1.0 if abs(n[0]) < 0.5 else 0.0
    t, _ = unit_cross(n, (x, 1.0 - x, 0.0))
    s, _ = unit_cross(n, t)
    rise, steepest = -np.inf, n
    for k in range(4):
        weight[k] = 0.0
    for k in range(3):
        a, b = 1.0 - 1.5 * (k > 0), 0.8 * (k == 1) - 0.8 * (k == 2)
        aside = along(times(a, t), b, s)
        tilted = along(n, tilt, aside)
        support_difference(posed, p, q, d, tilted, k, points)
        steep = -dot(aside, difference(points, k))
        weight[k] = 1.0
        if steep > rise:
            rise = steep
            if is_steepest:
                steepest = tilted
                for other in range(k):
                    weight[other] = 0.0
        elif is_steepest:
            weight[k] = 0.0
    return rise, steepest


@kernel
def climb(posed, p, q, d, n, points, weight, found):
    """The normal, and the point of the core of p, that Newton's method leads to from n; False: to none."""
    feature_p, a = nearest_feature(posed, points, weight, col.OF_P, p, n)
    feature_q, b = nearest_feature(posed, points, weight, col.OF_Q, q, opposite(n))
    free = 2 if feature_p == POINT and feature_q == POINT else 1
    if feature_p == SIDE or feature_q == SIDE:
        free = 0
        side = a if feature_p == SIDE else b
        n = times(1.0 if dot(side, n) > 0.0 else -1.0, side)
    elif feature_p != POINT and feature_q != POINT:  # n . a and n . b are given: across two lines, or on slants
        s = posed.size[p, 0] / slant_length(posed, p) if feature_p == SLANT else 0.0
        t = -posed.size[q, 0] / slant_length(posed, q) if feature_q == SLANT else 0.0
        across, size = unit_cross(a, b)
        if size > PARALLEL:
            free, mixed = 0, dot(a, b)
            s, t = (s - mixed * t) / size**2, (t - mixed * s) / size**2
            rest = 1.0 - s * s - t * t - 2.0 * mixed * s * t
            if not rest >= 0.0:
                return False, n, NOWHERE
            rest = np.sqrt(rest) if dot(across, n) > 0.0 else -np.sqrt(rest)
            n = along(along(times(s, a), t, b), rest, across)
    line = a if feature_p == LINE else b
    if free == 1 and feature_p != SLANT and feature_q != SLANT:
        n = along(n, -dot(n, line), line)  # across the line from the start: no step turns along it
        n = times(1.0 / length(n), n)
    for _ in range(MOST_CLIMBS if free > 0 else 0):
        out = 1.0
        if feature_p == SLANT:
            n, u, out = on_slant(posed, p, n)
            line = a
        elif feature_q == SLANT:
            n, u, out = on_slant(posed, q, opposite(n))
            n, u, line = opposite(n), opposite(u), b
        else:
            u = n
        on_p, on_q = base_point(posed, p, feature_p, n), base_point(posed, q, feature_q, opposite(n))
        x = minus(plus(d, on_q), on_p)
        if free == 2:
            if abs(n[0]) <= abs(n[1]) and abs(n[0]) <= abs(n[2]):
                line = 1.0, 0.0, 0.0
            elif abs(n[1]) <= abs(n[2]):
                line = 0.0, 1.0, 0.0
            else:
                line = 0.0, 0.0, 1.0
        t, _ = unit_cross(n, line)
        bent = dot(x, u) / out
        h = bent
        if feature_p != SLANT:
            h += bend(posed, p, n, t, t)
        if feature_q != SLANT:
            h += bend(posed, q, opposite(n), t, t)
        off = dot(x, t)
        if not h > 0.0:
            return False, n, NOWHERE
        step, other, s = off / h, 0.0, NOWHERE
        if free == 2:
            s, _ = unit_cross(n, t)
            mixed = bend(posed, p, n, t, s)
            mixed += bend(posed, q, opposite(n), t, s)
            k = bent + bend(posed, p, n, s, s)
            k += bend(posed, q, opposite(n), s, s)
            away = dot(x, s)
            area = h * k - mixed * mixed
            if not area > 0.0:
                return False, n, NOWHERE
            step, other = (k * off - mixed * away) / area, (h * away - mixed * off) / area
        n = along(along(n, step, t), other, s)
        n = times(1.0 / length(n), n)
        if abs(step) + abs(other) < SHARP:
            break
    if feature_p == SLANT and free > 0:
        n, _, _ = on_slant(posed, p, n)
    elif feature_q == SLANT and free > 0:
        n, _, _ = on_slant(posed, q, opposite(n))
        n = opposite(n)
    if feature_p == SLANT:
        a = down_slant(posed, p, n)
    if feature_q == SLANT:
        b = down_slant(posed, q, opposite(n))
    return True, n, point_of_first(posed, p, q, feature_p, feature_q, a, b, d, n, found)


@kernel
def point_of_first(posed, p, q, feature_p, feature_q, a, b, d, n, found):
    """The nearest point of the core of p: where a body has one point along n that point says it."""
    on_p = base_point(posed, p, feature_p, n)
    if feature_p == POINT:
        return on_p
    x = minus(plus(d, base_point(posed, q, feature_q, opposite(n))), on_p)
    if feature_q == POINT:
        return along(plus(on_p, x), -dot(n, x), n)
    if feature_p != SIDE and feature_q != SIDE:  # x = gap n + s a - t b
        mixed = dot(a, b)
        area = 1.0 - mixed * mixed
        if area > PARALLEL:
            return along(on_p, (dot(x, a) - mixed * dot(x, b)) / area, a)
    return along(
        three(found, col.ON_P), -posed.margin[p], three(found, col.NORMAL)
    )  # of a line or a side: any point does

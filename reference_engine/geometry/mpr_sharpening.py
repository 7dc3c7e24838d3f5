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
from reference_engine.geometry.spatial_shapes import CONE, CYLINDER, ELLIPSOID
from reference_engine.geometry.support import support, support_difference, to_body, to_world

POINT, LINE, SIDE, SLANT = range(4)  # what of a body is nearest: free normals 2, 1, 0, 1
PARALLEL = 1e-6  # sine of an angle: lines nearer than this to one direction have one
LEVEL = 1e-5  # of a normal: a part along a disc below this is none, and the disc itself is touched
SHARP = 1e-13  # a step on the sphere of directions below this is the last: the next is its square
MOST_CLIMBS = 8


@kernel
def is_curved(kind, i):
    return kind[i] == ELLIPSOID or kind[i] == CYLINDER or kind[i] == CONE


@kernel
def nearest_feature(posed, points, weight, column, i, x, y, z):
    """What of body i the simplex touches, its outward normal being (x, y, z): POINT, LINE along, SIDE across, SLANT."""
    kind, body = posed.kind, posed.body
    if kind[i] == ELLIPSOID:
        return POINT, 0.0, 0.0, 0.0
    if kind[i] == CYLINDER or kind[i] == CONE:
        u, v, w = to_body(body, i, x, y, z)
        if u * u + v * v < LEVEL * LEVEL and (kind[i] == CYLINDER or w < 0.0):
            x, y, z = to_world(body, i, 0.0, 0.0, 1.0 if w > 0.0 else -1.0)
            return SIDE, x, y, z
        x, y, z = to_world(body, i, 0.0, 0.0, 1.0)
        least, most = np.inf, -np.inf
        for k in range(4):
            if weight[k] > 0.0:
                height = x * points[k, column] + y * points[k, column + 1] + z * points[k, column + 2]
                least, most = min(least, height), max(most, height)
        if most - least > 0.5 * body[i, 13]:  # of 2 half-lengths, or of a height
            return (LINE if kind[i] == CYLINDER else SLANT), x, y, z
        return POINT, 0.0, 0.0, 0.0
    first, ex, ey, ez = -1, 0.0, 0.0, 0.0
    for k in range(4):
        if weight[k] > 0.0:
            if first < 0:
                first = k
                continue
            u, v, w = points[k, column], points[k, column + 1], points[k, column + 2]
            u, v, w = u - points[first, column], v - points[first, column + 1], w - points[first, column + 2]
            length = np.sqrt(u * u + v * v + w * w)
            if length == 0.0:
                continue
            u, v, w = u / length, v / length, w / length
            if ex == 0.0 and ey == 0.0 and ez == 0.0:
                ex, ey, ez = u, v, w
                continue
            u, v, w = ey * w - ez * v, ez * u - ex * w, ex * v - ey * u
            across = np.sqrt(u * u + v * v + w * w)
            if across > PARALLEL:
                return SIDE, u / across, v / across, w / across
    return (POINT if ex == 0.0 and ey == 0.0 and ez == 0.0 else LINE), ex, ey, ez


@kernel
def bend(posed, i, x, y, z, a, b, c, d, e, f):
    """(a, b, c) . H (d, e, f), H the second derivatives of body i's support function along its normal (x, y, z)."""
    kind, body = posed.kind, posed.body
    if not is_curved(kind, i):
        return 0.0
    x, y, z = to_body(body, i, x, y, z)
    a, b, c = to_body(body, i, a, b, c)
    d, e, f = to_body(body, i, d, e, f)
    if kind[i] == ELLIPSOID:
        u, v, w = body[i, 12] ** 2, body[i, 13] ** 2, body[i, 14] ** 2
        h = np.sqrt(u * x * x + v * y * y + w * z * z)
        first, second = u * x * a + v * y * b + w * z * c, u * x * d + v * y * e + w * z * f
        return (u * a * d + v * b * e + w * c * f - first * second / (h * h)) / h
    across = np.sqrt(x * x + y * y)
    if kind[i] == CONE and body[i, 13] * z >= body[i, 12] * across:
        return 0.0  # its apex
    return body[i, 12] / across**3 * (x * b - y * a) * (x * e - y * d)


@kernel
def steepness(body, i):
    """Part along its axis of every normal of cone i's slant."""
    return body[i, 12] / np.sqrt(body[i, 12] ** 2 + body[i, 13] ** 2)


@kernel
def on_slant(body, i, x, y, z):
    """The normal of cone i's slant nearest to (x, y, z), the way out from its axis, and that way's part of it."""
    u, v, _ = to_body(body, i, x, y, z)
    across, side = np.sqrt(u * u + v * v), np.sqrt(body[i, 12] ** 2 + body[i, 13] ** 2)
    u, v, out = u / across, v / across, body[i, 13] / side
    x, y, z = to_world(body, i, out * u, out * v, body[i, 12] / side)
    u, v, w = to_world(body, i, u, v, 0.0)
    return x, y, z, u, v, w, out


@kernel
def down_slant(body, i, x, y, z):
    """Along the ruling of cone i's slant that has the normal (x, y, z), from its apex."""
    u, v, _ = to_body(body, i, x, y, z)
    across, side = np.sqrt(u * u + v * v), np.sqrt(body[i, 12] ** 2 + body[i, 13] ** 2)
    scale = body[i, 12] / (side * across)
    return to_world(body, i, scale * u, scale * v, -body[i, 13] / side)


@kernel
def cross(a, b, c, x, y, z):
    """Their product and its length, which the product is divided by unless it is 0."""
    u, v, w = b * z - c * y, c * x - a * z, a * y - b * x
    length = np.sqrt(u * u + v * v + w * w)
    scale = 1.0 / length if length > 0.0 else 0.0
    return u * scale, v * scale, w * scale, length


@kernel
def base_point(posed, i, feature, x, y, z):
    """A point of what is nearest of body i, for its outward normal: of a slant the apex."""
    body = posed.body
    if feature == SLANT:
        return to_world(body, i, 0.0, 0.0, 0.75 * body[i, 13])
    return support(posed, i, x, y, z)


@kernel
def aslant(posed, p, q, dx, dy, dz, found, tilt, is_steepest, points, weight):
    """A simplex for `climb`: the support points along three normals that far from the one in `found`.

    Or only those along the one on whose side g rises most. Returns how steeply, and that normal; else the one in found.
    """
    nx, ny, nz = found[1], found[2], found[3]
    lx = 1.0 if abs(nx) < 0.5 else 0.0
    tx, ty, tz, _length = cross(nx, ny, nz, lx, 1.0 - lx, 0.0)
    sx, sy, sz, _length = cross(nx, ny, nz, tx, ty, tz)
    rise, mx, my, mz = -np.inf, nx, ny, nz
    for k in range(4):
        weight[k] = 0.0
    for k in range(3):
        a, b = 1.0 - 1.5 * (k > 0), 0.8 * (k == 1) - 0.8 * (k == 2)
        x, y, z = a * tx + b * sx, a * ty + b * sy, a * tz + b * sz
        u, v, w = nx + tilt * x, ny + tilt * y, nz + tilt * z
        support_difference(posed, p, q, dx, dy, dz, u, v, w, k, points)
        steep = -(x * points[k, 0] + y * points[k, 1] + z * points[k, 2])
        weight[k] = 1.0
        if steep > rise:
            rise = steep
            if is_steepest:
                mx, my, mz = u, v, w
                for other in range(k):
                    weight[other] = 0.0
        elif is_steepest:
            weight[k] = 0.0
    return rise, mx, my, mz


@kernel
def climb(posed, p, q, dx, dy, dz, nx, ny, nz, points, weight, found):
    """The normal, and the point of the core of p, that Newton's method leads to from n; False: to none."""
    body = posed.body
    feature_p, ax, ay, az = nearest_feature(posed, points, weight, 3, p, nx, ny, nz)
    feature_q, bx, by, bz = nearest_feature(posed, points, weight, 6, q, -nx, -ny, -nz)
    free = 2 if feature_p == POINT and feature_q == POINT else 1
    if feature_p == SIDE or feature_q == SIDE:
        free = 0
        if feature_p == SIDE:
            x, y, z = ax, ay, az
        else:
            x, y, z = bx, by, bz
        sign = 1.0 if x * nx + y * ny + z * nz > 0.0 else -1.0
        nx, ny, nz = sign * x, sign * y, sign * z
    elif feature_p != POINT and feature_q != POINT:  # n . a and n . b are given: across two lines, or on slants
        s = steepness(body, p) if feature_p == SLANT else 0.0
        t = -steepness(body, q) if feature_q == SLANT else 0.0
        x, y, z, length = cross(ax, ay, az, bx, by, bz)
        if length > PARALLEL:
            free, mixed = 0, ax * bx + ay * by + az * bz
            s, t = (s - mixed * t) / length**2, (t - mixed * s) / length**2
            rest = 1.0 - s * s - t * t - 2.0 * mixed * s * t
            if not rest >= 0.0:
                return False, nx, ny, nz, 0.0, 0.0, 0.0
            rest = np.sqrt(rest) if x * nx + y * ny + z * nz > 0.0 else -np.sqrt(rest)
            nx, ny, nz = s * ax + t * bx + rest * x, s * ay + t * by + rest * y, s * az + t * bz + rest * z
    lx, ly, lz = (ax, ay, az) if feature_p == LINE else (bx, by, bz)
    if (
        free == 1 and feature_p != SLANT and feature_q != SLANT
    ):  # across the line from the start: no step turns along it
        along = nx * lx + ny * ly + nz * lz
        nx, ny, nz = nx - along * lx, ny - along * ly, nz - along * lz
        scale = 1.0 / np.sqrt(nx * nx + ny * ny + nz * nz)
        nx, ny, nz = nx * scale, ny * scale, nz * scale
    for _ in range(MOST_CLIMBS if free > 0 else 0):
        out, ux, uy, uz = 1.0, 0.0, 0.0, 0.0
        if feature_p == SLANT:
            nx, ny, nz, ux, uy, uz, out = on_slant(body, p, nx, ny, nz)
            lx, ly, lz = ax, ay, az
        elif feature_q == SLANT:
            nx, ny, nz, ux, uy, uz, out = on_slant(body, q, -nx, -ny, -nz)
            nx, ny, nz = -nx, -ny, -nz
            ux, uy, uz = -ux, -uy, -uz
            lx, ly, lz = bx, by, bz
        else:
            ux, uy, uz = nx, ny, nz
        px, py, pz = base_point(posed, p, feature_p, nx, ny, nz)
        qx, qy, qz = base_point(posed, q, feature_q, -nx, -ny, -nz)
        x, y, z = dx + qx - px, dy + qy - py, dz + qz - pz
        if free == 2:
            if abs(nx) <= abs(ny) and abs(nx) <= abs(nz):
                lx, ly, lz = 1.0, 0.0, 0.0
            elif abs(ny) <= abs(nz):
                lx, ly, lz = 0.0, 1.0, 0.0
            else:
                lx, ly, lz = 0.0, 0.0, 1.0
        tx, ty, tz, _length = cross(nx, ny, nz, lx, ly, lz)
        bent = (x * ux + y * uy + z * uz) / out
        h = bent
        if feature_p != SLANT:
            h += bend(posed, p, nx, ny, nz, tx, ty, tz, tx, ty, tz)
        if feature_q != SLANT:
            h += bend(posed, q, -nx, -ny, -nz, tx, ty, tz, tx, ty, tz)
        off = x * tx + y * ty + z * tz
        if not h > 0.0:
            return False, nx, ny, nz, 0.0, 0.0, 0.0
        step, other, sx, sy, sz = off / h, 0.0, 0.0, 0.0, 0.0
        if free == 2:
            sx, sy, sz, _length = cross(nx, ny, nz, tx, ty, tz)
            mixed = bend(posed, p, nx, ny, nz, tx, ty, tz, sx, sy, sz)
            mixed += bend(posed, q, -nx, -ny, -nz, tx, ty, tz, sx, sy, sz)
            k = bent + bend(posed, p, nx, ny, nz, sx, sy, sz, sx, sy, sz)
            k += bend(posed, q, -nx, -ny, -nz, sx, sy, sz, sx, sy, sz)
            away = x * sx + y * sy + z * sz
            area = h * k - mixed * mixed
            if not area > 0.0:
                return False, nx, ny, nz, 0.0, 0.0, 0.0
            step, other = (k * off - mixed * away) / area, (h * away - mixed * off) / area
        nx, ny, nz = nx + step * tx + other * sx, ny + step * ty + other * sy, nz + step * tz + other * sz
        scale = 1.0 / np.sqrt(nx * nx + ny * ny + nz * nz)
        nx, ny, nz = nx * scale, ny * scale, nz * scale
        if abs(step) + abs(other) < SHARP:
            break
    if feature_p == SLANT and free > 0:
        nx, ny, nz, _, _, _, _ = on_slant(body, p, nx, ny, nz)
    elif feature_q == SLANT and free > 0:
        nx, ny, nz, _, _, _, _ = on_slant(body, q, -nx, -ny, -nz)
        nx, ny, nz = -nx, -ny, -nz
    if feature_p == SLANT:
        ax, ay, az = down_slant(body, p, nx, ny, nz)
    if feature_q == SLANT:
        bx, by, bz = down_slant(body, q, -nx, -ny, -nz)
    return point_of_first(posed, p, q, feature_p, feature_q, ax, ay, az, bx, by, bz, dx, dy, dz, nx, ny, nz, found)


@kernel
def point_of_first(posed, p, q, feature_p, feature_q, ax, ay, az, bx, by, bz, dx, dy, dz, nx, ny, nz, found):
    """True, n, and the nearest point of the core of p: where a body has one point along n that point says it."""
    body = posed.body
    px, py, pz = base_point(posed, p, feature_p, nx, ny, nz)
    if feature_p == POINT:
        return True, nx, ny, nz, px, py, pz
    qx, qy, qz = base_point(posed, q, feature_q, -nx, -ny, -nz)
    x, y, z = dx + qx - px, dy + qy - py, dz + qz - pz
    if feature_q == POINT:
        across = nx * x + ny * y + nz * z
        return True, nx, ny, nz, px + x - across * nx, py + y - across * ny, pz + z - across * nz
    if feature_p != SIDE and feature_q != SIDE:  # x = gap n + s a - t b
        mixed = ax * bx + ay * by + az * bz
        area = 1.0 - mixed * mixed
        if area > PARALLEL:
            s = (x * ax + y * ay + z * az - mixed * (x * bx + y * by + z * bz)) / area
            return True, nx, ny, nz, px + s * ax, py + s * ay, pz + s * az
    a = body[p, 15]  # along a line or over a side: any point does
    return True, nx, ny, nz, found[4] - a * found[1], found[5] - a * found[2], found[6] - a * found[3]

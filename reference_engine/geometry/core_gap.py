"""Gaps with closed forms or finite searches: segments, point and box or cylinder, box and box; plane, hollow sphere."""

import numpy as np

from reference_engine.compiler.kernels import kernel
from reference_engine.geometry import layout as col
from reference_engine.geometry.ellipsoid_containers import furthest_on_ellipsoid
from reference_engine.geometry.gjk import APART, FAR, separation
from reference_engine.geometry.spatial_shapes import BOX, CAPSULE, CONE, CYLINDER, ELLIPSOID, MESH
from reference_engine.geometry.support import column, support, to_body, to_world, write, write_from_p, write_from_q
from reference_engine.vectors import along, cross, dot, length, minus, opposite, over, plus, row, three, times

ORIGIN = (0.0, 0.0, 0.0)


@kernel
def perpendicular(a):
    """A unit vector across a; +z for a null vector."""
    size = length(a)
    if size == 0.0:
        return 0.0, 0.0, 1.0
    x, y, z = over(a, size)
    if abs(z) <= 0.7:  # +z less its part along
        scale = 1.0 / np.sqrt(1.0 - z * z)
        return -z * x * scale, -z * y * scale, (1.0 - z * z) * scale
    scale = 1.0 / np.sqrt(1.0 - x * x)
    return (1.0 - x * x) * scale, -x * y * scale, -x * z * scale


@kernel
def segment_segment(posed, p, q, d, p_half, q_half, found):
    """Cores of spheres (half length 0) and capsules.  Ericson 2005, Real-Time Collision Detection, 5.1.9.

    Where the segments meet the normal is across both; of coincident points it is +z.
    """
    u, v = times(2.0 * p_half, column(posed.R, p, 2)), times(2.0 * q_half, column(posed.R, q, 2))
    r = minus(over(minus(v, u), 2.0), d)  # start of p less start of q
    a, e, b = dot(u, u), dot(v, v), dot(u, v)
    c, f = dot(u, r), dot(v, r)
    crossed = cross(u, v)
    across = dot(crossed, crossed)  # a e - b b, without its cancellation
    s, t = 0.5, 0.5
    if a > 0.0:
        s = 0.5 if across <= 1e-28 * a * e else min(1.0, max(0.0, (b * f - c * e) / across))
    if e > 0.0:
        t = min(1.0, max(0.0, (b * s + f) / e))
    if a > 0.0:
        s = min(1.0, max(0.0, (b * t - c) / a))
    if e > 0.0:  # parallel: once more, s may have been cut off
        t = min(1.0, max(0.0, (b * s + f) / e))
    on_p = times(s - 0.5, u)
    n = minus(along(d, t - 0.5, v), on_p)
    distance = length(n)
    if distance > 1e-14 * (p_half + q_half):
        n = over(n, distance)
    elif across > 1e-28 * a * e:
        n = over(crossed, np.sqrt(across))
    else:
        n = perpendicular(plus(u, v)) if a >= e else perpendicular(v)
    write_from_p(found, distance, n, on_p, 0.0)


@kernel
def point_box(posed, q, d, found):
    """The centre of p against box q at d; inside, out through the nearest face."""
    x, y, z = to_body(posed.R, q, opposite(d))
    a, b, c = row(posed.size, q)
    m = min(a, max(-a, x)) - x, min(b, max(-b, y)) - y, min(c, max(-c, z)) - z
    gap = length(m)
    if gap > 0.0:
        m = over(m, gap)
    else:
        gap = max(abs(x) - a, max(abs(y) - b, abs(z) - c))
        if gap == abs(x) - a:
            m = (-1.0 if x >= 0.0 else 1.0), 0.0, 0.0
        elif gap == abs(y) - b:
            m = 0.0, (-1.0 if y >= 0.0 else 1.0), 0.0
        else:
            m = 0.0, 0.0, (-1.0 if z >= 0.0 else 1.0)
    n = to_world(posed.R, q, m)
    write(found, gap, n, ORIGIN, times(gap, n), 0.0)


@kernel
def point_cylinder(posed, q, d, found):
    """The centre of p against cylinder q at d; inside, out through the nearest of side and ends."""
    x, y, z = to_body(posed.R, q, opposite(d))
    r, h = posed.size[q, 0], posed.size[q, 1]
    across = np.sqrt(x * x + y * y)
    ux, uy = (x / across, y / across) if across > 0.0 else (1.0, 0.0)
    beside, above = across - r, abs(z) - h
    side = -max(0.0, beside)
    end = -max(0.0, above) if z >= 0.0 else max(0.0, above)
    gap = np.sqrt(side * side + end * end)
    if gap > 0.0:
        side, end = side / gap, end / gap
    elif beside >= above:
        gap, side, end = beside, -1.0, 0.0
    else:
        gap, side, end = above, 0.0, (-1.0 if z >= 0.0 else 1.0)
    n = to_world(posed.R, q, (side * ux, side * uy, end))
    write(found, gap, n, ORIGIN, times(gap, n), 0.0)


@kernel
def is_on_face(posed, box, k, point):
    """Is a point of the plane of the box's face k (of either sign) on the face?"""
    x, y, z = to_body(posed.R, box, point)
    a, b, c = row(posed.size, box)
    return (k == 0 or abs(x) <= a) and (k == 1 or abs(y) <= b) and (k == 2 or abs(z) <= c)


@kernel
def over_face(posed, box, other, d, found):
    """Body `other` at d over a face of the box: what stands on a floor.  True: `found`, normal from the box.

    Its support point against the face normal gives the slab between them; if the foot of that point is
    on the face, the slab is the distance, exact to round-off whatever the sizes.
    """
    for k in range(3):
        n = column(posed.R, box, k)
        if dot(n, d) < 0.0:
            n = opposite(n)
        point = plus(support(posed, other, opposite(n)), d)
        gap = dot(n, point) - posed.size[box, k]
        if gap > 0.0 and is_on_face(posed, box, k, along(point, -gap, n)):
            write_from_q(found, gap, n, point, 0.0)
            return True
    return False


@kernel
def box_shadow(posed, i, n):
    """Half the width of box i along n."""
    x, y, z = to_body(posed.R, i, n)
    return posed.size[i, 0] * abs(x) + posed.size[i, 1] * abs(y) + posed.size[i, 2] * abs(z)


@kernel
def box_box(posed, p, q, d, cutoff, points, weight, found):
    """Fifteen axes (Gottschalk, Lin & Manocha 1996); apart, the distance.  False if not below the cutoff.

    The shadow is taken along the very axis that is tried: one that is off by round-off, between edges
    nearly parallel, is never wrong, only not the best.
    """
    extent = posed.bounding_radius[p] + posed.bounding_radius[q]
    best, widest, chosen = -np.inf, ORIGIN, 0
    for axis in range(15):
        if axis < 3:
            n = column(posed.R, p, axis)
        elif axis < 6:
            n = column(posed.R, q, axis - 3)
        else:
            n = cross(column(posed.R, p, (axis - 6) // 3), column(posed.R, q, (axis - 6) % 3))
            sine = length(n)
            if sine <= 1e-15:
                continue
            n = over(n, sine)
        offset = dot(n, d)
        if offset < 0.0:
            offset, n = -offset, opposite(n)
        apart = offset - box_shadow(posed, p, n) - box_shadow(posed, q, n)
        if apart >= cutoff:
            return False
        if apart > best + (0.0 if axis < 6 else 1e-15 * extent):
            best, widest, chosen = apart, n, axis
    if chosen < 3:  # a corner of q whose foot is on the face of p
        point = plus(support(posed, q, opposite(widest)), d)
        if is_on_face(posed, p, chosen, along(point, -best, widest)):
            write_from_q(found, best, widest, point, 0.0)
            return True
    elif chosen < 6:  # a corner of p whose foot is on the face of q
        point = support(posed, p, widest)
        if is_on_face(posed, q, chosen - 3, minus(along(point, best, widest), d)):
            write_from_p(found, best, widest, point, 0.0)
            return True
    shift = 0.0 if best > 1e-3 * extent else 1e-2 * extent - best  # parted along the axis, for the nearest points
    limit = cutoff if shift == 0.0 else np.inf
    if separation(posed, p, q, along(d, shift, widest), limit, points, weight, found) == FAR:
        return False
    if shift > 0.0:
        on_p = three(found, col.ON_P)
        if best > 0.0 and found[col.GAP] > (best + shift) * (1.0 + 1e-14):  # near, but corner to corner or to edge
            state = separation(posed, p, q, d, cutoff, points, weight, found)
            if state == APART:
                return found[col.GAP] < cutoff
            if state == FAR:
                return False
        write_from_p(found, best, widest, on_p, 0.0)
    return found[col.GAP] < cutoff


@kernel
def half_space(posed, p, q, d, found):
    """The core of p above the plane of q: its support point against the normal."""
    n = row(posed.plane_normal, q)
    point = support(posed, p, opposite(n))
    gap = dot(n, minus(minus(point, d), row(posed.plane_point, q)))
    write_from_p(found, gap, opposite(n), point, 0.0)


@kernel
def sphere_interior(posed, p, q, d, found):
    """The core of p inside the sphere about d: its furthest point from d.  Concentric: the first found."""
    kind = posed.kind[p]
    cx, cy, cz = to_body(posed.R, p, d)  # centre of the sphere in the axes of p
    a, b, c = row(posed.size, p)
    if kind == BOX:
        x, y, z = (-a if cx > 0.0 else a), (-b if cy > 0.0 else b), (-c if cz > 0.0 else c)
    elif kind == CAPSULE:
        x, y, z = 0.0, 0.0, (-b if cz > 0.0 else b)
    elif kind in (CYLINDER, CONE):
        across = np.sqrt(cx * cx + cy * cy)
        ux, uy = (cx / across, cy / across) if across > 0.0 else (-1.0, 0.0)
        x, y, z = -a * ux, -a * uy, (-b if cz > 0.0 else b)
        if kind == CONE:
            z = -0.25 * b
            if (across + a) ** 2 + (cz + 0.25 * b) ** 2 < across * across + (cz - 0.75 * b) ** 2:
                x, y, z = 0.0, 0.0, 0.75 * b
    elif kind == ELLIPSOID:
        x, y, z = furthest_on_ellipsoid((a, b, c), (cx, cy, cz))
    elif kind == MESH:
        furthest, at = -1.0, posed.vertex_start[p]
        for k in range(posed.vertex_start[p], posed.vertex_start[p + 1]):
            x, y, z = minus(row(posed.vertex, k), (cx, cy, cz))
            distance = x * x + y * y + z * z
            if distance > furthest:
                furthest, at = distance, k
        x, y, z = row(posed.vertex, at)
    else:
        x, y, z = 0.0, 0.0, 0.0
    point = to_world(posed.R, p, (x, y, z))
    out = minus(point, d)
    distance = length(out)
    n = over(out, distance) if distance > 0.0 else (0.0, 0.0, 1.0)
    write_from_p(found, posed.size[q, 0] - distance, n, point, 0.0)

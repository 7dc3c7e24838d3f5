"""Gaps with closed forms or finite searches: segments, point and box or cylinder, box and box; plane, hollow sphere."""

import numpy as np

from reference_engine.compiler.kernels import kernel
from reference_engine.geometry.ellipsoid_containers import furthest_on_ellipsoid
from reference_engine.geometry.gjk import APART, FAR, separation
from reference_engine.geometry.spatial_shapes import BOX, CAPSULE, CONE, CYLINDER, ELLIPSOID, MESH
from reference_engine.geometry.support import support, to_body, to_world, write


@kernel
def perpendicular(x, y, z):
    """A unit vector across (x, y, z); +z for a null vector."""
    length = np.sqrt(x * x + y * y + z * z)
    if length == 0.0:
        return 0.0, 0.0, 1.0
    x, y, z = x / length, y / length, z / length
    if abs(z) <= 0.7:  # +z less its part along
        scale = 1.0 / np.sqrt(1.0 - z * z)
        return -z * x * scale, -z * y * scale, (1.0 - z * z) * scale
    scale = 1.0 / np.sqrt(1.0 - x * x)
    return (1.0 - x * x) * scale, -x * y * scale, -x * z * scale


@kernel
def segment_segment(body, p, q, dx, dy, dz, p_half, q_half, found):
    """Cores of spheres (half length 0) and capsules.  Ericson 2005, Real-Time Collision Detection, 5.1.9.

    Where the segments meet the normal is across both; of coincident points it is +z.
    """
    ux, uy, uz = 2.0 * p_half * body[p, 5], 2.0 * p_half * body[p, 8], 2.0 * p_half * body[p, 11]
    vx, vy, vz = 2.0 * q_half * body[q, 5], 2.0 * q_half * body[q, 8], 2.0 * q_half * body[q, 11]
    rx, ry, rz = (vx - ux) / 2.0 - dx, (vy - uy) / 2.0 - dy, (vz - uz) / 2.0 - dz  # start of p less start of q
    a, e, b = ux * ux + uy * uy + uz * uz, vx * vx + vy * vy + vz * vz, ux * vx + uy * vy + uz * vz
    c, f = ux * rx + uy * ry + uz * rz, vx * rx + vy * ry + vz * rz
    crossx, crossy, crossz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    across = crossx * crossx + crossy * crossy + crossz * crossz  # a e - b b, without its cancellation
    s, t = 0.5, 0.5
    if a > 0.0:
        s = 0.5 if across <= 1e-28 * a * e else min(1.0, max(0.0, (b * f - c * e) / across))
    if e > 0.0:
        t = min(1.0, max(0.0, (b * s + f) / e))
    if a > 0.0:
        s = min(1.0, max(0.0, (b * t - c) / a))
    if e > 0.0:  # parallel: once more, s may have been cut off
        t = min(1.0, max(0.0, (b * s + f) / e))
    px, py, pz = (s - 0.5) * ux, (s - 0.5) * uy, (s - 0.5) * uz
    qx, qy, qz = dx + (t - 0.5) * vx, dy + (t - 0.5) * vy, dz + (t - 0.5) * vz
    nx, ny, nz = qx - px, qy - py, qz - pz
    distance = np.sqrt(nx * nx + ny * ny + nz * nz)
    if distance > 1e-14 * (p_half + q_half):
        nx, ny, nz = nx / distance, ny / distance, nz / distance
    elif across > 1e-28 * a * e:
        across = np.sqrt(across)
        nx, ny, nz = crossx / across, crossy / across, crossz / across
    else:
        nx, ny, nz = perpendicular(ux + vx, uy + vy, uz + vz) if a >= e else perpendicular(vx, vy, vz)
    write(found, distance, nx, ny, nz, px, py, pz, px + distance * nx, py + distance * ny, pz + distance * nz, 0.0)


@kernel
def point_box(body, q, dx, dy, dz, found):
    """The centre of p against box q at d; inside, out through the nearest face."""
    x, y, z = to_body(body, q, -dx, -dy, -dz)
    a, b, c = body[q, 12], body[q, 13], body[q, 14]
    fx, fy, fz = min(a, max(-a, x)), min(b, max(-b, y)), min(c, max(-c, z))
    mx, my, mz = fx - x, fy - y, fz - z
    gap = np.sqrt(mx * mx + my * my + mz * mz)
    if gap > 0.0:
        mx, my, mz = mx / gap, my / gap, mz / gap
    else:
        gap = max(abs(x) - a, max(abs(y) - b, abs(z) - c))
        if gap == abs(x) - a:
            mx, my, mz, fx = (-1.0 if x >= 0.0 else 1.0), 0.0, 0.0, (a if x >= 0.0 else -a)
        elif gap == abs(y) - b:
            mx, my, mz, fy = 0.0, (-1.0 if y >= 0.0 else 1.0), 0.0, (b if y >= 0.0 else -b)
        else:
            mx, my, mz, fz = 0.0, 0.0, (-1.0 if z >= 0.0 else 1.0), (c if z >= 0.0 else -c)
    nx, ny, nz = to_world(body, q, mx, my, mz)
    write(found, gap, nx, ny, nz, 0.0, 0.0, 0.0, gap * nx, gap * ny, gap * nz, 0.0)


@kernel
def point_cylinder(body, q, dx, dy, dz, found):
    """The centre of p against cylinder q at d; inside, out through the nearest of side and ends."""
    x, y, z = to_body(body, q, -dx, -dy, -dz)
    r, h = body[q, 12], body[q, 13]
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
    nx, ny, nz = to_world(body, q, side * ux, side * uy, end)
    write(found, gap, nx, ny, nz, 0.0, 0.0, 0.0, gap * nx, gap * ny, gap * nz, 0.0)


@kernel
def is_on_face(body, box, k, x, y, z):
    """Is a point of the plane of the box's face k (of either sign) on the face?"""
    fx, fy, fz = to_body(body, box, x, y, z)
    a, b, c = body[box, 12], body[box, 13], body[box, 14]
    return (k == 0 or abs(fx) <= a) and (k == 1 or abs(fy) <= b) and (k == 2 or abs(fz) <= c)


@kernel
def over_face(posed, box, other, dx, dy, dz, found):
    """Body `other` at d over a face of the box: what stands on a floor.  True: `found`, normal from the box.

    Its support point against the face normal gives the slab between them; if the foot of that point is
    on the face, the slab is the distance, exact to round-off whatever the sizes.
    """
    body = posed.body
    for k in range(3):
        nx, ny, nz = body[box, 3 + k], body[box, 6 + k], body[box, 9 + k]
        if nx * dx + ny * dy + nz * dz < 0.0:
            nx, ny, nz = -nx, -ny, -nz
        x, y, z = support(posed, other, -nx, -ny, -nz)
        x, y, z = x + dx, y + dy, z + dz
        gap = nx * x + ny * y + nz * z - body[box, 12 + k]
        if gap > 0.0 and is_on_face(body, box, k, x - gap * nx, y - gap * ny, z - gap * nz):
            write(found, gap, nx, ny, nz, x - gap * nx, y - gap * ny, z - gap * nz, x, y, z, 0.0)
            return True
    return False


@kernel
def box_shadow(body, i, nx, ny, nz):
    """Half the width of box i along n."""
    x, y, z = to_body(body, i, nx, ny, nz)
    return body[i, 12] * abs(x) + body[i, 13] * abs(y) + body[i, 14] * abs(z)


@kernel
def box_box(posed, p, q, dx, dy, dz, cutoff, points, weight, found):
    """Fifteen axes (Gottschalk, Lin & Manocha 1996); apart, the distance.  False if not below the cutoff.

    The shadow is taken along the very axis that is tried: one that is off by round-off, between edges
    nearly parallel, is never wrong, only not the best.
    """
    body = posed.body
    extent = body[p, 16] + body[q, 16]
    best, bx, by, bz, chosen = -np.inf, 0.0, 0.0, 0.0, 0
    for axis in range(15):
        if axis < 3:
            nx, ny, nz = body[p, 3 + axis], body[p, 6 + axis], body[p, 9 + axis]
        elif axis < 6:
            nx, ny, nz = body[q, axis], body[q, 3 + axis], body[q, 6 + axis]
        else:
            i, j = (axis - 6) // 3, (axis - 6) % 3
            ux, uy, uz = body[p, 3 + i], body[p, 6 + i], body[p, 9 + i]
            vx, vy, vz = body[q, 3 + j], body[q, 6 + j], body[q, 9 + j]
            nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
            sine = np.sqrt(nx * nx + ny * ny + nz * nz)
            if sine <= 1e-15:
                continue
            nx, ny, nz = nx / sine, ny / sine, nz / sine
        offset = nx * dx + ny * dy + nz * dz
        if offset < 0.0:
            offset, nx, ny, nz = -offset, -nx, -ny, -nz
        apart = offset - box_shadow(body, p, nx, ny, nz) - box_shadow(body, q, nx, ny, nz)
        if apart >= cutoff:
            return False
        if apart > best + (0.0 if axis < 6 else 1e-15 * extent):
            best, bx, by, bz, chosen = apart, nx, ny, nz, axis
    if chosen < 3:  # a corner of q whose foot is on the face of p
        x, y, z = support(posed, q, -bx, -by, -bz)
        x, y, z = x + dx, y + dy, z + dz
        px, py, pz = x - best * bx, y - best * by, z - best * bz
        if is_on_face(body, p, chosen, px, py, pz):
            write(found, best, bx, by, bz, px, py, pz, x, y, z, 0.0)
            return True
    elif chosen < 6:  # a corner of p whose foot is on the face of q
        x, y, z = support(posed, p, bx, by, bz)
        qx, qy, qz = x + best * bx, y + best * by, z + best * bz
        if is_on_face(body, q, chosen - 3, qx - dx, qy - dy, qz - dz):
            write(found, best, bx, by, bz, x, y, z, qx, qy, qz, 0.0)
            return True
    shift = 0.0 if best > 1e-3 * extent else 1e-2 * extent - best  # parted along the axis, for the nearest points
    state = separation(
        posed, p, q, dx + shift * bx, dy + shift * by, dz + shift * bz,
        cutoff if shift == 0.0 else np.inf, points, weight, found,
    )  # fmt: skip
    if state == FAR:
        return False
    if shift > 0.0:
        px, py, pz = found[4], found[5], found[6]
        if best > 0.0 and found[0] > (best + shift) * (1.0 + 1e-12):  # near, but corner to corner or to edge
            state = separation(posed, p, q, dx, dy, dz, cutoff, points, weight, found)
            if state == APART:
                return found[0] < cutoff
            if state == FAR:
                return False
        write(found, best, bx, by, bz, px, py, pz, px + best * bx, py + best * by, pz + best * bz, 0.0)
    return found[0] < cutoff


@kernel
def half_space(posed, p, q, dx, dy, dz, found):
    """The core of p above the plane of q: its support point against the normal."""
    body = posed.body
    nx, ny, nz = body[q, 20], body[q, 21], body[q, 22]
    x, y, z = support(posed, p, -nx, -ny, -nz)
    gap = nx * (x - dx - body[q, 17]) + ny * (y - dy - body[q, 18]) + nz * (z - dz - body[q, 19])
    write(found, gap, -nx, -ny, -nz, x, y, z, x - gap * nx, y - gap * ny, z - gap * nz, 0.0)


@kernel
def sphere_interior(posed, p, q, dx, dy, dz, found):
    """The core of p inside the sphere about d: its furthest point from d.  Concentric: the first found."""
    kind, vertex_start, vertex, body = posed.kind, posed.vertex_start, posed.vertex, posed.body
    cx, cy, cz = to_body(body, p, dx, dy, dz)  # centre of the sphere in the axes of p
    a, b, c = body[p, 12], body[p, 13], body[p, 14]
    if kind[p] == BOX:
        x, y, z = (-a if cx > 0.0 else a), (-b if cy > 0.0 else b), (-c if cz > 0.0 else c)
    elif kind[p] == CAPSULE:
        x, y, z = 0.0, 0.0, (-b if cz > 0.0 else b)
    elif kind[p] == CYLINDER:
        across = np.sqrt(cx * cx + cy * cy)
        ux, uy = (cx / across, cy / across) if across > 0.0 else (-1.0, 0.0)
        x, y, z = -a * ux, -a * uy, (-b if cz > 0.0 else b)
    elif kind[p] == CONE:
        across = np.sqrt(cx * cx + cy * cy)
        ux, uy = (cx / across, cy / across) if across > 0.0 else (-1.0, 0.0)
        x, y, z = -a * ux, -a * uy, -0.25 * b
        if (across + a) ** 2 + (cz + 0.25 * b) ** 2 < across * across + (cz - 0.75 * b) ** 2:
            x, y, z = 0.0, 0.0, 0.75 * b
    elif kind[p] == ELLIPSOID:
        x, y, z = furthest_on_ellipsoid((a, b, c), cx, cy, cz)
    elif kind[p] == MESH:
        furthest, at = -1.0, vertex_start[p]
        for k in range(vertex_start[p], vertex_start[p + 1]):
            distance = (vertex[k, 0] - cx) ** 2 + (vertex[k, 1] - cy) ** 2 + (vertex[k, 2] - cz) ** 2
            if distance > furthest:
                furthest, at = distance, k
        x, y, z = vertex[at, 0], vertex[at, 1], vertex[at, 2]
    else:
        x, y, z = 0.0, 0.0, 0.0
    x, y, z = to_world(body, p, x, y, z)
    rx, ry, rz = x - dx, y - dy, z - dz
    distance, radius = np.sqrt(rx * rx + ry * ry + rz * rz), body[q, 12]
    nx, ny, nz = (rx / distance, ry / distance, rz / distance) if distance > 0.0 else (0.0, 0.0, 1.0)
    gap = radius - distance
    write(found, gap, nx, ny, nz, x, y, z, x + gap * nx, y + gap * ny, z + gap * nz, 0.0)

"""Minkowski portal refinement: the gap of any two convex bodies, by the ray between their centres.

Snethen 2008 (Game Programming Gems 7, "XenoCollide"); Neumayr & Otter 2017 (12th International Modelica Conference).
With both bodies moved to one centre, P - Q is one convex body around 0. The ray from 0 along d = centre Q - centre P
leaves it through a portal, a triangle of support points; the support point across the portal makes a smaller one,
until none lies beyond it. Its normal n parts P and Q by g(n) = n . d - h(n): below the gap, with its sign, and equal to
it where they touch. From there it goes uphill to the gap itself: Newton's method for two smooth bodies, else the
nearest points of the bodies moved apart along n, and then Newton's method among the normals of what touches.

What often goes wrong is decided here by what it means: a ray through a support point needs no portal, that point's own
plane is exact; which part of a portal has the ray is asked of the ray alone, with no tolerance; a portal too thin to
have a normal ends the search with the best plane so far; the end is by how far P - Q reaches beyond, in metres.
"""

from dataclasses import dataclass

import numpy as np

from reference_engine.array_types import Array
from reference_engine.compiler.kernels import kernel
from reference_engine.compiler.structure import Structure
from reference_engine.geometry.ellipsoid_gap import conclude
from reference_engine.geometry.ellipsoid_support import ascend
from reference_engine.geometry.gjk import APART, separation
from reference_engine.geometry.mpr_sharpening import aslant, climb
from reference_engine.geometry.spatial_shapes import BOX, CONE, CYLINDER, ELLIPSOID, SPHERE
from reference_engine.geometry.support import support, to_body, to_world, write

FOUND, COINCIDENT = range(2)
ONE_CENTRE = 1e-12  # of the two bounding radii: centres nearer than this are one
ON_RAY = 1e-15  # of the two bounding radii: a support point this near to the ray is on it
NEAR_ENOUGH = 1e-5  # of the two bounding radii beyond the portal: Newton's method goes on from there
ACROSS = 1.0 - 1e-6  # cosine: a normal this near to that of a flat side may be it
ACROSS_SLACK = 1e-9  # of the two bounding radii
ROUND = 1e-15  # of the two bounding radii: gaps are not told apart below
UNSURE = 1e-11  # of the two bounding radii: by how much nearest points may miss the widest slab
THIN = 1e-15  # area over squared sides: a portal without a normal
FLAT = 1e-14  # of the two bounding radii, likewise where nothing else follows
PARTED = 1e-3  # of the two bounding radii: how far apart bodies are whose nearest points are asked for
UNPARTED = (
    1e-14  # of the two bounding radii: cores nearer than this are not asked for their nearest points as they stand
)
NARROW, WIDE, WIDEST = 1e-9, 1e-6, 1e-1  # of a normal: how far aslant it is asked for
SLIGHT = 1e-3  # of a corner's weight in a simplex: it may not belong there
LEVEL = 1e-13  # of the two bounding radii: slope of g around a maximum, at most
SAME = 4e-15  # of the two bounding radii: by how much less g is no less
MOST_TURNS, MOST_ROUNDS, MOST_PARTINGS = 1000, 400, 4


@dataclass(frozen=True, eq=False)
class MprWork(Structure):
    """Scratch."""

    portal: Array  # (4, 6) corners in rows 0 to 2, the newest point in row 3
    points: Array  # (4, 9)
    weight: Array  # (4,)
    pair: Array  # (2, 19)


def mpr_work() -> MprWork:
    return MprWork(np.empty((4, 6)), np.empty((4, 9)), np.empty(4), np.zeros((2, 19)))


@kernel
def corner(posed, p, q, nx, ny, nz, row, portal):
    """portal[row]: the support point of P - Q along the unit vector n, both about 0, and that of P. Returns h(n)."""
    body = posed.body
    ax, ay, az = support(posed, p, nx, ny, nz)
    bx, by, bz = support(posed, q, -nx, -ny, -nz)
    a, b = body[p, 15], body[q, 15]
    ax, ay, az = ax + a * nx, ay + a * ny, az + a * nz
    wx, wy, wz = ax - bx + b * nx, ay - by + b * ny, az - bz + b * nz
    portal[row, 0], portal[row, 1], portal[row, 2] = wx, wy, wz
    portal[row, 3], portal[row, 4], portal[row, 5] = ax, ay, az
    return nx * wx + ny * wy + nz * wz


@kernel
def turn(portal, i, j, x, y, z):
    """(x, y, z) . (row i x row j): above 0 where rows i, j turn left as seen against the ray."""
    ax, ay, az, bx, by, bz = portal[i, 0], portal[i, 1], portal[i, 2], portal[j, 0], portal[j, 1], portal[j, 2]
    return x * (ay * bz - az * by) + y * (az * bx - ax * bz) + z * (ax * by - ay * bx)


@kernel
def across_pair(portal, i, j):
    """row i x row j, of unit length."""
    ax, ay, az, bx, by, bz = portal[i, 0], portal[i, 1], portal[i, 2], portal[j, 0], portal[j, 1], portal[j, 2]
    x, y, z = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    scale = 1.0 / np.sqrt(x * x + y * y + z * z)
    return x * scale, y * scale, z * scale


@kernel
def replace(portal, i, j):
    for c in range(6):
        portal[i, c] = portal[j, c]


@kernel
def first_portal(posed, p, q, rx, ry, rz, extent, portal):
    """Rows 0 to 2: three support points, turning left, with the ray r between them. False: row 0 is on the ray."""
    h = corner(posed, p, q, rx, ry, rz, 1, portal)
    ox, oy, oz = portal[1, 0] - h * rx, portal[1, 1] - h * ry, portal[1, 2] - h * rz  # off the ray
    off = np.sqrt(ox * ox + oy * oy + oz * oz)
    if off <= ON_RAY * extent:
        replace(portal, 0, 1)
        return False
    ox, oy, oz = ox / off, oy / off, oz / off
    corner(posed, p, q, oy * rz - oz * ry, oz * rx - ox * rz, ox * ry - oy * rx, 0, portal)
    for _ in range(MOST_TURNS):
        nx, ny, nz = across_pair(portal, 0, 1)
        corner(posed, p, q, nx, ny, nz, 2, portal)
        if turn(portal, 1, 2, rx, ry, rz) < 0.0:
            replace(portal, 0, 2)
        elif turn(portal, 2, 0, rx, ry, rz) < 0.0:
            replace(portal, 1, 2)
        else:
            break
    return True


@kernel
def refine(posed, p, q, dx, dy, dz, enough, portal, found):
    """found: the best g(n) and its n, where the ray leaves P; column 10: how far P - Q reaches beyond the portal."""
    body = posed.body
    distance = np.sqrt(dx * dx + dy * dy + dz * dz)
    rx, ry, rz = dx / distance, dy / distance, dz / distance
    extent = body[p, 16] + body[q, 16]
    if not first_portal(posed, p, q, rx, ry, rz, extent, portal):
        gap = distance - (rx * portal[0, 0] + ry * portal[0, 1] + rz * portal[0, 2])
        write(found, gap, rx, ry, rz, portal[0, 3], portal[0, 4], portal[0, 5], 0.0, 0.0, 0.0, 0.0)
        return
    found[0] = -np.inf
    for _ in range(MOST_ROUNDS):
        ux, uy, uz = portal[1, 0] - portal[0, 0], portal[1, 1] - portal[0, 1], portal[1, 2] - portal[0, 2]
        vx, vy, vz = portal[2, 0] - portal[0, 0], portal[2, 1] - portal[0, 1], portal[2, 2] - portal[0, 2]
        nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        area = np.sqrt(nx * nx + ny * ny + nz * nz)
        if not area > THIN * (ux * ux + uy * uy + uz * uz + vx * vx + vy * vy + vz * vz):
            break
        nx, ny, nz = nx / area, ny / area, nz / area
        h = corner(posed, p, q, nx, ny, nz, 3, portal)
        gap = nx * dx + ny * dy + nz * dz - h
        beyond = h - (nx * portal[0, 0] + ny * portal[0, 1] + nz * portal[0, 2])
        if gap > found[0]:
            a, b, c = turn(portal, 1, 2, rx, ry, rz), turn(portal, 2, 0, rx, ry, rz), turn(portal, 0, 1, rx, ry, rz)
            a, b, c = a / (a + b + c), b / (a + b + c), c / (a + b + c)
            write(
                found, gap, nx, ny, nz,
                a * portal[0, 3] + b * portal[1, 3] + c * portal[2, 3],
                a * portal[0, 4] + b * portal[1, 4] + c * portal[2, 4],
                a * portal[0, 5] + b * portal[1, 5] + c * portal[2, 5],
                0.0, 0.0, 0.0, beyond,
            )  # fmt: skip
        if beyond <= enough * extent:
            break
        a, b, c = turn(portal, 0, 3, rx, ry, rz), turn(portal, 1, 3, rx, ry, rz), turn(portal, 2, 3, rx, ry, rz)
        replace(portal, 2 if b >= 0.0 >= a else (0 if c >= 0.0 >= b else 1), 3)


@kernel
def as_ellipsoid(posed, i, row, pair):
    """A sphere or ellipsoid about 0 as a row of ellipsoid_support's table."""
    kind, body = posed.kind, posed.body
    for k in range(3):
        for c in range(3):
            if kind[i] == ELLIPSOID:
                pair[row, 3 + 3 * k + c] = body[i, 3 + 3 * k + c] * body[i, 12 + c]
            else:
                pair[row, 3 + 3 * k + c] = body[i, 15] if k == c else 0.0
    for k in range(3):
        a, b = 3 + 3 * k, 3 + 3 * ((k + 1) % 3)
        pair[row, 12 + k] = pair[row, a] ** 2 + pair[row, a + 1] ** 2 + pair[row, a + 2] ** 2
        column = 15 if k == 0 else (17 if k == 1 else 16)
        pair[row, column] = 0.0
        for c in range(3):
            pair[row, column] += pair[row, a + c] * pair[row, b + c]
    pair[row, 18] = body[i, 16]


@kernel
def uphill(posed, p, q, dx, dy, dz, work, found):
    """Two smooth bodies: from the portal's normal to the nearest maximum of g, which apart is the distance.

    The way there ends where a step would be of 1e-13; one more leaves round-off, and no trace of where it began.
    """
    body = posed.body
    points, weight, pair = work.points, work.weight, work.pair
    as_ellipsoid(posed, p, 0, pair)
    as_ellipsoid(posed, q, 1, pair)
    size = np.sqrt(dx * dx + dy * dy + dz * dz) + body[p, 16] + body[q, 16]
    x, y, z, _ = ascend(pair, 0, 1, dx, dy, dz, found[1], found[2], found[3], size, np.inf)
    conclude(pair, 0, 1, dx, dy, dz, x, y, z, size, 0.0, found)
    weight[0], weight[1], weight[2], weight[3] = 1.0, 0.0, 0.0, 0.0  # a point of each
    is_found, x, y, z, _px, _py, _pz = climb(posed, p, q, dx, dy, dz, x, y, z, points, weight, found)
    if is_found:
        conclude(pair, 0, 1, dx, dy, dz, x, y, z, size, 0.0, found)


@kernel
def facing_side(posed, i, x, y, z):
    """Of body i's flat sides the one that faces along n most nearly: its outward normal; or 0.

    Normals of meshes are not asked: their portals are in their faces, exactly.
    """
    kind, body = posed.kind, posed.body
    u, v, w = to_body(body, i, x, y, z)
    if kind[i] == BOX:
        if abs(u) >= abs(v) and abs(u) >= abs(w):
            u, v, w = (1.0 if u > 0.0 else -1.0), 0.0, 0.0
        elif abs(v) >= abs(w):
            u, v, w = 0.0, (1.0 if v > 0.0 else -1.0), 0.0
        else:
            u, v, w = 0.0, 0.0, (1.0 if w > 0.0 else -1.0)
    elif kind[i] == CYLINDER:
        u, v, w = 0.0, 0.0, (1.0 if w > 0.0 else -1.0)
    elif kind[i] == CONE:
        u, v, w = 0.0, 0.0, -1.0
    else:
        return 0.0, 0.0, 0.0
    return to_world(body, i, u, v, w)


@kernel
def is_over_side(posed, i, x, y, z, nx, ny, nz):
    """Is the point (x, y, z) from the centre of body i over its flat side with the normal n?"""
    kind, body = posed.kind, posed.body
    u, v, w = to_body(body, i, x, y, z)
    if kind[i] == BOX:
        a, b, c = to_body(body, i, nx, ny, nz)
        on_a, on_b, on_c = abs(u) <= body[i, 12], abs(v) <= body[i, 13], abs(w) <= body[i, 14]
        return (on_a or abs(a) > 0.5) and (on_b or abs(b) > 0.5) and (on_c or abs(c) > 0.5)
    return u * u + v * v <= body[i, 12] ** 2


@kernel
def against_side(posed, p, q, dx, dy, dz, portal, found):
    """The flat side that n is nearly across, if the other body's point is over it: then its normal is n, exactly."""
    body = posed.body
    extent = body[p, 16] + body[q, 16]
    for turned in range(2):
        i = q if turned == 1 else p
        sign = -1.0 if turned == 1 else 1.0
        x, y, z = facing_side(posed, i, sign * found[1], sign * found[2], sign * found[3])
        x, y, z = sign * x, sign * y, sign * z
        if x * found[1] + y * found[2] + z * found[3] < ACROSS:
            continue
        gap = x * dx + y * dy + z * dz - corner(posed, p, q, x, y, z, 3, portal)
        if gap < found[0] - ACROSS_SLACK * extent:
            continue
        px, py, pz = portal[3, 3], portal[3, 4], portal[3, 5]
        qx, qy, qz = px - portal[3, 0], py - portal[3, 1], pz - portal[3, 2]  # from the centre of q
        if turned == 1:
            over = is_over_side(posed, q, px - dx, py - dy, pz - dz, x, y, z)
        else:
            over = is_over_side(posed, p, qx + dx, qy + dy, qz + dz, x, y, z)
        if over:
            if turned == 0:
                px, py, pz = qx + dx - gap * x, qy + dy - gap * y, qz + dz - gap * z
            write(found, gap, x, y, z, px, py, pz, px + gap * x, py + gap * y, pz + gap * z, 0.0)
            return True
    return False


@kernel
def parted(posed, p, q, dx, dy, dz, work, found):
    """Bodies with edges, corners or flat sides: the nearest points of the two moved apart along n, while g grows.

    Where cores are apart the last word is theirs as they stand: between corners another n is best for them.
    """
    body = posed.body
    portal, points, weight = work.portal, work.points, work.weight
    extent, margin, a = body[p, 16] + body[q, 16], body[p, 15] + body[q, 15], body[p, 15]
    gap, nx, ny, nz, open_ = found[0], found[1], found[2], found[3], found[10]
    px, py, pz = found[4], found[5], found[6]
    is_best = False
    for turn in range(MOST_PARTINGS + 1):
        is_last = is_best or turn == MOST_PARTINGS
        if is_last and gap + margin <= UNPARTED * extent:
            break
        shift = 0.0 if is_last else max(0.0, PARTED * extent - gap - margin)
        sx, sy, sz = dx + shift * nx, dy + shift * ny, dz + shift * nz
        if separation(posed, p, q, sx, sy, sz, np.inf, points, weight, found) != APART:
            break
        x, y, z = found[1], found[2], found[3]
        wider = x * dx + y * dy + z * dz - corner(posed, p, q, x, y, z, 3, portal)
        if wider < gap - (0.0 if is_last else UNSURE * extent):
            if open_ > found[10] and x * nx + y * ny + z * nz > ACROSS:  # a search that ended early: its point is none
                px, py, pz, open_ = found[4] + a * x, found[5] + a * y, found[6] + a * z, found[10]
            break
        is_best = wider <= gap + ROUND * extent
        gap, nx, ny, nz, open_ = wider, x, y, z, found[10]  # all of one search: a point belongs to its normal
        px, py, pz = found[4] + a * x, found[5] + a * y, found[6] + a * z
        if shift == 0.0:
            break
    write(found, gap, nx, ny, nz, px, py, pz, px + gap * nx, py + gap * ny, pz + gap * nz, open_)


@kernel
def without_least(weight):
    """Takes the row with the least weight out of a simplex. False if all of its weights matter."""
    least, count = 0, 0
    for k in range(4):
        if weight[k] > 0.0:
            count += 1
            if weight[k] < weight[least] or weight[least] == 0.0:
                least = k
    is_slight = count > 1 and weight[least] < SLIGHT
    if is_slight:
        weight[least] = 0.0
    return is_slight


@kernel
def sharpen(posed, p, q, dx, dy, dz, work, found):
    """`found` with the normal to round-off, if g there is not less.

    The simplex of a search that ended early may lack a corner of the side in contact, or have one too many: one of
    slight weight is left out, once. Where nothing comes of that, or g still rises from there, it goes on from where g
    rises most, and asks in turn what is nearest for normals a little aslant: far, and then near again, for the point.
    """
    body = posed.body
    portal, points, weight = work.portal, work.points, work.weight
    extent, a, is_sharp = body[p, 16] + body[q, 16], body[p, 15], False
    nx, ny, nz = found[1], found[2], found[3]
    x = y = z = px = py = pz = 0.0
    for turn in range(8):
        is_new = turn != 1 or without_least(weight)
        if turn > 1:
            tilt = WIDE if turn == 3 else (WIDEST if turn == 5 else NARROW)
            _rise, nx, ny, nz = aslant(posed, p, q, dx, dy, dz, found, tilt, turn == 2 or turn == 7, points, weight)
        is_found = False
        if is_new:
            is_found, x, y, z, px, py, pz = climb(posed, p, q, dx, dy, dz, nx, ny, nz, points, weight, found)
        if is_found:
            gap = x * dx + y * dy + z * dz - corner(posed, p, q, x, y, z, 3, portal)
            is_again = not is_sharp or turn == 4 or turn == 6
            if gap > found[0] or (is_again and gap >= found[0] - SAME * extent):
                px, py, pz = px + a * x, py + a * y, pz + a * z
                write(found, gap, x, y, z, px, py, pz, px + gap * x, py + gap * y, pz + gap * z, 0.0)
                is_sharp = True
        if is_sharp and turn != 0 and turn != 3 and turn != 5:
            rise, _x, _y, _z = aslant(posed, p, q, dx, dy, dz, found, NARROW, True, points, weight)
            if rise <= LEVEL * extent:
                return


@kernel
def mpr_pair(posed, p, q, work, found):
    """`found` (support.write) of two bounded bodies, points from the centre of p; or COINCIDENT, and nothing."""
    kind, body = posed.kind, posed.body
    dx, dy, dz = body[q, 0] - body[p, 0], body[q, 1] - body[p, 1], body[q, 2] - body[p, 2]
    distance = np.sqrt(dx * dx + dy * dy + dz * dz)
    if not distance > ONE_CENTRE * (body[p, 16] + body[q, 16]):
        return COINCIDENT
    if kind[p] == SPHERE and kind[q] == SPHERE:
        x, y, z, a, b = dx / distance, dy / distance, dz / distance, body[p, 15], body[q, 15]
        write(found, distance - a - b, x, y, z, a * x, a * y, a * z, dx - b * x, dy - b * y, dz - b * z, 0.0)
        return FOUND
    smooth = (kind[p] == SPHERE or kind[p] == ELLIPSOID) and (kind[q] == SPHERE or kind[q] == ELLIPSOID)
    enough = NEAR_ENOUGH if smooth else FLAT
    refine(posed, p, q, dx, dy, dz, enough, work.portal, found)
    if smooth:
        uphill(posed, p, q, dx, dy, dz, work, found)
    elif not against_side(posed, p, q, dx, dy, dz, work.portal, found):
        parted(posed, p, q, dx, dy, dz, work, found)
        sharpen(posed, p, q, dx, dy, dz, work, found)
    return FOUND

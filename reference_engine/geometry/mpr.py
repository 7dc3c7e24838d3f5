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

import numpy as np

from reference_engine.array_types import Array
from reference_engine.compiler.kernels import kernel
from reference_engine.compiler.structure import Structure
from reference_engine.geometry import layout as col
from reference_engine.geometry.ellipsoid_gap import conclude
from reference_engine.geometry.ellipsoid_support import ascend, set_square
from reference_engine.geometry.gjk import APART, difference, separation
from reference_engine.geometry.mpr_sharpening import aslant, climb
from reference_engine.geometry.spatial_shapes import BOX, CONE, CYLINDER, ELLIPSOID, SPHERE
from reference_engine.geometry.support import support, to_body, to_world, write, write_from_p
from reference_engine.vectors import along, cross, dot, length, minus, opposite, over, plus, row, set_row, three, times

FOUND, COINCIDENT = range(2)
ONE_CENTRE = 1e-12  # of the two bounding radii: centres nearer than this are one
ON_RAY = 1e-15  # of the two bounding radii: a support point this near to the ray is on it
NEAR_ENOUGH = 1e-5  # of the two bounding radii beyond the portal: Newton's method goes on from there
ACROSS = 1.0 - 1e-6  # cosine: a normal this near to that of a flat side may be it
ACROSS_SLACK = 1e-9  # of the two bounding radii
ROUND = 1e-15  # of the two bounding radii: gaps are not distinguished below
UNSURE = 1e-11  # of the two bounding radii: by how much nearest points may miss the widest slab
THIN = 1e-15  # area over squared sides: a portal without a normal
FLAT = 1e-14  # of the two bounding radii, likewise where nothing else follows
PARTED = 1e-3  # of the two bounding radii: how far apart bodies are whose nearest points are asked for
UNPARTED = 1e-14  # likewise: cores nearer than this are not asked for their nearest points as they stand
NARROW, WIDE, WIDEST = 1e-9, 1e-6, 1e-1  # of a normal: how far aslant it is asked for
SLIGHT = 1e-3  # of a corner's weight in a simplex: it may not belong there
LEVEL = 1e-13  # of the two bounding radii: slope of g around a maximum, at most
SAME = 4e-15  # of the two bounding radii: by how much less g is no less
MOST_TURNS, MOST_ROUNDS, MOST_PARTINGS = 1000, 400, 4


class MprWork(Structure):
    """Scratch. Points are those of support.support_difference."""

    portal: Array  # (4, 2, 3) m: of P - Q both about 0, of P; corners in rows 0 to 2, the newest point in row 3
    points: Array  # (4, 3, 3) m
    weight: Array  # (4,)
    pair: Array  # (2, ELLIPSOID_COLUMNS)


def mpr_work() -> MprWork:
    return MprWork(np.empty((4, 2, 3)), np.empty((4, 3, 3)), np.empty(4), np.zeros((2, col.ELLIPSOID_COLUMNS)))


@kernel
def corner(posed, p, q, n, k, portal):
    """portal[k]: the support point of P - Q along the unit vector n, both about 0, and that of P. Returns h(n)."""
    on_p = along(support(posed, p, n), posed.margin[p], n)
    on_q = support(posed, q, opposite(n))
    w = along(minus(on_p, on_q), posed.margin[q], n)
    set_row(portal[k], col.DIFFERENCE, w)
    set_row(portal[k], col.OF_P, on_p)
    return dot(n, w)


@kernel
def slab(posed, p, q, d, n, portal):
    """g(n), the newest point in row 3."""
    return dot(n, d) - corner(posed, p, q, n, 3, portal)


@kernel
def turn(portal, i, j, a):
    """a . (row i x row j): above 0 where rows i, j turn left as seen against the ray."""
    return dot(a, cross(difference(portal, i), difference(portal, j)))


@kernel
def shares(portal, a):
    """Of the three corners in the point where the ray along a goes through the portal."""
    u, v, w = turn(portal, 1, 2, a), turn(portal, 2, 0, a), turn(portal, 0, 1, a)
    return u / (u + v + w), v / (u + v + w), w / (u + v + w)


@kernel
def replace(portal, i, j):
    set_row(portal[i], col.DIFFERENCE, difference(portal, j))
    set_row(portal[i], col.OF_P, row(portal[j], col.OF_P))


@kernel
def first_portal(posed, p, q, ray, extent, portal):
    """Rows 0 to 2: three support points, turning left, with the ray between them. False: row 0 is on the ray."""
    h = corner(posed, p, q, ray, 1, portal)
    aside = along(difference(portal, 1), -h, ray)
    off = length(aside)
    if off <= ON_RAY * extent:
        replace(portal, 0, 1)
        return False
    corner(posed, p, q, cross(over(aside, off), ray), 0, portal)
    for _ in range(MOST_TURNS):
        n = cross(difference(portal, 0), difference(portal, 1))
        corner(posed, p, q, times(1.0 / length(n), n), 2, portal)
        if turn(portal, 1, 2, ray) < 0.0:
            replace(portal, 0, 2)
        elif turn(portal, 2, 0, ray) < 0.0:
            replace(portal, 1, 2)
        else:
            break
    return True


@kernel
def refine(posed, p, q, d, enough, portal, found):
    """found: the best g(n) and its n, where the ray leaves P; UNCERTAINTY: how far P - Q reaches beyond the portal."""
    nowhere, distance = (0.0, 0.0, 0.0), length(d)
    ray = over(d, distance)
    extent = posed.bounding_radius[p] + posed.bounding_radius[q]
    if not first_portal(posed, p, q, ray, extent, portal):
        write(found, distance - dot(ray, difference(portal, 0)), ray, row(portal[0], col.OF_P), nowhere, 0.0)
        return
    found[col.GAP] = -np.inf
    for _ in range(MOST_ROUNDS):
        u, v = minus(difference(portal, 1), difference(portal, 0)), minus(difference(portal, 2), difference(portal, 0))
        n = cross(u, v)
        area = length(n)
        if not area > THIN * (dot(u, u) + dot(v, v)):
            break
        n = over(n, area)
        h = corner(posed, p, q, n, 3, portal)
        gap, beyond = dot(n, d) - h, h - dot(n, difference(portal, 0))
        if gap > found[col.GAP]:
            a, b, c = shares(portal, ray)
            on_p = along(times(a, row(portal[0], col.OF_P)), b, row(portal[1], col.OF_P))
            write(found, gap, n, along(on_p, c, row(portal[2], col.OF_P)), nowhere, beyond)
        if beyond <= enough * extent:
            break
        a, b, c = turn(portal, 0, 3, ray), turn(portal, 1, 3, ray), turn(portal, 2, 3, ray)
        replace(portal, 2 if b >= 0.0 >= a else (0 if c >= 0.0 >= b else 1), 3)


@kernel
def as_ellipsoid(posed, i, own):
    """A sphere or ellipsoid about 0 as a row of the table of ellipsoids."""
    for k in range(3):
        for c in range(3):
            if posed.kind[i] == ELLIPSOID:
                own[col.A + 3 * k + c] = posed.R[i, k, c] * posed.size[i, c]
            else:
                own[col.A + 3 * k + c] = posed.margin[i] if k == c else 0.0
    set_square(own)
    own[col.LONGEST] = posed.bounding_radius[i]


@kernel
def uphill(posed, p, q, d, work, found):
    """Two smooth bodies: from the portal's normal to the nearest maximum of g, which apart is the distance.

    The way there ends where a step would be of 1e-13; one more leaves round-off, and no trace of where it began.
    """
    weight, pair = work.weight, work.pair
    as_ellipsoid(posed, p, pair[0])
    as_ellipsoid(posed, q, pair[1])
    size = length(d) + posed.bounding_radius[p] + posed.bounding_radius[q]
    n, _ = ascend(pair, 0, 1, d, three(found, col.NORMAL), size, np.inf)
    conclude(pair, 0, 1, d, n, size, 0.0, found)
    weight[0], weight[1], weight[2], weight[3] = 1.0, 0.0, 0.0, 0.0  # a point of each
    is_found, n, _ = climb(posed, p, q, d, n, work.points, weight, found)
    if is_found:
        conclude(pair, 0, 1, d, n, size, 0.0, found)


@kernel
def facing_side(posed, i, n):
    """Of body i's flat sides the one that faces along n most nearly: its outward normal; or 0.

    Normals of meshes are not asked: their portals are in their faces, exactly.
    """
    kind = posed.kind[i]
    u, v, w = to_body(posed.R, i, n)
    if kind == BOX:
        if abs(u) >= abs(v) and abs(u) >= abs(w):
            u, v, w = (1.0 if u > 0.0 else -1.0), 0.0, 0.0
        elif abs(v) >= abs(w):
            u, v, w = 0.0, (1.0 if v > 0.0 else -1.0), 0.0
        else:
            u, v, w = 0.0, 0.0, (1.0 if w > 0.0 else -1.0)
    elif kind == CYLINDER:
        u, v, w = 0.0, 0.0, (1.0 if w > 0.0 else -1.0)
    elif kind == CONE:
        u, v, w = 0.0, 0.0, -1.0
    else:
        return 0.0, 0.0, 0.0
    return to_world(posed.R, i, (u, v, w))


@kernel
def is_over_side(posed, i, point, n):
    """Is the point, from the centre of body i, over its flat side with the normal n?"""
    u, v, w = to_body(posed.R, i, point)
    if posed.kind[i] == BOX:
        a, b, c = to_body(posed.R, i, n)
        on_a, on_b, on_c = abs(u) <= posed.size[i, 0], abs(v) <= posed.size[i, 1], abs(w) <= posed.size[i, 2]
        return (on_a or abs(a) > 0.5) and (on_b or abs(b) > 0.5) and (on_c or abs(c) > 0.5)
    return u * u + v * v <= posed.size[i, 0] ** 2


@kernel
def against_side(posed, p, q, d, portal, found):
    """The flat side that n is nearly across, if the other body's point is over it: then its normal is n, exactly."""
    extent = posed.bounding_radius[p] + posed.bounding_radius[q]
    for of_q in range(2):
        i, sign = (q, -1.0) if of_q == 1 else (p, 1.0)
        n = times(sign, facing_side(posed, i, times(sign, three(found, col.NORMAL))))
        if dot(n, three(found, col.NORMAL)) < ACROSS:
            continue
        gap = slab(posed, p, q, d, n, portal)
        if gap < found[col.GAP] - ACROSS_SLACK * extent:
            continue
        on_p = row(portal[3], col.OF_P)
        on_q = plus(minus(on_p, difference(portal, 3)), d)
        if of_q == 1:
            over_side = is_over_side(posed, q, minus(on_p, d), n)
        else:
            over_side = is_over_side(posed, p, on_q, n)
        if over_side:
            write_from_p(found, gap, n, on_p if of_q == 1 else along(on_q, -gap, n), 0.0)
            return True
    return False


@kernel
def parted(posed, p, q, d, work, found):
    """Bodies with edges, corners or flat sides: the nearest points of the two moved apart along n, while g grows.

    Where cores are apart the last word is theirs as they stand: between corners another n is best for them.
    """
    extent, margin = posed.bounding_radius[p] + posed.bounding_radius[q], posed.margin[p] + posed.margin[q]
    gap, n, on_p, open_ = found[col.GAP], three(found, col.NORMAL), three(found, col.ON_P), found[col.UNCERTAINTY]
    is_best = False
    for parting in range(MOST_PARTINGS + 1):
        is_last = is_best or parting == MOST_PARTINGS
        if is_last and gap + margin <= UNPARTED * extent:
            break
        shift = 0.0 if is_last else max(0.0, PARTED * extent - gap - margin)
        if separation(posed, p, q, along(d, shift, n), np.inf, work.points, work.weight, found) != APART:
            break
        new = three(found, col.NORMAL)
        nearest = along(three(found, col.ON_P), posed.margin[p], new)
        wider = slab(posed, p, q, d, new, work.portal)
        if wider < gap - (0.0 if is_last else UNSURE * extent):
            if open_ > found[col.UNCERTAINTY] and dot(new, n) > ACROSS:  # a search that ended early: its point is none
                on_p, open_ = nearest, found[col.UNCERTAINTY]
            break
        is_best = wider <= gap + ROUND * extent
        gap, n, on_p, open_ = wider, new, nearest, found[col.UNCERTAINTY]  # all of one search: they belong together
        if shift == 0.0:
            break
    write_from_p(found, gap, n, on_p, open_)


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
def sharpen(posed, p, q, d, work, found):
    """`found` with the normal to round-off, if g there is not less.

    The simplex of a search that ended early may lack a corner of the side in contact, or have one too many: one of
    slight weight is left out, once. Where nothing comes of that, or g still rises from there, it goes on from where g
    rises most, and asks in turn what is nearest for normals a little aslant: far, and then near again, for the point.
    """
    points, weight = work.points, work.weight
    extent, is_sharp = posed.bounding_radius[p] + posed.bounding_radius[q], False
    start = three(found, col.NORMAL)
    n, on_p = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for attempt in range(8):
        is_new = attempt != 1 or without_least(weight)
        if attempt > 1:
            tilt = WIDE if attempt == 3 else (WIDEST if attempt == 5 else NARROW)
            is_steepest = attempt == 2 or attempt == 7
            _, start = aslant(posed, p, q, d, found, tilt, is_steepest, points, weight)
        is_found = False
        if is_new:
            is_found, n, on_p = climb(posed, p, q, d, start, points, weight, found)
        if is_found:
            gap = slab(posed, p, q, d, n, work.portal)
            is_again = not is_sharp or attempt == 4 or attempt == 6
            if gap > found[col.GAP] or (is_again and gap >= found[col.GAP] - SAME * extent):
                write_from_p(found, gap, n, along(on_p, posed.margin[p], n), 0.0)
                is_sharp = True
        if is_sharp and attempt != 0 and attempt != 3 and attempt != 5:
            rise, _ = aslant(posed, p, q, d, found, NARROW, True, points, weight)
            if rise <= LEVEL * extent:
                return


@kernel
def mpr_pair(posed, p, q, work, found):
    """`found` (see layout) of two bounded bodies, points from the centre of p; or COINCIDENT, and nothing."""
    of_p, of_q = posed.kind[p], posed.kind[q]
    d = minus(row(posed.centre, q), row(posed.centre, p))
    distance = length(d)
    if not distance > ONE_CENTRE * (posed.bounding_radius[p] + posed.bounding_radius[q]):
        return COINCIDENT
    if of_p == SPHERE and of_q == SPHERE:
        n, a, b = over(d, distance), posed.margin[p], posed.margin[q]
        write(found, distance - a - b, n, times(a, n), along(d, -b, n), 0.0)
        return FOUND
    smooth = of_p in (SPHERE, ELLIPSOID) and of_q in (SPHERE, ELLIPSOID)
    refine(posed, p, q, d, NEAR_ENOUGH if smooth else FLAT, work.portal, found)
    if smooth:
        uphill(posed, p, q, d, work, found)
    elif not against_side(posed, p, q, d, work.portal, found):
        parted(posed, p, q, d, work, found)
        sharpen(posed, p, q, d, work, found)
    return FOUND

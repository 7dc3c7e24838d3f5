"""Least translation that parts two convex cores that overlap.

Van den Bergen 2001 (expanding polytopes): a polytope inside P - Q grows by the support point across
its face nearest to the origin.  The distance of that face is a lower bound of the depth, each support
an upper one.  For polytopes the two meet at a true face of P - Q (a face of either, or an edge of
each); for curved bodies the bracket closes and its width is returned.
"""

import numpy as np

from reference_engine.array_types import Array, Indices
from reference_engine.compiler.kernels import kernel
from reference_engine.compiler.structure import Structure
from reference_engine.geometry import layout as col
from reference_engine.geometry.gjk import difference, foot, triangle
from reference_engine.geometry.support import is_curved, support_difference, write_from_p
from reference_engine.vectors import along, cross, dot, length, minus, opposite, over, row, set_row

MOST_POINTS = 256
MOST_FACES = 2 * MOST_POINTS
RELATIVE_TOLERANCE = 1e-10  # of the depth, of curved bodies; polytopes need none
OFF_FACE = -1e-9  # share of a face by which the foot of the perpendicular may miss it
ABSOLUTE_TOLERANCE = 1e-14  # of the two bounding radii
UNSEEN, SEEN, SEEING = range(3)  # SearchWork.sight; SEEING: sees the new point, not yet known to be joined to the rest
SLIVER = 1e-10  # height by length of a face, below which its normal is round-off


class SearchWork(Structure):
    """Scratch of searches for distance and depth."""

    points: Array  # (MOST_POINTS, 3, 3) m, see support.support_difference
    weight: Array  # (4,) of the first points, a simplex
    face: Indices  # (MOST_FACES, 3) of a polytope: points that turn left as seen from outside
    sight: Indices  # (MOST_FACES,) UNSEEN, SEEN, SEEING
    normal: Array  # (MOST_FACES, 3) of a face, outward
    distance: Array  # (MOST_FACES,) m, from the origin
    rim: Indices  # (MOST_FACES, 2) edges, from one point to another


def search_work() -> SearchWork:
    return SearchWork(
        np.empty((MOST_POINTS, 3, 3)), np.empty(4), np.empty((MOST_FACES, 3), np.int64), np.empty(MOST_FACES, np.int64),
        np.empty((MOST_FACES, 3)), np.empty(MOST_FACES), np.empty((MOST_FACES, 2), np.int64),
    )  # fmt: skip


@kernel
def set_plane(work, f):
    """Outward unit normal and distance; a sliver is never nearest and never seen: its neighbours have its edges."""
    a, b, c, n = triangle(work.points, work.face[f, 0], work.face[f, 1], work.face[f, 2])
    area = length(n)
    if area <= SLIVER * max(dot(b, b), dot(c, c)):
        set_row(work.normal, f, (0.0, 0.0, 0.0))
        work.distance[f] = np.inf
        return
    set_row(work.normal, f, over(n, area))
    work.distance[f] = dot(n, a) / area


@kernel
def height(points, k, i, n):
    """Of point k above point i."""
    return dot(n, minus(difference(points, k), difference(points, i)))


@kernel
def first_tetrahedron(posed, p, q, d, work):
    """Four support points of P - Q that are not in a plane: it has volume, so the widest directions do."""
    points, n, distance = work.points, d, length(d)
    if distance == 0.0:
        n, distance = (1.0, n[1], n[2]), 1.0
    n = over(n, distance)
    support_difference(posed, p, q, d, n, 0, points)
    support_difference(posed, p, q, d, opposite(n), 1, points)
    for k in range(2, 4):
        e = minus(difference(points, 1), difference(points, 0))
        if k == 2:  # across the line: with the coordinate axis that is least along it
            x, y, z = abs(e[0]), abs(e[1]), abs(e[2])
            aside = (1.0, 0.0, 0.0) if x <= y and x <= z else ((0.0, 1.0, 0.0) if y <= z else (0.0, 0.0, 1.0))
        else:
            aside = minus(difference(points, 2), difference(points, 0))
        n = cross(e, aside)
        n = over(n, length(n))
        support_difference(posed, p, q, d, n, k, points)
        above = height(points, k, 0, n)
        support_difference(posed, p, q, d, opposite(n), k, points)
        if above > -height(points, k, 0, n):
            support_difference(posed, p, q, d, n, k, points)
    up = height(points, 3, 0, n) > 0.0  # is 3 where 0, 1, 2 turn left?
    for f in range(4):
        i, j, k = (f + 1) % 4, (f + 2) % 4, (f + 3) % 4
        if up == (f % 2 == 1):
            j, k = k, j
        set_row(work.face, f, (i, j, k))
        set_plane(work, f)


@kernel
def rim_of_seen(work, faces):
    """Directed edges between seen and unseen faces; how many, or 0 if they are not one loop."""
    face, rim, edges = work.face, work.rim, 0
    for f in range(faces):
        if work.sight[f] != SEEN:
            continue
        for side in range(3):
            i, j = face[f, side], face[f, (side + 1) % 3]
            twin = -1
            for e in range(edges):
                if rim[e, 0] == j and rim[e, 1] == i:
                    twin = e
            if twin >= 0:
                edges -= 1
                rim[twin, 0], rim[twin, 1] = rim[edges, 0], rim[edges, 1]
            elif edges == rim.shape[0]:
                return 0
            else:
                rim[edges, 0], rim[edges, 1] = i, j
                edges += 1
    at, steps = rim[0, 1], 1
    while at != rim[0, 0] and steps <= edges:
        for e in range(edges):
            if rim[e, 0] == at:
                at = rim[e, 1]
                break
        steps += 1
    return edges if steps == edges else 0


@kernel
def join_seen(work, faces):
    """SEEN spreads over edges: to a face that sees the point, and to a sliver two of whose sides are seen.

    Many points in one plane see one another by round-off alone: what is not joined is left as it is.
    """
    face, sight, changed = work.face, work.sight, True
    while changed:
        changed = False
        for f in range(faces):
            sliver = work.distance[f] == np.inf
            if sight[f] == SEEN or not (sliver or sight[f] == SEEING):
                continue
            neighbours = 0
            for other in range(faces):
                if sight[other] == SEEN:
                    for side in range(9):
                        i, j = side // 3, side % 3
                        if face[f, i] == face[other, (j + 1) % 3] and face[f, (i + 1) % 3] == face[other, j]:
                            neighbours += 1
            if neighbours >= (2 if sliver else 1):
                sight[f] = SEEN
                changed = True


@kernel
def grow(work, new, nearest, faces, seen_above):
    """Replace the faces that see the new point by those between it and their rim.  Number of faces, 0: full.

    Where round-off tears the seen region (many points in a plane) the nearest face alone is divided:
    the surface stays closed around the origin, which is all that the lower bound needs.
    """
    face, sight, normal, distance, rim = work.face, work.sight, work.normal, work.distance, work.rim
    for f in range(faces):
        above = dot(row(normal, f), difference(work.points, new)) - distance[f]
        sight[f] = SEEN if f == nearest else (SEEING if above > seen_above else UNSEEN)
    join_seen(work, faces)
    edges = rim_of_seen(work, faces)
    if edges == 0:
        for f in range(faces):
            sight[f] = SEEN if f == nearest else UNSEEN
        edges = rim_of_seen(work, faces)
    kept = 0
    for f in range(faces):
        if sight[f] != SEEN:
            set_row(face, kept, row(face, f))
            set_row(normal, kept, row(normal, f))
            sight[kept], distance[kept] = sight[f], distance[f]
            kept += 1
    if kept + edges > face.shape[0]:
        return 0
    for e in range(edges):
        set_row(face, kept, (rim[e, 0], rim[e, 1], new))
        set_plane(work, kept)
        kept += 1
    return kept


@kernel
def is_known(points, new, same):
    for k in range(new):
        x, y, z = minus(difference(points, k), difference(points, new))
        if abs(x) + abs(y) + abs(z) <= same:
            return True
    return False


@kernel
def depth(posed, p, q, d, work, found):
    """Depth of the cores, as a gap <= 0 (or a hair above 0 where they touch), into `found`.

    False if the normal and the gap are found but not the points: the foot of the perpendicular lies on
    a part of the true face that no face of the polytope covers yet.
    """
    points, distance = work.points, work.distance
    extent = posed.bounding_radius[p] + posed.bounding_radius[q]
    relative = RELATIVE_TOLERANCE if is_curved(posed.kind[p]) or is_curved(posed.kind[q]) else 0.0
    on_face = False
    first_tetrahedron(posed, p, q, d, work)
    faces, lower, upper = 4, -np.inf, np.inf
    for new in range(4, MOST_POINTS):
        f = 0
        for other in range(faces):
            if distance[other] < distance[f]:
                f = other
        n, lower = row(work.normal, f), distance[f]
        support_difference(posed, p, q, d, n, new, points)
        reached = dot(n, difference(points, new))
        if reached < upper:
            upper = reached
            write_from_p(found, -reached, n, row(points[new], col.OF_P), 0.0)
        tolerance = ABSOLUTE_TOLERANCE * extent + relative * abs(reached)
        if reached - lower <= tolerance or reached < 0.0:
            of_face = nearest_points(work, faces, f, reached, lower + tolerance, found)
            on_face = of_face and reached - lower <= tolerance  # of bodies that are apart the face may be beside them
            break
        if is_known(points, new, SLIVER * extent):  # the plane of the face is round-off: a sliver just too wide
            distance[f] = np.inf
            continue
        faces = grow(work, new, f, faces, 1e-15 * extent)
        if faces == 0:
            break
    found[col.UNCERTAINTY] = max(0.0, upper - lower)
    return on_face


@kernel
def nearest_points(work, faces, nearest, reached, level, found):
    """The points of both bodies that the foot of the perpendicular is made of.

    A side of P - Q in a plane is several faces at one distance (`level`): the one with the foot in it.
    """
    points, face = work.points, work.face
    best, s, t, f = -np.inf, 0.0, 0.0, nearest
    n = row(work.normal, nearest)
    for other in range(faces):
        if work.distance[other] <= level and dot(row(work.normal, other), n) > 1.0 - 1e-12:
            corner, first, second, across = triangle(points, face[other, 0], face[other, 1], face[other, 2])
            u, v = foot(corner, first, second, across)
            inside = min(u, min(v, 1.0 - u - v))
            if inside > best:
                best, s, t, f = inside, u, v, other
    s, t = max(0.0, s), max(0.0, t)
    if s + t > 1.0:
        s, t = s / (s + t), t / (s + t)
    a, b, c = row(points[face[f, 0]], col.OF_P), row(points[face[f, 1]], col.OF_P), row(points[face[f, 2]], col.OF_P)
    write_from_p(found, -reached, n, along(along(a, s, minus(b, a)), t, minus(c, a)), 0.0)
    return best >= OFF_FACE

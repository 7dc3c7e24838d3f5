"""Least translation that parts two convex cores that overlap.

Van den Bergen 2001 (expanding polytopes): a polytope inside P - Q grows by the support point across
its face nearest to the origin.  The distance of that face is a lower bound of the depth, each support
an upper one.  For polytopes the two meet at a true face of P - Q (a face of either, or an edge of
each); for curved bodies the bracket closes and its width is told.
"""

from dataclasses import dataclass

import numpy as np

from reference_engine.array_types import Array, Indices
from reference_engine.compiler.kernels import kernel
from reference_engine.compiler.structure import Structure
from reference_engine.geometry.spatial_shapes import CONE, CYLINDER, ELLIPSOID
from reference_engine.geometry.support import support_difference, write

MOST_POINTS = 256
MOST_FACES = 2 * MOST_POINTS
RELATIVE_TOLERANCE = 1e-10  # of the depth, of curved bodies; polytopes need none
OFF_FACE = -1e-9  # share of a face by which the foot of the perpendicular may miss it
ABSOLUTE_TOLERANCE = 1e-14  # of the two bounding radii
UNSEEN, SEEN, SEEING = 0, 1, 2  # face[:, 3]; SEEING: sees the new point, not yet known to be joined to the rest
SLIVER = 1e-10  # height by length of a face, below which its normal is round-off


@dataclass(frozen=True, eq=False)
class SearchWork(Structure):
    """Scratch of searches for distance and depth."""

    points: Array  # (MOST_POINTS, 9) see support.support_difference
    weight: Array  # (4,) of the first points, a simplex
    face: Indices  # (MOST_FACES, 4)
    plane: Array  # (MOST_FACES, 4)
    rim: Indices  # (MOST_FACES, 2)


def search_work() -> SearchWork:
    faces = np.empty((MOST_FACES, 4), np.int64), np.empty((MOST_FACES, 4)), np.empty((MOST_FACES, 2), np.int64)
    return SearchWork(np.empty((MOST_POINTS, 9)), np.empty(4), *faces)


@kernel
def set_plane(points, face, f, plane):
    """Outward unit normal and distance; a sliver is never nearest and never seen: its neighbours have its edges."""
    i, j, k = face[f, 0], face[f, 1], face[f, 2]
    ax, ay, az = points[i, 0], points[i, 1], points[i, 2]
    bx, by, bz = points[j, 0] - ax, points[j, 1] - ay, points[j, 2] - az
    cx, cy, cz = points[k, 0] - ax, points[k, 1] - ay, points[k, 2] - az
    nx, ny, nz = by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx
    area = np.sqrt(nx * nx + ny * ny + nz * nz)
    longest = max(bx * bx + by * by + bz * bz, cx * cx + cy * cy + cz * cz)
    if area <= SLIVER * longest:
        plane[f, 0], plane[f, 1], plane[f, 2], plane[f, 3] = 0.0, 0.0, 0.0, np.inf
        return
    plane[f, 0], plane[f, 1], plane[f, 2] = nx / area, ny / area, nz / area
    plane[f, 3] = (nx * ax + ny * ay + nz * az) / area


@kernel
def height(points, k, i, nx, ny, nz):
    """Of point k above point i."""
    return nx * (points[k, 0] - points[i, 0]) + ny * (points[k, 1] - points[i, 1]) + nz * (points[k, 2] - points[i, 2])


@kernel
def first_tetrahedron(posed, p, q, dx, dy, dz, points, face, plane):
    """Four support points of P - Q that are not in a plane: it has volume, so the widest directions do."""
    nx, ny, nz = dx, dy, dz
    length = np.sqrt(nx * nx + ny * ny + nz * nz)
    if length == 0.0:
        nx, length = 1.0, 1.0
    nx, ny, nz = nx / length, ny / length, nz / length
    support_difference(posed, p, q, dx, dy, dz, nx, ny, nz, 0, points)
    support_difference(posed, p, q, dx, dy, dz, -nx, -ny, -nz, 1, points)
    for row in range(2, 4):
        ex, ey, ez = points[1, 0] - points[0, 0], points[1, 1] - points[0, 1], points[1, 2] - points[0, 2]
        if row == 2:  # across the line: with the coordinate axis that is least along it
            x, y, z = abs(ex), abs(ey), abs(ez)
            fx, fy, fz = (1.0, 0.0, 0.0) if x <= y and x <= z else ((0.0, 1.0, 0.0) if y <= z else (0.0, 0.0, 1.0))
        else:
            fx, fy, fz = points[2, 0] - points[0, 0], points[2, 1] - points[0, 1], points[2, 2] - points[0, 2]
        nx, ny, nz = ey * fz - ez * fy, ez * fx - ex * fz, ex * fy - ey * fx
        length = np.sqrt(nx * nx + ny * ny + nz * nz)
        nx, ny, nz = nx / length, ny / length, nz / length
        support_difference(posed, p, q, dx, dy, dz, nx, ny, nz, row, points)
        above = height(points, row, 0, nx, ny, nz)
        support_difference(posed, p, q, dx, dy, dz, -nx, -ny, -nz, row, points)
        if above > -height(points, row, 0, nx, ny, nz):
            support_difference(posed, p, q, dx, dy, dz, nx, ny, nz, row, points)
    up = height(points, 3, 0, nx, ny, nz) > 0.0  # is 3 where 0, 1, 2 turn left?
    for f in range(4):
        i, j, k = (f + 1) % 4, (f + 2) % 4, (f + 3) % 4
        if up == (f % 2 == 1):
            j, k = k, j
        face[f, 0], face[f, 1], face[f, 2] = i, j, k
        set_plane(points, face, f, plane)


@kernel
def rim_of_seen(face, faces, rim):
    """Directed edges between seen (face[:, 3] = SEEN) and unseen faces; how many, or 0 if they are not one loop."""
    edges = 0
    for f in range(faces):
        if face[f, 3] != SEEN:
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
def join_seen(faces, face, plane):
    """SEEN spreads over edges: to a face that sees the point, and to a sliver two of whose sides are seen.

    Many points in one plane see one another by round-off alone: what is not joined is left as it is.
    """
    changed = True
    while changed:
        changed = False
        for f in range(faces):
            sliver = plane[f, 3] == np.inf
            if face[f, 3] == SEEN or not (sliver or face[f, 3] == SEEING):
                continue
            neighbours = 0
            for other in range(faces):
                if face[other, 3] == SEEN:
                    for side in range(9):
                        i, j = side // 3, side % 3
                        if face[f, i] == face[other, (j + 1) % 3] and face[f, (i + 1) % 3] == face[other, j]:
                            neighbours += 1
            if neighbours >= (2 if sliver else 1):
                face[f, 3] = SEEN
                changed = True


@kernel
def grow(points, new, nearest, faces, face, plane, rim, seen_above):
    """Replace the faces that see the new point by those between it and their rim.  Number of faces, 0: full.

    Where round-off tears the seen region (many points in a plane) the nearest face alone is divided:
    the surface stays closed around the origin, which is all that the lower bound needs.
    """
    for f in range(faces):
        sight = plane[f, 0] * points[new, 0] + plane[f, 1] * points[new, 1] + plane[f, 2] * points[new, 2] - plane[f, 3]
        face[f, 3] = SEEN if f == nearest else (SEEING if sight > seen_above else UNSEEN)
    join_seen(faces, face, plane)
    edges = rim_of_seen(face, faces, rim)
    if edges == 0:
        for f in range(faces):
            face[f, 3] = SEEN if f == nearest else UNSEEN
        edges = rim_of_seen(face, faces, rim)
    kept = 0
    for f in range(faces):
        if face[f, 3] != SEEN:
            for column in range(4):
                face[kept, column] = face[f, column]
                plane[kept, column] = plane[f, column]
            kept += 1
    if kept + edges > face.shape[0]:
        return 0
    for e in range(edges):
        face[kept, 0], face[kept, 1], face[kept, 2] = rim[e, 0], rim[e, 1], new
        set_plane(points, face, kept, plane)
        kept += 1
    return kept


@kernel
def is_known(points, new, same):
    for k in range(new):
        if (
            abs(points[k, 0] - points[new, 0]) + abs(points[k, 1] - points[new, 1]) + abs(points[k, 2] - points[new, 2])
            <= same
        ):
            return True
    return False


@kernel
def depth(posed, p, q, dx, dy, dz, work, found):
    """Depth of the cores, as a gap <= 0 (or a hair above 0 where they touch), into `found`.

    False if the normal and the gap are found but not the points: the foot of the perpendicular lies on
    a part of the true face that no face of the polytope covers yet.
    """
    kind, body = posed.kind, posed.body
    points, face, plane, rim = work.points, work.face, work.plane, work.rim
    extent = body[p, 16] + body[q, 16]
    curved = kind[p] == CYLINDER or kind[p] == ELLIPSOID or kind[p] == CONE
    curved = curved or kind[q] == CYLINDER or kind[q] == ELLIPSOID or kind[q] == CONE
    relative = RELATIVE_TOLERANCE if curved else 0.0
    on_face = False
    first_tetrahedron(posed, p, q, dx, dy, dz, points, face, plane)
    faces, lower, upper = 4, -np.inf, np.inf
    for new in range(4, MOST_POINTS):
        f = 0
        for other in range(faces):
            if plane[other, 3] < plane[f, 3]:
                f = other
        nx, ny, nz, lower = plane[f, 0], plane[f, 1], plane[f, 2], plane[f, 3]
        support_difference(posed, p, q, dx, dy, dz, nx, ny, nz, new, points)
        reached = nx * points[new, 0] + ny * points[new, 1] + nz * points[new, 2]
        if reached < upper:
            upper = reached
            ax, ay, az = points[new, 3], points[new, 4], points[new, 5]
            write(found, -reached, nx, ny, nz, ax, ay, az, ax - reached * nx, ay - reached * ny, az - reached * nz, 0.0)
        tolerance = ABSOLUTE_TOLERANCE * extent + relative * abs(reached)
        if reached - lower <= tolerance or reached < 0.0:
            on_face = nearest_points(points, faces, face, plane, f, reached, lower + tolerance, found)
            break
        if is_known(points, new, SLIVER * extent):  # the plane of the face is round-off: a sliver just too wide
            plane[f, 3] = np.inf
            continue
        faces = grow(points, new, f, faces, face, plane, rim, 1e-15 * extent)
        if faces == 0:
            break
    found[10] = max(0.0, upper - lower)
    return on_face


@kernel
def foot(points, i, j, k):
    """The foot of the perpendicular from the origin on the plane of i, j, k is i + s (j - i) + t (k - i)."""
    ax, ay, az = points[i, 0], points[i, 1], points[i, 2]
    bx, by, bz = points[j, 0] - ax, points[j, 1] - ay, points[j, 2] - az
    cx, cy, cz = points[k, 0] - ax, points[k, 1] - ay, points[k, 2] - az
    nx, ny, nz = by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx
    nn = nx * nx + ny * ny + nz * nz
    s = -(nx * (ay * cz - az * cy) + ny * (az * cx - ax * cz) + nz * (ax * cy - ay * cx)) / nn
    t = -(nx * (by * az - bz * ay) + ny * (bz * ax - bx * az) + nz * (bx * ay - by * ax)) / nn
    return s, t


@kernel
def nearest_points(points, faces, face, plane, nearest, reached, level, found):
    """The points of both bodies that the foot of the perpendicular is made of.

    A side of P - Q in a plane is several faces at one distance (`level`): the one with the foot in it.
    """
    best, s, t, f = -np.inf, 0.0, 0.0, nearest
    nx, ny, nz = plane[nearest, 0], plane[nearest, 1], plane[nearest, 2]
    for other in range(faces):
        cosine = plane[other, 0] * nx + plane[other, 1] * ny + plane[other, 2] * nz
        if plane[other, 3] <= level and cosine > 1.0 - 1e-12:
            u, v = foot(points, face[other, 0], face[other, 1], face[other, 2])
            inside = min(u, min(v, 1.0 - u - v))
            if inside > best:
                best, s, t, f = inside, u, v, other
    s, t = max(0.0, s), max(0.0, t)
    if s + t > 1.0:
        s, t = s / (s + t), t / (s + t)
    i, j, k = face[f, 0], face[f, 1], face[f, 2]
    px = points[i, 3] + s * (points[j, 3] - points[i, 3]) + t * (points[k, 3] - points[i, 3])
    py = points[i, 4] + s * (points[j, 4] - points[i, 4]) + t * (points[k, 4] - points[i, 4])
    pz = points[i, 5] + s * (points[j, 5] - points[i, 5]) + t * (points[k, 5] - points[i, 5])
    write(found, -reached, nx, ny, nz, px, py, pz, px - reached * nx, py - reached * ny, pz - reached * nz, 0.0)
    return best >= OFF_FACE

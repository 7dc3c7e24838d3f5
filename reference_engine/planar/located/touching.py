"""Which features of two bodies are in touch at an instant.

Convex polygons touch along a point or a segment. Of all edges the one that best separates the bodies carries the
contact: the other body's corners on it, and where the two faces lie flush its own ends on the other face. A corner
against a corner touches the edge that best separates the bodies, so that it is held by one normal.
"""

import numpy as np

from reference_engine.geometry.kernels import entry, kernel
from reference_engine.planar.located.layout import CENTRE, DISC, HALF_PLANE, LINE, RADIAL
from reference_engine.planar.located.release import OVER_END

PENETRATING = -1


@kernel
def note(places, n, i, j, feature_i, feature_j, kind):
    """n + 1 even where there is no room, so that the caller sees it."""
    if n < places.kind.shape[0]:
        places.body[n, 0], places.body[n, 1] = i, j
        places.feature[n, 0], places.feature[n, 1] = feature_i, feature_j
        places.kind[n] = kind
    return n + 1


@kernel
def height(solids, y, i, corner, j, edge):
    """(gap, along): of a corner of i above the line of an edge of j, and past the edge's start."""
    ci, si, cj, sj = np.cos(y[3 * i + 2]), np.sin(y[3 * i + 2]), np.cos(y[3 * j + 2]), np.sin(y[3 * j + 2])
    dx = y[3 * i] - y[3 * j] + ci * solids.vertices[corner, 0] - si * solids.vertices[corner, 1]
    dy = y[3 * i + 1] - y[3 * j + 1] + si * solids.vertices[corner, 0] + ci * solids.vertices[corner, 1]
    bx, by = cj * dx + sj * dy, -sj * dx + cj * dy
    mx, my = solids.normals[edge, 0], solids.normals[edge, 1]
    along = -my * (bx - solids.vertices[edge, 0]) + mx * (by - solids.vertices[edge, 1])
    return mx * bx + my * by - solids.offsets[edge], along


@kernel
def best_edge(solids, y, i, j):
    """(separation, edge of j) that best keeps i away."""
    best, at = -np.inf, np.int64(-1)
    for edge in range(solids.first[j], solids.first[j + 1]):
        least = np.inf
        for corner in range(solids.first[i], solids.first[i + 1]):
            gap, _ = height(solids, y, i, corner, j, edge)
            least = min(least, gap)
        if least > best:
            best, at = least, np.int64(edge)
    return best, at


@kernel
def polygons(solids, y, i, j, reach, places, n):
    """The edge that best separates the bodies carries the contact. If its corner is past its end (sides that are all

    but flush), it is the best edge of the other body that does.
    """
    apart_j, edge_j = best_edge(solids, y, i, j)
    apart_i, edge_i = best_edge(solids, y, j, i)
    if max(apart_i, apart_j) > reach:
        return n
    if max(apart_i, apart_j) < -reach:
        return PENETRATING
    found = n
    for turn in range(2):
        if (apart_j >= apart_i) == (turn == 0):
            if apart_j >= -reach:
                found = on_edge(solids, y, i, j, edge_j, reach, places, n)
        elif apart_i >= -reach:
            found = on_edge(solids, y, j, i, edge_i, reach, places, n)
        if found > n:
            return found
    return n


@kernel
def on_edge(solids, y, i, j, edge, reach, places, n):
    """The corners of i on this edge of j, and where a face of i lies flush on it, the edge's ends on that face."""
    start, flush = n, np.int64(-1)
    for corner in range(solids.first[i], solids.first[i + 1]):
        gap, along = height(solids, y, i, corner, j, edge)
        following = corner + 1 if corner + 1 < solids.first[i + 1] else solids.first[i]
        after, _ = height(solids, y, i, following, j, edge)
        if gap <= reach:
            if after <= reach:
                flush = np.int64(corner)
            if -0.5 * OVER_END <= along <= solids.lengths[edge] + 0.5 * OVER_END:
                n = note(places, n, i, j, np.int64(corner), edge, LINE)
    if flush < 0:
        return n
    last = edge + 1 if edge + 1 < solids.first[j + 1] else solids.first[j]
    for turn in range(2):
        corner = edge if turn == 0 else last
        _, along = height(solids, y, j, corner, i, flush)
        if not 0.0 < along < solids.lengths[flush]:
            continue
        beside = False  # the same place as a corner that is already on the edge
        for k in range(start, min(n, places.kind.shape[0])):
            _, other = height(solids, y, i, places.feature[k, 0], j, edge)
            here = 0.0 if turn == 0 else solids.lengths[edge]
            beside = beside or abs(other - here) <= 1e-9
        if not beside:
            n = note(places, n, j, i, np.int64(corner), flush, LINE)
    return n


@kernel
def disc_and_polygon(solids, y, i, j, reach, places, n):
    """Disc i: over an edge of j, or beyond a corner of it."""
    cj, sj = np.cos(y[3 * j + 2]), np.sin(y[3 * j + 2])
    dx, dy = y[3 * i] - y[3 * j], y[3 * i + 1] - y[3 * j + 1]
    bx, by = cj * dx + sj * dy, -sj * dx + cj * dy
    best, at = -np.inf, np.int64(-1)
    for edge in range(solids.first[j], solids.first[j + 1]):
        d = solids.normals[edge, 0] * bx + solids.normals[edge, 1] * by - solids.offsets[edge]
        if d > best:
            best, at = d, np.int64(edge)
    if best - solids.radius[i] > reach:
        return n
    for corner in range(solids.first[j], solids.first[j + 1]):
        previous = corner - 1 if corner > solids.first[j] else solids.first[j + 1] - 1
        rx, ry = bx - solids.vertices[corner, 0], by - solids.vertices[corner, 1]
        past_next = -solids.normals[corner, 1] * rx + solids.normals[corner, 0] * ry
        past_previous = -solids.normals[previous, 1] * rx + solids.normals[previous, 0] * ry
        if best > 0.0 and past_next < -0.5 * OVER_END and past_previous > 0.5 * OVER_END:
            gap = np.sqrt(rx * rx + ry * ry) - solids.radius[i]
            if gap < -reach:
                return PENETRATING
            if gap <= reach:
                n = note(places, n, i, j, CENTRE, np.int64(corner), RADIAL)
            return n
    if best - solids.radius[i] < -reach:
        return PENETRATING
    return note(places, n, i, j, CENTRE, at, LINE)


@kernel
def pair_touches(solids, y, i, j, reach, places, n):
    """Places of one pair with |gap| <= reach; PENETRATING if it is deeper. A disc is i, a half-plane j."""
    if solids.kind[j] == HALF_PLANE:
        edge = solids.first[j]
        if solids.kind[i] == DISC:
            cj, sj = np.cos(y[3 * j + 2]), np.sin(y[3 * j + 2])
            gap = -sj * (y[3 * i] - y[3 * j]) + cj * (y[3 * i + 1] - y[3 * j + 1]) - solids.radius[i]
            if gap < -reach:
                return PENETRATING
            return note(places, n, i, j, CENTRE, edge, LINE) if gap <= reach else n
        for corner in range(solids.first[i], solids.first[i + 1]):
            gap, _ = height(solids, y, i, corner, j, edge)
            if gap < -reach:
                return PENETRATING
            if gap <= reach:
                n = note(places, n, i, j, np.int64(corner), edge, LINE)
        return n
    if solids.kind[i] == DISC and solids.kind[j] == DISC:
        dx, dy = y[3 * i] - y[3 * j], y[3 * i + 1] - y[3 * j + 1]
        gap = np.sqrt(dx * dx + dy * dy) - solids.radius[i] - solids.radius[j]
        if gap < -reach:
            return PENETRATING
        return note(places, n, i, j, CENTRE, CENTRE, RADIAL) if gap <= reach else n
    if solids.kind[i] == DISC:
        return disc_and_polygon(solids, y, i, j, reach, places, n)
    return polygons(solids, y, i, j, reach, places, n)


@entry
def find_touching(solids, y, reach, places):
    """(places, pair): how many are in touch within `reach`; or (PENETRATING, pair) for a pair that is deeper."""
    n = np.int64(0)
    for p in range(solids.pairs.shape[0]):
        i, j = solids.pairs[p, 0], solids.pairs[p, 1]
        if solids.kind[j] != HALF_PLANE:
            dx, dy = y[3 * i] - y[3 * j], y[3 * i + 1] - y[3 * j + 1]
            far = solids.radius[i] + solids.radius[j] + reach
            if dx * dx + dy * dy > far * far:
                continue
        found = pair_touches(solids, y, i, j, reach, places, n)
        if found == PENETRATING:
            return np.int64(PENETRATING), np.int64(p)
        n = found
    return n, np.int64(-1)

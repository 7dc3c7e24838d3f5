"""Which features of two bodies are in touch at an instant.

Convex polygons touch along a point or a segment. Of all edges the one that best separates the bodies carries the
contact: the other body's corners on it, and where the two faces lie flush its own ends on the other face. A corner
against a corner touches the edge that best separates the bodies, so that it is held by one normal. Parts with arcs:
`rounded`.
"""

import numpy as np

from reference_engine.compiler.kernels import kernel
from reference_engine.elementary_kernels import cosine_and_sine
from reference_engine.planar.convex_pieces import BOWL, DISC, HALF_PLANE, HOLLOW, ROUNDED
from reference_engine.planar.features import OVER_END, height, note
from reference_engine.planar.layout import (
    CENTRE,
    FRICTION,
    GAP,
    KIND,
    LINE,
    PAIR,
    PART_I,
    PART_J,
    RESTITUTION,
    ROLE,
    ROPE,
    ROUND,
    STATIC_FRICTION,
    P,
    Q,
    copy_place,
)
from reference_engine.planar.narrow_phase_arcs import PENETRATING, convex_rounded, in_hollow
from reference_engine.planar.rows import measure


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
                n = note(solids, places, n, i, j, np.int64(corner), edge, LINE)
    if flush < 0:
        return n
    last = edge + 1 if edge + 1 < solids.first[j + 1] else solids.first[j]
    for turn in range(2):
        corner = edge if turn == 0 else last
        _, along = height(solids, y, j, corner, i, flush)
        if not 0.0 < along < solids.lengths[flush]:
            continue
        beside = False  # the same place as a corner that is already on the edge
        for k in range(start, min(n, places.id.shape[0])):
            _, other = height(solids, y, i, places.id[k, P], j, edge)
            here = 0.0 if turn == 0 else solids.lengths[edge]
            beside = beside or abs(other - here) <= 1e-9
        if not beside:
            n = note(solids, places, n, j, i, np.int64(corner), flush, LINE)
    return n


@kernel
def disc_and_polygon(solids, y, i, j, reach, places, n):
    """Disc i: over an edge of j, or beyond a corner of it."""
    a, b = solids.row[i], solids.row[j]
    cj, sj = cosine_and_sine(y[3 * b + 2])
    dx, dy = y[3 * a] - y[3 * b], y[3 * a + 1] - y[3 * b + 1]
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
                n = note(solids, places, n, i, j, CENTRE, np.int64(corner), ROUND)
            return n
    if best - solids.radius[i] < -reach:
        return PENETRATING
    return note(solids, places, n, i, j, CENTRE, at, LINE)


@kernel
def on_half_plane(solids, y, i, j, reach, places, n):
    edge, a, b = solids.first[j], solids.row[i], solids.row[j]
    if solids.kind[i] == DISC:
        cj, sj = cosine_and_sine(y[3 * b + 2])
        gap = -sj * (y[3 * a] - y[3 * b]) + cj * (y[3 * a + 1] - y[3 * b + 1]) - solids.radius[i]
        if gap < -reach:
            return PENETRATING
        return note(solids, places, n, i, j, CENTRE, edge, LINE) if gap <= reach else n
    ci, si = cosine_and_sine(y[3 * a + 2])
    cj, sj = cosine_and_sine(y[3 * b + 2])
    for corner in range(solids.first[i], solids.first[i + 1]):
        dx = y[3 * a] - y[3 * b] + ci * solids.vertices[corner, 0] - si * solids.vertices[corner, 1]
        dy = y[3 * a + 1] - y[3 * b + 1] + si * solids.vertices[corner, 0] + ci * solids.vertices[corner, 1]
        gap = cj * dy - sj * dx
        if gap < -reach:
            return PENETRATING
        if gap <= reach:
            n = note(solids, places, n, i, j, np.int64(corner), edge, LINE)
    return n


@kernel
def pair_touches(solids, y, i, j, reach, places, n):
    """Places of one pair with |gap| <= reach; PENETRATING if it is deeper. Discs are i, hollows and half-planes j."""
    if solids.kind[j] in (BOWL, HOLLOW):
        return in_hollow(solids, y, i, j, reach, places, n)
    if solids.kind[i] == ROUNDED or solids.kind[j] == ROUNDED:
        return convex_rounded(solids, y, i, j, reach, places, n)
    if solids.kind[j] == HALF_PLANE:
        return on_half_plane(solids, y, i, j, reach, places, n)
    if solids.kind[i] == DISC and solids.kind[j] == DISC:
        a, b = solids.row[i], solids.row[j]
        dx, dy = y[3 * a] - y[3 * b], y[3 * a + 1] - y[3 * b + 1]
        gap = np.sqrt(dx * dx + dy * dy) - solids.radius[i] - solids.radius[j]
        if gap < -reach:
            return PENETRATING
        return note(solids, places, n, i, j, CENTRE, CENTRE, ROUND) if gap <= reach else n
    if solids.kind[i] == DISC:
        return disc_and_polygon(solids, y, i, j, reach, places, n)
    return polygons(solids, y, i, j, reach, places, n)


@kernel
def find_touching(solids, y, reach, places, work):
    """(places, pair): how many are in touch within `reach`, joints and taut ropes too; or (PENETRATING, pair).

    Connectors follow the pairs in number.
    """
    n = np.int64(0)
    for p in range(solids.pairs.shape[0]):
        i, j = solids.pairs[p, 0], solids.pairs[p, 1]
        if solids.kind[j] < HALF_PLANE:
            a, b = solids.row[i], solids.row[j]
            dx, dy = y[3 * a] - y[3 * b], y[3 * a + 1] - y[3 * b + 1]
            far = solids.radius[i] + solids.radius[j] + reach
            if dx * dx + dy * dy > far * far:
                continue
        found = pair_touches(solids, y, i, j, reach, places, n)
        if found == PENETRATING:
            return PENETRATING, np.int64(p)
        for k in range(n, min(found, places.id.shape[0])):
            places.id[k, PAIR] = p
            places.figure[k, FRICTION] = solids.pair_law[p, 0]
            places.figure[k, STATIC_FRICTION] = solids.pair_law[p, 1]
            places.figure[k, RESTITUTION] = solids.pair_law[p, 2]
        n = found
    for c in range(solids.connectors.shape[0]):
        if n < places.id.shape[0]:
            copy_place(solids.connectors, solids.connector_figures, c, places, n)
            if places.id[n, ROLE] == ROPE:
                measure(solids, y, places, n, work.geometry)
                if work.geometry[n, GAP] < -reach:
                    return PENETRATING, np.int64(solids.pairs.shape[0] + c)
                if work.geometry[n, GAP] > reach:
                    continue
        n += 1
    return n, np.int64(-1)


@kernel
def place_among(places, n, others, m):
    """Which of the first n places is place m of the others; -1 if none."""
    for k in range(n):
        if (
            places.id[k, KIND] == others.id[m, KIND]
            and places.id[k, P] == others.id[m, P]
            and places.id[k, Q] == others.id[m, Q]
            and places.id[k, PART_I] == others.id[m, PART_I]
            and places.id[k, PART_J] == others.id[m, PART_J]
        ):
            return np.int64(k)
    return np.int64(-1)

"""Which features of two bodies are in contact at one time.

Convex polygons touch along a point or a segment. Of all edges the one that best separates the bodies carries the
contact: the other body's corners on it, and where the two faces lie flush its own ends on the other face. A corner
against a corner touches the edge that best separates the bodies, so that it is held by one normal. Pieces with arcs:
`rounded`.
"""

import numpy as np

from reference_engine.compiler.kernels import kernel
from reference_engine.elementary_kernels import cosine_and_sine
from reference_engine.planar import layout as col
from reference_engine.planar.convex_pieces import BOWL, CONCAVE_ARC, DISC, HALF_PLANE, ROUNDED
from reference_engine.planar.features import OVER_END, height, note
from reference_engine.planar.layout import copy_contact
from reference_engine.planar.narrow_phase_arcs import PENETRATING, convex_rounded, in_concave_arc
from reference_engine.planar.rows import measure


@kernel
def best_edge(model, y, i, j):
    """(separation, edge of j) that best keeps i away."""
    best, at = -np.inf, np.int64(-1)
    for edge in range(model.first[j], model.first[j + 1]):
        least = np.inf
        for corner in range(model.first[i], model.first[i + 1]):
            gap, _ = height(model, y, i, corner, j, edge)
            least = min(least, gap)
        if least > best:
            best, at = least, np.int64(edge)
    return best, at


@kernel
def polygons(model, y, i, j, cutoff, contacts, n):
    """The edge that best separates the bodies carries the contact. If its corner is past its end (sides that are all

    but flush), it is the best edge of the other body that does.
    """
    apart_j, edge_j = best_edge(model, y, i, j)
    apart_i, edge_i = best_edge(model, y, j, i)
    if max(apart_i, apart_j) > cutoff:
        return n
    if max(apart_i, apart_j) < -cutoff:
        return PENETRATING
    found = n
    for turn in range(2):
        if (apart_j >= apart_i) == (turn == 0):
            if apart_j >= -cutoff:
                found = on_edge(model, y, i, j, edge_j, cutoff, contacts, n)
        elif apart_i >= -cutoff:
            found = on_edge(model, y, j, i, edge_i, cutoff, contacts, n)
        if found > n:
            return found
    return n


@kernel
def on_edge(model, y, i, j, edge, cutoff, contacts, n):
    """The corners of i on this edge of j, and where a face of i lies flush on it, the edge's ends on that face."""
    start, flush = n, np.int64(-1)
    for corner in range(model.first[i], model.first[i + 1]):
        gap, along = height(model, y, i, corner, j, edge)
        following = corner + 1 if corner + 1 < model.first[i + 1] else model.first[i]
        after, _ = height(model, y, i, following, j, edge)
        if gap <= cutoff:
            if after <= cutoff:
                flush = np.int64(corner)
            if -0.5 * OVER_END <= along <= model.lengths[edge] + 0.5 * OVER_END:
                n = note(model, contacts, n, i, j, np.int64(corner), edge, col.LINE)
    if flush < 0:
        return n
    last = edge + 1 if edge + 1 < model.first[j + 1] else model.first[j]
    for turn in range(2):
        corner = edge if turn == 0 else last
        _, along = height(model, y, j, corner, i, flush)
        if not 0.0 < along < model.lengths[flush]:
            continue
        beside = False  # the same place as a corner that is already on the edge
        for k in range(start, min(n, contacts.id.shape[0])):
            _, other = height(model, y, i, contacts.id[k, col.P], j, edge)
            here = 0.0 if turn == 0 else model.lengths[edge]
            beside = beside or abs(other - here) <= 1e-9
        if not beside:
            n = note(model, contacts, n, j, i, np.int64(corner), flush, col.LINE)
    return n


@kernel
def disc_and_polygon(model, y, i, j, cutoff, contacts, n):
    """Disc i: over an edge of j, or beyond a corner of it."""
    a, b = model.row[i], model.row[j]
    cj, sj = cosine_and_sine(y[3 * b + 2])
    dx, dy = y[3 * a] - y[3 * b], y[3 * a + 1] - y[3 * b + 1]
    bx, by = cj * dx + sj * dy, -sj * dx + cj * dy
    best, at = -np.inf, np.int64(-1)
    for edge in range(model.first[j], model.first[j + 1]):
        d = model.normals[edge, 0] * bx + model.normals[edge, 1] * by - model.offsets[edge]
        if d > best:
            best, at = d, np.int64(edge)
    if best - model.radius[i] > cutoff:
        return n
    for corner in range(model.first[j], model.first[j + 1]):
        previous = corner - 1 if corner > model.first[j] else model.first[j + 1] - 1
        rx, ry = bx - model.vertices[corner, 0], by - model.vertices[corner, 1]
        past_next = -model.normals[corner, 1] * rx + model.normals[corner, 0] * ry
        past_previous = -model.normals[previous, 1] * rx + model.normals[previous, 0] * ry
        if best > 0.0 and past_next < -0.5 * OVER_END and past_previous > 0.5 * OVER_END:
            gap = np.sqrt(rx * rx + ry * ry) - model.radius[i]
            if gap < -cutoff:
                return PENETRATING
            if gap <= cutoff:
                n = note(model, contacts, n, i, j, col.CENTRE, np.int64(corner), col.ROUND)
            return n
    if best - model.radius[i] < -cutoff:
        return PENETRATING
    return note(model, contacts, n, i, j, col.CENTRE, at, col.LINE)


@kernel
def on_half_plane(model, y, i, j, cutoff, contacts, n):
    edge, a, b = model.first[j], model.row[i], model.row[j]
    if model.kind[i] == DISC:
        cj, sj = cosine_and_sine(y[3 * b + 2])
        gap = -sj * (y[3 * a] - y[3 * b]) + cj * (y[3 * a + 1] - y[3 * b + 1]) - model.radius[i]
        if gap < -cutoff:
            return PENETRATING
        return note(model, contacts, n, i, j, col.CENTRE, edge, col.LINE) if gap <= cutoff else n
    ci, si = cosine_and_sine(y[3 * a + 2])
    cj, sj = cosine_and_sine(y[3 * b + 2])
    for corner in range(model.first[i], model.first[i + 1]):
        dx = y[3 * a] - y[3 * b] + ci * model.vertices[corner, 0] - si * model.vertices[corner, 1]
        dy = y[3 * a + 1] - y[3 * b + 1] + si * model.vertices[corner, 0] + ci * model.vertices[corner, 1]
        gap = cj * dy - sj * dx
        if gap < -cutoff:
            return PENETRATING
        if gap <= cutoff:
            n = note(model, contacts, n, i, j, np.int64(corner), edge, col.LINE)
    return n


@kernel
def contacts_of_pair(model, y, i, j, cutoff, contacts, n):
    """Places of one pair with |gap| <= reach; PENETRATING if it is deeper. Discs are i, concave arcs and half-planes

    j.
    """
    if model.kind[j] in (BOWL, CONCAVE_ARC):
        return in_concave_arc(model, y, i, j, cutoff, contacts, n)
    if model.kind[i] == ROUNDED or model.kind[j] == ROUNDED:
        return convex_rounded(model, y, i, j, cutoff, contacts, n)
    if model.kind[j] == HALF_PLANE:
        return on_half_plane(model, y, i, j, cutoff, contacts, n)
    if model.kind[i] == DISC and model.kind[j] == DISC:
        a, b = model.row[i], model.row[j]
        dx, dy = y[3 * a] - y[3 * b], y[3 * a + 1] - y[3 * b + 1]
        gap = np.sqrt(dx * dx + dy * dy) - model.radius[i] - model.radius[j]
        if gap < -cutoff:
            return PENETRATING
        return note(model, contacts, n, i, j, col.CENTRE, col.CENTRE, col.ROUND) if gap <= cutoff else n
    if model.kind[i] == DISC:
        return disc_and_polygon(model, y, i, j, cutoff, contacts, n)
    return polygons(model, y, i, j, cutoff, contacts, n)


@kernel
def find_contacts(model, y, cutoff, contacts, work):
    """(contacts, pair): how many are in contact within `cutoff`, joints and taut ropes too; or (PENETRATING, pair).

    Connectors follow the pairs in number.
    """
    n = np.int64(0)
    for p in range(model.pairs.shape[0]):
        i, j = model.pairs[p, 0], model.pairs[p, 1]
        if model.kind[j] < HALF_PLANE:
            a, b = model.row[i], model.row[j]
            dx, dy = y[3 * a] - y[3 * b], y[3 * a + 1] - y[3 * b + 1]
            far = model.radius[i] + model.radius[j] + cutoff
            if dx * dx + dy * dy > far * far:
                continue
        found = contacts_of_pair(model, y, i, j, cutoff, contacts, n)
        if found == PENETRATING:
            return PENETRATING, np.int64(p)
        for k in range(n, min(found, contacts.id.shape[0])):
            contacts.id[k, col.PAIR] = p
            for c in range(model.pair_coefficients.shape[1]):
                contacts.value[k, col.FRICTION + c] = model.pair_coefficients[p, c]
        n = found
    for c in range(model.connectors.shape[0]):
        if n < contacts.id.shape[0]:
            copy_contact(model.connectors, model.connector_values, c, contacts, n)
            if contacts.id[n, col.ROLE] == col.ROPE:
                measure(model, y, contacts, n, work.geometry)
                if work.geometry[n, col.GAP] < -cutoff:
                    return PENETRATING, np.int64(model.pairs.shape[0] + c)
                if work.geometry[n, col.GAP] > cutoff:
                    continue
        n += 1
    return n, np.int64(-1)


@kernel
def matching_contact(contacts, n, others, m):
    """Which of the first n contacts is contact m of the others; -1 if none."""
    for k in range(n):
        if (
            contacts.id[k, col.KIND] == others.id[m, col.KIND]
            and contacts.id[k, col.P] == others.id[m, col.P]
            and contacts.id[k, col.Q] == others.id[m, col.Q]
            and contacts.id[k, col.PIECE_I] == others.id[m, col.PIECE_I]
            and contacts.id[k, col.PIECE_J] == others.id[m, col.PIECE_J]
        ):
            return np.int64(k)
    return np.int64(-1)

"""Which features of two bodies are in contact at one time.

Convex polygons touch along a point or a segment. Of all edges the one that best separates the bodies carries the
contact: the other body's corners on it, and where the two faces lie flush its own ends on the other face. A corner
against a corner touches the edge that best separates the bodies, so that it is held by one normal.

Of pieces with arcs the line that best separates them, of all along straight edges and across the features of arcs,
carries the contact. Where arcs and edges join smoothly the joint is no corner: the arcs, their ends included, stand for
it. A concave arc touches corners and arcs of smaller radius inside its circle. Of an equal radius (within
RADIUS_TOLERANCE of it) its ends alone are felt.
"""

import numpy as np

from reference_engine.compiler.kernels import kernel
from reference_engine.elementary_kernels import cosine_and_sine
from reference_engine.planar import features
from reference_engine.planar import layout as col
from reference_engine.planar.convex_pieces import BOWL, CONCAVE_ARC, DISC, HALF_PLANE, ROUNDED
from reference_engine.planar.layout import copy_contact
from reference_engine.planar.rows import measure

PENETRATING = np.int64(-1)
BEHIND = 1e-9  # m, by which a feature is not the nearest
RADIUS_TOLERANCE = 1e-9  # of a radius: a smaller difference of radii is none
AT_EVENTS = 1e-9  # m, with no wider cutoff contacts are looked for at events; with a wider one to close their gaps
TIE = 1e-14  # m, times 1 + the size of i: an edge carries the contact rather than an arc that it goes over into


@kernel
def best_edge(model, y, i, j):
    """(separation, edge of j) that best keeps i away."""
    best, at = -np.inf, np.int64(-1)
    for edge in range(model.first[j], model.first[j + 1]):
        least = np.inf
        for corner in range(model.first[i], model.first[i + 1]):
            gap, _ = features.height(model, y, i, corner, j, edge)
            least = min(least, gap)
        if least > best:
            best, at = least, np.int64(edge)
    return best, at


@kernel
def polygons(model, y, i, j, cutoff, contacts, n):
    """On the edge that best separates them; if its corner is past its end (all but flush), on the other's best edge."""
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
                found = on_straight(model, y, i, j, edge_j, cutoff, 0.5 * features.OVER_END, contacts, n)
        elif apart_i >= -cutoff:
            found = on_straight(model, y, j, i, edge_i, cutoff, 0.5 * features.OVER_END, contacts, n)
        if found > n:
            return found
    return n


@kernel
def disc_and_polygon(model, y, i, j, cutoff, contacts, n):
    """Disc i: over an edge of j, or beyond a corner of it."""
    a, b = model.row[i], model.row[j]
    cj, sj = cosine_and_sine(y[3 * b + 2])
    dx, dy = y[3 * a] - y[3 * b], y[3 * a + 1] - y[3 * b + 1]
    bx, by = cj * dx + sj * dy, -sj * dx + cj * dy
    above, edge, corner = features.over_polygon(model, j, bx, by, 0.5 * features.OVER_END)
    if above - model.radius[i] > cutoff:
        return n
    if corner >= 0:
        rx, ry = bx - model.vertices[corner, 0], by - model.vertices[corner, 1]
        gap = np.sqrt(rx * rx + ry * ry) - model.radius[i]
        if gap < -cutoff:
            return PENETRATING
        return features.note(model, contacts, n, i, j, col.CENTRE, corner, col.ROUND) if gap <= cutoff else n
    if above - model.radius[i] < -cutoff:
        return PENETRATING
    return features.note(model, contacts, n, i, j, col.CENTRE, edge, col.LINE)


@kernel
def on_half_plane(model, y, i, j, cutoff, contacts, n):
    edge, a, b = model.first[j], model.row[i], model.row[j]
    if model.kind[i] == DISC:
        cj, sj = cosine_and_sine(y[3 * b + 2])
        gap = -sj * (y[3 * a] - y[3 * b]) + cj * (y[3 * a + 1] - y[3 * b + 1]) - model.radius[i]
        if gap < -cutoff:
            return PENETRATING
        return features.note(model, contacts, n, i, j, col.CENTRE, edge, col.LINE) if gap <= cutoff else n
    ci, si = cosine_and_sine(y[3 * a + 2])
    cj, sj = cosine_and_sine(y[3 * b + 2])
    for corner in range(model.first[i], model.first[i + 1]):
        dx = y[3 * a] - y[3 * b] + ci * model.vertices[corner, 0] - si * model.vertices[corner, 1]
        dy = y[3 * a + 1] - y[3 * b + 1] + si * model.vertices[corner, 0] + ci * model.vertices[corner, 1]
        gap = cj * dy - sj * dx
        if gap < -cutoff:
            return PENETRATING
        if gap <= cutoff:
            n = features.note(model, contacts, n, i, j, np.int64(corner), edge, col.LINE)
    return n


@kernel
def slack_of(cutoff):
    """How far from the end of a feature a contact may be [m]: where its gap is open yet, the body is to tilt a

    little.
    """
    return 0.5 * features.OVER_END if cutoff <= AT_EVENTS else 0.1 * cutoff


@kernel
def margin_of(model, feature, x, y, span):
    """How far inside the ends of a corner or arc the direction (x, y) lies, body axes [m]."""
    if features.is_arc(model, feature):
        return features.arc_margin(model, feature, x, y)
    return features.cone_margin(model, feature, x, y, span)


@kernel
def convex_rounded(model, y, i, j, cutoff, contacts, n):
    """Contacts of convex pieces, j perhaps a half-plane; PENETRATING if they overlap by more than the cutoff."""
    a, b = 3 * model.row[i], 3 * model.row[j]
    tx, ty, c, s = features.relative_pose(y[a], y[a + 1], y[a + 2], y[b], y[b + 1], y[b + 2])
    tie, slack = TIE * (1.0 + model.radius[i]), slack_of(cutoff)
    of_j = of_i = of_both = most = -np.inf
    edge_j = edge_i = p_both = q_both = np.int64(-1)
    for k in range(features.lines(model, i, j)):
        which, p, q, mx, my = features.line(model, i, j, tx, ty, c, s, k)
        if which == features.NO_LINE:
            continue
        apart = features.separation(model, i, j, tx, ty, c, s, mx, my)
        most = max(most, apart)
        if which == features.EDGE_OF_J and apart > of_j:
            of_j, edge_j = apart, q
        elif which == features.EDGE_OF_I and apart > of_i:
            of_i, edge_i = apart, p
        elif which == features.TANGENT_LINE and apart - tie > of_both:
            px, py = model.vertices[p, 0], model.vertices[p, 1]
            mp = mx * (tx + c * px - s * py) + my * (ty + s * px + c * py)
            span = mp - mx * model.vertices[q, 0] - my * model.vertices[q, 1]
            own = span - features.radius_of(model, i, p) - features.radius_of(model, j, q)
            if own > apart + BEHIND:  # another feature in line with these is nearer
                continue
            ux, uy = -c * mx - s * my, s * mx - c * my  # out of i, axes of i
            if features.is_left_out(model, j, q, mx, my) or features.is_left_out(model, i, p, ux, uy):
                continue
            if min(margin_of(model, q, mx, my, span), margin_of(model, p, ux, uy, span)) < -slack:
                continue
            of_both, p_both, q_both = apart - tie, p, q
    if most > cutoff:
        return n
    if most < -cutoff:
        return PENETRATING
    for _ in range(3):
        found, best = n, max(of_j, of_i, of_both)
        if best < -cutoff - tie:
            break
        if of_j == best:
            found, of_j = on_straight(model, y, i, j, edge_j, cutoff, slack, contacts, n), -np.inf
        elif of_i == best:
            found, of_i = on_straight(model, y, j, i, edge_i, cutoff, slack, contacts, n), -np.inf
        elif features.is_arc(model, p_both):
            return features.note(model, contacts, n, i, j, p_both, q_both, col.ROUND)
        else:
            return features.note(model, contacts, n, j, i, q_both, p_both, col.ROUND)
        if found > n:
            return found
    return n


@kernel
def on_straight(model, y, i, j, edge, cutoff, slack, contacts, n):
    """Corners and arcs of i on this straight edge of j; where an edge of i lies flush on it, its own ends on that."""
    start, flush, a, b = n, np.int64(-1), 3 * model.row[i], 3 * model.row[j]
    _, _, c, s = features.relative_pose(y[a], y[a + 1], y[a + 2], y[b], y[b + 1], y[b + 2])
    nx, ny = model.normals[edge, 0], model.normals[edge, 1]
    mx, my = -c * nx - s * ny, s * nx - c * ny  # out of i, axes of i
    least, most = -slack, model.lengths[edge] + slack
    if model.kind[j] == HALF_PLANE:
        least = -np.inf
    for corner in range(model.first[i], model.first[i + 1]):
        gap, along = features.height(model, y, i, corner, j, edge)
        if gap > cutoff:
            continue
        following = corner + 1 if corner + 1 < model.first[i + 1] else model.first[i]
        after, _ = features.height(model, y, i, following, j, edge)
        if after <= cutoff and model.straight[corner] == 1:
            flush = np.int64(corner)
        inside = model.smooth[corner] == 0 and features.cone_margin(model, corner, mx, my, 0.0) >= -slack
        if inside and least <= along <= most:
            n = features.note(model, contacts, n, i, j, np.int64(corner), edge, col.LINE)
    for m in range(model.arc_first[i], model.arc_first[i + 1]):
        gap, along = features.height(model, y, i, m, j, edge)
        if (
            gap - model.lengths[m] <= cutoff
            and least <= along <= most
            and features.arc_margin(model, m, mx, my) >= -slack
        ):
            n = features.note(model, contacts, n, i, j, np.int64(m), edge, col.LINE)
    if flush < 0 or model.kind[j] == HALF_PLANE:
        return n
    last = edge + 1 if edge + 1 < model.first[j + 1] else model.first[j]
    for turn in range(2):
        end = edge if turn == 0 else last
        _, along = features.height(model, y, j, end, i, flush)
        if not 0.0 < along < model.lengths[flush]:
            continue
        beside = False  # the same contact as a corner that is already on the edge
        for k in range(start, min(n, contacts.id.shape[0])):
            _, other = features.height(model, y, i, contacts.id[k, col.P], j, edge)
            beside = beside or abs(other - (0.0 if turn == 0 else model.lengths[edge])) <= 1e-9
        if not beside:
            feature = model.arcs[end, turn] if model.smooth[end] == 1 and model.arcs[end, turn] >= 0 else end
            n = features.note(model, contacts, n, j, i, np.int64(feature), flush, col.LINE)
    return n


@kernel
def in_concave_arc(model, y, i, j, cutoff, contacts, n):
    """Corners and arcs of i inside the circle of a bowl or concave arc j."""
    a, b, arc = 3 * model.row[i], 3 * model.row[j], model.arc_first[j]
    tx, ty, c, s = features.relative_pose(y[a], y[a + 1], y[a + 2], y[b], y[b + 1], y[b + 2])
    tx, ty, slack = tx - model.vertices[arc, 0], ty - model.vertices[arc, 1], slack_of(cutoff)
    feature_j = col.CENTRE if model.kind[j] == BOWL else arc
    corners = model.first[i + 1] - model.first[i]
    for k in range(corners + model.arc_first[i + 1] - model.arc_first[i]):
        p = model.first[i] + k if k < corners else model.arc_first[i] + k - corners
        own = model.lengths[p] if k >= corners else 0.0
        if own >= model.lengths[arc] * (1.0 - RADIUS_TOLERANCE) and model.kind[j] != BOWL:
            continue
        x = tx + c * model.vertices[p, 0] - s * model.vertices[p, 1]
        z = ty + s * model.vertices[p, 0] + c * model.vertices[p, 1]
        distance = np.sqrt(x * x + z * z)
        gap = model.lengths[arc] - own - distance
        if gap > cutoff or distance == 0.0 or features.arc_margin(model, arc, x, z) < -slack:
            continue
        mx, my = (c * x + s * z) / distance, (c * z - s * x) / distance  # out of i, axes of i
        if k >= corners and features.arc_margin(model, p, mx, my) < -slack:
            continue
        if gap < -cutoff:
            if model.kind[j] == BOWL or is_behind(model, j, arc, x, z, distance):
                return PENETRATING
            continue
        if k >= corners or (model.smooth[p] == 0 and features.cone_margin(model, p, mx, my, 0.0) >= -slack):
            n = features.note(model, contacts, n, i, j, np.int64(p), np.int64(feature_j), col.ROUND)
    return n


@kernel
def is_behind(model, j, arc, x, y, distance):
    """Is a point in the body of concave arc j, between its arc and the chain behind that? From the arc's centre."""
    radius = model.lengths[arc]
    if distance <= radius:
        return False
    for k in range(model.first[j], model.first[j + 1] - 1):
        ux, uy = model.vertices[k, 0] - model.vertices[arc, 0], model.vertices[k, 1] - model.vertices[arc, 1]
        vx = model.vertices[k + 1, 0] - model.vertices[arc, 0]
        vy = model.vertices[k + 1, 1] - model.vertices[arc, 1]
        if ux * y - uy * x <= 0.0 and x * vy - y * vx <= 0.0:  # the chain goes clockwise
            return (vx - ux) * (y - uy) - (vy - uy) * (x - ux) < 0.0
    return False


@kernel
def contacts_of_pair(model, y, i, j, cutoff, contacts, n):
    """Of one pair, |gap| <= cutoff; PENETRATING if it is deeper. Discs are i, concave arcs and half-planes are j."""
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
        return features.note(model, contacts, n, i, j, col.CENTRE, col.CENTRE, col.ROUND) if gap <= cutoff else n
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

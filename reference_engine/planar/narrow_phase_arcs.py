"""Which features of two parts are in touch at an instant, where one of the two has arcs.

Of all lines along straight edges and across the features of arcs, the one that best separates convex parts carries the
contact. Where arcs and edges join smoothly the joint is no corner: the arcs, their ends included, stand for it.
A hollow touches corners and arcs of smaller radius inside its circle. Of an equal radius (within ROUND_OFF of it) its
ends alone are felt.
"""

import numpy as np

from reference_engine.compiler.kernels import kernel
from reference_engine.planar.convex_pieces import BOWL, HALF_PLANE
from reference_engine.planar.features import (
    EDGE_OF_I,
    EDGE_OF_J,
    NO_LINE,
    OVER_END,
    TANGENT_LINE,
    arc_room,
    cone_room,
    height,
    is_arc,
    is_left_out,
    line,
    lines,
    note,
    radius_of,
    relative_pose,
    separation,
)
from reference_engine.planar.layout import CENTRE, LINE, ROUND, P

PENETRATING = np.int64(-1)
BEHIND = 1e-9  # m, by which a feature is not the nearest
ROUND_OFF = 1e-9  # of a radius: a smaller difference of radii is none
AT_EVENTS = 1e-9  # m, with no wider reach places are looked for at events; with a wider one to close their gaps
TIE = 1e-14  # m, times 1 + the size of i: an edge carries the contact rather than an arc that it goes over into


@kernel
def slack_of(reach):
    """How far from the end of a feature a place may be [m]: where its gap is open yet, the body is to tilt a little."""
    return 0.5 * OVER_END if reach <= AT_EVENTS else 0.1 * reach


@kernel
def room_of(solids, feature, x, y, span):
    """How far inside the ends of a corner or arc the direction (x, y) lies, body axes [m]."""
    if is_arc(solids, feature):
        return arc_room(solids, feature, x, y)
    return cone_room(solids, feature, x, y, span)


@kernel
def convex_rounded(solids, y, i, j, reach, places, n):
    """Places of convex parts, j perhaps a half-plane; PENETRATING if they overlap by more than reach."""
    a, b = 3 * solids.row[i], 3 * solids.row[j]
    tx, ty, c, s = relative_pose(y[a], y[a + 1], y[a + 2], y[b], y[b + 1], y[b + 2])
    tie, slack = TIE * (1.0 + solids.radius[i]), slack_of(reach)
    of_j = of_i = of_both = most = -np.inf
    edge_j = edge_i = p_both = q_both = np.int64(-1)
    for k in range(lines(solids, i, j)):
        which, p, q, mx, my = line(solids, i, j, tx, ty, c, s, k)
        if which == NO_LINE:
            continue
        apart = separation(solids, i, j, tx, ty, c, s, mx, my)
        most = max(most, apart)
        if which == EDGE_OF_J and apart > of_j:
            of_j, edge_j = apart, q
        elif which == EDGE_OF_I and apart > of_i:
            of_i, edge_i = apart, p
        elif which == TANGENT_LINE and apart - tie > of_both:
            px, py = solids.vertices[p, 0], solids.vertices[p, 1]
            mp = mx * (tx + c * px - s * py) + my * (ty + s * px + c * py)
            span = mp - mx * solids.vertices[q, 0] - my * solids.vertices[q, 1]
            own = span - radius_of(solids, i, p) - radius_of(solids, j, q)
            if own > apart + BEHIND:  # another feature in line with these is nearer
                continue
            ux, uy = -c * mx - s * my, s * mx - c * my  # out of i, axes of i
            if is_left_out(solids, j, q, mx, my) or is_left_out(solids, i, p, ux, uy):
                continue
            if min(room_of(solids, q, mx, my, span), room_of(solids, p, ux, uy, span)) < -slack:
                continue
            of_both, p_both, q_both = apart - tie, p, q
    if most > reach:
        return n
    if most < -reach:
        return PENETRATING
    for _ in range(3):
        found, best = n, max(of_j, of_i, of_both)
        if best < -reach - tie:
            break
        if of_j == best:
            found, of_j = on_straight(solids, y, i, j, edge_j, reach, places, n), -np.inf
        elif of_i == best:
            found, of_i = on_straight(solids, y, j, i, edge_i, reach, places, n), -np.inf
        elif is_arc(solids, p_both):
            return note(solids, places, n, i, j, p_both, q_both, ROUND)
        else:
            return note(solids, places, n, j, i, q_both, p_both, ROUND)
        if found > n:
            return found
    return n


@kernel
def on_straight(solids, y, i, j, edge, reach, places, n):
    """Corners and arcs of i on this straight edge of j; where an edge of i lies flush on it, its own ends on that."""
    start, flush, slack, a, b = n, np.int64(-1), slack_of(reach), 3 * solids.row[i], 3 * solids.row[j]
    _, _, c, s = relative_pose(y[a], y[a + 1], y[a + 2], y[b], y[b + 1], y[b + 2])
    nx, ny = solids.normals[edge, 0], solids.normals[edge, 1]
    mx, my = -c * nx - s * ny, s * nx - c * ny  # out of i, axes of i
    least, most = -slack, solids.lengths[edge] + slack
    if solids.kind[j] == HALF_PLANE:
        least = -np.inf
    for corner in range(solids.first[i], solids.first[i + 1]):
        gap, along = height(solids, y, i, corner, j, edge)
        if gap > reach:
            continue
        following = corner + 1 if corner + 1 < solids.first[i + 1] else solids.first[i]
        after, _ = height(solids, y, i, following, j, edge)
        if after <= reach and solids.straight[corner] == 1:
            flush = np.int64(corner)
        inside = solids.smooth[corner] == 0 and cone_room(solids, corner, mx, my, 0.0) >= -slack
        if inside and least <= along <= most:
            n = note(solids, places, n, i, j, np.int64(corner), edge, LINE)
    for m in range(solids.arc_first[i], solids.arc_first[i + 1]):
        gap, along = height(solids, y, i, m, j, edge)
        if gap - solids.lengths[m] <= reach and least <= along <= most and arc_room(solids, m, mx, my) >= -slack:
            n = note(solids, places, n, i, j, np.int64(m), edge, LINE)
    if flush < 0 or solids.kind[j] == HALF_PLANE:
        return n
    last = edge + 1 if edge + 1 < solids.first[j + 1] else solids.first[j]
    for turn in range(2):
        end = edge if turn == 0 else last
        _, along = height(solids, y, j, end, i, flush)
        if not 0.0 < along < solids.lengths[flush]:
            continue
        beside = False  # the same place as a corner that is already on the edge
        for k in range(start, min(n, places.id.shape[0])):
            _, other = height(solids, y, i, places.id[k, P], j, edge)
            beside = beside or abs(other - (0.0 if turn == 0 else solids.lengths[edge])) <= 1e-9
        if not beside:
            feature = solids.arcs[end, turn] if solids.smooth[end] == 1 and solids.arcs[end, turn] >= 0 else end
            n = note(solids, places, n, j, i, np.int64(feature), flush, LINE)
    return n


@kernel
def in_hollow(solids, y, i, j, reach, places, n):
    """Corners and arcs of i inside the circle of a bowl or hollow j."""
    a, b, arc = 3 * solids.row[i], 3 * solids.row[j], solids.arc_first[j]
    tx, ty, c, s = relative_pose(y[a], y[a + 1], y[a + 2], y[b], y[b + 1], y[b + 2])
    tx, ty, slack = tx - solids.vertices[arc, 0], ty - solids.vertices[arc, 1], slack_of(reach)
    feature_j = CENTRE if solids.kind[j] == BOWL else arc
    corners = solids.first[i + 1] - solids.first[i]
    for k in range(corners + solids.arc_first[i + 1] - solids.arc_first[i]):
        p = solids.first[i] + k if k < corners else solids.arc_first[i] + k - corners
        own = solids.lengths[p] if k >= corners else 0.0
        if own >= solids.lengths[arc] * (1.0 - ROUND_OFF) and solids.kind[j] != BOWL:
            continue
        x = tx + c * solids.vertices[p, 0] - s * solids.vertices[p, 1]
        z = ty + s * solids.vertices[p, 0] + c * solids.vertices[p, 1]
        distance = np.sqrt(x * x + z * z)
        gap = solids.lengths[arc] - own - distance
        if gap > reach or distance == 0.0 or arc_room(solids, arc, x, z) < -slack:
            continue
        mx, my = (c * x + s * z) / distance, (c * z - s * x) / distance  # out of i, axes of i
        if k >= corners and arc_room(solids, p, mx, my) < -slack:
            continue
        if gap < -reach:
            if solids.kind[j] == BOWL or is_behind(solids, j, arc, x, z, distance):
                return PENETRATING
            continue
        if k >= corners or (solids.smooth[p] == 0 and cone_room(solids, p, mx, my, 0.0) >= -slack):
            n = note(solids, places, n, i, j, np.int64(p), np.int64(feature_j), ROUND)
    return n


@kernel
def is_behind(solids, j, arc, x, y, distance):
    """Is a point in the body of hollow j, between its arc and the chain behind that? From the arc's centre."""
    radius = solids.lengths[arc]
    if distance <= radius:
        return False
    for k in range(solids.first[j], solids.first[j + 1] - 1):
        ux, uy = solids.vertices[k, 0] - solids.vertices[arc, 0], solids.vertices[k, 1] - solids.vertices[arc, 1]
        vx, vy = (
            solids.vertices[k + 1, 0] - solids.vertices[arc, 0],
            solids.vertices[k + 1, 1] - solids.vertices[arc, 1],
        )
        if ux * y - uy * x <= 0.0 and x * vy - y * vx <= 0.0:  # the chain goes clockwise
            return (vx - ux) * (y - uy) - (vy - uy) * (x - ux) < 0.0
    return False

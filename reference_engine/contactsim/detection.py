"""Where bodies meet: corners and points on arcs against edges, arcs against edges.

Between steps the old poses say which edge a corner has gone through, so that a fast body is seen even when it is
through already; without them only what is near now is found.
"""

import numpy as np

from reference_engine.compiler.kernels import entry, kernel
from reference_engine.contactsim import arrays as col
from reference_engine.contactsim import collision as row
from reference_engine.contactsim import edges
from reference_engine.contactsim.aliases import keep_best

LEAST_TRAVEL = 0.1  # m, taken for the way of a slow corner when it is looked for
CORNERS_APART = 1e-6  # m; nearer corners have no direction between them
CORNERS_NEAR = 0.6  # of the distance tolerance: further corners are no contact


@kernel
def begin(ids, values, k, kind, primary, normal, first, second):
    row.clear_row(ids, values, k)
    ids[k, row.KIND], ids[k, row.PRIMARY], ids[k, row.NORMAL] = kind, primary, normal
    ids[k, row.FIRST], ids[k, row.SECOND] = first, second


@kernel
def finish(o, bodies, ids, values, k, x, y, nx, ny):
    """Point and normal, given in the frame of the normal body; and the speed there."""
    row.set_row(bodies.frame, ids, values, k, x, y, nx, ny)
    row.set_speed(o, bodies, ids, values, k)


@kernel
def take_in(o, rules, bodies, ids, values, first, count):
    """Row `count`, just seen; returns how many there are then."""
    row.note_detection(rules, bodies, ids, values, count)
    return keep_best(o, rules, ids, values, first, count)


@kernel
def corner_contact(o, rules, bodies, e, v, x, y, ids, values, k):
    """Row k: corner v at (x, y) in the frame of edge e, within the tolerance of e or of an end of e. Is it one?"""
    i, j = o.corner_ids[v, col.CORNER_OWNER], o.edge_ids[e, col.OWNER]
    tolerance = rules.distance_tolerance
    if o.edge_ids[e, col.SHAPE] == col.ARC:
        cx, cy, gap = o.edge[e, col.CENTRE_X], o.edge[e, col.CENTRE_Y], edges.distance_to_line(o, e, x, y)
        if gap < 0.0 or gap > tolerance or not edges.is_on_arc(o, e, x - cx, y - cy):
            return False
        begin(ids, values, k, row.CORNER_EDGE, i, j, v, e)
        nx, ny = edges.normal_at(o, e, x, y)
        values[k, row.R1] = o.corner[v, col.CURVATURE]
        r = o.edge[e, col.SIGN] * o.edge[e, col.RADIUS] + gap  # the gap turns with the arc
        values[k, row.R2], values[k, row.GAP], ids[k, row.ROUND_NORMAL] = r, gap, 1
        finish(o, bodies, ids, values, k, cx + nx * r, cy + ny * r, nx, ny)
        return True
    if edges.is_across(o, e, x, y):
        gap = edges.distance_to_line(o, e, x, y)
        px, py = edges.nearest_on_line(o, e, x, y)
        if o.edge_ids[e, col.SHAPE] == col.VERTICAL:  # its ends may differ by a hair
            px = (o.edge[e, col.X1] + o.edge[e, col.X2]) / 2.0
            gap = o.edge[e, col.OUT_X] * (x - px)
        elif o.edge_ids[e, col.SHAPE] == col.HORIZONTAL:
            py = (o.edge[e, col.Y1] + o.edge[e, col.Y2]) / 2.0
            gap = o.edge[e, col.OUT_Y] * (y - py)
        if gap < 0.0 or gap > tolerance:
            return False
        begin(ids, values, k, row.CORNER_EDGE, i, j, v, e)
        values[k, row.R1], values[k, row.GAP] = o.corner[v, col.CURVATURE], gap
        finish(o, bodies, ids, values, k, px, py, o.edge[e, col.OUT_X], o.edge[e, col.OUT_Y])
        return True
    for end in range(2):
        px, py = o.edge[e, col.X1 + 2 * end], o.edge[e, col.Y1 + 2 * end]
        dx, dy = x - px, y - py
        gap = np.sqrt(dx * dx + dy * dy)
        if CORNERS_APART <= gap <= CORNERS_NEAR * tolerance:
            begin(ids, values, k, row.CORNER_CORNER, i, j, v, corner_at(o, e, end))
            values[k, row.R1], values[k, row.R2], values[k, row.GAP], ids[k, row.ROUND_NORMAL] = np.nan, gap, gap, 1
            finish(o, bodies, ids, values, k, px, py, dx / gap, dy / gap)
            return row.is_contact(rules, ids, values, k)  # fast corners are met by edges
    return False


@kernel
def corner_at(o, e, end):
    """The corner at the start (0) or end (1) of edge e."""
    j = o.edge_ids[e, col.OWNER]
    for v in range(o.owns[j, col.FIRST_CORNER], o.owns[j + 1, col.FIRST_CORNER]):
        if o.corner_ids[v, col.BEFORE + 1 - end] == e and o.corner_ids[v, col.AFTER] >= 0:
            return v
    return -1


@kernel
def is_near(o, e, x, y, distance):
    """Within this distance of the line of edge e, and if it is straight of its box?  What touches e is, if so far."""
    if abs(edges.distance_to_line(o, e, x, y)) > distance:
        return False
    if o.edge_ids[e, col.SHAPE] == col.ARC:
        return True
    x1, y1, x2, y2 = o.edge[e, col.X1], o.edge[e, col.Y1], o.edge[e, col.X2], o.edge[e, col.Y2]
    if x < min(x1, x2) - distance or x > max(x1, x2) + distance:
        return False
    return min(y1, y2) - distance <= y <= max(y1, y2) + distance


@kernel
def has_arc(o, i):
    for e in range(o.owns[i, col.FIRST_EDGE], o.owns[i + 1, col.FIRST_EDGE]):
        if o.edge_ids[e, col.SHAPE] == col.ARC:
            return True
    return False


@kernel
def corners_against(o, rules, bodies, j, i, ids, values, first, count):
    """Corners of body i against edges of body j. The rows of this pair begin at `first`."""
    tolerance, frame, at = rules.distance_tolerance, bodies.frame, bodies.crossing
    has_old = bodies.has_old[0] == 1
    mx, my = edges.to_world(frame, j, o.body[j, col.MIDDLE_X], o.body[j, col.MIDDLE_Y])
    live = o.owns[j, col.LIVE_EDGE]
    lx, ly = (0.0, 0.0) if live < 0 else edges.turned(frame, j, o.edge[live, col.OUT_X], o.edge[live, col.OUT_Y])
    for v in range(o.owns[i, col.FIRST_CORNER], o.owns[i + 1, col.FIRST_CORNER]):
        after = o.corner_ids[v, col.AFTER]
        if o.ignores[j, o.corner_ids[v, col.BEFORE]] == 1 and (after < 0 or o.ignores[j, after] == 1):
            continue
        wx, wy = edges.to_world(frame, i, o.corner[v, col.PX], o.corner[v, col.PY])
        x, y = edges.to_body(frame, j, wx, wy)
        old_x, old_y, travel = x, y, LEAST_TRAVEL
        if has_old:
            old_x, old_y = edges.to_other(bodies.old_frame, i, j, o.corner[v, col.PX], o.corner[v, col.PY])
            way = (x - old_x) ** 2 + (y - old_y) ** 2
            travel = np.sqrt(way) if way > LEAST_TRAVEL * LEAST_TRAVEL else LEAST_TRAVEL
        if live >= 0:
            if (wx - mx) * lx + (wy - my) * ly > o.body[j, col.BOUNDING_RADIUS] + tolerance:
                continue
        elif (wx - mx) ** 2 + (wy - my) ** 2 > (o.body[j, col.BOUNDING_RADIUS] + tolerance + travel) ** 2:
            continue
        if (
            (x < o.body[j, col.LEFT] - tolerance and old_x < o.body[j, col.LEFT])
            or (x > o.body[j, col.RIGHT] + tolerance and old_x > o.body[j, col.RIGHT])
            or (y < o.body[j, col.BOTTOM] - tolerance and old_y < o.body[j, col.BOTTOM])
            or (y > o.body[j, col.TOP] + tolerance and old_y > o.body[j, col.TOP])
        ):
            continue
        crossed, first_x, first_y, least = col.NONE, 0.0, 0.0, np.inf
        for e in range(o.owns[j, col.FIRST_EDGE], o.owns[j + 1, col.FIRST_EDGE]):
            if o.ignores[i, e] == 1:
                continue
            far = o.edge[e, col.EDGE_RADIUS] + tolerance + travel
            if (x - o.edge[e, col.MID_X]) ** 2 + (y - o.edge[e, col.MID_Y]) ** 2 > far * far:
                continue
            found = edges.crossings(o, e, x, y, old_x, old_y, at) if has_old else 0
            for k in range(found):
                way = np.sqrt((old_x - at[k, 0]) ** 2 + (old_y - at[k, 1]) ** 2)
                if way < least:
                    crossed, first_x, first_y, least = e, at[k, 0], at[k, 1], way
            if (
                found == 0
                and after >= 0
                and is_near(o, e, x, y, 2.0 * tolerance)
                and corner_contact(o, rules, bodies, e, v, x, y, ids, values, count)
            ):
                count = take_in(o, rules, bodies, ids, values, first, count)
        if crossed >= 0:
            begin(ids, values, count, row.CORNER_EDGE, i, j, v, crossed)
            nx, ny = edges.normal_at(o, crossed, first_x, first_y)
            values[count, row.R1] = o.corner[v, col.CURVATURE]
            values[count, row.GAP] = edges.distance_to_line(o, crossed, x, y)
            if o.edge_ids[crossed, col.SHAPE] == col.ARC:
                values[count, row.R2] = o.edge[crossed, col.SIGN] * o.edge[crossed, col.RADIUS]
                ids[count, row.ROUND_NORMAL] = 1
            finish(o, bodies, ids, values, count, first_x, first_y, nx, ny)
            count = take_in(o, rules, bodies, ids, values, first, count)
    return count


@kernel
def arc_against_line(o, rules, bodies, e, f, ids, values, k):
    """Row k: convex arc e near or through straight edge f. Is it one?"""
    frame, old_frame = bodies.frame, bodies.old_frame
    if o.edge[e, col.SIGN] < 0.0:
        return False
    i, j, r = o.edge_ids[e, col.OWNER], o.edge_ids[f, col.OWNER], o.edge[e, col.RADIUS]
    nx, ny = o.edge[f, col.OUT_X], o.edge[f, col.OUT_Y]
    cx, cy = edges.to_other(frame, i, j, o.edge[e, col.CENTRE_X], o.edge[e, col.CENTRE_Y])
    px, py = cx - r * nx, cy - r * ny
    gap = edges.distance_to_line(o, f, px, py)
    if gap > rules.distance_tolerance:
        return False
    ax, ay = edges.to_other(frame, j, i, px, py)
    faces = edges.is_on_arc(o, e, ax - o.edge[e, col.CENTRE_X], ay - o.edge[e, col.CENTRE_Y])
    if gap > 0.0:
        if not (edges.is_across(o, f, px, py) and faces):
            return False
        px, py = edges.nearest_on_line(o, f, cx, cy)
        r += gap  # the gap turns with the straight edge
    else:
        if bodies.has_old[0] == 0:
            return False
        ux, uy = edges.to_other(old_frame, i, j, o.edge[e, col.CENTRE_X], o.edge[e, col.CENTRE_Y])
        ux, uy = edges.to_other(old_frame, j, i, ux - r * nx, uy - r * ny)
        ux, uy = edges.nearest_by_angle(o, e, ux, uy)
        ux, uy = edges.to_other(old_frame, i, j, ux, uy)
        if edges.distance_to_line(o, f, ux, uy) < 0.0 or not faces:
            return False
        if edges.crossings(o, f, px, py, ux, uy, bodies.crossing) == 0:
            return False
    begin(ids, values, k, row.EDGE_EDGE, i, j, e, f)
    ids[k, row.ROUND_PRIMARY], values[k, row.R1], values[k, row.GAP] = 1, r, gap
    finish(o, bodies, ids, values, k, px, py, nx, ny)
    return True


@kernel
def arc_against_arc(o, rules, bodies, e, f, ids, values, k):
    """Row k: arc e near or in arc f, f defining the normal, and being the concave one if one is. Is it one?"""
    frame = bodies.frame
    if o.edge[e, col.SIGN] < 0.0 and o.edge[f, col.SIGN] < 0.0:
        return False
    if o.edge[e, col.SIGN] < 0.0:
        e, f = f, e
    i, j, concave = o.edge_ids[e, col.OWNER], o.edge_ids[f, col.OWNER], o.edge[f, col.SIGN] < 0.0
    if concave and o.edge[e, col.RADIUS] > o.edge[f, col.RADIUS]:
        return False
    ax, ay = edges.to_other(frame, j, i, o.edge[f, col.CENTRE_X], o.edge[f, col.CENTRE_Y])
    ax, ay = ax - o.edge[e, col.CENTRE_X], ay - o.edge[e, col.CENTRE_Y]
    if not (edges.is_opposite_arc(o, e, ax, ay) if concave else edges.is_on_arc(o, e, ax, ay)):
        return False
    bx, by = edges.to_other(frame, i, j, o.edge[e, col.CENTRE_X], o.edge[e, col.CENTRE_Y])
    bx, by = bx - o.edge[f, col.CENTRE_X], by - o.edge[f, col.CENTRE_Y]
    if not edges.is_on_arc(o, f, bx, by):
        return False
    apart = np.sqrt(bx * bx + by * by)
    gap = apart - (o.edge[e, col.RADIUS] + o.edge[f, col.RADIUS])
    if concave:
        gap = o.edge[f, col.RADIUS] - o.edge[e, col.RADIUS] - apart
    deepest = o.edge[e, col.DEPTH] if concave else max(o.edge[e, col.DEPTH], o.edge[f, col.DEPTH])
    if gap > rules.distance_tolerance or gap < -deepest:
        return False
    begin(ids, values, k, row.EDGE_EDGE, i, j, e, f)
    ids[k, row.ROUND_PRIMARY] = ids[k, row.ROUND_NORMAL] = 1
    half = gap / 2.0 if gap > 0.0 else 0.0  # half of the gap turns with each arc
    values[k, row.R1] = o.edge[e, col.RADIUS] + half
    values[k, row.R2], values[k, row.GAP] = o.edge[f, col.SIGN] * o.edge[f, col.RADIUS] + half, gap
    nx, ny, r, sign = bx * (1.0 / apart), by * (1.0 / apart), o.edge[f, col.RADIUS], o.edge[f, col.SIGN]
    x, y = o.edge[f, col.CENTRE_X] + nx * r, o.edge[f, col.CENTRE_Y] + ny * r
    finish(o, bodies, ids, values, k, x, y, sign * nx, sign * ny)
    return True


@kernel
def arcs_against(o, rules, bodies, i, j, ids, values, first, count):
    """Every edge of body i against every edge of body j, where one of the two is an arc."""
    frame = bodies.frame
    for e in range(o.owns[i, col.FIRST_EDGE], o.owns[i + 1, col.FIRST_EDGE]):
        for f in range(o.owns[j, col.FIRST_EDGE], o.owns[j + 1, col.FIRST_EDGE]):
            if o.edge_ids[e, col.SHAPE] != col.ARC and o.edge_ids[f, col.SHAPE] != col.ARC:
                continue
            if o.ignores[j, e] == 1 or o.ignores[i, f] == 1:
                continue
            ax, ay = edges.to_world(frame, i, o.edge[e, col.MID_X], o.edge[e, col.MID_Y])
            bx, by = edges.to_world(frame, j, o.edge[f, col.MID_X], o.edge[f, col.MID_Y])
            far = o.edge[e, col.EDGE_RADIUS] + o.edge[f, col.EDGE_RADIUS] + rules.distance_tolerance
            if (ax - bx) ** 2 + (ay - by) ** 2 >= far * far:
                continue
            if o.edge_ids[e, col.SHAPE] == col.ARC and o.edge_ids[f, col.SHAPE] == col.ARC:
                found = arc_against_arc(o, rules, bodies, e, f, ids, values, count)
            else:
                arc, line = (e, f) if o.edge_ids[e, col.SHAPE] == col.ARC else (f, e)
                found = arc_against_line(o, rules, bodies, arc, line, ids, values, count)
            if found:
                count = take_in(o, rules, bodies, ids, values, first, count)
    return count


@kernel
def may_meet(o, rules, bodies, i, j):
    """Are the circles about i and j within the tolerance, or are they too fast to tell?"""
    frame, twist = bodies.frame, bodies.twist
    speed = abs(twist[i, 0]) + abs(twist[i, 1]) + abs(twist[j, 0]) + abs(twist[j, 1])
    if speed * bodies.now[col.STEP] > 2.0 * (o.body[i, col.LEAST_HEIGHT] + o.body[j, col.LEAST_HEIGHT]):
        return True
    if o.owns[i, col.LIVE_EDGE] < 0 and o.owns[j, col.LIVE_EDGE] >= 0:
        i, j = j, i
    ax, ay = edges.to_world(frame, i, o.body[i, col.MIDDLE_X], o.body[i, col.MIDDLE_Y])
    bx, by = edges.to_world(frame, j, o.body[j, col.MIDDLE_X], o.body[j, col.MIDDLE_Y])
    far = o.body[i, col.BOUNDING_RADIUS] + o.body[j, col.BOUNDING_RADIUS] + rules.distance_tolerance
    if o.owns[i, col.LIVE_EDGE] >= 0:
        live = o.owns[i, col.LIVE_EDGE]
        nx, ny = edges.turned(frame, i, o.edge[live, col.OUT_X], o.edge[live, col.OUT_Y])
        return (bx - ax) * nx + (by - ay) * ny < far
    return (bx - ax) ** 2 + (by - ay) ** 2 < far * far


@entry
def find(o, rules, bodies, ids, values, count):
    """Adds to the `count` rows that there are every contact there is now; returns how many, or -1: no space."""
    edges.turn_frames(bodies.frame)
    if bodies.has_old[0] == 1:
        edges.turn_frames(bodies.old_frame)
    capacity, given = ids.shape[0] - o.connector_ids.shape[0] - 2, count  # rows of any pair
    for p in range(o.pairs.shape[0]):
        i, j = o.pairs[p, 0], o.pairs[p, 1]
        if not may_meet(o, rules, bodies, i, j):
            continue
        corners = o.owns[i + 1, col.FIRST_CORNER] - o.owns[i, col.FIRST_CORNER]
        corners += o.owns[j + 1, col.FIRST_CORNER] - o.owns[j, col.FIRST_CORNER]
        if count + 3 * corners > capacity:
            return -1
        first = 0 if given > 0 else count
        count = corners_against(o, rules, bodies, i, j, ids, values, first, count)
        count = corners_against(o, rules, bodies, j, i, ids, values, first, count)
        if has_arc(o, i) or has_arc(o, j):
            count = arcs_against(o, rules, bodies, i, j, ids, values, first, count)
    return row.add_connectors(o, rules, bodies, ids, values, count)


@entry
def least_gap(ids, values, count):
    """Of contacts that are not joints; negative if bodies penetrate. [m]"""
    least = np.inf
    for k in range(count):
        if ids[k, row.BILATERAL] == 0:
            least = min(least, values[k, row.GAP])
    return least

"""One row for each contact: where two bodies meet or are held together.

`ids` and `values` are the columns; rows keep the order in which they were found, connectors in front.
The normal points out of the normal body, to the primary one. Where an edge meets a corner, both arms go to the point
on the edge; on arcs the u arms go to the centre of the circle.
"""

import numpy as np

from reference_engine.compiler.kernels import entry, kernel
from reference_engine.contactsim import arrays as col
from reference_engine.contactsim import edges
from reference_engine.contactsim.paths import find_on_path, on_path

# ids
KIND, PRIMARY, NORMAL, FIRST, SECOND, BILATERAL, ROUND_PRIMARY, ROUND_NORMAL, STILL_NORMAL, MUST = range(10)
IDS = 10
# KIND; FIRST and SECOND name what of each body
CORNER_EDGE, CORNER_CORNER, EDGE_EDGE, CONNECTOR = (np.int64(kind) for kind in range(4))
# values
GAP, SPEED, NX, NY, AX, AY, BX, BY, U1X, U1Y, U2X, U2Y, R1, R2, SEEN, SEEN_SPEED, ESTIMATE, AMOUNT = range(18)
BY_LENGTH = 2  # ROUND_NORMAL of a path
VALUES = 18  # A, B: points on the primary and the normal body; R1, R2: radii, concave negative

SLOWEST = 1e-3  # m/s; slower approaches get no first estimate
SHORTEST = 1e-12  # s, and the least acceleration, for a better estimate


@kernel
def copy_row(ids, values, source, target):
    for c in range(IDS):
        ids[target, c] = ids[source, c]
    for c in range(VALUES):
        values[target, c] = values[source, c]


@kernel
def clear_row(ids, values, k):
    for c in range(IDS):
        ids[k, c] = 0
    for c in range(VALUES):
        values[k, c] = np.inf


@kernel
def set_row(frame, ids, values, k, x, y, nx, ny):
    """Point and normal, given in the frame of the normal body."""
    j = ids[k, NORMAL]
    values[k, AX], values[k, AY] = edges.to_world(frame, j, x, y)
    values[k, BX], values[k, BY] = values[k, AX], values[k, AY]
    values[k, NX], values[k, NY] = edges.turned(frame, j, nx, ny)


@kernel
def set_arms(o, frame, ids, values, k):
    """u arms: from the centres of mass to the points A and B, or to the centre of the circle of a round edge."""
    i, j = ids[k, PRIMARY], ids[k, NORMAL]
    x, y = values[k, AX], values[k, AY]
    if ids[k, KIND] == EDGE_EDGE and ids[k, ROUND_PRIMARY] == 1:
        e = ids[k, FIRST]
        x, y = edges.to_world(frame, i, o.edge[e, col.CENTRE_X], o.edge[e, col.CENTRE_Y])
    values[k, U1X], values[k, U1Y] = x - frame[i, col.X], y - frame[i, col.Y]
    x, y = values[k, BX], values[k, BY]
    if (ids[k, KIND] == EDGE_EDGE or ids[k, KIND] == CORNER_EDGE) and ids[k, ROUND_NORMAL] == 1:
        e = ids[k, SECOND]
        x, y = edges.to_world(frame, j, o.edge[e, col.CENTRE_X], o.edge[e, col.CENTRE_Y])
    values[k, U2X], values[k, U2Y] = x - frame[j, col.X], y - frame[j, col.Y]


@kernel
def set_speed(o, bodies, ids, values, k):
    """d gap / dt = n . (v1 + w1 x u1 - v2 - w2 x u2)."""
    twist = bodies.twist
    set_arms(o, bodies.frame, ids, values, k)
    i, j = ids[k, PRIMARY], ids[k, NORMAL]
    vx = twist[i, 0] - twist[i, 2] * values[k, U1Y] - (twist[j, 0] - twist[j, 2] * values[k, U2Y])
    vy = twist[i, 1] + twist[i, 2] * values[k, U1X] - (twist[j, 1] + twist[j, 2] * values[k, U2X])
    values[k, SPEED] = values[k, NX] * vx + values[k, NY] * vy


@kernel
def target_gap(rules, ids, k):
    return 0.0 if ids[k, BILATERAL] == 1 else rules.distance_tolerance / 2.0


@kernel
def note_detection(rules, bodies, ids, values, k):
    """When it was seen, how fast, and the first estimate of when the gap is the target: linear."""
    time = bodies.now[col.TIME]
    values[k, SEEN], values[k, SEEN_SPEED], values[k, ESTIMATE] = time, values[k, SPEED], np.nan
    if ids[k, BILATERAL] == 0 and values[k, SPEED] < -SLOWEST:
        values[k, ESTIMATE] = time + (target_gap(rules, ids, k) - values[k, GAP]) / values[k, SPEED]


@kernel
def is_contact(rules, ids, values, k):
    if ids[k, BILATERAL] == 1:
        return True
    return abs(values[k, SPEED]) < rules.velocity_tolerance and 0.0 < values[k, GAP] < rules.distance_tolerance


@kernel
def is_colliding(rules, ids, values, k):
    """Time has gone too far: penetration, or a fast approach with less than the window's gap left."""
    if ids[k, BILATERAL] == 1:
        return False
    fast = values[k, SPEED] < -rules.velocity_tolerance
    return values[k, GAP] < 0.0 or (fast and values[k, GAP] < target_gap(rules, ids, k) - rules.accuracy)


@kernel
def is_close(rules, ids, values, k, allow_tiny):
    if is_contact(rules, ids, values, k):
        return True
    target = target_gap(rules, ids, k)
    low = 0.0 if allow_tiny else target - rules.accuracy
    return low < values[k, GAP] < target + rules.accuracy


@kernel
def is_imminent(rules, ids, values, k):
    return (ids[k, MUST] == 1 or not is_contact(rules, ids, values, k)) and values[k, SPEED] < 0.0


@kernel
def set_connector(o, frame, ids, values, k):
    """Gap, normal and points of the connector of row k.

    Joint   gap = n . (A - B)
    rope    gap = length - |B - A|, n = (B - A) / |B - A|: a concave circle of that radius about A
    """
    c = ids[k, FIRST]
    i, j = o.connector_ids[c, col.END_1], o.connector_ids[c, col.END_2]
    ax, ay = edges.to_world(frame, i, o.connector[c, col.P1X], o.connector[c, col.P1Y])
    if o.connector_ids[c, col.CONNECTOR] >= col.ON_PATH:
        set_on_path(o, ids, values, k, ax, ay)
        return
    bx, by = edges.to_world(frame, j, o.connector[c, col.P2X], o.connector[c, col.P2Y])
    nx, ny = o.connector[c, col.JX], o.connector[c, col.JY]
    if o.connector_ids[c, col.CONNECTOR] == col.JOINT_TURNING:
        nx, ny = edges.turned(frame, j, nx, ny)
    if o.connector_ids[c, col.CONNECTOR] == col.JOINT_TURNING or o.connector_ids[c, col.CONNECTOR] == col.JOINT_STILL:
        gap = nx * (ax - bx) + ny * (ay - by)
    else:
        apart = np.sqrt((bx - ax) ** 2 + (by - ay) ** 2)
        nx, ny, gap = (bx - ax) / apart, (by - ay) / apart, o.connector[c, col.LENGTH] - apart
        ids[k, ROUND_PRIMARY] = ids[k, ROUND_NORMAL] = 1
        values[k, R1] = 0.0
        values[k, R2] = -o.connector[c, col.LENGTH] if o.connector_ids[c, col.CONNECTOR] == col.ROD else -apart
    values[k, GAP], values[k, NX], values[k, NY] = gap, nx, ny
    values[k, AX], values[k, AY], values[k, BX], values[k, BY] = ax, ay, bx, by


@kernel
def set_on_path(o, ids, values, k, x, y):
    """The same of a path: gap = n . (A - B) at its nearest point B, or what is left along it to its end.

    R1 and R2 are the derivative of the normal by the length.
    """
    c = ids[k, FIRST]
    find_on_path(o, c, col.AT, col.ALONG, x, y)
    bx, by, nx, ny, dnx, dny = on_path(o, c, x, y)
    if o.connector_ids[c, col.CONNECTOR] == col.ON_PATH:
        gap = nx * (x - bx) + ny * (y - by)
        ids[k, ROUND_NORMAL], values[k, R1], values[k, R2] = BY_LENGTH, dnx, dny
    else:
        upper = o.connector_ids[c, col.CONNECTOR] == col.UPPER_END
        gap = o.connector[c, col.LENGTH] - o.connector[c, col.ALONG]
        gap = gap if upper else -gap
        nx, ny = (-ny, nx) if upper else (ny, -nx)
    values[k, GAP], values[k, NX], values[k, NY] = gap, nx, ny
    values[k, AX], values[k, AY], values[k, BX], values[k, BY] = x, y, bx, by


@kernel
def is_absent(o, rules, bodies, ids, values, k):
    """A rope that is slack, or an end of a path that is not reached, or was passed before this step."""
    c = ids[k, FIRST]
    kind, gap = o.connector_ids[c, col.CONNECTOR], values[k, GAP]
    if kind == col.ROPE:
        return gap >= rules.distance_tolerance
    if kind != col.UPPER_END and kind != col.LOWER_END:
        return False
    if gap < 0.0:
        if bodies.has_old[0] == 0:
            return True
        x, y = edges.to_world(bodies.old_frame, ids[k, PRIMARY], o.connector[c, col.P1X], o.connector[c, col.P1Y])
        find_on_path(o, c, col.OLD_AT, col.OLD_ALONG, x, y)
        was = o.connector[c, col.LENGTH] - o.connector[c, col.OLD_ALONG]
        return (was if kind == col.UPPER_END else -was) < 0.0
    return gap >= rules.distance_tolerance


@kernel
def add_connectors(o, rules, bodies, ids, values, count):
    """Each in front of what there is."""
    at = 0
    for c in range(o.connector_ids.shape[0]):
        for k in range(count, 0, -1):
            copy_row(ids, values, k - 1, k)
        clear_row(ids, values, at)
        ids[at, KIND], ids[at, FIRST] = CONNECTOR, c
        ids[at, PRIMARY], ids[at, NORMAL] = o.connector_ids[c, col.END_1], o.connector_ids[c, col.END_2]
        kind = o.connector_ids[c, col.CONNECTOR]
        ids[at, BILATERAL] = 0 if kind in (col.ROPE, col.UPPER_END, col.LOWER_END) else 1
        ids[at, STILL_NORMAL] = 1 if o.connector_ids[c, col.CONNECTOR] == col.JOINT_STILL else 0
        set_connector(o, bodies.frame, ids, values, at)
        set_speed(o, bodies, ids, values, at)
        note_detection(rules, bodies, ids, values, at)
        count += 1
        if is_absent(o, rules, bodies, ids, values, at):
            count -= 1
            for k in range(count):
                copy_row(ids, values, k + 1, k)
    return count


@kernel
def put_round(o, frame, ids, values, k, rules):
    """Gap, normal and point of two edges, one at least round, as the bodies stand now."""
    e, f = ids[k, FIRST], ids[k, SECOND]
    i, j = ids[k, PRIMARY], ids[k, NORMAL]
    cx, cy = edges.to_other(frame, i, j, o.edge[e, col.CENTRE_X], o.edge[e, col.CENTRE_Y])
    if ids[k, ROUND_NORMAL] == 0:
        nx, ny = edges.normal_at(o, f, cx, cy)
        px, py = cx - o.edge[e, col.RADIUS] * nx, cy - o.edge[e, col.RADIUS] * ny
        rests = is_contact(rules, ids, values, k)
        values[k, GAP] = edges.distance_to_line(o, f, px, py)
        if rests:  # a contact is placed on the straight edge, an impact on the round one
            px, py = edges.nearest_on_line(o, f, cx, cy)
    else:
        if o.edge[e, col.SIGN] < 0.0 and o.edge[f, col.SIGN] < 0.0:
            return
        dx, dy = cx - o.edge[f, col.CENTRE_X], cy - o.edge[f, col.CENTRE_Y]
        apart = np.sqrt(dx * dx + dy * dy)
        nx, ny = dx * (1.0 / apart), dy * (1.0 / apart)
        px = o.edge[f, col.CENTRE_X] + nx * o.edge[f, col.RADIUS]
        py = o.edge[f, col.CENTRE_Y] + ny * o.edge[f, col.RADIUS]
        if o.edge[f, col.SIGN] > 0.0 and o.edge[e, col.SIGN] > 0.0:
            values[k, GAP] = apart - (o.edge[f, col.RADIUS] + o.edge[e, col.RADIUS])
        elif o.edge[f, col.SIGN] < 0.0:
            values[k, GAP] = o.edge[f, col.RADIUS] - o.edge[e, col.RADIUS] - apart
        else:
            values[k, GAP] = o.edge[e, col.RADIUS] - o.edge[f, col.RADIUS] - apart
        nx, ny = nx * o.edge[f, col.SIGN], ny * o.edge[f, col.SIGN]
    set_row(frame, ids, values, k, px, py, nx, ny)


@kernel
def put_corner(o, frame, ids, values, k):
    """The same of a corner and an edge, or of two corners."""
    i, j, v = ids[k, PRIMARY], ids[k, NORMAL], ids[k, FIRST]
    x, y = edges.to_other(frame, i, j, o.corner[v, col.PX], o.corner[v, col.PY])
    if ids[k, KIND] == CORNER_EDGE:
        e = ids[k, SECOND]
        px, py = edges.nearest_on_line(o, e, x, y)
        nx, ny = edges.normal_at(o, e, x, y)
        values[k, GAP] = edges.distance_to_line(o, e, x, y)
    else:
        px, py = o.corner[ids[k, SECOND], col.PX], o.corner[ids[k, SECOND], col.PY]
        values[k, GAP] = np.sqrt((x - px) ** 2 + (y - py) ** 2)
        nx, ny = (x - px) / values[k, GAP], (y - py) / values[k, GAP]
    set_row(frame, ids, values, k, px, py, nx, ny)


@kernel
def improve_estimate(rules, ids, values, k, time):
    """The gap with constant acceleration, from now and from the speed when seen: the first time at the target.

    0 = gap - target + u t + a t^2 / 2,  a = (u_seen - u) / (t_seen - now);  kept only strictly before t_seen
    """
    later, u = values[k, SEEN] - time, values[k, SPEED]
    if later <= SHORTEST:
        return
    a = (values[k, SEEN_SPEED] - u) / later
    if abs(a) < SHORTEST:
        return
    discriminant = u * u - 2.0 * a * (values[k, GAP] - target_gap(rules, ids, k))
    if discriminant < 0.0:
        return
    best = np.inf
    for sign in range(2):
        t = time + (-u + (np.sqrt(discriminant) if sign == 0 else -np.sqrt(discriminant))) / a
        if time < t < values[k, SEEN]:
            best = min(best, t)
    if best < np.inf:
        values[k, ESTIMATE] = best


@entry
def update(o, rules, bodies, ids, values, count):
    """Rows 0..count-1 as the bodies stand and move now."""
    frame = bodies.frame
    edges.turn_frames(frame)
    for k in range(count):
        if ids[k, KIND] == CONNECTOR:
            set_connector(o, frame, ids, values, k)
        elif ids[k, KIND] == EDGE_EDGE:
            put_round(o, frame, ids, values, k, rules)
        else:
            put_corner(o, frame, ids, values, k)
        set_speed(o, bodies, ids, values, k)
        if is_imminent(rules, ids, values, k):
            improve_estimate(rules, ids, values, k, bodies.now[col.TIME])
        else:
            values[k, ESTIMATE] = np.nan


@entry
def classify(rules, ids, values, count, allow_tiny, out):
    """out (count, 4): colliding, contact, imminent, to be handled here and now."""
    for k in range(count):
        out[k, 0] = is_colliding(rules, ids, values, k)
        out[k, 1] = is_contact(rules, ids, values, k)
        out[k, 2] = is_imminent(rules, ids, values, k)
        out[k, 3] = out[k, 2] and is_close(rules, ids, values, k, allow_tiny)

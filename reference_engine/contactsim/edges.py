"""Edges in the frame of their body: how far a point is, what point is nearest, where a path crosses.

Straight edges: n outward, d(p) = n . (p - v1).  Arcs: s = +1 convex, -1 concave, d(p) = s (|p - c| - r),
n(p) = s (p - c) / |p - c|.
"""

import numpy as np

from reference_engine.compiler.kernels import kernel
from reference_engine.contactsim import arrays as col
from reference_engine.elementary_kernels import angle_of
from reference_engine.trigonometry import sine_and_cosine

END = 1e-14  # m; by this much an edge and a path go on past their ends, lest they slip through where they meet
PARALLEL = 1e-16  # m of width, or difference of slopes
UPRIGHT_PATH = 1e-10  # m of width


@kernel
def to_world(frame, i, x, y):
    """x_i + R_i (p - c_i), c_i the centre of mass in the frame of the body."""
    x, y = turned(frame, i, x - frame[i, col.CX], y - frame[i, col.CY])
    return frame[i, col.X] + x, frame[i, col.Y] + y


@kernel
def to_body(frame, i, x, y):
    """c_i + R_i^T (p - x_i)."""
    dx, dy, c, s = x - frame[i, col.X], y - frame[i, col.Y], frame[i, col.COSINE], frame[i, col.SINE]
    return frame[i, col.CX] + (dx * c + dy * s), frame[i, col.CY] + (dy * c - dx * s)


@kernel
def to_other(frame, i, j, x, y):
    """A point of body i in the frame of body j."""
    x, y = to_world(frame, i, x, y)
    return to_body(frame, j, x, y)


@kernel
def turned(frame, i, x, y):
    """R_i v."""
    c, s = frame[i, col.COSINE], frame[i, col.SINE]
    return x * c - y * s, x * s + y * c


@kernel
def turn_frames(frame):
    """Cosines and sines of the angles."""
    for i in range(frame.shape[0]):
        frame[i, col.SINE], frame[i, col.COSINE] = sine_and_cosine(frame[i, col.ANGLE])


@kernel
def distance_to_line(o, e, x, y):
    """From the whole line or circle of edge e, negative inside the body."""
    if o.edge_ids[e, col.SHAPE] == col.ARC:
        h = np.sqrt((x - o.edge[e, col.CENTRE_X]) ** 2 + (y - o.edge[e, col.CENTRE_Y]) ** 2)
        return o.edge[e, col.SIGN] * (h - o.edge[e, col.RADIUS])
    if o.edge_ids[e, col.SHAPE] == col.SLANTED:
        qx, qy = nearest_on_slanted(o, e, x, y)
        dx, dy = x - qx, y - qy
        d = np.sqrt(dx * dx + dy * dy)
        return d if (y >= qy) == (o.edge[e, col.OUT_Y] > 0.0) else -d
    return o.edge[e, col.OUT_X] * (x - o.edge[e, col.X1]) + o.edge[e, col.OUT_Y] * (y - o.edge[e, col.Y1])


@kernel
def nearest_on_slanted(o, e, x, y):
    """Where the perpendicular through (x, y), of slope -1 / k, meets the line y - y1 = k (x - x1)."""
    x1, y1 = o.edge[e, col.X1], o.edge[e, col.Y1]
    k = (o.edge[e, col.Y2] - y1) / (o.edge[e, col.X2] - x1)
    qx = (-y1 + y + x / k + k * x1) / (1.0 / k + k)
    return qx, y1 + k * (qx - x1)


@kernel
def normal_at(o, e, x, y):
    if o.edge_ids[e, col.SHAPE] == col.ARC:
        dx, dy = x - o.edge[e, col.CENTRE_X], y - o.edge[e, col.CENTRE_Y]
        h = np.sqrt(dx * dx + dy * dy)
        return dx * (o.edge[e, col.SIGN] * (1.0 / h)), dy * (o.edge[e, col.SIGN] * (1.0 / h))
    return o.edge[e, col.OUT_X], o.edge[e, col.OUT_Y]


@kernel
def nearest_on_line(o, e, x, y):
    if o.edge_ids[e, col.SHAPE] == col.ARC:
        nx, ny = normal_at(o, e, x, y)
        r = o.edge[e, col.SIGN] * o.edge[e, col.RADIUS]
        return o.edge[e, col.CENTRE_X] + nx * r, o.edge[e, col.CENTRE_Y] + ny * r
    if o.edge_ids[e, col.SHAPE] == col.VERTICAL:
        return o.edge[e, col.X1], y
    if o.edge_ids[e, col.SHAPE] == col.HORIZONTAL:
        return x, o.edge[e, col.Y1]
    return nearest_on_slanted(o, e, x, y)


@kernel
def is_across(o, e, x, y):
    """Does the point lie across from a straight edge, between the perpendiculars at its ends?"""
    x1, y1, x2, y2 = o.edge[e, col.X1], o.edge[e, col.Y1], o.edge[e, col.X2], o.edge[e, col.Y2]
    if o.edge_ids[e, col.SHAPE] == col.VERTICAL:
        return min(y1, y2) <= y <= max(y1, y2)
    qx, _ = nearest_on_line(o, e, x, y)
    return min(x1, x2) <= qx <= max(x1, x2)


@kernel
def is_on_arc(o, e, dx, dy):
    """Does the direction (dx, dy) from the centre of arc e meet it?"""
    if o.edge_ids[e, col.WHOLE] == 1:
        return True
    angle = angle_of(dy, dx)
    if angle < o.edge[e, col.LOW]:
        angle += 2.0 * np.pi
    return o.edge[e, col.LOW] <= angle <= o.edge[e, col.HIGH]


@kernel
def is_opposite_arc(o, e, dx, dy):
    """The same for the arc reflected through its centre."""
    low = o.edge[e, col.LOW] + np.pi
    angle = angle_of(dy, dx)
    while angle < low:
        angle += 2.0 * np.pi
    return angle <= o.edge[e, col.HIGH] + np.pi


@kernel
def nearest_by_angle(o, e, x, y):
    """The point itself if its direction meets arc e, else the end of e that is nearer in angle."""
    angle = angle_of(y - o.edge[e, col.CENTRE_Y], x - o.edge[e, col.CENTRE_X])
    low, high, turn = o.edge[e, col.LOW], o.edge[e, col.HIGH], 2.0 * np.pi
    ahead = angle + (turn if angle < low else 0.0)
    if low <= ahead <= high:
        return x, y
    before = low - angle if angle < low else low - (angle - turn)
    after = angle - high if angle > high else turn + angle - high
    end = low if before < after else high
    r = o.edge[e, col.RADIUS]
    sine, cosine = sine_and_cosine(end)
    return r * cosine + o.edge[e, col.CENTRE_X], r * sine + o.edge[e, col.CENTRE_Y]


@kernel
def within(a, b, value):
    return min(a, b) - END <= value <= max(a, b) + END


@kernel
def crossing_of_line(o, e, x, y, old_x, old_y, at):
    """Where the path from old to now crosses straight edge e, into at[0]; returns how many, 0 or 1."""
    x1, y1, x2, y2 = o.edge[e, col.X1], o.edge[e, col.Y1], o.edge[e, col.X2], o.edge[e, col.Y2]
    if max(x, old_x) < min(x1, x2) or min(x, old_x) > max(x1, x2):
        return 0
    if max(y, old_y) < min(y1, y2) or min(y, old_y) > max(y1, y2):
        return 0
    upright, path_upright = abs(x2 - x1) < PARALLEL, abs(old_x - x) < PARALLEL
    if upright and path_upright:
        return 0
    if upright:
        qx = x1
        qy = (old_y - y) / (old_x - x) * (qx - x) + y
    elif path_upright:
        qx = x
        qy = (y2 - y1) / (x2 - x1) * (qx - x1) + y1
    else:
        k1, k2 = (y2 - y1) / (x2 - x1), (old_y - y) / (old_x - x)
        if abs(k2 - k1) < PARALLEL:
            return 0
        if abs(k2) < PARALLEL:
            qy = (y + old_y) / 2.0
            qx = (qy - y1) / k1 + x1
        elif abs(k1) < PARALLEL:
            qy = (y1 + y2) / 2.0
            qx = (qy - y) / k2 + x
        else:
            qx = (k2 * x - k1 * x1 - y + y1) / (k2 - k1)
            qy = k1 * (qx - x1) + y1
    if within(x1, x2, qx) and within(y1, y2, qy) and within(x, old_x, qx) and within(y, old_y, qy):
        at[0, 0], at[0, 1] = qx, qy
        return 1
    return 0


@kernel
def crossings_of_arc(o, e, x, y, old_x, old_y, at):
    """Where the path from now to old meets arc e; returns how many, up to 2.

    In the frame of the centre: y = k x + d and x^2 + y^2 = r^2, so (1 + k^2) x = -k d +- sqrt((1 + k^2) r^2 - d^2)
    """
    cx, cy, r = o.edge[e, col.CENTRE_X], o.edge[e, col.CENTRE_Y], o.edge[e, col.RADIUS]
    px, py, qx, qy = x - cx, y - cy, old_x - cx, old_y - cy
    upright = abs(qx - px) < UPRIGHT_PATH
    k, d, root, scale = 0.0, 0.0, 0.0, 1.0
    if upright:
        ax = (px + qx) / 2.0
        if abs(ax) > r:
            return 0
        root = np.sqrt(r * r - ax * ax)
    else:
        k = (qy - py) / (qx - px)
        scale, d = 1.0 + k * k, py - k * px
        root = scale * r * r - d * d
        if root < 0.0:
            return 0
        root = np.sqrt(root)
    count = 0
    for side in range(2):
        if upright:
            ay = root if side == 0 else -root
        elif side == 0:
            ax, ay = -(k * d + root) / scale, (d - k * root) / scale
        else:
            ax, ay = (k * (-d) + root) / scale, (d + k * root) / scale
        inside = min(py, qy) <= ay <= max(py, qy) and (upright or min(px, qx) <= ax <= max(px, qx))
        if inside and is_on_arc(o, e, ax, ay):
            at[count, 0], at[count, 1] = ax + cx, ay + cy
            count += 1
    return count


@kernel
def crossings(o, e, x, y, old_x, old_y, at):
    if o.edge_ids[e, col.SHAPE] == col.ARC:
        return crossings_of_arc(o, e, x, y, old_x, old_y, at)
    return crossing_of_line(o, e, x, y, old_x, old_y, at)

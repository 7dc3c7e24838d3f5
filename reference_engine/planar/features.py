"""Features of pieces: corners, straight edges and arcs; how far contacts on them are from their ends.

Rows of Model.vertices: a corner or the edge that starts there, and after all corners the arcs, each as its centre.
"""

import numpy as np

from reference_engine.compiler.kernels import kernel
from reference_engine.elementary_kernels import angle_of, cosine_and_sine
from reference_engine.planar import layout as col
from reference_engine.planar.convex_pieces import BOWL, CONCAVE_ARC, HALF_PLANE

OVER_END = 1e-12  # m, how far past the end of an edge a corner has slid off it
NO_LINE, EDGE_OF_J, EDGE_OF_I, TANGENT_LINE = (np.int64(k) for k in range(4))


@kernel
def note(model, contacts, n, i, j, feature_i, feature_j, kind):
    """n + 1 even where there is no space, so that the caller sees it. i, j: convex pieces."""
    if n < contacts.id.shape[0]:
        contacts.id[n, col.BODY_I], contacts.id[n, col.BODY_J] = model.row[i], model.row[j]
        contacts.id[n, col.PIECE_I], contacts.id[n, col.PIECE_J] = i, j
        contacts.id[n, col.P], contacts.id[n, col.Q], contacts.id[n, col.KIND] = feature_i, feature_j, kind
        contacts.id[n, col.ROLE], contacts.id[n, col.MODE], contacts.id[n, col.PAIR] = col.CONTACT, 0, -1
        contacts.id[n, col.PRESSES], contacts.id[n, col.HAS_FRICTION] = 1, 0
        contacts.value[n, col.R1] = radius_of(model, i, feature_i)
        contacts.value[n, col.R2], contacts.value[n, col.SIGMA] = 0.0, 1.0
        if kind == col.ROUND:
            contacts.value[n, col.R2] = radius_of(model, j, feature_j)
            if model.kind[j] == BOWL or model.kind[j] == CONCAVE_ARC:
                contacts.value[n, col.R2], contacts.value[n, col.SIGMA] = -contacts.value[n, col.R2], -1.0
    return n + 1


@kernel
def is_arc(model, feature):
    """Of the features of pieces."""
    return feature >= model.arc_first[0]


@kernel
def radius_of(model, piece, feature):
    """Of the rounding about a feature: of a disc as a whole, of an arc; 0 of a corner."""
    if feature < 0:
        return model.radius[piece]
    return model.lengths[feature] if is_arc(model, feature) else 0.0


@kernel
def arc_margin(model, m, x, y):
    """How far inside the ends of arc m, along it, its point in the direction (x, y) lies, body axes [m]."""
    mx, my = model.normals[m, 0], model.normals[m, 1]
    return (model.offsets[m] - abs(angle_of(mx * y - my * x, mx * x + my * y))) * model.lengths[m]


@kernel
def cone_margin(model, corner, x, y, span):
    """How far inside the cone of normals at a corner a unit direction lies, body axes [m]: at `span` from the corner,

    at an arc along it. With span 0 only arcs count.
    """
    before, after = model.arcs[corner, col.BEFORE], model.arcs[corner, col.AFTER]
    least = np.inf
    if before >= 0 or span > 0.0:
        past = model.cone[corner, col.BEFORE_X] * y - model.cone[corner, col.BEFORE_Y] * x
        least = past * (span + (model.lengths[before] if before >= 0 else 0.0))
    if after >= 0 or span > 0.0:
        past = model.cone[corner, col.AFTER_Y] * x - model.cone[corner, col.AFTER_X] * y
        least = min(least, past * (span + (model.lengths[after] if after >= 0 else 0.0)))
    return least


@kernel
def distance_to_end(model, y, contacts, k, G):
    """How far the contact of contact k is from the end of a feature that carries it [m]; infinite where it has none."""
    p, q, kind = contacts.id[k, col.P], contacts.id[k, col.Q], contacts.id[k, col.KIND]
    if contacts.id[k, col.ROLE] != col.CONTACT:
        return np.inf
    least, a, b, piece = np.inf, contacts.id[k, col.BODY_I], contacts.id[k, col.BODY_J], contacts.id[k, col.PIECE_J]
    nx, ny = G[k, col.NX], G[k, col.NY]
    if p >= 0:
        c, s = cosine_and_sine(y[3 * a + 2])
        x, z = -c * nx - s * ny, s * nx - c * ny
        least = arc_margin(model, p, x, z) if is_arc(model, p) else cone_margin(model, p, x, z, 0.0)
    if q >= 0 and kind == col.LINE and model.kind[piece] != HALF_PLANE:
        least = min(least, G[k, col.ALONG], model.lengths[q] - G[k, col.ALONG])
    elif q >= 0 and kind == col.ROUND:
        c, s = cosine_and_sine(y[3 * b + 2])
        sign = contacts.value[k, col.SIGMA]
        x, z = sign * (c * nx + s * ny), sign * (c * ny - s * nx)
        if is_arc(model, q):
            least = min(least, arc_margin(model, q, x, z))
        else:
            least = min(least, cone_margin(model, q, x, z, G[k, col.SPAN]))
    return least


@kernel
def height(model, y, i, corner, j, edge):
    """(gap, along): of a corner (or centre) of i above the line of an edge of j, and past the edge's start."""
    i, j = model.row[i], model.row[j]
    ci, si = cosine_and_sine(y[3 * i + 2])
    cj, sj = cosine_and_sine(y[3 * j + 2])
    dx = y[3 * i] - y[3 * j] + ci * model.vertices[corner, 0] - si * model.vertices[corner, 1]
    dy = y[3 * i + 1] - y[3 * j + 1] + si * model.vertices[corner, 0] + ci * model.vertices[corner, 1]
    bx, by = cj * dx + sj * dy, -sj * dx + cj * dy
    mx, my = model.normals[edge, 0], model.normals[edge, 1]
    along = -my * (bx - model.vertices[edge, 0]) + mx * (by - model.vertices[edge, 1])
    return mx * bx + my * by - model.offsets[edge], along


@kernel
def relative_pose(xi, yi, angle_i, xj, yj, angle_j):
    """(x, y, cos, sin) of i in axes of j."""
    c, s = cosine_and_sine(angle_j)
    dx, dy, turned = xi - xj, yi - yj, angle_i - angle_j
    cosine, sine = cosine_and_sine(turned)
    return c * dx + s * dy, c * dy - s * dx, cosine, sine


@kernel
def lowest(model, i, mx, my):
    """The least of m . p over the points p of convex piece i, body axes; of a half-plane for its own normal alone."""
    least = np.inf
    for corner in range(model.first[i], model.first[i + 1]):
        least = min(least, mx * model.vertices[corner, 0] + my * model.vertices[corner, 1])
    for m in range(model.arc_first[i], model.arc_first[i + 1]):
        if arc_margin(model, m, -mx, -my) >= 0.0:
            least = min(least, mx * model.vertices[m, 0] + my * model.vertices[m, 1] - model.lengths[m])
    return least


@kernel
def separation(model, i, j, x, y, c, s, mx, my):
    """How far the direction m, axes of j, keeps convex piece i above j; i has the pose (x, y, c, s) in axes of j."""
    above = lowest(model, i, c * mx + s * my, c * my - s * mx)
    return above + mx * x + my * y + lowest(model, j, -mx, -my)


@kernel
def lines(model, i, j):
    """How many lines are looked at between convex pieces: along edges of j and i, and at rounded features of both."""
    corners_j = model.first[j + 1] - model.first[j]
    if model.kind[j] == HALF_PLANE:
        return corners_j
    corners_i = model.first[i + 1] - model.first[i]
    arcs_i, arcs_j = model.arc_first[i + 1] - model.arc_first[i], model.arc_first[j + 1] - model.arc_first[j]
    return corners_j + corners_i + arcs_i * (arcs_j + corners_j) + corners_i * arcs_j


@kernel
def line(model, i, j, x, y, c, s, k):
    """(which, feature of i, feature of j, m): line k of `lines` and its normal m from j to i, axes of j.

    TANGENT_LINE: across the line from a feature of j to one of i, one of them an arc at least; -1: of an edge alone.
    """
    none = np.int64(-1)
    corners_j, corners_i = model.first[j + 1] - model.first[j], model.first[i + 1] - model.first[i]
    arcs_i, arcs_j = model.arc_first[i + 1] - model.arc_first[i], model.arc_first[j + 1] - model.arc_first[j]
    if k < corners_j:
        q = model.first[j] + k
        which = EDGE_OF_J if model.straight[q] == 1 else NO_LINE
        return which, none, q, model.normals[q, 0], model.normals[q, 1]
    k -= corners_j
    if k < corners_i:
        p = model.first[i] + k
        nx, ny = model.normals[p, 0], model.normals[p, 1]
        return EDGE_OF_I if model.straight[p] == 1 else NO_LINE, p, none, s * ny - c * nx, -s * nx - c * ny
    k -= corners_i
    if k < arcs_i * (arcs_j + corners_j):
        p, q = model.arc_first[i] + k // (arcs_j + corners_j), k % (arcs_j + corners_j)
        q = model.arc_first[j] + q if q < arcs_j else model.first[j] + q - arcs_j
    else:
        k -= arcs_i * (arcs_j + corners_j)
        p, q = model.first[i] + k // arcs_j, model.arc_first[j] + k % arcs_j
    mx = x + c * model.vertices[p, 0] - s * model.vertices[p, 1] - model.vertices[q, 0]
    my = y + s * model.vertices[p, 0] + c * model.vertices[p, 1] - model.vertices[q, 1]
    distance = np.sqrt(mx * mx + my * my)
    if distance == 0.0:
        return NO_LINE, p, q, 0.0, 0.0
    return TANGENT_LINE, p, q, mx / distance, my / distance


@kernel
def is_left_out(model, piece, corner, x, y):
    """A smooth corner; and one in a direction in which the arc of another piece of the same body is nearer."""
    if is_arc(model, corner):
        return False
    if model.smooth[corner] == 1:
        return True
    before, after = model.arcs[corner, col.BEFORE], model.arcs[corner, col.AFTER]
    if model.arc_first[piece] <= before < model.arc_first[piece + 1]:
        before = np.int64(-1)
    if model.arc_first[piece] <= after < model.arc_first[piece + 1]:
        after = np.int64(-1)
    past_before = model.cone[corner, col.BEFORE_Y] * x - model.cone[corner, col.BEFORE_X] * y
    past_after = model.cone[corner, col.AFTER_X] * y - model.cone[corner, col.AFTER_Y] * x
    return (before >= 0 and past_before > OVER_END) or (after >= 0 and past_after > OVER_END)


@kernel
def over_polygon(model, j, x, y, slack):
    """(height, edge, corner) of a point, axes of polygon j: over the edge that it is furthest outside of; the corner

    that it is beyond on both of its edges, by more than `slack` [m], or -1.
    """
    height, at, nearest = -np.inf, np.int64(-1), np.int64(-1)
    for edge in range(model.first[j], model.first[j + 1]):
        d = model.normals[edge, 0] * x + model.normals[edge, 1] * y - model.offsets[edge]
        if d > height:
            height, at = d, np.int64(edge)
    for corner in range(model.first[j], model.first[j + 1]):
        previous = corner - 1 if corner > model.first[j] else model.first[j + 1] - 1
        rx, ry = x - model.vertices[corner, 0], y - model.vertices[corner, 1]
        past_next = -model.normals[corner, 1] * rx + model.normals[corner, 0] * ry
        past_previous = -model.normals[previous, 1] * rx + model.normals[previous, 0] * ry
        if past_next < -slack and past_previous > slack:
            nearest = np.int64(corner)
    return height, at, nearest

"""Features of parts: corners, straight edges and arcs; how far contacts on them are from their ends.

Rows of Solids: a corner or the edge that starts there, and after all corners the arcs, each as its centre.
"""

import numpy as np

from reference_engine.compiler.kernels import kernel
from reference_engine.elementary_kernels import angle_of, cosine_and_sine
from reference_engine.planar.convex_pieces import BOWL, HALF_PLANE, HOLLOW
from reference_engine.planar.layout import (
    ALONG,
    BODY_I,
    BODY_J,
    GRIPS,
    KIND,
    LINE,
    MODE,
    NX,
    NY,
    PAIR,
    PART_I,
    PART_J,
    PRESSES,
    R1,
    R2,
    ROLE,
    ROUND,
    SIGMA,
    SPAN,
    TOUCHES,
    P,
    Q,
)

OVER_END = 1e-12  # m, how far past the end of an edge a corner has slid off it
NO_LINE, EDGE_OF_J, EDGE_OF_I, TANGENT_LINE = (np.int64(k) for k in range(4))


@kernel
def note(solids, places, n, i, j, feature_i, feature_j, kind):
    """n + 1 even where there is no room, so that the caller sees it. i, j: parts."""
    if n < places.id.shape[0]:
        places.id[n, BODY_I], places.id[n, BODY_J], places.id[n, PART_I], places.id[n, PART_J] = (
            solids.row[i],
            solids.row[j],
            i,
            j,
        )
        places.id[n, P], places.id[n, Q], places.id[n, KIND] = feature_i, feature_j, kind
        places.id[n, ROLE], places.id[n, MODE], places.id[n, PAIR] = TOUCHES, 0, -1
        places.id[n, PRESSES], places.id[n, GRIPS] = 1, 0
        places.figure[n, R1] = radius_of(solids, i, feature_i)
        places.figure[n, R2], places.figure[n, SIGMA] = 0.0, 1.0
        if kind == ROUND:
            places.figure[n, R2] = radius_of(solids, j, feature_j)
            if solids.kind[j] == BOWL or solids.kind[j] == HOLLOW:
                places.figure[n, R2], places.figure[n, SIGMA] = -places.figure[n, R2], -1.0
    return n + 1


@kernel
def is_arc(solids, feature):
    """Of the features of parts."""
    return feature >= solids.arc_first[0]


@kernel
def radius_of(solids, part, feature):
    """Of the rounding about a feature: of a disc as a whole, of an arc; 0 of a corner."""
    if feature < 0:
        return solids.radius[part]
    return solids.lengths[feature] if is_arc(solids, feature) else 0.0


@kernel
def arc_room(solids, m, x, y):
    """How far inside the ends of arc m, along it, its point in the direction (x, y) lies, body axes [m]."""
    mx, my = solids.normals[m, 0], solids.normals[m, 1]
    return (solids.offsets[m] - abs(angle_of(mx * y - my * x, mx * x + my * y))) * solids.lengths[m]


@kernel
def cone_room(solids, corner, x, y, span):
    """How far inside the cone of normals at a corner a unit direction lies, body axes [m]: at `span` from the corner,

    at an arc along it. With span 0 only arcs count.
    """
    before, after = solids.arcs[corner, 0], solids.arcs[corner, 1]
    least = np.inf
    if before >= 0 or span > 0.0:
        past = solids.cone[corner, 0] * y - solids.cone[corner, 1] * x
        least = past * (span + (solids.lengths[before] if before >= 0 else 0.0))
    if after >= 0 or span > 0.0:
        past = solids.cone[corner, 3] * x - solids.cone[corner, 2] * y
        least = min(least, past * (span + (solids.lengths[after] if after >= 0 else 0.0)))
    return least


@kernel
def room_to_end(solids, y, places, k, G):
    """How far the contact of place k is from the end of a feature that carries it [m]; infinite where it has none."""
    p, q, kind = places.id[k, P], places.id[k, Q], places.id[k, KIND]
    if places.id[k, ROLE] != TOUCHES:
        return np.inf
    least, a, b, part = np.inf, places.id[k, BODY_I], places.id[k, BODY_J], places.id[k, PART_J]
    nx, ny = G[k, NX], G[k, NY]
    if p >= 0:
        c, s = cosine_and_sine(y[3 * a + 2])
        x, z = -c * nx - s * ny, s * nx - c * ny
        least = arc_room(solids, p, x, z) if is_arc(solids, p) else cone_room(solids, p, x, z, 0.0)
    if q >= 0 and kind == LINE and solids.kind[part] != HALF_PLANE:
        least = min(least, G[k, ALONG], solids.lengths[q] - G[k, ALONG])
    elif q >= 0 and kind == ROUND:
        c, s = cosine_and_sine(y[3 * b + 2])
        sign = places.figure[k, SIGMA]
        x, z = sign * (c * nx + s * ny), sign * (c * ny - s * nx)
        if is_arc(solids, q):
            least = min(least, arc_room(solids, q, x, z))
        else:
            least = min(least, cone_room(solids, q, x, z, G[k, SPAN]))
    return least


@kernel
def height(solids, y, i, corner, j, edge):
    """(gap, along): of a corner (or centre) of i above the line of an edge of j, and past the edge's start."""
    i, j = solids.row[i], solids.row[j]
    ci, si = cosine_and_sine(y[3 * i + 2])
    cj, sj = cosine_and_sine(y[3 * j + 2])
    dx = y[3 * i] - y[3 * j] + ci * solids.vertices[corner, 0] - si * solids.vertices[corner, 1]
    dy = y[3 * i + 1] - y[3 * j + 1] + si * solids.vertices[corner, 0] + ci * solids.vertices[corner, 1]
    bx, by = cj * dx + sj * dy, -sj * dx + cj * dy
    mx, my = solids.normals[edge, 0], solids.normals[edge, 1]
    along = -my * (bx - solids.vertices[edge, 0]) + mx * (by - solids.vertices[edge, 1])
    return mx * bx + my * by - solids.offsets[edge], along


@kernel
def relative_pose(xi, yi, angle_i, xj, yj, angle_j):
    """(x, y, cos, sin) of i in axes of j."""
    c, s = cosine_and_sine(angle_j)
    dx, dy, turned = xi - xj, yi - yj, angle_i - angle_j
    cosine, sine = cosine_and_sine(turned)
    return c * dx + s * dy, c * dy - s * dx, cosine, sine


@kernel
def lowest(solids, i, mx, my):
    """The least of m . p over the points p of convex part i, body axes; of a half-plane for its own normal alone."""
    least = np.inf
    for corner in range(solids.first[i], solids.first[i + 1]):
        least = min(least, mx * solids.vertices[corner, 0] + my * solids.vertices[corner, 1])
    for m in range(solids.arc_first[i], solids.arc_first[i + 1]):
        if arc_room(solids, m, -mx, -my) >= 0.0:
            least = min(least, mx * solids.vertices[m, 0] + my * solids.vertices[m, 1] - solids.lengths[m])
    return least


@kernel
def separation(solids, i, j, x, y, c, s, mx, my):
    """How far the direction m, axes of j, keeps convex part i above j; i has the pose (x, y, c, s) in axes of j."""
    above = lowest(solids, i, c * mx + s * my, c * my - s * mx)
    return above + mx * x + my * y + lowest(solids, j, -mx, -my)


@kernel
def lines(solids, i, j):
    """How many lines are looked at between convex parts: along edges of j and i, and at rounded features of both."""
    corners_j = solids.first[j + 1] - solids.first[j]
    if solids.kind[j] == HALF_PLANE:
        return corners_j
    corners_i = solids.first[i + 1] - solids.first[i]
    arcs_i, arcs_j = solids.arc_first[i + 1] - solids.arc_first[i], solids.arc_first[j + 1] - solids.arc_first[j]
    return corners_j + corners_i + arcs_i * (arcs_j + corners_j) + corners_i * arcs_j


@kernel
def line(solids, i, j, x, y, c, s, k):
    """(which, feature of i, feature of j, m): line k of `lines` and its normal m from j to i, axes of j.

    TANGENT_LINE: across the line from a feature of j to one of i, one of them an arc at least; -1: of an edge alone.
    """
    none = np.int64(-1)
    corners_j, corners_i = solids.first[j + 1] - solids.first[j], solids.first[i + 1] - solids.first[i]
    arcs_i, arcs_j = solids.arc_first[i + 1] - solids.arc_first[i], solids.arc_first[j + 1] - solids.arc_first[j]
    if k < corners_j:
        q = solids.first[j] + k
        which = EDGE_OF_J if solids.straight[q] == 1 else NO_LINE
        return which, none, q, solids.normals[q, 0], solids.normals[q, 1]
    k -= corners_j
    if k < corners_i:
        p = solids.first[i] + k
        nx, ny = solids.normals[p, 0], solids.normals[p, 1]
        return EDGE_OF_I if solids.straight[p] == 1 else NO_LINE, p, none, s * ny - c * nx, -s * nx - c * ny
    k -= corners_i
    if k < arcs_i * (arcs_j + corners_j):
        p, q = solids.arc_first[i] + k // (arcs_j + corners_j), k % (arcs_j + corners_j)
        q = solids.arc_first[j] + q if q < arcs_j else solids.first[j] + q - arcs_j
    else:
        k -= arcs_i * (arcs_j + corners_j)
        p, q = solids.first[i] + k // arcs_j, solids.arc_first[j] + k % arcs_j
    mx = x + c * solids.vertices[p, 0] - s * solids.vertices[p, 1] - solids.vertices[q, 0]
    my = y + s * solids.vertices[p, 0] + c * solids.vertices[p, 1] - solids.vertices[q, 1]
    distance = np.sqrt(mx * mx + my * my)
    if distance == 0.0:
        return NO_LINE, p, q, 0.0, 0.0
    return TANGENT_LINE, p, q, mx / distance, my / distance


@kernel
def is_left_out(solids, part, corner, x, y):
    """A smooth corner; and one in a direction in which the arc of another part of the same body is nearer."""
    if is_arc(solids, corner):
        return False
    if solids.smooth[corner] == 1:
        return True
    before, after = solids.arcs[corner, 0], solids.arcs[corner, 1]
    if solids.arc_first[part] <= before < solids.arc_first[part + 1]:
        before = np.int64(-1)
    if solids.arc_first[part] <= after < solids.arc_first[part + 1]:
        after = np.int64(-1)
    past_before = solids.cone[corner, 1] * x - solids.cone[corner, 0] * y
    past_after = solids.cone[corner, 2] * y - solids.cone[corner, 3] * x
    return (before >= 0 and past_before > OVER_END) or (after >= 0 and past_after > OVER_END)

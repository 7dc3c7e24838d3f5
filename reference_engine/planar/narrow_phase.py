"""Where bodies are near: gap, normal and arms of every pair of features within reach.

Convex polygons A and B are apart if some edge of either has all of the other outside (separating axis);
they are then measured corner against edge where the corner projects into the edge, and corner against
corner where neither does, so that every corner that could touch has its own contact. If no edge separates
them, the shallowest edge and the corner deepest behind it stand for the overlap, with a negative gap. A pair that has
sunk by no more than `sink` is measured as one in touch.
"""

import numpy as np
from numba import njit

from reference_engine.planar.layout import CENTRE, DISC, HALF_PLANE, LINE, RADIAL, ROUND_OFF

OVER_END = 1e-9  # m; a corner so little beyond an edge's end still counts as over it (equal boxes, stacked)


@njit(cache=True)
def place_shapes(bodies, pose, vertices_out, normals_out):
    """Vertices and edge normals in world axes:  x + R(angle) v."""
    for i in range(bodies.kind.shape[0]):
        c, s = np.cos(pose[i, 2]), np.sin(pose[i, 2])
        for k in range(bodies.first[i], bodies.first[i + 1]):
            x, y = bodies.vertices[k, 0], bodies.vertices[k, 1]
            vertices_out[k, 0] = pose[i, 0] + c * x - s * y
            vertices_out[k, 1] = pose[i, 1] + s * x + c * y
            x, y = bodies.normals[k, 0], bodies.normals[k, 1]
            normals_out[k, 0] = c * x - s * y
            normals_out[k, 1] = s * x + c * y


@njit(cache=True)
def measure(bodies, pose, twist, vertices, normals, out, k):
    """Fill in contact k from its bodies and features.

    c1: corner or disc centre of the primary body, with radius r1 (0 for a corner).
    LINE    gap = n . (c1 - p) - r1,        n of the edge, p any point on it;  arm 2 to the foot of c1
    RADIAL  gap = |c1 - c2| - r1 - r2,      n = (c1 - c2) / |c1 - c2|;         arm 2 to c2
    speed   = n . (u1 + w1 x arm1 - u2 - w2 x arm2); turning of n adds nothing, as c1 lies along n.
    """
    i, j = out.body[k, 0], out.body[k, 1]
    r1, c1x, c1y = bodies.radius[i], pose[i, 0], pose[i, 1]
    if out.feature[k, 0] >= 0:
        r1, c1x, c1y = 0.0, vertices[out.feature[k, 0], 0], vertices[out.feature[k, 0], 1]
    if out.kind[k] == LINE:
        edge = out.feature[k, 1]
        nx, ny = normals[edge, 0], normals[edge, 1]
        span = nx * (c1x - vertices[edge, 0]) + ny * (c1y - vertices[edge, 1])
        gap = span - r1
        c2x, c2y = c1x - span * nx, c1y - span * ny
    else:
        r2, c2x, c2y = bodies.radius[j], pose[j, 0], pose[j, 1]
        if out.feature[k, 1] >= 0:
            r2, c2x, c2y = 0.0, vertices[out.feature[k, 1], 0], vertices[out.feature[k, 1], 1]
        span = np.hypot(c1x - c2x, c1y - c2y)
        nx, ny = (c1x - c2x) / span, (c1y - c2y) / span
        gap = span - r1 - r2
    out.gap[k], out.span[k] = gap, span
    out.normal[k, 0], out.normal[k, 1] = nx, ny
    out.point[k, 0], out.point[k, 1] = c1x - (r1 + 0.5 * gap) * nx, c1y - (r1 + 0.5 * gap) * ny
    u1x, u1y, u2x, u2y = c1x - pose[i, 0], c1y - pose[i, 1], c2x - pose[j, 0], c2y - pose[j, 1]
    out.arm[k, 0, 0], out.arm[k, 0, 1], out.arm[k, 1, 0], out.arm[k, 1, 1] = u1x, u1y, u2x, u2y
    vx = twist[i, 0] - twist[i, 2] * u1y - twist[j, 0] + twist[j, 2] * u2y
    vy = twist[i, 1] + twist[i, 2] * u1x - twist[j, 1] - twist[j, 2] * u2x
    out.speed[k] = nx * vx + ny * vy
    out.force[k] = 0.0


@njit(cache=True)
def name_contact(out, n, i, j, feature_i, feature_j, kind):
    """Note down contact n, to be measured; n + 1 even where there is no room, so that the caller sees it."""
    if n < out.kind.shape[0]:
        out.body[n, 0], out.body[n, 1] = i, j
        out.feature[n, 0], out.feature[n, 1] = feature_i, feature_j
        out.kind[n] = kind
    return n + 1


@njit(cache=True)
def beyond(bodies, vertices, normals, j, corner, x, y):
    """Is (x, y) beyond this corner of polygon j: past the end of both edges that meet there?"""
    previous = corner - 1 if corner > bodies.first[j] else bodies.first[j + 1] - 1
    dx, dy = x - vertices[corner, 0], y - vertices[corner, 1]
    along_next = -normals[corner, 1] * dx + normals[corner, 0] * dy
    along_previous = -normals[previous, 1] * dx + normals[previous, 0] * dy
    return along_next < -OVER_END and along_previous > OVER_END


@njit(cache=True)
def over_edge(bodies, vertices, normals, edge, x, y):
    """Does (x, y) project into this edge? An edge runs along (-n_y, n_x)."""
    along = -normals[edge, 1] * (x - vertices[edge, 0]) + normals[edge, 0] * (y - vertices[edge, 1])
    return -OVER_END <= along <= bodies.lengths[edge] + OVER_END


@njit(cache=True)
def above_edge(vertices, normals, v, edge):
    """Distance of a corner from the line of an edge [m]."""
    d = normals[edge, 0] * (vertices[v, 0] - vertices[edge, 0])
    return d + normals[edge, 1] * (vertices[v, 1] - vertices[edge, 1])


@njit(cache=True)
def least_above_edge(bodies, vertices, normals, i, edge):
    """The least distance of i's corners from the line of an edge, and the corner that has it: (m, index)."""
    least, corner = np.inf, -1
    for v in range(bodies.first[i], bodies.first[i + 1]):
        d = above_edge(vertices, normals, v, edge)
        if d < least:
            least, corner = d, v
    return least, corner


@njit(cache=True)
def widest_separation(bodies, vertices, normals, i, j):
    """Over the edges of j, the greatest least distance of i's corners: (distance, corner of i, edge of j)."""
    best, best_corner, best_edge = -np.inf, -1, -1
    for edge in range(bodies.first[j], bodies.first[j + 1]):
        least, corner = least_above_edge(bodies, vertices, normals, i, edge)
        if least > best:
            best, best_corner, best_edge = least, corner, edge
    return best, best_corner, best_edge


@njit(cache=True)
def corners_over_edges(bodies, vertices, normals, i, j, reach, sink, out, n):
    """Corners of polygon i over edges of polygon j.

    A corner in touch, or sunk, is over one edge only: of those it has not passed, the one that best separates the
    bodies. At a corner of j there are two, and the other would hold a body that slides over it by its side.
    """
    for v in range(bodies.first[i], bodies.first[i + 1]):
        nearest = -np.inf
        for edge in range(bodies.first[j], bodies.first[j + 1]):
            nearest = max(nearest, above_edge(vertices, normals, v, edge))
        if not -sink <= nearest < reach:
            continue
        chosen, widest = -1, -np.inf
        for edge in range(bodies.first[j], bodies.first[j + 1]):
            d = above_edge(vertices, normals, v, edge)
            if not -sink <= d < reach or not over_edge(bodies, vertices, normals, edge, vertices[v, 0], vertices[v, 1]):
                continue
            if nearest > ROUND_OFF:
                if d >= 0.0:
                    n = name_contact(out, n, i, j, v, edge, LINE)
                continue
            apart, _ = least_above_edge(bodies, vertices, normals, i, edge)
            if apart > widest:
                chosen, widest = edge, apart
        if chosen >= 0:
            n = name_contact(out, n, i, j, v, chosen, LINE)
    return n


@njit(cache=True)
def polygon_polygon(bodies, vertices, normals, i, j, reach, sink, out, n):
    apart_j, corner_i, edge_j = widest_separation(bodies, vertices, normals, i, j)
    apart_i, corner_j, edge_i = widest_separation(bodies, vertices, normals, j, i)
    if max(apart_i, apart_j) >= reach:
        return n
    if max(apart_i, apart_j) < -sink:
        if apart_j >= apart_i:
            return name_contact(out, n, i, j, corner_i, edge_j, LINE)
        return name_contact(out, n, j, i, corner_j, edge_i, LINE)
    n = corners_over_edges(bodies, vertices, normals, i, j, reach, sink, out, n)
    n = corners_over_edges(bodies, vertices, normals, j, i, reach, sink, out, n)
    for v in range(bodies.first[i], bodies.first[i + 1]):
        for w in range(bodies.first[j], bodies.first[j + 1]):
            if (
                np.hypot(vertices[v, 0] - vertices[w, 0], vertices[v, 1] - vertices[w, 1]) < reach
                and beyond(bodies, vertices, normals, j, w, vertices[v, 0], vertices[v, 1])
                and beyond(bodies, vertices, normals, i, v, vertices[w, 0], vertices[w, 1])
            ):
                n = name_contact(out, n, i, j, v, w, RADIAL)
    return n


@njit(cache=True)
def disc_polygon(bodies, pose, vertices, normals, i, j, reach, out, n):
    """Disc i against polygon j: the nearest edge, or the corner beyond which the centre lies."""
    x, y = pose[i, 0], pose[i, 1]
    best, best_edge = -np.inf, bodies.first[j]
    for edge in range(bodies.first[j], bodies.first[j + 1]):
        d = normals[edge, 0] * (x - vertices[edge, 0]) + normals[edge, 1] * (y - vertices[edge, 1])
        if d > best:
            best, best_edge = d, edge
    if best - bodies.radius[i] >= reach:
        return n
    if best > 0.0:
        for corner in range(bodies.first[j], bodies.first[j + 1]):
            if beyond(bodies, vertices, normals, j, corner, x, y):
                if np.hypot(x - vertices[corner, 0], y - vertices[corner, 1]) - bodies.radius[i] < reach:
                    n = name_contact(out, n, i, j, CENTRE, corner, RADIAL)
                return n
    return name_contact(out, n, i, j, CENTRE, best_edge, LINE)


@njit(cache=True)
def above_half_plane(bodies, pose, vertices, normals, i, j, reach, out, n):
    """Body i against the half-plane j: every corner, or the disc's centre, within reach or below."""
    edge = bodies.first[j]
    nx, ny = normals[edge, 0], normals[edge, 1]
    if bodies.kind[i] == DISC:
        d = nx * (pose[i, 0] - vertices[edge, 0]) + ny * (pose[i, 1] - vertices[edge, 1])
        if d - bodies.radius[i] < reach:
            n = name_contact(out, n, i, j, CENTRE, edge, LINE)
        return n
    for v in range(bodies.first[i], bodies.first[i + 1]):
        if nx * (vertices[v, 0] - vertices[edge, 0]) + ny * (vertices[v, 1] - vertices[edge, 1]) < reach:
            n = name_contact(out, n, i, j, v, edge, LINE)
    return n


@njit(cache=True)
def find_contacts(bodies, pose, twist, reach, sink, vertices, normals, out):
    """Every place where two bodies are nearer than `reach`; returns how many, also where there was no room.

    Polygons no deeper than `sink` (m) in each other have all their places, deeper ones a single one.
    """
    place_shapes(bodies, pose, vertices, normals)
    n = np.int64(0)
    for p in range(bodies.pairs.shape[0]):
        i, j = bodies.pairs[p, 0], bodies.pairs[p, 1]
        if bodies.kind[i] == HALF_PLANE:
            i, j = j, i
        dx, dy = pose[i, 0] - pose[j, 0], pose[i, 1] - pose[j, 1]
        if bodies.kind[j] == HALF_PLANE:
            edge = bodies.first[j]
            if normals[edge, 0] * dx + normals[edge, 1] * dy - bodies.radius[i] < reach:
                n = above_half_plane(bodies, pose, vertices, normals, i, j, reach, out, n)
            continue
        far = bodies.radius[i] + bodies.radius[j] + reach
        if dx * dx + dy * dy >= far * far:
            continue
        if bodies.kind[i] == DISC and bodies.kind[j] == DISC:
            n = name_contact(out, n, i, j, CENTRE, CENTRE, RADIAL)
        elif bodies.kind[i] == DISC:
            n = disc_polygon(bodies, pose, vertices, normals, i, j, reach, out, n)
        elif bodies.kind[j] == DISC:
            n = disc_polygon(bodies, pose, vertices, normals, j, i, reach, out, n)
        else:
            n = polygon_polygon(bodies, vertices, normals, i, j, reach, sink, out, n)
    for k in range(min(n, out.kind.shape[0])):
        measure(bodies, pose, twist, vertices, normals, out, k)
    return n

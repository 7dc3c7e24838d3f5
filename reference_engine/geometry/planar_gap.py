"""Gap of two planar solids: kernels.  Front: `planar_proximity`.

Everything is worked out relative to the centre of one body of the pair, in world axes: far from
the origin nothing is lost but what the poses themselves do not hold.  A row of `found` is

    gap, normal x, normal y, point on p x, y, point on q x, y      (normal from p to q)

For convex sets the signed distance is the maximum over unit n of  n . (q - p) - h_P(n) - h_Q(-n)
where they overlap, as where they do not (Cameron & Culley 1986, the minimum translation distance);
for overlapping polygons the maximum is attained at an edge normal, because the boundary of the
Minkowski difference consists of the edges of both.
"""

import numpy as np

from reference_engine.compiler.kernels import entry, kernel
from reference_engine.elementary_kernels import cosine_and_sine
from reference_engine.geometry.planar_shapes import BOWL, DISC, HALF_PLANE, POLYGON

FIELDS = 7  # columns of `found`


@kernel
def pose_bodies(pose, radius, bounding_radius, point, axis, vertex_body, vertex, edge_normal, edge_length, body, edge):
    """One sample in world axes.  Points of a body stay relative to its centre.

    body (B, 8): x, y, radius, bounding radius, point x, y, axis x, y;  edge (V, 5): from x, y, normal x, y, length.
    """
    for i in range(pose.shape[0]):
        c, s = cosine_and_sine(pose[i, 2])
        body[i, 0], body[i, 1], body[i, 2], body[i, 3] = pose[i, 0], pose[i, 1], radius[i], bounding_radius[i]
        body[i, 4], body[i, 5] = c * point[i, 0] - s * point[i, 1], s * point[i, 0] + c * point[i, 1]
        body[i, 6], body[i, 7] = c * axis[i, 0] - s * axis[i, 1], s * axis[i, 0] + c * axis[i, 1]
    c, s, turned = 1.0, 0.0, -1
    for k in range(vertex.shape[0]):
        i = vertex_body[k]
        if i != turned:
            turned = i
            c, s = cosine_and_sine(pose[i, 2])
        edge[k, 0], edge[k, 1] = c * vertex[k, 0] - s * vertex[k, 1], s * vertex[k, 0] + c * vertex[k, 1]
        nx, ny = edge_normal[k, 0], edge_normal[k, 1]
        edge[k, 2], edge[k, 3], edge[k, 4] = c * nx - s * ny, s * nx + c * ny, edge_length[k]


@kernel
def write(found, k, gap, nx, ny, px, py, qx, qy):
    found[k, 0] = gap
    found[k, 1], found[k, 2] = nx, ny
    found[k, 3], found[k, 4] = px, py
    found[k, 5], found[k, 6] = qx, qy


@kernel
def best_edge(edge, p0, p1, q0, q1, dx, dy):
    """Edge of p whose line keeps q furthest off: separation, edge, vertex of q that is nearest to it."""
    separation, best, nearest = -np.inf, p0, q0
    for i in range(p0, p1):
        nx, ny = edge[i, 2], edge[i, 3]
        lowest, at = np.inf, q0
        for j in range(q0, q1):
            height = nx * (edge[j, 0] + dx - edge[i, 0]) + ny * (edge[j, 1] + dy - edge[i, 1])
            if height < lowest:
                lowest, at = height, j
        if lowest > separation:
            separation, best, nearest = lowest, i, at
    return separation, best, nearest


@kernel
def nearest_features(edge, p0, p1, q0, q1, dx, dy, side, best, found):
    """Distance of disjoint polygons: each vertex of q against each edge of p; kept if below `best`.

    side = 1: p, q are the pair's; side = -1: exchanged, with (dx, dy) from the pair's q to its p.
    A vertex over the inside of an edge takes the edge's normal, exact however small the distance.
    """
    for i in range(p0, p1):
        nx, ny = edge[i, 2], edge[i, 3]
        for j in range(q0, q1):
            rx, ry = edge[j, 0] + dx - edge[i, 0], edge[j, 1] + dy - edge[i, 1]
            along = rx * -ny + ry * nx
            if along < 0.0:
                distance = np.sqrt(rx * rx + ry * ry)
                if distance >= best or distance == 0.0:
                    continue
                mx, my = rx / distance, ry / distance
            else:
                distance = rx * nx + ry * ny
                if distance < 0.0 or distance >= best or along > edge[i, 4]:
                    continue
                mx, my = nx, ny
            best = distance
            qx, qy = edge[j, 0], edge[j, 1]
            ex, ey = qx + dx - distance * mx, qy + dy - distance * my
            if side > 0:
                write(found, 0, distance, mx, my, ex, ey, qx + dx, qy + dy)
            else:
                write(found, 0, distance, -mx, -my, qx, qy, ex - dx, ey - dy)
    return best


@kernel
def face_points(edge, i, q0, q1, dx, dy, side, k, found):
    """Manifold: the edge of q that faces edge i of p, cut off at the ends of i.  Rows written from k on.

    Each end has its own gap along the normal of i; Gottschalk's clipping as in every 2D engine,
    here without any tolerance.  `side` as in `nearest_features`.
    """
    nx, ny = edge[i, 2], edge[i, 3]
    facing, lowest = q0, np.inf
    for j in range(q0, q1):
        cosine = nx * edge[j, 2] + ny * edge[j, 3]
        if cosine < lowest:
            lowest, facing = cosine, j
    after = facing + 1 if facing + 1 < q1 else q0
    ax, ay = edge[facing, 0] + dx - edge[i, 0], edge[facing, 1] + dy - edge[i, 1]
    bx, by = edge[after, 0] + dx - edge[i, 0], edge[after, 1] + dy - edge[i, 1]
    t_a, t_b = ay * nx - ax * ny, by * nx - bx * ny  # along the edge, 0 to its length; t_a > t_b
    g_a, g_b = ax * nx + ay * ny, bx * nx + by * ny
    t_high, t_low = min(t_a, edge[i, 4]), max(t_b, 0.0)
    if t_high < t_low:
        return 0
    for end in range(2):
        t, near, gap = (t_high, t_a, g_a) if end == 0 else (t_low, t_b, g_b)
        if t != near and t_a > t_b:
            gap = g_b + (g_a - g_b) * ((t - t_b) / (t_a - t_b))
        px, py = edge[i, 0] - ny * t, edge[i, 1] + nx * t
        qx, qy = px + nx * gap, py + ny * gap
        if side > 0:
            write(found, k + end, gap, nx, ny, px, py, qx, qy)
        else:
            write(found, k + end, gap, -nx, -ny, qx - dx, qy - dy, px - dx, py - dy)
    return 1 if t_high == t_low else 2


@kernel
def polygon_polygon(edge, p0, p1, q0, q1, dx, dy, cutoff, points, found):
    """Convex pieces; d from the centre of p to that of q.  One pair of nearest points, or the manifold (points = 2)."""
    s_p, i, j = best_edge(edge, p0, p1, q0, q1, dx, dy)
    if s_p >= cutoff:
        return 0
    s_q, i_q, j_q = best_edge(edge, q0, q1, p0, p1, -dx, -dy)
    if s_q >= cutoff:
        return 0
    side = 1 if s_p >= s_q else -1
    gap = max(s_p, s_q)
    if gap > 0.0:
        best = nearest_features(edge, p0, p1, q0, q1, dx, dy, 1, np.inf, found)
        best = nearest_features(edge, q0, q1, p0, p1, -dx, -dy, -1, best, found)
        if best >= cutoff:
            return 0
        if points == 1 or best > gap * (1.0 + 1e-12):  # two corners: nothing lies face to face
            return 1
    if side > 0:
        count = face_points(edge, i, q0, q1, dx, dy, 1, 0, found)
    else:
        count = face_points(edge, i_q, p0, p1, -dx, -dy, -1, 0, found)
    if count == 0:  # round-off at the end of an edge: the corner itself
        if side > 0:
            nx, ny = edge[i, 2], edge[i, 3]
            qx, qy = edge[j, 0] + dx, edge[j, 1] + dy
            write(found, 0, gap, nx, ny, qx - gap * nx, qy - gap * ny, qx, qy)
        else:
            nx, ny = -edge[i_q, 2], -edge[i_q, 3]
            px, py = edge[j_q, 0], edge[j_q, 1]
            write(found, 0, gap, nx, ny, px, py, px + gap * nx, py + gap * ny)
        return 1
    if points == 1:
        if count == 2 and found[1, 0] < found[0, 0]:
            for column in range(FIELDS):
                found[0, column] = found[1, column]
        return 1
    if count == 2 and found[1, 0] >= cutoff:
        count = 1
    if found[0, 0] >= cutoff:
        for column in range(FIELDS):
            found[0, column] = found[1, column]
        count -= 1
    return count


@kernel
def polygon_disc(edge, p0, p1, radius, dx, dy, cutoff, found):
    """Disc q with centre d: distance of its centre, less the radius; centre inside: to the nearest edge."""
    depth, inner, best, mx, my = -np.inf, p0, np.inf, 0.0, 0.0
    for i in range(p0, p1):
        nx, ny = edge[i, 2], edge[i, 3]
        rx, ry = dx - edge[i, 0], dy - edge[i, 1]
        height, along = rx * nx + ry * ny, ry * nx - rx * ny
        if height > depth:
            depth, inner = height, i
        if along < 0.0:
            distance = np.sqrt(rx * rx + ry * ry)
            if distance < best and distance > 0.0:
                best, mx, my = distance, rx / distance, ry / distance
        elif along <= edge[i, 4] and 0.0 <= height < best:
            best, mx, my = height, nx, ny
    if depth <= 0.0:
        best, mx, my = depth, edge[inner, 2], edge[inner, 3]
    if best - radius >= cutoff:
        return 0
    write(found, 0, best - radius, mx, my, dx - best * mx, dy - best * my, dx - radius * mx, dy - radius * my)
    return 1


@kernel
def disc_disc(p_radius, q_radius, dx, dy, cutoff, found):
    """Concentric discs: the normal is +y."""
    distance = np.sqrt(dx * dx + dy * dy)
    gap = distance - p_radius - q_radius
    if gap >= cutoff:
        return 0
    nx, ny = (dx / distance, dy / distance) if distance > 0.0 else (0.0, 1.0)
    write(found, 0, gap, nx, ny, p_radius * nx, p_radius * ny, dx - q_radius * nx, dy - q_radius * ny)
    return 1


@kernel
def polygon_half_plane(edge, p0, p1, lx, ly, nx, ny, cutoff, points, found):
    """Line through l with outward normal n: the lowest vertex of p, and the lower of its neighbours."""
    lowest, at = np.inf, p0
    for i in range(p0, p1):
        height = nx * (edge[i, 0] - lx) + ny * (edge[i, 1] - ly)
        if height < lowest:
            lowest, at = height, i
    if lowest >= cutoff:
        return 0
    px, py = edge[at, 0], edge[at, 1]
    write(found, 0, lowest, -nx, -ny, px, py, px - lowest * nx, py - lowest * ny)
    if points == 1:
        return 1
    before, after = (at - 1 if at > p0 else p1 - 1), (at + 1 if at + 1 < p1 else p0)
    h_before = nx * (edge[before, 0] - lx) + ny * (edge[before, 1] - ly)
    h_after = nx * (edge[after, 0] - lx) + ny * (edge[after, 1] - ly)
    height, other = (h_before, before) if h_before < h_after else (h_after, after)
    if height >= cutoff:
        return 1
    px, py = edge[other, 0], edge[other, 1]
    write(found, 1, height, -nx, -ny, px, py, px - height * nx, py - height * ny)
    return 2


@kernel
def disc_half_plane(radius, lx, ly, nx, ny, cutoff, found):
    height = -(nx * lx + ny * ly)
    gap = height - radius
    if gap >= cutoff:
        return 0
    write(found, 0, gap, -nx, -ny, -radius * nx, -radius * ny, -height * nx, -height * ny)
    return 1


@kernel
def polygon_bowl(edge, p0, p1, radius, dx, dy, cutoff, points, found):
    """Circle about d, solid outside: the vertex furthest from d, and the next furthest."""
    count = 0
    taken = -1
    while count < points:
        furthest, at = -1.0, -1
        for i in range(p0, p1):
            distance = np.sqrt((edge[i, 0] - dx) ** 2 + (edge[i, 1] - dy) ** 2)
            if i != taken and distance > furthest:
                furthest, at = distance, i
        gap = radius - furthest
        if gap >= cutoff or furthest <= 0.0:
            break
        nx, ny = (edge[at, 0] - dx) / furthest, (edge[at, 1] - dy) / furthest
        px, py = edge[at, 0], edge[at, 1]
        write(found, count, gap, nx, ny, px, py, dx + radius * nx, dy + radius * ny)
        taken = at
        count += 1
    return count


@kernel
def disc_bowl(p_radius, radius, dx, dy, cutoff, found):
    """Disc in the middle of the bowl: the normal is +y."""
    distance = np.sqrt(dx * dx + dy * dy)
    gap = radius - (distance + p_radius)
    if gap >= cutoff:
        return 0
    nx, ny = (-dx / distance, -dy / distance) if distance > 0.0 else (0.0, 1.0)
    write(found, 0, gap, nx, ny, p_radius * nx, p_radius * ny, dx + radius * nx, dy + radius * ny)
    return 1


@kernel
def convex_pair(kind, vertex_start, body, edge, p, q, k_p, k_q, dx, dy, cutoff, points, found):
    """The table of shapes: p a polygon (its part k_p) or a disc, q any kind not before it (its part k_q)."""
    p0, p1, q0, q1 = vertex_start[k_p], vertex_start[k_p + 1], vertex_start[k_q], vertex_start[k_q + 1]
    if kind[q] == POLYGON:
        return polygon_polygon(edge, p0, p1, q0, q1, dx, dy, cutoff, points, found)
    if kind[q] == DISC:
        if kind[p] == DISC:
            return disc_disc(body[p, 2], body[q, 2], dx, dy, cutoff, found)
        return polygon_disc(edge, p0, p1, body[q, 2], dx, dy, cutoff, found)
    if kind[q] == HALF_PLANE:
        lx, ly, nx, ny = dx + body[q, 4], dy + body[q, 5], body[q, 6], body[q, 7]
        if kind[p] == DISC:
            return disc_half_plane(body[p, 2], lx, ly, nx, ny, cutoff, found)
        return polygon_half_plane(edge, p0, p1, lx, ly, nx, ny, cutoff, points, found)
    if kind[p] == DISC:
        return disc_bowl(body[p, 2], body[q, 2], dx, dy, cutoff, found)
    return polygon_bowl(edge, p0, p1, body[q, 2], dx, dy, cutoff, points, found)


@kernel
def is_far(kind, body, p, q, cutoff):
    """By the circle around p alone: a lower bound of the gap is above the cutoff."""
    dx, dy, bounding_radius = body[q, 0] - body[p, 0], body[q, 1] - body[p, 1], body[p, 3]
    if kind[q] == HALF_PLANE:
        return -(body[q, 6] * (dx + body[q, 4]) + body[q, 7] * (dy + body[q, 5])) - bounding_radius > cutoff
    if kind[q] == BOWL:
        clearance = body[q, 2] - bounding_radius - cutoff
        return clearance > 0.0 and dx * dx + dy * dy < clearance * clearance
    apart = bounding_radius + body[q, 3] + cutoff
    return apart < 0.0 or dx * dx + dy * dy > apart * apart


@kernel
def body_pair(kind, piece_start, vertex_start, body, edge, a, b, cutoff, points, row, found):
    """Rows of `found` for bodies a, b: relative to the centre of a, normal from a to b.

    points = 1: the nearest (or deepest) nearest points over all convex pieces; 2: every part's manifold,
    each place once.  `row` is scratch.
    """
    p, q = (a, b) if kind[a] <= kind[b] else (b, a)
    if is_far(kind, body, p, q, cutoff):
        return 0
    dx, dy = body[q, 0] - body[p, 0], body[q, 1] - body[p, 1]
    count = 0
    # a body that is no polygon has no parts: it goes through the loop once, with a part that nobody reads
    for k_p in range(piece_start[p], max(piece_start[p + 1], piece_start[p] + 1)):
        for k_q in range(piece_start[q], max(piece_start[q + 1], piece_start[q] + 1)):
            rows = convex_pair(kind, vertex_start, body, edge, p, q, k_p, k_q, dx, dy, cutoff, points, row)
            for r in range(rows):
                if points == 1:
                    count = 0
                    cutoff = row[r, 0]
                elif is_known(row[r, 3], row[r, 4], row[r, 5], row[r, 6], 1e-9 * body[p, 3], count, found):
                    continue
                for column in range(FIELDS):
                    found[count, column] = row[r, column]
                count += 1
    if p != a:
        for r in range(count):
            px, py = found[r, 3], found[r, 4]
            nx, ny = found[r, 1], found[r, 2]
            write(found, r, found[r, 0], -nx, -ny, found[r, 5] - dx, found[r, 6] - dy, px - dx, py - dy)
    return count


@kernel
def is_known(px, py, qx, qy, tolerance, count, found):
    """Two parts that share a corner find it twice."""
    for r in range(count):
        if (
            abs(found[r, 3] - px) + abs(found[r, 4] - py) <= tolerance
            and abs(found[r, 5] - qx) + abs(found[r, 6] - qy) <= tolerance
        ):
            return True
    return False


@entry
def sweep(
    kind, radius, bounding_radius, point, axis, piece_start, vertex_start, vertex_body, vertex, edge_normal,
    edge_length,
    pairs, poses, cutoff, points,
    body, edge, row, found,
    sample_out, pair_out, found_out,
):  # fmt: skip
    """All samples, all pairs.  Returns how many rows there are, also beyond those that fit."""
    total = 0
    for s in range(poses.shape[0]):
        pose_bodies(
            poses[s], radius, bounding_radius, point, axis, vertex_body, vertex, edge_normal, edge_length, body, edge
        )
        for k in range(pairs.shape[0]):
            a, b = pairs[k, 0], pairs[k, 1]
            dx, dy, apart = body[b, 0] - body[a, 0], body[b, 1] - body[a, 1], body[a, 3] + body[b, 3] + cutoff
            if dx * dx + dy * dy > apart * apart:  # most pairs end here; before the call, which costs more
                continue
            count = body_pair(kind, piece_start, vertex_start, body, edge, a, b, cutoff, points, row, found)
            for r in range(count):
                if total < sample_out.shape[0]:
                    sample_out[total] = s
                    pair_out[total] = k
                    for column in range(FIELDS):
                        found_out[total, column] = found[r, column]
                    for column in range(3, FIELDS):
                        found_out[total, column] += body[a, (column - 3) % 2]
                total += 1
    return total

"""Gap of two planar solids: kernels.  Front: `planar_proximity`.

Everything is worked out relative to the centre of one body of the pair, in world axes: far from
the origin nothing is lost but what the poses themselves do not hold.  A row of `found` has the columns of `layout`, its
normal from p to q.

For convex sets the signed distance is the maximum over unit n of  n . (q - p) - h_P(n) - h_Q(-n)
where they overlap, as where they do not (Cameron & Culley 1986, the minimum translation distance);
for overlapping polygons the maximum is attained at an edge normal, because the boundary of the
Minkowski difference consists of the edges of both.
"""

import numpy as np

from reference_engine.compiler.kernels import entry, kernel
from reference_engine.geometry import layout as col
from reference_engine.geometry.planar_shapes import BOWL, DISC, HALF_PLANE, POLYGON
from reference_engine.geometry.planar_support import copy, edge, pose_bodies, vertices, write, write_near

NO_GAP = 2.0**-48  # of the distance of the centres along both axes: round-off of a gap


@kernel
def best_edge(posed, p, q, dx, dy):
    """Edge of piece p whose line keeps piece q furthest off: separation, edge, vertex of q that is nearest to it."""
    (p0, p1), (q0, q1), corner = vertices(posed, p), vertices(posed, q), posed.corner
    separation, best, nearest = -np.inf, p0, q0
    for i in range(p0, p1):
        x, y, nx, ny = edge(posed, i)
        lowest, at = np.inf, q0
        for j in range(q0, q1):
            height = nx * (corner[j, 0] + dx - x) + ny * (corner[j, 1] + dy - y)
            if height < lowest:
                lowest, at = height, j
        if lowest > separation:
            separation, best, nearest = lowest, i, at
    return separation, best, nearest


@kernel
def nearest_features(posed, p, q, dx, dy, side, best):
    """Distance of disjoint pieces: each vertex of q against each edge of p; kept if below `best`.

    side = 1: p, q are the pair's; side = -1: exchanged, with (dx, dy) from the pair's q to its p.
    A vertex over the inside of an edge takes the edge's normal, exact however small the distance.
    """
    (p0, p1), (q0, q1) = vertices(posed, p), vertices(posed, q)
    for i in range(p0, p1):
        x, y, nx, ny = edge(posed, i)
        for j in range(q0, q1):
            qx, qy = posed.corner[j, 0], posed.corner[j, 1]
            rx, ry = qx + dx - x, qy + dy - y
            along = rx * -ny + ry * nx
            if along < 0.0:
                distance = np.sqrt(rx * rx + ry * ry)
                if distance >= best or distance == 0.0:
                    continue
                mx, my = rx / distance, ry / distance
            else:
                distance = rx * nx + ry * ny
                if distance < 0.0 or distance >= best or along > posed.edge_length[i]:
                    continue
                mx, my = nx, ny
            best = distance
            ex, ey = qx + dx - distance * mx, qy + dy - distance * my
            if side > 0:
                write(posed.row, 0, distance, mx, my, ex, ey, qx + dx, qy + dy)
            else:
                write(posed.row, 0, distance, -mx, -my, qx, qy, ex - dx, ey - dy)
    return best


@kernel
def face_points(posed, i, q, dx, dy, side):
    """Manifold: the edge of piece q that faces edge i of the other, cut off at the ends of i.  How many rows.

    Each end has its own gap along the normal of i; Gottschalk's clipping as in every 2D engine,
    here without any tolerance.  `side` as in `nearest_features`.
    """
    (q0, q1), (x, y, nx, ny) = vertices(posed, q), edge(posed, i)
    facing, lowest = q0, np.inf
    for j in range(q0, q1):
        cosine = nx * posed.normal[j, 0] + ny * posed.normal[j, 1]
        if cosine < lowest:
            lowest, facing = cosine, j
    after = facing + 1 if facing + 1 < q1 else q0
    ax, ay = posed.corner[facing, 0] + dx - x, posed.corner[facing, 1] + dy - y
    bx, by = posed.corner[after, 0] + dx - x, posed.corner[after, 1] + dy - y
    t_a, t_b = ay * nx - ax * ny, by * nx - bx * ny  # along the edge, 0 to its length; t_a > t_b
    g_a, g_b = ax * nx + ay * ny, bx * nx + by * ny
    t_high, t_low = min(t_a, posed.edge_length[i]), max(t_b, 0.0)
    if t_high < t_low:
        return 0
    for end in range(2):
        t, near, gap = (t_high, t_a, g_a) if end == 0 else (t_low, t_b, g_b)
        if t != near and t_a > t_b:
            gap = g_b + (g_a - g_b) * ((t - t_b) / (t_a - t_b))
        px, py = x - ny * t, y + nx * t
        qx, qy = px + nx * gap, py + ny * gap
        if side > 0:
            write(posed.row, end, gap, nx, ny, px, py, qx, qy)
        else:
            write(posed.row, end, gap, -nx, -ny, qx - dx, qy - dy, px - dx, py - dy)
    return 1 if t_high == t_low else 2


@kernel
def least_gap(row, count):
    return min(row[0, col.GAP], row[1, col.GAP]) if count == 2 else row[0, col.GAP]


@kernel
def nearer_end(posed, i, q, j, dx, dy):
    """Vertex j of piece q, or a neighbour as deep to round-off that is nearer to the middle of edge i of the other."""
    (q0, q1), (x, y, nx, ny), corner = vertices(posed, q), edge(posed, i), posed.corner
    round_off, nearest, least, deepest = NO_GAP * (abs(dx) + abs(dy)), j, np.inf, 0.0
    for turn in range(3):
        k = j + (turn + 1) % 3 - 1  # j itself, the one after, the one before
        k = q1 - 1 if k < q0 else q0 if k == q1 else k
        rx, ry = corner[k, 0] + dx - x, corner[k, 1] + dy - y
        height, off = rx * nx + ry * ny, abs(ry * nx - rx * ny - 0.5 * posed.edge_length[i])
        if turn == 0:
            deepest = height
        if height <= deepest + round_off and off < least:
            nearest, least = k, off
    return nearest


@kernel
def polygon_polygon(posed, p, q, dx, dy, cutoff, points):
    """Convex pieces; d from the centre of p to that of q.  One pair of nearest points, or the manifold (points = 2)."""
    row = posed.row
    s_p, i, j = best_edge(posed, p, q, dx, dy)
    if s_p >= cutoff:
        return 0
    s_q, i_q, j_q = best_edge(posed, q, p, -dx, -dy)
    if s_q >= cutoff:
        return 0
    side = 1 if s_p >= s_q else -1
    gap = max(s_p, s_q)
    apart = gap > NO_GAP * (abs(dx) + abs(dy))
    if apart:  # else two corners have no direction from one to the other
        best = nearest_features(posed, p, q, dx, dy, 1, np.inf)
        best = nearest_features(posed, q, p, -dx, -dy, -1, best)
        if best >= cutoff:
            return 0
        if points == 1 or best > gap * (1.0 + 1e-12):  # two corners: nothing lies face to face
            return 1
    if side > 0:
        count = face_points(posed, i, q, dx, dy, 1)
    else:
        count = face_points(posed, i_q, p, -dx, -dy, -1)
    if count == 0 and apart:  # faces end to end, or nearly so: the two corners that are there already
        return 1
    if apart and least_gap(row, count) > best + NO_GAP * (abs(dx) + abs(dy)):  # the nearest corner is just past the end
        nearest_features(posed, p, q, dx, dy, 1, nearest_features(posed, q, p, -dx, -dy, -1, np.inf))
        return 1
    if count == 0:  # round-off at the end of an edge: the corner there
        if side > 0:
            j = nearer_end(posed, i, q, j, dx, dy)
            nx, ny = posed.normal[i, 0], posed.normal[i, 1]
            qx, qy = posed.corner[j, 0] + dx, posed.corner[j, 1] + dy
            write(row, 0, gap, nx, ny, qx - gap * nx, qy - gap * ny, qx, qy)
        else:
            j_q = nearer_end(posed, i_q, p, j_q, -dx, -dy)
            nx, ny = -posed.normal[i_q, 0], -posed.normal[i_q, 1]
            px, py = posed.corner[j_q, 0], posed.corner[j_q, 1]
            write(row, 0, gap, nx, ny, px, py, px + gap * nx, py + gap * ny)
        return 1
    if points == 1:
        if count == 2 and row[1, col.GAP] < row[0, col.GAP]:
            copy(row, 0, row, 1)
        return 1
    if count == 2 and row[1, col.GAP] >= cutoff:
        count = 1
    if row[0, col.GAP] >= cutoff:
        copy(row, 0, row, 1)
        count -= 1
    return count


@kernel
def polygon_disc(posed, p, radius, dx, dy, cutoff):
    """Disc q with centre d: distance of its centre, less the radius; centre inside: to the nearest edge."""
    p0, p1 = vertices(posed, p)
    depth, inner, best, mx, my = -np.inf, p0, np.inf, 0.0, 0.0
    for i in range(p0, p1):
        x, y, nx, ny = edge(posed, i)
        rx, ry = dx - x, dy - y
        height, along = rx * nx + ry * ny, ry * nx - rx * ny
        if height > depth:
            depth, inner = height, i
        if along < 0.0:
            distance = np.sqrt(rx * rx + ry * ry)
            if distance < best and distance > 0.0:
                best, mx, my = distance, rx / distance, ry / distance
        elif along <= posed.edge_length[i] and 0.0 <= height < best:
            best, mx, my = height, nx, ny
    if depth <= 0.0:
        best, mx, my = depth, posed.normal[inner, 0], posed.normal[inner, 1]
    px, py, qx, qy = dx - best * mx, dy - best * my, dx - radius * mx, dy - radius * my
    return write_near(posed.row, cutoff, best - radius, mx, my, px, py, qx, qy)


@kernel
def disc_disc(p_radius, q_radius, dx, dy, cutoff, row):
    """Concentric discs: the normal is +y."""
    distance = np.sqrt(dx * dx + dy * dy)
    gap = distance - p_radius - q_radius
    nx, ny = (dx / distance, dy / distance) if distance > 0.0 else (0.0, 1.0)
    qx, qy = dx - q_radius * nx, dy - q_radius * ny
    return write_near(row, cutoff, gap, nx, ny, p_radius * nx, p_radius * ny, qx, qy)


@kernel
def polygon_half_plane(posed, p, q, lx, ly, cutoff, points):
    """Line of q through l: the lowest vertex of p, and the lower of its neighbours."""
    (p0, p1), corner, nx, ny = vertices(posed, p), posed.corner, posed.line_normal[q, 0], posed.line_normal[q, 1]
    lowest, at = np.inf, p0
    for i in range(p0, p1):
        height = nx * (corner[i, 0] - lx) + ny * (corner[i, 1] - ly)
        if height < lowest:
            lowest, at = height, i
    if lowest >= cutoff:
        return 0
    px, py = corner[at, 0], corner[at, 1]
    write(posed.row, 0, lowest, -nx, -ny, px, py, px - lowest * nx, py - lowest * ny)
    if points == 1:
        return 1
    before, after = (at - 1 if at > p0 else p1 - 1), (at + 1 if at + 1 < p1 else p0)
    h_before = nx * (corner[before, 0] - lx) + ny * (corner[before, 1] - ly)
    h_after = nx * (corner[after, 0] - lx) + ny * (corner[after, 1] - ly)
    height, other = (h_before, before) if h_before < h_after else (h_after, after)
    if height >= cutoff:
        return 1
    px, py = corner[other, 0], corner[other, 1]
    write(posed.row, 1, height, -nx, -ny, px, py, px - height * nx, py - height * ny)
    return 2


@kernel
def disc_half_plane(radius, lx, ly, nx, ny, cutoff, row):
    height = -(nx * lx + ny * ly)
    px, py, qx, qy = -radius * nx, -radius * ny, -height * nx, -height * ny
    return write_near(row, cutoff, height - radius, -nx, -ny, px, py, qx, qy)


@kernel
def polygon_bowl(posed, p, radius, dx, dy, cutoff, points):
    """Circle about d, solid outside: the vertex furthest from d, and the next furthest."""
    p0, p1 = vertices(posed, p)
    count = 0
    taken = -1
    while count < points:
        furthest, at = -1.0, -1
        for i in range(p0, p1):
            distance = np.sqrt((posed.corner[i, 0] - dx) ** 2 + (posed.corner[i, 1] - dy) ** 2)
            if i != taken and distance > furthest:
                furthest, at = distance, i
        gap = radius - furthest
        if gap >= cutoff or furthest <= 0.0:
            break
        px, py = posed.corner[at, 0], posed.corner[at, 1]
        nx, ny = (px - dx) / furthest, (py - dy) / furthest
        write(posed.row, count, gap, nx, ny, px, py, dx + radius * nx, dy + radius * ny)
        taken = at
        count += 1
    return count


@kernel
def disc_bowl(p_radius, radius, dx, dy, cutoff, row):
    """Disc in the middle of the bowl: the normal is +y."""
    distance = np.sqrt(dx * dx + dy * dy)
    gap = radius - (distance + p_radius)
    nx, ny = (-dx / distance, -dy / distance) if distance > 0.0 else (0.0, 1.0)
    qx, qy = dx + radius * nx, dy + radius * ny
    return write_near(row, cutoff, gap, nx, ny, p_radius * nx, p_radius * ny, qx, qy)


@kernel
def convex_pair(posed, p, q, k_p, k_q, dx, dy, cutoff, points):
    """The table of shapes: p a polygon (its part k_p) or a disc, q any kind not before it (its part k_q)."""
    kind, radius, row = posed.kind, posed.radius, posed.row
    if kind[q] == POLYGON:
        return polygon_polygon(posed, k_p, k_q, dx, dy, cutoff, points)
    if kind[q] == DISC:
        if kind[p] == DISC:
            return disc_disc(radius[p], radius[q], dx, dy, cutoff, row)
        return polygon_disc(posed, k_p, radius[q], dx, dy, cutoff)
    if kind[q] == HALF_PLANE:
        lx, ly = dx + posed.line_point[q, 0], dy + posed.line_point[q, 1]
        if kind[p] == DISC:
            return disc_half_plane(radius[p], lx, ly, posed.line_normal[q, 0], posed.line_normal[q, 1], cutoff, row)
        return polygon_half_plane(posed, k_p, q, lx, ly, cutoff, points)
    if kind[p] == DISC:
        return disc_bowl(radius[p], radius[q], dx, dy, cutoff, row)
    return polygon_bowl(posed, k_p, radius[q], dx, dy, cutoff, points)


@kernel
def is_far(posed, p, q, dx, dy, cutoff):
    """By the circle around p alone: a lower bound of the gap is above the cutoff."""
    bounding_radius = posed.bounding_radius[p]
    if posed.kind[q] == HALF_PLANE:
        point, n = posed.line_point[q], posed.line_normal[q]
        return -(n[0] * (dx + point[0]) + n[1] * (dy + point[1])) - bounding_radius > cutoff
    if posed.kind[q] == BOWL:
        clearance = posed.radius[q] - bounding_radius - cutoff
        return clearance > 0.0 and dx * dx + dy * dy < clearance * clearance
    apart = bounding_radius + posed.bounding_radius[q] + cutoff
    return apart < 0.0 or dx * dx + dy * dy > apart * apart


@kernel
def body_pair(posed, a, b, cutoff, points):
    """Rows of posed.found for bodies a, b: relative to the centre of a, normal from a to b.

    points = 1: the nearest (or deepest) nearest points over all convex pieces; 2: every part's manifold,
    each place once.
    """
    row, found, piece_start = posed.row, posed.found, posed.piece_start
    p, q = (a, b) if posed.kind[a] <= posed.kind[b] else (b, a)
    dx, dy = posed.centre[q, 0] - posed.centre[p, 0], posed.centre[q, 1] - posed.centre[p, 1]
    if is_far(posed, p, q, dx, dy, cutoff):
        return 0
    count = 0
    # a body that is no polygon has no parts: it goes through the loop once, with a part that nobody reads
    for k_p in range(piece_start[p], max(piece_start[p + 1], piece_start[p] + 1)):
        for k_q in range(piece_start[q], max(piece_start[q + 1], piece_start[q] + 1)):
            rows = convex_pair(posed, p, q, k_p, k_q, dx, dy, cutoff, points)
            for r in range(rows):
                if points == 1:
                    count = 0
                    cutoff = row[r, col.GAP]
                elif is_known(row, r, 1e-9 * posed.bounding_radius[p], count, found):
                    continue
                copy(found, count, row, r)
                count += 1
    if p != a:
        for r in range(count):
            nx, ny = found[r, col.PLANAR_NORMAL], found[r, col.PLANAR_NORMAL + 1]
            px, py = found[r, col.PLANAR_ON_P], found[r, col.PLANAR_ON_P + 1]
            qx, qy = found[r, col.PLANAR_ON_Q], found[r, col.PLANAR_ON_Q + 1]
            write(found, r, found[r, col.GAP], -nx, -ny, qx - dx, qy - dy, px - dx, py - dy)
    return count


@kernel
def is_known(row, r, tolerance, count, found):
    """Two parts that share a corner find it twice."""
    p, q = col.PLANAR_ON_P, col.PLANAR_ON_Q
    for k in range(count):
        if (
            abs(found[k, p] - row[r, p]) + abs(found[k, p + 1] - row[r, p + 1]) <= tolerance
            and abs(found[k, q] - row[r, q]) + abs(found[k, q + 1] - row[r, q + 1]) <= tolerance
        ):
            return True
    return False


@entry
def sweep(posed, pairs, poses, cutoff, points, sample_out, pair_out, found_out):
    """All samples, all pairs.  Returns how many rows there are, also beyond those that fit."""
    centre, bounding_radius, total = posed.centre, posed.bounding_radius, 0
    for s in range(poses.shape[0]):
        pose_bodies(posed, poses[s])
        for k in range(pairs.shape[0]):
            a, b = pairs[k, 0], pairs[k, 1]
            dx, dy = centre[b, 0] - centre[a, 0], centre[b, 1] - centre[a, 1]
            apart = bounding_radius[a] + bounding_radius[b] + cutoff
            if dx * dx + dy * dy > apart * apart:  # most pairs end here; before the call, which costs more
                continue
            count = body_pair(posed, a, b, cutoff, points)
            for r in range(count):
                if total < sample_out.shape[0]:
                    sample_out[total] = s
                    pair_out[total] = k
                    copy(found_out, total, posed.found, r)
                    for c in range(2):
                        found_out[total, col.PLANAR_ON_P + c] += centre[a, c]
                        found_out[total, col.PLANAR_ON_Q + c] += centre[a, c]
                total += 1
    return total

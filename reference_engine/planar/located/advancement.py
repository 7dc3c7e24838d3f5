"""The first touch of a step, by conservative advancement on the dense output (after Mirtich 1996, sec. 2.3).

Convex bodies are apart while some line separates them. A line that moves with one of the bodies (an edge, or the
tangent of a round body or at a corner) has from every corner of the other the gap

    g   = n . (D + r) - c,          D from centre to centre, r to the corner, n and c fixed in the line's body
    g'  = n . (D' + w1 x r) + w2 n* . (D + r),                                              n* = (-n_y, n_x)
    g'' = n . D'' + 2 w2 n* . D' + a2 n* . D - w2^2 n . D - |r| ((a1 - a2) sin + (w1 - w2)^2 cos)

With M a bound of -g'' over the step, g cannot vanish before the positive root s of g + g' s - M s^2/2 = 0. Time
goes on by the least s of all corners under the best line: never past the first touch, and as fast as Newton's
method where it is near, also where a gap is not concave. Bounds come from the Bernstein coefficients of the step.
"""

import numpy as np

from reference_engine.geometry.kernels import entry, kernel
from reference_engine.planar.located.integrator import dense_value, enclose
from reference_engine.planar.located.layout import DISC, HALF_PLANE

OF_I, OF_J = np.int64(0), np.int64(1)  # as np.int64: a kernel is compiled once more for each plain literal
STALLED = 1e-12  # s, an advance that is a touch: what is left is closed by Newton's method


@kernel
def bounds_of_pair(solids, hull, h, i, j, bounds_out):
    """Over the whole step, of bodies i and j: |D|, |D'|, |D''|, |w_i|, |w_j|, |a_i|, |a_j|, |w_i - w_j|, |a_i - a_j|.

    D from the centre of j to that of i, w spins, a angular accelerations.
    """
    B = solids.kind.shape[0]
    ti, tj = 3 * B + 3 * i, 3 * B + 3 * j
    for c in range(9):
        bounds_out[c] = 0.0
    for r in range(8):
        dx, dy = hull[r, 3 * i] - hull[r, 3 * j], hull[r, 3 * i + 1] - hull[r, 3 * j + 1]
        vx, vy = hull[r, ti] - hull[r, tj], hull[r, ti + 1] - hull[r, tj + 1]
        bounds_out[0] = max(bounds_out[0], np.sqrt(dx * dx + dy * dy))
        bounds_out[1] = max(bounds_out[1], np.sqrt(vx * vx + vy * vy))
        bounds_out[3] = max(bounds_out[3], abs(hull[r, ti + 2]))
        bounds_out[4] = max(bounds_out[4], abs(hull[r, tj + 2]))
        bounds_out[7] = max(bounds_out[7], abs(hull[r, ti + 2] - hull[r, tj + 2]))
        if r > 0:
            ax = (vx - hull[r - 1, ti] + hull[r - 1, tj]) * 7.0 / h
            ay = (vy - hull[r - 1, ti + 1] + hull[r - 1, tj + 1]) * 7.0 / h
            ai, aj = (
                (hull[r, ti + 2] - hull[r - 1, ti + 2]) * 7.0 / h,
                (hull[r, tj + 2] - hull[r - 1, tj + 2]) * 7.0 / h,
            )
            bounds_out[2] = max(bounds_out[2], np.sqrt(ax * ax + ay * ay))
            bounds_out[5] = max(bounds_out[5], abs(ai))
            bounds_out[6] = max(bounds_out[6], abs(aj))
            bounds_out[8] = max(bounds_out[8], abs(ai - aj))


@kernel
def approach_of_centres(solids, hull, h, i, j, nx, ny):
    """The greatest of -n . D'' over the step, n fixed; D from j to i."""
    B = solids.kind.shape[0]
    ti, tj, most = 3 * B + 3 * i, 3 * B + 3 * j, -np.inf
    for r in range(1, 8):
        ax = hull[r, ti] - hull[r, tj] - hull[r - 1, ti] + hull[r - 1, tj]
        ay = hull[r, ti + 1] - hull[r, tj + 1] - hull[r - 1, ti + 1] + hull[r - 1, tj + 1]
        most = max(most, -(nx * ax + ny * ay) * 7.0 / h)
    return most


@kernel
def stays_apart(solids, hull, i, j, reach):
    """Are the bounding circles further than `reach` apart over the whole step?"""
    if solids.kind[j] == HALF_PLANE:
        angle, lowest = hull[0, 3 * j + 2], np.inf
        nx, ny = -np.sin(angle), np.cos(angle)
        for r in range(8):
            dx, dy = hull[r, 3 * i] - hull[r, 3 * j], hull[r, 3 * i + 1] - hull[r, 3 * j + 1]
            lowest = min(lowest, nx * dx + ny * dy)
        return lowest - solids.radius[i] > reach
    x, y = hull[0, 3 * i] - hull[0, 3 * j], hull[0, 3 * i + 1] - hull[0, 3 * j + 1]
    furthest = 0.0
    for r in range(1, 8):
        dx, dy = hull[r, 3 * i] - hull[r, 3 * j] - x, hull[r, 3 * i + 1] - hull[r, 3 * j + 1] - y
        furthest = max(furthest, np.sqrt(dx * dx + dy * dy))
    return np.sqrt(x * x + y * y) - furthest > solids.radius[i] + solids.radius[j] + reach


@kernel
def root(g, rate, M):
    """The greatest s with g + rate s - M s^2/2 >= 0, for g >= 0 and M > 0."""
    wide = np.sqrt(rate * rate + 2.0 * M * g)
    if rate >= 0.0:
        return (rate + wide) / M
    return 2.0 * g / (wide - rate)


@kernel
def holds(places, n, i, corner, j, edge):
    """Is this corner of i held on this edge of j?"""
    for k in range(n):
        if (
            places.body[k, 0] == i
            and places.body[k, 1] == j
            and places.feature[k, 0] == corner
            and places.feature[k, 1] == edge
        ):
            return True
    return False


@kernel
def safe_under_edge(solids, places, n, state_i, state_j, i, j, edge, turning, lead, bounds, allowance):
    """Seconds for which the line of this edge of j keeps all corners of i on its outer side."""
    cj, sj = np.cos(state_j[2]), np.sin(state_j[2])
    nx = cj * solids.normals[edge, 0] - sj * solids.normals[edge, 1]
    ny = sj * solids.normals[edge, 0] + cj * solids.normals[edge, 1]
    dx, dy = state_i[0] - state_j[0], state_i[1] - state_j[1]
    vx, vy = state_i[3] - state_j[3], state_i[4] - state_j[4]
    wi, wj = state_i[5], state_j[5]
    if solids.kind[i] == DISC:
        g = nx * dx + ny * dy - solids.offsets[edge] - solids.radius[i] + allowance
        rate = nx * vx + ny * vy + wj * (-ny * dx + nx * dy)
        return root(g, rate, lead) if g > 0.0 else 0.0
    ci, si = np.cos(state_i[2]), np.sin(state_i[2])
    shortest = np.inf
    for corner in range(solids.first[i], solids.first[i + 1]):
        rx = ci * solids.vertices[corner, 0] - si * solids.vertices[corner, 1]
        ry = si * solids.vertices[corner, 0] + ci * solids.vertices[corner, 1]
        g = nx * (dx + rx) + ny * (dy + ry) - solids.offsets[edge] + allowance
        if n > 0 and holds(places, n, i, corner, j, edge):
            continue
        if g <= 0.0:
            return 0.0
        rate = nx * (vx - wi * ry) + ny * (vy + wi * rx) + wj * (-ny * (dx + rx) + nx * (dy + ry))
        shortest = min(shortest, root(g, rate, lead + np.sqrt(rx * rx + ry * ry) * turning))
    return shortest


@kernel
def lead_bound(solids, hull, h, i, j, edge, moving, state_j, bounds, owner):
    """Of -g'' without the corner's part: lines of body `owner`, which is j or i; exact to sign where it is fixed."""
    if not moving:
        cj, sj = np.cos(state_j[2]), np.sin(state_j[2])
        nx = cj * solids.normals[edge, 0] - sj * solids.normals[edge, 1]
        ny = sj * solids.normals[edge, 0] + cj * solids.normals[edge, 1]
        return max(1e-9, approach_of_centres(solids, hull, h, i, j, nx, ny))
    w, a = bounds[3 + owner], bounds[5 + owner]
    return max(1e-9, bounds[2] + 2.0 * w * bounds[1] + (a + w * w) * bounds[0])


@kernel
def safe_time(solids, hull, h, places, n, state_i, state_j, i, j, bounds, allowance):
    """Seconds for which the pair is certain to stay apart, by the best line; i is a disc wherever one is."""
    turning = bounds[8] + bounds[7] * bounds[7]
    longest = 0.0
    if solids.kind[i] == DISC and solids.kind[j] != HALF_PLANE:
        return safe_time_of_disc(solids, hull, h, state_i, state_j, i, j, bounds, allowance)
    moving_j = solids.inv_mass[j] > 0.0
    for edge in range(solids.first[j], solids.first[j + 1]):
        lead = lead_bound(solids, hull, h, i, j, edge, moving_j, state_j, bounds, OF_J)
        s = safe_under_edge(solids, places, n, state_i, state_j, i, j, edge, turning, lead, bounds, allowance)
        longest = max(longest, s)
    if solids.kind[j] != HALF_PLANE:
        moving_i = solids.inv_mass[i] > 0.0
        for edge in range(solids.first[i], solids.first[i + 1]):
            lead = lead_bound(solids, hull, h, j, i, edge, moving_i, state_i, bounds, OF_I)
            s = safe_under_edge(solids, places, n, state_j, state_i, j, i, edge, turning, lead, bounds, allowance)
            longest = max(longest, s)
    return longest


@kernel
def safe_time_of_disc(solids, hull, h, state_i, state_j, i, j, bounds, allowance):
    """Disc i against disc or polygon j, under the tangent at the nearest point, which moves with j."""
    dx, dy = state_i[0] - state_j[0], state_i[1] - state_j[1]
    vx, vy = state_i[3] - state_j[3], state_i[4] - state_j[4]
    if solids.kind[j] == DISC:  # the tangent need not turn with a round body
        distance = np.sqrt(dx * dx + dy * dy)
        nx, ny = dx / distance, dy / distance
        g = distance - solids.radius[i] - solids.radius[j] + allowance
        lead = max(1e-9, approach_of_centres(solids, hull, h, i, j, nx, ny))
        return root(g, nx * vx + ny * vy, lead) if g > 0.0 else 0.0
    cj, sj = np.cos(state_j[2]), np.sin(state_j[2])
    bx, by = cj * dx + sj * dy, -sj * dx + cj * dy  # the disc's centre in body axes of j
    height, best = -np.inf, solids.first[j]
    for edge in range(solids.first[j], solids.first[j + 1]):
        d = solids.normals[edge, 0] * bx + solids.normals[edge, 1] * by - solids.offsets[edge]
        if d > height:
            height, best = d, edge
    mx, my, g = solids.normals[best, 0], solids.normals[best, 1], height
    nearest = np.inf
    for corner in range(solids.first[j], solids.first[j + 1]):
        previous = corner - 1 if corner > solids.first[j] else solids.first[j + 1] - 1
        rx, ry = bx - solids.vertices[corner, 0], by - solids.vertices[corner, 1]
        past_next = -solids.normals[corner, 1] * rx + solids.normals[corner, 0] * ry
        past_previous = -solids.normals[previous, 1] * rx + solids.normals[previous, 0] * ry
        distance = np.sqrt(rx * rx + ry * ry)
        if past_next < 0.0 and past_previous > 0.0 and distance < nearest:
            nearest, g, mx, my = distance, distance, rx / distance, ry / distance
    nx, ny, wj = cj * mx - sj * my, sj * mx + cj * my, state_j[5]
    g += allowance - solids.radius[i]
    if g <= 0.0:
        return 0.0
    rate = nx * vx + ny * vy + wj * (-ny * dx + nx * dy)
    if solids.inv_mass[j] == 0.0:
        return root(g, rate, max(1e-9, approach_of_centres(solids, hull, h, i, j, nx, ny)))
    lead = bounds[2] + 2.0 * bounds[4] * bounds[1] + (bounds[6] + bounds[4] * bounds[4]) * bounds[0]
    return root(g, rate, max(1e-9, lead))


@entry
def first_touch(solids, places, n, work, y, h, allowance, passed, ahead, pair_state):
    """(part of the step, pair) of the first touch that is not held; (2, -1) if there is none.

    A gap counts as closed at -allowance [m]. The first n places hold; a pair that two places hold is locked face to
    face, and so is any pair with a disc that one holds. Pair `passed` is looked at only from `ahead` seconds on.
    pair_state: scratch, (3, 9).
    """
    B = solids.kind.shape[0]
    F, hull = work.dense, work.hull
    enclose(y, F, hull)
    first, at = 2.0, np.int64(-1)
    state_i, state_j, bounds = pair_state[0], pair_state[1], pair_state[2]
    for p in range(solids.pairs.shape[0]):
        i, j = solids.pairs[p, 0], solids.pairs[p, 1]
        if stays_apart(solids, hull, i, j, allowance):
            continue
        held = 0
        for k in range(n):
            if (places.body[k, 0] == i and places.body[k, 1] == j) or (
                places.body[k, 0] == j and places.body[k, 1] == i
            ):
                held += 1
        if held >= 2 or (held == 1 and solids.kind[i] == DISC):
            continue
        bounds_of_pair(solids, hull, h, i, j, bounds)
        x, end = (ahead / h if p == passed else 0.0), min(1.0, first)
        while x < end:
            for c in range(3):
                state_i[c], state_j[c] = dense_value(y, F, x, 3 * i + c), dense_value(y, F, x, 3 * j + c)
                state_i[3 + c] = dense_value(y, F, x, 3 * B + 3 * i + c)
                state_j[3 + c] = dense_value(y, F, x, 3 * B + 3 * j + c)
            s = safe_time(solids, hull, h, places, held * n, state_i, state_j, i, j, bounds, allowance)
            if s <= STALLED or x + s / h == x:
                first, at = x, np.int64(p)
                break
            x += s / h
    return first, at

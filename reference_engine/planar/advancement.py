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

from reference_engine.compiler.kernels import kernel
from reference_engine.dop853 import dense_value, enclose
from reference_engine.elementary_kernels import cosine_and_sine
from reference_engine.planar.approach import (
    OF_I,
    OF_J,
    STALLED,
    approach_of_centres,
    lead_bound,
    root,
    safe_in_hollow,
    safe_inside,
    safe_rounded,
)
from reference_engine.planar.convex_pieces import BOWL, DISC, HALF_PLANE, HOLLOW, ROUNDED
from reference_engine.planar.islands import is_loose
from reference_engine.planar.layout import (
    BODY_I,
    BODY_J,
    NX,
    NY,
    PART_I,
    PART_J,
    R1,
    R2,
    ROLE,
    ROPE,
    TIME,
    U1X,
    U1Y,
    P,
    Q,
    part_of,
)
from reference_engine.planar.rows import measure

MOST_LOOKS = 10_000  # at one pair in one step, before it counts as a touch


@kernel
def bounds_of_pair(solids, hull, h, i, j, bounds_out):
    """|D|, |D'|, |D''|, |w_i|, |w_j|, |a_i|, |a_j|, |w_i - w_j|, |a_i - a_j| over the whole step; i and j are rows.

    D from the centre of j to that of i, w spins, a angular accelerations.
    """
    B = solids.inv_mass.shape[0]
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
def clearance(solids, hull, i, j):
    """How far apart the bounding circles are at least, over the whole step [m]. (Of a bowl: inside its circle.)"""
    radius_i, radius_j, kind = solids.radius[i], solids.radius[j], solids.kind[j]
    i, j = solids.row[i], solids.row[j]
    if kind == HALF_PLANE:
        angle, lowest = hull[0, 3 * j + 2], np.inf
        cosine, sine = cosine_and_sine(angle)
        nx, ny = -sine, cosine
        for r in range(8):
            dx, dy = hull[r, 3 * i] - hull[r, 3 * j], hull[r, 3 * i + 1] - hull[r, 3 * j + 1]
            lowest = min(lowest, nx * dx + ny * dy)
        return lowest - radius_i
    x, y = hull[0, 3 * i] - hull[0, 3 * j], hull[0, 3 * i + 1] - hull[0, 3 * j + 1]
    furthest = 0.0
    for r in range(1, 8):
        dx, dy = hull[r, 3 * i] - hull[r, 3 * j] - x, hull[r, 3 * i + 1] - hull[r, 3 * j + 1] - y
        furthest = max(furthest, np.sqrt(dx * dx + dy * dy))
    if kind == BOWL:
        return radius_j - (np.sqrt(x * x + y * y) + furthest + radius_i)
    return np.sqrt(x * x + y * y) - furthest - radius_i - radius_j


@kernel
def charge_travel(hull, travelled):
    """How far each row gets in this step from where it was reckoned last; it is reckoned at the step's end from now on.

    So what a pair is apart, less what both have travelled, is a bound for all of the step, and for the next again:
    pairs that are far need no look. A step that ends early, and a body that is moved at an event, count as travel.
    """
    for i in range(travelled.shape[0]):
        furthest = 0.0
        for r in range(8):
            dx, dy = hull[r, 3 * i] - travelled[i, 0], hull[r, 3 * i + 1] - travelled[i, 1]
            furthest = max(furthest, np.sqrt(dx * dx + dy * dy))
        travelled[i, 0], travelled[i, 1], travelled[i, 2] = hull[7, 3 * i], hull[7, 3 * i + 1], furthest


@kernel
def holds(places, n, corner, edge):
    """Is this corner held on this edge?"""
    found = False
    for k in range(n):
        found = found or (places.id[k, P] == corner and places.id[k, Q] == edge)
    return found


@kernel
def safe_under_edge(solids, hull, h, places, n, state_i, state_j, i, j, edge, turning, bounds, owner, allowance):
    """Seconds for which the line of this edge of j keeps all corners of i on its outer side."""
    cj, sj = cosine_and_sine(state_j[2])
    nx = cj * solids.normals[edge, 0] - sj * solids.normals[edge, 1]
    ny = sj * solids.normals[edge, 0] + cj * solids.normals[edge, 1]
    dx, dy = state_i[0] - state_j[0], state_i[1] - state_j[1]
    vx, vy = state_i[3] - state_j[3], state_i[4] - state_j[4]
    wi, wj = state_i[5], state_j[5]
    lead = lead_bound(solids, hull, h, i, j, nx, ny, bounds, owner)
    if solids.kind[i] == DISC:
        g = nx * dx + ny * dy - solids.offsets[edge] - solids.radius[i] + allowance
        rate = nx * vx + ny * vy + wj * (-ny * dx + nx * dy)
        return root(g, rate, lead) if g > 0.0 else 0.0
    ci, si = cosine_and_sine(state_i[2])
    shortest = np.inf
    for corner in range(solids.first[i], solids.first[i + 1]):
        rx = ci * solids.vertices[corner, 0] - si * solids.vertices[corner, 1]
        ry = si * solids.vertices[corner, 0] + ci * solids.vertices[corner, 1]
        g = nx * (dx + rx) + ny * (dy + ry) - solids.offsets[edge] + allowance
        if n > 0 and holds(places, n, corner, edge):
            continue
        if g <= 0.0:
            return 0.0
        rate = nx * (vx - wi * ry) + ny * (vy + wi * rx) + wj * (-ny * (dx + rx) + nx * (dy + ry))
        shortest = min(shortest, root(g, rate, lead + np.sqrt(rx * rx + ry * ry) * turning))
    return shortest


@kernel
def safe_time(solids, hull, h, places, n, state_i, state_j, i, j, bounds, allowance):
    """Seconds for which the pair is certain to stay apart, by the best line; i is a disc wherever one is."""
    turning = bounds[8] + bounds[7] * bounds[7]
    longest = 0.0
    if solids.kind[j] in (BOWL, HOLLOW):
        return safe_in_hollow(solids, places, n, state_i, state_j, i, j, bounds, allowance)
    if solids.kind[i] == ROUNDED or solids.kind[j] == ROUNDED:
        return safe_rounded(solids, hull, h, places, n, state_i, state_j, i, j, bounds, allowance)
    if solids.kind[i] == DISC and solids.kind[j] != HALF_PLANE:
        return safe_time_of_disc(solids, hull, h, state_i, state_j, i, j, bounds, allowance)
    for edge in range(solids.first[j], solids.first[j + 1]):
        s = safe_under_edge(solids, hull, h, places, n, state_i, state_j, i, j, edge, turning, bounds, OF_J, allowance)
        longest = max(longest, s)
    if solids.kind[j] != HALF_PLANE:
        for edge in range(solids.first[i], solids.first[i + 1]):
            s = safe_under_edge(
                solids, hull, h, places, n, state_j, state_i, j, i, edge, turning, bounds, OF_I, allowance
            )
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
    cj, sj = cosine_and_sine(state_j[2])
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
    return root(g, rate, lead_bound(solids, hull, h, i, j, nx, ny, bounds, OF_J))


@kernel
def safe_on_rope(solids, c, state_i, state_j, bounds, allowance):
    """Seconds for which rope c stays slack: its ends within a circle of its length about each other."""
    p, q = solids.connectors[c, P], solids.connectors[c, Q]
    ci, si = cosine_and_sine(state_i[2])
    cj, sj = cosine_and_sine(state_j[2])
    ux = ci * solids.vertices[p, 0] - si * solids.vertices[p, 1]
    uy = si * solids.vertices[p, 0] + ci * solids.vertices[p, 1]
    wx = cj * solids.vertices[q, 0] - sj * solids.vertices[q, 1]
    wy = sj * solids.vertices[q, 0] + cj * solids.vertices[q, 1]
    vx = state_i[3] - state_i[5] * uy - state_j[3] + state_j[5] * wy
    vy = state_i[4] + state_i[5] * ux - state_j[4] - state_j[5] * wx
    a, b = np.sqrt(ux * ux + uy * uy), np.sqrt(wx * wx + wy * wy)
    fastest = bounds[1] + a * bounds[3] + b * bounds[4]
    most = bounds[2] + a * (bounds[5] + bounds[3] * bounds[3]) + b * (bounds[6] + bounds[4] * bounds[4])
    length = -solids.connector_figures[c, R2] + allowance
    cx, cy = state_i[0] + ux - state_j[0] - wx, state_i[1] + uy - state_j[1] - wy
    return safe_inside(length, cx, cy, vx, vy, fastest, most)


@kernel
def write_state(solids, y, F, x, i, out):
    """Pose and twist of row i at the part x of the step."""
    loose, twist = is_loose(solids, i), 3 * solids.inv_mass.shape[0]
    for c in range(3):
        out[c] = dense_value(y, F, x, 3 * i + c) if loose else y[3 * i + c]
        out[3 + c] = dense_value(y, F, x, twist + 3 * i + c) if loose else y[twist + 3 * i + c]


@kernel
def is_flush(solids, y, places, n, i, j, work):
    """Are convex parts held at two places or more that lie apart?"""
    if solids.kind[i] != ROUNDED and solids.kind[j] != ROUNDED:
        return True
    G, x, z, seen = work.geometry, 0.0, 0.0, False
    for k in range(n):
        if not between(i, j, places.id[k, PART_I], places.id[k, PART_J]):
            continue
        measure(solids, y, places, k, G)
        a, r1 = 3 * places.id[k, BODY_I], places.figure[k, R1]
        px, pz = y[a] + G[k, U1X] - r1 * G[k, NX], y[a + 1] + G[k, U1Y] - r1 * G[k, NY]
        if seen and abs(px - x) + abs(pz - z) > 1e-9:
            return True
        x, z, seen = px, pz, True
    return False


@kernel
def between(i, j, a, b):
    return (i == a and j == b) or (i == b and j == a)


@kernel
def first_touch(solids, places, n, work, clock, h, allowance):
    """(part of the step, pair) of the first touch that is not held; (2, -1) if there is none.

    A gap counts as closed at -allowance [m]. The first n places hold; two parts that two places hold are locked face
    to face, and so are any with a disc that one holds. Pairs passed at this instant are looked at only a little later.
    Connectors follow the pairs in number: a rope that becomes taut.
    """
    F, hull, y, apart, travelled = work.dense, work.hull, clock.y, clock.apart, clock.travelled
    enclose(y, F, solids.free, hull)
    charge_travel(hull, travelled)
    first, at = 2.0, np.int64(-1)
    state_i, state_j, bounds = work.pair[0], work.pair[1], work.pair[2]
    pairs = solids.pairs.shape[0]
    for p in range(pairs + solids.connectors.shape[0]):
        held = 0
        if p < pairs:
            i, j = solids.pairs[p, 0], solids.pairs[p, 1]
            a, b = solids.row[i], solids.row[j]
            apart[p] -= travelled[a, 2] + travelled[b, 2]
            if apart[p] > allowance:
                continue
            apart[p] = clearance(solids, hull, i, j)
            if apart[p] > allowance:
                continue
            for k in range(n):
                if (places.id[k, PART_I] == i and places.id[k, PART_J] == j) or (
                    places.id[k, PART_I] == j and places.id[k, PART_J] == i
                ):
                    held += 1
            if solids.kind[j] not in (BOWL, HOLLOW) and (
                (held == 1 and solids.kind[i] == DISC) or (held >= 2 and is_flush(solids, y, places, n, i, j, work))
            ):
                continue
            if held == 1 and solids.kind[i] == DISC and solids.kind[j] == BOWL:
                continue
        else:
            i = j = np.int64(-1)
            a, b = solids.connectors[p - pairs, BODY_I], solids.connectors[p - pairs, BODY_J]
            if solids.connectors[p - pairs, ROLE] != ROPE:
                continue
            for k in range(n):
                if places.id[k, PART_I] == part_of(p - pairs):
                    held += 1
            if held > 0:
                continue
        bounds_of_pair(solids, hull, h, a, b, bounds)
        x, end, looks = (STALLED / h if clock.passed[p] == clock.now[TIME] else 0.0), min(1.0, first), 0
        while x < end:
            looks += 1
            write_state(solids, y, F, x, a, state_i)
            write_state(solids, y, F, x, b, state_j)
            if p < pairs:
                arcs = solids.kind[i] == ROUNDED or solids.kind[j] in (ROUNDED, HOLLOW)
                few = n if arcs else held * n  # of others than those of the pair none counts
                s = safe_time(solids, hull, h, places, few, state_i, state_j, i, j, bounds, allowance)
            else:
                s = safe_on_rope(solids, p - pairs, state_i, state_j, bounds, allowance)
            if s <= STALLED or x + s / h == x or looks > MOST_LOOKS:
                first, at = x, np.int64(p)
                break
            x += s / h
    return first, at

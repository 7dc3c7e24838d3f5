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
from reference_engine.planar import approach
from reference_engine.planar import layout as col
from reference_engine.planar.convex_pieces import BOWL, CONCAVE_ARC, DISC, HALF_PLANE, ROUNDED
from reference_engine.planar.features import over_polygon
from reference_engine.planar.islands import is_loose
from reference_engine.planar.layout import arm_of, piece_of
from reference_engine.planar.rows import measure

MOST_QUERIES = 10_000  # at one pair in one step, before it counts as a touch


@kernel
def bounds_of_pair(model, bernstein, h, i, j, bounds_out):
    """BOUNDS of rows i and j over the whole step; the DISTANCE is from the centre of j to that of i."""
    B = model.inv_mass.shape[0]
    ti, tj = 3 * B + 3 * i, 3 * B + 3 * j
    for c in range(bounds_out.shape[0]):
        bounds_out[c] = 0.0
    for r in range(8):
        dx, dy = bernstein[r, 3 * i] - bernstein[r, 3 * j], bernstein[r, 3 * i + 1] - bernstein[r, 3 * j + 1]
        vx, vy = bernstein[r, ti] - bernstein[r, tj], bernstein[r, ti + 1] - bernstein[r, tj + 1]
        bounds_out[col.DISTANCE] = max(bounds_out[col.DISTANCE], np.sqrt(dx * dx + dy * dy))
        bounds_out[col.SPEED] = max(bounds_out[col.SPEED], np.sqrt(vx * vx + vy * vy))
        bounds_out[col.SPIN_I] = max(bounds_out[col.SPIN_I], abs(bernstein[r, ti + 2]))
        bounds_out[col.SPIN_J] = max(bounds_out[col.SPIN_J], abs(bernstein[r, tj + 2]))
        bounds_out[col.RELATIVE_SPIN] = max(
            bounds_out[col.RELATIVE_SPIN], abs(bernstein[r, ti + 2] - bernstein[r, tj + 2])
        )
        if r > 0:
            ax = (vx - bernstein[r - 1, ti] + bernstein[r - 1, tj]) * 7.0 / h
            ay = (vy - bernstein[r - 1, ti + 1] + bernstein[r - 1, tj + 1]) * 7.0 / h
            ai = (bernstein[r, ti + 2] - bernstein[r - 1, ti + 2]) * 7.0 / h
            aj = (bernstein[r, tj + 2] - bernstein[r - 1, tj + 2]) * 7.0 / h
            bounds_out[col.ACCELERATION] = max(bounds_out[col.ACCELERATION], np.sqrt(ax * ax + ay * ay))
            bounds_out[col.SPIN_RATE_I] = max(bounds_out[col.SPIN_RATE_I], abs(ai))
            bounds_out[col.SPIN_RATE_J] = max(bounds_out[col.SPIN_RATE_J], abs(aj))
            bounds_out[col.RELATIVE_SPIN_RATE] = max(bounds_out[col.RELATIVE_SPIN_RATE], abs(ai - aj))


@kernel
def clearance(model, bernstein, i, j):
    """How far apart the bounding circles are at least, over the whole step [m]. (Of a bowl: inside its circle.)"""
    radius_i, radius_j, kind = model.radius[i], model.radius[j], model.kind[j]
    i, j = model.row[i], model.row[j]
    if kind == HALF_PLANE:
        angle, lowest = bernstein[0, 3 * j + 2], np.inf
        cosine, sine = cosine_and_sine(angle)
        nx, ny = -sine, cosine
        for r in range(8):
            dx, dy = bernstein[r, 3 * i] - bernstein[r, 3 * j], bernstein[r, 3 * i + 1] - bernstein[r, 3 * j + 1]
            lowest = min(lowest, nx * dx + ny * dy)
        return lowest - radius_i
    x, y = bernstein[0, 3 * i] - bernstein[0, 3 * j], bernstein[0, 3 * i + 1] - bernstein[0, 3 * j + 1]
    furthest = 0.0
    for r in range(1, 8):
        dx, dy = bernstein[r, 3 * i] - bernstein[r, 3 * j] - x, bernstein[r, 3 * i + 1] - bernstein[r, 3 * j + 1] - y
        furthest = max(furthest, np.sqrt(dx * dx + dy * dy))
    if kind == BOWL:
        return radius_j - (np.sqrt(x * x + y * y) + furthest + radius_i)
    return np.sqrt(x * x + y * y) - furthest - radius_i - radius_j


@kernel
def charge_travel(bernstein, travelled):
    """How far each row gets in this step from where it was reckoned last; it is reckoned at the step's end from now on.

    So what a pair is apart, less what both have travelled, is a bound for all of the step, and for the next again:
    pairs that are far need no look. A step that ends early, and a body that is moved at an event, count as travel.
    """
    for i in range(travelled.shape[0]):
        furthest = 0.0
        for r in range(8):
            dx, dy = bernstein[r, 3 * i] - travelled[i, 0], bernstein[r, 3 * i + 1] - travelled[i, 1]
            furthest = max(furthest, np.sqrt(dx * dx + dy * dy))
        travelled[i, 0], travelled[i, 1], travelled[i, 2] = bernstein[7, 3 * i], bernstein[7, 3 * i + 1], furthest


@kernel
def safe_over_edge(run, n, i, j, edge, owner):
    """Seconds for which i stays on the outer side of the line of this edge of j; owner: of the pair, j."""
    model, nx, ny, offset = run.model, run.model.normals[edge, 0], run.model.normals[edge, 1], run.model.offsets[edge]
    if model.kind[i] != DISC:
        return approach.safe_over_line(run, n, i, j, nx, ny, offset, edge, col.LINE, owner)
    state_i, state_j = run.work.pair[1 - owner], run.work.pair[owner]
    cj, sj = cosine_and_sine(state_j[col.ANGLE])
    nx, ny = cj * nx - sj * ny, sj * nx + cj * ny
    dx, dy = state_i[col.X] - state_j[col.X], state_i[col.Y] - state_j[col.Y]
    vx, vy = state_i[col.VX] - state_j[col.VX], state_i[col.VY] - state_j[col.VY]
    g = nx * dx + ny * dy - offset - model.radius[i] + run.loop.now[col.ALLOWANCE]
    rate = nx * vx + ny * vy + state_j[col.SPIN] * (-ny * dx + nx * dy)
    return approach.root(g, rate, approach.lead_bound(run, i, j, nx, ny, owner)) if g > 0.0 else 0.0


@kernel
def safe_time(run, n, i, j):
    """Seconds for which the pair is certain to stay apart, by the best line; i is a disc wherever one is."""
    model, longest = run.model, 0.0
    if model.kind[j] in (BOWL, CONCAVE_ARC):
        return approach.safe_in_concave_arc(run, n, i, j)
    if model.kind[i] == ROUNDED or model.kind[j] == ROUNDED:
        return approach.safe_rounded(run, n, i, j)
    if model.kind[i] == DISC and model.kind[j] != HALF_PLANE:
        return safe_time_of_disc(run, i, j)
    for edge in range(model.first[j], model.first[j + 1]):
        longest = max(longest, safe_over_edge(run, n, i, j, edge, col.OF_J))
    if model.kind[j] != HALF_PLANE:
        for edge in range(model.first[i], model.first[i + 1]):
            longest = max(longest, safe_over_edge(run, n, j, i, edge, col.OF_I))
    return longest


@kernel
def safe_time_of_disc(run, i, j):
    """Disc i against disc or polygon j, under the tangent at the nearest point, which moves with j."""
    model, allowance = run.model, run.loop.now[col.ALLOWANCE]
    state_i, state_j = run.work.pair[col.OF_I], run.work.pair[col.OF_J]
    dx, dy = state_i[col.X] - state_j[col.X], state_i[col.Y] - state_j[col.Y]
    vx, vy = state_i[col.VX] - state_j[col.VX], state_i[col.VY] - state_j[col.VY]
    if model.kind[j] == DISC:  # the tangent need not turn with a round body
        distance = np.sqrt(dx * dx + dy * dy)
        nx, ny = dx / distance, dy / distance
        g = distance - model.radius[i] - model.radius[j] + allowance
        lead = max(1e-9, approach.approach_of_centres(run, i, j, nx, ny))
        return approach.root(g, nx * vx + ny * vy, lead) if g > 0.0 else 0.0
    cj, sj = cosine_and_sine(state_j[col.ANGLE])
    bx, by = cj * dx + sj * dy, -sj * dx + cj * dy  # the disc's centre in body axes of j
    g, edge, corner = over_polygon(model, j, bx, by, 0.0)
    mx, my = model.normals[edge, 0], model.normals[edge, 1]
    if corner >= 0:
        rx, ry = bx - model.vertices[corner, 0], by - model.vertices[corner, 1]
        g = np.sqrt(rx * rx + ry * ry)
        mx, my = rx / g, ry / g
    nx, ny, wj = cj * mx - sj * my, sj * mx + cj * my, state_j[col.SPIN]
    g += allowance - model.radius[i]
    if g <= 0.0:
        return 0.0
    rate = nx * vx + ny * vy + wj * (-ny * dx + nx * dy)
    return approach.root(g, rate, approach.lead_bound(run, i, j, nx, ny, col.OF_J))


@kernel
def safe_on_rope(run, c):
    """Seconds for which rope c stays slack: its ends within a circle of its length about each other."""
    model, pair, allowance = run.model, run.work.pair, run.loop.now[col.ALLOWANCE]
    state_i, state_j, bounds = pair[col.OF_I], pair[col.OF_J], pair[col.BOUNDS]
    p, q = model.connectors[c, col.P], model.connectors[c, col.Q]
    ci, si = cosine_and_sine(state_i[col.ANGLE])
    cj, sj = cosine_and_sine(state_j[col.ANGLE])
    ux, uy = arm_of(model, p, ci, si)
    wx, wy = arm_of(model, q, cj, sj)
    vx = state_i[col.VX] - state_i[col.SPIN] * uy - state_j[col.VX] + state_j[col.SPIN] * wy
    vy = state_i[col.VY] + state_i[col.SPIN] * ux - state_j[col.VY] - state_j[col.SPIN] * wx
    a, b = np.sqrt(ux * ux + uy * uy), np.sqrt(wx * wx + wy * wy)
    fastest = bounds[col.SPEED] + a * bounds[col.SPIN_I] + b * bounds[col.SPIN_J]
    most = (
        bounds[col.ACCELERATION]
        + a * (bounds[col.SPIN_RATE_I] + bounds[col.SPIN_I] * bounds[col.SPIN_I])
        + b * (bounds[col.SPIN_RATE_J] + bounds[col.SPIN_J] * bounds[col.SPIN_J])
    )
    length = -model.connector_values[c, col.R2] + allowance
    cx, cy = state_i[col.X] + ux - state_j[col.X] - wx, state_i[col.Y] + uy - state_j[col.Y] - wy
    return approach.safe_inside(length, cx, cy, vx, vy, fastest, most)


@kernel
def write_state(model, y, F, x, i, out):
    """Pose and twist of row i at the fraction x of the step."""
    loose, twist = is_loose(model, i), 3 * model.inv_mass.shape[0]
    for c in range(3):
        out[c] = dense_value(y, F, x, 3 * i + c) if loose else y[3 * i + c]
        out[3 + c] = dense_value(y, F, x, twist + 3 * i + c) if loose else y[twist + 3 * i + c]


@kernel
def is_flush(model, y, contacts, n, i, j, work):
    """Are convex pieces held at two contacts or more that lie apart?"""
    if model.kind[i] != ROUNDED and model.kind[j] != ROUNDED:
        return True
    G, x, z, seen = work.geometry, 0.0, 0.0, False
    for k in range(n):
        if not between(i, j, contacts.id[k, col.PIECE_I], contacts.id[k, col.PIECE_J]):
            continue
        measure(model, y, contacts, k, G)
        a, r1 = 3 * contacts.id[k, col.BODY_I], contacts.value[k, col.R1]
        px, pz = y[a] + G[k, col.U1X] - r1 * G[k, col.NX], y[a + 1] + G[k, col.U1Y] - r1 * G[k, col.NY]
        if seen and abs(px - x) + abs(pz - z) > 1e-9:
            return True
        x, z, seen = px, pz, True
    return False


@kernel
def between(i, j, a, b):
    return (i == a and j == b) or (i == b and j == a)


@kernel
def first_closing(run):
    """(fraction of the step, pair) of the first touch that is not held; (2, -1) if there is none.

    A gap counts as closed at -ALLOWANCE. Of contacts that hold two pieces that two contacts hold are locked
    face to face, and so are any with a disc that one holds. Pairs passed at this time are looked at only a little
    later. Connectors follow the pairs in number: a rope that becomes taut.
    """
    model, contacts, work, loop, now = run.model, run.active, run.work, run.loop, run.loop.now
    bernstein, y, apart, travelled = work.bernstein, loop.y, loop.apart, loop.travelled
    h, allowance, n = now[col.DENSE], now[col.ALLOWANCE], loop.counters[col.ACTIVE]
    enclose(y, work.dense, model.free, bernstein)
    charge_travel(bernstein, travelled)
    first, at = 2.0, np.int64(-1)
    pairs = model.pairs.shape[0]
    for p in range(pairs + model.connectors.shape[0]):
        active_count = 0
        if p < pairs:
            i, j = model.pairs[p, 0], model.pairs[p, 1]
            a, b = model.row[i], model.row[j]
            apart[p] -= travelled[a, 2] + travelled[b, 2]
            if apart[p] > allowance:
                continue
            apart[p] = clearance(model, bernstein, i, j)
            if apart[p] > allowance:
                continue
            for k in range(n):
                if between(i, j, contacts.id[k, col.PIECE_I], contacts.id[k, col.PIECE_J]):
                    active_count += 1
            if model.kind[j] not in (BOWL, CONCAVE_ARC) and (
                (active_count == 1 and model.kind[i] == DISC)
                or (active_count >= 2 and is_flush(model, y, contacts, n, i, j, work))
            ):
                continue
            if active_count == 1 and model.kind[i] == DISC and model.kind[j] == BOWL:
                continue
        else:
            i = j = np.int64(-1)
            a, b = model.connectors[p - pairs, col.BODY_I], model.connectors[p - pairs, col.BODY_J]
            if model.connectors[p - pairs, col.ROLE] != col.ROPE:
                continue
            for k in range(n):
                if contacts.id[k, col.PIECE_I] == piece_of(p - pairs):
                    active_count += 1
            if active_count > 0:
                continue
        bounds_of_pair(model, bernstein, h, a, b, work.pair[col.BOUNDS])
        x, end, queries = (approach.STALLED / h if loop.passed[p] == now[col.TIME] else 0.0), min(1.0, first), 0
        while x < end:
            queries += 1
            write_state(model, y, work.dense, x, a, work.pair[col.OF_I])
            write_state(model, y, work.dense, x, b, work.pair[col.OF_J])
            if p < pairs:
                arcs = model.kind[i] == ROUNDED or model.kind[j] in (ROUNDED, CONCAVE_ARC)
                few = n if arcs else active_count * n  # of others than those of the pair none counts
                s = safe_time(run, few, i, j)
            else:
                s = safe_on_rope(run, p - pairs)
            if s <= approach.STALLED or x + s / h == x or queries > MOST_QUERIES:
                first, at = x, np.int64(p)
                break
            x += s / h
    return first, at

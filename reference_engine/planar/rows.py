"""Places that hold: their geometry, the rows of J, and the forces that keep them.

Between events the set of places that hold and what each does (presses, sticks, slides one way) is fixed, so that the
forces solve an equality and the motion is smooth. With unit vectors n (normal) and t (n turned by a right angle) at
place k the rows of J are (n, U1 x n) on body I and -(n, U2 x n) on J, and likewise for t; at round edges U goes to the
centre, which gives the same moment for n, and t acts at the surface: moments U1 x t - r1 and U2 x t + r2. A sliding
place pushes along n - s mu t, s the sign of its slip: M = J M^-1 F^T is then not symmetric (Baraff 1994, app. C and D;
Pfeiffer & Glocker 1996, "Multibody Dynamics with Unilateral Contacts", sec. 4).
"""

import numpy as np

from reference_engine.compiler.kernels import kernel, part
from reference_engine.contact_problems.elimination import eliminate, substitute
from reference_engine.contact_problems.friction_modes import FULL_MINUS, FULL_PLUS, SLIPS_MINUS, SLIPS_PLUS, STICKS
from reference_engine.elementary_kernels import cosine_and_sine
from reference_engine.planar.islands import divide
from reference_engine.planar.layout import (
    ACROSS,
    ALONG,
    ALONG_PREVIOUS,
    BODY_I,
    BODY_J,
    FORCE_N,
    FORCE_T,
    FRICTION,
    GAP,
    GRIPS,
    JOINT,
    KIND,
    LINE,
    MN1,
    MN2,
    MODE,
    MT1,
    MT2,
    NX,
    NY,
    PART_J,
    PRESSES,
    R1,
    R2,
    RATE,
    ROLE,
    ROUND,
    SIGMA,
    SLIP,
    SPAN,
    STATIC_FRICTION,
    TOUCHES,
    U1X,
    U1Y,
    U2X,
    U2Y,
    P,
    Q,
)
from reference_engine.planar_model.external import accelerate

NORMAL, TANGENT = np.int64(0), np.int64(1)  # rows of a place
# Which rows: normals; and what sticks; and as forces push
NORMALS, GRIP, PUSHES = np.int64(0), np.int64(1), np.int64(2)


@kernel
def measure(solids, y, places, k, G):
    """Row k of the geometry G, from the bodies and features of place k.

    c1, c2: the points of I and J, at arms U1 and U2; LINE: U2 goes to the foot of c1 on the line.
    LINE          gap = n . (c1 - x_j) - offset - r1
    ROUND         gap = s |c1 - c2| - r1 - r2, n = s (c1 - c2)/|.|, s = -1 inside a circle
    STILL_NORMAL  gap = n . (c1 - c2)
    rate = n . (c1' - c2');  across = t . (c1' - c2');  slip = across - r1 w1 - r2 w2, of the surfaces
    span: signed distance from c2 to c1 along n; along, along_previous: of c1 past the start of the edge (ROUND about a
    corner: of both edges that meet there).
    """
    R = solids.inv_mass.shape[0]
    i, j, p, q, kind = places.id[k, BODY_I], places.id[k, BODY_J], places.id[k, P], places.id[k, Q], places.id[k, KIND]
    xi, yi, xj, yj = y[3 * i], y[3 * i + 1], y[3 * j], y[3 * j + 1]
    cj, sj = cosine_and_sine(y[3 * j + 2])
    u1x = u1y = u2x = u2y = 0.0
    r1, r2 = places.figure[k, R1], places.figure[k, R2]
    if p >= 0:
        ci, si = cosine_and_sine(y[3 * i + 2])
        u1x = ci * solids.vertices[p, 0] - si * solids.vertices[p, 1]
        u1y = si * solids.vertices[p, 0] + ci * solids.vertices[p, 1]
    if q >= 0:
        u2x = cj * solids.vertices[q, 0] - sj * solids.vertices[q, 1]
        u2y = sj * solids.vertices[q, 0] + cj * solids.vertices[q, 1]
    dx, dy = xi + u1x - xj, yi + u1y - yj  # c1 from the centre of j
    along, along_previous = 0.0, 0.0
    if kind == ROUND:
        dx, dy = dx - u2x, dy - u2y
        span = places.figure[k, SIGMA] * np.sqrt(dx * dx + dy * dy)
        nx, ny = dx / span, dy / span
        gap = span - r1 - r2
        if q >= 0 and places.id[k, ROLE] == TOUCHES:
            part = places.id[k, PART_J]
            previous = q - 1 if q > solids.first[part] else solids.first[part + 1] - 1
            bx, by = cj * dx + sj * dy, -sj * dx + cj * dy  # body axes of j
            along = -solids.normals[q, 1] * bx + solids.normals[q, 0] * by
            along_previous = -solids.normals[previous, 1] * bx + solids.normals[previous, 0] * by
    elif kind == LINE:
        nx = cj * solids.normals[q, 0] - sj * solids.normals[q, 1]
        ny = sj * solids.normals[q, 0] + cj * solids.normals[q, 1]
        span = nx * dx + ny * dy - solids.offsets[q]
        gap = span - r1
        along = -ny * (dx - u2x) + nx * (dy - u2y)
        u2x, u2y = dx - span * nx, dy - span * ny
    else:
        nx, ny = solids.normals[q, 0], solids.normals[q, 1]
        span = nx * (dx - u2x) + ny * (dy - u2y)
        gap = span
    wi, wj = y[3 * R + 3 * i + 2], y[3 * R + 3 * j + 2]
    vx = y[3 * R + 3 * i] - wi * u1y - y[3 * R + 3 * j] + wj * u2y
    vy = y[3 * R + 3 * i + 1] + wi * u1x - y[3 * R + 3 * j + 1] - wj * u2x
    across = -ny * vx + nx * vy
    G[k, GAP], G[k, RATE], G[k, SPAN] = gap, nx * vx + ny * vy, span
    G[k, NX], G[k, NY], G[k, ACROSS], G[k, SLIP] = nx, ny, across, across - r1 * wi - r2 * wj
    G[k, U1X], G[k, U1Y], G[k, U2X], G[k, U2Y] = u1x, u1y, u2x, u2y
    G[k, MN1], G[k, MN2] = u1x * ny - u1y * nx, u2x * ny - u2y * nx
    G[k, MT1], G[k, MT2] = u1x * nx + u1y * ny - r1, u2x * nx + u2y * ny + r2
    G[k, ALONG], G[k, ALONG_PREVIOUS] = along, along_previous


@kernel
def row_of(G, k, tangent, out, at):
    """Row `at` of out: direction, and its moments about I and J."""
    if tangent == TANGENT:
        out[at, 0], out[at, 1], out[at, 2], out[at, 3] = -G[k, NY], G[k, NX], G[k, MT1], G[k, MT2]
    else:
        out[at, 0], out[at, 1], out[at, 2], out[at, 3] = G[k, NX], G[k, NY], G[k, MN1], G[k, MN2]


@kernel
def slope(places, k):
    """Friction for each unit of the normal force, along the tangent; 0 of what sticks or has none."""
    mode = places.id[k, MODE]
    if mode in (SLIPS_PLUS, SLIPS_MINUS):
        mu = places.figure[k, FRICTION]
        return -mu if mode == SLIPS_PLUS else mu
    if mode in (FULL_PLUS, FULL_MINUS):
        mu = places.figure[k, STATIC_FRICTION]
        return -mu if mode == FULL_PLUS else mu
    return 0.0


@kernel
def rank(places, k, tangent):
    """Joints, then what carried a force when all forces were last solved for, then the rest."""
    if places.id[k, ROLE] == JOINT:
        return 0
    return 2 - places.id[k, GRIPS if tangent == TANGENT else PRESSES]


@kernel
def gather(places, s, which, work):
    """The rows of the places of island s, in order of rank; returns how many.

    Those that carry a force are independent: nothing is asked of what depends on them and comes later.
    """
    m = np.int64(0)
    for turn in range(3):
        for p in range(work.first_place[s], work.first_place[s + 1]):
            k = work.order[p]
            if rank(places, k, NORMAL) == turn:
                take_row(places, k, NORMAL, which, m, work)
                m += 1
        if which >= GRIP:
            for p in range(work.first_place[s], work.first_place[s + 1]):
                k = work.order[p]
                if places.id[k, MODE] == STICKS and rank(places, k, TANGENT) == turn:
                    take_row(places, k, TANGENT, which, m, work)
                    m += 1
    return m


@kernel
def take_row(places, k, tangent, which, m, work):
    G = work.geometry
    row_of(G, k, tangent, work.across, m)
    row_of(G, k, tangent, work.along, m)
    work.of[m], work.tangent[m] = k, tangent
    if which >= PUSHES and tangent == NORMAL:
        mu = slope(places, k)
        work.along[m, 0] -= mu * G[k, NY]
        work.along[m, 1] += mu * G[k, NX]
        work.along[m, 2] += mu * G[k, MT1]
        work.along[m, 3] += mu * G[k, MT2]


@part
def interaction(solids, places, a, ra, row, b, cb, column):
    """What a unit along a column of place b does along a row of place a, by the bodies that they share."""
    ia, ja, ib, jb = places.id[a, BODY_I], places.id[a, BODY_J], places.id[b, BODY_I], places.id[b, BODY_J]
    total = 0.0
    linear = ra[row, 0] * cb[column, 0] + ra[row, 1] * cb[column, 1]
    if ia == ib:
        total += solids.inv_mass[ia] * linear + solids.inv_inertia[ia] * ra[row, 2] * cb[column, 2]
    if ia == jb:
        total -= solids.inv_mass[ia] * linear + solids.inv_inertia[ia] * ra[row, 2] * cb[column, 3]
    if ja == ib:
        total -= solids.inv_mass[ja] * linear + solids.inv_inertia[ja] * ra[row, 3] * cb[column, 2]
    if ja == jb:
        total += solids.inv_mass[ja] * linear + solids.inv_inertia[ja] * ra[row, 3] * cb[column, 3]
    return total


@kernel
def stiffness(solids, places, k, G):
    """What a unit of force along the normal of place k does to its own gap [1/kg]."""
    i, j = places.id[k, BODY_I], places.id[k, BODY_J]
    moments = solids.inv_inertia[i] * G[k, MN1] ** 2 + solids.inv_inertia[j] * G[k, MN2] ** 2
    return solids.inv_mass[i] + solids.inv_mass[j] + moments


@kernel
def build(solids, places, s, which, work):
    """The matrix of the gathered rows of island s; returns how many."""
    m = gather(places, s, which, work)
    for r in range(m):
        for c in range(m):
            work.M[r, c] = interaction(solids, places, work.of[r], work.across, r, work.of[c], work.along, c)
    return m


@kernel
def push(solids, places, m, of, along, amount, offset, change):
    """change += M^-1 F^T amount, to the poses (offset 0) or the twists and their rates (offset 3 R)."""
    for c in range(m):
        i, j, a = places.id[of[c], BODY_I], places.id[of[c], BODY_J], amount[c]
        change[offset + 3 * i] += solids.inv_mass[i] * a * along[c, 0]
        change[offset + 3 * i + 1] += solids.inv_mass[i] * a * along[c, 1]
        change[offset + 3 * i + 2] += solids.inv_inertia[i] * a * along[c, 2]
        change[offset + 3 * j] -= solids.inv_mass[j] * a * along[c, 0]
        change[offset + 3 * j + 1] -= solids.inv_mass[j] * a * along[c, 1]
        change[offset + 3 * j + 2] -= solids.inv_inertia[j] * a * along[c, 3]


@kernel
def relative_acceleration(solids, places, k, y, rate, G, tangent):
    """Of gap or slip k with the accelerations in `rate`.

    c'' = v' + w' x U - w^2 U                                    of the point c at arm U on either body
    LINE          n . (c1'' - c2'') + 2 w2 across - w2^2 span    (the turning of the edge)
    ROUND         n . (c1'' - c2'') + across^2 / span            (the turning of the line of centres)
    slip          t . (c1'' - c2'') - r1 w1' - r2 w2'            (where the gap stays closed)
    """
    R = solids.inv_mass.shape[0]
    i, j = places.id[k, BODY_I], places.id[k, BODY_J]
    ti, tj = 3 * R + 3 * i, 3 * R + 3 * j
    w1, w2 = y[ti + 2], y[tj + 2]
    ax = rate[ti] - rate[ti + 2] * G[k, U1Y] - w1 * w1 * G[k, U1X]
    ay = rate[ti + 1] + rate[ti + 2] * G[k, U1X] - w1 * w1 * G[k, U1Y]
    ax -= rate[tj] - rate[tj + 2] * G[k, U2Y] - w2 * w2 * G[k, U2X]
    ay -= rate[tj + 1] + rate[tj + 2] * G[k, U2X] - w2 * w2 * G[k, U2Y]
    if tangent == TANGENT:
        turning = places.figure[k, R1] * rate[ti + 2] + places.figure[k, R2] * rate[tj + 2]
        return -G[k, NY] * ax + G[k, NX] * ay - turning
    a = G[k, NX] * ax + G[k, NY] * ay
    if places.id[k, KIND] == LINE:
        a += 2.0 * w2 * G[k, ACROSS] - w2 * w2 * G[k, SPAN]
    elif places.id[k, KIND] == ROUND:
        a += G[k, ACROSS] * G[k, ACROSS] / G[k, SPAN]
    return a


@kernel
def held_rate(solids, forces, time, y, places, n, work, rate_out):
    """(twist, acceleration) with the first n places held; leaves their forces in work.force.

    From the forces of the last event on, so that redundant places keep their share. Refined once on the accelerations
    themselves: large forces that balance on a light body leave it their round-off.
    """
    islands = divide(solids, places, n, work) if n > 0 else 0
    rate_with(solids, forces, time, y, places, n, islands, work, rate_out)


@kernel
def rate_with(solids, forces, time, y, places, n, islands, work, rate_out):
    """`held_rate` of places that have been divided already, into so many islands."""
    R = solids.inv_mass.shape[0]
    for c in range(3 * R):
        rate_out[c] = y[3 * R + c]
    accelerate(forces, time, y, R, rate_out)
    for k in range(n):
        measure(solids, y, places, k, work.geometry)
        work.force[k, 0] = work.force[k, 1] = 0.0
    for s in range(islands):
        held_rate_of(solids, y, places, s, work, rate_out)


@kernel
def held_rate_of(solids, y, places, s, work, rate_out):
    """The part of `held_rate` that is for island s."""
    R = solids.inv_mass.shape[0]
    m = build(solids, places, s, PUSHES, work)
    eliminate(work.M, m, work.pivot, work.skipped, work.size)
    for r in range(m):
        work.x[r] = places.figure[work.of[r], FORCE_T if work.tangent[r] == TANGENT else FORCE_N]
    for turn in range(3):
        if turn > 0:
            for r in range(m):
                tangent = work.tangent[r]
                work.right[r] = -relative_acceleration(solids, places, work.of[r], y, rate_out, work.geometry, tangent)
            substitute(work.M, m, work.pivot, work.skipped, work.right, work.x)
        push(solids, places, m, work.of, work.along, work.x, 3 * R, rate_out)
        for r in range(m):
            k = work.of[r]
            if work.tangent[r] == TANGENT:
                work.force[k, 1] += work.x[r]
            else:
                work.force[k, 0] += work.x[r]
                work.force[k, 1] += slope(places, k) * work.x[r]


@kernel
def survey(solids, y, places, n, work):
    """Geometry of the first n places, and the rows of all their normals and tangents."""
    for k in range(n):
        measure(solids, y, places, k, work.geometry)
        row_of(work.geometry, k, NORMAL, work.across, 2 * k)
        row_of(work.geometry, k, TANGENT, work.across, 2 * k + 1)


@kernel
def survey_island(solids, places, s, work):
    """A of all normals and tangents of island s, from the last survey."""
    first = work.first_place[s]
    size = 2 * (work.first_place[s + 1] - first)
    for r in range(size):
        k = work.order[first + r // 2]
        for c in range(r, size):
            q = work.order[first + c // 2]
            a = interaction(solids, places, k, work.across, 2 * k + r % 2, q, work.across, 2 * q + c % 2)
            work.A[r, c] = work.A[c, r] = a


@kernel
def strike(solids, y, places, n, work, impulse):
    """y += M^-1 J^T impulse (2 n) on the twists, with the geometry and rows of the last survey."""
    for r in range(2 * n):
        work.of[r] = r // 2
    push(solids, places, 2 * n, work.of, work.across, impulse, 3 * solids.inv_mass.shape[0], y)


@kernel
def survey_accelerations(solids, y, rate, places, n, work):
    """Geometry of the first n places, and b: how their gaps and slips accelerate with the accelerations in `rate`."""
    for k in range(n):
        measure(solids, y, places, k, work.geometry)
        work.b[2 * k] = relative_acceleration(solids, places, k, y, rate, work.geometry, NORMAL)
        work.b[2 * k + 1] = relative_acceleration(solids, places, k, y, rate, work.geometry, TANGENT)

"""Contacts that hold: their geometry, the rows of J, and the forces that keep them.

Between events the set of contacts that hold and what each does (presses, sticks, slides one way) is fixed, so that the
forces solve an equality and the motion is smooth. With unit vectors n (normal) and t (n turned by a right angle) at
contact k the rows of J are (n, U1 x n) on body I and -(n, U2 x n) on J, and likewise for t; at round edges U goes to
the centre, which gives the same moment for n, and t acts at the surface: moments U1 x t - r1 and U2 x t + r2. A sliding
contact pushes along n - s mu t, s the sign of its slip: M = J M^-1 F^T is then not symmetric (Baraff 1994, app. C and
D; Pfeiffer & Glocker 1996, "Multibody Dynamics with Unilateral Contacts", sec. 4).
"""

import numpy as np

from reference_engine.compiler.kernels import inlined, kernel
from reference_engine.contact_problems.elimination import eliminate, substitute
from reference_engine.contact_problems.friction_modes import FULL_MINUS, FULL_PLUS, SLIPS_MINUS, SLIPS_PLUS, STICKS
from reference_engine.elementary_kernels import cosine_and_sine
from reference_engine.planar import layout as col
from reference_engine.planar.islands import divide
from reference_engine.planar.layout import arm_of
from reference_engine.planar_model.external import accelerate

NORMAL, TANGENT = np.int64(0), np.int64(1)  # rows of a contact
# Which rows: normals; and what sticks; and as forces push
NORMALS, WITH_STICKING, AS_FORCES = np.int64(0), np.int64(1), np.int64(2)


@kernel
def measure(model, y, contacts, k, G):
    """Row k of the geometry G, from the bodies and features of contact k.

    c1, c2: the points of I and J, at arms U1 and U2; LINE: U2 goes to the foot of c1 on the line.
    LINE          gap = n . (c1 - x_j) - offset - r1
    ROUND         gap = s |c1 - c2| - r1 - r2, n = s (c1 - c2)/|.|, s = -1 inside a circle
    STILL_NORMAL  gap = n . (c1 - c2)
    rate = n . (c1' - c2');  across = t . (c1' - c2');  slip = across - r1 w1 - r2 w2, of the surfaces
    span: signed distance from c2 to c1 along n; along, along_previous: of c1 past the start of the edge (ROUND about a
    corner: of both edges that meet there).
    """
    R = model.inv_mass.shape[0]
    i, j = contacts.id[k, col.BODY_I], contacts.id[k, col.BODY_J]
    p, q, kind = contacts.id[k, col.P], contacts.id[k, col.Q], contacts.id[k, col.KIND]
    xi, yi, xj, yj = y[3 * i], y[3 * i + 1], y[3 * j], y[3 * j + 1]
    cj, sj = cosine_and_sine(y[3 * j + 2])
    u1x = u1y = u2x = u2y = 0.0
    r1, r2 = contacts.value[k, col.R1], contacts.value[k, col.R2]
    if p >= 0:
        ci, si = cosine_and_sine(y[3 * i + 2])
        u1x, u1y = arm_of(model, p, ci, si)
    if q >= 0:
        u2x, u2y = arm_of(model, q, cj, sj)
    dx, dy = xi + u1x - xj, yi + u1y - yj  # c1 from the centre of j
    along, along_previous = 0.0, 0.0
    if kind == col.ROUND:
        dx, dy = dx - u2x, dy - u2y
        span = contacts.value[k, col.SIGMA] * np.sqrt(dx * dx + dy * dy)
        nx, ny = dx / span, dy / span
        gap = span - r1 - r2
        if q >= 0 and contacts.id[k, col.ROLE] == col.CONTACT:
            piece = contacts.id[k, col.PIECE_J]
            previous = q - 1 if q > model.first[piece] else model.first[piece + 1] - 1
            bx, by = cj * dx + sj * dy, -sj * dx + cj * dy  # body axes of j
            along = -model.normals[q, 1] * bx + model.normals[q, 0] * by
            along_previous = -model.normals[previous, 1] * bx + model.normals[previous, 0] * by
    elif kind == col.LINE:
        nx = cj * model.normals[q, 0] - sj * model.normals[q, 1]
        ny = sj * model.normals[q, 0] + cj * model.normals[q, 1]
        span = nx * dx + ny * dy - model.offsets[q]
        gap = span - r1
        along = -ny * (dx - u2x) + nx * (dy - u2y)
        u2x, u2y = dx - span * nx, dy - span * ny
    else:
        nx, ny = model.normals[q, 0], model.normals[q, 1]
        span = nx * (dx - u2x) + ny * (dy - u2y)
        gap = span
    wi, wj = y[3 * R + 3 * i + 2], y[3 * R + 3 * j + 2]
    vx = y[3 * R + 3 * i] - wi * u1y - y[3 * R + 3 * j] + wj * u2y
    vy = y[3 * R + 3 * i + 1] + wi * u1x - y[3 * R + 3 * j + 1] - wj * u2x
    across = -ny * vx + nx * vy
    G[k, col.GAP], G[k, col.RATE], G[k, col.SPAN] = gap, nx * vx + ny * vy, span
    G[k, col.NX], G[k, col.NY], G[k, col.ACROSS], G[k, col.SLIP] = nx, ny, across, across - r1 * wi - r2 * wj
    G[k, col.U1X], G[k, col.U1Y], G[k, col.U2X], G[k, col.U2Y] = u1x, u1y, u2x, u2y
    G[k, col.MN1], G[k, col.MN2] = u1x * ny - u1y * nx, u2x * ny - u2y * nx
    G[k, col.MT1], G[k, col.MT2] = u1x * nx + u1y * ny - r1, u2x * nx + u2y * ny + r2
    G[k, col.ALONG], G[k, col.ALONG_PREVIOUS] = along, along_previous


@kernel
def row_of(G, k, tangent, out, at):
    """Row `at` of out: direction, and its moments about I and J."""
    out[at, col.ROW_X], out[at, col.ROW_Y] = G[k, col.NX], G[k, col.NY]
    out[at, col.ROW_I], out[at, col.ROW_J] = G[k, col.MN1], G[k, col.MN2]
    if tangent == TANGENT:
        out[at, col.ROW_X], out[at, col.ROW_Y] = -G[k, col.NY], G[k, col.NX]
        out[at, col.ROW_I], out[at, col.ROW_J] = G[k, col.MT1], G[k, col.MT2]


@kernel
def slope(contacts, k):
    """Friction for each unit of the normal force, along the tangent; 0 of what sticks or has none."""
    mode = contacts.id[k, col.MODE]
    if mode in (SLIPS_PLUS, SLIPS_MINUS):
        mu = contacts.value[k, col.FRICTION]
        return -mu if mode == SLIPS_PLUS else mu
    if mode in (FULL_PLUS, FULL_MINUS):
        mu = contacts.value[k, col.STATIC_FRICTION]
        return -mu if mode == FULL_PLUS else mu
    return 0.0


@kernel
def rank(contacts, k, tangent):
    """Joints, then what carried a force when all forces were last solved for, then the rest."""
    if contacts.id[k, col.ROLE] == col.JOINT:
        return 0
    return 2 - contacts.id[k, col.HAS_FRICTION if tangent == TANGENT else col.PRESSES]


@kernel
def gather(contacts, s, which, work):
    """The rows of the contacts of island s, in order of rank; returns how many.

    Those that carry a force are independent: nothing is asked of what depends on them and comes later.
    """
    m = np.int64(0)
    for turn in range(3):
        for p in range(work.first_contact[s], work.first_contact[s + 1]):
            k = work.order[p]
            if rank(contacts, k, NORMAL) == turn:
                take_row(contacts, k, NORMAL, which, m, work)
                m += 1
        if which >= WITH_STICKING:
            for p in range(work.first_contact[s], work.first_contact[s + 1]):
                k = work.order[p]
                if contacts.id[k, col.MODE] == STICKS and rank(contacts, k, TANGENT) == turn:
                    take_row(contacts, k, TANGENT, which, m, work)
                    m += 1
    return m


@kernel
def take_row(contacts, k, tangent, which, m, work):
    G = work.geometry
    row_of(G, k, tangent, work.across, m)
    row_of(G, k, tangent, work.along, m)
    work.of[m], work.tangent[m] = k, tangent
    if which >= AS_FORCES and tangent == NORMAL:
        mu = slope(contacts, k)
        work.along[m, col.ROW_X] -= mu * G[k, col.NY]
        work.along[m, col.ROW_Y] += mu * G[k, col.NX]
        work.along[m, col.ROW_I] += mu * G[k, col.MT1]
        work.along[m, col.ROW_J] += mu * G[k, col.MT2]


@inlined
def interaction(model, contacts, a, ra, row, b, cb, column):
    """What a unit along a column of contact b does along a row of contact a, by the bodies that they share."""
    ia, ja = contacts.id[a, col.BODY_I], contacts.id[a, col.BODY_J]
    ib, jb = contacts.id[b, col.BODY_I], contacts.id[b, col.BODY_J]
    total = 0.0
    linear = ra[row, col.ROW_X] * cb[column, col.ROW_X] + ra[row, col.ROW_Y] * cb[column, col.ROW_Y]
    if ia == ib:
        total += model.inv_mass[ia] * linear + model.inv_inertia[ia] * ra[row, col.ROW_I] * cb[column, col.ROW_I]
    if ia == jb:
        total -= model.inv_mass[ia] * linear + model.inv_inertia[ia] * ra[row, col.ROW_I] * cb[column, col.ROW_J]
    if ja == ib:
        total -= model.inv_mass[ja] * linear + model.inv_inertia[ja] * ra[row, col.ROW_J] * cb[column, col.ROW_I]
    if ja == jb:
        total += model.inv_mass[ja] * linear + model.inv_inertia[ja] * ra[row, col.ROW_J] * cb[column, col.ROW_J]
    return total


@kernel
def delassus_diagonal(model, contacts, k, G):
    """What a unit of force along the normal of contact k does to its own gap [1/kg]."""
    i, j = contacts.id[k, col.BODY_I], contacts.id[k, col.BODY_J]
    moments = model.inv_inertia[i] * G[k, col.MN1] ** 2 + model.inv_inertia[j] * G[k, col.MN2] ** 2
    return model.inv_mass[i] + model.inv_mass[j] + moments


@kernel
def build(model, contacts, s, which, work):
    """The matrix of the gathered rows of island s; returns how many."""
    m = gather(contacts, s, which, work)
    for r in range(m):
        for c in range(m):
            work.M[r, c] = interaction(model, contacts, work.of[r], work.across, r, work.of[c], work.along, c)
    return m


@kernel
def apply_forces(model, contacts, m, of, along, amount, offset, change):
    """change += M^-1 F^T amount, to the poses (offset 0) or the twists and their rates (offset 3 R)."""
    for c in range(m):
        i, j, a = contacts.id[of[c], col.BODY_I], contacts.id[of[c], col.BODY_J], amount[c]
        change[offset + 3 * i] += model.inv_mass[i] * a * along[c, col.ROW_X]
        change[offset + 3 * i + 1] += model.inv_mass[i] * a * along[c, col.ROW_Y]
        change[offset + 3 * i + 2] += model.inv_inertia[i] * a * along[c, col.ROW_I]
        change[offset + 3 * j] -= model.inv_mass[j] * a * along[c, col.ROW_X]
        change[offset + 3 * j + 1] -= model.inv_mass[j] * a * along[c, col.ROW_Y]
        change[offset + 3 * j + 2] -= model.inv_inertia[j] * a * along[c, col.ROW_J]


@kernel
def relative_acceleration(model, contacts, k, y, rate, G, tangent):
    """Of gap or slip k with the accelerations in `rate`.

    c'' = v' + w' x U - w^2 U                                    of the point c at arm U on either body
    LINE          n . (c1'' - c2'') + 2 w2 across - w2^2 span    (the turning of the edge)
    ROUND         n . (c1'' - c2'') + across^2 / span            (the turning of the line of centres)
    slip          t . (c1'' - c2'') - r1 w1' - r2 w2'            (where the gap stays closed)
    """
    R = model.inv_mass.shape[0]
    i, j = contacts.id[k, col.BODY_I], contacts.id[k, col.BODY_J]
    ti, tj = 3 * R + 3 * i, 3 * R + 3 * j
    w1, w2 = y[ti + 2], y[tj + 2]
    ax = rate[ti] - rate[ti + 2] * G[k, col.U1Y] - w1 * w1 * G[k, col.U1X]
    ay = rate[ti + 1] + rate[ti + 2] * G[k, col.U1X] - w1 * w1 * G[k, col.U1Y]
    ax -= rate[tj] - rate[tj + 2] * G[k, col.U2Y] - w2 * w2 * G[k, col.U2X]
    ay -= rate[tj + 1] + rate[tj + 2] * G[k, col.U2X] - w2 * w2 * G[k, col.U2Y]
    if tangent == TANGENT:
        turning = contacts.value[k, col.R1] * rate[ti + 2] + contacts.value[k, col.R2] * rate[tj + 2]
        return -G[k, col.NY] * ax + G[k, col.NX] * ay - turning
    a = G[k, col.NX] * ax + G[k, col.NY] * ay
    if contacts.id[k, col.KIND] == col.LINE:
        a += 2.0 * w2 * G[k, col.ACROSS] - w2 * w2 * G[k, col.SPAN]
    elif contacts.id[k, col.KIND] == col.ROUND:
        a += G[k, col.ACROSS] * G[k, col.ACROSS] / G[k, col.SPAN]
    return a


@kernel
def divide_active(run):
    """The islands of the contacts that hold, for `rate`."""
    count = run.loop.counters
    count[col.ISLANDS] = divide(run.model, run.active, count[col.ACTIVE], run.work) if count[col.ACTIVE] > 0 else 0


@kernel
def constrained_rate(run, time, y, rate_out):
    divide_active(run)
    rate(run, time, y, rate_out)


@kernel
def rate(run, time, y, rate_out):
    """(twist, acceleration) with the active contacts held, which `divide_active` has divided; leaves their forces in

    work.force. From the forces of the last event on, so that redundant contacts keep their share. Refined once on the
    accelerations themselves: large forces that balance on a light body leave it their round-off.
    """
    model, work, count = run.model, run.work, run.loop.counters
    R = model.inv_mass.shape[0]
    for c in range(3 * R):
        rate_out[c] = y[3 * R + c]
    accelerate(run.forces, min(time, run.loop.now[col.BEFORE_JUMP]), y, R, rate_out)
    for k in range(count[col.ACTIVE]):
        measure(model, y, run.active, k, work.geometry)
        work.force[k, 0] = work.force[k, 1] = 0.0
    for s in range(count[col.ISLANDS]):
        constrain_island(model, y, run.active, s, work, rate_out)


@kernel
def constrain_island(model, y, contacts, s, work, rate_out):
    """The part of `rate` that is for island s."""
    R = model.inv_mass.shape[0]
    m = build(model, contacts, s, AS_FORCES, work)
    eliminate(work.M, m, work.pivot, work.skipped, work.size)
    for r in range(m):
        work.x[r] = contacts.value[work.of[r], col.FORCE_T if work.tangent[r] == TANGENT else col.FORCE_N]
        if work.tangent[r] == NORMAL:
            work.redundant[work.of[r]] = work.skipped[r]
    for turn in range(3):
        if turn > 0:
            for r in range(m):
                tangent = work.tangent[r]
                work.right[r] = -relative_acceleration(model, contacts, work.of[r], y, rate_out, work.geometry, tangent)
            substitute(work.M, m, work.pivot, work.skipped, work.right, work.x)
        apply_forces(model, contacts, m, work.of, work.along, work.x, 3 * R, rate_out)
        for r in range(m):
            k = work.of[r]
            if work.tangent[r] == TANGENT:
                work.force[k, 1] += work.x[r]
            else:
                work.force[k, 0] += work.x[r]
                work.force[k, 1] += slope(contacts, k) * work.x[r]


@kernel
def survey(model, y, contacts, n, work):
    """Geometry of the first n contacts, and the rows of all their normals and tangents."""
    for k in range(n):
        measure(model, y, contacts, k, work.geometry)
        row_of(work.geometry, k, NORMAL, work.across, 2 * k)
        row_of(work.geometry, k, TANGENT, work.across, 2 * k + 1)


@kernel
def survey_island(model, contacts, s, work):
    """A of all normals and tangents of island s, from the last survey."""
    first = work.first_contact[s]
    size = 2 * (work.first_contact[s + 1] - first)
    for r in range(size):
        k = work.order[first + r // 2]
        for c in range(r, size):
            q = work.order[first + c // 2]
            a = interaction(model, contacts, k, work.across, 2 * k + r % 2, q, work.across, 2 * q + c % 2)
            work.A[r, c] = work.A[c, r] = a


@kernel
def apply_impulses(model, y, contacts, n, work, impulse):
    """y += M^-1 J^T impulse (2 n) on the twists, with the geometry and rows of the last survey."""
    for r in range(2 * n):
        work.of[r] = r // 2
    apply_forces(model, contacts, 2 * n, work.of, work.across, impulse, 3 * model.inv_mass.shape[0], y)


@kernel
def survey_accelerations(model, y, rate, contacts, n, work):
    """Geometry of the first n contacts, and b: how their gaps and slips accelerate with the accelerations in `rate`."""
    for k in range(n):
        measure(model, y, contacts, k, work.geometry)
        work.b[2 * k] = relative_acceleration(model, contacts, k, y, rate, work.geometry, NORMAL)
        work.b[2 * k + 1] = relative_acceleration(model, contacts, k, y, rate, work.geometry, TANGENT)

"""Contact forces: d'' = A f + b for the gaps d of what touches, solved for each independent subset.

A_ij = n_i . (change of acceleration at i for a unit force at j), Baraff 1994 (D-2, D-3); b from the other forces, the
turning of bodies and of normals, and the extra acceleration that takes contacts to rest.
"""

from reference_engine.compiler.kernels import entry, kernel
from reference_engine.contactsim import arrays as col
from reference_engine.contactsim import collision as row
from reference_engine.contactsim.pivoting import SOLVED, solve

ACCEPTED = 1e-4  # m/s^2, or m/s: a solution that misses by more is an error


@kernel
def effect_along_x(o, body, rix, riy, njx, njy, rjx, rjy, impulse):
    """x of n_j / m + (r_j x n_j) x r_i / I: what a unit force n_j at r_j does at r_i. Bits depend on the order."""
    m, inertia = o.body[body, col.MASS], o.body[body, col.INERTIA]
    if impulse:
        return njx / m - riy * (rjx * njy - rjy * njx) / inertia
    return njx / m + (-riy * rjx * njy + riy * rjy * njx) / inertia


@kernel
def effect_along_y(o, body, rix, riy, njx, njy, rjx, rjy, impulse):
    m, inertia = o.body[body, col.MASS], o.body[body, col.INERTIA]
    if impulse:
        return njy / m + rix * (rjx * njy - rjy * njx) / inertia
    return njy / m + (-rix * rjy * njx + rix * rjx * njy) / inertia


@kernel
def entry_of_matrix(o, pose, ids, values, i, j, impulse):
    """A_ij. For forces the arms go to the centres of round edges, for impulses to the points."""
    total = 0.0
    nix, niy, njx, njy = values[i, row.NX], values[i, row.NY], values[j, row.NX], values[j, row.NY]
    for side_i in range(2):
        body = ids[i, row.PRIMARY + side_i]
        if o.body[body, col.INV_MASS] == 0.0:
            continue
        for side_j in range(2):
            if ids[j, row.PRIMARY + side_j] != body:
                continue
            sign = 1.0 if side_i == side_j else -1.0
            if impulse:
                x, y = pose[body, 0], pose[body, 1]
                rix, riy = values[i, row.AX + 2 * side_i] - x, values[i, row.AY + 2 * side_i] - y
                rjx, rjy = values[j, row.AX + 2 * side_j] - x, values[j, row.AY + 2 * side_j] - y
            else:
                rix, riy = values[i, row.U1X + 2 * side_i], values[i, row.U1Y + 2 * side_i]
                rjx, rjy = values[j, row.U1X + 2 * side_j], values[j, row.U1Y + 2 * side_j]
            along_x = nix * effect_along_x(o, body, rix, riy, njx, njy, rjx, rjy, impulse)
            along_y = niy * effect_along_y(o, body, rix, riy, njx, njy, rjx, rjy, impulse)
            if impulse:
                total += sign * (along_x + along_y)
            else:
                total += sign * along_x
                total += sign * along_y
    return total


@kernel
def extra_acceleration(rules, ids, values, k):
    """v/h, or (2 v h + gap - target) / h^2; joints only where the option says so."""
    h = rules.extra_step
    if rules.extra == 0 or (ids[k, row.BILATERAL] == 1 and rules.extra % 2 == 1):
        return 0.0
    if rules.extra <= 2:
        return values[k, row.SPEED] / h
    return (2.0 * values[k, row.SPEED] * h + (values[k, row.GAP] - row.target_gap(rules, ids, k))) / (h * h)


@kernel
def with_normal_turning(b, ids, values, k, w2, v1x, v1y, v2x, v2y):
    """b and how the turning of the normal enters the gap's acceleration; v1 and v2 at the u arms, v = v1 - v2.

    straight  2 n' . v, n' = w2 x n, and -r1 w2^2 for a round primary edge
    round     n' . v, n' = v / r, r the sum of the radii
    path      n' . v, n' the derivative by the length times the speed along the path
    """
    vx, vy = v1x - v2x, v1y - v2y
    if ids[k, row.STILL_NORMAL] == 1:
        return b
    if ids[k, row.ROUND_NORMAL] == 1:
        r = values[k, row.R2] if ids[k, row.ROUND_PRIMARY] == 0 else values[k, row.R1] + values[k, row.R2]
        return b + ((v1x / r - v2x / r) * vx + (v1y / r - v2y / r) * vy)
    if ids[k, row.ROUND_NORMAL] == row.BY_LENGTH:
        along = v1x * values[k, row.NY] - v1y * values[k, row.NX]
        return b + (values[k, row.R1] * along * vx + values[k, row.R2] * along * vy)
    b -= values[k, row.R1] * w2 * w2 if ids[k, row.ROUND_PRIMARY] == 1 else 0.0
    return b + 2.0 * (-w2 * values[k, row.NY] * vx + w2 * values[k, row.NX] * vy)


@kernel
def gap_acceleration(rules, ids, values, k, twist, acceleration):
    """b_k: acceleration of the gap without contact forces, plus the extra acceleration."""
    i, j = ids[k, row.PRIMARY], ids[k, row.NORMAL]
    w1, w2 = twist[i, 2], twist[j, 2]
    u1x, u1y, u2x, u2y = values[k, row.U1X], values[k, row.U1Y], values[k, row.U2X], values[k, row.U2Y]
    v1x, v1y = twist[i, 0] - w1 * u1y, twist[i, 1] + w1 * u1x
    v2x, v2y = twist[j, 0] - w2 * u2y, twist[j, 1] + w2 * u2x
    b = with_normal_turning(extra_acceleration(rules, ids, values, k), ids, values, k, w2, v1x, v1y, v2x, v2y)
    b += values[k, row.NX] * (acceleration[i, 0] - acceleration[i, 2] * u1y - w1 * w1 * u1x)
    b += values[k, row.NY] * (acceleration[i, 1] + acceleration[i, 2] * u1x - w1 * w1 * u1y)
    b -= values[k, row.NX] * (acceleration[j, 0] - acceleration[j, 2] * u2y - w2 * w2 * u2x)
    b -= values[k, row.NY] * (acceleration[j, 1] + acceleration[j, 2] * u2x - w2 * w2 * u2y)
    return b


@kernel
def note_moved(o, ids, k, work):
    """The bodies of row k that are not fixed."""
    for side in range(2):
        body = ids[k, row.PRIMARY + side]
        if o.body[body, col.INV_MASS] > 0.0:
            work.moved[body] = 1


@kernel
def next_subset(o, ids, count, work):
    """Rows that hang together through free bodies, from the first one not yet taken; returns how many.

    In the order in which going through the rows again and again finds them.
    """
    size = 0
    for body in range(work.moved.shape[0]):
        work.moved[body] = 0
    for k in range(count):
        if work.taken[k] == 0:
            work.member[0] = k
            work.taken[k] = 1
            size = 1
            break
    if size == 0:
        return 0
    note_moved(o, ids, work.member[0], work)
    grows = True
    while grows:
        grows = False
        for k in range(count):
            if work.taken[k] == 1 or (work.moved[ids[k, row.PRIMARY]] == 0 and work.moved[ids[k, row.NORMAL]] == 0):
                continue
            work.member[size] = k
            work.taken[k] = 1
            size += 1
            grows = True
            note_moved(o, ids, k, work)
    return size


@kernel
def apply_contact(o, pose, ids, values, k, amount, impulse, change):
    """change += the accelerations from a force, or the jumps of velocity from an impulse, at the points A and B."""
    nx, ny = values[k, row.NX], values[k, row.NY]
    for side in range(2):
        body = ids[k, row.PRIMARY + side]
        if o.body[body, col.INV_MASS] == 0.0:
            continue
        size = amount if side == 0 else -amount
        fx, fy = nx * size, ny * size
        change[body, 0] += fx / o.body[body, col.MASS]
        change[body, 1] += fy / o.body[body, col.MASS]
        rx, ry = values[k, row.AX + 2 * side] - pose[body, 0], values[k, row.AY + 2 * side] - pose[body, 1]
        moment = size * (rx * ny - ry * nx) if impulse else rx * fy - ry * fx
        change[body, 2] += moment / o.body[body, col.INERTIA]


@kernel
def keep_contacts(rules, ids, values, count):
    kept = 0
    for k in range(count):
        if row.is_contact(rules, ids, values, k):
            if kept < k:
                row.copy_row(ids, values, k, kept)
            kept += 1
    return kept


@entry
def apply_contact_forces(o, rules, pose, twist, ids, values, count, seed, work, acceleration):
    """Adds to the accelerations what the contacts do; rows that are none are dropped.

    Returns (how many contacts there are, the worst violation of their conditions [m/s^2]).
    """
    count = keep_contacts(rules, ids, values, count)
    for k in range(count):
        work.taken[k] = 0
    worst = 0.0
    while True:
        n = next_subset(o, ids, count, work)
        if n == 0:
            return count, worst
        for i in range(n):
            k = work.member[i]
            work.bilateral[i] = ids[k, row.BILATERAL]
            work.b[i] = gap_acceleration(rules, ids, values, k, twist, acceleration)
            for j in range(n):
                work.A[i, j] = entry_of_matrix(o, pose, ids, values, k, work.member[j], False)
        outcome, violation = solve(n, seed, work)
        worst = max(worst, violation if violation > ACCEPTED or outcome != SOLVED else 0.0)
        for i in range(n):
            values[work.member[i], row.AMOUNT] = work.f[i]
            apply_contact(o, pose, ids, values, work.member[i], work.f[i], False, acceleration)

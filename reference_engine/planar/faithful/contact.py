"""Contact forces: d'' = A f + b for the gaps d of what touches, solved for each independent subset.

A_ij = n_i . (change of acceleration at i for a unit force at j), Baraff 1994 (D-2, D-3); b from the other forces, the
turning of bodies and of normals, and the extra acceleration that takes contacts to rest.
"""

from reference_engine.geometry.kernels import entry, kernel
from reference_engine.planar.faithful import arrays as col
from reference_engine.planar.faithful.collision import (
    AMOUNT,
    AX,
    AY,
    BX,
    BY,
    GAP,
    HELD,
    NORMAL,
    NX,
    NY,
    PRIMARY,
    R1,
    R2,
    ROUND_NORMAL,
    ROUND_PRIMARY,
    SPEED,
    STILL_NORMAL,
    U1X,
    U1Y,
    U2X,
    U2Y,
    copy_row,
    is_contact,
    target_gap,
)
from reference_engine.planar.faithful.pivoting import SOLVED, solve, worst_violation

ACCEPTED = 1e-4  # m/s^2, or m/s: a solution that misses by more is an error


@kernel
def response(o, body, nix, niy, rix, riy, njx, njy, rjx, rjy):
    """n_i . (n_j / m + (r_j x n_j) x r_i / I): what a unit force n_j at r_j does along n_i at r_i."""
    moment = (rjx * njy - rjy * njx) * o.body[body, col.INV_INERTIA]
    return nix * (njx * o.body[body, col.INV_MASS] - riy * moment) + niy * (
        njy * o.body[body, col.INV_MASS] + rix * moment
    )


@kernel
def entry_of_matrix(o, pose, ids, values, i, j, round_arms):
    """A_ij; with `round_arms` the arms go to the centres of round edges, else to the points."""
    total = 0.0
    for side_i in range(2):
        body = ids[i, PRIMARY + side_i]
        if o.body[body, col.INV_MASS] == 0.0:
            continue
        for side_j in range(2):
            if ids[j, PRIMARY + side_j] != body:
                continue
            if round_arms:
                rix, riy = values[i, U1X + 2 * side_i], values[i, U1Y + 2 * side_i]
                rjx, rjy = values[j, U1X + 2 * side_j], values[j, U1Y + 2 * side_j]
            else:
                rix, riy = values[i, AX + 2 * side_i] - pose[body, 0], values[i, AY + 2 * side_i] - pose[body, 1]
                rjx, rjy = values[j, AX + 2 * side_j] - pose[body, 0], values[j, AY + 2 * side_j] - pose[body, 1]
            term = response(o, body, values[i, NX], values[i, NY], rix, riy, values[j, NX], values[j, NY], rjx, rjy)
            total += term if side_i == side_j else -term
    return total


@kernel
def extra_acceleration(rules, ids, values, k):
    """v/h, or (2 v h + gap - target) / h^2; joints only where the option says so."""
    h = rules.extra_step
    if rules.extra == 0 or (ids[k, HELD] == 1 and rules.extra % 2 == 1):
        return 0.0
    if rules.extra <= 2:
        return values[k, SPEED] / h
    return (2.0 * values[k, SPEED] * h + values[k, GAP] - target_gap(rules, ids, k)) / (h * h)


@kernel
def normal_turning(ids, values, k, w2, vx, vy):
    """How the turning of the normal enters the gap's acceleration; (vx, vy) = v1 - v2 at the u arms.

    straight  2 n' . v, n' = w2 x n, and -r1 w2^2 for a round primary edge
    round     n' . v, n' = v / r, r the sum of the radii
    """
    if ids[k, STILL_NORMAL] == 1:
        return 0.0
    if ids[k, ROUND_NORMAL] == 1:
        r = values[k, R2] + (values[k, R1] if ids[k, ROUND_PRIMARY] == 1 else 0.0)
        return (vx * vx + vy * vy) / r
    turning = 2.0 * (-w2 * values[k, NY] * vx + w2 * values[k, NX] * vy)
    return turning - (values[k, R1] * w2 * w2 if ids[k, ROUND_PRIMARY] == 1 else 0.0)


@kernel
def gap_acceleration(rules, ids, values, k, twist, acceleration):
    """b_k: acceleration of the gap without contact forces, plus the extra acceleration."""
    i, j = ids[k, PRIMARY], ids[k, NORMAL]
    w1, w2 = twist[i, 2], twist[j, 2]
    u1x, u1y, u2x, u2y = values[k, U1X], values[k, U1Y], values[k, U2X], values[k, U2Y]
    vx = twist[i, 0] - w1 * u1y - (twist[j, 0] - w2 * u2y)
    vy = twist[i, 1] + w1 * u1x - (twist[j, 1] + w2 * u2x)
    ax = acceleration[i, 0] - acceleration[i, 2] * u1y - w1 * w1 * u1x
    ay = acceleration[i, 1] + acceleration[i, 2] * u1x - w1 * w1 * u1y
    ax -= acceleration[j, 0] - acceleration[j, 2] * u2y - w2 * w2 * u2x
    ay -= acceleration[j, 1] + acceleration[j, 2] * u2x - w2 * w2 * u2y
    b = extra_acceleration(rules, ids, values, k) + normal_turning(ids, values, k, w2, vx, vy)
    return b + values[k, NX] * ax + values[k, NY] * ay


@kernel
def next_subset(o, ids, count, work):
    """Rows that hang together through free bodies, from the first one not yet taken; returns how many.

    In the order in which going through the rows again and again finds them.
    """
    size = col.ZERO
    for body in range(work.moved.shape[0]):
        work.moved[body] = 0
    for k in range(count):
        if work.k[col.W_TAKEN, k] == 0:
            work.k[col.W_MEMBER, 0] = k
            work.k[col.W_TAKEN, k] = 1
            size = 1
            break
    if size == 0:
        return 0
    for side in range(2):
        body = ids[work.k[col.W_MEMBER, 0], PRIMARY + side]
        if o.body[body, col.INV_MASS] > 0.0:
            work.moved[body] = 1
    grows = True
    while grows:
        grows = False
        for k in range(count):
            if work.k[col.W_TAKEN, k] == 1 or (work.moved[ids[k, PRIMARY]] == 0 and work.moved[ids[k, NORMAL]] == 0):
                continue
            work.k[col.W_MEMBER, size] = k
            work.k[col.W_TAKEN, k] = 1
            size += 1
            grows = True
            for side in range(2):
                body = ids[k, PRIMARY + side]
                if o.body[body, col.INV_MASS] > 0.0:
                    work.moved[body] = 1
    return size


@kernel
def push(o, pose, ids, values, k, amount, change):
    """change += the accelerations from a force, or the jumps of velocity from an impulse, at the points A and B."""
    i, j = ids[k, PRIMARY], ids[k, NORMAL]
    fx, fy = values[k, NX] * amount, values[k, NY] * amount
    if o.body[i, col.INV_MASS] > 0.0:
        change[i, 0] += fx * o.body[i, col.INV_MASS]
        change[i, 1] += fy * o.body[i, col.INV_MASS]
        rx, ry = values[k, AX] - pose[i, 0], values[k, AY] - pose[i, 1]
        change[i, 2] += (rx * fy - ry * fx) * o.body[i, col.INV_INERTIA]
    if o.body[j, col.INV_MASS] > 0.0:
        change[j, 0] -= fx * o.body[j, col.INV_MASS]
        change[j, 1] -= fy * o.body[j, col.INV_MASS]
        rx, ry = values[k, BX] - pose[j, 0], values[k, BY] - pose[j, 1]
        change[j, 2] -= (rx * fy - ry * fx) * o.body[j, col.INV_INERTIA]


@kernel
def keep_contacts(rules, ids, values, count):
    kept = col.ZERO
    for k in range(count):
        if is_contact(rules, ids, values, k):
            if kept < k:
                copy_row(ids, values, k, kept)
            kept += 1
    return kept


@entry
def apply_contact_forces(o, rules, pose, twist, ids, values, count, seed, work, acceleration):
    """Adds to the accelerations what the contacts do; rows that are none are dropped.

    Returns (how many contacts there are, the worst violation of their conditions [m/s^2]).
    """
    count = keep_contacts(rules, ids, values, count)
    for k in range(count):
        work.k[col.W_TAKEN, k] = 0
    worst = 0.0
    while True:
        n = next_subset(o, ids, count, work)
        if n == 0:
            return count, worst
        for i in range(n):
            k = work.k[col.W_MEMBER, i]
            work.k[col.W_JOINT, i] = ids[k, HELD]
            work.v[col.W_B, i] = gap_acceleration(rules, ids, values, k, twist, acceleration)
            for j in range(n):
                work.A[i, j] = entry_of_matrix(o, pose, ids, values, k, work.k[col.W_MEMBER, j], col.YES)
        outcome = solve(work.A, work.v[col.W_B], n, work.k[col.W_JOINT], seed, work.v[col.W_F], work.v[col.W_A], work)
        violation = worst_violation(work.A, work.v[col.W_B], n, work.k[col.W_JOINT], work.v[col.W_F])
        worst = max(worst, violation if violation > ACCEPTED or outcome != SOLVED else 0.0)
        for i in range(n):
            values[work.k[col.W_MEMBER, i], AMOUNT] = work.v[col.W_F, i]
            push(o, pose, ids, values, work.k[col.W_MEMBER, i], work.v[col.W_F, i], acceleration)

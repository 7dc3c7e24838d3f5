"""Contact forces: d'' = A f + b for the gaps d of what touches, solved for each independent subset.

A_ij = n_i . (change of acceleration at i for a unit force at j), Baraff 1994 (D-2, D-3); b from the other forces, the
turning of bodies and of normals, and the extra acceleration that takes contacts to rest.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reference_engine.geometry.kernels import entry, kernel
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
    is_contact,
    target_gap,
)
from reference_engine.planar.faithful.pivoting import SOLVED, solve, worst_violation

Array = NDArray[np.float64]
Ids = NDArray[np.int64]

ACCEPTED = 1e-4  # m/s^2, or m/s: a solution that misses by more is an error


class Work(NamedTuple):
    """Room for up to N contacts; nothing in it outlives a call."""

    A: Array  # (N, N)
    b: Array  # (N,)
    f: Array
    a: Array
    joint: Ids
    M: Array  # (N, N + 1)
    rows: Ids
    columns: Ids
    scale: Array
    x: Array
    df: Array
    da: Array
    column: Array
    status: Ids
    again: Ids
    order: Ids
    stood: Ids
    history: Ids  # (64, N + 1)
    member: Ids  # rows of a subset
    taken: Ids
    moved: Ids  # (B + 1,) bodies of a subset
    # of impulses
    A_all: Array  # (N, N)
    u: Array
    e: Array
    j: Array


def room_to_work(n: int, bodies: int) -> Work:
    def vector() -> Array:
        return np.zeros(n)

    def ids() -> Ids:
        return np.zeros(n, np.int64)

    return Work(
        np.zeros((n, n)), vector(), vector(), vector(), ids(), np.zeros((n, n + 1)), ids(), ids(), vector(), vector(),
        vector(), vector(), vector(), ids(), ids(), ids(), ids(), np.zeros((64, n + 1), np.int64), ids(), ids(),
        np.zeros(bodies + 1, np.int64), np.zeros((n, n)), vector(), vector(), vector(),
    )  # fmt: skip


@kernel
def response(o, body, nix, niy, rix, riy, njx, njy, rjx, rjy):
    """n_i . (n_j / m + (r_j x n_j) x r_i / I): what a unit force n_j at r_j does along n_i at r_i."""
    moment = (rjx * njy - rjy * njx) * o.inv_inertia[body]
    return nix * (njx * o.inv_mass[body] - riy * moment) + niy * (njy * o.inv_mass[body] + rix * moment)


@kernel
def entry_of_matrix(o, pose, ids, values, i, j, round_arms):
    """A_ij; with `round_arms` the arms go to the centres of round edges, else to the points."""
    total = 0.0
    for side_i in range(2):
        body = ids[i, PRIMARY + side_i]
        if o.inv_mass[body] == 0.0:
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
    for side in range(2):
        body = ids[work.member[0], PRIMARY + side]
        if o.inv_mass[body] > 0.0:
            work.moved[body] = 1
    grows = True
    while grows:
        grows = False
        for k in range(count):
            if work.taken[k] == 1 or (work.moved[ids[k, PRIMARY]] == 0 and work.moved[ids[k, NORMAL]] == 0):
                continue
            work.member[size] = k
            work.taken[k] = 1
            size += 1
            grows = True
            for side in range(2):
                body = ids[k, PRIMARY + side]
                if o.inv_mass[body] > 0.0:
                    work.moved[body] = 1
    return size


@kernel
def push(o, pose, ids, values, k, amount, change):
    """change += the accelerations from a force, or the jumps of velocity from an impulse, at the points A and B."""
    i, j = ids[k, PRIMARY], ids[k, NORMAL]
    fx, fy = values[k, NX] * amount, values[k, NY] * amount
    if o.inv_mass[i] > 0.0:
        change[i, 0] += fx * o.inv_mass[i]
        change[i, 1] += fy * o.inv_mass[i]
        rx, ry = values[k, AX] - pose[i, 0], values[k, AY] - pose[i, 1]
        change[i, 2] += (rx * fy - ry * fx) * o.inv_inertia[i]
    if o.inv_mass[j] > 0.0:
        change[j, 0] -= fx * o.inv_mass[j]
        change[j, 1] -= fy * o.inv_mass[j]
        rx, ry = values[k, BX] - pose[j, 0], values[k, BY] - pose[j, 1]
        change[j, 2] -= (rx * fy - ry * fx) * o.inv_inertia[j]


@kernel
def keep_contacts(rules, ids, values, count):
    kept = 0
    for k in range(count):
        if is_contact(rules, ids, values, k):
            if kept < k:
                ids[kept, :] = ids[k, :]
                values[kept, :] = values[k, :]
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
            work.joint[i] = ids[k, HELD]
            work.b[i] = gap_acceleration(rules, ids, values, k, twist, acceleration)
            for j in range(n):
                work.A[i, j] = entry_of_matrix(o, pose, ids, values, k, work.member[j], True)
        outcome = solve(work.A, work.b, n, work.joint, seed, work.f, work.a, work)
        violation = worst_violation(work.A, work.b, n, work.joint, work.f)
        worst = max(worst, violation if violation > ACCEPTED or outcome != SOLVED else 0.0)
        for i in range(n):
            values[work.member[i], AMOUNT] = work.f[i]
            push(o, pose, ids, values, work.member[i], work.f[i], acceleration)

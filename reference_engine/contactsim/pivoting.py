"""Forces from A and b:  0 <= f  perp  a = A f + b >= 0, at joints a = 0 with f of either sign.

Baraff 1994, sec. 4, as the original uses it: contacts are taken in one at a time and driven to a = 0 while the held
ones stay at a = 0. Joints come first, in a seeded random order, then whatever is most violated. A contact that would
make the matrix of the held ones singular is put off to the end, and then taken only if it is violated still. The
order draws random numbers at every choice, so that the sequence depends on the way.

The rest of this project solves such problems by `reference_engine.contact_problems`, with residuals to 1e-9;
this is the original's method, with its limits, for the sake of its forces where they are not unique.
"""

import numpy as np

from reference_engine.compiler.kernels import entry, kernel
from reference_engine.contactsim import arrays as col
from reference_engine.contactsim.factors import (
    CLAMPED,
    FREE,
    NO_PIVOT,
    OPEN,
    PUT_OFF,
    SMALL,
    factor_of,
    forget_factors,
    is_regular,
    solve_factor,
)

INCONSISTENT = 0.1  # of a right-hand side in a row without a pivot


@kernel
def clamped_matrix(A, right, count, work):
    """M: A over the `count` contacts that are listed as held, and their right-hand sides behind."""
    clamped = work.k[col.W_CLAMPED]
    for p in range(count):
        for q in range(count):
            work.M[p, q] = A[clamped[p], clamped[q]]
        work.M[p, count] = right[clamped[p]]


@kernel
def eliminate(n, work):
    """Scaled partial pivoting on the n x (n + 1) matrix M; returns the rank, or -1 if a row is zero from the start.

    For singular matrices: of others `factors` has the same numbers without starting over for every contact.
    Rows and columns are exchanged by name alone. A column without a pivot goes to the end: its unknown is free.
    """
    M, rows, columns, scale = work.M, work.k[col.W_ROWS], work.k[col.W_COLUMNS], work.v[col.W_SCALE]
    for i in range(n):
        rows[i] = columns[i] = i
        scale[i] = 0.0
        for j in range(n):
            scale[i] = max(scale[i], abs(M[i, j]))
    for i in range(n):
        if scale[i] < SMALL:
            return -1
    for step in range(n):
        turned = 0
        while True:
            column, best, at = columns[step], -1.0, step
            for k in range(step, n):
                size = abs(M[rows[k], column]) / scale[rows[k]]
                if size > best:
                    best, at = size, k
            if abs(M[rows[at], column]) >= NO_PIVOT:
                break
            if turned >= n - 1 - step:
                return step
            for k in range(step, n - 1):
                columns[k] = columns[k + 1]
            columns[n - 1] = column
            turned += 1
        rows[step], rows[at] = rows[at], rows[step]
        pivot_row = rows[step]
        for k in range(step + 1, n):
            row = rows[k]
            m = M[row, column] / M[pivot_row, column]
            M[row, column] = 0.0
            M[row, n] -= m * M[pivot_row, n]
            for j in range(step + 1, n):
                M[row, columns[j]] -= m * M[pivot_row, columns[j]]
    return n


@kernel
def back_substitute(n, rank, work, x):
    """The unknowns, free ones zero. False if a row without a pivot has a right-hand side."""
    M, rows, columns = work.M, work.k[col.W_ROWS], work.k[col.W_COLUMNS]
    for k in range(rank, n):
        if abs(M[rows[k], n]) > INCONSISTENT:
            return False
        x[columns[k]] = 0.0
    for k in range(rank - 1, -1, -1):
        known = 0.0
        for j in range(k + 1, rank):
            known += M[rows[k], columns[j]] * x[columns[j]]
        x[columns[k]] = (M[rows[k], n] - known) / M[rows[k], columns[k]]
    return True


PUT_OFF_SMALL = 1e-8  # m/s^2: a violation for which a put-off contact is not taken up again
SINGULAR = 2e-3  # 1/kg, least diagonal of the eliminated matrix; absolute, as in the original
HUGE = 1e5  # N, a step that leads nowhere
TINY_STEP = 1e-12  # N
NO_CHANGE = 1e-14  # of a force or an acceleration per unit of the driven force
SOLVED, STUCK, UNSOLVED = -1, -2, -3  # what `drive` says, where it does not name a contact


@kernel
def draw(seed, n):
    """An integer in [0, n):  x' = (1664525 x + 1013904223) mod 2^32, floor(x' / 2^32 n)."""
    seed[0] = (1664525 * seed[0] + 1013904223) & 0xFFFFFFFF
    return int(seed[0] / 4294967296.0 * n)


@entry
def permutation(seed, n, out):
    """0..n-1 in random order: n draws, each the k-th of what is left."""
    for k in range(n):
        out[k] = k
    for index in range(n):
        pick = index + draw(seed, n - index)
        chosen = out[pick]
        for k in range(pick, index, -1):
            out[k] = out[k - 1]
        out[index] = chosen


@kernel
def would_be_singular(A, n, status, extra, other, work):
    """With `extra` and `other` held as well?"""
    return not is_regular(factor_of(A, n, status, extra, other, work), SINGULAR, work)


@kernel
def direction(A, n, status, d, work):
    """How held forces and all accelerations answer a unit of f_d:  A_CC df_C = -A_Cd,  da = A df."""
    df, right, x = work.v[col.W_DF], work.v[col.W_RIGHT], work.v[col.W_X]
    for i in range(n):
        df[i], right[i] = 0.0, -A[i, d]
    df[d] = 1.0
    slot = factor_of(A, n, status, col.NONE, col.NONE, work)
    count = work.f_ids[slot, col.F_SIZE, 0]
    if is_regular(slot, 0.0, work):
        solve_factor(slot, right, work, x)
    else:
        clamped_matrix(A, right, count, work)
        rank = eliminate(count, work)
        if rank < 0 or not back_substitute(count, rank, work, x):
            return False
    for p in range(count):
        df[work.f_ids[slot, col.F_CLAMPED, p]] = x[p]
    for i in range(n):
        total = 0.0
        for j in range(work.k[col.W_LOW, i], work.k[col.W_HIGH, i] + 1):
            total += A[i, j] * df[j]
        work.v[col.W_DA, i] = total
    return True


@kernel
def longest_step(n, joint, status, d, a, f, work):
    """How far f_d can go until a_d is zero or a contact changes sides: (step, which contact, or -1)."""
    step, which = (-np.inf if joint[d] == 1 and a[d] > 0.0 else np.inf), col.NONE
    if joint[d] == 1 or work.v[col.W_DA, d] > 0.0:
        step, which = -a[d] / work.v[col.W_DA, d], d
    sign = 1.0 if step > 0.0 else -1.0
    for i in range(n):
        if status[i] == CLAMPED and joint[i] == 0 and work.v[col.W_DF, i] * sign < -NO_CHANGE:
            longest = -f[i] / work.v[col.W_DF, i]
            longest = 0.0 if longest * sign < 0.0 else longest
            if longest * sign < step * sign:
                step, which = longest, i
    for i in range(n):
        change = work.v[col.W_DA, i] * sign
        if status[i] == FREE and (change < -NO_CHANGE if joint[i] == 0 else abs(change) > NO_CHANGE):
            longest = -a[i] / work.v[col.W_DA, i]
            longest = 0.0 if longest * sign < 0.0 else longest
            if longest * sign < step * sign:
                step, which = longest, i
    return step, which


@kernel
def violated(joint, a, i, tolerance):
    return a[i] < -tolerance if joint[i] == 0 else abs(a[i]) > tolerance


@kernel
def change_side(status, a, f, j):
    """A contact that limited the step: from held to free or back, or put off if round-off has spoiled it."""
    if status[j] == CLAMPED:
        status[j] = PUT_OFF if abs(a[j]) > SMALL else FREE
    elif status[j] == FREE:
        status[j] = PUT_OFF if abs(f[j]) > SMALL else CLAMPED


@kernel
def drive(A, n, joint, status, d, a, f, work):
    """Drive contact d to a_d = 0. SOLVED, a failure, or d itself, to be put off."""
    if not violated(joint, a, d, SMALL):
        status[d] = FREE
        return SOLVED
    if status[d] != PUT_OFF and would_be_singular(A, n, status, d, col.NONE, work):
        return d
    for i in range(n):
        work.k[col.W_STOOD, i] = 0
    tolerance = SMALL
    for _ in range(1000 * n + 1):
        if not violated(joint, a, d, tolerance):
            status[d] = CLAMPED if abs(f[d]) > SMALL else FREE
            return SOLVED
        if not direction(A, n, status, d, work):
            return STUCK
        step, j = longest_step(n, joint, status, d, a, f, work)
        if j < 0 or not abs(step) <= HUGE:
            if abs(f[d]) < SMALL:
                return d
            if abs(a[d]) >= 1e-5:
                return STUCK
            tolerance = 1.1 * abs(a[d])
            continue
        if abs(step) < TINY_STEP:
            if work.k[col.W_STOOD, j] == 1:
                status[j] = PUT_OFF  # it goes to and fro without moving anything
            work.k[col.W_STOOD, j] = 1
        for i in range(n):
            f[i] += step * work.v[col.W_DF, i]
            a[i] += step * work.v[col.W_DA, i]
        if status[j] == FREE and would_be_singular(A, n, status, d, j, work):
            status[j] = PUT_OFF
            continue
        change_side(status, a, f, j)
    return STUCK


@kernel
def next_contact(n, joint, status, again, a, seed, order):
    """Joints in random order, then the most violated, then what was put off and is violated still; -1: none."""
    least, which, open_joint = np.inf, col.NONE, False
    for i in range(n):
        open_joint = open_joint or (joint[i] == 1 and status[i] == OPEN)
        if joint[i] == 0 and status[i] == OPEN and a[i] < least:
            least, which = a[i], i
    if open_joint:
        permutation(seed, n, order)
        for k in range(n):
            if joint[order[k]] == 1 and status[order[k]] == OPEN:
                return order[k]
    else:
        for _ in range(n):  # the draws are made, as the original makes them, but no order is needed
            draw(seed, n)
    if which >= 0:
        return which
    worst = 0.0
    for i in range(n):
        if status[i] == PUT_OFF and again[i] == 0 and violated(joint, a, i, worst):
            worst, which = abs(a[i]), i
    return which if worst > PUT_OFF_SMALL else -1


@kernel
def seen_before(n, status, d, work, seen):
    """Has every contact been taken, and was this very state met with d before? Notes it down if not."""
    for i in range(n):
        if status[i] == OPEN:
            return False, seen
    for s in range(seen):
        same = work.history[s, n] == d
        for i in range(n):
            same = same and work.history[s, i] == status[i]
        if same:
            return True, seen
    if seen >= work.history.shape[0]:
        return True, seen
    for i in range(n):
        work.history[seen, i] = status[i]
    work.history[seen, n] = d
    return False, seen + 1


@entry
def solve(A, b, n, joint, seed, f, a, work):
    """Forces f and accelerations a; SOLVED or a failure. The caller looks at what is violated."""
    if n == 1:
        f[0] = -b[0] / A[0, 0] if joint[0] == 1 or b[0] < 0.0 else 0.0
        a[0] = A[0, 0] * f[0] + b[0]
        return SOLVED
    status, again = work.k[col.W_STATUS], work.k[col.W_AGAIN]
    for i in range(n):
        f[i], a[i] = 0.0, b[i]
        status[i], again[i] = OPEN, 0
    forget_factors(A, n, work)
    seen = 0
    while True:
        d = next_contact(n, joint, status, again, a, seed, work.k[col.W_ORDER])
        if d < 0:
            return SOLVED
        if status[d] == PUT_OFF:
            again[d] = 1
        loop, seen = seen_before(n, status, d, work, seen)
        if loop:
            return UNSOLVED
        outcome = drive(A, n, joint, status, d, a, f, work)
        if outcome == STUCK:
            return STUCK
        if outcome >= 0:
            status[outcome] = PUT_OFF
        else:
            for i in range(n):
                again[i] = 0


@entry
def worst_violation(A, b, n, joint, f):
    """The most that the conditions miss: -a, or |a| where there is a force or a joint."""
    worst = 0.0
    for i in range(n):
        a = b[i]
        for j in range(n):
            a += A[i, j] * f[j]
        if joint[i] == 1 or abs(f[i]) > SMALL:
            worst = max(worst, abs(a))
        else:
            worst = max(worst, -a)
    return worst

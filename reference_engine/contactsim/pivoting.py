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

SMALL = 1e-10  # m/s^2, N or 1/kg: what counts as zero
NO_PIVOT = 1e-9  # 1/kg
OPEN, CLAMPED, FREE, PUT_OFF = 0, 1, 2, 3  # of a contact
INCONSISTENT = 0.1  # of a right-hand side in a row without a pivot


@kernel
def clamped_matrix(n, extra, other, work):
    """M: A over the held contacts, `extra` and `other`, their right-hand sides behind; returns how many they are."""
    clamped, count = work.clamped, 0
    for i in range(n):
        if work.status[i] == CLAMPED or i in (extra, other):
            clamped[count] = i
            count += 1
    for p in range(count):
        for q in range(count):
            work.M[p, q] = work.A[clamped[p], clamped[q]]
        work.M[p, count] = work.right[clamped[p]]
    return count


@kernel
def eliminate(n, work):
    """Scaled partial pivoting on the n x (n + 1) matrix M (Golub & Van Loan 1996, sec. 3.4): (rank, least pivot).

    A column without a pivot goes to the end, its unknown is free, and the least pivot counts as 0. Rows are exchanged
    by name alone. The rank is -1 if a row is zero from the start.
    """
    M, rows, columns, scale = work.M, work.rows, work.columns, work.scale
    least = np.inf
    for i in range(n):
        rows[i] = columns[i] = i
        scale[i] = 0.0
        for j in range(n):
            scale[i] = max(scale[i], abs(M[i, j]))
    for i in range(n):
        if scale[i] < SMALL:
            return -1, 0.0
    for step in range(n):
        turned = 0
        while True:
            best, at = -1.0, step
            for k in range(step, n):
                size = abs(M[rows[k], step]) / scale[rows[k]]
                if size > best:
                    best, at = size, k
            if abs(M[rows[at], step]) >= NO_PIVOT:
                break
            least = 0.0
            if turned >= n - 1 - step:
                return step, least
            column_to_end(M, columns, step, n)
            turned += 1
        rows[step], rows[at] = rows[at], rows[step]
        pivot_row = rows[step]
        least = min(least, abs(M[pivot_row, step]))
        for k in range(step + 1, n):
            row = rows[k]
            if M[row, step] != 0.0:  # bodies touch their neighbours: most are zero
                subtract(M[row], M[pivot_row], M[row, step] / M[pivot_row, step], step + 1, n + 1)
    return n, least


@kernel
def column_to_end(M, columns, first, n):
    """Column `first` behind the last unknown's, and those between one to the front."""
    for i in range(n):
        entry = M[i, first]
        for j in range(first, n - 1):
            M[i, j] = M[i, j + 1]
        M[i, n - 1] = entry
    column = columns[first]
    for j in range(first, n - 1):
        columns[j] = columns[j + 1]
    columns[n - 1] = column


@kernel
def subtract(target, source, m, first, last):
    """target - m source, from column `first` to before `last`.

    Unsigned, so that numba sees that no index counts from the end: twice as fast.
    """
    for j in range(np.uint64(first), np.uint64(last)):
        target[j] -= m * source[j]


@kernel
def back_substitute(n, rank, work):
    """The unknowns, free ones zero. False if a row without a pivot has a right-hand side."""
    M, x, rows, columns = work.M, work.x, work.rows, work.columns
    for k in range(rank, n):
        if abs(M[rows[k], n]) > INCONSISTENT:
            return False
        x[columns[k]] = 0.0
    for k in range(rank - 1, -1, -1):
        known = 0.0
        for j in range(k + 1, rank):
            known += M[rows[k], j] * x[columns[j]]
        x[columns[k]] = (M[rows[k], n] - known) / M[rows[k], k]
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
def would_be_singular(n, extra, other, work):
    """With `extra` and `other` held as well?"""
    count = clamped_matrix(n, extra, other, work)
    rank, least = eliminate(count, work)
    return rank < count or least < SINGULAR


@kernel
def direction(n, d, work):
    """How held forces and all accelerations answer a unit of f_d:  A_CC df_C = -A_Cd,  da = A df."""
    A, df = work.A, work.df
    for i in range(n):
        df[i], work.right[i] = 0.0, -A[i, d]
    df[d] = 1.0
    count = clamped_matrix(n, col.NONE, col.NONE, work)
    rank, _ = eliminate(count, work)
    if rank < 0 or not back_substitute(count, rank, work):
        return False
    for p in range(count):
        df[work.clamped[p]] = work.x[p]
    for i in range(n):
        total = 0.0
        for j in range(n):
            total += A[i, j] * df[j]
        work.da[i] = total
    return True


@kernel
def longest_step(n, d, work):
    """How far f_d can go until a_d is zero or a contact changes sides: (step, which contact, or -1)."""
    joint, status, f, a, df, da = work.bilateral, work.status, work.f, work.a, work.df, work.da
    step, which = (-np.inf if joint[d] == 1 and a[d] > 0.0 else np.inf), col.NONE
    if joint[d] == 1 or da[d] > 0.0:
        step, which = -a[d] / da[d], d
    sign = 1.0 if step > 0.0 else -1.0
    for i in range(n):
        if status[i] == CLAMPED and joint[i] == 0 and df[i] * sign < -NO_CHANGE:
            longest = -f[i] / df[i]
            longest = 0.0 if longest * sign < 0.0 else longest
            if longest * sign < step * sign:
                step, which = longest, i
    for i in range(n):
        change = da[i] * sign
        if status[i] == FREE and (change < -NO_CHANGE if joint[i] == 0 else abs(change) > NO_CHANGE):
            longest = -a[i] / da[i]
            longest = 0.0 if longest * sign < 0.0 else longest
            if longest * sign < step * sign:
                step, which = longest, i
    return step, which


@kernel
def violated(i, tolerance, work):
    return work.a[i] < -tolerance if work.bilateral[i] == 0 else abs(work.a[i]) > tolerance


@kernel
def change_side(j, work):
    """A contact that limited the step: from held to free or back, or put off if round-off has spoiled it."""
    status, f, a = work.status, work.f, work.a
    if status[j] == CLAMPED:
        status[j] = PUT_OFF if abs(a[j]) > SMALL else FREE
    elif status[j] == FREE:
        status[j] = PUT_OFF if abs(f[j]) > SMALL else CLAMPED


@kernel
def drive(n, d, work):
    """Drive contact d to a_d = 0. SOLVED, a failure, or d itself, to be put off."""
    status, f, a = work.status, work.f, work.a
    if not violated(d, SMALL, work):
        status[d] = FREE
        return SOLVED
    if status[d] != PUT_OFF and would_be_singular(n, d, col.NONE, work):
        return d
    for i in range(n):
        work.stood[i] = 0
    tolerance = SMALL
    for _ in range(1000 * n + 1):
        if not violated(d, tolerance, work):
            status[d] = CLAMPED if abs(f[d]) > SMALL else FREE
            return SOLVED
        if not direction(n, d, work):
            return STUCK
        step, j = longest_step(n, d, work)
        if j < 0 or not abs(step) <= HUGE:
            if abs(f[d]) < SMALL:
                return d
            if abs(a[d]) >= 1e-5:
                return STUCK
            tolerance = 1.1 * abs(a[d])
            continue
        if abs(step) < TINY_STEP:
            if work.stood[j] == 1:
                status[j] = PUT_OFF  # it goes to and fro without moving anything
            work.stood[j] = 1
        for i in range(n):
            f[i] += step * work.df[i]
            a[i] += step * work.da[i]
        if status[j] == FREE and would_be_singular(n, d, j, work):
            status[j] = PUT_OFF
            continue
        change_side(j, work)
    return STUCK


@kernel
def next_contact(n, seed, work):
    """Joints in random order, then the most violated, then what was put off and is violated still; -1: none."""
    joint, status, order, a = work.bilateral, work.status, work.order, work.a
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
        if status[i] == PUT_OFF and work.again[i] == 0 and violated(i, worst, work):
            worst, which = abs(a[i]), i
    return which if worst > PUT_OFF_SMALL else -1


@kernel
def seen_before(n, d, seen, work):
    """Has every contact been taken, and was this very state met with d before? Notes it down if not."""
    for i in range(n):
        if work.status[i] == OPEN:
            return False, seen
    for s in range(seen):
        same = work.history[s, n] == d
        for i in range(n):
            same = same and work.history[s, i] == work.status[i]
        if same:
            return True, seen
    if seen >= work.history.shape[0]:
        return True, seen
    for i in range(n):
        work.history[seen, i] = work.status[i]
    work.history[seen, n] = d
    return False, seen + 1


@entry
def solve(n, seed, work):
    """Forces f and accelerations a, of A, b and `bilateral`: (SOLVED or a failure, worst violation)."""
    f, a, status = work.f, work.a, work.status
    if n == 1:
        A, b = work.A[0, 0], work.b[0]
        f[0] = -b / A if work.bilateral[0] == 1 or b < 0.0 else 0.0
        a[0] = A * f[0] + b
        return SOLVED, worst_violation(n, work)
    for i in range(n):
        f[i], a[i] = 0.0, work.b[i]
        status[i], work.again[i] = OPEN, 0
    seen, outcome = 0, SOLVED
    while True:
        d = next_contact(n, seed, work)
        if d < 0:
            break
        if status[d] == PUT_OFF:
            work.again[d] = 1
        loop, seen = seen_before(n, d, seen, work)
        if loop:
            outcome = UNSOLVED
            break
        outcome = drive(n, d, work)
        if outcome == STUCK:
            break
        if outcome >= 0:
            status[outcome] = PUT_OFF
            outcome = SOLVED
        else:
            for i in range(n):
                work.again[i] = 0
    return outcome, worst_violation(n, work)


@kernel
def worst_violation(n, work):
    """The most that the conditions miss: -a, or |a| where there is a force or a joint."""
    worst = 0.0
    for i in range(n):
        a = work.b[i]
        for j in range(n):
            a += work.A[i, j] * work.f[j]
        if work.bilateral[i] == 1 or abs(work.f[i]) > SMALL:
            worst = max(worst, abs(a))
        else:
            worst = max(worst, -a)
    return worst

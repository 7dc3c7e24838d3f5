"""The original's elimination over the held contacts, without starting over for every contact: to the bit its numbers.

Scaled partial pivoting, Golub & Van Loan 1996, sec. 3.4, as L U with the rows in the order of the pivots:

    row p, pivot of step s:   multipliers at columns START_p to s - 1,  U at columns s to END_p - 1

Two things save work and change no sum. Bodies touch their neighbours, so rows are zero but for a band, and zeros are
left out. And contacts are taken in one by one, many of them above the others: the list of the held ones then has its
front in common with the last list, and the steps of that front are kept, as long as the original would choose the same
pivots again. Two factors are at hand: that of the held contacts, and that of the same with one more.
"""

import numpy as np

from reference_engine.compiler.kernels import inlined, kernel
from reference_engine.contactsim import arrays as col

SMALL = 1e-10  # m/s^2, N or 1/kg: what counts as zero
NO_PIVOT = 1e-9  # 1/kg
OPEN, CLAMPED, FREE, PUT_OFF = 0, 1, 2, 3  # of a contact


@inlined
def forget_factors(A, n, work):
    """Nothing is known of this A but where the entries of its rows that are not zero begin and end."""
    for slot in range(2):
        work.f_ids[slot, col.F_SIZE, 0], work.f_ids[slot, col.F_SIZE, 1] = -1, 0
    for i in range(n):
        low = high = i
        for j in range(i):
            if A[i, j] != 0.0:
                low = j
                break
        for j in range(n - 1, i, -1):
            if A[i, j] != 0.0:
                high = j
                break
        work.k[col.W_LOW, i], work.k[col.W_HIGH, i] = low, high


@inlined
def list_clamped(n, status, extra, other, work):
    """Which contacts are held, with `extra` and `other` if not -1, and how many come up to each; how many there are."""
    count = 0
    for i in range(n):
        if status[i] == CLAMPED or i in (extra, other):
            work.k[col.W_CLAMPED, count] = i
            count += 1
        work.k[col.W_UP_TO, i] = count
    return count


@inlined
def common_prefix(slot, count, work):
    """How many contacts at the front of the list are those of the factor, whose columns they then are."""
    size = min(count, work.f_ids[slot, col.F_SIZE, 0])
    same = 0
    while same < size and work.f_ids[slot, col.F_CLAMPED, same] == work.k[col.W_CLAMPED, same]:
        same += 1
    return same


@inlined
def load_row(A, slot, p, work):
    """Row p as it is in A."""
    clamped, up_to = work.k[col.W_CLAMPED], work.k[col.W_UP_TO]
    i = clamped[p]
    low = work.k[col.W_LOW, i]
    start, end = (up_to[low - 1] if low > 0 else 0), up_to[work.k[col.W_HIGH, i]]
    work.f_ids[slot, col.F_START, p], work.f_ids[slot, col.F_END, p] = start, end
    for q in range(start, end):
        work.factor[slot, p, q] = A[i, clamped[q]]


@inlined
def row_scale(A, p, work):
    """The largest entry of row p."""
    clamped, up_to = work.k[col.W_CLAMPED], work.k[col.W_UP_TO]
    i, size = clamped[p], 0.0
    low = work.k[col.W_LOW, i]
    for q in range(up_to[low - 1] if low > 0 else 0, up_to[work.k[col.W_HIGH, i]]):
        size = max(size, abs(A[i, clamped[q]]))
    return size


@kernel
def subtract(target, source, first, last, m):
    """target - m source, from column `first` to before `last`.

    Unsigned, so that numba sees that no index counts from the end: twice as fast.
    """
    for j in range(np.uint64(first), np.uint64(last)):
        target[j] -= m * source[j]


@inlined
def subtract_step(slot, p, s, m, work):
    """Row p less m times the row of step s, right of column s."""
    end, source = work.f_ids[slot, col.F_END], work.f_ids[slot, col.F_ROWS, s]
    for j in range(end[p], end[source]):
        work.factor[slot, p, j] = 0.0
    end[p] = max(end[p], end[source])
    subtract(work.factor[slot, p], work.factor[slot, source], s + 1, end[source], m)


@inlined
def name_columns(base, prefix, count, work):
    """Where each column behind the front was in the factor `base`, or -1."""
    size, at = work.f_ids[base, col.F_SIZE, 0], prefix
    for q in range(prefix, count):
        while at < size and work.f_ids[base, col.F_CLAMPED, at] < work.k[col.W_CLAMPED, q]:
            at += 1
        same = at < size and work.f_ids[base, col.F_CLAMPED, at] == work.k[col.W_CLAMPED, q]
        work.k[col.W_FROM, q] = at if same else -1


@inlined
def steps_kept(A, base, slot, prefix, count, work):
    """How many steps of `base` the original would do again; the scales of all rows on the way.

    A row that is new, or is now compared by another scale, might be a better pivot; a tie counts as one.
    """
    ids, values = work.f_ids, work.f_values
    kept = 0
    while kept < prefix and ids[base, col.F_ROWS, kept] < prefix:
        kept += 1
    for p in range(count):
        scale = row_scale(A, p, work)
        values[slot, col.F_SCALE, p] = scale
        if p < prefix:
            if scale > values[base, col.F_SCALE, p]:  # no pivot before, so much less now
                kept = min(kept, ids[base, col.F_STEP, p])
            elif scale < values[base, col.F_SCALE, p]:
                kept = min(kept, ids[base, col.F_START, p])
        elif work.k[col.W_FROM, p] < 0 or scale != values[base, col.F_SCALE, work.k[col.W_FROM, p]]:
            load_row(A, slot, p, work)
            for s in range(ids[slot, col.F_START, p], kept):
                entry = work.factor[slot, p, s]
                if entry == 0.0:
                    continue
                if abs(entry) / scale >= values[base, col.F_BEST, s]:
                    kept = s
                    break
                source = ids[base, col.F_ROWS, s]
                m = entry / work.factor[base, source, s]
                for j in range(ids[slot, col.F_END, p], kept):
                    work.factor[slot, p, j] = 0.0
                ids[slot, col.F_END, p] = max(ids[slot, col.F_END, p], kept)
                last = min(kept, ids[base, col.F_END, source])
                subtract(work.factor[slot, p], work.factor[base, source], s + 1, last, m)
    return kept


@inlined
def exchange(slot, s, t, work):
    """The rows of steps s and t."""
    rows, step = work.f_ids[slot, col.F_ROWS], work.f_ids[slot, col.F_STEP]
    rows[s], rows[t] = rows[t], rows[s]
    step[rows[s]], step[rows[t]] = s, t


@inlined
def copy_steps(base, slot, prefix, kept, count, work):
    """Steps before `kept`: the columns that were there already, and 0 in those that were not."""
    ids = work.f_ids
    for p in range(count):
        ids[slot, col.F_ROWS, p] = ids[slot, col.F_STEP, p] = p
    for s in range(kept):
        p = ids[base, col.F_ROWS, s]
        exchange(slot, s, ids[slot, col.F_STEP, p], work)
        work.f_values[slot, col.F_BEST, s] = work.f_values[base, col.F_BEST, s]
        ids[slot, col.F_START, p] = ids[base, col.F_START, p]
        last = ids[base, col.F_END, p]
        for j in range(ids[base, col.F_START, p], min(prefix, last)):
            work.factor[slot, p, j] = work.factor[base, p, j]
        end = min(prefix, last)
        while last > prefix and end < count:
            source = work.k[col.W_FROM, end]
            if source >= last:
                break
            work.factor[slot, p, end] = work.factor[base, p, source] if source >= 0 else 0.0
            end += 1
        ids[slot, col.F_END, p] = end


@inlined
def add_column(A, slot, q, kept, work):
    """Column q of the steps before `kept`, which was not there:  u_s = A_sq - sum of m_sr u_r over r < s."""
    ids, clamped, u = work.f_ids, work.k[col.W_CLAMPED], work.v[col.W_COLUMN]
    first = kept
    for s in range(kept):
        p = ids[slot, col.F_ROWS, s]
        u[s] = A[clamped[p], clamped[q]]
        for r in range(max(first, ids[slot, col.F_START, p]), s):
            u[s] -= work.factor[slot, p, r] * u[r]
        if u[s] == 0.0:
            continue
        first = min(first, s)
        for j in range(ids[slot, col.F_END, p], q):
            work.factor[slot, p, j] = 0.0
        ids[slot, col.F_END, p] = max(ids[slot, col.F_END, p], q + 1)
        work.factor[slot, p, q] = u[s]


@inlined
def go_on(slot, kept, count, work):
    """The steps from `kept` on, with pivots chosen. False where one is missing."""
    factor, rows = work.factor, work.f_ids[slot, col.F_ROWS]
    start, end = work.f_ids[slot, col.F_START], work.f_ids[slot, col.F_END]
    for step in range(kept, count):
        best, at = -1.0, step
        for k in range(step, count):
            row, size = rows[k], 0.0
            if start[row] <= step < end[row]:
                size = abs(factor[slot, row, step]) / work.f_values[slot, col.F_SCALE, row]
            if size > best:
                best, at = size, k
        exchange(slot, step, at, work)
        pivot_row = rows[step]
        work.f_values[slot, col.F_BEST, step] = best
        if best <= 0.0 or abs(factor[slot, pivot_row, step]) < NO_PIVOT:
            return False
        for k in range(step + 1, count):
            row = rows[k]
            if start[row] <= step < end[row] and factor[slot, row, step] != 0.0:
                m = factor[slot, row, step] / factor[slot, pivot_row, step]
                factor[slot, row, step] = m
                subtract_step(slot, row, step, m, work)
    return True


@inlined
def build(A, base, slot, prefix, count, work):
    """The factor of the listed contacts. False if they make a singular matrix."""
    name_columns(base, prefix, count, work)
    kept = steps_kept(A, base, slot, prefix, count, work)
    for p in range(count):
        if work.f_values[slot, col.F_SCALE, p] < SMALL:
            return False
    copy_steps(base, slot, prefix, kept, count, work)
    for q in range(prefix, count):
        if work.k[col.W_FROM, q] < 0:
            add_column(A, slot, q, kept, work)
    for k in range(kept, count):
        p = work.f_ids[slot, col.F_ROWS, k]
        load_row(A, slot, p, work)
        for s in range(work.f_ids[slot, col.F_START, p], kept):
            if work.factor[slot, p, s] != 0.0:
                m = work.factor[slot, p, s] / work.factor[slot, work.f_ids[slot, col.F_ROWS, s], s]
                work.factor[slot, p, s] = m
                subtract_step(slot, p, s, m, work)
    return go_on(slot, kept, count, work)


@inlined
def find_factor(count, work):
    """The slot with the factor of the listed contacts, or -1."""
    for slot in range(2):
        if count == work.f_ids[slot, col.F_SIZE, 0] and common_prefix(slot, count, work) == count:
            return slot
    return -1


@kernel
def factor_of(A, n, status, extra, other, work):
    """The slot with the factor of the held contacts, of `extra` and `other` too if they are not -1.

    It is made from that of the held ones alone if this is at hand, and that stays: it is asked for next.
    """
    base = find_factor(list_clamped(n, status, col.NONE, col.NONE, work), work)
    if extra < 0 and base >= 0:
        return base
    count = list_clamped(n, status, extra, other, work)
    found = find_factor(count, work)
    if found >= 0:
        return found
    if base < 0:
        base = 0
        for slot in range(2):
            if common_prefix(slot, count, work) > common_prefix(base, count, work):
                base = slot
    slot = 1 - base
    prefix = common_prefix(base, count, work) if work.f_ids[base, col.F_SIZE, 1] == 1 else 0
    work.f_ids[slot, col.F_SIZE, 0] = count
    for p in range(count):
        work.f_ids[slot, col.F_CLAMPED, p] = work.k[col.W_CLAMPED, p]
    work.f_ids[slot, col.F_SIZE, 1] = build(A, base, slot, prefix, count, work)
    return slot


@inlined
def is_regular(slot, least, work):
    """Is there a pivot in every step, none smaller than `least`?"""
    if work.f_ids[slot, col.F_SIZE, 1] == 0:
        return False
    for s in range(work.f_ids[slot, col.F_SIZE, 0]):
        if abs(work.factor[slot, work.f_ids[slot, col.F_ROWS, s], s]) < least:
            return False
    return True


@inlined
def solve_factor(slot, right, work, x):
    """x of L U x = right; `right` by contact, x by place in the list."""
    ids, y = work.f_ids, work.v[col.W_COLUMN]
    count = ids[slot, col.F_SIZE, 0]
    for s in range(count):
        p = ids[slot, col.F_ROWS, s]
        rest = right[ids[slot, col.F_CLAMPED, p]]
        for r in range(ids[slot, col.F_START, p], s):
            rest -= work.factor[slot, p, r] * y[r]
        y[s] = rest
    for s in range(count - 1, -1, -1):
        p = ids[slot, col.F_ROWS, s]
        known = 0.0
        for j in range(s + 1, ids[slot, col.F_END, p]):
            known += work.factor[slot, p, j] * x[j]
        x[s] = (y[s] - known) / work.factor[slot, p, s]

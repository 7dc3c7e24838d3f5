"""Gaussian elimination as the original does it, over the held contacts.

Bodies touch their neighbours, so A is zero but for a band. Each row of M is kept from its first to its last entry that
is not zero (`W_START`, and one past it `W_END`), and what is zero is left out of the sums: that changes no result, and
the numbers are those of the full elimination to the bit. In a pile it is k w^2 operations, w the width, for k^3 / 3.
"""

from reference_engine.geometry.kernels import kernel
from reference_engine.planar.faithful import arrays as col

SMALL = 1e-10  # m/s^2, N or 1/kg: what counts as zero
NO_PIVOT = 1e-9  # 1/kg
INCONSISTENT = 0.1  # of a right-hand side in a row without a pivot
OPEN, HELD, FREE, PUT_OFF = 0, 1, 2, 3  # of a contact


@kernel
def find_bands(A, n, work):
    """First and last column of each row of A that is not zero, or on the diagonal."""
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


@kernel
def held_matrix(A, n, status, extra, other, work):
    """M: A over the held contacts, and `extra` and `other` if not -1, and 0 behind; returns how many they are.

    scale: the largest entry of each row.
    """
    held, up_to = work.k[col.W_HELD], work.k[col.W_UP_TO]
    count = col.ZERO
    for i in range(n):
        if status[i] == HELD or i in (extra, other):
            held[count] = i
            count += 1
        up_to[i] = count
    for p in range(count):
        i, low, size = held[p], work.k[col.W_LOW, held[p]], 0.0
        work.k[col.W_START, p] = up_to[low - 1] if low > 0 else 0
        work.k[col.W_END, p] = up_to[work.k[col.W_HIGH, i]]
        for q in range(work.k[col.W_START, p], work.k[col.W_END, p]):
            value = A[i, held[q]]
            work.M[p, q] = value
            size = max(size, abs(value))
        work.M[p, count] = 0.0
        work.v[col.W_SCALE, p] = size
    return count


@kernel
def fill_out(n, work):
    """Every row whole, with the zeros outside its band."""
    for i in range(n):
        for j in range(work.k[col.W_START, i]):
            work.M[i, j] = 0.0
        for j in range(work.k[col.W_END, i], n):
            work.M[i, j] = 0.0
        work.k[col.W_START, i], work.k[col.W_END, i] = 0, n


@kernel
def eliminate(n, least, work):
    """Scaled partial pivoting on the n x (n + 1) matrix M; returns the rank, or -1.

    Rows and columns are exchanged by name alone. A column without a pivot goes to the end: its unknown is free.
    -1: a row is zero from the start, or a pivot is smaller than `least` before any column has been exchanged.
    """
    M, scale = work.M, work.v[col.W_SCALE]
    rows, columns, start, end = work.k[col.W_ROWS], work.k[col.W_COLUMNS], work.k[col.W_START], work.k[col.W_END]
    for i in range(n):
        rows[i] = columns[i] = i
        if scale[i] < SMALL:
            return -1
    in_order = True
    for step in range(n):
        turned = 0
        while True:
            column, best, at = columns[step], -1.0, step
            for k in range(step, n):
                row, size = rows[k], 0.0
                if start[row] <= column < end[row]:
                    size = abs(M[row, column]) / scale[row]
                if size > best:
                    best, at = size, k
            if best > 0.0 and abs(M[rows[at], column]) >= NO_PIVOT:
                break
            if turned >= n - 1 - step:
                return step
            if in_order:
                fill_out(n, work)
            for k in range(step, n - 1):
                columns[k] = columns[k + 1]
            columns[n - 1] = column
            turned += 1
            in_order = False
        rows[step], rows[at] = rows[at], rows[step]
        pivot_row = rows[step]
        pivot, last = M[pivot_row, column], end[pivot_row]
        if in_order and abs(pivot) < least:
            return -1
        for k in range(step + 1, n):
            row = rows[k]
            if not start[row] <= column < end[row] or M[row, column] == 0.0:
                continue
            m = M[row, column] / pivot
            M[row, column] = 0.0
            M[row, n] -= m * M[pivot_row, n]
            if in_order:  # the same without the names, which is what is quick
                for j in range(end[row], last):
                    M[row, j] = 0.0
                end[row] = max(end[row], last)
                for j in range(step + 1, last):
                    M[row, j] -= m * M[pivot_row, j]
            else:
                for j in range(step + 1, n):
                    M[row, columns[j]] -= m * M[pivot_row, columns[j]]
    return n


@kernel
def least_diagonal(n, work):
    """The smallest |M_ii|, the rows as they were exchanged and the columns as they were not, as in the original:

    once columns have been exchanged, these are other entries than the pivots.
    """
    least = abs(work.M[work.k[col.W_ROWS, 0], 0])
    for i in range(n):
        row = work.k[col.W_ROWS, i]
        size = abs(work.M[row, i]) if work.k[col.W_START, row] <= i < work.k[col.W_END, row] else 0.0
        least = min(least, size)
    return least


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
        for j in range(k + 1, min(rank, work.k[col.W_END, rows[k]])):
            known += M[rows[k], columns[j]] * x[columns[j]]
        x[columns[k]] = (M[rows[k], n] - known) / M[rows[k], columns[k]]
    return True

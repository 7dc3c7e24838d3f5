"""Gaussian elimination over the held contacts as the original does it, where the matrix is singular.

Where it is not, `factors` has the same numbers without starting over for every contact.
"""

from reference_engine.compiler.kernels import kernel
from reference_engine.contactsim import arrays as col

SMALL = 1e-10  # m/s^2, N or 1/kg: what counts as zero
NO_PIVOT = 1e-9  # 1/kg
INCONSISTENT = 0.1  # of a right-hand side in a row without a pivot
OPEN, CLAMPED, FREE, PUT_OFF = 0, 1, 2, 3  # of a contact


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

"""Elimination: of a square matrix neither symmetric nor regular, and of a symmetric one as rows come and go.

`eliminate` (contact forces with friction): Golub & Van Loan 1996, sec. 3.4, with rows compared by their own size
(scaled partial pivoting), so that masses and units do not matter. Columns are taken in their order. One that adds
nothing to those before it is skipped and its unknown is 0: of redundant forces those that come last are the ones left
out. The row which is then left without a pivot asks for what the others give already, or for what no unknowns give:
the caller's residual shows which. To refine: keep the matrix, solve for the residual with the same factors, and add.

`factorise` is Cholesky's factor of A over the clamped rows, L L^T = A_CC. A row is added at the end by one forward
substitution, and taken out by plane rotations; both are O(n^2). The rotations add to the diagonal of what is left of
L, so that taking out is stable (sec. 12.5.3); adding is as exact as the new row is independent of the others.
`factorise` starts afresh, O(n^3), with pivoting.
"""

import numpy as np

from reference_engine.compiler.kernels import kernel

DEPENDENT = 1e-11  # of a column's size: what is left of it below that is round-off


@kernel
def eliminate(M, n, rows, skipped, size):
    """Factors of the leading n x n of M, written over it, L below and U above. Returns how many columns were skipped.

    M (at least n, n) in C order; out: rows (n,) int64, the row that column k was pivoted on, or -1; skipped (n,)
    int64, 1 where it was skipped. size (2, n or more): scratch. Rows are not moved.
    """
    for i in range(n):
        most = 0.0
        for k in range(n):
            most = max(most, abs(M[i, k]))
        size[0, i] = most if most > 0.0 else 1.0
        size[1, i] = 0.0
    for i in range(n):
        for k in range(n):
            size[1, k] = max(size[1, k], abs(M[i, k]) / size[0, i])
    count = 0
    for k in range(n):
        pivot, most = -1, DEPENDENT * size[1, k]
        for i in range(n):
            if size[0, i] > 0.0 and abs(M[i, k]) > most * size[0, i]:
                pivot, most = i, abs(M[i, k]) / size[0, i]
        rows[k] = pivot
        skipped[k] = 1 if pivot < 0 else 0
        count += skipped[k]
        if pivot < 0:
            continue
        size[0, pivot] = -1.0  # taken
        for i in range(n):
            if size[0, i] > 0.0 and M[i, k] != 0.0:
                multiplier = M[i, k] / M[pivot, k]
                M[i, k] = multiplier
                for j in range(k + 1, n):
                    M[i, j] -= multiplier * M[pivot, j]
    return count


@kernel
def substitute(M, n, rows, skipped, right, x):
    """x (n,) with M x = right (n,) on the rows that were pivoted on, by the factors of `eliminate`; 0 where skipped.

    `right` is only read, and must not be the same array as x.
    """
    for k in range(n):
        x[k] = 0.0
        if skipped[k] == 0:
            rest = right[rows[k]]
            for j in range(k):
                rest -= M[rows[k], j] * x[j]
            x[k] = rest
    for k in range(n - 1, -1, -1):
        if skipped[k] == 0:
            rest = x[k]
            for j in range(k + 1, n):
                rest -= M[rows[k], j] * x[j]
            x[k] = rest / M[rows[k], k]


@kernel
def factorise(A, clamped, first, count, threshold, negligible, factor):
    """Rows first .. count - 1 of the factor anew, rows before them as they are; returns how many rows it has.

    Of the rows left the one with the most of its own A_ii left goes next. Where not more than `threshold` of it is
    left, or an A_ii is `negligible` [1/kg], rows depend on those before: `clamped` has them at its end, and the factor
    stops short of them.
    """
    for row in range(first, count):
        for column in range(first):
            rest = A[clamped[row], clamped[column]]
            for k in range(column):
                rest -= factor[row, k] * factor[column, k]
            factor[row, column] = rest / factor[column, column]
    for step in range(first, count):
        best, most = step, -1.0
        for row in range(step, count):
            own = A[clamped[row], clamped[row]]
            rest = own
            for k in range(step):
                rest -= factor[row, k] * factor[row, k]
            if own > negligible and rest / own > most:
                best, most = row, rest / own
        if most <= threshold:
            return step
        clamped[step], clamped[best] = clamped[best], clamped[step]
        for k in range(step):
            factor[step, k], factor[best, k] = factor[best, k], factor[step, k]
        factor[step, step] = np.sqrt(most * A[clamped[step], clamped[step]])
        for row in range(step + 1, count):
            rest = A[clamped[row], clamped[step]]
            for k in range(step):
                rest -= factor[row, k] * factor[step, k]
            factor[row, step] = rest / factor[step, step]
    return count


@kernel
def drop_row(factor, clamped, row, count):
    """Take a row out: L without it has one column too many, which plane rotations turn to zero."""
    for i in range(row, count - 1):
        clamped[i] = clamped[i + 1]
        for k in range(i + 2):
            factor[i, k] = factor[i + 1, k]
    for k in range(row, count - 1):
        length = np.sqrt(factor[k, k] ** 2 + factor[k, k + 1] ** 2)
        cosine, sine = factor[k, k] / length, factor[k, k + 1] / length
        for i in range(k, count - 1):
            left, right = factor[i, k], factor[i, k + 1]
            factor[i, k] = cosine * left + sine * right
            factor[i, k + 1] = cosine * right - sine * left


@kernel
def substitute_forward(factor, count, x):
    """x := L^-1 x."""
    for row in range(count):
        rest = x[row]
        for k in range(row):
            rest -= factor[row, k] * x[k]
        x[row] = rest / factor[row, row]


@kernel
def substitute_back(factor, count, x):
    """x := L^-T x."""
    for row in range(count - 1, -1, -1):
        x[row] /= factor[row, row]
        for k in range(row):
            x[k] -= factor[row, k] * x[row]

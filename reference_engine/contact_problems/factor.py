"""Cholesky factor of A over the clamped rows, kept up to date as rows come and go: L L^T = A_CC.

A row is added at the end by one forward substitution, and taken out by plane rotations; both are O(n^2). The
rotations add to the diagonal of what is left of L, so that taking out is stable (Golub & Van Loan 1996, sec. 12.5.3);
adding is as exact as the new row is independent of the others. `factorise` starts afresh, O(n^3), with pivoting.
"""

import numpy as np

from reference_engine.compiler.kernels import kernel


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

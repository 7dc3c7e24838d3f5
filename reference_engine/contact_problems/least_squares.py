"""Linear equations some of which follow from others: the solution with the least sum of squares."""

import numpy as np

from reference_engine.compiler.kernels import kernel

DEPENDENT = 1e-10  # of the largest entry: what is left of a row that others give
GROWTH = 4.0  # times a pivot on the diagonal: so large may be what else is in its row and column


@kernel
def solve_least(M, x, weight, order, n):
    """x (n,): of the n equations in M (n, n + 1), the right side last, that which has the least sum of (x / weight)^2.

    Gauss's elimination; a row that is a combination of others is left out. The pivot is the largest entry left, or the
    largest on the diagonal while that is large enough in its row and column: most of these matrices are nearly
    symmetric without negative eigenvalues, and few of their entries differ from 0. order (n,): of the unknowns.
    """
    largest = 0.0
    for i in range(n):
        order[i] = i
        for j in range(n):
            M[i, j] *= weight[j]
            largest = max(largest, abs(M[i, j]))
    rank = 0
    while rank < n and next_pivot(M, order, n, rank, DEPENDENT * largest):
        eliminate(M, n, rank)
        rank += 1
    substitute_back(M, n, rank)
    for i in range(rank, n):
        M[i, n] = 0.0
    if rank < n:
        take_least(M, n, rank)
    for i in range(n):
        x[order[i]] = M[i, n] * weight[order[i]]


@kernel
def next_pivot(M, order, n, step, least):
    """Brings the next pivot to row and column `step`; False where none is above `least`."""
    best, row = least, -1
    for i in range(step, n):
        if abs(M[i, i]) > best:
            best, row = abs(M[i, i]), i
    column = row
    if row >= 0:
        for i in range(step, n):
            if abs(M[i, row]) > GROWTH * best or abs(M[row, i]) > GROWTH * best:
                row = -1
                break
    if row < 0:
        best = least
        for i in range(step, n):
            for j in range(step, n):
                if abs(M[i, j]) > best:
                    best, row, column = abs(M[i, j]), i, j
    if row < 0:
        return False
    if row != step:
        for j in range(step, n + 1):
            M[row, j], M[step, j] = M[step, j], M[row, j]
    if column != step:
        for i in range(n):
            M[i, column], M[i, step] = M[i, step], M[i, column]
        order[column], order[step] = order[step], order[column]
    return True


@kernel
def eliminate(M, n, step):
    """The unknown of row `step`, out of the rows below."""
    inverse = 1.0 / M[step, step]
    for i in range(step + 1, n):
        if M[i, step] != 0.0:
            factor = M[i, step] * inverse
            for j in range(step + 1, n + 1):
                M[i, j] -= factor * M[step, j]


@kernel
def substitute_back(M, n, rank):
    """The pivots' unknowns, by the others and the right side: into these columns of the first rows."""
    for i in range(rank - 1, -1, -1):
        for k in range(i + 1, rank):
            factor = M[i, k]
            if factor != 0.0:
                for j in range(rank, n + 1):
                    M[i, j] -= factor * M[k, j]
        inverse = 1.0 / M[i, i]
        for j in range(rank, n + 1):
            M[i, j] *= inverse


@kernel
def take_least(M, n, rank):
    """Off the solution, in the last column, what the null vectors have of it; they are written below the rows."""
    for count in range(rank, n):
        z = M[count]
        for j in range(n):
            z[j] = 0.0
        z[count] = 1.0
        for i in range(rank):
            z[i] = -M[i, count]
        for _ in range(2):
            for other in range(rank, count):
                total = 0.0
                for j in range(n):
                    total += z[j] * M[other, j]
                for j in range(n):
                    z[j] -= total * M[other, j]
        size = 0.0
        for j in range(n):
            size += z[j] * z[j]
        size, total = np.sqrt(size), 0.0
        for j in range(n):
            z[j] /= size
            total += z[j] * M[j, n]
        for j in range(n):
            M[j, n] -= total * z[j]

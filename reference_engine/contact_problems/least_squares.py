"""Linear equations some of which follow from others: the solution with the least sum of squares."""

import numpy as np

from reference_engine.compiler.kernels import kernel

DEPENDENT = 1e-10  # of the largest entry: what is left of a row that others give


@kernel
def solve_least(M, x, weight, pivot, n):
    """x (n,): of the n equations in M (n, n + 1), the right side last, that which has the least sum of (x / weight)^2.

    Gauss and Jordan's elimination with full pivoting; a row that is a combination of others is left out.
    """
    largest = 0.0
    for i in range(n):
        for j in range(n):
            M[i, j] *= weight[j]
            largest = max(largest, abs(M[i, j]))
        pivot[i, 1] = 0  # of a column: is it a pivot's
    rank = 0
    while rank < n and eliminate_next(M, pivot, n, rank, DEPENDENT * largest):
        rank += 1
    for j in range(n):
        x[j] = 0.0
    for i in range(rank):
        x[pivot[i, 0]] = M[i, n]
    if rank < n:
        take_least(M, x, pivot, n, rank)
    for j in range(n):
        x[j] *= weight[j]


@kernel
def eliminate_next(M, pivot, n, step, least):
    """The largest entry left, in a row from `step` on, is the next pivot; False where none is above `least`."""
    best, at, column = least, step, -1
    for i in range(step, n):
        for j in range(n):
            if pivot[j, 1] == 0 and abs(M[i, j]) > best:
                best, at, column = abs(M[i, j]), i, j
    if column < 0:
        return False
    for j in range(n + 1):
        M[at, j], M[step, j] = M[step, j], M[at, j]
    pivot[step, 0], pivot[column, 1] = column, 1
    factor = 1.0 / M[step, column]
    for j in range(n + 1):
        M[step, j] *= factor
    for i in range(n):
        factor = M[i, column]
        if i != step and factor != 0.0:
            for j in range(n + 1):
                M[i, j] -= factor * M[step, j]
    return True


@kernel
def take_least(M, x, pivot, n, rank):
    """Off work.solution, what the null vectors of the eliminated system have of it; they are written below its rows."""
    count = rank
    for f in range(n):
        if pivot[f, 1] == 1:
            continue
        z = M[count]  # row that was left out
        for j in range(n):
            z[j] = 0.0
        z[f] = 1.0
        for i in range(rank):
            z[pivot[i, 0]] = -M[i, f]
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
            total += z[j] * x[j]
        for j in range(n):
            x[j] -= total * z[j]
        count += 1

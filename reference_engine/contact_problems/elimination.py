"""Gaussian elimination of a square matrix that need be neither symmetric nor regular: contact forces with friction.

Golub & Van Loan 1996, sec. 3.4, with rows compared by their own size (scaled partial pivoting), so that masses and
units do not matter. Columns are taken in their order. One that adds nothing to those before it is skipped and its
unknown is 0: of redundant forces those that come last are the ones left out. The row which is then left without a
pivot asks for what the others give already, or for what no unknowns give: the caller's residual tells which.

To refine: keep the matrix, solve for the residual with the same factors, and add.
"""

from reference_engine.compiler.kernels import kernel

DEPENDENT = 1e-11  # of a column's size: what is left of it below that is round-off


@kernel
def eliminate(M, n, rows, skipped, size):
    """Factors of the leading n x n of M in its place, L below and U above. Returns how many columns were skipped.

    M (at least n, n) in C order; out: rows (n,) int64, the row that column k was pivoted on, or -1; skipped (n,)
    int64, 1 where it was skipped. size (2, n or more): scratch. Rows keep their places.
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

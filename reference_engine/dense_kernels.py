"""The loops of `dense.py`: in a module of their own, so that scenes can multiply without a compiler."""

import math

from reference_engine.compiler.kernels import entry

SWEEPS = 60  # six to ten are needed
ROUND_OFF = 2.0**-52


@entry
def eliminate(M, x):
    """x (n, m) := M^-1 x by elimination with partial pivoting; M (n, n) becomes its factors. Returns det M, or 0.0."""
    n, m, product = M.shape[0], x.shape[1], 1.0
    for k in range(n):
        pivot, most = k, abs(M[k, k])
        for i in range(k + 1, n):
            if abs(M[i, k]) > most:
                pivot, most = i, abs(M[i, k])
        if most == 0.0:
            return 0.0
        if pivot != k:
            product = -product
            for j in range(n):
                M[k, j], M[pivot, j] = M[pivot, j], M[k, j]
            for j in range(m):
                x[k, j], x[pivot, j] = x[pivot, j], x[k, j]
        product *= M[k, k]
        for i in range(k + 1, n):
            part = M[i, k] / M[k, k]
            if part != 0.0:
                for j in range(k + 1, n):
                    M[i, j] -= part * M[k, j]
                for j in range(m):
                    x[i, j] -= part * x[k, j]
    for k in range(n - 1, -1, -1):
        for j in range(m):
            rest = x[k, j]
            for i in range(k + 1, n):
                rest -= M[k, i] * x[i, j]
            x[k, j] = rest / M[k, k]
    return product if product != 0.0 else 5e-324  # it was too small for a number


@entry
def diagonalise(M, vectors):
    """Jacobi's rotations until M (n, n), symmetric, is diagonal; they turn the columns of vectors (n, n) too."""
    n = M.shape[0]
    for _ in range(SWEEPS):
        settled = True
        for p in range(n):
            for q in range(p + 1, n):
                off = M[p, q]
                if abs(off) <= ROUND_OFF * 0.25 * math.sqrt(abs(M[p, p]) * abs(M[q, q])) and abs(off) <= ROUND_OFF * (
                    abs(M[p, p]) + abs(M[q, q])
                ):
                    M[p, q] = M[q, p] = 0.0
                    continue
                if off == 0.0:
                    continue
                settled = False
                theta = (M[q, q] - M[p, p]) / (2.0 * off)
                t = 1.0 / (abs(theta) + math.sqrt(1.0 + theta * theta))
                if theta < 0.0:
                    t = -t
                c = 1.0 / math.sqrt(1.0 + t * t)
                s = t * c
                M[p, p] -= t * off
                M[q, q] += t * off
                M[p, q] = M[q, p] = 0.0
                for k in range(n):
                    if k != p and k != q:
                        a, b = M[k, p], M[k, q]
                        M[k, p] = c * a - s * b
                        M[k, q] = s * a + c * b
                        M[p, k], M[q, k] = M[k, p], M[k, q]
                for k in range(n):
                    a, b = vectors[k, p], vectors[k, q]
                    vectors[k, p] = c * a - s * b
                    vectors[k, q] = s * a + c * b
        if settled:
            break
    return 0


@entry
def orthogonalise(rows, turned):
    """Rotates pairs of rows (n, m) until all are at right angles; turned (n, n) by the same rotations."""
    n, m = rows.shape
    for _ in range(SWEEPS):
        settled = True
        for p in range(n):
            for q in range(p + 1, n):
                a = b = c = 0.0
                for k in range(m):
                    a += rows[p, k] * rows[p, k]
                    b += rows[q, k] * rows[q, k]
                    c += rows[p, k] * rows[q, k]
                if abs(c) <= ROUND_OFF * math.sqrt(a) * math.sqrt(b):
                    continue
                settled = False
                theta = (b - a) / (2.0 * c)
                t = 1.0 / (abs(theta) + math.sqrt(1.0 + theta * theta))
                if theta < 0.0:
                    t = -t
                cosine = 1.0 / math.sqrt(1.0 + t * t)
                sine = t * cosine
                for k in range(m):
                    x, y = rows[p, k], rows[q, k]
                    rows[p, k] = cosine * x - sine * y
                    rows[q, k] = sine * x + cosine * y
                for k in range(n):
                    x, y = turned[p, k], turned[q, k]
                    turned[p, k] = cosine * x - sine * y
                    turned[q, k] = sine * x + cosine * y
        if settled:
            break
    return 0

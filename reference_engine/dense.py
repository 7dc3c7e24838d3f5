"""Small dense algebra with the same bits on every processor: sums in one order, where BLAS takes another for each.

`mul` is numpy's own loop (einsum), which is compiled for the least processor only. The rest are compiled loops:
elimination with partial pivoting (Golub & Van Loan 1996, sec. 3.4), Jacobi's method for symmetric matrices (ibid.
sec. 8.4) and, on one side, for singular values (Hestenes 1958, J. SIAM 6; ibid. sec. 8.6.3), which finds small ones to
more digits than a reduction to two diagonals does.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from reference_engine import elementary
from reference_engine.array_types import Array

SWEEPS = 60  # of Jacobi's method; six to ten are needed
EPSILON = 2.0**-52


COMPILED: dict[Any, Any] = {}
"""The loops below, compiled, where `elementary_kernels` is loaded: scenes are read without. The bits are the same."""


def _fastest(loop: Any) -> Any:
    return COMPILED.get(loop, loop)


def mul(a: Any, b: Any) -> Any:
    """a @ b; sparse ones by scipy's own loops."""
    if hasattr(a, "tocsr") or hasattr(b, "tocsr"):
        return a @ b
    a, b = np.asarray(a), np.asarray(b)
    if a.ndim == 1:
        return np.einsum("i,i->" if b.ndim == 1 else "i,...ij->...j", a, b)
    return np.einsum("...ij,j->...i" if b.ndim == 1 else "...ij,...jk->...ik", a, b)


def cross(a: Array, b: Array) -> Array:
    """a x b of (..., 3); several times quicker than numpy's for short arrays."""
    ax, ay, az, bx, by, bz = a[..., 0], a[..., 1], a[..., 2], b[..., 0], b[..., 1], b[..., 2]
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=-1)


def norm(x: ArrayLike) -> float:
    """The root of the sum of squares of all entries."""
    flat = np.asarray(x, dtype=np.float64).ravel()
    return math.sqrt(float(np.einsum("i,i->", flat, flat)))


def solve(A: ArrayLike, b: ArrayLike) -> Array:
    """x with A x = b, b (n,) or (n, m); LinAlgError where A (n, n) is singular to the last bit.

    Of many matrices A (..., n, n) with as many b (..., n, m) too, all at once.
    """
    M = np.array(A, dtype=np.float64)
    right = np.array(b, dtype=np.float64)
    flat = right.ndim == 1
    x = right[:, None] if flat else right
    _eliminate(M, x)
    return x[:, 0] if flat else x


def inverse(A: ArrayLike) -> Array:
    """Of one matrix, or of each of many."""
    M = np.asarray(A, dtype=np.float64)
    return solve(M, np.broadcast_to(np.eye(M.shape[-1]), M.shape))


def determinant(A: ArrayLike) -> float:
    M = np.array(A, dtype=np.float64)
    try:
        return float(_eliminate(M, np.zeros((len(M), 0))))
    except np.linalg.LinAlgError:
        return 0.0


def _eliminate(M: Array, x: Array) -> Any:
    """Turns x into M^-1 x, in the place of both; returns the determinant. Leading axes are many matrices."""
    n = M.shape[-1]
    if M.ndim == 2:
        found = _fastest(eliminate)(M, x)
        if found == 0.0:
            raise np.linalg.LinAlgError("Singular matrix")
        return found
    each = np.indices(M.shape[:-2])
    for k in range(n):
        pivot = k + np.argmax(np.abs(M[..., k:, k]), axis=-1)
        for rows in (M, x):
            here, there = rows[..., k, :].copy(), rows[(*each, pivot)].copy()
            rows[(*each, pivot)], rows[..., k, :] = here, there
        if not M[..., k, k].all():
            raise np.linalg.LinAlgError("Singular matrix")
        part = M[..., k + 1 :, k] / M[..., k, k, None]
        M[..., k + 1 :, :] -= part[..., None] * M[..., k, None, :]
        x[..., k + 1 :, :] -= part[..., None] * x[..., k, None, :]
    for k in range(n - 1, -1, -1):
        for j in range(k + 1, n):
            x[..., k, :] -= M[..., k, j, None] * x[..., j, :]
        x[..., k, :] /= M[..., k, k, None]
    return None


def eigh(A: ArrayLike) -> tuple[Array, Array]:
    """Eigenvalues of a symmetric matrix (n, n), the least first, and its eigenvectors in the columns of (n, n)."""
    M = np.array(A, dtype=np.float64)
    M = 0.5 * (M + M.T)
    vectors = np.eye(len(M))
    _fastest(diagonalise)(M, vectors)
    values = np.diagonal(M).copy()
    order = np.argsort(values, kind="stable")
    return values[order], np.ascontiguousarray(vectors[:, order])


def is_positive(A: ArrayLike) -> bool:
    """Whether all eigenvalues of a symmetric matrix (n, n) are above 0: whether Cholesky's factor exists."""
    M = np.array(A, dtype=np.float64)
    for k in range(len(M)):
        if not M[k, k] > 0.0:
            return False
        own = M[k, k + 1 :]
        M[k + 1 :, k + 1 :] -= own[:, None] * (own / M[k, k])
    return True


def svd(A: ArrayLike) -> tuple[Array, Array, Array]:
    """U (m, k), s (k,) the greatest first, V^T (k, n), k = min(m, n), with A = U diag(s) V^T.

    Columns of U to singular values of 0 complete an orthonormal set.
    """
    M = np.asarray(A, dtype=np.float64)
    if M.shape[0] < M.shape[1]:
        V, s, Ut = svd(M.T)
        return Ut.T, s, V.T
    rows = np.array(M.T, order="C")  # columns of A, as rows
    turned = np.eye(len(rows))
    _fastest(orthogonalise)(rows, turned)
    s = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    order = np.argsort(-s, kind="stable")
    s, rows, turned = s[order], rows[order], turned[order]
    large = s > EPSILON * EPSILON * s.max(initial=0.0)
    rows[large] /= s[large, None]
    for k in np.flatnonzero(~large):
        rows[k] = _across(rows[:k])
    return rows.T, s, turned


def _across(rows: Array) -> Array:
    """A unit vector at right angles to orthonormal ones."""
    left = 1.0 - np.einsum("ij,ij->j", rows, rows) if len(rows) else np.ones(rows.shape[1])
    found = np.zeros(rows.shape[1])
    found[int(np.argmax(left))] = 1.0
    for _ in range(2):
        for row in rows:
            found -= np.einsum("i,i->", row, found) * row
        found /= norm(found)
    return found


def pinv(A: ArrayLike, *, rcond: float) -> Array:
    """Moore-Penrose inverse; singular values up to rcond times the greatest count as 0."""
    U, s, Vt = svd(A)
    large = s > rcond * s.max(initial=0.0)
    return np.asarray(np.einsum("ki,k,jk->ij", Vt[large], 1.0 / s[large], U[:, large]))


def lstsq(A: ArrayLike, b: ArrayLike, *, rcond: float | None = None) -> Array:
    """The shortest x for which |A x - b| is least; without `rcond`, that of round-off."""
    M = np.asarray(A, dtype=np.float64)
    share = EPSILON * max(M.shape) if rcond is None else rcond
    return np.asarray(mul(pinv(M, rcond=share), np.asarray(b, dtype=np.float64)))


def roots(coefficients: ArrayLike) -> list[complex]:
    """Of a polynomial of low degree, the highest power first: all at once (Durand 1960, Kerner 1966).

    Multiple ones are found to the digits that an n-th root leaves.
    """
    given = [complex(c) for c in np.asarray(coefficients).tolist()]
    while given and given[0] == 0.0:
        given = given[1:]
    monic = [c / given[0] for c in given]
    size = 1.0 + max((abs(c.real) + abs(c.imag) for c in monic[1:]), default=0.0)  # Cauchy's bound
    found = [min(size, 2.0) * complex(0.4, 0.9) ** k for k in range(len(monic) - 1)]
    for _ in range(200):
        most = 0.0
        for i, z in enumerate(found):
            value, others = 0j, 1.0 + 0j
            for c in monic:
                value = value * z + c
            for j, other in enumerate(found):
                if j != i:
                    others *= z - other
            if others == 0.0:
                continue
            step = value / others
            found[i] = z - step
            most = max(most, (abs(step.real) + abs(step.imag)) / (abs(z.real) + abs(z.imag) + 1e-300))
        if most < 4e-16:
            break
    return found


def gauss_legendre(n: int) -> tuple[Array, Array]:
    """Nodes (n,) in [-1, 1] and weights of the quadrature, by Newton's method on the recurrence of P_n."""
    x = -elementary.cos(math.pi * (np.arange(n) + 0.75) / (n + 0.5))
    for _ in range(8):
        before, p = np.ones(n), x
        for k in range(2, n + 1):
            before, p = p, ((2 * k - 1) * x * p - (k - 1) * before) / k
        slope = n * (before - x * p) / (1.0 - x * x)
        x = x - p / slope
    return x, 2.0 / ((1.0 - x * x) * slope * slope)


def eliminate(M: Array, x: Array) -> float:
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


def diagonalise(M: Array, vectors: Array) -> float:
    """Jacobi's rotations until M (n, n), symmetric, is diagonal; they turn the columns of vectors (n, n) too."""
    n = M.shape[0]
    for _ in range(SWEEPS):
        settled = True
        for p in range(n):
            for q in range(p + 1, n):
                off = M[p, q]
                if abs(off) <= EPSILON * 0.25 * math.sqrt(abs(M[p, p]) * abs(M[q, q])) and abs(off) <= EPSILON * (
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


def orthogonalise(rows: Array, turned: Array) -> float:
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
                if abs(c) <= EPSILON * math.sqrt(a) * math.sqrt(b):
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

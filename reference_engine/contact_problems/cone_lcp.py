"""The friction pyramid as one linear complementarity problem, and two ways to solve it: by pivots, by a minimum map.

Anitescu & Potra 1997 (Nonlinear Dynamics 14), with the torque of friction; x = (lambda, beta, gamma), of m contacts:

    0 <= lambda  perp  u_n,      0 <= beta_j  perp  gamma + d_j . u_t,      0 <= gamma  perp  mu lambda - sum of beta

u = W p + b, p = (lambda, sum of beta_j d_j). Its matrix is copositive: where no gap is asked for that impulses cannot
give, Lemke's method always ends with a solution.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, gmres

from reference_engine.array_types import Array
from reference_engine.contact_problems.cone_problem import ConeProblem
from reference_engine.contact_problems.lemke import SOLVED, lemke_pivots
from reference_engine.dense import mul, norm

STILL = 1e-11  # of rows scaled to 1: what is less does not move anything


class PyramidLCP(NamedTuple):
    """0 <= x perp A x + b >= 0; impulses (3 m,) = spread x. Order: all lambda, all beta, all gamma."""

    A: sparse.csr_array
    b: Array
    spread: sparse.csr_array


def pyramid_lcp(problem: ConeProblem) -> PyramidLCP:
    """gamma is in units of impulses: W's mean is multiplied in, so that all rows have one size."""
    count, corners = len(problem.friction), problem.edges
    if not corners:
        raise ValueError("edges: 0; Coulomb's cone is no linear complementarity problem, a pyramid from 4 edges on is")
    k, size = np.arange(count), float(problem.own.mean())
    rows = np.concatenate([3 * k, *(np.repeat(3 * k + i, corners) for i in (1, 2))])
    columns = np.concatenate([k, np.tile(count + corners * k[:, None] + np.arange(corners), (2, 1, 1)).ravel()])
    values = np.concatenate(
        [np.ones(count), np.tile(problem.polygon[:, 0], count), np.tile(problem.polygon[:, 1], count)]
    )
    spread = sparse.csr_array((values, (rows, columns)), shape=(3 * count, count * (corners + 1)))
    ones = sparse.kron(sparse.eye_array(count), np.ones((corners, 1)))
    to_gamma = sparse.vstack([sparse.csr_array((count, count)), ones])
    of_gamma = sparse.hstack([sparse.diags_array(problem.friction), -ones.T])
    A = sparse.block_array([[mul(mul(spread.T, problem.W), spread), size * to_gamma], [size * of_gamma, None]]).tocsr()
    b = np.concatenate([mul(spread.T, problem.b.ravel()), np.zeros(count)])
    wide = sparse.hstack([spread, sparse.csr_array((3 * count, count))]).tocsr()
    return PyramidLCP(A, b, wide)


def by_lemke(problem: ConeProblem) -> tuple[Array, float, int]:
    """(impulses (m, 3), residual, pivots); cubic in the number of contacts."""
    lcp = pyramid_lcp(problem)
    n = len(lcp.b)
    scale = 1.0 / problem.own.mean()
    table = np.ascontiguousarray(np.column_stack([lcp.b / problem.scale, lcp.A.toarray() * scale, np.ones(n)]))
    basic, nonbasic, position = np.zeros(n, np.int64), np.zeros(n + 1, np.int64), np.zeros(2 * n + 1, np.int64)
    outcome, pivots, _ = lemke_pivots(table, basic, nonbasic, position, STILL, n)
    x = np.zeros(2 * n + 1)
    x[basic] = table[:, 0]
    p = (mul(lcp.spread, np.maximum(0.0, x[n : 2 * n]))).reshape(-1, 3) * problem.scale * scale
    return p, problem.residual(p) if outcome == SOLVED else np.inf, int(pivots)


def by_minimum_map(
    problem: ConeProblem, tolerance: float, rounds: int = 40, *, regular: float = 0.0, guarded: bool = False
) -> tuple[Array, float, int]:
    """(impulses (m, 3), residual, rounds): Newton's method on H(x) = min(x, A x + b), GMRES inside (Oltman & Hur 2017).

    regular: added to the diagonal of A in the steps, of its mean, and taken back round by round; guarded: a step that
    makes |H| larger is halved, and after ten halvings taken in full all the same, so that it cannot stall.
    """
    lcp = pyramid_lcp(problem)
    x, n = np.zeros(len(lcp.b)), len(lcp.b)
    size, small = float(problem.own.mean()), tolerance * problem.scale
    extra = regular * size

    def missed(x: Array) -> tuple[Array, Array]:
        y = mul(lcp.A, x) + lcp.b
        return np.minimum(size * x, y), y

    H, y = missed(x)
    for done in range(rounds):
        if np.abs(H).max(initial=0.0) <= small:
            break
        rows = y < size * x  # where A x + b is the smaller
        kept = np.flatnonzero(rows)
        step = np.where(rows, 0.0, -x)
        right = -y[kept] - (mul(lcp.A, step))[kept]
        inner = lcp.A[kept][:, kept]
        product = LinearOperator((len(kept), len(kept)), matvec=lambda v, A=inner, e=extra: mul(A, v) + e * v)
        if len(kept):
            step[kept], _ = gmres(product, right, rtol=1e-12, atol=0.0, restart=min(60, n), maxiter=4)
        fraction = 1.0
        if guarded:
            while fraction > 1e-3 and not norm(missed(x + fraction * step)[0]) < norm(H):
                fraction *= 0.5
            fraction = fraction if fraction > 1e-3 else 1.0
            extra *= 0.5
        x = x + fraction * step
        H, y = missed(x)
        if not np.isfinite(H).all():
            return np.zeros((len(problem.b), 3)), np.inf, done + 1
    else:
        done = rounds
    p = (mul(lcp.spread, np.maximum(0.0, x))).reshape(-1, 3)
    return p, problem.residual(p), done

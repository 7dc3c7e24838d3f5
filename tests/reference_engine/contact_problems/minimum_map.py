"""Newton's method on the minimum map of a friction pyramid, as Oltman & Hur 2017 have it: the solver that fails."""

import numpy as np
from scipy.sparse.linalg import LinearOperator, gmres

from reference_engine.array_types import Array
from reference_engine.contact_problems.cone_problem import ConeProblem
from reference_engine.contact_problems.cone_solve import pyramid_lcp
from reference_engine.dense import mul, norm

REGULAR = 1e-4


def by_minimum_map(
    problem: ConeProblem, tolerance: float = 1e-10, rounds: int = 40, *, guarded: bool = False
) -> tuple[Array, float, int]:
    """(impulses (m, 3), residual, rounds): Newton's method on H(x) = min(x, A x + b), GMRES inside (Oltman & Hur 2017).

    guarded: REGULAR of its mean is added to the diagonal of A in the steps, and taken back round by round; a step that
    makes |H| larger is halved, and after ten halvings taken in full all the same, so that it cannot stall.
    """
    lcp = pyramid_lcp(problem)
    x, n = np.zeros(len(lcp.b)), len(lcp.b)
    size, small = float(problem.own.mean()), tolerance * problem.scale
    extra = REGULAR * size if guarded else 0.0

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

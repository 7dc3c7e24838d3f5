"""That no contact forces with Coulomb friction exist: proven by the modes of all contacts, branch by branch.

Forces of given modes are those of a linear programme: the least t such that all equations and inequalities of the modes
(`friction_modes`) hold to within t. A contact whose mode is left open has only what all its modes share: a_n >= 0,
f_n >= 0, friction in its cone. So t of a branch bounds t of all that it leads to from below, and a branch above
what the solver would let pass ends there. Each bound is the value of the programme's dual (weak duality), worked out
here: it holds whatever the programme's solver made of it.
"""

from collections.abc import Mapping

import numpy as np

from reference_engine.array_types import Array, Indices
from reference_engine.contact_problems.contact_forces import FORCE_LIMIT, scale_of
from reference_engine.contact_problems.friction_modes import (
    BILATERAL,
    CLOSED,
    OPEN,
    SLIDING_MINUS,
    SLIDING_PLUS,
    SLIPS_MINUS,
    SLIPS_PLUS,
    SMOOTH,
    STICKING,
    STICKS,
)
from reference_engine.dense import mul

PROVEN = 1e-8  # of the greatest acceleration: a lesser breach of the laws may be round-off
DEPENDS = 1e-6  # what a combination of normals has of its own: less, and A shows nothing of it but round-off
MOST_BRANCHES = 400
MOST = 10.0  # of the greatest acceleration: no forces at all break the laws by 1

Modes = Mapping[int, int]  # of some contacts


def proven_breach(A: Array, b: Array, kind: Indices, friction: Array, static_friction: Array) -> float:
    """By how much [m/s^2] any forces at N contacts break the laws of contact and friction; 0 where nothing is proven.

    Arrays as in `friction_forces`, kinds of `friction_modes`. Of forces below `FORCE_LIMIT` max(1, |b|) / max |A|.
    """
    scale = scale_of(b)
    A, b = A / (float(np.abs(A).max(initial=0.0)) or 1.0), b / scale
    waiting: list[Modes] = [{}]
    least, tried = np.inf, 0
    while waiting:
        modes = waiting.pop()
        t, f = bound(A, b, kind, friction, static_friction, modes)
        tried += 1
        if t > PROVEN:
            least = min(least, t)
            continue
        left = [k for k in range(len(kind)) if kind[k] != BILATERAL and k not in modes]
        if not left or tried == MOST_BRANCHES:
            return 0.0
        a = mul(A, f) + b
        k = max(left, key=lambda k: min(f[2 * k], a[2 * k]))  # presses and parts
        pressing = (STICKS, SLIPS_PLUS, SLIPS_MINUS) if kind[k] == STICKING else (CLOSED,)
        waiting.extend({**modes, k: mode} for mode in (OPEN, *pressing))
    return scale * least


def singular_breach(A: Array, b: Array, kind: Indices, scale: float) -> float:
    """Likewise where friction is without any limit: the normals contradict one another, whatever friction does.

    There are y, y >= 0 at contacts, with J^T y about 0 for the rows J of the gaps, and y . b < 0: the position is
    singular, and no forces below `FORCE_LIMIT` scale / max |A| bring y . a to 0 or more. scale: of b, as `scale_of`; or
    of impulses the fastest approach [m/s].
    """
    none = np.zeros(len(kind))
    A, b = A / (float(np.abs(A).max(initial=0.0)) or 1.0), b / scale
    t, _ = bound(A, b, kind, none, none, {}, cones=False)
    return scale * t if t > PROVEN else 0.0


def least_own(A: Array) -> float:
    """The share of its own that a combination of normals has at least, of N contacts: 0 where they are dependent.

    The square root of the least eigenvalue of the normals' part of A (2 N, 2 N), rows and columns scaled to a diagonal
    of 1.
    """
    normals = A[::2, ::2]
    size = np.sqrt(np.maximum(normals.diagonal(), np.finfo(float).tiny))
    return float(np.sqrt(max(0.0, np.linalg.eigvalsh(normals / np.outer(size, size))[0])))


def bound(
    A: Array, b: Array, kind: Indices, mu: Array, mu_s: Array, modes: Modes, *, cones: bool = True
) -> tuple[float, Array]:
    """The least t that these modes allow, from below, and forces (2 N,) that come to it. |b| <= 1, |A| <= 1."""
    from scipy.optimize import linprog  # slow to import, and only wanted here

    n = len(kind)
    one, low, high = np.eye(2 * n + 1), np.full(2 * n + 1, -FORCE_LIMIT), np.full(2 * n + 1, FORCE_LIMIT)
    t, low[-1], high[-1] = one[-1], 0.0, MOST
    a = np.column_stack([A, np.zeros(2 * n)])
    rows, right = [], []  # rows x <= right

    def at_least(i: int) -> None:
        rows.append(-a[i] - t)
        right.append(b[i])

    def at_most(i: int) -> None:
        rows.append(a[i] - t)
        right.append(-b[i])

    for k in range(n):
        normal, tangent, mode = 2 * k, 2 * k + 1, modes.get(k)
        at_least(normal)
        if kind[k] == BILATERAL or mode not in (None, OPEN):
            at_most(normal)
        if mode in (STICKS, SLIPS_PLUS):
            at_least(tangent)
        if mode in (STICKS, SLIPS_MINUS):
            at_most(tangent)
        if kind[k] != BILATERAL:
            low[normal] = 0.0
        if kind[k] in (BILATERAL, SMOOTH):
            low[tangent] = high[tangent] = 0.0
        elif cones:
            least, most = -mu_s[k], mu_s[k]
            if kind[k] == SLIDING_PLUS or mode == SLIPS_PLUS:
                least = most = -mu[k]
            elif kind[k] == SLIDING_MINUS or mode == SLIPS_MINUS:
                least = most = mu[k]
            rows += [one[tangent] - most * one[normal], least * one[normal] - one[tangent]]
            right += [0.0, 0.0]
        if mode == OPEN:
            high[normal] = low[tangent] = high[tangent] = 0.0
    matrix, limits = np.array(rows), np.array(right)
    found = linprog(t, A_ub=matrix, b_ub=limits, bounds=np.column_stack([low, high]), method="highs")
    if found.status != 0:
        return 0.0, np.zeros(2 * n)
    y = np.maximum(0.0, -found.ineqlin.marginals)
    rest = t + mul(y, matrix)
    return float(np.minimum(rest * low, rest * high).sum() - mul(y, limits)), found.x[:-1]

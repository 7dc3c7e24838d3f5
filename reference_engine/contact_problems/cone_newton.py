"""Newton's method on the natural map of Coulomb's law: what finishes a solution that is nearly there.

Alart & Curnier 1991 (Comput. Methods Appl. Mech. Eng. 92). With y = p - u / w, w the contact's own normal entry of W:

    F_n = p_n - max(0, y_n),     F_t = p_t - (nearest point to y_t of max(0, p_n) mu D).

Each round takes F for linear: open where y_n <= 0, sticking where y_t is inside, slipping else. Few rounds where the
contacts are told right; no promise far away, where its steps may be anything.
"""

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from reference_engine.array_types import Array, Flags
from reference_engine.contact_problems.cone_problem import ConeProblem
from reference_engine.dense import mul, norm, solve
from reference_engine.elementary import squared

REGULAR = 1e-11  # of a contact's own W, added: redundant contacts share as they come
DENSE = 40  # contacts, up to which the matrices are full
HALVINGS = 4
PIVOT = 0.01  # of the column's largest entry, from which on the diagonal one is taken


class Factors:
    """A matrix whose pattern is symmetric, made ready to be solved with: half the fill and time of any pattern's."""

    def __init__(self, A: sparse.csr_array) -> None:
        transposed = sparse.csc_array((A.data, A.indices, A.indptr), shape=A.shape)
        self.of = splu(transposed, "MMD_AT_PLUS_A", diag_pivot_thresh=PIVOT, options={"SymmetricMode": True})

    def __call__(self, right: Array) -> Array:
        return self.of.solve(right, "T")


def friction_share(problem: ConeProblem, y: Array, p: Array) -> tuple[Flags, Array, Array, Array]:
    """Who slips; then for all: the nearest point to y_t, its derivative by y_t (m, 2, 2), that by p_n (m, 2)."""
    mu, radius = problem.friction, problem.friction * np.maximum(0.0, p[:, 0])
    polygon = problem.polygon
    if len(polygon) == 0:
        length = np.linalg.norm(y[:, 1:], axis=1)
        slips = length > radius
        out = y[:, 1:] / np.maximum(length, 1e-300)[:, None]
        across = np.eye(2) - out[:, :, None] * out[:, None, :]
        turn = (radius / np.maximum(length, 1e-300))[:, None, None] * across
        return slips, radius[:, None] * out, turn, mu[:, None] * out
    middle = 0.5 * (polygon + np.roll(polygon, -1, axis=0))
    half = 0.5 * (np.roll(polygon, -1, axis=0) - polygon)
    at = np.argmax(mul(y[:, 1:], middle.T), axis=1)
    e, f = middle[at], half[at]
    slips = np.einsum("ki,ki->k", y[:, 1:], e) > radius * (squared(e)).sum(axis=1)
    along = np.einsum("ki,ki->k", y[:, 1:], f) / (squared(f)).sum(axis=1)
    free = np.abs(along) < radius
    along = np.clip(along, -radius, radius)
    turn = np.where(free[:, None, None], f[:, :, None] * f[:, None, :] / (squared(f)).sum(axis=1)[:, None, None], 0.0)
    corner = np.where(free, 0.0, np.sign(along))
    return slips, radius[:, None] * e + along[:, None] * f, turn, mu[:, None] * (e + corner[:, None] * f)


def newton_step(problem: ConeProblem, p: Array, u: Array) -> Array:
    count, w = len(p), problem.own[:, None]
    y = p - u / w
    open_ = y[:, 0] <= 0.0
    slips, nearest, turn, lift = friction_share(problem, y, p)
    slips &= ~open_
    of_p, of_u, miss = np.zeros((count, 3, 3)), np.zeros((count, 3, 3)), u.copy()
    of_u[~open_] = np.eye(3)
    # What slips: own W times F_t, so that its rows have the size of speeds
    of_p[slips, 1:, 1:] = (w[:, :, None] * (np.eye(2) - turn))[slips]
    of_p[slips, 1:, 0] = -(w * lift)[slips]
    of_u[slips, 1:, 1:] = turn[slips]
    miss[slips, 1:] = (w * (p[:, 1:] - nearest))[slips]
    change = np.where(open_[:, None], -p, 0.0)
    closed = np.flatnonzero(~open_)
    if len(closed):
        pushed = (mul(problem.W, change.ravel())).reshape(-1, 3)
        right = -(miss + np.einsum("kij,kj->ki", of_u, pushed))[closed].ravel()
        A = closed_block(problem, of_p, of_u, ~open_)
        step = solve(A.toarray(), right) if len(closed) <= DENSE else Factors(A.tocsr())(right)
        change[closed] = step.reshape(-1, 3)
    return change


def closed_block(problem: ConeProblem, of_p: Array, of_u: Array, closed: Flags) -> sparse.bsr_array:
    """of_p + of_u W, made a little regular, without the rows and columns of what is open."""
    row, column, block = problem.entries
    within = np.flatnonzero(closed[row] & closed[column])
    row, column = row[within], column[within]
    entry = mul(of_u[row], block[within])
    own = of_p + (REGULAR * problem.own)[:, None, None] * of_u
    entry[row == column] += own[closed]
    number = np.cumsum(closed) - 1
    begins = np.append(0, np.cumsum(np.bincount(number[row], minlength=int(number[-1]) + 1)))
    return sparse.bsr_array((entry, number[column], begins), shape=(3 * len(begins) - 3,) * 2)


def newton(
    problem: ConeProblem, start: Array, tolerance: float, rounds: int, patience: int = 1000
) -> tuple[Array, float, int]:
    """(impulses (m, 3), their residual, rounds); ends where it is solved or a step does not help.

    And after `patience` rounds that have not halved the misses: a round costs as much as a hundred sweeps.
    """
    p, u = start, problem.speeds(start)
    missed = problem.misses(p, u)
    for done in range(rounds):
        if missed.max(initial=0.0) <= tolerance * problem.scale:
            return p, float(missed.max(initial=0.0) / problem.scale), done
        try:
            step = newton_step(problem, p, u)
        except (RuntimeError, np.linalg.LinAlgError):  # exactly singular
            break
        fraction, merit, best = 1.0, float(norm(missed)), np.inf
        for _ in range(HALVINGS):
            tried = p + fraction * step
            speed = problem.speeds(tried)
            off = problem.misses(tried, speed)
            size = float(norm(off))
            if size < best:
                best, following = size, (tried, speed, off)
            if size <= (1.0 - 0.1 * fraction) * merit:
                break
            fraction *= 0.5
        if not best < np.inf or (done >= 2 and best > 100.0 * merit):
            break
        p, u, missed = following
        patience -= best > 0.5 * merit
        if patience < 0:
            break
    return p, float(missed.max(initial=0.0) / problem.scale), rounds

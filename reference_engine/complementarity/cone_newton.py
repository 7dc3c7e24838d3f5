"""Newton's method on the natural map of Coulomb's law: what finishes a solution that is nearly there.

Alart & Curnier 1991 (Comput. Methods Appl. Mech. Eng. 92). With y = p - u / w, w the contact's own normal entry of W:

    F_n = p_n - max(0, y_n),     F_t = p_t - (nearest point to y_t of max(0, p_n) mu D).

Each round takes F for linear: open where y_n <= 0, sticking where y_t is inside, slipping else. Few rounds where the
contacts are told right; no promise far away, where its steps may be anything.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import splu

from reference_engine.complementarity.cone_problem import ConeProblem

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

REGULAR = 1e-11  # of a contact's own W, added: redundant contacts share as they come
DENSE = 40  # contacts, up to which the matrices are full
HALVINGS = 4


def blocks(of: Array) -> sparse.bsr_array:
    """Block diagonal of (m, 3, 3)."""
    count = len(of)
    return sparse.bsr_array((of, np.arange(count), np.arange(count + 1)), shape=(3 * count, 3 * count))


def solved(A: sparse.csr_array, b: Array, dense: bool) -> Array:
    if dense:
        return np.linalg.solve(A.toarray(), b)
    return splu(A.tocsc()).solve(b)


def friction_share(problem: ConeProblem, y: Array, p: Array) -> tuple[Bools, Array, Array, Array]:
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
    at = np.argmax(y[:, 1:] @ middle.T, axis=1)
    e, f = middle[at], half[at]
    slips = np.einsum("ki,ki->k", y[:, 1:], e) > radius * (e**2).sum(axis=1)
    along = np.einsum("ki,ki->k", y[:, 1:], f) / (f**2).sum(axis=1)
    free = np.abs(along) < radius
    along = np.clip(along, -radius, radius)
    turn = np.where(free[:, None, None], f[:, :, None] * f[:, None, :] / (f**2).sum(axis=1)[:, None, None], 0.0)
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
    regular = sparse.diags_array(np.repeat(REGULAR * problem.own, 3))
    A = (blocks(of_p) + blocks(of_u) @ (problem.W + regular)).tocsr()
    change = np.where(open_[:, None], -p, 0.0).ravel()
    right = -miss.ravel() - A @ change
    closed = np.flatnonzero(np.repeat(~open_, 3))
    if len(closed):
        change[closed] = solved(A[closed][:, closed], right[closed], len(closed) <= 3 * DENSE)
    return change.reshape(-1, 3)


def newton(problem: ConeProblem, start: Array, tolerance: float, rounds: int) -> tuple[Array, float, int]:
    """(impulses (m, 3), their residual, rounds); ends where it is solved or a step does not help."""
    p, u = start, problem.speeds(start)
    missed = problem.misses(p, u)
    for done in range(rounds):
        if missed.max(initial=0.0) <= tolerance * problem.scale:
            return p, float(missed.max(initial=0.0) / problem.scale), done
        try:
            step = newton_step(problem, p, u)
        except (RuntimeError, np.linalg.LinAlgError):  # exactly singular
            break
        fraction, merit, best = 1.0, float(np.linalg.norm(missed)), np.inf
        for _ in range(HALVINGS):
            tried = p + fraction * step
            speed = problem.speeds(tried)
            off = problem.misses(tried, speed)
            size = float(np.linalg.norm(off))
            if size < best:
                best, following = size, (tried, speed, off)
            if size <= (1.0 - 0.1 * fraction) * merit:
                break
            fraction *= 0.5
        if not best < np.inf or (done >= 2 and best > 100.0 * merit):
            break
        p, u, missed = following
    return p, float(missed.max(initial=0.0) / problem.scale), rounds

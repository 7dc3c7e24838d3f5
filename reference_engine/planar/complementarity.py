"""Contact forces: 0 <= f  perp  a = A f + b >= 0, with A = J M^-1 J^T, by a direct method.

Baraff 1994 (SIGGRAPH 94, "Fast contact force computation for nonpenetrating rigid bodies"), sec. 4, after
Dantzig: contacts are taken in one at a time; a contact is driven to a = 0 while the clamped ones stay at
a = 0, and one whose force would turn negative is let go. Goldfarb & Idnani 1983 (Math. Programming 27)
is the same walk seen as the dual of Gauss's least constraint; from there comes what makes it safe when
contacts are redundant: only a contact independent of the clamped ones is ever clamped, so that the
factorised matrix stays regular, and a dependent one that nothing blocks proves that there is no solution.
"""

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from reference_engine.planar.errors import ContactForceError

Array = NDArray[np.float64]

SOLVED, INFEASIBLE, NOT_CONVERGED = 0, 1, 2
FREE, CLAMPED, SET_ASIDE = 0, 1, 2

RESIDUAL_TOLERANCE = 1e-9  # times max(1, |b|), m/s^2: what a solution must reach
DEPENDENT = 1e-11  # times A_dd: below it a contact adds nothing to the clamped ones (round-off: 1e-14)
CERTAIN = 1e-6  # m/s^2 times max(1, |b|): a violation that is no round-off, so that a certificate counts


@njit(cache=True)
def factorise(A, clamped, count, start, factor):
    """Cholesky rows start..count-1 of A over the clamped contacts:  factor factor^T = A_CC."""
    for row in range(start, count):
        for column in range(row + 1):
            rest = A[clamped[row], clamped[column]]
            for k in range(column):
                rest -= factor[row, k] * factor[column, k]
            if column < row:
                factor[row, column] = rest / factor[column, column]
            else:
                factor[row, row] = np.sqrt(max(rest, 1e-300))


@njit(cache=True)
def drive_direction(A, clamped, count, d, factor, direction):
    """How the clamped forces answer a unit of f_d:  A_CC x = -A_Cd. Returns d a_d / d f_d.

    Leaves in row `count` of the factor what that row becomes if d is clamped next, its diagonal apart.
    """
    stiffness = A[d, d]
    for row in range(count):
        y = A[clamped[row], d]
        for k in range(row):
            y -= factor[row, k] * factor[count, k]
        y /= factor[row, row]
        factor[count, row] = y
        stiffness -= y * y
    for row in range(count - 1, -1, -1):
        x = -factor[count, row]
        for k in range(row + 1, count):
            x -= factor[k, row] * direction[k]
        direction[row] = x / factor[row, row]
    return stiffness


@njit(cache=True)
def relax(b, clamped, count, factor, a, f, direction):
    """One step of iterative refinement: clamped accelerations to zero, forces kept >= 0."""
    for row in range(count):
        y = -a[clamped[row]]
        for k in range(row):
            y -= factor[row, k] * direction[k]
        direction[row] = y / factor[row, row]
    for row in range(count - 1, -1, -1):
        x = direction[row]
        for k in range(row + 1, count):
            x -= factor[k, row] * direction[k]
        direction[row] = x / factor[row, row]
    for row in range(count):
        f[clamped[row]] = max(0.0, f[clamped[row]] + direction[row])


@njit(cache=True)
def contact_accelerations(A, b, n, clamped, count, f, a):
    """a = A f + b, with f zero outside the clamped contacts."""
    for i in range(n):
        total = b[i]
        for k in range(count):
            total += A[i, clamped[k]] * f[clamped[k]]
        a[i] = total


@njit(cache=True)
def violation(n, a, f):
    """The worst of -a_i, and of |a_i| where there is a force [m/s^2]."""
    worst = 0.0
    for i in range(n):
        worst = max(worst, -a[i])
        if f[i] > 0.0:
            worst = max(worst, abs(a[i]))
    return worst


@njit(cache=True)
def pivot(A, b, n, least_index, factor, direction, clamped, status, a, f):
    """0 <= f  perp  A f + b >= 0.  Returns (outcome, violation, count of clamped contacts, last driven).

    Of the violated contacts the worst is driven next, or with `least_index` = 1 the first, which cannot cycle.
    An INFEASIBLE outcome leaves its certificate y: `direction` over the clamped contacts, 1 at the last driven.
    """
    scale = 1.0
    for i in range(n):
        f[i] = 0.0
        a[i] = b[i]
        status[i] = FREE
        scale = max(scale, abs(b[i]))
    count = np.int64(0)
    driven = np.int64(-1)
    outcome = NOT_CONVERGED
    for _ in range(60 + 20 * n):
        driven = np.int64(-1)
        lowest = -1e-13 * scale
        for i in range(n):
            if status[i] == FREE and a[i] < lowest:
                driven, lowest = np.int64(i), a[i]
                if least_index == 1:
                    break
        if driven < 0:
            outcome = SOLVED
            break
        status[driven] = CLAMPED
        infeasible = False
        while True:
            stiffness = drive_direction(A, clamped, count, driven, factor, direction)
            dependent = stiffness <= DEPENDENT * A[driven, driven]
            step = np.inf if dependent else -a[driven] / stiffness
            steepest = 0.0
            for k in range(count):
                steepest = max(steepest, -direction[k])
            blocking = np.int64(-1)
            for k in range(count):
                if direction[k] < -1e-12 * steepest and -f[clamped[k]] / direction[k] < step:
                    step, blocking = -f[clamped[k]] / direction[k], np.int64(k)
            if step == np.inf:
                infeasible = True
                break
            f[driven] += step
            for k in range(count):
                f[clamped[k]] = max(0.0, f[clamped[k]] + step * direction[k])
            if blocking < 0:
                clamped[count] = driven
                factor[count, count] = np.sqrt(stiffness)
                count += 1
                break
            a[driven] += step * max(stiffness, 0.0)
            f[clamped[blocking]] = 0.0
            status[clamped[blocking]] = FREE
            for k in range(blocking, count - 1):
                clamped[k] = clamped[k + 1]
            count -= 1
            factorise(A, clamped, count, blocking, factor)
        if infeasible:
            if -a[driven] > CERTAIN * scale:
                outcome = INFEASIBLE
                break
            f[driven] = 0.0  # dependent on the clamped ones and violated by round-off only
            status[driven] = SET_ASIDE
        contact_accelerations(A, b, n, clamped, count, f, a)
    if outcome != INFEASIBLE:
        for _ in range(2):
            relax(b, clamped, count, factor, a, f, direction)
            contact_accelerations(A, b, n, clamped, count, f, a)
    return outcome, violation(n, a, f), count, driven


@njit(cache=True)
def solve_complementarity(A, b, n, factor, direction, clamped, status, a, f):
    """`pivot` by the worst violation, and again by the least index should that go round in circles."""
    scale = 1.0
    for i in range(n):
        scale = max(scale, abs(b[i]))
    for least_index in range(2):
        outcome, residual, count, driven = pivot(A, b, n, least_index, factor, direction, clamped, status, a, f)
        if outcome == SOLVED and residual > RESIDUAL_TOLERANCE * scale:
            outcome = NOT_CONVERGED
        if outcome != NOT_CONVERGED:
            break
    return outcome, residual, count, driven


def contact_forces(A: ArrayLike, b: ArrayLike) -> Array:
    """Forces f (N,) with 0 <= f  perp  A f + b >= 0; A (N, N) symmetric, positive semi-definite.

    Raises ContactForceError, with the figures, unless every a_i >= 0, and a_i = 0 where f_i > 0, hold to
    1e-9 max(1, |b|). Forces of redundant contacts are not unique; the accelerations are.
    """
    A = np.ascontiguousarray(A, np.float64)
    b = np.ascontiguousarray(b, np.float64)
    n = len(b)
    if A.shape != (n, n):
        raise ValueError(f"A: shape {A.shape} does not fit b of length {n}")
    if not (np.isfinite(A).all() and np.isfinite(b).all()):
        raise ValueError("A and b must be finite")
    f, a, direction = np.zeros(n), np.zeros(n), np.zeros(n)
    clamped, status = np.zeros(n, np.int64), np.zeros(n, np.int64)
    outcome, residual, count, driven = solve_complementarity(
        A, b, n, np.zeros((n, n)), direction, clamped, status, a, f
    )
    if outcome == SOLVED:
        return f
    if outcome == INFEASIBLE:
        y = np.zeros(n)
        y[clamped[:count]] = direction[:count]
        y[driven] = 1.0
        raise ContactForceError(
            f"no forces exist: y >= 0 with |A y| = {np.abs(A @ y).max():.1e} and b . y = {b @ y:.3e} < 0",
            residual=residual,
            certificate=y,
        )
    raise ContactForceError(f"no forces found for {n} contacts: violation {residual:.3e} m/s^2", residual=residual)

"""A step of DOP853, its dense output and step control; what is integrated is the caller's.

Hairer, Norsett & Wanner 1993, Solving Ordinary Differential Equations I, sec. II.5 and II.6: order 8 with an error
estimate from orders 5 and 3, dense output of order 7. The coefficients are those that scipy carries.
"""

from math import comb
from typing import Any

import numpy as np
from scipy.integrate._ivp import dop853_coefficients as dop853

from reference_engine.compiler.kernels import kernel
from reference_engine.ode import LEAST_FACTOR, MOST_FACTOR, SAFETY

STAGES = np.int64(12)  # a plain literal would be a signature of its own
C = np.ascontiguousarray(dop853.C)  # (16,)


def compressed_rows(table: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(first, column, factor) of what is not zero, row after row: row r has the entries first[r] to before first[r+1].

    Half of DOP853's tables are zeros.
    """
    row, column = np.nonzero(table)
    return (
        np.searchsorted(row, np.arange(len(table) + 1)),
        column.astype(np.int64),
        np.ascontiguousarray(table[row, column]),
    )


A_FIRST, A_COLUMN, A = compressed_rows(dop853.A)  # row 12 is the step itself, 13 to 15 serve the dense output
E_FIRST, E_COLUMN, E = compressed_rows(np.stack([dop853.E5, dop853.E3]))
D_FIRST, D_COLUMN, D = compressed_rows(dop853.D)  # of the last four rows of the dense output


def bernstein_of_dense() -> np.ndarray:
    """(8, 7) Bernstein coefficients of degree 7 of the dense output's basis.

    y = y0 + x (F0 + (1 - x)(F1 + x (F2 + (1 - x)(F3 + ...)))): the factor of F_k is x^a (1 - x)^c, with
    coefficients C(7 - a - c, j - a) / C(7, j).
    """
    W = np.zeros((8, 7))
    for k in range(7):
        a, c = k // 2 + 1, (k + 1) // 2
        for j in range(a, 8 - c):
            W[j, k] = comb(7 - a - c, j - a) / comb(7, j)
    return W


BERNSTEIN = bernstein_of_dense()
B_FIRST, B_COLUMN, B = compressed_rows(BERNSTEIN)


@kernel
def stage(y, h, row, K, free, out):
    """Of the components that change, `free`; the others of `out` are left as they are, here and below."""
    for q in range(free.shape[0]):
        c, total = free[q], 0.0
        for s in range(A_FIRST[row], A_FIRST[row + 1]):
            total += A[s] * K[A_COLUMN[s], c]
        out[c] = y[c] + h * total


@kernel
def write_dense(K, y, y_out, h, free, F):
    """The dense output of the step, from its sixteen rates."""
    for q in range(free.shape[0]):
        c = free[q]
        change = y_out[c] - y[c]
        F[0, c] = change
        F[1, c] = h * K[0, c] - change
        F[2, c] = 2.0 * change - h * (K[STAGES, c] + K[0, c])
        for k in range(4):
            total = 0.0
            for s in range(D_FIRST[k], D_FIRST[k + 1]):
                total += D[s] * K[D_COLUMN[s], c]
            F[3 + k, c] = h * total


def steps_of(rate: Any, allowed: Any) -> tuple[Any, Any]:
    """(attempt, complete), kernels for y' = rate(run, time, y, rate_out): a step of h seconds, and its dense output.

    allowed: a kernel (run, y, h, c), the error that component c may have in a step of h seconds from y. Not by the
    step's end: a step that runs away would excuse itself.
    work: has the rates `stages` (16, n), the first of which is there already, `dense` (7, n), and `state` (n,), where
    rates are asked for.
    """

    @kernel
    def error_of(run, K, y, h, free):
        """Of the step in units of what is allowed, from its thirteen rates; infinite where it ran away."""
        fifth = third = 0.0
        for q in range(free.shape[0]):
            c, e5, e3 = free[q], 0.0, 0.0
            for s in range(E_FIRST[0], E_FIRST[1]):
                e5 += E[s] * K[E_COLUMN[s], c]
            for s in range(E_FIRST[1], E_FIRST[2]):
                e3 += E[s] * K[E_COLUMN[s], c]
            scale = allowed(run, y, h, c)
            fifth += (e5 / scale) ** 2
            third += (e3 / scale) ** 2
        total = fifth + 0.01 * third
        if not total < 1e300:
            return np.inf
        error = 0.0
        if total > 1e-200:  # below it the quotient would be one of underflows
            error = h * fifth / np.sqrt(total * y.shape[0])
        return error

    @kernel
    def attempt(run, work, free, time, y, h, y_out):
        """Returns the error in units of what is allowed."""
        K = work.stages
        for s in range(1, STAGES):
            stage(y, h, s, K, free, work.state)
            rate(run, time + C[s] * h, work.state, K[s])
        stage(y, h, STAGES, K, free, y_out)
        rate(run, time + h, y_out, K[STAGES])
        return error_of(run, K, y, h, free)

    @kernel
    def complete(run, work, free, time, y, h, y_out):
        K = work.stages
        for s in range(STAGES + 1, 16):
            stage(y, h, s, K, free, work.state)
            rate(run, time + C[s] * h, work.state, K[s])
        write_dense(K, y, y_out, h, free, work.dense)

    return attempt, complete


@kernel
def write_parabola(K, y, y_out, h, free, F):
    """The same where the rates of the rates are constant, so that its first two rows are all there is."""
    for q in range(free.shape[0]):
        c = free[q]
        F[0, c] = y_out[c] - y[c]
        F[1, c] = h * K[0, c] - F[0, c]
        for k in range(2, 7):
            F[k, c] = 0.0


@kernel
def dense_value(y, F, x, c):
    """Component c of the dense output at the fraction x of the step."""
    rest = F[6, c] * x
    rest = (F[5, c] + rest) * (1.0 - x)
    rest = (F[4, c] + rest) * x
    rest = (F[3, c] + rest) * (1.0 - x)
    rest = (F[2, c] + rest) * x
    rest = (F[1, c] + rest) * (1.0 - x)
    return y[c] + (F[0, c] + rest) * x


@kernel
def dense_state(y, F, x, free, out):
    for q in range(free.shape[0]):
        out[free[q]] = dense_value(y, F, x, free[q])


@kernel
def dense_slope(F, x, c):
    """Its derivative by x."""
    rest, slope = F[6, c] * x, F[6, c]
    for k in range(5, 0, -1):
        rest += F[k, c]
        if k % 2 == 1:
            slope = slope * (1.0 - x) - rest
            rest *= 1.0 - x
        else:
            slope = slope * x + rest
            rest *= x
    return F[0, c] + rest + slope * x


@kernel
def enclose(y, F, free, bernstein_out):
    """Bernstein coefficients of the step: each component lies between the least and the greatest of its eight."""
    for q in range(free.shape[0]):
        c = free[q]
        for j in range(8):
            total = 0.0
            for k in range(B_FIRST[j], B_FIRST[j + 1]):
                total += B[k] * F[B_COLUMN[k], c]
            bernstein_out[j, c] = y[c] + total


@kernel
def next_factor(error):
    """By how much the next step may be longer (or has to be shorter)."""
    if error == 0.0:
        return MOST_FACTOR
    return min(MOST_FACTOR, max(LEAST_FACTOR, SAFETY / np.sqrt(np.sqrt(np.sqrt(error)))))  # error^(-1/8)

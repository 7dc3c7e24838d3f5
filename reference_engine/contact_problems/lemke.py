"""Lemke's method: 0 <= z  perp  w = M z + q >= 0 for any square M, with lexicographic anti-cycling.

Lemke 1965 (Management Science 11), in the form of Cottle, Pang & Stone 1992, sec. 4.4 and 4.9. An unknown z0 >= 0 is
added by a covering vector d > 0, w = M z + q + d z0; the first pivot makes all w >= 0, and from then on the variable
whose complement has just left enters, until z0 leaves (solved) or nothing limits the entering one (a ray). For the M of
frictionless contacts (positive semi-definite) a ray proves that there is no solution; for others it proves nothing.

Ties in the ratio test, which redundant contacts bring, are broken as if q_i were larger by epsilon^i: no basis
returns. What it is for here: the fall-back of Baraff's method, its independent oracle, since they share no line, and
matrices that are not symmetric, as friction makes them.
"""

import numpy as np

from reference_engine.array_types import Array, Flags
from reference_engine.compiler.kernels import entry, kernel
from reference_engine.dense import mul, pinv

SOLVED, RAY, NOT_CONVERGED = 0, 1, 2  # as in dantzig.py, where a ray is INFEASIBLE
TIE = 1e-12  # times the largest ratio's terms: ratios nearer than this are tied
NEGLIGIBLE = 1e-20  # of the largest entry: a diagonal entry below it does not scale its row
STILL = 1e-11  # of rows scaled to 1: what is less does not move anything
CANCELLED = 1e-14  # of its terms: a difference that is less is nothing


@kernel
def perturbation(table, basic, position, row, k, n):
    """The coefficient of epsilon^k in the basic variable of a row; w_k is variable k, z_k is n + k, z0 is 2 n."""
    if basic[row] == k:
        return 1.0
    return 0.0 if position[k] < 0 else -table[row, 1 + position[k]]


@kernel
def comes_first(table, basic, position, row, other, column, n):
    """Whether a row limits the entering variable before another, lexicographically; z0 wins a tie."""
    fall, other_fall = -table[row, column], -table[other, column]
    ratio, other_ratio = table[row, 0] / fall, table[other, 0] / other_fall
    if abs(ratio - other_ratio) > TIE * max(1.0, abs(ratio), abs(other_ratio)):
        return ratio < other_ratio
    if basic[row] == 2 * n or basic[other] == 2 * n:
        return basic[row] == 2 * n
    for k in range(n):
        ratio = perturbation(table, basic, position, row, k, n) / fall
        other_ratio = perturbation(table, basic, position, other, k, n) / other_fall
        if abs(ratio - other_ratio) > TIE * max(1.0, abs(ratio), abs(other_ratio)):
            return ratio < other_ratio
    return False


@kernel
def exchange(table, n, row, column):
    """The basic variable of a row and the one of a column change places in  basic = table . (1, nonbasic)."""
    pivot = table[row, column]
    for j in range(n + 2):
        table[row, j] /= -pivot
    table[row, column] = 1.0 / pivot
    for i in range(n):
        factor = table[i, column]
        if i != row and factor != 0.0:
            table[i, column] = 0.0
            for j in range(n + 2):
                before, change = table[i, j], factor * table[row, j]
                after = before + change
                table[i, j] = 0.0 if abs(after) < CANCELLED * abs(change) else after


@entry
def lemke_pivots(table, basic, nonbasic, position, still, n):
    """Pivot from the table (1, z_1 .. z_n, z0) of w on. Returns (outcome, pivots, column of a ray or -1).

    Entries of the table below `still`, of rows scaled to 1, do not move anything.
    basic (n,), nonbasic (n + 1,): numbers of variables; position (2 n + 1,): column less 1 if not basic, else -1.
    """
    for i in range(n):
        basic[i], nonbasic[i], position[i], position[n + i] = i, n + i, -1, i
    nonbasic[n], position[2 * n] = 2 * n, n
    worst = 0
    for i in range(1, n):  # the last of equals: its epsilon^i is the smallest
        here, there = table[i, 0] / table[i, n + 1], table[worst, 0] / table[worst, n + 1]
        if here <= there + TIE * abs(there):
            worst = i
    if n == 0 or table[worst, 0] >= 0.0:
        return SOLVED, 0, np.int64(-1)
    row, column = np.int64(worst), np.int64(n)
    for pivots in range(1, 100 + 10 * n):
        leaving, entering = basic[row], nonbasic[column]
        exchange(table, n, row, 1 + column)
        basic[row], nonbasic[column] = entering, leaving
        position[entering], position[leaving] = -1, column
        if leaving == 2 * n:
            return SOLVED, pivots, np.int64(-1)
        column = position[leaving + n] if leaving < n else position[leaving - n]
        row = np.int64(-1)
        for i in range(n):
            if table[i, 1 + column] < -still:
                table[i, 0] = max(0.0, table[i, 0])
                if row < 0 or comes_first(table, basic, position, i, row, 1 + column, n):
                    row = np.int64(i)
        if row < 0:
            return RAY, pivots, 1 + column
    return NOT_CONVERGED, 100 + 10 * n, np.int64(-1)


def pivoted(q: Array, M: Array, covering_vector: Array, still: float) -> tuple[int, int, int, Array, Array, Array]:
    """`lemke_pivots` of w = M z + q: what it returns, and the table, basic and nonbasic that it leaves."""
    n = len(q)
    table = np.ascontiguousarray(np.column_stack([q, M, covering_vector]))
    basic, nonbasic, position = np.zeros(n, np.int64), np.zeros(n + 1, np.int64), np.zeros(2 * n + 1, np.int64)
    return *lemke_pivots(table, basic, nonbasic, position, still, n), table, basic, nonbasic


def unit_rows(A: Array) -> Array:
    """(N,) factors with which the diagonal of A becomes 1, but for rows that are 0 or as good as 0."""
    own = np.abs(A.diagonal())
    largest = float(np.abs(A).max(initial=0.0)) or 1.0
    return 1.0 / np.sqrt(np.where(own > NEGLIGIBLE * largest, own, largest))


def lemke(
    A: Array, b: Array, joint: Flags, covering_vector: Array, still: float, independent: float
) -> tuple[int, Array, Array | None, int]:
    """One run with this covering vector (N,) > 0: (outcome, force (N,), direction of a ray (N,), pivots).

    Where M is positive semi-definite, the ray y proves infeasibility: y >= 0, M y = 0, y . q < 0.
    Joints are eliminated beforehand: f_J = -A_JJ^+ (A_JC f_C + b_J). What redundant joints ask for beyond that is
    not looked at; the caller's check of the solution sees it.
    """
    size = unit_rows(A)
    A_scaled, b_scaled = A * size[:, None] * size, b * size
    J, C = np.flatnonzero(joint), np.flatnonzero(~joint)
    give = pinv(A_scaled[np.ix_(J, J)], rcond=independent)
    carry = mul(give, A_scaled[np.ix_(J, C)])
    couple, given = A_scaled[np.ix_(C, J)], mul(give, b_scaled[J])
    M, q = A_scaled[np.ix_(C, C)] - mul(couple, carry), b_scaled[C] - mul(couple, given)
    M[np.abs(M) < CANCELLED * (mul(np.abs(couple), np.abs(carry)))] = 0.0
    q[np.abs(q) < CANCELLED * (mul(np.abs(couple), np.abs(given)))] = 0.0
    n = len(C)
    outcome, pivots, column, table, basic, nonbasic = pivoted(q, M, covering_vector[C], still)

    def all_rows(z_of_basic: Array, z_of_nonbasic: float, at_joints: Array) -> Array:
        z = np.zeros(2 * n + 1)
        z[basic] = z_of_basic
        if column > 0:
            z[nonbasic[column - 1]] = z_of_nonbasic
        f = np.zeros(len(b))
        f[C] = np.maximum(0.0, z[n : 2 * n])
        f[J] = at_joints - mul(carry, f[C])
        return f * size

    ray = all_rows(table[:, column], 1.0, np.zeros(len(J))) if outcome == RAY else None
    return outcome, all_rows(table[:, 0], 0.0, -given), ray, pivots

"""Elimination: unsymmetric systems, masses that differ, and unknowns that are one too many."""

import numpy as np
import pytest
from numba import njit

from reference_engine.contact_problems import elimination

eliminate, substitute = elimination.eliminate, elimination.substitute


@njit(cache=True)
def refined(A, n, M, rows, skipped, size, right, x, step):
    """Solve A x = right, and once more for what is left of it; returns how many unknowns were skipped."""
    for i in range(n):
        for j in range(n):
            M[i, j] = A[i, j]
    count = eliminate(M, n, rows, skipped, size)
    substitute(M, n, rows, skipped, right, x)
    rest = right.copy()
    for i in range(n):
        for j in range(n):
            rest[i] -= A[i, j] * x[j]
    substitute(M, n, rows, skipped, rest, step)
    for i in range(n):
        x[i] += step[i]
    return count


def solve(A: np.ndarray, right: np.ndarray, workspace: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """x (n,) and which unknowns were skipped, in arrays with more space than needed and old contents."""
    n = len(right)
    workspace += n
    M, size = np.full((workspace, workspace), np.nan), np.full((2, workspace), np.nan)
    rows, skipped, x, step = (
        np.full(workspace, 7),
        np.full(workspace, 7),
        np.full(workspace, np.nan),
        np.full(workspace, np.nan),
    )
    kept = right.copy()
    count = refined(np.ascontiguousarray(A), np.int64(n), M, rows, skipped, size, right, x, step)
    assert (right == kept).all() and np.isnan(M[n:]).all() and np.isnan(M[:, n:]).all()
    assert count == skipped[:n].sum() == (rows[:n] == -1).sum()
    assert sorted(rows[:n][rows[:n] >= 0]) == sorted(set(rows[:n][rows[:n] >= 0].tolist()))
    return x[:n], skipped[:n].astype(bool)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 20, 80])
def test_an_unsymmetric_system_is_solved_to_round_off(n):
    """In arrays with space for more, of which the rest is neither read nor written."""
    rng = np.random.default_rng(n)
    A, x = rng.normal(size=(n, n)), rng.normal(size=n)
    found, skipped = solve(A, A @ x, workspace=3)
    assert not skipped.any()
    assert found == pytest.approx(x, abs=1e-14 * np.linalg.cond(A))


def test_eighty_stacked_blocks_with_masses_of_one_and_ten_thousand_carry_the_weights_above():
    """A = J M^-1 J^T of a stack, light and heavy in turn: force i is the weight of the blocks from i up.

    To the round-off of A itself, times its condition; accelerations to their own round-off.
    """
    mass = np.where(np.arange(80) % 2, 1e4, 1.0)
    J = np.eye(80) - np.eye(80, k=-1)  # the gap below block i: its height less that of the one below
    weight = np.cumsum(mass[::-1])[::-1] * 9.81
    A, right = (J / mass) @ J.T, J @ np.full(80, 9.81)
    found, skipped = solve(A, right)
    assert not skipped.any()
    assert found == pytest.approx(weight, rel=1e-16 * np.linalg.cond(A))
    assert (np.abs(A @ found - right) <= 4e-16 * (np.abs(A) @ found)).all()


def test_the_units_of_rows_and_of_unknowns_do_not_matter():
    """Rows in millimetres, forces in meganewtons: the same rows are pivoted on, the same digits come out."""
    rng = np.random.default_rng(5)
    A, x = rng.normal(size=(6, 6)), rng.normal(size=6)
    A[:, 4] = A[:, 1] + A[:, 2]  # one too many
    x[4] = 0.0
    row, column = 2.0 ** rng.integers(-40, 40, 6), 2.0 ** rng.integers(-40, 40, 6)
    found, skipped = solve(A, A @ x)
    scaled, skipped_then = solve(A * row[:, None] * column, (A @ x) * row)
    assert list(skipped) == list(skipped_then) == [False, False, False, False, True, False]
    assert found == pytest.approx(x, abs=1e-13)
    assert scaled * column == pytest.approx(found, rel=1e-12)


def test_of_redundant_forces_those_that_come_last_are_left_out():
    """A block on three supports in a row has two freedoms there: the first two in order carry it."""
    J = np.array([[1.0, -1.0], [1.0, 1.0], [1.0, 0.25]])  # arms -1, 1 and 1/4 from the centre
    A, b = J @ np.diag([1.0, 3.0]) @ J.T, J @ np.array([9.81, 0.0])
    for order in ([0, 1, 2], [2, 0, 1], [1, 2, 0]):
        force, skipped = solve(A[np.ix_(order, order)], b[order])
        assert list(skipped) == [False, False, True] and force[2] == 0.0
        assert A[np.ix_(order, order)] @ force == pytest.approx(b[order], abs=1e-13)


def test_what_nothing_moves_is_skipped():
    """A contact between two fixed bodies has a row and a column of zeros."""
    A = np.array([[0.0, 0.0, 0.0], [0.0, 2.0, 1.0], [0.0, 1.0, 2.0]])
    x, skipped = solve(A, np.array([5.0, 3.0, 3.0]))
    assert list(skipped) == [True, False, False]
    assert x == pytest.approx([0.0, 1.0, 1.0])


def test_a_zero_on_the_diagonal_is_no_obstacle():
    """As at the edge of Painleve's case, where a force does not move its own contact."""
    x, skipped = solve(np.array([[0.0, 1.0], [-2.0, 0.0]]), np.array([3.0, 4.0]))
    assert not skipped.any() and list(x) == [-2.0, 3.0]


@pytest.mark.parametrize("apart", [1e-9, 1e-7, 1e-4])
def test_rows_that_nearly_repeat_are_told_apart_down_to_a_part_in_a_hundred_thousand_millions(apart):
    A = np.array([[1.0, 1.0], [1.0, 1.0 + apart]])
    x, skipped = solve(A, A @ np.array([1.0, 1.0]))
    assert not skipped.any() and pytest.approx([1.0, 1.0], abs=1e-15 / apart) == x
    assert solve(np.array([[1.0, 1.0], [1.0, 1.0 + 1e-12]]), np.array([2.0, 2.0]))[1].tolist() == [False, True]


def test_both_kernels_are_compiled_for_one_signature():
    solve(np.eye(2), np.ones(2))
    for kernel in (eliminate, substitute):
        assert len(getattr(kernel, "signatures", [])) <= 1

"""Thousands of random contact problems: every solvable one is solved, every infeasible one is told with its proof.

A = J M^-1 J^T, b from a known solution; redundant and nearly redundant rows, masses over four decades, joints, 1 to 200
contacts. A part runs always, all of it with the slow tests.
"""

import numpy as np
import pytest

from reference_engine import contact_forces
from tests.effort import tries
from tests.reference_engine.contact_problems.problems import Problem, infeasible, solvable

TOLERANCE = 1e-9


def size(rng: np.random.Generator, largest: int) -> int:
    """1 to `largest`, small ones oftener: as many in each octave."""
    return round(largest ** rng.uniform())


def violation(A: np.ndarray, b: np.ndarray, joint: np.ndarray, f: np.ndarray) -> float:
    """The worst breach of f >= 0, a >= 0 (joints: a = 0) and a f = 0, over max(1, |b|).

    Nearly redundant rows can only be held by large forces; where a is round-off of computing it, a f is none.
    """
    a, round_off = A @ f + b, 4.0 * np.finfo(float).eps * (np.abs(A) @ np.abs(f) + np.abs(b))
    breach = np.where(joint, np.abs(a), np.maximum(-a, -f))
    product = np.where(np.abs(a) <= round_off, 0.0, np.abs(a * f))
    return max(breach.max(initial=0.0), product.max(initial=0.0)) / max(1.0, np.abs(b).max(initial=0.0))


def must_be_solved(problem: Problem) -> int:
    """By both methods, to the tolerance, and with the same accelerations as far as the tolerance settles them.

    Returns how often a method needed the other one to step in.

    Two solutions f, f' that meet the conditions to t have (f - f') . A (f - f') = (f - f') . (a - a'), of which every
    term is at most 2 t (1 + f), and |a_i - a_i'|^2 is at most A_ii times that: nearly redundant contacts may use it.
    """
    A, b, joint, a, _ = problem
    t, by_other = TOLERANCE * max(1.0, np.abs(b).max()), 0
    for method in ("dantzig", "lemke"):
        solution = contact_forces(A, b, joint, method=method)
        assert solution.outcome == "solved", method
        assert violation(A, b, joint, solution.force) <= TOLERANCE, method
        slack = 2.0 * t * np.sum(1.0 + np.abs(solution.force) + 20.0)
        assert (np.abs(solution.acceleration - a) <= np.sqrt(A.diagonal() * slack) + t).all(), method
        by_other += solution.method != method
    return by_other


def must_be_refused(problem: Problem) -> None:
    A, b, joint, _, y = problem
    for method in ("dantzig", "lemke"):
        solution = contact_forces(A, b, joint, method=method)
        assert solution.outcome == "infeasible", method
        found = solution.certificate
        assert found is not None and (found[~joint] >= 0.0).all() and found @ b < 0.0
        scale = max(1.0, np.abs(b).max())
        assert np.where(joint, np.abs(found @ A), found @ A).max() <= 1e-9 * np.abs(A).max()
        assert TOLERANCE * scale < solution.proven <= solution.violation * (1.0 + 1e-9)
        assert y is not None and solution.violation >= -(y @ b) / np.abs(y).sum() * (1.0 - 1e-3)


@pytest.mark.parametrize("seed", range(4))
def test_solvable_problems_are_solved(seed):
    rng = np.random.default_rng([1, seed])
    assert sum(must_be_solved(solvable(rng, size(rng, 100))) for _ in range(tries(100))) <= 1


def test_infeasible_problems_are_told_with_their_proof():
    rng = np.random.default_rng(2)
    for _ in range(tries(60)):
        must_be_refused(infeasible(rng, size(rng, 60)))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_ten_thousand_solvable_problems_are_solved(seed):
    rng = np.random.default_rng([3, seed])
    assert sum(must_be_solved(solvable(rng, size(rng, 200))) for _ in range(1000)) <= 20  # of 2000


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_a_thousand_infeasible_problems_are_told_with_their_proof(seed):
    rng = np.random.default_rng([4, seed])
    for _ in range(250):
        must_be_refused(infeasible(rng, size(rng, 200)))

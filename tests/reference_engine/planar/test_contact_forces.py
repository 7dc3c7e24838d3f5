"""Contact forces f with 0 <= f  perp  a = A f + b >= 0."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference_engine import ContactForceError, contact_forces

RECORDED = json.loads((Path(__file__).parent / "data" / "contact_problems.json").read_text())["cases"]


def violation(A: np.ndarray, b: np.ndarray, f: np.ndarray) -> float:
    """The worst breach of f >= 0, a >= 0, a f = 0, over max(1, |b|)."""
    a = A @ f + b
    scale = max(1.0, np.abs(b).max(initial=0.0))
    return max(-f.min(initial=0.0), -a.min(initial=0.0), np.abs(a * f).max(initial=0.0)) / scale


@pytest.mark.parametrize("case", RECORDED, ids=lambda case: f"{case['test']} {case['kind']}{case['n']}")
def test_recorded_problems_have_the_accelerations_that_the_original_found(case):
    """Forces of redundant contacts are not unique, accelerations are. The original stops at 1e-6 or so."""
    A, b = np.array(case["A"]), np.array(case["b"])
    f = contact_forces(A, b)
    assert violation(A, b, f) <= 1e-9
    assert A @ f + b == pytest.approx(A @ np.array(case["f"]) + b, abs=1e-6 * max(1.0, np.abs(b).max()))


@st.composite
def problems(draw):
    """A = J M^-1 J^T with fewer freedoms than contacts now and then; rows may repeat; b = A x + free part >= 0."""
    n = draw(st.integers(1, 6))
    freedoms = draw(st.integers(1, 6))
    rows = st.lists(st.integers(-3, 3), min_size=freedoms, max_size=freedoms)
    J = np.array(draw(st.lists(rows, min_size=n, max_size=n)), float)
    J[~J.any(axis=1), 0] = 1.0
    inv_mass = 10.0 ** np.array(draw(st.lists(st.integers(-2, 2), min_size=freedoms, max_size=freedoms)), float)
    A = (J * inv_mass) @ J.T
    f = np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), float)
    a = np.where(f > 0.0, 0.0, np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), float))
    return A, a - A @ f


@settings(max_examples=300, deadline=None)
@given(problem=problems())
def test_solvable_problems_are_solved_redundant_ones_too(problem):
    """b is made from a solution, so there is one. Round-off only: 1e-9 of the right-hand side."""
    A, b = problem
    assert violation(A, b, contact_forces(A, b)) <= 1e-9


def enumerate_accelerations(A: np.ndarray, b: np.ndarray) -> np.ndarray | None:
    """Try every set of contacts that push: the slow, obvious solver."""
    n = len(b)
    for size in range(n + 1):
        for pushing in itertools.combinations(range(n), size):
            f = np.zeros(n)
            if pushing:
                rows = list(pushing)
                f[rows] = np.linalg.lstsq(A[np.ix_(rows, rows)], -b[rows], rcond=1e-12)[0]
            a = A @ f + b
            tolerance = 1e-9 * max(1.0, np.abs(b).max())
            if f.min() >= -1e-9 and a.min() >= -tolerance and np.abs(a[f > 1e-12]).max(initial=0.0) <= tolerance:
                return a
    return None


@settings(max_examples=200, deadline=None)
@given(problem=problems())
def test_accelerations_agree_with_trying_every_set_of_contacts(problem):
    A, b = problem
    expected = enumerate_accelerations(A, b)
    if expected is not None:  # a redundant set may need forces that least squares does not choose
        assert A @ contact_forces(A, b) + b == pytest.approx(expected, abs=1e-7 * max(1.0, np.abs(b).max()))


def test_a_body_squeezed_by_two_walls_that_come_together_is_reported_with_its_proof():
    """Gap accelerations -1 on both sides of a body between fixed walls: no force helps. y = (1, 1) proves it."""
    A, b = np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([-1.0, -1.0])
    with pytest.raises(ContactForceError, match="no forces exist") as caught:
        contact_forces(A, b)
    y = caught.value.certificate
    assert y.min() >= 0.0 and np.abs(A @ y).max() < 1e-12 and b @ y < 0.0


def test_four_equal_supports_share_a_weight_in_sum():
    """A table on four equal contacts: any non-negative forces with the weight as their sum will do."""
    A, b = np.ones((4, 4)), np.full(4, -9.81)
    assert contact_forces(A, b).sum() == pytest.approx(9.81, rel=1e-12)

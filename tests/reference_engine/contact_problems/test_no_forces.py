"""What is proven to have no contact forces has none, and what is solved is never proven to have none."""

import numpy as np
import pytest

from reference_engine.contact_problems import friction_modes as modes
from reference_engine.contact_problems.friction import KINDS, friction_forces
from reference_engine.contact_problems.no_forces import proven_breach, singular_breach

WORDS = {code: word for word, code in KINDS.items()}
SMOOTH_PAIR = np.array([modes.SMOOTH, modes.SMOOTH])


def random_problem(seed: int):
    """One to three contacts with friction up to 8, of which most slide; A = J M^-1 J^T of one or two bodies."""
    draw = np.random.default_rng(seed)
    n = int(draw.integers(1, 4))
    J = draw.normal(size=(2 * n, int(draw.choice([3, 6]))))
    kind = draw.choice([modes.STICKING, modes.SLIDING_PLUS, modes.SLIDING_MINUS, modes.SMOOTH], size=n)
    mu = np.where(kind == modes.SMOOTH, 0.0, draw.uniform(0.2, 8.0, n))
    return J @ J.T, draw.normal(size=2 * n) - 0.5, kind, mu


def test_a_proof_is_found_just_where_no_modes_solve_the_problem():
    """Of a few contacts the solver tries all modes in turn, so it is right that there are none."""
    found = {"solved": 0, "none": 0}
    for seed in range(60):
        A, b, kind, mu = random_problem(seed)
        solution = friction_forces(A, b, [WORDS[k] for k in kind], mu)
        found[solution.outcome] += 1
        assert (proven_breach(A, b, kind, mu, mu) > 0.0) == (solution.outcome == "none"), seed
    assert min(found.values()) >= 5


def test_a_painleve_contact_breaks_the_law_by_its_whole_acceleration():
    """a_n = (A_nn - mu A_nt) f + b, which is b or less for every f >= 0: no force is the best of them."""
    A, b = np.array([[1.0, 1.0], [1.0, 2.0]]), np.array([-3.0, 0.0])
    kind, mu = np.array([modes.SLIDING_PLUS]), np.array([1.5])
    assert proven_breach(A, b, kind, mu, mu) == pytest.approx(3.0, rel=1e-9)
    assert singular_breach(A, b, kind, 3.0) == 0.0  # with other friction the contact would hold


def test_two_opposite_normals_share_what_no_force_can_change():
    """Walls on both sides: y = (1, 1), a_1 + a_2 = b_1 + b_2 whatever presses, so one of them gets half of it."""
    A = np.zeros((4, 4))
    A[::2, ::2] = [[1.0, -1.0], [-1.0, 1.0]]
    assert singular_breach(A, np.array([1.0, 0.0, -4.0, 0.0]), SMOOTH_PAIR, 4.0) == pytest.approx(1.5, rel=1e-9)
    assert singular_breach(A, np.array([4.0, 0.0, -1.0, 0.0]), SMOOTH_PAIR, 4.0) == 0.0

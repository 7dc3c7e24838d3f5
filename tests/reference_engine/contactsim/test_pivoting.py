"""The original's solver of contact forces, and the random numbers that order it."""

import numpy as np
import pytest

from reference_engine.contact_problems.contact_forces import contact_forces
from reference_engine.contactsim import pivoting
from reference_engine.contactsim.arrays import new_work


def solved(A, b, joint=0, seed=0):
    n = len(b)
    work = new_work(n, 1)
    work.A[:], work.b[:], work.bilateral[:] = A, b, joint
    outcome, violation = pivoting.solve(n, np.array([seed], np.int64), work)
    return outcome, work.f, violation


def test_a_permutation_takes_one_draw_a_place():
    """x' = (1664525 x + 1013904223) mod 2^32 from 0: 1013904223, 1196435762, 3519870697; of 3, 2 and 1 left."""
    seed, order = np.zeros(1, np.int64), np.zeros(3, np.int64)
    pivoting.permutation(seed, 3, order)
    assert seed[0] == 3519870697
    assert list(order) == [0, 1, 2]  # 0.236 x 3, 0.279 x 2, 0.820 x 1, rounded down


@pytest.mark.parametrize("seed", range(20))
def test_forces_of_independent_contacts_are_the_unique_ones(seed):
    """A = J J^T + 1/2, whose least eigenvalue is far above what counts as singular: one solution."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 9))
    J = rng.normal(size=(n, n))
    A, b = J @ J.T + 0.5 * np.eye(n), rng.normal(size=n)
    outcome, f, violation = solved(A, b, seed=seed)
    assert outcome == pivoting.SOLVED and violation <= 1e-9
    assert f == pytest.approx(contact_forces(A, b).force, abs=1e-8)


def test_a_joint_pulls_where_a_contact_lets_go():
    assert solved([[2.0]], [3.0])[1] == pytest.approx([0.0])
    assert solved([[2.0]], [3.0], [1])[1] == pytest.approx([-1.5])


def test_redundant_contacts_are_put_off_and_need_no_force():
    """Four contacts under one block: rank 2. Accelerations vanish although the matrix is singular."""
    x = np.array([-1.0, -0.5, 0.5, 1.0])
    A = 1.0 + 3.0 * np.outer(x, x)
    outcome, f, violation = solved(A, np.full(4, -9.81))
    assert outcome == pivoting.SOLVED and violation <= 1e-8
    assert f.sum() == pytest.approx(9.81) and f @ x == pytest.approx(0.0, abs=1e-9)
    assert (f > 1e-9).sum() == 2

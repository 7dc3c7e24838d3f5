"""Contact forces f with 0 <= f  perp  a = A f + b >= 0, and a = 0 with f of either sign at joints."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference_engine import ContactForceError, contact_forces
from reference_engine.contact_problems.contact_forces import required_forces
from tests.effort import tries

METHODS = pytest.mark.parametrize("method", ["dantzig", "lemke"])


def test_a_table_on_four_equal_supports_shares_its_weight_in_sum():
    """Any non-negative forces with the weight as their sum will do."""
    for method in ("dantzig", "lemke"):
        solution = contact_forces(np.ones((4, 4)), np.full(4, -9.81), method=method)
        assert solution.force.sum() == pytest.approx(9.81, rel=1e-12)
        assert solution.outcome == "solved" and solution.certificate is None


@METHODS
def test_a_contact_that_would_have_to_pull_is_without_force(method):
    """A beam on two supports with its weight beyond the second: that one carries, the first opens (a > 0)."""
    m, g, inertia = 2.0, 9.81, 10.0
    J = np.array([[1.0, -1.0], [1.0, 1.0]])  # centre of mass at 0, supports at -1 and 1 m; the load turns it clockwise
    A, b = J @ np.diag([1.0 / m, 1.0 / inertia]) @ J.T, J @ np.array([-g, -5.0])
    solution = contact_forces(A, b, method=method)
    assert solution.force[0] == 0.0 and solution.acceleration[0] > 0.0
    assert solution.force[1] == pytest.approx(-b[1] / A[1, 1], rel=1e-12)


@METHODS
def test_a_joint_pulls_where_a_contact_cannot(method):
    """A rod hangs from a pin: as a joint the pin carries m g, as a contact from above it would let it fall."""
    A, b = np.array([[0.5]]), np.array([9.81])  # gap measured downwards: gravity opens it
    assert contact_forces(A, b, [True], method=method).force == pytest.approx([-9.81 / 0.5], rel=1e-12)
    assert contact_forces(A, b, [False], method=method).force == pytest.approx([0.0])


@METHODS
def test_joints_that_say_the_same_twice_are_held_by_forces_with_the_right_sum(method):
    """Two pins in one contact, and a contact beside them."""
    J = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    A, b = J @ J.T, J @ np.array([3.0, -5.0])
    solution = contact_forces(A, b, [True, True, False], method=method)
    assert solution.acceleration == pytest.approx(np.zeros(3), abs=1e-12)
    assert solution.force[:2].sum() == pytest.approx(-8.0) and solution.force[2] == pytest.approx(5.0)


@METHODS
def test_a_body_squeezed_by_two_walls_that_come_together_is_reported_with_its_proof(method):
    """Gap accelerations -1 on both sides of a body between fixed walls: no force helps. y = (1, 1) / 2 proves it."""
    A, b = np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([-1.0, -1.0])
    solution = contact_forces(A, b, method=method)
    assert solution.outcome == "infeasible"
    assert solution.certificate == pytest.approx([0.5, 0.5], rel=1e-9)
    assert solution.violation == pytest.approx(1.0, rel=1e-6) and solution.proven == pytest.approx(1.0, rel=1e-6)


@METHODS
def test_joints_that_contradict_each_other_are_reported_with_signs_in_the_proof(method):
    """One point that is to accelerate by 1 and by 2 m/s^2: half of the difference is violated whatever is done."""
    solution = contact_forces(np.ones((2, 2)), [1.0, 2.0], [True, True], method=method)
    assert solution.outcome == "infeasible" and solution.certificate is not None
    assert solution.certificate[0] * solution.certificate[1] < 0.0
    assert solution.violation == pytest.approx(0.5, rel=1e-6) and solution.proven == pytest.approx(0.5, rel=1e-6)


@METHODS
def test_a_wall_that_comes_at_a_wall_cannot_be_stopped(method):
    """Nothing moves under a force (A = 0): infeasible if the gap closes, and without force if it opens."""
    assert contact_forces([[0.0]], [-1.0], method=method).outcome == "infeasible"
    assert contact_forces([[0.0]], [1.0], method=method).force == pytest.approx([0.0])


@METHODS
def test_nothing_in_touch_needs_no_force(method):
    assert contact_forces(np.zeros((0, 0)), [], method=method).force.shape == (0,)


@METHODS
def test_a_hundred_tonnes_on_a_kilogram_are_carried(method):
    """Mass ratio 1e5 in a stack of two: the lower contact bears both weights. Here a f is of round-off alone."""
    light, heavy, g = 1.0, 1e5, 9.81
    J = np.array([[1.0, 0.0], [-1.0, 1.0]])
    A, b = J @ np.diag([1.0 / light, 1.0 / heavy]) @ J.T, J @ np.array([-g, -g])
    solution = contact_forces(A, b, method=method)
    assert solution.force == pytest.approx([(light + heavy) * g, heavy * g], rel=1e-9)
    assert np.abs(solution.acceleration).max() < 1e-9


@METHODS
def test_beyond_what_double_precision_can_check_no_forces_are_claimed(method):
    """Mass ratio 1e9: a = A f + b is a difference of 1e10, known to 1e-6. The limit on forces is told."""
    J = np.array([[1.0, 0.0], [-1.0, 1.0]])
    A, b = J @ np.diag([1e3, 1e-6]) @ J.T, J @ np.array([-9.81, -9.81])
    solution = contact_forces(A, b, method=method)
    assert solution.outcome == "infeasible" and solution.force_limit < 1e6 * 9.81


def test_lemke_takes_what_friction_makes_of_a():
    """A block that slides on a floor: f_t = -mu f_n joins the row of the normal, and A is not symmetric any more."""
    A = np.array([[2.0, -0.9], [0.4, 1.0]])
    solution = contact_forces(A, [-1.0, -1.0], method="lemke")
    assert solution.force == pytest.approx(np.linalg.solve(A, [1.0, 1.0]), rel=1e-12)
    with pytest.raises(ValueError, match=r"A: not symmetric, A\[0, 1\] = -0\.9 and A\[1, 0\] = 0\.4; method='lemke'"):
        contact_forces(A, [-1.0, -1.0])


def test_painleves_rod_has_no_contact_force_at_all_and_is_told_so():
    """Pressing harder pulls the tip in (p < 0) while it accelerates inward (b < 0): y = 1 proves it."""
    solution = contact_forces([[-0.0806]], [-8.03], method="lemke")
    assert solution.outcome == "infeasible" and solution.violation == pytest.approx(8.03)


def test_what_is_not_positive_semi_definite_is_refused_by_dantzig():
    with pytest.raises(ValueError, match="A: not positive semi-definite"):
        contact_forces([[1.0, 0.0], [0.0, -1.0]], [0.0, -1.0])


@pytest.mark.parametrize(
    ("A", "b", "joint", "method", "words"),
    [
        ([[1.0]], [-1.0, -1.0], None, "dantzig", r"A: shape \(1, 1\) does not fit b of length 2; \(2, 2\) is wanted"),
        ([[1.0]], [[-1.0]], None, "dantzig", r"b: shape \(1, 1\) is not that of a vector \(N,\)"),
        ([[1.0]], [-1.0], [True, False], "dantzig", r"joint: shape \(2,\) does not fit b of length 1"),
        ([[np.nan]], [-1.0], None, "dantzig", "A: nan is not a finite number"),
        ([[1.0]], [np.inf], None, "dantzig", "b: inf is not a finite number"),
        ([[1.0]], [-1.0], None, "newton", "method: 'newton' is not one of dantzig, lemke"),
    ],
)
def test_what_is_no_problem_is_refused_in_one_line(A, b, joint, method, words):
    with pytest.raises(ValueError, match=words):
        contact_forces(A, b, joint, method=method)


def test_an_engine_asks_for_the_forces_alone_and_gets_an_error_where_there_are_none():
    assert required_forces([[2.0]], [-1.0]) == pytest.approx([0.5])
    with pytest.raises(ContactForceError, match="no forces exist: none below") as caught:
        required_forces([[1.0, -1.0], [-1.0, 1.0]], [-1.0, -1.0])
    assert caught.value.certificate == pytest.approx([0.5, 0.5], rel=1e-9)


def test_a_tolerance_is_between_0_and_1():
    with pytest.raises(ValueError, match="tolerance: 0 is not between 0 and 1"):
        contact_forces([[1.0]], [-1.0], tolerance=0)


def test_where_there_is_neither_a_solution_nor_a_proof_it_is_an_error_with_figures():
    """a1 = f2 - 1 >= 0 can be had: no proof. But with f2 >= 1, f2 a2 = f2 (f1 + 1) is not 0."""
    with pytest.raises(ContactForceError, match=r"no forces found for 2 contacts: violation \d") as caught:
        contact_forces([[0.0, 1.0], [1.0, 0.0]], [-1.0, 1.0], method="lemke")
    assert caught.value.residual >= 0.5


@st.composite
def problems(draw):
    """A = J M^-1 J^T with fewer freedoms than rows now and then; rows may repeat; b from a solution; some joints."""
    n = draw(st.integers(1, 6))
    freedoms = draw(st.integers(1, 6))
    rows = st.lists(st.integers(-3, 3), min_size=freedoms, max_size=freedoms)
    J = np.array(draw(st.lists(rows, min_size=n, max_size=n)), float)
    J[~J.any(axis=1), 0] = 1.0
    inv_mass = 10.0 ** np.array(draw(st.lists(st.integers(-2, 2), min_size=freedoms, max_size=freedoms)), float)
    A = (J * inv_mass) @ J.T
    joint = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    f = np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), float)
    a = np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), float)
    a[joint | (f > 0.0)] = 0.0
    return A, a - A @ f, joint, a


@settings(max_examples=tries(150))
@given(problem=problems())
def test_accelerations_are_those_that_the_problem_was_made_from(problem):
    """Forces of redundant contacts are not unique, accelerations are (Baraff 1994; A is positive semi-definite)."""
    A, b, joint, a = problem
    for method in ("dantzig", "lemke"):
        assert contact_forces(A, b, joint, method=method).acceleration == pytest.approx(
            a, abs=1e-7 * max(1.0, np.abs(b).max())
        )


def enumerate_accelerations(A: np.ndarray, b: np.ndarray, joint: np.ndarray) -> np.ndarray | None:
    """Try every set of contacts that push: the slow, obvious solver."""
    n, tolerance = len(b), 1e-9 * max(1.0, np.abs(b).max())
    contacts = np.flatnonzero(~joint)
    for size in range(len(contacts) + 1):
        for pressing_force in itertools.combinations(contacts, size):
            rows, f = [*np.flatnonzero(joint), *pressing_force], np.zeros(n)
            if rows:
                f[rows] = np.linalg.lstsq(A[np.ix_(rows, rows)], -b[rows], rcond=1e-12)[0]
            a = A @ f + b
            if (
                f[~joint].min(initial=0.0) >= -1e-9
                and a[~joint].min(initial=0.0) >= -tolerance
                and np.abs(a[joint | (f > 1e-12)]).max(initial=0.0) <= tolerance
            ):
                return a
    return None


@settings(max_examples=tries(100))
@given(problem=problems())
def test_accelerations_agree_with_trying_every_set_of_contacts(problem):
    A, b, joint, _ = problem
    expected = enumerate_accelerations(A, b, joint)
    if expected is not None:  # a redundant set may need forces that least squares does not choose
        found = contact_forces(A, b, joint).acceleration
        assert found == pytest.approx(expected, abs=1e-7 * max(1.0, np.abs(b).max()))

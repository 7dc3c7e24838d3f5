"""Friction: guesses, errors of input, and the kernel as the engine calls it."""

from dataclasses import fields

import numba
import numpy as np
import pytest

from reference_engine.contact_problems import elimination, friction, friction_lemke, friction_modes
from reference_engine.contact_problems.friction_modes import CLOSED, OPEN, STICKING, STICKS, FrictionProblem
from tests.reference_engine.contact_problems.contact_points import breach, random_places, stack

BOX = stack(np.array([2.0]))  # on two corners


def solve(A=BOX[0], b=BOX[1], kind="sticking", mu=0.5, **more):
    return friction.friction_forces(A, b, kind, mu, **more)


@pytest.mark.parametrize("guess", ["open", "held", "sticks", "parts, slips-"])
def test_a_wrong_guess_of_modes_leads_to_the_same_forces(guess):
    solution = solve(guess=[guess, "open"])
    assert solution.outcome == "solved" and solution.force == pytest.approx(np.array([[9.81, 0.0]] * 2), abs=1e-12)


@pytest.mark.parametrize("guess", ["slips+", "slips-"])
def test_a_guess_that_solves_is_taken_even_where_redundant_places_then_strain_against_each_other(guess):
    solution = solve(guess=[guess, "sticks"])
    assert solution.mode == (guess, "sticks")
    assert solution.force.sum(axis=0) == pytest.approx([19.62, 0.0], abs=1e-12)


def test_modes_of_one_solution_are_a_guess_that_gives_it_again():
    rng = np.random.default_rng(4)
    for _ in range(50):
        n = int(rng.integers(1, 6))
        J, mass, inertia = random_places(rng, n, 2)
        A = (J / np.stack([mass, mass, inertia], 1).ravel()) @ J.T
        b = J @ rng.normal(size=J.shape[1])
        first = solve(A, b, mu=0.4)
        again = solve(A, b, mu=0.4, guess=first.mode)
        assert again.outcome == "solved"
        assert breach(A, b, ["sticking"] * n, *np.full((2, n), 0.4), np.zeros(n), again.force.ravel()) <= 1e-8


def test_corners_of_a_box_that_rests_stick_up_to_the_angle_of_friction_however_they_share():
    """2 x 1, mu = 0.5: found anew, they share equally; from then on one of them changes, until it is at its limit."""
    answer, *scratch = friction.new_friction_work(2)
    mu, begun = np.full(2, 0.5), None
    answer.mode[:] = CLOSED
    for tangent in [*np.linspace(0.3, 0.33, 4), *np.linspace(0.35, 0.5, 30)]:
        A, b = stack(np.ones(1), w=2.0, slope=np.arctan(tangent))
        given = FrictionProblem(A, b, np.full(2, STICKING), mu, mu, np.zeros(2))
        outcome, _, _ = friction.solve_friction(given, np.int64(2), 1e-9, answer, *scratch)
        assert outcome == friction.SOLVED and answer.mode.tolist() == [STICKS, STICKS]
        assert answer.f[1] + answer.f[3] == pytest.approx(9.81 * np.sin(np.arctan(tangent)), rel=1e-12)
        if begun is None:
            begun = answer.f[3]
            assert begun == pytest.approx(answer.f[1], rel=1e-6)
        elif tangent <= 0.33:
            assert answer.f[3] == begun


def test_no_places_need_no_forces():
    solution = solve(np.zeros((0, 0)), np.zeros(0), [], [])
    assert solution.outcome == "solved" and solution.force.shape == (0, 2)


def test_what_cannot_part_and_cannot_stay_has_no_forces():
    """A body of which two opposite sides are driven inwards: no friction helps."""
    A = np.array([[1.0, 0, -1, 0], [0, 1, 0, -1], [-1, 0, 1, 0], [0, -1, 0, 1]])
    solution = solve(A, [-1.0, 0.0, -1.0, 0.0])
    assert solution.outcome == "none" and solution.contact is None and solution.violation == np.inf


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"b": np.zeros(3)}, r"b: shape \(3,\) is not \(2 N,\)"),
        ({"b": np.zeros(6)}, r"A: shape \(4, 4\) does not fit b of length 6"),
        ({"b": [0.0, np.nan, 0.0, 0.0]}, "b: nan is not a finite number"),
        ({"A": np.triu(np.ones((4, 4)))}, r"A: not symmetric, A\[0, 1\] = 1 and A\[1, 0\] = 0"),
        ({"A": -np.eye(4)}, "A: -1 on the diagonal is negative"),
        ({"kind": "sticky"}, "kind: 'sticky' is not one of joint, smooth, sticking"),
        ({"kind": ["joint"] * 3}, "kind: 3 of them do not fit 2 contacts"),
        ({"guess": ["open", "sideways"]}, "guess: 'sideways' is not one of open, held"),
        ({"mu": -0.1}, r"friction\[0\]: -0.1 is not a finite number from 0 up"),
        ({"mu": [0.1, 0.2, 0.3]}, r"friction: shape \(3,\) is not that of one number or \(2,\)"),
        ({"static_friction": 0.4}, r"static_friction\[0\]: 0.4 is not a finite number from 0.5 up"),
        ({"base": [0.0, -1.0]}, r"base\[1\]: -1 is not a finite number from 0 up"),
        ({"tolerance": 0.0}, "tolerance: 0 is not between 0 and 1"),
        ({"scale": -2.0}, "scale: -2 is not a positive finite number"),
    ],
)
def test_bad_input_is_told_in_one_line(given, message):
    with pytest.raises(ValueError, match=message):
        solve(**given)


def test_the_engine_calls_with_room_for_more_and_what_is_left_there_does_not_matter():
    """Arrays for nine contacts, two in contact; tangents of smooth contacts are not read."""
    workspace, n = 9, 2
    answer, *scratch = friction.new_friction_work(workspace)
    arrays = [array for part in scratch for array in (getattr(part, f.name) for f in fields(part))]
    for array in (answer.f, answer.a, answer.p, *(array for array in arrays if array.dtype == float)):
        array[...] = np.nan
    for array in (answer.doubt, *(array for array in arrays if array.dtype == np.int64)):
        array[...] = 5
    A, b = np.full((2 * workspace, 2 * workspace), np.nan), np.full(2 * workspace, np.nan)
    A[:4, :4], b[:4] = BOX
    A[3, :] = A[:, 3] = b[3] = np.nan
    given = FrictionProblem(
        A, b, np.full(workspace, STICKING), np.full(workspace, 0.5), np.full(workspace, 0.5), np.zeros(workspace),
    )  # fmt: skip
    given.kind[1] = friction_modes.SMOOTH
    answer.mode[:2] = OPEN
    outcome, violation, place = friction.solve_friction(given, np.int64(n), 1e-9, answer, *scratch)
    assert (outcome, place) == (friction.SOLVED, -1) and violation <= 1e-12
    assert answer.mode[:2].tolist() == [STICKS, CLOSED]
    assert answer.f[:4] == pytest.approx([9.81, 0.0, 9.81, 0.0], abs=1e-12) and answer.a[3] == 0.0


def test_every_kernel_has_been_compiled_for_one_signature_at_most():
    if numba.config.DISABLE_JIT:
        return
    solve(mu=np.float32(0.5))
    solve(np.asfortranarray(BOX[0]), list(BOX[1]), ["smooth", "sliding-"], (0, 1), guess=["open", "open"])
    for module in (elimination, friction, friction_lemke, friction_modes):
        for name, kernel in vars(module).items():
            if hasattr(kernel, "signatures"):
                assert len(kernel.signatures) <= 1, f"{module.__name__}.{name}: {kernel.signatures}"

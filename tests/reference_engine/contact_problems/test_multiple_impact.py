"""Impacts at several contacts: cradles by momentum and energy, bars by hand, and what each order promises."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

from reference_engine import impact, inverse_mass_through_joints, multiple_impact
from reference_engine.contact_problems.impact_process import ImpactError, WedgedImpactError
from reference_engine.contact_problems.multiple_impacts import ORDERS, Repetition
from reference_engine.ode import Dop853
from tests.effort import tries

unit = st.floats(0.0, 1.0)
seeds = st.integers(0, 2**32 - 1)


def cradle(speeds) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """K, velocities (n, 2) and what turns impulses into the balls' speeds along the row; they are 1 kg each."""
    balls = len(speeds)
    along = np.diff(np.eye(balls), axis=0)
    J = np.kron(along, np.eye(2)[::-1])  # of (x, y) of each ball; the normal is x, and comes last
    turn = np.kron(np.eye(balls), [[1.0, 0.0]]) @ J.T
    return inverse_mass_through_joints(np.eye(2 * balls), J), np.outer(along @ speeds, [0.0, 1.0]), turn


def speeds_after(speeds, order):
    K, u, turn = cradle(np.asarray(speeds, float))
    return speeds + turn @ multiple_impact(K, u, friction=0.0, restitution=1.0, order=order).impulse.ravel()


@pytest.mark.parametrize(
    ("order", "after"),
    [
        ("simultaneous", [-0.6, 0.4, 0.4, 0.4, 0.4]),
        ("sequential", [0.0, 0.0, 0.0, 0.0, 1.0]),
        ("grouped", [0.0, 0.0, 0.0, 0.0, 1.0]),
    ],
)
def test_the_last_ball_of_a_cradle_leaves_one_after_the_other_and_all_do_at_once(order, after):
    assert_allclose(speeds_after([1.0, 0.0, 0.0, 0.0, 0.0], order), after, rtol=0.0, atol=1e-14)


@pytest.mark.parametrize(
    ("order", "after"),
    [
        # u+ = -u at both contacts, and the momentum: v2 - v1 = 1, v3 - v2 = 1/2, v1 + v2 + v3 = 1/2.
        ("simultaneous", [-2 / 3, 1 / 3, 5 / 6]),
        ("grouped", [-2 / 3, 1 / 3, 5 / 6]),
        ("sequential", [-0.5, 0.0, 1.0]),  # three exchanges of speeds, the faster first
    ],
)
def test_a_ball_struck_from_both_sides_shows_what_a_group_is(order, after):
    assert_allclose(speeds_after([1.0, 0.0, -0.5], order), after, rtol=0.0, atol=1e-14)


@pytest.mark.parametrize(("order", "blows"), [("sequential", ((0,), (1,), (0,))), ("simultaneous", ((0, 1),))])
def test_a_thin_bar_that_lands_flat_on_two_posts_leaves_flat_in_three_blows_or_in_one(order, blows):
    # At the ends K = 4/m and -2/m; impact by impact (-1, -1) -> (1, -2) -> (-1, 2) -> (1, 1).
    K = np.zeros((4, 4))
    K[1::2, 1::2] = [[4.0, -2.0], [-2.0, 4.0]]
    K[0::2, 0::2] = 1.0
    found = multiple_impact(K, [(0.0, -1.0), (0.0, -1.0)], friction=0.0, restitution=1.0, order=order)
    assert_allclose(found.velocity, [(0.0, 1.0), (0.0, 1.0)], atol=1e-14)
    assert found.impacts == blows


def random_places(seed: int, n: int, D: int):
    """K of n contacts that move the same few bodies, and approaching as well as parting velocities."""
    rng = np.random.default_rng(seed)
    J = rng.normal(size=(n * D, n * D + 2))
    return J @ J.T, rng.normal(size=(n, D))


@settings(max_examples=tries(60))
@given(seeds, st.integers(1, 4), st.sampled_from([2, 3]), st.sampled_from(ORDERS), unit, st.floats(0.0, 2.0))
def test_all_impulses_are_in_coulomb_s_cone_and_no_place_approaches_afterwards(seed, n, D, order, e, mu):
    K, u = random_places(seed, n, D)
    found = multiple_impact(K, u, friction=mu, restitution=e, order=order)
    scale = float(np.abs(found.impulse).max())
    assert (found.impulse[:, -1] >= -1e-12 * scale).all()
    assert (np.linalg.norm(found.impulse[:, :-1], axis=1) <= mu * found.impulse[:, -1] + 1e-10 * scale).all()
    assert (found.velocity[:, -1] >= -1e-9 * np.abs(u).max()).all()
    assert_allclose(found.velocity.ravel(), u.ravel() + K @ found.impulse.ravel(), atol=1e-9 * np.abs(K).max() * scale)


@settings(max_examples=tries(60))
@given(seeds, st.integers(1, 4), st.sampled_from(ORDERS), st.sampled_from(["newton", "poisson"]), unit)
def test_without_friction_no_order_makes_energy_and_at_e_1_newton_s_keeps_it(seed, n, order, law, e):
    K, u = random_places(seed, n, 2)  # some part, and are struck by the impulses of others
    before = 0.5 * float(u.ravel() @ np.linalg.solve(K, u.ravel()))
    found = multiple_impact(K, u, friction=0.0, restitution=e, law=law, order=order)
    assert found.energy_change <= 1e-11 * before
    if law == "newton":
        elastic = multiple_impact(K, u, friction=0.0, restitution=1.0, order=order)
        assert abs(elastic.energy_change) <= 1e-10 * before


@settings(max_examples=tries(40))
@given(seeds, st.integers(1, 3), unit, st.floats(0.0, 0.5))
def test_in_space_what_only_moves_in_a_plane_is_the_planar_impact(seed, n, e, mu):
    """Of little friction: with much there may be two answers, and each solver finds one."""
    K, u = random_places(seed, n, 2)
    planar = multiple_impact(K, u, friction=mu, restitution=e)
    at = (np.arange(n)[:, None] * 3 + np.array([0, 2])).ravel()
    K3, u3 = np.zeros((3 * n, 3 * n)), np.zeros((n, 3))
    K3[np.ix_(at, at)] = K
    K3[1::3, 1::3] = np.eye(n)
    u3[:, [0, 2]] = u
    spatial = multiple_impact(K3, u3, friction=mu, restitution=e)
    assert_allclose(spatial.velocity[:, [0, 2]], planar.velocity, atol=1e-8 * np.abs(u).max())


@settings(max_examples=tries(40))
@given(seeds, unit, st.floats(0.0, 1.0), st.sampled_from(["stronge", "chatterjee-ruina"]))
def test_places_that_do_not_move_one_another_are_struck_as_if_each_were_alone(seed, e, mu, law):
    rng = np.random.default_rng(seed)
    K, u = np.zeros((4, 4)), rng.normal(size=(2, 2))
    u[:, 1] = -np.abs(u[:, 1])
    for k in range(2):
        half = rng.normal(size=(2, 4))
        K[2 * k : 2 * k + 2, 2 * k : 2 * k + 2] = half @ half.T
    found = multiple_impact(K, u, friction=mu, restitution=e, law=law, order="sequential")
    for k in range(2):
        block = K[2 * k : 2 * k + 2, 2 * k : 2 * k + 2]
        alone = impact(block, u[k], friction=mu, restitution=e, law=law)
        assert_allclose(found.velocity[k], alone.velocity, atol=1e-9)


def test_a_joint_takes_the_impulse_on_and_saying_it_twice_changes_nothing():
    # Two particles of 1 kg on a light rod along x, one of them struck along x: both move, as 2 kg; along y one alone.
    M, J = np.eye(4), np.array([[0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]])
    rod = np.array([[-1.0, 0.0, 1.0, 0.0]])
    for joints in (rod, np.vstack([rod, rod, -2.0 * rod])):
        assert_allclose(inverse_mass_through_joints(M, J, joints), np.diag([1.0, 0.5]), atol=1e-15)


def test_places_that_carry_one_body_twice_over_share_the_impulse():
    # A block that lands flat on three contacts in a row: the impulses are not unique, the motion is.
    J = np.array([[row for at in (-1.0, 0.0, 1.0) for row in ([1.0, 0.0, 0.0], [0.0, 1.0, at])]]).reshape(6, 3)
    K = inverse_mass_through_joints(np.eye(3), J)
    found = multiple_impact(K, (J @ [0.0, -2.0, 0.0]).reshape(3, 2), friction=0.5, restitution=0.5)
    assert_allclose(found.velocity[:, 1], 1.0, atol=1e-12)
    assert math.isclose(found.impulse[:, 1].sum(), 3.0, rel_tol=1e-12)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"order": "random"}, "order: 'random' is not one of simultaneous, sequential, grouped"),
        ({"law": "stronge"}, "law: 'stronge' is not one of newton, poisson"),
        ({"restitution": [0.5, 2.0]}, "restitution"),
        ({"friction": -1.0}, "friction"),
        ({"velocity": [(0.0, math.nan), (0.0, 0.0)]}, "velocity"),
        ({"inverse_mass": np.eye(3)}, "inverse_mass: shape"),
        ({"inverse_mass": -np.eye(4)}, "inverse_mass: it is not symmetric"),
    ],
)
def test_what_it_cannot_take_is_named(change, words):
    right = {"inverse_mass": np.eye(4), "velocity": [(0.0, -1.0), (0.0, -1.0)], "friction": 0.0, "restitution": 0.5}
    with pytest.raises(ValueError, match=words):
        multiple_impact(**right | change)


def random_mechanism(seed: int) -> tuple[np.ndarray, np.ndarray, float, float]:
    """K of places of a mechanism that has fewer freedoms than they have directions, some of them twice."""
    rng = np.random.default_rng(seed)
    D, n = int(rng.choice([2, 3])), int(rng.integers(1, 6))
    freedoms = int(rng.integers(max(2, n), 3 * n + 4))
    J, half, rates = (
        rng.normal(size=(n * D, freedoms)),
        rng.normal(size=(freedoms, freedoms)),
        rng.normal(size=freedoms),
    )
    if rng.random() < 0.3:
        J[-D:] = J[:D]
    K = inverse_mass_through_joints(half @ half.T + 0.1 * np.eye(freedoms), J)
    mu, e = rng.choice([0.0, rng.uniform(0.0, 2.0)]), rng.choice([0.0, 1.0, rng.uniform()])
    return K, (J @ rates).reshape(n, D), float(mu), float(e)


@settings(max_examples=tries(60))
@given(seeds)
def test_poisson_s_law_has_an_answer_at_every_mechanism_and_newton_s_where_nothing_is_given_back(seed):
    K, u, mu, e = random_mechanism(seed)
    for law, given_back in (("poisson", e), ("newton", 0.0)):
        found = multiple_impact(K, u, friction=mu, restitution=given_back, law=law)
        scale = float(np.abs(found.impulse).max())
        assert (found.velocity[:, -1] >= -1e-9 * np.abs(u).max()).all()
        assert (np.linalg.norm(found.impulse[:, :-1], axis=1) <= mu * found.impulse[:, -1] + 1e-9 * scale).all()


@pytest.mark.parametrize(("seed", "words"), [(90, "2 contacts wedge"), (95, "3 contacts wedge")])
def test_newton_s_law_says_where_places_wedge_one_another(seed, words):
    """Of those of the test above by search, in space and in the plane, where every mode was tried and none is left."""
    K, u, mu, e = random_mechanism(seed)
    with pytest.raises(WedgedImpactError, match=words):
        multiple_impact(K, u, friction=mu, restitution=e)


@pytest.mark.parametrize("order", ["sequential", "grouped"])
@pytest.mark.parametrize("seed", [27, 42, 108, 117, 120, 155])
def test_a_sequence_without_end_is_summed_to_what_very_many_blows_come_to(seed, order, monkeypatch):
    K, u, mu, e = random_mechanism(seed)
    found = multiple_impact(K, u, friction=mu, restitution=e, order=order)
    assert found.uncertainty > 0.0
    monkeypatch.setattr(Repetition, "period", lambda self: 0)
    slowly = multiple_impact(K, u, friction=mu, restitution=e, order=order)
    assert len(found.impacts) < len(slowly.impacts)
    speed = float(np.abs(u).max())
    assert_allclose(found.velocity, slowly.velocity, rtol=0.0, atol=found.uncertainty + 1e-9 * speed)


def test_blows_that_come_again_as_strong_as_before_have_no_end():
    K, u, mu, e = random_mechanism(95)  # by search: friction and Newton's law make energy, pattern by pattern
    with pytest.raises(ImpactError, match="come again without end"):
        multiple_impact(K, u, friction=mu, restitution=e, order="sequential")


def test_an_integral_over_no_time_is_its_start():
    """A restitution of 1e-214 leaves a restitution phase without length."""
    span = solve_ivp(lambda t, y: -y, (1.0, 1.0), np.array([1.0]), method=Dop853, rtol=1e-9, atol=1e-9)
    assert span.y[:, -1] == pytest.approx([1.0], abs=0.0)

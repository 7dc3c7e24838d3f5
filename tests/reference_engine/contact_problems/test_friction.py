"""Contact forces with Coulomb friction: blocks, ladders, rods, stacks, and impacts of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference_engine.contact_problems.friction import friction_forces
from tests.effort import tries
from tests.reference_engine.contact_problems.contact_points import (
    G,
    box_inertia,
    jacobian,
    on_the_ground,
    problem,
    stack,
)

ROUND_OFF = 1e-13


def box_on_slope(slope: float, w: float, h: float, mass: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """On its two lower corners, heel first; x runs down the slope, so sliding down is against the tangent."""
    return stack(np.array([mass]), w, h, slope)


@given(angle=st.floats(0.05, 1.2), ratio=st.floats(0.3, 1.7))
@settings(max_examples=tries(50))
def test_a_block_on_an_incline_rests_below_the_angle_of_friction_and_slides_above(angle, ratio):
    """a = g (sin beta - mu cos beta) down the slope, or 0. So wide that it does not tip. ratio = tan beta / mu."""
    mu = np.tan(angle) / ratio
    solution = friction_forces(*box_on_slope(angle, w=100.0, h=0.5), "sticking", mu)
    normal, friction = solution.force.sum(axis=0)
    assert normal == pytest.approx(G * np.cos(angle), rel=1e-12)
    assert friction == pytest.approx(min(G * np.sin(angle), mu * normal), rel=1e-12)
    assert (np.abs(solution.force[:, 1]) <= mu * solution.force[:, 0] * (1.0 + 1e-9)).all()
    down = G * (np.sin(angle) - mu * np.cos(angle))
    assert -solution.acceleration[:, 1] == pytest.approx(max(0.0, down), abs=ROUND_OFF * G)


@pytest.mark.parametrize("angle", [0.1, 0.3, 0.5, 0.8])
def test_exactly_at_the_angle_of_friction_a_block_rests_if_it_rests_and_keeps_its_speed_if_it_slides(angle):
    A, b = box_on_slope(angle, w=10.0, h=0.5)
    for kind in ("sticking", "sliding-"):
        solution = friction_forces(A, b, kind, np.tan(angle))
        assert solution.acceleration == pytest.approx(0.0, abs=ROUND_OFF * G)
        assert solution.force.sum(axis=0) == pytest.approx([G * np.cos(angle), G * np.sin(angle)], rel=1e-12)


def test_static_friction_holds_a_block_that_kinetic_friction_would_let_go():
    """mu < tan beta < mu_s: it stays if it rests, by both corners together; it slides on if it slides."""
    A, b = box_on_slope(0.3, w=1.0, h=0.5)
    resting = friction_forces(A, b, "sticking", 0.2, 0.32)
    assert resting.acceleration == pytest.approx(0.0, abs=ROUND_OFF * G)
    assert resting.force[:, 1].sum() == pytest.approx(G * np.sin(0.3), rel=1e-12)
    assert set(resting.mode) <= {"sticks", "full-"}
    sliding = friction_forces(A, b, "sliding-", 0.2, 0.32)
    assert sliding.acceleration[:, 1] == pytest.approx(-G * (np.sin(0.3) - 0.2 * np.cos(0.3)), rel=1e-12)
    beyond = friction_forces(A, b, "sticking", 0.2, 0.3)  # tan 0.3 = 0.309
    assert beyond.mode == ("slips-", "slips-")
    assert beyond.acceleration[:, 1] == pytest.approx(-G * (np.sin(0.3) - 0.2 * np.cos(0.3)), rel=1e-12)


@pytest.mark.parametrize(
    ("mu", "modes", "toe", "spin", "normal"),
    [
        (0.33, ("slips-", "slips-"), G * (np.sin(0.4) - 0.33 * np.cos(0.4)), 0.0, G * np.cos(0.4)),
        (0.35, ("open", "slips-"), 0.1967773911326537, 0.2751961934365981, 9.173206447886602),
        (0.36, ("open", "sticks"), 0.0, 0.3637460194462922, 0.9396005464721151 * G),
    ],
)
def test_a_tall_block_on_an_incline_slides_tips_or_does_both(mu, modes, toe, spin, normal):
    """1 x 3 at 0.4 rad: it slides upright below mu = w / h, tips about its toe from 0.35526 on, between does both."""
    A, b = box_on_slope(0.4, w=1.0, h=3.0)
    solution = friction_forces(A, b, "sticking", mu)
    heel_rises, along = solution.acceleration[0, 0], -solution.acceleration[1, 1]
    assert solution.mode == modes
    assert solution.force[:, 0].sum() == pytest.approx(normal, rel=1e-12)
    assert heel_rises == pytest.approx(1.0 * spin, abs=ROUND_OFF * G)  # turns about the toe, 1 m away
    assert along == pytest.approx(toe, abs=ROUND_OFF * G)


@pytest.mark.parametrize(
    ("arm", "modes"),
    [(-0.9, ("slips-", "slips-")), (0.3, ("open", "slips-")), (0.6, ("open", "sticks"))],
)
def test_a_box_pushed_low_slides_pushed_high_tips_and_between_does_both(arm, modes):
    """7 N at a height `arm` above the centre. Upright, N_front - N_rear = (P arm + mu m g h / 2) / (w / 2) < m g."""
    w, h, mu, push = 1.0, 2.0, 0.3, 7.0
    inertia = box_inertia(np.ones(1), w, h)
    J = on_the_ground((-w / 2, -h / 2), (w / 2, -h / 2))
    A, b = problem(J, np.ones(1), inertia, np.array([push, -G, -push * arm / inertia[0]]))
    solution = friction_forces(A, b, "sticking", mu)
    assert solution.mode == modes
    difference = (push * arm + mu * G * h / 2) / (w / 2)
    assert (difference < G) == (modes[0] != "open")
    if modes[0] != "open":
        assert solution.force[1, 0] - solution.force[0, 0] == pytest.approx(difference, rel=1e-12)
        assert solution.acceleration[:, 1] == pytest.approx(-(push - mu * G), rel=1e-12)


def ladder(angle: float, length: float = 2.0) -> tuple[np.ndarray, np.ndarray]:
    """Foot on the floor, then top at the wall; angle from the vertical; 1 kg; from rest."""
    x, y = 0.5 * length * np.sin(angle), 0.5 * length * np.cos(angle)
    J = jacobian(1, [(-1, 0, (0, 0), (x, -y), (0.0, 1.0)), (-1, 0, (0, 0), (-x, y), (1.0, 0.0))])
    return problem(J, np.ones(1), np.array([length**2 / 12.0]), np.array([0.0, -G, 0.0]))


def test_a_ladder_stays_up_to_its_limiting_angle():
    """tan theta_max = 2 mu_f / (1 - mu_f mu_w), from the vertical."""
    limit = 0.5681047324744272
    for mu_wall, angle in ((0.2, limit), (0.0, 0.5404195002705842)):
        for side in (-1e-6, 1e-6):
            solution = friction_forces(*ladder(angle + side), "sticking", [0.3, mu_wall])
            assert (np.abs(solution.acceleration).max() > 1e-9) == (side > 0.0)


def test_a_ladder_that_slides_falls_with_both_frictions_against_it():
    """At 0.8 rad, from rest: its normal forces, and the angular acceleration by their moments about its centre."""
    solution = friction_forces(*ladder(0.8), "sticking", [0.3, 0.2])
    (floor, at_floor), (wall, at_wall) = solution.force
    assert (floor, wall) == pytest.approx((7.551985502791338, 3.733421587729569), rel=1e-12)
    assert (at_floor, at_wall) == pytest.approx((0.3 * floor, 0.2 * wall), rel=1e-12)
    moment = (floor - at_wall) * np.sin(0.8) - (at_floor + wall) * np.cos(0.8)  # arms of 1 m
    assert 3.0 * moment == pytest.approx(2.1068060881279047, rel=1e-12)  # I = 1/3 kg m2


def test_a_plank_at_a_smooth_wall_presses_with_half_its_weight_times_the_tangent():
    solution = friction_forces(*ladder(0.4), ["sticking", "smooth"], 0.9)
    assert solution.force == pytest.approx(np.array([[G, G / 2 * np.tan(0.4)], [G / 2 * np.tan(0.4), 0.0]]), rel=1e-12)
    assert solution.mode == ("sticks", "held")


def rod(angle: float, spin: float, half: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    """A uniform rod of 1 kg whose lower end slides on the floor; angle from the floor."""
    J = on_the_ground((-half * np.cos(angle), -half * np.sin(angle)))
    A, b = problem(J, np.ones(1), np.array([half**2 / 3.0]), np.array([0.0, -G, 0.0]))
    return A, b + spin**2 * half * np.array([np.sin(angle), -np.cos(angle)])  # the end's centripetal acceleration


def test_painleves_rod_has_no_forces_where_p_and_b_are_negative():
    """m p = 1 + 3 cos (cos - mu sin), b = l omega^2 sin - g; Genot & Brogliato 1999. It slides towards its lean."""
    A, b = rod(1.1, 2.0)
    solution = friction_forces(A, b, "sliding+", 1.4)
    assert b[0] == pytest.approx(-8.027585279877129, rel=1e-13)
    assert solution.p == pytest.approx([-0.08059412390415795], rel=1e-12)
    assert solution.outcome == "none" and solution.contact == 0 and solution.painleve == (0,)
    assert np.isnan(solution.force).all() and solution.mode == ()


def test_painleves_rod_may_press_or_lift_off_where_only_p_is_negative():
    """b > 0: lift-off is taken, or the solution that was guessed, and the contact is named."""
    A, b = rod(1.1, 6.0)
    free = friction_forces(A, b, "sliding+", 1.4)
    assert free.mode == ("open",) and free.indeterminate == (0,) and free.acceleration[0] == pytest.approx(b)
    pressing = friction_forces(A, b, "sliding+", 1.4, guess=["slips+"])
    assert pressing.mode == ("slips+",) and pressing.indeterminate == (0,)
    assert pressing.force[0] == pytest.approx(-b[0] / free.p[0] * np.array([1.0, -1.4]), rel=1e-12)


@pytest.mark.parametrize(("kind", "mu"), [("sliding-", 1.4), ("sliding+", 1.3), ("smooth", 0.0)])
def test_the_rod_is_no_riddle_when_it_slides_away_or_on_less_friction(kind, mu):
    """Away from its lean p = 3.315 at mu = 1.4; below mu = 4/3 it is positive at any angle."""
    for spin in (2.0, 6.0):
        solution = friction_forces(*rod(1.1, spin), kind, mu)
        assert solution.outcome == "solved" and solution.painleve == () and solution.p[0] > 0.0
        assert (solution.mode == ("open",)) == (spin == 6.0)
    away = 1.0 + 3.0 * np.cos(1.1) * (np.cos(1.1) + 1.4 * np.sin(1.1))
    assert friction_forces(*rod(1.1, 2.0), "sliding-", 1.4).p[0] == pytest.approx(away, rel=1e-12)


def test_a_box_that_lands_flat_loses_mu_times_its_falling_speed():
    """The impulse of the landing has friction too: v after = v - mu v_n, v = 4 m/s, from 1 m, mu = 0.3."""
    J = on_the_ground((-0.5, -0.25), (0.5, -0.25))
    fall = np.sqrt(2.0 * G)
    A, b = problem(J, np.ones(1), box_inertia(np.ones(1), 1.0, 0.5), np.array([4.0, -fall, 0.0]))
    solution = friction_forces(A, b, "sticking", 0.3)
    assert -solution.acceleration[:, 1] == pytest.approx(2.671165924578994, rel=1e-13)
    assert solution.force[:, 0].sum() == pytest.approx(fall, rel=1e-13)


@pytest.mark.parametrize(("speed", "after", "mode"), [(5.0, 3.2, "parts, slips-"), (1.0, 0.0, "parts, sticks")])
def test_friction_counts_a_normal_impulse_that_is_there_already(speed, after, mode):
    """A puck of 1 kg that parts again after a normal impulse of 6 N s: mu times that is what friction can take."""
    A, b = problem(on_the_ground((0.0, 0.0)), np.ones(1), np.ones(1), np.array([speed, 2.0, 0.0]))
    solution = friction_forces(A, b, "sticking", 0.3, base=6.0)
    assert solution.mode == (mode,) and solution.force[0, 0] == 0.0
    assert solution.acceleration[0] == pytest.approx([2.0, -after], abs=1e-14)


@pytest.mark.parametrize("mass", [np.where(np.arange(20) % 2, 1000.0, 1.0), np.r_[np.ones(19), 1000.0]])
def test_twenty_boxes_carry_the_weights_above_them_at_a_mass_ratio_of_a_thousand(mass):
    """The corners of a face are two contacts for one weight; friction has nothing to do."""
    A, b = stack(mass)
    solution = friction_forces(A, b, "sticking", 0.5)
    carried = solution.force[:, 0].reshape(-1, 2).sum(axis=1)
    assert carried == pytest.approx(G * np.cumsum(mass[::-1])[::-1], rel=1e-10)
    assert np.abs(solution.force[:, 1]).max() <= 1e-10 * carried[0]
    assert set(solution.mode) == {"sticks"}


@pytest.mark.parametrize(("mu", "slides"), [(0.25, False), (0.15, True)])
def test_a_pile_of_tiles_on_a_slope_stays_or_goes_as_one(mu, slides):
    """tan 0.2 = 0.203: each face gets the same ratio of friction to weight as the lowest."""
    mass = np.where(np.arange(10) % 2, 1000.0, 1.0)
    solution = friction_forces(*stack(mass, w=20.0, slope=0.2), "sticking", mu)
    down = G * np.sin(0.2) - (mu * G * np.cos(0.2) if slides else G * np.sin(0.2))
    lowest = solution.acceleration[:2, 1]
    assert -lowest == pytest.approx(down, abs=1e-9)
    assert solution.acceleration[2:] == pytest.approx(0.0, abs=1e-9)


def test_a_hinged_bar_rests_on_a_rough_prop():
    """Joints are two rows of their own, of either sign; the bar's free end carries half of its weight."""
    J = jacobian(
        1,
        [
            (-1, 0, (0, 0), (-1.0, 0.0), (1.0, 0.0)),
            (-1, 0, (0, 0), (-1.0, 0.0), (0.0, 1.0)),
            (-1, 0, (0, 0), (1.0, 0.0), (0.0, 1.0)),
        ],
    )
    A, b = problem(J, np.ones(1), np.ones(1) / 3.0, np.array([0.0, -G, 0.0]))
    solution = friction_forces(A, b, ["joint", "joint", "sticking"], 0.4)
    assert solution.force[:, 0] == pytest.approx([solution.force[2, 1], G / 2, G / 2], abs=1e-12)
    assert solution.mode[:2] == ("held", "held") and solution.acceleration == pytest.approx(0.0, abs=1e-12)


@given(
    mass=st.floats(1e-6, 1e6), length=st.floats(1e-3, 1e3), time=st.floats(1e-3, 1e3), mu=st.floats(0.1, 0.6)
)  # fmt: skip
@settings(max_examples=tries(30))
def test_units_do_not_matter(mass, length, time, mu):
    """Kilograms or grams, metres or inches: the same modes, forces in the other units. No scale is hidden inside."""
    A, b = box_on_slope(0.4, w=1.0, h=3.0)
    one = friction_forces(A, b, "sticking", mu)
    other = friction_forces(A / mass, b * length / time**2, "sticking", mu)
    assert other.mode == one.mode
    assert other.force == pytest.approx(
        one.force * mass * length / time**2, rel=1e-9, abs=1e-12 * mass * length / time**2
    )

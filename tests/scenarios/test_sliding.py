"""Blocks and balls that slide: Coulomb friction in closed form."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from scenarios.catalogue.incline_slide import acceleration, incline_slide
from scenarios.catalogue.slide_to_roll import FILLING, begins_to_roll, slide_to_roll
from scenarios.catalogue.thrown_box import throw, thrown_box

G = 9.81

# --- on an incline ---------------------------------------------------------------------------------


def test_the_distance_slid_is_half_a_t_squared():
    assert 0.5 * acceleration(0.5, 0.3) * 1.5**2 == pytest.approx(2.385493935821848, rel=1e-14)


@given(slope=st.floats(0.01, 1.2), friction=st.floats(0.0, 2.0))
def test_it_slides_if_and_only_if_the_slope_is_above_the_friction_angle(slope, friction):
    if abs(math.tan(slope) - friction) > 1e-9:
        assert (acceleration(slope, friction) > 0.0) == (math.tan(slope) > friction)


@pytest.mark.parametrize(("relation", "moves"), [("below", False), ("at", False), ("above", True)])
def test_the_goal_is_nought_up_to_the_friction_angle(relation, moves):
    scenario = incline_slide(relation=relation)
    slope = -scenario.scene.bodies[0].angle
    assert slope == pytest.approx({"below": 0.49, "at": 0.5, "above": 0.51}[relation], rel=1e-15)
    expected = 4.5 * G * (math.sin(0.51) - math.tan(0.5) * math.cos(0.51)) if moves else 0.0
    assert scenario.truth.goal.value == pytest.approx(expected, rel=1e-13, abs=0.0)
    assert ("rest" in scenario.truth.invariants) is not moves


@given(angle=st.floats(0.05, 0.75))
def test_at_the_friction_angle_nothing_moves_whatever_tan_rounds_to(angle):
    assert incline_slide(relation="at", friction_angle=angle).truth.goal.value == 0.0


def test_friction_does_the_work_that_the_block_loses():
    """m g times the height lost, less mu N times the distance, is the kinetic energy: an independent balance."""
    scenario = incline_slide(relation="above")
    time = np.array([0.0, 3.0 - 1e-6, 3.0 + 1e-6])
    start, before, after = scenario.truth.pose(time)[:, 0]
    speed = math.dist(before[:2], after[:2]) / 2e-6
    fallen, slid = start[1] - before[1], math.dist(start[:2], before[:2])
    work = G * fallen - math.tan(0.5) * G * math.cos(0.51) * slid
    assert 0.5 * speed**2 == pytest.approx(work, rel=1e-5)


def test_gravity_that_leans_is_the_same_incline_turned_level():
    """The exact motion seen in axes turned by the slope; gravity has its full strength in both."""
    steep, level = (incline_slide(relation="above", tilted=tilted) for tilted in ("ground", "gravity"))
    assert math.hypot(*level.scene.gravity) == pytest.approx(9.81, rel=1e-15)
    assert level.scene.boundaries[0].normal == (0.0, 1.0) and level.scene.bodies[0].angle == 0.0
    time = np.linspace(0.0, 3.0, 7)
    a, b = steep.truth.pose(time)[:, 0], level.truth.pose(time)[:, 0]
    s, c = math.sin(0.51), math.cos(0.51)
    turned = np.stack([c * a[:, 0] - s * a[:, 1], s * a[:, 0] + c * a[:, 1]], axis=1)
    assert turned == pytest.approx(b[:, :2], abs=1e-14)
    assert steep.truth.goal.value == level.truth.goal.value


# --- thrown ----------------------------------------------------------------------------------------


def test_a_box_thrown_along_the_ground_stops_after_v_squared_over_two_mu_g():
    exact = throw(5.0, 0.0, 0.5)
    assert exact.stop_x == pytest.approx(25.0 / G, rel=1e-15)
    assert exact.stop_time == pytest.approx(5.0 / (0.5 * G), rel=1e-15)


def test_the_landing_takes_mu_times_the_normal_speed_off_the_slide():
    exact = throw(4.0, 1.0, 0.3)
    assert exact == pytest.approx(
        (0.4515236409857309, 1.806094563942924, 2.671165924578994, 1.359157322460075, 3.01831464492015), rel=1e-14
    )
    naive = exact.landing_x + 4.0**2 / (2.0 * 0.3 * G)
    assert naive - exact.stop_x > 1.0  # without the impulse it would slide more than a metre too far


def test_a_hard_landing_on_rough_ground_stops_it_at_once():
    exact = throw(1.0, 5.0, 1.0)
    assert exact.sliding_speed == 0.0 and exact.stop_time == exact.landing_time


def test_the_thrown_box_stops_in_the_first_half_of_its_time():
    """Metrics of rest look at the last half."""
    for scenario in (thrown_box(), thrown_box(height=1.0, speed=4.0, friction=0.3), thrown_box(speed=20.0)):
        half, end = scenario.truth.pose(np.array([0.5, 1.0]) * scenario.scene.duration)[:, 0]
        assert half.tolist() == end.tolist()


def still(speed: float, *, x: float):
    """A motion of a single body that ends at x with this speed."""

    class Motion:
        time = np.array([0.0, 1.0])
        position = np.array([[[0.0, 0.5]], [[x, 0.5]]])
        velocity = np.array([[[5.0, 0.0]], [[speed, 0.0]]])

    return Motion


def test_a_box_that_still_moves_has_no_stop_distance():
    goal = thrown_box().truth.goal
    assert goal.measure(still(0.0, x=2.5)) == 2.5
    assert math.isnan(goal.measure(still(0.2, x=2.5)))


# --- from sliding to rolling -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("k", "speed", "time", "x"),
    [
        (FILLING["planar", False], 3.333333333333333, 0.8494733265375467, 3.539472193906445),
        (FILLING["planar", True], 2.5, 1.27420998980632, 4.7782874617737),
        (FILLING["spatial", False], 3.571428571428571, 0.72811999417504, 3.120514260750172),
    ],
)
def test_disc_hoop_and_ball_begin_to_roll(k, speed, time, x):
    assert begins_to_roll(5.0, 0.0, 0.5, k, 0.2) == pytest.approx((time, x, speed), rel=1e-14)


def test_backspin_can_turn_it_back():
    """Counter-clockwise spin is backspin to one that moves right."""
    exact = begins_to_roll(1.0, 10.0, 0.3, 0.5, 0.2)
    assert exact == pytest.approx((0.6795786612300374, 0.2265262204100125, -1.0 / 3.0), rel=1e-14)
    pose = slide_to_roll(speed=1.0, spin=10.0, radius=0.3).truth.pose(np.array([0.0, exact.time]))
    assert pose[1, 0, 0] - pose[0, 0, 0] == pytest.approx(exact.x, rel=1e-14)


throws = st.fixed_dictionaries(
    {
        "speed": st.floats(-20.0, 20.0),
        "spin": st.floats(-50.0, 50.0),
        "friction": st.floats(0.05, 1.0),
        "radius": st.floats(0.1, 2.0),
        "hollow": st.booleans(),
        "space": st.sampled_from(["planar", "spatial"]),
    }
).filter(lambda t: abs(t["speed"] + t["radius"] * t["spin"]) > 1e-3)


@given(given=throws)
def test_angular_momentum_about_a_point_of_the_ground_is_kept_and_it_ends_up_rolling(given):
    """m v r - I w about the ground, whatever friction does: m r v (1 + k) when v = -w r."""
    scenario = slide_to_roll(**given)
    k, r = FILLING[given["space"], given["hollow"]], given["radius"]
    v = scenario.truth.goal.value
    assert v * (1.0 + k) == pytest.approx(given["speed"] - k * r * given["spin"], rel=1e-12, abs=1e-12)


def test_an_integration_of_the_sliding_finds_the_same_motion():
    scenario = slide_to_roll(speed=3.0, spin=-2.0, friction=0.3, radius=0.4)
    k, mu, r = 0.5, 0.3, 0.4

    def slide(t, state):
        _, _, v, w = state
        return v, w, -mu * G, -mu * G / (k * r)  # the slip at the start, 2.2 m/s, is to the right

    def rolls(t, state):
        return state[2] + r * state[3]

    rolls.terminal = True
    sliding = solve_ivp(slide, (0.0, 5.0), (0.0, 0.0, 3.0, -2.0), method="DOP853", events=rolls, max_step=0.01)
    time, (x, angle, v, w) = float(sliding.t_events[0][0]), sliding.y_events[0][0]
    pose = scenario.truth.pose(np.array([time, time + 0.5]))[:, 0]
    assert pose[0, [0, 2]] == pytest.approx([x, angle], abs=1e-9)
    assert pose[1, [0, 2]] == pytest.approx([x + 0.5 * v, angle + 0.5 * w], abs=1e-9)


def test_a_ball_that_still_slips_does_not_roll_yet():
    goal = slide_to_roll().truth.goal
    rolling = still(10.0 / 3.0, x=5.0)
    rolling.spin = np.array([[0.0], [-20.0 / 3.0]])
    assert goal.measure(rolling) == pytest.approx(10.0 / 3.0)
    rolling.spin = np.array([[0.0], [-1.0]])
    assert math.isnan(goal.measure(rolling))

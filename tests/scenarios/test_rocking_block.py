"""Housner's block: amplitudes, quarter periods and the loss at an impact, by three ways."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from pytest import approx
from scipy.integrate import solve_ivp
from scipy.special import ellipk, ellipkinc

from scenarios.catalogue.rocking_block import DURATION, FRICTION, HEIGHT, WIDTH, Rocking, rocking_block


def test_the_block_of_housner_has_these_figures():
    rocking = Rocking(0.1)
    assert rocking.p == approx(2.157148946396092, rel=1e-15)
    assert rocking.r == approx(0.85, rel=1e-15)
    quarter = rocking.quarter(0)
    tilt = rocking.tilt_at(quarter - 1e-4 * np.array([2.0, 1.0, 0.0]))
    speed = -(np.array([0.5, -2.0, 1.5]) @ tilt) / 1e-4  # just before the impact, by the parabola through three
    assert speed == approx(0.499701431288029, rel=1e-7)
    amplitudes = (0.1, 0.06836164807874889, 0.04772392089174378, 0.03371040480565836, 0.0239848769361875)
    assert [rocking.amplitude(n) for n in range(5)] == approx(amplitudes, rel=3e-15)
    quarters = (0.4272317084297939, 0.3352624515903942, 0.2715720703511709, 0.2237560787764285, 0.1862515710329001)
    assert [rocking.quarter(n) for n in range(5)] == approx(quarters, rel=3e-15)


def test_the_quarters_sum_to_the_time_of_infinitely_many_impacts():
    rocking = Rocking(0.1)
    quarters = [rocking.quarter(n) for n in range(400)]
    assert quarters[0] + 2.0 * math.fsum(quarters[1:]) == approx(4.497225552550125, rel=1e-13)


@pytest.mark.parametrize("tilt", [0.02, 0.1, 0.29])
def test_a_quarter_is_a_difference_of_elliptic_integrals(tilt):
    """tq = (K(m) - F(asin(sin((pi - alpha)/2) / k) | m)) / p,  k = cos(phi_0 / 2), m = k^2."""
    rocking = Rocking(tilt)
    k = math.cos((rocking.alpha - tilt) / 2.0)
    passed = ellipkinc(math.asin(math.sin((math.pi - rocking.alpha) / 2.0) / k), k * k)
    assert rocking.quarter(0) == approx((ellipk(k * k) - passed) / rocking.p, rel=1e-12)


def test_the_motion_turns_over_at_each_amplitude_and_strikes_at_each_quarter():
    rocking = Rocking(0.1)
    time, impacts = 0.0, []
    for n in range(4):
        assert rocking.tilt_at(np.array([time]))[0] == approx((-1) ** n * rocking.amplitude(n), rel=1e-13)
        impacts.append(time + rocking.quarter(n))
        time = impacts[-1] + rocking.quarter(n + 1)
    assert rocking.tilt_at(np.array(impacts)) == approx(np.zeros(4), abs=1e-14)


def test_the_swing_obeys_the_equation_of_a_body_about_its_corner():
    """Integrated apart, in Cartesian form: the corner's reaction found from the constraint, not from Housner."""
    rocking = Rocking(0.2)
    inertia = (WIDTH**2 + HEIGHT**2) / 12.0 + rocking.R**2

    def rate(t, y):
        arm_x = 0.5 * WIDTH * math.cos(y[0]) - 0.5 * HEIGHT * math.sin(y[0])  # of the weight about the corner
        return [y[1], -9.81 * arm_x / inertia]

    end = rocking.quarter(0)
    time = np.linspace(0.0, end, 20)
    apart = solve_ivp(rate, (0.0, end), [0.2, 0.0], method="DOP853", rtol=1e-13, atol=1e-15, t_eval=time)
    assert rocking.tilt_at(time) == approx(apart.y[0], abs=1e-12)


def test_the_impact_solves_the_equations_of_a_body_struck_at_one_corner():
    """Impulse at the new corner alone, which stops it; the old corner lifts off, so nothing holds it."""
    omega = 0.7
    arm = np.array([WIDTH / 2.0, -HEIGHT / 2.0])  # centre to the new corner, lower right
    inertia = (WIDTH**2 + HEIGHT**2) / 12.0
    spin = -omega  # it turns clockwise, back onto its base
    velocity = spin * np.array([-HEIGHT / 2.0, WIDTH / 2.0])  # about the old corner, lower left
    across = np.array([-arm[1], arm[0]])
    K = np.eye(2) + np.outer(across, across) / inertia
    impulse = np.linalg.solve(K, -(velocity + spin * across))
    after = spin + (arm[0] * impulse[1] - arm[1] * impulse[0]) / inertia
    assert after / spin == approx(Rocking(0.1).r, rel=1e-14)
    assert impulse[1] > 0 and abs(impulse[0]) / impulse[1] == approx(0.2432432432432432, rel=1e-13)
    old_arm = np.array([-WIDTH / 2.0, -HEIGHT / 2.0])
    assert velocity[1] + impulse[1] + after * old_arm[0] > 0  # lifts


@pytest.mark.parametrize("tilt", [0.02, 0.1, 0.3])
def test_the_corner_neither_slides_nor_lifts(tilt):
    """Reaction by differences of the exact motion: below the friction of the scene, and upwards."""
    rocking = Rocking(tilt)
    time = np.linspace(0.01, rocking.quarter(0) - 0.01, 60)
    h = 1e-4
    pose = [rocking.pose(time + d)[:, 0] for d in (-h, 0.0, h)]
    force = (pose[0] - 2.0 * pose[1] + pose[2])[:, :2] / h**2 + np.array([0.0, 9.81])
    assert np.all(force[:, 1] > 0.85 * 9.81)
    assert np.max(np.abs(force[:, 0]) / force[:, 1]) < 0.2433 < FRICTION


@pytest.mark.parametrize("space", ["planar", "spatial"])
def test_the_goal_reads_the_first_impact_off_the_exact_motion(space):
    scenario = rocking_block(space=space)
    time = np.arange(0.0, DURATION, 1.0 / 240.0)
    pose = scenario.truth.pose(time)
    motion = SimpleNamespace(time=time, position=pose[..., : 2 if space == "planar" else 3], angle=pose[..., 2])
    assert scenario.truth.goal.measure(motion) == approx(scenario.truth.goal.value, abs=2e-7)
    still = SimpleNamespace(
        time=time,
        position=np.repeat(motion.position[:1], len(time), 0),
        angle=np.repeat(motion.angle[:1], len(time), 0),
    )
    assert math.isnan(scenario.truth.goal.measure(still))


def test_the_scene_starts_at_the_exact_pose_with_its_corner_on_the_ground():
    scenario = rocking_block(tilt=0.25)
    body = scenario.scene.bodies[0]
    start = scenario.truth.pose(np.zeros(1))[0, 0]
    assert start == approx([*body.position, body.angle], abs=1e-14)
    corner = body.position[1] + math.sin(0.25) * -WIDTH / 2.0 - math.cos(0.25) * HEIGHT / 2.0
    assert corner == approx(0.0, abs=1e-15)

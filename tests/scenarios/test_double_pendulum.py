"""The double pendulum of slender rods: digits, energy, and a second derivation in Cartesian coordinates."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from pytest import approx

from scenarios.catalogue.double_pendulum import DURATION, SPANS, STARTS, double_pendulum, motion, poses

LEVEL = math.pi / 2.0


def energy(state):
    """J, of states (4, N)."""
    theta_1, theta_2, omega_1, omega_2 = state
    kinetic = (4.0 * omega_1**2 + omega_2**2 + 3.0 * np.cos(theta_1 - theta_2) * omega_1 * omega_2) / 6.0
    return kinetic - 0.5 * 9.81 * (3.0 * np.cos(theta_1) + np.cos(theta_2))


def test_ten_seconds_from_one_and_a_half_radian():
    """Integrated with 30 digits; E_0 = -12.25509089692195 J."""
    state = motion(1.0, 0.5, 10.0).at(10.0)
    digits = (0.491409914355631286, 1.34373875471808505, -1.51717553920669931, -0.495422475021822476)
    assert state == approx(digits, abs=1e-13)
    assert energy(np.array([[1.0], [0.5], [0.0], [0.0]]))[0] == approx(-12.25509089692195, rel=1e-15)


def test_ten_seconds_from_level_though_errors_grow_a_million_times():
    digits = (-0.744407088509041121, -14.3457197347139672, -4.03517132049337087, 4.89681407817359819)
    assert motion(LEVEL, LEVEL, 10.0).at(10.0) == approx(digits, abs=1e-8)


@pytest.mark.parametrize("start", STARTS)
def test_energy_stays_along_the_exact_motion(start):
    state = motion(*STARTS[start], SPANS[start])(np.linspace(0.0, SPANS[start], 200))
    assert np.ptp(energy(state)) < 2e-12


def test_hinge_forces_explain_the_exact_motion():
    """Newton and Euler for each rod, forces at hinge and elbow from the accelerations of the centres."""
    h, time = 1e-4, np.linspace(0.1, 2.9, 20)
    before, now, after = (poses(motion(LEVEL, LEVEL, 3.0)(time + d)[:2]) for d in (-h, 0.0, h))
    acceleration = (before - 2.0 * now + after) / h**2
    weight = np.array([0.0, -9.81])
    elbow = acceleration[:, 1, :2] - weight  # on the lower rod
    hinge = acceleration[:, 0, :2] - weight + elbow  # on the upper rod

    def up_the_rod(theta):
        return 0.5 * np.stack([-np.sin(theta), np.cos(theta)], axis=-1)

    def cross(a, b):
        return a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]

    upper, lower = up_the_rod(now[:, 0, 2]), up_the_rod(now[:, 1, 2])
    assert acceleration[:, 0, 2] / 12.0 == approx(cross(upper, hinge) + cross(-upper, -elbow), abs=1e-4)
    assert acceleration[:, 1, 2] / 12.0 == approx(cross(lower, elbow), abs=1e-4)


@pytest.mark.parametrize("start", STARTS)
def test_the_scene_starts_at_the_exact_pose_with_its_joints_closed(start):
    scenario = double_pendulum(start=start)
    exact = scenario.truth.pose(np.zeros(1))[0]
    placed = {body.name: (np.array(body.position), body.angle) for body in scenario.scene.bodies}
    assert [[*position, angle] for position, angle in placed.values()] == [approx(row) for row in exact]

    def anchor(name, point):
        if name is None:
            return np.array(point)
        position, angle = placed[name]
        c, s = math.cos(angle), math.sin(angle)
        return position + np.array([[c, -s], [s, c]]) @ np.array(point)

    for joint in scenario.scene.joints:
        assert anchor(joint.a, joint.anchor_a) == approx(anchor(joint.b, joint.anchor_b), abs=1e-15)


@pytest.mark.parametrize(("offset", "start", "error"), [(0.0, "level", 1e-12), (0.003, "mild", 1e-7)])
def test_the_goal_reads_the_lower_rod_off_the_samples_of_a_trajectory(offset, start, error):
    """Every 5 steps of 1/240 s, so that 2 s is a sample; shifted, it is not."""
    scenario = double_pendulum(start=start)
    time = np.arange(0.0, 2.9, 5.0 / 240.0) + offset
    pose = scenario.truth.pose(time)
    found = scenario.truth.goal.measure(SimpleNamespace(time=time, position=pose[..., :2]))
    assert found == approx(scenario.truth.goal.value, abs=error)


def test_the_truth_of_the_chaotic_start_ends_before_errors_have_grown():
    assert double_pendulum(start="level").truth.span == (0.0, 3.0)
    assert double_pendulum().truth.span == (0.0, DURATION)

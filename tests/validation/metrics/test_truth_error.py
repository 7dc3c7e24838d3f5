"""Errors against the truth, over the time in which it holds."""

from __future__ import annotations

import math

import numpy as np
import pytest

from scenarios.truth import Goal
from tests.validation.metrics.motions import (
    G,
    ball,
    box,
    columns,
    disc,
    measured,
    planar,
    plane,
    space,
    spatial,
    times,
    truth,
    values,
)

FLIGHT = plane(disc())


def flying(t: np.ndarray, off: float = 0.0, turn: float = 0.0):
    return planar(t, columns(t, -0.5 * G * t**2 + off * t, turn * t), columns(1.0, -G * t + off, turn))


def parabola(t: np.ndarray) -> np.ndarray:
    return columns(t, -0.5 * G * t**2, 0.0)[:, None]


def test_the_exact_motion_has_no_error_and_one_that_strays_has_its_largest_distance():
    t = times(1.0)
    assert values(FLIGHT, flying(t), truth(pose=parabola))["truth_error_position"] == 0.0
    assert values(FLIGHT, flying(t, off=0.03), truth(pose=parabola))["truth_error_position"] == pytest.approx(0.03)


def test_only_the_span_in_which_the_truth_holds_is_compared():
    found = values(FLIGHT, flying(times(1.0), off=0.03), truth(pose=parabola, span=(0.0, 0.5)))
    assert found["truth_error_position"] == pytest.approx(0.015)


def test_a_motion_that_ends_before_the_truth_begins_has_no_error_to_speak_of():
    found = values(FLIGHT, flying(times(1.0)), truth(pose=parabola, span=(2.0, 3.0)))
    assert math.isnan(found["truth_error_position"])
    assert math.isnan(found["truth_error_angle"])


def test_what_the_truth_does_not_know_is_not_compared():
    def heights(t):
        return columns(np.nan * t, -0.5 * G * t**2, np.nan)[:, None]

    found = values(FLIGHT, flying(times(1.0), off=0.02, turn=3.0), truth(pose=heights))
    assert found["truth_error_position"] == pytest.approx(0.02)
    assert "truth_error_angle" not in found


def test_a_turn_too_many_counts_in_the_plane():
    found = values(FLIGHT, flying(times(1.0), turn=2.0 * math.pi), truth(pose=parabola))
    assert found["truth_error_angle"] == pytest.approx(2.0 * math.pi)


@pytest.mark.parametrize("angle", [1e-12, 1e-6, 0.3, 3.0])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_in_space_the_error_is_the_angle_of_the_rotation_between_whatever_the_sign_of_the_quaternion(angle, sign):
    t = times(0.1)
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    half = angle / 2.0
    q0 = np.array([0.5, 0.5, -0.5, 0.5])
    turn = np.array([math.cos(half), *(math.sin(half) * axis)])
    w, u = turn[0], turn[1:]
    q = np.array([w * q0[0] - u @ q0[1:], *(w * q0[1:] + q0[0] * u + np.cross(u, q0[1:]))])
    exact = np.tile(np.concatenate([[0.0, 0.0, 0.0], q0]), (len(t), 1, 1))
    motion = spatial(t, np.zeros((len(t), 3)), np.zeros((len(t), 3)), np.tile(sign * q, (len(t), 1)))
    found = values(space(box()), motion, truth(pose=lambda time: exact))
    assert found["truth_error_angle"] == pytest.approx(angle, rel=1e-3 if angle < 1e-9 else 1e-9)


def test_a_spatial_truth_without_orientations_gives_positions_only():
    t = times(0.1)
    exact = np.full((len(t), 1, 7), np.nan)
    exact[..., :3] = 0.0
    motion = spatial(t, columns(0.0 * t, 0.0, 0.01), np.zeros((len(t), 3)))
    found = values(space(ball()), motion, truth(pose=lambda time: exact))
    assert found["truth_error_position"] == pytest.approx(0.01)
    assert "truth_error_angle" not in found


def distance(motion) -> float:
    way = float(motion.position[-1, 0, 0] - motion.position[0, 0, 0])
    return way if way > 1e-6 else math.nan


def test_the_goal_is_measured_in_its_own_unit():
    known = truth(goal=Goal(name="distance", unit="m", exact=0.9, measure=distance))
    goal = measured(FLIGHT, flying(times(1.0)), known)["truth_error_goal"]
    assert goal.value == pytest.approx(0.1)
    assert goal.unit == "m"


def test_a_goal_of_a_box_that_never_moved_is_not_a_number():
    known = truth(goal=Goal(name="distance", unit="m", exact=0.0, measure=distance))
    t = times(0.1)
    standing = planar(t, columns(0.0 * t, 0.0, 0.0), columns(0.0 * t, 0.0, 0.0))
    assert math.isnan(values(FLIGHT, standing, known)["truth_error_goal"])

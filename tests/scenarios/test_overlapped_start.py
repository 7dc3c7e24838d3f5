"""Starts in penetration: how deep the scene starts, where it must end, and what that costs."""

from types import SimpleNamespace

import numpy as np
import pytest
from pytest import approx
from shapely import affinity, box

from scenarios.catalogue.overlapped_start import overlapped_start
from scenarios.scene import masses


@pytest.mark.parametrize("depth", [1e-4, 0.005, 0.05])
def test_every_face_starts_sunk_by_the_depth(depth):
    """By areas of intersection, with a geometry library: width times depth, for the ground and for each pair."""
    scene = overlapped_start(n=2, depth=depth).scene
    squares = [affinity.translate(box(-0.5, -0.5, 0.5, 0.5), *body.position) for body in scene.bodies]
    assert squares[0].intersection(box(-10, -10, 10, 0)).area == approx(1.0 * depth)
    assert squares[0].intersection(squares[1]).area == approx(0.9 * depth)  # offset by a tenth


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("space", ["planar", "spatial"])
def test_the_pose_of_rest_is_in_touch_and_costs_the_work_of_the_lift(n, space):
    scenario = overlapped_start(n=n, depth=0.01, space=space)
    rest = scenario.truth.pose(np.array([1.5]))[0]
    lifts = [rest[i, 1 if space == "planar" else 2] - scenario.scene.bodies[i].position[-1] for i in range(n)]
    assert lifts == approx([0.01 * (i + 1) for i in range(n)])
    work = float(masses(scenario.scene)[:n] @ lifts) * 9.81
    assert scenario.laws["energy_gain"] == approx(2.0 * work)


def test_how_high_it_jumps_is_measured_from_touching_and_is_nothing_when_it_stays_below():
    goal = overlapped_start().truth.goal
    sunk = np.full((5, 1, 2), 0.497)
    assert goal.measure(SimpleNamespace(position=sunk)) == 0.0
    sunk[3, 0, 1] = 0.52
    assert goal.measure(SimpleNamespace(position=sunk)) == approx(0.02)

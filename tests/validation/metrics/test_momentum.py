"""Momentum: what nothing outside explains."""

from __future__ import annotations

import numpy as np
import pytest

from scenarios.scene import Damping, Revolute, Spring
from tests.validation.metrics.motions import (
    DT,
    GROUND,
    G,
    block,
    box,
    columns,
    disc,
    euler,
    planar,
    plane,
    scenario,
    space,
    spatial,
    times,
    truth,
    values,
)
from tests.validation.metrics.test_energy import CLOUD, matrix
from validation.metrics.momentum import angular_momentum, is_isolated
from validation.metrics.observation import Observation


def two_discs(**more):
    return plane(disc("a", mass=1.0), disc("b", mass=3.0), **more)


def drifting(t: np.ndarray):
    """Two discs that fall freely with v = (1, 0) and (-1, 2) and spin."""
    fall, drop = -0.5 * G * t**2, -G * t
    pose = np.stack([columns(t, fall, 2.0 * t), columns(5.0 - t, 2.0 * t + fall, -t)], axis=1)
    twist = np.stack([columns(1.0, drop, 2.0), columns(-1.0, 2.0 + drop, -1.0)], axis=1)
    return pose, twist


def test_free_fall_is_explained_by_gravity():
    t = times(1.0)
    found = values(two_discs(), planar(t, *drifting(t)))
    assert found["momentum_drift"] <= 1e-13
    assert found["angular_momentum_drift"] <= 1e-12


@pytest.mark.parametrize("poses_first", [True, False])
def test_it_is_in_every_integrator(poses_first):
    found = values(plane(disc()), euler((0.0, 0.0), (1.0, 2.0), 240, poses_first=poses_first))
    assert found["momentum_drift"] <= 1e-13


def test_a_kick_from_nowhere_is_its_mass_times_its_speed():
    t = times(1.0)
    pose, twist = drifting(t)
    twist[t > 0.5, 1] += (0.3, -0.4, 0.0)
    assert values(two_discs(), planar(t, pose, twist))["momentum_drift"] == pytest.approx(3.0 * 0.5)


def test_an_impulse_between_two_bodies_off_their_line_changes_the_angular_momentum_only():
    t = times(1.0)
    pose, twist = drifting(t)
    after = t > 0.5
    twist[after, 0, 1] += 0.6
    twist[after, 1, 1] -= 0.2  # opposite impulses 0.6 N s, at a distance of 4 m along x, without the spins they need
    found = values(two_discs(), planar(t, pose, twist))
    k = int(np.argmax(after))
    assert found["momentum_drift"] <= 1e-12
    assert found["angular_momentum_drift"] == pytest.approx(0.6 * abs(pose[k, 1, 0] - pose[k, 0, 0]), rel=1e-9)


def test_over_level_smooth_ground_only_the_level_component_counts():
    t = times(1.0)
    hopping = planar(t, columns(t, 1.0, 0.0), columns(1.0 + 0.1 * (t > 0.5), np.sin(30.0 * t), 0.0))
    scene = plane(disc(mass=2.0), boundaries=(GROUND,))
    found = values(scene, hopping, truth(invariants=frozenset({"momentum-x"})))
    assert found["momentum_drift"] == pytest.approx(0.2)
    assert "angular_momentum_drift" not in found


def test_where_something_outside_may_push_and_the_truth_keeps_nothing_there_is_no_figure():
    t = times(0.1)
    motion = planar(t, columns(0.0 * t, 0.5, 0.0), columns(0.0 * t, 0.0, 0.0))
    assert "momentum_drift" not in values(plane(block(), boundaries=(GROUND,)), motion)


@pytest.mark.parametrize(
    "outside",
    [
        {"boundaries": (GROUND,)},
        {"joints": (Revolute(name="pin", a="a", anchor_a=(0.0, 0.0), anchor_b=(0.0, 0.0)),)},
        {"springs": (Spring(a="a", anchor_a=(0.0, 0.0), anchor_b=(0.0, 0.0), stiffness=1.0),)},
        {"damping": Damping(linear=0.1)},
    ],
)
def test_a_scene_is_isolated_unless_something_ties_it_to_the_world(outside):
    assert is_isolated(two_discs())
    assert not is_isolated(two_discs(**outside))
    assert not is_isolated(plane(disc(), block("wall", fixed=True)))


def test_a_joint_or_spring_between_two_bodies_is_inside():
    pin = Revolute(name="pin", a="a", b="b", anchor_a=(0.0, 0.0), anchor_b=(0.0, 0.0))
    spring = Spring(a="a", b="b", anchor_a=(0.0, 0.0), anchor_b=(0.0, 0.0), stiffness=1.0)
    assert is_isolated(two_discs(joints=(pin,), springs=(spring,)))


def test_spatial_angular_momentum_equals_that_of_a_cloud_of_points():
    rng = np.random.default_rng(6)
    moments = tuple(2.0 * float(np.mean((CLOUD**2).sum(axis=1) - CLOUD[:, i] ** 2)) for i in range(3))
    position, velocity, spin = rng.normal(size=(3, 6, 3))
    q = rng.normal(size=(6, 4))
    q /= np.linalg.norm(q, axis=1)[:, None]
    motion = spatial(np.arange(6) * DT, position, velocity, q, spin)
    o = Observation(scenario=scenario(space(box(mass=2.0, inertia=moments))), trajectory=motion)
    for k, found in enumerate(angular_momentum(o)):
        arms = CLOUD @ matrix(q[k]).T
        assert found == pytest.approx(0.25 * np.cross(arms, np.cross(spin[k], arms)).sum(axis=0), abs=1e-13)

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


MOMENTS = np.array([1.0, 2.0, 3.0])


def tumble(carried_over: str, steps: int = 480):
    """A free body without torque, in half-step integrators that carry over one thing or the other; velocities first.

    spin: w turned by Euler's equations, behind its pose. angular momentum: L kept, and the spin made of it at the pose.
    """
    q, w = np.array([1.0, 0.0, 0.0, 0.0]), np.array([1.0, 2.0, 3.0])
    L = MOMENTS * w
    orientation, spin = [q], [w]
    for _ in range(steps):
        if carried_over == "spin":  # as exact as the half step allows: the rate in the middle, by one iteration
            body = matrix(q).T @ w
            half = body - 0.5 * DT * np.cross(body, MOMENTS * body) / MOMENTS
            w = w - DT * matrix(q) @ (np.cross(half, MOMENTS * half) / MOMENTS)
        turn = 0.5 * DT * np.linalg.norm(w)
        p = np.array([np.cos(turn), *(np.sin(turn) * w / np.linalg.norm(w))])
        q = np.array([p[0] * q[0] - p[1:] @ q[1:], *(p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:]))])
        if carried_over == "angular momentum":
            w = matrix(q) @ ((matrix(q).T @ L) / MOMENTS)
        orientation.append(q)
        spin.append(w)
    zero = np.zeros((steps + 1, 3))
    scene = space(box(inertia=tuple(MOMENTS)), gravity=(0.0, 0.0, 0.0))
    return scene, spatial(np.arange(steps + 1) * DT, zero, zero, orientation, spin, lag=-DT / 2.0)


def test_an_engine_that_carries_over_the_angular_momentum_keeps_it_whatever_lag_it_declares():
    scene, motion = tumble("angular momentum")
    assert values(scene, motion)["angular_momentum_drift"] < 1e-12


def test_one_that_carries_over_the_spin_has_it_half_a_step_from_the_pose_and_no_precession_is_read_into_that():
    """Taken at the pose L seems to go round by up to 2 |w x L| dt / 2 = 0.04."""
    scene, motion = tumble("spin")
    o = Observation(scenario=scenario(scene), trajectory=motion)
    at_pose = angular_momentum(o)
    seeming = float(np.abs(at_pose - at_pose[0]).max())
    found = values(scene, motion)["angular_momentum_drift"]
    assert found < 0.3 * seeming


@pytest.mark.parametrize("carried_over", ["spin", "angular momentum"])
def test_angular_momentum_lost_in_flight_is_seen_whatever_is_carried_over(carried_over):
    scene, motion = tumble(carried_over)
    motion.spin[240:] *= 0.9
    lost = 0.1 * float(np.linalg.norm(MOMENTS * [1.0, 2.0, 3.0]))
    assert values(scene, motion)["angular_momentum_drift"] == pytest.approx(lost, rel=0.05)


@pytest.mark.parametrize("carried_over", ["spin", "angular momentum"])
def test_the_energy_of_a_free_tumble_is_that_of_its_spin_whatever_is_carried_over(carried_over):
    """The gyroscopic torque does no work: the lag, at which it would shift the spin, changes nothing."""
    scene, motion = tumble(carried_over)
    undeclared = spatial(
        motion.time, motion.position[:, 0], motion.velocity[:, 0], motion.orientation[:, 0], motion.spin[:, 0], lag=0.0
    )
    assert values(scene, motion)["energy_drift"] == values(scene, undeclared)["energy_drift"]


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

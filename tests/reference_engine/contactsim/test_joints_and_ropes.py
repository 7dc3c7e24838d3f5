"""Joints, ropes and rods in the same solve as contacts."""

import math

import numpy as np
import pytest

from reference_engine import (
    Body,
    Disc,
    FaithfulSettings,
    Joint,
    Rope,
    World,
    WorldError,
    box,
    energy,
    faithful_simulate,
)

G = 9.81


def pin(first, second, first_point, second_point):
    return tuple(
        Joint(first=first, second=second, first_point=first_point, second_point=second_point, normal=n)
        for n in ((0.0, 1.0), (1.0, 0.0))
    )


def rod_pendulum(angle):
    """A 1 x 0.2 bar pinned at one end to the background, at the origin."""
    body = Body(shape=box(0.2, 1.0), position=(0.5 * math.sin(angle), -0.5 * math.cos(angle)), angle=angle)
    return World(bodies=(body,), connectors=pin(-1, 0, (0.0, 0.0), (0.0, 0.5)))


def test_a_pinned_bar_swings_with_the_period_of_a_physical_pendulum():
    """T = 2 pi sqrt(I_pin / (m g 0.5)) (1 + a^2 / 16) for a small amplitude a; the next term is 11 a^4 / 3072."""
    a = 0.1
    motion = faithful_simulate(rod_pendulum(a), 3.0, 0.002)
    inertia = (0.2**2 + 1.0) / 12.0 + 0.25
    period = 2.0 * math.pi * math.sqrt(inertia / (G * 0.5)) * (1.0 + a * a / 16.0)
    k = int(np.flatnonzero((motion.pose[:-1, 0, 2] < 0.0) & (motion.pose[1:, 0, 2] >= 0.0))[0])
    t0, t1, x0, x1 = *motion.time[k : k + 2], *motion.pose[k : k + 2, 0, 2]
    assert t0 - x0 * (t1 - t0) / (x1 - x0) == pytest.approx(0.75 * period, rel=2e-6)


def test_a_pin_stays_together_and_keeps_the_energy():
    world = rod_pendulum(2.0)
    motion = faithful_simulate(world, 3.0, 0.005)
    end = motion.pose[:, 0, :2] + 0.5 * np.stack([-np.sin(motion.pose[:, 0, 2]), np.cos(motion.pose[:, 0, 2])], axis=1)
    assert np.abs(end).max() <= 1e-6
    assert np.ptp(energy(world, motion)) <= 1e-5


def rope_pendulum(rod):
    return World(
        bodies=(Body(shape=Disc(0.1), position=(1.0, 0.0), inertia=0.005),),
        connectors=(Rope(first=-1, second=0, first_point=(0.0, 0.0), second_point=(0.0, 0.0), length=1.0, rod=rod),),
    )


def test_a_rod_keeps_its_length():
    motion = faithful_simulate(rope_pendulum(True), 2.0, 0.0025)
    assert np.hypot(*motion.pose[:, 0, :2].T) == pytest.approx(1.0, abs=1e-6)


def test_a_rope_is_never_longer_than_it_is():
    """It rests at half the tolerance, 5 mm, short of its length."""
    world = World(
        bodies=(Body(shape=Disc(0.1), position=(0.6, 0.0), inertia=0.005),),
        connectors=rope_pendulum(False).connectors,
        restitution=0.0,
    )
    motion = faithful_simulate(world, 2.0, 0.005)
    length = np.hypot(*motion.pose[:, 0, :2].T)
    assert length.max() <= 1.0
    assert motion.impacts.time[0] == pytest.approx(math.sqrt(2.0 * math.sqrt(0.995**2 - 0.36) / G), abs=1e-3)


def test_joint_small_impacts_stop_what_a_joint_drifts_apart():
    """The speed across a pin after every step is what a solve leaves: round-off."""
    settings = FaithfulSettings(extra_acceleration="none", joint_small_impacts=True)
    motion = faithful_simulate(rod_pendulum(2.0), 1.0, 0.02, settings)
    angle, spin = motion.pose[:, 0, 2], motion.twist[:, 0, 2]
    across = motion.twist[:, 0, :2] - 0.5 * spin[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    assert np.abs(across[1:]).max() <= 1e-5  # serial handling leaves joints below 1e-5 m/s


def test_a_connector_to_a_body_that_is_not_there_is_refused():
    with pytest.raises(WorldError, match="connectors: there is no body 3 among 1"):
        World(bodies=(Body(shape=Disc(0.1)),), connectors=pin(0, 3, (0.0, 0.0), (0.0, 0.0)))

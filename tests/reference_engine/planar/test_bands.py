"""Rubber bands that are taut for a moment only, in the midst of a flight that is smooth but for them."""

import dataclasses
import math

import numpy as np
import pytest

from reference_engine import Body, Disc, Spring, World, WorldError, simulate

G, K, UP = 10.0, 1e4, 10.0


def thrown(length: float, stiffness: float = K) -> World:
    """A ball of 1 kg thrown up at 10 m/s from where its band is fixed: its apex would be 5 m up."""
    band = Spring(first=-1, second=0, first_point=(0.0, 0.0), second_point=(0.0, 0.0), length=length,
                  stiffness=stiffness, pulls_only=True)  # fmt: skip
    return World(bodies=(Body(shape=Disc(0.1), velocity=(0.0, UP)),), forces=(band,), gravity=(0.0, -G))


def let_go(length: float, stiffness: float) -> tuple[float, float]:
    """(time, speed) at which the band has let go: flight up, half a swing about where weight and band balance."""
    speed, rate, low = math.sqrt(UP**2 - 2.0 * G * length), math.sqrt(stiffness), G / stiffness
    # y - L = -low + low cos(w s) + (v / w) sin(w s) is zero again where tan(w s / 2) = v / (w low)
    return (UP - speed) / G + 2.0 * math.atan2(speed, rate * low) / rate, speed


@pytest.mark.parametrize("stiffness", [1e2, 1e4, 1e8, 1e10])
@pytest.mark.parametrize("length", [3.0, 4.9, 4.99, 4.999, 4.9995])
@pytest.mark.parametrize("samples", [1, 20])
def test_a_band_that_is_taut_around_the_apex_is_felt(length, stiffness, samples):
    time, speed = let_go(length, stiffness)
    s = 0.15
    motion = simulate(thrown(length, stiffness), time + s, (time + s) / samples)
    assert motion.pose[-1, 0, 1] == pytest.approx(length - speed * s - 0.5 * G * s * s, abs=1e-8)


def test_a_band_that_is_never_taut_changes_nothing():
    world = thrown(5.0 + 1e-6)
    alone = dataclasses.replace(world, forces=())
    assert simulate(world, 2.0, 0.1).pose == pytest.approx(simulate(alone, 2.0, 0.1).pose, abs=1e-13)


def test_a_band_between_turning_bodies_is_felt():
    """Two equal bars turn against one another; a band between their ends is taut each time these are furthest apart.

    Momentum, angular momentum and energy are kept, and the bars do not turn as without it.
    """

    def bar(x: float, spin: float) -> Body:
        return Body(shape=Disc(0.5), position=(x, 0.0), mass=2.0, inertia=1.0, spin=spin)

    band = Spring(first=0, second=1, first_point=(-0.5, 0.0), second_point=(0.5, 0.0), length=3.0 - 1e-3,
                  stiffness=1e6, pulls_only=True)  # fmt: skip
    world = World(bodies=(bar(-1.0, 3.0), bar(1.0, 3.0)), forces=(band,), gravity=(0.0, 0.0))
    world = dataclasses.replace(world, bodies=(dataclasses.replace(world.bodies[0], angle=math.pi / 2.0),
                                               dataclasses.replace(world.bodies[1], angle=math.pi / 2.0)))  # fmt: skip
    motion = simulate(world, 3.0, 0.01)
    v = motion.twist
    assert np.abs((2.0 * v[:, :, :2]).sum(axis=1)).max() < 1e-9
    turning = (2.0 * (motion.pose[:, :, 0] * v[:, :, 1] - motion.pose[:, :, 1] * v[:, :, 0]) + v[:, :, 2]).sum(axis=1)
    assert turning == pytest.approx(turning[0], abs=1e-8)
    assert np.ptp(v[:, :, 2]) > 1e-3  # 3 rad/s for ever without it
    kinetic = (v[:, :, 0] ** 2 + v[:, :, 1] ** 2 + 0.5 * v[:, :, 2] ** 2).sum(axis=1)
    out = np.stack([np.cos(motion.pose[:, :, 2]), np.sin(motion.pose[:, :, 2])], axis=-1)
    ends = motion.pose[:, :, :2] + out * [[-0.5], [0.5]]
    stretch = np.maximum(np.hypot(*(ends[:, 0] - ends[:, 1]).T) - band.length, 0.0)
    assert kinetic + 0.5e6 * stretch**2 == pytest.approx(kinetic[0], abs=1e-6)


def test_edges_that_pass_are_refused():
    world = dataclasses.replace(thrown(3.0), bodies=thrown(3.0).bodies * 2, passing_edges=((0, 1, 0, 0),))
    with pytest.raises(WorldError, match="passing_edges: of single edges only the faithful mode knows"):
        simulate(world, 1.0, 0.1)

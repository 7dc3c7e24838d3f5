"""Ropes (no longer than they are) and massless rods (neither longer nor shorter) in the located mode."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

from reference_engine import Body, Disc, Rope, World, energy, simulate
from tests.reference_engine.planar import truths
from tests.reference_engine.planar.scenes import GRAVITY, at


def on_a_rope(length: float, position: tuple[float, float], velocity=(0.0, 0.0), *, rod: bool = False) -> World:
    """A ball tied by its centre to the origin."""
    ball = Body(shape=Disc(0.05), position=position, velocity=velocity)
    rope = Rope(first=-1, second=0, first_point=(0.0, 0.0), second_point=(0.0, 0.0), length=length, rod=rod)
    return World(bodies=(ball,), connectors=(rope,), restitution=0.0)


def test_a_rope_that_goes_taut_takes_the_speed_along_it():
    """L = 1.5 m, thrown from its fixing at 3 m/s: taut at 0.4140464852291008 s, by the parabola; e = 0."""
    motion = simulate(on_a_rope(1.5, (0.0, 0.0), (3.0, 0.0)), 1.0, 0.125)
    taut = brentq(lambda t: 9.0 * t * t + 0.25 * GRAVITY**2 * t**4 - 2.25, 0.1, 1.0, xtol=1e-16)
    assert taut == pytest.approx(0.4140464852291008, abs=1e-14)
    assert motion.events.times("impact")[0] == pytest.approx(taut, abs=1e-12)
    i = int(np.searchsorted(motion.time, motion.events.times("impact")[0]))
    assert motion.twist[i, 0, :2] == pytest.approx([3.0, -GRAVITY * taut], abs=1e-11)
    assert motion.twist[i + 1, 0, :2] == pytest.approx([-0.9427860968331362, -1.392663874062061], abs=1e-11)
    active = motion.time > taut
    assert np.hypot(*motion.pose[active, 0, :2].T) == pytest.approx(1.5, abs=1e-12)
    angle = math.atan2(3.0 * taut, 0.5 * GRAVITY * taut**2)
    spin = -math.hypot(0.9427860968331362, 1.392663874062061) / 1.5

    def rate(t, y):
        return y[1], -GRAVITY / 1.5 * math.sin(y[0])

    states = truths.integrate(rate, (angle, spin), 0.6, motion.time[i + 1 :] - taut)[0]
    swung = np.arctan2(motion.pose[i + 1 :, 0, 0], -motion.pose[i + 1 :, 0, 1])
    assert swung == pytest.approx(states[:, 0], abs=1e-10)


@pytest.mark.parametrize("rod", [False, True], ids=["rope", "rod"])
def test_a_ball_on_a_taut_rope_or_rod_is_a_pendulum(rod):
    world = on_a_rope(1.0, (math.sin(1.2), -math.cos(1.2)), rod=rod)
    motion = simulate(world, 4.0, 0.25)
    psi = truths.pendulum(motion.time, 1.2, math.sqrt(GRAVITY))
    assert np.arctan2(motion.pose[:, 0, 0], -motion.pose[:, 0, 1]) == pytest.approx(psi, abs=1e-10)
    assert np.hypot(*motion.pose[:, 0, :2].T) == pytest.approx(1.0, abs=1e-12)
    assert np.abs(energy(world, motion) - energy(world, motion)[0]).max() <= 1e-12 * GRAVITY


def test_a_rod_pushes_where_a_rope_goes_slack():
    """Let go at rest 0.5 rad from the top: a rod is an inverted pendulum, under a rope it falls straight down."""
    start = (math.sin(0.5), math.cos(0.5))
    stiff = simulate(on_a_rope(1.0, start, rod=True), 1.0, 0.125)
    theta = truths.toppling(stiff.time, 0.5, math.sqrt(GRAVITY))
    turned = np.unwrap(np.arctan2(stiff.pose[:, 0, 0], stiff.pose[:, 0, 1]))
    assert turned == pytest.approx(theta, abs=1e-10)
    slack = simulate(on_a_rope(1.0, start), 1.0, 0.125)
    taut = math.sqrt(4.0 * math.cos(0.5) / GRAVITY)  # where the vertical chord ends
    assert slack.events.times("impact")[0] == pytest.approx(taut, abs=1e-12)
    falling = slack.time < taut
    assert slack.pose[falling, 0, 0] == pytest.approx(math.sin(0.5), abs=1e-14)


def test_a_ball_that_swings_too_slowly_over_the_top_leaves_its_circle_where_the_rope_goes_slack():
    """From the bottom with v^2 = 4 g L: slack at 2/3 = cos(angle from the top), then a parabola."""
    length, v = 1.0, math.sqrt(4.0 * GRAVITY)
    motion = simulate(on_a_rope(length, (0.0, -length), (v, 0.0)), 0.875, 0.03125)
    p = math.sqrt(GRAVITY / length)

    def above(t, y):
        return math.acos(-2.0 / 3.0) - y[0]

    _, slack, state = truths.integrate(lambda t, y: (y[1], -p * p * math.sin(y[0])), (0.0, v), 2.0, until=above)
    broken = motion.events.time[motion.events.kind == "broken"]
    assert broken[0] == pytest.approx(slack, abs=1e-9)
    psi, w = state
    free = motion.time > slack
    t = motion.time[free] - slack
    x = math.sin(psi) + w * math.cos(psi) * t
    y = -math.cos(psi) + w * math.sin(psi) * t - 0.5 * GRAVITY * t * t
    taut = np.hypot(x, y) < 1.0
    assert taut[: len(taut) // 2].all() and taut.sum() >= 4
    assert motion.pose[free][taut, 0, :2] == pytest.approx(np.stack([x, y], axis=1)[taut], abs=1e-8)


def test_two_balls_on_a_rope_that_goes_taut_share_their_momentum_along_it():
    """e = 0, masses 1 and 3, no gravity: after it the same speed along the rope; across it, as before."""
    balls = (
        Body(shape=Disc(0.05), velocity=(-1.0, 0.5)),
        Body(shape=Disc(0.05), position=(0.5, 0.0), velocity=(2.0, 0.5), mass=3.0),
    )
    rope = Rope(first=0, second=1, first_point=(0.0, 0.0), second_point=(0.0, 0.0), length=2.0)
    motion = simulate(World(bodies=balls, connectors=(rope,), gravity=(0.0, 0.0), restitution=0.0), 1.0, 0.125)
    assert motion.events.times("impact") == pytest.approx([0.5], abs=1e-12)
    assert motion.twist[-1, :, 0] == pytest.approx([5.0 / 4.0] * 2, abs=1e-12)
    assert motion.twist[-1, :, 1] == pytest.approx([0.5, 0.5], abs=1e-12)
    assert motion.pose[at(motion, 1.0), 1, 0] - motion.pose[at(motion, 1.0), 0, 0] == pytest.approx(2.0, abs=1e-12)

"""In a circular bowl: what slides, what is thrown in, what lies at the bottom. Rolling: test_friction_rolling.py."""

import math

import numpy as np
import pytest

from reference_engine import Body, Disc, World, energy, simulate
from reference_engine.planar_model.shape import Bowl
from tests.reference_engine.planar import truths
from tests.reference_engine.planar.scenes import GRAVITY, ROUND_OFF_OF_GAPS, at, flat, rod

RADIUS = 2.0


def bowl() -> Body:
    return Body(shape=Bowl(RADIUS), fixed=True)


def test_a_rod_with_both_ends_on_a_smooth_bowl_is_a_pendulum_about_its_centre():
    """Its centre goes on a circle of d = sqrt(R^2 - L^2/4): p^2 = g d/(d^2 + L^2/12)."""
    length, amplitude = 2.0, 0.8
    d = math.sqrt(RADIUS**2 - length**2 / 4.0)
    p = math.sqrt(GRAVITY * d / (d**2 + length**2 / 12.0))
    lying = rod(length, amplitude + math.pi / 2.0)
    centre = (d * math.sin(amplitude), -d * math.cos(amplitude))
    body = Body(shape=lying.shape, inertia=lying.inertia, position=centre, angle=lying.angle)
    world = World(bodies=(bowl(), body), restitution=0.0)
    motion = simulate(world, 3.0, 0.125)
    phi = truths.pendulum(motion.time, amplitude, p)
    assert motion.pose[:, 1, 2] - math.pi / 2.0 == pytest.approx(phi, abs=1e-9)
    assert motion.pose[:, 1, 0] == pytest.approx(d * np.sin(phi), abs=1e-9)
    assert np.abs(energy(world, motion) - energy(world, motion)[0]).max() <= 1e-12 * 2.0 * GRAVITY
    assert motion.penetration <= ROUND_OFF_OF_GAPS


@pytest.mark.parametrize("e", [0.0, 0.6])
def test_a_ball_dropped_into_a_bowl_leaves_along_the_normal_with_e_of_its_approach(e):
    """From the level of the centre, 1 m beside it: it falls sqrt(L^2 - 1) m, and the normal points at the centre."""
    r = 0.25
    path = RADIUS - r
    motion = simulate(World(bodies=(bowl(), Body(shape=Disc(r), position=(1.0, 0.0))), restitution=e), 0.75, 0.125)
    drop = math.sqrt(path**2 - 1.0)
    hit, speed = math.sqrt(2.0 * drop / GRAVITY), math.sqrt(2.0 * drop * GRAVITY)
    assert motion.events.times("impact")[0] == pytest.approx(hit, abs=1e-12)
    inward = np.array([-1.0, drop]) / path
    approach = -speed * inward[1]
    i = int(np.searchsorted(motion.time, motion.events.times("impact")[0]))
    after = np.array([0.0, -speed]) - (1.0 + e) * approach * inward
    assert motion.twist[i + 1, 1, :2] == pytest.approx(after, abs=1e-11)
    if e == 0.0:  # it stays on the bowl: a pendulum from there
        phi, spin = math.asin(1.0 / path), (after @ [inward[1], -inward[0]]) / path
        rate = lambda t, y: (y[1], -GRAVITY / path * math.sin(y[0]))  # noqa: E731  the equation, where it is used
        states = truths.integrate(rate, (phi, spin), 0.8 - hit, [0.75 - hit])[0]
        row = at(motion, 0.75)
        angle = math.atan2(motion.pose[row, 1, 0], -motion.pose[row, 1, 1])
        assert angle == pytest.approx(states[0, 0], abs=1e-10)


def test_a_block_rests_on_the_bottom_of_a_bowl_by_its_two_lower_corners():
    """Normals point at the centre: N cos(phi) = m g/2 each, sin(phi) = w/(2 R). Frictionless."""
    width, height = 1.0, 0.5
    sink = math.sqrt(RADIUS**2 - width**2 / 4.0)
    motion = simulate(World(bodies=(bowl(), flat(width, height, bottom=-sink)), restitution=0.0), 5.0, 1.0)
    assert np.abs(motion.pose - motion.pose[0]).max() <= ROUND_OFF_OF_GAPS
    assert motion.contacts_at(-1).force == pytest.approx([0.5 * GRAVITY * RADIUS / sink] * 2, rel=1e-12)


def test_corners_that_rock_ever_slower_do_not_leave_a_bowl():
    """A stack of two thrown along the bottom comes to rest by impacts of its corners, the last ones slower than
    1e-4 m/s, where 1e-12 s are less than the round-off of a gap."""
    edge, e = 0.5, 0.5
    sink = math.sqrt(16.0 - edge**2 / 4.0)
    bodies = [flat(edge, edge, bottom=-sink), flat(edge, edge, bottom=edge - sink)]
    thrown = Body(shape=bodies[0].shape, position=bodies[0].position, velocity=(2.0, 0.0))
    world = World(bodies=(Body(shape=Bowl(4.0), fixed=True), thrown, bodies[1]), restitution=e, friction=1.0)
    motion = simulate(world, 0.5, 0.5)
    assert motion.penetration <= ROUND_OFF_OF_GAPS
    assert energy(world, motion)[-1] <= energy(world, motion)[0]

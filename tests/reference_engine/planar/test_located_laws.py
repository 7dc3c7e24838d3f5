"""Closed forms beyond the parabola, and what an impact without friction conserves."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from reference_engine import Body, Disc, HalfPlane, Settings, World, box, energy, simulate
from tests.effort import tries
from tests.reference_engine.planar.worlds import GRAVITY, ground


def test_a_ball_with_drag_bounces_at_the_times_of_its_exponential_flights():
    """v' = -g - k v: y = (v_0 + g/k)(1 - e^{-kt})/k - g t/k. Ten flights, each from the speed of the one before."""
    k, e, height = 0.8, 0.7, 2.0

    def rise(v, t):
        return (v + GRAVITY / k) * -math.expm1(-k * t) / k - GRAVITY * t / k

    def speed(v, t):
        return (v + GRAVITY / k) * math.exp(-k * t) - GRAVITY / k

    t = brentq(lambda s: height + rise(0.0, s), 0.1, 5.0, xtol=1e-15)
    times, v = [t], -e * speed(0.0, t)
    while len(times) < 10:
        flight = brentq(lambda s, v=v: rise(v, s), v / GRAVITY, 2.0 * v / GRAVITY, xtol=1e-16)
        times.append(times[-1] + flight)
        v = -e * speed(v, flight)
    ball = Body(shape=Disc(0.3), position=(0.0, 0.3 + height))
    motion = simulate(World(bodies=(ground(), ball), restitution=e, damping=k), 5.0, 1.0)
    assert motion.events.times("impact")[:10] == pytest.approx(times, rel=1e-12)


def test_the_error_of_a_dragged_flight_follows_the_tolerance():
    """The tenth impact of the same ball, against the run at 1e-13."""
    ball = Body(shape=Disc(0.3), position=(0.0, 2.3))
    world = World(bodies=(ground(), ball), restitution=0.7, damping=0.8)
    exact = simulate(world, 3.0, 3.0).events.times("impact")[9]
    for tolerance in (1e-5, 1e-7, 1e-9, 1e-11):
        motion = simulate(world, 3.0, 3.0, Settings(tolerance=tolerance))
        assert abs(motion.events.times("impact")[9] - exact) <= 10.0 * tolerance


def test_a_corner_impact_has_the_impulse_of_its_effective_mass():
    """J = (1 + e) |v_n| / (1/m + r_t^2/I); a 1 x 3 block tilted by 0.4, v = (1, -2), spin 0.3, e = 0.5."""
    shape, tilt = box(1.0, 3.0), 0.4
    c, s = math.cos(tilt), math.sin(tilt)
    lowest = min(s * x + c * y for x, y in shape.vertices)
    block = Body(shape=shape, position=(0.0, -lowest), angle=tilt, velocity=(1.0, -2.0), spin=0.3)
    motion = simulate(World(bodies=(ground(), block), restitution=0.5, gravity=(0.0, 0.0)), 0.01, 0.01)
    assert motion.impacts.time[0] == 0.0
    assert motion.impacts.speed[0] == pytest.approx(-1.96292089506154, rel=1e-14)
    assert motion.impacts.impulse[0] == pytest.approx(2.891378139715263, rel=1e-14)
    assert motion.twist[-1, 1] == pytest.approx([1.0, 0.8913781397152628, 0.7288388538370855], rel=1e-14)


@given(
    e=st.floats(0.0, 1.0),
    ratio=st.floats(-2.0, 2.0),
    angle=st.floats(0.0, 3.0),
    offset=st.floats(-0.4, 0.4),
    spin=st.floats(-5.0, 5.0),
)
@settings(max_examples=tries(40))
def test_two_free_blocks_keep_momentum_and_angular_momentum_and_lose_energy(e, ratio, angle, offset, spin):
    """No forces from outside; masses 1 : 10^ratio; corners, faces and repeated impacts as they come."""
    first = Body(shape=box(0.8, 0.5), position=(-1.5, offset), angle=angle, velocity=(3.0, 0.0), spin=spin)
    second = Body(shape=box(0.6, 0.6), position=(0.5, 0.0), angle=0.3, mass=10.0**ratio)
    world = World(bodies=(first, second), restitution=e, gravity=(0.0, 0.0))
    motion = simulate(world, 2.0, 0.5)
    m = np.array([body.mass for body in world.bodies])[:, None]
    inertia = np.array([body.inertia for body in world.bodies], np.float64)
    momentum = (m * motion.twist[:, :, :2]).sum(axis=1)
    x, v = motion.pose[..., :2], motion.twist[..., :2]
    turning = (m[:, 0] * (x[..., 0] * v[..., 1] - x[..., 1] * v[..., 0]) + inertia * motion.twist[..., 2]).sum(axis=1)
    scale = 10.0 * m.sum()
    assert momentum == pytest.approx(np.broadcast_to(momentum[0], momentum.shape), abs=1e-13 * scale)
    assert turning == pytest.approx(turning[0], abs=1e-12 * scale)
    total = energy(world, motion)
    assert (np.diff(total) <= 1e-13 * total[0]).all()
    if e == 1.0:
        assert total == pytest.approx(total[0], rel=1e-12)
    assert motion.penetration <= 1e-12


def test_a_disc_that_falls_into_a_groove_comes_to_rest_on_both_its_sides():
    """Planes at 60 and 30 degrees to the horizontal, at right angles: forces m g cos 60 and m g cos 30."""
    left = Body(shape=HalfPlane(), fixed=True, angle=-math.pi / 3.0)
    right = Body(shape=HalfPlane(), fixed=True, angle=math.pi / 6.0)
    disc = Body(shape=Disc(0.5), position=(0.1, 1.6), mass=2.0)
    world = World(bodies=(left, right, disc), restitution=0.4)
    motion = simulate(world, 20.0, 1.0)
    normals = {0: math.cos(math.pi / 3.0), 1: math.cos(math.pi / 6.0)}
    contacts = motion.contacts_at(-1)
    assert sorted(contacts.pair[:, 0].tolist()) == [0, 1]
    for pair, force in zip(contacts.pair, contacts.force, strict=True):
        assert force == pytest.approx(2.0 * GRAVITY * normals[int(pair[0])], rel=1e-12)
    assert np.abs(motion.twist[-1, 2, :2]).max() <= 1e-12
    assert motion.penetration <= 1e-12

"""Impacts at their own time: motions through them converge as between them."""

import itertools

import numpy as np
import pytest
from pytest import approx

from reference_engine import EllipsoidWorld, HalfSpace, HollowSphere, SpatialSettings, Stepper, simulate_ellipsoids

G = 9.81
LOCATED = SpatialSettings(located=True, gap_tolerance=1e-9)


def ball(height, **given):
    return EllipsoidWorld([[0.1] * 3], [[0.0, 0.0, 0.1 + height]], containers=(HalfSpace(),), **given)


@pytest.mark.parametrize("dt", [0.02, 0.007])
def test_a_ball_bounces_as_its_parabolas_say_whatever_the_step(dt):
    """Three impacts in 1.2 s, e = 0.8: after the n-th it leaves with e^n sqrt(2 g h)."""
    motion = simulate_ellipsoids(ball(0.3, restitution=0.8), 1.2, dt, settings=LOCATED)
    time, height, start, speed = motion.time, np.empty(len(motion.time)), np.sqrt(0.6 / G), np.sqrt(0.6 * G)
    height[:] = 0.3 - 0.5 * G * time**2
    for _ in range(4):
        speed *= 0.8
        since = time - start
        height = np.where(since >= 0.0, speed * since - 0.5 * G * since**2, height)
        start += 2.0 * speed / G
    assert motion.position[:, 0, 2] - 0.1 == approx(height, abs=3e-8)


def drop(dt, *, located):
    """A tilted ellipsoid lands without bounce and slides on; where it is at last, and how far it has turned."""
    world = EllipsoidWorld(
        [(0.3, 0.2, 0.1)], [(0.0, 0.0, 0.4)], orientation=[(np.cos(0.15), 0.0, np.sin(0.15), 0.0)],
        containers=(HalfSpace(),),
    )  # fmt: skip
    settings = SpatialSettings(located=located, gap_tolerance=1e-10)
    motion = simulate_ellipsoids(world, 0.48, dt, settings=settings)
    return np.concatenate([motion.position[-1, 0], motion.orientation[-1, 0]])


def test_through_an_impact_the_order_is_two_where_it_is_located():
    """Differences of runs with steps halved: a quarter each time. Without, it is off by far more."""
    runs = {located: [drop(dt, located=located) for dt in (0.004, 0.002, 0.001)] for located in (True, False)}
    steps = {key: [np.abs(a - b).max() for a, b in itertools.pairwise(run)] for key, run in runs.items()}
    assert steps[True][0] / steps[True][1] == approx(4.0, abs=0.4)
    assert steps[False][1] > 10.0 * steps[True][1]


def test_an_impact_inside_a_hollow_sphere_is_found_too():
    """Dropped beside the middle: after the fall of 0.2 m it leaves with the mirrored speed."""
    world = EllipsoidWorld([[0.1] * 3], [[0.3, 0.0, 0.0]], containers=(HollowSphere(1.0),), restitution=1.0)
    stepper = Stepper(world, 0.005, LOCATED)
    fall = np.sqrt(0.9**2 - 0.3**2)
    impacts = 0
    while impacts == 0:
        impacts = stepper.step().impacts
    n = np.array([0.3, 0.0, -fall]) / 0.9
    v = np.array([0.0, 0.0, -np.sqrt(2.0 * G * fall)])
    after = v - 2.0 * (v @ n) * n
    since = stepper.time - np.sqrt(2.0 * fall / G)
    assert stepper.twist[0, :3] == approx(after - [0.0, 0.0, G * since], abs=1e-7)

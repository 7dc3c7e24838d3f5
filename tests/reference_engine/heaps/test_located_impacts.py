"""Impacts at their own time: motions through them converge as between them."""

import itertools

import numpy as np
import pytest
from pytest import approx

from reference_engine import (
    EllipsoidWorld,
    HalfSpace,
    SpatialSettings,
    SphereInterior,
    Stepper,
    ellipsoid_energy,
    simulate_ellipsoids,
)

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


def rattling(restitution, friction, clearance, *, semi_axes=(0.1, 0.1, 0.1)):
    """Eight bodies in a box that leaves them so much room, all thrown; no gravity."""
    place = (0.2 + clearance) * (np.array(list(itertools.product((0, 1), repeat=3))) - 0.5)
    half = 0.2 + 1.5 * clearance
    walls = tuple(HalfSpace(-half * n, n) for n in np.concatenate([np.eye(3), -np.eye(3)]))
    speed = np.random.default_rng(0).normal(size=(8, 3))
    return EllipsoidWorld(
        [semi_axes] * 8, place, velocity=speed, containers=walls, gravity=(0.0, 0.0, 0.0), friction=friction,
        restitution=restitution,
    )  # fmt: skip


@pytest.mark.parametrize("located", [False, True])
def test_balls_that_rattle_in_a_box_keep_their_energy_however_many_meet_in_one_step(located):
    """e = 1, no friction; at 1 m/s and 5 mm of room every ball strikes several times in a step of 5 ms."""
    world = rattling(1.0, 0.0, 0.005)
    motion = simulate_ellipsoids(world, 0.2, 0.005, settings=SpatialSettings(located=located))
    energy = ellipsoid_energy(world, motion)
    assert energy == approx(np.full(len(energy), energy[0]), rel=1e-3)


@pytest.mark.parametrize(("e", "friction"), [(0.9, 0.0), (1.0, 0.4)])
def test_impacts_never_gain_energy_with_friction_or_without(e, friction):
    """Newton's law with friction may (Kane 1984); such bounces are dulled, and counted."""
    world = rattling(e, friction, 0.05, semi_axes=(0.1, 0.08, 0.06))
    motion = simulate_ellipsoids(world, 0.4, 0.005)
    energy = ellipsoid_energy(world, motion)
    assert (energy <= energy[0] * (1.0 + 1e-3)).all()
    assert 0.0 < energy[-1] < 0.9 * energy[0]
    assert (motion.reduced_bounces > 0) == (friction > 0.0)


def test_a_bounce_is_not_dulled_by_what_gains_energy_elsewhere():
    """Drawn by fuzzing: with e = 1 a ball and, beside it, a disc on its edge strike the ground in one step."""
    world = EllipsoidWorld(
        [[0.5, 0.5, 0.5], [0.5, 0.02, 0.5]], [[0.0, 0.0, 2.0], [1.0, -1.9, 0.5]], mass=[1.0, 1.0], restitution=1.0,
        orientation=[[1.0, 0.0, 0.0, 0.0], [0.9999998750000026, 0.0004999999791666669, 0.0, 0.0]],
        containers=(HalfSpace(),),
    )  # fmt: skip
    motion = simulate_ellipsoids(world, 0.6, 1.0 / 240.0)
    assert motion.reduced_bounces > 0
    speed = motion.velocity[:, 0, 2]
    hit = int(np.argmax(np.diff(speed)))
    assert speed[hit + 1] == approx(-speed[hit], rel=2e-2)


def test_what_is_not_located_is_counted():
    """More than 32 impacts in one step: the rest of it is taken as a whole."""
    world = rattling(1.0, 0.0, 0.001)
    assert simulate_ellipsoids(world, 0.02, 0.01, settings=LOCATED).unlocated > 0
    assert simulate_ellipsoids(ball(0.3), 0.5, 0.01, settings=LOCATED).unlocated == 0


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
    world = EllipsoidWorld([[0.1] * 3], [[0.3, 0.0, 0.0]], containers=(SphereInterior(1.0),), restitution=1.0)
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

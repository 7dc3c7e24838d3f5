"""Ladders and falling rods: where they slip, where they let go, and what happens in between."""

import math

import numpy as np
import pytest

from reference_engine import World, energy, simulate
from tests.reference_engine.planar import truths
from tests.reference_engine.planar.scenes import GRAVITY, ROUND_OFF_OF_GAPS, at, ground, on_grid, rod
from tests.reference_engine.planar.worlds import left_wall


def ladder(tilt: float, floor: float, wall: float, length: float = 2.0) -> World:
    friction = np.array([[0.0, 0.0, floor], [0.0, 0.0, wall], [floor, wall, 0.0]])
    body = rod(length, tilt, lower=(length * math.sin(tilt), 0.0))
    return World(bodies=(ground(), left_wall(), body), friction=friction, restitution=0.0)


@pytest.mark.parametrize(("floor", "wall"), [(0.3, 0.2), (0.3, 0.0)])
def test_a_ladder_holds_up_to_its_limit_and_slides_beyond(floor, wall):
    """tan(theta) = 2 mu_f/(1 - mu_f mu_w) from the vertical; a thousandth of a radian to either side."""
    limit = math.atan(2.0 * floor / (1.0 - floor * wall))
    holds = simulate(ladder(limit - 1e-3, floor, wall), 2.0, 1.0)
    assert np.abs(holds.pose - holds.pose[0]).max() <= ROUND_OFF_OF_GAPS
    slides = simulate(ladder(limit + 1e-3, floor, wall), 0.5, 0.25)
    turn = truths.ladder_forces(np.array([limit + 1e-3, 0.0]), 2.0, floor, wall)[0]
    assert turn > 0.0
    ((theta, spin),) = truths.integrate(truths.ladder_rate(2.0, floor, wall), (limit + 1e-3, 0.0), 0.5, [0.5])[0]
    assert slides.pose[-1, 2, 2] == pytest.approx(theta, abs=1e-10)
    assert slides.twist[-1, 2, 2] == pytest.approx(spin, abs=1e-10)


def test_a_ladder_leans_on_a_smooth_wall_with_half_its_weight_times_the_tangent():
    motion = simulate(ladder(0.4, 0.5, 0.0), 5.0, 1.0)
    contacts = motion.contacts_at(-1)
    wall = np.flatnonzero(contacts.pair.min(axis=1) == 1)
    floor = np.flatnonzero(contacts.pair.min(axis=1) == 0)
    assert contacts.force[wall] == pytest.approx([0.5 * GRAVITY * math.tan(0.4)], rel=1e-12)
    assert contacts.force[floor] == pytest.approx([GRAVITY], rel=1e-12)
    assert np.abs(contacts.friction[floor]) == pytest.approx([0.5 * GRAVITY * math.tan(0.4)], rel=1e-12)
    assert np.abs(motion.pose - motion.pose[0]).max() <= ROUND_OFF_OF_GAPS


def test_a_ladder_with_friction_slides_leaves_the_wall_and_goes_on_over_the_floor():
    """From 0.8 rad, mu 0.3 and 0.2: it lets go at 0.538795390477227 s, theta 1.195, then the foot slides alone."""
    motion = simulate(ladder(0.8, 0.3, 0.2), 0.59375, 0.03125)
    start = motion.contacts_at(0)
    wall, floor = (int(np.flatnonzero(start.pair.min(axis=1) == i)[0]) for i in (1, 0))
    assert start.force[wall] == pytest.approx(3.733421587729569, rel=1e-10)
    assert start.force[floor] == pytest.approx(7.551985502791338, rel=1e-10)
    leaves = motion.events.time[(motion.events.kind == "broken") & (motion.events.pair.min(axis=1) == 1)]
    rate = truths.ladder_rate(2.0, 0.3, 0.2)
    end = truths.integrate(rate, (0.8, 0.0), 1.0, until=lambda t, y: truths.ladder_forces(y, 2.0, 0.3, 0.2)[1])
    assert end[1] == pytest.approx(0.538795390477227, abs=1e-11)
    assert leaves == pytest.approx([end[1]], abs=1e-9)
    active = on_grid(motion, 0.03125, 0.53)
    states = truths.integrate(rate, (0.8, 0.0), 0.6, motion.time[active])[0]
    assert motion.pose[active, 2, 2] == pytest.approx(states[:, 0], abs=1e-10)
    theta, w = end[2]
    free = truths.foot_rate(2.0, 0.3)  # mirrored: it leans to the left and its foot slides to the right
    after = 0.59375 - end[1]
    ((x, th, u, w),) = truths.integrate(free, (-math.sin(theta), theta, -math.cos(theta) * w, w), after, [after])[0]
    assert u - math.cos(th) * w < 0.0
    assert motion.pose[-1, 2, [0, 2]] == pytest.approx([-x, th], abs=1e-9)
    assert motion.twist[-1, 2, [0, 2]] == pytest.approx([-u, w], abs=1e-9)
    assert motion.penetration <= ROUND_OFF_OF_GAPS


def falling(mu: float) -> World:
    """1 m, let go at 0.1 rad from the vertical, its upper end to the right."""
    return World(bodies=(ground(), rod(1.0, -0.1)), friction=mu, restitution=0.0)


def test_a_rod_on_a_frictionless_floor_falls_with_its_centre_straight_down():
    world = falling(0.0)
    motion = simulate(world, 0.5625, 0.0625)
    assert motion.pose[:, 1, 0] == pytest.approx(motion.pose[0, 1, 0], abs=1e-13)
    for row in on_grid(motion, 0.0625, 0.5625)[2:]:
        time = truths.frictionless_fall_time(-motion.pose[row, 1, 2], 0.1)
        assert time == pytest.approx(motion.time[row], abs=1e-10)
    assert np.abs(energy(world, motion) - energy(world, motion)[0]).max() <= 1e-12 * GRAVITY


def test_a_rod_on_a_rough_floor_falls_about_its_foot():
    """mu = 1000 (it needs 281 where it is light): an inverted pendulum, p^2 = 3 g/(2 L), until it lies almost."""
    world = falling(1000.0)
    motion = simulate(world, 0.90625, 0.03125)
    theta = truths.toppling(motion.time, 0.1, math.sqrt(1.5 * GRAVITY))
    assert -motion.pose[:, 1, 2] == pytest.approx(theta, abs=1e-10)
    assert motion.pose[:, 1, 0] == pytest.approx(0.5 * np.sin(theta), abs=1e-10)
    assert np.abs(energy(world, motion) - energy(world, motion)[0]).max() <= 1e-12 * GRAVITY


def rises_again(w: float, theta: float, mu: float) -> bool:
    """Whether a foot that has just come to rest needs more than mu to stay: the forces of the pinned rod at spin w."""
    s, c, turn = math.sin(theta), math.cos(theta), 1.5 * GRAVITY * math.sin(theta)
    return abs(0.5 * (c * turn - s * w * w)) > mu * (GRAVITY - 0.5 * (s * turn + c * w * w))


@pytest.mark.parametrize(("mu", "way"), [(0.3, 1.0), (0.5, -1.0)], ids=["backwards", "forwards"])
def test_the_foot_of_a_falling_rod_slips_where_the_force_it_needs_leaves_the_cone(mu, way):
    """mu = 0.3: early and backwards, and forwards from where it has stopped; mu = 0.5: late and forwards."""
    theta = truths.slip_angle(mu, 0.1)
    p = math.sqrt(1.5 * GRAVITY)
    slip = truths.toppling_time(theta, 0.1, p)
    w = p * math.sqrt(2.0 * (math.cos(0.1) - math.cos(theta)))
    start = (0.5 * math.sin(theta), theta, 0.5 * math.cos(theta) * w, w)
    motion = simulate(falling(mu), 0.875, 0.015625)
    assert motion.events.times("slip")[0] == pytest.approx(slip, abs=1e-9)

    def foot(t, y):
        """Speed of the foot along its first way; 0 at the start, where it must not be taken for the end."""
        return way * (0.5 * math.cos(y[1]) * y[3] - y[2]) if t > 0.01 else 1.0

    rows = np.array([at(motion, t) for t in np.arange(0.015625, 0.8751, 0.015625) if t > slip])
    rate, back = truths.foot_rate(1.0, way * mu), math.inf
    if way > 0.0:
        _, back, end = truths.integrate(rate, start, 0.9 - slip, until=foot)
        assert rises_again(end[3], end[1], mu)
        assert motion.events.times("slip") == pytest.approx([slip, slip + back], abs=1e-9)
    first = rows[motion.time[rows] - slip < back]
    states = truths.integrate(rate, start, 0.9 - slip, motion.time[first] - slip)[0]
    assert len(first) >= 7
    assert motion.pose[first, 1, 0] == pytest.approx(states[:, 0], abs=1e-9)
    assert -motion.pose[first, 1, 2] == pytest.approx(states[:, 1], abs=1e-9)
    if way > 0.0:
        then = rows[motion.time[rows] - slip > back]
        rate = truths.foot_rate(1.0, -mu)
        states = truths.integrate(rate, end, 0.9 - slip - back, motion.time[then] - slip - back)[0]
        assert len(then) >= 5
        assert motion.pose[then, 1, 0] == pytest.approx(states[:, 0], abs=1e-8)
        assert -motion.pose[then, 1, 2] == pytest.approx(states[:, 1], abs=1e-8)

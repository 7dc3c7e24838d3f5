"""Slider-crank, Andrews' squeezing mechanism and the sliding ladder: digits, and what their motions keep."""

import math
from dataclasses import replace

import numpy as np
import pytest
from pytest import approx

from scenarios.catalogue import andrews, scenario_of, slider_crank, sliding_ladder
from scenarios.catalogue.shared.linkage import NO_ANGLE, Linkage
from scenarios.catalogue.slider_crank import CRANK, DURATION, ROD, SLIDER_CRANK
from scenarios.scene import planar_start


def energy_of(linkage: Linkage, angles, speed):
    """J, (N,); what the torque has given is in it with its sign turned."""
    K, _ = linkage.along(angles)
    e = np.exp(1j * angles)
    v = np.abs(linkage.arrows @ (1j * K * e)) ** 2
    k = np.array([K[k] if k != NO_ANGLE else 0.0 * speed for k in linkage.turning])
    m, about = linkage.masses[:, None], linkage.inertias[:, None]
    height = (linkage.offsets[:, None] + linkage.arrows @ e).imag
    total = (0.5 * (m * v + about * k**2) * speed**2 + m * linkage.gravity * height).sum(axis=0)
    if linkage.spring is not None:
        stretch = np.abs(linkage.spring[:-1] @ e + linkage.spring[-1]) - linkage.rest_length
        total += 0.5 * linkage.stiffness * stretch**2
    return total - linkage.torque * angles[0]


def test_the_block_is_where_the_crank_s_angle_has_it_and_the_energy_stays():
    state = slider_crank.motion(8.0)(np.linspace(0.0, DURATION, 100))
    angles, speed = state[:2], state[2]
    block = SLIDER_CRANK.centres(angles)[:, 2]
    closed = CRANK * np.cos(angles[0]) + np.sqrt(ROD**2 - (CRANK * np.sin(angles[0])) ** 2)
    assert block == approx(np.stack([closed, 0.0 * closed, 0.0 * closed], axis=1), abs=1e-13)
    assert np.ptp(energy_of(SLIDER_CRANK, angles, speed)) < 2e-12
    assert np.ptp(angles[0]) > 2.0 * math.pi  # it goes all the way round


def test_without_gravity_the_crank_s_speed_is_that_which_its_energy_leaves_it():
    """theta'^2 I(theta) / 2 stays: at each angle the speed is known without solving anything."""
    free = replace(SLIDER_CRANK, gravity=0.0)
    start = slider_crank.start()
    state = free.motion(start, 8.0, 1.0, window=0.1)(np.linspace(0.0, 1.0, 30))
    inertia = energy_of(free, state[:2], np.ones(30))  # twice the half of it
    at_start = energy_of(free, start[:, None], np.ones(1))[0]
    assert state[2] == approx(8.0 * np.sqrt(at_start / inertia), rel=1e-13)


PUBLISHED = (
    15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948, 0.5244099658805303,
    0.5347301163226948, 1.048080741042263,
)  # fmt: skip
"""rad at 0.03 s, beta to epsilon: Test Set for Initial Value Problem Solvers."""


def test_andrews_mechanism_ends_where_the_published_angles_are():
    k1, k2, k3, k4, k5, k6, k7 = andrews.motion().at(andrews.DURATION)[:7]
    assert (k1, k2 - k1, k3, k4 - k5, k5, k6 - k7, k7) == approx(PUBLISHED, rel=1e-8)


def test_andrews_mechanism_keeps_energy_less_the_work_of_its_torque_and_its_loops():
    state = andrews.motion()(np.linspace(0.0, andrews.DURATION, 200))
    work = andrews.TORQUE * np.ptp(state[0])
    assert np.ptp(energy_of(andrews.ANDREWS, state[:7], state[7])) < 1e-12 * work
    loops = (andrews.ANDREWS.loops @ np.exp(1j * state[:7])).real
    assert np.ptp(loops, axis=1).max() < 1e-15


def test_the_ladder_leaves_the_wall_at_two_thirds_of_its_height():
    fall = sliding_ladder.ladder(0.5)
    h = 1e-5
    theta, later, lying = (fall.pose(np.array([t]))[0, 0, 2] for t in (fall.leaves, fall.leaves + h, fall.lands))
    assert math.cos(theta) == approx(2.0 / 3.0 * math.cos(0.5), rel=1e-14)
    assert (theta, fall.leaves) == approx((0.9458484017732559, 0.4749873338931869), rel=1e-13)
    assert (later - theta) / h == approx(2.074739132053058, rel=1e-4)
    c = math.cos(0.5)
    assert fall.final_speed == approx(math.sqrt(9.81 * 2.0 * c) * c / 3.0, rel=1e-13)
    assert (fall.lands, lying) == approx((0.703667037949906, 0.5 * math.pi), rel=1e-13)


@pytest.mark.parametrize("word", ["slider-crank", "andrews", "andrews:scale=published", "sliding-ladder"])
def test_the_scene_starts_in_its_exact_motion(word):
    scenario = scenario_of(word)
    h = 1e-6 * scenario.scene.duration
    now, later = scenario.truth.pose(np.array([0.0, h]))
    pose, twist = planar_start(scenario.scene)
    assert pose == approx(now, abs=1e-14)
    assert later - now == approx(h * twist, abs=1e-10)


def test_andrews_mechanism_is_the_same_larger_and_slower():
    bench, published = scenario_of("andrews"), scenario_of("andrews:scale=published")
    time = np.linspace(0.0, 0.03, 7)
    large, small = bench.truth.pose(100.0 * time), published.truth.pose(time)
    assert large[..., 2] == approx(small[..., 2], abs=1e-12)
    assert large[..., :2] == approx(10.0 * small[..., :2], abs=1e-13)

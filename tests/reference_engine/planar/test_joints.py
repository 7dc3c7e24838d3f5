"""Pins, sliders and springs in the located mode."""

import dataclasses
import math

import numpy as np
import pytest
from scipy.special import ellipk

from reference_engine import (
    Body,
    Disc,
    Joint,
    Settings,
    SingularPositionError,
    Spring,
    Thruster,
    World,
    box,
    energy,
    simulate,
)
from tests.reference_engine.planar import truths
from tests.reference_engine.planar.scenes import GRAVITY, at, downhill, ground, on_grid, pin, rod


def hanging(angles: tuple[float, ...], length: float = 1.0) -> World:
    """A chain of rods from the origin; angles from down, counter-clockwise. Each top end is pinned to what is above."""
    bodies, connectors, top = [], [], (0.0, 0.0)
    for i, angle in enumerate(angles):
        end = top[0] + length * math.sin(angle), top[1] - length * math.cos(angle)
        bodies.append(dataclasses.replace(rod(length, angle, lower=end), group=1))
        above = (i - 1, (0.0, -length / 2.0)) if i else (-1, (0.0, 0.0))
        connectors += pin(*above, i, (0.0, length / 2.0))
        top = end
    return World(bodies=tuple(bodies), connectors=tuple(connectors), restitution=0.0)


def test_a_pinned_rod_swings_as_its_elliptic_function():
    """psi'' = -(3 g/(2 L)) sin psi; T = 1.798809400287017 s at 1.2 rad. Ten swings."""
    p = math.sqrt(1.5 * GRAVITY)
    period = 4.0 / p * ellipk(math.sin(0.6) ** 2)
    assert period == pytest.approx(1.798809400287017, rel=1e-14)
    world = hanging((1.2,))
    motion = simulate(world, 10.0 * period, period / 4.0)
    psi = truths.pendulum(motion.time, 1.2, p)
    assert motion.pose[:, 0, 2] == pytest.approx(psi, abs=1e-10)
    assert motion.pose[:, 0, 0] == pytest.approx(0.5 * np.sin(psi), abs=1e-10)
    hinge = motion.pose[:, 0, :2] + 0.5 * np.stack([-np.sin(motion.pose[:, 0, 2]), np.cos(motion.pose[:, 0, 2])], 1)
    assert np.abs(hinge).max() <= 1e-13
    total = energy(world, motion)
    assert np.abs(total - total[0]).max() <= 1e-12 * GRAVITY


def test_a_pinned_rod_that_stands_almost_upright_falls_over_as_exactly():
    motion = simulate(hanging((math.pi - 0.1,)), 0.9375, 0.0625)
    theta = truths.toppling(motion.time, 0.1, math.sqrt(1.5 * GRAVITY))
    assert math.pi - motion.pose[:, 0, 2] == pytest.approx(theta, abs=1e-10)


def test_the_mild_double_pendulum_is_exact_after_ten_seconds():
    """Uniform rods from 1 and 0.5 rad; digits of a Taylor integration in thirty digits."""
    motion = simulate(hanging((1.0, 0.5)), 10.0, 5.0)
    exact = [0.491409914355631286, 1.34373875471808505, -1.51717553920669931, -0.495422475021822476]
    state = [*motion.pose[-1, :, 2], *motion.twist[-1, :, 2]]
    assert state == pytest.approx(exact, abs=1e-9)
    assert energy(hanging((1.0, 0.5)), motion) == pytest.approx(-12.25509089692195, abs=1e-11)


def test_a_chain_of_five_rods_keeps_its_pins_and_its_energy():
    world = hanging((1.5, 1.2, 0.8, 0.3, -0.4), length=0.5)
    motion = simulate(world, 2.0, 0.25)
    total = energy(world, motion)
    assert np.abs(total - total[0]).max() <= 1e-11 * 5.0 * GRAVITY
    angle = motion.pose[:, :, 2]
    along = 0.25 * np.stack([-np.sin(angle), np.cos(angle)], axis=2)
    tops, ends = motion.pose[:, :, :2] + along, motion.pose[:, :, :2] - along
    assert np.abs(tops[:, 0]).max() <= 1e-12
    assert np.abs(tops[:, 1:] - ends[:, :-1]).max() <= 1e-12


def test_a_block_on_a_fixed_line_falls_along_it():
    """One joint whose normal stays: only the motion along the line is left, with g times its sine."""
    slope = 0.7
    along, normal = (math.cos(slope), -math.sin(slope)), (math.sin(slope), math.cos(slope))
    slider = Joint(
        first=-1, second=0, first_point=(0.0, 0.0), second_point=(0.0, 0.0), normal=normal, normal_turns=False
    )
    block = Body(shape=box(0.2, 0.1), spin=2.0)
    motion = simulate(World(bodies=(block,), connectors=(slider,)), 1.0, 0.25)
    path = 0.5 * GRAVITY * math.sin(slope) * motion.time**2
    assert motion.pose[:, 0, 0] == pytest.approx(path * along[0], abs=1e-12)
    assert motion.pose[:, 0, 1] == pytest.approx(path * along[1], abs=1e-12)
    assert motion.pose[:, 0, 2] == pytest.approx(2.0 * motion.time, abs=1e-12)


def test_a_pendulum_that_strikes_another_keeps_the_angular_momentum_about_both_pins():
    """Discs on arms of 0.9 m, e = 1/2: I_1 (w - w_1') = l J = I_2 w_2', w_2' - w_1' = e w."""
    arm, r, e = 0.9, 0.1, 0.5
    bob = Body(shape=Disc(r), position=(-arm * math.sin(1.0), -arm * math.cos(1.0)), angle=-1.0)
    other = Body(shape=Disc(r), position=(2.0 * r, -arm), mass=0.5)
    pins = pin(-1, (0.0, 0.0), 0, (0.0, arm)) + pin(-1, (2.0 * r, 0.0), 1, (0.0, arm))
    motion = simulate(World(bodies=(bob, other), connectors=tuple(pins), restitution=e), 0.625, 0.0625)
    per_mass = 0.5 * r * r + arm * arm
    p = math.sqrt(GRAVITY * arm / per_mass)
    hit = motion.events.times("impact")[0]
    assert hit == pytest.approx(truths.pendulum_time(0.0, 1.0, p), abs=1e-10)
    i = int(np.searchsorted(motion.time, hit))
    w = p * math.sqrt(2.0 * (1.0 - math.cos(1.0)))
    assert motion.twist[i, :, 2] == pytest.approx([w, 0.0], abs=1e-10)
    after = w * (1.0 - 0.5 * e) / 1.5
    assert motion.twist[i + 1, :, 2] == pytest.approx([after, after + e * w], abs=1e-10)


def test_a_mass_on_a_spring_is_a_cosine_and_with_damping_a_decaying_one():
    k, m, a = 40.0, 2.0, 0.3
    for damping in (0.0, 1.2):
        spring = Spring(
            first=-1, second=0, first_point=(0.0, 0.0), second_point=(0.0, 0.0), length=1.0, stiffness=k,
            damping=damping,
        )  # fmt: skip
        ball = Body(shape=Disc(0.1), position=(1.0 + a, 0.0), mass=m)
        motion = simulate(World(bodies=(ball,), gravity=(0.0, 0.0), forces=(spring,)), 5.0, 0.25)
        rate = damping / (2.0 * m)
        w = math.sqrt(k / m - rate**2)
        exact = a * np.exp(-rate * motion.time) * (np.cos(w * motion.time) + rate / w * np.sin(w * motion.time))
        assert motion.pose[:, 0, 0] - 1.0 == pytest.approx(exact, abs=1e-11)


def test_two_masses_on_a_spring_swing_with_their_reduced_mass_about_a_centre_that_flies_on():
    spring = Spring(first=0, second=1, first_point=(0.0, 0.0), second_point=(0.0, 0.0), length=1.0, stiffness=30.0)
    bodies = (
        Body(shape=Disc(0.1), position=(0.0, 0.0), velocity=(0.0, 2.0)),
        Body(shape=Disc(0.1), position=(1.2, 0.0), velocity=(0.0, 2.0), mass=3.0),
    )
    motion = simulate(World(bodies=bodies, forces=(spring,)), 2.0, 0.125)
    apart = motion.pose[:, 1, 0] - motion.pose[:, 0, 0]
    assert apart == pytest.approx(1.0 + 0.2 * np.cos(math.sqrt(30.0 / 0.75) * motion.time), abs=1e-11)
    centre = (motion.pose[:, 0, 0] + 3.0 * motion.pose[:, 1, 0]) / 4.0
    assert centre == pytest.approx(0.9, abs=1e-12)
    assert motion.pose[:, 0, 1] == pytest.approx(2.0 * motion.time - 0.5 * GRAVITY * motion.time**2, abs=1e-11)


def test_a_rubber_band_pulls_only_while_it_is_stretched():
    """Thrown away at v: free until the band is taut, half a period of a cosine, and back at -v."""
    band = Spring(
        first=-1, second=0, first_point=(0.0, 0.0), second_point=(0.0, 0.0), length=1.0, stiffness=50.0, pulls_only=True
    )  # fmt: skip
    ball = Body(shape=Disc(0.1), position=(0.2, 0.0), velocity=(2.0, 0.0))
    motion = simulate(World(bodies=(ball,), gravity=(0.0, 0.0), forces=(band,)), 1.5, 0.125)
    w, taut = math.sqrt(50.0), 0.4
    back = taut + math.pi / w
    t = motion.time
    stretched = 1.0 + 2.0 / w * np.sin(w * (np.clip(t, taut, back) - taut))
    exact = np.where(t < taut, 0.2 + 2.0 * t, np.where(t < back, stretched, 1.0 - 2.0 * (t - back)))
    assert motion.pose[:, 0, 0] == pytest.approx(exact, abs=1e-10)


def test_a_thruster_whose_factor_ramps_up_and_down_leaves_its_double_integral():
    """Factor 0 at 0.5 s, 1 at 1 s, 0 at 2 s: the speed at the end is the area of that triangle times F/m."""
    thruster = Thruster(body=0, point=(0.0, 0.0), force=(3.0, 0.0), profile=((0.5, 0.0), (1.0, 1.0), (2.0, 0.0)))
    motion = simulate(
        World(bodies=(Body(shape=box(1.0, 1.0), mass=2.0),), gravity=(0.0, 0.0), forces=(thruster,)), 3.0, 0.25
    )
    rise, fall = 0.5, 1.0
    x = 1.5 * (rise**2 / 6.0 + 0.5 * rise * fall + fall**2 / 3.0)
    assert motion.twist[-1, 0, 0] == pytest.approx(1.5 * 0.75, abs=1e-11)
    assert motion.pose[at(motion, 2.0), 0, 0] == pytest.approx(x, abs=1e-11)
    assert motion.pose[-1, 0, 0] == pytest.approx(x + 1.5 * 0.75, abs=1e-11)
    rows = on_grid(motion, 0.25, 1.0)
    assert motion.pose[rows, 0, 0] == pytest.approx(0.5 * np.maximum(motion.time[rows] - 0.5, 0.0) ** 3, abs=1e-11)


def test_a_rod_whose_ends_are_on_two_rails_falls_like_a_ladder_that_cannot_leave_its_wall():
    """theta'' = 3 g/(2 L) sin(theta) from the vertical, through the level and on: a whole swing under both rails."""
    ends = (
        Joint(first=-1, second=0, first_point=(0.0, 0.0), second_point=(0.0, y), normal=normal, normal_turns=False)
        for y, normal in ((-1.0, (0.0, 1.0)), (1.0, (1.0, 0.0)))
    )
    body = rod(2.0, 0.5, lower=(2.0 * math.sin(0.5), 0.0))
    motion = simulate(World(bodies=(body,), connectors=tuple(ends)), 3.0, 0.125)
    theta = truths.toppling(motion.time, 0.5, math.sqrt(0.75 * GRAVITY))
    assert motion.pose[:, 0, 2] == pytest.approx(theta, abs=1e-10)
    assert motion.pose[:, 0, :2] == pytest.approx(np.stack([np.sin(theta), np.cos(theta)], 1), abs=1e-10)


def test_a_car_rolls_downhill_with_the_inertia_of_its_wheels():
    """a = g sin(slope) (M + 2 m)/(M + 2 m + 2 I/r^2): pins, rolling and a load that tilts forward together."""
    slope, r, M, m = 0.3, 0.25, 3.0, 0.8
    wheels = [Body(shape=Disc(r), position=(x, r), mass=m) for x in (-0.8, 0.8)]
    body = Body(shape=box(2.0, 0.3), position=(0.0, 0.6), mass=M)
    pins = [joint for i, x in ((1, -0.8), (2, 0.8)) for joint in pin(3, (x, r - 0.6), i, (0.0, 0.0))]
    world = World(
        bodies=(ground(), *wheels, body),
        connectors=tuple(pins),
        gravity=downhill(slope),
        friction=0.6,
        restitution=0.0,
        passing=((1, 3), (2, 3)),
    )
    motion = simulate(world, 2.0, 0.25)
    a = GRAVITY * math.sin(slope) * (M + 2.0 * m) / (M + 3.0 * m)
    path = 0.5 * a * motion.time**2
    assert motion.pose[:, 3] == pytest.approx(np.stack([path, 0.6 + 0.0 * path, 0.0 * path], 1), abs=1e-10)
    assert motion.pose[:, 1, 2] == pytest.approx(-path / r, abs=1e-10)
    assert motion.contacts_at(-1).force.sum() == pytest.approx(GRAVITY * math.cos(slope) * (M + 2.0 * m), rel=1e-12)


@pytest.mark.parametrize("order", ["simultaneous", "sequential"])
@pytest.mark.parametrize("friction", [0.0, 1.0])
@pytest.mark.parametrize("angle", [5e-7, 1e-7, 2e-8])
def test_a_rod_that_turns_down_to_lie_beside_another_goes_on_turning_until_its_far_end_lands(angle, friction, order):
    """w' = -m g l/(I + m l^2), l from the pin to the centre: the corner under the pin, h below it, does not end w.

    That corner is at gap h angle^2/2, nothing, and comes down at h w angle, 6e-11 to 2e-9 m/s: by bounces so slow, and
    what they do to the rod that lies there, w changes by less than 1e-8.
    """
    half, thick, w = 0.125, 0.03125, -0.2
    x, y = half * math.cos(angle), half * math.sin(angle)
    lies = Body(shape=box(2.0 * half, thick), position=(-half, thick / 2.0), group=1)
    turns = Body(
        shape=lies.shape, position=(x, thick / 2.0 + y), angle=angle, velocity=(-w * y, w * x), spin=w, group=1
    )
    world = World(
        bodies=(ground(), lies, turns),
        connectors=tuple(pin(1, (half, 0.0), 2, (-half, 0.0))),
        friction=friction,
        restitution=0.5,
    )
    duration = 0.5 * angle / -w  # the far end lands after nearly twice as long
    motion = simulate(world, duration, duration, Settings(impact_order=order))
    inertia = ((2.0 * half) ** 2 + thick**2) / 12.0
    falling = -GRAVITY * half / (inertia + half**2)
    assert motion.twist[-1, 2, 2] == pytest.approx(w + falling * duration, abs=1e-8)
    assert np.abs(motion.twist[-1, 1]).max() <= 1e-8


@pytest.mark.parametrize("static", [0.2, 0.35])
def test_a_block_on_a_spring_and_a_rough_floor_loses_the_same_distance_in_every_half_swing(static):
    """Between turns a cosine about mu m g/k on its way: 2 mu m g/k less each time, pi/W apart, until it sticks."""
    k, mu, start = 50.0, 0.2, 0.5
    spring = Spring(first=-1, second=1, first_point=(-2.0, 0.1), second_point=(0.0, 0.0), length=2.0, stiffness=k)
    block = Body(shape=box(1.0, 0.2), position=(start, 0.1))
    world = World(bodies=(ground(), block), forces=(spring,), friction=mu, static_friction=static, restitution=0.0)
    motion = simulate(world, 3.0, 0.03125)
    W, shift = math.sqrt(k), mu * GRAVITY / k
    turns = [start]
    while k * abs(turns[-1]) > static * GRAVITY:
        turns.append(-math.copysign(abs(turns[-1]) - 2.0 * shift, turns[-1]))
    assert len(turns) >= 5
    half = np.minimum((motion.time * W / math.pi).astype(int), len(turns) - 1)
    middle = np.copysign(shift, np.array(turns)[half])
    swing = middle + (np.array(turns)[half] - middle) * np.cos(W * motion.time - math.pi * half)
    exact = np.where(half < len(turns) - 1, swing, turns[-1])
    assert motion.pose[:, 1, 0] == pytest.approx(exact, abs=1e-9)
    assert motion.events.times("stick")[-1] == pytest.approx(math.pi / W * (len(turns) - 1), abs=1e-9)


def test_links_that_are_stretched_out_and_still_move_are_in_a_singular_position():
    """Two links of 1 m between points 2 m apart; their common end moves sideways, which stretches both at second order.

    Along them no force accelerates the sum of the three pins' gaps, which w^2 L of each link opens: 2 w^2 / 3 for each.
    """
    w = 3.0
    left, right = (
        Body(shape=box(1.0, 0.1), position=(x, 0.0), velocity=(0.0, 0.5 * w), spin=spin, group=1)
        for x, spin in ((0.5, w), (1.5, -w))
    )
    hook, middle = pin(-1, (0.0, 0.0), 0, (-0.5, 0.0)), pin(0, (0.5, 0.0), 1, (-0.5, 0.0))
    joints = (*hook, *middle, *pin(1, (0.5, 0.0), -1, (2.0, 0.0)))
    world = World(bodies=(left, right), connectors=joints, gravity=(0.0, 0.0))
    with pytest.raises(SingularPositionError) as caught:
        simulate(world, 0.1, 0.1)
    assert caught.value.breach == pytest.approx(2.0 * w**2 / 3.0, rel=1e-6)
    assert caught.value.time == 0.0


@pytest.mark.parametrize(("count", "apart"), [(6, 0.06), (6, 0.04), (7, 0.06)])
def test_bars_that_lean_on_the_foot_of_the_next_keep_their_energy_while_the_last_one_falls(count, apart):
    """Bars on pins fall flat onto each other, and the last one goes on alone. The others lean on the feet of their
    neighbours, whose corners are beside their pins: no spin of theirs moves the corners at first. So of the two
    contacts of a pair one decides nothing that the others do not; by 1e-13 of the spin of the last bar it opens, or
    closes. It must not be what stops that bar.
    """
    width, length = 0.03125, 0.25
    feet = [apart * (k - 0.5 * (count - 1)) for k in range(count)]
    bars = tuple(
        Body(shape=box(width, length), mass=30.0, position=(x, 0.5 * length), velocity=(length, 0.0), spin=-2.0)
        for x in feet
    )
    pins = [joint for k, x in enumerate(feet) for joint in pin(-1, (x, 0.0), k, (0.0, -0.5 * length))]
    world = World(bodies=bars, connectors=tuple(pins), friction=0.0, restitution=0.0)
    motion = simulate(world, 0.4, 0.001)
    total = energy(world, motion)
    moved = np.diff(motion.time) > 0.0
    assert np.count_nonzero(motion.twist[-1, :, 2] < -1e-3) >= 3
    assert np.abs(np.diff(total)[moved]).max() <= 1e-9 * total[0]

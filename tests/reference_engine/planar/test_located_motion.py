"""Free flight, damping, contacts that turn, impacts off centre: against closed forms and conservation laws."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference_engine import Body, Disc, Settings, World, box, energy, simulate
from tests.effort import tries
from tests.reference_engine.planar.worlds import GRAVITY, dropped, ground, heap


def test_free_tumbling_is_a_parabola_and_an_even_turn():
    """Round-off of numbers up to 500, a dozen steps."""
    world = World(bodies=(Body(shape=box(1.0, 0.5), position=(0.0, 2.0), angle=0.3, velocity=(1.0, 3.0), spin=4.0),))
    motion = simulate(world, 10.0, 0.1)
    t = motion.time
    exact = np.stack([t, 2.0 + 3.0 * t - 0.5 * GRAVITY * t * t, 0.3 + 4.0 * t], axis=1)
    assert np.abs(motion.pose[:, 0] - exact).max() <= 100 * 500 * 2.0**-53
    assert energy(world, motion) == pytest.approx(energy(world, motion)[0], abs=1e-9)  # of 5 kJ turned over


def test_damping_slows_motion_and_spin_exponentially():
    """m v' = -k v and I w' = -k_r w, I = m r^2 / 2."""
    body = Body(shape=Disc(0.5), velocity=(2.0, 0.0), spin=3.0, mass=2.0)
    world = World(bodies=(body,), gravity=(0.0, 0.0), damping=1.0, rotational_damping=0.15)
    motion = simulate(world, 2.0, 0.5)
    assert motion.twist[:, 0, 0] == pytest.approx(2.0 * np.exp(-motion.time / 2.0), rel=1e-12)
    assert motion.twist[:, 0, 2] == pytest.approx(3.0 * np.exp(-motion.time * 0.15 / 0.25), rel=1e-12)


@pytest.mark.parametrize("speed", [1.0, -1.0, 0.2, -0.2])
def test_a_box_slides_freely_over_the_equal_box_that_it_stands_on(speed):
    """At the start their sides are flush: the lower corner of one is on the top and on the side of the other."""
    lower = Body(shape=box(1.0, 1.0), position=(0.0, 0.5), fixed=True)
    upper = Body(shape=box(1.0, 1.0), position=(0.0, 1.5), velocity=(speed, 0.0))
    motion = simulate(World(bodies=(lower, upper)), 0.25, 0.05)
    t = motion.time
    exact = np.stack([speed * t, np.full_like(t, 1.5), np.zeros_like(t)], axis=1)
    assert motion.pose[:, 1] == pytest.approx(exact, abs=1e-12)


def test_a_box_that_spins_on_a_disc_keeps_its_energy_and_stays_out_of_it():
    """20 rad/s on a frictionless disc: the normal turns with the box, and the force goes where the edge goes."""
    disc = Body(shape=Disc(0.5), position=(0.0, 0.5), fixed=True)
    spinner = Body(shape=box(1.0, 1.0), position=(0.0, 1.5), spin=20.0)
    world = World(bodies=(disc, spinner), restitution=0.0)
    motion = simulate(world, 0.5, 0.01)
    total = energy(world, motion)
    assert len(motion.impacts.time) == 0 and motion.penetration <= 1e-12
    assert np.abs(total - total[0]).max() <= 1e-12 * total[0]


def test_a_disc_rests_on_two_discs():
    """The upper disc of a triangle pushes each lower one with m g / (2 cos 30 deg) along the line of centres."""
    lower = [Body(shape=Disc(0.5), position=(x, 0.5), fixed=True) for x in (0.0, 1.0)]
    upper = Body(shape=Disc(0.5), position=(0.5, 0.5 + math.sqrt(3.0) / 2.0))
    motion = simulate(World(bodies=(*lower, upper), restitution=0.0), 1.0, 0.5)
    assert motion.contacts_at(-1).force == pytest.approx([GRAVITY / math.sqrt(3.0)] * 2, rel=1e-12)
    assert np.abs(motion.pose - motion.pose[0]).max() <= 1e-12


@settings(max_examples=tries(60))
@given(
    e=st.floats(0.0, 1.0),
    mass=st.floats(1e-3, 1e3),
    offset=st.floats(-0.9, 0.9),
    speed=st.floats(0.01, 10.0),
    order=st.sampled_from(["simultaneous", "sequential"]),
)
def test_an_impact_off_centre_keeps_momentum_and_returns_e_of_the_approach_speed(e, mass, offset, speed, order):
    """Newton: u_plus = -e u_minus along the normal; the pair keeps its momentum and angular momentum. To round-off."""
    masses = (1.0, mass)
    bodies = (
        Body(shape=Disc(0.5), position=(-2.0, 0.0), velocity=(speed, 0.0)),
        Body(shape=Disc(0.5), position=(0.0, offset), mass=mass),
    )
    world = World(bodies=bodies, gravity=(0.0, 0.0), restitution=e)
    motion = simulate(world, 1.9 / speed, 0.5 / speed, Settings(impact_order=order))
    before, *_, after = np.flatnonzero(motion.time == motion.impacts.time[0])  # another where the grid has that time
    normal = motion.impacts.normal[0]
    a, b = motion.impacts.pair[0]

    def approach(k):
        return float(normal @ (motion.twist[k, b, :2] - motion.twist[k, a, :2]))

    def momentum(k):
        p = sum(m * motion.twist[k, i, :2] for i, m in enumerate(masses))
        arms, v = motion.pose[k, :, :2], motion.twist[k, :, :2]
        turn = sum(m * (arms[i, 0] * v[i, 1] - arms[i, 1] * v[i, 0]) for i, m in enumerate(masses))
        return np.array([*p, turn])

    slow = 2e-12 * (1.0 + speed)  # what is slower than round-off of the rates does not bounce
    assert approach(after) == pytest.approx(-e * approach(before), rel=1e-12, abs=slow)
    assert momentum(after) == pytest.approx(momentum(before), abs=1e-13 * speed * (1.0 + mass) * 3.0)
    assert motion.pose[after] == pytest.approx(motion.pose[before], abs=1e-12)


def test_impulses_account_for_the_jump_of_velocity_and_of_spin():
    """m (u_plus - u_minus) = sum of impulses, I (w_plus - w_minus) = sum of their moments, friction included."""
    block = Body(shape=box(1.0, 0.5), position=(0.0, 1.0), angle=0.3, velocity=(1.0, 0.0))
    world = World(bodies=(ground(), block), restitution=0.5, friction=0.4)
    motion = simulate(world, 1.0, 0.1)
    impacts = motion.impacts
    times = np.unique(impacts.time[impacts.speed < -0.1])  # not the last of a series, which stands for all the rest
    assert len(times) > 3
    tangent = np.stack([-impacts.normal[:, 1], impacts.normal[:, 0]], axis=1)
    on_block = np.where(impacts.pair[:, 1] == 1, 1.0, -1.0)[:, None]
    impulse = on_block * (impacts.impulse[:, None] * impacts.normal + impacts.friction[:, None] * tangent)
    for time in times:
        first, *_, last = np.flatnonzero(motion.time == time)
        jump = motion.twist[last, 1] - motion.twist[first, 1]
        now = impacts.time == time
        arm = impacts.point[now] - motion.pose[first, 1, :2]
        moment = (arm[:, 0] * impulse[now, 1] - arm[:, 1] * impulse[now, 0]).sum()
        assert jump[:2] == pytest.approx(impulse[now].sum(axis=0), abs=1e-12)
        assert jump[2] * block.inertia == pytest.approx(moment, abs=1e-12)


@pytest.mark.parametrize("world", [dropped(box(1.0, 1.0), restitution=0.7), heap(1)], ids=["block", "heap"])
def test_a_run_repeats_bit_for_bit(world):
    runs = [simulate(world, 1.0, 0.1) for _ in range(2)]
    assert np.array_equal(runs[0].pose, runs[1].pose) and np.array_equal(runs[0].time, runs[1].time)

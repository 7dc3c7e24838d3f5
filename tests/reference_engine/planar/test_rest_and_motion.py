"""Free flight, stacks, a ladder on a smooth wall, heaps."""

import math

import numpy as np
import pytest

from reference_engine import Body, Disc, Settings, World, box, energy, least_gap, simulate
from tests.reference_engine.planar.worlds import (
    GAP,
    GRAVITY,
    TOLERANCE,
    energy_gained,
    face_forces,
    heap,
    ladder,
    stack,
)


def test_free_tumbling_is_exact():
    """A parabola and an even spin: RK4 has no error but round-off, 2400 additions of numbers up to 500."""
    world = World(bodies=(Body(shape=box(1.0, 0.5), position=(0.0, 2.0), angle=0.3, velocity=(1.0, 3.0), spin=4.0),))
    motion = simulate(world, 10.0, 1 / 240)
    t = motion.time
    exact = np.stack([t, 2.0 + 3.0 * t - 0.5 * GRAVITY * t * t, 0.3 + 4.0 * t], axis=1)
    assert np.abs(motion.pose[:, 0] - exact).max() <= 2400 * 500 * 2.0**-53
    assert energy(world, motion) == pytest.approx(energy(world, motion)[0], abs=1e-9)  # of 5 kJ turned over


def test_damping_slows_exponentially():
    """m v' = -k v and I w' = -k_r w. RK4 at k dt = 1/240: (k dt)^5 / 120 a step, 1e-12 in all."""
    body = Body(shape=Disc(0.5), velocity=(2.0, 0.0), spin=3.0, mass=2.0)
    world = World(bodies=(body,), gravity=(0.0, 0.0), damping=1.0, rotational_damping=0.15)
    motion = simulate(world, 2.0, 1 / 240)
    assert motion.twist[-1, 0, 0] == pytest.approx(2.0 * math.exp(-1.0), rel=1e-11)
    assert motion.twist[-1, 0, 2] == pytest.approx(3.0 * math.exp(-2.0 * 0.15 / 0.25), rel=1e-11)


@pytest.mark.parametrize("gap", [GAP, 0.0], ids=["at the gap", "touching"])
@pytest.mark.parametrize("mass_ratio", [1.0, 1000.0])
@pytest.mark.parametrize("n", [3, 5, 10, 20])
def test_a_frictionless_stack_stands_and_each_face_carries_the_weight_above(n, mass_ratio, gap):
    """Round-off of the solver, 1e-16 times the number of faces and of masses: measured 3e-12 at n = 20, 1:1000."""
    world = stack(n, mass_ratio=mass_ratio, gap=gap)
    motion = simulate(world, 2.0, 1 / 240)
    masses = [body.mass for body in world.bodies[1:]]
    for i in range(n):
        weight = GRAVITY * sum(masses[i:])
        assert face_forces(motion, i, i + 1) == pytest.approx(weight, rel=1e-10)
    assert len(motion.impacts.time) == 0
    assert np.abs(motion.pose - motion.pose[0]).max() <= 1e-8
    assert np.abs(least_gap(world, motion) - gap).max() <= 1e-12


@pytest.mark.parametrize("gap", [GAP, 0.0], ids=["at the gap", "touching"])
@pytest.mark.parametrize("steps", [60, 240, 1000])
def test_a_ladder_on_a_smooth_wall_leaves_it_at_two_thirds_of_the_height(gap, steps):
    """cos theta_d = (2/3) cos theta_0: 0.9458484 rad at 0.4749873 s; after that v_x stays 1.2138366 m/s.

    The rod is 0.2 mm thick and stands off wall and floor at both ends alike, which moves nothing; contact is lost to
    within one step, and velocity drift at the contacts is taken out at 1/h: 2e-4 at 1/240 s, 1.4e-3 at 1/60 s.
    In touch, the inner stages of a step are in the wall and the floor by up to omega^2 L dt^2 / 8; the ends are not.
    """
    world, dt = ladder(gap=gap), 1 / steps
    motion = simulate(world, 0.6, dt)
    on_wall = np.flatnonzero(face_to_wall(motion) > 0.0)[-1]
    assert motion.time[on_wall] == pytest.approx(0.4749873338931869, abs=dt)
    assert motion.pose[on_wall, 2, 2] == pytest.approx(0.9458484017732559, abs=2.2 * dt)
    assert motion.twist[-1, 2, 0] == pytest.approx(1.213836588507554, abs=2e-3 if steps == 60 else 2e-4)
    assert least_gap(world, motion).min() >= -1e-10
    assert motion.impacts.impulse.max(initial=0.0) <= 1e-4  # N s, of m v = 1.2; round-off at gap 0


def test_a_box_slides_freely_over_the_equal_box_that_it_stands_on():
    """At the start their sides are flush: the lower corner of one is on the top and on the side of the other."""
    lower = Body(shape=box(1.0, 1.0), position=(0.0, 0.5), fixed=True)
    for speed in (1.0, -1.0, 0.2, -0.2):
        upper = Body(shape=box(1.0, 1.0), position=(0.0, 1.5), velocity=(speed, 0.0))
        motion = simulate(World(bodies=(lower, upper)), 0.25, 1 / 240)
        t = motion.time
        exact = np.stack([speed * t, np.full_like(t, 1.5), np.zeros_like(t)], axis=1)
        assert motion.pose[:, 1] == pytest.approx(exact, abs=1e-12)


def face_to_wall(motion):
    contacts, total = motion.contacts, np.zeros(len(motion.time))
    sample = np.repeat(np.arange(len(motion.time)), np.diff(motion.first_contact))
    on_wall = (contacts.pair == 1).any(axis=1)
    np.add.at(total, sample[on_wall], contacts.force[on_wall])
    return total


@pytest.mark.parametrize("seed", range(12))
def test_a_heap_neither_penetrates_nor_gains_energy(seed):
    """Forces that lift bodies to their resting gap may add weight times tolerance, all bodies at once; no more.

    Needs the separation tolerance: without it contact forces work on bodies that part.
    """
    world = heap(seed)
    motion = simulate(world, 2.0, 1 / 240, Settings(separation_tolerance=0.05))
    weight = GRAVITY * sum(body.mass for body in world.bodies if not body.fixed)
    assert least_gap(world, motion).min() >= -1e-10
    assert energy_gained(energy(world, motion)) <= weight * TOLERANCE


@pytest.mark.parametrize("steps", [60, 240])
def test_a_box_that_spins_on_a_disc_in_touch_stays_out_of_it(steps):
    """20 rad/s is a third of a radian in a step of 1/60 s: steps are cut where bodies in touch drift together."""
    disc = Body(shape=Disc(0.5), position=(0.0, 0.5), fixed=True)
    spinner = Body(shape=box(1.0, 1.0), position=(0.0, 1.5), spin=20.0)
    world = World(bodies=(disc, spinner), restitution=0.0)
    motion = simulate(world, 0.5, 1 / steps)
    assert least_gap(world, motion).min() >= -1e-10
    assert energy_gained(energy(world, motion)) <= 1e-3  # J, of 33; Runge-Kutta, 0.08 rad a step: measured 4e-4


def test_a_fast_disc_does_not_pass_through_a_thin_plank():
    """100 m/s is 0.4 m a step, 20 times the plank: steps are cut so that nothing moves half through another."""
    plank = Body(shape=box(0.02, 2.0), fixed=True)
    bullet = Body(shape=Disc(0.01), position=(-1.0, 0.1), velocity=(100.0, 0.0))
    motion = simulate(World(bodies=(plank, bullet), gravity=(0.0, 0.0), restitution=1.0), 0.1, 1 / 240)
    assert motion.twist[-1, 1, 0] == pytest.approx(-100.0, rel=1e-12)


def test_a_disc_rests_on_two_discs():
    """The upper disc of a triangle pushes each lower one with m g / (2 cos 30 deg) along the line of centres."""
    r, wall = 0.5, 0.5
    shift = 2.0 * r + GAP
    lower = [Body(shape=Disc(r), position=(x, r), fixed=True) for x in (0.0, shift)]
    upper = Body(shape=Disc(r), position=(wall * shift, r + shift * math.sqrt(3.0) / 2.0))
    motion = simulate(World(bodies=(*lower, upper), restitution=0.0), 1.0, 1 / 240)
    assert motion.contacts_at(-1).force == pytest.approx([GRAVITY / math.sqrt(3.0)] * 2, rel=1e-9)

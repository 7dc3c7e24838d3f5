"""What motion with friction conserves, takes and never does, whatever the scene."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference_engine import Body, LocatedMotion, Settings, World, box, energy, simulate
from tests.effort import tries
from tests.reference_engine.planar.scenes import ROUND_OFF_OF_GAPS, flat, ground
from tests.reference_engine.planar.test_friction_rods import falling, ladder
from tests.reference_engine.planar.worlds import energy_gained, heap


@pytest.mark.parametrize("impact_law", ["newton", "poisson"])
@given(
    e=st.one_of(st.just(0.0), st.floats(0.0, 1.0)),
    mu=st.floats(0.0, 1.5),
    ratio=st.floats(-2.0, 2.0),
    angle=st.floats(0.0, 3.0),
    offset=st.floats(-0.4, 0.4),
    spin=st.floats(-5.0, 5.0),
)
@settings(max_examples=tries(20))
def test_two_free_blocks_with_friction_keep_momentum_and_angular_momentum(
    impact_law, e, mu, ratio, angle, offset, spin
):
    """No forces from outside; masses 1 : 10^ratio. Without restitution, or by Poisson's law, energy is only lost."""
    first = Body(shape=box(0.8, 0.5), position=(-1.5, offset), angle=angle, velocity=(3.0, 0.0), spin=spin)
    second = Body(shape=box(0.6, 0.6), position=(0.5, 0.0), angle=0.3, mass=10.0**ratio)
    world = World(bodies=(first, second), restitution=e, friction=mu, gravity=(0.0, 0.0))
    motion = simulate(world, 1.0, 0.25, Settings(impact_law=impact_law))
    m = np.array([body.mass for body in world.bodies])
    inertia = np.array([body.inertia for body in world.bodies], np.float64)
    x, v = motion.pose[..., :2], motion.twist[..., :2]
    momentum = (m[:, None] * v).sum(axis=1)
    turning = (m * (x[..., 0] * v[..., 1] - x[..., 1] * v[..., 0]) + inertia * motion.twist[..., 2]).sum(axis=1)
    scale = 10.0 * m.sum()
    assert momentum == pytest.approx(np.broadcast_to(momentum[0], momentum.shape), abs=1e-13 * scale)
    assert turning == pytest.approx(turning[0], abs=1e-12 * scale)
    if e == 0.0 or impact_law == "poisson":
        assert (np.diff(energy(world, motion)) <= 1e-12 * scale).all()
    assert motion.penetration <= ROUND_OFF_OF_GAPS


@pytest.mark.parametrize("seed", range(6))
def test_heaps_with_friction_only_lose_energy_and_never_overlap(seed):
    """Boxes and discs, masses up to 1 : 1000, falling between two walls; mu = 0.4, e = 0; they end at rest."""
    world = World(bodies=heap(seed).bodies, restitution=0.0, friction=0.4)
    motion = simulate(world, 3.0, 0.125)
    scale = sum(9.81 * body.mass for body in world.bodies if not body.fixed)
    assert energy_gained(energy(world, motion)) <= 1e-11 * scale
    assert motion.penetration <= 1e-11
    contacts = motion.contacts
    assert (contacts.force >= 0.0).all()
    assert (np.abs(contacts.friction) <= 0.4 * contacts.force + 1e-11 * scale).all()


def test_a_mirrored_world_moves_as_its_mirror_image():
    """A block that tumbles over a rough floor, thrown to the right and to the left."""
    ends = []
    for way in (1.0, -1.0):
        block = Body(shape=box(0.6, 0.4), position=(0.0, 0.8), angle=way * 0.4, velocity=(way * 2.0, 0.0), spin=-way)
        motion = simulate(World(bodies=(ground(), block), friction=0.5, restitution=0.0), 1.0, 0.25)
        ends.append(motion.pose[-1, 1] * [way, 1.0, way])
    assert ends[0] == pytest.approx(ends[1], abs=1e-9)


def test_friction_of_a_pair_of_zero_is_a_world_without_friction():
    """A matrix of zeros, one number 0 and nothing at all are the same motion, bit for bit."""
    bodies = (ground(), dataclasses.replace(flat(1.0, 0.5, bottom=0.3), angle=0.2, velocity=(1.0, 0.0)))
    motions = [
        simulate(World(bodies=bodies, restitution=0.3, **given), 2.0, 0.5)
        for given in ({}, {"friction": 0.0}, {"friction": np.zeros((2, 2))})
    ]
    for motion in motions[1:]:
        assert (motion.pose == motions[0].pose).all() and (motion.time == motions[0].time).all()


def pushes(world: World, motion: LocatedMotion, sample: int) -> np.ndarray:
    """(B, 3): force and torque of gravity and of the contacts that the motion reports at a sample."""
    contacts = motion.contacts_at(sample)
    total = np.zeros((len(world.bodies), 3))
    total[:, :2] = [[body.mass * g for g in world.gravity] for body in world.bodies]
    for (a, b), point, n, normal, along in zip(
        contacts.pair, contacts.point, contacts.normal, contacts.force, contacts.friction, strict=True
    ):
        force = normal * n + along * np.array([-n[1], n[0]])
        for body, way in ((a, -1.0), (b, 1.0)):
            r = point - motion.pose[sample, body, :2]
            total[body] += [*(way * force), way * (r[0] * force[1] - r[1] * force[0])]
    return total


@pytest.mark.parametrize(
    ("world", "duration"),
    [(falling(0.5), 0.85), (ladder(0.8, 0.3, 0.2), 0.6), (World(bodies=heap(3).bodies, friction=0.4), 0.5)],
    ids=["falling rod", "ladder", "heap"],
)
def test_reported_normal_and_friction_forces_are_what_accelerates_the_bodies(world, duration):
    """m a and I alpha by central differences over half a millisecond in which nothing happens."""
    step = 2.5e-4
    motion = simulate(dataclasses.replace(world, restitution=0.0), duration, step)
    mass = np.array([[body.mass, body.mass, body.inertia or 1.0] for body in world.bodies])
    free = np.array([not body.fixed for body in world.bodies])
    checked = 0
    for i in range(1, len(motion.time) - 1):
        before, after = motion.time[i] - motion.time[i - 1], motion.time[i + 1] - motion.time[i]
        near = np.abs(motion.events.time - motion.time[i]) < 1.01 * step
        if abs(before - step) + abs(after - step) > 1e-12 or near.any():
            continue
        missing = mass * (motion.twist[i + 1] - motion.twist[i - 1]) / (2.0 * step) - pushes(world, motion, i)
        assert np.abs(missing[free] / mass[free]).max() <= 5e-3
        checked += 1
    assert checked > 200

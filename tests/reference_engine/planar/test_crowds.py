"""Crowded and badly scaled scenes go on: each of these once ended a run, at the contact that its name says."""

import math

import numpy as np
import pytest

from reference_engine import Body, Disc, Settings, UnresolvedContact, World, box, energy, simulate
from reference_engine.planar.simulate import penetration
from tests.reference_engine.planar.arcs import half_disc, lens, loaded_disc, stadium, trough
from tests.reference_engine.planar.worlds import energy_gained, ground, heap, left_wall

SHAPES = (
    lens(0.5, 0.3), stadium(0.3, 0.15), half_disc(0.4)[0], loaded_disc(0.3, 0.1), box(0.6, 0.4), Disc(0.3),
    trough(0.4, 0.15, centre_of_mass=(0.0, -0.3)),
)  # fmt: skip


def rounded_heap(seed: int) -> World:
    """Up to four bodies, most with arcs, fall on one another."""
    draw = np.random.default_rng(seed)
    fallers = [
        Body(
            shape=SHAPES[int(draw.integers(7))],
            inertia=0.1,
            position=(float(draw.normal(0.0, 0.3)), 1.0 + 1.3 * k),
            angle=float(draw.uniform(0.0, 6.0)),
            spin=float(draw.normal()),
        )
        for k in range(int(draw.integers(1, 5)))
    ]
    restitution, friction = float(draw.choice([0.0, 0.3, 0.7])), float(draw.choice([0.0, 0.3, 0.8]))
    return World(bodies=(ground(), *fallers), friction=friction, restitution=restitution)


def weight_over_a_metre(world: World) -> float:
    return sum(9.81 * body.mass for body in world.bodies if not body.fixed)


@pytest.mark.parametrize(
    ("seed", "friction", "restitution"),
    [(308, 0.4, 0.0), (204, 0.3, None)],
    ids=["a cone without a force", "impulses by another cover"],
)
def test_a_heap_goes_on_and_nothing_overlaps(seed, friction, restitution):
    given = heap(seed)
    restitution = given.restitution if restitution is None else restitution
    motion = simulate(World(bodies=given.bodies, restitution=restitution, friction=friction), 3.0, 0.125)
    assert motion.time[-1] == 3.0
    assert motion.penetration <= 1e-12
    assert motion.residual <= 1.0  # every problem was solved to round-off at the first attempt


def test_bounces_without_loss_end_where_friction_takes_their_energy():
    """e = 1: a plate between two discs that turn rattles ever faster, by a factor that friction alone puts below 1."""
    plate, rod = box(1.0, 0.46875), box(0.25, 2.5)
    bodies = (
        ground(),
        Body(shape=rod, mass=0.03, inertia=0.03 * 6.3125 / 12.0, position=(0.0, 1.25), spin=-20.0),
        Body(
            shape=Disc(1.25), mass=0.5, inertia=0.390625, position=(1.015625, 3.75), velocity=(0.0, 1.875), spin=-0.625
        ),
        Body(shape=Disc(1.015625), inertia=0.5 * 1.015625**2, position=(1.015625, 6.515625), velocity=(0.75, 0.0)),
        Body(shape=plate, mass=0.03, inertia=0.03 * (1.0 + 0.46875**2) / 12.0, position=(1.0, 7.765625), spin=1.875),
        Body(
            shape=Disc(1.25), mass=0.5, inertia=0.390625, position=(1.015625, 9.25), velocity=(0.0, 1.875), spin=-0.625
        ),
        Body(shape=Disc(0.125), mass=0.03, inertia=0.03 * 0.125**2 / 2.0, position=(0.0, 10.6875)),
    )
    world = World(bodies=bodies, friction=1.0, restitution=1.0)
    motion = simulate(world, 0.5, 0.05, Settings(impact_law="poisson", max_events=5000))
    assert len(motion.events.times("accumulation")) > 0
    assert energy_gained(energy(world, motion)) <= 1e-12 * energy(world, motion)[0]


@pytest.mark.parametrize(
    ("seed", "until"),
    [(17, 1.3), (22, 2.3), (53, 1.7)],
    ids=["a face that falls flat", "from a corner to the arc beside it", "a corner in a hollow that came off it"],
)
def test_bodies_with_arcs_go_on_and_gain_nothing(seed, until):
    world = rounded_heap(seed)
    motion = simulate(world, until, 0.05, Settings(impact_law="poisson"))
    assert motion.penetration <= 1e-12
    assert energy_gained(energy(world, motion)) <= 1e-12 * weight_over_a_metre(world)


@pytest.mark.parametrize("tolerance", [1e-2, 1e-4, 1e-6])
def test_a_block_that_slides_down_a_wall_lands_at_any_tolerance(tolerance):
    """The contacts that hold drift by the tolerance within a step: that is no overlap of theirs."""
    length, width, lean = 2.0, 0.1, 0.4
    across = 0.5 * (length * math.sin(lean) + width * math.cos(lean))
    height = 0.5 * (length * math.cos(lean) + width * math.sin(lean))
    plank = Body(
        shape=box(width, length), position=(across, height), angle=lean, inertia=length**2 / 12.0, name="plank"
    )
    world = World(bodies=(ground(), left_wall(), plank), friction=0.0, restitution=0.0)
    exact = simulate(world, 1.5, 0.1).pose[-1, 2]
    coarse = simulate(world, 1.5, 0.1, Settings(tolerance=tolerance)).pose[-1, 2]
    assert abs(coarse[0] - exact[0]) < max(1e-5, 10.0 * tolerance)
    assert coarse[1] == pytest.approx(0.5 * width, abs=1e-12)


def test_a_face_across_a_block_and_a_disc_of_equal_height_moves_nothing_sideways():
    """Its end comes to the top of the disc: a normal all but upright, whose gap is off by round-off, is no lever."""
    small = box(0.25, 0.25)
    bodies = (
        ground(),
        Body(shape=small, mass=0.1, position=(-0.17, 0.125), velocity=(1.5, 0.0)),
        Body(shape=small, mass=0.1, position=(-0.0451, 0.375), velocity=(3.0, 0.0)),
        Body(shape=Disc(0.125), mass=0.1, position=(0.08, 0.125), velocity=(1.5, 0.0)),
    )
    motion = simulate(World(bodies=bodies, friction=0.0, restitution=0.0), 0.1, 0.001)
    assert motion.penetration <= 1e-12
    np.testing.assert_allclose(motion.pose[:, 1, 0], -0.17 + 1.5 * motion.time, atol=1e-6)
    np.testing.assert_allclose(motion.pose[:, 3, 0], 0.08 + 1.5 * motion.time, atol=1e-6)


def test_an_overlap_is_reported_with_the_time_the_bodies_and_the_depth():
    world = World(bodies=(ground("floor"), Body(shape=Disc(0.5), position=(0.0, 0.5), name="ball")))
    poses = np.array([[(0.0, 0.0, 0.0), (0.0, height, 0.0)] for height in (0.6, 0.499, 0.5)])
    with pytest.raises(UnresolvedContact) as failure:
        penetration(world, poses, np.array([0.0, 0.25, 0.5]))
    assert failure.value.time == 0.25
    assert failure.value.bodies == ("floor", "ball")
    assert failure.value.gap == pytest.approx(-0.001, abs=1e-12)

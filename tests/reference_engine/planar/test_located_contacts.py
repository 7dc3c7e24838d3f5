"""Bodies that rest, slide, lean and let go. Contact means gap 0."""

import math

import numpy as np
import pytest

from reference_engine import Body, Disc, Polygon, Settings, World, box, energy, simulate
from tests.reference_engine.planar.worlds import (
    GRAVITY,
    energy_gained,
    face_forces,
    ground,
    left_wall,
    stack,
    upright_block,
)

ROUND_OFF_OF_GAPS = 1e-12  # m


def test_a_block_that_stands_stays_where_it_is():
    motion = simulate(upright_block(height=1.5), 20.0, 1.0)
    assert len(motion.impacts.time) == 0
    assert np.abs(motion.pose - motion.pose[0]).max() <= ROUND_OFF_OF_GAPS
    assert motion.contacts_at(-1).force == pytest.approx([2.5, 2.5], rel=1e-12)


def test_a_block_dropped_by_a_millimetre_lands_once_and_does_not_hover():
    """e = 0: one impact, of both corners together, at sqrt(2 h/g)."""
    block = Body(shape=box(1.0, 3.0), position=(0.0, 1.501))
    motion = simulate(World(bodies=(ground(), block), restitution=0.0), 20.0, 1.0)
    assert motion.events.times("impact") == pytest.approx([math.sqrt(0.002 / GRAVITY)], rel=1e-12)
    assert motion.pose[-1, 1] == pytest.approx([0.0, 1.5, 0.0], abs=ROUND_OFF_OF_GAPS)


def test_a_rocking_block_comes_to_rest_on_the_ground_and_strikes_no_more():
    """7 mm up, turning at 0.05 rad/s, e = 0.8: it rattles, stands at gap 0, and stays for the rest of 20 s."""
    world = upright_block(height=1.507, spin=0.05)
    motion = simulate(world, 20.0, 0.5)
    assert motion.events.time[-1] < 1.0
    assert motion.pose[-1, 1] == pytest.approx([0.0, 1.5, 0.0], abs=ROUND_OFF_OF_GAPS)
    assert np.abs(motion.twist[-1]).max() <= 1e-12
    assert energy_gained(energy(world, motion)) <= 1e-12 * 7.5
    assert motion.contacts_at(-1).force == pytest.approx([2.5, 2.5], rel=1e-12)


@pytest.mark.parametrize("n", [2, 5, 20])
def test_every_face_of_a_stack_carries_the_weight_above_it(n):
    """Masses 1 to 1000 kg, the heavy ones on top; each box a little beside the one below."""
    world = stack(n, mass_ratio=1000.0)
    motion = simulate(world, 20.0, 5.0)
    masses = [body.mass for body in world.bodies[1:]]
    for i in range(n):
        weight = GRAVITY * sum(masses[i:])
        assert face_forces(motion, i, i + 1) == pytest.approx(weight, rel=1e-12)
    assert np.abs(motion.pose - motion.pose[0]).max() <= ROUND_OFF_OF_GAPS
    assert len(motion.impacts.time) == 0


def leaning_rod(length: float = 2.0, tilt: float = 0.5) -> World:
    """A rod against a smooth wall on a smooth floor: a rhombus, its tips the ends of the rod."""
    rod = Body(
        shape=Polygon([(0.0, -length / 2.0), (1e-3, 0.0), (0.0, length / 2.0), (-1e-3, 0.0)]),
        inertia=length**2 / 12.0,
        position=(length / 2.0 * math.sin(tilt), length / 2.0 * math.cos(tilt)),
        angle=tilt,
    )
    return World(bodies=(ground(), left_wall(), rod), restitution=0.0)


def test_a_sliding_ladder_leaves_the_wall_where_the_wall_would_have_to_pull():
    """cos th_d = 2/3 cos th_0; until then a pendulum of (L/2)^2 + L^2/12, so t_d is a quadrature (scipy, 15 digits).

    Afterwards v_x = sqrt(g L c) c / 3 with c = cos th_0 is constant.
    """
    world = leaning_rod()
    motion = simulate(world, 0.69, 0.01)
    assert motion.events.kind.tolist() == ["made", "made", "broken"]
    assert motion.events.time[-1] == pytest.approx(0.4749873338931869, abs=1e-9)
    free = motion.time > 0.475
    c = math.cos(0.5)
    assert motion.twist[free, 2, 0] == pytest.approx(math.sqrt(2.0 * GRAVITY * c) * c / 3.0, abs=1e-9)
    assert np.abs(energy(world, motion) / energy(world, motion)[0] - 1.0).max() <= 1e-12
    assert motion.penetration <= ROUND_OFF_OF_GAPS


def test_the_error_of_a_sliding_ladder_follows_the_tolerance_over_seven_decades():
    """200 m long: at 1e-5 and looser four steps of a tenfold growth reach the end. Against the run at 1e-13."""
    world = leaning_rod(length=200.0)
    exact = simulate(world, 4.0, 4.0).pose[-1, 2, :2]
    tolerances = 10.0 ** -np.arange(5, 13)
    errors = []
    for tolerance in tolerances:
        end = simulate(world, 4.0, 4.0, Settings(tolerance=float(tolerance)))
        errors.append(np.abs(end.pose[-1, 2, :2] - exact).max())
    assert (np.array(errors) <= 10.0 * tolerances).all()
    slope = np.polyfit(np.log10(tolerances), np.log10(errors), 1)[0]
    assert 0.8 <= slope <= 1.2


def test_the_error_estimate_bounds_the_error():
    world = leaning_rod(length=200.0)
    exact = simulate(world, 4.0, 1.0)
    motion = simulate(world, 4.0, 1.0, Settings(tolerance=1e-8), estimate_error=True)
    error = np.abs(motion.pose[:, 2] - exact.pose[:, 2]).max()
    assert motion.error_estimate is not None
    assert error <= motion.error_estimate <= 1e-4
    assert exact.error_estimate is None


def test_a_disc_that_slides_off_a_table_turns_about_its_edge_and_then_flies():
    """Frictionless, at the corner a pendulum: it lets go at cos th = (2 + v^2/(g r))/3, without spin."""
    r, v = 0.2, 0.5
    table = Body(shape=box(2.0, 1.0), position=(-1.0, -0.5), fixed=True)
    disc = Body(shape=Disc(r), position=(-0.25, r), velocity=(v, 0.0))
    world = World(bodies=(table, disc), restitution=0.0)
    motion = simulate(world, 1.2, 0.01)
    leaves = motion.events.time[motion.events.kind == "broken"]
    assert leaves[0] == pytest.approx(0.25 / v, abs=1e-11)  # from the face to the corner, seen 1e-12 m past it
    at = np.searchsorted(motion.time, leaves[1])
    speed = math.sqrt(v * v + 2.0 * GRAVITY * r * (1.0 - (2.0 + v * v / (GRAVITY * r)) / 3.0))
    across = speed * (2.0 + v * v / (GRAVITY * r)) / 3.0
    assert motion.twist[at + 1 :, 1, 0] == pytest.approx(across, abs=1e-9)
    assert np.abs(motion.twist[:, 1, 2]).max() == 0.0
    assert np.abs(energy(world, motion) - energy(world, motion)[0]).max() <= 1e-12 * 10.0
    assert motion.penetration <= ROUND_OFF_OF_GAPS


def test_a_block_pushed_over_the_end_of_a_table_keeps_its_energy_and_touches_nothing_else():
    """Its centre passes the edge, it tips about the table's corner, slides off it and falls."""
    table = Body(shape=box(2.0, 0.2), position=(-1.0, -0.1), fixed=True)
    block = Body(shape=box(0.4, 0.1), position=(-0.3, 0.05), velocity=(0.5, 0.0))
    world = World(bodies=(table, block), restitution=0.0)
    motion = simulate(world, 1.2, 0.01)
    total = energy(world, motion)
    assert len(motion.impacts.time) == 0
    assert np.abs(total - total[0]).max() <= 1e-12 * 10.0
    assert motion.twist[-1, 1, 2] < -0.1 and motion.pose[-1, 1, 1] < -0.5
    assert motion.penetration <= ROUND_OFF_OF_GAPS


def test_damped_sliding_follows_its_exponential():
    """x' = v exp(-k t/m); a block on the ground, both corners held."""
    block = Body(shape=box(1.0, 0.5), position=(0.0, 0.25), velocity=(2.0, 0.0), mass=2.0)
    world = World(bodies=(ground(), block), damping=0.6)
    motion = simulate(world, 5.0, 0.25)
    decay = np.exp(-0.3 * motion.time)
    assert motion.twist[:, 1, 0] == pytest.approx(2.0 * decay, abs=1e-12)
    assert motion.pose[:, 1, 0] == pytest.approx(2.0 / 0.3 * (1.0 - decay), abs=1e-11)
    assert motion.pose[:, 1, 1] == pytest.approx(0.25, abs=ROUND_OFF_OF_GAPS)

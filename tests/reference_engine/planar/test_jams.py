"""Jams: contacts that slide, and several of which together let no finite forces be; an impulse stops them."""

import math

import numpy as np
import pytest

from reference_engine import Body, Settings, World, box, energy, simulate
from tests.effort import few
from tests.reference_engine.planar.scenes import ROUND_OFF_OF_GAPS, ground, pin, rod
from tests.reference_engine.planar.worlds import energy_gained, heap

LEAN, LENGTH, THICK = 0.4, 1.0, 0.2


def self_locking(friction: float, speed: float) -> World:
    """A block on a smooth floor, and on it the end of a rod that is pinned above it, LEAN from the vertical.

    A block that moves to the left drags the end below the pin, where there is less room: with friction above tan LEAN
    each newton of normal force brings friction that presses the end down by more than the newton lifts it.
    """
    block = Body(shape=box(4.0, THICK), position=(0.0, 0.5 * THICK), velocity=(speed, 0.0), mass=2.0, name="block")
    arm = rod(LENGTH, LEAN, lower=(0.0, THICK), name="rod")
    top = (-LENGTH * math.sin(LEAN), THICK + LENGTH * math.cos(LEAN))
    pair = np.zeros((3, 3))
    pair[1, 2] = pair[2, 1] = friction
    return World(bodies=(ground(), block, arm), connectors=tuple(pin(-1, top, 2, (0.0, 0.5 * LENGTH))), friction=pair)


def test_a_self_locking_brake_stops_the_block_at_once():
    """No end of the rod can go down, so nothing goes on moving: friction impulse m v, along the rod with its normal.

    The moment of both about the pin is zero: J_t cos LEAN = J_n sin LEAN. The floor's two corners give J_n back.
    """
    world = self_locking(0.8, -1.5)
    motion = simulate(world, 1.0, 0.25)
    assert motion.events.times("jam").tolist() == [0.0]
    brake = motion.impacts.pair[:, 1] == 2
    assert abs(motion.impacts.friction[brake].sum()) == pytest.approx(2.0 * 1.5, rel=1e-12)
    assert motion.impacts.impulse[brake].sum() == pytest.approx(2.0 * 1.5 / math.tan(LEAN), rel=1e-12)
    assert motion.impacts.impulse[~brake].sum() == pytest.approx(2.0 * 1.5 / math.tan(LEAN), rel=1e-12)
    assert motion.impacts.speed == pytest.approx(0.0, abs=1e-12)
    assert np.abs(motion.twist[-1]).max() <= 1e-12
    assert motion.pose[-1, 1] == pytest.approx(motion.pose[0, 1], abs=1e-12)
    assert (np.diff(energy(world, motion)) <= 1e-12).all()


@pytest.mark.parametrize(("friction", "speed"), [(0.4, -1.5), (0.8, 1.5)], ids=["below tan LEAN", "the other way"])
def test_the_same_brake_only_slows_the_block_where_it_does_not_lock(friction, speed):
    """Moments about the pin, the end at rest: N (sin LEAN -+ mu cos LEAN) = m g sin LEAN / 2; the block gets mu N."""
    motion = simulate(self_locking(friction, speed), 0.05, 0.05)
    drag = math.copysign(friction, speed)
    force = 0.5 * 9.81 * math.sin(LEAN) / (math.sin(LEAN) + drag * math.cos(LEAN))
    assert "jam" not in motion.events.kind
    assert motion.twist[-1, 1, 0] == pytest.approx(speed - drag * force / 2.0 * 0.05, rel=1e-9)


@pytest.mark.slow
def test_bodies_whose_forces_grow_without_limit_are_stopped_by_an_impulse():
    """A disc drives the corner of a box into the floor: forces above 1e8 N, and steps that vanish, 0.4 s on."""
    world = World(bodies=heap(16).bodies, friction=1.0, restitution=0.0)
    motion = simulate(world, 0.5, 0.125)
    (jam,) = motion.events.times("jam")
    at = motion.events.time == jam
    assert len(set(motion.events.pair[at & (motion.events.kind == "jam")].ravel().tolist())) >= 3
    weight = sum(9.81 * body.mass for body in world.bodies if not body.fixed)
    assert energy_gained(energy(world, motion)) <= 1e-12 * weight
    assert motion.penetration <= ROUND_OFF_OF_GAPS


@pytest.mark.parametrize(("friction", "tolerance"), few(1, [(0.9999999, 3e-12), (0.9999999, 1e-12)]))
def test_forces_so_great_that_round_off_hides_them_are_stopped_as_well(friction, tolerance):
    """The same heap; what is left after the impulse jams once more, with forces of 1e8 N and a round-off of 1e-8 N."""
    world = World(bodies=heap(16).bodies, friction=friction, restitution=0.0)
    motion = simulate(world, 0.4, 0.1, Settings(tolerance=tolerance))
    assert motion.events.times("jam") == pytest.approx([0.3972845], abs=1e-8)
    assert motion.penetration <= ROUND_OFF_OF_GAPS

"""Jams: contacts that slide, and several of which together let no finite forces be; an impulse stops them."""

import math

import numpy as np
import pytest

from reference_engine import Body, Settings, World, box, energy, simulate
from tests.effort import few
from tests.reference_engine.planar.scenes import ROUND_OFF_OF_GAPS, ground, pin, rod
from tests.reference_engine.planar.worlds import energy_gained, heap

LEAN, LENGTH, THICK = 0.4, 1.0, 0.2
STAGGERED = (0.3, 1.0, 1.5009765625), (3.0, 0.0, 2.5009765625), (30.0, 1.0, 3.501953125)  # kg, m, m


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


def test_forces_that_are_great_but_exist_are_an_impulse_where_their_round_off_hides_them():
    """A light box slides between the corners of two heavy ones (found by fuzzing). Forces of 2e9 N obey the laws, which
    no arithmetic of double precision can show; within 2e-8 s they stop the slip at the upper corner."""
    square, heavy, light = box(4.0, 4.0), 10.0, 0.1
    bodies = (
        Body(shape=box(8.0, 4.0), mass=heavy, position=(0.0, 2.0)),
        Body(
            shape=square, mass=heavy, position=(0.0037553454416515003, 6.828424631730641), angle=0.7840704478936501,
            velocity=(0.025157328653107307, -3.340179491408982e-05), spin=-0.008894466683283753,
        ),
        Body(
            shape=square, mass=light, position=(-0.14618797169256068, 11.81603531559826), angle=0.4636124047033932,
            velocity=(-0.5384987069785988, -1.8885379537872624), spin=-1.7218529907340645,
        ),
        Body(
            shape=square, mass=heavy, position=(-0.0009317498829132277, 16.951709887125226), angle=0.7844070637284454,
            velocity=(-0.009200781565956105, -3.8706144661392607), spin=-0.01074343073569659,
        ),
    )  # fmt: skip
    world = World(bodies=(ground(), *bodies), friction=0.5, restitution=0.0)
    motion = simulate(world, 0.01, 0.01)
    assert motion.events.times("jam").tolist() == [0.0]
    before, after = energy(world, motion)[[0, -1]]
    lost = before - after  # by the impulse: of the kinetic energy, which the upper box has nearly all of
    assert 0.9 < lost / (0.5 * heavy * 3.8706**2) < 1.1
    assert energy_gained(energy(world, motion)) <= 1e-12 * before
    weight = 9.81 * (3.0 * heavy + light)
    assert motion.contacts_at(len(motion.time) - 1).force.max() <= 2.0 * weight  # the boxes fall on, slowly


def test_what_is_in_contact_before_an_impact_neither_parts_nor_closes_there():
    """Found by fuzzing: where an event ends slow bounces and then has impulses, too, the state before it is the one
    before both. Two boxes that chatter, friction 1, restitution 0.9."""
    lower = Body(shape=box(0.25, 0.25), position=(0.0, 0.1259765625), mass=0.03)
    upper = Body(shape=box(0.5, 0.5), position=(0.03125, 0.5009765625), mass=0.3)
    world = World(bodies=(ground(), lower, upper), friction=1.0, restitution=0.9)
    motion = simulate(world, 0.5, 0.02, Settings(impact_order="sequential"))
    sample = np.repeat(np.arange(len(motion.time)), np.diff(motion.first_contact))
    assert len(sample) > 100
    speed = np.zeros((len(sample), 2))
    for sign, body in ((1.0, motion.contacts.pair[:, 0]), (-1.0, motion.contacts.pair[:, 1])):
        arm = motion.contacts.point - motion.pose[sample, body, :2]
        twist = motion.twist[sample, body]
        speed += sign * (twist[:, :2] + twist[:, 2:] * np.stack([-arm[:, 1], arm[:, 0]], axis=1))
    assert np.abs((speed * motion.contacts.normal).sum(axis=1)).max() < 1e-10


def test_a_light_box_that_rattles_to_nothing_under_heavy_ones_is_no_missed_touch():
    """Found by fuzzing: boxes a millimetre apart that bounce without loss, each ten times as heavy as the one below.

    The gaps below the heaviest shrink to 1e-12 m; closing three of them pressed a fourth in by ten times as much.
    """
    boxes = (Body(shape=box(4.0, 1.0), mass=m, position=(x, y)) for m, x, y in STAGGERED)
    world = World(bodies=(ground(), *boxes), friction=0.5, restitution=1.0)
    motion = simulate(world, 0.6, 0.05, Settings(impact_law="poisson"))
    assert motion.penetration <= 5e-11

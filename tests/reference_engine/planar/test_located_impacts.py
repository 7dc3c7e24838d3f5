"""When bodies meet, how they part, and how accumulations of impacts end."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from reference_engine import Body, Disc, Settings, World, box, energy, simulate
from tests.effort import tries
from tests.reference_engine.planar.worlds import GRAVITY, cradle, dropped, energy_gained, ground, heap

ROUND_OFF_OF_GAPS = 1e-12  # m


def fall_and_bounces(height: float, e: float, count: int) -> np.ndarray:
    """t_k = t_1 (1 + 2 sum e^i)."""
    first = math.sqrt(2.0 * height / GRAVITY)
    return first * np.array([1.0 + 2.0 * sum(e**i for i in range(1, k)) for k in range(1, count + 1)])


@pytest.mark.parametrize("shape", [Disc(0.5), box(1.0, 1.0)], ids=["ball", "flat block"])
@pytest.mark.parametrize(("e", "count"), [(0.5, 14), (0.8, 20), (0.9, 20)])
def test_a_dropped_body_bounces_at_the_times_of_the_geometric_series_and_comes_to_rest_at_their_limit(shape, e, count):
    """t_rest = t_1 (1 + e)/(1 - e). Bounces below a microsecond are summed: gaps of 1e-13 m hold round-off."""
    motion = simulate(dropped(shape, restitution=e), 10.0, 0.5)
    times = motion.events.times("impact")
    assert times[:count] == pytest.approx(fall_and_bounces(1.0, e, count), rel=1e-12)
    rest = math.sqrt(2.0 / GRAVITY) * (1.0 + e) / (1.0 - e)
    assert motion.events.times("accumulation") == pytest.approx([rest], abs=1e-9)
    assert motion.pose[-1, 1] == pytest.approx([0.0, 0.5, 0.0], abs=ROUND_OFF_OF_GAPS)
    assert np.abs(motion.twist[-1, 1]).max() <= 1e-12
    assert motion.contacts_at(-1).force.sum() == pytest.approx(GRAVITY, rel=1e-12)
    assert motion.penetration <= ROUND_OFF_OF_GAPS


def tumbling(restitution: float) -> World:
    block = Body(shape=box(1.0, 0.5), position=(0.0, 2.0), angle=0.3)
    return World(bodies=(ground(), block), restitution=restitution)


def test_the_tumbling_block_strikes_accumulates_at_one_corner_then_at_the_other_and_rests():
    """Digits from forty-digit arithmetic: corner flights and single-corner impacts are closed form."""
    world = tumbling(0.5)
    motion = simulate(world, 3.0, 0.01)
    exact = [0.573524926096, 0.606025776676, 0.675446654636, 0.893815597355]
    assert motion.events.times("impact")[:4] == pytest.approx(exact, abs=2e-12)
    corner, other = motion.events.times("accumulation")
    assert corner == pytest.approx(1.053729848995, abs=1e-9)
    assert other > corner
    standing = motion.time >= other
    assert motion.pose[standing, 1, 1] == pytest.approx(0.25, abs=ROUND_OFF_OF_GAPS)
    assert np.abs(motion.twist[standing]).max() <= 1e-11
    assert motion.contacts_at(-1).force == pytest.approx([GRAVITY / 2.0] * 2, rel=1e-12)
    assert motion.penetration <= ROUND_OFF_OF_GAPS
    assert np.abs(motion.pose[:, 1, 0]).max() <= ROUND_OFF_OF_GAPS  # nothing pushes sideways


def test_the_end_of_an_accumulation_is_second_order_in_its_cut_off():
    """Cut off ten and a hundred times earlier, the state at the end is the same to the square of the cut-off."""
    ends = [simulate(tumbling(0.5), 1.5, 1.5, Settings(accumulation_cutoff=cut)) for cut in (1e-7, 1e-6, 1e-5)]
    for late in ends[1:]:
        assert late.pose[-1] == pytest.approx(ends[0].pose[-1], abs=1e-9)
        assert late.events.times("accumulation")[0] == pytest.approx(1.053729848995, abs=1e-9)


@given(e=st.floats(0.0, 0.95), angle=st.floats(0.05, 1.5), spin=st.floats(-20.0, 20.0))
@settings(max_examples=tries(25))
def test_the_first_impact_is_the_first_time_at_which_a_corner_reaches_the_ground(e, angle, spin):
    """Free flight is closed form: y(t) - g t^2/2 and a uniform turn; a scan a thousand times finer than the turn."""
    shape = box(1.0, 0.3)
    world = World(
        bodies=(ground(), Body(shape=shape, position=(0.0, 1.2), angle=angle, velocity=(0.0, 0.5), spin=spin)),
        restitution=e,
    )

    def lowest(t):
        turned = angle + spin * t
        heights = [x * math.sin(turned) + y * math.cos(turned) for x, y in shape.vertices]
        return 1.2 + 0.5 * t - 0.5 * GRAVITY * t * t + min(heights)

    scan = np.arange(0.0, 1.0, 2e-4)
    below = int(np.argmax([lowest(t) <= 0.0 for t in scan]))
    exact = brentq(lowest, scan[below - 1], scan[below], xtol=1e-15)
    motion = simulate(world, float(exact) + 1e-3, 0.1)
    assert motion.events.times("impact")[0] == pytest.approx(exact, abs=1e-12)


def test_a_corner_that_dips_in_and_out_of_the_ground_within_a_quarter_turn_is_not_missed():
    """omega^2 r = 900 m/s^2 against g: the gap is not concave, and positive at both ends of 0.1 s of free flight."""
    shape, spin, rise = box(2.0, 0.1), 30.0, 1.0

    def tip(t, corner=0):
        x, y = shape.vertices[corner]
        return 0.95 + rise * t - 0.5 * GRAVITY * t**2 + x * math.sin(spin * t) + y * math.cos(spin * t)

    flight = [min(tip(t, corner) for corner in range(4)) for t in (0.0, 0.1)]
    assert min(flight) > 0.0
    block = Body(shape=shape, position=(0.0, 0.95), velocity=(0.0, rise), spin=spin)
    motion = simulate(World(bodies=(ground(), block), restitution=0.5), 0.1, 0.01)
    exact = brentq(lambda t: min(tip(t, corner) for corner in range(4)), 0.03, 0.05, xtol=1e-16)
    assert motion.events.times("impact")[0] == pytest.approx(exact, abs=1e-14)
    assert motion.penetration <= ROUND_OFF_OF_GAPS


def test_a_ball_at_100_m_per_s_does_not_pass_a_thin_wall():
    wall = Body(shape=box(1e-3, 2.0), fixed=True)
    ball = Body(shape=Disc(0.05), position=(-1.0, 0.0), velocity=(100.0, 0.0))
    motion = simulate(World(bodies=(wall, ball), restitution=0.5, gravity=(0.0, 0.0)), 1.0, 0.5)
    hit = (1.0 - 0.05 - 0.5e-3) / 100.0
    assert motion.events.times("impact") == pytest.approx([hit], rel=1e-13)
    assert motion.pose[-1, 1, 0] == pytest.approx(-0.0505 - 50.0 * (1.0 - hit), rel=1e-13)


@pytest.mark.parametrize("distance", [3.0, 40.0, 900.0])
def test_what_was_far_is_looked_at_again_before_it_can_arrive(distance):
    """A ball flies back and forth between two others, its speed kept: equal times, whatever it was far from before."""
    speed, radius = 70.0, 0.05
    still = [Body(shape=Disc(radius), position=(x, 0.0), fixed=True) for x in (-distance, distance)]
    flies = Body(shape=Disc(radius), position=(0.0, 0.0), velocity=(speed, 0.0))
    passes = 2.0 * (distance - 2.0 * radius) / speed
    world = World(bodies=(*still, flies), gravity=(0.0, 0.0), restitution=1.0)
    motion = simulate(world, 5.2 * passes, passes / 3.0)
    assert motion.impacts.time == pytest.approx([(k + 0.5) * passes for k in range(5)], rel=1e-13)
    assert motion.penetration <= 1e-12 * distance


def test_a_cradle_with_gaps_ends_with_the_speeds_of_exact_rational_arithmetic():
    """Five balls, 1 cm apart, e = 0.9: ten impacts, the last at 4.2397 s."""
    motion = simulate(cradle(5, restitution=0.9), 5.0, 1.0)
    assert len(motion.events.times("impact")) == 10
    assert motion.events.times("impact")[-1] == pytest.approx(4.239724896312926, abs=1e-9)
    exact = [0.04352508203125, 0.04537296484375, 0.047296640625, 0.0492990625, 0.81450625]
    assert motion.twist[-1, :, 0] == pytest.approx(exact, abs=1e-12)


def test_plastic_balls_clump_one_after_the_other():
    """e = 0: after k impacts k + 1 balls go at v/(k + 1); the k-th is at gap k (k + 1)/2 / v."""
    motion = simulate(cradle(5, restitution=0.0), 0.5, 0.1)
    assert motion.events.times("impact") == pytest.approx([0.01, 0.03, 0.06, 0.1], rel=1e-12)
    assert motion.twist[-1, :, 0] == pytest.approx(0.2, rel=1e-12)


def touching_cradle() -> World:
    balls = [Body(shape=Disc(0.5), position=(-0.1, 0.0), velocity=(1.0, 0.0))]
    balls += [Body(shape=Disc(0.5), position=(float(i), 0.0)) for i in range(1, 5)]
    return World(bodies=tuple(balls), gravity=(0.0, 0.0), restitution=1.0)


@pytest.mark.parametrize(
    ("order", "after"),
    [("sequential", [0.0, 0.0, 0.0, 0.0, 1.0]), ("simultaneous", [-0.6, 0.4, 0.4, 0.4, 0.4])],
)
def test_touching_balls_leave_as_the_named_law_of_impact_says(order, after):
    """Both keep momentum and energy: which one holds is an impact law, not a result of Newton's at one contact.

    sequential: pair by pair. simultaneous: the struck contact returns e of its speed, the others stay together.
    """
    world = touching_cradle()
    motion = simulate(world, 0.5, 0.1, Settings(impact_order=order))
    assert motion.events.times("impact") == pytest.approx([0.1], rel=1e-13)
    assert motion.twist[-1, :, 0] == pytest.approx(after, abs=1e-14)
    assert energy(world, motion)[-1] == pytest.approx(0.5, rel=1e-14)


def test_elastic_tumbling_keeps_its_energy():
    """e = 1, 19 corner impacts: 1e-12 of kinetic and potential energy at the start of the fall."""
    world = tumbling(1.0)
    motion = simulate(world, 10.0, 0.1)
    total = energy(world, motion)
    assert len(motion.events.times("impact")) > 15
    assert np.abs(total / total[0] - 1.0).max() <= 1e-12
    assert motion.penetration <= ROUND_OFF_OF_GAPS


@pytest.mark.parametrize("seed", [1, 3, 12, 21, 32, 89])
def test_a_lively_heap_gains_no_energy_and_nothing_overlaps(seed):
    """Boxes, pentagons and discs, mass ratios to 1000. In 3, 12 and 21 a contact that parts is struck by others,

    in 32 two sides nearly flush meet end to end, in 89 a row of boxes stands flush without pressing.
    """
    world = heap(seed)
    motion = simulate(world, 2.0, 0.1)
    total = energy(world, motion)
    assert len(motion.events.time) > 100
    assert energy_gained(total) <= 1e-12 * total.max()
    assert motion.penetration <= ROUND_OFF_OF_GAPS

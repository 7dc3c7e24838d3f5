"""Blocks that rock, stick and slip, stand on one another, and topple in a row."""

import math

import numpy as np
import pytest

from reference_engine import Body, Settings, Spring, World, box, energy, simulate
from tests.reference_engine.planar import truths
from tests.reference_engine.planar.scenes import GRAVITY, ROUND_OFF_OF_GAPS, at, flat, ground
from tests.reference_engine.planar.worlds import face_forces, stack

ROCKING = truths.Rocking(0.1)


def rocking_block(mu: float, *, tilt: float = 0.1) -> World:
    """1 x 3, let go at a tilt on its left corner, which is half a metre left of the origin."""
    c, s = math.cos(tilt), math.sin(tilt)
    block = Body(shape=box(1.0, 3.0), position=(-0.5 + 0.5 * c - 1.5 * s, 0.5 * s + 1.5 * c), angle=tilt)
    return World(bodies=(ground(), block), friction=mu, restitution=0.0)


@pytest.mark.parametrize("impact_law", ["newton", "poisson"])
def test_a_rocking_block_strikes_at_its_exact_quarter_periods_and_keeps_housners_ratio(impact_law):
    """Five impacts; omega' = 0.85 omega, so each swing has 0.7225 of the energy of the one before."""
    motion = simulate(rocking_block(0.8), 2.5, 0.05, Settings(impact_law=impact_law))
    impacts = ROCKING.impacts(5)
    assert motion.events.times("impact")[:5] == pytest.approx(impacts, abs=1e-9)
    before = motion.twist[np.searchsorted(motion.time, impacts - 1e-7), 1, 2]
    assert before[0] == pytest.approx(-0.499701431288029, rel=1e-9)
    rows = motion.time <= impacts[-1]
    exact = ROCKING.pose(motion.time[rows], 5)
    assert motion.pose[rows, 1] == pytest.approx(exact, abs=1e-9)
    assert motion.penetration <= ROUND_OFF_OF_GAPS


def test_the_error_estimate_of_a_rocking_block_bounds_its_error():
    motion = simulate(rocking_block(0.8), 2.0, 0.05, Settings(tolerance=1e-9), estimate_error=True)
    miss = motion.pose[:, 1] - ROCKING.pose(motion.time, 5)
    error = (np.hypot(miss[:, 0], miss[:, 1]) + math.hypot(0.5, 1.5) * np.abs(miss[:, 2])).max()
    assert motion.error_estimate is not None
    assert error <= motion.error_estimate <= 1e-6


def test_a_rocking_block_ends_its_infinitely_many_impacts_where_their_series_does():
    """tq_0 + 2 sum tq_n = 4.497225552550125 s; it stands there from then on."""
    motion = simulate(rocking_block(0.8), 6.0, 0.5)
    assert motion.events.times("accumulation") == pytest.approx([4.497225552550125], abs=1e-8)
    assert motion.pose[-1, 1] == pytest.approx([0.0, 1.5, 0.0], abs=1e-9)


def test_housners_ratio_holds_where_friction_can_give_the_impulse_and_not_below():
    """The impulse at the corner that is struck needs mu >= (H/b)(1 - r)/(1 + r) = 0.2432; with less it slips there.

    At 0.242 the swing itself still holds (it needs 0.2394). e = 0, one contact: Keller's equations.
    """
    needed = 3.0 * (1.0 - ROCKING.ratio) / (1.0 + ROCKING.ratio)
    assert needed == pytest.approx(0.2432432432432432, rel=1e-14)
    quarter = ROCKING.quarters(1)[0]
    for mu in (0.244, 0.242):
        motion = simulate(rocking_block(mu), 0.45, 0.45)
        i = int(np.searchsorted(motion.time, quarter - 1e-7))
        spin, after = motion.twist[i, 1, 2], motion.twist[i + 1, 1]
        assert motion.time[i : i + 2] == pytest.approx([quarter] * 2, abs=1e-9)
        if mu > needed:
            assert after[2] == pytest.approx(0.85 * spin, rel=1e-9)
            continue
        velocity = np.array([-1.5 * spin, 0.5 * spin])  # about the left corner
        K = truths.collision_matrix((0.5, -1.5), 10.0 / 12.0)
        u = np.array([velocity[1] + 0.5 * spin, velocity[0] + 1.5 * spin])
        assert u[1] == pytest.approx(0.0, abs=1e-12)
        normal, along = truths.routh_impact(K, u, mu, 0.0, "newton")
        assert abs(along) == pytest.approx(mu * normal, rel=1e-12)
        assert after[2] == pytest.approx(spin + (0.5 * normal + 1.5 * along) / (10.0 / 12.0), rel=1e-9)
        assert after[:2] == pytest.approx(velocity + np.array([along, normal]), abs=1e-9)


def test_a_block_on_a_belt_sticks_until_the_static_limit_and_slips_with_the_sliding_one():
    """k = 100, static 0.5, sliding 0.3, v = 0.2, seen from the belt: the spring's other end moves, the ground rests.

    With D = (mu_s - mu_d) g/k and W = sqrt(k/m): slip (2/W)(pi - atan(D W/v)), stick 2 D/v.
    """
    k, static, sliding, v, length = 100.0, 0.5, 0.3, 0.2, 2.0
    spring = Spring(
        first=-1, second=1, first_point=(length, 0.1), second_point=(0.0, 0.0), length=length, stiffness=k,
        first_velocity=(v, 0.0),
    )  # fmt: skip
    world = World(
        bodies=(ground(), flat(1.0, 0.2)), forces=(spring,), friction=sliding, static_friction=static, restitution=0.0
    )
    motion = simulate(world, 3.0, 0.03125)
    W, D = math.sqrt(k), (static - sliding) * GRAVITY / k
    slips = 2.0 / W * (math.pi - math.atan(D * W / v))
    sticks = 2.0 * D / v
    assert [slips, sticks] == pytest.approx([0.4731570623425575, 0.1962], rel=1e-14)
    first = static * GRAVITY / k / v
    period = slips + sticks
    assert motion.events.times("slip") == pytest.approx(first + period * np.arange(5), abs=1e-9)
    assert motion.events.times("stick")[-4:] == pytest.approx(first + slips + period * np.arange(4), abs=1e-9)
    since = (motion.time - first) % period
    cycles = np.floor((motion.time - first) / period)
    moved = np.clip(since, 0.0, slips)
    # stretch in a slip: centred at mu_d g/k, from D above it at rate v
    stretch = sliding * GRAVITY / k + D * np.cos(W * moved) + v / W * np.sin(W * moved)
    slipped = v * (first + moved) - stretch + cycles * v * period
    exact = np.where(motion.time < first, 0.0, slipped)
    assert motion.pose[:, 1, 0] == pytest.approx(exact, abs=1e-9)


@pytest.mark.parametrize("mu", [0.3, 1.0])
def test_a_stack_of_twenty_with_friction_carries_the_weights_above_and_stays(mu):
    """Masses 1 to 1000 kg, the heavy ones on top; 20 s."""
    bodies = stack(20, mass_ratio=1000.0).bodies
    motion = simulate(World(bodies=bodies, restitution=0.0, friction=mu), 20.0, 10.0)
    masses = [body.mass for body in bodies[1:]]
    for i in range(20):
        assert face_forces(motion, i, i + 1) == pytest.approx(GRAVITY * sum(masses[i:]), rel=1e-9)
    assert np.abs(motion.pose - motion.pose[0]).max() <= 1e-9
    assert len(motion.impacts.time) == 0


def dominoes(count: int, spin: float) -> World:
    """5 cm high, 1 cm thick, 2 cm of air between them; the first turns about its right lower edge."""
    tiles = [
        Body(
            shape=box(0.01, 0.05),
            position=(0.03 * i, 0.025),
            velocity=(0.025 * spin, 0.005 * spin) if i == 0 else (0.0, 0.0),
            spin=-spin if i == 0 else 0.0,
        )
        for i in range(count)
    ]
    return World(bodies=(ground(), *tiles), friction=0.6, restitution=0.0)


def test_the_first_domino_reaches_the_second_where_its_height_spans_the_gap():
    """sin(theta) = s/h at 0.07702379505678384 s, by energy with 6.162166607442806 rad/s."""
    motion = simulate(dominoes(2, 6.0), 0.1, 0.1)
    hit = motion.events.times("impact")[0]
    assert hit == pytest.approx(0.07702379505678384, abs=1e-11)
    i = int(np.searchsorted(motion.time, hit - 1e-9))
    assert motion.pose[i, 1, 2] == pytest.approx(-math.asin(0.4), abs=1e-10)
    assert motion.twist[i, 1, 2] == pytest.approx(-6.162166607442806, rel=1e-10)


def test_a_row_of_dominoes_falls_as_it_does_at_a_finer_tolerance():
    world = dominoes(5, 6.0)
    coarse = simulate(world, 0.25, 0.05, Settings(tolerance=1e-11))
    fine = simulate(world, 0.25, 0.05)
    for time in (0.1, 0.15, 0.2, 0.25):
        assert coarse.pose[at(coarse, time)] == pytest.approx(fine.pose[at(fine, time)], abs=1e-8)
    assert fine.pose[-1, 1, 2] < -0.5
    assert fine.penetration <= ROUND_OFF_OF_GAPS


@pytest.mark.parametrize("lift", [5e-12, 1.4e-10, 1e-9])
@pytest.mark.parametrize("gap", [1.4e-9, 5e-9])
def test_a_corner_whose_hops_are_below_round_off_does_not_go_under_while_the_other_comes_down(lift, gap):
    """A block with e = 1 hops off one corner by 1e-21 m, while the other is a nanometre up: it stays out of the ground,
    and the rocking goes on with the energy that it has.
    """
    spin = -1e-4
    rate = lift - spin * 0.5 * (math.sin(gap) - math.cos(gap))
    position = (0.0, 0.5 * math.cos(gap) + 0.5 * math.sin(gap))
    block = Body(shape=box(1.0, 1.0), position=position, angle=gap, velocity=(0.0, rate), spin=spin)
    world = World(bodies=(ground(), block), friction=0.0, restitution=1.0)
    duration = 2.0 * gap / -spin
    motion = simulate(world, duration, 0.1 * duration)
    assert motion.penetration <= ROUND_OFF_OF_GAPS
    total = energy(world, motion)
    impacts = np.count_nonzero(motion.events.kind == "impact")
    assert np.abs(total - total[0]).max() <= 1e-14 + impacts * GRAVITY * ROUND_OFF_OF_GAPS

"""When exactly it hit: the fortieth bounce in air, and a block's time of rest after two accumulations."""

import numpy as np
import pytest

from reference_engine import Body, Disc, HalfPlane, Settings, World, WorldError, box, simulate
from scenarios.catalogue.ball_with_drag import Flights
from tests.reference_engine.planar.tumbling_oracle import BACK, FALL, HIGH, TILT, WIDE, rest_times

GROUND = Body(shape=HalfPlane(), fixed=True)


def test_the_fortieth_impact_in_air_is_known_to_a_hundredth_of_a_nanosecond():
    ball = Body(shape=Disc(0.5), position=(0.0, 2.5))
    motion = simulate(World(bodies=(GROUND, ball), restitution=0.8, quadratic_damping=0.1), 4.65, 0.05)
    exact = Flights(2.0, 0.8, 0.1)
    assert np.abs(motion.impacts.time[:40] - exact.impacts[:40]).max() <= 1e-11
    assert motion.events.times("accumulation") == pytest.approx([exact.rest], abs=1e-10)
    assert motion.penetration <= 1e-12


@pytest.mark.parametrize("tolerance", [1e-4, 1e-6, 1e-8, 1e-10])
def test_what_a_looser_tolerance_costs_in_the_times_of_impacts(tolerance):
    """Touches are taken from the dense output where its defect is within the tolerance: no step of their own."""
    ball = Body(shape=Disc(0.5), position=(0.0, 2.5))
    exact = Flights(2.0, 0.8, 0.1).impacts[:40]
    world = World(bodies=(GROUND, ball), restitution=0.8, quadratic_damping=0.1)
    motion = simulate(world, 4.65, 4.65, Settings(tolerance=tolerance))
    assert np.abs(motion.impacts.time[:40] - exact).max() <= tolerance
    assert motion.steps <= 120


def test_a_block_falls_on_a_corner_and_rests_after_two_accumulations():
    block = Body(shape=box(WIDE, HIGH), position=(0.0, FALL), angle=TILT)
    motion = simulate(World(bodies=(GROUND, block), restitution=BACK), 1.5, 0.02)
    assert motion.events.times("accumulation") == pytest.approx(rest_times(1e-11), abs=1e-8)
    assert motion.penetration <= 1e-12 and motion.impacts.gap.min() >= -1e-12 and motion.contacts.gap.min() >= -1e-12
    assert motion.pose[-1, 1, 1:] == pytest.approx([HIGH / 2.0, 0.0], abs=1e-12)
    assert np.abs(motion.twist[-1, 1]).max() <= 1e-15


def test_under_gravity_alone_a_flight_is_a_parabola_in_few_steps_whatever_the_tolerance():
    thrown = Body(shape=box(1.0, 1.0), velocity=(3.0, 4.0), spin=2.0)
    motion = simulate(World(bodies=(thrown,)), 2.0, 0.1, Settings(tolerance=1e-2))
    t = motion.time
    exact = np.stack([3.0 * t, 4.0 * t - 0.5 * 9.81 * t * t, 2.0 * t], axis=1)
    assert np.abs(motion.pose[:, 0] - exact).max() <= 1e-14
    assert motion.steps <= 4


def test_the_drag_of_air_is_on_the_centre_of_a_body_and_against_its_velocity():
    """Without weight v' = -k |v| v / m: v = v0 / (1 + k v0 t / m), along a straight line; the spin stays."""
    thrown = Body(shape=box(1.0, 1.0), velocity=(3.0, 4.0), spin=2.0, mass=2.0)
    motion = simulate(World(bodies=(thrown,), gravity=(0.0, 0.0), quadratic_damping=0.3), 2.0, 1.0, Settings())
    left = 1.0 / (1.0 + 0.3 * 5.0 * 2.0 / 2.0)
    assert motion.twist[-1, 0] == pytest.approx([3.0 * left, 4.0 * left, 2.0], abs=1e-12)
    assert np.hypot(*motion.pose[-1, 0, :2]) == pytest.approx(2.0 / 0.3 * np.log(1.0 / left), abs=1e-12)
    with pytest.raises(WorldError, match=r"quadratic_damping: -1\.0 is not a finite number >= 0"):
        World(bodies=(thrown,), quadratic_damping=-1.0)

"""The 1 x 3 block on the ground: the scene for which extra acceleration was invented."""

import json
from pathlib import Path

import numpy as np
import pytest

from reference_engine import Settings, energy, least_gap, simulate
from tests.reference_engine.planar.worlds import (
    TOLERANCE,
    at_gap,
    energy_gained,
    impact_times,
    rocking,
    upright_block,
)

RECORDED = json.loads((Path(__file__).parent / "data" / "upright_block_runs.json").read_text())["runs"]
STEPS = [0.025, 1 / 240]


@pytest.mark.parametrize("dt", STEPS)
def test_with_velocity_extra_acceleration_the_rocking_block_settles_without_an_impact(dt):
    motion = simulate(rocking(), 20.0, dt)
    gap = least_gap(rocking(), motion)
    assert len(motion.impacts.time) == 0
    assert energy_gained(energy(rocking(), motion)) <= 1e-9  # J; measured 0
    assert gap.min() > 0.0 and gap.max() < TOLERANCE
    assert np.abs(motion.twist[motion.time >= 10.0]).max() <= 1e-9  # m/s, rad/s; measured 2e-17


@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize("seed", [0, 4, 7])
def test_with_no_extra_acceleration_the_rocking_block_goes_on_bouncing_and_gains_energy(dt, seed):
    """The original: 77 impacts; 6.0e-2 J above the minimum before. The order of impulses is random: 48 to 89 here."""
    motion = simulate(rocking(), 20.0, dt, Settings(extra_acceleration="none", random_seed=seed))
    assert len(impact_times(motion)) > 50
    assert energy_gained(energy(rocking(), motion)) > 1e-2


@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize("extra", ["none", "velocity", "velocity_and_distance"])
def test_at_the_target_gap_nothing_happens(dt, extra):
    """Forces balance to round-off of 5 m/s^2 over 20 s; with the distance term the gap's own round-off is 1e-16/h^2."""
    motion = simulate(at_gap(), 20.0, dt, Settings(extra_acceleration=extra))
    assert len(motion.impacts.time) == 0
    assert np.abs(motion.pose - motion.pose[0]).max() <= 1e-14
    assert np.abs(motion.twist).max() <= 1e-13


@pytest.mark.parametrize("name", [name for name in RECORDED if name != "rock none"])
def test_the_end_agrees_with_the_recorded_run(name):
    """The original takes both arms to the point on the edge, we take each to its own body's point: exact on a gap,

    and 2e-8 m apart after 20 s at most (gap omega^2 h^2 = 0.01 * 0.05^2 * 0.025^2 per settling).
    """
    start, extra = name.split()
    world = at_gap() if start == "at_gap" else rocking()
    motion = simulate(world, 20.0, 0.025, Settings(extra_acceleration=extra))
    x, y, angle, vx, vy, omega = RECORDED[name]["final"]
    assert motion.pose[-1, 1] == pytest.approx([x, y, angle], abs=2e-8)
    assert motion.twist[-1, 1] == pytest.approx([vx, vy, omega], abs=1e-12)


@pytest.mark.parametrize("dt", STEPS)
def test_the_gap_under_velocity_and_distance_is_critically_damped(dt):
    """x = gap - target, x'' = -2 x'/h - x/h^2, so x(t) = (x0 + (v0 + x0/h) t) e^{-t/h}; RK4's own error at

    dt = h (the original's step) is 1.1e-4 of the start, at dt = h/6 below 1e-6 of it.
    """
    h = 0.025
    world = upright_block(height=1.508)
    motion = simulate(world, 0.25, dt, Settings(extra_acceleration="velocity_and_distance"))
    t, x = motion.time, least_gap(world, motion) - 0.005
    exact = 0.003 * (1.0 + t / h) * np.exp(-t / h)
    assert x == pytest.approx(exact, abs=2e-4 if dt == 0.025 else 1e-6)

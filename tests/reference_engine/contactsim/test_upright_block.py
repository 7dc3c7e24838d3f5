"""A 1 x 3 block, upright, g = 5: what extra acceleration is for."""

import json
from pathlib import Path

import numpy as np
import pytest

from reference_engine import FaithfulSettings, faithful_simulate
from reference_engine.contactsim.engine import ContactSim
from reference_engine.contactsim.settings import EXTRA_ACCELERATIONS
from tests.reference_engine.planar.worlds import rocking, upright_block

RECORDED = json.loads((Path(__file__).parent / "data" / "upright_block_runs.json").read_text())["runs"]
H = 0.025  # s, the extra acceleration's time
GAP = 0.005  # m, target


def totals(world, extra, dt=0.025, duration=20.0):
    sim = ContactSim(world, FaithfulSettings(extra_acceleration=extra, random_seed=99999))
    for _ in range(round(duration / dt)):
        sim.advance(dt)
    return sim.totals


def test_without_extra_acceleration_a_rocking_block_strikes_77_times_in_20_seconds():
    """The original's 77 impacts, give or take what another ground and other random numbers may do: 20 %."""
    assert 0.8 * 77 <= totals(rocking(), "none").collisions <= 1.2 * 77


@pytest.mark.parametrize("extra", [name for name in EXTRA_ACCELERATIONS if name != "none"])
def test_every_extra_acceleration_settles_a_rocking_block_without_an_impact(extra):
    assert totals(rocking(), extra).collisions == 0


def gap_over_time(dt, duration=0.25):
    """Let down 8 mm above the ground, within the tolerance of 10 mm."""
    settings = FaithfulSettings(extra_acceleration="velocity_and_distance")
    motion = faithful_simulate(upright_block(height=1.508), duration, dt, settings)
    return motion.time, motion.pose[:, 1, 1] - 1.5 - GAP


@pytest.mark.parametrize("dt", [H, H / 4.0])
def test_the_gap_is_the_integrators_own_solution_of_a_critically_damped_oscillator(dt):
    """x'' = -2 x'/h - x/h^2 in matrices: a step multiplies by 1 + M dt + ... + (M dt)^4 / 24. Round-off of 1.5 m."""
    _, x = gap_over_time(dt)
    m = dt * np.array([[0.0, 1.0], [-1.0 / H**2, -2.0 / H]])
    step = np.eye(2) + m @ (np.eye(2) + m @ (np.eye(2) + m @ (np.eye(2) + m / 4.0) / 3.0) / 2.0)
    state = np.array([0.003, 0.0])
    for k in range(len(x)):
        assert x[k] == pytest.approx(state[0], abs=1e-12)
        state = step @ state


def test_the_gap_is_critically_damped_once_the_step_is_a_quarter_of_the_time_constant():
    """x(t) = x0 (1 + t/h) e^(-t/h)."""
    t, x = gap_over_time(H / 4.0)
    assert x == pytest.approx(0.003 * (1.0 + t / H) * np.exp(-t / H), abs=1e-6)


@pytest.mark.parametrize("name", RECORDED)
def test_the_end_is_that_of_the_recorded_run(name):
    """To round-off of what is a sum of 800 steps, and with as many impacts."""
    start, extra = name.split()
    world = rocking() if start == "rock" else upright_block(height=1.5 + GAP)
    motion = faithful_simulate(world, 20.0, 0.025, FaithfulSettings(extra_acceleration=extra, random_seed=99999))
    final = np.concatenate([motion.pose[-1, 1], motion.twist[-1, 1]])
    assert final == pytest.approx(RECORDED[name]["final"], abs=1e-14)
    assert len(np.unique(motion.impacts.time)) == RECORDED[name]["impacts"]

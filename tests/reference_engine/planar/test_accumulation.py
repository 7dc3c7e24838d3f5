"""The end of infinitely many impacts, for every allowed `accumulation_cutoff`: a finer one is never worse."""

from __future__ import annotations

import math

import numpy as np
import pytest

from reference_engine import Body, Disc, HalfPlane, Settings, World, simulate
from tests.reference_engine.planar.scenes import GRAVITY
from tests.reference_engine.planar.test_friction_rocking import rocking_block
from tests.reference_engine.planar.test_located_impacts import tumbling

CUTOFFS = (1e-3, 1e-4, 4e-6, 1e-6, 1e-8, 1e-9, 1e-10, 1e-12)
ROCKING_END = 4.497225552550125  # s, the sum of its quarter periods
CORNER_END = 1.053729848995  # s, by forty-digit arithmetic


def end_of(world: World, duration: float, cutoff: float) -> float:
    motion = simulate(world, duration, duration, Settings(accumulation_cutoff=cutoff))
    assert np.isfinite(motion.pose).all()
    return float(motion.events.times("accumulation")[0])


@pytest.mark.parametrize("cutoff", CUTOFFS)
@pytest.mark.parametrize(("e", "height", "floor"), [(0.5, 1.0, 0.0), (0.8, 0.1, 0.0), (0.3, 2.0, 5.0), (0.9, 0.2, 5.0)])
def test_a_ball_ends_its_bounces_when_the_geometric_series_does(
    cutoff: float, e: float, height: float, floor: float
) -> None:
    """sqrt(2 h / g) (1 + e) / (1 - e), to the round-off of positions, which the ratio of flights amplifies."""
    exact = math.sqrt(2.0 * height / GRAVITY) * (1.0 + e) / (1.0 - e)
    ground = Body(shape=HalfPlane(), fixed=True, position=(0.0, floor))
    ball = Body(shape=Disc(0.1), position=(0.0, floor + 0.1 + height))
    found = end_of(World(bodies=(ground, ball), restitution=e), 1.2 * exact, cutoff)
    assert found == pytest.approx(exact, abs=1e-15 * (1.0 + floor) * exact / (height * (1.0 - e) ** 2))


def test_the_end_of_rocking_gets_no_worse_by_a_finer_cutoff() -> None:
    """Second order in the cutoff, down to where round-off hides how the swings dwindle."""
    errors = [abs(end_of(rocking_block(0.8), 6.0, cutoff) - ROCKING_END) for cutoff in CUTOFFS]
    assert errors[0] < 2e-8
    assert max(errors[1:]) < 1e-9


def test_the_end_at_a_corner_gets_no_worse_by_a_finer_cutoff() -> None:
    errors = [abs(end_of(tumbling(0.5), 1.5, cutoff) - CORNER_END) for cutoff in CUTOFFS]
    assert errors[0] < 2e-8
    assert errors[1] < 1e-9
    assert max(errors[2:]) < 1e-10

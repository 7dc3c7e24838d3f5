"""Chains of pinned rods that fall on a floor: many contacts at once, some of which nearly say the same."""

import pytest

from reference_engine import Settings, energy, simulate
from tests.reference_engine.planar.scenes import ROUND_OFF_OF_GAPS, hanging_chain, widest_pin
from tests.reference_engine.planar.worlds import energy_gained


@pytest.mark.parametrize("impact_law", ["newton", "poisson"])
@pytest.mark.parametrize(("friction", "restitution"), [(0.0, 0.4), (0.3, 0.0), (0.8, 0.0), (0.3, 0.4)])
@pytest.mark.parametrize("seed", [1, 4, 8, 11])
def test_a_chain_that_falls_flat_only_loses_energy_and_stays_whole(seed, friction, restitution, impact_law):
    """Corners to either side of a pin come to lie 1e-7 m apart: rows of J that differ by that are still two.

    Newton's law with friction and restitution may gain energy (Kane 1984) and is not asked.
    """
    world = hanging_chain(seed, friction=friction, restitution=restitution)
    motion = simulate(world, 1.5, 0.1, Settings(impact_law=impact_law))
    weight = sum(9.81 * body.mass for body in world.bodies if not body.fixed)
    if friction == 0.0 or restitution == 0.0 or impact_law == "poisson":
        assert energy_gained(energy(world, motion)) <= 1e-12 * weight
    assert widest_pin(motion) <= ROUND_OFF_OF_GAPS
    assert motion.penetration <= ROUND_OFF_OF_GAPS

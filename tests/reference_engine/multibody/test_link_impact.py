"""Impacts through joints: the double pendulum whose energy Newton's law raises."""

import math

import numpy as np
import pytest

from reference_engine.contact_problems.impact_laws import impact
from reference_engine.errors import MechanismError
from reference_engine.multibody.dynamics import System
from reference_engine.multibody.link_impact import link_impact
from tests.reference_engine.multibody.classics import pendulum_chain

TILTS = (math.radians(20.0), math.radians(30.0))
SPINS = (-0.1, -0.2)
TIP = (0.0, -0.5)


def in_two_angles() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """M, J and the velocity of the tip, of two uniform rods of 1 m and 1 kg in their angles."""
    a, b = TILTS
    M = np.array([[4.0 / 3.0, 0.5 * math.cos(a - b)], [0.5 * math.cos(a - b), 1.0 / 3.0]])
    J = np.array([[math.cos(a), math.cos(b)], [math.sin(a), math.sin(b)]])
    return M, J, J @ SPINS


@pytest.mark.parametrize("spatial", [False, True])
@pytest.mark.parametrize("law", ["newton", "stronge"])
def test_a_blow_through_two_pins_is_that_of_the_two_angles(law, spatial):
    """Seven numbers of Cartesian joints or two angles: one K, one impulse, one change of both spins."""
    M, J, u = in_two_angles()
    exact = impact(J @ np.linalg.solve(M, J.T), u, friction=0.3, restitution=0.5, law=law)
    chain = pendulum_chain((1.0, 1.0), (1.0, 1.0), TILTS, SPINS, spatial=spatial)
    point = (TIP[0], 0.0, TIP[1]) if spatial else TIP
    found = link_impact(chain, 1, point, friction=0.3, restitution=0.5, law=law)
    plane = [0, 2] if spatial else [0, 1]
    assert found.impact.impulse[plane] == pytest.approx(exact.impulse, abs=1e-9 if spatial else 1e-13)
    spins = SPINS + np.linalg.solve(M, J.T @ exact.impulse)
    ours = [-link.spin[1] if spatial else float(link.spin) for link in found.mechanism.links]
    assert ours == pytest.approx(spins, abs=1e-9 if spatial else 1e-13)
    assert found.energy_after - found.energy_before == pytest.approx(exact.energy_change, abs=1e-9)
    system = System(found.mechanism)
    constraints = system.constraints_at(system.split(system.start)[0], ~system.rows.one_sided)
    assert np.abs(system.rates(constraints, system.split(system.start)[1])).max() < 1e-13


def test_newtons_law_raises_the_energy_of_kanes_double_pendulum_and_stronges_does_not():
    """Kane 1984: the tip slides into the floor and sticks, and Newton's law makes the rods faster than they came."""
    chain = pendulum_chain((1.0, 1.0), (1.0, 1.0), TILTS, SPINS)
    ratio = {}
    for law in ("newton", "poisson", "stronge", "chatterjee-ruina"):
        found = link_impact(chain, 1, TIP, friction=0.7, restitution=1.0, law=law)
        ratio[law] = found.energy_after / found.energy_before
        assert found.impact.velocity[1] >= 0.0
    assert ratio["newton"] > 5.0
    assert ratio["stronge"] <= 1.0
    assert ratio["chatterjee-ruina"] <= 1.0
    assert ratio["poisson"] <= 1.0


def test_a_blow_needs_a_link_that_can_move_and_a_normal():
    chain = pendulum_chain((1.0,), (1.0,), (0.0,))
    with pytest.raises(MechanismError, match="link: 3 is none"):
        link_impact(chain, 3, TIP, friction=0.0, restitution=0.0)
    with pytest.raises(MechanismError, match="normal has no direction"):
        link_impact(chain, 0, TIP, normal=(0.0, 0.0), friction=0.0, restitution=0.0)

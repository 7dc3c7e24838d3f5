"""Impacts through joints: the double pendulum whose energy Newton's law raises."""

import math

import numpy as np
import pytest

from reference_engine.contact_problems.impact_laws import impact, inverse_mass_through_joints
from reference_engine.multibody.dynamics import System
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


def mass_matrix(system, rotation):
    """(F twist, F twist) from the twists that unit impulses give."""
    size = system.links * system.poses.twist
    impulses = np.zeros((size, system.links, 6))
    impulses[:, :, system.poses.columns] = np.eye(size).reshape(size, system.links, -1)
    return np.linalg.inv([system.accelerated(given, rotation).ravel() for given in impulses])


def link_impact(system, link, point, **law):
    """The impact on the world of a point of a link, in its frame, as a mechanism starts, and twists (F, 3 or 6) after.

    Components are along x and the normal y, or x, y and the normal z. And J: kinetic energy before and after.
    """
    D, bilateral = system.poses.linear, ~system.rows.one_sided
    q, v = system.split(system.start)
    constraints = system.constraints_at(q, bilateral)
    arm = constraints.rotation[link][:, :D] @ point
    rates = np.zeros((D, system.links, 6))
    rates[:, link, :3], rates[:, link, 3:] = np.eye(3)[:D], np.cross(arm, np.eye(3)[:D])
    J = rates[:, :, system.poses.columns].reshape(D, -1)
    rows = constraints.jacobian[:-1][:, bilateral][:, :, system.poses.columns]
    M = mass_matrix(system, constraints.rotation)
    K = inverse_mass_through_joints(M, J, joints=rows.transpose(1, 0, 2).reshape(bilateral.sum(), -1))
    found = impact(K, J @ v.ravel(), **law)
    after = v + np.linalg.solve(M, J.T @ found.impulse).reshape(v.shape)
    after += system.unscaled(constraints.least(-system.rates(constraints, after)[bilateral]), constraints.rotation)
    assert np.abs(system.rates(constraints, after)[bilateral]).max() < 1e-13
    return found, after, [0.5 * twist.ravel() @ M @ twist.ravel() for twist in (v, after)]


@pytest.mark.parametrize("spatial", [False, True])
@pytest.mark.parametrize("law", ["newton", "stronge"])
def test_a_blow_through_two_pins_is_that_of_the_two_angles(law, spatial):
    """Seven numbers of Cartesian joints or two angles: one K, one impulse, one change of both spins."""
    M, J, u = in_two_angles()
    exact = impact(J @ np.linalg.solve(M, J.T), u, friction=0.3, restitution=0.5, law=law)
    chain = pendulum_chain((1.0, 1.0), (1.0, 1.0), TILTS, SPINS, spatial=spatial)
    point = (TIP[0], 0.0, TIP[1]) if spatial else TIP
    found, after, energies = link_impact(System(chain), 1, point, friction=0.3, restitution=0.5, law=law)
    plane = [0, 2] if spatial else [0, 1]
    assert found.impulse[plane] == pytest.approx(exact.impulse, abs=1e-9 if spatial else 1e-13)
    spins = SPINS + np.linalg.solve(M, J.T @ exact.impulse)
    ours = -after[:, 4] if spatial else after[:, 2]
    assert ours == pytest.approx(spins, abs=1e-9 if spatial else 1e-13)
    assert energies[1] - energies[0] == pytest.approx(exact.energy_change, abs=1e-9)


def test_newtons_law_raises_the_energy_of_kanes_double_pendulum_and_stronges_does_not():
    """Kane 1984: the tip slides into the floor and sticks, and Newton's law makes the rods faster than they came."""
    chain = pendulum_chain((1.0, 1.0), (1.0, 1.0), TILTS, SPINS)
    ratio = {}
    for law in ("newton", "poisson", "stronge", "chatterjee-ruina"):
        found, _, energies = link_impact(System(chain), 1, TIP, friction=0.7, restitution=1.0, law=law)
        ratio[law] = energies[1] / energies[0]
        assert found.velocity[1] >= 0.0
    assert ratio["newton"] > 5.0
    assert ratio["stronge"] <= 1.0
    assert ratio["chatterjee-ruina"] <= 1.0
    assert ratio["poisson"] <= 1.0

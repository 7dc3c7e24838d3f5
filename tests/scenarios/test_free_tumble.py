"""The torque-free body: converged digits, Euler's equations by another method, conservation to round-off."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.special import ellipkm1

from scenarios.catalogue.free_tumble import SPIN, attitude, free_tumble
from tests.effort import tries

INERTIA = (1.0, 2.0, 3.0)
# At t = 10 s: spin in body axes and attitude, converged to 18 digits.
DIGITS = {
    "flip": (
        (-0.874573437891093646, 0.48499618734104845, 0.505001220547913341),
        (0.242702990919572282, 0.118144126725445916, -0.822720146747211752, -0.500268711449379124),
    ),
    "even": (
        (-0.603470423092518129, -1.27899313854787241, 0.887726788215733043),
        (0.46254544055464282, -0.314335145144605516, 0.049429631279299837, 0.827527548484413679),
    ),
}


@pytest.mark.parametrize("start", DIGITS)
def test_the_attitude_after_ten_seconds_is_known_to_round_off(start):
    turned, spin = attitude(INERTIA, SPIN[start], np.array([10.0]))
    assert spin[0] == pytest.approx(DIGITS[start][0], abs=2e-14)
    assert turned[0] == pytest.approx(DIGITS[start][1], abs=2e-14)
    pose = free_tumble(start=start).truth.pose(np.array([10.0]))
    assert pose[0, 0, 3:] == pytest.approx(DIGITS[start][1], abs=2e-14)


@pytest.mark.parametrize(("start", "period"), [("flip", 39.10573419726872), ("even", 6.422703084225694)])
def test_the_spin_repeats_after_four_quarter_periods_of_the_elliptic_functions(start, period):
    """4 K / lambda, of Jacobi's solution. L^2 > 2 E I2 in both starts, or else 1 and 3 change places."""
    J, w = np.array(INERTIA), np.array(SPIN[start])

    def above(moment: float) -> float:  # L^2 - 2 E moment, without the cancellation
        return float(np.sum(J * (J - moment) * w**2))

    a, b, c = INERTIA if above(INERTIA[1]) > 0.0 else INERTIA[::-1]
    rate = np.sqrt((c - b) * above(a) / (a * b * c))
    complement = (c - a) * above(b) / ((c - b) * above(a))  # 1 - m: m itself is near 1
    assert 4.0 * ellipkm1(complement) / rate == pytest.approx(period, rel=1e-14)
    _, spin = attitude(INERTIA, SPIN[start], np.array([0.0, period]))
    assert spin[1] == pytest.approx(spin[0], abs=1e-12)


spins = st.tuples(*[st.floats(-3.0, 3.0)] * 3).filter(lambda w: np.linalg.norm(w) > 0.1)
moments = st.tuples(st.floats(0.5, 2.0), st.floats(0.5, 2.0), st.floats(0.5, 2.0))


@settings(max_examples=tries(15))
@given(inertia=moments, spin=spins)
def test_eulers_equations_integrated_otherwise_give_the_same(inertia, spin):
    """DOP853 at 1e-12: agreement to 1e-9, which is what that leaves after 3 s."""
    J = np.array(inertia)

    def euler(t, state):
        w, q = state[:3], state[3:]
        turning = 0.5 * np.array([-q[1:] @ w, *(q[0] * w + np.cross(q[1:], w))])
        return np.concatenate([np.cross(J * w, w) / J, turning])

    end = solve_ivp(euler, (0.0, 3.0), [*spin, 1.0, 0.0, 0.0, 0.0], method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    turned, found = attitude(inertia, spin, np.array([3.0]))
    assert found[0] == pytest.approx(end[:3], abs=1e-9)
    assert turned[0] == pytest.approx(end[3:], abs=1e-9)


@settings(max_examples=tries(15))
@given(inertia=moments, spin=spins)
def test_energy_and_angular_momentum_in_space_are_kept_to_round_off(inertia, spin):
    J, time = np.array(inertia), np.linspace(0.0, 5.0, 50)
    turned, w = attitude(inertia, spin, time)
    assert np.linalg.norm(turned, axis=1) == pytest.approx(np.ones(50), abs=1e-12)
    energy = 0.5 * (J * w**2).sum(axis=1)
    assert energy == pytest.approx(np.full(50, energy[0]), rel=1e-12)
    u, L = turned[:, 1:], J * w
    world = L + 2.0 * np.cross(u, np.cross(u, L) + turned[:, :1] * L)
    assert world == pytest.approx(np.tile(world[0], (50, 1)), abs=1e-12 * (1.0 + np.abs(world).max()))


def test_a_body_without_spin_stays_as_it_is():
    turned, spin = attitude(INERTIA, (0.0, 0.0, 0.0), np.array([0.0, 9.0]))
    assert turned.tolist() == [[1.0, 0.0, 0.0, 0.0]] * 2 and not spin.any()


@pytest.mark.parametrize("space", ["planar", "spatial"])
def test_under_gravity_it_is_back_at_its_height_when_the_time_is_over(space):
    scenario = free_tumble(start="even", gravity=9.81, space=space)
    start, top, end = scenario.truth.pose(np.array([0.0, 5.0, 10.0]))[:, 0, 1 if space == "planar" else 2]
    assert (start, top, end) == pytest.approx((0.0, 0.5 * 9.81 * 25.0, 0.0), abs=1e-10)

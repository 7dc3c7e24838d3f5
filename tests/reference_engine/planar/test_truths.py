"""The nearest points is checked by a second way: closed forms against integration, reduced equations against whole

ones.
"""

import math

import numpy as np
import pytest
from scipy.integrate import quad

from tests.reference_engine.planar import truths
from tests.reference_engine.planar.truths import GRAVITY, integrate


def test_pendulums_and_toppling_rods_follow_their_equation():
    p, amplitude = 3.0, 1.2
    times = np.array([0.1, 0.4, 1.0])
    swung = integrate(lambda t, y: (y[1], -p * p * math.sin(y[0])), (amplitude, 0.0), 1.0, times)[0][:, 0]
    assert truths.pendulum(times, amplitude, p) == pytest.approx(swung, abs=1e-12)
    end = integrate(lambda t, y: (y[1], p * p * math.sin(y[0])), (0.1, 0.0), 2.0, until=lambda t, y: 1.5 - y[0])
    assert truths.toppling_time(1.5, 0.1, p) == pytest.approx(end[1], abs=1e-12)
    assert truths.toppling(np.array([end[1]]), 0.1, p) == pytest.approx([1.5], abs=1e-12)


def test_the_double_pendulum_keeps_its_energy_and_ends_where_an_extended_precision_run_ended():
    """Digits at 10 s of a Taylor integration in thirty digits; starts of 1 and 0.5 rad."""
    a, b, u, w = truths.double_pendulum((1.0, 0.5), 10.0)
    kinetic = 2.0 / 3.0 * u * u + w * w / 6.0 + 0.5 * u * w * math.cos(a - b)
    start = -GRAVITY * (1.5 * math.cos(1.0) + 0.5 * math.cos(0.5))
    assert kinetic - GRAVITY * (1.5 * math.cos(a) + 0.5 * math.cos(b)) == pytest.approx(start, abs=1e-11)
    exact = [0.491409914355631286, 1.34373875471808505, -1.51717553920669931, -0.495422475021822476]
    assert [a, b, u, w] == pytest.approx(exact, abs=1e-11)


def test_the_rocking_block_swings_as_its_equation_and_loses_what_the_angular_momentum_leaves():
    rocking = truths.Rocking(0.1)
    for tilt, quarter in zip(rocking.amplitudes(4), rocking.quarters(4)):
        rate = lambda t, y: (y[1], rocking.p**2 * math.sin(y[0]))  # noqa: E731  the equation, where it is used
        end = integrate(rate, (rocking.alpha - tilt, 0.0), 1.0, until=lambda t, y: rocking.alpha - y[0])
        assert quarter == pytest.approx(end[1], abs=1e-12)
    end = integrate(rate, (rocking.alpha - 0.1, 0.0), 1.0, until=lambda t, y: rocking.alpha - y[0])
    inertia, half = 10.0 / 12.0, (0.5, 1.5)
    about_struck = inertia + half[1] ** 2 - half[0] ** 2  # of a spin about the other corner
    assert rocking.ratio == pytest.approx(about_struck / (inertia + half[0] ** 2 + half[1] ** 2), abs=1e-15)
    impact_times = rocking.ratio * end[2][1]
    back = integrate(rate, (rocking.alpha, -impact_times), 1.0, until=lambda t, y: -y[1])
    assert rocking.alpha - back[2][0] == pytest.approx(rocking.amplitudes(2)[1], abs=1e-12)
    at_impact = rocking.pose(rocking.impacts(2), 2)
    assert at_impact == pytest.approx(np.array([[0.0, 1.5, 0.0]] * 2), abs=1e-12)


def test_the_sliding_ladder_has_the_closed_forms_of_the_frictionless_one_and_loses_the_work_of_friction():
    def wall_lets_go(t, y):
        return truths.ladder_forces(y, 2.0, 0.0, 0.0)[1]

    _, _, state = integrate(truths.ladder_rate(2.0, 0.0, 0.0), (0.5, 0.0), 1.0, until=wall_lets_go)
    assert math.cos(state[0]) == pytest.approx(2.0 / 3.0 * math.cos(0.5), abs=1e-12)
    turn, wall, floor = truths.ladder_forces(np.array([0.8, 0.0]), 2.0, 0.3, 0.2)
    assert [turn, wall, floor] == pytest.approx([2.1068060881279047, 3.733421587729569, 7.551985502791338], rel=1e-13)

    def with_work(t, y):
        turn, wall, floor = truths.ladder_forces(y, 2.0, 0.3, 0.2)
        slid = 2.0 * (0.3 * floor * math.cos(y[0]) + 0.2 * wall * math.sin(y[0])) * y[1]
        return y[1], turn, slid

    at = np.array([0.5])
    (state,), _, _ = integrate(with_work, (0.8, 0.0, 0.0), 0.5, at)
    energy = 2.0 / 3.0 * state[1] ** 2 + GRAVITY * math.cos(state[0])
    assert energy + state[2] == pytest.approx(GRAVITY * math.cos(0.8), abs=1e-12)


def test_the_falling_rod_is_one_motion_by_quadrature_and_by_its_equation():
    end = integrate(truths.foot_rate(1.0, 0.0), (0.0, 0.1, 0.0, 0.0), 1.0, until=lambda t, y: 1.4 - y[1])
    assert truths.frictionless_fall_time(1.4, 0.1) == pytest.approx(end[1], abs=1e-12)
    p = math.sqrt(1.5 * GRAVITY)
    quarter = quad(lambda th: 1.0 / math.sqrt(2.0 * (math.cos(0.1) - math.cos(th))) / p, 0.5, math.pi / 2.0)[0]
    passed = truths.toppling_time(math.pi / 2.0, 0.1, p) - truths.toppling_time(0.5, 0.1, p)
    assert passed == pytest.approx(quarter, abs=1e-12)


def test_the_foot_of_a_falling_rod_slips_where_its_equation_breaks_the_law_of_friction():
    """From the vertical f/N = 3 sin (3 cos - 2)/(3 cos - 1)^2: 0.3 at 0.4217712932784831, -0.5 at 0.90718471575."""
    for mu, exact in ((0.3, 0.4217712932784831), (0.5, 0.9071847157544685)):
        assert truths.slip_angle(mu, 1e-9) == pytest.approx(exact, abs=1e-12)
        theta = truths.slip_angle(mu, 0.1)
        p = math.sqrt(1.5 * GRAVITY)
        time, h = truths.toppling_time(theta, 0.1, p), 1e-4
        grid = truths.toppling(time + h * np.arange(-1, 2), 0.1, p)
        ahead, up = (np.diff(f(grid), 2)[0] / (2.0 * h * h) for f in (np.sin, np.cos))
        assert abs(ahead / (GRAVITY + up)) == pytest.approx(mu, abs=1e-6)


def test_a_tipping_block_starts_with_the_forces_of_the_fourth_regime():
    """1 x 3 at 0.4 rad, mu 0.35: N = mg cos b/(1 - m lever ahead/I); N, spin and edge accelerations by hand."""
    rate = truths.tipping_and_slipping_rate(1.0, 3.0, 0.4, 0.35)
    _, _, ahead, turn = rate(0.0, np.zeros(4))
    assert turn == pytest.approx(0.2751961934365981, rel=1e-12)
    normal = (GRAVITY * math.sin(0.4) - ahead) / 0.35
    assert normal == pytest.approx(9.173206447886602, rel=1e-12)
    assert ahead - 1.5 * turn == pytest.approx(0.1967773911326537, rel=1e-9)


@pytest.mark.parametrize("impact_law", ["newton", "poisson"])
def test_an_impact_with_friction_ends_at_its_law_and_inside_the_cone(impact_law):
    draw = np.random.default_rng(3)
    for _ in range(40):
        K = truths.collision_matrix(tuple(draw.uniform(-0.5, 0.5, 2)), draw.uniform(0.05, 0.5))
        u = np.array([-draw.uniform(0.5, 2.0), draw.uniform(-2.0, 2.0)])
        mu, e = draw.uniform(0.0, 0.6), draw.uniform(0.0, 1.0)
        if mu * abs(K[0, 1]) > 0.9 * K[0, 0]:
            continue
        j = truths.routh_impact(K, u, mu, e, impact_law)
        after = u + K @ j
        assert abs(j[1]) <= mu * j[0] * (1.0 + 1e-12)
        if impact_law == "newton":
            assert after[0] == pytest.approx(-e * u[0], abs=1e-12)
        elif e == 0.0:
            assert after[0] == pytest.approx(0.0, abs=1e-12)
        # Darboux and Keller in small steps of the normal impulse
        v, steps = u.copy(), 1000
        for _ in range(steps):
            dj = j[0] / steps
            hold = -(v[1] + K[1, 0] * dj) / K[1, 1]
            v += K @ [dj, np.clip(hold, -mu * dj, mu * dj)]
        assert v == pytest.approx(after, abs=1e-2)

"""A ball in a bowl: periods, the path in space, and the laws that they follow from."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from pytest import approx
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipk

from scenarios.catalogue.sphere_in_sphere import (
    BOWL,
    DURATION,
    FRICTION,
    RADIUS,
    START,
    L,
    circling,
    height_period,
    period,
    sphere_in_sphere,
)

G = 9.81


def test_periods_of_the_pendulum_sliding_and_rolling():
    assert period(0.0) == approx(2.829813055612857, rel=1e-15)
    assert period(0.5) == approx(3.465799026858808, rel=1e-15)
    assert period(0.4) == approx(3.348279961652514, rel=1e-15)


@pytest.mark.parametrize("contact", ["sliding", "rolling"])
def test_the_disc_swings_as_jacobi_says(contact):
    """sin(phi/2) = k cd(Omega t)."""
    scenario = sphere_in_sphere(contact=contact)
    time = np.linspace(0.0, DURATION, 300)
    pose = scenario.truth.pose(time)[:, 0]
    modulus = math.sin(START / 2.0)
    Omega = math.sqrt(G / ((1.5 if contact == "rolling" else 1.0) * L))
    sn = ellipj(Omega * time + ellipk(modulus**2), modulus**2)[0]  # cd u = sn(u + K)
    phi = 2.0 * np.arcsin(modulus * sn)
    assert pose[:, 0] == approx(L * np.sin(phi), abs=1e-12)
    assert pose[:, 1] == approx(-L * np.cos(phi), abs=1e-12)
    turned = -L / RADIUS * (phi - START) if contact == "rolling" else np.zeros_like(phi)
    assert pose[:, 2] == approx(turned, abs=1e-11)


def test_the_rolling_disc_does_not_slip_and_needs_less_friction_than_it_has():
    scenario, h = sphere_in_sphere(), 1e-5
    time = np.linspace(0.05, 3.4, 40)
    before, now, after = (scenario.truth.pose(time + d)[:, 0] for d in (-h, 0.0, h))
    velocity = (after - before) / (2.0 * h)
    outward = now[:, :2] / L
    contact = velocity[:, :2] + velocity[:, 2:] * RADIUS * np.stack([-outward[:, 1], outward[:, 0]], axis=1)
    assert contact == approx(0.0, abs=1e-7)
    h = 1e-4
    before, after = (scenario.truth.pose(time + d)[:, 0] for d in (-h, h))
    force = (before - 2.0 * now + after)[:, :2] / h**2 + np.array([0.0, G])
    normal = -np.sum(force * outward, axis=1)
    tangential = np.abs(force[:, 0] * -outward[:, 1] + force[:, 1] * outward[:, 0])
    assert np.all(normal > 0.0)
    assert np.max(tangential / normal) < 0.5191359082183007 + 1e-6 < FRICTION


@pytest.mark.parametrize(
    ("k", "s", "e_10", "T"),
    [
        (0.0, 0.0, (0.7562680765815842, 0.3570889364098009, -0.5482208385653616), 1.418838014569386),
        (0.4, 0.0, (-0.7919485037400925, -0.2691105368085843, -0.5480849262682056), 1.680430620905852),
        (0.4, 20.0, (0.5596404944178254, 0.3508799323436708, -0.7507901105410705), 1.598815771631339),
    ],
)
def test_the_path_in_the_hollow_sphere(k, s, e_10, T):
    exact = circling(k, s)
    assert exact.at(10.0)[:3] == approx(e_10, abs=2e-13)
    assert height_period(k, s) == approx(T, rel=1e-14)
    time = np.linspace(0.0, 10.0, 100)
    e, rate = exact(time)[:3].T, exact(time)[3:].T
    assert np.sum(e * e, axis=1) == approx(1.0, abs=1e-12)
    energy = 0.5 * (1.0 + k) * L * np.sum(rate * rate, axis=1) + G * e[:, 2]
    assert np.ptp(energy) < 1e-11
    moment = (1.0 + k) * L * np.cross(e, rate)[:, 2] - k * RADIUS * s * e[:, 2]
    assert np.ptp(moment) < 1e-11


def test_the_rolling_ball_obeys_newton_and_euler_with_the_contact_force_of_no_slip():
    """The whole ball integrated apart: velocity v, spin omega, force F at the contact so that it does not slip.

    d/dt (v + omega x r e) = 0 with m v' = m g + F, I omega' = r e x F, e' = v / L gives F.
    """
    inertia = 0.4 * RADIUS**2

    def rate(t, y):
        e, v, omega = y[:3], y[3:6], y[6:]
        weight, e_rate = np.array([0.0, 0.0, -G]), v / L
        # F + (r e x F) x r e / I = -(g + omega x r e'), and the normal part from |e| = 1: e . v' = -v.v / L
        r = RADIUS * e
        K = np.eye(3) + (RADIUS**2 * np.eye(3) - np.outer(r, r)) / inertia
        P = np.eye(3) - np.outer(e, e)
        tangential = np.linalg.solve(K, P @ -(weight + np.cross(omega, RADIUS * e_rate)))
        normal = -v @ v / L - weight @ e
        F = P @ tangential + normal * e
        return np.concatenate([e_rate, weight + F, np.cross(r, F) / inertia])

    scenario = sphere_in_sphere(space="spatial", spin=20)
    ball = scenario.scene.bodies[0]
    start = np.concatenate([np.array(ball.position) / L, ball.velocity, ball.spin])
    apart = solve_ivp(rate, (0.0, 3.0), start, method="DOP853", rtol=1e-11, atol=1e-12, t_eval=np.linspace(0, 3, 20))
    exact = scenario.truth.pose(apart.t)[:, 0, :3]
    assert exact == approx(apart.y[:3].T * L, abs=1e-9)


@pytest.mark.parametrize("parameters", [{}, {"contact": "sliding"}, {"space": "spatial"}])
def test_the_ball_starts_in_touch_at_the_exact_pose(parameters):
    scenario = sphere_in_sphere(**parameters)
    ball = scenario.scene.bodies[0]
    assert math.hypot(*ball.position) == approx(BOWL - RADIUS, rel=1e-15)
    n = len(ball.position)
    assert scenario.truth.pose(np.zeros(1))[0, 0, :n] == approx(ball.position, abs=1e-15)


@pytest.mark.parametrize("parameters", [{}, {"space": "spatial"}, {"space": "spatial", "spin": 20}])
def test_the_goal_reads_the_period_off_samples_and_is_nothing_for_a_ball_that_stays(parameters):
    scenario = sphere_in_sphere(**parameters)
    n = len(scenario.scene.bodies[0].position)
    time = np.arange(0.0, DURATION, 5.0 / 240.0)
    position = scenario.truth.pose(time)[..., :n]
    goal = scenario.truth.goal
    assert goal.measure(SimpleNamespace(time=time, position=position)) == approx(goal.value, abs=2e-6)
    assert math.isnan(goal.measure(SimpleNamespace(time=time, position=np.repeat(position[:1], len(time), axis=0))))

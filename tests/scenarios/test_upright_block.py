"""The upright block: where it starts, why it ends upright, and how soon."""

from __future__ import annotations

import math

import pytest
from scipy.integrate import solve_ivp

from scenarios.catalogue.upright_block import DURATION, HEIGHT, SETTLED, TILT, WIDTH, upright_block

ALPHA = math.atan(WIDTH / HEIGHT)  # tipping angle
R = math.hypot(WIDTH, HEIGHT) / 2.0  # centre to corner
INERTIA = (WIDTH**2 + HEIGHT**2) / 12.0  # of 1 kg


def corner_heights(scenario) -> list[float]:
    """m, of all corners above the ground at the start."""
    body = scenario.scene.bodies[0]
    y, s, c = body.position[1], math.sin(body.angle), math.cos(body.angle)
    return [y + s * vx + c * vy for vx, vy in body.shape.vertices]


@pytest.mark.parametrize(
    ("start", "lowest"), [("touching", 0.0), ("at-gap", 0.005), ("rock", 0.007), ("drop", 0.001), ("tilt", 0.0)]
)
def test_each_start_is_as_far_above_the_ground_as_it_says(start, lowest):
    assert min(corner_heights(upright_block(start=start))) == pytest.approx(lowest, abs=1e-15)


def test_the_tilted_block_stands_on_one_corner():
    left, right, *_ = corner_heights(upright_block(start="tilt"))
    assert left == pytest.approx(0.0, abs=1e-15)
    assert right == pytest.approx(WIDTH * math.sin(TILT), abs=1e-15)


def test_the_recorded_runs_have_the_gravity_and_restitution_of_their_record():
    """ContactSim: gravity 5, elasticity 0.8, no damping, no friction; centre at 1.507 and 0.05 rad/s for `rock`."""
    for start in ("at-gap", "rock"):
        scene = upright_block(start=start).scene
        assert scene.gravity == (0.0, -5.0)
        assert scene.pair_law(scene.bodies[0], scene.boundaries[0]) == (0.0, 0.8)
    rocking = upright_block(start="rock").scene.bodies[0]
    assert (rocking.position, rocking.spin) == ((0.0, 1.507), 0.05)


def test_the_tipping_angle_is_that_of_the_diagonal():
    assert pytest.approx(0.3217505543966422, rel=1e-15) == ALPHA
    assert ALPHA > 100.0 * TILT


def test_the_rocking_block_lacks_the_energy_to_tip_over():
    """Kinetic energy and height against the height of the centre over a corner; impacts only take."""
    body = upright_block(start="rock").scene.bodies[0]
    energy = 5.0 * (body.position[1] - HEIGHT / 2.0) + 0.5 * INERTIA * body.spin**2
    assert energy == pytest.approx(0.036, rel=0.01)
    assert 10.0 * energy < 5.0 * (R - HEIGHT / 2.0)


def test_the_tilted_block_stands_before_the_truth_begins():
    """Frictionless: the centre moves vertically, y = R cos(alpha - theta) over the corner that it stands on, and the
    impact of the other keeps r = (H^2 - 2 b^2) / (H^2 + 4 b^2) of the spin (H, b half height and half width; e = 0).
    From theta the block falls flat in t_q; for small angles each later half swing lasts r times the one before.
    """

    def fall(t, state):
        theta, omega = state
        arm = R * math.sin(ALPHA - theta)  # horizontal, centre to corner: dy/dtheta
        bend = -R * math.cos(ALPHA - theta)
        return omega, -(9.81 * arm + arm * bend * omega**2) / (INERTIA + arm**2)

    def flat(t, state):
        return state[0]

    flat.terminal, flat.direction = True, -1

    def quarter(theta: float) -> float:
        swing = solve_ivp(fall, (0.0, 1.0), (theta, 0.0), method="DOP853", rtol=1e-12, atol=1e-15, events=flat)
        return float(swing.t_events[0][0])

    H, b = HEIGHT / 2.0, WIDTH / 2.0
    r = (H**2 - 2.0 * b**2) / (H**2 + 4.0 * b**2)
    assert quarter(0.1) == pytest.approx(0.2331801960672446, abs=1e-11)  # the same equations, by quadrature
    assert r == pytest.approx(0.5384615384615385, rel=1e-15)
    assert quarter(TILT) * (1.0 + 2.0 * r / (1.0 - r)) < 0.2 < SETTLED


def test_the_rocking_block_stands_before_the_truth_begins():
    """An independent simulation: Moreau's time stepping, e = 0.8 at each of the two corners, no friction."""
    y, theta, vy, omega, g, h, e = 1.507, 0.0, 0.0, 0.05, 5.0, 1e-3, 0.8
    awake = 0.0
    for k in range(round(SETTLED / h)):
        y, theta = y + 0.5 * h * vy, theta + 0.5 * h * omega
        s, c = math.sin(theta), math.cos(theta)
        before = vy, omega
        vy -= g * h
        arms = [side * WIDTH / 2.0 * c + HEIGHT / 2.0 * s for side in (-1.0, 1.0)]
        gaps = [y + side * WIDTH / 2.0 * s - HEIGHT / 2.0 * c for side in (-1.0, 1.0)]
        touching = [arm for arm, gap in zip(arms, gaps) if gap <= 0.0]
        for _ in range(100):  # Gauss-Seidel on 0 <= u+ + e u-  perp  P >= 0; repeated sweeps undo what is too much
            for arm in touching:
                target = -e * min(0.0, before[0] + before[1] * arm)
                lack = target - (vy + omega * arm)
                if lack > 0.0:
                    P = lack / (1.0 + arm**2 / INERTIA)
                    vy, omega = vy + P, omega + P * arm / INERTIA
        y, theta = y + 0.5 * h * vy, theta + 0.5 * h * omega
        if abs(vy) > 0.02 or abs(omega) > 0.02:
            awake = k * h
    assert awake < 0.6 * SETTLED
    assert abs(theta) < 1e-3 and abs(y - HEIGHT / 2.0) < 1e-3


def test_the_dropped_block_lands_after_the_time_of_its_fall():
    event = upright_block(start="drop").truth.events[0]
    assert 0.5 * 9.81 * event.time**2 == pytest.approx(1e-3, rel=1e-14)


def test_the_truth_of_a_start_that_settles_begins_when_it_has_settled():
    assert upright_block(start="tilt").truth.span == (SETTLED, DURATION)
    assert upright_block(start="touching").truth.span == (0.0, DURATION)
    assert upright_block(start="at-gap").truth.pose is None

"""Dominoes: the exact fall of the first one."""

import math

import numpy as np
import pytest
from pytest import approx
from scipy.integrate import solve_ivp
from shapely import affinity, box

from scenarios.catalogue.dominoes import FRICTION, HEIGHT, THICKNESS, dominoes, first_contact
from tests.scenarios.start_gaps import start_gaps

G = 9.81


def least_spin(height, thickness):
    """rad/s, that lifts the centre over the edge: h/2 to the half diagonal."""
    return math.sqrt(3.0 * G * (math.hypot(height, thickness) - height) / (height**2 + thickness**2))


def test_the_first_contact_of_small_dominoes():
    """h = 5 cm, d = 1 cm, gap 2 cm, 6 rad/s."""
    met = first_contact(0.05, 0.01, 0.02, 6.0)
    assert met.tilt == approx(0.411516846067488, rel=1e-15)
    assert met.time == approx(0.07702379505678384, rel=1e-13)
    assert met.spin == approx(6.162166607442806, rel=1e-14)
    assert least_spin(0.05, 0.01) == approx(3.347872048053382, rel=1e-12)


@pytest.mark.parametrize(("gap", "spin"), [(0.1, 0.8), (0.3, 1.4), (0.8, 2.5)])
def test_the_fall_about_the_edge_agrees_with_the_equation_of_motion(gap, spin):
    inertia = (HEIGHT**2 + THICKNESS**2) / 3.0

    def rate(t, y):
        return [y[1], 0.5 * G * (HEIGHT * math.sin(y[0]) - THICKNESS * math.cos(y[0])) / inertia]

    met = first_contact(HEIGHT, THICKNESS, gap, spin)
    end = solve_ivp(rate, (0.0, met.time), [0.0, spin], method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    assert end == approx([met.tilt, met.spin], abs=1e-11)


def test_a_push_below_the_least_spin_does_not_carry_it_over_its_edge():
    least = least_spin(HEIGHT, THICKNESS)
    over = math.atan2(THICKNESS, HEIGHT)  # where the centre is above the edge

    def speed_squared(spin):
        return spin**2 - 3.0 * G * (math.hypot(HEIGHT, THICKNESS) - HEIGHT) / (HEIGHT**2 + THICKNESS**2)

    assert speed_squared(least) == approx(0.0, abs=1e-14)
    assert first_contact(HEIGHT, THICKNESS, HEIGHT * math.sin(over), least * 1.001).spin == approx(
        math.sqrt(speed_squared(least * 1.001)), rel=1e-6
    )
    assert np.isclose(least, 0.7486, atol=1e-4)  # the family allows 0.8 and more


@pytest.mark.parametrize(("gap", "spin"), [(0.1, 0.8), (0.3, 1.4), (0.8, 2.5)])
def test_the_edge_neither_slips_nor_lifts_before_the_contact(gap, spin):
    theta = np.linspace(0.0, math.asin(gap / HEIGHT), 100)
    inertia = (HEIGHT**2 + THICKNESS**2) / 3.0
    fallen = HEIGHT * (1.0 - np.cos(theta)) - THICKNESS * np.sin(theta)
    omega2 = spin**2 + G * fallen / inertia
    alpha = 0.5 * G * (HEIGHT * np.sin(theta) - THICKNESS * np.cos(theta)) / inertia
    x = 0.5 * (HEIGHT * np.sin(theta) - THICKNESS * np.cos(theta))  # of the centre from the edge
    y = 0.5 * (HEIGHT * np.cos(theta) + THICKNESS * np.sin(theta))
    along, up = y * alpha - x * omega2, G - x * alpha - y * omega2
    assert np.all(up > 0.0)
    assert np.max(np.abs(along) / up) < FRICTION


def test_at_the_contact_the_tilted_domino_touches_the_next_one():
    """Turned about its lower edge, with a geometry library."""
    tilt = first_contact(HEIGHT, THICKNESS, 0.3, 1.4).tilt
    first = box(-THICKNESS / 2.0, 0.0, THICKNESS / 2.0, HEIGHT)
    fallen = affinity.rotate(first, -tilt, origin=(THICKNESS / 2.0, 0.0), use_radians=True)
    second = affinity.translate(first, THICKNESS + 0.3)
    assert fallen.distance(second) == approx(0.0, abs=1e-15)
    assert fallen.intersection(second).area < 1e-15


@pytest.mark.parametrize(("space", "ground"), [("planar", "plane"), ("spatial", "box")])
def test_the_row_stands_in_touch_with_the_ground_the_first_turning_about_its_edge(space, ground):
    scene = dominoes(space=space, ground=ground).scene
    gaps = start_gaps(scene)
    grounded = [gap for pair, gap in gaps.items() if "ground" in pair]
    assert len(grounded) == 12 and grounded == approx([0.0] * 12, abs=1e-15)
    assert all(gap >= 0.3 - 1e-12 for pair, gap in gaps.items() if "ground" not in pair)
    first = scene.bodies[0]
    turn = first.spin if space == "planar" else -first.spin[1]
    edge = np.array([THICKNESS / 2.0, -HEIGHT / 2.0])
    velocity = np.array([first.velocity[0], first.velocity[-1]]) + turn * np.array([-edge[1], edge[0]])
    assert velocity == approx(np.zeros(2), abs=1e-15)

"""Threads on drums: yo-yos, pulleys that turn, against closed forms and minimal coordinates."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from reference_engine.errors import MechanismError
from reference_engine.multibody.dynamics import System
from reference_engine.multibody.joints import Winding, revolute
from reference_engine.multibody.links import GROUND, Link
from reference_engine.multibody.mechanism import Mechanism
from reference_engine.multibody.simulate import simulate_mechanism
from tests.reference_engine.multibody.test_rows import check_derivatives

G = 9.81


@pytest.mark.parametrize(("axle", "rim", "fall"), [(0.05, 0.05, 6.54), (0.02, 0.05, 2.378181818181818)])
def test_a_yo_yo_falls_with_g_over_one_plus_i_over_m_r_squared(axle, rim, fall):
    """Its thread hangs straight down from a point over the axle's rim; the tension is what is left of the weight."""
    yo_yo = Link(position=(axle, -0.3), inertia=0.5 * rim**2)
    thread = Winding(first=GROUND, second=0, radius=axle, pays_out=-1, first_point=(0.0, 0.0))
    assert fall == pytest.approx(G / (1.0 + 0.5 * rim**2 / axle**2), rel=1e-14)
    for hold in ("accelerations", "impulses"):
        motion = simulate_mechanism(Mechanism(links=(yo_yo,), joints=(thread,)), [0.0, 1.0], hold=hold)
        assert motion.position[1, 0] == pytest.approx([axle, -0.3 - 0.5 * fall], abs=1e-11)
        assert motion.orientation[1, 0] == pytest.approx(-0.5 * fall / axle, abs=1e-9)
        assert motion.reaction[:, 0] == pytest.approx(G - fall, rel=1e-9)


def test_a_yo_yo_that_swings_moves_by_its_two_equations():
    """Lagrange in the free length q and the thread's angle a from the vertical: the centre is at q along the thread and
    r aside, and the drum turns with the thread and by -q / r on it."""
    r, inertia, start = 0.1, 0.02, (1.0, 0.5)

    def rate(t, y):
        q, a, dq, da = y
        along, aside = np.array([math.sin(a), -math.cos(a)]), np.array([math.cos(a), math.sin(a)])
        x_q, x_a = along, q * aside - r * along
        w_q, w_a = -1.0 / r, 1.0
        M = np.array([[x_q @ x_q + inertia * w_q**2, x_q @ x_a + inertia * w_q * w_a],
                      [x_q @ x_a + inertia * w_q * w_a, x_a @ x_a + inertia * w_a**2]])  # fmt: skip
        # of the acceleration, what is there without q'' and a''
        known = 2.0 * dq * da * aside + da * da * (-q * along - r * aside) + np.array([0.0, G])
        return np.append([dq, da], np.linalg.solve(M, -np.array([x_q @ known, x_a @ known])))

    exact = solve_ivp(rate, (0.0, 0.8), (*start, 0.0, 0.0), method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    q, a = start
    point = q * np.array([math.sin(a), -math.cos(a)]) + r * np.array([math.cos(a), math.sin(a)])
    yo_yo = Link(position=point, inertia=inertia)
    thread = Winding(first=GROUND, second=0, radius=r, pays_out=-1, first_point=(0.0, 0.0))
    motion = simulate_mechanism(Mechanism(links=(yo_yo,), joints=(thread,)), [0.0, 0.8])
    q, a = exact[:2]
    point = q * np.array([math.sin(a), -math.cos(a)]) + r * np.array([math.cos(a), math.sin(a)])
    assert motion.position[1, 0] == pytest.approx(point, abs=1e-11)
    assert motion.orientation[1, 0] == pytest.approx(a - start[1] - (q - start[0]) / r, abs=1e-10)
    assert np.ptp(motion.energy) < 1e-11


def test_over_a_pulley_that_turns_weights_fall_by_atwoods_law():
    """(m1 - m2) g / (m1 + m2 + I / r^2), and the two tensions differ by what turns the pulley."""
    r, inertia, m1, m2 = 0.2, 0.06, 3.0, 2.0
    links = (Link(position=(0.0, 0.0), inertia=inertia, mass=1.0), Link(position=(-r, -1.0), mass=m1),
             Link(position=(r, -1.0), mass=m2))  # fmt: skip
    joints = (revolute(GROUND, 0), Winding(first=1, second=0, radius=r, pays_out=1),
              Winding(first=2, second=0, radius=r, pays_out=-1))  # fmt: skip
    a = (m1 - m2) * G / (m1 + m2 + inertia / r**2)
    motion = simulate_mechanism(Mechanism(links=links, joints=joints), [0.7])
    assert motion.position[0, 1:, 1] == pytest.approx([-1.0 - 0.5 * a * 0.49, -1.0 + 0.5 * a * 0.49], abs=1e-12)
    assert motion.position[0, 1:, 0] == pytest.approx([-r, r], abs=1e-12)
    assert motion.orientation[0, 0] == pytest.approx(0.5 * a * 0.49 / r, abs=1e-11)
    assert motion.reaction[0, -2:] == pytest.approx([m1 * (G - a), m2 * (G + a)], rel=1e-10)


@pytest.mark.parametrize("pays_out", [1, -1])
def test_a_winding_has_the_derivatives_of_its_length(pays_out):
    draw = np.random.default_rng(5)
    links = [Link(position=point, orientation=draw.normal(), inertia=1.0, velocity=draw.normal(size=2),
                  spin=draw.normal()) for point in ((0.0, 0.0), (1.5, -0.4))]  # fmt: skip
    thread = Winding(first=0, second=1, radius=0.3, pays_out=pays_out, first_point=(0.1, 0.2), second_point=(0.0, -0.2))
    check_derivatives(System(Mechanism(links=tuple(links), joints=(thread,))))


def test_what_cannot_be_wound_is_refused():
    disc = Link(position=(0.0, 0.0), inertia=1.0)
    inside = Winding(first=-1, second=0, radius=1.0, pays_out=1, first_point=(0.5, 0.0))
    for wrong, words in [
        (lambda: Winding(first=-1, second=0, radius=0.0, pays_out=1), "radius 0.0 m"),
        (lambda: Winding(first=-1, second=0, radius=1.0, pays_out=0), "1 or -1"),
        (lambda: Mechanism(links=(Link(position=(0.0, 0.0, 0.0), inertia=1.0),),
                           joints=(Winding(first=-1, second=0, radius=1.0, pays_out=1),)), "it is of the plane"),
        (lambda: simulate_mechanism(Mechanism(links=(disc,), joints=(inside,)), [1.0]), "is 0.5 m from the centre"),
    ]:  # fmt: skip
        with pytest.raises((MechanismError, RuntimeError), match=words):
            wrong()

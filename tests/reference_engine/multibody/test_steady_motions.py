"""Motions that go on as they are: their rates, whether they last when touched, and what holds them together."""

import math

import numpy as np
import pytest

from reference_engine.multibody.dynamics import System
from reference_engine.multibody.joints import Coupling, Rolling, ball, revolute
from reference_engine.multibody.links import GROUND, Link
from reference_engine.multibody.mechanism import Mechanism
from reference_engine.multibody.simulate import simulate_mechanism
from reference_engine.rotation import matrices_by_direction

G = 9.81


def top(tilt: float, spin: np.ndarray) -> Mechanism:
    """A = 1 about the tip, C = 1/2, m g l = 2; tilted in the x-z plane."""
    axis, arm = np.array([math.sin(tilt), 0.0, math.cos(tilt)]), 0.5
    link = Link(position=arm * axis, velocity=np.cross(spin, arm * axis), inertia=(0.75, 0.75, 0.5), spin=spin,
                orientation=(math.cos(tilt / 2), 0.0, math.sin(tilt / 2), 0.0))  # fmt: skip
    tip = ball(GROUND, 0, second_point=(0.0, 0.0, -arm))
    return Mechanism(links=(link,), joints=(tip,), gravity=(0.0, 0.0, -4.0))


@pytest.mark.parametrize(("root", "rate"), [(-1.0, 0.8794443325574898), (1.0, 2.75544061097946)])
def test_a_heavy_top_goes_round_steadily_at_either_root(root, rate):
    """A cos(th) W^2 - C w3 W + m g l = 0, with w3 the whole spin along the axis, 6 rad/s, at 0.6 rad."""
    tilt = 0.6
    c, s = math.cos(tilt), math.sin(tilt)
    assert rate == pytest.approx((3.0 + root * math.sqrt(9.0 - 8.0 * c)) / (2.0 * c), rel=1e-13)
    spin = 6.0 * np.array([s, 0.0, c]) + rate * s * np.array([-c, 0.0, s])  # W up, less its part along the axis
    motion = simulate_mechanism(top(tilt, spin), [1.0])
    assert motion.position[0, 0] / 0.5 == pytest.approx([s * math.cos(rate), s * math.sin(rate), c], abs=1e-12)


def growth(mechanism: Mechanism, duration: float, rows: tuple[int, ...]) -> float:
    """How much further from 0 these world components of the link's third axis get in the last third of the time
    than in the second one."""
    motion = simulate_mechanism(mechanism, np.linspace(0.0, duration, 48), tolerance=1e-11)
    off = np.linalg.norm(matrices_by_direction(motion.orientation[:, 0])[:, rows, 2], axis=1)
    return float(off[32:].max() / off[16:32].max())


BOTH_SIDES = ((1.1, 0.0, 1.5), (0.9, 6.0, math.inf))  # of the least spin: where a small lean stays and where it grows


@pytest.mark.slow
def test_a_sleeping_top_wakes_below_its_least_spin():
    """C^2 w3^2 > 4 A m g l: 5.657 rad/s."""
    least = math.sqrt(4.0 * 2.0) / 0.5
    assert least == pytest.approx(5.65685424949238)
    for share, low, high in BOTH_SIDES:
        axis = np.array([math.sin(1e-6), 0.0, math.cos(1e-6)])
        assert low < growth(top(1e-6, share * least * axis), 9.0, (0, 1)) < high


def disc(a: float, spin: np.ndarray, lean: float, hoop: bool) -> Mechanism:
    """A thin disc or hoop on its edge, rolling along x if spin is about y, leaning about x."""
    up = np.array([0.0, -math.sin(lean), math.cos(lean)])
    C = a * a if hoop else 0.5 * a * a
    turn = 0.25 * math.pi + 0.5 * lean  # its third axis is along -y
    link = Link(position=(0.0, 0.0, a * math.cos(lean)), orientation=(math.cos(turn), math.sin(turn), 0.0, 0.0),
                inertia=(C / 2, C / 2, C), spin=spin, velocity=np.cross(spin, a * up))  # fmt: skip
    return Mechanism(links=(link,), joints=(Rolling(link=0, semi_axes=(a, a, 0.0)),))


@pytest.mark.slow
@pytest.mark.parametrize(("hoop", "least"), [(False, 1.0 / 3.0), (True, 1.0 / 4.0)])
def test_a_disc_that_rolls_upright_falls_below_its_least_spin(hoop, least):
    """w^2 > g / (3 a), of a hoop g / (4 a): Routh."""
    a = 0.1
    for share, low, high in BOTH_SIDES:
        along = np.array([0.0, math.cos(1e-6), math.sin(1e-6)])
        spin = share * math.sqrt(least * G / a) * along
        assert low < growth(disc(a, spin, 1e-6, hoop), 2.0, (2,)) < high


@pytest.mark.slow
def test_a_disc_that_spins_on_the_spot_falls_below_its_least_spin():
    """w^2 > m g a / (A + m a^2) = 4 g / (5 a) about the vertical."""
    a = 0.1
    for share, low, high in BOTH_SIDES:
        spin = share * math.sqrt(0.8 * G / a) * np.array([0.0, 0.0, 1.0])
        assert low < growth(disc(a, spin, 1e-6, hoop=False), 2.0, (2,)) < high


@pytest.mark.parametrize("rolls", [False, True])
def test_a_ball_circles_in_a_hollow_sphere_at_the_rate_of_a_conical_pendulum(rolls):
    """Sliding, W^2 = g / (L cos th) at 0.7 rad. Rolling without spin about the line to the contact, by the torque about
    that point: (1 + k) L W^2 cos th = g, k = 2/5."""
    tilt, L, r = 0.7, 1.75, 0.25
    k = 0.4 if rolls else 0.0
    rate = math.sqrt(G / ((1.0 + k) * L * math.cos(tilt)))
    if not rolls:
        assert rate == pytest.approx(2.70725747764745, rel=1e-13)
    out = np.array([math.sin(tilt), 0.0, -math.cos(tilt)])
    v = np.array([0.0, L * math.sin(tilt) * rate, 0.0])
    spin = -np.cross(out, v) / r if rolls else np.zeros(3)
    link = Link(position=L * out, velocity=v, inertia=0.4 * r * r, spin=spin)
    joint = Rolling(link=0, semi_axes=r, inner_radius=2.0, friction=None if rolls else 0.0)
    motion = simulate_mechanism(Mechanism(links=(link,), joints=(joint,)), [1.0], tolerance=1e-12)
    there = [L * math.sin(tilt) * math.cos(rate), L * math.sin(tilt) * math.sin(rate), -L * math.cos(tilt)]
    assert motion.position[0, 0] == pytest.approx(there, abs=1e-10)


def test_a_falling_chimney_is_bent_most_at_a_third_of_its_height():
    """Pinned at its foot and let go at rest: the moment across it is m g sin(th) x (1 - x/L)^2 / 4 at x, and does not
    depend on how fast it falls; m g L sin(th) / 27 at L/3, where chimneys break."""
    tilt, bent = 0.1, []
    for share in (0.2, 1.0 / 3.0, 0.5):
        pieces = []
        for low, high in ((0.0, share), (share, 1.0)):
            m, middle = high - low, 0.5 * (low + high)
            pieces.append(Link(position=(middle * math.sin(tilt), middle * math.cos(tilt)), orientation=-tilt, mass=m,
                               inertia=m**3 / 12.0))  # fmt: skip
        joints = (
            revolute(GROUND, 0, second_point=(0.0, -0.5 * share)),
            Coupling(
                first=0,
                second=1,
                linear=0,
                angular=0,
                first_point=(0.0, 0.5 * share),
                second_point=(0.0, -0.5 * (1.0 - share)),
            ),
        )
        mechanism = Mechanism(links=tuple(pieces), joints=joints)
        motion = simulate_mechanism(mechanism, [0.7])
        lean = -motion.orientation[0, 0]
        moment = abs(motion.reaction[0, -1]) * System(mechanism).size  # of a row in metres
        assert moment == pytest.approx(G * math.sin(lean) * share * (1.0 - share) ** 2 / 4.0, rel=1e-9)
        bent.append(moment / math.sin(lean))
    assert bent[1] == pytest.approx(G / 27.0, rel=1e-9)
    assert bent[1] > max(bent[0], bent[2])

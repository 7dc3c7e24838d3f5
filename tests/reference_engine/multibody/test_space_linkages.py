"""Bricard's linkage and the flyball governor, against their equations in the fewest coordinates."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from reference_engine.errors import MechanismError
from reference_engine.multibody.dynamics import System
from reference_engine.multibody.simulate import simulate_mechanism
from tests.reference_engine.multibody.space_linkages import GOVERNOR, bricard, flyball_governor

G = 9.81


def about(axis: np.ndarray, angle: float) -> np.ndarray:
    x, y, z = axis
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + math.sin(angle) * K + (1.0 - math.cos(angle)) * (K @ K)


def even_angle(odd: float) -> float:
    """The loop of equal rods, each twisted by a right angle, closes where cos a + cos b + cos a cos b = 0."""
    return -math.acos(-math.cos(odd) / (1.0 + math.cos(odd)))


def rods(odd: float) -> tuple[np.ndarray, np.ndarray]:
    """Corners (7, 3), the last again the first, and rods' directions, at the angle of the first, third and fifth hinge.

    From hinge to hinge: a turn about its axis, a rod, a quarter turn of the axis about the rod, to and fro.
    """
    corners, ways = [np.zeros(3)], []
    axis, way = np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, -1.0])
    for k in range(6):
        way = about(axis, odd if k % 2 == 0 else even_angle(odd)) @ way
        axis = about(way, math.pi / 2.0 if k % 2 == 0 else -math.pi / 2.0) @ axis
        corners.append(corners[-1] + way)
        ways.append(way)
    return np.array(corners), np.array(ways)


def slope(f, x, h=1e-3):
    return (f(x - 3 * h) * -1 + 9 * f(x - 2 * h) - 45 * f(x - h) + 45 * f(x + h) - 9 * f(x + 2 * h) + f(x + 3 * h)) / (
        60 * h
    )


@pytest.mark.slow
def test_bricards_linkage_moves_by_its_one_equation():
    """I(a) a'' + I'(a) a'^2 / 2 = -V'(a), with I from the speeds of the five rods for a unit of a'."""
    section = 0.1

    def inertia(a):
        v = slope(lambda x: 0.5 * (rods(x)[0][:5] + rods(x)[0][1:6]), a)
        u = slope(lambda x: rods(x)[1][:5], a)  # of the directions: how fast rods turn across themselves
        along = twist_rates(a)
        return (v**2).sum() + (1.0 + section**2) / 12.0 * (u**2).sum() + section**2 / 6.0 * (along**2).sum()

    def twist_rates(a):
        """Spins of the rods along themselves: the sum of the hinges' before them, along the rod."""
        spin, found = np.zeros(3), []
        axis, way = np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, -1.0])
        for k in range(5):
            spin = spin + (1.0 if k % 2 == 0 else slope(even_angle, a)) * axis
            way = about(axis, a if k % 2 == 0 else even_angle(a)) @ way
            axis = about(way, math.pi / 2.0 if k % 2 == 0 else -math.pi / 2.0) @ axis
            found.append(spin @ way)
        return np.array(found)

    def height(a):
        corners = rods(a)[0]
        return 0.5 * (corners[:5] + corners[1:6])[:, 1].sum()

    def rate(t, y):
        return [y[1], (-0.5 * slope(inertia, y[0]) * y[1] ** 2 - G * slope(height, y[0])) / inertia(y[0])]

    for a in (-1.2, -math.pi / 2.0, -1.9):
        assert rods(a)[0][6] == pytest.approx(np.zeros(3), abs=1e-14)
    exact = solve_ivp(rate, (0.0, 0.3), (-math.pi / 2.0, 0.0), method="DOP853", rtol=1e-10, atol=1e-12).y[:, -1]
    motion = simulate_mechanism(bricard(section=section), [0.0, 0.3], tolerance=1e-11)
    corners = rods(exact[0])[0]
    assert motion.position[0] == pytest.approx(
        0.5 * (rods(-math.pi / 2)[0][:5] + rods(-math.pi / 2)[0][1:6]), abs=1e-14
    )
    assert motion.position[1] == pytest.approx(0.5 * (corners[:5] + corners[1:6]), abs=1e-11)
    assert np.ptp(motion.energy) < 1e-9
    assert motion.joint_gap.max() < 1e-13


def test_bricards_six_hinges_are_one_row_too_many():
    system = System(bricard())
    assert system.rows.count == 30
    assert len(system.constraints_at(system.split(system.start)[0], ~system.rows.one_sided).s) == 29


def test_the_flyball_governor_moves_by_its_three_equations():
    """Shaft's angle, rods' angle a below the level, cube's height h: the moment of momentum J(a) psi' is kept."""
    g = GOVERNOR
    L, s, b = g["length"], g["section"], 0.5 * g["cube"]
    rod, cube = g["density"] * L * s * s, g["density"] * g["cube"] ** 3
    at_pin = rod * (L**2 / 3.0 + s**2 / 12.0) + g["ball"] * L**2  # of one rod with its ball
    first = 0.5 * rod * L + g["ball"] * L

    def about_shaft(a):
        c, k = math.cos(a), math.sin(a)
        thick = rod * s * s * (c * c / 12.0 + k * k / 6.0)
        one = (rod * L**2 / 3.0 + g["ball"] * L**2) * c * c + 2.0 * b * first * c + (rod + g["ball"]) * b * b + thick
        return 2.0 * one + rod * s * s / 6.0 + cube * g["cube"] ** 2 / 6.0

    kept = about_shaft(g["angle"]) * g["spin"]

    def rate(t, y):
        a, h, _, da, dh = y
        c, k = math.cos(a), math.sin(a)
        over = L - 0.5 * L * k - h  # of the rod's middle over the cube
        long = math.hypot(0.5 * L * c, over)
        by_a, by_h = (-0.25 * L * L * k * c - 0.5 * L * c * over) / long, -over / long
        push = g["stiffness"] * (long - g["rest"]) + g["damping"] * (by_a * da + by_h * dh)
        whirl = 0.5 * slope(about_shaft, a) * (kept / about_shaft(a)) ** 2
        return [da, dh, kept / about_shaft(a), (whirl + 2.0 * G * first * c - 2.0 * push * by_a) / (2.0 * at_pin),
                -G - 2.0 * push * by_h / cube]  # fmt: skip

    end = 0.01
    start = (g["angle"], g["height"], 0.0, 0.0, 0.0)
    exact = solve_ivp(rate, (0.0, end), start, method="DOP853", rtol=1e-12, atol=1e-13, max_step=1e-3).y[:, -1]
    motion = simulate_mechanism(flyball_governor(), [end], tolerance=1e-11)
    x, y, _ = motion.position[0, 1] - motion.position[0, 2]
    middle = (0.5 * rod + g["ball"]) * L / (rod + g["ball"])
    assert motion.position[0, 3] == pytest.approx([0.0, 0.0, exact[1]], abs=1e-12)
    assert math.atan2(y, x) == pytest.approx(exact[2], abs=1e-9)
    assert L - motion.position[0, 1, 2] == pytest.approx(middle * math.sin(exact[0]), abs=1e-10)
    assert abs(exact[1] - g["height"]) > 1e-4


def test_rods_without_a_length_are_refused():
    with pytest.raises(MechanismError, match=r"bricard: rods of 0\.0 m"):
        bricard(length=0.0)

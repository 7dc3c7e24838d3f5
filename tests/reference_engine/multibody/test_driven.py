"""Links that a function of time moves: a shaken plate, a crank at constant spin; and the rows' derivatives."""

import math

import numpy as np
import pytest

from reference_engine.errors import MechanismError
from reference_engine.multibody.dynamics import System
from reference_engine.multibody.joints import Coupling, Drive, slider
from reference_engine.multibody.links import GROUND, Link
from reference_engine.multibody.mechanism import Mechanism
from reference_engine.multibody.simulate import simulate_mechanism
from tests.reference_engine.multibody.classics import slider_crank
from tests.reference_engine.multibody.test_rows import check_derivatives

G = 9.81


def shaken(amplitude: float, rate: float, phase: float, height: float, speed: float, e: float) -> Mechanism:
    """A point above a plate at amplitude sin(rate t + phase), whose top is 0.1 m over its centre."""

    def course(t):
        s, c = math.sin(rate * t + phase), math.cos(rate * t + phase)
        return amplitude * s, amplitude * rate * c, -amplitude * rate**2 * s

    y, v, _ = course(0.0)
    plate = Link(position=(0.0, y - 0.1), velocity=(0.0, v), inertia=1.0, mass=3.0)
    ball = Link(position=(0.0, height), velocity=(0.0, speed))
    joints = (
        slider(GROUND, 0, (0.0, 1.0)),
        Drive(first=GROUND, second=0, axis=(0.0, 1.0), second_point=(0.0, 0.1), course=course),
        Coupling(first=0, second=1, linear=1, angular=1, first_point=(0.0, 0.1), axis=(1.0, 0.0), one_sided=True,
                 restitution=e),
    )  # fmt: skip
    return Mechanism(links=(plate, ball), joints=joints)


def period_one(amplitude: float, rate: float, e: float) -> tuple[float, float]:
    """Phase of the impacts of the orbit that bounces once a turn, and the speed after each (Holmes 1982).

    A flight of 2 pi / rate takes the speed g pi / rate; Newton's law at the plate's speed A rate cos(phase) gives
    cos(phase) = pi (1 - e) / (1 + e) / Gamma, Gamma = A rate^2 / g.
    """
    gamma = amplitude * rate**2 / G
    return math.acos(math.pi * (1.0 - e) / (1.0 + e) / gamma), G * math.pi / rate


def times_of_impacts(mechanism: Mechanism, duration: float, tolerance: float) -> np.ndarray:
    motion = simulate_mechanism(mechanism, [duration], tolerance=tolerance)
    return np.array([event.time for event in motion.events if event.kind == "impact"])


@pytest.mark.slow
def test_a_ball_on_a_shaken_plate_bounces_once_a_turn_and_stays_so():
    """e = 1/2, 40 rad/s, 8.5 mm: 1.0472 < Gamma = 1.3863 < 1.5268, where the orbit is stable."""
    phase, speed = period_one(0.0085, 40.0, 0.5)
    assert [phase, speed] == pytest.approx([0.7145804582612241, 0.7704755982928968], rel=1e-14)
    height, turn = 0.0085 * math.sin(phase), math.pi / 20.0
    assert [height, height + speed**2 / (2.0 * G)] == pytest.approx(
        [0.005570054809943792, 0.03582656080203336], rel=1e-13
    )
    hits = times_of_impacts(shaken(0.0085, 40.0, phase, height, speed, 0.5), 2.5 * turn, 1e-12)
    assert hits == pytest.approx(turn * np.arange(1, 3), abs=1e-11)


@pytest.mark.slow
def test_beside_that_orbit_flights_come_back_to_it_with_the_square_of_e_and_at_a_larger_amplitude_they_leave():
    """From impact to impact small deviations follow a linear map of determinant e^2 and trace 1 + e^2 -
    (1 + e)^2 Gamma sin(phase): a deviation is trace times the last less e^2 times the one before."""
    off = []
    for amplitude in (0.0085, 0.01):
        phase, speed = period_one(amplitude, 40.0, 0.5)
        height, turn = amplitude * math.sin(phase), math.pi / 20.0
        hits = times_of_impacts(shaken(amplitude, 40.0, phase, height, speed * (1.0 + 1e-4), 0.5), 5.5 * turn, 1e-9)
        off.append(hits - turn * np.arange(1, len(hits) + 1))
        gamma = amplitude * 1600.0 / G
        trace = 1.25 - 2.25 * gamma * math.sin(phase)
        assert off[-1][1:4] == pytest.approx(trace * off[-1][:3] - 0.25 * np.append(0.0, off[-1][:2]), rel=2e-3)
    assert abs(off[0][4]) < 0.2 * abs(off[0][0])
    assert abs(off[1][4]) > 2.0 * abs(off[1][0])


def test_a_crank_driven_evenly_moves_the_block_by_the_law_of_cosines_and_its_motor_gives_the_power():
    crank, rod, spin = 0.5, 1.2, 3.0
    free = slider_crank(crank, rod, masses=(1.0, 2.0, 3.0), angle=1.0, spin=spin)
    motor = Drive(first=GROUND, second=0, turns=True, course=lambda t: (spin * t, spin, 0.0))
    mechanism = Mechanism(links=free.links, joints=(*free.joints, motor), gravity=free.gravity)
    h = 1e-3
    motion = simulate_mechanism(mechanism, [0.8 - h, 0.8, 0.8 + h, 2.5])  # more than a turn
    angle = 1.0 + spin * motion.time
    there = crank * np.cos(angle) + np.sqrt(rod**2 - (crank * np.sin(angle)) ** 2)
    assert motion.orientation[:, 0] == pytest.approx(angle, abs=1e-12)
    assert motion.position[:, 2, 0] == pytest.approx(there, abs=1e-12)
    torque = motion.reaction[1, -1] * System(mechanism).size  # of a row in metres
    power = (motion.energy[2] - motion.energy[0]) / (2.0 * h)
    assert abs(torque * spin) == pytest.approx(abs(power), rel=1e-4)
    assert motion.joint_gap.max() < 1e-14


@pytest.mark.parametrize("turns", [False, True])
def test_a_drive_has_the_derivatives_of_its_gap(turns):
    draw = np.random.default_rng(3)
    links = [Link(position=draw.normal(size=3), orientation=draw.normal(size=4), inertia=(1.0, 2.0, 2.5),
                  velocity=draw.normal(size=3), spin=draw.normal(size=3)) for _ in range(2)]  # fmt: skip
    course = lambda t: (math.sin(2.0 * t + 0.3), 2.0 * math.cos(2.0 * t + 0.3), -4.0 * math.sin(2.0 * t + 0.3))  # noqa: E731
    drive = Drive(first=0, second=1, axis=draw.normal(size=3), turns=turns, course=course,
                  first_point=(0.1, 0.2, 0.3), second_point=(-0.3, 0.2, 0.0))  # fmt: skip
    check_derivatives(System(Mechanism(links=tuple(links), joints=(drive,))))


def test_what_cannot_be_driven_is_refused():
    still = lambda t: (0.0, 0.0, 0.0)  # noqa: E731
    about = {"first": -1, "second": 0, "axis": (1.0, 0.0), "turns": True}
    plate = Link(position=(0.0, 0.0), inertia=1.0)
    for wrong, words in [
        (lambda: Drive(first=-1, second=0, course=still), "axis None; along which it moves"),
        (lambda: Drive(first=-1, second=0, axis=(0.0, 0.0), course=still), "no direction"),
        (lambda: Drive(first=-1, second=0, axis=(1.0, 0.0), course=3.0), "a function of time"),
        (
            lambda: simulate_mechanism(
                Mechanism(links=(plate,), joints=(Drive(first=-1, second=0, axis=(1, 0), course=lambda t: t),)), [1.0]
            ),
            "displacement, rate and acceleration, all finite",
        ),
        (
            lambda: Mechanism(links=(plate,), joints=(Drive(**about, course=still),)),
            r"joints\[0\].axis",
        ),
        (
            lambda: simulate_mechanism(
                Mechanism(links=(plate,), joints=(Drive(first=-1, second=0, axis=(1, 0), course=still),)),
                [1.0], hold="impulses",
            ),
            "a condition of time",
        ),
    ]:  # fmt: skip
        with pytest.raises(MechanismError, match=words):
            wrong()

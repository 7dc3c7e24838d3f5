"""Rolling without slip, against closed forms."""

import math

import numpy as np
import pytest

from reference_engine.errors import MechanismError
from reference_engine.multibody.joints import Rolling
from reference_engine.multibody.links import Link
from reference_engine.multibody.mechanism import Mechanism
from reference_engine.multibody.simulate import simulate_mechanism
from reference_engine.rotation import matrices_by_direction

G = 9.81


def in_hollow(spin: float) -> Mechanism:
    """A uniform ball of 0.25 m in a sphere of 2 m, from 1 rad, its centre going level at 1.75 m/s."""
    r, out = 0.25, np.array([math.sin(1.0), 0.0, -math.cos(1.0)])
    v = np.array([0.0, 1.75, 0.0])
    link = Link(position=1.75 * out, velocity=v, spin=spin * out - np.cross(out, v) / r, inertia=0.4 * r * r)
    return Mechanism(links=(link,), joints=(Rolling(link=0, semi_axes=r, inner_radius=2.0),))


@pytest.mark.slow
def test_a_ball_rolls_in_a_hollow_sphere_with_the_period_of_its_height():
    """By Jacobi's functions, with the spin 20 rad/s about the line to the contact, which works not and yet tilts."""
    motion = simulate_mechanism(in_hollow(20.0), [1.598815771631339])
    assert motion.position[0, 0, 2] == pytest.approx(-1.75 * math.cos(1.0), abs=1e-12)
    assert motion.velocity[0, 0, 2] == pytest.approx(0.0, abs=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spin", "end"),
    [
        (0.0, (-0.7919485037400925, -0.2691105368085843, -0.5480849262682056)),
        (20.0, (0.5596404944178254, 0.3508799323436708, -0.7507901105410705)),
    ],
)
def test_a_ball_in_a_hollow_sphere_is_where_its_vector_equation_has_it_after_ten_seconds(spin, end):
    motion = simulate_mechanism(in_hollow(spin), [0.0, 10.0])
    assert motion.position[1, 0] / 1.75 == pytest.approx(end, abs=1e-12)
    assert np.ptp(motion.energy) < 1e-12


def test_a_ball_on_a_turntable_goes_round_a_circle_at_two_sevenths_of_its_rate():
    r, turning = 0.1, 3.0
    speed = np.array([0.0, 0.4, 0.0]) - np.cross((0.0, 0.0, turning), (0.5, 0.0, 0.0))
    link = Link(position=(0.5, 0.0, r), velocity=(0.0, 0.4, 0.0), inertia=0.4 * r * r,
                spin=np.cross((0.0, 0.0, 1.0), speed) / r)  # fmt: skip
    joint = Rolling(link=0, semi_axes=r, turning=turning)
    motion = simulate_mechanism(Mechanism(links=(link,), joints=(joint,)), [1.0])
    angle = 2.0 / 7.0 * turning
    circle = [1 / 30 + 7 / 15 * math.cos(angle), 7 / 15 * math.sin(angle)]
    assert motion.position[0, 0, :2] == pytest.approx(circle, abs=1e-12)


def test_eulers_disc_goes_round_with_its_centre_at_rest():
    """Omega^2 = 4 g / (a sin alpha): after a turn of the contact the axis and the centre are where they were."""
    a, tilt = 0.04, 0.2
    rate = math.sqrt(4.0 * G / (a * math.sin(tilt)))
    up = np.array([0.0, math.cos(tilt), math.sin(tilt)])  # from the contact to the centre
    link = Link(position=(0.0, 0.0, a * math.sin(tilt)), orientation=(math.cos(tilt / 2), math.sin(tilt / 2), 0.0, 0.0),
                spin=rate * math.sin(tilt) * up, inertia=(a * a / 4, a * a / 4, a * a / 2))  # fmt: skip
    joint = Rolling(link=0, semi_axes=(a, a, 0.0))
    motion = simulate_mechanism(Mechanism(links=(link,), joints=(joint,)), [0.0, 2.0 * math.pi / rate])
    axis = matrices_by_direction(motion.orientation[:, 0])[:, :, 2]
    assert axis[1] == pytest.approx(axis[0], abs=1e-12)
    assert motion.position[1, 0] == pytest.approx(motion.position[0, 0], abs=1e-12)


@pytest.mark.parametrize(("about", "period"), [(1, 0.7628247763241492), (0, 0.7414431898899729)])
def test_an_ellipsoid_rocks_on_a_plane_with_its_period(about, period):
    """Semi-axes 0.3, 0.2, 0.1, rolling from 0.5 rad: level after a quarter, by quadrature."""
    axes, amplitude = np.array([0.3, 0.2, 0.1]), 0.5
    q = np.zeros((1, 4))
    q[0, 0], q[0, 1 + about] = math.cos(amplitude / 2), math.sin(amplitude / 2)
    R = matrices_by_direction(q)[0]
    squares = axes**2
    link = Link(position=(0.0, 0.0, math.sqrt((R @ np.diag(squares) @ R.T)[2, 2])), orientation=q[0],
                inertia=(squares.sum() - squares) / 5.0)  # fmt: skip
    joint = Rolling(link=0, semi_axes=axes)
    motion = simulate_mechanism(Mechanism(links=(link,), joints=(joint,)), [period / 4])
    assert motion.orientation[0, 0] == pytest.approx([1.0, 0.0, 0.0, 0.0], abs=1e-12)


def test_what_cannot_roll_is_refused():
    for wrong, words in [
        (lambda: Rolling(link=0, semi_axes=(1.0, 0.0, 0.0)), "one of them 0"),
        (lambda: Rolling(link=0, semi_axes=1.0, inner_radius=0.5), "more than the ball's 1"),
        (lambda: Rolling(link=0, semi_axes=(1.0, 1.0, 2.0), inner_radius=5.0), "rolls a ball alone"),
        (lambda: simulate_mechanism(in_hollow(0.0), [1.0], hold="impulses"), "a condition of velocities"),
        (lambda: Mechanism(links=(Link(position=(0.0, 0.0)),), joints=(Rolling(link=0, semi_axes=1.0),)), "planar"),
    ]:
        with pytest.raises(MechanismError, match=words):
            wrong()

"""Forces of the world against closed forms. Runge-Kutta 4: errors of order dt^4."""

import math

import numpy as np
import pytest

from reference_engine import (
    Attraction,
    Body,
    ConstantForce,
    Disc,
    Spring,
    Thruster,
    World,
    WorldError,
    faithful_simulate,
)

DT = 0.01


def moved(force, duration=1.0, *, bodies=None, **world):
    bodies = bodies or (Body(shape=Disc(0.1), mass=2.0, inertia=0.5),)
    return faithful_simulate(World(bodies=bodies, gravity=(0.0, 0.0), forces=(force,), **world), duration, DT)


def test_a_constant_force_in_world_axes_moves_a_body_by_half_a_t_squared():
    motion = moved(ConstantForce(body=0, force=(4.0, -2.0), torque=1.0, turns=False))
    assert motion.pose[-1, 0] == pytest.approx([1.0, -0.5, 1.0], abs=1e-12)


def test_a_force_that_turns_with_its_body_off_the_centre_spins_it():
    """Torque = 0.2 m x 3 N, I = 0.5."""
    motion = moved(ConstantForce(body=0, point=(0.2, 0.0), force=(0.0, 3.0)))
    assert motion.twist[-1, 0, 2] == pytest.approx(0.2 * 3.0 / 0.5, abs=1e-12)


def test_a_thruster_pushes_by_its_profile():
    """The factor rises from 0 to 1 in 0.5 s and stays: v = (F/m) (t^2 in the first half, then 0.25 + t - 0.5)."""
    motion = moved(Thruster(body=0, point=(0.0, 0.0), force=(4.0, 0.0), profile=((0.0, 0.0), (0.5, 1.0))))
    assert motion.twist[25, 0, 0] == pytest.approx(2.0 * 0.25**2, abs=1e-12)
    assert motion.twist[-1, 0, 0] == pytest.approx(2.0 * (0.25 + 0.5), abs=1e-12)


def test_a_profile_that_goes_back_in_time_is_refused():
    with pytest.raises(WorldError, match=r"times \[0.5, 0.0\] of the profile must be there and in ascending order"):
        Thruster(body=0, point=(0.0, 0.0), force=(4.0, 0.0), profile=((0.5, 0.0), (0.0, 1.0)))


def test_a_spring_drawn_at_a_constant_speed_starts_its_body_swinging_about_that_motion():
    """m x'' = -k (x - 1 - u t), from rest: x = 1 + u t - (u / w) sin(w t), w = 2."""
    spring = Spring(
        first=-1, second=0, first_point=(0.0, 0.0), second_point=(0.0, 0.0), length=1.0, stiffness=8.0,
        first_velocity=(0.3, 0.0),
    )  # fmt: skip
    motion = moved(spring, 2.0, bodies=(Body(shape=Disc(0.1), position=(1.0, 0.0), mass=2.0),))
    t = motion.time
    assert motion.pose[:, 0, 0] == pytest.approx(1.0 + 0.3 * t - 0.15 * np.sin(2.0 * t), abs=1e-8)


def test_a_damped_spring_takes_energy_at_c_times_the_square_of_the_rate():
    """m x'' + c x' + k x = 0:  x = x0 e^(-g t) (cos w t + (g / w) sin w t), g = c / 2m, w^2 = k / m - g^2."""
    spring = Spring(
        first=0, second=-1, first_point=(0.0, 0.0), second_point=(0.0, 0.0), length=1.0, stiffness=8.0, damping=2.0,
    )  # fmt: skip
    motion = moved(spring, 2.0, bodies=(Body(shape=Disc(0.1), position=(1.3, 0.0), mass=2.0),))
    t, g, w = motion.time, 0.5, math.sqrt(4.0 - 0.25)
    exact = 0.3 * np.exp(-g * t) * (np.cos(w * t) + g / w * np.sin(w * t))
    assert motion.pose[:, 0, 0] - 1.0 == pytest.approx(exact, abs=1e-8)


def test_a_body_on_a_spring_swings_harmonically():
    """x = 0.3 cos(sqrt(k/m) t)."""
    spring = Spring(
        first=-1, second=0, first_point=(0.0, 0.0), second_point=(0.0, 0.0), length=1.0, stiffness=8.0,
    )  # fmt: skip
    motion = moved(spring, 2.0, bodies=(Body(shape=Disc(0.1), position=(1.3, 0.0), mass=2.0),))
    assert motion.pose[:, 0, 0] - 1.0 == pytest.approx(0.3 * np.cos(2.0 * motion.time), abs=1e-8)


def test_a_slack_rubber_band_does_nothing():
    band = Spring(
        first=-1, second=0, first_point=(0.0, 0.0), second_point=(0.0, 0.0), length=2.0, stiffness=8.0, pulls_only=True,
    )  # fmt: skip
    motion = moved(band, bodies=(Body(shape=Disc(0.1), position=(1.3, 0.0)),))
    assert np.all(motion.pose[-1, 0] == motion.pose[0, 0])


def test_two_bodies_circle_each_other_under_mutual_attraction():
    """Equal masses at +-1 m: G m^2 / 4 = m v^2 / 1, so v^2 = G m / 4."""
    v = math.sqrt(3.0 / 4.0)
    bodies = tuple(Body(shape=Disc(0.1), position=(x, 0.0), velocity=(0.0, x * v)) for x in (1.0, -1.0))
    motion = moved(Attraction(strength=3.0), 3.0, bodies=bodies)
    assert np.hypot(*motion.pose[:, 0, :2].T) == pytest.approx(1.0, abs=1e-8)
    assert motion.pose[-1, 0, :2] == pytest.approx([math.cos(3.0 * v), math.sin(3.0 * v)], abs=1e-7)


def test_damping_slows_motion_and_spin_exponentially():
    """v = v0 e^(-k t / m), w = w0 e^(-k_r t / I)."""
    body = Body(shape=Disc(0.1), mass=2.0, inertia=0.5, velocity=(3.0, 0.0), spin=2.0)
    world = World(bodies=(body,), gravity=(0.0, 0.0), damping=0.4, rotational_damping=0.06)
    motion = faithful_simulate(world, 1.0, DT)
    assert motion.twist[-1, 0] == pytest.approx([3.0 * math.exp(-0.2), 0.0, 2.0 * math.exp(-0.12)], abs=1e-9)


def test_a_python_callable_is_a_force():
    """F = cos t on 2 kg from rest: v = sin(t) / 2."""
    motion = moved(lambda time, pose, twist: np.array([[math.cos(time), 0.0, 0.0]]))
    assert motion.twist[:, 0, 0] == pytest.approx(np.sin(motion.time) / 2.0, abs=1e-9)


def test_a_callable_of_the_wrong_shape_is_refused():
    with pytest.raises(WorldError, match=r"\(3,\), not finite \(B, 3\) with B = 1"):
        moved(lambda time, pose, twist: np.zeros(3))

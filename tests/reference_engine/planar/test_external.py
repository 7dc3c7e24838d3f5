"""The kernels of forces: each force against its formula, their sum against momentum and energy."""

import dataclasses
import math

import numba
import numpy as np
import pytest

from reference_engine import (
    Attraction,
    Body,
    ConstantForce,
    Disc,
    Outline,
    Spring,
    Thruster,
    World,
    polygon_outline,
)
from reference_engine.compiler.kernels import entry
from reference_engine.planar_model import external
from reference_engine.planar_model.external import accelerate, next_knot, pack_forces, potential_energy, stretch_of

PROFILE = ((1.0, 0.0), (2.0, 4.0), (2.0, -1.0), (4.0, 3.0))


@entry
def slack(forces, k, time, y):
    """Stretch of rubber band k [m]: negative while it is slack."""
    return stretch_of(forces, forces.bands[k], time, y)


def disc(x=0.0, y=0.0, angle=0.0, *, mass=2.0, inertia=0.5, fixed=False, velocity=(0.0, 0.0), spin=0.0):
    return Body(
        shape=Disc(0.1), position=(x, y), angle=angle, mass=mass, inertia=inertia, fixed=fixed, velocity=velocity,
        spin=spin,
    )  # fmt: skip


def state_of(world):
    pose = [(*body.position, body.angle) for body in world.bodies]
    return np.array(pose + [(*body.velocity, body.spin) for body in world.bodies], np.float64).ravel()


def world_with(*forces, bodies, **options):
    return World(bodies=bodies, **{"gravity": (0.0, 0.0), "forces": forces, **options})


def accelerations(world, time=0.0, y=None):
    """(B, 3)"""
    count, rate = len(world.bodies), np.zeros(6 * len(world.bodies))
    accelerate(pack_forces(world)[0], time, state_of(world) if y is None else y, count, rate)
    return rate[3 * count :].reshape(-1, 3)


def integrate(world, duration, steps, watch):
    """Runge-Kutta 4; what `watch(time, y)` gives at the start and after every step."""
    (forces, _), count = pack_forces(world), len(world.bodies)

    def slope(time, y):
        out = np.empty_like(y)
        out[: 3 * count] = y[3 * count :]
        accelerate(forces, time, y, count, out)
        return out

    y, h, seen = state_of(world), duration / steps, []
    for k in range(steps):
        t = k * h
        seen.append(watch(t, y))
        k1 = slope(t, y)
        k2 = slope(t + h / 2.0, y + h / 2.0 * k1)
        k3 = slope(t + h / 2.0, y + h / 2.0 * k2)
        k4 = slope(t + h, y + h * k3)
        y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return np.array([*seen, watch(duration, y)])


def energy(world):
    (forces, _), count = pack_forces(world), len(world.bodies)
    mass = np.array([[b.mass, b.mass, b.inertia] for b in world.bodies])

    def total(time, y):
        twist = y[3 * count :].reshape(-1, 3)
        return 0.5 * (mass * twist**2).sum() + potential_energy(forces, time, y, count)

    return total


def test_gravity_and_damping_act_on_free_bodies_alone():
    """a = g - (k / m) v, -(k_r / I) omega."""
    bodies = (disc(velocity=(3.0, 1.0), spin=2.0), disc(5.0, fixed=True))
    world = world_with(bodies=bodies, gravity=(1.0, -9.81), damping=0.4, rotational_damping=0.1)
    assert accelerations(world)[0] == pytest.approx([1.0 - 0.6, -9.81 - 0.2, -0.4], abs=1e-14)
    assert np.all(accelerations(world)[1] == 0.0)


def test_a_force_that_turns_with_its_body_does_so_with_its_point():
    """At 90 degrees the point (0.2, 0) is at (0, 0.2) and the force (3, 0) is (0, 3): it has no lever."""
    force = ConstantForce(body=0, point=(0.2, 0.0), force=(3.0, 1.0), torque=0.25)
    rate = accelerations(world_with(force, bodies=(disc(angle=math.pi / 2.0),)))[0]
    assert rate == pytest.approx([-1.0 / 2.0, 3.0 / 2.0, (0.2 * 1.0 + 0.25) / 0.5], abs=1e-14)


def test_a_force_in_world_axes_keeps_its_direction_when_its_body_turns():
    force = ConstantForce(body=0, point=(0.2, 0.0), force=(3.0, 1.0), turns=False)
    rate = accelerations(world_with(force, bodies=(disc(angle=math.pi / 2.0),)))[0]
    assert rate == pytest.approx([3.0 / 2.0, 1.0 / 2.0, -0.2 * 3.0 / 0.5], abs=1e-14)


@pytest.mark.parametrize(
    ("time", "factor"), [(0.0, 0.0), (1.0, 0.0), (1.25, 1.0), (2.0, -1.0), (3.0, 1.0), (4.0, 3.0), (9.0, 3.0)]
)
def test_a_profile_is_linear_between_its_corners_and_constant_outside(time, factor):
    """Corners as in PROFILE, which jumps from 4 to -1 at 2 s."""
    world = world_with(Thruster(body=0, point=(0.0, 0.0), force=(2.0, 0.0), profile=PROFILE), bodies=(disc(),))
    assert accelerations(world, time)[0] == pytest.approx([factor, 0.0, 0.0], abs=1e-14)


def test_the_corners_of_all_profiles_are_named_one_after_the_other():
    """A profile of one point has no corner."""
    thrusters = (
        Thruster(body=0, point=(0.0, 0.0), force=(2.0, 0.0), profile=PROFILE),
        Thruster(body=0, point=(0.0, 0.0), force=(2.0, 0.0), profile=((0.5, 3.0),)),
        Thruster(body=0, point=(0.0, 0.0), force=(2.0, 0.0), profile=((0.0, 0.0), (3.0, 1.0))),
    )
    forces, _ = pack_forces(world_with(*thrusters, bodies=(disc(),)))
    corners = [next_knot(forces, -1.0)]
    while corners[-1] < math.inf:
        corners.append(next_knot(forces, corners[-1]))
    assert corners == [0.0, 1.0, 2.0, 3.0, 4.0, math.inf]


def test_a_profile_of_one_point_is_a_constant_factor():
    thruster = Thruster(body=0, point=(0.0, 0.0), force=(2.0, 0.0), profile=((0.5, 3.0),))
    for time in (0.0, 1.0):
        assert accelerations(world_with(thruster, bodies=(disc(),)), time)[0, 0] == 3.0


@pytest.mark.parametrize("time", [0.0, 0.7, 5.0])
def test_a_thruster_may_turn_in_the_frame_of_its_body(time):
    """F = 2 (cos 0.3 t, sin 0.3 t) N on 2 kg, at the point (0, -3), which makes a torque of 3 F_x."""
    thruster = Thruster(body=0, point=(0.0, -3.0), force=(2.0, 0.0), turn_rate=0.3)
    turn = 0.3 * time
    expected = [math.cos(turn), math.sin(turn), 3.0 * 2.0 * math.cos(turn) / 0.5]
    assert accelerations(world_with(thruster, bodies=(disc(),)), time)[0] == pytest.approx(expected, abs=1e-14)


def test_points_of_forces_are_in_the_frame_of_the_edges_where_the_centre_of_mass_is_elsewhere():
    """A square about the origin with its mass at (0.3, 0.1): a force at (0.3, 0.4) has an arm of 0.3 m."""
    square = polygon_outline([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)])
    shape = Outline(square.edges, centre_of_mass=(0.3, 0.1))
    force = ConstantForce(body=0, point=(0.3, 0.4), force=(2.0, 0.0))
    rate = accelerations(world_with(force, bodies=(Body(shape=shape, mass=2.0, inertia=0.5),)))[0]
    assert rate == pytest.approx([1.0, 0.0, -0.3 * 2.0 / 0.5], abs=1e-14)


def test_a_spring_pulls_along_itself_by_its_stretch_and_its_rate():
    """From (0, 0.3), fixed to a body that spins at 2 rad/s, to (4, 3.3): 5 m long, at 3 m/s along (4, 3) / 5.

    Tension 10 (5 - 2) + 4 x rate; the end moves at (3, 0) and the start at (-0.6, 0): the rate is 3.6 x 0.8.
    """
    first = disc(angle=math.pi / 2.0, spin=2.0)
    second = disc(4.0, 3.3, mass=4.0, velocity=(3.0, 0.0))
    spring = Spring(
        first=0, second=1, first_point=(0.3, 0.0), second_point=(0.0, 0.0), length=2.0, stiffness=10.0, damping=4.0
    )
    tension = 10.0 * 3.0 + 4.0 * 3.6 * 0.8
    rate = accelerations(world_with(spring, bodies=(first, second)))
    assert rate[0] == pytest.approx([tension * 0.8 / 2.0, tension * 0.6 / 2.0, -0.3 * tension * 0.8 / 0.5], rel=1e-13)
    assert rate[1] == pytest.approx([-tension * 0.8 / 4.0, -tension * 0.6 / 4.0, 0.0], rel=1e-13)


def test_a_spring_to_a_moving_point_knows_where_it_is_and_how_fast():
    """At 2 s the point is at (0, -2), at -1 m/s: 2 m from the body, which stretches it at 1 m/s."""
    spring = Spring(
        first=-1, second=0, first_point=(0.0, 0.0), second_point=(0.0, 0.0), length=0.5, stiffness=10.0, damping=4.0,
        first_velocity=(0.0, -1.0),
    )  # fmt: skip
    rate = accelerations(world_with(spring, bodies=(disc(),)), 2.0)[0]
    assert rate == pytest.approx([0.0, -(10.0 * 1.5 + 4.0) / 2.0, 0.0], abs=1e-13)


@pytest.mark.parametrize("distance", [0.25, 1.0, 1.75])
def test_a_rubber_band_pulls_only_and_is_slack_by_how_much_it_is_too_short(distance):
    points = {"first": -1, "second": 0, "first_point": (0.0, 0.0), "second_point": (0.0, 0.0)}
    spring = Spring(**points, length=0.1, stiffness=1.0)
    band = Spring(**points, length=1.0, stiffness=8.0, pulls_only=True)
    world = world_with(spring, band, bodies=(disc(distance),))
    forces, _ = pack_forces(world)
    assert len(forces.bands) == 1
    assert slack(forces, 0, 0.0, state_of(world)) == pytest.approx(distance - 1.0, abs=1e-15)
    pull = -(distance - 0.1) - 8.0 * max(0.0, distance - 1.0)
    assert accelerations(world)[0, 0] == pytest.approx(pull / 2.0, abs=1e-14)


def test_attraction_falls_with_the_square_of_the_distance_and_leaves_fixed_bodies_out():
    """6 x 2 x 3 / 5^2 along (3, 4) / 5; the third body, fixed, neither pulls nor is pulled."""
    bodies = (disc(), disc(3.0, 4.0, mass=3.0), disc(1.0, fixed=True))
    rate = accelerations(world_with(Attraction(strength=6.0), bodies=bodies))
    force = 6.0 * 2.0 * 3.0 / 25.0
    assert rate[0] == pytest.approx([force * 0.6 / 2.0, force * 0.8 / 2.0, 0.0], rel=1e-14)
    assert rate[1] == pytest.approx([-force * 0.6 / 3.0, -force * 0.8 / 3.0, 0.0], rel=1e-14)
    assert np.all(rate[2] == 0.0)


def lively(*, damping=0.0, length=1.1):
    """Two bodies that spin and pull at each other off their centres, by spring, band and attraction."""
    points = {"first": 0, "second": 1, "first_point": (0.2, 0.1), "second_point": (-0.1, 0.3)}
    spring = Spring(**points, length=0.8, stiffness=9.0, damping=damping)
    band = Spring(**points, length=length, stiffness=5.0, damping=damping, pulls_only=True)
    bodies = (disc(spin=1.0), disc(1.5, 0.2, 0.4, mass=3.0, velocity=(0.2, 1.6), spin=-2.0))
    return world_with(spring, band, Attraction(strength=0.5), bodies=bodies)


def test_springs_and_attraction_keep_energy():
    """Runge-Kutta 4: a quarter of the step leaves a 256th of the error where the band pulls all the time."""
    always = lively(length=0.2)
    coarse, fine = (np.ptp(integrate(always, 2.0, steps, energy(always))) for steps in (500, 2000))
    assert fine < 1e-8 and 180.0 < coarse / fine < 330.0


def test_a_band_that_slackens_and_tightens_keeps_energy():
    """At the kinks the integrator is of second order, in one step each."""
    assert np.ptp(np.sign(integrate(lively(), 2.0, 100, lambda t, y: slack(pack_forces(lively())[0], 0, t, y)))) == 2.0
    assert np.ptp(integrate(lively(), 2.0, 2000, energy(lively()))) < 1e-6


@pytest.mark.parametrize("damping", [0.0, 0.7])
def test_forces_between_two_bodies_add_up_to_no_force_and_no_torque(damping):
    """Action and reaction are on one line: sum m a = 0 and sum (r x m a + I alpha) = 0."""
    world, random = lively(damping=damping), np.random.default_rng(1)
    for _ in range(50):
        y = random.uniform(-2.0, 2.0, 12)
        force = accelerations(world, 0.0, y) * [[b.mass, b.mass, b.inertia] for b in world.bodies]
        torque = sum(t + x * fy - y_ * fx for (fx, fy, t), (x, y_, _) in zip(force, y[:6].reshape(-1, 3)))
        scale = np.abs(force).max()
        assert scale > 0.0 and abs(np.sum(force, axis=0)[:2]).max() < 1e-14 * scale and abs(torque) < 1e-13 * scale


def test_gravity_and_a_spring_to_the_background_keep_energy():
    """A body that hangs off its centre: swings, turns and bounces on the spring."""
    spring = Spring(first=-1, second=0, first_point=(0.0, 2.0), second_point=(0.1, 0.2), length=1.0, stiffness=60.0)
    world = world_with(spring, bodies=(disc(0.4, 0.3, 0.2),), gravity=(0.0, -9.81))
    seen = integrate(world, 2.0, 4000, energy(world))
    assert np.ptp(seen) < 1e-9 * abs(seen).max()


def test_a_background_row_changes_nothing_and_stays():
    world, rate = lively(), np.full(18, np.nan)
    y = state_of(world)
    padded = np.concatenate([y[:6], np.zeros(3), y[6:], np.zeros(3)])
    accelerate(pack_forces(world, background=True)[0], 0.0, padded, 3, rate)
    assert np.array_equal(rate[9:15].reshape(-1, 3), accelerations(world)) and np.all(rate[15:] == 0.0)
    assert np.all(np.isnan(rate[:9]))  # the poses' part is the caller's


def test_python_functions_are_added_after_all_else():
    world = lively()
    extra = np.arange(6.0).reshape(2, 3)
    with_function = dataclasses.replace(world, forces=(*world.forces, lambda time, pose, twist: extra * (1.0 + time)))
    forces, functions = pack_forces(with_function)
    rate = np.zeros(12)
    accelerate(forces, 0.5, state_of(world), 2, rate)
    functions.check()
    assert np.array_equal(rate[6:].reshape(-1, 3), accelerations(world, time=0.5) + 1.5 * extra / forces.mass)


def test_every_kernel_of_forces_has_been_compiled_for_one_signature():
    if numba.config.DISABLE_JIT:
        return
    for world in (lively(), world_with(bodies=(disc(),))):
        accelerations(world)
        energy(world)(0.0, state_of(world))
        next_knot(pack_forces(world)[0], 0.0)
    for name, kernel in vars(external).items():
        if hasattr(kernel, "signatures"):
            assert len(kernel.signatures) <= 1, f"{name}: {kernel.signatures}"

"""Energy: a body in flight keeps it to round-off in every integrator, and what an engine adds is seen."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from scenarios.forces import planar_wrenches, spatial_wrenches
from scenarios.scene import Rod, Spring, Thruster, inertias
from tests.validation.metrics.motions import (
    DT,
    GROUND,
    KNOWN,
    G,
    ball,
    block,
    box,
    columns,
    disc,
    euler,
    measured,
    planar,
    plane,
    scenario,
    space,
    spatial,
    still,
    times,
    truth,
    values,
)
from validation.metrics.axes import to_body_axes
from validation.metrics.energy import energy
from validation.metrics.flight import velocity_at_pose
from validation.metrics.observation import Observation
from validation.records.trajectory import PlanarTrajectory

CONSERVED = truth(invariants=frozenset({"energy"}))


@pytest.mark.parametrize("poses_first", [True, False])
def test_a_thrown_body_keeps_its_energy_to_round_off_whatever_comes_first_in_the_step(poses_first):
    thrown = euler((0.0, 1.0), (3.0, 4.0), 240, poses_first=poses_first)
    found = values(plane(disc()), thrown)
    scale = 0.5 * 25.0 + G * 1.0
    assert found["energy_drift"] <= 1e-14 * scale
    assert found["energy_gain"] <= 1e-14 * scale


@pytest.mark.parametrize("poses_first", [True, False])
def test_without_the_lag_the_same_throw_seems_to_gain_or_lose_half_g_squared_dt_t(poses_first):
    thrown = euler((0.0, 1.0), (0.0, 0.0), 240, poses_first=poses_first)
    undeclared = planar(thrown.time, thrown.pose, thrown.twist, lag=0.0)
    drift = values(plane(disc()), undeclared)["energy_drift"]
    assert drift == pytest.approx(0.5 * G**2 * DT * 1.0, rel=1e-9)


def test_the_lag_goes_along_gravity_wherever_that_points():
    g = (3.0, 5.0)
    thrown = euler((0.0, 0.0), (1.0, -2.0), 200, poses_first=True, g=g)
    assert values(plane(disc(), gravity=g), thrown)["energy_drift"] <= 1e-13


def test_a_body_at_rest_keeps_its_velocity_and_gains_nothing_from_the_lag():
    resting = still((0.0, 0.5, 0.0))
    lagging = planar(resting.time, resting.pose, resting.twist, lag=-DT / 2)
    found = values(plane(block(), boundaries=(GROUND,)), lagging)
    assert found["energy_drift"] == 0.0
    assert found["energy_gain"] == 0.0


@pytest.mark.parametrize("share", [0.0, 0.5, 0.97, 1.0])
def test_only_what_falls_freely_gets_the_velocity_of_the_pose(share):
    """Held back by a rope that carries the rest of its weight, it keeps the velocity as recorded."""
    t = times(0.5)
    fall = -share * G
    motion = planar(t, columns(0.0, 0.5 * fall * t**2, 0.0), columns(0.0, fall * t, 0.0), lag=DT / 2.0)
    v = velocity_at_pose(Observation(scenario=scenario(plane(disc())), trajectory=motion))[:, 0, 1]
    assert v == pytest.approx(fall * t + (G * DT / 2.0 if share == 1.0 else 0.0), abs=1e-15)


def bouncing(share: float):
    """Turns the ball round at the ground with `share` of its speed."""
    return lambda x, v: np.array([v[0], -share * v[1]]) if x[1] <= 0.5 and v[1] < 0.0 else None


@pytest.mark.parametrize("poses_first", [True, False])
def test_an_impact_that_returns_more_speed_than_it_got_is_a_gain_and_one_that_returns_less_is_none(poses_first):
    scene = plane(disc(), boundaries=(GROUND,))
    livelier = euler((0.0, 1.5), (0.0, 0.0), 200, poses_first=poses_first, bounce=bouncing(1.1))
    duller = euler((0.0, 1.5), (0.0, 0.0), 200, poses_first=poses_first, bounce=bouncing(0.8))
    assert values(scene, livelier)["energy_gain"] == pytest.approx(0.21 * G, rel=0.05)
    # a step in which it touches is not judged: m g v dt/2 = 0.09 J would be read into it
    assert values(scene, duller)["energy_gain"] < 1e-13


def sprung(share: float) -> PlanarTrajectory:
    """A disc that meets a wall at 1 m/s after 0.1 s, turns round on it as on a spring in 0.05 s, and leaves it with a
    share of its speed."""
    time, w = times(96), np.pi / 0.05
    inside = (time > 0.1) & (time < 0.15)
    y = np.where(time <= 0.1, 0.1 - time, np.where(inside, -np.sin(w * (time - 0.1)) / w, share * (time - 0.15)))
    v = np.where(time <= 0.1, -1.0, np.where(inside, -np.cos(w * (time - 0.1)), share))
    return planar(time, columns(0.0, y + 0.5, 0.0), columns(0.0, v, 0.0))


def test_what_a_contact_holds_of_a_bounce_that_lasts_is_no_gain_but_what_it_gives_beyond_is():
    scene = plane(disc(restitution=1.0), boundaries=(GROUND,), gravity=(0.0, 0.0))
    at_once = sprung(1.0)
    assert values(scene, at_once)["energy_gain"] > 0.4  # of an engine whose impacts take a step
    assert values(scene, replace(at_once, impact_time=0.06))["energy_gain"] < 1e-12
    assert values(scene, replace(at_once, impact_time=0.06), CONSERVED)["energy_drift"] < 1e-12
    assert values(scene, replace(at_once, impact_time=0.01))["energy_gain"] > 0.4  # it lasts longer than it may
    assert values(scene, replace(sprung(1.2), impact_time=0.06))["energy_gain"] == pytest.approx(0.22)
    dull = plane(disc(), boundaries=(GROUND,), gravity=(0.0, 0.0))
    assert values(dull, replace(at_once, impact_time=0.06))["energy_gain"] > 0.4  # without restitution nothing bounces
    assert values(scene, replace(at_once, impact_time=0.06))["bounce_time"] == 0.06


def test_drift_is_the_largest_on_the_way_not_the_last():
    t = times(1.0)
    swing = 0.5 * np.sin(np.pi * t)
    there_and_back = planar(t, columns(0.0, 0.0, 0.0 * t), columns(np.sqrt(1.0 + 2.0 * swing), 0.0, 0.0))
    scene = plane(disc(), gravity=(0.0, 0.0))
    assert values(scene, there_and_back)["energy_drift"] == pytest.approx(0.5, rel=1e-4)


def test_gain_counts_from_the_lowest_energy_before():
    t = times(1.0)
    kinetic = np.interp(t, [0.0, 0.3, 0.7, 1.0], [3.0, 1.0, 2.5, 2.0])
    motion = planar(t, columns(0.0 * t, 0.0, 0.0), columns(np.sqrt(2.0 * kinetic), 0.0, 0.0))
    found = values(plane(disc(), gravity=(0.0, 0.0)), motion)
    assert found["energy_gain"] == pytest.approx(1.5, rel=1e-3)
    assert found["energy_drift"] == pytest.approx(2.0, rel=1e-3)


@pytest.mark.parametrize("poses_first", [True, False])
def test_a_mass_on_a_spring_keeps_its_energy_to_second_order_because_the_spring_is_part_of_its_flight(poses_first):
    k, rest = 40.0, 0.2
    spring = Spring(a="ball", anchor_a=(0.0, 0.0), anchor_b=(0.0, 0.0), stiffness=k, rest_length=rest)
    scene = plane(disc(radius=0.05), gravity=(0.0, 0.0), springs=(spring,))
    x, v, rows = 0.3, 0.0, [(0.3, 0.0)]
    for _ in range(480):
        x += v * DT * poses_first
        v -= k * (x - rest) * DT
        x += v * DT * (not poses_first)
        rows.append((x, v))
    x_t, v_t = np.array(rows).T
    pose, twist = columns(x_t, 0.0, 0.0), columns(v_t, 0.0, 0.0)
    drift = [
        values(scene, planar(np.arange(481) * DT, pose, twist, lag=lag))["energy_drift"]
        for lag in (DT * (poses_first - 0.5), 0.0)
    ]
    amplitude = 0.5 * k * 0.1**2
    assert drift[0] < (k * DT**2) * amplitude
    assert drift[1] > 0.5 * np.sqrt(k) * DT * amplitude  # first order, where the lag is not declared


INERTIA, STIFFNESS = 0.01, 95.0  # kg m^2, N/m: the disc swings by half a radian in 0.1 s


def twisted_disc():
    """Held at (+-0.1, 0) by two opposed springs that turn it and do not push it."""
    springs = tuple(
        Spring(a="ball", anchor_a=(0.1 * side, 0.0), anchor_b=(0.2 * side, 0.0), stiffness=STIFFNESS, rest_length=0.0)
        for side in (1.0, -1.0)
    )
    twisted = disc(radius=0.1, inertia=INERTIA, angle=0.5)
    return plane(twisted, gravity=(0.0, 0.0), springs=springs)


def swings(scene, *, poses_first: bool, kick=(0.0, 0.0, 0.0), lag: bool = True, v: float = 0.0):
    """Its motion for 2 s in the way of the engines, thrown with `v` (m/s); `kick` is added to its twist after 1 s."""
    inverse_mass = np.array([1.0, 1.0, 1.0 / INERTIA])
    pose, twist = np.array([[0.0, 0.0, 0.5]]), np.array([[v, 0.0, 0.0]])
    rows = [(pose, twist)]
    for step in range(480):
        pose = pose + twist * DT * poses_first
        twist = twist + planar_wrenches(scene, 0.0, pose, twist) * inverse_mass * DT + np.array(kick) * (step == 240)
        pose = pose + twist * DT * (not poses_first)
        rows.append((pose, twist))
    poses, twists = zip(*rows)
    return planar(np.arange(481) * DT, poses, twists, lag=DT * (poses_first - 0.5) if lag else 0.0)


@pytest.mark.parametrize("poses_first", [True, False])
def test_a_disc_turned_by_springs_keeps_its_energy_to_second_order_because_their_torque_is_part_of_its_flight(
    poses_first,
):
    """Of first order the error is w dt = 8 %, of second (w dt)^2 / 4: w = 20/s."""
    scene = twisted_disc()
    declared, undeclared = (
        values(scene, swings(scene, poses_first=poses_first, lag=lag))["energy_gain"] for lag in (True, False)
    )
    assert undeclared > 0.03
    assert declared < undeclared / 40.0


@pytest.mark.parametrize("poses_first", [True, False])
def test_a_spin_that_comes_from_nowhere_is_a_gain_though_springs_turn_the_disc(poses_first):
    kicked = swings(twisted_disc(), poses_first=poses_first, kick=(0.0, 0.0, -3.0))
    after = kicked.spin[241, 0]
    gained = 0.5 * INERTIA * (after**2 - (after + 3.0) ** 2)
    assert gained > 0.05
    assert values(twisted_disc(), kicked)["energy_gain"] == pytest.approx(gained, rel=0.1)


MOMENTS = np.array([0.02, 0.024, 0.025])  # kg m^2


def held_box():
    """By four springs along its edges' middles, which turn it about every axis."""
    ends = ((0.1, 0.0, 0.0), (-0.1, 0.0, 0.0), (0.0, 0.1, 0.05), (0.0, -0.1, -0.05))
    springs = tuple(
        Spring(a="box", anchor_a=end, anchor_b=tuple(2.0 * c for c in end), stiffness=STIFFNESS, rest_length=0.0)
        for end in ends
    )
    start = (np.cos(0.25), 0.0, 0.6 * np.sin(0.25), 0.8 * np.sin(0.25))
    return space(
        box(size=(0.1, 0.1, 0.1), inertia=tuple(MOMENTS), orientation=start),
        gravity=(0.0, 0.0, 0.0),
        springs=springs,
    )


def test_a_box_turned_by_springs_in_space_keeps_its_energy_to_second_order():
    """Euler's equations with the gyroscopic torque, velocities first; a turn of w dt about the world's axes."""
    scene = held_box()
    body = scene.bodies[0]
    q, w = np.array(body.orientation), np.array(body.spin)
    orientation, spin = [q], [w]
    for _ in range(240):
        R = matrix(q)
        torque = spatial_wrenches(scene, 0.0, np.zeros((1, 3)), q[None], np.zeros((1, 3)), w[None])[1][0]
        w = w + DT * R @ ((R.T @ (torque - np.cross(w, R @ (MOMENTS * (R.T @ w))))) / MOMENTS)
        half = 0.5 * DT * np.linalg.norm(w)
        turn = np.array([np.cos(half), *(np.sin(half) * w / np.linalg.norm(w))])
        q = np.array(
            [turn[0] * q[0] - turn[1:] @ q[1:], *(turn[0] * q[1:] + q[0] * turn[1:] + np.cross(turn[1:], q[1:]))]
        )
        q = q / np.linalg.norm(q)
        orientation.append(q)
        spin.append(w)
    zero = np.zeros((241, 3))
    drift = [
        values(scene, spatial(np.arange(241) * DT, zero, zero, orientation, spin, lag=lag))["energy_drift"]
        for lag in (-DT / 2.0, 0.0)
    ]
    assert drift[0] < 0.1 * drift[1]


@pytest.mark.parametrize("poses_first", [True, False])
def test_a_blow_that_takes_energy_is_no_gain_though_springs_turn_the_disc_in_the_step_that_it_takes(poses_first):
    """In that step the spin may be meant at either end: the work of half a step of torque is in doubt."""
    scene = twisted_disc()
    undisturbed = swings(scene, poses_first=poses_first, v=0.4)
    blow = (-0.5 * undisturbed.twist[240, 0, 0], 0.0, 0.0)
    assert abs(blow[0]) > 0.05
    struck = swings(scene, poses_first=poses_first, v=0.4, kick=blow)
    assert values(scene, struck)["energy_gain"] <= 1.01 * values(scene, undisturbed)["energy_gain"]


def test_a_scene_with_a_motor_has_no_energy_to_keep():
    motor = Thruster(body="ball", anchor=(0.0, 0.0), force=(1.0, 0.0))
    found = values(plane(disc(), thrusters=(motor,)), euler((0.0, 5.0), (0.0, 0.0), 20, poses_first=False))
    assert "energy_drift" not in found and "energy_gain" not in found


@pytest.mark.parametrize("profile", [((0.0, 1.0),), ((0.0, 0.5), (1.0, 0.5))])
def test_what_a_steady_couple_does_is_no_gain(profile):
    """A disc of 1/2 m r^2 turned by a couple: its kinetic energy is the torque times its angle."""
    ball, factor = disc(), profile[0][1]
    torque = 2.0 * 0.3 * 1.5 * factor
    couple = [
        Thruster(body="ball", anchor=(0.0, side * 0.3), force=(-side * 1.5, 0.0), profile=profile)
        for side in (-1.0, 1.0)
    ]
    scene = plane(ball, thrusters=tuple(couple))
    rate, time = torque / float(inertias(scene)[0]), np.linspace(0.0, 1.0, 21)
    fall = -9.81 * time
    pose = np.stack([0.0 * time, 5.0 - 9.81 * time**2 / 2.0, rate * time**2 / 2.0], axis=1)[:, None]
    motion = PlanarTrajectory(
        time=time,
        dt=0.05,
        velocity_lag=0.0,
        pose=pose,
        twist=np.stack([0.0 * time, fall, rate * time], axis=1)[:, None],
    )
    found = values(scene, motion)
    assert found["energy_drift"] < 1e-12 * torque * pose[-1, 0, 2] + 1e-12 and found["energy_gain"] < 1e-12
    more = replace(motion, twist=motion.twist * np.array([1.0, 1.0, 1.1]))
    gained = 0.5 * float(inertias(scene)[0]) * (rate**2) * (1.1**2 - 1.0)
    assert values(scene, more)["energy_gain"] == pytest.approx(gained)


def test_a_couple_that_grows_or_pushes_too_has_no_energy_to_keep():
    def driven(*thrusters):
        scene = plane(disc(), thrusters=thrusters)
        return values(scene, euler((0.0, 5.0), (0.0, 0.0), 20, poses_first=False))

    left = Thruster(body="ball", anchor=(0.0, 0.3), force=(-1.0, 0.0))
    right = Thruster(body="ball", anchor=(0.0, -0.3), force=(1.0, 0.0))
    assert "energy_gain" in driven(left, right)
    assert "energy_gain" not in driven(left)
    growing = ((0.0, 0.0), (1.0, 1.0))
    grown = [thruster.model_copy(update={"profile": growing}) for thruster in (left, right)]
    assert "energy_gain" not in driven(*grown)


def test_a_body_on_a_rod_is_never_in_flight():
    held = Rod(name="rod", a="ball", anchor_a=(0.0, 0.0), anchor_b=(0.0, 3.0), length=2.0)
    thrown = euler((0.0, 1.0), (0.0, 0.0), 240, poses_first=False)
    assert values(plane(disc(), joints=(held,)), thrown)["energy_drift"] > 0.1


def test_less_drift_is_better_only_where_the_truth_keeps_the_energy():
    thrown = euler((0.0, 1.0), (0.0, 0.0), 20, poses_first=False)
    assert measured(plane(disc()), thrown, CONSERVED)["energy_drift"].better == "lower"
    assert measured(plane(disc()), thrown, KNOWN)["energy_drift"].better == "neither"


# --- second witnesses -----------------------------------------------------------------------------------------------


def test_planar_energy_equals_that_of_exact_rationals():
    rng = np.random.default_rng(3)
    masses, moments = (2.0, 0.5, 7.0), (0.25, 3.0, 1.5)
    scene = plane(*(disc(f"d{i}", mass=m, inertia=moment) for i, (m, moment) in enumerate(zip(masses, moments))))
    pose, twist = rng.normal(size=(2, 5, 3, 3))
    found = energy(Observation(scenario=scenario(scene), trajectory=planar(np.arange(5) * 1e9, pose, twist)))
    exact = []
    for k in range(5):
        total = Fraction(0)
        for i in range(3):
            vx, vy, w = (Fraction(float(c)) for c in twist[k, i])
            rise = Fraction(float(pose[k, i, 1])) - Fraction(float(pose[0, i, 1]))
            total += Fraction(masses[i]) * ((vx * vx + vy * vy) / 2 + Fraction(G) * rise)
            total += Fraction(moments[i]) * w * w / 2
        exact.append(float(total))
    assert found == pytest.approx(exact, rel=1e-14, abs=1e-13)


def matrix(q: np.ndarray) -> np.ndarray:
    """Body to world, column by column from the images of the axes; Hamilton's products written out."""

    def times_(p, r):
        return np.array(
            [
                p[0] * r[0] - p[1] * r[1] - p[2] * r[2] - p[3] * r[3],
                p[0] * r[1] + p[1] * r[0] + p[2] * r[3] - p[3] * r[2],
                p[0] * r[2] - p[1] * r[3] + p[2] * r[0] + p[3] * r[1],
                p[0] * r[3] + p[1] * r[2] - p[2] * r[1] + p[3] * r[0],
            ]
        )

    conjugate = q * np.array([1.0, -1.0, -1.0, -1.0])
    return np.column_stack([times_(times_(q, np.array([0.0, *axis])), conjugate)[1:] for axis in np.eye(3)])


CLOUD = np.array([(a, b, c) for a in (-0.3, 0.3) for b in (-0.5, 0.5) for c in (-0.7, 0.7)])  # 8 points of m / 8


def test_spatial_energy_equals_that_of_a_cloud_of_points():
    rng = np.random.default_rng(4)
    moments = tuple(2.0 * float(np.mean((CLOUD**2).sum(axis=1) - CLOUD[:, i] ** 2)) for i in range(3))
    scene = space(box(mass=2.0, inertia=moments))
    position, velocity, spin = rng.normal(size=(3, 6, 3))
    q = rng.normal(size=(6, 4))
    q /= np.linalg.norm(q, axis=1)[:, None]
    motion = spatial(np.arange(6) * 1e9, position, velocity, q, spin)
    found = energy(Observation(scenario=scenario(scene), trajectory=motion))
    witness = []
    for k in range(6):
        arms = CLOUD @ matrix(q[k]).T
        speeds = velocity[k] + np.cross(spin[k], arms)
        rise = position[k, 2] + arms[:, 2] - position[0, 2] - (CLOUD @ matrix(q[0]).T)[:, 2]
        witness.append(sum(0.25 * (0.5 * v @ v + G * z) for v, z in zip(speeds, rise)))
    assert found == pytest.approx(witness, rel=1e-13, abs=1e-13)


def test_a_vector_in_body_axes_is_the_transposed_matrix_times_it():
    rng = np.random.default_rng(5)
    q, vector = rng.normal(size=(20, 4)), rng.normal(size=(20, 3))
    q /= np.linalg.norm(q, axis=1)[:, None]
    assert to_body_axes(q, vector) == pytest.approx(np.array([matrix(p).T @ v for p, v in zip(q, vector)]), abs=1e-14)


def test_a_spinning_ball_in_space_keeps_its_energy():
    t = times(1.0)
    zero = 0.0 * t
    spinning = spatial(t, columns(zero, 0, 1.0), columns(zero, 0, 0), spin=columns(zero, 3.0, -2.0))
    assert values(space(ball(), gravity=(0.0, 0.0, 0.0)), spinning)["energy_drift"] == 0.0

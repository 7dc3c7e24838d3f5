"""Joints, springs, thrusters and damping on engines of space, on real solutions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from pytest import approx

from scenarios.scene import (
    Ball,
    Box,
    Damping,
    Disc,
    Hinge,
    PlanarBody,
    PlanarScene,
    Revolute,
    Sphere,
    Spring,
    Thruster,
    planar_start,
    spatial_start,
)
from tests.validation.engines.planar_scenes import Array, ball, box, ground, scene
from tests.validation.engines.spatial_scenes import (
    ENGINES,
    TURNED,
    G,
    both_engines,
    every_engine,
    in_plane,
    in_space,
    rotated,
    solid,
    space,
)

# --- joints ------------------------------------------------------------------------------------------------------


def pendulum(theta_1: float, theta_2: float, omega_1: float = 0.0, omega_2: float = 0.0) -> PlanarScene:
    """Two uniform rods of 1 m and 1 kg, angles from hanging down; a rod's own y axis points up to its pivot."""

    def hung(top: Array, theta: float, omega: float, at_top: Array, name: str) -> tuple[PlanarBody, Array, Array]:
        down = np.array([math.sin(theta), -math.cos(theta)])
        across = np.array([-down[1], down[0]]) * omega
        rod = box(
            name,
            width=0.1,
            inertia=1.0 / 12.0,
            position=tuple((top + 0.5 * down).tolist()),
            angle=theta,
            velocity=tuple((at_top + 0.5 * across).tolist()),
            spin=omega,
        )
        return rod, top + down, at_top + across

    upper, knee, moving = hung(np.zeros(2), theta_1, omega_1, np.zeros(2), "upper")
    lower, _, _ = hung(knee, theta_2, omega_2, moving, "lower")
    joints = (
        Revolute(name="pivot", a="upper", anchor_a=(0.0, 0.5), anchor_b=(0.0, 0.0)),
        Revolute(name="knee", a="lower", b="upper", anchor_a=(0.0, 0.5), anchor_b=(0.0, -0.5)),
    )
    return scene(upper, lower, joints=joints, duration=10.0)


def end_of(motion: Any, i: int, y: float) -> Array:
    """(S, 2) m: the point (0, y) of a planar body."""
    return motion.position[:, i] + y * np.stack([-np.sin(motion.angle[:, i]), np.cos(motion.angle[:, i])], axis=-1)


def pendulum_energy(motion: Any) -> Array:
    kinetic = 0.5 * (motion.velocity**2).sum(axis=(1, 2)) + (motion.spin**2).sum(axis=1) / 24.0
    return kinetic + G * motion.position[..., 1].sum(axis=1)


@every_engine
def test_the_links_of_a_double_pendulum_cannot_part(engine: Any) -> None:
    """Reduced coordinates: no gap beyond round-off. Semi-implicit Euler then loses 2 to 3 J of 40 in 10 s."""
    motion = in_plane(engine, pendulum(math.pi / 2, math.pi / 2))
    assert np.abs(end_of(motion, 0, 0.5)).max() < 1e-14
    assert np.abs(end_of(motion, 0, -0.5) - end_of(motion, 1, 0.5)).max() < 1e-14
    energy = pendulum_energy(motion)
    assert -5.6 < energy[-1] - energy[0] < -1.4  # measured by others: -2.8 J


@every_engine
def test_links_start_with_the_velocities_of_the_scene(engine: Any) -> None:
    given = pendulum(1.0, 0.5, 2.0, -3.0)
    motion = in_plane(engine, given)
    pose, twist = planar_start(given)
    assert motion.pose[0] == approx(pose, abs=1e-14)
    assert motion.twist[0] == approx(twist, abs=1e-14)


def chain(kind: str, hangs: bool, damping: Damping) -> Any:
    """Two links of unequal inertia, turned any which way, on ball joints or on hinges that are not parallel."""
    turned = [np.array(q) / np.linalg.norm(q) for q in ((0.9, 0.2, -0.3, 0.4), (0.3, -0.5, 0.7, 0.1))]
    pivot, top, bottom, neck = (
        np.array(v) for v in ((0.3, 0.4, 0.5), (0.1, 0.2, 0.5), (-0.1, 0.1, -0.4), (0.2, 0.0, 0.5))
    )
    centre_1 = pivot - rotated(turned[0], top)
    knee = centre_1 + rotated(turned[0], bottom)
    centre_2 = knee - rotated(turned[1], neck)
    axes = rotated(turned[0], np.array([0.0, 1.0, 0.0])), rotated(turned[0], np.array([1.0, 0.0, 0.0]))
    if kind == "ball":
        spin_1, spin_2 = np.array([1.0, 2.0, -1.0]), np.array([-0.5, 1.0, 2.0])
    else:
        spin_1 = 2.0 * axes[0]
        spin_2 = spin_1 + 1.5 * axes[1]
    speed = np.zeros(3) if hangs else np.array([0.5, 0.0, 0.2])
    speed_1 = speed + np.cross(spin_1, centre_1 - pivot)
    speed_2 = speed_1 + np.cross(spin_1, knee - centre_1) + np.cross(spin_2, centre_2 - knee)

    def row(v: Array) -> Any:
        return tuple(v.tolist())

    links = [
        solid(
            Box(size=(0.3, 0.2, 1.0)),
            name,
            mass=m,
            inertia=(0.08, 0.1, 0.05),
            position=row(at),
            orientation=row(q),
            velocity=row(v),
            spin=row(w),
        )
        for name, m, at, q, v, w in (
            ("1", 1.0, centre_1, turned[0], speed_1, spin_1),
            ("2", 2.0, centre_2, turned[1], speed_2, spin_2),
        )
    ]
    if kind == "ball":
        joints: list[Any] = [
            Ball(name="pivot", a="1", anchor_a=row(top), anchor_b=row(pivot)),
            Ball(name="knee", a="2", b="1", anchor_a=row(neck), anchor_b=row(bottom)),
        ]
    else:
        joints = [
            Hinge(name="pivot", a="1", anchor_a=row(top), anchor_b=row(pivot), axis=(0.0, 1.0, 0.0)),
            Hinge(name="knee", a="1", b="2", anchor_a=row(bottom), anchor_b=row(neck), axis=(1.0, 0.0, 0.0)),
        ]
    return space(*links, joints=tuple(joints if hangs else joints[1:]), damping=damping, duration=1.0)


@both_engines
@pytest.mark.parametrize("damping", [Damping(), Damping(linear=0.3, angular=0.1)], ids=["free", "damped"])
@pytest.mark.parametrize("hangs", [True, False], ids=["hangs", "floats"])
@pytest.mark.parametrize("kind", ["ball", "hinge"])
def test_engines_that_integrate_alike_move_a_chain_in_space_alike(kind: str, hangs: bool, damping: Damping) -> None:
    """Two libraries, one method (semi-implicit Euler in reduced coordinates): they differ by round-off alone.

    So frames, signs, axes and the application of forces are the same in both adapters, or wrong in both alike; the
    double pendulum and the tests of forces tell which.
    """
    given = chain(kind, hangs, damping)
    bullet, mujoco = (in_space(engine, given) for engine in ENGINES)
    assert bullet.position == approx(mujoco.position, abs=1e-10)
    assert bullet.orientation == approx(mujoco.orientation, abs=1e-10)
    assert bullet.velocity == approx(mujoco.velocity, abs=1e-9)
    assert bullet.spin == approx(mujoco.spin, abs=1e-9)
    for found, start in zip((bullet.position, bullet.orientation, bullet.velocity, bullet.spin), spatial_start(given)):
        assert found[0] == approx(start, abs=1e-13)


@every_engine
def test_a_parallelogram_closes(engine: Any) -> None:
    """Its coupler stays level: the joint that closes the loop holds, if softly."""
    bars = (
        box("left", width=0.1, inertia=1.0 / 12.0, position=(0.0, -0.5)),
        box("coupler", height=0.1, inertia=1.0 / 12.0, position=(0.5, -1.0)),
        box("right", width=0.1, inertia=1.0 / 12.0, position=(1.0, -0.5)),
    )
    joints = (
        Revolute(name="1", a="left", anchor_a=(0.0, 0.5), anchor_b=(0.0, 0.0)),
        Revolute(name="2", a="left", b="coupler", anchor_a=(0.0, -0.5), anchor_b=(-0.5, 0.0)),
        Revolute(name="3", a="coupler", b="right", anchor_a=(0.5, 0.0), anchor_b=(0.0, -0.5)),
        Revolute(name="4", a="right", anchor_a=(0.0, 0.5), anchor_b=(1.0, 0.0)),
    )
    motion = in_plane(engine, scene(*bars, joints=joints, gravity=(5.0, -8.0), duration=1.0))
    assert np.ptp(motion.angle[:, 0]) > 0.5
    assert motion.angle[:, 2] == approx(motion.angle[:, 0], abs=1e-2)
    assert motion.angle[:, 1] == approx(0.0, abs=1e-2)


@every_engine
@pytest.mark.parametrize("collide", [False, True])
def test_joined_bodies_touch_only_where_the_joint_lets_them(engine: Any, collide: bool) -> None:
    """A bar folds at its joint onto the other: through it, or not beyond where the two touch."""
    bars = (
        box("a", width=0.2, height=1.0, inertia=10.0, mass=100.0),
        box("b", width=0.2, height=1.0, position=(0.7, -0.5), velocity=(0.0, 1.5), angle=math.pi / 2, spin=3.0),
    )
    joint = Revolute(name="hinge", a="a", b="b", anchor_a=(0.2, -0.5), anchor_b=(0.0, 0.5), collide=collide)
    motion = in_plane(engine, scene(*bars, joints=(joint,), gravity=(0.0, 0.0), duration=1.0))
    folded = motion.angle[-1, 1] - motion.angle[-1, 0]
    assert folded < math.pi + 0.2 if collide else folded > math.pi + 0.5


@every_engine
def test_a_joint_to_the_world_does_not_open_the_ground_and_one_between_immovable_things_is_harmless(
    engine: Any,
) -> None:
    """The rod falls over about its pivot at the ground's height and comes to lie on the ground."""
    rod = box("rod", width=0.1, height=1.0, position=(0.0, 0.55), spin=0.0, angle=0.0, velocity=(0.0, 0.0))
    nail = PlanarBody(name="nail", shape=Disc(radius=0.1), fixed=True, position=(5.0, 5.0))
    joints = (
        Revolute(name="pivot", a="rod", anchor_a=(0.0, -0.5), anchor_b=(0.0, 0.05)),
        Revolute(name="idle", a="nail", anchor_a=(0.0, 0.0), anchor_b=(5.0, 5.0)),
    )
    given = scene(rod, nail, ground=ground(), joints=joints, gravity=(3.0, -G), duration=3.0)
    motion = in_plane(engine, given)
    assert motion.position[-1, 0] == approx([0.5, 0.05], abs=5e-3)
    assert motion.pose[-1, 1] == approx([5.0, 5.0, 0.0])


@every_engine
def test_a_joint_to_a_fixed_body_is_a_joint_to_the_world(engine: Any) -> None:
    nail = PlanarBody(name="nail", shape=Disc(radius=0.1), fixed=True, position=(1.0, 2.0), angle=math.pi / 2, group=1)
    rod = box("rod", width=0.1, position=(1.5, 2.2), angle=math.pi / 2, group=1)
    to_nail = Revolute(name="joint", a="nail", b="rod", anchor_a=(0.2, 0.0), anchor_b=(0.0, 0.5))
    to_world = Revolute(name="joint", a="rod", anchor_a=(0.0, 0.5), anchor_b=(1.0, 2.2))
    first, second = (in_plane(engine, scene(rod, nail, joints=(j,), duration=1.0)) for j in (to_nail, to_world))
    assert first.pose == approx(second.pose, abs=1e-9)
    assert np.ptp(first.angle[:, 0]) > 1.0


# --- forces ------------------------------------------------------------------------------------------------------


@every_engine
def test_a_spring_swings_at_sqrt_k_over_m_and_neither_gains_nor_loses(engine: Any) -> None:
    k, m = 400.0, 4.0
    spring = Spring(a="ball", anchor_a=(0.0, 0.0), anchor_b=(0.0, 0.0), stiffness=k, rest_length=1.0)
    period = 2 * math.pi * math.sqrt(m / k)
    swing = scene(ball(position=(1.1, 0.0), mass=m), springs=(spring,), gravity=(0.0, 0.0), duration=10 * period)
    stretch = in_plane(engine, swing).position[:, 0, 0] - 1.0
    assert np.abs(stretch).max() == approx(0.1, rel=0.03)
    assert stretch[-1] == approx(0.1, rel=0.03)


@every_engine
def test_a_thruster_pushes_where_it_is_mounted_also_when_the_body_has_moved_on(engine: Any) -> None:
    """1 N at 1 m for 1 s on 0.5 kg m^2: 2 rad/s to the last digit, though the body has moved 0.4 m meanwhile."""
    thruster = Thruster(body="ball", anchor=(0.0, -1.0), force=(1.0, 0.0))
    rocket = scene(ball(inertia=0.5, position=(5.0, 0.0)), thrusters=(thruster,), gravity=(0.0, 0.0), duration=1.0)
    motion = in_plane(engine, rocket)
    assert motion.spin[-1, 0] == approx(2.0, rel=1e-9)
    jet = Thruster(body="solid", anchor=(0.0, 0.5, 0.0), force=(0.0, 0.0, 2.0))
    spun = space(
        solid(Sphere(radius=0.5), inertia=(0.5, 0.5, 0.5), orientation=(TURNED, 0.0, 0.0, TURNED)),
        thrusters=(jet,),
        gravity=(0.0, 0.0, 0.0),
        duration=0.5,
    )
    assert in_space(engine, spun).spin[-1, 0] == approx([0.0, 1.0, 0.0], abs=1e-9)  # the arm points to -x


@every_engine
def test_damping_slows_a_turned_body_down_exponentially_about_the_world_s_axes(engine: Any) -> None:
    given = space(
        solid(
            Sphere(radius=0.5),
            mass=2.0,
            inertia=(0.5, 0.5, 0.5),
            orientation=(0.5, 0.5, 0.5, 0.5),
            velocity=(3.0, 0.0, 1.0),
            spin=(4.0, 1.0, 0.0),
        ),
        damping=Damping(linear=1.0, angular=0.5),
        gravity=(0.0, 0.0, 0.0),
        duration=1.0,
    )
    motion = in_space(engine, given)
    assert motion.velocity[-1, 0] == approx(np.array([3.0, 0.0, 1.0]) * math.exp(-0.5), rel=3e-3)
    assert motion.spin[-1, 0] == approx(np.array([4.0, 1.0, 0.0]) * math.exp(-1.0), rel=3e-3)

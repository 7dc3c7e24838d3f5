"""Rigid bodies in space with contact and friction, against closed forms and conserved quantities."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reference_engine import (
    BallJoint,
    GivenMotion,
    LocatedSettings,
    Points,
    SpatialBody,
    SpatialMotion,
    SpatialWorld,
    simulate_spatial,
)
from reference_engine.errors import (
    OrderOfImpactsError,
    PainleveError,
    SpatialWorldError,
    UnresolvedContact,
)
from reference_engine.geometry.spatial_proximity import spatial_proximities
from reference_engine.geometry.spatial_shapes import (
    Box,
    Capsule,
    ConvexMesh,
    Cylinder,
    HalfSpace,
    Sphere,
    spatial_shapes,
)
from reference_engine.rotation import matrices, product

ROOT = Path(__file__).parents[3]
G = 9.81
FLOOR = SpatialBody(shape=HalfSpace((0.0, 0.0, 0.0), (0.0, 0.0, 1.0)), name="floor")


def ball(radius: float = 0.1, mass: float = 1.0, **start: Any) -> SpatialBody:
    return SpatialBody(shape=Sphere(radius), mass=mass, inertia=(0.4 * mass * radius**2,) * 3, **start)


def block(size: Sequence[float] = (0.3, 0.2, 0.1), mass: float = 1.5, **start: Any) -> SpatialBody:
    a, b, c = size
    inertia = tuple(mass / 12.0 * np.array((b * b + c * c, a * a + c * c, a * a + b * b)))
    return SpatialBody(shape=Box((a / 2, b / 2, c / 2)), mass=mass, inertia=inertia, **start)


def prism(corners: int, radius: float, height: float, mass: float, **start: Any) -> SpatialBody:
    """On a regular polygon, with its moments of inertia."""
    angle = 2.0 * np.pi * np.arange(corners) / corners
    points = [(radius * np.cos(a), radius * np.sin(a), z) for z in (-height / 2, height / 2) for a in angle]
    about_axis = mass * radius**2 * (2.0 + math.cos(2.0 * math.pi / corners)) / 6.0
    across = about_axis / 2.0 + mass * height**2 / 12.0
    return SpatialBody(shape=ConvexMesh(points), mass=mass, inertia=(across, across, about_axis), **start)


def least_gap(world: SpatialWorld, motion: SpatialMotion) -> float:
    """m, of any two bodies at any sample."""
    shapes = spatial_shapes([body.shape for body in world.bodies], [body.fixed for body in world.bodies])
    return float(spatial_proximities(shapes, motion.position, motion.orientation, 0.1).gap.min())


def energy(world: SpatialWorld, motion: SpatialMotion) -> Any:
    """(S,) J, kinetic and of gravity."""
    total = np.zeros(len(motion.time))
    for i, body in enumerate(world.bodies):
        if not body.fixed:
            own = np.einsum("sji,sj->si", matrices(motion.orientation[:, i]), motion.spin[:, i])
            total += 0.5 * body.mass * (motion.velocity[:, i] ** 2).sum(axis=1) + 0.5 * own**2 @ np.array(body.inertia)
            total -= body.mass * motion.position[:, i] @ np.array(world.gravity)
    return total


def kinds(motion: SpatialMotion) -> list[str]:
    return [event.kind for event in motion.events]


def test_recorded_motions_are_met_event_for_event() -> None:
    """Corner impacts, a spinning tripod, a rolling disc, an oblique slide, a rocking edge, a pendulum at a wall, edge
    on edge: 60 figures of eight files, to 10 times the accuracy of the data."""
    script = ROOT / "ci" / "benchmarks" / "space_truths.py"
    done = subprocess.run([sys.executable, "-P", script], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "60 of 60 hit in 8 files" in done.stdout


def test_the_error_falls_with_the_tolerance() -> None:
    """With an order of 0.8 to 1.2 over six decades, with and without contact."""
    script = ROOT / "ci" / "benchmarks" / "space_convergence.py"
    done = subprocess.run([sys.executable, "-P", script], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(("friction", "slides"), [(0.3, True), (0.6, False)])
def test_a_block_on_an_incline_slides_if_its_angle_is_above_that_of_friction(friction: float, slides: bool) -> None:
    angle = 0.45
    gravity = (G * math.sin(angle), 0.0, -G * math.cos(angle))
    world = SpatialWorld(bodies=(block(position=(0, 0, 0.05)), FLOOR), gravity=gravity, friction=friction)
    motion = simulate_spatial(world, (0.0, 0.5, 1.0))
    a = G * (math.sin(angle) - friction * math.cos(angle)) if slides else 0.0
    np.testing.assert_allclose(motion.position[:, 0, 0], 0.5 * a * motion.time**2, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(motion.position[:, 0, 2], 0.05, atol=1e-15)


def test_a_sliding_block_stops_when_friction_has_taken_its_speed() -> None:
    world = SpatialWorld(bodies=(block(position=(0, 0, 0.05), velocity=(1.0, 0.5, 0.0)), FLOOR), friction=0.4)
    motion = simulate_spatial(world, (0.0, 1.0))
    speed = math.hypot(1.0, 0.5)
    assert {event.kind for event in motion.events} == {"stick"}
    assert motion.events[0].time == pytest.approx(speed / (0.4 * G), abs=1e-12)
    way = speed**2 / (2.0 * 0.4 * G)
    np.testing.assert_allclose(motion.position[-1, 0, :2], np.array((1.0, 0.5)) / speed * way, atol=1e-12)
    np.testing.assert_allclose(motion.velocity[-1, 0], 0.0, atol=1e-15)


def test_blocks_that_touch_and_slide_alike_do_not_press_on_one_another() -> None:
    """Faces in contact whose force is round-off carry none: not now this one, now that one."""
    cubes = [block((1.0, 1.0, 1.0), position=(x, 0.0, 0.5), velocity=(0.0713, 0.0, 0.0)) for x in (0.0, 1.0)]
    motion = simulate_spatial(SpatialWorld(bodies=(*cubes, FLOOR), friction=0.2), (0.0, 0.03, 1.0))
    assert kinds(motion) == ["stick"] * 8
    way = 0.0713**2 / (2.0 * 0.2 * G)
    np.testing.assert_allclose(motion.position[-1, :2, 0], (way, 1.0 + way), atol=1e-12)


def test_a_block_with_much_friction_tips_about_its_leading_edge() -> None:
    """A tall block that slides with friction 1 cannot stand: the centre of pressure would be ahead of its edge."""
    tall = block((0.1, 0.1, 0.3), position=(0, 0, 0.15), velocity=(2.0, 0.0, 0.0))
    world = SpatialWorld(bodies=(tall, FLOOR), friction=1.0)
    motion = simulate_spatial(world, (0.0, 0.02))
    assert motion.spin[-1, 0, 1] > 0.1
    corners = np.array([(x, y, -0.15) for x in (-0.05, 0.05) for y in (-0.05, 0.05)])
    heights = motion.position[-1, 0, 2] + corners @ matrices(motion.orientation[-1, 0])[2]
    assert heights[2:] == pytest.approx(0.0, abs=1e-12) and (heights[:2] > 1e-5).all()


def test_a_ball_bounces_as_often_as_its_restitution_says_and_then_lies() -> None:
    """The bounces of 1 m with e = 0.5 end after sqrt(2 h / g) (1 + e) / (1 - e)."""
    world = SpatialWorld(bodies=(ball(position=(0, 0, 1.1)), FLOOR), restitution=0.5)
    fall = math.sqrt(2.0 / G)
    motion = simulate_spatial(world, (0.0, 3.0 * fall - 1e-4, 3.0 * fall + 1e-6, 3.0))
    impacts = [event.time for event in motion.events if event.kind == "impact"]
    expected = fall * (1.0 + 2.0 * np.cumsum([0.0, *0.5 ** np.arange(1, 8)]))
    np.testing.assert_allclose(impacts[:8], expected, atol=1e-12)
    assert motion.position[1, 0, 2] > 0.1
    np.testing.assert_allclose(motion.position[2:, 0, 2], 0.1, atol=1e-12)


def test_elastic_bodies_keep_energy_momentum_and_angular_momentum() -> None:
    """Two boxes and a capsule that collide in free flight: corners, edges and faces as they come."""
    bodies = (
        block((0.6, 0.1, 0.1), position=(0.05, 0.04, 0.3), velocity=(0.1, -0.05, -1.0), spin=(0.3, 0.5, 0.8)),
        block((0.12, 0.7, 0.12), position=(0.0, 0.0, 0.0), velocity=(0.0, 0.0, 0.5), spin=(0.2, -0.1, 0.4)),
        SpatialBody(
            shape=Capsule(0.05, 0.2), mass=0.7, inertia=(0.01, 0.01, 0.001), position=(0.0, 0.1, -0.4),
            velocity=(0.0, 0.0, 1.5), spin=(1.0, 0.0, 0.0), orientation=(0.5, 0.5, 0.5, 0.5),
        ),
    )  # fmt: skip
    world = SpatialWorld(bodies=bodies, gravity=(0.0, 0.0, 0.0), restitution=1.0)
    motion = simulate_spatial(world, np.linspace(0.0, 2.0, 9))
    assert kinds(motion).count("impact") >= 2
    np.testing.assert_allclose(energy(world, motion), energy(world, motion)[0], rtol=1e-11)
    mass = np.array([body.mass for body in bodies])
    momentum = np.einsum("b,sbi->si", mass, motion.velocity)
    np.testing.assert_allclose(momentum, momentum[:1].repeat(9, axis=0), atol=1e-12)
    R, inertia = matrices(motion.orientation), np.array([body.inertia for body in bodies])
    spins = np.einsum("sbij,bj,sbkj,sbk->si", R, inertia, R, motion.spin)
    whole = spins + np.einsum("b,sbi->si", mass, np.cross(motion.position, motion.velocity))
    np.testing.assert_allclose(whole, whole[:1].repeat(9, axis=0), atol=1e-11)


def test_a_disc_rolls_round_a_circle_at_the_speed_of_steady_precession() -> None:
    """A thin disc tilted by `a` from upright whose plane turns at rate p and which spins at s about its axis keeps its
    tilt where torque and change of angular momentum balance; for 20 s, with the energy that it had."""
    r, m, a, p = 0.25, 0.5, 0.4, 2.0
    A, C = 0.25 * m * r * r, 0.5 * m * r * r
    # About the contact: m g r sin a = p cos a ((C + m r^2) n + A p sin a), n: the spin about its own axis
    n = (m * G * r * math.sin(a) - A * p * p * math.sin(a) * math.cos(a)) / ((C + m * r * r) * p * math.cos(a))
    axis = np.array((math.cos(a), 0.0, -math.sin(a)))  # leans to +x at the top: the contact is at the origin
    up = np.array((math.sin(a), 0.0, math.cos(a)))
    centre = r * up
    spin = n * axis + p * math.cos(a) * up
    angle = math.acos(axis[2])
    turn = np.array((math.cos(angle / 2), 0.0, math.sin(angle / 2), 0.0))
    disc = SpatialBody(
        shape=Cylinder(r, 0.0), mass=m, inertia=(A, A, C), position=centre, orientation=turn, spin=spin,
        velocity=np.cross(spin, centre),
    )  # fmt: skip
    world = SpatialWorld(bodies=(disc, FLOOR), friction=2.0)
    motion = simulate_spatial(world, np.linspace(0.0, 20.0, 41))
    np.testing.assert_allclose(motion.position[:, 0, 2], centre[2], atol=2e-9)
    np.testing.assert_allclose(energy(world, motion), energy(world, motion)[0], rtol=1e-10)


def test_a_spherical_pendulum_keeps_its_length_energy_and_spin_about_the_vertical() -> None:
    bob = ball(0.1, 0.7, position=(0.5, 0.0, -0.6), velocity=(0.1, 1.0, 0.0))
    world = SpatialWorld(bodies=(bob,), joints=(BallJoint(body=0, anchor=(-0.5, 0.0, 0.6)),))
    motion = simulate_spatial(world, np.linspace(0.0, 5.0, 11))
    assert np.linalg.norm(motion.position[:, 0], axis=1) == pytest.approx(math.hypot(0.5, 0.6), abs=1e-12)
    np.testing.assert_allclose(energy(world, motion), energy(world, motion)[0], rtol=1e-11)


def test_a_hinged_ball_swings_into_a_wall_by_the_inertia_about_its_joint() -> None:
    """An impact through the joint: the bob's speed is turned round by e."""
    bob = ball(0.1, 0.7, position=(-0.3, 0.0, 0.0), velocity=(1.0, 0.0, 0.0), spin=(0.0, -0.5, 0.0))
    wall = SpatialBody(shape=HalfSpace((0.0, 0.0, 0.0), (-1.0, 0.0, 0.0)))
    world = SpatialWorld(
        bodies=(bob, wall), joints=(BallJoint(body=0, anchor=(0, 0, 2.0), other_anchor=(-0.3, 0.0, 2.0)),),
        gravity=(0.0, 0.0, 0.0), restitution=0.8,
    )  # fmt: skip
    motion = simulate_spatial(world, (0.0, 1.0))
    (event,) = motion.events
    assert event.kind == "impact"
    assert np.linalg.norm(motion.velocity[-1, 0]) == pytest.approx(0.8, abs=1e-12)


@pytest.mark.parametrize(("share", "stands"), [(1.02, True), (0.98, False)])
def test_two_legs_joined_at_the_top_stand_if_friction_bears_their_thrust(share: float, stands: bool) -> None:
    """Moments about the joint: the thrust is H = N x_c / z, x_c across to a leg's centre, z down to its foot."""
    length, radius, tilt, mass = 0.5, 0.05, 0.4, 1.0
    sine, cosine = math.sin(tilt), math.cos(tilt)
    inertia = (mass * length**2 / 12.0,) * 2 + (mass * radius**2 / 2.0,)
    needed = 0.5 * length * sine / (length * cosine + radius)
    legs = [
        SpatialBody(
            shape=Capsule(radius, length / 2), mass=mass, inertia=inertia,
            position=(side * 0.5 * length * sine, 0.0, radius + 0.5 * length * cosine),
            orientation=(math.cos(tilt / 2), 0.0, -side * math.sin(tilt / 2), 0.0),
        )
        for side in (1.0, -1.0)
    ]  # fmt: skip
    top = BallJoint(body=0, anchor=(0.0, 0.0, length / 2), other=1, other_anchor=(0.0, 0.0, length / 2))
    pairs = {(0, 1): None, (0, 2): (share * needed, 0.0), (1, 2): (share * needed, 0.0)}
    world = SpatialWorld(bodies=(*legs, FLOOR), joints=(top,), pairs=pairs)
    motion = simulate_spatial(world, np.linspace(0.0, 0.2, 5))
    moved = np.abs(motion.position[-1] - motion.position[0]).max()
    assert moved < 1e-12 if stands else moved > 1e-3


def test_a_cylinder_stands_on_its_cap() -> None:
    inertia = (0.0175 / 12.0 * 3.0, 0.0175 / 12.0 * 3.0, 0.005)
    can = SpatialBody(shape=Cylinder(0.1, 0.075), mass=1.0, inertia=inertia, position=(0.0, 0.0, 0.075))
    motion = simulate_spatial(SpatialWorld(bodies=(can, FLOOR), friction=0.3), [0.0, 0.5])
    assert np.abs(motion.position[-1] - motion.position[0]).max() < 1e-14


def test_whichever_rim_of_a_tumbling_cylinder_is_lowest_stays_above_the_ground() -> None:
    """Its lowest point is r |n across the axis| + h |n along it| below the middle."""
    r, h, m = 0.5, 0.67, 10.0
    inertia = (m * (r * r / 4.0 + h * h / 3.0),) * 2 + (m * r * r / 2.0,)
    body = SpatialBody(
        shape=Cylinder(r, h), mass=m, inertia=inertia, position=(0, 0, 1.17), velocity=(0, 20, 0), spin=(-10, 0, 10)
    )
    motion = simulate_spatial(SpatialWorld(bodies=(body, FLOOR)), np.linspace(0.0, 1.0, 201))
    along = matrices(motion.orientation[:, 0])[:, 2, 2]
    lowest = motion.position[:, 0, 2] - r * np.sqrt(np.maximum(0.0, 1.0 - along**2)) - h * np.abs(along)
    assert {(event.point[2] > 1e-9) for event in motion.events} == {False}
    assert lowest.min() > -1e-9 and len([kind for kind in kinds(motion) if kind == "contact"]) >= 2


def test_balls_that_a_heavy_one_drives_apart_touch_it_between_the_ends_of_steps_too() -> None:
    """Up to where their slip ends, whose direction is round-off there: a step that led to it was off by 2e-7 m."""
    ring = [(2.0 * math.sqrt(2.0) * x, 2.0 * math.sqrt(2.0) * y, 2.0) for x, y in ((1, 0), (0, 1), (-1, 0), (0, -1))]
    balls = [ball(radius=2.0, position=at) for at in ring]
    top = ball(radius=2.0, mass=10.0, position=(0.0, 0.0, 2.0 + 2.0 * math.sqrt(2.0)))
    world = SpatialWorld(bodies=(*balls, top, FLOOR), friction=0.2)
    motion = simulate_spatial(world, np.linspace(0.0, 0.55, 56), LocatedSettings(order="sequential"))
    apart = np.linalg.norm(motion.position[:, :4] - motion.position[:, 4:5], axis=2) - 4.0
    assert np.abs(apart).max() < 1e-10
    assert kinds(motion) == ["stick"] * 4


def test_a_ball_that_another_carries_by_friction_alone_does_not_slip_up_on_it() -> None:
    """All weight of a heavy ball that drives a light one hangs on their contact, at friction 1 just within the cone of
    the normal force by which both slow down: the friction found is m g, to a millionth. A slip that had stopped there
    began again, and friction drove it."""
    r = 0.125
    thrown = ball(r, 10.0, position=(-0.001, 0.0, r), velocity=(5.0, 0.0, 0.0))
    world = SpatialWorld(bodies=(thrown, ball(r, position=(2.0 * r, 0.0, r)), FLOOR), friction=1.0)
    motion = simulate_spatial(world, np.linspace(0.0, 0.1, 26), LocatedSettings(order="simultaneous"))
    x, v, turns = motion.position[1:, :2], motion.velocity[1:, :2], motion.spin[1:, :2]
    n = (x[:, 1] - x[:, 0]) / (2.0 * r)
    surface = v + r * np.cross(turns, np.stack([n, -n], axis=1))
    assert np.abs(np.linalg.norm(x[:, 1] - x[:, 0], axis=1) - 2.0 * r).max() < 1e-12
    assert np.abs(surface[:, 0] - surface[:, 1]).max() < 1e-9


def test_a_corner_level_with_a_face_beside_it_meets_nothing() -> None:
    """Two boxes thrown at one another: each impact is at a point of both."""
    turned = np.array((0.556890098923011, 0.47733437050543803, 0.636445827340584, -0.23866718525271902))
    leaning = np.array((0.9987502603949663, 0.03534060950936696, 0.03534060950936696, 0.0))
    one = block((1, 4, 1), 10.0, position=(-0.5, -1, 7.1), orientation=leaning / math.hypot(*leaning),
                velocity=(20, -20, -10), spin=(20, 0, 0))  # fmt: skip
    other = block((4, 1, 1.8), 2.0, position=(-1, 0.45, 10.08), orientation=turned / math.hypot(*turned),
                  velocity=(0, 0, -10), spin=(10, 0, 0))  # fmt: skip
    settings = LocatedSettings(at_impacts=True)
    motion = simulate_spatial(SpatialWorld(bodies=(one, other), gravity=(0, 0, 0)), (0.0, 0.1), settings)
    assert "contact" in kinds(motion)
    for event in motion.events:
        at = int(np.argmin(np.abs(motion.time - event.time)))
        for i, body in enumerate((one, other)):
            own = matrices(motion.orientation[at, i]).T @ (event.point - motion.position[at, i])
            assert (np.abs(own) < np.array(body.shape.half_extents) + 1e-7).all()


def test_a_corner_that_slides_over_the_edge_of_a_face_does_not_go_in_beside_it() -> None:
    """A small prism slides over a tumbling one: its corner leaves the face over its edge, then its edge is on that
    edge, then another corner comes down on the face that the first has left."""
    attitudes = np.array([(-0.0565, -0.4665, 0.3886, -0.7926), (-0.7223, -0.5459, -0.4005, 0.1411)])
    first, second = attitudes / np.linalg.norm(attitudes, axis=1, keepdims=True)
    large = prism(3, 2.0, 2.34375, 0.5, position=(-0.115, -0.687, 6.4188), orientation=first,
                  velocity=(0.9028, -0.653, -2.4042), spin=(-6.9854, 1.6857, -6.1941))  # fmt: skip
    small = prism(3, 0.5, 0.125, 0.5, position=(0.6618, -0.813, 7.8828), orientation=second,
                  velocity=(-0.1528, 0.653, -2.0883), spin=(-6.965, 5.6676, -11.8324))  # fmt: skip
    world = SpatialWorld(bodies=(large, small), friction=0.2)
    motion = simulate_spatial(world, np.linspace(0.0, 0.2, 101))
    assert kinds(motion).count("contact") >= 3
    assert least_gap(world, motion) > -1e-9


@pytest.mark.parametrize("friction", [0.0, 0.3])
@pytest.mark.parametrize("spin", [0.3, -0.3])
def test_a_plate_that_turns_about_its_edge_on_the_edge_of_another_is_held_by_normals_that_part_the_two(
    friction: float, spin: float
) -> None:
    """Both lean by 1.3 rad at first: their faces are parallel at the edge where they meet. When one turns, one of
    these faces dips under the plane of its neighbour, beyond the edge: that plane's normal parts them no more.
    """
    half, lean = (0.5, 0.5, 0.125), 1.3259
    attitude = (math.cos(lean / 2.0), 0.0, -math.sin(lean / 2.0), 0.0)
    across = matrices(np.array([attitude]))[0] @ np.array((0.5, 0.0, 0.125))  # from the centre to the top edge
    size = tuple(2.0 * a for a in half)
    fixed = SpatialBody(shape=Box(half), orientation=attitude)
    arm = across - (0.0, across[1], 0.0)
    turning = block(
        size, 1.0, position=tuple(2.0 * arm), orientation=attitude, spin=(0.0, spin, 0.0),
        velocity=tuple(np.cross((0.0, spin, 0.0), arm)),
    )  # fmt: skip
    world = SpatialWorld(bodies=(fixed, turning), friction=friction)
    motion = simulate_spatial(world, np.linspace(0.0, 0.4, 41))
    corners = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.125, 0.125)])
    contacts = motion.contacts
    assert len(contacts.sample) > 100
    for at, first, second, normal in zip(contacts.sample, contacts.first, contacts.second, contacts.normal):
        one, other = (
            motion.position[at, i] + corners @ matrices(motion.orientation[at, i : i + 1])[0].T for i in (first, second)
        )
        assert (one @ normal).min() - (other @ normal).max() > -1e-9


def test_what_is_moved_on_to_its_contacts_is_not_pressed_in_beside_them() -> None:
    """A disc of 32 corners rattles down on to a slope, where many are as near as the two that carry it."""
    slope = SpatialBody(shape=HalfSpace((0.0, 0.0, 0.0), (-0.5, 0.0, math.sqrt(0.75))))
    tilted = (math.cos(math.pi / 12), 0.0, -math.sin(math.pi / 12), 0.0)
    box = block((4, 4, 1), 0.1, position=(-0.25048828125, 0.0, 0.4338584298256026), orientation=tilted)
    attitude = (0.8923991008325228, -0.09904576054128762, -0.23911761839433449, 0.3696438106143861)
    at = (0.17803712253443882, 0.0, 1.6916306581369864)
    disc = prism(32, 1.5, 0.75, 0.03, position=at, orientation=attitude)
    world = SpatialWorld(bodies=(box, disc, slope), friction=0.6350852961085882, restitution=0.9)
    settings = LocatedSettings(impact_law="poisson", order="simultaneous", at_impacts=True)
    motion = simulate_spatial(world, (0.0, 0.21), settings)
    assert len(motion.events) > 100
    assert least_gap(world, motion) > -1e-9


def test_a_bar_on_its_edge_that_rocks_over_the_edge_of_a_table_comes_to_rest() -> None:
    """Its bounces fade; lower than the error that a gap is allowed they kept a speed of 5e-6 m/s for ever."""
    leaning, turned = np.array((math.cos(0.05), 0.0, -math.sin(0.05), 0.0)), math.pi / 8
    on_edge = np.array((math.cos(turned), math.sin(turned), 0.0, 0.0))
    attitude = product(leaning, on_edge)
    table = SpatialBody(shape=Box((0.5, 0.5, 0.5)), position=(-0.5, 0.0, -0.5))
    bar = block((0.5, 0.1, 0.1), 1.0, orientation=attitude)
    corners = np.array([(-0.25, y, z) for y in (-0.05, 0.05) for z in (-0.05, 0.05)]) @ matrices(attitude).T
    lowest = corners[np.argmin(corners[:, 2])]
    bar = replace(bar, position=np.array((-0.3, 0.0, 0.0)) - lowest)
    world = SpatialWorld(bodies=(bar, table), restitution=0.5)
    motion = simulate_spatial(world, np.linspace(0.0, 1.0, 21))
    assert len(motion.events) < 200
    assert motion.position[-1, 0, 2] == pytest.approx(math.sqrt(0.005), abs=1e-9)
    assert abs(motion.velocity[-1, 0, 2]) < 1e-12
    assert least_gap(world, motion) > -1e-10


def test_what_stands_on_many_features_at_once_has_forces_within_their_cones() -> None:
    """A cube on its corner on a table, another one on the corner at its top: several normals meet at one point."""
    tilt = math.acos(math.sqrt(1.0 / 3.0)) / 2.0
    on_corner = (math.cos(tilt), math.sin(tilt) * math.sqrt(0.5), -math.sin(tilt) * math.sqrt(0.5), 0.0)
    high = math.sqrt(3.0)
    table = block((8, 8, 4), 10.0, position=(0.0, 0.0, 2.0))
    cubes = [block((2, 2, 2), 0.1, position=(0.0, 0.0, 4.0 + z * high), orientation=on_corner) for z in (1, 3)]
    world = SpatialWorld(bodies=(table, *cubes, FLOOR), friction=0.5)
    motion = simulate_spatial(world, np.linspace(0.0, 0.3, 4))
    found = motion.contacts
    along = np.einsum("ki,ki->k", found.force, found.normal)
    across = np.linalg.norm(found.force - along[:, None] * found.normal, axis=1)
    assert len(found.sample[found.sample == 0]) > 4
    assert (across <= 0.5 * along + 1e-9).all()
    assert np.abs(motion.position - motion.position[:1]).max() < 1e-12


def test_a_light_body_between_heavy_legs_bounces_and_keeps_energy() -> None:
    """What hinges leave of its inverse mass is a millionth of its own, and no less than nothing."""
    tilted = (math.cos(0.2), math.sin(0.2), 0.0, 0.0)
    R, centre = matrices(np.array([tilted]))[0], np.array((0.0, 0.0, 0.5))
    legs, hinges = [], []
    for k, x in enumerate((0.1, -0.1)):
        at = centre + R @ np.array((x, 0.0, -0.25))
        leg = {"shape": Capsule(0.03, 0.15), "mass": 30.0, "inertia": (0.4, 0.4, 0.02)}
        legs.append(SpatialBody(position=tuple(at), orientation=tilted, **leg))
        hinges += [
            BallJoint(body=0, anchor=(x, y, -0.05), other=1 + k, other_anchor=(0.0, y, 0.2)) for y in (-0.5, 0.5)
        ]
    body = block((0.3, 0.1, 0.1), 1e-4, position=tuple(centre), orientation=tilted)
    apart = {(0, 1): None, (0, 2): None, (1, 2): None}
    world = SpatialWorld(bodies=(body, *legs, FLOOR), joints=tuple(hinges), restitution=1.0, pairs=apart)
    motion = simulate_spatial(world, np.linspace(0.0, 0.4, 5))
    assert len(motion.events) >= 2
    np.testing.assert_allclose(energy(world, motion), energy(world, motion)[0], rtol=1e-12)


@pytest.mark.parametrize("seed", [0, 3, 8, 11])
def test_a_dropped_box_comes_to_rest_on_a_face_and_never_gains_energy(seed: int) -> None:
    random = np.random.default_rng(seed)
    friction, restitution = random.uniform(0.0, 1.0), random.uniform(0.0, 0.8)
    size = random.uniform(0.1, 0.5, 3)
    q = random.normal(size=4)
    box = block(
        size, 1000.0 * float(size.prod()), position=(0.0, 0.0, 0.5), orientation=q / np.linalg.norm(q),
        velocity=random.uniform(-1.0, 1.0, 3), spin=random.uniform(-3.0, 3.0, 3),
    )  # fmt: skip
    world = SpatialWorld(bodies=(box, FLOOR), friction=friction, restitution=restitution)
    motion = simulate_spatial(world, np.linspace(0.0, 3.0, 61))
    assert (np.diff(energy(world, motion)) <= 1e-10 * energy(world, motion)[0]).all()
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * size / 2
    heights = motion.position[:, 0, 2, None] + np.einsum("si,ci->sc", matrices(motion.orientation[:, 0])[:, 2], corners)
    assert heights.min() > -1e-11
    assert np.linalg.norm(motion.velocity[-1, 0]) < 1e-12 and np.linalg.norm(motion.spin[-1, 0]) < 1e-12
    assert np.sort(heights[-1])[:4] == pytest.approx(0.0, abs=1e-12)


def test_the_motion_does_not_change_where_world_and_gravity_are_turned() -> None:
    turn = np.array((0.5, 0.1, -0.7, 0.5))
    turn /= np.linalg.norm(turn)
    (R,) = matrices(turn[None])
    box = block(position=(0, 0, 0.4), spin=(2.0, 1.0, -1.0), velocity=(0.3, 0.0, 0.0))
    times = np.linspace(0.0, 0.5, 6)
    first = simulate_spatial(SpatialWorld(bodies=(box, FLOOR), friction=0.3, restitution=0.4), times)
    turned = block(position=R @ (0, 0, 0.4), spin=R @ (2.0, 1.0, -1.0), velocity=R @ (0.3, 0.0, 0.0), orientation=turn)
    floor = SpatialBody(shape=HalfSpace((0.0, 0.0, 0.0), tuple(R[:, 2])))
    gravity = tuple(R @ (0.0, 0.0, -G))
    world = SpatialWorld(bodies=(floor, turned), gravity=gravity, friction=0.3, restitution=0.4)
    second = simulate_spatial(world, times)
    assert kinds(first) == kinds(second) and len(kinds(first)) >= 2
    np.testing.assert_allclose(second.position[:, 1], first.position[:, 0] @ R.T, atol=1e-10)


FIXED: dict[str, Any] = {"mass": math.inf}


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"mass": -1.0}, r"bodies\[0\].mass: -1.0"),
        ({"inertia": (1.0, 0.0, 1.0)}, r"bodies\[0\].inertia"),
        ({"position": (0.0, math.nan, 0.0)}, r"bodies\[0\].position"),
        ({"orientation": (2.0, 0.0, 0.0, 0.0)}, r"bodies\[0\].orientation: its length is 2"),
        ({"motion": GivenMotion()}, r"bodies\[0\].motion: of a body with a mass of 1 kg; give none"),
        (FIXED | {"motion": GivenMotion(amplitude=(math.nan, 0.0, 0.0))}, r"bodies\[0\].motion.amplitude"),
        (FIXED | {"motion": GivenMotion(frequency=math.inf)}, r"bodies\[0\].motion: frequency inf"),
        (FIXED | {"motion": GivenMotion(knots=((1.0, 0, 0, 0), (1.0, 0, 0, 0)))}, r"motion.knots: times \[1.0, 1.0\]"),
    ],
)
def test_bad_input_names_the_field_and_the_value(change: dict[str, Any], named: str) -> None:
    given: dict[str, Any] = {"shape": Sphere(0.1), "mass": 1.0, "inertia": (1.0, 1.0, 1.0)} | change
    with pytest.raises(SpatialWorldError, match=named):
        SpatialWorld(bodies=(SpatialBody(**given), FLOOR))


def test_what_cannot_be_simulated_says_so() -> None:
    with pytest.raises(SpatialWorldError, match=r"restitution: 1\.5; 0 to 1"):
        SpatialWorld(bodies=(ball(), FLOOR), restitution=1.5)
    with pytest.raises(SpatialWorldError, match="half-space that moves"):
        SpatialWorld(bodies=(SpatialBody(shape=HalfSpace((0, 0, 0), (0, 0, 1)), mass=1.0, inertia=(1, 1, 1)),))
    with pytest.raises(SpatialWorldError, match=r"tolerance: 1\.0"):
        LocatedSettings(tolerance=1.0)
    with pytest.raises(UnresolvedContact, match="they overlap at the start"):
        simulate_spatial(SpatialWorld(bodies=(block(position=(0, 0, 0.02)), FLOOR)), (0.0, 1.0))
    can = SpatialBody(shape=Cylinder(0.1, 0.2), mass=1.0, inertia=(1, 1, 1), position=(0, 0, 3))
    with pytest.raises(SpatialWorldError, match="a cylinder meets half-spaces alone so far"):
        simulate_spatial(SpatialWorld(bodies=(can, ball(position=(0, 0, 9)), FLOOR)), (0.0, 1.0))


def test_points_touch_and_nothing_else_of_the_body_does() -> None:
    stool = SpatialBody(
        shape=Points([(0.3, 0.0, -0.5), (-0.2, 0.25, -0.5), (-0.2, -0.25, -0.5)]), mass=2.0, inertia=(0.2, 0.2, 0.1),
        position=(0, 0, 0.5),
    )  # fmt: skip
    motion = simulate_spatial(SpatialWorld(bodies=(stool, FLOOR), friction=0.5), (0.0, 1.0))
    np.testing.assert_allclose(motion.position[-1, 0], (0, 0, 0.5), atol=1e-12)


def test_a_rod_that_slides_where_no_contact_force_exists_is_painleves() -> None:
    """(1/m + x^2 / I) - mu x z / I is below 0 at the lower end: pressing harder makes it go in faster."""
    rod = SpatialBody(
        shape=Points([(0.25, 0.0, -0.5)]), mass=1.0, inertia=(0.1, 0.05, 0.1), position=(-0.25, 0.0, 0.5),
        velocity=(1.0, 0.0, 0.0),
    )  # fmt: skip
    with pytest.raises(PainleveError) as error:
        simulate_spatial(SpatialWorld(bodies=(rod, FLOOR), friction=2.0), (0.0, 0.1))
    assert error.value.p == pytest.approx(1.0 + 0.25**2 / 0.05 - 2.0 * 0.25 * 0.5 / 0.05)


def test_a_law_for_one_contact_needs_an_order_where_four_corners_are_struck_at_once() -> None:
    world = SpatialWorld(bodies=(block(position=(0, 0, 0.2)), FLOOR), restitution=0.5)
    alone = LocatedSettings(impact_law="chatterjee-ruina", order=None)
    with pytest.raises(
        OrderOfImpactsError, match=r"4 contacts are struck at once; .*'chatterjee-ruina'.* name an order"
    ):
        simulate_spatial(world, (0.0, 0.5), alone)
    one_by_one = simulate_spatial(world, (0.0, 0.5), LocatedSettings(impact_law="chatterjee-ruina", order="sequential"))
    assert "impact" in kinds(one_by_one)


def test_the_state_at_a_touch_is_that_of_its_time() -> None:
    """Found by fuzzing: a ball that flies freely while a rod rattles to rest was 5e-10 m ahead, by 3e-11 s."""
    rng = np.random.default_rng(1)
    turned = rng.normal(size=4)
    rod = SpatialBody(
        shape=Box((0.03, 0.03, 0.5)), mass=0.1, inertia=(0.01, 0.01, 1e-4), position=(0, 0, 0.7),
        orientation=tuple(turned / np.linalg.norm(turned)), spin=tuple(8.0 * rng.normal(size=3)),
    )  # fmt: skip
    world = SpatialWorld(
        bodies=(ball(position=(0, 5, 9), velocity=(20, 0, 3)), rod, FLOOR), friction=0.5, restitution=0.5
    )
    motion = simulate_spatial(world, np.linspace(0.0, 1.0, 8))
    assert len(motion.events) > 20
    fallen = np.outer(0.5 * G * motion.time**2, (0, 0, 1))
    flown = np.array([0, 5, 9]) + np.outer(motion.time, (20, 0, 3)) - fallen
    np.testing.assert_allclose(motion.position[:, 0], flown, atol=1e-12, rtol=0.0)


def test_a_ball_in_a_lift_is_pressed_by_m_times_g_plus_its_acceleration_and_flies_where_that_is_less() -> None:
    """Two plates move at once, beside a floor that stays: one by a swing, one up by knots: 0 to 1 m/s in 0.5 s."""
    plate = Box((0.5, 0.5, 0.05))
    lift = SpatialBody(
        shape=plate, position=(0, 0, 0.95), motion=GivenMotion(knots=((0.25, 0, 0, 2.0), (0.75, 0, 0, 0.0)))
    )
    A, w = 0.3, 4.0
    shaker = SpatialBody(
        shape=plate, position=(5, 0, 0.95), velocity=(A * w, 0, 0), motion=GivenMotion(amplitude=(A, 0, 0), frequency=w)
    )
    first, second = ball(position=(0, 0, 1.1)), ball(position=(5, 0, 1.1))
    world = SpatialWorld(bodies=(first, second, lift, shaker, FLOOR))
    times = np.linspace(0.0, 1.0, 41)
    motion = simulate_spatial(world, times)
    t = np.clip(times - 0.25, 0.0, 0.5)
    height = 1.1 + t * t + np.where(times > 0.75, times - 0.75, 0.0)
    assert motion.position[:, 0, 2] == pytest.approx(height, abs=1e-11)
    assert motion.position[:, 1, 0] == pytest.approx(5.0, abs=1e-12)  # without friction it stays
    assert motion.position[:, 3, 0] == pytest.approx(5.0 + A * np.sin(w * times), abs=1e-11)
    contacts = motion.contacts
    pressed = {int(k): float(f[2]) for k, a, f in zip(contacts.sample, contacts.first, contacts.force) if a == 0}
    mass = float(first.mass)
    for k in (4, 20, 36):
        wanted = mass * (9.81 + (2.0 if 0.25 < times[k] < 0.75 else 0.0))
        assert abs(pressed[k]) == pytest.approx(wanted, rel=1e-10)

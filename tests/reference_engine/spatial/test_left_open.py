"""Where contact forces that the laws leave open move bodies, the motion says so; elsewhere never."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from reference_engine import SpatialBody, SpatialWorld, simulate_spatial
from reference_engine.geometry.spatial_shapes import Box, ConvexMesh, Cylinder, HalfSpace

G, FRICTION = 9.81, 0.5
FLOOR = SpatialBody(shape=HalfSpace((0.0, 0.0, 0.0), (0.0, 0.0, 1.0)), name="floor")
HALF = (0.1, 0.2, 0.05)  # m


def block(**start: Any) -> SpatialBody:
    inertia = tuple((np.dot(HALF, HALF) - np.square(HALF)) / 3.0)
    return SpatialBody(
        shape=Box(HALF), mass=1.0, inertia=inertia, position=start.pop("position", (0, 0, 0.05)), **start
    )


def on_floor(*bodies: SpatialBody, **given: Any) -> SpatialWorld:
    return SpatialWorld(bodies=(*bodies, FLOOR), friction=FRICTION, **given)


def accelerations_of_a_box(speed: float, spin: float) -> Any:
    """(2, 3): a_x, a_y and the angular acceleration, at both ends of what normal forces may be at its four corners.

    By Newton's and Euler's equations: sum n = m g; both torques across vanish, as the box stays flat; n >= 0.
    """
    a, b, h = HALF
    x, y = np.array((a, -a, -a, a)), np.array((b, b, -b, -b))
    u = np.stack([speed - spin * y, spin * x])
    rubs = -FRICTION * u / np.linalg.norm(u, axis=0)  # of a unit normal force
    equations = np.stack([np.ones(4), y + h * rubs[1], -h * rubs[0] - x])
    least = np.linalg.lstsq(equations, (G, 0.0, 0.0), rcond=None)[0]
    open_ = np.linalg.svd(equations)[2][3]
    ends = -least / open_
    share = (ends[open_ > 0.0].max(), ends[open_ < 0.0].min())
    n = np.stack([least + one * open_ for one in share])
    torque = ((x * rubs[1] - y * rubs[0]) * n).sum(axis=1)
    return np.stack([*(n @ rubs.T).T, torque * 3.0 / (a * a + b * b)], axis=1)


@pytest.mark.parametrize(("speed", "spin"), [(1.0, 3.0), (0.2, -1.0), (3.0, 40.0)])
def test_a_box_that_slides_and_spins_may_go_to_either_side(speed: float, spin: float) -> None:
    motion = simulate_spatial(on_floor(block(velocity=(speed, 0.0, 0.0), spin=(0.0, 0.0, spin))), (0.0, 0.01))
    (found,) = motion.left_open
    assert found.time == 0.0
    assert found.body.tolist() == [0]
    ours = found.acceleration[:, 0, (0, 1, 5)]
    expected = accelerations_of_a_box(speed, spin)
    np.testing.assert_allclose(ours[np.argsort(ours[:, 1])], expected[np.argsort(expected[:, 1])], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.force.sum(axis=1)[:, 2], G, rtol=1e-9)
    goes = (motion.velocity[1, 0, 1] - motion.velocity[0, 0, 1]) / 0.01
    assert expected[:, 1].min() < goes < expected[:, 1].max()


@pytest.mark.parametrize("velocity", [(1.0, 0.0, 0.0), (0.3, -0.7, 0.0)])
def test_a_slide_without_spin_is_not_left_open(velocity: tuple[float, float, float]) -> None:
    assert simulate_spatial(on_floor(block(velocity=velocity)), np.linspace(0.0, 0.5, 6)).left_open == ()


def test_what_stands_on_three_points_is_not_left_open() -> None:
    angle = 2.0 * np.pi * np.arange(3) / 3
    points = [(0.2 * math.cos(a), 0.2 * math.sin(a), z) for z in (-0.05, 0.05) for a in angle]
    tripod = SpatialBody(
        shape=ConvexMesh(points), mass=1.0, inertia=(0.01, 0.01, 0.01), position=(0.0, 0.0, 0.05),
        velocity=(1.0, 0.0, 0.0), spin=(0.0, 0.0, 5.0),
    )  # fmt: skip
    assert simulate_spatial(on_floor(tripod), np.linspace(0.0, 0.5, 6)).left_open == ()


def test_forces_that_are_open_below_a_slide_are_no_matter_where_all_sticks_there() -> None:
    """A block slides on another one that stays where it is, on four corners with more forces than equations."""
    table = block(position=(0.0, 0.0, 0.05))
    slides = block(position=(0.02, 0.01, 0.15), velocity=(0.3, 0.0, 0.0))
    motion = simulate_spatial(on_floor(table, slides, pairs={(0, 1): (0.1, 0.0)}), np.linspace(0.0, 0.2, 5))
    assert np.abs(motion.position[:, 0] - motion.position[0, 0]).max() < 1e-12
    assert motion.left_open == ()


def can(**start: Any) -> SpatialBody:
    """Of radius 0.2 m, on its cap."""
    return SpatialBody(
        shape=Cylinder(0.2, 0.05), mass=1.0, inertia=(0.0108333, 0.0108333, 0.02), position=(0.0, 0.0, 0.05), **start
    )


def test_a_cap_that_turns_on_the_spot_is_braked_by_any_moment_that_a_load_within_it_has() -> None:
    """mu m g R, all of it at the rim, down to half as much, all at half the radius: no points nearer are tried."""
    (found,) = simulate_spatial(on_floor(can(spin=(0.0, 0.0, 5.0))), (0.0, 0.01)).left_open
    brakes = np.sort(found.acceleration[:, 0, 5])
    np.testing.assert_allclose(brakes, np.array((-1.0, -0.5)) * FRICTION * G * 0.2 / 0.02, rtol=1e-9)
    np.testing.assert_allclose(found.acceleration[:, 0, :5], 0.0, atol=1e-9)


@pytest.mark.parametrize(("spin", "marked"), [(0.0, 0), (5.0, 1)])
def test_a_cap_that_slides_is_left_open_if_it_spins(spin: float, marked: int) -> None:
    world = on_floor(can(velocity=(1.0, 0.0, 0.0), spin=(0.0, 0.0, spin)))
    assert len(simulate_spatial(world, np.linspace(0.0, 0.4, 5)).left_open) == marked


def test_a_turned_world_is_left_open_by_as_much() -> None:
    turn = np.linalg.qr(np.array([(1.0, 0.3, -0.2), (0.1, -1.0, 0.7), (0.5, 0.2, 1.0)]))[0]
    turn *= np.linalg.det(turn)
    quaternion = quaternion_of(turn)
    up = tuple(turn[:, 2])
    plane = SpatialBody(shape=HalfSpace((0.0, 0.0, 0.0), up), name="floor")
    start = {"velocity": (1.0, 0.0, 0.0), "spin": (0.0, 0.0, 3.0), "position": (0.0, 0.0, 0.05)}
    turned = {key: tuple(turn @ np.array(value)) for key, value in start.items()}
    gravity = tuple(-G * turn[:, 2])
    other = SpatialWorld(bodies=(block(orientation=quaternion, **turned), plane), friction=FRICTION, gravity=gravity)
    one, two = (simulate_spatial(world, (0.0, 0.01)).left_open[0] for world in (on_floor(block(**start)), other))
    apart = [np.linalg.norm((f.acceleration[0] - f.acceleration[1]).reshape(2, 3), axis=1) for f in (one, two)]
    np.testing.assert_allclose(*apart, rtol=1e-6)


def quaternion_of(R: Any) -> tuple[float, ...]:
    """w x y z of a rotation by less than a half turn."""
    w = 0.5 * math.sqrt(1.0 + np.trace(R))
    return (w, *((np.array((R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]))) / (4.0 * w)))

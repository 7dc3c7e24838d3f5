"""What is symmetric stays so, whichever of several admissible forces and impulses are taken; faces that come flat."""

from __future__ import annotations

import numpy as np
import pytest

from reference_engine import LocatedSettings, SpatialBody, SpatialWorld, simulate_spatial
from reference_engine.geometry.spatial_shapes import Box, HalfSpace
from reference_engine.spatial.frames import deepest

FLOOR = SpatialBody(shape=HalfSpace((0.0, 0.0, 0.0), (0.0, 0.0, 1.0)), name="floor")
HEIGHT, THICKNESS, DEPTH, GAP = 1.0, 0.2, 0.5, 0.3  # m


def row_of_dominoes(count: int) -> SpatialWorld:
    """Mirrored by y they are the same; the first is thrown over about its lower edge."""
    mass, spin, half = THICKNESS * HEIGHT, 1.4, np.array([THICKNESS, DEPTH, HEIGHT]) / 2.0
    inertia = tuple(mass / 3.0 * ((half**2).sum() - half**2))
    thrown = {"velocity": (spin * HEIGHT / 2.0, 0.0, -spin * THICKNESS / 2.0), "spin": (0.0, spin, 0.0)}
    bodies = [
        SpatialBody(
            shape=Box(tuple(half)), mass=mass, inertia=inertia, position=(i * (THICKNESS + GAP), 0.0, HEIGHT / 2.0),
            **(thrown if i == 0 else {}),
        )
        for i in range(count)
    ]  # fmt: skip
    return SpatialWorld(bodies=(*bodies, FLOOR), friction=0.6)


def test_dominoes_that_fall_in_a_plane_do_not_leave_it() -> None:
    """Four of them slide on one another when the fifth is struck, at 1.427 s. One corner of each pair can carry all of
    its load there, and of the solutions of Signorini's and Coulomb's laws only one is mirrored."""
    world = row_of_dominoes(6)
    motion = simulate_spatial(world, np.linspace(0.0, 1.5, 61))
    assert abs(motion.velocity[:, :-1, 1]).max() < 1e-12
    assert abs(motion.spin[:, :-1][..., (0, 2)]).max() < 1e-12
    assert abs(motion.position[-1, 4, 0] - 4 * (THICKNESS + GAP)) > 1e-3  # the fifth has been struck


def test_a_plank_falls_flat_on_a_block_without_going_in() -> None:
    """About its edge on a block as wide, until it lies on the block's other edge: the gap there is 0 at the impact, as
    exactly as times are located, and what follows never makes energy. From rest at an angle a the spin at the impact is
    w^2 = 2 m g h / I, h the fall of the centre of mass, I about the edge."""
    block = SpatialBody(shape=Box((0.5, 0.5, 0.5)), position=(0.0, 0.0, -0.5), name="block")
    half, mass, tilt, edge = np.array([0.8, 0.5, 0.1]), 1.0, 0.3, -0.3
    inertia = tuple(mass / 3.0 * ((half**2).sum() - half**2))
    c, s = np.cos(tilt), np.sin(tilt)
    centre = np.array([edge + half[0] * c - half[2] * s, 0.0, half[0] * s + half[2] * c])
    plank = SpatialBody(
        shape=Box(tuple(half)), mass=mass, inertia=inertia, position=tuple(centre),
        orientation=(np.cos(tilt / 2.0), 0.0, -np.sin(tilt / 2.0), 0.0), name="plank",
    )  # fmt: skip
    motion = simulate_spatial(
        SpatialWorld(bodies=(plank, block), friction=2.0), np.linspace(0.0, 0.3, 31), LocatedSettings(at_impacts=True)
    )
    first = next(event.time for event in motion.events if event.kind in ("contact", "impact") and event.time > 0.0)
    before = int(np.flatnonzero(motion.time == first)[0])
    about = inertia[1] + mass * (half[0] ** 2 + half[2] ** 2)
    fallen = float(centre[2]) - half[2]
    assert abs(abs(motion.spin[before, 0, 1]) - np.sqrt(2.0 * mass * 9.81 * fallen / about)) < 1e-10
    assert abs(motion.position[before, 0, 2] - half[2]) < 1e-11
    moving = 0.5 * mass * (motion.velocity[:, 0] ** 2).sum(axis=1) + mass * 9.81 * motion.position[:, 0, 2]
    moving += 0.5 * (motion.spin[:, 0] ** 2 * np.array(inertia)).sum(axis=1)  # it only turns about y
    assert np.diff(moving).max() < 1e-10


def test_corners_on_corners_count_once() -> None:
    """Of two equal boxes each of four corners is a vertex on a face, both ways, and an edge on an edge, at one point:
    four contacts, which share the weight alike."""
    half, mass = np.array([0.2, 0.15, 0.1]), 3.0
    inertia = tuple(mass / 3.0 * ((half**2).sum() - half**2))
    boxes = [
        SpatialBody(shape=Box(tuple(half)), mass=mass, inertia=inertia, position=(0.0, 0.0, z)) for z in (0.1, 0.3)
    ]
    motion = simulate_spatial(SpatialWorld(bodies=(*boxes, FLOOR), friction=0.5), np.linspace(0.0, 0.5, 6))
    contacts = motion.contacts
    between = (contacts.sample == 5) & (np.maximum(contacts.first, contacts.second) == 1)
    assert between.sum() == 4
    np.testing.assert_allclose(np.abs(contacts.force[between, 2]), mass * 9.81 / 4.0, rtol=1e-9)
    assert abs(motion.position[-1] - motion.position[0]).max() < 1e-14


def test_forces_that_are_left_open_go_as_deep_into_their_cones_as_their_way_leads() -> None:
    """One contact with friction 1 - 2 s along the tangent, another with s, both pressed by 1: alike at s = 1/3, where
    each uses a third of what it may at a coefficient of 1."""
    force = np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    way = np.array([[0.0, -2.0, 0.0], [0.0, 0.0, 1.0]])
    assert deepest(force, way, np.ones(2)) == pytest.approx(1.0 / 3.0, abs=2e-3)

"""Outlines: concave corners, arcs both ways, walls; and nothing passes through anything."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from reference_engine import (
    Body,
    Disc,
    Edge,
    FaithfulSettings,
    HalfPlane,
    Outline,
    World,
    WorldError,
    box,
    faithful_simulate,
    polygon_outline,
    wall,
)

G = 9.81


def bowl(radius=2.0, width=3.0, depth=1.0):
    """A block whose top is hollowed out by an arc."""
    half = width / 2.0
    rise = math.sqrt(radius**2 - half**2)
    corners = [(-half, -depth), (half, -depth), (half, 0.0), (-half, 0.0)]
    edges = [Edge(start=p, end=q) for p, q in pairwise(corners[:3])]
    edges.append(Edge(start=corners[2], end=corners[3], centre=(0.0, rise), clockwise=True))
    edges.append(Edge(start=corners[3], end=corners[0]))
    return Outline(edges), rise


@pytest.mark.parametrize("speed", [20.0, 100.0])
def test_a_fast_ball_does_not_pass_a_thin_wall(speed):
    """2.5 m a step at 100 m/s against a wall of 2 cm."""
    plate = Body(shape=box(0.02, 4.0), fixed=True)
    ball = Body(shape=Disc(0.05), position=(-1.0, 0.3), velocity=(speed, 0.0))
    world = World(bodies=(plate, ball), gravity=(0.0, 0.0), restitution=1.0)
    motion = faithful_simulate(world, 0.2, 0.025)
    assert motion.pose[:, 1, 0].max() < -0.06
    assert motion.twist[-1, 1, 0] == pytest.approx(-speed)


def test_a_ball_slides_in_a_hollow_like_a_pendulum_of_the_difference_of_the_radii():
    """No friction: T = 2 pi sqrt((R - r - gap) / g) (1 + a^2 / 16), the gap being the 5 mm on which it rests."""
    shape, rise = bowl()
    length, a = 2.0 - 0.2 - 0.005, 0.05
    ball = Body(shape=Disc(0.2), position=(length * math.sin(a), rise - length * math.cos(a)))
    motion = faithful_simulate(World(bodies=(Body(shape=shape, fixed=True), ball)), 3.0, 0.0025)
    period = 2.0 * math.pi * math.sqrt(length / G) * (1.0 + a * a / 16.0)
    x = motion.pose[:, 1, 0]
    k = int(np.flatnonzero((x[:-1] < 0.0) & (x[1:] >= 0.0))[0])
    crossing = motion.time[k] - x[k] * (motion.time[k + 1] - motion.time[k]) / (x[k + 1] - x[k])
    assert crossing == pytest.approx(0.75 * period, rel=1e-4)


def test_an_l_shaped_body_holds_what_stands_in_its_corner():
    """A box between the floor and the back of an L: contact forces at rest add up to its weight."""
    corner = polygon_outline([(-1.0, -0.2), (1.0, -0.2), (1.0, 0.0), (-0.8, 0.0), (-0.8, 1.0), (-1.0, 1.0)])
    block = Body(shape=box(0.5, 0.5), position=(-0.545, 0.255), mass=3.0)
    motion = faithful_simulate(World(bodies=(Body(shape=corner, fixed=True), block)), 1.0, 0.025)
    forces = motion.contacts_at(-1)
    apply_contact = (forces.force[:, None] * forces.normal).sum(axis=0)
    assert apply_contact == pytest.approx([0.0, 3.0 * G], abs=1e-9)
    assert np.abs(motion.pose[-1, 1] - motion.pose[0, 1]).max() <= 1e-9


def test_a_wall_is_felt_on_its_live_edge_alone():
    """A disc inside the wall's back half is not pushed; one that falls on the live edge is."""
    floor = Body(shape=wall(10.0), position=(0.0, -0.5), fixed=True)
    ball = Body(shape=Disc(0.2), position=(0.0, 1.0))
    motion = faithful_simulate(World(bodies=(floor, ball), restitution=0.5), 2.0, 0.025)
    assert motion.pose[:, 1, 1].min() > 0.2
    assert len(motion.impacts.time) > 2


def test_an_offset_centre_of_mass_pulls_a_disc_round():
    """A disc of radius 1 with its mass 0.5 m off its middle rests with the mass lowest."""
    middle = (0.0, 0.5)  # of the circle, seen from the mass
    ring = Outline([Edge(start=(-1.0, 0.5), end=(-1.0, 0.5), centre=middle)])
    body = Body(shape=ring, position=(0.0, 1.0 + 0.005 - 0.5 * math.cos(0.4)), angle=0.4, inertia=0.4)
    world = World(
        bodies=(Body(shape=HalfPlane(), fixed=True), body), rotational_damping=2.0, damping=0.0, restitution=0.0
    )
    motion = faithful_simulate(world, 20.0, 0.025)
    assert motion.pose[-1, 1, 2] == pytest.approx(0.0, abs=1e-3)


@pytest.mark.parametrize(
    ("edges", "said"),
    [
        ([], "it has no edge"),
        ([Edge(start=(0.0, 0.0), end=(1.0, 0.0)), Edge(start=(2.0, 0.0), end=(0.0, 0.0))], "edge 0 ends at"),
        ([Edge(start=(0.0, 0.0), end=(1.0, 0.0))], "edge 0 ends at"),
    ],
)
def test_an_outline_that_does_not_close_is_refused(edges, said):
    with pytest.raises(WorldError, match=said):
        Outline(edges)


def test_an_arc_with_two_radii_is_refused():
    with pytest.raises(WorldError, match="an arc has one positive radius"):
        Edge(start=(1.0, 0.0), end=(0.0, 2.0), centre=(0.0, 0.0))


def test_the_default_settings_are_the_originals():
    s = FaithfulSettings()
    assert (s.distance_tolerance, s.velocity_tolerance, s.collision_accuracy) == (0.01, 0.5, 0.6)
    assert (s.collision_handling, s.extra_acceleration) == ("serial_grouped_lastpass", "velocity_and_distance_joints")
    assert (s.integrator, s.random_seed, s.extra_acceleration_time_step) == ("runge_kutta", 0, 0.025)


def test_where_the_origin_of_the_edges_lies_does_not_matter():
    """A hollowed block with its mass off its middle, and a ball in it: in its own frame, and in one that is moved."""

    def ends(shift):
        plain, _ = bowl()
        dx, dy = shift

        def moved(point):
            return point[0] + dx, point[1] + dy

        edges = [
            replace(e, start=moved(e.start), end=moved(e.end), centre=moved(e.centre) if e.centre else None)
            for e in plain.edges
        ]
        block = Body(
            shape=Outline(edges, centre_of_mass=moved((0.1, -0.5))), inertia=0.8, position=(0.0, 1.5), angle=0.1
        )
        bodies = (Body(shape=HalfPlane(), fixed=True), block, Body(shape=Disc(0.2), position=(0.2, 2.6)))
        return faithful_simulate(World(bodies=bodies), 1.0, 0.025).pose[-1, 1:]

    assert ends((0.7, -0.4)) == pytest.approx(ends((0.0, 0.0)), abs=1e-9)

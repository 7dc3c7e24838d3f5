"""Flat caps on a plane, against closed forms and against the planar engine, which shares no line of contacts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

from reference_engine import (
    Body,
    HalfPlane,
    LocatedSettings,
    SpatialBody,
    SpatialMotion,
    SpatialWorld,
    World,
    box,
    simulate_at,
    simulate_spatial,
)
from reference_engine.array_types import Array
from reference_engine.geometry.spatial_shapes import Cylinder, HalfSpace
from reference_engine.rotation import matrices, product

G = 9.81
FLOOR = SpatialBody(shape=HalfSpace((0.0, 0.0, 0.0), (0.0, 0.0, 1.0)), name="floor")


def moments(radius: float, half: float, mass: float = 1.0) -> tuple[float, float, float]:
    across = mass * (3.0 * radius**2 + 4.0 * half**2) / 12.0
    return across, across, 0.5 * mass * radius**2


def can(radius: float = 0.1, half: float = 0.15, **start: Any) -> SpatialBody:
    given: dict[str, Any] = {"inertia": moments(radius, half), "position": (0.0, 0.0, half)} | start
    return SpatialBody(shape=Cylinder(radius, half), mass=1.0, **given)


def kinds(motion: SpatialMotion) -> list[str]:
    return [event.kind for event in motion.events]


def energy(motion: SpatialMotion, inertia: tuple[float, ...]) -> Array:
    """J, of a body of 1 kg."""
    own = np.einsum("sji,sj->si", matrices(motion.orientation[:, 0]), motion.spin[:, 0])
    moves = (motion.velocity[:, 0] ** 2).sum(axis=1) + (own**2 * inertia).sum(axis=1)
    return np.asarray(0.5 * moves + G * motion.position[:, 0, 2])


def test_a_can_that_slides_on_its_cap_stops_after_the_closed_form() -> None:
    """v^2 / 2 mu g, straight on, as long as mu h < R."""
    motion = simulate_spatial(
        SpatialWorld(bodies=(can(velocity=(1.2, 0.5, 0.0)), FLOOR), friction=0.3), [0.0, 0.2, 1.0]
    )
    way = np.array((12.0, 5.0)) / 13.0
    assert motion.position[-1, 0, :2] == pytest.approx(way * 1.3**2 / (0.6 * G), abs=1e-14)
    assert motion.position[:, 0, 2] == pytest.approx(0.15, abs=1e-15)
    assert {round(event.time, 12) for event in motion.events} == {round(1.3 / (0.3 * G), 12)}
    assert set(kinds(motion)) == {"stick"}
    pressing = motion.contacts.sample == 1
    force, point = motion.contacts.force[pressing], motion.contacts.point[pressing] - motion.position[1, 0]
    assert force.sum(axis=0) == pytest.approx((*(-0.3 * G * way), G), abs=1e-12)
    assert np.cross(point, force).sum(axis=0) == pytest.approx(0.0, abs=1e-12)  # what presses ahead holds the moment


@pytest.mark.parametrize(("share", "stands"), [(0.999, True), (1.001, False)])
def test_a_can_on_a_slope_stands_as_long_as_its_weight_goes_through_its_cap(share: float, stands: bool) -> None:
    slope = math.atan(share * 0.1 / 0.15)
    pull = (G * math.sin(slope) * math.cos(0.7), G * math.sin(slope) * math.sin(0.7), -G * math.cos(slope))
    motion = simulate_spatial(SpatialWorld(bodies=(can(), FLOOR), friction=1.5, gravity=pull), [0.0, 0.3])
    moved = np.abs(motion.position[-1] - motion.position[0]).max()
    assert moved < 1e-14 if stands else moved > 1e-4


def over(angle: float, radius: float, half: float) -> float:
    """m, how high the middle is over the rim's lowest point."""
    return radius * math.sin(abs(angle)) + half * math.cos(angle)


CASES = {
    "slides, tips, lands on its side": (0.1, 0.15, 0.15, 0.0, (2.0, 0.0), 0.0, 1.0, 0.0, 0.0),
    "rocks to rest": (0.1, 0.15, over(0.2, 0.1, 0.15), 0.2, (0.0, 0.0), 0.0, 1.0, 0.0, 0.0),
    "rocks and slips": (0.1, 0.3, over(0.2, 0.1, 0.3), 0.2, (0.0, 0.0), 0.0, 0.1, 0.0, 0.0),
    "rocks and bounces": (0.1, 0.15, over(0.2, 0.1, 0.15), 0.2, (0.0, 0.0), 0.0, 1.0, 0.3, 0.0),
    "falls flat": (0.3, 0.05, over(0.2, 0.3, 0.05), 0.2, (0.0, 0.0), 0.0, 0.5, 0.0, 0.0),
    "tips on a slope": (0.1, 0.3, 0.3, 0.0, (0.0, 0.0), 0.0, 1.0, 0.0, 0.5),
    "lands flat and slides": (0.1, 0.1, 0.3, 0.0, (1.0, 0.0), 0.0, 0.3, 0.5, 0.0),
    "lands flat and is tipped by friction": (0.1, 0.3, 0.5, 0.0, (1.0, 0.0), 0.0, 0.8, 0.5, 0.0),
    "turns up from flat": (0.2, 0.1, 0.1, 0.0, (0.0, 0.0), 1.0, 0.4, 0.0, 0.0),
}
"""Radius, half the height, m; height of the middle, tilt; velocity, spin; friction, restitution; slope, rad."""


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_can_in_a_plane_moves_as_the_planar_engine_has_a_block(case: str, seed: int) -> None:
    """A rim's point is a corner there; all is turned in space."""
    radius, half, height, tilt, velocity, spin, friction, restitution, slope = CASES[case]
    times = np.linspace(0.0, 1.0, 61)
    pull = G * math.sin(slope), -G * math.cos(slope)
    block = Body(
        shape=box(2.0 * radius, 2.0 * half), mass=1.0, inertia=moments(radius, half)[0],
        position=(0.0, height), angle=tilt, velocity=velocity, spin=spin,
    )  # fmt: skip
    bodies = (Body(shape=HalfPlane(), fixed=True), block)
    planar = simulate_at(World(bodies=bodies, friction=friction, restitution=restitution, gravity=pull), times)
    q = np.random.default_rng(seed).normal(size=4) if seed else np.array((math.cos(0.35), 0.0, 0.0, math.sin(0.35)))
    q /= np.linalg.norm(q)
    across, turning, up = matrices(q).T * ((1.0,), (-1.0,), (1.0,))
    body = can(
        radius, half, position=height * up, velocity=velocity[0] * across + velocity[1] * up, spin=spin * turning,
        orientation=product(q, np.array((math.cos(tilt / 2), 0.0, -math.sin(tilt / 2), 0.0))),
    )  # fmt: skip
    floor = SpatialBody(shape=HalfSpace((0.0, 0.0, 0.0), tuple(up)))
    world = SpatialWorld(
        bodies=(body, floor), friction=friction, restitution=restitution, gravity=pull[0] * across + pull[1] * up
    )
    motion = simulate_spatial(world, times)
    pose = np.array([planar.pose[np.flatnonzero(np.abs(planar.time - time) < 1e-13)[-1], 1] for time in times])
    x = motion.position[:, 0]
    assert np.abs(x @ across - pose[:, 0]).max() < 1e-9
    assert np.abs(x @ up - pose[:, 1]).max() < 1e-9
    assert np.abs(x @ turning).max() < 1e-9
    axis = matrices(motion.orientation[:, 0])[:, :, 2]
    assert np.abs(axis @ up - np.cos(pose[:, 2])).max() < 1e-9
    assert np.abs(axis @ across + np.sin(pose[:, 2])).max() < 1e-9


def test_a_can_tips_about_that_point_of_its_rim_beside_which_nothing_goes_in() -> None:
    """On a slope, with moments that differ: it does not tip straight down. Newton's and Euler's equations about a point
    of the rim that sticks give how all of the rim is accelerated; it is the point where that is least."""
    radius, half, inertia = 0.1, 0.3, np.array((0.02, 0.08, 0.03))
    pull = G * np.array((math.sin(0.5) * math.cos(0.6), math.sin(0.5) * math.sin(0.6), -math.cos(0.5)))

    def turning(angle: float) -> Array:
        r = np.array((radius * math.cos(angle), radius * math.sin(angle), -half))  # to the point, from the middle
        about = np.diag(inertia) + np.dot(r, r) * np.eye(3) - np.outer(r, r)
        return np.asarray(np.linalg.solve(about, np.cross(-r, pull)))

    def off(angle: float) -> float:
        """A point at s is accelerated upwards by (turns x (s - r)).z, least along (turns.y, -turns.x)."""
        turns = turning(angle)
        return float(-math.cos(angle) * turns[0] - math.sin(angle) * turns[1])

    angle = brentq(off, 0.0, 1.2, xtol=1e-15)
    assert abs(angle - 0.6) > 0.09
    body = can(radius, half, inertia=tuple(inertia))
    time = 1e-4
    motion = simulate_spatial(SpatialWorld(bodies=(body, FLOOR), friction=2.0, gravity=pull), [0.0, time])
    assert motion.spin[-1, 0] / time == pytest.approx(turning(angle), rel=1e-6)


def test_a_can_that_spins_on_its_cap_stops_as_what_presses_on_its_rim() -> None:
    """I w' = -mu m g R: the rule of three supports, where the laws leave open how pressure is spread."""
    motion = simulate_spatial(SpatialWorld(bodies=(can(spin=(0.0, 0.0, 5.0)), FLOOR), friction=0.2), [0.0, 1.0])
    stop = 5.0 * 0.005 / (0.2 * G * 0.1)
    assert [event.time for event in motion.events] == pytest.approx([stop] * 3, abs=1e-12)
    assert np.abs(motion.position[-1] - motion.position[0]).max() < 1e-14


def test_a_can_that_slides_and_spins_is_the_same_turned_and_mirrored() -> None:
    start: dict[str, Any] = {"velocity": (1.0, 0.0, 0.0), "spin": (0.0, 0.0, 5.0)}
    times = np.linspace(0.0, 1.0, 11)

    def motion(**start: Any) -> SpatialMotion:
        return simulate_spatial(SpatialWorld(bodies=(can(**start), FLOOR), friction=0.2), times)

    first = motion(**start)
    aside = motion(**start, orientation=(math.cos(0.4), 0.0, 0.0, math.sin(0.4)))  # its own axes are others
    mirrored = motion(velocity=(1.0, 0.0, 0.0), spin=(0.0, 0.0, -5.0))
    assert np.abs(first.position[-1, 0, 1]) > 1e-3  # pressure ahead bends its way
    assert np.abs(aside.position - first.position).max() < 1e-10
    assert np.abs(mirrored.position * (1.0, -1.0, 1.0) - first.position).max() < 1e-10
    spent = np.diff(energy(first, moments(0.1, 0.15)))
    assert (spent <= 1e-14).all()


@pytest.mark.parametrize("law", ["newton", "poisson"])
def test_a_can_that_falls_flat_bounces_as_high_as_a_point(law: str) -> None:
    body = can(position=(0.0, 0.0, 0.15 + 0.2))
    settings = LocatedSettings(impact_law=law)
    motion = simulate_spatial(SpatialWorld(bodies=(body, FLOOR), restitution=0.5), [0.0, 0.25, 0.4], settings)
    fall = math.sqrt(0.4 / G)
    assert motion.events[0].time == pytest.approx(fall, abs=1e-14)
    late = 0.25 - fall
    assert motion.position[1, 0, 2] == pytest.approx(0.15 + 0.5 * G * fall * late - 0.5 * G * late**2, abs=1e-14)
    assert np.abs(motion.spin).max() < 1e-12

"""Bodies that cannot meet go on each in its own time; where they meet, they go on as one."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from reference_engine import BallJoint, LocatedSettings, SpatialBody, SpatialWorld, simulate_spatial
from reference_engine.errors import SpatialWorldError, UnresolvedContact
from reference_engine.geometry.spatial_shapes import Box, Cylinder, HalfSpace, Sphere
from reference_engine.spatial.islands import Islands

G, RADIUS = 9.81, 0.1
FLOOR = SpatialBody(shape=HalfSpace((0.0, 0.0, 0.0), (0.0, 0.0, 1.0)), name="floor")


def ball(**start: Any) -> SpatialBody:
    return SpatialBody(shape=Sphere(RADIUS), mass=1.0, inertia=(0.4 * RADIUS**2,) * 3, **start)


def tumbling_box(random: np.random.Generator, x: float) -> SpatialBody:
    half, attitude = random.uniform(0.1, 0.25, 3), random.normal(size=4)
    inertia = (half @ half - half**2) / 3.0
    return SpatialBody(
        shape=Box(tuple(half)), mass=1.0, inertia=tuple(inertia), position=(x, 0.0, random.uniform(0.6, 1.2)),
        orientation=tuple(attitude / np.linalg.norm(attitude)), spin=tuple(random.normal(size=3)),
    )  # fmt: skip


def test_what_is_far_from_all_others_moves_as_if_it_were_alone() -> None:
    """To the last bit: its steps, its events and its samples are its own."""
    random = np.random.default_rng(3)
    boxes = [tumbling_box(random, 3.0 * k) for k in range(4)]
    times = np.linspace(0.0, 1.0, 21)
    world = SpatialWorld(bodies=(*boxes, FLOOR), friction=0.4, restitution=0.5)
    together = simulate_spatial(world, times)
    for k, box in enumerate(boxes):
        alone = simulate_spatial(replace(world, bodies=(box, FLOOR)), times)
        assert (together.position[:, k] == alone.position[:, 0]).all()
        assert (together.spin[:, k] == alone.spin[:, 0]).all()
        own = [event.time for event in together.events if event.first == k]
        assert own == [event.time for event in alone.events] and len(own) >= 5
        pressing = together.contacts.first == k
        assert (together.contacts.force[pressing] == alone.contacts.force).all()
        assert set(together.contacts.second[pressing]) <= {len(boxes)}


@pytest.mark.parametrize("seed", [4, 7, 10])
def test_a_crowd_of_balls_and_boxes_moves_as_it_does_when_it_is_followed_as_one(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    random, bodies = np.random.default_rng(seed), []
    for k in range(12):
        at = 0.45 * np.array([k % 3 - 1.0, k // 3 % 2, 2.0 + k // 6]) + random.uniform(-0.05, 0.05, 3)
        start = {"velocity": tuple(1.5 * random.normal(size=3)), "spin": tuple(3.0 * random.normal(size=3))}
        one = tumbling_box(random, 0.0) if k % 2 else ball()
        half = {"shape": Box((0.1, 0.08, 0.06)), "inertia": (0.0033, 0.0045, 0.0055)} if k % 2 else {}
        bodies.append(replace(one, position=tuple(at), **start, **half))
    world = SpatialWorld(bodies=(*bodies, FLOOR), friction=0.3, restitution=0.6)
    times = np.linspace(0.0, 0.5, 26)
    islands = simulate_spatial(world, times)
    monkeypatch.setattr(Islands, "_groups", lambda self, moving, x, near: [moving])
    as_one = simulate_spatial(world, times)
    assert islands.steps > as_one.steps
    between = [event for event in islands.events if event.second < 12]
    assert between and [event.time for event in between] == pytest.approx(
        [event.time for event in as_one.events if event.second < 12], abs=1e-9
    )
    assert islands.position == pytest.approx(as_one.position, abs=1e-8)


def bouncing_height(start: float, time: Any) -> Any:
    """Of the lowest point of a ball dropped from there, with e = 1."""
    fall = math.sqrt(2.0 * start / G)
    since = np.abs((time + fall) % (2.0 * fall) - fall)
    return start - 0.5 * G * since**2


def test_balls_that_have_bounced_each_by_itself_meet_in_the_air_and_part() -> None:
    """At equal heights two equal balls exchange their level velocities; twice, between walls that are no bodies."""
    pace, height, width = 1.5, 0.5, 2.0
    world = SpatialWorld(
        bodies=(
            ball(position=(-width, 0.0, height + RADIUS), velocity=(pace, 0.0, 0.0)),
            ball(position=(width, 0.0, height + RADIUS), velocity=(-pace, 0.0, 0.0)),
            ball(position=(0.0, 3.0, 0.2 + RADIUS)),
            FLOOR,
        ),
        restitution=1.0,
    )
    times = np.linspace(0.0, 2.0, 81)
    motion = simulate_spatial(world, times)
    meeting = (width - RADIUS) / pace
    met = [event for event in motion.events if event.second == 1]
    assert [event.time for event in met] == pytest.approx([meeting], abs=1e-12)
    assert met[0].impulse == pytest.approx([-2.0 * pace, 0.0, 0.0], abs=1e-9)
    x = RADIUS + np.abs(width - RADIUS - pace * times)
    assert motion.position[:, 0, 0] == pytest.approx(-x, abs=1e-11)
    assert motion.position[:, 1, 0] == pytest.approx(x, abs=1e-11)
    assert motion.position[:, 0, 2] - RADIUS == pytest.approx(bouncing_height(height, times), abs=1e-10)
    assert motion.position[:, 2, 2] - RADIUS == pytest.approx(bouncing_height(0.2, times), abs=1e-10)


def test_paths_that_cross_at_different_times_do_not_meet() -> None:
    world = SpatialWorld(
        bodies=(
            ball(position=(-1.0, 0.0, 5.0), velocity=(4.0, 0.0, 0.0)),
            ball(position=(0.0, -1.0, 5.0), velocity=(0.0, 2.0, 0.0)),
        )
    )
    motion = simulate_spatial(world, np.linspace(0.0, 0.8, 9))
    assert not motion.events
    assert motion.position[-1, :, :2] == pytest.approx(np.array([(2.2, 0.0), (0.0, 0.6)]), abs=1e-12)


def test_at_an_impact_all_bodies_are_sampled_before_and_after_it() -> None:
    world = SpatialWorld(bodies=(ball(position=(0, 0, 0.3)), ball(position=(2, 0, 0.4)), FLOOR), restitution=0.5)
    motion = simulate_spatial(world, (0.0, 0.5), LocatedSettings(at_impacts=True))
    first, second = (math.sqrt(2.0 * drop / G) for drop in (0.2, 0.3))
    for body, time in ((0, first), (1, second)):
        at = np.flatnonzero(np.abs(motion.time - time) < 1e-12)
        assert len(at) == 2
        jump = motion.velocity[at[1]] - motion.velocity[at[0]]
        assert jump[body, 2] == pytest.approx(1.5 * G * time, abs=1e-9)
        assert (jump[1 - body] == 0.0).all()
        assert motion.velocity[at, 1 - body, 2] == pytest.approx(
            [-G * time if time == first else G * (1.5 * first - time)] * 2, abs=1e-9
        )


def test_bodies_that_fly_fast_side_by_side_stay_on_their_own() -> None:
    """Twelve balls in a row, half of their size apart, at 100 m/s: nothing comes nearer, so each has its own steps."""
    balls = tuple(ball(position=(3.0 * RADIUS * k, 0.0, 50.0), velocity=(100.0, 0.0, 0.0)) for k in range(12))
    alone = simulate_spatial(SpatialWorld(bodies=balls[:1]), np.linspace(0.0, 1.0, 3))
    motion = simulate_spatial(SpatialWorld(bodies=balls), np.linspace(0.0, 1.0, 3))
    assert 12 * (alone.steps - 1) <= motion.steps <= 12 * alone.steps
    assert motion.position[-1, :, 0] == pytest.approx(100.0 + 3.0 * RADIUS * np.arange(12), abs=1e-11)


def test_a_ball_beside_the_corner_of_a_box_does_not_overlap_it_at_the_start() -> None:
    """3 mm clear of the corner it is behind the planes of all three faces by less than its radius; 3 mm nearer it
    overlaps."""
    box = SpatialBody(shape=Box((0.2, 0.2, 0.2)))
    for clear, overlaps in ((3e-3, False), (-3e-3, True)):
        centre = 0.2 + (RADIUS + clear) / math.sqrt(3.0)
        world = SpatialWorld(bodies=(box, ball(position=(centre,) * 3)), gravity=(0.0, 0.0, 0.0))
        if overlaps:
            with pytest.raises(UnresolvedContact, match="they overlap at the start"):
                simulate_spatial(world, (0.0, 0.1))
        else:
            assert not simulate_spatial(world, (0.0, 0.1)).events


def test_bodies_that_a_joint_ties_are_never_apart() -> None:
    """A ball on a string of 2 m swings, beside one that falls: the length is kept, and neither knows of the other."""
    tied = ball(position=(2.0, 0.0, 10.0))
    top = SpatialBody(shape=Sphere(0.01), mass=5.0, inertia=(1.0, 1.0, 1.0), position=(0.0, 0.0, 10.0))
    world = SpatialWorld(
        bodies=(tied, top, ball(position=(0.0, 4.0, 10.0))),
        joints=(BallJoint(body=0, anchor=(-2.0, 0.0, 0.0), other=1),),
    )
    motion = simulate_spatial(world, np.linspace(0.0, 1.0, 11))
    length = np.linalg.norm(motion.position[:, 0] - motion.position[:, 1], axis=1)
    assert length == pytest.approx(np.full(11, 2.0), abs=1e-9)
    assert motion.position[-1, 2] == pytest.approx([0.0, 4.0, 10.0 - 0.5 * G], abs=1e-11)


def test_shapes_that_may_not_meet_are_refused_however_far_they_are() -> None:
    disc = SpatialBody(shape=Cylinder(0.2, 0.1), mass=1.0, inertia=(1.0, 1.0, 1.0), position=(50.0, 0.0, 0.0))
    with pytest.raises(SpatialWorldError, match="bodies 0 and 1: a cylinder meets half-spaces alone"):
        simulate_spatial(SpatialWorld(bodies=(ball(), disc)), (0.0, 0.1))

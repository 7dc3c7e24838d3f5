"""What starts at rest, held by what it lies on, should stay: to leave is wrong, to rest is right."""

from __future__ import annotations

import numpy as np
import pytest

from scenarios.scene import Box, Cylinder, Ellipsoid, HalfPlane, HalfSpace, SpatialBody
from tests.validation.metrics.motions import (
    DT,
    G,
    ball,
    block,
    box,
    columns,
    disc,
    planar,
    plane,
    scenario,
    space,
    spatial,
    still,
    times,
)
from validation.metrics import measure_with_outcomes
from validation.metrics.equilibrium import at_start, contacts_at, starts_in_equilibrium
from validation.records.trajectory import PlanarTrajectory, SpatialTrajectory

HALF = np.sqrt(0.5)
LYING = (float(HALF), 0.0, float(HALF), 0.0)  # the axis of a cylinder along x


GROUND = HalfPlane(name="ground", friction=0.5)
FLOOR = HalfSpace(name="floor", friction=0.5)


def rests(*bodies, **more) -> bool:
    in_space = isinstance(bodies[0], SpatialBody)
    scene = (
        space(*bodies, **{"boundaries": (FLOOR,), **more})
        if in_space
        else plane(*bodies, **{"boundaries": (GROUND,), **more})
    )
    return starts_in_equilibrium(scenario(scene))


def cylinder(**more) -> SpatialBody:
    return SpatialBody(name="drum", shape=Cylinder(radius=0.5, length=2.0), mass=1.0, friction=0.5, **more)


def test_a_block_on_its_face_rests_and_on_its_corner_does_not():
    assert rests(block(position=(0.0, 0.5)))
    on_corner = block(position=(0.0, float(HALF)), angle=np.pi / 4)
    assert not rests(on_corner)  # in equilibrium, which any push ends


def test_a_tower_rests_and_one_whose_upper_half_hangs_over_its_edge_does_not():
    below = block("below", position=(0.0, 0.5), friction=0.5)
    assert rests(below, block("above", position=(0.4, 1.5), friction=0.5))
    assert not rests(below, block("above", position=(0.499, 1.5), friction=0.5))


def test_on_a_slope_friction_decides():
    for slope, mu, held in ((0.3, 0.4, True), (0.3, 0.25, False), (0.3, 0.31, False)):  # tan 0.3 = 0.309; no margin
        gravity = (float(G * np.sin(slope)), float(-G * np.cos(slope)))
        ground = HalfPlane(name="ground", friction=mu)
        assert rests(block(position=(0.0, 0.5), friction=mu), gravity=gravity, boundaries=(ground,)) is held


@pytest.mark.parametrize("tilt", [0.0, 0.1, 0.6])
def test_what_is_only_jammed_between_two_walls_need_not_rest(tilt: float):
    """With friction of 2 forces on it balance, if the walls press. On the lower wall alone, 0.6 aslant from upright, it
    rests where friction is more than tan(pi / 2 - 0.6) = 1.46."""
    for mu, held in ((2.0, tilt == 0.6), (1.2, False)):
        x, y = float(np.cos(tilt)), float(np.sin(tilt))
        walls = [
            HalfPlane(name=f"wall {k}", friction=mu, point=(-0.2 * k * x, -0.2 * k * y), normal=(k * x, k * y))
            for k in (1, -1)
        ]
        slab = block(width=0.4, position=(0.0, 0.0), angle=tilt, friction=mu)
        assert rests(slab, boundaries=walls) is held


def test_what_stands_on_a_floor_between_two_walls_rests():
    walls = [
        HalfPlane(name=f"wall {sign}", friction=0.5, point=(-0.5 * sign, 0.0), normal=(sign, 0.0)) for sign in (1, -1)
    ]
    assert rests(block(position=(0.0, 0.5), friction=0.5), boundaries=(GROUND, *walls))


def test_what_moves_falls_or_overlaps_does_not_rest():
    assert not rests(block(position=(0.0, 0.5), velocity=(0.1, 0.0)))
    assert not rests(block(position=(0.0, 0.51)))
    assert not rests(block(position=(0.0, 0.49)))


def test_a_ball_on_a_floor_rests_though_it_may_roll_and_a_ball_on_a_ball_does_not():
    assert rests(disc(position=(0.0, 0.5)))
    assert rests(ball(position=(0.0, 0.0, 0.5)))
    fixed = {"fixed": True, "mass": None, "friction": 0.5}
    assert not rests(ball("below", position=(0.0, 0.0, 0.5), **fixed), ball(position=(0.0, 0.0, 1.5), friction=0.5))
    assert not rests(disc("below", position=(0.0, 0.5), **fixed), disc(position=(0.0, 1.5), friction=0.5))


def test_a_cylinder_rests_standing_and_lying_and_an_ellipsoid_at_its_lowest_only():
    assert rests(cylinder(position=(0.0, 0.0, 1.0)))
    assert rests(cylinder(position=(0.0, 0.0, 0.5), orientation=LYING))
    egg = SpatialBody(name="egg", shape=Ellipsoid(semi_axes=(0.4, 0.3, 0.2)), mass=1.0, position=(0.0, 0.0, 0.2))
    assert rests(egg)
    assert not rests(egg.model_copy(update={"position": (0.0, 0.0, 0.4), "orientation": LYING}))  # on its tip


def test_a_ball_on_a_table_rests_where_the_table_does():
    table = box("table", (2.0, 2.0, 0.2), friction=0.5, position=(0.0, 0.0, 0.1))
    assert rests(table, ball(radius=0.1, position=(0.3, 0.2, 0.3)))
    narrow = box("table", (0.4, 0.4, 2.0), friction=0.5, position=(0.0, 0.0, 1.0))
    assert not rests(narrow, ball(radius=0.1, mass=1e3, position=(0.3, 0.0, 2.1)))  # beyond the edge: it falls


def test_a_face_is_known_by_its_corners():
    contacts = contacts_at(at_start(scenario(space(box(position=(0.0, 0.0, 0.5)), boundaries=(FLOOR,)))), 0)
    points = {tuple(np.round(contact.point_a, 3)) for contact in contacts}
    assert points == {(x, y, 0.0) for x in (-0.5, 0.5) for y in (-0.5, 0.5)}


def test_without_gravity_what_is_at_rest_stays():
    apart = (box("left", position=(0.0, 0.0, 3.0)), box("right", position=(1.0, 0.0, 3.0)))
    assert rests(*apart, gravity=(0.0, 0.0, 0.0))
    t = times(1.0)
    apart_at_rate = np.array([[-0.5, 0.0, 0.0], [0.5, 0.0, 0.0]])
    motion = SpatialTrajectory(
        time=t,
        dt=DT,
        velocity_lag=0.0,
        position=np.array([body.position for body in apart]) + t[:, None, None] * apart_at_rate,
        orientation=np.tile([1.0, 0.0, 0.0, 0.0], (len(t), 2, 1)),
        velocity=np.tile(apart_at_rate, (len(t), 1, 1)),
        spin=np.zeros((len(t), 2, 3)),
    )
    outcomes = measure_with_outcomes(scenario(space(*apart, gravity=(0.0, 0.0, 0.0))), motion)[1]
    assert ("moved", ("left", "right"), False) in {(one.kind, one.bodies, one.right) for one in outcomes}


@pytest.mark.parametrize("far", [0.0, 0.2])
def test_a_motion_is_right_that_leaves_it_there_and_wrong_that_does_not(far: float):
    motion = still([(0.0, 0.5, 0.0)])
    share = (motion.time / motion.time[-1])[:, None, None]
    slid = PlanarTrajectory(
        time=motion.time,
        dt=motion.dt,
        velocity_lag=0.0,
        pose=motion.pose + far * share * [1.0, 0.0, 0.0],
        twist=motion.twist + far / 4.0 * np.array([1.0, 0.0, 0.0]),
    )
    scene = plane(block(position=(0.0, 0.5), friction=0.5), boundaries=(GROUND,))
    found = {one.kind: one.right for one in measure_with_outcomes(scenario(scene), slid)[1]}
    assert found["moved" if far else "never moved"] is (not far)
    assert found["stood"] is True


def sliding(speed: float, deceleration: float) -> PlanarTrajectory:
    t = times(4.0)
    now = np.maximum(speed - deceleration * t, 0.0)
    way = np.cumsum(now) * DT
    return planar(t, columns(way, 0.5, 0.0), columns(now, 0.0, 0.0))


@pytest.mark.parametrize(
    ("deceleration", "friction", "keeps"), [(0.0, 0.5, True), (0.4, 0.5, False), (4.905, 0.5, False), (0.0, 0.0, False)]
)
def test_what_slides_on_friction_slows_down_or_keeps_moving(deceleration: float, friction: float, keeps: bool):
    """On a floor of 0.5 by 4.9 m/s^2; without friction nothing stops it."""
    ground = HalfPlane(name="ground", friction=friction)
    scene = plane(
        block(position=(0.0, 0.5), velocity=(2.0, 0.0), friction=friction), boundaries=(ground,), duration=4.0
    )
    outcomes = measure_with_outcomes(scenario(scene), sliding(2.0, deceleration))[1]
    assert (("keeps moving", ("block",), False) in {(one.kind, one.bodies, one.right) for one in outcomes}) is keeps


def test_what_falls_over_or_rolls_has_a_cause_to_move():
    rolls = disc(position=(0.0, 0.5), velocity=(2.0, 0.0), spin=-4.0, friction=0.5)
    t = times(4.0)
    motion = planar(t, columns(2.0 * t, 0.5, -4.0 * t), columns(2.0 + 0.0 * t, 0.0, -4.0))
    outcomes = measure_with_outcomes(scenario(plane(rolls, boundaries=(GROUND,), duration=4.0)), motion)[1]
    assert "keeps moving" not in {one.kind for one in outcomes}


@pytest.mark.parametrize(
    ("shape", "keeps"), [(Ellipsoid(semi_axes=(0.5, 1.0, 0.02)), False), (Box(size=(1.0, 2.0, 0.04)), True)]
)
def test_what_spins_on_a_point_goes_on_and_on_a_face_slows_down(shape: Ellipsoid | Box, keeps: bool):
    body = SpatialBody(
        name="body", mass=1.0, friction=0.5, shape=shape, position=(0.0, 0.0, 0.02), spin=(0.0, 0.0, -1.0)
    )
    ground = HalfSpace(name="ground", friction=0.5)
    t = times(4.0)
    half = np.stack([np.cos(0.5 * t), 0.0 * t, 0.0 * t, -np.sin(0.5 * t)], axis=1)
    still = np.tile([0.0, 0.0, 0.02], (len(t), 1))
    motion = spatial(t, still, 0.0 * still, half, np.tile([0.0, 0.0, -1.0], (len(t), 1)))
    outcomes = measure_with_outcomes(scenario(space(body, boundaries=(ground,), duration=4.0)), motion)[1]
    assert ("keeps moving" in {one.kind for one in outcomes}) is keeps

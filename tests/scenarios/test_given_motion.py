"""Given motion of a body: where it is, what JSON takes, the work that it does, and the block that it carries along."""

import json
import math

import numpy as np
import pytest
from pytest import approx

from scenarios.catalogue import scenario_of
from scenarios.catalogue.moving_plate import GIVEN, stick_slip, travelled
from scenarios.given_motion import begun_later, given_state
from scenarios.given_work import GivenWork, work_follows
from scenarios.scene import (
    Box,
    HalfPlane,
    PlanarBody,
    PlanarGivenMotion,
    PlanarScene,
    Polygon,
    SceneError,
    SpatialBody,
    SpatialGivenMotion,
    SpatialScene,
    content_hash,
    parse_scene,
    planar_start,
    write_scene,
)

G = 9.81
SQUARE = Polygon(vertices=((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)))
SWUNG = {"velocity": (1.0, -2.0), "acceleration": (0.5, 0.0), "amplitude": (0.2, 0.1), "frequency": 3.0, "phase": 0.4}


def plate(**motion):
    return PlanarBody(name="plate", shape=SQUARE, fixed=True, motion=PlanarGivenMotion(**motion))


def block(**given):
    return PlanarBody(name="block", shape=SQUARE, mass=2.0, **given)


def scene(*bodies, **given):
    return PlanarScene(bodies=bodies, duration=1.0, **given)


def test_velocity_is_the_rate_of_the_position_and_a_turn_that_of_the_orientation():
    spin = (0.3, -1.0, 2.0)
    motion = {name: (*value, 0.7) if isinstance(value, tuple) else value for name, value in SWUNG.items()}
    body = SpatialBody(name="plate", shape=Box(size=(1.0, 1.0, 1.0)), fixed=True, orientation=(0.6, 0.0, 0.8, 0.0),
                       motion=SpatialGivenMotion(spin=spin, **motion))  # fmt: skip
    h, time = 1e-5, 0.7
    before, now, after = (given_state(body, t) for t in (time - h, time, time + h))
    assert (after[0] - before[0]) / (2 * h) == approx(now[2], rel=1e-8)
    w, *u = now[1]
    dw, *du = (after[1] - before[1]) / (2 * h)  # q' = spin q / 2
    assert dw == approx(-0.5 * np.dot(spin, u), abs=1e-8)
    assert du == approx(0.5 * (w * np.array(spin) + np.cross(spin, u)), abs=1e-8)
    assert math.hypot(*now[1]) == approx(1.0, abs=1e-15)


KNOTS = ((0.2, 1.0, 0.0), (0.5, -1.0, 2.0), (0.9, 0.5, 0.5))


def test_knots_are_velocities_linear_between_two_and_constant_outside():
    motion = PlanarGivenMotion(knots=KNOTS)
    time = np.array([0.0, 0.2, 0.35, 0.5, 0.9, 3.0])
    assert motion.rate(time) == approx(
        np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [-1.0, 2.0], [0.5, 0.5], [0.5, 0.5]]), abs=1e-15
    )
    assert motion.acceleration_at(time)[:, 0] == approx([0.0, -2.0 / 0.3, -2.0 / 0.3, 1.5 / 0.4, 0.0, 0.0], rel=1e-12)
    steps = np.linspace(0.0, 3.0, 300_001)
    rate = motion.rate(steps)
    way = np.cumsum(0.5 * (rate[1:] + rate[:-1]), axis=0) * 1e-5
    assert motion.travel(steps[1:]) == approx(way, abs=1e-9)
    assert not motion.is_steady and PlanarGivenMotion(knots=((0.5, 1.0, 0.0),)).is_steady
    whole = PlanarGivenMotion(knots=KNOTS, **SWUNG)
    assert (whole.rate(0.7 + 1e-6) - whole.rate(0.7 - 1e-6)) / 2e-6 == approx(whole.acceleration_at(0.7), rel=1e-8)


def test_a_motion_begun_later_goes_on_as_it_was():
    body = plate(spin=2.0, knots=KNOTS, **SWUNG)
    later = begun_later(body, 0.6)
    for time in (0.0, 0.5, 2.0):
        for now, then in zip(given_state(later, time), given_state(body, 0.6 + time)):
            assert now == approx(then, abs=1e-13)


def test_it_is_of_format_2_comes_back_from_json_and_starts_at_its_own_speed():
    given = scene(block(position=(0.0, 2.0)), plate(**SWUNG))
    assert given.format == 2
    assert parse_scene(json.loads(write_scene(given))) == given
    assert planar_start(given)[1][1, :2] == approx(
        np.array(SWUNG["velocity"]) + 3.0 * math.cos(0.4) * np.array(SWUNG["amplitude"])
    )


def test_a_fixed_body_without_one_says_nothing_of_it():
    still = scene(block(position=(0.0, 2.0)), PlanarBody(name="plate", shape=SQUARE, fixed=True))
    assert still.format == 1 and "motion" not in write_scene(still)
    assert content_hash(still) != content_hash(scene(block(position=(0.0, 2.0)), plate(velocity=(1.0, 0.0))))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"amplitude": (1.0, 0.0)}, "bodies[1].motion.frequency: 0 with an amplitude of (1.0, 0.0); give both"),
        ({"frequency": 1.0}, "bodies[1].motion.frequency: 1 with an amplitude of (0.0, 0.0); give both, or neither"),
        ({"frequency": -1.0, "amplitude": (1.0, 0.0)}, "bodies[1].motion.frequency: -1.0"),
        ({"velocity": (1.0, 0.0, 0.0)}, "bodies[1].motion.velocity"),
        ({"course": 1.0}, "bodies[1].motion.course"),
        ({"knots": [[1.0, 0.0, 0.0], [1.0, 2.0, 0.0]]}, "knots: their times [1.0, 1.0] do not ascend"),
        ({"knots": [[-1.0, 0.0, 0.0]]}, "bodies[1].motion.knots[0][0]"),
        ({"knots": [[1.0, 0.0]]}, "bodies[1].motion.knots[0]"),
    ],
)
def test_what_is_no_motion_is_one_line(change, message):
    data = scene(block(position=(0.0, 2.0)), plate()).model_dump(mode="json")
    data["bodies"][1]["motion"] = change
    with pytest.raises(SceneError) as error:
        parse_scene(data)
    assert message in str(error.value) and "\n" not in str(error.value)


def test_a_free_body_has_none():
    data = scene(block(), plate()).model_dump(mode="json")
    data["bodies"][0]["motion"] = {"velocity": [1.0, 0.0]}
    with pytest.raises(SceneError, match=r"bodies\[0\].motion: given for a free body"):
        parse_scene(data)


# --- work -------------------------------------------------------------------------------------------------------


def test_work_follows_where_one_body_alone_acts_on_the_free_ones():
    alone = scene(block(position=(0.0, 2.0)), plate(velocity=(1.0, 0.0)))
    assert work_follows(alone)
    assert not work_follows(alone.model_copy(update={"boundaries": (HalfPlane(name="ground"),)}))
    other = PlanarBody(name="other", shape=SQUARE, fixed=True)
    assert not work_follows(alone.model_copy(update={"bodies": (*alone.bodies, other)}))
    apart = [body.model_copy(update={"group": 1}) for body in (alone.bodies[0], other)]
    assert work_follows(alone.model_copy(update={"bodies": (apart[0], alone.bodies[1], apart[1])}))


def test_the_work_of_a_belt_and_of_a_turntable_is_force_times_way():
    """By force and torque on what goes along: m mu g u t; on a body at r that is spun up with the table, torque times
    spin."""
    belt, h, mu = scene(block(position=(0.0, 2.0)), plate(velocity=(1.5, 0.0))), 1e-3, 0.3
    work, total = GivenWork(belt, 0.0), 0.0
    for k in range(101):
        t = k * h
        pose = np.array([[0.5 * mu * G * t * t, 2.0, 0.0], [1.5 * t, 0.0, 0.0]])
        total += work.until(t, pose, np.array([[mu * G * t, 0.0, 0.0], [1.5, 0.0, 0.0]]))
    assert total == approx(2.0 * mu * G * 1.5 * 0.1, rel=1e-12)
    table = scene(block(position=(3.0, 0.0)), plate(spin=2.0), gravity=(0.0, 0.0))
    work, total = GivenWork(table, 0.0), 0.0
    turning = 2.0 * (9.0 + (2.0**2 + 2.0**2) / 12.0)
    for k in range(2001):
        t, spin = k * h, 0.9 * k * h
        at = 0.45 * t * t
        pose = np.array([[3.0 * math.cos(at), 3.0 * math.sin(at), at], [0.0, 0.0, 2.0 * t]])
        twist = np.array([[-3.0 * spin * math.sin(at), 3.0 * spin * math.cos(at), spin], [0.0, 0.0, 2.0]])
        total += work.until(t, pose, twist)
    assert total == approx(2.0 * turning * 0.9 * 2.0, rel=1e-9)


# --- the block on the plate ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("moved", [*GIVEN])
def test_the_block_is_where_a_step_by_step_law_of_friction_has_it(moved):
    """v' = v + the change to the plate's velocity, as far as mu g h allows: of first order."""
    motion, most, errors = PlanarGivenMotion(**GIVEN[moved]), 0.3 * G, []
    pieces = stick_slip(motion, most, 2.0)
    for steps in (2000, 8000):
        h, x, v = 2.0 / steps, 0.0, 0.0
        rate = motion.rate(np.arange(1, steps + 1) * h)[:, 0]
        for wanted in rate.tolist():
            v += min(max(wanted - v, -most * h), most * h)
            x += v * h
        errors.append(abs(x - travelled(motion, pieces, np.array([2.0]))[0]))
    assert errors[1] < 2e-3 and (errors[1] < 1e-12 or errors[1] < 0.5 * errors[0])


def test_slip_on_a_belt_ends_at_u_over_mu_g_and_stays_ended():
    pieces = stick_slip(PlanarGivenMotion(velocity=(1.5, 0.0)), 0.3 * G, 2.0)
    assert [piece.sticks for piece in pieces] == [False, True]
    assert pieces[1].since == approx(1.5 / (0.3 * G), rel=1e-14)


def test_a_gently_shaken_block_never_slips():
    pieces = stick_slip(PlanarGivenMotion(amplitude=(0.1, 0.0), frequency=5.0, phase=0.5 * math.pi), 0.3 * G, 2.0)
    assert [piece.sticks for piece in pieces] == [True]


def test_the_exact_pose_has_the_plate_too():
    given = scenario_of("moving-plate:moved=shaken,space=spatial")
    assert isinstance(given.scene, SpatialScene) and given.truth.pose is not None
    poses = given.truth.pose(np.array([0.0, 0.3]))
    assert poses[:, 1, 0] == approx([0.0, 0.2 * (math.cos(1.5) - 1.0)], abs=1e-15)

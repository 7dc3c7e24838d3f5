"""What acts along hinges and sliders: laws of motion and of work, by routes that share no line with the scene's own."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from scenarios.catalogue import scenario_of
from scenarios.catalogue.joint_drives import FORCE, POSITION, VELOCITY
from scenarios.features import scene_features
from scenarios.joint_forces import AxialCoordinates, JointWorks, JointWrenches, target_of
from scenarios.scene import Box, ForceMotor, SpatialBody, SpatialScene, content_hash, parse_scene, write_scene
from scenarios.scene_error import SceneError
from scenarios.similarity import similar, similarity
from tests.effort import tries

SMALL = settings(max_examples=tries(30), deadline=None)
MOMENT = (1.0 + 0.01) / 12.0 + 0.25  # kg m^2 of the arm about its end


def scene(joint: dict, **body: object) -> dict:
    own = {"name": "arm", "shape": {"kind": "box", "size": [1, 1, 1]}, "mass": 1.0, "position": [0, 0, -0.5], **body}
    given = {"kind": "hinge", "name": "pin", "a": "arm", "anchor_a": [0, 0, 0.5], "anchor_b": [0, 0, 0]}
    return {"dimension": 3, "duration": 1.0, "bodies": [own], "joints": [given | {"axis": [0, 1, 0]} | joint]}


# --- the format -----------------------------------------------------------------------------------------


def test_a_hinge_with_nothing_along_it_is_of_format_1_and_says_nothing_new():
    plain = parse_scene(scene({}))
    assert plain.format == 1
    assert set(plain.model_dump(mode="json")["joints"][0]) == {
        "name", "a", "b", "collide", "anchor_a", "anchor_b", "axis", "kind",
    }  # fmt: skip
    assert content_hash(parse_scene(scene({"damping": 0.0, "friction": 0.0, "start": 0.0}))) == content_hash(plain)


@pytest.mark.parametrize(
    "along",
    [
        {"spring": {"stiffness": 2.0}},
        {"damping": 0.5},
        {"friction": 0.5},
        {"limits": {"low": -1.0, "high": 1.0}},
        {"motor": {"kind": "position-motor", "stiffness": 1.0, "target": [[0, 1]]}},
        {"motor": {"kind": "velocity-motor", "damping": 1.0, "target": [[0, 1]]}},
        {"motor": {"kind": "force-motor", "target": [[0, 1]], "most": 0.5}},
    ],
    ids=str,
)
def test_what_acts_along_a_joint_is_of_format_2_a_feature_by_name_and_comes_back_from_json(along):
    driven = parse_scene(scene(along))
    assert driven.format == 2
    assert f"joints.{next(iter(along))}" in scene_features(driven)
    assert parse_scene(json.loads(write_scene(driven))) == driven


@pytest.mark.parametrize(
    ("along", "line"),
    [
        ({"limits": {"low": 1.0, "high": -1.0}}, "limits.high: -1 is not above low, 1"),
        ({"limits": {"low": 1.0, "high": 2.0}}, "start: 0 is beyond the limits of joint 'pin'; allowed: 1 to 2"),
        ({"damping": -1.0}, "damping: -1"),
        ({"motor": {"kind": "force-motor", "target": [[1, 0], [0, 0]]}}, "times [1.0, 0.0] decrease"),
        ({"motor": {"kind": "position-motor", "stiffness": 0.0, "target": [[0, 0]]}}, "stiffness"),
        ({"motor": {"kind": "servo", "target": [[0, 0]]}}, "motor"),
    ],
    ids=str,
)
def test_what_cannot_be_is_one_line(along, line):
    with pytest.raises(SceneError) as error:
        parse_scene(scene(along))
    assert line in str(error.value) and "\n" not in str(error.value)


# --- the laws of motion of the scenarios ----------------------------------------------------------------


LAWS = {
    "none": lambda t, q, v: 16.0 * (0.5 - q) - 0.8 * v,
    "position": lambda t, q, v: 36.0 * (np.interp(t, *zip(*POSITION)) - q) - 6.0 * v,
    "velocity": lambda t, q, v: 5.0 * (np.interp(t, *zip(*VELOCITY)) - v),
    "force": lambda t, q, v: np.interp(t, *zip(*FORCE)),
}


@pytest.mark.parametrize("motor", LAWS)
@pytest.mark.parametrize("joint", ["hinge", "slider"])
def test_the_exact_motion_is_that_of_the_equation_of_motion(motor, joint):
    """By scipy's DOP853 between the corners of the target; the accelerations do not depend on the moment."""
    scenario = scenario_of(f"driven-joint:motor={motor},joint={joint}")
    state, t = np.zeros(2), np.array([0.0])
    found = [state]
    for begin, end in ((0.0, 0.5), (0.5, 1.0), (1.0, 2.0)):
        solved = solve_ivp(
            lambda t, y: (y[1], LAWS[motor](t, *y)), (begin, end), state, "DOP853", rtol=1e-12, atol=1e-13,
            t_eval=np.linspace(begin, end, 6),
        )  # fmt: skip
        state = solved.y[:, -1]
        t, found = np.append(t, solved.t[1:]), [*found, *solved.y.T[1:]]
    q = np.array(found)[:, 0]
    pose = scenario.truth.pose(t)[:, 0]
    if joint == "slider":
        assert np.abs(pose[:, 0] - q).max() < 1e-10
    else:
        assert np.abs(pose[:, :2] - 0.5 * np.stack([np.cos(q), np.sin(q)], axis=1)).max() < 1e-10
        assert (
            np.abs(
                Rotation.from_quat(pose[:, [4, 5, 6, 3]]).as_rotvec()[:, 2] - (q + np.pi) % (2 * np.pi) + np.pi
            ).max()
            < 1e-9
        )


def test_a_stop_is_met_at_the_speed_of_the_way_and_dry_friction_stops_after_the_work_of_it():
    stop, brake = scenario_of("joint-stop:joint=slider"), scenario_of("joint-brake:joint=slider,load=0.25")
    x = stop.truth.pose(np.array([0.0, 0.5, 1.0, 2.0]))[:, 0, 0]
    assert x == pytest.approx([0.0, 0.125, 0.5, 0.5])
    resting = brake.truth.pose(np.array([2.0]))[0, 0, 0]
    assert (2.0 + 0.25 * 2.0) * resting == pytest.approx(0.5 * 2.0**2)  # force times way, of 1 kg at 2 m/s


# --- forces on bodies -----------------------------------------------------------------------------------

vectors = st.tuples(*[st.floats(-2.0, 2.0)] * 3)
pairs = st.tuples(vectors, vectors)
turns = vectors.map(lambda v: tuple(np.roll(Rotation.from_rotvec(v).as_quat(), 1).tolist()))
pairs_of_turns = st.tuples(turns, turns)


def tied(kind: str, axis: tuple[float, ...], turn_a: tuple[float, ...], turn_b: tuple[float, ...]) -> SpatialScene:
    """Two boxes on a joint through points off their centres, which meet."""
    on_a, on_b = np.array((0.1, 0.2, 0.3)), np.array((-0.3, 0.1, 0.0))
    at_a = Rotation.from_quat(np.roll(turn_a, -1)).apply(on_a)
    at_b = Rotation.from_quat(np.roll(turn_b, -1)).apply(on_b)
    bodies = [
        {"name": name, "shape": {"kind": "box", "size": [1, 2, 3]}, "mass": 1.0, "orientation": q, "position": list(at)}
        for name, q, at in (("a", turn_a, (0.0, 0.0, 0.0)), ("b", turn_b, at_a - at_b))
    ]
    joint = {"kind": kind, "name": "j", "a": "a", "b": "b", "anchor_a": on_a.tolist(), "anchor_b": on_b.tolist()}
    joint |= {"axis": axis, "motor": {"kind": "force-motor", "target": [[0, 3.0]]}}
    return parse_scene({"dimension": 3, "duration": 1.0, "bodies": bodies, "joints": [joint]})


@pytest.mark.parametrize("kind", ["hinge", "slider"])
@SMALL
@given(axis=vectors.filter(any), orientations=pairs_of_turns, v=pairs, w=pairs)
def test_a_motor_pushes_no_pair_of_bodies_as_a_whole_and_its_power_is_force_times_rate(kind, axis, orientations, v, w):
    """Newton's third law, of forces and of moments; virtual power. Bodies of a slider turn alike."""
    if not np.linalg.norm(axis) > 1e-6:
        return
    of = tied(kind, axis, *orientations)
    position = np.array([body.position for body in of.bodies])
    orientation = np.array([body.orientation for body in of.bodies])
    velocity, spin = np.array(v), np.array(w if kind == "hinge" else (w[0], w[0]))
    force, torque = JointWrenches(of)(0.0, position, orientation, velocity, spin)
    assert np.abs(force.sum(axis=0)).max() < 1e-12
    assert np.abs((np.cross(position, force) + torque).sum(axis=0)).max() < 1e-11
    (rate,) = AxialCoordinates(of, of.joints).rates(position, orientation, velocity, spin)
    assert (force * velocity).sum() + (torque * spin).sum() == pytest.approx(3.0 * rate, abs=1e-10)


def test_an_angle_is_counted_on_over_full_turns_and_from_where_the_joint_starts():
    of = parse_scene(scene({"start": 2.0, "damping": 1.0}))
    coordinates = AxialCoordinates(of, of.joints)
    for angle in np.arange(0.0, 20.0, 0.5):
        x, _, z, w = Rotation.from_rotvec([0.0, angle, 0.0]).as_quat()[[0, 1, 1, 3]]
        value = coordinates.values(np.zeros((1, 3)), np.array([[w, x, z, 0.0]]))[0]
        assert value == pytest.approx(2.0 + angle, abs=1e-12)


def test_where_a_step_is_made_again_angles_are_counted_from_before_it():
    """An integrator's step that was refused had turned the joint several times: a spring then was a full turn off."""
    of = parse_scene(scene({"spring": {"stiffness": 2.0, "rest": 0.0}}))
    wrenches, still = JointWrenches(of), (np.zeros((1, 3)), np.zeros((1, 3)))

    def torque(time: float, angle: float) -> float:
        x, y, z, w = Rotation.from_rotvec([0.0, angle, 0.0]).as_quat()
        return float(wrenches(time, np.zeros((1, 3)), np.array([[w, x, y, z]]), *still)[1][0, 1])

    assert torque(0.0, 0.1) == pytest.approx(-0.2)
    for k in range(1, 8):
        assert torque(0.1 * k, 0.1 + 2.0 * k) == pytest.approx(-0.2 - 4.0 * k)
    assert torque(0.05, 0.2) == pytest.approx(-0.4)


def test_a_state_that_is_not_finite_has_no_coordinate_and_is_no_fault_of_ours():
    of = parse_scene(scene({"damping": 1.0}))
    force, torque = JointWrenches(of)(0.0, *(np.full((1, n), np.nan) for n in (3, 4, 3, 3)))
    assert np.isnan(torque).all() and force.shape == (1, 3)
    (value,) = AxialCoordinates(of, of.joints).values(np.full((1, 3), np.nan), np.full((1, 4), np.nan))
    assert np.isnan(value)


@pytest.mark.parametrize(("lag", "order"), [(0.0, 4), (-1e-3, 2)])
def test_work_of_a_motor_and_of_a_damper_is_its_integral_to_the_order_of_the_rule(lag, order):
    """q = sin t about y, stiffness 3 to q = t, damping 2: W = int 3 (t - sin t) cos t dt, and -int 2 cos^2 t dt."""
    motor = {"kind": "position-motor", "stiffness": 3.0, "target": [[0.0, 0.0], [9.0, 9.0]]}
    of = parse_scene(scene({"motor": motor, "damping": 2.0}))

    def works(steps: int) -> np.ndarray:
        summed, total = JointWorks(of, lag), np.zeros(2)
        for t in np.linspace(0.0, 1.0, steps + 1).tolist():
            q = np.sin(t)
            turned = np.array([[np.cos(0.5 * q), 0.0, np.sin(0.5 * q), 0.0]])
            total += summed.until(t, np.zeros((1, 3)), turned, np.zeros((1, 3)), np.array([[0.0, np.cos(t), 0.0]]))
        return total

    s, c = np.sin(1.0), np.cos(1.0)
    exact = np.array([3.0 * (s + c - 1.0) - 1.5 * s * s, -(1.0 + s * c)])
    coarse, fine = np.abs(works(8) - exact), np.abs(works(16) - exact)
    assert (fine < 1e-2 * np.abs(exact)).all()
    assert (np.log2(coarse / fine) > order - 0.3).all()


def test_of_two_targets_at_one_time_the_later_holds_from_there():
    motor = ForceMotor(target=((0.0, 1.0), (1.0, 1.0), (1.0, 5.0)))
    assert [target_of(motor, t) for t in (-1.0, 0.0, 0.5, 1.0, 2.0)] == [1.0, 1.0, 1.0, 5.0, 5.0]


# --- other units and mirrors ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "word", ["driven-joint", "driven-joint:motor=position,joint=slider", "joint-stop", "joint-brake"]
)
@pytest.mark.parametrize(
    "change", [{"length": 3.0, "time": 5.0, "mass": 7.0}, {"mirrors": True}, {"turn": (0.5, 0.5, 0.5, 0.5)}], ids=str
)
def test_in_other_units_and_in_a_mirror_the_same_acceleration_is_seen(word, change):
    """The force along a joint, over what it moves, is l / t^2 or 1 / t^2 times what it was, in the other state."""
    of = scenario_of(word).scene
    by = similarity(3, **change)
    other = similar(of, by)
    (body,), (twin,) = of.bodies, other.bodies
    moving = body.model_copy(update={"spin": (0.0, 0.0, 1.0), "velocity": (1.0, 0.0, 0.0)})
    moved = similar(of.model_copy(update={"bodies": (moving,)}), by).bodies[0]

    def acting(scene: SpatialScene, b: SpatialBody) -> np.ndarray:
        state = (np.array([x]) for x in (b.position, b.orientation, b.velocity, b.spin))
        force, torque = JointWrenches(scene)(0.3 * (by.time if scene is other else 1.0), *state)
        return np.concatenate([force[0], torque[0]])

    before, after = acting(of, moving), acting(other, moved)
    size = by.mass * by.length / by.time**2
    sign = -1.0 if by.mirrors else 1.0
    assert after[:3] == pytest.approx(size * by.matrix @ before[:3], abs=1e-12)
    assert after[3:] == pytest.approx(sign * size * by.length * by.matrix @ before[3:], abs=1e-12)
    assert isinstance(twin.shape, Box)

"""Models of a user's own in MuJoCo: measured, or named as not measured; never silently wrong."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest

from scenarios.catalogue.shared.scene_file import scenario_from_scene
from scenarios.native import Start
from scenarios.scene import Box, HalfSpace, SpatialBody, SpatialScene
from tests.validation.engines.mujoco_models import (
    BALL,
    ENGINE,
    PLANE,
    heights,
    measured,
    model_of,
    motion_of,
    scene_of,
    unmeasured,
    wrong,
)
from validation.engines.engine import ModelError, SettingError, resolve_settings
from validation.engines.shared.recorder import state_of

G = 9.81
ARM = (
    "<body name='arm' pos='0 0 1'><joint name='hinge' axis='0 1 0' {joint}/>"
    "<geom type='capsule' size='0.02' fromto='0 0 0 0.5 0 0' mass='1' contype='0' conaffinity='0'/>{more}</body>"
)


def test_a_box_moves_as_the_same_box_in_a_scene_of_ours_to_the_last_bit() -> None:
    body = (
        "<geom type='plane' size='0 0 1' friction='0.7 0 0'/><body name='box'>"
        "<freejoint/><inertial pos='0 0 0' mass='2' diaginertia='0.1 0.08 0.05'/>"
        "<geom type='box' size='0.1 0.15 0.2' friction='0.7 0 0'/></body>"
    )
    flags = "<option timestep='0.002'><flag filterparent='disable'/></option>"
    start = Start(values={"qpos": (0.0, 0.0, 0.5, 0.8, 0.36, 0.48, 0.0)})
    native = scene_of(model_of(body, more=flags, start=start), duration=1.5)
    ours = SpatialScene(
        duration=1.5,
        bodies=(
            SpatialBody(name="box", shape=Box(size=(0.2, 0.3, 0.4)), mass=2.0, inertia=(0.1, 0.08, 0.05), friction=0.7,
                        position=(0.0, 0.0, 0.5), orientation=(0.8, 0.36, 0.48, 0.0)),
        ),
        boundaries=(HalfSpace(name="ground", friction=0.7),),
    )  # fmt: skip
    assert native.bodies[0].model_dump() == ours.bodies[0].model_dump()
    settings = resolve_settings(ENGINE, "default", {}, ours, 0.002)
    one, other = motion_of(native), ENGINE.simulate(ours, 0.002, settings)
    assert isinstance(other, type(one))
    assert one.state_hash == other.state_hash
    for name in one.STATE:  # a spin is turned into the world in two ways
        assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-14, abs=1e-14), name


def test_a_motion_has_the_bits_that_mujoco_gives_without_us() -> None:
    model = model_of(PLANE + BALL.format(z=0.5, more="") + ARM.format(joint="damping='0.1'", more=""))
    scene = scene_of(model, duration=0.5)
    motion = motion_of(scene)
    alone = mujoco.MjModel.from_xml_string(model.files[0].content().decode())
    data = mujoco.MjData(alone)
    for _ in range(250):
        mujoco.mj_step(alone, data)
    assert np.array_equal(motion.position[-1, 0], data.qpos[:3])
    world = ENGINE.build(scene, 0.002, {})
    for _ in range(250):
        world.step(watched=True)
        world.read()
    assert world.read() == data.qpos.tobytes() + data.qvel.tobytes()


def test_a_pendulum_keeps_its_energy_and_its_joint_and_has_its_period() -> None:
    """Physical pendulum, small swings: 2 pi sqrt(I / (m g d)) with I about the hinge; 1 + a^2 / 16 for amplitude a."""
    start = Start(values={"qpos": (np.pi / 2 - 0.05,)})
    scene = scene_of(
        model_of(ARM.format(joint="", more=""), option="integrator='RK4' timestep='0.002'", start=start), 4.0
    )
    values, outcomes = measured(scene, motion := motion_of(scene))
    assert scene.native is not None and scene.native.conserves and not scene.native.unmeasured
    assert values["energy_drift"] < 1e-9 * G and values["joint_gap"] < 1e-12 and not wrong(outcomes)
    body = scene.bodies[0]
    assert body.mass is not None and body.inertia is not None
    x = motion.position[:, 0, 0]
    crossings = np.flatnonzero((x[:-1] < 0.0) & (x[1:] >= 0.0))
    at = motion.time[crossings] - x[crossings] * np.diff(motion.time)[crossings] / np.diff(x)[crossings]
    d = 0.25
    inertia = max(body.inertia) + body.mass * d * d
    period = 2.0 * np.pi * np.sqrt(inertia / (body.mass * G * d)) * (1.0 + 0.05**2 / 16.0)
    assert float(np.diff(at).mean()) == pytest.approx(period, rel=2e-5)


def test_bodies_that_are_welded_are_one_with_the_mass_and_the_shapes_of_both() -> None:
    """Two balls of 1 and 3 kg, 0.4 m apart: the centre of mass is 0.3 m from the first."""
    child = "<body name='second' pos='0.4 0 0'><geom type='sphere' size='0.1' mass='3'/></body>"
    scene = scene_of(model_of(PLANE + BALL.format(z=1.0, more=child)))
    (body,) = scene.bodies
    assert (body.name, body.shape.kind, body.mass) == ("ball", "compound", 4.0)
    assert body.position == pytest.approx((0.3, 0.0, 1.0), abs=1e-15)
    own = 0.4 * 0.1**2
    across = 4.0 * own + 1.0 * 0.3**2 + 3.0 * 0.1**2
    assert sorted(body.inertia or ()) == pytest.approx([4.0 * own, across, across], rel=1e-12)
    values, outcomes = measured(scene, motion_of(scene))
    assert values["penetration_final"] < 1e-3 and not wrong(outcomes)


def test_shapes_that_are_there_to_be_seen_are_left_out() -> None:
    seen = "<geom type='box' size='3 3 3' contype='0' conaffinity='0' mass='0'/>"
    scene = scene_of(model_of(PLANE + BALL.format(z=0.5, more=seen)))
    assert scene.bodies[0].shape.kind == "sphere"
    assert measured(scene, motion_of(scene))[0]["penetration_max"] < 0.1


def test_a_body_that_collides_with_nothing_has_the_box_of_its_inertia_and_falls_through() -> None:
    body = "<body name='ghost' pos='0 0 1'><freejoint/><inertial pos='0 0 0' mass='6' diaginertia='5 4 3'/></body>"
    scene = scene_of(model_of(PLANE + body), duration=1.0)
    shape = scene.bodies[0].shape
    assert isinstance(shape, Box) and shape.size == pytest.approx((2.0**0.5, 2.0, 6.0**0.5), rel=1e-12)
    values, outcomes = measured(scene, motion := motion_of(scene))
    assert heights(motion)[-1] < -3.0 and not wrong(outcomes) and "penetration_max" not in values


def test_which_bodies_collide_is_the_model_s_affair() -> None:
    """Two balls in one another: excluded they stay, as a pair that is listed they part whatever their kinds."""
    two = "".join(
        f"<body name='{name}' pos='{x} 0 0'><freejoint/><geom name='{name}' type='sphere' size='0.1' {bits}/></body>"
        for name, x, bits in (
            ("a", 0.0, "contype='{t}' conaffinity='{t}'"),
            ("b", 0.15, "contype='{t}' conaffinity='{t}'"),
        )
    )
    for bits, more, meets in (
        (1, "", True),
        (1, "<contact><exclude body1='a' body2='b'/></contact>", False),
        (0, "", False),
        (0, "<contact><pair geom1='a' geom2='b'/></contact>", True),
    ):
        scene = scene_of(model_of(two.format(t=bits), more=more, option="gravity='0 0 0'"), duration=0.5)
        values, _ = measured(scene, motion := motion_of(scene))
        apart = np.ptp(motion.position[-1, :, 0])
        assert (apart > 0.18) == meets and ("penetration_max" in values) == meets
        if meets:
            assert values["penetration_max"] == pytest.approx(0.05, abs=1e-12)


def test_a_pair_has_its_own_friction() -> None:
    more = "<contact><pair geom1='ground' geom2='ball' friction='3 3 0 0 0'/></contact>"
    ball = BALL.format(z=0.1, more="").replace("<geom ", "<geom name='ball' friction='0.2' ")
    scene = scene_of(model_of(PLANE + ball, more=more))
    assert scene.bodies[0].friction == 0.2
    assert scene.pair_law(scene.bodies[0], scene.boundaries[0]) == (3.0, 0.0)


def test_what_hangs_on_one_another_passes_through_where_mujoco_says_so() -> None:
    child = "<body name='child'><joint type='hinge' axis='0 1 0'/><geom type='sphere' size='0.1'/></body>"
    for flag, number in (("enable", 0), ("disable", 1)):
        more = f"<option><flag filterparent='{flag}'/></option>"
        scene = scene_of(model_of(BALL.format(z=0.0, more=child), more=more))
        assert scene.native is not None
        assert len(scene.native.pairs([False, False])) == number


def test_a_margin_with_its_gap_holds_bodies_apart_and_nothing_hangs() -> None:
    ball = BALL.format(z=0.13, more="").replace("size='0.1'", "size='0.1' margin='0.02'")
    scene = scene_of(model_of(PLANE + ball), duration=2.0)
    values, outcomes = measured(scene, motion := motion_of(scene))
    assert motion.contact_tolerance >= 0.019
    assert 0.01 < values["gap_final"] < 0.02 and not wrong(outcomes)


def test_a_mesh_is_the_hull_that_mujoco_collides_with() -> None:
    """A cube with a dent: the point inside is no corner. Its corners are in single precision."""
    corners = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)] + [(0, 0, 0.2)]
    text = " ".join(f"{0.1 * c:g}" for corner in corners for c in corner)
    body = "<body name='rock' pos='0 0 0.1'><freejoint/><geom type='mesh' mesh='m' mass='1'/></body>"
    scene = scene_of(model_of(PLANE + body, more=f"<asset><mesh name='m' vertex='{text}'/></asset>"))
    (piece,) = scene.bodies[0].shape.pieces
    assert piece.shape.kind == "convex-mesh" and len(piece.shape.points) == 8
    values, outcomes = measured(scene, motion_of(scene))
    assert values["penetration_max"] < 1e-3 and not wrong(outcomes)


def test_hinges_at_one_point_are_a_ball_and_others_are_named() -> None:
    joints = "<body name='b' pos='0 0 1'>{}<geom type='sphere' size='0.1'/></body>"
    two = "<joint name='x' axis='1 0 0'/><joint name='y' axis='0 1 0'/>"
    scene = scene_of(model_of(joints.format(two)))
    assert [joint.kind for joint in scene.joints] == ["ball"] and not unmeasured(scene)
    slide = "<joint name='x' type='slide' axis='1 0 0'/><joint name='y' axis='0 1 0'/>"
    scene = scene_of(model_of(joints.format(slide)))
    assert not scene.joints and "joints x, y: several that move one body" in unmeasured(scene)
    assert scene.native is not None and scene.native.acted_on == ("b",)
    slider = scene_of(model_of(joints.format("<joint name='x' type='slide' axis='0 0 1'/>")))
    values, outcomes = measured(slider, motion_of(slider))
    assert [joint.kind for joint in slider.joints] == ["slider"]
    late = 4.19 * G * G * 0.001  # m v g dt / 2 after a second: velocities are half a step behind the poses
    assert values["joint_gap"] < 1e-12 and values["energy_drift"] < 1.01 * late and not wrong(outcomes)


def test_limits_of_balls_and_of_hinges_at_one_point_are_measured() -> None:
    """A pendulum that starts 0.7 rad aside with a limit at 0.5; the same of two hinges; nothing is beyond wide ones."""
    ball = "<joint name='j' type='ball' limited='true' range='0 {}'/>"
    hinges = "<joint axis='1 0 0'/><joint name='j' axis='0 1 0' limited='true' range='-1 {}'/>"
    body = "<body name='b' pos='0 0 1'>{}<geom size='0.1' pos='0 0 -0.3'/></body>"
    q = f"{math.cos(0.35)} 0 {math.sin(0.35)} 0"
    for joint, qpos in ((ball, q), (hinges, "0 0.7")):
        for end, beyond in (("0.5", 0.2), ("1", 0.0)):
            key = f"<compiler angle='radian'/><keyframe><key name='aside' qpos='{qpos}'/></keyframe>"
            model = model_of(body.format(joint.format(end)), more=key)
            scene = scene_of(model.model_copy(update={"start": Start(keyframe="aside")}))
            values, _ = measured(scene, motion_of(scene))
            assert values["limit_excess_angle"] == pytest.approx(beyond, abs=1e-12) and not unmeasured(scene)


TENDON = (
    "<tendon><spatial name='rope' limited='true' range='0 0.3'><site site='top'/><site site='low'/></spatial></tendon>"
)
SITES = "<site name='top' pos='0 0 1'/>"
CHILD = "<site name='low'/>"
FREE = BALL.format(z=0.8, more=CHILD)
FIELD = "<asset><hfield name='h' nrow='2' ncol='2' size='1 1 1 0.1' elevation='0 0 0 0'/></asset>"


def arm(joint: str = "") -> str:
    return ARM.format(joint=joint, more="")


def equality(text: str) -> str:
    return f"<equality>{text}</equality>"


SLEEP = "<option><flag sleep='enable'/></option>"
SINCE = {"moving surface": "geom_surfacevel", "sleep from the start": "mjENBL_SLEEP"}
"""What a release has to have for them."""
NAMED = {
    "mocap": ("<body name='hand' mocap='true'><geom size='0.1'/></body>" + FREE, "", "(mocap), which stay here: hand"),
    "height field": ("<geom name='land' type='hfield' hfield='h'/>" + FREE, FIELD, "geom land: a height field"),
    "sum of joints": (
        arm(),
        "<tendon><fixed name='sum' limited='true' range='-1 1'><joint joint='hinge' coef='1'/></fixed></tendon>",
        "limits of tendons that are sums of joints: sum",
    ),
    "adhesion": (FREE, "<actuator><adhesion name='a' body='ball' gain='1' ctrlrange='0 1'/></actuator>", "bodies: a"),
    "flex": (
        PLANE + FREE + "<flexcomp name='cloth' type='grid' count='3 3 1' spacing='.1 .1 .1' pos='0 0 2' radius='.01' "
        "mass='1'><edge equality='true'/></flexcomp>",
        "",
        "shape, gaps and energy of flexes: cloth",
    ),
    "several hinges": (
        "<body name='b'><joint axis='1 0 0'/><joint axis='0 1 0' pos='.1 0 0'/><geom size='.1' pos='.3 0 0'/></body>",
        "",
        "several that move one body",
    ),
    "moving surface": (PLANE.replace("/>", " surfacevel='1 0 0'/>") + FREE, "", "moving surfaces of geoms: ground"),
    "sleep from the start": (
        PLANE + FREE.replace("name='ball'", "name='ball' sleep='init'"),
        SLEEP,
        "bodies that start asleep",
    ),
}
MEASURED = {
    "motor": (arm(), "<actuator><motor name='m' joint='hinge' gear='1'/></actuator>"),
    "position": (arm(), "<actuator><position name='p' joint='hinge' kp='20'/></actuator>"),
    "tendon": (SITES + FREE, TENDON),
    "spring of a tendon": (SITES + FREE, TENDON.replace("limited=", "stiffness='50' springlength='0.1' limited=")),
    "spring": (arm("stiffness='3'"), ""),
    "damping": (arm("damping='3'"), ""),
    "friction": (arm("frictionloss='3'"), ""),
    "armature": (arm("armature='3'"), ""),
    "limits": (arm("range='-20 20' limited='true'"), ""),
    "weld": (FREE, equality("<weld name='w' body1='ball'/>")),
    "joint equality": (arm(), equality("<joint joint1='hinge'/>")),
    "gravity compensation": (FREE.replace("name='ball'", "name='ball' gravcomp='1'"), ""),
    "medium": (FREE, "<option density='1000' viscosity='1'/>"),
    "muscle": (arm(), "<actuator><muscle name='m' joint='hinge' lengthrange='-2 2'/></actuator>"),
    "activation": (
        arm("damping='1'"),
        "<actuator><intvelocity name='v' joint='hinge' kp='9' actrange='-1 1'/></actuator>",
    ),
    "thrust at a site": (FREE, "<actuator><motor name='lift' site='low' gear='0 0 1 0 0 0'/></actuator>"),
    "tendon equality": (
        arm(),
        "<tendon><fixed name='t'><joint joint='hinge' coef='1'/></fixed></tendon>" + equality("<tendon tendon1='t'/>"),
    ),
}


@pytest.mark.parametrize("other", ["", "body2='arm'", "site"])
def test_a_connection_is_a_joint_that_opens_as_far_as_the_points_part(other: str) -> None:
    """A ball hung from the world, or from an arm, beside where the engine's own coordinates have both points."""
    text = f"<connect name='c' body1='ball' anchor='0.3 0 0' {other}/>"
    ends = "<site name='low' pos='0.3 0 0'/>", "<site name='top' pos='0.3 0 0.8'/>"
    if other == "site":
        text = "<connect name='c' site1='low' site2='top'/>"
    body = BALL.format(z=0.8, more=ends[0]) + ends[1] + arm("damping='0.5'")
    model = model_of(body, more=equality(text))
    scene = scene_of(model)
    (joint,) = [one for one in scene.joints if one.name == "c"]
    assert (joint.kind, joint.a, joint.b) == ("ball", "ball", "arm" if other.startswith("body2") else None)
    assert "equality" not in unmeasured(scene)
    motion = motion_of(scene)
    alone = mujoco.MjModel.from_xml_string(model.files[0].content().decode())
    data, widest = mujoco.MjData(alone), 0.0
    first = mujoco.MjData(alone)
    mujoco.mj_kinematics(alone, first)
    of_arm = first.xmat[2].reshape(3, 3).T @ (np.array([0.3, 0.0, 0.8]) - first.xpos[2])
    for _ in range(500):
        mujoco.mj_step(alone, data)
        mujoco.mj_kinematics(alone, data)
        there = data.xpos[2] + data.xmat[2].reshape(3, 3) @ of_arm if other.startswith("body2") else (0.3, 0.0, 0.8)
        widest = max(widest, float(np.linalg.norm(data.site("low").xpos - there)))
    values, outcomes = measured(scene, motion)
    assert values["joint_gap"] == pytest.approx(widest, rel=0.02) and widest > 1e-5 and not wrong(outcomes)


@pytest.mark.parametrize("feature", NAMED)
def test_what_is_not_measured_is_named_and_nothing_that_it_does_is_wrong(feature: str) -> None:
    body, more, named = NAMED[feature]
    if (needed := SINCE.get(feature)) and needed not in {
        *dir(mujoco.MjModel),
        *dir(mujoco.mjtEnableBit),
    }:
        pytest.skip(f"MuJoCo {mujoco.__version__} has no {needed}")
    scene = scene_of(model_of(body, more=more), duration=1.0)
    assert named in unmeasured(scene)
    _, outcomes = measured(scene, motion_of(scene))
    assert not wrong(outcomes)


@pytest.mark.parametrize(
    ("joint", "speed", "metric", "limit"),
    [
        ("axis='0 1 0' range='-20 20'", None, "limit_excess_angle", np.radians(20.0)),
        ("axis='0 2 0' range='-100 500'", 8.0, "limit_excess_angle", np.radians(500.0)),
        ("type='slide' axis='0 0 -1' range='-1 0.3'", None, "limit_excess_travel", 0.3),
    ],
)
def test_how_far_joints_go_beyond_their_limits_is_measured_by_poses(
    joint: str, speed: float | None, metric: str, limit: float
) -> None:
    """Against the engine's own coordinate. The second turns more than once around, on a ball that flies."""
    arm = f"<body><joint limited='true' {joint}/><geom size='0.1' pos='0.3 0 0' contype='0' conaffinity='0'/></body>"
    model = model_of(arm)
    if speed is not None:
        start = Start(values={"qvel": (*(0.0,) * 6, speed)})
        model = model_of(BALL.format(z=0.0, more=arm), option="gravity='0 0 0'", start=start)
    scene = scene_of(model, duration=2.0)
    alone = mujoco.MjModel.from_xml_string(model.files[0].content().decode())
    data, angles = mujoco.MjData(alone), []
    data.qvel[:] = model.start.values.get("qvel", data.qvel)
    for _ in range(1000):
        mujoco.mj_step(alone, data)
        angles.append(data.qpos[-1])
    values, _ = measured(scene, motion_of(scene))
    assert max(angles) > limit
    assert values[metric] == pytest.approx(max(angles) - limit, rel=1e-3)
    assert "limits" not in unmeasured(scene)


@pytest.mark.parametrize("feature", MEASURED)
def test_forces_that_a_scene_does_not_have_are_in_the_balance_of_energy(feature: str) -> None:
    """Nothing is gained or lost beside what is summed: within a thousandth of what is turned over, at common steps."""
    body, more = MEASURED[feature]
    scene = scene_of(model_of(body, more=more, option="timestep='0.0005'"), duration=1.0)
    assert not unmeasured(scene) and "energy" in scenario_from_scene("model.xml", scene).truth.invariants
    values, outcomes = measured(scene, motion := motion_of(scene))
    internals = motion.internals
    assert internals is not None and internals.stored is not None and internals.passive is not None
    lifted = np.ptp(heights(motion)) * G * sum(body.mass or 0.0 for body in scene.bodies)
    assert values["energy_drift"] < 2e-3 * lifted + 1e-12 and not wrong(outcomes)


def test_energy_is_not_measured_where_what_adds_it_cannot_be_summed() -> None:
    body, more, _ = NAMED["adhesion"]
    values, _ = measured(scene := scene_of(model_of(body, more=more)), motion_of(scene))
    assert "energy_gain" not in values and "energy_drift" not in values
    assert "energy: adhesion may add or store it" in unmeasured(scene)


def test_a_box_that_goes_to_sleep_lies_still_and_what_rolls_with_friction_slows_down() -> None:
    box = "<body name='box' pos='0 0 0.1'><freejoint/><geom type='box' size='0.1 0.1 0.1' mass='1'/></body>"
    values, outcomes = measured(scene := scene_of(model_of(PLANE + box, more=SLEEP), 2.0), motion_of(scene))
    assert values["jitter_velocity"] < 1e-6 and not wrong(outcomes) and not unmeasured(scene)
    rough = " condim='6' friction='1 0.005 0.01'/>"
    ball = BALL.format(z=0.1, more="").replace(" mass='1'/>", " mass='1'" + rough)
    start = Start(values={"qvel": (1.0, 0.0, 0.0, 0.0, 10.0, 0.0)})
    scene = scene_of(model_of(PLANE.replace("/>", rough) + ball, start=start), duration=0.5)
    values, outcomes = measured(scene, motion := motion_of(scene))
    # MuJoCo's pyramid of friction has up to a tenth less along its faces.
    slowed = 0.01 / 0.1 * G / 1.4  # m/s^2: rolling friction over the radius, of a ball whose spin slows too
    assert motion.velocity[-1, 0, 0] == pytest.approx(1.0 - slowed * 0.5, rel=0.05) and not wrong(outcomes)


def test_gravity_compensation_keeps_a_ball_where_it_is_and_it_does_not_hang() -> None:
    body, more = MEASURED["gravity compensation"]
    scene = scene_of(model_of(PLANE + body, more=more), duration=2.0)
    _, outcomes = measured(scene, motion := motion_of(scene))
    assert np.ptp(heights(motion)) < 1e-12 and not wrong(outcomes)


def test_a_keyframe_has_its_positions_velocities_and_controls() -> None:
    """A motor of 2 N m on an arm without gravity: the spin grows by 2 / I a second."""
    key = "<keyframe><key name='home' qpos='0.3' qvel='0.5' ctrl='2'/></keyframe>"
    more = "<actuator><motor joint='hinge'/></actuator>" + key
    of = {"more": more, "option": "gravity='0 0 0'"}
    scene = scene_of(model_of(ARM.format(joint="", more=""), start=Start(keyframe="home"), **of), duration=1.0)
    body = scene.bodies[0]
    assert body.spin == pytest.approx((0.0, 0.5, 0.0)) and body.mass is not None and body.inertia is not None
    inertia = max(body.inertia) + body.mass * 0.25**2
    spin = motion_of(scene).spin[-1, 0, 1]
    assert spin == pytest.approx(0.5 + 2.0 / inertia, rel=1e-9)
    still = scene_of(model_of(ARM.format(joint="", more=""), **of), duration=1.0)
    assert np.abs(motion_of(still).spin).max() == 0.0
    for start, said in (
        (Start(keyframe="house"), "'house' is no keyframe of the model; it has home"),
        (Start(values={"qpos": (1.0, 2.0)}), "qpos has 2 numbers; the model has 1"),
        (Start(values={"pose": (1.0,)}), "'pose' is no state of MuJoCo; allowed: qpos"),
    ):
        with pytest.raises(ModelError, match="from: ") as error:
            scene_of(model_of(ARM.format(joint="", more=""), start=start, **of))
        assert said in str(error.value)


def test_an_option_that_is_asked_for_is_set_and_all_others_are_the_model_s() -> None:
    scene = scene_of(model_of(PLANE + BALL.format(z=0.1, more=""), option="integrator='implicit' cone='elliptic'"))
    world = ENGINE.build(scene, 0.001, {"solver": "cg", "iterations": 7, "islands": True})
    options = world.options()
    assert options["timestep"] == 0.001 and options["iterations"] == 7
    assert options["solver"] == int(mujoco.mjtSolver.mjSOL_CG) and options["cone"] == int(
        mujoco.mjtCone.mjCONE_ELLIPTIC
    )
    assert options["integrator"] == int(mujoco.mjtIntegrator.mjINT_IMPLICIT)
    with pytest.raises(SettingError, match="solref_timeconst: a model has its own"):
        resolve_settings(ENGINE, "default", {"solref_timeconst": "0.1"}, scene, 0.001)
    assert resolve_settings(ENGINE, "fair", {"solver": "cg"}, scene, 0.001) == {"solver": "cg"}


def test_a_state_that_is_set_is_the_state_that_is_read() -> None:
    joints = "<joint name='x' axis='1 0 0'/><joint name='y' axis='0 1 0' pos='0 0 0.1'/>"
    chain = (
        f"<body name='one' pos='0 0 1'>{joints}<geom type='box' size='0.1 0.2 0.3'/>"
        "<body name='two' pos='0.5 0 0'><joint type='ball'/><geom type='capsule' size='0.05 0.2'/></body></body>"
    )
    scene = scene_of(model_of(chain + BALL.format(z=2.0, more="")), duration=1.0)
    world = ENGINE.build(scene, 0.002, {})
    for _ in range(300):
        world.step(watched=False)
    state = state_of(world)
    other = ENGINE.build(scene, 0.002, {})
    other.set_state(*state, time=0.6)
    for before, after in zip(state, state_of(other)):
        assert after == pytest.approx(before, abs=1e-12)


def test_other_engines_decline_a_model_by_its_language() -> None:
    from validation.engines.pymunk.adapter import Pymunk
    from validation.engines.takes import not_taken

    scene = scene_of(model_of(BALL.format(z=0.0, more="")))
    assert not_taken(Pymunk(), scene) == "pymunk loads no MJCF"
    assert ENGINE.declines(scene) is None


MISSING = "<asset><mesh name='m' file='no.stl'/></asset>"


@pytest.mark.parametrize(
    ("body", "more", "said"),
    [
        ("<body><freejoint/><geom size='nan'/></body>", "", "does not load it"),
        ("<geom size='1'/>", "", "no body of it can move"),
        ("<body><freejoint/><geom size='0.1' colour='red'/></body>", "", "unrecognized attribute"),
        ("<body><freejoint/><geom type='mesh' mesh='m'/></body>", MISSING, "no.stl"),
    ],
)
def test_a_model_that_cannot_be_is_one_line(body: str, more: str, said: str) -> None:
    with pytest.raises(ValueError, match=r".+") as error:
        scene_of(model_of(body, more=more))
    assert said in str(error.value) and "\n" not in str(error.value) and "/tmp" not in str(error.value)


def test_names_with_markup_are_made_plain_and_stay_distinct() -> None:
    two = "".join(
        f"<body name='{name}' pos='{x} 0 0'><freejoint/><geom size='0.1'/></body>"
        for name, x in (("[red]&lt;b&gt;", 0), ("[red]{b}", 1))
    )
    assert [body.name for body in scene_of(model_of(two)).bodies] == ["_red__b_", "_red__b_ #2"]

"""Models made scenes of ours: the scene moves as the model does in its own engine, and what it has not is named."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from scenarios.native import Controls, Model, ModelFile, Start
from scenarios.scene import PlanarScene, SpatialScene, colliding_pairs, parse_scene, write_scene
from tests.validation.engines.mujoco_models import ENGINE as MUJOCO
from tests.validation.engines.mujoco_models import PLANE, model_of, motion_of, scene_of
from validation.engines.box2d.adapter import Box2D
from validation.engines.engine import resolve_settings
from validation.engines.pymunk.adapter import Pymunk
from validation.engines.shared.importing import Imported
from validation.running.function_files import function_model

ARM = """
<body name='upper' pos='0 0 1'><joint name='shoulder' axis='0 1 0' {upper}/>
<geom type='capsule' fromto='0 0 0 0.4 0 0' size='0.05' mass='2'/>
<body name='lower' pos='0.4 0 0'><joint name='elbow' axis='0 1 0' {lower}/>
<geom type='box' pos='0.2 0.02 0' size='0.2 0.03 0.04' mass='1'/></body></body>
"""
NUMBERS = itertools.count()


def imported(model: Model, duration: float = 1.0) -> Imported:
    found = MUJOCO.stand_alone(model, duration, "", {})
    assert getattr(found.scene, "native", None) is None
    return found


def off_by(model: Model, duration: float = 1.0) -> float:
    """m: how far the bodies of the imported scene get from the model's, both in MuJoCo at the model's step."""
    scene = scene_of(model, duration)
    alone = imported(model, duration).scene
    assert scene.native is not None
    settings = resolve_settings(MUJOCO, "default", {}, alone, scene.native.step)
    one, other = motion_of(scene), MUJOCO.simulate(alone, scene.native.step, settings)
    names = [[body.name for body in each.bodies if not body.fixed] for each in (scene, alone)]
    assert names[0] == names[1]
    same = sorted({*one.time.tolist()} & {*other.time.tolist()})
    rows = [np.isin(motion.time, same) for motion in (one, other)]
    free = [[i for i, body in enumerate(each.bodies) if not body.fixed] for each in (scene, alone)]
    parts = [motion.position[row][:, which] for motion, row, which in zip((one, other), rows, free)]
    assert np.ptp(parts[0], axis=0).max() > 0.01  # it moves
    return float(np.abs(parts[0] - parts[1]).max())


FEATURES = {
    "spring": ("stiffness='30' springref='0.4'", "stiffness='5'"),
    "damping": ("damping='2'", "damping='0.3'"),
    "limit": ("limited='true' range='-0.3 0.6'", "limited='true' range='-0.1 0.1'"),
    "dry friction": ("frictionloss='1'", "frictionloss='0.2'"),
}


@pytest.mark.parametrize("feature", FEATURES)
def test_an_arm_with_what_acts_along_its_joints_moves_as_in_the_model(feature):
    upper, lower = FEATURES[feature]
    assert off_by(model_of(ARM.format(upper=upper, lower=lower))) < 1e-6


ACTUATORS = {
    "position": "<position joint='shoulder' kp='200' kv='20' ctrlrange='-1 1' ctrllimited='true'/>",
    "velocity": "<velocity joint='elbow' kv='5'/>",
    "motor": "<motor joint='shoulder' gear='30'/>",
    "general": "<general joint='elbow' gear='2' gainprm='10' biastype='affine' biasprm='1 -10 -1' forcerange='-3 3'"
    " forcelimited='true'/>",
}


@pytest.mark.parametrize("kind", ACTUATORS)
def test_an_actuator_with_a_control_is_a_motor_that_moves_the_arm_as_in_the_model(kind):
    """Out of range the control is clamped, as MuJoCo does; without rotors and damping nothing else acts."""
    arm, more = ARM.format(upper="damping='1'", lower="damping='1'"), f"<actuator>{ACTUATORS[kind]}</actuator>"
    model = model_of(arm, more=more, start=Start(values={"ctrl": (1.5,), "qpos": (0.3, -0.5)}))
    assert off_by(model) < 1e-6
    assert not any(line.startswith("actuators") for line in imported(model).lost)


def test_recorded_controls_are_played_by_the_motor():
    """A step of the control within a step of the motion is off by what the motor does in that step."""
    rows = Controls(times=(0.0, 0.25, 0.5), rows=((0.5,), (-0.5,), (1.0,)))
    more = f"<actuator>{ACTUATORS['position']}</actuator>"
    model = model_of(ARM.format(upper="damping='1'", lower="damping='1'"), more=more, start=Start(controls=rows))
    (motor,) = [joint.motor for joint in imported(model).scene.joints if getattr(joint, "motor", None)]
    assert motor.target == ((0.0, 0.5), (0.25, 0.5), (0.25, -0.5), (0.5, -0.5), (0.5, 1.0))
    assert off_by(model) < 1e-3


def test_a_slider_and_a_weld_move_as_in_the_model():
    slider = (
        "<body name='cart' pos='0 0 1'><joint name='rail' type='slide' axis='1 0 0' stiffness='20' springref='0.3'/>"
        "<geom type='box' size='0.1 0.1 0.1' mass='1'/></body>"
    )
    assert off_by(model_of(slider)) < 1e-6
    pair = "".join(
        f"<body name='{name}' pos='{x} 0 1'><freejoint/><geom type='box' size='0.1 0.1 0.1' mass='{m}'/></body>"
        for name, x, m in (("light", 0.0, 1), ("heavy", 0.3, 3))
    )
    found = imported(model_of(pair, more="<equality><weld body1='light' body2='heavy'/></equality>"))
    assert [joint.kind for joint in found.scene.joints] == ["fixed"]


LOST = {
    "inertia of rotors (armature): shoulder 0.5": ("armature='0.5'", "", ""),
    "tendons: cable": ("", "<tendon><fixed name='cable'><joint joint='elbow' coef='1'/></fixed></tendon>", ""),
    "actuators with an activation: lag": (
        "", "<actuator><general name='lag' joint='elbow' dyntype='integrator'/></actuator>", "",
    ),
    "actuators beside another one of their joint: second": (
        "",
        "<actuator><motor joint='elbow' gear='1'/><position name='second' joint='elbow' kp='1'/></actuator>",
        "",
    ),
    "equalities: same": ("", "<equality><joint name='same' joint1='elbow' joint2='shoulder'/></equality>", ""),
    "the medium": ("", "", "density='1.2'"),
}  # fmt: skip


@pytest.mark.parametrize("line", LOST)
def test_what_does_not_carry_over_is_named(line):
    joint, more, option = LOST[line]
    start = Start(values={"ctrl": (1.0, 1.0)}) if "beside" in line else Start()
    model = model_of(ARM.format(upper=joint, lower=""), more=more, option=option, start=start)
    assert [one for one in imported(model).lost if one.startswith(line)]


@pytest.mark.parametrize(
    ("bits", "ground"),
    [("contype='1' conaffinity='0'", "contype='0' conaffinity='1'"), ("", ""), ("contype='2' conaffinity='2'", "")],
    ids=["with the ground alone", "with all", "with one another alone"],
)
def test_the_same_pairs_may_collide_or_it_is_named(bits, ground):
    boxes = "".join(
        f"<body name='{name}' pos='{x} 0 1'><freejoint/><geom type='box' size='0.1 0.1 0.1' {bits}/></body>"
        for name, x in (("one", 0.0), ("two", 0.5), ("three", 1.0))
    )
    model = model_of(PLANE.replace("/>", f" {ground}/>") + boxes)
    described, found = scene_of(model), imported(model)
    wanted, here = ({frozenset(pair) for pair in colliding_pairs(scene)} for scene in (described, found.scene))
    named = " ".join(line for line in found.lost if "collide" in line)
    assert all(" and ".join(sorted(pair)) in named for pair in wanted ^ here)
    if not ground and not bits:
        assert wanted == here and not named


def test_a_start_beyond_a_limit_widens_it_and_is_named():
    model = model_of(ARM.format(upper="limited='true' range='30 60'", lower=""))
    found = imported(model)
    (limits,) = [joint.limits for joint in found.scene.joints if joint.limits]
    assert (limits.low, limits.high) == (0.0, pytest.approx(np.pi / 3.0))
    assert any("limits of joint shoulder: 0.5236 to 1.047, and it starts at 0" in line for line in found.lost)


def test_an_imported_scene_is_a_file_like_any_other():
    found = imported(model_of(ARM.format(upper=FEATURES["spring"][0], lower="")))
    assert isinstance(found.scene, SpatialScene)
    assert parse_scene(json.loads(write_scene(found.scene))) == found.scene


# --- URDF, pymunk ---------------------------------------------------------------------------------------

URDF = """<robot name='arm'><link name='base'/>
<link name='bar'><inertial><origin xyz='0.3 0 0'/><mass value='2'/>
<inertia ixx='0.01' iyy='0.06' izz='0.06' ixy='0' ixz='0' iyz='0'/></inertial>
<collision><origin xyz='0.3 0 0'/><geometry><box size='0.6 0.1 0.1'/></geometry></collision></link>
<joint name='pivot' type='revolute'><parent link='base'/><child link='bar'/><axis xyz='0 1 0'/>
<limit lower='-2' upper='2' effort='100' velocity='10'/><dynamics damping='0.2' friction='0'/></joint></robot>"""


def test_a_urdf_swings_in_pybullet_as_its_scene_does():
    """Damping is explicit in both, but for half a step: to a thousandth of the swing."""
    pytest.importorskip("pybullet", reason="no wheel for this Python")
    from validation.engines.pybullet.adapter import PyBullet

    engine, file = PyBullet(), ModelFile.of("arm.urdf", URDF.encode())
    model = Model(language="urdf", file="arm.urdf", files=(file,))
    settings = {"fixed_base": True, "motors": False, "inertia_from_file": True}
    found, described = engine.stand_alone(model, 1.0, "", settings), engine.describe(model, 1.0, "", settings)
    described = described.model_copy(update={"native": described.native.model_copy(update={"model": model})})
    (joint,) = found.scene.joints
    assert (joint.damping, joint.limits.low, joint.limits.high) == (0.2, -2.0, 2.0)
    step = 1.0 / 240.0
    native = engine.simulate(described, step, settings | {"linear_damping": 0.0, "angular_damping": 0.0})
    here = engine.simulate(found.scene, step, resolve_settings(engine, "fair", {}, found.scene, step))
    at = [motion.position[np.searchsorted(motion.time, 0.9), -1] for motion in (native, here)]
    assert np.abs(at[0] - at[1]).max() < 0.02
    assert any(line.startswith("damping of motion") for line in found.lost)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    path = list(sys.path)
    yield tmp_path
    sys.path[:] = path


def test_a_space_of_pymunk_is_a_scene_with_its_pins_springs_and_ropes_that_box2d_runs_too(folder: Path):
    """A ball on a spring of stiffness 100 and one on a pin: the period of the first is 2 pi sqrt(2 / 100)."""
    name = f"toy_{next(NUMBERS)}"
    lines = [
        "space = pymunk.Space()",
        "for k, x in enumerate((0.0, 5.0, 10.0)):",
        "    body = pymunk.Body(2, 0.25)",
        "    body.position = x, 0 if k else -1.2",
        "    body.name = f'ball {k}'",
        "    space.add(body, pymunk.Circle(body, 0.5))",
        "    tie = [lambda: pymunk.DampedSpring(space.static_body, body, (x, 0), (0, 0), 1.0, 100.0, 0.0),",
        "           lambda: pymunk.SlideJoint(space.static_body, body, (x, 0), (0, 0), 0.0, 2.0),",
        "           lambda: pymunk.SimpleMotor(space.static_body, body, 1.0)][k]()",
        "    space.add(tie)",
        "return space",
    ]
    body = "\n".join(f"    {line}" for line in lines)
    (folder / f"{name}.py").write_text(f"import pymunk\n\n\ndef build():\n{body}\n")
    found = Pymunk().stand_alone(function_model(f"{name}:build"), 1.0, "", {})
    scene = found.scene
    assert isinstance(scene, PlanarScene)
    assert [joint.kind for joint in scene.joints] == ["rope"] and scene.joints[0].length == 2.0
    assert scene.springs[0].stiffness == 100.0 and scene.springs[0].rest_length == 1.0
    assert any("SimpleMotor" in line for line in found.lost) and not any("DampedSpring" in line for line in found.lost)
    half = np.pi * np.sqrt(2.0 / 100.0)
    for engine in (Pymunk(), Box2D()):
        motion = engine.simulate(scene, 1e-3, resolve_settings(engine, "fair", {}, scene, 1e-3))
        sample = int(np.searchsorted(motion.time, half))
        assert motion.pose[sample, 0, 1] == pytest.approx(-0.8, abs=0.02)

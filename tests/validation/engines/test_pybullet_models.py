"""Models of a user's own in pybullet: measured, or named as not measured; never silently wrong."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scenarios.mass import rotation_matrix
from scenarios.native import Model, ModelFile, Perturbation, Probe, Start
from scenarios.scene import SpatialScene
from scenarios.scene_error import SceneError
from tests.validation.engines.mujoco_models import measured, unmeasured, wrong
from validation.records.trajectory import SpatialTrajectory

pb = pytest.importorskip("pybullet", reason="no wheel for this Python")
from validation.engines.engine import DeclinedError, ModelError, SettingError, settings_of_model  # noqa: E402
from validation.engines.pybullet.adapter import PyBullet  # noqa: E402
from validation.engines.shared.recorder import state_of  # noqa: E402
from validation.records.case import Value  # noqa: E402
from validation.running.probes import KINDS, probes_of  # noqa: E402

ENGINE = PyBullet()
G, DT = 9.81, 1.0 / 240.0
Settings = Mapping[str, Value]
BALL = "<sphere radius='0.1'/>"
BOX = "<box size='0.2 0.3 0.4'/>"


def link(name: str, mass: float, *shapes: str, at: str = "0 0 0", inertia: str = "0.1 0.1 0.1", more: str = "") -> str:
    ixx, iyy, izz = inertia.split()
    tensor = f"<inertia ixx='{ixx}' iyy='{iyy}' izz='{izz}' ixy='0' ixz='0' iyz='0'/>"
    solid = "".join(f"<collision><origin xyz='{at}'/><geometry>{shape}</geometry></collision>" for shape in shapes)
    inertial = f"<inertial><origin xyz='{at}'/><mass value='{mass}'/>{tensor}</inertial>"
    return f"<link name='{name}'>{inertial}{solid}{more}</link>"


def joint(
    name: str, kind: str, parent: str, child: str, *, at: str = "0 0 0", axis: str = "0 1 0", more: str = ""
) -> str:
    ends = f"<parent link='{parent}'/><child link='{child}'/><origin xyz='{at}'/><axis xyz='{axis}'/>"
    return f"<joint name='{name}' type='{kind}'>{ends}{more}</joint>"


def model_of(*parts: str, start: Mapping[str, tuple[float, ...]] | None = None, **files: bytes) -> Model:
    given = {"robot.urdf": f"<robot name='robot'>{''.join(parts)}</robot>".encode()}
    given |= {name.replace("_", "."): content for name, content in files.items()}
    return Model(
        language="urdf",
        file="robot.urdf",
        files=tuple(ModelFile.of(name, content) for name, content in given.items()),
        start=Start(values=dict(start or {})),
    )


def scene_of(model: Model, duration: float = 1.0, **settings: Value) -> SpatialScene:
    scene = ENGINE.describe(model, duration, "", settings)
    assert scene.native is not None
    return scene.model_copy(update={"native": scene.native.model_copy(update={"model": model})})


def motion_of(scene: SpatialScene, dt: float = DT, **settings: Value) -> SpatialTrajectory:
    motion = ENGINE.simulate(scene, dt, settings)
    assert isinstance(motion, SpatialTrajectory)
    return motion


ARM = link("base", 0) + link("arm", 1.0, at="0.25 0 0", inertia="0.001 0.03 0.03")
FAR = "<limit lower='-9' upper='9' effort='1' velocity='1'/>"
HINGE = joint("hinge", "continuous", "base", "arm", at="0 0 1")


def test_a_motion_has_the_bits_that_pybullet_gives_without_us(tmp_path: Path) -> None:
    """A leg that swings on a box that falls onto a plane, and a program of ten lines."""
    model = model_of(
        link("box", 2.0, BOX), link("leg", 0.5, BALL, at="0.3 0 0"), joint("hip", "continuous", "box", "leg")
    )
    scene = scene_of(model, 1.0, ground=True, base_height=0.5)
    world = ENGINE.build(scene, DT, {"ground": True, "base_height": 0.5})
    for _ in range(240):
        world.step(watched=True)
        world.read()
        world.contacts()
    position, *_ = state_of(world)
    (tmp_path / "alone.urdf").write_bytes(model.files[0].content())
    client = pb.connect(pb.DIRECT)
    body = pb.loadURDF(str(tmp_path / "alone.urdf"), [0.0, 0.0, 0.5], physicsClientId=client)
    pb.setGravity(0.0, 0.0, -9.81, physicsClientId=client)
    plane = pb.createMultiBody(
        0.0, pb.createCollisionShape(pb.GEOM_PLANE, physicsClientId=client), physicsClientId=client
    )
    pb.changeDynamics(plane, -1, lateralFriction=1.0, physicsClientId=client)
    for _ in range(240):
        pb.stepSimulation(physicsClientId=client)
    alone = pb.getBasePositionAndOrientation(body, physicsClientId=client)[0]
    hung = pb.getLinkState(body, 0, 1, 1, physicsClientId=client)[0]
    pb.disconnect(client)
    assert np.array_equal(position, [alone, hung]) and position[0, 2] < 0.4


def test_a_pendulum_has_its_period_and_keeps_its_joint() -> None:
    """Physical pendulum: 2 pi sqrt(I / (m g d)), I about the hinge; 1 + a^2 / 16 for amplitude a. Bullet's damping of
    0.04 1/s lengthens it by its square alone; the hinge is not damped, and the motor is off."""
    amplitude, d, own = 0.05, 0.25, 0.03
    settings: dict[str, Value] = {"motors": False, "inertia_from_file": True}
    scene = scene_of(model_of(ARM, HINGE, start={"joint_positions": (np.pi / 2 - amplitude,)}), 6.0, **settings)
    motion = motion_of(scene, 1e-3, **settings)
    values, outcomes = measured(scene, motion)
    assert values["joint_gap"] < 1e-12 and values["energy_gain"] < 1e-4 * G * d and not wrong(outcomes)
    assert "motors" not in unmeasured(scene) and "damping of motion" in unmeasured(scene)
    x = motion.position[:, 0, 0]
    crossings = np.flatnonzero((x[:-1] < 0.0) & (x[1:] >= 0.0))
    at = motion.time[crossings] - x[crossings] * np.diff(motion.time)[crossings] / np.diff(x)[crossings]
    period = 2.0 * np.pi * np.sqrt((own + d * d) / (G * d)) * (1.0 + amplitude**2 / 16.0)
    assert float(np.diff(at).mean()) == pytest.approx(period, rel=5e-4)


def test_links_that_are_welded_are_one_body_with_the_mass_and_the_shapes_of_both() -> None:
    """Two balls of 1 and 3 kg, 0.4 m apart: the centre of mass is 0.3 m from the first."""
    two = link("one", 1.0, BALL, inertia="0.004 0.004 0.004"), link("two", 3.0, BALL, inertia="0.012 0.012 0.012")
    model = model_of(*two, joint("weld", "fixed", "one", "two", at="0.4 0 0"))
    scene = scene_of(model, 1.0, ground=True, base_height=1.0, inertia_from_file=True)
    (body,) = scene.bodies
    assert (body.name, body.shape.kind, body.mass, len(body.shape.pieces)) == ("one", "compound", 4.0, 2)
    assert body.position == pytest.approx((0.3, 0.0, 1.0), abs=1e-15)
    across = 0.016 + 1.0 * 0.3**2 + 3.0 * 0.1**2
    assert sorted(body.inertia or ()) == pytest.approx([0.016, across, across], rel=1e-12)
    values, outcomes = measured(scene, motion_of(scene, ground=True, base_height=1.0, inertia_from_file=True))
    assert values["penetration_final"] < 1e-3 and not wrong(outcomes)


def test_shapes_that_are_there_to_be_seen_are_left_out() -> None:
    seen = "<visual><geometry><box size='3 3 3'/></geometry></visual>"
    scene = scene_of(model_of(link("ball", 1.0, BALL, more=seen)), ground=True, base_height=0.5)
    assert scene.bodies[0].shape.kind == "sphere"
    values, outcomes = measured(scene, motion_of(scene, ground=True, base_height=0.5))
    assert values["penetration_max"] < 0.01 and not wrong(outcomes)
    shapeless = scene_of(model_of(ARM, HINGE))
    assert [body.name for body in shapeless.bodies] == ["arm"] and shapeless.bodies[0].shape.kind == "box"


def obj(*offsets: float) -> bytes:
    """Cubes of 0.2 m side by side along x, a shape each."""
    lines: list[str] = []
    for k, x in enumerate(offsets):
        lines.append(f"o cube{k}")
        lines += [f"v {x + 0.1 * i} {0.1 * j} {0.1 * m}" for i in (-1, 1) for j in (-1, 1) for m in (-1, 1)]
        faces = ((1, 2, 4), (1, 4, 3), (5, 7, 8), (5, 8, 6), (1, 5, 6), (1, 6, 2), (3, 4, 8), (3, 8, 7), (1, 3, 7),
                 (1, 7, 5), (2, 6, 8), (2, 8, 4))  # fmt: skip
        lines += [f"f {' '.join(str(8 * k + v) for v in face)}" for face in faces]
    return "\n".join(lines).encode()


MESH = "<mesh filename='cubes.obj'/>"


@pytest.mark.parametrize("offsets", [(0.0,), (-0.3, 0.3), (-0.6, -0.3, 0.0, 0.3, 0.6, 0.9, 1.2, 1.5, 1.8)])
def test_a_mesh_is_the_hulls_that_pybullet_makes_of_it(offsets: tuple[float, ...]) -> None:
    model = model_of(link("rock", 1.0, BALL, MESH, BOX), cubes_obj=obj(*offsets))
    scene = scene_of(model, 1.0, ground=True, base_height=0.3)
    pieces = scene.bodies[0].shape.pieces
    assert [piece.shape.kind for piece in pieces] == ["sphere", *["convex-mesh"] * len(offsets), "box"]
    for piece, x in zip(pieces[1:-1], offsets):
        corners = np.array(piece.shape.points) + np.array(piece.position)
        assert len(corners) == 8 and corners.mean(axis=0) == pytest.approx((x, 0.0, 0.0), abs=1e-6)
        assert np.ptp(corners, axis=0) == pytest.approx([0.2] * 3, rel=1e-6)


@pytest.mark.parametrize("length", range(20, 60, 6))
def test_the_hulls_of_a_file_are_found_however_long_its_path_is(length: int) -> None:
    """pybullet breaks lines of more than 1,023 characters, within names of files, too."""
    folder, offsets = "d" * length, [0.3 * k for k in range(12)]
    mesh = f"<mesh filename='{folder}/cubes.obj'/>"
    model = model_of("\n", link("rock", 1.0, mesh), **{f"{folder}/cubes_obj": obj(*offsets)})
    scene = scene_of(model, 1.0, ground=True, base_height=0.3)
    assert len(scene.bodies[0].shape.pieces) == 12 and "triangle mesh" not in unmeasured(scene)


def test_hulls_rest_by_their_margin_apart_which_is_said() -> None:
    model = model_of(link("rock", 1.0, MESH), cubes_obj=obj(0.0))
    scene = scene_of(model, 2.0, ground=True, base_height=0.12)
    values, outcomes = measured(scene, motion := motion_of(scene, ground=True, base_height=0.12))
    assert values["gap_final"] == pytest.approx(1e-3, abs=2e-4) and not wrong(outcomes)
    assert motion.contact_tolerance == 2e-3 and "the margin of 0.001 m around hulls" in unmeasured(scene)


def test_shapes_have_the_sizes_and_poses_that_the_file_gives() -> None:
    """Each rests on the ground by its own half height; an inertial frame of its own turns nothing of it."""
    for shape, height in ((BALL, 0.1), ("<capsule radius='0.1' length='0.2'/>", 0.2), (BOX, 0.2)):
        scene = scene_of(model_of(link("body", 1.0, shape)), 0.5, ground=True, base_height=height)
        values, _ = measured(scene, motion := motion_of(scene, ground=True, base_height=height))
        assert values["penetration_max"] < 1e-3 and motion.position[-1, 0, 2] == pytest.approx(height, abs=2e-4)


def test_an_inertial_frame_of_its_own_turns_no_shape() -> None:
    """Where the corners of a box are in the world, by the file."""
    turned = "<inertial><origin xyz='0.1 0.2 0.3' rpy='0.3 0.2 0.1'/><mass value='2'/>"
    turned += "<inertia ixx='1' iyy='1.1' izz='1.2' ixy='0.05' ixz='0' iyz='0'/></inertial>"
    turned += f"<collision><origin xyz='1 0 0' rpy='0 0 1.2'/><geometry>{BOX}</geometry></collision>"
    for from_file in (False, True):
        scene = scene_of(model_of(f"<link name='a'>{turned}</link>"), 0.1, inertia_from_file=from_file)
        (body,), (piece,) = scene.bodies, scene.bodies[0].shape.pieces
        R = rotation_matrix(body.orientation)
        at = np.array(body.position) + R @ np.array(piece.position)
        axes = R @ rotation_matrix(piece.orientation)
        assert body.position == pytest.approx((0.1, 0.2, 0.3), abs=1e-12) and at == pytest.approx(
            (1.0, 0.0, 0.0), abs=1e-12
        )
        assert axes[:, 0] == pytest.approx((np.cos(1.2), np.sin(1.2), 0.0), abs=1e-12)
        assert axes[:, 2] == pytest.approx((0.0, 0.0, 1.0), abs=1e-12) and piece.shape.size == (0.2, 0.3, 0.4)


def test_a_base_is_free_or_fixed_as_asked() -> None:
    model = model_of(link("base", 1.0, BALL), link("arm", 1.0, at="0.3 0 0"), joint("j", "continuous", "base", "arm"))
    free, fixed = scene_of(model), scene_of(model, fixed_base=True)
    assert [body.fixed for body in free.bodies] == [False, False] and free.joints[0].b == "base"
    assert [body.fixed for body in fixed.bodies] == [True, False] and fixed.joints[0].b is None
    assert motion_of(free).position[-1, 0, 2] < -4.0
    with pytest.raises(ModelError, match="no body of it can move"):
        scene_of(model_of(link("alone", 1.0, BALL)), fixed_base=True)


@pytest.mark.parametrize(("mode", "number"), [("none", 0), ("no-parents", 1), ("no-ancestors", 0), ("all", 3)])
def test_which_links_collide_is_as_asked(mode: str, number: int) -> None:
    """Three links, each on the one before; base and last are no parents of one another. pybullet's own contacts agree:
    all three start in one another."""
    chain = [link(name, 1.0, BALL) for name in "abc"]
    model = model_of(*chain, joint("j", "continuous", "a", "b"), joint("k", "continuous", "b", "c", at="0.05 0 0"))
    scene = scene_of(model, 0.1, self_collision=mode)
    assert scene.native is not None
    assert len(scene.native.pairs([False] * 3)) == number
    assert (scene.native.overlap > 0.0) == (number > 0)


def test_a_start_is_taken_as_pybullet_gives_it_and_a_wrong_one_is_one_line() -> None:
    start = {"base_position": (0.0, 1.0, 2.0), "base_velocity": (0.5, 0.0, 0.0), "base_spin": (0.0, 0.0, 1.0)}
    parts = link("base", 1.0, BALL), link("arm", 1.0, at="0.3 0 0"), joint("j", "continuous", "base", "arm")
    scene = scene_of(model_of(*parts, start={**start, "joint_positions": (0.5,), "joint_velocities": (2.0,)}))
    base, arm = scene.bodies
    assert base.position == (0.0, 1.0, 2.0) and base.velocity == (0.5, 0.0, 0.0) and base.spin == (0.0, 0.0, 1.0)
    assert arm.spin == pytest.approx((0.0, 2.0, 1.0), abs=1e-12)
    assert arm.position == pytest.approx((0.3 * np.cos(0.5), 1.0, 2.0 - 0.3 * np.sin(0.5)), abs=1e-12)
    for values, said in (
        ({"qpos": (1.0,)}, "'qpos' is no state of pybullet; allowed: base_position"),
        ({"joint_positions": (1.0, 2.0)}, "joint_positions has 2 numbers; the model has 1"),
        ({"base_orientation": (0.0, 0.0, 0.0, 2.0)}, "no unit quaternion"),
    ):
        with pytest.raises(ModelError, match="--from") as error:
            scene_of(model_of(*parts, start=values))
        assert said in str(error.value)


def first_step(kind: str, **given: Any) -> tuple[SpatialScene, SpatialTrajectory]:
    """Of a base with an arm that turns, in the air."""
    parts = link("base", 1.0, BALL), link("arm", 3.0, BALL, at="0.4 0 0"), joint("j", "continuous", "base", "arm")
    start = {"base_position": (0.0, 0.0, 2.0), "joint_velocities": (1.0,)}
    probe = Probe.model_validate({"kind": kind, **given})
    scene = scene_of(model_of(*parts, start=start).model_copy(update={"probe": probe}), 0.1, gravity=0.0)
    return scene, motion_of(scene, gravity=0.0)


def test_probes_raise_push_and_tip_a_base_with_all_that_hangs_on_it() -> None:
    plain, still = first_step("settle")
    assert plain.native is not None and plain.native.free == ("base",)
    kinds = [probe.kind for probe in probes_of(plain, KINDS)]
    assert kinds == ["settle", "hold", "push", "tip"]  # without gravity nothing drops
    _, dropped = first_step("drop", size=0.02)
    assert dropped.position[0] - still.position[0] == pytest.approx(np.full((2, 3), (0.0, 0.0, 0.02)), abs=1e-9)
    _, pushed = first_step("push", body="base", size=2.0)
    assert pushed.velocity[0] - still.velocity[0] == pytest.approx(np.full((2, 3), (0.5, 0.0, 0.0)), abs=1e-9)
    _, tipped = first_step("tip", body="base", size=0.2, lift=0.03)
    centre = np.array((0.3, 0.0, 2.0))
    turn = np.array(((1.0, 0.0, 0.0), (0.0, np.cos(0.2), -np.sin(0.2)), (0.0, np.sin(0.2), np.cos(0.2))))
    wanted = centre + (still.position[0] - centre) @ turn.T + (0.0, 0.0, 0.03)
    assert tipped.position[0] == pytest.approx(wanted, abs=1e-9)
    assert tipped.orientation[0, 0] == pytest.approx((np.cos(0.1), np.sin(0.1), 0.0, 0.0), abs=1e-9)
    with pytest.raises(ModelError, match="'arm' is no free body of the model"):
        first_step("push", body="arm", size=1.0)


def test_starts_of_an_ensemble_differ_by_less_than_the_size() -> None:
    model = model_of(link("base", 1.0, BALL), link("arm", 1.0, at="0.3 0 0"), joint("j", "continuous", "base", "arm"))
    plain = scene_of(model)
    moved = scene_of(model.model_copy(update={"perturbation": Perturbation(seed=1, number=2, size=1e-6)}))
    shift = np.subtract([body.position for body in moved.bodies], [body.position for body in plain.bodies])
    assert 0.0 < np.abs(shift[0]).max() <= 1e-6 and np.abs(shift).max() < 3e-6
    assert moved.joints[0].anchor_a == pytest.approx(plain.joints[0].anchor_a, abs=1e-12)


def test_how_far_joints_go_beyond_their_limits_is_measured() -> None:
    limit = "<limit lower='-0.3' upper='0.3' effort='10' velocity='10'/>"
    model = model_of(ARM, joint("hinge", "revolute", "base", "arm", at="0 0 1", more=limit))
    scene = scene_of(model, motors=False, inertia_from_file=True)
    values, outcomes = measured(scene, motion := motion_of(scene, motors=False, inertia_from_file=True))
    angle = np.arcsin((1.0 - motion.position[:, 0, 2]) / 0.25)
    assert values["limit_excess_angle"] == pytest.approx(max(0.0, float(angle.max()) - 0.3), abs=1e-9)
    assert values["limit_excess_angle"] < 0.05 and not wrong(outcomes)


def test_one_step_from_recorded_states_is_the_step_that_was_taken() -> None:
    """On two hinges, a slider and a free base, in flight: nothing of it hangs on impulses of contacts before."""
    parts = [link("base", 1.0, BALL), link("a", 1.0, at="0.3 0 0"), link("b", 1.0, at="0 0.2 0"), link("c", 1.0)]
    parts += [joint("one", "continuous", "base", "a"), joint("two", "continuous", "a", "b", at="0.6 0 0", axis="1 0 0")]
    parts += [joint("slide", "prismatic", "b", "c", at="0 0.4 0", axis="0 0 1", more=FAR)]
    model = model_of(*parts, start={"joint_velocities": (3.0, 2.0, 1.0), "base_spin": (1.0, 2.0, 3.0)})
    scene = scene_of(model, motors=False)
    first, other = ENGINE.build(scene, DT, {"motors": False}), PyBullet().build(scene, DT, {"motors": False})
    for _ in range(40):
        first.step(watched=False)
    before = state_of(first)
    first.step(watched=False)
    after = state_of(first)
    other.set_state(*before, time=40 * DT)
    other.step(watched=False)
    for part, again in zip(after, state_of(other)):
        assert again == pytest.approx(part, abs=1e-9)
    turning = model_of(ARM, joint("ball", "spherical", "base", "arm"))
    with pytest.raises(DeclinedError, match="joint ball"):
        world = ENGINE.build(scene_of(turning), DT, {})
        world.set_state(*state_of(world))


NAMED = {
    "motors": (HINGE, "motors, at rest, that pybullet gives every joint: hinge"),
    "damping": (HINGE.replace("</joint>", "<dynamics damping='1' friction='2'/></joint>"), "damping of joints: hinge"),
    "friction": (HINGE.replace("</joint>", "<dynamics friction='2'/></joint>"), "friction of joints: hinge"),
    "planar": (joint("j", "planar", "base", "arm"), "joints j: how far they open is not measured"),
    "rolling": (HINGE + link("w", 1.0, BALL, more="<contact><rolling_friction value='0.1'/></contact>")
                + joint("k", "continuous", "arm", "w"), "rolling friction of links: w"),
    "soft": (HINGE + link("w", 1.0, BALL, more="<contact><stiffness value='9'/><damping value='1'/></contact>")
             + joint("k", "continuous", "arm", "w"), "stiffness and damping of contacts of links: w"),
    "groups": (HINGE + link("w", 1.0, BALL).replace("<collision>", "<collision group='2' mask='1'>")
               + joint("k", "continuous", "arm", "w"), "link w: collision groups or masks of its own"),
    "flat": (HINGE + link("w", 1.0, MESH) + joint("k", "continuous", "arm", "w"), "link w: "),
}  # fmt: skip


@pytest.mark.parametrize("feature", NAMED)
def test_what_is_not_measured_is_named_and_nothing_that_it_does_is_wrong(feature: str) -> None:
    parts, named = NAMED[feature]
    flat = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 4 3\n"
    scene = scene_of(model_of(ARM, parts, cubes_obj=flat))
    assert named in unmeasured(scene)
    _, outcomes = measured(scene, motion_of(scene))
    assert not wrong(outcomes)


def test_a_shape_without_extent_is_named() -> None:
    """As ARMAR-4's URDF has: spheres of radius 0."""
    for shape in ("<sphere radius='0.0'/>", "<box size='0.1 0 0.1'/>"):
        scene = scene_of(model_of(link("body", 1.0, shape, BOX)), duration=0.1)
        (body,) = scene.bodies
        assert body.shape.kind == "box" and "without extent; its gaps are not measured" in unmeasured(scene)
        assert motion_of(scene).time[-1] == pytest.approx(0.1, abs=DT)


def test_a_mesh_of_triangles_is_named() -> None:
    fixed = link("land", 0, MESH).replace("<collision>", "<collision concave='yes'>")
    scene = scene_of(model_of(fixed, link("arm", 1.0, BALL, at="1 0 0"), joint("j", "continuous", "land", "arm"),
                              cubes_obj=obj(0.0)))  # fmt: skip
    assert "link land: a triangle mesh; its gaps are not measured" in unmeasured(scene)
    assert [body.name for body in scene.bodies] == ["arm"]


def test_hinges_through_massless_links_are_a_ball_at_one_point_and_else_are_named() -> None:
    parts = [link("base", 0), link("cross", 0, inertia="0 0 0"), link("arm", 1.0, at="0.3 0 0")]
    for at, kinds in (("0 0 0", ["ball"]), ("0.1 0 0", [])):
        hinges = (
            joint("x", "continuous", "base", "cross", axis="1 0 0"),
            joint("y", "continuous", "cross", "arm", at=at),
        )
        scene = scene_of(model_of(*parts, *hinges), inertia_from_file=True)
        assert [one.kind for one in scene.joints] == kinds and len(scene.bodies) == 1
        assert ("joints y, x: how far they open" in unmeasured(scene)) == (not kinds)
        values, outcomes = measured(scene, motion_of(scene, inertia_from_file=True))
        assert values.get("joint_gap", 0.0) < 1e-12 and not wrong(outcomes)


def test_an_inertia_that_no_body_has_is_named() -> None:
    scene = scene_of(model_of(link("odd", 1.0, BALL, inertia="1 1 5")), inertia_from_file=True)
    assert "its inertia (0.0, 0.0, 0.0) is that of no body" in unmeasured(scene)
    assert scene.native is not None and not scene.native.conserves


HOSTILE = {
    "missing mesh": (link("a", 1.0, "<mesh filename='nothing.obj'/>"), "cannot find 'nothing.obj'"),
    "no inertia": ("<link name='a'><inertial><mass value='1'/></inertial></link>", "must have inertia element"),
    "unknown link": (link("a", 1.0) + joint("j", "fixed", "a", "b"), "pybullet does not load it"),
    "not a number": (link("a", float("nan"), BALL), "not finite"),
    "nothing": ("", "pybullet does not load it"),
}


@pytest.mark.parametrize("fault", HOSTILE)
def test_a_model_that_is_wrong_is_one_line(fault: str) -> None:
    parts, said = HOSTILE[fault]
    with pytest.raises((ModelError, SceneError)) as error:
        scene_of(model_of(parts))
    assert said in str(error.value) and "\n" not in str(error.value) and "/tmp" not in str(error.value)


def test_settings_of_scenes_alone_are_refused() -> None:
    assert settings_of_model(ENGINE, {"fixed_base": "true", "iterations": "80"}) == {
        "fixed_base": True,
        "iterations": 80,
    }
    with pytest.raises(SettingError, match="linear_damping: a model has its own; allowed: base_height"):
        settings_of_model(ENGINE, {"linear_damping": "0"})
    with pytest.raises(SettingError, match="self_collision: 'some' is not allowed; allowed: none"):
        settings_of_model(ENGINE, {"self_collision": "some"})


TENSOR = "".join(
    f"<{name}>{value}</{name}>" for name, value in zip(["ixx", "ixy", "ixz", "iyy", "iyz", "izz"], (1, 0, 0, 1, 0, 1))
)
SDF = (
    "<sdf version='1.6'><world name='w'><model name='a'><pose>0 0 1 0 0 0</pose><link name='l'>"
    f"<inertial><mass>2</mass><inertia>{TENSOR}</inertia></inertial>"
    "<collision name='c'><geometry><box><size>0.2 0.3 0.4</size></box></geometry>"
    "</collision></link></model><model name='b'><static>1</static><link name='m'>"
    f"<inertial><mass>0</mass><inertia>{TENSOR}</inertia></inertial>"
    "<collision name='d'><geometry><box><size>9 9 1</size></box></geometry></collision></link></model></world></sdf>"
)


def test_sdf_is_loaded_with_all_of_its_models() -> None:
    model = Model(language="sdf", file="w.sdf", files=(ModelFile.of("w.sdf", SDF.encode()),))
    scene = scene_of(model)
    assert [(body.fixed, body.mass) for body in scene.bodies] == [(False, 2.0), (True, None)]
    values, outcomes = measured(scene, motion_of(scene))
    assert values["penetration_final"] < 1e-3 and not wrong(outcomes)
    with pytest.raises(ModelError, match="fixed_base: of URDF alone"):
        scene_of(model, fixed_base=True)

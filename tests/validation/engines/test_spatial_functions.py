"""Functions of a user's own that build a world of Rapier, PhysX or DART: measured as they are, by what it has."""

from __future__ import annotations

import importlib
import itertools
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reference_engine.array_types import Array
from scenarios.mass import rotation_matrix
from scenarios.native import Perturbation, Probe
from scenarios.scene import SpatialScene
from tests.validation.command import upright
from tests.validation.engines.mujoco_models import measured, wrong
from validation.engines import OURS
from validation.engines.engine import ModelError
from validation.engines.shared.replay import one_step
from validation.records.trajectory import SpatialTrajectory
from validation.running.function_files import function_model
from validation.running.probes import KINDS, probes_of

G = 9.81
CLASSES = {"rapier": "Rapier", "physx": "PhysX", "dart": "Dart"}
NUMBERS = itertools.count()
IMPORTS = {
    "rapier": "import rapier3d as r",
    "physx": "import sapien\nfrom sapien import physx",
    "dart": "import dartpy\nimport numpy as np\ndy = dartpy.dynamics",
}
WORLD = {
    "rapier": ["w = r.PhysicsWorld(gravity=(0, 0, -9.81))"],
    "physx": ["w = sapien.Scene([physx.PhysxCpuSystem()])"],
    "dart": ["w = dartpy.simulation.World()", "w.setGravity([0, 0, -9.81])"],
}
# A box 0.2 x 0.4 x 0.6 m whose centre of mass is 0.05 m along its x, in the air.
BOX = {
    "rapier": [
        "w.add_body(r.RigidBody.dynamic().translation((0, 0, 5)).linvel((1, 0, 0)).angvel((0, 0, 2)),"
        " [r.Collider.cuboid(0.1, 0.2, 0.3).translation((0.05, 0, 0)).density(100.0)])",
    ],
    "physx": [
        "b = w.create_actor_builder()",
        "b.add_box_collision(half_size=[0.1, 0.2, 0.3], pose=sapien.Pose([0.05, 0, 0]), density=100.0)",
        "a = b.build(name='box')",
        "a.pose = sapien.Pose([0, 0, 5])",
        "c = a.find_component_by_type(physx.PhysxRigidDynamicComponent)",
        "c.linear_velocity, c.angular_velocity, c.linear_damping, c.angular_damping = [1, 0, 0], [0, 0, 2], 0, 0",
    ],
    "dart": [
        "s = dy.Skeleton('box')",
        "j, b = s.createFreeJointAndBodyNodePair()",
        "n = b.createShapeNode(dy.BoxShape([0.2, 0.4, 0.6]))",
        "n.setRelativeTranslation([0.05, 0, 0])",
        "n.createCollisionAspect()",
        "n.createDynamicsAspect()",
        "b.setInertia(dy.Inertia(4.8, [0.05, 0, 0], np.diag([0.208, 0.16, 0.08])))",
        "t = dartpy.math.Isometry3()",
        "t.set_translation([0, 0, 5])",
        "j.setTransform(t)",
        "j.setAngularVelocity([0, 0, 2])",
        "j.setLinearVelocity([1, -0.1, 0])",
        "w.addSkeleton(s)",
    ],
}
GROUND = {
    "rapier": ["w.add_collider(r.Collider.halfspace((0, 0, 1)).translation((0, 0, 4.6)))"],
    "physx": ["w.add_ground(4.6, render=False)"],
    "dart": [
        "g = dy.Skeleton('ground')",
        "j, b = g.createWeldJointAndBodyNodePair()",
        "n = b.createShapeNode(dy.BoxShape([9, 9, 2]))",
        "n.createCollisionAspect()",
        "n.createDynamicsAspect()",
        "t = dartpy.math.Isometry3()",
        "t.set_translation([0, 0, 3.6])",
        "j.setTransformFromParentBodyNode(t)",
        "w.addSkeleton(g)",
    ],
}
# A thin bar of 1 m and 1 kg on a hinge along y at (0, 0, 1), level at the start.
PENDULUM = {
    "rapier": [
        "a = w.add_body(r.RigidBody.fixed())",
        "b = w.add_body(r.RigidBody.dynamic().translation((0.5, 0, 1)), "
        "[r.Collider.cuboid(0.5, 0.01, 0.01).mass(1.0)])",
        "f = r.Rotation3(0.5**0.5, 0, 0, 0.5**0.5)",
        "k = r.GenericJoint.builder(r.JointAxesMask.LOCKED_REVOLUTE_AXES)",
        "k = k.local_frame1(r.Isometry3((0, 0, 1), f)).local_frame2(r.Isometry3((-0.5, 0, 0), f)).build()",
        "w.impulse_joints.insert(a, b, k)",
    ],
    "physx": [
        "b = w.create_articulation_builder()",
        "root = b.create_link_builder()",
        "root.set_name('root')",
        "bar = b.create_link_builder(root)",
        "bar.set_name('bar')",
        "bar.set_joint_name('hinge')",
        "bar.add_box_collision(half_size=[0.5, 0.01, 0.01], density=1 / 4e-4)",
        "q = [0.5**0.5, 0, 0, 0.5**0.5]",
        "at, of = sapien.Pose([0, 0, 1], q), sapien.Pose([-0.5, 0, 0], q)",
        "bar.set_joint_properties('revolute', [[-9, 9]], at, of, 0, 0)",
        "b.build(fix_root_link=True).joints[1].set_friction(0)",  # 0.05 by itself
        "for c in w.physx_system.articulation_link_components: c.linear_damping = c.angular_damping = 0",
    ],
    "dart": [
        "s = dy.Skeleton('arm')",
        "j, b = s.createRevoluteJointAndBodyNodePair()",
        "j.setAxis([0, 1, 0])",
        "b.setInertia(dy.Inertia(1.0, [0.5, 0, 0], np.diag([1e-4, 1 / 12, 1 / 12])))",
        "t = dartpy.math.Isometry3()",
        "t.set_translation([0, 0, 1])",
        "j.setTransformFromParentBodyNode(t)",
        "w.addSkeleton(s)",
    ],
}
by_engine = pytest.mark.parametrize("name", [*CLASSES])


def engine_of(name: str) -> Any:
    pytest.importorskip(OURS[name][0])
    return getattr(importlib.import_module(f"validation.engines.{name}.adapter"), CLASSES[name])()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current one, whose modules are forgotten in the end."""
    monkeypatch.chdir(tmp_path)
    path = list(sys.path)
    yield tmp_path
    sys.path[:] = path
    for name, module in list(sys.modules.items()):
        if tmp_path in Path(getattr(module, "__file__", None) or "/").parents:
            del sys.modules[name]


def level(folder: Path, name: str, *parts: dict[str, list[str]], more: str = "", dt: float | None = None) -> str:
    """The word of a function that builds such a world; each of a module of its own."""
    module = f"spatial_{next(NUMBERS)}"
    lines = [*WORLD[name], *itertools.chain.from_iterable(part[name] for part in parts), *filter(None, [more])]
    text = f"{IMPORTS[name]}\n\ndef build():\n" + "".join(f"    {line}\n" for line in lines) + "    return w\n"
    (folder / f"{module}.py").write_text(text + (f"build.dt = {dt}\n" if dt else ""), encoding="utf-8")
    return f"{module}:build"


def scene_of(engine: Any, word: str, duration: float = 1.0) -> SpatialScene:
    scene = engine.describe(function_model(word), duration, "", {})
    assert isinstance(scene, SpatialScene)
    return scene


def motion_of(engine: Any, scene: SpatialScene, dt: float | None = None) -> SpatialTrajectory:
    assert scene.native is not None
    motion = engine.simulate(scene, dt or scene.native.step, {})
    assert isinstance(motion, SpatialTrajectory)
    return motion


@by_engine
def test_mass_inertia_and_shape_are_those_of_the_body_about_its_centre_of_mass(name: str, folder: Path) -> None:
    engine = engine_of(name)
    scene = scene_of(engine, level(folder, name, BOX))
    (body,) = scene.bodies
    assert body.mass == pytest.approx(4.8, rel=1e-6)
    assert np.sort(body.inertia) == pytest.approx([0.08, 0.16, 0.208], rel=1e-5)
    assert body.position == pytest.approx((0.05, 0.0, 5.0), abs=1e-6)
    assert body.velocity == pytest.approx((1.0, 0.0, 0.0), abs=1e-6) and body.spin == pytest.approx((0.0, 0.0, 2.0))
    shapes = [body.shape] if body.shape.kind == "box" else [piece.shape for piece in body.shape.pieces]
    assert [sorted(shape.size) for shape in shapes] == [pytest.approx([0.2, 0.4, 0.6], rel=1e-6)]


@by_engine
def test_a_free_flight_is_a_parabola_of_the_centre_of_mass_that_turns_steadily(name: str, folder: Path) -> None:
    """About a principal axis. To first order of the step, by semi-implicit Euler."""
    engine = engine_of(name)
    scene = scene_of(engine, level(folder, name, BOX, dt=1 / 1000), 0.5)
    assert scene.native is not None and scene.native.step == 1 / 1000
    motion = motion_of(engine, scene)
    t = motion.time
    exact = np.stack([0.05 + t, 0.0 * t, 5.0 - 0.5 * G * t * t], axis=1)
    assert motion.position[:, 0] == pytest.approx(exact, abs=3e-3)
    assert motion.position[:, 0, :2] == pytest.approx(exact[:, :2], abs=1e-4)
    half = t.copy()  # 2 rad/s
    first = motion.orientation[0, 0]
    turned = motion.orientation[:, 0] @ first  # cosine of half of the turn
    assert turned == pytest.approx(np.cos(half), abs=2e-3)
    values, outcomes = measured(scene, motion)
    assert values["energy_drift"] < 0.02 * 4.8 * G and not wrong(outcomes)


@by_engine
def test_a_pendulum_swings_as_its_equation_has_it_and_its_joint_holds(name: str, folder: Path) -> None:
    """theta'' = 3 g / 2 l cos(theta), from level, by small steps."""
    engine = engine_of(name)
    scene = scene_of(engine, level(folder, name, PENDULUM, dt=1 / 1000), 1.0)
    (joint,) = scene.joints
    assert joint.kind == "hinge"
    motion = motion_of(engine, scene)
    moving = [k for k, body in enumerate(scene.bodies) if not body.fixed]
    theta = rate = 0.0
    exact = {0.0: 0.0}
    h = 1e-5
    for k in range(100_000):
        rate += h * 1.5 * G * math.cos(theta)
        theta += h * rate
        exact[round((k + 1) * h, 9)] = theta
    fallen = np.array([exact[round(float(time), 9)] for time in motion.time])
    place = np.stack([0.5 * np.cos(fallen), 0.0 * fallen, 1.0 - 0.5 * np.sin(fallen)], axis=1)
    assert motion.position[:, moving[0]] == pytest.approx(place, abs=0.02)
    values, outcomes = measured(scene, motion)
    assert values["joint_gap"] < 1e-4 and not wrong(outcomes)


@by_engine
def test_a_body_that_falls_onto_the_ground_rests_on_it_by_our_geometry(name: str, folder: Path) -> None:
    engine = engine_of(name)
    scene = scene_of(engine, level(folder, name, BOX, GROUND), 3.0)
    motion = motion_of(engine, scene)
    values, outcomes = measured(scene, motion)
    assert abs(values["gap_final"]) < 5e-3 and not wrong(outcomes)
    assert motion.position[-1, 0, 2] < 5.0 and np.abs(motion.velocity[-1, 0]).max() < 0.02


@by_engine
def test_contacts_are_those_of_a_body_that_rests_on_the_ground(name: str, folder: Path) -> None:
    """Between the two alone, normals up from the ground, within the gap that it rests at; what presses bears m g."""
    engine = engine_of(name)
    scene = scene_of(engine, level(folder, name, BOX, GROUND), 4.0)
    motion = motion_of(engine, scene)
    rows = motion.contacts
    assert rows is not None
    names = [member.name for member in (*scene.bodies, *scene.boundaries)]
    awake = rows.sample[(rows.impulse != 0.0).any(axis=1)].max()  # DART's bodies sleep, and nothing presses then
    last = rows.sample == awake
    assert motion.time[awake] > 2.0 and last.sum() == 4, "a corner each"
    pairs = {frozenset((names[a], names[b])) for a, b in zip(rows.a[last].tolist(), rows.b[last].tolist())}
    assert pairs == {frozenset(names)}
    upwards = np.where(rows.a[last] == 0, -1.0, 1.0)  # the box is the first
    assert rows.normal[last, 2] * upwards == pytest.approx(1.0, abs=1e-3)
    assert np.abs(rows.gap[last]).max() < 0.01 and rows.point[last, 2] == pytest.approx(4.6, abs=0.01)
    pressing = float((rows.impulse[last, 2] * upwards).sum()) / motion.dt
    if np.isfinite(pressing):  # PhysX reports none, Rapier none where there may be friction
        assert pressing == pytest.approx((scene.bodies[0].mass or 0.0) * G, rel=0.01)
    else:
        assert name != "dart"


def stepped(name: str, world: Any) -> Array:
    """Where a world has its body after a hundred of its steps, by the engine's own functions."""
    if name == "rapier":
        world.set_num_threads(1)
        for _ in range(100):
            world.step()
        return np.array(next(body.translation.to_tuple() for _, body in world.rigid_bodies if body.is_dynamic))
    if name == "physx":
        world.physx_system.timestep = world.timestep
        for _ in range(100):
            world.physx_system.step()
        return np.array(world.physx_system.rigid_dynamic_components[0].entity_pose.p, np.float64)
    for _ in range(100):
        world.step()
    return np.array(world.getSkeleton("box").getBodyNode(0).getWorldTransform().translation())


@by_engine
def test_a_motion_has_the_bits_that_the_engine_gives_without_us(name: str, folder: Path) -> None:
    engine = engine_of(name)
    word = level(folder, name, BOX, GROUND)
    scene = scene_of(engine, word)
    assert scene.native is not None
    world = engine.build(scene, scene.native.step, {})
    for _ in range(100):
        world.step(watched=True)
        world.read()
        world.contacts()
    if name == "physx":
        config = importlib.import_module("sapien").physx
        config.set_scene_config(config.PhysxSceneConfig())
    alone = stepped(name, sys.modules[word.partition(":")[0]].build())
    ours = np.frombuffer(world.read(), np.float64)[:3]
    assert ours.tolist() == alone.tolist()


@by_engine
def test_one_step_from_recorded_states_is_the_step_that_was_taken(name: str, folder: Path) -> None:
    engine = engine_of(name)
    scene = scene_of(engine, level(folder, name, BOX), 0.5)
    motion = motion_of(engine, scene)
    assert scene.native is not None
    after = one_step(engine, scene, scene.native.step, {}, motion)
    pairs = np.flatnonzero(np.isclose(np.diff(motion.time), scene.native.step))
    assert len(pairs) > 3
    assert after.position[pairs] == pytest.approx(motion.position[pairs + 1], abs=1e-5)


@by_engine
def test_starts_of_an_ensemble_differ_by_less_than_the_size(name: str, folder: Path) -> None:
    engine, word = engine_of(name), level(folder, name, BOX)
    model = function_model(word).model_copy(update={"perturbation": Perturbation(seed=1, number=2, size=1e-3)})
    plain, moved = scene_of(engine, word), engine.describe(model, 1.0, "", {})
    shift = np.subtract(moved.bodies[0].position, plain.bodies[0].position)
    assert 0.0 < np.abs(shift).max() <= 1e-3 + 1e-6
    assert plain.native is not None
    native = plain.native.model_copy(update={"model": model})
    motion = motion_of(engine, plain.model_copy(update={"native": native}))
    assert motion.position[0, 0] == pytest.approx(moved.bodies[0].position, abs=1e-6)


def probed(engine: Any, word: str, probe: Probe, duration: float = 0.2) -> tuple[SpatialScene, SpatialTrajectory]:
    scene = engine.describe(function_model(word).model_copy(update={"probe": probe}), duration, "", {})
    return scene, motion_of(engine, scene)


@by_engine
def test_probes_are_of_what_no_joint_ties(name: str, folder: Path) -> None:
    engine = engine_of(name)
    both = scene_of(engine, level(folder, name, BOX, GROUND, PENDULUM))
    assert both.native is not None and len(both.native.free) == 1 and len(both.bodies) > 2
    box = both.native.free[0]
    found = {probe.title: probe for probe in probes_of(both, KINDS)}
    assert list(found) == ["settle", "drop", f"push {box}", f"tip {box}"]


@by_engine
def test_a_probe_does_to_a_body_what_it_says(name: str, folder: Path) -> None:
    """Raised by 0.3 m; p / m sideways; turned by 0.2 rad about x, its centre of mass 0.1 m up. In single precision."""
    engine, word = engine_of(name), level(folder, name, BOX)
    plain = scene_of(engine, word, 0.2)
    assert plain.native is not None
    body, (box,) = plain.bodies[0], plain.native.free
    before = motion_of(engine, plain)
    scene, motion = probed(engine, word, Probe(kind="settle"))
    assert motion.state_hash == before.state_hash
    scene, motion = probed(engine, word, Probe(kind="drop", size=0.3))
    assert scene.bodies[0].position == pytest.approx(np.add(body.position, (0.0, 0.0, 0.3)), abs=2e-5)
    assert np.abs(motion.position - before.position - np.array([0.0, 0.0, 0.3])).max() < 2e-5
    scene, motion = probed(engine, word, Probe(kind="push", body=box, size=4.8))
    speed = 4.8 / (body.mass or 0.0)
    assert np.abs(motion.velocity - before.velocity - np.array([speed, 0.0, 0.0])).max() < 2e-5
    scene, motion = probed(engine, word, Probe(kind="tip", body=box, size=0.2, lift=0.1))
    assert np.abs(motion.position[0] - before.position[0] - np.array([0.0, 0.0, 0.1])).max() < 2e-5
    turn, was = (rotation_matrix(one.orientation[0, 0]) for one in (motion, before))
    assert turn @ was.T == pytest.approx(
        np.array([[1, 0, 0], [0, math.cos(0.2), -math.sin(0.2)], [0, math.sin(0.2), math.cos(0.2)]]), abs=1e-5
    )
    with pytest.raises(ModelError, match="'none' is no free body of the world"):
        probed(engine, word, Probe(kind="push", body="none", size=1.0))


@by_engine
def test_a_box_is_swept_away_from_the_ground(name: str, folder: Path) -> None:
    """Rapier lists contacts from its prediction distance of 2 cm on, PhysX from both contact offsets of 1 cm on, DART
    from contact on."""
    engine, word = engine_of(name), level(folder, name, BOX, GROUND)
    plain = scene_of(engine, word)
    assert plain.native is not None and plain.native.sweeps
    other = [member.name for member in (*plain.bodies, *plain.boundaries)][-1]
    down = Probe(
        kind="separation", body=plain.native.free[0], other=other, size=1e-5, first=-0.1002, direction=(0, 0, 1)
    )
    scene = engine.describe(function_model(word).model_copy(update={"probe": down}), 2.0, "", {})
    motion = motion_of(engine, scene, dt=0.02)
    assert motion.velocity[:, 0] == pytest.approx(0.0) and np.ptp(motion.orientation[:, 0], axis=0).max() == 0.0
    values, _ = measured(scene, motion)
    assert values == {"contact_range": pytest.approx({"rapier": 0.02, "physx": 0.02, "dart": 0.0}[name], abs=2e-5)}
    tied = scene_of(engine, level(folder, name, BOX, PENDULUM))
    assert tied.native is not None and not tied.native.sweeps  # what joints tie is not set by poses


@by_engine
def test_what_is_no_such_world_is_one_line(name: str, folder: Path) -> None:
    engine = engine_of(name)
    for text, said in (
        ("def build():\n    return 3\n", "returned 3 (int); it should be a"),
        ("def build():\n    raise RuntimeError('no level\\n7')\n", "raised RuntimeError: no level 7"),
        (f"{IMPORTS[name]}\ndef build():\n    {'; '.join(WORLD[name])}\n    return w\n", "no body of it can move"),
    ):
        module = f"wrong_{next(NUMBERS)}"
        (folder / f"{module}.py").write_text(text, encoding="utf-8")
        with pytest.raises(ModelError) as error:
            engine.describe(function_model(f"{module}:build"), 1.0, "", {})
        assert said in str(error.value) and "\n" not in str(error.value)


@by_engine
def test_a_function_that_builds_another_world_each_time_is_refused(name: str, folder: Path) -> None:
    engine = engine_of(name)
    raised = {
        "rapier": "import random; b = [b for _, b in w.rigid_bodies][0]; b.translation = (random.random(), 0, 5)",
        "physx": "import random; a.pose = sapien.Pose([random.random(), 0, 5])",
        "dart": "import random; t.set_translation([random.random(), 0, 5]); j.setTransform(t)",
    }
    scene = scene_of(engine, level(folder, name, BOX, more=raised[name]))
    with pytest.raises(ModelError, match=r"builds another world each time: where 'b.*' starts; seed its random"):
        motion_of(engine, scene)


def test_what_of_a_world_is_not_measured_is_named(folder: Path) -> None:
    """Rapier has most of what may be beside bodies in one place."""
    engine = engine_of("rapier")
    more = (
        "w.add_body(r.RigidBody.dynamic().linear_damping(0.5).gravity_scale(0.5), [r.Collider.cone(0.2, 0.1)]); "
        "w.add_body(r.RigidBody.kinematic_velocity_based(), [r.Collider.ball(0.1)])"
    )
    scene = scene_of(engine, level(folder, "rapier", BOX, more=more))
    assert scene.native is not None
    lines = "\n".join(scene.native.unmeasured)
    for said in ("a shape of body 1, cone; its gaps", "a kinematic body", "damping of motion of bodies: body 1",
                 "weight of bodies, by a scale: body 1", "energy: some of these"):  # fmt: skip
        assert said in lines, lines
    _, outcomes = measured(scene, motion_of(engine, scene))
    assert not wrong(outcomes)


@pytest.mark.parametrize("name", ["rapier", "physx"])
def test_the_command_runs_a_function(name: str, folder: Path) -> None:
    engine_of(name)
    word = level(folder, name, BOX, GROUND)
    done = upright("run", word, "--engine", name, "--duration", "1", "--json", folder=folder)
    assert done.returncode == 0, done.stderr
    assert '"outcome": "completed"' in done.stdout
    refused = upright("run", word, "--engine", "pymunk", folder=folder)
    assert refused.returncode == 2 and "Traceback" not in refused.stderr

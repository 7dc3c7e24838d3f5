"""Controls that are played to a model of pybullet, the probe that holds it, and the sweep that moves a base away."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pb = pytest.importorskip("pybullet")

from scenarios.native import Controls, Model  # noqa: E402
from tests.validation.command import upright  # noqa: E402
from tests.validation.engines.test_pybullet_models import (  # noqa: E402
    BALL,
    BOX,
    DT,
    ENGINE,
    joint,
    link,
    model_of,
    motion_of,
    scene_of,
)
from validation.engines.engine import ModelError, Value  # noqa: E402
from validation.running.model_files import read_model  # noqa: E402
from validation.running.probes import SWEEP_STEP, probed, probes_of  # noqa: E402

LIMITED = "<limit lower='-2' upper='1.5' effort='9' velocity='9'/>"
ARM = (
    link("base", 0),
    link("upper", 1.0, at="0.2 0 0", inertia="0.001 0.01 0.01"),
    link("hand", 0.5, at="0.1 0 0", inertia="0.001 0.005 0.005"),
    joint("elbow", "revolute", "base", "upper", at="0 0 1", more=LIMITED),
    joint("reach", "prismatic", "upper", "hand", at="0.4 0 0", axis="1 0 0", more=LIMITED),
)
TIMES = (0.1, 0.35)
ROWS = ((0.4, 0.05), (-0.3, 0.1))


def with_controls(model: Model, rows: tuple[tuple[float, ...], ...] = ROWS, times: tuple[float, ...] = TIMES) -> Model:
    played = model.start.model_copy(update={"controls": Controls(times=times, rows=rows)})
    return model.model_copy(update={"start": played})


def by_pybullet_alone(folder: Path, mode: int, name: str) -> np.ndarray:
    """Joint angles and ways after 1 s, of a program that gives its joints the rows from their times on."""
    (folder / "robot.urdf").write_bytes(model_of(*ARM).files[0].content())
    client = pb.connect(pb.DIRECT)
    try:
        pb.setGravity(0.0, 0.0, -9.81, physicsClientId=client)
        robot = pb.loadURDF(str(folder / "robot.urdf"), physicsClientId=client)
        if name == "forces":
            for k in (0, 1):
                pb.setJointMotorControl2(robot, k, pb.VELOCITY_CONTROL, force=0.0, physicsClientId=client)
        for step in range(240):
            begun = [row for time, row in zip(TIMES, ROWS) if time <= step * DT + 1e-9]
            if begun:
                pb.setJointMotorControlArray(robot, [0, 1], mode, **{name: begun[-1]}, physicsClientId=client)
            pb.stepSimulation(physicsClientId=client)
        return np.array([row[0] for row in pb.getJointStates(robot, [0, 1], physicsClientId=client)])
    finally:
        pb.disconnect(client)


@pytest.mark.parametrize(
    ("control", "mode", "name"),
    [
        ("position", pb.POSITION_CONTROL, "targetPositions"),
        ("velocity", pb.VELOCITY_CONTROL, "targetVelocities"),
        ("torque", pb.TORQUE_CONTROL, "forces"),
    ],
)
def test_controls_move_a_model_as_a_program_of_pybullet_alone(
    control: str, mode: int, name: str, tmp_path: Path
) -> None:
    scene = scene_of(with_controls(model_of(*ARM)), 1.0, control=control)
    world = ENGINE.build(scene, DT, {"control": control})
    for _ in range(240):
        world.step(watched=False)
    reached = [row[0] for row in pb.getJointStates(world.loaded.bodies[0], [0, 1], physicsClientId=world.loaded.client)]
    alone = by_pybullet_alone(tmp_path, mode, name)
    assert np.abs(alone).max() > 0.01
    assert reached == alone.tolist()
    assert scene.native is not None and not scene.native.conserves
    assert any(line.startswith("energy") for line in scene.native.unmeasured)


def test_a_torque_turns_a_link_by_half_of_torque_over_inertia_times_time_squared() -> None:
    """Without gravity, but for pybullet's damping of motion: w' = T / I - 0.04 (1 + w) w."""
    arm = link("base", 0), link("wheel", 1.0, inertia="0.5 0.5 0.5"), joint("axle", "continuous", "base", "wheel")
    given: dict[str, Value] = {"control": "torque", "gravity": 0.0, "inertia_from_file": True}
    scene = scene_of(with_controls(model_of(*arm), ((0.6,),), ()), 1.0, **given)
    motion = motion_of(scene, **given)
    spin, h = 0.0, 1e-4
    for _ in range(10_000):
        spin += h * (0.6 / 0.5 - 0.04 * (1.0 + spin) * spin)
    assert spin < 0.97 * 1.2 and motion.spin[-1, 0, 1] == pytest.approx(spin, abs=2e-3)


def test_how_far_joints_are_from_their_targets_is_read_and_a_weak_motor_stays_behind() -> None:
    model = with_controls(model_of(*ARM))
    for force, low, high in ((1e5, 0.0, 2e-3), (1e-3, 0.2, 3.0)):
        given: dict[str, Value] = {"control_force": force}
        internals = motion_of(scene_of(model, 2.0, **given), **given).internals
        assert internals is not None and internals.tracking_angle is not None and internals.tracking_travel is not None
        assert internals.tracking_angle[0] == 0.0 and low <= internals.tracking_angle[-1] <= high


def test_controls_that_do_not_fit_are_one_line() -> None:
    with pytest.raises(ModelError, match="controls has 1 numbers in a row; the model has 2 hinges and sliders"):
        motion_of(scene_of(with_controls(model_of(*ARM), ((1.0,),), ())))


def test_to_hold_is_to_give_joints_the_positions_that_they_have() -> None:
    start = {"joint_positions": (0.4, 0.1)}
    model = model_of(*ARM, start=start)
    plain = scene_of(model)
    assert plain.native is not None and len(plain.native.servos) == 2
    assert plain.native.controls == ((-2.0, 1.5), (-2.0, 1.5))
    (hold,) = probes_of(plain, ("hold",))
    held = probed(with_controls(model), hold)  # which are not played
    still = motion_of(scene_of(held, motors=False), motors=False)
    fallen = motion_of(scene_of(model, motors=False), motors=False)
    assert np.abs(still.position[-1] - still.position[0]).max() < 2e-3
    assert np.abs(fallen.position[-1] - fallen.position[0]).max() > 0.1
    assert still.internals is not None and still.internals.tracking_angle is not None


@pytest.mark.parametrize("breaking", [0.02, 0.0005])
def test_a_sweep_finds_the_gap_from_which_on_pybullet_lists_contacts(breaking: float) -> None:
    """That is its contact_breaking_threshold times the bounding radius of the smaller. The box begins 1 mm above."""
    box = link("box", 1.0, BOX)
    given: dict[str, Value] = {"ground": True, "base_height": 0.201, "contact_breaking_threshold": breaking}
    model, of_loading = model_of(box), {name: given[name] for name in ("ground", "base_height")}
    scene = scene_of(model, **of_loading)
    (probe,) = probes_of(scene, ("separation",))
    assert (probe.body, probe.other) == ("box", "ground")
    swept = scene_of(model.model_copy(update={"probe": probe}), 2.0, **of_loading)
    motion = motion_of(swept, SWEEP_STEP, **given)
    there, height = motion.internals.in_contact, motion.position[:, 0, 2] - 0.2  # type: ignore[union-attr]
    assert there is not None and there.min() == 0.0 and there.max() == 1.0
    assert float(height[there > 0.0].max()) == pytest.approx(breaking * np.sqrt(0.01 + 0.0225 + 0.04), abs=1.1e-5)
    assert np.diff(height) == pytest.approx(np.full(100, 1e-5), abs=1e-9)


@pytest.mark.parametrize("marked", ["package://", "package:///"])
def test_meshes_of_a_ros_package_are_found_below_its_name(marked: str, tmp_path: Path) -> None:
    """`package://arms/meshes/part.obj`, where the root is the folder arms with its package.xml; it is packed once."""
    (tmp_path / "arms/meshes").mkdir(parents=True)
    (tmp_path / "arms/urdf").mkdir()
    (tmp_path / "arms/package.xml").write_text("<package/>", encoding="utf-8")
    corners = "\n".join(f"v {x} {y} {z}" for x in (0, 1) for y in (0, 1) for z in (0, 1))
    faces = "f 1 2 3\nf 2 3 4\nf 5 6 7\nf 6 7 8\nf 1 2 5\nf 2 5 6\nf 3 4 7\nf 4 7 8"
    (tmp_path / "arms/meshes/part.obj").write_text(f"{corners}\n{faces}\n", encoding="utf-8")
    mesh = f"<mesh filename='{marked}arms/meshes/part.obj'/>"
    (tmp_path / "arms/urdf/arm.urdf").write_bytes(model_of(link("part", 1.0, mesh)).files[0].content())
    model = read_model(str(tmp_path / "arms/urdf/arm.urdf"))
    assert [one.path for one in model.files] == ["arms/meshes/part.obj", "meshes/part.obj", "urdf/arm.urdf"]
    assert len(scene_of(model).bodies) == 1


def test_the_command_probes_holds_and_plays(tmp_path: Path) -> None:
    parts = (link("base", 1.0, BALL), link("arm", 1.0, at="0.3 0 0"), joint("j", "continuous", "base", "arm"))
    (tmp_path / "robot.urdf").write_bytes(model_of(*parts).files[0].content())
    np.savez(tmp_path / "demo.npz", controls=[[0.0], [0.5]], control_rate=5.0, base_position=[0.0, 0.0, 0.1])
    engine = ("--engine", "pybullet:ground=true", "--duration", "0.3")
    done = upright("probe", "robot.urdf", *engine, "--probe", "hold", "--probe", "separation", folder=tmp_path)
    assert done.returncode == 0 and "hold" in done.stdout, done.stderr
    done = upright("run", "robot.urdf", *engine, "--from", "demo.npz", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "tracking_final_angle" in done.stdout

"""What is done to a model to try it: each probe as mechanics has it, and as a case of a run or a comparison."""

from __future__ import annotations

import json
from pathlib import Path

import mujoco
import numpy as np
import pytest

from scenarios.native import Model, Probe
from scenarios.scene import SpatialScene, write_scene
from tests.validation.command import upright
from tests.validation.engines.mujoco_models import ENGINE, PLANE, measured, model_of, motion_of, scene_of, wrong
from validation.engines.engine import ModelError
from validation.records.trajectory import SpatialTrajectory
from validation.report.probes import probe_title
from validation.running.model_files import read_model
from validation.running.models import models_of
from validation.running.options import ModelOptions
from validation.running.probes import KINDS, SWEEP_STEP, probes_of
from validation.running.starts import perturbed, recorded_starts

G = 9.81
CELL = Path(__file__).parents[3] / "ci/benchmarks/data/cell.xml"
CRATE = (
    "<body name='crate' pos='0 0 {z}'><freejoint/><geom type='box' size='0.1 0.1 0.1' mass='2' pos='0.02 0 0'/></body>"
)
ARM = (
    "<body name='arm' pos='2 0 1'><joint name='hinge' axis='0 1 0' damping='0.5'/>"
    "<geom type='capsule' size='0.02' fromto='0 0 0 0.3 0 0' mass='1'/></body>"
)
SERVO = "<actuator><position name='servo' joint='hinge' kp='200'/><motor joint='hinge'/></actuator>"
LYING = CRATE.format(z=0.1)


def probed(model: Model, probe: Probe, duration: float = 0.5) -> SpatialScene:
    return scene_of(model.model_copy(update={"probe": probe}), duration)


def found(model: Model) -> dict[str, Probe]:
    return {probe.title: probe for probe in probes_of(scene_of(model), KINDS)}


def test_a_model_has_the_probes_that_it_has_something_for() -> None:
    both = model_of(PLANE + LYING + ARM, more=SERVO)
    apart = "separation crate from ground"
    assert list(found(both)) == ["settle", "hold", "drop", "push crate", "tip crate", apart]
    assert list(found(model_of(PLANE + LYING))) == ["settle", "drop", "push crate", "tip crate", apart]
    assert list(found(model_of(ARM, more=SERVO))) == ["settle", "hold"]
    on_top = CRATE.format(z=0.3).replace("crate", "upper")
    tipped = [title for title in found(model_of(PLANE + LYING + on_top)) if title.startswith("tip")]
    assert tipped == ["tip upper"]  # nothing stands on it
    assert list(found(model_of(LYING, option="gravity='0 0 0'"))) == ["settle", "push crate", "tip crate"]


def test_to_settle_is_to_let_go_of_the_model_as_it_is() -> None:
    model = model_of(PLANE + LYING)
    assert motion_of(probed(model, Probe(kind="settle"))).state_hash == motion_of(scene_of(model, 0.5)).state_hash


def test_what_is_dropped_falls_from_so_far_above() -> None:
    """sqrt(2 h / g) until it touches, and all free bodies alike."""
    model = model_of(PLANE + LYING + CRATE.format(z=0.1).replace("'crate'", "'other' ").replace("pos='0 0", "pos='1 0"))
    probe = found(model)["drop"]
    assert probe.size == 0.02  # a tenth of the width
    scene = probed(model, probe)
    assert [body.position[2] for body in scene.bodies] == pytest.approx([0.12, 0.12])
    motion = motion_of(scene)
    fell = motion.time[int(np.argmax(motion.position[:, 0, 2] < 0.1))]
    assert fell == pytest.approx(np.sqrt(2.0 * 0.02 / G), abs=0.004)


def test_a_push_is_an_impulse_at_the_centre_of_mass() -> None:
    model = model_of(CRATE.format(z=1.0), option="gravity='0 0 0'")
    scene = probed(model, Probe(kind="push", body="crate", size=3.0))
    motion = motion_of(scene)
    assert motion.velocity[-1, 0] == pytest.approx((1.5, 0.0, 0.0), abs=1e-12)  # p / m
    assert np.abs(motion.spin).max() < 1e-12
    assert 0.5 * found(model_of(PLANE + LYING))["push crate"].size == pytest.approx(np.sqrt(2 * G * 0.04), rel=0.2)


def test_what_is_tipped_stands_aslant_clear_of_the_ground_about_its_centre() -> None:
    model = model_of(PLANE + LYING)
    scene, before = probed(model, found(model)["tip crate"], 2.0), scene_of(model)
    turned, body = scene.bodies[0], before.bodies[0]
    assert 2.0 * np.arccos(turned.orientation[0]) == pytest.approx(np.radians(10.0), rel=1e-9)
    assert turned.position[:2] == pytest.approx(body.position[:2], abs=1e-12) and turned.position[2] > body.position[2]
    assert scene.native is not None and scene.native.overlap == 0.0
    values, outcomes = measured(scene, motion_of(scene))
    assert values["penetration_final"] < 1e-3 and not wrong(outcomes)


def test_to_hold_is_to_give_servos_the_positions_that_they_have() -> None:
    model = model_of(ARM, more=SERVO, option="gravity='0 0 0'")
    start = model.start.model_copy(update={"values": {"qpos": (0.4,)}})
    scene = probed(model.model_copy(update={"start": start}), found(model)["hold"])
    world = ENGINE.build(scene, 0.002, {})
    assert world.data.ctrl.tolist() == [0.4, 0.0]
    assert measured(scene, motion := motion_of(scene))[0]["tracking_final_angle"] == 0.0
    assert np.ptp(motion.position[:, 0], axis=0).max() == 0.0


@pytest.mark.parametrize("margin", [0.0, 3e-4, 7.65e-3])
def test_contact_begins_where_the_gap_is_the_margin_of_the_model(margin: float) -> None:
    """In steps of 10 um, to one of them; from 0.2 mm deep on, whatever the gap at the start, or whole sweeps later."""
    lifted = CRATE.format(z=0.1005).replace("<geom ", f"<geom margin='{margin}' ")
    upper = CRATE.format(z=0.3).replace("crate", "upper").replace("'0.1 0.1 0.1'", "'0.05 0.05 0.1'")
    model = model_of(PLANE + lifted + upper)
    probes = {title: probe for title, probe in found(model).items() if probe.kind == "separation"}
    assert sorted(probes) == ["separation crate from ground", "separation upper from crate"]
    for probe in probes.values():
        scene = probed(model, probe, 2.0)
        motion = ENGINE.simulate(scene, SWEEP_STEP, {})
        assert isinstance(motion, SpatialTrajectory) and len(motion.time) == 101
        moved = [body.name for body in scene.bodies].index(probe.body)
        way = np.diff(motion.position[:, moved], axis=0)
        assert way == pytest.approx(np.tile(1e-5 * np.array(probe.direction), (100, 1)), abs=1e-12)
        values, outcomes = measured(scene, motion)
        assert [*values] == ["contact_range"] and outcomes == ()
        assert values["contact_range"] == pytest.approx(margin, abs=1.01e-5)


def test_a_body_that_is_not_free_is_named() -> None:
    with pytest.raises(ModelError, match="probe: 'arm' is no free body"):
        probed(model_of(ARM), Probe(kind="push", body="arm", size=1.0))


def test_a_probe_is_part_of_what_a_model_is_known_by() -> None:
    model = model_of(PLANE + LYING)
    digests = {
        one.digest(1.0) for one in (model, *(model.model_copy(update={"probe": p}) for p in found(model).values()))
    }
    assert len(digests) == 1 + len(found(model))
    assert probe_title("cell.xml+grip+push-cube") == "grip push-cube" and probe_title("stack") == "stack"


def test_the_recorded_starts_of_the_cell_are_of_four_kinds_and_all_is_measured() -> None:
    """They were at rest in MuJoCo 3.3.7; whatever this release does, nothing flies off or falls."""
    for name in ("open", "grip", "lift", "stack"):
        scene = scene_of(read_model(str(CELL), start=name), 0.5)
        assert scene.native is not None and not scene.native.unmeasured
        assert set(scene.native.free) == {"lower", "upper", "cube"} and len(scene.native.servos) == 3
        values, outcomes = measured(scene, motion := motion_of(scene))
        assert values["energy_gain"] < 0.05 and "tracking_final_travel" in values and not wrong(outcomes)
        assert np.ptp(motion.position[:, :, 2], axis=0).max() < 0.005
    assert mujoco.MjModel.from_xml_path(str(CELL)).nkey == 4


# --- the command ---------------------------------------------------------------------------------------------------

MODEL = f"<mujoco><worldbody>{PLANE}{LYING}{ARM}</worldbody>{SERVO}</mujoco>"


def test_probes_of_one_engine_are_cases_of_a_run(tmp_path: Path) -> None:
    (tmp_path / "model.xml").write_text(MODEL, encoding="utf-8")
    given = ("model.xml", "--engine", "mujoco", "--duration", "0.2", "--probe", "settle", "--probe", "push")
    done = upright("probe", *given, "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    cases = [json.loads(line) for line in done.stdout.splitlines()]
    assert [case["scenario"] for case in cases] == ["model.xml+settle", "model.xml+push-crate"]
    assert all(case["outcome"] == "completed" for case in cases)
    label = f"model.xml+push-crate:content={cases[1]['parameters']['content'][:8]}"
    again = upright("run", label, "--engine", "mujoco", "--fresh", "--json", folder=tmp_path)
    assert json.loads(again.stdout)["trajectory_hash"] == cases[1]["trajectory_hash"], again.stderr


@pytest.mark.slow
def test_probes_of_two_engines_are_compared_in_a_table(tmp_path: Path) -> None:
    (tmp_path / "model.xml").write_text(MODEL, encoding="utf-8")
    given = (
        "model.xml",
        "-e",
        "mujoco",
        "-e",
        "mujoco:integrator=implicitfast",
        "--duration",
        "0.2",
        "--ensemble",
        "0",
    )
    done = upright("probe", *given, "--probe", "settle", "--probe", "hold", folder=tmp_path)
    assert done.returncode in (0, 1), done.stderr
    assert "2 probes" in done.stdout and "Stored as comparison 1" in done.stdout
    rows = [line for line in done.stdout.splitlines() if line.startswith(("settle ", "hold "))]
    assert len(rows) == 2 and "Traceback" not in done.stderr


def test_a_folder_of_states_is_one_ensemble_of_a_comparison(tmp_path: Path) -> None:
    """Twelve states of a tall crate, of which the more slanted fall: one case, whose starts are the recorded ones."""
    tall = CRATE.format(z=0.3).replace("'0.1 0.1 0.1'", "'0.05 0.05 0.3'")
    (tmp_path / "tall.xml").write_text(f"<mujoco><worldbody>{PLANE}{tall}</worldbody></mujoco>", encoding="utf-8")
    (tmp_path / "starts").mkdir()
    tilts = np.linspace(0.0, 0.5, 12)
    for k, tilt in enumerate(tilts):
        pose = (0.0, 0.0, 0.31, np.cos(0.5 * tilt), np.sin(0.5 * tilt), 0.0, 0.0)
        np.savez(tmp_path / f"starts/s{k:02}.npz", qpos=pose)
    word, folder = str(tmp_path / "tall.xml"), str(tmp_path / "starts")
    (one,) = models_of(word, ModelOptions(starts=(folder,), together=True))
    assert one.name == "tall.xml+starts" and len(one.model.others) == 11
    assert len(models_of(word, ModelOptions(starts=(folder,)))) == 12
    scene = one.described(write_scene(scene_of(one.model, 2.0))).scene
    assert recorded_starts(scene) == 12
    ends = [motion_of(perturbed(scene, 1, k)).position[-1, 0, 2] for k in range(12)]
    stands = [end > 0.25 for end in ends]
    assert stands == sorted(stands, reverse=True) and 2 <= sum(stands) <= 8
    given = ("compare", "mujoco", "mujoco:solver=pgs,iterations=1", "tall.xml", "--from", "starts", "--json")
    done = upright(*given, folder=tmp_path)
    assert done.returncode in (0, 1), done.stderr
    (line,) = [json.loads(text) for text in done.stdout.splitlines()]
    assert line["scenario"] == "tall.xml+starts"
    for kept in range(3, 12):
        (tmp_path / f"starts/s{kept:02}.npz").unlink()
    assert len(models_of(word, ModelOptions(starts=(folder,), together=True))) == 3  # too few for an ensemble


def test_a_folder_of_states_is_run_from_each(tmp_path: Path) -> None:
    (tmp_path / "model.xml").write_text(MODEL, encoding="utf-8")
    (tmp_path / "starts").mkdir()
    for k in range(3):
        np.savez(tmp_path / f"starts/s{k}.npz", qvel=np.full(7, 0.01 * k))
    given = ("model.xml", "--engine", "mujoco", "--duration", "0.1", "--from", "starts", "--json")
    done = upright("run", *given, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    cases = [json.loads(line) for line in done.stdout.splitlines()]
    assert [case["scenario"] for case in cases] == [f"model.xml+s{k}" for k in range(3)]
    assert len({case["trajectory_hash"] for case in cases}) == 3
    (tmp_path / "empty").mkdir()
    none = upright("run", *given[:-2], "empty", folder=tmp_path)
    assert none.returncode == 2 and "a folder with 0 .npz files; allowed: 1 to" in none.stderr


def test_what_cannot_be_probed_is_one_line(tmp_path: Path) -> None:
    fixed = MODEL.replace(LYING, "").replace(SERVO, "")
    (tmp_path / "fixed.xml").write_text(fixed, encoding="utf-8")
    for given, said in (
        (("stack",), "'stack' is no model; give the path of a .xml or .urdf file"),
        (("fixed.xml", "--probe", "drop"), "fixed.xml: nothing to probe by drop"),
        (("fixed.xml", "--probe", "throw"), "'throw' is not one of"),
    ):
        done = upright("probe", *given, "--engine", "mujoco", folder=tmp_path)
        assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr, done.stderr

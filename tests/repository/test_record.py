"""The recording of 8df027a can be read, and `ci/record.py compare` finds what is planted in a database."""

from __future__ import annotations

import copy
import importlib.util
import json
import sqlite3
import sys
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
SPEC = importlib.util.spec_from_file_location("record", ROOT / "ci" / "record.py")
assert SPEC is not None and SPEC.loader is not None
record = sys.modules["record"] = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(record)

REASON = [{"engine": "*", "case": "*", "reason": "planted"}]
SCENE = {
    "duration": 2.0,
    "gravity": [0.0, -9.81],
    "bodies": [{"name": "ball", "fixed": False, "shape": {"kind": "disc", "radius": 0.5}}],
}
METRICS = {  # value, unit, noise, resolution
    "truth_error_position": (1e-9, "m", "tolerance", 1e-6),
    "truth_error_angle": (1e-16, "rad", "tolerance", 1e-6),
    "energy_drift": (1e-3, "J", "tolerance", 1e-6),
    "rest_drift": (1e-4, "m", "chaotic", 1e-6),
}
TABLES = {
    "runs": ("id",),
    "scenes": ("hash", "json"),
    "trajectories": ("key", "data"),
    "cases": (
        *("id", "run_id", "label", "engine_label", "engine", "profile", "engine_version", "identity_key", "scene_hash"),
        *("settings", "outcome", "reason", "trajectory_hash", "trajectory_key", "dt"),
    ),
    "verdicts": ("case_id", "word", "defects"),
    "measurements": ("case_id", "metric", "position", "value", "unit", "noise", "resolution"),
}


def packed(**arrays: np.ndarray) -> bytes:
    """A trajectory as the table has it, without a byte that counts as noise."""
    listed, plain = [], b""
    for name, array in arrays.items():
        listed.append([name, array.dtype.kind + "8", list(array.shape)])
        columns = np.ascontiguousarray(array.reshape(len(array), -1).T).view(np.uint8).reshape(-1, 8)
        plain += np.ascontiguousarray(columns.T).tobytes()
    body = zlib.compress(plain)
    head = json.dumps({"packing": 1, "noise": [0] * len(arrays), "packed": len(body)}).encode()
    return b"".join((head, b"\n", json.dumps({"format": 1, "arrays": listed}).encode(), b"\n", body))


def bounces(*, move: float = 0.0, late: float = 0.0) -> bytes:
    """A ball that falls and bounces at 0.4 and 1.3 s; `move` is of its height, m, `late` of the second bounce, s."""
    time = np.linspace(0.0, 2.0, 481)
    pose = np.stack([0.0 * time, 1.0 + np.cos(time) + move, time], axis=1)[:, None]
    ends = {"impacts.a": np.array([0, 0]), "impacts.b": np.array([1, 1]), "impacts.time": np.array([0.4, 1.3 + late])}
    return packed(time=time, **ends, pose=pose, twist=0.0 * pose)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """One scene on the reference engine and on a peer."""
    path = tmp_path / "run.db"
    with sqlite3.connect(path) as connection:
        for table, columns in TABLES.items():
            connection.execute(f"create table {table} ({', '.join(columns)})")

        def insert(table: str, *values: Any) -> None:
            connection.execute(f"insert into {table} values ({', '.join('?' * len(values))})", values)

        insert("runs", 1)
        insert("scenes", "5ce4e", json.dumps(SCENE))
        insert("trajectories", "0", bounces())
        for case, engine in enumerate(("reference", "peer"), start=1):
            insert("cases", case, 1, "ball", engine, engine, "fair", "1.0", f"ball {engine}", "5ce4e", "{}",
                   "completed", "", "state", "0", 1.0 / 240.0)  # fmt: skip
            insert("verdicts", case, "new", "[]")
            for position, (metric, values) in enumerate(METRICS.items()):
                insert("measurements", case, metric, position, *values)
    return path


def recording(database: Path) -> dict[str, Any]:
    cases = [record.recorded(*each) for each in record.cases_of(database)]
    return {"commit": "8df027a", "machine": record.machine(), "cases": cases}


def planted(database: Path, command: str, *values: Any) -> None:
    with sqlite3.connect(database) as connection:
        assert connection.execute(command, values).rowcount > 0


def value_of(database: Path, engine: int, metric: str, value: float) -> None:
    planted(database, "update measurements set value = ? where case_id = ? and metric = ?", value, engine, metric)


def test_the_recording_is_whole() -> None:
    data = record.read(record.RECORD)
    assert data["commit"].startswith("8df027a")
    assert Counter(case["engine"] for case in data["cases"]) == dict.fromkeys(
        ("reference", "pymunk", "box2d", "pybullet", "mujoco"), 124
    )
    ours = [case for case in data["cases"] if "half" in case]
    assert len(ours) == 98 and all(case["scale"] > 0.0 and np.isfinite(case["half"][1]).all() for case in ours)
    assert all(case["metrics"] and case["parts"] and case["hash"] for case in ours)
    assert len(data["contactsim"]) == len(list(record.CONTACTSIM_RUNS.glob("*.json"))) == 42
    assert len(data["seeded"]["rows"]) == 34 and data["seeded"]["pairs"] >= 200
    assert all({"engine", "case", "reason"} <= line.keys() for line in json.loads(record.REASONS.read_text()))


def test_the_tables_are_read_as_the_store_packs_them() -> None:
    from validation.records.trajectory import Impacts, PlanarTrajectory, to_bytes
    from validation.store.compression import pack

    pose = np.random.default_rng(1).normal(size=(600, 2, 3))
    ends = {name: np.array([0, 1]) for name in ("a", "b")}
    impacts = Impacts(time=np.array([0.1, 0.2]), point=pose[:2, 0, :2], impulse=pose[:2, 1, :2], **ends)
    time = np.arange(600) / 240.0
    made = PlanarTrajectory(time=time, dt=1 / 240, velocity_lag=0.0, pose=pose, twist=2.0 * pose, impacts=impacts)
    arrays = sys.modules["stored_run"].motion_of(pack(to_bytes(made)))
    assert (arrays["pose"] == pose).all() and (arrays["twist"] == 2.0 * pose).all() and (arrays["time"] == time).all()
    assert record.events_of(arrays) == [[0.1, 0, 0], [0.2, 1, 1]]


def test_the_same_database_has_no_miss(database: Path) -> None:
    assert record.compare(recording(database), database, []) == 0


def test_one_bit_of_a_metric_needs_a_reason(database: Path, capsys: pytest.CaptureFixture[str]) -> None:
    was = recording(database)
    value_of(database, 1, "energy_drift", np.nextafter(1e-3, 1.0))
    assert record.compare(was, database, []) == 1
    assert "no reason in recorded/moved.json" in capsys.readouterr().out
    assert record.compare(was, database, REASON) == 0


@pytest.mark.parametrize(
    ("motion", "misses"),
    [({"move": 1e-13}, 0), ({"move": 1e-10}, 1), ({"late": 1e-12}, 0), ({"late": 1e-10}, 1)],
    ids=str,
)
def test_a_motion_moves_within_the_limits(database: Path, motion: dict[str, float], misses: int) -> None:
    was = recording(database)
    planted(database, "update trajectories set data = ?", bounces(**motion))
    assert record.compare(was, database, REASON) == misses
    assert record.compare(was, database, []) == 2  # neither case has a reason


def test_an_impact_behind_what_can_be_predicted_is_not_compared(database: Path) -> None:
    was = recording(database)
    was["cases"][0] |= {"until": 1.0, "events": was["cases"][0]["events"][:1]}
    planted(database, "update trajectories set data = ?", bounces(late=1e-3))
    assert record.compare(was, database, REASON) == 0


@pytest.mark.parametrize(
    ("metric", "value", "misses"),
    [
        ("truth_error_position", 1.9e-9, 1),  # within its limit, but the median grows
        ("truth_error_position", 2.1e-9, 2),
        ("truth_error_position", 0.5e-9, 0),
        ("truth_error_position", None, 2),
        ("truth_error_angle", 9e-13, 0),  # below 1e-12 rad
        ("energy_drift", 1.05e-3, 0),
        ("energy_drift", 1.2e-3, 1),
        ("rest_drift", 1.5e-3, 1),
    ],
)
def test_metrics_of_a_moved_motion(database: Path, metric: str, value: float | None, misses: int) -> None:
    was = recording(database)
    planted(database, "update trajectories set data = ?", bounces(move=1e-13))
    planted(database, "update measurements set value = ? where case_id = 1 and metric = ?", value, metric)
    assert record.compare(was, database, REASON) == misses


@pytest.mark.parametrize(
    ("metric", "value", "misses"), [("energy_drift", 1.05e-3, 0), ("energy_drift", 1.2e-3, 1), ("rest_drift", 1.0, 0)]
)
def test_a_peer_of_another_version_is_held_to_its_noise(database: Path, metric: str, value: float, misses: int) -> None:
    was = recording(database)
    planted(database, "update trajectories set data = ?", bounces(move=1e-3))
    planted(database, "update cases set engine_version = '1.1' where id = 2")
    planted(database, "update cases set trajectory_key = null, outcome = 'crashed' where id = 1")
    value_of(database, 2, metric, value)
    assert record.compare(was, database, []) == 1 + misses  # the case that crashed is one


def test_a_verdict_a_setting_or_a_case_is_a_miss(database: Path) -> None:
    was = recording(database)
    for command in (
        "update verdicts set word = 'defect' where case_id = 2",
        "update cases set settings = '{\"tolerance\": 1}' where id = 1",
        "delete from cases where id = 1",
    ):
        planted(database, command)
        assert record.compare(was, database, REASON) >= 1


def test_rows_are_compared_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    data = record.read(record.RECORD)
    assert record.compare_rows("ContactSim", data["contactsim"], dict(data["contactsim"])) == 0
    name = next(iter(data["contactsim"]))
    assert record.compare_rows("ContactSim", data["contactsim"], {**data["contactsim"], name: "0"}) == 1
    other = copy.deepcopy(data["seeded"])
    other["rows"][3]["verdict"] = "pass"
    assert record.compare_rows("seeded", record.seeded_rows(data["seeded"]), record.seeded_rows(other)) == 1
    assert name in capsys.readouterr().out

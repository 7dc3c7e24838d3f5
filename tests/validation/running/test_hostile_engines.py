"""What engines do to their process, to us and to the machine is told apart, bounded, and cleared away."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from scenarios.catalogue import scenario_of
from tests.validation.command import kept_servers
from validation.engines import engine_of
from validation.records.case import Result
from validation.records.trajectory import TrajectoryError, from_bytes
from validation.running.planning import Request, plan_cases
from validation.running.processes.frames import LENGTHS, MOST_BODY, GarbledError, Reader, pack
from validation.running.processes.pool import Pool
from validation.running.processes.received import hello_of, reply_of
from validation.running.runner import Limits, execute

ROOT = Path(__file__).parents[3]
PLUGINS = ROOT / "tests" / "plugins" / "hostile"
LIMITS = Limits(workers=2, time_limit=20.0)
DISC = {"name": "disc", "shape": {"kind": "disc", "radius": 0.1}, "mass": 1.0, "velocity": [0.0, 3.0]}
SCENE = {"dimension": 2, "duration": 0.5, "bodies": [DISC]}
FEW = {
    "misbehaving": ("ForksOn",),
    "meddling": ("PrintsOn", "LeavesTemporary", "AnswersTwice", "ClosesAll", "Forges", "HidesNaN", "Wordless"),
}


@pytest.fixture
def expected(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Of engines that are found as a user's would be: what a run should report."""
    monkeypatch.setenv("UPRIGHT_ENGINE_PATH", str(PLUGINS))
    monkeypatch.syspath_prepend(str(PLUGINS))
    modules = {module: importlib.import_module(module).ENGINES[module] for module in FEW}
    return {f"{module}.{name}": modules[module][name] for module, names in FEW.items() for name in names}


def test_what_engines_do_to_us_is_told_apart_and_nothing_is_left(
    expected: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (file := tmp_path / "flight.json").write_text(json.dumps(SCENE))
    (temporary := tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    results: dict[str, Result] = {}
    with kept_servers(), Pool() as pool:
        scenario = scenario_of(str(file))
        requests = [Request(scenario=scenario, engine=engine_of(word)) for word in (*expected, "honest.Honest")]
        execute(pool, plan_cases(pool, requests), LIMITS, lambda r: results.update({r.case.identity.engine: r}))
    for word, one in expected.items():
        found = results[word]
        assert (found.outcome, one.reason in found.reason) == (one.outcome, True), found.reason
        assert found.reason.isprintable()
    assert results["honest.Honest"].outcome == "completed"
    assert list(temporary.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("group", ["misbehaving", "meddling", "answering", "programs"])
def test_hostile_engines_beside_honest_ones_have_their_outcomes_each(group: str) -> None:
    command = [sys.executable, "-P", "ci/benchmarks/hostile_engines.py", "--group", group]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=3600, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


@pytest.mark.parametrize(
    ("data", "described"),
    [
        (LENGTHS.pack(1, MOST_BODY + 1), "it announces"),
        (LENGTHS.pack(2, 0) + b"[]", r"it begins with \[\]"),
        (LENGTHS.pack(4, 0) + b"!!!!", "it is not JSON"),
        (LENGTHS.pack(200_000, 0) + b"[" * 200_000, "it is not JSON"),
    ],
)
def test_bytes_that_are_no_message_are_said_to_be_none(data: bytes, described: str) -> None:
    with pytest.raises(GarbledError, match=described):
        Reader().feed(data)


@pytest.mark.parametrize(
    ("header", "described"),
    [
        ({"outcome": "perfect"}, "its outcome is 'perfect'"),
        ({"outcome": "completed", "reason": 5}, "its reason is 5"),
        ({"id": True}, "its id is True"),
        ({"trajectory_bytes": -7}, "trajectory_bytes is -7"),
        ({"trajectory_bytes": 7}, "trajectory_bytes is 7; it has 0"),
        ({"plans": [5]}, "a plan is 5"),
        ({"plans": [{"declined": 5}]}, "its declined is 5"),
    ],
)
def test_a_reply_with_a_value_of_another_type_is_refused(header: dict[str, Any], described: str) -> None:
    with pytest.raises(GarbledError, match=described):
        reply_of(header)


def test_a_reason_is_one_line_that_can_be_printed() -> None:
    found = reply_of({"outcome": "crashed", "reason": "a\x1b[2J\nb" + "x" * 10**6})
    assert found["reason"].isprintable() and len(found["reason"]) <= 2000


@pytest.mark.parametrize("header", [{"name": 5}, {"name": "x"}, {"error": ["x"]}])
def test_a_hello_that_is_none_is_refused(header: dict[str, Any]) -> None:
    with pytest.raises(GarbledError):
        hello_of(header)


@pytest.mark.parametrize(
    ("line", "described"),
    [
        (b"5\n", "no trajectory header"),
        (b"[" * 100_000, "no trajectory header"),
        (b'{"format": 1, "planar": true, "arrays": 5}\n', "arrays has 5"),
        (b'{"format": 1, "planar": true, "arrays": [["time", "f8", [-1]]]}\n', r"time: shape \[-1\]"),
        (b'{"format": 1, "planar": true, "arrays": [["time", "f8", "abc"]]}\n', "time: shape 'abc'"),
        (b'{"format": 1, "planar": true, "arrays": [["time", "f8", [99]]]}\n', "the bytes end early"),
        (b'{"format": 1, "planar": true, "arrays": [["a.b", "f8", [0]]]}\n', "a.b: is unknown"),
        (b'{"format": 1, "planar": true, "arrays": []}\nxxxxxxxx', "8 more bytes than"),
    ],
)
def test_bytes_that_are_no_trajectory_name_the_field(line: bytes, described: str) -> None:
    with pytest.raises(TrajectoryError, match=described):
        from_bytes(line)


def test_messages_are_read_as_they_were_packed() -> None:
    reader = Reader()
    assert reader.feed(pack({"id": 1}, b"abc")) == [({"id": 1}, b"abc")] and reader.rest == 0

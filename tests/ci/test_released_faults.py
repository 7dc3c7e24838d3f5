"""What released engines changed: the record is whole, and the benchmark counts as it says."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

from scenarios.catalogue import scenario_of
from validation.engines import engine_of
from validation.running import environments

BENCHMARKS = Path(__file__).parents[2] / "ci" / "benchmarks"
SIGNS = {"worse", "better", "mixed", "different", "same"}


@pytest.fixture(scope="module")
def faults() -> ModuleType:
    spec = importlib.util.spec_from_file_location("released_faults", BENCHMARKS / "released_faults.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_every_entry_names_a_scene_two_versions_a_sign_and_whose_it_is(faults: ModuleType) -> None:
    entries = faults.entries()
    assert len({entry.id for entry in entries}) == len(entries) >= 49
    for entry in entries:
        assert scenario_of(entry.scenario).scene.bodies
        assert entry.old != entry.new
        assert [engine_of(entry.word(v)).version for v in (entry.old, entry.new)] == [entry.old, entry.new]
        assert entry.sign in SIGNS and entry.by in ("maintainers", "measurement")
        assert entry.sources or entry.by == "measurement", "who says so is named"


def test_every_scene_file_is_of_an_entry_and_every_changed_scene_too(faults: ModuleType) -> None:
    used = {entry.scene for entry in faults.entries() if entry.scene.endswith(".json")}
    assert {path.name for path in (BENCHMARKS / "data" / "released").iterdir()} == used
    changes = json.loads((BENCHMARKS / "data" / "released_changes.json").read_text(encoding="utf-8"))["changes"]
    assert {given["scene"] for given in changes if given["scene"].endswith(".json")} <= used


def outcome(faults: ModuleType, label: str, forth: str, back: str) -> object:
    (entry,) = (e for e in faults.entries() if e.id == {"worse": "M01", "better": "M02", "mixed": "M35"}[label])
    return faults.Outcome(entry=entry, forth=forth, back=back)


def test_an_opposite_sign_is_counted_apart_from_another_sign_and_either_fails(faults: ModuleType) -> None:
    right = [outcome(faults, "worse", "worse", "better"), outcome(faults, "mixed", "mixed", "mixed")] * 4
    assert faults.summary(right) == ("8 of 8 as labelled, 0 opposite, 8 mirror images, 0 not reproduced", True)
    other = outcome(faults, "better", "different", "different")
    assert faults.summary([*right, other])[1] and not faults.summary([*right, other, other, other])[1]
    words, well = faults.summary([*right, outcome(faults, "better", "worse", "worse")])
    assert words == "8 of 9 as labelled, 1 opposite, 8 mirror images, 0 not reproduced" and not well


def test_an_entry_without_a_wheel_is_not_reproduced_and_no_entry_at_all_is_not_well(
    faults: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_wheel(*_: object, **options: object) -> None:
        raise environments.BuildError("mujoco==3.2.7: there is no such version")

    monkeypatch.setattr(faults, "compare_engines", no_wheel)
    missing = faults.outcome_of(faults.entries()[0])
    assert missing.reason == "mujoco==3.2.7: there is no such version"
    assert faults.summary([missing]) == ("0 of 0 as labelled, 0 opposite, 0 mirror images, 1 not reproduced", False)

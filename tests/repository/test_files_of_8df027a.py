"""What 8df027a wrote is still read: its database, its scenes. tests/data/8df027a/README.md says how they were made."""

from __future__ import annotations

import gzip
import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from scenarios.scene import content_hash, parse_scene, read_scene, write_scene
from tests.validation.command import call
from validation.store import open_store

FOLDER = Path(__file__).parents[1] / "data" / "8df027a"
SPEC = importlib.util.spec_from_file_location("dump", FOLDER / "dump.py")
assert SPEC is not None and SPEC.loader is not None
dump = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(dump)
HASHES = json.loads((FOLDER / "scenes" / "hashes.json").read_text())


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "history.db"
    path.write_bytes(gzip.decompress((FOLDER / "history.db.gz").read_bytes()))
    return path


def printed(file: str, words: str) -> str:
    """What a command printed then."""
    text = (FOLDER / "printed" / file).read_text(encoding="utf-8")
    return text.split(f"$ upright {words}\n")[1].split("\nexit status")[0]


KEYS = {"key", "identity_key"}
"""Worked out anew since: a case is known by the parameters that differ from their defaults."""


def test_no_row_is_lost(database: Path) -> None:
    """Also where a later version has brought the database up to date: what columns are left, hold what they held."""
    was = json.loads(gzip.decompress((FOLDER / "tables.json.gz").read_bytes()))
    with open_store(database):
        pass
    now = dump.rows_of(database)
    for table in was.keys() & now.keys() - {"alembic_version"}:
        names = [name for name in was[table]["columns"] if name in now[table]["columns"] and name not in KEYS]
        assert in_order(was[table], names) == in_order(now[table], names), table


def test_a_baseline_is_the_case_of_an_acceptance_of_the_same_number(database: Path) -> None:
    """The table of baselines repeated the ledger; verdicts refer to baselines by number."""
    was = json.loads(gzip.decompress((FOLDER / "tables.json.gz").read_bytes()))
    with open_store(database):
        pass
    now = dump.rows_of(database)
    names = ["id", "entry_id", "case_id"]
    accepted = in_order(now["ledger_cases"], names)
    assert [row for row in in_order(was["baselines"], names) if row not in accepted] == []


def test_what_was_one_case_stays_one_and_what_was_two_stays_two(database: Path) -> None:
    was = json.loads(gzip.decompress((FOLDER / "tables.json.gz").read_bytes()))
    with open_store(database):
        pass
    now = dump.rows_of(database)
    for key in KEYS:
        pairs = {(old, new) for (old,), (new,) in zip(picked(was["cases"], [key]), picked(now["cases"], [key]))}
        assert len(pairs) == len({old for old, _ in pairs}) == len({new for _, new in pairs})


def picked(table: dict[str, Any], names: list[str]) -> list[list[Any]]:
    at = [table["columns"].index(name) for name in names]
    return [[row[i] for i in at] for row in table["rows"]]


def test_every_run_and_every_motion_is_read(database: Path) -> None:
    with open_store(database) as store:
        for run in store.runs():
            results = store.results(run.number)
            assert len(results) == run.done
            for result in results:
                if result.trajectory_key:
                    motion = store.trajectory(result.trajectory_key)
                    assert motion is not None and motion.state_hash == result.trajectory_hash


def in_order(table: dict[str, Any], names: list[str]) -> list[list[Any]]:
    return sorted(picked(table, names), key=json.dumps)


REWORDED = {
    ", 0 m before": ", 0 mm before",
    ", 1.1e-15 m/s before": ", 1.1e-12 mm/s before",
    "gains 0.0048 J of energy from nowhere, 0.0012 J": "gains 4.8 mJ of energy from nowhere, 1.2 mJ",
    "cone_violation": "cone violation",
}


@pytest.mark.parametrize("words", ["regressions --all --json"])
def test_groups_are_what_they_were(
    database: Path, words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = call(monkeypatch, capsys, *words.split(), "--db", str(database))
    then = [json.loads(line) for line in printed("regressions.txt", words).splitlines()]
    now = [json.loads(line) for line in out.splitlines()]
    for group in (*then, *now):
        del group["format"]  # of all lines of --json; those of cases have more fields now
        for case in group["cases"]:
            del case["case"]  # holds the key, see KEYS
    # Only words have changed: one unit for what is compared, mJ, no underscores. The numbers are fields of their own.
    for case in (case for group in then for case in group["cases"]):
        for was, is_now in REWORDED.items():
            case["meaning"] = case["meaning"].replace(was, is_now)
    assert now == then


@pytest.mark.parametrize("name", HASHES)
def test_a_scene_keeps_its_identity(name: str) -> None:
    scene = read_scene(FOLDER / "scenes" / name)
    assert content_hash(scene) == HASHES[name]
    assert content_hash(parse_scene(json.loads(write_scene(scene)))) == HASHES[name]

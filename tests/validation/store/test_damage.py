"""A stored value that no command writes, in any column of any table: one line that names it, or a display of it."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from scenarios.scene import content_hash
from tests.validation.command import upright
from tests.validation.judging.test_ensembles import ensemble, series
from tests.validation.store.made import case, falling, info, judged, measurement, result, scene
from tests.validation.store.test_finds import FIND
from tests.validation.store.test_passports import examined
from validation.review.lineage import History
from validation.store import open_store
from validation.store.damage import damage_in
from validation.store.models import Base

BALL = case("bouncing-ball", parameters={}, scene_hash=content_hash(scene()))
VALUES: list[Any] = [None, b"\x00\xff", "text", 5, 2**63 - 1, float("inf"), "[1", "[]", "9999-99-99"]
COMMANDS = [
    ["regressions"],
    ["regressions", "--all", "--json"],
    ["ledger"],
    ["history", "bouncing-ball", "-e", "pymunk@fair"],
    ["show", "bouncing-ball", "-e", "pymunk@fair", "--run", "2", "--no-open", "--html", "page.html"],
    ["results", "export", "out.csv"],
    ["results", "export", "out.parquet"],
    ["results", "comparisons"],
    ["results", "comparisons", "1"],
    ["results", "prune", "--older-than", "1"],
    ["finds"],
    ["finds", "1", "--scene"],
]


def filled(path: Path) -> None:
    """Rows in every table, and no constraint that a damaged file would not obey."""
    history = History(head="4f2c1d", parents={"4f2c1d": ("0",), "0": ()})
    with open_store(path) as store:
        for value, samples in ((4e-4, 30), (3e-3, 40)):
            run = store.begin_run(info("main"), [BALL], [scene()], history=history, asked={"words": {}})
            one = result(
                BALL, measurement(value=value, noise="tolerance"), trajectory=falling(bodies=1, samples=samples)
            )
            store.save_results(run, [one])
            accepted = store.baselines("main").get(BALL.identity.key)
            store.save_ensembles(run, {one.key: ensemble(series((1.0, 2.0)))})
            store.save_verdicts(run, [judged(accepted, one, {"penetration_mean": 1e-4})])
            store.finish_run(run)
            if accepted is None:
                store.accept(run, who="R.", reason="first look")
        store.mark("known", [store.results(run)[0].number], who="R.", reason="r", scope="s", link="l")
        store.add_find(**FIND, scene=scene())
        line = '{"sign": "worse", "scenario": "s", "parameters": {}, "told": "", "variant": "", "changes": []}'
        store.add_comparison(command="c", machine="m", names=("a", "b"), packages={"numpy": ("1", "2")}, lines=[line])
        store.add_passport(examined(), command="c", machine="m")
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("PRAGMA writable_schema = ON")
        database.execute("UPDATE sqlite_master SET sql = replace(sql, ' NOT NULL', '')")
        for name in Base.metadata.tables:
            ((count,),) = database.execute(f"SELECT count(*) FROM {name}")
            assert count, name


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("good") / "upright.db"
    filled(path)
    return path


def damaged(good: Path, folder: Path, table: str, column: str, value: Any, rows: str = "") -> bytes:
    """The database's bytes, in that folder; none where SQLite itself refuses the value: another row has it, or no key
    may be that."""
    path = folder / "upright.db"
    shutil.copy(good, path)
    with closing(sqlite3.connect(path)) as database, suppress(sqlite3.IntegrityError):
        database.execute(f'UPDATE "{table}" SET "{column}" = ? {rows}', [value])
        database.commit()
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return path.read_bytes()
    return b""


def wrong(folder: Path, before: bytes, words: list[str]) -> str:
    """How the command fails to be one that ends well, or in one line; "" where it does not."""
    done = upright(*words, folder=folder)
    lines = done.stderr.splitlines()
    if done.returncode == 2 and (len(lines) != 1 or not lines[0].isprintable() or len(lines[0]) > 1000):
        return f"not one line: {done.stderr}"
    if done.returncode not in (0, 1, 2) or any(word in done.stderr for word in ("Traceback", "internal error")):
        return done.stderr
    return "" if (folder / "upright.db").read_bytes() == before else "the database is changed"


@pytest.mark.slow
@pytest.mark.parametrize("rows", ["", "WHERE rowid = 1"])
@pytest.mark.parametrize("table", list(Base.metadata.tables))
def test_every_column_may_have_anything_and_reading_is_one_line(
    table: str, rows: str, good: Path, tmp_path: Path
) -> None:
    found, tried = [], 0
    for column in Base.metadata.tables[table].columns:
        for value in VALUES[: 3 if rows else None]:
            if before := damaged(good, tmp_path, table, column.name, value, rows):
                tried += 1
                for words in COMMANDS:
                    fault = wrong(tmp_path, before, words)
                    found += [f"{column.name} = {value!r}: {' '.join(words)}: {fault}"] if fault else []
    assert tried and not found, "\n".join(found)


@pytest.mark.parametrize(
    ("table", "column", "value", "words", "described"),
    [
        ("runs", "started", 5, "regressions", "row id 1, column started: 5 is not a time"),
        ("runs", "started", "text", "regressions", "row id 1, column started: text cannot be read"),
        ("runs", "dirty", "text", "regressions", "row id 1, column dirty: 'text' is not 0 or 1"),
        ("runs", "labels", "[1", "regressions", "row id 1, column labels: '[1' cannot be read"),
        ("cases", "engine", b"\x00\xff", "results export out.csv", "column engine: X'00FF' is not a text"),
        ("cases", "engine", None, "results export out.csv", "row id 1, column engine: NULL is not a text"),
        ("cases", "step_count", 1e308, "results export out.parquet", "column step_count: 1.0e+308 is not a whole"),
        ("cases", "peak_memory", float("inf"), "results export out.csv", "is not a number of seconds or bytes"),
        ("measurements", "value", "text", "results export out.csv", "metric 'penetration_mean', column value: 'text'"),
        ("measurements", "noise", "text", "results export out.csv", "column noise: 'text' is not one of: exact, tol"),
        ("ledger", "act", "\x1b[2J\u202e\n", "ledger", "row id 1, column act: '\N{REPLACEMENT CHARACTER}[2J"),
        ("ledger", "act", "text", "ledger", "row id 1, column act: 'text' is not one of: accept, reject"),
        ("ledger", "made", -1, "ledger", "row id 1, column made: -1 is not a time"),
        ("trajectories", "data", 2**62, "show bouncing-ball --run 2 --html page.html", "column data: 46116860"),
        ("scenes", "json", "[]", "finds", "column json: '[]' cannot be read"),
        ("finds", "seed", "text", "finds", "row id 1, column seed: text cannot be read"),
        ("comparisons", "counts", "5", "results comparisons", "row id 1, column counts: 5 cannot be read"),
        ("commits", "parents", "5", "regressions", "column parents: 5 cannot be read"),
    ],
)
def test_a_damaged_value_is_named_with_its_table_column_and_row(
    table: str, column: str, value: Any, words: str, described: str, good: Path, tmp_path: Path
) -> None:
    before = damaged(good, tmp_path, table, column, value)
    assert before and not wrong(tmp_path, before, words.split())
    done = upright(*words.split(), folder=tmp_path)
    assert done.returncode == 2 and done.stderr.startswith(f"upright.db: damaged: table {table}, row "), done.stderr
    assert described in done.stderr and "restore a copy of it" in done.stderr


def test_a_case_that_was_accepted_and_is_not_done_is_damage(good: Path, tmp_path: Path) -> None:
    damaged(good, tmp_path, "cases", "outcome", None, "WHERE rowid = 1")
    done = upright("history", "bouncing-ball", "-e", "pymunk@fair", folder=tmp_path)
    assert done.returncode == 2 and "row id 1, column outcome: NULL, as if it were not done" in done.stderr


def test_writing_commands_name_it_too_and_write_nothing(good: Path, tmp_path: Path) -> None:
    before = damaged(good, tmp_path, "runs", "dirty", "text")
    assert not wrong(tmp_path, before, ["accept", "--reason", "why"])
    done = upright("accept", "--reason", "why", folder=tmp_path)
    assert done.returncode == 2 and "column dirty: 'text' is not 0 or 1" in done.stderr


def test_a_database_as_upright_writes_it_has_no_damage(good: Path, tmp_path: Path) -> None:
    shutil.copy(good, tmp_path / "upright.db")
    with open_store(tmp_path / "upright.db") as store, store._reading() as connection:
        assert damage_in(connection) == ""
    assert all(not wrong(tmp_path, (tmp_path / "upright.db").read_bytes(), words) for words in COMMANDS)


def test_a_foreign_error_in_reading_is_not_called_damage(good: Path, tmp_path: Path) -> None:
    shutil.copy(good, tmp_path / "upright.db")
    with open_store(tmp_path / "upright.db") as store, pytest.raises(KeyError, match="ours"), store._reading():
        raise KeyError("ours")

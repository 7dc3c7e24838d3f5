"""A database goes down to the tables of any older Upright and up again, also while jobs write, and no row is lost."""

from __future__ import annotations

import itertools
import sqlite3
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from tests.validation.command import call, start, upright
from tests.validation.store.filled import common, fill, rows, with_outcomes
from tests.validation.store.made import case, info, measurement, result
from tests.validation.store.postgresql import INSTALLED, own_server
from tests.validation.store.test_migrations import revisions
from validation.records.case import Case
from validation.store import Store, models, open_store, take_back_store
from validation.store.connection import connect, reading, writing
from validation.store.errors import StoreError
from validation.store.migration import downgrade, upgrade
from validation.store.revision import HEAD

WORKED_OUT: dict[str, dict[str, tuple[str, ...]]] = {
    "0010": {"cases": ("identity_key", "key"), "baselines": ("identity_key",)},  # keys were of all parameters
    "0006": {"baselines": ("until",)},  # what is taken back ended then
}
"""Of the step from this revision down: columns in which the older tables have another value."""
WRITERS, TURNS, EACH = 4, 4, 6  # jobs at once; runs of each; cases of a run
GONE = "taken back to revision"


def every_row(where: str) -> dict[str, list[dict[str, object]]]:
    engine, name = connect(where)
    with reading(engine, name) as connection:
        found = rows(connection)
        assert compare_metadata(MigrationContext.configure(connection), models.Base.metadata) == []
    engine.dispose()
    return found


def filled(where: str) -> dict[str, list[dict[str, object]]]:
    with open_store(where) as store:
        fill(store)
        with_outcomes(store)
    found = every_row(where)
    assert set(found) == set(models.Base.metadata.tables) and all(found.values()), "no table is empty"
    return found


def test_every_revision_goes_down_and_up_and_all_its_rows_are_the_same(where: str) -> None:
    """At each revision the same on the way down as on the way up, and from each to the next what both can say."""
    down, up = {HEAD: filled(where)}, {}
    engine, name = connect(where)
    every = revisions()
    for revision in reversed(every[:-1]):
        with writing(engine, name) as connection:
            downgrade(connection, revision)
            down[revision] = rows(connection)
    for revision in every:
        with writing(engine, name) as connection:
            upgrade(connection, revision)
            up[revision] = rows(connection)
    engine.dispose()
    for revision in every:
        assert up[revision] == down[revision], revision
    for older, newer in itertools.pairwise(every):
        for table in down[older].keys() & down[newer].keys():
            other = WORKED_OUT.get(newer, {}).get(table, ())
            before, after = common(down[newer][table], down[older][table], other)
            assert before == after, (newer, table)
    assert every_row(where) == down[HEAD]


def test_what_an_older_upright_writes_meanwhile_comes_up_beside_what_was_set_aside(where: str) -> None:
    """At revision 0012 a case that was planned is run, another is judged again, a comparison is added."""
    filled(where)
    take_back_store(where, "0012")
    engine, name = connect(where)
    with writing(engine, name) as connection:
        owed = connection.execute(sa.text("SELECT id FROM cases WHERE outcome IS NULL")).scalar_one()
        connection.execute(sa.text("UPDATE cases SET outcome = 'crashed' WHERE id = :owed"), {"owed": owed})
        group = connection.execute(sa.text("SELECT case_id, since_run FROM verdicts WHERE word = 'regressed'")).first()
        assert group is not None
        again = (
            "UPDATE verdicts SET word = 'pass', changes = '[]', since_run = NULL, good_run = NULL, grounds = 'older'"
        )
        connection.execute(sa.text(f"{again} WHERE case_id = :case"), {"case": group.case_id})
    engine.dispose()
    open_store(where).close()
    found = every_row(where)
    (ran,) = [row for row in found["cases"] if row["id"] == owed]
    assert (ran["outcome"], ran["cache_key"], ran["trace"]) == ("crashed", "", ""), "its key was that of our own code"
    (judged,) = [row for row in found["verdicts"] if row["case_id"] == group.case_id]
    assert (judged["word"], judged["grounds"]) == ("pass", "older")
    assert group.case_id not in {row["case_id"] for row in found["group_members"]}


def test_what_was_taken_back_is_not_in_effect_for_an_older_upright(where: str) -> None:
    """One that knows of no undo: the acceptance ended when it was taken back, but for the one that is back again."""
    filled(where)
    engine, name = connect(where)
    with writing(engine, name) as connection:
        downgrade(connection, "0006")
        undos = connection.execute(sa.text("SELECT id, refers_to FROM ledger WHERE act = 'undo'")).all()
        accepts = set(connection.execute(sa.text("SELECT id FROM ledger WHERE act = 'accept'")).scalars())
        taken_back = {row.refers_to for row in undos} & accepts - {
            row.refers_to for row in undos if row.id in {other.refers_to for other in undos}
        }
        assert len(taken_back) == 1
        query = sa.text("SELECT id FROM baselines WHERE entry_id = :entry")
        ended = list(connection.execute(query, {"entry": taken_back.pop()}).scalars())
        before = {row.id: row.until for row in connection.execute(sa.text("SELECT id, until FROM baselines"))}
        downgrade(connection, "0005")
        after = {row.id: row.until for row in connection.execute(sa.text("SELECT id, until FROM baselines"))}
    engine.dispose()
    assert ended and {number for number in before if before[number] != after[number]} == set(ended)
    assert all(after[number] is not None for number in ended)


# --- while jobs write ---------------------------------------------------------------------------------------------


def test_a_job_whose_tables_are_taken_back_stops_with_a_line_and_what_it_stored_is_there(where: str) -> None:
    cases = [case(parameters={"n": n}) for n in range(200)]
    stored: list[str] = []
    began, over = threading.Event(), threading.Event()

    def write() -> str:
        with open_store(where) as job:
            run = job.begin_run(info(), cases)
            try:
                for n, one in enumerate(cases):
                    if n == 150:  # a fast job would be over before its tables are taken back
                        assert over.wait(60.0)
                    job.save_results(run, [result(one, measurement(value=float(n)))])
                    stored.append(one.key)
                    if n == 5:
                        began.set()
            except StoreError as error:
                with pytest.raises(StoreError, match=GONE):
                    job.run(run)  # which reads
                return str(error)
            finally:
                began.set()
        raise AssertionError("it went on")

    with ThreadPoolExecutor(1) as pool:
        writer = pool.submit(write)
        assert began.wait(30.0)
        take_back_store(where, "0016")
        over.set()
        assert f"{GONE} 0016 meanwhile, and this Upright needs {HEAD}" in writer.result()
    with open_store(where) as store:
        found = store.unfinished_run()
        assert found is not None
        run, owed = found
        assert {one.key for one in store.results(run)} == set(stored)
        store.save_results(run, [result(one, measurement(value=float(cases.index(one)))) for one in owed])
        values = sorted(m.value for one in store.results(run) for m in one.measurements)
        assert values == [float(n) for n in range(len(cases))]


def test_a_job_of_an_older_upright_that_the_new_tables_refuse_says_so(where: str) -> None:
    """At 0012 verdicts repeat columns that later tables have no more; its own words are of such a table."""
    engine, name = connect(where)
    with writing(engine, name) as connection:
        upgrade(connection, "0012")
    job = Store(engine, name, "0012")
    open_store(where).close()
    with (
        pytest.raises(StoreError, match=rf"brought to revision {HEAD} meanwhile, and this Upright knows 0012; upgrade"),
        job._writing() as connection,
    ):
        connection.exec_driver_sql("UPDATE verdicts SET since_run = 1")
    job.close()


def write_on(where: str, writer: int, over: threading.Event) -> dict[int, list[float]]:
    """Run after run, as several commands do one after the other, until the migrations are over: run -> values. One that
    is stopped by a migration is resumed."""
    written = {}
    for turn in itertools.count():
        if over.is_set() and turn >= TURNS:
            return written
        cases = [case(parameters={"n": n}, alias=f"{writer}-{turn}") for n in range(EACH)]
        values = [1000.0 * writer + turn + n / 100.0 for n in range(EACH)]
        run = begun(where, cases)
        while not went_on(where, run, cases, values):
            pass
        written[run] = values
    raise AssertionError


def begun(where: str, cases: list[Case]) -> int:
    while True:
        try:
            with open_store(where) as store:
                return store.begin_run(info(), cases)
        except StoreError as error:
            assert GONE in str(error), error


def went_on(where: str, run: int, cases: list[Case], values: list[float]) -> bool:
    try:
        with open_store(where) as store:
            done = {one.key for one in store.results(run)}
            for one, value in zip(cases, values):
                if one.key not in done:
                    store.save_results(run, [result(one, measurement(value=value))])
                time.sleep(0.002)
            store.finish_run(run)
        return True
    except StoreError as error:
        assert GONE in str(error), error
        return False


def while_jobs_write(where: str, targets: list[str]) -> None:
    """Down to each of these and up again, beside jobs: what was there is there, and each of their values once."""
    before = filled(where)
    over = threading.Event()
    with ThreadPoolExecutor(WRITERS) as pool:
        jobs = [pool.submit(write_on, where, writer, over) for writer in range(WRITERS)]
        try:
            for target in targets:
                time.sleep(0.05)
                take_back_store(where, target)
                open_store(where).close()
        finally:
            over.set()
        written = {run: values for job in jobs for run, values in job.result().items()}
    assert len(written) >= WRITERS * TURNS
    with open_store(where) as store:
        for run, values in written.items():
            assert [m.value for one in store.results(run) for m in one.measurements] == values
        assert {one.number for one in store.runs()} == written.keys() | {row["id"] for row in before["runs"]}
    after = every_row(where)
    for table, known in before.items():
        assert not [row for row in without_rank(known) if row not in without_rank(after[table])], table


def without_rank(of: list[dict[str, object]]) -> list[dict[str, object]]:
    """Each run that is begun may change where others stand."""
    return [{name: value for name, value in row.items() if name != "rank"} for row in of]


@pytest.mark.slow
def test_down_and_up_while_jobs_write_to_a_sqlite_file(tmp_path: Path) -> None:
    path = tmp_path / "u.db"
    while_jobs_write(str(path), ["0017", "0001"])
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


@pytest.fixture
def server_url() -> Iterator[str]:
    with own_server() as server:
        server.psql("CREATE DATABASE migrated")
        yield server.url("migrated")


@pytest.mark.slow
@pytest.mark.skipif(not INSTALLED, reason="no PostgreSQL server is installed (Debian: apt install postgresql)")
def test_down_to_every_revision_and_up_while_jobs_write_to_a_server(server_url: str) -> None:
    while_jobs_write(server_url, revisions()[-2::-1])


@pytest.mark.slow
@pytest.mark.skipif(not INSTALLED, reason="no PostgreSQL server is installed (Debian: apt install postgresql)")
def test_a_server_goes_down_and_up_through_every_revision(server_url: str) -> None:
    test_every_revision_goes_down_and_up_and_all_its_rows_are_the_same(server_url)


# --- the command --------------------------------------------------------------------------------------------------


def test_the_command_takes_back_says_so_and_refuses_what_is_no_older_revision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("UPRIGHT_DB", raising=False)
    before = filled("upright.db")

    def said(*words: str) -> tuple[int, str]:
        status, out, errors = call(monkeypatch, capsys, "results", "downgrade", *words)
        return status, out + errors

    status, words = said("0017")
    assert status == 0 and words.startswith(f"upright.db: taken back from revision {HEAD} to 0017; as it was: ")
    assert Path(f"upright.db.revision-{HEAD}").exists()
    assert said("0017") == (0, "upright.db: at revision 0017 already\n")
    assert said("0018") == (2, "upright.db: at revision 0017, older than 0018; allowed: 0001 to 0017\n")
    for wrong in ("0099", "17", "x"):
        assert said(wrong) == (2, f"revision: {wrong!r} is none of this Upright; allowed: 0001 to {HEAD}\n")
    assert said("0017", "--db", "none.db") == (2, "none.db: there is no such file; give the path of a database\n")
    assert not Path("none.db").exists()
    open_store("upright.db").close()
    assert every_row("upright.db") == before


@pytest.mark.slow
def test_a_run_whose_database_is_taken_back_names_what_is_stored_and_is_resumed(tmp_path: Path) -> None:
    names = [f"stack:n={n}" for n in range(2, 30)]
    process = start(["run", *names, "--engine", "pymunk", "--engine", "box2d", "--db", "u.db"], tmp_path)
    while process.poll() is None and not done_in(tmp_path / "u.db"):
        time.sleep(0.02)
    taken = upright("results", "downgrade", "0015", "--db", "u.db", folder=tmp_path)
    assert taken.returncode == 0, taken.stderr
    _, errors = process.communicate(timeout=120)
    last = errors.splitlines()[-1]
    assert process.returncode == 2 and f"u.db: {GONE} 0015 meanwhile, and this Upright needs {HEAD}. " in last
    assert f"of {2 * len(names)} cases are stored as run 1.   Go on: upright run --resume --db u.db" in last
    stored = int(last.partition(f"{HEAD}. ")[2].split()[0])
    with open_store(tmp_path / "u.db") as store:
        assert store.run(1).done == stored > 0
    assert upright("run", "--resume", "--db", "u.db", folder=tmp_path).returncode == 0
    with open_store(tmp_path / "u.db") as store:
        assert store.run(1).done == 2 * len(names) and store.run(1).finished


def done_in(path: Path) -> int:
    if not path.exists():
        return 0
    with sqlite3.connect(path) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        found = connection.execute("SELECT COUNT(outcome) FROM cases").fetchone() if "cases" in tables else (0,)
        return int(found[0])

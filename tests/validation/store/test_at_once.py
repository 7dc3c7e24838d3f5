"""Several processes and moments at once: runs of one name, a migration while a job writes, clocks that jump."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from tests.effort import tries
from tests.validation.command import start
from tests.validation.store.made import MOMENT, case, info, measurement, result
from validation.store import Store, open_store
from validation.store.connection import connect, reading, writing
from validation.store.migration import upgrade
from validation.store.revision import HEAD, revision_of

BEFORE_HEAD = "0018"
CASES = 60
ROOT = Path(__file__).parents[3]


def test_a_migration_while_a_job_writes_loses_nothing_of_it(where: str) -> None:
    """The job opened the database as it was, and goes on in it; only an index is new."""
    engine, name = connect(where)
    with writing(engine, name) as connection:
        upgrade(connection, BEFORE_HEAD)
    cases = [case(parameters={"n": n}) for n in range(CASES)]
    began = threading.Event()

    def write() -> int:
        with Store(engine, name, BEFORE_HEAD) as job:
            run = job.begin_run(info(), cases)
            for n, one in enumerate(cases):
                job.save_results(run, [result(one, measurement(value=float(n)))])
                if n == CASES // 4:
                    began.set()
            job.finish_run(run)
            return run

    with ThreadPoolExecutor(1) as pool:
        writer = pool.submit(write)
        assert began.wait(30.0)
        with open_store(where) as migrated:
            run = writer.result()
            values = [m.value for one in migrated.results(run) for m in one.measurements]
            assert values == [float(n) for n in range(CASES)]
            assert migrated.latest_run() == run
            with reading(migrated._engine, name) as connection:
                assert revision_of(connection, name) == HEAD


def test_two_who_finish_one_run_at_the_same_time_store_each_case_once(where: str) -> None:
    cases = [case(parameters={"n": n}) for n in range(CASES)]
    with open_store(where) as store:
        run = store.begin_run(info(), cases)

    def finish(_: int) -> None:
        with open_store(where) as own:
            for one in cases:
                own.save_results(run, [result(one)])
            own.finish_run(run)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(finish, range(2)))
    with open_store(where) as store:
        assert [len(one.measurements) for one in store.results(run)] == [1] * CASES
        assert store.run(run).done == CASES and store.unfinished_run() is None


def test_runs_are_in_the_order_of_their_numbers_when_the_clock_goes_back(store: Store) -> None:
    runs = []
    for days in (0, -400, 400, -1):
        runs.append(store.begin_run(info(started=MOMENT + timedelta(days=days)), [case()]))
        store.save_results(runs[-1], [result()])
        store.finish_run(runs[-1])
    assert [one.number for one in store.runs()] == sorted(runs, reverse=True)
    assert store.latest_run() == runs[-1]
    history = store.history(case().identity.key, result().measurements[0].metric)
    assert [point.run for point in history] == runs


ANOTHER = """
import sys
from tests.validation.store.made import case, info, result
from validation.store import open_store
with open_store(sys.argv[1]) as store:
    store.save_results(store.begin_run(info(), [case()]), [result()])
"""


def test_a_process_that_opens_a_file_twice_does_not_lose_its_journal_to_another_process(tmp_path: Path) -> None:
    """As the dashboard does, to read and to write. Whoever only reads its first bytes ends the locks of both; another
    process then took itself for the last one, and what was written after that was lost, or the file damaged."""
    path = tmp_path / "u.db"
    words = [sys.executable, "-P", "-c", ANOTHER, str(path)]
    with open_store(path) as store:
        for turn in range(tries(3, 1)):
            store.save_results(store.begin_run(info(), [case()]), [result()])
            open_store(path).close()
            subprocess.run(words, check=True, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, timeout=60)
            assert path.with_name("u.db-wal").exists(), "the journal of a file that is open"
            with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as reader:
                assert reader.execute("SELECT COUNT(*) FROM measurements").fetchone() == (2 * turn + 2,)
        assert store.run(2 * turn + 2).done == 1
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


@pytest.mark.slow
def test_two_runs_of_one_name_at_the_same_time_are_two_runs_each_whole(tmp_path: Path) -> None:
    words = ["run", "stack:n=3", "bouncing-ball", "--engine", "pymunk", "--fresh", "--db", "u.db"]
    both = [start(words, tmp_path) for _ in range(2)]
    for process in both:
        _, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors
    with open_store(tmp_path / "u.db") as store:
        first, second = (store.results(run) for run in (1, 2))
        found = [[(r.key, r.trajectory_hash, r.measurements) for r in results] for results in (first, second)]
        assert found[0] == found[1] and len(first) == 2 and store.unfinished_run() is None

"""On a PostgreSQL server of the test's own: the values of SQLite, the roles of docs/database.md, many writers."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.validation.command import start, upright
from tests.validation.store.made import case, info, measurement, result
from tests.validation.store.postgresql import INSTALLED, Server, own_server
from validation.store import open_store
from validation.store.errors import StoreError

PAGE = Path(__file__).parents[3] / "docs" / "database.md"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not INSTALLED, reason="no PostgreSQL server is installed (Debian: apt install postgresql)"),
]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with own_server() as running:
        yield running


@pytest.fixture(scope="module")
def url(server: Server) -> str:
    """With the roles of the page, by its own words; {} stands for the role."""
    first, second = re.findall(r"```(?:sql|text)\n(.*?)```", PAGE.read_text(), re.DOTALL)
    server.psql(first)
    made = server.url("results", "upright_{}")
    open_store(made.format("owner")).close()
    server.psql(second, "results")
    return made


def test_values_are_those_of_a_sqlite_file_to_the_last_bit(url: str, tmp_path: Path) -> None:
    found = []
    for database in (url.format("writer"), "x.db"):
        done = upright("run", "stack:n=3", "bouncing-ball", "--engine", "pymunk", "--db", database, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        with open_store(database if "://" in database else tmp_path / database) as store:
            results = store.results(store.latest_run() or 0)
            found.append([(r.key, r.trajectory_hash, r.trajectory_key, r.outcomes, r.measurements) for r in results])
    assert found[0] == found[1] and len(found[0]) == 2


def test_a_writer_checks_and_accepts_and_a_reader_only_reads(url: str, tmp_path: Path) -> None:
    writer, reader = url.format("writer"), url.format("reader")

    def status(*words: str, database: str) -> tuple[int, str]:
        done = upright(*words, "--db", database, folder=tmp_path)
        return done.returncode, done.stdout + done.stderr

    assert status("run", "pendulum", "--engine", "pymunk", database=writer)[0] == 0
    assert status("accept", "--reason", "first look", database=writer)[0] == 0
    assert status("check", "pendulum", "--engine", "pymunk", database=writer)[0] == 0
    assert status("history", "pendulum", database=reader)[0] == 0
    assert status("show", "pendulum", "--html", "x.html", "--no-open", database=reader)[0] == 0
    for words in (("check", "pendulum", "--engine", "pymunk"), ("accept", "--reason", "mine")):
        code, printed = status(*words, database=reader)
        assert code == 2 and "this role may not do that" in printed and "Traceback" not in printed
    refused = pytest.raises(StoreError, match="permission denied for table runs")
    with open_store(writer) as store, refused, store._writing() as connection:
        connection.exec_driver_sql("DELETE FROM runs")


def test_sixteen_writers_at_once_lose_and_double_nothing(url: str) -> None:
    writers, each = 16, 20

    def write(number: int) -> int:
        cases = [case(f"s{k}", alias=f"w{number}") for k in range(each)]
        with open_store(url.format("writer")) as store:
            run = store.begin_run(info(), cases)
            for one in cases:  # of the same motion: whoever comes first stores it
                store.save_results(run, [replace(result(one, measurement(value=1e-3 * number)))])
            store.finish_run(run)
            return run

    with ThreadPoolExecutor(writers) as pool:
        numbers = list(pool.map(write, range(writers)))
    assert len(set(numbers)) == writers
    with open_store(url.format("reader")) as store:
        for number, run in enumerate(numbers):
            values = [m.value for one in store.results(run) for m in one.measurements]
            assert values == [1e-3 * number] * each


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_transaction_whose_connection_is_lost_while_it_commits_is_done_once(
    url: str, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the server has committed, or after it; a run that is begun has no second one beside it."""
    lost = []
    with open_store(url.format("writer")) as store:
        before = {run.number for run in store.runs()}
        commit = store._engine.dialect.do_commit

        def losing(connection: Any) -> None:
            if not lost:
                lost.append(when)
                if when == "after":
                    commit(connection)
                connection.dbapi_connection.close()
            commit(connection)

        monkeypatch.setattr(store._engine.dialect, "do_commit", losing)
        run = store.begin_run(info(), [case()])
        assert lost == [when] and {one.number for one in store.runs()} - before == {run}
        assert store.run(run).planned == 1


def test_a_run_goes_on_through_restarts_of_its_server_and_ended_connections(server: Server, tmp_path: Path) -> None:
    url = server.url("restarted")
    server.psql("CREATE DATABASE restarted")
    names = [f"stack:n={n}" for n in range(2, 12)]
    process = start(["run", *names, "--engine", "pymunk", "--engine", "box2d", "--db", url], tmp_path)
    ended = 0
    with open_store(url) as store:
        while process.poll() is None and not store.runs():
            time.sleep(0.02)
        while process.poll() is None and ended < 3:
            server.psql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'restarted'")
            if ended == 1:
                server.stop()
                server.start()
            ended += 1
            time.sleep(0.1)
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0 and ended == 3, errors
        [run] = store.runs()
        assert run.finished and run.done == run.planned == 2 * len(names)
        assert {result.outcome for result in store.results(run.number)} == {"completed"}

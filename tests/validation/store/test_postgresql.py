"""On a PostgreSQL server of the test's own: the values of SQLite, the roles of docs/database.md, many writers."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from tests.validation.command import upright
from tests.validation.store.made import case, info, measurement, result
from validation.store import open_store
from validation.store.errors import StoreError

PAGE = Path(__file__).parents[3] / "docs" / "database.md"
PLACES = [shutil.which("initdb") or "", *map(str, sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb")))]
PROGRAMS = Path(next((path for path in reversed(PLACES) if path), "")).parent

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not any(PLACES), reason="no PostgreSQL server is installed (Debian: apt install postgresql)"),
]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """host:port of one with an administrator "postgres". It refuses to run as root: then it is another user's."""
    folder = Path(tempfile.mkdtemp())  # not below pytest's, which no other user may enter
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    user = []
    if os.getuid() == 0:
        user = ["runuser", "-u", "postgres", "--"]
        shutil.chown(folder, "postgres")
    data = folder / "data"

    def run(*words: str) -> None:
        done = subprocess.run([*user, *words], capture_output=True, text=True, cwd=folder)
        assert done.returncode == 0, done.stdout + done.stderr

    run(str(PROGRAMS / "initdb"), "-D", str(data), "-A", "trust", "-U", "postgres")
    options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1"
    run(str(PROGRAMS / "pg_ctl"), "-D", str(data), "-o", options, "-l", str(folder / "log"), "-w", "start")
    try:
        yield f"127.0.0.1:{port}"
    finally:
        run(str(PROGRAMS / "pg_ctl"), "-D", str(data), "-m", "immediate", "stop")
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def url(server: str) -> str:
    """With the roles of the page, by its own words; {} stands for the role."""
    host, port = server.split(":")
    first, second = re.findall(r"```sql\n(.*?)```", PAGE.read_text(), re.DOTALL)
    psql = [str(PROGRAMS / "psql"), "-h", host, "-p", port, "-U", "postgres", "-v", "ON_ERROR_STOP=1", "-q"]
    subprocess.run(psql, input=first, check=True, capture_output=True, text=True)
    made = f"postgresql://upright_{{}}@{server}/results"
    open_store(made.format("owner")).close()
    subprocess.run([*psql, "-d", "results"], input=second, check=True, capture_output=True, text=True)
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

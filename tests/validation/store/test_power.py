"""A power failure at any moment: what was not synced is lost, torn or there; what was reported as stored is there.

A shim (`power.c`) logs what a writer writes and when it syncs. From the log the files are made as a disk may have them
after a failure: of what was written since the last sync of its file, each part is there, torn at a sector, or lost.
"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HEAD, SECTOR = struct.Struct("<4Q"), 512  # bytes
CASES = 40
WRITER = """
import os, sys
from sqlalchemy import event
from tests.validation.store.made import case, falling, info, result
from validation.store import open_store
with open_store(sys.argv[1]) as store:
    @event.listens_for(store._engine, "connect")
    def prepare(connection, record):
        connection.execute("PRAGMA wal_autocheckpoint=30")
        if sys.argv[3]:
            connection.execute("PRAGMA synchronous=" + sys.argv[3])
    store._engine.dispose()
    reports = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    cases = [case(parameters={"n": n}) for n in range(int(sys.argv[4]))]
    run = store.begin_run(info(), cases)
    for one in cases:
        store.save_results(run, [result(one, trajectory=falling(samples=60))])
        os.write(reports, (one.label + "\\n").encode())
"""

pytestmark = pytest.mark.slow

Record = tuple[str, str, int, bytes]


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if sys.platform != "linux" or (compiler := shutil.which("gcc") or shutil.which("cc")) is None:
        pytest.skip("needs Linux and a C compiler")
    made = tmp_path_factory.mktemp("shim") / "power.so"
    source = Path(__file__).with_name("power.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", str(made), str(source), "-ldl"], check=True)
    return made


def written(shim: Path, folder: Path, synchronous: str) -> list[Record]:
    folder.mkdir()
    log = folder.parent / f"{folder.name}.log"
    words = [sys.executable, "-c", WRITER, str(folder / "u.db"), str(folder / "reports"), synchronous, str(CASES)]
    environment = os.environ | {"LD_PRELOAD": str(shim), "UPRIGHT_FOLDER": f"{folder}/", "UPRIGHT_LOG": str(log)}
    subprocess.run(words, check=True, env=environment, cwd=Path(__file__).parents[3])
    return list(records(log.read_bytes()))


def records(log: bytes) -> Iterator[Record]:
    at = 0
    while at < len(log):
        operation, path, offset, size = HEAD.unpack_from(log, at)
        at += HEAD.size
        yield chr(operation), log[at : at + path].decode(), offset, log[at + path : at + path + size]
        at += path + size


def after_failure(log: list[Record], chance: random.Random) -> tuple[dict[str, bytearray], set[str]]:
    """The files, by path, and what had been reported."""
    synced: dict[str, bytearray] = {}
    pending: dict[str, list[Record]] = {}
    reported: set[str] = set()
    for one in log:
        operation, path, _, data = one
        if path.endswith("reports"):
            reported |= set(data.decode().split())
        elif operation == "U":
            synced.pop(path, None)
            pending.pop(path, None)
        elif operation == "S":
            for earlier in pending.pop(path, []):
                apply(synced.setdefault(path, bytearray()), earlier)
        else:
            pending.setdefault(path, []).append(one)
    for path, unsynced in pending.items():
        for operation, _, offset, data in unsynced:
            luck = chance.random()
            if operation == "W" and luck < 0.3:  # torn
                data = data[: SECTOR * chance.randint(0, len(data) // SECTOR)]
            if luck < 0.65:
                apply(synced.setdefault(path, bytearray()), (operation, path, offset, data))
    return synced, reported


def apply(file: bytearray, record: Record) -> None:
    operation, _, offset, data = record
    if operation == "T":
        del file[offset:]
        return
    file.extend(bytes(max(0, offset - len(file))))
    file[offset : offset + len(data)] = data


def lost(log: list[Record], folder: Path, seed: int) -> int:
    """Cases that were reported as stored and are not, after a failure at a random moment. The database is whole."""
    chance = random.Random(seed)
    files, reported = after_failure(log[: chance.randrange(len(log))], chance)
    folder.mkdir()
    for path, content in files.items():
        if not path.endswith("-shm"):
            (folder / Path(path).name).write_bytes(content)
    with sqlite3.connect(folder / "u.db") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        if not reported:
            return 0
        query = "SELECT label FROM cases c JOIN measurements m ON m.case_id = c.id WHERE outcome = 'completed'"
        return len(reported - {label for (label,) in connection.execute(query)})


def test_what_was_reported_as_stored_outlives_a_power_failure(shim: Path, tmp_path: Path) -> None:
    log = written(shim, tmp_path / "full", "")
    assert sum(operation == "S" for operation, *_ in log) > CASES
    for seed in range(300):
        assert lost(log, tmp_path / f"after-{seed}", seed) == 0


def test_without_a_sync_of_each_commit_it_would_not(shim: Path, tmp_path: Path) -> None:
    """That the shim finds what is lost."""
    log = written(shim, tmp_path / "normal", "NORMAL")
    assert sum(lost(log, tmp_path / f"after-{seed}", seed) for seed in range(60)) > 0

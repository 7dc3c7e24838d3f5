"""Damaged, foreign and half written databases for the commands and the dashboard."""

import os
import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from inputs_to_try import READS, Clear, Input, Prepare, ignored


def columns_of(connection: sqlite3.Connection) -> list[tuple[str, str, str]]:
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return [(table, row[1], row[2]) for table in tables for row in connection.execute(f'PRAGMA table_info("{table}")')]


def truncated(chance: random.Random) -> Prepare:
    part = chance.random()

    def prepare(folder: Path) -> None:
        file = folder / "upright.db"
        os.truncate(file, int(part * file.stat().st_size))

    return prepare


def flipped(chance: random.Random) -> Prepare:
    seed, count = chance.random(), chance.choice([1, 10, 100, 2000])

    def prepare(folder: Path) -> None:
        file, own = folder / "upright.db", random.Random(seed)
        data = bytearray(file.read_bytes())
        for _ in range(count):
            data[own.randrange(len(data))] ^= 1 << own.randrange(8)
        file.write_bytes(data)

    return prepare


ODD: list[Any] = [
    "text", "", "\x1b[2J\x1b]0;t\x07", "[1", "{", "null", "[]", "5", '{"a": [' + "[" * 5000, 2**63 - 1, -(2**63), 1e308,
    float("inf"), -1, 0, b"\x00\xff\xfe", b"", "9999-99-99", "2026-01-01 00:00:00", "x" * 10**6, "\ud7ff\u202e", "nan",
]  # fmt: skip


def overwritten(chance: random.Random) -> Prepare:
    """One or a few columns with something else, in one row or in all."""
    seed = chance.random()

    def prepare(folder: Path) -> None:
        own = random.Random(seed)
        with closing(sqlite3.connect(folder / "upright.db")) as connection, connection:
            for _ in range(own.choice([1, 1, 3])):
                table, column, _type = own.choice(columns_of(connection))
                rows = "" if own.random() < 0.5 else f' WHERE rowid = (SELECT max(rowid) FROM "{table}")'
                with suppress(sqlite3.Error):
                    connection.execute(f'UPDATE "{table}" SET "{column}" = ?{rows}', [own.choice(ODD)])

    return prepare


def sql(*statements: str) -> Prepare:
    def prepare(folder: Path) -> None:
        with closing(sqlite3.connect(folder / "upright.db")) as connection, connection:
            for statement in statements:
                connection.execute(statement)

    return prepare


def replaced(data: bytes) -> Prepare:
    return lambda folder: ignored((folder / "upright.db").write_bytes(data))


def foreign(folder: Path) -> None:
    (folder / "upright.db").unlink()
    sql("CREATE TABLE people (id INTEGER, name TEXT)", "INSERT INTO people VALUES (1, 'Ada')")(folder)


def linked(target: str) -> Prepare:
    def prepare(folder: Path) -> None:
        (folder / "upright.db").unlink()
        (folder / "upright.db").symlink_to(target)

    return prepare


def piped(folder: Path) -> None:
    (folder / "upright.db").unlink()
    os.mkfifo(folder / "upright.db")


TABLES = ("runs", "cases", "measurements", "trajectories", "scenes", "verdicts", "baselines", "ledger", "groups")


def databases(chance: random.Random) -> Iterator[Input]:
    made: list[tuple[str, Prepare]] = [(f"truncated {i}", truncated(chance)) for i in range(8)]
    made += [(f"bytes flipped {i}", flipped(chance)) for i in range(16)]
    made += [(f"columns overwritten {i}", overwritten(chance)) for i in range(60)]
    made += [(f"without rows of {t}", only_if(t, f'DELETE FROM "{t}"')) for t in TABLES]
    made += [(f"without the table {t}", only_if(t, f'DROP TABLE "{t}"')) for t in TABLES]
    made += [
        ("blobs cut short", sql("UPDATE trajectories SET data = substr(data, 1, length(data) / 2)")),
        ("blobs of nothing", sql("UPDATE trajectories SET data = x''")),
        ("motions of other cases", sql("UPDATE cases SET trajectory_key = 'none'")),
        ("cases of no run", sql("UPDATE cases SET run_id = 999999 WHERE run_id = 1")),
        ("runs of the future", sql("UPDATE runs SET started = '9999-12-31 23:59:59'")),
        ("a foreign database", foreign),
        ("an empty file", replaced(b"")),
        ("noise", replaced(random.Random(1).randbytes(100_000))),
        ("text", replaced(b"hello\n" * 1000)),
        ("the head of a database and noise", replaced(b"SQLite format 3\0" + random.Random(2).randbytes(8176))),
        ("/dev/null", linked("/dev/null")),
        ("/dev/zero", linked("/dev/zero")),
        ("/dev/full", linked("/dev/full")),
        ("links in a circle", linked("upright.db")),
        ("a folder", linked(".")),
        ("a pipe", piped),
    ]
    for title, prepare in made:
        for words in chance.sample(READS, 3):
            yield Input("databases", title, words, prepare)
        yield Input("dashboard's reading", title, prepare=prepare, call=read_as_dashboard)


def only_if(table: str, statement: str) -> Prepare:
    def prepare(folder: Path) -> None:
        with suppress(sqlite3.OperationalError):
            sql(statement)(folder)

    return prepare


def read_as_dashboard(folder: Path) -> None:
    """What its pages ask for, in one go. May raise StoreError."""
    from validation.store import open_store
    from validation.store.errors import StoreError

    try:
        with open_store("upright.db") as store:
            for run in store.runs():
                results = store.results(run.number)
                store.verdicts(run.number)
                store.groups(run.number)
                for result in results:
                    store.trajectory(result.trajectory_key)
    except StoreError as error:
        raise Clear(str(error)) from None

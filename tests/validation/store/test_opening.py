"""What cannot be a database is refused in one line, before anything is run."""

from __future__ import annotations

import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy.exc

from tests.effort import tries
from tests.validation.store.made import case, falling, info, result
from validation.store import connection, open_store
from validation.store.addresses import without_password
from validation.store.errors import LostFileError, StoreError
from validation.store.sqlite_file import ELSEWHERE


def refusal(where: str | Path) -> str:
    with pytest.raises(StoreError) as refused:
        open_store(where)
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_a_path_that_does_not_exist_yet_becomes_a_database(tmp_path: Path) -> None:
    for where in (tmp_path / "a.db", str(tmp_path / "b.db"), f"sqlite:///{tmp_path / 'c.db'}"):
        with open_store(where) as store:
            assert store.runs() == []
    assert {path.name for path in tmp_path.glob("*.db")} == {"a.db", "b.db", "c.db"}


def test_sqlite_keeps_a_write_ahead_log_and_its_foreign_keys(tmp_path: Path) -> None:
    with open_store(tmp_path / "u.db") as store:
        with connection.reading(store._engine, store.name) as opened:
            pragma = {
                name: opened.exec_driver_sql(f"PRAGMA {name}").scalar()
                for name in ("journal_mode", "foreign_keys", "busy_timeout", "synchronous")
            }
        assert pragma == {"journal_mode": "wal", "foreign_keys": 1, "busy_timeout": 30_000, "synchronous": 2}
        with pytest.raises(StoreError, match="FOREIGN KEY"), connection.writing(store._engine, store.name) as opened:
            opened.exec_driver_sql("INSERT INTO measurements VALUES (99, 'm', 0, 1.0, 'm', 'lower', 'exact', NULL)")


def test_a_folder_is_no_database(tmp_path: Path) -> None:
    assert refusal(tmp_path) == f"{tmp_path}: a folder, not a database; give the path of a file in it"


def test_a_full_disk_is_the_cause_that_is_named_and_what_was_stored_is_whole(tmp_path: Path) -> None:
    """A motion of 4 MB, in a file that may grow by one page."""
    two = [case(parameters={"n": n}) for n in range(2)]
    with open_store(tmp_path / "u.db") as store:
        run = store.begin_run(info(), two)
        store.save_results(run, [result(two[0])])
        with connection.reading(store._engine, store.name) as open_one:
            pages = open_one.exec_driver_sql("PRAGMA page_count").scalar()
            open_one.exec_driver_sql(f"PRAGMA max_page_count={pages + 1}")
        noise = np.random.default_rng(1).normal(size=(10_000, 2, 3))
        motion = replace(falling(samples=10_000), pose=noise, state_hash="")
        with pytest.raises(StoreError, match=r"u\.db: the disk is full; make room on it\."):
            store.save_results(run, [result(two[1], trajectory=motion)])
        assert store.run(run).done == 1


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("postgresql://me:secret@db/x", "postgresql://me:***@db/x"),
        ("--db=postgresql://me:secret@db/x", "--db=postgresql://me:***@db/x"),
        ("postgresql://me:se@cr/et@db/x", "postgresql://me:***@db/x"),
        ("postgresql://me@corp:secret@db/x", "postgresql://me@corp:***@db/x"),
        ("postgresql://db/x?user=me&password=secret", "postgresql://db/x?user=me&password=***"),
        ("postgresql://db/x?p%61ssword=secret&sslmode=require", "postgresql://db/x?p%61ssword=***&sslmode=require"),
        ("mssql+pyodbc://?odbc_connect=PWD%3Dsecret", "mssql+pyodbc://?odbc_connect=***"),
        ("postgresql://db/x?passfile=/etc/pass", "postgresql://db/x?passfile=/etc/pass"),
        ("stack:n=3", "stack:n=3"),
    ],
)
def test_a_password_is_in_no_word_that_is_shown_or_stored(typed: str, shown: str) -> None:
    assert without_password(typed) == shown


@pytest.mark.parametrize("where", ["/dev/null", "/dev/zero", "pipe"])
def test_a_device_or_a_pipe_is_no_database_and_is_not_waited_for(where: str, tmp_path: Path) -> None:
    path = tmp_path / where  # which an absolute path replaces
    if where == "pipe":
        os.mkfifo(path)
    assert refusal(path) == f"{path}: a device or a pipe, not a file; give the path of a file"


@pytest.mark.parametrize(
    "where", [":memory:", "sqlite://", "sqlite:///:memory:", "sqlite:///file:x?uri=true", "sqlite:///x?mode=memory"]
)
def test_a_database_in_memory_would_end_with_the_command(where: str) -> None:
    assert refusal(where).endswith("in memory, where it ends with the command; give the path of a file")


def test_a_folder_of_no_user_is_one_line() -> None:
    assert refusal("~nobody-of-this-name/u.db").endswith("there is no such user's folder; give another path")


def test_a_name_that_no_file_can_have_is_one_line(tmp_path: Path) -> None:
    assert refusal(tmp_path / ("x" * 300)).endswith("cannot be read (File name too long); " + ELSEWHERE)


@pytest.mark.parametrize("how", ["deleted", "moved", "folder"])
def test_what_is_written_to_a_file_that_is_gone_is_saved_to_another_and_reported(how: str, tmp_path: Path) -> None:
    folder = tmp_path / "results"
    folder.mkdir()
    path = folder / "u.db"
    with open_store(path) as store:
        run = store.begin_run(info(), [case()])
        if how == "folder":
            shutil.rmtree(folder)
        for file in folder.glob("u.db*"):
            file.rename(tmp_path / file.name) if how == "moved" else file.unlink()
        with pytest.raises(LostFileError) as lost:
            store.save_results(run, [result()])
    saved = lost.value.saved
    assert str(lost.value) == f"{path}: deleted or moved while it was written to; what was stored is in {saved}"
    with open_store(saved) as store:
        assert store.run(run).done == 1
    if how == "folder":
        Path(saved).unlink()  # in the folder of temporary files


def test_a_file_of_another_kind_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("the block stands")
    assert refusal(path) == f"{path}: not a SQLite database; give another path"
    assert path.read_text() == "the block stands"


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    path = tmp_path / "results" / "u.db"
    assert refusal(path) == f"{path}: there is no folder {str(path.parent)!r}; make it, or give another path"


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The administrator may write anywhere, so the system's answer is replaced."""
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != tmp_path)
    assert refusal(tmp_path / "u.db").startswith(
        f"{tmp_path / 'u.db'}: cannot be written (read-only); nothing was run."
    )


@pytest.fixture
def nothing_can_be_written(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From its call on: the administrator may write anywhere, so the system's answer is replaced."""
    return lambda: monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)


def test_a_database_that_cannot_be_written_is_read_and_not_written(
    tmp_path: Path, nothing_can_be_written: Callable[[], None]
) -> None:
    path = tmp_path / "u%20.db"
    with open_store(path) as store:
        store.save_results(store.begin_run(info(), [case()]), [result()])
    before = path.read_bytes()
    nothing_can_be_written()
    with open_store(path) as store:
        assert store.run(1).done == 1
        for writing in (store.must_be_writable, lambda: store.begin_run(info(), [case()])):
            with pytest.raises(StoreError, match=r"u%20\.db: cannot be written \(read-only\); nothing was run"):
                writing()
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]


def test_an_older_database_that_cannot_be_written_is_to_be_copied(
    tmp_path: Path, nothing_can_be_written: Callable[[], None]
) -> None:
    path = tmp_path / "u.db"
    open_store(path).close()
    with closing(sqlite3.connect(path)) as old:
        old.execute("UPDATE alembic_version SET version_num = '0016'")
        old.commit()
    nothing_can_be_written()
    assert refusal(path).startswith(f"{path}: of an older Upright (revision 0016), and cannot be written (read-only)")


def test_a_file_that_cannot_be_brought_up_to_date_is_named(tmp_path: Path) -> None:
    path = tmp_path / "u.db"
    open_store(path).close()
    with closing(sqlite3.connect(path)) as old:  # which it is not: its tables are there already
        old.execute("UPDATE alembic_version SET version_num = '0002'")
        old.commit()
    assert refusal(path).startswith(f"{path}: cannot be brought up to date: ")


def test_a_damaged_database_is_said(tmp_path: Path) -> None:
    path = tmp_path / "u.db"
    with open_store(path) as store:
        store.save_results(store.begin_run(info(), [case()]), [result()])
    data = bytearray(path.read_bytes())
    data[100:4096] = b"\xff" * 3996
    path.write_bytes(data)
    assert "damaged" in refusal(path)


def test_a_server_that_is_not_there_is_said_without_the_password() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    described = refusal(f"postgresql://upright:secret@127.0.0.1:{port}/results")
    assert described == (
        f"cannot reach the database at 127.0.0.1:{port} (connection refused); nothing was run. "
        "Without --db results go to ./upright.db"
    )


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("", "no database given"),
        ("mongodb://localhost/x", "mongodb: a kind of database that SQLAlchemy does not know"),
        ("mssql+missing_driver://u@h/x", "mssql+missing_driver: a kind of database that SQLAlchemy does not know"),
        ("postgresql://upright:p@ss@host/x", "postgresql://...: more than one @; write one in a name or a password as"),
        ("postgresql://host:port/x", "postgresql://...: no URL that can be read; allowed: the path of a SQLite file"),
    ],
)
def test_words_that_are_no_database_are_refused(where: str, words: str) -> None:
    assert words in refusal(where)


def test_a_driver_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    assert "pip install 'upright[postgresql]'" in refusal("postgresql://localhost/x")


@pytest.mark.parametrize(
    ("libpq", "why"),
    [
        (
            'connection failed: connection to server at "10.0.0.1", port 5432 failed: Connection refused\n'
            "\tIs the server running on that host and accepting TCP/IP connections?",
            "connection refused",
        ),
        (
            'connection failed: connection to server at "::1", port 5432 failed: FATAL:  password authentication '
            'failed for user "upright"',
            'password authentication failed for user "upright"',
        ),
        ("failed to resolve host 'db.example': Name or service not known", None),
        ("", "Exception"),
    ],
)
def test_of_a_servers_paragraphs_the_cause_is_told(libpq: str, why: str | None) -> None:
    error = connection.unreachable("db.example:5432", sqlalchemy.exc.OperationalError("", {}, Exception(libpq)))
    assert str(error) == (
        f"cannot reach the database at db.example:5432 ({why or libpq.lower()}); nothing was run. "
        "Without --db results go to ./upright.db"
    )


def test_a_lock_that_stays_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "BUSY_LIMIT", 0.1)
    path = tmp_path / "u.db"
    with open_store(path) as store:
        holder = sqlite3.connect(path, isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        started = time.monotonic()
        with pytest.raises(StoreError, match=r"another process has kept it locked for 0\.1 s"):
            store.begin_run(info(), [case()])
        assert time.monotonic() - started < 5.0
        holder.execute("ROLLBACK")
        holder.close()
        assert store.begin_run(info(), [case()]) == 1


@pytest.mark.slow
def test_several_that_open_a_new_database_at_once_agree_on_one(tmp_path: Path) -> None:
    code = f"from validation.store import open_store; open_store({str(tmp_path / 'u.db')!r}).close()"
    at_once = [
        subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True) for _ in range(tries(3, 2))
    ]
    assert [process.communicate()[1] for process in at_once] == [""] * len(at_once)
    with open_store(tmp_path / "u.db") as store:
        assert store.begin_run(info(), [case()]) == 1


def test_nothing_heavy_is_imported_before_a_store_is_opened() -> None:
    """Every command imports the error; few open a store."""
    code = (
        "import sys, validation.store, validation.store.errors;"
        "print([m for m in ('sqlalchemy', 'alembic', 'numpy', 'pydantic') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


@pytest.mark.parametrize("wrong", ["", "half", 5, b"\x00", "99"])
def test_a_revision_that_is_none_is_damage(tmp_path: Path, wrong: object) -> None:
    path = tmp_path / "u.db"
    open_store(path).close()
    with closing(sqlite3.connect(path)) as opened, opened:
        opened.execute("UPDATE alembic_version SET version_num = ?", [wrong])
    assert refusal(path).startswith(f"{path}: damaged: table alembic_version, column version_num: ")

"""Brings a database to the revision that the models describe: a new one is made, an older one is changed in place."""

import sqlite3
import sys
from contextlib import closing
from pathlib import Path

from sqlalchemy import Connection, Engine, inspect, text

from validation.store.connection import in_one_line, reading, repeated, writing
from validation.store.errors import StoreError
from validation.store.sqlite_file import free_names

HEAD = "0020"
SCRIPTS = Path(__file__).parent / "migrations"
LOCK = 7_461_203  # any number that is ours: two processes that open the same new database take turns


@repeated
def migrate(engine: Engine, name: str) -> None:
    """Raises StoreError where the database is newer than this Upright, or somebody else's."""
    with reading(engine, name) as connection:
        if (revision := revision_of(connection, name)) == HEAD:
            return
    if engine.get_execution_options().get("read_only"):
        raise StoreError(
            f"{name}: of an older Upright (revision {revision or 'none'}), and cannot be written (read-only) to be "
            "brought up to date; copy it, and open the copy"
        )
    with writing(engine, name) as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
        found = revision_of(connection, name)
        if found != HEAD:
            copied = _copy(engine, found) if found else None
            upgrade(connection, HEAD, f"{name}: cannot be brought up to date")
            if copied:
                print(f"{name}: of an older Upright, brought up to date; as it was: {copied}", file=sys.stderr)


def _copy(engine: Engine, revision: str) -> Path | None:
    """A copy of a SQLite file beside it, as it was before the transaction that is open; None of a server's database."""
    if engine.dialect.name != "sqlite":
        return None
    file = Path(str(engine.url.database))
    [target] = free_names(file.with_name(f"{file.name}.revision-{revision}"))
    try:
        with closing(sqlite3.connect(file)) as old, closing(sqlite3.connect(target)) as new:
            old.backup(new)
    except (sqlite3.Error, OSError) as error:
        target.unlink(missing_ok=True)
        raise StoreError(
            f"{file}: cannot be copied to {target.name} before it is brought up to date ({error})"
        ) from None
    return target


def revision_of(connection: Connection, name: str) -> str:
    """The database's revision, "" for an empty one."""
    tables = set(inspect(connection).get_table_names())
    if "alembic_version" not in tables:
        if tables:
            some = ", ".join(sorted(tables)[:3])
            raise StoreError(f"{name}: a database of something else (it has: {some}); give another one")
        return ""
    found = connection.execute(text("SELECT version_num FROM alembic_version")).scalars().all()
    if found and found[0] > HEAD:
        raise StoreError(f"{name}: revision {found[0]} is newer than this Upright knows ({HEAD}); upgrade Upright")
    if len(found) > 1 or (found and "runs" not in tables):
        raise StoreError(f"{name}: a database of something else (revision {', '.join(found)}); give another one")
    return found[0] if found else ""


def upgrade(connection: Connection, revision: str, name: str = "migration") -> None:
    """Run the migrations up to `revision` inside the transaction of `connection`."""
    from alembic import command
    from alembic.config import Config

    configuration = Config()
    configuration.set_main_option("script_location", str(SCRIPTS).replace("%", "%%"))
    configuration.attributes["connection"] = connection
    with in_one_line(name):
        command.upgrade(configuration, revision)

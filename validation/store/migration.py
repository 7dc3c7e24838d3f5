"""Brings a database to the revision that the models describe: a new one is made, an older one is changed in place.
Also takes one back to the tables of an older Upright."""

import sqlite3
import sys
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine

from validation.store.connection import in_one_line, reading, repeated, writing
from validation.store.errors import StoreError
from validation.store.revision import HEAD, lock, revision_of
from validation.store.sqlite_file import free_names

SCRIPTS = Path(__file__).parent / "migrations"
FIRST = "0001"


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenBack:
    name: str  # of the database
    before: str  # its revision
    copy: Path | None  # of a SQLite file as it was; None: it was at the older revision already


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
        lock(connection, alone=True)
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
        raise StoreError(f"{file}: cannot be copied to {target.name} before its tables change ({error})") from None
    return target


@repeated
def take_back(engine: Engine, name: str, revision: str) -> TakenBack:
    """To an older revision. What the older tables have no
    place for is set aside in the database, and comes back with the next upgrade.

    Raises StoreError where there is no such revision, the database is empty, newer than this Upright, somebody else's,
    older already, or cannot be written.
    """
    if not (len(revision) == len(HEAD) and FIRST <= revision <= HEAD and revision.isdigit()):
        raise StoreError(f"revision: {revision[:40]!r} is none of this Upright; allowed: {FIRST} to {HEAD}")
    if engine.dialect.name == "sqlite" and not Path(str(engine.url.database)).exists():
        raise StoreError(f"{name}: there is no such file; give the path of a database")
    with writing(engine, name) as connection:
        lock(connection, alone=True)
        found = revision_of(connection, name)
        if not found:
            raise StoreError(f"{name}: an empty database, which has nothing to take back")
        if found < revision:
            raise StoreError(f"{name}: at revision {found}, older than {revision}; allowed: {FIRST} to {found}")
        if found == revision:
            return TakenBack(name=name, before=found, copy=None)
        copied = _copy(engine, found)
        downgrade(connection, revision, f"{name}: cannot be taken back")
    return TakenBack(name=name, before=found, copy=copied)


def upgrade(connection: Connection, revision: str, name: str = "migration") -> None:
    """Run the migrations up to `revision` inside the transaction of `connection`."""
    from alembic import command

    with in_one_line(name):
        command.upgrade(_configuration(connection), revision)


def downgrade(connection: Connection, revision: str, name: str = "migration") -> None:
    """As `upgrade`, down to `revision`."""
    from alembic import command

    with in_one_line(name):
        command.downgrade(_configuration(connection), revision)


def _configuration(connection: Connection) -> Any:
    from alembic.config import Config

    configuration = Config()
    configuration.set_main_option("script_location", str(SCRIPTS).replace("%", "%%"))
    configuration.attributes["connection"] = connection
    return configuration

"""Which revision of Upright's tables a database has, and that of this Upright."""

from typing import Any

from sqlalchemy import Connection, inspect, text

from validation.store.errors import DamagedError, StoreError

HEAD = "0023"
LOCK = 7_461_203  # any number that is ours: on a server whoever changes the tables waits for all who write


def revision_of(connection: Connection, name: str) -> str:
    """The database's revision, "" for an empty one. Raises StoreError where it is newer, or somebody else's."""
    tables = set(inspect(connection).get_table_names())
    if "alembic_version" not in tables:
        if tables:
            some = ", ".join(sorted(tables)[:3])
            raise StoreError(f"{name}: a database of something else (it has: {some}); give another one")
        return ""
    found = [str(one) for one in connection.execute(text("SELECT version_num FROM alembic_version")).scalars()]
    if "runs" in tables and not all(len(one) == len(HEAD) and one.isdecimal() for one in found):
        wrong = ", ".join(repr(one)[:40] for one in found)
        raise DamagedError(
            f"{name}: damaged: table alembic_version, column version_num: {wrong} is no revision; "
            "restore a copy of it, or give another path"
        )
    if found and found[0] > HEAD:
        raise StoreError(
            f"{name}: revision {found[0]} is newer than this Upright knows ({HEAD}); upgrade Upright, or take the "
            f"database back with the newer one: upright results downgrade {HEAD}"
        )
    if len(found) > 1 or (found and "runs" not in tables):
        raise StoreError(f"{name}: a database of something else (revision {', '.join(found)}); give another one")
    return found[0] if found else ""


def lock(connection: Connection, *, alone: bool) -> None:
    """Until the transaction ends nobody changes the tables of a server's database, or with `alone` nobody writes to
    them either. A SQLite file has one writer at a time anyway."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock{'' if alone else '_shared'}({LOCK})")


def must_not_be_older(connection: Connection, name: str, opened: str) -> None:
    """Raises StoreError where the tables were taken back since they were opened: what is written to them would be
    read as something else. Newer ones take what they can."""
    if (found := _stored(connection)) < opened:
        raise _changed(name, found, opened)


def changed(connection: Connection, name: str, opened: str) -> StoreError | None:
    """What to say of a statement that failed, where the tables have changed since they were opened."""
    found = _stored(connection)
    return None if found == opened else _changed(name, found, opened)


def _changed(name: str, found: str, opened: str) -> StoreError:
    if found < opened:
        return StoreError(f"{name}: taken back to revision {found} meanwhile, and this Upright needs {opened}")
    return StoreError(
        f"{name}: brought to revision {found} meanwhile, and this Upright knows {opened}; upgrade Upright"
    )


def _stored(connection: Connection) -> str:
    found: Any = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar_one()
    return str(found)

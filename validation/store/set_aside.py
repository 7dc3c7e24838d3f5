"""What a revision of the tables has and an older one has no place for is set aside on the way down, and comes back.

It stays in tables of its own, of which an older Upright knows nothing: `aside_REVISION_TABLE`. For migrations.
"""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op


def set_aside(revision: str, table: str, *columns: str, same: Sequence[str] = ("id",), where: str = "1 = 1") -> None:
    """Copy these columns. `same` says whose values they are: the first is the key, the others are texts that are the
    same as long as an older Upright has not changed what the row is about."""
    chosen = ", ".join(map(_quoted, (*same, *columns)))
    op.execute(f"CREATE TABLE {_name(revision, table)} AS SELECT {chosen} FROM {table} WHERE {where}")


def remove_columns(revision: str, table: str, *columns: str, same: Sequence[str] = ("id",)) -> None:
    """As `set_aside`; then the table has them no more."""
    set_aside(revision, table, *columns, same=same)
    for column in columns:
        op.drop_column(table, column)


def restore_columns(revision: str, table: str, *columns: str, same: Sequence[str] = ("id",)) -> None:
    """What was set aside is in the table again, where that has them; other rows stay as they are."""
    if not (aside := is_aside(revision, table)):
        return
    values = ", ".join(f"{_quoted(column)} = aside.{_quoted(column)}" for column in columns)
    key, *texts = same
    alike = [f"aside.{key} = {table}.{key}"]
    alike += [f"COALESCE(aside.{name}, '') = COALESCE({table}.{name}, '')" for name in texts]
    op.execute(f"UPDATE {table} SET {values} FROM {aside} AS aside WHERE {' AND '.join(alike)}")
    op.drop_table(aside)


def remove_tables(revision: str, *tables: str) -> None:
    for table in tables:
        op.rename_table(table, _name(revision, table))


def restore_tables(revision: str, *tables: str) -> bool:
    """Whether they were set aside; they are there again, all of them, or none was."""
    if not all(is_aside(revision, table) for table in tables):
        return False
    for table in tables:
        op.rename_table(_name(revision, table), table)
    return True


def is_aside(revision: str, table: str) -> str:
    """The name of the table that has what was set aside; "" where nothing was."""
    name = _name(revision, table)
    return name if sa.inspect(op.get_bind()).has_table(name) else ""


def _name(revision: str, table: str) -> str:
    return f"aside_{revision}_{table}"


def _quoted(column: str) -> str:
    return f'"{column}"'

"""Where a database is damaged: the first value that no command writes, by its table, row and column.

It is looked for only after reading has failed, for every table is gone through.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any

from sqlalchemy import Column, Connection, Table
from sqlalchemy.exc import SQLAlchemyError

from validation.judging.evidence.divergence import divergence_from_json
from validation.judging.verdict import changes_from_json, defects_from_json, grounds_from_json
from validation.records.outcome import outcomes_from_json
from validation.records.passport import rows_from_json
from validation.records.text import one_line
from validation.store import models
from validation.store.column_types import MOST, Blob, Flag, Instant, Measured, Number, OneOf, Real, Whole, Words
from validation.store.errors import UNREADABLE
from validation.store.stored_json import (
    counts_of,
    happened_of,
    lines_of,
    names_of,
    numbers_of,
    object_of,
    pairs_of,
    texts_of,
)

LONGEST = 60  # characters of a value in a message
OTHER: dict[type, str] = {
    Words: "typeof({0}) <> 'text'",
    OneOf: "typeof({0}) <> 'text'",
    Instant: "typeof({0}) <> 'text'",
    Whole: "typeof({0}) <> 'integer'",
    Flag: "{0} IS NOT 0 AND {0} IS NOT 1",
    Real: "typeof({0}) NOT IN ('real', 'integer')",
    Number: "typeof({0}) NOT IN ('real', 'integer')",
    Measured: f"typeof({{0}}) NOT IN ('real', 'integer') OR abs({{0}}) >= {MOST}",
    Blob: "typeof({0}) <> 'blob'",
}
"""In which rows of SQLite a column of such a type has something else, or NULL."""
NAMES: dict[type, str] = {
    Words: "a text",
    OneOf: "one of: ",
    Instant: "a time",
    Whole: "a whole number",
    Flag: "0 or 1",
    Real: "a number",
    Number: "a number",
    Measured: "a number of seconds or bytes",
    Blob: "bytes",
}
READERS: Mapping[Any, Callable[[str], object]] = {
    attribute.property.columns[0]: read
    for attribute, read in (
        (models.Run.packages, texts_of),
        (models.Run.labels, texts_of),
        (models.Run.asked, object_of),
        (models.Commit.parents, names_of),
        (models.Scene.json, object_of),
        (models.Case.given, object_of),
        (models.Case.settings, object_of),
        (models.Case.parameters, object_of),
        (models.Case.happened, outcomes_from_json),
        (models.Ensemble.happened, happened_of),
        (models.EnsembleSeries.values, numbers_of),
        (models.Verdict.grounds, lambda text: text and grounds_from_json(text)),
        (models.Verdict.changes, changes_from_json),
        (models.Verdict.defects, defects_from_json),
        (models.Verdict.divergence, divergence_from_json),
        (models.Find.seed, int),
        (models.Find.bodies, names_of),
        (models.Comparison.packages, pairs_of),
        (models.Comparison.counts, counts_of),
        (models.Comparison.lines, lines_of),
        (models.Passport.ways, rows_from_json),
        (models.Passport.declined, texts_of),
    )
}
"""What a text is read by that is not only shown."""


def damage_in(connection: Connection, name: str = "", only: str = "") -> str:
    """The first found, in words; "" where there is none. `name`: of a table; `only`: a row of it, as "id 3"."""
    with suppress(SQLAlchemyError):
        for table in models.Base.metadata.sorted_tables:
            for column in table.columns:
                for find in (_other_kind, _unreadable, _of_nothing, _not_done):
                    found = find(connection, table, column) if name in ("", table.name) else ()
                    for row, what in ((row, what) for row, what in found if only in ("", row)):
                        return one_line(f"table {table.name}, row {row}, column {column.name}: {what}")
    return ""


Found = Iterator[tuple[str, str]]
"""Row, and what is wrong."""


def _other_kind(connection: Connection, table: Table, column: Column[Any]) -> Found:
    """What only SQLite stores."""
    if connection.dialect.name == "sqlite":
        name, kind = _quoted(connection, column.name), type(column.type)
        other, called = OTHER[kind].format(name), NAMES[kind]
        if isinstance(column.type, OneOf):
            other += f" OR {name} NOT IN ({', '.join(map(repr, column.type.allowed))})"
            called += ", ".join(column.type.allowed)
        where = f"({other})" + (f" AND {name} IS NOT NULL" if column.nullable else "")
        for value, row in _rows(connection, table, f"substr(quote({name}), 1, {LONGEST})", where):
            yield row, f"{value} is not {called}"


def _unreadable(connection: Connection, table: Table, column: Column[Any]) -> Found:
    name, sqlite = _quoted(connection, column.name), connection.dialect.name == "sqlite"
    if column in READERS or (sqlite and isinstance(column.type, Words | Instant)):
        read = datetime.fromisoformat if isinstance(column.type, Instant) else READERS.get(column, str)
        for value, row in _rows(connection, table, f"CAST({name} AS BLOB)" if sqlite else name, f"{name} IS NOT NULL"):
            try:
                read(value.decode() if sqlite else value)
            except UNREADABLE as error:
                yield row, f"{_text(value)} cannot be read ({type(error).__name__}: {error!s:.200})"


def _of_nothing(connection: Connection, table: Table, column: Column[Any]) -> Found:
    for key in column.foreign_keys:
        name, other = _quoted(connection, column.name), _quoted(connection, key.column.table.name)
        there = f"SELECT {_quoted(connection, key.column.name)} FROM {other}"
        for value, row in _rows(connection, table, name, f"{name} IS NOT NULL AND {name} NOT IN ({there})"):
            yield row, f"there is no {_text(value)} in table {key.column.table.name}"


def _not_done(connection: Connection, table: Table, column: Column[Any]) -> Found:
    """A case of which something is stored that only a case that is done can be."""
    if column is models.Case.__table__.c.outcome:
        for other in ("verdicts", "ledger_cases", "ensembles"):
            where = f"outcome IS NULL AND id IN (SELECT case_id FROM {other})"
            for _, row in _rows(connection, table, "id", where):
                yield row, f"NULL, as if it were not done, and table {other} has it"


def _rows(connection: Connection, table: Table, value: str, where: str) -> Iterator[tuple[Any, str]]:
    """With which row it is, by its primary key."""
    kind = "BLOB" if connection.dialect.name == "sqlite" else "TEXT"
    keys = [key.name for key in table.primary_key]
    key_values = ", ".join(f"CAST({_quoted(connection, key)} AS {kind})" for key in keys)
    query = f"SELECT {value}, {key_values} FROM {_quoted(connection, table.name)} WHERE {where}"
    for found, *values in connection.exec_driver_sql(query.replace("%", "%%")):
        yield found, ", ".join(f"{key} {_text(part)}" for key, part in zip(keys, values))


def _quoted(connection: Connection, name: str) -> str:
    return connection.dialect.identifier_preparer.quote(name)


def _text(value: Any) -> str:
    """Short, and of one line."""
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    short = text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
    return short if short.isalnum() else repr(short)

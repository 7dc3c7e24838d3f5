"""The types of columns. SQLite takes any value in any column: one that none of these has written is an error here.

What else reads it then knows what it has; `damage` finds out in which row it is.
"""

import math
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, ClassVar

from sqlalchemy import Boolean, DateTime, Double, Integer, LargeBinary, MetaData, Text
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

MOST = 2.0**63


class DamagedValueError(ValueError):
    """A value that no command writes into such a column."""


class Checked:
    """What comes out of SQLite is of `kinds`; NULL only where the column may be that."""

    kinds: ClassVar[tuple[type, ...]]
    required = False  # of a column that is NULL in no query: see `set_required`

    def fits(self, value: Any) -> bool:
        return value.__class__ in self.kinds

    def checked(self, value: Any) -> Any:
        if self.required if value is None else not self.fits(value):
            raise DamagedValueError(f"{value!r:.60}")
        return value

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any] | None:
        if dialect.name == "sqlite":
            kinds, checked = self.kinds, self.checked
            if type(self).fits is not Checked.fits or type(self).checked is not Checked.checked:
                return checked
            return lambda value: value if value.__class__ in kinds else checked(value)  # of most of a million values
        made: Callable[[Any], Any] | None = super().result_processor(dialect, coltype)  # type: ignore[misc]
        return made


class Whole(Checked, Integer):
    kinds = (int,)


class Flag(Checked, Boolean):
    kinds = (int, bool)

    def fits(self, value: Any) -> bool:
        return value in (0, 1)

    def checked(self, value: Any) -> bool | None:
        return None if super().checked(value) is None else bool(value)


class Real(Checked, Double):
    kinds = (float, int)


class Measured(Real):
    """Of a run: seconds or bytes."""

    def fits(self, value: Any) -> bool:
        return super().fits(value) and abs(value) < MOST


class Blob(Checked, LargeBinary):
    kinds = (bytes,)


class Instant(Checked, TypeDecorator[datetime]):
    """A moment: aware in Python, UTC in the database, also where that knows no time zones (SQLite)."""

    impl = DateTime(timezone=True)
    cache_ok = True
    kinds = (datetime,)

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if self.checked(value) is None or value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)

    result_processor = TypeDecorator.result_processor


class Words(Checked, TypeDecorator[str]):
    """Text that may come from anywhere: NUL and half surrogates, which databases refuse, are replaced."""

    impl = Text
    cache_ok = True
    kinds = (str,)

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        if value is None or (value.isascii() and "\0" not in value):
            return value
        return value.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode("utf-8")


class OneOf(Words):
    """Text of a few known words."""

    cache_ok = True

    def __init__(self, *allowed: str) -> None:
        super().__init__()
        self.allowed = allowed

    def fits(self, value: Any) -> bool:
        return value in self.allowed


class Number(Checked, TypeDecorator[float]):
    """A double in which NaN is NULL (SQLite has no NaN)."""

    impl = Double
    cache_ok = True
    kinds = (float, int)

    def process_bind_param(self, value: float | None, dialect: Dialect) -> float | None:
        return None if value is None or math.isnan(value) else float(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> float:
        return math.nan if value is None else float(self.checked(value))

    result_processor = TypeDecorator.result_processor


def set_required(metadata: MetaData) -> None:
    """Of columns that are never NULL; a number that is a key is in outer joins, and where the largest of none is asked
    for."""
    for table in metadata.tables.values():
        for column in table.columns:
            key = column.foreign_keys or (column.primary_key and isinstance(column.type, Integer))
            column.type.required = not (column.nullable or key)  # type: ignore[attr-defined]

"""What an engine's bits depend on: scenes simulated in several ways, and a file to be compared on another machine."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from scenarios.fields import Data, Positive


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A scene in another way."""

    scene: str  # its label
    same: bool | None  # None: not tried
    why: str = ""  # it is not tried; or what became of it, where it has no motion
    first: float = 0.0  # s, where a bit differs
    apart: float | None = None  # m, at most, of the fastest points of a body; None: not known


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    way: str
    found: tuple[Compared, ...]


_ROWS = TypeAdapter(tuple[Row, ...])


def rows_to_json(rows: Sequence[Row]) -> str:
    return json.dumps([asdict(row) for row in rows])


def rows_from_json(text: str) -> tuple[Row, ...]:
    """Raises ValueError where it is not as `rows_to_json` writes it."""
    return _ROWS.validate_json(text, strict=True)


class Motion(Data):
    """What a passport has of one scene."""

    scene: Annotated[str, Field(max_length=100)]  # hash of its content
    dt: Positive  # s
    motion: Annotated[str, Field(max_length=100)]  # hash of its states


class Passport(Data):
    """Bits of an engine on one machine, to be compared on another."""

    format: Literal[1] = 1
    upright: Annotated[str, Field(max_length=100)]
    engine: Annotated[str, Field(max_length=200)]
    version: Annotated[str, Field(max_length=200)]
    profile: Annotated[str, Field(max_length=100)]
    platform: Annotated[str, Field(max_length=200)]
    processor: Annotated[str, Field(max_length=500)]
    motions: Annotated[dict[str, Motion], Field(max_length=1000)]  # by label of the scene


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """An engine's rows, and the passport that it has here."""

    passport: Passport
    rows: tuple[Row, ...]
    declined: Mapping[str, str]  # label of a scene -> why there is no motion to compare with

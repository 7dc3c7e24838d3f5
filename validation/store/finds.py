"""What fuzzing found: engine, law and scene, never twice."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, TypeVar

from sqlalchemy import Connection, insert, select, update
from sqlalchemy.exc import OperationalError

from scenarios.scene import Scene, content_hash, parse_scene
from scenarios.scene_error import SceneError
from validation.records.stored import StoredFind
from validation.records.text import one_line
from validation.store import models, runs
from validation.store.connection import Database
from validation.store.errors import UNREADABLE, StoreError
from validation.store.models import record_of
from validation.store.motions import packed, save_motions
from validation.store.stored_json import names_of

Value = TypeVar("Value")


class Finds(Database):
    def add_find(
        self,
        *,
        engine: str,
        engine_version: str,
        profile: str,
        seed: int,
        dt: float,
        oracle: str,
        message: str,
        scene: Scene,
        bodies: Sequence[str] = (),
    ) -> int:
        """The find's number; the same engine, law and scene are stored once. One that was fixed is open again."""
        about = {"engine": engine, "oracle": oracle, "scene_hash": content_hash(scene)}
        with self._writing() as connection:
            runs.save_scenes(connection, [scene])
            there = select(models.Find.id).filter_by(**about)
            found = connection.execute(there).scalar()
            if found is not None:
                _mark(connection, int(found), fixed_in="")
                return int(found)
            row = about | {
                "found": datetime.now(UTC),
                "engine_version": engine_version,
                "profile": profile,
                "seed": str(seed),
                "dt": dt,
                "message": message,
                "bodies": json.dumps(list(bodies)),
            }
            return int(connection.execute(insert(models.Find).values(row).returning(models.Find.id)).scalar_one())

    def mark_find(self, number: int, *, known: str, known_by: str = "", link: str = "") -> None:
        """Why it is known, by whom, where; "" takes that back. Raises StoreError where there is no such find."""
        self.find(number)
        with self._writing() as connection:
            _mark(connection, number, known=known, known_by=known_by, link=link)

    def mark_fixed(self, number: int, engine_version: str) -> None:
        """By which version its law is broken no more; "": it is."""
        with self._writing() as connection:
            _mark(connection, number, fixed_in=engine_version)

    def hand_over(self, number: int, texts: Mapping[str, str], encoded: bytes = b"") -> None:
        """Of its columns `script`, `issue` and `lacks` (why there is no script, or no issue) those that are given, and
        its motion, as bytes of a trajectory."""
        motion = packed(encoded)
        with self._writing() as connection:
            if motion is not None:
                save_motions(connection, [motion])
                texts = {**texts, "trajectory_key": motion["key"]}
            if texts:
                _mark(connection, number, **texts)

    def mark_since(self, number: int, since: str, not_in: str) -> None:
        """The first version of the engine that breaks its law, and the last before it that does not."""
        with self._writing() as connection:
            _mark(connection, number, since=since, not_in=not_in)

    def finds(self) -> list[StoredFind]:
        """Oldest first; without those of which `damaged_finds` has a line."""
        return self._finds_and_damaged()[0]

    def damaged_finds(self) -> list[str]:
        """A line for each find that cannot be read: damaged, or stored by a newer Upright."""
        return self._finds_and_damaged()[1]

    def _finds_and_damaged(self) -> tuple[list[StoredFind], list[str]]:
        with self._reading() as connection:
            with suppress(*UNREADABLE, OperationalError):  # one by one, where not all can be read
                return _finds(connection), []
            found: list[StoredFind] = []
            damaged: list[str] = []
            for number in connection.execute(select(models.Find.id).order_by(models.Find.id)).scalars().all():
                try:
                    found += _finds(connection, models.Find.id == number)
                except (*UNREADABLE, OperationalError) as error:
                    damaged.append(_left_out(connection, number, error))
            return (found, damaged) if found else (_finds(connection), [])  # of none that can be read it is an error

    def find(self, number: int) -> StoredFind:
        with self._reading() as connection:
            found = _finds(connection, models.Find.id == number)
            if not found:
                known = connection.execute(select(models.Find.id).order_by(models.Find.id)).scalars().all()
                known_numbers = ", ".join(str(n) for n in known[-8:]) or "none yet"
                raise StoreError(f"find {number}: not in this database; it has: {known_numbers}")
        return found[0]


def _mark(connection: Connection, number: int, **fields: str) -> None:
    connection.execute(update(models.Find).where(models.Find.id == number).values(**fields))


def _finds(connection: Connection, *where: Any) -> list[StoredFind]:
    query = (
        select(models.Find.__table__, models.Scene.json)
        .join(models.Scene, models.Scene.hash == models.Find.scene_hash)
        .where(*where)
        .order_by(models.Find.id)
    )
    return [
        record_of(
            StoredFind,
            row,
            number=row.id,
            when=row.found,
            seed=_read(int, row.seed, "seed"),
            dt=_read(_step, row.dt, "dt"),
            bodies=tuple(_read(names_of, row.bodies, "bodies")),
            scene=_scene(row.json, row.id),
        )
        for row in connection.execute(query)
    ]


def _left_out(connection: Connection, number: int, error: Exception) -> str:
    """One line. A SceneError names the find, and may be of a newer format."""
    from validation.store.damage import damage_in  # of all the tables, and what reads them

    if isinstance(error, SceneError):
        return f"{one_line(str(error))}; this find is left out"
    where = damage_in(connection, models.Find.__tablename__, f"id {number}")
    where = where or f"table finds, row id {number}: {one_line(str(error))}"
    return f"damaged: {where}; this find is left out"


def _read(read: Callable[[Any], Value], value: Any, column: str) -> Value:
    """Raises ValueError that names the column."""
    try:
        return read(value)
    except UNREADABLE as error:
        raise ValueError(f"{column}: {str(value)[:60]!r}: {error}") from error


def _step(value: Any) -> float:
    """s; no other number is one, and NULL is none."""
    dt = float(value)
    if not 0.0 < dt < math.inf:
        raise ValueError("a time step is a positive number of seconds")
    return dt


def _scene(text: str, number: int) -> Scene:
    try:
        return _parsed(text)
    except SceneError:  # once more, to say of which find
        return parse_scene(json.loads(text), where=f"find {number}")
    except UNREADABLE as error:
        raise ValueError(f"its scene is damaged: {error}") from error


@lru_cache(maxsize=2000)
def _parsed(text: str) -> Scene:
    """A list of finds is read again and again, and reading their scenes is nearly all of its time."""
    return parse_scene(json.loads(text))

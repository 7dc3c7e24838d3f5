"""What fuzzing found: engine, law and scene, never twice."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, insert, select, update

from scenarios.scene import Scene, content_hash, parse_scene
from scenarios.scene_error import SceneError
from validation.records.stored import StoredFind
from validation.store import models, runs
from validation.store.connection import Database
from validation.store.errors import StoreError
from validation.store.models import record_of
from validation.store.motions import packed, save_motions
from validation.store.stored_json import names_of


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
        """Oldest first."""
        with self._reading() as connection:
            return _finds(connection)

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
            seed=int(row.seed),
            dt=float(row.dt),  # which NULL is not
            bodies=tuple(names_of(row.bodies)),
            scene=_scene(row.json, row.id),
        )
        for row in connection.execute(query)
    ]


def _scene(text: str, number: int) -> Scene:
    try:
        return _parsed(text)
    except SceneError:  # once more, to say of which find
        return parse_scene(json.loads(text), where=f"find {number}")


@lru_cache(maxsize=2000)
def _parsed(text: str) -> Scene:
    """A list of finds is read again and again, and reading their scenes is nearly all of its time."""
    return parse_scene(json.loads(text))

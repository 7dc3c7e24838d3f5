"""What fuzzing found: engine, law and scene, never twice."""

import json
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, insert, select

from scenarios.scene import Scene, content_hash, parse_scene
from validation.records.stored import StoredFind
from validation.store import models, runs
from validation.store.connection import Database
from validation.store.errors import StoreError
from validation.store.models import record_of


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
    ) -> int:
        """The find's number; the same engine, law and scene are stored once."""
        about = {"engine": engine, "oracle": oracle, "scene_hash": content_hash(scene)}
        with self._writing() as connection:
            runs.save_scenes(connection, [scene])
            there = select(models.Find.id).filter_by(**about)
            found = connection.execute(there).scalar()
            if found is not None:
                return int(found)
            row = about | {
                "found": datetime.now(UTC),
                "engine_version": engine_version,
                "profile": profile,
                "seed": str(seed),
                "dt": dt,
                "message": message,
            }
            return int(connection.execute(insert(models.Find).values(row).returning(models.Find.id)).scalar_one())

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
            scene=parse_scene(json.loads(row.json), where=f"find {row.id}"),
        )
        for row in connection.execute(query)
    ]

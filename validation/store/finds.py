"""What fuzzing found: engine, law and scene, never twice."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, insert, select

from scenarios.scene import Scene, content_hash, parse_scene
from validation.records.stored import StoredFind
from validation.store import models, runs


def add(connection: Connection, scene: Scene, **about: Any) -> int:
    """The find's number; of one that is stored already, that."""
    runs.save_scenes(connection, [scene])
    scene_hash = content_hash(scene)
    found = connection.execute(
        select(models.Find.id).where(
            models.Find.engine == about["engine"],
            models.Find.oracle == about["oracle"],
            models.Find.scene_hash == scene_hash,
        )
    ).scalar()
    if found is not None:
        return int(found)
    row = about | {"seed": str(about["seed"]), "found": datetime.now(UTC), "scene_hash": scene_hash}
    return int(connection.execute(insert(models.Find).values(row).returning(models.Find.id)).scalar_one())


def finds(connection: Connection, *where: Any) -> list[StoredFind]:
    """Oldest first."""
    query = (
        select(models.Find.__table__, models.Scene.json)
        .join(models.Scene, models.Scene.hash == models.Find.scene_hash)
        .where(*where)
        .order_by(models.Find.id)
    )
    return [
        StoredFind(
            number=row.id,
            when=row.found,
            engine=row.engine,
            engine_version=row.engine_version,
            profile=row.profile,
            seed=int(row.seed),
            dt=row.dt,
            oracle=row.oracle,
            message=row.message,
            scene=parse_scene(json.loads(row.json), where=f"find {row.id}"),
        )
        for row in connection.execute(query)
    ]

"""Runs and their cases: planned at once, finished one by one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, func, insert, select, update

from scenarios.scene import Scene, content_hash, parse_scene, same_scene, write_scene
from scenarios.scene_error import SceneError
from validation.records.case import Case, Identity, Result, RunInfo, case_key
from validation.records.measurement import Measurement
from validation.records.stored import StoredRun
from validation.records.trajectory import Trajectory, TrajectoryError, from_bytes, to_bytes
from validation.store import models
from validation.store.compression import PackingError, pack, unpack
from validation.store.connection import insert_new
from validation.store.errors import StoreError

LIKEWISE = 100  # runs by the same words that are looked at for what one of them should have
NOT_DONE = {
    "outcome": None,
    "reason": "",
    "headline": "",
    "trajectory_hash": "",
    "trajectory_key": None,
    "wall_time": 0.0,
    "peak_memory": 0.0,
    "step_count": 0,
    "stepping_time": 0.0,
}
IDENTITY = [getattr(models.Case, name) for name in Identity.__dataclass_fields__]
CASE = [
    *IDENTITY,
    *(getattr(models.Case, n) for n in ("label", "engine_label", "scene_hash", "engine_version", "settings")),
    models.Case.parameters,
    models.Case.processor,
]


# --- writing ------------------------------------------------------------------------------------------------------


def begin(
    connection: Connection,
    info: RunInfo,
    planned: Sequence[Case],
    *,
    base: str = "",
    merge_base: str = "",
    asked: Mapping[str, Any] | None = None,
) -> int:
    row = {
        "started": info.started,
        "finished": None,
        "commit": info.commit,
        "branch": info.branch,
        "dirty": info.dirty,
        "machine": info.machine,
        "platform": info.platform,
        "python": info.python,
        "packages": json.dumps(dict(info.packages)),
        "command": info.command,
        "timing": info.timing,
        "labels": json.dumps(dict(info.labels)),
        "base": base,
        "merge_base": merge_base,
        "default_branch": info.default_branch,
        "asked": json.dumps(dict(asked or {})),
    }
    (run,) = connection.execute(insert(models.Run).values(row).returning(models.Run.id)).one()
    rows = {case_key(case): case for case in planned}
    if rows:
        connection.execute(insert(models.Case), [_case_row(run, key, case) for key, case in rows.items()])
    return int(run)


def _case_row(run: int, key: str, case: Case) -> dict[str, Any]:
    identity = {name: getattr(case.identity, name) for name in Identity.__dataclass_fields__}
    return identity | {
        "run_id": run,
        "key": key,
        "identity_key": case.identity.key,
        "label": case.label,
        "engine_label": case.engine_label,
        "scene_hash": case.scene_hash,
        "engine_version": case.engine_version,
        "settings": json.dumps(dict(case.settings)),
        "parameters": case.parameters,
        "processor": case.processor,
        **NOT_DONE,
    }


class Packed:
    """A trajectory ready to be stored: packed outside the transaction, so that this stays short."""

    __slots__ = ("data", "key")

    def __init__(self, trajectory: Trajectory) -> None:
        plain = to_bytes(trajectory)
        # Over the bytes, not the state: two cases may move alike and report different contacts.
        self.key = hashlib.sha256(plain).hexdigest()
        self.data = pack(plain)


def save(connection: Connection, run: int, result: Result, packed: Packed | None) -> int:
    """The case's number. What is stored already stays as it is: a baseline may rest on it."""
    key = result.key
    query = select(models.Case.id, models.Case.outcome).where(models.Case.run_id == run, models.Case.key == key)
    found = connection.execute(query).one_or_none()
    if found is None:
        require(connection, run)
        row = _case_row(run, key, result.case)
        (number,) = connection.execute(insert(models.Case).values(row).returning(models.Case.id)).one()
    elif found.outcome is not None:
        return int(found.id)
    else:
        number = found.id
    if packed is not None:
        _save_trajectory(connection, packed)
    connection.execute(
        update(models.Case)
        .where(models.Case.id == number)
        .values(
            outcome=result.outcome,
            reason=result.reason,
            headline=result.headline,
            trajectory_hash=result.trajectory_hash,
            trajectory_key=None if packed is None else packed.key,
            wall_time=result.wall_time,
            peak_memory=float(result.peak_memory),
            step_count=result.step_count,
            stepping_time=result.stepping_time,
        )
    )
    rows = [_measurement_row(number, position, m) for position, m in enumerate(result.measurements)]
    if rows:
        connection.execute(insert(models.Measurement), rows)
    return int(number)


def _measurement_row(case: int, position: int, m: Measurement) -> dict[str, Any]:
    names = ("metric", "value", "unit", "better", "noise", "resolution")
    return {"case_id": case, "position": position} | {name: getattr(m, name) for name in names}


def add_measurements(connection: Connection, run: int, found: Mapping[str, Sequence[Measurement]]) -> None:
    """By case key; after those that a case has. A metric that it has already stays as it is."""
    require(connection, run)
    query = select(models.Case.key, models.Case.id).where(
        models.Case.run_id == run, models.Case.outcome.is_not(None), models.Case.key.in_(found)
    )
    numbers = {row.key: row.id for row in connection.execute(query)}
    alien = next((key for key in found if key not in numbers), None)
    if alien is not None:
        raise StoreError(f"run {run}: case {alien[:12]}... is none of its cases that are done; nothing was added")
    rows = []
    for key, measurements in found.items():
        there = connection.execute(
            select(models.Measurement.metric).where(models.Measurement.case_id == numbers[key])
        ).scalars()
        has = set(there)
        fresh = [m for m in measurements if m.metric not in has]
        rows += [_measurement_row(numbers[key], len(has) + i, m) for i, m in enumerate(fresh)]
    if rows:
        connection.execute(insert(models.Measurement), rows)


def _save_trajectory(connection: Connection, packed: Packed) -> None:
    there = select(models.Trajectory.key).where(models.Trajectory.key == packed.key)
    if connection.execute(there).first() is None:
        insert_new(connection, models.Trajectory, {"key": packed.key, "data": packed.data})


def save_scenes(connection: Connection, scenes: Iterable[Scene]) -> None:
    by_hash = {content_hash(scene): scene for scene in scenes}
    there = set(connection.execute(select(models.Scene.hash)).scalars())
    for scene_hash, scene in by_hash.items():
        if scene_hash not in there:
            insert_new(connection, models.Scene, {"hash": scene_hash, "json": write_scene(scene, indent=None)})


def finish(connection: Connection, run: int) -> None:
    require(connection, run)
    connection.execute(
        update(models.Run).where(models.Run.id == run, models.Run.finished.is_(None)).values(finished=datetime.now(UTC))
    )


# --- reading ------------------------------------------------------------------------------------------------------


def require(connection: Connection, run: int) -> None:
    """Raises StoreError where there is no such run."""
    if connection.execute(select(models.Run.id).where(models.Run.id == run)).first() is None:
        latest = connection.execute(select(func.max(models.Run.id))).scalar()
        raise StoreError(f"run {run}: not in this database; {f'the latest is {latest}' if latest else 'it has none'}")


def runs(connection: Connection, *where: Any, limit: int | None = None) -> list[StoredRun]:
    """Newest first."""
    query = select(models.Run.__table__).where(*where).order_by(models.Run.id.desc()).limit(limit)
    rows = connection.execute(query).all()
    numbers = [row.id for row in rows]
    counts = {
        row.run_id: (row.planned, row.done)
        for row in connection.execute(
            select(models.Case.run_id, func.count().label("planned"), func.count(models.Case.outcome).label("done"))
            .where(models.Case.run_id.in_(numbers))
            .group_by(models.Case.run_id)
        )
    }
    return [_run_of(row, *counts.get(row.id, (0, 0))) for row in rows]


def _run_of(row: Row[Any], planned: int, done: int) -> StoredRun:
    names = ("started", "commit", "branch", "dirty", "machine", "platform", "python", "command", "timing")
    info = RunInfo(
        **{name: getattr(row, name) for name in names},
        packages=json.loads(row.packages),
        default_branch=row.default_branch,
        labels=json.loads(row.labels),
    )
    return StoredRun(number=row.id, info=info, finished=row.finished, planned=planned, done=done)


def asked(connection: Connection, run: int) -> dict[str, Any]:
    found = connection.execute(select(models.Run.asked).where(models.Run.id == run)).scalar_one()
    return dict(json.loads(found))


def asked_likewise(connection: Connection, run: int, identities: Collection[str]) -> set[str]:
    """Of these identities those that one of the latest runs has had which was asked for by the same words."""
    words = asked(connection, run).get("words", {})
    every = select(models.Run.id, models.Run.asked).where(models.Run.id < run).order_by(models.Run.id.desc())
    alike = [row.id for row in connection.execute(every) if json.loads(row.asked).get("words", {}) == words][:LIKEWISE]
    had = select(models.Case.identity_key).where(models.Case.run_id.in_(alike)).distinct()
    return set(connection.execute(had).scalars()) & set(identities)


def cases(connection: Connection, run: int, *, pending: bool = False) -> list[Case]:
    """In the order of the plan; `pending`: only those not done."""
    query = select(*CASE).where(models.Case.run_id == run).order_by(models.Case.id)
    if pending:
        query = query.where(models.Case.outcome.is_(None))
    return [case_of(row) for row in connection.execute(query)]


def by_run(connection: Connection, numbers: Collection[int]) -> dict[int, list[int]]:
    """Run -> those of these cases that are of it. Raises StoreError where one is not in this database."""
    query = select(models.Case.id, models.Case.run_id).where(models.Case.id.in_(numbers)).order_by(models.Case.id)
    found: dict[int, list[int]] = {}
    for row in connection.execute(query):
        found.setdefault(row.run_id, []).append(row.id)
    alien = sorted(set(numbers) - {number for those in found.values() for number in those})
    if alien:
        raise StoreError(f"case {alien[0]}: not in this database; nothing was written")
    return found


def case_of(row: Row[Any]) -> Case:
    return Case(
        identity=Identity(**{name: getattr(row, name) for name in Identity.__dataclass_fields__}),
        label=row.label,
        engine_label=row.engine_label,
        scene_hash=row.scene_hash,
        engine_version=row.engine_version,
        settings=json.loads(row.settings),
        parameters=row.parameters,
        processor=row.processor,
    )


def results(connection: Connection, *where: Any) -> list[Result]:
    """Of the cases that are done and meet `where`, in the order of their numbers."""
    done = [models.Case.outcome.is_not(None), *where]
    measurements: dict[int, list[Measurement]] = {}
    chosen: Select[Any] = (
        select(models.Measurement.__table__)
        .join(models.Case, models.Case.id == models.Measurement.case_id)
        .where(*done)
        .order_by(models.Measurement.case_id, models.Measurement.position)
    )
    for row in connection.execute(chosen):
        measurements.setdefault(row.case_id, []).append(
            Measurement(
                metric=row.metric,
                value=row.value,
                unit=row.unit,
                better=row.better,
                noise=row.noise,
                resolution=row.resolution,
            )
        )
    rows = connection.execute(select(models.Case.__table__).where(*done).order_by(models.Case.id))
    return [
        Result(
            case=case_of(row),
            outcome=row.outcome,
            reason=row.reason,
            measurements=tuple(measurements.get(row.id, ())),
            headline=row.headline,
            trajectory_hash=row.trajectory_hash,
            trajectory_key=row.trajectory_key or "",
            wall_time=row.wall_time,
            peak_memory=int(row.peak_memory),
            step_count=row.step_count,
            stepping_time=row.stepping_time,
            run=row.run_id,
            number=row.id,
        )
        for row in rows
    ]


def trajectory(connection: Connection, key: str) -> Trajectory | None:
    data = connection.execute(select(models.Trajectory.data).where(models.Trajectory.key == key)).scalar()
    if data is None:
        return None
    try:
        return from_bytes(unpack(data))
    except (PackingError, TrajectoryError) as error:
        raise StoreError(f"trajectory {key[:12]}: cannot be read ({error})") from None


def scene(connection: Connection, scene_hash: str) -> Scene:
    text = connection.execute(select(models.Scene.json).where(models.Scene.hash == scene_hash)).scalar()
    if text is None:
        raise StoreError(f"scene {scene_hash[:12]}: not in this database")
    return parse_scene(json.loads(text), where=f"stored scene {scene_hash[:12]}")


def scene_changed(connection: Connection, old: Case, new: Case) -> bool:
    """By more than round-off. Where one of the two is not stored, the hashes alone tell."""
    if old.scene_hash == new.scene_hash:
        return False
    try:
        return not same_scene(scene(connection, old.scene_hash), scene(connection, new.scene_hash))
    except (StoreError, SceneError):
        return True


def labelled(connection: Connection, label: str) -> list[tuple[str, str]]:
    """(scenario, scene hash) of the cases of this label, each once."""
    query = select(models.Case.scenario, models.Case.scene_hash).where(models.Case.label == label).distinct()
    return [(row.scenario, row.scene_hash) for row in connection.execute(query)]

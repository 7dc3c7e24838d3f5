"""Runs and their cases: planned at once, finished one by one."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, bindparam, func, insert, select, update

from scenarios.scene import Scene, content_hash, parse_scene, same_scene, write_scene
from scenarios.scene_error import SceneError
from validation.records.case import Case, Identity, Result, RunInfo
from validation.records.measurement import Measurement
from validation.records.outcome import outcomes_from_json, outcomes_to_json
from validation.records.stored import StoredRun
from validation.records.trajectory import Trajectory, TrajectoryError, from_bytes
from validation.review.lineage import History, Lineage
from validation.store import ancestry, models
from validation.store.compression import PackingError, unpack
from validation.store.connection import Database, insert_new
from validation.store.errors import StoreError
from validation.store.models import record_of, row_of
from validation.store.motions import packed_motion, save_motions, stored_motions
from validation.store.stored_json import checked_object, object_of, texts_of

LIKEWISE = 100  # runs by the same words that are looked at for what one of them should have
CASE = [
    getattr(models.Case, field.name)
    for field in (*fields(Identity), *fields(Case))
    if field.init and field.name != "identity"
]
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
    "trace": "",
    "taken_from": 0,
}


class Runs(Database):
    # --- writing --------------------------------------------------------------------------------------------------

    def begin_run(
        self,
        info: RunInfo,
        planned: Sequence[Case],
        scenes: Iterable[Scene] = (),
        *,
        lineage: Lineage | None = None,
        history: History | None = None,
        asked: Mapping[str, Any] | None = None,
    ) -> int:
        """The run's number. The planned cases are written at once, so that a killed run can be resumed.

        `lineage` is that of a change which is compared with its merge base. `history` has which commits come before
        this one, and so what was accepted on this branch and what on another of its name. `asked` is what a resumed
        run has to know, as JSON has it.
        """
        row = row_of(
            models.Run,
            info,
            packages=json.dumps(dict(info.packages)),
            labels=json.dumps(dict(info.labels)),
            base=lineage.base if lineage else "",
            merge_base=lineage.merge_base if lineage else "",
            asked=json.dumps(dict(asked or {})),
        )
        with self._writing(once=True) as connection:
            save_scenes(connection, scenes)
            run = int(connection.execute(insert(models.Run).values(row).returning(models.Run.id)).scalar_one())
            rows = {case.key: case for case in planned}
            if rows:
                connection.execute(insert(models.Case), [_case_row(run, key, case) for key, case in rows.items()])
            if history is not None:
                ancestry.save(connection, history, [lineage.merge_base] if lineage else [])
            ancestry.put_in_order(connection)
            return run

    def save_results(self, run: int, results: Sequence[Result]) -> list[int]:
        """The cases' numbers. All in one transaction; a case that is done already stays as it is: a baseline may rest
        on it."""
        # Packed before the transaction, so that this stays short.
        packed = [packed_motion(result) for result in results]
        with self._writing() as connection:
            numbers = _save(connection, run, results, packed)
        return [numbers[result.key] for result in results]

    def add_measurements(self, run: int, found: Mapping[str, Sequence[Measurement]]) -> None:
        """To cases of this run that are done, by case key: what was measured beside them. One that a case has already
        stays as it is."""
        with self._writing() as connection:
            numbers = numbers_of(connection, run, models.Case.outcome.is_not(None))
            alien = next((key for key in found if key not in numbers), None)
            if alien is not None:
                raise StoreError(
                    f"run {run}: case {alien[:12]}... is none of its cases that are done; nothing was added"
                )
            there: dict[int, set[str]] = {numbers[key]: set() for key in found}
            known = select(models.Measurement.case_id, models.Measurement.metric)
            for case, metric in connection.execute(known.where(models.Measurement.case_id.in_(there))):
                there[case].add(metric)
            fresh = {
                numbers[key]: (len(has), [m for m in measurements if m.metric not in has])
                for key, measurements in found.items()
                for has in [there[numbers[key]]]
            }
            _save_measurements(connection, fresh)

    def finish_run(self, run: int) -> None:
        with self._writing() as connection:
            require(connection, run)
            going_on = models.Run.id == run, models.Run.finished.is_(None)
            connection.execute(update(models.Run).where(*going_on).values(finished=datetime.now(UTC)))

    # --- reading --------------------------------------------------------------------------------------------------

    def run(self, number: int) -> StoredRun:
        with self._reading() as connection:
            require(connection, number)
            return runs(connection, models.Run.id == number)[0]

    def runs(self, limit: int | None = None, *, branch: str | None = None) -> list[StoredRun]:
        """Newest first; of a branch, or of all."""
        where = [] if branch is None else [models.Run.branch == branch]
        with self._reading() as connection:
            return runs(connection, *where, limit=limit)

    def latest_run(self) -> int | None:
        """The latest finished one."""
        with self._reading() as connection:
            found = runs(connection, models.Run.finished.is_not(None), limit=1)
        return found[0].number if found else None

    def unfinished_run(self) -> tuple[int, list[Case]] | None:
        """The latest run that is not finished, and the cases that it still owes."""
        with self._reading() as connection:
            found = runs(connection, models.Run.finished.is_(None), limit=1)
            if not found:
                return None
            return found[0].number, _cases(connection, found[0].number, models.Case.outcome.is_(None))

    def asked(self, run: int) -> dict[str, Any]:
        """What `begin_run` was given as `asked`; empty for a run of before it was kept."""
        with self._reading() as connection:
            require(connection, run)
            found = connection.execute(select(models.Run.asked).where(models.Run.id == run)).scalar_one()
            return object_of(found)

    def asked_likewise(self, run: int, identities: Collection[str]) -> set[str]:
        """Of these identities those that a run has had whose `asked["words"]` are this one's; of before they were kept
        any run counts as one of everything. The last 100 such runs are looked at."""
        words = self.asked(run).get("words", {})
        every = select(models.Run.id, models.Run.asked).where(models.Run.id < run).order_by(models.Run.id.desc())
        with self._reading() as connection:
            alike = [row.id for row in connection.execute(every) if object_of(row.asked).get("words", {}) == words]
            had = select(models.Case.identity_key).where(models.Case.run_id.in_(alike[:LIKEWISE])).distinct()
            return set(connection.execute(had).scalars()) & set(identities)

    def cases(self, run: int) -> list[Case]:
        """As planned, done or not."""
        with self._reading() as connection:
            require(connection, run)
            return _cases(connection, run)

    def results(self, run: int) -> list[Result]:
        """Of the cases that are done, in the order of the plan."""
        with self._reading() as connection:
            require(connection, run)
            return results(connection, models.Case.run_id == run)

    def known_results(self, cache_keys: Collection[str]) -> dict[str, Result]:
        """By cache key, the latest that was simulated, completed and measured, and whose motion is stored."""
        newest = (
            select(func.max(models.Case.id))
            .where(
                models.Case.cache_key.in_(list(cache_keys)),
                models.Case.outcome == "completed",
                models.Case.taken_from == 0,
                models.Case.trajectory_key.is_not(None),
                models.Case.trajectory_hash != "",
            )
            .group_by(models.Case.cache_key)
        )
        with self._reading() as connection:
            found = results(connection, models.Case.id.in_(newest))
        return {one.case.cache_key: one for one in found if one.measurements and one.outcomes is not None}

    def forget_results(self, engine: str) -> None:
        """Nothing stored of this engine is given by `known_results` any more; the results themselves stay."""
        of_engine = models.Case.engine == engine, models.Case.cache_key != ""
        with self._writing() as connection:
            connection.execute(update(models.Case).where(*of_engine).values(cache_key=""))

    def result(self, number: int) -> Result:
        """Of the case with this number."""
        with self._reading() as connection:
            found = results(connection, models.Case.id == number)
        if not found:
            raise StoreError(f"case {number}: not in this database, or not done")
        return found[0]

    def trajectory(self, key: str) -> Trajectory | None:
        """Of a result's `trajectory_key`; None where it is not stored."""
        with self._reading() as connection:
            data = connection.execute(select(models.Trajectory.data).where(models.Trajectory.key == key)).scalar()
        try:
            return None if data is None else from_bytes(unpack(data))
        except (PackingError, TrajectoryError) as error:
            raise StoreError(f"trajectory {key[:12]}: cannot be read ({error})") from None

    def scene(self, scene_hash: str) -> Scene:
        with self._reading() as connection:
            text = connection.execute(select(models.Scene.json).where(models.Scene.hash == scene_hash)).scalar()
        if text is None:
            raise StoreError(f"scene {scene_hash[:12]}: not in this database")
        try:
            return parse_scene(json.loads(text), where=f"stored scene {scene_hash[:12]}")
        except ValueError as error:  # of a database that was made by hand; a SceneError too
            raise StoreError(str(error)) from None

    def store_scene(self, scene: Scene) -> str:
        """Store a scene of no case; its content hash, by which `scene` finds it."""
        with self._writing() as connection:
            save_scenes(connection, [scene])
        return content_hash(scene)

    def scene_changed(self, old: Case, new: Case) -> bool:
        """Whether the second is of another scene, by more than round-off. Where one of the two is not stored, the
        hashes alone tell."""
        if old.scene_hash == new.scene_hash:
            return False
        try:
            return not same_scene(self.scene(old.scene_hash), self.scene(new.scene_hash))
        except (StoreError, SceneError):
            return True

    def labelled_scene(self, label: str) -> tuple[str, Scene]:
        """Name and scene of a scene file or a model that was run, by the label of its cases; of a model that releases
        describe otherwise the latest description."""
        Case = models.Case
        query = select(Case.scenario, Case.parameters, Case.scene_hash, func.max(Case.id).label("latest"))
        query = query.where(Case.label == label).group_by(Case.scenario, Case.parameters, Case.scene_hash)
        with self._reading() as connection:
            found = sorted(connection.execute(query).all(), key=lambda row: row.latest)
        contents = {(row.scenario, row.parameters) for row in found}
        if len(contents) != 1:
            what = "no scene" if not found else f"{len(contents)} scenes"
            raise StoreError(f"{label}: {what} of this name and content in {self.name}; give the path of its file")
        return found[-1].scenario, self.scene(found[-1].scene_hash)


# --- within a transaction: writing --------------------------------------------------------------------------------


def _case_row(run: int, key: str, case: Case) -> dict[str, Any]:
    identity = row_of(models.Case, case.identity, key=key, identity_key=case.identity.key)
    settings = json.dumps(dict(case.settings))
    return row_of(models.Case, case, run_id=run, settings=settings, **identity, **NOT_DONE)


def _save(
    connection: Connection, run: int, results: Sequence[Result], packed: Sequence[dict[str, Any] | None]
) -> dict[str, int]:
    """The cases' numbers, by key; a few statements for all."""
    first = {one.key: (one, motion) for one, motion in reversed(list(zip(results, packed)))}
    there = _locked(connection, run, first)
    if absent := [_case_row(run, key, one.case) for key, (one, _) in first.items() if key not in there]:
        require(connection, run)
        connection.execute(insert(models.Case), absent)
        there = _locked(connection, run, first)
    owed = {row.id: first[key] for key, row in there.items() if row.outcome is None}
    save_motions(connection, [motion for _, motion in owed.values() if motion])
    taken = stored_motions(connection, [one.trajectory_key for one, _ in owed.values() if one.taken_from])
    rows = []
    for number, (one, motion) in owed.items():
        key = motion["key"] if motion else one.trajectory_key if one.trajectory_key in taken else None
        happened = None if one.outcomes is None else outcomes_to_json(one.outcomes)
        moved = {"trajectory_key": key, "peak_memory": float(one.peak_memory), "cache_key": one.case.cache_key}
        rows.append(row_of(models.Case, one, number=number, happened=happened, **moved))
    if rows:
        which = update(models.Case).where(models.Case.id == bindparam("number"))
        connection.execute(which, rows)
    _save_measurements(connection, {number: (0, one.measurements) for number, (one, _) in owed.items()})
    return {key: int(row.id) for key, row in there.items()}


def _locked(connection: Connection, run: int, keys: Collection[str]) -> dict[str, Any]:
    """The rows of these cases that there are, by key: of another process that is to write them too (PostgreSQL) one
    waits for the other."""
    query = select(models.Case.id, models.Case.key, models.Case.outcome).order_by(models.Case.id).with_for_update()
    rows = connection.execute(query.where(models.Case.run_id == run, models.Case.key.in_(keys)))
    return {row.key: row for row in rows}


def _save_measurements(connection: Connection, found: Mapping[int, tuple[int, Sequence[Measurement]]]) -> None:
    """By case: how many it has already, and more."""
    rows = [
        row_of(models.Measurement, one, case_id=case, position=position)
        for case, (after, measurements) in found.items()
        for position, one in enumerate(measurements, after)
    ]
    if rows:
        connection.execute(insert(models.Measurement), rows)


def save_scenes(connection: Connection, scenes: Iterable[Scene]) -> None:
    by_hash = {content_hash(scene): scene for scene in scenes}
    known = select(models.Scene.hash).where(models.Scene.hash.in_(by_hash))
    there = set(connection.execute(known).scalars())
    fresh = [{"hash": one, "json": write_scene(by_hash[one], indent=None)} for one in sorted(by_hash.keys() - there)]
    insert_new(connection, models.Scene, fresh)


# --- within a transaction: reading --------------------------------------------------------------------------------


def require(connection: Connection, run: int) -> None:
    """Raises StoreError where there is no such run."""
    if connection.execute(select(models.Run.id).where(models.Run.id == run)).first() is None:
        latest = connection.execute(select(func.max(models.Run.id))).scalar()
        raise StoreError(f"run {run}: not in this database; {f'the latest is {latest}' if latest else 'it has none'}")


def numbers_of(connection: Connection, run: int, *where: Any) -> dict[str, int]:
    """By case key, of a run's cases that meet `where`."""
    require(connection, run)
    query = select(models.Case.key, models.Case.id).where(models.Case.run_id == run, *where)
    return {row.key: row.id for row in connection.execute(query)}


def runs(connection: Connection, *where: Any, limit: int | None = None) -> list[StoredRun]:
    """Newest first."""
    query = select(models.Run.__table__).where(*where).order_by(models.Run.id.desc()).limit(limit)
    rows = connection.execute(query).all()
    counted = (
        select(models.Case.run_id, func.count(), func.count(models.Case.outcome))
        .where(models.Case.run_id.in_([row.id for row in rows]))
        .group_by(models.Case.run_id)
    )
    counts = {run: (planned, done) for run, planned, done in connection.execute(counted)}
    found = []
    for row in rows:
        info = record_of(RunInfo, row, packages=texts_of(row.packages), labels=texts_of(row.labels))
        planned, done = counts.get(row.id, (0, 0))
        found.append(StoredRun(number=row.id, info=info, finished=row.finished, planned=planned, done=done))
    return found


def _cases(connection: Connection, run: int, *where: Any) -> list[Case]:
    """In the order of the plan."""
    query = select(*CASE).where(models.Case.run_id == run, *where).order_by(models.Case.id)
    return [case_of(row) for row in connection.execute(query)]


def case_of(row: Row[Any]) -> Case:
    """Of a row with the columns CASE."""
    checked_object(row.given), checked_object(row.parameters)
    return record_of(Case, row, identity=record_of(Identity, row), settings=object_of(row.settings))


def results(connection: Connection, *where: Any) -> list[Result]:
    """Of the cases that are done and meet `where`, in the order of their numbers."""
    done = [models.Case.outcome.is_not(None), *where]
    measurements: dict[int, list[Measurement]] = {}
    chosen = (
        select(models.Measurement.__table__)
        .join(models.Case, models.Case.id == models.Measurement.case_id)
        .where(*done)
        .order_by(models.Measurement.case_id, models.Measurement.position)
    )
    for row in connection.execute(chosen):
        measurements.setdefault(row.case_id, []).append(record_of(Measurement, row))
    rows = connection.execute(select(models.Case.__table__).where(*done).order_by(models.Case.id))
    return [
        record_of(
            Result,
            row,
            case=case_of(row),
            measurements=tuple(measurements.get(row.id, ())),
            outcomes=outcomes_from_json(row.happened),
            trajectory_key=row.trajectory_key or "",
            peak_memory=int(row.peak_memory),
            run=row.run_id,
            number=row.id,
        )
        for row in rows
    ]

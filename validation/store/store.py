"""The store: each method is one transaction. What it refuses is a StoreError of one line."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Self

from sqlalchemy import Engine, select
from sqlalchemy.exc import SQLAlchemyError

from scenarios.scene import Scene
from validation.case import Case, CaseResult, RunInfo
from validation.store import finds, judgements, models, runs
from validation.store.connection import connect, reading, unreachable, writing
from validation.store.errors import StoreError
from validation.store.migration import migrate
from validation.store.records import Baseline, Point, StoredFind, StoredResult, StoredRun, case_key
from validation.trajectory import Trajectory
from validation.verdict import Verdict

MAIN_BRANCHES = ("main", "master", "")
"""Where a baseline is looked for when the branch has none of its own; "" is outside a repository."""


def open_store(where: str | Path) -> Store:
    """The database at a path (SQLite) or a SQLAlchemy URL; made where there is none, migrated where it is older.

    Raises StoreError: cannot be reached, read or written; no database; newer than this Upright; somebody else's.
    """
    engine, name = connect(str(where))
    try:
        if engine.dialect.name != "sqlite":
            try:
                engine.connect().close()
            except SQLAlchemyError as error:
                raise unreachable(name, error) from None
        migrate(engine, name)
    except BaseException:
        engine.dispose()
        raise
    return Store(engine, name)


class Store:
    """Use as a context manager, or `close` it."""

    def __init__(self, engine: Engine, name: str) -> None:
        self._engine = engine
        self.name = name  # path, or host:port

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._engine.dispose()

    # --- runs -----------------------------------------------------------------------------------------------------

    def begin_run(self, info: RunInfo, planned: Sequence[Case], scenes: Iterable[Scene] = ()) -> int:
        """The run's number. The planned cases are written at once, so that a killed run can be resumed."""
        with writing(self._engine, self.name) as connection:
            runs.save_scenes(connection, scenes)
            return runs.begin(connection, info, planned)

    def save_result(self, run: int, result: CaseResult) -> int:
        """The case's number. A case that is done already stays as it is."""
        return self.save_results(run, [result])[0]

    def save_results(self, run: int, results: Sequence[CaseResult]) -> list[int]:
        """All of them in one transaction."""
        trajectories = [result.simulation.trajectory for result in results]
        packed = [None if trajectory is None else runs.Packed(trajectory) for trajectory in trajectories]
        with writing(self._engine, self.name) as connection:
            return [runs.save(connection, run, result, part) for result, part in zip(results, packed)]

    def save_scenes(self, scenes: Iterable[Scene]) -> None:
        with writing(self._engine, self.name) as connection:
            runs.save_scenes(connection, scenes)

    def finish_run(self, run: int) -> None:
        with writing(self._engine, self.name) as connection:
            runs.finish(connection, run)

    def run(self, number: int) -> StoredRun:
        with reading(self._engine, self.name) as connection:
            runs.require(connection, number)
            return runs.runs(connection, models.Run.id == number)[0]

    def runs(self, limit: int | None = None) -> list[StoredRun]:
        """Newest first."""
        with reading(self._engine, self.name) as connection:
            return runs.runs(connection, limit=limit)

    def latest_run(self) -> int | None:
        """The latest finished one."""
        with reading(self._engine, self.name) as connection:
            found = runs.runs(connection, models.Run.finished.is_not(None), limit=1)
        return found[0].number if found else None

    def unfinished_run(self) -> tuple[int, list[Case]] | None:
        """The latest run that is not finished, and the cases that it still owes."""
        with reading(self._engine, self.name) as connection:
            found = runs.runs(connection, models.Run.finished.is_(None), limit=1)
            if not found:
                return None
            return found[0].number, runs.cases(connection, found[0].number, pending=True)

    def cases(self, run: int) -> list[Case]:
        """As planned, done or not."""
        with reading(self._engine, self.name) as connection:
            runs.require(connection, run)
            return runs.cases(connection, run)

    def pending(self, run: int) -> set[str]:
        """Keys (`case_key`) of the cases that are not done."""
        with reading(self._engine, self.name) as connection:
            runs.require(connection, run)
            return {case_key(case) for case in runs.cases(connection, run, pending=True)}

    def results(self, run: int) -> list[StoredResult]:
        """Of the cases that are done, in the order of the plan."""
        with reading(self._engine, self.name) as connection:
            runs.require(connection, run)
            return runs.results(connection, models.Case.run_id == run)

    def result(self, number: int) -> StoredResult:
        """Of the case with this number."""
        with reading(self._engine, self.name) as connection:
            found = runs.results(connection, models.Case.id == number)
        if not found:
            raise StoreError(f"case {number}: not in this database, or not done")
        return found[0]

    def trajectory(self, key: str) -> Trajectory | None:
        """Of a result's `trajectory_key`; None where it is not stored."""
        with reading(self._engine, self.name) as connection:
            return runs.trajectory(connection, key)

    def scene(self, scene_hash: str) -> Scene:
        with reading(self._engine, self.name) as connection:
            return runs.scene(connection, scene_hash)

    def history(self, identity_key: str, metric: str, limit: int = 1000) -> list[Point]:
        """A metric of an identity over runs, oldest first; overrides are among them."""
        with reading(self._engine, self.name) as connection:
            return runs.history(connection, identity_key, metric, limit)

    # --- judgements -----------------------------------------------------------------------------------------------

    def accept(
        self,
        run: int,
        *,
        who: str,
        reason: str,
        scenarios: Collection[str] = (),
        engines: Collection[str] = (),
        branch: str | None = None,
        until: datetime | None = None,
    ) -> int:
        """Make results of a run the baseline of their identities; how many.

        `scenarios` and `engines` are labels as typed, empty for all; `branch` is the run's own where it is not given.
        Declined and broken cases are accepted too: from then on they are known.
        """
        if not reason.strip():
            raise StoreError("reason: '' is empty; say why these measurements are right")
        with writing(self._engine, self.name) as connection:
            runs.require(connection, run)
            return judgements.accept(
                connection,
                run,
                who=who,
                reason=reason,
                scenarios=scenarios,
                engines=engines,
                branch=branch,
                until=until,
            )

    def baseline(self, identity_key: str, branch: str) -> Baseline | None:
        """The one in effect on a branch, or on a main branch where the branch has none."""
        with reading(self._engine, self.name) as connection:
            of_it = models.Baseline.identity_key == identity_key
            return judgements.baselines(connection, _branches(branch), of_it).get(identity_key)

    def baselines(self, branch: str) -> dict[str, Baseline]:
        """By identity key, those in effect on a branch."""
        with reading(self._engine, self.name) as connection:
            return judgements.baselines(connection, _branches(branch))

    def save_verdicts(self, run: int, verdicts: Iterable[Verdict]) -> None:
        with writing(self._engine, self.name) as connection:
            judgements.save_verdicts(connection, run, verdicts)

    def verdicts(self, run: int) -> list[Verdict]:
        """In the order of the plan."""
        with reading(self._engine, self.name) as connection:
            runs.require(connection, run)
            return judgements.verdicts(connection, run)

    # --- finds ----------------------------------------------------------------------------------------------------

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
        with writing(self._engine, self.name) as connection:
            return finds.add(
                connection,
                scene,
                engine=engine,
                engine_version=engine_version,
                profile=profile,
                seed=seed,
                dt=dt,
                oracle=oracle,
                message=message,
            )

    def finds(self, engine: str | None = None) -> list[StoredFind]:
        """Oldest first."""
        with reading(self._engine, self.name) as connection:
            return finds.finds(connection, *([] if engine is None else [models.Find.engine == engine]))

    def find(self, number: int) -> StoredFind:
        with reading(self._engine, self.name) as connection:
            found = finds.finds(connection, models.Find.id == number)
            if not found:
                known = connection.execute(select(models.Find.id).order_by(models.Find.id)).scalars().all()
                listed = ", ".join(str(n) for n in known[-8:]) or "none yet"
                raise StoreError(f"find {number}: not in this database; it has: {listed}")
        return found[0]


def _branches(branch: str) -> list[str]:
    return list(dict.fromkeys((branch, *MAIN_BRANCHES)))

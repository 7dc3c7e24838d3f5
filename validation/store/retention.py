"""Motions of old runs are removed, and the space that they took is given back. Numbers and decisions stay for good."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection, delete, func, select, update

from validation.store import models
from validation.store.connection import Database, vacuum
from validation.store.errors import StoreError

AT_ONCE = 500  # motions of a transaction, so that whoever writes meanwhile does not wait long
LATELY = timedelta(days=1)  # within which a run that is not finished may be one that goes on
KEY = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """Of motions: what is removed, or would be."""

    runs: int
    motions: int
    size: int  # bytes, as stored
    left: int  # motions that stay


class Retention(Database):
    def removable(self, *, days: float | None = None, last: int | None = None) -> Removal:
        """Motions of runs that began more than so many days ago, and are not among the last so many of their branch;
        None: that does not matter. None of a case of the ledger, of a find, of a comparison or of a run that is not
        finished."""
        with self._reading() as connection:
            runs = _old_runs(connection, days, last)
            keys = _removable(connection, runs)
            every = int(connection.execute(select(func.count()).select_from(models.Trajectory)).scalar_one())
            return Removal(runs=len(runs), motions=len(keys), size=_size(connection, keys), left=every - len(keys))

    def remove_motions(self, *, days: float | None = None, last: int | None = None) -> Removal:
        """What `removable` finds, in several transactions: one that is stopped has removed a part. Cases keep the hash
        of their motion, and all their numbers."""
        with self._reading() as connection:
            runs = _old_runs(connection, days, last)
            keys = _removable(connection, runs)
        removed = size = 0
        for i in range(0, len(keys), AT_ONCE):
            with self._writing() as connection:
                # Of these somebody may have decided, and a run may have taken them, meanwhile.
                part = _removable(connection, runs, keys[i : i + AT_ONCE])
                removed, size = removed + len(part), size + _size(connection, part)
                gone = update(models.Case).where(models.Case.trajectory_key.in_(part)).values(trajectory_key=None)
                connection.execute(gone)
                connection.execute(delete(models.Trajectory).where(models.Trajectory.key.in_(part)))
        with self._reading() as connection:
            every = int(connection.execute(select(func.count()).select_from(models.Trajectory)).scalar_one())
        return Removal(runs=len(runs), motions=removed, size=size, left=every)

    def compact(self) -> None:
        """Give the space of what was removed back to the disk; nobody may write meanwhile. Raises StoreError where a
        run of the last day is not finished, or somebody writes for longer than is waited for."""
        since = datetime.now(UTC) - LATELY
        going_on = select(func.max(models.Run.id)).where(models.Run.finished.is_(None), models.Run.started > since)
        with self._reading() as connection:
            run = connection.execute(going_on).scalar()
        if run is not None:
            raise StoreError(
                f"{self.name}: run {run} is not finished; compact when it is, or finish it: upright run --resume"
            )
        vacuum(self._engine, self.name)


def _old_runs(connection: Connection, days: float | None, last: int | None) -> set[int]:
    Run = models.Run
    before = None if days is None else datetime.now(UTC) - timedelta(days=days)
    seen = Counter[str]()
    old = set()
    query = select(Run.id, Run.branch, Run.started).where(Run.finished.is_not(None)).order_by(Run.id.desc())
    for row in connection.execute(query):
        seen[row.branch] += 1
        if (before is None or row.started < before) and (last is None or seen[row.branch] > last):
            old.add(row.id)
    return old


def _removable(connection: Connection, runs: Collection[int], among: Collection[str] | None = None) -> list[str]:
    """Keys of motions that only these runs have, and nobody has decided on or compared; in their order."""
    Case, EntryCase = models.Case, models.EntryCase
    chosen = [Case.trajectory_key.is_not(None)] if among is None else [Case.trajectory_key.in_(among)]
    decided = select(Case.trajectory_key).join(EntryCase, EntryCase.case_id == Case.id).where(*chosen)
    stays = set(connection.execute(decided).scalars())
    for text in connection.execute(select(models.Comparison.lines)).scalars():
        stays.update(KEY.findall(text))
    stays.update(connection.execute(select(models.Find.trajectory_key)).scalars())
    found: set[str] = set()
    for row in connection.execute(select(Case.run_id, Case.trajectory_key).where(*chosen)):
        (found if row.run_id in runs else stays).add(row.trajectory_key)
    return sorted(found - stays)


def _size(connection: Connection, keys: Sequence[str]) -> int:
    """Bytes."""
    size = func.coalesce(func.sum(func.length(models.Trajectory.data)), 0)
    parts = [keys[i : i + AT_ONCE] for i in range(0, len(keys), AT_ONCE)]
    return sum(
        int(connection.execute(select(size).where(models.Trajectory.key.in_(part))).scalar_one()) for part in parts
    )

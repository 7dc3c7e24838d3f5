"""What pages look at of many runs at once: aggregated by the database, never fetched row by row."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, Select, func, select, text

from validation.records.stored import Baseline, Point
from validation.store import judgements, ledger, models, runs
from validation.store.connection import Database

Case, Verdict = models.Case, models.Verdict
HISTORY = 1000  # values of a metric that are looked back on
POINT = ("id", "run_id", "engine_label", "engine_version", "outcome", "trajectory_hash")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCounts:
    """A run in figures."""

    outcomes: dict[str, int]  # by outcome; "" for what is not done
    verdicts: dict[str, int]  # by word
    wall_time: float  # s, of its simulations
    peak_memory: float  # bytes, of the largest


class Overview(Database):
    def run_counts(self, numbers: Collection[int]) -> dict[int, RunCounts]:
        """What became of the cases of these runs, counted, by run."""
        with self._reading() as connection:
            found = {number: RunCounts(outcomes={}, verdicts={}, wall_time=0.0, peak_memory=0.0) for number in numbers}
            outcomes = (
                select(
                    Case.run_id,
                    Case.outcome,
                    func.count().label("cases"),
                    func.sum(Case.wall_time).label("wall"),
                    func.max(Case.peak_memory).label("memory"),
                )
                .where(Case.run_id.in_(numbers))
                .group_by(Case.run_id, Case.outcome)
            )
            for row in connection.execute(outcomes):
                counts = found[row.run_id]
                found[row.run_id] = RunCounts(
                    outcomes=counts.outcomes | {row.outcome or "": row.cases},
                    verdicts=counts.verdicts,
                    wall_time=counts.wall_time + row.wall,
                    peak_memory=max(counts.peak_memory, row.memory),
                )
            words = (
                select(Case.run_id, Verdict.word, func.count().label("cases"))
                .join(Verdict, Verdict.case_id == Case.id)
                .where(Case.run_id.in_(numbers))
                .group_by(Case.run_id, Verdict.word)
            )
            for run, word, count in connection.execute(words):
                found[run].verdicts[word] = count
            return found

    def branches(self) -> list[str]:
        """Those that have runs, the one with the newest run first."""
        with self._reading() as connection:
            newest = func.max(models.Run.id)
            query = select(models.Run.branch).group_by(models.Run.branch).order_by(newest.desc())
            return list(connection.execute(query).scalars())

    def baselines_numbered(self, numbers: Collection[int]) -> dict[int, Baseline]:
        """By number, in effect or not."""
        with self._reading() as connection:
            rows = connection.execute(ledger.ACCEPTED.where(models.EntryCase.id.in_(numbers))).all()
            results = {
                result.number: result for result in runs.results(connection, Case.id.in_([row.case_id for row in rows]))
            }
            return {row.id: judgements.baseline_of(row, results[row.case_id]) for row in rows}

    def acceptances(self, identity_key: str, branches: Collection[str]) -> list[Baseline]:
        """Of an identity on these branches, oldest first, in effect or not."""
        of_case = Case.identity_key == identity_key, models.Entry.branch.in_(branches)
        query = ledger.ACCEPTED.where(*of_case).with_only_columns(models.EntryCase.id)
        with self._reading() as connection:
            numbers = list(connection.execute(query).scalars())
        found = self.baselines_numbered(numbers)
        return [found[number] for number in sorted(found)]

    def accepted_branches(self) -> set[str]:
        """Those on which something was accepted."""
        with self._reading() as connection:
            return set(
                connection.execute(select(models.Entry.branch).where(models.Entry.act == "accept").distinct()).scalars()
            )

    def size(self) -> tuple[int, int]:
        """Bytes of the database, and how many motions it holds."""
        with self._reading() as connection:
            if connection.dialect.name == "sqlite":
                pages, page = (
                    connection.execute(text(f"PRAGMA {name}")).scalar_one() for name in ("page_count", "page_size")
                )
                taken = int(pages) * int(page)
            else:
                taken = int(connection.execute(text("SELECT pg_database_size(current_database())")).scalar_one())
            return taken, int(connection.execute(select(func.count()).select_from(models.Trajectory)).scalar_one())

    def history(
        self,
        identity_key: str,
        metric: str,
        limit: int = HISTORY,
        *,
        engine_label: str | None = None,
        branches: Collection[str] | None = None,
        up_to: int | None = None,
        later: int = 0,
    ) -> list[Point]:
        """A metric of an identity over runs, oldest first, at most so many of the latest; overrides are among them.

        Only of an engine as typed, and of these branches, where those are given. With `up_to` those up to that run, and
        the first `later` ones behind it.
        """
        with self._reading() as connection:
            query = _history(identity_key, metric)
            if engine_label is not None:
                query = query.where(models.Case.engine_label == engine_label)
            if branches is not None:
                query = query.where(models.Run.branch.in_(branches))
            newest_first = query.order_by(models.Case.id.desc()).limit(limit)
            behind: Sequence[Row[Any]] = ()
            if up_to is not None:
                newest_first = newest_first.where(models.Case.run_id <= up_to)
                following = query.where(models.Case.run_id > up_to).order_by(models.Case.id).limit(later)
                behind = connection.execute(following).all() if later else ()
            return [_point(row) for row in (*reversed(connection.execute(newest_first).all()), *behind)]


def _history(identity_key: str, metric: str) -> Select[Any]:
    return (
        select(*(getattr(models.Case, name) for name in POINT))
        .add_columns(models.Run.started, models.Run.commit, models.Run.branch, models.Run.machine)
        .add_columns(models.Measurement.value, models.Measurement.unit)
        .join(models.Run, models.Run.id == models.Case.run_id)
        .outerjoin(
            models.Measurement,
            (models.Measurement.case_id == models.Case.id) & (models.Measurement.metric == metric),
        )
        .where(models.Case.identity_key == identity_key, models.Case.outcome.is_not(None))
    )


def _point(row: Row[Any]) -> Point:
    return Point(
        run=row.run_id,
        case=row.id,
        started=row.started,
        commit=row.commit,
        branch=row.branch,
        machine=row.machine,
        engine_label=row.engine_label,
        engine_version=row.engine_version,
        outcome=row.outcome,
        value=row.value,
        unit=row.unit or "",
        trajectory_hash=row.trajectory_hash,
    )

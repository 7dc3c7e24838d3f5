"""What pages look at of many runs at once: aggregated by the database, never fetched row by row."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import func, select, text

from validation.judging.trends import Trend, trend
from validation.records import case as records
from validation.records.measurement import Measurement
from validation.records.names import with_profile
from validation.records.stored import Baseline, Point, StoredRun
from validation.review.lineage import main_branches
from validation.store import judgements, ledger, models, runs
from validation.store.connection import Database

Case, Run, Verdict = models.Case, models.Run, models.Verdict
STATE_RUNS = 200  # runs of a branch: what none of them has judged is none of its cases any more
HISTORY = 1000  # values of a metric that are looked back on
POINT_OF_RUN = ("started", "commit", "message", "author", "branch", "machine")
OF_NEW = ("label", "scenario", "parameters", "headline")
POINT_OF_CASE = ("engine_label", "engine_version", "outcome", "trajectory_hash")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewCase:
    """A case with nothing accepted to compare with, by what it is found."""

    number: int
    label: str
    engine: str  # as typed, with its profile
    scenario: str
    parameters: str  # JSON
    headline: str  # its metric
    run: int  # that judged it
    commit: str
    started: datetime  # of that run


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchState:
    """A branch as it stands at a run: of every case of its last STATE_RUNS runs the newest verdict."""

    words: Mapping[str, int]  # word -> cases
    elsewhere: Mapping[str, int]  # likewise, those that this run has not judged
    unaccepted: tuple[NewCase, ...]  # those of this run first


@dataclass(slots=True, kw_only=True)
class RunCounts:
    """A run in numbers."""

    outcomes: dict[str, int] = field(default_factory=dict)  # by outcome; "" for what is not done
    verdicts: dict[str, int] = field(default_factory=dict)  # by word
    wall_time: float = 0.0  # s, of its simulations
    peak_memory: float = 0.0  # bytes, of the largest


class Overview(Database):
    def run_counts(self, numbers: Collection[int]) -> dict[int, RunCounts]:
        """What became of the cases of these runs, counted, by run."""
        outcomes = (
            select(Case.run_id, Case.outcome, func.count(), func.sum(Case.wall_time), func.max(Case.peak_memory))
            .where(Case.run_id.in_(numbers))
            .group_by(Case.run_id, Case.outcome)
        )
        words = (
            select(Case.run_id, Verdict.word, func.count())
            .join(Verdict, Verdict.case_id == Case.id)
            .where(Case.run_id.in_(numbers))
            .group_by(Case.run_id, Verdict.word)
        )
        found = {number: RunCounts() for number in numbers}
        with self._reading() as connection:
            for run, outcome, count, wall_time, peak_memory in connection.execute(outcomes):
                counts = found[run]
                counts.outcomes[outcome or ""] = count
                counts.wall_time += wall_time
                counts.peak_memory = max(counts.peak_memory, peak_memory)
            for run, word, count in connection.execute(words):
                found[run].verdicts[word] = count
        return found

    def state(self, run: int) -> BranchState:
        """Of the run's branch, as it stands at that run."""
        with self._reading() as connection:
            branch = connection.execute(select(Run.branch).where(Run.id == run)).scalar_one()
            recent = select(Run.id).where(Run.branch == branch, Run.id <= run).order_by(Run.id.desc()).limit(STATE_RUNS)
            newest = (
                select(func.max(Case.id).label("id"))
                .join(Verdict, Verdict.case_id == Case.id)
                .where(Case.run_id.in_(list(connection.execute(recent).scalars())))
                .group_by(Case.identity_key, Case.engine_label)
                .subquery()
            )
            here = (Case.run_id == run).label("here")
            judged = select(Verdict.word, here, func.count()).join(newest, newest.c.id == Verdict.case_id)
            counted = judged.join(Case, Case.id == newest.c.id).group_by(Verdict.word, here)
            rows = connection.execute(counted).all()
            fresh = (
                select(Case.id, Case.engine_label, Case.profile, Case.run_id, *(getattr(Case, name) for name in OF_NEW))
                .add_columns(Run.commit, Run.started)
                .join(newest, newest.c.id == Case.id)
                .join(Verdict, Verdict.case_id == Case.id)
                .join(Run, Run.id == Case.run_id)
                .where(Verdict.word == "new")
                .order_by(here.desc(), Case.id)
            )
            unaccepted = tuple(map(_new_case, connection.execute(fresh)))
        words: dict[str, int] = {}
        elsewhere: dict[str, int] = {}
        for word, is_here, count in rows:
            words[word] = words.get(word, 0) + count
            if not is_here:
                elsewhere[word] = count
        return BranchState(words=words, elsewhere=elsewhere, unaccepted=unaccepted)

    def branches(self) -> list[str]:
        """Those that have runs, the one with the newest run first."""
        with self._reading() as connection:
            newest = func.max(Run.id)
            query = select(Run.branch).group_by(Run.branch).order_by(newest.desc())
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
        value = models.Measurement
        query = (
            select(Case.id.label("case"), Run.id.label("run"), *(getattr(Run, name) for name in POINT_OF_RUN))
            .add_columns(*(getattr(Case, name) for name in POINT_OF_CASE))
            .add_columns(value.value, func.coalesce(value.unit, "").label("unit"))
            .join(Run, Run.id == Case.run_id)
            .outerjoin(value, (value.case_id == Case.id) & (value.metric == metric))
            .where(Case.identity_key == identity_key, Case.outcome.is_not(None))
        )
        if engine_label is not None:
            query = query.where(Case.engine_label == engine_label)
        if branches is not None:
            query = query.where(Run.branch.in_(branches))
        newest_first, behind = query.order_by(Case.id.desc()).limit(limit), None
        if up_to is not None:
            newest_first = newest_first.where(Case.run_id <= up_to)
            behind = query.where(Case.run_id > up_to).order_by(Case.id).limit(later)
        with self._reading() as connection:
            rows = list(connection.execute(newest_first))[::-1]
            if behind is not None and later:
                rows += connection.execute(behind)
        return [Point(**row._asdict()) for row in rows]

    def trend(self, run: StoredRun, case: records.Case, now: Measurement, baseline: Baseline | None) -> Trend:
        """Of a case's metric up to this run, on the run's branch and the main ones; `baseline` is the one in effect."""
        branches = {run.branch, *main_branches(run.info.default_branch)}
        label = case.engine_label
        history = self.history(case.identity.key, now.metric, engine_label=label, branches=branches, up_to=run.number)
        return trend(
            history,
            now,
            engine_label=label,
            branches=branches,
            machine=run.info.machine,
            accepted_run=baseline.run if baseline else 0,
        )


def _new_case(row: Any) -> NewCase:
    return NewCase(
        number=row.id,
        engine=with_profile(row.engine_label, row.profile),
        run=row.run_id,
        commit=row.commit,
        started=row.started,
        **{name: getattr(row, name) for name in OF_NEW},
    )

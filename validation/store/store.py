"""The store: each method is one transaction. What it refuses is a StoreError of one line."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy.exc import SQLAlchemyError

from scenarios.scene import Scene
from validation.judging.ensembles import Ensemble
from validation.judging.verdict import Verdict, standing
from validation.records.case import Case, Result, RunInfo
from validation.records.measurement import Measurement
from validation.records.stored import Baseline, StoredRun
from validation.records.trajectory import Trajectory
from validation.review.groups import Group
from validation.review.ledger import Entry, Mark
from validation.review.lineage import History, Lineage
from validation.store import ancestry, ensembles, groups, judgements, ledger, models, runs
from validation.store.ancestry import BaseRevision
from validation.store.comparisons import Comparisons
from validation.store.connection import connect, unreachable
from validation.store.errors import StoreError
from validation.store.finds import Finds
from validation.store.migration import migrate
from validation.store.overview import Overview


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


class Store(Overview, Finds, Comparisons):
    """Runs, what was accepted and judged, groups and the ledger; the rest is in what it is built of."""

    # --- runs -----------------------------------------------------------------------------------------------------

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

        `lineage` is that of a change which is compared with its merge base. `history` tells which commits come before
        this one, and so what was accepted on this branch and what on another of its name. `asked` is what a resumed
        run has to know, as JSON has it.
        """
        merge_base = lineage.merge_base if lineage else ""
        with self._writing() as connection:
            runs.save_scenes(connection, scenes)
            number = runs.begin(
                connection, info, planned, base=lineage.base if lineage else "", merge_base=merge_base, asked=asked
            )
            if history is not None:
                ancestry.keep(connection, history, [merge_base] if merge_base else [])
            return number

    def save_results(self, run: int, results: Sequence[Result]) -> list[int]:
        """The cases' numbers. All in one transaction; a case that is done already stays as it is."""
        trajectories = [result.trajectory for result in results]
        packed = [None if trajectory is None else runs.Packed(trajectory) for trajectory in trajectories]
        with self._writing() as connection:
            return [runs.save(connection, run, result, part) for result, part in zip(results, packed)]

    def add_measurements(self, run: int, found: Mapping[str, Sequence[Measurement]]) -> None:
        """To cases of this run that are done, by case key: what was measured beside them. One that a case has already
        stays as it is."""
        with self._writing() as connection:
            runs.add_measurements(connection, run, found)

    def finish_run(self, run: int) -> None:
        with self._writing() as connection:
            runs.finish(connection, run)

    def run(self, number: int) -> StoredRun:
        with self._reading() as connection:
            runs.require(connection, number)
            return runs.runs(connection, models.Run.id == number)[0]

    def runs(self, limit: int | None = None, *, branch: str | None = None) -> list[StoredRun]:
        """Newest first; of a branch, or of all."""
        where = [] if branch is None else [models.Run.branch == branch]
        with self._reading() as connection:
            return runs.runs(connection, *where, limit=limit)

    def latest_run(self) -> int | None:
        """The latest finished one."""
        with self._reading() as connection:
            found = runs.runs(connection, models.Run.finished.is_not(None), limit=1)
        return found[0].number if found else None

    def unfinished_run(self) -> tuple[int, list[Case]] | None:
        """The latest run that is not finished, and the cases that it still owes."""
        with self._reading() as connection:
            found = runs.runs(connection, models.Run.finished.is_(None), limit=1)
            if not found:
                return None
            return found[0].number, runs.cases(connection, found[0].number, pending=True)

    def asked(self, run: int) -> dict[str, Any]:
        """What `begin_run` was given as `asked`; empty for a run of before it was kept."""
        with self._reading() as connection:
            runs.require(connection, run)
            return runs.asked(connection, run)

    def asked_likewise(self, run: int, identities: Collection[str]) -> set[str]:
        """Of these identities those that a run has had whose `asked["words"]` are this one's; of before they were kept
        any run counts as one of everything. The last 100 such runs are looked at."""
        with self._reading() as connection:
            runs.require(connection, run)
            return runs.asked_likewise(connection, run, identities)

    def cases(self, run: int) -> list[Case]:
        """As planned, done or not."""
        with self._reading() as connection:
            runs.require(connection, run)
            return runs.cases(connection, run)

    def results(self, run: int) -> list[Result]:
        """Of the cases that are done, in the order of the plan."""
        with self._reading() as connection:
            runs.require(connection, run)
            return runs.results(connection, models.Case.run_id == run)

    def result(self, number: int) -> Result:
        """Of the case with this number."""
        with self._reading() as connection:
            found = runs.results(connection, models.Case.id == number)
        if not found:
            raise StoreError(f"case {number}: not in this database, or not done")
        return found[0]

    def trajectory(self, key: str) -> Trajectory | None:
        """Of a result's `trajectory_key`; None where it is not stored."""
        with self._reading() as connection:
            return runs.trajectory(connection, key)

    def scene(self, scene_hash: str) -> Scene:
        with self._reading() as connection:
            return runs.scene(connection, scene_hash)

    def scene_changed(self, old: Case, new: Case) -> bool:
        """Whether the second is of another scene, by more than round-off."""
        with self._reading() as connection:
            return runs.scene_changed(connection, old, new)

    def labelled_scene(self, label: str) -> tuple[str, Scene]:
        """Name and scene of a scene file that was run, by the label of its cases."""
        with self._reading() as connection:
            found = runs.labelled(connection, label)
            if len(found) != 1:
                what = "no scene" if not found else f"{len(found)} scenes"
                raise StoreError(f"{label}: {what} of this name and content in {self.name}; give the path of its file")
            name, scene_hash = found[0]
            return name, runs.scene(connection, scene_hash)

    # --- ensembles ------------------------------------------------------------------------------------------------

    def save_ensembles(self, run: int, found: Mapping[str, Ensemble]) -> None:
        """Of cases of this run, by case key; one that a case has already stays as it is."""
        with self._writing() as connection:
            ensembles.save(connection, run, found)

    def ensemble(self, case: int) -> Ensemble | None:
        """Of the case with this number, or of one of the same identity that moved by the same bits."""
        with self._reading() as connection:
            return ensembles.ensemble(connection, case)

    # --- judgements -----------------------------------------------------------------------------------------------

    def accept(
        self,
        run: int,
        *,
        who: str,
        reason: str,
        cases: Collection[int] | None = None,
        scope: str = "the whole run",
        until: datetime | None = None,
    ) -> list[int]:
        """Make results of a run the baseline of their identities on the run's branch; numbers of the cases accepted.

        `cases` are numbers of cases of the run, None for all; `scope` says in words which they are. Declined and
        broken cases are accepted too: from then on they are known. Of cases that share an identity only the one
        without overrides is accepted.
        """
        with self._writing() as connection:
            runs.require(connection, run)
            return judgements.accept(connection, run, who=who, reason=reason, cases=cases, scope=scope, until=until)

    def accept_cases(
        self, cases: Collection[int], *, who: str, reason: str, scope: str, until: datetime | None = None
    ) -> list[int]:
        """As `accept`, for cases of whichever runs: all of them, or where one is refused none."""
        with self._writing() as connection:
            accepted = []
            for run, numbers in sorted(runs.by_run(connection, cases).items()):
                accepted += judgements.accept(
                    connection, run, who=who, reason=reason, cases=numbers, scope=scope, until=until
                )
        return accepted

    def baselines(self, branch: str, lineage: Lineage | None = None) -> dict[str, Baseline]:
        """By identity key, those in effect on a branch: its own, and a main branch's where it has none.

        With a lineage those that a change of its base branch is compared with: the change's own, and the base's of the
        merge base and of commits before it.
        """
        with self._reading() as connection:
            depths = ancestry.generations(connection)
            if lineage is None:
                return judgements.baselines(connection, BaseRevision(branch=branch, generations=depths))
            if lineage.merge_base not in depths:  # no run knew its history: all that is known is which comes last
                depths = dict.fromkeys(lineage.commits, 0) | depths
                depths[lineage.merge_base] = 1 + max((depths[one] for one in lineage.commits), default=0)
            seen_from = BaseRevision(branch=branch, base=lineage.base, before=lineage.commits, generations=depths)
            return judgements.baselines(connection, seen_from)

    def baselines_of(self, run: int) -> dict[str, Baseline]:
        """By identity key, those that a run is compared with, from where it was begun: with its merge base or without,
        and of its own branch only what was accepted since that was made."""
        with self._reading() as connection:
            runs.require(connection, run)
            return judgements.baselines(connection, ancestry.base_revision(connection, run))

    def save_verdicts(self, run: int, verdicts: Iterable[Verdict]) -> None:
        with self._writing() as connection:
            judgements.save_verdicts(connection, run, verdicts)

    def verdicts(self, run: int) -> list[Verdict]:
        """In the order of the plan."""
        with self._reading() as connection:
            runs.require(connection, run)
            return judgements.verdicts(connection, run)

    def standing(self, run: int) -> list[Verdict]:
        """Those of a run that break a law of physics without a check failing for it, the worst first."""
        with self._reading() as connection:
            runs.require(connection, run)
            return standing(judgements.verdicts(connection, run, models.Verdict.defects != "[]"))

    # --- groups and the ledger ------------------------------------------------------------------------------------

    def groups(self, run: int, *, closed: bool = False) -> list[Group]:
        """Of verdicts of one cause, as seen from a run on its branch, the gravest first.

        Without `closed` only those of which something is open, or was told in this very run.
        """
        with self._reading() as connection:
            runs.require(connection, run)
            return groups.groups(connection, run, closed=closed)

    def group(self, run: int, key: str) -> Group:
        """By the first digits of its key. Raises StoreError where they name none, or several."""
        every = self.groups(run, closed=True)
        found = [group for group in every if key and group.key.startswith(key)]
        if len(found) != 1:
            known = ", ".join(group.key for group in every[:8]) or "none"
            what = "names none" if not found else f"names {len(found)}"
            raise StoreError(f"group {key}: {what} of run {run}; it has: {known}")
        return found[0]

    def mark(
        self,
        mark: Mark,
        cases: Collection[int],
        *,
        who: str,
        reason: str,
        scope: str,
        until: datetime | None = None,
        owner: str = "",
        link: str = "",
    ) -> int:
        """Say something of cases of a group, by their numbers; the number of the entry. `scope` says in words which
        they are. Raises LedgerError where a name, a reason, or what this mark needs is lacking, and StoreError where
        what is accepted is rejected."""
        with self._writing() as connection:
            if mark == "reject":
                groups.check_rejected(connection, cases)
            return ledger.add(
                connection, mark, cases, who=who, reason=reason, scope=scope, until=until, owner=owner, link=link
            )

    def undo(self, entry: int, *, who: str, reason: str) -> int:
        """Take back an entry, an acceptance too: what was the baseline before is it again. The undo's number."""
        with self._writing() as connection:
            return ledger.undo(connection, entry, who=who, reason=reason)

    def carry_over(self, run: int) -> list[int]:
        """Accept of a run what was accepted elsewhere and is in effect there, where every result of a group is the same
        bit for bit, and nothing newer is accepted here; numbers of the entries that were carried over."""
        with self._writing() as connection:
            runs.require(connection, run)
            return groups.carry_over(connection, run)

    def entries(self, limit: int | None = None) -> list[Entry]:
        """The ledger, newest first."""
        with self._reading() as connection:
            return ledger.entries(connection, limit=limit)

"""What was accepted, and what was judged."""

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import UTC, datetime
from functools import cache, partial
from itertools import groupby
from typing import Any, Unpack

from sqlalchemy import Connection, delete, insert, or_, select

from validation.judging.evidence.divergence import divergence_from_json, divergence_to_json
from validation.judging.verdict import (
    Grounds,
    Verdict,
    changes_from_json,
    defects_from_json,
    grounds_from_json,
    grounds_to_json,
    standing,
    to_json,
)
from validation.records.case import Result
from validation.records.names import engine_token
from validation.records.simulation import BROKEN
from validation.records.stored import Baseline
from validation.review.ledger import Statement
from validation.review.lineage import Lineage
from validation.store import ancestry, ledger, models, runs
from validation.store.ancestry import BaseRevision, comes_before
from validation.store.connection import Database
from validation.store.errors import StoreError
from validation.store.models import record_of, row_of
from validation.store.since import PRINTS, Grouping


class Judgements(Database):
    def accept(
        self,
        run: int,
        *,
        who: str,
        reason: str,
        cases: Collection[int] | None = None,
        scope: str = "the whole run",
        until: datetime | None = None,
        broken: bool = False,
    ) -> list[int]:
        """Make results of a run the baseline of their identities on the run's branch; numbers of the cases accepted.

        `cases` are numbers of cases of the run, None for all; `scope` says in words which they are. Declined ones
        are accepted too: from then on they are known. Of cases that share an identity only the one without overrides is
        accepted. A broken case is a baseline only if it is accepted by itself, with `broken`: of a whole run it is left
        out. Raises StoreError where nothing is left, or a broken case stands among those named.
        """
        with self._writing(once=True) as connection:
            runs.require(connection, run)
            return accept(connection, run, cases, broken=broken, who=who, reason=reason, scope=scope, until=until)

    def accept_cases(
        self, cases: Collection[int], *, broken: bool = False, seen: int | None = None, **statement: Unpack[Statement]
    ) -> int:
        """As `accept`, for cases of whichever runs, by one entry: its number. All, or where one is refused none.

        `seen` is the newest entry that whoever decides knows of: raises StoreError where a later one is about any of
        these, and where two of them are results of one case.
        """
        query = select(models.Case.run_id, models.Case.id, models.Case.identity_key, models.Case.label)
        query = query.where(models.Case.id.in_(cases)).order_by(models.Case.run_id, models.Case.id)
        with self._writing(once=True) as connection:
            found = connection.execute(query).all()
            alien = sorted(set(cases) - {row.id for row in found})
            if alien:
                raise StoreError(f"case {alien[0]}: not in this database; nothing was written")
            ledger.check_seen(connection, cases, seen)
            accepted: list[int] = []
            for run, rows in groupby(found, key=lambda row: int(row.run_id)):
                accepted += _acceptable(connection, run, [row.id for row in rows], broken=broken and len(cases) == 1)
            chosen = set(accepted)
            _check_distinct(row for row in found if row.id in chosen)
            return ledger.add(connection, "accept", accepted, **statement)

    def baselines(self, branch: str, lineage: Lineage | None = None) -> dict[str, Baseline]:
        """By identity key, those in effect on a branch: its own, and a main branch's where it has none.

        With a lineage those that a change of its base branch is compared with: the change's own, and the base's of the
        merge base and of commits before it.
        """
        with self._reading() as connection:
            depths = ancestry.generations(connection)
            if lineage is None:
                return baselines(connection, BaseRevision(branch=branch, generations=depths))
            if lineage.merge_base not in depths:  # no run knew its history: all that is known is which comes last
                depths = dict.fromkeys(lineage.commits, 0) | depths
                depths[lineage.merge_base] = 1 + max((depths[one] for one in lineage.commits), default=0)
            seen_from = BaseRevision(branch=branch, base=lineage.base, before=lineage.commits, generations=depths)
            return baselines(connection, seen_from)

    def baselines_of(self, run: int) -> dict[str, Baseline]:
        """By identity key, those that a run is compared with, from where it was begun: with its merge base or without,
        and of its own branch only what was accepted since that was made."""
        with self._reading() as connection:
            runs.require(connection, run)
            return baselines(connection, ancestry.base_revision(connection, run))

    def save_verdicts(self, run: int, verdicts: Iterable[Verdict]) -> None:
        """Those of cases of this run; a case judged again keeps the later verdict."""
        with self._writing() as connection:
            numbers = runs.numbers_of(connection, run)
            judged: dict[int, Verdict] = {}
            for verdict in verdicts:
                if verdict.case_key not in numbers:
                    what = f"{verdict.case.label} × {verdict.case.engine_label}"
                    raise StoreError(f"run {run}: {what} is none of its cases")
                judged[numbers[verdict.case_key]] = verdict
            if not judged:
                return
            connection.execute(delete(models.Verdict).where(models.Verdict.case_id.in_(judged)))
            connection.execute(insert(models.Verdict), [_verdict_row(*pair) for pair in judged.items()])
            Grouping(connection, run, ancestry.base_revision(connection, run)).save(judged)

    def verdicts(self, run: int) -> list[Verdict]:
        """In the order of the plan."""
        return self._verdicts(run)

    def verdict_on(self, case: int) -> Verdict | None:
        """None where the case was not judged, or is none."""
        query = (
            select(*runs.CASE, *VERDICT)
            .join(models.Verdict, models.Verdict.case_id == models.Case.id)
            .where(models.Case.id == case)
        )
        with self._reading() as connection:
            row = connection.execute(query).first()
            return verdict_of(row) if row else None

    def standing(self, run: int) -> list[Verdict]:
        """Those of a run that are wrong without a check failing for it, the worst first."""
        happened = models.Verdict.grounds.contains('"wrong": [{')
        return standing(self._verdicts(run, or_(models.Verdict.defects != "[]", happened)))

    def _verdicts(self, run: int, *where: Any) -> list[Verdict]:
        query = (
            select(*runs.CASE, *VERDICT)
            .join(models.Verdict, models.Verdict.case_id == models.Case.id)
            .where(models.Case.run_id == run, *where)
            .order_by(models.Case.id)
        )
        with self._reading() as connection:
            runs.require(connection, run)
            return [verdict_of(row) for row in connection.execute(query)]


def accept(
    connection: Connection,
    run: int,
    cases: Collection[int] | None,
    *,
    carries: int | None = None,
    broken: bool = False,
    **statement: Unpack[Statement],
) -> list[int]:
    """`carries` is the entry of another branch that this acceptance carries over: what that accepted, it does."""
    numbers = _acceptable(connection, run, cases, broken=broken, carried=carries is not None)
    if numbers:
        ledger.add(connection, "accept", numbers, refers_to=carries, **statement)
    return numbers


def _acceptable(
    connection: Connection, run: int, cases: Collection[int] | None, *, broken: bool, carried: bool = False
) -> list[int]:
    """Of a run, or of these cases of it, what an acceptance is of: one of each identity, and nothing that is broken but
    by itself."""
    (stored,) = runs.runs(connection, models.Run.id == run)
    if stored.done < stored.planned:
        raise StoreError(
            f"run {run}: {stored.planned - stored.done} of its {stored.planned} cases are not done; resume it, or "
            "accept another run"
        )
    results = runs.results(connection, models.Case.run_id == run)
    alien = sorted(set(cases or ()) - {result.number for result in results})
    if alien:
        raise StoreError(f"run {run}: case {alien[0]} is none of its cases; nothing was accepted")
    by_identity: dict[str, list[Result]] = {}
    for result in results:
        if cases is None or result.number in cases:
            by_identity.setdefault(result.case.identity.key, []).append(result)
    accepted = [_the_one(group) for group in by_identity.values()]
    if accepted and not carried:
        accepted = _without_broken(accepted, named=cases is not None, alone=broken and len(accepted) == 1)
    return [result.number for result in accepted]


def _check_distinct(rows: Iterable[Any]) -> None:
    """Raises StoreError where two of these cases share one baseline."""
    first: dict[str, Any] = {}
    for row in rows:
        other = first.setdefault(row.identity_key, row)
        if other is not row:
            raise StoreError(
                f"{row.label}: runs {other.run_id} and {row.run_id} both have a result of it, and they share one "
                "baseline; choose one; nothing was accepted"
            )


def _without_broken(results: Sequence[Result], *, named: bool, alone: bool) -> list[Result]:
    """Raises StoreError, which names the first broken one, where it is among those named or nothing else is left."""
    sound = [result for result in results if result.outcome not in BROKEN]
    if alone or len(sound) == len(results):
        return list(results)
    if named or not sound:
        first = next(result for result in results if result.outcome in BROKEN)
        what = f"{first.case.label} on {engine_token(first.case)}: {first.outcome.replace('_', ' ')} ({first.reason})"
        raise StoreError(f"{what}; what is broken is accepted by itself only, with --broken; nothing was accepted")
    return sound


def _the_one(results: Sequence[Result]) -> Result:
    """Of the cases that share an identity in one run, the one without overrides."""
    if len(results) == 1:
        return results[0]
    plain = [result for result in results if ":" not in result.case.engine_label]
    if len(plain) != 1:
        labels = ", ".join(result.case.engine_label for result in results)
        raise StoreError(
            f"run {results[0].run}: {results[0].case.label} ran as {labels}, and they share one baseline; name the "
            "one to accept with --engine, or run them --as cases of their own"
        )
    return plain[0]


def in_effect(connection: Connection, seen_from: BaseRevision) -> dict[str, Any]:
    """Identity -> the row in effect: of the nearest branch that has any, the newest not expired, not undone. But what a
    change has accepted itself is replaced by what its base accepts later, once the change is built on that."""
    found: dict[str, Any] = {}
    rows = _acceptances_in_effect(connection, seen_from.branches)
    before = cache(partial(comes_before, connection))
    for branch in reversed(seen_from.branches):
        counting = [r for r in rows if r.branch == branch and seen_from.counts(branch, r.commit, dirty=r.dirty)]
        newest = seen_from.newest(counting)
        if branch == seen_from.branch and seen_from.before is not None and branch != seen_from.base:
            newest = {key: row for key, row in newest.items() if not _replaced(row, found.get(key), rows, before)}
        found |= newest
    return found


def _replaced(own: Any, theirs: Any, rows: Sequence[Any], before: Callable[[str, str], bool]) -> bool:
    """The later counts; but one of a commit that comes before the other's replaces nothing, nor does the base say
    anything new by the very result that it had accepted before."""
    if theirs is None or before(theirs.commit, own.commit):
        return False
    if before(own.commit, theirs.commit):
        return True
    return theirs.id > own.id and not any(
        row.id < own.id and row.trajectory_hash and row.trajectory_hash == theirs.trajectory_hash
        for row in rows
        if row.branch == theirs.branch and row.identity_key == theirs.identity_key
    )


def newest_on(connection: Connection, branch: str, seen_from: BaseRevision) -> dict[str, Any]:
    """Identity -> the row in effect on a branch, of whichever of its commits."""
    return seen_from.newest(_acceptances_in_effect(connection, [branch]))


def _acceptances_in_effect(connection: Connection, branches: Sequence[str]) -> list[Any]:
    """Neither expired nor undone."""
    rows = connection.execute(
        ledger.ACCEPTED.add_columns(models.Run.commit, models.Run.dirty, *PRINTS)
        .join(models.Run, models.Run.id == models.Case.run_id)
        .where(
            models.Entry.branch.in_(branches),
            or_(models.Entry.until.is_(None), models.Entry.until > datetime.now(UTC)),
        )
    )
    undone = ledger.undone_entries(connection)
    return [row for row in rows if row.entry_id not in undone]


def baselines(connection: Connection, seen_from: BaseRevision) -> dict[str, Baseline]:
    """By identity, those in effect, as `in_effect` has them."""
    chosen = in_effect(connection, seen_from)
    if not chosen:
        return {}
    numbers = {row.case_id for row in chosen.values()}
    of_branches = ledger.ACCEPTED.with_only_columns(models.Case.id).where(models.Entry.branch.in_(seen_from.branches))
    accepted = runs.results(connection, models.Case.id.in_(of_branches))
    results = {result.number: result for result in accepted if result.number in numbers}
    return {identity: baseline_of(row, results[row.case_id]) for identity, row in chosen.items()}


def baseline_of(row: Any, result: Result) -> Baseline:
    return record_of(Baseline, row, number=row.id, result=result, when=row.made)


def _verdict_row(case: int, verdict: Verdict) -> dict[str, Any]:
    return row_of(
        models.Verdict,
        verdict,
        case_id=case,
        baseline_id=verdict.baseline,
        reason=verdict.text,
        grounds=grounds_to_json(verdict.grounds),
        changes=to_json(verdict.changes),
        defects=to_json(verdict.defects),
        divergence=divergence_to_json(verdict.divergence),
    )


VERDICT = [column for column in models.Verdict.__table__.columns if column.name != "case_id"]


def verdict_of(row: Any) -> Verdict:
    """Of a row with the columns runs.CASE and VERDICT."""
    return record_of(
        Verdict,
        row,
        case=runs.case_of(row),
        grounds=grounds_from_json(row.grounds) if row.grounds else Grounds(finding="changes"),
        text=row.reason,
        changes=changes_from_json(row.changes),
        defects=defects_from_json(row.defects),
        baseline=row.baseline_id,
        divergence=divergence_from_json(row.divergence),
    )

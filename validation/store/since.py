"""To which group a verdict belongs: by the first bad commit of its case, as commits come where that is known."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.orm import aliased

from validation.judging.verdict import Findings, Verdict, Word
from validation.review.groups import NOTABLE, RunRef, fingerprint, group_key, shares_finding
from validation.store import ledger, models
from validation.store.ancestry import BaseRevision, comes_after, latest_first, others, ranks
from validation.store.connection import insert_new

Case, Run, VerdictRow, Group, GroupMember = models.Case, models.Run, models.Verdict, models.Group, models.GroupMember
PRINTS = (Case.outcome, Case.scene_hash, Case.trajectory_hash, Case.reason.label("why"))
SILENT: tuple[Word, ...] = ("broken", "missing", "not compared")
"""Words of results that say nothing of any metric."""
COLUMNS = (
    VerdictRow.word,
    VerdictRow.baseline_id,
    VerdictRow.changes,
    VerdictRow.defects,
    VerdictRow.grounds,
    Group.since_run,
    Group.good_run,
)


def fingerprint_of(row: Any) -> str:
    """Of a row with the columns PRINTS."""
    return fingerprint(row.outcome, row.scene_hash, row.trajectory_hash, row.why)


def is_same_finding(row: Any, now: Verdict) -> bool:
    """By the same word, and of one metric at least."""
    if row.word != now.word or now.word in SILENT:
        return bool(row.word == now.word)
    then = Findings.stored(row).of(now.word)
    return not then or bool(then & now.findings.of(now.word))


def run_refs(connection: Connection, numbers: Collection[int]) -> dict[int, RunRef]:
    """Of these runs."""
    query = select(Run.id, Run.commit, Run.dirty, Run.started).where(Run.id.in_(numbers))
    return {
        row.id: RunRef(run=row.id, commit=row.commit, dirty=row.dirty, when=row.started)
        for row in connection.execute(query)
    }


@dataclass(frozen=True, slots=True)
class _Here:
    """What is judged now."""

    verdict: Verdict
    accepted: int | None  # run of the baseline
    fingerprint: str


class Grouping:
    """As seen from a run whose cases are judged."""

    def __init__(self, connection: Connection, run: int, seen_from: BaseRevision) -> None:
        self._connection, self._run, self._seen_from = connection, run, seen_from
        self._ranks = ranks(connection)
        self._comes_after = cache(partial(comes_after, connection))
        self._branch = seen_from.branch
        self._own = (Run.branch == seen_from.branch, Run.id.not_in(others(connection, run, seen_from)))
        self._expired = ledger.expired_baselines(connection)

    def save(self, verdicts: Mapping[int, Verdict]) -> None:
        """Put each verdict, by the number of its case, into the group of the first run that had the same finding.

        The same finding: the same word, of at least one metric in common. A crash names no metric, so it is passed over
        when the first run of another finding is looked for. A finding from before the present baseline was accepted is
        another one; the new one begins with the first run after that baseline that has this very result. A run that
        passed only by a baseline that has expired, with this very result, does not count as good. What the base branch
        had already in the same way belongs to the base's first run. A case with overrides has a history of its own.
        """
        self._connection.execute(delete(GroupMember).where(GroupMember.case_id.in_(verdicts)))
        for number, verdict in verdicts.items():
            if verdict.word in NOTABLE:
                group = self._group(self._branch, verdict, *self._first_and_good(number, verdict))
                self._connection.execute(insert(GroupMember).values(case_id=number, group_id=group))
        used = select(GroupMember.group_id).where(GroupMember.group_id == Group.id)
        self._connection.execute(delete(Group).where(~used.exists()))

    def _first_and_good(self, number: int, verdict: Verdict) -> tuple[int, int | None]:
        """The first run that has it, and the latest before in which it was not so, or that of the baseline."""
        accepted = aliased(Case)
        query = (
            select(accepted.run_id, *PRINTS)
            .select_from(Case)
            .join(VerdictRow, VerdictRow.case_id == Case.id)
            .outerjoin(models.EntryCase, models.EntryCase.id == VerdictRow.baseline_id)
            .outerjoin(accepted, accepted.id == models.EntryCase.case_id)
        )
        row = self._connection.execute(query.where(Case.id == number)).one()
        here = _Here(verdict, row.run_id, fingerprint_of(row))
        since, good, following = self._on_branch(here)
        theirs = self._on_base(here, since, good)
        if theirs is not None:
            if since != self._run:
                self._move(verdict, since, *theirs)
            since, good = theirs
        if following is not None:
            self._move(verdict, following.since_run, since, good)
        return since, good

    def _group(self, branch: str, verdict: Verdict, since: int, good: int | None) -> int:
        """Its number; it is made where there is none of this commit yet."""
        ref = run_refs(self._connection, [since])[since]
        engine = verdict.case.engine_label
        key = group_key(branch, ref, engine, verdict.word)
        found = select(Group.id, Group.good_run).where(Group.key == key)
        if self._connection.execute(found).first() is None:
            row = {"key": key, "branch": branch, "engine_label": engine, "word": verdict.word}
            insert_new(self._connection, Group, [row | {"since_run": since, "good_run": good}])
        number, known = self._connection.execute(found).one()
        if good is not None and good > (known or 0):
            self._connection.execute(update(Group).where(Group.id == number).values(good_run=good))
        return int(number)

    def _on_branch(self, here: _Here) -> tuple[int, int | None, Any]:
        """With the next run of the branch, by commit, where that is taken to be the first by mistake."""
        first, good, following, stale = self._run, here.accepted, None, False
        for row in self._judged(here.verdict, *self._own):
            if self._rank(row.run_id) > self._rank(self._run):
                following = row
                continue
            if row.word in SILENT and here.verdict.word not in SILENT:
                continue
            described, same = is_same_finding(row, here.verdict), fingerprint_of(row) == here.fingerprint
            if described and not self._is_stale(row, here):
                first, good = row.since_run, row.good_run
                break
            stale = stale or described
            if stale and self._rank(row.run_id) <= self._rank(here.accepted):
                break
            if not same or not (stale or (row.word == "pass" and row.baseline_id in self._expired)):
                good = here.accepted if described else row.run_id
                break
            first = row.run_id
        if following is not None and (
            following.word != here.verdict.word
            or following.baseline_id != here.verdict.baseline
            or self._rank(following.since_run) <= self._rank(self._run)
        ):
            following = None
        return first, good, following

    def _on_base(self, here: _Here, since: int, good: int | None) -> tuple[int, int | None] | None:
        """Where the base was so already, before the branch, which has not been without it since."""
        seen_from = self._seen_from
        if seen_from.before is None or seen_from.base == seen_from.branch:
            return None
        theirs = (Run.branch == seen_from.base, Run.commit.in_(seen_from.before), Run.dirty.is_(False))
        row = next(self._judged(here.verdict, *theirs), None)
        if row is None or not is_same_finding(row, here.verdict) or row.since_run is None or self._is_stale(row, here):
            return None
        if self._rank(row.since_run) >= self._rank(since):
            return None
        if good is not None and good != row.good_run and self._comes_after(good, row.run_id):
            return None
        same = fingerprint_of(row) == here.fingerprint or shares_finding(Findings.stored(row), here.verdict)
        return (row.since_run, row.good_run) if same else None

    def _is_stale(self, row: Any, here: _Here) -> bool:
        """Whether the finding began before the present baseline was accepted."""
        return (
            here.accepted is not None
            and row.since_run is not None
            and row.baseline_id != here.verdict.baseline
            and self._rank(here.accepted) >= self._rank(row.since_run)
        )

    def _judged(self, verdict: Verdict, *where: Any) -> Iterator[Any]:
        """Of the same case on these runs, but for this one; the latest commit first."""
        query = (
            select(Case.run_id, *PRINTS, *COLUMNS)
            .join(VerdictRow, VerdictRow.case_id == Case.id)
            .join(Run, Run.id == Case.run_id)
            .outerjoin(GroupMember, GroupMember.case_id == Case.id)
            .outerjoin(Group, Group.id == GroupMember.group_id)
            .where(
                Case.identity_key == verdict.case.identity.key,
                Case.engine_label == verdict.case.engine_label,
                Case.run_id != self._run,
                *where,
            )
            .order_by(*latest_first(self._ranks, Case))
        )
        return iter(self._connection.execute(query))

    def _move(self, verdict: Verdict, old: int, since: int, good: int | None) -> None:
        """Move this case from the group of a later run to that of an earlier one; decisions on it stay in effect."""
        case = Case.identity_key == verdict.case.identity.key, Case.engine_label == verdict.case.engine_label
        later = (
            select(Group.id, Group.branch)
            .join(GroupMember, GroupMember.group_id == Group.id)
            .join(Case, Case.id == GroupMember.case_id)
            .where(Group.since_run == old, Group.word == verdict.word, *case)
            .distinct()
        )
        for row in self._connection.execute(later).all():
            moved = update(GroupMember).where(
                GroupMember.group_id == row.id, GroupMember.case_id.in_(select(Case.id).where(*case))
            )
            self._connection.execute(moved.values(group_id=self._group(row.branch, verdict, since, good)))

    def _rank(self, run: int | None) -> int:
        return 0 if run is None else self._ranks[run]

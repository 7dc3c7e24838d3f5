"""Groups of verdicts as seen from a run, and acceptances that are carried over from branch to branch."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Unpack

from sqlalchemy import Connection, func, select
from sqlalchemy.orm import aliased

from validation.judging.verdict import Findings
from validation.review.groups import (
    GONE,
    Decision,
    Group,
    Occurrence,
    RunRef,
    gravest_first,
    gravity,
    group_key,
    member,
)
from validation.review.ledger import Act, Entry, Mark, Statement
from validation.store import judgements, ledger, models, runs
from validation.store.ancestry import BaseRevision, backfilled, base_revision, others, ranks
from validation.store.connection import Database
from validation.store.errors import StoreError
from validation.store.since import PRINTS, fingerprint_of, run_refs

Case, Run, Verdict = models.Case, models.Run, models.Verdict
EntryCase, GroupMember = models.EntryCase, models.GroupMember


class Groups(Database):
    def groups(self, run: int, *, closed: bool = False) -> list[Group]:
        """Of verdicts of one cause, as seen from a run on its branch, the gravest first.

        Without `closed` only those with an open member, or with a verdict of this very run.
        """
        with self._reading() as connection:
            return groups(connection, run, closed=closed)

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
        self, mark: Mark, cases: Collection[int], *, seen: int | None = None, **statement: Unpack[Statement]
    ) -> int:
        """Say something of cases of a group, by their numbers; the number of the entry. `scope` says in words which
        they are. Raises LedgerError where a name, a reason, or what this mark needs is lacking, and StoreError where
        what is accepted is rejected, or an entry after the one `seen` is about any of them."""
        with self._writing(once=True) as connection:
            ledger.check_seen(connection, cases, seen)
            if mark == "reject":
                _check_rejected(connection, cases)
            return ledger.add(connection, mark, cases, **statement)

    def carry_over(self, run: int) -> list[int]:
        """Accept of a run what was accepted elsewhere: the numbers of the entries that were carried over.

        A group is carried over whole or not at all: where an acceptance has every open member of it, and each of them
        is that very result, bit for bit. It must be in effect on its branch still, be no older than what the group was
        judged against, and nobody may have refused any of these results on this branch.
        """
        with self._writing() as connection:
            return _carry_over(connection, run)


def groups(connection: Connection, run: int, *, closed: bool = False) -> list[Group]:
    runs.require(connection, run)
    seen_from = base_revision(connection, run)
    foreign_commits = others(connection, run, seen_from)
    of_branch = (Run.branch == seen_from.branch, Run.id <= run, Run.id.not_in(foreign_commits))
    histories = _histories(connection, of_branch, seen_from.branch)
    rank = ranks(connection)
    latest = _latest(connection, of_branch, [row.last for row in histories])
    # Where a case has become something else, the group has it of which that is.
    histories = [
        row for row in histories if latest[row.last].group_id in (row.group_id, None) or latest[row.last].word in GONE
    ]
    if not closed:
        open_ = {
            row.group_id
            for row in histories
            if row.last_run == run or latest[row.last].word not in GONE or latest[row.last].group_id == row.group_id
        }
        histories = [row for row in histories if row.group_id in open_]
    of_these = models.Group.id.in_({row.group_id for row in histories})
    rows = connection.execute(select(models.Group.__table__).where(of_these).order_by(models.Group.id)).all()
    at = run_refs(connection, {number for row in rows for number in (row.since_run, row.good_run)})
    since = {row.id: at[row.since_run] for row in rows}
    occurrences = _occurrences(connection, histories, since, latest, seen_from, rank)
    decisions = _decisions(connection, rows, since, seen_from, foreign_commits)
    now = datetime.now(UTC)
    found = []
    for row in rows:
        members = [
            member(one, decisions.get((row.id, one.verdict.case.identity.key), ()), run, now)
            for one in occurrences[row.id]
        ]
        group = Group(
            key=row.key,
            branch=row.branch,
            engine=row.engine_label,
            kind=row.word,
            since=since[row.id],
            good=at.get(row.good_run),
            members=tuple(sorted(members, key=gravity)),
        )
        if closed or group.open or any(one.seen for one in members):
            found.append(group)
    return gravest_first(found)


def _carry_over(connection: Connection, run: int) -> list[int]:
    made = []
    seen_from = base_revision(connection, run)
    for group in groups(connection, run):
        here = {(m.verdict.case.identity.key, m.occurrence.fingerprint): m.number for m in group.open if m.seen}
        if not group.open or len(here) < len(group.open) or _refused(connection, group.branch, here):
            continue
        judged_by = [m.occurrence.judged_by.number for m in group.open if m.occurrence.judged_by]
        entry = _acceptance_of(connection, here, seen_from, after=max(judged_by, default=0))
        if entry is not None:
            made.append(entry.number)
            judgements.accept(
                connection,
                run,
                list(here.values()),
                who=entry.who,
                reason=entry.reason,
                scope=f"carried over from branch {entry.branch}, entry {entry.number}: {entry.scope}",
                until=entry.until,
                carries=entry.number,
            )
    return made


def _check_rejected(connection: Connection, cases: Collection[int]) -> None:
    """Raises StoreError where one of them is accepted: no rejection would change that."""
    query = select(Case.id, Case.run_id, Case.identity_key, Case.label, *PRINTS).where(Case.id.in_(cases))
    in_effect: dict[int, dict[str, Any]] = {}
    for row in connection.execute(query.order_by(Case.id)).all():
        if row.run_id not in in_effect:
            in_effect[row.run_id] = judgements.in_effect(connection, base_revision(connection, row.run_id))
        baseline = in_effect[row.run_id].get(row.identity_key)
        if baseline and fingerprint_of(baseline) == fingerprint_of(row):
            raise StoreError(
                f"case {row.id}: {row.label} is accepted, by {baseline.who} ({baseline.reason}); take that back first: "
                f"upright undo {baseline.entry_id}; nothing was written"
            )


Results = Collection[tuple[str, str]]
"""(identity, fingerprint)"""


def _acceptance_of(connection: Connection, results: Results, seen_from: BaseRevision, *, after: int) -> Entry | None:
    """The latest, made after that entry, which has all of these and is in effect on its branch."""
    has = _entries_with(connection, results, "accept")
    covering = [number for number, found in has.items() if set(results) <= found and number > after]
    identities = {identity for identity, _ in results}
    now = datetime.now(UTC)
    for entry in ledger.entries(connection, models.Entry.id.in_(covering)):
        if entry.in_effect(now):
            there = judgements.newest_on(connection, entry.branch, seen_from)
            if all(identity in there and there[identity].entry_id == entry.number for identity in identities):
                return entry
    return None


def _refused(connection: Connection, branch: str, results: Results) -> set[tuple[str, str]]:
    """Those that were accepted on this branch, and that was taken back; or rejected, and that was not."""
    accepted = _entries_with(connection, results, "accept", models.Entry.branch == branch)
    rejected = _entries_with(connection, results, "reject", models.Entry.branch == branch)
    found = set()
    for entry in ledger.entries(connection, models.Entry.id.in_({*accepted, *rejected})):
        if (entry.undone_by is None) == (entry.act == "reject"):
            found |= (accepted | rejected)[entry.number]
    return found


def _entries_with(connection: Connection, results: Results, act: Act, *where: Any) -> dict[int, set[tuple[str, str]]]:
    """By the numbers of entries, which of these results they were said of."""
    query = (
        select(models.EntryCase.entry_id, Case.identity_key, *PRINTS)
        .join(Case, Case.id == models.EntryCase.case_id)
        .join(models.Entry, models.Entry.id == models.EntryCase.entry_id)
        .where(Case.identity_key.in_({identity for identity, _ in results}), models.Entry.act == act, *where)
    )
    has: dict[int, set[tuple[str, str]]] = {}
    for row in connection.execute(query):
        result = row.identity_key, fingerprint_of(row)
        if result in results:
            has.setdefault(row.entry_id, set()).add(result)
    return has


def _histories(connection: Connection, of_branch: Sequence[Any], branch: str) -> list[Any]:
    """Each case of each group on these runs, with the number of the latest case that it was found on.

    `+ 0` keeps SQLite from walking all cases of all runs.
    """
    query = (
        select(GroupMember.group_id, func.max(Case.id).label("last"), func.max(Case.run_id).label("last_run"))
        .join(models.Group, models.Group.id == GroupMember.group_id)
        .join(Case, Case.id == GroupMember.case_id)
        .where(models.Group.branch == branch, (Case.run_id + 0).in_(select(Run.id).where(*of_branch)))
        .group_by(GroupMember.group_id, Case.identity_key)
    )
    return list(connection.execute(query))


def _latest(connection: Connection, of_branch: Sequence[Any], cases: Sequence[int]) -> dict[int, Any]:
    """By the numbers of cases: the latest judged case of the same history, by the order of commits, up to this run and
    on this branch.

    What is older than the newest case of a run that did not come late is of an earlier commit than that, so it is not
    read: a history may be thousands of runs long, with many late ones.
    """
    not_in_order = backfilled(connection, of_branch)
    in_order = _newest(of_branch, aliased(Case), [Run.id.not_in(not_in_order)] if not_in_order else [])
    newest, accepted = in_order, aliased(Case)
    if not_in_order:
        later = aliased(Case)
        newest = _newest(of_branch, later, [later.id >= func.coalesce(in_order, 0)], [Run.rank.desc()])
    pair = select(Case.id.label("case"), newest.label("later")).where(Case.id.in_(cases)).subquery()
    query = (
        select(pair.c.case, Case.id, Case.run_id, Verdict.word, GroupMember.group_id)
        .add_columns(accepted.run_id.label("accepted_run"))
        .join(Case, Case.id == pair.c.later)
        .join(Verdict, Verdict.case_id == Case.id)
        .outerjoin(GroupMember, GroupMember.case_id == Case.id)
        .outerjoin(EntryCase, EntryCase.id == Verdict.baseline_id)
        .outerjoin(accepted, accepted.id == EntryCase.case_id)
    )
    return {row.case: row for row in connection.execute(query)}


def _newest(of_branch: Sequence[Any], later: Any, where: Sequence[Any], order: Sequence[Any] = ()) -> Any:
    """The number of the newest judged one of these, in this order, of the history of the query's case."""
    judged = aliased(Verdict)
    query = (
        select(later.id)
        .join(judged, judged.case_id == later.id)
        .join(Run, Run.id == later.run_id)
        .where(later.identity_key == Case.identity_key, later.engine_label == Case.engine_label, *of_branch, *where)
        .order_by(*order, later.id.desc())
        .limit(1)
    )
    return query.correlate(Case).scalar_subquery()


def _occurrences(
    connection: Connection,
    histories: Sequence[Any],
    since: Mapping[int, RunRef],
    latest: Mapping[int, Any],
    seen_from: BaseRevision,
    rank: Mapping[int, int],
) -> dict[int, list[Occurrence]]:
    """By the number of their group."""
    query = (
        select(*runs.CASE, *judgements.VERDICT, *PRINTS)
        .add_columns(Case.id, Case.run_id, Case.identity_key, EntryCase.entry_id, GroupMember.group_id)
        .join(Verdict, Verdict.case_id == Case.id)
        .join(GroupMember, GroupMember.case_id == Case.id)
        .outerjoin(EntryCase, EntryCase.id == Verdict.baseline_id)
        .where(Case.id.in_([row.last for row in histories]))
        .order_by(Case.id)
    )
    rows = connection.execute(query).all()
    at = run_refs(connection, {row.run_id for row in rows})
    baselines = judgements.in_effect(connection, seen_from)
    numbers = {baselines[row.identity_key].entry_id for row in rows if row.identity_key in baselines}
    numbers |= {row.entry_id for row in rows if row.entry_id is not None}
    entries = {entry.number: entry for entry in ledger.entries(connection, models.Entry.id.in_(numbers))}
    now = datetime.now(UTC)
    found: dict[int, list[Occurrence]] = {}

    for row in rows:
        baseline, newest = baselines.get(row.identity_key), latest[row.id]
        judged_by = entries.get(row.entry_id)
        if judged_by and not judged_by.in_effect(now):
            judged_by = None
        if baseline and judged_by and baseline.entry_id < judged_by.number:
            baseline = None  # superseded, as the run knew
        found.setdefault(row.group_id, []).append(
            Occurrence(
                verdict=judgements.verdict_of(row),
                number=row.id,
                reported_by=at[row.run_id],
                fingerprint=fingerprint_of(row),
                latest=newest.word,
                rebased=rank.get(newest.accepted_run, 0) >= rank[since[row.group_id].run],
                accepted=fingerprint_of(baseline) if baseline else "",
                accepted_by=entries.get(baseline.entry_id) if baseline else None,
                judged_by=judged_by,
            )
        )
    return found


def _decisions(
    connection: Connection,
    rows: Iterable[Any],
    since: Mapping[int, RunRef],
    seen_from: BaseRevision,
    foreign_commits: Sequence[int],
) -> dict[tuple[int, str], list[Decision]]:
    """By group and identity: what was said of that case, at whichever run, in that group or that of the same cause on a
    branch whose groups go on here."""
    spoken_on = [seen_from.branch] if seen_from.before is None else seen_from.branches
    groups_by_key = {
        group_key(branch, since[row.id], row.engine_label, row.word): row.id for row in rows for branch in spoken_on
    }
    query = (
        select(
            *(EntryCase.entry_id, models.Group.key, Case.identity_key, *PRINTS),
            *(Verdict.changes, Verdict.defects, Verdict.grounds),
        )
        .join(Case, Case.id == EntryCase.case_id)
        .join(Verdict, Verdict.case_id == Case.id)
        .join(GroupMember, GroupMember.case_id == Case.id)
        .join(models.Group, models.Group.id == GroupMember.group_id)
        .where(models.Group.key.in_(groups_by_key), Case.run_id.not_in(foreign_commits))
    )
    spoken = connection.execute(query).all()
    of_these = models.Entry.id.in_({row.entry_id for row in spoken})
    entries = {entry.number: entry for entry in ledger.entries(connection, of_these)}
    decisions: dict[tuple[int, str], list[Decision]] = {}
    for row in spoken:
        decision = Decision(entries[row.entry_id], fingerprint_of(row), Findings.stored(row))
        decisions.setdefault((groups_by_key[row.key], row.identity_key), []).append(decision)
    return decisions

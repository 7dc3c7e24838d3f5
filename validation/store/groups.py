"""Fetches what groups of verdicts are made of. Only verdicts that tell are looked at: quiet ones cost nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, func, or_, select
from sqlalchemy.orm import aliased

from validation.judging.verdict import changes_from_json, defects_from_json
from validation.review.groups import GONE, Decision, Group, Occurrence, Place, assemble
from validation.review.ledger import Act, Entry
from validation.store import judgements, ledger, models, runs
from validation.store.ancestry import BaseRevision, base_revision, late, others
from validation.store.errors import StoreError
from validation.store.since import PRINTS, fingerprint_of

Case, Verdict, Run = models.Case, models.Verdict, models.Run


def groups(connection: Connection, run: int, *, closed: bool = False) -> list[Group]:
    """As seen from a run, of its branch, the gravest first.

    Without `closed` only those of which something is open, or was told in this very run.
    """
    runs.require(connection, run)
    seen_from = base_revision(connection, run)
    branch, foreign_commits = seen_from.branch, others(connection, run, seen_from)
    of_branch = (Run.branch == branch, Run.id <= run, Run.id.not_in(foreign_commits))
    described = _described(connection, of_branch, seen_from)
    backfilled_runs = late(connection, seen_from)
    latest = _latest(connection, of_branch, [row.last for row in described], backfilled_runs)
    described = [row for row in described if _is_still(row, latest[row.last])]
    if not closed:
        open_ = {
            _group(row)
            for row in described
            if row.last_run == run or latest[row.last].word not in GONE or _is_latest(row, latest[row.last])
        }
        described = [row for row in described if _group(row) in open_]
    occurrences = _occurrences(connection, described, latest, seen_from, backfilled_runs)
    decisions = _decisions(connection, occurrences, seen_from, foreign_commits)
    return [
        group
        for group in assemble(branch, occurrences, decisions, run, datetime.now(UTC))
        if closed or group.open or any(member.seen for member in group.members)
    ]


def carry_over(connection: Connection, run: int) -> list[int]:
    """Accept what was accepted elsewhere: the numbers of the entries that were carried over.

    A group is carried over whole or not at all: where an acceptance has every open member of it, and each of them is
    that very result, bit for bit. It must be in effect on its branch still, be no older than what the group was judged
    against, and nobody may have refused any of these results on this branch.
    """
    made = []
    seen_from = base_revision(connection, run)
    for group in groups(connection, run):
        here = {(m.verdict.case.identity.key, m.occurrence.fingerprint): m.number for m in group.open if m.seen}
        if not group.open or len(here) < len(group.open) or _refused(connection, group.branch, here):
            continue
        judged_by = _entry_of_baseline(connection, [m.verdict.baseline for m in group.open])
        entry = _acceptance_of(connection, here, seen_from, after=max(judged_by.values(), default=0))
        if entry is not None:
            made.append(entry.number)
            judgements.accept(
                connection,
                run,
                who=entry.who,
                reason=entry.reason,
                cases=list(here.values()),
                scope=f"carried over from branch {entry.branch}, entry {entry.number}: {entry.scope}",
                until=entry.until,
                carries=entry.number,
            )
    return made


def check_rejected(connection: Connection, cases: Collection[int]) -> None:
    """Raises StoreError where one of them is accepted: no rejection would change that."""
    query = select(Case.id, Case.run_id, Case.identity_key, Case.label, *PRINTS).where(Case.id.in_(cases))
    in_effect: dict[int, dict[str, Any]] = {}
    for row in connection.execute(query.order_by(Case.id)).all():
        if row.run_id not in in_effect:
            in_effect[row.run_id] = judgements.in_effect(connection, base_revision(connection, row.run_id))
        baseline = in_effect[row.run_id].get(row.identity_key)
        if baseline and _fingerprints(connection, [baseline.case_id])[baseline.case_id] == fingerprint_of(row):
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
        if entry.holds(now):
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


def _group(row: Any) -> tuple[Any, ...]:
    return row.since_run, row.engine_label, row.word


def _is_latest(row: Any, latest: Any) -> bool:
    return bool(latest.since_run == row.since_run and latest.word == row.word)


def _is_still(row: Any, latest: Any) -> bool:
    """Not where the case has become something else of which another group tells."""
    return _is_latest(row, latest) or latest.word in GONE or latest.since_run is None


def _spoken_on(seen_from: BaseRevision) -> list[str]:
    """The branches whose groups may go on here."""
    return [seen_from.branch] if seen_from.before is None else seen_from.branches


def _described(connection: Connection, of_branch: Sequence[Any], seen_from: BaseRevision) -> list[Any]:
    """Each case of each group on these runs, with the number of the latest case that it was told of.

    By the index of `since_run`, whose run is of the same branch or of the base: `+ 0` keeps SQLite from walking all
    cases of all runs.
    """
    query = (
        select(
            Verdict.since_run,
            func.max(Verdict.good_run).label("good_run"),
            Verdict.word,
            Case.identity_key,
            Case.engine_label,
            func.max(Case.id).label("last"),
            func.max(Case.run_id).label("last_run"),
        )
        .join(Case, Case.id == Verdict.case_id)
        .where(
            Verdict.since_run.in_(select(Run.id).where(Run.branch.in_(_spoken_on(seen_from)))),
            (Case.run_id + 0).in_(select(Run.id).where(*of_branch)),
        )
        .group_by(Verdict.since_run, Verdict.word, Case.identity_key, Case.engine_label)
    )
    return list(connection.execute(query))


def _latest(
    connection: Connection, of_branch: Sequence[Any], cases: Sequence[int], backfilled_runs: Mapping[int, float]
) -> dict[int, Any]:
    """By the numbers of cases: the latest judged case of the same history, by the order of commits, up to this run and
    on this branch."""
    later, judged = aliased(Case), aliased(Verdict)
    same = (
        select(later.id)
        .join(judged, judged.case_id == later.id)
        .join(Run, Run.id == later.run_id)
        .where(
            later.identity_key == Case.identity_key,
            later.engine_label == Case.engine_label,
            *of_branch,
        )
        .correlate(Case)
    )
    newest = (
        same.where(Run.id.not_in(backfilled_runs)).order_by(later.id.desc()).limit(1).scalar_subquery().label("newest")
    )
    found = {row.id: {row.newest} for row in connection.execute(select(Case.id, newest).where(Case.id.in_(cases)))}
    if backfilled_runs:
        pairs = (
            select(Case.id, later.id.label("late"))
            .join(later, (later.identity_key == Case.identity_key) & (later.engine_label == Case.engine_label))
            .join(judged, judged.case_id == later.id)
            .join(Run, Run.id == later.run_id)
            .where(Case.id.in_(cases), Run.id.in_(backfilled_runs), *of_branch)
        )
        for row in connection.execute(pairs):
            found[row.id].add(row.late)
    words = (
        select(Case.id, Case.run_id, Verdict.word, Verdict.since_run, Verdict.baseline_id)
        .join(Verdict, Verdict.case_id == Case.id)
        .where(Case.id.in_({number for numbers in found.values() for number in numbers if number is not None}))
    )
    by_number = {row.id: row for row in connection.execute(words)}

    def place(number: int) -> tuple[float, int]:
        run = by_number[number].run_id
        return backfilled_runs.get(run, run), number

    return {case: by_number[max((n for n in numbers if n in by_number), key=place)] for case, numbers in found.items()}


def _occurrences(
    connection: Connection,
    described: Sequence[Any],
    latest: Mapping[int, Any],
    seen_from: BaseRevision,
    backfilled_runs: Mapping[int, float],
) -> list[Occurrence]:
    more = (Case.id, Case.run_id, Case.identity_key, Case.trajectory_key)
    query = (
        select(*runs.CASE, *judgements.VERDICT, *more)
        .join(Verdict, Verdict.case_id == Case.id)
        .where(Case.id.in_([row.last for row in described]))
    )
    rows: dict[int, Any] = {row.id: row for row in connection.execute(query)}
    prints_of = _fingerprints(connection, list(rows))
    numbers = {n for row in rows.values() for n in (row.run_id, row.since_run, row.good_run) if n is not None}
    places = _places(connection, numbers)
    baselines = judgements.in_effect(connection, seen_from)
    prints = _fingerprints(connection, [row.case_id for row in baselines.values()])
    made_by = {baselines[r.identity_key].entry_id for r in rows.values() if r.identity_key in baselines}
    entries = {entry.number: entry for entry in ledger.entries(connection, models.Entry.id.in_(made_by))}
    rebased = _run_of_baseline(connection, [latest[number].baseline_id for number in rows])
    judged_by = _entry_of_baseline(connection, [row.baseline_id for row in rows.values()])
    found = []

    def place(one: int) -> float:
        return backfilled_runs.get(one, one)

    for number, row in rows.items():
        since, baseline, newest = row.since_run or row.run_id, baselines.get(row.identity_key), latest[number]
        if baseline and baseline.entry_id < judged_by.get(row.baseline_id, 0):
            baseline = None  # superseded, as the run knew
        found.append(
            Occurrence(
                verdict=judgements.verdict_of(row),
                number=number,
                place=places[row.run_id],
                since=places[since],
                good=places.get(row.good_run),
                fingerprint=prints_of[number],
                latest=newest.word,
                rebased=place(rebased.get(newest.baseline_id, 0)) >= place(since),
                accepted=prints[baseline.case_id] if baseline else "",
                accepted_by=entries.get(baseline.entry_id) if baseline else None,
                trajectory_key=row.trajectory_key or "",
            )
        )
    return found


def _decisions(
    connection: Connection, occurrences: Iterable[Occurrence], seen_from: BaseRevision, foreign_commits: Sequence[int]
) -> dict[int, list[Decision]]:
    """By the number of an occurrence's case: what was said of that case in that group, at whichever run of it on this
    branch or its base."""
    by_history = {
        (s.since.run, s.verdict.word, s.verdict.case.identity.key, s.verdict.case.engine_label): s.number
        for s in occurrences
    }
    query = (
        select(
            models.EntryCase.entry_id,
            *(Verdict.since_run, Verdict.word, Verdict.changes, Verdict.defects),
            *(Case.identity_key, Case.engine_label, *PRINTS),
        )
        .join(Case, Case.id == models.EntryCase.case_id)
        .join(Verdict, Verdict.case_id == Case.id)
        .join(Run, Run.id == Case.run_id)
        .where(
            Verdict.since_run.in_({key[0] for key in by_history}),
            Run.branch.in_(_spoken_on(seen_from)),
            Run.id.not_in(foreign_commits),
        )
    )
    rows = list(connection.execute(query))
    entries = {
        entry.number: entry for entry in ledger.entries(connection, models.Entry.id.in_({row.entry_id for row in rows}))
    }
    decisions: dict[int, list[Decision]] = {}
    for row in rows:
        number = by_history.get((row.since_run, row.word, row.identity_key, row.engine_label))
        if number is not None:
            changes, defects = changes_from_json(row.changes), defects_from_json(row.defects)
            decisions.setdefault(number, []).append(
                Decision(entries[row.entry_id], fingerprint_of(row), changes, defects)
            )
    return decisions


def _places(connection: Connection, numbers: Iterable[int]) -> dict[int, Place]:
    query = select(Run.id, Run.commit, Run.dirty, Run.started).where(Run.id.in_(list(numbers)))
    return {
        row.id: Place(run=row.id, commit=row.commit, dirty=row.dirty, when=row.started)
        for row in connection.execute(query)
    }


def _fingerprints(connection: Connection, cases: Sequence[int]) -> dict[int, str]:
    query = select(Case.id, *PRINTS).where(Case.id.in_(cases))
    return {row.id: fingerprint_of(row) for row in connection.execute(query)}


def _run_of_baseline(connection: Connection, numbers: Iterable[int | None]) -> dict[int, int]:
    query = select(models.EntryCase.id, Case.run_id).join(Case, Case.id == models.EntryCase.case_id)
    known = {number for number in numbers if number is not None}
    return {row.id: row.run_id for row in connection.execute(query.where(models.EntryCase.id.in_(known)))}


def _entry_of_baseline(connection: Connection, numbers: Iterable[int | None]) -> dict[int, int]:
    """By the numbers of baselines: the entry that made each, of those that hold."""
    undone = ledger.undone_entries(connection)
    query = ledger.ACCEPTED.where(
        models.EntryCase.id.in_({number for number in numbers if number is not None}),
        or_(models.Entry.until.is_(None), models.Entry.until > datetime.now(UTC)),
    )
    return {row.id: row.entry_id for row in connection.execute(query) if row.entry_id not in undone}

"""Fetches what groups of verdicts are made of. Only verdicts that tell are looked at: quiet ones cost nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, func, select
from sqlalchemy.orm import aliased

from validation.groups import GONE, Group, Place, Said, Sighting, assemble, fingerprint
from validation.ledger import Entry
from validation.store import judgements, ledger, models, runs

Case, Verdict, Run = models.Case, models.Verdict, models.Run
PRINTS = (Case.outcome, Case.scene_hash, Case.trajectory_hash)  # what `fingerprint` takes


def groups(connection: Connection, run: int, branches: Sequence[str], *, closed: bool = False) -> list[Group]:
    """As seen from a run, of its branch, the gravest first; baselines are looked for on `branches`.

    Without `closed` only those of which something is open, or was told in this very run.
    """
    runs.require(connection, run)
    branch = connection.execute(select(Run.branch).where(Run.id == run)).scalar_one()
    told = _told(connection, run, branch)
    latest = _latest(connection, run, branch, [row.last for row in told])
    told = [row for row in told if _is_still(row, latest[row.last])]
    if not closed:
        open_ = {_group(row) for row in told if latest[row.last].word not in GONE or latest[row.last].id == row.last}
        told = [row for row in told if _group(row) in open_]
    sightings = _sightings(connection, told, latest, branches)
    return [
        group
        for group in assemble(branch, sightings, _said(connection, sightings), run, datetime.now(UTC))
        if closed or group.open or any(member.seen for member in group.members)
    ]


def carry_over(connection: Connection, run: int, branches: Sequence[str]) -> list[int]:
    """Accept what was accepted on another branch: the numbers of the new entries.

    A group is carried over whole or not at all: where an acceptance that holds has every open member of it, and each
    of them is that very result, bit for bit.
    """
    made = []
    for group in groups(connection, run, branches):
        here = {(m.verdict.case.identity.key, m.sighting.fingerprint): m.number for m in group.open if m.seen}
        if not group.open or len(here) < len(group.open):
            continue
        entry = _acceptance_of(connection, group.branch, here)
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


def _acceptance_of(connection: Connection, branch: str, results: Collection[tuple[str, str]]) -> Entry | None:
    """The latest that holds on another branch and has all of these (identity, fingerprint)."""
    query = (
        select(models.EntryCase.entry_id, Case.identity_key, *PRINTS)
        .join(Case, Case.id == models.EntryCase.case_id)
        .join(models.Entry, models.Entry.id == models.EntryCase.entry_id)
        .where(
            Case.identity_key.in_({identity for identity, _ in results}),
            models.Entry.act == "accept",
            models.Entry.branch != branch,
        )
    )
    has: dict[int, set[tuple[str, str]]] = {}
    for row in connection.execute(query):
        print_ = fingerprint(row.outcome, row.scene_hash, row.trajectory_hash)
        has.setdefault(row.entry_id, set()).add((row.identity_key, print_))
    covering = [number for number, found in has.items() if set(results) <= found]
    now = datetime.now(UTC)
    holding = (entry for entry in ledger.entries(connection, models.Entry.id.in_(covering)) if entry.holds(now))
    return next(holding, None)


def _group(row: Any) -> tuple[Any, ...]:
    return row.since_run, row.engine_label, row.word


def _is_still(row: Any, latest: Any) -> bool:
    """Not where the case has become something else of which another group tells."""
    return latest.id == row.last or latest.word in GONE or latest.since_run is None


def _told(connection: Connection, run: int, branch: str) -> list[Any]:
    """Each case of each group up to this run, with the number of the latest case that it was told of.

    By the index of `since_run`, whose run is of the same branch: `+ 0` keeps SQLite from walking all cases of all runs.
    """
    of_branch = select(Run.id).where(Run.branch == branch, Run.id <= run)
    query = (
        select(
            Verdict.since_run,
            func.max(Verdict.good_run).label("good_run"),
            Verdict.word,
            Case.identity_key,
            Case.engine_label,
            func.max(Case.id).label("last"),
        )
        .join(Case, Case.id == Verdict.case_id)
        .where(Verdict.since_run.in_(of_branch), Case.run_id + 0 <= run)
        .group_by(Verdict.since_run, Verdict.word, Case.identity_key, Case.engine_label)
    )
    return list(connection.execute(query))


def _latest(connection: Connection, run: int, branch: str, cases: Sequence[int]) -> dict[int, Any]:
    """By the numbers of cases: the latest judged case of the same history, up to this run and on this branch."""
    later, judged, its_run = aliased(Case), aliased(Verdict), aliased(Run)
    newest = (
        select(later.id)
        .join(judged, judged.case_id == later.id)
        .join(its_run, its_run.id == later.run_id)
        .where(
            later.identity_key == Case.identity_key,
            later.engine_label == Case.engine_label,
            later.run_id <= run,
            its_run.branch == branch,
        )
        .order_by(later.id.desc())
        .limit(1)
        .correlate(Case)
        .scalar_subquery()
        .label("newest")
    )
    found = {row.id: row.newest for row in connection.execute(select(Case.id, newest).where(Case.id.in_(cases)))}
    words = (
        select(Case.id, Verdict.word, Verdict.since_run, Verdict.baseline_id)
        .join(Verdict, Verdict.case_id == Case.id)
        .where(Case.id.in_(set(found.values())))
    )
    by_number = {row.id: row for row in connection.execute(words)}
    return {number: by_number[newest] for number, newest in found.items()}


def _sightings(
    connection: Connection, told: Sequence[Any], latest: Mapping[int, Any], branches: Sequence[str]
) -> list[Sighting]:
    more = (Case.id, Case.run_id, Case.identity_key, Case.outcome, Case.trajectory_hash, Case.trajectory_key)
    query = (
        select(*runs.CASE, *judgements.VERDICT, *more)
        .join(Verdict, Verdict.case_id == Case.id)
        .where(Case.id.in_([row.last for row in told]))
    )
    rows: dict[int, Any] = {row.id: row for row in connection.execute(query)}
    numbers = {n for row in rows.values() for n in (row.run_id, row.since_run, row.good_run) if n is not None}
    places = _places(connection, numbers)
    baselines = judgements.in_effect(connection, branches)
    prints = _fingerprints(connection, [row.case_id for row in baselines.values()])
    made_by = {baselines[r.identity_key].entry_id for r in rows.values() if r.identity_key in baselines}
    entries = {entry.number: entry for entry in ledger.entries(connection, models.Entry.id.in_(made_by))}
    rebased = _run_of_baseline(connection, [latest[number].baseline_id for number in rows])
    found = []
    for number, row in rows.items():
        since, baseline, newest = row.since_run or row.run_id, baselines.get(row.identity_key), latest[number]
        found.append(
            Sighting(
                verdict=judgements.verdict_of(row),
                number=number,
                place=places[row.run_id],
                since=places[since],
                good=places.get(row.good_run),
                fingerprint=fingerprint(row.outcome, row.scene_hash, row.trajectory_hash),
                latest=newest.word,
                rebased=rebased.get(newest.baseline_id, 0) >= since,
                accepted=prints[baseline.case_id] if baseline else "",
                accepted_by=entries.get(baseline.entry_id) if baseline else None,
                trajectory_key=row.trajectory_key or "",
            )
        )
    return found


def _said(connection: Connection, sightings: Iterable[Sighting]) -> dict[int, list[Said]]:
    """By the number of a sighting's case: what was said of that case in that group, at whichever run of it."""
    by_history = {
        (s.since.run, s.verdict.word, s.verdict.case.identity.key, s.verdict.case.engine_label): s.number
        for s in sightings
    }
    query = (
        select(
            models.EntryCase.entry_id, Verdict.since_run, Verdict.word, Case.identity_key, Case.engine_label, *PRINTS
        )
        .join(Case, Case.id == models.EntryCase.case_id)
        .join(Verdict, Verdict.case_id == Case.id)
        .where(Verdict.since_run.in_({key[0] for key in by_history}))
    )
    rows = list(connection.execute(query))
    entries = {
        entry.number: entry for entry in ledger.entries(connection, models.Entry.id.in_({row.entry_id for row in rows}))
    }
    said: dict[int, list[Said]] = {}
    for row in rows:
        number = by_history.get((row.since_run, row.word, row.identity_key, row.engine_label))
        if number is not None:
            print_ = fingerprint(row.outcome, row.scene_hash, row.trajectory_hash)
            said.setdefault(number, []).append(Said(entries[row.entry_id], print_))
    return said


def _places(connection: Connection, numbers: Iterable[int]) -> dict[int, Place]:
    query = select(Run.id, Run.commit, Run.dirty, Run.started).where(Run.id.in_(list(numbers)))
    return {
        row.id: Place(run=row.id, commit=row.commit, dirty=row.dirty, when=row.started)
        for row in connection.execute(query)
    }


def _fingerprints(connection: Connection, cases: Sequence[int]) -> dict[int, str]:
    query = select(Case.id, *PRINTS).where(Case.id.in_(cases))
    return {row.id: fingerprint(row.outcome, row.scene_hash, row.trajectory_hash) for row in connection.execute(query)}


def _run_of_baseline(connection: Connection, numbers: Iterable[int | None]) -> dict[int, int]:
    query = select(models.Baseline.id, Case.run_id).join(Case, Case.id == models.Baseline.case_id)
    known = {number for number in numbers if number is not None}
    return {row.id: row.run_id for row in connection.execute(query.where(models.Baseline.id.in_(known)))}

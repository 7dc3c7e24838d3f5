"""What pages look at of many runs at once: aggregated by the database, never fetched row by row."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import Connection, func, select, text

from validation.records.stored import Baseline
from validation.store import judgements, ledger, models, runs

Case, Verdict = models.Case, models.Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """A run in figures."""

    outcomes: dict[str, int]  # by outcome; "" for what is not done
    verdicts: dict[str, int]  # by word
    wall_time: float  # s, of its simulations
    peak_memory: float  # bytes, of the largest


def tallies(connection: Connection, numbers: Collection[int]) -> dict[int, Tally]:
    """By run."""
    found = {number: Tally(outcomes={}, verdicts={}, wall_time=0.0, peak_memory=0.0) for number in numbers}
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
        tally = found[row.run_id]
        found[row.run_id] = Tally(
            outcomes=tally.outcomes | {row.outcome or "": row.cases},
            verdicts=tally.verdicts,
            wall_time=tally.wall_time + row.wall,
            peak_memory=max(tally.peak_memory, row.memory),
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


def branches(connection: Connection) -> list[str]:
    """The one with the newest run first."""
    newest = func.max(models.Run.id)
    query = select(models.Run.branch).group_by(models.Run.branch).order_by(newest.desc())
    return list(connection.execute(query).scalars())


def baselines_numbered(connection: Connection, numbers: Collection[int]) -> dict[int, Baseline]:
    """By number, in effect or not."""
    rows = connection.execute(ledger.ACCEPTED.where(models.EntryCase.id.in_(numbers))).all()
    results = {result.number: result for result in runs.results(connection, Case.id.in_([row.case_id for row in rows]))}
    return {row.id: judgements.baseline_of(row, results[row.case_id]) for row in rows}


def acceptances(connection: Connection, identity_key: str, branches: Collection[str]) -> list[Baseline]:
    """Of a case on these branches, oldest first, in effect or not."""
    of_case = Case.identity_key == identity_key, models.Entry.branch.in_(branches)
    query = ledger.ACCEPTED.where(*of_case).with_only_columns(models.EntryCase.id)
    found = baselines_numbered(connection, list(connection.execute(query).scalars()))
    return [found[number] for number in sorted(found)]


def accepted_branches(connection: Connection) -> set[str]:
    return set(connection.execute(select(models.Entry.branch).where(models.Entry.act == "accept").distinct()).scalars())


def size(connection: Connection) -> tuple[int, int]:
    """Bytes of the database, and how many motions it holds."""
    if connection.dialect.name == "sqlite":
        pages, page = (connection.execute(text(f"PRAGMA {name}")).scalar_one() for name in ("page_count", "page_size"))
        taken = int(pages) * int(page)
    else:
        taken = int(connection.execute(text("SELECT pg_database_size(current_database())")).scalar_one())
    return taken, int(connection.execute(select(func.count()).select_from(models.Trajectory)).scalar_one())

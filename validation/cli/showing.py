"""What `upright show` looks up: the stored cases of a scenario, and their motion with curves below it."""

from __future__ import annotations

from collections.abc import Sequence

import click

from validation.cli.arguments import command_line
from validation.cli.progress import Shown
from validation.cli.views import resumable
from validation.judging.verdict import Verdict
from validation.records.case import Result
from validation.records.names import engine_name
from validation.report.sentences import reason_of
from validation.report.table import one_line
from validation.running.options import Options
from validation.running.runner import Limits
from validation.running.selection import selection_of
from validation.running.session import run_session
from validation.store import Store


def find_cases(
    store: Store, word: str, engines: Sequence[str], run: int | None, database: str
) -> tuple[int, list[Result]]:
    """Run number and the cases of this scenario in it, in the order of the run; what no run has is run now."""
    found = stored_cases(store, word, engines, run)
    if found is None:
        options = Options(
            scenarios=(word,), engines=tuple(engines), limits=Limits(), database=database, progress=Shown()
        )
        with resumable(database):
            session = run_session(store, options, command_line())
        found = session.run, store.results(session.run)
    return found


def stored_cases(store: Store, word: str, engines: Sequence[str], run: int | None) -> tuple[int, list[Result]] | None:
    """Of the latest run that has them all; None where none has. Raises ClickException where `run` has not."""
    selection = selection_of(store, [word], engines)
    for number in [run] if run is not None else [stored.number for stored in store.runs()]:
        found = [result for result in store.results(number) if result.case in selection]
        lacking = selection.lacking(result.case for result in found)
        if not lacking:
            return number, found
        if run is not None:
            raise click.ClickException(f"run {run} has no {lacking[0]}; without --run the latest that has it is shown")
    return None


def verdict_lines(results: Sequence[Result], verdicts: Sequence[Verdict]) -> list[str]:
    """What was judged against a baseline, engine by engine; nothing of what had none."""
    shown = {result.key: result.case for result in results}
    return [
        f"{engine_name(shown[verdict.case_key])}: {verdict.word}: {one_line(reason_of(verdict))}"
        for verdict in verdicts
        if verdict.case_key in shown and verdict.baseline is not None
    ]

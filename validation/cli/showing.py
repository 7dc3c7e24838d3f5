"""What `upright show` looks up: the stored cases of a scenario, and their motion with curves below it."""

from __future__ import annotations

from collections.abc import Sequence

import click

from scenarios.scene import Scene
from validation.cli.options import Options
from validation.cli.selection import selection_of
from validation.cli.session import run_session
from validation.cli.words import command_line
from validation.judging.verdict import Verdict
from validation.metrics.curves import curves
from validation.records.names import engine_name
from validation.report.motion import Track
from validation.report.table import one_line
from validation.running.runner import Limits
from validation.store import Store, StoredResult


def find_cases(
    store: Store, word: str, engines: Sequence[str], run: int | None, database: str
) -> tuple[int, list[StoredResult]]:
    """Run number and the cases of this scenario in it, in the order of the run; what no run has is run now."""
    found = stored_cases(store, word, engines, run)
    if found is None:
        options = Options(scenarios=(word,), engines=tuple(engines), limits=Limits(), database=database)
        session = run_session(store, options, command_line())
        found = session.run, store.results(session.run)
    return found


def stored_cases(
    store: Store, word: str, engines: Sequence[str], run: int | None
) -> tuple[int, list[StoredResult]] | None:
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


def verdict_lines(results: Sequence[StoredResult], verdicts: Sequence[Verdict]) -> list[str]:
    """What was judged against a baseline, engine by engine; nothing of what had none."""
    shown = {result.key: result.case for result in results}
    return [
        f"{engine_name(shown[verdict.case_key])}: {verdict.word}: {one_line(verdict.reason)}"
        for verdict in verdicts
        if verdict.case_key in shown and verdict.baseline is not None
    ]


def case_tracks(store: Store, scene: Scene, results: Sequence[StoredResult]) -> list[Track]:
    """A track for each case that has a motion."""
    tracks = []
    for result in results:
        trajectory = store.trajectory(result.trajectory_key) if result.trajectory_key else None
        if trajectory is not None:
            series, near = curves(scene, trajectory)
            tracks.append(
                Track(
                    label=result.case.engine_label,
                    note=result.case.identity.profile,
                    trajectory=trajectory,
                    series=series,
                    near=near,
                )
            )
    return tracks

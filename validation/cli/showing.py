"""What `upright show` looks up: the stored cases of a scenario, and their motion with curves below it."""

from __future__ import annotations

from collections.abc import Sequence

import click

from scenarios.catalogue import scenario_of
from scenarios.scene import Scene
from validation.cli.session import Options, run_session
from validation.engines import engine_of
from validation.metrics.curves import curves
from validation.report.motion import Track
from validation.runner import Limits
from validation.store import Store, StoredResult


def find_cases(store: Store, word: str, engines: Sequence[str], run: int | None) -> tuple[int, list[StoredResult]]:
    """Run number and the cases of this scenario in it, in the order of the run; what no run has is run now."""
    label = scenario_of(word).label
    wanted = {engine_of(engine).label for engine in engines}
    runs = [run] if run is not None else [stored.number for stored in store.runs()]
    for number in runs:
        found = [r for r in store.results(number) if r.case.label == label]
        found = [r for r in found if not wanted or r.case.engine_label in wanted]
        if found and wanted <= {r.case.engine_label for r in found}:
            return number, found
    if run is not None:
        raise click.ClickException(f"{label} is not in run {run}; without --run the latest that has it is shown")
    options = Options(scenarios=(word,), engines=tuple(engines), limits=Limits())
    session = run_session(store, options, f"upright show {word}")
    return session.run, store.results(session.run)


def case_tracks(store: Store, scene: Scene, results: Sequence[StoredResult]) -> list[Track]:
    """A track for each case that has a motion."""
    tracks = []
    for result in results:
        trajectory = store.trajectory(result.trajectory_key) if result.trajectory_key else None
        if trajectory is not None:
            note = result.case.identity.profile
            tracks.append(
                Track(
                    label=result.case.engine_label,
                    note=note,
                    trajectory=trajectory,
                    series=curves(scene, trajectory),
                )
            )
    return tracks

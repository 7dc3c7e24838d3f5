"""What `upright show` looks up: the stored cases of a scenario, and their motion with curves below it."""

from __future__ import annotations

from collections.abc import Sequence

import click

from scenarios.catalogue import scenario_of
from scenarios.scene import Scene
from validation.cli.session import Options, run_session
from validation.engines import EngineChoice, engine_of
from validation.metrics.curves import curves
from validation.report.motion import Track
from validation.runner import Limits
from validation.store import Store, StoredResult


def find_cases(store: Store, word: str, engines: Sequence[str], run: int | None) -> tuple[int, list[StoredResult]]:
    """Run number and the cases of this scenario in it, in the order of the run; what no run has is run now."""
    scenario = scenario_of(word)
    label, asked = scenario.label, (scenario.name, scenario.parameters_json)
    choices = [engine_of(engine) for engine in engines]

    def is_of(result: StoredResult, choice: EngineChoice) -> bool:
        case = result.case
        return case.engine_label == choice.label and choice.profile in (None, case.identity.profile)

    runs = [run] if run is not None else [stored.number for stored in store.runs()]
    for number in runs:
        found = [r for r in store.results(number) if (r.case.identity.scenario, r.case.identity.parameters) == asked]
        found = [r for r in found if not choices or any(is_of(r, choice) for choice in choices)]
        if found and all(any(is_of(r, choice) for r in found) for choice in choices):
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

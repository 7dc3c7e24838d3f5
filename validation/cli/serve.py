"""The process behind `import upright` and its pytest plug-in: a JSON object in, one out.

    python -P -m validation.cli.serve < request > answer

    {"do": "scenarios"}                                              ->  {"scenarios": [label, ...]}
    {"do": "run", "check" or "test", "scenarios", "engines", ...}    ->  {"run", "summary", "text", "cases", ...}
    {"do": "compare", "sides", "scenarios", ...}                     ->  {"names", "scenarios", "text"}
    {"do": "simulate", "scenarios", "engines", "folder", ...}        ->  names; arrays and page of a motion as files
    {"do": "motion", "database", "run", "number", "folder"}          ->  likewise, of a stored case
    an error that a user can correct                                 ->  {"error": "one line"}

A case has the fields of `upright.Case`; "cells" says by its index which case is which scenario on which engine.
"""

import json
import os
import sys
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import click
import numpy as np

from validation.cli import one_line
from validation.cli.arguments import database_arguments, start_count, time_step, user_name
from validation.cli.progress import Shown
from validation.cli.views import resumable, store_comparison
from validation.judging.policy import STARTS
from validation.judging.verdict import Verdict, fails
from validation.records.case import Result
from validation.records.names import engine_token
from validation.report.comparison import render_comparison
from validation.report.hints import rerun_arguments
from validation.report.jsonl import finite
from validation.report.motion_files import motion_files, tracks_of
from validation.report.player import motion_html
from validation.report.sentences import reason_of, summary
from validation.report.table import render_table
from validation.review.lineage import in_repository, lineage_of
from validation.running.comparing import compare_engines
from validation.running.forge import forge_of
from validation.running.options import Options
from validation.running.runner import Limits
from validation.running.selection import selection_of
from validation.running.session import Session, run_session
from validation.store import Store, open_store


def scenario_labels(request: dict[str, Any]) -> dict[str, Any]:
    from scenarios.catalogue import canonical_suite

    return {"scenarios": [scenario.label for scenario in canonical_suite()]}


def options_of(request: dict[str, Any]) -> Options:
    tested = request["do"] == "test"
    forge = forge_of(os.environ if tested else {})
    return Options(
        scenarios=tuple(request["scenarios"]),
        engines=tuple(request["engines"]),
        profile=request.get("profile"),
        dt=_dt(request),
        limits=Limits(),
        ensemble=start_count(request.get("ensemble") or 0, "ensemble"),
        ensemble_as_accepted=request["do"] in ("check", "test"),
        progress=Shown(quiet=not tested),
        database=request["database"],
        branch=forge.branch,
        default_branch=forge.default_branch,
        lineage=lineage_of(forge.base) if forge.base and in_repository() else None,
        labels=forge.labels,
    )


def _dt(request: dict[str, Any]) -> float | None:
    return None if request.get("dt") is None else time_step(str(request["dt"]))


def run(request: dict[str, Any]) -> dict[str, Any]:
    options = options_of(request)
    with open_store(options.database) as store, resumable(options.database):
        session = run_session(store, options, "pytest" if request["do"] == "test" else f"upright.{request['do']}")
        accepted = _accept(store, session, request)
        results = store.results(session.run)
        cases = [
            _case(store, session, i, result, result.number in accepted, request) | {"database": options.database}
            for i, result in enumerate(results)
        ]
        cells = []
        for word, engine in product(options.scenarios, options.engines):
            selection = selection_of(store, [word], [engine])
            cells.append((word, engine, next(i for i, result in enumerate(results) if result.case in selection)))
    return {
        "run": session.run,
        "database": options.database,
        "summary": summary(session.verdicts),
        "text": click.unstyle(render_table(session.results, session.verdicts)),
        "cases": cases,
        "cells": cells,
    }


def _accept(store: Store, session: Session, request: dict[str, Any]) -> set[int]:
    """Numbers of the cases that are accepted now."""
    reason = request.get("accept")
    if reason is None:
        return set()
    if not reason.strip():
        raise click.UsageError("accept: '' is empty; say why these measurements are right")
    scope = "pytest --upright-accept" if request["do"] == "test" else "upright.check"
    return set(store.accept(session.run, who=user_name(), reason=reason, scope=scope))


def _case(
    store: Store, session: Session, i: int, result: Result, accepted: bool, request: dict[str, Any]
) -> dict[str, Any]:
    case, verdict = result.case, session.verdicts[i]
    failing = not accepted and (fails_in_a_test(verdict) if request["do"] == "test" else fails(verdict))
    baseline = next((one for one in session.baselines if one.number == verdict.baseline), None)
    files: Sequence[Path] = ()
    if failing and result.trajectory_key and request.get("reports"):
        files = motion_files(store, result, baseline, Path(request["reports"]))
    return {
        "scenario": session.typed.get(case.label, case.label),
        "engine": case.engine_label,
        "outcome": result.outcome,
        "verdict": verdict.word,
        "told": f"{case.label} × {engine_token(case)}: {verdict.word}: {reason_of(verdict)}",
        "reason": reason_of(verdict),
        "fails": failing,
        "accepted": accepted,
        "metrics": {m.metric: m.value for m in result.measurements},
        "units": {m.metric: m.unit for m in result.measurements},
        "files": [str(file) for file in files],
        "again": f"upright check {rerun_arguments([case], session.typed)}{database_arguments(request['database'])}",
        "profile": case.identity.profile,
        "dt": case.identity.dt,
        "engine_version": case.engine_version,
        "run": session.run,
        "number": result.number,
    }


def fails_in_a_test(verdict: Verdict) -> bool:
    """In a test there is no amber: what breaks, or breaks a law, fails until somebody accepts it."""
    known = verdict.baseline is not None
    return (
        verdict.worse
        or verdict.word in ("missing", "not compared")
        or (not known and (verdict.word == "broken" or bool(verdict.defects)))
    )


def compare(request: dict[str, Any]) -> dict[str, Any]:
    with open_store(request["database"]) as store:
        done = compare_engines(
            tuple(request["sides"]),
            request["scenarios"],
            profile=request["profile"],
            dt=_dt(request),
            limits=Limits(),
            options=request["options"],
            starts=STARTS if request["ensemble"] is None else start_count(request["ensemble"], "ensemble"),
            progress=Shown(quiet=True),
        )
        number, lines = store_comparison(store, done, "upright.compare")
    database = database_arguments(request["database"])
    return {
        "names": done.names,
        "scenarios": [json.loads(line) for line in lines],
        "text": click.unstyle(render_comparison(done, number=number, database=database)),
    }


def simulate(request: dict[str, Any]) -> dict[str, Any]:
    """In a database that lasts as long as the folder."""
    database = str(Path(request["folder"], "upright.db"))
    with open_store(database) as store:
        session = run_session(store, options_of(request | {"database": database}), "upright.simulate")
        return _motion(store, store.results(session.run)[0], Path(request["folder"]))


def motion(request: dict[str, Any]) -> dict[str, Any]:
    with open_store(request["database"]) as store:
        found = next(one for one in store.results(request["run"]) if one.number == request["number"])
        return _motion(store, found, Path(request["folder"]))


def _motion(store: Store, result: Result, folder: Path) -> dict[str, Any]:
    """Arrays and page go to files. Raises ClickException where there is no motion."""
    case = result.case
    moved = store.trajectory(result.trajectory_key) if result.trajectory_hash else None
    if moved is None:
        why = f" ({result.reason})" if result.reason else ""
        raise click.ClickException(f"{case.label} × {engine_token(case)}: no motion, {result.outcome}{why}")
    scene, tracks = tracks_of(store, [(case.engine_label, result)])
    names = ("time", "position", "velocity", "angle", "orientation", "spin")
    arrays = {name: getattr(moved, name) for name in names if hasattr(moved, name)}
    if moved.contacts is not None:
        parts = ("sample", "a", "b", "point", "normal", "gap", "impulse")
        arrays |= {f"contact_{name}": getattr(moved.contacts, name) for name in parts}
    np.savez(folder / "motion.npz", **arrays)
    page = motion_html(scene, tracks, f"{case.label} × {engine_token(case)}")
    (folder / "motion.html").write_text(page, encoding="utf-8")
    return {
        "scenario": case.label,
        "engine": engine_token(case),
        "bodies": [body.name for body in scene.bodies],
        "dt": moved.dt,
        "velocity_lag": moved.velocity_lag,
        "contact_tolerance": moved.contact_tolerance,
    }


ANSWERS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "scenarios": scenario_labels,
    "run": run,
    "check": run,
    "test": run,
    "compare": compare,
    "simulate": simulate,
    "motion": motion,
}


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Raises what the commands raise for words that are none."""
    return ANSWERS[request["do"]](request)


def main() -> None:
    from validation.running.kernel_cache import use_kernel_cache

    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever else prints, the answer stands alone
    use_kernel_cache()
    try:
        given = answer(json.loads(sys.stdin.read()))
    except Exception as error:
        if os.environ.get("UPRIGHT_DEBUG"):
            raise
        given = {"error": one_line(error)}
    json.dump(finite(given), out, allow_nan=False)
    out.close()


if __name__ == "__main__":
    main()

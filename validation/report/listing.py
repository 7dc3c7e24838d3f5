"""Lists for people: the catalogue and the engines."""

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from typing import Any

from scenarios.catalogue import FAMILIES, suite_size
from scenarios.frames import are_moved
from scenarios.scenario import Scenario
from scenarios.scene import Scene, content_hash
from validation.engines import EngineChoice, engine_of, load_engine, present_engines, unavailable_engines
from validation.records.names import metric_name_in


def scenario_list() -> str:
    """Every family: what it is, its parameters with what is allowed, how many cases the suite has of it."""
    lines = []
    for name, family in FAMILIES.items():
        lines.append(f"{name:20} {family.summary}")
        for parameter, allowed in family.allowed.items():
            lines.append(f"{'':20}   {parameter} = {family.defaults[parameter]}   ({allowed})")
        lines.append(f"{'':20}   {len(family.canonical)} in the canonical suite")
    one = f"One of them: upright scenarios {next(iter(FAMILIES))}"
    lines.append(f"{suite_size()} scenarios in the canonical suite.   {one}")
    return "\n".join(lines)


MOST_MOVED = 3  # bodies that are named


def scenario_list_json() -> str:
    return "\n".join(
        json.dumps(
            {
                "format": 1,
                "scenario": name,
                "summary": family.summary,
                "parameters": {
                    p: {"default": family.defaults[p], "allowed": allowed} for p, allowed in family.allowed.items()
                },
                "canonical": [dict(parameters) for parameters in family.canonical],
            }
        )
        for name, family in FAMILIES.items()
    )


def scenario_lines(scenario: Scenario) -> str:
    scene, truth = scenario.scene, scenario.truth
    called = partial(metric_name_in, scenario.name, scenario.parameters_json)
    rows = [
        ("scenario", f"{scenario.label}: {scenario.title}"),
        ("probes", scenario.probes),
        ("regime", scenario.regime),
        ("scene", f"{len(scene.bodies)} bodies, {scene.duration:g} s, hash {content_hash(scene)[:12]}"),
        ("truth", f"{truth.kind}, from {truth.span[0]:g} to {truth.span[1]:g} s, own error {truth.error:g} relative"),
        ("source", truth.source),
        ("headline", called(scenario.headline)),
    ]
    if truth.goal:
        rows.append(("goal", f"{truth.goal.name}: {truth.goal.value:.12g} {truth.goal.unit}"))
    if truth.events:
        times = ", ".join(f"{event.time:.9g}" for event in truth.events[:4])
        rows.append(("events", f"{len(truth.events)} impacts, at {times}{', ...' if len(truth.events) > 4 else ''} s"))
    if truth.invariants:
        rows.append(("invariants", ", ".join(sorted(truth.invariants))))
    if scenario.laws:
        rows.append(("laws", ", ".join(f"{called(metric)} <= {limit:.3g}" for metric, limit in scenario.laws.items())))
    if are_moved(scene):
        rows.append(("frames", frames_text(scene)))
    return "\n".join(f"{name:10} {text}" for name, text in rows)


def frames_text(scene: Scene) -> str:
    """Which bodies a scene has moved into their own frames, and from where."""
    moved = [(body.name, body.frame.position) for body in scene.bodies if body.frame is not None]
    listed = [f"{name} from ({', '.join(f'{x:.4g}' for x in origin)}) m" for name, origin in moved[:MOST_MOVED]]
    more = f" and {len(moved) - MOST_MOVED} more" if len(moved) > MOST_MOVED else ""
    return f"moved to the centre of mass, in principal axes: {', '.join(listed)}{more}"


def engine_list(*, as_json: bool) -> str:
    rows: list[dict[str, Any]] = []
    for name in present_engines():
        with quiet_imports():
            rows.append(_engine_row(load_engine(engine_of(name))))
    rows += [
        {"format": 1, "engine": name, "version": None, "profiles": [], "reason": reason}
        for name, reason in unavailable_engines().items()
    ]
    if as_json:
        return "\n".join(json.dumps({**row, "reason": row.get("reason", "")}) for row in rows)
    lines = [
        f"{row['engine']:10} {row['version'] or 'absent':10} {row.get('reason') or _profiles(row)}" for row in rows
    ]
    return "\n".join([*lines, f"Settings of one: upright engines {rows[0]['engine']}"])


@contextmanager
def quiet_imports() -> Iterator[None]:
    """What an engine's own library prints while it is loaded is shown only where that fails: pybullet prints when it
    was built."""
    with tempfile.TemporaryFile() as printed:
        sys.stdout.flush()
        sys.stderr.flush()
        saved = {number: os.dup(number) for number in (1, 2)}
        for number in saved:
            os.dup2(printed.fileno(), number)
        failed = True
        try:
            yield
            failed = False
        finally:
            for number, copy in saved.items():
                os.dup2(copy, number)
                os.close(copy)
            if failed:
                printed.seek(0)
                sys.stderr.write(printed.read().decode(errors="replace"))


def _engine_row(engine: Any) -> dict[str, Any]:
    profiles = list(getattr(engine, "profiles", ("default",)))
    return {"format": 1, "engine": engine.name, "version": str(engine.version), "profiles": profiles}


def _profiles(row: dict[str, Any]) -> str:
    return f"profiles: {', '.join(row['profiles'])}"


def engine_lines(choice: EngineChoice) -> str:
    from validation.engines.answers import abilities_of

    engine = load_engine(choice)
    summary = (type(engine).__doc__ or "").strip().split("\n")[0]
    lines = [f"{engine.name} {engine.version}: {summary}", _profiles(_engine_row(engine))]
    for name, setting in getattr(engine, "settings", {}).items():
        lines.append(f"  {name} = {setting.default}   ({setting.allowed})")
        lines.append(f"      {setting.doc}")
    for name, able in abilities_of(engine).items():
        lines.append(f"ability {name}: {'yes' if able.works else 'no'}; {able.note}")
    if takes := getattr(engine, "takes", None):
        lines.append(f"takes: {', '.join(sorted(takes))}")
    return "\n".join(lines)


def engine_json(choice: EngineChoice) -> str:
    from validation.engines.answers import abilities_of

    engine = load_engine(choice)
    settings = getattr(engine, "settings", {}).items()
    return json.dumps(
        _engine_row(engine)
        | {
            "settings": {name: {"default": s.default, "allowed": s.allowed, "doc": s.doc} for name, s in settings},
            "abilities": {name: asdict(able) for name, able in abilities_of(engine).items()},
            "takes": sorted(getattr(engine, "takes", ())),
        }
    )

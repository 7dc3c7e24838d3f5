"""Lists for people: the catalogue and the engines."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from scenarios.catalogue import FAMILIES, suite_size
from scenarios.scenario import Scenario
from scenarios.scene import content_hash
from validation.engines import EngineChoice, engine_of, load_engine, present_engines, unavailable_engines


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
    rows = [
        ("scenario", f"{scenario.label}: {scenario.title}"),
        ("probes", scenario.probes),
        ("regime", scenario.regime),
        ("scene", f"{len(scene.bodies)} bodies, {scene.duration:g} s, hash {content_hash(scene)[:12]}"),
        ("truth", f"{truth.kind}, from {truth.span[0]:g} to {truth.span[1]:g} s, own error {truth.error:g} relative"),
        ("source", truth.source),
        ("headline", scenario.headline),
    ]
    if truth.goal:
        rows.append(("goal", f"{truth.goal.name}: {truth.goal.exact:.12g} {truth.goal.unit}"))
    if truth.events:
        times = ", ".join(f"{event.time:.9g}" for event in truth.events[:4])
        rows.append(("events", f"{len(truth.events)} impacts, at {times}{', ...' if len(truth.events) > 4 else ''} s"))
    if truth.invariants:
        rows.append(("invariants", ", ".join(sorted(truth.invariants))))
    if scenario.laws:
        rows.append(("laws", ", ".join(f"{metric} <= {limit:.3g}" for metric, limit in scenario.laws.items())))
    return "\n".join(f"{name:10} {text}" for name, text in rows)


def engine_list(*, as_json: bool) -> str:
    rows: list[dict[str, Any]] = []
    for name in present_engines():
        engine = load_engine(engine_of(name))
        rows.append(
            {
                "format": 1,
                "engine": name,
                "version": str(engine.version),
                "profiles": list(_profiles(engine)),
                "reason": "",
            }
        )
    for name, reason in unavailable_engines().items():
        rows.append({"format": 1, "engine": name, "version": None, "profiles": [], "reason": reason})
    if as_json:
        return "\n".join(json.dumps(row) for row in rows)
    lines = [
        f"{row['engine']:10} {row['version'] or 'absent':10} "
        f"{row['reason'] or 'profiles: ' + ', '.join(row['profiles'])}"
        for row in rows
    ]
    return "\n".join([*lines, f"Settings of one: upright engines {rows[0]['engine']}"])


def engine_lines(choice: EngineChoice) -> str:
    engine = load_engine(choice)
    summary = (type(engine).__doc__ or "").strip().split("\n")[0]
    lines = [f"{engine.name} {engine.version}: {summary}", f"profiles: {', '.join(_profiles(engine))}"]
    for name, setting in getattr(engine, "settings", {}).items():
        lines.append(f"  {name} = {setting.default}   ({setting.allowed})")
        lines.append(f"      {setting.doc}")
    for name, able in getattr(engine, "abilities", {}).items():
        lines.append(f"ability {name}: {'yes' if able.works else 'no'}; {able.note}")
    if takes := getattr(engine, "takes", None):
        lines.append(f"takes: {', '.join(sorted(takes))}")
    return "\n".join(lines)


def ability_table() -> str:
    """Markdown: which of the engines that are present has which ability, how well, or why not."""
    rows = ["| engine | ability | |", "|---|---|---|"]
    for name in present_engines():
        for ability, able in getattr(load_engine(engine_of(name)), "abilities", {}).items():
            rows.append(f"| {name} | `{ability}` | {'' if able.works else 'no: '}{able.note} |")
    return "\n".join(rows)


REPRESENTED = {
    "motion": {"planar": "plane", "spatial": "space"},
    "shapes": {
        "concave-polygon": "concave polygons",
        "arc-polygon": "polygons with arcs",
        "bowl": "bowls",
        "capsule": "capsules",
        "cylinder": "cylinders",
        "ellipsoid": "ellipsoids",
        "convex-mesh": "convex meshes",
        "hollow-sphere": "hollow spheres",
    },
    "contact": {"friction": "friction", "restitution": "restitution", "compliant": "compliance"},
    "joints": {
        "revolute": "pin",
        "prismatic": "slider",
        "rod": "rod",
        "rope": "rope",
        "ball": "ball",
        "hinge": "hinge",
    },
}
"""Column -> feature of a scene -> word: what engines differ in. Who has `prismatic` has `slider` in space."""


def representation_table() -> str:
    """Markdown: what the engines that are present can represent, from their allow-lists."""
    columns = " | ".join(REPRESENTED)
    rows = [f"| engine | {columns} |", "|---" * (len(REPRESENTED) + 1) + "|"]
    for name in present_engines():
        takes: frozenset[str] = getattr(load_engine(engine_of(name)), "takes", frozenset())
        cells = (
            ", ".join(word for feature, word in words.items() if feature in takes) for words in REPRESENTED.values()
        )
        rows.append(f"| `{name}` | {' | '.join(cell or '–' for cell in cells)} |")
    return "\n".join(rows)


def engine_json(choice: EngineChoice) -> str:
    engine = load_engine(choice)
    settings = {
        name: {"default": setting.default, "allowed": setting.allowed, "doc": setting.doc}
        for name, setting in getattr(engine, "settings", {}).items()
    }
    return json.dumps(
        {
            "format": 1,
            "engine": engine.name,
            "version": str(engine.version),
            "profiles": list(_profiles(engine)),
            "settings": settings,
            "abilities": {name: asdict(able) for name, able in getattr(engine, "abilities", {}).items()},
            "takes": sorted(getattr(engine, "takes", ())),
        }
    )


def _profiles(engine: Any) -> tuple[str, ...]:
    return tuple(getattr(engine, "profiles", ("default",)))

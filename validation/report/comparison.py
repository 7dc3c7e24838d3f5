"""A comparison of two versions or settings: a table for people, a JSON object a scenario for programs.

    {"format": 2, "scenario", "label", "scene", "parameters", "variant", "sign", "causes", "told", "identical",
     "changes": [{"metric", "unit", "a", "b", "sign", "law"}], "divergence",
     "a": {"engine", "engine_version", "profile", "settings", "outcome", "reason", "happened", "metrics",
     "trajectory_hash", "motion"}, "b"}

`sign` is worse, mixed, better, different, same, declined or not compared (an adapter of ours failed), and `causes` are
sentences, by which it is so. `happened` is what happened in the motion, with `right` null where nothing says whether it
should; `law` is the law or invariant by which it is better or worse, "" where there is none. `label` is what
`upright show` takes for the scenario, `scene` the hash of its content, and `motion` what the motion is stored under,
null where it is not. `variant` is the setting that was varied; `a` and `b` are the two sides, old and new;
`divergence` is where their motions first differ, null where they do not.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from validation.judging.causes import Cause, causes_of, findings_of
from validation.judging.comparison import Comparison, Sign, Signed, cost_ratio, settings_apart
from validation.records.case import Result
from validation.records.names import metric_name, parameters_of
from validation.records.quantities import contrast, counted, time_step
from validation.records.text import one_line
from validation.report.answer import answer, cause_line, describe_finding, show_command
from validation.report.jsonl import json_line
from validation.report.models import unmeasured_lines
from validation.report.sentences import NOT_MEASURED, describe_comparison, describe_divergence
from validation.report.table import text_of
from validation.running.comparing import Compared

SHOWN_CAUSES = 8  # unless all are asked for
STYLES: dict[Sign, str] = {
    "not compared": "bold red", "worse": "bold red", "mixed": "bold red", "better": "green", "different": "magenta",
}  # fmt: skip
ORDER: tuple[Sign, ...] = ("not compared", "worse", "mixed", "better", "different", "same", "declined")
RARE: tuple[Sign, ...] = ("not compared", "mixed")  # which are not counted where there are none
SIGN = 9  # columns: different
INDENT = " " * 2
ARROW = "\N{RIGHTWARDS ARROW}"


def counts(comparisons: Sequence[Comparison]) -> str:
    """2 worse, 1 better, 3 different, 34 same (30 of them to the last bit), 5 declined by both"""
    signs = [comparison.sign for comparison in comparisons]
    identical = sum(comparison.identical for comparison in comparisons)
    described = [f"{signs.count(sign)} {sign}" for sign in ORDER[:6] if sign not in RARE or sign in signs]
    described[-1] += f" ({identical} to the last bit)" if identical else ""
    return ", ".join([*described, *([f"{signs.count('declined')} declined by both"] if "declined" in signs else [])])


def render_comparison(done: Compared, *, number: int = 0, database: str = "", everything: bool = False) -> str:
    """The answer, then the causes, each with the command that shows it moving, then what else differs between the
    sides; with `everything` every scenario and change too. `number` is what it is stored under, 0 for nothing;
    `database` the option that a proposed command needs to find it."""
    old, new = (one_line(name) for name in done.names)
    comparisons = done.comparisons
    several = len(profiles(comparisons)) > 1
    causes = causes_of(comparisons)
    lines = [one_line(line) for line in answer(done, causes)]
    parts: list[RenderableType] = []
    shown = causes if everything else causes[:SHOWN_CAUSES]
    for cause in shown:
        parts += _cause(cause, done, number, database)
    if len(causes) > len(shown):
        parts.append(Text(f"and {len(causes) - len(shown)} more causes (--all)", style="dim"))
    parts += [Text()] if parts else []
    if everything:
        changed = [one for sign in ORDER[:5] for one in comparisons if one.sign == sign]
        parts += _table((old, new), changed, several=several)
        bits = {True: ", to the last bit", False: ""}
        same = [c for c in comparisons if c.sign == "same"]
        parts += [Text(f"same  {_label(c, several=several)}{bits[c.identical]}", style="dim") for c in same]
    steps = sorted({time_step(comparison.new.case.identity.dt) for comparison in comparisons})
    notes = [f"of {counted(len(comparisons), 'case')}: {counts(comparisons)}"]
    notes += [f"profile {', '.join(profiles(comparisons))}; time step {', '.join(steps)}"]
    notes += [f"setting {name}: {a} {ARROW} {b}" for name, (a, b) in settings_apart(comparisons).items()]
    notes += [f"also another {name}: {a} {ARROW} {b}" for name, (a, b) in done.packages.items()]
    cost = cost_ratio(comparisons)
    if cost:
        of = f"median of {cost[1]} cases" if cost[1] > 1 else "1 case"
        notes.append(f"a step takes {cost[0]:.2g} of the time ({of}; not judged)")
    notes += unmeasured_lines(one.scenario for one in comparisons)
    body = text_of(*parts, *(Text(one_line(note), style="dim") for note in notes))
    return "\n".join((*lines, "", body))


def _cause(cause: Cause, done: Compared, number: int, database: str) -> list[RenderableType]:
    heading, _, words = one_line(cause_line(cause, done)).partition(" ")
    parted = cause.worst.comparison.divergence
    below = [describe_divergence(parted)] if parted else []
    below += [show_command(cause.worst, number, database)] if number and has_motions(cause.worst.comparison) else []
    style = STYLES[cause.worst.sign]
    return [Text.assemble((f"{heading} ", style), words), *map(_below, below)]


def has_motions(comparison: Comparison) -> bool:
    """Of both sides."""
    return comparison.old.trajectory is not None and comparison.new.trajectory is not None


def profiles(comparisons: Sequence[Comparison]) -> list[str]:
    return list(dict.fromkeys(side.case.identity.profile for c in comparisons for side in (c.old, c.new)))


def _label(comparison: Comparison, *, several: bool) -> str:
    """The scenario, the profile where there are several, and the setting that is varied."""
    profile = f"@{comparison.new.case.identity.profile}" if several else ""
    return " ".join(filter(None, (one_line(comparison.scenario.label), profile, one_line(comparison.variant))))


def _table(names: tuple[str, str], changed: Sequence[Comparison], *, several: bool) -> list[RenderableType]:
    """For each scenario a heading, its changes in columns that are the same for all, and where the motions part."""
    rows = {id(signed): _cells(signed, comparison) for comparison in changed for signed in comparison.changes}
    headings = ("", "", names[0], names[1], "law")
    widths = [max(map(len, column)) for column in zip(headings, *rows.values())]
    parts: list[RenderableType] = [_in_columns(headings, widths, style="bold")] if rows else []
    for comparison in changed:
        style = STYLES[comparison.sign]
        parts.append(
            Text.assemble((f"{comparison.sign:{SIGN}} ", style), (_label(comparison, several=several), "bold"))
        )
        if described := describe_comparison(comparison):
            parts.append(_below(described))
        parts += [_in_columns(rows[id(signed)], widths, style="") for signed in comparison.changes]
        parts += [_below(describe_divergence(comparison.divergence))] if comparison.divergence else []
    return [*parts, Text()] if parts else []


def _cells(signed: Signed, comparison: Comparison) -> tuple[str, ...]:
    name = metric_name(signed.change.metric, comparison.new.case)
    return signed.sign, name, *_values(signed), signed.law or "none"


def _in_columns(cells: Sequence[str], widths: Sequence[int], *, style: str) -> Text:
    line = Text(INDENT, style=style)
    for cell, width in zip(cells, widths):
        line.append(f"{cell:{width}} ", style=STYLES.get(cell, ""))  # type: ignore[call-overload]  # any word
    return line


def _below(words: str) -> RenderableType:
    return Padding(Text(one_line(words), style="dim"), (0, 0, 0, len(INDENT)))


def _values(signed: Signed) -> tuple[str, str]:
    change = signed.change
    if change.allowed is None:
        return contrast(change.old, 0.0, change.unit)[0], NOT_MEASURED
    after, before = contrast(change.new, change.old, change.unit)
    return before, after


# --- JSON -----------------------------------------------------------------------------------------------------------


def comparison_line(comparison: Comparison, motions: tuple[str | None, str | None] = (None, None)) -> str:
    """One line, without its end. `motions`: what those of the two sides are stored under."""
    case = comparison.new.case
    return json_line(
        scenario=case.identity.scenario,
        label=comparison.scenario.label,
        scene=case.scene_hash,
        parameters=parameters_of(case.parameters),
        variant=comparison.variant,
        sign=comparison.sign,
        causes=[f"{finding.sign}: {describe_finding(finding)}" for finding in findings_of(comparison)],
        told=describe_comparison(comparison),
        identical=comparison.identical,
        changes=[
            {
                "metric": signed.change.metric,
                "unit": signed.change.unit,
                "a": signed.change.old,
                "b": signed.change.new,
                "sign": signed.sign,
                "law": signed.law,
            }
            for signed in comparison.changes
        ],
        a=_side(comparison.old, motions[0]),
        b=_side(comparison.new, motions[1]),
        divergence=asdict(comparison.divergence) if comparison.divergence else None,
    )


def _side(result: Result, motion: str | None) -> dict[str, Any]:
    return {
        "engine": result.case.engine_label,
        "engine_version": result.case.engine_version,
        "profile": result.case.identity.profile,
        "settings": dict(result.case.settings),
        "outcome": result.outcome,
        "reason": result.reason,
        "happened": None if result.outcomes is None else [asdict(one) for one in result.outcomes],
        "metrics": {m.metric: m.value if math.isfinite(m.value) else None for m in result.measurements},
        "trajectory_hash": result.trajectory_hash or None,
        "motion": motion,
    }

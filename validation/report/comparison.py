"""A comparison of two versions or settings: a table for people, a JSON object a scenario for programs.

    {"format": 1, "scenario", "parameters", "variant", "sign", "told", "identical",
     "changes": [{"metric", "unit", "a", "b", "sign", "law"}], "divergence",
     "a": {"engine", "engine_version", "profile", "settings", "outcome", "reason", "happened", "metrics",
     "trajectory_hash"}, "b"}

`sign` is worse, mixed, better, different, same, declined or not compared (an adapter of ours failed); `happened` is
what happened in the motion, with `right` null where nothing says whether it should; `law` is the law or invariant by
which it is better or worse, "" where there is none. `variant` is the setting that --options varied; `a` and `b` are
the two sides, old and new;
`divergence` is where their motions first differ, null where they do not.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from validation.judging.comparison import Comparison, Sign, Signed, cost_ratio, settings_apart
from validation.records.case import Result
from validation.records.names import metric_name, parameters_of
from validation.records.quantities import contrast, time_step
from validation.report.jsonl import json_line
from validation.report.sentences import NOT_MEASURED, describe_comparison, describe_divergence
from validation.report.table import one_line, text_of

SHOWN = 3  # changes of a scenario, unless all are asked for
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


def render_comparison(
    comparisons: Sequence[Comparison],
    names: tuple[str, str],
    packages: Mapping[str, tuple[str, str]],
    *,
    everything: bool = False,
) -> str:
    """What changed, the worst first; then what else differs between the sides, and what the steps cost.

    `packages` are those whose versions differ, the engine's own left out.
    """
    old, new = (one_line(name) for name in names)
    steps = sorted({time_step(comparison.new.case.identity.dt) for comparison in comparisons})
    about = f"profile {', '.join(profiles(comparisons))}; time step {', '.join(steps)}"
    several = len(profiles(comparisons)) > 1
    changed = [one for sign in ORDER[:5] for one in comparisons if one.sign == sign]
    table = _table((old, new), changed, several=several, everything=everything)
    lines = [Text(f"{old} {ARROW} {new}: {counts(comparisons)}", style="bold"), Text(about, style="dim")]
    same = [c for c in comparisons if c.sign == "same"] if everything else []
    bits = {True: ", to the last bit", False: ""}
    lines += [Text(f"same  {_label(c, several=several)}{bits[c.identical]}", style="dim") for c in same]
    apart = settings_apart(comparisons)
    notes = [f"setting {name}: {before} {ARROW} {after}" for name, (before, after) in apart.items()]
    notes += [f"also another {name}: {before} {ARROW} {after}" for name, (before, after) in packages.items()]
    cost = cost_ratio(comparisons)
    if cost:
        of = f"median of {cost[1]} cases" if cost[1] > 1 else "1 case"
        notes.append(f"a step takes {cost[0]:.2g} of the time ({of}; not judged)")
    return text_of(*table, *lines, *(Text(one_line(note), style="dim") for note in notes))


def profiles(comparisons: Sequence[Comparison]) -> list[str]:
    return list(dict.fromkeys(side.case.identity.profile for c in comparisons for side in (c.old, c.new)))


def _label(comparison: Comparison, *, several: bool) -> str:
    """The scenario, the profile where there are several, and the setting that is varied."""
    profile = f"@{comparison.new.case.identity.profile}" if several else ""
    return " ".join(filter(None, (one_line(comparison.scenario.label), profile, one_line(comparison.variant))))


def _table(
    names: tuple[str, str], changed: Sequence[Comparison], *, several: bool, everything: bool
) -> list[RenderableType]:
    """For each scenario a heading, its changes in columns that are the same for all, and where the motions part."""
    shown = {id(c): c.changes if everything else c.changes[:SHOWN] for c in changed}
    rows = {id(signed): _cells(signed, comparison) for comparison in changed for signed in shown[id(comparison)]}
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
        parts += [_in_columns(rows[id(signed)], widths, style="") for signed in shown[id(comparison)]]
        left = len(comparison.changes) - len(shown[id(comparison)])
        where = [f"and {left} more (--all)"] if left else []
        where += [describe_divergence(comparison.divergence)] if comparison.divergence else []
        parts += [_below("; ".join(where))] if where else []
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


def comparison_line(comparison: Comparison) -> str:
    """One line, without its end."""
    case = comparison.new.case
    return json_line(
        scenario=case.identity.scenario,
        parameters=parameters_of(case.parameters),
        variant=comparison.variant,
        sign=comparison.sign,
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
        a=_side(comparison.old),
        b=_side(comparison.new),
        divergence=asdict(comparison.divergence) if comparison.divergence else None,
    )


def _side(result: Result) -> dict[str, Any]:
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
    }

"""Compare: any two runs, and so branches, versions, machines: signed effects; what is the same only if asked for."""

import csv
import io
import json
import math
from collections.abc import Sequence
from typing import Any

import streamlit as st

from dashboard import reading
from dashboard.elements import COLOURS, case_html, go, grid, heading, kind_html, option, paragraph, section, text
from validation.judging.verdict import Verdict, worst_first
from validation.records.case import Result
from validation.records.names import engine_name, metric_name, metric_name_in
from validation.records.quantities import contrast
from validation.records.stored import StoredComparison
from validation.report.sentences import NOT_MEASURED, reason_of, summary, worst_meaning
from validation.store import StoredRun
from validation.store.stored_scenarios import stored_verdicts

Pair = tuple[Result, Verdict]
MOST = 300  # rows
MOST_CHANGES = 3  # of a scenario
ENGINE, SETTINGS = "the engine is, whatever its settings", "engine and settings are"


def show() -> None:
    reading.stop_if_gone("a", "b")
    heading("Compare two runs")
    left, right = st.columns(2)
    with left:
        old = reading.run_of(None, label="A: before", key="a", latest=1)
    with right:
        new = reading.run_of(None, label="B: after", key="b")
    if old is None or new is None:
        paragraph("No run is stored yet.", "lead")
    else:
        st.query_params.update({"a": str(old.number), "b": str(new.number)})
        runs(old, new)
    versions()


def runs(old: StoredRun, new: StoredRun) -> None:
    by = st.segmented_control("Cases are the same where", [ENGINE, SETTINGS], default=ENGINE, required=True, key="by")
    pairs, only_old, only_new = judged(old, new, with_settings=by == SETTINGS)
    paragraph(f"<b>{text(summary(verdict for _, verdict, _ in pairs))}</b>", "lead")
    if only_old or only_new:
        paragraph(f"{len(only_old)} only in A, {len(only_new)} only in B; the others are in both.", "soft")
    everything = st.toggle("All, also what is the same", key="all")
    shown = [pair for pair in pairs if everything or pair[1].word not in ("pass", "declined")]
    if not shown:
        paragraph("Nothing differs by more than its noise.", "lead")
    else:
        heads = ("what", "case", "worst metric", "in words", "", "")
        grid(heads, [row(*one) for one in shown[:MOST]], testid="compared")
    if len(shown) > MOST:
        paragraph(f"{len(shown) - MOST} more are in the export.", "soft")
    if pairs:
        name = f"upright-runs-{old.number}-{new.number}.csv"
        st.download_button("Export as CSV", exported(pairs), file_name=name, mime="text/csv")


Judged = tuple[Result, Verdict, Result]


def judged(old: StoredRun, new: StoredRun, *, with_settings: bool) -> tuple[list[Judged], list[Result], list[Result]]:
    """(result in B, the verdict as if A were accepted, result in A), the worst first; then what is in one only. By the
    laws of the scenarios and the ensembles that are stored, as a check judges."""

    def key(result: Result) -> tuple[str, str]:
        return result.case.identity.key, result.case.engine_label if with_settings else ""

    before: dict[tuple[str, str], Result] = {}
    for result in reading.results(old):
        before.setdefault(key(result), result)
    after = reading.results(new)
    both = [(result, before[key(result)]) for result in after if key(result) in before]
    described = stored_verdicts(reading.store(), [(was, result) for result, was in both])
    verdicts = {result.number: verdict for (result, _), verdict in zip(both, described)}
    was_of = {result.number: was for result, was in both}
    ordered = worst_first([(result, verdicts[result.number]) for result, _ in both])
    seen = {key(result) for result in after}
    only_old = [result for name, result in before.items() if name not in seen]
    only_new = [result for result in after if key(result) not in before]
    return [(result, verdict, was_of[result.number]) for result, verdict in ordered], only_old, only_new


def row(result: Result, verdict: Verdict, was: Result) -> Sequence[str]:
    moved = ""
    if verdict.changes:
        change = verdict.changes[0]
        now, before = contrast(change.new, change.old, change.unit)
        now = NOT_MEASURED if change.allowed is None else now
        more = f"<small>and {len(verdict.changes) - 1} more metrics</small>" if len(verdict.changes) > 1 else ""
        moved = f"{text(metric_name(change.metric, result.case))}: {text(before)} &rarr; {text(now)}{more}"
    return (
        kind_html(verdict.word),
        case_html(result.case, engine=engine_name(result.case)),
        moved,
        f"<small>{text(worst_meaning(verdict) or reason_of(verdict))}</small>",
        go(reading.link("case", case=was.number), "A"),
        go(reading.link("case", case=result.number), "B"),
    )


def exported(pairs: Sequence[Judged]) -> str:
    """CSV: a line for each metric that moved, one for each case that has none."""
    file = io.StringIO()
    lines = csv.writer(file)
    lines.writerow(("verdict", "scenario", "engine", "metric", "move", "a", "b", "unit", "reason"))
    for result, verdict, _ in pairs:
        start = [verdict.word, result.case.label, engine_name(result.case)]
        for change in verdict.changes:
            lines.writerow([*map(_cell, start), change.metric, change.move, change.old, change.new, change.unit, ""])
        if not verdict.changes:
            lines.writerow([*map(_cell, start), "", "", "", "", "", _cell(reason_of(verdict))])
    return file.getvalue()


def _cell(value: str) -> str:
    """A spreadsheet takes what begins so for a formula."""
    return f"'{value}" if value[:1] in "=+-@\t\r" else value


# --- what `upright compare` found ---------------------------------------------------------------------------------

SIGNS = {
    "worse": "regressed",
    "mixed": "mixed",
    "not compared": "not compared",
    "better": "improved",
    "different": "different",
}
"""A sign -> the verdict's word of the same colour."""


def versions() -> None:
    """Two versions or settings of an engine, as they were compared on the command line."""
    known = reading.store().comparisons()
    if not known:
        return
    section("Versions of an engine, by upright compare")
    asked = reading.asked_number("comparison")
    numbers = [one.number for one in known]
    start = numbers.index(asked) if asked in numbers else 0
    chosen = st.selectbox("Comparison", known, index=start, format_func=comparison_title, key="choose-comparison")
    st.query_params["comparison"] = str(chosen.number)
    paragraph(", ".join(f"{count} {text(sign)}" for sign, count in chosen.counts.items()), "lead")
    lines = [json.loads(line) for line in reading.store().comparison_lines(chosen.number)]
    rows = [version_row(line) for line in lines if line["sign"] in SIGNS]
    if rows:
        grid(("what", "scenario", "A to B"), rows[:MOST], testid="versions")
    paragraph(f"<code>{text(chosen.command)}</code>", "soft")


def comparison_title(one: StoredComparison) -> str:
    return f"{option(one.names[0], 60)} → {option(one.names[1], 60)}, {one.when:%Y-%m-%d %H:%M} UTC"


def version_row(line: dict[str, Any]) -> Sequence[str]:
    moved = []
    for change in line["changes"][:MOST_CHANGES]:
        a, b = (math.nan if change[side] is None else change[side] for side in ("a", "b"))
        new, old = contrast(b, a, change["unit"])
        law = f" <small>by the law: {text(change['law'])}</small>" if change["law"] else ""
        name = metric_name_in(line["scenario"], json.dumps(line["parameters"]), change["metric"])
        moved.append(f"{text(name)}: {text(old)} &rarr; {text(new)}{law}")
    varied = ", ".join(filter(None, (line.get("b", {}).get("profile", ""), line["variant"])))
    return (
        badge(line["sign"]),
        f"<span class='name'>{text(line['scenario'])}</span><small>{text(parameters(line))}</small>"
        f"<small>{text(varied)}</small>",
        "".join(f"<div>{one}</div>" for one in moved)
        + (f"<small>{text(line['told'])}</small>" if line["told"] else ""),
    )


def badge(sign: str) -> str:
    background, colour = COLOURS[SIGNS[sign]]
    return f"<span class='word' style='background:{background};color:{colour}'>{text(sign)}</span>"


def parameters(line: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in line["parameters"].items())

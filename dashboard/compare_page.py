"""Compare: any two runs, and so branches, versions, machines: signed effects; what is the same only if asked for."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

import streamlit as st

from dashboard import reading
from dashboard.look import go, grid, heading, said, text, word_html
from validation.compare import stored_verdict
from validation.report.meaning import worst_meaning
from validation.report.names import engine_name, metric_name
from validation.report.quantity import contrast
from validation.store import StoredResult, StoredRun
from validation.verdict import NOT_MEASURED, Verdict, summary, worst_first

Pair = tuple[StoredResult, Verdict]
MOST = 300  # rows


def show() -> None:
    heading("Compare two runs")
    left, right = st.columns(2)
    with left:
        old = reading.chosen_run("A: before", "a")
    with right:
        new = reading.chosen_run("B: after", "b")
    if old is None or new is None:
        said("No run is stored yet.", "lead")
        return
    st.query_params.update({"a": str(old.number), "b": str(new.number)})
    by = st.segmented_control(
        "Cases are the same where", ["the engine is, whatever its settings", "engine and settings are"],
        default="the engine is, whatever its settings", required=True, key="by",
    )  # fmt: skip
    pairs, only_old, only_new = judged(old, new, with_settings=by == "engine and settings are")
    said(f"<b>{text(summary(verdict for _, verdict, _ in pairs))}</b>", "lead")
    if only_old or only_new:
        said(f"{len(only_old)} only in A, {len(only_new)} only in B; the others are in both.", "soft")
    everything = st.toggle("All, also what is the same", key="all")
    shown = [pair for pair in pairs if everything or pair[1].word not in ("pass", "declined")]
    if not shown:
        said("Nothing differs by more than its noise.", "lead")
    grid(("what", "case", "worst metric", "in words", "", ""), [row(*one) for one in shown[:MOST]], testid="compared")
    if len(shown) > MOST:
        said(f"{len(shown) - MOST} more are in the export.", "soft")
    if pairs:
        name = f"upright-runs-{old.number}-{new.number}.csv"
        st.download_button("Export as CSV", exported(pairs), file_name=name, mime="text/csv")


Judged = tuple[StoredResult, Verdict, StoredResult]


def judged(
    old: StoredRun, new: StoredRun, *, with_settings: bool
) -> tuple[list[Judged], list[StoredResult], list[StoredResult]]:
    """(result in B, the verdict as if A were accepted, result in A), the worst first; then what is in one only."""

    def key(result: StoredResult) -> tuple[str, str]:
        return result.case.identity.key, result.case.engine_label if with_settings else ""

    before: dict[tuple[str, str], StoredResult] = {}
    for result in reading.results(old):
        before.setdefault(key(result), result)
    after = reading.results(new)
    both = [(result, before[key(result)]) for result in after if key(result) in before]
    verdicts = {result.number: stored_verdict(was, result) for result, was in both}
    was_of = {result.number: was for result, was in both}
    ordered = worst_first([(result, verdicts[result.number]) for result, _ in both])
    seen = {key(result) for result in after}
    only_old = [result for name, result in before.items() if name not in seen]
    only_new = [result for result in after if key(result) not in before]
    return [(result, verdict, was_of[result.number]) for result, verdict in ordered], only_old, only_new


def row(result: StoredResult, verdict: Verdict, was: StoredResult) -> Sequence[str]:
    moved = ""
    if verdict.changes:
        change = verdict.changes[0]
        now, before = contrast(change.new, change.old, change.unit)
        now = NOT_MEASURED if change.allowed == NOT_MEASURED else now
        more = f"<small>and {len(verdict.changes) - 1} more metrics</small>" if len(verdict.changes) > 1 else ""
        moved = f"{text(metric_name(change.metric, result.case))}: {text(before)} &rarr; {text(now)}{more}"
    return (
        word_html(verdict.word),
        f"<span class='name'>{text(result.case.label)}</span> on {text(engine_name(result.case))}",
        moved,
        f"<small>{text(worst_meaning(verdict) or verdict.reason)}</small>",
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
            lines.writerow([*map(_cell, start), "", "", "", "", "", _cell(verdict.reason)])
    return file.getvalue()


def _cell(value: str) -> str:
    """A spreadsheet takes what begins so for a formula."""
    return f"'{value}" if value[:1] in "=+-@\t\r" else value

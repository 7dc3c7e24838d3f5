"""A metric of a case over the runs: commits, versions, what is accepted and by whom, steps."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard import reading
from dashboard.elements import describe_series, legible, paragraph, text
from validation.judging.changes import allowed_move
from validation.judging.trends import Turn
from validation.records.case import Result
from validation.records.names import metric_name
from validation.records.quantities import NEVER, quantity, scale_of
from validation.records.stored import Point
from validation.report.effect import band_of
from validation.report.sentences import describe_turn
from validation.review.lineage import SHORT
from validation.store import Baseline, StoredRun

if TYPE_CHECKING:  # 0.7 s to import, which a first page without a chart does not wait for
    import altair as alt
    import pandas as pd

HISTORY_RUNS = 400  # runs
MOST_LABELS = 5  # of the axis


def show(result: Result, metric: str, run: StoredRun, key: str, *, later: int = 0) -> None:
    """Chart and words; as seen from a run, and of so many runs behind it."""
    case = result.case
    points = reading.history(case, metric, run, HISTORY_RUNS, later=later)
    finite = [point for point in points if math.isfinite(point.value)]
    turns = turns_of(result, metric, run)
    if finite:
        bands = accepted_bands(result, metric, run, finite)
        at = run.number if later and finite[-1].run > run.number else None
        st.altair_chart(chart(finite, bands, turns, metric_name(metric, case), at), key=f"series-{key}")
        if at is not None:
            paragraph(f"Blue line: run {at}, which this page is of; what came after it is on the right.", "soft")
    if turns:
        paragraph(text(describe_turn(turns[-1][1]), most=800))
    without = [
        f"run {p.run}: {NEVER if p.outcome == 'completed' else p.outcome.replace('_', ' ')}"
        for p in points
        if not math.isfinite(p.value)
    ]
    if without:
        paragraph(f"Without a value: {text(', '.join(without))}", "soft")


def turns_of(result: Result, metric: str, run: StoredRun) -> list[tuple[int, Turn]]:
    """Steps and drifts, each with the run that it begins at."""
    measured = next((m for m in result.measurements if m.metric == metric), None)
    if measured is None:
        return []
    baseline = next(reversed(_accepted(result, run)), None)
    found = reading.store().trend(run, result.case, measured, baseline)
    return [(found.points[turn.shift.start].run, turn) for turn in found.turns]


def _accepted(result: Result, run: StoredRun, last: int | None = None) -> list[Baseline]:
    """Of runs up to this one, or up to the `last`."""
    known = reading.store().acceptances(result.case.identity.key, reading.branches_of(run))
    return [baseline for baseline in known if baseline.run <= (run.number if last is None else last)]


def accepted_bands(result: Result, metric: str, run: StoredRun, points: Sequence[Point]) -> pd.DataFrame:
    """From each acceptance to the next: the value, what it allows, who and why."""
    import pandas as pd

    now = next((m for m in result.measurements if m.metric == metric), None)
    first, last = points[0].run, points[-1].run
    known = _accepted(result, run, max(run.number, last))
    rows = []
    for i, baseline in enumerate(known):
        was = next((m for m in baseline.result.measurements if m.metric == metric), None)
        begin = max(first, baseline.run)
        end = known[i + 1].run if i + 1 < len(known) else last
        if was is None or now is None or not math.isfinite(was.value) or end < begin:
            continue
        low, high = band_of(was, allowed_move(was, was) if was.noise != "timing" else 0.0)
        rows.append(
            {
                "begin": begin,
                "end": end,
                "low": low,
                "high": high,
                "accepted": quantity(was.value, was.unit),
                "who": f"{baseline.who} on {baseline.when:%-d %b %Y}"[:100],
                "why": baseline.reason[:160],
            }
        )
    return pd.DataFrame(rows, columns=["begin", "end", "low", "high", "accepted", "who", "why"])


def chart(
    points: Sequence[Point],
    bands: pd.DataFrame,
    turns: Sequence[tuple[int, Turn]],
    title: str,
    at: int | None = None,
) -> Any:
    """`at` is the run to mark."""
    import altair as alt
    import pandas as pd

    unit = next((p.unit for p in points if p.unit not in ("", "1")), "")
    values = [p.value for p in points]
    factor, unit = scale_of([*values, *bands["low"], *bands["high"]], unit)
    bands = bands.assign(low=bands["low"] / factor, high=bands["high"] / factor)
    frame = pd.DataFrame(
        {
            "run": [p.run for p in points],
            "value": [value / factor for value in values],
            "shown": [quantity(p.value, p.unit, beside=values) for p in points],
            "version": [f"{p.engine_label} {p.engine_version}"[:100] for p in points],
            "commit": [p.commit[:SHORT] for p in points],
            "message": [p.message.split("\n", 1)[0][:100] for p in points],
            "author": [p.author[:60] for p in points],
            "date": [f"{p.started:%Y-%m-%d %H:%M} UTC" for p in points],
        }
    )
    x = alt.X("run:Q", axis=run_axis(points), scale=alt.Scale(zero=False, nice=False))
    y = alt.Y("value:Q", title=unit or None, axis=alt.Axis(format=".4~g"), scale=alt.Scale(zero=False))
    colour = alt.Color("version:N", legend=alt.Legend(orient="bottom", title=None, labelLimit=0))
    several = frame["version"].nunique() > 1
    base = alt.Chart(frame)
    layers = [
        base.mark_line(opacity=0.35).encode(x=x, y=y),
        base.mark_point(filled=True, size=45 if len(points) < 80 else 14).encode(
            x=x,
            y=y,
            tooltip=["run", alt.Tooltip("shown:N", title="value"), "version", *known_columns(frame)],
            **({"color": colour} if several else {}),
        ),
    ]
    if len(bands):
        layers.insert(
            0,
            alt.Chart(bands)
            .mark_rect(color="#2e7d32", opacity=0.2, stroke="#2e7d32", strokeWidth=1)
            .encode(x=alt.X("begin:Q"), x2="end:Q", y=alt.Y("low:Q"), y2="high:Q", tooltip=["accepted", "who", "why"]),
        )
    if at is not None:
        layers.append(alt.Chart(pd.DataFrame({"run": [at]})).mark_rule(color="#2f6f9f").encode(x=alt.X("run:Q")))
    if turns:
        steps = pd.DataFrame(
            {
                "run": [run for run, _ in turns],
                "what": [f"{turn.kind}: {turn.move}" for _, turn in turns],
                "summary": [describe_turn(turn)[:200] for _, turn in turns],
            }
        )
        rules = alt.Chart(steps).mark_rule(color="#c62828", strokeDash=[5, 4])
        layers.append(rules.encode(x=alt.X("run:Q"), tooltip=["what", "summary"]))
    described = describe_series(f"{title} ({unit})" if unit else title, values, points[0].unit)
    named = alt.TitleParams(title, anchor="start", fontSize=14, fontWeight=600)  # beside the axis a long name is cut
    return legible(alt.layer(*layers).properties(height=300, description=described, title=named))


def known_columns(frame: pd.DataFrame) -> list[str]:
    """What there is to say of the commits: of old runs, and outside a repository, less is stored."""
    return ["date", *(name for name in ("commit", "message", "author") if frame[name].any())]


def run_axis(points: Sequence[Point]) -> alt.Axis:
    """Of run numbers, a few of them labelled with number, date and commit."""
    import altair as alt

    steps = max(1, min(MOST_LABELS, len(points)) - 1)
    labelled = {p.run: p for p in (points[round(i * (len(points) - 1) / steps)] for i in range(steps + 1))}
    labels = {
        str(run): [str(run), f"{p.started:%-d %b %Y}", *([p.commit[:SHORT]] if p.commit else [])]
        for run, p in labelled.items()
    }
    return alt.Axis(
        values=list(labelled),
        labelExpr=f"{json.dumps(labels)}[toString(datum.value)]",
        labelOverlap="greedy",
        labelFlush=True,
        title="run, date and commit",
    )

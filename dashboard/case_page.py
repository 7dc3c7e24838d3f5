"""One case: its figures, their history over runs, and its motion beside the other engines'."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

import altair as alt
import pandas as pd
import streamlit as st

from dashboard import reading
from dashboard.look import word_html
from validation.report.motion import Track
from validation.report.names import engine_name, metric_name
from validation.report.player import motion_html
from validation.report.quantity import NEVER, quantity, time_step
from validation.store import StoredResult
from validation.store.errors import StoreError
from validation.verdict import MEANING, Verdict

MOST_TRACKS = 6


def show() -> None:
    asked = st.query_params.get("case", "")
    try:
        result = reading.store().result(int(asked)) if asked.isdecimal() else None
    except StoreError as error:
        back_link()
        st.error(str(error))
        return
    if result is None:
        back_link()
        st.error("This link names no case. Choose one in the matrix.")
        return
    back_link(run=result.run)
    case, run = result.case, reading.store().run(result.run)
    verdict = reading.verdicts(run).get(result.key)
    st.title(case.label)
    step = f"time step {time_step(case.identity.dt)}"
    st.text(f"{engine_name(case)}   {case.engine_version}   {step}   {reading.run_title(run)}")
    if verdict:
        meaning = escape(MEANING[verdict.word], quote=True)
        st.html(f"<p class='verdict' title='{meaning}'>{word_html(verdict.word)} {escape(verdict.reason)}</p>")
    elif result.reason:
        st.text(f"{result.outcome.replace('_', ' ')}: {result.reason}")
    left, right = st.columns([3, 2])
    with left:
        figures(result, verdict)
    with right:
        history(result)
    motion([r for r in reading.results(run) if r.case.label == case.label], result)
    with st.expander("Settings and provenance"):
        st.json(
            {
                "settings": dict(case.settings),
                "engine version": case.engine_version,
                "scene": case.scene_hash,
                "packages": dict(run.info.packages),
                "machine": run.info.machine,
            }
        )


def back_link(**parameters: int) -> None:
    target = escape(reading.link("matrix", **parameters), quote=True)
    st.html(f"<a href='{target}' target='_self'>&larr; all scenarios and engines</a>")


def figures(result: StoredResult, verdict: Verdict | None) -> None:
    st.subheader("Figures")
    if not result.measurements:
        st.write("Nothing was measured.")
        return
    changes = {change.metric: change for change in verdict.changes} if verdict else {}
    rows = []
    for m in result.measurements:
        change = changes.get(m.metric)
        accepted = f"{change.move}, was {quantity(change.old, m.unit)}" if change else ""
        rows.append(
            {
                "metric": metric_name(m.metric, result.case),
                "value": quantity(m.value, m.unit, resolution=m.resolution),
                "against the baseline": accepted,
                "better": m.better,
                "noise": m.noise,
            }
        )
    frame = pd.DataFrame(rows).set_index("metric")
    if not changes:
        frame = frame.drop(columns="against the baseline")
    st.table(frame)
    st.caption("± is what a value cannot resolve; noise says how it repeats when round-off differs (docs/noise.md).")


def history(result: StoredResult) -> None:
    st.subheader("Over runs")
    metrics = [m.metric for m in result.measurements] or [name for name in [result.headline] if name]
    if not metrics:
        st.write("There is no figure to follow.")
        return
    start = metrics.index(result.headline) if result.headline in metrics else 0
    called = {metric: metric_name(metric, result.case) for metric in metrics}
    metric = st.selectbox("Metric", metrics, index=start, key="metric", format_func=called.__getitem__)
    points = reading.store().history(result.case.identity.key, metric)
    finite = [point for point in points if math.isfinite(point.value)]
    if finite:
        unit = next((f" ({point.unit})" for point in finite if point.unit not in ("", "1")), "")
        frame = pd.DataFrame(
            {
                "run": [point.run for point in finite],
                "value": [point.value for point in finite],
                "figure": [quantity(point.value, point.unit) for point in finite],
                "engine": [f"{point.engine_label} {point.engine_version}" for point in finite],
                "commit": [point.commit[:8] for point in finite],
            }
        )
        several = frame["engine"].nunique() > 1
        chart = alt.Chart(frame).encode(
            x=alt.X("run:O", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("value:Q", title=f"{called[metric]}{unit}", axis=alt.Axis(format="~g")),
            tooltip=["run", "figure", "engine", "commit"],
        )
        colour = alt.Color(
            "engine:N",
            legend=alt.Legend(orient="bottom", direction="vertical", title=None, labelLimit=0) if several else None,
        )
        st.altair_chart(chart.mark_line(opacity=0.4) + chart.mark_point(filled=True, size=70).encode(color=colour))
    without = [
        f"run {p.run}, {p.engine_label}: {NEVER if p.outcome == 'completed' else p.outcome.replace('_', ' ')}"
        for p in points
        if not math.isfinite(p.value)
    ]
    if without:
        st.text("Without a value:\n" + "\n".join(without))


def motion(results: Sequence[StoredResult], chosen: StoredResult) -> None:
    """This engine first, then the others that completed the same scenario in this run."""
    st.subheader("Motion")
    names = {engine_name(r.case): r for r in results if r.trajectory_key}
    if not names:
        st.write("No engine completed it in this run.")
        return
    own = engine_name(chosen.case)
    first = [own] if own in names else []
    default = first + [name for name in names if name not in first][: 3 - len(first)]
    picked = st.multiselect("Side by side", list(names), default=default, max_selections=MOST_TRACKS, key="engines")
    if picked:
        page = player([names[name] for name in picked])
        st.iframe(page, height="content", alt=f"motion of {chosen.case.label}, engines side by side")


def player(results: Sequence[StoredResult]) -> str:
    from validation.metrics.curves import curves

    scene = reading.store().scene(results[0].case.scene_hash)
    tracks = []
    for result in results:
        trajectory = reading.store().trajectory(result.trajectory_key)
        if trajectory is not None:
            label = engine_name(result.case)
            series, near = curves(scene, trajectory)
            tracks.append(Track(label=label, trajectory=trajectory, series=series, near=near))
    return motion_html(scene, tracks, f"{results[0].case.label}, run {results[0].run}")

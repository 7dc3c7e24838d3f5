"""One case: its figures, their history over runs, and its motion beside the other engines'."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dashboard import reading
from dashboard.matrix_page import engine_of
from validation.judge import MEANING
from validation.report.motion import Track, motion_html
from validation.report.quantity import quantity
from validation.store import StoredResult
from validation.store.errors import StoreError

PLAYER_HEIGHT = 640
MOST_TRACKS = 6


def show() -> None:
    st.html(f"<a href='{reading.link('matrix')}' target='_self'>&larr; all scenarios and engines</a>")
    asked = st.query_params.get("case", "")
    if not asked.isdecimal():
        st.error("This link names no case. Choose one in the matrix.")
        return
    try:
        result = reading.store().result(int(asked))
    except StoreError as error:
        st.error(str(error))
        return
    case = result.case
    st.title(case.label)
    st.text(f"{engine_of(result)}   {case.engine_version}   run {result.run}   dt = {case.identity.dt:.6g} s")
    run = next((run for run in reading.runs() if run.number == result.run), None)
    verdict = reading.verdicts(run).get(result.key) if run else None
    if verdict:
        st.text(f"{verdict.word}: {verdict.reason}", help=MEANING[verdict.word])
    if result.outcome != "completed":
        st.warning(f"{result.outcome.replace('_', ' ')}: {result.reason}")
    left, right = st.columns(2)
    with left:
        figures(result)
    with right:
        history(result)
    if run:
        motion([r for r in reading.results(run) if r.case.label == case.label], result)
    with st.expander("Settings and provenance"):
        st.json(
            {"settings": dict(case.settings), "engine version": case.engine_version, "scene": case.scene_hash}
            | ({"packages": dict(run.info.packages), "machine": run.info.machine} if run else {})
        )


def figures(result: StoredResult) -> None:
    st.subheader("Figures")
    rows = [
        {"metric": m.metric, "value": quantity(m.value, m.unit), "better": m.better, "repeats": m.noise}
        for m in result.measurements
    ]
    if rows:
        st.table(pd.DataFrame(rows).set_index("metric"))
    else:
        st.write("Nothing was measured.")


def history(result: StoredResult) -> None:
    st.subheader("Over runs")
    metrics = [m.metric for m in result.measurements]
    if not metrics:
        return
    start = metrics.index(result.headline) if result.headline in metrics else 0
    metric = st.selectbox("Metric", metrics, index=start, key="metric")
    points = reading.store().history(result.case.identity.key, metric)
    finite = [p for p in points if math.isfinite(p.value)]
    if not finite:
        st.write("No run has a value of it.")
        return
    frame = pd.DataFrame({"run": [p.run for p in finite], f"{metric} ({finite[0].unit})": [p.value for p in finite]})
    st.line_chart(frame, x="run", y=frame.columns[1])


def motion(results: Sequence[StoredResult], chosen: StoredResult) -> None:
    """This engine first, then the others that completed the same scenario in this run."""
    st.subheader("Motion")
    moving = [r for r in results if r.trajectory_key]
    names = {engine_of(r): r for r in moving}
    if not names:
        st.write("No engine completed it in this run.")
        return
    first = [engine_of(chosen)] if engine_of(chosen) in names else []
    default = first + [name for name in names if name not in first][: 3 - len(first)]
    picked = st.multiselect("Side by side", list(names), default=default, max_selections=MOST_TRACKS, key="engines")
    if picked:
        page = player([names[name] for name in picked])
        st.iframe(page, height=PLAYER_HEIGHT, alt=f"motion of {chosen.case.label}, engines side by side")


def player(results: Sequence[StoredResult]) -> str:
    from validation.metrics.curves import curves

    scene = reading.store().scene(results[0].case.scene_hash)
    tracks = []
    for result in results:
        trajectory = reading.store().trajectory(result.trajectory_key)
        if trajectory is not None:
            tracks.append(Track(label=engine_of(result), trajectory=trajectory, series=curves(scene, trajectory)))
    return motion_html(scene, tracks, f"{results[0].case.label}, run {results[0].run}")

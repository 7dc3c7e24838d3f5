"""One case: its values, their history over runs, and its motion beside the other engines'."""

import json

import streamlit as st

from dashboard import reading, series
from dashboard.elements import commit_html, go, grid, heading, kind_html, limit_html, option, paragraph, section, text
from validation.judging.verdict import MEANING, Verdict
from validation.records.case import Result
from validation.records.names import engine_name, metric_name
from validation.records.quantities import quantity, time_step
from validation.report.hints import rerun_arguments
from validation.report.sentences import meaning, reason_of
from validation.store import Baseline, StoredRun
from validation.store.errors import StoreError

MOST_TRACKS = 6
REFERENCE = "reference"  # the engine that the others are held against


def show() -> None:
    number = reading.asked_number("case")
    if number is None:
        choose()
        return
    try:
        result = reading.result(number)
        run = reading.store().run(result.run)
    except StoreError as error:
        heading("No such case")
        paragraph(text(error), "alarm")
        paragraph(go("engines", "← all scenarios and engines"))
        return
    case = result.case
    verdict = reading.verdicts(run).get(result.key)
    paragraph(go(reading.link("engines", run=run.number), "← all scenarios and engines"))
    heading(f"{text(case.label)} on {text(engine_name(case))}")
    step = f"version {case.engine_version}, time step {time_step(case.identity.dt)}"
    paragraph(f"{text(step)}, {text(reading.run_title(run))}", "soft")
    if run.info.commit:
        paragraph(f"Commit {commit_html(run.info)}", "soft")
    if verdict:
        paragraph(f"{kind_html(verdict.word)}: {text(reason_of(verdict), most=900)}")
        if MEANING[verdict.word] != reason_of(verdict):
            paragraph(text(MEANING[verdict.word]), "soft")
        for defect in verdict.standing:
            paragraph(f"{limit_html(metric_name(defect.metric, case))} {text(meaning(defect, case))}")
        if verdict.standing:
            by = reading.baseline(verdict.baseline)
            so = f"accepted so by {text(by.who)} on {by.when:%-d %b %Y}" if by else "nothing is accepted yet"
            paragraph(
                f"A standing defect: wrong by physics whatever the baseline; {so}. No check fails for it.", "soft"
            )
    elif result.reason:
        paragraph(f"{text(result.outcome.replace('_', ' '))}: {text(result.reason)}")
    broke(result)
    accepted = reading.baseline(verdict.baseline) if verdict else None
    motion([r for r in reading.results(run) if r.case.label == case.label], result, accepted)
    left, right = st.columns([2, 3])
    with left:
        numbers(result, verdict)
    with right:
        history(result, run)
    section("Reproduce")
    st.code(f"upright run {rerun_arguments([case])}", language="shell", wrap_lines=True)
    with st.expander("Settings and provenance"):
        provenance(result, run)


def broke(result: Result) -> None:
    """Where it broke, in the engine's own lines."""
    if result.trace:
        section("Where it broke")
        st.code(result.trace, language="text", wrap_lines=True)


def choose() -> None:
    """Without a link: of a run, a scenario, an engine."""
    heading("A case")
    run = reading.chosen_run()
    if run is None:
        paragraph("No run is stored yet.", "lead")
        return
    results = [result for result in reading.results(run) if result.number]
    labels = list(dict.fromkeys(result.case.label for result in results))
    label = st.selectbox("Scenario", labels, key="choose-scenario", format_func=option)
    rows = [
        (
            text(engine_name(result.case)),
            text(result.outcome.replace("_", " ")),
            go(reading.link("case", case=result.number), "Open"),
        )
        for result in results
        if result.case.label == label
    ]
    grid(("engine", "outcome", ""), rows, wide=False)


def numbers(result: Result, verdict: Verdict | None) -> None:
    section("Values")
    if not result.measurements:
        paragraph("Nothing was measured.")
        return
    changes = {change.metric: change for change in verdict.changes} if verdict else {}
    rows = []
    for m in result.measurements:
        change = changes.get(m.metric)
        beside = (m.value, change.old) if change else ()
        moved = (
            f"<small>{text(f'{change.move}, was {quantity(change.old, m.unit, beside=beside)}')}</small>"
            if change
            else ""
        )
        value = text(quantity(m.value, m.unit, resolution=m.resolution, beside=beside))
        rows.append((text(metric_name(m.metric, result.case)), f"{value}{moved}", text(f"{m.better}, {m.noise}")))
    grid(("metric", "value", "better, noise"), rows, testid="values")
    paragraph("± is what a value cannot resolve; noise says how it repeats when round-off differs.", "soft")


def history(result: Result, run: StoredRun) -> None:
    section("Over runs")
    metrics = [m.metric for m in result.measurements] or [name for name in [result.headline] if name]
    if not metrics:
        paragraph("There is no value to follow.")
        return
    start = metrics.index(result.headline) if result.headline in metrics else 0
    called = {metric: option(metric_name(metric, result.case)) for metric in metrics}
    metric = st.selectbox("Metric", metrics, index=start, key="metric", format_func=called.__getitem__)
    series.show(result, metric, run, key="case", later=series.HISTORY_RUNS // 4)


def motion(results: list[Result], chosen: Result, accepted: Baseline | None) -> None:
    """This engine first, then the reference and the others that completed the same scenario in this run, in lock-step;
    and what is accepted, where it moves otherwise."""
    section("Motion")
    moving = sorted((r for r in results if r.trajectory_key), key=lambda r: r.case.identity.engine != REFERENCE)
    names = {engine_name(r.case): r for r in moving}
    if accepted and accepted.result.trajectory_key not in ("", chosen.trajectory_key):
        names[f"{engine_name(chosen.case)} as accepted in run {accepted.run}"] = accepted.result
    if not names:
        paragraph("No engine completed it in this run.")
        return
    own = engine_name(chosen.case)
    first = [own] if own in names else []
    default = first + [name for name in names if name not in first][: 3 - len(first)]
    picked = st.multiselect(
        "Side by side", list(names), default=default, max_selections=MOST_TRACKS, key="engines", format_func=option
    )
    missing = [] if own in names else [(own, chosen)]  # the player says why
    page = reading.player(
        [*((name, names[name]) for name in picked), *missing], f"{chosen.case.label}, run {chosen.run}"
    )
    if page:
        st.iframe(page, height="content", alt="the motion, engines side by side")


def provenance(result: Result, run: StoredRun) -> None:
    case = result.case
    st.code(
        json.dumps(
            {
                "settings": dict(case.settings),
                "engine version": case.engine_version,
                "scene": case.scene_hash,
                "trajectory": result.trajectory_hash,
                "simulated in run": result.taken_from or run.number,
                "wall time (s)": result.wall_time,
                "peak memory (bytes)": result.peak_memory,
                "commit": run.info.commit,
                "packages": dict(run.info.packages),
                "machine": run.info.machine,
                "command": run.info.command,
            },
            indent=1,
        ),
        language="json",
    )

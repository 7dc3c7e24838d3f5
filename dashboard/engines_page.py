"""Engines: scenarios down, the worst first; engines across; in each cell the headline value and the verdict.

Below, what each engine's error costs, and why what failed did so, with the command that repeats it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from dashboard import reading
from dashboard.elements import (
    MEANING_HERE,
    NOT_DONE,
    breakable,
    go,
    grid,
    heading,
    kind_html,
    legible,
    limit_html,
    option,
    paragraph,
    region,
    section,
    state_html,
    text,
    together,
    unfinished,
)
from validation.judging.verdict import Verdict, standing, worst_first
from validation.records.case import Case, Result
from validation.records.names import engine_name, metric_name, without_underscores
from validation.records.passport import Row
from validation.records.quantities import quantity, time_step
from validation.report.hints import rerun_arguments
from validation.report.passport import difference
from validation.report.sentences import describe_happening, meaning, reason_of, summary
from validation.store import StoredRun

if TYPE_CHECKING:  # as in `series`
    import pandas as pd

MOST_FAILURES = 50
MOST_PASSPORTS = 12  # columns
LEAST = 1e-16  # an error, on a logarithmic axis


def show() -> None:
    heading("Engines")
    run = reading.chosen_run()
    if run is None:
        paragraph("No run is stored in this database yet. Make one with <code>upright run</code>, then reload.", "lead")
        paragraph(text(reading.store().name), "soft")
        passports()
        return
    results, verdicts, planned = reading.results(run), reading.verdicts(run), reading.planned(run)
    paragraph(f"<b>{text(summary(verdicts.values()))}</b>", "lead")
    paragraph(text(about(run, planned)), "soft")
    unfinished(run)
    used = {verdict.word for verdict in verdicts.values()} | ({NOT_DONE} if run.done < run.planned else set())
    words = [word for word in MEANING_HERE if word in used]
    left, right = st.columns(2)
    wanted = left.pills("Show only", words, selection_mode="multi", key="words") if words else []
    contains = right.text_input("Scenario contains", key="text").strip().lower()
    st.html(table(results, verdicts, planned, words=set(wanted or ()), contains=contains))
    with st.expander("What the words mean"):
        for word in words:
            paragraph(f"{kind_html(word)} {text(MEANING_HERE[word])}")
    laws(verdicts.values(), {result.key: result.number for result in results})
    costs(results)
    failures(results)
    passports()


def laws(verdicts: Iterable[Verdict], numbers: Mapping[str, int]) -> None:
    """Standing defects, the gravest excess first: what each engine gets wrong whatever its baseline."""
    wrong = standing(verdicts)
    if not wrong:
        return
    section(f"Standing defects: {'1 case breaks' if len(wrong) == 1 else f'{len(wrong)} cases break'} a law, as before")
    rows = [
        (
            f"{text(verdict.case.label)} on {text(engine_name(verdict.case))}",
            "".join(f"<div>{text(one)}</div>" for one in wrongs(verdict)),
            go(reading.link("case", case=numbers[verdict.case_key]), "Case"),
        )
        for verdict in wrong[:MOST_FAILURES]
    ]
    grid(("case", "what physics says", ""), rows, testid="laws")


def wrongs(verdict: Verdict) -> list[str]:
    """What happened and should not have, then the laws that are broken."""
    return [
        *map(describe_happening, verdict.grounds.wrong),
        *(meaning(defect, verdict.case) for defect in verdict.standing),
    ]


def passports() -> None:
    """Of each engine in how many scenes another way to simulate gives the same bits; nothing is judged."""
    known = reading.store().passports()[:MOST_PASSPORTS]
    if not known:
        return
    section("What an engine's bits depend on")
    paragraph("Scenes with the same bits, of those tried that way, by <code>upright passport</code>.", "soft")
    ways = dict.fromkeys(row.way for one in known for row in one.rows)
    heads = [
        "way",
        *(f"{option(one.engine, 40)} {option(one.engine_version, 40)}, {option(one.profile, 20)}" for one in known),
    ]
    of = [{row.way: row for row in one.rows} for one in known]
    grid(
        heads, [[together(way), *(same_bits(rows.get(way)) for rows in of)] for way in ways], wide=False, testid="bits"
    )
    with st.expander("Which scenes have other bits, and on which machine"):
        for one in known:
            machine = f"{one.machine}, {one.platform}, {one.when:%Y-%m-%d %H:%M} UTC"
            paragraph(f"<b>{text(one.engine)} {text(one.engine_version)}</b>, {text(machine)}", "soft")
            paragraph(f"<code>{text(one.command)}</code>", "soft")
            moved = [(row.way, found) for row in one.rows for found in row.found if found.same is False]
            rows = [(text(way), text(found.scene), text(difference(found))) for way, found in moved]
            if rows:
                grid(("way", "scene", "how far apart"), rows[:MOST_FAILURES], testid="other-bits")


def same_bits(row: Row | None) -> str:
    """6 of 7; why not, where none was tried."""
    tried = [] if row is None else [one for one in row.found if one.same is not None]
    if tried:
        return text(f"{sum(one.same is True for one in tried)} of {len(tried)}")
    return f"<small>{text(row.found[0].why if row and row.found else 'not tried')}</small>"


def costs(results: Sequence[Result]) -> None:
    """Error against cost, both of the headline's scenario: lower and further left is better."""
    import altair as alt

    every = costs_of(results)
    taken = sum(1 for result in results if result.taken_from)
    if every.empty and not taken:
        return
    section("Error against cost")
    if taken:
        paragraph(f"{taken} of these cases were simulated in an earlier run, whose page has their times.", "soft")
    if every.empty:
        return
    title = str(st.selectbox("Headline", list(every["of"].value_counts().index), key="cost-metric", format_func=option))
    frame = every[every["of"] == title]
    chart = (
        alt.Chart(frame)
        .mark_point(filled=True, size=80, opacity=0.8)
        .encode(
            x=alt.X("cost:Q", scale=alt.Scale(type="log"), title="time of a step (µs), on a busy machine"),
            y=alt.Y("error:Q", scale=alt.Scale(type="log"), title=title, axis=alt.Axis(format="~e")),
            color=alt.Color(
                "engine:N",
                scale=alt.Scale(scheme="tableau10"),
                legend=alt.Legend(orient="bottom", title=None, labelLimit=0, columns=2),
            ),
            tooltip=["scenario", "engine", "value", alt.Tooltip("cost:Q", format=".3g")],
        )
        .properties(height=340)
    )
    st.altair_chart(legible(chart), key="costs")
    if (frame["error"] <= LEAST).any():
        paragraph(f"An error of 0 is drawn at {LEAST:g}.", "soft")


def costs_of(results: Sequence[Result]) -> pd.DataFrame:
    """A row a result. `of` is the headline with its unit: a goal is a length in one scenario and a time in another,
    and these share no axis."""
    import pandas as pd

    rows = [
        {
            "engine": engine_name(r.case)[:80],
            "scenario": r.case.label[:80],
            "of": without_underscores(r.headline) + (f" ({unit})" if unit not in ("", "1") else ""),
            "cost": 1e6 * r.stepping_time / r.step_count,
            "error": max(abs(value), LEAST),
            "value": quantity(value, unit),
        }
        for r in results
        if r.step_count and r.stepping_time > 0.0
        for value, unit in [headline(r)]
        if math.isfinite(value)
    ]
    return pd.DataFrame(rows, columns=["engine", "scenario", "of", "cost", "error", "value"])


def headline(result: Result) -> tuple[float, str]:
    found = next((m for m in result.measurements if m.metric == result.headline), None)
    return (found.value, found.unit) if found else (math.nan, "")


def failures(results: Sequence[Result]) -> None:
    """What gave no motion, with the reason and the command that repeats it."""
    lost = [r for r in results if r.outcome not in ("completed", "declined")]
    declined = [r for r in results if r.outcome == "declined"]
    if not lost and not declined:
        return
    section("What gave no motion, and why")
    rows = [
        (
            kind_html("declined") if r.outcome == "declined" else kind_html("broken", r.outcome.replace("_", " ")),
            f"{text(r.case.label)} on {text(engine_name(r.case))}",
            text(r.reason),
            f"<code>{text(f'upright run {rerun_arguments([r.case])}')}</code>",
        )
        for r in [*lost, *declined][:MOST_FAILURES]
    ]
    grid(("", "case", "reason", "to repeat it"), rows, testid="failures")


def about(run: StoredRun, planned: Sequence[Case]) -> str:
    """What holds for all cases, and of what they were made."""
    profiles = ", ".join(sorted({case.identity.profile for case in planned}))
    steps = ", ".join(time_step(dt) for dt in sorted({case.identity.dt for case in planned}))
    commit = (
        f"; commit {run.info.commit[:8]}{' and local changes' if run.info.dirty else ''}" if run.info.commit else ""
    )
    return f"profile {profiles}; time step {steps}{commit}"


def table(
    results: Sequence[Result],
    verdicts: Mapping[str, Verdict],
    planned: Sequence[Case],
    *,
    words: set[str],
    contains: str,
) -> str:
    """HTML; every value from the database is escaped."""
    several = len({case.identity.profile for case in planned}) > 1
    done = {result.key: result for result in results}
    engines: dict[str, str] = {}  # as named in the heading -> version
    rows: dict[str, dict[str, Case]] = {label: {} for label in labels_worst_first(results, verdicts)}
    for case in planned:
        name = engine_name(case, profile=several)
        engines[name] = case.engine_version
        rows.setdefault(case.label, {})[name] = case
    lines = []
    for label, row in rows.items():
        found = [done[case.key] for case in row.values() if case.key in done]
        of_row: set[str] = {verdicts[result.key].word for result in found if result.key in verdicts}
        of_row |= {NOT_DONE} if len(found) < len(row) else set()
        if contains not in label.lower() or (words and not words & of_row):
            continue
        headline = next((metric_name(r.headline, r.case) for r in found if r.headline), "")
        lines.append(f"<tr><td class='scenario'>{breakable(label)}</td><td class='value'>{text(headline)}</td>")
        beside = [m.value for result in found for m in result.measurements if m.metric == result.headline]
        lines += [cell(row.get(engine), done, verdicts, beside) for engine in engines]
        lines.append("</tr>")
    if not lines:
        return "<p>No scenario of this run is of that kind.</p>"
    heads = [f"<th>{breakable(name)}<small>{text(version)}</small></th>" for name, version in engines.items()]
    return (
        f"<div class='grid matrix' {region('matrix')}><table><thead><tr><th>scenario</th><th>value</th>"
        f"{''.join(heads)}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
    )


def labels_worst_first(results: Sequence[Result], verdicts: Mapping[str, Verdict]) -> list[str]:
    """Of the judged ones, each where its worst engine puts it."""
    judged = [(result, verdicts[result.key]) for result in results if result.key in verdicts]
    return list(dict.fromkeys(result.case.label for result, _ in worst_first(judged)))


def cell(
    case: Case | None, done: Mapping[str, Result], verdicts: Mapping[str, Verdict], beside: Sequence[float] = ()
) -> str:
    if case is None:
        return "<td></td>"
    result, verdict = done.get(case.key), verdicts.get(case.key)
    if result is None:
        return f"<td>{kind_html(NOT_DONE)}</td>"
    why = reason_of(verdict) if verdict else result.reason
    target = reading.link("case", case=result.number)
    return (
        f"<td title='{escape(why[:2000], quote=True)}'><a href='{escape(target, quote=True)}' target='_self'>"
        f"{text(number(result, beside))} {judged(verdict) if verdict else ''}</a></td>"
    )


def judged(verdict: Verdict) -> str:
    """The kind, with the metric that moved worst and by how much, or the law that is newly broken; else laws apart."""
    if verdict.waiver:
        return state_html(verdict.waiver, f"{verdict.word}, with a mark")
    if verdict.grounds.now:
        return kind_html(verdict.word, verdict.grounds.now[0].kind)
    if verdict.changes and verdict.word != "pass":
        ratio = verdict.changes[0].ratio
        moved = metric_name(verdict.metric, verdict.case) + (f" × {ratio:.3g}" if ratio is not None else "")
        return kind_html(verdict.word, moved)
    laws = [metric_name(defect.metric, verdict.case) for defect in verdict.defects]
    if verdict.word == "defect":
        return kind_html(verdict.word, laws[0])
    return " ".join([kind_html(verdict.word), *map(limit_html, laws[:1])])


def number(result: Result, beside: Sequence[float]) -> str:
    """The headline measurement in readable form, in one unit with those of its row, or the outcome."""
    if result.outcome != "completed":
        return "" if result.outcome == "declined" else result.outcome.replace("_", " ")
    found = [m for m in result.measurements if m.metric == result.headline]
    return quantity(found[0].value, found[0].unit, beside=beside) if found else "not measured"

"""The matrix: scenarios down, the worst first; engines across; in each cell the headline figure and the verdict."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape

import streamlit as st

from dashboard import reading
from dashboard.look import MEANING_HERE, NOT_DONE, law_html, word_html
from validation.case import Case
from validation.report.names import engine_name, metric_name
from validation.report.quantity import quantity, time_step
from validation.store import StoredResult, StoredRun
from validation.store.records import case_key
from validation.verdict import Verdict, summary, worst_first


def show() -> None:
    st.title("Upright")
    runs = reading.runs()
    if not runs:
        st.info("No run is stored in this database yet. Make one with `upright run`, then reload this page.")
        st.text(reading.store().name)
        return
    run = chosen_run(runs)
    results, verdicts, planned = reading.results(run), reading.verdicts(run), reading.planned(run)
    st.markdown(f"**{summary(verdicts.values())}**")
    st.text(about(run, planned))
    if run.done < run.planned:
        st.warning(
            f"{run.planned - run.done} of the {run.planned} cases of this run are not done: it goes on, or was stopped "
            "(`upright run --resume` finishes it)."
        )
    used = {verdict.word for verdict in verdicts.values()} | ({NOT_DONE} if run.done < run.planned else set())
    words = [word for word in MEANING_HERE if word in used]
    left, right = st.columns(2)
    wanted = left.pills("Show only", words, selection_mode="multi", key="words") if words else []
    text = right.text_input("Scenario contains", key="text").strip().lower()
    st.html(table(results, verdicts, planned, words=set(wanted or ()), text=text))
    with st.expander("What the words mean"):
        for word in words:
            st.html(f"<p>{word_html(word)} {escape(MEANING_HERE[word])}</p>")


def chosen_run(runs: Sequence[StoredRun]) -> StoredRun:
    """That of the link, or else the latest; the link follows the choice, so that it can be passed on."""
    asked = st.query_params.get("run", "")
    numbers = [run.number for run in runs]
    if asked.isdecimal() and int(asked) not in numbers and (older := reading.run(int(asked))):
        runs, numbers = [*runs, older], [*numbers, older.number]
    start = numbers.index(int(asked)) if asked.isdecimal() and int(asked) in numbers else 0
    run = st.selectbox("Run", runs, index=start, format_func=reading.run_title, key="run")
    if asked or run is not runs[0]:
        st.query_params["run"] = str(run.number)
    return run


def about(run: StoredRun, planned: Sequence[Case]) -> str:
    """What holds for all cases, and of what they were made."""
    profiles = ", ".join(sorted({case.identity.profile for case in planned}))
    steps = ", ".join(time_step(dt) for dt in sorted({case.identity.dt for case in planned}))
    commit = (
        f"; commit {run.info.commit[:8]}{' and local changes' if run.info.dirty else ''}" if run.info.commit else ""
    )
    return f"profile {profiles}; time step {steps}{commit}"


def table(
    results: Sequence[StoredResult],
    verdicts: Mapping[str, Verdict],
    planned: Sequence[Case],
    *,
    words: set[str],
    text: str,
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
        found = [done[case_key(case)] for case in row.values() if case_key(case) in done]
        of_row: set[str] = {verdicts[result.key].word for result in found if result.key in verdicts}
        of_row |= {NOT_DONE} if len(found) < len(row) else set()
        if text not in label.lower() or (words and not words & of_row):
            continue
        headline = next((metric_name(r.headline, r.case) for r in found if r.headline), "").replace("_", " ")
        lines.append(f"<tr><td class='scenario'>{breakable(label)}</td><td class='figure'>{escape(headline)}</td>")
        lines += [cell(row.get(engine), done, verdicts) for engine in engines]
        lines.append("</tr>")
    if not lines:
        return "<p>No scenario of this run is of that kind.</p>"
    heads = [f"<th>{breakable(name)}<small>{escape(version)}</small></th>" for name, version in engines.items()]
    return (
        "<div class='matrix' data-testid='matrix'><table><thead><tr><th>scenario</th><th>figure</th>"
        f"{''.join(heads)}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
    )


def labels_worst_first(results: Sequence[StoredResult], verdicts: Mapping[str, Verdict]) -> list[str]:
    """Of the judged ones, each where its worst engine puts it."""
    judged = [(result, verdicts[result.key]) for result in results if result.key in verdicts]
    return list(dict.fromkeys(result.case.label for result, _ in worst_first(judged)))


def breakable(name: str) -> str:
    """Escaped, with places where a long one may go on in the next line."""
    return re.sub("([:,])", r"\1<wbr>", escape(name))


def cell(case: Case | None, done: Mapping[str, StoredResult], verdicts: Mapping[str, Verdict]) -> str:
    if case is None:
        return "<td></td>"
    result, verdict = done.get(case_key(case)), verdicts.get(case_key(case))
    if result is None:
        return f"<td>{word_html(NOT_DONE)}</td>"
    why = verdict.reason if verdict else result.reason
    target = reading.link("case", case=result.number)
    return (
        f"<td title='{escape(why, quote=True)}'><a href='{escape(target, quote=True)}' target='_self'>"
        f"{escape(figure(result))} {judged(verdict) if verdict else ''}</a></td>"
    )


def judged(verdict: Verdict) -> str:
    """The word, with the metric that moved worst and by how much, or the law that is newly broken; else laws apart."""
    if verdict.changes:
        ratio = verdict.changes[0].ratio
        moved = metric_name(verdict.metric, verdict.case) + (f" × {ratio:.3g}" if ratio is not None else "")
        return word_html(verdict.word, moved)
    laws = [metric_name(defect.metric, verdict.case) for defect in verdict.defects]
    if verdict.word == "defect":
        return word_html(verdict.word, laws[0])
    return " ".join([word_html(verdict.word), *map(law_html, laws[:1])])


def figure(result: StoredResult) -> str:
    """The headline measurement in readable form, or the outcome."""
    if result.outcome != "completed":
        return "" if result.outcome == "declined" else result.outcome.replace("_", " ")
    found = [m for m in result.measurements if m.metric == result.headline]
    return quantity(found[0].value, found[0].unit) if found else "not measured"

"""The matrix: scenarios down, engines across, in each cell the scenario's headline figure and the verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

import streamlit as st

from dashboard import reading
from validation.report.quantity import quantity
from validation.store import StoredResult, StoredRun
from validation.verdict import MEANING, Verdict, summary

COLOURS = {
    "broken": "#8e1b1b",
    "defect": "#b5482a",
    "regressed": "#c62828",
    "missing": "#b98900",
    "different": "#6a5acd",
    "improved": "#2e7d32",
    "new": "#5f6b7a",
    "pass": "#2f6f9f",
    "declined": "#9aa3ad",
}
STYLE = """
<style>
table.matrix { border-collapse: collapse; font-size: 0.86rem; }
table.matrix th { text-align: left; padding: 4px 10px; border-bottom: 2px solid #c9d1da; white-space: nowrap; }
table.matrix td { padding: 3px 10px; border-bottom: 1px solid #e6e9ed; vertical-align: top; }
table.matrix td.word { white-space: nowrap; font-variant-numeric: tabular-nums; }
table.matrix a { color: inherit; text-decoration: none; }
table.matrix a:hover { text-decoration: underline; }
table.matrix small { font-weight: 600; margin-left: 6px; }
</style>
"""


def show() -> None:
    st.title("Upright")
    runs = reading.runs()
    if not runs:
        st.info(f"No run is stored in {reading.database()} yet. Make one with `upright run`, then reload this page.")
        return
    numbers = [run.number for run in runs]
    asked = st.query_params.get("run", "")
    start = numbers.index(int(asked)) if asked.isdecimal() and int(asked) in numbers else 0
    run = st.selectbox("Run", runs, index=start, format_func=reading.run_title, key="run")
    results, verdicts = reading.results(run), reading.verdicts(run)
    st.markdown(f"**{sentence(run, verdicts.values())}**")
    words = [word for word in MEANING if any(v.word == word for v in verdicts.values())]
    left, right = st.columns(2)
    wanted = left.pills("Show only", words, selection_mode="multi", key="words") if words else []
    text = right.text_input("Scenario contains", key="text").strip().lower()
    st.html(STYLE + table(run, results, verdicts, set(wanted or ()), text))
    with st.expander("What the words mean"):
        for word in words:
            st.markdown(f"- **{word}**: {MEANING[word]}")


def sentence(run: StoredRun, verdicts: Iterable[Verdict]) -> str:
    """The judge's own count, and of which commit."""
    commit = f" at {run.info.commit[:8]}" if run.info.commit else ""
    return f"{summary(verdicts)}{commit}"


def table(
    run: StoredRun,
    results: Sequence[StoredResult],
    verdicts: Mapping[str, Verdict],
    words: set[str],
    text: str,
) -> str:
    """HTML; every value from the database is escaped."""
    engines = list(dict.fromkeys(engine_of(result) for result in results))
    rows: dict[str, dict[str, StoredResult]] = {}
    for result in results:
        rows.setdefault(result.case.label, {})[engine_of(result)] = result
    lines = ["<table class='matrix' data-testid='matrix'><thead><tr><th>scenario</th><th>figure</th>"]
    lines += [f"<th>{escape(engine)}</th>" for engine in engines]
    lines.append("</tr></thead><tbody>")
    shown = 0
    for label, row in rows.items():
        of_row = [verdicts[r.key].word for r in row.values() if r.key in verdicts]
        if text not in label.lower() or (words and not words.intersection(of_row)):
            continue
        shown += 1
        headline = next((r.headline for r in row.values() if r.headline), "")
        lines.append(f"<tr><td>{escape(label)}</td><td>{escape(headline)}</td>")
        lines += [cell(run, row.get(engine), verdicts) for engine in engines]
        lines.append("</tr>")
    lines.append("</tbody></table>")
    return "".join(lines) if shown else "<p>No scenario of this run is of that kind.</p>"


def engine_of(result: StoredResult) -> str:
    case = result.case
    alias = f" ({case.identity.alias})" if case.identity.alias else ""
    return f"{case.engine_label}@{case.identity.profile}{alias}"


def cell(run: StoredRun, result: StoredResult | None, verdicts: Mapping[str, Verdict]) -> str:
    if result is None:
        return "<td></td>"
    verdict = verdicts.get(result.key)
    word = verdict.word if verdict else ""
    why = verdict.reason if verdict else result.reason
    target = reading.link("case", run=run.number, case=result.number)
    said = f"{word}: {worst(verdict)}" if verdict and worst(verdict) else word
    mark = f"<small style='color:{COLOURS.get(word, '#222')}'>{escape(said)}</small>" if word else ""
    return (
        f"<td class='word' title='{escape(why, quote=True)}'><a href='{escape(target, quote=True)}' target='_self'>"
        f"{escape(figure(result))}</a>{mark}</td>"
    )


def worst(verdict: Verdict) -> str:
    """The metric that moved worst and by how much, or the law that is broken."""
    if verdict.changes:
        ratio = verdict.changes[0].ratio
        return verdict.metric + (f" × {ratio:.3g}" if ratio is not None else "")
    return verdict.defects[0].metric if verdict.defects else ""


def figure(result: StoredResult) -> str:
    """The headline measurement in readable form, or the outcome."""
    if result.outcome != "completed":
        return "" if result.outcome == "declined" else result.outcome.replace("_", " ")
    found = [m for m in result.measurements if m.metric == result.headline]
    return quantity(found[0].value, found[0].unit) if found else "-"

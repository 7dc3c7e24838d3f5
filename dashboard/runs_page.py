"""Runs: when, of what, on which machine, how long they took, what is missing or crashed, and what is stored."""

import streamlit as st

from dashboard import reading
from dashboard.elements import age, commit_html, go, grid, heading, kind_html, option, paragraph, text, together
from validation.judging.verdict import MEANING
from validation.records.simulation import BROKEN
from validation.review.groups import NOTABLE
from validation.store import StoredRun
from validation.store.overview import RunCounts


def show() -> None:
    heading("Runs")
    runs = reading.store().runs(limit=reading.RECENT)
    taken, motions = reading.store().size()
    paragraph(f"{text(reading.store().name)}: {taken / 1e6:.1f} MB, {motions:,} motions", "soft")
    if not runs:
        paragraph("No run is stored yet: <code>upright run</code>", "lead")
        return
    branches = list(dict.fromkeys(run.branch for run in runs))
    if len(branches) > 1:
        branch = st.selectbox("Branch", ["", *branches], format_func=lambda name: option(name) or "all", key="branch")
        runs = [run for run in runs if not branch or run.branch == branch]
    run_counts = reading.run_counts(runs)
    grid(
        ("run>", "age", "commit", "cases>", "verdicts", "simulating>", "memory>", "machine", ""),
        [row(run, run_counts[run.number]) for run in runs],
        testid="runs",
    )
    if len(runs) == reading.RECENT:
        paragraph(f"The latest {reading.RECENT} runs; a link with ?run=NUMBER reaches any.", "soft")


def row(run: StoredRun, counts: RunCounts) -> tuple[str, ...]:
    info = run.info
    lost = sum(counts.outcomes.get(outcome, 0) for outcome in BROKEN)
    undone = run.planned - run.done
    ours = counts.outcomes.get("adapter_failed", 0)
    trouble = [
        f"{lost} broken" if lost else "",
        f"{ours} not compared" if ours else "",
        f"{undone} not done" if undone else "",
    ]
    described = " ".join(
        kind_html(word, str(counts.verdicts[word])) for word in MEANING if word in NOTABLE and counts.verdicts.get(word)
    )
    quiet = sum(count for word, count in counts.verdicts.items() if word not in NOTABLE)
    local = " and local changes" if info.dirty else ""
    return (
        str(run.number),
        f"{together(age(info.started))}<small>{together(f'{info.started:%Y-%m-%d %H:%M} UTC')}</small>",
        f"{commit_html(info)}{local}<small>{text(info.branch, most=60)}</small>",
        f"{run.done}<small>{', '.join(filter(None, trouble))}</small>",
        f"{described}<small>{quiet} quiet</small>",
        f"{counts.wall_time:.1f} s",
        f"{counts.peak_memory / 2**20:.0f} MiB",
        f"{text(info.machine, most=60)}<small>Python {text(info.python)}; {text(info.command, most=120)}</small>",
        f"{go(reading.link('./', run=run.number), 'Inbox')}<br>{go(reading.link('engines', run=run.number), 'Cases')}",
    )

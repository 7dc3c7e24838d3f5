"""Baselines: the ledger of who accepted or marked which results, when, why, until when; and what took it back."""

from datetime import UTC, datetime

import streamlit as st

from dashboard import reading
from dashboard.elements import go, grid, heading, paragraph, plain, state_html, text
from validation.records.quantities import counted
from validation.review.ledger import Entry

MOST = 200  # entries read at once


def show() -> None:
    heading("Baselines and the ledger")
    entries = reading.store().entries(limit=MOST)
    if not entries:
        paragraph("Nothing is accepted or marked yet: <code>upright accept --reason &quot;...&quot;</code>", "lead")
        return
    paragraph("Newest first. Entries are added, never changed; a later one takes an earlier one back.", "soft")
    left, right = st.columns([3, 2])
    acts = list(dict.fromkeys(entry.act for entry in entries))
    wanted = left.pills("Show only", acts, selection_mode="multi", key="acts", format_func=plain)
    words = right.text_input("Contains", key="contains").strip().lower()
    chosen = [
        entry
        for entry in entries
        if (not wanted or entry.act in wanted)
        and words in f"{entry.who} {entry.reason} {entry.scope} {entry.branch} {entry.link} {entry.owner}".lower()
    ]
    grid(("entry", "what", "who and why", "of what", "holds"), [row(entry) for entry in chosen], testid="ledger")
    paragraph("Take one back: <code>upright undo NUMBER --reason &quot;...&quot;</code>", "soft")


def row(entry: Entry) -> tuple[str, ...]:
    details = [f"owned by {text(entry.owner)}" if entry.owner else "", text(entry.link) if entry.link else ""]
    refers = f"entry {entry.refers_to}" if entry.refers_to else ""
    count = counted(len(entry.cases), "case")
    cases = go(reading.link("case", case=entry.cases[0]), count) if entry.cases else ""
    branch = f" on {text(entry.branch, most=60)}" if entry.branch else ""
    return (
        str(entry.number),
        f"{state_html(entry.act)}<small>{' '.join(filter(None, (*details, refers)))}</small>",
        f"<span class='name'>{text(entry.who, most=80)}</span>, {entry.when:%-d %b %Y %H:%M} UTC"
        f"<small>{text(entry.reason)}</small>",
        f"{cases}{branch}<small>{text(entry.scope)}</small>",
        effect_of(entry),
    )


def effect_of(entry: Entry, now: datetime | None = None) -> str:
    if entry.undone_by is not None:
        return f"undone by entry {entry.undone_by}"
    if entry.until is None:
        return "for good"
    day = f"{entry.until:%-d %b %Y}"
    return f"until {day}" if entry.until > (now or datetime.now(UTC)) else f"expired on {day}"

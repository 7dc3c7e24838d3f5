"""How the pages look. Every value from the database passes through `text`: it is shown as text, whatever it holds."""

import base64
import math
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from html import escape
from typing import Literal

import streamlit as st

from validation.judging.verdict import MEANING
from validation.records.case import Case
from validation.records.names import engine_token
from validation.records.quantities import counted
from validation.store import StoredRun

NOT_DONE = "not done"
MEANING_HERE = dict[str, str](MEANING.items()) | {
    NOT_DONE: "planned, and without a result: the run goes on, or was stopped"
}
"""The judge's words, the gravest first, and what a run can be on a page before it is judged."""

AMBER = ("#ffbf00", "#222222")
COLOURS: dict[str, tuple[str, str]] = {
    "broken": ("#8e1b1b", "#ffffff"),
    "defect": ("#b5482a", "#ffffff"),
    "regressed": ("#c62828", "#ffffff"),
    "mixed": ("#a8326e", "#ffffff"),
    "not compared": AMBER,
    "missing": AMBER,
    NOT_DONE: AMBER,
    "different": ("#6a5acd", "#ffffff"),
    "improved": ("#2e7d32", "#ffffff"),
}
"""Word -> background and text, legible on a light page and on a dark one."""

LONGEST = 240  # characters of a value that are shown; the rest is in its title

STYLE = """
<style>
[data-testid="stMainBlockContainer"] { padding-top: 4.2rem; }
.grid { overflow-x: auto; }
.grid table { border-collapse: collapse; font-size: 0.88rem; }
.grid.wide table { width: 100%; }
.grid th, .grid td { text-align: left; vertical-align: top; border: 0; padding: 6px 10px;
  border-bottom: 1px solid rgba(128, 128, 128, 0.28); }
.grid th { vertical-align: bottom; border-bottom-width: 2px; font-weight: 600; font-size: 0.8rem; opacity: 0.75; }
.grid th small { display: block; font-weight: 400; opacity: 0.8; }
.grid td { font-variant-numeric: tabular-nums; }
.grid td.number { text-align: right; white-space: nowrap; }
.grid th.number { text-align: right; }
.grid td small { display: block; opacity: 0.7; font-size: 0.78rem; line-height: 1.35; }
.grid td .name { font-weight: 600; }
.grid td.narrow { white-space: nowrap; width: 1%; }
.grid tr:hover td { background: rgba(128, 128, 128, 0.07); }
.matrix td.scenario { min-width: 14em; overflow-wrap: anywhere; }
.matrix td.value { min-width: 9em; opacity: 0.8; }
.matrix td a { color: inherit; text-decoration: none; white-space: nowrap; }
.matrix td a:hover { text-decoration: underline; }
.matrix td .word.quiet { margin-left: 2px; }
.matrix td .word:not(.quiet) { display: block; width: fit-content; margin: 1px 0; }
bdi { overflow-wrap: anywhere; }
.together { white-space: nowrap; }
.word { font-size: 0.75rem; font-weight: 600; padding: 1px 7px; border-radius: 8px; white-space: nowrap; }
.word.quiet { padding: 0; font-weight: 400; opacity: 0.6; }
.word.law { border: 1px solid #b5482a; font-weight: 400; }
.word.state { border: 1px solid rgba(128, 128, 128, 0.6); font-weight: 400; }
.said { margin: 0; line-height: 1.5; }
.said .word.quiet { font-size: inherit; font-weight: 600; opacity: 1; }
h1.page { font-size: 1.7rem; font-weight: 650; margin: 0; padding: 0; line-height: 1.3; }
h2.part { font-size: 1.1rem; font-weight: 650; margin: 0.4rem 0 0; padding: 0; }
p.soft { opacity: 0.72; margin: 0; font-size: 0.92rem; }
p.big { font-size: 1.3rem; font-weight: 650; line-height: 1.35; margin: 0; }
p.lead { font-size: 1.05rem; margin: 0; }
a.go { font-weight: 600; text-decoration: none; white-space: nowrap; }
a.go:hover { text-decoration: underline; }
img.spark { display: block; max-width: none; }
.alarm { border-left: 4px solid #c62828; padding: 6px 12px; margin: 0; background: rgba(198, 40, 40, 0.08); }
[data-testid="stMultiSelect"] [data-tag] { background-color: #2f6f9f; }
@media (max-width: 800px) { .grid.wide:not([data-testid="evidence"]) table { min-width: 780px; } }
</style>
"""

# --- text ---------------------------------------------------------------------------------------------------------


def text(value: object, *, most: int = LONGEST) -> str:
    """HTML of a value: escaped, set apart from the direction of what is around it, cut where it is very long."""
    whole = " ".join(str(value).split())
    if len(whole) <= most:
        return f"<bdi>{escape(whole)}</bdi>"
    return f"<bdi title='{escape(whole[:2000], quote=True)}'>{escape(whole[:most])}&hellip;</bdi>"


def together(value: object) -> str:
    """As `text`, on one line: a commit, a place, a time."""
    return f"<span class='together'>{text(value, most=60)}</span>"


def breakable(name: str) -> str:
    """As `text`, with places where a long one may go on in the next line."""
    return re.sub("([:,])(?![^<]*>)(?![a-z#0-9]+;)", r"\1<wbr>", text(name))


def heading(*texts: str) -> None:
    """A page's title, of HTML."""
    st.html(f"<h1 class='page'>{' '.join(texts)}</h1>")


def section(title: str) -> None:
    st.html(f"<h2 class='part'>{text(title)}</h2>")


def paragraph(markup: str, kind: Literal["said", "soft", "lead", "big", "alarm"] = "said") -> None:
    """A paragraph, of HTML."""
    st.html(f"<p class='{kind}'>{markup}</p>")


def grid(heads: Sequence[str], rows: Iterable[Sequence[str]], *, wide: bool = True, testid: str = "grid") -> None:
    """A table of HTML cells; a head that ends in `>` is of numbers at the right."""
    kinds = [" class='number'" if head.endswith(">") else "" for head in heads]
    names = [head.removesuffix(">") for head in heads]
    top = "".join(f"<th{kind}>{escape(name)}</th>" for name, kind in zip(names, kinds))
    body = "".join(f"<tr>{''.join(f'<td{kind}>{cell}</td>' for cell, kind in zip(row, kinds))}</tr>" for row in rows)
    st.html(
        f"<div class='grid{' wide' if wide else ''}' data-testid='{testid}'><table><thead><tr>{top}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>"
    )


def go(target: str, label: str) -> str:
    """HTML of a link within the dashboard."""
    return f"<a class='go' href='{escape(target, quote=True)}' target='_self'>{text(label)}</a>"


def age(when: datetime, now: datetime | None = None) -> str:
    """3 days, 2 hours, just now"""
    seconds = ((now or datetime.now(UTC)) - when).total_seconds()
    for size, name in ((86400.0, "day"), (3600.0, "hour"), (60.0, "minute")):
        if seconds >= size:
            return counted(int(seconds // size), name)
    return "just now"


# --- words --------------------------------------------------------------------------------------------------------


def limit_html(metric: str) -> str:
    """Of a law that is broken and fails nothing: it was so when accepted, or nothing is accepted yet."""
    return f"<span class='word law'>breaks a law: {text(metric)}</span>"


def kind_html(word: str, more: str = "") -> str:
    """The word of a verdict, and what is behind it, as it stands in a cell or a line."""
    described = text(f"{word}: {more}" if more else word)
    if word not in COLOURS:
        return f"<span class='word quiet'>{described}</span>"
    background, colour = COLOURS[word]
    return f"<span class='word' style='background:{background};color:{colour}'>{described}</span>"


def state_name(state: str) -> str:
    """For people: what nobody has decided on is unreviewed. New is what has nothing accepted to compare with."""
    return "unreviewed" if state == "new" else state


def state_html(state: str, meaning: str = "") -> str:
    """The state of a group."""
    return f"<span class='word state' title='{escape(meaning, quote=True)}'>{text(state_name(state))}</span>"


def case_html(case: Case, *, engine: str = "") -> str:
    """A case by its name, and its engine as typed unless another name is given."""
    return f"<span class='name'>{text(case.label)}</span> on {text(engine or engine_token(case))}"


def unfinished(run: StoredRun) -> None:
    """An alarm where the run is not done."""
    if run.done < run.planned:
        paragraph(
            f"{run.planned - run.done} of the {run.planned} cases of this run are not done: it goes on, or was stopped "
            "(<code>upright run --resume</code> finishes it).",
            "alarm",
        )


# --- pictures -----------------------------------------------------------------------------------------------------


def spark(
    values: Sequence[float], band: tuple[float, float] | None = None, *, width: int = 130, height: int = 30
) -> str:
    """HTML of a short history, the latest value as a dot; `band` is what the accepted value allows."""
    finite = [(i, value) for i, value in enumerate(values) if math.isfinite(value)]
    if not finite:
        return ""
    levels = [value for _, value in finite] + [edge for edge in band or () if math.isfinite(edge)]
    low, high = min(levels), max(levels)
    span = (high - low) or 1.0

    def x(i: int) -> float:
        return round(width - 4 - (width - 8) * ((len(values) - 1 - i) / max(1, len(values) - 1)), 1)

    def y(value: float) -> float:
        return round(height - 3 - (height - 6) * (value - low) / span, 1)

    shapes = ""
    if band and all(math.isfinite(edge) for edge in band):
        top, bottom = y(band[1]), y(band[0])
        size = f"width='{width}' height='{max(1.5, bottom - top):.1f}'"
        shapes = f"<rect x='0' y='{top}' {size} fill='#2e7d32' fill-opacity='0.25'/>"
    points = " ".join(f"{x(i)},{y(value)}" for i, value in finite)
    i, last = finite[-1]
    shapes += f"<polyline points='{points}' fill='none' stroke='#7a8694' stroke-width='1.4'/>"
    shapes += f"<circle cx='{x(i)}' cy='{y(last)}' r='2.8' fill='#d32f2f'/>"
    # As an image: Streamlit lets no SVG through in HTML.
    svg = f"<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}'>{shapes}</svg>"
    source = f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"
    return f"<img class='spark' width='{width}' height='{height}' alt='history' src='{source}'>"

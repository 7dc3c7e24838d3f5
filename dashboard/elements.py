"""How the pages look. Every value from the database passes through `text`: it is shown as text, whatever it holds."""

import base64
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from typing import Any, Literal
from urllib.parse import urlsplit

import streamlit as st

from validation.judging.verdict import MEANING
from validation.records.case import Case, RunInfo
from validation.records.names import engine_token
from validation.records.quantities import contrast, counted
from validation.review.lineage import SHORT
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

CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
DIRECTION = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")  # of writing, of all that comes after
ADDRESS = re.compile(":(?=//)|www(?=[.])|@", re.IGNORECASE)  # where one is taken for one
LONGEST = 240  # characters of a value that are shown; the rest is in its title

STYLE = """
<style>
[data-testid="stMainBlockContainer"] { padding-top: 4.2rem; --soft: light-dark(#565a66, #b0b4bf); }
.grid { overflow-x: auto; }
.grid table { border-collapse: collapse; font-size: 0.88rem; }
.grid.wide table { width: 100%; }
.grid th, .grid td { text-align: left; vertical-align: top; border: 0; padding: 6px 10px;
  border-bottom: 1px solid rgba(128, 128, 128, 0.28); }
.grid th { vertical-align: bottom; border-bottom-width: 2px; font-weight: 600; font-size: 0.8rem; color: var(--soft); }
.grid th small { display: block; font-weight: 400; }
.grid td { font-variant-numeric: tabular-nums; }
.grid td.number { text-align: right; white-space: nowrap; }
.grid th.number { text-align: right; }
.grid td small { display: block; color: var(--soft); font-size: 0.78rem; line-height: 1.35; }
.grid td .name { font-weight: 600; }
.grid td.narrow { white-space: nowrap; width: 1%; }
.grid tr:hover td { background: rgba(128, 128, 128, 0.07); }
.matrix td.scenario { min-width: 14em; overflow-wrap: anywhere; }
.matrix td.value { min-width: 9em; color: var(--soft); }
.matrix td a { color: inherit; text-decoration: none; white-space: nowrap; }
.matrix td a:hover { text-decoration: underline; }
.matrix td .word.quiet { margin-left: 2px; }
.matrix td .word:not(.quiet) { display: block; width: fit-content; margin: 1px 0; }
bdi { overflow-wrap: anywhere; }
.together { white-space: nowrap; }
.word { font-size: 0.75rem; font-weight: 600; padding: 1px 7px; border-radius: 8px; white-space: nowrap; }
.word.quiet { padding: 0; font-weight: 400; color: var(--soft); }
.word.law { border: 1px solid #b5482a; font-weight: 400; }
.word.state { border: 1px solid rgba(128, 128, 128, 0.6); font-weight: 400; }
.said { margin: 0; line-height: 1.5; overflow-wrap: anywhere; }
.said .word.quiet { font-size: inherit; font-weight: 600; color: inherit; }
h1.page { font-size: 1.7rem; font-weight: 650; margin: 0; padding: 0; line-height: 1.3; }
h1.page small { display: block; font-size: 0.95rem; font-weight: 400; color: var(--soft); overflow-wrap: anywhere; }
h2.part { font-size: 1.1rem; font-weight: 650; margin: 0.4rem 0 0; padding: 0; }
p.soft { color: var(--soft); margin: 0; font-size: 0.92rem; overflow-wrap: anywhere; }
p.big { font-size: 1.3rem; font-weight: 650; line-height: 1.35; margin: 0; }
p.lead { font-size: 1.05rem; margin: 0; }
a.go { font-weight: 600; text-decoration: none; white-space: nowrap; }
a.go:hover { text-decoration: underline; }
a.go, a.commit { color: light-dark(#0a5ca8, #7ab8ef); }
.soft a, small a { text-decoration: underline; }
.pages code, [data-testid="stHtml"] code { color: light-dark(#116329, #7ee2a0); }
img.spark { display: block; max-width: none; }
.alarm { border-left: 4px solid #c62828; padding: 6px 12px; margin: 0; background: rgba(198, 40, 40, 0.08); }
[data-testid="stMultiSelect"] [data-tag] { background-color: #2f6f9f; color: #ffffff; }
[data-testid^="stBaseButton-primary"] p { color: light-dark(#ffffff, #10161c); }
nav.pages { display: none; }
[data-variant="segmented_control"]:not([aria-checked="true"]) {
  border-left-color: rgba(128, 128, 128, 0.5) !important; }
[data-variant="segmented_control"] + [data-variant="segmented_control"] { margin-left: -1px; }
@media (max-width: 767px) {
  .matrix td.scenario { min-width: 8em; }
  .matrix td.value { min-width: 6.5em; }
  nav.pages { display: flex; flex-wrap: wrap; gap: 0 6px; }
  nav.pages a { padding: 8px 6px; min-height: 24px; }
  nav.pages a[aria-current] { font-weight: 700; text-decoration: underline; color: inherit; }
  [data-testid="stExpandSidebarButton"] { display: none; }
  h1.page { font-size: 1.3rem; overflow-wrap: anywhere; }
  p.big { font-size: 1.1rem; }
  .grid.wide thead { display: none; }
  .grid.wide table, .grid.wide tbody, .grid.wide tr, .grid.wide td { display: block; width: 100%; }
  .grid.wide tr { border-bottom: 2px solid rgba(128, 128, 128, 0.45); padding: 6px 0; }
  .grid.wide td, .grid.wide td.number { border: 0; padding: 3px 0; text-align: left; white-space: normal;
    overflow-wrap: anywhere; position: relative; }
  .grid.wide td:empty { display: none; }
  .grid.wide td[data-head]:not([data-head=""]) { padding-left: 6.6em; min-height: 1.7em; }
  .grid.wide td[data-head]:not([data-head=""])::before { content: attr(data-head); position: absolute; left: 0;
    width: 6.8em; color: var(--soft); font-size: 0.78rem; }
  .grid.wide .word { white-space: normal; overflow-wrap: anywhere; }
}
</style>
"""

# --- text ---------------------------------------------------------------------------------------------------------


def one_line(value: object) -> str:
    """A value without lines and control characters, which a reader would not see."""
    return CONTROL.sub("\N{REPLACEMENT CHARACTER}", " ".join(str(value).split()))


def plain(value: object, most: int = 200) -> str:
    """For labels, which Streamlit reads as Markdown: nothing of a value is. What would become a link although it is
    escaped, an address or an e-mail, is broken by a joiner that nobody sees."""
    whole = ADDRESS.sub("\\g<0>\N{WORD JOINER}", DIRECTION.sub("", one_line(value))[:most])
    return "".join(f"\\{c}" if c in "\\`*_{}[]()<>#+-.!|~$:@&^=" else c for c in whole)


def option(value: object, most: int = 120) -> str:
    """For what a list offers, which Streamlit shows as it is."""
    return DIRECTION.sub("", one_line(value))[:most]


def text(value: object, *, most: int = LONGEST) -> str:
    """HTML of a value: escaped, set apart from the direction of what is around it, cut where it is very long."""
    whole = one_line(value)
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
    heads_of = [f"{kind} data-head='{escape(name, quote=True)}'" for name, kind in zip(names, kinds)]
    body = "".join(f"<tr>{''.join(f'<td{of}>{cell}</td>' for cell, of in zip(row, heads_of))}</tr>" for row in rows)
    st.html(
        f"<div class='grid{' wide' if wide else ''}' {region(testid)}><table><thead><tr>{top}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>"
    )


def region(testid: str) -> str:
    """Attributes of what scrolls in its own box, which the keyboard has to be able to do too."""
    return f"data-testid='{testid}' tabindex='0' role='region' aria-label='{testid}'"


def navigation(pages: Mapping[str, str], current: str) -> None:
    """Links to all pages, title -> path, where the screen is too narrow for Streamlit's own row of them."""
    here = {current: " aria-current='page'"}
    links = "".join(
        f"<a class='go' href='{path or './'}' target='_self'{here.get(title, '')}>{title}</a>"
        for title, path in pages.items()
    )
    st.html(f"<nav class='pages' aria-label='Pages'>{links}</nav>")


def go(target: str, label: str) -> str:
    """HTML of a link within the dashboard."""
    return f"<a class='go' href='{escape(target, quote=True)}' target='_self'>{text(label)}</a>"


def commit_html(info: RunInfo) -> str:
    """A commit: its first digits as a link to the remote repository where that is on the web, the first line of its
    message, its author and date, as far as these are known."""
    if not info.commit:
        return ""
    shown = together(info.commit[:SHORT])
    address = commit_address(info)
    if address:
        shown = f"<a class='commit' href='{escape(address, quote=True)}' target='_blank' rel='noopener'>{shown}</a>"
    first_line = info.message.split("\n", 1)[0]
    title = (
        f" <q title='{escape(info.message[:2000], quote=True)}'>{text(first_line, most=100)}</q>" if first_line else ""
    )
    day = f"{info.authored:%-d %b %Y}" if info.authored else ""
    by = ", ".join(filter(None, (text(info.author, most=60) if info.author else "", day)))
    return f"{shown}{title}{f', {by}' if by else ''}"


def link_html(address: str) -> str:
    """An address on the web as a link to it, anything else as text."""
    if not re.fullmatch(r"https?://[!-~]+", address) or not urlsplit(address).hostname:
        return text(address)
    shown = text(address, most=60)
    return f"<a class='commit' href='{escape(address, quote=True)}' target='_blank' rel='noopener'>{shown}</a>"


def commit_address(info: RunInfo) -> str:
    """On the web; "" where the remote is on no web server, or what stands there is no commit."""
    known = urlsplit(info.remote)
    if known.scheme not in ("http", "https") or not known.hostname or not re.fullmatch("[0-9a-f]{7,64}", info.commit):
        return ""
    path = "commits" if known.hostname == "bitbucket.org" else "-/commit" if "gitlab" in known.hostname else "commit"
    return f"{info.remote.rstrip('/')}/{path}/{info.commit}"


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
    return tag_html(state_name(state), meaning)


def tag_html(word: str, meaning: str = "") -> str:
    """A word in a frame."""
    return f"<span class='word state' title='{escape(meaning, quote=True)}'>{text(word)}</span>"


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
    values: Sequence[float],
    band: tuple[float, float] | None = None,
    *,
    name: str = "value",
    unit: str = "",
    width: int = 130,
    height: int = 30,
) -> str:
    """HTML of a short history, the latest value as a dot; `band` is what the accepted value allows. Read aloud it is
    the metric's name, its first and last value and the trend."""
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
    alternative = escape(describe_series(name, [value for _, value in finite], unit), quote=True)
    # As an image: Streamlit lets no SVG through in HTML.
    svg = f"<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}'>{shapes}</svg>"
    source = f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"
    return f"<img class='spark' width='{width}' height='{height}' alt='{alternative}' src='{source}'>"


def legible(chart: Any) -> Any:
    """With words of 4.5:1 also on a light page, where Streamlit's grey has 3.7:1."""
    scheme = getattr(st.context.theme, "type", None)
    if scheme not in ("light", "dark"):
        return chart
    colour, strong = ("#565a66", "#31333f") if scheme == "light" else ("#b0b4bf", "#fafafa")
    axis = chart.configure_axis(labelColor=colour, titleColor=colour).configure_legend(labelColor=colour)
    return axis.configure_title(color=strong)


def describe_series(name: str, values: Sequence[float], unit: str) -> str:
    """penetration mean over 12 runs: 0.3 mm first, 1.2 mm last, higher"""
    first, last = values[0], values[-1]
    old, new = contrast(first, last, unit)
    way = "unchanged" if first == last else "higher" if last > first else "lower"
    return f"{name} over {counted(len(values), 'run')}: {old} first, {new} last, {way}"

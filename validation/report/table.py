"""Tables for a terminal: scenarios by engines, one case in full, verdicts, finds. They read as well without colours."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from shutil import get_terminal_size

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from validation.case import Case, CaseResult
from validation.report.quantity import quantity
from validation.simulation import BROKEN
from validation.store.records import StoredFind, StoredResult, case_key
from validation.verdict import MEANING, Verdict, Word, summary

PIPED_WIDTH = 100
WIDEST = 200
MARKS: dict[Word, str] = {
    "regressed": "✗",
    "defect": "!",
    "broken": "✗",
    "missing": "?",
    "different": "~",
    "improved": "+",
}
STYLES: dict[Word, str] = {
    "broken": "bold red",
    "defect": "bold red",
    "regressed": "bold red",
    "missing": "yellow",
    "different": "magenta",
    "improved": "green",
}
SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
LISTED: tuple[Word, ...] = ("broken", "defect", "regressed", "missing", "different", "improved")
"""Verdicts that are told one by one; the others are counted."""


def render_table(
    results: Sequence[CaseResult | StoredResult], verdicts: Iterable[Verdict] = (), *, width: int | None = None
) -> str:
    """Scenarios down, engines across; in a cell the scenario's headline metric, or what became of the case.

    Reasons stand below as footnotes; a mark beside a figure is the verdict's.
    """
    found = [StoredResult.of(result) for result in results]
    words = {verdict.case_key: verdict for verdict in verdicts}
    profiles = {result.case.identity.profile for result in found}
    columns = {column_of(result.case, profiles): result.case for result in reversed(found)}
    columns = {name: columns[name] for name in reversed(columns)}
    rows: dict[str, dict[str, StoredResult]] = {}
    for result in found:
        rows.setdefault(result.case.label, {})[column_of(result.case, profiles)] = result
    notes: dict[str, int] = {}
    table = _table()
    table.add_column("scenario", ratio=1, min_width=16)
    for name, case in columns.items():
        table.add_column(Text(f"{name}\n{case.engine_version}", overflow="fold"), no_wrap=False, min_width=8)
    table.add_column("figure", style="dim", ratio=1, min_width=11)
    for label, row in rows.items():
        headline = next((result.headline for result in row.values() if result.headline), "")
        cells = [_cell(row.get(name), words, notes) for name in columns]
        # With spaces the label breaks between its parameters, and not inside one.
        table.add_row(label.replace(":", " ", 1).replace(",", " "), *cells, headline.replace("_", " "))
    steps = sorted({result.case.identity.dt for result in found})
    about = f"profile {', '.join(sorted(profiles))}; time step {', '.join(_step(dt) for dt in steps)}"
    used = dict.fromkeys(word for word in MEANING if any(v.word == word for v in words.values()) and word in MARKS)
    legend = "   ".join(f"{MARKS[word]} {word}" for word in used)
    lines = [Text(f"{_superscript(number)} {note}", style="dim") for note, number in notes.items()]
    return _text(table, *lines, Text(about, style="dim"), *([Text(legend, style="dim")] if legend else []), width=width)


def column_of(case: Case, profiles: set[str]) -> str:
    """The engine as typed, with its profile where the run has several, and the name that it was given."""
    profile = f"@{case.identity.profile}" if len(profiles) > 1 else ""
    alias = f" ({case.identity.alias})" if case.identity.alias else ""
    return f"{case.engine_label}{profile}{alias}"


def _cell(result: StoredResult | None, verdicts: dict[str, Verdict], notes: dict[str, int]) -> Text:
    if result is None:
        return Text("")
    verdict = verdicts.get(case_key(result.case))
    word = verdict.word if verdict else None
    if result.outcome != "completed":
        text = result.outcome.replace("_", " ")
        style = "dim" if result.outcome == "declined" else "bold red"
    else:
        figure = next((m for m in result.measurements if m.metric == result.headline), None)
        # Two digits: the table is for the size of things; `show` has more.
        text = quantity(figure.value, figure.unit, digits=2) if figure else ("not measured" if result.reason else "-")
        style = ""
    if result.reason:
        note = f"{result.case.engine_label}: {one_line(result.reason)}"
        text += f" {_superscript(notes.setdefault(note, len(notes) + 1))}"
    if word in MARKS and not (word == "broken" and verdict and not verdict.worse):
        text, style = f"{text} {MARKS[word]}", STYLES[word]
    return Text(text, style=style)


def render_verdicts(pairs: Sequence[tuple[CaseResult | StoredResult, Verdict]], *, width: int | None = None) -> str:
    """The sentence that counts them, then each that is worth a line, the gravest first."""
    verdicts = [verdict for _, verdict in pairs]
    lines = []
    for word in LISTED:
        for verdict in verdicts:
            if verdict.word == word:
                what = f"{verdict.case.label} × {verdict.case.engine_label}"
                if len({v.case.identity.profile for v in verdicts}) > 1:
                    what += f"@{verdict.case.identity.profile}"
                line = Text(f"{word:<10}", style=STYLES[word])
                line.append(f"{what}: {one_line(verdict.reason)}", style="default")
                lines.append(line)
    return _text(*lines, Text(f"Upright: {summary(verdicts)}", style="bold"), width=width)


def render_case(results: Sequence[CaseResult | StoredResult], *, width: int | None = None) -> str:
    """Every metric of one scenario, engine by engine, and what became of those that did not complete."""
    found = [StoredResult.of(result) for result in results]
    profiles = {result.case.identity.profile for result in found}
    metrics = list(dict.fromkeys(m.metric for result in found for m in result.measurements))
    table = _table()
    table.add_column("metric", no_wrap=True)
    for result in found:
        table.add_column(Text(f"{column_of(result.case, profiles)}\n{result.case.engine_version}", overflow="fold"))
    for metric in metrics:
        cells = []
        for result in found:
            measured = next((m for m in result.measurements if m.metric == metric), None)
            cells.append("" if measured is None else quantity(measured.value, measured.unit))
        table.add_row(Text(metric, style="bold" if metric in {r.headline for r in found} else ""), *cells)
    table.add_row("outcome", *[_outcome(result) for result in found])
    notes = [
        Text(f"{column_of(result.case, profiles)}: {one_line(result.reason)}", style="dim")
        for result in found
        if result.reason
    ]
    return _text(Text(found[0].case.label, style="bold") if found else Text("nothing"), table, *notes, width=width)


def _outcome(result: StoredResult) -> Text:
    return Text(result.outcome.replace("_", " "), style="bold red" if result.outcome in BROKEN else "")


def render_finds(finds: Sequence[StoredFind], *, width: int | None = None) -> str:
    table = _table()
    for name in ("find", "engine", "law", "bodies", "seed"):
        table.add_column(name)
    table.add_column("what", ratio=1)
    for find in finds:
        engine = Text(f"{find.engine}@{find.profile}\n{find.engine_version}", overflow="fold")
        bodies = str(len(find.scene.bodies))
        message = f"{one_line(find.message)} (dt {_step(find.dt)})"
        table.add_row(str(find.number), engine, find.oracle, bodies, str(find.seed), Text(message))
    return _text(table, Text("Again: upright finds NUMBER --replay", style="dim"), width=width)


def _step(dt: float) -> str:
    rate = round(1.0 / dt) if dt else 0
    return f"1/{rate} s" if rate and abs(1.0 / rate - dt) <= 1e-12 * dt else f"{dt:g} s"


def one_line(text: str) -> str:
    """Engines' own words may hold anything, also what moves a terminal's cursor."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in " ".join(text.split()))


def _superscript(number: int) -> str:
    return str(number).translate(SUPERSCRIPTS)


def _table() -> Table:
    return Table(box=None, padding=(0, 2, 0, 0), header_style="bold", pad_edge=False)


def _text(*parts: RenderableType, width: int | None) -> str:
    """With colours as escapes; who prints it to a pipe strips them (`click.echo` does)."""
    if width is None:
        width = min(get_terminal_size().columns, WIDEST) if sys.stdout.isatty() else PIPED_WIDTH
    console = Console(
        width=width,
        force_terminal=True,
        color_system="standard",
        no_color="NO_COLOR" in os.environ,
        highlight=False,
        emoji=False,
        markup=False,
        legacy_windows=False,
    )
    with console.capture() as capture:
        for part in parts:
            console.print(part)
    return "\n".join(line.rstrip() for line in capture.get().splitlines())

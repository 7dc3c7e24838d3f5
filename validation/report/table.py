"""Tables for a terminal: scenarios by engines, one case in full, verdicts, finds. They read as well without colours."""

import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from shutil import get_terminal_size
from typing import NamedTuple

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from validation.judging.verdict import FLOOR, MEANING, Verdict, Word, worst_first
from validation.records.case import Result
from validation.records.measurement import Measurement
from validation.records.names import engine_name, metric_name
from validation.records.quantities import quantity, time_step
from validation.records.text import one_line
from validation.report.sentences import reason_of, summary
from validation.review.groups import NOTABLE

PIPED_WIDTH = 100
WIDEST = 200
GUTTER = "  "
NARROWEST = 9  # of a column: reference; an engine's name alone is not broken either
NARROWEST_WITH_SETTINGS = 12  # iterations=2
LABEL_WIDTH = 24  # columns at the left that engines leave free
DECLINED = "\N{EN DASH}"
MARKS: dict[Word, str] = {
    "not compared": "?",
    "regressed": "✗",
    "mixed": "±",
    "defect": "!",
    "broken": "✗",
    "missing": "?",
    "different": "~",
    "improved": "+",
}
STYLES: dict[Word, str] = {
    "not compared": "bold yellow",
    "broken": "bold red",
    "defect": "bold red",
    "regressed": "bold red",
    "mixed": "bold red",
    "missing": "yellow",
    "different": "magenta",
    "improved": "green",
}
WAIVED, STANDING = "yellow", "yellow"  # styles
LIMIT = "\N{REFERENCE MARK}"  # beside a number of what is wrong as before
SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def render_table(results: Sequence[Result], verdicts: Iterable[Verdict] = (), *, width: int | None = None) -> str:
    """Scenarios down, by family; engines across; in a cell the headline metric, or what became of the case.

    The metric stands beside the family's name, and again where it changes. Reasons stand below as footnotes; a mark
    beside a figure is the verdict's. Labels are never broken: one too long for its column has a line of its own, and
    engines too many for the width go on in a second table below.
    """
    words = {verdict.case_key: verdict for verdict in verdicts}
    profiles = {result.case.identity.profile for result in results}
    notes: dict[str, int] = {}
    rows: dict[str, dict[str, Text]] = {}
    versions: dict[str, str] = {}
    beside: dict[str, list[float]] = {result.case.label: [] for result in results}
    for result in results:
        beside[result.case.label] += [m.value for m in result.measurements if m.metric == result.headline]
    for result in results:
        engine = engine_name(result.case, profile=len(profiles) > 1)
        row = result.case.label
        rows.setdefault(row, {})[engine] = _cell(result, words, notes, beside[row])
        versions[engine] = result.case.engine_version  # of several runs the last one's
    columns = [
        Column(name, _heading(name, version, wide), wide)
        for name, version in versions.items()
        for least in [NARROWEST_WITH_SETTINGS if ":" in name else NARROWEST]
        for wide in [max(least, len(name.split(":")[0]), *(row[name].cell_len for row in rows.values() if name in row))]
    ]
    width = width or _width()
    labels = _labels(results)
    lines = _grid(labels, rows, columns, width)
    steps = sorted({result.case.identity.dt for result in results})
    about = f"profile {', '.join(sorted(profiles))}; time step {', '.join(time_step(dt) for dt in steps)}"
    described = [*(f"{_superscript(number)} {note}" for note, number in notes.items()), about]
    legend = [f"{DECLINED} declined"] if any(result.outcome == "declined" for result in results) else []
    used = {verdict.word for verdict in words.values()}
    legend += [f"{MARKS[word]} {word}" for word in MEANING if word in used and word in MARKS]
    legend += [f"{LIMIT} wrong, as before"] if any(verdict.stands_wrong for verdict in words.values()) else []
    described += ["   ".join(legend)] if legend else []
    return text_of(*lines, *(Text(line, style="dim") for line in described), width=width)


class Column(NamedTuple):
    name: str
    heading: list[str]
    width: int


Cells = Mapping[str, Mapping[str, Text]]
"""Row -> column -> what stands there."""


def _grid(labels: Sequence[tuple[Text, str]], rows: Cells, columns: Sequence[Column], width: int) -> list[Text]:
    """Each label with the row whose cells stand beside it, "" for none; columns too many for the width go on below."""
    return [line for block in _blocks(columns, width) for line in _block(labels, rows, block, width)]


def _block(labels: Sequence[tuple[Text, str]], rows: Cells, columns: Sequence[Column], width: int) -> list[Text]:
    """Headings, and under them a line for each label, two where it is too long to stand beside its cells."""
    free = width - sum(len(GUTTER) + column.width for column in columns)
    margin = max((label.cell_len for label, _ in labels if label.cell_len <= free), default=0)
    lines = []
    for level in range(max((len(column.heading) for column in columns), default=0)):
        heading = [column.heading[level] if level < len(column.heading) else "" for column in columns]
        lines.append(_line(Text(), margin, columns, [Text(piece, style="bold") for piece in heading]))
    for label, row in labels:
        cells = [rows[row].get(column.name, Text()) for column in columns] if row else []
        if cells and label.cell_len > margin:
            lines.append(label)
            label = Text()
        lines.append(_line(label, margin, columns, cells))
    return lines


def _labels(found: Sequence[Result]) -> list[tuple[Text, str]]:
    """The lines of the table: what stands at their left, and the scenario whose cells follow; "" for a heading.

    The family's name opens the line of its default parameters if that comes first, and a heading otherwise.
    """
    lines: list[tuple[Text, str]] = []
    families: dict[str, dict[str, str]] = {}  # name -> label -> what its headline is called
    for result in found:
        family = families.setdefault(result.case.identity.scenario, {})
        called = metric_name(result.headline, result.case)
        family[result.case.label] = family.get(result.case.label) or called
    for name, rows in families.items():
        shown = None
        for label, metric in rows.items():
            parameters = one_line(label.removeprefix(name).lstrip(":").replace(",", " "))
            if shown is None:
                heading = Text.assemble((one_line(name), "bold"), (f"  {metric}", "dim"))
                lines.append((heading, "" if parameters else label))
            elif metric != shown:
                lines.append((Text(f"  {metric}", style="dim"), ""))
            if shown is not None or parameters:
                lines.append((Text(f"  {parameters or 'default'}", style="" if parameters else "dim"), label))
            shown = metric
    return lines


def _blocks(columns: Sequence[Column], width: int) -> list[list[Column]]:
    """Columns that fit side by side beside labels of LABEL_WIDTH; one at least."""
    blocks: list[list[Column]] = [[]]
    left = width - LABEL_WIDTH
    for column in columns:
        if blocks[-1] and left < len(GUTTER) + column.width:
            blocks.append([])
            left = width - LABEL_WIDTH
        blocks[-1].append(column)
        left -= len(GUTTER) + column.width
    return blocks


def _heading(name: str, version: str, width: int) -> list[str]:
    """The engine as typed in lines of `width`, broken after a colon or comma, or where it is too long; its version."""
    lines: list[str] = []
    for piece in [*re.split(r"(?<=[:,])|(?=[@(])", one_line(name)), one_line(version)]:
        lines.append("")
        for part in re.split(r"(?<=[=_.-])", piece.strip()):
            if lines[-1] and len(lines[-1]) + len(part) > width:
                lines.append("")
            lines[-1] += part[:width]
            lines += [part[i : i + width] for i in range(width, len(part), width)]
    return lines


def _line(label: Text, margin: int, columns: Sequence[Column], cells: Sequence[Text]) -> Text:
    line = Text().append_text(label)  # whose style is not the cells'
    at = margin
    for column, cell in zip(columns, cells):
        line.append(" " * (at - line.cell_len) + GUTTER)
        line.append_text(cell)
        at += len(GUTTER) + column.width
    return line


def _cell(result: Result, verdicts: Mapping[str, Verdict], notes: dict[str, int], beside: Sequence[float]) -> Text:
    """`beside` has the headlines of the row, this one too."""
    verdict = verdicts.get(result.case.key)
    word = verdict.word if verdict else None
    if result.outcome == "declined":
        text, style = DECLINED, "dim"
    elif result.outcome != "completed":
        text, style = result.outcome.replace("_", " "), "bold red"
    else:
        number = next((m for m in result.measurements if m.metric == result.headline), None)
        text, style = _number(number, beside) if number else ("not measured" if result.reason else "-"), ""
    if result.reason:
        text += _superscript(notes.setdefault(_note(result), len(notes) + 1))
    if word in MARKS and not (word == "broken" and verdict and not verdict.worse):
        text, style = f"{text} {MARKS[word]}", WAIVED if verdict and verdict.waiver else STYLES[word]
    if verdict and verdict.stands_wrong:
        text, style = f"{text} {LIMIT}", style or STANDING
    return Text(text, style=style)


def _number(number: Measurement, beside: Sequence[float]) -> str:
    """Two digits: the table is for the size of things; `show` has more. One of what is round-off."""
    return quantity(number.value, number.unit, digits=1 if abs(number.value) < FLOOR else 2, beside=beside)


def _note(result: Result) -> str:
    """The reason; with the engine, where it does not name it itself."""
    reason, engine = one_line(result.reason), result.case.identity.engine
    if result.outcome != "declined":
        return f"{result.case.engine_label}: {reason}"
    return reason if engine.casefold() in reason.casefold() else f"{engine}: {reason}"


def render_verdicts(pairs: Sequence[tuple[Result, Verdict]], *, width: int | None = None) -> str:
    """Each verdict that is worth a line, the worst first, and the sentence that counts them."""
    profiles = {verdict.case.identity.profile for _, verdict in pairs}
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column()  # goes on under itself
    listed = [verdict for _, verdict in worst_first(pairs) if verdict.word in NOTABLE]
    for verdict in listed:
        what = f"{verdict.case.label} × {engine_name(verdict.case, profile=len(profiles) > 1)}"
        word = Text(verdict.waiver, style=WAIVED) if verdict.waiver else Text(verdict.word, STYLES[verdict.word])
        table.add_row(word, Text(one_line(f"{what}: {reason_of(verdict)}")))
    lines: list[RenderableType] = [Text(f"Upright: {summary(verdict for _, verdict in pairs)}", style="bold")]
    return text_of(*([table] if listed else []), *lines, width=width)


def render_case(results: Sequence[Result], verdicts: Iterable[Verdict] = (), *, width: int | None = None) -> str:
    """Every metric of one scenario, engine by engine, what became of those that did not complete, and what was judged
    against a baseline."""
    several = len({result.case.identity.profile for result in results}) > 1
    metrics = dict.fromkeys(m.metric for result in results for m in result.measurements)
    beside = {
        name: [m.value for result in results for m in result.measurements if m.metric == name] for name in metrics
    }
    rows: dict[str, dict[str, Text]] = {name: {} for name in (*metrics, "outcome")}
    columns = []
    for i, result in enumerate(results):
        column = str(i)  # of the same engine there may be two
        for m in result.measurements:
            rows[m.metric][column] = Text(quantity(m.value, m.unit, resolution=m.resolution, beside=beside[m.metric]))
        outcome = result.outcome.replace("_", " ")
        rows["outcome"][column] = Text(outcome, style="" if result.outcome in ("completed", "declined") else "bold red")
        wide = max(NARROWEST, *(row[column].cell_len for row in rows.values() if column in row))
        name = engine_name(result.case, profile=several)
        columns.append(Column(column, _heading(name, result.case.engine_version, wide), wide))
    headlines = {result.headline for result in results}
    case = results[0].case
    labels = [(Text(metric_name(row, case), style="bold" if row in headlines else ""), row) for row in rows]
    width = width or _width()
    notes = [
        Text(f"{engine_name(result.case, profile=several)}: {one_line(result.reason)}", style="dim")
        for result in results
        if result.reason
    ]
    table = text_of(Text(one_line(case.label), style="bold"), *_grid(labels, rows, columns, width), *notes, width=width)
    shown = {result.key: result.case for result in results}
    judged = [
        f"{engine_name(shown[verdict.case_key])}: {verdict.word}: {one_line(reason_of(verdict))}"
        for verdict in verdicts
        if verdict.case_key in shown and verdict.baseline is not None
    ]
    return "\n".join([table, *judged])


def _superscript(number: int) -> str:
    return str(number).translate(SUPERSCRIPTS)


def _width() -> int:
    return min(get_terminal_size().columns, WIDEST) if sys.stdout.isatty() else PIPED_WIDTH


def text_of(*parts: RenderableType, width: int | None = None) -> str:
    """With colours as escapes; who prints it to a pipe strips them (`click.echo` does)."""
    console = Console(
        width=width or _width(),
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

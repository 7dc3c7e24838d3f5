"""Probes of a model on two versions of an engine: a line for each, what changed and between what shapes."""

from collections import Counter
from collections.abc import Sequence

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from validation.judging.causes import Finding, causes_of, findings_of
from validation.judging.comparison import Comparison
from validation.records.quantities import counted
from validation.records.text import one_line
from validation.report.answer import describe_finding, show_command
from validation.report.comparison import ARROW, ORDER, SIGN, STYLES, counts, has_motions
from validation.report.models import unmeasured_of
from validation.report.sentences import describe_comparison, describe_divergence
from validation.report.table import text_of
from validation.running.comparing import Compared


def probe_title(name: str) -> str:
    """grip settle, of cell.xml+grip+settle"""
    return name.partition("+")[2].replace("+", " ") or name


def render_probes(done: Compared, *, number: int = 0, database: str = "") -> str:
    """The gravest first; below what changed, where the motions first part, and the command that shows both."""
    comparisons = sorted(done.comparisons, key=lambda one: ORDER.index(one.sign))
    old, new = (one_line(name) for name in done.names)
    models = {one.scenario.name.partition("+")[0]: None for one in comparisons}
    total = counted(len(comparisons), "probe")
    heading = f"{', '.join(models)}, {old} {ARROW} {new}: {total}, {counts(comparisons)}"
    shown = {id(cause.worst.comparison): cause.worst for cause in causes_of(comparisons)}
    width = max((len(probe_title(one.scenario.name)) for one in comparisons), default=0)
    parts: list[RenderableType] = [Text(one_line(heading)), Text()]
    for one in comparisons:
        parts += _row(one, width, shown.get(id(one)), number, database)
    beside = {thing: None for things in unmeasured_of(c.scenario for c in comparisons).values() for thing in things}
    notes = ["not measured:", *(f"  {thing}" for thing in beside)] if beside else []
    return text_of(
        *parts, Text(), Text(one_line(_advice(comparisons))), *(Text(one_line(n), style="dim") for n in notes)
    )


def _row(one: Comparison, width: int, finding: Finding | None, number: int, database: str) -> list[RenderableType]:
    found = findings_of(one)
    words = [_described(each) for each in found[:2]] or ([describe_comparison(one)] if one.sign == "declined" else [])
    if not words:
        words = ["to the last bit"] if one.identical else [""]
    title = one_line(probe_title(one.scenario.name))
    head = Text.assemble(
        f"{title:{width}}  ", (f"{one.sign:{SIGN}}", STYLES.get(one.sign, "")), f" {one_line(words[0])}"
    )
    below = words[1:]
    if one.sign != "same" and one.divergence:
        below.append(describe_divergence(one.divergence))
    if finding is not None and number and has_motions(one):
        below.append(show_command(finding, number, database))
    return [head, *(Padding(Text(one_line(line), style="dim"), (0, 0, 0, width + 2)) for line in below)]


def _described(finding: Finding) -> str:
    """With the shapes in contact where the motions part."""
    among = "" if finding.among in ("", finding.comparison.scenario.name) else f" ({finding.among})"
    return f"{describe_finding(finding)}{among}"


def _advice(comparisons: Sequence[Comparison]) -> str:
    signs = Counter(one.sign for one in comparisons)
    among = Counter(f.among for one in comparisons for f in findings_of(one) if f.among not in ("", one.scenario.name))
    by = f" All of it comes with contact of {next(iter(among))}." if len(among) == 1 else ""
    if signs["worse"] or signs["mixed"]:
        return f"Do not upgrade before you have seen what is worse.{by}"
    if signs["better"] or signs["different"]:
        return f"Nothing is worse. See whether the changes matter to you.{by}"
    if signs["not compared"] or signs["declined"] == len(comparisons):
        return "Not all probes could be compared."
    return "The model answers every probe as before: you can upgrade."

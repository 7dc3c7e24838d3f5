"""Probes of a model on two versions of an engine: a line for each, what changed and between what shapes."""

from collections import Counter
from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from validation.judging.causes import Finding, causes_of, findings_of
from validation.judging.comparison import Comparison
from validation.records.quantities import counted
from validation.records.text import one_line
from validation.report.answer import describe_finding, show_command
from validation.report.comparison import ARROW, ORDER, STYLES, counts, has_motions
from validation.report.models import unmeasured_of
from validation.report.sentences import describe_comparison, describe_divergence
from validation.report.table import text_of
from validation.running.comparing import Compared


def probe_title(name: str) -> str:
    """grip settle, of cell.xml+grip+settle"""
    return name.partition("+")[2].replace("+", " ") or name


def render_probes(done: Compared, *, number: int = 0, database: str = "") -> str:
    """The gravest first; below what changed, where the motions first part. At the end the commands that show both."""
    comparisons = sorted(done.comparisons, key=lambda one: ORDER.index(one.sign))
    old, new = (one_line(name) for name in done.names)
    models = {one.scenario.name.partition("+")[0]: None for one in comparisons}
    total = counted(len(comparisons), "probe")
    heading = f"{', '.join(models)}, {old} {ARROW} {new}: {total}, {counts(comparisons)}"
    worst = [cause.worst for cause in causes_of(comparisons) if number and has_motions(cause.worst.comparison)]
    shown = {id(finding.comparison): show_command(finding, number, database) for finding in reversed(worst)}
    rows = Table.grid(padding=(0, 2))
    for one in comparisons:
        title, style = one_line(probe_title(one.scenario.name)), STYLES.get(one.sign, "")
        rows.add_row(Text(title), Text(one.sign, style), _sentences(one))
    beside = {thing: None for things in unmeasured_of(c.scenario for c in comparisons).values() for thing in things}
    notes = ["not measured:", *(f"  {thing}" for thing in beside)] if beside else []
    return text_of(
        *(Text(one_line(heading)), Text(), rows, Text(), Text(one_line(_advice(comparisons)))),
        *(Text(one_line(command), style="dim") for command in reversed(shown.values())),
        *(Text(one_line(note), style="dim") for note in notes),
    )


def _sentences(one: Comparison) -> RenderableType:
    """What changed, and below it where the motions part."""
    found = [_described(each) for each in findings_of(one)[:2]]
    if not found:
        found = [describe_comparison(one) if one.sign == "declined" else "to the last bit" if one.identical else ""]
    below = [describe_divergence(one.divergence)] if one.sign != "same" and one.divergence else []
    return Group(*(Text(one_line(line)) for line in found), *(Text(one_line(line), style="dim") for line in below))


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

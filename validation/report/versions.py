"""What changed from release to release of an engine: lines for people, a JSON object a release for programs.

    {"format": 1, "release", "before", "lacks", "cases": {"same": 30, ...}, "identical",
     "changed": [{"scenario", "parameters", "label", "profile", "sign", "told", "changes": [...]}]}

`before` is the release that it is compared with, "" for the first; `lacks` why it could not be installed or run;
`identical` how many of its cases move with the same bits. `changed` has what is not the same, each as in the JSON of
`upright compare`.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from rich.text import Text

from validation.judging.comparison import Comparison
from validation.records.quantities import counted
from validation.records.text import one_line
from validation.report.comparison import ORDER, STYLES, comparison_line, counts
from validation.report.jsonl import json_line
from validation.report.sentences import describe_change, describe_comparison
from validation.report.table import text_of
from validation.running.versions import Release

CHANGED = ORDER[: ORDER.index("same")]
SHOWN = 6  # scenarios of a release, unless all are asked for
WIDEST = 90  # characters of what changed


def render_release(release: Release, *, width: int, everything: bool = False) -> str:
    """The release and its counts in a line, then the scenarios that changed, the gravest first."""
    version = f"{release.version:{width}}  "
    if release.lacks:
        return text_of(Text.assemble((version, "dim"), (f"not run: {one_line(release.lacks)}", "dim")))
    if not release.before:
        return text_of(Text.assemble((version, "bold"), f"the first: {counted(len(release.results), 'case')}"))
    changed = changes_of(release)
    style = STYLES.get(changed[0].sign, "") if changed else "dim"
    lines = [Text.assemble((version, "bold"), (counts(release.comparisons), style))]
    indent = " " * (width + 2)
    shown = changed if everything else changed[:SHOWN]
    for one in shown:
        label = f"{one.scenario.label} @{one.new.case.identity.profile}"
        text = Text.assemble(indent, (f"{one.sign:13}", STYLES.get(one.sign, "")), one_line(label), ": ")
        lines.append(text.append(one_line(what_changed(one)), style="dim"))
    if len(changed) > len(shown):
        lines.append(Text(f"{indent}and {len(changed) - len(shown)} more (--all)", style="dim"))
    return text_of(*lines)


def changes_of(release: Release) -> list[Comparison]:
    return [one for sign in CHANGED for one in release.comparisons if one.sign == sign]


def what_changed(comparison: Comparison) -> str:
    """What happened, else the gravest metric; of both sides' ends where one has no motion."""
    described = describe_comparison(comparison)
    if described or not comparison.changes:
        return described
    change = comparison.changes[0].change
    more = f" and {len(comparison.changes) - 1} more" if len(comparison.changes) > 1 else ""
    return describe_change(change, comparison.new.case).partition(" (")[0] + more


def changes_summary(releases: Iterable[Release], *, of: str = "releases") -> str:
    """24 releases ran; something changed in 6.7.0, 7.0.0, 7.1.0; bits differ first in 6.3.0"""
    known = list(releases)
    ran = [release for release in known if not release.lacks]
    changed = [release.version for release in ran if changes_of(release)]
    bits = [r.version for r in ran if r.before and not all(c.identical or c.sign == "declined" for c in r.comparisons)]
    parts = [f"{len(ran)} {of} ran"]
    parts += [f"{len(known) - len(ran)} could not be run"] if len(known) > len(ran) else []
    parts += [f"something changed in {', '.join(changed)}" if changed else "nothing changed"]
    parts += [f"bits differ first in {', '.join(bits)}" if bits else "all with the same bits"]
    return "; ".join(parts)


def release_line(release: Release) -> str:
    """One line, without its end."""
    signs = [comparison.sign for comparison in release.comparisons]
    return json_line(
        release=release.version,
        before=release.before,
        lacks=release.lacks,
        cases={sign: signs.count(sign) for sign in ORDER if sign in signs},
        identical=sum(comparison.identical for comparison in release.comparisons),
        changed=[_changed(comparison) for comparison in changes_of(release)],
    )


def _changed(comparison: Comparison) -> dict[str, Any]:
    line: dict[str, Any] = json.loads(comparison_line(comparison))
    names: Sequence[str] = ("scenario", "parameters", "sign", "told", "changes")
    own = {"label": comparison.scenario.label, "profile": comparison.new.case.identity.profile}
    return own | {name: line[name] for name in names if name in line}

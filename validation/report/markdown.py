"""A summary for a pull request: the sentence first, three rows at most, the rest folded away, then what to do next."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence

from validation.case import CaseResult
from validation.report.quantity import contrast, quantity
from validation.store.records import Baseline, StoredResult
from validation.verdict import Change, Verdict, summary, times, worst_first

MOST_ROWS = 3
SPECIAL = re.compile(r"[&<>|`*_\[\]()@#\\~!$]")
"""What Markdown, HTML or a forge (mentions, issue numbers) would make something of."""

Pair = tuple[CaseResult | StoredResult, Verdict]


def markdown_summary(pairs: Sequence[Pair], baselines: Iterable[Baseline] = ()) -> str:
    """`baselines` are those that were compared with; the sentence says who accepted the latest, and when."""
    verdicts = [verdict for _, verdict in pairs]
    telling = [v for _, v in worst_first(pairs) if v.worse or v.word in ("missing", "different", "improved", "broken")]
    worse = [verdict for verdict in telling if verdict.worse]
    lines = [f"**Upright: {summary(verdicts)}**{_against(baselines)}"]
    if worse:
        lines += ["", "| what | now | accepted | evidence |", "|---|---|---|---|", *map(_row, worse[:MOST_ROWS])]
    rest = [verdict for verdict in telling if verdict not in worse[:MOST_ROWS]]
    if rest:
        lines += ["", f"<details><summary>{len(rest)} more</summary>", ""]
        lines += [f"- {verdict.word}: {_name(verdict)}: {escape(verdict.reason)}" for verdict in rest]
        lines += ["", "</details>"]
    if worse:
        case = worse[0].case
        label, engine = shlex.quote(case.label), shlex.quote(case.engine_label)
        again = f"upright run {label} --engine {engine} --profile {shlex.quote(case.identity.profile)}"
        accept = f'upright accept {label} --engine {engine} --reason "..."'
        lines += ["", f"Reproduce: {code(again)}", f"Next: mend it, or accept it with a reason: {code(accept)}"]
    return "\n".join(lines) + "\n"


def _against(baselines: Iterable[Baseline]) -> str:
    found = list(baselines)
    if not found:
        return ""
    latest = max(found, key=lambda baseline: baseline.when)
    return f" (against the baseline accepted by {escape(latest.who)} on {latest.when:%d %b %Y}, run {latest.run})"


def _row(verdict: Verdict) -> str:
    now: str = verdict.word
    accepted, evidence = "", escape(verdict.reason)
    what = _name(verdict)
    fresh = [defect for defect in verdict.defects if not defect.standing]
    if verdict.word == "defect" and fresh:
        now, limit = contrast(fresh[0].value, fresh[0].limit, fresh[0].unit)
        what += f": {escape(fresh[0].metric)}"
        accepted = f"kept the law: at most {limit}"
    elif verdict.changes:
        change = verdict.changes[0]
        what += f": {escape(change.metric)}"
        now, accepted = contrast(change.new, change.old, change.unit)
        evidence = f"{_ratio(change)}allowed {escape(change.allowed)}"
        others = [quantity_of(other) for other in verdict.changes[1:] if other.move == "regressed"]
        evidence += f"; also {', '.join(others[:2])}" if others else ""
    return f"| {what} | {now} | {accepted} | {evidence} |"


def quantity_of(change: Change) -> str:
    return escape(f"{change.metric} {quantity(change.new, change.unit)}")


def _ratio(change: Change) -> str:
    return "" if not change.ratio else f"{times(change.ratio)}, "


def _name(verdict: Verdict) -> str:
    return escape(f"{verdict.case.label} on {verdict.case.engine_label}")


def escape(text: str) -> str:
    """As it stands, whatever it holds, on one line."""
    return SPECIAL.sub(lambda found: f"&#{ord(found.group())};", " ".join(text.split()))


def code(text: str) -> str:
    """A code span, also of text with backticks."""
    text = " ".join(text.split())
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if longest else ""
    return f"{fence}{pad}{text}{pad}{fence}"

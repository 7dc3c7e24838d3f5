"""A summary for a pull request: the sentence first, three rows at most, the rest folded away, then what to do next."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from validation.case import Case, CaseResult
from validation.lineage import SHORT
from validation.report.hints import again_words, stored_words
from validation.report.names import metric_name
from validation.report.quantity import contrast, quantity
from validation.store.records import Baseline, StoredResult
from validation.verdict import Change, Verdict, summary, times, worst_first

MOST_ROWS = 3
SPECIAL = re.compile(r"[&<>|`*_\[\]()@#\\~!$]")
"""What Markdown, HTML or a forge (mentions, issue numbers) would make something of."""

Pair = tuple[CaseResult | StoredResult, Verdict]


def markdown_summary(
    pairs: Sequence[Pair],
    baselines: Iterable[Baseline] = (),
    *,
    run: int,
    typed: Mapping[str, str] | None = None,
    options: str = "",
    merge_base: str = "",
    advice: str = "",
    pictures: Mapping[str, str] | None = None,
) -> str:
    """`baselines` are those that were compared with; the sentence says who accepted the latest, and when.

    `run` is where the results are stored, `options` say in which database, `typed` are the words of the scenarios by
    label: the summary is read where the files are and the database may be not. `merge_base` is the commit that a pull
    request is compared with; `advice` is Markdown that stands below the sentence; `pictures` are addresses of moving
    pictures by case key.
    """
    accepted = {baseline.number: baseline for baseline in baselines}
    telling = [
        (StoredResult.of(result), verdict)
        for result, verdict in worst_first(pairs)
        if verdict.worse or verdict.word in ("missing", "different", "improved", "broken")
    ]
    worse = [pair for pair in telling if pair[1].worse]  # they come first
    lines = [f"**Upright: {summary(verdict for _, verdict in pairs)}**{_against(accepted.values(), merge_base)}"]
    lines += ["", advice] if advice else []
    rows = [_row(*pair, accepted.get(pair[1].baseline or 0)) for pair in worse[:MOST_ROWS]]
    if rows:
        lines += ["", "| what | now | accepted | evidence |", "|---|---|---|---|", *rows]
    rest = [verdict for _, verdict in telling[len(rows) :]]
    if rest:
        lines += ["", f"<details><summary>{len(rest)} more</summary>", ""]
        lines += [f"- {verdict.word}: {_name(verdict)}: {escape(verdict.reason)}" for verdict in rest]
        better = next((verdict for verdict in rest if verdict.word == "improved"), None)
        if better:
            keep = f'upright accept {stored_words(better.case, run)}{options} --reason "..."'
            lines += ["", f"Keep what is better, or its loss will not be told: {code(keep)}"]
        lines += ["", "</details>"]
    for _, verdict in worse[:MOST_ROWS]:
        if address := (pictures or {}).get(verdict.case_key):
            lines += ["", f"{_name(verdict)}, now and as accepted:", "", f"![{_name(verdict)}]({address})"]
    if worse:
        case = worse[0][1].case
        again = f"upright run {again_words([case], typed)}"
        accept = f'upright accept {stored_words(case, run)}{options} --reason "..."'
        lines += ["", f"Reproduce: {code(again)}", f"Next: mend it, or accept it with a reason: {code(accept)}"]
    return "\n".join(lines) + "\n"


def _against(baselines: Iterable[Baseline], merge_base: str) -> str:
    latest = max(baselines, key=lambda baseline: baseline.when, default=None)
    if latest is None:
        return ""
    at = f" at the merge base {escape(merge_base[:SHORT])}" if merge_base else ""
    return f" (against the baseline{at} accepted by {escape(latest.who)} on {latest.when:%d %b %Y}, run {latest.run})"


def _row(result: StoredResult, verdict: Verdict, baseline: Baseline | None) -> str:
    now: str = verdict.word
    accepted, evidence = "", escape(verdict.reason)
    what = _name(verdict)
    fresh = [defect for defect in verdict.defects if not defect.standing]
    if verdict.word == "defect" and fresh:
        defect = fresh[0]
        now, limit = contrast(defect.value, defect.limit, defect.unit, (_resolution(result, defect.metric), None))
        what += f": {escape(metric_name(defect.metric, verdict.case))}"
        accepted = f"kept the law: at most {limit}"
    elif verdict.changes:
        change = verdict.changes[0]
        before = baseline.result if baseline else None
        resolutions = _resolution(result, change.metric), _resolution(before, change.metric)
        now, accepted = contrast(change.new, change.old, change.unit, resolutions)
        what += f": {escape(metric_name(change.metric, verdict.case))}"
        evidence = f"{_ratio(change)}allowed {escape(change.allowed)}"
        others = [_short(other, verdict.case) for other in verdict.changes[1:] if other.move == "regressed"]
        evidence += f"; also {', '.join(others[:2])}" if others else ""
    return f"| {what} | {now} | {accepted} | {evidence} |"


def _resolution(result: StoredResult | None, metric: str) -> float | None:
    found = [m.resolution for m in result.measurements if m.metric == metric] if result else []
    return found[0] if found else None


def _short(change: Change, case: Case) -> str:
    return escape(f"{metric_name(change.metric, case)} {quantity(change.new, change.unit)}")


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

"""A summary for a pull request: the sentence first, three rows at most, the rest folded away, then what to do next."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

from validation.judging.verdict import Change, Verdict, standing, worst_first
from validation.records.case import Case, Result
from validation.records.names import metric_name
from validation.records.quantities import counted, quantity
from validation.records.stored import Baseline
from validation.records.text import one_line
from validation.report import sentences
from validation.report.effect import effect_of
from validation.report.finds import NO_FINDS, JobFinds, commands_of, news_lines
from validation.report.hints import rerun_arguments, stored_arguments
from validation.report.sentences import describe_defect, reason_of, summary
from validation.review.groups import NOTABLE, Group
from validation.review.lineage import SHORT

MOST_ROWS = 3
MOST_STANDING = 10
MOST_FINDS = 5
LONGEST = 600  # characters of a text from the database
LONGEST_FIND = 1200  # with the others of its cause
SPECIAL = re.compile(r"[&<>|`*_\[\]()\\~!$]|(?P<forge>[@#]|:(?=[\w+-]+:|//)|(?<=www)\.)", re.IGNORECASE)
"""What Markdown or HTML would make something of; and what a forge does, after that is read: mentions, issues, emoji,
addresses. An entity keeps the former from it, a space without width behind it the latter."""
ZERO_WIDTH = "&#8203;"

Pair = tuple[Result, Verdict]


def markdown_summary(
    pairs: Sequence[Pair],
    baselines: Iterable[Baseline] = (),
    *,
    run: int,
    typed: Mapping[str, str] | None = None,
    options: str = "",
    merge_base: str = "",
    advice: str = "",
    note: str = "",
    pictures: Mapping[str, str] | None = None,
    groups: Iterable[Group] = (),
    name: str = "",
    finds: JobFinds = NO_FINDS,
) -> str:
    """`baselines` are those that were compared with; the sentence names who accepted the latest, and when.

    `run` is where the results are stored, `options` say in which database, `typed` are the words of the scenarios by
    label: the summary is read where the files are and the database may be not. `merge_base` is the commit that a pull
    request is compared with; `advice` is Markdown that stands below the sentence, `note` at the end; `pictures` are
    addresses of moving pictures by case key. `groups` are those of the run: they know since which commit it is so.
    `name` is that of the job, where there are several; of its `finds` those that fail it or are fixed are shown.
    """
    accepted = {baseline.number: baseline for baseline in baselines}
    notable = [
        (result, verdict)
        for result, verdict in worst_first(pairs)
        if verdict.worse or verdict.waiver or verdict.word in NOTABLE
    ]
    worse = [pair for pair in notable if pair[1].worse]  # they come first
    since = {m.verdict.case_key: _since(group) for group in groups for m in group.members if m.seen}
    title = f"Upright ({escape(name)})" if name else "Upright"
    sentence = summary(verdict for _, verdict in pairs)
    if failing := finds.of("fails"):
        causes = len(finds.causes("fails"))
        of = f" of {counted(causes, 'cause')}" if causes < len(failing) else ""
        sentence += f"; {counted(len(failing), 'find')}{of} not known"
    lines = [f"**{title}: {sentence}**{_against(accepted.values(), merge_base)}"]
    lines += ["", advice] if advice else []
    rows = [_row(*pair, accepted.get(pair[1].baseline or 0), since) for pair in worse[:MOST_ROWS]]
    if rows:
        lines += ["", "| what | now | accepted | evidence | since |", "|---|---|---|---|---|", *rows]
    rest = [verdict for _, verdict in notable[len(rows) :]]
    if rest:
        lines += ["", f"<details><summary>{len(rest)} more</summary>", ""]
        lines += [
            f"- {verdict.waiver or verdict.word}: {_name(verdict)}: {escape(reason_of(verdict))}" for verdict in rest
        ]
        better = next((verdict for verdict in rest if verdict.word == "improved" and not verdict.waiver), None)
        if better:
            accept_better = f'upright accept {stored_arguments(better.case, run)}{options} --reason "..."'
            lines += ["", f"Accept what is better, or a later loss of it is not reported: {code(accept_better)}"]
        lines += ["", "</details>"]
    lines += _standing([verdict for _, verdict in pairs], accepted)
    for _, verdict in worse[:MOST_ROWS]:
        if address := (pictures or {}).get(verdict.case_key):
            lines += ["", f"{_name(verdict)}, now and as accepted:", "", f"![{_name(verdict)}]({address})"]
    if worse:
        case = worse[0][1].case
        again = f"upright run {rerun_arguments([case], typed)}"
        accept = f'upright accept {stored_arguments(case, run)}{options} --reason "..."'
        lines += ["", f"Reproduce: {code(again)}", f"Next: fix it, or accept it with a reason: {code(accept)}"]
    lines += _finds(finds, options)
    lines += ["", note] if note else []
    return "\n".join(lines) + "\n"


def _against(baselines: Iterable[Baseline], merge_base: str) -> str:
    latest = max(baselines, key=lambda baseline: baseline.when, default=None)
    if latest is None:
        return ""
    at = f" at the merge base {escape(merge_base[:SHORT])}" if merge_base else ""
    return f" (against the baseline{at} accepted by {escape(latest.who)} on {latest.when:%d %b %Y}, run {latest.run})"


def _row(result: Result, verdict: Verdict, baseline: Baseline | None, since: Mapping[str, str]) -> str:
    what, now, accepted = _name(verdict), str(verdict.word), ""
    evidence = [escape(reason_of(verdict))]
    effect = effect_of(verdict, result, baseline)
    if effect and (effect.name == "" or verdict.changes or verdict.word == "defect"):
        means = f"<br>**{escape(effect.means)}**" if effect.name else ""  # what happened says it
        what += f": {escape(effect.metric)}{means}"
        now, accepted = escape(effect.now), escape(effect.accepted)
        evidence = [escape(effect.ratio)] if effect.ratio else []
        if effect.name == "":
            pass  # it happened, and no number says more
        elif verdict.word == "defect":
            accepted = f"kept the law: {accepted}"
        else:
            change = verdict.changes[0]
            sure = f"; {sentences.describe_evidence(change)}" if change.evidence else ""
            evidence = [*evidence, escape(f"allowed {sentences.describe_allowed(change)}{sure}")]
        others = [
            _short(other, verdict.case) for other in verdict.changes[1:] if other.move == "regressed" and other.counts
        ]
        evidence += [f"also {', '.join(others[:2])}"] if others else []
        if verdict.divergence and verdict.divergence.first:
            evidence += [f"first differs at {escape(sentences.describe_difference(verdict.divergence.first))}"]
    return f"| {what} | {now} | {accepted} | {'; '.join(evidence)} | {since.get(verdict.case_key, '')} |"


def _since(group: Group) -> str:
    """The first commit that has it, and the last that has it not."""
    good = f", not in {escape(str(group.good))}" if group.good else ""
    return f"{escape(str(group.since))}{good}"


def _standing(verdicts: Sequence[Verdict], accepted: Mapping[int, Baseline]) -> list[str]:
    """Folded: what is wrong whatever the baseline, and who accepted it so."""
    found = standing(verdicts)
    if not found:
        return []
    count = "1 standing defect" if len(found) == 1 else f"{len(found)} standing defects"
    lines = [
        "",
        f"<details><summary>{count}: wrong by what happens or by a law, as before; fails nothing</summary>",
        "",
    ]
    for verdict in found[:MOST_STANDING]:
        baseline = accepted.get(verdict.baseline or 0)
        by = f"; accepted so by {baseline.who} on {baseline.when:%d %b %Y}" if baseline else "; nothing is accepted yet"
        happened = map(sentences.describe_happening, verdict.grounds.wrong)
        broken = "; ".join((*happened, *(describe_defect(defect, verdict.case) for defect in verdict.standing)))
        lines.append(f"- {_name(verdict)}: {escape(broken + by)}")
    lines += [f"- and {len(found) - MOST_STANDING} more"] if len(found) > MOST_STANDING else []
    return [*lines, "", "</details>"]


def _finds(finds: JobFinds, options: str) -> list[str]:
    """Those that fail the job, and what is fixed, a line for each cause; nothing where there is neither."""
    shown = news_lines(finds)
    if not shown:
        return []
    lines = ["", f"**Finds of fuzzing:** {finds.summary}", ""]
    lines += [
        f"- {'**fixed**: ' if one.state == 'fixed' else ''}{escape(line, most=LONGEST_FIND)}"
        for one, line in shown[:MOST_FINDS]
    ]
    lines += [f"- and {len(shown) - MOST_FINDS} more: {code(f'upright finds{options}')}"] if shown[MOST_FINDS:] else []
    if shown[0][0].state == "fails":
        again, mark = commands_of(shown[0][0].find, options)
        lines += ["", f"Reproduce: {code(again)}", f"Next: fix it, or mark it as known: {code(mark)}"]
    return lines


def _short(change: Change, case: Case) -> str:
    return escape(f"{metric_name(change.metric, case)} {quantity(change.new, change.unit)}")


def _name(verdict: Verdict) -> str:
    return escape(f"{verdict.case.label} on {verdict.case.engine_label}", most=120)


def escape(text: str, *, most: int = LONGEST) -> str:
    """As it stands, whatever it holds, on one line, and not into what is around it; cut where it is very long."""
    text = one_line(text)
    text = text if len(text) <= most else f"{text[: most - 1]}\N{HORIZONTAL ELLIPSIS}"
    isolated = any(unicodedata.bidirectional(character) in ("R", "AL") for character in text)
    text = SPECIAL.sub(lambda found: f"&#{ord(found.group())};{ZERO_WIDTH if found['forge'] else ''}", text)
    return f"&#8296;{text}&#8297;" if isolated else text


def code(text: str) -> str:
    """A code span, also of text with backticks."""
    text = one_line(text)
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if longest else ""
    return f"{fence}{pad}{text}{pad}{fence}"

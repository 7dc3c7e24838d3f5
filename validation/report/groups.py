"""Groups of verdicts as text, and one JSON object a group."""

from collections.abc import Sequence
from typing import Any

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from validation.records.names import engine_token
from validation.records.text import one_line
from validation.report.jsonl import json_line
from validation.report.sentences import describe_evidence, reason_of, worst_meaning
from validation.report.table import text_of
from validation.review.groups import STATES, Group, Member, RunRef
from validation.review.ledger import Entry

MOST_MEMBERS = 5  # of a group, shown as text
COLOUR = {"red": "bold red", "amber": "yellow", "green": "green"}


def render_groups(groups: Sequence[Group]) -> str:
    """Each with its commits and its state, what moved in its worst cases, what that means, and its mark."""
    parts: list[RenderableType] = []
    for group in groups:
        since = f"since {group.since}" + (f", not in {group.good}" if group.good else "")
        what = one_line(f"{group.key} {group.engine}, {since}: {group.state}")
        parts.append(Text.assemble((group.kind, COLOUR[group.light]), f"  {what}"))
        if group.entry:
            parts.append(_indented(2, describe_entry(group.entry), "dim"))
        for member in group.members[:MOST_MEMBERS]:
            parts.append(_indented(2, _describe_member(group, member)))
            means = worst_meaning(member.verdict)
            if means:
                parts.append(_indented(4, means, "italic"))
        if len(group.members) > MOST_MEMBERS:
            parts.append(_indented(2, f"and {len(group.members) - MOST_MEMBERS} more", "dim"))
    return text_of(*parts)


def _indented(by: int, text: str, style: str = "") -> Padding:
    return Padding(Text(one_line(text), style=style), (0, 0, 0, by))


def _describe_member(group: Group, member: Member) -> str:
    case = member.verdict.case
    state = f" [{member.state}]" if member.state != group.state else ""
    unseen = "" if member.seen else f" (not in this run; reported in {member.occurrence.reported_by})"
    return f"{case.label} × {engine_token(case)}{state}: {reason_of(member.verdict)}{unseen}"


def describe_entry(entry: Entry) -> str:
    """entry 4: known by R. on 3 Nov 2026 until 1 Dec 2026, #31: the solver's new cache"""
    until = f" until {entry.until:%-d %b %Y}" if entry.until else ""
    owner = f", owned by {entry.owner}" if entry.owner else ""
    link = f", {entry.link}" if entry.link else ""
    carried = f", carried over from {entry.carried_from} (entry {entry.refers_to})" if entry.carried_from else ""
    decisions = f"{entry.act} by {entry.who} on {entry.when:%-d %b %Y}{until}{owner}{link}{carried}"
    return f"entry {entry.number}: {decisions}: {entry.reason}"


def group_line(run: int, group: Group) -> str:
    """One line, without its end:

    {"format", "run", "group", "kind", "state", "light", "fails", "branch", "engine", "first_bad", "last_good", "entry",
     "cases": [{"case", "number", "scenario", "engine", "state", "seen", "metric", "old", "new", "ratio", "unit",
     "evidence", "meaning", "reason"}]}
    """
    return json_line(
        run=run,
        group=group.key,
        kind=group.kind,
        state=group.state,
        light=group.light,
        fails=group.fails,
        branch=group.branch,
        engine=group.engine,
        first_bad=_run_json(group.since),
        last_good=_run_json(group.good),
        entry=_entry(group.entry),
        cases=[_case(member) for member in group.members],
    )


def _run_json(ref: RunRef | None) -> dict[str, Any] | None:
    return {"run": ref.run, "commit": ref.commit, "dirty": ref.dirty} if ref else None


def _entry(entry: Entry | None) -> dict[str, Any] | None:
    if entry is None:
        return None
    until = entry.until.isoformat() if entry.until else None
    names = ("number", "act", "who", "reason", "scope", "owner", "link")
    return {name: getattr(entry, name) for name in names} | {"when": entry.when.isoformat(), "until": until}


def _case(member: Member) -> dict[str, Any]:
    verdict = member.verdict
    change = verdict.changes[0] if verdict.changes else None
    return {
        "case": verdict.case_key,
        "number": member.number,
        "scenario": verdict.case.label,
        "engine": engine_token(verdict.case),
        "state": member.state,
        "seen": member.seen,
        "metric": verdict.metric,
        "old": verdict.old,
        "new": verdict.new,
        "ratio": verdict.ratio,
        "unit": change.unit if change else "",
        "evidence": describe_evidence(change) if change else "",
        "meaning": worst_meaning(verdict),
        "reason": reason_of(verdict),
    }


def describe_states(groups: Sequence[Group]) -> str:
    """3 new, 1 known"""
    states = [group.state for group in groups]
    return ", ".join(f"{states.count(state)} {state}" for state in STATES if state in states)

"""Inbox: what got worse, since which commit, by how much, and what is said of it. The first row moves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import streamlit as st

from dashboard import effects, reading
from dashboard.look import age, go, grid, heading, said, spark, state_html, text, together, word_html
from validation.groups import STATES, Group, Member
from validation.report.names import engine_word
from validation.store import Baseline, StoredRun
from validation.verdict import MEANING, Verdict, summary

MOST = 25  # groups shown at once
SPARK = 40  # runs of a sparkline


def show() -> None:
    run = reading.chosen_run()
    if run is None:
        heading("Nothing is stored yet")
        said("Make a run with <code>upright run</code>, then reload this page.", "lead")
        said(text(reading.store().name), "soft")
        return
    groups = reading.groups(run)
    verdicts = reading.verdicts(run)
    heading(text(summary(verdicts.values())), f"at {text(run.info.commit[:8])}" if run.info.commit else "")
    said(against(verdicts), "soft")
    excused = Counter(member.state for g in groups for member in g.members if member.seen and member.excused)
    if excused:
        told = ", ".join(f"{excused[state]} {state}" for state in STATES if excused[state])
        said(f"Of these, {text(told)}: a check does not fail for them.", "lead")
    if run.done < run.planned:
        said(
            f"{run.planned - run.done} of the {run.planned} cases of this run are not done: it goes on, or was stopped "
            "(<code>upright run --resume</code> finishes it).",
            "alarm",
        )
    if not groups:
        said("Nothing to look at: as accepted, or nothing is accepted to compare with.", "lead")
        said(f"{go(reading.link('engines', run=run.number), 'All scenarios and engines')}", "said")
        return
    kept = filtered(groups)
    if kept:
        first(run, kept[0])
        table(run, kept[:MOST])
        if len(kept) > MOST:
            said(f"{len(kept) - MOST} more; filter, or <code>upright regressions</code> lists them all.", "soft")
    else:
        said("None of these.", "soft")


def against(verdicts: Mapping[str, Verdict]) -> str:
    """Of the latest acceptance that was compared with. HTML."""
    numbers = [verdict.baseline for verdict in verdicts.values() if verdict.baseline is not None]
    latest = reading.baseline(max(numbers)) if numbers else None
    if latest is None:
        return "Nothing is accepted to compare with: <code>upright accept --reason &quot;...&quot;</code>"
    return (
        f"against the baseline accepted by {text(latest.who, most=60)} on {latest.when:%-d %b %Y} "
        f"(run {latest.run}): {text(latest.reason)}"
    )


def filtered(groups: Sequence[Group]) -> list[Group]:
    """By kind and state, counted on the tiles."""
    kinds = Counter(group.kind for group in groups)
    states = Counter(group.state for group in groups)
    tiles = [f"{kind} {kinds[kind]}" for kind in MEANING if kinds[kind]]
    tiles += [f"{state} {states[state]}" for state in STATES if states[state]]
    names = [*(kind for kind in MEANING if kinds[kind]), *(state for state in STATES if states[state])]
    wanted = st.pills(
        "Show only", range(len(tiles)), selection_mode="multi", format_func=tiles.__getitem__, key="tiles"
    )
    asked = {names[i] for i in wanted or ()}
    of_kind, of_state = asked & set(kinds), asked & set(states)
    return [g for g in groups if (not of_kind or g.kind in of_kind) and (not of_state or g.state in of_state)]


def first(run: StoredRun, group: Group) -> None:
    """The gravest, in a sentence and moving: now and as accepted, over each other."""
    member = group.worst
    left, right = st.columns([3, 2], vertical_alignment="center")
    with left:
        means = effects.meaning_of(member.verdict)
        target = reading.link("review", group=group.key, run=run.number)
        said(f"{word_html(group.kind)} {state_html(group.state, STATES[group.state])} {name(member)}", "lead")
        said(f"<b>{text(means or member.verdict.reason)}</b>", "lead")
        said(text(member.verdict.reason, most=420), "soft")
        said(f"{origin(group)} &nbsp; {go(target, 'Review')}")
    with right:
        page = ghost(member, reading.baseline(member.verdict.baseline))
        if page:
            st.iframe(page, height="content", alt="the motion now, and as accepted, over each other")
        else:
            said("No motion is stored of it.", "soft")


def ghost(member: Member, baseline: Baseline | None) -> str:
    result = reading.result(member.number)
    tracks = [("now", result)] + ([("accepted", baseline.result)] if baseline else [])
    return reading.player(tracks, f"{result.case.label}: now and as accepted", ghost=True, bare=True)


def table(run: StoredRun, groups: Sequence[Group]) -> None:
    rows = []
    for group in groups:
        member = group.worst
        effect = effects.effect_of(member)
        more = f"<small>and {len(group.members) - 1} more</small>" if len(group.members) > 1 else ""
        now = (
            f"<span class='name'>{text(effect.metric)}</span><small>{text(effect.now)}, accepted "
            f"{text(effect.accepted)}</small>"
            if effect
            else f"<small>{text(member.verdict.reason)}</small>"
        )
        curve = ""
        if effect:
            points = reading.history(member.verdict.case, effect.name, run.number, SPARK)
            curve = spark([point.value for point in points], effect.band)
        target = reading.link("review", group=group.key, run=run.number)
        rows.append(
            (
                f"{word_html(group.kind)}<small>{state_html(group.state, STATES[group.state])}</small>",
                f"{name(member)}{more}",
                now,
                text(effect.told) if effect else "",
                curve,
                f"{together(age(group.since.when))}<small>{together(group.since)}</small>",
                go(target, "Review"),
            )
        )
    grid(("what", "case", "worst metric", "effect", "history", "since", ""), rows, testid="inbox")


def name(member: Member) -> str:
    case = member.verdict.case
    return f"<span class='name'>{text(case.label)}</span> on {text(engine_word(case))}"


def origin(group: Group) -> str:
    """Since which commit, and the last that had it not. HTML."""
    good = f", not in {text(group.good)}" if group.good else ""
    return f"since {text(group.since)}{good}, {age(group.since.when)} ago"

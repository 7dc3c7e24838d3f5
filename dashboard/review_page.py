"""Review: one group of verdicts: both motions, where they part, the series, why we are sure, and what to do."""

import streamlit as st

from dashboard import reading, series, writing
from dashboard.elements import (
    case_html,
    commit_html,
    go,
    grid,
    heading,
    kind_html,
    paragraph,
    section,
    state_html,
    text,
)
from dashboard.inbox_page import origin
from validation.records.names import engine_token
from validation.report.groups import describe_entry
from validation.report.hints import rerun_arguments
from validation.report.sentences import describe_allowed, describe_divergence, describe_evidence, reason_of
from validation.review.groups import STATES, Group, Member, RunRef
from validation.store import StoredRun
from validation.store.errors import DamagedError, StoreError


def show() -> None:
    run = reading.chosen_run()
    groups = reading.groups(run) if run else []
    if run is None or not groups:
        heading("Nothing to review")
        paragraph(go("./", "Inbox"))
        return
    group = asked_group(run, groups)
    if group is None:
        heading("This link names no group of this run")
        paragraph(f"It may be closed, or of another branch. {go(reading.link('./', run=run.number), 'Inbox')}")
        return
    member = asked_member(group)
    if member is None:
        heading("This link names no case of this group")
        whole = go(reading.link("review", run=run.number, group=group.key), "The group")
        paragraph(f"It is none of its {len(group.members)} cases now. {whole}")
        return
    writing.show_result()
    header(run, groups, group, member)
    motion(member)
    left, right = st.columns([3, 2])
    with left:
        evidence(run, group, member)
    with right:
        writing.decide(groups, group, member, run.number)
        section("Reproduce")
        st.code(f"upright run {rerun_arguments([member.verdict.case])}", language="shell", wrap_lines=True)
    others(run, group, member)


def asked_group(run: StoredRun, groups: list[Group]) -> Group | None:
    asked = st.query_params.get("group", "")
    if not asked:
        # Named in the link from now on: another group may come first by the time that something is decided.
        st.query_params.update({"run": str(run.number), "group": groups[0].key})
        return groups[0]
    known = next((group for group in groups if group.key == asked), None)
    if known:
        return known
    try:  # a closed one: links outlive what they are about
        return reading.store().group(run.number, asked)
    except DamagedError:
        raise
    except StoreError:
        return None


def asked_member(group: Group) -> Member | None:
    """That of the link, None where it is not of this group; or the worst, which the link names from now on, for another
    may be the worst soon."""
    number, member = reading.asked_number("case"), group.worst
    if "case" in st.query_params:
        found = next((one for one in group.members if one.number == number), None)
        if found is None:
            return None
        member = found
    st.query_params["case"] = str(member.number)
    return member


def header(run: StoredRun, groups: list[Group], group: Group, member: Member) -> None:
    keys = [one.key for one in groups]
    index = keys.index(group.key) if group.key in keys else None
    steps = [go(reading.link("./", run=run.number), "← Inbox")]
    if index is not None:
        steps.append(f"<span style='opacity:.7'>{index + 1} of {len(groups)}</span>")
        after = groups[(index + 1) % len(groups)]
        if after is not group:
            steps.append(go(reading.link("review", group=after.key, run=run.number), "next →"))
    paragraph(" &nbsp; ".join(steps))
    heading(case_html(member.verdict.case))
    case = go(reading.link("case", case=member.number), "Case")
    paragraph(f"{kind_html(group.kind)} {state_html(group.state, STATES[group.state])} {origin(group)} &nbsp; {case}")
    means = reading.meaning_of(member)
    if means:
        paragraph(text(means), "big")
    if group.entry:
        paragraph(text(describe_entry(group.entry)), "soft")


def motion(member: Member) -> None:
    result = reading.result(member.number)
    baseline = reading.baseline(member.verdict.baseline)
    tracks = [("now", result)] + ([("accepted", baseline.result)] if baseline else [])
    case = result.case
    which = "now and as accepted" if baseline else "now"
    page = reading.player(tracks, f"Motion {which}: {case.label} on {engine_token(case)}")
    if page:
        alone = "the motion now; nothing is accepted"
        alt = "the motion now and as accepted, side by side" if baseline else alone
        st.iframe(page, height="content", alt=alt)
    else:
        paragraph(text(reading.absence(tracks), most=600), "soft")


def evidence(run: StoredRun, group: Group, member: Member) -> None:
    verdict = member.verdict
    section("Why we are sure")
    parting = describe_divergence(verdict.divergence) if verdict.divergence else ""
    effect = reading.effect_of(member)
    if effect:
        changed = verdict.changes[0] if verdict.changes and verdict.word != "defect" else None
        rows = [
            ("metric", text(effect.metric)),
            ("now", text(effect.now)),
            ("accepted", text(effect.accepted)),
            ("ratio", text(effect.ratio)),
            ("effect", text(effect.summary)),
            ("allowed", text(describe_allowed(changed)) if changed else ""),
            ("evidence", text(describe_evidence(changed)) if changed else ""),
            ("first bad commit", commit_of(group.since)),
            ("last good commit", commit_of(group.good) if group.good else "none is known"),
            ("first divergence", text(parting.removeprefix("first differs "), most=800)),
            ("what it means", text(effect.means) if effect.name else ""),
        ]
        grid(
            ("", ""),
            [(f"<b>{name}</b>", value) for name, value in rows if value not in ("", text(""))],
            testid="evidence",
        )
    elif parting:
        paragraph(f"<b>First divergence:</b> {text(parting.removeprefix('first differs '), most=800)}")
    trace = reading.result(member.number).trace
    if trace:
        st.code(trace, language="text", wrap_lines=True)
    paragraph(text(reason_of(verdict).removesuffix(f"; {parting}"), most=1500), "soft" if effect else "said")
    metrics = [change.metric for change in verdict.changes] or [d.metric for d in verdict.defects]
    metric = effect.name if effect else (metrics[0] if metrics else "")
    if metric:
        series.show(reading.result(member.number), metric, run, key="review")


def commit_of(ref: RunRef) -> str:
    """HTML: the commit with what is known of it, and the run."""
    run = reading.run(ref.run)
    return f"{commit_html(run.info)} (run {ref.run})" if run and run.info.commit else text(ref)


def others(run: StoredRun, group: Group, member: Member) -> None:
    if len(group.members) < 2:
        return
    section(f"The group: {len(group.members)} cases of one cause")
    rows = []
    for one in group.members:
        effect = reading.effect_of(one)
        target = reading.link("review", group=group.key, run=run.number, case=one.number)
        moved = f"{text(effect.metric)} {text(effect.now)}, accepted {text(effect.accepted)}" if effect else ""
        mark = "&rarr; " if one is member else ""
        seen = "" if one.seen else f"<small>reported in {text(one.occurrence.reported_by)}</small>"
        rows.append((f"{mark}{case_html(one.verdict.case)}{seen}", moved, state_html(one.state), go(target, "Review")))
    grid(("case", "worst metric", "state", ""), rows, testid="members")

"""Inbox: what got worse, since which commit, by how much, and its state. The first row moves."""

from collections import Counter
from collections.abc import Mapping, Sequence

import streamlit as st

from dashboard import inbox_bulk, inbox_search, reading, writing
from dashboard.elements import (
    age,
    case_html,
    commit_html,
    go,
    grid,
    heading,
    kind_html,
    paragraph,
    section,
    spark,
    state_html,
    state_name,
    text,
    together,
    unfinished,
)
from dashboard.inbox_search import NEW, STANDING
from validation.judging.verdict import MEANING, Verdict, standing
from validation.records.names import metric_name
from validation.records.quantities import counted, quantity
from validation.records.simulation import BROKEN
from validation.report import sentences
from validation.report.effect import Effect
from validation.review.groups import STATES, Group, Member
from validation.store import Baseline, StoredRun
from validation.store.overview import BranchState, NewCase

MOST = 25  # groups shown at once
MOST_LIMITS = 10  # standing defects
SPARK = 40  # runs of a sparkline


def show() -> None:
    top = st.container()
    left, right = st.columns([3, 4])
    with left:
        run = reading.chosen_run()
    if run is None:
        heading("Nothing is stored yet")
        paragraph("Make a run with <code>upright run</code>, then reload this page.", "lead")
        paragraph(text(reading.store().name), "soft")
        return
    groups = reading.groups(run)
    verdicts = reading.verdicts(run)
    wrong = standing(verdicts.values())
    state = reading.state(run)
    with top:
        writing.show_result()
        sentence(run, verdicts, groups, state)
    new: Sequence[NewCase] = state.unaccepted
    with right:
        chosen, of_limits, of_new = filtered(groups, wrong, state)
        new, wrong = new if of_new else (), wrong if of_limits else []
        if groups or state.unaccepted or wrong:
            search = inbox_search.asked()
            chosen = search.of(chosen, inbox_search.of_group)
            new = search.of(new, inbox_search.of_new)
            wrong = search.of(wrong, inbox_search.of_defect)
    if chosen:
        first(run, chosen[0], verdicts)
        inbox_bulk.decide_several(run, chosen, MOST)
        table(run, chosen[:MOST])
        if len(chosen) > MOST:
            paragraph(f"{len(chosen) - MOST} more; filter, or <code>upright regressions</code> lists them all.", "soft")
    elif (groups or of_limits or of_new) and not new and not wrong:
        paragraph("None of these.", "soft")
    elif not groups and not state.unaccepted:
        paragraph("Nothing to look at: as accepted, or nothing is accepted to compare with.", "lead")
        paragraph(f"{go(reading.link('engines', run=run.number), 'All scenarios and engines')}", "said")
    if new:
        unaccepted(run, new)
    if wrong:
        laws(run, wrong)


def counted_cases(groups: Sequence[Group], state: BranchState) -> tuple[Counter[str], Counter[str]]:
    """Cases of the branch by their newest verdict, those apart that fail nothing, by why. The groups' open members and
    these are the same cases."""
    words, waivers = Counter(state.words), Counter[str]()
    for group in groups:
        for member in group.members:
            if member.waived and member.state != "fixed" and member.occurrence.latest == member.verdict.word:
                words[member.verdict.word] -= 1
                waivers[member.state] += 1
    return words, waivers


def sentence(run: StoredRun, verdicts: Mapping[str, Verdict], groups: Sequence[Group], state: BranchState) -> None:
    """The state of the branch in one line; what of it this run has judged; against what; whether that is all."""
    info = run.info
    at = f"<small>at {commit_html(info)}{' and local changes' if info.dirty else ''}</small>" if info.commit else ""
    described = sentences.describe_counts(
        *counted_cases(groups, state),
        worse=any(group.fails for group in groups),
        wrong=len(standing(verdicts.values())),
    )
    heading(text(described), f"on {text(run.branch, most=40)}" if run.branch else "", at)
    before = sum(state.elsewhere.values())
    if before:
        old = sentences.describe_counts(state.elsewhere, {}, worse=True, wrong=0)
        paragraph(
            f"Run {run.number} judged {counted(len(verdicts), 'case')} of {sum(state.words.values())}. "
            f"The other {before} stand as they were judged before: {text(old)}."
        )
    paragraph(against(verdicts), "soft")
    if any(verdict.waiver for verdict in verdicts.values()):
        paragraph("What is known, quarantined, accepted or a false positive fails no check.", "soft")
    unfinished(run)


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


def filtered(groups: Sequence[Group], wrong: Sequence[Verdict], state: BranchState) -> tuple[list[Group], bool, bool]:
    """By kind and state, cases counted on the tiles; whether standing defects are among what is wanted, and what is
    new. The choice is in the address."""
    kinds = Counter(group.kind for group in groups for _ in group.open)
    states = Counter(member.state for group in groups for member in group.members)
    counts: dict[str, int] = {kind: kinds[kind] for kind in MEANING if kinds[kind]}
    counts |= {NEW: len(state.unaccepted)} if state.unaccepted else {}
    counts |= {state_name(name): states[name] for name in STATES if states[name]}
    counts |= {STANDING: len(wrong)} if wrong else {}
    given = [name for name in st.query_params.get("show", "").split(",") if name in counts]
    wanted = (
        st.pills(
            "Show only", list(counts), selection_mode="multi", default=given, key=f"tiles-{'-'.join(counts)}",
            format_func=lambda name: f"{name} {counts[name]}",
        )
        if counts
        else []
    )  # fmt: skip
    asked = set(wanted or ())
    if asked:
        st.query_params["show"] = ",".join(name for name in counts if name in asked)
    elif "show" in st.query_params:
        del st.query_params["show"]
    of_kind = asked & set(kinds)
    of_state = {name for name in STATES if state_name(name) in asked}
    others = asked - {NEW, STANDING}
    chosen = (
        []
        if asked and not others
        else [
            g
            for g in groups
            if (not of_kind or g.kind in of_kind) and (not of_state or any(m.state in of_state for m in g.members))
        ]
    )
    return chosen, bool(wrong) and (not asked or STANDING in asked), NEW in counts and (not asked or NEW in asked)


def unaccepted(run: StoredRun, new: Sequence[NewCase]) -> None:
    """Cases with nothing accepted to compare with: what they measured."""
    section("New: nothing is accepted to compare with")
    rows = []
    for one in new[:MOST]:
        result = reading.result(one.number)
        value = next((m for m in result.measurements if m.metric == result.headline), None)
        measured = (
            f"{text(metric_name(value.metric, result.case))} {text(quantity(value.value, value.unit))}"
            if value
            else text(result.outcome.replace("_", " "))
        )
        rows.append(
            (case_html(result.case), measured, f"run {result.run}", go(reading.link("case", case=one.number), "Case"))
        )
    grid(("case", "measured", "judged in", ""), rows, testid="new")
    if len(new) > MOST:
        paragraph(f"{len(new) - MOST} more, on {go(reading.link('engines', run=run.number), 'Engines')}.", "soft")
    command = f"upright accept --kind new --run {run.number} --reason &quot;...&quot;"
    paragraph(f"Accept all that is new in this run: <code>{command}</code>", "soft")


def first(run: StoredRun, group: Group, verdicts: Mapping[str, Verdict]) -> None:
    """The gravest: what it means, by how much, since when, why we are sure; and moving, over what was accepted."""
    member = group.worst
    verdict, effect = member.verdict, reading.effect_of(member)
    left, right = st.columns([3, 2])
    with left:
        target = reading.link("review", group=group.key, run=run.number)
        paragraph(
            f"{kind_html(group.kind)} {state_html(group.state, STATES[group.state])} {case_html(member.verdict.case)}",
            "lead",
        )
        paragraph(text(reading.meaning_of(member) or sentences.reason_of(verdict)), "big")
        paragraph(f"<b>Since</b> {origin(group).removeprefix('since ')}")
        if effect and effect.name:
            paragraph(f"<b>By</b> {by_how_much(effect)}")
        paragraph(f"<b>Sure, because</b> {sure(member, verdicts)}")
        paragraph(go(target, "Review: before and after, and decide →"))
    with right:
        ghost(member, reading.baseline(verdict.baseline))


def by_how_much(effect: Effect) -> str:
    """HTML: the metric, now and accepted, the ratio, and that in units of what is allowed."""
    more = "; ".join(text(fact) for fact in (effect.ratio, effect.summary) if fact)
    described = f"{text(effect.metric)}: {text(effect.now)} now, {text(effect.accepted)} accepted"
    return f"{described} ({more})" if more else described


def sure(member: Member, verdicts: Mapping[str, Verdict]) -> str:
    """HTML: evidence, where the motions first part, and how much of the same run is as it was."""
    verdict = member.verdict
    if verdict.grounds.outcome in BROKEN:
        return "the engine broke, so nothing of it was measured"
    if not verdict.changes and not verdict.defects:
        return text(sentences.reason_of(verdict), most=300)
    described = [sentences.describe_evidence(change) for change in verdict.changes[:1] if change.evidence]
    if verdict.grounds.now or verdict.grounds.before:
        described = ["what happened is seen in the motion itself, by our own geometry"]
    if not described and verdict.changes:
        described = [f"it is more than is allowed ({sentences.describe_allowed(verdict.changes[0])})"]
    if verdict.word == "defect":
        described.append("a law is broken that the accepted motion kept")
    if verdict.divergence and verdict.divergence.first:
        described.append(f"the motion first differs at {sentences.describe_difference(verdict.divergence.first)}")
    same = sum(sentences.reason_of(one).startswith("bit-identical") for one in verdicts.values())
    described += [f"{same} other case{' moves' if same == 1 else 's move'} as accepted, bit for bit"] if same else []
    return "; ".join(text(one, most=300) for one in described)


def ghost(member: Member, baseline: Baseline | None) -> None:
    """Its motion over the accepted one, as far as there are any; or why there is none."""
    result = reading.result(member.number)
    tracks = [("now", result)] + ([("accepted", baseline.result)] if baseline else [])
    page = reading.player(tracks, f"{result.case.label}: now and as accepted", ghost=True, bare=True)
    if page:
        st.iframe(page, height="content", alt="the motion now, and as accepted, over each other")
    else:
        paragraph(text(reading.absence(tracks), most=600), "soft")


def table(run: StoredRun, groups: Sequence[Group]) -> None:
    rows = []
    for group in groups:
        member = group.worst
        effect = reading.effect_of(member)
        more = f"<small>and {len(group.members) - 1} more</small>" if len(group.members) > 1 else ""
        now = (
            f"<span class='name'>{text(effect.metric)}</span><small>{text(effect.now)}, accepted "
            f"{text(effect.accepted)}</small><small>{text(effect.means) if effect.name else ''}</small>"
            if effect
            else f"<small>{text(sentences.reason_of(member.verdict))}</small>"
        )
        curve = ""
        if effect and effect.name:
            points = reading.history(member.verdict.case, effect.name, run, SPARK)
            curve = spark(
                [p.value for p in points], effect.band, name=effect.metric, unit=points[-1].unit if points else ""
            )
        target = reading.link("review", group=group.key, run=run.number)
        rows.append(
            (
                f"{kind_html(group.kind)}<small>{state_html(group.state, STATES[group.state])}</small>",
                f"{case_html(member.verdict.case)}{more}",
                now,
                f"{text(effect.ratio)}<small>{text(effect.summary)}</small>" if effect else "",
                curve,
                f"{together(age(group.since.when))}<small>{together(group.since)}</small>",
                go(target, "Review"),
            )
        )
    grid(("what", "case", "worst metric", "effect", "history", "since", ""), rows, testid="inbox")


def laws(run: StoredRun, wrong: Sequence[Verdict]) -> None:
    """What is wrong whatever the baseline: as before, so that no check fails for it; who accepted it so."""
    section("Standing defects: a law is broken, as it was when accepted")
    numbers = {result.key: result for result in reading.results(run)}
    rows = []
    for verdict in wrong[:MOST_LIMITS]:
        result = numbers[verdict.case_key]
        baseline = reading.baseline(verdict.baseline)
        by = "<small>nothing is accepted yet</small>"
        if baseline:
            by = f"{text(baseline.who, most=60)}<small>{baseline.when:%-d %b %Y}, run {baseline.run}</small>"
        rows.append(
            (
                case_html(verdict.case),
                *size_and_history(verdict, run),
                by,
                go(reading.link("case", case=result.number), "Case"),
            )
        )
    grid(("case", "what physics says", "size", "history", "accepted by", ""), rows, testid="standing")
    if len(wrong) > MOST_LIMITS:
        all_ = go(reading.link("engines", run=run.number), "Engines")
        paragraph(f"{len(wrong) - MOST_LIMITS} more, marked on {all_}.", "soft")


def size_and_history(verdict: Verdict, run: StoredRun) -> tuple[str, str, str]:
    """HTML: what physics says of a standing defect, how large it is, and its history. What happened has no size."""
    happened = [text(sentences.describe_happening(one)) for one in verdict.grounds.wrong]
    if not verdict.standing:
        return "<br>".join(happened), "", ""
    defect, *others = verdict.standing
    points = reading.history(verdict.case, defect.metric, run, SPARK)
    more = f"<small>and {counted(len(others), 'more law')}</small>" if others else ""
    times = text(sentences.times(abs(defect.value / defect.limit))) if defect.limit else ""
    curve = spark(
        [point.value for point in points],
        (-abs(defect.limit), abs(defect.limit)),
        name=metric_name(defect.metric, verdict.case),
        unit=points[-1].unit if points else "",
    )
    described = "<br>".join([*happened, text(sentences.meaning(defect, verdict.case))])
    return f"{described}{more}", times and f"{times}<small>the limit</small>", curve


def origin(group: Group) -> str:
    """Since which commit, and the last that had it not. HTML."""
    good = f", not in {text(group.good)}" if group.good else ""
    return f"since {text(group.since)}{good}, {age(group.since.when)} ago"

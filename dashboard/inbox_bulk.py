"""One decision on several groups of the Inbox: which, what it changes, why, and that it can be taken back."""

from collections import Counter
from collections.abc import Sequence

import streamlit as st

from dashboard import reading, sign_in, writing
from dashboard.elements import go, grid, paragraph, plain, section, text
from dashboard.inbox_search import remember
from validation.records.names import engine_token
from validation.records.quantities import counted
from validation.review.bulk import Bulk, bulk
from validation.review.groups import Group
from validation.review.ledger import MEANING, Act, LedgerError
from validation.store import StoredRun
from validation.store.errors import StoreError

MOST_LINKS = 10  # broken cases that are named
EVERY = "all"  # in the address: all groups that are found
DONE: dict[Act, str] = {
    "accept": "will be the baseline from now on",
    "reject": "will be rejected",
    "known": "will be a known issue",
    "quarantine": "will be quarantined",
    "acknowledge": "will be acknowledged",
    "not a fault": "will be no fault",
}


def decide_several(run: StoredRun, groups: Sequence[Group], most: int) -> None:
    """Of the groups that are found, where this session may write. Ticks are in the address."""
    waiting = [group for group in groups if group.open]
    if not writing.may_decide() or not waiting or (len(waiting) == 1 and "tick" not in st.query_params):
        return
    wanted = st.toggle("Decide several groups at once", value="tick" in st.query_params, key="several")
    if not wanted:
        remember("tick", "")
        return
    with st.container(border=True, key="bulk"):
        ticked = _ticked(waiting, most)
        if not ticked:
            paragraph("Tick the groups that one decision, with one reason, is to be of.", "soft")
            return
        word = st.segmented_control(
            "Decision", list(writing.ACTS), default="Accept", required=True, key="bulk-act", wrap=True
        )
        act = writing.ACTS[word or "Accept"]
        paragraph(text(MEANING[act]), "soft")
        chosen = bulk(ticked, act)
        preview(run, chosen, act)
        if chosen.members:
            form(chosen, act, word or "Accept")


def _ticked(waiting: Sequence[Group], most: int) -> list[Group]:
    """All that are found, or those whose box is ticked: of as many as the table has. After a decision none is."""
    given = st.query_params.get("tick", "")
    asked = set(given.split(","))
    decided = st.session_state.get("decided", 0)  # a new box each time, for a box remembers that it is ticked
    cases = counted(sum(len(group.open) for group in waiting), "open case")
    every = st.checkbox(
        f"All that are found: {counted(len(waiting), 'group')}, {cases}",
        value=given == EVERY,
        key=f"tick-all-{decided}",
    )
    if every:
        remember("tick", EVERY)
        return list(waiting)
    ticked = []
    for group in waiting[:most]:
        case = group.worst.verdict.case
        label = f"{group.kind}: {case.label} on {engine_token(case)}"
        more = f" and {len(group.members) - 1} more" if len(group.members) > 1 else ""
        alone = "; decided alone" if all(map(writing.is_broken, group.open)) else ""
        name = plain(f"{label}{more}, since {group.since}{alone}")
        if st.checkbox(name, value=group.key in asked, key=f"tick-{group.key}-{decided}"):
            ticked.append(group)
    lost = asked - {"", "none", EVERY} - {group.key for group in waiting[:most]}
    if lost:
        paragraph(f"{counted(len(lost), 'group')} of this link: closed, or not among those found here.", "soft")
    remember("tick", ",".join(group.key for group in ticked) or "none")
    return ticked


def preview(run: StoredRun, chosen: Bulk, act: Act) -> None:
    """Exactly what changes, and what is left out."""
    if chosen.broken:
        count = counted(len(chosen.broken), "broken case")
        links = [
            go(
                reading.link("review", run=run.number, group=group.key, case=member.number),
                f"{member.verdict.case.label} on {engine_token(member.verdict.case)}",
            )
            for group, member in chosen.broken[:MOST_LINKS]
        ]
        more = f" and {len(chosen.broken) - MOST_LINKS} more" if len(chosen.broken) > MOST_LINKS else ""
        are, each = ("is", "It") if len(chosen.broken) == 1 else ("are", "Each")
        paragraph(f"{count} {are} left out. {each} is decided alone: {', '.join(links)}{more}", "alarm")
    if chosen.not_compared:
        paragraph(
            f"{counted(chosen.not_compared, 'case')} left out: Upright's own adapter failed, so there is no result.",
            "alarm",
        )
    if chosen.sharing:
        names = ", ".join(
            f"{m.verdict.case.label} on {engine_token(m.verdict.case)}" for m in chosen.sharing[:MOST_LINKS]
        )
        count = counted(len(chosen.sharing), "case")
        paragraph(f"{count} left out, which share a baseline with another one: {text(names)}", "alarm")
    if not chosen.members:
        paragraph("Nothing is left to decide at once.", "soft")
        return
    engines = chosen.engines
    scenarios = {label for labels in engines.values() for label in labels}
    of = f"on {counted(len(engines), 'engine')}, of {counted(len(scenarios), 'scenario')}"
    section(f"{counted(len(chosen.members), 'case')} {DONE[act]}: {of}")
    grid(
        ("engine", "cases>", "scenarios"),
        [(text(engine), str(labels.total()), _names(labels)) for engine, labels in engines.items()],
        testid="changes",
    )
    if chosen.decided:
        paragraph(f"{counted(chosen.decided, 'case')} of these had a decision already; this one replaces it.", "soft")


def _names(labels: Counter[str]) -> str:
    """HTML: every scenario, with how many cases where there are several."""
    return ", ".join(text(f"{label} ({n})" if n > 1 else label) for label, n in sorted(labels.items()))


def form(chosen: Bulk, act: Act, word: str) -> None:
    name = f"bulk-{act}-{','.join(group.key for group in chosen.groups)}"
    shown, seen = writing.as_shown(name, chosen.numbers)
    with st.form("bulk-form", border=False):
        reason = st.text_input("Reason", key="bulk-reason", placeholder="one for all of them, for whoever asks later")
        more = writing.details(act)
        label = f"{word} {counted(len(chosen.members), 'case')} as {plain(sign_in.visitor().name)}"
        sent = st.form_submit_button(label, type="primary", key="bulk-send")
    if not sent:
        return
    scope = writing.Scope(label="", words=chosen.scope, members=chosen.members)
    try:
        writing.check_unchanged(shown, seen, same=shown == chosen.numbers)
        st.session_state["said"] = writing.say(act, scope, reason=reason, seen=seen, **more)
    except (LedgerError, StoreError) as error:
        paragraph(text(error, most=600), "alarm")
        return
    st.session_state["decided"] = st.session_state.get("decided", 0) + 1
    remember("tick", "none")
    st.rerun()

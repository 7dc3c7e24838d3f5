"""Saying something of verdicts from a page: only in a session that was started with a name, `--accept-as NAME`."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

import streamlit as st

from dashboard import reading
from dashboard.look import part, said, text
from validation.groups import Group, Member
from validation.ledger import MARKS, MEANING, Act, LedgerError
from validation.store.errors import StoreError

WHO = "UPRIGHT_ACCEPT_AS"
ACTS: dict[str, Act] = {"Accept": "accept", "Reject": "reject", "Known issue": "known", "Quarantine": "quarantine"}
ACTS |= {"Acknowledge": "acknowledge", "Not a fault": "not a fault"}
WEEKS = timedelta(weeks=2)  # of a quarantine, unless another day is given


def who() -> str:
    """Who accepts in this session; "" where it only reads."""
    return os.environ.get(WHO, "").strip()


def decide(group: Group, member: Member, run: int) -> None:
    """The form, or the commands that do the same."""
    part("Decide")
    if not who():
        said(
            "This session only reads. Decide on the command line, or start it with "
            "<code>upright dashboard --accept-as NAME</code>.",
            "soft",
        )
        st.code(commands(group, run), language="shell")
        return
    word = st.segmented_control("Decision", list(ACTS), default="Accept", required=True, key="act", wrap=True)
    act = ACTS[word or "Accept"]
    said(text(MEANING[act]), "soft")
    with st.form("decision", border=False):
        reason = st.text_input("Reason", key="reason", placeholder="for whoever asks later")
        scope = st.radio("Scope", ["this case", "the whole group"], index=1, horizontal=True, key="scope")
        link = st.text_input("Issue", key="link", placeholder="#31, or its address") if act == "known" else ""
        owner = st.text_input("Owner", key="owner", placeholder="who mends it") if act == "quarantine" else ""
        today = datetime.now(UTC).date()
        day: date | None = None
        if act in ("quarantine", "known", "accept"):
            first = today + WEEKS if act == "quarantine" else None
            day = st.date_input(
                "Until that day begins", value=first, min_value=today + timedelta(days=1), key=f"until-{act}"
            )
        sent = st.form_submit_button(f"{word} as {_plain(who())}", type="primary")
    if sent:
        until = datetime(day.year, day.month, day.day, tzinfo=UTC) if day else None
        chosen = [member] if scope == "this case" else list(group.members)
        try:
            done = say(act, group, chosen, reason=reason, link=link, owner=owner, until=until)
        except (LedgerError, StoreError) as error:
            said(text(error), "alarm")
            return
        st.session_state["said"] = done
        st.rerun()


def say(
    act: Act,
    group: Group,
    members: Sequence[Member],
    *,
    reason: str,
    link: str = "",
    owner: str = "",
    until: datetime | None = None,
) -> str:
    """What was done, in words. Raises LedgerError and StoreError where something is lacking."""
    store = reading.store()
    scope = f"group {group.key}: {group.kind} on {group.engine} since {group.since}"
    if act == "accept":
        by_run: dict[int, list[int]] = {}
        for member in members:
            by_run.setdefault(member.sighting.place.run, []).append(member.number)
        for run, cases in by_run.items():
            store.accept(run, who=who(), reason=reason, cases=cases, scope=scope, until=until)
    else:
        mark = next(mark for mark in MARKS if mark == act)
        cases = [member.number for member in members]
        store.mark(mark, cases, who=who(), reason=reason, scope=scope, until=until, owner=owner, link=link)
    count = "1 case" if len(members) == 1 else f"{len(members)} cases"
    return f"{act}: {count} on {group.engine}, by {who()}: {reason}"


def told() -> None:
    """What was done just now."""
    done = st.session_state.pop("said", "")
    if done:
        st.toast(_plain(done))


def commands(group: Group, run: int) -> str:
    """For a shell: what the form does."""
    database = reading.database()
    place = "" if database == "upright.db" or "://" in database else f" --db {shlex.quote(database)}"
    words = f"{group.key} --run {run}{place}"
    day = (datetime.now(UTC) + WEEKS).date()
    return (
        f'upright accept --group {words} --reason "..."\n'
        f'upright mark known {words} --link "#..." --reason "..."\n'
        f'upright mark quarantine {words} --until {day} --reason "..."'
    )


def _plain(words: str) -> str:
    """For labels, which Streamlit reads as Markdown."""
    return "".join(f"\\{c}" if c in "\\`*_{}[]()<>#+-.!|~$:" else c for c in " ".join(words.split()))[:200]

"""Decisions on verdicts from a page. Who decides is asked of `sign_in` here, at each write, whatever a page shows."""

import shlex
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TypedDict, TypeVar, Unpack

import streamlit as st

from dashboard import reading, sign_in
from dashboard.elements import paragraph, plain, section, text
from validation.records.names import engine_token
from validation.records.quantities import counted
from validation.records.stored import StoredFind
from validation.review import bulk
from validation.review.groups import CLOSED, Group, Member
from validation.review.ledger import MARKS, MEANING, Act, LedgerError
from validation.store.errors import StoreError

ACTS: dict[str, Act] = {"Accept": "accept", "Reject": "reject", "Known issue": "known", "Quarantine": "quarantine"}
ACTS |= {"Acknowledge": "acknowledge", "Not a fault": "not a fault"}
HOW_TO_DECIDE = {
    False: "Decide on the command line, or start it with <code>upright dashboard --accept-as NAME</code>.",
    True: "Whoever runs this dashboard names its reviewers in the sign-in file.",
}
"""By whether people sign in."""
T = TypeVar("T")
WEEKS = timedelta(weeks=2)  # of a quarantine, unless another day is given


def may_decide() -> bool:
    return not sign_in.visitor().refusal


class Details(TypedDict, total=False):
    """Of a decision, beside its reason; see `Entry`."""

    link: str
    owner: str
    until: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What a decision is of: open cases, and how the ledger calls them."""

    label: str  # in the form
    words: str  # in the ledger
    members: tuple[Member, ...]

    @property
    def numbers(self) -> list[int]:
        return [member.number for member in self.members]


def is_broken(member: Member) -> bool:
    """Whether the engine crashed, hung or blew up there: accepted, it would be right to do so."""
    return bulk.is_broken(member.verdict)


def scopes(groups: Sequence[Group], group: Group, member: Member, act: Act) -> list[Scope]:
    """From the one case to all that is alike on its engine or in its scenario; only what is open, each set once.

    Alike is what is worse too, or else what is of the same kind. What is broken is accepted by itself only.
    """
    case, worse = member.verdict.case, member.verdict.worse
    alike = [one for other in groups for one in other.open if other.kind == group.kind or (worse and one.verdict.worse)]
    mine, members = ((member,) if member.state not in CLOSED else ()), group.open
    if act == "accept":
        alone = is_broken(member)
        alike = [] if alone else [one for one in alike if not is_broken(one)]
        members = () if alone else tuple(one for one in members if not is_broken(one))
    of_engine = tuple(one for one in alike if one.verdict.case.engine_label == case.engine_label)
    of_scenario = tuple(one for one in alike if one.verdict.case.label == case.label)
    since = f"{group.kind} on {group.engine} since {group.since}"
    whole = f"this group ({counted(len(members), 'case')})"
    offered = [
        Scope(label="this case", words=f"{case.label} on {engine_token(case)}", members=mine),
        Scope(label=whole, words=f"group {group.key}: {since}", members=members),
    ]
    for label, words, members in (
        (f"{case.engine_label}, whatever the scenario", f"every open case on {case.engine_label}", of_engine),
        (f"{case.label}, whatever the engine", f"every open case of {case.label}", of_scenario),
    ):
        count = counted(len(members), "case")
        offered.append(Scope(label=f"{label} ({count})", words=f"{words}: {count}", members=members))
    distinct: dict[frozenset[int], Scope] = {}
    for scope in offered:
        if scope.members:
            distinct.setdefault(frozenset(scope.numbers), scope)
    return list(distinct.values())


def decide(groups: Sequence[Group], group: Group, member: Member, run: int) -> None:
    """The form, or the commands that do the same."""
    section("Decide")
    visitor = sign_in.visitor()
    if visitor.refusal:
        cannot()
        st.code(commands(group, run), language="shell")
        return
    if not scopes(groups, group, member, "known"):
        paragraph("Nothing of it is open: fixed, or accepted.", "soft")
        undo_form(group)
        return
    word = st.segmented_control("Decision", list(ACTS), default="Accept", required=True, key="act", wrap=True)
    act = ACTS[word or "Accept"]
    offered = scopes(groups, group, member, act)
    # The form acts on what was shown when it was filled in, whatever has come since.
    known = f"{group.key}-{member.number}-{act}"
    now = [scope.numbers for scope in offered]
    shown, seen = as_shown(known, now)
    paragraph(text(MEANING[act]), "soft")
    broken = act == "accept" and is_broken(member)
    if broken:
        paragraph(text(warning(member)), "alarm")
    with st.form(f"decision-{known}", border=False):
        reason = st.text_input("Reason", key="reason", placeholder="for whoever asks later")
        labels = [plain(scope.label) for scope in offered]
        of_group = {one.number for one in group.members}
        usual = max(i for i, scope in enumerate(offered) if of_group.issuperset(scope.numbers))
        meant = st.checkbox("I know that, and it is right", key="broken") if broken else False
        chosen = st.radio("Scope", range(len(offered)), index=usual, format_func=labels.__getitem__, key=f"scope-{act}")
        more = details(act)
        sent = st.form_submit_button(f"{word} as {plain(visitor.name)}", type="primary")
    undo_form(group)
    if sent:
        try:
            check_unchanged({number for numbers in shown for number in numbers}, seen, same=shown == now)
            st.session_state["said"] = say(act, offered[chosen], reason=reason, broken=meant, seen=seen, **more)
        except (LedgerError, StoreError) as error:
            paragraph(text(error), "alarm")
            return
        go_on(groups, group, offered[chosen])
        st.rerun()


def as_shown(form: str, now: T) -> tuple[T, int]:
    """What this form showed when it was filled in, and the newest entry of the ledger then: `now`, where it was not yet
    shown. From now on it shows `now`."""
    seen = reading.last_entry()
    shown: tuple[T, int] = st.session_state.get("shown", {}).get(form, (now, seen))
    st.session_state["shown"] = {form: (now, seen)}
    return shown


def check_unchanged(shown: Collection[int], seen: int, *, same: bool) -> None:
    """Raises StoreError where somebody decided since on a case that the form showed, or it shows others now."""
    reading.store().check_seen(shown, seen)
    if not same:
        raise StoreError("What is open has changed since this page was shown; nothing was written. Read it again.")


def details(act: Act) -> Details:
    """The fields that this act has beside the reason."""
    link = st.text_input("Issue", key="link", placeholder="#31, or its address") if act == "known" else ""
    owner = st.text_input("Owner", key="owner", placeholder="who fixes it") if act == "quarantine" else ""
    today = datetime.now(UTC).date()
    day: date | None = None
    if act in ("quarantine", "known", "accept"):
        first = today + WEEKS if act == "quarantine" else None
        day = st.date_input("Expires on", value=first, min_value=today + timedelta(days=1), key=f"until-{act}")
    until = datetime(day.year, day.month, day.day, tzinfo=UTC) if day else None
    return {"link": link, "owner": owner, "until": until}


def warning(member: Member) -> str:
    """What accepting a broken case would mean."""
    case, found = member.verdict.case, member.verdict.grounds
    outcome = str(found.outcome).replace("_", " ")
    return (
        f"{case.label} on {engine_token(case)}: {outcome} ({found.why}). Accepted, that is the baseline: a check "
        "passes for as long as it does so. A known issue, with its link, says the same and ends when it is fixed."
    )


def say(
    act: Act, scope: Scope, *, reason: str, broken: bool = False, seen: int | None = None, **more: Unpack[Details]
) -> tuple[str, int]:
    """What was done, in words, and the number of its entry. Raises LedgerError and StoreError where something is
    lacking, this session may not decide, or an entry after the one `seen` is about any of these cases."""
    store, who = reading.store(), sign_in.reviewer()
    if act == "accept":
        until = more.get("until")
        entry = store.accept_cases(
            scope.numbers, who=who, reason=reason, scope=scope.words, until=until, broken=broken, seen=seen
        )
    else:
        mark = next(mark for mark in MARKS if mark == act)
        entry = store.mark(mark, scope.numbers, who=who, reason=reason, scope=scope.words, seen=seen, **more)
    return f"{act}: {counted(len(scope.members), 'case')}, by {who}: {reason}", entry


def go_on(groups: Sequence[Group], group: Group, scope: Scope) -> None:
    """To the next group with something to decide, if this one was decided as a whole and there is another."""
    decided = set(scope.numbers)
    if not decided.issuperset(member.number for member in group.open):
        return
    after = [*groups[groups.index(group) + 1 :], *groups] if group in groups else list(groups)
    waiting = (
        one
        for one in after
        if one is not group and any(m.state == "new" and m.number not in decided for m in one.members)
    )
    following = next(waiting, None)
    if following is not None:
        st.query_params["group"] = following.key
        st.query_params.pop("case", None)


def show_result() -> None:
    """What was done just now, and a way to take it back."""
    done, entry = st.session_state.get("said", ("", 0))
    if not done:
        return
    paragraph(text(done), "lead")
    if not entry:
        del st.session_state["said"]
    elif st.button("Undo", key="undo", help=f"takes entry {entry} of the ledger back"):
        st.session_state["said"] = take_back(entry), 0
        st.rerun()


def take_back(entry: int, reason: str = "undone on the page") -> str:
    """What came of it, in words."""
    try:
        number = reading.store().undo(entry, who=sign_in.reviewer(), reason=reason)
    except (LedgerError, StoreError) as error:
        return str(error)
    return f"entry {entry} is taken back, by entry {number}"


def undo_form(group: Group) -> None:
    """Of the decision that a group is in; for whoever finds it later."""
    entry = group.entry
    if entry is None or entry.undone_by is not None or not may_decide():
        return
    with st.expander(f"Take this decision back (entry {entry.number})"):
        reason = st.text_input("Why", key="undo-reason", placeholder="for whoever asks later")
        if st.button("Take it back", key="take-back"):
            if not reason.strip():
                paragraph("Say why, for whoever asks later.", "alarm")
                return
            st.session_state["said"] = take_back(entry.number, reason), 0
            st.rerun()


def cannot() -> None:
    """Why this session may not decide, and what does."""
    paragraph(f"{text(sign_in.visitor().refusal)} {HOW_TO_DECIDE[sign_in.required()]}", "soft")


def mark_find(find: StoredFind, *, known: str, link: str = "") -> None:
    """As known, with why and where; "" takes that back. Shown is why it cannot be, where it cannot."""
    try:
        who, now = sign_in.reviewer(), reading.store().find(find.number)
        if (now.known, now.link, now.fixed_in) != (find.known, find.link, find.fixed_in):
            raise StoreError("It has changed since this page was shown; nothing was written. Read it again.")
        if not known.strip() and not find.known:
            raise LedgerError("reason: none is given; say why, for whoever asks later")
        reading.store().mark_find(find.number, known=known, known_by=who if known else "", link=link if known else "")
    except (LedgerError, StoreError) as error:
        paragraph(text(error), "alarm")
        return
    st.session_state["said"] = f"{'known' if known else 'not known'}: find {find.number}, by {who}", 0
    st.rerun()


def database_option() -> str:
    """The option that names this database on a command line; "" for the usual one, and where it may have a password."""
    database = reading.database()
    return "" if database == "upright.db" or "://" in database else f" --db {shlex.quote(database)}"


def commands(group: Group, run: int) -> str:
    """For a shell: what the form does."""
    db_option = database_option()
    words = f"{group.key} --run {run}{db_option}"
    day = (datetime.now(UTC) + WEEKS).date()
    return (
        f'upright accept --group {words} --reason "..."\n'
        f'upright mark known {words} --link "#..." --reason "..."\n'
        f'upright mark quarantine {words} --until {day} --reason "..."'
    )

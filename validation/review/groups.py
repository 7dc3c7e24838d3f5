"""Groups of verdicts: those of one cause. A reviewer sees them as one row, and decides on them at once.

One cause is: the same kind of verdict, on the same engine as it was typed, since the same commit of the same branch.
Groups and their members are stored when a run is judged (`validation/store/since.py`). What became of a group follows
from its members, and what became of a member from what was run and said since. Pure.
"""

import hashlib
import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from validation.judging.verdict import MEANING, Change, Findings, Verdict, Word
from validation.review.ledger import Act, Entry
from validation.review.lineage import SHORT

State = Literal["new", "rejected", "acknowledged", "known", "quarantined", "not a fault", "accepted", "fixed"]
Light = Literal["red", "amber", "green"]

STATES: dict[State, str] = {
    "new": "unreviewed",
    "rejected": "wrong: has to be fixed",
    "acknowledged": "seen, somebody looks into it",
    "known": "a known issue",
    "quarantined": "fails nothing until a day",
    "not a fault": "a false positive, as long as the motions stay the same",
    "accepted": "the baseline is this now",
    "fixed": "judged again, and gone",
}
"""With what they mean, the gravest first: a group is in the gravest state of its members."""
WAIVED: frozenset[State] = frozenset(("known", "quarantined", "not a fault", "accepted", "fixed"))
"""Those in which a check does not fail for it."""
CLOSED: frozenset[State] = frozenset(("accepted", "fixed"))

NOTABLE: tuple[Word, ...] = (
    "not compared",
    "broken",
    "defect",
    "regressed",
    "mixed",
    "missing",
    "different",
    "improved",
)
"""The kinds of verdicts that make groups, the gravest first."""
GONE: tuple[Word, ...] = ("pass", "improved")
"""Verdicts after which an earlier finding is gone. `new` is none: there is nothing to compare with any more. Nor is
`declined`: what an engine refuses is not fixed; where that was accepted since, it is accepted."""
STATE_OF: dict[Act, State] = {
    "reject": "rejected",
    "acknowledge": "acknowledged",
    "known": "known",
    "quarantine": "quarantined",
    "not a fault": "not a fault",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRef:
    """A run, and the commit that it was made at."""

    run: int
    commit: str  # "" outside a repository
    dirty: bool
    when: datetime

    def __str__(self) -> str:
        """a1b2c3d4 (run 12)"""
        return f"{self.commit[:SHORT]} (run {self.run})" if self.commit else f"run {self.run}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurrence:
    """The latest verdict of a kind on one case, and what is known of that case now."""

    verdict: Verdict
    number: int  # of its case in the database
    reported_by: RunRef
    fingerprint: str  # equal: the same result, bit for bit
    latest: Word  # the latest verdict on the case, on this branch
    rebased: bool  # that one had a baseline that came after the group's first commit
    accepted: str = ""  # fingerprint of the baseline in effect; "": there is none
    accepted_by: Entry | None = None  # the entry that made it one
    judged_by: Entry | None = None  # the entry that made the one that the verdict was found by


@dataclass(frozen=True, slots=True)
class Decision:
    """An entry of the ledger on one case of a group, and the finding on that case then."""

    entry: Entry
    fingerprint: str
    findings: Findings

    def applies_to(self, now: Occurrence) -> bool:
        """Whether it is what was spoken of then that is seen now, and not much worse.

        The very same result always is. A false positive is marked of that result alone; a known or quarantined
        one may move by MUCH_WORSE times as far from what is accepted, by each metric that had moved then and by none
        else. What breaks otherwise is something else.
        """
        if self.fingerprint == now.fingerprint:
            return True
        if self.entry.act == "not a fault":
            return False
        if self.entry.act not in ("known", "quarantine"):
            return True
        return shares_finding(self.findings, now.verdict)


def shares_finding(then: Findings, now: Verdict) -> bool:
    """Whether all that `now` has against the case was found then too, and is not much worse. No crash is one."""
    if now.word == "broken":
        return False
    if not {(one.kind, one.bodies) for one in now.grounds.now} <= {(one.kind, one.bodies) for one in then.happened}:
        return False
    moved = {change.metric: change for change in then.changes}
    broken = {defect.metric: defect for defect in then.defects}
    return all(
        change.metric in moved and _far(change) <= MUCH_WORSE * _far(moved[change.metric])
        for change in now.changes
        if change.move != "improved" and change.counts
    ) and all(
        defect.metric in broken
        and abs(defect.value) - defect.limit <= MUCH_WORSE * (abs(broken[defect.metric].value) - defect.limit)
        for defect in now.defects
        if not defect.standing
    )


MUCH_WORSE = 2.0
"""Times as far from what is accepted as when a mark was set: more is another matter, and fails again."""


def _far(change: Change) -> float:
    """In the metric's unit; infinite where what it is about did not happen in one of the two."""
    far = abs(change.new - change.old)
    return math.inf if math.isnan(far) else far


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    occurrence: Occurrence
    state: State
    entry: Entry | None  # what put it there; None where it is unreviewed
    seen: bool  # reported by the very run that it is seen from

    @property
    def verdict(self) -> Verdict:
        return self.occurrence.verdict

    @property
    def number(self) -> int:
        """Of its case in the database."""
        return self.occurrence.number

    @property
    def waived(self) -> bool:
        return self.state in WAIVED


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    key: str  # 12 hex digits; the same as long as its first commit is
    branch: str
    engine: str  # as typed, without its profile
    kind: Word
    since: RunRef  # the first commit that has it
    good: RunRef | None  # the latest commit before that has it not; None: there is none
    members: tuple[Member, ...]  # the worst first

    @property
    def state(self) -> State:
        return min((member.state for member in self.members), key=list(STATES).index)

    @property
    def worst(self) -> Member:
        return self.members[0]

    @property
    def entry(self) -> Entry | None:
        """The latest entry on the member that the state is of."""
        return next(member.entry for member in self.members if member.state == self.state)

    @property
    def open(self) -> tuple[Member, ...]:
        """Those that are neither fixed nor accepted."""
        return tuple(member for member in self.members if member.state not in CLOSED)

    @property
    def fails(self) -> bool:
        """A check fails for it; not where nothing is accepted any more that it would be worse than."""
        return any(m.verdict.worse and not m.waived and m.occurrence.latest != "new" for m in self.members)

    @property
    def light(self) -> Light:
        """Missing is amber, never green; so is what was not run again."""
        if self.state == "fixed":
            return "green"
        if self.fails:
            return "red"
        if self.kind == "missing" or self.state in ("known", "quarantined"):
            return "amber"
        if self.state in ("accepted", "not a fault"):
            return "green"
        return "green" if self.kind == "improved" else "amber"


def group_key(branch: str, since: RunRef, engine: str, kind: str) -> str:
    """Of a commit that is checked out as it stands, the commit counts; otherwise the run."""
    where = since.commit if since.commit and not since.dirty else f"run {since.run}"
    return hashlib.sha256(json.dumps([branch, where, engine, kind]).encode()).hexdigest()[:12]


VARYING = re.compile(r"0x[0-9a-f]+|\d*\.?\d+(e[-+]?\d+)? ?(s|ms|kB|MiB|GiB)\b|\d*\.\d+(e[-+]?\d+)?", re.IGNORECASE)
"""What differs between two crashes that are the same: addresses, times, amounts."""


def fingerprint(outcome: str, scene_hash: str, trajectory_hash: str, reason: str) -> str:
    """What an acceptance applies to: the result, bit for bit; where nothing moved, what happened instead, in its words
    without the values that vary."""
    what = trajectory_hash or hashlib.sha256(" ".join(VARYING.sub("#", reason).split()).encode()).hexdigest()
    return f"{outcome}-{scene_hash[:16]}-{what}"


def member(occurrence: Occurrence, decisions: Sequence[Decision], run: int, now: datetime) -> Member:
    """`decisions` is what was said of this case in this group; the latest that is in effect and
    speaks of what is seen now counts. What is gone is gone."""

    def state(word: State, entry: Entry | None = None) -> Member:
        return Member(occurrence=occurrence, state=word, entry=entry, seen=occurrence.reported_by.run == run)

    if occurrence.accepted == occurrence.fingerprint:
        return state("accepted", occurrence.accepted_by)
    if occurrence.latest == "declined" and occurrence.rebased:
        return state("accepted", occurrence.accepted_by)
    if occurrence.latest in GONE and occurrence.latest != occurrence.verdict.word:
        return state("accepted", occurrence.accepted_by) if occurrence.rebased else state("fixed")
    for one in sorted(decisions, key=lambda one: -one.entry.number):
        entry = one.entry
        if entry.act in STATE_OF and entry.in_effect(now) and one.applies_to(occurrence):
            return state(STATE_OF[entry.act], entry)
    return state("new")


def gravest_first(groups: Iterable[Group]) -> list[Group]:
    lights: list[Light] = ["red", "amber", "green"]
    words = list(MEANING)
    return sorted(groups, key=lambda g: (lights.index(g.light), words.index(g.kind), -g.since.run, gravity(g.worst)))


def waived(verdicts: Iterable[Verdict], groups: Iterable[Group], run: int) -> list[Verdict]:
    """The verdicts of this run; those for which a check does not fail are no longer `worse`, and say by whose word."""
    decisions = {
        member.verdict.case_key: (member.state, (member.entry.who, member.entry.reason))
        for group in groups
        for member in group.members
        if member.waived and member.entry and member.occurrence.reported_by.run == run
    }

    def described(verdict: Verdict) -> Verdict:
        state, waived_by = decisions.get(verdict.case_key, ("", ("", "")))
        return replace(verdict, worse=False, waiver=state, waived_by=waived_by) if state else verdict

    return [described(verdict) for verdict in verdicts]


def gravity(one: Member) -> tuple[int, float, int]:
    """By state, then by how much it changed."""
    ratio = one.verdict.ratio
    size = abs(math.log(ratio)) if ratio else math.inf
    return list(STATES).index(one.state), -size, one.number

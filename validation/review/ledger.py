"""The ledger: who accepted or marked which results, when, why, and until when. Entries are added, never changed.

An entry is taken back by a later one that undoes it, which may be undone in its turn. Pure; the store keeps them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Required, TypedDict, get_args

Act = Literal["accept", "reject", "acknowledge", "known", "quarantine", "not a fault", "undo"]
Mark = Literal["reject", "acknowledge", "known", "quarantine", "not a fault"]
"""The acts that say something of a group of verdicts; `accept` makes baselines."""

MEANING: dict[Act, str] = {
    "accept": "right as it is: the baseline from now on",
    "reject": "wrong: has to be fixed, and fails until it is",
    "acknowledge": "seen, somebody looks into it; failing as before",
    "known": "a known issue, linked; fails nothing until its day, or for good",
    "quarantine": "fails nothing until its day; somebody owns it",
    "not a fault": "fails nothing, for as long as the motions are these very ones",
    "undo": "takes an earlier entry back",
}
MARKS: tuple[Mark, ...] = get_args(Mark)


class LedgerError(ValueError):
    """An entry that may not be made, in one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    number: int
    act: Act
    when: datetime
    who: str
    reason: str
    scope: str  # which results it is about, in words
    branch: str
    until: datetime | None = None  # None: for good
    owner: str = ""  # of a quarantine: who fixes it
    link: str = ""  # of a known issue
    refers_to: int | None = None  # undo: the entry that it takes back; accept: the one that it carries over
    carried_from: str = ""  # accept: the branch of the entry that it carries over
    cases: tuple[int, ...] = ()  # numbers of the cases that it is about
    undone_by: int | None = None  # number of the entry that took it back, and was not taken back itself

    def in_effect(self, now: datetime) -> bool:
        return self.undone_by is None and (self.until is None or self.until > now)


class Statement(TypedDict, total=False):
    """What is said by an entry; see there."""

    who: Required[str]
    reason: Required[str]
    scope: Required[str]
    until: datetime | None
    owner: str
    link: str


def check_entry(act: Act, statement: Statement, now: datetime) -> None:
    """Raises LedgerError where a name, a reason, or what this act needs is lacking."""
    until, owner, link = statement.get("until"), statement.get("owner", ""), statement.get("link", "")
    if act not in MEANING:
        raise LedgerError(f"act: {act!r} is none; allowed: {', '.join(MEANING)}")
    if not statement["who"].strip():
        raise LedgerError("who: nobody is named; say who decides")
    if not statement["reason"].strip():
        raise LedgerError("reason: none is given; say why, for whoever asks later")
    if until is not None and act not in ("accept", "known", "quarantine"):
        raise LedgerError(f"until: {act} has no end; allowed for accept, known and quarantine")
    if until is not None and until <= now:
        raise LedgerError(f"until: {until:%Y-%m-%d} has begun; allowed: a day to come")
    if act == "quarantine" and until is None:
        raise LedgerError("until: a quarantine needs a day on which it ends")
    if act == "quarantine" and not owner.strip():
        raise LedgerError("owner: nobody is named; say who fixes it")
    if act == "known" and not link.strip():
        raise LedgerError("link: none is given; a known issue needs the address or number of the issue")
    if link and act != "known":
        raise LedgerError(f"link: {act} has none; allowed for known")
    if owner and act != "quarantine":
        raise LedgerError(f"owner: {act} has none; allowed for quarantine")


def undone(undoes: Iterable[tuple[int, int]]) -> dict[int, int]:
    """Of (number of the undo, number of what it takes back): entry -> the undo that holds against it.

    An undo comes after what it takes back, so that the latest one holds, and decides which of those before it do.
    """
    found: dict[int, int] = {}
    for number, what in sorted(undoes, reverse=True):
        if number not in found:
            found.setdefault(what, number)
    return found

"""One decision on several groups: of which cases it is, and which it leaves out. Pure."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from validation.judging.verdict import Verdict
from validation.records.names import engine_token
from validation.records.simulation import BROKEN
from validation.review.groups import Group, Member
from validation.review.ledger import Act

MOST_KEYS = 8  # groups that the ledger names one by one


@dataclass(frozen=True, slots=True, kw_only=True)
class Bulk:
    """What is open of several groups, each case once."""

    groups: tuple[Group, ...]
    members: tuple[Member, ...]  # what the decision is of
    broken: tuple[tuple[Group, Member], ...]  # left out: each is decided alone
    not_compared: int  # left out of an acceptance: no result of the engine
    sharing: tuple[Member, ...]  # left out of an acceptance: another one in it has the same baseline

    @property
    def numbers(self) -> list[int]:
        """Of the cases in the database."""
        return sorted(member.number for member in self.members)

    @property
    def decided(self) -> int:
        """How many have a decision already, which this one replaces."""
        return sum(member.entry is not None for member in self.members)

    @property
    def engines(self) -> dict[str, Counter[str]]:
        """Engine as typed -> scenario -> cases."""
        found: dict[str, Counter[str]] = {}
        for member in self.members:
            case = member.verdict.case
            found.setdefault(engine_token(case), Counter())[case.label] += 1
        return {engine: found[engine] for engine in sorted(found)}

    @property
    def scope(self) -> str:
        """How the ledger calls it."""
        keys = [group.key for group in self.groups]
        more = f" and {len(keys) - MOST_KEYS} more" if len(keys) > MOST_KEYS else ""
        left = f", without {len(self.broken)} broken" if self.broken else ""
        groups = "group" if len(keys) == 1 else f"{len(keys)} groups:"
        cases = "1 case" if len(self.members) == 1 else f"{len(self.members)} cases"
        return f"{groups} {', '.join(keys[:MOST_KEYS])}{more}: {cases}{left}"


def bulk(groups: Sequence[Group], act: Act) -> Bulk:
    """What is broken never goes along. Of what shares a baseline only the one without settings of its own is accepted;
    none where there is no such one."""
    open_members: dict[int, tuple[Group, Member]] = {}
    for group in groups:
        for member in group.open:
            open_members.setdefault(member.number, (group, member))
    sound = [member for _, member in open_members.values() if not is_broken(member.verdict)]
    found, not_compared = sound, 0
    sharing: tuple[Member, ...] = ()
    if act == "accept":
        found = [member for member in sound if member.verdict.grounds.outcome != "adapter_failed"]
        not_compared = len(sound) - len(found)
        alone = set(_one_each(found))
        sharing = tuple(member for member in found if member.number not in alone)
        found = [member for member in found if member.number in alone]
    return Bulk(
        groups=tuple(groups),
        members=tuple(found),
        broken=tuple(pair for pair in open_members.values() if is_broken(pair[1].verdict)),
        not_compared=not_compared,
        sharing=sharing,
    )


def is_broken(verdict: Verdict) -> bool:
    """Whether the engine crashed, hung or blew up there: accepted, it would be right to do so."""
    return verdict.grounds.outcome in BROKEN


def _one_each(members: Iterable[Member]) -> list[int]:
    """The number of the one of each identity."""
    by_identity: dict[str, list[Member]] = {}
    for member in members:
        by_identity.setdefault(member.verdict.case.identity.key, []).append(member)
    numbers = []
    for alike in by_identity.values():
        plain = [one for one in alike if ":" not in one.verdict.case.engine_label]
        chosen = alike if len(alike) == 1 else plain
        numbers += [one.number for one in chosen] if len(chosen) == 1 else []
    return numbers

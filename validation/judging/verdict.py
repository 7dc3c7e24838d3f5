"""What the judge finds of a case: a word, and the numbers behind it. Sentences are made in `validation/report`."""

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, Protocol, TypeVar

from validation.judging.evidence.divergence import Divergence
from validation.records.case import Case, case_key
from validation.records.simulation import Status

Word = Literal["pass", "improved", "different", "regressed", "defect", "broken", "missing", "new", "declined"]
Move = Literal["regressed", "improved", "different"]

MEANING: dict[Word, str] = {
    "broken": "crashed, timed out, ran out of memory, or left the finite numbers",
    "defect": "breaks a law that the baseline kept",
    "regressed": "worse than the baseline by more than is allowed",
    "missing": "the baseline has a result, this run has none; or a motion could not be measured",
    "different": "changed by more than is allowed, without being better or worse",
    "improved": "better than the baseline by more than is allowed",
    "new": "nothing accepted to compare with",
    "pass": "as accepted",
    "declined": "the engine cannot represent the scene",
}
"""Every word with what it means, the gravest first: the order of reports."""


FLOOR = 1e-9
"""In the metric's own SI unit (m, m/s, rad, rad/s, s, J, kg m/s, a ratio, a count): less is round-off. Bodies of about
a metre that rest in double precision jitter and drift by 1e-17 to 1e-9."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """How far a metric may move: by a factor between the two values, and in any case by a floor."""

    factor: float
    floor: float = FLOOR  # in the metric's unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Starts:
    """The ensembles of a change whose values are their medians, or how many of their starts completed."""

    old: int  # starts
    new: int
    p: float  # that ensembles of one distribution differ so much
    effect: float | None  # chance that a start of one side is beyond one of the other; None: of how many completed
    until: float  # share of the duration that was compared


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A metric that moved by more than it may."""

    metric: str
    old: float  # NaN: what it is about did not happen
    new: float
    unit: str
    move: Move
    allowed: Allowed | str | None  # None: the metric is gone; in words, where it was stored so before
    evidence: Starts | str = ""  # "": of one run against another; in words, likewise

    @property
    def ratio(self) -> float | None:
        """|new / old|; None where that means nothing."""
        ratio = abs(self.new / self.old) if abs(self.old) >= FLOOR else math.inf
        return ratio if math.isfinite(ratio) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Defect:
    """A metric beyond what physics allows, whatever the baseline."""

    metric: str
    value: float
    limit: float
    unit: str
    standing: bool  # the baseline broke the law already


Finding = Literal[
    "outcome", "unmeasured", "nothing accepted", "completes", "scene changed", "same bits", "within", "changes"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounds:
    """What a verdict rests on, beside its changes, its defects and the divergence."""

    finding: Finding
    outcome: Status = "completed"
    why: str = ""  # of the outcome: SIGSEGV after 1.3 s
    accepted: Status | None = None  # outcome of what it was compared with; None: of nothing
    accepted_why: str = ""
    settings: tuple[tuple[str, str, str], ...] = ()  # (name, now, when accepted) of those that differ, version included
    processors: tuple[str, str] = ("", "")  # now and when accepted, where bits are not compared for it


class HasHeadline(Protocol):
    @property
    def headline(self) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    case: Case
    word: Word
    worse: bool  # the check fails: regressed, newly broke, or newly breaks a law
    grounds: Grounds
    changes: tuple[Change, ...] = ()  # the worst first
    defects: tuple[Defect, ...] = ()
    baseline: int | None = None  # number of the baseline that it was compared with
    divergence: Divergence | None = None  # where the motion first parts from the accepted one, if both are stored
    waiver: str = ""  # its mark, by which a check does not fail for it: known, quarantined, ...; not stored
    waived_by: tuple[str, str] = ("", "")  # who marked it, and why; not stored
    text: str = ""  # the sentence, of a verdict that was stored before its grounds were

    @property
    def case_key(self) -> str:
        return case_key(self.case)

    @property
    def standing(self) -> tuple[Defect, ...]:
        """Laws of physics that it breaks without a check failing for it: it did so when it was accepted, or nothing is
        accepted yet. Wrong all the same, and so is a baseline that does."""
        return tuple(defect for defect in self.defects if defect.standing or self.word != "defect")

    @property
    def metric(self) -> str:
        """The one that moved worst; "" where none did."""
        return self.changes[0].metric if self.changes else ""

    @property
    def old(self) -> float:
        return self.changes[0].old if self.changes else math.nan

    @property
    def new(self) -> float:
        return self.changes[0].new if self.changes else math.nan

    @property
    def ratio(self) -> float | None:
        return self.changes[0].ratio if self.changes else None


def exit_status(verdicts: Iterable[Verdict], *, strict: bool = False) -> int:
    """1 where a case regressed, newly broke or newly breaks a law; `strict`: also for any that is broken or missing."""
    return int(any(fails(verdict, strict=strict) for verdict in verdicts))


def fails(verdict: Verdict, *, strict: bool = False) -> bool:
    return verdict.worse or (strict and verdict.word in ("broken", "missing"))


def standing(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """Those with standing defects, what exceeds its limit most first."""

    def excess(verdict: Verdict) -> float:
        return max(abs(defect.value) / max(defect.limit, FLOOR) for defect in verdict.standing)

    return sorted((verdict for verdict in verdicts if verdict.standing), key=excess, reverse=True)


R = TypeVar("R", bound=HasHeadline)


def worst_first(pairs: Iterable[tuple[R, Verdict]]) -> list[tuple[R, Verdict]]:
    """What fails before what does not, the gravest word first; then the headline metrics, and what changed most."""
    order = list(MEANING)

    def rank(pair: tuple[R, Verdict]) -> tuple[bool, int, bool, float]:
        result, verdict = pair
        ratio = verdict.ratio or 1.0
        change = -max(ratio, 1.0 / ratio)
        return not verdict.worse, order.index(verdict.word), verdict.metric != result.headline, change

    return sorted(pairs, key=rank)


# --- JSON, for the store ------------------------------------------------------------------------------------------


def to_json(items: Iterable[Change] | Iterable[Defect]) -> str:
    def strict(value: Any) -> Any:  # JSON knows no NaN and no infinity
        return value if not isinstance(value, float) or math.isfinite(value) else str(value)

    return json.dumps([{name: strict(value) for name, value in asdict(item).items()} for item in items])


def changes_from_json(text: str) -> tuple[Change, ...]:
    return tuple(_change(_numbers(item, ("old", "new"))) for item in json.loads(text))


def _change(item: dict[str, Any]) -> Change:
    allowed, evidence = item["allowed"], item.get("evidence", "")
    if isinstance(allowed, dict):
        allowed = Allowed(**allowed)
    if isinstance(evidence, dict):
        evidence = Starts(**evidence)
    return Change(**item | {"allowed": None if allowed == "not measured" else allowed, "evidence": evidence})


def defects_from_json(text: str) -> tuple[Defect, ...]:
    return tuple(Defect(**_numbers(item, ("value", "limit"))) for item in json.loads(text))


def grounds_to_json(grounds: Grounds) -> str:
    return json.dumps(asdict(grounds))


def grounds_from_json(text: str) -> Grounds:
    data = json.loads(text)
    return Grounds(**data | {"settings": tuple(map(tuple, data["settings"])), "processors": tuple(data["processors"])})


def _numbers(item: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return item | {name: float(item[name]) for name in names}

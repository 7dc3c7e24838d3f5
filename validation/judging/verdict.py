"""What the judge finds of a case: a word, and the numbers behind it. Sentences are made in `validation/report`."""

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from enum import IntEnum
from typing import Any, Literal, Protocol, TypeVar

from validation.judging.evidence.divergence import Divergence
from validation.records.case import Case
from validation.records.outcome import Outcome, outcome_of
from validation.records.simulation import Status

Word = Literal[
    "not compared",
    "broken",
    "defect",
    "regressed",
    "mixed",
    "missing",
    "different",
    "improved",
    "new",
    "pass",
    "declined",
]
Move = Literal["regressed", "improved", "different"]

MEANING: dict[Word, str] = {
    "not compared": "Upright's own adapter failed, so nothing can be said of the engine",
    "broken": "crashed, timed out, ran out of memory, or left the finite numbers",
    "defect": "breaks a law that the baseline kept",
    "regressed": "worse than the baseline, by what happened or by the gravest change",
    "mixed": "worse and better than the baseline at once, both gravely",
    "missing": "the baseline has a result, this run has none; or a motion could not be measured",
    "different": "changed, and nothing says whether for better or worse",
    "improved": "better than the baseline, by what happened or by the gravest change",
    "new": "nothing accepted to compare with",
    "pass": "as accepted",
    "declined": "the engine cannot represent the scene",
}
"""Every word with what it means, the gravest first: the order of reports."""


FLOOR = 1e-9
"""In the metric's own SI unit (m, m/s, rad, rad/s, s, J, kg m/s, a ratio, a count): less is round-off. Bodies of about
a metre that rest in double precision jitter and drift by 1e-17 to 1e-9."""


class Weight(IntEnum):
    """How grave a change is: the graver class of its two values, on a scale of the scene (`judging.severity`)."""

    NEGLIGIBLE = 0
    VISIBLE = 1
    GROSS = 2


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
    weight: Weight | None = Weight.GROSS  # None: less than twofold; GROSS where none was stored

    @property
    def counts(self) -> bool:
        """Whether the sign of the case may hang on it."""
        return bool(self.weight)

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
    "outcome",
    "unmeasured",
    "nothing accepted",
    "completes",
    "scene changed",
    "scene unknown",
    "same bits",
    "within",
    "changes",
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
    now: tuple[
        Outcome, ...
    ] = ()  # what happened that is wrong, or of which nothing says whether it is, on this side only
    before: tuple[Outcome, ...] = ()  # likewise when accepted only
    wrong: tuple[Outcome, ...] = ()  # what happened that is wrong now, and was so when accepted, or nothing is accepted


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What a verdict has against a case, by which it is known again."""

    changes: tuple[Change, ...] = ()
    defects: tuple[Defect, ...] = ()
    happened: tuple[Outcome, ...] = ()

    @classmethod
    def stored(cls, row: Any) -> "Findings":
        """Of a row with the columns changes, defects and grounds."""
        return cls(
            changes=changes_from_json(row.changes),
            defects=defects_from_json(row.defects),
            happened=grounds_from_json(row.grounds).now if row.grounds else (),
        )

    def of(self, word: Word) -> set[str]:
        """Metrics, and kinds of what happened, that make a verdict one of this kind."""
        if word == "defect":
            return {defect.metric for defect in self.defects if not defect.standing}
        moves = ("regressed", "improved") if word == "mixed" else (word,)
        return {c.metric for c in self.changes if c.move in moves and c.counts} | {one.kind for one in self.happened}


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
        return self.case.key

    @property
    def standing(self) -> tuple[Defect, ...]:
        """Laws of physics that it breaks without a check failing for it: it did so when it was accepted, or nothing is
        accepted yet. Wrong all the same, and so is a baseline that does; as is what `grounds.wrong` has."""
        return tuple(defect for defect in self.defects if defect.standing or self.word != "defect")

    @property
    def findings(self) -> Findings:
        return Findings(changes=self.changes, defects=self.defects, happened=self.grounds.now)

    @property
    def stands_wrong(self) -> bool:
        """Whether it is wrong without a check failing for it: by a law, or by what happened."""
        return bool(self.standing or self.grounds.wrong)

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
    """1 where a case is worse or mixed, newly broke or newly breaks a law; `strict`: also for any that is broken or
    missing. Else 2 where a case that was compared before is not compared now, for a fault of ours."""
    known = list(verdicts)
    if any(fails(verdict, strict=strict) for verdict in known):
        return 1
    return 2 if any(verdict.word == "not compared" and verdict.baseline is not None for verdict in known) else 0


def fails(verdict: Verdict, *, strict: bool = False) -> bool:
    return verdict.worse or (strict and verdict.word in ("broken", "missing"))


def standing(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """Those that are wrong as they were: by what happened first, then by what exceeds its limit most."""

    def excess(verdict: Verdict) -> float:
        beyond = (abs(defect.value) / max(defect.limit, FLOOR) for defect in verdict.standing)
        return math.inf if verdict.grounds.wrong else max(beyond)

    return sorted((verdict for verdict in verdicts if verdict.stands_wrong), key=excess, reverse=True)


R = TypeVar("R", bound=HasHeadline)


def worst_first(pairs: Iterable[tuple[R, Verdict]]) -> list[tuple[R, Verdict]]:
    """What is not compared before all; what fails before what does not, the gravest word first; then what happened
    before what was measured, the headline metrics, and what changed most."""
    order = list(MEANING)

    def rank(pair: tuple[R, Verdict]) -> tuple[bool, bool, int, bool, bool, float]:
        result, verdict = pair
        ratio = verdict.ratio or 1.0
        change = -max(ratio, 1.0 / ratio)
        calm = verdict.word != "not compared", not verdict.worse, order.index(verdict.word)
        return *calm, not verdict.grounds.now, verdict.metric != result.headline, change

    return sorted(pairs, key=rank)


# --- JSON, for the store ------------------------------------------------------------------------------------------


def to_json(items: Iterable[Change] | Iterable[Defect]) -> str:
    def strict(value: Any) -> Any:  # JSON knows no NaN and no infinity
        return value if not isinstance(value, float) or math.isfinite(value) else str(value)

    return json.dumps([{name: strict(value) for name, value in asdict(item).items()} for item in items])


def changes_from_json(text: str) -> tuple[Change, ...]:
    return tuple(_change(_numbers(item, ("old", "new"))) for item in json.loads(text))


def _change(item: dict[str, Any]) -> Change:
    allowed, evidence, weight = item["allowed"], item.get("evidence", ""), item.get("weight", Weight.GROSS)
    if isinstance(allowed, dict):
        allowed = Allowed(**allowed)
    if isinstance(evidence, dict):
        evidence = Starts(**evidence)
    return Change(
        **item
        | {
            "allowed": None if allowed == "not measured" else allowed,
            "evidence": evidence,
            "weight": None if weight is None else Weight(weight),
        }
    )


def defects_from_json(text: str) -> tuple[Defect, ...]:
    return tuple(Defect(**_numbers(item, ("value", "limit"))) for item in json.loads(text))


def grounds_to_json(grounds: Grounds) -> str:
    return json.dumps(asdict(grounds))


def grounds_from_json(text: str) -> Grounds:
    data = json.loads(text)
    happened = {name: tuple(map(outcome_of, data.get(name, ()))) for name in ("now", "before", "wrong")}
    return Grounds(
        **data | happened | {"settings": tuple(map(tuple, data["settings"])), "processors": tuple(data["processors"])}
    )


def _numbers(item: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return item | {name: float(item[name]) for name in names}

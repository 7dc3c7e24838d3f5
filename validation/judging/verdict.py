"""What the judge says of a case: a word, the sentence with its figures, and the numbers behind it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, Protocol, TypeVar

from validation.judging.evidence.divergence import Divergence
from validation.records.case import Case, case_key
from validation.records.names import metric_name
from validation.records.quantities import contrast, quantity

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
NOT_MEASURED = "not measured"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A metric that moved by more than it may."""

    metric: str
    old: float  # NaN: what it is about did not happen
    new: float
    unit: str
    move: Move
    allowed: str  # in words; NOT_MEASURED where the metric is gone
    evidence: str = ""  # in words, where old and new are medians of ensembles

    @property
    def ratio(self) -> float | None:
        """|new / old|; None where that says nothing."""
        ratio = abs(self.new / self.old) if abs(self.old) >= FLOOR else math.inf
        return ratio if math.isfinite(ratio) else None

    def describe(self, case: Case) -> str:
        """With its figures; the metric by the name that it has in this case."""
        name = metric_name(self.metric, case)
        if self.allowed == NOT_MEASURED:
            return f"{name}: no longer measured, was {quantity(self.old, self.unit)}"
        sure = f" ({self.evidence})" if self.evidence else ""
        if math.isnan(self.new):
            return f"{name}: no longer happens, was {quantity(self.old, self.unit)}{sure}"
        if math.isnan(self.old):
            return f"{name}: {quantity(self.new, self.unit)}, did not happen before{sure}"
        new, old = contrast(self.new, self.old, self.unit)
        evidence = f"{self.evidence}; " if self.evidence else ""
        return f"{name} {new}, was {old} ({self._how_much()}{evidence}allowed {self.allowed})"

    def _how_much(self) -> str:
        ratio = self.ratio
        if not ratio or self.new * self.old < 0.0:
            return ""
        if abs(ratio - 1.0) < 0.5:
            return f"{100 * (ratio - 1):+.2g} %, "
        return f"{times(ratio)}, " if ratio >= 1.0 else f"{times(1 / ratio)} less, "


def times(ratio: float) -> str:
    """1.7 times, 8 times, 340 times, 2.1e+06 times"""
    return f"{ratio:.0f} times" if 100.0 <= ratio < 1e5 else f"{ratio:.2g} times"


@dataclass(frozen=True, slots=True, kw_only=True)
class Defect:
    """A metric beyond what physics allows, whatever the baseline says."""

    metric: str
    value: float
    limit: float
    unit: str
    standing: bool  # the baseline broke the law already

    def describe(self, case: Case) -> str:
        """With its figures; the metric by the name that it has in this case."""
        value, limit = contrast(self.value, self.limit, self.unit)
        return f"{metric_name(self.metric, case)} {value} (physics allows {limit})"


class HasHeadline(Protocol):
    @property
    def headline(self) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    case: Case
    word: Word
    worse: bool  # the check fails: regressed, newly broke, or newly breaks a law
    reason: str  # one sentence, with figures
    changes: tuple[Change, ...] = ()  # the worst first
    defects: tuple[Defect, ...] = ()
    baseline: int | None = None  # number of the baseline that it was compared with
    divergence: Divergence | None = None  # where the motion first parts from the accepted one, if both are stored
    waiver: str = ""  # what was said of it, so that a check does not fail for it: known, quarantined, ...; not stored

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


NOUNS: dict[Word, tuple[str, str]] = {
    "broken": ("broken", "broken"),
    "defect": ("defect", "defects"),
    "regressed": ("regression", "regressions"),
    "missing": ("missing", "missing"),
    "different": ("different", "different"),
    "improved": ("improvement", "improvements"),
    "new": ("new", "new"),
    "pass": ("unchanged", "unchanged"),
    "declined": ("declined", "declined"),
}
WAIVED_NOUNS: dict[str, tuple[str, str]] = {
    "known": ("known issue", "known issues"),
    "quarantined": ("quarantined", "quarantined"),
    "not a fault": ("said to be no fault", "said to be no fault"),
    "accepted": ("accepted", "accepted"),
}


def summary(verdicts: Iterable[Verdict]) -> str:
    """2 regressions, 1 improvement, 211 unchanged; 3 standing defects

    What is excused counts as that alone: 0 new regressions, 1 known issue, 212 unchanged.
    """
    known = list(verdicts)
    words = [verdict.word for verdict in known if not verdict.waiver]
    waivers = [verdict.waiver for verdict in known if verdict.waiver]
    counts = [(words.count(word), *NOUNS[word]) for word in MEANING]
    at = list(MEANING).index("missing")  # behind what fails
    counts[at:at] = [(waivers.count(state), *nouns) for state, nouns in WAIVED_NOUNS.items()]
    described = [f"{count} {one if count == 1 else many}" for count, one, many in counts if count]
    if waivers and not any(verdict.worse for verdict in known):
        described.insert(0, "0 new regressions")
    wrong = sum(bool(verdict.standing) for verdict in known)
    defects = f"; {wrong} standing defect{'' if wrong == 1 else 's'}" if wrong else ""
    return (", ".join(described) or "nothing was judged") + defects


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

    def place(pair: tuple[R, Verdict]) -> tuple[bool, int, bool, float]:
        result, verdict = pair
        ratio = verdict.ratio or 1.0
        change = -max(ratio, 1.0 / ratio)
        return not verdict.worse, order.index(verdict.word), verdict.metric != result.headline, change

    return sorted(pairs, key=place)


# --- JSON, for the store ------------------------------------------------------------------------------------------


def to_json(items: Iterable[Change] | Iterable[Defect]) -> str:
    def strict(value: Any) -> Any:  # JSON knows no NaN and no infinity
        return value if not isinstance(value, float) or math.isfinite(value) else str(value)

    return json.dumps([{name: strict(value) for name, value in asdict(item).items()} for item in items])


def changes_from_json(text: str) -> tuple[Change, ...]:
    return tuple(Change(**_numbers(item, ("old", "new"))) for item in json.loads(text))


def defects_from_json(text: str) -> tuple[Defect, ...]:
    return tuple(Defect(**_numbers(item, ("value", "limit"))) for item in json.loads(text))


def _numbers(item: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return item | {name: float(item[name]) for name in names}

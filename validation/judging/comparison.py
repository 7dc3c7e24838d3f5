"""What changed between two versions or settings of an engine, scenario by scenario, and what the laws say of it.

A difference between versions has no sign of its own: a fix, a decision and a regression look alike. Each metric that
moved by more than its noise is signed by the law that it measures, better or worse; what measures none is different.
Arithmetic and noise are the judge's.
"""

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal

from scenarios.scenario import Noise, Scenario
from validation.judging.changes import changes_between, defects_of
from validation.judging.ensembles import COMPLETED, EnsembleEvidence
from validation.judging.evidence.divergence import Divergence, first_divergence
from validation.judging.outcomes import Contrasted, ends_elsewhere, of_outcomes, on_one_side
from validation.judging.policy import EXACT, MEDIANS, ROUND_OFF, TWOFOLD
from validation.judging.relations import Related
from validation.judging.severity import Scales, scales_of
from validation.judging.verdict import FLOOR, Allowed, Change, Defect, Move, Weight
from validation.metrics import METRICS
from validation.records.case import Result
from validation.records.measurement import Measurement
from validation.records.outcome import Outcome
from validation.records.simulation import BROKEN
from validation.records.stored import Baseline

Sign = Literal["worse", "better", "mixed", "different", "same", "declined", "not compared"]

ROUGH: tuple[Noise, ...] = ("chaotic", "step")
"""Noise classes of the metrics that one run of each side measures only roughly."""
NEVER = datetime.min.replace(tzinfo=UTC)  # when a side of a comparison was accepted
SIGNS: dict[Move, Sign] = {"regressed": "worse", "improved": "better", "different": "different"}
RANKS = ("exact", "energy not gained", "no overlap", "joints hold", "cone", "energy kept", "momentum", "rest")
"""Beginnings of laws, the weightiest first: truth, invariants, constraints, conserved quantities, drift and jitter.
They decide where changes for the better are as grave as those for the worse."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signed:
    """A metric that moved by more than its noise."""

    change: Change
    sign: Sign
    law: str  # "" where no law says which way is better, or the motion is chaotic and one run cannot tell


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One scenario on both sides."""

    scenario: Scenario
    old: Result
    new: Result
    sign: Sign
    changes: tuple[Signed, ...] = ()  # the gravest first, and of these the worst
    now: tuple[Outcome, ...] = ()  # what happened on the new side only, of what is wrong or the opposite of before
    before: tuple[Outcome, ...] = ()  # likewise on the old side only
    broken: tuple[Defect, ...] = ()  # laws that the new side alone breaks
    mended: tuple[Defect, ...] = ()  # and the old side alone
    happened: tuple[Contrasted, ...] = ()  # in perturbed initial states that do not all agree
    related: tuple[Related, ...] = ()  # what the engine's documents promise, tried on both sides
    divergence: Divergence | None = None  # None: the same bits, or a side has no motion
    variant: str = ""  # a setting that both sides have otherwise than as typed: integrator=rk4

    @property
    def measured(self) -> bool:
        """Both sides."""
        completed = self.old.outcome == "completed" == self.new.outcome
        return bool(completed and self.old.measurements and self.new.measurements)

    @property
    def identical(self) -> bool:
        """To the last bit."""
        return "" != self.old.trajectory_hash == self.new.trajectory_hash


def compare(scenario: Scenario, old: Result, new: Result, ensemble: EnsembleEvidence | None = None) -> Comparison:
    """Of one scenario; `old` and `new` are its cases on the two sides, `ensemble` what the ensembles of both say."""
    if old.outcome == "completed" == new.outcome and old.measurements and new.measurements:
        return _moved(scenario, old, new, ensemble)
    if old.outcome == new.outcome == "declined":
        return Comparison(scenario=scenario, old=old, new=new, sign="declined")
    if "adapter_failed" in (old.outcome, new.outcome):  # which says nothing of the engine
        return Comparison(scenario=scenario, old=old, new=new, sign="not compared")
    sign: Sign = "different"
    if new.outcome in BROKEN and old.outcome == "completed":
        sign = "worse"
    elif old.outcome in BROKEN and new.outcome == "completed":
        sign = "better"
    elif old.outcome == new.outcome:
        sign = "same"
    return Comparison(scenario=scenario, old=old, new=new, sign=sign)


def with_relations(comparison: Comparison, related: Iterable[Related]) -> Comparison:
    """A promise that one side alone keeps is an invariant broken, or mended: as grave as anything else."""
    related = tuple(related)
    turned = {one.sign for one in related if one.sign != "same"}
    signs: set[Sign] = {*turned, *({comparison.sign} & {"worse", "better", "mixed"})}
    sign: Sign = comparison.sign if not turned else next(iter(signs)) if len(signs) == 1 else "mixed"
    return replace(comparison, related=related, sign=sign)


def is_chaotic(comparison: Comparison) -> bool:
    """Whether it takes perturbed initial states to say what changed: one run of each side measures only roughly a
    metric that differs by what one can see and twofold, what happens differs, or a body ends elsewhere."""
    before = {m.metric: m for m in comparison.old.measurements}
    rough = [(before[m.metric], m) for m in comparison.new.measurements if m.noise in ROUGH and m.metric in before]
    if comparison.identical:
        return False
    if ends_elsewhere(comparison.scenario.scene, comparison.old, comparison.new):
        return True
    if any(m.noise == "chaotic" for _, m in rough) and decides_at_once(comparison):
        return True
    scales = scales_of(comparison.scenario.scene)
    return any((weight_of(scales, _difference(was, now)) or 0) > Weight.NEGLIGIBLE for was, now in rough)


def decides_at_once(comparison: Comparison) -> bool:
    """Whether something else happens, or one side alone breaks a law: that comes before every metric."""
    laws = comparison.broken or comparison.mended
    return bool(laws) or of_outcomes(comparison.old, comparison.new) is not None


def _difference(was: Measurement, now: Measurement) -> Change:
    least = max(FLOOR, was.resolution or 0.0, now.resolution or 0.0)
    allowed = Allowed(factor=MEDIANS, floor=least)
    move: Move = "different"
    return Change(metric=now.metric, old=was.value, new=now.value, unit=now.unit, move=move, allowed=allowed)


def law_of(metric: str) -> str:
    """The law or invariant that it measures; "" where none says which way is better."""
    return METRICS[metric].law if metric in METRICS else ""


def _moved(scenario: Scenario, old: Result, new: Result, ensemble: EnsembleEvidence | None) -> Comparison:
    broken, mended = (
        tuple(defect for defect in defects_of(*sides, scenario.laws) if not defect.standing)
        for sides in ((old, new), (new, old))
    )
    scales = scales_of(scenario.scene)
    changes = [replace(c, weight=weight_of(scales, c)) for c in changes_between(old, new, ensemble)]
    starts = ensemble.happened if ensemble else ()
    now, before = on_one_side(old, new, starts)
    sign = _sign_of(of_outcomes(old, new, starts), changes, broken, mended)
    chaotic = any(m.noise == "chaotic" for side in (old, new) for m in side.measurements)
    predictable = ensemble.to_the_end if ensemble else not chaotic
    if sign == "same" and predictable and ends_elsewhere(scenario.scene, old, new):
        sign = "different"
    return Comparison(
        scenario=scenario,
        old=old,
        new=new,
        sign=sign,
        changes=tuple(map(_signed, sorted(changes, key=lambda change: _order_of(sign, change)))),
        now=now,
        before=before,
        broken=broken,
        mended=mended,
        happened=starts,
        divergence=_divergence(scenario, old, new),
    )


def _sign_of(
    happened: Sign | None, changes: Sequence[Change], broken: Sequence[Defect], mended: Sequence[Defect]
) -> Sign:
    if happened == "different":  # nothing says which of the two should happen: what is gross has its sign all the same
        gross = of_severity([change for change in changes if change.weight == Weight.GROSS], broken, mended)
        return happened if gross == "same" else gross
    return happened or of_severity(changes, broken, mended)


def _order_of(sign: Sign, change: Change) -> tuple[bool, int]:
    """In the list: what the sign is of comes first, the gravest before the others; `mixed` has both."""
    agrees = sign == "mixed" or SIGNS[change.move] == sign
    return not (agrees and change.counts), 1 if change.weight is None else -change.weight


def of_severity(changes: Sequence[Change], broken: Sequence[Defect], mended: Sequence[Defect]) -> Sign:
    """By the gravest change for the worse and the gravest for the better; a law newly broken is gross.

    Its mirror image by construction: worse and better are looked at alike.
    """
    sides: dict[Move, list[tuple[Weight, int, float]]] = {"regressed": [], "improved": [], "different": []}
    for change in changes:
        if change.weight is not None:
            sides[change.move].append((change.weight, -rank(change.metric), _size(change)))
    sides["regressed"] += [(Weight.GROSS, 0, math.inf) for _ in broken]
    sides["improved"] += [(Weight.GROSS, 0, math.inf) for _ in mended]
    loss, gain = (max(sides[move], default=(Weight.NEGLIGIBLE, -len(RANKS), 1.0)) for move in ("regressed", "improved"))
    if max(loss[0], gain[0]) == Weight.NEGLIGIBLE:
        return "different" if max(sides["different"], default=loss)[0] > Weight.NEGLIGIBLE else "same"
    if loss[0] == gain[0] == Weight.GROSS:
        return "mixed"
    return "worse" if loss > gain else "better" if gain > loss else "mixed"


def weight_of(scales: Scales, change: Change) -> Weight | None:
    """Of a change, the graver class of its two values; None where they are not TWOFOLD apart, also of two classes:
    the limits between these are round figures, which a small change may cross."""
    law = law_of(change.metric)
    if change.allowed is None:  # one side has not measured it: listed, and no sign of the motion
        return None
    if change.metric == COMPLETED:
        return Weight.GROSS
    if math.isnan(change.old) != math.isnan(change.new):
        return Weight.GROSS if law.startswith("exact") else Weight.VISIBLE
    if _size(change) < TWOFOLD:
        return None
    before, after = (scales.weight(change.metric, change.unit, value) for value in (change.old, change.new))
    small = min(abs(change.old), abs(change.new))
    if law.startswith("exact") and _size(change) >= EXACT and small <= ROUND_OFF:
        return max(before, after, Weight.VISIBLE)
    return max(before, after)


def rank(metric: str) -> int:
    law = law_of(metric)
    return next((i for i, beginning in enumerate(RANKS) if law.startswith(beginning)), len(RANKS))


def _size(change: Change) -> float:
    """The larger of the two over the smaller; infinite where one is 0 or beyond all bounds, or where they lie on two
    sides of 0 and neither is better."""
    if change.move == "different" and change.old * change.new < 0.0:
        return math.inf
    old, new = abs(change.old), abs(change.new)
    if old == new:
        return 1.0
    if not (math.isfinite(old) and math.isfinite(new)) or min(old, new) == 0.0:
        return math.inf
    return max(old, new) / min(old, new)


def _signed(change: Change) -> Signed:
    sign = SIGNS[change.move]
    return Signed(change=change, sign=sign, law="" if sign == "different" else law_of(change.metric))


def _divergence(scenario: Scenario, old: Result, new: Result) -> Divergence | None:
    before, after = old.trajectory, new.trajectory
    if before is None or after is None or old.trajectory_hash == new.trajectory_hash:
        return None
    scene = scenario.scene
    return first_divergence(before, after, [member.name for member in (*scene.bodies, *scene.boundaries)])


def as_baseline(old: Result) -> Baseline:
    """The judge compares with what is accepted; here that is the other side."""
    return Baseline(number=0, result=old, branch="", who="", when=NEVER, reason="", scope="")


# --- of all -------------------------------------------------------------------------------------------------------


def cost_ratio(comparisons: Iterable[Comparison]) -> tuple[float, int] | None:
    """Median over cases of the time of the new side's steps over the old side's, and of how many; None of none."""
    ratios = [
        one.new.stepping_time / max(one.old.stepping_time, 1e-12)
        for one in comparisons
        if one.old.step_count and one.new.step_count
    ]
    ratios = [ratio for ratio in ratios if math.isfinite(ratio)]
    return (statistics.median(ratios), len(ratios)) if ratios else None


def settings_apart(comparisons: Iterable[Comparison]) -> dict[str, tuple[object, object]]:
    """Settings that the two sides did not share in some scenario, those that only one side has among them."""
    apart: dict[str, tuple[object, object]] = {}
    for comparison in comparisons:
        if "declined" in (comparison.old.outcome, comparison.new.outcome):
            continue
        before, after = comparison.old.case.settings, comparison.new.case.settings
        for name in dict.fromkeys((*before, *after)):
            if before.get(name) != after.get(name):
                apart.setdefault(name, (before.get(name, "not there"), after.get(name, "not there")))
    return apart

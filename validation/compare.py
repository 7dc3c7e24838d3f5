"""What changed between two versions or settings of an engine, scenario by scenario, and what the laws say of it.

A difference between versions has no sign of its own: a fix, a decision and a regression look alike. Each metric that
moved by more than its noise is signed by the law that it measures, better or worse; what measures none is different.
Arithmetic and noise are the judge's.
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from scenarios.scenario import Noise, ParameterError, Scenario
from validation.case import Case, CaseResult
from validation.ensembles import EnsembleEvidence, settled
from validation.ensembles import compare as compare_ensembles
from validation.evidence.divergence import Divergence, first_divergence
from validation.judge import judge
from validation.measurement import Measurement
from validation.policy import MEDIANS
from validation.simulation import BROKEN
from validation.store.errors import StoreError
from validation.store.records import Baseline, StoredResult
from validation.verdict import FLOOR, Change, Defect, Move, Verdict

if TYPE_CHECKING:
    from validation.store import Store

Sign = Literal["worse", "better", "different", "same", "declined"]

LAWS: dict[str, str] = {
    "truth_error_goal": "exact solution",
    "truth_error_position": "exact motion",
    "truth_error_angle": "exact motion",
    "truth_error_event_time": "exact impacts",
    "energy_drift": "energy kept",
    "energy_gain": "energy not gained",
    "momentum_drift": "momentum kept",
    "angular_momentum_drift": "momentum kept",
    "penetration_mean": "no overlap",
    "penetration_max": "no overlap",
    "penetration_final": "no overlap",
    "rest_drift": "rest",
    "jitter_velocity": "rest",
    "jitter_position": "rest",
    "cone_violation": "friction cone",
    "joint_gap": "joints hold",
}
"""Metric -> the law or invariant that it measures, for every metric of which less is better."""
ROUGH: tuple[Noise, ...] = ("chaotic", "step")
"""Noise classes of the metrics that one run of each side tells only roughly."""
SIGNS: dict[Move, Sign] = {"regressed": "worse", "improved": "better", "different": "different"}


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
    old: CaseResult
    new: CaseResult
    sign: Sign
    told: str  # of the outcomes and laws, in words; "" where the changes say it all
    changes: tuple[Signed, ...] = ()  # the worst first
    divergence: Divergence | None = None  # None: the same bits, or a side has no motion
    variant: str = ""  # a setting that both sides have otherwise than as typed: integrator=rk4

    @property
    def identical(self) -> bool:
        """To the last bit."""
        hashes = [StoredResult.of(side).trajectory_hash for side in (self.old, self.new)]
        return bool(hashes[0]) and hashes[0] == hashes[1]


def compare(
    scenario: Scenario, old: CaseResult, new: CaseResult, ensemble: EnsembleEvidence | None = None
) -> Comparison:
    """Of one scenario; `old` and `new` are its cases on the two sides, `ensemble` what perturbed starts of both say."""
    before, after = old.simulation, new.simulation
    if before.outcome == "completed" == after.outcome and old.measurements and new.measurements:
        return _moved(scenario, old, new, ensemble)
    outcomes = f"{_outcome(old)} \N{RIGHTWARDS ARROW} {_outcome(new)}"
    if before.outcome == after.outcome == "declined":
        return Comparison(scenario=scenario, old=old, new=new, sign="declined", told=after.reason)
    sign: Sign = "different"
    if after.outcome in BROKEN and before.outcome == "completed":
        sign = "worse"
    elif before.outcome in BROKEN and after.outcome == "completed":
        sign = "better"
    elif before.outcome == after.outcome:
        sign = "same"
    return Comparison(scenario=scenario, old=old, new=new, sign=sign, told=outcomes)


def told_roughly(comparison: Comparison) -> bool:
    """Whether it takes perturbed starts to say what changed: a metric moved that one run of each side tells only
    roughly, or a chaotic one that a law signs is apart by as much as ensembles can tell, which one run cannot."""
    before = {m.metric: m for m in comparison.old.measurements}
    after = {m.metric: m for m in comparison.new.measurements}
    moved = any(after[s.change.metric].noise in ROUGH for s in comparison.changes if s.change.metric in after)
    return moved or any(
        m.noise == "chaotic" and metric in LAWS and metric in before and _apart(before[metric], m)
        for metric, m in after.items()
    )


def _apart(was: Measurement, now: Measurement) -> bool:
    old, new = abs(was.value), abs(now.value)
    if math.isnan(old) or math.isnan(new):
        return math.isnan(old) != math.isnan(new)
    least = max(FLOOR, was.resolution or 0.0, now.resolution or 0.0)
    return abs(new - old) > max(least, (MEDIANS - 1.0) * min(old, new))


def stored_verdicts(store: Store, pairs: Sequence[tuple[StoredResult, StoredResult]]) -> list[Verdict]:
    """The judge's on stored results (old, new), as if the old ones were accepted: with the laws of their scenarios, and
    the ensembles that the store has of both, settled together."""
    compared = {}
    for i, (old, new) in enumerate(pairs):
        same = old.trajectory_hash == new.trajectory_hash or not (old.trajectory_hash and new.trajectory_hash)
        if same or not any(m.noise in ROUGH for m in new.measurements):
            continue
        sides = [store.ensemble(side.number) for side in (old, new)]
        if sides[0] and sides[1]:
            compared[i] = compare_ensembles(sides[0], sides[1])
    evidence = settled(compared)
    laws: dict[tuple[str, str], Mapping[str, float]] = {}
    for _, new in pairs:
        which = new.case.label, new.case.scene_hash
        if which not in laws and new.measurements:
            laws[which] = _laws_of(store, new.case)
    return [
        judge(_as_baseline(old), new, laws.get((new.case.label, new.case.scene_hash)), ensemble=evidence.get(i))
        for i, (old, new) in enumerate(pairs)
    ]


def stored_scenario(store: Store, case: Case) -> Scenario:
    """Of the catalogue by its label; of a scene file from the stored scene, for the file may be gone. Raises
    ParameterError where the catalogue has it no more."""
    from scenarios.catalogue import scenario_of
    from scenarios.catalogue.scene_file import scenario_from_scene

    if "content" in json.loads(case.identity.parameters):
        return scenario_from_scene(case.identity.scenario, store.scene(case.scene_hash))
    if not _is_of_catalogue(case):  # no file is read because a database names it
        raise ParameterError(f"{case.label}: no scenario of the catalogue")
    return scenario_of(case.label)


def _is_of_catalogue(case: Case) -> bool:
    from scenarios.catalogue import FAMILIES

    return "content" not in json.loads(case.identity.parameters) and case.label.partition(":")[0] in FAMILIES


@lru_cache(maxsize=4096)
def _catalogue_laws(label: str) -> Mapping[str, float]:
    """Kept: a page that compares runs asks for a hundred scenarios each time, and building them is most of its work."""
    from scenarios.catalogue import scenario_of

    return MappingProxyType(dict(scenario_of(label).laws))


def _laws_of(store: Store, case: Case) -> Mapping[str, float]:
    try:
        if _is_of_catalogue(case):
            return _catalogue_laws(case.label)
        return stored_scenario(store, case).laws
    except (ParameterError, StoreError):  # a scenario or scene that there is no more has no laws either
        return {}


def _moved(scenario: Scenario, old: CaseResult, new: CaseResult, ensemble: EnsembleEvidence | None) -> Comparison:
    verdict = judge(_as_baseline(old), new, scenario.laws, ensemble=ensemble)
    broken = {defect.metric for defect in verdict.defects}
    fresh = [defect for defect in verdict.defects if not defect.standing]
    mended = [defect for defect in judge(None, old, scenario.laws).defects if defect.metric not in broken]
    changes = tuple(_signed(change) for change in verdict.changes)
    signs = {signed.sign for signed in changes}
    sign: Sign = "same"
    if fresh or "worse" in signs:
        sign = "worse"
    elif mended or "better" in signs:
        sign = "better"
    elif signs:
        sign = "different"
    told = [*_laws("breaks", fresh, new), *_laws("no longer breaks", mended, new)]
    return Comparison(
        scenario=scenario,
        old=old,
        new=new,
        sign=sign,
        told="; ".join(told),
        changes=changes,
        divergence=_divergence(scenario, old, new),
    )


def _signed(change: Change) -> Signed:
    sign = SIGNS[change.move]
    return Signed(change=change, sign=sign, law="" if sign == "different" else LAWS.get(change.metric, ""))


def _laws(what: str, defects: Iterable[Defect], result: CaseResult) -> list[str]:
    return [f"{what} a law: {defect.told(result.case)}" for defect in defects]


def _divergence(scenario: Scenario, old: CaseResult, new: CaseResult) -> Divergence | None:
    before, after = old.simulation.trajectory, new.simulation.trajectory
    if before is None or after is None or before.state_hash == after.state_hash:
        return None
    scene = scenario.scene
    return first_divergence(before, after, [member.name for member in (*scene.bodies, *scene.boundaries)])


def _as_baseline(old: CaseResult | StoredResult) -> Baseline:
    """The judge compares with what is accepted; here that is the other side."""
    return Baseline(
        number=0, result=StoredResult.of(old), branch="", who="", when=datetime.now(UTC), reason="", scope=""
    )


def _outcome(result: CaseResult) -> str:
    word = result.simulation.outcome.replace("_", " ")
    return f"{word} ({result.simulation.reason})" if result.simulation.reason else word


# --- of all -------------------------------------------------------------------------------------------------------


def cost_ratio(comparisons: Iterable[Comparison]) -> tuple[float, int] | None:
    """Median over cases of the time of the new side's steps over the old side's, and of how many; None of none."""
    ratios = []
    for comparison in comparisons:
        times = [side.simulation.step_times for side in (comparison.old, comparison.new)]
        if times[0] is not None and times[1] is not None:
            ratios.append(float(times[1].sum()) / max(float(times[0].sum()), 1e-12))
    ratios = [ratio for ratio in ratios if math.isfinite(ratio)]
    return (statistics.median(ratios), len(ratios)) if ratios else None


def settings_apart(comparisons: Iterable[Comparison]) -> dict[str, tuple[object, object]]:
    """Settings that the two sides did not share in some scenario, those that only one side has among them."""
    apart: dict[str, tuple[object, object]] = {}
    for comparison in comparisons:
        if "declined" in (comparison.old.simulation.outcome, comparison.new.simulation.outcome):
            continue
        before, after = comparison.old.case.settings, comparison.new.case.settings
        for name in dict.fromkeys((*before, *after)):
            if before.get(name) != after.get(name):
                apart.setdefault(name, (before.get(name, "not there"), after.get(name, "not there")))
    return apart

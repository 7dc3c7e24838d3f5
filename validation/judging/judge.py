"""The judge: arithmetic. What was accepted and what was measured in, a verdict with its grounds out.

Pure. First the outcome, then the motion (the same bits: nothing has changed), then metric by metric, each by its noise
class: by ensembles where there are two, else one run against another. The limits are those of `policy.py`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from reference_engine import elementary
from scenarios.scenario import Noise
from validation.judging.convergence import ORDER
from validation.judging.ensembles import EnsembleEvidence
from validation.judging.evidence.divergence import Divergence
from validation.judging.policy import ALLOWANCES, SAME_BITS_EVERYWHERE
from validation.judging.verdict import FLOOR, Allowed, Change, Defect, Finding, Grounds, Move, Verdict, Word
from validation.judging.verdict import exit_status as exit_status
from validation.records.case import Case, Result
from validation.records.measurement import Measurement
from validation.records.simulation import BROKEN, Status
from validation.records.stored import Baseline

# --- the verdict -------------------------------------------------------------------------------------------------


def judge(
    baseline: Baseline | None,
    found: Result,
    laws: Mapping[str, float] | None = None,
    divergence: Divergence | None = None,
    ensemble: EnsembleEvidence | None = None,
    *,
    scene_changed: bool = False,
) -> Verdict:
    """One case against what was accepted for its identity; `laws` are the scenario's limits, metric -> the most.

    `divergence` is where the motion first parts from the accepted one. `ensemble` is what the
    perturbed initial states of both say, of a whole check settled together. `scene_changed`: a default of the scenario
    is another one than when it was accepted, so that this is another scene, of which nothing is accepted yet.
    """
    defects = _defects(baseline, found, laws or {})
    accepted: Status | None = None if baseline is None else baseline.result.outcome
    moved = baseline is not None and "" != found.trajectory_hash != baseline.result.trajectory_hash != ""
    unequal = baseline is not None and moved and not bits_are_compared(baseline.result.case, found.case)

    def conclude(word: Word, finding: Finding, *, worse: bool = False, changes: Sequence[Change] = ()) -> Verdict:
        before = None if baseline is None else baseline.result
        return Verdict(
            case=found.case,
            word=word,
            worse=worse,
            grounds=Grounds(
                finding=finding,
                outcome=found.outcome,
                why=found.reason,
                accepted=accepted,
                accepted_why=before.reason if before else "",
                settings=_settings_apart(before.case, found.case) if before else (),
                processors=(found.case.processor, before.case.processor) if before and unequal else ("", ""),
            ),
            changes=tuple(changes),
            defects=defects,
            baseline=None if baseline is None else baseline.number,
            divergence=None if unequal else divergence,
        )

    if found.outcome in BROKEN:
        return conclude("broken", "outcome", worse=accepted is not None and accepted not in BROKEN)
    if found.outcome == "declined":
        return conclude("declined" if accepted in (None, "declined") else "missing", "outcome")
    known_unmeasured = baseline is not None and accepted == "completed" and not baseline.result.measurements
    if not found.measurements and not known_unmeasured:
        return conclude("missing", "unmeasured")
    if baseline is None:
        return conclude("new", "nothing accepted")
    if accepted != "completed":
        return conclude("improved" if accepted in BROKEN else "new", "completes")
    if scene_changed:
        return conclude("different", "scene changed")
    if found.trajectory_hash and found.trajectory_hash == baseline.result.trajectory_hash:
        return conclude("pass", "same bits")
    changes = _changes(baseline.result, found, ensemble)
    if any(not defect.standing for defect in defects):
        return conclude("defect", "changes", worse=True, changes=changes)
    if not changes:
        return conclude("pass", "within")
    return conclude(changes[0].move, "changes", worse=changes[0].move == "regressed", changes=changes)


# --- metric by metric ---------------------------------------------------------------------------------------------

GRAVITY_OF: dict[Move, int] = {"regressed": 0, "different": 1, "improved": 2}
NO_WORSE = 3
"""Different, but of a metric that has no worse side, or roughly to its better side: what improves comes first."""
TRUST: dict[Noise, int] = {"exact": 0, "tolerance": 0, "step": 0, "round-off": 1, "chaotic": 2, "timing": 3}


def _changes(old: Result, new: Result, ensemble: EnsembleEvidence | None = None) -> list[Change]:
    """The worst first: regressed before different before improved before different and no worse; in each the headline,
    then what repeats best.

    Of a metric that both ensembles and single runs have, the ensembles are reported.
    """
    before = {m.metric: m for m in old.measurements}
    after = {m.metric: m for m in new.measurements}
    found: list[tuple[tuple[Any, ...], Change]] = []
    of_ensembles = {change.metric: change for change in ensemble.changes} if ensemble else {}
    for metric, change in of_ensembles.items():
        size = abs(elementary.log(change.ratio)) if change.ratio else math.inf
        neutral = metric in before and before[metric].better == "neither"
        gravity = NO_WORSE if neutral else GRAVITY_OF[change.move]
        found.append(((gravity, metric != new.headline, 0, -size), change))
    for metric, was in before.items():
        decided = ensemble is not None and ensemble.decides(metric, was.noise)
        if was.noise == "timing" or decided or metric in of_ensembles:
            continue
        now = after.get(metric)
        if now is None and metric == ORDER:
            continue  # measured where it is asked for
        if now is None:
            gone = Change(metric=metric, old=was.value, new=math.nan, unit=was.unit, move="different", allowed=None)
            found.append(((GRAVITY_OF["different"], 0, 0, 0.0), gone))
            continue
        move = _move(was, now)
        if move is None:
            continue
        change = Change(
            metric=metric,
            old=was.value,
            new=now.value,
            unit=now.unit,
            move=move,
            allowed=Allowed(factor=ALLOWANCES[now.noise].factor, floor=_floor(was, now)),
        )
        size = abs(elementary.log(change.ratio)) if change.ratio else math.inf
        no_worse = move == "different" and (now.better == "neither" or _direction(was, now) == "improved")
        gravity = NO_WORSE if no_worse else GRAVITY_OF[move]
        found.append(((gravity, metric != new.headline, TRUST[now.noise], -size), change))
    return [change for _, change in sorted(found, key=lambda pair: pair[0])]


def _move(was: Measurement, now: Measurement) -> Move | None:
    """None where the metric stayed within its allowance."""
    move = _direction(was, now)
    # One run of a chaotic motion cannot tell worse from otherwise.
    return "different" if move is not None and now.noise == "chaotic" else move


def _direction(was: Measurement, now: Measurement) -> Move | None:
    old, new = was.value, now.value
    if math.isnan(old) or math.isnan(new):
        if math.isnan(old) and math.isnan(new):
            return None
        if now.better == "neither":
            return "different"
        return "regressed" if math.isnan(new) else "improved"
    if not _apart(was, now):
        return None
    if now.better == "neither":
        return "different"
    if now.better == "lower":  # an error may carry a sign; what counts is how far from 0 it is
        old, new = abs(old), abs(new)
        if not _apart(replace(was, value=old), replace(now, value=new)):
            return "different"
    return "regressed" if (new > old) == (now.better == "lower") else "improved"


def _apart(was: Measurement, now: Measurement) -> bool:
    return now.value != was.value and abs(now.value - was.value) > allowed_move(was, now)


def allowed_move(was: Measurement, now: Measurement) -> float:
    """By how much one run may differ from the accepted one, in the metric's unit; not for timing."""
    old, new, allowed = was.value, now.value, ALLOWANCES[now.noise]
    nearer_to_0 = min(abs(new), abs(old)) if new * old > 0.0 else 0.0
    return max((allowed.factor - 1.0) * max(nearer_to_0, allowed.least), _floor(was, now))


def _floor(was: Measurement, now: Measurement) -> float:
    """A resolution that is no number resolves nothing, and so allows nothing."""
    resolutions = (m.resolution or 0.0 for m in (was, now))
    return max((FLOOR, *(r for r in resolutions if math.isfinite(r))))


def _defects(baseline: Baseline | None, found: Result, laws: Mapping[str, float]) -> tuple[Defect, ...]:
    """One is standing where the baseline broke the law already, or kept it by less than the metric's own noise.

    What overflows is infinite and breaks every law; NaN means that nothing happened, which breaks none.
    """
    accepted = {} if baseline is None else {m.metric: m for m in baseline.result.measurements}
    return tuple(
        Defect(
            metric=m.metric,
            value=m.value,
            limit=laws[m.metric],
            unit=m.unit,
            standing=_stood(accepted.get(m.metric), m, laws[m.metric]),
        )
        for m in found.measurements
        if m.metric in laws and abs(m.value) > laws[m.metric]
    )


def _stood(was: Measurement | None, now: Measurement, limit: float) -> bool:
    return was is not None and (abs(was.value) > limit or not _apart(was, now))


# --- what was run otherwise ---------------------------------------------------------------------------------------


def _settings_apart(old: Case, new: Case) -> tuple[tuple[str, str, str], ...]:
    """(name, now, when accepted) of the settings that differ, and of the engine's version."""
    names = dict.fromkeys((*new.settings, *old.settings))
    apart = [(name, str(new.settings.get(name, "not set")), str(old.settings.get(name, "not set"))) for name in names]
    apart.append((new.identity.engine, new.engine_version, old.engine_version))
    return tuple((name, now, was) for name, now, was in apart if now != was)


def bits_are_compared(old: Case, new: Case) -> bool:
    """Not where the processor or the C library is another one, on which an engine's bits depend but for our own."""
    known = old.processor and new.processor and new.identity.engine not in SAME_BITS_EVERYWHERE
    return not known or old.processor == new.processor

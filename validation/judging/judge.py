"""The judge: arithmetic with words. What was accepted and what was measured in, a verdict with its reason out.

Pure. First the outcome, then the motion (the same bits: nothing has changed), then metric by metric, each by its noise
class: by ensembles where there are two, else one run against another. The figures are those of `policy.py`.
"""

from __future__ import annotations

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
from validation.judging.verdict import FLOOR, NOT_MEASURED, Change, Defect, Move, Verdict, Word
from validation.judging.verdict import MEANING as MEANING
from validation.judging.verdict import exit_status as exit_status
from validation.judging.verdict import summary as summary
from validation.records.case import Case, Result
from validation.records.measurement import Measurement
from validation.records.simulation import BROKEN, Outcome
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

    `divergence` is where the motion first parts from the accepted one; the reason ends with it. `ensemble` is what the
    perturbed starts of both say, of a whole check settled together. `scene_changed`: a default of the scenario is
    another one than when it was accepted, so that this is another scene, of which nothing is accepted yet.
    """
    defects = _defects(baseline, found, laws or {})
    number = None if baseline is None else baseline.number

    moved = baseline is not None and "" != found.trajectory_hash != baseline.result.trajectory_hash != ""
    unequal = _processors(baseline.result.case, found.case) if baseline is not None and moved else ""

    def conclude(word: Word, reason: str, *, worse: bool = False, changes: Sequence[Change] = ()) -> Verdict:
        if baseline is not None and word not in ("pass", "declined"):
            reason += _provenance(baseline.result.case, found.case)
        if unequal:
            reason += f"; bits are not compared: {unequal}"
        elif divergence is not None:
            reason += f"; {divergence.describe()}"
        return Verdict(
            case=found.case,
            word=word,
            worse=worse,
            reason=reason,
            changes=tuple(changes),
            defects=defects,
            baseline=number,
            divergence=None if unequal else divergence,
        )

    what_is = _describe_outcome(found)
    accepted: Outcome | None = None if baseline is None else baseline.result.outcome
    if found.outcome in BROKEN:
        if baseline is None:
            return conclude("broken", f"{what_is}; nothing accepted to compare with")
        if accepted in BROKEN:
            return conclude("broken", f"{what_is}; accepted as {_describe_outcome(baseline.result)}")
        return conclude("broken", f"{what_is}; {_describe_outcome(baseline.result)} when accepted", worse=True)
    if found.outcome == "declined":
        if baseline is None or accepted == "declined":
            return conclude("declined", found.reason)
        return conclude("missing", f"{what_is}; {_describe_outcome(baseline.result)} when accepted")
    known_unmeasured = baseline is not None and accepted == "completed" and not baseline.result.measurements
    if not found.measurements and not known_unmeasured:
        return conclude("missing", f"nothing was measured ({found.reason or 'no reason given'})")
    broken_limits = "; ".join(f"breaks a law: {defect.describe(found.case)}" for defect in defects)
    if baseline is None:
        return conclude("new", "nothing accepted to compare with" + (f"; {broken_limits}" if defects else ""))
    if accepted != "completed":
        word: Word = "improved" if accepted in BROKEN else "new"
        before = f"{_describe_outcome(baseline.result)} when accepted"
        return conclude(word, f"completes now; {before}" + (f"; {broken_limits}" if defects else ""))
    if scene_changed:
        return conclude(
            "different",
            "the scene changed since it was accepted, accept it anew" + (f"; {broken_limits}" if defects else ""),
        )
    if found.trajectory_hash and found.trajectory_hash == baseline.result.trajectory_hash:
        return conclude("pass", "bit-identical" + (f"; as accepted, {broken_limits}" if defects else ""))

    changes = _changes(baseline.result, found, ensemble)
    fresh = [defect for defect in defects if not defect.standing]
    described = "; ".join(change.describe(found.case) for change in changes[:3])
    more = f"; and {len(changes) - 3} more" if len(changes) > 3 else ""
    if fresh:
        broken = "; ".join(f"breaks a law that it kept: {defect.describe(found.case)}" for defect in fresh)
        return conclude("defect", broken + (f"; {described}{more}" if changes else ""), worse=True, changes=changes)
    if not changes:
        kept = ("" if unequal else "the motion differs, ") + "no metric moved by more than is allowed"
        return conclude("pass", kept + (f"; {broken_limits}" if defects else ""))
    word = changes[0].move
    return conclude(word, described + more, worse=word == "regressed", changes=changes)


# --- metric by metric ---------------------------------------------------------------------------------------------

GRAVITY_OF: dict[Move, int] = {"regressed": 0, "different": 1, "improved": 2}
NO_WORSE = 3
"""Different, but of a metric that has no worse side, or roughly to its better side: what improves comes first."""
TRUST: dict[Noise, int] = {"exact": 0, "tolerance": 0, "step": 0, "round-off": 1, "chaotic": 2, "timing": 3}


def _changes(old: Result, new: Result, ensemble: EnsembleEvidence | None = None) -> list[Change]:
    """The worst first: regressed before different before improved before different and no worse; in each the headline,
    then what repeats best.

    Of a metric that ensembles and single runs tell of, the ensembles are told.
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
            gone = Change(
                metric=metric, old=was.value, new=math.nan, unit=was.unit, move="different", allowed=NOT_MEASURED
            )
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
            allowed=ALLOWANCES[now.noise].words(_floor(was, now), now.unit),
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

    What overflows is infinite and breaks every law; NaN says that nothing happened, which breaks none.
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


# --- words --------------------------------------------------------------------------------------------------------


def _describe_outcome(result: Result) -> str:
    """crashed (SIGSEGV after 1.3 s)"""
    word = result.outcome.replace("_", " ")
    return f"{word} ({result.reason})" if result.reason else word


def _provenance(old: Case, new: Case) -> str:
    """What was run otherwise than when it was accepted: ` [iterations 2, was 50; pymunk 7.3.1, was 7.3.0]`."""
    parts = []
    for name in dict.fromkeys((*new.settings, *old.settings)):
        now, was = new.settings.get(name, "not set"), old.settings.get(name, "not set")
        if now != was:
            parts.append(f"{name} {now}, was {was}")
    if old.engine_version != new.engine_version:
        parts.append(f"{new.identity.engine} {new.engine_version}, was {old.engine_version}")
    return f" [{'; '.join(parts)}]" if parts else ""


def bits_are_compared(old: Case, new: Case) -> bool:
    """Not where the processor or the C library is another one, on which an engine's bits depend but for our own."""
    known = old.processor and new.processor and new.identity.engine not in SAME_BITS_EVERYWHERE
    return not known or old.processor == new.processor


def _processors(old: Case, new: Case) -> str:
    """What differs: `libm-5f2a91c0, was fma libm-0c1d2e3f`; "" where bits are compared."""
    if bits_are_compared(old, new):
        return ""
    now, was = new.processor.split(), old.processor.split()
    fresh, gone = ([word for word in one if word not in other] for one, other in ((now, was), (was, now)))
    return f"{' '.join(fresh) or 'less'}, was {' '.join(gone) or 'without'}"

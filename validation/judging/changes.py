"""What moved from one result to another by more than its noise, metric by metric, and which laws a result breaks.

Each metric by its noise class: by ensembles where there are two, else one run against another. The limits are those of
`policy.py`. Pure.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from reference_engine import elementary
from scenarios.scenario import Noise
from validation.judging.convergence import ORDER
from validation.judging.ensembles import EnsembleEvidence
from validation.judging.policy import ALLOWANCES
from validation.judging.relations import EXCESS
from validation.judging.verdict import FLOOR, Allowed, Change, Defect, Move
from validation.records.case import Result
from validation.records.measurement import Measurement

GRAVITY_OF: dict[Move, int] = {"regressed": 0, "different": 1, "improved": 2}
NO_WORSE = 3
"""Different, but of a metric that has no worse side, or roughly to its better side: what improves comes first."""
LOST: dict[str, Any] = {"move": "different", "allowed": None}
TRUST: dict[Noise, int] = {"exact": 0, "tolerance": 0, "step": 0, "round-off": 1, "chaotic": 2, "timing": 3}


def changes_between(old: Result, new: Result, ensemble: EnsembleEvidence | None = None) -> list[Change]:
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
        if now is None:
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
    gone = [Change(metric=m.metric, unit=m.unit, old=m.value, new=math.nan, **LOST) for m in _without(before, after)]
    come = [Change(metric=m.metric, unit=m.unit, old=math.nan, new=m.value, **LOST) for m in _without(after, before)]
    return [*(change for _, change in sorted(found, key=lambda pair: pair[0])), *gone, *come]


def _without(some: Mapping[str, Measurement], others: Mapping[str, Measurement]) -> Iterator[Measurement]:
    """What one side alone has measured; not what is measured of some cases only."""
    return (m for name, m in some.items() if name not in others and name not in (ORDER, EXCESS) and m.noise != "timing")


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


def defects_of(accepted: Result | None, found: Result, laws: Mapping[str, float]) -> tuple[Defect, ...]:
    """What breaks a law. It is standing where the accepted result broke it already, or kept it by less than the
    metric's own noise. `laws` are the scenario's limits, metric -> the most.

    What overflows is infinite and breaks every law; NaN means that nothing happened, which breaks none.
    """
    known = {} if accepted is None else {m.metric: m for m in accepted.measurements}
    laws = {**laws, EXCESS: 1.0}
    return tuple(
        Defect(
            metric=m.metric,
            value=m.value,
            limit=laws[m.metric],
            unit=m.unit,
            standing=_stood(known.get(m.metric), m, laws[m.metric]),
        )
        for m in found.measurements
        if m.metric in laws and abs(m.value) > laws[m.metric]
    )


def _stood(was: Measurement | None, now: Measurement, limit: float) -> bool:
    if was is None:
        return now.metric == EXCESS  # which is not tried of every case: nobody says that it was kept
    return abs(was.value) > limit or not _apart(was, now)

"""Ensembles of perturbed initial states: what they measured, and what two of them say about a change.

One run of a chaotic motion cannot tell worse from otherwise; STARTS of them on either side can. Both sides are compared
up to the longest horizon that both have, metric by metric. How sure one may be depends on how many comparisons a check
makes: `settled` takes all of them together. Pure.
"""

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from scenarios.scenario import Noise
from validation.judging import policy
from validation.judging.evidence.ensembles import Contrast, adjusted, contrast, failures
from validation.judging.outcomes import Contrasted, Counts, What, decided
from validation.judging.verdict import Allowed, Change, Move, Starts
from validation.records.measurement import Better

K = TypeVar("K", bound=Hashable)
COMPLETED = "completed_starts"


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One metric of every start that completed, measured up to `until`."""

    until: float  # share of the duration
    metric: str
    unit: str
    better: Better
    noise: Noise
    floor: float  # in the unit: what the perturbation itself amounts to
    values: tuple[float, ...]  # NaN: what it is about did not happen


@dataclass(frozen=True, slots=True, kw_only=True)
class Ensemble:
    starts: int
    seed: int
    completed: int
    horizon: float  # share of the duration up to which the starts agree; 0 where too few completed
    series: tuple[Series, ...]  # of every horizon in policy.HORIZONS that this one covers
    happened: tuple[Counts, ...] | None = None  # None: of before it was looked at


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Of one metric of one case in two ensembles, or of what happened, before it is known how many others there are."""

    metric: str
    unit: str
    better: Better
    contrast: Contrast
    sizes: tuple[int, int]
    until: float
    floor: float
    what: What | None = None  # None: of a metric
    starts: tuple[int, int] = (0, 0)  # in which that happened


@dataclass(frozen=True, slots=True, kw_only=True)
class EnsembleEvidence:
    """What two ensembles say of one case."""

    until: float  # share of the duration that was compared
    judged: frozenset[str]  # metrics
    changes: tuple[Change, ...]
    happened: tuple[Contrasted, ...] = ()  # of which the starts do not all agree

    def decides(self, metric: str, noise: Noise) -> bool:
        """Whether nothing is to be concluded from one run against another: chaotic ones from no single run at all, the
        others where the ensembles saw the whole motion."""
        return metric in self.judged and (noise == "chaotic" or self.until == 1.0)

    @property
    def to_the_end(self) -> bool:
        """Whether the starts of both sides agree on the whole motion: where it ends is no chance then."""
        return bool(self.judged) and self.until == 1.0


def compare(old: Ensemble, new: Ensemble) -> list[Comparison]:
    """Every chaotic metric, up to the longest horizon of both; how many starts completed.

    Empty where too few completed to say anything, or where the motion is predictable for less than the least horizon.
    """
    made = []
    if (old.completed, new.completed) != (old.starts, new.starts):
        failed, fails = ((side.starts - side.completed, side.starts) for side in (old, new))
        share = Contrast(old=old.completed, new=new.completed, p=failures(failed, fails), effect=0.5)
        sides = (old.starts, new.starts)
        made.append(
            Comparison(
                metric=COMPLETED,
                unit="1",
                better="higher",
                contrast=share,
                sizes=sides,
                until=1.0,
                floor=0.0,
            )
        )
    if min(old.completed, new.completed) < policy.LEAST_STARTS:
        return made
    made += _happened(old, new)
    both = {s.until for s in old.series} & {s.until for s in new.series}
    if not both:
        return made
    until = max(both)
    before = {s.metric: s for s in old.series if s.until == until}
    for series in (s for s in new.series if s.until == until):
        was = before.get(series.metric)
        if was is None or series.noise not in policy.ENSEMBLE_JUDGES:
            continue
        badness = _badness(series.better)
        floor = max(was.floor, series.floor)
        found = contrast(badness(was.values), badness(series.values), floor)
        made.append(
            Comparison(
                metric=series.metric,
                unit=series.unit,
                better=series.better,
                contrast=found,
                sizes=(len(was.values), len(series.values)),
                until=until,
                floor=floor,
            )
        )
    return made


def _happened(old: Ensemble, new: Ensemble) -> Iterator[Comparison]:
    """Of what does not happen alike in all starts of both sides: of 0 and 1 the test is that of `failures`."""
    if old.happened is None or new.happened is None:
        return
    sides = [{one.what: one.counts for one in side.happened or ()} for side in (old, new)]
    for what in dict.fromkeys((*sides[0], *sides[1])):
        before, after = (side.get(what, (0,) * count) for side, count in zip(sides, (old.completed, new.completed)))
        if len({*before, *after}) > 1:
            yield Comparison(
                metric=what.kind,
                unit="1",
                better="neither",
                contrast=contrast(before, after, 1.0),
                sizes=(len(before), len(after)),
                until=1.0,
                floor=0.0,
                what=what,
                starts=(sum(map(bool, before)), sum(map(bool, after))),
            )


def settled(compared: Mapping[K, Sequence[Comparison]]) -> dict[K, EnsembleEvidence]:
    """By case: of all comparisons of a check together at most policy.FALSE_DISCOVERIES are reported without a cause."""
    flat = [comparison for comparisons in compared.values() for comparison in comparisons]
    p = iter(adjusted([comparison.contrast.p for comparison in flat]))
    found = {}
    for key, comparisons in compared.items():
        settled_here = [replace(c, contrast=replace(c.contrast, p=next(p))) for c in comparisons]
        of_metrics = [c for c in settled_here if c.what is None]
        found[key] = EnsembleEvidence(
            until=min((c.until for c in settled_here), default=0.0),
            judged=frozenset(c.metric for c in of_metrics) - {COMPLETED},
            changes=tuple(change for c in of_metrics for change in [_change(c)] if change is not None),
            happened=decided(
                [
                    Contrasted(
                        what=c.what,
                        old=c.starts[0],
                        new=c.starts[1],
                        sizes=c.sizes,
                        p=c.contrast.p,
                        more=c.contrast.effect > 0.5,
                    )
                    for c in settled_here
                    if c.what is not None
                ]
            ),
        )
    return found


def _badness(better: Better) -> Callable[[Sequence[float]], np.ndarray]:
    """What grows as it gets worse: an error may carry a sign. What did not happen is NaN, and the worst."""
    kinds: dict[Better, Callable[..., np.ndarray]] = {
        "lower": np.abs,
        "higher": np.negative,
        "neither": np.asarray,
    }
    return kinds[better]


def _change(c: Comparison) -> Change | None:
    """None where it is not certain, or smaller than counts."""
    found, effect = c.contrast, None
    move: Move = "different"
    if found.p >= policy.FALSE_DISCOVERIES:
        return None
    old, new = found.old, found.new
    if c.metric == COMPLETED:
        move = "regressed" if new / c.sizes[1] < old / c.sizes[0] else "improved"
    else:
        effect = max(found.effect, 1.0 - found.effect)
        if effect < policy.EFFECT or not _apart(old, new, c.floor):
            return None
        if c.better != "neither":
            move = "regressed" if found.effect > 0.5 else "improved"
        sign = -1.0 if c.better == "higher" else 1.0
        old, new = (sign * value if math.isfinite(value) else math.nan for value in (old, new))
    starts = Starts(old=c.sizes[0], new=c.sizes[1], p=found.p, effect=effect, until=c.until)
    allowed = Allowed(factor=policy.MEDIANS)
    return Change(metric=c.metric, old=old, new=new, unit=c.unit, move=move, allowed=allowed, evidence=starts)


def _apart(old: float, new: float, floor: float) -> bool:
    """By more than the absolute floor, and by more than the factor."""
    if math.isinf(old) or math.isinf(new):
        return old != new
    nearer = min(abs(old), abs(new)) if old * new > 0.0 else 0.0
    return abs(new - old) > max(floor, (policy.MEDIANS - 1.0) * nearer)

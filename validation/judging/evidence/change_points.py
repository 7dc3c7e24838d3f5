"""How a metric went over runs: levels with steps between them, and drift within a level.

**Steps.** Values are replaced by their normal scores: the quantiles of the normal distribution at their ranks (van der
Waerden 1952). Of every split of the last WINDOW values of a level, the difference between the mean scores on its two
sides is taken in standard deviations of what it would be in any order (without replacement, so whatever the noise is
distributed like); the largest over all splits means a step where it exceeds EVIDENCE. Scores are bounded, so an outlier
is one large score and never a step; ranks need no estimate of the noise. Equal values are ranked by lot. A
level that was constant needs no statistics: the first other value is a step.

**Drift.** Steps in one direction are one drift where a ramp between two levels fits the scores better than the steps
do, by Schwarz's criterion (1978). And whatever became of the level between, the first values since the last acceptance
are compared with the latest: what moves by less than a step may at a time has still moved.

What is smaller than the floor, absolute first and then relative, is neither.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from reference_engine import elementary
from reference_engine.array_types import Array, Indices
from reference_engine.dense import mul, norm
from reference_engine.elementary import squared
from validation.judging.policy import AFTER, BEFORE, CONSTANT, EVIDENCE, RELATIVE, WINDOW

STRIDE = 8  # runs from one look back at an older history to the next
ENDS = 60  # values at either end of what is looked at for accumulated drift, at most
SLOWEST_STEP = 20  # runs: what takes longer is a drift
CORNERS = 25  # places at which a drift may begin or end
OUTLYING = (0.01, 0.99)  # values beyond these quantiles are taken as these where levels are fitted


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """A change must exceed both: `absolute` in the metric's unit, `relative` of the level before."""

    absolute: float
    relative: float = RELATIVE

    def __post_init__(self) -> None:
        for name in ("absolute", "relative"):
            value = getattr(self, name)
            if not 0.0 <= value < math.inf:
                raise ValueError(f"{name}: {value} is not allowed; allowed: 0 or more, finite")

    def of(self, level: float) -> float:
        """What a change of this level has to exceed."""
        return max(self.absolute, self.relative * abs(level))


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """From one level to another, at once (a step: `start` is `end`) or slowly (a drift)."""

    start: int  # of a step: the first value of the new level; of a drift: the last of the old one
    end: int  # of a drift: the first value of the new level
    before: float
    after: float
    tolerances: float  # the change in units of what is allowed; infinite where nothing is
    evidence: float  # standard deviations; infinite where the level before was constant

    @property
    def size(self) -> float:
        return self.after - self.before

    @property
    def slow(self) -> bool:
        return self.end > self.start


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """Of a history of values."""

    shifts: tuple[Shift, ...]  # in order of time; none overlaps another
    accumulated: Shift | None  # from the first values since the last acceptance to the latest, however it came about
    level: float  # median of the values since the last shift


def course(values: Sequence[float] | Array, floor: Floor, *, since: int = 0) -> Course:
    """Of (N,) values in order of time; `since` is the first of them after what was accepted last.

    Raises ValueError where a value is not finite (leave those out: what did not happen is no level), or there is none.
    """
    given = np.asarray(values, float)
    if given.ndim != 1 or not len(given) or not np.isfinite(given).all():
        raise ValueError(f"values: {given.shape} with {int((~np.isfinite(given)).sum())} not finite; allowed: finite")
    shifts = _with_drifts(given, floor, _settled(given, floor, _noticed(given, floor)))
    begin = shifts[-1].end if shifts else 0
    return Course(
        shifts=shifts,
        accumulated=accumulated(given[min(max(since, 0), len(given)) :], floor),
        level=float(np.median(given[begin:])),
    )


def newest_step(values: Array, floor: Floor, start: int = 0) -> int | None:
    """Where the level that began at `start` steps, as seen from the last value; None where nothing is to be seen."""
    level = _rounded(values[max(start, len(values) - WINDOW) :], floor)
    offset = len(values) - len(level)
    if len(level) > CONSTANT and (level[:-1] == level[0]).all():
        apart = abs(level[-1] - level[0]) > floor.of(level[0])
        return len(values) - 1 if apart else None
    if len(level) < BEFORE + AFTER:
        return None
    evidence = split_evidence(level[None])[0]
    split = int(np.argmax(np.abs(evidence)))
    if abs(evidence[split]) <= EVIDENCE or not _apart(level[: split + 1], level[split + 1 :], floor):
        return None
    return offset + split + 1


def split_evidence(values: Array) -> Array:
    """(R, n - 1): for rows of (R, n) values, each split's evidence, positive where the later values are larger.

    Split k has k + 1 values before it; those with fewer than BEFORE or AFTER on a side are 0.
    """
    n = values.shape[1]
    later = -np.cumsum(_scores(values), axis=1)[:, :-1]  # the sum of all scores is 0
    before = np.arange(1, n)
    later /= np.sqrt(before * (n - before) / n * _quantiles(n).var(ddof=1))
    later[:, : BEFORE - 1] = 0.0
    later[:, n - AFTER :] = 0.0
    return later


def accumulated(values: Array, floor: Floor) -> Shift | None:
    """From the first third of the values to the last, at most ENDS of them each; None where nothing moved."""
    third = min(len(values) // 3, ENDS)
    if third < BEFORE:
        return None
    first, last = _rounded(values[:third], floor), _rounded(values[-third:], floor)
    if not _apart(first, last, floor):
        return None
    found = _shift(0, len(values) - 1, first, last, floor)
    return found if found.evidence > EVIDENCE else None


# --- inside -----------------------------------------------------------------------------------------------------------


def _noticed(values: Array, floor: Floor) -> list[int]:
    """First indices of new levels, as one who looked on would have noticed them one after the other."""
    starts, start, end = [], 0, 1
    while end <= len(values):
        found = newest_step(values[:end], floor, start)
        if found is not None:
            starts.append(found)
            start, end = found, found + 1
            continue
        here = end - start
        constant = bool((values[start:end] == values[start]).all())  # the next value may be evidence already
        end = end + 1 if constant or end >= len(values) else min(end + STRIDE - here % STRIDE, len(values))
    return starts


def _settled(values: Array, floor: Floor, starts: Sequence[int]) -> list[Shift]:
    """Each where the values on both sides place it; without those that the values since have taken back."""
    remaining = list(starts)
    at = 0
    while at < len(remaining):
        first = remaining[at - 1] if at else 0
        last = remaining[at + 1] if at + 1 < len(remaining) else len(values)
        settled = _placed(values[first:last], floor, remaining[at] - first)
        if settled is None:
            remaining.pop(at)
            at = max(at - 1, 0)  # the one before has other neighbours now
        else:
            remaining[at] = first + settled
            at += 1
    bounds = [0, *remaining, len(values)]
    levels = [_rounded(values[a:b], floor) for a, b in itertools.pairwise(bounds)]
    return [
        _shift(start, start, before, after, floor)
        for start, (before, after) in zip(remaining, itertools.pairwise(levels))
    ]


def _placed(values: Array, floor: Floor, noticed: int) -> int | None:
    """Where in these values the step is; None where they hold none."""
    values = _rounded(values, floor)
    before, after = values[:noticed], values[noticed:]
    if not _apart(before, after, floor):
        return None
    if (before == before[0]).all() or len(values) < BEFORE + AFTER:
        return noticed
    near = slice(max(0, noticed - WINDOW), noticed + WINDOW)
    evidence = np.abs(split_evidence(values[None, near])[0])
    split = int(np.argmax(evidence))
    return near.start + split + 1 if evidence[split] > 0.0 else noticed


def _with_drifts(values: Array, floor: Floor, steps: Sequence[Shift]) -> tuple[Shift, ...]:
    """Steps that follow one another in one direction are one drift where a ramp between two levels fits better."""
    found: list[Shift] = []
    bounds = [0, *(step.start for step in steps), len(values)]
    at = 0
    while at < len(steps):
        end = at + 1
        while end < len(steps) and (steps[end].size > 0.0) == (steps[at].size > 0.0):
            end += 1
        first, last = bounds[at], bounds[end + 1]
        inner = [bound - first for bound in bounds[at + 1 : end + 1]]
        ramp = None if math.isinf(steps[at].evidence) else _ramp(values[first:last], inner)
        if ramp is None:
            found += steps[at:end]
        else:
            old, new = ramp.levels
            both = _shift(first + ramp.start, first + ramp.end, np.array([old]), np.array([new]), floor)
            found.append(replace(both, evidence=max(step.evidence for step in steps[at:end])))
        at = end
    return tuple(found)


class _Ramp(NamedTuple):
    start: int
    end: int
    levels: tuple[float, float]


def _ramp(values: Array, steps: Sequence[int]) -> _Ramp | None:
    """The ramp that fits the scores best, if it fits them better than these steps do (Schwarz 1978)."""
    n = len(values)
    corners = np.unique(np.linspace(0, n - 1, CORNERS).astype(int))
    pairs = [(a, b) for a in corners.tolist() for b in corners.tolist() if b - a >= SLOWEST_STEP]
    if not pairs:
        return None
    scores = _scores(values[None])[0]
    scores /= norm(scores)
    shapes = np.stack([np.clip((np.arange(n) - a) / (b - a), 0.0, 1.0) for a, b in pairs])
    centred = shapes - shapes.mean(axis=1, keepdims=True)
    likeness = np.abs(mul(centred, scores)) / np.linalg.norm(centred, axis=1)
    best = int(np.argmax(likeness))
    left_by_ramp = 1.0 - squared(float(likeness[best]))
    left_by_steps = float(sum((squared(part - part.mean())).sum() for part in np.split(scores, list(steps))))
    parameters = 2 * len(steps) - 3  # that the steps have more: a place and a height each; two places and a height
    gain = n * elementary.log(left_by_steps / left_by_ramp) if left_by_ramp > 0.0 else math.inf
    if gain + parameters * elementary.log(n) <= 0.0:
        return None
    remaining = np.clip(values, *np.quantile(values, OUTLYING))
    slope = float(mul(centred[best], remaining) / mul(centred[best], centred[best]))
    intercept = float(remaining.mean() - slope * shapes[best].mean())
    return _Ramp(*pairs[best], (float(intercept), float(intercept + slope)))


def _shift(start: int, end: int, before: Array, after: Array, floor: Floor) -> Shift:
    old, new = float(np.median(before)), float(np.median(after))
    allowed = floor.of(old)
    tolerances = abs(new - old) / allowed if allowed else math.inf
    evidence = _evidence_between(before, after)
    return Shift(start=start, end=end, before=old, after=new, tolerances=tolerances, evidence=evidence)


def _evidence_between(before: Array, after: Array) -> float:
    if (before == before[0]).all():
        return math.inf
    before, after = before[-WINDOW:], after[:WINDOW]
    n, m = len(before) + len(after), len(after)
    total = abs(float(_scores(np.concatenate([before, after])[None])[0, n - m :].sum()))
    return total / math.sqrt(m * (n - m) / n * _quantiles(n).var(ddof=1))


def _apart(before: Array, after: Array, floor: Floor) -> bool:
    old = float(np.median(before))
    return abs(float(np.median(after)) - old) > floor.of(old)


def _rounded(values: Array, floor: Floor) -> Array:
    """What differs by less than the absolute floor is equal, but for two neighbours on either side of a half."""
    return np.round(values / floor.absolute) * floor.absolute if floor.absolute else values


def _scores(values: Array) -> Array:
    """(R, n) normal scores of (R, n) values, row by row; equal values in an order that was drawn once."""
    n = values.shape[1]
    lot = _lots(n)
    order = np.argsort(values[:, lot], axis=1, kind="stable")
    scores = np.empty_like(values)
    np.put_along_axis(scores, lot[order], np.broadcast_to(_quantiles(n), values.shape), axis=1)
    return scores


@lru_cache(maxsize=2 * WINDOW + 2)
def _quantiles(n: int) -> Array:
    return np.array([NormalDist().inv_cdf((k + 0.5) / n) for k in range(n)])


@lru_cache(maxsize=2 * WINDOW + 2)
def _lots(n: int) -> Indices:
    return np.random.default_rng(n).permutation(n)

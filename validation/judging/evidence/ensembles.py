"""Two ensembles of starts: does a metric differ, by how much, and up to which time can one know?

The starts of one case differ by a perturbation that means nothing. What the metric makes of it is the noise of that
case, whatever it is distributed like; so the two sides are compared by ranks (Mann & Whitney 1947).

scipy.stats is imported where it is asked: that takes longer than all else that a command needs.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reference_engine.array_types import Array
from reference_engine.elementary import squared

EXACT = 100  # values of both sides together


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """Of one metric in two ensembles."""

    old: float  # median; infinite where it did not happen in half of the starts
    new: float
    p: float  # two-sided: that ensembles of one distribution differ so much
    effect: float  # chance that a value of the new side is larger than one of the old, draws counted half


def contrast(old: Sequence[float] | Array, new: Sequence[float] | Array, floor: float) -> Contrast:
    """Of (N,) and (M,) values; NaN (it did not happen) is larger than any number.

    What differs by less than the floor is equal: tests know no smallest difference that counts. p is exact, ties and
    all, up to EXACT values, and beyond them from the normal distribution. Raises ValueError where a side is empty or
    the floor is not a number above 0.
    """
    if not 0.0 < floor < math.inf:
        raise ValueError(f"floor: {floor} is not allowed; allowed: above 0, finite")
    sides = [np.asarray(side, float) for side in (old, new)]
    if not all(side.ndim == 1 and len(side) for side in sides):
        raise ValueError(f"old, new: {len(sides[0])} and {len(sides[1])} values; allowed: 1 or more each")
    before, after = (np.round(np.where(np.isnan(side), math.inf, side) / floor) for side in sides)
    both = np.concatenate([before, after])
    medians = [float(np.median(np.where(np.isnan(side), math.inf, side))) for side in sides]
    if (both == both[0]).all():
        return Contrast(old=medians[0], new=medians[1], p=1.0, effect=0.5)
    from scipy.stats import mannwhitneyu, rankdata

    ranks = rankdata(both)  # infinite values have one too
    count, size = len(after), len(both)
    larger = float(ranks[size - count :].sum()) - count * (count + 1) / 2.0  # pairs in which the new value is larger
    if size <= EXACT:
        p = exact_rank_sum_p(ranks, count)
    else:
        p = float(mannwhitneyu(ranks[size - count :], ranks[: size - count], method="asymptotic").pvalue)
    return Contrast(old=medians[0], new=medians[1], p=p, effect=larger / (count * (size - count)))


def exact_rank_sum_p(ranks: Array, count: int) -> float:
    """Two-sided: how often the sum of so many of (N,) ranks is as extreme as that of the last ones, whichever they are.

    Ranks of equal values are their mean, so that twice a rank is whole. Counted, not sampled: of the ways to choose k
    of the first n ranks those of each sum follow from those of the first n - 1 (Streitberg & Röhmel 1986).
    """
    doubled = np.round(2.0 * ranks).astype(int)
    ways = np.zeros((count + 1, int(doubled.sum()) + 1))
    ways[0, 0] = 1.0
    for rank in doubled:
        ways[1:, rank:] += ways[:-1, : ways.shape[1] - rank].copy()
    sums = np.cumsum(ways[count])
    found = int(doubled[len(doubled) - count :].sum())
    below, above = sums[found], sums[-1] - (sums[found - 1] if found else 0.0)
    return float(min(1.0, 2.0 * min(below, above) / sums[-1]))


def failures(old: tuple[int, int], new: tuple[int, int]) -> float:
    """p that so many (failed, of so many) differ by chance: Fisher's exact test, two-sided."""
    from scipy.stats import fisher_exact

    table = [[failed, of - failed] for failed, of in (old, new)]
    return float(fisher_exact(table).pvalue)


def adjusted(p: Sequence[float]) -> list[float]:
    """By Benjamini & Hochberg (1995): those below q are reported, and of these a share of q is false at most.

    One fault moves many metrics of many cases at once, and should not be held against each of them; where nothing has
    changed, the chance of any report is q, as Holm's procedure has it. It holds for independent and for
    positively dependent tests (Benjamini & Yekutieli 2001), which metrics of one motion are.
    """
    if not len(p):
        return []
    from scipy.stats import false_discovery_control

    return [float(value) for value in false_discovery_control(p)]


def predictable_until(time: Array, points: Array, within: float) -> float:
    """s: the first of (T,) times at which half of N starts are further than `within` (m) from the middle.

    `points` (N, T, P, D) m are points of the bodies in each start. The last time where they never are. Raises
    ValueError for fewer than 2 starts.
    """
    if points.ndim != 4 or points.shape[0] < 2 or points.shape[1] != len(time):
        raise ValueError(f"points: {points.shape}; allowed: (2 or more starts, {len(time)} times, points, axes)")
    middle = np.median(points, axis=0)
    apart = np.sqrt((squared(points - middle)).sum(axis=3)).max(axis=2)  # (N, T)
    beyond = ~(np.median(apart, axis=0) <= within)
    return float(time[int(np.argmax(beyond))] if beyond.any() else time[-1])

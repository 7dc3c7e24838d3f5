"""Reading a quantity off a sampled motion: its value at a time, and when it crosses a level.

Samples lie a few steps apart, so straight lines between them would add an error of their own (5e-4 m for a pendulum
of 1 m at 50 samples a second): polynomials through the neighbouring samples do not.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from reference_engine.array_types import Array
from scenarios.truth import Motion

AROUND = (-1, 0, 1, 2)  # samples about the interval, for a smooth motion
BEFORE = (-2, -1, 0)  # up to its beginning, where an impact may lie inside the interval


def value_at(time: Array, value: Array, at: float) -> float:
    """The quintic through the six samples about `at`; NaN where the motion does not reach so far.

    time, value: (S,), times not decreasing.
    """
    time, value = _distinct(time, value)
    if len(time) < 6 or not time[0] <= at <= time[-1] + 1e-9:
        return math.nan
    first = int(np.clip(np.searchsorted(time, at) - 3, 0, len(time) - 6))
    nodes = slice(first, first + 6)
    return _lagrange(time[nodes].tolist(), value[nodes].tolist(), at)


def crossings(time: Array, value: Array, level: float, *, rising: bool, nodes: tuple[int, ...] = AROUND) -> list[float]:
    """Times at which value goes through the level upwards (or downwards), in order.

    time, value: (S,). The root of the polynomial through the samples at the offsets `nodes` from the beginning of
    the interval; of the straight line where that polynomial has no root inside the interval.
    """
    time, value = _distinct(time, value)
    height = (value - level) if rising else (level - value)
    found = []
    for k in np.flatnonzero((height[:-1] < 0.0) & (height[1:] >= 0.0)):
        members = np.clip(k + np.array(nodes), 0, len(time) - 1)
        t, h = time[members].tolist(), height[members].tolist()
        start, end = float(time[k]), float(time[k + 1])
        straight = start - height[k] * (end - start) / (height[k + 1] - height[k])
        smooth = len(set(members.tolist())) == len(nodes) and _lagrange(t, h, end) >= 0.0
        found.append(_root(t, h, start, end) if smooth else float(straight))
    return found


def mean_interval(times: list[float]) -> float:
    """A period, from when it has come round; NaN where it has not once."""
    return (times[-1] - times[0]) / (len(times) - 1) if len(times) > 1 else math.nan


def coordinate_at(moment: float, body: int, axis: int) -> Callable[[Motion], float]:
    """A goal's `measure`: where the centre of a body is at a time."""
    return lambda seen: value_at(seen.time, seen.position[:, body, axis], moment)


def period_of(read: Callable[[Motion], Array], level: float = 0.0, *, rising: bool) -> Callable[[Motion], float]:
    """A goal's `measure`: the mean time from one such crossing to the next of what is read (S,)."""
    return lambda seen: mean_interval(crossings(seen.time, read(seen), level, rising=rising))


def _distinct(time: Array, value: Array) -> tuple[Array, Array]:
    """Without the second sample of a time that stands before and after an impact: poses are the same in both."""
    time, first = np.unique(time, return_index=True)
    return time, value[first]


def _lagrange(t: Sequence[float], v: Sequence[float], at: float) -> float:
    """The polynomial through the points (t, v), at `at`."""
    total = 0.0
    for i, node in enumerate(t):
        total += v[i] * math.prod((at - other) / (node - other) for k, other in enumerate(t) if k != i)
    return total


def _root(t: Sequence[float], v: Sequence[float], low: float, high: float) -> float:
    """Where the polynomial rises through 0 in [low, high], by bisection to round-off."""
    for _ in range(60):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        if _lagrange(t, v, middle) < 0.0:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)

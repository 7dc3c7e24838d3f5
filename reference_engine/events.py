"""Motion with events: step, look in the step for what ends it, resolve that, go on.

What moves is a client's own. It gives segments of smooth motion, each with a dense output and the first event in it,
and says what an event does; `follow` keeps the order of time. Two ways to find an event on a segment are here:

- `first_fall`: guards of any kind, looked at through the dense output; the first that falls below 0.
- `first_zero`: a gap whose rate falls no faster than a bound (conservative advancement: Mirtich 1996); to be repeated.

The compiled loops, `planar/event_loop.py` and `compliant/event_loop.py`, go the same way with what they know of their
guards; `doubled` gives their logs more space.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from reference_engine.dense import inverse, mul
from reference_engine.elementary import squared

Array = NDArray[np.float64]
Log = TypeVar("Log")
Guards = Callable[[float, Array], Array]
"""Time [s] and state -> (G,) numbers, each above 0 as long as nothing happens."""

DEEPEST = 20  # halvings of a step that is looked through
NODES, FINE = np.linspace(0.0, 1.0, 5), np.linspace(0.0, 1.0, 33)  # of a step: where guards are asked, and interpolated
QUARTIC = mul(np.vander(FINE, 5), inverse(np.vander(NODES, 5)))  # (33, 5) through all nodes,
PARABOLA = np.zeros_like(QUARTIC)  # and through every other one
PARABOLA[:, ::2] = mul(np.vander(FINE, 3), inverse(np.vander(NODES[::2], 3)))
OFF = np.abs(np.prod(FINE[:, None] - NODES, axis=1))  # how an interpolant's error is spread, 1 at most
OFF /= OFF.max()
TRUST = 0.5  # of what the two differ by is the quartic off, at most


class Segment(NamedTuple):
    """Smooth motion up to `end`."""

    end: float  # s
    at: Callable[[float], Any]  # time [s] -> state, until the next segment is asked for
    event: float | None = None  # s, the first one in it


class Client(Protocol):
    """What `follow` drives."""

    def begin(self) -> Segment:
        """Of no length, at the start, with what happens there behind it."""

    def step(self, until: float) -> Segment:
        """One step on from the last segment; it need not end at `until` [s], the next time that is asked for."""

    def resolve(self, time: float, state: Any) -> Segment:
        """What the event does; of no length, at the event's time."""


def follow(client: Client, times: Iterable[float]) -> Iterator[Any]:
    """The states at these times [s], ascending, each after all events up to it."""
    segment = client.begin()
    for time in times:
        while (segment.end if segment.event is None else segment.event) < time or segment.event == time:
            if segment.event is None:
                segment = client.step(time)
            else:
                segment = client.resolve(segment.event, segment.at(segment.event))
        yield segment.at(time)


def first_fall(guards: Guards, start: float, before: Array, segment: Segment, least: float) -> float | None:
    """When the first guard falls below 0 in a segment from `start`, where the state is `before`; or None.

    `least` is what guards count for at the start at least: an event is over when it has been met. The segment is halved
    where the quartic through five nodes, less what it may be off, comes below 0 between them: what falls and rises
    again in a small part of it is found.
    """
    known = {start: np.maximum(guards(start, before), least)}

    def guards_at(time: float) -> Array:
        if time not in known:
            known[time] = guards(time, segment.at(time))
        return known[time]

    def first(low: float, high: float, depth: int) -> float | None:
        times = [low, *(low + (high - low) * NODES[1:-1]).tolist(), high]
        found = np.array([guards_at(time) for time in times])
        fine = mul(QUARTIC, found)
        lowest = fine - OFF[:, None] * TRUST * np.abs(fine - mul(PARABOLA, found)).max(axis=0)
        lowest[1:-1] -= _dip(fine)
        below = np.flatnonzero((found[1:] < 0.0).any(axis=1))
        sure = 8 * int(below[0]) if len(below) else 32
        between = (np.arange(33) % 8 != 0) & (np.arange(33) < sure)
        if depth < DEEPEST and (lowest[between] < 0.0).any():
            middle = times[2]
            early = first(low, middle, depth + 1)
            return first(middle, high, depth + 1) if early is None else early
        if not len(below):
            return None
        k = int(below[0])

        def fall(row: int) -> float:
            return _root(lambda time: float(guards_at(time)[row]), times[k], times[k + 1], start)

        return min(fall(int(row)) for row in np.flatnonzero(found[k + 1] < 0.0))

    return first(start, segment.end, 0)


def _dip(values: Array) -> Array:
    """By how much functions (T, G) come below their values at inner points, between these and their neighbours."""
    slope, bend = values[2:] - values[:-2], values[2:] - 2.0 * values[1:-1] + values[:-2]
    inside = np.abs(slope) < 2.0 * bend
    return np.where(inside, squared(slope) / (8.0 * np.where(inside, bend, 1.0)), 0.0)


def _root(guard: Callable[[float], float], low: float, high: float, start: float) -> float:
    """Where a guard falls to 0 that is below it at high, and above at low; if low is the start, just after it.

    At the start it is round-off of either sign, in which no root is looked for.
    """
    if low == start:
        middle = 0.5 * (low + high)
        while low < middle < high and guard(middle) <= 0.0:
            middle, high = 0.5 * (low + middle), middle
        if not low < middle < high:
            return low
        low = middle
    return float(brentq(guard, low, high, xtol=1e-15, rtol=1e-15, maxiter=100))


def first_zero(gap: float, rate: float, falls: float) -> float:
    """s, of gap + rate t - falls t^2 / 2; of a gap that is none and opens the later one."""
    gap = max(gap, 0.0)
    if falls == 0.0:
        return gap / -rate if rate < 0.0 else math.inf
    root = math.sqrt(rate * rate + 2.0 * falls * gap)
    if rate > 0.0:
        return (rate + root) / falls
    return 2.0 * gap / (root - rate) if root > rate else 0.0


def doubled(log: Log, *unchanged: str) -> Log:
    """Arrays (fields of a dataclass) with what is in them and space for as many rows more; `unchanged`: as they are."""
    every = {field.name: getattr(log, field.name) for field in fields(log)}  # type: ignore[arg-type]
    more = {name: np.concatenate([a, np.zeros_like(a)]) for name, a in every.items() if name not in unchanged}
    return type(log)(**every | more)

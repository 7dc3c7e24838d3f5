"""Motion with events: step, look in the step for what ends it, resolve that, go on.

What moves is a client's own. `event_loop` keeps the order of time: of steps, of what ends them, of the times that are
asked for. Compiled clients (`planar/event_loop.py`, `compliant/event_loop.py`) make a kernel of it and write on arrays;
those in Python give `Segment`s of smooth motion to `follow`. Ways to find an event on a segment:

- `first_fall`: guards of any kind, looked at through the dense output; the first that falls below 0.
- `first_zero`: a gap whose rate falls no faster than a bound (conservative advancement: Mirtich 1996); to be repeated.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import fields
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from scipy.optimize import brentq

from reference_engine.array_types import Array
from reference_engine.dense import inverse, mul
from reference_engine.elementary import squared

Log = TypeVar("Log")
Guards = Callable[[float, Array], Array]
"""Time [s] and state -> (G,) numbers, each above 0 as long as nothing happens."""

# First columns of `now` [s]: of the state; of the step to be tried; at the end of the step that was made; its length
TIME, STEP, REACHED, LENGTH = range(4)
# First columns of `counters`: what is next; samples shown and asked for; 1: the step ends in an event; steps accepted
PHASE, SHOWN, ASKED, EVENT, STEPS = range(5)
RESOLVES, STEPS_ON, SHOWS = range(3)  # PHASE
GOES_ON, DONE, FULL = (np.int64(k) for k in range(3))  # what a client's functions return; above: a client's own
__all__ = [  # what a client's layout names with its own columns
    "ASKED", "DONE", "EVENT", "FULL", "GOES_ON", "LENGTH", "PHASE", "REACHED", "SHOWN", "STEP", "STEPS", "TIME",
]  # fmt: skip

DEEPEST = 20  # halvings of a step that is looked through
NODES, FINE = np.linspace(0.0, 1.0, 5), np.linspace(0.0, 1.0, 33)  # of a step: where guards are asked, and interpolated
QUARTIC = mul(np.vander(FINE, 5), inverse(np.vander(NODES, 5)))  # (33, 5) through all nodes,
PARABOLA = np.zeros_like(QUARTIC)  # and through every other one
PARABOLA[:, ::2] = mul(np.vander(FINE, 3), inverse(np.vander(NODES[::2], 3)))
OFF = np.abs(np.prod(FINE[:, None] - NODES, axis=1))  # how an interpolant's error is spread, 1 at most
OFF /= OFF.max()
TRUST = 0.5  # of what the two differ by is the quartic off, at most


def event_loop(step: Any, accept: Any, resolve: Any, sample: Any, has_space: Any, *, samples_first: bool) -> Any:
    """The loop of a client, to be called or compiled: goes on to the last sample, and returns a status.

    run: `loop.now` and `loop.counters` with the columns above, zeroed, `log.grid` (S,) s; the rest is the client's.
    resolve(run)        what happens at TIME, also at the start; GOES_ON: call again, DONE: time goes on
    step(run)           one step on from TIME, or its part up to an event: REACHED, LENGTH, EVENT
    sample(run, time)   the state within the step, or at its end
    accept(run)         the state is the one at the end of the step, if it has a length: TIME is there now
    has_space(run)      for what any of these may write; else the loop returns FULL, and is to be called again

    A sample at an event is behind it, or with `samples_first` before it.
    """

    def go_on(run: Any) -> Any:
        now, count, grid = run.loop.now, run.loop.counters, run.log.grid
        while True:
            status = GOES_ON
            if not has_space(run):
                return FULL
            if count[PHASE] == RESOLVES:
                status = resolve(run)
                if status == DONE:
                    now[REACHED], now[LENGTH], count[PHASE], status = now[TIME], 0.0, SHOWS, GOES_ON
            elif count[PHASE] == STEPS_ON:
                if count[SHOWN] == count[ASKED]:
                    return DONE
                status = step(run)
                if status == GOES_ON:
                    count[PHASE] = SHOWS
            elif count[SHOWN] < count[ASKED] and (
                grid[count[SHOWN]] < now[REACHED]
                or (grid[count[SHOWN]] == now[REACHED] and (samples_first or now[LENGTH] == 0.0))
            ):
                sample(run, grid[count[SHOWN]])
                count[SHOWN] += 1
            else:
                if now[LENGTH] > 0.0:
                    now[TIME] = now[REACHED]
                    count[STEPS] += 1
                status = accept(run)
                if count[EVENT] == 1:
                    count[EVENT], count[PHASE] = 0, RESOLVES
                elif now[LENGTH] == 0.0:
                    count[PHASE] = STEPS_ON
                now[LENGTH] = 0.0
            if status != GOES_ON:
                return status

    return go_on


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

    def sample(self, time: float, state: Any) -> None:
        """The state at a time that is asked for."""


class _Followed:
    """A client and its segment, as `event_loop` drives it."""

    segment: Segment | None = None

    def __init__(self, client: Client, times: Iterable[float]) -> None:
        self.client, self.grid = client, np.array(times, np.float64)
        self.now, self.counters = np.zeros(4), np.zeros(5, np.int64)
        self.counters[ASKED] = len(self.grid)
        self.loop = self.log = self

    def step(self) -> Any:
        self.segment = self.client.step(float(self.grid[self.counters[SHOWN]]))
        event = self.segment.event
        self.now[REACHED] = self.segment.end if event is None else event
        self.now[LENGTH] = self.now[REACHED] - self.now[TIME]
        self.counters[EVENT] = event is not None and event <= self.grid[-1]
        return GOES_ON

    def accept(self) -> Any:
        return GOES_ON

    def resolve(self) -> Any:
        if self.segment is None:
            self.segment = self.client.begin()
        else:
            time = float(self.now[TIME])
            self.segment = self.client.resolve(time, self.segment.at(time))
        self.now[TIME] = self.segment.end
        return DONE

    def sample(self, time: float) -> None:
        assert self.segment is not None
        self.client.sample(float(time), self.segment.at(float(time)))

    def has_space(self) -> bool:
        return True

    go_on = event_loop(step, accept, resolve, sample, has_space, samples_first=False)


def follow(client: Client, times: Iterable[float]) -> None:
    """Has the client sample its states at these times [s], ascending, each after all events up to it."""
    _Followed(client, times).go_on()


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
    if rate >= 0.0:
        return (rate + root) / falls
    return 2.0 * gap / (root - rate) if root > rate else 0.0


def doubled(log: Log, *unchanged: str) -> Log:
    """Arrays (fields of a dataclass) with what is in them and space for as many rows more; `unchanged`: as they are."""
    every = {field.name: getattr(log, field.name) for field in fields(log)}  # type: ignore[arg-type]
    more = {name: np.concatenate([a, np.zeros_like(a)]) for name, a in every.items() if name not in unchanged}
    return type(log)(**every | more)

"""Bouncing under gravity with a coefficient of restitution, in closed form: what the ball and the block share.

Dropped from height h the first impact is at t1 = sqrt(2 h / g); each impact returns e of the speed, so impact k
is at t1 (1 + 2 e (1 - e^(k-1)) / (1 - e)), and infinitely many of them end at t1 (1 + e) / (1 - e).
"""

from __future__ import annotations

import math

import numpy as np

from reference_engine import elementary
from reference_engine.elementary import power, squared
from scenarios.catalogue.bodies import Array, G
from scenarios.truth import Event, Goal, Invariant, Motion

SOURCE = "free fall and Newton's law of restitution; the geometric series of the flights (Zeno's sum)"
SHORTEST_FLIGHT = 0.1  # s: before each impact whose time is compared, 24 steps of 1/240 s
MOST_EVENTS = 10


def rest_time(height: float, restitution: float, g: float = G) -> float:
    """s, when the bouncing ends; infinite for restitution 1."""
    if restitution == 1.0:
        return math.inf
    return math.sqrt(2.0 * height / g) * (1.0 + restitution) / (1.0 - restitution)


def impact_time(k: Array, height: float, restitution: float, g: float = G) -> Array:
    """s, of the impacts k = 1, 2, ...; the geometric sum is taken so that it keeps its digits near e = 1."""
    e, flights = restitution, np.asarray(k, dtype=np.float64) - 1.0
    if e == 0.0:
        returned = np.zeros_like(flights)
    elif e == 1.0:
        returned = flights
    else:
        returned = -e * elementary.expm1(flights * elementary.log(e)) / (1.0 - e)
    return math.sqrt(2.0 * height / g) * (1.0 + 2.0 * returned)


def bounce_height(time: Array, height: float, restitution: float, g: float = G) -> Array:
    """(S,): m above the ground at `time` (S,), dropped from rest at `height`."""
    e, t1 = restitution, math.sqrt(2.0 * height / g)
    fall = height - 0.5 * g * squared(time)
    if e == 0.0:
        return np.where(time < t1, fall, 0.0)
    past = np.maximum(time / t1 - 1.0, 0.0) / (2.0 * e)  # e (1 - e^(k-1)) / (1 - e) = e past
    if e == 1.0:
        flights = past
    else:
        with np.errstate(divide="ignore", invalid="ignore"):
            flights = elementary.log1p(-past * (1.0 - e)) / elementary.log(e)  # NaN or infinite once it rests
    moving = time < rest_time(height, e, g)
    k = np.floor(np.where(moving, flights, 0.0)) + 1.0
    since = time - impact_time(k, height, e, g)
    flight = g * t1 * power(e, k) * since - 0.5 * g * squared(since)
    return np.where(time < t1, fall, np.where(moving, np.maximum(flight, 0.0), 0.0))


def impacts(body: str, ground: str, height: float, restitution: float, duration: float) -> tuple[Event, ...]:
    """The impacts before `duration`, while the flight before each lasts 0.1 s or longer; at most ten."""
    events: list[Event] = []
    for k in range(1, MOST_EVENTS + 1):
        flight = 2.0 * math.sqrt(2.0 * height / G) * power(restitution, k - 1)
        time = float(impact_time(np.array(k), height, restitution))
        if flight < SHORTEST_FLIGHT or time >= duration:
            break
        events.append(Event(a=body, b=ground, number=k, time=time))
    return tuple(events)


def first_apex(rest: float, height: float, restitution: float) -> Goal:
    """How high it rises after its first impact: e^2 h. `rest`: coordinate of the centre on the ground, m."""

    def measure(motion: Motion) -> float:
        return apex_after_first_impact(motion.time, motion.position[:, 0, -1] - rest, height)

    return Goal(name="first apex", unit="m", exact=squared(restitution) * height, measure=measure)


def invariants(height: float, restitution: float, duration: float) -> frozenset[Invariant]:
    found: set[Invariant] = {"momentum-x", "energy" if restitution == 1.0 else "energy-not-gained"}
    if rests_within(height, restitution, duration):
        found.add("rest")
    return frozenset(found)


def meaningless(height: float, restitution: float, duration: float) -> frozenset[str]:
    """Metrics of rest, where it bounces for most of the time."""
    if rests_within(height, restitution, duration):
        return frozenset()
    return frozenset(
        {"rest_time", "rest_drift", "jitter_velocity", "jitter_position", "penetration_final", "gap_final"}
    )


def rests_within(height: float, restitution: float, duration: float) -> bool:
    """Whether it lies still in the last half of the time, which the metrics of rest look at."""
    return rest_time(height, restitution) < duration / 2.0


def apex_after_first_impact(time: Array, clearance: Array, height: float) -> float:
    """The first maximum after the first minimum of `clearance` (S,); NaN where it has not come down or not turned.

    Between samples the vertex of the parabola through the highest one and its neighbours, exact in free flight.
    """
    fallen = np.flatnonzero(clearance < 0.5 * height)
    if fallen.size == 0:
        return math.nan
    i, last = int(fallen[0]), len(clearance) - 1
    while i < last and clearance[i + 1] < clearance[i]:
        i += 1
    while i < last and clearance[i + 1] >= clearance[i]:
        i += 1
    if i == last:
        # It lies still to the end, or the motion ends on the way up.
        return float(clearance[i]) if clearance[i] - clearance[last - 1] <= 0.0 else math.nan
    (t0, t1, t2), (y0, y1, y2) = time[i - 1 : i + 2], clearance[i - 1 : i + 2]
    if t0 == t1 or t1 == t2:
        return float(y1)
    before, after = (y1 - y0) / (t1 - t0), (y2 - y1) / (t2 - t1)
    bend = (after - before) / (t2 - t0)
    slope = before + bend * (t1 - t0)  # at t1
    return float(y1 - squared(slope) / (4.0 * bend)) if bend < 0.0 else float(y1)

"""Newton's cradle: equal balls in a row without gravity, struck at one end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scenarios.catalogue.bodies import ball, poses_in_plane, scene_of
from scenarios.catalogue.ground import Space
from scenarios.catalogue.laws import MOMENTUM_SHARE, MOVING_SHARE, contact_laws
from scenarios.catalogue.meaningless import AT_THE_END, OF_REST
from scenarios.scenario import Family, Scenario, Value, Within
from scenarios.truth import Event, Goal, Invariant, Motion, Truth

Array = NDArray[np.float64]

RADIUS = 0.5  # m
LONGEST = 5.0  # s; close to restitution 1 the last impact is minutes later, and metres away
SLOW = 0.02  # of the speed of the throw


class Impact(NamedTuple):
    """Ball i strikes ball i + 1 at `time`; `speeds` are those of all balls afterwards."""

    time: Fraction
    i: int
    positions: tuple[Fraction, ...]  # as points: the widths of the balls left out
    speeds: tuple[Fraction, ...]


def impacts(n: int, gap: Fraction, speed: Fraction, restitution: Fraction) -> list[Impact]:
    """Every impact there will be, exactly.

    Equal masses: u' = -e u of each pair, the sum kept; it ends when the speeds do not decrease from left to right.
    At most 12 impacts for restitution >= 0.35 and n <= 5; below, they become many (303 at 0.2), then infinitely
    many (inelastic collapse). Simultaneous impacts of separate pairs are listed in turn.
    """
    x = [gap * i for i in range(n)]
    v = [speed] + [Fraction(0)] * (n - 1)
    time, found = Fraction(0), []
    while approaching := [i for i in range(n - 1) if v[i] > v[i + 1]]:
        wait, i = min(((x[i + 1] - x[i]) / (v[i] - v[i + 1]), i) for i in approaching)
        time += wait
        x = [p + u * wait for p, u in zip(x, v)]
        mean, half = (v[i] + v[i + 1]) / 2, restitution * (v[i] - v[i + 1]) / 2
        v[i], v[i + 1] = mean - half, mean + half
        found.append(Impact(time, i, tuple(x), tuple(v)))
    return found


def newtons_cradle(
    *,
    n: Literal[3, 4, 5] = 5,
    gap: Annotated[float, Within(1e-4, 1.0)] = 0.02,
    speed: Annotated[float, Within(0.01, 100.0)] = 1.0,
    restitution: Annotated[float, Within(0.35, 1.0)] = 1.0,
    space: Space = "planar",
) -> Scenario:
    """Newton's cradle: n equal balls in a row, `gap` m apart, the first thrown at the others

    Gaps make it a sequence of pair impacts: with balls in contact rigid mechanics gives no single answer. With
    restitution below 1 the first ball catches up again and again: 10 impacts of 5 balls at 0.9, not 4.
    """
    history = impacts(n, exact_decimal(gap), exact_decimal(speed), exact_decimal(restitution))
    all_moved = next((impact.time for impact in history if impact.i == n - 2), history[-1].time)
    longest = max(LONGEST, _with_margin(all_moved))
    duration = min(longest, _with_margin(history[-1].time))
    history = [impact for impact in history if impact.time < duration]
    bodies = tuple(
        ball(
            space,
            f"ball {i + 1}",
            radius=RADIUS,
            x=(2.0 * RADIUS + gap) * i,
            y=0.0,
            velocity=(speed if i == 0 else 0.0, 0.0),
            restitution=restitution,
        )
        for i in range(n)
    )
    scene = scene_of(space, bodies, title="Newton's cradle", duration=duration, g=0.0)
    kept: frozenset[Invariant] = frozenset(
        {"momentum", "angular-momentum", "energy" if restitution == 1.0 else "energy-not-gained"}
    )
    return Scenario(
        name="newtons-cradle",
        title="Newton's cradle",
        probes="restitution, the order of impacts, momentum of a closed system",
        regime="impact",
        scene=scene,
        truth=Truth(
            kind="closed form",
            source="Newton's law of restitution, pair by pair, event by event in exact rational arithmetic",
            span=(0.0, duration),
            pose=poses_in_plane(scene, lambda time: _row(history, n, gap, speed, time)),
            events=_events(history, speed),
            goal=Goal(
                name="speed of the last ball", unit="m/s", exact=float(history[-1].speeds[-1]), measure=last_speed
            ),
            invariants=kept,
        ),
        headline="truth_error_goal",
        laws=contact_laws(scene, share=MOVING_SHARE) | {"momentum_drift": MOMENTUM_SHARE * speed},
        meaningless=OF_REST | AT_THE_END | (frozenset() if restitution == 1.0 else {"energy_drift"}),
    )


def _with_margin(time: Fraction) -> float:
    """s; engines are late by a step an impact."""
    return round(1.25 * float(time) + 0.25, 6)


def exact_decimal(number: float) -> Fraction:
    """The decimal number that is meant: 9/10 of 0.9; the difference to the double is round-off."""
    return Fraction(repr(number))


def _row(history: list[Impact], n: int, gap: float, speed: float, time: Array) -> Array:
    """(S, n, 3): uniform motion between impacts; frictionless and central, so no ball turns."""
    start = np.array([0.0] + [float(impact.time) for impact in history])
    x = np.array([[gap * i for i in range(n)]] + [[float(p) for p in impact.positions] for impact in history])
    v = np.array([[speed] + [0.0] * (n - 1)] + [[float(u) for u in impact.speeds] for impact in history])
    k = np.searchsorted(start, time, side="right") - 1
    pose = np.zeros((len(time), n, 3))
    pose[..., 0] = x[k] + v[k] * (time - start[k])[:, None] + 2.0 * RADIUS * np.arange(n)
    return pose


def _events(history: list[Impact], speed: float) -> tuple[Event, ...]:
    """Up to the first that closes slower than SLOW: from there on an engine's own tolerance decides what is one."""
    count: Counter[int] = Counter()
    events: list[Event] = []
    before = (exact_decimal(speed), *[Fraction(0)] * (len(history[0].speeds) - 1))
    for impact in history:
        if before[impact.i] - before[impact.i + 1] < SLOW * speed:
            break
        count[impact.i] += 1
        a, b = f"ball {impact.i + 1}", f"ball {impact.i + 2}"
        events.append(Event(a=a, b=b, number=count[impact.i], time=float(impact.time)))
        before = impact.speeds
    return tuple(events)


def last_speed(motion: Motion) -> float:
    """At the end; NaN if the last ball was never struck."""
    speed = motion.velocity[:, -1, 0]
    return float(speed[-1]) if np.any(speed != 0.0) else float("nan")


CANONICAL: tuple[Mapping[str, Value], ...] = (
    {},
    {"speed": 5.0, "gap": 0.01},
    {"n": 3, "restitution": 0.5, "gap": 0.01, "speed": 5.0},
    {"restitution": 0.9, "gap": 0.01, "speed": 5.0},
)
FAMILY = Family("newtons-cradle", newtons_cradle, CANONICAL, subject="the row of {n} balls")

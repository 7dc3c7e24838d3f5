"""Newton's cradle: equal balls in a row without gravity, hit at one end; apart, or in contact: whose law is it?"""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np

from scenarios.catalogue.shared import laws
from scenarios.catalogue.shared.bodies import Space, ball, scene_of
from scenarios.catalogue.shared.poses import Array, poses_in_plane
from scenarios.scenario import Canonical, Family, Scenario, Within
from scenarios.scene import ContactLaw, ImpactOrder, Scene
from scenarios.truth import Event, Goal, Motion

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
    gap: Annotated[float, Within(1e-4, 1.0, "m")] = 0.02,
    speed: Annotated[float, Within(0.01, 100.0, "m/s")] = 1.0,
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
    x = [(2.0 * RADIUS + gap) * i for i in range(n)]
    scene = _scene(space, x, speed, restitution, title="Newton's cradle", duration=duration)
    return _scenario(
        scene,
        probes="restitution, the order of impacts, momentum of a closed system",
        source="Newton's law of restitution, pair by pair, event by event in exact rational arithmetic",
        pose=lambda time: _row(history, n, gap, speed, time),
        events=_events(history, speed),
        last_speed=history[-1].speeds[-1],
    )


def _scene(space: Space, x: list[float], speed: float, restitution: float, **more: Any) -> Scene:
    """Balls at x, the first thrown at the others."""
    bodies = tuple(
        ball(space, f"ball {i + 1}", radius=RADIUS, x=at, velocity=(0.0 if i else speed, 0.0), restitution=restitution)
        for i, at in enumerate(x)
    )
    return scene_of(space, bodies, g=0.0, **more)


def _scenario(
    scene: Scene,
    probes: str,
    source: str,
    pose: Callable[[Array], Array],
    events: tuple[Event, ...],
    last_speed: Fraction,
) -> Scenario:
    first = scene.bodies[0]
    return laws.make_scenario(
        scene,
        probes=probes,
        regime="impact",
        kind="closed form",
        source=source,
        pose=poses_in_plane(scene, pose),
        events=events,
        goal=Goal(name="speed of the last ball", unit="m/s", exact=float(last_speed), measure=_last_speed),
        invariants=laws.conserved_by_impacts(first.restitution),
        laws=laws.contact_laws(scene, share=laws.MOVING_SHARE)
        | {"momentum_drift": laws.MOMENTUM_SHARE * first.velocity[0]},
        meaningless=laws.not_of_impacts(first.restitution),
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


def _last_speed(motion: Motion) -> float:
    """At the end; NaN if the last ball was never hit."""
    speed = motion.velocity[:, -1, 0]
    return float(speed[-1]) if np.any(speed != 0.0) else float("nan")


# --- in contact --------------------------------------------------------------------------------------------

RUN_UP = 0.2512  # m, from the first ball to the others; the impact is at no sample, where a velocity would be two
AFTER = 0.25  # s; long enough to read speeds


def speeds_after(n: int, speed: Fraction, restitution: Fraction, order: ImpactOrder) -> list[Fraction]:
    """Of n equal balls in contact, the first of which arrives with `speed`, exactly.

    simultaneous: the first pair parts with e times its approach, pairs that were at rest stay together (Moreau 1988; by
    Poisson's law the same). sequential: pair by pair, the fastest approach first.
    """
    v = [speed] + [Fraction(0)] * (n - 1)
    if order == "simultaneous":
        together = speed * (1 + restitution) / n
        return [together - restitution * speed] + [together] * (n - 1)
    while (approach := max((v[i] - v[i + 1], -i) for i in range(n - 1)))[0] > 0:
        i = -approach[1]
        mean, half = (v[i] + v[i + 1]) / 2, restitution * approach[0] / 2
        v[i], v[i + 1] = mean - half, mean + half
    return v


def cradle_in_contact(
    *,
    n: Literal[3, 4, 5] = 5,
    order: Literal["sequential", "simultaneous"] = "sequential",
    speed: Annotated[float, Within(0.01, 100.0, "m/s")] = 1.0,
    restitution: Annotated[float, Within(0.35, 1.0)] = 1.0,
) -> Scenario:
    """Newton's cradle in contact: n equal balls in a row, all but the first in contact; the scene says which law holds

    Rigid mechanics gives no single answer. One after the other, the last ball leaves alone; at once, all move on and
    the first comes back. An engine that has one law of its own shows by the goal which one it is.
    """
    after = speeds_after(n, exact_decimal(speed), exact_decimal(restitution), order)
    impact_time = RUN_UP / speed
    duration = round(impact_time + AFTER / speed, 6)
    x = [2.0 * RADIUS * i - (0.0 if i else RUN_UP) for i in range(n)]
    law = ContactLaw(impact_order=order)
    scene = _scene("planar", x, speed, restitution, title="Newton's cradle in touch", duration=duration, contact=law)
    return _scenario(
        scene,
        probes="the law of simultaneous impacts, restitution, momentum of a closed system",
        source="Newton's law of restitution at all contacts at once (Moreau 1988), or pair by pair; exact rationals",
        pose=lambda time: _row_in_contact(after, speed, impact_time, time),
        events=(Event(a="ball 1", b="ball 2", number=1, time=impact_time),),
        last_speed=after[-1],
    )


def _row_in_contact(after: list[Fraction], speed: float, impact_time: float, time: Array) -> Array:
    """(S, n, 3): uniform motion before and after."""
    pose = np.zeros((len(time), len(after), 3))
    pose[..., 0] = 2.0 * RADIUS * np.arange(len(after))
    pose[..., 0] += np.maximum(0.0, time - impact_time)[:, None] * [float(v) for v in after]
    pose[:, 0, 0] += speed * np.minimum(0.0, time - impact_time)
    return pose


CANONICAL: Canonical = (
    {}, {"speed": 5.0, "gap": 0.01}, {"n": 3, "restitution": 0.5, "gap": 0.01, "speed": 5.0},
    {"restitution": 0.9, "gap": 0.01, "speed": 5.0},
)  # fmt: skip
APART = Family("newtons-cradle", newtons_cradle, CANONICAL, subject="the row of {n} balls")
IN_CONTACT = Family(
    "cradle-in-touch", cradle_in_contact, ({}, {"order": "simultaneous"}), subject="the row of {n} balls"
)

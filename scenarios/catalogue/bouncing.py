"""A ball, and a block that falls flat, bouncing: the shortest scenes with infinitely many impacts in a finite time.

Dropped from height h the first impact is at t1 = sqrt(2 h / g); each impact returns e of the speed, so impact k
is at t1 (1 + 2 e (1 - e^(k-1)) / (1 - e)), and infinitely many of them end at t1 (1 + e) / (1 - e).

The block's closed form is the ball's, because the impact is symmetric: both corners (in space, all four) meet the
ground at once, and equal impulses at all of them return e of the speed at each. An engine that treats the corners one
after the other makes the block turn.
"""

import math
from collections.abc import Mapping
from typing import Annotated

import numpy as np

from reference_engine import elementary
from reference_engine.elementary import power, squared
from scenarios.catalogue.shared.bodies import Body, G, GroundKind, Space, ball, block, lay_ground, scene_of
from scenarios.catalogue.shared.laws import AT_THE_END, OF_REST, make_scenario
from scenarios.catalogue.shared.poses import Array, path, poses_in_plane
from scenarios.scenario import Canonical, Family, Noise, Scenario, Within
from scenarios.truth import Event, Goal, Invariant, Motion

HALF = 0.5  # m, radius of the ball, half of the unit block
DURATION = 10.0  # s
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


def impacts(body: str, height: float, restitution: float) -> tuple[Event, ...]:
    """The impacts before DURATION, while the flight before each lasts 0.1 s or longer; at most ten."""
    events: list[Event] = []
    for k in range(1, MOST_EVENTS + 1):
        flight = 2.0 * math.sqrt(2.0 * height / G) * power(restitution, k - 1)
        time = float(impact_time(np.array(k), height, restitution))
        if flight < SHORTEST_FLIGHT or time >= DURATION:
            break
        events.append(Event(a=body, b="ground", number=k, time=time))
    return tuple(events)


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


def bounces(
    body: Body,
    height: float,
    restitution: float,
    ground: GroundKind,
    probes: str,
    source: str = SOURCE,
    noise: Mapping[str, Noise] | None = None,
) -> Scenario:
    """Of the body that starts with its centre HALF + `height` above the ground."""
    space: Space = "planar" if len(body.position) == 2 else "spatial"
    title = f"Bouncing {body.name}, e = {restitution:g}"
    scene = scene_of(space, (body,), lay_ground(space, ground, restitution=restitution), title=title, duration=DURATION)
    # Whether it lies still in the last half of the time, which the metrics of rest look at.
    rests = rest_time(height, restitution) < DURATION / 2.0
    invariants: set[Invariant] = {"momentum-x", "energy" if restitution == 1.0 else "energy-not-gained"}

    def first_apex(motion: Motion) -> float:
        return apex_after_first_impact(motion.time, motion.position[:, 0, -1] - HALF, height)

    return make_scenario(
        scene,
        probes=probes,
        regime="impact",
        kind="closed form",
        source=source,
        pose=poses_in_plane(scene, lambda time: path(time, y=HALF + bounce_height(time, height, restitution))),
        events=impacts(body.name, height, restitution),
        goal=Goal(name="first apex", unit="m", exact=squared(restitution) * height, measure=first_apex),
        invariants=frozenset(invariants | {"rest"} if rests else invariants),
        meaningless=frozenset() if rests else OF_REST | AT_THE_END,
        noise=noise or {},
    )


def bouncing_ball(
    *,
    restitution: Annotated[float, Within(0.0, 1.0)] = 0.9,
    height: Annotated[float, Within(0.01, 100.0, "m")] = 1.0,
    space: Space = "planar",
    ground: GroundKind = "plane",
) -> Scenario:
    """Bouncing ball: dropped without spin from a height of 1 m, frictionless"""
    body = ball(space, "ball", radius=HALF, y=HALF + height, restitution=restitution)
    probes = "restitution, times of impact, accumulation of impacts, energy"
    return bounces(body, height, restitution, ground, probes)


NOISE: dict[str, Noise] = {
    **dict.fromkeys(("truth_error_angle", "energy_gain", "momentum_drift", "rest_drift", "jitter_position"), "step"),
    "impact_count": "tolerance",
    "jitter_velocity": "chaotic",  # single precision makes one corner land first, and the block rock
}


def bouncing_block(
    *,
    restitution: Annotated[float, Within(0.0, 1.0)] = 0.5,
    height: Annotated[float, Within(0.01, 100.0, "m")] = 1.0,
    space: Space = "planar",
    ground: GroundKind = "plane",
) -> Scenario:
    """Bouncing block: a unit block dropped flat from a height of 1 m, frictionless"""
    body = block(space, "block", y=HALF + height, restitution=restitution)
    probes = "simultaneous impacts: restitution, symmetry, energy"
    source = f"{SOURCE}; equal impulses at all corners, by symmetry"
    return bounces(body, height, restitution, ground, probes, source, NOISE)


def canonical(on_box: float) -> Canonical:
    return (
        *({"restitution": e} for e in (0.0, 0.5, 0.9, 1.0)),
        {"restitution": on_box, "ground": "box"},
        {"restitution": 0.0, "space": "spatial"},
        {"restitution": 0.0, "space": "spatial", "ground": "box"},
    )


BALL = Family("bouncing-ball", bouncing_ball, canonical(0.9), subject="the ball")
BLOCK = Family("bouncing-block", bouncing_block, canonical(0.5), subject="the block")

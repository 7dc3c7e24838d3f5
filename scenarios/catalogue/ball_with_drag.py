"""A ball that bounces in air: no flight is a parabola, and every time of impact is known.

Air takes k |v| v a kilogram. With v_t = sqrt(g / k), the speed at which a fall ends,
    up from v:      height ln(1 + (v / v_t)^2) / (2 k),   time (v_t / g) atan(v / v_t)
    down from h:    v = v_t sqrt(1 - exp(-2 k h)),        time (v_t / g) acosh(exp(k h))
"""

import math
from typing import Annotated

import numpy as np

from reference_engine import elementary
from reference_engine.elementary import squared
from scenarios.catalogue.bouncing import MOST_EVENTS, SHORTEST_FLIGHT, apex_after_first_impact
from scenarios.catalogue.shared.bodies import G, Space, ball, lay_ground, scene_of
from scenarios.catalogue.shared.laws import AT_THE_END, OF_REST, make_scenario
from scenarios.catalogue.shared.poses import Array, path, poses_in_plane
from scenarios.scenario import Family, Scenario, Within
from scenarios.scene import Damping
from scenarios.truth import Event, Goal, Motion

RADIUS = 0.5  # m
LONGEST = 10.0  # s, unless the first flight takes longer
SHORTEST = 1e-16  # s: flights below it change no time


class Flights:
    """Every flight from one impact to the next: when it begins, how fast it goes up, how high."""

    def __init__(self, height: float, restitution: float, drag: float, g: float = G) -> None:
        """m above the ground at the start; drag k of one kilogram, 1/m."""
        self.drag, self.g, self.top_speed = drag, g, math.sqrt(g / drag)
        time, rise = 0.0, height
        begun, speeds, heights, ups = [], [], [], []
        for _ in range(10_000):
            landing = self.top_speed * math.sqrt(-elementary.expm1(-2.0 * drag * rise))
            # acosh(exp x) without loss where x is small, and without overflow where it is large
            time += self.top_speed / g * (drag * rise + elementary.log1p(landing / self.top_speed))
            speed = restitution * landing
            up = self.top_speed / g * elementary.atan(speed / self.top_speed)
            if up < SHORTEST:
                break
            rise = elementary.log1p(squared(speed / self.top_speed)) / (2.0 * drag)
            begun.append(time)
            speeds.append(speed)
            heights.append(rise)
            ups.append(up)
            time += up
        self.impacts, self.speeds, self.heights, self.ups = map(np.array, (begun, speeds, heights, ups))
        self.rest, self.first = time, height

    def height(self, time: Array) -> Array:
        """(S,) m above the ground."""
        k = np.searchsorted(self.impacts, time, side="right") - 1
        v, g, drag = self.top_speed, self.g, self.drag
        since = time - np.where(k < 0, 0.0, self.impacts[k])
        up = np.where(k < 0, 0.0, self.ups[k])
        top = np.where(k < 0, self.first, self.heights[k])
        falling = np.maximum(since - up, 0.0)
        fallen = top - elementary.log(0.5 * (elementary.exp(g * falling / v) + elementary.exp(-g * falling / v))) / drag
        left = np.maximum(up - since, 0.0)  # of the way up: backwards it is a fall with the drag reversed
        risen = top + elementary.log(elementary.cos(g * left / v)) / drag
        return np.where(time >= self.rest, 0.0, np.maximum(np.where(since < up, risen, fallen), 0.0))


def ball_with_drag(
    *,
    drag: Annotated[float, Within(1e-3, 10.0, "kg/m")] = 0.1,
    restitution: Annotated[float, Within(0.1, 0.95)] = 0.8,
    height: Annotated[float, Within(0.01, 100.0, "m")] = 2.0,
    space: Space = "planar",
) -> Scenario:
    """Ball with drag: dropped without spin in air that resists with `drag` times the square of the speed, 1/m"""
    flights = Flights(height, restitution, drag)
    second = flights.impacts[1] if len(flights.impacts) > 1 else flights.rest
    duration = float(min(max(LONGEST, math.ceil(1.05 * second)), math.ceil(1.05 * flights.rest)))
    body = ball(space, "ball", radius=RADIUS, y=RADIUS + height, restitution=restitution)
    scene = scene_of(
        space, (body,), lay_ground(space, restitution=restitution), title=f"Ball with drag, e = {restitution:g}",
        duration=duration, damping=Damping(quadratic=drag * (body.mass or 1.0)),
    )  # fmt: skip

    def apex(found: Motion) -> float:
        return apex_after_first_impact(found.time, found.position[:, 0, -1] - RADIUS, height)

    events = []
    for k, time in enumerate(flights.impacts[:MOST_EVENTS]):
        flight = time - (flights.impacts[k - 1] if k else 0.0)
        if flight < SHORTEST_FLIGHT or time >= duration:
            break
        events.append(Event(a="ball", b="ground", number=k + 1, time=float(time)))
    return make_scenario(
        scene,
        probes="restitution, times of impact where no flight is a parabola, a force that depends on the velocity",
        regime="impact",
        kind="closed form",
        source="fall and rise against a drag that grows with the square of the speed (tanh and tan); Newton's law",
        pose=poses_in_plane(scene, lambda time: path(time, y=RADIUS + flights.height(time))),
        events=tuple(events),
        goal=Goal(name="first apex", unit="m", exact=float(flights.heights[0]), measure=apex),
        invariants=frozenset({"momentum-x", "energy-not-gained"}),
        meaningless=OF_REST | AT_THE_END,
    )


FAMILY = Family("ball-with-drag", ball_with_drag, subject="the ball")

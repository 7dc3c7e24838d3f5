"""A ball thrown along the ground: it slides until friction has brought its spin and its speed together.

With u0 = v0 + r w0 the velocity of its lowest point (spins counter-clockwise, so backspin is positive) and
k = I / (m r^2), friction acts for t = k |u0| / ((1 + k) mu g) and leaves v = v0 - u0 k / (1 + k) for good.
"""

import math
from typing import Annotated, NamedTuple

import numpy as np

from reference_engine.elementary import squared
from scenarios.catalogue.shared.bodies import WIDTH, G, GroundKind, Space, ball, lay_ground, scene_of
from scenarios.catalogue.shared.laws import OF_REST, make_scenario
from scenarios.catalogue.shared.poses import Array, path, poses_in_plane
from scenarios.scenario import Canonical, Family, ParameterError, Scenario, Within
from scenarios.truth import Goal, Motion

ROLLING_AFTERWARDS = 1.0  # s
ROLLS = 0.05  # of the slip at the start: an engine's ball that slips more does not roll yet
FILLING = {  # k = I / (m r^2)
    ("planar", False): 1.0 / 2.0,  # disc
    ("planar", True): 1.0,  # hoop
    ("spatial", False): 2.0 / 5.0,  # ball
    ("spatial", True): 2.0 / 3.0,  # shell
}


class Rolling(NamedTuple):
    """When and where it begins to roll (s, m), and how fast (m/s)."""

    time: float
    x: float
    speed: float


def begins_to_roll(speed: float, spin: float, radius: float, k: float, friction: float, g: float = G) -> Rolling:
    slip = speed + radius * spin
    time = k * abs(slip) / ((1.0 + k) * friction * g)
    rolling = speed - slip * k / (1.0 + k)
    return Rolling(time, 0.5 * (speed + rolling) * time, rolling)


def slide_to_roll(
    *,
    speed: Annotated[float, Within(-20.0, 20.0, "m/s")] = 5.0,
    spin: Annotated[float, Within(-100.0, 100.0, "rad/s")] = 0.0,
    friction: Annotated[float, Within(0.05, 1.0)] = 0.2,
    radius: Annotated[float, Within(0.05, 2.0, "m")] = 0.5,
    hollow: bool = False,
    space: Space = "planar",
    ground: GroundKind = "plane",
) -> Scenario:
    """Slide to roll: a ball thrown along the ground slides, then rolls; its speed at the end"""
    k = FILLING[space, hollow]
    slip = speed + radius * spin
    if slip == 0.0:
        raise ParameterError(f"slide-to-roll:spin: {spin!r} rolls from the start; allowed: any but -speed / radius")
    exact = begins_to_roll(speed, spin, radius, k, friction)
    body = ball(
        space,
        "ball",
        radius=radius,
        y=radius,
        velocity=(speed, 0.0),
        spin=spin,
        inertia=k * squared(radius) if hollow else None,
        friction=friction,
    )
    duration = float(math.ceil(exact.time + ROLLING_AFTERWARDS))
    travel = abs(exact.x) + abs(exact.speed) * (duration - exact.time)
    title = "Slide to roll" + (", backspin" if spin * speed > 0.0 else "") + (", hollow" if hollow else "")
    scene = scene_of(
        space,
        (body,),
        lay_ground(space, ground, friction, width=max(WIDTH, 4.0 * travel)),
        title=title,
        duration=duration,
    )
    brake = math.copysign(friction * G, slip)

    def motion(time: Array) -> Array:
        sliding, rolling = np.minimum(time, exact.time), np.maximum(time - exact.time, 0.0)
        x = speed * sliding - 0.5 * brake * squared(sliding) + exact.speed * rolling
        turned = spin * sliding - 0.5 * brake / (k * radius) * squared(sliding)
        return path(time, x, radius, turned - exact.speed / radius * rolling)

    def final_speed(motion: Motion) -> float:
        v = float(motion.velocity[-1, 0, 0])
        w = float(motion.spin[-1, 0] if space == "planar" else -motion.spin[-1, 0, 1])
        return v if abs(v + radius * w) < ROLLS * abs(slip) else math.nan

    return make_scenario(
        scene,
        probes="friction that stops at rolling instead of reversing; moments of inertia",
        regime="rolling",
        kind="closed form",
        source="Coulomb friction on a sliding ball: angular momentum about a point of the ground is kept",
        pose=poses_in_plane(scene, motion),
        goal=Goal(name="speed when rolling", unit="m/s", exact=exact.speed, measure=final_speed),
        invariants=frozenset({"energy-not-gained"}),
        noise={"truth_error_goal": "round-off", "energy_gain": "step", "impact_count": "chaotic"},
        meaningless=OF_REST,
    )


CANONICAL: Canonical = (
    {}, {"hollow": True}, {"speed": 1.0, "spin": 10.0, "radius": 0.3},
    {"ground": "box"}, {"space": "spatial"}, {"space": "spatial", "ground": "box"},
)  # fmt: skip
FAMILY = Family("slide-to-roll", slide_to_roll, CANONICAL, subject="the ball")

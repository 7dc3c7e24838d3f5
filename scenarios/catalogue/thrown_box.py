"""A unit box thrown along the ground, or onto it: friction brings it to a stop.

Thrown from a height it lands flat and stays down (e = 0); the frictional impulse of the landing, mu times the
normal one, takes speed that the sliding formula alone leaves out.
"""

import math
from typing import Annotated, NamedTuple

import numpy as np

from reference_engine.dense import norm
from reference_engine.elementary import squared
from scenarios.catalogue.shared.bodies import WIDTH, G, GroundKind, Space, block, lay_ground, scene_of
from scenarios.catalogue.shared.laws import make_scenario
from scenarios.catalogue.shared.poses import Array, path, poses_in_plane
from scenarios.scenario import Canonical, Family, Noise, Scenario, Within
from scenarios.truth import Event, Goal, Motion

HALF = 0.5  # m, of the box
STOPPED = 0.01  # of the speed of the throw


NOISE: dict[str, Noise] = {"truth_error_angle": "step", "energy_gain": "chaotic", "impact_count": "chaotic"}
"""Whether a first step in the air lifts an edge decides what the skin of Box2D does: it gains 0 or 0.04 J."""


class Throw(NamedTuple):
    """Where and when a flat box thrown with `speed` from `height` lands (s, m), slides off (m/s) and stops."""

    landing_time: float
    landing_x: float
    sliding_speed: float
    stop_time: float
    stop_x: float


def throw(speed: float, height: float, friction: float, g: float = G) -> Throw:
    """v' = v - mu v_n at the landing (0 where friction can take all of it), then deceleration mu g."""
    fall = math.sqrt(2.0 * height / g)
    after = max(0.0, speed - friction * g * fall)
    return Throw(
        fall, speed * fall, after, fall + after / (friction * g), speed * fall + squared(after) / (2.0 * friction * g)
    )


def thrown_box(
    *,
    speed: Annotated[float, Within(0.1, 20.0, "m/s")] = 5.0,
    friction: Annotated[float, Within(0.05, 1.0)] = 0.5,
    height: Annotated[float, Within(0.0, 10.0, "m")] = 0.0,
    space: Space = "planar",
    ground: GroundKind = "plane",
) -> Scenario:
    """Thrown box: a unit box thrown at `speed` along the ground or from `height` above it; where it stops"""
    # Friction up to 1, the width over the height: more would tip it over.
    exact = throw(speed, height, friction)
    body = block(space, "box", y=HALF + height, velocity=(speed, 0.0), friction=friction)
    duration = math.ceil(2.0 * exact.stop_time + 0.5)  # s; it rests in the last half, where metrics of rest look
    title = "Thrown box" + (", landing flat" if height else "")
    scene = scene_of(
        space,
        (body,),
        lay_ground(space, ground, friction, width=max(WIDTH, 4.0 * exact.stop_x)),
        title=title,
        duration=float(duration),
    )

    def motion(time: Array) -> Array:
        sliding = np.clip(time, exact.landing_time, exact.stop_time) - exact.landing_time
        flying = np.minimum(time, exact.landing_time)
        x = speed * flying + exact.sliding_speed * sliding - 0.5 * friction * G * squared(sliding)
        return path(time, x, HALF + np.maximum(height - 0.5 * G * squared(flying), 0.0))

    def stop_distance(motion: Motion) -> float:
        if norm(motion.velocity[-1, 0]) > STOPPED * speed:
            return math.nan
        return float(motion.position[-1, 0, 0] - motion.position[0, 0, 0])

    return make_scenario(
        scene,
        probes="sliding friction: stop distance and time; friction at a landing",
        regime="sliding",
        kind="closed form",
        source="Coulomb friction: s = v^2 / (2 mu g), t = v / (mu g); at a flat landing v' = v - mu v_n, "
        "the impact's impulses on the cone",
        pose=poses_in_plane(scene, motion),
        events=(Event(a="box", b="ground", number=1, time=exact.landing_time),) if height else (),
        goal=Goal(name="stop distance", unit="m", exact=exact.stop_x, measure=stop_distance),
        invariants=frozenset({"energy-not-gained", "rest"}),
        noise=NOISE,
    )


CANONICAL: Canonical = (
    {}, {"height": 1.0, "speed": 4.0, "friction": 0.3},
    {"ground": "box"}, {"space": "spatial"}, {"space": "spatial", "ground": "box"},
)  # fmt: skip
FAMILY = Family("thrown-box", thrown_box, CANONICAL, subject="the thrown box")

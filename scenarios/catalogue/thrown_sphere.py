"""A sphere thrown along a plane with any spin, as a billiard ball is: a parabola seen from above, then a line.

Its lowest point slips with u0 = v0 + omega_0 x (-r z), and keeps the direction of that: friction -mu g u0 / |u0| is
constant, u fades as 1 - t / t1 with  t1 = 2 |u0| / (7 mu g),  and from then on  v = v0 - 2/7 u0.  The spin about the
vertical does nothing. Oltman & Hur 2017, section 6.1, could not simulate this throw: spheres fell through the plane.
Source: Coulomb's law for a rolling ball (Coriolis 1835, Theorie mathematique des effets du jeu de billard).
"""

import math
from typing import Annotated

import numpy as np

from reference_engine.elementary import squared
from scenarios.catalogue.shared.bodies import Array, G, lay_ground, scene_of
from scenarios.catalogue.shared.laws import OF_REST, make_scenario
from scenarios.scenario import Family, ParameterError, Scenario, Within
from scenarios.scene import SpatialBody, Sphere
from scenarios.truth import Goal, Motion

ACROSS = 1.0  # m/s, of the throw, beside what is given
ROLLING_AFTERWARDS = 0.3  # s
Speed = Annotated[float, Within(-20.0, 20.0, "m/s")]
Spin = Annotated[float, Within(-200.0, 200.0, "rad/s")]


def thrown_sphere(
    *,
    speed: Speed = 2.0,
    across: Speed = ACROSS,
    spin_x: Spin = 10.0,
    spin_y: Spin = -40.0,
    spin_z: Spin = 60.0,
    friction: Annotated[float, Within(0.05, 1.0)] = 0.2,
    radius: Annotated[float, Within(0.01, 1.0, "m")] = 0.03,
) -> Scenario:
    """Thrown sphere: along a plane with a spin about any axis; its path bends, then it rolls straight on"""
    v0 = np.array([speed, across])
    slip = v0 + radius * np.array([-spin_y, spin_x])  # of omega x (-r z)
    fast = math.hypot(*slip)
    if fast == 0.0:
        raise ParameterError("thrown-sphere:speed: it rolls from the start; allowed: a speed or spin that slips")
    rolls, rolling = 2.0 * fast / (7.0 * friction * G), v0 - 2.0 / 7.0 * slip
    ball = SpatialBody(
        name="ball",
        shape=Sphere(radius=radius),
        mass=1.0,
        position=(0.0, 0.0, radius),
        velocity=(speed, across, 0.0),
        spin=(spin_x, spin_y, spin_z),
        friction=friction,
    )
    duration = math.ceil(10.0 * (rolls + ROLLING_AFTERWARDS)) / 10.0
    scene = scene_of(
        "spatial", (ball,), lay_ground("spatial", "plane", friction), title="Thrown sphere", duration=duration
    )

    def pose(time: Array) -> Array:
        slides = np.minimum(time, rolls)[:, None]
        found = np.full((len(time), 1, 7), np.nan)  # how the ball has turned is not worked out
        found[:, 0, :2] = (
            v0 * slides - 0.5 * friction * G * slip / fast * squared(slides) + rolling * (time[:, None] - slides)
        )
        found[:, 0, 2] = radius
        return found

    def final_speed(motion: Motion) -> float:
        return math.hypot(*motion.velocity[-1, 0, :2])

    return make_scenario(
        scene,
        probes="friction in both directions of a plane, across a pyramid's corners too; the end of slip",
        regime="rolling",
        kind="closed form",
        source="Coulomb friction on a sliding ball (Coriolis 1835): slip keeps its direction",
        pose=pose,
        goal=Goal(name="speed when rolling", unit="m/s", exact=math.hypot(*rolling), measure=final_speed),
        invariants=frozenset({"energy-not-gained"}),
        headline="truth_error_position",
        noise={"truth_error_goal": "round-off", "energy_gain": "step", "impact_count": "chaotic"},
        meaningless=OF_REST | {"energy_drift"},
    )


FAMILY = Family(
    "thrown-sphere", thrown_sphere, ({}, {"spin_x": 0, "spin_y": 0, "spin_z": 0}), subject="the thrown sphere"
)

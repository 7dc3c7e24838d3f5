"""A unit block let go on an incline: a shade below the friction angle, at it, or a shade above.

Up to the friction angle it stays where it is; an engine whose friction is regularised, softened or projected creeps.
The incline is a tilted ground under a tilted block, or, the same mechanics, gravity that leans over a level ground:
an engine whose answers differ feels the axes of the world.
"""

from typing import Annotated, Literal

import numpy as np

from reference_engine import elementary
from reference_engine.elementary import squared
from scenarios.catalogue.shared.bodies import G, GroundKind, Space, block, lay_ground, scene_of
from scenarios.catalogue.shared.laws import MOVING_SHARE, RESTING_SHARE, contact_laws, make_scenario
from scenarios.catalogue.shared.poses import Array, path, poses_in_plane
from scenarios.scenario import Canonical, Family, Noise, Scenario, Within
from scenarios.truth import Goal, Invariant, Motion

Relation = Literal["below", "at", "above"]
Tilted = Literal["ground", "gravity"]

STEEPNESS: dict[Relation, float] = {"below": 0.98, "at": 1.0, "above": 1.02}  # of the friction angle
HALF = 0.5  # m, of the block
DURATION = 3.0  # s


CHAOTIC = (
    *("truth_error_goal", "truth_error_position", "energy_drift", "impact_count"),
    *("rest_time", "rest_drift", "jitter_velocity", "jitter_position"),
)
NOISE: dict[str, Noise] = {
    **dict.fromkeys(("truth_error_angle", "energy_gain"), "step"),
    **dict.fromkeys(CHAOTIC, "chaotic"),
}
"""About the friction angle little or nothing takes back the speed that a first step in the air gives: at it, one and
the same code creeps by 6e-9 m or by 35 mm."""


def acceleration(slope: float, friction: float, g: float = G) -> float:
    """m/s^2 down the slope (rad) from rest: g (sin b - mu cos b) where tan b > mu, else 0."""
    return max(0.0, g * (elementary.sin(slope) - friction * elementary.cos(slope)))


def incline_slide(
    *,
    relation: Relation = "at",
    friction_angle: Annotated[float, Within(0.05, 0.75, "rad")] = 0.5,
    tilted: Tilted = "ground",
    space: Space = "planar",
    ground: GroundKind = "plane",
) -> Scenario:
    """Incline slide: a block at rest on an incline of 0.98, 1 or 1.02 friction angles (rad); how far it gets in 3 s"""
    slope = STEEPNESS[relation] * friction_angle
    friction = elementary.tan(friction_angle)  # below 1, the width over the height: it slides rather than tips
    a = 0.0 if relation == "at" else acceleration(slope, friction)  # there the round-off of tan decides otherwise
    tilt = slope if tilted == "ground" else 0.0  # of ground and block; gravity leans by the rest
    down = np.array([elementary.cos(tilt), -elementary.sin(tilt)])
    x, y = HALF * elementary.sin(tilt), HALF * elementary.cos(tilt)
    scene = scene_of(
        space,
        (block(space, "block", x=x, y=y, angle=0.0 - tilt, friction=friction),),
        lay_ground(space, ground, friction, tilt=0.0 - tilt),
        title=f"Incline slide, {relation} the friction angle",
        duration=DURATION,
        lean=slope - tilt,
    )

    def motion(time: Array) -> Array:
        way = 0.5 * a * squared(time)
        return path(time, x + way * down[0], y + way * down[1], -tilt)

    def distance(motion: Motion) -> float:
        moved = motion.position[-1, 0] - motion.position[0, 0]
        return float(moved[0] * down[0] + moved[-1] * down[1])

    sliding = a > 0.0
    invariants: frozenset[Invariant] = frozenset({"energy-not-gained"} if sliding else {"energy", "rest"})
    return make_scenario(
        scene,
        probes="Coulomb friction: sticking without creep, sliding at the right acceleration",
        regime="sliding",
        kind="closed form",
        source="Coulomb friction: it slides if tan b > mu, with a = g (sin b - mu cos b)",
        pose=poses_in_plane(scene, motion),
        goal=Goal(name="distance in 3 s", unit="m", exact=0.5 * a * squared(DURATION), measure=distance),
        invariants=invariants,
        noise=NOISE,
        meaningless=frozenset({"rest_time", "rest_drift", "jitter_velocity", "jitter_position"} if sliding else ()),
        laws=contact_laws(scene, share=MOVING_SHARE if sliding else RESTING_SHARE),
    )


CANONICAL: Canonical = (
    {"relation": "below"}, {"relation": "at"}, {"relation": "above"},
    {"relation": "at", "tilted": "gravity"}, {"relation": "at", "ground": "box"},
    {"relation": "at", "space": "spatial"}, {"relation": "at", "space": "spatial", "ground": "box"},
    {"relation": "above", "space": "spatial", "ground": "box"},
)  # fmt: skip
FAMILY = Family("incline-slide", incline_slide, CANONICAL, subject="the block on the incline")

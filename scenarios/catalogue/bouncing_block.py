"""A block that falls flat: both corners (in space, all four) meet the ground at once.

The closed form is the ball's, because the impact is symmetric: equal impulses at all corners return e of the speed
at each. An engine that treats the corners one after the other makes the block turn.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import numpy as np

from scenarios.catalogue import bounce
from scenarios.catalogue.bodies import Array, block, poses_in_plane, scene_of
from scenarios.catalogue.ground import GroundKind, Space
from scenarios.catalogue.ground import ground as lay_ground
from scenarios.catalogue.laws import MOVING_SHARE, contact_laws
from scenarios.scenario import Family, Noise, Scenario, Value, Within
from scenarios.truth import Truth

HALF = 0.5  # m, of the unit block
DURATION = 10.0  # s
NOISE: dict[str, Noise] = {
    **dict.fromkeys(("truth_error_angle", "energy_gain", "momentum_drift", "rest_drift", "jitter_position"), "step"),
    "impact_count": "tolerance",
    "jitter_velocity": "chaotic",  # single precision makes one corner land first, and the block rock
}


def bouncing_block(
    *,
    restitution: Annotated[float, Within(0.0, 1.0)] = 0.5,
    height: Annotated[float, Within(0.01, 100.0)] = 1.0,
    space: Space = "planar",
    ground: GroundKind = "plane",
) -> Scenario:
    """Bouncing block: a unit block dropped flat from a height of 1 m, frictionless"""
    body = block(space, "block", y=HALF + height, restitution=restitution)
    title = f"Bouncing block, e = {restitution:g}"
    scene = scene_of(space, (body,), lay_ground(space, ground, restitution=restitution), title=title, duration=DURATION)

    def motion(time: Array) -> Array:
        pose = np.zeros((len(time), 1, 3))
        pose[:, 0, 1] = HALF + bounce.bounce_height(time, height, restitution)
        return pose

    return Scenario(
        name="bouncing-block",
        title=title,
        probes="simultaneous impacts: restitution, symmetry, energy",
        regime="impact",
        scene=scene,
        truth=Truth(
            kind="closed form",
            source=f"{bounce.SOURCE}; equal impulses at all corners, by symmetry",
            span=(0.0, DURATION),
            pose=poses_in_plane(scene, motion),
            events=bounce.impacts("block", "ground", height, restitution, DURATION),
            goal=bounce.first_apex(HALF, height, restitution),
            invariants=bounce.invariants(height, restitution, DURATION),
        ),
        headline="truth_error_goal",
        noise=NOISE,
        meaningless=bounce.meaningless(height, restitution, DURATION),
        laws=contact_laws(scene, share=MOVING_SHARE),
    )


CANONICAL: tuple[Mapping[str, Value], ...] = (
    *({"restitution": e} for e in (0.0, 0.5, 0.9, 1.0)),
    {"restitution": 0.5, "ground": "box"},
    {"restitution": 0.0, "space": "spatial"},
    {"restitution": 0.0, "space": "spatial", "ground": "box"},
)
FAMILY = Family("bouncing-block", bouncing_block, CANONICAL, subject="the block")

"""A ball on the ground: the shortest scene with infinitely many impacts in a finite time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import numpy as np

from scenarios.catalogue import bounce
from scenarios.catalogue.bodies import Array, ball, poses_in_plane, scene_of
from scenarios.catalogue.ground import GroundKind, Space
from scenarios.catalogue.ground import ground as lay_ground
from scenarios.catalogue.laws import MOVING_SHARE, contact_laws
from scenarios.scenario import Family, Scenario, Value, Within
from scenarios.truth import Truth

RADIUS = 0.5  # m
DURATION = 10.0  # s


def bouncing_ball(
    *,
    restitution: Annotated[float, Within(0.0, 1.0)] = 0.9,
    height: Annotated[float, Within(0.01, 100.0)] = 1.0,
    space: Space = "planar",
    ground: GroundKind = "plane",
) -> Scenario:
    """Bouncing ball: dropped without spin from a height of 1 m, frictionless"""
    body = ball(space, "ball", radius=RADIUS, y=RADIUS + height, restitution=restitution)
    title = f"Bouncing ball, e = {restitution:g}"
    scene = scene_of(space, (body,), lay_ground(space, ground, restitution=restitution), title=title, duration=DURATION)

    def motion(time: Array) -> Array:
        pose = np.zeros((len(time), 1, 3))
        pose[:, 0, 1] = RADIUS + bounce.bounce_height(time, height, restitution)
        return pose

    return Scenario(
        name="bouncing-ball",
        title=title,
        probes="restitution, times of impact, accumulation of impacts, energy",
        regime="impact",
        scene=scene,
        truth=Truth(
            kind="closed form",
            source=bounce.SOURCE,
            span=(0.0, DURATION),
            pose=poses_in_plane(scene, motion),
            events=bounce.impacts("ball", "ground", height, restitution, DURATION),
            goal=bounce.first_apex(RADIUS, height, restitution),
            invariants=bounce.invariants(height, restitution, DURATION),
        ),
        headline="truth_error_goal",
        meaningless=bounce.meaningless(height, restitution, DURATION),
        laws=contact_laws(scene, share=MOVING_SHARE),
    )


CANONICAL: tuple[Mapping[str, Value], ...] = (
    *({"restitution": e} for e in (0.0, 0.5, 0.9, 1.0)),
    {"restitution": 0.9, "ground": "box"},
    {"restitution": 0.0, "space": "spatial"},
    {"restitution": 0.0, "space": "spatial", "ground": "box"},
)
FAMILY = Family("bouncing-ball", bouncing_ball, CANONICAL, subject="the ball")

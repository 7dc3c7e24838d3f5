"""A block that stands off its ground by a margin: dropped from a little above, or let go there."""

import math
from typing import Annotated

import numpy as np

from reference_engine.elementary import squared
from scenarios.catalogue.shared.bodies import G, GroundKind, Space, block, lay_ground, scene_of
from scenarios.catalogue.shared.laws import RESTING_SHARE, contact_laws, make_scenario
from scenarios.catalogue.shared.poses import Array, path, poses_in_plane
from scenarios.catalogue.shared.readings import coordinate_at
from scenarios.scenario import Canonical, Family, Scenario, Within
from scenarios.truth import Goal

DURATION = 2.0  # s


def stand_off(
    *,
    margin: Annotated[float, Within(1e-3, 0.1, "m")] = 0.02,
    drop: Annotated[float, Within(0.0, 1.0, "m")] = 0.0,
    space: Space = "planar",
    ground: GroundKind = "plane",
) -> Scenario:
    """Stand-off: a unit block rests `margin` m above its ground, half of it its own; let go there, or dropped"""
    half = 0.5 * margin
    body = block(space, "block", y=0.5 + margin + drop, margin=half)
    floor = lay_ground(space, ground).model_copy(update={"margin": half})
    scene = scene_of(space, (body,), floor, title=f"Stand-off by {margin:g} m", duration=DURATION)
    landing = math.sqrt(2.0 * drop / G)

    def motion(time: Array) -> Array:
        return path(time, y=0.5 + margin + np.where(time < landing, drop - 0.5 * G * squared(time), 0.0))

    height = 0.5 + margin
    return make_scenario(
        scene,
        probes="contact margins: where contact begins, and where a body rests",
        regime="rest",
        kind="closed form",
        source="the sum of both margins, by definition; free fall, restitution 0",
        pose=poses_in_plane(scene, motion),
        goal=Goal(
            name=f"height at {DURATION:g} s", unit="m", exact=height,
            measure=coordinate_at(DURATION, 0, 1 if space == "planar" else 2),
        ),
        invariants=frozenset({"rest", "energy-not-gained"}),
        laws=contact_laws(scene, share=RESTING_SHARE),
    )  # fmt: skip


CANONICAL: Canonical = ({}, {"drop": 0.2}, {"space": "spatial"}, {"space": "spatial", "ground": "box"})
FAMILY = Family("stand-off", stand_off, CANONICAL, subject="the block that stands off")

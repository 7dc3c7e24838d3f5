"""Three different ellipsoids fall beside one another onto a plane, drifting together, and end as a heap.

Until the first of them lands all fall freely, so the times of the first impacts are exact: none meets another before.
After that no exact motion is known; friction and impacts take energy and nothing overlaps. The scene of
Oltman & Hur 2017, section 7.1; theirs gives no figures, so sizes and places are ours.
"""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np

from reference_engine import elementary
from reference_engine.dense import norm
from scenarios.catalogue.bodies import G, scene_of
from scenarios.catalogue.ground import ground as lay_ground
from scenarios.catalogue.laws import MOVING_SHARE, contact_laws
from scenarios.catalogue.meaningless import OF_REST
from scenarios.scenario import Family, Scenario, Within
from scenarios.scene import Ellipsoid, SpatialBody
from scenarios.truth import Event, Truth

SEMI_AXES = ((0.3, 0.2, 0.15), (0.2, 0.2, 0.1), (0.25, 0.15, 0.15))  # m
LEAN = (0.4, 0.9, 1.3)  # rad, about the line from the middle
FALL = (0.15, 0.25, 0.35)  # m, from the lowest point of each to the plane
AROUND = 0.5  # m, of the centres from the middle
INWARD = 0.5  # m/s
DURATION = 1.5  # s
CHAOTIC = ("penetration_max", "penetration_mean", "penetration_final", "gap_final", "impact_count", "energy_gain")


def three_ellipsoids(*, friction: Annotated[float, Within(0.0, 1.0)] = 0.4) -> Scenario:
    """Three ellipsoids: they fall side by side onto a plane and meet there; when each lands"""
    bodies, events = [], []
    for i, (axes, lean, fall) in enumerate(zip(SEMI_AXES, LEAN, FALL)):
        angle = 2.0 * math.pi * i / 3.0
        x, y = elementary.cos(angle), elementary.sin(angle)
        # up, in the body's axes, where `lean` turns it about (x, y, 0)
        up = np.array([-y * elementary.sin(lean), x * elementary.sin(lean), elementary.cos(lean)])
        reach = float(norm(np.array(axes) * up))
        bodies.append(
            SpatialBody(
                name=f"ellipsoid {i + 1}",
                shape=Ellipsoid(semi_axes=axes),
                mass=axes[0] * axes[1] * axes[2] * 100.0,
                position=(AROUND * x, AROUND * y, reach + fall),
                orientation=(
                    elementary.cos(0.5 * lean),
                    elementary.sin(0.5 * lean) * x,
                    elementary.sin(0.5 * lean) * y,
                    0.0,
                ),
                velocity=(-INWARD * x, -INWARD * y, 0.0),
                friction=friction,
            )
        )
        events.append(Event(a=f"ellipsoid {i + 1}", b="ground", number=1, time=math.sqrt(2.0 * fall / G)))
    scene = scene_of(
        "spatial",
        tuple(bodies),
        lay_ground("spatial", "plane", friction),
        title="Three ellipsoids",
        duration=DURATION,
    )
    return Scenario(
        name="three-ellipsoids",
        title="Three ellipsoids",
        probes="impacts and contacts of ellipsoids, with a plane and among themselves",
        regime="many bodies",
        scene=scene,
        truth=Truth(
            kind="invariants",
            source="free fall up to the first impact of each; friction and impacts without restitution take energy",
            span=(0.0, DURATION),
            events=tuple(events[:1]),
            invariants=frozenset({"energy-not-gained", "no-overlap"}),
        ),
        headline="penetration_mean",
        noise=dict.fromkeys(CHAOTIC, "chaotic"),
        meaningless=OF_REST | {"energy_drift", "momentum_drift"},
        laws=contact_laws(scene, share=MOVING_SHARE),
    )


FAMILY = Family("three-ellipsoids", three_ellipsoids, subject="the group of three ellipsoids")

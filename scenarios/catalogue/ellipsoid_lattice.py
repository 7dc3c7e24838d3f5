"""A lattice of ellipsoids, turned at random, falls onto a plane: as a cube, or in four layers however many there are.

Where they end is chaotic; friction and impacts take energy, and nothing overlaps. With a speed each starts in a
direction of its own, as in the scaling study of Oltman & Hur 2017, section 7.3 (1 to 66 of them; it
gives no sizes).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Literal

import numpy as np

from reference_engine.elementary import power
from scenarios.catalogue.bodies import scene_of
from scenarios.catalogue.ground import ground as lay_ground
from scenarios.catalogue.laws import MOVING_SHARE, contact_laws
from scenarios.catalogue.meaningless import OF_REST
from scenarios.catalogue.three_ellipsoids import CHAOTIC
from scenarios.scenario import Family, Scenario, Value, Within
from scenarios.scene import Ellipsoid, SpatialBody
from scenarios.truth import Truth

SEMI_AXES = (0.2, 0.16, 0.12)  # m
DENSITY = 100.0  # kg/m^3 of the box a b c
PITCH = 0.44  # m, of the lattice: no two meet however they are turned
LAYERS = 4
FRICTION = 0.4
DURATION = 1.0  # s


def ellipsoid_lattice(
    *,
    n: Annotated[int, Within(1, 10_000)] = 27,
    heap: Literal["cube", "layers"] = "cube",
    speed: Annotated[float, Within(0.0, 5.0)] = 0.0,
    friction: Annotated[float, Within(0.0, 1.0)] = FRICTION,
    seed: Annotated[int, Within(0, 1_000_000)] = 1,
) -> Scenario:
    """Ellipsoid lattice: n ellipsoids, turned at random, fall onto a plane as a cube or in four layers"""
    side = math.ceil(round(power(n, 1.0 / 3.0), 9)) if heap == "cube" else math.ceil(math.sqrt(n / LAYERS))
    random = np.random.default_rng(seed)
    turned = random.normal(size=(n, 4))
    turned /= np.linalg.norm(turned, axis=1, keepdims=True)
    thrown = random.normal(size=(n, 3))
    thrown *= speed / np.linalg.norm(thrown, axis=1, keepdims=True)
    bodies = []
    for i in range(n):
        level, place = divmod(i, side * side)
        row, column = divmod(place, side)
        x, y = ((k - 0.5 * (side - 1)) * PITCH for k in (column, row))
        bodies.append(
            SpatialBody(
                name=f"ellipsoid {i + 1}",
                shape=Ellipsoid(semi_axes=SEMI_AXES),
                mass=DENSITY * math.prod(SEMI_AXES),
                position=(x, y, (level + 0.5) * PITCH),
                orientation=tuple(turned[i].tolist()),
                velocity=tuple(thrown[i].tolist()),
                friction=friction,
            )
        )
    title = f"Lattice of {n} ellipsoids"
    scene = scene_of("spatial", tuple(bodies), lay_ground("spatial", "plane", friction), title=title, duration=DURATION)
    return Scenario(
        name="ellipsoid-lattice",
        title=title,
        probes="many contacts of ellipsoids: sinking, energy from nothing, cost against number",
        regime="many bodies",
        scene=scene,
        truth=Truth(
            kind="invariants",
            source="friction and impacts without restitution take energy",
            span=(0.0, DURATION),
            invariants=frozenset({"energy-not-gained", "no-overlap"}),
        ),
        headline="penetration_mean",
        noise=dict.fromkeys((*CHAOTIC, "cone_violation"), "chaotic"),
        meaningless=OF_REST | {"energy_drift", "momentum_drift"},
        laws=contact_laws(scene, share=MOVING_SHARE),
    )


CANONICAL: tuple[Mapping[str, Value], ...] = ({}, {"n": 6, "speed": 0.5})
FAMILY = Family("ellipsoid-lattice", ellipsoid_lattice, CANONICAL, subject="the lattice of {n} ellipsoids")

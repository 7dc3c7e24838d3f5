"""A ball laid on a compliant floor: it sinks in until Hertz's force carries its weight, c depth^1.5 = m g.

A touch without approach has all the damping that the law allows. The law of this scene allows what is critical about
the depth at rest, sqrt(6 / (g depth)), so that it settles as fast as it can.
Source: Hertz 1882 (J. reine angew. Math. 92).
"""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np

from reference_engine.elementary import power
from scenarios.catalogue.bodies import Array, G, start_pose
from scenarios.catalogue.compliant_spheres import rubber
from scenarios.catalogue.laws import RESTING_SHARE, contact_laws
from scenarios.contact import stiffness
from scenarios.scenario import Family, Scenario, Within
from scenarios.scene import ContactLaw, HalfSpace, SpatialBody, SpatialScene, Sphere
from scenarios.truth import Goal, Motion, Truth

RADIUS, MASS = 0.1, 1.0  # m, kg
SETTLED, DURATION = 1.5, 3.0  # s


def compliant_rest(*, young_modulus: Annotated[float, Within(1e4, 1e10)] = 1e5) -> Scenario:
    """Compliant rest: a ball laid on a soft floor sinks in until that carries its weight; the depth"""
    law = rubber(young_modulus, 0.0)
    ball = SpatialBody(
        name="ball", shape=Sphere(radius=RADIUS), mass=MASS, material="rubber", position=(0.0, 0.0, RADIUS)
    )
    floor = HalfSpace(name="floor", material="rubber")
    depth = power(MASS * G / stiffness(law, ball, floor), 2.0 / 3.0)
    law = law.model_copy(update={"most_damping": math.sqrt(6.0 / (G * depth))})
    scene = SpatialScene(
        title="Compliant rest", duration=DURATION, bodies=(ball,), boundaries=(floor,),
        contact=ContactLaw(compliant=law),
    )  # fmt: skip

    def pose(time: Array) -> Array:
        still = np.tile(np.hstack(start_pose(scene)), (len(time), 1, 1))
        still[:, 0, 2] = RADIUS - depth
        return still

    def final_depth(found: Motion) -> float:
        return float(RADIUS - found.position[-1, 0, 2])

    return Scenario(
        name="compliant-rest",
        title=scene.title,
        probes="elastic contact at rest: the depth that carries the weight",
        regime="rest",
        scene=scene,
        truth=Truth(
            kind="closed form",
            source="Hertz 1882: stiffness times the depth to the power of 3/2 is the weight",
            span=(SETTLED, DURATION),
            error=1e-9,
            pose=pose,
            goal=Goal(name="depth at rest", unit="m", exact=depth, measure=final_depth),
            invariants=frozenset({"energy-not-gained", "elastic-depth", "rest"}),
        ),
        headline="truth_error_goal",
        meaningless=frozenset({"energy_drift"}),
        laws=contact_laws(scene, share=RESTING_SHARE),
    )


FAMILY = Family("compliant-rest", compliant_rest, (), subject="the ball")

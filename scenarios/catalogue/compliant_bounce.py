"""A ball against a compliant floor, without weight: one rebound.

Hertz's force with a damping that grows with it, c depth^1.5 (1 + d u), u the speed of approach. Without other forces
u du/(1 + d u) = -(c/m) depth^1.5 d(depth) gives the rebound, with x = d v and v the speed at which they met,

    v_plus / v = (1 + W0(-(1 + x) exp(-(1 + x)))) / x,      2/5 (c/m) d^2 depth_max^2.5 = x - log(1 + x),

W0 Lambert's function: a ratio below the nominal e, whatever mass and stiffness.
Source: Hunt & Crossley 1975 (J. Appl. Mech. 42); Flores & Lankarani 2016, Contact Force Models, ch. 3.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Annotated

from reference_engine.elementary import power, squared
from scenarios.catalogue.compliant_spheres import ERROR, CompliantSpheres, rubber
from scenarios.catalogue.laws import MOVING_SHARE, contact_laws
from scenarios.catalogue.meaningless import AT_THE_END, OF_REST
from scenarios.contact import damping, rebound_ratio, stiffness
from scenarios.scenario import Family, Scenario, Within
from scenarios.scene import ContactLaw, HalfSpace, SpatialBody, SpatialScene, Sphere
from scenarios.truth import Event, Goal, Motion, Truth

RADIUS, MASS = 0.1, 1.0  # m, kg
RUN_UP = 0.25  # s, to the touch
AFTER = 0.25  # s, from what the touch lasts at most


def compliant_bounce(
    *,
    restitution: Annotated[float, Within(0.1, 1.0)] = 0.7,
    speed: Annotated[float, Within(0.02, 10.0)] = 0.5,
    young_modulus: Annotated[float, Within(1e4, 1e12)] = 1e5,
) -> Scenario:
    """Compliant bounce: a ball without weight thrown at a soft floor; the ratio of the two speeds"""
    law = rubber(young_modulus, restitution)
    ball = SpatialBody(
        name="ball", shape=Sphere(radius=RADIUS), mass=MASS, material="rubber",
        position=(0.0, 0.0, RADIUS + RUN_UP * speed), velocity=(0.0, 0.0, -speed),
    )  # fmt: skip
    floor = HalfSpace(name="floor", material="rubber")
    # Undamped it lasts 2.94 depths over the speed (Johnson 1985, Contact Mechanics, 11.4); damping keeps it longer.
    lasts = 2.94 * power(1.25 * MASS * squared(speed) / stiffness(law, ball, floor), 0.4) / speed
    scene = SpatialScene(
        title="Compliant bounce", duration=round(RUN_UP + 3.0 * lasts + AFTER, 3), gravity=(0.0, 0.0, 0.0),
        bodies=(ball,), boundaries=(floor,), contact=ContactLaw(compliant=law),
    )  # fmt: skip
    ratio = rebound_ratio(damping(law, law.pairs[0], speed) * speed)

    @cache
    def motion() -> CompliantSpheres:
        return CompliantSpheres(scene)

    def final_ratio(found: Motion) -> float:
        up = float(found.velocity[-1, 0, 2])
        return up / speed if up > 0.0 else math.nan

    return Scenario(
        name="compliant-bounce",
        title=scene.title,
        probes="elastic contact with damping: the rebound, and the motion within",
        regime="impact",
        scene=scene,
        truth=Truth(
            kind="exact ODE",
            source="Hertz's force, damping of Hunt & Crossley 1975: the ratio by Lambert's function, poses by DOP853",
            span=(0.0, scene.duration),
            error=ERROR,
            pose=lambda time: motion().pose(time),
            events=(Event(a="ball", b="floor", number=1, time=RUN_UP),),
            goal=Goal(name="rebound ratio", unit="1", exact=ratio, measure=final_ratio),
            invariants=frozenset({"energy-not-gained", "elastic-depth"}),
        ),
        headline="truth_error_goal",
        meaningless=OF_REST | AT_THE_END | (frozenset() if restitution == 1.0 else {"energy_drift"}),
        laws=contact_laws(scene, share=MOVING_SHARE),
    )


FAMILY = Family("compliant-bounce", compliant_bounce, (), subject="the ball")

"""Newton's cradle of compliant balls, without weight: equal balls in a row, the first thrown at the others.

Rigid mechanics gives no single answer for balls that touch; elastic balls have one: the impact is a wave that passes
through, the last ball leaves with a little less than all of it, and the others with a little each. Momentum is kept,
and energy where nothing is damped.
Source: Hertz's law between neighbours (Nesterenko 1983, J. Appl. Mech. Tech. Phys. 24), integrated.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Literal

from scenarios.catalogue.compliant_spheres import ERROR, CompliantSpheres, check_depth, rubber
from scenarios.catalogue.laws import MOMENTUM_SHARE, MOVING_SHARE, contact_laws
from scenarios.catalogue.meaningless import AT_THE_END, OF_REST
from scenarios.scenario import Family, Scenario, Within
from scenarios.scene import ContactLaw, SpatialBody, SpatialScene, Sphere
from scenarios.truth import Invariant, Truth

RADIUS, MASS = 0.1, 1.0  # m, kg
DURATION = 0.6  # s: at 1 m/s the wave is through 5 balls of 1e5 Pa in half of it


def compliant_cradle(
    *,
    n: Literal[2, 3, 4, 5] = 5,
    gap: Annotated[float, Within(1e-4, 0.1)] = 1e-3,
    speed: Annotated[float, Within(0.1, 10.0)] = 1.0,
    restitution: Annotated[float, Within(0.1, 1.0)] = 1.0,
    young_modulus: Annotated[float, Within(1e4, 1e10)] = 1e5,
) -> Scenario:
    """Compliant cradle: n elastic balls in a row, `gap` m apart, the first thrown at the others"""
    scene = SpatialScene(
        title="Compliant cradle",
        duration=DURATION,
        gravity=(0.0, 0.0, 0.0),
        bodies=tuple(
            SpatialBody(
                name=f"ball {i + 1}", shape=Sphere(radius=RADIUS), mass=MASS, material="rubber",
                position=((2.0 * RADIUS + gap) * i, 0.0, 0.0), velocity=(0.0 if i else speed, 0.0, 0.0),
            )
            for i in range(n)
        ),
        contact=ContactLaw(compliant=rubber(young_modulus, restitution)),
    )  # fmt: skip

    check_depth("compliant-cradle", scene, speed)

    @cache
    def motion() -> CompliantSpheres:
        return CompliantSpheres(scene)

    kept: frozenset[Invariant] = frozenset(
        {"momentum", "angular-momentum", "elastic-depth", "energy" if restitution == 1.0 else "energy-not-gained"}
    )
    return Scenario(
        name="compliant-cradle",
        title=scene.title,
        probes="a wave through elastic contacts, momentum and energy of a closed system",
        regime="impact",
        scene=scene,
        truth=Truth(
            kind="converged",
            source="Hertz's force between balls, damping of Hunt & Crossley 1975; DOP853 at two tolerances",
            span=(0.0, DURATION),
            error=ERROR,
            pose=lambda time: motion().pose(time),
            invariants=kept,
        ),
        headline="truth_error_position",
        laws=contact_laws(scene, share=MOVING_SHARE) | {"momentum_drift": MOMENTUM_SHARE * MASS * speed},
        meaningless=OF_REST | AT_THE_END | (frozenset() if restitution == 1.0 else {"energy_drift"}),
    )


FAMILY = Family("compliant-cradle", compliant_cradle, (), subject="the row of {n} balls")

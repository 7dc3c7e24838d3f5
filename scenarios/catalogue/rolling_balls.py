"""Two compliant balls on a compliant floor: one slides and rolls into the other, off its middle, and both roll on.

Friction turns and slows both, at the floor and between them; kinetic energy, that of weight, that in the contacts and
what they have taken out have a constant sum. Both start as deep in the floor as their weight presses them.
Source: the law of `scenarios.contact`, integrated; no closed form is known.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated

from reference_engine.elementary import power
from scenarios.catalogue.bodies import G
from scenarios.catalogue.compliant_spheres import ERROR, CompliantSpheres, check_depth, rubber
from scenarios.catalogue.laws import MOVING_SHARE, contact_laws
from scenarios.catalogue.meaningless import OF_REST
from scenarios.contact import stiffness
from scenarios.scenario import Family, Scenario, Within
from scenarios.scene import ContactLaw, HalfSpace, SpatialBody, SpatialScene, Sphere
from scenarios.truth import Truth

RADIUS, MASS = 0.1, 1.0  # m, kg
RUN_UP = 0.1  # m, between the two
MOST_DAMPING = 10.0  # s/m: about what is critical for a ball on the floor
DURATION = 0.6  # s


def rolling_balls(
    *,
    speed: Annotated[float, Within(0.1, 5.0)] = 1.0,
    offset: Annotated[float, Within(0.0, 0.15)] = 0.04,
    restitution: Annotated[float, Within(0.1, 1.0)] = 0.7,
    friction: Annotated[float, Within(0.0, 1.0)] = 0.2,
    rolling_resistance: Annotated[float, Within(0.0, 0.1)] = 0.0,
    young_modulus: Annotated[float, Within(1e4, 1e8)] = 1e5,
) -> Scenario:
    """Rolling balls: one thrown along a soft floor at another, `offset` m off its middle; both roll on"""
    law = rubber(young_modulus, restitution, friction, rolling_resistance, v_small=0.05)
    law = law.model_copy(update={"most_damping": MOST_DAMPING})
    floor = HalfSpace(name="floor", material="rubber")
    still = SpatialBody(name="struck", shape=Sphere(radius=RADIUS), mass=MASS, material="rubber")
    height = RADIUS - power(MASS * G / stiffness(law, still, floor), 2.0 / 3.0)
    thrown = still.model_copy(
        update={
            "name": "thrown", "velocity": (speed, 0.0, 0.0), "position": (-2.0 * RADIUS - RUN_UP, offset, height),
        }
    )  # fmt: skip
    scene = SpatialScene(
        title="Rolling balls",
        duration=DURATION,
        bodies=(thrown, still.model_copy(update={"position": (0.0, 0.0, height)})),
        boundaries=(floor,),
        contact=ContactLaw(compliant=law),
    )

    check_depth("rolling-balls", scene, speed)

    @cache
    def motion() -> CompliantSpheres:
        return CompliantSpheres(scene)

    return Scenario(
        name="rolling-balls",
        title=scene.title,
        probes="friction and rolling of elastic bodies, at the floor and between them",
        regime="rolling",
        scene=scene,
        truth=Truth(
            kind="converged",
            source="Hertz, Hunt & Crossley 1975, regularised friction; DOP853; its four energies add up",
            span=(0.0, DURATION),
            error=ERROR,
            pose=lambda time: motion().pose(time),
            invariants=frozenset({"energy-not-gained", "elastic-depth"}),
        ),
        headline="truth_error_position",
        meaningless=OF_REST | {"energy_drift"},
        laws=contact_laws(scene, share=MOVING_SHARE),
    )


FAMILY = Family("rolling-balls", rolling_balls, (), subject="the pair of balls")

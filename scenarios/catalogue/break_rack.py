"""The break: a rack of fifteen balls, almost in contact, struck by a sixteenth; frictionless, without gravity.

How the balls fly apart depends on the order of impacts and on the last digit of the gaps, so there is no one answer;
momentum, angular momentum and, without loss, energy stay whatever the order.
"""

import math
from typing import Annotated

from scenarios.catalogue.shared import laws
from scenarios.catalogue.shared.bodies import Space, ball, scene_of
from scenarios.scenario import Family, Scenario, Within
from scenarios.truth import Event

ROWS = 5
RADIUS = 0.1  # m
RUN_UP = 0.5  # m, between the cue ball and the first of the rack
DURATION = 1.0  # s
DEEPEST = 0.01  # m per m/s of the cue: a step of 1/240 s takes it 0.004 m into the first ball


def break_rack(
    *,
    speed: Annotated[float, Within(0.1, 20.0, "m/s")] = 5.0,
    gap: Annotated[float, Within(1e-4, 0.1, "m")] = 1e-3,
    restitution: Annotated[float, Within(0.0, 1.0)] = 1.0,
    space: Space = "planar",
) -> Scenario:
    """Break: a cue ball at `speed` into a rack of fifteen, `gap` m apart; judged by what is conserved"""
    pitch = 2.0 * RADIUS + gap
    rack = [
        (row * pitch * math.sqrt(0.75), (column - row / 2.0) * pitch)
        for row in range(ROWS)
        for column in range(row + 1)
    ]
    bodies = (
        ball(
            space, "cue", radius=RADIUS, x=-2.0 * RADIUS - RUN_UP, y=0.0, velocity=(speed, 0.0), restitution=restitution
        ),
        *(
            ball(space, f"ball {i + 1}", radius=RADIUS, x=x, y=y, restitution=restitution)
            for i, (x, y) in enumerate(rack)
        ),
    )
    duration = DURATION * max(1.0, 5.0 / speed)  # slow balls are given as far to go
    scene = scene_of(space, bodies, title="Break", duration=duration, g=0.0)
    return laws.make_scenario(
        scene,
        probes="many impacts at once: momentum and energy of a closed system",
        regime="many bodies",
        kind="invariants",
        source="conservation of momentum, angular momentum and, with restitution 1, energy; uniform motion up to "
        "the first impact",
        events=(Event(a="cue", b="ball 1", number=1, time=RUN_UP / speed),),
        invariants=laws.conserved_by_impacts(restitution),
        headline="energy_drift" if restitution == 1.0 else "energy_gain",
        noise={"penetration_max": "chaotic", "penetration_mean": "chaotic", "impact_count": "chaotic"},
        meaningless=laws.not_of_impacts(restitution),
        laws=laws.contact_laws(scene, share=laws.MOVING_SHARE)
        | {"momentum_drift": laws.MOMENTUM_SHARE * speed, "penetration_max": DEEPEST * speed},
    )


FAMILY = Family("break", break_rack, subject="the rack of balls")

"""A plate that tumbles and touches nothing: energy, momentum and angular momentum keep their values.

It is 1.414 x 1 m of 12 kg, so thin that its moments are 1, 2 and 3 kg m^2. `flip` turns it almost about the axis of
the middle moment, which is unstable: it turns over every 19.55 s. `over` does so four times as fast, and turns over
twice. `even` turns it about all three alike.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Literal

import numpy as np

from reference_engine.elementary import squared
from scenarios.catalogue.bodies import Array, Body, block, poses_in_plane, scene_of
from scenarios.catalogue.ground import Space
from scenarios.catalogue.laws import flight_laws
from scenarios.catalogue.meaningless import OF_REST, OF_TOUCH
from scenarios.catalogue.tumbling import attitude
from scenarios.scenario import Family, Scenario, Value, Within
from scenarios.scene import Box, SpatialBody
from scenarios.truth import Truth

Start = Literal["flip", "even", "over"]

MASS = 12.0  # kg
INERTIA = (1.0, 2.0, 3.0)  # kg m^2
PLATE = (math.sqrt(2.0), 1.0)  # m
THICKNESS = 0.02  # m, for the eye alone: it meets nothing
SPIN: dict[Start, tuple[float, float, float]] = {
    "flip": (0.01, 1.0, 0.01),
    "even": (1.0, 1.0, 1.0),
    "over": (0.04, 4.0, 0.04),
}  # rad/s
EULER = "Euler's equations of the torque-free body, solved by Taylor series of order 20 (Goldstein, ch. 5)"
DRIFT = 0.5  # m/s, sideways
DURATION = 10.0  # s


def free_tumble(
    *,
    start: Start = "flip",
    gravity: Annotated[float, Within(0.0, 100.0)] = 0.0,
    space: Space = "spatial",
) -> Scenario:
    """Free tumble: a plate turns in flight and touches nothing; in the plane it turns at the same rate

    With gravity it is thrown up so that it is back at its height when the time is over.
    """
    spin = SPIN[start]
    throw = (DRIFT, gravity * DURATION / 2.0)
    rate = math.hypot(*spin)
    body: Body
    if space == "planar":
        body = block(space, "plate", size=PLATE, y=0.0, velocity=throw, spin=rate, mass=MASS)
    else:
        body = SpatialBody(
            name="plate",
            shape=Box(size=(*PLATE, THICKNESS)),
            mass=MASS,
            inertia=INERTIA,
            velocity=(throw[0], 0.0, throw[1]),
            spin=spin,
        )
    title = f"Free tumble, {start}" + (" under gravity" if gravity else "")
    scene = scene_of(space, (body,), title=title, duration=DURATION, g=gravity)

    def path(time: Array) -> tuple[Array, Array]:
        return throw[0] * time, throw[1] * time - 0.5 * gravity * squared(time)

    def planar(time: Array) -> Array:
        return np.stack([*path(time), rate * time], axis=-1)[:, None, :]

    def spatial(time: Array) -> Array:
        x, z = path(np.asarray(time, dtype=np.float64))
        turned, _ = attitude(INERTIA, spin, time)
        return np.column_stack([x, np.zeros_like(x), z, turned])[:, None, :]

    return Scenario(
        name="free-tumble",
        title=title,
        probes="free motion: gyroscopic term, attitude, conservation, the integrator's order",
        regime="free motion",
        scene=scene,
        truth=Truth(
            kind="closed form" if space == "planar" else "exact ODE",
            source="a parabola and uniform turning" if space == "planar" else EULER,
            span=(0.0, DURATION),
            error=0.0 if space == "planar" else 1e-13,
            pose=poses_in_plane(scene, planar) if space == "planar" else spatial,
            invariants=frozenset({"energy", "momentum", "angular-momentum"}),
        ),
        headline="energy_drift",
        meaningless=OF_REST | OF_TOUCH,
        laws=flight_laws(scene),
    )


CANONICAL: tuple[Mapping[str, Value], ...] = (
    {"start": "even"},
    {"start": "flip"},
    {"start": "over"},
    {"start": "even", "gravity": 9.81},
    {"start": "even", "gravity": 9.81, "space": "planar"},
)
FAMILY = Family("free-tumble", free_tumble, CANONICAL, subject="the tumbling body")

"""Rods, ropes and fixed joints in space: a ball that goes round on a string, and two cubes that fly as one.

A conical pendulum goes round with w^2 = g / (L cos angle) (Huygens, Horologium oscillatorium, 1673). Two cubes, fixed
to one another along x and thrown with a spin about z, keep that spin: z is a principal axis of the two.
"""

import math
from typing import Annotated, Any, Literal

import numpy as np

from reference_engine import elementary
from reference_engine.elementary import squared
from scenarios.catalogue.shared.bodies import G
from scenarios.catalogue.shared.laws import OF_CONTACT, OF_REST, SWING_SHARE, flight_laws, joint_scenario, make_scenario
from scenarios.catalogue.shared.poses import Array
from scenarios.scenario import Family, Scenario, Within
from scenarios.scene import Box, Fixed, SpatialBody, SpatialRod, SpatialRope, SpatialScene, Sphere

STRING, RADIUS = 1.0, 0.1  # m
EDGE, LIGHTER, HEAVIER = 0.2, 1.0, 3.0  # m, kg, kg
SPIN, THROWN = 5.0, (1.0, 0.0, 4.0)  # rad/s, m/s
GOES_ROUND, FLIES = 3.0, 1.0  # s


def conical_pendulum(
    *, tie: Literal["rope", "rod"] = "rope", angle: Annotated[float, Within(0.05, 1.4, "rad")] = 0.6
) -> Scenario:
    """Conical pendulum: a ball on a rope, or a rod, goes round at `angle` from straight down"""
    s, c = elementary.sine_cosine(angle)
    rate = math.sqrt(G / (STRING * float(c)))
    far = STRING * float(s)
    ball = SpatialBody(
        name="ball", shape=Sphere(radius=RADIUS), mass=1.0, position=(far, 0.0, -STRING * float(c)),
        velocity=(0.0, rate * far, 0.0),
    )  # fmt: skip
    make: Any = SpatialRope if tie == "rope" else SpatialRod
    string = make(name=tie, a="ball", anchor_a=(0.0, 0.0, 0.0), anchor_b=(0.0, 0.0, 0.0), length=STRING)
    scene = SpatialScene(title=f"Conical pendulum on a {tie}", duration=GOES_ROUND, bodies=(ball,), joints=(string,))

    def pose(time: Array) -> Array:
        up, across = elementary.sine_cosine(rate * np.asarray(time, np.float64))
        zero = np.zeros_like(up)
        height = zero - STRING * float(c)
        return np.stack([far * across, far * up, height, zero + 1.0, zero, zero, zero], axis=-1)[:, None]

    return joint_scenario(
        scene, arm=STRING, probes="ropes and rods in space: length, tension, energy", kind="closed form", pose=pose,
        source="the conical pendulum: the string and gravity bend its path into a circle",
    )  # fmt: skip


def fixed_flight() -> Scenario:
    """Fixed flight: two cubes of 1 and 3 kg, fixed to one another, thrown with a spin; they fly as one"""
    share = LIGHTER / (LIGHTER + HEAVIER)
    at = (-(1.0 - share) * EDGE, share * EDGE)  # along x, from the centre of mass of the two
    bodies = tuple(
        SpatialBody(
            name=name, shape=Box(size=(EDGE, EDGE, EDGE)), mass=mass, position=(x, 0.0, 0.0), group=1,
            velocity=(THROWN[0], THROWN[1] + SPIN * x, THROWN[2]), spin=(0.0, 0.0, SPIN),
        )
        for name, mass, x in zip(("lighter", "heavier"), (LIGHTER, HEAVIER), at)
    )  # fmt: skip
    half = 0.5 * EDGE
    weld = Fixed(name="weld", a="lighter", b="heavier", anchor_a=(half, 0.0, 0.0), anchor_b=(-half, 0.0, 0.0))
    scene = SpatialScene(title="Two cubes fly as one", duration=FLIES, bodies=bodies, joints=(weld,))

    def pose(time: Array) -> Array:
        t = np.asarray(time, np.float64)
        (s, c), (half_s, half_c) = elementary.sine_cosine(SPIN * t), elementary.sine_cosine(0.5 * SPIN * t)
        zero = np.zeros_like(t)
        centre = np.stack([THROWN[0] * t, THROWN[1] * t, THROWN[2] * t - 0.5 * G * squared(t)], axis=-1)
        turned = np.stack([half_c, zero, zero, half_s], axis=-1)
        along = np.stack([c, s, zero], axis=-1)
        return np.stack([np.concatenate([centre + x * along, turned], axis=1) for x in at], axis=1)

    return make_scenario(
        scene, probes="fixed joints: two bodies as one, its centre of mass and moment", regime="joints",
        kind="closed form", source="free flight with a steady spin about a principal axis", pose=pose,
        invariants=frozenset({"energy", "momentum", "angular-momentum"}), meaningless=OF_REST | OF_CONTACT,
        laws=flight_laws(scene) | {"joint_gap": 0.05 * EDGE, "energy_gain": SWING_SHARE * 0.5 * HEAVIER * 17.0},
    )  # fmt: skip


CONE = Family("conical-pendulum", conical_pendulum, ({}, {"tie": "rod"}), subject="the ball on a string")
WELDED = Family("fixed-flight", fixed_flight, subject="the two cubes")

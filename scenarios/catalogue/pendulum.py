"""A uniform rod of 1 m and 1 kg that swings about its end: by a pin in the plane, by a hinge in space.

    theta'' = -(3 g / 2 L) sin theta,   T = 4 K(sin^2(theta_0 / 2)) / p,   p^2 = 3 g / (2 L)

K(m) by the arithmetic-geometric mean. Source: Whittaker, Analytical Dynamics, ch. 4 (by elliptic functions).
"""

import math
from functools import lru_cache
from typing import Annotated

import numpy as np

from reference_engine import elementary
from reference_engine.elementary import squared
from scenarios.catalogue.shared.bodies import G, Space, block, pin, scene_of
from scenarios.catalogue.shared.chebyshev import DenseSolution
from scenarios.catalogue.shared.laws import joint_scenario
from scenarios.catalogue.shared.poses import Array, poses_in_plane
from scenarios.catalogue.shared.readings import period_of
from scenarios.scenario import Family, Scenario, Within
from scenarios.truth import Goal

LENGTH, THICKNESS = 1.0, 0.05  # m; the thickness is for the eye: the inertia is that of a slender rod
SHORTEST = 4.0  # s; large swings take longer for the two swings to one side that a period is read from


@lru_cache(maxsize=4)
def motion(amplitude: float) -> DenseSolution:
    """(theta, theta') from rest."""
    rate = 1.5 * G / LENGTH
    return DenseSolution(
        lambda time, y: np.array([y[1], -rate * elementary.sin(y[0])]), np.array([amplitude, 0.0]), 0.0,
        duration(amplitude),
        window=0.3,
    )  # fmt: skip


def period(amplitude: float) -> float:
    """s. K(m) = pi / (2 agm(1, sqrt(1 - m)))."""
    a, b = 1.0, elementary.cos(0.5 * amplitude)
    for _ in range(8):  # it converges quadratically
        a, b = 0.5 * (a + b), math.sqrt(a * b)
    return 2.0 * math.pi / (math.sqrt(1.5 * G / LENGTH) * a)


def duration(amplitude: float) -> float:
    """s"""
    return max(SHORTEST, math.ceil(2.0 * period(amplitude)))


def poses(angle: Array) -> Array:
    """(S, 1, 3) of angles (S,)."""
    return np.stack([0.5 * LENGTH * elementary.sin(angle), -0.5 * LENGTH * elementary.cos(angle), angle], axis=-1)[
        :, None, :
    ]


def pendulum(*, amplitude: Annotated[float, Within(0.01, 3.0, "rad")] = 1.2, space: Space = "planar") -> Scenario:
    """Pendulum: a rod swings about its end, let go at `amplitude` from straight down"""
    x, y, _ = poses(np.array([amplitude]))[0, 0]
    slender = squared(LENGTH) / 12.0
    rod = block(
        space, "rod", size=(THICKNESS, LENGTH), depth=THICKNESS, x=float(x), y=float(y), angle=amplitude,
        inertia=slender if space == "planar" else (slender, slender, squared(THICKNESS) / 6.0),
    )  # fmt: skip
    joint = pin(space, "pin" if space == "planar" else "hinge", "rod", None, (0.0, 0.5 * LENGTH), (0.0, 0.0))
    lasts = duration(amplitude)
    scene = scene_of(space, (rod,), title=f"Pendulum from {amplitude:g} rad", duration=lasts, joints=(joint,))
    exact = motion(amplitude)
    by_swings = period_of(lambda seen: seen.position[:, 0, 0], rising=True)  # through the lowest point towards +x
    return joint_scenario(
        scene,
        arm=LENGTH,
        probes="joints: a period, gap, energy of the integrator",
        kind="exact ODE",
        source="the pendulum's equation in Chebyshev series; its period by the complete elliptic integral",
        error=1e-13,
        pose=poses_in_plane(scene, lambda time: poses(exact(time)[0])),
        goal=Goal(name="period", unit="s", exact=period(amplitude), measure=by_swings),
    )


FAMILY = Family("pendulum", pendulum, ({}, {"space": "spatial"}), subject="the pendulum")

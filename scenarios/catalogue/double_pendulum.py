"""The double pendulum: two uniform rods of 1 m and 1 kg, hinged to the world and to each other.

Angles theta_1, theta_2 from straight down, L = m = 1:
    [4/3        c/2] [theta_1'']   [-s/2 theta_2'^2 - 3/2 g sin theta_1]
    [c/2        1/3] [theta_2''] = [ s/2 theta_1'^2 - 1/2 g sin theta_2],   c, s = cos, sin (theta_1 - theta_2)
    E = (4 theta_1'^2 + theta_2'^2 + 3 c theta_1' theta_2') / 6 - g (3 cos theta_1 + cos theta_2) / 2
Source: Lagrange's equations for slender rods (Goldstein, Classical Mechanics, ch. 1 and 2).
"""

import math
from functools import lru_cache
from typing import Literal

import numpy as np

from reference_engine import elementary
from reference_engine.elementary import squared
from scenarios.catalogue.shared.bodies import Array, G, rectangle
from scenarios.catalogue.shared.chebyshev import DenseSolution
from scenarios.catalogue.shared.laws import OF_CONTACT, OF_REST, joint_scenario
from scenarios.catalogue.shared.readings import coordinate_at
from scenarios.scenario import Family, Scenario
from scenarios.scene import PlanarBody, PlanarScene, Revolute
from scenarios.truth import Goal

LENGTH, THICKNESS = 1.0, 0.05  # m; the thickness is for the eye: the inertia is that of a slender rod
DURATION = 10.0  # s
GOAL_TIME = 2.0  # s
STARTS: dict[str, tuple[float, float]] = {"mild": (1.0, 0.5), "level": (math.pi / 2.0, math.pi / 2.0)}
SPANS = {"mild": DURATION, "level": 3.0}
"""s, of the truth. Started level it is chaotic: an error grows a million times in 10 s, ten times in the first 3."""
ERROR = 1e-12  # relative, over the span

Start = Literal["mild", "level"]


@lru_cache(maxsize=4)
def motion(theta_1: float, theta_2: float, end: float) -> DenseSolution:
    """(theta_1, theta_2, theta_1', theta_2') from rest."""
    return DenseSolution(rate, np.array([theta_1, theta_2, 0.0, 0.0]), 0.0, end, window=0.3)


def rate(time: Array, state: Array, g: float = G) -> Array:
    theta_1, theta_2, omega_1, omega_2 = state
    s, c = elementary.sine_cosine(theta_1 - theta_2)
    torque_1 = -0.5 * s * squared(omega_2) - 1.5 * g * elementary.sin(theta_1)
    torque_2 = 0.5 * s * squared(omega_1) - 0.5 * g * elementary.sin(theta_2)
    determinant = 4.0 / 9.0 - 0.25 * squared(c)
    alpha_1 = (torque_1 / 3.0 - 0.5 * c * torque_2) / determinant
    alpha_2 = (4.0 / 3.0 * torque_2 - 0.5 * c * torque_1) / determinant
    return np.array([omega_1, omega_2, alpha_1, alpha_2])


def poses(angles: Array) -> Array:
    """(S, 2, 3) of angles (2, S): a rod hanging straight down has angle 0."""
    theta_1, theta_2 = angles
    s_1, c_1 = elementary.sine_cosine(theta_1)
    s_2, c_2 = elementary.sine_cosine(theta_2)
    upper = np.stack([0.5 * s_1, -0.5 * c_1, theta_1], axis=-1)
    lower = np.stack([s_1 + 0.5 * s_2, -c_1 - 0.5 * c_2, theta_2], axis=-1)
    return np.stack([upper, lower], axis=1)


def double_pendulum(*, start: Start = "mild") -> Scenario:
    """Double pendulum: two rods let go at 1 and 0.5 rad (mild), or both level, which is chaotic"""
    theta = STARTS[start]
    exact = motion(*theta, SPANS[start])
    b = LENGTH / 2.0
    bodies = tuple(
        PlanarBody(
            name=name,
            shape=rectangle(THICKNESS, LENGTH),
            mass=1.0,
            inertia=squared(LENGTH) / 12.0,
            position=(float(x), float(y)),
            angle=float(angle),
        )
        for name, (x, y, angle) in zip(("upper", "lower"), poses(np.array(theta)[:, None])[0])
    )
    scene = PlanarScene(
        title=f"Double pendulum, {start}",
        duration=DURATION,
        bodies=bodies,
        joints=(
            Revolute(name="hinge", a="upper", anchor_a=(0.0, b), anchor_b=(0.0, 0.0)),
            Revolute(name="elbow", a="upper", b="lower", anchor_a=(0.0, -b), anchor_b=(0.0, b)),
        ),
    )

    def goal_x() -> float:
        return float(poses(exact(np.array([GOAL_TIME]))[:2])[0, 1, 0])

    return joint_scenario(
        scene,
        arm=LENGTH,
        probes="joints: gap, energy of the integrator",
        kind="converged",
        source="Lagrange's equations for two slender rods, in Chebyshev series; two orders agree to the error",
        span=(0.0, SPANS[start]),
        error=ERROR,
        pose=lambda time: poses(exact(time)[:2]),
        goal=Goal(name="x of the lower rod at 2 s", unit="m", exact=goal_x, measure=coordinate_at(GOAL_TIME, 1, 0)),
        headline="energy_drift",
        noise={"energy_drift": "chaotic", "energy_gain": "chaotic", "joint_gap": "chaotic"} if start == "level" else {},
        meaningless=OF_REST | OF_CONTACT | {"momentum_drift"},
    )


FAMILY = Family("double-pendulum", double_pendulum, ({}, {"start": "level"}), subject="the double pendulum")

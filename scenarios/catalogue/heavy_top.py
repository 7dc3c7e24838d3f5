"""A fast top on its tip: a disc of 1 kg whose centre is 0.15 m from a ball joint, let go with its spin alone.

It falls until precession carries it, and comes back up to where it was let go, in cusps. About the tip, where
A = A_cm + m l^2:

    A p' = (A - C) q r + m g l up_2,    A q' = (C - A) r p - m g l up_1,    r' = 0,    up = R^T (0, 0, 1)

Source: Lagrange's top (Goldstein, Classical Mechanics, ch. 5.7), by Euler's equations and those of the quaternion.
"""

from functools import lru_cache
from typing import Annotated

import numpy as np

from reference_engine import elementary
from reference_engine.elementary import squared
from scenarios.catalogue.shared.bodies import Array, G
from scenarios.catalogue.shared.chebyshev import DenseSolution
from scenarios.catalogue.shared.laws import joint_scenario
from scenarios.catalogue.shared.readings import coordinate_at
from scenarios.scenario import Family, Scenario, Within
from scenarios.scene import Ball, Cylinder, SpatialBody, SpatialScene
from scenarios.truth import Goal

RADIUS, THICKNESS, ARM = 0.2, 0.04, 0.15  # m; ARM from the tip to the centre of mass
MASS = 1.0  # kg
ALONG = 0.5 * MASS * squared(RADIUS)  # C, kg m^2
ACROSS = MASS * (squared(RADIUS) / 4.0 + squared(THICKNESS) / 12.0)
DURATION = 2.0  # s
GOAL_TIME = 1.0  # s


@lru_cache(maxsize=4)
def motion(tilt: float, spin: float) -> DenseSolution:
    """(w, x, y, z of the attitude; spin in body axes (3)): Euler's equations about the tip."""
    A = ACROSS + MASS * squared(ARM)

    def rate(time: Array, y: Array) -> Array:
        w, x, yy, z, p, q, r = y
        up = np.array([2.0 * (x * z - w * yy), 2.0 * (yy * z + w * x), w * w - x * x - yy * yy + z * z])  # in body axes
        # The weight at (0, 0, ARM): torque ARM e3 x (-m g up).
        tx, ty = MASS * G * ARM * up[1], -MASS * G * ARM * up[0]
        return np.array(
            [
                -0.5 * (x * p + yy * q + z * r),
                0.5 * (w * p + yy * r - z * q),
                0.5 * (w * q + z * p - x * r),
                0.5 * (w * r + x * q - yy * p),
                (tx + (A - ALONG) * q * r) / A,
                (ty + (ALONG - A) * r * p) / A,
                np.zeros_like(p),
            ]
        )

    start = np.array([elementary.cos(0.5 * tilt), 0.0, elementary.sin(0.5 * tilt), 0.0, 0.0, 0.0, spin])
    return DenseSolution(rate, start, 0.0, DURATION, window=0.05)


def poses(state: Array) -> Array:
    """(S, 1, 7) of states (7, S)."""
    w, x, y, z = state[:4]
    e = np.stack([2.0 * (x * z + w * y), 2.0 * (y * z - w * x), w * w - x * x - y * y + z * z], axis=-1)
    q = state[:4].T
    return np.concatenate([ARM * e, q / np.linalg.norm(q, axis=1)[:, None]], axis=1)[:, None, :]


def heavy_top(
    *,
    tilt: Annotated[float, Within(0.05, 1.5, "rad")] = 0.6,
    spin: Annotated[float, Within(1.0, 200.0, "rad/s")] = 40.0,
) -> Scenario:
    """Heavy top: a spinning disc on a ball joint at its tip, let go aslant; it nods in cusps and goes round"""
    exact = motion(tilt, spin)
    start = poses(exact(np.zeros(1)))[0, 0]
    top = SpatialBody(
        name="top",
        shape=Cylinder(radius=RADIUS, length=THICKNESS),
        mass=MASS,
        inertia=(ACROSS, ACROSS, ALONG),
        position=(float(start[0]), float(start[1]), float(start[2])),
        orientation=(elementary.cos(0.5 * tilt), 0.0, elementary.sin(0.5 * tilt), 0.0),
        spin=(spin * elementary.sin(tilt), 0.0, spin * elementary.cos(tilt)),
    )
    scene = SpatialScene(
        title=f"Heavy top, {spin:g} rad/s at {tilt:g} rad",
        duration=DURATION,
        bodies=(top,),
        joints=(Ball(name="tip", a="top", anchor_a=(0.0, 0.0, -ARM), anchor_b=(0.0, 0.0, 0.0)),),
    )

    def goal() -> float:
        return float(poses(exact(np.array([GOAL_TIME])))[0, 0, 0])

    return joint_scenario(
        scene,
        arm=ARM,
        probes="joints in space: gyroscopic torque through a ball joint, nutation and precession",
        kind="exact ODE",
        source="Euler's equations about the tip, in Chebyshev series (Lagrange's top)",
        error=1e-11,
        pose=lambda time: poses(exact(time)),
        goal=Goal(name="x of the centre at 1 s", unit="m", exact=goal, measure=coordinate_at(GOAL_TIME, 0, 0)),
    )


FAMILY = Family("heavy-top", heavy_top, subject="the top")

"""A four-bar linkage: crank, coupler and rocker of uniform rods, 1 kg a metre, on a ground that closes the loop.

With the crank's angle t as the one coordinate, the angles of the others from the loop

    a e(t) + b e(u) = d + c e(v):   b u' p(u) - c v' p(v) = -a p(t),   p(u) = e'(u),   ' = d/dt of the crank

and once more for u'', v''; d'Alembert's principle along t then gives the crank's acceleration. In space the pins are
hinges: 20 conditions on 18 numbers, of which 17 are independent. Source: Haug 1989, "Computer Aided Kinematics and
Dynamics of Mechanical Systems", ch. 3 (loop closure).
"""

from functools import lru_cache
from typing import Annotated

import numpy as np

from reference_engine import elementary
from reference_engine.elementary import squared
from scenarios.catalogue.shared.bodies import G, Space, pin, rod, scene_of
from scenarios.catalogue.shared.chebyshev import DenseSolution
from scenarios.catalogue.shared.laws import joint_scenario
from scenarios.catalogue.shared.poses import Array, poses_in_plane
from scenarios.catalogue.shared.readings import coordinate_at
from scenarios.scenario import Family, Scenario, Within
from scenarios.truth import Goal

CRANK, COUPLER, ROCKER, GROUND = 0.5, 1.2, 0.9, 1.1  # m; the crank can turn round
THICKNESS = 0.04  # m, for the eye: the inertia is that of slender rods
ANGLE = 1.0  # rad, of the crank at the start
DURATION = 2.0  # s
GOAL_TIME = 1.5  # s
RODS = (("crank", CRANK), ("coupler", COUPLER), ("rocker", ROCKER))


def assembled(angle: float) -> tuple[float, float]:
    """Angles of coupler and rocker, the rocker's pin above."""
    end = CRANK * np.array([elementary.cos(angle), elementary.sin(angle)])
    diagonal = np.array([GROUND, 0.0]) - end
    far = float(elementary.hypot(*diagonal))
    opening = elementary.acos((squared(far) + squared(COUPLER) - squared(ROCKER)) / (2.0 * far * COUPLER))
    lean = elementary.atan2(diagonal[1], diagonal[0]) + opening
    x, y = end + COUPLER * np.array([elementary.cos(lean), elementary.sin(lean)]) - [GROUND, 0.0]
    return lean, elementary.atan2(y, x)


def along_the_crank(t: Array, u: Array, v: Array) -> tuple[Array, Array, Array, Array]:
    """u', v', u'', v'' for a unit of crank speed, of angles (N,)."""
    det = -COUPLER * ROCKER * elementary.sin(v - u)

    def solve(x: Array, y: Array) -> tuple[Array, Array]:
        """(h, k) with b h p(u) - c k p(v) = (x, y)."""
        h = (-ROCKER * elementary.cos(v) * x - ROCKER * elementary.sin(v) * y) / det
        k = (-COUPLER * elementary.cos(u) * x - COUPLER * elementary.sin(u) * y) / det
        return h, k

    h, k = solve(CRANK * elementary.sin(t), -CRANK * elementary.cos(t))
    inward = [
        CRANK * f(t) + COUPLER * squared(h) * f(u) - ROCKER * squared(k) * f(v)
        for f in (elementary.cos, elementary.sin)
    ]  # what b u'' p(u) - c v'' p(v) makes up for
    return (h, k, *solve(*inward))


def _rate(time: Array, y: Array) -> Array:
    t, u, v, w = y
    h, k, h2, k2 = along_the_crank(t, u, v)
    one, none = np.ones_like(t), np.zeros_like(t)

    def e(angle: Array) -> Array:
        return np.array([elementary.cos(angle), elementary.sin(angle)])

    def p(angle: Array) -> Array:
        return np.array([-elementary.sin(angle), elementary.cos(angle)])

    inertia, force = none, none
    for (_, length), angle, first, second, carried in zip(
        RODS, (t, u, v), (one, h, k), (none, h2, k2), (0.0, CRANK, 0.0)
    ):
        r1 = carried * p(t) + 0.5 * length * first * p(angle)
        r2 = -carried * e(t) + 0.5 * length * (second * p(angle) - squared(first) * e(angle))
        about = squared(length) / 12.0
        inertia = inertia + length * ((r1 * r1).sum(axis=0) + about * squared(first))
        force = force - length * (((r1 * r2).sum(axis=0) + about * first * second) * squared(w) + G * r1[1])
    return np.array([w, h * w, k * w, force / inertia])


@lru_cache(maxsize=4)
def motion(spin: float) -> DenseSolution:
    """(t, u, v, t') from ANGLE with a spin of the crank."""
    return DenseSolution(_rate, np.array([ANGLE, *assembled(ANGLE), spin]), 0.0, DURATION, window=0.1)


def poses(angles: Array) -> Array:
    """(S, 3, 3) of angles (3, S)."""
    t, u, v = angles

    def at(x: Array | float, y: Array | float, half: float, angle: Array) -> Array:
        return np.stack([x + half * elementary.cos(angle), y + half * elementary.sin(angle), angle], axis=-1)

    end = CRANK * elementary.cos(t), CRANK * elementary.sin(t)
    return np.stack(
        [at(0.0, 0.0, 0.5 * CRANK, t), at(*end, 0.5 * COUPLER, u), at(GROUND, 0.0, 0.5 * ROCKER, v)], axis=1
    )


def four_bar(*, spin: Annotated[float, Within(-20.0, 20.0)] = 6.0, space: Space = "planar") -> Scenario:
    """Four-bar linkage: a crank that is thrown round drives a rocker; in space its hinges hold more than they need"""
    exact = motion(spin)
    (pose,) = poses(exact(np.zeros(1))[:3])
    angles = exact(np.zeros(1))[:3, 0]
    h, k, _, _ = along_the_crank(*(np.array([angle]) for angle in angles))
    rates = (spin, float(h[0]) * spin, float(k[0]) * spin)
    pin_speed = CRANK * spin * np.array([-elementary.sin(ANGLE), elementary.cos(ANGLE)])
    bodies = []
    for i, ((name, length), (x, y, angle), rate) in enumerate(zip(RODS, pose, rates)):
        speed = 0.5 * length * rate * np.array([-elementary.sin(angle), elementary.cos(angle)]) + (
            pin_speed if i == 1 else 0.0
        )
        at = {"x": float(x), "y": float(y), "angle": float(angle), "velocity": tuple(speed.tolist()), "spin": rate}
        bodies.append(rod(space, name, length=length, thickness=THICKNESS, mass=length, group=1, **at))
    ends = {name: length / 2.0 for name, length in RODS}
    pairs = (
        ("crank pin", "crank", None, -ends["crank"], 0.0),
        ("crank to coupler", "crank", "coupler", ends["crank"], -ends["coupler"]),
        ("coupler to rocker", "coupler", "rocker", ends["coupler"], ends["rocker"]),
        ("rocker pin", "rocker", None, -ends["rocker"], GROUND),
    )
    joints = tuple(pin(space, name, a, b, (on_a, 0.0), (on_b, 0.0)) for name, a, b, on_a, on_b in pairs)
    title = f"Four-bar linkage, crank at {spin:g} rad/s"
    scene = scene_of(space, tuple(bodies), title=title, duration=DURATION, joints=joints)
    height = float(poses(exact(np.array([GOAL_TIME]))[:3])[0, 1, 1])
    read = coordinate_at(GOAL_TIME, 1, -1)
    return joint_scenario(
        scene,
        arm=CRANK,
        probes="joints that close a loop: gap, energy; in space conditions that are redundant",
        kind="exact ODE",
        source="the linkage's one equation, by loop closure and d'Alembert's principle, in Chebyshev series",
        error=1e-11,
        pose=poses_in_plane(scene, lambda time: poses(exact(time)[:3])),
        goal=Goal(name="height of the coupler at 1.5 s", unit="m", exact=height, measure=read),
        headline="energy_drift",
    )


FAMILY = Family("four-bar", four_bar, subject="the linkage")
"""Canonical in the plane alone: of the engines in space only the reference closes a loop with hinges."""

"""Two benchmark mechanisms of the IFToMM library in space: Bricard's linkage (A04), the stiff flyball governor (A05).

Data: Gonzalez, Dopico, Lugris & Cuadrado 2006, "A benchmarking system for MBS simulation software: problem
standardization and performance measurement", Multibody System Dynamics 16. SI.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from reference_engine import elementary
from reference_engine.dense import mul, norm
from reference_engine.elementary import cubed, squared
from reference_engine.errors import MechanismError
from reference_engine.multibody.joints import hinge, slider
from reference_engine.multibody.links import GROUND, Link
from reference_engine.multibody.mechanism import LinkSpring, Mechanism
from reference_engine.rotation import matrices_by_direction

Array = NDArray[np.float64]
UP = np.array([0.0, 0.0, 1.0])


def bricard(*, length: float = 1.0, mass: float = 1.0, section: float = 0.1, gravity: float = 9.81) -> Mechanism:
    """Five equal rods of a square section and the ground in a loop of six hinges, each across both its rods.

    It starts at rest with the rods along the edges of a cube, x, -y, z, -x, y from the origin; gravity is along -y.
    Six hinges leave no freedom by count (30 rows on 30 numbers), and these leave one (Bricard 1897).
    """
    if not (length > 0.0 and mass > 0.0 and section >= 0.0):
        raise MechanismError(
            f"bricard: rods of {length} m, {mass} kg, section {section} m; positive, section at least 0"
        )
    corners = length * np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], np.float64)
    axes = np.roll(np.eye(3), -1, 0)  # y, z, x, over and over
    across, along = mass * (squared(length) + squared(section)) / 12.0, mass * squared(section) / 6.0
    links, turned = [], []
    for start, end in pairwise(corners):
        q = turning(np.array([1.0, 0.0, 0.0]), (end - start) / length)
        turned.append(matrices_by_direction(q[None])[0])
        links.append(Link(position=0.5 * (start + end), orientation=q, mass=mass,
                          inertia=(max(along, 1e-9 * across), across, across)))  # fmt: skip
    tail, head = (-0.5 * length, 0.0, 0.0), (0.5 * length, 0.0, 0.0)
    joints = [hinge(GROUND, 0, axes[0], second_point=tail)]
    for i in range(4):
        axis = mul(turned[i].T, axes[(i + 1) % 3])
        joints.append(hinge(i, i + 1, axis, first_point=head, second_point=tail))
    joints.append(hinge(GROUND, 4, axes[2], first_point=corners[5], second_point=head))
    return Mechanism(links=tuple(links), joints=tuple(joints), gravity=(0.0, -gravity, 0.0))


GOVERNOR = {
    "length": 1.0, "section": 0.01, "density": 3000.0, "cube": 0.1, "ball": 5.0, "stiffness": 8e5, "damping": 4e4,
    "rest": 0.5, "height": 0.5, "angle": math.pi / 6.0, "spin": 2.0 * math.pi, "gravity": 9.81,
}  # fmt: skip
"""Of the governor: m, kg/m^3, kg, N/m, kg/s, rad from the horizontal, rad/s, m/s^2."""


def flyball_governor() -> Mechanism:
    """A shaft, two rods pinned to its top with balls on their ends, and a cube that slides on the shaft, by GOVERNOR.

    Stiff spring-dampers stand between the rods' middles and the cube's sides, where couplers would be. Pins and sides
    are half a cube's width from the shaft's axis, z upwards. Links: shaft, right rod, left rod, cube. The balls are
    points, one with their rods. It starts turning as one; steps are of some 0.4 ms because of the springs.
    """
    g = GOVERNOR
    L, s, b = g["length"], g["section"], 0.5 * g["cube"]
    rod, cube = g["density"] * L * s * s, g["density"] * cubed(g["cube"])
    across, along = rod * (L * L + s * s) / 12.0, rod * s * s / 6.0
    whole = rod + g["ball"]
    middle = (0.5 * rod + g["ball"]) * L / whole  # from the pin to the centre of mass
    swing = across + rod * squared(middle - 0.5 * L) + g["ball"] * squared(L - middle)
    links = [Link(position=0.5 * L * UP, mass=rod, inertia=(across, across, along), spin=g["spin"] * UP, name="shaft")]
    joints = [hinge(GROUND, 0, UP, second_point=-0.5 * L * UP)]
    springs = []
    for side in (1.0, -1.0):
        way = np.array([side * elementary.cos(g["angle"]), 0.0, -elementary.sin(g["angle"])])
        q = turning(np.array([1.0, 0.0, 0.0]), way)
        point = np.array([side * b, 0.0, L]) + middle * way
        links.append(Link(position=point, orientation=q, mass=whole, inertia=(along, swing, swing),
                          velocity=np.cross(g["spin"] * UP, point), spin=g["spin"] * UP, name="rod"))  # fmt: skip
        k = len(links) - 1
        joints.append(
            hinge(0, k, (0.0, 1.0, 0.0), first_point=(side * b, 0.0, 0.5 * L), second_point=(-middle, 0.0, 0.0))
        )
        springs.append(
            LinkSpring(first=k, second=3, stiffness=g["stiffness"], damping=g["damping"], length=g["rest"],
                       first_point=(0.5 * L - middle, 0.0, 0.0), second_point=(side * b, 0.0, 0.0))
        )  # fmt: skip
    links.append(Link(position=g["height"] * UP, mass=cube, inertia=(cube * squared(g["cube"]) / 6.0,) * 3,
                      spin=g["spin"] * UP, name="cube"))  # fmt: skip
    joints.append(slider(0, 3, UP))
    return Mechanism(links=tuple(links), joints=tuple(joints), springs=tuple(springs), gravity=-g["gravity"] * UP)


def turning(start: Array, end: Array) -> Array:
    """The quaternion of the least turn from a unit vector to another; about z where they are opposite."""
    half = np.append(1.0 + mul(start, end), np.cross(start, end))
    if half[0] < 1e-12:
        return np.array([0.0, 0.0, 0.0, 1.0])
    q: Array = half / norm(half)
    return q

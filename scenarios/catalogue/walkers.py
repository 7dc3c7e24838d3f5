"""Walkers: bodies of 22 degrees of freedom that fall over one another, the same for the same seed.

A torso has eight legs of a thigh and a shin, and its sixteen hinges have axes in all directions: a free base and
sixteen angles. Four of them are 88 degrees of freedom, and contacts make long chains of these depend on one another:
the branched, sparse systems that stacks and piles of loose bodies never give a solver.
Where they end is chaotic, so nothing is said about that; no energy may come from anywhere, and joints have to hold.
"""

from typing import Annotated

import numpy as np

from reference_engine import elementary
from scenarios.catalogue.shared.laws import MOVING_SHARE, OF_REST, contact_laws, make_scenario
from scenarios.scenario import Family, Scenario, Within
from scenarios.scene import Capsule, HalfSpace, Hinge, SpatialBody, SpatialScene, Sphere

LEGS = 8
TORSO_RADIUS, TORSO_MASS = 0.1, 2.0  # m, kg
THICKNESS, LENGTH, LIMB_MASS = 0.06, 0.12, 0.3  # m, m without the round ends, kg
HALF = 0.1  # m, from the middle of a limb to each of its joints, at the centres of its round ends and a little beyond
LOWEST, SPACING = 0.45, 0.6  # m, of the torsos: no leg reaches the ground or another walker at the start
SHIFT = 0.1  # m, of a torso off the vertical line
PITCH = (-0.9, 0.1)  # rad, of a limb above the horizontal
YAW = 0.3  # rad, of a limb off the direction of its leg
FRICTION = 0.5
DURATION = 2.0  # s
DEEPEST = 0.5 * THICKNESS  # m: the highest come down with 6 m/s, 0.025 m a step; beyond this a limb is through
CHAOTIC = (
    *("penetration_max", "penetration_mean", "penetration_final", "gap_final"),
    *("impact_count", "cone_violation", "energy_gain", "joint_gap"),
)

Point = tuple[float, float, float]
Walker = tuple[list[SpatialBody], list[Hinge]]


def walkers(*, n: Annotated[int, Within(1, 20)] = 4, seed: Annotated[int, Within(0, 1_000_000)] = 1) -> Scenario:
    """Walkers: n bodies of eight jointed legs each fall over one another, the same for the same seed"""
    made = [_walker(i, np.random.default_rng([seed, i])) for i in range(n)]
    scene = SpatialScene(
        title=f"{n} walkers of 22 degrees of freedom",
        duration=DURATION,
        bodies=tuple(body for bodies, _ in made for body in bodies),
        boundaries=(HalfSpace(name="ground", friction=FRICTION),),
        joints=tuple(joint for _, joints in made for joint in joints),
    )
    return make_scenario(
        scene,
        probes="branched bodies in contact: large sparse systems",
        regime="joints",
        kind="invariants",
        source="friction and impacts without restitution take energy",
        invariants=frozenset({"energy-not-gained"}),
        headline="energy_gain",
        noise=dict.fromkeys(CHAOTIC, "chaotic"),
        meaningless=OF_REST | {"energy_drift", "momentum_drift", "angular_momentum_drift"},
        laws=contact_laws(scene, share=MOVING_SHARE) | {"penetration_max": DEEPEST, "joint_gap": 0.1 * HALF},
    )


def _walker(i: int, random: np.random.Generator) -> Walker:
    """The i-th; drawn from a generator of its own, so that it is the same whatever n is. It does not touch itself."""
    x, y = (float(shift) for shift in random.uniform(-SHIFT, SHIFT, 2))
    torso = f"walker {i + 1}"
    middle = (x, y, LOWEST + SPACING * i)
    shape = Sphere(radius=TORSO_RADIUS)
    bodies = [SpatialBody(name=torso, shape=shape, mass=TORSO_MASS, position=middle, friction=FRICTION, group=i + 1)]
    joints: list[Hinge] = []
    for leg in range(LEGS):
        parent, joint, end = torso, middle, (0.0, 0.0, 0.0)
        for limb in ("thigh", "shin"):
            yaw = 2.0 * np.pi * leg / LEGS + float(random.uniform(-YAW, YAW))
            along = _direction(yaw, float(random.uniform(*PITCH)))
            name = f"{limb} {i + 1}.{leg + 1}"
            bodies.append(
                SpatialBody(
                    name=name, shape=Capsule(radius=0.5 * THICKNESS, length=LENGTH), mass=LIMB_MASS,
                    position=_ahead(joint, along, HALF), orientation=_from_z_to(along), friction=FRICTION, group=i + 1,
                )
            )  # fmt: skip
            axis = _direction(float(random.uniform(0.0, 2.0 * np.pi)), float(random.uniform(-1.5, 1.5)))
            joints.append(
                Hinge(name=f"of {name}", a=parent, b=name, anchor_a=end, anchor_b=(0.0, 0.0, -HALF), axis=axis)
            )
            parent, joint, end = name, _ahead(joint, along, 2.0 * HALF), (0.0, 0.0, HALF)
    return bodies, joints


def _direction(yaw: float, pitch: float) -> Point:
    level = elementary.cos(pitch)
    return level * elementary.cos(yaw), level * elementary.sin(yaw), elementary.sin(pitch)


def _ahead(point: Point, along: Point, length: float) -> Point:
    x, y, z = (p + length * d for p, d in zip(point, along))
    return x, y, z


def _from_z_to(along: Point) -> tuple[float, float, float, float]:
    """The unit quaternion w-x-y-z of the shortest turn that carries a limb, along z, to where it points (not down)."""
    x, y, z = along
    size = float(np.sqrt((1.0 + z) * (1.0 + z) + x * x + y * y))
    return (1.0 + z) / size, -y / size, x / size, 0.0


FAMILY = Family("walkers", walkers, (), subject="the heap of {n} walkers")

"""A ladder without friction slides down a wall, leaves it, and falls on along the floor.

Against the wall the middle of a rod of length L moves on a circle; theta is its angle from the wall:

    theta'' = 3 g sin(theta) / (2 L)        until cos(theta) = 2/3 cos(theta_0), where the wall stops pushing;

from there on it keeps its speed along the floor, sqrt(g L c_0) c_0 / 3 with c_0 = cos(theta_0), and

    theta'' = sin(theta) (2 g / L - theta'^2 cos(theta)) / (1/3 + sin(theta)^2)

Its top then gets off the wall with the cube of time, so what is asked for is the lean at which it is 5 mm off.
The rod is the long edge of a rectangle, which is there to be seen: the centre of mass is in the middle of that edge.
`block-against-wall` is a thick one, with friction; its equations are integrated here, without width.
Source: Scarborough & Pounder, "Mechanics" (the ladder); Lagrange's equations for a slender rod.
"""

import math
from typing import Annotated

import numpy as np

from reference_engine import elementary
from reference_engine.elementary import squared
from scenarios.catalogue.block_against_wall import Fall, fall
from scenarios.catalogue.shared.bodies import Array
from scenarios.catalogue.shared.chebyshev import falling_root
from scenarios.catalogue.shared.laws import AT_THE_END, OF_REST, make_scenario
from scenarios.catalogue.shared.readings import crossings, value_at
from scenarios.scenario import Family, Scenario, Within
from scenarios.scene import HalfPlane, PlanarBody, PlanarScene, Polygon
from scenarios.truth import Goal, Motion

LENGTH, THICKNESS = 2.0, 0.1  # m
MASS = 1.0  # kg
BEFORE_LANDING = 0.02  # s; lying flat is another problem
OFF = 0.005  # m, of the top off the wall, that say that it has left


def ladder(lean: float) -> Fall:
    """Its slide and fall: those of a block without width or friction."""
    return fall(lean, 0.0, 0.0, width=0.0, length=LENGTH)


def poses(lean: float, time: Array) -> Array:
    """(S, 1, 3): the middle of the rod; at angle 0 it would lie along x, its foot on the right."""
    return ladder(lean).pose(time) - (0.0, 0.0, 0.5 * math.pi)


def top(x: Array, angle: Array) -> Array:
    """m, of the top from the wall."""
    return x - 0.5 * LENGTH * elementary.cos(angle)


def off_the_wall(lean: float, end: float) -> float:
    """rad, of the ladder from the wall when its top has got OFF it."""

    def still_near(time: Array) -> Array:
        pose = poses(lean, time)[:, 0]
        return OFF - top(pose[:, 0], pose[:, 2])

    time = falling_root(still_near, ladder(lean).leaves, end, OFF, float(still_near(np.array([end]))[0]))
    return float(poses(lean, np.array([time]))[0, 0, 2]) + 0.5 * math.pi


def sliding_ladder(*, lean: Annotated[float, Within(0.05, 1.2, "rad")] = 0.5) -> Scenario:
    """Sliding ladder: without friction it slides down a wall, and leaves it at two thirds of its height"""
    leaves, lands = ladder(lean).leaves, ladder(lean).lands
    end = math.floor((lands - BEFORE_LANDING) * 60.0) / 60.0
    (pose,) = poses(lean, np.zeros(1))
    x, y, angle = (float(v) for v in pose[0])
    a, thick = 0.5 * LENGTH, THICKNESS
    rod = PlanarBody(
        name="ladder",
        shape=Polygon(vertices=((-a, 0.0), (a, 0.0), (a, thick), (-a, thick))),
        mass=MASS,
        inertia=MASS * squared(LENGTH) / 12.0,
        position=(x, y),
        angle=angle,
    )
    scene = PlanarScene(
        title=f"Sliding ladder from {lean:g} rad",
        duration=end,
        bodies=(rod,),
        boundaries=(HalfPlane(name="floor", normal=(0.0, 1.0)), HalfPlane(name="wall", normal=(1.0, 0.0))),
    )

    def lean_off_the_wall(seen: Motion) -> float:
        """From the gap that the engine keeps while it leans: some keep a skin."""
        gap = top(seen.position[:, 0, 0], seen.angle[:, 0])
        away = gap - np.median(gap[seen.time < 0.9 * leaves])
        found = crossings(seen.time, away, OFF, rising=True)
        return value_at(seen.time, seen.angle[:, 0], found[0]) + 0.5 * math.pi if found else math.nan

    return make_scenario(
        scene,
        probes="two contacts, one of which is lost: nothing may pull",
        regime="sliding",
        kind="exact ODE",
        source="Lagrange's equations for a slender rod on wall and floor, then on the floor; in Chebyshev series",
        error=1e-12,
        pose=lambda time: poses(lean, np.asarray(time, np.float64)),
        goal=Goal(
            name="lean with its top 5 mm off the wall",
            unit="rad",
            exact=off_the_wall(lean, end),
            measure=lean_off_the_wall,
        ),
        invariants=frozenset({"energy"}),
        meaningless=OF_REST | AT_THE_END | {"momentum_drift", "angular_momentum_drift", "impact_count"},
    )


FAMILY = Family("sliding-ladder", sliding_ladder, subject="the ladder")

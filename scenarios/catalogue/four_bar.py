"""A four-bar linkage: crank, coupler and rocker of uniform rods, 1 kg a metre, on a ground that closes the loop.

With e(t) = (cos t, sin t) and the crank's angle t, those of the others from the loop  a e(t) + b e(u) = d + c e(v). In
space the pins are hinges: 20 conditions on 18 numbers, of which 17 are independent. Source: as `linkage`.
"""

from functools import lru_cache
from typing import Annotated

import numpy as np

from reference_engine import elementary
from reference_engine.elementary import cubed, squared
from scenarios.catalogue.shared.bodies import G, Space, pin, rod, scene_of
from scenarios.catalogue.shared.chebyshev import DenseSolution
from scenarios.catalogue.shared.linkage import Linkage, linkage_scenario
from scenarios.catalogue.shared.poses import Array
from scenarios.scenario import Family, Scenario, Within

CRANK, COUPLER, ROCKER, GROUND = 0.5, 1.2, 0.9, 1.1  # m; the crank can turn round
THICKNESS = 0.04  # m, for the eye: the inertia is that of slender rods
ANGLE = 1.0  # rad, of the crank at the start
DURATION = 2.0  # s
RODS = (("crank", CRANK), ("coupler", COUPLER), ("rocker", ROCKER))
LENGTHS = np.array([CRANK, COUPLER, ROCKER])

FOUR_BAR = Linkage(
    loops=np.array([[CRANK, COUPLER, -ROCKER], [-1j * CRANK, -1j * COUPLER, 1j * ROCKER]]),
    arrows=np.array([[0.5 * CRANK, 0.0, 0.0], [CRANK, 0.5 * COUPLER, 0.0], [0.0, 0.0, 0.5 * ROCKER]], np.complex128),
    offsets=np.array([0.0, 0.0, GROUND], np.complex128),
    turning=(0, 1, 2),
    masses=LENGTHS,
    inertias=cubed(LENGTHS) / 12.0,
    gravity=G,
)


def start() -> Array:
    """Angles of crank, coupler and rocker, the rocker's pin above."""
    end = CRANK * np.array([elementary.cos(ANGLE), elementary.sin(ANGLE)])
    diagonal = np.array([GROUND, 0.0]) - end
    far = float(elementary.hypot(*diagonal))
    opening = elementary.acos((squared(far) + squared(COUPLER) - squared(ROCKER)) / (2.0 * far * COUPLER))
    lean = elementary.atan2(diagonal[1], diagonal[0]) + opening
    x, y = end + COUPLER * np.array([elementary.cos(lean), elementary.sin(lean)]) - [GROUND, 0.0]
    return np.array([ANGLE, lean, elementary.atan2(y, x)])


@lru_cache(maxsize=4)
def motion(spin: float) -> DenseSolution:
    """(the three angles, t') from ANGLE with a spin of the crank."""
    return FOUR_BAR.motion(start(), spin, DURATION, window=0.1)


def four_bar(*, spin: Annotated[float, Within(-20.0, 20.0, "rad/s")] = 6.0, space: Space = "planar") -> Scenario:
    """Four-bar linkage: a crank that is thrown round drives a rocker; in space its hinges hold more than they need"""
    bodies = tuple(
        rod(space, name, length=length, thickness=THICKNESS, **at)
        for (name, length), at in zip(RODS, FOUR_BAR.starts(start(), spin))
    )
    ends = {name: length / 2.0 for name, length in RODS}
    pairs = (
        ("crank pin", "crank", None, -ends["crank"], 0.0),
        ("crank to coupler", "crank", "coupler", ends["crank"], -ends["coupler"]),
        ("coupler to rocker", "coupler", "rocker", ends["coupler"], ends["rocker"]),
        ("rocker pin", "rocker", None, -ends["rocker"], GROUND),
    )
    joints = tuple(pin(space, name, a, b, (on_a, 0.0), (on_b, 0.0)) for name, a, b, on_a, on_b in pairs)
    title = f"Four-bar linkage, crank at {spin:g} rad/s"
    return linkage_scenario(
        scene_of(space, bodies, title=title, duration=DURATION, joints=joints),
        FOUR_BAR,
        motion(spin),
        arm=CRANK,
        probes="joints that close a loop: gap, energy; in space conditions that are redundant",
        goal=("height of the coupler at 1.5 s", 1, -1),
    )


FAMILY = Family("four-bar", four_bar, subject="the linkage")
"""Canonical in the plane alone: of the engines in space only the reference closes a loop with hinges."""

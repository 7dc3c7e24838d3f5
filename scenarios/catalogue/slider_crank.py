"""A slider-crank: a crank that turns about the origin, a rod, and a block that slides along the level line through it.

With the crank's angle t and the rod's u, both from the line, a sin t + b sin u = 0; the block is at a cos t + b cos u.
Source: as `linkage`; Shigley & Uicker, "Theory of Machines and Mechanisms", ch. 2 (the slider-crank).
"""

from functools import lru_cache
from typing import Annotated

import numpy as np

from reference_engine import elementary
from reference_engine.elementary import squared
from scenarios.catalogue.shared.bodies import G, Space, block, pin, rod, scene_of
from scenarios.catalogue.shared.chebyshev import DenseSolution
from scenarios.catalogue.shared.linkage import NO_ANGLE, Linkage, linkage_scenario
from scenarios.catalogue.shared.poses import Array
from scenarios.scenario import Family, Scenario, Within
from scenarios.scene import Ball, Hinge, Prismatic, Revolute, Slider

CRANK, ROD = 0.3, 0.8  # m
MASSES = (0.5, 0.8, 1.0)  # kg, of crank, rod and block
BLOCK = (0.2, 0.15)  # m
THICKNESS = 0.04  # m, for the eye: the inertia is that of slender rods
ANGLE = 1.0  # rad, of the crank at the start
DURATION = 2.0  # s

SLIDER_CRANK = Linkage(
    loops=np.array([[-1j * CRANK, -1j * ROD]]),  # the block's height
    arrows=np.array([[0.5 * CRANK, 0.0], [CRANK, 0.5 * ROD], [CRANK, ROD]], np.complex128),
    offsets=np.zeros(3, np.complex128),
    turning=(0, 1, NO_ANGLE),
    masses=np.array(MASSES),
    inertias=np.array([MASSES[0] * squared(CRANK) / 12.0, MASSES[1] * squared(ROD) / 12.0, 1.0]),
    gravity=G,
)


def start() -> Array:
    """Angles of crank and rod, the block to the right."""
    return np.array([ANGLE, -elementary.asin(CRANK * elementary.sin(ANGLE) / ROD)])


@lru_cache(maxsize=4)
def motion(spin: float) -> DenseSolution:
    return SLIDER_CRANK.motion(start(), spin, DURATION, window=0.1)


def slider_crank(*, spin: Annotated[float, Within(-20.0, 20.0, "rad/s")] = 8.0, space: Space = "planar") -> Scenario:
    """Slider-crank: a crank that is thrown round drives a block to and fro on a line"""
    starts = SLIDER_CRANK.starts(start(), spin)
    bodies = (
        rod(space, "crank", length=CRANK, thickness=THICKNESS, **starts[0]),
        rod(space, "rod", length=ROD, thickness=THICKNESS, **starts[1]),
        block(space, "block", size=BLOCK, depth=THICKNESS, **starts[2]),
    )
    half_crank, half_rod = 0.5 * CRANK, 0.5 * ROD
    joints: list[Revolute | Hinge | Ball | Prismatic | Slider] = [
        pin(space, "pin", "crank", None, (-half_crank, 0.0), (0.0, 0.0)),
        pin(space, "crank to rod", "crank", "rod", (half_crank, 0.0), (-half_rod, 0.0)),
    ]
    if space == "planar":
        joints += [
            pin(space, "rod to block", "rod", "block", (half_rod, 0.0), (0.0, 0.0)),
            Prismatic(name="guide", a="block", anchor_a=(0.0, 0.0), anchor_b=(0.0, 0.0), axis=(1.0, 0.0)),
        ]
    else:
        none = (0.0, 0.0, 0.0)
        joints += [
            Ball(name="rod to block", a="rod", b="block", anchor_a=(half_rod, 0.0, 0.0), anchor_b=none),
            Slider(name="guide", a="block", anchor_a=none, anchor_b=none, axis=(1.0, 0.0, 0.0)),
        ]
    title = f"Slider-crank, crank at {spin:g} rad/s"
    return linkage_scenario(
        scene_of(space, bodies, title=title, duration=DURATION, joints=tuple(joints)),
        SLIDER_CRANK,
        motion(spin),
        arm=CRANK,
        probes="a sliding joint in a loop: gap, energy; in space conditions that are redundant",
        goal=("place of the block at 1.5 s", 2, 0),
    )


FAMILY = Family("slider-crank", slider_crank, subject="the slider-crank")

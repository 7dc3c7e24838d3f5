"""A stack of unit boxes, lighter ones below, none quite above the next: the classical test of a contact solver.

Aligned stacks stay on a symmetric branch that hides what iterations do; so each box is shifted at random, by a
thousandth of its width. Mass ratios make the problem ill-conditioned: a heavy box on light ones. In some engines such
stacks creep for ten seconds before they fall, so the suite gives them fifteen.

The boxes touch exactly at the start, and whether that is contact in an engine's first step is up to a round-off. Where
it is not they fall for that step, and sink by as much whatever the solver does: 0.2 to 0.3 mm at 1/240 s. In short
stacks this hides iterations. Of pymunk with 2 instead of 50 the mean penetration at n = 3 is no worse (0.28 mm, was
0.29), at n = 5 worse by less than such a fall (0.48, was 0.14); from n = 10 on it shows (0.93, was 0.16), and so it
does at mass ratio 100 and in the drift of the stack of five. docs/peers.md has the same stacks started 1e-6 m deep.
"""

from collections.abc import Mapping
from typing import Annotated

import numpy as np

from reference_engine.elementary import power
from scenarios.catalogue.shared.bodies import GroundKind, Space, block, lay_ground, scene_of
from scenarios.catalogue.shared.laws import RESTING_SHARE, contact_laws, make_scenario
from scenarios.catalogue.shared.poses import at_rest
from scenarios.scenario import Family, Noise, Scenario, Value, Within
from scenarios.truth import Goal, Invariant, Motion

SIGMA = 1e-3  # m, of widths of 1 m
CHAOTIC = (
    *("truth_error_goal", "truth_error_position", "truth_error_angle", "energy_drift", "energy_gain"),
    *("penetration_max", "penetration_final", "gap_final", "rest_time"),
)
OF_REST = ("rest_drift", "jitter_velocity", "jitter_position")


def stack(
    *,
    n: Annotated[int, Within(2, 100)] = 10,
    mass_ratio: Annotated[float, Within(1e-4, 1e4)] = 1.0,
    friction: Annotated[float, Within(0.0, 2.0)] = 0.5,
    seed: Annotated[int, Within(0, 2**31 - 1)] = 1,
    duration: Annotated[float, Within(0.1, 1000.0, "s")] = 6.0,
    space: Space = "planar",
    ground: GroundKind = "plane",
) -> Scenario:
    """Stack of n unit boxes, each shifted by a thousandth; the top one mass_ratio times the bottom one's 1 kg"""
    shifts = np.random.default_rng(seed).normal(0.0, SIGMA, (2, n))
    bodies = tuple(
        block(
            space,
            f"box {i + 1}",
            x=float(shifts[0, i]),
            across=float(shifts[1, i]),
            y=i + 0.5,
            mass=power(mass_ratio, i / (n - 1)),
            friction=friction,
        )
        for i in range(n)
    )
    title = f"Stack of {n}, mass ratio {mass_ratio:g}" + (", frictionless" if friction == 0.0 else "")
    scene = scene_of(space, bodies, lay_ground(space, ground, friction), title=title, duration=duration)
    top = n - 1

    def height(motion: Motion) -> float:
        return float(motion.position[-1, top, -1])

    invariants: set[Invariant] = {"energy", "rest"}
    if friction == 0.0:
        invariants.add("momentum-x")
    return make_scenario(
        scene,
        probes="convergence of the contact solver: sinking and creep under load and at high mass ratios",
        regime="rest",
        kind="closed form",
        source="statics: above each face the common centre of mass lies over the overlap of the two boxes",
        pose=at_rest(scene),
        goal=Goal(name="height of the top box", unit="m", exact=top + 0.5, measure=height),
        invariants=frozenset(invariants),
        headline="penetration_mean",
        noise=noise(n, mass_ratio, friction),
        meaningless=frozenset({"impact_count"}),  # boxes that settle cannot be distinguished from boxes that collide
        laws=contact_laws(scene, share=RESTING_SHARE),
    )


def noise(n: int, mass_ratio: float, friction: float) -> dict[str, Noise]:
    """By what starts 1e-12 m apart make of it.

    How far the mean sinks repeats to the fall of a step, also in heaps of tall stacks that fall. It does not where a
    short stack of high mass ratio falls or not, or where no friction keeps the boxes from sliding off one another.
    """
    found: dict[str, Noise] = dict.fromkeys(CHAOTIC, "chaotic")
    falls = mass_ratio >= 1000.0 and n < 10
    slides_off = friction == 0.0 and (n > 10 or mass_ratio > 1.0)
    if falls or slides_off:
        found["penetration_mean"] = "chaotic"
    if friction == 0.0 or mass_ratio > 1.0 or n > 10:
        found |= dict.fromkeys((*OF_REST, "cone_violation"), "chaotic")
    return found


HEIGHTS = (3, 5, 10, 20)
CANONICAL: tuple[Mapping[str, Value], ...] = (
    *({"n": n} for n in HEIGHTS),
    {"n": 10, "mass_ratio": 10.0},
    {"n": 5, "mass_ratio": 100.0},
    {"n": 3, "mass_ratio": 1000.0},
    {"n": 5, "mass_ratio": 1000.0, "duration": 15.0},  # long enough to see it fall
    *({"n": n, "mass_ratio": 1000.0} for n in (10, 20)),
    *({"n": n, "friction": 0.0} for n in HEIGHTS),
    {"n": 5, "mass_ratio": 10.0, "friction": 0.0},
    {"n": 5, "mass_ratio": 100.0, "friction": 0.0},
    {"n": 3, "mass_ratio": 1000.0, "friction": 0.0},
    {"n": 10, "mass_ratio": 1000.0, "friction": 0.0},
    {"n": 5, "ground": "box"},
    {"n": 5, "space": "spatial"},
    {"n": 5, "space": "spatial", "ground": "box"},
    {"n": 5, "mass_ratio": 100.0, "space": "spatial", "ground": "box"},
)
FAMILY = Family("stack", stack, CANONICAL, subject="the stack of {n}")

"""Blocks that start inside the ground and inside each other: how an engine gets out of penetration.

Scenes that start in contact never use an engine's allowance for penetration, so nothing else shows it.
"""

from typing import Annotated, Literal

import numpy as np

from scenarios.catalogue.shared.bodies import G, GroundKind, Space, block, lay_ground, scene_of
from scenarios.catalogue.shared.laws import contact_laws, make_scenario
from scenarios.catalogue.shared.poses import Array, poses_in_plane
from scenarios.scenario import Family, Scenario, Within
from scenarios.truth import Goal, Motion

FRICTION = 0.5
OFFSET = 0.1  # m, of the second block to the side: a stack in perfect line hides what iterations do
DURATION = 2.0  # s
SETTLED = 1.0  # s, by when it must have got out
WORK_ALLOWED = 2.0  # times the work of lifting the blocks out
DEPTH_LEFT = 0.5  # of the depth, more than which must not remain


def overlapped_start(
    *,
    n: Literal[1, 2] = 1,
    depth: Annotated[float, Within(1e-4, 0.05, "m")] = 0.005,
    space: Space = "planar",
    ground: GroundKind = "plane",
) -> Scenario:
    """Overlapped start: a block, or a stack of two, sunk `depth` m into what it stands on

    Pushed apart it must come to rest in contact: not stay sunk, and not jump. Lifting it out takes work, m g depth for
    the first block and twice that for the second, which the engine puts in; what it puts in beyond throws it up.
    """
    x = OFFSET * np.arange(n)
    in_contact = 0.5 + np.arange(n)
    lift = depth * (1.0 + np.arange(n))
    bodies = tuple(
        block(space, f"block {i + 1}", x=float(x[i]), y=float(in_contact[i] - lift[i]), friction=FRICTION)
        for i in range(n)
    )
    title = f"Overlapped start, {depth * 1e3:g} mm"
    scene = scene_of(space, bodies, lay_ground(space, ground, FRICTION), title=title, duration=DURATION)

    def at_rest(time: Array) -> Array:
        return np.tile(np.stack([x, in_contact, np.zeros(n)], axis=-1), (len(time), 1, 1))

    def popped(motion: Motion) -> float:
        return max(0.0, float(np.max(motion.position[:, :n, -1] - in_contact)))

    return make_scenario(
        scene,
        probes="recovery from penetration: allowance, speed, energy put in",
        regime="rest",
        kind="closed form",
        source="statics: in contact is the only rest without penetration; the work of separation is m g depth",
        span=(SETTLED, DURATION),
        pose=poses_in_plane(scene, at_rest),
        goal=Goal(name="height jumped above the ground", unit="m", exact=0.0, measure=popped),
        invariants=frozenset({"rest"}),
        headline="penetration_final",
        meaningless=frozenset({"energy_drift", "momentum_drift"}),
        laws=contact_laws(scene, share=0.0)
        | {"energy_gain": WORK_ALLOWED * G * float(lift.sum()), "penetration_final": DEPTH_LEFT * depth},
    )


FAMILY = Family(
    "overlapped-start",
    overlapped_start,
    ({}, {"n": 2}, {"ground": "box"}, {"n": 2, "space": "spatial"}, {"space": "spatial", "ground": "box"}),
    subject="the overlapped pair",
)

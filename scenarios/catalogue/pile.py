"""A heap: boxes and discs (in space boxes and balls) dropped between walls, the same for the same seed.

Where they end is chaotic after about a second, so nothing is said about that; no energy may come from anywhere, and
what has piled up should not lie inside each other.
"""

from typing import Annotated

import numpy as np

from reference_engine.elementary import cubed, squared
from scenarios.catalogue.shared.bodies import Body, GroundKind, Space, ball, block, lay_ground, scene_of
from scenarios.catalogue.shared.laws import MOVING_SHARE, OF_REST, contact_laws, make_scenario
from scenarios.scenario import Family, Scenario, Within
from scenarios.scene import HalfPlane, HalfSpace, PlanarBoundary, SpatialBoundary

CELL = 1.0  # m; a body fits into its own with room to spare, however it is turned
SIZES = (0.35, 0.65)  # m, edges and diameters: the diagonal of the largest box is 0.92
JITTER = 0.03  # m, of each body off the middle of its cell
SLOPES = (-0.3, 0.3)  # rad
LOWEST = 0.2  # m, between the ground and the first layer of cells
COLUMNS = {"planar": 4, "spatial": 2}  # in space along each side
ROUND = 3  # every third body is round
FRICTION = 0.5
CHAOTIC = (
    *("penetration_max", "penetration_mean", "penetration_final", "gap_final"),
    *("impact_count", "cone_violation", "energy_gain"),
)
DURATION = 3.0  # s
DEEPEST = 0.25 * SIZES[0]  # m, a quarter of the thinnest body; the highest come down with 9 m/s, 0.04 m a step


def pile(
    *,
    n: Annotated[int, Within(2, 200)] = 20,
    seed: Annotated[int, Within(0, 1_000_000)] = 1,
    friction: Annotated[float, Within(0.0, 2.0)] = FRICTION,
    space: Space = "planar",
    ground: GroundKind = "plane",
) -> Scenario:
    """Pile: n boxes and discs (balls) of random size dropped between walls, the same for the same seed"""
    columns = COLUMNS[space]
    bodies = tuple(_body(space, i, columns, friction, np.random.default_rng([seed, i])) for i in range(n))
    below, walls = lay_ground(space, ground, friction), _walls(space, columns * CELL / 2.0, friction)
    scene = scene_of(space, bodies, below, walls=walls, title=f"Pile of {n}", duration=DURATION)
    return make_scenario(
        scene,
        probes="many contacts at once: sinking, energy from nothing",
        regime="many bodies",
        kind="invariants",
        source="friction and impacts without restitution take energy",
        invariants=frozenset({"energy-not-gained"}),
        headline="penetration_mean",
        noise=dict.fromkeys(CHAOTIC, "chaotic"),
        meaningless=OF_REST | {"energy_drift", "momentum_drift"},  # a disc may roll on long after all others lie
        laws=contact_laws(scene, share=MOVING_SHARE) | {"penetration_max": DEEPEST},
    )


def _body(space: Space, i: int, columns: int, friction: float, random: np.random.Generator) -> Body:
    """The i-th, in its cell; drawn from a generator of its own, so that it is the same whatever n is."""
    width, height, depth = (float(edge) for edge in random.uniform(*SIZES, 3))
    x, y, across = (float(shift) for shift in random.uniform(-JITTER, JITTER, 3))
    angle = float(random.uniform(*SLOPES))
    layer = columns * columns if space == "spatial" else columns
    level, rest = divmod(i, layer)
    row, column = divmod(rest, columns)
    x += (column - (columns - 1) / 2.0) * CELL
    y += LOWEST + (level + 0.5) * CELL
    across += (row - (columns - 1) / 2.0) * CELL if space == "spatial" else 0.0
    name = f"body {i + 1}"
    if i % ROUND == ROUND - 1:
        area = np.pi / 4.0 * squared(width) if space == "planar" else np.pi / 6.0 * cubed(width)
        return ball(space, name, radius=width / 2.0, x=x, y=y, across=across, mass=float(area), friction=friction)
    area = width * height * (depth if space == "spatial" else 1.0)
    size = (width, height)
    return block(
        space, name, size=size, depth=depth, x=x, y=y, across=across, angle=angle, mass=area, friction=friction
    )


def _walls(space: Space, half: float, friction: float) -> tuple[PlanarBoundary | SpatialBoundary, ...]:
    """About a square of side 2 half, or on both sides of as wide a floor."""
    if space == "planar":
        return tuple(
            HalfPlane(name=name, point=(-side * half, 0.0), normal=(side, 0.0), friction=friction)
            for name, side in (("left wall", 1.0), ("right wall", -1.0))
        )
    return tuple(
        HalfSpace(name=name, point=(-x * half, -y * half, 0.0), normal=(x, y, 0.0), friction=friction)
        for name, x, y in (
            ("left wall", 1.0, 0.0),
            ("right wall", -1.0, 0.0),
            ("front wall", 0.0, 1.0),
            ("back wall", 0.0, -1.0),
        )
    )


FAMILY = Family(
    "pile",
    pile,
    ({}, {"n": 12, "space": "spatial"}, {"n": 12, "space": "spatial", "ground": "box"}),
    subject="the pile of {n}",
)

"""Planar scenes: stacks and heaps of boxes and discs, in contact or nearly so.

Shrinking goes towards fewer bodies, upright unit boxes of 1 kg at rest and in contact, no friction, no restitution.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from hypothesis import strategies as st

from reference_engine import elementary
from scenarios.catalogue.shared.bodies import rectangle
from scenarios.scene import Disc, HalfPlane, PlanarBody, PlanarScene
from scenarios.strategies import values
from scenarios.strategies.values import DURATIONS, GRID, MASSES

SIZES = (8, 80)  # in 1/32 m: 0.25 to 2.5 m, 1:10
DEPTHS = (4, 2, 16)  # in 1/1024 m, of an overlapped start; at most a sixteenth of the smallest body
ANGLES = (0.0, 0.001, 0.1, 0.5, math.pi / 4.0, 1.2)  # rad, either way


class Drop(NamedTuple):
    """A body before it has its height: it is put on the highest thing below it."""

    width: float  # m; of a disc its diameter
    height: float  # m; 0 for a disc
    mass: float
    x: float  # m, of the centre
    gap: int  # in 1/1024 m, of its bounding box above the highest of those it overlaps seen from above
    angle: float
    velocity: tuple[float, float]
    spin: float


def planar_scenes(
    max_bodies: int = 6, overlapped: bool = False, friction: bool = True, restitution: bool = True
) -> st.SearchStrategy[PlanarScene]:
    """Scenes of 1 to `max_bodies` boxes and discs on a ground, or afloat without gravity.

    Every gap is 0 or more; with `overlapped` the first body is sunk into the ground, and others may be sunk into what
    is below them, by up to a sixteenth of the smallest body. Friction and restitution are 0 where they are not wanted.
    """
    grounded = st.just(True) if overlapped else st.sampled_from((True, True, True, False))
    gaps = st.sampled_from([-depth for depth in DEPTHS] + [0]) if overlapped else values.gaps()
    drops = st.lists(_drops(gaps), min_size=1, max_size=max_bodies)
    if overlapped:
        drops = drops.map(lambda found: [found[0]._replace(gap=found[0].gap or -DEPTHS[0]), *found[1:]])
    laws = values.frictions(wanted=friction), values.restitutions(wanted=restitution)
    return st.builds(_scene, drops, *laws, grounded, st.sampled_from(DURATIONS))


def _drops(gaps: st.SearchStrategy[int]) -> st.SearchStrategy[Drop]:
    lengths = st.just(1.0) | (st.integers(*SIZES) | st.sampled_from(SIZES)).map(lambda n: n / 32.0)
    angles = st.just(0.0) | st.builds(lambda a, side: a * side, st.sampled_from(ANGLES), st.sampled_from((1.0, -1.0)))
    speeds = values.speeds()
    common = {
        "mass": st.sampled_from(MASSES),
        "x": values.offsets(),
        "gap": gaps,
        "velocity": st.tuples(speeds, speeds),
        "spin": speeds,
    }
    boxes = st.builds(Drop, width=lengths, height=lengths, angle=angles, **common)
    discs = st.builds(Drop, width=lengths, height=st.just(0.0), angle=st.just(0.0), **common)
    return boxes | discs


def _scene(drops: Sequence[Drop], friction: float, restitution: float, grounded: bool, duration: float) -> PlanarScene:
    """Each dropped in turn onto those before it; bounding boxes do not overlap, so neither do the bodies."""
    placed: list[tuple[float, float, float]] = []  # left, right, top of each bounding box
    bodies = []
    for i, drop in enumerate(drops):
        across, up = _half_extents(drop)
        left, right = drop.x - across, drop.x + across
        below = max((top for low, high, top in placed if low < right and left < high), default=0.0)
        y = below + drop.gap / GRID + up
        placed.append((left, right, y + up))
        bodies.append(
            PlanarBody(
                name=f"body {i + 1}",
                shape=Disc(radius=drop.width / 2.0) if drop.height == 0.0 else rectangle(drop.width, drop.height),
                mass=drop.mass,
                position=(drop.x, y),
                angle=drop.angle,
                velocity=drop.velocity,
                spin=drop.spin,
                friction=friction,
                restitution=restitution,
            )
        )
    ground = HalfPlane(name="ground", friction=friction, restitution=restitution)
    return PlanarScene(
        duration=duration,
        bodies=tuple(bodies),
        boundaries=(ground,) if grounded else (),
        gravity=(0.0, -9.81) if grounded else (0.0, 0.0),
    )


def _half_extents(drop: Drop) -> tuple[float, float]:
    """Of the bounding box, m: exact for what stands straight, of a turned box rounded up to the next 1/1024 m."""
    if drop.height == 0.0 or drop.angle == 0.0:
        return drop.width / 2.0, (drop.height or drop.width) / 2.0
    c, s = abs(elementary.cos(drop.angle)), abs(elementary.sin(drop.angle))
    turned = (drop.width * c + drop.height * s, drop.width * s + drop.height * c)
    across, up = (values.on_grid(length / 2.0) for length in turned)
    return across, up

"""Spatial scenes: heaps and stacks of every shape, in contact or nearly so, upright, lying, on an edge, on a
corner, thin, small on large.

Shrinking goes towards fewer bodies, upright unit boxes of 1 kg at rest and in contact, no friction, no restitution.
"""

import math
from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from reference_engine import elementary
from reference_engine.array_types import Array
from reference_engine.dense import mul, norm
from reference_engine.rotation import matrices
from scenarios.mass import width
from scenarios.scene import (
    Box,
    Capsule,
    ConvexMesh,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    SpatialBody,
    SpatialScene,
    SpatialShape,
    Sphere,
)
from scenarios.strategies import values
from scenarios.strategies.values import DURATIONS, GRID, MASSES

SHAPES = ("box", "sphere", "capsule", "cylinder", "convex-mesh", "ellipsoid")
Quaternion = tuple[float, float, float, float]

SIZES = (4, 96)  # in 1/32 m: 0.125 to 3 m
EXTREME = (1, 2, 128)  # in 1/32 m: thin as a plate, small as a coin, large as a lorry
CORNERS = (3, 4, 6, 16, 64)  # of a prism
DEPTHS = (0.0625, 0.125, 0.25)  # of the thinner of two, of an overlapped start


class Drop(NamedTuple):
    """A body before it has its height: its bounding box is put on the highest bounding box below it."""

    shape: SpatialShape
    mass: float
    x: float  # m, of the centre
    y: float
    gap: int  # in 1/1024 m
    depth: float  # of the thinner of the two: how deep it is sunk into what is below, in place of the gap; 0: not
    orientation: Quaternion
    velocity: tuple[float, float, float]
    spin: tuple[float, float, float]


def spatial_scenes(
    max_bodies: int = 6,
    kinds: Collection[str] = SHAPES,
    friction: bool = True,
    restitution: bool = True,
    overlapped: bool = False,
) -> st.SearchStrategy[SpatialScene]:
    """Scenes of 1 to `max_bodies` bodies on a ground, or afloat without gravity; of these `kinds` only.

    Every gap is 0 or more; with `overlapped` the first body is sunk into the ground, and others may be sunk into what
    is below them, by up to a quarter of the thinner. Friction and restitution are 0 where they are not wanted.
    """
    depths = st.sampled_from(DEPTHS) | st.just(0.0) if overlapped else st.just(0.0)
    drops = st.lists(_drops([kind for kind in SHAPES if kind in kinds], depths), min_size=1, max_size=max_bodies)
    if overlapped:
        drops = drops.map(lambda found: [found[0]._replace(depth=found[0].depth or DEPTHS[0]), *found[1:]])
    grounded = st.just(True) if overlapped else st.sampled_from((True, True, True, False))
    laws = values.frictions(wanted=friction), values.restitutions(wanted=restitution)
    return st.builds(_heap, drops, *laws, grounded, st.sampled_from(DURATIONS))


# --- shapes and how they are turned ---------------------------------------------------------------------------------


def _drops(kinds: Sequence[str], depths: st.SearchStrategy[float]) -> st.SearchStrategy[Drop]:
    speeds = values.speeds()
    return st.builds(
        Drop,
        shape=st.one_of([_shapes()[kind] for kind in kinds]),
        mass=st.sampled_from(MASSES),
        x=values.offsets(),
        y=st.just(0.0) | values.offsets(),
        gap=values.gaps(),
        depth=depths,
        orientation=_orientations(),
        velocity=st.tuples(speeds, speeds, speeds),
        spin=st.tuples(speeds, speeds, speeds),
    )


def _shapes() -> dict[str, st.SearchStrategy[SpatialShape]]:
    """By kind; lengths over two decades."""
    lengths = st.just(1.0) | (st.integers(*SIZES) | st.sampled_from(EXTREME)).map(lambda n: n / 32.0)
    radii = lengths.map(lambda length: length / 2.0)
    return {
        "box": st.builds(lambda *size: Box(size=size), lengths, lengths, lengths),
        "sphere": st.builds(Sphere, radius=radii),
        "capsule": st.builds(Capsule, radius=radii, length=lengths),
        "cylinder": st.builds(Cylinder, radius=radii, length=lengths),
        "ellipsoid": st.builds(lambda *axes: Ellipsoid(semi_axes=axes), radii, radii, radii),
        "convex-mesh": st.builds(prism, st.sampled_from(CORNERS), radii, lengths),
    }


def prism(corners: int, radius: float, length: float) -> ConvexMesh:
    """A regular one about body z: with many corners, the one that is next to a cylinder."""
    turn = 2.0 * np.pi * np.arange(corners) / corners
    outline = radius * np.stack([elementary.cos(turn), elementary.sin(turn)], axis=1)
    points = [(float(x), float(y), z) for z in (-length / 2.0, length / 2.0) for x, y in outline]
    return ConvexMesh(points=tuple(points))


EXAMPLES = {
    "box": Box(size=(1.0, 1.0, 1.0)),
    "sphere": Sphere(radius=0.5),
    "capsule": Capsule(radius=0.5, length=1.0),
    "cylinder": Cylinder(radius=0.5, length=1.0),
    "convex-mesh": prism(3, 0.5, 1.0),
    "ellipsoid": Ellipsoid(semi_axes=(0.5, 0.5, 0.5)),
}


def _orientations() -> st.SearchStrategy[Quaternion]:
    """Upright, lying on a side, on an edge or a corner, a little aslant, anyhow."""
    digits = st.integers(-8, 8)
    anyhow = st.tuples(st.integers(1, 8), digits, digits, digits).map(lambda q: _unit(*map(float, q)))
    return st.just(ORIENTATIONS[0]) | st.sampled_from((*ORIENTATIONS, *ASLANT)) | anyhow


def _about(angle: float, axis: Sequence[float]) -> Quaternion:
    x, y, z = (float(part) for part in np.array(axis) / norm(np.array(axis)) * elementary.sin(angle / 2.0))
    return float(elementary.cos(angle / 2.0)), x, y, z


def _unit(*parts: float) -> Quaternion:
    w, x, y, z = (float(part) for part in np.array(parts) / norm(np.array(parts)))
    return w, x, y, z


ORIENTATIONS = (
    (1.0, 0.0, 0.0, 0.0),
    _unit(1.0, 1.0, 0.0, 0.0),  # a quarter turn about x
    _unit(1.0, 0.0, 1.0, 0.0),
    _about(np.pi / 4.0, (1.0, 0.0, 0.0)),  # a box on its edge
    _about(float(elementary.atan2(math.sqrt(2.0), 1.0)), (1.0, -1.0, 0.0)),  # a cube on its corner
)
"""The simplest first."""
ASLANT = (_about(0.001, (1.0, 0.0, 0.0)), _about(0.1, (1.0, 1.0, 0.0)))


# --- arrangements ---------------------------------------------------------------------------------------------------


def _heap(drops: Sequence[Drop], friction: float, restitution: float, grounded: bool, duration: float) -> SpatialScene:
    """Each dropped in turn onto those before it; bounding boxes do not overlap, so neither do the bodies."""
    placed: list[tuple[Array, Array, float, SpatialShape]] = []  # seen from above the lower and upper corner; the top
    bodies = []
    for i, drop in enumerate(drops):
        extent = half_extents(drop.shape, drop.orientation)
        low, high = np.array((drop.x, drop.y)) - extent[:2], np.array((drop.x, drop.y)) + extent[:2]
        under = [(top, one) for lower, upper, top, one in placed if (lower < high).all() and (low < upper).all()]
        gap = drop.gap / GRID
        if drop.depth:
            gap = -drop.depth * min(width(shape) for shape in (drop.shape, *(one for _, one in under)))
        z = max((top for top, _ in under), default=0.0) + gap + float(extent[2])
        placed.append((low, high, z + float(extent[2]), drop.shape))
        bodies.append(
            SpatialBody(
                name=f"body {i + 1}",
                shape=drop.shape,
                mass=drop.mass,
                position=(drop.x, drop.y, z),
                orientation=drop.orientation,
                velocity=drop.velocity,
                spin=drop.spin,
                friction=friction,
                restitution=restitution,
            )
        )
    ground = HalfSpace(name="ground", friction=friction, restitution=restitution)
    return SpatialScene(
        duration=duration,
        bodies=tuple(bodies),
        boundaries=(ground,) if grounded else (),
        gravity=(0.0, 0.0, -9.81) if grounded else (0.0, 0.0, 0.0),
    )


def half_extents(shape: SpatialShape, orientation: Quaternion) -> Array:
    """(3,) m, of the bounding box along the world's axes: exact for what stands straight, else rounded up to the next
    1/1024 m."""
    R = matrices(np.array(orientation))
    straight = bool((np.minimum(np.abs(R), 1.0 - np.abs(R)) < 1e-12).all())
    if straight:
        R = np.round(R)
    match shape:
        case Box(size=size):
            extent = mul(np.abs(R), np.array(size)) / 2.0
        case Sphere(radius=radius):
            return np.full(3, radius)
        case Capsule(radius=radius, length=length):
            extent = radius + np.abs(R[:, 2]) * length / 2.0
        case Cylinder(radius=radius, length=length):
            extent = radius * np.sqrt(np.maximum(0.0, 1.0 - np.square(R[:, 2]))) + np.abs(R[:, 2]) * length / 2.0
        case Ellipsoid(semi_axes=axes):
            extent = np.sqrt(mul(np.square(R), np.square(axes)))
        case ConvexMesh(points=points):
            extent = np.abs(mul(np.array(points), R.T)).max(axis=0)
    return extent if straight else np.array([values.on_grid(float(length)) for length in extent])

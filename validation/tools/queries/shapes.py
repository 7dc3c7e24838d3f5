"""Pairs of shapes that engines are asked about: usual, thin, unequal, tiny and huge ones, by a seed."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from reference_engine.array_types import Array
from reference_engine.geometry.mass_properties import convex_mesh_mass
from scenarios.scene import Box, Capsule, ConvexMesh, Cylinder, Disc, Ellipsoid, Polygon, Sphere

Random = np.random.Generator
SPATIAL_KINDS = ("sphere", "box", "capsule", "cylinder", "ellipsoid", "convex-mesh")
PLANAR_KINDS = ("disc", "polygon")
GOLDEN = 0.5 * (1.0 + 5.0**0.5)

SIZES: dict[str, tuple[float, Callable[[Random], tuple[float, float]]]] = {
    "usual sizes": (0.6, lambda rng: (_log(rng, 0.1, 1.0), _log(rng, 0.1, 1.0))),
    "thin": (0.15, lambda rng: (_log(rng, 0.1, 1.0), _log(rng, 0.1, 1.0))),
    "small on large": (0.1, lambda rng: (_log(rng, 0.01, 0.1), _log(rng, 1.0, 10.0))),
    "tiny": (0.075, lambda rng: (_log(rng, 1e-3, 1e-2), _log(rng, 1e-3, 1e-2))),
    "huge": (0.075, lambda rng: (_log(rng, 10.0, 100.0), _log(rng, 10.0, 100.0))),
}
"""Class of sizes -> its share, and the scales (m) of the two bodies."""
THINNEST = 1e-2  # of a thin body's length


def _log(rng: Random, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def sizes_of(count: int) -> list[str]:
    """The class of each of so many pairs of shapes: each class has its share, and one at least."""
    shares = np.array([share for share, _ in SIZES.values()])
    ends = np.cumsum(shares) * count
    return [list(SIZES)[int(np.searchsorted(ends, k + 0.5))] for k in range(count)]


def pair_of(kinds: Sequence[str], size: str, rng: Random) -> tuple[Any, Any]:
    """Two shapes of scenes of these kinds, in a class of sizes; of thin ones the first is thin, at times both."""
    scales = SIZES[size][1](rng)
    if rng.random() < 0.5:
        scales = scales[::-1]
    thin = size == "thin", size == "thin" and rng.random() < 0.3
    first, second = (DRAWN[kind](rng, scale, flat) for kind, scale, flat in zip(kinds, scales, thin))
    return first, second


def _three(rng: Random, scale: float, thin: bool) -> tuple[float, float, float]:
    """Lengths up to the scale: at times equal, of thin ones one or two short."""
    lengths = scale * rng.uniform(0.3, 1.0, 3)
    if rng.random() < 0.2:
        lengths[:] = lengths[0]
    if thin:
        short = rng.permutation(3)[: rng.integers(1, 3)]
        lengths[short] *= _log(rng, THINNEST, 0.1)
    a, b, c = lengths.tolist()
    return a, b, c


def _round(rng: Random, scale: float, thin: bool) -> dict[str, Any]:
    """Radius and length: of thin ones a needle or a plate."""
    radius, length = scale * float(rng.uniform(0.2, 0.5)), scale * float(rng.uniform(0.3, 1.0))
    if thin:
        factor = _log(rng, THINNEST, 0.1)
        radius, length = (radius * factor, length) if rng.random() < 0.5 else (radius, length * factor)
    return {"radius": radius, "length": length}


def _convex_mesh(rng: Random, scale: float, thin: bool) -> ConvexMesh:
    """A regular solid, a prism, a cone, points on an ellipsoid; no more than 64 corners, which all engines take."""
    kind = CONVEX[int(rng.integers(len(CONVEX)))]
    points = kind(rng) * np.array(_three(rng, 0.5 * scale, thin))
    points = points - convex_mesh_mass(points).centroid
    return ConvexMesh(points=tuple(tuple(row) for row in points.tolist()))


def _on_sphere(rng: Random) -> Array:
    points = rng.normal(size=(int(rng.integers(6, 49)), 3))
    return np.asarray(points / np.sqrt((points**2).sum(axis=1))[:, None])


def _prism(rng: Random) -> Array:
    sides = int(rng.integers(3, 33))
    turn = 2.0 * np.pi * np.arange(sides) / sides
    rim = np.column_stack([np.cos(turn), np.sin(turn)])
    return np.concatenate([np.column_stack([rim, np.full(sides, z)]) for z in (-1.0, 1.0)])


def _cone(rng: Random) -> Array:
    rim = _prism(rng)
    return np.concatenate([rim[: len(rim) // 2], [[0.0, 0.0, 1.0]]])


def _cyclic(rows: Sequence[Sequence[float]]) -> Array:
    return np.unique(np.concatenate([np.roll(np.array(rows), k, axis=1) for k in range(3)]), axis=0)


SIGNS = [(x, y) for x in (-1.0, 1.0) for y in (-1.0, 1.0)]
ICOSAHEDRON = _cyclic([(0.0, x, GOLDEN * y) for x, y in SIGNS]) / GOLDEN
DODECAHEDRON = (
    np.concatenate(
        [
            _cyclic([(0.0, x / GOLDEN, GOLDEN * y) for x, y in SIGNS]),
            [(x, y, z) for x, y in SIGNS for z in (-1.0, 1.0)],
        ]
    )
    / GOLDEN
)
TETRAHEDRON = np.array([(1.0, 1.0, 1.0), (1.0, -1.0, -1.0), (-1.0, 1.0, -1.0), (-1.0, -1.0, 1.0)])
OCTAHEDRON = np.concatenate([np.eye(3), -np.eye(3)])
CONVEX: tuple[Callable[[Random], Array], ...] = (
    lambda rng: TETRAHEDRON,
    lambda rng: OCTAHEDRON,
    lambda rng: ICOSAHEDRON,
    lambda rng: DODECAHEDRON,
    _prism,
    _cone,
    _on_sphere,
    _on_sphere,
)


def _polygon(rng: Random, scale: float, thin: bool) -> Polygon:
    """Convex, of 3 to 8 corners on an ellipse: at times a rectangle or a regular one."""
    count = int(rng.integers(3, 9))
    even = rng.random() < 0.4
    turn = 2.0 * np.pi * np.arange(count) / count if even else np.sort(_spread(rng, count))
    width, height, _ = _three(rng, 0.5 * scale, False)
    if thin:
        height *= _log(rng, THINNEST, 0.1)
    if rng.random() < 0.3:
        corners = np.array([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)])
    else:
        corners = np.column_stack([np.cos(turn), np.sin(turn)])
    corners = corners * (width, height)
    corners -= _centroid(corners)
    return Polygon(vertices=tuple(tuple(row) for row in corners.tolist()))


def _spread(rng: Random, count: int) -> Array:
    """Angles at least a third of an even share apart."""
    shares = 1.0 + 1.5 * rng.random(count)
    return np.asarray(2.0 * np.pi * np.cumsum(shares / shares.sum()))


def _centroid(corners: Array) -> Array:
    following = np.roll(corners, -1, axis=0)
    crossed = corners[:, 0] * following[:, 1] - corners[:, 1] * following[:, 0]
    return np.asarray(((corners + following) * crossed[:, None]).sum(axis=0) / (3.0 * crossed.sum()))


DRAWN: dict[str, Callable[[Random, float, bool], Any]] = {
    "sphere": lambda rng, scale, thin: Sphere(radius=scale * float(rng.uniform(0.2, 0.5))),
    "box": lambda rng, scale, thin: Box(size=_three(rng, scale, thin)),
    "capsule": lambda rng, scale, thin: Capsule(**_round(rng, scale, thin)),
    "cylinder": lambda rng, scale, thin: Cylinder(**_round(rng, scale, thin)),
    "ellipsoid": lambda rng, scale, thin: Ellipsoid(semi_axes=_three(rng, 0.5 * scale, thin)),
    "convex-mesh": _convex_mesh,
    "disc": lambda rng, scale, thin: Disc(radius=scale * float(rng.uniform(0.2, 0.5))),
    "polygon": _polygon,
}

"""Poses of two shapes that engines get wrong: near, deep, far, and with faces, edges and corners on one another.

Two bodies are turned and set apart along a direction; then the second is moved along the normal that our search finds
until the gap is as drawn. As long as they are apart, or shallow in one another, that gap is exact to round-off.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from reference_engine.array_types import Array, Indices
from reference_engine.geometry.bounds import Extents, pair_bounds
from validation.records.queries import Poses

Random = np.random.Generator
ANYHOW, DEEP, FAR, FACES, EDGES, CORNERS, MIXED, NEARLY, ALIGNED, AWAY = range(10)
CLASSES = (
    "anyhow", "deep", "far", "face on face", "edge on edge", "corner on corner", "face, edge or corner on another",
    "nearly parallel", "aligned", "far from the origin",
)  # fmt: skip
SHARES = (0.2, 0.12, 0.04, 0.12, 0.1, 0.06, 0.14, 0.08, 0.08, 0.06)
TILTS = (1e-9, 1e-2)  # rad, of faces that are nearly parallel
AWAY_BY = (1e2, 1e4)  # sizes of the two bodies, from the origin
FURTHEST = 1e3  # sizes, of bodies far apart


def poses_of(shapes: Sequence[Any], count: int, rng: Random) -> tuple[Poses, tuple[str, ...]]:
    """Of two shapes as `reference_engine` has them; and the class of each pose."""
    a, b = (Extents(shape) for shape in shapes)
    classes = np.sort(rng.choice(len(CLASSES), count, p=np.array(SHARES) / sum(SHARES)))
    dimension = 2 if hasattr(shapes[0], "vertices") or type(shapes[0]).__name__ == "Disc" else 3
    made = _turned(shapes, (a, b), classes, dimension, rng)
    direction, orientation, aside = made
    size, thin = a.outer + b.outer, 2.0 * min(a.inner, b.inner)
    position = np.zeros((count, 2, dimension))
    position[:, 1] = 1.5 * size * direction + aside * min(a.inner, b.inner)
    bounds = pair_bounds(shapes, position, orientation)
    gaps = _gaps(classes, size, thin, rng)
    position[:, 1] += (gaps - bounds.lower)[:, None] * bounds.normal
    deep = classes == DEEP
    ball = _in_ball(rng, int(deep.sum()), dimension) * (0.95 * (a.inner + b.inner))
    ball[rng.random(len(ball)) < 0.05] = 0.0  # of one centre
    position[deep, 1] = ball
    away = classes == AWAY
    far = _logarithmic(rng, AWAY_BY, int(away.sum()))[:, None] * size * _unit(rng, int(away.sum()), dimension)
    position[away] += far[:, None]
    return Poses(position=position, orientation=orientation), tuple(CLASSES[k] for k in classes)


def _gaps(classes: Indices, size: float, thin: float, rng: Random) -> Array:
    """(N,) m: a third apart, a third in one another, by decades, a ninth in contact to round-off, the rest deeper."""
    count = len(classes)
    sort = rng.choice(4, count, p=(0.35, 0.35, 0.1, 0.2))
    decades = 10.0 ** rng.uniform(-6.0, -1.0, count)
    gaps = np.choose(sort, [decades * size, -decades * thin, np.zeros(count), -rng.uniform(0.05, 0.4, count) * thin])
    far = classes == FAR
    gaps[far] = size * np.exp(rng.uniform(0.0, np.log(FURTHEST), int(far.sum())))
    return np.asarray(gaps)


def _turned(
    shapes: Sequence[Any], extents: tuple[Extents, Extents], classes: Indices, dimension: int, rng: Random
) -> tuple[Array, Array, Array]:
    """Directions (N, D) from the first to the second, orientations of both, and how far aside (N, D) the second is."""
    count = len(classes)
    up = np.zeros((count, dimension))
    up[:, -1] = 1.0
    free = np.isin(classes, (ANYHOW, DEEP, FAR, AWAY))
    direction = np.where(free[:, None], _unit(rng, count, dimension), up)
    aside = np.zeros((count, dimension))
    tangential = _in_ball(rng, count, dimension - 1) * np.choose(rng.integers(3, size=count), (0.0, 1.0, 1e-9))[:, None]
    aside[:, :-1] = np.where(free[:, None], 0.0, tangential)
    tilt = np.where(classes == NEARLY, _logarithmic(rng, TILTS, count), 0.0)
    wanted = np.full((count, 2), -1)
    for of, pair in {FACES: (0, 0), EDGES: (1, 1), CORNERS: (2, 2), NEARLY: (0, 0), ALIGNED: (0, 0)}.items():
        wanted[classes == of] = pair
    mixed = classes == MIXED
    wanted[mixed] = rng.integers(3, size=(int(mixed.sum()), 2))
    if dimension == 2:
        angle = rng.uniform(-np.pi, np.pi, (count, 2))
        for side, sign in ((0, 1.0), (1, -1.0)):
            ways = _ways(shapes[side], rng, count, wanted[:, side])
            faced = np.arctan2(sign, 0.0) - np.arctan2(ways[:, 1], ways[:, 0])
            angle[~free, side] = (faced + (tilt if side else 0.0))[~free]
        return direction, angle, aside
    orientation = np.empty((count, 2, 4))
    twist = np.where(classes == ALIGNED, 0.5 * np.pi * rng.integers(4, size=count), rng.uniform(-np.pi, np.pi, count))
    twist = np.where(rng.random(count) < 0.3, 0.25 * np.pi * rng.integers(8, size=count), twist)
    for side, sign in ((0, 1.0), (1, -1.0)):
        anyhow = _unit(rng, count, 4)
        ways = _ways(shapes[side], rng, count, wanted[:, side])
        faced = _from_to(ways, sign * up)
        if side:
            faced = _product(_about(_unit(rng, count, 3), tilt), _product(_about(up, twist), faced))
        orientation[:, side] = np.where(free[:, None], anyhow, faced)
    return direction, orientation, aside


# --- faces, edges and corners -----------------------------------------------------------------------------------------


def _ways(shape: Any, rng: Random, count: int, wanted: Indices) -> Array:
    """(N, D) directions in a shape's axes out of one of its faces (0), edges (1) or corners (2); -1: anyhow."""
    found = _features(shape)
    dimension = found[0].shape[1]
    chosen = _unit(rng, count, dimension)
    for of, ways in enumerate(found):
        rows = np.flatnonzero(wanted == of)
        if len(ways) and len(rows):
            picked = ways[rng.integers(len(ways), size=len(rows))]
            chosen[rows] = picked / np.sqrt((picked**2).sum(axis=1))[:, None]
    return chosen


def _features(shape: Any) -> tuple[Array, Array, Array]:
    """Directions out of faces, edges and corners; of round bodies their axes, sides and rims."""
    axes = np.concatenate([np.eye(3), -np.eye(3)])
    return FEATURES[type(shape).__name__](shape, axes)


def _of_box(shape: Any, axes: Array) -> tuple[Array, Array, Array]:
    signs = np.array(np.meshgrid([-1.0, 1.0], [-1.0, 1.0], [-1.0, 1.0])).reshape(3, -1).T
    flat = np.concatenate([signs * (np.arange(3) != k) for k in range(3)])
    return axes, np.unique(flat, axis=0), signs * np.asarray(shape.half_extents)


def _of_cylinder(shape: Any, axes: Array) -> tuple[Array, Array, Array]:
    rim = np.array([[np.cos(t), np.sin(t), 0.0] for t in np.arange(8) * np.pi / 4.0])
    up = np.array([0.0, 0.0, 1.0])
    return np.array([up, -up]), rim, np.concatenate([rim + s * up for s in (-1.0, 1.0)])


def _of_mesh(shape: Any, axes: Array) -> tuple[Array, Array, Array]:
    from scipy.spatial import ConvexHull  # here: it takes long to import

    found = ConvexHull(np.asarray(shape.points))
    faces = np.unique(found.equations[:, :3].round(12), axis=0)
    beside = np.array([(i, j) for i, row in enumerate(found.neighbors) for j in row if i < j])
    edges = found.equations[beside[:, 0], :3] + found.equations[beside[:, 1], :3]
    return faces, edges[(edges**2).sum(axis=1) > 1e-6], found.points[found.vertices]


def _of_polygon(shape: Any, axes: Array) -> tuple[Array, Array, Array]:
    corners = np.asarray(shape.vertices)
    sides = np.roll(corners, -1, axis=0) - corners
    normals = np.column_stack([sides[:, 1], -sides[:, 0]])
    return normals, corners, corners


FEATURES: dict[str, Callable[[Any, Array], tuple[Array, Array, Array]]] = {
    "Sphere": lambda shape, axes: (axes, axes, axes),
    "Ellipsoid": lambda shape, axes: (axes, axes, axes),
    "Box": _of_box,
    "Capsule": _of_cylinder,
    "Cylinder": _of_cylinder,
    "ConvexMesh": _of_mesh,
    "Disc": lambda shape, axes: (np.eye(2), np.eye(2), -np.eye(2)),
    "Polygon": _of_polygon,
}


# --- turning ----------------------------------------------------------------------------------------------------------


def _logarithmic(rng: Random, ends: tuple[float, float], count: int) -> Array:
    return np.asarray(np.exp(rng.uniform(np.log(ends[0]), np.log(ends[1]), count)))


def _unit(rng: Random, count: int, dimension: int) -> Array:
    found = rng.normal(size=(count, dimension))
    return np.asarray(found / np.sqrt((found**2).sum(axis=1, keepdims=True)))


def _in_ball(rng: Random, count: int, dimension: int) -> Array:
    return np.asarray(_unit(rng, count, dimension) * rng.random((count, 1)) ** (1.0 / dimension))


def _about(axis: Array, angle: Array) -> Array:
    """Quaternions (N, 4), w first."""
    return np.concatenate([np.cos(0.5 * angle)[:, None], np.sin(0.5 * angle)[:, None] * axis], axis=1)


def _product(p: Array, q: Array) -> Array:
    w = p[:, :1] * q[:, :1] - (p[:, 1:] * q[:, 1:]).sum(axis=1, keepdims=True)
    return np.concatenate([w, p[:, :1] * q[:, 1:] + q[:, :1] * p[:, 1:] + np.cross(p[:, 1:], q[:, 1:])], axis=1)


def _from_to(a: Array, b: Array) -> Array:
    """Quaternions (N, 4) that turn unit vectors a into b; of opposite ones about an axis across."""
    half = np.concatenate([1.0 + (a * b).sum(axis=1, keepdims=True), np.cross(a, b)], axis=1)
    across = np.cross(a, np.where(np.abs(a[:, :1]) < 0.7, [[1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]]))
    half = np.where(half[:, :1] < 1e-9, np.concatenate([np.zeros((len(a), 1)), across], axis=1), half)
    return np.asarray(half / np.sqrt((half**2).sum(axis=1, keepdims=True)))

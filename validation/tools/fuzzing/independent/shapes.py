"""Shapes of a scene by their support function, h(n) = max over the shape of n . r, and what a uniform one weighs.

All in the body frame, in three dimensions: a planar shape lies at z = 0, and has directions without z.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.spatial import ConvexHull, Delaunay

from reference_engine.array_types import Array

CONVEX = ("polygon", "disc", "sphere", "box", "capsule", "cylinder", "ellipsoid", "convex-mesh")


def is_convex(shape: Any) -> bool:
    """Whether it has a support function here: no polygon with arcs, no concave one."""
    return shape.kind in CONVEX and (shape.kind != "polygon" or _turns_one_way(shape.vertices))


def _turns_one_way(vertices: Any) -> bool:
    v = np.array(vertices)
    edge = np.roll(v, -1, axis=0) - v
    after = np.roll(edge, -1, axis=0)
    return bool((edge[:, 0] * after[:, 1] - edge[:, 1] * after[:, 0] >= 0.0).all())


def corners(shape: Any) -> Array | None:
    """(N, 3) m, whose hull the shape is; None of a round one."""
    if shape.kind == "polygon":
        return np.column_stack([np.array(shape.vertices), np.zeros(len(shape.vertices))])
    if shape.kind == "box":
        signs = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
        return signs * np.array(shape.size)
    return np.array(shape.points) if shape.kind == "convex-mesh" else None


def support(shape: Any, n: Array) -> Array:
    """(K,) m, of unit vectors (K, 3)."""
    return SUPPORT[shape.kind](shape, n) if shape.kind in SUPPORT else (n @ own_corners(shape).T).max(axis=1)


def own_corners(shape: Any) -> Array:
    """(N, 3) m, of what is a hull."""
    found = corners(shape)
    assert found is not None
    return found


SUPPORT: dict[str, Callable[[Any, Array], Array]] = {
    "disc": lambda shape, n: np.full(len(n), shape.radius),
    "sphere": lambda shape, n: np.full(len(n), shape.radius),
    "capsule": lambda shape, n: shape.radius + shape.length / 2.0 * np.abs(n[:, 2]),
    "cylinder": lambda shape, n: shape.radius * np.hypot(n[:, 0], n[:, 1]) + shape.length / 2.0 * np.abs(n[:, 2]),
    "ellipsoid": lambda shape, n: np.linalg.norm(n * np.array(shape.semi_axes), axis=1),
}


def outside(shape: Any, p: Array) -> Array:
    """(K,) m: how far points (K, 3) are from the shape, from below; 0 in it.

    Of a hull by its faces, of an ellipsoid by the sphere that it is in the metric of its axes.
    """
    match shape.kind:
        case "disc" | "sphere":
            out = np.linalg.norm(p, axis=1) - shape.radius
        case "capsule":
            axis = np.clip(p[:, 2], -shape.length / 2.0, shape.length / 2.0)
            out = np.linalg.norm(p - axis[:, None] * (0.0, 0.0, 1.0), axis=1) - shape.radius
        case "cylinder":
            out = np.maximum(np.hypot(p[:, 0], p[:, 1]) - shape.radius, np.abs(p[:, 2]) - shape.length / 2.0)
        case "ellipsoid":
            axes = np.array(shape.semi_axes)
            out = (np.linalg.norm(p / axes, axis=1) - 1.0) * axes.min()
        case _:
            normals, offsets = faces(shape)
            out = (p @ normals.T - offsets).max(axis=1)
    return np.maximum(out, 0.0)


def faces(shape: Any) -> tuple[Array, Array]:
    """(F, 3) unit normals outward and (F,) m, of a hull: n . r <= offset."""
    return _faces(shape.kind, tuple(map(tuple, own_corners(shape).tolist())))


@functools.lru_cache(maxsize=256)
def _faces(kind: str, points: tuple[tuple[float, ...], ...]) -> tuple[Array, Array]:
    p = np.array(points)
    if kind == "polygon":
        edge = np.roll(p, -1, axis=0) - p
        normal = np.column_stack([edge[:, 1], -edge[:, 0], np.zeros(len(p))])
        normal /= np.linalg.norm(normal, axis=1)[:, None]
        return normal, np.einsum("ij,ij->i", normal, p)
    equations = np.unique(np.round(ConvexHull(p).equations, 14), axis=0)
    return equations[:, :3], (p @ equations[:, :3].T).max(axis=0)


def edges(shape: Any) -> Array:
    """(E, 3) unit vectors along the edges of a hull in space, each direction at least once."""
    return _edges(tuple(map(tuple, own_corners(shape).tolist())))


@functools.lru_cache(maxsize=256)
def _edges(points: tuple[tuple[float, ...], ...]) -> Array:
    p = np.array(points)
    triangles = ConvexHull(p).simplices
    pairs = np.unique(
        np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])), axis=0
    )
    along = p[pairs[:, 1]] - p[pairs[:, 0]]
    along /= np.linalg.norm(along, axis=1)[:, None]
    along *= np.where(along[:, [0]] + 1e-3 * along[:, [1]] + 1e-6 * along[:, [2]] < 0.0, -1.0, 1.0)
    return np.unique(np.round(along, 12), axis=0)


def bounding_radius(shape: Any) -> float:
    """m, of the furthest point from the origin."""
    match shape.kind:
        case "disc" | "sphere":
            return float(shape.radius)
        case "capsule":
            return float(shape.radius + shape.length / 2.0)
        case "cylinder":
            return math.hypot(shape.radius, shape.length / 2.0)
        case "ellipsoid":
            return float(max(shape.semi_axes))
        case "arc-polygon":
            v = np.array(shape.vertices)
            return max(map(_furthest, v, np.roll(v, -1, axis=0), shape.bulges))
        case "compound":
            return max(map(_furthest_of_piece, shape.pieces))
    return float(np.linalg.norm(own_corners(shape), axis=1).max())


def _furthest_of_piece(piece: Any) -> float:
    """m, from the body's origin, seen from the piece: where that lies in its frame; of an ellipsoid a bound."""
    shape, at = piece.shape, np.zeros(3)
    at[: len(piece.position)] = piece.position
    if hasattr(piece, "angle"):
        c, s = math.cos(piece.angle), math.sin(piece.angle)
        R = np.array([(c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0)])
    else:
        w, *v = piece.orientation
        R = np.eye(3) + 2.0 * (w * _cross(v) + _cross(v) @ _cross(v))
    x, y, z = R.T @ at  # the piece's centre, less the body's origin, in the axes of the piece
    match shape.kind:
        case "capsule":
            return math.hypot(x, y, abs(z) + shape.length / 2.0) + float(shape.radius)
        case "cylinder":
            return math.hypot(math.hypot(x, y) + shape.radius, abs(z) + shape.length / 2.0)
        case "polygon" | "box" | "convex-mesh":
            return float(np.linalg.norm(own_corners(shape) + np.array((x, y, z)), axis=1).max())
    return math.hypot(x, y, z) + bounding_radius(shape)


def _cross(v: Any) -> Array:
    """The matrix of v x."""
    x, y, z = v
    return np.array([(0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0)])


def _furthest(v: Array, w: Array, bulge: float) -> float:
    """m, of an edge from the origin; of an inward arc an end is further than what is between them."""
    ends = max(math.hypot(*v), math.hypot(*w))
    if bulge <= 0.0:
        return ends
    turn, chord = 4.0 * math.atan(bulge), w - v
    centre = 0.5 * (v + w) + 0.5 / math.tan(0.5 * turn) * np.array((-chord[1], chord[0]))
    first, out = math.atan2(*(v - centre)[::-1]), math.atan2(*centre[::-1])
    is_on_arc = (out - first) % (2.0 * math.pi) <= turn
    return math.hypot(*centre) + math.hypot(*(v - centre)) if is_on_arc else ends


# --- mass ---------------------------------------------------------------------------------------------------------


def inertia_of(body: Any) -> Array:
    """(3,) kg m^2 about the body axes, of a free body; in the plane only the last one counts."""
    if body.inertia is not None:
        given = np.atleast_1d(body.inertia)
        return given if len(given) == 3 else np.array((0.0, 0.0, given[0]))
    xx, yy, zz = second_moments(body.shape)
    return float(body.mass) * np.array((yy + zz, xx + zz, xx + yy))


def second_moments(shape: Any) -> tuple[float, float, float]:
    """m^2: the means of x^2, y^2 and z^2 over the shape."""
    match shape.kind:
        case "disc":
            return shape.radius**2 / 4.0, shape.radius**2 / 4.0, 0.0
        case "sphere":
            return (shape.radius**2 / 5.0,) * 3
        case "box":
            x, y, z = (edge**2 / 12.0 for edge in shape.size)
            return x, y, z
        case "ellipsoid":
            x, y, z = (axis**2 / 5.0 for axis in shape.semi_axes)
            return x, y, z
        case "cylinder":
            return shape.radius**2 / 4.0, shape.radius**2 / 4.0, shape.length**2 / 12.0
        case "capsule":
            return _of_capsule(shape.radius, shape.length)
        case "arc-polygon":
            return _of_outline(shape)
    return _of_pieces(shape)


def _of_capsule(r: float, length: float) -> tuple[float, float, float]:
    """By Simpson's rule along the axis, exact for the ends, whose integrands are polynomials of degree four or less
    in pieces of so few; of a ball's slice of radius s: the mean of x^2 is s^2 / 4."""
    z, weight = np.polynomial.legendre.leggauss(8)
    volume = across = along = 0.0
    for low, high, centre in ((-length / 2.0 - r, -length / 2.0, -length / 2.0), (-length / 2.0, length / 2.0, None),
                              (length / 2.0, length / 2.0 + r, length / 2.0)):  # fmt: skip
        at = 0.5 * (low + high) + 0.5 * (high - low) * z
        square = np.full(8, r * r) if centre is None else r * r - (at - centre) ** 2
        area = 0.5 * (high - low) * weight * math.pi * square
        volume, across, along = volume + area.sum(), across + (area * square / 4.0).sum(), along + (area * at**2).sum()
    return float(across / volume), float(across / volume), float(along / volume)


def _of_pieces(shape: Any) -> tuple[float, float, float]:
    """By cutting it up into triangles or tetrahedra: over one the mean of x^2 is that over its corners and centre."""
    p = own_corners(shape)
    if shape.kind == "polygon":
        first, second = p, np.roll(p, -1, axis=0)
        size = first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0]  # signed, about the origin
        squares = (first**2 + second**2 + first * second) / 6.0
        x, y, _ = (size[:, None] * squares).sum(axis=0) / size.sum()
        return float(x), float(y), 0.0
    pieces = p[Delaunay(p).simplices]
    size = np.abs(np.linalg.det(pieces[:, 1:] - pieces[:, :1]))
    squares = ((pieces**2).sum(axis=1) + pieces.sum(axis=1) ** 2) / 20.0
    x, y, z = (size[:, None] * squares).sum(axis=0) / size.sum()
    return float(x), float(y), float(z)


def _of_outline(shape: Any) -> tuple[float, float, float]:
    """By Green's theorem along the outline, arcs by quadrature: x^2 from -x^2 y dx, y^2 from x y^2 dy."""
    t, weight = np.polynomial.legendre.leggauss(40)
    area = xx = yy = 0.0
    v = np.array(shape.vertices)
    for a, b, bulge in zip(v, np.roll(v, -1, axis=0), shape.bulges):
        s = 0.5 * (t + 1.0)
        if bulge == 0.0:
            p, rate = a + s[:, None] * (b - a), np.tile(b - a, (len(s), 1))
        else:
            half = 2.0 * math.atan(bulge)
            chord = b - a
            inward = np.array((-chord[1], chord[0])) / (2.0 * math.tan(half))
            centre = 0.5 * (a + b) + inward
            turn = 2.0 * half * s
            c, sn = np.cos(turn)[:, None], np.sin(turn)[:, None]
            arm = a - centre
            p = centre + c * arm + sn * np.array((-arm[1], arm[0]))
            rate = 2.0 * half * (-sn * arm + c * np.array((-arm[1], arm[0])))
        w = 0.5 * weight
        area += (w * 0.5 * (p[:, 0] * rate[:, 1] - p[:, 1] * rate[:, 0])).sum()
        xx += (w * p[:, 0] ** 3 / 3.0 * rate[:, 1]).sum()
        yy -= (w * p[:, 1] ** 3 / 3.0 * rate[:, 0]).sum()
    return float(xx / area), float(yy / area), 0.0

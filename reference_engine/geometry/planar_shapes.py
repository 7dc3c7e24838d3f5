"""Planar solids as arrays.  Body frame: origin at the centre of mass; pose (x, y, angle)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from reference_engine.array_types import Array, Flags, Indices
from reference_engine.geometry.outline_gap import Boundary, bulged, inscribed
from reference_engine.geometry.polygon import convex_pieces, exact_area_sign

POLYGON, DISC, HALF_PLANE, BOWL = range(4)

CHORD = np.pi / 12.0  # rad of an arc


@dataclass(frozen=True, slots=True, eq=False)
class Polygon:
    """Simple, convex or not, either orientation."""

    vertices: ArrayLike  # (n, 2) m


@dataclass(frozen=True, slots=True)
class ArcPolygon:
    """Simple, counter-clockwise; edge i, from vertex i to the next, bulges outward by tan(angle / 4)."""

    vertices: ArrayLike  # (n, 2) m
    bulges: ArrayLike  # (n,) in [-1, 1]; 0 is straight


@dataclass(frozen=True, slots=True)
class Disc:
    radius: float  # m


@dataclass(frozen=True, slots=True)
class HalfPlane:
    """Solid behind the line through `point`; `normal` points out of the solid."""

    point: ArrayLike = (0.0, 0.0)  # (2,) m
    normal: ArrayLike = (0.0, 1.0)  # (2,) any length


@dataclass(frozen=True, slots=True)
class Bowl:
    """Solid outside the circle of this radius about the origin."""

    radius: float  # m


PlanarShape = Polygon | ArcPolygon | Disc | HalfPlane | Bowl


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanarShapes:
    """B bodies, P convex pieces of polygons, V vertices of parts; body frame.

    An ArcPolygon is a polygon inscribed in it, for the kernels, and its boundary.
    """

    kind: Indices  # (B,) POLYGON, DISC, HALF_PLANE or BOWL
    static: Flags  # (B,) two of these are never a pair
    radius: Array  # (B,) m, of a disc or bowl, else 0
    point: Array  # (B, 2) m, on the line of a half-plane
    axis: Array  # (B, 2) unit, outward normal of a half-plane
    bounding_radius: Array  # (B,) m, furthest point from the origin; infinite if unbounded
    piece_start: Indices  # (B + 1,) parts of body i are piece_start[i] up to piece_start[i + 1]
    vertex_start: Indices  # (P + 2,) vertices of part k, counter-clockwise; the last part, P, is empty
    vertex_body: Indices  # (V,) whose vertex it is
    vertex: Array  # (V, 2) m
    edge_normal: Array  # (V, 2) unit, outward, of the edge from vertex i to the next of its part
    edge_length: Array  # (V,) m
    arc_polygon: Flags  # (B,)
    boundary: tuple[Boundary, ...]  # (B,) of every body if one is an ArcPolygon, else none; half-planes below y = 0


def planar_shapes(shapes: Sequence[PlanarShape], static: Sequence[bool]) -> PlanarShapes:
    """Pack; an unbounded shape must be static.

    Raises ValueError for one that is not, for a clockwise ArcPolygon, and where no polygon is simple.
    """
    count = len(shapes)
    if len(static) != count:
        raise ValueError(f"static: {len(static)} flags for {count} shapes; give one per body")
    kind, radius, bounding_radius = [POLYGON] * count, [0.0] * count, [0.0] * count
    point, axis = np.zeros((count, 2)), np.zeros((count, 2))
    pieces: list[Array] = []
    piece_start, vertex_start = [0], [0]
    vertex_body: list[int] = []
    for i, shape in enumerate(shapes):
        own: list[Array] = []
        if isinstance(shape, HalfPlane | Bowl) and not static[i]:
            raise ValueError(f"static[{i}]: a {type(shape).__name__} is unbounded; it must be static")
        match shape:
            case Polygon(vertices):
                own = convex_pieces(vertices)
            case ArcPolygon():
                boundary = boundary_of(shape)
                within = inscribed(boundary, CHORD)
                if exact_area_sign(within) < 0:
                    raise ValueError(f"shapes[{i}].vertices: clockwise; an ArcPolygon is given counter-clockwise")
                own = convex_pieces(within)
                bounding_radius[i] = boundary.bounding_radius
            case Disc(r):
                kind[i], radius[i], bounding_radius[i] = DISC, r, r
            case HalfPlane(p, n):
                kind[i], bounding_radius[i] = HALF_PLANE, np.inf
                point[i], axis[i] = p, n
                axis[i] /= math.hypot(*axis[i].tolist())
            case Bowl(r):
                kind[i], radius[i], bounding_radius[i] = BOWL, r, np.inf
            case _:
                raise TypeError(
                    f"shapes[{i}]: {shape!r} is no planar shape; use Polygon, ArcPolygon, Disc, HalfPlane, Bowl"
                )
        for piece in own:
            vertex_start.append(vertex_start[-1] + len(piece))
            vertex_body += [i] * len(piece)
        pieces += own
        piece_start.append(len(pieces))
    corners: list[list[float]] = []
    normals: list[tuple[float, float]] = []
    lengths: list[float] = []
    for piece in pieces:
        points = piece.tolist()
        corners += points
        for (x, y), (u, v) in zip(points, points[1:] + points[:1]):
            lengths.append(length := math.hypot(u - x, v - y))
            normals.append(((v - y) / length, (x - u) / length))
    for i, (x, y) in zip(vertex_body, corners):
        bounding_radius[i] = max(bounding_radius[i], math.hypot(x, y))
    arcs = [isinstance(shape, ArcPolygon) for shape in shapes]
    return PlanarShapes(
        kind=np.array(kind, np.int64),
        static=np.asarray(static, dtype=np.bool_),
        radius=np.array(radius, np.float64),
        point=point,
        axis=axis,
        bounding_radius=np.array(bounding_radius, np.float64),
        piece_start=np.array(piece_start, np.int64),
        vertex_start=np.array([*vertex_start, vertex_start[-1]], np.int64),
        vertex_body=np.array(vertex_body, np.int64),
        vertex=np.array(corners, np.float64).reshape(-1, 2),
        edge_normal=np.array(normals, np.float64).reshape(-1, 2),
        edge_length=np.array(lengths, np.float64),
        arc_polygon=np.array(arcs, np.bool_),
        boundary=tuple(boundary_of(shape) for shape in shapes) if any(arcs) else (),
    )


def boundary_of(shape: PlanarShape) -> Boundary:
    """About the origin of the body; of a half-plane, what lies below y = 0."""
    match shape:
        case Polygon(vertices):
            corners = np.asarray(vertices, np.float64)
            corners = corners if exact_area_sign(corners) > 0 else corners[::-1]
            return bulged(corners, np.zeros(len(corners)))
        case ArcPolygon(vertices, bulges):
            return bulged(np.asarray(vertices, np.float64), np.asarray(bulges, np.float64))
        case Disc(radius):
            start = np.array([[radius, 0.0]])
            return Boundary(start, start, np.zeros((1, 2)), np.array([2.0 * np.pi]))
    none = np.zeros((0, 2))
    return Boundary(none, none, none, np.zeros(0), bowl_radius=shape.radius if isinstance(shape, Bowl) else 0.0)

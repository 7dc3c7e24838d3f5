"""Spatial solids as arrays.  Body frame: origin at the centre of mass; axis z where there is one."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from reference_engine import elementary
from reference_engine.array_types import Array, Flags, Indices
from reference_engine.dense import mul, norm

SPHERE, CAPSULE, BOX, CYLINDER, ELLIPSOID, MESH, CONE, HALF_SPACE, SPHERE_INTERIOR = range(9)
THINNEST = 1e-6  # of the bounding radius; what is flatter has no inside from which a ray could start


@dataclass(frozen=True, slots=True)
class Sphere:
    radius: float  # m


@dataclass(frozen=True, slots=True)
class Capsule:
    """Axis z; the straight part is 2 half_length long."""

    radius: float  # m
    half_length: float  # m


@dataclass(frozen=True, slots=True)
class Box:
    half_extents: ArrayLike  # (3,) m


@dataclass(frozen=True, slots=True)
class Cylinder:
    """Axis z, flat ends."""

    radius: float  # m
    half_length: float  # m


@dataclass(frozen=True, slots=True)
class Cone:
    """Axis z; the tip at +3/4 of the height, the flat end at -1/4, so that the origin is the centroid."""

    radius: float  # m
    height: float  # m


@dataclass(frozen=True, slots=True)
class Ellipsoid:
    semi_axes: ArrayLike  # (3,) m


@dataclass(frozen=True, slots=True)
class ConvexMesh:
    """The hull of the points."""

    points: ArrayLike  # (n, 3) m


@dataclass(frozen=True, slots=True)
class HalfSpace:
    """Solid behind the plane through `point`; `normal` points out of the solid."""

    point: ArrayLike  # (3,) m
    normal: ArrayLike  # (3,) any length


@dataclass(frozen=True, slots=True)
class SphereInterior:
    """Solid outside the sphere of this radius about the origin."""

    radius: float  # m


SpatialShape = Sphere | Capsule | Box | Cylinder | Cone | Ellipsoid | ConvexMesh | HalfSpace | SphereInterior


@dataclass(frozen=True, slots=True, kw_only=True)
class SpatialShapes:
    """B bodies, V vertices of meshes; body frame.

    A sphere is a point and a capsule a segment with a margin around it: what is said of their
    distance and depth is said of the cores, less the margins, exactly.
    """

    kind: Indices  # (B,) SPHERE ... SPHERE_INTERIOR
    static: Flags  # (B,) two of these are never a pair
    size: Array  # (B, 3) m; box half extents, ellipsoid semi-axes, (radius, half length or height, 0)
    margin: Array  # (B,) m, of sphere and capsule, else 0
    bounding_radius: Array  # (B,) m, furthest point from the origin; infinite if unbounded
    point: Array  # (B, 3) m, on the plane of a half-space
    axis: Array  # (B, 3) unit, outward normal of a half-space
    vertex_start: Indices  # (B + 1,) vertices of body i are vertex_start[i] up to vertex_start[i + 1]
    vertex: Array  # (V, 3) m, corners of the hulls


def spatial_shapes(shapes: Sequence[SpatialShape], static: Sequence[bool]) -> SpatialShapes:
    """Pack; an unbounded shape must be static."""
    count = len(shapes)
    if len(static) != count:
        raise ValueError(f"static: {len(static)} flags for {count} shapes; give one per body")
    kind = np.zeros(count, np.int64)
    size, margin, bounding_radius = np.zeros((count, 3)), np.zeros(count), np.zeros(count)
    point, axis = np.zeros((count, 3)), np.zeros((count, 3))
    hulls: list[Array] = []
    for i, shape in enumerate(shapes):
        if isinstance(shape, HalfSpace | SphereInterior) and not static[i]:
            raise ValueError(f"static[{i}]: a {type(shape).__name__} is unbounded; it must be static")
        hull = np.zeros((0, 3))
        match shape:
            case Sphere(r):
                kind[i], size[i, 0], margin[i], bounding_radius[i] = SPHERE, r, r, r
            case Capsule(r, h):
                kind[i], size[i, :2], margin[i], bounding_radius[i] = CAPSULE, (r, h), r, r + h
            case Box(half):
                kind[i], size[i] = BOX, half
                bounding_radius[i] = norm(size[i])
            case Cylinder(r, h):
                kind[i], size[i, :2], bounding_radius[i] = CYLINDER, (r, h), elementary.hypot(r, h)
            case Cone(r, h):
                kind[i], size[i, :2], bounding_radius[i] = CONE, (r, h), max(0.75 * h, elementary.hypot(r, 0.25 * h))
            case Ellipsoid(axes):
                kind[i], size[i] = ELLIPSOID, axes
                bounding_radius[i] = size[i].max()
            case ConvexMesh(points):
                from scipy.spatial import ConvexHull  # here: it takes long to import

                hull = np.asarray(points, dtype=np.float64)
                hull = hull[ConvexHull(hull).vertices]
                kind[i], bounding_radius[i] = MESH, np.linalg.norm(hull, axis=1).max()
            case HalfSpace(p, n):
                normal = np.asarray(n, dtype=np.float64)
                kind[i], point[i], axis[i], bounding_radius[i] = HALF_SPACE, p, normal / norm(normal), np.inf
            case SphereInterior(r):
                kind[i], size[i, 0], bounding_radius[i] = SPHERE_INTERIOR, r, np.inf
            case _:
                raise TypeError(f"shapes[{i}]: {shape!r} is no spatial shape; see reference_engine.geometry")
        hulls.append(hull)
    return SpatialShapes(
        kind=kind,
        static=np.asarray(static, dtype=np.bool_),
        size=size,
        margin=margin,
        bounding_radius=bounding_radius,
        point=point,
        axis=axis,
        vertex_start=np.concatenate([[0], np.cumsum([len(hull) for hull in hulls])]).astype(np.int64),
        vertex=np.ascontiguousarray(np.concatenate([*hulls, np.zeros((0, 3))])),
    )


def corners_and_rims(shape: SpatialShape) -> Array:
    """(C, 4) m: what of a solid can be nearest to a plane: points of its frame, and the radius of a rim about each.

    A rim is across z; of a corner the radius is 0.
    Of a sphere and a capsule those of the core, to which their margin is added: the centre, and the centres of the two
    ends. (0, 4) of an ellipsoid and of what is not bounded.
    """
    match shape:
        case Sphere():
            rows = [(0.0, 0.0, 0.0, 0.0)]
        case Capsule(_, h):
            rows = [(0.0, 0.0, -h, 0.0), (0.0, 0.0, h, 0.0)]
        case Cylinder(r, h):
            rows = [(0.0, 0.0, -h, r), (0.0, 0.0, h, r)]
        case Cone(r, h):
            rows = [(0.0, 0.0, -0.25 * h, r), (0.0, 0.0, 0.75 * h, 0.0)]
        case Box(half):
            a, b, c = np.asarray(half, np.float64)
            rows = [(x, y, z, 0.0) for x, y, z in itertools.product((-a, a), (-b, b), (-c, c))]
        case ConvexMesh():
            rows = [(*vertex, 0.0) for vertex in spatial_shapes([shape], [True]).vertex]
        case _:
            rows = []
    return np.array(rows, np.float64).reshape(-1, 4)


def gaps_over_plane(
    shape: SpatialShape, position: ArrayLike, orientation: ArrayLike, point: ArrayLike, normal: ArrayLike
) -> Array:
    """(S, C) m: how far each corner and rim is above the plane through a point, of any normal but 0.

    position (S, 3) m; orientation (S, 4), w x y z, body to world, of any length but 0.
    """
    rows, n = corners_and_rims(shape), np.asarray(normal, np.float64) / norm(normal)
    q = np.asarray(orientation, np.float64)
    w, v = q[:, :1], q[:, 1:]
    turn = np.cross(v, n)
    local = n + 2.0 * (np.cross(v, turn) - w * turn) / (q * q).sum(axis=1, keepdims=True)  # n in axes of the body
    height = mul(np.asarray(position, np.float64) - np.asarray(point, np.float64), n)
    margin = shape.radius if isinstance(shape, Sphere | Capsule) else 0.0
    above: Array = mul(local, rows[:, :3].T) - elementary.hypot(local[:, 0], local[:, 1])[:, None] * rows[:, 3]
    return above + (height - margin)[:, None]


def check_thickness(shapes: SpatialShapes) -> None:
    """Raises ValueError where a bounded shape is flat, or a mesh does not have its origin well inside."""
    for i, kind in enumerate(shapes.kind):
        depth, bounding_radius = inner_radius(shapes, i), shapes.bounding_radius[i]
        if kind < HALF_SPACE and not depth > THINNEST * bounding_radius:
            raise ValueError(
                f"shapes[{i}]: {depth:g} m from its origin to its surface, of a reach of {bounding_radius:g} m; "
                f"more than {THINNEST:g} of it: a flat body has no inside"
            )


def inner_radius(shapes: SpatialShapes, i: int) -> float:
    """Of a ball about the origin of body i that is inside it; below 0 if the origin is not. [m]"""
    kind, size = shapes.kind[i], shapes.size[i]
    if kind in (SPHERE, CAPSULE):
        return float(shapes.margin[i])
    if kind == MESH:
        from scipy.spatial import ConvexHull  # here: it takes long to import

        corners = shapes.vertex[shapes.vertex_start[i] : shapes.vertex_start[i + 1]]
        return -float(ConvexHull(corners).equations[:, 3].max())
    if kind == CONE:
        return float(size[:2].min()) / 4.0
    return float((size[:2] if kind == CYLINDER else size).min())

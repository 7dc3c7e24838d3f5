"""What of a solid can be nearest to a plane: finitely many corners and rims, of all but ellipsoids."""

import itertools

import numpy as np
from numpy.typing import ArrayLike

from reference_engine import elementary
from reference_engine.array_types import Array
from reference_engine.dense import mul, norm
from reference_engine.geometry.spatial_shapes import (
    Box,
    Capsule,
    Cone,
    ConvexMesh,
    Cylinder,
    SpatialShape,
    Sphere,
    spatial_shapes,
)


def corners_and_rims(shape: SpatialShape) -> Array:
    """(C, 4) in the frame of the body: a point and the radius of the circle about it across z, 0 of a corner. [m]

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

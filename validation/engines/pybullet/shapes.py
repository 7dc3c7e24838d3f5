"""The collision shapes that stand for a body's shape or a boundary in Bullet.

A moving mesh is its convex hull; that of an ellipsoid has its corners on the surface, and nothing beyond it. A fixed
one may be concave: a bowl or hollow sphere is a mesh of triangles.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pybullet as pb
from numpy.typing import NDArray

from validation.engines.engine import Settings
from validation.engines.shared.embedding import DEPTH, icosphere, prism, rectangle, vector_in_space

Array = NDArray[np.float64]


def is_mesh(shape: Any) -> bool:
    """Whether Bullet knows the shape by its vertices alone."""
    return shape.kind in ("convex-mesh", "ellipsoid") or (shape.kind == "polygon" and rectangle(shape.vertices) is None)


def body_shape(client: int, shape: Any, center: Array, settings: Settings) -> int:
    """pybullet's number of a shape whose body frame has its origin at `center` (3,) of the frame it is fixed to."""
    at = {"collisionFramePosition": center.tolist()}
    match shape.kind:
        case "sphere" | "disc":
            return _make(client, pb.GEOM_SPHERE, radius=shape.radius, **at)
        case "box":
            return _make(client, pb.GEOM_BOX, halfExtents=[edge / 2 for edge in shape.size], **at)
        case "capsule":
            return _make(client, pb.GEOM_CAPSULE, radius=shape.radius, height=shape.length, **at)
        case "cylinder":
            return _make(client, pb.GEOM_CYLINDER, radius=shape.radius, height=shape.length, **at)
        case "ellipsoid":
            directions, _ = icosphere(int(settings["ellipsoid_subdivisions"]))
            return _make(client, pb.GEOM_MESH, vertices=(directions * shape.semi_axes + center).tolist())
        case "convex-mesh":
            return _make(client, pb.GEOM_MESH, vertices=(np.array(shape.points) + center).tolist())
        case "polygon":
            if (box := rectangle(shape.vertices)) is None:
                return _make(client, pb.GEOM_MESH, vertices=(prism(shape.vertices) + center).tolist())
            (x, y), (width, height), angle = box
            return _make(
                client,
                pb.GEOM_BOX,
                halfExtents=[width / 2, height / 2, DEPTH / 2],
                collisionFramePosition=(center + np.array([x, y, 0.0])).tolist(),
                collisionFrameOrientation=[0.0, 0.0, math.sin(angle / 2), math.cos(angle / 2)],
            )
    raise TypeError(shape)


def boundary_shape(client: int, boundary: Any, settings: Settings) -> int:
    """Of a boundary, about its point or centre. The corners of facets lie on the wall: no body is let through it."""
    match boundary.kind:
        case "half-plane" | "half-space":
            return _make(client, pb.GEOM_PLANE, planeNormal=vector_in_space(boundary.normal).tolist())
        case "bowl":
            vertices, triangles = _strip(boundary.radius, int(settings["bowl_segments"]))
        case "hollow-sphere":
            directions, triangles = icosphere(int(settings["sphere_subdivisions"]))
            vertices = boundary.radius * directions
        case _:
            raise TypeError(boundary)
    # Given as arrays, not as a file: pybullet keeps meshes by the name of their file.
    return _make(
        client,
        pb.GEOM_MESH,
        vertices=vertices.tolist(),
        indices=triangles.ravel().tolist(),
        flags=pb.GEOM_FORCE_CONCAVE_TRIMESH,
    )


def _strip(radius: float, count: int) -> tuple[Array, NDArray[np.int64]]:
    """Facets around a circle, twice as deep as a prism."""
    turn = 2 * np.pi * np.arange(count) / count
    rim = radius * np.column_stack([np.cos(turn), np.sin(turn)])
    vertices = np.concatenate([np.column_stack([rim, np.full(count, z)]) for z in (-DEPTH, DEPTH)])
    i = np.arange(count)
    j = (i + 1) % count
    return vertices, np.concatenate([np.column_stack([i, j, j + count]), np.column_stack([i, j + count, i + count])])


def _make(client: int, kind: int, **given: Any) -> int:
    number: int = pb.createCollisionShape(kind, **given, physicsClientId=client)
    if number < 0:
        raise RuntimeError(f"pybullet could not make a collision shape of {', '.join(given)}")
    return number

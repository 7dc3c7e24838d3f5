"""The geoms that stand for a body's shape or a boundary in MuJoCo.

MuJoCo takes a mesh for its convex hull and has no concave shape: a bowl or hollow sphere is as many planes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import mujoco
import numpy as np
from mujoco import mjtGeom
from numpy.typing import NDArray

from reference_engine.geometry.polygon import convex_pieces
from validation.engines.engine import Settings
from validation.engines.mujoco.mjcf import HAS_SPEC
from validation.engines.shared.embedding import DEPTH, from_z_to, icosphere, prism, rectangle, vector_in_space

Array = NDArray[np.float64]

PLANE_SIZE = (0.0, 0.0, 1.0)  # no end in x and y


def body_geoms(spec: Any, shape: Any, name: str) -> Iterator[dict[str, Any]]:
    """The geoms of a body's shape. Meshes are the hulls of their points, stored in single precision by MuJoCo."""
    match shape.kind:
        case "sphere" | "disc":
            yield {"type": mjtGeom.mjGEOM_SPHERE, "size": [shape.radius, 0.0, 0.0]}
        case "box":
            yield {"type": mjtGeom.mjGEOM_BOX, "size": [edge / 2 for edge in shape.size]}
        case "capsule":
            yield {"type": mjtGeom.mjGEOM_CAPSULE, "size": [shape.radius, shape.length / 2, 0.0]}
        case "cylinder":
            yield {"type": mjtGeom.mjGEOM_CYLINDER, "size": [shape.radius, shape.length / 2, 0.0]}
        case "ellipsoid":
            yield {"type": mjtGeom.mjGEOM_ELLIPSOID, "size": list(shape.semi_axes)}
        case "convex-mesh":
            yield _mesh(spec, f"{name}m", np.array(shape.points))
        case "polygon":
            for k, part in enumerate(convex_pieces(shape.vertices)):
                if (box := rectangle(part)) is None:
                    yield _mesh(spec, f"{name}m{k}", prism(part))
                else:
                    (x, y), (width, height), angle = box
                    yield {
                        "type": mjtGeom.mjGEOM_BOX,
                        "size": [width / 2, height / 2, DEPTH / 2],
                        "pos": [x, y, 0.0],
                        "quat": [math.cos(angle / 2), 0.0, 0.0, math.sin(angle / 2)],
                    }
        case _:
            raise TypeError(shape)


def _mesh(spec: Any, name: str, points: Array) -> dict[str, Any]:
    convex = {"inertia": mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX} if HAS_SPEC else {}
    spec.add_mesh(name=name, uservert=points.ravel().tolist(), **convex)
    return {"type": mjtGeom.mjGEOM_MESH, "meshname": name}


def boundary_geoms(boundary: Any, settings: Settings) -> Iterator[dict[str, Any]]:
    """A boundary as planes, whose free side is that of their z axis.

    Those of a bowl or hollow sphere do not reach beyond its wall, so that no body is let through it by them.
    """

    def plane(point: Array, normal: Array) -> dict[str, Any]:
        return {"type": mjtGeom.mjGEOM_PLANE, "size": PLANE_SIZE, "pos": point, "quat": from_z_to(normal)}

    match boundary.kind:
        case "half-plane" | "half-space":
            yield plane(vector_in_space(boundary.point), vector_in_space(boundary.normal))
        case "bowl":
            count = int(settings["bowl_segments"])
            center, near = vector_in_space(boundary.center), boundary.radius * math.cos(math.pi / count)
            for angle in 2 * np.pi * np.arange(count) / count:
                outward = np.array([math.cos(angle), math.sin(angle), 0.0])
                yield plane(center + near * outward, -outward)
        case "hollow-sphere":
            directions, triangles = icosphere(int(settings["sphere_subdivisions"]))
            # Three planes meet in a corner above the middle of a triangle of their directions.
            a, b, c = (directions[triangles[:, k]] for k in range(3))
            middle = np.cross(b - a, c - a)
            cosine = np.abs((middle * a).sum(axis=1)) / np.linalg.norm(middle, axis=1)
            near = boundary.radius * cosine.min()
            for outward in directions:
                yield plane(vector_in_space(boundary.center) + near * outward, -outward)
        case _:
            raise TypeError(boundary)

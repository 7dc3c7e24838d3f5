"""A body or boundary of a scene as our own geometry has it: for metrics, and for the reference engine."""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_engine.geometry import planar_shapes as planar
from reference_engine.geometry import spatial_shapes as spatial


def solid(member: Any) -> planar.PlanarShape | spatial.SpatialShape:
    """Of a body of a scene, its shape, or a boundary."""
    shape = getattr(member, "shape", member)
    match shape.kind:
        case "polygon":
            return planar.Polygon(shape.vertices)
        case "arc-polygon":
            return planar.ArcPolygon(shape.vertices, shape.bulges)
        case "disc":
            return planar.Disc(shape.radius)
        case "half-plane":
            return planar.HalfPlane(shape.point, shape.normal)
        case "bowl":
            return planar.Bowl(shape.radius)
        case "sphere":
            return spatial.Sphere(shape.radius)
        case "capsule":
            return spatial.Capsule(shape.radius, shape.length / 2.0)
        case "cylinder":
            return spatial.Cylinder(shape.radius, shape.length / 2.0)
        case "box":
            return spatial.Box(np.array(shape.size) / 2.0)
        case "ellipsoid":
            return spatial.Ellipsoid(shape.semi_axes)
        case "convex-mesh":
            return spatial.ConvexMesh(shape.points)
        case "half-space":
            return spatial.HalfSpace(shape.point, shape.normal)
        case "hollow-sphere":
            return spatial.SphereInterior(shape.radius)
    raise TypeError(shape)

"""A body or boundary of a scene as our own geometry has it: for metrics, and for the reference engine."""

from collections.abc import Callable
from typing import Any

import numpy as np

from reference_engine.geometry import planar_shapes as planar
from reference_engine.geometry import spatial_shapes as spatial

SHAPES: dict[str, Callable[[Any], Any]] = {
    "polygon": lambda shape: planar.Polygon(shape.vertices),
    "arc-polygon": lambda shape: planar.ArcPolygon(shape.vertices, shape.bulges),
    "disc": lambda shape: planar.Disc(shape.radius),
    "half-plane": lambda shape: planar.HalfPlane(shape.point, shape.normal),
    "bowl": lambda shape: planar.Bowl(shape.radius),
    "sphere": lambda shape: spatial.Sphere(shape.radius),
    "capsule": lambda shape: spatial.Capsule(shape.radius, shape.length / 2.0),
    "cylinder": lambda shape: spatial.Cylinder(shape.radius, shape.length / 2.0),
    "box": lambda shape: spatial.Box(np.array(shape.size) / 2.0),
    "ellipsoid": lambda shape: spatial.Ellipsoid(shape.semi_axes),
    "convex-mesh": lambda shape: spatial.ConvexMesh(shape.points),
    "half-space": lambda shape: spatial.HalfSpace(shape.point, shape.normal),
    "hollow-sphere": lambda shape: spatial.SphereInterior(shape.radius),
}


def solid(member: Any) -> planar.PlanarShape | spatial.SpatialShape:
    """Of a body of a scene, its shape, or a boundary."""
    shape = getattr(member, "shape", member)
    found: planar.PlanarShape | spatial.SpatialShape = SHAPES[shape.kind](shape)
    return found

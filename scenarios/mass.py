"""Mass properties of the scene's shapes at uniform density: from the scene's words to the geometry's functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference_engine import elementary
from reference_engine.dense import svd
from reference_engine.geometry import mass_properties as geometry
from reference_engine.geometry import polygon

Array = NDArray[np.float64]


def planar_mass(shape: Any) -> geometry.PlanarMass:
    """Area, centroid and second moments of a planar shape, body frame."""
    match shape.kind:
        case "disc":
            return geometry.disc_mass(shape.radius)
        case "polygon":
            return geometry.polygon_mass(shape.vertices)
        case "arc-polygon":
            return geometry.arc_polygon_mass(shape.vertices, shape.bulges)
    raise TypeError(shape)


def spatial_mass(shape: Any) -> geometry.SpatialMass:
    """Volume, centroid and second moments of a spatial shape, body frame."""
    match shape.kind:
        case "sphere":
            return geometry.sphere_mass(shape.radius)
        case "box":
            return geometry.box_mass([edge / 2 for edge in shape.size])
        case "capsule":
            return geometry.capsule_mass(shape.radius, shape.length / 2)
        case "cylinder":
            return geometry.cylinder_mass(shape.radius, shape.length / 2)
        case "ellipsoid":
            return geometry.ellipsoid_mass(shape.semi_axes)
        case "convex-mesh":
            return geometry.convex_mesh_mass(shape.points)
    raise TypeError(shape)


def reach(shape: Any) -> float:
    """Largest distance of a point of the shape from the origin of the body frame, m (of an arc: of its circle)."""
    match shape.kind:
        case "disc" | "sphere":
            return shape.radius
        case "box":
            return math.hypot(*shape.size) / 2
        case "capsule":
            return shape.length / 2 + shape.radius
        case "cylinder":
            return math.hypot(shape.length / 2, shape.radius)
        case "ellipsoid":
            return max(shape.semi_axes)
        case "polygon":
            return max(math.hypot(*v) for v in shape.vertices)
        case "convex-mesh":
            return max(math.hypot(*p) for p in shape.points)
        case "arc-polygon":
            chords = [math.dist(v, w) for v, w in zip(shape.vertices, shape.vertices[1:] + shape.vertices[:1])]
            sagitta = [abs(b) * c / 2 for b, c in zip(shape.bulges, chords)]
            return max(math.hypot(*v) for v in shape.vertices) + max(sagitta)
    raise TypeError(shape)


def polygon_fault(vertices: Any) -> str | None:
    """What makes these vertices no counter-clockwise simple polygon, in words; None where nothing does."""
    if faults := polygon.polygon_faults(vertices):
        return faults[0].text
    if polygon.exact_area_sign(vertices) < 0:
        return "polygon is clockwise"
    return None


def arc_polygon_fault(vertices: Any, bulges: Any) -> str | None:
    """Likewise for arcs; arcs that cross other edges are found by sampling each arc at 16 points."""
    if fault := polygon_fault(arc_outline(vertices, bulges)):
        return f"with its arcs sampled, {fault}"
    return None


def arc_outline(vertices: Any, bulges: Any, points_per_arc: int = 16) -> Array:
    """(n, 2): the outline with each arc as a polyline."""
    v = np.asarray(vertices, dtype=np.float64)
    outline: list[Array] = []
    for a, b, bulge in zip(v, np.roll(v, -1, axis=0), bulges):
        outline.append(a)
        if bulge != 0.0:
            outline.extend(_arc_points(a, b, float(bulge), points_per_arc))
    return np.array(outline)


def _arc_points(a: Array, b: Array, bulge: float, count: int) -> list[Array]:
    """Inner points of the arc from a to b, included angle 4 atan(bulge), bulging to the right of a-b if positive."""
    alpha = 2.0 * elementary.atan(bulge)
    chord = b - a
    outward = np.array([chord[1], -chord[0]]) / elementary.hypot(*chord)
    radius = float(elementary.hypot(*chord)) / (2.0 * elementary.sin(alpha))
    center = (a + b) / 2 - outward * radius * elementary.cos(alpha)
    first = a - center
    points = []
    for i in range(1, count):
        turn = 2.0 * alpha * i / count
        c, s = elementary.cos(turn), elementary.sin(turn)
        points.append(center + np.array([c * first[0] - s * first[1], s * first[0] + c * first[1]]))
    return points


def mesh_fault(points: Any) -> str | None:
    """What keeps these points from spanning a body."""
    p = np.asarray(points, dtype=np.float64)
    singular = svd(p - p.mean(axis=0))[1]
    if singular[0] == 0.0 or singular[2] < 1e-9 * singular[0]:
        return "the points lie in a plane; give points that span a body"
    return None

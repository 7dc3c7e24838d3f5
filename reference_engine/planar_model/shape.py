"""Shapes in the body frame, whose origin is the centre of mass: those of the geometry, polygons convex.

A half-plane is what lies below the x axis of its body, a ground at angle 0, a left wall at -pi/2; it and a bowl can
only be fixed. Bowls are for located mode alone; the faithful mode has arcs (`Outline`).
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reference_engine import elementary
from reference_engine.elementary import squared
from reference_engine.errors import WorldError
from reference_engine.geometry import planar_shapes
from reference_engine.geometry.planar_shapes import Bowl, Disc, HalfPlane

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Polygon(planar_shapes.Polygon):
    """A convex polygon; vertices (V, 2) [m] counter-clockwise, relative to the centre of mass."""

    vertices: Array

    def __init__(self, vertices: ArrayLike) -> None:
        corners = np.array(vertices, dtype=np.float64)
        if corners.ndim != 2 or corners.shape[1:] != (2,) or len(corners) < 3:
            raise WorldError(f"vertices: shape {corners.shape} is not (V, 2) with V >= 3")
        points = corners.tolist()
        if not all(math.isfinite(x) and math.isfinite(y) for x, y in points):
            raise WorldError("vertices: every coordinate must be finite")
        edges = [(u - x, v - y) for (x, y), (u, v) in zip(points, points[1:] + points[:1])]
        turns = [a * d - b * c for (a, b), (c, d) in zip(edges, edges[1:] + edges[:1])]
        if not min(turns) > 0.0:
            at = (turns.index(min(turns)) + 1) % len(points)
            raise WorldError(
                f"vertices: the polygon does not turn left at vertex {at}; "
                "list the vertices of a convex polygon in counter-clockwise order"
            )
        ahead = (a * c + b * d for (a, b), (c, d) in zip(edges, edges[1:] + edges[:1]))
        if sum(map(elementary.atan2, turns, ahead)) > 3.0 * math.pi:
            raise WorldError("vertices: the polygon goes round more than once; it must not cross itself")
        corners.setflags(write=False)
        object.__setattr__(self, "vertices", corners)


Shape = Polygon | Disc | HalfPlane


def check_shape(shape: object) -> None:
    """Raises WorldError for a radius that is none, or a half-plane that is not the one below its body's x axis."""
    if isinstance(shape, Disc | Bowl) and not (math.isfinite(shape.radius) and shape.radius > 0.0):
        raise WorldError(f"radius: {shape.radius!r} m is not a positive finite length")
    if isinstance(shape, HalfPlane) and (*np.ravel(shape.point), *np.ravel(shape.normal)) != (0.0, 0.0, 0.0, 1.0):
        raise WorldError("shape: a half-plane is what lies below y = 0 of its body; turn and move the body")


def box(width: float, height: float) -> Polygon:
    """A rectangle about its centre."""
    if not (width > 0.0 and height > 0.0):
        raise WorldError(f"box: {width!r} m by {height!r} m is not a rectangle with positive sides")
    x, y = width / 2.0, height / 2.0
    return Polygon([(-x, -y), (x, -y), (x, y), (-x, y)])


def uniform_inertia(shape: Polygon | Disc, mass: float) -> float:
    """Moment of inertia about the centre of mass of a body of even density [kg m^2].

    Disc: m r^2 / 2.  Polygon: the sum over its triangles from the origin (Green's theorem); the origin
    must then be the centroid, because a body of even density has its centre of mass nowhere else.
    """
    if isinstance(shape, Disc):
        return 0.5 * mass * squared(shape.radius)
    points = shape.vertices.tolist()
    twice_area = moment_x = moment_y = second = 0.0
    for (x, y), (u, v) in zip(points, points[1:] + points[:1]):
        cross = x * v - y * u
        twice_area += cross
        moment_x += (x + u) * cross
        moment_y += (y + v) * cross
        second += cross * ((x * x + y * y) + (x * u + y * v) + (u * u + v * v))
    area = twice_area / 2.0
    centroid = moment_x / (6.0 * area), moment_y / (6.0 * area)
    if max(abs(centroid[0]), abs(centroid[1])) > 1e-9 * math.sqrt(area):
        raise WorldError(
            f"vertices: the centroid is ({centroid[0]:.6g}, {centroid[1]:.6g}), not the origin; "
            "subtract it from the vertices, or give the inertia of an uneven body"
        )
    return mass * second / (12.0 * area)


def bounding_radius(shape: Shape) -> float:
    """Radius of the circle about the centre of mass that holds the shape; infinite for a half-plane."""
    if isinstance(shape, HalfPlane):
        return math.inf
    return shape.radius if isinstance(shape, Disc) else float(elementary.hypot(*shape.vertices.T).max())

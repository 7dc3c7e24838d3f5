"""Shapes in the body frame, whose origin is the centre of mass: those of the geometry, polygons convex.

A half-plane is what lies below the x axis of its body, a ground at angle 0, a left wall at -pi/2; it and a bowl can
only be fixed. Outlines are closed loops of straight edges and circular arcs, convex or concave, with holes if need be:
the faithful mode (`reference_engine.contactsim`) simulates them, the located mode those of one loop. Bowls are for the
located mode alone.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from reference_engine import elementary
from reference_engine.array_types import Array
from reference_engine.elementary import squared
from reference_engine.errors import WorldError
from reference_engine.geometry import planar_shapes
from reference_engine.geometry.planar_shapes import Bowl, Disc, HalfPlane

CLOSES = 1e-8  # m, between the end of one edge and the start of the next
EQUIDISTANT = 1e-10  # m, between the two radii of an arc


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """From start to end, straight, or with a centre along an arc. Where start is end, an arc is a whole circle."""

    start: tuple[float, float]  # m, body frame
    end: tuple[float, float]
    centre: tuple[float, float] | None = None
    clockwise: bool = False

    def __post_init__(self) -> None:
        numbers = (*self.start, *self.end, *(self.centre or ()))
        if not all(math.isfinite(x) for x in numbers):
            raise WorldError(f"edge: start, end and centre must be finite, not {numbers}")
        if self.centre is None:
            if math.dist(self.start, self.end) < EQUIDISTANT:
                raise WorldError(f"edge: a straight edge from {self.start} to {self.end} has no length")
            return
        radii = math.dist(self.start, self.centre), math.dist(self.end, self.centre)
        if abs(radii[0] - radii[1]) > EQUIDISTANT or radii[0] < EQUIDISTANT:
            raise WorldError(
                f"edge: start and end lie {radii[0]:.12g} m and {radii[1]:.12g} m from the centre; "
                "an arc has one positive radius"
            )

    @property
    def radius(self) -> float:
        """Of the arc; infinite if straight."""
        return math.dist(self.start, self.centre) if self.centre else math.inf

    def angles(self) -> tuple[float, float]:
        """The arc lies between these directions from its centre, low < high, low in [-pi, pi]."""
        assert self.centre is not None
        first, last = (elementary.atan2(p[1] - self.centre[1], p[0] - self.centre[0]) for p in (self.start, self.end))
        turn = 2.0 * math.pi
        if abs(first - last) < EQUIDISTANT or abs(abs(first - last) - turn) < EQUIDISTANT:
            low = min(first, last)
            return low, low + turn
        low, high = (last, first) if self.clockwise else (first, last)
        return low, high if high > low else high + turn


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outline:
    """Edges, each starting where the last one ended; a loop that has closed is followed by the next one.

    A loop runs either way round. `holes` are those that have the material outside. The frame of the edges is the
    body's, also for points of forces and connectors; the body's pose is that of its centre of mass. `live_edge` makes
    a wall of a rectangle: that edge alone is felt, up to `depth` behind it.
    """

    edges: tuple[Edge, ...]
    live_edge: int | None = None
    depth: float = 0.5  # m, from the middle of a wall to its live edge
    holes: tuple[int, ...] = ()  # of the loops
    centre_of_mass: tuple[float, float] = (0.0, 0.0)  # m, body frame
    loops: tuple[tuple[int, int], ...] = field(init=False)  # first edge, and one past the last

    def __init__(
        self,
        edges: Sequence[Edge],
        *,
        live_edge: int | None = None,
        depth: float = 0.5,
        holes: Sequence[int] = (),
        centre_of_mass: tuple[float, float] = (0.0, 0.0),
    ) -> None:
        object.__setattr__(self, "edges", tuple(edges))
        object.__setattr__(self, "holes", tuple(holes))
        object.__setattr__(self, "live_edge", live_edge)
        object.__setattr__(self, "depth", float(depth))
        object.__setattr__(self, "centre_of_mass", (float(centre_of_mass[0]), float(centre_of_mass[1])))
        if not all(math.isfinite(x) for x in self.centre_of_mass):
            raise WorldError(f"outline: centre_of_mass must be finite, not {self.centre_of_mass}")
        if not self.edges:
            raise WorldError("outline: it has no edge")
        loops, first = [], 0
        for k, edge in enumerate(self.edges):
            if math.dist(edge.end, self.edges[first].start) <= CLOSES:
                loops.append((first, k + 1))
                first = k + 1
            elif k + 1 == len(self.edges) or math.dist(edge.end, self.edges[k + 1].start) > CLOSES:
                raise WorldError(f"outline: edge {k} ends at {edge.end}, where no edge goes on and no loop closes")
        object.__setattr__(self, "loops", tuple(loops))
        if not all(0 <= hole < len(loops) for hole in self.holes):
            raise WorldError(f"outline: holes {self.holes} are not all among its {len(loops)} loops")
        if live_edge is not None:
            if len(self.edges) != 4 or not 0 <= live_edge < 4:
                raise WorldError(f"outline: live_edge {live_edge!r} must be one of the four edges of a rectangle")
            if not (math.isfinite(self.depth) and self.depth > 0.0):
                raise WorldError(f"outline: depth {self.depth!r} m is not positive and finite")

    def solid_on_left(self, loop: int) -> bool:
        """Does the material lie to the left of the edges of this loop?"""
        first, end = self.loops[loop]
        counter_clockwise = sum(twice_area(edge) for edge in self.edges[first:end]) > 0.0
        return counter_clockwise != (loop in self.holes)


def twice_area(edge: Edge) -> float:
    """Contribution of an edge to twice the enclosed area: the triangle from the origin, and an arc's segment."""
    (x, y), (u, v) = edge.start, edge.end
    area = x * v - u * y
    if edge.centre is not None:
        low, high = edge.angles()
        segment = squared(edge.radius) * ((high - low) - elementary.sin(high - low))
        area += -segment if edge.clockwise else segment
    return area


def centre_of_mass(shape: object) -> tuple[float, float]:
    """In the frame of the body [m]: the origin, unless an outline says otherwise."""
    return shape.centre_of_mass if isinstance(shape, Outline) else (0.0, 0.0)


def polygon_outline(vertices: ArrayLike) -> Outline:
    """Straight edges through the vertices (V, 2) [m], convex or not."""
    points = [(float(x), float(y)) for x, y in np.asarray(vertices, dtype=np.float64)]
    return Outline([Edge(start=p, end=q) for p, q in zip(points, (*points[1:], points[0]))])


def wall(length: float, thickness: float = 1.0) -> Outline:
    """A wall that is felt on its upper side alone: use it fixed, turned so that the body's +y points at the bodies."""
    x, y = length / 2.0, thickness / 2.0
    corners = [(-x, -y), (x, -y), (x, y), (-x, y)]
    edges = [Edge(start=p, end=q) for p, q in zip(corners, (*corners[1:], corners[0]))]
    return Outline(edges, live_edge=2, depth=y)

"""Outlines: closed loops of straight edges and circular arcs, convex or concave, with holes if need be.

The faithful mode (`reference_engine.contactsim`) simulates them; the located mode those of one loop.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reference_engine import elementary
from reference_engine.elementary import squared
from reference_engine.errors import WorldError

Array = NDArray[np.float64]

CLOSES = 1e-8  # m, between the end of one edge and the start of the next
EQUIDISTANT = 1e-10  # m, between the two radii of an arc


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
    """A wall that is felt on its upper side alone: use it fixed, turned so that the body's +y points at the room."""
    x, y = length / 2.0, thickness / 2.0
    corners = [(-x, -y), (x, -y), (x, y), (-x, y)]
    edges = [Edge(start=p, end=q) for p, q in zip(corners, (*corners[1:], corners[0]))]
    return Outline(edges, live_edge=2, depth=y)

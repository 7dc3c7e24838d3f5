"""What the located mode makes of a shape: convex pieces with straight edges and arcs, and concave arcs, which are arcs
alone.

A concave arc has the region of the body behind it as convex polygons, which nothing reaches but through
it.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from reference_engine import elementary
from reference_engine.array_types import Array
from reference_engine.errors import WorldError
from reference_engine.geometry.polygon import convex_pieces, exact_area_sign, polygon_faults
from reference_engine.planar_model.shape import Edge, Outline

POLYGON, DISC, ROUNDED, CONCAVE_ARC, HALF_PLANE, BOWL = (np.int64(k) for k in range(6))
SMOOTH = 1e-9  # rad, by which tangents differ at a joint that is none
PIECES = (1, 2, 4, 8, 16, 32, 64)  # for each third of a half turn of an arc
OVERSHOOT = 2.0  # times how far the tangents at its points lie behind an arc: so far lie the polygons behind it


@dataclass(frozen=True, eq=False)
class Arc:
    """Of the directions within `half` of `middle` from its centre [rad]; infinite of a whole circle."""

    centre: tuple[float, float]  # m, from the centre of mass
    radius: float  # m
    middle: float  # rad
    half: float


@dataclass(frozen=True, eq=False)
class Join:
    """Where an edge of the body ends and the next begins: the arcs among the two, and their outward normals there."""

    before: Arc | None
    after: Arc | None
    normals: tuple[float, float, float, float]


@dataclass(frozen=True, eq=False)
class ConvexPiece:
    kind: np.int64
    corners: Array  # (V, 2) m, counter-clockwise, from the centre of mass; a concave arc has the chain behind it
    arcs: tuple[Arc | None, ...]  # (V,) which arc leads from a corner to the next; None: a straight edge; or one alone
    joins: tuple[Join | None, ...] = ()  # (V,) those of the body at the corners that it has in common with the piece

    @property
    def rounded(self) -> tuple[Arc, ...]:
        return tuple(arc for arc in self.arcs if arc is not None)

    def bounding_radius(self) -> float:
        """Of the circle about the centre of mass that holds it [m]."""
        points = [math.hypot(x, y) for x, y in self.corners.tolist()]
        return max(points + [math.hypot(*arc.centre) + arc.radius for arc in self.rounded], default=0.0)


def polygon(corners: ArrayLike) -> ConvexPiece:
    points = np.asarray(corners, np.float64)
    return ConvexPiece(POLYGON, points, (None,) * len(points))


def circle(kind: np.int64, radius: float, centre: tuple[float, float] = (0.0, 0.0)) -> ConvexPiece:
    return ConvexPiece(kind, np.zeros((0, 2)), (Arc(centre, radius, 0.0, math.inf),))


def pieces_of_outline(outline: Outline, name: str) -> list[ConvexPiece]:
    """Raises WorldError for what this mode does not have."""
    if outline.live_edge is not None or len(outline.loops) != 1:
        raise WorldError(f"body {name!r}: the located mode takes outlines of one loop; holes and walls with a live "
                         "edge are for `faithful_simulate`")  # fmt: skip
    edges = counter_clockwise(outline)
    if len(edges) == 1:
        if edges[0].clockwise:
            raise WorldError(f"body {name!r}: a hole alone is no body; use Bowl")
        return [circle(ROUNDED, edges[0].radius, edges[0].centre or (0.0, 0.0))]
    arcs = [arc_of(edge) for edge in edges]
    corners = np.array([edge.start for edge in edges])
    turns = [turn(before, after) for before, after in zip((edges[-1], *edges[:-1]), edges)]
    for k, angle in enumerate(turns):
        if abs(angle) > math.pi - SMOOTH:
            raise WorldError(f"body {name!r}: its outline turns back on itself at the start of edge {k}; "
                             "the located mode takes corners with an angle")  # fmt: skip
    bends = sum(2.0 * arc.half for arc in arcs if arc)
    if min(turns) >= -SMOOTH and not any(edge.clockwise for edge in edges if edge.centre):
        if abs(sum(turns) + bends - 2.0 * math.pi) > 1e-6:
            raise WorldError(f"body {name!r}: its outline goes round more than once; it must not cross itself")
        return [ConvexPiece(ROUNDED, corners, tuple(arcs)) if any(arcs) else polygon(corners)]
    if not any(arcs):
        return [polygon(piece) for piece in convex_pieces(corners)]
    return concave_pieces(edges, name)


def counter_clockwise(outline: Outline) -> list[Edge]:
    """About the centre of mass, the material on the left."""
    x, y = outline.centre_of_mass

    def shifted(point: tuple[float, float]) -> tuple[float, float]:
        return point[0] - x, point[1] - y

    edges = []
    for edge in outline.edges:
        start, end, centre = shifted(edge.start), shifted(edge.end), shifted(edge.centre) if edge.centre else None
        edges.append(Edge(start=start, end=end, centre=centre, clockwise=edge.clockwise))
    if outline.solid_on_left(0):
        return edges
    return [Edge(start=e.end, end=e.start, centre=e.centre, clockwise=not e.clockwise) for e in reversed(edges)]


def arc_of(edge: Edge) -> Arc | None:
    if edge.centre is None:
        return None
    low, high = edge.angles()
    whole = high - low > 2.0 * math.pi - 1e-12
    return Arc(edge.centre, edge.radius, 0.5 * (low + high), math.inf if whole else 0.5 * (high - low))


def direction(edge: Edge, point: tuple[float, float]) -> float:
    """Of the tangent at the start or end [rad]."""
    if edge.centre is None:
        return elementary.atan2(edge.end[1] - edge.start[1], edge.end[0] - edge.start[0])
    radial = elementary.atan2(point[1] - edge.centre[1], point[0] - edge.centre[0])
    return radial + (-0.5 if edge.clockwise else 0.5) * math.pi


def turn(before: Edge, after: Edge) -> float:
    """To the left, from one edge to the next [rad], in (-pi, pi]."""
    angle = direction(after, after.start) - direction(before, before.end)
    return math.remainder(angle, 2.0 * math.pi)


def concave_pieces(edges: list[Edge], name: str) -> list[ConvexPiece]:
    """Segments of convex arcs, concave arcs, and what is left of the body, as convex polygons.

    Convex arcs are cut in pieces and concave ones surrounded by chains until what is left is a simple polygon.
    """
    for fineness in PIECES:
        border, rest = [], []
        for edge in edges:
            for segment, arc in segments_of(edge, fineness):
                border.append((segment, arc))
                rest.append(segment.start)
                if arc and segment.clockwise:
                    rest += chain_behind(arc, fineness)
        if len(rest) < 3 or polygon_faults(rest) or exact_area_sign(rest) <= 0:
            continue
        joins = {}
        for (before, arc_before), (after, arc_after) in zip((border[-1], *border[:-1]), border):
            if turn(before, after) > -SMOOTH:
                normals = (*normal(before, before.end), *normal(after, after.start))
                joins[after.start] = Join(arc_before, arc_after, normals)
        pieces = [convex_piece(piece, (None,) * len(piece), joins) for piece in convex_pieces(rest)]
        for segment, arc in border:
            if arc and segment.clockwise:
                chain = np.array([segment.start, *chain_behind(arc, fineness), segment.end])
                pieces.append(ConvexPiece(CONCAVE_ARC, chain, (arc,)))
            elif arc:
                pieces.append(convex_piece(np.array([segment.start, segment.end]), (arc, None), joins))
        return pieces
    raise WorldError(f"body {name!r}: its arcs cross or come too near one another; the located mode takes concave "
                     f"arcs with {1.0 / PIECES[-1]:.3g} of a third of a half turn between them")  # fmt: skip


def convex_piece(corners: Array, arcs: tuple[Arc | None, ...], joins: dict[tuple[float, float], Join]) -> ConvexPiece:
    """With the joins at its corners; without arcs there or of its own it is a polygon."""
    own = tuple(joins.get((float(x), float(y))) for x, y in corners)
    rounded = any(arcs) or any(join and (join.before or join.after) for join in own)
    return ConvexPiece(ROUNDED if rounded else POLYGON, corners, arcs, own)


def segments_of(edge: Edge, fineness: int) -> list[tuple[Edge, Arc | None]]:
    """A convex arc in pieces, anything else as it is."""
    arc = arc_of(edge)
    if arc is None or edge.clockwise:
        return [(edge, arc)]
    count = cuts(arc, fineness)
    angles = [arc.middle + arc.half * (2.0 * k / count - 1.0) for k in range(count + 1)]
    points = [edge.start, *(on(arc, angle, arc.radius) for angle in angles[1:-1]), edge.end]
    return [
        (Edge(start=points[k], end=points[k + 1], centre=edge.centre),
         Arc(arc.centre, arc.radius, 0.5 * (angles[k] + angles[k + 1]), arc.half / count))
        for k in range(count)
    ]  # fmt: skip


def cuts(arc: Arc, fineness: int) -> int:
    return fineness * max(1, math.ceil(arc.half / (math.pi / 6.0)))


def normal(edge: Edge, point: tuple[float, float]) -> tuple[float, float]:
    """Outward, at the start or end."""
    angle = direction(edge, point) - 0.5 * math.pi
    return elementary.cos(angle), elementary.sin(angle)


def on(arc: Arc, angle: float, radius: float) -> tuple[float, float]:
    return arc.centre[0] + radius * elementary.cos(angle), arc.centre[1] + radius * elementary.sin(angle)


def chain_behind(arc: Arc, fineness: int) -> list[tuple[float, float]]:
    """Corners behind a concave arc, in the order of its edge, which is clockwise about the arc's centre."""
    count = cuts(arc, fineness)
    step = 2.0 * arc.half / count
    radius = arc.radius * (1.0 + OVERSHOOT * (1.0 / elementary.cos(0.5 * step) - 1.0))
    return [on(arc, arc.middle + arc.half - (k + 0.5) * step, radius) for k in range(count)]

"""Outlines and connectors as the kernels see them: float64 in C order and int64. Body frames, origin at the mass."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reference_engine.planar.connectors import BACKGROUND, Joint
from reference_engine.planar.errors import WorldError
from reference_engine.planar.faithful.settings import EXTRA_ACCELERATIONS, FaithfulSettings
from reference_engine.planar.outline import Edge, Outline, polygon_outline
from reference_engine.planar.shape import Disc, HalfPlane, Polygon
from reference_engine.planar.world import Body, World

Array = NDArray[np.float64]
Ids = NDArray[np.int64]

SLANTED, VERTICAL, HORIZONTAL, ARC = 0, 1, 2, 3  # Outlines.edge_kind
UPRIGHT = 1e-10  # m; an edge with less width is vertical, with less height horizontal
SPACING = 0.3  # m between the points on an arc that stand for it, and at least one in every 45 degrees
SWOLLEN_EDGE, SWOLLEN_HOLLOW = 1.25, 1.2  # how much further than itself an edge is looked for
WHOLE = ("edge_body", "edge_kind", "arc_whole")  # columns of integers
HALF_PLANE = 1e4  # m, half the length of the wall that stands for a half-plane


class Outlines(NamedTuple):
    """B bodies and the background last, E edges, V corners and points on arcs, P pairs that may meet."""

    inv_mass: Array  # (B + 1,) 1/kg; 0 if fixed
    inv_inertia: Array  # (B + 1,)
    restitution: Array  # (B + 1, B + 1)
    least_height: Array  # (B + 1,) m, how low the centre of mass can lie
    centre: Array  # (B + 1, 2) of a circle about the body
    reach: Array  # (B + 1,) its radius; of a wall its depth
    box: Array  # (B + 1, 4) left, bottom, right, top
    live_edge: Ids  # (B + 1,) of a wall, else -1
    first_edge: Ids  # (B + 2,)
    first_corner: Ids  # (B + 2,)
    pairs: Ids  # (P, 2)
    edge_body: Ids  # (E,)
    edge_kind: Ids  # (E,)
    ends: Array  # (E, 4) x1, y1, x2, y2
    normal: Array  # (E, 2) outward, of straight edges
    arc_centre: Array  # (E, 2)
    arc_radius: Array  # (E,)
    arc_sign: Array  # (E,) +1 convex, -1 concave
    arc_angles: Array  # (E, 2) low, high
    arc_whole: Ids  # (E,) 1 for a whole circle
    arc_depth: Array  # (E,) m, from the arc to its chord
    edge_centre: Array  # (E, 2)
    edge_reach: Array  # (E,)
    corners: Array  # (V, 2)
    corner_body: Ids  # (V,)
    corner_edges: Ids  # (V, 2) before and after; -1 after a point on an arc
    corner_radius: Array  # (V,) of curvature, the smaller of its edges'; infinite between straight ones
    connector_bodies: Ids  # (K, 2)
    connector_points: Array  # (K, 4)
    connector_normal: Array  # (K, 2) of a joint
    connector_kind: Ids  # (K,) JOINT_TURNING, JOINT_STILL, ROPE, ROD
    connector_length: Array  # (K,) of a rope or rod


JOINT_TURNING, JOINT_STILL, ROPE, ROD = 0, 1, 2, 3


class Rules(NamedTuple):
    """Tolerances and options, as scalars."""

    distance_tolerance: float
    velocity_tolerance: float
    accuracy: float  # m, half-width of the window about the target gap
    extra: int
    extra_step: float


def pack_rules(settings: FaithfulSettings) -> Rules:
    return Rules(
        float(settings.distance_tolerance),
        float(settings.velocity_tolerance),
        float(settings.collision_accuracy * settings.distance_tolerance / 2),
        EXTRA_ACCELERATIONS.index(settings.extra_acceleration),
        float(settings.extra_acceleration_time_step),
    )


def outline_of(body: Body) -> Outline:
    shape = body.shape
    if isinstance(shape, Outline):
        return shape
    if isinstance(shape, Polygon):
        return polygon_outline(shape.vertices)
    if isinstance(shape, Disc):
        r = shape.radius
        return Outline([Edge(start=(-r, 0.0), end=(-r, 0.0), centre=(0.0, 0.0))])
    assert isinstance(shape, HalfPlane)
    corners = ((-HALF_PLANE, -1.0), (HALF_PLANE, -1.0), (HALF_PLANE, 0.0), (-HALF_PLANE, 0.0))
    edges = [Edge(start=p, end=q) for p, q in zip(corners, (*corners[1:], corners[0]))]
    return Outline(edges, live_edge=2, depth=0.5)


class Packer:
    """Collects edges and corners body by body."""

    def __init__(self) -> None:
        self.edges: list[dict[str, Any]] = []
        self.corners: list[tuple[tuple[float, float], int, int, int]] = []  # point, body, edge before, edge after

    def add(self, body: int, outline: Outline) -> None:
        offset, points = len(self.edges), []
        for loop, (first, end) in enumerate(outline.loops):
            solid_on_left = outline.solid_on_left(loop)
            points.append((outline.edges[first].start, offset + end - 1, offset + first))
            for k in range(first, end):
                edge = outline.edges[k]
                row = pack_edge(edge, solid_on_left)
                row["edge_body"] = body
                if outline.live_edge not in (None, k):
                    row["edge_reach"] = 0.0
                self.edges.append(row)
                points.extend((p, offset + k, -1) for p in points_on_arc(edge))
                if k + 1 < end:
                    points.append((edge.end, offset + k, offset + k + 1))
        self.corners.extend((p, body, before, after) for p, before, after in points)


def pack_edge(edge: Edge, solid_on_left: bool) -> dict[str, Any]:
    (x1, y1), (x2, y2) = edge.start, edge.end
    middle = ((x1 + x2) * 0.5, (y1 + y2) * 0.5)
    row: dict[str, Any] = {
        "ends": (x1, y1, x2, y2), "normal": (0.0, 0.0), "arc_centre": (0.0, 0.0), "arc_radius": math.inf,
        "arc_sign": 1.0, "arc_angles": (0.0, 0.0), "arc_whole": 0, "arc_depth": 0.0, "edge_centre": middle,
    }  # fmt: skip
    if edge.centre is None:
        out = 1.0 if solid_on_left else -1.0
        kind, normal = SLANTED, (0.0, 0.0)
        if abs(x2 - x1) < UPRIGHT:
            kind, normal = VERTICAL, (out * math.copysign(1.0, y2 - y1), 0.0)
        elif abs(y2 - y1) < UPRIGHT:
            kind, normal = HORIZONTAL, (0.0, -out * math.copysign(1.0, x2 - x1))
        else:
            slope = (y2 - y1) / (x2 - x1)
            length, up = math.sqrt(1.0 + slope * slope), -out * math.copysign(1.0, x2 - x1)
            normal = (-slope / length * up, 1.0 / length * up)
        return {**row, "edge_kind": kind, "normal": normal, "edge_reach": SWOLLEN_EDGE * math.dist(middle, edge.start)}
    low, high = edge.angles()
    span, r = high - low, edge.radius
    convex = edge.clockwise != solid_on_left
    around = span >= math.pi
    reach = r if around else math.dist(middle, edge.start)
    row.update(
        edge_kind=ARC, arc_centre=edge.centre, arc_radius=r, arc_sign=1.0 if convex else -1.0,
        arc_angles=(low, high), arc_whole=int(abs(span - 2.0 * math.pi) < 1e-6),
        arc_depth=r * (1.0 - math.cos(span / 2.0)),
        edge_centre=edge.centre if around else middle, edge_reach=reach if convex else SWOLLEN_HOLLOW * reach,
    )  # fmt: skip
    return row


def arc_parts(edge: Edge) -> int:
    low, high = edge.angles()
    return max(math.ceil((high - low) / (math.pi / 4.0)), math.ceil((high - low) * edge.radius / SPACING))


def points_on_arc(edge: Edge) -> list[tuple[float, float]]:
    """Between its ends, in the direction in which it runs; none on a straight edge."""
    if edge.centre is None:
        return []
    (low, high), parts = edge.angles(), arc_parts(edge)
    step = (high - low) / parts
    angles = [high - k * step if edge.clockwise else low + k * step for k in range(1, parts)]
    r = edge.radius
    return [(edge.centre[0] + r * math.cos(a), edge.centre[1] + r * math.sin(a)) for a in angles]


def sagitta(edge: Edge) -> float:
    """How far the arc stands out between two neighbouring points on it; 0 for a straight edge. [m]"""
    if edge.centre is None:
        return 0.0
    low, high = edge.angles()
    return edge.radius * (1.0 - math.sqrt(1.0 - ((high - low) / arc_parts(edge)) ** 2 / 4.0))


def least_height(outline: Outline, box: tuple[float, float, float, float]) -> float:
    """The least distance from the centre of mass to an edge that it lies across from, 0 if it lies outside one;

    where it lies across from none, to the box. [m]
    """
    least = math.inf
    sides = [outline.solid_on_left(k) for k, (first, end) in enumerate(outline.loops) for _ in range(first, end)]
    for edge, solid_on_left in zip(outline.edges, sides):
        row = pack_edge(edge, solid_on_left)
        (x1, y1), (x2, y2) = edge.start, edge.end
        if edge.centre is not None:
            low, high = edge.angles()
            angle = math.atan2(-edge.centre[1], -edge.centre[0])
            angle += 2.0 * math.pi if angle < low else 0.0
            if not row["arc_whole"] and not low <= angle <= high:
                continue
            d = row["arc_sign"] * (math.hypot(*edge.centre) - edge.radius)
        else:
            length = math.dist(edge.start, edge.end)
            if not 0.0 <= -(x1 * (x2 - x1) + y1 * (y2 - y1)) / length <= length:
                continue
            nx, ny = row["normal"]
            d = -x1 * nx - y1 * ny
        least = min(least, max(0.0, -d))
    return least if least < math.inf else min(-box[1], box[2], box[3], -box[0])


def bounds(outline: Outline) -> tuple[float, float, float, float]:
    xs, ys = [], []
    for edge in outline.edges:
        xs += [edge.start[0], edge.end[0]]
        ys += [edge.start[1], edge.end[1]]
        if edge.centre is not None:
            low, high = edge.angles()
            for quarter in range(-2, 7):
                angle = quarter * math.pi / 2.0
                if low <= angle <= high:
                    xs.append(edge.centre[0] + edge.radius * round(math.cos(angle)))
                    ys.append(edge.centre[1] + edge.radius * round(math.sin(angle)))
    return min(xs), min(ys), max(xs), max(ys)


def pack_outlines(world: World) -> Outlines:
    packer, count = Packer(), len(world.bodies)
    shapes = [outline_of(body) for body in world.bodies]
    first_edge, first_corner, boxes, centres, reaches = [0], [0], [], [], []
    for i, outline in enumerate(shapes):
        if outline.live_edge is not None and not world.bodies[i].fixed:
            raise WorldError(f"body {world.body_name(i)!r}: a wall with a live edge must be fixed")
        packer.add(i, outline)
        first_edge.append(len(packer.edges))
        first_corner.append(len(packer.corners))
        box = bounds(outline)
        centre = ((box[0] + box[2]) / 2.0, (box[1] + box[3]) / 2.0)
        own = [p for p, *_ in packer.corners[first_corner[i] :]]
        reach = max(math.dist(centre, p) for p in own) + max(sagitta(edge) for edge in outline.edges)
        boxes.append(box)
        centres.append(centre)
        reaches.append(reach if outline.live_edge is None else outline.depth)
    restitution = np.ones((count + 1, count + 1))
    restitution[:count, :count] = world.pair_restitution
    own_restitution = np.diag(world.pair_restitution)
    restitution[count, :count] = restitution[:count, count] = own_restitution
    column = {name: [row[name] for row in packer.edges] for name in packer.edges[0]}
    edges: dict[str, Any] = {
        name: np.array(values, np.int64 if name in WHOLE else np.float64) for name, values in column.items()
    }
    corner_edges = np.array([(before, after) for _, _, before, after in packer.corners], np.int64)
    curvature = [r * s for r, s in zip(column["arc_radius"], column["arc_sign"])]
    return Outlines(
        inv_mass=np.array([*(0.0 if b.fixed else 1.0 / b.mass for b in world.bodies), 0.0]),
        inv_inertia=np.array([*(0.0 if b.fixed else 1.0 / float(b.inertia or math.inf) for b in world.bodies), 0.0]),
        restitution=restitution,
        least_height=np.array([*(least_height(o, b) for o, b in zip(shapes, boxes)), math.inf]),
        centre=np.array([*centres, (0.0, 0.0)]),
        reach=np.array([*reaches, 0.0]),
        box=np.array([*boxes, (0.0, 0.0, 0.0, 0.0)]),
        live_edge=np.array(
            [*(-1 if o.live_edge is None else first_edge[i] + o.live_edge for i, o in enumerate(shapes)), -1], np.int64
        ),
        first_edge=np.array([*first_edge, first_edge[-1]], np.int64),
        first_corner=np.array([*first_corner, first_corner[-1]], np.int64),
        pairs=np.array(meeting_pairs(world), np.int64).reshape(-1, 2),
        corners=np.array([p for p, *_ in packer.corners], np.float64),
        corner_body=np.array([body for _, body, *_ in packer.corners], np.int64),
        corner_edges=corner_edges,
        corner_radius=np.array([min((curvature[e] for e in pair if e >= 0), key=abs) for pair in corner_edges]),
        **edges,
        **pack_connectors(world),
    )  # fmt: skip


def meeting_pairs(world: World) -> list[tuple[int, int]]:
    apart = {frozenset(pair) for pair in world.passing}
    apart |= {frozenset((c.first, c.second)) for c in world.connectors if isinstance(c, Joint)}
    bodies = world.bodies
    return [
        (i, j)
        for i in range(len(bodies))
        for j in range(i + 1, len(bodies))
        if not (bodies[i].fixed and bodies[j].fixed)
        and not (bodies[i].group and bodies[i].group == bodies[j].group)
        and frozenset((i, j)) not in apart
    ]


def pack_connectors(world: World) -> dict[str, Any]:
    count, kinds = len(world.bodies), []
    for connector in world.connectors:
        if isinstance(connector, Joint):
            kinds.append(JOINT_TURNING if connector.normal_turns else JOINT_STILL)
        else:
            kinds.append(ROD if connector.rod else ROPE)
    ends = [[count if i == BACKGROUND else i for i in (c.first, c.second)] for c in world.connectors]
    return {
        "connector_bodies": np.array(ends, np.int64).reshape(-1, 2),
        "connector_points": np.array([(*c.first_point, *c.second_point) for c in world.connectors]).reshape(-1, 4),
        "connector_normal": np.array(
            [c.normal if isinstance(c, Joint) else (0.0, 0.0) for c in world.connectors], np.float64
        ).reshape(-1, 2),
        "connector_kind": np.array(kinds, np.int64),
        "connector_length": np.array([0.0 if isinstance(c, Joint) else c.length for c in world.connectors], np.float64),
    }

"""Outlines and connectors as the kernels see them: float64 in C order and int64, in the frames of their bodies."""

import math

import numpy as np

from reference_engine import elementary
from reference_engine.array_types import Array, Indices
from reference_engine.contactsim import arrays as col
from reference_engine.contactsim.arrays import Outlines, Rules
from reference_engine.contactsim.settings import EXTRA_ACCELERATIONS, FaithfulSettings
from reference_engine.errors import WorldError
from reference_engine.planar_model.connectors import BACKGROUND, Joint, PathEnd, PathJoint
from reference_engine.planar_model.shape import Bowl, Disc, Edge, Outline, Polygon, centre_of_mass, polygon_outline
from reference_engine.planar_model.world import Body, World, passing_pairs
from reference_engine.trigonometry import sine_and_cosine

UPRIGHT = 1e-10  # m; an edge with less width is vertical, with less height horizontal
SPACING = 0.3  # m between the points on an arc that stand for it, and at least one in every 45 degrees
SWOLLEN_EDGE, SWOLLEN_CONCAVE = 1.25, 1.2  # how much further than itself an edge is looked for
HALF_PLANE = 1e4  # m, half the length of the wall that stands for a half-plane


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
    if isinstance(shape, Bowl):
        raise WorldError(f"body {body.name!r}: the faithful mode has no Bowl; use an Outline with a concave arc")
    corners = ((-HALF_PLANE, -1.0), (HALF_PLANE, -1.0), (HALF_PLANE, 0.0), (-HALF_PLANE, 0.0))
    edges = [Edge(start=p, end=q) for p, q in zip(corners, (*corners[1:], corners[0]))]
    return Outline(edges, live_edge=2, depth=0.5)


class Packer:
    """Collects edges and corners body by body."""

    def __init__(self) -> None:
        self.edges: list[tuple[float, ...]] = []
        self.edge_ids: list[tuple[int, int, int]] = []
        self.corners: list[tuple[float, float, float]] = []
        self.corner_ids: list[tuple[int, int, int]] = []

    def add(self, body: int, outline: Outline) -> None:
        offset, packed = len(self.edges), [pack_edge(edge, side) for edge, side in sided_edges(outline)]
        for k, (row, shape, whole) in enumerate(packed):
            dead = outline.live_edge not in (None, k)
            self.edges.append((*row[:-1], 0.0) if dead else row)
            self.edge_ids.append((body, shape, int(whole)))

        def corner(point: tuple[float, float], before: int, after: int) -> None:
            radii = [packed[k][0][col.RADIUS] * packed[k][0][col.SIGN] for k in (before, after) if k >= 0]
            self.corners.append((*point, min(radii, key=abs)))
            self.corner_ids.append((body, offset + before, offset + after if after >= 0 else -1))

        for first, end in outline.loops:
            corner(outline.edges[first].start, end - 1, first)
            for k in range(first, end):
                for point in points_on_arc(outline.edges[k]):
                    corner(point, k, -1)
                if k + 1 < end:
                    corner(outline.edges[k].end, k, k + 1)


def sided_edges(outline: Outline) -> list[tuple[Edge, bool]]:
    """Each edge, and whether the material lies to its left."""
    return [
        (edge, outline.solid_on_left(loop))
        for loop, (first, end) in enumerate(outline.loops)
        for edge in outline.edges[first:end]
    ]


def pack_edge(edge: Edge, solid_on_left: bool) -> tuple[tuple[float, ...], int, bool]:
    """Its row of `Outlines.edge`, its shape, and whether it is a whole circle."""
    (x1, y1), (x2, y2) = edge.start, edge.end
    middle = ((x1 + x2) * 0.5, (y1 + y2) * 0.5)
    if edge.centre is None:
        out = 1.0 if solid_on_left else -1.0
        if abs(x2 - x1) < UPRIGHT:
            shape, normal = col.VERTICAL, (out * math.copysign(1.0, y2 - y1), 0.0)
        elif abs(y2 - y1) < UPRIGHT:
            shape, normal = col.HORIZONTAL, (0.0, -out * math.copysign(1.0, x2 - x1))
        else:
            slope = (y2 - y1) / (x2 - x1)
            length, up = math.sqrt(1.0 + slope * slope), -out * math.copysign(1.0, x2 - x1)
            shape, normal = col.SLANTED, (-slope / length * up, 1.0 / length * up)
        bounding_radius = SWOLLEN_EDGE * math.dist(middle, edge.start)
        row = (x1, y1, x2, y2, *normal, 0.0, 0.0, math.inf, 1.0, 0.0, 0.0, 0.0, *middle, bounding_radius)
        return row, shape, False
    (low, high), r = edge.angles(), edge.radius
    span, convex = high - low, edge.clockwise != solid_on_left
    around = span >= math.pi
    bounding_radius = (r if around else math.dist(middle, edge.start)) * (1.0 if convex else SWOLLEN_CONCAVE)
    depth, sign = r * (1.0 - sine_and_cosine(span / 2.0)[1]), 1.0 if convex else -1.0
    about = edge.centre if around else middle
    row = (x1, y1, x2, y2, 0.0, 0.0, *edge.centre, r, sign, low, high, depth, *about, bounding_radius)
    return row, col.ARC, abs(span - 2.0 * math.pi) < 1e-6


def arc_segments(edge: Edge) -> int:
    low, high = edge.angles()
    return max(math.ceil((high - low) / (math.pi / 4.0)), math.ceil((high - low) * edge.radius / SPACING))


def points_on_arc(edge: Edge) -> list[tuple[float, float]]:
    """Between its ends, in the direction in which it runs; none on a straight edge."""
    if edge.centre is None:
        return []
    (low, high), segments = edge.angles(), arc_segments(edge)
    step = (high - low) / segments
    angles = [high - k * step if edge.clockwise else low + k * step for k in range(1, segments)]
    r = edge.radius
    turns = [sine_and_cosine(a) for a in angles]
    return [(edge.centre[0] + r * c, edge.centre[1] + r * s) for s, c in turns]


def sagitta(edge: Edge) -> float:
    """How far the arc stands out between two neighbouring points on it; 0 for a straight edge. [m]"""
    if edge.centre is None:
        return 0.0
    low, high = edge.angles()
    return edge.radius * (1.0 - math.sqrt(1.0 - ((high - low) / arc_segments(edge)) ** 2 / 4.0))


def least_height(outline: Outline, box: tuple[float, float, float, float]) -> float:
    """From the centre of mass to the edges that it lies across from, 0 if outside one; else to the box. [m]"""
    least, (cx, cy) = math.inf, outline.centre_of_mass
    for edge, solid_on_left in sided_edges(outline):
        row, _, whole = pack_edge(edge, solid_on_left)
        (x1, y1), (x2, y2) = edge.start, edge.end
        if edge.centre is not None:
            low, high = edge.angles()
            away = cx - edge.centre[0], cy - edge.centre[1]
            angle = elementary.atan2(away[1], away[0])
            angle += 2.0 * math.pi if angle < low else 0.0
            if not whole and not low <= angle <= high:
                continue
            d = row[col.SIGN] * (math.hypot(*away) - edge.radius)
        else:
            length = math.dist(edge.start, edge.end)
            if not 0.0 <= ((cx - x1) * (x2 - x1) + (cy - y1) * (y2 - y1)) / length <= length:
                continue
            d = (cx - x1) * row[col.OUT_X] + (cy - y1) * row[col.OUT_Y]
        least = min(least, max(0.0, -d))
    return least if least < math.inf else min(cy - box[1], box[2] - cx, box[3] - cy, cx - box[0])


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
                    s, c = sine_and_cosine(angle)
                    xs.append(edge.centre[0] + edge.radius * round(c))
                    ys.append(edge.centre[1] + edge.radius * round(s))
    return min(xs), min(ys), max(xs), max(ys)


def frames_of(world: World) -> Array:
    """(B + 1, 7) as `Bodies.frame` has them: the centres of mass, and space for the rest."""
    frames = np.zeros((len(world.bodies) + 1, 7))
    frames[:-1, col.CX :] = [centre_of_mass(body.shape) for body in world.bodies]
    return frames


def pack_outlines(world: World) -> Outlines:
    if world.pair_static_friction.any():
        raise WorldError("friction: ContactSim has none, so neither has the faithful mode; use `simulate`")
    packer, count = Packer(), len(world.bodies)
    rows, owns = [], []
    for i, body in enumerate(world.bodies):
        outline, first_edge, first_corner = outline_of(body), len(packer.edges), len(packer.corners)
        if outline.live_edge is not None and not body.fixed:
            raise WorldError(f"body {world.body_name(i)!r}: a wall with a live edge must be fixed")
        packer.add(i, outline)
        owns.append((-1 if outline.live_edge is None else first_edge + outline.live_edge, first_edge, first_corner))
        box = bounds(outline)
        middle = ((box[0] + box[2]) / 2.0, (box[1] + box[3]) / 2.0)
        bounding_radius = max(math.dist(middle, point[:2]) for point in packer.corners[first_corner:])
        bounding_radius += max(sagitta(edge) for edge in outline.edges)
        mass = (math.inf, math.inf) if body.fixed else (body.mass, float(body.inertia or math.inf))
        bounding_radius = bounding_radius if outline.live_edge is None else outline.depth
        rows.append((1.0 / mass[0], least_height(outline, box), *middle, bounding_radius, *box, *mass))
    rows.append((0.0, math.inf, *(0.0,) * 7, math.inf, math.inf))
    owns += 2 * [(-1, len(packer.edges), len(packer.corners))]
    restitution = np.ones((count + 1, count + 1))
    restitution[:count, :count] = world.pair_restitution
    restitution[count, :count] = restitution[:count, count] = np.diag(world.pair_restitution)
    ignores = np.zeros((count + 1, len(packer.edges)), np.int64)
    for body_index, other, first, last in world.passing_edges:
        if not 0 <= first <= last < owns[other + 1][1] - owns[other][1]:
            raise WorldError(f"passing_edges: body {world.body_name(other)!r} has no edges {first} to {last}")
        ignores[body_index, owns[other][1] + first : owns[other][1] + last + 1] = 1
    connector, connector_ids, path = pack_connectors(world)
    return Outlines(
        body=np.array(rows, np.float64),
        owns=np.array(owns, np.int64),
        restitution=restitution,
        pairs=np.array(meeting_pairs(world), np.int64).reshape(-1, 2),
        ignores=ignores,
        edge=np.array(packer.edges, np.float64),
        edge_ids=np.array(packer.edge_ids, np.int64),
        corner=np.array(packer.corners, np.float64),
        corner_ids=np.array(packer.corner_ids, np.int64),
        connector=connector,
        connector_ids=connector_ids,
        path=path,
    )


def meeting_pairs(world: World) -> list[tuple[int, int]]:
    fixed, passing = [body.fixed for body in world.bodies], passing_pairs(world)
    pairs = ((i, j) for i in range(len(fixed)) for j in range(i + 1, len(fixed)))
    return [(i, j) for i, j in pairs if not (fixed[i] and fixed[j]) and (i, j) not in passing]


def pack_connectors(world: World) -> tuple[Array, Indices, Array]:
    """Rows of `Outlines.connector` and of `connector_ids`, and the tables of the paths."""
    rows: list[tuple[float, ...]] = []
    ids: list[tuple[int, ...]] = []
    background = len(world.bodies)
    tables: list[Array] = [np.zeros((0, 7))]
    for c in world.connectors:
        ends = (background if c.first == BACKGROUND else c.first, background if c.second == BACKGROUND else c.second)
        if isinstance(c, PathJoint | PathEnd):
            kind = col.ON_PATH if isinstance(c, PathJoint) else (col.LOWER_END if c.lower else col.UPPER_END)
            ids.append((*ends, kind, sum(map(len, tables)), len(c.path.table), int(c.path.closed)))
            at = c.path.nearest(world_point(world, c.body, c.point))
            found, limit = (at, c.path.table[at, 0]), 0.0 if isinstance(c, PathJoint) else c.limit
            rows.append((*c.point, 0.0, 0.0, 0.0, 0.0, limit, *found, *found))
            tables.append(c.path.table)
            continue
        if isinstance(c, Joint):
            ids.append((*ends, col.JOINT_TURNING if c.normal_turns else col.JOINT_STILL, 0, 0, 0))
            own = (*c.normal, 0.0)
        else:
            ids.append((*ends, col.ROD if c.rod else col.ROPE, 0, 0, 0))
            own = (0.0, 0.0, c.length)
        rows.append((*c.first_point, *c.second_point, *own, 0.0, 0.0, 0.0, 0.0))
    return (
        np.array(rows, np.float64).reshape(-1, 11), np.array(ids, np.int64).reshape(-1, 6),
        np.ascontiguousarray(np.concatenate(tables)),
    )  # fmt: skip


def world_point(world: World, body: int, point: tuple[float, float]) -> tuple[float, float]:
    """Where a point of the body's frame is at the start [m]."""
    (x, y), (sine, cosine) = world.arm(body, point), sine_and_cosine(float(world.bodies[body].angle))
    px, py = world.bodies[body].position
    return px + (x * cosine - y * sine), py + (x * sine + y * cosine)

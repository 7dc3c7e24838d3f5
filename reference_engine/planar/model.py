"""The bodies and connectors of a world as `layout.Model`: rows of numbers, put together in Python's own lists.

Worlds are small, and numpy takes as long for one number as for a thousand.
"""

import math
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from reference_engine import elementary
from reference_engine.array_types import Array, Indices
from reference_engine.dense import mul
from reference_engine.errors import WorldError
from reference_engine.planar import layout as col
from reference_engine.planar.convex_pieces import (
    BOWL,
    CONCAVE_ARC,
    DISC,
    HALF_PLANE,
    ROUNDED,
    SMOOTH,
    Arc,
    ConvexPiece,
    circle,
    pieces_of_outline,
    polygon,
)
from reference_engine.planar.layout import number_of
from reference_engine.planar_model.connectors import Joint, PathEnd, PathJoint
from reference_engine.planar_model.shape import Bowl, Disc, HalfPlane, Polygon
from reference_engine.planar_model.world import World, passing_pairs

ORIGIN = np.zeros((1, 2))
UP = (0.0, 1.0)  # outward normal of a half-plane


def model_in_numbers(world: World) -> tuple[list, ...]:
    """One list for each field of Model. Raises WorldError for what this mode does not have."""
    pieces: list[ConvexPiece] = []
    row: list[int] = []
    count = len(world.bodies)
    free: list[int] = []
    coefficients: list[float] = []
    inv_mass, inv_inertia = [0.0] * (count + 1), [0.0] * (count + 1)
    for i, body in enumerate(world.bodies):
        own = pieces_of(world, i)
        pieces += own
        row += [i] * len(own)
        if not body.fixed:
            inv_mass[i], inv_inertia[i] = 1.0 / body.mass, 1.0 / (body.inertia or math.inf)
            free += (3 * i, 3 * i + 1, 3 * i + 2)
    free += [3 * (count + 1) + c for c in free]
    kind, rounded = [piece.kind for piece in pieces], [piece.rounded for piece in pieces]
    arcs = [arc for own in rounded for arc in own]
    first = [0, *accumulate(len(piece.corners) for piece in pieces)]
    arc_first = list(accumulate(map(len, rounded), initial=first[-1]))
    row_of = {arc: first[-1] + k for k, arc in enumerate(arcs)}
    lines = [line for piece in pieces for line in lines_of(piece, row_of)]
    pairs = candidate_pairs(world, kind, row)
    for i, j in pairs:
        at = row[i], row[j]
        coefficients += (world.pair_friction[at], world.pair_static_friction[at], world.pair_restitution[at])
    vertices, normals = [c for line in lines for c in line.corner], [c for line in lines for c in line.normal]
    offsets = [line.corner[0] * line.normal[0] + line.corner[1] * line.normal[1] for line in lines]
    lengths = [line.length for line in lines]
    for arc in arcs:
        vertices += arc.centre
        normals += (elementary.cos(arc.middle), elementary.sin(arc.middle))
        offsets.append(arc.half)
        lengths.append(arc.radius)
    links, values = [], []
    if world.connectors:
        ids, numbers, points, directions, distances = pack_connectors(world, arc_first[-1])
        ids[:, col.PAIR], ids[:, col.PRESSES] = len(pairs) + np.arange(len(ids)), 1
        links, values = ids.ravel().tolist(), numbers.ravel().tolist()
        vertices += points.ravel().tolist()
        normals += directions.ravel().tolist()
        offsets += distances.tolist()
        lengths += [math.inf] * len(distances)
    radius = [math.inf if piece.kind == HALF_PLANE else piece.bounding_radius() for piece in pieces]
    return (
        kind, row, radius, first, arc_first, vertices, normals, offsets, lengths, [line.straight for line in lines],
        [arc for line in lines for arc in line.arcs], [c for line in lines for c in line.cone],
        [line.smooth for line in lines], free, inv_mass, inv_inertia, [k for pair in pairs for k in pair], coefficients,
        links, values,
    )  # fmt: skip


class Line(NamedTuple):
    """A corner of a piece and the line from it to the next, as in Model."""

    corner: list[float]
    normal: tuple[float, float]
    length: float
    straight: int
    arcs: tuple[int, int]
    cone: tuple[float, ...]
    smooth: int


def lines_of(piece: ConvexPiece, row_of: dict[Arc, int]) -> Iterator[Line]:
    """A half-plane has its own normal; no edge of a concave arc is one that is felt."""
    corners = piece.corners.tolist()
    normals, lengths = [UP], [math.inf]
    if piece.kind != HALF_PLANE:
        edges = list(zip(corners, corners[1:] + corners[:1]))
        lengths = [math.hypot(u - x, v - y) for (x, y), (u, v) in edges]
        normals = [((v - y) / length, (x - u) / length) for ((x, y), (u, v)), length in zip(edges, lengths)]
    for k, corner in enumerate(corners):
        cone: tuple[float, ...] = (*normals[k - 1], *normals[k])
        straight, arcs, smooth = 1, (-1, -1), 0
        if piece.kind == CONCAVE_ARC:
            straight, cone = 0, (0.0, 0.0, 0.0, 0.0)
        elif piece.kind == ROUNDED or any(piece.joins):
            straight = int(piece.arcs[k] is None)
            arcs, cone, smooth = round_join(piece, row_of, k, corner, cone)
        yield Line(corner, normals[k], lengths[k], straight, arcs, cone, smooth)


def round_join(
    piece: ConvexPiece, row_of: dict[Arc, int], k: int, corner: list[float], cone: tuple[float, ...]
) -> tuple[tuple[int, int], tuple[float, ...], int]:
    """(rows of the arcs before and after a corner, or -1; normals there, given those of the lines; is it smooth)."""
    before, after = piece.arcs[k - 1], piece.arcs[k]
    normals = [cone[:2], cone[2:]]
    for side, arc in enumerate((before, after)):
        if arc:
            normals[side] = tuple((corner[c] - arc.centre[c]) / arc.radius for c in range(2))
    if piece.joins and (join := piece.joins[k]):
        before, after = join.before, join.after
        normals = [join.normals[:2], join.normals[2:]]
    (ax, ay), (bx, by) = normals
    smooth = abs(ax * by - ay * bx) <= SMOOTH and bool(before or after)
    rows = (row_of[before] if before else -1, row_of[after] if after else -1)
    return rows, (ax, ay, bx, by), int(smooth)


def pieces_of(world: World, i: int) -> list[ConvexPiece]:
    """The pieces of a body, about its centre of mass."""
    shape = world.bodies[i].shape
    if isinstance(shape, Polygon):
        return [polygon(shape.vertices)]
    if isinstance(shape, HalfPlane):
        return [ConvexPiece(HALF_PLANE, ORIGIN, (None,))]
    if isinstance(shape, Disc | Bowl):
        return [circle(DISC if isinstance(shape, Disc) else BOWL, shape.radius)]
    return pieces_of_outline(shape, world.body_name(i))


def candidate_pairs(world: World, kind: list[np.int64], row: list[int]) -> list[tuple[int, int]]:
    """Pieces that may meet: a half-plane, bowl or concave arc is the second, a disc the first; concave arcs meet no

    concave arc.
    """
    bodies, apart = world.bodies, passing_pairs(world)
    pairs = []
    for i in range(len(kind)):
        for j in range(i + 1, len(kind)):
            a, b = row[i], row[j]
            if a == b or (bodies[a].fixed and bodies[b].fixed) or (a, b) in apart:
                continue
            if kind[i] >= CONCAVE_ARC and kind[j] >= CONCAVE_ARC:
                continue
            swap = kind[i] >= CONCAVE_ARC or (kind[j] == DISC and kind[i] != DISC)
            pairs.append((j, i) if swap else (i, j))
    return pairs


def pack_connectors(world: World, start: int) -> tuple[Indices, Array, Array, Array, Array]:
    """(rows of Contacts.id, of Contacts.value, points, normals, offsets) of C connectors; two points each, from
    `start`.

    A joint whose normal turns is a line of the second body; ropes and rods are circles about a point of the second.
    """
    links, values = np.zeros((len(world.connectors), col.IDS), np.int64), np.zeros((len(world.connectors), col.VALUES))
    points, directions, offsets = [np.zeros((0, 2))], [np.zeros((0, 2))], []
    for c, connector in enumerate(world.connectors):
        if isinstance(connector, PathJoint | PathEnd):
            raise WorldError("the located mode has no paths; `faithful_simulate` has")
        a, b = (len(world.bodies) if end < 0 else end for end in (connector.first, connector.second))
        ends = (connector.first, connector.first_point), (connector.second, connector.second_point)
        arms = np.array([world.arm(*end) for end in ends])
        points.append(arms)
        links[c, [col.BODY_I, col.BODY_J, col.PIECE_I, col.PIECE_J]] = a, b, number_of(c), number_of(c)
        links[c, [col.P, col.Q]] = start + 2 * c, start + 2 * c + 1
        values[c, col.SIGMA] = 1.0
        if isinstance(connector, Joint):
            links[c, [col.KIND, col.ROLE]] = col.LINE if connector.normal_turns else col.STILL_NORMAL, col.JOINT
            directions.append(np.array([connector.normal, connector.normal]))
            offsets += 2 * [float(mul(connector.normal, arms[1]))]
        else:
            links[c, [col.KIND, col.ROLE]] = col.ROUND, col.JOINT if connector.rod else col.ROPE
            own = min(world.pair_restitution[k, k] for k in (connector.first, connector.second) if k >= 0)
            values[c, [col.R2, col.SIGMA, col.RESTITUTION]] = -connector.length, -1.0, own
            directions.append(np.zeros((2, 2)))
            offsets += 2 * [0.0]
    return links, values, np.concatenate(points), np.concatenate(directions), np.array(offsets, np.float64)

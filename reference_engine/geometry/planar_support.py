"""Planar bodies where they are in one sample, and rows of what is found of a pair."""

import numpy as np

from reference_engine.array_types import Array, Indices
from reference_engine.compiler.kernels import kernel
from reference_engine.compiler.structure import Structure, of_shape, zeros
from reference_engine.elementary_kernels import cosine_and_sine
from reference_engine.geometry import layout as col
from reference_engine.geometry.planar_shapes import PlanarShapes


class PosedPlanarShapes(Structure):
    """B bodies: what they are, see planar_shapes.PlanarShapes; where in one sample, in world axes from their centres.

    And N rows of what is found of two of them.
    """

    kind: Indices
    radius: Array
    bounding_radius: Array
    point: Array
    axis: Array
    piece_start: Indices
    vertex_start: Indices
    vertex_body: Indices
    vertex: Array
    edge_normal: Array
    edge_length: Array
    centre: Array = of_shape("B", 2)  # m, from the origin
    line_point: Array = of_shape("B", 2)  # m, of a half-plane
    line_normal: Array = of_shape("B", 2)
    corner: Array = of_shape("V", 2)  # m
    normal: Array = of_shape("V", 2)  # of the edge that starts there
    row: Array = of_shape(2, col.PLANAR_FIELDS)  # of two convex pieces
    found: Array = of_shape("N", col.PLANAR_FIELDS)


def posed_planar_shapes(shapes: PlanarShapes) -> PosedPlanarShapes:
    """At the origin: see `pose_bodies`."""
    pieces = max(1, int(np.diff(shapes.piece_start).max(initial=0)))
    given = {name: getattr(shapes, name) for name in PosedPlanarShapes.__dataclass_fields__ if hasattr(shapes, name)}
    sizes = {"B": len(shapes.kind), "V": len(shapes.vertex), "N": 2 * pieces * pieces}
    posed: PosedPlanarShapes = zeros(PosedPlanarShapes, sizes, **given)
    return posed


@kernel
def turned(c, s, vectors, i):
    x, y = vectors[i, 0], vectors[i, 1]
    return c * x - s * y, s * x + c * y


@kernel
def pose_bodies(posed, pose):
    """One sample."""
    for i in range(pose.shape[0]):
        c, s = cosine_and_sine(pose[i, 2])
        posed.centre[i, 0], posed.centre[i, 1] = pose[i, 0], pose[i, 1]
        posed.line_point[i, 0], posed.line_point[i, 1] = turned(c, s, posed.point, i)
        posed.line_normal[i, 0], posed.line_normal[i, 1] = turned(c, s, posed.axis, i)
    c, s, last = 1.0, 0.0, -1
    for k in range(posed.vertex.shape[0]):
        i = posed.vertex_body[k]
        if i != last:
            last = i
            c, s = cosine_and_sine(pose[i, 2])
        posed.corner[k, 0], posed.corner[k, 1] = turned(c, s, posed.vertex, k)
        posed.normal[k, 0], posed.normal[k, 1] = turned(c, s, posed.edge_normal, k)


@kernel
def write(found, k, gap, nx, ny, px, py, qx, qy):
    row = found[k]
    row[col.GAP] = gap
    row[col.PLANAR_NORMAL], row[col.PLANAR_NORMAL + 1] = nx, ny
    row[col.PLANAR_ON_P], row[col.PLANAR_ON_P + 1] = px, py
    row[col.PLANAR_ON_Q], row[col.PLANAR_ON_Q + 1] = qx, qy


@kernel
def write_near(row, cutoff, gap, nx, ny, px, py, qx, qy):
    """One row, or none if the gap is not below the cutoff: how many."""
    if gap >= cutoff:
        return 0
    write(row, 0, gap, nx, ny, px, py, qx, qy)
    return 1


@kernel
def copy(found, k, other, r):
    """Row r of another into row k."""
    for column in range(col.PLANAR_FIELDS):
        found[k, column] = other[r, column]


@kernel
def vertices(posed, piece):
    return posed.vertex_start[piece], posed.vertex_start[piece + 1]


@kernel
def edge(posed, i):
    """Start and outward normal of the edge from vertex i."""
    return posed.corner[i, 0], posed.corner[i, 1], posed.normal[i, 0], posed.normal[i, 1]

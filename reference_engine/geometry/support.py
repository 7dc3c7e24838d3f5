"""The body table of one sample and the support point of every convex core.

body (B, 23): 0 position, 3 R_wb by rows, 12 size, 15 margin, 16 bounding radius, 17 point and 20 axis of a
half-space in world axes, the point relative to the centre of its body.
"""

from dataclasses import dataclass

import numpy as np

from reference_engine.array_types import Array, Indices
from reference_engine.compiler.kernels import kernel
from reference_engine.compiler.structure import Structure
from reference_engine.geometry.spatial_shapes import BOX, CAPSULE, CONE, CYLINDER, ELLIPSOID, MESH, SpatialShapes

COLUMNS = 23
FIELDS = 11  # of a row of `found`, see `write`


@dataclass(frozen=True, eq=False)
class PosedShapes(Structure):
    """B bodies: what they are, see spatial_shapes.SpatialShapes, and where in one sample."""

    kind: Indices
    size: Array
    margin: Array
    bounding_radius: Array
    point: Array
    axis: Array
    vertex_start: Indices
    vertex: Array
    body: Array  # (B, 23) the table above


def posed_shapes(shapes: SpatialShapes) -> PosedShapes:
    """Nowhere yet: see `pose_bodies`."""
    given = {name: getattr(shapes, name) for name in PosedShapes.__dataclass_fields__ if name != "body"}
    return PosedShapes(**given, body=np.empty((len(shapes.kind), COLUMNS)))


@kernel
def pose_bodies(posed, position, orientation):
    """One sample; quaternions (w, x, y, z) of any length but zero."""
    size, point, axis, body = posed.size, posed.point, posed.axis, posed.body
    for i in range(position.shape[0]):
        w, x, y, z = orientation[i, 0], orientation[i, 1], orientation[i, 2], orientation[i, 3]
        t = 2.0 / (w * w + x * x + y * y + z * z)
        body[i, 3], body[i, 4], body[i, 5] = 1.0 - t * (y * y + z * z), t * (x * y - w * z), t * (x * z + w * y)
        body[i, 6], body[i, 7], body[i, 8] = t * (x * y + w * z), 1.0 - t * (x * x + z * z), t * (y * z - w * x)
        body[i, 9], body[i, 10], body[i, 11] = t * (x * z - w * y), t * (y * z + w * x), 1.0 - t * (x * x + y * y)
        for k in range(3):
            body[i, k] = position[i, k]
            body[i, 12 + k] = size[i, k]
            R0, R1, R2 = body[i, 3 + 3 * k], body[i, 4 + 3 * k], body[i, 5 + 3 * k]
            body[i, 17 + k] = R0 * point[i, 0] + R1 * point[i, 1] + R2 * point[i, 2]
            body[i, 20 + k] = R0 * axis[i, 0] + R1 * axis[i, 1] + R2 * axis[i, 2]
        body[i, 15], body[i, 16] = posed.margin[i], posed.bounding_radius[i]


@kernel
def to_body(body, i, x, y, z):
    return (
        body[i, 3] * x + body[i, 6] * y + body[i, 9] * z,
        body[i, 4] * x + body[i, 7] * y + body[i, 10] * z,
        body[i, 5] * x + body[i, 8] * y + body[i, 11] * z,
    )


@kernel
def to_world(body, i, x, y, z):
    return (
        body[i, 3] * x + body[i, 4] * y + body[i, 5] * z,
        body[i, 6] * x + body[i, 7] * y + body[i, 8] * z,
        body[i, 9] * x + body[i, 10] * y + body[i, 11] * z,
    )


@kernel
def support(posed, i, nx, ny, nz):
    """Furthest point of the core of body i along n; world axes, relative to its centre."""
    kind, vertex_start, vertex, body = posed.kind, posed.vertex_start, posed.vertex, posed.body
    x, y, z = to_body(body, i, nx, ny, nz)
    a, b, c = body[i, 12], body[i, 13], body[i, 14]
    if kind[i] == BOX:
        x, y, z = (a if x >= 0.0 else -a), (b if y >= 0.0 else -b), (c if z >= 0.0 else -c)
    elif kind[i] == CAPSULE:
        x, y, z = 0.0, 0.0, (b if z >= 0.0 else -b)
    elif kind[i] == CYLINDER:
        across = np.sqrt(x * x + y * y)
        scale = a / across if across > 0.0 else 0.0
        x, y, z = scale * x, scale * y, (b if z >= 0.0 else -b)
    elif kind[i] == CONE:
        across = np.sqrt(x * x + y * y)
        if b * z >= a * across:
            x, y, z = 0.0, 0.0, 0.75 * b
        else:
            scale = a / across if across > 0.0 else 0.0
            x, y, z = scale * x, scale * y, -0.25 * b
    elif kind[i] == ELLIPSOID:
        scale = 1.0 / np.sqrt(a * a * x * x + b * b * y * y + c * c * z * z)
        x, y, z = scale * a * a * x, scale * b * b * y, scale * c * c * z
    elif kind[i] == MESH:
        furthest, at = -np.inf, vertex_start[i]
        for k in range(vertex_start[i], vertex_start[i + 1]):
            height = x * vertex[k, 0] + y * vertex[k, 1] + z * vertex[k, 2]
            if height > furthest:
                furthest, at = height, k
        x, y, z = vertex[at, 0], vertex[at, 1], vertex[at, 2]
    else:  # a sphere is a point with a margin
        x, y, z = 0.0, 0.0, 0.0
    return to_world(body, i, x, y, z)


@kernel
def support_difference(posed, p, q, dx, dy, dz, nx, ny, nz, row, points):
    """Row of `points`: support of P - Q along n, the point of P, that of Q; relative to the centre of P."""
    ax, ay, az = support(posed, p, nx, ny, nz)
    bx, by, bz = support(posed, q, -nx, -ny, -nz)
    bx, by, bz = bx + dx, by + dy, bz + dz
    points[row, 0], points[row, 1], points[row, 2] = ax - bx, ay - by, az - bz
    points[row, 3], points[row, 4], points[row, 5] = ax, ay, az
    points[row, 6], points[row, 7], points[row, 8] = bx, by, bz


@kernel
def write(found, gap, nx, ny, nz, px, py, pz, qx, qy, qz, uncertainty):
    """found: gap, normal from p to q, point on p, point on q, width of the bracket of the gap."""
    found[0] = gap
    found[1], found[2], found[3] = nx, ny, nz
    found[4], found[5], found[6] = px, py, pz
    found[7], found[8], found[9] = qx, qy, qz
    found[10] = uncertainty

"""Bodies where they are in one sample, and the support point of every convex core."""

import numpy as np

from reference_engine.array_types import Array, Indices
from reference_engine.compiler.kernels import kernel
from reference_engine.compiler.structure import Structure, of_shape, zeros
from reference_engine.geometry import layout as col
from reference_engine.geometry.spatial_shapes import BOX, CAPSULE, CONE, CYLINDER, ELLIPSOID, MESH, SpatialShapes
from reference_engine.rotation import matrix
from reference_engine.vectors import along, minus, plus, row, set_row, set_three, three


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
    centre: Array = of_shape("B", 3)  # m
    R: Array = of_shape("B", 3, 3)  # body to world
    plane_point: Array = of_shape("B", 3)  # m, of a half-space, from its centre in world axes
    plane_normal: Array = of_shape("B", 3)  # in world axes


def posed_shapes(shapes: SpatialShapes) -> PosedShapes:
    """At the origin: see `pose_bodies`."""
    given = {name: getattr(shapes, name) for name in PosedShapes.__dataclass_fields__ if hasattr(shapes, name)}
    posed: PosedShapes = zeros(PosedShapes, {"B": len(shapes.kind)}, **given)
    return posed


@kernel
def column(R, i, k):
    """Column k of matrix i."""
    return R[i, 0, k], R[i, 1, k], R[i, 2, k]


@kernel
def to_world(R, i, a):
    """R_i a: a vector of body i in world axes."""
    return (
        R[i, 0, 0] * a[0] + R[i, 0, 1] * a[1] + R[i, 0, 2] * a[2],
        R[i, 1, 0] * a[0] + R[i, 1, 1] * a[1] + R[i, 1, 2] * a[2],
        R[i, 2, 0] * a[0] + R[i, 2, 1] * a[1] + R[i, 2, 2] * a[2],
    )


@kernel
def to_body(R, i, a):
    """R_i^T a: a vector in the axes of body i."""
    return (
        R[i, 0, 0] * a[0] + R[i, 1, 0] * a[1] + R[i, 2, 0] * a[2],
        R[i, 0, 1] * a[0] + R[i, 1, 1] * a[1] + R[i, 2, 1] * a[2],
        R[i, 0, 2] * a[0] + R[i, 1, 2] * a[1] + R[i, 2, 2] * a[2],
    )


@kernel
def pose_bodies(posed, position, orientation):
    """One sample; quaternions (w, x, y, z) of any length but zero."""
    for i in range(position.shape[0]):
        w, x, y, z = orientation[i, 0], orientation[i, 1], orientation[i, 2], orientation[i, 3]
        first, second, third = matrix(w, x, y, z, 2.0 / (w * w + x * x + y * y + z * z))
        set_row(posed.R[i], 0, first)
        set_row(posed.R[i], 1, second)
        set_row(posed.R[i], 2, third)
        set_row(posed.centre, i, row(position, i))
        set_row(posed.plane_point, i, to_world(posed.R, i, row(posed.point, i)))
        set_row(posed.plane_normal, i, to_world(posed.R, i, row(posed.axis, i)))


@kernel
def is_curved(kind):
    return kind in (CYLINDER, ELLIPSOID, CONE)


@kernel
def support(posed, i, n):
    """Furthest point of the core of body i along n; world axes, relative to its centre."""
    kind, vertex = posed.kind[i], posed.vertex
    x, y, z = to_body(posed.R, i, n)
    a, b, c = row(posed.size, i)
    if kind == BOX:
        x, y, z = (a if x >= 0.0 else -a), (b if y >= 0.0 else -b), (c if z >= 0.0 else -c)
    elif kind == CAPSULE:
        x, y, z = 0.0, 0.0, (b if z >= 0.0 else -b)
    elif kind == CYLINDER:
        across = np.sqrt(x * x + y * y)
        scale = a / across if across > 0.0 else 0.0
        x, y, z = scale * x, scale * y, (b if z >= 0.0 else -b)
    elif kind == CONE:
        across = np.sqrt(x * x + y * y)
        if b * z >= a * across:
            x, y, z = 0.0, 0.0, 0.75 * b
        else:
            scale = a / across if across > 0.0 else 0.0
            x, y, z = scale * x, scale * y, -0.25 * b
    elif kind == ELLIPSOID:
        scale = 1.0 / np.sqrt(a * a * x * x + b * b * y * y + c * c * z * z)
        x, y, z = scale * a * a * x, scale * b * b * y, scale * c * c * z
    elif kind == MESH:
        furthest, at = -np.inf, posed.vertex_start[i]
        for k in range(posed.vertex_start[i], posed.vertex_start[i + 1]):
            height = x * vertex[k, 0] + y * vertex[k, 1] + z * vertex[k, 2]
            if height > furthest:
                furthest, at = height, k
        x, y, z = row(vertex, at)
    else:  # a sphere is a point with a margin
        x, y, z = 0.0, 0.0, 0.0
    return to_world(posed.R, i, (x, y, z))


@kernel
def support_difference(posed, p, q, d, n, k, points):
    """points[k]: support of P - Q along n, the point of P, that of Q; relative to the centre of P."""
    on_p = support(posed, p, n)
    on_q = plus(support(posed, q, (-n[0], -n[1], -n[2])), d)
    set_row(points[k], col.DIFFERENCE, minus(on_p, on_q))
    set_row(points[k], col.OF_P, on_p)
    set_row(points[k], col.OF_Q, on_q)


@kernel
def write(found, gap, n, on_p, on_q, uncertainty):
    found[col.GAP], found[col.UNCERTAINTY] = gap, uncertainty
    set_three(found, col.NORMAL, n)
    set_three(found, col.ON_P, on_p)
    set_three(found, col.ON_Q, on_q)


@kernel
def write_from_p(found, gap, n, on_p, uncertainty):
    """The point of q is that of p moved along the normal by the gap."""
    write(found, gap, n, on_p, along(on_p, gap, n), uncertainty)


@kernel
def write_from_q(found, gap, n, on_q, uncertainty):
    write(found, gap, n, along(on_q, -gap, n), on_q, uncertainty)


@kernel
def exchange(found, d):
    """The same of q and p, whose centre is d away: the normal from q, the points from there."""
    on_p, on_q, n = three(found, col.ON_P), three(found, col.ON_Q), three(found, col.NORMAL)
    write(found, found[col.GAP], (-n[0], -n[1], -n[2]), minus(on_q, d), minus(on_p, d), found[col.UNCERTAINTY])


@kernel
def from_origin(found, centre):
    """Points from the world's origin, of those from the centre of p."""
    set_three(found, col.ON_P, plus(three(found, col.ON_P), centre))
    set_three(found, col.ON_Q, plus(three(found, col.ON_Q), centre))

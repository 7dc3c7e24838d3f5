"""Gaps of convex bodies to a plane and inside a hollow sphere."""

import numpy as np

from reference_engine.compiler.kernels import kernel
from reference_engine.geometry.furthest import furthest_on_ellipsoid
from reference_engine.geometry.spatial_shapes import BOX, CAPSULE, CONE, CYLINDER, ELLIPSOID, MESH
from reference_engine.geometry.support import support, to_body, to_world, write


@kernel
def half_space(kind, vertex_start, vertex, body, p, q, dx, dy, dz, found):
    """The core of p above the plane of q: its support point against the normal."""
    nx, ny, nz = body[q, 20], body[q, 21], body[q, 22]
    x, y, z = support(kind, vertex_start, vertex, body, p, -nx, -ny, -nz)
    gap = nx * (x - dx - body[q, 17]) + ny * (y - dy - body[q, 18]) + nz * (z - dz - body[q, 19])
    write(found, gap, -nx, -ny, -nz, x, y, z, x - gap * nx, y - gap * ny, z - gap * nz, 0.0)


@kernel
def sphere_interior(kind, vertex_start, vertex, body, p, q, dx, dy, dz, found):
    """The core of p inside the sphere about d: its furthest point from d.  Concentric: the first found."""
    cx, cy, cz = to_body(body, p, dx, dy, dz)  # centre of the sphere in the axes of p
    a, b, c = body[p, 12], body[p, 13], body[p, 14]
    if kind[p] == BOX:
        x, y, z = (-a if cx > 0.0 else a), (-b if cy > 0.0 else b), (-c if cz > 0.0 else c)
    elif kind[p] == CAPSULE:
        x, y, z = 0.0, 0.0, (-b if cz > 0.0 else b)
    elif kind[p] == CYLINDER:
        across = np.sqrt(cx * cx + cy * cy)
        ux, uy = (cx / across, cy / across) if across > 0.0 else (-1.0, 0.0)
        x, y, z = -a * ux, -a * uy, (-b if cz > 0.0 else b)
    elif kind[p] == CONE:
        across = np.sqrt(cx * cx + cy * cy)
        ux, uy = (cx / across, cy / across) if across > 0.0 else (-1.0, 0.0)
        x, y, z = -a * ux, -a * uy, -0.25 * b
        if (across + a) ** 2 + (cz + 0.25 * b) ** 2 < across * across + (cz - 0.75 * b) ** 2:
            x, y, z = 0.0, 0.0, 0.75 * b
    elif kind[p] == ELLIPSOID:
        x, y, z = furthest_on_ellipsoid((a, b, c), cx, cy, cz)
    elif kind[p] == MESH:
        furthest, at = -1.0, vertex_start[p]
        for k in range(vertex_start[p], vertex_start[p + 1]):
            distance = (vertex[k, 0] - cx) ** 2 + (vertex[k, 1] - cy) ** 2 + (vertex[k, 2] - cz) ** 2
            if distance > furthest:
                furthest, at = distance, k
        x, y, z = vertex[at, 0], vertex[at, 1], vertex[at, 2]
    else:
        x, y, z = 0.0, 0.0, 0.0
    x, y, z = to_world(body, p, x, y, z)
    rx, ry, rz = x - dx, y - dy, z - dz
    distance, radius = np.sqrt(rx * rx + ry * ry + rz * rz), body[q, 12]
    nx, ny, nz = (rx / distance, ry / distance, rz / distance) if distance > 0.0 else (0.0, 0.0, 1.0)
    gap = radius - distance
    write(found, gap, nx, ny, nz, x, y, z, x + gap * nx, y + gap * ny, z + gap * nz, 0.0)

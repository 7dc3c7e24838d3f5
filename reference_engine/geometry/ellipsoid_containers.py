"""Ellipsoids above planes and inside hollow spheres."""

import numpy as np

from reference_engine.compiler.kernels import entry, kernel
from reference_engine.geometry.ellipsoid_support import furthest_along
from reference_engine.geometry.furthest import furthest_points
from reference_engine.geometry.support import write

ROUND = 2e-15  # of the distances that a gap is the difference of


@kernel
def half_space_gap(body, i, point, normal, found):
    """found (11,), see support.write: ellipsoid i above the plane through `point` with the unit `normal`.

    Closed form: the height of the centre less h(n) = |A^T n|, at the point that is furthest down.
    """
    nx, ny, nz = normal[0], normal[1], normal[2]
    x, y, z, h = furthest_along(body, i, -nx, -ny, -nz)
    dx, dy, dz = body[i, 0] - point[0], body[i, 1] - point[1], body[i, 2] - point[2]
    gap = nx * dx + ny * dy + nz * dz - h
    x, y, z = body[i, 0] + x, body[i, 1] + y, body[i, 2] + z
    round_off = ROUND * (abs(dx) + abs(dy) + abs(dz) + body[i, 18])
    write(found, gap, -nx, -ny, -nz, x, y, z, x - gap * nx, y - gap * ny, z - gap * nz, round_off)


@entry
def half_space_gaps(body, point, normal, found):
    """Of all ellipsoids: found (B, 11)."""
    for i in range(body.shape[0]):
        half_space_gap(body, i, point, normal, found[i])


@kernel
def sphere_interior_gap(semi_axes, body, i, centre, radius, tie, point, found):
    """Ellipsoid i inside the sphere: rows of found (4, 11); ONE_POINT ... SPHERE, and how many rows.

    Normals point outward, into the sphere's solid. At the very centre of the sphere: +z. point (4, 3) is scratch.
    """
    a, b, c = semi_axes[i, 0], semi_axes[i, 1], semi_axes[i, 2]
    dx, dy, dz = centre[0] - body[i, 0], centre[1] - body[i, 1], centre[2] - body[i, 2]
    cx = (body[i, 3] * dx + body[i, 6] * dy + body[i, 9] * dz) / a
    cy = (body[i, 4] * dx + body[i, 7] * dy + body[i, 10] * dz) / b
    cz = (body[i, 5] * dx + body[i, 8] * dy + body[i, 11] * dz) / c
    kind, rows = furthest_points((a, b, c), cx, cy, cz, tie, point)
    round_off = ROUND * (abs(dx) + abs(dy) + abs(dz) + body[i, 18] + radius)
    for k in range(rows):
        u, v, w = point[k, 0] / a, point[k, 1] / b, point[k, 2] / c
        x = body[i, 3] * u + body[i, 4] * v + body[i, 5] * w
        y = body[i, 6] * u + body[i, 7] * v + body[i, 8] * w
        z = body[i, 9] * u + body[i, 10] * v + body[i, 11] * w
        nx, ny, nz = x - dx, y - dy, z - dz
        distance = np.sqrt(nx * nx + ny * ny + nz * nz)
        nx, ny, nz = (nx / distance, ny / distance, nz / distance) if distance > 0.0 else (0.0, 0.0, 1.0)
        gap = radius - distance
        x, y, z = x + body[i, 0], y + body[i, 1], z + body[i, 2]
        write(found[k], gap, nx, ny, nz, x, y, z, x + gap * nx, y + gap * ny, z + gap * nz, round_off)
    return kind, rows


@entry
def sphere_interior_gaps(semi_axes, body, centre, radius, tie, kind, point, found):
    """Of all ellipsoids: kind (B, 2), found (B, 4, 11)."""
    for i in range(body.shape[0]):
        kind[i, 0], kind[i, 1] = sphere_interior_gap(semi_axes, body, i, centre, radius, tie, point, found[i])

"""Gaps of convex bodies to a plane and inside a hollow sphere."""

from __future__ import annotations

import numpy as np

from reference_engine.geometry.kernels import kernel
from reference_engine.geometry.spatial_shapes import BOX, CAPSULE, CYLINDER, ELLIPSOID, MESH
from reference_engine.geometry.support import support, to_body, to_world, write


@kernel
def half_space(kind, vertex_start, vertex, body, p, q, dx, dy, dz, found):
    """The core of p above the plane of q: its support point against the normal."""
    nx, ny, nz = body[q, 20], body[q, 21], body[q, 22]
    x, y, z = support(kind, vertex_start, vertex, body, p, -nx, -ny, -nz)
    gap = nx * (x - dx - body[q, 17]) + ny * (y - dy - body[q, 18]) + nz * (z - dz - body[q, 19])
    write(found, gap, -nx, -ny, -nz, x, y, z, x - gap * nx, y - gap * ny, z - gap * nz, 0.0)


@kernel
def coordinate(a, c, largest, mu, i):
    """x_i of the furthest point, 0 where c_i is."""
    below = (largest - a[i]) * (largest + a[i]) + mu
    return -a[i] * a[i] * c[i] / below if c[i] != 0.0 and below > 0.0 else 0.0


@kernel
def furthest_on_ellipsoid(a, cx, cy, cz):
    """Point of the ellipsoid with semi-axes a that is furthest from c; own axes.

    x_i = a_i^2 c_i / (a_i^2 - lambda) with the root lambda > max a_i^2 of the secular equation
    sum of (a_i c_i / (a_i^2 - lambda))^2 = 1, in mu = lambda - max a_i^2, by Newton's method on
    1 / sqrt(sum) - 1, which is concave and rises, inside a bracket.  If the sum stays below 1 at mu = 0
    (c on a plane of symmetry) the furthest point lies off that plane: of the two the positive one.
    """
    c = (cx, cy, cz)
    largest = max(a[0], a[1], a[2])
    long_axis = 0 if a[0] == largest else (1 if a[1] == largest else 2)
    high = np.sqrt((a[0] * cx) ** 2 + (a[1] * cy) ** 2 + (a[2] * cz) ** 2)
    low = abs(largest * c[long_axis])
    mu = high
    if high > 0.0:
        for _ in range(100):
            total, slope = 0.0, 0.0
            for i in range(3):
                below = (largest - a[i]) * (largest + a[i]) + mu
                if c[i] != 0.0:
                    ratio = a[i] * c[i] / below
                    total += ratio * ratio
                    slope += ratio * ratio / below
            if total >= 1.0:
                low = max(low, mu)
            else:
                high = min(high, mu)
            # f = total^(-1/2) - 1,  f' = total^(-3/2) slope
            step = (1.0 - np.sqrt(total)) * total / slope
            following = mu - step
            if not low <= following <= high:
                following = 0.5 * (low + high)
            if abs(following - mu) <= 1e-16 * mu or mu < 1e-300:
                break
            mu = following
    x, y, z = coordinate(a, c, largest, mu, 0), coordinate(a, c, largest, mu, 1), coordinate(a, c, largest, mu, 2)
    rest = 1.0
    for i in range(3):
        if i != long_axis:
            rest -= (coordinate(a, c, largest, mu, i) / a[i]) ** 2
    along = largest * np.sqrt(max(0.0, rest))
    along = -along if c[long_axis] > 0.0 else along
    return along if long_axis == 0 else x, along if long_axis == 1 else y, along if long_axis == 2 else z


@kernel
def hollow_sphere(kind, vertex_start, vertex, body, p, q, dx, dy, dz, found):
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

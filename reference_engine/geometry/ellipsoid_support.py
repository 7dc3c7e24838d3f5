"""Where ellipsoids are, and where their surface faces a given way.

body (B, 19): 0 centre [m], 3 A by rows [m], 12 M = A A^T as xx, yy, zz, xy, xz, yz [m^2], 18 longest semi-axis [m].
The ellipsoid is {centre + A u: |u| <= 1} with A = R_wb diag(semi-axes). Along a unit n it reaches as far as
h(n) = |A^T n|, at the point A A^T n / h. A sphere has A = radius 1 however it is turned: so it is exact.
"""

import numpy as np

from reference_engine.compiler.kernels import entry, kernel

COLUMNS = 19


@kernel
def pose_ellipsoid(semi_axes, position, orientation, i, body):
    w, x, y, z = orientation[i, 0], orientation[i, 1], orientation[i, 2], orientation[i, 3]
    a, b, c = semi_axes[i, 0], semi_axes[i, 1], semi_axes[i, 2]
    t = 2.0 / (w * w + x * x + y * y + z * z) if a != b or b != c else 0.0
    body[i, 3], body[i, 4] = a * (1.0 - t * (y * y + z * z)), b * t * (x * y - w * z)
    body[i, 5], body[i, 6] = c * t * (x * z + w * y), a * t * (x * y + w * z)
    body[i, 7], body[i, 8] = b * (1.0 - t * (x * x + z * z)), c * t * (y * z - w * x)
    body[i, 9], body[i, 10] = a * t * (x * z - w * y), b * t * (y * z + w * x)
    body[i, 11] = c * (1.0 - t * (x * x + y * y))
    for k in range(3):
        p, q = 3 + 3 * k, 3 + 3 * ((k + 1) % 3)
        body[i, k] = position[i, k]
        body[i, 12 + k] = body[i, p] ** 2 + body[i, p + 1] ** 2 + body[i, p + 2] ** 2
        product = body[i, p] * body[i, q] + body[i, p + 1] * body[i, q + 1] + body[i, p + 2] * body[i, q + 2]
        body[i, 15 if k == 0 else (17 if k == 1 else 16)] = product
    body[i, 18] = max(a, b, c)


@entry
def pose_ellipsoids(semi_axes, position, orientation, body):
    """One row of `body` for each; quaternions w, x, y, z, body to world, of any length but zero."""
    for i in range(position.shape[0]):
        pose_ellipsoid(semi_axes, position, orientation, i, body)


@kernel
def support_point(body, i, x, y, z):
    """M n / h and 1 / h: the point that is furthest along n from the centre.

    Round-off 1e-16 of (longest)^2 / h: quick, for searching.
    """
    px = body[i, 12] * x + body[i, 15] * y + body[i, 16] * z
    py = body[i, 15] * x + body[i, 13] * y + body[i, 17] * z
    pz = body[i, 16] * x + body[i, 17] * y + body[i, 14] * z
    over_h = 1.0 / np.sqrt(px * x + py * y + pz * z)
    return px * over_h, py * over_h, pz * over_h, over_h


@kernel
def furthest_along(body, i, x, y, z):
    """The same point and h, by way of A: round-off 1e-16 of the longest axis."""
    u = body[i, 3] * x + body[i, 6] * y + body[i, 9] * z
    v = body[i, 4] * x + body[i, 7] * y + body[i, 10] * z
    w = body[i, 5] * x + body[i, 8] * y + body[i, 11] * z
    h = np.sqrt(u * u + v * v + w * w)
    u, v, w = u / h, v / h, w / h
    return (
        body[i, 3] * u + body[i, 4] * v + body[i, 5] * w,
        body[i, 6] * u + body[i, 7] * v + body[i, 8] * w,
        body[i, 9] * u + body[i, 10] * v + body[i, 11] * w,
        h,
    )


@kernel
def tangents(x, y, z):
    """Two unit vectors across the unit vector (Duff et al. 2017, J. Comput. Graph. Tech. 6)."""
    sign = 1.0 if z >= 0.0 else -1.0
    a = -1.0 / (sign + z)
    b = x * y * a
    return 1.0 + sign * x * x * a, sign * b, -sign * x, b, sign + y * y * a, -y


@kernel
def across(body, i, px, py, pz, basis):
    """E = the part of M - p p^T across n, as xx, xy, yy in the basis; p is the furthest point along n from the centre.

    E / h is the second derivative of h across n: the radii of curvature of the surface.
    """
    ax, ay, az, bx, by, bz = basis
    pa, pb = px * ax + py * ay + pz * az, px * bx + py * by + pz * bz
    xx, yy, zz, xy, xz, yz = body[i, 12], body[i, 13], body[i, 14], body[i, 15], body[i, 16], body[i, 17]
    ux, uy, uz = xx * ax + xy * ay + xz * az, xy * ax + yy * ay + yz * az, xz * ax + yz * ay + zz * az
    vx, vy, vz = xx * bx + xy * by + xz * bz, xy * bx + yy * by + yz * bz, xz * bx + yz * by + zz * bz
    return (
        ax * ux + ay * uy + az * uz - pa * pa,
        ax * vx + ay * vy + az * vz - pa * pb,
        bx * vx + by * vy + bz * vz - pb * pb,
    )

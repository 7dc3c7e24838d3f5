"""Where ellipsoids are, where their surface faces a given way, and the widest slab between two.

body (B, 19): 0 centre [m], 3 A by rows [m], 12 M = A A^T as xx, yy, zz, xy, xz, yz [m^2], 18 longest semi-axis [m].
The ellipsoid is {centre + A u: |u| <= 1} with A = R_wb diag(semi-axes). Along a unit n it reaches as far as
h(n) = |A^T n|, at the point A A^T n / h. A sphere has A = radius 1 however it is turned: so it is exact.
"""

import numpy as np

from reference_engine.compiler.kernels import entry, kernel
from reference_engine.geometry.support import to_world

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


@entry
def has_left(body, margin, low, high):
    """Whether an ellipsoid, `margin` wider all round, sticks out of its box low ... high."""
    for i in range(body.shape[0]):
        for k in range(3):
            half = np.sqrt(body[i, 12 + k]) + margin
            if not (body[i, k] - half >= low[i, k] and body[i, k] + half <= high[i, k]):
                return True
    return False


@kernel
def furthest_along(body, i, x, y, z):
    """The same point and h, by way of A: round-off 1e-16 of the longest axis."""
    u = body[i, 3] * x + body[i, 6] * y + body[i, 9] * z
    v = body[i, 4] * x + body[i, 7] * y + body[i, 10] * z
    w = body[i, 5] * x + body[i, 8] * y + body[i, 11] * z
    h = np.sqrt(u * u + v * v + w * w)
    u, v, w = u / h, v / h, w / h
    x, y, z = to_world(body, i, u, v, w)
    return x, y, z, h


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


STATIONARY = 1e-13  # of the pair's size: the part of w across n
SETTLED = 1e-10  # of the size: from here on a step that does not halve it is round-off
FLAT = 1e-13  # determinant over squared trace: no more curvature one way than round-off of the other
SLACK = 5e-16  # of the size: g of two directions is not told apart below


@kernel
def first_contact_normal(body, p, q, dx, dy, dz, s):
    """The normal of first touch when both grow from their centres; or one that parts them, met on the way.

    Perram & Wertheim 1985, J. Comput. Phys. 58.

    n solves ((1 - s) M_1 + s M_2) n = d with (1 - s) h_1(n) = s h_2(n): Newton's method on s, in a bracket,
    from an s between 0 and 1.
    """
    low, high = 0.0, 1.0
    x, y, z = dx, dy, dz
    for _ in range(40):
        t = 1.0 - s
        xx, xy = t * body[p, 12] + s * body[q, 12], t * body[p, 15] + s * body[q, 15]
        yy, xz = t * body[p, 13] + s * body[q, 13], t * body[p, 16] + s * body[q, 16]
        zz, yz = t * body[p, 14] + s * body[q, 14], t * body[p, 17] + s * body[q, 17]
        ixx, ixy, ixz = yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy
        iyy, iyz, izz = xx * zz - xz * xz, xy * xz - xx * yz, xx * yy - xy * xy
        scale = 1.0 / (xx * ixx + xy * ixy + xz * ixz)
        x = (ixx * dx + ixy * dy + ixz * dz) * scale
        y = (ixy * dx + iyy * dy + iyz * dz) * scale
        z = (ixz * dx + iyz * dy + izz * dz) * scale
        px, py, pz, over_h = support_point(body, p, x, y, z)
        qx, qy, qz, over_k = support_point(body, q, x, y, z)
        h, k = 1.0 / over_h, 1.0 / over_k
        if h + k < dx * x + dy * y + dz * z:
            break
        rest = t * h - s * k
        low, high = (s, high) if rest > 0.0 else (low, s)
        # dn/ds = -(...)^-1 (M_2 - M_1) n, and M n = h p
        ex, ey, ez = k * qx - h * px, k * qy - h * py, k * qz - h * pz
        tx = (ixx * ex + ixy * ey + ixz * ez) * scale
        ty = (ixy * ex + iyy * ey + iyz * ez) * scale
        tz = (ixz * ex + iyz * ey + izz * ez) * scale
        slope = -h - k - t * (px * tx + py * ty + pz * tz) + s * (qx * tx + qy * ty + qz * tz)
        step = -rest / slope
        if abs(step) < 1e-3:
            break
        s = s + step if low < s + step < high else 0.5 * (low + high)
    length = np.sqrt(x * x + y * y + z * z)
    return x / length, y / length, z / length


@kernel
def ascend(body, p, q, dx, dy, dz, x, y, z, size, cutoff):
    """n of a local maximum of g, how wide the slab between the two is, and g there; or the first n above the cutoff.

      g(n) = n . d - h_1(n) - h_2(n),   h(n) = |A^T n|,   d = centre 2 - centre 1

    The gradient is w = d - p_1 - p_2 with p the points that are furthest along n, the second derivative across n is
    -(E_1 / h_1 + E_2 / h_2) - g (see `across`): Newton's method.
    """
    px, py, pz, over_h = support_point(body, p, x, y, z)
    qx, qy, qz, over_k = support_point(body, q, x, y, z)
    wx, wy, wz = dx - px - qx, dy - py - qy, dz - pz - qz
    g = wx * x + wy * y + wz * z
    still, settled, before = (STATIONARY * size) ** 2, (SETTLED * size) ** 2, np.inf
    for _ in range(100):
        basis = tangents(x, y, z)
        ax, ay, az, bx, by, bz = basis
        r, s = wx * ax + wy * ay + wz * az, wx * bx + wy * by + wz * bz
        off = r * r + s * s
        if off <= still or g > cutoff or (off < settled and off > 0.25 * before):
            break
        before = off
        xx, xy = body[p, 12] * over_h + body[q, 12] * over_k, body[p, 15] * over_h + body[q, 15] * over_k
        yy, xz = body[p, 13] * over_h + body[q, 13] * over_k, body[p, 16] * over_h + body[q, 16] * over_k
        zz, yz = body[p, 14] * over_h + body[q, 14] * over_k, body[p, 17] * over_h + body[q, 17] * over_k
        pa, pb = px * ax + py * ay + pz * az, px * bx + py * by + pz * bz
        qa, qb = qx * ax + qy * ay + qz * az, qx * bx + qy * by + qz * bz
        ux, uy, uz = xx * ax + xy * ay + xz * az, xy * ax + yy * ay + yz * az, xz * ax + yz * ay + zz * az
        vx, vy, vz = xx * bx + xy * by + xz * bz, xy * bx + yy * by + yz * bz, xz * bx + yz * by + zz * bz
        a = ax * ux + ay * uy + az * uz - pa * pa * over_h - qa * qa * over_k + g
        m = ax * vx + ay * vy + az * vz - pa * pb * over_h - qa * qb * over_k
        b = bx * vx + by * vy + bz * vz - pb * pb * over_h - qb * qb * over_k + g
        inner = a * b - m * m
        if inner <= FLAT * (a + b) ** 2 or a + b <= 0.0:
            # Not a maximum's: the eigenvalues' sizes, so that the step goes uphill (only where the bodies overlap).
            half, spread = 0.5 * (a + b), np.sqrt(0.25 * (a - b) ** 2 + m * m)
            least = max(abs(half - spread), 1e-9 * (abs(half) + spread))
            a, b = a + least - (half - spread), b + least - (half - spread)
            inner = a * b - m * m
        over = 1.0 / inner
        along, aside = (b * r - m * s) * over, (a * s - m * r) * over
        length = along * along + aside * aside
        fraction = 1.0 if length <= 1.0 else 1.0 / np.sqrt(length)
        start = g
        ox, oy, oz = x, y, z
        while True:
            u, v = fraction * along, fraction * aside
            x, y, z = ox + u * ax + v * bx, oy + u * ay + v * by, oz + u * az + v * bz
            scale = 1.0 / np.sqrt(x * x + y * y + z * z)
            x, y, z = x * scale, y * scale, z * scale
            px, py, pz, over_h = support_point(body, p, x, y, z)
            qx, qy, qz, over_k = support_point(body, q, x, y, z)
            wx, wy, wz = dx - px - qx, dy - py - qy, dz - pz - qz
            g = wx * x + wy * y + wz * z
            if g >= start - SLACK * size or fraction < 1e-9:
                break
            fraction *= 0.5
    return x, y, z, g

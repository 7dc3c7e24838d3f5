"""The widest slab between two ellipsoids: uphill on the sphere of directions n.

    g(n) = n . d - h_1(n) - h_2(n),   h(n) = |A^T n|,   d = centre 2 - centre 1

The gradient is w = d - p_1 - p_2 with p the points that are furthest along n, the second derivative across n is
-(E_1 / h_1 + E_2 / h_2) - g (ellipsoid_support.across): Newton's method, started from the line of centres or, where
that direction parts nothing, from the direction in which the bodies, grown from their centres, would first touch
(Perram & Wertheim 1985, J. Comput. Phys. 58).
"""

import numpy as np

from reference_engine.compiler.kernels import kernel
from reference_engine.geometry.ellipsoid_support import support_point, tangents

STATIONARY = 1e-13  # of the pair's size: the part of w across n
SETTLED = 1e-10  # of the size: from here on a step that does not halve it is round-off
FLAT = 1e-13  # determinant over squared trace: no more curvature one way than round-off of the other
SLACK = 5e-16  # of the size: g of two directions is not told apart below


@kernel
def first_contact_normal(body, p, q, dx, dy, dz, s):
    """The normal of first touch when both grow from their centres; or one that parts them, met on the way.

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
    """n of a local maximum of g, and g there; or the first n met with g above the cutoff."""
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

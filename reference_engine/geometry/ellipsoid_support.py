"""Where ellipsoids are, where their surface faces a given way, and the widest slab between two.

`body` is a table with the columns of `layout`. Along a unit n an ellipsoid reaches as far as h(n) = |A^T n|, at the
point A A^T n / h. A sphere has A = radius 1 however it is turned: so it is exact.
"""

import numpy as np

from reference_engine.compiler.kernels import entry, kernel
from reference_engine.geometry import layout as col
from reference_engine.vectors import along, dot, length, minus, over, set_three, three, times


@kernel
def pose_ellipsoid(semi_axes, position, orientation, i, body):
    w, x, y, z = orientation[i, 0], orientation[i, 1], orientation[i, 2], orientation[i, 3]
    a, b, c = three(semi_axes[i], 0)
    t = 2.0 / (w * w + x * x + y * y + z * z) if a != b or b != c else 0.0
    own = body[i]
    set_three(own, col.A, (a * (1.0 - t * (y * y + z * z)), b * t * (x * y - w * z), c * t * (x * z + w * y)))
    set_three(own, col.A + 3, (a * t * (x * y + w * z), b * (1.0 - t * (x * x + z * z)), c * t * (y * z - w * x)))
    set_three(own, col.A + 6, (a * t * (x * z - w * y), b * t * (y * z + w * x), c * (1.0 - t * (x * x + y * y))))
    set_three(own, col.CENTRE, three(position[i], 0))
    set_square(own)
    own[col.LONGEST] = max(a, b, c)


@kernel
def set_square(own):
    """M of A."""
    first, second, third = three(own, col.A), three(own, col.A + 3), three(own, col.A + 6)
    set_three(own, col.M, (dot(first, first), dot(second, second), dot(third, third)))
    set_three(own, col.M + 3, (dot(first, second), dot(third, first), dot(second, third)))


@kernel
def centre(body, i):
    return three(body[i], col.CENTRE)


@kernel
def stretched(body, i, u):
    """A u."""
    own = body[i]
    return dot(three(own, col.A), u), dot(three(own, col.A + 3), u), dot(three(own, col.A + 6), u)


@kernel
def gathered(body, i, n):
    """A^T n."""
    own = body[i]
    return along(along(times(n[0], three(own, col.A)), n[1], three(own, col.A + 3)), n[2], three(own, col.A + 6))


@kernel
def square(body, i):
    """M."""
    own = body[i]
    return three(own, col.M), three(own, col.M + 3)


@kernel
def mixed(s, first, t, second):
    """s M_1 + t M_2."""
    return along(times(s, first[0]), t, second[0]), along(times(s, first[1]), t, second[1])


@kernel
def product(M, v):
    """M v of a symmetric matrix: its diagonal, and xy, xz, yz."""
    (xx, yy, zz), (xy, xz, yz) = M
    x, y, z = v
    return xx * x + xy * y + xz * z, xy * x + yy * y + yz * z, xz * x + yz * y + zz * z


@entry
def pose_ellipsoids(semi_axes, position, orientation, body):
    """One row of `body` for each; quaternions w, x, y, z, body to world, of any length but zero."""
    for i in range(position.shape[0]):
        pose_ellipsoid(semi_axes, position, orientation, i, body)


@kernel
def support_point(body, i, n):
    """M n / h and 1 / h: the point that is furthest along n from the centre.

    Round-off 1e-16 of (longest)^2 / h: quick, for searching.
    """
    point = product(square(body, i), n)
    over_h = 1.0 / np.sqrt(dot(point, n))
    return times(over_h, point), over_h


@entry
def has_left(body, margin, low, high):
    """Whether an ellipsoid, `margin` wider all round, sticks out of its box low ... high."""
    for i in range(body.shape[0]):
        for k in range(3):
            half = np.sqrt(body[i, col.M + k]) + margin
            if not (body[i, col.CENTRE + k] - half >= low[i, k] and body[i, col.CENTRE + k] + half <= high[i, k]):
                return True
    return False


@kernel
def furthest_along(body, i, n):
    """The same point and h, by way of A: round-off 1e-16 of the longest axis."""
    u = gathered(body, i, n)
    h = length(u)
    return stretched(body, i, over(u, h)), h


@kernel
def tangents(n):
    """Two unit vectors across the unit vector (Duff et al. 2017, J. Comput. Graph. Tech. 6)."""
    x, y, z = n
    sign = 1.0 if z >= 0.0 else -1.0
    a = -1.0 / (sign + z)
    b = x * y * a
    return (1.0 + sign * x * x * a, sign * b, -sign * x), (b, sign + y * y * a, -y)


@kernel
def across(body, i, point, basis):
    """E = the part of M - p p^T across n, as xx, xy, yy in the basis; p is the furthest point along n from the centre.

    E / h is the second derivative of h across n: the radii of curvature of the surface.
    """
    a, b = basis
    pa, pb = dot(point, a), dot(point, b)
    M = square(body, i)
    u, v = product(M, a), product(M, b)
    return dot(a, u) - pa * pa, dot(a, v) - pa * pb, dot(b, v) - pb * pb


STATIONARY = 1e-13  # of the pair's size: the part of w across n
SETTLED = 1e-10  # of the size: from here on a step that does not halve it is round-off
FLAT = 1e-13  # determinant over squared trace: no more curvature one way than round-off of the other
SLACK = 5e-16  # of the size: g of two directions is not distinguished below


@kernel
def first_contact_normal(body, p, q, d, s):
    """The normal of first touch when both grow from their centres; or one that parts them, met on the way.

    Perram & Wertheim 1985, J. Comput. Phys. 58.

    n solves ((1 - s) M_1 + s M_2) n = d with (1 - s) h_1(n) = s h_2(n): Newton's method on s, in a bracket,
    from an s between 0 and 1.
    """
    low, high, n = 0.0, 1.0, d
    for _ in range(40):
        t = 1.0 - s
        (xx, yy, zz), (xy, xz, yz) = mixed(t, square(body, p), s, square(body, q))
        inverse = (  # times the determinant
            (yy * zz - yz * yz, xx * zz - xz * xz, xx * yy - xy * xy),
            (xz * yz - xy * zz, xy * yz - xz * yy, xy * xz - xx * yz),
        )
        scale = 1.0 / (xx * inverse[0][0] + xy * inverse[1][0] + xz * inverse[1][1])
        n = times(scale, product(inverse, d))
        on_p, over_h = support_point(body, p, n)
        on_q, over_k = support_point(body, q, n)
        h, k = 1.0 / over_h, 1.0 / over_k
        if h + k < dot(d, n):
            break
        rest = t * h - s * k
        low, high = (s, high) if rest > 0.0 else (low, s)
        # dn/ds = -(...)^-1 (M_2 - M_1) n, and M n = h p
        turn = times(scale, product(inverse, minus(times(k, on_q), times(h, on_p))))
        slope = -h - k - t * dot(on_p, turn) + s * dot(on_q, turn)
        step = -rest / slope
        if abs(step) < 1e-3:
            break
        s = s + step if low < s + step < high else 0.5 * (low + high)
    return over(n, length(n))


@kernel
def slab(body, p, q, d, n):
    """w = d - p_1 - p_2, g(n) = w . n; the points furthest along n from each centre, and 1 / h."""
    on_p, over_h = support_point(body, p, n)
    on_q, over_k = support_point(body, q, n)
    w = minus(minus(d, on_p), on_q)
    return w, dot(w, n), on_p, over_h, on_q, over_k


@kernel
def ascend(body, p, q, d, n, size, cutoff):
    """n of a local maximum of g, how wide the slab between the two is, and g there; or the first n above the cutoff.

      g(n) = n . d - h_1(n) - h_2(n),   h(n) = |A^T n|,   d = centre 2 - centre 1

    The gradient is w = d - p_1 - p_2 with p the points that are furthest along n, the second derivative across n is
    -(E_1 / h_1 + E_2 / h_2) - g (see `across`): Newton's method.
    """
    w, g, on_p, over_h, on_q, over_k = slab(body, p, q, d, n)
    still, settled, before = (STATIONARY * size) ** 2, (SETTLED * size) ** 2, np.inf
    for _ in range(100):
        first, second = tangents(n)
        r, s = dot(w, first), dot(w, second)
        off = r * r + s * s
        if off <= still or g > cutoff or (off < settled and off > 0.25 * before):
            break
        before = off
        bent = mixed(over_h, square(body, p), over_k, square(body, q))
        pa, pb, qa, qb = dot(on_p, first), dot(on_p, second), dot(on_q, first), dot(on_q, second)
        u, v = product(bent, first), product(bent, second)
        a = dot(first, u) - pa * pa * over_h - qa * qa * over_k + g
        m = dot(first, v) - pa * pb * over_h - qa * qb * over_k
        b = dot(second, v) - pb * pb * over_h - qb * qb * over_k + g
        inner = a * b - m * m
        if inner <= FLAT * (a + b) ** 2 or a + b <= 0.0:
            # Not a maximum's: the eigenvalues' sizes, so that the step goes uphill (only where the bodies overlap).
            half, spread = 0.5 * (a + b), np.sqrt(0.25 * (a - b) ** 2 + m * m)
            least = max(abs(half - spread), 1e-9 * (abs(half) + spread))
            a, b = a + least - (half - spread), b + least - (half - spread)
            inner = a * b - m * m
        over_inner = 1.0 / inner
        ahead, aside = (b * r - m * s) * over_inner, (a * s - m * r) * over_inner
        step = ahead * ahead + aside * aside
        fraction = 1.0 if step <= 1.0 else 1.0 / np.sqrt(step)
        start, before_step = g, n
        while True:
            n = along(along(before_step, fraction * ahead, first), fraction * aside, second)
            n = times(1.0 / length(n), n)
            w, g, on_p, over_h, on_q, over_k = slab(body, p, q, d, n)
            if g >= start - SLACK * size or fraction < 1e-9:
                break
            fraction *= 0.5
    return n, g

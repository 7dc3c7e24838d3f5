"""That no other direction parts two overlapping ellipsoids by a shorter way: proved, or the better direction found.

Let n be a maximum of g(n) = n . d - h_1(n) - h_2(n) on the sphere with g(n) = -depth < 0, f = h_1 + h_2, t the part
of p_1 + p_2 across n and E_i the part of M_i - p_i p_i^T across n. For v across n, h_i(n + v)^2 is
(h_i + t_i . v)^2 + v . E_i v, and whatever two matrices B_i with B_i B_i^T = E_i are chosen, by the triangle inequality

    (h_1 + h_2)(n + v) >= sqrt((f + t . v)^2 + |(B_1 + B_2)^T v|^2).

The choice that makes B_1 B_2^T = E_1 # E_2, the geometric mean of two matrices, gives the right-hand side the square
N = E_1 + E_2 + 2 E_1 # E_2: the sum of the two bodies holds an ellipsoid that touches it where the shortest way leads.
A point inside an ellipsoid whose nearest surface point is known to be stationary has it as the nearest of all if
(matrix of the ellipsoid) - depth f is positive semidefinite (Lagrange's condition for one quadratic constraint, which
suffices: More & Sorensen 1983). Taken apart along n and across it, that is

    N >= depth (f + t t^T / (f - depth)),   a comparison of two matrices of two rows.

It speaks for most pairs. Where it does not, the sphere is searched in cells, and each cell is left only when it cannot
hold anything better.
"""

import numpy as np

from reference_engine.compiler.kernels import kernel
from reference_engine.elementary_kernels import angle_of, cosine_and_sine
from reference_engine.geometry import layout as col
from reference_engine.geometry.ellipsoid_support import across, ascend, slab, square, support_point, tangents
from reference_engine.vectors import dot, length, over, plus

UNSURE = 4e-15  # of the two M: the round-off of N
MOST_CELLS = 20_000  # until the search settles for a bound that is ten times wider
FACE, SIGN, U, V, HALF = range(5)  # columns of a cell: of the cube's six faces which, its middle there, half its edge
STACK = (160, 5)  # cells that wait: 24 and three for each halving


@kernel
def is_positive(a, m, b):
    return a + b > 0.0 and a * b - m * m >= 0.0


@kernel
def greatest(a, m, b):
    """Eigenvalue."""
    return 0.5 * (a + b) + np.sqrt(0.25 * (a - b) ** 2 + m * m)


@kernel
def share_within(h, t, e, r):
    """The least (1 - v.E v / 4 q^2) / q of all |v| <= r; e is the greatest eigenvalue of E.  Negative: no bound."""
    if e == 0.0:
        return 0.0
    return (1.0 - e * r * r / (4.0 * (h - t * r) ** 2)) / (h + t * r) if h > t * r else -1.0


@kernel
def is_sphere(body, i):
    (xx, yy, zz), (xy, xz, yz) = square(body, i)
    return xx == yy and yy == zz and xy == 0.0 and xz == 0.0 and yz == 0.0


@kernel
def proven_radius(body, p, q, n, depth):
    """Nothing better than the maximum n, of this depth > 0, lies among the n + v with |v| <= this; infinite: nowhere.

    Where the comparison above fails: near n it need not hold in full, as depth (f + |t| r + depth r^2 / 4) <= least
    eigenvalue of N is enough for |v| <= r. Or, from h_i(n + v) >= q_i + v.E_i v / 2 q_i (1 - v.E_i v / 4 q_i^2) with
    q_i = h_i + t_i . v, it is enough that the sum of the weighted E_i is at least the depth.
    """
    basis = tangents(n)
    on_p, over_h = support_point(body, p, n)
    on_q, over_k = support_point(body, q, n)
    h, k = 1.0 / over_h, 1.0 / over_k
    ea, em, eb = across(body, p, on_p, basis)
    ka, km, kb = across(body, q, on_q, basis)
    # A sphere only adds its radius to every depth: what is left is one ellipsoid, and the comparison is exact.
    if is_sphere(body, p):
        ea, em, eb, depth, h = 0.0, 0.0, 0.0, depth - h, 0.0
    if is_sphere(body, q):
        ka, km, kb, depth, k = 0.0, 0.0, 0.0, depth - k, 0.0
    if depth <= 0.0:
        return np.inf
    # E_1 # E_2 = sqrt(det_1 det_2)^(1/2) (E_1 / d_1 + E_2 / d_2) / sqrt(det of that), d = sqrt(det)
    d_1, d_2 = np.sqrt(max(ea * eb - em * em, 0.0)), np.sqrt(max(ka * kb - km * km, 0.0))
    ma, mm, mb = d_2 * ea + d_1 * ka, d_2 * em + d_1 * km, d_2 * eb + d_1 * kb
    inner = ma * mb - mm * mm
    mean = 2.0 * np.sqrt(d_1 * d_2 / inner) if inner > 0.0 else 0.0
    unsure = UNSURE * (body[p, col.LONGEST] ** 2 + body[q, col.LONGEST] ** 2)
    na, nm, nb = ea + ka + mean * ma - unsure, em + km + mean * mm, eb + kb + mean * mb - unsure
    first, second = basis
    ta, tb = dot(plus(on_p, on_q), first), dot(plus(on_p, on_q), second)
    f = h + k
    # f - depth = n . d: below zero -n is the shorter way; zero only for common centres, and then t = d = 0 too
    ahead = f - depth
    share = depth / ahead if ahead > 1e-15 * f else 0.0
    a, m, b = na - depth * f - share * ta * ta, nm - share * ta * tb, nb - depth * f - share * tb * tb
    if ahead >= -1e-15 * f and is_positive(a, m, b):
        return np.inf
    t = np.sqrt(ta * ta + tb * tb)
    slack = (0.5 * (na + nb) - np.sqrt(0.25 * (na - nb) ** 2 + nm * nm)) / depth - f
    least = 2.0 * slack / (t + np.sqrt(t * t + depth * slack)) if slack > 0.0 else 0.0
    t_1 = np.sqrt(dot(on_p, first) ** 2 + dot(on_p, second) ** 2)
    t_2 = np.sqrt(dot(on_q, first) ** 2 + dot(on_q, second) ** 2)
    e_1, e_2 = greatest(ea, em, eb), greatest(ka, km, kb)
    r = 1.0
    while r > max(least, 1e-9):
        u, v = share_within(h, t_1, e_1, r), share_within(k, t_2, e_2, r)
        if u >= 0.0 and v >= 0.0 and is_positive(u * ea + v * ka - depth, u * em + v * km, u * eb + v * kb - depth):
            return r
        r *= 0.5
    return least


@kernel
def least_along(w, k, r):
    """The least -w s + k s^2 / 2 of all |s| <= r, or a little less."""
    return -0.5 * w * w / k if abs(w) <= k * r else -abs(w) * r + min(0.5 * k * r * r, 0.0)


@kernel
def is_nowhere_above(body, p, q, w, on_p, on_q, n, r, g):
    """Whether g(n + v) <= g |n + v|, g < 0, for all v across the unit vector n with |v| <= r; false: not known.

    By second derivatives: h_1 + h_2 is no less than f + t . v + v . (sum of shares of E_i) v / 2, and |n + v| no more
    than 1 + v . v / 2. What is left is one quadratic in v, bounded along its two axes. See `slab` for w and the points.
    """
    basis = tangents(n)
    first, second = basis
    h, pa, pb = dot(on_p, n), dot(on_p, first), dot(on_p, second)
    k, qa, qb = dot(on_q, n), dot(on_q, first), dot(on_q, second)
    t_1, t_2 = np.sqrt(pa * pa + pb * pb), np.sqrt(qa * qa + qb * qb)
    if h <= t_1 * r or k <= t_2 * r:
        return False
    ea, em, eb = across(body, p, on_p, basis)
    ka, km, kb = across(body, q, on_q, basis)
    u, v = share_within(h, t_1, greatest(ea, em, eb), r), share_within(k, t_2, greatest(ka, km, kb), r)
    if u < 0.0 or v < 0.0:
        return False
    a, m, b = u * ea + v * ka + g, u * em + v * km, u * eb + v * kb + g
    wa, wb = dot(w, first), dot(w, second)
    half, spread, angle = 0.5 * (a + b), np.sqrt(0.25 * (a - b) ** 2 + m * m), 0.5 * angle_of(2.0 * m, a - b)
    c, d = cosine_and_sine(angle)
    least = least_along(c * wa + d * wb, half + spread, r) + least_along(c * wb - d * wa, half - spread, r)
    return g - w[0] * n[0] - w[1] * n[1] - w[2] * n[2] + least >= 0.0


@kernel
def nearly_proven(body, p, q, n, g, tolerance):
    """proven_radius, and by how much g can be greater elsewhere if that is infinite.

    Ties, as of the points of a circle, hold to round-off only: the comparison is repeated for a depth that is less by
    t. What it proves is about centres that are t further apart, which may move the gap by t once more.
    """
    if g >= 0.0:
        return np.inf, 0.0
    radius = proven_radius(body, p, q, n, -g)
    if radius == np.inf:
        return radius, 0.0
    less = 0.5 * tolerance - 4.0 * UNSURE * (body[p, col.LONGEST] ** 2 + body[q, col.LONGEST] ** 2) / g
    if proven_radius(body, p, q, n, max(-g - less, 0.0)) == np.inf:
        return np.inf, 2.0 * less
    return radius, 0.0


@kernel
def on_cube(face, sign, u, v):
    """The point (u, v) of a face of the cube of half-edge 1."""
    return (sign, u, v) if face == 0.0 else ((v, sign, u) if face == 1.0 else (u, v, sign))


@kernel
def search(body, p, q, d, n, size, tolerance, stack):
    """n of the greatest g of all, from that of a local one; g; by how much g can be greater elsewhere, at the most.

    Cells are squares on the faces of a cube about the origin. g is concave, so in all of space g(m) <= m . w with w
    its gradient in the middle of the cell, and m . w - (g(n) + tolerance) |m| is convex while the bodies overlap:
    it is nowhere positive in the cell if it is not at the four corners. Of m and -m only that along d can win.
    """
    n, g = ascend(body, p, q, d, n, size, np.inf)
    if g != g:
        return n, g, np.inf
    radius, proven = nearly_proven(body, p, q, n, g, tolerance)
    top = 0
    if radius < np.inf:
        for face in range(3):
            for octant in range(8):
                cell = stack[top]
                cell[FACE], cell[SIGN], cell[HALF] = face, 1.0 - 2.0 * (octant & 1), 0.5
                cell[U], cell[V] = 0.5 - ((octant >> 1) & 1), 0.5 - (octant >> 2)
                top += 1
    cells = 0
    while top > 0:
        top -= 1
        cells += 1
        if cells % MOST_CELLS == 0:
            tolerance *= 10.0
        cell = stack[top]
        face, sign, u, v, half = cell[FACE], cell[SIGN], cell[U], cell[V], cell[HALF]
        middle = on_cube(face, sign, u, v)
        w, here, on_p, _, on_q, _ = slab(body, p, q, d, middle)
        far = length(middle)
        m = over(middle, far)
        if here > (g + 1e-12 * size) * far:
            other, found = ascend(body, p, q, d, m, size, np.inf)
            if found > g:
                n, g = other, found
                radius, proven = nearly_proven(body, p, q, n, g, tolerance)
                if radius == np.inf:
                    return n, g, proven
        best = g + tolerance
        is_done, is_near, is_ahead, least = True, True, False, 1.0
        for corner in range(4):
            cu, cv = u + half * (1.0 - 2.0 * (corner & 1)), v + half * (1.0 - (corner & 2))
            c, far2 = on_cube(face, sign, cu, cv), 1.0 + cu * cu + cv * cv
            bound, along = dot(c, w), dot(c, n)
            if bound * abs(bound) > best * abs(best) * far2:
                is_done = False
            if along <= 0.0 or far2 > (1.0 + radius * radius) * along * along:
                is_near = False
            if dot(c, d) >= 0.0:
                is_ahead = True
            least = min(least, dot(c, m) / np.sqrt(far2))
        if is_done or is_near or not is_ahead or half <= 1e-9:
            continue
        r = np.sqrt(1.0 / (least * least) - 1.0)
        if best >= 0.0 or not is_nowhere_above(body, p, q, w, on_p, on_q, m, r, best):
            for corner in range(4):
                cell = stack[top]
                cell[FACE], cell[SIGN], cell[HALF] = face, sign, 0.5 * half
                cell[U] = u + 0.5 * half * (1.0 - 2.0 * (corner & 1))
                cell[V] = v + 0.5 * half * (1.0 - (corner & 2))
                top += 1
    return n, g, tolerance if cells > 0 else proven

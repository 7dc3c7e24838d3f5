"""Coulomb's law at one contact in space: its solution, exactly, and how far impulses and speeds are from it.

A contact has the impulse p = (p_n, p_1, p_2) >= 0 along its normal and speeds u = W p + q, N s and m/s:

    0 <= p_n  perp  u_n >= 0,      p_t in p_n mu D,  and of D the point that does the most work against the slip u_t.

D is the unit disc (Coulomb's cone), or the polygon with the corners `edges` (2 l, 2), so that 2 l edges make the cone a
pyramid (Anitescu & Potra 1997, Nonlinear Dynamics 14).  No edges: the disc.
"""

import numpy as np

from reference_engine.compiler.kernels import kernel

NEWTON = 60  # rounds for a slip's root; three or four are needed
CLOSE = 1e-12


@kernel
def disc_slip(nn, n1, n2, s11, s12, s22, qn, c1, c2, mu, slip, fine):
    """p of a contact that slips, and `slip` > 0 with u_t = -slip p_t: (S + slip) p_t = c, |p_t| = mu p_n.

    mu p_n / |p_t| - 1 rises nearly as a straight line from below 0 to above: Newton's method in a bracket, until
    |p_t| is right to CLOSE, or to what changes a speed by `fine`, m/s.
    """
    low, high = 0.0, np.inf
    scale = s11 + s22
    if not slip > 0.0:
        slip = scale
    p_n, p_1, p_2 = 0.0, 0.0, 0.0
    for _ in range(NEWTON):
        a, b = s11 + slip, s22 + slip
        over = 1.0 / (a * b - s12 * s12)
        p_1, p_2 = (b * c1 - s12 * c2) * over, (a * c2 - s12 * c1) * over
        p_n = -(qn + n1 * p_1 + n2 * p_2) / nn
        length = np.sqrt(p_1 * p_1 + p_2 * p_2)
        if length == 0.0:
            break
        excess = mu * p_n / length - 1.0
        if abs(excess) <= CLOSE or abs(excess) * length * scale <= fine:
            break
        if excess < 0.0:
            low = slip
        else:
            high = slip
        d_1, d_2 = -(b * p_1 - s12 * p_2) * over, -(a * p_2 - s12 * p_1) * over
        d_length = (p_1 * d_1 + p_2 * d_2) / length
        d_n = -(n1 * d_1 + n2 * d_2) / nn
        rise = mu * (d_n - p_n * d_length / length) / length
        following = slip - excess / rise
        if not low < following < high:
            following = 0.5 * (low + high) if high < np.inf else 4.0 * max(slip, scale * 1e-3)
        if abs(following - slip) <= CLOSE * slip:
            break
        slip = following
    return p_n, p_1, p_2, slip


@kernel
def polygon_slip(nn, n1, n2, s11, s12, s22, qn, q1, q2, mu, first, edges):
    """p of a contact that slips: at a corner of the polygon, or at an edge with the slip across it; the fittest.

    Tried from number `first` on; returns the number too.
    """
    count = edges.shape[0]
    t11, t12, t22 = s11 + n1 * n1 / nn, s12 + n1 * n2 / nn, s22 + n2 * n2 / nn
    best, p_n, p_1, p_2, number = np.inf, 0.0, 0.0, 0.0, 0
    for offset in range(2 * count):
        j = (first + offset) % (2 * count)
        x, y = edges[j // 2, 0], edges[j // 2, 1]
        following = (j // 2 + 1) % count
        other_x, other_y = edges[following, 0], edges[following, 1]
        if j % 2 == 0:
            below = nn + mu * (n1 * x + n2 * y)
            if below <= 0.0:
                continue
            a_n = -qn / below
            a_1, a_2 = mu * a_n * x, mu * a_n * y
            u_1 = q1 + n1 * a_n + t11 * a_1 + t12 * a_2
            u_2 = q2 + n2 * a_n + t12 * a_1 + t22 * a_2
            before = (j // 2 + count - 1) % count
            here = u_1 * x + u_2 * y
            wrong = max(here - u_1 * other_x - u_2 * other_y, here - u_1 * edges[before, 0] - u_2 * edges[before, 1])
        else:
            # Out of the edge e = mu (corner + corner) / 2, along it f = (corner - corner) / 2, p_t = p_n e + a f
            e_x, e_y = 0.5 * mu * (x + other_x), 0.5 * mu * (y + other_y)
            f_x, f_y = 0.5 * (other_x - x), 0.5 * (other_y - y)
            ne, nf = nn + n1 * e_x + n2 * e_y, n1 * f_x + n2 * f_y
            fe = nf + (t11 * e_x + t12 * e_y) * f_x + (t12 * e_x + t22 * e_y) * f_y
            ff = (t11 * f_x + t12 * f_y) * f_x + (t12 * f_x + t22 * f_y) * f_y
            qf = q1 * f_x + q2 * f_y
            inner = ne * ff - nf * fe
            if inner <= 0.0:
                continue
            a_n, along = (nf * qf - ff * qn) / inner, (fe * qn - ne * qf) / inner
            a_1, a_2 = a_n * e_x + along * f_x, a_n * e_y + along * f_y
            u_1 = q1 + n1 * a_n + t11 * a_1 + t12 * a_2
            u_2 = q2 + n2 * a_n + t12 * a_1 + t22 * a_2
            wrong = max((abs(along) - mu * a_n) * ff, (u_1 * e_x + u_2 * e_y) / mu)
        if a_n >= 0.0 and wrong < best:
            best, p_n, p_1, p_2, number = wrong, a_n, a_1, a_2, j
            if wrong <= 0.0:
                break
    return p_n, p_1, p_2, number


@kernel
def in_polygon(x, y, radius, edges):
    """The nearest point of radius times the polygon."""
    count, best, at = edges.shape[0], -np.inf, 0
    for j in range(count):
        following = (j + 1) % count
        out = x * (edges[j, 0] + edges[following, 0]) + y * (edges[j, 1] + edges[following, 1])
        if out > best:
            best, at = out, j
    following = (at + 1) % count
    e_x, e_y = 0.5 * (edges[at, 0] + edges[following, 0]), 0.5 * (edges[at, 1] + edges[following, 1])
    f_x, f_y = 0.5 * (edges[following, 0] - edges[at, 0]), 0.5 * (edges[following, 1] - edges[at, 1])
    if x * e_x + y * e_y <= radius * (e_x * e_x + e_y * e_y):
        return x, y
    along = (x * f_x + y * f_y) / (f_x * f_x + f_y * f_y)
    along = max(-radius, min(radius, along))
    return radius * e_x + along * f_x, radius * e_y + along * f_y


@kernel
def in_friction(x, y, radius, edges):
    """The nearest point of radius D."""
    if edges.shape[0] > 0:
        return in_polygon(x, y, radius, edges)
    length = np.sqrt(x * x + y * y)
    if length <= radius:
        return x, y
    return x * radius / length, y * radius / length


@kernel
def solve_contact(nn, n1, n2, s11, s12, s22, qn, q1, q2, mu, slip, edges, fine):
    """(p_n, p_1, p_2, slip) of Coulomb's law. W: its normal row, S = W_tt - W_tn W_nt / W_nn; slip: where to start.

    Open if nothing approaches; else sticking if that is within the cone; else slipping.
    """
    if qn >= 0.0:
        return 0.0, 0.0, 0.0, slip
    if mu == 0.0:
        return -qn / nn, 0.0, 0.0, slip
    c1, c2 = n1 * qn / nn - q1, n2 * qn / nn - q2
    over = 1.0 / (s11 * s22 - s12 * s12)
    p_1, p_2 = (s22 * c1 - s12 * c2) * over, (s11 * c2 - s12 * c1) * over
    p_n = -(qn + n1 * p_1 + n2 * p_2) / nn
    if p_n >= 0.0:
        in_1, in_2 = in_friction(p_1, p_2, mu * p_n, edges)
        if in_1 == p_1 and in_2 == p_2:
            return p_n, p_1, p_2, slip
    if edges.shape[0] > 0:
        p_n, p_1, p_2, number = polygon_slip(nn, n1, n2, s11, s12, s22, qn, q1, q2, mu, int(slip), edges)
        return p_n, p_1, p_2, float(number)
    return disc_slip(nn, n1, n2, s11, s12, s22, qn, c1, c2, mu, slip, fine)


@kernel
def off_law(p_n, p_1, p_2, u_n, u_1, u_2, weight, mu, edges):
    """By how much p and u miss the law, m/s: the natural map of both parts, times `weight` = W's size.

    p_n - max(0, p_n - u_n / weight) and p_t - (nearest to p_t - u_t / weight in mu p_n D).
    """
    missed = min(p_n * weight, u_n)
    x, y = in_friction(p_1 - u_1 / weight, p_2 - u_2 / weight, mu * max(0.0, p_n), edges)
    aside = weight * np.sqrt((p_1 - x) ** 2 + (p_2 - y) ** 2)
    return max(abs(missed), aside)

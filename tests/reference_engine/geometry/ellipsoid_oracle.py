"""The independent oracle of ellipsoid gaps: whole arrays of pairs at once, in any precision, by its own formulas.

A pair is (a, R, d): semi-axes (N, 2, 3), rotations (N, 2, 3, 3), centre 2 minus centre 1 (N, 3).
"""

from __future__ import annotations

import numpy as np

LONG = np.longdouble
IS_SHARPER = np.finfo(LONG).eps < 1e-18  # else a long double is a double here


def rotation(q, dtype=LONG):
    """(..., 3, 3) of quaternions w x y z: v + 2 w (u x v) + 2 u x (u x v), over |q|^2."""
    q = np.asarray(q, dtype)
    w, u = q[..., 0, None, None], q[..., 1:]
    cross = np.zeros((*q.shape[:-1], 3, 3), dtype)
    cross[..., 0, 1], cross[..., 0, 2], cross[..., 1, 2] = -u[..., 2], u[..., 1], -u[..., 0]
    cross -= np.swapaxes(cross, -1, -2)
    twice = 2 / (q * q).sum(axis=-1)[..., None, None]
    return np.eye(3, dtype=dtype) + twice * (w * cross + cross @ cross)


def pair(semi_axes, position, orientation, dtype=LONG):
    """Bodies 2 k and 2 k + 1, in the precision asked for."""
    a, r = np.asarray(semi_axes, dtype).reshape(-1, 2, 3), np.asarray(position, dtype).reshape(-1, 2, 3)
    return a, rotation(orientation, dtype).reshape(-1, 2, 3, 3), r[:, 1] - r[:, 0]


def support(a, R, n):
    """h (N,) and the furthest point (N, 3) along n of one body each, from its centre."""
    own = np.einsum("nji,nj->ni", R, n) * a
    h = np.sqrt((own * own).sum(axis=1))
    return h, np.einsum("nij,nj->ni", R, own * a) / h[:, None]


def slab(pairs, n):
    """How wide a slab across n parts each pair (negative: what they share), and p_2 - p_1 of the surface points."""
    a, R, d = pairs
    h, p = support(a[:, 0], R[:, 0], n)
    k, q = support(a[:, 1], R[:, 1], n)
    return (n * d).sum(axis=1) - h - k, d - q - p


def unit(x):
    return x / np.sqrt((x * x).sum(axis=-1))[..., None]


def across(n):
    """Two unit vectors across each n."""
    least = np.argmin(np.abs(n), axis=1)
    u = unit(np.cross(n, np.eye(3, dtype=n.dtype)[least]))
    return u, np.cross(n, u)


def climb(pairs, n, rounds=60):
    """A local maximum of the slab's width near n; each row on its own."""
    a, R, _ = pairs
    M = np.einsum("nkij,nkj,nklj->nkil", R, a * a, R)
    n = unit(n)
    width, w = slab(pairs, n)
    slack = 8 * np.finfo(n.dtype).eps * a.sum(axis=(1, 2))  # widths are not told apart below
    for _ in range(rounds):
        u, v = across(n)
        gradient = np.stack([(w * u).sum(axis=1), (w * v).sum(axis=1)], axis=1)
        bend = np.zeros((len(n), 2, 2), n.dtype)
        for k in range(2):
            h, p = support(a[:, k], R[:, k], n)
            for i, s in enumerate((u, v)):
                for j, t in enumerate((u, v)):
                    st = np.einsum("ni,nij,nj->n", s, M[:, k], t)
                    bend[:, i, j] += (st - (p * s).sum(axis=1) * (p * t).sum(axis=1)) / h
        A, B, C = bend[:, 0, 0] + width, bend[:, 0, 1], bend[:, 1, 1] + width
        # uphill whatever the signs: both eigenvalues by their size
        middle, spread = (A + C) / 2, np.sqrt((A - C) ** 2 / 4 + B * B)
        shift = np.maximum(np.abs(middle - spread), 1e-12 * (np.abs(middle) + spread)) - (middle - spread)
        shift = np.where(middle - spread > 0, 0, shift)
        A, C = A + shift, C + shift
        step = np.stack(
            [C * gradient[:, 0] - B * gradient[:, 1], A * gradient[:, 1] - B * gradient[:, 0]], axis=1
        ) / (A * C - B * B)[:, None]  # fmt: skip
        step /= np.maximum(1, np.sqrt((step * step).sum(axis=1)))[:, None]
        if np.abs(step).max() <= 4 * np.finfo(n.dtype).eps:
            break
        for _ in range(12):
            tried = unit(n + step[:, :1] * u + step[:, 1:] * v)
            wider, there = slab(pairs, tried)
            is_up = wider >= width - slack
            n, w = np.where(is_up[:, None], tried, n), np.where(is_up[:, None], there, w)
            width = np.where(is_up, wider, width)
            if is_up.all():
                break
            step = np.where(is_up[:, None], 0, step / 2)
    return n, width


def distance(pairs, n, rounds=12):
    """Of pairs apart: a width that no distance is below, a length of p_1 p_2 that none is above; from near n."""
    n, width = climb(pairs, np.asarray(n, pairs[2].dtype), rounds)
    _, w = slab(pairs, n)
    return width, np.sqrt((w * w).sum(axis=1))


def sphere_points(count):
    """A Fibonacci lattice of unit vectors."""
    k = np.arange(count) + 0.5
    z, turn = 1 - 2 * k / count, np.pi * (1 + np.sqrt(5)) * k
    r = np.sqrt(1 - z * z)
    return np.stack([r * np.cos(turn), r * np.sin(turn), z], axis=1)


def widest(pairs, rng, lattice=200, climbers=8, rounds=60):
    """The greatest width found by many starts: all axes both ways, the best of a lattice, and around the best again."""
    a, R, d = (np.asarray(x, float) for x in pairs)
    count = len(a)
    axes = np.concatenate([R[:, 0], R[:, 1]], axis=2).transpose(0, 2, 1)
    points = sphere_points(lattice)
    height = np.array([slab((a, R, d), np.broadcast_to(n, (count, 3)))[0] for n in points]).T
    best = points[np.argsort(-height, axis=1)[:, :climbers]]
    starts = np.concatenate([axes, -axes, best], axis=1)
    for _ in range(2):
        each = starts.shape[1]
        many = tuple(np.repeat(x, each, axis=0) for x in (a, R, d))
        n, width = climb(many, unit(starts.reshape(-1, 3)), rounds)
        width = width.reshape(count, each)
        top = np.argmax(width, axis=1)
        n = n.reshape(count, each, 3)[np.arange(count), top]
        starts = n[:, None] + rng.normal(size=(count, 6, 3)) * np.array([0.0, 0.01, 0.03, 0.1, 0.3, 1.0])[:, None]
    return n, width.max(axis=1)


def rolled_balls(pairs, rounds=20_000):
    """Unit normals (N, 3) of pairs that are apart, by the ball method of Lin & Han 2002 (SIAM J. Optim. 13, 298).

    At a point of each surface sits the largest ball of one size for all points that stays inside. The line between the
    two balls' centres leaves the first body and enters the second at two new points; where the line is along both
    normals, these are the nearest. The error shrinks by 1 - (shortest / longest axis)^2 a round.
    """
    a, R, d = pairs
    centre = [np.zeros_like(d), np.zeros_like(d)]
    for _ in range(rounds):
        line, worst = d + centre[1] - centre[0], 0.0
        for k, sign in enumerate((1.0, -1.0)):
            u, v = (np.einsum("nji,nj->ni", R[:, k], x) / a[:, k] for x in (centre[k], sign * line))
            vv, uv, uu = (v * v).sum(axis=1), (u * v).sum(axis=1), (u * u).sum(axis=1)
            u = u + ((np.sqrt(uv * uv + vv * (1.0 - uu)) - uv) / vv)[:, None] * v  # where the line meets the surface
            normal = unit(np.einsum("nij,nj->ni", R[:, k], u / a[:, k]))
            worst = max(worst, np.linalg.norm(np.cross(normal, unit(line)), axis=1).max())
            least = a[:, k].min(axis=1, keepdims=True)
            centre[k] = np.einsum("nij,nj->ni", R[:, k], (a[:, k] - least**2 / a[:, k]) * u)
        if worst < 1e-10:
            break
    return unit(line)

"""Random pairs of ellipsoids whose gap along a chosen normal is known."""

from __future__ import annotations

import numpy as np

from tests.reference_engine.geometry.ellipsoid_oracle import pair, support


def random_bodies(rng, count, aspect):
    """Semi-axes (2 count, 3), the logarithms uniform between 1 / aspect and 1; quaternions of random length."""
    return np.exp(rng.uniform(-np.log(aspect), 0.0, (2 * count, 3))), rng.normal(size=(2 * count, 4))


def facing(rng, semi_axes, orientation, gap):
    """Positions such that bodies 2 k and 2 k + 1 face one another along a random n at this gap.

    At least 0: that is their distance. Below: the slab across n, which the depth does not exceed.
    """
    count = len(semi_axes) // 2
    n = rng.normal(size=(count, 3))
    n /= np.linalg.norm(n, axis=1)[:, None]
    a, R, _ = pair(semi_axes, np.zeros((2 * count, 3)), orientation, float)
    p, q = support(a[:, 0], R[:, 0], n)[1], support(a[:, 1], R[:, 1], n)[1]
    position = np.zeros((2 * count, 3))
    position[::2] = rng.uniform(-1.0, 1.0, (count, 3))
    position[1::2] = position[::2] + p + q + np.asarray(gap)[:, None] * n
    return position, n


def twos(count):
    return np.arange(2 * count).reshape(-1, 2)

"""Torque-free motion of a rigid body to round-off: Euler's equations and the quaternion's, by Taylor series.

Body axes are principal, p q r the angular velocity in them, (w, x, y, z) the attitude, body to world:
    I1 p' = (I2 - I3) q r      w' = -(x p + y q + z r) / 2      y' = (w q + z p - x r) / 2
    I2 q' = (I3 - I1) r p      x' =  (w p + y r - z q) / 2      z' = (w r + x q - y p) / 2
    I3 r' = (I1 - I2) p q
All terms are products of two unknowns, so their Taylor coefficients follow from one another by Cauchy products.
Sources: Euler's equations (Goldstein, Classical Mechanics, ch. 5); recurrences as in Moore 1966, Interval Analysis.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from reference_engine.dense import mul, norm

Array = NDArray[np.float64]

ORDER = 20
TURN = 0.25
"""rad, of a step at the greatest angular velocity that the angular momentum allows: remainder far below round-off."""


def attitude(inertia: tuple[float, float, float], spin: tuple[float, float, float], time: Array) -> tuple[Array, Array]:
    """Attitude (S, 4), w-x-y-z, and angular velocity in body axes (S, 3) at `time` (S,) >= 0.

    Started at time 0 with the body axes along the world's and angular velocity `spin`. Rounding apart exact: 1e-13
    over some ten seconds at a few rad/s.
    """
    time = np.asarray(time, dtype=np.float64)
    if not np.any(spin):
        return np.tile((1.0, 0.0, 0.0, 0.0), (len(time), 1)), np.zeros((len(time), 3))
    step, series = _taylor(inertia, spin, float(np.max(time, initial=0.0)))
    i = np.clip((time // step).astype(int), 0, len(series) - 1)
    s = time - i * step
    state = np.zeros((len(time), 7))
    for k in range(ORDER, -1, -1):
        state = state * s[:, None] + series[i, :, k]
    return state[:, 3:], state[:, :3]


@lru_cache(maxsize=16)
def _taylor(inertia: tuple[float, float, float], spin: tuple[float, float, float], end: float) -> tuple[float, Array]:
    """Step (s) and coefficients (N, 7, ORDER + 1) of p q r w x y z about the beginning of each step."""
    greatest = float(norm(np.array(inertia) * np.array(spin))) / min(inertia)
    step = TURN / greatest
    I1, I2, I3 = inertia
    state = np.array([*spin, 1.0, 0.0, 0.0, 0.0])
    powers = np.cumprod(np.append(1.0, np.full(ORDER, step)))
    series = np.empty((math.floor(end / step) + 1, 7, ORDER + 1))
    for c in series:
        c[:, 0] = state
        p, q, r, w, x, y, z = c
        for k in range(ORDER):
            head, tail = slice(0, k + 1), slice(k, None, -1)
            P, Q, R = p[tail], q[tail], r[tail]
            n = k + 1
            half = 0.5 / n
            p[n] = (I2 - I3) / I1 * (mul(q[head], R)) / n
            q[n] = (I3 - I1) / I2 * (mul(r[head], P)) / n
            r[n] = (I1 - I2) / I3 * (mul(p[head], Q)) / n
            w[n] = -half * (mul(x[head], P) + mul(y[head], Q) + mul(z[head], R))
            x[n] = half * (mul(w[head], P) + mul(y[head], R) - mul(z[head], Q))
            y[n] = half * (mul(w[head], Q) + mul(z[head], P) - mul(x[head], R))
            z[n] = half * (mul(w[head], R) + mul(x[head], Q) - mul(y[head], P))
        state = mul(c, powers)
    return step, series

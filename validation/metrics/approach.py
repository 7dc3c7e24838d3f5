"""How fast near points approach: the rate of every gap."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from validation.metrics.axes import cross
from validation.metrics.observation import Array, Observation, shared
from validation.metrics.proximity import proximities


class Rates(NamedTuple):
    """(K,) m/s each, for the rows of `proximities`: normal velocity of b against a, negative in approach.

    All three at the same two material points, normal and lever arms, those of the row's sample: so in free flight they
    differ by gravity alone, and an impulse changes them as it changes the gap. NaN beyond the ends of the record.
    """

    before: Array  # with the velocities of the sample before
    now: Array
    after: Array  # with those of the sample after


@njit(cache=True)
def gap_rates(sample, a, b, normal, moment_a, moment_b, velocity, spin, rate_out):
    """rate = n . (v_b - v_a) + m_b . w_b - m_a . w_a,  m = (point - centre) x n     [m/s]

    Terms: normal (K, D), moment (K, M) with M = 1 in the plane, 3 in space; velocity (S, B, D), spin (S, B, M) of the
    bodies; an index of B or more is a boundary and stands still.  rate_out (K, 3): samples before, now, after.
    """
    samples, bodies = velocity.shape[0], velocity.shape[1]
    for row in range(sample.shape[0]):
        for offset in range(3):
            k = sample[row] + offset - 1
            if k < 0 or k >= samples:
                rate_out[row, offset] = np.nan
                continue
            rate = 0.0
            if b[row] < bodies:
                for i in range(normal.shape[1]):
                    rate += normal[row, i] * velocity[k, b[row], i]
                for i in range(moment_b.shape[1]):
                    rate += moment_b[row, i] * spin[k, b[row], i]
            if a[row] < bodies:
                for i in range(normal.shape[1]):
                    rate -= normal[row, i] * velocity[k, a[row], i]
                for i in range(moment_a.shape[1]):
                    rate -= moment_a[row, i] * spin[k, a[row], i]
            rate_out[row, offset] = rate


@shared
def rates(o: Observation) -> Rates:
    """Of every row of `proximities`, with the velocities as recorded."""
    near = proximities(o)
    rate = np.empty((len(near), 3))
    velocity = np.ascontiguousarray(o.trajectory.velocity)
    spin = np.ascontiguousarray(o.trajectory.spin.reshape(*velocity.shape[:2], -1))
    moments = (moment(o, near.a, near.point_a), moment(o, near.b, near.point_b))
    gap_rates(near.sample, near.a, near.b, near.normal, *moments, velocity, spin, rate)
    return Rates(rate[:, 0], rate[:, 1], rate[:, 2])


def moment(o: Observation, body: NDArray[np.int64], point: Array) -> Array:
    """(K, 1 or 3) m: (point - centre of mass) x normal; of a boundary, which never turns, any."""
    near, bodies = proximities(o), len(o.scene.bodies)
    arm = point - o.trajectory.position[near.sample, np.minimum(body, bodies - 1)]
    if o.is_planar:
        return (arm[:, 0] * near.normal[:, 1] - arm[:, 1] * near.normal[:, 0])[:, None]
    return cross(arm, near.normal)

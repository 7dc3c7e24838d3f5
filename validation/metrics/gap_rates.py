"""The kernel of `proximity.rates`, apart from it: who only looks up what metrics are needs no compiler."""

import numpy as np

from reference_engine.compiler.kernels import entry


@entry
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

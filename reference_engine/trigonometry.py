"""Sine and cosine to the last bit as the original's runs had them.

JavaScript leaves the last bit open. The recorded runs come from an interpreter that evaluates the polynomials of
fdlibm (K. C. Ng, Sun Microsystems 1993), whose results are within 1 ulp; C libraries differ from it in one of thirty
arguments. In a heap that collides often one bit is another heap.

sin r = r + r^3 S(r^2), cos r = 1 - r^2 / 2 + r^4 C(r^2) for |r| <= pi / 4; r is the rest of x after n quarter turns,
kept as head + tail with pi / 2 split into pieces of 33 bits (Cody and Waite).
"""

import math

import numpy as np

from reference_engine.compiler.kernels import entry, kernel
from reference_engine.elementary_kernels import cosine_and_sine

S = (-1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
     2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10)  # fmt: skip
C = (4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
     -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11)  # fmt: skip
S1, S2, S3, S4, S5, S6 = S
C1, C2, C3, C4, C5, C6 = C
TWO_OVER_PI = 6.36619772367581382433e-01
HEADS = 1.57079632673412561417e00, 6.07710050630396597660e-11, 2.02226624871116645580e-21  # 33 bits each of pi / 2
TAILS = 6.07710050650619224932e-11, 2.02226624879595063154e-21, 8.47842766036889956997e-32  # what is left after each
HEAD_1, HEAD_2, HEAD_3 = HEADS
TAIL_1, TAIL_2, TAIL_3 = TAILS


def upper_half(x: float, more: int = 0) -> float:
    """x with the lower 32 of its 64 bits 0; `more` units of the upper half added. Thresholds compare upper halves."""
    bits = np.array([x]).view(np.int64)[0]
    return float(np.array([((bits >> 32) + more) << 32]).view(np.float64)[0])


EIGHTH = upper_half(math.pi / 4.0, 1)  # below: no turn to take off
THREE_EIGHTHS = upper_half(3.0 * math.pi / 4.0)  # below: one
MANY = upper_half(2.0**19 * math.pi / 2.0, 1)  # rad; beyond, of fewer digits
QUARTERS = np.array([upper_half(n * math.pi / 2.0) for n in range(1, 32)])  # close to one of these, the rest is small
QUARTERS_END = np.array([upper_half(n * math.pi / 2.0, 1) for n in range(1, 32)])
TINY = 2.0**-27
FLAT, STEEP = upper_half(0.3), upper_half(0.78125, 1)  # of the cosine: see `cosine_of`


@kernel
def rest_of(x):
    """x less n quarter turns: (n, head, tail)."""
    size = abs(x)
    if size < EIGHTH:
        return 0, x, 0.0
    once = size < THREE_EIGHTHS
    n = 1 if once else int(size * TWO_OVER_PI + 0.5)
    r, w = size - n * HEAD_1, n * TAIL_1
    near = n >= 32 or QUARTERS[n - 1] <= size < QUARTERS_END[n - 1]
    head = r - w
    if near and (once or lost_bits(size, head) > 16):
        t, w = r, n * HEAD_2
        r = t - w
        w = n * TAIL_2 - ((t - r) - w)
        head = r - w
        if not once and lost_bits(size, head) > 49:
            t, w = r, n * HEAD_3
            r = t - w
            w = n * TAIL_3 - ((t - r) - w)
            head = r - w
    tail = (r - head) - w
    return (n, head, tail) if x > 0.0 else (-n, -head, -tail)


@kernel
def lost_bits(x, rest):
    """By how many powers of two the rest is smaller."""
    return 2000 if rest == 0.0 else math.frexp(x)[1] - math.frexp(rest)[1]


@kernel
def sine_of(x, tail):
    if abs(x) < TINY:
        return x
    z = x * x
    v = z * x
    r = S2 + z * (S3 + z * (S4 + z * (S5 + z * S6)))
    if tail == 0.0:
        return x + v * (S1 + z * r)
    return x - ((z * (0.5 * tail - v * r) - tail) - v * S1)


@kernel
def cosine_of(x, tail):
    """1 - r^2 / 2 loses no bit if a quarter of r is taken off both parts first."""
    size = abs(x)
    if size < TINY:
        return 1.0
    z = x * x
    r = z * (C1 + z * (C2 + z * (C3 + z * (C4 + z * (C5 + z * C6)))))
    if size < FLAT:
        return 1.0 - (0.5 * z - (z * r - x * tail))
    offset = 0.28125
    if size < STEEP:
        mantissa, exponent = math.frexp(size)
        offset = math.ldexp(math.floor(mantissa * 2.0**21) * 2.0**-21, exponent - 2)
    return (1.0 - offset) - ((0.5 * z - offset) - (z * r - x * tail))


@entry
def sine_and_cosine(x):
    size = abs(x)
    if not size < MANY:
        c, s = cosine_and_sine(x)
        return s, c
    n, head, tail = rest_of(x)
    s, c = sine_of(head, tail), cosine_of(head, tail)
    turns = n & 3
    if turns == 0:
        return s, c
    if turns == 1:
        return c, -s
    if turns == 2:
        return -s, -c
    return -c, s

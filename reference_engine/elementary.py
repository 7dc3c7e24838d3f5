"""Sine, arc tangent, exponential, logarithm and what follows from them, with the same bits on every processor.

A C library takes other code for a processor with fused multiply-add, and numpy other code again: their last digits
move. Here each function is a sum of products in one order, of double numbers as IEEE 754 has them. Errors: 0.51 units
in the last place for sine, cosine and exponential, less than 1 for the others, 2 for tangent, arc sine and arc cosine.

The method is that of Tang 1989 (ACM Trans. Math. Softw. 15) and Gal & Bachelis 1991 (ibid. 17): the argument is taken
off to the nearest entry of a table, which is known to twice the digits, and a short Taylor series does the rest. The
tables are computed from integers of 200 bits when this module is imported.

All take numbers or arrays and give floats or arrays. `sine_cosine_of` and `angle_of` are also compiled, as they stand:
`elementary_kernels.py`. Where that is loaded, sines and cosines are computed by it.
"""

import math
from typing import Any

import numpy as np

BITS = 200  # of the fixed-point integers behind the tables
ONE = 1 << BITS


def _arc_tangent_of_inverse(n: int) -> int:
    """arctan(1 / n) in units of 2^-200, by its series."""
    term = ONE // n
    total, k = term, 1
    while term:
        term //= -n * n
        k += 2
        total += term // k
    return total


PI = 16 * _arc_tangent_of_inverse(5) - 4 * _arc_tangent_of_inverse(239)  # Machin 1706


def _exponential(x: int) -> int:
    total = term = ONE
    k = 0
    while term:
        k += 1
        term = term * x // (k << BITS)
        total += term
    return total


def _logarithm(p: int, q: int) -> int:
    """Of p / q, as 2 artanh((p - q) / (p + q))."""
    power = ONE * (p - q) // (p + q)
    total, k = power, 1
    while abs(power) > 1:
        power = power * (p - q) ** 2 // (p + q) ** 2
        k += 2
        total += power // k
    return 2 * total


def _arc_tangent(p: int, q: int) -> int:
    """Of p / q from 0 to 1, by Euler's series: sum of 2^2n (n!)^2 / (2n + 1)! t^2n+1 / (1 + t^2)^n+1."""
    term = ONE * p * q // (p * p + q * q)
    total, n = term, 0
    while term:
        n += 1
        term = term * 2 * n * p * p // ((2 * n + 1) * (p * p + q * q))
        total += term
    return total


def _head_and_tail(values: list[int]) -> tuple[np.ndarray, np.ndarray]:
    heads = [value / ONE for value in values]  # the nearest double: Python divides integers so
    tails = []
    for value, head in zip(values, heads):
        numerator, denominator = head.as_integer_ratio()
        tails.append((value - numerator * ONE // denominator) / ONE)
    return np.array(heads), np.array(tails)


def _pieces(value: int, *bits: int) -> tuple[float, ...]:
    """Floats that sum up to value: each of so many bits, and the rest."""
    found = []
    for count in bits:
        unit = 1 << (value.bit_length() - count)
        piece = value // unit * unit
        found.append(piece / ONE)
        value -= piece
    return *found, value / ONE


ARCS = 128  # of the table's turn
QUARTER = ARCS // 4
ARC_1, ARC_2, ARC_3, ARC_4 = _pieces(2 * PI // ARCS, 28, 28, 28)
ARCS_PER_RADIAN = ARCS / (2.0 * math.pi)
MANY_TURNS = 2.0**25 * ARC_1  # rad: up to here, the number of arcs times a piece is exact
(TURN,), (TURN_TAIL,) = (found.tolist() for found in _head_and_tail([2 * PI]))


def _sines() -> list[int]:
    """sin(2 pi k / ARCS), by turning (1, 0) on and on."""
    angle = 2 * PI // ARCS
    terms, k = [ONE], 0
    while terms[-1]:
        k += 1
        terms.append(terms[-1] * angle // (k << BITS))
    c = sum(term * (-1) ** (k // 2) for k, term in enumerate(terms) if k % 2 == 0)
    s = sum(term * (-1) ** (k // 2) for k, term in enumerate(terms) if k % 2 == 1)
    x, y, found = ONE, 0, []
    for k in range(ARCS):
        if k % QUARTER == 0:
            x, y = ((ONE, 0), (0, ONE), (-ONE, 0), (0, -ONE))[k // QUARTER]
        found.append(y)
        x, y = (x * c - y * s) >> BITS, (x * s + y * c) >> BITS
    return found


SINE, SINE_TAIL = _head_and_tail(_sines())
SINE_SHORT = np.rint(SINE * 2.0**26) * 2.0**-26  # times a number of 27 bits is exact
GRID = 1.5 * 2.0**20  # added and taken off: rounds to multiples of 2^-32

SPLIT = 134217729.0  # Veltkamp 1968: 2^27 + 1; x SPLIT - (x SPLIT - x) is the upper 26 bits of x
PARTS = 64  # of the tables of exp, log and arctan
LN2 = _logarithm(2, 1)
LN2_1, LN2_2 = _pieces(LN2, 33)
PART_1, PART_2 = _pieces(LN2 // PARTS, 32)
PARTS_PER_UNIT = PARTS / math.fsum((LN2_1, LN2_2))
POWER, POWER_TAIL = _head_and_tail([_exponential(LN2 * k // PARTS) for k in range(PARTS)])
LOG, LOG_TAIL = _head_and_tail([_logarithm(k, PARTS) if k > 40 else 0 for k in range(96)])  # of k / PARTS
LEAST = 0.70703125  # 45.25 / PARTS: mantissas lie from here to twice that
ANGLE, ANGLE_TAIL = _head_and_tail([_arc_tangent(min(k, PARTS), PARTS) for k in range(128)])  # of k / PARTS
AROUND, AROUND_TAIL = _head_and_tail([0, PI // 2, PI, PI // 2])  # by 2 (x < 0) + (|y| > |x|): the angle is this +- one
TOWARDS = np.array([1.0, -1.0, -1.0, 1.0])  # below an eighth of a turn


def sine_cosine_of(x: Any) -> Any:
    """(sin x, cos x) of |x| <= MANY_TURNS: x = n 2 pi / ARCS + d + rest, with |d| <= pi / ARCS."""
    n = np.floor(x * ARCS_PER_RADIAN + 0.5)
    a, b = x - n * ARC_1, n * ARC_2  # both exact
    e = a - b
    v = e - a
    rest = (a - (e - v)) - (b + v)
    b = n * ARC_3
    d = e - b
    v = d - e
    rest = rest + (((e - (d - v)) - (b + v)) - n * ARC_4)
    k = np.int64(n) & (ARCS - 1)
    q = (k + QUARTER) & (ARCS - 1)
    short = (d + GRID) - GRID
    z = d * d
    over = (d - short) + (rest + d * z * (-1.0 / 6.0 + z * (1.0 / 120.0 - z / 5040.0)))  # sin d - short
    bent = z * (-0.5 + z * (1.0 / 24.0 + z * (-1.0 / 720.0 + z / 40320.0)))  # cos d - 1
    S, S_short, C, C_short = SINE[k], SINE_SHORT[k], SINE[q], SINE_SHORT[q]
    S_rest, C_rest = (S - S_short) + SINE_TAIL[k], (C - C_short) + SINE_TAIL[q]
    p = C_short * short
    s = S + p
    v = s - S
    sine = s + (((S - (s - v)) + (p - v)) + (SINE_TAIL[k] + (S * bent + (C * over + C_rest * short))))
    p = -S_short * short
    s = C + p
    v = s - C
    cosine = s + (((C - (s - v)) + (p - v)) + (SINE_TAIL[q] + (C * bent - (S * over + S_rest * short))))
    return sine, cosine


def whole_turns_off(x: Any) -> Any:
    """(head, rest) of x less whole turns of 2 pi, their sum to 1e-16 up to 1e15 rad.

    What is left of whole TURNs is exact; n TURN_TAIL more is taken off, since TURN is not 2 pi.
    """
    left = np.fmod(x, TURN)
    more = np.fmod(np.floor((x - left) / TURN + 0.5) * TURN_TAIL, TURN)
    head = left - more
    return head, (left - head) - more


def angle_of(y: Any, x: Any) -> Any:
    """The angle of (x, y) from the x axis, -pi to pi: of the nearest k / PARTS to the ratio, and the rest of it.

    tan(a - b) = (low - t high) / (high + t low) with t = tan b = k / PARTS.
    """
    wide, tall = np.abs(x), np.abs(y)
    low, high = np.minimum(wide, tall), np.maximum(wide, tall)
    high = high + (high == 0.0) * 1.0
    k = np.int64(low / high * PARTS + 0.5) & 127  # of what is not a number, 0
    t = k * (1.0 / PARTS)
    spread = high * SPLIT
    upper = spread - (spread - high)
    r = ((low - t * upper) - t * (high - upper)) / (high + t * low)
    z = r * r
    curved = r * z * (-1.0 / 3.0 + z * (0.2 + z * (-1.0 / 7.0 + z * (1.0 / 9.0 - z / 11.0))))
    way = 2 * np.int64(np.signbit(x)) + np.int64(tall > wide)
    sign = TOWARDS[way]
    a, b = AROUND[way], sign * ANGLE[k]
    s = a + b
    v = s - a
    lost = ((a - (s - v)) + (b - v)) + AROUND_TAIL[way] + sign * (ANGLE_TAIL[k] + curved)
    b = sign * r
    total = s + b
    v = total - s
    return np.copysign(total + (((s - (total - v)) + (b - v)) + lost), y)


def _plain(value: Any) -> Any:
    """A float of what is one number."""
    return value if getattr(value, "ndim", 0) else float(value)


COMPILED: dict[Any, Any] = {}
"""`sine_cosine_of` -> the same, compiled, of the numbers out[0] in (2, N): their cosines in their place, and sines."""


def sine_cosine(x: Any) -> Any:
    """(sin x, cos x): both cost as much as one."""
    sine, cosine = _sine_cosine(x)
    return _plain(sine), _plain(cosine)


def _sine_cosine(x: Any) -> Any:
    evaluate = COMPILED.get(sine_cosine_of)
    if isinstance(x, float) and abs(x) <= MANY_TURNS and evaluate is None:  # the same with less ado
        return sine_cosine_of(x)
    x = np.asarray(x, dtype=np.float64)
    if evaluate is not None and (x.flags.c_contiguous or x.ndim < 2):  # numpy's results have the order of others
        out = np.empty((2, *x.shape))
        out[0] = x
        evaluate(out.reshape(2, -1))
        return out[1], out[0]
    few = np.abs(x) <= MANY_TURNS
    if np.all(few):
        return sine_cosine_of(x)
    with np.errstate(invalid="ignore"):  # of what is infinite
        head, rest = whole_turns_off(x)
        sine, cosine = sine_cosine_of(np.where(few, x, head))
        return np.where(few, sine, sine + rest * cosine), np.where(few, cosine, cosine - rest * sine)


def sin(x: Any) -> Any:
    return _plain(_sine_cosine(x)[0])


def cos(x: Any) -> Any:
    return _plain(_sine_cosine(x)[1])


def tan(x: Any) -> Any:
    s, c = _sine_cosine(x)
    return _plain(s / c)


def atan2(y: Any, x: Any) -> Any:
    if isinstance(x, float) and isinstance(y, float) and x - x == y - y == 0.0:
        return float(angle_of(y, x))
    with np.errstate(invalid="ignore"):
        return _plain(angle_of(np.asarray(y, dtype=np.float64), np.asarray(x, dtype=np.float64)))


def atan(x: Any) -> Any:
    return atan2(x, 1.0)


def asin(x: Any) -> Any:
    x = np.asarray(x, dtype=np.float64)
    return atan2(x, np.sqrt((1.0 - x) * (1.0 + x)))


def acos(x: Any) -> Any:
    x = np.asarray(x, dtype=np.float64)
    return atan2(np.sqrt((1.0 - x) * (1.0 + x)), x)


def _exponential_of(x: Any) -> Any:
    """(head, rest, m): exp x = 2^m (head + rest), of |x| <= 745."""
    n = np.floor(np.where(np.isnan(x), 0.0, x) * PARTS_PER_UNIT + 0.5)
    a, b = x - n * PART_1, n * PART_2
    r = a - b
    lost = (a - r) - b
    grown = r + (lost + r * r * (0.5 + r * (1.0 / 6.0 + r * (1.0 / 24.0 + r * (1.0 / 120.0 + r / 720.0)))))
    k, m = np.int64(n) & (PARTS - 1), np.int64(n) >> 6
    return POWER[k], POWER_TAIL[k] + POWER[k] * grown, np.int32(m)


def exp(x: Any) -> Any:
    x = np.asarray(x, dtype=np.float64)
    head, rest, m = _exponential_of(np.clip(x, -750.0, 750.0))
    with np.errstate(over="ignore", under="ignore"):
        return _plain(np.ldexp(head + rest, m))


def expm1(x: Any) -> Any:
    """exp x - 1, with all its digits near 0."""
    x = np.asarray(x, dtype=np.float64)
    head, rest, m = _exponential_of(np.clip(x, -750.0, 700.0))
    a, b = np.ldexp(head, m), -1.0
    s = a + b
    v = s - a
    return _plain(np.where(x > 700.0, exp(x), s + (((a - (s - v)) + (b - v)) + np.ldexp(rest, m))))


def _logarithm_of(x: Any) -> Any:
    """(head, tail) of positive numbers: the nearest k / PARTS to the mantissa, and the rest of it as a ratio."""
    m, e = np.frexp(x)
    low = m < LEAST
    m, e = np.where(low, 2.0 * m, m), e - low
    k = np.int64(m * PARTS + 0.5)
    middle = k * (1.0 / PARTS)
    over = m - middle
    r = over / middle
    spread = r * SPLIT
    upper = spread - (spread - r)
    missing = ((over - upper * middle) - (r - upper) * middle) / middle
    z = r * (1.0 / 5.0 - r * (1.0 / 6.0 - r * (1.0 / 7.0 - r * (1.0 / 8.0 - r / 9.0))))
    curved = -r * r * (0.5 - r * (1.0 / 3.0 - r * (0.25 - z)))
    a, b = e * LN2_1, LOG[k]
    s = a + b
    v = s - a
    lost = ((a - (s - v)) + (b - v)) + (e * LN2_2 + (LOG_TAIL[k] + (curved + missing)))
    total = s + r
    v = total - s
    rest = ((s - (total - v)) + (r - v)) + lost
    return total + rest, rest - ((total + rest) - total)


def log(x: Any) -> Any:
    """Of positive numbers; of others as numpy has it: NaN, or minus infinity of 0."""
    x = np.asarray(x, dtype=np.float64)
    proper = (x > 0.0) & (x < np.inf)
    found, _ = _logarithm_of(np.where(proper, x, 1.0))
    with np.errstate(invalid="ignore"):
        other = np.where(x == 0.0, -np.inf, np.where(x > 0.0, x, np.nan))
    return _plain(np.where(proper, found, other))


def power(x: Any, y: Any) -> Any:
    """x^y = exp(y log x) of x >= 0, the exponent known to twice the digits; 0^0 = 1."""
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    a, tail = _logarithm_of(np.where(x > 0.0, x, 1.0))
    p = a * y
    upper_a, upper_y = a * SPLIT - (a * SPLIT - a), y * SPLIT - (y * SPLIT - y)
    lower_a, lower_y = a - upper_a, y - upper_y
    lost = ((upper_a * upper_y - p) + upper_a * lower_y + lower_a * upper_y) + lower_a * lower_y + tail * y
    head, rest, m = _exponential_of(np.clip(p, -750.0, 750.0))
    with np.errstate(over="ignore", under="ignore"):
        found = np.ldexp(head + (rest + head * lost), m)
    other = np.where(y == 0.0, 1.0, np.where(x == 0.0, np.where(y > 0.0, 0.0, np.inf), np.nan))
    return _plain(np.where(x > 0.0, found, other))


def log1p(x: Any) -> Any:
    """log(1 + x), with all its digits near 0."""
    x = np.asarray(x, dtype=np.float64)
    u = 1.0 + x
    v = u - 1.0
    with np.errstate(invalid="ignore", divide="ignore"):
        lost = np.where((u > 0.0) & (u < np.inf), ((1.0 - (u - v)) + (x - v)) / u, 0.0)
    return _plain(log(u) + lost)


def squared(x: Any) -> Any:
    """A C library's power of two is not always the nearest number to the square."""
    return x * x


def cubed(x: Any) -> Any:
    return x * x * x


def hypot(x: Any, y: Any) -> Any:
    """Of lengths between 1e-150 and 1e150."""
    return _plain(np.sqrt(np.multiply(x, x) + np.multiply(y, y)))

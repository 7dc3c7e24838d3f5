"""The numbers that scenes are drawn from: the simplest first, towards which shrinking goes.

Lengths are multiples of 1/1024 m, so that what is meant to touch touches to the last bit.
"""

import math

from hypothesis import strategies as st

GRID = 1024  # to the metre
MASSES = (1.0, 2.0, 0.5, 10.0, 0.1, 30.0, 0.03)  # kg, 1:1000
GAPS = (0, 1, 8, 64, 512)  # in 1/1024 m, above what is below
ALIGNED = (0, 32, -32, 64, -64)  # in 1/64 m: where corners of unit boxes meet corners or middles of others
FURTHEST = 128  # in 1/64 m: how far to either side of the middle a body is dropped, 2 m
FAST = (10.0, -10.0, 20.0, -20.0)  # m/s, or rad/s: several centimetres in a step
FRICTIONS = (0.0, 0.5, 0.2, 1.0)
RESTITUTIONS = (0.0, 0.5, 0.9, 1.0)
DURATIONS = (0.5, 1.0, 2.0)  # s
TIME_STEPS = (1.0 / 240.0, 1.0 / 60.0, 1.0 / 1000.0)  # s


def time_steps() -> st.SearchStrategy[float]:
    """s: 1/240, 1/60 or 1/1000."""
    return st.sampled_from(TIME_STEPS)


def speeds() -> st.SearchStrategy[float]:
    """m/s, or rad/s: mostly none, up to 5 in eighths, now and then so fast that a step is centimetres."""
    return st.just(0.0) | st.integers(-40, 40).map(lambda n: n / 8.0) | st.just(0.0) | st.sampled_from(FAST)


def offsets() -> st.SearchStrategy[float]:
    """m: to either side of the middle."""
    return (st.integers(-FURTHEST, FURTHEST) | st.sampled_from(ALIGNED)).map(lambda n: n / 64.0)


def gaps() -> st.SearchStrategy[int]:
    """In 1/1024 m."""
    return st.sampled_from(GAPS)


def frictions(*, wanted: bool) -> st.SearchStrategy[float]:
    return st.sampled_from(FRICTIONS) if wanted else st.just(0.0)


def restitutions(*, wanted: bool) -> st.SearchStrategy[float]:
    return st.sampled_from(RESTITUTIONS) if wanted else st.just(0.0)


def on_grid(length: float) -> float:
    """m: rounded up to the next 1/1024 m, by a little more than the rounding of what it was computed from."""
    return math.ceil(length * GRID + 1e-6) / GRID

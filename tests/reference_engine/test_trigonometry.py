"""Sine and cosine to the last bit, as the recorded runs have them."""

import math

import numpy as np
import pytest

from reference_engine.trigonometry import sine_and_cosine

# What V8 11.3 (node 20.20) gives; the C library here differs in the last bit of each.
V8 = [
    ("0x1.75f86a7000000p-2", "0x1.6db66bfd309c4p-2", "0x1.de3bdaeb18565p-1"),
    ("0x1.23c06bd800000p-1", "0x1.14379baca7784p-1", "0x1.af19d948d935ep-1"),
    ("0x1.15616e5880000p+3", "0x1.5f7a0fb8abcdap-1", "-0x1.744d10575201cp-1"),
    ("-0x1.0d5798bd80000p+3", "-0x1.b0fcc1fade3a9p-1", "-0x1.1140309af6cdap-1"),
    ("-0x1.a152dab7a0000p+6", "0x1.393fffedc2374p-1", "-0x1.94fded163b264p-1"),
    ("-0x1.b7ef2def80000p+4", "-0x1.6782cf28f35eep-1", "-0x1.6c8c811069e83p-1"),
    ("0x1.5fdbbe9abacd6p+5", "-0x1.ff53e7b8b0b66p-28", "0x1.0000000000000p+0"),
    ("0x1.d9dae3da9f58cp+4", "-0x1.f29c8e67fc7bep-1", "-0x1.d1487aff547e6p-3"),
    ("0x1.32dce3a8e0000p+18", "-0x1.7777bd7b70f4ep-1", "0x1.5c17879dcafc4p-1"),
    ("0x1.869f239b1a000p+19", "-0x1.8deb6bdc262f9p-1", "0x1.422fae25994f4p-1"),
]


@pytest.mark.parametrize(("x", "sine", "cosine"), V8)
def test_the_last_bit_is_that_of_the_recorded_runs(x, sine, cosine):
    assert sine_and_cosine(float.fromhex(x)) == (float.fromhex(sine), float.fromhex(cosine))


@pytest.mark.parametrize("scale", [1e-9, 0.3, 2.0, 30.0, 1e4, 8e5, 1e12])
def test_both_are_within_one_unit_of_the_last_place_of_the_c_library(scale):
    for x in np.random.default_rng(3).uniform(-scale, scale, 300):
        for mine, other in zip(sine_and_cosine(float(x)), (math.sin(x), math.cos(x))):
            assert abs(mine - other) <= np.spacing(abs(other))


def test_near_multiples_of_a_quarter_turn_no_digit_is_lost():
    """sin(n pi + d) = +-d: the rest of x = float(n pi) is pi's tail, known to 1 part in 2^53 of itself."""
    for n in (1, 2, 7, 22, 710, 100000):
        sine, cosine = sine_and_cosine(n * math.pi)
        assert sine == pytest.approx(math.sin(n * math.pi), rel=1e-15)
        assert abs(cosine) == 1.0


def test_what_is_not_a_number_stays_so():
    assert all(math.isnan(value) for value in sine_and_cosine(math.nan))

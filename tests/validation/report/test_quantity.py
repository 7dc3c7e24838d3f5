"""A number reads as people write it."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from validation.records.quantities import contrast, quantity, time_step


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (2.6e-5, "m", "26 µm"),
        (4.2e-8, "m", "42 nm"),
        (3e-10, "m", "0.3 nm"),
        (1.04e-17, "m", "1.0e-17 m"),  # round-off is no number of nanometres
        (0.999999e-6, "s", "1 µs"),
        (9.99999e-5, "m", "0.1 mm"),
        (999.9e3, "m", "1000 km"),
        (1234.5, "s", "1234 s"),  # nobody has kiloseconds
        (1234.5, "m/s", "1.23 km/s"),
        (1.3e-5, "N s", "13 µN s"),
        (1.3e-5, "rad", "1.3e-05 rad"),
        (1.3e-5, "kg m/s", "1.3e-05 kg m/s"),
        (1.0, "\ud7ff\u202e", "1 \ufffd\ufffd"),  # of a damaged database
        (0.039, "m", "39 mm"),
        (0.015, "m", "15 mm"),
        (0.2155e-3, "m", "0.215 mm"),
        (-8e-3, "m", "-8 mm"),
        (2.31, "s", "2.31 s"),
        (0.417, "s", "417 ms"),
        (1.0, "m", "1 m"),
        (0.148, "J", "148 mJ"),
        (1234.5, "J", "1.23 kJ"),
        (1.5e7, "J", "1.5e+07 J"),
        (77.0, "1", "77"),
        (0.0, "m", "0 m"),
        (-0.0, "1", "0"),
        (math.nan, "s", "never"),
        (-math.inf, "J", "-infinite J"),
    ],
)
def test_a_quantity_reads_as_people_write_it(value: float, unit: str, text: str) -> None:
    assert quantity(value, unit) == text


@pytest.mark.parametrize(
    ("value", "unit", "resolution", "text"),
    [
        (0.8e-3, "s", 1 / 240, "0.8 ± 4.2 ms"),
        (0.0, "m", 1.7e-4, "0 ± 0.17 mm"),
        (-1.34e-5, "m", 1.7e-4, "-0.0134 ± 0.17 mm"),
        (3.4e-13, "m/s", 7.9e-8, "3.4e-04 ± 79 nm/s"),
        (3.4e-17, "m/s", 7.9e-8, "0 ± 79 nm/s"),  # round-off
        (5.0, "m", 0.02, "5 ± 0.02 m"),
        (77.0, "1", 2.0, "77 ± 2"),
        (10.4e-3, "m", 1.4e-6, "10.4 mm"),  # it does not reach the digits shown
        (10.4e-3, "m", 0.05e-3, "10.4 ± 0.05 mm"),
        (0.125, "s", 0.0, "125 ms"),
        (0.125, "s", None, "125 ms"),
        (math.nan, "s", 1 / 240, "never"),
        (math.inf, "J", 1.0, "infinite J"),
    ],
)
def test_a_resolution_follows_its_value_in_the_same_unit(
    value: float, unit: str, resolution: float | None, text: str
) -> None:
    assert quantity(value, unit, resolution=resolution) == text


def test_what_is_compared_has_one_unit_that_of_the_largest() -> None:
    assert contrast(0.012, 3.1e-5, "m") == ("12 mm", "0.031 mm")
    assert contrast(1.2, 0.015, "m") == ("1.2 m", "0.015 m")
    assert contrast(math.nan, 0.4e-3, "s") == ("never", "0.4 ms")
    assert [quantity(x, "m", digits=2, beside=(0.0, -1.04e-5, 0.0146)) for x in (0.0, -1.04e-5)] == ["0 mm", "-0.01 mm"]
    assert quantity(2e-5, "m", beside=(math.inf, 3e-5)) == "20 µm"
    assert contrast(0.296e-3, 3.7e-6, "m") == ("0.296 mm", "0.0037 mm")
    assert contrast(3e-17, 4e-8, "m") == ("3.0e-08 nm", "40 nm")


def test_two_values_have_a_resolution_each() -> None:
    assert contrast(3.2e-3, 0.4e-3, "m", (7e-4, None)) == ("3.2 ± 0.7 mm", "0.4 mm")
    assert contrast(3.2e-3, 3.20001e-3, "m", (7e-4, 7e-4)) == ("3.2 ± 0.7 mm", "3.20001 ± 0.7 mm")


FACTORS = {"k": 1e3, "": 1.0, "m": 1e-3, "µ": 1e-6, "n": 1e-9}


@given(st.floats(-1e300, 1e300), st.sampled_from(["m", "s", "J", "1", "m/s"]))
def test_a_quantity_keeps_its_value_to_the_digits_shown(value: float, unit: str) -> None:
    number, _, shown = quantity(value, unit).partition(" ")
    prefix = FACTORS[shown.removesuffix(unit)] if unit != "1" else 1.0
    assert float(number) * prefix == pytest.approx(value, rel=0.051, abs=0.0)
    if 1e-3 <= abs(value) < 1e6 or (unit != "1" and 1e-10 <= abs(value) < 1e6):
        assert float(number) * prefix == pytest.approx(value, rel=5.1e-3)


@example(5.667e-07, 2.220446049250313e-16)  # neighbours, which are one number of micrometres
@given(st.floats(1e-12, 1e12), st.floats(-1e-3, 1e-3))
def test_two_values_that_differ_are_told_apart(value: float, relative: float) -> None:
    other = value * (1.0 + relative)
    texts = contrast(other, value, "m")
    assert (texts[0] == texts[1]) == (other == value)


@pytest.mark.parametrize(("dt", "text"), [(1 / 240, "1/240 s"), (0.02, "1/50 s"), (0.003, "0.003 s"), (2.0, "2 s")])
def test_a_time_step_is_told_as_a_fraction_where_it_is_one(dt: float, text: str) -> None:
    assert time_step(dt) == text

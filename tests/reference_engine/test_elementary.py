"""Elementary functions: close to the exact value, the same bits compiled, in arrays and of one number."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from reference_engine import elementary
from reference_engine.elementary_kernels import angle_of, cosines_and_sines

ANGLES = np.random.default_rng(1).uniform(-10.0, 10.0, 400)
SMALL = np.ldexp(np.random.default_rng(2).uniform(-1.0, 1.0, 100), np.arange(-50, 50) % 40 - 40)


def exact_exponential(x: float) -> Fraction:
    """By its series, in whole numbers of 2^-260."""
    one = 1 << 260
    numerator, denominator = x.as_integer_ratio()
    total = term = one
    k = 0
    while abs(term) > 1:
        k += 1
        term = term * numerator // (denominator * k)
        total += term
    return Fraction(total, one)


def exact_sine(x: float) -> Fraction:
    one = 1 << 260
    numerator, denominator = x.as_integer_ratio()
    total = term = one * numerator // denominator
    k = 1
    while abs(term) > 1:
        k += 2
        term = -term * numerator * numerator // (denominator * denominator * k * (k - 1))
        total += term
    return Fraction(total, one)


def units_off(value: float, exact: Fraction) -> float:
    """In units of the last place."""
    return float(abs(Fraction(value) - exact) / Fraction(math.ulp(float(exact))))


def test_the_sine_is_within_0_51_units_of_the_last_place() -> None:
    """Also where it is small, close to half turns: no digit of the rest is lost."""
    for x in (*ANGLES.tolist(), *SMALL.tolist(), *(math.pi * n for n in (1, 2, 7, 22))):
        assert units_off(elementary.sin(x), exact_sine(x)) < 0.51, x


def test_the_exponential_is_within_0_51_units_and_the_logarithm_undoes_it() -> None:
    for x in ANGLES.tolist():
        value = elementary.exp(x)
        assert units_off(value, exact_exponential(x)) < 0.51, x
        assert elementary.log(value) == pytest.approx(x, rel=1e-15, abs=3e-16)


ALIKE: list[tuple[Callable[..., float], Callable[..., float], float, float]] = [
    (elementary.cos, math.cos, -10.0, 10.0),
    (elementary.tan, math.tan, -10.0, 10.0),
    (elementary.atan, math.atan, -4.0, 4.0),
    (elementary.asin, math.asin, -1.0, 1.0),
    (elementary.acos, math.acos, -1.0, 1.0),
    (elementary.expm1, math.expm1, -4.0, 4.0),
    (elementary.log, math.log, 1e-9, 30.0),
    (elementary.log1p, math.log1p, -0.9, 3.0),
]


@pytest.mark.parametrize(
    ("ours", "of_the_library", "low", "high"), ALIKE, ids=lambda given: getattr(given, "__name__", "")
)
def test_others_are_within_three_units_of_the_c_library(
    ours: Callable[..., float], of_the_library: Callable[..., float], low: float, high: float
) -> None:
    """Whose own error is below one; 0.2 % of the results differ at all for most, 30 % for the tangent."""
    x = np.random.default_rng(3).uniform(low, high, 2000)
    library = np.array([of_the_library(value) for value in x.tolist()])
    assert (np.abs(ours(x) - library) <= 3.0 * np.spacing(np.abs(library))).all()


@pytest.mark.parametrize(
    "function", [elementary.sin, elementary.cos, elementary.exp, elementary.atan], ids=lambda f: f.__name__
)
def test_an_array_has_the_bits_of_its_numbers(function: Callable[..., object]) -> None:
    assert function(ANGLES).tolist() == [function(x) for x in ANGLES.tolist()]  # type: ignore[attr-defined]


def test_kernels_have_the_bits_of_python(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.concatenate([ANGLES, SMALL, [0.0, -0.0, 1e7, 1e300, math.pi, math.inf, math.nan]])
    y = np.roll(x, 3)
    angle = np.array([angle_of(*point) for point in zip(y, x)])
    turned = elementary.sine_cosine(np.stack([x, y]).T)  # whose order is not C's
    compiled = (*cosines_and_sines(x), angle, elementary.sin(x), elementary.cos(x), *turned)
    monkeypatch.setattr(elementary, "COMPILED", {})
    python = (elementary.cos(x), elementary.sin(x), elementary.atan2(y, x), elementary.sin(x), elementary.cos(x))
    for mine, other in zip(compiled, (*python, *elementary.sine_cosine(np.stack([x, y]).T)), strict=True):
        assert np.array_equal(mine, other, equal_nan=True) and np.array_equal(np.signbit(mine), np.signbit(other))


@pytest.mark.parametrize(
    ("y", "x"), [(0.0, 1.0), (0.0, -1.0), (-0.0, -1.0), (1.0, 0.0), (-1.0, -0.0), (0.0, 0.0), (-2.0, 2.0)]
)
def test_an_angle_on_an_axis_or_diagonal_is_the_nearest_number(y: float, x: float) -> None:
    assert elementary.atan2(y, x) == math.atan2(y, x)
    assert math.copysign(1.0, elementary.atan2(y, x)) == math.copysign(1.0, math.atan2(y, x))


def test_powers_are_those_of_fractions() -> None:
    assert elementary.power(0.5, 3) == 0.125 and elementary.power(8.0, 1.0 / 3.0) == 2.0
    assert elementary.power(0.0, 0) == 1.0 and elementary.power(0.0, 2.0) == 0.0
    x, y = np.abs(ANGLES), np.roll(ANGLES, 1)
    assert elementary.power(x, y) == pytest.approx([math.pow(*pair) for pair in zip(x, y)], rel=3e-16)

"""A number with its unit, as people read it: 15 mm, 2.6e-05 m, +1.9 %, 2.31 s."""

from __future__ import annotations

import math

MILLI = {"m": "mm", "s": "ms", "m/s": "mm/s"}
SMALLEST_MILLI = 1e-4  # 0.1 mm; less is a power of ten
DIGITS = 3
ALL_DIGITS = 18  # a power of ten shows one less, and 17 tell any two doubles apart
NEVER = "never"  # a NaN: what the number is about has not happened


def quantity(value: float, unit: str, *, digits: int = DIGITS) -> str:
    """Three significant digits, or as many as asked for; thousandths of m and s where they read better. Unit "1" is
    none."""
    unit = "" if unit == "1" else unit
    if math.isnan(value):
        return NEVER
    if math.isinf(value):
        return f"{'-' if value < 0 else ''}infinite {unit}".strip()
    if value == 0.0:
        return f"0 {unit}".strip()
    if unit in MILLI and SMALLEST_MILLI <= abs(value) < 1.0:
        value, unit = 1e3 * value, MILLI[unit]
    return f"{_number(value, digits)} {unit}".strip()


def contrast(new: float, old: float, unit: str) -> tuple[str, str]:
    """Both, with as many digits as it takes to tell them apart."""
    for digits in range(DIGITS, ALL_DIGITS):
        texts = quantity(new, unit, digits=digits), quantity(old, unit, digits=digits)
        if texts[0] != texts[1]:
            return texts
    return quantity(new, unit, digits=ALL_DIGITS), quantity(old, unit, digits=ALL_DIGITS)


def _number(value: float, digits: int) -> str:
    if 1e-3 <= abs(value) < 1e6:
        # %g would turn to powers of ten beyond its digits: 1230 would read 1.23e+03.
        whole = math.floor(math.log10(abs(value))) + 1
        return f"{value:.{max(digits, whole)}g}" if digits > whole else f"{value:.0f}"
    return f"{value:.{max(1, digits - 2)}e}"

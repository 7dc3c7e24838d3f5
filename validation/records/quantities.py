"""A number with its unit, as people read it: 15 mm, 26 µm, 0.8 ± 4.2 ms, 2.31 s, 1.2e-17 m."""

import math
from collections.abc import Iterable

from validation.records.text import printable

PREFIXES = ((1e3, 1e3, "k"), (1.0, 1.0, ""), (1e-4, 1e-3, "m"), (1e-7, 1e-6, "µ"), (1e-10, 1e-9, "n"))
"""From which size on, factor, prefix: 0.3 mm, 0.3 µm. What is smaller, or above 1e6, is a power of ten."""
PREFIXED = {"m": "kmµn", "s": "mµn", "m/s": "kmµn", "J": "kmµn", "N": "kmµn", "N s": "kmµn"}
"""Units that people write with a prefix, each with those that it takes."""
DIGITS = 3
RESOLUTION_DIGITS = 2
FAR_BELOW = 1e-6  # of its resolution: round-off, which reads 0
ALL_DIGITS = 18  # a power of ten shows one less, and 17 tell any two doubles apart
NEVER = "never"  # a NaN: what the number is about has not happened


def quantity(
    value: float, unit: str, *, digits: int = DIGITS, resolution: float | None = None, beside: Iterable[float] = ()
) -> str:
    """Three significant digits, or as many as asked for; a prefix before m, s, J and N where it reads better. Unit "1"
    is none. The resolution follows, 0.8 ± 4.2 ms, where it reaches the digits shown. What is compared has one unit,
    that of the largest: `beside` are the values that stand beside this one.
    """
    unit = _written(unit)
    if math.isnan(value):
        return NEVER
    if math.isinf(value):
        return f"{'-' if value < 0 else ''}infinite {unit}".strip()
    spread = (
        resolution
        if resolution and math.isfinite(resolution) and 2.0 * resolution >= _last_digit(value, digits)
        else 0.0
    )
    if abs(value) < FAR_BELOW * spread:
        value = 0.0
    size = max(abs(value), spread, *(abs(other) for other in beside if math.isfinite(other)))
    factor, prefix = _prefix(size, unit)
    value, spread, unit = value / factor, spread / factor, prefix + unit
    number = _number(value, digits) + (f" ± {_number(spread, RESOLUTION_DIGITS)}" if spread else "")
    return f"{number} {unit}".strip()


def scale_of(values: Iterable[float], unit: str) -> tuple[float, str]:
    """(factor, unit with prefix) in which all of them are drawn on one axis: that of the largest."""
    unit = _written(unit)
    factor, prefix = _prefix(max((abs(value) for value in values if math.isfinite(value)), default=0.0), unit)
    return factor, prefix + unit


Resolutions = tuple[float | None, float | None]


def contrast(new: float, old: float, unit: str, resolutions: Resolutions = (None, None)) -> tuple[str, str]:
    """Both in one unit, with as many digits as it takes to tell them apart, and with their resolutions."""
    digits, both = DIGITS, (new, old)
    while digits < ALL_DIGITS and len({quantity(value, unit, digits=digits, beside=both) for value in both}) == 1:
        digits += 1
    first, second = (
        quantity(value, unit, digits=digits, resolution=resolution, beside=(*both, *filter(None, resolutions)))
        for value, resolution in zip(both, resolutions)
    )
    if digits == ALL_DIGITS and first == second and new != old and math.isfinite(new) and math.isfinite(old):
        first, second = (
            f"{float(value)!r} {_written(unit)}".strip() for value in both
        )  # the prefix has rounded a bit away
    return first, second


def time_step(dt: float) -> str:
    """1/240 s, or 0.004 s where it is no such fraction."""
    rate = round(1.0 / dt) if dt else 0
    return f"1/{rate} s" if rate and abs(1.0 / rate - dt) <= 1e-12 * dt else f"{dt:g} s"


def counted(count: int, noun: str) -> str:
    """1 case, 2 cases"""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _written(unit: str) -> str:
    """What comes from a database may hold anything."""
    return "" if unit == "1" else printable(unit)


def _prefix(size: float, unit: str) -> tuple[float, str]:
    """Of what is 999.9 µm to the digits shown, that of 1 mm."""
    size = float(f"{size:.{DIGITS - 1}e}")
    known = ((factor, prefix) for least, factor, prefix in PREFIXES if size >= least and prefix in PREFIXED[unit])
    return next(known, (1.0, "")) if unit in PREFIXED and size <= 1e6 else (1.0, "")


def _last_digit(value: float, digits: int) -> float:
    """What one more in the last of the digits is worth; 0 has none that counts."""
    return 10.0 ** (math.floor(math.log10(abs(value))) - digits + 1) if value else 0.0


def _number(value: float, digits: int) -> str:
    if value == 0.0:
        return "0"
    if 1e-3 <= abs(value) < 1e6:
        # %g would turn to powers of ten beyond its digits: 1230 would read 1.23e+03.
        whole = math.floor(math.log10(abs(value))) + 1
        return f"{value:.{max(digits, whole)}g}" if digits > whole else f"{value:.0f}"
    return f"{value:.{min(digits - 1, max(1, digits - 2))}e}"

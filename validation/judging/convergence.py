"""The observed order of convergence: by which power of the time step the error shrinks. Pure.

With the exact solution known, e(dt) = C dt^p for small dt, so that the slope of log e over log dt is p (Roache 1994,
J. Fluids Eng. 116, has it for grids). Three steps, dt, dt/2 and dt/4, tell p and how far it is to be trusted.
"""

import math
from collections.abc import Sequence

from reference_engine import elementary
from validation.judging.verdict import FLOOR
from validation.records.measurement import Measurement

ORDER = "convergence_order"
REFINED = (1.0, 0.5, 0.25)  # of the time step
ERRORS = ("truth_error_goal", "truth_error_position")
"""Whose errors are looked at: the first that a case has."""
ABOVE = 10.0  # times what the error can resolve, at least: below it there is nothing to shrink


def convergence_order(refined: Sequence[Sequence[Measurement]]) -> Measurement | None:
    """Of the measurements with each step of REFINED; None where there is no error, or one too small to tell.

    Its resolution is half of what the orders of the two halvings differ by.
    """
    by_step = [{m.metric: m for m in measurements} for measurements in refined]
    metric = next((name for name in ERRORS if all(name in found for found in by_step)), None)
    if metric is None:
        return None
    errors = [abs(found[metric].value) for found in by_step]
    floors = [ABOVE * (found[metric].resolution or 0.0) for found in by_step]
    if not all(math.isfinite(error) and error > max(floor, ABOVE * FLOOR) for error, floor in zip(errors, floors)):
        return None
    first, second = (elementary.log(errors[i] / errors[i + 1]) / elementary.log(2.0) for i in (0, 1))
    return Measurement(
        metric=ORDER,
        value=(first + second) / 2.0,  # the slope of the line through three equally spaced points
        unit="1",
        better="higher",
        noise="tolerance",
        resolution=abs(first - second) / 2.0,
    )

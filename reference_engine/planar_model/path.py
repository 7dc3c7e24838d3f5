"""A curve on which a point of a body can be held: a table of points, and what lies between them is interpolated."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reference_engine import elementary
from reference_engine.elementary import squared
from reference_engine.errors import WorldError

Array = NDArray[np.float64]

LEAST_POINTS = 100
POINTS = 9000  # of a curve that is given as a function
P, X, Y, DX, DY, DNX, DNY = range(7)  # columns of `Path.table`


@dataclass(frozen=True, slots=True, eq=False)
class Path:
    """Points (T, 2) [m] in order; a closed path ends where it started.

    `table` (T, 7): length so far p, the sum of the distances between points; x, y; their derivatives by p; those of
    the normal, which is the direction of growing p turned to the left. Three-point formulas (Burden & Faires,
    Numerical Analysis, eq. 4.3).
    """

    table: Array = field(init=False)
    closed: bool = False

    def __init__(self, points: ArrayLike, *, closed: bool = False) -> None:
        rows = np.array(points, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1:] != (2,) or len(rows) < LEAST_POINTS or not np.isfinite(rows).all():
            raise WorldError(f"path: points of shape {rows.shape} are not finite (T, 2) with T >= {LEAST_POINTS}")
        steps = np.sqrt((squared(np.diff(rows, axis=0))).sum(axis=1))
        if not (steps > 0.0).all():
            raise WorldError(f"path: points {int(np.argmin(steps))} and the next are the same")
        if closed and math.dist(rows[0], rows[-1]) > steps.max():
            raise WorldError("path: a closed path must end where it starts")
        p = np.concatenate([[0.0], np.cumsum(steps)])
        dx, dy = slopes(p, rows[:, 0]), slopes(p, rows[:, 1])
        size = elementary.hypot(dx, dy)
        turning = [slopes(p, -dy / size), slopes(p, dx / size)]
        table = np.ascontiguousarray(np.stack([p, rows[:, 0], rows[:, 1], dx, dy, *turning], axis=1))
        table.setflags(write=False)
        object.__setattr__(self, "table", table)
        object.__setattr__(self, "closed", bool(closed))

    @property
    def length(self) -> float:
        return float(self.table[-1, P])

    def nearest(self, point: tuple[float, float]) -> int:
        """Row of the nearest point of the table."""
        return int(np.argmin(squared(self.table[:, X] - point[0]) + squared(self.table[:, Y] - point[1])))


def slopes(p: Array, values: Array) -> Array:
    """Derivative of the parabola through each point and its neighbours."""
    out = np.empty_like(values)
    for at, k in ((slice(1, -1), np.arange(len(p) - 2)), (slice(0, 1), np.array([0])), (slice(-1, None), -3)):
        k = np.atleast_1d(k)
        x0, x1, x2 = p[k], p[k + 1], p[k + 2]
        x = p[at]
        out[at] = values[k] * (2.0 * x - x1 - x2) / ((x0 - x1) * (x0 - x2))
        out[at] += values[k + 1] * (2.0 * x - x0 - x2) / ((x1 - x0) * (x1 - x2))
        out[at] += values[k + 2] * (2.0 * x - x0 - x1) / ((x2 - x0) * (x2 - x1))
    return out


def curve(point: Callable[[float], tuple[float, float]], start: float, end: float, *, closed: bool = False) -> Path:
    """The path of `point(t)` [m], t from start to end in even steps."""
    step, t, points = (end - start) / (POINTS - 1), start, []
    for _ in range(POINTS):
        points.append(point(t))
        t += step
    return Path(points, closed=closed)

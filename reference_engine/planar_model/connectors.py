"""What holds bodies together: joints (bilateral), ropes, rods and paths, curves on which a point of a body can be held.

Body -1 is the fixed background, whose frame is the world's.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from reference_engine import elementary
from reference_engine.array_types import Array
from reference_engine.elementary import squared
from reference_engine.errors import WorldError

BACKGROUND = -1
LEAST_POINTS = 100
POINTS = 9000  # of a curve that is given as a function
P, X, Y, DX, DY, DNX, DNY = range(7)  # columns of `Path.table`


@dataclass(frozen=True, slots=True, kw_only=True)
class Joint:
    """Keeps two points at one place along a normal; two joints with crossed normals are a pin.

    The normal turns with the second body, or stays as it is in the world.
    """

    first: int
    second: int
    first_point: tuple[float, float]  # m, body frame of the first
    second_point: tuple[float, float]  # m, body frame of the second
    normal: tuple[float, float]  # unit
    normal_turns: bool = True  # with the second body

    def __post_init__(self) -> None:
        if abs(math.hypot(*self.normal) - 1.0) > 1e-9:
            raise WorldError(f"joint: normal {self.normal!r} is not of unit length")
        check_ends("joint", self.first, self.second, (*self.first_point, *self.second_point))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rope:
    """Keeps two points no further apart than its length; with `rod`, neither further nor nearer."""

    first: int
    second: int
    first_point: tuple[float, float]  # m, body frame of the first
    second_point: tuple[float, float]  # m, body frame of the second
    length: float  # m
    rod: bool = False

    def __post_init__(self) -> None:
        if not (math.isfinite(self.length) and self.length > 0.0):
            raise WorldError(f"rope: length {self.length!r} m is not positive and finite")
        check_ends("rope", self.first, self.second, (*self.first_point, *self.second_point))


@dataclass(frozen=True, slots=True, eq=False)
class Path:
    """Points (T, 2) [m] in order, what lies between them interpolated; a closed path ends where it started.

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
    rows = np.arange(len(p))
    for at, k in ((rows[1:-1], rows[:-2]), (rows[:1], rows[:1]), (rows[-1:], rows[-3:-2])):
        x, x0, x1, x2 = p[at], p[k], p[k + 1], p[k + 2]
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


@dataclass(frozen=True, slots=True, kw_only=True)
class PathJoint:
    """Keeps a point of a body on a path of the background, to which it can push and pull."""

    body: int
    point: tuple[float, float]  # m, body frame
    path: Path
    first = property(lambda self: self.body)
    second = property(lambda self: BACKGROUND)

    def __post_init__(self) -> None:
        check_ends("path joint", self.body, BACKGROUND, self.point)


@dataclass(frozen=True, slots=True, kw_only=True)
class PathEnd:
    """Stops a point of a body at `limit` along a path that it is held on: it comes no further, or with `lower` back."""

    body: int
    point: tuple[float, float]  # m, body frame
    path: Path
    limit: float  # m, along the path
    lower: bool = False
    first = property(lambda self: self.body)
    second = property(lambda self: BACKGROUND)

    def __post_init__(self) -> None:
        check_ends("path end", self.body, BACKGROUND, (*self.point, self.limit))


Connector = Joint | Rope | PathJoint | PathEnd


def check_ends(what: str, first: int, second: int, numbers: tuple[float, ...]) -> None:
    if first == second:
        raise WorldError(f"{what}: both ends are on body {first}; they must be on two")
    if min(first, second) < BACKGROUND:
        raise WorldError(f"{what}: bodies {first} and {second}; a body is an index, or -1 for the background")
    if not all(math.isfinite(x) for x in numbers):
        raise WorldError(f"{what}: its points must be finite, not {numbers}")

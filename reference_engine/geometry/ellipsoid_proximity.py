"""How near ellipsoids are to one another, to a plane, to the inside of a sphere; where; and how certain that is."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from reference_engine.array_types import Array, Indices
from reference_engine.dense import norm
from reference_engine.geometry.ellipsoid_containers import (
    CIRCLE,
    MOST_POINTS,
    ONE_POINT,
    SPHERE,
    TWO_POINTS,
    half_space_gaps,
    sphere_interior_gaps,
)
from reference_engine.geometry.ellipsoid_depth import STACK
from reference_engine.geometry.ellipsoid_gap import ellipsoid_gaps
from reference_engine.geometry.ellipsoid_support import pose_ellipsoids
from reference_engine.geometry.layout import ELLIPSOID_COLUMNS, FIELDS
from reference_engine.geometry.proximities import Proximities, proximities_of

CONTAINER = -1  # `b` of a gap to a plane or a hollow sphere
LEAST_AXIS, MOST_AXIS = 1e-40, 1e40  # m; products of six of them are numbers
SHORT, LONG = 1e-100, 1e100  # of a quaternion or normal: their squares are numbers

__all__ = [
    "CIRCLE", "CONTAINER", "ONE_POINT", "SPHERE", "TWO_POINTS",
    "InsideSphere", "ellipsoid_proximities", "half_space_proximities", "sphere_interior_proximities",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class InsideSphere:
    """B ellipsoids inside a sphere. `near`: one to four rows a body, its `a`; the first is the furthest out."""

    kind: Indices  # (B,) ONE_POINT, TWO_POINTS, CIRCLE, SPHERE: where the body is furthest out
    near: Proximities  # b = CONTAINER


def ellipsoid_proximities(
    semi_axes: ArrayLike,
    position: ArrayLike,
    orientation: ArrayLike,
    pairs: ArrayLike,
    *,
    cutoff: float = np.inf,
) -> Proximities:
    """Every pair of ellipsoids with gap < cutoff, in the order given.

    semi_axes (B, 3) m; position (B, 3) m; orientation (B, 4), w x y z, body to world, of any length but zero;
    pairs (P, 2) bodies.

    gap: apart the distance, overlapping minus the least translation that parts the two, the least of all its local
    minima. It is off by no more than `uncertainty`: as a rule 1e-14 of the pair's size, 1e-10 of its thickness where
    an overlap had to be searched for (up to 1e-5 where two bodies of revolution overlap on one axis).

    Raises ValueError, naming what is wrong: a shape, a number that is not finite, a semi-axis outside
    1e-40 ... 1e40 m, a body that does not exist or is paired with itself.
    """
    a, body = placed(semi_axes, position, orientation)
    given = np.asarray(pairs)
    if given.size and (given.dtype.kind not in "iu" or given.ndim != 2 or given.shape[1] != 2):
        raise ValueError(f"pairs: shape {given.shape} of {given.dtype}; (P, 2) numbers of bodies")
    chosen = np.ascontiguousarray(given.reshape(-1, 2), np.int64)
    wrong = np.flatnonzero((chosen < 0).any(axis=1) | (chosen >= len(a)).any(axis=1) | (chosen[:, 0] == chosen[:, 1]))
    if wrong.size:
        k = wrong[0]
        raise ValueError(f"pairs[{k}]: {chosen[k].tolist()}; two different bodies of 0 ... {len(a) - 1}")
    if np.isnan(number("cutoff", cutoff)):
        raise ValueError("cutoff: nan m; a length, or inf for all pairs")
    found = np.empty((len(chosen), FIELDS))
    ellipsoid_gaps(body, chosen, float(cutoff), np.zeros((len(chosen), 3)), np.empty(STACK), found)
    keep = found[:, 0] < cutoff
    return proximities_of(found[keep], chosen[keep, 0], chosen[keep, 1])


def half_space_proximities(
    semi_axes: ArrayLike, position: ArrayLike, orientation: ArrayLike, *, point: ArrayLike, normal: ArrayLike
) -> Proximities:
    """Every ellipsoid above the plane through `point`, (3,) m, whose `normal`, (3,), points out of the solid.

    Closed form. Ellipsoids as in ellipsoid_proximities; b = CONTAINER.
    """
    a, body = placed(semi_axes, position, orientation)
    through, up = vector("point", point), direction("normal", normal)
    found = np.empty((len(a), FIELDS))
    half_space_gaps(body, through, up, found)
    return proximities_of(found, np.arange(len(a)), np.full(len(a), CONTAINER))


def sphere_interior_proximities(
    semi_axes: ArrayLike,
    position: ArrayLike,
    orientation: ArrayLike,
    *,
    radius: float,
    centre: ArrayLike = (0.0, 0.0, 0.0),
    tie: float | None = None,
) -> InsideSphere:
    """Where every ellipsoid is furthest from the centre of a hollow sphere, and how far from its inside.

    Ellipsoids as in ellipsoid_proximities; radius m; centre (3,) m. Places whose distances from the centre differ by
    at most `tie` [m; 1e-12 of the radius] are all said to be furthest out: two points, a circle or the whole surface.
    Further rows are points that a solver should hold too: the second local maximum even where it is less far out, so
    that a body which lies level does not start to turn by the choice of one end; four points of a circle; four of a
    sphere. Each has its own gap. A body outside has a negative gap.

    Raises ValueError, naming what is wrong.
    """
    a, body = placed(semi_axes, position, orientation)
    middle = vector("centre", centre)
    if not 0.0 < number("radius", radius) <= MOST_AXIS:
        raise ValueError(f"radius: {radius} m; positive, at most {MOST_AXIS}")
    tied = 1e-12 * radius if tie is None else number("tie", tie)
    if not 0.0 <= tied < np.inf:
        raise ValueError(f"tie: {tie} m; at least 0 and finite")
    kind, found = np.empty((len(a), 2), np.int64), np.empty((len(a), MOST_POINTS, FIELDS))
    sphere_interior_gaps(a, body, middle, float(radius), tied, kind, np.empty((MOST_POINTS, 3)), found)
    used = np.arange(MOST_POINTS) < kind[:, 1:]
    which = np.repeat(np.arange(len(a)), kind[:, 1])
    return InsideSphere(kind=kind[:, 0].copy(), near=proximities_of(found[used], which, np.full(len(which), CONTAINER)))


def placed(semi_axes: ArrayLike, position: ArrayLike, orientation: ArrayLike) -> tuple[Array, Array]:
    """Semi-axes and the table of ellipsoid_support, of input that has been checked."""
    a, r, o = (
        numbers(name, x) for name, x in (("semi_axes", semi_axes), ("position", position), ("orientation", orientation))
    )
    if r.ndim != 2 or r.shape[1] != 3 or a.shape != r.shape or o.shape != (len(r), 4):
        raise ValueError(
            f"semi_axes, position, orientation: shapes {a.shape}, {r.shape}, {o.shape}; (B, 3), (B, 3), (B, 4)"
        )
    for name, x, fine, rule in (
        ("semi_axes", a, (a >= LEAST_AXIS) & (a <= MOST_AXIS), f"{LEAST_AXIS} to {MOST_AXIS} m"),
        ("position", r, np.abs(r) <= MOST_AXIS, f"{-MOST_AXIS} to {MOST_AXIS} m"),
        ("orientation", o, np.abs(o) <= LONG, f"{-LONG} to {LONG}"),
    ):
        if not fine.all():
            i, k = np.argwhere(~fine)[0]
            raise ValueError(f"{name}[{i}, {k}]: {x[i, k]}; {rule}")
    still = np.flatnonzero(~(np.abs(o) >= SHORT).any(axis=1))
    if still.size:
        raise ValueError(f"orientation[{still[0]}]: {o[still[0]].tolist()}; a quaternion of length {SHORT} or more")
    body = np.empty((len(r), ELLIPSOID_COLUMNS))
    pose_ellipsoids(a, r, o, body)
    return a, body


def vector(name: str, given: ArrayLike) -> Array:
    x = numbers(name, given)
    if x.shape != (3,) or not (np.abs(x) <= LONG).all():
        raise ValueError(f"{name}: {given!r}; three finite numbers, at most {LONG}")
    return x


def direction(name: str, given: ArrayLike) -> Array:
    """(3,) of length 1. Raises ValueError."""
    x = vector(name, given)
    if not (np.abs(x) >= SHORT).any():
        raise ValueError(f"{name}: {given!r} has no direction; a vector out of the solid")
    return x / norm(x)


def numbers(name: str, given: ArrayLike) -> Array:
    try:
        return np.require(given, np.float64, ["C", "W"])
    except (TypeError, ValueError):
        raise ValueError(f"{name}: {given!r:.60}; numbers") from None


def number(name: str, given: float) -> float:
    if isinstance(given, bool | np.bool_ | str) or np.ndim(given):
        raise ValueError(f"{name}: {given!r:.60}; a number")
    try:
        return float(given)
    except (TypeError, ValueError):
        raise ValueError(f"{name}: {given!r:.60}; a number") from None

"""Certified bounds of the gap of two convex bodies in many poses, by numpy alone: no search is trusted.

A search (`spatial_proximity`, `planar_proximity`) proposes a direction and two points; what they prove is worked out
here from what a shape is. For any unit n

    g(n) = n . (centre b - centre a) - h_a(n) - h_b(-n),        h: how far a body extends along a direction

is the gap along n: below the distance of two bodies apart, and -g(n) above the least translation that parts two that
overlap (the depth). A point of a and a point of b prove the other side of a distance; a ball inside both proves an
overlap, twice its radius deep at least. Of a depth the lower bound alone is the search's own: its certified bracket.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reference_engine import elementary
from reference_engine.array_types import Array, Flags
from reference_engine.dense import mul
from reference_engine.geometry import planar_shapes as planar
from reference_engine.geometry import spatial_shapes as spatial
from reference_engine.geometry.planar_proximity import planar_proximities
from reference_engine.geometry.polygon import is_convex
from reference_engine.geometry.proximities import Proximities
from reference_engine.geometry.spatial_proximity import spatial_proximities

EPSILON = 2.0**-52
SHARES = tuple(np.linspace(0.0, 1.0, 9).tolist())
MOST_HALVINGS = 40
OPERATIONS = 32.0  # roundings that may add up in a support height or a gauge, relative to what is largest in it


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Of N poses of two bodies a and b, D = 2 or 3; world axes. The gap is negative in penetration: minus the depth."""

    lower: Array  # (N,) m: no gap is below, but for `error`
    upper: Array  # (N,) m: none is above, likewise
    overlaps: Flags  # (N,) a ball inside both bodies proves it
    normal: Array  # (N, D) unit, from a to b: the direction that proves `lower`
    point_a: Array  # (N, D) m; apart: two points that prove `upper`
    point_b: Array  # (N, D) m
    inside: Array  # (N, D) m: the centre of that ball where there is one, else midway between the two points
    error: Array  # (N,) m: of double precision at these coordinates


class Extents:
    """What of a convex shape bounds need. Raises TypeError for one that is not convex and bounded."""

    def __init__(self, shape: Any) -> None:
        self.shape = shape
        self.margin = 0.0
        self.faces, self.offsets = np.zeros((0, 3)), np.zeros(0)
        match shape:
            case spatial.Sphere(r) | planar.Disc(r):
                self.inner, self.outer = float(r), float(r)
            case spatial.Capsule(r, h):
                self.inner, self.outer = float(r), float(r + h)
            case spatial.Box(half):
                sizes = np.asarray(half, np.float64)
                self.inner, self.outer = float(sizes.min()), float(np.sqrt((sizes**2).sum()))
            case spatial.Cylinder(r, h):
                self.inner, self.outer = float(min(r, h)), float(np.sqrt(r * r + h * h))
            case spatial.Ellipsoid(axes):
                self.inner, self.outer = float(np.min(axes)), float(np.max(axes))
            case spatial.ConvexMesh(points):
                from scipy.spatial import ConvexHull  # here: it takes long to import

                self.vertices = np.asarray(points, np.float64)
                equations = ConvexHull(self.vertices).equations
                self._set_faces(equations[:, :3], -equations[:, 3])
            case planar.Polygon(vertices) if is_convex(vertices):
                self.vertices = np.asarray(vertices, np.float64)
                sides = np.roll(self.vertices, -1, axis=0) - self.vertices
                normals = np.column_stack([sides[:, 1], -sides[:, 0]])
                normals /= np.sqrt((normals**2).sum(axis=1))[:, None]
                self._set_faces(normals, (normals * self.vertices).sum(axis=1))
            case _:
                raise TypeError(f"{shape!r:.80} is not bounded and convex; bounds are of shapes that are both")
        if not self.inner > 0.0:
            raise TypeError(f"{shape!r:.80}: its centre is not inside; bounds need it there")

    def _set_faces(self, normals: Array, offsets: Array) -> None:
        self.faces, self.offsets = normals, offsets
        self.inner = float(offsets.min())
        self.outer = float(np.sqrt((self.vertices**2).sum(axis=1).max()))

    def along(self, n: Array) -> Array:
        """(N,) m: how far it extends from its centre along unit directions (N, D) of its own axes."""
        match self.shape:
            case spatial.Sphere(r) | planar.Disc(r):
                return np.full(len(n), float(r))
            case spatial.Capsule(r, h):
                return r + h * np.abs(n[:, 2])
            case spatial.Box(half):
                return np.asarray(mul(np.abs(n), np.asarray(half, np.float64)))
            case spatial.Cylinder(r, h):
                return r * np.sqrt(n[:, 0] ** 2 + n[:, 1] ** 2) + h * np.abs(n[:, 2])
            case spatial.Ellipsoid(axes):
                return np.sqrt(((n * np.asarray(axes, np.float64)) ** 2).sum(axis=1))
        return np.asarray(mul(n, self.vertices.T).max(axis=1))

    def gauge(self, x: Array) -> Array:
        """(N,) by what factor the shape would have to be scaled to have points (N, D) of its own axes on its surface.

        Below 1 inside. A point with gauge f < 1 is the centre of a ball of (1 - f) inner radii inside the shape, one
        with f > 1 is (1 - 1 / f) |x| from the shape at most: both by convexity.
        """
        match self.shape:
            case spatial.Sphere(r) | planar.Disc(r):
                return np.sqrt((x**2).sum(axis=1)) / r
            case spatial.Box(half):
                return (np.abs(x) / np.asarray(half, np.float64)).max(axis=1)
            case spatial.Cylinder(r, h):
                return np.maximum(np.sqrt(x[:, 0] ** 2 + x[:, 1] ** 2) / r, np.abs(x[:, 2]) / h)
            case spatial.Ellipsoid(axes):
                return np.sqrt(((x / np.asarray(axes, np.float64)) ** 2).sum(axis=1))
            case spatial.Capsule(r, h):
                return _capsule_gauge(x, r, h)
        return np.asarray((mul(x, self.faces.T) / self.offsets).max(axis=1))


def _capsule_gauge(x: Array, r: float, h: float) -> Array:
    """On the side across / r; beyond, the f with across^2 + (z - f h)^2 = (f r)^2."""
    across, z = np.sqrt(x[:, 0] ** 2 + x[:, 1] ** 2), np.abs(x[:, 2])
    side = across / r
    square = across**2 + z**2
    # (r^2 - h^2) f^2 + 2 z h f - square = 0, its positive root, without cancellation
    root = np.sqrt(np.maximum(0.0, (z * h) ** 2 + (r * r - h * h) * square))
    end = square / np.maximum(z * h + root, 1e-300)
    return np.where(z <= side * h, side, end)


def gap_along(a: Extents, b: Extents, turn: tuple[Array, Array], apart: Array, n: Array) -> Array:
    """(N,) m: g(n) of unit directions (N, D) from a to b; turn (N, D, D) each, body to world; apart (N, D) from the
    centre of a to that of b."""
    of_a = a.along(np.einsum("nij,ni->nj", turn[0], n))
    of_b = b.along(-np.einsum("nij,ni->nj", turn[1], n))
    return np.asarray(np.einsum("ni,ni->n", n, apart) - of_a - of_b)


def turns(orientation: Array) -> Array:
    """(..., 3, 3) or (..., 2, 2), body to world: of quaternions (..., 4), w first, or of angles (...)."""
    if orientation.ndim > 1 and orientation.shape[-1] == 4:
        q = orientation / np.sqrt((orientation**2).sum(axis=-1, keepdims=True))
        w, x, y, z = np.moveaxis(q, -1, 0)
        rows = [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
        return np.moveaxis(np.array([list(row) for row in rows]), (0, 1), (-2, -1))
    c, s = elementary.cos(orientation), elementary.sin(orientation)
    return np.moveaxis(np.array([[c, -s], [s, c]]), (0, 1), (-2, -1))


def pair_bounds(shapes: Sequence[Any], position: Array, orientation: Array) -> Bounds:
    """Of two convex shapes in N poses each: position (N, 2, D) m; orientation (N, 2, 4), w x y z, or (N, 2) rad.

    Raises TypeError for a shape that is not convex and bounded, or whose centre is not inside.
    """
    a, b = (Extents(shape) for shape in shapes)
    turn = turns(orientation[:, 0]), turns(orientation[:, 1])
    centre_a, centre_b = position[:, 0], position[:, 1]
    # The search is asked about the origin: coordinates far from it cost it digits.
    near = position - centre_a[:, None]
    found = _searched(shapes, near, orientation)
    n = found.normal / np.sqrt((found.normal**2).sum(axis=1))[:, None]
    apart = centre_b - centre_a
    lower = gap_along(a, b, turn, apart, n)
    size = a.outer + b.outer
    error = OPERATIONS * EPSILON * (size + np.abs(position).max(axis=(1, 2)) + np.sqrt((apart**2).sum(axis=1)))
    x_a, x_b = (np.einsum("nij,ni->nj", turn[0], found.point_a),
                np.einsum("nij,ni->nj", turn[1], found.point_b - apart))  # fmt: skip
    outside = sum(
        np.sqrt((x**2).sum(axis=1)) * np.maximum(0.0, 1.0 - 1.0 / np.maximum(one.gauge(x), 0.5))
        for one, x in ((a, x_a), (b, x_b))
    )
    distance = np.sqrt(((found.point_b - found.point_a) ** 2).sum(axis=1)) + outside
    middle = 0.5 * (found.point_a + found.point_b)
    rows = np.flatnonzero(lower < -error)
    balls = _Balls((a, b), (turn[0][rows], turn[1][rows]), apart[rows], middle[rows])
    balls.between_centres()
    balls.climb(error[rows])
    inside, ball = middle, np.full(len(middle), -np.inf)
    inside[rows], ball[rows] = balls.centre, balls.radius
    overlaps = ball > error
    searched = found.gap + found.uncertainty
    deep = np.where(overlaps, np.minimum(searched, -2.0 * ball), np.clip(searched, 0.0, distance))
    upper = np.where(lower > 0.0, distance, deep)
    return Bounds(
        lower=lower, upper=np.maximum(upper, lower), overlaps=overlaps, normal=n, point_a=found.point_a + centre_a,
        point_b=found.point_b + centre_a, inside=inside + centre_a, error=error,
    )  # fmt: skip


class _Balls:
    """Of each pose the largest ball inside both bodies of those about points that were tried; radius below 0: none."""

    def __init__(self, extents: tuple[Extents, Extents], turn: tuple[Array, Array], apart: Array, first: Array) -> None:
        self._extents, self._turn, self._apart = extents, turn, apart
        self.centre = first.copy()
        self.radius = self._of(first, slice(None))

    def _of(self, points: Array, rows: Any) -> Array:
        a, b = self._extents
        in_a = a.inner * (1.0 - a.gauge(np.einsum("nij,ni->nj", self._turn[0][rows], points)))
        in_b = b.inner * (1.0 - b.gauge(np.einsum("nij,ni->nj", self._turn[1][rows], points - self._apart[rows])))
        return np.minimum(in_a, in_b)

    def attempt(self, points: Array, rows: Any) -> None:
        own = self._of(points, rows)
        better = own > self.radius[rows]
        chosen = np.arange(len(self.radius))[rows][better]
        self.centre[chosen], self.radius[chosen] = points[better], own[better]

    def between_centres(self) -> None:
        """Points between the two centres, and on the ways from the best of them to the first point and the centres."""
        first, apart, rows = self.centre.copy(), self._apart, slice(None)
        for share in SHARES:
            self.attempt(share * apart, rows)
        for share in SHARES[1:-1]:
            self.attempt(self.centre + share * (first - self.centre), rows)
            self.attempt(share * self.centre, rows)
            self.attempt(apart + share * (self.centre - apart), rows)

    def climb(self, enough: Array) -> None:
        """Where there is none yet of the radius `enough` (N,): steps along the axes, halved where none is better. The
        radius is concave."""
        rows = np.flatnonzero(self.radius <= enough)
        size = self.centre.shape[1]
        step = np.full((len(rows), 1), 0.25 * min(one.inner for one in self._extents))
        for _ in range(MOST_HALVINGS):
            before = self.radius[rows]
            for axis in np.concatenate([np.eye(size), -np.eye(size)]):
                self.attempt(self.centre[rows] + step * axis, rows)
            step[self.radius[rows] <= before] *= 0.5


def _searched(shapes: Sequence[Any], position: Array, orientation: Array) -> Proximities:
    """One row a pose."""
    if position.shape[-1] == 3:
        found = spatial_proximities(spatial.spatial_shapes(shapes, [False, False]), position, orientation, np.inf)
    else:
        poses = np.concatenate([position, orientation[..., None]], axis=-1)
        found = planar_proximities(planar.planar_shapes(shapes, [False, False]), poses, np.inf, points=1)
    assert len(found) == len(position), "two bounded bodies have a gap in every pose"
    return found

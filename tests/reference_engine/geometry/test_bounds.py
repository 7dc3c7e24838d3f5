"""Certified bounds of a gap: against linear programs, least squares and points; whatever the search says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog, nnls
from scipy.spatial import ConvexHull

from reference_engine.array_types import Array
from reference_engine.geometry import bounds as module
from reference_engine.geometry.bounds import Extents, gap_along, pair_bounds, turns
from reference_engine.geometry.planar_shapes import Disc, Polygon
from reference_engine.geometry.spatial_shapes import Box, Capsule, ConvexMesh, Cylinder, Ellipsoid, HalfSpace, Sphere
from tests.effort import tries

CORNERS = np.array([(x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
BOX = Box((0.3, 0.2, 0.1))
MESH = ConvexMesh(np.random.default_rng(5).normal(size=(12, 3)) * (0.3, 0.2, 0.25))
SHAPES = (Sphere(0.3), BOX, Capsule(0.1, 0.3), Cylinder(0.2, 0.3), Ellipsoid((0.3, 0.1, 0.2)), MESH)
PAIRS = [(a, b) for i, a in enumerate(SHAPES) for b in SHAPES[i:]]
PLANAR = (Disc(0.3), Polygon([(-0.4, -0.1), (0.4, -0.1), (0.1, 0.3)]))


def poses(count: int, reach_of: float, seed: int = 1) -> tuple[Array, Array]:
    """(N, 2, 3), (N, 2, 4): anyhow, the centres up to so far apart; the first is away from the origin."""
    rng = np.random.default_rng(seed)
    position = np.tile(np.array([0.5, -0.25, 1.0]), (count, 2, 1))
    way = rng.normal(size=(count, 3))
    position[:, 1] += way / np.linalg.norm(way, axis=1)[:, None] * rng.uniform(0.0, reach_of, (count, 1))
    return position, rng.normal(size=(count, 2, 4))


def corners(shape: Any, position: Array, turn: Array) -> Array:
    given = CORNERS * shape.half_extents if isinstance(shape, Box) else np.asarray(shape.points)
    return np.asarray(given @ turn.T + position)


def least_distance(p: Array, q: Array) -> float:
    """Of the hulls of two sets of points: non-negative least squares, sum(w d) = 0 as nearly as sum(w) = 1 lets it."""
    differences = (p[:, None] - q[None]).reshape(-1, 3)
    heavy = 1e4
    rows = np.vstack([differences.T, np.full(len(differences), heavy)])
    weights, _ = nnls(rows, np.array([0.0, 0.0, 0.0, heavy]))
    return float(np.linalg.norm(weights @ differences / weights.sum()))


def overlap_by_linear_program(p: Array, q: Array) -> bool:
    """Is a point a mixture of either set?"""
    equal = np.vstack([np.hstack([p.T, -q.T]), np.r_[np.ones(len(p)), np.zeros(len(q))],
                       np.r_[np.zeros(len(p)), np.ones(len(q))]])  # fmt: skip
    found = linprog(np.zeros(len(p) + len(q)), A_eq=equal, b_eq=[0.0, 0.0, 0.0, 1.0, 1.0])
    return bool(found.status == 0)


def least_depth(p: Array, q: Array) -> float:
    """The least way out of two hulls is the least distance from 0 to a face of the hull of all differences."""
    return float(-ConvexHull((p[:, None] - q[None]).reshape(-1, 3)).equations[:, 3].max())


@pytest.mark.parametrize(("a", "b"), [(BOX, BOX), (BOX, MESH), (MESH, MESH)])
def test_bounds_of_polytopes_enclose_distance_and_depth_by_linear_programs_and_least_squares(a: Any, b: Any) -> None:
    position, orientation = poses(tries(100, 25), 0.8)
    found, turn = pair_bounds((a, b), position, orientation), turns(orientation)
    for k in range(len(position)):
        p, q = corners(a, position[k, 0], turn[k, 0]), corners(b, position[k, 1], turn[k, 1])
        assert overlap_by_linear_program(p, q) == found.overlaps[k] == (found.lower[k] < 0.0)
        gap = -least_depth(p, q) if found.overlaps[k] else least_distance(p, q)
        assert found.lower[k] - 1e-9 <= gap <= found.upper[k] + 1e-9
        assert found.upper[k] - found.lower[k] < 1e-9


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_no_direction_and_no_two_points_contradict_the_bounds(a: Any, b: Any) -> None:
    """Of all shapes: of directions and of points that are drawn, g(n) <= upper and |x_b - x_a| >= lower."""
    rng = np.random.default_rng(3)
    position, orientation = poses(tries(100, 40), 0.9)
    found, turn = pair_bounds((a, b), position, orientation), turns(orientation)
    extents, apart = (Extents(a), Extents(b)), position[:, 1] - position[:, 0]
    drawn = []
    for side, one in enumerate(extents):
        x = rng.normal(size=(len(position), 3))
        x /= one.gauge(x)[:, None]  # on its surface
        drawn.append(position[:, side] + np.einsum("nij,nj->ni", turn[:, side], x))
    assert (np.linalg.norm(drawn[1] - drawn[0], axis=1) >= found.lower - 1e-12).all()
    for _ in range(20):
        n = rng.normal(size=apart.shape)
        n /= np.linalg.norm(n, axis=1)[:, None]
        assert (gap_along(*extents, (turn[:, 0], turn[:, 1]), apart, n) <= found.upper + 1e-12).all()
    assert (found.overlaps == (found.lower < 0.0)).mean() > 0.97  # a few are too shallow to be proven
    assert ((found.upper - found.lower)[found.overlaps | (found.lower > 0.0)] < 1e-6).mean() > 0.97


@pytest.mark.parametrize("shape", [*SHAPES, *PLANAR])
def test_the_extent_of_a_shape_is_the_furthest_of_its_surface_by_its_gauge(shape: Any) -> None:
    """Two descriptions of one shape: h(n) = max over u of n . u / gauge(u); nearly, of many directions u."""
    rng, size = np.random.default_rng(2), 2 if shape in PLANAR else 3
    u = rng.normal(size=(20_000, size))
    extents, n = Extents(shape), rng.normal(size=(20, size))
    n /= np.linalg.norm(n, axis=1)[:, None]
    surface = u / extents.gauge(u)[:, None]
    furthest = (surface @ n.T).max(axis=0)
    assert (furthest <= extents.along(n) * (1.0 + 1e-12)).all()
    assert furthest == pytest.approx(extents.along(n), rel=0.05)


def test_a_search_that_is_wrong_makes_the_bounds_wider_and_not_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """Apart or not, a wrong direction and wrong points prove less; nothing false."""
    position, orientation = poses(200, 0.8)
    right = pair_bounds((BOX, MESH), position, orientation)
    searched = module._searched

    def wrong(*given: Any) -> Any:
        found = searched(*given)
        return replace(found, normal=found.normal[:, [1, 2, 0]], point_a=found.point_a + 0.1)

    monkeypatch.setattr(module, "_searched", wrong)
    found = pair_bounds((BOX, MESH), position, orientation)
    assert (found.lower <= right.upper + 1e-12).all()
    assert (found.upper >= right.lower - 1e-12).all()
    assert (found.upper - found.lower > 0.01).mean() > 0.9


def test_planar_shapes_have_bounds_too() -> None:
    rng = np.random.default_rng(4)
    position = np.zeros((300, 2, 2))
    position[:, 1] = rng.uniform(-0.8, 0.8, (300, 2))
    angle = rng.uniform(-3.0, 3.0, (300, 2))
    found = pair_bounds(PLANAR, position, angle)
    corners_of_b = np.einsum("nij,kj->nki", turns(angle[:, 1]), np.asarray(PLANAR[1].vertices)) + position[:, 1:]  # type: ignore[union-attr]
    inside = (np.linalg.norm(corners_of_b, axis=2) < 0.3).any(axis=1)
    assert found.overlaps[inside].mean() > 0.97  # a few are too shallow to be proven
    assert (found.lower[inside] < 0.0).all()
    assert (found.lower[~found.overlaps] > 0.0).mean() > 0.99


def test_a_shape_without_bounds_is_refused() -> None:
    with pytest.raises(TypeError, match="not bounded and convex"):
        Extents(HalfSpace((0.0, 0.0, 0.0), (0.0, 0.0, 1.0)))
    with pytest.raises(TypeError, match="its centre is not inside"):
        Extents(ConvexMesh(np.asarray(MESH.points) + 5.0))

"""Minkowski portal refinement against distances in long double, and against the search that measures engines."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from reference_engine.geometry.ellipsoid_proximity import ellipsoid_proximities
from reference_engine.geometry.spatial_shapes import (
    Box,
    Capsule,
    Cone,
    ConvexMesh,
    Cylinder,
    Ellipsoid,
    Sphere,
    corners_and_rims,
    spatial_shapes,
)
from tests.effort import few, tries
from tests.reference_engine.geometry.ellipsoid_oracle import distance, pair, slab
from tests.reference_engine.geometry.ellipsoid_scenes import facing, random_bodies, twos
from tests.reference_engine.geometry.mpr_pairs import mpr_proximities
from tests.reference_engine.geometry.spatial_scenes import BOUNDED, attitude, gap, proximity, shape_of

UPRIGHT = (1.0, 0.0, 0.0, 0.0)


def portal(p, q, d, q_p=UPRIGHT, q_q=UPRIGHT):
    return mpr_proximities(spatial_shapes([p, q], [False, False]), [(0, 0, 0), d], [q_p, q_q], [(0, 1)])


@pytest.mark.parametrize("aspect", [1.0, 5.0, 20.0])
def test_ellipsoids_that_touch_are_as_far_apart_as_in_long_double(aspect):
    rng = np.random.default_rng(7)
    axes, turned = random_bodies(rng, 300, aspect)
    position, n = facing(rng, axes, turned, rng.choice([0.0, 1e-12, 1e-9, 1e-6], 300))
    near = mpr_proximities(
        spatial_shapes([Ellipsoid(a) for a in axes], [False] * 600), position, turned, twos(300)
    )  # fmt: skip
    at_least, at_most = distance(pair(axes, position, turned), n)
    extent = axes.max(axis=1).reshape(-1, 2).sum(axis=1)
    assert (np.abs(near.gap - at_least).astype(float) <= near.uncertainty + (at_most - at_least).astype(float)).all()
    assert (np.abs(near.gap - at_least) <= 1e-13 * extent).all()
    assert (near.uncertainty <= 1e-12 * extent).all()


def test_deep_ellipsoids_are_parted_by_the_slab_that_is_found():
    rng = np.random.default_rng(8)
    axes, turned = random_bodies(rng, 300, 20.0)
    thin = axes.reshape(-1, 6).min(axis=1)
    position, _ = facing(rng, axes, turned, -thin * rng.uniform(0.1, 3.0, 300))
    near = mpr_proximities(
        spatial_shapes([Ellipsoid(a) for a in axes], [False] * 600), position, turned, twos(300)
    )  # fmt: skip
    width, _ = slab(pair(axes, position, turned, float), near.normal)
    assert_allclose(near.gap, width, atol=1e-13)
    least = ellipsoid_proximities(axes, position, turned, twos(300))
    assert (near.gap <= least.gap + least.uncertainty + 1e-13).all()
    assert np.mean(near.gap < least.gap - 1e-9) < 0.1  # the nearest of several minima is not always the least
    assert_allclose(near.point_b - near.point_a, near.gap[:, None] * near.normal, atol=1e-12)


@pytest.mark.parametrize("names", list(itertools.combinations_with_replacement(BOUNDED, 2)))
def test_every_pair_of_shapes_touches_where_the_search_that_measures_says(names):
    rng = np.random.default_rng([9, *map(ord, "".join(names))])
    for _ in range(tries(3, 1)):
        p, q = (through_its_origin(shape_of(name, rng)) for name in names)
        q_p, q_q, away, u = attitude(rng), attitude(rng), 3.0, rng.normal(size=3)
        u /= np.linalg.norm(u)
        for _ in range(8):  # along u until they touch
            away -= gap(p, q, away * u, q_p, q_q)
        for further in (1e-4, -1e-4, 0.3):
            d = (away + further) * u
            measured, near = proximity(p, q, d, q_p, q_q), portal(p, q, d, q_p, q_q)
            assert near.gap[0] == pytest.approx(measured.gap[0], abs=1e-10 + measured.uncertainty[0])
            assert_allclose(near.point_b[0] - near.point_a[0], near.gap[0] * near.normal[0], atol=1e-14)


def corner_towards(x, y, z, about=0.0):
    """A cube's (w, x, y, z) that brings its corner (1, 1, 1) to that direction, turned about it."""
    turned, _ = Rotation.align_vectors([(x, y, z)], [(1.0, 1.0, 1.0)])
    w = Rotation.from_rotvec(about * np.array([x, y, z]) / np.linalg.norm([x, y, z])) * turned
    return np.roll(w.as_quat(), 1), w.apply((1.0, 1.0, 1.0))


@pytest.mark.parametrize("apart", [1e-9, 1e-6, 1e-4, 1e-3, 1e-2])
@pytest.mark.parametrize("along", [(1.0, 0.0, 0.0), (0.95, 0.2, 0.24)])
def test_corners_that_are_apart_are_as_far_apart_as_they_are(apart, along):
    cube, n = Box((1.0, 1.0, 1.0)), np.array(along) / np.linalg.norm(along)
    (q_p, corner_p), (q_q, corner_q) = corner_towards(1.0, 0.0, 0.0), corner_towards(-1.0, -0.2, 0.0, 0.3)
    near = portal(cube, cube, corner_p + apart * n - corner_q, q_p, q_q)
    assert near.gap[0] == pytest.approx(apart, rel=0.0, abs=1e-14)
    assert_allclose(near.point_a[0], corner_p, atol=1e-14)


SOLIDS = {
    "ellipsoid": Ellipsoid((0.1, 0.15, 0.2)), "box": Box((0.1, 0.15, 0.2)), "capsule": Capsule(0.1, 0.1),
    "cylinder": Cylinder(0.1, 0.15), "cone": Cone(0.1, 0.3), "sphere": Sphere(0.15),
    "mesh": ConvexMesh(0.2 * np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)])),
}  # fmt: skip


PAIRS = list(itertools.combinations_with_replacement(SOLIDS, 2))


@pytest.mark.parametrize(("names",), few(len(PAIRS[::3]), [(pair,) for i in range(3) for pair in PAIRS[i::3]]))
def test_normals_of_bodies_that_turn_in_one_another_have_no_noise(names):
    """Nine states along a smooth path: a polynomial of degree 5 has them, but where it passes from edge to side."""
    p, q = (SOLIDS[name] for name in names)
    rng, t = np.random.default_rng(3), np.linspace(-1.0, 1.0, 9)
    off = []
    for _ in range(10):
        q_p, q_q, u, aside, turn = attitude(rng), attitude(rng), rng.normal(size=3), rng.normal(size=3), attitude(rng)
        u /= np.linalg.norm(u)
        away = 1.0
        for _ in range(20):  # along u until they touch
            away -= portal(p, q, away * u + 0.03 * aside, q_p, q_q).gap[0]
        path = [x for s in t for x in ((0.0, 0.0, 0.0), (away - 2e-4) * u + 0.03 * aside + 1e-4 * s * aside)]
        turned = [x for s in t for x in (q_p, np.asarray(q_q) + 1e-3 * s * np.asarray(turn))]
        near = mpr_proximities(spatial_shapes([p, q] * 9, [False] * 18), path, turned, np.arange(18).reshape(-1, 2))
        fit = np.polynomial.Polynomial.fit
        off.append(max(np.abs(x - fit(t, x, 5)(t)).max() for x in near.normal.T))
    assert np.median(off) < 1e-13
    assert np.quantile(off, 0.8) < 1e-12


EDGED = list(itertools.combinations_with_replacement(("mesh", "cylinder", "box"), 2))


@pytest.mark.parametrize(("names",), few(2, [(pair,) for pair in EDGED]))
def test_points_of_bodies_that_touch_are_on_their_surfaces_unless_the_uncertainty_says_how_far_off(names):
    """Of a gap that is right points may still be wrong: a search that ends early in a thin simplex has none."""
    rng = np.random.default_rng([11, *map(ord, "".join(names))])
    shapes, count = [SOLIDS[name] for name in names], 200
    ids, turned = np.arange(2 * count).reshape(-1, 2), np.array([attitude(rng) for _ in range(2 * count)])
    position, u = np.zeros((2 * count, 3)), rng.normal(size=(count, 3))
    position[1::2] = u / np.linalg.norm(u, axis=1)[:, None]
    packed = spatial_shapes(shapes * count, [False] * 2 * count)
    for _ in range(20):
        near = mpr_proximities(packed, position, turned, ids)
        position[1::2] -= (near.gap + rng.choice([-1e-9, 0.0, 1e-9, 1e-12], count))[:, None] * near.normal
    near = mpr_proximities(packed, position, turned, ids)
    for side, shape, point, n in (
        (0, shapes[0], near.point_a, near.normal),
        (1, shapes[1], near.point_b, -near.normal),
    ):
        R = Rotation.from_quat(np.roll(turned[side::2], -1, axis=1))
        local, along = R.inv().apply(point - position[side::2]), R.inv().apply(n)
        rows = corners_and_rims(shape)
        h = along @ rows[:, :3].T + np.hypot(along[:, 0], along[:, 1])[:, None] * rows[:, 3]
        off = np.abs((local * along).sum(axis=1) - h.max(axis=1))
        if isinstance(shape, Cylinder):
            off = np.maximum(off, np.hypot(local[:, 0], local[:, 1]) - shape.radius)
        assert (off <= 1e-9 + near.uncertainty).all()
        assert np.mean(off <= 1e-12) > 0.95


def through_its_origin(shape):
    """A random mesh need not have its origin inside; a body's centre of mass is."""
    return ConvexMesh(np.concatenate([shape.points, -shape.points])) if isinstance(shape, ConvexMesh) else shape


def test_a_ray_through_a_corner_an_edge_or_a_face_needs_no_luck():
    cube, brick = Box((1.0, 1.0, 1.0)), Box((0.5, 0.5, 0.5))
    assert portal(cube, brick, (1.6, 0.0, 0.0)).gap[0] == pytest.approx(0.1, abs=1e-15)
    assert portal(cube, brick, (1.4, 0.0, 0.0)).gap[0] == pytest.approx(-0.1, abs=1e-15)
    assert portal(cube, brick, (1.6, 1.6, 0.0)).gap[0] == pytest.approx(np.hypot(0.1, 0.1), abs=1e-15)
    assert portal(cube, brick, (1.6, 1.6, 1.6)).gap[0] == pytest.approx(np.sqrt(0.03), abs=1e-15)
    assert portal(cube, Sphere(0.5), (0.0, 0.0, -1.25)).gap[0] == pytest.approx(-0.25, abs=1e-15)


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ((Sphere(1.0), Sphere(2.0)), r"pairs\[0\]: \[0, 1\] have one centre; no direction parts them"),
        ((Sphere(1.0), Box((1.0, 1.0, 0.0))), r"shapes\[1\]: 0 m from its origin .* a flat body has no inside"),
        ((Cylinder(1.0, 1e-9), Sphere(1.0)), r"shapes\[0\]: 1e-09 m from its origin"),
        ((Sphere(1.0), ConvexMesh(np.eye(4, 3))), r"shapes\[1\]: -?0 m from its origin"),
    ],
)
def test_what_has_no_portal_is_named(shapes, message):
    with pytest.raises(ValueError, match=message):
        mpr_proximities(spatial_shapes(shapes, [False] * 2), np.zeros((2, 3)), [UPRIGHT] * 2, [(0, 1)])

"""Ellipsoids above planes and inside hollow spheres: furthest points, also where there are many."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from reference_engine.geometry.ellipsoid_proximity import (
    CIRCLE,
    CONTAINER,
    ONE_POINT,
    SPHERE,
    TWO_POINTS,
    half_space_proximities,
    sphere_interior_proximities,
)
from tests.reference_engine.geometry.ellipsoid_oracle import rotation, sphere_points, support
from tests.reference_engine.geometry.ellipsoid_scenes import random_bodies

UPRIGHT = (1.0, 0.0, 0.0, 0.0)


def inside(axes, centre, radius=1.0, **options):
    """One ellipsoid at the origin, the sphere about `centre`."""
    return sphere_interior_proximities([axes], [(0, 0, 0)], [UPRIGHT], radius=radius, centre=centre, **options)


@pytest.mark.parametrize("aspect", [1.0, 3.0, 100.0])
def test_the_gap_to_a_plane_is_the_height_of_the_lowest_point(aspect):
    rng = np.random.default_rng([1, int(aspect)])
    axes, turned = random_bodies(rng, 100, aspect)
    position, point, normal = rng.normal(size=(200, 3)), rng.normal(size=3), rng.normal(size=3)
    near = half_space_proximities(axes, position, turned, point=point, normal=normal)
    n = normal / np.linalg.norm(normal)
    h, lowest = support(axes, rotation(turned, float), np.broadcast_to(-n, (200, 3)))
    assert_allclose(near.gap, (position - point) @ n - h, rtol=0, atol=1e-14)
    assert_allclose(near.point_a, position + lowest, rtol=0, atol=1e-13)
    assert_allclose((near.point_b - point) @ n, 0.0, atol=1e-14)
    assert_allclose(near.normal, np.broadcast_to(-n, (200, 3)), atol=1e-15)
    assert (near.b == CONTAINER).all() and (near.a == np.arange(200)).all() and (near.uncertainty < 1e-13).all()


@pytest.mark.parametrize("aspect", [1.5, 10.0, 100.0])
def test_no_point_of_an_ellipsoid_is_further_out_than_the_first_row(aspect):
    """Its point is on the body and its tangent plane is across the way there, and no sampled point is further."""
    rng = np.random.default_rng([2, int(aspect)])
    axes, turned = random_bodies(rng, 100, aspect)
    position, centre = rng.normal(size=(200, 3)) * rng.choice([1e-6, 0.1, 1.0], (200, 1)), rng.normal(size=3) * 1e-3
    found = sphere_interior_proximities(axes, position, turned, radius=2.0, centre=centre)
    R = rotation(turned, float)
    first = np.searchsorted(found.near.a, np.arange(200))
    for rows in (first, np.flatnonzero(np.isin(np.arange(len(found.near)), first, invert=True))):
        body, point, n = found.near.a[rows], found.near.point_a[rows], found.near.normal[rows]
        own = np.einsum("nji,nj->ni", R[body], point - position[body]) / axes[body]
        assert_allclose(np.linalg.norm(own, axis=1), 1.0, atol=1e-13)
        _, furthest = support(axes[body], R[body], n)
        assert (((position[body] + furthest - point) * n).sum(axis=1) <= 1e-13).all()
        assert_allclose(2.0 - found.near.gap[rows], np.linalg.norm(point - centre, axis=1), atol=1e-14)
    samples = sphere_points(3000)
    for k in range(0, 200, 5):
        surface = position[k] + (samples * axes[k]) @ R[k].T
        assert np.linalg.norm(surface - centre, axis=1).max() <= 2.0 - found.near.gap[first[k]] + 1e-14


@pytest.mark.parametrize("d", [0.02, 0.1])
def test_the_second_row_is_a_local_maximum_on_the_far_side(d):
    found = inside((1.0, 0.6, 0.3), (d, 0.05, 0.1), radius=1.5)
    assert found.kind[0] == ONE_POINT and len(found.near) == 2
    x, y = found.near.point_a
    assert x[0] < 0.0 < y[0] and found.near.gap[0] < found.near.gap[1]
    u = y / (1.0, 0.6, 0.3)
    for step in sphere_points(50) * 1e-4:
        v = u + step
        beside = v / np.linalg.norm(v) * (1.0, 0.6, 0.3)
        assert np.linalg.norm(beside - (d, 0.05, 0.1)) < np.linalg.norm(y - (d, 0.05, 0.1)) + 1e-15


@pytest.mark.parametrize(
    ("axes", "centre", "kind"),
    [
        ((1, 0.5, 0.3), (0, 0, 0), TWO_POINTS),
        ((1, 0.5, 0.5), (0, 0.1, 0.2), TWO_POINTS),
        ((1, 0.5, 0.3), (0, 0.1, 0.1), TWO_POINTS),
        ((1, 0.5, 0.3), (0, 2.0, 0), ONE_POINT),  # the sum stays above 1: one end of the middle axis
        ((1, 0.5, 0.3), (1e-6, 0.1, 0.1), ONE_POINT),
        ((1, 0.5, 0.3), (1e-14, 0.1, 0.1), TWO_POINTS),  # a tie to round-off
        ((1, 1, 0.3), (0, 0, 0.2), CIRCLE),
        ((1, 0.3, 1), (0, 0, 0), CIRCLE),
        ((1, 1, 0.3), (1e-14, 0, 0.2), CIRCLE),
        ((1, 1 - 1e-14, 0.3), (0, 0, 0.2), CIRCLE),
        ((1, 1, 0.3), (1e-6, 0, 0.2), ONE_POINT),
        ((1, 1, 0.3), (0, 0, 5.0), ONE_POINT),  # from far up the axis the pole below is furthest
        ((1, 1, 1), (0, 0, 0), SPHERE),
        ((1, 1, 1 - 1e-14), (0, 1e-14, 0), SPHERE),
        ((1, 1, 1), (0, 0, 0.1), ONE_POINT),
    ],
)
def test_where_several_points_are_furthest_geometry_says_which(axes, centre, kind):
    found = inside(axes, centre, radius=10.0)
    near = found.near
    assert found.kind[0] == kind
    tied = np.count_nonzero(near.gap <= near.gap[0] + 1e-11)
    assert tied == {ONE_POINT: 1, TWO_POINTS: 2, CIRCLE: 4, SPHERE: 4}[kind]
    assert_allclose(np.linalg.norm(near.point_a / axes, axis=1), 1.0, atol=1e-13)
    support_point = np.linalg.norm(sphere_points(4000) * axes - centre, axis=1).max()
    assert support_point <= 10.0 - near.gap[0] + 1e-13
    separate = np.linalg.norm(near.point_a[:, None] - near.point_a, axis=2) + np.eye(len(near))
    assert (separate > 0.5).all()


@pytest.mark.parametrize(("axes", "centre"), [((1, 1, 0.3), (0, 0, 5.0)), ((1, 0.6, 0.3), (0, 2.0, 1.0))])
def test_one_furthest_point_is_one_however_the_body_is_turned(axes, centre):
    """Round-off of 1e-16 in a square would make a circle, or a pair, 1e-8 across of it."""
    rng = np.random.default_rng(3)
    for _ in range(40):
        q = rng.normal(size=4)
        turn = Rotation.from_quat(np.roll(q, -1))
        found = sphere_interior_proximities([axes], [turn.apply(np.negative(centre))], [q], radius=10.0)
        assert found.kind[0] == ONE_POINT


def test_a_tie_is_as_wide_as_one_says():
    for tie, kind in ((1e-3, TWO_POINTS), (0.0, ONE_POINT)):
        assert inside((1, 0.5, 0.3), (1e-5, 0.0, 0.0), tie=tie).kind[0] == kind


def test_an_ellipse_longer_than_the_bowl_is_curved_lies_on_two_points():
    """Semi-axes 0.6 and 0.2 in a circle of 0.9: level, its centre sqrt(0.4) below the circle's, x = +-0.5511."""
    found = sphere_interior_proximities([(0.6, 0.1, 0.2)], [(0, 0, -np.sqrt(0.4))], [UPRIGHT], radius=0.9)
    assert found.kind[0] == TWO_POINTS
    assert_allclose(found.near.gap, 0.0, atol=1e-15)
    assert_allclose(abs(found.near.point_a[:, 0]), 0.5511351921262151, atol=1e-14)
    assert_allclose(found.near.point_a[:, 2] + np.sqrt(0.4), -0.07905694150420948, atol=1e-14)


def test_a_ball_in_a_ball():
    found = sphere_interior_proximities([(0.3,) * 3], [(0.1, 0.2, 0.2)], [(1, 2, 3, 4)], radius=1.0)
    assert found.kind[0] == ONE_POINT
    assert found.near.gap[0] == pytest.approx(1.0 - 0.3 - 0.3, abs=1e-15)
    assert_allclose(found.near.normal[0], np.array([1, 2, 2]) / 3, atol=1e-15)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"radius": 0.0}, r"radius: 0.0 m; positive, at most 1e\+40"),
        ({"radius": 1.0, "centre": (0, 0)}, r"centre: \(0, 0\); three finite numbers"),
        ({"radius": 1.0, "tie": -1.0}, "tie: -1.0 m; at least 0 and finite"),
    ],
)
def test_bad_hollow_spheres_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        sphere_interior_proximities([(1, 1, 1)], [(0, 0, 0)], [UPRIGHT], **options)


def test_a_plane_needs_a_direction():
    with pytest.raises(ValueError, match=r"normal: \(0, 0, 0\) has no direction"):
        half_space_proximities([(1, 1, 1)], [(0, 0, 0)], [UPRIGHT], point=(0, 0, 0), normal=(0, 0, 0))

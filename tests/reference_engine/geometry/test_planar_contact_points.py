"""Resting contacts have two corners, each with its own gap."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from reference_engine.geometry.planar_proximity import planar_proximities
from reference_engine.geometry.planar_shapes import Bowl, HalfPlane, Polygon, planar_shapes
from tests.reference_engine.geometry.planar_scenes import BOX, convex_polygon, random_pose

FLOOR = Polygon([[-10, -1], [10, -1], [10, 0], [-10, 0]])


def corners(near):
    order = np.argsort(near.point_b[:, 0])
    return near.point_b[order], near.gap[order]


@pytest.mark.parametrize("floor", [HalfPlane((0, 0), (0, 1)), FLOOR])
@pytest.mark.parametrize("tilt", [0.0, 1e-3, -1e-3])
def test_a_tilted_box_on_a_floor_has_a_gap_under_each_corner(floor, tilt):
    shapes = planar_shapes([floor, Polygon(BOX)], [True, False])
    near = planar_proximities(shapes, [(0, 0, 0), (2.0, 0.501, tilt)], 0.1)
    low = np.array([[-0.5, -0.5], [0.5, -0.5]]) @ [[np.cos(tilt), np.sin(tilt)], [-np.sin(tilt), np.cos(tilt)]]
    points, gaps = corners(near)
    assert_allclose(points, low + np.array([2.0, 0.501]), atol=1e-15 if isinstance(floor, HalfPlane) else 1e-6)
    assert_allclose(gaps, 0.501 + low[:, 1], atol=1e-14 if isinstance(floor, HalfPlane) else 1e-6)
    assert_allclose(np.abs(near.normal[:, 1]), 1.0, atol=1e-6)


def test_a_box_that_overhangs_touches_at_the_edge_of_the_one_below():
    shapes = planar_shapes([Polygon(BOX), Polygon(BOX)], [False, False])
    near = planar_proximities(shapes, [(0, 0, 0), (0.3, 1.0, 0)], 0.1)
    points, gaps = corners(near)
    assert_allclose(points, [[-0.2, 0.5], [0.5, 0.5]], atol=1e-15)
    assert_allclose(gaps, 0.0, atol=1e-15)


@pytest.mark.parametrize("miss", [0.0, 1e-8, -1e-8, 1e-16])
@pytest.mark.parametrize("apart", [0.0332031255, 0.0])
def test_faces_end_to_end_have_their_points_at_the_corners_that_meet(apart, miss):
    """Found by fuzzing: round-off chose the other corner of the face, or a point beside it that is on neither box."""
    shapes = planar_shapes([Polygon(BOX), Polygon(BOX)], [False, False])
    for angle in np.linspace(0.0, 2.0 * np.pi, 37):
        c, s = np.cos(angle), np.sin(angle)
        turn = np.array([[c, -s], [s, c]])
        x, y = turn @ [1.0 + apart, 1.0 + miss]
        near = planar_proximities(shapes, [(0.3, -0.2, angle), (0.3 + x, y - 0.2, angle)], 0.1)
        gap, within = np.hypot(apart, max(0.0, miss)), 2e-15 + max(0.0, -miss)
        assert_allclose(near.gap, gap, atol=1e-15)
        for ours, theirs in zip(near.point_a, near.point_b):
            assert_allclose((ours - [0.3, -0.2]) @ turn, [0.5, 0.5], atol=within)
            assert_allclose((theirs - [0.3, -0.2]) @ turn, [0.5 + apart, 0.5 + miss], atol=within)


def test_a_u_on_the_floor_stands_on_both_its_legs():
    u = Polygon([[-2, -1], [-1, -1], [-1, 0], [1, 0], [1, -1], [2, -1], [2, 1], [-2, 1]])
    shapes = planar_shapes([FLOOR, u], [True, False])
    points, gaps = corners(planar_proximities(shapes, [(0, 0, 0), (0, 1.0, 0)], 0.1))
    assert_allclose(points, [[-2, 0], [-1, 0], [1, 0], [2, 0]], atol=1e-15)
    assert_allclose(gaps, 0.0, atol=1e-15)


def test_a_box_in_a_bowl_touches_with_two_corners():
    shapes = planar_shapes([Polygon(BOX), Bowl(2.0)], [False, True])
    height = -np.sqrt(4.0 - 0.25) + 0.5
    points, gaps = corners(planar_proximities(shapes, [(0, height, 0), (0, 0, 0)], 0.1))
    assert_allclose(points[:, 0], [-0.5, 0.5], atol=1e-12)
    assert_allclose(gaps, 0.0, atol=1e-15)


def test_the_deepest_contact_point_is_the_proximity_and_none_is_deeper():
    rng = np.random.default_rng(1)
    shapes = planar_shapes([convex_polygon(rng), convex_polygon(rng)], [False, False])
    poses = np.array([[random_pose(rng, 1.0), random_pose(rng, 1.0)] for _ in range(3000)])
    single, many = planar_proximities(shapes, poses, 0.2, points=1), planar_proximities(shapes, poses, 0.2)
    deepest = np.full(len(poses), np.inf)
    np.minimum.at(deepest, many.sample, many.gap)
    assert_allclose(deepest[single.sample], single.gap, atol=1e-14)
    assert set(many.sample) == set(single.sample)
    assert (many.gap < 0.2).all()
    assert_allclose(many.point_b - many.point_a, many.gap[:, None] * many.normal, atol=1e-14)


@pytest.mark.parametrize("tilt", [5e-5, 0.01, 0.1])
def test_a_corner_just_past_the_end_of_the_face_opposite_is_no_further_away_than_the_two_are(tilt):
    """Found by fuzzing: half a metre apart it misses by 3e-7 m, and the face cut off at its end was 3e-11 m further."""
    shapes, miss, apart = planar_shapes([Polygon(BOX), Polygon(BOX)], [False, False]), 3e-7, 0.5
    c, s = np.cos(tilt), np.sin(tilt)
    corner = np.array([0.5 + apart, 0.5 + miss])  # of the tilted box, its upper left one, just above the other's face
    centre = corner + np.array([[c, -s], [s, c]]) @ [0.5, -0.5]
    near = planar_proximities(shapes, [(0, 0, 0), (*centre, tilt)], 1.0)
    assert near.gap.min() <= np.hypot(apart, miss) + 1e-15

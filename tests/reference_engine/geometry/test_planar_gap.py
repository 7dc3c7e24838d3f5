"""The gap of two planar solids: against the independent oracle, and as a distance must behave."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from reference_engine.geometry.planar_proximity import planar_proximities
from reference_engine.geometry.planar_shapes import Bowl, Disc, HalfPlane, Polygon, planar_shapes
from tests.effort import tries
from tests.reference_engine.geometry.planar_oracle import depth_of_differences, turned, witness_gap
from tests.reference_engine.geometry.planar_scenes import (
    BOX,
    gap,
    proximity,
    random_boundary,
    random_pose,
    random_shape,
    star,
)

ROUND_OFF = 2e-14  # shapes and offsets of a few metres, some tens of operations


def random_pairs(seed, count):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        p = random_shape(rng)
        q = random_shape(rng) if rng.random() < 0.7 else random_boundary(rng)
        if rng.random() < 0.5 and not isinstance(q, HalfPlane | Bowl):
            p, q = q, p
        yield rng, p, random_pose(rng), q, random_pose(rng)


def test_the_gap_agrees_with_shapely_and_with_the_hull_of_differences():
    signs, count = [], tries(3000)
    for _, p, pose_p, q, pose_q in random_pairs(seed=1, count=count):
        expected = witness_gap(p, pose_p, q, pose_q)
        assert gap(p, pose_p, q, pose_q) == pytest.approx(expected, abs=ROUND_OFF), (p, pose_p, q, pose_q)
        signs.append(expected < 0.0)
    assert count < 6 * sum(signs) < 5 * count


def test_many_samples_and_bodies_at_once_are_the_pairs_one_by_one():
    rng = np.random.default_rng(2)
    shapes = [random_shape(rng, 0.5) for _ in range(8)] + [HalfPlane((0, -2), (0.1, 1)), Bowl(3.0)]
    static = [False] * 7 + [True] * 3
    poses = np.array([[random_pose(rng) for _ in shapes] for _ in range(20)])
    cutoff, ignore = 0.3, [(3, 1), (0, 9)]
    near = planar_proximities(planar_shapes(shapes, static), poses, cutoff, ignore, points=1)
    expected = [
        (s, a, b, g)
        for s in range(20)
        for a in range(10)
        for b in range(a + 1, 10)
        if not (static[a] and static[b]) and (a, b) not in ((1, 3), (0, 9))
        and (g := witness_gap(shapes[a], poses[s, a], shapes[b], poses[s, b])) < cutoff
    ]  # fmt: skip
    assert list(zip(near.sample, near.a, near.b)) == [row[:3] for row in expected]
    assert_allclose(near.gap, [row[3] for row in expected], atol=ROUND_OFF)


def test_the_points_lie_on_their_bodies_and_the_gap_between_them():
    for _, p, pose_p, q, pose_q in random_pairs(seed=3, count=600):
        near = proximity(p, pose_p, q, pose_q)
        assert np.hypot(*near.normal[0]) == pytest.approx(1.0, abs=1e-12)
        assert_allclose(near.point_b - near.point_a, near.gap[:, None] * near.normal, atol=ROUND_OFF)
        for shape, pose, point in ((p, pose_p, near.point_a[0]), (q, pose_q, near.point_b[0])):
            assert witness_gap(shape, pose, Disc(0.0), [*point, 0.0]) == pytest.approx(0.0, abs=1e-13)


def test_exchanging_the_bodies_turns_the_normal_round_and_keeps_the_gap():
    for _, p, pose_p, q, pose_q in random_pairs(seed=4, count=300):
        one, other = proximity(p, pose_p, q, pose_q), proximity(q, pose_q, p, pose_p)
        assert_allclose(one.gap, other.gap, atol=ROUND_OFF)
        assert_allclose(one.normal, -other.normal, atol=1e-6)  # of two equal depths either may be named


def test_a_common_motion_changes_nothing():
    for rng, p, pose_p, q, pose_q in random_pairs(seed=5, count=300):
        shift, angle = rng.uniform(-3, 3, 2), rng.uniform(-3, 3)
        moved = [np.append(turned([pose[:2]], [*shift, angle])[0], pose[2] + angle) for pose in (pose_p, pose_q)]
        before, after = proximity(p, pose_p, q, pose_q), proximity(p, moved[0], q, moved[1])
        assert_allclose(after.gap, before.gap, atol=ROUND_OFF)


def test_a_translation_changes_the_gap_by_no_more_than_its_length():
    for rng, p, pose_p, q, pose_q in random_pairs(seed=6, count=500):
        step = rng.normal(size=2) * 10.0 ** rng.uniform(-6, 0)
        moved = gap(p, pose_p + np.array([*step, 0.0]), q, pose_q)
        assert abs(moved - gap(p, pose_p, q, pose_q)) <= np.hypot(*step) + ROUND_OFF


def test_a_translation_by_minus_the_gap_along_the_normal_makes_the_bodies_touch():
    """Not for a polygon deep in a bowl: its depth is that of one corner, another may stick out further."""
    for _, p, pose_p, q, pose_q in random_pairs(seed=7, count=500):
        near = proximity(p, pose_p, q, pose_q)
        if near.gap[0] < 0.0 and isinstance(q, Bowl):
            continue
        moved = pose_p + np.array([*(near.gap[0] * near.normal[0]), 0.0])
        assert gap(p, moved, q, pose_q) == pytest.approx(0.0, abs=1e-13)


def test_the_gap_grows_with_the_velocity_of_the_points_along_the_normal():
    """d gap / dt = n . (v_b(p_b) - v_a(p_a)), by a central difference: second order, so 1e-8 at 1e-5."""
    missed = 0
    for rng, p, pose_p, q, pose_q in random_pairs(seed=8, count=500):
        near = proximity(p, pose_p, q, pose_q)
        twist_p, twist_q = rng.normal(size=3), rng.normal(size=3)

        def velocity(pose, twist, point):
            r = point - pose[:2]
            return twist[:2] + twist[2] * np.array([-r[1], r[0]])

        rate = near.normal[0] @ (
            velocity(pose_q, twist_q, near.point_b[0]) - velocity(pose_p, twist_p, near.point_a[0])
        )
        h = 1e-5
        after = gap(p, pose_p + h * twist_p, q, pose_q + h * twist_q)
        before = gap(p, pose_p - h * twist_p, q, pose_q - h * twist_q)
        missed += abs((after - before) / (2 * h) - rate) > 1e-6  # at a kink of the gap it has no derivative
    assert missed <= 5


# Degenerate configurations -------------------------------------------------------------------------


def test_boxes_that_touch_exactly_have_no_gap_and_the_normal_of_the_face():
    near = proximity(Polygon(BOX), (0, 0, 0), Polygon(BOX), (1.0, 0.25, 0))
    assert near.gap[0] == 0.0
    assert near.normal[0].tolist() == [1.0, 0.0]


def test_boxes_that_touch_in_a_corner_have_no_gap():
    near = proximity(Polygon(BOX), (0, 0, 0), Polygon(BOX), (1.0, 1.0, 0))
    assert near.gap[0] == 0.0
    assert np.hypot(*near.normal[0]) == 1.0


@pytest.mark.parametrize("separation", [1e-3, 1e-9, 1e-15, 0.0, -1e-15, -1e-9, -1e-3])
def test_parallel_faces_keep_their_normal_at_every_distance(separation):
    y = 1.0 + separation
    near = proximity(Polygon(BOX), (0, 0, 0), Polygon(BOX), (0.3, y, 0))
    assert near.normal[0].tolist() == [0.0, 1.0]
    assert near.gap[0] == y - 1.0


def test_a_long_box_on_a_short_one_has_its_witness_on_the_short_one():
    long = Polygon([[-5, -0.5], [5, -0.5], [5, 0.5], [-5, 0.5]])
    near = proximity(Polygon(BOX), (0, 0, 0), long, (0, 1 - 1e-6, 0))
    assert abs(near.point_a[0, 0]) <= 0.5


def test_concentric_shapes_have_a_defined_normal():
    discs = proximity(Disc(1.0), (2, 3, 0), Disc(0.5), (2, 3, 1))
    assert (discs.gap[0], discs.normal[0].tolist()) == (-1.5, [0.0, 1.0])
    bowl = proximity(Disc(0.5), (2, 3, 0), Bowl(2.0), (2, 3, 1))
    assert (bowl.gap[0], bowl.normal[0].tolist()) == (1.5, [0.0, 1.0])
    assert gap(Polygon(BOX), (1, 1, 0.3), Polygon(BOX), (1, 1, 0.3)) == pytest.approx(-1.0, abs=1e-15)


def test_a_disc_whose_centre_is_inside_a_box_leaves_through_the_nearest_edge():
    near = proximity(Polygon(BOX), (0, 0, 0), Disc(0.1), (0.3, 0.1, 0))
    assert near.gap[0] == pytest.approx(-0.3, abs=1e-16)
    assert near.normal[0].tolist() == [1.0, 0.0]


def test_a_disc_whose_centre_is_on_a_corner_is_as_deep_as_its_radius():
    assert gap(Polygon(BOX), (0, 0, 0), Disc(0.1), (0.5, 0.5, 0)) == pytest.approx(-0.1, abs=1e-16)


def test_sizes_of_one_to_ten_thousand_lose_the_digits_of_the_larger():
    rng = np.random.default_rng(9)
    huge = Polygon(1e4 * np.array(BOX))
    for _ in range(200):
        small, pose = random_shape(rng), np.array([*rng.uniform(-6e3, 6e3, 2), rng.uniform(-3, 3)])
        pose[rng.integers(0, 2)] = 5e3 + rng.uniform(-1.5, 1.5)
        expected = witness_gap(huge, (0, 0, 0), small, pose)
        assert gap(huge, (0, 0, 0), small, pose) == pytest.approx(expected, abs=1e4 * 4e-16)


def test_far_from_the_origin_only_what_the_poses_hold_is_lost():
    for _, p, pose_p, q, pose_q in random_pairs(seed=10, count=100):
        there = np.array([1e4, -1e4, 0.0])
        lost = 2.0 * 1e4 * 2.0**-52
        assert gap(p, pose_p + there, q, pose_q + there) == pytest.approx(gap(p, pose_p, q, pose_q), abs=4 * lost)


# Concave polygons ----------------------------------------------------------------------------------


def test_concave_polygons_apart_have_the_distance_that_shapely_gives():
    rng = np.random.default_rng(11)
    compared = 0
    for _ in range(500):
        p, q = star(rng), star(rng) if rng.random() < 0.7 else Disc(rng.uniform(0.1, 1))
        pose_p, pose_q = random_pose(rng), random_pose(rng)
        expected = witness_gap(p, pose_p, q, pose_q)
        found = gap(p, pose_p, q, pose_q)
        if expected is None:
            assert found < 0.0
        elif expected > -getattr(q, "radius", 0.0):
            compared += 1
            assert found == pytest.approx(expected, abs=ROUND_OFF)
    assert compared > 200


def test_a_box_that_sinks_a_little_into_a_concave_body_is_as_deep_as_it_sank():
    """Across the seam of two convex pieces too: the seam is not a face."""
    angle_iron = Polygon([[0, 0], [3, 0], [3, 1], [1, 1], [1, 3], [0, 3]])
    for x in np.linspace(1.51, 2.4, 30):
        assert gap(angle_iron, (0, 0, 0), Polygon(BOX), (x, 1.499, 0)) == pytest.approx(-1e-3, abs=1e-15)
    for x in np.linspace(0.2, 2.8, 30):
        assert gap(angle_iron, (0, 0, 0), Polygon(BOX), (x, -0.499, 0)) == pytest.approx(-1e-3, abs=1e-15)


def test_an_overlap_of_concave_bodies_is_never_deeper_than_that_of_their_hulls():
    rng = np.random.default_rng(12)
    for _ in range(200):
        p, q, pose_p, pose_q = star(rng), star(rng), random_pose(rng, 0.3), random_pose(rng, 0.3)
        hulls = depth_of_differences(turned(p.vertices, pose_p), turned(q.vertices, pose_q))
        assert -gap(p, pose_p, q, pose_q) <= hulls + ROUND_OFF


def test_an_unbounded_body_that_moves_is_refused():
    with pytest.raises(ValueError, match=r"static\[0\]: a HalfPlane is unbounded"):
        planar_shapes([HalfPlane((0, 0), (0, 1))], [False])
    with pytest.raises(ValueError, match=r"poses: shape \(3, 3\); 1 bodies need"):
        planar_proximities(planar_shapes([Disc(1.0)], [False]), np.zeros((3, 3)), 1.0, points=1)

"""Gaps of bodies with circular edges: closed forms, their straight-edged kin, and shapely on finely sampled arcs."""

import math

import numpy as np
import pytest
import shapely
from numpy.testing import assert_allclose

from reference_engine.geometry.planar_proximity import planar_proximities
from reference_engine.geometry.planar_shapes import ArcPolygon, Bowl, Disc, HalfPlane, Polygon, planar_shapes
from reference_engine.geometry.polygon import exact_area_sign
from scenarios.mass import arc_outline
from tests.effort import few, tries
from tests.reference_engine.geometry.planar_oracle import turned
from tests.reference_engine.geometry.planar_scenes import BOX, convex_polygon, random_pose

FLOOR = HalfPlane((0.0, 0.0), (0.0, 1.0))
TABLE = Polygon([[-3, -1], [3, -1], [3, 0], [-3, 0]])
BULGE = 0.4
SAGITTA = BULGE / 2.0  # of a chord of 1 m
LENS = ArcPolygon([[-0.5, 0.0], [0.5, 0.0]], [BULGE, BULGE])
RADIUS = (0.25 + SAGITTA**2) / (2.0 * SAGITTA)
ROUND_BOTTOM = ArcPolygon([[-0.5, 0.0], [0.5, 0.0], [0.5, 1.0], [-0.5, 1.0]], [BULGE, 0.0, 0.0, 0.0])
ARCH = ArcPolygon([[-1, 0], [-0.5, 0], [0.5, 0], [1, 0], [1, 1], [-1, 1]], [0, -1, 0, 0, 0, 0])
HORNS = ArcPolygon([[-1.0, 0.0], [1.0, 0.0]], [-0.5, 1.0])  # a half disc less a flatter segment, its horns down


def gaps(p, pose_p, q, pose_q, cutoff=np.inf):
    static = [isinstance(shape, HalfPlane | Bowl) for shape in (p, q)]
    return planar_proximities(planar_shapes([p, q], static), [pose_p, pose_q], cutoff)


def moved(pose, frame):
    """The pose after the whole scene has been turned and moved by the frame."""
    c, s = math.cos(frame[2]), math.sin(frame[2])
    x, y, angle = pose
    return frame[0] + c * x - s * y, frame[1] + s * x + c * y, frame[2] + angle


@pytest.mark.parametrize(("frame",), few(1, [((4.0, -3.0, 2.0),), ((0.0, 0.0, 0.0),), ((-1.0, 7.0, -0.7),)]))
@pytest.mark.parametrize("gap", [1e-12, 1e-3, 0.25, -1e-12, -1e-3])
def test_the_gap_of_what_is_nearest_is_exact(gap, frame):
    low = SAGITTA + gap
    cases = [
        (LENS, (0.0, low, 0.0), FLOOR, (0.0, 0.0, 0.0)),
        (LENS, (0.2, low, 0.0), TABLE, (0.0, 0.0, 0.0)),
        (LENS, (0.0, low + 0.6, math.pi), Disc(0.6), (0.0, 0.0, 1.0)),
        (LENS, (0.0, low + SAGITTA, 0.0), LENS, (0.0, 0.0, 0.0)),
        (LENS, (0.0, low + math.sqrt(0.5), 0.0), Polygon(BOX), (0.0, 0.0, math.pi / 4.0)),
        (LENS, (-0.5 - gap, 0.0, 0.0), TABLE, (0.0, -1.0, math.pi / 2.0)),
        (LENS, (0.0, 2.0 - low, 0.0), Bowl(2.0), (0.0, 0.0, 0.0)),
        (ROUND_BOTTOM, (0.0, low, 0.0), FLOOR, (0.0, 0.0, 0.0)),
        (ARCH, (0.0, 0.2 + gap - 0.5, 0.0), Disc(0.2), (0.0, 0.0, 0.0)),
        (HORNS, (0.0, gap, 0.0), FLOOR, (0.0, 0.0, 0.0)),
    ]
    for p, pose_p, q, pose_q in cases:
        here, there = moved(pose_p, frame), moved(pose_q, frame)
        near, other_way = gaps(p, here, q, there), gaps(q, there, p, here)
        assert near.gap.min() == pytest.approx(gap, abs=2e-15), (p, q)
        assert_allclose(near.point_b - near.point_a, near.gap[:, None] * near.normal, atol=4e-15)
        assert_allclose(np.hypot(*near.normal.T), 1.0, atol=1e-15)
        at = np.argmin(near.gap), np.argmin(other_way.gap)
        assert_allclose(other_way.normal[at[1]], -near.normal[at[0]], atol=1e-6 if abs(gap) < 1e-9 else 1e-12)
        assert_allclose(other_way.point_b[at[1]], near.point_a[at[0]], atol=1e-12)


def test_two_half_circles_are_a_disc():
    rng = np.random.default_rng(3)
    halves = ArcPolygon([[-0.4, 0.0], [0.4, 0.0]], [1.0, 1.0])
    for other in (Disc(0.3), Polygon(BOX), convex_polygon(rng), LENS, FLOOR, Bowl(3.0)):
        for _ in range(tries(40, 5)):
            pose, other_pose = random_pose(rng, 1.5), (0.0, 0.0, rng.uniform(-3.0, 3.0))
            exact, found = gaps(Disc(0.4), pose, other, other_pose), gaps(halves, pose, other, other_pose)
            if exact.gap.min() > -0.1:
                assert found.gap.min() == pytest.approx(exact.gap.min(), abs=1e-14), (other, pose, other_pose)


def test_without_a_bulge_it_is_the_polygon():
    """Apart, and overlapping by little; of deep overlaps both are lower bounds."""
    rng = np.random.default_rng(4)
    apart = touching = 0
    for _ in range(tries(300, 60)):
        p, q, pose = convex_polygon(rng), convex_polygon(rng), random_pose(rng, 1.6)
        plain = planar_proximities(planar_shapes([p, q], [False, False]), [(0, 0, 0.3), pose], np.inf, points=1)
        corners = p.vertices if exact_area_sign(p.vertices) > 0 else p.vertices[::-1]
        flat = ArcPolygon(corners, np.zeros(len(corners)))
        found = planar_proximities(planar_shapes([flat, q], [False, False]), [(0, 0, 0.3), pose], np.inf, points=1)
        apart, touching = apart + (plain.gap[0] > 0.0), touching + (-0.02 < plain.gap[0] < 0.0)
        if plain.gap[0] > -0.02:
            assert found.gap[0] == pytest.approx(plain.gap[0], abs=1e-14)
            assert_allclose(found.normal, plain.normal, atol=1e-9)
        else:
            assert -0.02 > found.gap[0] >= plain.gap[0] - 1e-14
    assert apart > tries(100, 20)
    assert touching >= tries(4, 1)


PAIRS = [((LENS, ROUND_BOTTOM, ARCH, HORNS)[i], (LENS, ARCH, HORNS, TABLE)[i - k]) for k in range(4) for i in range(4)]


@pytest.mark.parametrize(("p", "q"), few(2, PAIRS[::3] + [p for i, p in enumerate(PAIRS) if i % 3]))
def test_what_is_apart_is_so_by_as_much_as_shapely_says(p, q):
    def outline(shape, pose):
        bulges = shape.bulges if isinstance(shape, ArcPolygon) else np.zeros(4)
        return shapely.Polygon(turned(arc_outline(shape.vertices, bulges, 2000), pose))

    rng, compared = np.random.default_rng(5), 0
    for _ in range(tries(25, 4)):
        pose, other_pose = random_pose(rng, 2.0), random_pose(rng, 1.0)
        one, other = outline(p, pose), outline(q, other_pose)
        near = gaps(p, pose, q, other_pose)
        if one.intersects(other):
            assert near.gap.min() < 1e-6
        else:
            compared += 1
            assert near.gap.min() == pytest.approx(one.distance(other), abs=5e-7)
    assert compared >= tries(4, 1)


def test_a_body_on_two_feet_shows_both():
    near = gaps(ARCH, (0.0, 0.001, 1e-3), FLOOR, (0.0, 0.0, 0.0), 0.1)
    on_arch = sorted(near.point_a[:, 0])
    assert on_arch[0] == pytest.approx(-1.0, abs=1e-6)
    assert on_arch[-1] == pytest.approx(1.0, abs=1e-6)
    near = gaps(HORNS, (0.0, 0.0, 0.0), FLOOR, (0.0, 0.0, 0.0), 0.1)
    assert sorted(near.point_a[:, 0]) == pytest.approx([-1.0, 1.0], abs=1e-15)


def test_a_post_in_an_arch_is_near_on_both_its_sides():
    post = Polygon([[-0.45, -1.0], [0.45, -1.0], [0.45, 0.1], [-0.45, 0.1]])
    near = gaps(ARCH, (0.0, 0.0, 0.0), post, (0.0, 0.0, 0.0), 0.045)
    corner = 0.5 - math.hypot(0.45, 0.1)
    assert sorted(near.gap) == pytest.approx([corner, corner], abs=1e-15)
    assert sorted(np.sign(near.point_b[:, 0])) == [-1.0, 1.0]


def test_a_disc_on_its_rim_has_one_point():
    halves = ArcPolygon([[-0.4, 0.0], [0.4, 0.0]], [1.0, 1.0])
    for angle in np.linspace(0.0, 6.0, 13):
        assert len(gaps(halves, (0.0, 0.4, angle), FLOOR, (0.0, 0.0, 0.0), 0.1)) == 1


def test_bars_that_cross_overlap_though_no_corner_is_inside_the_other():
    """By the polygons inscribed in them: 20 cm wide at their middle, chords lose 1 % of the sagitta."""
    bar = ArcPolygon([[-1, -0.05], [1, -0.05], [1, 0.05], [-1, 0.05]], [0.05, 0.0, 0.05, 0.0])
    near = gaps(bar, (0.0, 0.0, 0.0), bar, (0.0, 0.0, math.pi / 2.0))
    assert -1.1 < near.gap.min() < -0.9


def test_what_has_arcs_and_meets_nothing_has_no_rows():
    """Alone, and beside what it passes through: the rows of the others are there (found by fuzzing)."""
    assert len(planar_proximities(planar_shapes([LENS], [False]), [(0.0, 0.0, 0.0)], np.inf)) == 0
    shapes = planar_shapes([LENS, Disc(0.3), FLOOR], [False, False, True])
    poses = [(0.0, 0.0, 0.0), (0.0, 0.2, 0.0), (0.0, 0.0, 0.0)]
    near = planar_proximities(shapes, poses, np.inf, ignore=[(0, 1), (2, 0)])
    assert (near.a.tolist(), near.b.tolist(), near.gap) == ([1], [2], pytest.approx([-0.1]))


def test_a_clockwise_outline_is_refused():
    with pytest.raises(ValueError, match=r"shapes\[0\]\.vertices: clockwise"):
        planar_shapes([ArcPolygon([[0.5, 0.0], [0.0, -1.0], [-0.5, 0.0]], [0.0, 0.2, 0.2])], [False])


def test_many_samples_are_those_of_each_alone():
    rng = np.random.default_rng(6)
    shapes = planar_shapes([LENS, FLOOR, Disc(0.3), ARCH, Polygon(BOX)], [False, True, False, False, False])
    poses = np.array(
        [[(0.0, 0.0, 0.0) if i == 1 else random_pose(rng, 1.5) for i in range(5)] for _ in range(tries(30))]
    )
    together = planar_proximities(shapes, poses, 0.4)
    assert np.all(np.diff(together.sample) >= 0)
    for k, pose in enumerate(poses):
        alone, own = planar_proximities(shapes, pose, 0.4), together.sample == k
        assert_allclose(together.gap[own], alone.gap, atol=0.0)
        assert np.array_equal(together.a[own], alone.a)
        assert np.array_equal(together.b[own], alone.b)
        assert_allclose(together.point_b[own], alone.point_b, atol=0.0)

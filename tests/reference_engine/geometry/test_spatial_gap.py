"""The gap of two spatial solids: proved pair by pair from formulas that share no line with the kernels."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial import ConvexHull

from reference_engine.geometry.spatial_proximity import spatial_proximities
from reference_engine.geometry.spatial_shapes import (
    Box,
    Capsule,
    ConvexMesh,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    Sphere,
    SphereInterior,
    spatial_shapes,
)
from reference_engine.rotation import matrices
from tests.effort import few, tries
from tests.reference_engine.geometry.spatial_oracle import (
    least_depth,
    outside_by,
    parted_by,
    polytope_gap,
    rotation,
)
from tests.reference_engine.geometry.spatial_scenes import BOUNDED, attitude, gap, proximity, shape_of

CURVED = {"cylinder", "ellipsoid", "cone"}
PAIRS = list(itertools.combinations_with_replacement(BOUNDED, 2))
POLYTOPES = [pair for pair in PAIRS if not {*pair} & CURVED and {*pair} & {"box", "mesh"}]
IDENTITY = (1.0, 0.0, 0.0, 0.0)


def random_pairs(names, seed, count, spread=1.6):
    rng = np.random.default_rng([seed, *map(ord, "".join(names))])
    for _ in range(count):
        d = rng.normal(size=3)
        d *= rng.uniform(0.0, spread) / np.linalg.norm(d)
        yield rng, shape_of(names[0], rng), shape_of(names[1], rng), d, attitude(rng), attitude(rng)


@pytest.mark.parametrize("names", PAIRS)
def test_a_gap_is_proved_by_two_points_and_a_slab(names):
    """Apart: the points are on the bodies, so the distance is no more; the slab parts them, so it is no less.

    Overlapping: the normal's slab has the depth, so it is no more; the next test is for no less.
    """
    for _, p, q, d, q_p, q_q in random_pairs(names, seed=1, count=tries(150, 30), spread=2.2):
        near = proximity(p, q, d, q_p, q_q)
        found, n, R_p, R_q = near.gap[0], near.normal[0], rotation(q_p), rotation(q_q)
        tolerance = 3e-14 + 1e-9 * abs(found)
        assert np.linalg.norm(n) == pytest.approx(1.0, abs=1e-12)
        assert_allclose(near.point_b[0] - near.point_a[0], found * n, atol=3e-14)
        assert parted_by(p, q, d, R_p, R_q, n)[0] == pytest.approx(found, abs=tolerance + near.uncertainty[0])
        assert near.uncertainty[0] <= 1e-9 * abs(found) + 1e-13
        if found > 0.0 or near.uncertainty[0] < 1e-12:
            # deep in a curved body: the root of the depth's tolerance, by which its normal may be off
            on_body = 1e-13 if found > 0.0 or not {*names} & CURVED else 1e-6
            assert outside_by(p, R_p.T @ near.point_a[0]) <= on_body
            assert outside_by(q, R_q.T @ (near.point_b[0] - d)) <= on_body


@pytest.mark.parametrize(("names",), few(len(PAIRS[::3]), [(pair,) for i in range(3) for pair in PAIRS[i::3]]))
def test_no_direction_parts_overlapping_bodies_by_a_shorter_way(names):
    compared = 0
    for rng, p, q, d, q_p, q_q in random_pairs(names, seed=2, count=40, spread=0.7):
        near = proximity(p, q, d, q_p, q_q)
        if near.gap[0] < 0.0 and compared < tries(8, 1):
            compared += 1
            least = least_depth(p, q, d, rotation(q_p), rotation(q_q), rng)
            # long thin faces around a tip or on a curved body: their planes' round-off
            assert -near.gap[0] <= least + 1e-11 + near.uncertainty[0]
    assert compared == tries(8, 1)


@pytest.mark.parametrize("names", POLYTOPES)
def test_polytopes_agree_with_the_hull_of_the_differences_of_their_corners(names):
    for _, p, q, d, q_p, q_q in random_pairs(names, seed=3, count=tries(60)):
        expected = polytope_gap(p, q, d, rotation(q_p), rotation(q_q))
        assert gap(p, q, d, q_p, q_q) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", BOUNDED)
def test_above_a_plane_and_in_a_hollow_sphere_no_point_of_the_body_is_further(name):
    """The nearest points is on the body, and the support function or sampled boundary points do not go beyond it."""
    rng = np.random.default_rng([4, *map(ord, name)])
    for boundary in ("plane", "hollow"):
        for _ in range(tries(150, 30)):
            p, q = shape_of(name, rng), shape_of(boundary, rng)
            d, q_p, q_q = rng.normal(size=3), attitude(rng), attitude(rng)
            near = proximity(p, q, d, q_p, q_q)
            R_p, R_q = rotation(q_p), rotation(q_q)
            assert outside_by(p, R_p.T @ near.point_a[0]) == pytest.approx(0.0, abs=1e-14)
            assert outside_by(q, R_q.T @ (near.point_b[0] - d)) == pytest.approx(0.0, abs=1e-14)
            n = -near.normal[0]
            if boundary == "plane":
                assert_allclose(n, R_q @ q.normal / np.linalg.norm(q.normal), atol=1e-14)
                slab = n @ -(d + R_q @ q.point) - support_of(p, R_p, -n)
                assert near.gap[0] == pytest.approx(slab, abs=1e-14)
            else:
                for u in rng.normal(size=(40, 3)):
                    u = u / np.linalg.norm(u)
                    bounding_radius = u @ -d + support_of(p, R_p, u)  # furthest point of p from d is at least this far
                    assert q.radius - near.gap[0] >= bounding_radius - 1e-14
                u = near.point_a[0] - d
                u = u / np.linalg.norm(u)
                assert q.radius - near.gap[0] == pytest.approx(u @ -d + support_of(p, R_p, u), abs=1e-12)


def support_of(shape, R, n):
    return -parted_by(shape, Sphere(0.0), np.zeros(3), R, np.eye(3), n)[0]


@pytest.mark.parametrize(
    "c", [(0, 0, 0), (0.3, 0, 0), (0, 0.2, 0), (0, 0, 0.1), (0.2, 1e-9, 0), (1e-12, 0.1, 0.1), (1e-300, 0, 0)]
)
@pytest.mark.parametrize(
    "axes", [(0.5, 0.4, 0.3), (0.5, 0.5, 0.3), (0.5, 0.3, 0.3), (0.4, 0.4, 0.4), (0.5, 0.005, 0.3)]
)
def test_the_furthest_point_of_an_ellipsoid_in_symmetric_places(axes, c):
    """A fine grid of the surface finds nothing further; within its resolution it finds as much."""
    near = proximity(Ellipsoid(axes), SphereInterior(2.0), c, IDENTITY, IDENTITY)
    u, v = np.meshgrid(np.linspace(0, np.pi, 401), np.linspace(0, 2 * np.pi, 801))
    surface = np.stack([np.sin(u) * np.cos(v), np.sin(u) * np.sin(v), np.cos(u)], axis=-1) * axes
    furthest = np.linalg.norm(surface - c, axis=-1).max()
    assert 2.0 - near.gap[0] >= furthest - 1e-14
    assert 2.0 - near.gap[0] == pytest.approx(furthest, abs=2e-5)
    assert outside_by(Ellipsoid(axes), near.point_a[0]) == pytest.approx(0.0, abs=1e-14)


def test_exchanging_the_bodies_turns_the_normal_round_and_keeps_the_gap():
    for names in PAIRS:
        for _, p, q, d, q_p, q_q in random_pairs(names, seed=5, count=12):
            one, other = proximity(p, q, d, q_p, q_q), proximity(q, p, -d, q_q, q_p)
            tolerance = 1e-13 + 2e-9 * abs(one.gap[0])
            assert one.gap[0] == pytest.approx(other.gap[0], abs=tolerance)
            if one.gap[0] > 0.0:
                assert_allclose(one.normal, -other.normal, atol=1e-4)


def test_a_common_motion_changes_nothing():
    for names in PAIRS:
        for rng, p, q, d, q_p, q_q in random_pairs(names, seed=6, count=8):
            turn = attitude(rng)
            moved = [hamilton(turn, x) for x in (q_p, q_q)]
            before, after = gap(p, q, d, q_p, q_q), gap(p, q, rotation(turn) @ d, *moved)
            assert after == pytest.approx(before, abs=1e-13 + 2e-9 * abs(before))


def hamilton(a, b):
    (w, *u), (s, *v) = a, b
    return np.append(w * s - np.dot(u, v), w * np.array(v) + s * np.array(u) + np.cross(u, v))


def test_a_translation_changes_the_gap_by_no_more_than_its_length_and_by_the_gap_makes_touch():
    for names in PAIRS:
        for rng, p, q, d, q_p, q_q in random_pairs(names, seed=7, count=12):
            near = proximity(p, q, d, q_p, q_q)
            step = rng.normal(size=3) * 10.0 ** rng.uniform(-5, 0)
            change = gap(p, q, d + step, q_p, q_q) - near.gap[0]
            assert abs(change) <= np.linalg.norm(step) + 1e-12 + 2e-9 * abs(near.gap[0])
            touching = gap(p, q, d - near.gap[0] * near.normal[0], q_p, q_q)
            # of a curved body the normal is good to the root of the depth's tolerance
            assert touching == pytest.approx(0.0, abs=1e-12 + 1e-7 * abs(near.gap[0]))


def test_the_gap_grows_with_the_velocity_of_the_points_along_the_normal():
    """d gap / dt = n . (v_b(p_b) - v_a(p_a)) by central differences; at a kink it has no derivative."""
    missed, total, h = 0, 0, 1e-5
    for names in PAIRS:
        for rng, p, q, d, q_p, q_q in random_pairs(names, seed=8, count=12):
            near = proximity(p, q, d, q_p, q_q)
            v, spin_p, spin_q = rng.normal(size=(3, 3))
            rate = near.normal[0] @ (v + np.cross(spin_q, near.point_b[0] - d) - np.cross(spin_p, near.point_a[0]))

            def moved(t, p=p, q=q, d=d, q_p=q_p, q_q=q_q, v=v, spin_p=spin_p, spin_q=spin_q):
                turns = [hamilton(np.append(1.0, w * t / 2.0), x) for w, x in ((spin_p, q_p), (spin_q, q_q))]
                return gap(p, q, d + v * t, *turns)

            total += 1
            missed += abs((moved(h) - moved(-h)) / (2 * h) - rate) > 1e-4
    assert missed <= 0.02 * total


# Degenerate configurations -------------------------------------------------------------------------

CUBE = Box((0.5, 0.5, 0.5))


@pytest.mark.parametrize("separation", [1e-3, 1e-9, 1e-15, 0.0, -1e-15, -1e-9, -1e-3])
@pytest.mark.parametrize("tilt", [0.0, 1e-12, 1e-9, 1e-7])
def test_parallel_faces_of_boxes_keep_their_normal_at_every_distance(separation, tilt):
    height = 1.0 + separation
    near = proximity(CUBE, CUBE, (0.3, 0.2, height), IDENTITY, (1.0, 0.0, 0.0, tilt / 2))  # turned about z
    assert_allclose(near.normal[0], [0, 0, 1], atol=1e-15)
    assert near.gap[0] == pytest.approx(height - 1.0, abs=3e-16)
    assert (abs(near.point_a[0, :2]) <= 0.5 + 1e-12).all()


def test_a_long_box_on_a_short_one_has_its_witness_on_both():
    near = proximity(CUBE, Box((5, 5, 0.5)), (0, 0, 1 - 1e-6), IDENTITY, IDENTITY)
    assert near.gap[0] == pytest.approx(-1e-6, abs=1e-15)
    assert (abs(near.point_a[0, :2]) <= 0.5 + 1e-12).all()


@pytest.mark.parametrize("depth", [1e-3, 1e-6, 1e-9, 1e-12, 0.0])
@pytest.mark.parametrize(
    "standing",
    [Cylinder(0.4, 0.5), Capsule(0.4, 0.1), ConvexMesh(0.5 * np.array(list(itertools.product((-1, 1), repeat=3))))],
)
def test_what_stands_on_a_slab_is_as_deep_as_it_sank(standing, depth):
    slab = Box((10.0, 10.0, 1.0))
    near = proximity(slab, standing, (0.7, -0.3, 1.5 - depth), IDENTITY, IDENTITY)
    assert near.gap[0] == pytest.approx((1.5 - depth) - 1.5, abs=2e-14)
    assert_allclose(near.normal[0], [0, 0, 1], atol=1e-9)


def test_cubes_on_a_grid_where_every_axis_ties_with_others():
    """Boxes and the same boxes as meshes, faces and edges parallel or off by 1e-12 to 1e-3."""
    rng = np.random.default_rng(12)
    corners = 0.5 * np.array(list(itertools.product((-1, 1), repeat=3)))
    for _ in range(tries(1000)):
        d = rng.integers(-2, 3, 3) * rng.choice([0.5, 0.25, 1 / 3])
        d += (rng.random() < 0.5) * 10.0 ** rng.uniform(-14, -2) * rng.normal(size=3)
        turns = np.array(
            [[1.0, 0, 0, 0], [1.0, 1.0, 0, 0], [1.0, *(10.0 ** rng.uniform(-12, -3) * rng.normal(size=3))]]
        )
        q_p, q_q = turns[rng.integers(0, 3, 2)]
        p, q = (CUBE if rng.random() < 0.5 else ConvexMesh(corners) for _ in range(2))
        R_p, R_q = rotation(q_p), rotation(q_q)
        near, expected = proximity(p, q, d, q_p, q_q), polytope_gap(p, q, d, R_p, R_q)
        assert near.gap[0] == pytest.approx(expected, abs=1e-10 + near.uncertainty[0])  # slivers: depth.SLIVER
        assert near.uncertainty[0] < 1e-6
        assert outside_by(p, R_p.T @ near.point_a[0]) <= 1e-9
        assert outside_by(q, R_q.T @ (near.point_b[0] - d)) <= 1e-9


def test_concentric_and_coincident_bodies_have_a_defined_normal_and_their_full_depth():
    here = np.zeros(3)
    assert proximity(Sphere(1.0), Sphere(0.5), here, IDENTITY, IDENTITY).normal[0].tolist() == [0, 0, 1]
    assert gap(Sphere(1.0), Sphere(0.5), here, IDENTITY, IDENTITY) == -1.5
    assert proximity(Sphere(1.0), SphereInterior(2.5), here, IDENTITY, IDENTITY).gap[0] == 1.5
    capsules = proximity(Capsule(0.2, 1), Capsule(0.3, 1), here, IDENTITY, IDENTITY)
    assert capsules.gap[0] == pytest.approx(-0.5)
    assert capsules.normal[0, 2] == 0.0
    assert gap(CUBE, CUBE, here, IDENTITY, IDENTITY) == pytest.approx(-1.0)
    cylinders = proximity(Cylinder(0.4, 0.5), Cylinder(0.4, 0.5), here, IDENTITY, IDENTITY)
    assert cylinders.gap[0] == pytest.approx(-0.8, abs=1e-3)
    assert abs(cylinders.gap[0] + 0.8) <= cylinders.uncertainty[0]


def test_crossed_and_collinear_capsules():
    across = (np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0)  # axis along -y
    crossed = proximity(Capsule(0.2, 1), Capsule(0.3, 1), (0, 0, 0.5), IDENTITY, across)
    assert crossed.gap[0] == pytest.approx(-0.5)
    assert abs(crossed.normal[0, 0]) == pytest.approx(1.0)
    in_line = proximity(Capsule(0.2, 1), Capsule(0.3, 1), (0, 0, 3), IDENTITY, IDENTITY)
    assert in_line.gap[0] == pytest.approx(0.5)
    assert_allclose(in_line.normal[0], [0, 0, 1])


@pytest.mark.parametrize("name", ["sphere", "box", "cylinder", "ellipsoid", "mesh"])
def test_sizes_of_one_to_ten_thousand_lose_the_digits_of_the_larger(name):
    """A body over a slab of 10 km: round-off of 1e4 m, 2e-12, in place of that of 1 m."""
    rng = np.random.default_rng([9, *map(ord, name)])
    slab = Box((1e4, 1e4, 1e4))
    for _ in range(60):
        p, q_p = shape_of(name, rng), attitude(rng)
        d = np.array([*rng.uniform(-5e3, 5e3, 2), 1e4 + rng.uniform(-0.3, 1)])
        expected = d[2] - 1e4 - support_of(p, rotation(q_p), np.array([0.0, 0.0, -1.0]))
        assert gap(slab, p, d, IDENTITY, q_p) == pytest.approx(expected, abs=1e-11 + 3e-9 * max(0.0, -expected))


def test_far_from_the_origin_only_what_the_positions_hold_is_lost():
    there = np.array([1e4, -1e4, 1e4])
    for names in PAIRS:
        for _, p, q, d, q_p, q_q in random_pairs(names, seed=10, count=4):
            shapes = spatial_shapes([p, q], [False, False])
            far = spatial_proximities(shapes, [there, there + d], [q_p, q_q], np.inf)
            expected = gap(p, q, d, q_p, q_q)
            assert far.gap[0] == pytest.approx(expected, abs=8e-12 + 2e-9 * abs(expected))


def test_many_samples_and_bodies_at_once_are_the_pairs_one_by_one():
    rng = np.random.default_rng(11)
    shapes = [shape_of(name, rng, 0.7) for name in BOUNDED] + [HalfSpace((0, 0, -1), (0, 0.1, 1)), SphereInterior(2.0)]
    static = [False] * 6 + [True] * 3
    position = rng.uniform(-1, 1, (15, 9, 3))
    orientation = np.array([[attitude(rng) for _ in shapes] for _ in range(15)])
    near = spatial_proximities(spatial_shapes(shapes, static), position, 3.0 * orientation, 0.2, [(4, 0)])
    expected = [
        (s, a, b, g)
        for s in range(15)
        for a in range(9)
        for b in range(a + 1, 9)
        if not (static[a] and static[b]) and (a, b) != (0, 4)
        and (g := gap(shapes[a], shapes[b], position[s, b] - position[s, a], *orientation[s, [a, b]])) < 0.2
    ]  # fmt: skip
    assert list(zip(near.sample, near.a, near.b)) == [row[:3] for row in expected]
    assert_allclose(near.gap, [row[3] for row in expected], atol=1e-12)


def test_an_unbounded_body_that_moves_and_arrays_of_the_wrong_shape_are_refused():
    with pytest.raises(ValueError, match=r"static\[0\]: a SphereInterior is unbounded"):
        spatial_shapes([SphereInterior(1.0)], [False])
    with pytest.raises(ValueError, match="1 bodies need"):
        spatial_proximities(spatial_shapes([Sphere(1.0)], [False]), np.zeros((2, 3)), np.zeros((2, 4)), 1.0)


def test_a_normal_parts_bodies_as_far_as_it_can_where_round_off_turns_what_joins_their_points():
    """An ellipsoid's tip a billionth of a millimetre over the inside of a cylinder's end: the rim is not in the way."""
    shapes = spatial_shapes([Cylinder(1.0, 3.0), Ellipsoid((0.5, 0.5, 1.5))], [True, False])
    position = [(12.893037674061118, 0.0, 7.684326734588722), (16.544581529229617, 0.0, 10.326054857197326)]
    cylinder = 0.8764858122060915, 0.02396129014658559, 0.4788263815209447, 0.043860847409714486
    orientation = [cylinder, (0.8775825618903728, 0.0, 0.479425538604203, 0.0)]
    axis = matrices(np.array(cylinder))[:, 2]
    for height in (0.0, 1e-13, 1e-12, 1e-11, 1e-9):
        at = [position[0], np.array(position[1]) + height * axis]
        near = spatial_proximities(shapes, np.array([at]), np.array([orientation]), 1.0)
        assert near.normal[0] == pytest.approx(axis, abs=1e-9)


def test_a_normal_is_the_one_that_proves_the_gap():
    """Found by fuzzing: a rim 8e-5 m from an edge, whose nearest points round-off turned by 2.5e-7 rad."""
    corners = [(np.cos(k * np.pi / 3.0), np.sin(k * np.pi / 3.0)) for k in range(6)]
    radius, half = 0.32725424859373686, 0.08181356214843422
    plate = ConvexMesh([(radius * x, radius * y, z) for z in (-half, half) for x, y in corners])
    rod, d = Cylinder(0.125, 0.25), np.array([-0.4030805397843172, -0.32410032672793093, -0.21035709924243661])
    turned = (0.6230101953936932, 0.7732114706553418, -0.10261240342688024, -0.0589322725293626)
    rng = np.random.default_rng(1)
    for _ in range(tries(2000, 300)):
        moved = d + 1e-9 * rng.normal(size=3)
        near = proximity(plate, rod, moved, IDENTITY, turned)
        slab = parted_by(plate, rod, moved, rotation(IDENTITY), rotation(turned), near.normal[0])[0]
        assert slab == pytest.approx(near.gap[0], abs=1e-8)


def test_the_points_of_two_boxes_are_on_them_where_a_corner_just_misses_a_face():
    """Found by fuzzing: boxes of 4 m on their corners, 8e-6 m apart; the foot of a corner was 6e-8 m off the other."""
    box = Box((2.0, 2.0, 2.0))
    first = (0.8880741691424233, 0.32505610761213016, -0.32505814403845207, -5.681408060841747e-07)
    second = (0.6279634503063343, 0.459700251413239, -4.415648357403382e-07, 0.6279630434426647)
    d = np.array([6.998684751214042e-07, 3.594199542008616e-07, 6.928203239657861])
    near = proximity(box, box, d, first, second)
    for centre, turn, point in ((0.0, first, near.point_a[0]), (d, second, near.point_b[0])):
        assert np.abs(rotation(turn).T @ (point - centre)).max() <= 2.0 + 1e-9


def test_the_points_of_two_cylinders_are_on_them_where_their_axes_are_nearly_parallel():
    """Found by fuzzing: long cylinders side by side, 0.3 m apart, and a point 4e-7 m outside of one of them."""
    rod = Cylinder(0.5, 4.0)
    first = (0.7071066604508393, 0.7071069019200823, 1.1511842405148697e-06, -1.3113174921466095e-06)
    second = (0.7071059142497931, 0.7071076481213662, -8.445291262094321e-07, -7.220772652202534e-07)
    apart = np.array([0.7499986097257256, 1.4675338044701185e-06, 1.0624979251989858])
    rng = np.random.default_rng(1)
    for _ in range(tries(300, 50)):
        d = apart + 1e-6 * rng.normal(size=3)
        near = proximity(rod, rod, d, first, second)
        for centre, turn, point in ((0.0, first, near.point_a[0]), (d, second, near.point_b[0])):
            x, y, z = rotation(turn).T @ (point - centre)
            assert np.hypot(x, y) <= 0.5 + 1e-9 and abs(z) <= 4.0 + 1e-9


def test_the_points_of_meshes_that_just_meet_at_an_edge_are_on_both():
    """Found by fuzzing: a plate and a prism of 64 sides at no distance, and a point 9e-5 m beside the prism."""
    plate = ConvexMesh([(1.015625 * x, 1.015625 * y, z) for z in (-0.03125, 0.03125) for x, y in polygon(4)])
    prism = ConvexMesh([(0.5 * x, 0.5 * y, z) for z in (-1.078125, 1.078125) for x, y in polygon(64)])
    first = (0.6963366028148191, -0.7177153000472453, -0.00018052132275508942, 0.0002259877468136447)
    second = (0.12934882466593148, 0.989548361694668, -0.06348296458511546, -0.005730151169541426)
    d = np.array([1.0009906639034878, -0.3805871728165572, 0.7057156726392644])
    near = proximity(plate, prism, d, first, second)
    assert abs(near.gap[0]) < 1e-9 and near.uncertainty[0] < 1e-9
    for shape, centre, turn, point in ((plate, 0.0, first, near.point_a[0]), (prism, d, second, near.point_b[0])):
        corners = np.array(shape.points)
        hull = ConvexHull(corners).equations
        assert (hull[:, :3] @ rotation(turn).T @ (point - centre) + hull[:, 3]).max() < 1e-9


def polygon(n):
    return [(np.cos(2.0 * np.pi * k / n), np.sin(2.0 * np.pi * k / n)) for k in range(n)]

"""The gap of two ellipsoids: their distance, or the least of all translations that part them, and how certain."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from reference_engine.geometry.ellipsoid_proximity import ellipsoid_proximities
from reference_engine.geometry.spatial_proximity import spatial_proximities
from reference_engine.geometry.spatial_shapes import Ellipsoid, spatial_shapes
from tests.effort import tries
from tests.reference_engine.geometry.ellipsoid_oracle import (
    IS_SHARPER,
    distance,
    pair,
    rolled_balls,
    slab,
    support,
    widest,
)
from tests.reference_engine.geometry.ellipsoid_scenes import facing, random_bodies, twos

ASPECTS = (1.0, 3.0, 100.0)
UPRIGHT = (1.0, 0.0, 0.0, 0.0)
AXES = (
    (1, 1, 1),
    (0.3, 0.3, 0.3),
    (1, 1, 0.01),
    (1, 0.01, 0.01),
    (1, 0.5, 0.5),
    (1, 1, 0.5),
    (1, 0.5, 0.2),
    (1, 0.03, 0.01),
)
ATTITUDES = (UPRIGHT, (1, 1, 0, 0), (1, 0, 1, 0), (0, 0, 0, 2), (1, 1e-9, 0, 0), (0.9, 0.1, 0.3, -0.2))


def sizes(pairs):
    a, _, d = pairs
    return np.linalg.norm(np.asarray(d, float), axis=1) + np.asarray(a, float).max(axis=2).sum(axis=1)


def one(axes_1, axes_2, d, attitude=UPRIGHT, **options):
    return ellipsoid_proximities([axes_1, axes_2], [(0, 0, 0), d], [UPRIGHT, attitude], [(0, 1)], **options)


@pytest.mark.skipif(not IS_SHARPER, reason="long double is double here")
@pytest.mark.parametrize("aspect", ASPECTS)
@pytest.mark.parametrize("far", [True, False])
def test_distances_are_those_of_a_minimiser_in_long_double(aspect, far):
    """Its own bracket, of a slab and two points, is 1e-16 wide; ours must hold the truth, and be narrow."""
    rng = np.random.default_rng([1, int(aspect), far])
    axes, turned = random_bodies(rng, 400, aspect)
    position, n = facing(rng, axes, turned, rng.uniform(0.01, 3.0, 400) if far else np.full(400, 1e-9))
    near = ellipsoid_proximities(axes, position, turned, twos(400))
    pairs = pair(axes, position, turned)
    at_least, at_most = distance(pairs, n + 1e-3 * rng.normal(size=n.shape))
    assert ((at_most - at_least) <= 1e-16 * sizes(pairs)).all()
    assert (abs(near.gap - at_least) <= near.uncertainty).all()
    assert (abs(near.gap - at_least) <= 2e-15 * sizes(pairs)).all()
    assert (near.uncertainty <= 1e-13 * sizes(pairs)).all()


@pytest.mark.parametrize("aspect", ASPECTS)
@pytest.mark.parametrize("depth", [-1.0, 1e-9, 0.2, 1.5])
def test_a_gap_is_the_width_of_a_slab_and_the_way_between_two_surface_points(aspect, depth):
    rng = np.random.default_rng([2, int(aspect), int(10 * depth + 100)])
    axes, turned = random_bodies(rng, 100, aspect)
    position, _ = facing(rng, axes, turned, -depth * axes.reshape(-1, 6).min(axis=1))
    near = ellipsoid_proximities(axes, position, turned, twos(100))
    pairs = pair(axes, position, turned, float)
    scale = sizes(pairs)
    width, _ = slab(pairs, near.normal)
    assert_allclose(width, near.gap, rtol=0, atol=1e-14 * scale.max())
    assert_allclose(np.linalg.norm(near.normal, axis=1), 1.0, atol=1e-14)
    off = np.linalg.norm(near.point_b - near.point_a - near.gap[:, None] * near.normal, axis=1)
    assert (off <= 1e-12 * scale).all()
    for point, body in ((near.point_a, 0), (near.point_b, 1)):
        own = np.einsum("nji,nj->ni", pairs[1][:, body], point - position[body::2]) / pairs[0][:, body]
        assert_allclose(np.linalg.norm(own, axis=1), 1.0, atol=1e-12)


@pytest.mark.parametrize("aspect", [3.0, 100.0])
@pytest.mark.parametrize("depths", [(0.0, 0.2), (0.2, 3.0)])
def test_no_start_of_many_finds_a_shorter_way_apart(aspect, depths):
    rng = np.random.default_rng([3, int(aspect), int(depths[1])])
    axes, turned = random_bodies(rng, 60, aspect)
    position, _ = facing(rng, axes, turned, -axes.reshape(-1, 6).min(axis=1) * rng.uniform(*depths, 60))
    near = ellipsoid_proximities(axes, position, turned, twos(60))
    _, width = widest(pair(axes, position, turned, float), rng, lattice=100, climbers=4, rounds=25)
    assert np.count_nonzero(near.gap < 0.0) >= 50  # a depth beyond the bodies' own thickness parts some
    assert (width <= near.gap + 1e-14).all()
    assert (near.uncertainty <= 1e-9).all()


def test_deep_overlaps_agree_with_the_search_for_any_convex_bodies():
    rng = np.random.default_rng(4)
    axes, turned = random_bodies(rng, 60, 5.0)
    position, _ = facing(rng, axes, turned, -axes.reshape(-1, 6).min(axis=1) * rng.uniform(0.1, 2.0, 60))
    near = ellipsoid_proximities(axes, position, turned, twos(60))
    for k in range(60):
        both = slice(2 * k, 2 * k + 2)
        shapes = spatial_shapes([Ellipsoid(a) for a in axes[both]], [False, False])
        other = spatial_proximities(shapes, position[both], turned[both], np.inf)
        allowed = near.uncertainty[k] + other.uncertainty[0] + 1e-10 * abs(other.gap[0])  # where that one stops
        assert abs(near.gap[k] - other.gap[0]) <= allowed


@settings(max_examples=tries(150))
@given(
    axes=st.tuples(st.sampled_from(AXES), st.sampled_from(AXES)),
    attitude=st.sampled_from(ATTITUDES),
    direction=st.sampled_from([(1, 0, 0), (0, 0, 1), (1, 1, 0), (0.3, -0.5, 0.8)]),
    apart=st.sampled_from([0.0, 1e-300, 1e-12, 0.005, 0.3, 1.0, 1.01, 1.5, 2.0, 2.0 + 1e-9, 1e3]),
)  # fmt: skip
def test_discs_needles_and_balls_in_line_concentric_and_just_touching(axes, attitude, direction, apart):
    """The slab proves that the gap is not greater than said, apart the points that it is not less; many starts help."""
    d = apart * np.array(direction, float)
    near = one(axes[0], axes[1], d, attitude)
    pairs = pair(axes, [(0, 0, 0), d], [UPRIGHT, attitude], float)
    assert np.isfinite([near.gap[0], near.uncertainty[0], *near.normal[0]]).all()
    assert slab(pairs, near.normal)[0][0] == pytest.approx(near.gap[0], abs=4e-15 * sizes(pairs)[0])
    loose = 1e-5 if near.gap[0] < 0.0 else 1e-12  # bodies of revolution, deep in one another on one axis
    assert near.uncertainty[0] <= loose * sizes(pairs)[0]
    if near.gap[0] > 0.0:
        length = np.linalg.norm(near.point_b[0] - near.point_a[0])
        assert length <= near.gap[0] + near.uncertainty[0]
    else:
        with np.errstate(all="ignore"):  # starts that are no maximum of anything
            _, width = widest(pairs, np.random.default_rng(0), lattice=60, climbers=3, rounds=20)
        assert width[0] <= near.gap[0] + near.uncertainty[0]


def test_spheres_are_exact_however_they_are_turned():
    rng = np.random.default_rng(5)
    r, q = rng.uniform(0.1, 1.0, 400), rng.normal(size=(400, 4))
    position = rng.uniform(-1.0, 1.0, (400, 3))
    near = ellipsoid_proximities(np.repeat(r[:, None], 3, axis=1), position, q, twos(200))
    d = position[1::2] - position[::2]
    length = np.linalg.norm(d, axis=1)
    assert_allclose(near.gap, length - r[::2] - r[1::2], rtol=0, atol=1e-15)
    assert_allclose(near.normal, d / length[:, None], rtol=0, atol=1e-15)
    assert (near.uncertainty <= 1e-14).all()


@pytest.mark.parametrize("gap", [1e-9, 0.0, 0.5])
def test_aligned_bodies_touch_with_the_ends_of_their_axes(gap):
    """On the x axis the line of centres is normal to both: the distance is what is left of it."""
    for axes, other in itertools.product(AXES, AXES):
        x = axes[0] + other[0] + gap
        near = one(axes, other, (x, 0, 0))
        assert near.gap[0] == pytest.approx(x - axes[0] - other[0], abs=1e-15), (axes, other)
        assert_allclose(near.point_a[0], (axes[0], 0, 0), atol=1e-15, err_msg=f"{axes} {other}")


def test_a_known_pair():
    """Placed by hand: 0.25 m between the planes across (1, 2, 2) / 3 that touch the two bodies."""
    near = one((3, 2, 1), (2, 1, 0.5), (0.8331661817840243, 2.745445705303324, 1.506334666730128), (1, 2, 3, 4))
    assert near.gap[0] == pytest.approx(0.25, abs=2e-15)
    assert_allclose(near.normal[0], np.array([1, 2, 2]) / 3, atol=1e-14)


def test_concentric_equal_ellipsoids_part_along_their_shortest_axis():
    near = one((3.0, 2.0, 1.0), (3.0, 2.0, 1.0), (0.0, 0.0, 0.0))
    assert near.gap[0] == pytest.approx(-2.0, abs=1e-15)
    assert abs(near.normal[0, 2]) == pytest.approx(1.0, abs=1e-12)


def test_the_order_of_a_pair_only_turns_its_normal_round():
    rng = np.random.default_rng(6)
    axes, turned = random_bodies(rng, 200, 10.0)
    position, _ = facing(rng, axes, turned, rng.uniform(-0.3, 0.3, 200) * axes.reshape(-1, 6).min(axis=1))
    near = ellipsoid_proximities(axes, position, turned, twos(200))
    back = ellipsoid_proximities(axes, position, turned, twos(200)[:, ::-1])
    assert_allclose(back.gap, near.gap, rtol=0, atol=1e-14)
    assert_allclose(back.normal, -near.normal, rtol=0, atol=1e-7)
    assert_allclose(back.point_a, near.point_b, rtol=0, atol=1e-6)


def test_pairs_beyond_the_cutoff_are_left_out():
    axes, positions = np.ones((4, 3)), [(0, 0, 0), (2.5, 0, 0), (5.0, 0, 0), (7.1, 0, 0)]
    near = ellipsoid_proximities(axes, positions, [UPRIGHT] * 4, [(0, 1), (0, 3), (3, 2)], cutoff=0.4)
    assert (near.a.tolist(), near.b.tolist()) == ([3], [2])
    assert near.gap[0] == pytest.approx(0.1, abs=1e-15)


@pytest.mark.parametrize("aspect", [1.0, 3.0, 10.0])
def test_the_ball_method_finds_the_same_distances(aspect):
    rng = np.random.default_rng([7, int(aspect)])
    axes, turned = random_bodies(rng, 100, aspect)
    position, _ = facing(rng, axes, turned, rng.uniform(0.05, 2.0, 100))
    near = ellipsoid_proximities(axes, position, turned, twos(100))
    pairs = pair(axes, position, turned, float)
    normal = rolled_balls(pairs)
    at_least, w = slab(pairs, normal)
    uncertainty = np.linalg.norm(w, axis=1) - at_least
    assert (abs(at_least - near.gap) <= uncertainty + near.uncertainty).all()
    assert (uncertainty <= 1e-12).all()
    _, point = support(pairs[0][:, 0], pairs[1][:, 0], normal)
    assert_allclose(position[::2] + point, near.point_a, atol=1e-9)


GOOD = {
    "semi_axes": [(1, 1, 1), (1, 2, 3)], "position": [(0, 0, 0), (5, 0, 0)], "orientation": [UPRIGHT, UPRIGHT],
    "pairs": [(0, 1)],
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"semi_axes": [(1, 1, 1), (1, 0, 3)]}, r"semi_axes\[1, 1\]: 0.0; 1e-40 to 1e\+40 m"),
        ({"semi_axes": [(1, 1), (1, 1)]}, r"shapes \(2, 2\), \(2, 3\), \(2, 4\); \(B, 3\), \(B, 3\), \(B, 4\)"),
        ({"position": [(0, 0, 0), (np.nan, 0, 0)]}, r"position\[1, 0\]: nan; -1e\+40 to 1e\+40 m"),
        ({"orientation": [UPRIGHT, (0, 0, 0, 0)]}, r"orientation\[1\]: .*; a quaternion of length 1e-100 or more"),
        ({"pairs": [(0, 1), (1, 1)]}, r"pairs\[1\]: \[1, 1\]; two different bodies of 0 ... 1"),
        ({"pairs": [(0, 2)]}, r"pairs\[0\]: \[0, 2\]"),
        ({"pairs": [(0.9, 1.2)]}, r"pairs: shape \(1, 2\) of float64"),
        ({"position": [(0, 0, 0), (1e200, 0, 0)]}, r"position\[1, 0\]: 1e\+200"),
        ({"cutoff": np.nan}, r"cutoff: nan m"),
    ],
)
def test_bad_input_is_named(change, message):
    with pytest.raises(ValueError, match=message):
        ellipsoid_proximities(**(GOOD | change))

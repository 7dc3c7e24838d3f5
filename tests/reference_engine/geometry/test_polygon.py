"""Faults of vertex lists, exact signs, convex pieces."""

import re
from fractions import Fraction

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from reference_engine.geometry.polygon import (
    convex_pieces,
    counter_clockwise,
    exact_area_sign,
    is_convex,
    orientation,
    polygon_faults,
    segments_meet,
)
from tests.reference_engine.geometry.planar_scenes import star

SQUARE = [[0, 0], [1, 0], [1, 1], [0, 1]]
FAULTY = {
    "too_few": ([[0, 0], [1, 0]], None, "at least 3 vertices, not 2"),
    "shape": ([1.0, 2.0, 3.0], None, r"\(n, 2\) list of vertices, not shape \(3,\)"),
    "not_finite": ([[0, 0], [1, 0], [1, np.nan]], 2, "not finite at vertex 2"),
    "repeated": ([[0, 0], [1, 0], [1, 1], [1, 0]], 3, "repeats vertex 1 at vertex 3"),
    "self_intersecting": ([[0, 0], [1, 1], [1, 0], [0, 1]], 2, "self-intersecting at vertex 2: edge 2-3"),
    "zero_area": ([[0, 0], [1, 1], [2, 2]], 1, None),
}


@pytest.mark.parametrize("kind", FAULTY)
def test_a_faulty_polygon_is_told_its_fault_and_the_vertex(kind):
    vertices, vertex, text = FAULTY[kind]
    fault = polygon_faults(vertices)[0]
    if text is None:  # three points on a line turn back on themselves: that is found first
        assert fault.kind in ("zero_area", "self_intersecting")
        return
    assert (fault.kind, fault.vertex) == (kind, vertex)
    assert re.search(text, fault.text)


def test_sound_polygons_have_no_fault_in_either_orientation():
    assert polygon_faults(SQUARE) == polygon_faults(SQUARE[::-1]) == ()
    assert polygon_faults([[0, 0], [0.5, 0], [1, 0], [1, 1]]) == ()  # a vertex on a straight side


def test_a_spike_and_a_vertex_on_a_far_edge_are_self_intersections():
    assert polygon_faults([[0, 0], [2, 0], [1, 0], [1, 1]])[0].kind == "self_intersecting"
    assert polygon_faults([[0, 0], [2, 0], [2, 2], [1, 0], [0, 2]])[0].kind == "self_intersecting"


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=3, max_size=8, unique=True))
def test_shapely_agrees_on_which_small_integer_polygons_are_simple(points):
    assert (polygon_faults(points) == ()) == shapely.Polygon(points).is_valid


nearby = st.integers(-3, 3).map(lambda k: 0.1 + k * 2.0**-56)


@given(st.tuples(nearby, nearby), st.tuples(nearby, nearby), st.floats(-2, 2))
def test_the_orientation_is_exact_where_floating_point_is_not(a, b, t):
    c = (t, t)
    (ax, ay), (bx, by), (cx, cy) = ([Fraction(x) for x in p] for p in (a, b, c))
    exact = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    assert orientation(a, b, c) == (exact > 0) - (exact < 0)
    assert orientation(a, b, c) == orientation(b, c, a) == -orientation(b, a, c)


@given(*[st.tuples(st.integers(0, 4), st.integers(0, 4))] * 4)
def test_segments_meet_where_shapely_says_so(a, b, c, d):
    if a != b and c != d:
        assert segments_meet(a, b, c, d) == shapely.LineString([a, b]).intersects(shapely.LineString([c, d]))


def test_convex_parts_are_convex_and_tile_the_polygon():
    for seed in range(60):
        vertices = np.asarray(star(np.random.default_rng(seed)).vertices)
        found = convex_pieces(vertices[::-1] if seed % 2 else vertices)
        assert all(is_convex(one) and exact_area_sign(one) == 1 for one in found), seed
        whole, pieces = shapely.Polygon(vertices), [shapely.Polygon(one) for one in found]
        assert sum(piece.area for piece in pieces) == pytest.approx(whole.area, rel=1e-13), seed
        assert shapely.union_all(pieces).symmetric_difference(whole).area < 1e-12, seed
        rolled = [np.roll(counter_clockwise(vertices), k, axis=0)[:3] for k in range(len(vertices))]
        assert len(found) <= 2 * sum(orientation(*corner) < 0 for corner in rolled) + 1, seed


def test_a_comb_with_collinear_teeth_is_divided():
    comb = [[0, 0], [7, 0], [7, 2], [6, 2], [6, 1], [5, 1], [5, 2], [4, 2], [4, 1], [3, 1], [3, 2], [2, 2], [2, 1],
            [1, 1], [1, 2], [0, 2]]  # fmt: skip
    pieces = convex_pieces(comb)
    assert sum(shapely.Polygon(piece).area for piece in pieces) == 11.0
    assert len(pieces) <= 8

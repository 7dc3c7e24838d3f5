"""Neighbour lists miss no pair, are kept while they hold, and start searches where the last ones ended."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from reference_engine.geometry.cells import overlapping_boxes
from reference_engine.geometry.ellipsoid_neighbours import EllipsoidNeighbours
from reference_engine.geometry.ellipsoid_proximity import ellipsoid_proximities


def all_pairs(count):
    return np.argwhere(np.triu(np.ones((count, count), bool), 1))


@pytest.mark.parametrize("spread", [1.0, 1e3, 1e9])
@pytest.mark.parametrize("shift", [0.0, -1e4])
def test_cells_find_the_boxes_that_a_test_of_all_pairs_finds(spread, shift):
    rng = np.random.default_rng([1, int(spread), int(-shift)])
    half = 0.2 * spread ** -rng.uniform(0.0, 1.0, (300, 1)) * rng.uniform(0.1, 1.0, (300, 3))
    middle = rng.uniform(-1.0, 1.0, (300, 3)) + shift
    middle[:50] = np.round(middle[:50] * 4) / 4  # in line, and on the walls of cells
    low, high = middle - half, middle + half
    i, j = all_pairs(300).T
    meets = ((low[i] <= high[j]) & (low[j] <= high[i])).all(axis=1)
    assert meets.any() and not meets.all()
    assert_array_equal(overlapping_boxes(low, high), all_pairs(300)[meets])


def test_boxes_that_only_touch_are_a_pair_and_points_are_boxes():
    low = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 1), (3, 3, 3), (3, 3, 3)], float)
    high = np.array([(1, 1, 1), (2, 1, 1), (2, 2, 2), (3, 3, 3), (3, 3, 3)], float)
    assert overlapping_boxes(low, high).tolist() == [[0, 1], [0, 2], [1, 2], [3, 4]]
    assert overlapping_boxes(np.zeros((2, 3)), np.zeros((2, 3))).tolist() == [[0, 1]]
    assert overlapping_boxes(low[:1], high[:1]).tolist() == []


def test_a_box_that_is_inside_out_is_named():
    with pytest.raises(ValueError, match=r"box 1: 2.0 to 1.0 along axis 2; finite, low to high"):
        overlapping_boxes(np.array([(0, 0, 0), (0, 0, 2.0)]), np.array([(1, 1, 1), (1, 1, 1.0)]))


def test_along_a_motion_the_list_gives_what_all_pairs_give():
    """Bodies of very different sizes move and turn; the list is made anew only now and then."""
    rng = np.random.default_rng(2)
    count, steps = 60, 40
    axes = rng.uniform(0.05, 0.3, (count, 3)) * rng.choice([0.2, 1.0, 3.0], (count, 1))
    position, orientation = rng.uniform(-1.0, 1.0, (count, 3)), rng.normal(size=(count, 4))
    velocity, turning = rng.normal(size=(count, 3)) * 5e-4, rng.normal(size=(count, 4)) * 2e-3
    neighbours = EllipsoidNeighbours(axes, cutoff=0.05)
    kept = 0
    for _ in range(steps):
        pairs, found = neighbours.pairs, neighbours.found
        number = neighbours.update(position, orientation)
        kept += neighbours.pairs is pairs and neighbours.found is found
        near = neighbours.proximities()
        expected = ellipsoid_proximities(axes, position, orientation, all_pairs(count), cutoff=0.05)
        assert number == len(near) == len(expected) > 0
        assert_array_equal((near.a, near.b), (expected.a, expected.b))
        assert_allclose(near.gap, expected.gap, rtol=0, atol=1e-9)
        position, orientation = position + velocity, orientation + turning
    assert 2 <= neighbours.rebuilds <= steps // 2 and kept == steps - neighbours.rebuilds


def test_a_pair_that_stays_listed_keeps_its_normal_when_others_come():
    neighbours = EllipsoidNeighbours(np.ones((3, 3)) * (1.0, 0.5, 0.5), cutoff=0.1)
    still = np.tile((1.0, 0.0, 0.0, 0.0), (3, 1))
    neighbours.update([(0, 0, 0), (2.05, 0.2, 0), (9, 0, 0)], still)
    before = neighbours._normal[0].copy()
    neighbours.update([(0, 0, 0), (2.05, 0.2, 0), (4, 0.2, 0)], still)
    assert neighbours.pairs.tolist() == [[0, 1], [1, 2]] and neighbours.rebuilds == 2
    assert_allclose(neighbours._normal[0], before, atol=1e-9)
    assert np.linalg.norm(before) == pytest.approx(1.0)


def test_nothing_is_near_nothing():
    assert EllipsoidNeighbours(np.zeros((0, 3)), cutoff=0.1).update(np.zeros((0, 3)), np.zeros((0, 4))) == 0
    alone = EllipsoidNeighbours([(1, 1, 1)], cutoff=0.1)
    assert alone.update([(0, 0, 0)], [(1, 0, 0, 0)]) == 0 and len(alone.proximities()) == 0


def test_bad_input_is_named():
    with pytest.raises(ValueError, match=r"cutoff: -1 m; at least 0 and finite"):
        EllipsoidNeighbours([(1, 1, 1)], cutoff=-1)
    with pytest.raises(ValueError, match=r"skin: nan m"):
        EllipsoidNeighbours([(1, 1, 1)], cutoff=0.0, skin=np.nan)
    two = EllipsoidNeighbours([(1, 1, 1), (1, 1, 1)], cutoff=0.1)
    with pytest.raises(ValueError, match=r"shapes \(1, 3\), \(2, 4\); \(2, 3\), \(2, 4\)"):
        two.update([(0, 0, 0)], np.ones((2, 4)))
    two.update([(0, 0, 0), (2, 0, 0)], np.ones((2, 4)))
    with pytest.raises(ValueError, match=r"position\[1, 0\]: nan; -1e\+40 to 1e\+40 m"):
        two.update([(0, 0, 0), (np.nan, 0, 0)], np.ones((2, 4)))

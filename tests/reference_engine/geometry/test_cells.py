"""Cells find every pair of boxes that overlap, and no other."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from reference_engine.geometry.cells import overlapping_boxes
from tests.effort import few


def all_pairs(count):
    return np.argwhere(np.triu(np.ones((count, count), bool), 1))


@pytest.mark.parametrize(("spread",), few(2, [(1.0,), (1e9,), (1e3,)]))
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

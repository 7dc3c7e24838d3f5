"""Elimination inside the bands of a matrix: the numbers of the elimination of the whole one, to the bit."""

import numpy as np
import pytest

from reference_engine.planar.faithful import arrays as col
from reference_engine.planar.faithful import elimination
from reference_engine.planar.faithful.arrays import room_to_work


def whole(A, b):
    """Scaled partial pivoting over every entry of [A b]; the rank, the order of rows and columns, and x or None."""
    n = len(b)
    M, scale = np.column_stack([A, b]), np.abs(A).max(axis=1)
    rows, columns = list(range(n)), list(range(n))
    rank = n
    for step in range(n):
        left = n - step
        while left:
            sizes = np.abs(M[rows[step:], columns[step]]) / scale[rows[step:]]
            at = step + int(np.argmax(sizes))
            if abs(M[rows[at], columns[step]]) >= elimination.NO_PIVOT:
                break
            left -= 1
            if left:
                columns.append(columns.pop(step))
        if not left:
            rank = step
            break
        rows[step], rows[at] = rows[at], rows[step]
        pivot = rows[step]
        for row in rows[step + 1 :]:
            m = M[row, columns[step]] / M[pivot, columns[step]]
            M[row, columns[step]] = 0.0
            rest = [*columns[step + 1 :], n]
            M[row, rest] -= m * M[pivot, rest]
    x = np.zeros(n)
    if (np.abs(M[rows[rank:], n]) > elimination.INCONSISTENT).any():
        return rank, rows, columns, None
    for k in range(rank - 1, -1, -1):
        known = 0.0
        for j in columns[k + 1 : rank]:
            known += M[rows[k], j] * x[j]
        x[columns[k]] = (M[rows[k], n] - known) / M[rows[k], columns[k]]
    return rank, rows, columns, x


def banded(A, b, monkeypatch):
    for name in ("find_bands", "held_matrix", "fill_out", "eliminate", "back_substitute"):
        kernel = getattr(elimination, name)
        monkeypatch.setattr(elimination, name, getattr(kernel, "py_func", kernel))
    n, work, x = len(b), room_to_work(len(b), 1), np.full(len(b), np.nan)
    work.M[:] = np.nan  # nothing outside a band may be read
    elimination.find_bands(A, n, work)
    assert elimination.held_matrix(A, n, np.full(n, elimination.HELD), col.NONE, col.NONE, work) == n
    work.M[:, n] = b
    rank = elimination.eliminate(n, 0.0, work)
    found = elimination.back_substitute(n, rank, work, x)
    return rank, list(work.k[col.W_ROWS]), list(work.k[col.W_COLUMNS]), x if found else None


def pile(rng, n, width, redundant):
    """A = J J^T of contacts that share coordinates with their neighbours alone; some of them twice."""
    J = np.zeros((n, n + width))
    for i in range(n):
        J[i, i : i + width] = rng.normal(size=width)
    for i in rng.choice(n, redundant, replace=False):
        J[i] = J[(i + 1) % n]
    return J @ J.T


@pytest.mark.parametrize("redundant", [0, 1, 3])
@pytest.mark.parametrize("width", [1, 2, 5, 12])
def test_what_lies_outside_the_bands_changes_nothing(width, redundant, monkeypatch):
    rng = np.random.default_rng([width, redundant])
    for _ in range(5):
        A, b = pile(rng, 12, width, redundant), rng.normal(size=12)
        full, quick = whole(A, b), banded(A, b, monkeypatch)
        assert quick[:3] == full[:3]
        assert (quick[3] is None) == (full[3] is None)
        assert full[3] is None or np.array_equal(quick[3], full[3])

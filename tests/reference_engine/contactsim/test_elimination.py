"""Elimination over the held contacts: the numbers of the textbook's, to the bit."""

import numpy as np
import pytest

from reference_engine.contactsim import arrays as col
from reference_engine.contactsim import pivoting
from reference_engine.contactsim.arrays import new_work


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
            if abs(M[rows[at], columns[step]]) >= pivoting.NO_PIVOT:
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
    if (np.abs(M[rows[rank:], n]) > pivoting.INCONSISTENT).any():
        return rank, rows, columns, None
    for k in range(rank - 1, -1, -1):
        known = 0.0
        for j in columns[k + 1 : rank]:
            known += M[rows[k], j] * x[j]
        x[columns[k]] = (M[rows[k], n] - known) / M[rows[k], columns[k]]
    return rank, rows, columns, x


@pytest.fixture
def in_python(monkeypatch):
    """Kernels that only kernels can call, as Python."""
    for name, kernel in list(vars(pivoting).items()):
        if hasattr(kernel, "py_func"):
            monkeypatch.setattr(pivoting, name, kernel.py_func)


def ours(A, b):
    """The same of contacts that are all held, by our own elimination."""
    n = len(b)
    work = new_work(n, 1)
    work.A[:], work.right[:], work.status[:] = A, b, pivoting.CLAMPED
    assert pivoting.clamped_matrix(n, col.NONE, col.NONE, work) == n
    rank, least = pivoting.eliminate(n, work)
    assert (least < pivoting.NO_PIVOT) == (rank < n)
    found = pivoting.back_substitute(n, rank, work)
    return rank, list(work.rows), list(work.columns), work.x if found else None


def pile(rng, n, width, redundant):
    """A = J J^T of contacts that share coordinates with their neighbours alone; some of them twice."""
    J = np.zeros((n, n + width))
    for i in range(n):
        J[i, i : i + width] = rng.normal(size=width)
    for i in rng.choice(n, redundant, replace=False):
        J[i] = J[(i + 1) % n]
    return J @ J.T


def agree(one, other):
    return (one is None and other is None) or np.array_equal(one, other)


@pytest.mark.parametrize("redundant", [0, 1, 3])
@pytest.mark.parametrize("width", [1, 2, 5, 12])
def test_it_is_the_textbook_s_elimination_to_the_bit(width, redundant, in_python):
    rng = np.random.default_rng([width, redundant])
    for _ in range(5):
        A, b = pile(rng, 12, width, redundant), rng.normal(size=12)
        full, found = whole(A, b), ours(A, b)
        assert found[:3] == full[:3] and agree(found[3], full[3])

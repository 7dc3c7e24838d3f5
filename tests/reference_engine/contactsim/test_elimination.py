"""Elimination over the held contacts, started over or kept: the numbers of the textbook's, to the bit."""

import numpy as np
import pytest

from reference_engine.contactsim import arrays as col
from reference_engine.contactsim import factors, pivoting
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
    for module in (factors, pivoting):
        for name, kernel in list(vars(module).items()):
            if hasattr(kernel, "py_func"):
                monkeypatch.setattr(module, name, kernel.py_func)


def kept_factor(A, b, clamped, work):
    """Rank, order of the rows and x from what is known of earlier lists; None for what is not regular."""
    n, x = len(b), np.full(len(b), np.nan)
    status = np.where(clamped, pivoting.CLAMPED, pivoting.OPEN)
    slot = factors.factor_of(A, n, status, col.NONE, col.NONE, work)
    if not factors.is_regular(slot, 0.0, work):
        return None
    count = int(clamped.sum())
    factors.solve_factor(slot, b, work, x)
    return list(work.f_ids[slot, col.F_ROWS, :count]), x[:count]


def started_over(A, b, clamped, work):
    n, x = int(clamped.sum()), np.full(len(b), np.nan)
    work.k[col.W_CLAMPED, :n] = np.flatnonzero(clamped)
    pivoting.clamped_matrix(A, b, n, work)
    rank = pivoting.eliminate(n, work)
    found = pivoting.back_substitute(n, rank, work, x)
    return rank, list(work.k[col.W_ROWS, :n]), list(work.k[col.W_COLUMNS, :n]), x[:n] if found else None


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
def test_started_over_it_is_the_textbook_s_elimination_to_the_bit(width, redundant, in_python):
    rng = np.random.default_rng([width, redundant])
    for _ in range(5):
        A, b = pile(rng, 12, width, redundant), rng.normal(size=12)
        full, ours = whole(A, b), started_over(A, b, np.ones(12, bool), new_work(12, 1))
        assert ours[:3] == full[:3] and agree(ours[3], full[3])


@pytest.mark.parametrize("redundant", [0, 2])
@pytest.mark.parametrize("width", [1, 3, 6, 14])
def test_a_factor_that_is_kept_while_contacts_come_and_go_is_the_one_from_the_start_to_the_bit(
    width, redundant, in_python
):
    """Contacts are taken in and let go in random order, low ones first by preference; rows differ in size."""
    rng = np.random.default_rng([width, redundant])
    for spread in (0.0, 1.0, 2.0):
        scales = np.exp(spread * rng.normal(size=14))
        A, work = pile(rng, 14, width, redundant) * np.outer(scales, scales), new_work(14, 1)
        work.factor[:] = np.nan  # nothing outside a band may be read
        factors.forget_factors(A, 14, work)
        clamped = np.zeros(14, bool)
        for _ in range(60):
            weights = np.where(clamped, 0.3, np.exp(-0.1 * np.arange(14)))
            clamped[rng.choice(14, p=weights / weights.sum())] ^= True
            if not clamped.any():
                continue
            b = rng.normal(size=14)
            rank, rows, _, x = whole(A[np.ix_(clamped, clamped)], b[clamped])
            found = kept_factor(A, b, clamped, work)
            assert (found is None) == (rank < clamped.sum())
            assert found is None or (found[0] == rows and np.array_equal(found[1], x))

"""Kernels of the solvers: one signature each, nothing allocated, the factor kept up to date as if made anew."""

import numba
import numpy as np
import pytest

from reference_engine import contact_forces
from reference_engine.contact_problems import dantzig, elimination, lemke
from tests.reference_engine.contact_problems.problems import solvable


def test_every_kernel_has_been_compiled_for_one_signature_at_most():
    if numba.config.DISABLE_JIT:
        return
    for A in ([[2, 1], [1, 2]], np.asfortranarray([[2.0, 1.0], [1.0, 2.0]]), np.ones((4, 4), np.float32)[::2, ::2]):
        for method in ("dantzig", "lemke"):
            contact_forces(A, (-1, -1), [0, 1], method=method, tolerance=np.float32(1e-6))
            contact_forces(A, [-1.0, -1.0], method=method)
    for module in (dantzig, elimination, lemke):
        for name, kernel in vars(module).items():
            if hasattr(kernel, "signatures"):
                assert len(kernel.signatures) <= 1, f"{module.__name__}.{name}: {kernel.signatures}"


def workspace(n: int) -> dict[str, np.ndarray]:
    return {
        "factor": np.zeros((n, n)), "direction": np.zeros(n), "clamped": np.zeros(n, np.int64),
        "status": np.zeros(n, np.int64), "a": np.zeros(n), "f": np.zeros(n),
    }  # fmt: skip


def test_only_the_first_n_rows_of_larger_arrays_are_looked_at_and_old_contents_do_not_matter():
    """As the engine calls it: space for many contacts, a few in contact, whatever the last call left behind."""
    rng = np.random.default_rng(7)
    for _ in range(20):
        A, b, _, _, _ = solvable(rng, int(rng.integers(1, 12)))
        n, lemke_work = len(b), len(b) + int(rng.integers(0, 5))
        big_A, big_b, work = (
            np.full((lemke_work, lemke_work), np.nan),
            np.full(lemke_work, np.nan),
            workspace(lemke_work),
        )
        big_A[:n, :n], big_b[:n] = A, b
        for name, array in work.items():
            array[:] = rng.integers(0, 3, array.shape) if name in ("clamped", "status") else np.nan
        work["status"][:n] = dantzig.FREE
        outcome, residual, *_ = dantzig.solve_with_bilateral(big_A, big_b, n, dantzig.TOLERANCE, *work.values())
        if outcome == dantzig.SOLVED:  # b was made with joints now and then
            assert residual <= 1e-9 * max(1.0, np.abs(b).max())
            assert A @ work["f"][:n] + b == pytest.approx(work["a"][:n], abs=1e-9 * max(1.0, np.abs(b).max()))


def test_a_factor_that_lost_rows_is_that_of_the_rows_which_are_left():
    """Golub & Van Loan: plane rotations restore L without forming A_CC again."""
    rng = np.random.default_rng(11)
    J = rng.normal(size=(12, 20))
    A, n = J @ J.T, 12

    factorise, drop_row = (
        getattr(kernel, "py_func", kernel) for kernel in (elimination.factorise, elimination.drop_row)
    )
    L, clamped = np.zeros((n, n)), np.arange(n)
    assert factorise(A, clamped, 0, n, 1e-13, 0.0, L) == n
    for row in (11, 0, 4, 4, 7):
        drop_row(L, clamped, row, n)
        n -= 1
        kept = clamped[:n]
        lower = np.tril(L[:n, :n])
        assert lower @ lower.T == pytest.approx(A[np.ix_(kept, kept)], abs=1e-13 * np.abs(A).max())
    assert len(set(kept.tolist())) == 7


def test_rows_that_depend_on_others_stay_out_of_the_factor():
    """Rows 2 and 3 repeat and add up the others: rank 2, whichever two are taken."""
    J = np.array([[1.0, 2.0], [3.0, -1.0], [1.0, 2.0], [4.0, 1.0]])
    work = workspace(4)
    work["status"][:] = dantzig.BILATERAL
    A, b = J @ J.T, J @ np.array([1.0, -7.0])
    outcome, residual, count, _, _ = dantzig.solve_with_bilateral(A, b, 4, 1e-9, *work.values())
    assert outcome == dantzig.SOLVED and count == 2 and residual < 1e-12

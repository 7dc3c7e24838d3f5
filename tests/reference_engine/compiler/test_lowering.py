"""What kernels are written as says what Python says."""

import math
from typing import Any

import numba
import numpy as np
import pytest
from numba.core.caching import NullCache

from reference_engine.compiler.kernels import entry, kernel

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="kernels are not compiled (NUMBA_DISABLE_JIT)")


def elements(x: np.ndarray, grid: np.ndarray, n: int, out: np.ndarray) -> None:
    out[0], out[1], out[2] = x[-1], x[n], grid[n, -1]
    out[3], out[4] = grid[1, 2], grid[-2, n]
    grid[-1, n] = n
    out[-1] = grid[0][n] + grid.shape[1] + len(grid)


def numbers(x: np.ndarray, grid: np.ndarray, n: int, out: np.ndarray) -> None:
    out[0], out[1] = max(x[0], x[1], n), min(x[1], x[0])
    out[2], out[3], out[4] = x[2] ** 5, x[2] ** 0, x[2] / (n - 3)
    out[5], out[6] = np.hypot(x[2], 2.0), np.sqrt(x[3])
    out[7], out[8] = n // 2, (n - 4) % 3
    if n in (3, 1) and x[0] != x[0] and not x[0] < x[1] and n <= 1.5:
        out[9] = 1.0


def ranges(x: np.ndarray, grid: np.ndarray, n: int, out: np.ndarray) -> None:
    count = 0
    for k in range(3):
        for m in range(k, n - 3, -1):
            out[count] = 10 * k + m
            count += 1
    for k in range(n, 9, 4):
        out[-1] += k
    for k in range(2, n):
        out[-2] += k


@pytest.mark.parametrize("n", [1, -1])
@pytest.mark.parametrize("said", [elements, numbers, ranges])
def test_elements_numbers_and_ranges_are_those_of_python(said, n):
    compiled = entry(said)
    compiled._cache = NullCache()  # what is kept on disk was written before
    here, there = (
        (np.array([math.nan, 2.5, 1.1, 9.0]), np.arange(12.0).reshape(3, 4), n, np.zeros(20)) for _ in range(2)
    )
    compiled(*here)
    said(*there)
    for a, b in zip(here, there, strict=True):
        np.testing.assert_array_equal(a, b)


@kernel
def is_small(x: float) -> bool:
    return abs(x) < 1.0


@kernel
def count_by(step: int) -> int:
    count = 0
    for _ in range(0, 10, step):
        count += 1
    return count


@entry
def doubled(x: float) -> float:
    return 2.0 * x


def calls(x: float, step: int, out: np.ndarray) -> None:
    out[0] = 1.0 if is_small(x) and not is_small(x + 1.0) else 0.0
    out[1] = doubled(x)
    out[2] = count_by(step)


def test_kernels_and_entries_are_called_and_a_kernel_that_fails_is_heard_of():
    compiled: Any = entry(calls)
    compiled._cache = NullCache()
    out = np.zeros(3)
    compiled(0.5, 3, out)
    assert out.tolist() == [1.0, 1.0, 4.0]
    assert not doubled.signatures  # as machine code; what was called is its kernel
    with pytest.raises(ValueError, match="must not be zero"):
        compiled(0.5, 0, out)

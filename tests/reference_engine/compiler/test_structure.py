"""What a kernel reads of a Structure is what Python put there."""

import struct
from dataclasses import replace
from typing import Any

import numba
import numpy as np
import pytest
from numpy.typing import NDArray

from reference_engine.compiler.kernels import entry, kernel
from reference_engine.compiler.structure import PackedStruct, Structure, of_shape

compiled_only = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled (NUMBA_DISABLE_JIT)")


class Spring(Structure):
    stiffness: float
    coils: int
    ends: Any


class Oscillator(Structure):
    mass: Any
    spring: Spring
    matrix: Any


@kernel
def stretch(spring):
    return spring.ends[1] - spring.ends[0]


@entry
def fill(oscillator, out):
    spring = oscillator.spring
    out[0] = spring.stiffness
    out[1] = spring.coils
    out[2] = stretch(oscillator.spring)
    for i in range(oscillator.matrix.shape[0]):
        for j in range(oscillator.matrix.shape[1]):
            oscillator.matrix[i, j] += oscillator.mass[i] * oscillator.matrix.shape[1] + oscillator.matrix[i].size


def oscillator(rows: int = 2, columns: int = 3) -> Oscillator:
    return Oscillator(np.arange(1.0, 1.0 + rows), Spring(4.5, 7, np.array([1.0, 3.5])), np.zeros((rows, columns)))


def test_scalars_arrays_and_structures_within_are_read_and_elements_are_written():
    given, out = oscillator(), np.zeros(3)
    fill(given, out)
    np.testing.assert_array_equal(out, [4.5, 7.0, 2.5])
    np.testing.assert_array_equal(given.matrix, [[6.0, 6.0, 6.0], [9.0, 9.0, 9.0]])


def test_another_instance_is_read_anew():
    first, second, out = oscillator(), oscillator(3, 1), np.zeros(3)
    fill(first, out)
    fill(replace(second, spring=Spring(-1.0, 2, np.array([0.0, 8.0]))), out)
    np.testing.assert_array_equal(out, [-1.0, 2.0, 8.0])
    np.testing.assert_array_equal(second.matrix, [[2.0], [3.0], [4.0]])


@compiled_only
def test_sizes_do_not_make_another_type():
    fill(oscillator(), np.zeros(3))
    fill(oscillator(4, 4), np.zeros(3))
    assert len(fill.signatures) == 1
    assert len(stretch.signatures) <= 1  # none where what was kept on disk is used


@compiled_only
def test_an_array_with_gaps_is_refused():
    with pytest.raises(TypeError, match=r"Oscillator\.mass: the array is not contiguous"):
        fill(replace(oscillator(), mass=np.arange(4.0)[::2]), np.zeros(3))


@compiled_only
def test_what_has_no_place_in_a_table_is_refused():
    with pytest.raises(TypeError, match=r"Oscillator\.mass: .* is no array, int, float or Structure"):
        fill(replace(oscillator(), mass="heavy"), np.zeros(3))


class Ladder(Structure):
    rungs: NDArray[np.int64] = of_shape("R")
    mass: NDArray[np.float64] = of_shape("M")
    ends: NDArray[np.float64] = of_shape("K", 2)


def test_a_sheet_is_written_anew_in_its_place():
    """The same arrays, whole numbers and others, and matrices by rows; a list of another length is refused."""
    packed = PackedStruct(Ladder, ([3], [0.5, np.inf], [1.0, 2.0, 3.0, 4.0]))
    ladder = packed.structure
    assert (ladder.rungs[0], ladder.mass[1]) == (3, np.inf)
    np.testing.assert_array_equal(ladder.ends, [[1.0, 2.0], [3.0, 4.0]])
    packed.write(([-7], [1.5, 2.5], [0.0, 0.0, 0.0, 9.0]))
    assert (ladder.rungs[0], ladder.mass[1], ladder.ends[1, 1]) == (-7, 2.5, 9.0)
    with pytest.raises(struct.error):
        packed.write(([-7], [1.5], [0.0, 0.0, 0.0, 9.0]))

"""Small dense algebra against LAPACK's, whose last digits are a processor's own."""

from __future__ import annotations

import numpy as np
import pytest

from reference_engine.dense import (
    determinant,
    eigh,
    gauss_legendre,
    inverse,
    is_positive,
    lstsq,
    mul,
    norm,
    pinv,
    roots,
    solve,
    svd,
)

RANDOM = np.random.default_rng(0)
SQUARES = [RANDOM.normal(size=(n, n)) for n in (1, 2, 3, 6, 20)]
SHAPES = [
    *SQUARES,
    RANDOM.normal(size=(6, 3)),
    RANDOM.normal(size=(3, 6)),
    mul(RANDOM.normal(size=(6, 2)), RANDOM.normal(size=(2, 5))),  # of rank 2
]


@pytest.mark.parametrize("A", SQUARES, ids=len)
def test_a_solution_leaves_round_off_and_an_inverse_gives_the_unit_matrix(A: np.ndarray) -> None:
    b = np.arange(1.0, len(A) + 1.0)
    hard = float(np.linalg.cond(A))
    assert mul(A, solve(A, b)) == pytest.approx(b, rel=1e-14 * hard)
    assert mul(A, inverse(A)) == pytest.approx(np.eye(len(A)), abs=1e-14 * hard)
    assert determinant(A) == pytest.approx(np.linalg.det(A), rel=1e-13)


def test_many_matrices_at_once_are_each_inverted() -> None:
    A = RANDOM.normal(size=(50, 3, 3))
    assert inverse(A) == pytest.approx(np.array([inverse(one) for one in A]), rel=1e-9)


def test_a_singular_matrix_is_refused() -> None:
    with pytest.raises(np.linalg.LinAlgError):
        solve(np.zeros((2, 2)), np.ones(2))
    assert determinant(np.zeros((3, 3))) == 0.0


@pytest.mark.parametrize("A", SHAPES, ids=lambda A: "x".join(map(str, A.shape)))
def test_singular_values_are_lapacks_and_the_factors_orthonormal(A: np.ndarray) -> None:
    U, s, Vt = svd(A)
    size = norm(A)
    assert mul(U * s, Vt) == pytest.approx(A, abs=1e-14 * size)
    assert s == pytest.approx(np.linalg.svd(A)[1], abs=1e-14 * size)
    assert mul(U.T, U) == pytest.approx(np.eye(len(s)), abs=1e-13)
    assert mul(Vt, Vt.T) == pytest.approx(np.eye(len(s)), abs=1e-13)
    assert pinv(A, rcond=1e-9) == pytest.approx(np.linalg.pinv(A, rcond=1e-9), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("A", SQUARES, ids=len)
def test_eigenvectors_of_a_symmetric_matrix_turn_it_diagonal(A: np.ndarray) -> None:
    S = A + A.T
    values, vectors = eigh(S)
    assert values == pytest.approx(np.linalg.eigvalsh(S), abs=1e-13 * norm(S))
    assert mul(vectors * values, vectors.T) == pytest.approx(S, abs=1e-13 * norm(S))


@pytest.mark.parametrize("A", SQUARES, ids=len)
def test_a_matrix_is_positive_where_its_least_eigenvalue_is(A: np.ndarray) -> None:
    S = A + A.T
    least = float(np.linalg.eigvalsh(S)[0])
    assert is_positive(S + (1e-9 - least) * np.eye(len(S)))
    assert not is_positive(S - (1e-9 + least) * np.eye(len(S)))


def test_least_squares_of_dependent_columns_is_the_shortest() -> None:
    A = np.array([[1.0, 1.0], [2.0, 2.0], [0.0, 0.0]])
    assert lstsq(A, np.array([1.0, 2.0, 5.0])) == pytest.approx([0.5, 0.5], rel=1e-14)


def test_roots_are_found_and_a_leading_zero_is_no_power() -> None:
    assert sorted(z.real for z in roots([1.0, -6.0, 11.0, -6.0])) == pytest.approx([1.0, 2.0, 3.0], rel=1e-14)
    assert {round(z.imag, 12) for z in roots([0.0, 1.0, 0.0, 1.0])} == {-1.0, 1.0}
    assert roots([2.0]) == []


def test_gauss_quadrature_of_n_nodes_is_exact_to_the_power_2n_less_1() -> None:
    x, weight = gauss_legendre(24)
    assert [float((weight * x**k).sum()) for k in range(0, 48, 2)] == pytest.approx(
        [2.0 / (k + 1) for k in range(0, 48, 2)], rel=1e-14
    )

"""Quaternions and frames by what they must do to vectors."""

import numpy as np
import pytest

from reference_engine.rotation import exponential, matrices, matrices_by_direction, product, tangents

RNG = np.random.default_rng(7)
Q = RNG.normal(size=(200, 4))
UNIT = Q / np.linalg.norm(Q, axis=1, keepdims=True)


def test_a_quarter_turn_about_z_takes_x_to_y():
    q = exponential(np.array([[0.0, 0.0, 0.5 * np.pi]]))
    assert matrices(q)[0] @ [1.0, 0.0, 0.0] == pytest.approx([0.0, 1.0, 0.0], abs=1e-15)


def test_matrices_are_rotations():
    R = matrices(UNIT)
    assert np.abs(R @ R.transpose(0, 2, 1) - np.eye(3)).max() < 4e-15
    assert np.linalg.det(R) == pytest.approx(np.ones(len(R)))


def test_the_product_is_one_rotation_after_another():
    R = matrices(UNIT)
    assert np.abs(matrices(product(UNIT, UNIT[::-1])) - R @ R[::-1]).max() < 4e-15


def test_of_a_quaternion_of_any_length_its_direction_counts():
    assert np.abs(matrices_by_direction(Q) - matrices(UNIT)).max() < 1e-14


def test_leading_axes_are_kept():
    assert (matrices(UNIT.reshape(20, 10, 4))[3, 4] == matrices(UNIT[34])).all()
    assert (product(UNIT[0], UNIT[1]) == product(UNIT[:1], UNIT[1:2])[0]).all()


def test_tangents_and_normal_are_a_right_handed_frame():
    n = UNIT[:, 1:] / np.linalg.norm(UNIT[:, 1:], axis=1, keepdims=True)
    n[:3] = np.eye(3)
    first, second = tangents(n)
    F = np.stack([first, second, n], axis=1)
    assert np.abs(F @ F.transpose(0, 2, 1) - np.eye(3)).max() < 4e-15
    assert np.linalg.det(F) == pytest.approx(np.ones(len(F)))
    assert (tangents(n[5])[0] == first[5]).all()

"""Vectors and rotations: in the axes of the world and of a body."""

import numpy as np

from reference_engine import elementary
from reference_engine.array_types import Array
from reference_engine.dense import cross

CONJUGATE = np.array([1.0, -1.0, -1.0, -1.0])


def to_body_axes(orientation: Array, vector: Array) -> Array:
    """q* v q with q = (w, u) body to world:  v - 2 u x (w v - u x v).  (..., 4), (..., 3) -> (..., 3)"""
    w, u = orientation[..., :1], orientation[..., 1:]
    return vector - 2.0 * cross(u, w * vector - cross(u, vector))


def to_world_axes(orientation: Array, vector: Array) -> Array:
    """q v q*, the other way round."""
    return to_body_axes(orientation * CONJUGATE, vector)


def moment(arm: Array, force: Array) -> Array:
    """arm x force: (..., 1) in the plane, (..., 3) in space."""
    if arm.shape[-1] == 3:
        return cross(arm, force)
    return (arm[..., 0] * force[..., 1] - arm[..., 1] * force[..., 0])[..., None]


def rotation_from(p: Array, q: Array) -> tuple[Array, Array]:
    """q p*, the rotation that takes orientation p to q: its scalar (..., 1) and vector (..., 3), world axes."""
    w, u, w0, u0 = q[..., :1], q[..., 1:], p[..., :1], p[..., 1:]
    return w * w0 + (u * u0).sum(axis=-1, keepdims=True), w0 * u - w * u0 - np.cross(u, u0)


def turned(vector: Array, rotation: Array) -> Array:
    """A vector turned about the axis k of `rotation` by its length t (rad), (..., 3) each.

    k k.v + (v - k k.v) cos t + k x v sin t   (Rodrigues 1840)
    """
    angle = np.sqrt(np.einsum("...i,...i->...", rotation, rotation))[..., None]
    k = rotation / np.where(angle > 0.0, angle, 1.0)
    along = k * np.einsum("...i,...i->...", k, vector)[..., None]
    s, c = elementary.sine_cosine(angle)
    return along + (vector - along) * c + cross(k, vector) * s

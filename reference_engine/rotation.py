"""Rotations of arrays: quaternions and their matrices, tangent frames.

A unit quaternion q = (w, x, y, z) turns body axes into world axes; R(q) is its matrix. `rotation_kernels.py` has what
is compiled.
"""

import numpy as np

from reference_engine.array_types import Array


def matrices(q: Array, scale: float | Array = 2.0) -> Array:
    """R (..., 3, 3) of unit quaternions (..., 4); of others by their directions with scale (...) = 2 / |q|^2."""
    w, x, y, z = np.moveaxis(np.asarray(q, np.float64), -1, 0)
    R = np.empty((*np.shape(w), 3, 3))
    R[..., 0, 0], R[..., 0, 1] = 1.0 - scale * (y * y + z * z), scale * (x * y - w * z)
    R[..., 1, 0], R[..., 1, 1] = scale * (x * y + w * z), 1.0 - scale * (x * x + z * z)
    R[..., 2, 0], R[..., 2, 1] = scale * (x * z - w * y), scale * (y * z + w * x)
    R[..., 0, 2], R[..., 1, 2] = scale * (x * z + w * y), scale * (y * z - w * x)
    R[..., 2, 2] = 1.0 - scale * (x * x + y * y)
    return R


def matrices_by_direction(q: Array) -> Array:
    """R (N, 3, 3) of quaternions (N, 4) of any length but zero."""
    return matrices(q, 2.0 / np.einsum("ij,ij->i", q, q))


def product(p: Array, q: Array) -> Array:
    """p q (..., 4): the rotation q, then p."""
    a, b, c, d = np.moveaxis(p, -1, 0)
    w, x, y, z = np.moveaxis(q, -1, 0)
    return np.stack(
        [
            a * w - b * x - c * y - d * z,
            a * x + b * w + c * z - d * y,
            a * y - b * z + c * w + d * x,
            a * z + b * y - c * x + d * w,
        ],
        axis=-1,
    )


def tangents(normal: Array) -> tuple[Array, Array]:
    """Two unit vectors (..., 3) across unit vectors n and each other: t_1 across the axis least along n, n x t_1."""
    first = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal), axis=-1)])
    first /= np.sqrt(np.einsum("...i,...i->...", first, first))[..., None]
    return first, np.cross(normal, first)

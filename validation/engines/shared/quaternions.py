"""Many unit quaternions at once, w first, as engines' states have them."""

import numpy as np

from reference_engine.array_types import Array
from reference_engine.dense import cross


def rotated(orientation: Array, vector: Array) -> Array:
    """(..., 3): vectors of a body's axes in those of the world, by (..., 4)."""
    axis = orientation[..., 1:]
    twice = 2.0 * cross(axis, vector)
    return vector + orientation[..., :1] * twice + cross(axis, twice)


def product(p: Array, q: Array) -> Array:
    """(N, 4): the turn q, then p."""
    scalar = p[:, :1] * q[:, :1] - (p[:, 1:] * q[:, 1:]).sum(axis=1, keepdims=True)
    vector = p[:, :1] * q[:, 1:] + q[:, :1] * p[:, 1:] + np.cross(p[:, 1:], q[:, 1:])
    return np.concatenate([scalar, vector], axis=1)


def rotation_vector(to: Array, start: Array) -> Array:
    """(N, 3) rad, world axes: the turn from one orientation to another."""
    back = start * np.array((1.0, -1.0, -1.0, -1.0))
    q = product(to, back)
    q = np.where(q[:, :1] < 0.0, -q, q)
    sine = np.linalg.norm(q[:, 1:], axis=1, keepdims=True)
    angle = 2.0 * np.arctan2(sine, q[:, :1])
    return np.asarray(q[:, 1:] * np.where(sine > 0.0, angle / np.where(sine > 0.0, sine, 1.0), 2.0))


def continued(last: Array, given: Array) -> Array:
    """(S, B, 4), each with the sign that goes on from the one before; `last`: (B, 4), before the first."""
    before = np.concatenate([last[None], given])
    turned = np.einsum("sbi,sbi->sb", before[1:], before[:-1]) < 0.0
    return np.asarray(given * np.cumprod(np.where(turned, -1.0, 1.0), axis=0)[..., None])

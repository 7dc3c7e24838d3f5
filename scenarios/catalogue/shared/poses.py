"""Exact poses of motions in the plane, of planar scenes and of spatial ones as `bodies` makes them."""

from collections.abc import Callable

import numpy as np

from reference_engine import elementary
from reference_engine.array_types import Array
from scenarios.scene import PlanarScene, Scene, planar_start, spatial_start


def path(time: Array, x: Array | float = 0.0, y: Array | float = 0.0, angle: Array | float = 0.0) -> Array:
    """(S, 1, 3) poses of one body; each of the three (S,), or constant."""
    return np.stack(np.broadcast_arrays(x, y, angle, time)[:3], axis=-1)[:, None]


def poses_in_plane(scene: Scene, motion: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """A truth's `pose` from a planar motion (S,) -> (S, M, 3) of the scene's first M bodies; the others stay put.

    In space the plane is that of x and z, each body in its own: y stays, and the orientation is the planar angle's.
    """

    def pose(time: Array) -> Array:
        planar = motion(np.asarray(time, dtype=np.float64))
        S, M = planar.shape[:2]
        poses = np.tile(np.hstack(start_pose(scene)), (S, 1, 1))
        if isinstance(scene, PlanarScene):
            poses[:, :M] = planar
            return poses
        x, up, half = planar[..., 0], planar[..., 1], planar[..., 2] / 2.0
        poses[:, :M, 0], poses[:, :M, 2] = x, up
        turn = np.zeros((S, M, 4))
        sine, turn[..., 0] = elementary.sine_cosine(half)
        turn[..., 2] = 0.0 - sine
        turn[np.isnan(half)] = np.nan
        poses[:, :M, 3:] = turn
        return poses

    return pose


def start_pose(scene: Scene) -> tuple[Array, ...]:
    """((B, 3),) planar, or position (B, 3) and orientation (B, 4), at time 0."""
    return planar_start(scene)[:1] if isinstance(scene, PlanarScene) else spatial_start(scene)[:2]


def at_rest(scene: Scene) -> Callable[[Array], Array]:
    """A truth's `pose` of a scene in which nothing moves."""
    return poses_in_plane(scene, lambda time: np.zeros((len(time), 0, 3)))

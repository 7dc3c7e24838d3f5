"""A motion without an engine: for loading and compiling what measures one."""

from __future__ import annotations

import numpy as np

from scenarios.scene import PlanarScene, Scene, planar_start, spatial_start
from validation.records.trajectory import PlanarTrajectory, SpatialTrajectory, Trajectory

STEP = 1.0 / 240.0  # s


def standing_still(scene: Scene) -> Trajectory:
    """Three samples of the start pose."""
    time = np.array([0.0, STEP, 2 * STEP])
    if isinstance(scene, PlanarScene):
        pose, twist = (np.repeat(part[None], 3, axis=0) for part in planar_start(scene))
        return PlanarTrajectory(time=time, pose=pose, twist=twist, dt=STEP, velocity_lag=0.0)
    position, orientation, velocity, spin = (np.repeat(part[None], 3, axis=0) for part in spatial_start(scene))
    return SpatialTrajectory(
        time=time, position=position, orientation=orientation, velocity=velocity, spin=spin, dt=STEP, velocity_lag=0.0
    )

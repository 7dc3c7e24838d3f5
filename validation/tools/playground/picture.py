"""A scene as the browser draws it: outlines, boundaries, what of it is shown, where the bodies start."""

from typing import Any

import numpy as np

from scenarios.scene import PlanarScene, Scene, masses, planar_start, spatial_start
from validation.records.trajectory import PlanarTrajectory, SpatialTrajectory
from validation.report import motion
from validation.report.drawing import scene_data

MARGIN = 1.25  # times what the start takes


def picture_of(scene: Scene) -> dict[str, Any]:
    """As JSON data: `scene_data`, and masses (kg), gravity, poses at the start."""
    kind: type[Any] = PlanarTrajectory if isinstance(scene, PlanarScene) else SpatialTrajectory
    start = planar_start(scene) if isinstance(scene, PlanarScene) else spatial_start(scene)
    state = {name: part[None].copy() for name, part in zip(kind.STATE, start)}
    still = kind(time=np.zeros(1), dt=1.0, velocity_lag=0.0, **state)
    centre, half = motion.extent(scene, [motion.Track(label="", trajectory=still)])
    pose = start[0] if isinstance(scene, PlanarScene) else np.concatenate(start[:2], axis=1)
    return scene_data(scene, centre, MARGIN * half) | {
        "masses": [float(m) if np.isfinite(m) else None for m in masses(scene)],
        "gravity": list(scene.gravity),
        "start": pose.tolist(),
    }

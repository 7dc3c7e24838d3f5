"""A scene as the browser draws it: outlines, boundaries, what of it is shown, where the bodies start."""

from typing import Any

import numpy as np

from scenarios.mass import bounding_radius
from scenarios.scene import PlanarScene, Scene, masses, planar_start, spatial_start
from validation.records.trajectory import PlanarTrajectory, SpatialTrajectory
from validation.report import motion
from validation.report.player import DEEP

ROOM = 1.25  # times what the start takes


def picture_of(scene: Scene) -> dict[str, Any]:
    """As JSON data."""
    kind: type[Any] = PlanarTrajectory if isinstance(scene, PlanarScene) else SpatialTrajectory
    start = planar_start(scene) if isinstance(scene, PlanarScene) else spatial_start(scene)
    state = {name: part[None].copy() for name, part in zip(kind.STATE, start)}
    still = kind(time=np.zeros(1), dt=1.0, velocity_lag=0.0, **state)
    centre, half = motion.extent(scene, [motion.Track(label="", trajectory=still)])
    half *= ROOM
    smallest = 2.0 * min(bounding_radius(body.shape) for body in scene.bodies if not body.fixed)
    pose = start[0] if isinstance(scene, PlanarScene) else np.concatenate(start[:2], axis=1)
    return {
        "planar": isinstance(scene, PlanarScene),
        "outlines": [[np.round(line, 6).tolist() for line in lines] for lines in motion.outlines(scene)],
        "fixed": [body.fixed for body in scene.bodies],
        "boundaries": [np.round(line, 6).tolist() for line in motion.boundary_outlines(scene, 40 * half)],
        "names": [member.name for member in (*scene.bodies, *scene.boundaries)],
        "masses": [float(m) if np.isfinite(m) else None for m in masses(scene)],
        "gravity": list(scene.gravity),
        "centre": centre.tolist(),
        "half": half,
        "camera": motion.CAMERA,
        "forceScale": motion.force_scale(scene, half),
        "deep": DEEP * smallest,
        "start": pose.tolist(),
    }

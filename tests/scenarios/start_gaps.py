"""The gaps of a scene as it starts, by the geometry that measures every engine."""

import numpy as np

from scenarios.catalogue.shared.scene_file import scenario_from_scene
from scenarios.scene import PlanarScene, Scene, planar_start, spatial_start
from validation.metrics.observation import Observation
from validation.metrics.proximity import proximities
from validation.records.trajectory import PlanarTrajectory, SpatialTrajectory


def start_gaps(scene: Scene) -> dict[tuple[str, str], float]:
    """Smallest gap (m) of each pair that is near at time 0, by the names of bodies and boundaries."""
    time, steps = np.zeros(1), {"dt": 1.0 / 240.0, "velocity_lag": 0.0}
    if isinstance(scene, PlanarScene):
        pose, twist = planar_start(scene)
        trajectory = PlanarTrajectory(time=time, pose=pose[None], twist=twist[None], **steps)
    else:
        position, orientation, velocity, spin = (part[None] for part in spatial_start(scene))
        trajectory = SpatialTrajectory(
            time=time, position=position, orientation=orientation, velocity=velocity, spin=spin, **steps
        )
    found = proximities(Observation(scenario=scenario_from_scene("scene", scene), trajectory=trajectory))
    names = [member.name for member in (*scene.bodies, *scene.boundaries)]
    gaps: dict[tuple[str, str], float] = {}
    for a, b, gap in zip(found.a, found.b, found.gap):
        pair = (names[a], names[b])
        gaps[pair] = min(float(gap), gaps.get(pair, np.inf))
    return gaps

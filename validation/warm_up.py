"""Compiles every kernel that the canonical suite needs, once, into the cache: `python -P -m validation.warm_up`.

One scene for each set of features is measured over three samples, and the reference engine warms itself up. Kernels
compile by the types of their arguments, not by the scene's size.
"""

from __future__ import annotations

import numpy as np

from scenarios.catalogue import canonical_suite
from scenarios.scene import PlanarScene, Scene, features, planar_start, spatial_start
from validation.engines.reference import Reference
from validation.metrics import measure
from validation.runner import STEP
from validation.trajectory import PlanarTrajectory, SpatialTrajectory, Trajectory


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


def main() -> None:
    Reference().warm_up()
    seen: set[frozenset[str]] = set()
    for scenario in canonical_suite():
        found = features(scenario.scene)
        if found in seen:
            continue
        seen.add(found)
        measure(scenario, standing_still(scenario.scene))


if __name__ == "__main__":
    main()

"""Compiles the kernels of the canonical suite, once, into the cache: `python -P -m validation.running.warm_up`.

The planar reference engine warms itself up; beside it another process measures one scene for each set of features over
three samples, and then warms up the engine for ellipsoids, on a core of its own. Kernels compile by the types of their
arguments, not by the scene's size. What both need, the geometry that certifies a motion, the engine needs last, and
finds it compiled.
"""

import gc
import subprocess
import sys
from typing import Any

import numpy as np

from scenarios.catalogue import canonical_suite
from scenarios.scene import PlanarScene, Scene, features, planar_start, spatial_start
from validation.metrics import measure
from validation.records.trajectory import PlanarTrajectory, SpatialTrajectory, Trajectory

BESIDE = "beside"
STEP = 1.0 / 240.0  # s


def main() -> None:
    from validation.engines.reference import ellipsoids as reference_ellipsoids
    from validation.engines.reference.adapter import warm_up_plane

    gc.disable()  # a compiler's garbage is little, and looking for it takes a thirtieth of the time
    if sys.argv[1:] == [BESIDE]:
        measure_every_kind()
        reference_ellipsoids.warm_up()
        return
    with subprocess.Popen([sys.executable, "-P", "-m", "validation.running.warm_up", BESIDE]) as beside:
        warm_up_plane()
    if beside.returncode != 0:
        raise SystemExit(beside.returncode)


def measure_every_kind() -> None:
    seen: set[frozenset[str]] = set()
    for scenario in canonical_suite():
        found = features(scenario.scene)
        if found in seen:
            continue
        seen.add(found)
        measure(scenario, standing_still(scenario.scene))


def standing_still(scene: Scene) -> Trajectory:
    """A motion without an engine: three samples of the start pose."""
    kind: type[Any] = PlanarTrajectory if isinstance(scene, PlanarScene) else SpatialTrajectory
    start = planar_start(scene) if isinstance(scene, PlanarScene) else spatial_start(scene)
    state = {name: np.repeat(part[None], 3, axis=0) for name, part in zip(kind.STATE, start)}
    motion: Trajectory = kind(time=np.array([0.0, STEP, 2 * STEP]), dt=STEP, velocity_lag=0.0, **state)
    return motion


if __name__ == "__main__":
    main()

"""An engine whose bodies are anywhere, to fuzz what we measure with: `upright fuzz --engine
validation.tools.fuzzing.scattered.Scattered`.

It takes every scene. A few samples have bodies near where they start, apart and in one another, at any speed: every
term of a metric has a value. No law of motion is asked of it, only that all is measured as it is worked out a second
time.
"""

import hashlib
from typing import Any

import numpy as np

from scenarios.scene import PlanarScene, Scene, content_hash, planar_start, spatial_start
from validation.engines.engine import Settings
from validation.records.trajectory import PlanarTrajectory, SpatialTrajectory, Trajectory
from validation.version import __version__

SAMPLES = 12
STIRRED = (0.0, 1e-6, 1e-3, 0.03, 0.3)  # m and rad, from the start


class Scattered:
    name = "scattered"
    version = __version__

    def declines(self, scene: Scene) -> str | None:
        return None

    def simulate(self, scene: Scene, dt: float, settings: Settings) -> Trajectory:
        """The same for the same scene: its hash is the seed."""
        seed = int(hashlib.sha256(content_hash(scene).encode()).hexdigest()[:12], 16)
        random = np.random.default_rng(seed)
        time = np.linspace(0.0, scene.duration, SAMPLES)
        time[SAMPLES // 2] = time[SAMPLES // 2 - 1]  # before and after an impact
        fixed = np.array([body.fixed for body in scene.bodies])
        planar = isinstance(scene, PlanarScene)
        start = planar_start(scene) if isinstance(scene, PlanarScene) else spatial_start(scene)
        state = [np.repeat(part[None], SAMPLES, axis=0) for part in start]
        for k in range(1, SAMPLES):
            stir = random.choice(STIRRED)
            for part in state:
                part[k, ~fixed] += stir * random.normal(size=part[k, ~fixed].shape)
        for part in state[len(state) // 2 :]:
            part[SAMPLES // 2 :, ~fixed] *= random.uniform(-1.0, 1.0)
        for part in state[: len(state) // 2]:
            part[SAMPLES // 2] = part[SAMPLES // 2 - 1]
        if planar:
            return PlanarTrajectory(time=time, dt=dt, velocity_lag=0.0, pose=state[0], twist=state[1])
        state[1] /= np.linalg.norm(state[1], axis=2, keepdims=True)
        parts: dict[str, Any] = dict(zip(SpatialTrajectory.STATE, state))
        return SpatialTrajectory(time=time, dt=dt, velocity_lag=0.0, **parts)

"""Small spatial scenes for the tests of adapters, beside `planar_scenes`, and the engines that they are for."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from scenarios.scene import HalfSpace, Scene, SpatialBody, SpatialScene, inertias, masses
from tests.validation.engines.planar_scenes import Array
from validation.engines.engine import resolve_settings
from validation.engines.mujoco.adapter import MuJoCo
from validation.records.trajectory import PlanarTrajectory, SpatialTrajectory, Trajectory

DT = 1.0 / 240.0  # s
G = 9.81  # m/s^2
TURNED = math.sqrt(0.5)  # of a quaternion: a quarter turn

try:
    from validation.engines.pybullet.adapter import PyBullet
except ImportError:  # no wheel for this Python
    ENGINES: list[Any] = [MuJoCo()]
else:
    ENGINES = [PyBullet(), MuJoCo()]

every_engine = pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
both_engines = pytest.mark.skipif(len(ENGINES) < 2, reason="pybullet has no wheel for this Python")


def solid(shape: Any, name: str = "solid", *, mass: float = 1.0, **given: Any) -> SpatialBody:
    return SpatialBody(name=name, shape=shape, mass=mass, **given)


def space(*bodies: SpatialBody, duration: float, floor: HalfSpace | None = None, **given: Any) -> SpatialScene:
    boundaries = given.pop("boundaries", () if floor is None else (floor,))
    return SpatialScene(bodies=bodies, boundaries=boundaries, duration=duration, **given)


def motion_of(engine: Any, scene: Scene, profile: str = "fair", dt: float = DT, **settings: Any) -> Trajectory:
    """The motion by an engine, after asking whether it declines."""
    assert engine.declines(scene) is None
    motion: Trajectory = engine.simulate(scene, dt, resolve_settings(engine, profile, settings, scene, dt))
    return motion


def in_space(engine: Any, scene: SpatialScene, profile: str = "fair", **given: Any) -> SpatialTrajectory:
    motion = motion_of(engine, scene, profile, **given)
    assert isinstance(motion, SpatialTrajectory)
    return motion


def in_plane(engine: Any, scene: Scene, profile: str = "fair", **given: Any) -> PlanarTrajectory:
    motion = motion_of(engine, scene, profile, **given)
    assert isinstance(motion, PlanarTrajectory)
    return motion


def rotated(q: Array, v: Any) -> Array:
    """v (..., 3) turned by unit quaternions q (..., 4), w-x-y-z."""
    u = q[..., 1:]
    return np.asarray(v) + 2.0 * np.cross(u, np.cross(u, v) + q[..., :1] * v)


def momentum_imbalance(scene: Scene, motion: Trajectory) -> float:
    """N s, worst: change of a free body's momentum in a step, less gravity and the impulses reported for it."""
    contacts = motion.contacts
    assert contacts is not None and len(np.unique(contacts.sample)) > 3
    mass, worst = masses(scene), 0.0
    for sample in np.unique(contacts.sample):
        rows = np.flatnonzero(contacts.sample == sample)
        assert abs(motion.time[sample] - motion.time[sample - 1] - motion.dt) < 1e-12
        for i in np.flatnonzero(np.isfinite(mass)):
            pushed = mass[i] * np.array(scene.gravity) * motion.dt
            for k in rows:
                pushed = pushed + contacts.impulse[k] * (float(contacts.b[k] == i) - float(contacts.a[k] == i))
            gained = mass[i] * (motion.velocity[sample, i] - motion.velocity[sample - 1, i])
            worst = max(worst, float(np.abs(gained - pushed).max()))
    return worst


def angular_momentum(scene: SpatialScene, motion: SpatialTrajectory) -> tuple[Array, Array]:
    """(S, 3) kg m^2/s of the first body about its centre in world axes, and (S,) J of its rotation."""
    q, moments = motion.orientation[:, 0], inertias(scene)[0]
    own = rotated(q * np.array([1.0, -1.0, -1.0, -1.0]), motion.spin[:, 0])
    return rotated(q, own * moments), 0.5 * (own**2 * moments).sum(axis=1)

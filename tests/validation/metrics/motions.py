"""Scenes and motions with known answers, made without any engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scenarios.scenario import Scenario
from scenarios.scene import (
    Box,
    Disc,
    HalfPlane,
    HalfSpace,
    PlanarBody,
    PlanarScene,
    Polygon,
    Scene,
    SpatialBody,
    SpatialScene,
    Sphere,
)
from scenarios.truth import Truth
from validation.metrics import measure
from validation.records.measurement import Measurement
from validation.records.trajectory import PlanarTrajectory, SpatialTrajectory, Trajectory

Array = NDArray[np.float64]

G = 9.81
DT = 1.0 / 240.0
KNOWN = Truth(kind="invariants", source="a test", span=(0.0, 1e3), invariants=frozenset({"energy-not-gained"}))
GROUND = HalfPlane(name="ground")
FLOOR = HalfSpace(name="ground")


def truth(**known: Any) -> Truth:
    return Truth(**{"kind": "closed form", "source": "a test", "span": (0.0, 1e3), **known})


def scenario(scene: Scene, truth: Truth = KNOWN, **more: Any) -> Scenario:
    return Scenario(
        name="test", title="", probes="", regime="", scene=scene, truth=truth, headline="energy_gain", **more
    )


def measured(scene: Scene, trajectory: Trajectory, truth: Truth = KNOWN, **more: Any) -> dict[str, Measurement]:
    return {m.metric: m for m in measure(scenario(scene, truth, **more), trajectory)}


def values(scene: Scene, trajectory: Trajectory, truth: Truth = KNOWN) -> dict[str, float]:
    return {name: m.value for name, m in measured(scene, trajectory, truth).items()}


# --- scenes ---------------------------------------------------------------------------------------------------------


def rectangle(width: float, height: float) -> Polygon:
    a, b = width / 2.0, height / 2.0
    return Polygon(vertices=((-a, -b), (a, -b), (a, b), (-a, b)))


def block(name: str = "block", width: float = 1.0, height: float = 1.0, **more: Any) -> PlanarBody:
    given = {"mass": None if more.get("fixed") else 1.0, "shape": rectangle(width, height), **more}
    return PlanarBody(name=name, **given)


def disc(name: str = "ball", radius: float = 0.5, **more: Any) -> PlanarBody:
    return PlanarBody(name=name, **{"mass": 1.0, "shape": Disc(radius=radius), **more})


def ball(name: str = "ball", radius: float = 0.5, **more: Any) -> SpatialBody:
    return SpatialBody(name=name, **{"mass": 1.0, "shape": Sphere(radius=radius), **more})


def box(name: str = "box", size: tuple[float, float, float] = (1.0, 1.0, 1.0), **more: Any) -> SpatialBody:
    given = {"mass": None if more.get("fixed") else 1.0, "shape": Box(size=size), **more}
    return SpatialBody(name=name, **given)


def plane(*bodies: PlanarBody, gravity: tuple[float, float] = (0.0, -G), **more: Any) -> PlanarScene:
    return PlanarScene(bodies=bodies, gravity=gravity, **{"duration": 10.0, **more})


def space(*bodies: SpatialBody, gravity: tuple[float, float, float] = (0.0, 0.0, -G), **more: Any) -> SpatialScene:
    return SpatialScene(bodies=bodies, gravity=gravity, **{"duration": 10.0, **more})


# --- motions --------------------------------------------------------------------------------------------------------


def times(duration: float, dt: float = DT) -> Array:
    return np.arange(round(duration / dt) + 1, dtype=np.float64) * dt


def planar(time: Any, pose: Any, twist: Any, lag: float = 0.0, dt: float = DT, **more: Any) -> PlanarTrajectory:
    """From (S, B, 3), or (S, 3) of a single body."""
    pose, twist = (np.array(part, np.float64) for part in (pose, twist))
    if pose.ndim == 2:
        pose, twist = pose[:, None], twist[:, None]
    return PlanarTrajectory(time=np.array(time, np.float64), pose=pose, twist=twist, dt=dt, velocity_lag=lag, **more)


def spatial(
    time: Any, position: Any, velocity: Any, orientation: Any = None, spin: Any = None, lag: float = 0.0, **more: Any
) -> SpatialTrajectory:
    """Of a single body, (S, 3); upright and without spin where nothing is said."""
    S = len(time)

    def single(part: Any) -> Array:
        return np.array(part, np.float64).reshape(S, 1, -1)

    return SpatialTrajectory(
        time=np.array(time, np.float64),
        position=single(position),
        orientation=single(np.tile([1.0, 0.0, 0.0, 0.0], (S, 1)) if orientation is None else orientation),
        velocity=single(velocity),
        spin=single(np.zeros((S, 3)) if spin is None else spin),
        dt=DT,
        velocity_lag=lag,
        **more,
    )


def columns(*parts: Any) -> Array:
    """(S,) arrays and numbers side by side, (S, n)."""
    together = np.broadcast_arrays(*(np.asarray(part, np.float64) for part in parts))
    return np.stack([np.atleast_1d(part) for part in together], axis=-1)


def still(pose: Any, duration: float = 4.0) -> PlanarTrajectory:
    """Bodies (B, 3) that do not move."""
    t = times(duration)
    pose = np.atleast_2d(np.array(pose, np.float64))
    return planar(t, np.tile(pose, (len(t), 1, 1)), np.zeros((len(t), *pose.shape)))


def euler(
    x: Any, v: Any, steps: int, *, poses_first: bool, g: Any = (0.0, -G), bounce: Callable[..., Any] | None = None
) -> PlanarTrajectory:
    """A disc thrown in the way of the engines: velocity first (lag -dt/2) or pose first (lag +dt/2).

    `bounce(x, v)` is asked once a step and gives the velocity after an impact, or None where there is none.
    """
    x, v, g = (np.array(part, np.float64) for part in (x, v, g))
    rows = [(x, v)]
    for _ in range(steps):
        if poses_first:
            x = x + v * DT
        after = bounce(x, v) if bounce else None
        v = v + g * DT if after is None else after
        if not poses_first:
            x = x + v * DT
        rows.append((x, v))
    pose = [(*x, 0.0) for x, _ in rows]
    twist = [(*v, 0.0) for _, v in rows]
    return planar(np.arange(steps + 1) * DT, pose, twist, lag=(DT if poses_first else -DT) / 2.0)

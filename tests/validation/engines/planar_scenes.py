"""Small planar scenes for the tests of adapters: the shortest words for a ball, a box, a ground."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scenarios.scene import Disc, HalfPlane, PlanarBody, PlanarScene, Polygon
from validation.engines.engine import resolve_settings
from validation.records.trajectory import PlanarTrajectory

DT = 1.0 / 240.0  # s
G = 9.81  # m/s^2
Array = NDArray[np.float64]


def rectangle(width: float = 1.0, height: float = 1.0) -> Polygon:
    a, b = width / 2, height / 2
    return Polygon(vertices=((-a, -b), (a, -b), (a, b), (-a, b)))


def box(name: str = "box", *, width: float = 1.0, height: float = 1.0, mass: float = 1.0, **given: Any) -> PlanarBody:
    return PlanarBody(name=name, shape=rectangle(width, height), mass=mass, **given)


def ball(name: str = "ball", *, radius: float = 0.5, mass: float = 1.0, **given: Any) -> PlanarBody:
    return PlanarBody(name=name, shape=Disc(radius=radius), mass=mass, **given)


def ground(name: str = "ground", **given: Any) -> HalfPlane:
    return HalfPlane(name=name, **given)


def scene(*bodies: PlanarBody, duration: float, ground: HalfPlane | None = None, **given: Any) -> PlanarScene:
    boundaries = given.pop("boundaries", () if ground is None else (ground,))
    return PlanarScene(bodies=bodies, boundaries=boundaries, duration=duration, **given)


def simulated(
    engine: Any, scene: PlanarScene, profile: str = "fair", dt: float = DT, **settings: Any
) -> PlanarTrajectory:
    """The motion by an engine, after asking whether it declines."""
    assert engine.declines(scene) is None
    return engine.simulate(scene, dt, resolve_settings(engine, profile, settings, scene, dt))

"""An engine that is right where nothing meets: bodies fly. What is hostile is made of it, and stands in a table."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from scenarios.scene import PlanarScene, planar_start, spatial_start
from validation.engines.engine import SteppingEngine
from validation.engines.shared.recorder import World
from validation.engines.takes import MOTION

FOREVER = 3600.0  # s


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What a run reports of an engine: in the plane, and in space where that is other."""

    what: str
    outcome: str = "crashed"
    reason: str = ""  # is in the reason
    only: int = 0  # dimension of the scenes in which it is so; in others it is honest
    source: str = ""  # of a program


ENGINES: dict[str, dict[str, Expected]] = {}
"""Module -> class -> what a run reports."""


def hostile(what: str, outcome: str = "crashed", reason: str = "", only: int = 0) -> Callable[[type], type]:
    def noted(engine: type) -> type:
        table = ENGINES.setdefault(engine.__module__, {})
        table[engine.__name__] = Expected(what=what, outcome=outcome, reason=reason, only=only)
        return engine

    return noted


class Flight(World):
    """Semi-implicit Euler, without rotation in space."""

    def __init__(self, scene: Any, dt: float) -> None:
        self.planar = isinstance(scene, PlanarScene)
        self.state = [np.array(part) for part in (planar_start(scene) if self.planar else spatial_start(scene))]
        self.fall = np.zeros(3)
        self.fall[: len(scene.gravity)] = scene.gravity
        self.free = np.array([[not body.fixed] for body in scene.bodies])
        self.dt, self.velocity_lag = dt, -dt / 2

    def step(self, *, watched: bool) -> None:
        rate = 1 if self.planar else 2
        self.state[rate] = self.state[rate] + self.dt * self.fall * self.free
        self.state[0] = self.state[0] + self.dt * self.state[rate]

    def read(self) -> Any:
        return tuple(self.state)


class Honest(SteppingEngine):
    name, version = "honest", "1.0"
    takes = (MOTION - {"boundaries"}) | {"planar", "spatial", "disc", "sphere", "bodies.angle", "bodies.orientation"}

    def build(self, scene: Any, dt: float, settings: Any) -> Any:
        return Flight(scene, dt)


class Doing(Honest):
    """Does something, then simulates as it should."""

    def simulate(self, scene: Any, dt: float, settings: Any) -> Any:
        found = self.do(scene)
        return super().simulate(scene, dt, settings) if found is None else found

    def do(self, scene: Any) -> Any:
        raise NotImplementedError


def sleeping(seconds: float = FOREVER) -> None:
    while True:
        time.sleep(seconds)


def detached() -> None:
    """A process of its own session that is nobody's child."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            sleeping()
        os._exit(0)

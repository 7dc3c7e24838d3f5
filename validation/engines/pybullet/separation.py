"""A sweep: one base of a model is moved by small steps, and pybullet is asked for contacts. Nothing else moves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pybullet as pb

from scenarios.scene import SpatialScene
from validation.engines.engine import DeclinedError, Settings
from validation.engines.pybullet.native import NativeWorld
from validation.engines.pybullet.probes import free_base, set_base
from validation.engines.shared import recorder
from validation.engines.shared.separation import beginning


class SweptWorld(NativeWorld):
    """Of the probe "separation": the state after k steps is the start with the base moved k times."""

    def __init__(self, client: int, scene: SpatialScene, dt: float, settings: Settings, breaking: float) -> None:
        super().__init__(client, scene, dt, settings, breaking)
        assert scene.native is not None and scene.native.model.probe is not None
        self.internal_columns = ("in_contact",)
        self.velocity_lag, self._probe = 0.0, scene.native.model.probe
        names = [member.name for member in (*scene.bodies, *scene.boundaries)]
        self._pair = {names.index(self._probe.body), names.index(self._probe.other)}
        self._base = free_base(self.loaded, self.found, self._probe.body)
        for body in self.loaded.bodies:
            self.loaded.call(pb.resetBaseVelocity, body, [0.0] * 3, [0.0] * 3)
        self._from, self._turn = self.loaded.call(pb.getBasePositionAndOrientation, self._base)
        self._begun = beginning(self._meets, recorder.step_count(scene, dt) * self._probe.size)
        self._move(self._begun)

    def _move(self, way: float) -> None:
        """m, away from where the probe begins."""
        set_base(self.loaded, self._base, np.add(self._from, way * np.array(self._probe.direction)), self._turn)
        self.loaded.call(pb.performCollisionDetection)

    def _meets(self, way: float) -> bool:
        self._move(way)
        return self._are_in_contact()

    def _are_in_contact(self) -> bool:
        member = self.found.member
        rows = self.loaded.call(pb.getContactPoints) or ()
        return any({member.get((r[1], r[3])), member.get((r[2], r[4]))} == self._pair for r in rows)

    def step(self, *, watched: bool) -> None:
        self.steps += 1
        self._move(self._begun + self.steps * self._probe.size)

    def internals(self) -> Sequence[float]:
        return (float(self._are_in_contact()),)

    def set_state(self, *state: Any, time: float = 0.0) -> None:
        raise DeclinedError("a sweep of separations has no step to repeat")

"""A sweep: one body of a model is moved by small steps, and MuJoCo is asked for contacts. Nothing else moves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np

from scenarios.scene import SpatialScene
from validation.engines.engine import DeclinedError, Settings
from validation.engines.mujoco.native import NativeWorld
from validation.engines.mujoco.probes import coordinates_of
from validation.engines.mujoco.reading import contact_rows
from validation.engines.shared import recorder
from validation.engines.shared.separation import beginning


class SweptWorld(NativeWorld):
    """Of the probe "separation": the state after k steps is the start with the body moved k times."""

    internal_columns = ("in_contact",)

    def __init__(self, scene: SpatialScene, dt: float, settings: Settings) -> None:
        super().__init__(scene, dt, settings)
        assert scene.native is not None and scene.native.model.probe is not None
        self.internal_columns = type(self).internal_columns
        self.velocity_lag, self._probe = 0.0, scene.native.model.probe
        names = [member.name for member in (*scene.bodies, *scene.boundaries)]
        self._pair = {names.index(self._probe.body), names.index(self._probe.other)}
        body = int(self.found.body[names.index(self._probe.body)])
        self._moved = coordinates_of(self.model, body)
        self.data.qvel[:] = 0.0
        self._from = self.data.qpos[self._moved][:3].copy()
        self._begun = beginning(self._meets, recorder.step_count(scene, dt) * self._probe.size)
        self._move(self._begun)

    def _move(self, way: float) -> None:
        """m, away from where the probe begins."""
        self.data.qpos[self._moved][:3] = self._from + way * np.array(self._probe.direction)
        mujoco.mj_fwdPosition(self.model, self.data)

    def _meets(self, way: float) -> bool:
        self._move(way)
        return self._are_in_contact()

    def _are_in_contact(self) -> bool:
        contact, member = self.data.contact, self.found.member
        pairs = zip(member[contact.geom1].tolist(), member[contact.geom2].tolist(), contact.exclude.tolist())
        return any({a, b} == self._pair and not left_out for a, b, left_out in pairs)

    def step(self, *, watched: bool) -> None:
        self.steps += 1
        self._move(self._begun + self.steps * self._probe.size)

    def internals(self) -> Sequence[float]:
        return (float(self._are_in_contact()),)

    def contacts(self) -> recorder.Rows | None:
        return contact_rows(self.model, self.data, self.found.member, self.dt, knows_forces=False)

    def set_state(self, *state: Any, time: float = 0.0) -> None:
        raise DeclinedError("a sweep of separations has no step to repeat")

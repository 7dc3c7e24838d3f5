"""A model of the user's own in pybullet: loaded as it is, stepped, and read as its description has it.

Reading brings the frames of links up to date, which changes no bit of the motion: tests compare it with a program that
does not read.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
import pybullet as pb

from reference_engine.array_types import Array
from scenarios.scene import SpatialScene
from validation.engines.engine import ModelError, NotFiniteError, Settings, Value
from validation.engines.pybullet.contacts import contact_rows
from validation.engines.pybullet.controls import Played, moves_joints
from validation.engines.pybullet.coordinates import set_coordinates
from validation.engines.pybullet.description import described
from validation.engines.pybullet.loading import LOADING, load
from validation.engines.pybullet.probes import set_up
from validation.engines.pybullet.trees import BASE
from validation.engines.shared import recorder
from validation.engines.shared.description import otherwise
from validation.engines.shared.quaternions import continued, product, rotated

WIDTH = 13  # numbers of a body: position, quaternion, velocity, spin
BREAKING = "contact_breaking_threshold"
PARAMETERS = {
    "iterations": "numSolverIterations",
    "residual_threshold": "solverResidualThreshold",
    BREAKING: "contactBreakingThreshold",
    "contact_erp": "contactERP",
    "contact_slop": "contactSlop",
    "restitution_velocity_threshold": "restitutionVelocityThreshold",
    "cone_friction": "enableConeFriction",
    "global_cfm": "globalCFM",
    "deterministic_overlapping_pairs": "deterministicOverlappingPairs",
}
"""Settings that may be given for a model, and pybullet's names of them."""


class NativeWorld(recorder.World):
    """Raises ModelError where the model loads otherwise than the scene describes it; NotFiniteError."""

    def __init__(self, client: int, scene: SpatialScene, dt: float, settings: Settings, breaking: float) -> None:
        """`breaking`: pybullet's default, which is set since it outlives a client."""
        assert scene.native is not None
        self.scene, self.dt, self.steps = scene, dt, 0
        of_loading = {name: value for name, value in settings.items() if name in LOADING}
        self.loaded = load(client, scene.native.model, of_loading)
        self.found = described(self.loaded, scene.native.model, scene.duration, scene.title)
        if fault := otherwise(scene, self.found.scene):
            raise ModelError(f"pybullet loads the model otherwise than it was described: {fault}")
        if scene.native.model.probe is not None:
            set_up(self.loaded, self.found, scene.native.model.probe)
        model = scene.native.model
        self._played = Played(self.loaded, model, self.loaded.settings) if moves_joints(model) else None
        self.internal_columns = () if self._played is None else self._played.columns
        self.velocity_lag = -dt / 2
        self.contact_tolerance = 2.0 * self.found.margin
        call = self.loaded.call
        call(pb.setTimeStep, dt)
        given = {BREAKING: breaking} | {name: value for name, value in settings.items() if name in PARAMETERS}
        numbers = {PARAMETERS[name]: int(v) if isinstance(v, bool) else v for name, v in given.items()}
        call(pb.setPhysicsEngineParameter, **numbers)
        self._free = np.flatnonzero([not body.fixed for body in scene.bodies])
        start = self.found.scene.bodies
        self._start = [np.array([getattr(body, name) for body in start], np.float64) for name in _STATE]
        self._last = self._start[1][self._free]
        self._trees: dict[int, list[tuple[int, int]]] = {}  # multibody -> (row, link)
        for row, k in enumerate(self._free.tolist()):
            body, link = self.found.address[k]
            self._trees.setdefault(body, []).append((row, link))
        self._order = np.array([row for links in self._trees.values() for row, _ in _base_first(links)], np.int64)

    def step(self, *, watched: bool) -> None:
        if self._played is not None:
            self._played.give(self.steps * self.dt)
        self.steps += 1
        self.loaded.call(pb.stepSimulation)

    def internals(self) -> Sequence[float]:
        return () if self._played is None else self._played.tracking()

    # --- reading ---

    def read(self) -> recorder.State:
        numbers, call = array("d"), self.loaded.call
        for body, links in self._trees.items():
            ordered = _base_first(links)
            if ordered[0][1] == BASE:
                position, orientation = call(pb.getBasePositionAndOrientation, body)
                velocity, spin = call(pb.getBaseVelocity, body)
                numbers.extend((*position, *orientation, *velocity, *spin))
            if hung := [link for _, link in ordered if link != BASE]:
                for row in call(pb.getLinkStates, body, hung, 1, 1):
                    numbers.extend((*row[0], *row[1], *row[6], *row[7]))
        return numbers.tobytes()

    def decode(self, raw: bytes, steps: int) -> list[Array]:
        rows = np.frombuffer(raw, np.float64).reshape(steps, len(self._free), WIDTH)
        if not np.isfinite(rows).all():
            raise NotFiniteError("pybullet's state is not finite")
        ordered = np.empty_like(rows)
        ordered[:, self._order] = rows
        at, q, v, spin = np.split(ordered, [3, 7, 10], axis=2)
        q = q[..., [3, 0, 1, 2]]
        arm = rotated(q, np.broadcast_to(self.found.centre[self._free], at.shape))
        axes = np.broadcast_to(self.found.axes[self._free], q.shape)
        orientation = continued(self._last, product(q.reshape(-1, 4), axes.reshape(-1, 4)).reshape(q.shape))
        orientation /= np.linalg.norm(orientation, axis=2, keepdims=True)
        self._last = orientation[-1]
        state = [np.repeat(part[None], steps, axis=0) for part in self._start]
        for part, now in zip(state, (at + arm, orientation, v + np.cross(spin, arm), spin)):
            part[:, self._free] = now
        return state

    def contacts(self) -> recorder.Rows | None:
        return contact_rows(self.loaded.client, self.found.member, self.dt)

    # --- abilities ---

    def set_state(self, *state: Any, time: float = 0.0) -> None:
        """Base poses, and the coordinates of hinges and sliders between bodies; others are declined."""
        set_coordinates(self.loaded, self.found, tuple(np.asarray(part, np.float64) for part in state))
        self._last = np.asarray(state[1], np.float64)[self._free]
        self.steps = round(time / self.dt)

    def apply_force(self, body: int, force: Sequence[float], point: Sequence[float] | None = None) -> None:
        if self.scene.bodies[body].fixed:
            return
        row = int(np.searchsorted(self._free, body))
        if point is None:
            raw = np.frombuffer(self.read(), np.float64).reshape(len(self._free), WIDTH)  # type: ignore[arg-type]
            ordered = np.empty_like(raw)
            ordered[self._order] = raw
            arm = rotated(ordered[row, [6, 3, 4, 5]], self.found.centre[body])
            at = (ordered[row, :3] + arm).tolist()
        else:
            self.read()
            at = list(point)
        self.loaded.call(pb.applyExternalForce, *self.found.address[body], list(force), at, pb.WORLD_FRAME)

    def options(self) -> dict[str, Value]:
        found = self.loaded.call(pb.getPhysicsEngineParameters)
        return {name: value for name, value in found.items() if isinstance(value, (bool, int, float, str))}


_STATE = ("position", "orientation", "velocity", "spin")


def _base_first(links: list[tuple[int, int]]) -> list[tuple[int, int]]:
    return sorted(links, key=lambda one: one[1])

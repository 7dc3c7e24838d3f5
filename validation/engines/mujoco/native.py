"""A model of the user's own in MuJoCo: loaded as it is, stepped, and read as its description has it.

Between two steps nothing is done to MuJoCo's own data: poses and velocities are worked out of the coordinates in a
second mjData, so the motion has the bits that it has without Upright.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import mujoco
import numpy as np

from reference_engine.array_types import Array
from scenarios.scene import SpatialScene
from validation.engines.engine import DeclinedError, ModelError, Settings, Value
from validation.engines.mujoco.description import describe
from validation.engines.mujoco.internals import InternalsOf
from validation.engines.mujoco.loading import started
from validation.engines.mujoco.probes import set_up
from validation.engines.mujoco.reading import (
    CHECK_EVERY,
    LAG_IN_STEPS,
    check_warnings,
    contact_rows,
    options_of,
)
from validation.engines.shared import recorder
from validation.engines.shared.description import otherwise
from validation.engines.shared.quaternions import product, rotated, rotation_vector

ATTEMPTS = 50  # at coordinates for given poses
CLOSE = 1e-14  # m and rad: a smaller change of the coordinates ends it
KINDS: Mapping[str, Any] = {
    "integrator": mujoco.mjtIntegrator,
    "solver": mujoco.mjtSolver,
    "cone": mujoco.mjtCone,
    "jacobian": mujoco.mjtJacobian,
}
PREFIX = {"integrator": "mjINT_", "solver": "mjSOL_", "cone": "mjCONE_", "jacobian": "mjJAC_"}
SWITCHES = {"islands": "ISLAND", "multiccd": "MULTICCD"}
NUMBERS = ("impratio", "iterations", "ls_iterations", "tolerance", "noslip_iterations", "ccd_tolerance")
SET_IN_MODELS = frozenset((*KINDS, *SWITCHES, *NUMBERS))
OWN_STATES = {"na": "act", "nhistory": "history", "npluginstate": "plugin_state", "nplastic": "plastic"}
"""Sizes in mjModel of what a step depends on and poses do not give, and what mjData calls it."""


class NativeWorld(recorder.World):
    """Raises ModelError where this release loads the model otherwise than the scene describes it; NotFiniteError,
    MemoryError as worlds of scenes do."""

    forgets = True

    def __init__(self, scene: SpatialScene, dt: float, settings: Settings) -> None:
        assert scene.native is not None
        self.scene, self.dt, self.steps = scene, dt, 0
        found = describe(scene.native.model, scene.duration, scene.title)
        if fault := otherwise(scene, found.scene):
            raise ModelError(f"MuJoCo {mujoco.__version__} loads the model otherwise than it was described: {fault}")
        self.model, self.found = found.model, found
        set_options(self.model, dt, settings)
        self.data, self._second = self._started(), self._started()
        integrator = mujoco.mjtIntegrator(self.model.opt.integrator).name.removeprefix("mjINT_").lower()
        self.velocity_lag = LAG_IN_STEPS[integrator] * dt
        self._knows_forces = integrator != "rk4"
        self.contact_tolerance = float(
            max(self.model.geom_margin.max(initial=0.0), self.model.pair_margin.max(initial=0.0))
        )
        self._free = np.flatnonzero([not body.fixed for body in scene.bodies])
        self._still = [np.array([getattr(body, name) for body in scene.bodies]) for name in _STATE]
        self._sizes = np.cumsum([self.data.qpos.size, self.data.qvel.size])
        self._extra: Array | None = None
        self._controls, self._own_step = scene.native.model.start.controls, scene.native.step
        self._internals = InternalsOf(self.model, sums=scene.native.sums, lagging=self.velocity_lag != 0.0)
        self.internal_columns = self._internals.columns

    def _started(self) -> Any:
        assert self.scene.native is not None
        given = self.scene.native.model
        data = started(self.model, given)
        if given.probe is not None:
            numbers = self.found.body.tolist()
            set_up(self.model, data, given.probe, {one.name: k for one, k in zip(self.scene.bodies, numbers)})
        return data

    def internals(self) -> Sequence[float]:
        return self._internals.row(self.data, self._control)

    def _control(self) -> None:
        """Sets the recorded controls of the step to come."""
        given = self._controls
        row = None if given is None else given.row_at(self.steps * self.dt, self._own_step)
        if row is not None:
            self.data.ctrl[:] = row

    def step(self, *, watched: bool) -> None:
        self._control()
        if self._extra is not None:
            self.data.xfrc_applied += self._extra
        mujoco.mj_step(self.model, self.data)
        if self._extra is not None:
            self.data.xfrc_applied -= self._extra
            self._extra = None
        self.steps += 1

    def finish(self, motion: Any) -> None:
        check_warnings(self.data)

    # --- reading ---

    def read(self) -> recorder.State:
        if self.steps % CHECK_EVERY == 0:
            check_warnings(self.data)
        data = self.data
        return bytes(data.qpos.tobytes() + data.qvel.tobytes() + data.act.tobytes())

    def decode(self, raw: bytes, steps: int) -> list[Array]:
        rows = np.frombuffer(raw, np.float64).reshape(steps, -1)
        state = [np.repeat(part[None], steps, axis=0) for part in self._still]
        for k, row in enumerate(rows):
            for part, now in zip(state, self._bodies(*np.split(row, self._sizes)[:2])):
                part[k, self._free] = now
        return state

    def _bodies(self, qpos: Array, qvel: Array) -> tuple[Array, Array, Array, Array]:
        """Position, orientation, velocity and spin of the free bodies at these coordinates."""
        model, data, found = self.model, self._second, self.found
        data.qpos[:], data.qvel[:] = qpos, qvel
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_comVel(model, data)
        body = found.body[self._free]
        q = data.xquat[body]
        position = data.xpos[body] + rotated(q, found.centre[self._free])
        spin = data.cvel[body, :3]
        velocity = data.cvel[body, 3:] + np.cross(spin, position - data.subtree_com[model.body_rootid[body]])
        orientation = product(q, found.axes[self._free])
        return position, orientation, velocity, spin

    def contacts(self) -> recorder.Rows | None:
        return contact_rows(self.model, self.data, self.found.member, self.dt, knows_forces=self._knows_forces)

    # --- abilities ---

    def set_state(self, *state: Any, time: float = 0.0) -> None:
        """The coordinates whose poses are nearest to these, found by Newton's method from the start of the model."""
        for size, name in OWN_STATES.items():
            if getattr(self.model, size, 0):
                raise DeclinedError(f"its steps also depend on {name}, which poses do not give")
        position, orientation, velocity, spin = (np.asarray(part, np.float64)[self._free] for part in state)
        self.data = self._started()
        qpos = self.data.qpos.copy()
        for _ in range(ATTEMPTS):
            at, turned, _, _ = self._bodies(qpos, np.zeros(self.model.nv))
            apart = np.concatenate([position - at, rotation_vector(orientation, turned)], axis=1)
            change = np.linalg.lstsq(self._jacobian(at), apart.ravel(), rcond=None)[0]
            mujoco.mj_integratePos(self.model, qpos, change, 1.0)
            if np.abs(change).max(initial=0.0) <= CLOSE:
                break
        at, *_ = self._bodies(qpos, np.zeros(self.model.nv))
        twist = np.concatenate([velocity, spin], axis=1)
        self.data.qpos[:] = qpos
        self.data.qvel[:] = np.linalg.lstsq(self._jacobian(at), twist.ravel(), rcond=None)[0]
        self.data.time, self.steps = time, round(time / self.dt)

    def _jacobian(self, at: Array) -> Array:
        """(6 F, V) of the free bodies' velocities and spins, at the coordinates of the second data."""
        rows = np.zeros((len(self._free), 2, 3, self.model.nv))
        for row, body, point in zip(rows, self.found.body[self._free].tolist(), at):
            mujoco.mj_jac(self.model, self._second, row[0], row[1], point, body)
        return rows.reshape(-1, self.model.nv)

    def apply_force(self, body: int, force: Sequence[float], point: Sequence[float] | None = None) -> None:
        if self.scene.bodies[body].fixed:
            return
        k, number = int(np.searchsorted(self._free, body)), int(self.found.body[body])
        centre = self._bodies(self.data.qpos, self.data.qvel)[0][k]
        if self._extra is None:
            self._extra = np.zeros_like(self.data.xfrc_applied)
        given = np.asarray(force, np.float64)
        at = centre if point is None else np.asarray(point, np.float64)
        self._extra[number, :3] += given
        self._extra[number, 3:] += np.cross(at - self._second.xipos[number], given)

    def options(self) -> dict[str, Value]:
        return options_of(self.model)


_STATE = ("position", "orientation", "velocity", "spin")


def set_options(model: Any, dt: float, settings: Settings) -> None:
    """The options of the model, but for those that are asked for, of SET_IN_MODELS."""
    if dt != model.opt.timestep:
        model.opt.timestep = dt
    for name, value in settings.items():
        if name in KINDS:
            wanted = f"{PREFIX[name]}{value}".casefold()
            setattr(model.opt, name, next(int(v) for k, v in KINDS[name].__members__.items() if k.casefold() == wanted))
        elif name in SWITCHES:
            _switch(model.opt, SWITCHES[name], bool(value))
        else:
            setattr(model.opt, name, value)


def _switch(option: Any, name: str, on: bool) -> None:
    for flags, kinds, bit_if in (
        ("disableflags", mujoco.mjtDisableBit, f"mjDSBL_{name}"),
        ("enableflags", mujoco.mjtEnableBit, f"mjENBL_{name}"),
    ):
        if hasattr(kinds, bit_if):
            bit, is_set = int(getattr(kinds, bit_if)), on == (flags == "enableflags")
            setattr(option, flags, (getattr(option, flags) | bit) if is_set else (getattr(option, flags) & ~bit))
            return

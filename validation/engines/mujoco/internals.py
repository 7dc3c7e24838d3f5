"""What a model does that a scene does not have, read at every step: work, stored energy, errors of servos and ties.

All of it comes out of a second mjData, into which the state of the first is copied; the motion is as without it.

Work of a force over a step is its mean at both ends times the way, dq, with an integrator that holds velocities half a
step behind the poses (leapfrog: half of a kick is before the pose, half after). With RK4 it is the sum over the stages
of the step, h (F1 v1 + 2 F2 v2 + 2 F3 v3 + F4 v4) / 6, with the control that the step holds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np

from reference_engine.array_types import Array, Flags, Indices
from reference_engine.dense import mul, norm

CONSTRAINT, EQUALITY, TRANSMISSION, WRAP = mujoco.mjtConstraint, mujoco.mjtEq, mujoco.mjtTrn, mujoco.mjtWrap
FRICTION = (int(CONSTRAINT.mjCNSTR_FRICTION_DOF), int(CONSTRAINT.mjCNSTR_FRICTION_TENDON))
FIRST_OF_CONTACTS = int(CONSTRAINT.mjCNSTR_CONTACT_FRICTIONLESS)
WORKS = ("actuators", "passive", "constraints")
CAN_SUM = hasattr(mujoco, "mj_setState") and hasattr(mujoco.MjData, "qfrc_spring")
"""Releases before 3.0 do not tell springs from what takes energy."""
RK4 = ((0.5, 1.0 / 3.0), (0.5, 1.0 / 3.0), (1.0, 1.0 / 6.0))
"""Of each stage but the first: where in the step it is, and its weight."""
UNITS = {int(mujoco.mjtJoint.mjJNT_HINGE): "angle", int(mujoco.mjtJoint.mjJNT_SLIDE): "travel"}
STATE = ("qpos", "qvel", "act", "ctrl", "qacc_warmstart", "mocap_pos", "mocap_quat", "xfrc_applied")
"""Of mjData, in releases that do not copy it."""
TORQUE_SCALE = 10  # of a weld, in eq_data


class InternalsOf:
    """Of one motion. `columns` are those that the model has; `row` is asked at the start and after each step."""

    def __init__(self, model: Any, *, sums: bool, lagging: bool) -> None:
        self.model, self.data = model, mujoco.MjData(model)
        self._lagging = lagging
        self._before: tuple[Array, Array] | None = None  # coordinates and forces (3, V) at the last state
        self._done = np.zeros(len(WORKS))  # J, in the step to come
        self._tracking = {unit: _servos(model, unit) for unit in ("angle", "travel")}
        self._equalities = _equalities(model)
        self._tendons = _limited_tendons(model)
        self._limits = _open_limits(model)
        self._sums = sums and CAN_SUM
        self.columns = (
            *(("stored", *WORKS) if self._sums else ()),
            *(f"tracking_{unit}" for unit, servos in self._tracking.items() if servos.size),
            *(("equality_angle", "equality_gap") if self._equalities.any() else ()),
            *(("tendon_excess",) if self._tendons.size else ()),
        )
        self._reads_second = bool(self.columns)
        self.columns += tuple(f"limit_{unit}" for unit in self._limits)
        self.columns += ("iterations", "residual") if hasattr(self.data, "solver_niter") else ()
        if CAN_SUM:
            self._kind = int(mujoco.mjtState.mjSTATE_INTEGRATION)
            self._state = np.zeros(mujoco.mj_stateSize(model, self._kind))

    def row(self, data: Any, control: Callable[[], None]) -> list[float]:
        """`control` sets the controls of the step to come."""
        found: dict[str, float] = {}
        if "iterations" in self.columns:
            found |= self._of_solver(data)
        found |= {f"limit_{unit}": _beyond(self.model, data.qpos, of) for unit, of in self._limits.items()}
        control()
        if self._reads_second:
            later = self._go_to(data)
            found |= self._errors()
        if self._sums:
            found["stored"] = self._stored(data.qvel)
            if self._lagging:
                done = self._half_kicks(data)
                found["stored"] += self._at_pose(data.qvel, later)
            else:
                done, self._done = self._done, self._stages(data)
            found |= zip(WORKS, done.tolist())
        return [found[name] for name in self.columns]

    def _go_to(self, data: Any) -> Array:
        """All forces at the state of the motion; returns the velocities, with a lagging integrator a step later."""
        model, second = self.model, self.data
        if CAN_SUM:
            mujoco.mj_getState(model, data, self._state, self._kind)
            mujoco.mj_setState(model, second, self._state, self._kind)
        else:
            for name in STATE:
                getattr(second, name)[...] = getattr(data, name)
        if not (self._lagging and self._sums):
            mujoco.mj_forward(model, second)
            return np.asarray(data.qvel)
        mujoco.mj_step(model, second)  # forces stay those at its start
        later = second.qvel.copy()
        second.qpos[:], second.qvel[:] = data.qpos, data.qvel
        return np.asarray(later)

    # --- energy ---

    def _half_kicks(self, data: Any) -> Array:
        """(3,) J, in the step just made; forces are those at the state now."""
        forces, done = self._forces(), np.zeros(len(WORKS))
        if self._before is not None:
            way = np.zeros(self.model.nv)
            mujoco.mj_differentiatePos(self.model, way, 1.0, self._before[0], data.qpos)
            done = mul(0.5 * (self._before[1] + forces), way)
        self._before = data.qpos.copy(), forces
        return done

    def _stages(self, data: Any) -> Array:
        """(3,) J, in the step to come, by the stages of RK4; forces are those at its start."""
        model, second, h = self.model, self.data, float(self.model.opt.timestep)
        v, a, act_dot = data.qvel.copy(), second.qacc.copy(), second.act_dot.copy()
        done = mul(self._forces(), v) / 6.0
        for share, weight in RK4:
            second.qpos[:] = data.qpos
            mujoco.mj_integratePos(model, second.qpos, v, share * h)
            v = data.qvel + share * h * a
            second.qvel[:], second.act[:] = v, data.act + share * h * act_dot
            second.time = data.time + share * h
            mujoco.mj_forward(model, second)
            a, act_dot = second.qacc.copy(), second.act_dot.copy()
            done = done + weight * mul(self._forces(), v)
        return np.asarray(h * done)

    def _forces(self) -> Array:
        """(3, V) N or N m at the coordinates: of actuators, passive forces but springs, limits and equalities."""
        model, data = self.model, self.data
        forces = np.zeros((len(WORKS), model.nv))
        forces[0] = data.qfrc_actuator
        forces[1] = data.qfrc_passive - data.qfrc_spring
        kind = data.efc_type
        of_friction = np.isin(kind, FRICTION)
        for row, which in ((1, of_friction), (2, (kind < FIRST_OF_CONTACTS) & ~of_friction)):
            if which.any():
                force = np.zeros(model.nv)
                mujoco.mj_mulJacTVec(model, data, force, np.where(which, data.efc_force, 0.0))
                forces[row] += force
        return forces

    def _stored(self, v: Array) -> float:
        """J, in springs and rotors."""
        model, second = self.model, self.data
        flags = model.opt.disableflags
        model.opt.disableflags = flags | int(mujoco.mjtDisableBit.mjDSBL_GRAVITY)
        mujoco.mj_energyPos(model, second)
        model.opt.disableflags = flags
        stored = float(second.energy[0]) + 0.5 * float(mul(model.dof_armature, v * v))
        for armature, rate in (
            (getattr(model, "tendon_armature", None), second.ten_velocity),
            (getattr(model, "actuator_armature", None), second.actuator_velocity),
        ):
            if armature is not None:
                stored += 0.5 * float(mul(np.asarray(armature), rate * rate))
        return stored

    def _at_pose(self, v: Array, later: Array) -> float:
        """J: kinetic energy at the pose, at the mean of both velocities, beyond that of v."""
        half, momentum = 0.5 * (later - v), np.zeros(self.model.nv)
        mujoco.mj_mulM(self.model, self.data, momentum, 2.0 * v + half)
        return 0.5 * float(mul(half, momentum))

    # --- errors ---

    def _of_solver(self, data: Any) -> dict[str, float]:
        """Of the step just made, the most of all islands: iterations, and what the last of them ended with."""
        counts = np.asarray(data.solver_niter)
        by_gradient = int(self.model.opt.solver) != mujoco.mjtSolver.mjSOL_PGS
        left = np.asarray(data.solver.gradient if by_gradient else data.solver.improvement).reshape(counts.size, -1)
        solved = np.flatnonzero(counts)
        last = np.minimum(counts[solved], left.shape[1]) - 1
        ends = np.abs(left[solved, last])
        return {"iterations": float(counts.max(initial=0)), "residual": float(ends.max(initial=0.0))}

    def _errors(self) -> dict[str, float]:
        found = {f"tracking_{unit}": self._off(servos) for unit, servos in self._tracking.items()}
        if self._equalities.any():
            found["equality_angle"], found["equality_gap"] = self._open()
        if self._tendons.size:
            length, limits = self.data.ten_length[self._tendons], self.model.tendon_range[self._tendons]
            found["tendon_excess"] = float(np.maximum(limits[:, 0] - length, length - limits[:, 1]).max(initial=0.0))
        return found

    def _off(self, servos: Indices) -> float:
        """Of position servos: the largest distance from the control to where it is."""
        model, data = self.model, self.data
        wanted = data.ctrl[servos].copy()
        limited = model.actuator_ctrllimited[servos].astype(bool)
        low, high = model.actuator_ctrlrange[servos].T
        wanted = np.where(limited, np.clip(wanted, low, high), wanted)
        return float(np.abs(wanted - data.actuator_length[servos]).max(initial=0.0))

    def _open(self) -> tuple[float, float]:
        """rad and m, by which the equalities are open that are no connections."""
        data, angle, gap = self.data, 0.0, 0.0
        rows = np.flatnonzero(data.efc_type == int(CONSTRAINT.mjCNSTR_EQUALITY))
        for k in np.flatnonzero(self._equalities).tolist():
            error = data.efc_pos[rows[data.efc_id[rows] == k]]
            if not error.size:
                continue
            if int(self.model.eq_type[k]) == EQUALITY.mjEQ_WELD:
                scale = float(self.model.eq_data[k].reshape(-1)[TORQUE_SCALE])
                gap = max(gap, float(norm(error[:3])))
                if error.size > 3 and scale > 0.0:
                    angle = max(angle, 2.0 * math.asin(min(1.0, float(norm(error[3:6])) / scale)))
            elif _is_turn(self.model, k):
                angle = max(angle, float(np.abs(error).max()))
            else:
                gap = max(gap, float(np.abs(error).max()))
        return angle, gap


def _is_turn(model: Any, equality: int) -> bool:
    """Whether an equality of joints or tendons is one of angles."""
    k = int(model.eq_obj1id[equality])
    if int(model.eq_type[equality]) == EQUALITY.mjEQ_JOINT:
        return int(model.jnt_type[k]) == mujoco.mjtJoint.mjJNT_HINGE
    return unit_of_tendon(model, k) == "angle"


def unit_of_tendon(model: Any, k: int) -> str:
    """Of its length: angle or travel; "" for a sum of both."""
    first, count = int(model.tendon_adr[k]), int(model.tendon_num[k])
    wrapped = range(first, first + count)
    if any(int(model.wrap_type[w]) != WRAP.mjWRAP_JOINT for w in wrapped):
        return "travel"
    kinds = [int(model.jnt_type[model.wrap_objid[w]]) for w in wrapped]
    return UNITS.get(kinds[0], "") if len(set(kinds)) == 1 else ""


def unit_of_servo(model: Any, k: int) -> str:
    """What a position servo moves by: angle or travel; "" for what is none, or moves by neither.

    A position servo's force is kp (control - length) less damping.
    """
    gain, bias = model.actuator_gainprm[k], model.actuator_biasprm[k]
    if int(model.actuator_dyntype[k]) == mujoco.mjtDyn.mjDYN_INTEGRATOR:  # its control is a velocity
        return ""
    affine = int(model.actuator_biastype[k]) == mujoco.mjtBias.mjBIAS_AFFINE
    fixed = int(model.actuator_gaintype[k]) == mujoco.mjtGain.mjGAIN_FIXED
    if not (affine and fixed and gain[0] > 0.0 and bias[1] == -gain[0] and bias[0] == 0.0):
        return ""
    target = int(model.actuator_trnid[k].reshape(-1)[0])
    kind = int(model.actuator_trntype[k])
    if kind in (TRANSMISSION.mjTRN_JOINT, TRANSMISSION.mjTRN_JOINTINPARENT):
        return UNITS.get(int(model.jnt_type[target]), "")
    return unit_of_tendon(model, target) if kind == TRANSMISSION.mjTRN_TENDON else ""


def _servos(model: Any, unit: str) -> Indices:
    off = model.opt.disableflags & int(mujoco.mjtDisableBit.mjDSBL_ACTUATION)
    return np.array([k for k in range(0 if off else model.nu) if unit_of_servo(model, k) == unit], np.int64)


def _equalities(model: Any) -> Flags:
    """(E,) whether how far it opens is read here: all of bodies, joints and tendons but connections, which are joints
    of the scene."""
    kinds = (int(EQUALITY.mjEQ_WELD), int(EQUALITY.mjEQ_JOINT), int(EQUALITY.mjEQ_TENDON))
    return np.isin(np.asarray(model.eq_type), kinds)


def _open_limits(model: Any) -> dict[str, list[int]]:
    """Limited joints that are no single hinge or slider of their body, by what they move by."""
    off = int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT) | int(mujoco.mjtDisableBit.mjDSBL_LIMIT)
    found: dict[str, list[int]] = {}
    for j in [] if model.opt.disableflags & off else np.flatnonzero(model.jnt_limited).tolist():
        if not is_single(model, j):
            found.setdefault(UNITS.get(int(model.jnt_type[j]), "angle"), []).append(j)
    return found


def is_single(model: Any, joint: int) -> bool:
    """A hinge or slider that alone moves its body: where it is follows from poses."""
    return int(model.body_jntnum[model.jnt_bodyid[joint]]) == 1 and int(model.jnt_type[joint]) in UNITS


def _beyond(model: Any, qpos: Array, joints: list[int]) -> float:
    """rad or m: of these, the one that is furthest. A ball's limit is of the angle that it is turned by."""
    found = 0.0
    for j in joints:
        at, (low, high) = int(model.jnt_qposadr[j]), model.jnt_range[j].tolist()
        if int(model.jnt_type[j]) == mujoco.mjtJoint.mjJNT_BALL:
            value = 2.0 * math.atan2(math.hypot(*qpos[at + 1 : at + 4].tolist()), abs(float(qpos[at])))
            low = 0.0
        else:
            value = float(qpos[at])
        found = max(found, low - value, value - high)
    return found


def _limited_tendons(model: Any) -> Indices:
    """Those that have a length in m and limits of it."""
    limited = np.asarray(model.tendon_limited).astype(bool)
    return np.array([k for k in np.flatnonzero(limited).tolist() if unit_of_tendon(model, k) == "travel"], np.int64)

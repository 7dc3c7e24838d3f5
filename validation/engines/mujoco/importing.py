"""A MuJoCo model as a scene of ours: its joints with what acts along them, its motors, and what is lost.

MuJoCo's own laws stand in its documentation, "Computation": an actuator acts on its joint by gear times
gain control + bias . (1, length, velocity), clamped, length being gear times the coordinate.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import mujoco
import numpy as np

from reference_engine.elementary import squared
from scenarios.native import Model
from validation.engines.mujoco.description import Described, describe
from validation.engines.shared.description import BodyFrame
from validation.engines.shared.importing import Beside, Data, Imported, stands_alone

SHORT = {"joint": "jnt", "equality": "eq"}
FREE = int(mujoco.mjtJoint.mjJNT_FREE)
DOFS = {FREE: 6, int(mujoco.mjtJoint.mjJNT_BALL): 3}
GAIN, BIAS, DYNAMICS, DISABLED = mujoco.mjtGain, mujoco.mjtBias, mujoco.mjtDyn, mujoco.mjtDisableBit
OF_JOINTS = {int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT)}
SAME = 1e-9  # relative: a force that is limited alike to either side
OF_THE_SCENE = ("what plugins do", "shape, gaps and energy of flexes", "moving surfaces", "adhesion", "bodies that are")
"""How lines of a description begin that hold of the scene, too."""


def imported(given: Model, duration: float, title: str) -> Imported:
    """Raises ModelError, SceneError."""
    return _Importer(describe(given, duration, title), given).imported()


class _Importer:
    def __init__(self, found: Described, given: Model) -> None:
        self.found, self.given = found, given
        self.model, self.data, self.beside = found.model, found.data, Beside()
        self.single = {j: name for name, j in found.joints.items()}  # the scene's name of each hinge or slider

    def imported(self) -> Imported:
        for joint in self.single:
            self._along(joint)
        self._motors()
        self._frictions()
        self._equalities()
        self._lost()
        self._lost_of_joints()
        return stands_alone(self.found.scene, self.beside, self._unmeasured())

    def _name(self, kind: str, number: int) -> str:
        name = getattr(self.model, SHORT.get(kind, kind))(number).name
        return str(name) or f"{kind} {number}"

    def _is_off(self, *names: str) -> bool:
        return any(self.model.opt.disableflags & int(getattr(DISABLED, f"mjDSBL_{name}", 0)) for name in names)

    def _dofs(self, joint: int) -> slice:
        first = int(self.model.jnt_dofadr[joint])
        return slice(first, first + DOFS.get(int(self.model.jnt_type[joint]), 1))

    # --- along joints --------------------------------------------------------------------------------------

    def _along(self, joint: int) -> None:
        model, dof, at = self.model, int(self.model.jnt_dofadr[joint]), int(self.model.jnt_qposadr[joint])
        acts: Data = {"start": float(self.data.qpos[at])}
        stiffness = float(np.ravel(model.jnt_stiffness[joint])[0])
        if stiffness > 0.0 and not self._is_off("PASSIVE", "SPRING"):
            acts["spring"] = {"stiffness": stiffness, "rest": float(model.qpos_spring[at])}
        damping = float(np.ravel(model.dof_damping[dof])[0])
        if damping > 0.0 and not self._is_off("PASSIVE", "DAMPER"):
            acts["damping"] = damping
        friction = float(model.dof_frictionloss[dof])
        if friction > 0.0 and not self._is_off("CONSTRAINT", "FRICTIONLOSS"):
            acts["friction"] = friction
        if model.jnt_limited[joint] and not self._is_off("CONSTRAINT", "LIMIT"):
            low, high = model.jnt_range[joint].tolist()
            acts["limits"] = {"low": low, "high": high}
        self.beside.along[self.single[joint]] = acts

    def _motors(self) -> None:
        model = self.model
        if self._is_off("ACTUATION"):
            return
        driven: set[str] = set()
        for k in range(model.nu):
            joint = int(model.actuator_trnid[k, 0]) if int(model.actuator_trntype[k]) in OF_JOINTS else -1
            motor, why = self._motor(k) if joint in self.single else ({}, "of no single hinge or slider")
            if not why and self.single[joint] in driven:
                why = "beside another one of their joint"
            if why:
                self.beside.lose(f"actuators {why}", [self._name("actuator", k)])
            elif motor:
                driven.add(self.single[joint])
                self.beside.along[self.single[joint]]["motor"] = motor

    def _motor(self, k: int) -> tuple[Data, str]:
        """The motor of a joint, {} where it does nothing; or why a scene has none."""
        model, gear = self.model, float(self.model.actuator_gear[k, 0])
        if int(model.actuator_dyntype[k]) != DYNAMICS.mjDYN_NONE:
            return {}, "with an activation"
        if int(model.actuator_gaintype[k]) != GAIN.mjGAIN_FIXED or gear == 0.0:
            return {}, "whose gain is not fixed"
        affine = int(model.actuator_biastype[k]) == BIAS.mjBIAS_AFFINE
        if not affine and int(model.actuator_biastype[k]) != BIAS.mjBIAS_NONE:
            return {}, "with a bias that is not affine"
        gain = float(model.actuator_gainprm[k, 0])
        offset, of_length, of_rate = model.actuator_biasprm[k, :3].tolist() if affine else (0.0, 0.0, 0.0)
        most, why = self._most(k, gear)
        if why or of_length > 0.0 or of_rate > 0.0:
            return {}, why or "with a bias away from where they are"
        forces = [(time, gain * control + offset) for time, control in self._controls(k)]  # at length and rate 0
        given = {"damping": -of_rate * squared(gear), **most}
        if of_length < 0.0:
            target = [(time, force / (-of_length * gear)) for time, force in forces]
            return {"kind": "position-motor", "stiffness": -of_length * squared(gear), "target": target, **given}, ""
        if of_rate < 0.0:
            return {"kind": "velocity-motor", "target": [(t, f / (-of_rate * gear)) for t, f in forces], **given}, ""
        acts = any(force for _, force in forces)
        return ({"kind": "force-motor", "target": [(t, gear * f) for t, f in forces], **most} if acts else {}), ""

    def _most(self, k: int, gear: float) -> tuple[Data, str]:
        """Of a force that is limited alike to either side, by the actuator or by its joint."""
        model, joint, found = self.model, int(self.model.actuator_trnid[k, 0]), []
        ranges = [(model.actuator_forcelimited[k], model.actuator_forcerange[k], abs(gear))]
        if hasattr(model, "jnt_actfrclimited"):
            ranges.append((model.jnt_actfrclimited[joint], model.jnt_actfrcrange[joint], 1.0))
        for limited, (low, high), scale in ranges:
            if limited and abs(low + high) > SAME * max(abs(low), abs(high)):
                return {}, "whose force is limited otherwise to either side"
            if limited:
                found.append(scale * float(high))
        return ({"most": min(found)} if found and min(found) > 0.0 else {}), ""

    def _controls(self, k: int) -> list[tuple[float, float]]:
        """(s, control) from time 0 on, each until the next one's time."""
        low, high = -np.inf, np.inf
        if self.model.actuator_ctrllimited[k] and not self._is_off("CLAMPCTRL"):
            low, high = self.model.actuator_ctrlrange[k].tolist()
        played = self.given.start.controls
        rows = [(0.0, float(self.data.ctrl[k]))]
        if played is not None:
            times = played.times or [n * float(self.model.opt.timestep) for n in range(len(played.rows))]
            rows = [(max(time, 0.0), row[k]) for time, row in zip(times, played.rows)]
        found: list[tuple[float, float]] = []
        for time, control in rows:
            value = float(np.clip(control, low, high))
            if found and found[-1][1] == value:
                continue
            found += [(time, found[-1][1])] if found else []
            found.append((time, value))
        return found

    # --- bodies and ties -----------------------------------------------------------------------------------

    def _frictions(self) -> None:
        """Contacts of one dimension have no friction, whatever a geom says."""
        model, some = self.model, []
        for i, body in enumerate(self.found.scene.bodies):
            geoms = np.flatnonzero(self.found.member == i)
            dims = {int(model.geom_condim[g]) for g in geoms}
            if dims == {1}:
                self.beside.bodies[body.name] = {"friction": 0.0}
            if len({float(model.geom_friction[g, 0]) for g in geoms}) > 1 or (1 in dims and len(dims) > 1):
                some.append(body.name)
        self.beside.lose("friction of each geom, of which a body has the largest here", some)
        turning = (np.ravel(model.geom_condim) > 3) & (self.found.member >= 0)
        self.beside.lose("torsional and rolling friction of geoms", self._geoms(turning))

    def _equalities(self) -> None:
        """Connections are balls of the description; welds of two bodies are fixed joints."""
        model, scene = self.model, self.found.scene
        active = getattr(model, "eq_active0", getattr(model, "eq_active", np.zeros(0)))
        number = {int(body): i for i, body in enumerate(self.found.body)}
        for k in np.flatnonzero(np.asarray(active)).tolist():
            kind = int(model.eq_type[k])
            if self._is_off("EQUALITY", "CONSTRAINT") or kind == mujoco.mjtEq.mjEQ_CONNECT:
                continue
            of_sites = int(getattr(model, "eq_objtype", np.zeros(k + 1))[k]) == int(mujoco.mjtObj.mjOBJ_SITE)
            bodies = (max(int(one), 0) for one in (model.eq_obj1id[k], model.eq_obj2id[k]))
            ends = [None] * 2 if of_sites else [number.get(int(model.body_weldid[body])) for body in bodies]
            tied = [None if i is None or scene.bodies[i].fixed else i for i in ends]
            a, b = tied if tied[0] is not None else tied[::-1]
            if kind != mujoco.mjtEq.mjEQ_WELD or a is None or a == b:
                self.beside.lose("equalities", [self._name("equality", k)])
                continue
            at = np.array(scene.bodies[a].position)
            other = at.tolist() if b is None else BodyFrame(scene.bodies[b].model_dump()).point(at)
            joint: Data = {"kind": "fixed", "name": f"weld {self._name('equality', k)}"[:80], "a": scene.bodies[a].name}
            joint |= {"b": None if b is None else scene.bodies[b].name, "anchor_a": [0.0] * 3, "anchor_b": other}
            self.beside.joints.append(joint)

    # --- what is lost ----------------------------------------------------------------------------------------

    def _lost(self) -> None:
        model, lose = self.model, self.beside.lose
        lose("tendons", [self._name("tendon", k) for k in range(model.ntendon)])
        lose("gravity compensation", [self._name("body", k) for k in np.flatnonzero(model.body_gravcomp).tolist()])
        wide = (np.ravel(model.geom_margin) != 0.0) | (np.ravel(model.geom_gap) != 0.0)
        lose("contact margins and gaps of geoms", self._geoms(wide & (self.found.member >= 0)))
        step = float(model.opt.timestep)
        self.beside.lost[f"softness of contacts and limits, an engine's own here; the model's step, {step:g} s"] = None
        if model.opt.density or model.opt.viscosity or np.any(model.opt.wind):
            self.beside.lost["the medium: density, viscosity, wind"] = None

    def _lost_of_joints(self) -> None:
        model, lose = self.model, self.beside.lose
        named = {j: self._name("joint", j) for j in range(model.njnt)}
        rotors = {j: float(np.max(model.dof_armature[self._dofs(j)])) for j in named}
        lose("inertia of rotors (armature)", [f"{named[j]} {inertia:.3g}" for j, inertia in rotors.items() if inertia])
        acting = [j for j in named if j not in self.single and self._has_forces(j)]
        what = "springs, damping, friction and limits of joints that are no single hinge or slider"
        lose(what, [named[j] for j in acting])
        for name, adds in (("dof_dampingpoly", "damping"), ("jnt_stiffnesspoly", "stiffness")):
            if np.any(getattr(model, name, 0.0)):
                self.beside.lost[f"{adds} of joints that is not linear"] = None

    def _has_forces(self, joint: int) -> bool:
        model, dofs = self.model, self._dofs(joint)
        passive = np.any(model.dof_damping[dofs]) or np.any(model.dof_frictionloss[dofs])
        return bool(passive or np.any(model.jnt_stiffness[joint]) or model.jnt_limited[joint])

    def _geoms(self, which: Any) -> list[str]:
        return [self._name("geom", g) for g in np.flatnonzero(which).tolist()]

    def _unmeasured(self) -> Iterable[str]:
        """Of the description: what has no shape here either, and joints that a scene does not have."""
        native = self.found.scene.native
        assert native is not None
        for line in native.unmeasured:
            if "its gaps are not measured" in line:
                yield line.replace("its gaps are not measured", "it has no shape here")
            elif "several that move one body" in line:
                yield line.replace("how far they open is not measured", "here nothing ties it")
            elif line.startswith(OF_THE_SCENE):
                yield line

"""MuJoCo: generalised coordinates, soft contacts solved as one convex problem.

What makes a comparison unfair, and what is done about it (MuJoCo documentation, "Computation"; measured with 4.0.0):
- Planar bodies have three joints, x, y and the angle, and so cannot leave the plane. Softness is scaled by how mobile
  a body is on average over the directions: at rest it sinks 2/3 as deep as one that is free in space.
- Contact is a spring-damper with time constant solref, so penetration depends on it; it cannot be shorter than two
  steps. The fair profile takes just that, with an impedance of 0.99 to 0.999 (default 0.9 to 0.95).
- In the convex model friction at speed pushes bodies apart, the more the stiffer the contact: a 1 m box sliding at
  8 m/s with mu = 0.5 hops 0.5 m (default 0.1 m). No setting is known that is fair at rest and keeps it down.
- The default friction pyramid holds more along its diagonals and lets bodies creep; fair is the elliptic cone with
  impratio 10 and five sweeps against slip.
- The friction of a pair is the larger of two geoms' values; where no values give every pair its own, every pair is
  listed. Below 1e-5 MuJoCo knows no friction: a frictionless pair has one contact dimension.
- There is no coefficient of restitution. A pair that has one is a spring and a damper, given as they are (a negative
  solref), as stiff as to stay in contact for `impact_steps` steps, with the damper that returns this share of any
  speed (`linear_contact.bounce`), and an impedance that depth does not change. What a step does not resolve of it is in
  docs/impacts.md; its pairs sink in by v impact_steps dt / pi at an impact, and little at rest.
- Compliant contact is a linear spring and damper (`linear_contact`), given as stiffness and damping of a unit mass (a
  negative solref); none is stiffer than 1 / (2 dt)^2, above which a step does not resolve it. Only an impedance near 0
  leaves a spring a spring: at 0.9 a ball sinks in a tenth as deep as its weight presses it. Fair takes the least there
  is, 1e-4, with RK4.
- A mesh is its convex hull, in single precision; a bowl or a hollow sphere is made of planes.
- On a value that is not finite MuJoCo starts again from zero and goes on; here it does not, and the warning counters
  raise NotFiniteError. Warnings go nowhere: by default they are written to MUJOCO_LOG.TXT in the user's folder.
- Euler and both implicit integrators first change the velocity, then move with it: in free fall the velocity of a
  step is the true one in its middle, dt/2 before the pose. RK4 has no such lag.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar

import mujoco
import numpy as np

from reference_engine.array_types import Array
from scenarios.given_motion import given_state
from scenarios.joint_forces import ELEMENTS, Element, target_of
from scenarios.joints import AxialJoint
from scenarios.native import Model
from scenarios.scene import PositionMotor, Scene, SpatialScene, features
from validation.engines import LOADS
from validation.engines.engine import QUERY_STEP, Setting, Settings, SteppingEngine, Value, able
from validation.engines.mujoco.description import describe
from validation.engines.mujoco.importing import imported
from validation.engines.mujoco.model import (
    CONNECTS_SITES,
    HAS_ISLANDS,
    ISLANDS_BY_DEFAULT,
    MULTICCD_BY_DEFAULT,
    build_model,
)
from validation.engines.mujoco.native import SET_IN_MODELS, NativeWorld
from validation.engines.mujoco.queries import QUERIES, answers
from validation.engines.mujoco.reading import (
    CHECK_EVERY,
    LAG_IN_STEPS,
    check_warnings,
    contact_rows,
    options_of,
)
from validation.engines.mujoco.separation import SweptWorld
from validation.engines.relations import Relation, repeats
from validation.engines.shared import recorder
from validation.engines.shared.embedding import rotation_matrix, vector_in_space
from validation.engines.shared.importing import Imported
from validation.engines.shared.joint_tree import (
    given_fault,
    joint_forest,
    link_state,
    loop_fault,
    start_fault,
    start_turn,
)
from validation.engines.shared.quaternions import rotated
from validation.engines.takes import (
    COMPLIANT,
    COMPOUND,
    DRIVES,
    FRICTION_OF_JOINTS,
    GIVEN_MOTION,
    HINGES,
    JOINTS,
    LIMITS,
    MARGIN,
    PLANAR,
    SHAPES,
    SOLVER,
    SPATIAL,
    TIES,
    WALLS,
)
from validation.records.queries import Answers, Poses
from validation.records.trajectory import Trajectory

TAKES = PLANAR | SPATIAL | SOLVER | COMPLIANT | SHAPES | COMPOUND | WALLS | JOINTS | HINGES | TIES
TAKES |= (
    GIVEN_MOTION
    | MARGIN
    | {"restitution", "concave-polygon", "rolling-resistance", "fixed"}
    | DRIVES
    | LIMITS
    | FRICTION_OF_JOINTS
)
BECAUSE = {
    "arc-polygon": "MuJoCo has no shape with arc edges; a polygon would be another scene",
}

SETTINGS: dict[str, Setting] = {
    "solref_timeconst": Setting(
        default=0.02, low=1e-6, high=10.0, fuzzed="none", doc="time constant of contacts, s; at least 2 dt"
    ),
    "solref_dampratio": Setting(default=1.0, low=1e-3, high=100.0, fuzzed="more", doc="damping ratio of contacts"),
    "solimp_dmin": Setting(
        default=0.9,
        low=1e-4,
        high=0.9999,
        fuzzed="more",
        at_most="solimp_dmax",
        doc="impedance of a contact at gap 0",
    ),
    "solimp_dmax": Setting(
        default=0.95, low=1e-4, high=0.9999, fuzzed="more", doc="impedance at `solimp_width` and deeper"
    ),
    "solimp_width": Setting(default=0.001, low=0.0, high=1.0, doc="depth over which the impedance rises, m"),
    "impact_steps": Setting(
        default=10,
        low=4,
        high=10_000,
        fuzzed="more",
        doc="time steps that a bounce takes, of pairs with restitution: a spring and a damper by a negative solref",
    ),
    "cone": Setting(default="pyramidal", choices=("pyramidal", "elliptic"), doc="friction cone"),
    "impratio": Setting(default=1.0, low=1e-3, high=1e5, doc="impedance of friction over that of the normal force"),
    "solver": Setting(default="newton", choices=("newton", "cg", "pgs"), doc="constraint solver"),
    "iterations": Setting(default=100, low=1, high=10_000, fuzzed="more", doc="most iterations of the solver"),
    "ls_iterations": Setting(default=50, low=1, high=10_000, fuzzed="more", doc="most line-search iterations"),
    "tolerance": Setting(
        default=1e-8, low=0.0, high=1.0, fuzzed="less", doc="the solver stops at this scaled improvement"
    ),
    "noslip_iterations": Setting(
        default=0, low=0, high=10_000, fuzzed="more", doc="sweeps against slip after the solver"
    ),
    "integrator": Setting(
        default="euler", choices=("euler", "rk4", "implicit", "implicitfast"), doc="integrator of the motion"
    ),
    "jacobian": Setting(default="auto", choices=("auto", "dense", "sparse"), doc="storage of the Jacobian"),
    "islands": Setting(default=ISLANDS_BY_DEFAULT, doc="bodies that no constraint joins are solved apart"),
    "ccd_tolerance": Setting(
        default=1e-6, low=1e-15, high=1e-2, fuzzed="less", doc="of the general convex collision, m"
    ),
    "bowl_segments": Setting(default=1024, low=16, high=65_536, fuzzed="none", doc="planes that stand for a bowl"),
    "sphere_subdivisions": Setting(
        default=4, low=0, high=6, fuzzed="none", doc="a hollow sphere is 10 * 4^n + 2 planes"
    ),
    "multiccd": Setting(default=MULTICCD_BY_DEFAULT, doc="several contacts for a pair of the general convex collision"),
}
for _name in ("ls_iterations", "ccd_tolerance"):
    if not hasattr(mujoco.MjOption, _name):  # releases before 3.0 and 3.2.4
        del SETTINGS[_name]
if not HAS_ISLANDS:
    del SETTINGS["islands"]
FAIR: Mapping[str, Value] = {
    "solimp_dmin": 0.99,
    "solimp_dmax": 0.999,
    "cone": "elliptic",
    "impratio": 10.0,
    "iterations": 200,
    "noslip_iterations": 5,
    "multiccd": True,
}  # and solref_timeconst = 2 dt
FAIR_COMPLIANT: Mapping[str, Value] = {"solimp_dmin": 1e-4, "solimp_dmax": 1e-4, "impratio": 1e5, "integrator": "rk4"}

RELATIONS = (
    Relation(
        name="dense and sparse Jacobian agree",
        one={"jacobian": "dense"},
        other={"jacobian": "sparse"},
        agree="round-off",
        promise="they are two ways to store one matrix; XML reference, option, jacobian",
    ),
    Relation(
        name="islands solved apart and together agree",
        one={"islands": False, "tolerance": 0.0, "noslip_iterations": 0},
        other={"islands": True, "tolerance": 0.0, "noslip_iterations": 0},
        agree="minimum",
        promise="they are disjoint parts of one convex problem; Computation, constraint islands",
    ),
    Relation(
        name="Newton and CG agree",
        one={"solver": "newton", "tolerance": 1e-15},
        other={"solver": "cg", "tolerance": 1e-15, "iterations": 2000},
        agree="minimum",
        promise="the problem is convex and has one minimum; Computation, algorithms",
        cheap=False,
    ),
    *repeats("a step is a function of the integration state; Programming, integration state"),
)

LINK_WIDTH = 13  # numbers of a body that hangs on a joint: position, quaternion, spin, velocity


class MuJoCo(SteppingEngine):
    name = "mujoco"
    version = mujoco.__version__
    settings = SETTINGS
    profiles = ("default", "fair")
    takes, because = TAKES, BECAUSE
    relations = tuple(one for one in RELATIONS if one.one.keys() <= SETTINGS.keys())
    abilities = able(
        set_state="to round-off; the solver starts from zero, and stops at its tolerance",
        apply_force="constant over the step",
        options="mjOption",
    )
    queries = QUERIES
    loads = LOADS["mujoco"]
    settings_of_models: ClassVar[Mapping[str, Setting]] = {
        name: setting for name, setting in SETTINGS.items() if name in SET_IN_MODELS
    }

    def profile(self, name: str, scene: Scene, dt: float) -> dict[str, Value]:
        if name != "fair":
            return {}
        return {**FAIR, "solref_timeconst": 2.0 * dt, **(FAIR_COMPLIANT if scene.contact.compliant else {})}

    def cannot(self, scene: Scene) -> str | None:
        if reason := given_fault("MuJoCo", scene) or start_fault(scene):
            return reason
        _, loops = joint_forest(scene)
        if loops and not CONNECTS_SITES:
            return (
                f"joint {loops[0].name!r} closes a loop, which MuJoCo {self.version} does only as the model is at zero"
            )
        return loop_fault("MuJoCo", scene)

    def warm_up(self) -> None:
        """What the first model and step take longer is spent before any process is forked."""
        model = mujoco.MjModel.from_xml_string("<mujoco><worldbody><geom size='1'/></worldbody></mujoco>")
        mujoco.mj_step(model, mujoco.MjData(model))

    def describe(self, model: Model, duration: float, title: str, settings: Settings) -> SpatialScene:
        return describe(model, duration, title).scene

    def stand_alone(self, model: Model, duration: float, title: str, settings: Settings) -> Imported:
        return imported(model, duration, title)

    def build(self, scene: Scene, dt: float, settings: Settings) -> recorder.World:
        mujoco.set_mju_user_warning(lambda text: None)
        if isinstance(scene, SpatialScene) and scene.native is not None:
            probe = scene.native.model.probe
            kind = SweptWorld if probe is not None and probe.kind == "separation" else NativeWorld
            return kind(scene, dt, settings)
        return World(scene, dt, settings)

    def answer(self, query: str, scene: Scene, settings: Settings, poses: Poses) -> Answers:
        return answers(query, self.build(scene, QUERY_STEP, settings), scene, poses)


class World(recorder.SceneWorld):
    """A scene that MuJoCo has. Raises NotFiniteError where MuJoCo warns of its state, MemoryError where it had to drop
    contacts.
    """

    forgets = True

    def __init__(self, scene: Scene, dt: float, settings: Settings) -> None:
        super().__init__(scene, dt)
        self.model, self.layout = build_model(scene, dt, settings)
        self.data = mujoco.MjData(self.model)
        self.velocity_lag = LAG_IN_STEPS[str(settings["integrator"])] * dt
        if "restitution" in features(scene):
            self.impact_time = (int(settings["impact_steps"]) + 1) * dt  # it begins within a step
        self._knows_forces = settings["integrator"] != "rk4"  # the forces it keeps are those of its last stage
        self._applied = False  # whether forces that are not the scene's act in the next step
        self._extra = np.zeros_like(self.data.xfrc_applied)
        self._qpos, self._qvel = self.data.qpos, self.data.qvel
        # Of those that hang on joints: body, the model's body, its first coordinate, parent, and in the plane how far
        # one that slides is turned for good.
        self._hung = [
            (link.body, self.layout.body_id[link.body], q, link.parent,
             start_turn(scene, link) if self.planar and link.slides else None)
            for link, q in zip(self.layout.links, self.layout.link_q)
        ]  # fmt: skip
        self._motors = [
            (k, link, motor) for k, (link, motor) in enumerate(self.layout.motors)
        ]  # by their numbers as actuators
        self._given = self._lay_out_given()
        self._hung_ids = [number for _, number, *_ in self._hung]
        self._link_rows = np.zeros((len(self._hung), LINK_WIDTH))
        self._link_velocities = [row[7:] for row in self._link_rows]
        self.set_state(*self.start)

    def own_elements(self, joint: AxialJoint) -> Collection[Element]:
        return ELEMENTS

    def step(self, *, watched: bool) -> None:
        if self.has_forces:
            self._apply_forces()
        for number, link, motor in self._motors:
            target = target_of(motor, self.steps * self.dt)
            self.data.ctrl[number] = link.at(target) if isinstance(motor, PositionMotor) else link.sign * target
        for one in self._given:
            self._set_given(one, self.steps * self.dt, middle=True)
            number = one[1]
            self.data.xfrc_applied[number, :3] = -self.model.opt.gravity * self.model.body_mass[number]
        if self._applied:
            self.data.xfrc_applied += self._extra
        mujoco.mj_step(self.model, self.data)
        if self._applied:
            self._applied, self._extra[:], self.data.xfrc_applied[:] = False, 0.0, 0.0
        self.steps += 1
        for one in self._given:
            self._set_given(one, self.steps * self.dt, middle=False)

    def _lay_out_given(self) -> list[tuple[int, int, Array, Array]]:
        """Of each body of given motion its number in the scene and in the model, and where its coordinates and rates
        are."""
        rows = {int(i): k for k, i in enumerate(self.layout.roots)}
        return [
            (i, self.model.body(f"b{i}").id, self.layout.root_q[rows[i]], self.layout.root_v[rows[i]])
            for i in self.given
        ]

    def _set_given(self, one: tuple[int, int, Array, Array], time: float, *, middle: bool) -> None:
        """Where it is at this time, s, and how fast: in the middle of the step to come, or as velocities lag."""
        body, _, q, v = one
        given = self.scene.bodies[body]
        rate = given_state(given, time + (0.5 * self.dt if middle else self.velocity_lag))
        if self.planar:
            self.data.qpos[q], self.data.qvel[v] = given_state(given, time)[0], rate[1]
        else:  # MuJoCo's spin is in body axes
            position, orientation, _, _ = given_state(given, time)
            self.data.qpos[q] = (*position, *orientation)
            self.data.qvel[v] = (*rate[2], *(rotation_matrix(orientation).T @ rate[3]))

    def _apply_forces(self) -> None:
        """Springs, thrusters and damping of the scene, at the state that the step starts from."""
        data, layout = self.data, self.layout
        state = [part[0] for part in self.decode(self._bytes() + self._links(), 1)]
        bodies, numbers = list(layout.body_id), list(layout.body_id.values())
        force, torque = self.wrenches(data.time, *state)
        data.xfrc_applied[numbers, :3], data.xfrc_applied[numbers, 3:] = force[bodies], torque[bodies]

    def finish(self, motion: Trajectory) -> None:
        check_warnings(self.data)

    # --- reading ---

    def _bytes(self) -> bytes:
        return bytes(self._qpos.tobytes() + self._qvel.tobytes())

    def raw(self) -> bytes | None:
        return self._bytes() if self.layout.links else None

    def read(self) -> recorder.State:
        if self.steps % CHECK_EVERY == 0:
            check_warnings(self.data)
        return self._bytes() + self._links()

    def decode(self, raw: bytes, steps: int) -> list[Array]:
        """Poses and twists of the bodies that hang on nothing, then of those that hang on joints."""
        coordinates, layout = self._qpos.size, self.layout
        rows = np.frombuffer(raw, np.float64).reshape(steps, -1)
        both, links = np.split(rows, [coordinates + self._qvel.size], axis=1)
        q, v = both[:, :coordinates][:, layout.root_q], both[:, coordinates:][:, layout.root_v]
        if not self.planar:  # MuJoCo's spin is in body axes
            v = np.concatenate([v[..., :3], rotated(q[..., 3:], v[..., 3:])], axis=2)
        state = recorder.filled(self.start, np.concatenate([q, v], axis=2), layout.roots)
        for (i, _, q_of, parent, turn), row in zip(self._hung, links.reshape(steps, -1, LINK_WIDTH).swapaxes(0, 1)):
            if self.planar:
                pose, twist = state
                pose[:, i, :2] = row[:, :2]
                turned = both[:, q_of] if turn is None else turn
                pose[:, i, 2] = turned + (0.0 if parent is None else pose[:, parent, 2])
                twist[:, i] = row[:, [10, 11, 9]]
            else:
                for part, (first, end) in zip(state, ((0, 3), (3, 7), (10, 13), (7, 10))):
                    part[:, i] = row[:, first:end]
        return state

    def _links(self) -> bytes:
        """Position, quaternion, spin and velocity of each body that hangs on a joint, which MuJoCo derives."""
        if not self._hung:
            return b""
        model, data, rows = self.model, self.data, self._link_rows
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_comVel(model, data)
        rows[:, :3], rows[:, 3:7] = data.xpos[self._hung_ids], data.xquat[self._hung_ids]
        for number, six in zip(self._hung_ids, self._link_velocities):
            mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_BODY, number, six, 0)
        return rows.tobytes()

    # --- abilities ---

    def set_state(self, *state: Any, time: float = 0.0) -> None:
        data, layout = self.data, self.layout
        mujoco.mj_resetData(self.model, data)  # warnings and what the solver starts from too
        data.time, self.steps = time, round(time / self.dt)
        self.restart_joints()
        for i, q, v in zip(layout.roots, layout.root_q, layout.root_v):
            if self.planar:
                data.qpos[q], data.qvel[v] = state[0][i], state[1][i]
            else:  # MuJoCo's spin is in body axes
                position, orientation, velocity, spin = (part[i] for part in state)
                data.qpos[q] = (*position, *orientation)
                data.qvel[v] = (*velocity, *(rotation_matrix(orientation).T @ spin))
        for link, q, v in zip(layout.links, layout.link_q, layout.link_v):
            coordinates, rate = link_state(self.scene, link, *state)
            data.qpos[q : q + coordinates.size], data.qvel[v : v + rate.size] = coordinates, rate

    def apply_force(self, body: int, force: Sequence[float], point: Sequence[float] | None = None) -> None:
        if (number := self.layout.body_id.get(body)) is not None:
            self._applied = True
            given = vector_in_space(force)
            self._extra[number, :3] += given
            if point is not None:
                mujoco.mj_kinematics(self.model, self.data)
                self._extra[number, 3:] += np.cross(vector_in_space(point) - self.data.xpos[number], given)

    def options(self) -> dict[str, Value]:
        return options_of(self.model)

    # --- contacts ---

    def contacts_found(self) -> recorder.Rows | None:
        """a, b, points, normals and gaps of the contacts at the data's poses."""
        contact, member = self.data.contact, self.layout.member
        if not contact.dist.size:
            return None
        a, b = member[contact.geom1], member[contact.geom2]
        return a, b, contact.pos, contact.frame.reshape(-1, 3, 3)[:, 0], contact.dist

    def contacts(self) -> recorder.Rows | None:
        found = contact_rows(self.model, self.data, self.layout.member, self.dt, knows_forces=self._knows_forces)
        return None if found is None else self.in_dimension(*found)

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
- There is no coefficient of restitution: scenes with one are declined.
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

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from scenarios.forces import has_applied_forces, planar_wrenches, spatial_wrenches
from scenarios.scene import Ball, PlanarScene, Revolute, Scene, features, planar_start
from validation.engines.engine import NotFiniteError, Setting, Settings, Value
from validation.engines.mujoco.mjcf import HAS_SPEC
from validation.engines.mujoco.model import MULTICCD_BY_DEFAULT, Layout, build_model
from validation.engines.shared.embedding import start_in_space
from validation.engines.shared.joint_tree import joint_forest, start_fault, start_turn
from validation.engines.shared.recorder import Decode, Recorder
from validation.records.trajectory import Trajectory

Array = NDArray[np.float64]

DECLINES = {
    "restitution": "MuJoCo has no coefficient of restitution",
    "arc-polygon": "MuJoCo has no shape with arc edges; a polygon would be another scene",
}

SETTINGS: dict[str, Setting] = {
    "solref_timeconst": Setting(default=0.02, low=1e-6, high=10.0, doc="time constant of contacts, s; at least 2 dt"),
    "solref_dampratio": Setting(default=1.0, low=1e-3, high=100.0, doc="damping ratio of contacts"),
    "solimp_dmin": Setting(default=0.9, low=1e-4, high=0.9999, doc="impedance of a contact at gap 0"),
    "solimp_dmax": Setting(default=0.95, low=1e-4, high=0.9999, doc="impedance at `solimp_width` and deeper"),
    "solimp_width": Setting(default=0.001, low=0.0, high=1.0, doc="depth over which the impedance rises, m"),
    "cone": Setting(default="pyramidal", choices=("pyramidal", "elliptic"), doc="friction cone"),
    "impratio": Setting(default=1.0, low=1e-3, high=1e5, doc="impedance of friction over that of the normal force"),
    "solver": Setting(default="newton", choices=("newton", "cg", "pgs"), doc="constraint solver"),
    "iterations": Setting(default=100, low=1, high=10_000, doc="most iterations of the solver"),
    "ls_iterations": Setting(default=50, low=1, high=10_000, doc="most line-search iterations"),
    "tolerance": Setting(default=1e-8, low=0.0, high=1.0, doc="the solver stops at this scaled improvement"),
    "noslip_iterations": Setting(default=0, low=0, high=10_000, doc="sweeps against slip after the solver"),
    "integrator": Setting(
        default="euler", choices=("euler", "rk4", "implicit", "implicitfast"), doc="integrator of the motion"
    ),
    "jacobian": Setting(default="auto", choices=("auto", "dense", "sparse"), doc="storage of the Jacobian"),
    "ccd_tolerance": Setting(default=1e-6, low=1e-15, high=1e-2, doc="of the general convex collision, m"),
    "bowl_segments": Setting(default=1024, low=16, high=65_536, doc="planes that stand for a bowl"),
    "sphere_subdivisions": Setting(default=4, low=0, high=6, doc="a hollow sphere is 10 * 4^n + 2 planes"),
    "multiccd": Setting(default=MULTICCD_BY_DEFAULT, doc="several contacts for a pair of the general convex collision"),
}
for _name in ("ls_iterations", "ccd_tolerance"):
    if not hasattr(mujoco.MjOption, _name):  # releases before 3.0 and 3.2.4
        del SETTINGS[_name]
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

LAG_IN_STEPS = {"euler": -0.5, "implicit": -0.5, "implicitfast": -0.5, "rk4": 0.0}
CHECK_EVERY = 64  # steps between looks at the warning counters


class MuJoCo:
    name = "mujoco"
    version = mujoco.__version__
    settings = SETTINGS
    profiles = ("default", "fair")

    def profile(self, name: str, scene: Scene, dt: float) -> dict[str, Value]:
        if name != "fair":
            return {}
        return {**FAIR, "solref_timeconst": 2.0 * dt, **(FAIR_COMPLIANT if scene.contact.compliant else {})}

    def declines(self, scene: Scene) -> str | None:
        found = features(scene)
        if reason := next((why for feature, why in DECLINES.items() if feature in found), None):
            return reason
        if reason := start_fault(scene):
            return reason
        _, loops = joint_forest(scene)
        if loops and not HAS_SPEC:
            return (
                f"joint {loops[0].name!r} closes a loop, which MuJoCo {self.version} does only as the model is at zero"
            )
        if other := next((joint for joint in loops if not isinstance(joint, (Revolute, Ball))), None):
            return f"joint {other.name!r} closes a loop, and MuJoCo has no {other.kind} that does"
        return None

    def warm_up(self) -> None:
        """What the first model and step take longer is spent before any process is forked."""
        model = mujoco.MjModel.from_xml_string("<mujoco><worldbody><geom size='1'/></worldbody></mujoco>")
        mujoco.mj_step(model, mujoco.MjData(model))

    def simulate(self, scene: Scene, dt: float, settings: Settings) -> Trajectory:
        """Raises NotFiniteError where MuJoCo warns of its state, MemoryError where it had to drop contacts."""
        mujoco.set_mju_user_warning(lambda text: None)
        model, data, layout = build_model(scene, dt, settings)
        lag = LAG_IN_STEPS[str(settings["integrator"])] * dt
        decode = _decoder(scene, data, layout)
        recorder = Recorder(scene, dt, velocity_lag=lag, decode=decode)
        push = _pusher(scene, data, layout) if has_applied_forces(scene) else None
        links = _link_reader(scene, model, data, layout, decode) if layout.links else None
        knows_forces = settings["integrator"] != "rk4"  # the forces it keeps are those of its last stage
        planar = isinstance(scene, PlanarScene)
        qpos, qvel = data.qpos, data.qvel

        def keep() -> None:
            raw = qpos.tobytes() + qvel.tobytes()
            if links is None:
                recorder.keep(raw)
            else:
                recorder.read(*links(), raw=raw)

        keep()
        for step in recorder.steps():
            if push is not None:
                push(data.time, links() if links else [part[0] for part in decode(qpos.tobytes() + qvel.tobytes(), 1)])
            mujoco.mj_step(model, data)
            recorder.stepped()
            keep()
            if recorder.wants_contacts:
                recorder.add_contacts(*_contacts(model, data, layout, dt, planar=planar, knows_forces=knows_forces))
            if step % CHECK_EVERY == 0 or step == recorder.step_count:
                _check_warnings(data)
        return recorder.trajectory()


# --- reading --------------------------------------------------------------------------------------------


def _decoder(scene: Scene, data: Any, layout: Layout) -> Decode:
    """Steps of qpos and qvel to poses and twists of the bodies that hang on nothing; others are where they started."""
    roots, root_q, root_v = layout.roots, layout.root_q, layout.root_v
    start = planar_start(scene) if isinstance(scene, PlanarScene) else start_in_space(scene)
    coordinates, width = data.qpos.size, data.qpos.size + data.qvel.size

    def decode(raw: bytes, steps: int) -> list[Array]:
        both = np.frombuffer(raw, np.float64).reshape(steps, width)
        q, v = both[:, :coordinates][:, root_q], both[:, coordinates:][:, root_v]
        state = [np.tile(part, (steps, 1, 1)) for part in start]
        if isinstance(scene, PlanarScene):
            state[0][:, roots], state[1][:, roots] = q, v
        else:
            turned = rotated(q[..., 3:], v[..., 3:])  # MuJoCo's spin is in body axes
            for part, found in zip(state, (q[..., :3], q[..., 3:], v[..., :3], turned), strict=True):
                part[:, roots] = found
        return state

    return decode


def rotated(orientation: Array, vector: Array) -> Array:
    """(..., 3): vectors of a body's axes in those of the world, by unit quaternions (..., 4), w first."""
    axis = orientation[..., 1:]
    twice = 2.0 * np.cross(axis, vector)
    return vector + orientation[..., :1] * twice + np.cross(axis, twice)


def _link_reader(scene: Scene, model: Any, data: Any, layout: Layout, decode: Decode) -> Callable[[], list[Array]]:
    """A function that returns one state, with bodies that hang on joints, whose poses MuJoCo derives."""
    six = np.zeros(6)
    planar = isinstance(scene, PlanarScene)

    def read() -> list[Array]:
        state = [part[0] for part in decode(data.qpos.tobytes() + data.qvel.tobytes(), 1)]
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_comVel(model, data)
        for link, q in zip(layout.links, layout.link_q):
            number, i = layout.body_id[link.body], link.body
            mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_BODY, number, six, 0)
            if planar:
                pose, twist = state
                pose[i, :2] = data.xpos[number, :2]
                turned = start_turn(scene, link) if link.slides else data.qpos[q]
                pose[i, 2] = turned + (0.0 if link.parent is None else pose[link.parent, 2])
                twist[i] = six[3], six[4], six[2]
            else:
                state[0][i], state[1][i] = data.xpos[number], data.xquat[number]
                state[2][i], state[3][i] = six[3:], six[:3]
        return state

    return read


def _pusher(scene: Scene, data: Any, layout: Layout) -> Any:
    """A function that applies springs, thrusters and damping of the scene, at the state that a step starts from."""
    bodies = np.array(list(layout.body_id), dtype=np.int64)
    numbers = np.array(list(layout.body_id.values()), dtype=np.int64)

    def push(time: float, state: Sequence[Array]) -> None:
        if isinstance(scene, PlanarScene):
            wrench = planar_wrenches(scene, time, *state)
            data.xfrc_applied[numbers, :2], data.xfrc_applied[numbers, 5] = wrench[bodies, :2], wrench[bodies, 2]
        else:
            force, torque = spatial_wrenches(scene, time, *state)
            data.xfrc_applied[numbers, :3], data.xfrc_applied[numbers, 3:] = force[bodies], torque[bodies]

    return push


def _contacts(
    model: Any, data: Any, layout: Layout, dt: float, *, planar: bool, knows_forces: bool
) -> tuple[NDArray[Any], ...]:
    """a, b, points, normals, gaps and impulses on b of the contacts of the last step, at the poses it started from.

    Of those MuJoCo leaves out because they are out of reach it reports no force, and neither do we.
    """
    width = 2 if planar else 3
    contact = data.contact
    solved = np.flatnonzero(contact.exclude == 0)
    geoms = np.stack([contact.geom1, contact.geom2], axis=1)[solved]
    pairs, frames = layout.member[geoms].reshape(-1, 2), contact.frame.reshape(-1, 3, 3)[solved]
    impulses = np.full((solved.size, 3), np.nan)
    if knows_forces:
        force = np.zeros((solved.size, 6))
        for row, k in zip(force, solved.tolist()):
            mujoco.mj_contactForce(model, data, k, row)
        impulses = np.einsum("ki,kij->kj", force[:, :3], frames) * dt
    points, normals = contact.pos[solved, :width], frames[:, 0, :width]
    return pairs[:, 0], pairs[:, 1], points, normals, contact.dist[solved], impulses[:, :width]


def _check_warnings(data: Any) -> None:
    counts = data.warning.number
    for name in ("BADQPOS", "BADQVEL", "BADQACC"):
        if counts[getattr(mujoco.mjtWarning, f"mjWARN_{name}")]:
            raise NotFiniteError(f"MuJoCo warned {name} (not finite, or above 1e10) by {data.time:.4g} s")
    for name in ("CONTACTFULL", "CNSTRFULL"):
        if counts[getattr(mujoco.mjtWarning, f"mjWARN_{name}")]:
            raise MemoryError(f"MuJoCo warned {name}: it dropped contacts for want of memory by {data.time:.4g} s")

"""PhysX 5 by way of SAPIEN: projected Gauss-Seidel with small time steps (TGS), maximal coordinates, single precision.

What makes a comparison unfair, and what is done about it (PhysX 5.3 and SAPIEN documentation; measured with sapien
3.0.3, which has PhysX 5.3.1):
- Planar scenes are prisms 1 m deep that neither turn about x and y nor move along z; a planar hinge holds x and y
  alone.
- Friction and restitution of a pair are the mean of two materials' values: SAPIEN has no other rule. Where no values
  give every pair its own, the scene is declined.
- By default an impact below 2 m/s has no restitution (a cradle's last ball is 0.8 m/s off), spins are cut off at
  100 rad/s and fade by 5 % a second, and bodies sleep. Fair has none of these, and more sweeps.
- SAPIEN's limits of a joint's swing do nothing: the axis of a joint is kept at two points of it, so far apart that what
  keeps the second hardly moves the first. A drive across the axis is a spring: stopped at its limits, an arm bent by
  14 mrad across its hinges, and had 9 J of it back.
- PhysX's drives, by small time steps, are off by up to 1 cm of a motion of 1 m in 2 s, whatever the step: springs,
  damping and motors of joints act on the bodies.
- Bodies joined by a joint never collide: joints that let them are declined.
- A step first changes the velocity, then moves with it: in free flight the velocity is the true one dt/2 before.
- Contacts have their normal impulse and not that of friction: what may have friction is reported without one.
- An ellipsoid is the hull of points on it, of which PhysX keeps about 130; a bowl and a hollow sphere are meshes of
  triangles.
- SAPIEN warns on import that it found no Vulkan, with which it would draw.
"""

from __future__ import annotations

import importlib.metadata
import math
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy.optimize  # noqa: F401  the means of pairs are found with it: imported once, not in every simulation

from reference_engine.array_types import Array
from scenarios.native import Model
from scenarios.scene import Scene, SpatialScene
from scenarios.shapes import simple_shapes
from validation.engines import LOADS
from validation.engines.engine import SINGLE, Setting, Settings, SteppingEngine, Value, able
from validation.engines.physx.queries import QUERIES
from validation.engines.relations import repeats, unchanged_when
from validation.engines.shared.embedding import (
    given_in_space,
    quaternion_product,
    rotation_matrix,
    vector_in_space,
)
from validation.engines.shared.frame_motors import ends_of_travel, limit_fault
from validation.engines.shared.maximal_coordinates import BodyState, JointFrames, MaximalWorld, from_x_to, joint_frames
from validation.engines.shared.pair_laws import PairLaws, no_values
from validation.engines.shared.recorder import World
from validation.engines.shared.separation import SweptFunction, is_sweep
from validation.engines.shared.spatial_pieces import Piece, facet_settings, spatial_pieces, wall_of
from validation.engines.takes import (
    COMPOUND,
    DRIVES,
    GIVEN_MOTION,
    HINGES,
    LIMITS,
    MARGIN,
    PLANAR,
    SHAPES,
    SOLVER,
    SPATIAL,
    TIES,
    WALLS,
)

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import sapien
    from sapien import physx

    from validation.engines.physx.native import NativeWorld, described


UPRIGHT, UNSCALED = np.array([1.0, 0.0, 0.0, 0.0]), [1.0, 1.0, 1.0]
IN_PLANE = [False, False, True, True, True, False]  # the motions that are locked: x, y, z, and about them
X_TO_Z = [math.sqrt(0.5), 0.0, -math.sqrt(0.5), 0.0]  # of PhysX's capsule and cylinder, which lie along x
SCENE_OPTIONS = (
    "bounce_threshold", "enable_tgs", "enable_pcm", "enable_friction_every_iteration", "enable_enhanced_determinism",
)  # fmt: skip
BODY_OPTIONS = [
    "solver_position_iterations", "solver_velocity_iterations", "sleep_threshold", "linear_damping",
    "angular_damping",
]  # fmt: skip
STATE = 13  # floats of a body in `pack`: quaternion w-x-y-z, position, velocity, spin
# What a joint lets free of x, y, z, the turn about x and those across it; x is the joint's axis. A planar joint leaves
# alone what a planar body cannot do.
FREE = {
    "revolute": (True, False, False, True, True),
    "prismatic": (True, False, True, True, False),
    "ball": (False, False, False, True, True),
    "hinge": (False, False, False, True, False),
    "slider": (True, False, False, False, False),
    "fixed": (False, False, False, False, False),
}
FAR = 5.0  # radii of gyration: to the second point of an axis
MOST_CORNERS = 64  # of a hull: PhysX leaves some out of larger ones

TAKES = PLANAR | SPATIAL | SOLVER | SHAPES | COMPOUND | WALLS | HINGES | TIES
TAKES |= {"restitution", "concave-polygon", "joints", "joints.b"}
TAKES |= DRIVES | LIMITS | GIVEN_MOTION | MARGIN | {"fixed"}
BECAUSE = {
    "joints.friction": "SAPIEN has no dry friction of joints",
    "arc-polygon": "PhysX has no shape with arc edges; a polygon would be another scene",
    "compliant": "SAPIEN's materials have no stiffness",
    "joints.collide": "PhysX lets bodies joined by a joint pass through each other, and SAPIEN has no way to change it",
}

SETTINGS: dict[str, Setting] = {
    "solver_position_iterations": Setting(default=10, low=1, high=255, fuzzed="more", doc="sweeps for the positions"),
    "solver_velocity_iterations": Setting(
        default=1, low=0, high=255, fuzzed="more", doc="sweeps for the velocities after them"
    ),
    "enable_tgs": Setting(default=True, doc="each sweep is a small time step; false: plain Gauss-Seidel"),
    "enable_pcm": Setting(default=True, doc="contacts are kept and completed; false: found anew by separating axes"),
    "enable_friction_every_iteration": Setting(default=True, doc="friction in every sweep, or in the last ones"),
    "enable_enhanced_determinism": Setting(default=False, doc="bodies far away do not change the order of contacts"),
    "bounce_threshold": Setting(
        default=2.0, low=1e-6, high=1e6, fuzzed="less", doc="slower impacts have no restitution, m/s"
    ),
    "contact_offset": Setting(default=0.01, low=1e-6, high=10.0, doc="contacts are made up to this gap, m"),
    "sleep_threshold": Setting(
        default=0.005, low=0.0, high=1e6, fuzzed="less", doc="bodies with less energy a kg sleep, m^2/s^2"
    ),
    "linear_damping": Setting(default=0.0, low=0.0, high=1e3, doc="share of the velocity that is lost, 1/s"),
    "angular_damping": Setting(default=0.05, low=0.0, high=1e3, doc="likewise of the spin, 1/s"),
    **facet_settings(ellipsoid=2),
}
FAIR: dict[str, Value] = {
    "solver_position_iterations": 40,
    "bounce_threshold": 1e-4,
    "sleep_threshold": 0.0,
    "angular_damping": 0.0,
    "enable_enhanced_determinism": True,
}
if hasattr(physx.PhysxRigidDynamicComponent, "max_angular_velocity"):  # SAPIEN 3.0.0 has it not
    BODY_OPTIONS.append("max_angular_velocity")
    SETTINGS["max_angular_velocity"] = Setting(
        default=100.0, low=1e-3, high=1e12, fuzzed="more", doc="faster spin is cut off, rad/s"
    )
    FAIR["max_angular_velocity"] = 1e6

RELATIONS = (
    *repeats("actors that are inserted in one order into a new scene move alike; PxSceneFlag, enhanced determinism"),
    *unchanged_when(
        "joined by a body far away",
        agree="bits",
        promise="actors that do not interfere change nothing; PxSceneFlag, enhanced determinism",
        settings={"enable_enhanced_determinism": True},
    ),
)


class PhysX(SteppingEngine):
    name = "physx"
    version = importlib.metadata.version("sapien")
    round_off = SINGLE
    relations = RELATIONS
    settings, fair = SETTINGS, FAIR
    profiles = ("default", "fair")
    takes, because = TAKES, BECAUSE
    abilities = able(
        set_state="to single precision",
        apply_force="constant over the step",
        options="of its scene",
    )
    queries = QUERIES
    loads = LOADS["physx"]

    def cannot(self, scene: Scene) -> str | None:
        if reason := no_values("PhysX", PairLaws(scene), friction="mean", restitution="mean"):
            return reason
        shapes = (shape for body in scene.bodies for shape in simple_shapes(body.shape))
        if any(len(getattr(shape, "points", ())) > MOST_CORNERS for shape in shapes):
            return f"PhysX leaves corners out of a hull of more than {MOST_CORNERS}"
        return limit_fault("PhysX", scene)

    def build(self, scene: Scene, dt: float, settings: Settings) -> World:
        if isinstance(scene, SpatialScene) and scene.native is not None:
            world = NativeWorld(scene, dt)
            return SweptFunction(world, scene, dt) if is_sweep(scene) else world
        return PhysXWorld(scene, dt, settings)

    def describe(self, model: Model, duration: float, title: str, settings: Settings) -> SpatialScene:
        return described(model, duration, title)


class PhysXWorld(MaximalWorld):
    def __init__(self, scene: Scene, dt: float, settings: Settings) -> None:
        super().__init__(scene, dt)
        self.velocity_lag = -dt / 2
        self._settings = settings
        config = physx.PhysxSceneConfig()
        config.gravity = vector_in_space(scene.gravity)
        for name in SCENE_OPTIONS:
            setattr(config, name, settings[name])
        physx.set_scene_config(config)  # of the process; what is made next has it
        self._system = physx.PhysxCpuSystem()
        self._system.timestep = dt
        self._scene = sapien.Scene([self._system])
        friction, restitution = (self.laws.shape_values(q, "mean") for q in ("friction", "restitution"))
        assert friction is not None and restitution is not None, "declined before"
        self._materials = [physx.PhysxMaterial(mu, mu, e) for mu, e in zip(friction, restitution)]
        self._member: dict[Any, int] = {}
        self._bodies: list[Any] = []
        self._add_bodies()
        self._add_boundaries()
        packed = sorted(self.moving)  # in the order in which they were added
        self._rows = [packed.index(i) for i in self.moving]
        for joint in self.effective_joints():
            self._add_joint(joint)

    def _set_offsets(self, shape: Any, member: Any) -> None:
        """PhysX adds up the offsets of two shapes; contacts have to be made before they rest."""
        stands_off = member.margin or 0.0
        shape.contact_offset = float(self._settings["contact_offset"]) + stands_off
        if stands_off:
            shape.rest_offset = stands_off

    # --- bodies and boundaries ------------------------------------------------------------------------

    def _add_bodies(self) -> None:
        position, orientation, velocity, spin = self.in_space
        group = {number: k for k, number in enumerate(sorted({body.group for body in self.scene.bodies}))}
        bodies: Sequence[Any] = self.scene.bodies
        for i, body in enumerate(bodies):
            moves = not body.fixed or body.motion is not None
            made = physx.PhysxRigidDynamicComponent() if moves else physx.PhysxRigidStaticComponent()
            for piece in spatial_pieces(body.shape, int(self._settings["ellipsoid_subdivisions"])):
                shape = _shape(piece, self._materials[i])
                self._set_offsets(shape, body)
                if body.group:  # those of one group, in bits 2 and 3, pass through each other
                    shape.set_collision_groups([1, 1, 1, group[body.group]])
                made.attach(shape)
            if not body.fixed:
                made.mass, made.inertia, made.cmass_local_pose = float(self.mass[i]), self.inertia[i], sapien.Pose()
                for name in BODY_OPTIONS:
                    setattr(made, name, self._settings[name])
                if self.planar:
                    made.set_locked_motion_axes(IN_PLANE)
            if body.motion is not None:
                made.kinematic = True
            self._add(made, i, position[i], orientation[i])
            if not body.fixed:
                made.linear_velocity, made.angular_velocity = velocity[i], spin[i]
            self._bodies.append(made)

    def _add_boundaries(self) -> None:
        for j, boundary in enumerate(self.scene.boundaries, start=len(self.scene.bodies)):
            wall, material, turned = wall_of(boundary, self._settings), self._materials[j], UPRIGHT
            shape: Any
            if wall.normal is not None:
                shape, turned = physx.PhysxCollisionShapePlane(material), from_x_to(wall.normal)
            else:
                shape = physx.PhysxCollisionShapeTriangleMesh(
                    wall.vertices.astype(np.float32), wall.triangles.astype(np.uint32), UNSCALED, material
                )
            self._set_offsets(shape, boundary)
            made = physx.PhysxRigidStaticComponent()
            made.attach(shape)
            self._add(made, j, wall.origin, turned)

    def _add(self, component: Any, member: int, position: Array, orientation: Array) -> None:
        entity = sapien.Entity()
        entity.add_component(component)
        entity.pose = sapien.Pose(position, orientation)
        self._scene.add_entity(entity)
        self._member[component] = member

    def _add_joint(self, joint: Any) -> None:
        f = joint_frames(self.scene, joint)
        a: tuple[Any, ...] = (f.a, f.anchor_a, f.frame_a)
        b: tuple[Any, ...] = (f.b, f.anchor_b, f.frame_b)
        child, parent = (b, a) if self.scene.bodies[f.a].fixed else (a, b)  # a joint belongs to what can move
        if joint.kind in ("rod", "rope"):
            made = self._component(physx.PhysxDistanceJointComponent, child, parent, 0.0)
            made.set_limit(joint.length if joint.kind == "rod" else 0.0, joint.length)
            return
        x, y, z, twist, swing = (math.inf if free else 0.0 for free in FREE[joint.kind])
        made = self._component(physx.PhysxDriveComponent, child, parent, 0.0)
        _lock(made, x, y, z, twist)
        if getattr(joint, "limits", None) is not None:
            low, high = ends_of_travel(self.scene, joint)
            low, high = (low, high) if child is b else (-high, -low)
            (made.set_limit_x if joint.kind == "slider" else made.set_limit_twist)(low, high)
        if swing == 0.0:
            second = self._component(physx.PhysxDriveComponent, child, parent, self._arm(f))
            _lock(second, math.inf, y, z, math.inf)

    def _component(self, kind: Any, child: tuple[Any, ...], parent: tuple[Any, ...], along: float) -> Any:
        """Ends are the number of a body, or None, and a frame in it; `along`: m, from there along its x."""
        body = self._bodies[child[0]]
        made = kind(body)
        if parent[0] is not None:
            made.parent = self._bodies[parent[0]]
        poses = (sapien.Pose(at + along * rotation_matrix(frame)[:, 0], frame) for _, at, frame in (child, parent))
        made.pose_in_child, made.pose_in_parent = poses
        body.entity.add_component(made)
        return made

    def _arm(self, f: JointFrames) -> float:
        """m, to the second point of a joint's axis, by the radius of gyration about it of what turns more easily."""
        ends = [(i, anchor) for i, anchor in ((f.a, f.anchor_a), (f.b, f.anchor_b)) if i is not None]
        free = [(i, anchor) for i, anchor in ends if not self.scene.bodies[i].fixed]
        squares = (float(self.inertia[i].max()) / float(self.mass[i]) + float(anchor @ anchor) for i, anchor in free)
        return FAR * math.sqrt(min(squares))

    # --- stepping and reading --------------------------------------------------------------------------

    def advance(self) -> None:
        for i in self.given:
            position, orientation, *_ = given_in_space(self.scene.bodies[i], (self.steps + 1) * self.dt)
            self._bodies[i].set_kinematic_target(sapien.Pose(position, orientation))
        self._system.step()

    def body_states(self) -> Iterator[BodyState]:
        rows = np.frombuffer(self._system.pack(), np.float32).reshape(-1, STATE).tolist()
        for row in (rows[k] for k in self._rows) if self.given else rows:
            yield row[4:7], row[:4], row[7:10], row[10:]

    def apply_wrench(self, body: int, force: Array, torque: Array) -> None:
        self._bodies[body].add_force_torque(force, torque)

    def set_body_state(self, body: int, position: Array, orientation: Array, velocity: Array, spin: Array) -> None:
        rows = np.frombuffer(self._system.pack(), np.float32).reshape(-1, STATE).copy()
        rows[self._rows[self.moving.index(body)]] = np.concatenate([orientation, position, velocity, spin])
        self._system.unpack(rows.tobytes())

    def options(self) -> dict[str, Any]:
        config = self._system.config
        return {name: getattr(config, name) for name in SCENE_OPTIONS}

    def contacts(self) -> Sequence[Any] | None:
        """Of the last step; normal impulses, where there is no friction to add to them."""
        rows: list[tuple[Any, ...]] = []
        for contact in self._system.get_contacts():
            second, first = (self._member[body] for body in contact.bodies)  # PhysX's normal points to its first
            known = 1.0 if self.laws.of(first, second)[0] == 0.0 else math.nan
            rows += [(first, second, p.position, p.normal, p.separation, known * p.impulse) for p in contact.points]
        return self.contact_rows(rows)


def _lock(made: Any, x: float, y: float, z: float, twist: float) -> None:
    """What is 0 is kept, what is infinite is free; so is what turns the x axis."""
    made.set_limit_x(-x, x)
    made.set_limit_y(-y, y)
    made.set_limit_z(-z, z)
    made.set_limit_twist(-twist, twist)


def _shape(piece: Piece, material: Any) -> Any:
    made: Any
    match piece.kind:
        case "sphere":
            made = physx.PhysxCollisionShapeSphere(*piece.size, material)
            made.local_pose = sapien.Pose(piece.center)
        case "box":
            made = physx.PhysxCollisionShapeBox(piece.size, material)
            made.local_pose = sapien.Pose(piece.center, piece.quaternion)
        case "capsule" | "cylinder":
            lies = physx.PhysxCollisionShapeCapsule if piece.kind == "capsule" else physx.PhysxCollisionShapeCylinder
            made = lies(*piece.size, material)
            turned = quaternion_product(np.array(piece.orientation), np.array(X_TO_Z)) if piece.is_turned else X_TO_Z
            made.local_pose = sapien.Pose(piece.center, turned)
        case "hull":
            made = physx.PhysxCollisionShapeConvexMesh(piece.points.astype(np.float32), UNSCALED, material)
    return made

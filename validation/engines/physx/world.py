"""A scene as a PhysX world."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import sapien
from numpy.typing import NDArray
from sapien import physx

from scenarios.scene import Scene
from validation.engines.engine import Settings
from validation.engines.shared.embedding import turned_about_z, vector_in_space
from validation.engines.shared.maximal_coordinates import BodyState, MaximalWorld, from_x_to, joint_frames
from validation.engines.shared.solid_pieces import Piece, solid_pieces, wall_of

Array = NDArray[np.float64]

UPRIGHT, UNSCALED = np.array([1.0, 0.0, 0.0, 0.0]), [1.0, 1.0, 1.0]
IN_PLANE = [False, False, True, True, True, False]  # the motions that are locked: x, y, z, and about them
X_TO_Z = [math.sqrt(0.5), 0.0, -math.sqrt(0.5), 0.0]  # of PhysX's capsule and cylinder, which lie along x
SCENE_OPTIONS = (
    "bounce_threshold",
    "enable_tgs",
    "enable_pcm",
    "enable_friction_every_iteration",
    "enable_enhanced_determinism",
)
BODY_OPTIONS = (
    "solver_position_iterations",
    "solver_velocity_iterations",
    "sleep_threshold",
    "linear_damping",
    "angular_damping",
    "max_angular_velocity",
)
STATE = 13  # floats of a body in `pack`: quaternion w-x-y-z, position, velocity, spin
# What a joint lets free of x, y, z, the turn about x and those across it; x is the joint's axis. A planar joint leaves
# alone what a planar body cannot do.
FREE = {
    "revolute": (True, False, False, True, True),
    "prismatic": (True, False, True, True, False),
    "ball": (False, False, False, True, True),
    "hinge": (False, False, False, True, False),
    "slider": (True, False, False, False, False),
}


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
        for joint in self.held_joints():
            self._add_joint(joint)

    # --- bodies and boundaries ------------------------------------------------------------------------

    def _add_bodies(self) -> None:
        position, orientation, velocity, spin = self.start
        group = {number: k for k, number in enumerate(sorted({body.group for body in self.scene.bodies}))}
        bodies: Sequence[Any] = self.scene.bodies
        for i, body in enumerate(bodies):
            made = physx.PhysxRigidStaticComponent() if body.fixed else physx.PhysxRigidDynamicComponent()
            for piece in solid_pieces(body.shape, int(self._settings["ellipsoid_subdivisions"])):
                shape = _shape(piece, self._materials[i])
                shape.contact_offset = self._settings["contact_offset"]
                if body.group:  # those of one group, in bits 2 and 3, pass through each other
                    shape.set_collision_groups([1, 1, 1, group[body.group]])
                made.attach(shape)
            if not body.fixed:
                made.mass, made.inertia, made.cmass_local_pose = float(self.mass[i]), self.inertia[i], sapien.Pose()
                for name in BODY_OPTIONS:
                    setattr(made, name, self._settings[name])
                if self.planar:
                    made.set_locked_motion_axes(IN_PLANE)
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
                shape = physx.PhysxCollisionShapeTriangleMesh(wall.vertices, wall.triangles, UNSCALED, material)
            shape.contact_offset = self._settings["contact_offset"]
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
        body = self._bodies[child[0]]
        ties = joint.kind in ("rod", "rope")
        made = physx.PhysxDistanceJointComponent(body) if ties else physx.PhysxDriveComponent(body)
        if parent[0] is not None:
            made.parent = self._bodies[parent[0]]
        made.pose_in_child, made.pose_in_parent = (sapien.Pose(*end[1:]) for end in (child, parent))
        if ties:
            made.set_limit(joint.length if joint.kind == "rod" else 0.0, joint.length)
        else:
            x, y, z, twist, swing = (math.inf if free else 0.0 for free in FREE[joint.kind])
            made.set_limit_x(-x, x)
            made.set_limit_y(-y, y)
            made.set_limit_z(-z, z)
            made.set_limit_twist(-twist, twist)
            made.set_limit_cone(swing, swing)
        body.entity.add_component(made)

    # --- stepping and reading --------------------------------------------------------------------------

    def advance(self) -> None:
        self._system.step()

    def body_states(self) -> Iterator[BodyState]:
        for row in np.frombuffer(self._system.pack(), np.float32).reshape(-1, STATE).tolist():
            yield row[4:7], row[:4], row[7:10], row[10:]

    def push(self, body: int, force: Array, torque: Array) -> None:
        self._bodies[body].add_force_torque(force, torque)

    def place(self, body: int, position: Array, orientation: Array, velocity: Array, spin: Array) -> None:
        rows = np.frombuffer(self._system.pack(), np.float32).reshape(-1, STATE).copy()
        rows[self.free.index(body)] = np.concatenate([orientation, position, velocity, spin])
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


def _shape(piece: Piece, material: Any) -> Any:
    made: Any
    match piece.kind:
        case "sphere":
            return physx.PhysxCollisionShapeSphere(*piece.size, material)
        case "box":
            made = physx.PhysxCollisionShapeBox(piece.size, material)
            made.local_pose = sapien.Pose(piece.center, turned_about_z(piece.angle))
        case "capsule" | "cylinder":
            lies = physx.PhysxCollisionShapeCapsule if piece.kind == "capsule" else physx.PhysxCollisionShapeCylinder
            made = lies(*piece.size, material)
            made.local_pose = sapien.Pose(q=X_TO_Z)
        case "hull":
            made = physx.PhysxCollisionShapeConvexMesh(piece.points.astype(np.float32), UNSCALED, material)
    return made

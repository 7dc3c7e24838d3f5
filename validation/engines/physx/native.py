"""A sapien.Scene that a function of the user's own has built: described, stepped by PhysX as it is, and read."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import sapien
from sapien import physx

from reference_engine.array_types import Array
from reference_engine.dense import mul
from scenarios import mass
from scenarios.native import Model
from scenarios.scene import SpatialScene
from validation.engines.engine import ModelError, Value
from validation.engines.shared import recorder
from validation.engines.shared.functions import built, in_double
from validation.engines.shared.maximal_coordinates import from_x_to
from validation.engines.shared.spatial_description import (
    BodyState,
    Frame,
    FunctionWorld,
    Gathered,
    Member,
    Tie,
    deep,
    frame_of,
    placed,
    set_up_in,
    shifts,
)

RULES = {"friction_rule": "mean", "restitution_rule": "mean"}
KINDS = {"revolute": "hinge", "revolute_unwrapped": "hinge", "prismatic": "slider", "fixed": "fixed"}
"""Of an articulation's joint, by PhysX's name; its axis is x of its frames."""
X_AXIS = np.array([1.0, 0.0, 0.0])
BITS = 2**31 - 1


class Described:
    """A scene of SAPIEN and ours of it. Raises ModelError, SceneError."""

    def __init__(self, given: Model, duration: float, title: str) -> None:
        physx.set_scene_config(physx.PhysxSceneConfig())  # of the process: the function finds PhysX as it comes
        self.world, self.step = built(given, sapien.Scene, "sapien.Scene", lambda world: in_double(world.timestep))
        self.system: Any = self.world.physx_system
        if not isinstance(self.system, physx.PhysxCpuSystem):
            raise ModelError(f"{given.function}: its scene has no PhysxCpuSystem; give it one")
        for link in self.system.articulation_link_components:
            if link.is_root:  # the links of a new articulation are nowhere until its coordinates are set
                link.articulation.qpos = link.articulation.qpos
        dynamic = [one for one in self.system.rigid_dynamic_components if not one.kinematic]
        links = [one for one in self.system.articulation_link_components if not _is_root_fixed(one)]
        self.bodies: list[Any] = [*dynamic, *links]
        others = [*self.system.rigid_static_components, *(one for one in self.system.articulation_link_components
                                                          if _is_root_fixed(one))]  # fmt: skip
        others += [one for one in self.system.rigid_dynamic_components if one.kinematic]
        self.row = {one: k for k, one in enumerate([*self.bodies, *others])}
        self.gathered = Gathered(str(given.function))
        self._move_apart(given, dynamic)
        for k, one in enumerate([*self.bodies, *others]):
            self.gathered.members.append(_member(one, k, fixed=k >= len(self.bodies)))
            self.gathered.check(self.gathered.members[-1])
        self.member: dict[Any, int] = dict(self.row)
        self._add_shapes()
        self._add_joints()
        self._name_forces()
        gravity = [float(c) for c in physx_gravity(self.system)]
        scene, self.frames = self.gathered.scene(given, duration, title, self.step, gravity, RULES)
        self.scene: SpatialScene = set_up_in(scene, self.frames, self.set_body)

    def set_body(self, k: int, position: Array, orientation: Array, velocity: Array, spin: Array) -> None:
        """Of a member that moves, in its own frame; the velocity of its centre of mass."""
        self.bodies[k].entity.pose = sapien.Pose(position, orientation)
        self.bodies[k].linear_velocity, self.bodies[k].angular_velocity = velocity, spin

    def _move_apart(self, given: Model, dynamic: list[Any]) -> None:
        count = len(self.bodies)
        still = range(len(dynamic), count)  # links: their articulation's coordinates are the user's
        for body, shift in zip(self.bodies, shifts(given, count, (), still)):
            if shift.any():
                pose = body.entity.pose
                body.entity.pose = sapien.Pose(np.asarray(pose.p) + shift, pose.q)

    # --- shapes ---

    def _add_shapes(self) -> None:
        gathered, owner = self.gathered, itertools.count()
        grouped: list[tuple[int, tuple[int, ...]]] = []
        for component, k in self.row.items():
            member = gathered.members[k]
            moved = bool(getattr(component, "kinematic", False))
            if moved:
                gathered.leave_out(f"a kinematic body, {member.title}")
                continue
            for shape in component.collision_shapes:
                number, groups = next(owner), [int(one) for one in shape.collision_groups]
                grouped.append((number, tuple(groups)))
                bits = (groups[0] & BITS, groups[1] & BITS, number)
                material = shape.physical_material
                law = (max(float(material.static_friction), float(material.dynamic_friction)),
                       float(material.restitution))  # fmt: skip
                local = _pose(shape.local_pose)
                if isinstance(shape, physx.PhysxCollisionShapePlane):
                    if member.fixed:
                        frame = placed(_pose(component.entity.pose), local)
                        gathered.add_plane(member.title, frame[0], mul(frame[1], X_AXIS), law, bits)
                        self.member[component] = -len(gathered.planes)  # counted after all members
                    continue
                described = _shape(shape)
                if described is None:
                    gathered.leave_out(f"a shape of {member.title}, {type(shape).__name__}")
                    continue
                for data, own in described:
                    gathered.add(k, data, placed(local, own), law, bits)
                if material.static_friction != material.dynamic_friction:
                    gathered.unmeasured[f"static friction of {member.title} that is not the dynamic one"] = None
        for (a, of_a), (b, of_b) in itertools.combinations(grouped, 2):
            if of_a[2] & of_b[2] and (of_a[3] & 0xFFFF) == (of_b[3] & 0xFFFF):
                gathered.apart.add((a, b))
        empty = [k for k, one in enumerate(gathered.members) if one.fixed and not one.pieces]
        self._leave_out_members(empty)

    def _leave_out_members(self, empty: list[int]) -> None:
        """Of those that do not move: what has no shape is no member of a scene, unless a joint needs it."""
        tied = {self.row[one.joint.parent_link] for one in self.bodies if _has_parent(one)}
        leave = [k for k in empty if k not in tied]
        needed = [k for k in range(len(self.gathered.members)) if k not in leave]
        number = {old: new for new, old in enumerate(needed)}
        self.gathered.members = [self.gathered.members[k] for k in needed]
        self.row = {one: number[k] for one, k in self.row.items() if k in number}
        planes = len(needed) - 1
        self.member = {
            one: (planes - k if k < 0 else number[k]) for one, k in self.member.items() if k < 0 or k in number
        }

    # --- joints and forces ---

    def _add_joints(self) -> None:
        gathered = self.gathered
        gathered.tied |= {self.row[one] for one in self.bodies if _is_link(one)}
        for one in self.bodies:
            if not _has_parent(one):
                continue
            joint, k = one.joint, self.row[one]
            parent = joint.parent_link
            shapes = ([bits[2] for bits in gathered.members[self.row[side]].filters] for side in (one, parent))
            gathered.apart |= {(min(pair), max(pair)) for pair in itertools.product(*shapes)}
            title = str(joint.name) or f"joint of {gathered.members[k].title}"
            kind = KINDS.get(str(joint.type))
            if kind is None:
                gathered.unmeasured[f"{title}: how far it opens"] = None
                gathered.acted_on |= {k}
                continue
            at_child = placed(_pose(one.entity.pose), _pose(joint.pose_in_child))
            at_parent = placed(_pose(parent.entity.pose), _pose(joint.pose_in_parent))
            axis = mul(at_child[1], X_AXIS) if kind != "fixed" else None
            gathered.ties.append(Tie(kind=kind, title=title, a=k, b=self.row[parent], on_a=at_child[0],
                                     on_b=at_parent[0], axis=axis))  # fmt: skip
        loose = [one for entity in self.world.entities for one in entity.components
                 if isinstance(one, physx.PhysxJointComponent)]  # fmt: skip
        for joint in loose:
            title = joint.entity.name or "an entity"
            gathered.unmeasured[f"{type(joint).__name__} of {title}: how far it opens"] = None
        if loose:
            gathered.act_on_all()
            gathered.tied |= set(range(len(self.bodies)))
            gathered.conserves = False

    def _name_forces(self) -> None:
        gathered = self.gathered
        driven = [one.joint for one in self.bodies if _has_parent(one) and one.joint.dof]
        acting = {
            "drives of joints": [j for j in driven if np.any(j.stiffness) or np.any(j.damping)],
            "friction of joints": [j for j in driven if np.any(j.friction)],
            "armature of joints": [j for j in driven if np.any(j.armature)],
            "limits of joints": [j for j in driven if np.isfinite(np.asarray(j.limits)).any()],
        }
        for what, joints in acting.items():
            gathered.name(what, (str(j.name) for j in joints))
        if acting["drives of joints"] or acting["armature of joints"]:
            gathered.conserves = False
        if any(acting.values()):
            gathered.acted_on |= {self.row[one] for one in self.bodies if _is_link(one)}
        titles = [gathered.members[self.row[one]].title for one in self.bodies]
        damped = [k for k, one in enumerate(self.bodies) if one.linear_damping or one.angular_damping]
        gathered.name("damping of motion of bodies", (titles[k] for k in damped))
        weightless = [k for k, one in enumerate(self.bodies) if one.disable_gravity]
        gathered.name("bodies without weight", (titles[k] for k in weightless))
        locked = [k for k, one in enumerate(self.bodies) if any(getattr(one, "locked_motion_axes", ()))]
        gathered.name("motions of bodies that are locked", (titles[k] for k in locked))
        gathered.acted_on |= {*damped, *weightless, *locked}
        if weightless:
            gathered.conserves = False


def physx_gravity(system: Any) -> Any:
    return system.config.gravity


def described(given: Model, duration: float, title: str) -> SpatialScene:
    """The scene, which says how deep its bodies start in one another; its world is stepped once for that."""
    found = Described(given, duration, title)
    found.system.step()
    rows = _contacts(found.system, found.member)
    return deep(found.scene, ((a, b, gap) for a, b, _, _, gap, _ in rows))


class NativeWorld(FunctionWorld):
    def __init__(self, scene: SpatialScene, dt: float) -> None:
        assert scene.native is not None
        found = Described(scene.native.model, scene.duration, scene.title)
        super().__init__(scene, dt, found.scene, found.frames)
        self._found = found
        self.velocity_lag = -dt / 2
        self._world = found.world  # which its parts do not keep alive
        self._system, self._bodies, self._member = found.system, found.bodies, found.member
        self._can_be_set = not any(_is_link(one) for one in self._bodies)
        self._system.timestep = dt

    def advance(self) -> None:
        self._system.step()

    def body_states(self) -> Iterator[BodyState]:
        for one in self._bodies:
            pose = one.entity_pose
            yield pose.p.tolist(), pose.q.tolist(), one.linear_velocity.tolist(), one.angular_velocity.tolist()

    def set_body_state(self, k: int, position: Array, orientation: Array, velocity: Array, spin: Array) -> None:
        self._found.set_body(k, position, orientation, velocity, spin)

    def push(self, k: int, force: Array, point: Array | None) -> None:
        if point is None:
            self._bodies[k].add_force_torque(force, np.zeros(3))
        else:
            self._bodies[k].add_force_at_point(force, point)

    def contacts(self) -> recorder.Rows | None:
        rows = [(a, b, point, normal, gap, np.full(3, np.nan)) for a, b, point, normal, gap, _ in
                _contacts(self._system, self._member)]  # fmt: skip
        return [np.array(part) for part in zip(*rows)] if rows else None

    def options(self) -> dict[str, Value]:
        config = self._system.config
        known = (bool, int, float, str)
        found = {name: getattr(config, name) for name in dir(config) if name[0] != "_"}
        return {name: value for name, value in found.items() if isinstance(value, known)}


def _contacts(system: Any, member: dict[Any, int]) -> list[tuple[Any, ...]]:
    """a, b, point, normal, gap and impulse along it of the last step; PhysX's normal points to its first."""
    rows = []
    for contact in system.get_contacts():
        second, first = (member.get(body, -1) for body in contact.bodies)
        if min(first, second) >= 0 and first != second:
            rows += [(first, second, p.position, p.normal, p.separation, p.impulse) for p in contact.points]
    return rows


def _is_link(component: Any) -> bool:
    return isinstance(component, physx.PhysxArticulationLinkComponent)


def _is_root_fixed(link: Any) -> bool:
    return bool(link.is_root) and str(link.joint.type) == "fixed"


def _has_parent(component: Any) -> bool:
    return _is_link(component) and component.joint.parent_link is not None


def _pose(pose: Any) -> Frame:
    return frame_of(np.asarray(pose.p, np.float64).tolist(), np.asarray(pose.q, np.float64).tolist())


def _member(one: Any, k: int, *, fixed: bool) -> Member:
    title, frame = one.entity.name or f"body {k}", _pose(one.entity.pose)
    if fixed:
        return Member(title=title, frame=frame, fixed=True)
    centre, axes = _pose(one.cmass_local_pose)
    return Member(
        title=title,
        frame=frame,
        mass=float(one.mass),
        centre=centre,
        tensor=mul(axes * np.asarray(one.inertia, np.float64), axes.T),
        velocity=np.asarray(one.linear_velocity, np.float64),
        spin=np.asarray(one.angular_velocity, np.float64),
    )


def _shape(shape: Any) -> list[tuple[dict[str, Any], Frame]] | None:
    """In its own frame; None of what has no counterpart."""
    still = np.zeros(3), np.eye(3)
    turned = np.zeros(3), mass.rotation_matrix(from_x_to(np.array([0.0, 0.0, 1.0])).tolist()).T
    match shape:
        case physx.PhysxCollisionShapeSphere():
            return [({"kind": "sphere", "radius": float(shape.radius)}, still)]
        case physx.PhysxCollisionShapeBox():
            return [({"kind": "box", "size": [2.0 * float(h) for h in shape.half_size]}, still)]
        case physx.PhysxCollisionShapeCapsule() | physx.PhysxCollisionShapeCylinder():
            kind = "capsule" if isinstance(shape, physx.PhysxCollisionShapeCapsule) else "cylinder"
            size = {"radius": float(shape.radius), "length": 2.0 * float(shape.half_length)}
            return [({"kind": kind, **size}, turned)]  # along x
        case physx.PhysxCollisionShapeConvexMesh():
            points = np.asarray(shape.vertices, np.float64) * np.asarray(shape.scale, np.float64)
            return [({"kind": "convex-mesh", "points": points.tolist()}, still)]
    return None

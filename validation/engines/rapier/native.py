"""A rapier3d.PhysicsWorld that a function of the user's own has built: described, stepped by itself, and read."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
import rapier3d as rapier
from rapier3d import JointAxesMask as Axes

from reference_engine.array_types import Array
from reference_engine.dense import mul, norm
from scenarios import mass
from scenarios.native import Model
from scenarios.scene import SpatialScene
from validation.engines.engine import NotFiniteError, Value
from validation.engines.rapier.contacts import contact_rows
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
    frame_of,
    placed,
    set_up_in,
    shifts,
)

RULES = {"AVERAGE": "mean", "MIN": "min", "MULTIPLY": "product", "MAX": "max"}
KINDS = (
    (Axes.LIN_AXES, "ball"),
    (Axes.LOCKED_REVOLUTE_AXES, "hinge"),
    (Axes.LOCKED_PRISMATIC_AXES, "slider"),
    (Axes.LOCKED_FIXED_AXES, "fixed"),
)
X_AXIS = np.array([1.0, 0.0, 0.0])
STILL = np.zeros(3), np.eye(3)
UNIT = 1e-4  # how far a normal may be from a length of 1
Y_TO_Z = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])  # columns: a cylinder's axes, which has y for z


class Described:
    """A world and our scene of it. Raises ModelError, SceneError."""

    def __init__(self, given: Model, duration: float, title: str) -> None:
        self.world, self.step = built(
            given,
            rapier.PhysicsWorld,
            "rapier3d.PhysicsWorld",
            lambda world: in_double(world.integration_parameters.dt),
        )
        self.world.set_num_threads(1)  # a forked process does not have its pool
        every = dict(self.world.rigid_bodies)
        moving = [handle for handle, body in every.items() if body.is_dynamic]
        still = [handle for handle, body in every.items() if not body.is_dynamic]
        self.handles, self.row = moving, {_key(handle): k for k, handle in enumerate([*moving, *still])}
        self.bodies = [every[handle] for handle in moving]
        self.gathered = Gathered(str(given.function), both=True)
        for k, handle in enumerate([*moving, *still]):
            self.gathered.members.append(_member(every[handle], k))
            self.gathered.check(self.gathered.members[-1])
        self._colliders = dict(self.world.colliders)
        self.rules = {
            "friction_rule": self._rule("friction"),
            "restitution_rule": self._rule("restitution"),
        }
        self.member: dict[tuple[int, int], int] = {}  # of each collider; planes are counted from -2 down
        self._add_shapes()
        moves = [self.gathered.members[self.row[_key(handle)]].title for handle in still if every[handle].is_kinematic]
        for one in moves:
            self.gathered.leave_out(f"a kinematic body, {one}")
        self._add_joints()
        self._name_forces()
        self._leave_out_empty()
        self._move_apart(given)
        scene, self.frames = self.gathered.scene(
            given, duration, title, self.step, self.world.gravity.to_tuple(), self.rules
        )
        self.scene: SpatialScene = set_up_in(scene, self.frames, self.set_body)

    def set_body(self, k: int, position: Array, orientation: Array, velocity: Array, spin: Array) -> None:
        """Of a member that moves, in its own frame; the velocity of its centre of mass."""
        placed_at = rapier.Isometry3(tuple(position.tolist()), rapier.Rotation3(*orientation.tolist()))
        self.bodies[k].position = placed_at
        self.bodies[k].linvel, self.bodies[k].angvel = tuple(velocity.tolist()), tuple(spin.tolist())

    def _move_apart(self, given: Model) -> None:
        members, count = self.gathered.members, len(self.bodies)
        tied = [(tie.a, tie.b) for tie in self.gathered.ties if tie.b is not None]
        free = [(a, b) for a, b in tied if a < count and b < count]
        held = [min(pair) for pair in tied if max(pair) >= count]
        for k, shift in enumerate(shifts(given, count, free, held)):
            if shift.any():
                at, axes = members[k].frame
                members[k].frame = at + shift, axes
                self.bodies[k].translation = tuple((at + shift).tolist())

    def _rule(self, what: str) -> str:
        """Of all colliders; where they have several, the one that is never too small."""
        found = {str(getattr(one, f"{what}_combine_rule")).rpartition(".")[2] for one in self._colliders.values()}
        if len(found) == 1 and (rule := RULES.get(*found)):
            return rule
        if found:
            self.gathered.unmeasured[f"{what} of pairs, by several rules: the larger is taken"] = None
        return "max"

    # --- shapes ---

    def _add_shapes(self) -> None:
        gathered = self.gathered
        for number, (handle, one) in enumerate(self._colliders.items()):
            if one.is_sensor or not one.is_enabled:
                continue
            parent = None if one.parent is None else self.row.get(_key(one.parent))
            if parent is None:  # of the world: a member that does not move
                title, local = f"collider {number}", STILL
                gathered.members.append(Member(title=title, frame=_frame(one.position), fixed=True))
                parent = len(gathered.members) - 1
            else:
                local = _frame(one.position_wrt_parent)
            groups = one.collision_groups
            bits = (int(groups.memberships.bits), int(groups.filter.bits), number)
            law, title = (float(one.friction), float(one.restitution)), gathered.members[parent].title
            if str(one.shape.shape_type).endswith("HALFSPACE"):
                normal = np.array(struct.unpack("<3f", one.shape.to_bytes()[-12:]))
                if abs(float(norm(normal)) - 1.0) > UNIT or not gathered.members[parent].fixed:
                    gathered.leave_out(f"a half-space of {title}")
                else:
                    frame = placed(gathered.members[parent].frame, local)
                    self.member[_key(handle)] = -2 - len(gathered.planes)
                    gathered.add_plane(title, frame[0], mul(frame[1], normal), law, bits)
                continue
            described = _shape(one.shape)
            if described is None:
                gathered.leave_out(f"a shape of {title}, {str(one.shape.shape_type).rpartition('.')[2].lower()}")
                continue
            self.member[_key(handle)] = parent
            gathered.add(parent, described[0], placed(local, described[1]), law, bits)

    def _leave_out_empty(self) -> None:
        """What does not move and has no shape is no member of a scene, unless a joint needs it."""
        tied = {end for tie in self.gathered.ties for end in (tie.a, tie.b)}
        members = self.gathered.members
        needed = [k for k, one in enumerate(members) if not one.fixed or one.pieces or k in tied]
        number = {old: new for new, old in enumerate(needed)}
        self.gathered.members = [members[k] for k in needed]
        planes = len(needed) - 2
        self.member = {one: number[k] if k >= 0 else planes - k for one, k in self.member.items()}
        for tie in self.gathered.ties:
            tie.a, tie.b = number[tie.a], None if tie.b is None else number[tie.b]

    # --- joints and forces ---

    def _add_joints(self) -> None:
        gathered, members = self.gathered, self.gathered.members
        owners = {k: [bits[2] for bits in one.filters] for k, one in enumerate(members)}
        for number, (_, joint) in enumerate(self.world.impulse_joints):
            data, ends = joint.data, [self.row[_key(joint.body1)], self.row[_key(joint.body2)]]
            title = f"joint {number}"
            gathered.tied |= {*ends}
            if not data.contacts_enabled:
                pairs = itertools.product(owners[ends[0]], owners[ends[1]])
                gathered.apart |= {(min(pair), max(pair)) for pair in pairs}
            kind = next((name for axes, name in KINDS if data.locked_axes == axes), None)
            if kind is None:
                gathered.unmeasured[f"{title}: how far it opens"] = None
                gathered.acted_on |= {k for k in ends if not members[k].fixed}
                continue
            own = (data.local_frame1, data.local_frame2)
            frames = [placed(members[k].frame, _frame(frame)) for k, frame in zip(ends, own)]
            if members[ends[0]].fixed:
                ends.reverse()
                frames.reverse()
            axis = None if kind in ("ball", "fixed") else mul(frames[0][1], X_AXIS)
            gathered.ties.append(
                Tie(kind=kind, title=title, a=ends[0], b=ends[1], on_a=frames[0][0], on_b=frames[1][0], axis=axis)
            )
            if data.limit_axes.bits or data.motor_axes.bits:
                gathered.unmeasured[f"limits and motors of {title}"] = None
                gathered.acted_on |= {k for k in ends if not members[k].fixed}
                gathered.conserves &= not data.motor_axes.bits
        if many := len(list(self.world.multibody_joints)):
            gathered.unmeasured[f"{many} multibody joints: how far they open"] = None
            gathered.act_on_all()
            gathered.tied |= set(range(len(self.bodies)))

    def _name_forces(self) -> None:
        gathered = self.gathered
        titles = [gathered.members[k].title for k in range(len(self.bodies))]
        forces = [(*one.user_force.to_tuple(), *one.user_torque.to_tuple()) for one in self.bodies]
        pushed = [k for k, force in enumerate(forces) if any(force)]
        found = {
            "damping of motion of bodies": [
                k for k, one in enumerate(self.bodies) if one.linear_damping or one.angular_damping
            ],
            "weight of bodies, by a scale": [k for k, one in enumerate(self.bodies) if one.gravity_scale != 1.0],
            "motions of bodies that are locked": [k for k, one in enumerate(self.bodies) if one.locked_axes.bits],
            "forces of the start on bodies": pushed,
        }
        for what, of in found.items():
            gathered.name(what, (titles[k] for k in of))
            gathered.acted_on |= {*of}
        if pushed or found["weight of bodies, by a scale"]:
            gathered.conserves = False
        if self.world.physics_hooks is not None:
            gathered.unmeasured["what hooks do that are called of pairs"] = None
            gathered.act_on_all()
            gathered.conserves = False


class NativeWorld(FunctionWorld):
    def __init__(self, scene: SpatialScene, dt: float) -> None:
        assert scene.native is not None
        found = Described(scene.native.model, scene.duration, scene.title)
        super().__init__(scene, dt, found.scene, found.frames)
        self._found = found
        self._world, self._bodies = found.world, found.bodies
        parameters = self._world.integration_parameters
        parameters.dt = dt
        self.velocity_lag = -dt / (2 * int(parameters.num_solver_iterations))
        self._coulomb = parameters.friction_model == rapier.FrictionModel.COULOMB
        self._forced: list[Any] = []

    def advance(self) -> None:
        self._world.step()
        for body in self._forced:
            body.reset_forces()
            body.reset_torques()
        self._forced.clear()

    def body_states(self) -> Iterator[BodyState]:
        if not self._world.quarantine.is_empty():
            raise NotFiniteError("Rapier put a body out of the world because its state was not finite")
        for body in self._bodies:
            x, y, z, w = body.rotation.to_tuple()
            yield body.translation.to_tuple(), (w, x, y, z), body.linvel.to_tuple(), body.angvel.to_tuple()

    def set_body_state(self, k: int, position: Array, orientation: Array, velocity: Array, spin: Array) -> None:
        self._found.set_body(k, position, orientation, velocity, spin)

    def push(self, k: int, force: Array, point: Array | None) -> None:
        if point is None:
            self._bodies[k].add_force(tuple(force.tolist()))
        else:
            self._bodies[k].add_force_at_point(tuple(force.tolist()), tuple(point.tolist()))
        self._forced.append(self._bodies[k])

    def contacts(self) -> recorder.Rows | None:
        """With the gaps that the step started from; friction is known with Coulomb's model alone."""
        bodies = [*self.scene.bodies, *self.scene.boundaries]

        def known(a: int, b: int) -> bool:
            return self._coulomb or max(float(bodies[k].friction) for k in (a, b)) == 0.0

        return contact_rows(self._world, lambda handle: self._found.member.get(_key(handle), -1), known)

    def options(self) -> dict[str, Value]:
        p = self._world.integration_parameters
        found = {name: getattr(p, name) for name in dir(p) if name[0] != "_"}
        return {name: value for name, value in found.items() if isinstance(value, (bool, int, float, str))}


def _step(world: Any) -> float:
    return in_double(float(world.integration_parameters.dt))


def _key(handle: Any) -> tuple[int, int]:
    return int(handle.index), int(handle.generation)


def _frame(pose: Any) -> Frame:
    x, y, z, w = pose.rotation.to_tuple()
    return frame_of(pose.translation.to_tuple(), (w, x, y, z))


def _member(body: Any, k: int) -> Member:
    frame = _frame(body.position)
    if not body.is_dynamic:
        return Member(title=f"body {k}", frame=frame, fixed=True)
    own = body.mass_properties
    x, y, z, w = own.principal_inertia_local_frame.to_tuple()
    _, axes = frame_of((0.0, 0.0, 0.0), (w, x, y, z))
    return Member(
        title=f"body {k}",
        frame=frame,
        mass=float(body.mass),
        centre=np.array(own.local_com.to_tuple(), np.float64),
        tensor=mul(axes * np.array(own.principal_inertia.to_tuple(), np.float64), axes.T),
        velocity=np.array(body.linvel.to_tuple(), np.float64),
        spin=np.array(body.angvel.to_tuple(), np.float64),
    )


def _shape(shape: Any) -> tuple[dict[str, Any], Frame] | None:
    """With its frame in the collider's; None of what has no counterpart."""
    match str(shape.shape_type).rpartition(".")[2]:
        case "BALL":
            return {"kind": "sphere", "radius": float(shape.as_ball().radius)}, STILL
        case "CUBOID":
            half = shape.as_cuboid().half_extents.to_tuple()
            return {"kind": "box", "size": [2.0 * float(h) for h in half]}, STILL
        case "CAPSULE":
            capsule = shape.as_capsule()
            a, b = (np.array(end.to_tuple(), np.float64) for end in (capsule.a, capsule.b))
            along, length = b - a, float(norm(b - a))
            size = {"radius": float(capsule.radius), "length": length}
            turned = _z_to(along / length) if length > 0.0 else np.eye(3)
            return {"kind": "capsule", **size}, (0.5 * (a + b), turned)
        case "CYLINDER":
            found = shape.as_cylinder()
            size = {"radius": float(found.radius), "length": 2.0 * float(found.half_height)}
            return {"kind": "cylinder", **size}, (np.zeros(3), Y_TO_Z)
        case "CONVEX_POLYHEDRON":
            points = [[float(c) for c in point.to_tuple()] for point in shape.as_convex_polyhedron().points]
            return {"kind": "convex-mesh", "points": points}, STILL
    return None


def _z_to(axis: Array) -> Array:
    """A rotation that carries z to a unit vector."""
    to_x = mass.rotation_matrix(from_x_to(np.array([0.0, 0.0, 1.0])).tolist()).T
    return mul(mass.rotation_matrix(from_x_to(axis).tolist()), to_x)

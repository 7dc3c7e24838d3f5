"""A dartpy World that a function of the user's own has built: described, stepped by DART as it is, and read."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import dartpy
import numpy as np

from reference_engine.array_types import Array
from reference_engine.dense import mul
from scenarios.native import Model
from scenarios.scene import SpatialScene
from validation.engines.engine import Value
from validation.engines.shared import recorder
from validation.engines.shared.functions import built
from validation.engines.shared.spatial_description import (
    ALL_BITS,
    BodyState,
    Frame,
    FunctionWorld,
    Gathered,
    Member,
    Tie,
    pairs_among,
    placed,
    set_up_in,
    shifts,
)

dynamics = dartpy.dynamics
RULES = {"friction_rule": "min", "restitution_rule": "product"}
KINDS = {"RevoluteJoint": "hinge", "PrismaticJoint": "slider", "BallJoint": "ball", "WeldJoint": "fixed"}
FREE = "FreeJoint"


class Described:
    """A world and our scene of it. Raises ModelError, SceneError."""

    def __init__(self, given: Model, duration: float, title: str) -> None:
        self.world, self.step = built(
            given, dartpy.simulation.World, "dartpy.simulation.World", lambda world: world.getTimeStep()
        )
        self.function = given.function
        skeletons = [self.world.getSkeleton(k) for k in range(self.world.getNumSkeletons())]
        nodes = [one.getBodyNode(k) for one in skeletons for k in range(one.getNumBodyNodes())]
        names = [_key(node) for node in nodes]
        moves = {key: self._moves(node) for key, node in zip(names, nodes)}
        self.bodies = [node for key, node in zip(names, nodes) if moves[key]]
        others = [node for key, node in zip(names, nodes) if not moves[key]]
        self.gathered = Gathered(str(given.function))
        self._move_apart(given)
        self.row = {_key(node): k for k, node in enumerate([*self.bodies, *others])}
        for k, node in enumerate([*self.bodies, *others]):
            self.gathered.members.append(_member(node, fixed=k >= len(self.bodies)))
            self.gathered.check(self.gathered.members[-1])
        self.owner = itertools.count()
        self._planes: dict[tuple[tuple[str, int], str], int] = {}  # by node and name of the shape: number of the plane
        for node in [*self.bodies, *others]:
            self._add_shapes(node)
        for node in self.bodies:
            self._add_joint(node)
        self._set_apart(skeletons)
        self._name_forces(skeletons)
        gravity = self.world.getGravity().tolist()
        scene, self.frames = self.gathered.scene(given, duration, title, self.step, gravity, RULES)
        self.scene: SpatialScene = set_up_in(scene, self.frames, self.set_body)

    def set_body(self, k: int, position: Array, orientation: Array, velocity: Array, spin: Array) -> None:
        """Of a member that moves, in its own frame; the velocity of its centre of mass."""
        node = self.bodies[k]
        joint, pose = node.getParentJoint(), dartpy.math.Isometry3()
        pose.set_translation(position)
        pose.set_quaternion(dartpy.math.Quaternion(*orientation.tolist()))
        joint.setTransform(pose)
        joint.setAngularVelocity(spin)
        arm = mul(pose.rotation(), np.asarray(node.getLocalCOM(), np.float64))
        joint.setLinearVelocity(velocity - np.cross(spin, arm))

    def _moves(self, node: Any) -> bool:
        """Whether anything between it and the world can."""
        while node is not None:
            if node.getParentJoint().getNumDofs() and node.getSkeleton().isMobile():
                return True
            node = node.getParentBodyNode()
        return False

    def _move_apart(self, given: Model) -> None:
        """Of roots that are free; what hangs on them goes with them, and what hangs on the world stays."""
        count = len(self.bodies)
        free = [k for k, node in enumerate(self.bodies) if _is_free(node)]
        for k, shift in enumerate(shifts(given, count, (), set(range(count)) - {*free})):
            if shift.any():
                joint = self.bodies[k].getParentJoint()
                pose = self.bodies[k].getWorldTransform()
                pose.set_translation(pose.translation() + shift)
                joint.setTransform(pose)

    # --- shapes ---

    def _add_shapes(self, node: Any) -> None:
        gathered, k = self.gathered, self.row[_key(node)]
        member, frame = gathered.members[k], _frame(node.getWorldTransform())
        for number in range(node.getNumShapeNodes()):
            one = node.getShapeNode(number)
            if one.getCollisionAspect() is None:
                continue
            owner = next(self.owner)
            bits, law = (ALL_BITS, ALL_BITS, owner), _friction_and_restitution(one)
            own, shape = _frame(one.getRelativeTransform()), one.getShape()
            if isinstance(shape, dynamics.PlaneShape):
                if member.fixed:
                    at = placed(frame, own)
                    normal = mul(at[1], np.asarray(shape.getNormal(), np.float64))
                    self._planes[_key(node), str(one.getName())] = len(gathered.planes)
                    gathered.add_plane(member.title, at[0] + float(shape.getOffset()) * normal, normal, law, bits)
                continue
            described = _shape(shape)
            if described is None:
                gathered.leave_out(f"a shape of {member.title}, {type(shape).__name__}")
                continue
            gathered.add(k, described, own, law, bits)

    def member_of(self, shape: Any) -> int:
        """The scene's body, or boundary after them, of a shape node; -1 for what is neither."""
        node = shape.getBodyNode()
        if (key := _key(node)) in self.row:
            plane = self._planes.get((key, str(shape.getName())))
            return self.row[key] if plane is None else len(self.gathered.members) + plane
        return -1

    def _set_apart(self, skeletons: list[Any]) -> None:
        for one in skeletons:
            nodes = [one.getBodyNode(k) for k in range(one.getNumBodyNodes())]
            owners = [self._owners(node) for node in nodes]
            if not one.getSelfCollisionCheck():
                self.gathered.apart |= set(pairs_among(itertools.chain.from_iterable(owners)))
            elif not one.getAdjacentBodyCheck():
                for node, own in zip(nodes, owners):
                    if (parent := node.getParentBodyNode()) is not None:
                        both = itertools.product(own, self._owners(parent))
                        self.gathered.apart |= {(min(pair), max(pair)) for pair in both}

    def _owners(self, node: Any) -> list[int]:
        return [bits[2] for bits in self.gathered.members[self.row[_key(node)]].filters]

    # --- joints and forces ---

    def _add_joint(self, node: Any) -> None:
        gathered, joint, k = self.gathered, node.getParentJoint(), self.row[_key(node)]
        kind = joint.getType()
        if node.getSkeleton().getNumBodyNodes() > 1 or not _is_free(node):
            gathered.tied |= {k}
        if kind == FREE and node.getParentBodyNode() is None:
            return
        title = str(joint.getName())
        if kind not in KINDS:
            gathered.unmeasured[f"{title}, {kind}: how far it opens"] = None
            gathered.acted_on |= {k}
            return
        parent = node.getParentBodyNode()
        above = (np.zeros(3), np.eye(3)) if parent is None else _frame(parent.getWorldTransform())
        at_child = placed(_frame(node.getWorldTransform()), _frame(joint.getTransformFromChildBodyNode()))
        at_parent = placed(above, _frame(joint.getTransformFromParentBodyNode()))
        axis = mul(at_child[1], np.asarray(joint.getAxis(), np.float64)) if hasattr(joint, "getAxis") else None
        b = None if parent is None else self.row[_key(parent)]
        ends = {"on_a": at_child[0], "on_b": at_parent[0]}
        gathered.ties.append(Tie(kind=KINDS[kind], title=title, a=k, b=b, axis=axis, **ends))

    def _name_forces(self, skeletons: list[Any]) -> None:
        gathered = self.gathered
        joints = [one.getJoint(k) for one in skeletons if one.isMobile() for k in range(one.getNumJoints())]
        driven = [joint for joint in joints if joint.getNumDofs()]

        def acting(*reads: str) -> list[Any]:
            return [j for j in driven if any(getattr(j, read)(k) for read in reads for k in range(j.getNumDofs()))]

        springs, commands = acting("getSpringStiffness"), acting("getForce", "getCommand")
        forces = {
            "springs of joints": springs,
            "damping of joints": acting("getDampingCoefficient"),
            "friction of joints": acting("getCoulombFriction"),
            "forces and commands of joints at the start": commands,
            "limits of joints": [j for j in driven if np.isfinite([*_limits(j)]).any()],
        }
        for what, found in forces.items():
            gathered.name(what, (str(joint.getName()) for joint in found))
            gathered.acted_on |= {self.row[_key(joint.getChildBodyNode())] for joint in found}
        if springs or commands:
            gathered.conserves = False
        weightless = [node for node in self.bodies if not node.getGravityMode()]
        gathered.name("bodies without weight", (str(node.getName()) for node in weightless))
        gathered.acted_on |= {self.row[_key(node)] for node in weightless}
        if weightless:
            gathered.conserves = False
        gathered.unmeasured["pairs that a collision filter takes out, which dartpy does not give"] = None


class NativeWorld(FunctionWorld):
    def __init__(self, scene: SpatialScene, dt: float) -> None:
        assert scene.native is not None
        found = Described(scene.native.model, scene.duration, scene.title)
        super().__init__(scene, dt, found.scene, found.frames)
        self._found = found
        self.velocity_lag = -dt / 2
        self._world, self._bodies = found.world, found.bodies
        self._can_be_set = all(_is_free(node) for node in self._bodies)
        self._world.setTimeStep(dt)

    def advance(self) -> None:
        self._world.step()

    def body_states(self) -> Iterator[BodyState]:
        for node in self._bodies:
            pose = node.getWorldTransform()
            q = pose.quaternion()
            yield (
                pose.translation().tolist(),
                (q.w(), q.x(), q.y(), q.z()),
                node.getCOMLinearVelocity().tolist(),
                node.getAngularVelocity().tolist(),
            )

    def set_body_state(self, k: int, position: Array, orientation: Array, velocity: Array, spin: Array) -> None:
        self._found.set_body(k, position, orientation, velocity, spin)

    def push(self, k: int, force: Array, point: Array | None) -> None:
        node = self._bodies[k]
        if point is None:
            node.addExtForce(force, node.getLocalCOM(), False, True)
        else:
            node.addExtForce(force, point, False, False)

    def contacts(self) -> recorder.Rows | None:
        """Of the last step, at the poses it started from; DART's normal points from the second to the first."""
        rows = []
        for contact in self._world.getLastCollisionResult().getContacts():
            shapes = (one.getShapeFrame() for one in (contact.collisionObject2, contact.collisionObject1))
            a, b = (self._found.member_of(one) if isinstance(one, dynamics.ShapeNode) else -1 for one in shapes)
            if min(a, b) >= 0 and a != b:
                force = self.dt * np.array(contact.force)
                rows.append((a, b, contact.point, contact.normal, -contact.penetrationDepth, force))
        return [np.array(part) for part in zip(*rows)] if rows else None

    def options(self) -> dict[str, Value]:
        solver = self._world.getConstraintSolver()
        return {"time_step": self._world.getTimeStep(), "collision_detector": solver.getCollisionDetector().getType()}


def _key(node: Any) -> tuple[str, int]:
    """dartpy gives a new object for a node each time."""
    return str(node.getSkeleton().getName()), int(node.getIndexInSkeleton())


def _limits(joint: Any) -> Iterator[float]:
    for k in range(joint.getNumDofs()):
        yield joint.getPositionLowerLimit(k)
        yield joint.getPositionUpperLimit(k)


def _is_free(node: Any) -> bool:
    return bool(node.getParentBodyNode() is None and node.getParentJoint().getType() == FREE)


def _frame(pose: Any) -> Frame:
    return np.asarray(pose.translation(), np.float64).copy(), np.asarray(pose.rotation(), np.float64).copy()


def _member(node: Any, *, fixed: bool) -> Member:
    skeleton = node.getSkeleton()
    title = str(skeleton.getName()) if skeleton.getNumBodyNodes() == 1 else f"{skeleton.getName()} {node.getName()}"
    frame = _frame(node.getWorldTransform())
    if fixed:
        return Member(title=title, frame=frame, fixed=True)
    own = node.getInertia()
    return Member(
        title=title,
        frame=frame,
        mass=float(own.getMass()),
        centre=np.asarray(own.getLocalCOM(), np.float64),
        tensor=np.asarray(own.getMoment(), np.float64),
        velocity=np.asarray(node.getCOMLinearVelocity(), np.float64),
        spin=np.asarray(node.getAngularVelocity(), np.float64),
    )


def _friction_and_restitution(one: Any) -> tuple[float, float]:
    law = one.getDynamicsAspect()
    return (1.0, 0.0) if law is None else (float(law.getFrictionCoeff()), float(law.getRestitutionCoeff()))


def _shape(shape: Any) -> dict[str, Any] | None:
    match shape:
        case dynamics.SphereShape():
            return {"kind": "sphere", "radius": float(shape.getRadius())}
        case dynamics.BoxShape():
            return {"kind": "box", "size": np.asarray(shape.getSize(), np.float64).tolist()}
        case dynamics.CapsuleShape() | dynamics.CylinderShape():
            kind = "capsule" if isinstance(shape, dynamics.CapsuleShape) else "cylinder"
            return {"kind": kind, "radius": float(shape.getRadius()), "length": float(shape.getHeight())}
        case dynamics.EllipsoidShape():
            return {"kind": "ellipsoid", "semi_axes": (0.5 * np.asarray(shape.getDiameters(), np.float64)).tolist()}
    return None

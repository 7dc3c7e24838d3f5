"""DART: reduced coordinates, contacts as one linear complementarity problem a step, double precision.

What makes a comparison unfair, and what is done about it (DART documentation; measured with dartpy 6.20.0):
- Planar scenes are prisms 1 m deep, free in space, and put back into the plane after each step. With DART's own planar
  joint friction out of the plane is 0/0: a stack of 10 sank by 2.9 mm on average and crept 17 cm in 6 s; so it sinks by
  1.7 um and creeps 12 um.
- Joints are exact: a body hangs on another by its coordinate; only a pin or ball that closes a loop is a constraint of
  each step.
- Which detector finds the contacts decides what stands: FCL, the default, finds one contact of a box on a plane. Fair
  is ODE's, which finds four.
- Friction is a pyramid along the world's axes; of a pair it is the smaller of two values. Restitution is their product.
  Where no values give every pair its own, the scene is declined.
- An impact below 0.1 m/s has no restitution, and a penetration goes back slowly: dartpy has no setting for either.
- By default bodies are deactivated where they hardly move; fair does not.
- dartpy makes meshes from files alone: hulls, bowls and hollow spheres are declined. So are ellipsoids, which ODE's
  detector does not have.
- dartpy 6.16 to 6.19 have no ODE, so no fair profile, and no split impulses; before 6.19 nothing is deactivated.
- A step first changes the velocity, then moves with it: in free flight the velocity is the true one dt/2 before.
"""

from __future__ import annotations

import importlib.metadata
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import dartpy
import numpy as np
from scipy.spatial.transform import Rotation

from reference_engine.array_types import Array
from scenarios.joint_forces import Element
from scenarios.joints import AxialJoint
from scenarios.native import Model
from scenarios.scene import Scene, SpatialScene
from validation.engines import LOADS
from validation.engines.dart.native import Described, NativeWorld
from validation.engines.dart.queries import QUERIES, distances
from validation.engines.engine import DeclinedError, Setting, Settings, SteppingEngine, Value, able
from validation.engines.shared.embedding import (
    given_in_space,
    rotation_matrix,
    state_in_space,
    turned_about_z,
    vector_in_space,
)
from validation.engines.shared.joint_tree import (
    Link,
    given_fault,
    joint_forest,
    link_state,
    loop_fault,
    non_colliding_pairs,
    start_fault,
)
from validation.engines.shared.maximal_coordinates import BodyState, MaximalWorld
from validation.engines.shared.pair_laws import PairLaws, no_values
from validation.engines.shared.recorder import World
from validation.engines.shared.separation import SweptFunction, is_sweep
from validation.engines.shared.spatial_pieces import Piece, spatial_pieces, wall_of
from validation.engines.takes import (
    COMPOUND,
    DRIVES,
    FRICTION_OF_JOINTS,
    GIVEN_MOTION,
    HINGES,
    JOINTS,
    LIMITS,
    PLANAR,
    SOLVER,
    SPATIAL,
)
from validation.records.queries import Answers, Poses

dynamics, collision = dartpy.dynamics, dartpy.collision
DETECTORS = {
    name: getattr(collision, kind)
    for name, kind in {
        "fcl": "FCLCollisionDetector",
        "ode": "OdeCollisionDetector",  # from 6.20 on
        "bullet": "BulletCollisionDetector",
        "dart": "DARTCollisionDetector",
    }.items()
    if hasattr(collision, kind)
}
CAN_SPLIT_IMPULSES = hasattr(dartpy.constraint.ConstraintSolver, "setSplitImpulseEnabled")  # from 6.20 on
CAN_DEACTIVATE = hasattr(dartpy.simulation.World, "setDeactivationOptions")  # from 6.19 on
OUT_OF_PLANE = 1e-9  # m and rad, that a planar body may be before it is put back

MESH = "dartpy makes meshes from files alone"
TAKES = (
    PLANAR | SPATIAL | SOLVER | COMPOUND | JOINTS | HINGES | {"restitution", "concave-polygon", "capsule", "cylinder"}
)
TAKES |= DRIVES | LIMITS | FRICTION_OF_JOINTS | GIVEN_MOTION | {"fixed"}
BECAUSE = {
    "bodies.margin": "DART has no margins of contact",
    "boundaries.margin": "DART has no margins of contact",
    "arc-polygon": "DART has no shape with arc edges; a polygon would be another scene",
    "bowl": f"{MESH}, and has no concave shape",
    "hollow-sphere": f"{MESH}, and has no concave shape",
    "convex-mesh": MESH,
    "ellipsoid": "the collision detector of ODE, which DART needs for boxes, has no ellipsoid",
    "rod": "DART has no joint that keeps a distance",
    "rope": "DART has no joint that limits a distance",
    "compliant": "DART's contacts have no stiffness",
}

NO_CAPSULE = "in place of a capsule DART gives FCL a sphere of 0.1 m; collision_detector=ode has capsules"
SETTINGS: dict[str, Setting] = {
    "collision_detector": Setting(default="fcl", choices=tuple(DETECTORS), doc="what finds contacts"),
    "split_impulse": Setting(default=False, doc="penetrations are taken back by a velocity that does not stay"),
    "deactivation": Setting(default=True, doc="bodies that hardly move are left alone"),
    "max_contacts": Setting(
        default=1000, low=1, high=1_000_000, fuzzed="more", doc="contacts of a step; others are dropped"
    ),
}
for _name, _can in (("split_impulse", CAN_SPLIT_IMPULSES), ("deactivation", CAN_DEACTIVATE)):
    if not _can:
        del SETTINGS[_name]
FAIR: Mapping[str, Value] = {"collision_detector": "ode", "deactivation": False, "max_contacts": 100_000}


class Dart(SteppingEngine):
    name = "dart"
    version = importlib.metadata.version("dartpy")
    settings, fair = SETTINGS, FAIR
    profiles = ("default", "fair") if "ode" in DETECTORS else ("default",)
    takes, because = TAKES, BECAUSE
    abilities = able(
        set_state="to round-off; of what hangs on joints as far as these let it",
        apply_force="constant over the step",
        options="of its world and solver",
    )
    queries = QUERIES
    loads = LOADS["dart"]

    def cannot(self, scene: Scene) -> str | None:
        if any(piece.kind == "hull" for body in scene.bodies for piece in spatial_pieces(body.shape, 0)):
            return f"{MESH}: a polygon has to be of rectangles"
        laws = no_values("DART", PairLaws(scene), friction="min", restitution="product")
        return laws or given_fault("DART", scene) or start_fault(scene) or loop_fault("DART", scene)

    def describe(self, model: Model, duration: float, title: str, settings: Settings) -> SpatialScene:
        return Described(model, duration, title).scene

    def build(self, scene: Scene, dt: float, settings: Settings) -> World:
        if isinstance(scene, SpatialScene) and scene.native is not None:
            world = NativeWorld(scene, dt)
            return SweptFunction(world, scene, dt) if is_sweep(scene) else world
        if settings["collision_detector"] == "fcl" and any(body.shape.kind == "capsule" for body in scene.bodies):
            raise DeclinedError(NO_CAPSULE)
        return DartWorld(scene, dt, settings)

    def answer(self, query: str, scene: Scene, settings: Settings, poses: Poses) -> Answers:
        return distances(scene, poses) if query == "distance" else super().answer(query, scene, settings, poses)


class DartWorld(MaximalWorld):
    def __init__(self, scene: Scene, dt: float, settings: Settings) -> None:
        super().__init__(scene, dt)
        self.velocity_lag = -dt / 2
        self._world = dartpy.simulation.World()
        self._world.setTimeStep(dt)
        self._world.setGravity(vector_in_space(scene.gravity))
        self._solver = self._world.getConstraintSolver()
        # From 6.20 on the world has it too.
        finder = self._world if hasattr(self._world, "setCollisionDetector") else self._solver
        finder.setCollisionDetector(DETECTORS[str(settings["collision_detector"])]())
        if CAN_SPLIT_IMPULSES:
            self._solver.setSplitImpulseEnabled(bool(settings["split_impulse"]))
        self._option = self._solver.getCollisionOption()
        self._option.maxNumContacts = int(settings["max_contacts"])
        if CAN_DEACTIVATE:
            sleep = self._world.getDeactivationOptions()
            sleep.mEnabled = bool(settings["deactivation"])
            self._world.setDeactivationOptions(sleep)
        self._settings = settings
        self._friction = self.laws.shape_values("friction", "min")
        self._restitution = self.laws.shape_values("restitution", "product")
        self._nodes: list[Any] = [None] * len(scene.bodies)
        self._joints: dict[int, Any] = {}
        self._walls: list[Any] = []  # of boundaries
        self._links, loops = joint_forest(scene)
        self._add_bodies()
        self._add_boundaries()
        for i, j in non_colliding_pairs(scene):
            self._option.collisionFilter.addBodyNodePairToBlackList(self._nodes[i], self._nodes[j])
        still = [*self._walls, *(self._nodes[k] for k, body in enumerate(scene.bodies) if body.fixed)]
        for i in self.given:  # passes through what else is fixed
            for other in still:
                if other is not self._nodes[i]:
                    self._option.collisionFilter.addBodyNodePairToBlackList(self._nodes[i], other)
        for joint in loops:
            self._close_loop(joint)
        for i in self.moving:
            self.set_body_state(i, *(part[i] for part in self.in_space))
        self._set_coordinates(*self.start)

    def own_elements(self, joint: AxialJoint) -> Collection[Element]:
        return ("spring", "damping")

    # --- bodies and boundaries ------------------------------------------------------------------------

    def _add_bodies(self) -> None:
        position, orientation, _, _ = self.in_space
        skeletons: dict[int, Any] = {}
        for i, body in enumerate(self.scene.bodies):
            if body.motion is not None:
                skeletons[i] = skeleton = dynamics.Skeleton(f"body {i}")
                self._joints[i], self._nodes[i] = skeleton.createFreeJointAndBodyNodePair()
                self._joints[i].setActuatorType(dynamics.ActuatorType.VELOCITY)
            elif body.fixed:
                skeleton = dynamics.Skeleton(f"body {i}")
                joint, self._nodes[i] = skeleton.createWeldJointAndBodyNodePair()
                joint.setTransformFromParentBodyNode(_pose(position[i], rotation_matrix(orientation[i])))
                skeletons[i] = skeleton
        for link in self._links:
            i = link.body
            above = None if link.parent is None else self._nodes[link.parent]
            skeleton = dynamics.Skeleton(f"body {i}") if above is None else above.getSkeleton()
            if above is None:
                skeletons[i] = skeleton
                skeleton.enableSelfCollisionCheck()
                skeleton.enableAdjacentBodyCheck()
            joint, self._nodes[i] = self._hang(skeleton, link, above)
            self._nodes[i].setInertia(dynamics.Inertia(float(self.mass[i]), np.zeros(3), np.diag(self.inertia[i])))
            self._joints[i] = joint
            if link.joint is None:
                continue
            assert link.anchor is not None and link.parent_anchor is not None
            turned = rotation_matrix(orientation[i])
            if link.parent is not None:
                turned = rotation_matrix(orientation[link.parent]).T @ turned
            joint.setTransformFromParentBodyNode(_pose(link.parent_anchor, turned))  # its coordinate starts at 0
            joint.setTransformFromChildBodyNode(_pose(link.anchor, np.eye(3)))
            if link.axis is not None:
                joint.setAxis(link.axis)
                _set_along(joint, link)
        bodies: Sequence[Any] = self.scene.bodies
        for i, body in enumerate(bodies):
            for k, piece in enumerate(spatial_pieces(body.shape, 0)):
                node = self._add_shape(self._nodes[i], _shape(piece), i, k)
                node.setRelativeTransform(_pose(np.array(piece.center), rotation_matrix(piece.quaternion)))
        for i in sorted(skeletons):
            self._world.addSkeleton(skeletons[i])

    def _hang(self, skeleton: Any, link: Link, above: Any) -> Any:
        """The joint and the body of a link."""
        given = () if above is None else (above,)
        if link.joint is None:
            return skeleton.createFreeJointAndBodyNodePair(*given)
        if link.is_fixed:
            return skeleton.createWeldJointAndBodyNodePair(*given)
        if link.slides:
            return skeleton.createPrismaticJointAndBodyNodePair(*given)
        if link.axis is None:
            return skeleton.createBallJointAndBodyNodePair(*given)
        return skeleton.createRevoluteJointAndBodyNodePair(*given)

    def _add_shape(self, node: Any, shape: Any, member: int, number: int) -> Any:
        assert self._friction is not None and self._restitution is not None, "declined before"
        made = node.createShapeNode(shape)
        made.setName(f"{member}/{number}")
        made.createCollisionAspect()
        law = made.createDynamicsAspect()
        law.setFrictionCoeff(self._friction[member])
        law.setRestitutionCoeff(self._restitution[member])
        return made

    def _add_boundaries(self) -> None:
        for j, boundary in enumerate(self.scene.boundaries, start=len(self.scene.bodies)):
            skeleton = dynamics.Skeleton(f"boundary {j}")
            _, node = skeleton.createWeldJointAndBodyNodePair()
            wall = wall_of(boundary, {})
            assert wall.normal is not None, boundary.kind  # of half-spaces; the others are declined
            self._add_shape(node, dynamics.PlaneShape(wall.normal, float(wall.normal @ wall.origin)), j, 0)
            self._world.addSkeleton(skeleton)
            self._walls.append(node)

    def _close_loop(self, joint: Any) -> None:
        index = {body.name: i for i, body in enumerate(self.scene.bodies)}
        position, orientation, _, _ = self.in_space
        a = index[joint.a]
        point = position[a] + rotation_matrix(orientation[a]) @ vector_in_space(joint.anchor_a)
        ends = [self._nodes[a]] if joint.b is None else [self._nodes[a], self._nodes[index[joint.b]]]
        self._solver.addConstraint(dartpy.constraint.BallJointConstraint(*ends, point))

    def set_state(self, *state: Any, time: float = 0.0) -> None:
        super().set_state(*state, time=time)
        self._set_coordinates(*(np.asarray(part, np.float64) for part in state))
        self.read()

    def _set_coordinates(self, *state: Array) -> None:
        """Of the bodies that hang on joints, whose pose and motion against their parents they are."""
        orientation = (state_in_space(*state) if self.planar else state)[1]
        for link in self._links:
            if link.joint is None or link.is_fixed:
                continue
            joint, (coordinates, rate) = self._joints[link.body], link_state(self.scene, link, *state)
            if not link.slides:
                above = np.eye(3) if link.parent is None else rotation_matrix(orientation[link.parent])
                still = above @ joint.getTransformFromParentBodyNode().rotation()
                vector = Rotation.from_matrix(still.T @ rotation_matrix(orientation[link.body])).as_rotvec()
                coordinates = vector if link.axis is None else np.array([vector @ link.axis])
            joint.setPositions(coordinates)
            joint.setVelocities(rate)

    # --- stepping and reading --------------------------------------------------------------------------

    def advance(self) -> None:
        after = [given_in_space(self.scene.bodies[i], (self.steps + 1) * self.dt) for i in self.given]
        for i, (position, _, _, spin) in zip(self.given, after):
            joint, velocity = self._joints[i], (position - self._nodes[i].getWorldTransform().translation()) / self.dt
            joint.setLinearVelocity(velocity)
            joint.setAngularVelocity(spin)
            joint.setCommands(joint.getVelocities())
        self._world.step()
        for i, (position, orientation, _, _) in zip(self.given, after):  # which the step misses where it turns, too
            self._joints[i].setTransform(_pose(position, rotation_matrix(orientation)))
        if self.planar:
            for link in self._links:
                if link.joint is None:
                    self._project_to_plane(link.body)

    def _project_to_plane(self, body: int) -> None:
        turn, slide = np.split(self._joints[body].getPositions(), 2)  # rotation vector and position
        if max(abs(turn[0]), abs(turn[1]), abs(slide[2])) > OUT_OF_PLANE:
            node = self._nodes[body]
            rotation, velocity = node.getWorldTransform().rotation(), node.getCOMLinearVelocity()
            upright = np.array(turned_about_z(math.atan2(rotation[1, 0], rotation[0, 0])))
            spin = np.array([0.0, 0.0, node.getAngularVelocity()[2]])
            self.set_body_state(body, np.array([*slide[:2], 0.0]), upright, np.array([*velocity[:2], 0.0]), spin)

    def body_states(self) -> Iterator[BodyState]:
        for i in self.moving:
            node = self._nodes[i]
            pose = node.getWorldTransform()
            q = pose.quaternion()
            yield (
                pose.translation().tolist(),
                (q.w(), q.x(), q.y(), q.z()),
                node.getCOMLinearVelocity().tolist(),
                node.getAngularVelocity().tolist(),
            )

    def apply_wrench(self, body: int, force: Array, torque: Array) -> None:
        self._nodes[body].addExtForce(force, np.zeros(3), False, True)
        self._nodes[body].addExtTorque(torque, False)

    def set_body_state(self, body: int, position: Array, orientation: Array, velocity: Array, spin: Array) -> None:
        """A body that hangs on a joint is where its coordinate has it."""
        joint = self._joints[body]
        if not isinstance(joint, dynamics.FreeJoint):
            return
        joint.setTransform(_pose(position, rotation_matrix(orientation)))
        joint.setLinearVelocity(velocity)
        joint.setAngularVelocity(spin)

    def options(self) -> dict[str, Any]:
        found = {
            "time_step": self._world.getTimeStep(),
            "collision_detector": self._solver.getCollisionDetector().getType(),
            "lcp_solver": type(self._solver.getBoxedLcpSolver()).__name__.removesuffix("BoxedLcpSolver"),
            "max_contacts": self._option.maxNumContacts,
        }
        if CAN_SPLIT_IMPULSES:
            found["split_impulse"] = self._solver.isSplitImpulseEnabled()
        if CAN_DEACTIVATE:
            found["deactivation"] = self._world.getDeactivationOptions().mEnabled
        return found

    def contacts(self) -> Sequence[Any] | None:
        """Of the last step, at the poses it started from; DART's normal points from the second to the first."""
        return self.contact_rows(
            [
                (*map(_member, (c.collisionObject2, c.collisionObject1)), c.point, c.normal, -c.penetrationDepth,
                 self.dt * np.array(c.force))
                for c in self._world.getLastCollisionResult().getContacts()
            ]
        )  # fmt: skip


def _set_along(made: Any, link: Link) -> None:
    """What acts along a hinge or slider but its motor."""
    joint: Any = link.joint
    if not getattr(joint, "is_driven", False):
        return
    if joint.spring is not None:
        made.setSpringStiffness(0, joint.spring.stiffness)
        made.setRestPosition(0, link.at(joint.spring.rest))
    made.setDampingCoefficient(0, joint.damping)
    made.setCoulombFriction(0, joint.friction)
    if joint.limits is not None:
        low, high = sorted(map(link.at, (joint.limits.low, joint.limits.high)))
        made.setPositionLowerLimit(0, low)
        made.setPositionUpperLimit(0, high)
        made.setLimitEnforcement(True)


def _member(shape: Any) -> int:
    """Of the scene's bodies and, after them, boundaries: it is in the name of the shape."""
    return int(shape.getShapeFrame().getName().partition("/")[0])


def _pose(position: Array, rotation: Array) -> Any:
    made = dartpy.math.Isometry3()
    made.set_translation(position)
    made.set_rotation(rotation)
    return made


def _shape(piece: Piece) -> Any:
    match piece.kind:
        case "sphere":
            return dynamics.SphereShape(*piece.size)
        case "box":
            return dynamics.BoxShape([2.0 * half for half in piece.size])
        case "capsule":
            return dynamics.CapsuleShape(piece.size[0], 2.0 * piece.size[1])
        case "cylinder":
            return dynamics.CylinderShape(piece.size[0], 2.0 * piece.size[1])
    raise TypeError(piece)

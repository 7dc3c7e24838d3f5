"""Rapier: constraints by sub-steps of soft projected Gauss-Seidel, in maximal coordinates and single precision.

What makes a comparison unfair, and what is done about it (Rapier's documentation, "Integration parameters"; measured
with rapier3d 0.36.1):
- Planar scenes are prisms 1 m deep that cannot turn about x and y. They may move along z, or the friction of a contact
  in that direction is 0/0; whatever single precision makes of it is taken back after each step. A planar hinge holds
  x and y alone: of two bodies that cannot turn, the rows that keep its axis are 0/0, and energies of 1e14 J follow.
- The wheel has one pool of threads, which a process forked after a step does not have and waits for: one thread.
- A step is n sub-steps, each a change of the velocity and then of the pose: in free flight the velocity is the true
  one dt / (2 n) before.
- Contacts are damped springs: a stack of 10 sinks by 3.1 mm in its lowest contact at the default frequency of 30 and 60
  per second. Fair is a quarter of the rate of its sub-steps, of which it has 8: 12 um.
- By default one friction is solved for up to four contacts, and not reported: contacts that may have friction have no
  impulse. In the plane fair has Coulomb's at every contact, and knows them all. In space that holds a sliding slab by
  0.86 mu alone, since its corners pull against one another: fair has the default there.
- Contacts with a mesh are merged, and their impulses with them: they are reported without.
- Under springs and thrusters a swing grows: a force moves a body by half dt^2 in the step that it acts in.
- Friction and restitution of a pair are the product of two colliders' values; where no values give every pair its own
  they are set contact by contact.
- By default speeds are cut off at 400 m/s and rotation at about 188 rad/s (at 1/240 s); fair has neither. Bodies never
  sleep, as the scenes ask.
- A body whose state is not finite is put back and switched off; here that is NotFiniteError.
- An ellipsoid is the hull of points on it, a bowl and a hollow sphere are meshes of triangles.
"""

from __future__ import annotations

import importlib.metadata
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import rapier3d as rapier  # which looks for numpy when it is first used, and ends the process where it cannot
from rapier3d import JointAxesMask as Axes

from reference_engine.array_types import Array
from scenarios.joint_forces import Element
from scenarios.joints import AxialJoint
from scenarios.native import Model
from scenarios.scene import PlanarScene, Scene, SpatialScene
from validation.engines import LOADS
from validation.engines.engine import SINGLE, NotFiniteError, Setting, Settings, SteppingEngine, Value, able
from validation.engines.rapier.contacts import contact_rows
from validation.engines.rapier.native import Described, NativeWorld
from validation.engines.rapier.queries import QUERIES, overlaps
from validation.engines.relations import repeats
from validation.engines.shared.embedding import given_in_space, quaternion_product, vector_in_space
from validation.engines.shared.frame_motors import FrameMotor, ends_of_travel, limit_fault
from validation.engines.shared.joint_tree import non_colliding_pairs
from validation.engines.shared.maximal_coordinates import BodyState, MaximalWorld, joint_frames
from validation.engines.shared.pair_laws import PairLaws
from validation.engines.shared.recorder import World
from validation.engines.shared.separation import SweptFunction, is_sweep
from validation.engines.shared.spatial_pieces import Piece, facet_settings, spatial_pieces, wall_of
from validation.engines.takes import (
    COMPOUND,
    DRIVES,
    GIVEN_MOTION,
    HINGES,
    JOINTS,
    LIMITS,
    MARGIN,
    PLANAR,
    SHAPES,
    SOLVER,
    SPATIAL,
    WALLS,
)
from validation.records.queries import Answers, Poses

IN_PLANE = rapier.LockedAxes.ROTATION_LOCKED_X | rapier.LockedAxes.ROTATION_LOCKED_Y
FRICTION_MODELS = {"simplified": rapier.FrictionModel.SIMPLIFIED, "coulomb": rapier.FrictionModel.COULOMB}
PARAMETERS = (  # of the world, by the names of the settings
    "num_solver_iterations", "num_internal_pgs_iterations", "num_internal_stabilization_iterations",
    "normalized_allowed_linear_error", "normalized_prediction_distance", "normalized_max_corrective_velocity",
    "normalized_max_linear_velocity", "contact_recycling",
)  # fmt: skip
OUT_OF_PLANE = 1e-9  # m, that a planar body may be before it is put back: single precision leaves 1e-14
# Axes that a joint locks; x is that of the joint. Planar ones leave alone what a planar body cannot do.
LOCKED = {
    "revolute": Axes.LIN_Y | Axes.LIN_Z,
    "prismatic": Axes.LIN_Y | Axes.ANG_Z,
    "ball": Axes.LIN_AXES,
    "hinge": Axes.LOCKED_REVOLUTE_AXES,
    "slider": Axes.LOCKED_PRISMATIC_AXES,
    "fixed": Axes.LOCKED_FIXED_AXES,
}
QUARTER_TURN = (1.5707963267948966, 0.0, 0.0)  # of Rapier's cylinder, which stands along y

TAKES = (
    PLANAR | SPATIAL | SOLVER | SHAPES | COMPOUND | WALLS | JOINTS | HINGES | {"restitution", "concave-polygon", "rope"}
)
TAKES |= DRIVES | LIMITS | GIVEN_MOTION | MARGIN | {"fixed"}
BECAUSE = {
    "joints.friction": "Rapier has no dry friction of joints",
    "arc-polygon": "Rapier has no shape with arc edges; a polygon would be another scene",
    "rod": "Rapier has no joint that keeps a distance",
    "compliant": "Rapier's contacts have one softness for the whole world",
}

SETTINGS: Mapping[str, Setting] = {
    "num_solver_iterations": Setting(default=4, low=1, high=1000, fuzzed="more", doc="sub-steps of a step"),
    "num_internal_pgs_iterations": Setting(
        default=1, low=1, high=1000, fuzzed="more", doc="sweeps of the solver in a sub-step"
    ),
    "num_internal_stabilization_iterations": Setting(
        default=1, low=0, high=1000, fuzzed="more", doc="sweeps without springs, at the end of a sub-step"
    ),
    "contact_natural_frequency": Setting(
        default=30.0, low=1e-3, high=1e9, fuzzed="none", doc="of contact springs, 1/s"
    ),
    "static_contact_natural_frequency": Setting(
        default=60.0, low=1e-3, high=1e9, fuzzed="none", doc="of contacts with what cannot move, 1/s"
    ),
    "contact_damping_ratio": Setting(default=10.0, low=1e-3, high=1e6, doc="of contact springs"),
    "normalized_allowed_linear_error": Setting(
        default=0.005, low=0.0, high=1.0, fuzzed="less", doc="penetration that is left alone, m"
    ),
    "normalized_prediction_distance": Setting(default=0.02, low=1e-6, high=10.0, doc="contacts up to this gap, m"),
    "normalized_max_corrective_velocity": Setting(
        default=3.0, low=0.0, high=1e9, doc="bodies are pushed apart no faster, m/s"
    ),
    "normalized_max_linear_velocity": Setting(
        default=400.0, low=1e-3, high=1e12, fuzzed="more", doc="faster motion is cut off, m/s"
    ),
    "allow_fast_rotation": Setting(default=False, doc="false: fast rotation is cut off"),
    "friction_model": Setting(
        default="simplified",
        choices=("simplified", "coulomb"),
        doc="one friction for up to four contacts, or each its own",
    ),
    "contact_recycling": Setting(default=True, doc="contacts are not looked for anew where bodies hardly moved"),
    **facet_settings(ellipsoid=3),
}
FAIR: Mapping[str, Value] = {
    "num_solver_iterations": 8,
    "num_internal_pgs_iterations": 4,
    "normalized_allowed_linear_error": 1e-4,
    "normalized_max_linear_velocity": 1e12,
    "allow_fast_rotation": True,
    "contact_recycling": False,
}


class Rapier(SteppingEngine):
    name = "rapier"
    version = importlib.metadata.version("rapier3d")
    round_off = SINGLE
    relations = repeats(
        "the same simulation on one machine, by one build, has the same results; User guide, determinism"
    )
    settings = SETTINGS
    profiles = ("default", "fair")
    takes, because = TAKES, BECAUSE
    abilities = able(
        set_state="to single precision; contacts start anew",
        apply_force="constant over the step",
        options="its integration parameters",
    )
    queries = QUERIES
    loads = LOADS["rapier"]

    def cannot(self, scene: Scene) -> str | None:
        return limit_fault("Rapier", scene)

    def profile(self, name: str, scene: Scene, dt: float) -> dict[str, Value]:
        if name != "fair":
            return {}
        stiff = 0.25 * int(FAIR["num_solver_iterations"]) / dt
        return {
            **FAIR,
            "contact_natural_frequency": stiff,
            "static_contact_natural_frequency": stiff,
            "friction_model": "coulomb" if isinstance(scene, PlanarScene) else "simplified",
        }

    def describe(self, model: Model, duration: float, title: str, settings: Settings) -> SpatialScene:
        return Described(model, duration, title).scene

    def build(self, scene: Scene, dt: float, settings: Settings) -> World:
        if isinstance(scene, SpatialScene) and scene.native is not None:
            world = NativeWorld(scene, dt)
            return SweptFunction(world, scene, dt) if is_sweep(scene) else world
        return RapierWorld(scene, dt, settings)

    def answer(self, query: str, scene: Scene, settings: Settings, poses: Poses) -> Answers:
        return overlaps(scene, poses) if query == "overlap" else super().answer(query, scene, settings, poses)


class RapierWorld(MaximalWorld):
    def __init__(self, scene: Scene, dt: float, settings: Settings) -> None:
        super().__init__(scene, dt)
        self.velocity_lag = -dt / (2 * int(settings["num_solver_iterations"]))
        self._settings = settings
        self._world = rapier.PhysicsWorld(gravity=tuple(vector_in_space(scene.gravity).tolist()))
        self._world.set_num_threads(1)
        self._coulomb = settings["friction_model"] == "coulomb"
        self._set_parameters()
        self._friction = self.laws.shape_values("friction", "product")
        self._restitution = self.laws.shape_values("restitution", "product")
        apart = set(non_colliding_pairs(scene))
        pairs_set = self._friction is None or self._restitution is None
        self._hooks = rapier.ActiveHooks.empty()
        if apart:
            self._hooks = self._hooks | rapier.ActiveHooks.FILTER_CONTACT_PAIRS
        if pairs_set:
            self._hooks = self._hooks | rapier.ActiveHooks.MODIFY_SOLVER_CONTACTS
        if apart or pairs_set:
            self._world.physics_hooks = _PairHooks(self.laws, apart, set_laws=pairs_set)
        self._add_bodies()
        self._add_boundaries()
        self._motors: list[tuple[FrameMotor, Any, Any]] = []  # with the joint, and its axis; whose targets move
        for joint in self.effective_joints():
            self._add_joint(joint)

    def own_elements(self, joint: AxialJoint) -> Collection[Element]:
        motor = self.motor_of(joint)
        return () if motor is None else motor.elements

    def _set_parameters(self) -> None:
        p, s = self._world.integration_parameters, self._settings
        p.dt = self.dt
        for name in PARAMETERS:
            setattr(p, name, s[name])
        p.friction_model = FRICTION_MODELS[str(s["friction_model"])]
        damping = float(s["contact_damping_ratio"])
        p.contact_softness = rapier.SpringCoefficients(float(s["contact_natural_frequency"]), damping)
        p.static_contact_softness = rapier.SpringCoefficients(float(s["static_contact_natural_frequency"]), damping)

    # --- bodies and boundaries ------------------------------------------------------------------------

    def _add_bodies(self) -> None:
        position, orientation, velocity, spin = self.in_space
        self._handles: list[Any] = []
        self._bodies: list[Any] = []
        self._moving: list[Any] = []  # the free ones
        self._forced: list[Any] = []
        bodies: Sequence[Any] = self.scene.bodies
        for i, body in enumerate(bodies):
            given = body.motion is not None
            still = rapier.RigidBody.kinematic_position_based if given else rapier.RigidBody.fixed
            builder = still() if body.fixed else rapier.RigidBody.dynamic()
            builder = builder.position(_pose(position[i], orientation[i])).can_sleep(False)
            if not body.fixed:
                own = rapier.MassProperties((0.0, 0.0, 0.0), float(self.mass[i]), tuple(self.inertia[i].tolist()))
                builder = builder.linvel(tuple(velocity[i].tolist())).angvel(tuple(spin[i].tolist()))
                builder = builder.additional_mass_properties(own)
                builder = builder.allow_fast_rotation(bool(self._settings["allow_fast_rotation"]))
                # Of equal moments there is no gyroscopic torque; its round-off makes 10.0012 rad/s of 10 in 0.75 s.
                builder = builder.gyroscopic_forces(bool(np.ptp(self.inertia[i]) > 0.0))
                if self.planar:
                    builder = builder.locked_axes(IN_PLANE)
            pieces = spatial_pieces(body.shape, int(self._settings["ellipsoid_subdivisions"]))
            handle = self._world.add_body(builder, [self._with_laws(_collider(piece), i) for piece in pieces])
            self._handles.append(handle)
            self._bodies.append(self._world.rigid_bodies[handle])
            if not body.fixed:
                self._moving.append(self._bodies[-1])
        self._moving += [self._bodies[i] for i in self.given]
        self._anchor = self._world.add_body(rapier.RigidBody.fixed())  # the world, for joints

    def _add_boundaries(self) -> None:
        for j, boundary in enumerate(self.scene.boundaries, start=len(self.scene.bodies)):
            wall = wall_of(boundary, self._settings)
            if wall.normal is not None:
                collider = rapier.Collider.halfspace(tuple(wall.normal.tolist()))
            else:
                collider = rapier.Collider.trimesh(wall.vertices.astype(np.float32), wall.triangles.astype(np.uint32))
            self._world.add_collider(self._with_laws(collider.translation(tuple(wall.origin.tolist())), j))

    def _with_laws(self, collider: Any, member: int) -> Any:
        product = rapier.CoefficientCombineRule.MULTIPLY
        friction, restitution = self._friction, self._restitution
        stands_off = (*self.scene.bodies, *self.scene.boundaries)[member].margin
        if stands_off is not None:
            collider = collider.contact_skin(stands_off)
        return (
            collider.density(0.0)
            .user_data(member)
            .friction(friction[member] if friction else 0.0)
            .restitution(restitution[member] if restitution else 0.0)
            .friction_combine_rule(product)
            .restitution_combine_rule(product)
            .active_hooks(self._hooks)
        )

    def _add_joint(self, joint: Any) -> None:
        f = joint_frames(self.scene, joint)
        ends = _pose(f.anchor_a, f.frame_a), _pose(f.anchor_b, f.frame_b)
        builder: Any
        motor, axis = None, None
        if joint.kind == "rope":
            builder = rapier.RopeJoint.builder(joint.length)
            builder = builder.local_anchor1(tuple(f.anchor_a.tolist())).local_anchor2(tuple(f.anchor_b.tolist()))
        else:
            builder = rapier.GenericJoint.builder(LOCKED[joint.kind]).local_frame1(ends[0]).local_frame2(ends[1])
            axis = rapier.JointAxis.LIN_X if joint.kind == "slider" else rapier.JointAxis.ANG_X
            if (motor := self.motor_of(joint)) is not None:
                builder = builder.motor(axis, *motor.at(0.0)).motor_model(axis, rapier.MotorModel.FORCE_BASED)
                builder = builder if motor.most == math.inf else builder.motor_max_force(axis, motor.most)
            if getattr(joint, "limits", None) is not None:
                builder = builder.limits(axis, *ends_of_travel(self.scene, joint))
        made = builder.contacts_enabled(True).build()  # who passes through whom the hooks say
        second = self._anchor if f.b is None else self._handles[f.b]
        handle = self._world.impulse_joints.insert(self._handles[f.a], second, made)
        if motor is not None and motor.moves:
            self._motors.append((motor, self._world.impulse_joints.get(handle), axis))

    # --- stepping and reading --------------------------------------------------------------------------

    def advance(self) -> None:
        for motor, joint, axis in self._motors:
            joint.data.set_motor(axis, *motor.at(self.steps * self.dt))
        for i in self.given:
            position, orientation, *_ = given_in_space(self.scene.bodies[i], (self.steps + 1) * self.dt)
            self._bodies[i].set_next_kinematic_position(_pose(position, orientation))
        self._world.step()
        for body in self._forced:
            body.reset_forces()
            body.reset_torques()
        self._forced.clear()
        if self.planar:
            for body in self._moving:
                if abs(body.translation.z) > OUT_OF_PLANE:
                    (x, y, _), (vx, vy, _) = body.translation, body.linvel
                    body.translation, body.linvel = (x, y, 0.0), (vx, vy, 0.0)

    def body_states(self) -> Iterator[BodyState]:
        if not self._world.quarantine.is_empty():
            raise NotFiniteError("Rapier put a body out of the world because its state was not finite")
        for body in self._moving:
            x, y, z, w = body.rotation.to_tuple()
            yield body.translation.to_tuple(), (w, x, y, z), body.linvel.to_tuple(), body.angvel.to_tuple()

    def apply_wrench(self, body: int, force: Array, torque: Array) -> None:
        forced = self._bodies[body]
        forced.add_force(tuple(force.tolist()))
        forced.add_torque(tuple(torque.tolist()))
        self._forced.append(forced)

    def set_body_state(self, body: int, position: Array, orientation: Array, velocity: Array, spin: Array) -> None:
        placed: Any = self._bodies[body]
        placed.position = _pose(position, orientation)
        placed.linvel, placed.angvel = tuple(velocity.tolist()), tuple(spin.tolist())

    def options(self) -> dict[str, Any]:
        p = self._world.integration_parameters
        return {name: _plain(value) for name in dir(p) if not callable(value := getattr(p, name)) and name[0] != "_"}

    def contacts(self) -> Sequence[Any] | None:
        """Of the last step, with the gaps that it started from; friction is known with Coulomb's model alone."""
        known = (lambda a, b: True) if self._coulomb else (lambda a, b: self.laws.of(a, b)[0] == 0.0)
        found = contact_rows(self._world, lambda collider: int(self._world.colliders[collider].user_data), known)
        return None if found is None else self.in_dimension(*found)


class _PairHooks:
    """Which pairs do not meet, and the law of each pair where no values of the two give it."""

    def __init__(self, laws: PairLaws, apart: set[tuple[int, int]], *, set_laws: bool) -> None:
        self._laws, self._apart, self._set_laws = laws, apart, set_laws

    def filter_contact_pair(self, context: Any) -> Any:
        i, j = (int(context.colliders[c].user_data) for c in (context.collider1, context.collider2))
        return None if (min(i, j), max(i, j)) in self._apart else rapier.SolverFlags.COMPUTE_IMPULSES

    def filter_intersection_pair(self, context: Any) -> bool:
        return True

    def modify_solver_contacts(self, context: Any) -> None:
        i, j = (int(context.colliders[c].user_data) for c in (context.collider1, context.collider2))
        context.friction, context.restitution = self._laws.of(i, j)


def _pose(position: Array, orientation: Array) -> Any:
    return rapier.Isometry3(tuple(position.tolist()), rapier.Rotation3(*orientation.tolist()))


def _plain(value: Any) -> Any:
    return value if isinstance(value, bool | int | float) else str(value).partition(".")[2].lower() or str(value)


def _collider(piece: Piece) -> Any:
    turn = (0.0, 0.0, piece.angle)
    match piece.kind:
        case "sphere":
            made = rapier.Collider.ball(*piece.size)
        case "box":
            made = rapier.Collider.cuboid(*piece.size)
        case "capsule":
            made = rapier.Collider.capsule_z(piece.size[1], piece.size[0])
        case "cylinder":
            made, turn = rapier.Collider.cylinder(piece.size[1], piece.size[0]), QUARTER_TURN
        case "hull":
            made = rapier.Collider.convex_hull(piece.points.astype(np.float32))
    if piece.is_turned:
        turn = turned_by(np.array(piece.orientation), turn)
    return made.translation(piece.center).rotation(turn) if any(piece.center) or any(turn) else made


def turned_by(orientation: Array, turn: tuple[float, float, float]) -> tuple[float, float, float]:
    """Rotation vector, which Rapier's builder takes: first a turn about one axis of the body, then the quaternion."""
    angle = math.hypot(*turn)
    first = np.array([math.cos(0.5 * angle), *(math.sin(0.5 * angle) * np.array(turn) / (angle or 1.0))])
    w, *u = quaternion_product(orientation, first).tolist()
    sine = math.hypot(*u)
    x, y, z = (np.array(u) * (2.0 * math.atan2(sine, w) / sine if sine > 0.0 else 2.0)).tolist()
    return x, y, z

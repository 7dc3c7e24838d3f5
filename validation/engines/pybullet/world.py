"""A scene as a pybullet world: multibodies in reduced coordinates, contacts with the law of each pair."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pybullet as pb

from reference_engine.array_types import Array
from scenarios import mass
from scenarios.given_motion import given_bodies
from scenarios.scene import PlanarScene, Scene, masses, planar_start
from validation.engines.engine import Settings
from validation.engines.pybullet.trees import BASE, UPRIGHT, X_Y_ANGLE, Tree, trees_of, xyzw
from validation.engines.shared import embedding, joint_tree
from validation.engines.shared.joint_tree import Link, joint_forest, link_state, non_colliding_pairs
from validation.engines.shared.linear_contact import body_values
from validation.engines.shared.pair_laws import PairLaws
from validation.engines.shared.spatial_pieces import Piece, spatial_pieces, wall_of

SELF_COLLISION = pb.URDF_USE_SELF_COLLISION | pb.URDF_USE_SELF_COLLISION_INCLUDE_PARENT  # we say who meets whom
UNLIMITED = 1e12  # N
HEAVY = 1e4  # times the heaviest, of a body of given motion, which is set at every step

Address = tuple[int, int]  # pybullet's number of the multibody, and of the link in it
SHAPES = {
    "sphere": pb.GEOM_SPHERE,
    "box": pb.GEOM_BOX,
    "capsule": pb.GEOM_CAPSULE,
    "cylinder": pb.GEOM_CYLINDER,
    "hull": pb.GEOM_MESH,
}
KINDS = {
    "prismatic": pb.JOINT_PRISMATIC,
    "revolute": pb.JOINT_REVOLUTE,
    "spherical": pb.JOINT_SPHERICAL,
    "fixed": pb.JOINT_FIXED,
}


class Built:
    """The scene in a pybullet client of its own, which nothing else has used."""

    def __init__(self, client: int, scene: Scene, dt: float, settings: Settings) -> None:
        self.client = client
        self.addresses: list[Address] = [(-1, BASE)] * len(scene.bodies)  # of the scene's bodies
        self.member: dict[Address, int] = {}  # back to the scene's bodies and, after them, boundaries
        self.hinges: dict[int, list[int]] = {}  # planar: the hinges of its multibody whose angles sum to a body's,
        self.turn: dict[int, float] = {}  # rad: but for what links that slide are turned
        self._scene, self._settings = scene, settings
        self._position, self._orientation, _, _ = in_space = embedding.start_in_space(scene)
        self._start = planar_start(scene) if isinstance(scene, PlanarScene) else in_space
        self._mass = masses(scene)
        self._inertia = embedding.inertias_in_space(scene, out_of_plane=1.0)
        self._planar = isinstance(scene, PlanarScene)
        self._meshes: set[int] = set()  # bodies that Bullet knows by their vertices alone
        self._damping = {
            "linearDamping": settings["linear_damping"],
            "angularDamping": settings["angular_damping"],
            "maxJointVelocity": settings["max_speed"],
            "jointDamping": 0.0,
        }
        self._set_engine(dt)
        self.links, loops = joint_forest(scene)
        for one in trees_of(scene, self.links):
            if isinstance(one, Tree):
                self._add_tree(one)
            else:
                shape, heavy = self._shape(one, np.zeros(3)), 0.0
                if scene.bodies[one].motion is not None:
                    heavy = HEAVY * float(self._mass[[not body.fixed for body in scene.bodies]].max(initial=1.0))
                at = (self._position[one].tolist(), xyzw(self._orientation[one]))
                self._register(one, (self._call(pb.createMultiBody, heavy, shape, -1, *at), BASE))
                if heavy:
                    self._let_go(one, heavy)
        # Of a body without a visual shape pybullet draws the collision shape: 7 ms for a plane, and nobody looks.
        small = self._call(pb.createVisualShape, pb.GEOM_BOX, halfExtents=[0.1, 0.1, 0.1]) if scene.boundaries else -1
        for j, boundary in enumerate(scene.boundaries, start=len(scene.bodies)):
            origin, shape = self._boundary(boundary)
            number = self._call(pb.createMultiBody, 0.0, shape, small, origin.tolist())
            self.member[number, BASE] = j
        self._set_contact_laws()
        for i, j in non_colliding_pairs(scene):
            (a, link_a), (b, link_b) = self.addresses[i], self.addresses[j]
            self._call(pb.setCollisionFilterPair, a, b, link_a, link_b, 0)
        self._let_pass()
        for joint in loops:
            self._close_loop(joint)

    def _call(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs, physicsClientId=self.client)

    # --- the engine -----------------------------------------------------------------------------------

    def _set_engine(self, dt: float) -> None:
        """Everything is set, also what stands at its default: the breaking threshold outlives its client."""
        s = self._settings
        self._call(pb.setTimeStep, dt)
        self._call(pb.setGravity, *embedding.vector_in_space(self._scene.gravity))
        self._call(
            pb.setPhysicsEngineParameter,
            numSolverIterations=s["iterations"],
            solverResidualThreshold=s["residual_threshold"],
            contactBreakingThreshold=s["contact_breaking_threshold"],
            contactERP=s["contact_erp"],
            contactSlop=s["contact_slop"],
            restitutionVelocityThreshold=s["restitution_velocity_threshold"],
            enableConeFriction=int(s["cone_friction"]),
            globalCFM=s["global_cfm"],
            deterministicOverlappingPairs=int(s["deterministic_overlapping_pairs"]),
        )

    # --- bodies ---------------------------------------------------------------------------------------

    def _add_tree(self, tree: Tree) -> None:
        base = tree.base
        of_base: dict[str, Any] = {"baseMass": 0.0, "basePosition": [0.0] * 3, "baseOrientation": xyzw(UPRIGHT)}
        if base is not None:
            of_base = {
                "baseMass": float(self._mass[base]),
                "baseCollisionShapeIndex": self._shape(base, np.zeros(3)),
                "basePosition": self._position[base].tolist(),
                "baseOrientation": xyzw(self._orientation[base]),
            }
        segments = tree.segments
        number = self._call(
            pb.createMultiBody,
            **of_base,
            linkMasses=[s.mass for s in segments],
            linkCollisionShapeIndices=[-1 if s.body is None else self._shape(s.body, s.center) for s in segments],
            linkVisualShapeIndices=[-1] * len(segments),
            linkPositions=[s.position.tolist() for s in segments],
            linkOrientations=[xyzw(s.orientation) for s in segments],
            linkInertialFramePositions=[s.center.tolist() for s in segments],
            linkInertialFrameOrientations=[xyzw(UPRIGHT)] * len(segments),
            linkParentIndices=[s.parent + 1 for s in segments],
            linkJointTypes=[KINDS[s.kind] for s in segments],
            linkJointAxis=[s.axis.tolist() for s in segments],
            flags=SELF_COLLISION,
        )
        if number < 0:
            raise RuntimeError(f"pybullet could not make the body {self._scene.bodies[tree.first].name!r}")
        for link in tree.links:
            self._register(link.body, (number, tree.segment_of[link.body]))
        self.hinges |= tree.hinges
        self.turn |= tree.turn
        for k in range(-1, len(segments)):
            self._call(pb.changeDynamics, number, k, **self._damping)
        for k, segment in enumerate(segments):  # pybullet gives every joint a brake of its own
            if segment.kind == "spherical":
                still = {"targetPosition": xyzw(UPRIGHT), "positionGain": 0.0, "velocityGain": 0.0}
                control, zero = pb.POSITION_CONTROL, [0.0, 0.0, 0.0]
                self._call(pb.setJointMotorControlMultiDof, number, k, control, force=zero, **still)
            elif segment.kind != "fixed":
                self._call(pb.setJointMotorControl2, number, k, pb.VELOCITY_CONTROL, force=0.0)
        for link in tree.links:
            self._set_along(link)
        for link in tree.links:
            self.set_link_state(link, *self._start, moved=False)

    def _set_along(self, link: Link) -> None:
        """Dry friction of a hinge or slider, which is a brake of that force at most, and its limits."""
        number, k = self.addresses[link.body]
        joint: Any = link.joint
        if not getattr(joint, "is_driven", False):
            return
        if joint.friction:
            self._call(
                pb.setJointMotorControl2, number, k, pb.VELOCITY_CONTROL, targetVelocity=0.0, force=joint.friction
            )
        if joint.limits is not None:
            low, high = sorted(map(link.at, (joint.limits.low, joint.limits.high)))
            self._call(pb.changeDynamics, number, k, jointLowerLimit=low, jointUpperLimit=high)

    def set_link_state(self, link: Link, *state: Any, moved: bool = True) -> None:
        """Sets a body to its part of a state of the scene; `moved`: also a base that was made where it is."""
        number, k = self.addresses[link.body]
        if link.joint is not None:
            coordinates, rate = link_state(self._scene, link, *state)
            if link.is_fixed:
                return
            if link.axis is None:
                self._call(pb.resetJointStateMultiDof, number, k, xyzw(coordinates), rate.tolist())
            else:
                self._call(pb.resetJointState, number, k, coordinates[0], rate[0])
        elif self._planar:
            for joint, coordinates, rate in zip(X_Y_ANGLE, *(part[link.body].tolist() for part in state)):
                self._call(pb.resetJointState, number, joint, coordinates, rate)
        else:
            position, orientation, velocity, spin = (part[link.body] for part in state)
            if moved:
                self._call(pb.resetBasePositionAndOrientation, number, position.tolist(), xyzw(orientation))
            self._call(pb.resetBaseVelocity, number, velocity.tolist(), spin.tolist())

    # --- given motion ---------------------------------------------------------------------------------

    def _let_go(self, i: int, heavy: float) -> None:
        """What is set at every step turns by nothing of its own: no damping, and the same moment about all axes."""
        moment = heavy * float(np.square(mass.bounding_radius(self._scene.bodies[i].shape)))
        self._call(
            pb.changeDynamics,
            *self.addresses[i],
            localInertiaDiagonal=[moment] * 3,
            linearDamping=0.0,
            angularDamping=0.0,
        )

    def _let_pass(self) -> None:
        """What has a given motion passes through what is fixed, which to Bullet it is not."""
        given = given_bodies(self._scene)
        bodies = [i for i, body in enumerate(self._scene.bodies) if body.fixed]
        still = [
            address for address, member in self.member.items() if member in bodies or member >= len(self.addresses)
        ]
        for i in given:
            number, link = self.addresses[i]
            for other, k in still:
                if other != number:
                    self._call(pb.setCollisionFilterPair, number, other, link, k, 0)

    def start_given(self, i: int, number: int, time: float, dt: float) -> None:
        """The velocity of a body of given motion that brings it where it is after this step, against gravity."""
        body = self._scene.bodies[i]
        (now, _, _, _), (after, _, _, spin) = (embedding.given_in_space(body, t) for t in (time, time + dt))
        velocity = (after - now) / dt - dt * embedding.vector_in_space(self._scene.gravity)
        self._call(pb.resetBaseVelocity, number, velocity.tolist(), spin.tolist())

    def put_given(self, i: int, number: int, time: float) -> None:
        """A body of given motion, where it is at this time, s."""
        position, orientation, _, _ = embedding.given_in_space(self._scene.bodies[i], time)
        self._call(pb.resetBasePositionAndOrientation, number, position.tolist(), xyzw(orientation))

    def _register(self, i: int, address: Address) -> None:
        self.addresses[i] = address
        self.member[address] = i
        body: Any = self._scene.bodies[i]
        if not body.fixed:
            self._call(pb.changeDynamics, *address, localInertiaDiagonal=self._inertia[i].tolist())
        if i in self._meshes:  # a mesh would be 1 mm larger all around; what Bullet has a formula for is not
            self._call(pb.changeDynamics, *address, collisionMargin=0.0)

    def _shape(self, i: int, center: Array) -> int:
        """Of a body whose frame has its origin at `center` (3,) of the frame that it is fixed to."""
        pieces = list(spatial_pieces(self._scene.bodies[i].shape, int(self._settings["ellipsoid_subdivisions"])))
        if len(pieces) > 1:
            return self._shape_of_many(pieces, center)
        (piece,) = pieces
        given: dict[str, Any] = {"collisionFramePosition": (center + np.array(piece.center)).tolist()}
        if piece.kind == "box" or piece.is_turned:
            given["collisionFrameOrientation"] = xyzw(piece.quaternion)
        match piece.kind:
            case "sphere":
                given["radius"] = piece.size[0]
            case "box":
                given["halfExtents"] = piece.size
            case "capsule" | "cylinder":
                given |= {"radius": piece.size[0], "height": 2.0 * piece.size[1]}
            case "hull":
                self._meshes.add(i)
                given = {"vertices": (piece.points + center).tolist()}
        return self._made(SHAPES[piece.kind], **given)

    def _shape_of_many(self, pieces: Sequence[Piece], center: Array) -> int:
        """Of a compound; hulls of points cannot be among them, and are declined before."""
        sizes: list[Any] = [(0.0, 0.0)] * len(pieces)
        for k, piece in enumerate(pieces):
            if piece.kind == "sphere":
                sizes[k] = (piece.size[0], 0.0)
            elif piece.kind in ("capsule", "cylinder"):
                sizes[k] = (piece.size[0], 2.0 * piece.size[1])
        number: int = self._call(
            pb.createCollisionShapeArray,
            shapeTypes=[SHAPES[piece.kind] for piece in pieces],
            radii=[radius for radius, _ in sizes],
            lengths=[length for _, length in sizes],
            halfExtents=[piece.size if piece.kind == "box" else (0.0, 0.0, 0.0) for piece in pieces],
            collisionFramePositions=[(center + np.array(piece.center)).tolist() for piece in pieces],
            collisionFrameOrientations=[xyzw(piece.quaternion) for piece in pieces],
        )
        if number < 0:
            raise RuntimeError(f"pybullet could not make a collision shape of {len(pieces)} pieces")
        return number

    def _boundary(self, boundary: Any) -> tuple[Array, int]:
        """Where it is, and its shape; a mesh may be concave where it is fixed."""
        wall = wall_of(boundary, self._settings)
        if wall.normal is not None:
            return wall.origin, self._made(
                pb.GEOM_PLANE, planeNormal=embedding.vector_in_space(boundary.normal).tolist()
            )
        triangles = wall.triangles[:, [0, 2, 1]]  # either side is solid to Bullet; its bits hang on the order
        if boundary.kind == "hollow-sphere":
            _, triangles = embedding.icosphere(int(self._settings["sphere_subdivisions"]))
        # Given as arrays, not as a file: pybullet keeps meshes by the name of their file.
        mesh = {"vertices": wall.vertices.tolist(), "indices": triangles.ravel().tolist()}
        return wall.origin, self._made(pb.GEOM_MESH, flags=pb.GEOM_FORCE_CONCAVE_TRIMESH, **mesh)

    def _made(self, kind: int, **given: Any) -> int:
        number: int = self._call(pb.createCollisionShape, kind, **given)
        if number < 0:
            raise RuntimeError(f"pybullet could not make a collision shape of {', '.join(given)}")
        return number

    # --- who meets whom, and how ------------------------------------------------------------------------

    def _set_contact_laws(self) -> None:
        laws = PairLaws(self._scene)
        friction = laws.shape_values("friction", "product")
        restitution = laws.shape_values("restitution", "product")
        assert friction is not None and restitution is not None, "declined before"
        for address, member in self.member.items():
            self._call(
                pb.changeDynamics,
                *address,
                lateralFriction=friction[member],
                restitution=restitution[member],
                spinningFriction=0.0,
                rollingFriction=0.0,
            )
        if self._scene.contact.compliant is not None:
            springs = body_values(self._scene)
            assert springs is not None, "declined before"
            for address, member in self.member.items():
                stiffness, damping = (values[member] for values in springs)
                self._call(pb.changeDynamics, *address, restitution=0.0)
                self._call(pb.changeDynamics, *address, contactStiffness=stiffness, contactDamping=damping)

    def _close_loop(self, joint: joint_tree.TreeJoint) -> None:
        """A soft constraint between two links of the forest, or one of them and a point of the world."""
        index = {body.name: i for i, body in enumerate(self._scene.bodies)}
        a, link_a = self.addresses[index[joint.a]]
        b, link_b = (-1, BASE) if joint.b is None else self.addresses[index[joint.b]]
        tie = self._call(
            pb.createConstraint,
            a,
            link_a,
            b,
            link_b,
            pb.JOINT_POINT2POINT,
            [0.0, 0.0, 0.0],
            embedding.vector_in_space(joint.anchor_a).tolist(),
            embedding.vector_in_space(joint.anchor_b).tolist(),
        )
        self._call(pb.changeConstraint, tie, maxForce=UNLIMITED)  # it gives way at 500 N

"""A planar scene as Chipmunk has it: bodies, slabs for half-planes, segments for a bowl, joints; its answers."""

import math
import struct
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pymunk

from reference_engine.array_types import Array
from scenarios.forces import planar_wrenches
from scenarios.given_motion import given_state
from scenarios.pieces import planar_pieces
from scenarios.scene import Bowl, Disc, HalfPlane, PlanarScene, Prismatic, Revolute, Rod, inertias
from validation.engines.engine import Settings, Value
from validation.engines.shared import recorder
from validation.engines.shared.pair_laws import PairLaws
from validation.engines.shared.planar_boundaries import SlabWorld, bowl_facets, in_order

try:
    from pymunk import batch
except ImportError:
    batch = None  # type: ignore[assignment]  # a module or none


SINCE_6_6 = batch is not None
WIDTH = 6  # x, y, angle, vx, vy, spin
OPTIONS = (
    "iterations", "damping", "collision_slop", "collision_bias", "collision_persistence", "idle_speed_threshold",
    "sleep_time_threshold",
)  # fmt: skip
GROOVE = 1e5  # m either way: a groove has ends; at such lengths Chipmunk's sums are still right to 1e-11 m


class World(SlabWorld):
    """The scene as Chipmunk has it. Members are bodies, then boundaries."""

    def __init__(self, scene: PlanarScene, dt: float, settings: Settings, lengthening: float = 1.0) -> None:
        super().__init__(scene, dt, settings, lengthening)
        self.velocity_lag = dt / 2  # positions first: x += v dt, then v += a dt
        self.space = space = pymunk.Space()
        space.gravity = scene.gravity
        space.iterations = int(settings["iterations"])
        space.collision_slop = float(settings["collision_slop"])
        space.collision_bias = float(settings["collision_bias"])
        space.collision_persistence = int(settings["collision_persistence"])
        space.sleep_time_threshold = float(settings["sleep_time_threshold"]) or math.inf
        self._laws = PairLaws(scene)
        self._member: dict[pymunk.Shape, int] = {}
        self._boundary_positions: list[tuple[float, float]] = []
        self._faults: list[Exception] = []
        self.bodies = [self._body(i, moment) for i, moment in enumerate(inertias(scene))]
        for j, boundary in enumerate(scene.boundaries, start=len(scene.bodies)):
            self._boundary(j, boundary, int(settings["bowl_segments"]))
        named = {given.name: body for given, body in zip(scene.bodies, self.bodies)}
        for joint in scene.joints:
            self._joint(joint, named, float(settings["joint_bias"]))
        self._set_laws()
        self._member_at = {shape._shape: member for shape, member in self._member.items()}
        self._list_bodies()
        self._applied: list[tuple[pymunk.Body, tuple[float, float], tuple[float, float]]] = []  # forces of the next

    # --- build ---

    def _body(self, i: int, moment: float) -> pymunk.Body:
        given = self.scene.bodies[i]
        kind = pymunk.Body.STATIC if given.motion is None else pymunk.Body.KINEMATIC
        body = (
            pymunk.Body(body_type=kind)
            if given.fixed
            else pymunk.Body(mass=float(given.mass or math.nan), moment=float(moment))
        )
        body.position, body.angle = given.position, given.angle
        if not given.fixed:
            body.velocity, body.angular_velocity = given.velocity, given.spin
        self.space.add(body)
        for one, center in planar_pieces(given.shape):
            shape: pymunk.Shape
            margin = given.margin or 0.0
            if isinstance(one, Disc):
                shape = pymunk.Circle(body, one.radius + margin, center)
            else:
                shape = pymunk.Poly(body, one.vertices, radius=margin)
            shape.filter = pymunk.ShapeFilter(group=given.group)  # its groups are the scene's
            self._member[shape] = i
            self.space.add(shape)
        return body

    def _boundary(self, j: int, boundary: HalfPlane | Bowl, segments: int) -> None:
        body = pymunk.Body(body_type=pymunk.Body.STATIC)
        shapes: list[pymunk.Shape]
        if isinstance(boundary, HalfPlane):
            made = self.slab_of(boundary)
            body.position, body.angle = made.origin, made.angle
            shapes = [pymunk.Poly(body, made.vertices, radius=boundary.margin or 0.0)]
        else:
            v = [(float(x), float(y)) for x, y in bowl_facets(boundary, segments)]
            shapes = []
            for i in range(segments):
                facet = pymunk.Segment(body, v[i], v[(i + 1) % segments], boundary.margin or 0.0)
                facet.set_neighbors(v[i - 1], v[(i + 2) % segments])  # else a disc trips over its corners
                shapes.append(facet)
        self._member |= dict.fromkeys(shapes, j)
        self._boundary_positions.append((body.position.x, body.position.y))
        self.space.add(body, *shapes)

    def _joint(self, joint: Any, named: dict[str, pymunk.Body], bias: float) -> None:
        a = named[joint.a]
        b = self.space.static_body if joint.b is None else named[joint.b]
        if pymunk.Body.DYNAMIC not in (a.body_type, b.body_type):
            return  # holds by itself, and Chipmunk aborts on it
        ties: list[pymunk.Constraint]
        if isinstance(joint, Revolute):
            ties = [pymunk.PivotJoint(a, b, joint.anchor_a, joint.anchor_b)]
        elif isinstance(joint, Prismatic):
            (x, y), length = joint.anchor_a, math.hypot(*joint.axis)
            ux, uy = (GROOVE * part / length for part in joint.axis)
            groove = pymunk.GrooveJoint(a, b, (x - ux, y - uy), (x + ux, y + uy), joint.anchor_b)
            ties = [groove, pymunk.GearJoint(a, b, b.angle - a.angle, 1.0)]
        elif isinstance(joint, Rod):
            rod = pymunk.PinJoint(a, b, joint.anchor_a, joint.anchor_b)
            rod.distance = joint.length
            ties = [rod]
        else:
            ties = [pymunk.SlideJoint(a, b, joint.anchor_a, joint.anchor_b, 0.0, joint.length)]
        for tie in ties:
            tie.collide_bodies = joint.collide
            tie.error_bias = bias
            self.space.add(tie)

    def _set_laws(self) -> None:
        friction = self._laws.shape_values("friction", "product")
        restitution = self._laws.shape_values("restitution", "product")
        if friction is None or restitution is None:
            space: Any = self.space
            if hasattr(space, "on_collision"):
                space.on_collision(pre_solve=self._set_law)
            else:  # before pymunk 7
                space.add_default_collision_handler().pre_solve = self._set_law
            return
        for shape, member in self._member.items():
            shape.friction, shape.elasticity = friction[member], restitution[member]

    def _set_law(self, arbiter: pymunk.Arbiter, space: pymunk.Space, data: Any) -> bool:
        """True, which before pymunk 7 says that the bodies collide."""
        # An exception in a callback is printed and forgotten: it is kept, and raised after the step.
        try:
            a, b = arbiter.shapes
            arbiter.friction, arbiter.restitution = self._laws.of(self._member[a], self._member[b])
        except Exception as error:
            self._faults.append(error)
        return True

    # --- step ---

    def step(self, *, watched: bool = False) -> None:
        self.steps += 1
        if self.has_forces:
            self._apply_forces()
        for body, force, point in self._applied:
            body.apply_force_at_world_point(force, point)
        self._applied.clear()
        self._drive_given()
        self.space.step(self.dt)
        self._pass_given()
        if self._faults:
            raise self._faults[0]

    def _drive_given(self) -> None:
        """Velocities that take bodies of given motion to where they are at the end of the step."""
        for i in self.given:
            body, (pose, _) = self.bodies[i], given_state(self.scene.bodies[i], self.steps * self.dt)
            x, y = body.position
            body.velocity = ((pose[0] - x) / self.dt, (pose[1] - y) / self.dt)
            body.angular_velocity = (pose[2] - body.angle) / self.dt

    def _pass_given(self) -> None:
        """Their velocities half a step after the poses, as of all other bodies."""
        for i in self.given:
            _, twist = given_state(self.scene.bodies[i], self.steps * self.dt + self.velocity_lag)
            self.bodies[i].velocity, self.bodies[i].angular_velocity = (twist[0], twist[1]), twist[2]

    def _apply_forces(self) -> None:
        """Springs, thrusters and damping of the step to come.

        The step moves the bodies before it accelerates them, so the forces are those of where they will be;
        taken where they are now, every spring would gain energy.
        """
        state = self.state()
        pose = state[:, :3] + self.dt * state[:, 3:]
        wrenches = planar_wrenches(self.scene, self.steps * self.dt, pose, state[:, 3:]).tolist()
        for body, (fx, fy, torque) in zip(self.bodies, wrenches):
            if body.body_type == pymunk.Body.DYNAMIC:
                body.force, body.torque = (fx, fy), torque

    # --- abilities ---

    def set_state(self, *state: Any, time: float = 0.0) -> None:
        self.steps = round(time / self.dt)
        for i in self.moving:
            body, (pose, twist) = self.bodies[i], (part[i].tolist() for part in state)
            body.position, body.angle = (pose[0], pose[1]), pose[2]
            body.velocity, body.angular_velocity = (twist[0], twist[1]), twist[2]
            self.space.reindex_shapes_for_body(body)

    def apply_force(self, body: int, force: Sequence[float], point: Sequence[float] | None = None) -> None:
        if body in self.free:
            at = self.bodies[body].position if point is None else point
            self._applied.append((self.bodies[body], (force[0], force[1]), (at[0], at[1])))

    def options(self) -> dict[str, Value]:
        """Chipmunk's infinite time before bodies sleep is 0, as in the settings: numbers are finite."""
        found = {name: getattr(self.space, name) for name in OPTIONS}
        if found["sleep_time_threshold"] == math.inf:
            found["sleep_time_threshold"] = 0.0
        return found | {"gravity": str(tuple(self.space.gravity))}

    # --- read ---

    def _list_bodies(self) -> None:
        """In which order Chipmunk lists them: a state is one call where pymunk has it (6.6 and later)."""
        self._rows = np.arange(len(self.bodies))
        if batch is None:
            return
        names = batch.BodyFields
        self._fields = names.BODY_ID | names.POSITION | names.ANGLE | names.VELOCITY | names.ANGULAR_VELOCITY
        self._buffer = batch.Buffer()
        batch.get_space_bodies(self.space, self._fields, self._buffer)
        self._first_order = bytes(self._buffer.int_buf())
        row = _rows(self._first_order)
        self._rows = np.array([row[body.id] for body in self.bodies], np.intp)

    def read(self) -> bytes:
        """Every body's numbers as Chipmunk holds them, in the order in which it listed them first."""
        if batch is None:
            return b"".join(
                struct.pack("6d", *body.position, body.angle, *body.velocity, body.angular_velocity)
                for body in self.bodies
            )
        self._buffer.clear()
        batch.get_space_bodies(self.space, self._fields, self._buffer)
        numbers = bytes(self._buffer.int_buf())
        if numbers == self._first_order:
            return bytes(self._buffer.float_buf())
        row = _rows(numbers)  # bodies fell asleep or woke: they are in another order then
        order = [row[number] for number in np.frombuffer(self._first_order, np.uintp).tolist()]
        return bytes(np.frombuffer(self._buffer.float_buf(), np.float64).reshape(-1, WIDTH)[order].tobytes())

    def decode(self, raw: bytes, steps: int) -> tuple[Array, Array]:
        """Pose and twist, (steps, B, 3), of so many `read`, one after the other."""
        state = np.frombuffer(raw, np.float64).reshape(steps, -1, WIDTH)[:, self._rows]
        return state[..., :3], state[..., 3:]

    def contacts(self) -> recorder.Rows | None:
        """Every contact point of every touching pair, as of the step just made.

        pymunk's own names give the impulse of a pair, not of each of its points, and two points' total does not
        give their torque. So the points are read from Chipmunk's own record, whose fields are those of its cpArbiter.
        """
        if not SINCE_6_6:  # the record is sealed in earlier ones
            return None
        rows: list[tuple[Any, ...]] = []
        position = [*map(tuple, self.state()[:, :2].tolist()), *self._boundary_positions]
        for i, body in enumerate(self.bodies):
            if body.body_type != pymunk.Body.DYNAMIC:
                continue
            found: list[pymunk.Arbiter] = []
            body.each_arbiter(found.append)  # looked at outside, where an exception is not swallowed
            for arbiter in found:
                record = arbiter._arbiter
                a, b = self._member_at[record.a], self._member_at[record.b]
                if i == min(a, b) or min(a, b) not in self.free:  # two free bodies both report it
                    rows += contact_points(record, a, b, position[a], position[b])
        return list(zip(*rows)) if rows else None


def contact_points(
    record: Any, a: int, b: int, at_a: tuple[float, float], at_b: tuple[float, float]
) -> Iterator[tuple[Any, ...]]:
    """(first member, second, point, normal, gap, impulse on the second) of each point of a cpArbiter."""
    nx, ny = record.n.x, record.n.y  # from a to b
    for k in range(record.count):
        point = record.contacts[k]
        ax, ay = at_a[0] + point.r1.x, at_a[1] + point.r1.y
        bx, by = at_b[0] + point.r2.x, at_b[1] + point.r2.y
        gap = (bx - ax) * nx + (by - ay) * ny
        along, across = point.jnAcc, point.jtAcc
        px, py = along * nx - across * ny, along * ny + across * nx
        middle = (0.5 * (ax + bx), 0.5 * (ay + by))
        yield in_order(a, b, middle, (nx, ny), gap, (px, py))


def _rows(numbers: bytes) -> dict[int, int]:
    """Body's number -> its row."""
    return {number: i for i, number in enumerate(np.frombuffer(numbers, np.uintp).tolist())}

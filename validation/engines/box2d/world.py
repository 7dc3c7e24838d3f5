"""A planar scene as Box2D has it: bodies, slabs for half-planes, a loop of edges for a bowl, joints; its answers."""

import ctypes
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from Box2D import b2_linearSlop, b2_polygonRadius, b2ContactListener, b2MassData, b2World
from numpy.typing import NDArray

from reference_engine.array_types import Array
from scenarios.forces import planar_wrenches
from scenarios.given_motion import given_state
from scenarios.pieces import planar_pieces
from scenarios.scene import Bowl, Disc, HalfPlane, PlanarScene, Prismatic, Revolute, Rod, inertias
from validation.engines.engine import DeclinedError, Settings, Value
from validation.engines.shared import recorder
from validation.engines.shared.pair_laws import PairLaws
from validation.engines.shared.planar_boundaries import SlabWorld, bowl_facets, in_order, inset

SKIN = round(float(b2_polygonRadius), 6)  # m, about a polygon or an edge
SHORTEST_EDGE = 1.2 * float(b2_linearSlop)  # m; Box2D refuses edges as short as its slop, 5 mm
FLOAT = 4  # bytes
CIRCLES, FACE_A, FACE_B = range(3)  # b2Manifold's types
Point = tuple[float, float]
Frame = tuple[float, float, float, float]  # x, y, cosine, sine


class Fixture(NamedTuple):
    """What a fixture is of."""

    member: int
    radius: float  # m: of a disc its own, of all others their skin's


def most_facets(bowl: Bowl) -> int:
    """Facets of a bowl that are no shorter than Box2D takes them."""
    return int(2.0 * math.pi * bowl.radius / SHORTEST_EDGE)


class World(SlabWorld):
    """The scene as Box2D has it. Members are bodies, then boundaries."""

    slowed_by_watching = True

    def __init__(self, scene: PlanarScene, dt: float, settings: Settings, lengthening: float = 1.0) -> None:
        super().__init__(scene, dt, settings, lengthening)
        self.velocity_lag = -dt / 2  # velocities first: v += a dt, then x += v dt
        self.world = b2World(gravity=scene.gravity)
        # Not by the constructor's doSleep: in 2.3.10 it sets a Python attribute that Box2D never sees.
        self.world.SetAllowSleeping(bool(settings["allow_sleep"]))
        self.world.warmStarting = bool(settings["warm_starting"])
        self.world.continuousPhysics = bool(settings["continuous"])
        self._iterations = int(settings["velocity_iterations"]), int(settings["position_iterations"])
        self._inset = float(settings["polygon_inset"])
        self.contact_tolerance = 2.0 * (SKIN - self._inset)  # of two polygons, a skin each
        self._laws = PairLaws(scene)
        friction = self._laws.shape_values("friction", "geometric-mean")
        restitution = self._laws.shape_values("restitution", "max")
        by_contact = self._laws if friction is None or restitution is None else None
        members = len(scene.bodies) + len(scene.boundaries)
        self._material = list(zip(friction or [0.0] * members, restitution or [0.0] * members))
        self._boundary_poses: list[tuple[float, float, float]] = []
        # Shapes of one negative group never meet. Its groups are 16 bits wide: ours are numbered anew.
        groups = sorted({body.group for body in scene.bodies if body.group})
        self._group = {group: -1 - k for k, group in enumerate(groups)}
        self.bodies = [self._body(i, moment) for i, moment in enumerate(inertias(scene))]
        for j, boundary in enumerate(scene.boundaries, start=len(scene.bodies)):
            self._boundary(j, boundary, int(settings["bowl_segments"]))
        self._world_body = self.world.CreateStaticBody()
        named = {given.name: body for given, body in zip(scene.bodies, self.bodies)}
        for joint in scene.joints:
            self._joint(joint, named)
        self._start = [part.astype(np.float32) for part in self.start]
        self._before = np.concatenate(self._start, axis=1)
        self._moving = [self.bodies[i] for i in self.moving]
        self._records = body_records(self._moving)
        self._silent = Listener(by_contact) if by_contact else None
        self._reporter = Reporter(by_contact)
        self.world.contactListener = self._silent
        self._listens = False

    # --- build ---

    def _body(self, i: int, moment: float) -> Any:
        given = self.scene.bodies[i]
        if given.motion is not None:
            body = self.world.CreateKinematicBody(position=given.position, angle=given.angle)
        elif given.fixed:
            body = self.world.CreateStaticBody(position=given.position, angle=given.angle)
        else:
            body = self.world.CreateDynamicBody(
                position=given.position, angle=given.angle, linearVelocity=given.velocity, angularVelocity=given.spin
            )
        filtered = {"groupIndex": self._group[given.group]} if given.group else {}
        for one, center in planar_pieces(given.shape):
            if isinstance(one, Disc):
                fixture = body.CreateCircleFixture(radius=one.radius, pos=center, **self._surface(i), **filtered)
            else:
                vertices = self._drawn(given.name, one.vertices)
                fixture = body.CreatePolygonFixture(vertices=vertices, **self._surface(i), **filtered)
            self._add_fixture(fixture, i)
        if not given.fixed:  # after the shape, which makes a mass of its own
            body.massData = b2MassData(mass=given.mass, center=(0.0, 0.0), I=float(moment))
        return body

    def _boundary(self, j: int, boundary: HalfPlane | Bowl, segments: int) -> None:
        if isinstance(boundary, HalfPlane):
            made = self.slab_of(boundary)
            body = self.world.CreateStaticBody(position=made.origin, angle=made.angle)
            vertices = self._drawn(boundary.name, made.vertices)
            fixture = body.CreatePolygonFixture(vertices=vertices, **self._surface(j))
        else:
            body = self.world.CreateStaticBody(position=boundary.center)
            count = min(segments, most_facets(boundary))
            corners = bowl_facets(boundary, count) - np.array(boundary.center)
            fixture = body.CreateLoopFixture(vertices=corners.tolist(), **self._surface(j))
        self._add_fixture(fixture, j)
        self._boundary_poses.append((body.position.x, body.position.y, body.angle))

    def _add_fixture(self, fixture: Any, member: int) -> None:
        fixture.userData = Fixture(member, float(fixture.shape.radius))

    def _surface(self, member: int) -> dict[str, float]:
        friction, restitution = self._material[member]
        return {"density": 1.0, "friction": friction, "restitution": restitution}

    def _drawn(self, name: str, vertices: tuple[tuple[float, float], ...]) -> list[tuple[float, float]]:
        if self._inset == 0.0:
            return list(vertices)
        smaller = inset(vertices, self._inset)
        if smaller is None:
            raise DeclinedError(f"polygon_inset {self._inset:g} m leaves nothing of {name!r}; make it smaller")
        return smaller

    def _joint(self, joint: Any, named: dict[str, Any]) -> None:
        ends = {
            "bodyA": named[joint.a],
            "bodyB": self._world_body if joint.b is None else named[joint.b],
            "localAnchorA": joint.anchor_a,
            "localAnchorB": joint.anchor_b,
            "collideConnected": joint.collide,
        }
        if isinstance(joint, Revolute):
            self.world.CreateRevoluteJoint(**ends)
        elif isinstance(joint, Prismatic):
            length = math.hypot(*joint.axis)
            axis = (joint.axis[0] / length, joint.axis[1] / length)
            turned = ends["bodyB"].angle - ends["bodyA"].angle
            self.world.CreatePrismaticJoint(**ends, localAxisA=axis, referenceAngle=turned)
        elif isinstance(joint, Rod):
            self.world.CreateDistanceJoint(**ends, length=joint.length)
        else:
            self.world.CreateRopeJoint(**ends, maxLength=joint.length)

    # --- step ---

    def step(self, *, watched: bool = False) -> None:
        """With a listener Box2D reports its contacts as it solves them, which only slows the step."""
        if self.has_forces:
            self._apply_forces()
        self.steps += 1
        if watched or self._listens:
            self.world.contactListener = self._reporter if watched else self._silent
            self._listens = watched
            self._before = self.state()
            start = [*self._before[:, :3].tolist(), *self._boundary_poses]
            self._reporter.begin([(x, y, math.cos(angle), math.sin(angle)) for x, y, angle in start])
        for i in self.given:
            self._drive(self.bodies[i], given_state(self.scene.bodies[i], self.steps * self.dt)[0])
        self.world.Step(self.dt, *self._iterations)
        for listener in (self._silent, self._reporter):
            if listener and listener.faults:
                raise listener.faults[0]

    def _drive(self, body: Any, pose: Array) -> None:
        """The velocity that takes a body of given motion to where it is at the end of the step."""
        body.linearVelocity = ((pose[0] - body.position.x) / self.dt, (pose[1] - body.position.y) / self.dt)
        body.angularVelocity = (pose[2] - body.angle) / self.dt

    def _apply_forces(self) -> None:
        """Springs, thrusters and damping of the step to come, as of the bodies' present state."""
        given = self.state().astype(np.float64)
        wrenches = planar_wrenches(self.scene, self.steps * self.dt, given[:, :3], given[:, 3:]).tolist()
        for i, body in zip(self.free, self._moving):
            fx, fy, torque = wrenches[i]
            body.ApplyForceToCenter((fx, fy), True)
            body.ApplyTorque(torque, True)

    # --- abilities ---

    def set_state(self, *state: Any, time: float = 0.0) -> None:
        self.steps = round(time / self.dt)
        for i, body in zip(self.moving, self._moving):
            (x, y, angle), (vx, vy, spin) = (part[i].tolist() for part in state)
            body.transform = ((x, y), angle)
            body.linearVelocity, body.angularVelocity = (vx, vy), spin

    def apply_force(self, body: int, force: Sequence[float], point: Sequence[float] | None = None) -> None:
        if body in self.free:
            at = self.bodies[body].worldCenter if point is None else point
            self.bodies[body].ApplyForce((force[0], force[1]), (at[0], at[1]), True)

    def options(self) -> dict[str, Value]:
        world = self.world
        velocity, position = self._iterations
        return {
            "velocity_iterations": velocity,
            "position_iterations": position,
            "allow_sleep": bool(world.GetAllowSleeping()),
            "warm_starting": bool(world.warmStarting),
            "continuous": bool(world.continuousPhysics),
            "substepping": bool(world.subStepping),
            "gravity": str(tuple(world.gravity)),
        }

    # --- read ---

    def read(self) -> bytes:
        """`ask` of every body that moves, in single precision, as Box2D has it."""
        if self._records is not None:
            memory, rows = self._records
            return memory.take(rows).tobytes()
        return np.array([ask(body) for body in self._moving], np.float32).tobytes()

    def decode(self, raw: bytes, steps: int) -> list[NDArray[np.float32]]:
        """Pose and twist, (steps, B, 3), of so many `raw`, one after the other; what is fixed is where it was."""
        return recorder.filled(self._start, np.frombuffer(raw, np.float32).reshape(steps, -1, 6), self.moving)

    def contacts(self) -> recorder.Rows | None:
        """Every contact point that Box2D solved in the step just made; gaps are those of the skins.

        It finds and solves contacts where the bodies were at the start of the step and then moves them on. The
        points are moved on with them: with the free one where the other is fixed, else halfway with both.
        """
        moves = (self.state() - self._before)[:, :2].tolist()
        return contact_rows(self._reporter.solved, {i: moves[i] for i in self.free})


def contact_rows(
    solved: Iterable[tuple[int, int, Point, Point, float, Point]], moves: Mapping[int, Sequence[float]]
) -> recorder.Rows | None:
    """`moves`: m, of each free body in the step."""
    rows: list[tuple[Any, ...]] = []
    for a, b, (x, y), (nx, ny), gap, (px, py) in solved:
        free = [moves[i] for i in (a, b) if i in moves]
        x += sum(dx for dx, _ in free) / len(free)
        y += sum(dy for _, dy in free) / len(free)
        rows.append(in_order(a, b, (x, y), (nx, ny), gap, (px, py)))
    return list(zip(*rows)) if rows else None


def solved_points(
    manifold: Any, impulses: list[tuple[float, float]], frame_a: Frame, frame_b: Frame, radius_a: float, radius_b: float
) -> Iterator[tuple[Point, Point, float, Point]]:
    """Point, normal from a to b, gap and impulse on b, of each point of a manifold, in the frames it was found in.

    `impulses`: along the normal and along the tangent (ny, -nx).
    """
    kind = manifold.type_
    for point, (along, across) in zip(manifold.points, impulses):
        if kind == CIRCLES:
            ax, ay = placed(frame_a, manifold.localPoint)
            bx, by = placed(frame_b, point.localPoint)
            length = math.hypot(bx - ax, by - ay)
            nx, ny = (bx - ax) / length, (by - ay) / length
            gap = length - radius_a - radius_b
            x, y = ax + (radius_a + 0.5 * gap) * nx, ay + (radius_a + 0.5 * gap) * ny
        else:
            # A point of one shape, with its skin, above a face of the other; the face's side is along the normal.
            face, other, skin = (frame_a, frame_b, radius_b) if kind == FACE_A else (frame_b, frame_a, radius_a)
            (mx, my), (_, _, c, s) = manifold.localNormal, face
            nx, ny = c * mx - s * my, s * mx + c * my
            fx, fy = placed(face, manifold.localPoint)
            x, y = placed(other, point.localPoint)
            gap = (x - fx) * nx + (y - fy) * ny - radius_a - radius_b
            x, y = x - (skin + 0.5 * gap) * nx, y - (skin + 0.5 * gap) * ny
            if kind == FACE_B:
                nx, ny = -nx, -ny
        yield (x, y), (nx, ny), gap, (along * nx + across * ny, along * ny - across * nx)


def placed(frame: Frame, local: Any) -> Point:
    """A point of a body, in the world."""
    x, y, c, s = frame
    u, v = local
    return x + c * u - s * v, y + s * u + c * v


def ask(body: Any) -> tuple[float, ...]:
    """x, y, angle, vx, vy, spin of a body, in six calls."""
    x, v = body.position, body.linearVelocity
    return x.x, x.y, body.angle, v.x, v.y, body.angularVelocity


def body_records(bodies: list[Any]) -> tuple[NDArray[np.float32], NDArray[np.int64]] | None:
    """Memory of the bodies and (B, 6) where in it `ask`'s numbers stand; None where this Box2D keeps them otherwise.

    Six calls a body take longer than Box2D's step. But it hands out its centre and velocity by reference, and
    between and behind them b2Body keeps the rest: centre (2), old angle, angle, fraction of step, velocity (2), spin.
    """
    return located(bodies) if record_is_known() else None


def located(bodies: list[Any]) -> tuple[NDArray[np.float32], NDArray[np.int64]] | None:
    centres = np.array([int(body.worldCenter.this) for body in bodies])
    velocities = np.array([int(body.linearVelocity.this) for body in bodies])
    if np.any(velocities - centres != 5 * FLOAT) or np.any((centres - centres[0]) % FLOAT):
        return None
    first = int(centres.min())
    floats = (int(centres.max()) - first) // FLOAT + 8
    memory: NDArray[np.float32] = np.ctypeslib.as_array((ctypes.c_float * floats).from_address(first))
    return memory, ((centres - first) // FLOAT)[:, None] + np.array([0, 1, 3, 5, 6, 7])


@cache
def record_is_known() -> bool:
    """Whether the numbers stand where they are taken from: two bodies whose every number differs, after a step."""
    world = b2World(gravity=(1.0, -9.81))
    bodies = [
        world.CreateDynamicBody(position=(k, 2 * k), angle=0.3 * k, linearVelocity=(3 * k, k), angularVelocity=5 * k)
        for k in (1.0, 2.0)
    ]
    found = located(bodies)
    world.Step(0.01, 1, 1)
    if found is None:
        return False
    memory, rows = found
    return bool(np.array_equal(memory[rows], np.array([ask(body) for body in bodies], np.float32)))


class Listener(b2ContactListener):
    """Gives every contact the law of its pair when it begins."""

    def __init__(self, laws: PairLaws | None) -> None:
        super().__init__()
        self.laws = laws
        self.faults: list[Exception] = []  # an exception in a callback is lost: it is raised after the step

    def BeginContact(self, contact: Any) -> None:
        if self.laws is not None:
            try:
                law = self.laws.of(contact.fixtureA.userData.member, contact.fixtureB.userData.member)
                contact.friction, contact.restitution = law
            except Exception as error:
                self.faults.append(error)


class Reporter(Listener):
    """Writes down what each contact was solved to.

    The manifold's own impulses would be cheaper to ask for, but where Box2D solves one of two points that say the
    same, the other keeps the impulse of an earlier step.
    """

    def __init__(self, laws: PairLaws | None) -> None:
        super().__init__(laws)
        self.begin([])

    def begin(self, frames: list[Frame]) -> None:
        """Of every member, at the start of the step."""
        self.frames = frames
        self.solved: list[tuple[int, int, Point, Point, float, Point]] = []

    def fixture_of(self, fixture: Any) -> Fixture:
        found: Fixture = fixture.userData
        return found

    def PostSolve(self, contact: Any, impulse: Any) -> None:
        try:
            (a, radius_a), (b, radius_b) = self.fixture_of(contact.fixtureA), self.fixture_of(contact.fixtureB)
            if min(a, b) < 0:
                return
            impulses = list(zip(impulse.normalImpulses, impulse.tangentImpulses))[: impulse.count]
            points = solved_points(contact.manifold, impulses, self.frames[a], self.frames[b], radius_a, radius_b)
            self.solved.extend((a, b, *point) for point in points)
        except Exception as error:
            self.faults.append(error)

"""A b2World that a function of the user's own has built: described, stepped by itself, and read.

Polygons, edges and chains are those of their corners; Box2D's skin around them is what it keeps them apart by.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import Box2D
import numpy as np
from Box2D import b2World

from reference_engine.array_types import Array
from scenarios.native import Model
from scenarios.scene import PlanarScene, planar_start
from validation.engines.box2d.world import SKIN, Fixture, Reporter, ask, contact_rows
from validation.engines.engine import ModelError, Settings, Value
from validation.engines.shared import recorder
from validation.engines.shared.functions import built
from validation.engines.shared.planar_description import (
    Gathered,
    Member,
    Piece,
    Point,
    as_described,
    disc,
    line,
    polygon,
    shifts,
)
from validation.engines.shared.probes import set_up

RULES = {"friction_rule": "geometric-mean", "restitution_rule": "max"}
ITERATIONS = ("velocity_iterations", "position_iterations")
"""What a program says with each step."""
NONE = Fixture(-1, 0.0)
STATIC, KINEMATIC, DYNAMIC = range(3)
DRIVES = ("b2GearJoint", "b2MouseJoint", "b2PulleyJoint", "b2MotorJoint")
"""Joints that add energy, or pass it on."""


class Described:
    """A world and its scene. Raises ModelError, SceneError."""

    def __init__(self, given: Model, duration: float, title: str) -> None:
        self.world, self.step = built(given, b2World, "Box2D.b2World")
        every = list(self.world.bodies)
        self.bodies = [body for body in every if body.type == DYNAMIC]
        for body in self.bodies:
            if not all(map(math.isfinite, (*ask(body), body.mass))):
                raise ModelError(f"{given.function}: numbers of a body are not finite; mend the function")
        self._row = {_key(body): k for k, body in enumerate(self.bodies)}
        self._move_apart(given)
        self.gathered = Gathered(members=[self._member(k, body) for k, body in enumerate(self.bodies)])
        self._shapes: dict[int, list[int]] = {}  # of each body, the numbers of its shapes
        self._groups: dict[int, list[int]] = {}
        self._fixed_owners: list[Any] = []
        self.fixtures: dict[int, Fixture] = {}  # by where Box2D has it
        self._count = 0
        for body in every:
            self._add_shapes(body)
        self._set_groups()
        for k, joint in enumerate(self.world.joints):
            self._add_joint(k, joint)
        self._name_forces()
        gravity = float(self.world.gravity[0]), float(self.world.gravity[1])
        self.owners: list[Any] = [*self.bodies, *self._fixed_owners]  # body of each member
        self.scene = set_up(self.gathered.scene(given, duration, title, self.step, gravity, RULES), self._set_up)

    def _set_up(self, k: int, body: Any) -> None:
        """A body as the scene's starts."""
        self.set_body(k, (*body.position, body.angle), (*body.velocity, body.spin))

    def set_body(self, k: int, pose: Sequence[float], twist: Sequence[float]) -> None:
        """Of its centre of mass: x, y, m, and angle; their rates."""
        body, angle = self.bodies[k], float(pose[2])
        c, s = math.cos(angle), math.sin(angle)
        x, y = body.localCenter
        body.transform = ((float(pose[0]) - (c * x - s * y), float(pose[1]) - (s * x + c * y)), angle)
        body.linearVelocity, body.angularVelocity = (float(twist[0]), float(twist[1])), float(twist[2])
        body.awake = True

    def _move_apart(self, given: Model) -> None:
        ends = [(self._row.get(_key(one.bodyA)), self._row.get(_key(one.bodyB))) for one in self.world.joints]
        tied = [(a, b) for a, b in ends if a is not None and b is not None]
        still = [one for pair in ends for one in pair if one is not None and None in pair]
        for body, (dx, dy) in zip(self.bodies, shifts(given, len(self.bodies), tied, still)):
            if dx or dy:
                body.position = body.position[0] + dx, body.position[1] + dy

    def _member(self, k: int, body: Any) -> Member:
        arm = math.hypot(*body.localCenter)
        moment = float(body.inertia - body.mass * arm * arm)  # Box2D's is about the body's origin
        turns = not body.fixedRotation and moment > 0.0
        return Member(
            title=_title(body, f"body {k}"),
            position=_point(body.worldCenter),
            angle=float(body.angle),
            mass=float(body.mass),
            moment=moment if turns else math.inf,
            velocity=_point(body.linearVelocity),
            spin=float(body.angularVelocity) if turns else 0.0,
        )

    # --- shapes ---

    def _add_shapes(self, body: Any) -> None:
        row = self._row.get(_key(body))
        moved = body.type == KINEMATIC and (any(body.linearVelocity) or body.angularVelocity)
        for fixture in body.fixtures:
            if fixture.sensor:
                continue
            if moved:
                self.gathered.leave_out(f"a body that is moved from outside, {_title(body, 'kinematic')}")
                break
            number, self._count = self._count, self._count + 1
            member = self._fixed(body, number) if row is None else self.gathered.members[row]
            filters = fixture.filterData
            bits = int(filters.categoryBits), int(filters.maskBits)
            surface = float(fixture.friction), float(fixture.restitution)
            before = len(member.pieces)
            pieces = _pieces(fixture.shape, body.localCenter if row is not None else (0.0, 0.0))
            if row is None and pieces:
                self.gathered.members.append(member)
                self._fixed_owners.append(body)
            self.gathered.add_shape(member, number, pieces, bits, *surface)
            if len(member.pieces) > before:
                index = len(self.gathered.members) - 1 if row is None else row
                self.fixtures[_key(fixture)] = Fixture(index, float(fixture.shape.radius))
                self._shapes.setdefault(_key(body), []).append(number)
                self._groups.setdefault(int(filters.groupIndex), []).append(number)
                member.is_line = row is None and isinstance(fixture.shape, (Box2D.b2EdgeShape, Box2D.b2ChainShape))
            elif row is None and pieces:
                self.gathered.members.remove(member)
                self._fixed_owners.pop()

    def _fixed(self, body: Any, number: int) -> Member:
        title = _title(body, f"static {number}")
        return Member(title=title, position=_point(body.position), angle=float(body.angle), fixed=True)

    def _set_groups(self) -> None:
        """Of one group, if it is negative none of two collides, if it is positive each does."""
        for group, of in self._groups.items():
            pairs = [(a, b) for i, a in enumerate(of) for b in of[i + 1 :]]
            if group < 0:
                self.gathered.apart |= set(pairs)
            elif group > 0:
                self.gathered.paired += pairs

    # --- joints and forces ---

    def _add_joint(self, k: int, joint: Any) -> None:
        gathered, kind = self.gathered, type(joint).__name__
        title, rows = f"{kind} {k}", [self._row.get(_key(body)) for body in (joint.bodyA, joint.bodyB)]
        gathered.tied |= {row for row in rows if row is not None}
        if not joint.collideConnected:
            ends = (self._shapes.get(_key(body), []) for body in (joint.bodyA, joint.bodyB))
            first, second = ends
            gathered.apart |= {(min(a, b), max(a, b)) for a in first for b in second}
        stiff = kind == "b2RevoluteJoint" or (kind == "b2DistanceJoint" and joint.frequency == 0.0)
        driven = bool(getattr(joint, "motorEnabled", False))
        if stiff and any(row is not None for row in rows):
            gathered.joints.append(self._joint(kind, joint, title, rows))
        if not stiff or driven or bool(getattr(joint, "limitEnabled", False)):
            gathered.unmeasured[f"{title}: {'its forces' if stiff else 'how far it opens, and its forces'}"] = None
            gathered.acted_on |= {row for row in rows if row is not None}
        springs = float(getattr(joint, "frequency", 0.0) or 0.0) > 0.0
        if driven or springs or kind in DRIVES:
            gathered.conserves = False

    def _joint(self, kind: str, joint: Any, title: str, rows: Sequence[int | None]) -> dict[str, Any]:
        ends = [(joint.bodyA, joint.anchorA, rows[0]), (joint.bodyB, joint.anchorB, rows[1])]
        if rows[0] is None:
            ends.reverse()
        (a, on_a, row), (b, on_b, other) = ends
        found = {
            "kind": "revolute" if kind == "b2RevoluteJoint" else "rod",
            "name": title,
            "a": row,
            "b": other,
            "anchor_a": _local(a, on_a),
            "anchor_b": list(_point(on_b)) if other is None else _local(b, on_b),
        }
        return found if found["kind"] == "revolute" else {**found, "length": float(joint.length)}

    def _name_forces(self) -> None:
        gathered, world = self.gathered, self.world
        rows = list(zip(gathered.members, self.bodies))
        damped = [k for k, body in enumerate(self.bodies) if body.linearDamping or body.angularDamping]
        gathered.name("damping of motion of bodies", (gathered.members[k].title for k in damped))
        lifted = [k for k, body in enumerate(self.bodies) if body.gravityScale != 1.0]
        gathered.name("gravity of its own (gravityScale) of bodies", (gathered.members[k].title for k in lifted))
        gathered.acted_on |= {*damped, *lifted}
        gathered.name("spin of bodies that do not turn", (one.title for one, _ in rows if one.moment == math.inf))
        called = any(getattr(world, name, None) for name in ("contactListener", "contactFilter"))
        if called:
            gathered.unmeasured["what a contact listener or filter does"] = None
            gathered.act_on_all()
        if called or lifted:
            gathered.conserves = False


def _key(body: Any) -> int:
    """Where Box2D has it: its objects in Python are made anew at each call."""
    return int(body.this)


def _title(body: Any, other: str) -> str:
    name = body.userData
    return name if isinstance(name, str) and name.strip() else other


def _point(vector: Any) -> Point:
    return float(vector[0]), float(vector[1])


def _local(body: Any, point: Any) -> list[float]:
    """A point of the world from the centre of mass, in the axes of the body."""
    c, s = math.cos(body.angle), math.sin(body.angle)
    dx, dy = point[0] - body.worldCenter[0], point[1] - body.worldCenter[1]
    return [float(c * dx + s * dy), float(c * dy - s * dx)]


def _pieces(shape: Any, centre: Sequence[float]) -> list[Piece]:
    """In the frame of the body, from its centre of mass."""

    def local(point: Any) -> Point:
        return float(point[0]) - float(centre[0]), float(point[1]) - float(centre[1])

    if isinstance(shape, Box2D.b2CircleShape):
        return [disc(local(shape.pos), float(shape.radius))]
    if isinstance(shape, Box2D.b2PolygonShape):
        return [polygon([local(vertex) for vertex in shape.vertices])]
    corners = [local(vertex) for vertex in shape.vertices]  # of an edge, or of a chain; a loop comes back to its first
    return [piece for a, b in pairwise(corners) for piece in line(a, b, 0.0)]


class NativeReporter(Reporter):
    """Of fixtures that are a user's own."""

    def __init__(self, found: Described) -> None:
        super().__init__(None)
        self.found = found

    def fixture_of(self, fixture: Any) -> Fixture:
        return self.found.fixtures.get(_key(fixture), NONE)

    def begin_step(self) -> None:
        self.begin([_frame(body) for body in self.found.owners])


def _frame(body: Any) -> tuple[float, float, float, float]:
    return float(body.position[0]), float(body.position[1]), math.cos(body.angle), math.sin(body.angle)


class NativeWorld(recorder.World):
    """Raises ModelError where the function builds another world than the one that was described."""

    def __init__(self, scene: PlanarScene, dt: float, settings: Settings) -> None:
        """`settings`: ITERATIONS."""
        assert scene.native is not None
        self.dt, self.velocity_lag = dt, -dt / 2  # velocities first, as in scenes
        self.contact_tolerance = 2.0 * SKIN
        self.found = Described(scene.native.model, scene.duration, scene.title)
        as_described(scene, self.found.scene, "box2d")
        self.world, self._bodies = self.found.world, self.found.bodies
        self._iterations = [int(settings[name]) for name in ITERATIONS]
        self._start = planar_start(self.found.scene)
        self._reporter = None if self.world.contactListener else NativeReporter(self.found)
        self._before: list[Point] = []
        self._listens = False

    def step(self, *, watched: bool) -> None:
        """Contacts are reported to one listener: the user's, or ours while it is watched."""
        if self._reporter is not None and (watched or self._listens):
            self.world.contactListener = self._reporter if watched else None
            self._listens = watched
            self._before = [_point(body.worldCenter) for body in self._bodies]
            self._reporter.begin_step()
        self.world.Step(self.dt, *self._iterations)
        self.world.ClearForces()
        if self._reporter is not None and self._reporter.faults:
            raise self._reporter.faults[0]

    def contacts(self) -> recorder.Rows | None:
        """As `World.contacts` of a scene has them; None where the world has a listener of its own."""
        if self._reporter is None:
            return None
        now = (_point(body.worldCenter) for body in self._bodies)
        moves = {k: (x - a, y - b) for k, ((x, y), (a, b)) in enumerate(zip(now, self._before))}
        return contact_rows(self._reporter.solved, moves)

    def read(self) -> recorder.State:
        rows = [(*body.worldCenter, body.angle, *body.linearVelocity, body.angularVelocity) for body in self._bodies]
        return np.array(rows, np.float32).tobytes()

    def decode(self, raw: bytes, steps: int) -> list[Array]:
        rows = np.frombuffer(raw, np.float32).reshape(steps, len(self._bodies), 6)
        return recorder.filled(self._start, rows, slice(0, len(self._bodies)))

    # --- abilities ---

    def set_state(self, *state: Any, time: float = 0.0) -> None:
        pose, twist = (np.asarray(part, np.float64) for part in state)
        for k in range(len(self._bodies)):
            self.found.set_body(k, pose[k].tolist(), twist[k].tolist())

    def apply_force(self, body: int, force: Sequence[float], point: Sequence[float] | None = None) -> None:
        if body < len(self._bodies):
            given = self._bodies[body]
            at = _point(given.worldCenter) if point is None else (point[0], point[1])
            given.ApplyForce(force=(force[0], force[1]), point=at, wake=True)

    def options(self) -> dict[str, Value]:
        world = self.world
        velocity, position = self._iterations
        return {
            "velocity_iterations": velocity,
            "position_iterations": position,
            "warm_starting": bool(world.warmStarting),
            "continuous": bool(world.continuousPhysics),
            "gravity": str(tuple(world.gravity)),
        }

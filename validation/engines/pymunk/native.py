"""A pymunk.Space that a function of the user's own has built: described, stepped by itself, and read."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import pymunk

from reference_engine.array_types import Array
from scenarios.native import Model
from scenarios.scene import PlanarScene, planar_start
from validation.engines.engine import ModelError, Value
from validation.engines.pymunk.world import OPTIONS, SINCE_6_6, WIDTH, contact_points
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
    rounded,
    shifts,
)
from validation.engines.shared.probes import set_up

RULES = {"friction_rule": "product", "restitution_rule": "product"}
DRIVES = (pymunk.DampedSpring, pymunk.DampedRotarySpring, pymunk.SimpleMotor)
"""Constraints that store energy, or add it."""


class Described:
    """A space and its scene. Raises ModelError, SceneError."""

    def __init__(self, given: Model, duration: float, title: str) -> None:
        self.space, self.step = built(given, pymunk.Space, "pymunk.Space")
        self.function = given.function
        self.bodies = [body for body in self.space.bodies if body.body_type == pymunk.Body.DYNAMIC]
        for body in self.bodies:
            numbers = (*body.position, body.angle, *body.velocity, body.angular_velocity, body.mass)
            if not all(map(math.isfinite, numbers)):
                raise ModelError(f"{given.function}: numbers of a body are not finite; mend the function")
            if body.mass <= 0.0 or body.moment <= 0.0:
                raise ModelError(f"{given.function}: a dynamic body has no mass or moment; give it both")
        self._row = {body: k for k, body in enumerate(self.bodies)}
        self._move_apart(given)
        self.gathered = Gathered(members=[self._member(k, body) for k, body in enumerate(self.bodies)])
        self.member: dict[Any, int] = {}  # of each shape
        self._add_shapes()
        self._add_constraints()
        self._name_forces()
        scene = self.gathered.scene(given, duration, title, self.step, tuple(self.space.gravity), RULES)
        self.scene = set_up(scene, self._set_up)

    def _set_up(self, k: int, body: Any) -> None:
        """A body as the scene's starts."""
        self.set_body(k, (*body.position, body.angle), (*body.velocity, body.spin))

    def set_body(self, k: int, pose: Sequence[float], twist: Sequence[float]) -> None:
        """Of its centre of mass: x, y, m, and angle; their rates."""
        body = self.bodies[k]
        body.angle = float(pose[2])
        arm = body.center_of_gravity.rotated(body.angle)
        body.position = float(pose[0]) - arm.x, float(pose[1]) - arm.y
        body.velocity, body.angular_velocity = (float(twist[0]), float(twist[1])), float(twist[2])
        self.space.reindex_shapes_for_body(body)

    def _move_apart(self, given: Model) -> None:
        ends = [(one.a, one.b) for one in self.space.constraints]
        tied = [(self._row[a], self._row[b]) for a, b in ends if a in self._row and b in self._row]
        still = [self._row[one] for pair in ends for one in pair if one in self._row and not {*pair} <= {*self._row}]
        for body, (dx, dy) in zip(self.bodies, shifts(given, len(self.bodies), tied, still)):
            if dx or dy:
                body.position = body.position.x + dx, body.position.y + dy
                self.space.reindex_shapes_for_body(body)

    def _member(self, k: int, body: pymunk.Body) -> Member:
        return Member(
            title=_title(body, f"body {k}"),
            position=_point(body.local_to_world(body.center_of_gravity)),
            angle=float(body.angle),
            mass=float(body.mass),
            moment=float(body.moment),
            velocity=_point(body.velocity),
            spin=float(body.angular_velocity),
        )

    # --- shapes ---

    def _add_shapes(self) -> None:
        gathered, groups = self.gathered, dict[int, list[int]]()
        shapes = sorted(self.space.shapes, key=lambda shape: self._row.get(shape.body, len(self._row)))
        for k, shape in enumerate(shapes):
            if shape.sensor:
                continue
            row = self._row.get(shape.body)
            if row is None and (shape.body.velocity.length or shape.body.angular_velocity):
                gathered.leave_out(f"a body that is moved from outside, {_title(shape.body, 'kinematic')}")
                continue
            member = self._fixed(shape.body, k) if row is None else gathered.members[row]
            bits = int(shape.filter.categories), int(shape.filter.mask)
            gathered.add_shape(member, k, _pieces(shape), bits, float(shape.friction), float(shape.elasticity))
            if row is None and member.pieces:
                member.is_line = isinstance(shape, pymunk.Segment)
                gathered.members.append(member)
            if member.pieces and member.owners[-1] == k:
                self.member[shape] = len(gathered.members) - 1 if row is None else row
                groups.setdefault(int(shape.filter.group), []).append(k)
        self.number = {shape: k for k, shape in enumerate(shapes)}
        for group, of in groups.items():
            if group:
                gathered.apart |= {(a, b) for i, a in enumerate(of) for b in of[i + 1 :]}
        moving = [shape for shape in self.member if shape.surface_velocity.length]
        gathered.name("moving surfaces of shapes", (str(self.number[shape]) for shape in moving))
        gathered.conserves &= not moving

    def _fixed(self, body: Any, k: int) -> Member:
        title = _title(body, f"static {k}")
        return Member(title=title, position=_point(body.position), angle=float(body.angle), fixed=True)

    # --- constraints and forces ---

    def _add_constraints(self) -> None:
        gathered = self.gathered
        for k, one in enumerate(self.space.constraints):
            title = f"{type(one).__name__} {k}"
            rows = self._row.get(one.a), self._row.get(one.b)
            gathered.tied |= {row for row in rows if row is not None}
            if not one.collide_bodies:
                gathered.apart |= {
                    (min(pair), max(pair))
                    for a in one.a.shapes for b in one.b.shapes
                    if a in self.number and b in self.number
                    for pair in [(self.number[a], self.number[b])]
                }  # fmt: skip
            if isinstance(one, (pymunk.PivotJoint, pymunk.PinJoint)) and any(row is not None for row in rows):
                gathered.joints.append(self._joint(one, title, rows))
            else:
                gathered.unmeasured[f"{title}: how far it opens, and its forces"] = None
                gathered.acted_on |= {row for row in rows if row is not None}
            if isinstance(one, DRIVES):
                gathered.conserves = False

    def _joint(self, one: Any, title: str, rows: tuple[int | None, int | None]) -> dict[str, Any]:
        ends = [(one.a, one.anchor_a, rows[0]), (one.b, one.anchor_b, rows[1])]
        if rows[0] is None:
            ends.reverse()
        (a, on_a, row), (b, on_b, other) = ends
        found = {
            "kind": "revolute" if isinstance(one, pymunk.PivotJoint) else "rod",
            "name": title,
            "a": row,
            "b": other,
            "anchor_a": list(on_a - a.center_of_gravity),
            "anchor_b": list(b.local_to_world(on_b) if other is None else on_b - b.center_of_gravity),
        }
        return found if found["kind"] == "revolute" else {**found, "length": float(one.distance)}

    def _name_forces(self) -> None:
        gathered, space = self.gathered, self.space
        custom = [k for k, body in enumerate(self.bodies) if _has_own(body, "velocity") or _has_own(body, "position")]
        gathered.name("velocities or positions by functions of bodies", (gathered.members[k].title for k in custom))
        gathered.acted_on |= set(custom)
        pushed = [k for k, body in enumerate(self.bodies) if body.force.length or body.torque]
        gathered.name("forces of the first step on bodies", (gathered.members[k].title for k in pushed))
        gathered.acted_on |= set(pushed)
        called = bool(getattr(space, "_handlers", None))
        if called:
            gathered.unmeasured["what functions do that are called at collisions"] = None
            gathered.act_on_all()
        if space.damping != 1.0:
            gathered.unmeasured[f"damping of motion: of a velocity {space.damping:g} is left after 1 s"] = None
            gathered.act_on_all()
        if space.damping > 1.0 or custom or pushed or called:
            gathered.conserves = False
        still = [one.title for one in gathered.members if one.moment == math.inf]
        gathered.name("spin of bodies whose moment is infinite", still)


def _title(body: pymunk.Body, other: str) -> str:
    name = getattr(body, "name", None)
    return name if isinstance(name, str) and name.strip() else other


def _point(vector: Any) -> Point:
    return float(vector[0]), float(vector[1])


def _has_own(body: pymunk.Body, what: str) -> bool:
    return getattr(body, f"_{what}_func", None) is not None


def _pieces(shape: pymunk.Shape) -> list[Piece]:
    """In the frame of the body, from its centre of mass."""
    body: Any = shape.body
    zero = pymunk.Vec2d(0.0, 0.0)
    centre = body.center_of_gravity if body.body_type == pymunk.Body.DYNAMIC else zero

    def local(point: Any) -> Point:
        return float(point[0] - centre.x), float(point[1] - centre.y)

    if isinstance(shape, pymunk.Circle):
        return [disc(local(shape.offset), float(shape.radius))]
    if isinstance(shape, pymunk.Segment):
        return line(local(shape.a), local(shape.b), float(shape.radius))
    assert isinstance(shape, pymunk.Poly)
    return rounded([local(vertex) for vertex in shape.get_vertices()], float(shape.radius))


class NativeWorld(recorder.World):
    """Raises ModelError where the function builds another space than the one that was described."""

    def __init__(self, scene: PlanarScene, dt: float) -> None:
        assert scene.native is not None
        self.dt, self.velocity_lag = dt, dt / 2  # positions first, as in scenes
        self.found = Described(scene.native.model, scene.duration, scene.title)
        as_described(scene, self.found.scene, "pymunk")
        self.space, self._bodies = self.found.space, self.found.bodies
        self._member_at = {shape._shape: member for shape, member in self.found.member.items()}
        self._start = planar_start(self.found.scene)
        self._applied: list[tuple[pymunk.Body, tuple[float, float], tuple[float, float]]] = []

    def step(self, *, watched: bool) -> None:
        for body, force, point in self._applied:
            body.apply_force_at_world_point(force, point)
        self._applied.clear()
        self.space.step(self.dt)

    def read(self) -> recorder.State:
        return b"".join(
            struct.pack("6d", *body.local_to_world(body.center_of_gravity), body.angle, *body.velocity,
                        body.angular_velocity)
            for body in self._bodies
        )  # fmt: skip

    def decode(self, raw: bytes, steps: int) -> list[Array]:
        rows = np.frombuffer(raw, np.float64).reshape(steps, len(self._bodies), WIDTH)
        return recorder.filled(self._start, rows, slice(0, len(self._bodies)))

    def contacts(self) -> recorder.Rows | None:
        if not SINCE_6_6:
            return None
        rows: list[tuple[Any, ...]] = []
        for k, body in enumerate(self._bodies):
            found: list[pymunk.Arbiter] = []
            body.each_arbiter(found.append)
            for arbiter in found:
                record = arbiter._arbiter
                a, b = self._member_at.get(record.a, -1), self._member_at.get(record.b, -1)
                if min(a, b) < 0 or a == b or k != min(a, b):  # two free bodies both report it
                    continue
                at = [self._reference(shape) for shape in arbiter.shapes]
                rows += contact_points(record, a, b, *at)
        return list(zip(*rows)) if rows else None

    def _reference(self, shape: pymunk.Shape) -> Point:
        """From where Chipmunk counts the points of a contact."""
        body: Any = shape.body
        return _point(body.local_to_world(body.center_of_gravity))

    # --- abilities ---

    def set_state(self, *state: Any, time: float = 0.0) -> None:
        pose, twist = (np.asarray(part, np.float64) for part in state)
        for k in range(len(self._bodies)):
            self.found.set_body(k, pose[k].tolist(), twist[k].tolist())

    def apply_force(self, body: int, force: Sequence[float], point: Sequence[float] | None = None) -> None:
        if body < len(self._bodies):
            given = self._bodies[body]
            at = tuple(given.local_to_world(given.center_of_gravity)) if point is None else (point[0], point[1])
            self._applied.append((given, (force[0], force[1]), at))

    def options(self) -> dict[str, Value]:
        found = {name: getattr(self.space, name) for name in OPTIONS}
        found = {name: value for name, value in found.items() if math.isfinite(value)}
        return found | {"gravity": str(tuple(self.space.gravity))}

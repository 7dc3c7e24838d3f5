"""A planar scene as Box2D has it: bodies, slabs for half-planes, a loop of edges for a bowl, joints; its answers."""

from __future__ import annotations

import ctypes
import math
from functools import cache
from typing import Any

import numpy as np
from Box2D import b2_linearSlop, b2ContactListener, b2MassData, b2World
from numpy.typing import NDArray

from scenarios.forces import planar_wrenches
from scenarios.scene import Bowl, Disc, HalfPlane, PlanarScene, Revolute, Rod, inertias, planar_start
from validation.engines.engine import DeclinedError, Settings
from validation.engines.pair_laws import PairLaws
from validation.engines.planar_boundaries import Slab, bowl_facets, inset, slab
from validation.engines.recorder import Recorder

SHORTEST_EDGE = 1.2 * float(b2_linearSlop)  # m; Box2D refuses edges as short as its slop, 5 mm
FLOAT = 4  # bytes


def most_facets(bowl: Bowl) -> int:
    """Facets of a bowl that are no shorter than Box2D takes them."""
    return int(2.0 * math.pi * bowl.radius / SHORTEST_EDGE)


class World:
    """The scene as Box2D has it. Members are bodies, then boundaries."""

    def __init__(self, scene: PlanarScene, settings: Settings) -> None:
        self.scene = scene
        self.slabs: list[Slab] = []
        self.world = b2World(gravity=scene.gravity, doSleep=bool(settings["allow_sleep"]))
        self.world.warmStarting = bool(settings["warm_starting"])
        self.world.continuousPhysics = bool(settings["continuous"])
        self._iterations = int(settings["velocity_iterations"]), int(settings["position_iterations"])
        self._inset = float(settings["polygon_inset"])
        self._laws = PairLaws(scene)
        friction = self._laws.shape_values("friction", "geometric-mean")
        restitution = self._laws.shape_values("restitution", "max")
        self._listener = LawListener(self._laws) if friction is None or restitution is None else None
        if self._listener:
            self.world.contactListener = self._listener
        members = len(scene.bodies) + len(scene.boundaries)
        self._material = list(zip(friction or [0.0] * members, restitution or [0.0] * members))
        self.bodies = [self._body(i, moment) for i, moment in enumerate(inertias(scene))]
        for j, boundary in enumerate(scene.boundaries, start=len(scene.bodies)):
            self._boundary(j, boundary, int(settings["bowl_segments"]))
        self._world_body = self.world.CreateStaticBody()
        for joint in scene.joints:
            self._joint(joint)
        pose, twist = planar_start(scene)
        self._state = np.concatenate([pose, twist], axis=1).astype(np.float32)
        self._free = np.array([i for i, body in enumerate(scene.bodies) if not body.fixed])
        self._moving = [self.bodies[i] for i in self._free]
        self._records = body_records(self._moving)

    # --- build ---

    def _body(self, i: int, moment: float) -> Any:
        given = self.scene.bodies[i]
        if given.fixed:
            body = self.world.CreateStaticBody(position=given.position, angle=given.angle)
        else:
            body = self.world.CreateDynamicBody(
                position=given.position, angle=given.angle, linearVelocity=given.velocity, angularVelocity=given.spin
            )
        # Shapes of one negative group never meet. Its groups are 16 bits wide: ours are numbered anew.
        groups = sorted({one.group for one in self.scene.bodies if one.group})
        filtered = {"groupIndex": -1 - groups.index(given.group)} if given.group else {}
        if isinstance(given.shape, Disc):
            fixture = body.CreateCircleFixture(radius=given.shape.radius, **self._surface(i), **filtered)
        else:
            vertices = self._drawn(given.name, given.shape.vertices)
            fixture = body.CreatePolygonFixture(vertices=vertices, **self._surface(i), **filtered)
        fixture.userData = i
        if not given.fixed:  # after the shape, which makes a mass of its own
            body.massData = b2MassData(mass=given.mass, center=(0.0, 0.0), I=float(moment))
        return body

    def _boundary(self, j: int, boundary: HalfPlane | Bowl, segments: int) -> None:
        if isinstance(boundary, HalfPlane):
            self.slabs.append(slab(self.scene, boundary))
            origin, angle = self.slabs[-1].origin, self.slabs[-1].angle
            body = self.world.CreateStaticBody(position=origin, angle=angle)
            vertices = self._drawn(boundary.name, self.slabs[-1].vertices)
            fixture = body.CreatePolygonFixture(vertices=vertices, **self._surface(j))
        else:
            body = self.world.CreateStaticBody(position=boundary.center)
            count = min(segments, most_facets(boundary))
            corners = bowl_facets(boundary, count) - np.array(boundary.center)
            fixture = body.CreateLoopFixture(vertices=corners.tolist(), **self._surface(j))
        fixture.userData = j

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

    def _joint(self, joint: Any) -> None:
        index = {body.name: i for i, body in enumerate(self.scene.bodies)}
        ends = {
            "bodyA": self.bodies[index[joint.a]],
            "bodyB": self._world_body if joint.b is None else self.bodies[index[joint.b]],
            "localAnchorA": joint.anchor_a,
            "localAnchorB": joint.anchor_b,
            "collideConnected": joint.collide,
        }
        if isinstance(joint, Revolute):
            self.world.CreateRevoluteJoint(**ends)
        elif isinstance(joint, Rod):
            self.world.CreateDistanceJoint(**ends, length=joint.length)
        else:
            self.world.CreateRopeJoint(**ends, maxLength=joint.length)

    # --- step ---

    def push(self, time: float, state: NDArray[np.float32]) -> None:
        """Springs, thrusters and damping of the step from `time`, s, as of the bodies' present state."""
        given = state.astype(np.float64)
        wrenches = planar_wrenches(self.scene, time, given[:, :3], given[:, 3:]).tolist()
        for i, body in zip(self._free, self._moving):
            fx, fy, torque = wrenches[i]
            body.ApplyForceToCenter((fx, fy), True)
            body.ApplyTorque(torque, True)

    def step(self, dt: float) -> None:
        self.world.Step(dt, *self._iterations)
        if self._listener and self._listener.faults:
            raise self._listener.faults[0]

    # --- read ---

    def state(self) -> NDArray[np.float32]:
        """(B, 6): x, y, angle, vx, vy, spin, all as Box2D holds them."""
        if self._records is not None:
            memory, rows = self._records
            self._state[self._free] = memory[rows]
        else:
            self._state[self._free] = [ask(body) for body in self._moving]
        return self._state

    def report_contacts(self, recorder: Recorder) -> None:
        """Every contact point of every touching pair. Contacts of a continuous step have no impulse to read.

        The distance has no public name in Python, so the gap is NaN.
        """
        for contact in self.world.contacts:
            if not contact.touching:
                continue
            a, b = contact.fixtureA.userData, contact.fixtureB.userData
            manifold, placed = contact.manifold, contact.worldManifold
            nx, ny = placed.normal
            for point, place in zip(manifold.points, placed.points):  # as many as the manifold has
                along, across = point.normalImpulse, point.tangentImpulse
                px, py = along * nx + across * ny, along * ny - across * nx
                if a < b:
                    recorder.add_contact(a, b, place, (nx, ny), math.nan, (px, py))
                else:
                    recorder.add_contact(b, a, place, (-nx, -ny), math.nan, (-px, -py))


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


class LawListener(b2ContactListener):
    """Gives every contact the law of its pair when it begins."""

    def __init__(self, laws: PairLaws) -> None:
        super().__init__()
        self.laws = laws
        self.faults: list[Exception] = []

    def BeginContact(self, contact: Any) -> None:
        # An exception in a callback is lost: it is kept, and raised after the step.
        try:
            law = self.laws.of(contact.fixtureA.userData, contact.fixtureB.userData)
            contact.friction, contact.restitution = law
        except Exception as error:
            self.faults.append(error)

"""pymunk: Chipmunk (its fork Munk2D), an impulse solver for the plane with warm starting, in double precision.

What its user should know (docs at pymunk.org):
- A step moves the bodies first and then changes their velocities, so a velocity is half a step ahead of its pose.
- Friction and restitution of a pair are the product of the shapes' values; `validation.engines.pair_laws` finds
  values for which that is the scene's law, or a callback sets it contact by contact.
- Its defaults are for pixels: `collision_slop`, the overlap it leaves alone, is 0.1. "fair" takes a thousandth of the
  narrowest body and 50 iterations.
- All shapes are convex. A bowl is made of segments, and a disc that rolls in it loses a little at each corner.
- Numbers that abort the process (iterations below 1, NaN) are refused by the settings' ranges and by the scene.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pymunk
import pymunk.batch
from numpy.typing import NDArray

from scenarios.forces import has_applied_forces, planar_wrenches
from scenarios.scene import Bowl, Disc, HalfPlane, PlanarScene, Revolute, Rod, Scene, features, inertias
from validation.engines.engine import Setting, Settings, Value
from validation.engines.pair_laws import PairLaws
from validation.engines.planar_boundaries import Slab, bowl_facets, slab
from validation.engines.recorder import Recorder
from validation.trajectory import PlanarTrajectory

Array = NDArray[np.float64]

DECLINES = {
    "spatial": "pymunk is planar",
    "concave-polygon": "Chipmunk has no concave shapes; several convex ones on a body would be another scene",
    "arc-polygon": "Chipmunk has no arcs but discs; a polygon would be another scene",
}
CORRECTION = (1.0 - 0.1) ** 60  # of an overlap or joint error, what is left after a second; Chipmunk's default
SETTINGS = {
    "iterations": Setting(default=10, low=1, high=100_000, doc="solver iterations of a step"),
    "collision_slop": Setting(default=0.1, low=0.0, high=1e3, doc="m, overlap that is not corrected"),
    "collision_bias": Setting(default=CORRECTION, low=0.0, high=1.0, doc="share of an overlap left after 1 s"),
    "collision_persistence": Setting(default=3, low=0, high=10_000, doc="steps for which a contact is remembered"),
    "joint_bias": Setting(default=CORRECTION, low=0.0, high=1.0, doc="share of a joint's error left after 1 s"),
    "sleep_time_threshold": Setting(
        default=0.0, low=0.0, high=1e6, doc="s at rest before bodies sleep; 0 for never, as it is out of the box"
    ),
    "bowl_segments": Setting(default=1024, low=16, high=65_536, doc="segments that stand for a bowl"),
}
FAIR_ITERATIONS = 50
FAIR_SLOP = 1e-3  # of the narrowest body's width
STATE = (
    pymunk.batch.BodyFields.BODY_ID
    | pymunk.batch.BodyFields.POSITION
    | pymunk.batch.BodyFields.ANGLE
    | pymunk.batch.BodyFields.VELOCITY
    | pymunk.batch.BodyFields.ANGULAR_VELOCITY
)


class Pymunk:
    name = "pymunk"
    version = pymunk.version
    settings = SETTINGS
    profiles = ("default", "fair")

    def profile(self, name: str, scene: Scene, dt: float) -> dict[str, Value]:
        if name == "default" or not isinstance(scene, PlanarScene):
            return {}
        return {"iterations": FAIR_ITERATIONS, "collision_slop": FAIR_SLOP * narrowest_width(scene)}

    def declines(self, scene: Scene) -> str | None:
        found = features(scene)
        return next((reason for feature, reason in DECLINES.items() if feature in found), None)

    def simulate(self, scene: Scene, dt: float, settings: Settings) -> PlanarTrajectory:
        """Raises OffTheSlabError where a body gets beyond what stands for a half-plane."""
        assert isinstance(scene, PlanarScene)
        world = World(scene, settings)
        recorder = Recorder(scene, dt, velocity_lag=dt / 2)  # positions first: x += v dt, then v += a dt
        state = world.state()
        recorder.read(state[:, :3], state[:, 3:], raw=world.raw)
        pushed = has_applied_forces(scene)
        for step in recorder.steps():
            if pushed:
                world.push(step * dt, dt, state)
            world.step(dt)
            recorder.stepped()
            state = world.state()
            recorder.read(state[:, :3], state[:, 3:], raw=world.raw)
            if recorder.wants_contacts:
                world.report_contacts(recorder)
        trajectory = recorder.trajectory()
        assert isinstance(trajectory, PlanarTrajectory)
        for part in world.slabs:
            part.check(scene, trajectory.position)
        return trajectory


def narrowest_width(scene: PlanarScene) -> float:
    """m: the smaller side of the smallest free body, along its body axes."""
    widths = []
    for body in scene.bodies:
        if not body.fixed:
            shape = body.shape
            corners = np.array(shape.vertices) if not isinstance(shape, Disc) else shape.radius * np.array([[-1], [1]])
            widths.append(float(np.ptp(corners, axis=0).min()))
    return min(widths)


class World:
    """The scene as Chipmunk has it. Members are bodies, then boundaries."""

    def __init__(self, scene: PlanarScene, settings: Settings) -> None:
        self.scene = scene
        self.slabs: list[Slab] = []
        self.space = space = pymunk.Space()
        space.gravity = scene.gravity
        space.iterations = int(settings["iterations"])
        space.collision_slop = float(settings["collision_slop"])
        space.collision_bias = float(settings["collision_bias"])
        space.collision_persistence = int(settings["collision_persistence"])
        space.sleep_time_threshold = float(settings["sleep_time_threshold"]) or math.inf
        self._laws = PairLaws(scene)
        self._member: dict[pymunk.Shape, int] = {}
        self._faults: list[Exception] = []
        self.bodies = [self._body(i, moment) for i, moment in enumerate(inertias(scene))]
        for j, boundary in enumerate(scene.boundaries, start=len(scene.bodies)):
            self._boundary(j, boundary, int(settings["bowl_segments"]))
        for joint in scene.joints:
            self._joint(joint, float(settings["joint_bias"]))
        self._set_laws()
        self._buffer = pymunk.batch.Buffer()
        self._ids = b""
        self._rows: NDArray[np.intp] = np.zeros(0, np.intp)

    # --- build ---

    def _body(self, i: int, moment: float) -> pymunk.Body:
        given = self.scene.bodies[i]
        body = (
            pymunk.Body(body_type=pymunk.Body.STATIC)
            if given.fixed
            else pymunk.Body(mass=float(given.mass or math.nan), moment=float(moment))
        )
        body.position, body.angle = given.position, given.angle
        if not given.fixed:
            body.velocity, body.angular_velocity = given.velocity, given.spin
        shape: pymunk.Shape
        if isinstance(given.shape, Disc):
            shape = pymunk.Circle(body, given.shape.radius)
        else:
            shape = pymunk.Poly(body, given.shape.vertices)
        shape.filter = pymunk.ShapeFilter(group=given.group)  # its groups are the scene's
        self._member[shape] = i
        self.space.add(body, shape)
        return body

    def _boundary(self, j: int, boundary: HalfPlane | Bowl, segments: int) -> None:
        body = pymunk.Body(body_type=pymunk.Body.STATIC)
        shapes: list[pymunk.Shape]
        if isinstance(boundary, HalfPlane):
            self.slabs.append(slab(self.scene, boundary))
            body.position, body.angle = self.slabs[-1].origin, self.slabs[-1].angle
            shapes = [pymunk.Poly(body, self.slabs[-1].vertices)]
        else:
            v = [(float(x), float(y)) for x, y in bowl_facets(boundary, segments)]
            shapes = []
            for i in range(segments):
                facet = pymunk.Segment(body, v[i], v[(i + 1) % segments], 0.0)
                facet.set_neighbors(v[i - 1], v[(i + 2) % segments])  # else a disc trips over its corners
                shapes.append(facet)
        self._member |= dict.fromkeys(shapes, j)
        self.space.add(body, *shapes)

    def _joint(self, joint: Any, bias: float) -> None:
        index = {body.name: i for i, body in enumerate(self.scene.bodies)}
        a = self.bodies[index[joint.a]]
        b = self.space.static_body if joint.b is None else self.bodies[index[joint.b]]
        if a.body_type == b.body_type == pymunk.Body.STATIC:
            return  # holds by itself, and Chipmunk aborts on it
        tie: pymunk.Constraint
        if isinstance(joint, Revolute):
            tie = pymunk.PivotJoint(a, b, joint.anchor_a, joint.anchor_b)
        elif isinstance(joint, Rod):
            tie = pymunk.PinJoint(a, b, joint.anchor_a, joint.anchor_b)
            tie.distance = joint.length
        else:
            tie = pymunk.SlideJoint(a, b, joint.anchor_a, joint.anchor_b, 0.0, joint.length)
        tie.collide_bodies = joint.collide
        tie.error_bias = bias
        self.space.add(tie)

    def _set_laws(self) -> None:
        friction = self._laws.shape_values("friction", "product")
        restitution = self._laws.shape_values("restitution", "product")
        if friction is None or restitution is None:
            self.space.on_collision(pre_solve=self._set_law)
            return
        for shape, member in self._member.items():
            shape.friction, shape.elasticity = friction[member], restitution[member]

    def _set_law(self, arbiter: pymunk.Arbiter, space: pymunk.Space, data: Any) -> None:
        # An exception in a callback is printed and forgotten: it is kept, and raised after the step.
        try:
            a, b = arbiter.shapes
            arbiter.friction, arbiter.restitution = self._laws.of(self._member[a], self._member[b])
        except Exception as error:
            self._faults.append(error)

    # --- step ---

    def push(self, time: float, dt: float, state: Array) -> None:
        """Springs, thrusters and damping of the step to `time`, s.

        The step moves the bodies before it accelerates them, so the forces are those of where they will be;
        taken where they are now, every spring would gain energy.
        """
        pose = state[:, :3] + dt * state[:, 3:]
        for body, (fx, fy, torque) in zip(self.bodies, planar_wrenches(self.scene, time, pose, state[:, 3:]).tolist()):
            if body.body_type == pymunk.Body.DYNAMIC:
                body.force, body.torque = (fx, fy), torque

    def step(self, dt: float) -> None:
        self.space.step(dt)
        if self._faults:
            raise self._faults[0]

    # --- read ---

    def state(self) -> Array:
        """(B, 6): x, y, angle, vx, vy, spin; `raw` is left as Chipmunk has it."""
        self._buffer.clear()
        pymunk.batch.get_space_bodies(self.space, STATE, self._buffer)
        ids = bytes(self._buffer.int_buf())
        if ids != self._ids:  # the first time, and when bodies fall asleep or wake: they are listed elsewhere then
            row = {number: i for i, number in enumerate(np.frombuffer(ids, np.uintp).tolist())}
            self._rows = np.array([row[body.id] for body in self.bodies], np.intp)
            self._ids = ids
        state: Array = np.frombuffer(self._buffer.float_buf(), np.float64).reshape(-1, 6)[self._rows]
        self.raw = state.tobytes()
        return state

    def report_contacts(self, recorder: Recorder) -> None:
        """Every contact point of every touching pair, as of the step just made."""
        for i, body in enumerate(self.bodies):
            if body.body_type != pymunk.Body.DYNAMIC:
                continue
            found: list[pymunk.Arbiter] = []
            body.each_arbiter(found.append)  # looked at outside, where an exception is not swallowed
            for arbiter in found:
                a, b = (self._member[shape] for shape in arbiter.shapes)
                if i == min(a, b) or self._is_fixed(min(a, b)):  # two free bodies both tell of it
                    self._report(recorder, arbiter, a, b)

    def _is_fixed(self, member: int) -> bool:
        return member >= len(self.bodies) or self.bodies[member].body_type == pymunk.Body.STATIC

    def _report(self, recorder: Recorder, arbiter: pymunk.Arbiter, a: int, b: int) -> None:
        normal = arbiter.normal
        # The impulse of each point has no public name, and the total of two does not tell their torque.
        contacts = arbiter._arbiter.contacts
        for k, point in enumerate(arbiter.contact_point_set.points):
            impulse = contacts[k].jnAcc * normal + contacts[k].jtAcc * normal.perpendicular()
            middle = 0.5 * (point.point_a + point.point_b)
            if a < b:
                recorder.add_contact(a, b, middle, normal, point.distance, impulse)
            else:
                recorder.add_contact(b, a, middle, -normal, point.distance, -impulse)

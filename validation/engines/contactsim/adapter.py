"""ContactSim, the method of myPhysicsLab (Erik Neumann), run for run: contact forces by Baraff's method, impacts found
by going back in time, and an extra acceleration that lets bodies come to rest.

What its user should know:
- Bodies rest at half of the distance tolerance above one another, 5 mm out of the box: it is where they collide too.
- Contact forces take away acceleration, not speed. Without extra acceleration what is left of the speed makes a block
  hop from corner to corner for ever; with it the gap goes to where it should be like a damped spring.
- It has no friction, and gives up where bodies bounce without end or are stuck (`UnresolvedContact`).
- An impact at several contacts is solved in a random order, which a seed fixes.
- It steps as the original does, every 0.025 s (the setting `time_step`), whatever the run's step is.
- "default" has the original's values. "fair" differs where joints hold bodies: there it also stops what speed joints
  have left at the end of each step, as most of the original's own tests of mechanisms do.
"""

import math
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from reference_engine import World as Model
from reference_engine import WorldError
from reference_engine.array_types import Array
from reference_engine.contactsim.engine import ContactSim
from reference_engine.contactsim.integrator import new_stages
from reference_engine.contactsim.layout import frames_of
from reference_engine.contactsim.settings import (
    COLLISION_HANDLINGS,
    EXTRA_ACCELERATIONS,
    INTEGRATORS,
    FaithfulSettings,
)
from reference_engine.geometry.planar_proximity import planar_proximities
from reference_engine.geometry.planar_shapes import planar_shapes
from reference_engine.planar_model.external import pack_forces
from reference_engine.planar_model.motion import NO_IMPACTS, joined
from scenarios.geometry import solid
from scenarios.scene import PlanarScene, Revolute, Rope, Scene, colliding_pairs, planar_start
from validation.engines.engine import Ability, Able, Setting, Settings, SteppingEngine, Value
from validation.engines.shared.planar_model import world_of, world_point
from validation.engines.shared.recorder import Rows, SceneWorld, record
from validation.engines.takes import FORCES, GROUPS, JOINTS, PLANAR, TIES
from validation.records.trajectory import Impacts, PlanarTrajectory, Trajectory
from validation.version import __version__

OWN = FaithfulSettings()
TIME_STEP, SEED = 0.025, 99_999
"""Those of the recorded runs of the original, but for a few; which impacts follow depends on both."""
SETTINGS = {
    "time_step": Setting(
        default=TIME_STEP, low=1e-5, high=1.0, fuzzed="less", doc="s, of its own, whatever the run's step is"
    ),
    "extra_acceleration": Setting(
        default=OWN.extra_acceleration, choices=EXTRA_ACCELERATIONS, doc="what contact forces take away beside gravity"
    ),
    "extra_acceleration_time_step": Setting(
        default=OWN.extra_acceleration_time_step, low=1e-5, high=10.0, doc="s, in which it takes speed and gap away"
    ),
    "collision_handling": Setting(
        default=OWN.collision_handling,
        choices=COLLISION_HANDLINGS,
        doc="an impact at several contacts: at once, or in turn",
    ),
    "distance_tolerance": Setting(
        default=OWN.distance_tolerance, low=1e-6, high=1.0, doc="m; a smaller gap is a contact, half of it the target"
    ),
    "velocity_tolerance": Setting(
        default=OWN.velocity_tolerance, low=1e-6, high=100.0, doc="m/s; a slower approach is a contact"
    ),
    "collision_accuracy": Setting(
        default=OWN.collision_accuracy,
        low=1e-3,
        high=1.0,
        fuzzed="less",
        doc="of the target gap: how near to it impacts are handled",
    ),
    "contact_forces": Setting(default=OWN.contact_forces, doc="false: impacts alone, the original's ImpulseSim"),
    "integrator": Setting(default=OWN.integrator, choices=INTEGRATORS, doc="integrator of the motion"),
    "adaptive": Setting(default=OWN.adaptive, doc="each step is cut by five until its change of energy settles"),
    "adaptive_tolerance": Setting(
        default=OWN.adaptive_tolerance, low=1e-15, high=1.0, fuzzed="less", doc="J, to which it settles"
    ),
    "adaptive_second_difference": Setting(
        default=OWN.adaptive_second_difference, doc="the change of energy settles; false: the energy itself stays"
    ),
    "joint_small_impacts": Setting(
        default=OWN.joint_small_impacts, doc="joints are stopped at the end of each step without an impact"
    ),
    "random_seed": Setting(default=SEED, low=0, high=2**32 - 1, fuzzed="none", doc="of the order of impacts"),
}
TAKES = PLANAR | GROUPS | FORCES | JOINTS | TIES | {"revolute", "prismatic", "track", "arc-polygon", "concave-polygon"}
TAKES |= {"restitution", "bodies.restitution", "boundaries.restitution", "contact.pairs", "contact.pairs.restitution"}
TAKES |= {f"contact.restitution_rule={rule}" for rule in ("geometric-mean", "product", "mean", "min", "max")}
TAKES |= {"contact.impact_law=newton", "contact.impact_order=simultaneous", "contact.impact_order=sequential"}
BECAUSE = {
    "spatial": "ContactSim is planar",
    "compound": "ContactSim has one shape a body",
    "friction": "ContactSim has no friction",
    "bowl": "ContactSim has no bowl: bodies inside a whole circle would have to go through its outline",
}
LEAST_GAP = 1e-9  # m, at the start
MOST_BODIES = 100  # its time grows with the fourth power of the contacts
TOO_MANY = "ContactSim takes scenes of up to {} bodies and boundaries here; this one has {}"


class Jump(NamedTuple):
    """An impact's state, of all bodies, boundaries and the background."""

    step: int  # in which it was, counted from 1
    time: float  # s, within that step, whatever the round-off of the sum of steps says
    pose: Array  # (B + 1, 3)
    before: Array  # (B + 1, 3), the twist
    after: Array


class RecordedSim(ContactSim):
    """It also notes the velocities before and after each impact."""

    def __init__(self, world: Model, settings: FaithfulSettings, start: float = 0.0) -> None:
        super().__init__(world, settings, start)
        self.steps, self.length = 0, 0.0
        self.jumps: list[Jump] = []

    def advance(self, step: float) -> None:
        self.steps, self.length = self.steps + 1, step
        super().advance(step)

    def handle(self, rows: Any, small: bool = False) -> bool:
        before = self.twist.copy()
        bounced = super().handle(rows, small)
        if bounced and not small:
            time = min(max(self.time, self.length * (self.steps - 1)), self.length * self.steps)
            self.jumps.append(Jump(self.steps, time, self.pose.copy(), before, self.twist.copy()))
        return bounced


class World(SceneWorld):
    scene: PlanarScene

    def __init__(self, scene: PlanarScene, dt: float, settings: Settings) -> None:
        super().__init__(scene, dt)
        given: dict[str, Any] = {field.name: settings[field.name] for field in fields(FaithfulSettings)}
        self.sim = RecordedSim(world_of(scene), FaithfulSettings(**given))
        self.contact_tolerance = self.sim.settings.distance_tolerance
        self._packed = scene
        self._count = len(scene.bodies)

    def step(self, *, watched: bool = False) -> None:
        if self.scene is not self._packed:  # somebody pushes it while it runs
            world = world_of(self.scene)
            self.sim.forces, self.sim.functions = pack_forces(world, background=True)
            self.sim.stages = new_stages(self.sim.forces, frames_of(world))
            self._packed = self.scene
        self.sim.advance(self.dt)
        self.steps += 1

    def read(self) -> Any:
        return self.sim.pose[: self._count], self.sim.twist[: self._count]

    def contacts(self) -> Rows:
        """The forces that hold now; those of an impact are impacts."""
        found = self.sim.contact_forces()
        a, b = found.pair.T
        rows = np.flatnonzero((found.pair < len(self.sim.world.bodies)).all(axis=1))
        impulse = self.dt * found.force[:, None] * found.normal
        return a[rows], b[rows], found.point[rows], found.normal[rows], found.gap[rows], impulse[rows]

    def impacts(self) -> Impacts:
        each = zip(self.sim.jumps, self.sim.events, strict=True)
        found = joined([NO_IMPACTS, *(replace(one, time=np.full(len(one.time), jump.time)) for jump, one in each)])
        rows = np.flatnonzero((found.pair < len(self.sim.world.bodies)).all(axis=1))
        return Impacts(
            time=found.time[rows],
            a=found.pair[rows, 0],
            b=found.pair[rows, 1],
            point=found.point[rows],
            impulse=(found.impulse[:, None] * found.normal)[rows],
        )


class Engine(SteppingEngine):
    name = "contactsim"
    version = __version__
    settings = SETTINGS
    profiles = ("default", "fair")
    own_step = True
    takes, because = TAKES, BECAUSE
    abilities: ClassVar[Mapping[Ability, Able]] = {
        "set_state": Able(works=False, note="it goes back in time, and remembers what it draws at random"),
        "apply_force": Able(works=False, note="a scene's thrusters push, over any time"),
        "options": Able(works=False, note="its settings are all that it has"),
    }

    def profile(self, name: str, scene: Scene, dt: float) -> dict[str, Value]:
        return {"joint_small_impacts": True} if name == "fair" and scene.joints else {}

    def cannot(self, scene: Scene) -> str | None:
        assert isinstance(scene, PlanarScene)
        if (count := len(scene.bodies) + len(scene.boundaries)) > MOST_BODIES:
            return TOO_MANY.format(MOST_BODIES, count)
        for joint in scene.joints:
            if isinstance(joint, Revolute) and joint.b and joint.collide:
                return f"ContactSim lets bodies that a pin holds pass through one another, not so joint {joint.name!r}"
        try:
            world_of(scene)
        except WorldError as error:
            return str(error)
        return taut_rope(scene) or no_gap(scene)

    def warm_up(self) -> None:
        from reference_engine import Body, Disc, HalfPlane, Rope, box

        bodies = (
            Body(shape=HalfPlane(), fixed=True),
            Body(shape=box(1.0, 1.0), position=(0.0, 0.505)),
            Body(shape=Disc(0.1), position=(0.0, 1.2)),
        )
        slack = Rope(first=1, second=2, first_point=(0.0, 0.0), second_point=(0.0, 0.0), length=9.0)
        sim = ContactSim(Model(bodies=bodies, connectors=(slack,)))
        for _ in range(20):
            sim.advance(0.025)
        sim.contact_forces()

    def build(self, scene: Scene, dt: float, settings: Settings) -> World:
        assert isinstance(scene, PlanarScene)
        return World(scene, dt, settings)

    def simulate(self, scene: Scene, dt: float, settings: Settings) -> Trajectory:
        """Raises UnresolvedContact or ContactForceError where it gives up, with why."""
        assert isinstance(scene, PlanarScene)
        step = float(settings["time_step"])
        world = self.build(scene, step, settings)
        motion = record(world, scene, step)
        assert isinstance(motion, PlanarTrajectory)
        return with_jumps(motion, world)


def taut_rope(scene: PlanarScene) -> str | None:
    """Why not, where a rope is taut at the start: no gap is left for it to be caught in."""
    index = {None: -1} | {body.name: i for i, body in enumerate(scene.bodies)}
    for rope in scene.joints:
        if isinstance(rope, Rope):
            ends = (world_point(scene, index[rope.a], rope.anchor_a), world_point(scene, index[rope.b], rope.anchor_b))
            if (slack := rope.length - math.dist(*ends)) <= LEAST_GAP:
                return f"ContactSim starts with ropes slack: joint {rope.name!r} has {slack:.3g} m left"
    return None


def no_gap(scene: PlanarScene) -> str | None:
    """Why not, where bodies touch or overlap at the start."""
    members = (*scene.bodies, *scene.boundaries)
    free = [not getattr(member, "fixed", True) for member in members]
    index = {member.name: i for i, member in enumerate(members)}
    meet = {(index[a], index[b]) for a, b in colliding_pairs(scene)}
    pairs = [(a, b) for b in range(len(members)) for a in range(b) if (free[a] or free[b]) and (a, b) not in meet]
    own: list[Any] = [solid(member) for member in members]
    shapes = planar_shapes(own, [not one for one in free])
    pose = np.zeros((len(members), 3))
    pose[: len(scene.bodies)] = planar_start(scene)[0]
    found = planar_proximities(shapes, pose, LEAST_GAP, np.array(pairs, np.int64).reshape(-1, 2), points=1)
    if not len(found):
        return None
    k = int(found.gap.argmin())
    a, b = members[found.a[k]].name, members[found.b[k]].name
    return f"ContactSim starts with bodies apart: {a!r} and {b!r} are {found.gap[k]:.3g} m from each other"


def with_jumps(motion: PlanarTrajectory, world: World) -> PlanarTrajectory:
    """With the impacts, and a sample before and after each, as `PlanarTrajectory` has them."""
    jumps, count = world.sim.jumps, motion.pose.shape[1]
    if not jumps:
        return replace(motion, impacts=world.impacts())
    rows = np.repeat(np.searchsorted(motion.time, motion.dt * (np.array([jump.step for jump in jumps]) - 0.5)), 2)
    time = np.repeat([jump.time for jump in jumps], 2)
    pose = np.repeat([jump.pose[:count] for jump in jumps], 2, axis=0)
    twist = np.array([twist[:count] for jump in jumps for twist in (jump.before, jump.after)])
    contacts = motion.contacts
    if contacts is not None:
        moved = contacts.sample + np.searchsorted(rows, contacts.sample, side="right")
        contacts = replace(contacts, sample=moved)
    return replace(
        motion,
        time=np.insert(motion.time, rows, time),
        pose=np.insert(motion.pose, rows, pose, axis=0),
        twist=np.insert(motion.twist, rows, twist, axis=0),
        contacts=contacts,
        impacts=world.impacts(),
    )

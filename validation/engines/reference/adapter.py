"""The reference engine: event-driven, exact to a stated bound (`reference_engine`, the located mode of time).

What its user should know:
- Every impact and every change of the active contacts is found on the solution itself. Bodies in contact are at gap
  0; Coulomb's law holds for forces and for impacts; bounces without end are summed up to their limit.
- It has no time step. `dt` only says at which times it is read: `BASE_RATE` times a second, some of these with the
  sample a step later, and just before and just after every impact. The time of a step is that of the whole simulation
  over the number of steps, the same for each.
- A rope goes taut without bounce. Two bodies that a pin holds pass through one another.
- Where time cannot go on it says so and why, with the time and the bodies: no forces exist (Painleve), or too many
  impacts at one instant, as in heaps. It does not go on wrongly.
- "fair" takes Poisson's law of impact: by Newton's, the default, an impact with friction may make energy (Kane 1984),
  and bodies between others do so again and again. Without friction, and without restitution, the two are the same.
- Which impulses follow where an impact strikes several contacts at once is a law (`impact_order`) too, and not a matter
  of accuracy. A scene that says which laws hold (`contact.impact_law`, `contact.impact_order`) gets them; by laws and
  orders other than these, and in space, bodies fly and strike and do not stay in contact, or the scene is declined.
"""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, ClassVar

import numpy as np

import reference_engine as library
from reference_engine import ContactForceError, LocatedMotion, UnresolvedContact, WorldError
from reference_engine.array_types import Array, Indices
from reference_engine.planar.projection import GAP_ROUND_OFF
from reference_engine.planar.run import FINEST_TOLERANCE, IMPACT_LAWS, IMPACT_ORDERS
from reference_engine.planar.simulate import penetration
from reference_engine.planar_model.forces import Force
from scenarios.boundaries import HollowSphere
from scenarios.forces import has_applied_forces
from scenarios.given_motion import given_bodies
from scenarios.scene import PlanarScene, Revolute, Scene, SpatialScene, colliding_pairs
from scenarios.shapes import Sphere, simple_shapes
from validation.engines.engine import Ability, Able, Setting, Settings, Value
from validation.engines.reference import carried
from validation.engines.reference import compliant as reference_compliant
from validation.engines.reference import ellipsoids as reference_ellipsoids
from validation.engines.reference import flights as reference_flights
from validation.engines.reference import located as reference_located
from validation.engines.reference import mechanisms as reference_mechanisms
from validation.engines.relations import repeats, unchanged_when
from validation.engines.shared.planar_model import world_of
from validation.engines.shared.recorder import one_call, regular_sample_times
from validation.engines.takes import (
    COMPLIANT,
    COMPOUND,
    DRIVES,
    GIVEN_MOTION,
    HINGES,
    JOINTS,
    PLANAR,
    SHAPES,
    SOLVER,
    SPATIAL,
    TIES,
    WALLS,
    not_taken,
)
from validation.records.trajectory import Contacts, Impacts, PlanarTrajectory, Trajectory
from validation.version import __version__

BECAUSE = {
    "bodies.margin": "the reference engine has no margins of contact",
    "boundaries.margin": "the reference engine has no margins of contact",
    "joints.limits": "the reference engine has no limits of hinges and sliders in space",
    "joints.friction": "the reference engine has no dry friction of hinges and sliders in space",
}
COLLIDING_PIN = "the reference engine lets bodies that a pin holds pass through one another, not so joint {!r}"

OWN = library.Settings()
SETTINGS = {
    "tolerance": Setting(
        default=OWN.tolerance,
        low=FINEST_TOLERANCE,
        high=1e-2,
        fuzzed="less",
        doc="local error of the integrator, SI units",
    ),
    "impact_law": Setting(
        default=OWN.impact_law, choices=IMPACT_LAWS, doc="restitution of speeds (Newton) or of impulses (Poisson)"
    ),
    "impact_order": Setting(
        default=OWN.impact_order, choices=IMPACT_ORDERS, doc="an impact at several contacts: at once, or one by one"
    ),
    "accumulation_cutoff": Setting(
        default=OWN.accumulation_cutoff, low=1e-12, high=1e-3, doc="s; shorter bounces are summed up to their limit"
    ),
    "max_events": Setting(default=OWN.max_events, low=1, high=1e9, fuzzed="more", doc="more of them are an error"),
    **reference_ellipsoids.SETTINGS,
    **reference_mechanisms.SETTINGS,
    **reference_compliant.SETTINGS,
}
TAKES = PLANAR | SPATIAL | SOLVER | JOINTS | HINGES | TIES | COMPLIANT | SHAPES | COMPOUND | WALLS
TAKES |= GIVEN_MOTION | {"restitution", "rolling-resistance", "concave-polygon", "arc-polygon", "fixed"} | DRIVES
TAKES |= {f"contact.impact_law={law}" for law in reference_flights.LAWS}
TAKES |= {f"contact.impact_order={order}" for order in ("simultaneous", "sequential", "grouped")}
OVERLAP_TOLERANCE = 1e-12  # m, which is no overlap to be refused
MOST_BODIES = 300  # with 0.5 GiB; its matrices are dense, four places for each body
MOST_SPHERES = 12  # that move by located events; more are a heap, and go by time steps
TOO_MANY = "the reference engine takes scenes of up to {} bodies and boundaries; this one has {}"
SEVERAL_SHAPES = "in the plane the reference engine has one shape a body, but in flights; {!r} has several"
TURNS_IN_SPACE = (
    "in space the reference engine has given motion that swings, turns or has knots among boxes, hulls, balls, "
    "capsules and compounds of these"
)
FAIR: dict[str, Value] = {"impact_law": "poisson"}
EXACT = unchanged_when(
    "turned",
    "mirrored",
    "reordered",
    "scaled in mass",
    "split in two",
    "run at half the step",
    agree="round-off",
    promise="motions are exact to a stated bound",
    feature="planar",
    without="restitution",
    settings={"impact_order": OWN.impact_order, "tolerance": OWN.tolerance},
)
"""Of motions without a time step. One contact after the other depends on which is first. Where bodies strike one
another in turn without end, which impacts count as one is decided by a time and by a gap that grows with the extent of
the scene: so other units of length and time, and another extent, may give another motion."""


class Reference:
    name = "reference"
    version = __version__
    settings = SETTINGS
    profiles = ("default", "fair")
    takes, because = TAKES, BECAUSE
    round_off = GAP_ROUND_OFF
    same_bits_everywhere = True  # `tests/repository/test_bits.py`
    relations = (*repeats("one program, one input, one motion; README"), *EXACT)
    abilities: ClassVar[Mapping[Ability, Able]] = {
        "set_state": Able(works=False, note="it has no steps to go on from: a scene may start from the state"),
        "apply_force": Able(works=False, note="it has no steps: a scene's thrusters push, over any time"),
        "options": Able(works=False, note="its settings are all that it has"),
    }

    def profile(self, name: str, scene: Scene, dt: float) -> dict[str, Value]:
        law, order = scene.contact.impact_law, scene.contact.impact_order
        stated = {
            "impact_law": law if law in IMPACT_LAWS else None,
            "impact_order": order if order in IMPACT_ORDERS else None,
        }
        own: Mapping[str, Value] = {}
        if name == "fair":
            steps = module_for(scene) is reference_ellipsoids
            own = reference_ellipsoids.profile(scene) if steps and isinstance(scene, SpatialScene) else FAIR
        return {**own} | {setting: value for setting, value in stated.items() if value is not None}

    def declines(self, scene: Scene) -> str | None:
        if reason := not_taken(self, scene):
            return reason
        if given_bodies(scene):
            return None if moves_itself(scene) else self._declines_carried(scene)
        if (module := module_for(scene)) is not None:
            return module.declines(scene)
        assert isinstance(scene, PlanarScene)
        if many := next((body.name for body in scene.bodies if body.shape.kind == "compound"), None):
            return SEVERAL_SHAPES.format(many)
        if (count := len(scene.bodies) + len(scene.boundaries)) > MOST_BODIES:
            return TOO_MANY.format(MOST_BODIES, count)
        for joint in scene.joints:
            if isinstance(joint, Revolute) and joint.b and joint.collide:
                return COLLIDING_PIN.format(joint.name)
        try:
            library.simulate_at(world_of(scene), np.zeros(1))
        except WorldError as error:
            return str(error)
        except (ContactForceError, UnresolvedContact):
            pass  # no reason not to try: `simulate` says what is wrong
        return None

    def _declines_carried(self, scene: Scene) -> str | None:
        """Of a scene with given motion that is simulated in axes that go with the body."""
        if isinstance(scene, SpatialScene) and not (len(given_bodies(scene)) == 1 and carried.is_steady(scene)):
            return reference_located.declines(scene) or TURNS_IN_SPACE
        why = carried.fault(scene)
        if why is None and flies(scene) and not carried.is_steady(scene):
            why = "the reference engine has this law of impact with given motion where it is steady"
        return why or self.declines(carried.with_its_body_fixed(scene))

    def warm_up(self) -> None:
        warm_up_plane()
        reference_ellipsoids.warm_up()
        reference_located.warm_up()

    def simulate(self, scene: Scene, dt: float, settings: Settings) -> Trajectory:
        """Raises UnresolvedContact, UnresolvedStepError, JointError, CompliantError or ContactForceError, with why."""
        if given_bodies(scene) and moves_itself(scene):
            return reference_located.simulate(scene, dt, settings)
        if given_bodies(scene):
            still = carried.with_its_body_fixed(scene)
            if carried.is_steady(scene):
                return carried.seen_from_the_world(self.simulate(still, dt, settings), scene)
            assert isinstance(still, PlanarScene)
            forces = tuple(carried.forces_of(scene))
            return carried.seen_from_the_world(self._in_the_plane(still, dt, settings, forces), scene)
        if (module := module_for(scene)) is not None:
            return module.simulate(scene, dt, settings)
        assert isinstance(scene, PlanarScene)
        return self._in_the_plane(scene, dt, settings)

    def _in_the_plane(
        self, scene: PlanarScene, dt: float, settings: Settings, forces: tuple[Force, ...] = ()
    ) -> PlanarTrajectory:
        """`forces`: beside those of the scene."""
        given = {field.name: settings[field.name] for field in fields(library.Settings)}
        # The settings' values are checked against `SETTINGS`; mypy sees a union of their types.
        own = library.Settings(**given)  # type: ignore[arg-type]
        world = world_of(scene)
        world = replace(world, forces=(*world.forces, *forces))
        with one_call(scene, dt):
            motion = library.simulate_at(world, regular_sample_times(scene, dt), own)
        return trajectory_of(motion, scene, dt)


def moves_itself(scene: Scene) -> bool:
    """Whether a scene with given motion goes to the engine that moves such bodies itself."""
    if not isinstance(scene, SpatialScene) or scene.contact.compliant or (colliding_pairs(scene) and by_steps(scene)):
        return False
    return reference_located.declines(scene) is None


def flies(scene: Scene) -> bool:
    """Whether a planar scene goes to the engine for flights: it names a law or order of impact that only that has."""
    stated = scene.contact
    return stated.impact_law not in (None, *IMPACT_LAWS) or stated.impact_order not in (None, *IMPACT_ORDERS)


def module_for(scene: Scene) -> Any:
    """The module that declines and simulates the scene; None: it is for the planar engine."""
    if isinstance(scene, PlanarScene):
        return reference_flights if flies(scene) else None
    if scene.contact.compliant:
        return reference_compliant
    if not colliding_pairs(scene):
        return reference_mechanisms
    return reference_ellipsoids if by_steps(scene) else reference_located


def by_steps(scene: SpatialScene) -> bool:
    """Whether it needs what only the engine with time steps has: ellipsoids, hollow spheres, forces on spheres that
    meet; or is a heap of many spheres."""
    if scene.contact.impact_law or scene.contact.impact_order:
        return False
    simple = {shape.kind for body in scene.bodies for shape in simple_shapes(body.shape)}
    if "ellipsoid" in simple or any(isinstance(boundary, HollowSphere) for boundary in scene.boundaries):
        return True
    spheres = all(isinstance(body.shape, Sphere) for body in scene.bodies)
    return spheres and (has_applied_forces(scene) or len(scene.bodies) > MOST_SPHERES)


def warm_up_plane() -> None:
    """Compile or load every kernel: a box on a ground, a disc that falls on it, a rope; how deep a box overlaps."""
    bodies = (
        library.Body(shape=library.HalfPlane(), fixed=True),
        library.Body(shape=library.box(1.0, 1.0), position=(0.0, 0.505)),
        library.Body(shape=library.Disc(0.1), position=(0.0, 1.2)),
    )
    slack = library.Rope(first=1, second=2, first_point=(0.0, 0.0), second_point=(0.0, 0.0), length=9.0)
    world = library.World(bodies=bodies, connectors=(slack,))
    library.simulate(world, 0.5, 1.0 / 60.0)
    penetration(world, np.array([[(0.0, 0.0, 0.0), (0.0, 0.5 - OVERLAP_TOLERANCE, 0.0), (0.0, 1.2, 0.0)]]))


# --- motion to trajectory -------------------------------------------------------------------------


def trajectory_of(motion: LocatedMotion, scene: PlanarScene, dt: float) -> PlanarTrajectory:
    """Every sample. Of the contacts those between bodies and boundaries: ropes, which press nothing, are left out."""
    count = len(scene.bodies)
    contacts, impacts = motion.contacts, motion.impacts
    closed, impact_rows = (of_bodies(scene, pair) for pair in (contacts.pair, impacts.pair))
    sample = np.repeat(np.arange(len(motion.time)), np.diff(motion.first_contact))
    return PlanarTrajectory(
        time=motion.time,
        dt=dt,
        velocity_lag=0.0,
        pose=np.ascontiguousarray(motion.pose[:, :count]),
        twist=np.ascontiguousarray(motion.twist[:, :count]),
        contacts=Contacts(
            sample=sample[closed],
            a=contacts.pair[closed, 0],
            b=contacts.pair[closed, 1],
            point=contacts.point[closed],
            normal=contacts.normal[closed],
            gap=contacts.gap[closed],
            impulse=dt * along(contacts.normal, contacts.force, contacts.friction)[closed],
        ),
        impacts=Impacts(
            time=impacts.time[impact_rows],
            a=impacts.pair[impact_rows, 0],
            b=impacts.pair[impact_rows, 1],
            point=impacts.point[impact_rows],
            impulse=along(impacts.normal, impacts.impulse, impacts.friction)[impact_rows],
        ),
    )


def of_bodies(scene: PlanarScene, pair: Indices) -> Indices:
    """Rows whose bodies may touch: both of the scene, and not tied by a rope that lets them pass."""
    index = {body.name: i for i, body in enumerate(scene.bodies)}
    apart = {frozenset((index[j.a], index[j.b])) for j in scene.joints if j.b is not None and not j.collide}
    return np.array([k for k, ab in enumerate(pair.tolist()) if min(ab) >= 0 and frozenset(ab) not in apart], np.int64)


def along(normal: Array, force: Array, friction: Array) -> Array:
    """(N, 2): along the normal, and along the tangent, the normal turned a quarter counter-clockwise."""
    tangent = np.stack([-normal[:, 1], normal[:, 0]], axis=1)
    return force[:, None] * normal + friction[:, None] * tangent

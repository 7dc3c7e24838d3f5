"""pybullet: Bullet's multibodies in reduced coordinates, contacts by projected Gauss-Seidel on impulses.

What makes a comparison unfair, and what is done about it (measured with 3.2.7; Coumans, "PyBullet Quickstart Guide"):
- Planar scenes are prisms 1 m deep that slide along x and y and turn about z on massless links, and so cannot leave
  the plane. Free in space they do: one of a 10-stack of mass ratio 1:1000 had moved 4.6 m out of it after 6 s.
- `contact_breaking_threshold` is a variable of the process: it outlives the client, so it is always set. At its default
  an impact has no restitution where a step moves a body by less, and a ball that rolls over facets is held up by the
  next one: the fair profile lowers it in such scenes, and there alone, because stacks need it.
- `contact_erp` pushes a body out of what it hits, and so adds energy to a rebound; without it stacks sink. Fair is 0
  where the scene has restitution. Its default is 0.08: set to 0.2 the motion differs, set to 0.08 it does not.
- By default a velocity v fades at 0.04 (1 + |v|) v, is cut off at 100 m/s or rad/s, and has no restitution below
  0.2 m/s; the solver stops early, and every joint has a motor that brakes it. Fair has none of these; no profile has
  motors.
- Friction and restitution of a pair are the product of two bodies' values; where no values give every pair its own,
  the scene is declined. Friction above 10 is cut off, and declined.
- Compliant contact is a linear spring and damper (`linear_contact`), springs of two bodies in series. It is solved for
  implicitly, which damps: a ball without any loss has 0.75 of its speed left of a contact of 16 steps, 0.96 of 130.
- Free bodies have their gyroscopic torque, taken at the start of the step: in 10 s of tumbling about the middle axis
  at 1 rad/s the energy grows by 0.12 % at dt = 1/240, as with MuJoCo's Euler. (Bullet's maximal coordinates have none.)
- A step first changes the velocity, then moves with it: in free flight the velocity is the true one dt/2 before.
- An ellipsoid is a mesh inside it: of semi-axes 0.3, 0.2 and 0.1 m that of 642 points is up to 1.3 mm too thin, and
  rolls over facets.
- What cannot be read back, the engine's own parameters, is set; what would crash it (NaN, empty or huge numbers) is
  refused by the scene and by the ranges of the settings.
"""

from __future__ import annotations

import importlib.metadata
import math
from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pybullet as pb

from reference_engine.array_types import Array
from scenarios.given_motion import given_state
from scenarios.native import Model
from scenarios.scene import Scene, SpatialScene, features
from validation.engines import LOADS
from validation.engines.engine import QUERY_STEP, Setting, Settings, SteppingEngine, Value, able
from validation.engines.pybullet.contacts import contact_rows
from validation.engines.pybullet.description import described, overlapping
from validation.engines.pybullet.importing import imported
from validation.engines.pybullet.loading import LOADING, load
from validation.engines.pybullet.native import PARAMETERS, NativeWorld
from validation.engines.pybullet.queries import QUERIES, closest_points
from validation.engines.pybullet.separation import SweptWorld
from validation.engines.pybullet.trees import BASE, X_Y_ANGLE
from validation.engines.pybullet.world import Built
from validation.engines.relations import repeats
from validation.engines.shared import recorder
from validation.engines.shared.embedding import vector_in_space
from validation.engines.shared.importing import Imported
from validation.engines.shared.joint_tree import given_fault, loop_fault, start_fault
from validation.engines.shared.linear_contact import body_values
from validation.engines.shared.pair_laws import PairLaws, no_values
from validation.engines.shared.quaternions import continued
from validation.engines.shared.spatial_pieces import facet_settings, spatial_pieces
from validation.engines.takes import (
    COMPLIANT,
    COMPOUND,
    DRIVES,
    FRICTION_OF_JOINTS,
    GIVEN_MOTION,
    HINGES,
    JOINTS,
    LIMITS,
    PLANAR,
    SHAPES,
    SOLVER,
    SPATIAL,
    WALLS,
)
from validation.records.queries import Answers, Poses

TAKES = PLANAR | SPATIAL | SOLVER | COMPLIANT | SHAPES | COMPOUND | WALLS | JOINTS | HINGES | {"restitution"}
TAKES |= DRIVES | LIMITS | FRICTION_OF_JOINTS | GIVEN_MOTION | {"fixed"}
BECAUSE = {
    "bodies.margin": "Bullet's margins are inside boxes and balls, and no two stand off by them",
    "boundaries.margin": "Bullet's margins are inside boxes and balls, and no two stand off by them",
    "arc-polygon": "Bullet has no shape with arc edges; a polygon would be another scene",
    "concave-polygon": "a moving Bullet mesh is its convex hull",
    "rod": "Bullet has no joint that keeps a distance",
    "rope": "Bullet has no joint that limits a distance",
    "rolling-resistance": "Bullet has no rolling resistance in proportion to the force that presses two bodies",
}
SPRINGS = "Bullet has a spring for each body; no stiffness and damping of bodies give every pair of this scene its own"
MOST_FRICTION = 10.0  # of a pair: Bullet cuts off there

SETTINGS: Mapping[str, Setting] = {
    "iterations": Setting(default=50, low=1, high=10_000, fuzzed="more", doc="sweeps of the solver"),
    "residual_threshold": Setting(
        default=1e-7, low=0.0, high=1.0, fuzzed="less", doc="the sweeps end at this squared residual"
    ),
    "contact_breaking_threshold": Setting(
        default=0.02,
        low=1e-9,
        high=1.0,
        doc="contacts are made and kept up to this gap times the smaller bounding radius",
    ),
    "contact_erp": Setting(default=0.08, low=0.0, high=1.0, doc="share of a penetration that a step takes back"),
    "contact_slop": Setting(default=1e-5, low=0.0, high=1.0, fuzzed="less", doc="penetration that is left alone, m"),
    "restitution_velocity_threshold": Setting(
        default=0.2, low=0.0, high=1e3, fuzzed="less", doc="slower impacts have no restitution, m/s"
    ),
    "cone_friction": Setting(default=True, doc="friction cone; false: a pyramid"),
    "global_cfm": Setting(default=0.0, low=0.0, high=1.0, doc="softness of all constraints"),
    "linear_damping": Setting(default=0.04, low=0.0, high=1.0, doc="d of the fading d (1 + |v|) v, 1/s"),
    "angular_damping": Setting(default=0.04, low=0.0, high=1.0, doc="likewise for the spin, 1/s"),
    "max_speed": Setting(
        default=100.0, low=1e-3, high=1e12, fuzzed="more", doc="faster motion is cut off, m/s and rad/s"
    ),
    **facet_settings(ellipsoid=3),
    "deterministic_overlapping_pairs": Setting(default=False, doc="sort the pairs of the broad phase"),
}
FAIR: Mapping[str, Value] = {
    "iterations": 200,
    "residual_threshold": 0.0,
    "restitution_velocity_threshold": 0.0,
    "linear_damping": 0.0,
    "angular_damping": 0.0,
    "max_speed": 1e12,
}
FAIR_IMPACT: Mapping[str, Value] = {"contact_breaking_threshold": 1e-4, "contact_erp": 0.0}
FAIR_COMPLIANT: Mapping[str, Value] = {"contact_slop": 0.0}
FAIR_FACETS: Mapping[str, Value] = {"contact_breaking_threshold": 1e-4}  # or the next facet takes part of the motion


class PyBullet(SteppingEngine):
    name = "pybullet"
    version = importlib.metadata.version("pybullet")
    settings = SETTINGS
    profiles = ("default", "fair")
    takes, because = TAKES, BECAUSE
    relations = repeats(
        "pairs are sorted to be deterministic; Quickstart guide, setPhysicsEngineParameter",
        {"deterministic_overlapping_pairs": True},
    )
    abilities = able(
        set_state="to round-off in flight; impulses of contacts start from zero",
        apply_force="at the position that the step starts from",
        options="those that getPhysicsEngineParameters gives back, which are not all",
    )
    queries = QUERIES
    loads = LOADS["pybullet"]
    settings_of_models: ClassVar[Mapping[str, Setting]] = {
        **{name: SETTINGS[name] for name in PARAMETERS},
        **LOADING,
    }

    def __init__(self) -> None:
        self._spare: int | None = None  # a client that nothing has used
        self._used: int | None = None  # one to be closed when the next is wanted: a process that ends need not wait

    def profile(self, name: str, scene: Scene, dt: float) -> dict[str, Value]:
        if name != "fair":
            return {}
        found = features(scene)
        faceted = FAIR_FACETS if found & {"bowl", "hollow-sphere"} else {}
        impact = FAIR_IMPACT if "restitution" in found else FAIR_COMPLIANT if "compliant" in found else {}
        return {**FAIR, **faceted, **impact}

    def cannot(self, scene: Scene) -> str | None:
        if scene.contact.compliant is not None and body_values(scene) is None:
            return SPRINGS
        laws = PairLaws(scene)
        if reason := no_values("Bullet", laws, friction="product", restitution="product"):
            return reason
        if (most := math.prod(sorted(laws.shape_values("friction", "product") or [])[-2:])) > MOST_FRICTION:
            return f"Bullet cuts the friction of a pair off at {MOST_FRICTION:g}; this scene has {most:g}"
        for body in scene.bodies:
            kinds = [piece.kind for piece in spatial_pieces(body.shape, 0)] if body.shape.kind == "compound" else []
            if len(kinds) > 1 and "hull" in kinds:
                return f"body {body.name!r}: pybullet takes no hull among several shapes of a body"
        return (
            given_fault("pybullet", scene) or start_fault(scene) or loop_fault("Bullet", scene, " between multibodies")
        )

    def warm_up(self) -> None:
        """A client takes 30 ms or more to make in a process just forked, and next to nothing to inherit."""
        self._spare = pb.connect(pb.DIRECT)

    def build(self, scene: Scene, dt: float, settings: Settings) -> recorder.World:
        """One world at a time: it takes the place of the one built before."""
        client = self._fresh_client()
        if isinstance(scene, SpatialScene) and scene.native is not None:
            breaking = float(SETTINGS["contact_breaking_threshold"].default)
            probe = scene.native.model.probe
            kind = SweptWorld if probe is not None and probe.kind == "separation" else NativeWorld
            return kind(client, scene, dt, settings, breaking)
        return World(Built(client, scene, dt, settings), scene, dt)

    def describe(self, model: Model, duration: float, title: str, settings: Settings) -> SpatialScene:
        loaded = load(self._fresh_client(), model, {name: settings[name] for name in LOADING if name in settings})
        return overlapping(loaded, described(loaded, model, duration, title))

    def stand_alone(self, model: Model, duration: float, title: str, settings: Settings) -> Imported:
        loaded = load(self._fresh_client(), model, {name: settings[name] for name in LOADING if name in settings})
        return imported(loaded, model, duration, title)

    def _fresh_client(self) -> int:
        client, self._spare = self._spare, None
        if self._used is not None:
            pb.disconnect(physicsClientId=self._used)
        if client is None:
            client = pb.connect(pb.DIRECT)
        self._used = client
        return client

    def answer(self, query: str, scene: Scene, settings: Settings, poses: Poses) -> Answers:
        world = self.build(scene, QUERY_STEP, settings)
        assert isinstance(world, World)
        built = world.built
        (a, _), (b, _) = built.addresses
        return closest_points(built.client, (a, b), scene, poses)


class World(recorder.SceneWorld):
    """A scene that pybullet has, and what is read of it and done to it.

    Of each free body some numbers are read a step, and turned into poses a block of steps at once. A body that stands
    alone has its numbers in the joints that hold it in the plane, or in its base. Those of a body that hangs on another
    are its link's, brought up to date for it: a step leaves them behind.
    """

    def __init__(self, built: Built, scene: Scene, dt: float) -> None:
        super().__init__(scene, dt)
        self.velocity_lag = -dt / 2
        self.built = built
        self._client = built.client
        self._trees: dict[int, list[tuple[int, int]]] = {}  # multibody -> (body, link), of those that are links
        free = [(i, *built.addresses[i]) for i in self.free]
        for i, number, link in free:
            if link != BASE:
                self._trees.setdefault(number, []).append((i, link))
        # (body, multibody) of those that stand alone
        if self.planar:
            self._alone = [
                (i, number)
                for i, number, link in free
                if built.hinges[i] == [X_Y_ANGLE[-1]] and len(self._trees[number]) == 1
            ]
            for _, number in self._alone:
                del self._trees[number]
            self._joints = {n: range(pb.getNumJoints(n, physicsClientId=self._client)) for n in self._trees}
        else:
            self._alone = [(i, number) for i, number, link in free if link == BASE]
        self._carried = [(i, built.addresses[i][0]) for i in self.given]
        hung = [i for links in self._trees.values() for i, _ in links]
        self._order = np.array([*(i for i, _ in self._alone), *hung, *self.given], np.int64)
        self._last = self.start[1][self._order]  # spatial: orientations, for the sign of the next

    def step(self, *, watched: bool) -> None:
        if self.has_forces:
            self._apply_forces()
        for i, number in self._carried:
            self.built.start_given(i, number, self.steps * self.dt, self.dt)
        self.steps += 1
        pb.stepSimulation(physicsClientId=self._client)
        for i, number in self._carried:
            self.built.put_given(i, number, self.steps * self.dt)

    def _apply_forces(self) -> None:
        """Springs, thrusters and damping of the scene, for the next step; pybullet forgets them after it."""
        state = [part[0] for part in self._unpacked(self.read(), 1)]  # the sign of a quaternion is by chance
        force, torque = self.wrenches(self.steps * self.dt, *state)
        for i in np.flatnonzero(force.any(axis=1) | torque.any(axis=1)):
            number, link = self.built.addresses[i]
            at, world = self._center(int(i)), pb.WORLD_FRAME
            pb.applyExternalForce(number, link, force[i].tolist(), at, world, physicsClientId=self._client)
            pb.applyExternalTorque(number, link, torque[i].tolist(), world, physicsClientId=self._client)

    def _center(self, i: int) -> Sequence[float]:
        """m, of a body's centre of mass in the world."""
        number, link = self.built.addresses[i]
        if link == BASE:
            center, _ = pb.getBasePositionAndOrientation(number, physicsClientId=self._client)
        else:  # bring the link's own frame up to date, which a step leaves behind: the arm is taken from it
            center = pb.getLinkState(number, link, computeForwardKinematics=1, physicsClientId=self._client)[0]
        return center

    # --- reading ---

    def read(self) -> bytes:
        """Planar: x, y, angle, vx, vy, spin of each body; spatial: position, quaternion x-y-z-w, velocity, spin."""
        numbers = array("d")
        client, turn, hinges = self._client, self.built.turn, self.built.hinges
        if self.planar:
            for _, number in self._alone:
                x, y, angle = pb.getJointStates(number, X_Y_ANGLE, physicsClientId=client)
                numbers.extend((x[0], y[0], angle[0], x[1], y[1], angle[1]))
            for number, links in self._trees.items():
                turned = [row[0] for row in pb.getJointStates(number, self._joints[number], physicsClientId=client)]
                for i, row in self._links_of(number, links):
                    (x, y, _), (vx, vy, _), (_, _, spin) = row[0], row[6], row[7]
                    angle = turn[i] + sum(turned[k] for k in hinges[i])
                    numbers.extend((x, y, angle, vx, vy, spin))
        else:
            for _, number in self._alone:
                position, orientation = pb.getBasePositionAndOrientation(number, physicsClientId=client)
                velocity, spin = pb.getBaseVelocity(number, physicsClientId=client)
                numbers.extend((*position, *orientation, *velocity, *spin))
            for number, links in self._trees.items():
                for _, row in self._links_of(number, links):
                    numbers.extend((*row[0], *row[1], *row[6], *row[7]))
        for i, number in self._carried:
            numbers.extend(self._given_state(i, number))
        return numbers.tobytes()

    def _given_state(self, i: int, number: int) -> list[float]:
        """Where pybullet has it; how fast by what it is given, at the time of the other velocities."""
        now, body = self.steps * self.dt, self.scene.bodies[i]
        position, orientation = pb.getBasePositionAndOrientation(number, physicsClientId=self._client)
        rate = given_state(body, now + self.velocity_lag if self.steps else now)
        if not self.planar:
            return [*position, *orientation, *rate[2].tolist(), *rate[3].tolist()]
        turned = 2.0 * math.atan2(orientation[2], orientation[3])
        turned += 2.0 * math.pi * round((float(given_state(body, now)[0][2]) - turned) / (2.0 * math.pi))
        return [position[0], position[1], turned, *rate[1].tolist()]

    def _links_of(self, number: int, links: list[tuple[int, int]]) -> Iterator[tuple[int, Any]]:
        """(body, pybullet's state of the link) with its frame and velocity brought up to date."""
        states = pb.getLinkStates(number, [k for _, k in links], 1, 1, physicsClientId=self._client)
        return zip((i for i, _ in links), states)

    def decode(self, raw: bytes, steps: int) -> list[Array]:
        """The parts of so many `read` that follow those of the last call; a quaternion goes on with its sign."""
        parts = self._unpacked(raw, steps)
        if not self.planar:
            given = continued(self._last, parts[1][:, self._order])
            parts[1][:, self._order] = given
            self._last = given[-1]
        return parts

    def _unpacked(self, raw: bytes, steps: int) -> list[Array]:
        numbers = np.frombuffer(raw, np.float64).reshape(steps, self._order.size, -1)
        if not self.planar:
            numbers = numbers[..., [0, 1, 2, 6, 3, 4, 5, 7, 8, 9, 10, 11, 12]]  # w first
        return recorder.filled(self.start, numbers, self._order)

    # --- abilities ---

    def set_state(self, *state: Any, time: float = 0.0) -> None:
        self.steps = round(time / self.dt)
        self.restart_joints()
        for link in self.built.links:
            self.built.set_link_state(link, *state)
        for i, address in self._carried:
            self.built.put_given(i, address, time)
        if not self.planar:  # the signs of the next quaternions go on from these
            self._last = state[1][self._order]

    def apply_force(self, body: int, force: Sequence[float], point: Sequence[float] | None = None) -> None:
        if body in self.free:
            center = self._center(body)  # also where a point is given: the arm is taken from it
            at = center if point is None else vector_in_space(point).tolist()
            number, link = self.built.addresses[body]
            given = vector_in_space(force).tolist()
            pb.applyExternalForce(number, link, given, at, pb.WORLD_FRAME, physicsClientId=self._client)

    def options(self) -> dict[str, Value]:
        """What getPhysicsEngineParameters gives; of its words those that it can be set by are taken."""
        found = pb.getPhysicsEngineParameters(physicsClientId=self._client)
        return {name: value for name, value in found.items() if isinstance(value, (bool, int, float, str))}

    # --- contacts ---

    def contacts(self) -> recorder.Rows | None:
        rows = contact_rows(self._client, self.built.member, self.dt)
        return None if rows is None else self.in_dimension(*rows)

"""Ellipsoids and spheres in space, for the reference engine: what it declines, the scene as its world, the motion."""

import numpy as np

import reference_engine as library
from reference_engine import EllipsoidWorld, SpatialWorldError, Stepper
from reference_engine.array_types import Array
from scenarios.boundaries import HollowSphere
from scenarios.scene import Scene, SpatialScene, colliding_pairs, features, inertias, spatial_start
from scenarios.shapes import Ellipsoid, Sphere
from validation.engines.engine import Setting, Settings, Value
from validation.engines.reference.mechanisms import load_of
from validation.engines.shared.pair_laws import PairLaws
from validation.engines.shared.recorder import Rows, World, record
from validation.records.trajectory import Trajectory

ANY = (1.0, 1.0, 1.0)  # m
ONLY = "the reference engine's bodies in space are spheres and ellipsoids; this scene has {}"
DECLINES = {
    "groups": "the reference engine lets no bodies in space pass through one another, not even those of one group",
}
TAKES = frozenset({"spatial", "sphere", "ellipsoid", "half-space", "hollow-sphere"})
LAWS = frozenset({"friction", "restitution", "damping", "springs", "thrusters", "groups"})

SETTINGS = {
    "gap_tolerance": Setting(
        default=1e-7,
        low=1e-12,
        high=1e-2,
        fuzzed="less",
        doc="in space: m, no gap below 0, none in contact above twice this",
    ),
    "located": Setting(default=False, doc="in space: each impact at its own time, at the price of some ten steps"),
    "edges": Setting(default=0, low=0, high=64, doc="in space: of the friction pyramid, even, from 4 on; 0: the cone"),
}
FEW = 6  # bodies
FAIR_FEW: dict[str, Value] = {"gap_tolerance": 1e-9, "located": True}
"""Of a heap the impulses cannot be found so exactly, and impacts are too many."""


def profile(scene: SpatialScene) -> dict[str, Value]:
    """What "fair" takes."""
    return FAIR_FEW if len(scene.bodies) <= FEW else {}


def declines(scene: SpatialScene) -> str | None:
    found = features(scene)
    if "groups" in found:
        return DECLINES["groups"]
    if (others := found - TAKES - LAWS) and colliding_pairs(scene):
        return ONLY.format(" and ".join(sorted(others)))
    try:
        Stepper(world_of(scene), 1.0, library.SpatialSettings(gap_tolerance=float(SETTINGS["gap_tolerance"].default)))
    except SpatialWorldError as error:
        return str(error)
    return None


def world_of(scene: SpatialScene) -> EllipsoidWorld:
    """Bodies and boundaries in the scene's order. Raises SpatialWorldError."""
    position, orientation, velocity, spin = spatial_start(scene)
    moving = np.array([not body.fixed for body in scene.bodies])
    own = np.where(moving[:, None], inertias(scene), 1.0)
    pairs = PairLaws(scene)
    law = np.array(pairs.laws)

    return EllipsoidWorld(
        [semi_axes(body.shape) for body in scene.bodies],
        position,
        orientation=orientation,
        velocity=velocity,
        spin=spin,
        mass=np.array([body.mass or 1.0 for body in scene.bodies]),
        inertia=own,
        fixed=~moving,
        containers=tuple(
            library.SphereInterior(b.radius, b.center)
            if isinstance(b, HollowSphere)
            else library.HalfSpace(b.point, b.normal)
            for b in scene.boundaries
        ),
        gravity=scene.gravity,
        friction=law[..., 0],
        restitution=law[..., 1],
        material=np.array(pairs.kind, np.int64),
        force=load_of(scene),
    )


def semi_axes(shape: object) -> tuple[float, float, float]:
    if isinstance(shape, Sphere):
        return (shape.radius,) * 3
    return shape.semi_axes if isinstance(shape, Ellipsoid) else ANY  # of what meets nothing


def simulate(scene: Scene, dt: float, settings: Settings) -> Trajectory:
    """Raises UnresolvedStepError, with the values, rather than go on wrongly."""
    assert isinstance(scene, SpatialScene)
    given = library.SpatialSettings(
        gap_tolerance=float(settings["gap_tolerance"]),
        edges=int(settings["edges"]),
        located=bool(settings["located"]),
    )
    return record(_World(Stepper(world_of(scene), dt, given)), scene, dt)


class _World(World):
    def __init__(self, stepper: Stepper) -> None:
        self._stepper = stepper

    def step(self, *, watched: bool) -> None:
        self._stepper.step()

    def read(self) -> tuple[Array, ...]:
        twist = self._stepper.twist
        return self._stepper.position, self._stepper.orientation, twist[:, :3], twist[:, 3:]

    def contacts(self) -> Rows:
        at = self._stepper.step_contacts()
        return at.body[:, 0], at.body[:, 1], at.point, at.normal, at.gap, at.impulse


def warm_up() -> None:
    """Compile or load every kernel: two ellipsoids in a hollow sphere above a plane, with friction and a bounce."""
    world = EllipsoidWorld(
        [(0.3, 0.2, 0.1), (0.2, 0.1, 0.1)],
        [(0.0, 0.0, 0.31), (0.0, 0.0, 0.72)],
        containers=(library.HalfSpace(), library.SphereInterior(2.0)),
        friction=0.5,
        restitution=0.5,
    )
    stepper = Stepper(world, 0.01)
    for _ in range(30):
        stepper.step()
    stepper.step_contacts()

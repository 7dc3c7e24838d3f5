"""Scenes in the plane that name a law or order of impact which the planar engine does not have: flights and impacts."""

import math
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from reference_engine import FlightError, FlightMotion, Flyer, simulate_flights
from reference_engine.array_types import Array
from reference_engine.dense import mul, norm
from scenarios import shapes
from scenarios.boundaries import HalfPlane
from scenarios.forces import has_applied_forces
from scenarios.mass import piece_frame
from scenarios.scene import PlanarScene, Scene, colliding_pairs, inertias
from validation.engines.engine import DeclinedError, Settings
from validation.engines.shared.recorder import one_call, regular_sample_times
from validation.records.trajectory import Impacts, PlanarTrajectory

LAWS = {  # of a scene: of an impact at one contact, as `multiple_impact` names it
    "newton": "at-once-newton",
    "poisson": "at-once-poisson",
    "incremental-newton": "newton",
    "incremental-poisson": "poisson",
    "stronge": "stronge",
    "chatterjee-ruina": "chatterjee-ruina",
    "stick-or-slip": "stick-or-slip",
}
OWN_LAW = "newton"  # of a scene that names the order alone
SEVERAL = ("newton", "poisson")  # laws of contacts that are struck simultaneously or in groups
ONLY = "by the law of impact {!r} the reference engine has flights and impacts alone; this scene has {}"


def declines(scene: Scene) -> str | None:
    assert isinstance(scene, PlanarScene)
    law, order = scene.contact.impact_law or OWN_LAW, scene.contact.impact_order
    if order not in (None, "sequential") and law not in SEVERAL:
        return f"the law of impact {law!r} is for one contact; contacts in {order!r} order have {' or '.join(SEVERAL)}"
    if scene.joints or has_applied_forces(scene):
        return ONLY.format(law, "joints" if scene.joints else "springs, thrusters or damping")
    round_ones = {body.name for body in scene.bodies if isinstance(body.shape, shapes.Disc)}
    for body in scene.bodies:
        if not body.fixed and collision_points(body.shape) is None:
            return ONLY.format(law, f"a {body.shape.kind}")
    if other := next((b for b in scene.boundaries if not isinstance(b, HalfPlane)), None):
        return ONLY.format(law, f"a {other.kind}")
    names = {body.name for body in scene.bodies}
    for a, b in colliding_pairs(scene):
        if a in names and b in names and not {a, b} <= round_ones:
            return ONLY.format(law, f"{a!r} and {b!r}, of which not both are round")
    return None


def collision_points(shape: shapes.PlanarShape) -> tuple[Array, float] | None:
    """Points (P, 2) and the radius of the balls about them, whose hull the shape is; None for other shapes."""
    match shape:
        case shapes.Disc():
            return np.zeros((1, 2)), shape.radius
        case shapes.Polygon():
            return np.array(shape.vertices), 0.0
        case shapes.PlanarCompound():
            return _of_pieces(shape)
    return None


def _of_pieces(shape: shapes.PlanarCompound) -> tuple[Array, float] | None:
    """Of a compound whose pieces have balls of one radius: over a plane it is its hull."""
    found = [(piece_frame(piece), collision_points(piece.shape)) for piece in shape.pieces]
    radii = {None if points is None else points[1] for _, points in found}
    if len(radii) > 1 or None in radii:
        return None
    return np.concatenate([x + mul(points[0], R.T) for (x, R), points in found if points]), radii.pop() or 0.0


def simulate(scene: Scene, dt: float, settings: Settings) -> PlanarTrajectory:
    """Regular samples, and before and after each impact. Raises ImpactError, with the values, and DeclinedError where
    bodies come to stay in contact, which is known only then."""
    assert isinstance(scene, PlanarScene)
    members = (*scene.bodies, *scene.boundaries)
    index = {member.name: i for i, member in enumerate(members)}
    count = len(scene.bodies)
    meet = {frozenset((index[a], index[b])) for a, b in colliding_pairs(scene)}

    def pair(i: int, j: int) -> tuple[float, float] | None:
        second = count - 1 - j if j < 0 else j
        if frozenset((i, second)) not in meet:
            return None
        return scene.pair_law(members[i], members[second])

    planes = [b for b in scene.boundaries if isinstance(b, HalfPlane)]
    with one_call(scene, dt), contact_declined(scene):
        motion = simulate_flights(
            tuple(flyer(scene, i) for i in range(count)),
            tuple((np.array(b.point), np.array(b.normal) / norm(np.array(b.normal))) for b in planes),
            regular_sample_times(scene, dt),
            gravity=np.array(scene.gravity),
            law=LAWS[scene.contact.impact_law or OWN_LAW],
            order=scene.contact.impact_order,
            pair=pair,
        )
    return trajectory_of(motion, count, dt)


@contextmanager
def contact_declined(scene: Scene) -> Iterator[None]:
    try:
        yield
    except FlightError as error:
        stated = scene.contact.impact_law or scene.contact.impact_order
        raise DeclinedError(ONLY.format(stated, f"more than these ({error})")) from None


def flyer(scene: PlanarScene, i: int) -> Flyer:
    body = scene.bodies[i]
    at, radius = collision_points(body.shape) or (np.zeros((1, 2)), 0.0)
    return Flyer(
        points=at,
        radius=radius,
        mass=math.inf if body.fixed else float(body.mass or math.nan),
        inertia=inertias(scene)[i],
        position=body.position,
        orientation=body.angle,
        velocity=body.velocity,
        spin=body.spin,
    )


def trajectory_of(motion: FlightMotion, count: int, dt: float) -> PlanarTrajectory:
    second = [count - 1 - impact.second if impact.second < 0 else impact.second for impact in motion.impacts]
    impacts = Impacts(  # a strike's impulse is on its first
        time=np.array([impact.time for impact in motion.impacts]),
        a=np.array([impact.first for impact in motion.impacts], np.int64),
        b=np.array(second, np.int64),
        point=np.array([impact.point for impact in motion.impacts]).reshape(-1, 2),
        impulse=-np.array([impact.impulse for impact in motion.impacts]).reshape(-1, 2),
    )
    return PlanarTrajectory(
        time=motion.time,
        dt=dt,
        velocity_lag=0.0,
        pose=np.concatenate([motion.position, motion.orientation[..., None]], axis=2),
        twist=np.concatenate([motion.velocity, motion.spin[..., None]], axis=2),
        impacts=impacts,
    )

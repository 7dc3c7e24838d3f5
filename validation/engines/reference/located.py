"""Boxes, hulls, balls, capsules, cylinders and compounds of these in space, every event located."""

import math
from collections.abc import Iterator

import numpy as np

import reference_engine as library
from reference_engine import BallJoint, LocatedSettings, SpatialMotion, SpatialWorld, SpatialWorldError
from reference_engine.array_types import Array, Indices
from reference_engine.dense import mul, norm
from reference_engine.geometry import spatial_shapes as solid
from reference_engine.rotation import matrices
from reference_engine.spatial.world import Compound, GivenMotion, Piece, Shape, Simple
from scenarios import shapes
from scenarios.boundaries import HalfSpace
from scenarios.forces import has_applied_forces
from scenarios.given_motion import SpatialGivenMotion
from scenarios.joints import AnyJoint
from scenarios.scene import Ball, Hinge, Scene, SpatialScene, colliding_pairs, inertias, spatial_start
from validation.engines.engine import Settings
from validation.engines.reference.flights import LAWS, SEVERAL
from validation.engines.shared.recorder import one_call, regular_sample_times
from validation.records.trajectory import Contacts, Impacts, SpatialTrajectory

MEETS = "where bodies in space meet, the reference engine has no {}"
FOR_ONE = "the law of impact {!r} is for one contact; contacts in {!r} order have {}"
APART = 1.0  # m along a hinge's axis, of the two points that hold it


def declines(scene: SpatialScene) -> str | None:
    law, order = scene.contact.impact_law, scene.contact.impact_order
    if law not in (None, *SEVERAL) and order not in (None, "sequential"):
        return FOR_ONE.format(law, order, " or ".join(SEVERAL))
    if has_applied_forces(scene):
        return MEETS.format("springs, thrusters or damping")
    for joint in scene.joints:
        if not isinstance(joint, (Ball, Hinge)):
            return MEETS.format(f"{joint.kind} joints")
    for body in scene.bodies:
        if other := next((one.kind for one in shapes.simple_shapes(body.shape) if one.kind == "ellipsoid"), None):
            return MEETS.format(f"{other} beside other shapes")
    if other := next((b.kind for b in scene.boundaries if not isinstance(b, HalfSpace)), None):
        return MEETS.format(f"{other} around other shapes than spheres and ellipsoids")
    try:
        library.simulate_spatial(world_of(scene), [0.0])
    except SpatialWorldError as error:
        return str(error)
    except library.UnresolvedContact as error:
        return str(error) if "overlap at the start" in str(error) else None
    except (ArithmeticError, RuntimeError):
        pass  # no reason not to try: `simulate` says what is wrong
    return None


def world_of(scene: SpatialScene) -> SpatialWorld:
    """Bodies, then boundaries, in the scene's order. Raises SpatialWorldError."""
    members = (*scene.bodies, *scene.boundaries)
    index = {member.name: i for i, member in enumerate(members)}
    meet = {frozenset((index[a], index[b])) for a, b in colliding_pairs(scene)}
    pairs = {
        (i, j): scene.pair_law(members[i], members[j]) if frozenset((i, j)) in meet else None
        for j in range(len(members))
        for i in range(j)
    }
    position, orientation, velocity, spin = spatial_start(scene)
    inertia = inertias(scene)
    bodies = [
        library.SpatialBody(
            shape=shape_of(body.shape),
            mass=math.inf if body.fixed else float(body.mass or math.nan),
            inertia=(math.inf,) * 3 if body.fixed else inertia[i],
            position=position[i],
            orientation=orientation[i],
            velocity=velocity[i],
            spin=spin[i],
            name=body.name,
            motion=None if body.motion is None else given_motion(body.motion),
        )
        for i, body in enumerate(scene.bodies)
    ]
    for boundary in scene.boundaries:
        assert isinstance(boundary, HalfSpace)
        bodies.append(library.SpatialBody(shape=solid.HalfSpace(boundary.point, boundary.normal), name=boundary.name))
    joints = tuple(one for joint in scene.joints for one in points_of(scene, joint))
    return SpatialWorld(bodies=tuple(bodies), joints=joints, gravity=scene.gravity, pairs=pairs)


def given_motion(motion: SpatialGivenMotion) -> GivenMotion:
    times = np.array([knot[0] for knot in motion.knots])
    slopes = SpatialGivenMotion(knots=motion.knots).acceleration_at(times).tolist() if motion.knots else []
    return GivenMotion(
        acceleration=motion.acceleration,
        amplitude=motion.amplitude,
        frequency=motion.frequency,
        phase=motion.phase,
        knots=tuple((time, x, y, z) for time, (x, y, z) in zip(times.tolist(), slopes)),
    )


def points_of(scene: SpatialScene, joint: AnyJoint) -> Iterator[BallJoint]:
    """One point that two bodies share, or of a hinge two on its axis."""
    index = {body.name: i for i, body in enumerate(scene.bodies)}
    a, b = index[joint.a], None if joint.b is None else index[joint.b]
    if all(scene.bodies[i].fixed for i in (a, b) if i is not None):
        return
    assert isinstance(joint, (Ball, Hinge))
    anchor, other = np.array(joint.anchor_a), np.array(joint.anchor_b)
    yield BallJoint(body=a, anchor=anchor, other=b, other_anchor=other)
    if isinstance(joint, Hinge):
        own = np.array(joint.axis) / norm(np.array(joint.axis))
        there = mul(matrices(np.array(scene.bodies[a].orientation)), own)
        if b is not None:
            there = mul(matrices(np.array(scene.bodies[b].orientation)).T, there)
        yield BallJoint(body=a, anchor=anchor + APART * own, other=b, other_anchor=other + APART * there)


def shape_of(shape: shapes.SpatialShape) -> Shape:
    if isinstance(shape, shapes.SpatialCompound):
        return Compound(
            tuple(
                Piece(shape=simple_of(one.shape), position=one.position, orientation=one.orientation)
                for one in shape.pieces
            )
        )
    return simple_of(shape)


def simple_of(shape: shapes.SpatialShape) -> Simple:
    match shape:
        case shapes.Sphere():
            return solid.Sphere(shape.radius)
        case shapes.Box():
            return solid.Box((0.5 * shape.size[0], 0.5 * shape.size[1], 0.5 * shape.size[2]))
        case shapes.Capsule():
            return solid.Capsule(shape.radius, 0.5 * shape.length)
        case shapes.Cylinder():
            return solid.Cylinder(shape.radius, 0.5 * shape.length)
        case shapes.ConvexMesh():
            return solid.ConvexMesh(np.array(shape.points))
    raise SpatialWorldError(MEETS.format(shape.kind))


def simulate(scene: Scene, dt: float, settings: Settings) -> SpatialTrajectory:
    """Raises UnresolvedContact, PainleveError or ImpactError, with time and bodies, rather than go on wrongly."""
    assert isinstance(scene, SpatialScene)
    order = scene.contact.impact_order
    law = scene.contact.impact_law or str(settings["impact_law"])
    if law in SEVERAL and order is None:
        order = "simultaneous"
    alone = order in (None, "sequential")
    given = LocatedSettings(
        tolerance=min(float(settings["tolerance"]), COARSEST),
        impact_law=LAWS[law] if alone else law,
        order=order,
        max_events=int(settings["max_events"]),
        at_impacts=True,
    )
    with one_call(scene, dt):
        motion = library.simulate_spatial(world_of(scene), regular_sample_times(scene, dt), given)
    return trajectory_of(motion, len(scene.bodies), dt)


COARSEST = 1e-3  # a tolerance that the engine allows


def trajectory_of(motion: SpatialMotion, count: int, dt: float) -> SpatialTrajectory:
    contacts = motion.contacts
    hits = [event for event in motion.events if event.kind in ("impact", "contact")]
    pairs = np.array([(hit.first, hit.second) for hit in hits], np.int64).reshape(-1, 2)
    sign, a, b = in_order(contacts.first, contacts.second)
    hit_sign, hit_a, hit_b = in_order(pairs[:, 0], pairs[:, 1])
    return SpatialTrajectory(
        time=motion.time,
        dt=dt,
        velocity_lag=0.0,
        left_open_from=min((found.time for found in motion.left_open), default=None),
        position=np.ascontiguousarray(motion.position[:, :count]),
        orientation=np.ascontiguousarray(motion.orientation[:, :count]),
        velocity=np.ascontiguousarray(motion.velocity[:, :count]),
        spin=np.ascontiguousarray(motion.spin[:, :count]),
        contacts=Contacts(
            sample=contacts.sample,
            a=a,
            b=b,
            point=contacts.point,
            normal=sign[:, None] * contacts.normal,
            gap=contacts.gap,
            impulse=dt * sign[:, None] * contacts.force,
        ),
        impacts=Impacts(
            time=np.array([hit.time for hit in hits]),
            a=hit_a,
            b=hit_b,
            point=np.array([hit.point for hit in hits]).reshape(-1, 3),
            impulse=hit_sign[:, None] * np.array([hit.impulse for hit in hits]).reshape(-1, 3),
        ),
    )


def in_order(first: Indices, second: Indices) -> tuple[Array, Indices, Indices]:
    """The lower number of two first; and 1 where what acts on the first, and points to it, is so of the second one now,
    else -1."""
    turned = first > second
    return np.where(turned, 1.0, -1.0), np.where(turned, second, first), np.where(turned, first, second)


def warm_up() -> None:
    """Compile or load every kernel: a box that falls on a floor, with friction and a bounce."""
    floor = library.SpatialBody(shape=solid.HalfSpace((0.0, 0.0, 0.0), (0.0, 0.0, 1.0)))
    box = library.SpatialBody(
        shape=solid.Box((0.1, 0.1, 0.1)), mass=1.0, inertia=(1.0, 1.0, 1.0), position=(0.0, 0.0, 0.11)
    )
    world = SpatialWorld(bodies=(box, floor), friction=0.5, restitution=0.1)
    library.simulate_spatial(world, [0.0, 0.1, 0.2])

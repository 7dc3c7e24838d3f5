"""The world as the kernels see it: structures of arrays, float64 in C order and int64.

A fixed NamedTuple is one numba type, so each kernel has one signature.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reference_engine.planar.errors import WorldError
from reference_engine.planar.shape import Disc, HalfPlane, Polygon, Shape, bounding_radius
from reference_engine.planar.world import EXTRA_ACCELERATIONS, Settings, World

Array = NDArray[np.float64]
Ids = NDArray[np.int64]

# As np.int64: numba compiles a kernel once more for each plain literal it is called with.
POLYGON, DISC, HALF_PLANE = np.int64(0), np.int64(1), np.int64(2)  # Bodies.kind
LINE, RADIAL = np.int64(0), np.int64(1)  # Contacts.kind
CENTRE = np.int64(-1)  # Contacts.feature

ROUND_OFF = 1e-10  # m; bodies that touch may be this deep in each other by arithmetic alone
SINK = 0.01  # of the distance tolerance: see Law.sink


class Bodies(NamedTuple):
    """B bodies, P pairs that may meet, V vertices in all. What does not change."""

    kind: Ids  # (B,)
    radius: Array  # (B,) m, bounding; of a disc its own
    first: Ids  # (B + 1,) body i owns vertices and edges first[i] : first[i + 1]; edge k starts at vertex k
    vertices: Array  # (V, 2) m, body frame
    normals: Array  # (V, 2) outward, of the edge from vertex k to the next, body frame
    lengths: Array  # (V,) m, of that edge
    inv_mass: Array  # (B,) 1/kg; 0 if fixed
    inv_inertia: Array  # (B,) 1/(kg m^2); 0 if fixed
    pairs: Ids  # (P, 2)


class Law(NamedTuple):
    """Forces and tolerances, as scalars."""

    gravity_x: float
    gravity_y: float
    damping: float
    rotational_damping: float
    distance_tolerance: float
    velocity_tolerance: float
    separation_tolerance: float
    target_gap: float
    sink: float  # m, how deep the inner stages of a step may take a resting contact: they are predictions
    window: float  # m, half-width about the target gap in which a fast approach is an impact
    extra: int  # index into EXTRA_ACCELERATIONS
    extra_step: float  # s


class Contacts(NamedTuple):
    """N places where two bodies are near. The normal points from the normal body to the primary one.

    Both kinds measure from a point c1 of the primary body: a corner, or the centre of a disc.
    LINE: to an edge of the normal body; RADIAL: to a point c2 of it, again a corner or a centre.
    """

    body: Ids  # (N, 2) primary, normal body
    feature: Ids  # (N, 2) corner or edge as an index into Bodies.vertices; or CENTRE of a disc
    kind: Ids  # (N,)
    gap: Array  # (N,) m, negative in penetration
    speed: Array  # (N,) m/s, d gap / dt
    normal: Array  # (N, 2)
    arm: Array  # (N, 2, 2) m, from each centre of mass to c1, and to its foot on the edge or to c2
    span: Array  # (N,) m, from c1 to the edge or to c2: the gap and the radii
    point: Array  # (N, 2) m, middle of the gap
    force: Array  # (N,) N, on the primary body along the normal


class Scratch(NamedTuple):
    """Room for the kernels to work in; nothing in it outlives a call."""

    vertices: Array  # (V, 2) world
    normals: Array  # (V, 2) world
    A: Array  # (N, N)
    b: Array  # (N,)
    a: Array  # (N,)
    factor: Array  # (N, N)
    direction: Array  # (N,)
    clamped: Ids  # (N,)
    status: Ids  # (N,)
    stage_pose: Array  # (B, 3)
    stage_twist: Array  # (B, 3)
    acceleration: Array  # (B, 3)
    first_acceleration: Array  # (B, 3)


def pack_bodies(world: World) -> Bodies:
    shapes = plain_shapes(world)
    count = len(world.bodies)
    first = np.zeros(count + 1, np.int64)
    vertices, normals, lengths = [np.zeros((0, 2))], [np.zeros((0, 2))], [np.zeros(0)]
    kind = np.zeros(count, np.int64)
    for i, body in enumerate(world.bodies):
        own = np.zeros((0, 2))
        if isinstance(body.shape, Polygon):
            own = body.shape.vertices
            edges = np.roll(own, -1, axis=0) - own
            length = np.hypot(edges[:, 0], edges[:, 1])
            normals.append(np.stack([edges[:, 1], -edges[:, 0]], axis=1) / length[:, None])
            lengths.append(length)
        elif isinstance(body.shape, HalfPlane):
            kind[i], own = HALF_PLANE, np.zeros((1, 2))
            normals.append(np.array([[0.0, 1.0]]))
            lengths.append(np.array([math.inf]))
        elif isinstance(body.shape, Disc):
            kind[i] = DISC
        vertices.append(own)
        first[i + 1] = first[i] + len(own)
    pairs = [
        (i, j)
        for i in range(count)
        for j in range(i + 1, count)
        if not (world.bodies[i].fixed and world.bodies[j].fixed)
        and not (world.bodies[i].group and world.bodies[i].group == world.bodies[j].group)
    ]
    return Bodies(
        kind=kind,
        radius=np.array([bounding_radius(shape) for shape in shapes]),
        first=first,
        vertices=np.ascontiguousarray(np.concatenate(vertices)),
        normals=np.ascontiguousarray(np.concatenate(normals)),
        lengths=np.concatenate(lengths),
        inv_mass=np.array([0.0 if body.fixed else 1.0 / body.mass for body in world.bodies]),
        inv_inertia=np.array([0.0 if body.fixed else 1.0 / float(body.inertia or math.inf) for body in world.bodies]),
        pairs=np.array(pairs, np.int64).reshape(-1, 2),
    )


def plain_shapes(world: World) -> list[Shape]:
    """The bodies' shapes. Raises WorldError rather than leave a part of the world out."""
    shapes = [body.shape for body in world.bodies if isinstance(body.shape, Polygon | Disc | HalfPlane)]
    for what, there in (
        ("outlines or bowls", len(shapes) < len(world.bodies)),
        ("forces", world.forces),
        ("connectors", world.connectors),
        ("passing pairs", world.passing or world.passing_edges),
        ("friction", world.pair_static_friction.any()),
    ):
        if there:
            raise WorldError(
                f"the world has {what}, which `simulate` does not know; `faithful_simulate` or `locate` might"
            )
    return shapes


def pack_law(world: World, settings: Settings) -> Law:
    """Bodies set exactly the distance tolerance apart are not in touch, however that is rounded."""
    extra = EXTRA_ACCELERATIONS.index(settings.extra_acceleration)
    return Law(
        gravity_x=float(world.gravity[0]),
        gravity_y=float(world.gravity[1]),
        damping=float(world.damping),
        rotational_damping=float(world.rotational_damping),
        distance_tolerance=float(settings.distance_tolerance) - ROUND_OFF,
        velocity_tolerance=float(settings.velocity_tolerance),
        separation_tolerance=float(settings.separation_tolerance if extra else settings.velocity_tolerance),
        target_gap=float(settings.target_gap),
        sink=float(SINK * settings.distance_tolerance),
        window=float(settings.collision_accuracy * settings.target_gap),
        extra=extra,
        extra_step=float(settings.extra_acceleration_time_step),
    )


def room_for_contacts(capacity: int) -> Contacts:
    return Contacts(
        body=np.zeros((capacity, 2), np.int64),
        feature=np.zeros((capacity, 2), np.int64),
        kind=np.zeros(capacity, np.int64),
        gap=np.zeros(capacity),
        speed=np.zeros(capacity),
        normal=np.zeros((capacity, 2)),
        arm=np.zeros((capacity, 2, 2)),
        span=np.zeros(capacity),
        point=np.zeros((capacity, 2)),
        force=np.zeros(capacity),
    )


def room_to_work(bodies: Bodies, capacity: int) -> Scratch:
    count = len(bodies.kind)
    per_body = [np.zeros((count, 3)) for _ in range(4)]
    return Scratch(
        np.zeros_like(bodies.vertices),
        np.zeros_like(bodies.normals),
        np.zeros((capacity, capacity)),
        np.zeros(capacity),
        np.zeros(capacity),
        np.zeros((capacity, capacity)),
        np.zeros(capacity),
        np.zeros(capacity, np.int64),
        np.zeros(capacity, np.int64),
        *per_body,
    )


def first_contacts(contacts: Contacts, count: int) -> Contacts:
    """A copy of the first `count` contacts."""
    return Contacts._make(field[:count].copy() for field in contacts)

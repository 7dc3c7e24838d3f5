"""The world as the located kernels see it. A fixed NamedTuple is one numba type: each kernel has one signature.

The state y is flat: poses (x, y, angle) of all bodies, then twists (vx, vy, spin): y[3 i + c], y[3 B + 3 i + c].
"""

import dataclasses
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reference_engine.planar.errors import WorldError
from reference_engine.planar.shape import Disc, HalfPlane, Polygon
from reference_engine.planar.world import Body, World

Array = NDArray[np.float64]
Ids = NDArray[np.int64]

POLYGON, DISC, HALF_PLANE = np.int64(0), np.int64(1), np.int64(2)  # Solids.kind
LINE, RADIAL = np.int64(0), np.int64(1)  # Places.kind
CENTRE = np.int64(-1)  # Places.feature

# Columns of Work.geometry
GAP, RATE, NX, NY, U1X, U1Y, U2X, U2Y, SPAN, ACROSS, ALONG, ALONG_PREVIOUS = range(12)

BODY_FIELDS = {"shape", "position", "angle", "velocity", "spin", "mass", "inertia", "fixed", "group", "name"}
WORLD_FIELDS = {"bodies", "gravity", "damping", "rotational_damping", "restitution", "pair_restitution"}
DERIVED = {"pair_friction", "pair_static_friction"}


class Solids(NamedTuple):
    """B bodies, P pairs that may meet, V vertices in all. What does not change."""

    kind: Ids  # (B,)
    radius: Array  # (B,) m, bounding; of a disc its own
    first: Ids  # (B + 1,) body i owns vertices and edges first[i] : first[i + 1]; edge k starts at vertex k
    vertices: Array  # (V, 2) m, body frame
    normals: Array  # (V, 2) outward, of the edge from vertex k to the next, body frame
    offsets: Array  # (V,) m, of that edge from the centre of mass, along its normal
    lengths: Array  # (V,) m
    inv_mass: Array  # (B,) 1/kg; 0 if fixed
    inv_inertia: Array  # (B,) 1/(kg m^2); 0 if fixed
    pairs: Ids  # (P, 2)


class Law(NamedTuple):
    gravity_x: float  # m/s^2
    gravity_y: float
    damping: float  # kg/s
    rotational_damping: float  # kg m^2/s


class Places(NamedTuple):
    """Room for N places where two bodies touch; the normal points from the normal body to the primary one.

    LINE: a corner or disc centre of the primary body over an edge of the normal body.
    RADIAL: a disc centre of the primary body against a corner or disc centre of the normal body.
    """

    body: Ids  # (N, 2) primary, normal body
    feature: Ids  # (N, 2) corner or edge as an index into Solids.vertices; or CENTRE of a disc
    kind: Ids  # (N,)


class Work(NamedTuple):
    """Room for the kernels to work in; nothing in it outlives a call but what the call is for."""

    geometry: Array  # (N, 12) of the places
    A: Array  # (N, N)
    b: Array  # (N,)
    factor: Array  # (N, N)
    skipped: Ids  # (N,) 1: this place adds nothing to those before it
    force: Array  # (N,) N
    change: Array  # (N,) N, of the forces by a refinement
    state: Array  # (6 B,)
    rate: Array  # (6 B,)
    stages: Array  # (16, 6 B)
    dense: Array  # (7, 6 B)
    hull: Array  # (8, 6 B) Bernstein coefficients of the step


def pack_solids(world: World) -> Solids:
    """Raises WorldError for what this mode does not have."""
    refuse_unknown(world, WORLD_FIELDS, "world")
    count = len(world.bodies)
    kind, radius, first = np.zeros(count, np.int64), np.zeros(count), np.zeros(count + 1, np.int64)
    inv_mass, inv_inertia = np.zeros(count), np.zeros(count)
    vertices: list[Array] = [np.zeros((0, 2))]
    normals: list[Array] = [np.zeros((0, 2))]
    lengths: list[Array] = [np.zeros(0)]
    for i, body in enumerate(world.bodies):
        refuse_unknown(body, BODY_FIELDS, f"body {world.body_name(i)!r}")
        own = np.zeros((0, 2))
        if isinstance(body.shape, Polygon):
            own = body.shape.vertices
            edges = np.roll(own, -1, axis=0) - own
            if not (
                edges[:, 0] * np.roll(edges, -1, axis=0)[:, 1] > edges[:, 1] * np.roll(edges, -1, axis=0)[:, 0]
            ).all():
                raise WorldError(f"body {world.body_name(i)!r}: the located mode takes convex polygons only")
            length = np.hypot(edges[:, 0], edges[:, 1])
            normals.append(np.stack([edges[:, 1], -edges[:, 0]], axis=1) / length[:, None])
            lengths.append(length)
            radius[i] = np.hypot(own[:, 0], own[:, 1]).max()
        elif isinstance(body.shape, HalfPlane):
            kind[i], radius[i], own = HALF_PLANE, math.inf, np.zeros((1, 2))
            normals.append(np.array([[0.0, 1.0]]))
            lengths.append(np.array([math.inf]))
        elif isinstance(body.shape, Disc):
            kind[i], radius[i] = DISC, body.shape.radius
        else:
            raise WorldError(f"body {world.body_name(i)!r}: the located mode has no {type(body.shape).__name__} yet")
        vertices.append(own)
        first[i + 1] = first[i] + len(own)
        if not body.fixed:
            inv_mass[i], inv_inertia[i] = 1.0 / body.mass, 1.0 / float(body.inertia or math.inf)
    all_vertices, all_normals = np.concatenate(vertices), np.concatenate(normals)
    pairs = [
        (i, j) if kind[i] != HALF_PLANE else (j, i)
        for i in range(count)
        for j in range(i + 1, count)
        if not (world.bodies[i].fixed and world.bodies[j].fixed)
        and not (world.bodies[i].group and world.bodies[i].group == world.bodies[j].group)
    ]
    pairs = [(i, j) if not (kind[i] == POLYGON and kind[j] == DISC) else (j, i) for i, j in pairs]
    return Solids(
        kind=kind,
        radius=radius,
        first=first,
        vertices=np.ascontiguousarray(all_vertices),
        normals=np.ascontiguousarray(all_normals),
        offsets=np.ascontiguousarray((all_vertices * all_normals).sum(axis=1)),
        lengths=np.concatenate(lengths),
        inv_mass=inv_mass,
        inv_inertia=inv_inertia,
        pairs=np.array(pairs, np.int64).reshape(-1, 2),
    )


def refuse_unknown(thing: World | Body, known: set[str], name: str) -> None:
    """A force or law that this mode does not know must not be left out in silence."""
    for field in dataclasses.fields(thing):
        if field.name in known | DERIVED:
            continue
        default = field.default_factory() if field.default_factory is not dataclasses.MISSING else field.default
        if np.any(getattr(thing, field.name) != default):
            raise WorldError(f"{name}: the located mode does not have {field.name} yet; leave it out")


def pack_law(world: World) -> Law:
    return Law(float(world.gravity[0]), float(world.gravity[1]), float(world.damping), float(world.rotational_damping))


def room_for_places(capacity: int) -> Places:
    return Places(
        body=np.zeros((capacity, 2), np.int64),
        feature=np.zeros((capacity, 2), np.int64),
        kind=np.zeros(capacity, np.int64),
    )


def room_to_work(bodies: int, capacity: int) -> Work:
    return Work(
        geometry=np.zeros((capacity, 12)),
        A=np.zeros((capacity, capacity)),
        b=np.zeros(capacity),
        factor=np.zeros((capacity, capacity)),
        skipped=np.zeros(capacity, np.int64),
        force=np.zeros(capacity),
        change=np.zeros(capacity),
        state=np.zeros(6 * bodies),
        rate=np.zeros(6 * bodies),
        stages=np.zeros((16, 6 * bodies)),
        dense=np.zeros((7, 6 * bodies)),
        hull=np.zeros((8, 6 * bodies)),
    )

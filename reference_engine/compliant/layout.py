"""The arrays that the kernels share, and a world packed into them.

State y of B bodies, 13 B + 1 numbers: of each body position (3), quaternion (4, w x y z, body to world), velocity (3)
and angular momentum over the greatest moment of inertia (3, rad/s), in world axes; last, the energy that contacts have
taken out [J]. A rate has the same numbers.
"""

import math

import numpy as np

from reference_engine.array_types import Array, Indices
from reference_engine.compiler.structure import Structure, of_shape
from reference_engine.compliant.joint_rows import JointRows, JointWork, pack_joints
from reference_engine.compliant.world import CompliantWorld
from reference_engine.dense import mul, norm
from reference_engine.errors import CompliantError
from reference_engine.events import *  # noqa: F403  # columns and statuses that all loops have, named with the others
from reference_engine.geometry.layout import FIELDS
from reference_engine.geometry.mpr import MprWork
from reference_engine.geometry.spatial_shapes import HALF_SPACE, corners_and_rims, inner_radius, spatial_shapes
from reference_engine.geometry.support import PosedShapes, posed_shapes
from reference_engine.rotation import matrices

STATE_SIZE = 13  # of a body in the state
Q, V, SPIN = 3, 7, 10  # where they begin
# law (P, 7) of a pair
STIFFNESS, FRICTION, ROLLING, V_SMALL, W_SMALL, RESTITUTION, MOST_DAMPING = range(7)
APPROACH, DAMPING, COEFFICIENT = range(3)  # touch[:, ...]
# Columns of LoopState.now after those of all loops: J that jumps of a normal have brought
JUMPED, NOW = range(4, 6)
# and of LoopState.counters: steps refused, rows of logs, steps tried and refused at the last look; 1: a contact begins
REFUSED, EVENTS, SAMPLES, CONTACTS, WAS_TRIED, WAS_REFUSED, ONSET, COUNTERS = range(5, 13)
BEFORE, AFTER = range(2)  # Work.bracket
DISTANCE, DIRECTION = range(2)  # first columns of Work.found and ContactSet.seen: m; of three, the normal
KINDS = ("contact", "separation", "jump")
MADE, BROKEN, JUMP = range(3)
STUCK, ONE_CENTRE, TOO_MANY, CRAWLS, STANDS, OPEN = range(3, 9)  # what the loop says besides GOES_ON, DONE and FULL
WHOLE = -1  # for a corner: whole bodies
# Columns of Log.contact and of Log.event, m but for the normal; then of a contact N and N m,
POINT, NORMAL, GAP, FORCE, TORQUE, CONTACT_COLUMNS = 0, 3, 6, 7, 10, 13
# of an event m/s, 1, s/m, J and s.
CLOSING, NOMINAL, DAMPED, ENERGY, AT, EVENT_COLUMNS = 7, 8, 9, 10, 11, 12


class Model(Structure):
    """B bodies, P candidates; what does not change but where the bodies are.

    A candidate is a pair of bodies, which touch where they are nearest; or, over a half-space, a corner or rim of a
    body: so many hold one that lies flat, and each is smooth by itself.
    """

    posed: PosedShapes
    mass: Array  # (B,) kg; infinite if fixed
    inertia: Array  # (B, 3) over the greatest of them: 1 / that is what turns the state into a spin
    greatest: Array  # (B,) kg m^2, the greatest moment; infinite if fixed
    gravity: Array  # (3,) m/s^2
    pair: Indices  # (P, 2); a half-space is the second
    corner: Indices  # (P,) row of corners, or WHOLE
    corners: Array  # (C, 4) see geometry.spatial_shapes.corners_and_rims
    law: Array  # (P, 7)
    joints: JointRows
    inside: Array  # (B,) m, radius of a ball about the centre that is inside; infinite of a half-space
    hysteresis: float  # m


class ContactSet(Structure):
    """Of every candidate: whether it is in contact, frozen between events, and what was stored when it came to be."""

    member: Indices = of_shape("P")  # 0 or 1
    onset: Array = of_shape("P", 3)  # approach velocity [m/s], damping coefficient [s/m], coefficient of restitution
    seen: Array = of_shape("P", 4)  # gap and normal after the last step


class Work(Structure):
    """Scratch; n numbers in a state."""

    mpr: MprWork
    joints: JointWork
    position: Array = of_shape("B", 3)
    orientation: Array = of_shape("B", 4)
    spin: Array = of_shape("B", 3)  # rad/s
    found: Array = of_shape(FIELDS)  # see geometry.layout
    gap: Array = of_shape("P")  # m, or less: of boxes around the bodies
    normal: Array = of_shape("P", 3)  # of candidates in contact
    box: Array = of_shape("B", 6)  # m, least and greatest x, y, z
    components: Indices = of_shape("n")  # all of them
    stages: Array = of_shape(16, "n")
    state: Array = of_shape("n")
    end: Array = of_shape("n")
    blurred: Array = of_shape("n")  # of a rate, by the round-off of gaps, the most in this step
    dense: Array = of_shape(7, "n")
    bernstein: Array = of_shape(8, "n")
    bracket: Array = of_shape(2)  # parts of the step before and after a change of the contact set
    speed: Array = of_shape("B")  # m/s, that no point of the body exceeds in a step


class Log(Structure):
    """Samples at the caller's times, the contacts in them, and events."""

    grid: Array = of_shape("S")  # s
    state: Array = of_shape("S", "n")
    energies: Array = of_shape("S", 2)  # J: elastic energy, and what jumps have brought
    reaction: Array = of_shape("S", "R")  # N, N m: of the rows of joints
    event_ids: Indices = of_shape("E", 2)  # kind, candidate
    event: Array = of_shape("E", EVENT_COLUMNS)
    contact_ids: Indices = of_shape("N", 2)  # sample, candidate
    contact: Array = of_shape("N", CONTACT_COLUMNS)


class LoopState(Structure):
    y: Array = of_shape("n")  # the state now
    now: Array = of_shape(NOW)
    counters: Indices = of_shape(COUNTERS)


class Rule(Structure):
    """See simulate.CompliantSettings."""

    tolerance: float
    floor: float
    most_steps: int


class Arrays(Structure):
    """Of a run: all that the loop is called with."""

    model: Model
    rule: Rule
    contact_set: ContactSet
    work: Work
    loop: LoopState
    log: Log


def pack(world: CompliantWorld, hysteresis: float) -> Model:
    """Raises CompliantError for a pair without a law or without a radius of contact."""
    bodies, fixed = world.bodies, [body.fixed for body in world.bodies]
    shapes = spatial_shapes([body.shape for body in bodies], fixed)
    corners = [corners_and_rims(body.shape) for body in bodies]
    first = np.cumsum([0, *(len(rows) for rows in corners)])
    pairs, candidates, laws = [], [], []
    joined = {frozenset((joint.first, joint.second)) for joint in world.joints}
    for i in range(len(bodies)):
        for j in range(i + 1, len(bodies)):
            if (fixed[i] and fixed[j]) or frozenset((i, j)) in joined:
                continue
            p, q = (j, i) if shapes.kind[i] == HALF_SPACE else (i, j)
            rows = range(first[p], first[p + 1]) if shapes.kind[q] == HALF_SPACE and len(corners[p]) else (WHOLE,)
            law = law_of(world, i, j)
            for row in rows:
                pairs.append((p, q))
                candidates.append(row)
                laws.append(law)
    moments = [np.full(3, math.inf) if body.fixed else body.principal_inertia() for body in bodies]
    greatest = np.array([moment.max() for moment in moments])
    return Model(
        posed=posed_shapes(shapes),
        mass=np.array([math.inf if body.fixed else body.mass for body in bodies]),
        inertia=np.array([np.ones(3) if body.fixed else m / m.max() for body, m in zip(bodies, moments)]),
        greatest=greatest,
        gravity=np.array(world.gravity, np.float64),
        pair=np.array(pairs, np.int64).reshape(-1, 2),
        corner=np.array(candidates, np.int64),
        corners=np.concatenate(corners),
        law=np.array(laws, np.float64).reshape(-1, 7),
        joints=pack_joints(world),
        inside=np.array([math.inf if k == HALF_SPACE else inner_radius(shapes, i) for i, k in enumerate(shapes.kind)]),
        hysteresis=hysteresis,
    )  # fmt: skip


def law_of(world: CompliantWorld, i: int, j: int) -> tuple[float, ...]:
    """Hertz: 4/3 sqrt(r) c, with 1/r = 1/r_i + 1/r_j and 1/c = 1/c_i + 1/c_j, c_i = E_i / (1 - nu_i^2)."""
    a, b = world.bodies[i], world.bodies[j]
    law = world.materials.law(a.material, b.material)
    c_i, c_j = (world.materials.material(body.material).plane_modulus for body in (a, b))
    curvature = 1.0 / a.radius_of_contact() + 1.0 / b.radius_of_contact()
    if curvature == 0.0:
        raise CompliantError(
            f"contact_radius: {world.body_name(i)} and {world.body_name(j)} are both flat; give one of them a radius, m"
        )
    r = 1.0 / curvature
    stiffness = 4.0 / 3.0 * math.sqrt(r) * c_i * c_j / (c_i + c_j)
    return (
        stiffness, law.sliding_friction, law.rolling_resistance * r, law.v_small, law.w_small, law.restitution,
        world.most_damping,
    )  # fmt: skip


def start_state(world: CompliantWorld, model: Model) -> Array:
    y = np.zeros(STATE_SIZE * len(world.bodies) + 1)
    for i, body in enumerate(world.bodies):
        row = y[STATE_SIZE * i : STATE_SIZE * (i + 1)]
        q = np.array(body.orientation, np.float64)
        row[:3], row[Q:V], row[V:SPIN] = body.position, q / norm(q), body.velocity
        R = matrices(row[Q:V])
        row[SPIN:] = mul(R, model.inertia[i] * (mul(R.T, np.array(body.spin, np.float64))))
    return y

"""The world as the located kernels see it. Each Structure is one numba type, so that each kernel has one signature.

The state y is flat: poses (x, y, angle) of all rows, then twists (vx, vy, spin): y[3 i + c], y[3 R + 3 i + c]. Rows
are the world's bodies, and the background last. A body's shape is one or more convex pieces.
"""

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from reference_engine.compiler.kernels import kernel
from reference_engine.compiler.structure import Structure
from reference_engine.contact_problems.friction import new_friction_work
from reference_engine.contact_problems.friction_lemke import LemkeWork
from reference_engine.contact_problems.friction_modes import (
    FrictionAnswer,
    FrictionProblem,
    FrictionWork,
)

Array = NDArray[np.float64]
Ids = NDArray[np.int64]

CENTRE = np.int64(-1)  # a feature: the centre of the body
LINE, ROUND, STILL_NORMAL = np.int64(0), np.int64(1), np.int64(2)  # Contacts.id, KIND
CONTACT, ROPE, JOINT = np.int64(0), np.int64(1), np.int64(2)  # Contacts.id, ROLE

BODY_I, BODY_J, PIECE_I, PIECE_J, P, Q, KIND, ROLE, MODE, SLIDES, PAIR, PRESSES, HAS_FRICTION, GUESS = range(
    14
)  # columns of Contacts.id
R1, R2, SIGMA, FRICTION, STATIC_FRICTION, RESTITUTION, FORCE_N, FORCE_T = range(8)  # columns of Contacts.value
# Columns of Work.geometry
GAP, RATE, NX, NY, U1X, U1Y, U2X, U2Y, SPAN, ACROSS, SLIP, MN1, MN2, MT1, MT2, ALONG, ALONG_PREVIOUS = range(17)


# What the compiled loop says when it returns
(
    GOES_ON,
    DONE,
    LOG_FULL,
    CONTACTS_FULL,
    BLOCK_FULL,
    OVERLAP,
    NO_STEP,
    STANDSTILL,
    EVENTS_FULL,
    NO_FORCES,
    NO_IMPULSES,
    NEEDS_IMPULSES,
    SETTLES,
) = (np.int64(k) for k in range(13))
IMPACT, ACCUMULATION, MADE, BROKEN, STICK, SLIDE, INDETERMINATE, JAMS, INEXACT = (
    np.int64(k) for k in range(9)
)  # Log.event_ids


@dataclass(frozen=True, eq=False)
class Model(Structure):
    """R rows of the state, S pieces, P pairs of pieces that may meet, C connectors; features of pieces, from the centre

    of mass in axes of the body: V vertices and the edges that start there, then arcs, then the points of connectors.
    """

    kind: Ids  # (S,) of `pieces`
    row: Ids  # (S,) body whose part it is
    radius: Array  # (S,) m, about the centre of mass, bounding; of a disc its own, of a bowl that of its circle
    first: Ids  # (S + 1,) part s owns vertices and edges first[s] : first[s + 1]; edge k starts at vertex k
    arc_first: Ids  # (S + 1,) and arcs arc_first[s] : arc_first[s + 1]; discs and bowls have one, V is the first of all
    vertices: Array  # (F, 2) m; centre of an arc
    normals: Array  # (F, 2) outward, of the edge from vertex k to the next; middle direction of an arc
    offsets: Array  # (F,) m, of that edge along its normal; of an arc rad, half of its angle, infinite if whole
    lengths: Array  # (F,) m; radius of an arc
    straight: Ids  # (V,) 1: the edge from vertex k to the next is
    arcs: Ids  # (V, 2) of the body that end and start at a vertex, -1: none
    cone: Array  # (V, 4) outward normals there, of the edge or arc before it and of the one after it
    smooth: Ids  # (V,) 1: they are the same, and one of the two is an arc
    free: Ids  # components of the state that change: those of bodies that are not fixed, ascending
    inv_mass: Array  # (R,) 1/kg; 0 if fixed
    inv_inertia: Array  # (R,) 1/(kg m^2); 0 if fixed
    pairs: Ids  # (P, 2) parts
    pair_coefficients: Array  # (P, 3) friction, static friction, restitution
    connectors: Ids  # (C, 14) as a row of Contacts.id
    connector_values: Array  # (C, 8) as a row of Contacts.value
    COLUMNS = MappingProxyType({
        "vertices": 2, "normals": 2, "arcs": 2, "cone": 4, "pairs": 2, "pair_coefficients": 3, "connectors": 14,
        "connector_values": 8,
    })  # fmt: skip


@dataclass(frozen=True, eq=False)
class Contacts(Structure):
    """Arrays for N contacts where two bodies touch or are joined; the normal points from the second body, J, to I.

    LINE          a point of I over an edge or line of J, which turns with J
    ROUND         two points at a distance: discs, corners, and with SIGMA = -1 a point inside a circle: bowl, rope, rod
    STILL_NORMAL  a point of I against a point of J along a direction that does not turn (joints)
    gap = SIGMA |c1 - c2| - R1 - R2 (ROUND), n . (c1 - c2) - R1 (others); R1 around the point of I, R2 around that of J
    """

    id: Ids  # (N, 14)
    value: Array  # (N, 8)


@dataclass(frozen=True, eq=False)
class EventWork(Structure):
    """Arrays for the forces or impulses at all contacts, N of them, at an event, and to solve for an island's."""

    problem: FrictionProblem
    answer: FrictionAnswer
    workspace: FrictionWork
    lemke_work: LemkeWork
    of: Ids  # (N,) the contact that is number k of the problem
    slow: Array  # (N,) m/s, a rate that is none
    mode: Ids  # (N,) of all contacts, as found
    force: Array  # (2 N,) N
    acceleration: Array  # (2 N,) m/s^2
    impulse: Array  # (2 N,) N s
    factor: Array  # (4,) of e: now, bounds of it, how often they have been narrowed


@dataclass(frozen=True, eq=False)
class Log(Structure):
    """The times that are asked for, and space for what comes out: S samples, C contacts of samples, M impacts, E rows
    of

    events, D times of events.
    """

    grid: Array  # (S,) s, as many as LoopState.counters says
    time: Array  # (S,) s
    state: Array  # (S, 6 R)
    pull: Array  # (S, 2 C) N, of each connector on its first body, in axes of the world
    first: Ids  # (S + 1,) contacts of sample k are first[k] : first[k + 1]
    contact_pair: Ids  # (C, 2) a, b
    contact: Array  # (C, 7) point, normal, gap, force, friction
    impact_pair: Ids  # (M, 2)
    impact: Array  # (M, 9) time, point, normal, gap, speed, impulse, friction
    event_ids: Ids  # (E, 3) kind, a, b
    event: Array  # (E, 3) time, point
    event_time: Array  # (D,) s
    pose: Array  # (D, 3 R)


@dataclass(frozen=True, eq=False)
class LoopState(Structure):
    """The state in time, between calls too."""

    y: Array  # (6 R,)
    end: Array  # (6 R,) of the step
    now: Array  # (14,) as the first columns below name them
    counters: Ids  # (23,) as the second ones do
    let_go: Ids  # (L, 2) parts that let go at this time
    impact_times: Array  # (P + C, 2) s, of each pair or connector: time of the last impact, and since the one before
    passed: Array  # (P + C,) s, when a pair last was within round-off of a touch that is none
    apart: Array  # (P,) m, of each pair, at least, where `travelled` is reckoned; below 0: not known
    travelled: Array  # (R, 3) where each row is reckoned, and how far it got in the step [m]


# Columns of LoopState.now: time, the integrator's step, time of the last event, margins of forces and of rates, length
# of the present step, the time at its end, what a failure says, kinetic energy before an event, the rate that is none
# besides round-off at it, by how many times what is allowed forces and impulses are off at worst, so far, how long the
# step of the dense output is, and when what has parted will have met again
TIME, STEP, LAST_EVENT, PULL, STILL, LENGTH, REACHED, WHY_P, WHY_B, ENERGY, SLACK, RESIDUAL, DENSE, RETURN = range(14)
# Columns of LoopState.count
STEPS, ACTIVE, IDLE, SHOWN, PHASE, EVENT, RELEASED, CONDITION, CLOSED_PAIR, IMPULSES_APPLIED, LET_GO = range(11)
SAMPLES, CONTACTS, IMPACTS, EVENTS, EVENT_TIMES, WHY_I, WHY_J, EDGE_PIECE_I, EDGE_PIECE_J, RESOLVED, FADED, ASKED = (
    range(11, 23)
)


@dataclass(frozen=True, eq=False)
class Rule(Structure):
    """One number each."""

    tolerance: Array  # (1,)
    cutoff: Array  # (1,) s
    impact_law: Ids  # (1,) of IMPACT_LAWS
    order: Ids  # (1,) of IMPACT_ORDERS
    max_events: Ids  # (1,)
    COLUMNS = MappingProxyType[str, int]({})


@dataclass(frozen=True, eq=False)
class Work(Structure):
    """Arrays for the kernels to work in; nothing in it outlives a call but what the call is for.

    K = 2 N rows; matrices have space for the L rows of the largest island, see `islands`.
    """

    geometry: Array  # (N, 17) of the contacts
    A: Array  # (L, L) all normals and tangents of an island, 2 k and 2 k + 1 those of its place k
    b: Array  # (K,) of all contacts
    M: Array  # (L, L) of the contacts of an island that are held; its factors
    island: Ids  # (N,) of a contact
    order: Ids  # (N,) contacts, one island after the other
    first_contact: Ids  # (N + 1,)
    at: Ids  # (N,) which of its island a contact is
    member: Ids  # (R,) bodies, one island after the other
    first_member: Ids  # (N + 1,)
    column: Ids  # (R,) which of its island a body is
    root: Ids  # (R,)
    label: Ids  # (R,)
    of: Ids  # (K,) place of a row
    tangent: Ids  # (K,) 1 if it is that of the tangent
    across: Array  # (K, 4) rows of J: direction, moments about I and J
    along: Array  # (K, 4) columns: that along which the force acts
    right: Array  # (K,)
    x: Array  # (K,)
    spare: Array  # (K,)
    pivot: Ids  # (K,)
    skipped: Ids  # (K,) 1: this row adds nothing to those before it
    size: Array  # (2, K)
    force: Array  # (N, 2) N, along normal and tangent
    state: Array  # (6 R,)
    rate: Array  # (6 R,)
    foreseen: Array  # (6 R,)
    landing: Array  # (6 R,) the end of the last attempt at a step, as integrated
    stages: Array  # (16, 6 R)
    dense: Array  # (7, 6 R)
    bernstein: Array  # (8, 6 R) Bernstein coefficients of the step
    pair: Array  # (3, 9) of one pair in the search for touches


def number_of(connector: int) -> int:
    """The number that a connector has where contacts have parts; its own inverse."""
    return -1 - connector


piece_of = kernel(number_of)


@kernel
def connector_of(contacts, k):
    """Of a contact that is none of two bodies in contact."""
    return piece_of(contacts.id[k, PIECE_I])


@kernel
def pieces_of_pair(model, pair):
    """(i, j): of a pair that may meet; connectors follow the pairs in number."""
    pairs = model.pairs.shape[0]
    if pair < pairs:
        return model.pairs[pair, 0], model.pairs[pair, 1]
    return piece_of(pair - pairs), piece_of(pair - pairs)


@kernel
def copy(source, out):
    """Element by element: kernels make no copy of an array."""
    for c in range(source.shape[0]):
        out[c] = source[c]


@kernel
def copy_contact(ids, values, m, contacts, k):
    """Row m as contact k."""
    for c in range(ids.shape[1]):
        contacts.id[k, c] = ids[m, c]
    for c in range(values.shape[1]):
        contacts.value[k, c] = values[m, c]


def empty_contacts(capacity: int) -> Contacts:
    return Contacts(id=np.zeros((capacity, 14), np.int64), value=np.zeros((capacity, 8)))


def new_work(rows: int, capacity: int, block: int) -> Work:
    """For so many bodies and contacts, and islands of so many rows."""
    K = 2 * capacity
    return Work(
        geometry=np.zeros((capacity, 17)),
        A=np.zeros((block, block)),
        b=np.zeros(K),
        M=np.zeros((block, block)),
        island=np.zeros(capacity, np.int64),
        order=np.zeros(capacity, np.int64),
        first_contact=np.zeros(capacity + 1, np.int64),
        at=np.zeros(capacity, np.int64),
        member=np.zeros(rows, np.int64),
        first_member=np.zeros(capacity + 1, np.int64),
        column=np.zeros(rows, np.int64),
        root=np.zeros(rows, np.int64),
        label=np.zeros(rows, np.int64),
        of=np.zeros(K, np.int64),
        tangent=np.zeros(K, np.int64),
        across=np.zeros((K, 4)),
        along=np.zeros((K, 4)),
        right=np.zeros(K),
        x=np.zeros(K),
        spare=np.zeros(K),
        pivot=np.zeros(K, np.int64),
        skipped=np.zeros(K, np.int64),
        size=np.zeros((2, K)),
        force=np.zeros((capacity, 2)),
        state=np.zeros(6 * rows),
        rate=np.zeros(6 * rows),
        foreseen=np.zeros(6 * rows),
        landing=np.zeros(6 * rows),
        stages=np.zeros((16, 6 * rows)),
        dense=np.zeros((7, 6 * rows)),
        bernstein=np.zeros((8, 6 * rows)),
        pair=np.zeros((3, 9)),
    )


def new_event_work(capacity: int, block: int) -> EventWork:
    """For so many contacts, and islands of so many rows."""
    own = block // 2
    answer, workspace, lemke_work = new_friction_work(own)
    problem = FrictionProblem(
        A=np.zeros((2 * own, 2 * own)),
        b=np.zeros(2 * own),
        kind=np.zeros(own, np.int64),
        friction=np.zeros(own),
        static_friction=np.zeros(own),
        base=np.zeros(own),
    )
    return EventWork(
        problem=problem,
        answer=answer,
        workspace=workspace,
        lemke_work=lemke_work,
        of=np.zeros(capacity, np.int64),
        slow=np.zeros(capacity),
        mode=np.zeros(capacity, np.int64),
        force=np.zeros(2 * capacity),
        acceleration=np.zeros(2 * capacity),
        impulse=np.zeros(2 * capacity),
        factor=np.zeros(4),
    )


def empty_log(rows: int, connectors: int, samples: int, contacts: int, events: int) -> Log:
    return Log(
        grid=np.zeros(samples),
        time=np.zeros(samples),
        state=np.zeros((samples, 6 * rows)),
        pull=np.zeros((samples, 2 * connectors)),
        first=np.zeros(samples + 1, np.int64),
        contact_pair=np.zeros((contacts, 2), np.int64),
        contact=np.zeros((contacts, 7)),
        impact_pair=np.zeros((events, 2), np.int64),
        impact=np.zeros((events, 9)),
        event_ids=np.zeros((events, 3), np.int64),
        event=np.zeros((events, 3)),
        event_time=np.zeros(events),
        pose=np.zeros((events, 3 * rows)),
    )

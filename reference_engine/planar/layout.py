"""The world as the located kernels see it. Each Structure is one numba type, so that each kernel has one signature.

The state y is flat: poses (x, y, angle) of all rows, then twists (vx, vy, spin): y[3 i + c], y[3 R + 3 i + c]. Rows
are the world's bodies, and the background last. A body's shape is one or more convex parts.
"""

from dataclasses import dataclass, fields
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from reference_engine.compiler.kernels import kernel
from reference_engine.compiler.structure import Structure
from reference_engine.contact_problems.friction import friction_room
from reference_engine.contact_problems.friction_lemke import LemkeRoom
from reference_engine.contact_problems.friction_modes import (
    FrictionAnswer,
    FrictionProblem,
    FrictionWork,
)

Array = NDArray[np.float64]
Ids = NDArray[np.int64]

NO_POINTS = np.zeros((0, 2))
NO_LINKS, NO_FIGURES = np.zeros((0, 14), np.int64), np.zeros((0, 8))
CENTRE = np.int64(-1)  # a feature: the centre of the body
LINE, ROUND, STILL_NORMAL = np.int64(0), np.int64(1), np.int64(2)  # Places.id, KIND
TOUCHES, ROPE, JOINT = np.int64(0), np.int64(1), np.int64(2)  # Places.id, ROLE

BODY_I, BODY_J, PART_I, PART_J, P, Q, KIND, ROLE, MODE, SLIDES, PAIR, PRESSES, GRIPS, GUESS = range(
    14
)  # columns of Places.id
R1, R2, SIGMA, FRICTION, STATIC_FRICTION, RESTITUTION, FORCE_N, FORCE_T = range(8)  # columns of Places.figure
# Columns of Work.geometry
GAP, RATE, NX, NY, U1X, U1Y, U2X, U2Y, SPAN, ACROSS, SLIP, MN1, MN2, MT1, MT2, ALONG, ALONG_PREVIOUS = range(17)


# What the compiled loop says when it returns
(
    GOES_ON,
    DONE,
    LOG_FULL,
    PLACES_FULL,
    BLOCK_FULL,
    OVERLAP,
    NO_STEP,
    STANDSTILL,
    EVENTS_FULL,
    NO_FORCES,
    NO_IMPULSES,
    STRIKES,
    SETTLES,
) = (np.int64(k) for k in range(13))
IMPACT, ACCUMULATION, MADE, BROKEN, STICK, SLIDE, INDETERMINATE, JAMS, INEXACT = (
    np.int64(k) for k in range(9)
)  # Log.event_ids


@dataclass(frozen=True, eq=False)
class Solids(Structure):
    """R rows of the state, S parts, P pairs of parts that may meet, C connectors; features of parts, from the centre

    of mass in axes of the body: V vertices and the edges that start there, then arcs, then the points of connectors.
    """

    kind: Ids  # (S,) of `parts`
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
    pair_law: Array  # (P, 3) friction, static friction, restitution
    connectors: Ids  # (C, 14) as a row of Places.id
    connector_figures: Array  # (C, 8) as a row of Places.figure
    COLUMNS = MappingProxyType({
        "vertices": 2, "normals": 2, "arcs": 2, "cone": 4, "pairs": 2, "pair_law": 3, "connectors": 14,
        "connector_figures": 8,
    })  # fmt: skip


@dataclass(frozen=True, eq=False)
class Places(Structure):
    """Room for N places where two bodies touch or are joined; the normal points from the second body, J, to I.

    LINE          a point of I over an edge or line of J, which turns with J
    ROUND         two points at a distance: discs, corners, and with SIGMA = -1 a point inside a circle: bowl, rope, rod
    STILL_NORMAL  a point of I against a point of J along a direction that does not turn (joints)
    gap = SIGMA |c1 - c2| - R1 - R2 (ROUND), n . (c1 - c2) - R1 (others); R1 around the point of I, R2 around that of J
    """

    id: Ids  # (N, 14)
    figure: Array  # (N, 8)


@dataclass(frozen=True, eq=False)
class Instant(Structure):
    """Room for the forces or impulses at all touching places, N of them, at an event, and to solve for an island's."""

    problem: FrictionProblem
    answer: FrictionAnswer
    room: FrictionWork
    lemke_room: LemkeRoom
    of: Ids  # (N,) the place that is number k of the problem
    slow: Array  # (N,) m/s, a rate that is none
    mode: Ids  # (N,) of all places, as found
    force: Array  # (2 N,) N
    acceleration: Array  # (2 N,) m/s^2
    impulse: Array  # (2 N,) N s
    factor: Array  # (4,) of e: now, bounds of it, how often they have been narrowed


@dataclass(frozen=True, eq=False)
class Log(Structure):
    """The times that are asked for, and room for what comes out: S samples, C contacts of samples, M impacts, E rows of

    events, D instants of events.
    """

    grid: Array  # (S,) s, as many as Clock.tally says
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
    instant: Array  # (D,) s
    pose: Array  # (D, 3 R)


@dataclass(frozen=True, eq=False)
class Clock(Structure):
    """The state in time, between calls too."""

    y: Array  # (6 R,)
    end: Array  # (6 R,) of the step
    now: Array  # (14,) as the first columns below name them
    tally: Ids  # (23,) as the second ones do
    let_go: Ids  # (L, 2) parts that let go at this instant
    struck: Array  # (P + C, 2) s, of each pair or connector: time of the last impact, and since the one before
    passed: Array  # (P + C,) s, when a pair last was within round-off of a touch that is none
    apart: Array  # (P,) m, of each pair, at least, where `travelled` is reckoned; below 0: not known
    travelled: Array  # (R, 3) where each row is reckoned, and how far it got in the step [m]


# Columns of Clock.now: time, the integrator's step, time of the last event, margins of forces and of rates, length of
# the present step, the time at its end, what a failure says, kinetic energy before an instant, the rate that is none
# besides round-off at it, by how many times what is allowed forces and impulses are off at worst, so far, how long the
# step of the dense output is, and when what has parted will have met again
TIME, STEP, LAST_EVENT, PULL, STILL, LENGTH, REACHED, WHY_P, WHY_B, ENERGY, SLACK, RESIDUAL, DENSE, RETURN = range(14)
# Columns of Clock.count
STEPS, HELD, IDLE, SHOWN, PHASE, EVENT, RELEASED, CONDITION, TOUCHED, STRUCK, LET_GO = range(11)
SAMPLES, CONTACTS, IMPACTS, EVENTS, INSTANTS, WHY_I, WHY_J, SEAM_I, SEAM_J, RESOLVED, FADED, ASKED = range(11, 23)


@dataclass(frozen=True, eq=False)
class Rule(Structure):
    """One number each."""

    tolerance: Array  # (1,)
    cutoff: Array  # (1,) s
    law: Ids  # (1,) of IMPACT_LAWS
    order: Ids  # (1,) of IMPACT_ORDERS
    max_events: Ids  # (1,)
    COLUMNS = MappingProxyType[str, int]({})


@dataclass(frozen=True, eq=False)
class Work(Structure):
    """Room for the kernels to work in; nothing in it outlives a call but what the call is for.

    K = 2 N rows; matrices have room for the L rows of the largest island, see `islands`.
    """

    geometry: Array  # (N, 17) of the places
    A: Array  # (L, L) all normals and tangents of an island, 2 k and 2 k + 1 those of its place k
    b: Array  # (K,) of all places
    M: Array  # (L, L) of the places of an island that are held; its factors
    island: Ids  # (N,) of a place
    order: Ids  # (N,) places, one island after the other
    first_place: Ids  # (N + 1,)
    at: Ids  # (N,) which of its island a place is
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
    hull: Array  # (8, 6 R) Bernstein coefficients of the step
    pair: Array  # (3, 9) of one pair in the search for touches


def number_of(connector: int) -> int:
    """The number that a connector has where places have parts; its own inverse."""
    return -1 - connector


part_of = kernel(number_of)


@kernel
def connector_of(places, k):
    """Of a place that is none of two bodies in touch."""
    return part_of(places.id[k, PART_I])


@kernel
def parts_of_pair(solids, pair):
    """(i, j): of a pair that may meet; connectors follow the pairs in number."""
    pairs = solids.pairs.shape[0]
    if pair < pairs:
        return solids.pairs[pair, 0], solids.pairs[pair, 1]
    return part_of(pair - pairs), part_of(pair - pairs)


@kernel
def copy(source, out):
    """Element by element: kernels make no copy of an array."""
    for c in range(source.shape[0]):
        out[c] = source[c]


@kernel
def copy_place(ids, figures, m, places, k):
    """Row m as place k."""
    for c in range(ids.shape[1]):
        places.id[k, c] = ids[m, c]
    for c in range(figures.shape[1]):
        places.figure[k, c] = figures[m, c]


def room_for_places(capacity: int) -> Places:
    return Places(id=np.zeros((capacity, 14), np.int64), figure=np.zeros((capacity, 8)))


def room_to_work(rows: int, capacity: int, block: int) -> Work:
    """For so many bodies and places, and islands of so many rows."""
    K = 2 * capacity
    return Work(
        geometry=np.zeros((capacity, 17)),
        A=np.zeros((block, block)),
        b=np.zeros(K),
        M=np.zeros((block, block)),
        island=np.zeros(capacity, np.int64),
        order=np.zeros(capacity, np.int64),
        first_place=np.zeros(capacity + 1, np.int64),
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
        hull=np.zeros((8, 6 * rows)),
        pair=np.zeros((3, 9)),
    )


def room_for_instant(capacity: int, block: int) -> Instant:
    """For so many places, and islands of so many rows."""
    own = block // 2
    answer, room, lemke_room = friction_room(own)
    problem = FrictionProblem(
        A=np.zeros((2 * own, 2 * own)),
        b=np.zeros(2 * own),
        kind=np.zeros(own, np.int64),
        friction=np.zeros(own),
        static_friction=np.zeros(own),
        base=np.zeros(own),
    )
    return Instant(
        problem=problem,
        answer=answer,
        room=room,
        lemke_room=lemke_room,
        of=np.zeros(capacity, np.int64),
        slow=np.zeros(capacity),
        mode=np.zeros(capacity, np.int64),
        force=np.zeros(2 * capacity),
        acceleration=np.zeros(2 * capacity),
        impulse=np.zeros(2 * capacity),
        factor=np.zeros(4),
    )


def room_to_log(rows: int, connectors: int, samples: int, contacts: int, events: int) -> Log:
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
        instant=np.zeros(events),
        pose=np.zeros((events, 3 * rows)),
    )


def twice_the_room(log: Log) -> Log:
    """With what is in it."""
    return Log(**{f.name: np.concatenate([part := getattr(log, f.name), np.zeros_like(part)]) for f in fields(log)})

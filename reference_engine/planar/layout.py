"""The world as the located kernels see it. Each Structure is one numba type, so that each kernel has one signature.

The state y is flat: poses (x, y, angle) of all rows, then twists (vx, vy, spin): y[3 i + c], y[3 R + 3 i + c]. Rows
are the world's bodies, and the background last. A body's shape is one or more convex pieces.
"""

import numpy as np

from reference_engine.array_types import Array, Indices
from reference_engine.compiler.kernels import kernel
from reference_engine.compiler.structure import Structure, of_shape
from reference_engine.contact_problems.friction_lemke import LemkeWork
from reference_engine.contact_problems.friction_modes import FrictionAnswer, FrictionProblem, FrictionWork
from reference_engine.events import *  # noqa: F403  # columns and statuses that all loops have, named with the others

CENTRE = np.int64(-1)  # a feature: the centre of the body
LINE, ROUND, STILL_NORMAL = np.int64(0), np.int64(1), np.int64(2)  # Contacts.id, KIND
CONTACT, ROPE, JOINT = np.int64(0), np.int64(1), np.int64(2)  # Contacts.id, ROLE

# Columns of Contacts.id
BODY_I, BODY_J, PIECE_I, PIECE_J, P, Q, KIND, ROLE, MODE, SLIDES, PAIR, PRESSES, HAS_FRICTION, GUESS, IDS = range(15)
# Columns of Contacts.value: m, m, 1, 1, 1, 1, N, N
R1, R2, SIGMA, FRICTION, STATIC_FRICTION, RESTITUTION, FORCE_N, FORCE_T, VALUES = range(9)
# Columns of Work.geometry: m, m/s, 1, 1, m (6 times), m/s, m/s, m (6 times)
(
    GAP, RATE, NX, NY, U1X, U1Y, U2X, U2Y, SPAN, ACROSS, SLIP, MN1, MN2, MT1, MT2, ALONG, ALONG_PREVIOUS, GEOMETRY,
) = range(18)  # fmt: skip
ROW_X, ROW_Y, ROW_I, ROW_J = range(4)  # columns of Work.across and Work.along: direction, m about I, m about J
OF_I, OF_J, BOUNDS = (np.int64(k) for k in range(3))  # rows of Work.pair
X, Y, ANGLE, VX, VY, SPIN = range(6)  # columns of the first two: m, m, rad, m/s, m/s, rad/s
# and of the third, greatest sizes of what J is to I in the step: m, m/s, m/s^2, rad/s, rad/s^2, rad/s, rad/s^2
(
    DISTANCE, SPEED, ACCELERATION, SPIN_I, SPIN_J, SPIN_RATE_I, SPIN_RATE_J, RELATIVE_SPIN, RELATIVE_SPIN_RATE,
) = range(9)  # fmt: skip
BEFORE, AFTER = range(2)  # columns of Model.arcs
BEFORE_X, BEFORE_Y, AFTER_X, AFTER_Y = range(4)  # columns of Model.cone
LAST, BETWEEN, LIMIT = range(3)  # columns of LoopState.impact_times
# Columns of Log.contact, Log.impact and Log.event, where they have them: m, m, 1, 1, m, then
POINT_X, POINT_Y, NORMAL_X, NORMAL_Y, AT_GAP = range(5)
NORMAL_FORCE, FRICTION_FORCE, CONTACT_COLUMNS = range(5, 8)  # of a contact N, N
APPROACH, NORMAL_IMPULSE, FRICTION_IMPULSE, IMPACT_TIME, IMPACT_COLUMNS = range(5, 10)  # of an impact m/s, N s, N s, s
EVENT_TIME, EVENT_COLUMNS = range(2, 4)  # of an event s

# What the compiled loop says besides GOES_ON, DONE and FULL
(
    CONTACTS_FULL, BLOCK_FULL, OVERLAP, NO_STEP, STANDSTILL, EVENTS_FULL, NO_FORCES, NO_IMPULSES, NEEDS_IMPULSES,
    SETTLES,
) = (np.int64(k) for k in range(3, 13))  # fmt: skip
KIND_OF_EVENT, FIRST_BODY, SECOND_BODY = range(3)  # columns of Log.event_ids
# KIND_OF_EVENT
IMPACT, ACCUMULATION, MADE, BROKEN, STICK, SLIDE, INDETERMINATE, JAMS, INEXACT = (np.int64(k) for k in range(9))


class Model(Structure):
    """R rows of the state, S pieces, P pairs of pieces that may meet, C connectors.

    Features of pieces, from the centre of mass in axes of the body: V vertices and the edges that start there, then
    arcs, then the points of connectors.
    """

    kind: Indices = of_shape("S")  # of `pieces`
    row: Indices = of_shape("S")  # body whose convex piece it is
    radius: Array = of_shape("S")  # m, bounding, about the centre of mass; of a bowl that of its circle
    first: Indices = of_shape("S + 1")  # piece s has vertices and edges first[s] : first[s + 1]; edge k starts at k
    # and arcs arc_first[s] : arc_first[s + 1]; discs and bowls have one; V is the first
    arc_first: Indices = of_shape("S + 1")
    vertices: Array = of_shape("F", 2)  # m; centre of an arc
    normals: Array = of_shape("F", 2)  # outward, of the edge from vertex k to the next; middle direction of an arc
    offsets: Array = of_shape("F")  # m, of that edge along its normal; of an arc half of its angle [rad], or infinite
    lengths: Array = of_shape("F")  # m; radius of an arc
    straight: Indices = of_shape("V")  # 1: the edge from vertex k to the next is
    arcs: Indices = of_shape("V", 2)  # of the body that end and start at a vertex, -1: none
    cone: Array = of_shape("V", 4)  # outward normals there, of the edge or arc before it and of the one after it
    smooth: Indices = of_shape("V")  # 1: they are the same, and one of the two is an arc
    free: Indices = of_shape("free")  # components of the state that change: of bodies that are not fixed, ascending
    inv_mass: Array = of_shape("R")  # 1/kg; 0 if fixed
    inv_inertia: Array = of_shape("R")  # 1/(kg m^2); 0 if fixed
    pairs: Indices = of_shape("P", 2)  # convex pieces
    pair_coefficients: Array = of_shape("P", 3)  # friction, static friction, restitution, as in Contacts.value
    connectors: Indices = of_shape("C", IDS)  # as a row of Contacts.id
    connector_values: Array = of_shape("C", VALUES)  # as a row of Contacts.value


class Contacts(Structure):
    """Arrays for N contacts where two bodies touch or are joined; the normal points from the second body, J, to I.

    LINE          a point of I over an edge or line of J, which turns with J
    ROUND         two points at a distance: discs, corners, and with SIGMA = -1 a point inside a circle: bowl, rope, rod
    STILL_NORMAL  a point of I against a point of J along a direction that does not turn (joints)
    gap = SIGMA |c1 - c2| - R1 - R2 (ROUND), n . (c1 - c2) - R1 (others); R1 around the point of I, R2 around that of J
    """

    id: Indices = of_shape("N", IDS)
    value: Array = of_shape("N", VALUES)


class EventWork(Structure):
    """Arrays for the forces or impulses at all contacts, N of them, at an event, and to solve for an island's."""

    problem: FrictionProblem
    answer: FrictionAnswer
    workspace: FrictionWork
    lemke_work: LemkeWork
    of: Indices = of_shape("N")  # the contact that is number k of the problem
    slow: Array = of_shape("N")  # m/s, a rate that is none
    mode: Indices = of_shape("N")  # of all contacts, as found
    force: Array = of_shape("2 N")  # N
    acceleration: Array = of_shape("2 N")  # m/s^2
    impulse: Array = of_shape("2 N")  # N s
    factor: Array = of_shape(4)  # of e: now, bounds of it, how often they have been narrowed


class Log(Structure):
    """The times that are asked for, and space for what comes out: S samples, T contacts in them, M impacts, E events,
    D times of events, C connectors."""

    grid: Array = of_shape("S")  # s, as many as LoopState.counters says
    time: Array = of_shape("S")  # s
    state: Array = of_shape("S", "6 R")
    pull: Array = of_shape("S", "2 C")  # N, of each connector on its first body, in axes of the world
    first: Indices = of_shape("S + 1")  # contacts of sample k are first[k] : first[k + 1]
    contact_pair: Indices = of_shape("T", 2)  # a, b
    contact: Array = of_shape("T", CONTACT_COLUMNS)
    impact_pair: Indices = of_shape("M", 2)
    impact: Array = of_shape("M", IMPACT_COLUMNS)
    event_ids: Indices = of_shape("E", 3)
    event: Array = of_shape("E", EVENT_COLUMNS)
    event_time: Array = of_shape("D")  # s
    pose: Array = of_shape("D", "3 R")


# Columns of LoopState.now after those of all loops: time of the last event [s], margins of forces [m/s^2] and of rates
# [m/s], what a failure says (two), kinetic energy before an event [J], the rate that is none besides round-off at it
# [m/s], by how many times what is allowed forces and impulses are off at worst, so far, how long the step of the dense
# output is [s], when what has parted will have met again [s], the gap that counts as closed in the step [m, minus it],
# the last time before forces may jump [s]
LAST_EVENT, PULL, STILL, WHY_P, WHY_B, ENERGY, SLACK, RESIDUAL, DENSE, RETURN, ALLOWANCE, BEFORE_JUMP, NOW = range(
    4, 17
)
# Columns of LoopState.counters after those of all loops
(
    ACTIVE, ISLANDS, IDLE, RELEASED, CONDITION, CLOSED_PAIR, IMPULSES_APPLIED, LET_GO, SAMPLES, CONTACTS, IMPACTS,
    EVENTS, EVENT_TIMES, WHY_I, WHY_J, WHY_ROWS, EDGE_PIECE_I, EDGE_PIECE_J, RESOLVED, FADED, COUNTERS,
) = range(5, 26)  # fmt: skip


class LoopState(Structure):
    """The state in time, between calls too."""

    y: Array = of_shape("6 R")
    end: Array = of_shape("6 R")  # of the step
    now: Array = of_shape(NOW)  # as the first columns below name them
    counters: Indices = of_shape(COUNTERS)  # as the second ones do
    let_go: Indices = of_shape(64, 2)  # pieces that let go at this time
    impact_times: Array = of_shape(
        "P + C", 3
    )  # s, of pairs and connectors: last impact, from the one before, the series' end
    passed: Array = of_shape("P + C")  # s, when a pair last was within round-off of a touch that is none
    apart: Array = of_shape("P")  # m, of each pair, at least, where `travelled` is reckoned; below 0: not known
    travelled: Array = of_shape("R", 3)  # m: where each row is reckoned, and how far it got in the step


class Rule(Structure):
    """One number each."""

    tolerance: Array = of_shape(1)
    cutoff: Array = of_shape(1)  # s
    impact_law: Indices = of_shape(1)  # of IMPACT_LAWS
    order: Indices = of_shape(1)  # of IMPACT_ORDERS
    max_events: Indices = of_shape(1)


class Work(Structure):
    """Arrays for the kernels to work in; nothing in it outlives a call but what the call is for.

    N contacts; matrices have space for the L rows of the largest island, see `islands`.
    """

    geometry: Array = of_shape("N", GEOMETRY)  # of the contacts
    A: Array = of_shape("L", "L")  # all normals and tangents of an island, 2 k and 2 k + 1 those of its contact k
    b: Array = of_shape("2 N")  # of all contacts
    M: Array = of_shape("L", "L")  # of the contacts of an island that are held; its factors
    island: Indices = of_shape("N")  # of a contact
    order: Indices = of_shape("N")  # contacts, one island after the other
    first_contact: Indices = of_shape("N + 1")
    at: Indices = of_shape("N")  # which of its island a contact is
    member: Indices = of_shape("R")  # bodies, one island after the other
    first_member: Indices = of_shape("N + 1")
    column: Indices = of_shape("R")  # which of its island a body is
    root: Indices = of_shape("R")
    label: Indices = of_shape("R")
    of: Indices = of_shape("2 N")  # contact of a row
    tangent: Indices = of_shape("2 N")  # 1 if it is that of the tangent
    across: Array = of_shape("2 N", 4)  # rows of J
    along: Array = of_shape("2 N", 4)  # columns: that along which the force acts
    right: Array = of_shape("2 N")
    x: Array = of_shape("2 N")
    spare: Array = of_shape("2 N")
    margin: Array = of_shape("N", 16)  # four conditions of a contact, at four times (release.py)
    pivot: Indices = of_shape("2 N")
    skipped: Indices = of_shape("2 N")  # 1: this row adds nothing to those before it
    size: Array = of_shape(2, "2 N")
    force: Array = of_shape("N", 2)  # N, along normal and tangent
    redundant: Indices = of_shape("N")  # 1: this contact's normal force adds nothing to those of the others
    state: Array = of_shape("6 R")
    rate: Array = of_shape("6 R")
    foreseen: Array = of_shape("6 R")
    landing: Array = of_shape("6 R")  # the end of the last attempt at a step, as integrated
    stages: Array = of_shape(16, "6 R")
    dense: Array = of_shape(7, "6 R")
    bernstein: Array = of_shape(8, "6 R")  # Bernstein coefficients of the step
    pair: Array = of_shape(3, 9)  # of one pair in the search for touches: states of both, bounds of the step


def number_of(connector: int) -> int:
    """The number that a connector has where contacts have pieces; its own inverse."""
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
def arm_of(model, feature, cosine, sine):
    """From the centre of mass of its body, turned so far [m]."""
    x, y = model.vertices[feature, 0], model.vertices[feature, 1]
    return cosine * x - sine * y, sine * x + cosine * y


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

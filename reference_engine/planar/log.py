"""What the loop writes down: samples with their contact forces, impacts, events."""

import numpy as np

from reference_engine.compiler.kernels import kernel
from reference_engine.dop853 import dense_state
from reference_engine.planar.layout import (
    BODY_I,
    BODY_J,
    CONTACTS,
    DENSE,
    EVENTS,
    GAP,
    HELD,
    IMPACTS,
    INSTANTS,
    JOINT,
    LENGTH,
    NX,
    NY,
    R1,
    RATE,
    REACHED,
    ROLE,
    SAMPLES,
    TIME,
    TOUCHES,
    U1X,
    U1Y,
    connector_of,
    copy,
)
from reference_engine.planar.projection import project
from reference_engine.planar.rows import held_rate

FIRST, AFTER_TIME = np.int64(0), np.int64(1)  # columns of a point


@kernel
def has_room(log, count, held):
    """For what one pass of the loop may add."""
    most = 2 * held.id.shape[0] + 4
    return (
        count[SAMPLES] + 2 < log.time.shape[0]
        and count[CONTACTS] + most < log.contact.shape[0]
        and count[IMPACTS] + most < log.impact.shape[0]
        and count[EVENTS] + 3 * most < log.event.shape[0]
        and count[INSTANTS] + 1 < log.pose.shape[0]
    )


@kernel
def write_point(y, places, k, G, out, row, column):
    """Where place k is [m]: on the surface of I."""
    i, r1 = places.id[k, BODY_I], places.figure[k, R1]
    out[row, column] = y[3 * i] + G[k, U1X] - r1 * G[k, NX]
    out[row, column + 1] = y[3 * i + 1] + G[k, U1Y] - r1 * G[k, NY]


@kernel
def sample(solids, forces, time, clock, held, work, log, y):
    """A state with the forces of the places that hold; the normal points from b's body, the second, to the first."""
    count, n = clock.tally, clock.tally[HELD]
    at, row = count[SAMPLES], count[CONTACTS]
    log.time[at] = time
    copy(y, log.state[at])
    for c in range(log.pull.shape[1]):
        log.pull[at, c] = 0.0
    if n > 0:
        held_rate(solids, forces, time, y, held, n, work, work.rate)
        G = work.geometry
        for k in range(n):
            if held.id[k, ROLE] != TOUCHES:
                c = 2 * connector_of(held, k)
                log.pull[at, c] = work.force[k, 0] * G[k, NX]
                log.pull[at, c + 1] = work.force[k, 0] * G[k, NY]
            if held.id[k, ROLE] == JOINT:
                continue
            log.contact_pair[row, 0], log.contact_pair[row, 1] = held.id[k, BODY_J], held.id[k, BODY_I]
            write_point(y, held, k, G, log.contact, row, FIRST)
            log.contact[row, 2], log.contact[row, 3], log.contact[row, 4] = G[k, NX], G[k, NY], G[k, GAP]
            log.contact[row, 5], log.contact[row, 6] = max(0.0, work.force[k, 0]), work.force[k, 1]
            row += 1
    count[CONTACTS] = row
    count[SAMPLES] = at + 1
    log.first[at + 1] = row


@kernel
def show(solids, forces, clock, held, work, log, time):
    """The sample at a time within the present step."""
    now, y = clock.now, clock.y
    if now[LENGTH] > 0.0:
        y = work.foreseen
        if time == now[REACHED]:
            copy(clock.end, y)
        else:
            dense_state(clock.y, work.dense, (time - now[TIME]) / now[DENSE], solids.free, y)
        project(solids, y, held, clock.tally[HELD], work)
    sample(solids, forces, time, clock, held, work, log, y)


@kernel
def note_event(clock, log, kind, time, y, places, k, G):
    count = clock.tally
    at = count[EVENTS]
    log.event_ids[at, 0], log.event_ids[at, 1], log.event_ids[at, 2] = kind, places.id[k, BODY_J], places.id[k, BODY_I]
    log.event[at, 0] = time
    write_point(y, places, k, G, log.event, at, AFTER_TIME)
    count[EVENTS] = at + 1


@kernel
def note_impact(clock, log, time, y, places, k, G, impulse):
    """Impulse (2 N,) along normals and tangents; the rates in G are those before it."""
    count = clock.tally
    at = count[IMPACTS]
    log.impact_pair[at, 0], log.impact_pair[at, 1] = places.id[k, BODY_J], places.id[k, BODY_I]
    log.impact[at, 0] = time
    write_point(y, places, k, G, log.impact, at, AFTER_TIME)
    log.impact[at, 3], log.impact[at, 4], log.impact[at, 5] = G[k, NX], G[k, NY], G[k, GAP]
    log.impact[at, 6], log.impact[at, 7], log.impact[at, 8] = G[k, RATE], impulse[2 * k], impulse[2 * k + 1]
    count[IMPACTS] = at + 1


@kernel
def note_instant(clock, log):
    count, size = clock.tally, log.pose.shape[1]
    log.instant[count[INSTANTS]] = clock.now[TIME]
    for c in range(size):
        log.pose[count[INSTANTS], c] = clock.y[c]
    count[INSTANTS] += 1

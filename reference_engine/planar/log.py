"""What the loop writes down: samples with their contact forces, impacts, events."""

import numpy as np

from reference_engine.compiler.kernels import kernel
from reference_engine.dop853 import dense_state
from reference_engine.planar import layout as col
from reference_engine.planar.layout import connector_of, copy
from reference_engine.planar.projection import project
from reference_engine.planar.rows import constrained_rate

FIRST, AFTER_TIME = np.int64(0), np.int64(1)  # columns of a point


@kernel
def has_space(log, count, active):
    """For what one pass of the loop may add."""
    most = 2 * active.id.shape[0] + 4
    return (
        count[col.SAMPLES] + 2 < log.time.shape[0]
        and count[col.CONTACTS] + most < log.contact.shape[0]
        and count[col.IMPACTS] + most < log.impact.shape[0]
        and count[col.EVENTS] + 3 * most < log.event.shape[0]
        and count[col.EVENT_TIMES] + 1 < log.pose.shape[0]
    )


@kernel
def write_point(y, contacts, k, G, out, row, column):
    """Where contact k is [m]: on the surface of I."""
    i, r1 = contacts.id[k, col.BODY_I], contacts.value[k, col.R1]
    out[row, column] = y[3 * i] + G[k, col.U1X] - r1 * G[k, col.NX]
    out[row, column + 1] = y[3 * i + 1] + G[k, col.U1Y] - r1 * G[k, col.NY]


@kernel
def sample(model, forces, time, loop, active, work, log, y):
    """A state with the forces of the contacts that hold; the normal points from b's body, the second, to the first."""
    count, n = loop.counters, loop.counters[col.ACTIVE]
    at, row = count[col.SAMPLES], count[col.CONTACTS]
    log.time[at] = time
    copy(y, log.state[at])
    for c in range(log.pull.shape[1]):
        log.pull[at, c] = 0.0
    if n > 0:
        constrained_rate(model, forces, time, y, active, n, work, work.rate)
        G = work.geometry
        for k in range(n):
            if active.id[k, col.ROLE] != col.CONTACT:
                c = 2 * connector_of(active, k)
                log.pull[at, c] = work.force[k, 0] * G[k, col.NX]
                log.pull[at, c + 1] = work.force[k, 0] * G[k, col.NY]
            if active.id[k, col.ROLE] == col.JOINT:
                continue
            log.contact_pair[row, 0], log.contact_pair[row, 1] = active.id[k, col.BODY_J], active.id[k, col.BODY_I]
            write_point(y, active, k, G, log.contact, row, FIRST)
            log.contact[row, 2], log.contact[row, 3], log.contact[row, 4] = G[k, col.NX], G[k, col.NY], G[k, col.GAP]
            log.contact[row, 5], log.contact[row, 6] = max(0.0, work.force[k, 0]), work.force[k, 1]
            row += 1
    count[col.CONTACTS] = row
    count[col.SAMPLES] = at + 1
    log.first[at + 1] = row


@kernel
def show(model, forces, loop, active, work, log, time):
    """The sample at a time within the present step."""
    now, y = loop.now, loop.y
    if now[col.LENGTH] > 0.0:
        y = work.foreseen
        if time == now[col.REACHED]:
            copy(loop.end, y)
        else:
            dense_state(loop.y, work.dense, (time - now[col.TIME]) / now[col.DENSE], model.free, y)
        project(model, y, active, loop.counters[col.ACTIVE], work)
    sample(model, forces, time, loop, active, work, log, y)


@kernel
def note_event(loop, log, kind, time, y, contacts, k, G):
    count = loop.counters
    at = count[col.EVENTS]
    log.event_ids[at, 0], log.event_ids[at, 1], log.event_ids[at, 2] = (
        kind,
        contacts.id[k, col.BODY_J],
        contacts.id[k, col.BODY_I],
    )
    log.event[at, 0] = time
    write_point(y, contacts, k, G, log.event, at, AFTER_TIME)
    count[col.EVENTS] = at + 1


@kernel
def note_impact(loop, log, time, y, contacts, k, G, impulse):
    """Impulse (2 N,) along normals and tangents; the rates in G are those before it."""
    count = loop.counters
    at = count[col.IMPACTS]
    log.impact_pair[at, 0], log.impact_pair[at, 1] = contacts.id[k, col.BODY_J], contacts.id[k, col.BODY_I]
    log.impact[at, 0] = time
    write_point(y, contacts, k, G, log.impact, at, AFTER_TIME)
    log.impact[at, 3], log.impact[at, 4], log.impact[at, 5] = G[k, col.NX], G[k, col.NY], G[k, col.GAP]
    log.impact[at, 6], log.impact[at, 7], log.impact[at, 8] = G[k, col.RATE], impulse[2 * k], impulse[2 * k + 1]
    count[col.IMPACTS] = at + 1


@kernel
def note_pose(loop, log):
    count, size = loop.counters, log.pose.shape[1]
    log.event_time[count[col.EVENT_TIMES]] = loop.now[col.TIME]
    for c in range(size):
        log.pose[count[col.EVENT_TIMES], c] = loop.y[c]
    count[col.EVENT_TIMES] += 1

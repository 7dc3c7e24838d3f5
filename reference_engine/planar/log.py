"""What the loop writes down: samples with their contact forces, impacts, events."""

from reference_engine.compiler.kernels import kernel
from reference_engine.dop853 import dense_state
from reference_engine.planar import layout as col
from reference_engine.planar.layout import connector_of, copy
from reference_engine.planar.projection import project
from reference_engine.planar.rows import constrained_rate


@kernel
def has_space(run):
    """For what one pass of the loop may add."""
    log, count, most = run.log, run.loop.counters, 2 * run.active.id.shape[0] + 4
    return (
        count[col.SAMPLES] + 2 < log.time.shape[0]
        and count[col.CONTACTS] + most < log.contact.shape[0]
        and count[col.IMPACTS] + most < log.impact.shape[0]
        and count[col.EVENTS] + 3 * most < log.event.shape[0]
        and count[col.EVENT_TIMES] + 1 < log.pose.shape[0]
    )


@kernel
def write_point(y, contacts, k, G, row_out):
    """Where contact k is [m]: on the surface of I."""
    i, r1 = contacts.id[k, col.BODY_I], contacts.value[k, col.R1]
    row_out[col.POINT_X] = y[3 * i] + G[k, col.U1X] - r1 * G[k, col.NX]
    row_out[col.POINT_Y] = y[3 * i + 1] + G[k, col.U1Y] - r1 * G[k, col.NY]


@kernel
def write_contact(y, contacts, k, G, pair_out, row_out):
    """Point, normal and gap; the normal points from b's body, the second, to the first."""
    pair_out[0], pair_out[1] = contacts.id[k, col.BODY_J], contacts.id[k, col.BODY_I]
    write_point(y, contacts, k, G, row_out)
    row_out[col.NORMAL_X], row_out[col.NORMAL_Y], row_out[col.AT_GAP] = G[k, col.NX], G[k, col.NY], G[k, col.GAP]


@kernel
def sample(run, time, y):
    """A state with the forces of the contacts that hold."""
    log, active, work, count = run.log, run.active, run.work, run.loop.counters
    at, row, G = count[col.SAMPLES], count[col.CONTACTS], work.geometry
    log.time[at] = time
    copy(y, log.state[at])
    for c in range(log.pull.shape[1]):
        log.pull[at, c] = 0.0
    if count[col.ACTIVE] > 0:
        constrained_rate(run, time, y, work.rate)
    for k in range(count[col.ACTIVE]):
        if active.id[k, col.ROLE] != col.CONTACT:
            c = 2 * connector_of(active, k)
            log.pull[at, c] = work.force[k, 0] * G[k, col.NX]
            log.pull[at, c + 1] = work.force[k, 0] * G[k, col.NY]
        if active.id[k, col.ROLE] != col.JOINT:
            write_contact(y, active, k, G, log.contact_pair[row], log.contact[row])
            log.contact[row, col.NORMAL_FORCE] = max(0.0, work.force[k, 0])
            log.contact[row, col.FRICTION_FORCE] = work.force[k, 1]
            row += 1
    count[col.CONTACTS] = row
    count[col.SAMPLES] = at + 1
    log.first[at + 1] = row


@kernel
def show(run, time):
    """The sample at a time within the present step."""
    loop, now, work, y = run.loop, run.loop.now, run.work, run.loop.y
    if now[col.LENGTH] > 0.0:
        y = work.foreseen
        if time == now[col.REACHED]:
            copy(loop.end, y)
        else:
            dense_state(loop.y, work.dense, (time - now[col.TIME]) / now[col.DENSE], run.model.free, y)
        project(run.model, y, run.active, loop.counters[col.ACTIVE], work)
    sample(run, time, y)


@kernel
def note_event(run, kind, time, contacts, k):
    log, at = run.log, run.loop.counters[col.EVENTS]
    log.event_ids[at, col.KIND_OF_EVENT] = kind
    log.event_ids[at, col.FIRST_BODY] = contacts.id[k, col.BODY_J]
    log.event_ids[at, col.SECOND_BODY] = contacts.id[k, col.BODY_I]
    log.event[at, col.EVENT_TIME] = time
    write_point(run.loop.y, contacts, k, run.work.geometry, log.event[at])
    run.loop.counters[col.EVENTS] = at + 1


@kernel
def note_impact(run, k):
    """The impulse at contact k of those found, along its normal and tangent; the rates are those before it."""
    log, G, at = run.log, run.work.geometry, run.loop.counters[col.IMPACTS]
    row, impulse = log.impact[at], run.event.impulse
    write_contact(run.loop.y, run.found, k, G, log.impact_pair[at], row)
    row[col.IMPACT_TIME], row[col.APPROACH] = run.loop.now[col.TIME], G[k, col.RATE]
    row[col.NORMAL_IMPULSE], row[col.FRICTION_IMPULSE] = impulse[2 * k], impulse[2 * k + 1]
    run.loop.counters[col.IMPACTS] = at + 1


@kernel
def note_pose(run):
    log, loop, at = run.log, run.loop, run.loop.counters[col.EVENT_TIMES]
    log.event_time[at] = loop.now[col.TIME]
    for c in range(log.pose.shape[1]):
        log.pose[at, c] = loop.y[c]
    loop.counters[col.EVENT_TIMES] = at + 1

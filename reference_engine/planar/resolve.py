"""What happens at one time: what touches, what approaches, and the impulses. What holds then is for `settle`."""

import numpy as np

from reference_engine.compiler.kernels import kernel
from reference_engine.contact_problems import friction_modes as modes
from reference_engine.planar import layout as col
from reference_engine.planar.advancement import between
from reference_engine.planar.islands import divide, largest
from reference_engine.planar.log import note_event, note_impact, sample
from reference_engine.planar.narrow_phase import PENETRATING, find_contacts
from reference_engine.planar.projection import CLOSED_GAP, extent, kinetic_energy, separate, still_of
from reference_engine.planar.release import CONE, EDGE, FORCE, SLIP_ENDS
from reference_engine.planar.rows import apply_impulses, delassus_diagonal, survey

# Times the round-off of a rate, where a corner slides off an edge: normals differ by OVER_END / size
EDGE_TOLERANCE = 1e3
PRESSED_IN = 20.0  # gaps that count as closed: deeper is a touch that was missed
NO_PIECE = np.iinfo(np.int64).min  # no piece: connectors are numbered downwards from -1
SAME_TIME = 5e-12  # s, events that are no further apart are at one time
MOST_EVENTS_AT_ONE_TIME = 1000  # events, and ten more for each contact there is space for


@kernel
def count_event(run):
    """GOES_ON, unless events at one time, or all, have no end."""
    now, count = run.loop.now, run.loop.counters
    if now[col.TIME] - now[col.LAST_EVENT] > SAME_TIME:
        count[col.IDLE], count[col.LET_GO] = 0, 0
    count[col.IDLE] += 1
    now[col.LAST_EVENT] = now[col.TIME]
    if count[col.IDLE] > MOST_EVENTS_AT_ONE_TIME + 10 * run.active.id.shape[0]:
        return col.STANDSTILL
    count[col.RESOLVED] += 1
    return col.EVENTS_FULL if max(count[col.EVENTS], count[col.RESOLVED]) > run.rule.max_events[0] else col.GOES_ON


@kernel
def begin(run):
    """Once at the start of an event: what has just been released, and what that contact is likely to do next."""
    loop, active, work, count = run.loop, run.active, run.work, run.loop.counters
    count[col.FADED], loop.now[col.SLACK] = 0, 0.0
    count[col.IMPULSES_APPLIED], count[col.EDGE_PIECE_I], count[col.EDGE_PIECE_J] = 0, NO_PIECE, NO_PIECE
    status, k, what = count_event(run), count[col.RELEASED], count[col.CONDITION]
    if k < 0:
        return status
    pulls = what == FORCE
    if what == CONE:  # the cone of no force is a point, which friction leaves first
        pulls = work.force[k, 0] * delassus_diagonal(run.model, active, k, work.geometry) <= loop.now[col.PULL]
    if pulls and count[col.LET_GO] < loop.let_go.shape[0]:
        loop.let_go[count[col.LET_GO], 0] = active.id[k, col.PIECE_I]
        loop.let_go[count[col.LET_GO], 1] = active.id[k, col.PIECE_J]
        count[col.LET_GO] += 1
    if pulls:
        active.id[k, col.GUESS] = modes.OPEN
    elif what == SLIP_ENDS:
        active.id[k, col.GUESS] = modes.STICKS
    elif what == CONE:  # at the edge of its cone; else it would be within round-off of it again
        backward = work.force[k, 1] > 0.0
        if active.value[k, col.STATIC_FRICTION] > active.value[k, col.FRICTION]:
            active.id[k, col.GUESS] = modes.FULL_MINUS if backward else modes.FULL_PLUS
        else:
            active.id[k, col.GUESS] = modes.SLIPS_MINUS if backward else modes.SLIPS_PLUS
    elif what == EDGE:
        count[col.EDGE_PIECE_I], count[col.EDGE_PIECE_J] = active.id[k, col.PIECE_I], active.id[k, col.PIECE_J]
    return status


@kernel
def classify_event(run):
    """(what is to be done, contacts): NEEDS_IMPULSES where some approach, SETTLES where none does, or a failure."""
    model, found, work, now, count, y = run.model, run.found, run.work, run.loop.now, run.loop.counters, run.loop.y
    cutoff = CLOSED_GAP * (1.0 + extent(model, y))
    n = np.int64(0)
    for turn in range(2):
        n, at = find_contacts(model, y, cutoff, found, work)
        if n == PENETRATING:  # closing gaps presses others in, by as much times a ratio of arms
            n, at = find_contacts(model, y, PRESSED_IN * cutoff, found, work)
        if n == PENETRATING:
            count[col.CLOSED_PAIR] = at
            return col.OVERLAP, n
        if n > found.id.shape[0]:
            return col.CONTACTS_FULL, n
        if largest(work, divide(model, found, n, work)) > work.M.shape[0]:
            return col.BLOCK_FULL, n
        if turn == 1 or count[col.IMPULSES_APPLIED] > 0 or not separate(model, y, found, n, work):
            break
    if count[col.IMPULSES_APPLIED] == 0:
        now[col.ENERGY] = kinetic_energy(model, y, 0.0, y)
    survey(model, y, found, n, work)
    still = still_of(y)
    approaches = False
    for k in range(n):
        at_edge = between(
            found.id[k, col.PIECE_I], found.id[k, col.PIECE_J], count[col.EDGE_PIECE_I], count[col.EDGE_PIECE_J]
        )
        slow = max(now[col.SLACK], EDGE_TOLERANCE * still if at_edge else still)
        rate = work.geometry[k, col.RATE]
        if rate < -slow or (found.id[k, col.ROLE] == col.JOINT and rate > slow):
            approaches = True
        run.event.slow[k] = slow
    if not approaches:
        return col.SETTLES, n
    show_before(run, n)
    return col.NEEDS_IMPULSES, n


@kernel
def show_before(run, n):
    """A sample before the first impulse of an event; and before its first bounce that was left out (`settle`)."""
    loop = run.loop
    if loop.counters[col.IMPULSES_APPLIED] == 0:
        sample(run, loop.now[col.TIME], loop.y if loop.counters[col.FADED] == 0 else loop.end)
        loop.counters[col.IMPULSES_APPLIED] = 1
        survey(run.model, loop.y, run.found, n, run.work)


@kernel
def apply_impacts(run, n, kind):
    """The impulses of `bounce` or `jam`, and their record, as events of this kind."""
    found, loop, time, impulse = run.found, run.loop, run.loop.now[col.TIME], run.event.impulse
    still = still_of(loop.y)
    for k in range(n):
        # What is less is round-off of those not struck.
        speed_change = impulse[2 * k] * delassus_diagonal(run.model, found, k, run.work.geometry)
        if speed_change > still and found.id[k, col.ROLE] != col.JOINT:
            note_event(run, kind, time, found, k)
            note_impact(run, k)
            pair = found.id[k, col.PAIR]
            since = time - loop.impact_times[pair, col.LAST]
            if since > SAME_TIME:
                loop.impact_times[pair, col.LAST], loop.impact_times[pair, col.BETWEEN] = time, since
    apply_impulses(run.model, loop.y, found, n, run.work, impulse)
    return count_event(run)

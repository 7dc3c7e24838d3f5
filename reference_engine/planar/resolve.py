"""What happens at an instant: what touches, what approaches, and the impulses. What holds then is for `settle`."""

import numpy as np

from reference_engine.compiler.kernels import kernel
from reference_engine.contact_problems.friction_modes import (
    FULL_MINUS,
    FULL_PLUS,
    OPEN,
    SLIPS_MINUS,
    SLIPS_PLUS,
    STICKS,
)
from reference_engine.planar.islands import divide, largest
from reference_engine.planar.layout import (
    BLOCK_FULL,
    CONDITION,
    ENERGY,
    EVENTS,
    EVENTS_FULL,
    FADED,
    FRICTION,
    GOES_ON,
    GUESS,
    IDLE,
    JOINT,
    LAST_EVENT,
    LET_GO,
    OVERLAP,
    PAIR,
    PART_I,
    PART_J,
    PLACES_FULL,
    PULL,
    RATE,
    RELEASED,
    RESOLVED,
    ROLE,
    SEAM_I,
    SEAM_J,
    SETTLES,
    SLACK,
    STANDSTILL,
    STATIC_FRICTION,
    STRIKES,
    STRUCK,
    TIME,
    TOUCHED,
)
from reference_engine.planar.log import note_event, note_impact, sample
from reference_engine.planar.narrow_phase import PENETRATING, find_touching
from reference_engine.planar.projection import TOUCH, extent, kinetic_energy, separate, still_of
from reference_engine.planar.release import CONE, EDGE, FORCE, SLIP_ENDS
from reference_engine.planar.rows import stiffness, strike, survey

SEAM = 1e3  # times the round-off of a rate: where a corner slides off an edge, normals differ by OVER_END / size
NO_SEAM = np.iinfo(np.int64).min  # no part: connectors are numbered downwards from -1
INSTANT = 5e-12  # s, events that are no further apart are at one instant
MOST_AT_AN_INSTANT = 1000  # events, and ten more for each place there is room for


@kernel
def count_event(clock, rule, held):
    """GOES_ON, unless events at one instant, or all, have no end."""
    now, count = clock.now, clock.tally
    if now[TIME] - now[LAST_EVENT] > INSTANT:
        count[IDLE], count[LET_GO] = 0, 0
    count[IDLE] += 1
    now[LAST_EVENT] = now[TIME]
    if count[IDLE] > MOST_AT_AN_INSTANT + 10 * held.id.shape[0]:
        return STANDSTILL
    count[RESOLVED] += 1
    return EVENTS_FULL if max(count[EVENTS], count[RESOLVED]) > rule.max_events[0] else GOES_ON


@kernel
def begin(solids, rule, clock, held, work):
    """Once at the start of an instant: what has just been released, and what that place is likely to do next."""
    count = clock.tally
    count[FADED], clock.now[SLACK] = 0, 0.0
    count[STRUCK], count[SEAM_I], count[SEAM_J] = 0, NO_SEAM, NO_SEAM
    status = count_event(clock, rule, held)
    k = count[RELEASED]
    pulls = k >= 0 and count[CONDITION] == FORCE
    if k >= 0 and count[CONDITION] == CONE:  # the cone of no force is a point, which friction leaves first
        pulls = work.force[k, 0] * stiffness(solids, held, k, work.geometry) <= clock.now[PULL]
    if pulls and count[LET_GO] < clock.let_go.shape[0]:
        clock.let_go[count[LET_GO], 0], clock.let_go[count[LET_GO], 1] = held.id[k, PART_I], held.id[k, PART_J]
        count[LET_GO] += 1
    if pulls:
        held.id[k, GUESS] = OPEN
    elif k >= 0 and count[CONDITION] == SLIP_ENDS:
        held.id[k, GUESS] = STICKS
    elif k >= 0 and count[CONDITION] == CONE:  # at the edge of its cone; else it would be within round-off of it again
        backward = work.force[k, 1] > 0.0
        if held.figure[k, STATIC_FRICTION] > held.figure[k, FRICTION]:
            held.id[k, GUESS] = FULL_MINUS if backward else FULL_PLUS
        else:
            held.id[k, GUESS] = SLIPS_MINUS if backward else SLIPS_PLUS
    if k >= 0 and count[CONDITION] == EDGE:
        count[SEAM_I], count[SEAM_J] = held.id[k, PART_I], held.id[k, PART_J]
    return status


@kernel
def between(i, j, a, b):
    return (i == a and j == b) or (i == b and j == a)


@kernel
def look_around(solids, forces, clock, held, found, instant, work, log):
    """(what is to be done, places in touch): STRIKES where some approach, SETTLES where none does, or a failure."""
    now, count, y = clock.now, clock.tally, clock.y
    reach = TOUCH * (1.0 + extent(solids, y))
    n = np.int64(0)
    for turn in range(2):
        n, at = find_touching(solids, y, reach, found, work)
        if n == PENETRATING:
            count[TOUCHED] = at
            return OVERLAP, n
        if n > found.id.shape[0]:
            return PLACES_FULL, n
        if largest(work, divide(solids, found, n, work)) > work.M.shape[0]:
            return BLOCK_FULL, n
        if turn == 1 or count[STRUCK] > 0 or not separate(solids, y, found, n, work):
            break
    if count[STRUCK] == 0:
        now[ENERGY] = kinetic_energy(solids, y, 0.0, y)
    survey(solids, y, found, n, work)
    still = still_of(y)
    approaches = False
    for k in range(n):
        seam = between(found.id[k, PART_I], found.id[k, PART_J], count[SEAM_I], count[SEAM_J])
        slow = max(now[SLACK], SEAM * still if seam else still)
        rate = work.geometry[k, RATE]
        if rate < -slow or (found.id[k, ROLE] == JOINT and rate > slow):
            approaches = True
        instant.slow[k] = slow
    if not approaches:
        return SETTLES, n
    show_before(solids, forces, clock, held, found, n, work, log)
    return STRIKES, n


@kernel
def show_before(solids, forces, clock, held, found, n, work, log):
    """A sample before the first impulse of an instant."""
    if clock.tally[STRUCK] == 0:
        sample(solids, forces, clock.now[TIME], clock, held, work, log, clock.y)
        clock.tally[STRUCK] = 1
        survey(solids, clock.y, found, n, work)


@kernel
def strike_all(solids, rule, clock, held, found, n, instant, work, log, kind):
    """The impulses of `bounce` or `jam`, and their record, as events of this kind."""
    now, y = clock.now, clock.y
    still = still_of(y)
    for k in range(n):
        # What is less is round-off of those not struck.
        blow = instant.impulse[2 * k] * stiffness(solids, found, k, work.geometry)
        if blow > still and found.id[k, ROLE] != JOINT:
            note_event(clock, log, kind, now[TIME], y, found, k, work.geometry)
            note_impact(clock, log, now[TIME], y, found, k, work.geometry, instant.impulse)
            struck = found.id[k, PAIR]
            if now[TIME] - clock.struck[struck, 0] > INSTANT:
                clock.struck[struck, 1] = now[TIME] - clock.struck[struck, 0]
                clock.struck[struck, 0] = now[TIME]
    strike(solids, y, found, n, work, instant.impulse)
    return count_event(clock, rule, held)

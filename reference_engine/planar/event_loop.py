"""The loop: integrate with the places that hold, locate what ends the step, resolve it, go on. Compiled as a whole.

It returns to Python only at the end, where it needs more room, and where time cannot go on; called again it goes on
where it was.
"""

import numpy as np

from reference_engine.compiler.kernels import entry, kernel
from reference_engine.dop853 import STAGES, next_factor
from reference_engine.planar.active_set import FIRST_STEP, settle
from reference_engine.planar.advancement import first_touch
from reference_engine.planar.bands import first_step_on_bands, first_taut
from reference_engine.planar.impact import bounce
from reference_engine.planar.integrator import attempt, complete, defect, start
from reference_engine.planar.jam import DIVERGES
from reference_engine.planar.layout import (
    ASKED,
    CONDITION,
    DENSE,
    DONE,
    EVENT,
    GAP,
    GOES_ON,
    HELD,
    IMPACT,
    LAST_EVENT,
    LENGTH,
    LOG_FULL,
    NO_STEP,
    OVERLAP,
    PART_I,
    PART_J,
    PHASE,
    PLACES_FULL,
    PULL,
    RATE,
    REACHED,
    RELEASED,
    RETURN,
    SETTLES,
    SHOWN,
    STEP,
    STEPS,
    STILL,
    STRIKES,
    TIME,
    TOUCHED,
    copy,
    parts_of_pair,
)
from reference_engine.planar.log import has_room, show
from reference_engine.planar.narrow_phase import PENETRATING, find_touching, place_among
from reference_engine.planar.projection import ALLOWANCE, extent, project, still_of
from reference_engine.planar.release import first_release
from reference_engine.planar.resolve import begin, look_around, strike_all
from reference_engine.planar.rows import measure, survey_accelerations
from reference_engine.planar_model.external import first_turn, next_knot

NEAR = 1e-8  # m, where Newton's method closes the gap of a touch
SHORTEST = 1e-14  # s, a step
RELANDINGS = 4
LOOKS = 2  # at the dense output up to a touch
LEFT_OUT = 0.1  # of the tolerance: a change of a velocity
LANDED = 1e-11  # s, a touch so little before the end of a step is the one that ended it
RESOLVES, STEPS_ON, SHOWS = np.int64(0), np.int64(1), np.int64(2)  # PHASE


@entry
def run(task):
    """Goes on to the last time that is asked for; returns a status."""
    room = task.room
    solids, forces, rule, clock, log = task.solids, task.forces, task.rule, room.clock, task.log
    held, found, following, instant, work = room.held, room.found, room.following, room.instant, room.work
    now, count, grid = clock.now, clock.tally, log.grid
    until = grid[count[ASKED] - 1]
    lay_out(clock.y, work)
    if now[STEP] == 0.0:
        set_out(clock)
    while True:
        if not has_room(log, count, held):
            return LOG_FULL
        if count[PHASE] == STEPS_ON:
            if now[TIME] >= until:
                return DONE
            status = advance(solids, forces, rule, clock, held, found, work, until)
            if status == NO_STEP and count[HELD] > 0:  # forces without limit: `settle` looks for impulses instead
                now[LENGTH], now[REACHED], now[STEP] = 0.0, now[TIME], FIRST_STEP
                count[EVENT], count[CONDITION] = 1, DIVERGES
                count[RELEASED] = count[TOUCHED] = -1
            elif status != GOES_ON:
                return status
            count[PHASE] = SHOWS
        elif count[PHASE] == SHOWS:
            if count[SHOWN] < count[ASKED] and grid[count[SHOWN]] <= now[REACHED]:
                show(solids, forces, clock, held, work, log, grid[count[SHOWN]])
                count[SHOWN] += 1
                continue
            if now[LENGTH] > 0.0:
                now[TIME] = now[REACHED]
                count[STEPS] += 1
                copy(clock.end, clock.y)
                project(solids, clock.y, held, count[HELD], work)
            count[PHASE] = STEPS_ON
            if count[EVENT] == 1:
                count[EVENT], count[PHASE] = 0, RESOLVES
                status = begin(solids, rule, clock, held, work)
                if status != GOES_ON:
                    return status
        else:
            status, n = look_around(solids, forces, clock, held, found, instant, work, log)
            if status == STRIKES:
                status = bounce(solids, rule, clock, found, n, instant, work, log, still_of(clock.y))
                if status == GOES_ON:
                    status = strike_all(solids, rule, clock, held, found, n, instant, work, log, IMPACT)
            elif status == SETTLES:
                status = settle(solids, forces, rule, clock, held, found, n, following, instant, work, log)
            if status == DONE:
                now[LENGTH], now[REACHED], count[PHASE] = 0.0, now[TIME], SHOWS
            elif status != GOES_ON:
                return status


@kernel
def set_out(clock):
    """Before all time, of a room in which all but the state is zero."""
    now, count = clock.now, clock.tally
    now[STEP], now[LAST_EVENT] = FIRST_STEP, -1.0
    count[RELEASED] = count[TOUCHED] = -1
    for p in range(clock.passed.shape[0]):
        clock.struck[p, 0] = clock.struck[p, 1] = clock.passed[p] = -np.inf
    for p in range(clock.apart.shape[0]):
        clock.apart[p] = -1.0
    copy(clock.y, clock.end)


@kernel
def lay_out(y, work):
    """The fixed components of what the kernels work on, which they write nowhere else."""
    copy(y, work.state)
    copy(y, work.foreseen)
    for j in range(8):
        copy(y, work.hull[j])


@kernel
def advance(solids, forces, rule, clock, held, found, work, until):
    """One step of the integrator, or the part of it up to the first event: LENGTH, REACHED, EVENT and its figures."""
    now, count, y = clock.now, clock.tally, clock.y
    n, time = count[HELD], now[TIME]
    longest = min(until, next_knot(forces, time)) - time
    start(solids, forces, time, held, n, work, y)
    h = integrate(solids, forces, rule, clock, held, work, longest)
    if h < 0.0:
        return NO_STEP
    whole = h == longest
    now[STILL] = still_of(y)
    allowance = ALLOWANCE * (1.0 + extent(solids, y))
    touch, pair = first_touch(solids, held, n, work, clock, h, allowance)
    release, place, condition = 2.0, np.int64(-1), np.int64(0)
    if n > 0:
        release, place, condition = first_release(
            solids, forces, time, h, held, n, work, y, min(touch, 1.0), now[PULL], now[STILL], now[STEP]
        )
    part = min(touch, release)
    now[DENSE], again = h, part
    for _ in range(RELANDINGS):  # once; more where the shorter step's own dense output shows an earlier touch
        if again > 1.0:
            break
        if touch < release:
            h, anew = land(solids, forces, rule, clock, held, found, work, now[DENSE], again, pair)
            if h < 0.0:
                return PLACES_FULL if h == -1.0 else OVERLAP
            if not anew:
                break
        else:
            h = again * now[DENSE]
            attempt(solids, forces, time, held, n, work, y, h, rule.tolerance[0], clock.end)
            complete(solids, forces, time, held, n, work, y, h)
            now[DENSE] = h
        again, other = first_touch(solids, held, n, work, clock, now[DENSE], allowance)
        if h - again * now[DENSE] <= LANDED:
            break
        touch, pair, release = again, other, 2.0
    now[LENGTH] = h
    now[REACHED] = time + h
    if part > 1.0 and whole:
        now[REACHED] = time + longest if time + longest < until else until
    count[EVENT] = 1 if part <= 1.0 else 0
    count[RELEASED] = place if part <= 1.0 and release <= touch else -1
    count[CONDITION] = condition
    count[TOUCHED] = pair if part <= 1.0 and touch < release else -1
    return GOES_ON


@kernel
def integrate(solids, forces, rule, clock, held, work, longest):
    """A step whose error is within the tolerance; its length [s], or -1 if there is none. The end is in clock.end.

    It ends where a slack rubber band gets taut, and where the drag of air has a kink.
    """
    now, n = clock.now, clock.tally[HELD]
    if forces.bands.shape[0] > 0:
        now[STEP] = min(now[STEP], first_step_on_bands(forces, now[TIME], clock.y))
    if now[RETURN] > now[TIME]:  # a touch late in a step is found more exactly than one in its midst
        longest = min(longest, now[RETURN] - now[TIME])
    if forces.air[0] != 0.0:
        h = min(now[STEP], longest)
        longest = min(longest, first_turn(forces, clock.y, work.stages[0], h, rule.tolerance[0]))
    while True:
        h = min(now[STEP], longest)
        error = attempt(solids, forces, now[TIME], held, n, work, clock.y, h, rule.tolerance[0], clock.end)
        if error <= 1.0:
            now[STEP] = max(now[STEP], h * next_factor(error)) if h < now[STEP] else h * next_factor(error)
            complete(solids, forces, now[TIME], held, n, work, clock.y, h)
            part = 2.0
            if forces.bands.shape[0] > 0:
                part = first_taut(forces, now[TIME], h, clock.y, solids.free, work)
            if part < 1.0:
                h *= part
                attempt(solids, forces, now[TIME], held, n, work, clock.y, h, rule.tolerance[0], clock.end)
                complete(solids, forces, now[TIME], held, n, work, clock.y, h)
            return h
        now[STEP] = h * min(0.9, next_factor(error)) if np.isfinite(error) else 0.1 * h
        if now[STEP] < SHORTEST:
            return -1.0


@kernel
def land(solids, forces, rule, clock, held, found, work, whole, part, pair):
    """(length [s] of the step up to the touch of this pair, is it a step anew); -1: no room, -2: bodies overlap.

    The dense output of the step as it is, where it obeys the equations of motion; else the same step anew, up to there.
    What is left of the gap is closed by gap + rate s + acceleration s^2/2 = 0, which also a bounce not higher than
    the allowance obeys: along Taylor's series, or by a step anew where that would leave out too much. A graze without a
    root stays where it is, and so does one whose root is past another touch.
    """
    now, y, end, held_count, K = clock.now, clock.y, clock.end, clock.tally[HELD], work.stages
    R = solids.inv_mass.shape[0]
    part_i, part_j = parts_of_pair(solids, pair)
    h, made, near, change = whole * part, whole * part, NEAR, 0.0
    anew, size = False, 1.0 + extent(solids, y)
    for look in range(LOOKS):
        x = part * (1.0 + look) / LOOKS
        off = defect(solids, forces, now[TIME], held, held_count, work, y, whole, x, rule.tolerance[0], K[STAGES])
        anew = anew or off > 1.0
        near = max(
            near, NEAR + 10.0 * off * rule.tolerance[0] * size
        )  # it is no derivative of poses that it has as twists
    stepped = anew
    copy(work.foreseen, end)
    for turn in range(8):
        if anew:
            made, stepped = h, True
            attempt(solids, forces, now[TIME], held, held_count, work, y, h, rule.tolerance[0], end)
            if turn == 0:  # the shorter step differs from what the longer one foresaw, more at loose tolerances
                off = 0.0
                for c in range(3 * R):
                    off = max(off, abs(end[c] - work.foreseen[c]))
                near = NEAR + 10.0 * off
        project(solids, end, held, held_count, work)
        n, at = find_touching(solids, end, near, found, work)
        if n == PENETRATING and turn == 0:
            clock.tally[TOUCHED] = at
            return -2.0, stepped
        if n == PENETRATING:
            h -= change
            made, stepped = h, True
            attempt(solids, forces, now[TIME], held, held_count, work, y, h, rule.tolerance[0], end)
            break
        if n > found.id.shape[0]:
            return -1.0, stepped
        survey_accelerations(solids, end, K[STAGES], found, n, work)
        change = np.inf
        for k in range(n):
            i, j = found.id[k, PART_I], found.id[k, PART_J]
            own = (i == part_i and j == part_j) or (i == part_j and j == part_i)
            gap, rate, b = work.geometry[k, GAP], work.geometry[k, RATE], work.b[2 * k]
            if own and rate < 0.0 and rate * rate > 2.0 * b * gap and place_among(held, held_count, found, k) < 0:
                change = min(change, 2.0 * gap / (np.sqrt(rate * rate - 2.0 * b * gap) - rate))
        if change == np.inf or abs(change) <= 1e-16 * (1.0 + now[TIME]) or h + change <= 0.0:
            break
        h += change
        jerk = 0.0
        for c in range(3 * R, 6 * R):
            jerk = max(jerk, abs(K[STAGES, c] - K[0, c]) / made)
        anew = change * change * jerk > LEFT_OUT * rule.tolerance[0]
        if not anew:
            follow(solids, end, K[STAGES], change)
    if stepped:
        complete(solids, forces, now[TIME], held, held_count, work, y, made)
        now[DENSE] = made
    return h, stepped


@kernel
def follow(solids, y, rate, time):
    """The state a little later, or sooner, by Taylor's series with the accelerations in `rate`."""
    half = y.shape[0] // 2
    for q in range(solids.free.shape[0] // 2):
        c = solids.free[q]
        y[c] += time * (y[half + c] + 0.5 * time * rate[half + c])
        y[half + c] += time * rate[half + c]


@entry
def look(solids, y, found, work):
    """(places, pair) of `find_touching` at the start, with their geometry."""
    n, pair = find_touching(solids, y, 0.0, found, work)
    for k in range(min(n, found.id.shape[0])):
        measure(solids, y, found, k, work.geometry)
    return n, pair

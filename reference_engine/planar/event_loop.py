"""The loop: integrate with the contacts that hold, locate what ends the step, resolve it, go on. Compiled as a whole.

It returns to Python only at the end, where it needs more space, and where time cannot go on; called again it goes on
where it was.
"""

import numpy as np

from reference_engine.compiler.kernels import entry, kernel
from reference_engine.dop853 import STAGES, next_factor
from reference_engine.planar import layout as col
from reference_engine.planar.active_set import FIRST_STEP, settle
from reference_engine.planar.advancement import first_closing
from reference_engine.planar.bands import first_step_on_bands, first_taut
from reference_engine.planar.impact import bounce
from reference_engine.planar.integrator import attempt, complete, defect, start
from reference_engine.planar.jam import DIVERGES
from reference_engine.planar.layout import copy, pieces_of_pair
from reference_engine.planar.log import has_space, show
from reference_engine.planar.narrow_phase import PENETRATING, find_contacts, matching_contact
from reference_engine.planar.projection import GAP_ROUND_OFF, extent, project, still_of
from reference_engine.planar.release import first_release
from reference_engine.planar.resolve import apply_impacts, begin, classify_event
from reference_engine.planar.rows import measure, survey_accelerations
from reference_engine.planar_model.external import first_turn, next_knot

NEAR = 1e-8  # m, where Newton's method closes the gap of a touch
SHORTEST = 1e-14  # s, a step
RELANDINGS = 4
DEFECT_CHECKS = 2  # at the dense output up to a touch
LEFT_OUT = 0.1  # of the tolerance: a change of a velocity
LANDED = 1e-11  # s, a touch so little before the end of a step is the one that ended it
RESOLVES, STEPS_ON, SHOWS = np.int64(0), np.int64(1), np.int64(2)  # PHASE


@entry
def run(arguments):
    """Goes on to the last time that is asked for; returns a status."""
    workspace = arguments.workspace
    model, forces, rule, loop, log = arguments.model, arguments.forces, arguments.rule, workspace.loop, arguments.log
    active, found, following, event, work = (
        workspace.active,
        workspace.found,
        workspace.following,
        workspace.event,
        workspace.work,
    )
    now, count, grid = loop.now, loop.counters, log.grid
    until = grid[count[col.ASKED] - 1]
    lay_out(loop.y, work)
    if now[col.STEP] == 0.0:
        set_out(loop)
    while True:
        if not has_space(log, count, active):
            return col.LOG_FULL
        if count[col.PHASE] == STEPS_ON:
            if now[col.TIME] >= until:
                return col.DONE
            status = advance(model, forces, rule, loop, active, found, work, until)
            if (
                status == col.NO_STEP and count[col.ACTIVE] > 0
            ):  # forces without limit: `settle` looks for impulses instead
                now[col.LENGTH], now[col.REACHED], now[col.STEP] = 0.0, now[col.TIME], FIRST_STEP
                count[col.EVENT], count[col.CONDITION] = 1, DIVERGES
                count[col.RELEASED] = count[col.CLOSED_PAIR] = -1
            elif status != col.GOES_ON:
                return status
            count[col.PHASE] = SHOWS
        elif count[col.PHASE] == SHOWS:
            if count[col.SHOWN] < count[col.ASKED] and grid[count[col.SHOWN]] <= now[col.REACHED]:
                show(model, forces, loop, active, work, log, grid[count[col.SHOWN]])
                count[col.SHOWN] += 1
                continue
            if now[col.LENGTH] > 0.0:
                now[col.TIME] = now[col.REACHED]
                count[col.STEPS] += 1
                copy(loop.end, loop.y)
                project(model, loop.y, active, count[col.ACTIVE], work)
            count[col.PHASE] = STEPS_ON
            if count[col.EVENT] == 1:
                count[col.EVENT], count[col.PHASE] = 0, RESOLVES
                status = begin(model, rule, loop, active, work)
                if status != col.GOES_ON:
                    return status
        else:
            status, n = classify_event(model, forces, loop, active, found, event, work, log)
            if status == col.NEEDS_IMPULSES:
                status = bounce(model, rule, loop, found, n, event, work, log, still_of(loop.y))
                if status == col.GOES_ON:
                    status = apply_impacts(model, rule, loop, active, found, n, event, work, log, col.IMPACT)
            elif status == col.SETTLES:
                status = settle(model, forces, rule, loop, active, found, n, following, event, work, log)
            if status == col.DONE:
                now[col.LENGTH], now[col.REACHED], count[col.PHASE] = 0.0, now[col.TIME], SHOWS
            elif status != col.GOES_ON:
                return status


@kernel
def set_out(loop):
    """Before all time, of a room in which all but the state is zero."""
    now, count = loop.now, loop.counters
    now[col.STEP], now[col.LAST_EVENT] = FIRST_STEP, -1.0
    count[col.RELEASED] = count[col.CLOSED_PAIR] = -1
    for p in range(loop.passed.shape[0]):
        loop.impact_times[p, 0] = loop.impact_times[p, 1] = loop.passed[p] = -np.inf
    for p in range(loop.apart.shape[0]):
        loop.apart[p] = -1.0
    copy(loop.y, loop.end)


@kernel
def lay_out(y, work):
    """The fixed components of what the kernels work on, which they write nowhere else."""
    copy(y, work.state)
    copy(y, work.foreseen)
    for j in range(8):
        copy(y, work.bernstein[j])


@kernel
def advance(model, forces, rule, loop, active, found, work, until):
    """One step of the integrator, or the part of it up to the first event: LENGTH, REACHED, EVENT and its numbers."""
    now, count, y = loop.now, loop.counters, loop.y
    n, time = count[col.ACTIVE], now[col.TIME]
    longest = min(until, next_knot(forces, time)) - time
    start(model, forces, time, active, n, work, y)
    h = integrate(model, forces, rule, loop, active, work, longest)
    if h < 0.0:
        return col.NO_STEP
    whole = h == longest
    now[col.STILL] = still_of(y)
    allowance = GAP_ROUND_OFF * (1.0 + extent(model, y))
    closing, pair = first_closing(model, active, n, work, loop, h, allowance)
    release, released, condition = 2.0, np.int64(-1), np.int64(0)
    if n > 0:
        release, released, condition = first_release(
            model, forces, time, h, active, n, work, y, min(closing, 1.0), now[col.PULL], now[col.STILL], now[col.STEP]
        )
    fraction = min(closing, release)
    now[col.DENSE], again = h, fraction
    for _ in range(RELANDINGS):  # once; more where the shorter step's own dense output shows an earlier touch
        if again > 1.0:
            break
        if closing < release:
            h, anew = land(model, forces, rule, loop, active, found, work, now[col.DENSE], again, pair)
            if h < 0.0:
                return col.CONTACTS_FULL if h == -1.0 else col.OVERLAP
            if not anew:
                break
        else:
            h = again * now[col.DENSE]
            attempt(model, forces, time, active, n, work, y, h, rule.tolerance[0], loop.end)
            complete(model, forces, time, active, n, work, y, h)
            now[col.DENSE] = h
        again, other = first_closing(model, active, n, work, loop, now[col.DENSE], allowance)
        if h - again * now[col.DENSE] <= LANDED:
            break
        closing, pair, release = again, other, 2.0
    now[col.LENGTH] = h
    now[col.REACHED] = time + h
    if fraction > 1.0 and whole:
        now[col.REACHED] = time + longest if time + longest < until else until
    count[col.EVENT] = 1 if fraction <= 1.0 else 0
    count[col.RELEASED] = released if fraction <= 1.0 and release <= closing else -1
    count[col.CONDITION] = condition
    count[col.CLOSED_PAIR] = pair if fraction <= 1.0 and closing < release else -1
    return col.GOES_ON


@kernel
def integrate(model, forces, rule, loop, active, work, longest):
    """A step whose error is within the tolerance; its length [s], or -1 if there is none. The end is in loop.end.

    It ends where a slack rubber band gets taut, and where the drag of air has a kink.
    """
    now, n = loop.now, loop.counters[col.ACTIVE]
    if forces.bands.shape[0] > 0:
        now[col.STEP] = min(now[col.STEP], first_step_on_bands(forces, now[col.TIME], loop.y))
    if now[col.RETURN] > now[col.TIME]:  # a touch late in a step is found more exactly than one in its midst
        longest = min(longest, now[col.RETURN] - now[col.TIME])
    if forces.air[0] != 0.0:
        h = min(now[col.STEP], longest)
        longest = min(longest, first_turn(forces, loop.y, work.stages[0], h, rule.tolerance[0]))
    while True:
        h = min(now[col.STEP], longest)
        error = attempt(model, forces, now[col.TIME], active, n, work, loop.y, h, rule.tolerance[0], loop.end)
        if error <= 1.0:
            now[col.STEP] = max(now[col.STEP], h * next_factor(error)) if h < now[col.STEP] else h * next_factor(error)
            complete(model, forces, now[col.TIME], active, n, work, loop.y, h)
            fraction = 2.0
            if forces.bands.shape[0] > 0:
                fraction = first_taut(forces, now[col.TIME], h, loop.y, model.free, work)
            if fraction < 1.0:
                h *= fraction
                attempt(model, forces, now[col.TIME], active, n, work, loop.y, h, rule.tolerance[0], loop.end)
                complete(model, forces, now[col.TIME], active, n, work, loop.y, h)
            return h
        now[col.STEP] = h * min(0.9, next_factor(error)) if np.isfinite(error) else 0.1 * h
        if now[col.STEP] < SHORTEST:
            return -1.0


@kernel
def land(model, forces, rule, loop, active, found, work, whole, fraction, pair):
    """(length [s] of the step up to the touch of this pair, is it a step anew); -1: no space, -2: bodies overlap.

    The dense output of the step as it is, where it obeys the equations of motion; else the same step anew, up to there.
    What is left of the gap is closed by gap + rate s + acceleration s^2/2 = 0, which also a bounce not higher than
    the allowance obeys: along Taylor's series, or by a step anew where that would leave out too much. A graze without a
    root stays where it is, and so does one whose root is past another touch.
    """
    now, y, end, active_count, K = loop.now, loop.y, loop.end, loop.counters[col.ACTIVE], work.stages
    R = model.inv_mass.shape[0]
    piece_i, piece_j = pieces_of_pair(model, pair)
    h, made, near, change = whole * fraction, whole * fraction, NEAR, 0.0
    anew, size = False, 1.0 + extent(model, y)
    for check in range(DEFECT_CHECKS):
        x = fraction * (1.0 + check) / DEFECT_CHECKS
        off = defect(
            model, forces, now[col.TIME], active, active_count, work, y, whole, x, rule.tolerance[0], K[STAGES]
        )
        anew = anew or off > 1.0
        near = max(
            near, NEAR + 10.0 * off * rule.tolerance[0] * size
        )  # it is no derivative of poses that it has as twists
    stepped = anew
    copy(work.foreseen, end)
    for turn in range(8):
        if anew:
            made, stepped = h, True
            attempt(model, forces, now[col.TIME], active, active_count, work, y, h, rule.tolerance[0], end)
            if turn == 0:  # the shorter step differs from what the longer one foresaw, more at loose tolerances
                off = 0.0
                for c in range(3 * R):
                    off = max(off, abs(end[c] - work.foreseen[c]))
                near = NEAR + 10.0 * off
        project(model, end, active, active_count, work)
        n, at = find_contacts(model, end, near, found, work)
        if n == PENETRATING and turn == 0:
            loop.counters[col.CLOSED_PAIR] = at
            return -2.0, stepped
        if n == PENETRATING:
            h -= change
            made, stepped = h, True
            attempt(model, forces, now[col.TIME], active, active_count, work, y, h, rule.tolerance[0], end)
            break
        if n > found.id.shape[0]:
            return -1.0, stepped
        survey_accelerations(model, end, K[STAGES], found, n, work)
        change = np.inf
        for k in range(n):
            i, j = found.id[k, col.PIECE_I], found.id[k, col.PIECE_J]
            own = (i == piece_i and j == piece_j) or (i == piece_j and j == piece_i)
            gap, rate, b = work.geometry[k, col.GAP], work.geometry[k, col.RATE], work.b[2 * k]
            if (
                own
                and rate < 0.0
                and rate * rate > 2.0 * b * gap
                and matching_contact(active, active_count, found, k) < 0
            ):
                change = min(change, 2.0 * gap / (np.sqrt(rate * rate - 2.0 * b * gap) - rate))
        if change == np.inf or abs(change) <= 1e-16 * (1.0 + now[col.TIME]) or h + change <= 0.0:
            break
        h += change
        jerk = 0.0
        for c in range(3 * R, 6 * R):
            jerk = max(jerk, abs(K[STAGES, c] - K[0, c]) / made)
        anew = change * change * jerk > LEFT_OUT * rule.tolerance[0]
        if not anew:
            follow(model, end, K[STAGES], change)
    if stepped:
        complete(model, forces, now[col.TIME], active, active_count, work, y, made)
        now[col.DENSE] = made
    return h, stepped


@kernel
def follow(model, y, rate, time):
    """The state a little later, or sooner, by Taylor's series with the accelerations in `rate`."""
    half = y.shape[0] // 2
    for q in range(model.free.shape[0] // 2):
        c = model.free[q]
        y[c] += time * (y[half + c] + 0.5 * time * rate[half + c])
        y[half + c] += time * rate[half + c]


@entry
def query_contacts(model, y, found, work):
    """(contacts, pair) of `find_contacts` at the start, with their geometry."""
    n, pair = find_contacts(model, y, 0.0, found, work)
    for k in range(min(n, found.id.shape[0])):
        measure(model, y, found, k, work.geometry)
    return n, pair

"""The compiled loop: integrate with the contacts that hold, locate what ends the step, resolve it, go on.

It returns to Python only at the end, where it needs more space, and where time cannot go on; called again it goes on
where it was.
"""

import numpy as np

from reference_engine.compiler.kernels import entry, kernel
from reference_engine.dop853 import STAGES
from reference_engine.events import event_loop
from reference_engine.planar import layout as col
from reference_engine.planar.active_set import FIRST_STEP, settle
from reference_engine.planar.advancement import between, first_closing
from reference_engine.planar.impact import DIVERGES, bounce
from reference_engine.planar.layout import copy, pieces_of_pair
from reference_engine.planar.log import has_space, show
from reference_engine.planar.narrow_phase import PENETRATING, find_contacts, matching_contact
from reference_engine.planar.projection import GAP_ROUND_OFF, extent, project, still_of
from reference_engine.planar.release import SEARCH, first_release, margin
from reference_engine.planar.resolve import apply_impacts, begin, classify_event
from reference_engine.planar.rows import constrained_rate, measure, survey_accelerations
from reference_engine.planar.step import attempt, complete, defect, extrapolate, integrate
from reference_engine.planar_model.external import next_knot

EPSILON = 2.0**-52
NEAR = 1e-8  # m, where Newton's method closes the gap of a touch
RELANDINGS = 4
TURNS = 8  # of Newton's method on the time of a touch; two or three are needed
DEFECT_CHECKS = 2  # at the dense output up to a touch
LEFT_OUT = 0.1  # of the tolerance: a change of a velocity
LANDED = 1e-11  # s, a touch so little before the end of a step is the one that ended it
NO_SPACE, BODIES_OVERLAP = -1.0, -2.0  # for the length of a step


@kernel
def set_out(run):
    """At every call: the fixed components of what the kernels work on, which they write nowhere else; at the first, of
    a workspace in which all but the state is zero, what is not zero before all time."""
    loop, now = run.loop, run.loop.now
    copy(loop.y, run.work.state)
    copy(loop.y, run.work.foreseen)
    for j in range(8):
        copy(loop.y, run.work.bernstein[j])
    if now[col.STEP] == 0.0:
        now[col.STEP], now[col.LAST_EVENT], now[col.BEFORE_JUMP] = FIRST_STEP, -1.0, np.inf
        loop.counters[col.RELEASED] = loop.counters[col.CLOSED_PAIR] = -1
        for p in range(loop.passed.shape[0]):
            loop.impact_times[p, col.LAST] = loop.impact_times[p, col.BETWEEN] = loop.passed[p] = -np.inf
            loop.impact_times[p, col.LIMIT] = -np.inf
        for p in range(loop.apart.shape[0]):
            loop.apart[p] = -1.0
        copy(loop.y, loop.end)


@kernel
def step(run):
    """One step, or the part of it up to the first event. Where forces grow without limit there is none: an event."""
    now, count = run.loop.now, run.loop.counters
    status = advance(run)
    if status == col.NO_STEP and count[col.ACTIVE] > 0:  # `settle` looks for impulses instead
        now[col.LENGTH], now[col.REACHED], now[col.STEP] = 0.0, now[col.TIME], FIRST_STEP
        count[col.EVENT], count[col.CONDITION] = 1, DIVERGES
        count[col.RELEASED] = count[col.CLOSED_PAIR] = -1
        return col.GOES_ON
    return status


@kernel
def advance(run):
    """REACHED, LENGTH, EVENT and its numbers; or a failure."""
    model, loop, now, count = run.model, run.loop, run.loop.now, run.loop.counters
    time, until = now[col.TIME], run.log.grid[count[col.ASKED] - 1]
    knot = next_knot(run.forces, time)
    longest = min(until, knot) - time
    now[col.BEFORE_JUMP] = knot - EPSILON * max(1.0, abs(knot))
    constrained_rate(run, time, loop.y, run.work.stages[0])
    h = integrate(run, longest)
    if h < 0.0:
        return col.NO_STEP
    whole = h == longest
    now[col.STILL], now[col.DENSE] = still_of(loop.y), h
    now[col.ALLOWANCE] = GAP_ROUND_OFF * (1.0 + extent(model, loop.y))
    closing, pair = first_closing(run)
    release, released, condition = 2.0, np.int64(-1), np.int64(0)
    if count[col.ACTIVE] > 0:
        release, released, condition = first_release(run, min(closing, 1.0))
    fraction = again = min(closing, release)
    for _ in range(RELANDINGS):  # once; more where the shorter step's own dense output shows an earlier touch
        if again > 1.0:
            break
        if closing < release:
            h, anew = land(run, again, pair)
            if h < 0.0:
                return col.CONTACTS_FULL if h == NO_SPACE else col.OVERLAP
            if not anew:
                break
        else:
            h = again * now[col.DENSE]
            attempt(run, h)
            complete(run, h)
            now[col.DENSE] = h
        again, other = first_closing(run)
        if h - again * now[col.DENSE] <= LANDED:
            break
        closing, pair, release = again, other, 2.0
    now[col.LENGTH] = h
    now[col.REACHED] = time + h
    if fraction > 1.0 and whole:
        now[col.REACHED] = time + longest if time + longest < until else until
    count[col.EVENT] = 1 if fraction <= 1.0 or (whole and knot <= until and lets_go_after(run, knot)) else 0
    count[col.RELEASED] = released if fraction <= 1.0 and release <= closing else -1
    count[col.CONDITION] = condition
    count[col.CLOSED_PAIR] = pair if fraction <= 1.0 and closing < release else -1
    return col.GOES_ON


@kernel
def lets_go_after(run, time):
    """Does a contact not hold at the end of the step by the forces behind the jump at this time?"""
    now, before = run.loop.now, run.loop.now[col.BEFORE_JUMP]
    if run.loop.counters[col.ACTIVE] == 0:
        return False
    now[col.BEFORE_JUMP] = np.inf
    least, _, _ = margin(run, time, run.loop.end, SEARCH)
    now[col.BEFORE_JUMP] = before
    return least < 0.0


@kernel
def spacing(y, i, j):
    """m, half of what is between two numbers of the size of the positions of bodies i and j."""
    most = 0.0
    for c in range(2):
        most = max(most, max(abs(y[3 * i + c]), abs(y[3 * j + c])))
    return 0.5 * EPSILON * most


@kernel
def time_left(run, n, pair):
    """(time, gap): until the first new contact of this pair closes [s], infinite without one; what is left [m], beyond
    the spacing of its positions."""
    model, found, work, now, change, left = run.model, run.found, run.work, run.loop.now, np.inf, 0.0
    piece_i, piece_j = pieces_of_pair(model, pair)
    for k in range(n):
        own = between(found.id[k, col.PIECE_I], found.id[k, col.PIECE_J], piece_i, piece_j)
        gap, rate, b = work.geometry[k, col.GAP], work.geometry[k, col.RATE], work.b[2 * k]
        rests = rate >= -now[col.STILL] and abs(gap) <= now[col.ALLOWANCE]  # its root: round-off by round-off
        square = rate * rate - 2.0 * b * gap
        if gap < 0.0:  # it was closed a moment ago, whatever round-off leaves of a hop from there
            square = max(0.0, square)
        falls = own and rate < 0.0 and not rests and (square > 0.0 or gap < 0.0)
        if falls and matching_contact(run.active, run.loop.counters[col.ACTIVE], found, k) < 0:
            more = 2.0 * gap / (np.sqrt(square) - rate)
            if more < change:
                i, j = found.id[k, col.BODY_I], found.id[k, col.BODY_J]
                change, left = more, abs(gap) - spacing(run.loop.end, i, j)
    return change, left


@kernel
def land(run, fraction, pair):
    """(length [s] of the step up to the touch of this pair, is it a step anew); or a status below 0, of those below.

    The dense output of the step as it is, where it obeys the equations of motion; else the same step anew, up to there.
    What is left of the gap is closed by gap + rate s + acceleration s^2/2 = 0, which also a bounce not higher than
    the allowance obeys: along Taylor's series, or by a step anew where that would leave out too much. A graze without a
    root stays where it is, and so does one whose root is past another touch.
    """
    model, loop, active, found, work = run.model, run.loop, run.active, run.found, run.work
    now, y, end, active_count, K = loop.now, loop.y, loop.end, loop.counters[col.ACTIVE], work.stages
    R, whole, tolerance = model.inv_mass.shape[0], loop.now[col.DENSE], run.rule.tolerance[0]
    h, made, near, change, last = whole * fraction, whole * fraction, NEAR, 0.0, 0.0
    anew, size = False, 1.0 + extent(model, y)
    for check in range(DEFECT_CHECKS):
        x = fraction * (1.0 + check) / DEFECT_CHECKS
        off = defect(run, whole, x)
        anew = anew or off > 1.0
        near = max(near, NEAR + 10.0 * off * tolerance * size)  # the twists that it has are no derivatives of its poses
    stepped = anew
    copy(work.foreseen, end)
    for turn in range(TURNS):
        if anew:
            made, stepped = h, True
            attempt(run, h)
            if turn == 0:  # the shorter step differs from what the longer one foresaw, more at loose tolerances
                off = 0.0
                for c in range(3 * R):
                    off = max(off, abs(end[c] - work.foreseen[c]))
                near = NEAR + 10.0 * off
        project(model, end, active, active_count, work)
        n, at = find_contacts(model, end, near, found, work)
        if n == PENETRATING and turn == 0:
            loop.counters[col.CLOSED_PAIR] = at
            return BODIES_OVERLAP, stepped
        if n == PENETRATING:
            h -= change
            made, stepped = h, True
            attempt(run, h)
            break
        if n > found.id.shape[0]:
            return NO_SPACE, stepped
        survey_accelerations(model, end, K[STAGES], found, n, work)
        last = change
        change, left = time_left(run, n, pair)
        if change == np.inf or abs(change) <= 1e-16 * (1.0 + now[col.TIME]) or h + change <= 0.0:
            break
        if turn > 0 and (left <= 0.0 or abs(change) > 0.5 * abs(last)):  # time would go on, and positions would not
            break
        h += change
        jerk = 0.0
        for c in range(3 * R, 6 * R):
            jerk = max(jerk, abs(K[STAGES, c] - K[0, c]) / made)
        anew = change * change * jerk > LEFT_OUT * tolerance
        if anew and turn == TURNS - 1:  # the state is that of the time before
            h -= change
        elif not anew:
            extrapolate(model, end, K[STAGES], change)
    if stepped:
        complete(run, made)
        now[col.DENSE] = made
    return h, stepped


@kernel
def accept(run):
    """The state is the one at the end of the step, on its constraints; an event may begin there."""
    loop = run.loop
    if loop.now[col.LENGTH] > 0.0:
        copy(loop.end, loop.y)
        project(run.model, loop.y, run.active, loop.counters[col.ACTIVE], run.work)
    return begin(run) if loop.counters[col.EVENT] == 1 else col.GOES_ON


@kernel
def resolve(run):
    """Impulses where some approach, else what holds from here on: DONE then; GOES_ON: to be looked at again."""
    run.loop.now[col.BEFORE_JUMP] = np.inf
    status, n = classify_event(run)
    if status == col.NEEDS_IMPULSES:
        status = bounce(run, n, still_of(run.loop.y))
        if status == col.GOES_ON:
            status = apply_impacts(run, n, col.IMPACT)
    elif status == col.SETTLES:
        status = settle(run, n)
    return status


go_on = kernel(event_loop(step, accept, resolve, show, has_space, samples_first=True))


@entry
def run(arrays):
    """Goes on to the last time that is asked for; returns a status."""
    set_out(arrays)
    return go_on(arrays)


@entry
def query_contacts(model, y, found, work):
    """(contacts, pair) of `find_contacts` at the start, with their geometry."""
    n, pair = find_contacts(model, y, 0.0, found, work)
    for k in range(min(n, found.id.shape[0])):
        measure(model, y, found, k, work.geometry)
    return n, pair

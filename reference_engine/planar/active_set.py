"""Which contacts hold from an event on, and how; the ends of accumulations."""

import numpy as np

from reference_engine.compiler.kernels import kernel
from reference_engine.contact_problems import friction_modes as modes
from reference_engine.contact_problems.friction import INDETERMINATE as TWO_MOTIONS
from reference_engine.contact_problems.friction import NONE, SOLVED
from reference_engine.planar import layout as col
from reference_engine.planar import projection
from reference_engine.planar.impact import DIVERGES, blame, jam, load, solve
from reference_engine.planar.islands import divide
from reference_engine.planar.layout import copy, copy_contact, pieces_of_pair
from reference_engine.planar.log import note_event, note_pose, sample
from reference_engine.planar.narrow_phase import matching_contact
from reference_engine.planar.release import FORCE
from reference_engine.planar.resolve import apply_impacts, between, count_event, show_before
from reference_engine.planar.rows import delassus_diagonal, measure, survey_accelerations, survey_island
from reference_engine.planar_model.external import accelerate

STICKING_FACTOR = 4.0  # times the round-off of a rate: a slower slip is none
JAMMED = 100.0  # the same, where no forces exist while it slips: they stop it within 1e-11 s
MOST_CHANGE = 1e6  # of the energy that the least change has: more, and what is left out lies flat or jams
MOST_CHANGE_BY_STICKING = 1e4  # likewise, where it is what sticks that asks for it: then that slips
LESS = 1e-3  # of the change
MOST_GAIN = 1e12  # of the energy of the bounces: what stops them changes no more, or some are let go; piles have 1e6
NEUTRAL = 1e-11  # m/s^2, times 1 + the greatest acceleration: a contact on the point of parting
RELEASES = 4.0  # times that: how far a force is let go beyond what it can be before the contacts are looked at again
MOST_FADES = 8  # times at one time that bounces are left out; then they are not, because others contradict it
ENDLESS = 0.9999  # flights that dwindle by less than that do not come to an end
ROUNDED = 2.0**-52  # of 1 m and the extent of the scene: the round-off of a gap that is at rest
LOWEST = 200.0  # times that is the acceleration times the square of a flight: a lower bounce is the end of a series
FIRST_STEP = 1e-2  # s, after an event
BACK = 1.05  # flights after which what has parted is expected back, and well past the touch
CLEAR = 10.0  # times the round-off of a gap: so far past it, or a bounce that low would be over before it is seen


@kernel
def kind_of(found, k, slip, still):
    if found.id[k, col.ROLE] == col.JOINT:
        return modes.BILATERAL
    if found.id[k, col.ROLE] != col.CONTACT or found.value[k, col.STATIC_FRICTION] == 0.0:
        return modes.SMOOTH
    if abs(slip) <= still:
        return modes.STICKING
    return modes.SLIDING_PLUS if slip > 0.0 else modes.SLIDING_MINUS


@kernel
def resting(run, n, still, slip_tolerance, neutral):
    """Forces at the contacts whose gaps are at rest: event.mode, force, acceleration; GOES_ON.

    NEEDS_IMPULSES where there are none but impulses, or NO_FORCES. Of forces that grow without limit, the island with
    the hardest: impulses for that one.
    """
    model, found, work, force = run.model, run.found, run.work, run.event.force
    status, diverges = col.GOES_ON, run.loop.counters[col.CONDITION] == DIVERGES
    worst, most = np.int64(-1), -1.0
    for s in range(divide(model, found, n, work)):
        if status != col.GOES_ON:
            return status
        survey_island(model, found, s, work)
        status = resting_island(run, n, s, still, slip_tolerance, neutral, False)
        if diverges:
            acceleration = np.inf
            if status == col.GOES_ON:
                acceleration = 0.0
                for p in range(work.first_contact[s], work.first_contact[s + 1]):
                    k = work.order[p]
                    own = force[2 * k] * delassus_diagonal(model, found, k, work.geometry)
                    acceleration = max(acceleration, own)
            elif status == col.NO_FORCES:
                status = col.GOES_ON
            if acceleration > most:
                worst, most = np.int64(s), acceleration
    if diverges and status == col.GOES_ON and worst >= 0:
        survey_island(model, found, worst, work)
        status = resting_island(run, n, worst, still, slip_tolerance, neutral, True)
    return status


@kernel
def resting_island(run, n, s, still, slip_tolerance, neutral, diverges):
    """The part of `resting` that is for island s; if its forces diverge, impulses are looked for at once."""
    found, active, event, work = run.found, run.active, run.event, run.work
    G, problem, answer, m, first = work.geometry, event.problem, event.answer, np.int64(0), work.first_contact[s]
    own = work.first_contact[s + 1] - first
    for p in range(own):
        k = work.order[first + p]
        event.mode[k], event.force[2 * k], event.force[2 * k + 1] = modes.OPEN, 0.0, 0.0
        role = found.id[k, col.ROLE]
        if role != col.JOINT and G[k, col.RATE] > event.slow[k]:
            continue
        event.of[m] = k
        problem.kind[m] = kind_of(found, k, G[k, col.SLIP], slip_tolerance)
        problem.base[m] = 0.0
        was = matching_contact(active, run.loop.counters[col.ACTIVE], found, k)
        answer.mode[m], answer.f[2 * m], answer.f[2 * m + 1] = modes.CLOSED, 0.0, 0.0
        if was >= 0:
            answer.mode[m] = active.id[was, col.GUESS]
            answer.f[2 * m], answer.f[2 * m + 1] = active.value[was, col.FORCE_N], active.value[was, col.FORCE_T]
        m += 1
    run.loop.counters[col.WHY_ROWS] = m
    load(run, m)
    for r in range(m):
        k = event.of[r]
        problem.b[2 * r], problem.b[2 * r + 1] = work.b[2 * k], work.b[2 * k + 1]
        if problem.kind[r] == modes.SLIDING_PLUS or problem.kind[r] == modes.SLIDING_MINUS:
            drag = problem.friction[r] if problem.kind[r] == modes.SLIDING_PLUS else -problem.friction[r]
            if problem.A[2 * r, 2 * r] - drag * problem.A[2 * r, 2 * r + 1] <= 0.0:  # Painleve: parting, where it can
                answer.mode[r] = modes.OPEN
    outcome = NONE
    if not diverges:
        outcome, _ = solve(run, m, 0.25 * neutral)
    for r in range(m):
        k = event.of[r]
        event.mode[k] = answer.mode[r]
        event.force[2 * k], event.force[2 * k + 1] = answer.f[2 * r], answer.f[2 * r + 1]
        if outcome == SOLVED and answer.doubt[r] == TWO_MOTIONS:
            note_event(run, col.INDETERMINATE, run.loop.now[col.TIME], found, k)
    if outcome != SOLVED:
        if not diverges:
            blame_hardest(run, m)
            if run.loop.now[col.WHY_P] <= 0.0:
                return col.NO_FORCES
        return jam(run, n, m, still, diverges)
    for i in range(2 * own):
        row = 2 * work.order[first + i // 2] + i % 2
        a = work.b[row]
        for j in range(2 * own):
            a += work.A[i, j] * event.force[2 * work.order[first + j // 2] + j % 2]
        event.acceleration[row] = a
    return col.GOES_ON


@kernel
def blame_hardest(run, m):
    """The contact for which no forces exist: of those that slide the one with the least p, if that is none above 0."""
    p, now, worst = run.event.answer.p, run.loop.now, np.int64(0)
    for r in range(m):
        if p[r] < p[worst]:
            worst = np.int64(r)
    k = run.event.of[worst]
    blame(run, k)
    now[col.WHY_P], now[col.WHY_B] = p[worst], run.work.b[2 * k]


@kernel
def parted(loop, found, k, press):
    """A contact whose bodies have let go of one another now is not held by round-off of a force."""
    if press > loop.now[col.PULL]:
        return False
    for row in range(loop.counters[col.LET_GO]):
        if between(found.id[k, col.PIECE_I], found.id[k, col.PIECE_J], loop.let_go[row, 0], loop.let_go[row, 1]):
            return True
    return False


@kernel
def mode_from_here(found, event, k, slip, still, neutral):
    """What a contact that holds does. One that presses with no force slides as it moves, or sticks."""
    mode, role = event.mode[k], found.id[k, col.ROLE]
    if role != col.CONTACT or found.value[k, col.STATIC_FRICTION] == 0.0:
        return modes.CLOSED
    if modes.OPEN < mode < modes.SEPARATING:
        return mode
    motion = slip
    if abs(slip) <= still:
        motion = event.acceleration[2 * k + 1]
        if abs(motion) <= neutral:
            return modes.STICKS
    return modes.SLIPS_PLUS if motion > 0.0 else modes.SLIPS_MINUS


@kernel
def dwindling(loop, found, k, flight):
    """Each flight is to the last one as this is to that: by which factor.

    At one corner it is e; of a block that rocks from corner to corner it is that of its spins (Housner 1963), and where
    e is 1 friction may be what makes them dwindle.
    """
    last = loop.impact_times[found.id[k, col.PAIR], col.BETWEEN]
    if flight < last < np.inf:
        return flight / last
    return found.value[k, col.RESTITUTION]


@kernel
def limit_of(loop, pair, flight, ratio, blur):
    """When this flight, and those that dwindle after it by this ratio, are over [s]. blur [s]: round-off of the flight.

    What the geometric series leaves out falls with the square of the flight, and what round-off makes of its ratio
    rises: of the limits after each impact the last one holds that differs from the one before by more than that.
    """
    limit = loop.now[col.TIME] + flight / (1.0 - ratio)
    if abs(limit - loop.impact_times[pair, col.LIMIT]) > blur / (1.0 - ratio) ** 2:
        loop.impact_times[pair, col.LIMIT] = limit
    return loop.impact_times[pair, col.LIMIT]


@kernel
def leave_out(run, m):
    """The impulses that stop the bounces, with their friction; without it where what lies flat or jams has none such.

    The bounces that are left out take friction back that their first impact has had too much of. They cannot take back
    more than it had: the energy does not rise above what it was before the event. Returns how many contacts are
    stopped, which are the first of `following`.
    """
    model, loop, following, work = run.model, run.loop, run.following, run.work
    y, least, before = loop.y, work.state, work.foreseen
    copy(y, before)
    copy(y, least)
    projection.stop_rates(model, least, following, m, 0.0, work)
    bounces = bouncing_energy(model, following, m, work.geometry)
    least_change = projection.kinetic_energy(model, least, 1.0, before)
    if least_change > MOST_GAIN * bounces:
        return stop_independent(run, m)
    if least_change > MOST_CHANGE_BY_STICKING * bounces and slips_instead(run, m, least_change, before):
        return m
    projection.stop_by_impulses(model, y, following, m, work)
    change = projection.kinetic_energy(model, y, 1.0, before)
    if not (
        change <= MOST_CHANGE * least_change and projection.kinetic_energy(model, y, 0.0, y) <= loop.now[col.ENERGY]
    ):
        copy(least, y)
    return m


@kernel
def slips_instead(run, m, least_change, before):
    """Stops the bounces alone, if what sticks is why stopping both changes so much; whether that is so.

    Of a corner and a side that sticks, one above the other but for 1e-5 of the body, a rate of 1e-7 m/s is a spin of
    0.02 rad/s. To stop that takes a friction out of its cone.
    """
    model, y, following, stuck = run.model, run.loop.y, run.following, run.event.mode
    for k in range(m):
        stuck[k] = following.id[k, col.MODE]
        if stuck[k] == modes.STICKS:
            following.id[k, col.MODE] = modes.CLOSED
    projection.stop_rates(model, y, following, m, 0.0, run.work)
    if projection.kinetic_energy(model, y, 1.0, before) < LESS * least_change:
        return True
    copy(before, y)
    for k in range(m):
        following.id[k, col.MODE] = stuck[k]
    return False


@kernel
def bouncing_energy(model, contacts, m, G):
    """Of the rates of the first m contacts in G, each as if it were alone [J]."""
    total = 0.0
    for k in range(m):
        if contacts.id[k, col.ROLE] != col.JOINT:
            total += 0.5 * G[k, col.RATE] ** 2 / delassus_diagonal(model, contacts, k, G)
    return total


@kernel
def stop_independent(run, m):
    """Stops the bounces but those that the others as good as decide: of a corner under a pin, at an arm of 1e-10 m.

    Its rate is that of a spin at this arm. Bounces so slow do not end the spin, as stopping it would. It is let go; an
    approach so slow is none until the event is over, and slip so slow is stopped. Returns how many contacts are
    stopped, likewise.
    """
    loop, following, G, stopped = run.loop, run.following, run.work.geometry, np.int64(0)
    for turn in range(2):
        projection.stop_rates(run.model, loop.y, following, m, projection.NEARLY**2, run.work)
        still = projection.still_of(loop.y)
        slow = still
        for k in range(m):
            measure(run.model, loop.y, following, k, G)
            slow = max(slow, abs(G[k, col.RATE]))
        for k in range(m):
            rough = following.id[k, col.ROLE] == col.CONTACT and following.value[k, col.STATIC_FRICTION] > 0.0
            if turn == 0 and rough and abs(G[k, col.SLIP]) <= slow:
                following.id[k, col.MODE] = modes.STICKS
            elif turn == 1 and (following.id[k, col.ROLE] == col.JOINT or abs(G[k, col.RATE]) <= still):
                copy_contact(following.id, following.value, k, following, stopped)
                stopped += 1
            elif turn == 1:
                loop.now[col.SLACK] = max(loop.now[col.SLACK], still - G[k, col.RATE])
    return stopped


@kernel
def settle(run, n):
    """Which of the contacts hold from here on, and how; DONE, or GOES_ON after the end of an accumulation."""
    model, loop, found, following, event, work = run.model, run.loop, run.found, run.following, run.event, run.work
    now, count, y, G = loop.now, loop.counters, loop.y, work.geometry
    accelerate(run.forces, now[col.TIME], y, model.inv_mass.shape[0], work.rate)
    survey_accelerations(model, y, work.rate, found, n, work)
    still, scale = projection.still_of(y), 1.0
    for k in range(2 * n):
        scale = max(scale, 1.0 + abs(work.b[k]))
    neutral = NEUTRAL * scale
    now[col.PULL] = RELEASES * neutral
    status = resting(run, n, still, STICKING_FACTOR * still, neutral)
    if count[col.CONDITION] == DIVERGES:
        count[col.CONDITION] = FORCE
        if status == col.NO_FORCES:
            return col.NO_STEP
    elif status == col.NO_FORCES:
        status = resting(run, n, still, JAMMED * still, neutral)
        if status == col.NO_FORCES and now[col.WHY_P] > 0.0:  # or forces so great that their round-off hides them
            count[col.CONDITION] = DIVERGES
            status = resting(run, n, still, STICKING_FACTOR * still, neutral)
            count[col.CONDITION] = FORCE
    if status == col.NEEDS_IMPULSES:
        show_before(run, n)
        return apply_impacts(run, n, col.JAMS)
    if status != col.GOES_ON:
        return status
    m, fading, back, clear = (
        np.int64(0),
        False,
        np.inf,
        CLEAR * projection.GAP_ROUND_OFF * (1.0 + projection.extent(model, y)),
    )
    for k in range(n):
        role, a, rate = found.id[k, col.ROLE], event.acceleration[2 * k], G[k, col.RATE]
        joins = role == col.JOINT
        if not joins and rate <= event.slow[k]:
            press = event.force[2 * k] * delassus_diagonal(model, found, k, G)
            joins = (event.mode[k] != modes.OPEN or a <= neutral) and not parted(loop, found, k, press)
        elif not joins and a < 0.0:
            flight, rounded = -2.0 * rate / a, ROUNDED * (1.0 + projection.extent(model, y))
            ratio = dwindling(loop, found, k, flight)
            if ratio < ENDLESS:
                limit = limit_of(loop, found.id[k, col.PAIR], flight, ratio, 4.0 * rounded / (-a * flight))
                low = -a * flight * flight < LOWEST * rounded
                if (flight < run.rule.cutoff[0] or low) and count[col.FADED] < MOST_FADES:
                    note_event(run, col.ACCUMULATION, limit, found, k)
                    joins = fading = True
        if not joins and a < 0.0 and rate > event.slow[k] and -2.0 * rate * rate / a * (BACK - 1.0) > clear:
            back = min(back, -2.0 * rate / a)
        if joins:
            copy_contact(found.id, found.value, k, following, m)
            following.id[m, col.MODE] = following.id[m, col.GUESS] = mode_from_here(
                found, event, k, G[k, col.SLIP], STICKING_FACTOR * still, neutral
            )
            following.id[m, col.PRESSES] = 1 if role == col.JOINT or event.force[2 * k] != 0.0 else 0
            following.id[m, col.HAS_FRICTION] = 1 if event.force[2 * k + 1] != 0.0 else 0
            following.value[m, col.FORCE_N] = event.force[2 * k]
            following.value[m, col.FORCE_T] = event.force[2 * k + 1]
            event.of[m] = k
            m += 1
    if fading:  # bounces that are left out press less than the weight by what they begin with: as if e were 0 just now
        if count[col.FADED] == 0:
            copy(y, loop.end)
        for k in range(m):
            if loop.impact_times[following.id[k, col.PAIR], col.LAST] != now[col.TIME]:
                following.id[k, col.MODE] = modes.CLOSED if following.id[k, col.MODE] != modes.STICKS else modes.STICKS
        count[col.FADED] += 1
        m = leave_out(run, m)
        projection.project(model, y, following, m, work)
        projection.separate(model, y, found, n, work)
        return count_event(run)
    if log_changes(run, m, STICKING_FACTOR * still, neutral):
        now[col.STEP] = min(now[col.STEP], FIRST_STEP)
    take_over(run, m, n)
    now[col.RETURN] = now[col.TIME] + BACK * back if back < np.inf else 0.0
    if count[col.IMPULSES_APPLIED] == 1:
        sample(run, now[col.TIME], y)
    else:
        note_pose(run)
    return col.DONE


@kernel
def moves(mode, slip, a_t, still, neutral):
    """Does a contact with friction slide?"""
    if mode in (modes.STICKS, modes.CLOSED):
        return False
    return abs(slip) > still or abs(a_t) > neutral


@kernel
def turned(active, was, mode):
    """Did a contact that slid begin to slide the other way?"""
    before = active.id[was, col.MODE]
    return (before == modes.SLIPS_PLUS and mode == modes.SLIPS_MINUS) or (
        before == modes.SLIPS_MINUS and mode == modes.SLIPS_PLUS
    )


@kernel
def log_changes(run, m, still, neutral):
    """Made, broken, stick, slip, indeterminate; whether the set of contacts is another one."""
    active, following, event, G = run.active, run.following, run.event, run.work.geometry
    time, count = run.loop.now[col.TIME], run.loop.counters
    changed = count[col.ACTIVE] != m
    for k in range(m):
        contact = event.of[k]
        mode, was = following.id[k, col.MODE], matching_contact(active, count[col.ACTIVE], following, k)
        slides = moves(mode, G[contact, col.SLIP], event.acceleration[2 * contact + 1], still, neutral)
        following.id[k, col.SLIDES] = 1 if slides else 0
        if was < 0:
            changed = True
            if following.id[k, col.ROLE] != col.JOINT:
                note_event(run, col.MADE, time, run.found, contact)
        else:
            changed = changed or active.id[was, col.MODE] != mode
            if active.id[was, col.SLIDES] == 1 and not slides:
                note_event(run, col.STICK, time, run.found, contact)
            elif (
                slides
                and following.id[k, col.ROLE] == col.CONTACT
                and (active.id[was, col.SLIDES] == 0 or turned(active, was, mode))
            ):
                note_event(run, col.SLIDE, time, run.found, contact)
    for k in range(count[col.ACTIVE]):
        if matching_contact(following, m, active, k) < 0:
            changed = True
            measure(run.model, run.loop.y, active, k, G)
            note_event(run, col.BROKEN, time, active, k)
    return changed


@kernel
def take_over(run, m, n):
    """What has been decided holds from here on."""
    model, loop, active, found, following = run.model, run.loop, run.active, run.found, run.following
    work, count = run.work, run.loop.counters
    pair, new = count[col.CLOSED_PAIR], False
    if pair >= 0:
        i, j = pieces_of_pair(model, pair)
        for k in range(n):
            if between(found.id[k, col.PIECE_I], found.id[k, col.PIECE_J], i, j):
                new = new or matching_contact(active, count[col.ACTIVE], found, k) < 0
    for k in range(m):
        copy_contact(following.id, following.value, k, active, k)
    count[col.ACTIVE] = m
    projection.project(model, loop.y, active, m, work)
    projection.separate(
        model, loop.y, found, n, work
    )  # what closes a gap of 1e-13 m may press the far end of a rod by more
    count[col.CLOSED_PAIR] = -1
    if pair >= 0 and not new:  # within round-off of a corner, and over no edge yet: time goes on a little
        loop.passed[pair] = loop.now[col.TIME]

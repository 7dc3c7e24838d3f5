"""Which places hold from an instant on, and how; the ends of accumulations."""

import numpy as np

from reference_engine.compiler.kernels import kernel
from reference_engine.contact_problems.friction import INDETERMINATE as TWO_MOTIONS
from reference_engine.contact_problems.friction import NONE, SOLVED
from reference_engine.contact_problems.friction_modes import (
    GRIPPING,
    OPEN,
    PARTS,
    SLIDING_MINUS,
    SLIDING_PLUS,
    SLIPS_MINUS,
    SLIPS_PLUS,
    SMOOTH,
    STICKS,
)
from reference_engine.contact_problems.friction_modes import HELD as PRESSES_ONLY
from reference_engine.contact_problems.friction_modes import JOINT as BILATERAL
from reference_engine.planar.impact import load, solve
from reference_engine.planar.islands import divide
from reference_engine.planar.jam import DIVERGES, jam
from reference_engine.planar.layout import (
    ACCUMULATION,
    BODY_I,
    BODY_J,
    BROKEN,
    CONDITION,
    DONE,
    ENERGY,
    FADED,
    FORCE_N,
    FORCE_T,
    GOES_ON,
    GRIPS,
    GUESS,
    HELD,
    INDETERMINATE,
    JAMS,
    JOINT,
    LET_GO,
    MADE,
    MODE,
    NO_FORCES,
    NO_STEP,
    PAIR,
    PART_I,
    PART_J,
    PRESSES,
    PULL,
    RATE,
    RESTITUTION,
    RETURN,
    ROLE,
    SLIDE,
    SLIDES,
    SLIP,
    STATIC_FRICTION,
    STEP,
    STICK,
    STRIKES,
    STRUCK,
    TIME,
    TOUCHED,
    TOUCHES,
    WHY_B,
    WHY_I,
    WHY_J,
    WHY_P,
    copy,
    copy_place,
    parts_of_pair,
)
from reference_engine.planar.log import note_event, note_instant, sample
from reference_engine.planar.narrow_phase import place_among
from reference_engine.planar.projection import (
    ALLOWANCE,
    extent,
    kinetic_energy,
    project,
    separate,
    still_of,
    stop_by_blows,
    stop_rates,
)
from reference_engine.planar.release import FORCE
from reference_engine.planar.resolve import between, count_event, show_before, strike_all
from reference_engine.planar.rows import measure, stiffness, survey_accelerations, survey_island
from reference_engine.planar_model.external import accelerate

GRIP = 4.0  # times the round-off of a rate: a slower slip is none
JAMMED = 100.0  # the same, where no forces exist while it slips: they stop it within 1e-11 s
MOST_CHANGE = 1e6  # of the energy that the least change has: more, and what is left out lies flat or jams
NEUTRAL = 1e-11  # m/s^2, times 1 + the greatest acceleration: a place on the point of parting
RELEASES = 4.0  # times that: how far a force is let go beyond what it can be before the places are looked at again
MOST_FADES = 8  # times at one instant that bounces are left out; then they are not, because others contradict it
ENDLESS = 0.9999  # flights that dwindle by less than that do not come to an end
FIRST_STEP = 1e-2  # s, after an event
BACK = 1.05  # flights after which what has parted is expected back, and well past the touch
CLEAR = 10.0  # times the round-off of a gap: so far past it, or a bounce that low would be over before it is seen


@kernel
def kind_of(found, k, slip, still):
    if found.id[k, ROLE] == JOINT:
        return BILATERAL
    if found.id[k, ROLE] != TOUCHES or found.figure[k, STATIC_FRICTION] == 0.0:
        return SMOOTH
    if abs(slip) <= still:
        return GRIPPING
    return SLIDING_PLUS if slip > 0.0 else SLIDING_MINUS


@kernel
def resting(solids, clock, found, n, held, instant, work, log, still, grip, neutral):
    """Forces at the touching places whose gaps are at rest: instant.mode, force, acceleration; GOES_ON.

    STRIKES where there are none but impulses, or NO_FORCES. Of forces that grow without limit, the island with the
    hardest: impulses for that one.
    """
    status, diverges = GOES_ON, clock.tally[CONDITION] == DIVERGES
    worst, most = np.int64(-1), -1.0
    for s in range(divide(solids, found, n, work)):
        if status != GOES_ON:
            return status
        survey_island(solids, found, s, work)
        status = resting_island(clock, found, n, s, held, instant, work, log, still, grip, neutral, False)
        if diverges:
            push = np.inf
            if status == GOES_ON:
                push = 0.0
                for p in range(work.first_place[s], work.first_place[s + 1]):
                    k = work.order[p]
                    push = max(push, instant.force[2 * k] * stiffness(solids, found, k, work.geometry))
            elif status == NO_FORCES:
                status = GOES_ON
            if push > most:
                worst, most = np.int64(s), push
    if diverges and status == GOES_ON and worst >= 0:
        survey_island(solids, found, worst, work)
        status = resting_island(clock, found, n, worst, held, instant, work, log, still, grip, neutral, True)
    return status


@kernel
def resting_island(clock, found, n, s, held, instant, work, log, still, grip, neutral, diverges):
    """The part of `resting` that is for island s; if its forces diverge, impulses are looked for at once."""
    G, problem, answer, m = work.geometry, instant.problem, instant.answer, np.int64(0)
    first = work.first_place[s]
    own = work.first_place[s + 1] - first
    for p in range(own):
        k = work.order[first + p]
        instant.mode[k], instant.force[2 * k], instant.force[2 * k + 1] = OPEN, 0.0, 0.0
        role = found.id[k, ROLE]
        if role != JOINT and G[k, RATE] > instant.slow[k]:
            continue
        instant.of[m] = k
        problem.kind[m] = kind_of(found, k, G[k, SLIP], grip)
        problem.base[m] = 0.0
        was = place_among(held, clock.tally[HELD], found, k)
        answer.mode[m], answer.f[2 * m], answer.f[2 * m + 1] = PRESSES_ONLY, 0.0, 0.0
        if was >= 0:
            answer.mode[m] = held.id[was, GUESS]
            answer.f[2 * m], answer.f[2 * m + 1] = held.figure[was, FORCE_N], held.figure[was, FORCE_T]
        m += 1
    load(found, m, instant, work)
    for r in range(m):
        k = instant.of[r]
        problem.b[2 * r], problem.b[2 * r + 1] = work.b[2 * k], work.b[2 * k + 1]
        if problem.kind[r] == SLIDING_PLUS or problem.kind[r] == SLIDING_MINUS:
            drag = problem.friction[r] if problem.kind[r] == SLIDING_PLUS else -problem.friction[r]
            if problem.A[2 * r, 2 * r] - drag * problem.A[2 * r, 2 * r + 1] <= 0.0:  # Painleve: parting, where it can
                answer.mode[r] = OPEN
    outcome = NONE
    if not diverges:
        outcome, _ = solve(clock, found, m, 0.25 * neutral, instant, work, log)
    for r in range(m):
        k = instant.of[r]
        instant.mode[k] = answer.mode[r]
        instant.force[2 * k], instant.force[2 * k + 1] = answer.f[2 * r], answer.f[2 * r + 1]
        if outcome == SOLVED and answer.doubt[r] == TWO_MOTIONS:
            note_event(clock, log, INDETERMINATE, clock.now[TIME], clock.y, found, k, G)
    if outcome != SOLVED:
        if not diverges:
            blame(clock, found, m, instant, work)
            if clock.now[WHY_P] <= 0.0:
                return NO_FORCES
        return jam(found, n, m, instant, work, still, diverges)
    for i in range(2 * own):
        row = 2 * work.order[first + i // 2] + i % 2
        a = work.b[row]
        for j in range(2 * own):
            a += work.A[i, j] * instant.force[2 * work.order[first + j // 2] + j % 2]
        instant.acceleration[row] = a
    return GOES_ON


@kernel
def blame(clock, found, m, instant, work):
    """The place for which no forces exist: of those that slide the one with the least p, if that is none above 0."""
    worst = np.int64(0)
    for r in range(m):
        if instant.answer.p[r] < instant.answer.p[worst]:
            worst = np.int64(r)
    k = instant.of[worst]
    clock.tally[WHY_I], clock.tally[WHY_J] = found.id[k, BODY_I], found.id[k, BODY_J]
    clock.now[WHY_P], clock.now[WHY_B] = instant.answer.p[worst], work.b[2 * k]


@kernel
def parted(clock, found, k, press):
    """A place whose bodies have let go of one another at this instant is not held by round-off of a force."""
    if press > clock.now[PULL]:
        return False
    for row in range(clock.tally[LET_GO]):
        if between(found.id[k, PART_I], found.id[k, PART_J], clock.let_go[row, 0], clock.let_go[row, 1]):
            return True
    return False


@kernel
def mode_from_here(found, instant, k, slip, still, neutral):
    """What a place that holds does. One that presses with no force slides as it moves, or sticks."""
    mode, role = instant.mode[k], found.id[k, ROLE]
    if role != TOUCHES or found.figure[k, STATIC_FRICTION] == 0.0:
        return PRESSES_ONLY
    if OPEN < mode < PARTS:
        return mode
    motion = slip
    if abs(slip) <= still:
        motion = instant.acceleration[2 * k + 1]
        if abs(motion) <= neutral:
            return STICKS
    return SLIPS_PLUS if motion > 0.0 else SLIPS_MINUS


@kernel
def dwindling(clock, found, k, flight):
    """Each flight is to the last one as this is to that: by which factor.

    At one corner it is e; of a block that rocks from corner to corner it is that of its spins (Housner 1963), and where
    e is 1 friction may be what makes them dwindle.
    """
    last = clock.struck[found.id[k, PAIR], 1]
    if flight < last < np.inf:
        return flight / last
    return found.figure[k, RESTITUTION]


@kernel
def leave_out(solids, clock, following, m, work):
    """The impulses that stop the bounces, with their friction; without it where what lies flat or jams has none such.

    The bounces that are left out take friction back that their first impact has had too much of. They cannot take back
    more than it had: the energy does not rise above what it was before the instant.
    """
    y, least, before = clock.y, work.state, work.foreseen
    copy(y, before)
    copy(y, least)
    stop_rates(solids, least, following, m, work)
    stop_by_blows(solids, y, following, m, work)
    change = kinetic_energy(solids, y, 1.0, before)
    if not (
        change <= MOST_CHANGE * kinetic_energy(solids, least, 1.0, before)
        and kinetic_energy(solids, y, 0.0, y) <= clock.now[ENERGY]
    ):
        copy(least, y)


@kernel
def settle(solids, forces, rule, clock, held, found, n, following, instant, work, log):
    """Which of the touching places hold from here on, and how; DONE, or GOES_ON after the end of an accumulation."""
    now, count, y, G = clock.now, clock.tally, clock.y, work.geometry
    accelerate(forces, now[TIME], y, solids.inv_mass.shape[0], work.rate)
    survey_accelerations(solids, y, work.rate, found, n, work)
    still, scale = still_of(y), 1.0
    for k in range(2 * n):
        scale = max(scale, 1.0 + abs(work.b[k]))
    neutral = NEUTRAL * scale
    now[PULL] = RELEASES * neutral
    status = resting(solids, clock, found, n, held, instant, work, log, still, GRIP * still, neutral)
    if count[CONDITION] == DIVERGES:
        count[CONDITION] = FORCE
        if status == NO_FORCES:
            return NO_STEP
    elif status == NO_FORCES:
        status = resting(solids, clock, found, n, held, instant, work, log, still, JAMMED * still, neutral)
        if status == NO_FORCES and now[WHY_P] > 0.0:  # or forces so great that their round-off hides them
            count[CONDITION] = DIVERGES
            status = resting(solids, clock, found, n, held, instant, work, log, still, GRIP * still, neutral)
            count[CONDITION] = FORCE
    if status == STRIKES:
        show_before(solids, forces, clock, held, found, n, work, log)
        return strike_all(solids, rule, clock, held, found, n, instant, work, log, JAMS)
    if status != GOES_ON:
        return status
    m, fading, back, clear = np.int64(0), False, np.inf, CLEAR * ALLOWANCE * (1.0 + extent(solids, y))
    for k in range(n):
        role, a, rate = found.id[k, ROLE], instant.acceleration[2 * k], G[k, RATE]
        holds = role == JOINT
        if not holds and rate <= instant.slow[k]:
            press = instant.force[2 * k] * stiffness(solids, found, k, G)
            holds = (instant.mode[k] != OPEN or a <= neutral) and not parted(clock, found, k, press)
        elif not holds and a < 0.0 and -2.0 * rate / a < rule.cutoff[0] and count[FADED] < MOST_FADES:
            flight = -2.0 * rate / a
            ratio = dwindling(clock, found, k, flight)
            if ratio < ENDLESS:
                note_event(clock, log, ACCUMULATION, now[TIME] + flight / (1.0 - ratio), y, found, k, G)
                holds = fading = True
        if not holds and a < 0.0 and rate > instant.slow[k] and -2.0 * rate * rate / a * (BACK - 1.0) > clear:
            back = min(back, -2.0 * rate / a)
        if holds:
            copy_place(found.id, found.figure, k, following, m)
            following.id[m, MODE] = following.id[m, GUESS] = mode_from_here(
                found, instant, k, G[k, SLIP], GRIP * still, neutral
            )
            following.id[m, PRESSES] = 1 if role == JOINT or instant.force[2 * k] != 0.0 else 0
            following.id[m, GRIPS] = 1 if instant.force[2 * k + 1] != 0.0 else 0
            following.figure[m, FORCE_N], following.figure[m, FORCE_T] = instant.force[2 * k], instant.force[2 * k + 1]
            instant.of[m] = k
            m += 1
    if fading:  # bounces that are left out press less than the weight by what they begin with: as if e were 0 just now
        for k in range(m):
            if clock.struck[following.id[k, PAIR], 0] != now[TIME]:
                following.id[k, MODE] = PRESSES_ONLY if following.id[k, MODE] != STICKS else STICKS
        count[FADED] += 1
        leave_out(solids, clock, following, m, work)
        project(solids, y, following, m, work)
        separate(solids, y, found, n, work)
        return count_event(clock, rule, held)
    if log_changes(solids, clock, found, held, following, m, instant, work, log, GRIP * still, neutral):
        now[STEP] = min(now[STEP], FIRST_STEP)
    take_over(solids, clock, held, following, m, n, found, work)
    now[RETURN] = now[TIME] + BACK * back if back < np.inf else 0.0
    if count[STRUCK] == 1:
        sample(solids, forces, now[TIME], clock, held, work, log, y)
    else:
        note_instant(clock, log)
    return DONE


@kernel
def moves(mode, slip, a_t, still, neutral):
    """Does a place with friction slide?"""
    if mode in (STICKS, PRESSES_ONLY):
        return False
    return abs(slip) > still or abs(a_t) > neutral


@kernel
def turned(held, was, mode):
    """Did a place that slid begin to slide the other way?"""
    before = held.id[was, MODE]
    return (before == SLIPS_PLUS and mode == SLIPS_MINUS) or (before == SLIPS_MINUS and mode == SLIPS_PLUS)


@kernel
def log_changes(solids, clock, found, held, following, m, instant, work, log, still, neutral):
    """Made, broken, stick, slip, indeterminate; whether the set of places is another one."""
    now, count, y, G, changed = clock.now, clock.tally, clock.y, work.geometry, clock.tally[HELD] != m
    for k in range(m):
        place = instant.of[k]
        mode, was = following.id[k, MODE], place_among(held, count[HELD], following, k)
        slides = moves(mode, G[place, SLIP], instant.acceleration[2 * place + 1], still, neutral)
        following.id[k, SLIDES] = 1 if slides else 0
        if was < 0:
            changed = True
            if following.id[k, ROLE] != JOINT:
                note_event(clock, log, MADE, now[TIME], y, found, place, G)
        else:
            changed = changed or held.id[was, MODE] != mode
            if held.id[was, SLIDES] == 1 and not slides:
                note_event(clock, log, STICK, now[TIME], y, found, place, G)
            elif slides and following.id[k, ROLE] == TOUCHES and (held.id[was, SLIDES] == 0 or turned(held, was, mode)):
                note_event(clock, log, SLIDE, now[TIME], y, found, place, G)
    for k in range(count[HELD]):
        if place_among(following, m, held, k) < 0:
            changed = True
            measure(solids, y, held, k, G)
            note_event(clock, log, BROKEN, now[TIME], y, held, k, G)
    return changed


@kernel
def take_over(solids, clock, held, following, m, n, found, work):
    """What has been decided holds from here on."""
    count = clock.tally
    pair, new = count[TOUCHED], False
    if pair >= 0:
        i, j = parts_of_pair(solids, pair)
        for k in range(n):
            if between(found.id[k, PART_I], found.id[k, PART_J], i, j):
                new = new or place_among(held, count[HELD], found, k) < 0
    for k in range(m):
        copy_place(following.id, following.figure, k, held, k)
    count[HELD] = m
    project(solids, clock.y, held, m, work)
    separate(solids, clock.y, found, n, work)  # what closes a gap of 1e-13 m may press the far end of a rod by more
    count[TOUCHED] = -1
    if pair >= 0 and not new:  # within round-off of a corner, and over no edge yet: time goes on a little
        clock.passed[pair] = clock.now[TIME]

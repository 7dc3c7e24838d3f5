"""Impact laws, and impulses where no forces exist. u: rates of the gaps and slips before it; u + A j: after it.

`Settings.impact_law` and `.impact_order` say which; between the tangential impulse and the slip after the
impact there is Coulomb's law, with joints in the same problem.

newton    0 <= j_n  perp  u_n+ + e u_n >= 0; e where bodies approach, 0 where they rest or part (Moreau 1988)
poisson   compression to u_n+ >= 0 by j_c; then restitution by e j_c, or more where bodies would else approach; friction
          obeys Coulomb's law in both phases, each with its own slip at its end (Glocker & Pfeiffer 1995)
"""

import numpy as np

from reference_engine.compiler.kernels import kernel
from reference_engine.contact_problems.friction import SOLVED, solve_friction
from reference_engine.contact_problems.friction_modes import BILATERAL, SMOOTH, STICKING
from reference_engine.contact_problems.friction_modes import CLOSED as PRESSES_ONLY
from reference_engine.planar import layout as col
from reference_engine.planar.islands import divide
from reference_engine.planar.log import note_event
from reference_engine.planar.rows import survey_island

NEWTON = 0  # of settings.IMPACT_LAWS
SIMULTANEOUS = 0  # of settings.IMPACT_ORDERS
ENERGY_ROUND_OFF = 1e-13  # of the work of an impulse: an elastic impact keeps the energy to so much
HALVINGS = 30  # of the interval in which the factor of e is looked for
MOST_IMPACTS = 1000  # for each contact, in sequential order
LOOSE = 100.0  # times what is allowed, at a second attempt, which is reported
FULL_E, LOWERED_E, COMPRESSION, RESTORATION, ENOUGH = (np.int64(k) for k in range(5))  # what an impact is solved for
DIVERGES = np.int64(4)  # a condition beside those of `release`: forces grow without limit
DISPLACED = 1e5  # times the round-off of a rate: the greatest of d b, at first
TRIES = 5  # each with a tenth of the d before, until its modes are those of the limit
LONGER = 3  # more, each with ten times the d before: great forces that exist yet may take so long to stop the slip
NOW, LOW, HIGH, TURN = range(4)  # of EventWork.factor


@kernel
def load(run, m):
    """A and the laws of friction of the contacts event.of[:m], of one island, as rows of the problem."""
    found, event, work, problem = run.found, run.event, run.work, run.event.problem
    for r in range(m):
        k = event.of[r]
        problem.friction[r] = found.value[k, col.FRICTION]
        problem.static_friction[r] = found.value[k, col.STATIC_FRICTION]
        for c in range(m):
            own, other = 2 * work.at[k], 2 * work.at[event.of[c]]
            for s in range(2):
                problem.A[2 * r + s, 2 * c] = work.A[own + s, other]
                problem.A[2 * r + s, 2 * c + 1] = work.A[own + s, other + 1]


@kernel
def solve(run, m, allowed):
    """Forces or impulses at the contacts event.of[:m], from the guess in the answer. Returns (outcome, violation).

    What is found only at the second, looser attempt is an event, at the contact where it is off by most.
    """
    event = run.event
    problem, answer, scratch, lemke_work = event.problem, event.answer, event.workspace, event.lemke_work
    outcome, violation, _ = solve_friction(problem, m, allowed, answer, scratch, lemke_work)
    if outcome != SOLVED:
        outcome, violation, _ = solve_friction(problem, m, LOOSE * allowed, answer, scratch, lemke_work)
        if outcome == SOLVED:
            worst = np.int64(0)
            for r in range(m):
                if scratch.excess[r] > scratch.excess[worst]:
                    worst = np.int64(r)
            note_event(run, col.INEXACT, run.loop.now[col.TIME], run.found, event.of[worst])
    run.loop.now[col.RESIDUAL] = max(run.loop.now[col.RESIDUAL], violation / allowed)
    return outcome, violation


@kernel
def kind_at_impact(found, k):
    """Static friction is for bodies at rest: an impact knows `friction` alone."""
    if found.id[k, col.ROLE] == col.JOINT:
        return BILATERAL
    return STICKING if found.id[k, col.ROLE] == col.CONTACT and found.value[k, col.FRICTION] > 0.0 else SMOOTH


@kernel
def approach(run, m, speed, factor):
    """The problem of one impulse with e lowered by a factor. speed (2 N,): rates and slips now."""
    found, event = run.found, run.event
    for r in range(m):
        k = event.of[r]
        e = found.value[k, col.RESTITUTION] if speed[2 * k] < -event.slow[k] else 0.0
        event.problem.b[2 * r] = (1.0 + factor * e) * speed[2 * k]
        event.problem.b[2 * r + 1] = speed[2 * k + 1]
        event.problem.base[r] = 0.0


@kernel
def restore(run, m):
    """The problem of restitution after compression, whose impulses are in answer.f, kept in event.force."""
    found, event, problem, compression = run.found, run.event, run.event.problem, run.event.force
    answer = event.answer
    for r in range(m):
        k = event.of[r]
        compression[2 * r], compression[2 * r + 1] = answer.f[2 * r], answer.f[2 * r + 1]
        if found.id[k, col.ROLE] != col.JOINT:
            problem.base[r] = found.value[k, col.RESTITUTION] * max(0.0, answer.f[2 * r])
    for i in range(2 * m):
        for c in range(m):
            problem.b[i] += problem.A[i, 2 * c] * (compression[2 * c] + problem.base[c])
            problem.b[i] += problem.A[i, 2 * c + 1] * compression[2 * c + 1]


@kernel
def gains(event, m, speed):
    """Does the kinetic energy grow, by more than round-off, where more than one contact is struck?"""
    problem, answer, impact_times, change, work = event.problem, event.answer, 0, 0.0, 0.0
    for r in range(m):
        if answer.f[2 * r] > 0.0 and problem.kind[r] != BILATERAL:
            impact_times += 1
    for i in range(2 * m):
        u = speed[2 * event.of[i // 2] + i % 2]
        after = u
        for c in range(2 * m):
            after += problem.A[i, c] * answer.f[c]
        change += 0.5 * answer.f[i] * (u + after)
        work += abs(answer.f[i] * u)
    return impact_times > 1 and change > ENERGY_ROUND_OFF * work


@kernel
def next_stage(run, m, speed, stage):
    """What is to be solved next for the same impact; ENOUGH when answer.f is its impulse."""
    event, factor = run.event, run.event.factor
    if stage == COMPRESSION:
        restore(run, m)
        return RESTORATION
    if stage == RESTORATION:
        for r in range(m):
            event.answer.f[2 * r] += event.force[2 * r] + event.problem.base[r]
            event.answer.f[2 * r + 1] += event.force[2 * r + 1]
        return ENOUGH
    if stage == LOWERED_E and factor[TURN] == HALVINGS:
        return ENOUGH
    too_much = gains(event, m, speed)
    if stage == FULL_E:
        if not too_much:
            return ENOUGH
        factor[LOW], factor[HIGH], factor[TURN] = 0.0, 1.0, 0.0
    elif too_much:
        factor[HIGH] = factor[NOW]
    else:
        factor[LOW] = factor[NOW]
    factor[TURN] += 1.0
    factor[NOW] = factor[LOW] if factor[TURN] == HALVINGS else 0.5 * (factor[LOW] + factor[HIGH])
    approach(run, m, speed, factor[NOW])
    return LOWERED_E


@kernel
def choose(run, s, speed):
    """The contacts of island s struck together: all, or the fastest and joints. How many, 0 if none approaches."""
    found, event, work = run.found, run.event, run.work
    k, m = fastest(run, s, speed), np.int64(0)
    for p in range(work.first_contact[s], work.first_contact[s + 1]):
        q = work.order[p]
        if k >= 0 and (run.rule.order[0] == SIMULTANEOUS or q == k or found.id[q, col.ROLE] == col.JOINT):
            event.of[m], event.problem.kind[m] = q, kind_at_impact(found, q)
            m += 1
    return m


@kernel
def bounce(run, n, still):
    """event.impulse (2 n,) at all contacts; GOES_ON or NO_IMPULSES."""
    impulse, speed, status = run.event.impulse, run.event.acceleration, col.GOES_ON
    for k in range(n):
        impulse[2 * k] = impulse[2 * k + 1] = 0.0
        speed[2 * k], speed[2 * k + 1] = run.work.geometry[k, col.RATE], run.work.geometry[k, col.SLIP]
    for s in range(divide(run.model, run.found, n, run.work)):
        if status == col.GOES_ON and fastest(run, s, speed) >= 0:
            survey_island(run.model, run.found, s, run.work)
            status = bounce_island(run, s, still)
    return status


@kernel
def bounce_island(run, s, still):
    """The part of `bounce` that is for island s."""
    rule, event, work, now = run.rule, run.event, run.work, run.loop.now
    impulse, speed, answer, first = event.impulse, event.acceleration, event.answer, work.first_contact[s]
    own = work.first_contact[s + 1] - first
    for _ in range(MOST_IMPACTS * (own + 1)):
        m = choose(run, s, speed)
        if m == 0:
            return col.GOES_ON
        run.loop.counters[col.WHY_ROWS] = m
        load(run, m)
        for r in range(m):
            event.problem.static_friction[r] = event.problem.friction[r]
        stage = FULL_E if rule.impact_law[0] == NEWTON else COMPRESSION
        approach(run, m, speed, 1.0 if rule.impact_law[0] == NEWTON else 0.0)
        while stage != ENOUGH:
            for r in range(m):
                answer.mode[r], answer.f[2 * r], answer.f[2 * r + 1] = PRESSES_ONLY, 0.0, 0.0
            outcome, violation = solve(run, m, 0.5 * still)
            if outcome != SOLVED:
                return refuse(run, event.of[0], speed)
            if violation > 0.5 * still:  # what it has not stopped is a rate that is none
                now[col.SLACK] = max(now[col.SLACK], violation + still)
                for p in range(own):
                    k = work.order[first + p]
                    event.slow[k] = max(event.slow[k], now[col.SLACK])
            stage = next_stage(run, m, speed, stage)
        for c in range(2 * m):
            k, j = event.of[c // 2], answer.f[c]
            impulse[2 * k + c % 2] += j
            column = 2 * work.at[k] + c % 2
            for i in range(2 * own):
                speed[2 * work.order[first + i // 2] + i % 2] += work.A[i, column] * j
        if rule.order[0] == SIMULTANEOUS:
            return col.GOES_ON
    return refuse(run, fastest(run, s, speed), speed)


@kernel
def fastest(run, s, speed):
    """The contact of island s that approaches fastest (of joints: moves), or -1."""
    found, work, at, most = run.found, run.work, np.int64(-1), 0.0
    for p in range(work.first_contact[s], work.first_contact[s + 1]):
        k = work.order[p]
        u = -speed[2 * k]
        if found.id[k, col.ROLE] == col.JOINT:
            u = abs(u)
        if u > run.event.slow[k] and u > most:
            at, most = np.int64(k), u
    return at


@kernel
def refuse(run, k, speed):
    blame(run, k)
    run.loop.now[col.WHY_B] = -speed[2 * k]
    return col.NO_IMPULSES


@kernel
def blame(run, k):
    """The bodies of contact k, for the message."""
    count = run.loop.counters
    count[col.WHY_I], count[col.WHY_J] = run.found.id[k, col.BODY_I], run.found.id[k, col.BODY_J]


@kernel
def jam(run, n, m, still, diverges):
    """Impulses without an approach: where several contacts slide and jam, and no finite forces obey Coulomb's law.

    A wheel driven into a wedge by its own friction is stopped at once: "impact without collision" (Baraff 1991,
    SIGGRAPH '91, sec. 8; Genot & Brogliato 1999, Eur. J. Mech. A 18). The impulse is what the forces of ever shorter
    times tend to:

        A p + u + d b,  d -> 0,   obeys the impact laws with e = 0

    which has a solution for every d > 0 (Anitescu & Potra 1997). Were p to vanish with d, p / d would be forces. p
    takes energy: where a contact slides on, against its slip, and where slip stops, as a plastic impact does. A motion
    may come to such a contact while forces still exist (`diverges`): they grow without limit, the steps vanish.

    event.impulse (2 n,) of the m contacts event.of that have no forces; NEEDS_IMPULSES, or NO_FORCES without one.
    """
    event, problem, impulse, f = run.event, run.event.problem, run.event.impulse, run.event.answer.f
    most = 0.0
    for r in range(2 * m):
        most = max(most, abs(problem.b[r]))
    for k in range(2 * n):
        impulse[k] = 0.0
    first = DISPLACED * still / most
    for tried in range(TRIES + (LONGER if diverges else 0)):
        d = first * (0.1**tried if tried < TRIES else 10.0 ** (tried - TRIES + 1))
        for r in range(m):
            event.answer.mode[r], f[2 * r], f[2 * r + 1] = PRESSES_ONLY, 0.0, 0.0
        allowed = 0.5 * still
        solved = impulses_after(run, m, allowed, d)
        if diverges:  # forces exist yet, and would stop the slip in the time d
            allowed = d * most
        if solved and impulses_after(run, m, allowed, 0.0):
            hardest = 0.0
            for r in range(m):
                k = event.of[r]
                impulse[2 * k], impulse[2 * k + 1] = f[2 * r], f[2 * r + 1]
                hardest = max(hardest, f[2 * r] * problem.A[2 * r, 2 * r])
            if hardest > still:
                return col.NEEDS_IMPULSES
    return col.NO_FORCES


@kernel
def impulses_after(run, m, allowed, d):
    """Is there a p for this d? It is in the answer; the modes that are there are the guess."""
    found, event, work, problem = run.found, run.event, run.work, run.event.problem
    for r in range(m):
        k = event.of[r]
        problem.kind[r], problem.static_friction[r] = kind_at_impact(found, k), problem.friction[r]
        problem.b[2 * r] = d * work.b[2 * k]
        problem.b[2 * r + 1] = work.geometry[k, col.SLIP] + d * work.b[2 * k + 1]
    outcome, _, _ = solve_friction(problem, m, allowed, event.answer, event.workspace, event.lemke_work)
    return outcome == SOLVED

"""Impact laws. u: rates of the gaps and slips before it; u + A j: after it.

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
NOW, LOW, HIGH, TURN = range(4)  # of EventWork.factor


@kernel
def load(found, m, event, work):
    """A and the laws of friction of the contacts event.of[:m], of one island, as rows of the problem."""
    problem = event.problem
    for r in range(m):
        k = event.of[r]
        problem.friction[r], problem.static_friction[r] = (
            found.value[k, col.FRICTION],
            found.value[k, col.STATIC_FRICTION],
        )
        for c in range(m):
            own, other = 2 * work.at[k], 2 * work.at[event.of[c]]
            for s in range(2):
                problem.A[2 * r + s, 2 * c] = work.A[own + s, other]
                problem.A[2 * r + s, 2 * c + 1] = work.A[own + s, other + 1]


@kernel
def solve(loop, found, m, allowed, event, work, log):
    """Forces or impulses at the contacts event.of[:m], from the guess in the answer. Returns (outcome, violation).

    What is found only at the second, looser attempt is an event, at the contact where it is off by most.
    """
    outcome, violation, _ = solve_friction(event.problem, m, allowed, event.answer, event.workspace, event.lemke_work)
    if outcome != SOLVED:
        outcome, violation, _ = solve_friction(
            event.problem, m, LOOSE * allowed, event.answer, event.workspace, event.lemke_work
        )
        if outcome == SOLVED:
            worst = np.int64(0)
            for r in range(m):
                if event.workspace.excess[r] > event.workspace.excess[worst]:
                    worst = np.int64(r)
            note_event(loop, log, col.INEXACT, loop.now[col.TIME], loop.y, found, event.of[worst], work.geometry)
    loop.now[col.RESIDUAL] = max(loop.now[col.RESIDUAL], violation / allowed)
    return outcome, violation


@kernel
def kind_at_impact(found, k):
    """Static friction is for bodies at rest: an impact knows `friction` alone."""
    if found.id[k, col.ROLE] == col.JOINT:
        return BILATERAL
    return STICKING if found.id[k, col.ROLE] == col.CONTACT and found.value[k, col.FRICTION] > 0.0 else SMOOTH


@kernel
def approach(found, m, event, speed, factor):
    """The problem of one impulse with e lowered by a factor. speed (2 N,): rates and slips now."""
    for r in range(m):
        k = event.of[r]
        e = found.value[k, col.RESTITUTION] if speed[2 * k] < -event.slow[k] else 0.0
        event.problem.b[2 * r] = (1.0 + factor * e) * speed[2 * k]
        event.problem.b[2 * r + 1] = speed[2 * k + 1]
        event.problem.base[r] = 0.0


@kernel
def restore(found, m, event):
    """The problem of restitution after compression, whose impulses are in answer.f, kept in event.force."""
    problem, answer, compression = event.problem, event.answer, event.force
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
def gains(m, event, speed):
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
def next_stage(found, m, event, speed, stage):
    """What is to be solved next for the same impact; ENOUGH when answer.f is its impulse."""
    factor = event.factor
    if stage == COMPRESSION:
        restore(found, m, event)
        return RESTORATION
    if stage == RESTORATION:
        for r in range(m):
            event.answer.f[2 * r] += event.force[2 * r] + event.problem.base[r]
            event.answer.f[2 * r + 1] += event.force[2 * r + 1]
        return ENOUGH
    if stage == LOWERED_E and factor[TURN] == HALVINGS:
        return ENOUGH
    too_much = gains(m, event, speed)
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
    approach(found, m, event, speed, factor[NOW])
    return LOWERED_E


@kernel
def choose(rule, found, s, event, speed, work):
    """The contacts of island s struck together, into event.of; how many, 0 if none approaches: all, or the fastest,

    and joints.
    """
    k = fastest(found, s, event, speed, work)
    m = np.int64(0)
    for p in range(work.first_contact[s], work.first_contact[s + 1]):
        q = work.order[p]
        if k >= 0 and (rule.order[0] == SIMULTANEOUS or q == k or found.id[q, col.ROLE] == col.JOINT):
            event.of[m], event.problem.kind[m] = q, kind_at_impact(found, q)
            m += 1
    return m


@kernel
def bounce(model, rule, loop, found, n, event, work, log, still):
    """event.impulse (2 n,) at all contacts; GOES_ON or NO_IMPULSES."""
    impulse, speed, status = event.impulse, event.acceleration, col.GOES_ON
    for k in range(n):
        impulse[2 * k] = impulse[2 * k + 1] = 0.0
        speed[2 * k], speed[2 * k + 1] = work.geometry[k, col.RATE], work.geometry[k, col.SLIP]
    for s in range(divide(model, found, n, work)):
        if status == col.GOES_ON and fastest(found, s, event, speed, work) >= 0:
            survey_island(model, found, s, work)
            status = bounce_island(rule, loop, found, s, event, work, log, still)
    return status


@kernel
def bounce_island(rule, loop, found, s, event, work, log, still):
    """The part of `bounce` that is for island s."""
    impulse, speed, answer = event.impulse, event.acceleration, event.answer
    first = work.first_contact[s]
    own = work.first_contact[s + 1] - first
    for _ in range(MOST_IMPACTS * (own + 1)):
        m = choose(rule, found, s, event, speed, work)
        if m == 0:
            return col.GOES_ON
        load(found, m, event, work)
        for r in range(m):
            event.problem.static_friction[r] = event.problem.friction[r]
        stage = FULL_E if rule.impact_law[0] == NEWTON else COMPRESSION
        approach(found, m, event, speed, 1.0 if rule.impact_law[0] == NEWTON else 0.0)
        while stage != ENOUGH:
            for r in range(m):
                answer.mode[r], answer.f[2 * r], answer.f[2 * r + 1] = PRESSES_ONLY, 0.0, 0.0
            outcome, violation = solve(loop, found, m, 0.5 * still, event, work, log)
            if outcome != SOLVED:
                return refuse(loop, found, event.of[0], speed)
            if violation > 0.5 * still:  # what it has not stopped is a rate that is none
                loop.now[col.SLACK] = max(loop.now[col.SLACK], violation + still)
                for p in range(own):
                    k = work.order[first + p]
                    event.slow[k] = max(event.slow[k], loop.now[col.SLACK])
            stage = next_stage(found, m, event, speed, stage)
        for c in range(2 * m):
            k, j = event.of[c // 2], answer.f[c]
            impulse[2 * k + c % 2] += j
            column = 2 * work.at[k] + c % 2
            for i in range(2 * own):
                speed[2 * work.order[first + i // 2] + i % 2] += work.A[i, column] * j
        if rule.order[0] == SIMULTANEOUS:
            return col.GOES_ON
    return refuse(loop, found, fastest(found, s, event, speed, work), speed)


@kernel
def fastest(found, s, event, speed, work):
    """The place of island s that approaches fastest (of joints: moves), or -1."""
    at, most = np.int64(-1), 0.0
    for p in range(work.first_contact[s], work.first_contact[s + 1]):
        k = work.order[p]
        u = -speed[2 * k]
        if found.id[k, col.ROLE] == col.JOINT:
            u = abs(u)
        if u > event.slow[k] and u > most:
            at, most = np.int64(k), u
    return at


@kernel
def refuse(loop, found, k, speed):
    loop.counters[col.WHY_I], loop.counters[col.WHY_J] = found.id[k, col.BODY_I], found.id[k, col.BODY_J]
    loop.now[col.WHY_B] = -speed[2 * k]
    return col.NO_IMPULSES

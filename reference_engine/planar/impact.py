"""Laws of impact. u: rates of the gaps and slips before it; u + A j: after it.

`Settings.impact_law` and `.impact_order` say which; between the tangential impulse and the slip after the
impact there is Coulomb's law, with joints in the same problem.

newton    0 <= j_n  perp  u_n+ + e u_n >= 0; e where bodies approach, 0 where they rest or part (Moreau 1988)
poisson   compression to u_n+ >= 0 by j_c; then restitution by e j_c, or more where bodies would else approach; friction
          obeys Coulomb's law in both phases, each with its own slip at its end (Glocker & Pfeiffer 1995)
"""

import numpy as np

from reference_engine.compiler.kernels import kernel
from reference_engine.contact_problems.friction import SOLVED, solve_friction
from reference_engine.contact_problems.friction_modes import GRIPPING, SMOOTH
from reference_engine.contact_problems.friction_modes import HELD as PRESSES_ONLY
from reference_engine.contact_problems.friction_modes import JOINT as BILATERAL
from reference_engine.planar.islands import divide
from reference_engine.planar.layout import (
    BODY_I,
    BODY_J,
    FRICTION,
    GOES_ON,
    INEXACT,
    JOINT,
    NO_IMPULSES,
    RATE,
    RESIDUAL,
    RESTITUTION,
    ROLE,
    SLACK,
    SLIP,
    STATIC_FRICTION,
    TIME,
    TOUCHES,
    WHY_B,
    WHY_I,
    WHY_J,
)
from reference_engine.planar.log import note_event
from reference_engine.planar.rows import survey_island

NEWTON = 0  # of settings.IMPACT_LAWS
SIMULTANEOUS = 0  # of settings.IMPACT_ORDERS
ENERGY_ROUND_OFF = 1e-13  # of the work of an impulse: an elastic impact keeps the energy to so much
HALVINGS = 30  # of the interval in which the factor of e is looked for
BLOWS = 1000  # for each place, in sequential order
LOOSE = 100.0  # times what is allowed, at a second attempt, which is reported
FULL_E, LOWERED_E, COMPRESSION, RESTORATION, ENOUGH = (np.int64(k) for k in range(5))  # what an impact is solved for
NOW, LOW, HIGH, TURN = range(4)  # of Instant.factor


@kernel
def load(found, m, instant, work):
    """A and the laws of friction of the places instant.of[:m], of one island, as rows of the problem."""
    problem = instant.problem
    for r in range(m):
        k = instant.of[r]
        problem.friction[r], problem.static_friction[r] = found.figure[k, FRICTION], found.figure[k, STATIC_FRICTION]
        for c in range(m):
            own, other = 2 * work.at[k], 2 * work.at[instant.of[c]]
            for s in range(2):
                problem.A[2 * r + s, 2 * c] = work.A[own + s, other]
                problem.A[2 * r + s, 2 * c + 1] = work.A[own + s, other + 1]


@kernel
def solve(clock, found, m, allowed, instant, work, log):
    """Forces or impulses at the places instant.of[:m], from the guess in the answer. Returns (outcome, violation).

    What is found only at the second, looser attempt is an event, at the place where it is off by most.
    """
    outcome, violation, _ = solve_friction(
        instant.problem, m, allowed, instant.answer, instant.room, instant.lemke_room
    )
    if outcome != SOLVED:
        outcome, violation, _ = solve_friction(
            instant.problem, m, LOOSE * allowed, instant.answer, instant.room, instant.lemke_room
        )
        if outcome == SOLVED:
            worst = np.int64(0)
            for r in range(m):
                if instant.room.excess[r] > instant.room.excess[worst]:
                    worst = np.int64(r)
            note_event(clock, log, INEXACT, clock.now[TIME], clock.y, found, instant.of[worst], work.geometry)
    clock.now[RESIDUAL] = max(clock.now[RESIDUAL], violation / allowed)
    return outcome, violation


@kernel
def kind_at_impact(found, k):
    """Static friction is for bodies at rest: an impact knows `friction` alone."""
    if found.id[k, ROLE] == JOINT:
        return BILATERAL
    return GRIPPING if found.id[k, ROLE] == TOUCHES and found.figure[k, FRICTION] > 0.0 else SMOOTH


@kernel
def approach(found, m, instant, speed, factor):
    """The problem of one impulse with e lowered by a factor. speed (2 N,): rates and slips now."""
    for r in range(m):
        k = instant.of[r]
        e = found.figure[k, RESTITUTION] if speed[2 * k] < -instant.slow[k] else 0.0
        instant.problem.b[2 * r] = (1.0 + factor * e) * speed[2 * k]
        instant.problem.b[2 * r + 1] = speed[2 * k + 1]
        instant.problem.base[r] = 0.0


@kernel
def restore(found, m, instant):
    """The problem of restitution after compression, whose impulses are in answer.f, kept in instant.force."""
    problem, answer, compression = instant.problem, instant.answer, instant.force
    for r in range(m):
        k = instant.of[r]
        compression[2 * r], compression[2 * r + 1] = answer.f[2 * r], answer.f[2 * r + 1]
        if found.id[k, ROLE] != JOINT:
            problem.base[r] = found.figure[k, RESTITUTION] * max(0.0, answer.f[2 * r])
    for i in range(2 * m):
        for c in range(m):
            problem.b[i] += problem.A[i, 2 * c] * (compression[2 * c] + problem.base[c])
            problem.b[i] += problem.A[i, 2 * c + 1] * compression[2 * c + 1]


@kernel
def gains(m, instant, speed):
    """Does the kinetic energy grow, by more than round-off, where more than one place is struck?"""
    problem, answer, struck, change, work = instant.problem, instant.answer, 0, 0.0, 0.0
    for r in range(m):
        if answer.f[2 * r] > 0.0 and problem.kind[r] != BILATERAL:
            struck += 1
    for i in range(2 * m):
        u = speed[2 * instant.of[i // 2] + i % 2]
        after = u
        for c in range(2 * m):
            after += problem.A[i, c] * answer.f[c]
        change += 0.5 * answer.f[i] * (u + after)
        work += abs(answer.f[i] * u)
    return struck > 1 and change > ENERGY_ROUND_OFF * work


@kernel
def next_stage(found, m, instant, speed, stage):
    """What is to be solved next for the same impact; ENOUGH when answer.f is its impulse."""
    factor = instant.factor
    if stage == COMPRESSION:
        restore(found, m, instant)
        return RESTORATION
    if stage == RESTORATION:
        for r in range(m):
            instant.answer.f[2 * r] += instant.force[2 * r] + instant.problem.base[r]
            instant.answer.f[2 * r + 1] += instant.force[2 * r + 1]
        return ENOUGH
    if stage == LOWERED_E and factor[TURN] == HALVINGS:
        return ENOUGH
    too_much = gains(m, instant, speed)
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
    approach(found, m, instant, speed, factor[NOW])
    return LOWERED_E


@kernel
def choose(rule, found, s, instant, speed, work):
    """The places of island s struck together, into instant.of; how many, 0 if none approaches: all, or the fastest,

    and joints.
    """
    k = fastest(found, s, instant, speed, work)
    m = np.int64(0)
    for p in range(work.first_place[s], work.first_place[s + 1]):
        q = work.order[p]
        if k >= 0 and (rule.order[0] == SIMULTANEOUS or q == k or found.id[q, ROLE] == JOINT):
            instant.of[m], instant.problem.kind[m] = q, kind_at_impact(found, q)
            m += 1
    return m


@kernel
def bounce(solids, rule, clock, found, n, instant, work, log, still):
    """instant.impulse (2 n,) at all touching places; GOES_ON or NO_IMPULSES."""
    impulse, speed, status = instant.impulse, instant.acceleration, GOES_ON
    for k in range(n):
        impulse[2 * k] = impulse[2 * k + 1] = 0.0
        speed[2 * k], speed[2 * k + 1] = work.geometry[k, RATE], work.geometry[k, SLIP]
    for s in range(divide(solids, found, n, work)):
        if status == GOES_ON and fastest(found, s, instant, speed, work) >= 0:
            survey_island(solids, found, s, work)
            status = bounce_island(rule, clock, found, s, instant, work, log, still)
    return status


@kernel
def bounce_island(rule, clock, found, s, instant, work, log, still):
    """The part of `bounce` that is for island s."""
    impulse, speed, answer = instant.impulse, instant.acceleration, instant.answer
    first = work.first_place[s]
    own = work.first_place[s + 1] - first
    for _ in range(BLOWS * (own + 1)):
        m = choose(rule, found, s, instant, speed, work)
        if m == 0:
            return GOES_ON
        load(found, m, instant, work)
        for r in range(m):
            instant.problem.static_friction[r] = instant.problem.friction[r]
        stage = FULL_E if rule.law[0] == NEWTON else COMPRESSION
        approach(found, m, instant, speed, 1.0 if rule.law[0] == NEWTON else 0.0)
        while stage != ENOUGH:
            for r in range(m):
                answer.mode[r], answer.f[2 * r], answer.f[2 * r + 1] = PRESSES_ONLY, 0.0, 0.0
            outcome, violation = solve(clock, found, m, 0.5 * still, instant, work, log)
            if outcome != SOLVED:
                return refuse(clock, found, instant.of[0], speed)
            if violation > 0.5 * still:  # what it has not stopped is a rate that is none
                clock.now[SLACK] = max(clock.now[SLACK], violation + still)
                for p in range(own):
                    k = work.order[first + p]
                    instant.slow[k] = max(instant.slow[k], clock.now[SLACK])
            stage = next_stage(found, m, instant, speed, stage)
        for c in range(2 * m):
            k, j = instant.of[c // 2], answer.f[c]
            impulse[2 * k + c % 2] += j
            column = 2 * work.at[k] + c % 2
            for i in range(2 * own):
                speed[2 * work.order[first + i // 2] + i % 2] += work.A[i, column] * j
        if rule.order[0] == SIMULTANEOUS:
            return GOES_ON
    return refuse(clock, found, fastest(found, s, instant, speed, work), speed)


@kernel
def fastest(found, s, instant, speed, work):
    """The place of island s that approaches fastest (of joints: moves), or -1."""
    at, most = np.int64(-1), 0.0
    for p in range(work.first_place[s], work.first_place[s + 1]):
        k = work.order[p]
        u = -speed[2 * k]
        if found.id[k, ROLE] == JOINT:
            u = abs(u)
        if u > instant.slow[k] and u > most:
            at, most = np.int64(k), u
    return at


@kernel
def refuse(clock, found, k, speed):
    clock.tally[WHY_I], clock.tally[WHY_J] = found.id[k, BODY_I], found.id[k, BODY_J]
    clock.now[WHY_B] = -speed[2 * k]
    return NO_IMPULSES

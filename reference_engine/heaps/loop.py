"""A step, compiled: first poses, then speeds; see stepper.py for the equations.

Each part ends with what it needs from outside, and is called again when it has that: a new list of pairs, more space
for contacts, the solver for large heaps.
"""

import numpy as np

from reference_engine.compiler.kernels import entry, kernel
from reference_engine.contact_problems.cone_sweeps import IMPULSE, apply_impulses, seek_impulses
from reference_engine.geometry.ellipsoid_support import has_left, pose_ellipsoid
from reference_engine.heaps import layout as col
from reference_engine.heaps.contacts import (
    ask_for_bounces,
    choose_contacts,
    closed_contacts,
    correct_biases,
    dull_what_gains,
    duller,
    link_islands,
    note_bounces,
    store_impulses,
    undo_turn,
)
from reference_engine.heaps.gaps import query_ahead, query_now
from reference_engine.rotation import end_spin, free_spin, momentum_of, move

GIVES = 0.05  # of the barrier: by which a contact gives way under the impulses of a step
RESTITUTION_STEP = 0.9  # of the bounce: from trial to trial
UNSOLVED_STEP = 0.5  # the same, where no impulses are found
FRESH = 3  # repeats that hardly helped, until frames and arms are those of the poses ahead


@kernel
def kick(scene, rules, flow, bodies, time):
    """Forces act for a time: on twists into `free`, and on the angular momentum."""
    for i in range(scene.semi_axes.shape[0]):
        for k in range(3):
            flow.free[i, k] = bodies.twist[i, k] + time * flow.linear[i, k]
            flow.momentum[i, k] += time * flow.torque[i, k]


@kernel
def begin(scene, rules, candidates, now, flow, bodies, progress):
    kick(scene, rules, flow, bodies, rules.kick)
    fastest = 0.0
    for i in range(scene.semi_axes.shape[0]):
        free_spin(
            now.orientation, flow.momentum, scene.inverse_inertia, i, rules.h, flow.middle, bodies.inverse_inertia,
            flow.free,
        )  # fmt: skip
        free = flow.free[i]
        speed = np.sqrt(free[0] * free[0] + free[1] * free[1] + free[2] * free[2])
        flow.point_speed[i] = speed + np.sqrt(free[3] ** 2 + free[4] ** 2 + free[5] ** 2) * scene.longest[i]
        fastest = max(fastest, flow.point_speed[i])
        bodies.moved[i] = 0.0
    for i in range(candidates.chosen.shape[0]):
        candidates.chosen[i] = 0
    progress.measure[col.SOFT] = GIVES * rules.barrier / (rules.h * max(rules.pace + fastest, 1e-300) * rules.heaviest)


@kernel
def go(scene, rules, now, ahead, flow, bodies):
    """The poses to which the twists lead, and how far each body's points have got."""
    for i in range(scene.semi_axes.shape[0]):
        move(now.position, now.orientation, bodies.twist, i, rules.h, ahead.position, ahead.orientation)
        pose_ellipsoid(scene.semi_axes, ahead.position, ahead.orientation, i, ahead.table)
        v = bodies.twist[i]
        speed = np.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
        speed += np.sqrt(v[3] * v[3] + v[4] * v[4] + v[5] * v[5]) * scene.longest[i]
        flow.travel[i] = 1.000001 * rules.h * speed  # for round-off


@kernel
def solve(rules, contacts, bodies, edges, progress, tolerance):
    """Whether Gauss-Seidel gets there."""
    count = progress.count
    sweeps, residual, visits = seek_impulses(contacts, bodies, count[col.COUNT], edges, rules.most_sweeps, tolerance)
    count[col.SWEEPS] += sweeps
    count[col.VISITS] += visits
    if residual <= tolerance:
        progress.measure[col.RESIDUAL] = max(progress.measure[col.RESIDUAL], residual)
        return True
    return False


@kernel
def start_contacts(contacts, bodies, free, count):
    """Twists of the impulses that the contacts have; all are to be looked at."""
    apply_impulses(contacts, bodies, free, count)
    for k in range(count):
        contacts.seen[k] = -np.inf


@entry
def seek_poses(stage, step):
    """Poses whose gaps are as promised, and the twists that lead there; how it ended.

    stage QUERY: at all gaps, no step; BEGIN: a step; AGAIN: after a new listing or more space; SOLVED: from impulses
    that another solver has found.
    """
    scene, rules, candidates, now, ahead = step.scene, step.rules, step.candidates, step.now, step.ahead
    flow, contacts, bodies, edges, progress = step.flow, step.contacts, step.bodies, step.edges, step.progress
    if stage == col.QUERY:
        for i in range(scene.semi_axes.shape[0]):
            pose_ellipsoid(scene.semi_axes, now.position, now.orientation, i, now.table)
        if has_left(now.table, 0.5 * rules.margin, candidates.low, candidates.high):
            return col.LIST
        query_now(scene, rules, candidates, now, flow.point_speed, True)
        return col.DONE
    count, measure = progress.count, progress.measure
    if stage == col.BEGIN:
        begin(scene, rules, candidates, now, flow, bodies, progress)
        count[col.REPEATS], count[col.SWEEPS], count[col.VISITS], measure[col.RESIDUAL] = 0, 0, 0, 0.0
    if stage != col.SOLVED:
        query_now(scene, rules, candidates, now, flow.point_speed, False)
        if not choose_contacts(rules, candidates, now, ahead, flow, contacts, bodies, progress, False):
            return col.FULL
        start_contacts(contacts, bodies, flow.free, count[col.COUNT])
        count[col.CHORD], measure[col.BEFORE] = 0, np.inf
    solved = stage == col.SOLVED
    while count[col.REPEATS] < rules.most_repeats:
        if not solved:
            count[col.REPEATS] += 1
            if not solve(rules, contacts, bodies, edges, progress, rules.tolerance):
                return col.UNSOLVED
        solved = False
        go(scene, rules, now, ahead, flow, bodies)
        if has_left(ahead.table, 0.5 * rules.margin, candidates.low, candidates.high):
            return col.LIST
        query_ahead(scene, rules, candidates, now, ahead, flow.travel)
        fresh = count[col.CHORD] >= FRESH
        missed = correct_biases(rules, candidates, now, ahead, contacts, bodies, progress, fresh)
        worst = measure[col.WORST]
        if missed == 0 and worst <= rules.miss:
            store_impulses(candidates, contacts, count[col.COUNT], 0)
            note_bounces(rules, candidates, now, ahead, flow, contacts, progress)
            for i in range(scene.semi_axes.shape[0]):
                momentum_of(flow.middle, scene.inertia, bodies.twist, i, flow.momentum)
            return col.DONE
        if missed > 0:
            before = count[col.COUNT]
            query_now(scene, rules, candidates, now, flow.point_speed, False)
            if not choose_contacts(rules, candidates, now, ahead, flow, contacts, bodies, progress, True):
                return col.FULL
            measure[col.BEFORE] = np.inf
            for k in range(before, count[col.COUNT]):  # whose impulses are none of the twists' yet
                for j in range(3):
                    contacts.row[k, IMPULSE + j] = 0.0
        else:
            if worst > 0.25 * measure[col.BEFORE] and not fresh:
                count[col.CHORD] += 1
            measure[col.BEFORE] = worst
        if fresh:
            start_contacts(contacts, bodies, flow.free, count[col.COUNT])
    return col.UNRESOLVED


@kernel
def before_impacts(scene, flow, bodies):
    """The middle without impulses, so that those of the impacts are of the whole step (Moreau 1988)."""
    for i in range(scene.semi_axes.shape[0]):
        for k in range(6):
            bodies.twist[i, k] = flow.free[i, k]
        momentum_of(flow.middle, scene.inertia, bodies.twist, i, flow.momentum)


@entry
def seek_speeds(stage, step, resolve):
    """Twists at the end of a step, when `now` is where it led; with `resolve` those that contacts let go on.

    Where candidates bounce, by the impact law, the impulses that led to the poses are taken back. Should they gain
    energy, as Newton's may with friction (Kane 1984), those of the island that does are made duller until they do not.
    So all are in stage REDUCED, where none were found: with friction there may be none, but without a bounce there
    always are, for to stand still meets all contacts then (Acary et al. 2011, Z. angew. Math. Mech. 91).
    """
    scene, rules, candidates, now, flow = step.scene, step.rules, step.candidates, step.now, step.flow
    contacts, bodies, edges, progress = step.contacts, step.bodies, step.edges, step.progress
    count = progress.count
    bouncing = resolve and count[col.BOUNCING] > 0
    if stage == col.BEGIN:
        if bouncing:
            before_impacts(scene, flow, bodies)
        kick(scene, rules, flow, bodies, rules.h - rules.kick)
        for i in range(scene.semi_axes.shape[0]):
            end_spin(now.orientation, flow.momentum, scene.inverse_inertia, i, bodies.inverse_inertia, flow.free)
            for k in range(3):
                flow.before[i, k], flow.before[i, 3 + k] = flow.start[i, k], flow.free[i, 3 + k]
    if not resolve:
        for i in range(scene.semi_axes.shape[0]):
            for k in range(6):
                bodies.twist[i, k] = flow.free[i, k]
        store_impulses(candidates, contacts, 0, 1)
        return col.DONE
    if stage == col.REDUCED:
        for k in range(count[col.COUNT]):
            for j in range(3):
                contacts.row[k, IMPULSE + j] = 0.0
        for i in range(flow.bounce.shape[0]):
            flow.bounce[i] = duller(flow.bounce[i], UNSOLVED_STEP)
        ask_for_bounces(rules, candidates, flow, contacts, bodies, progress)
        start_contacts(contacts, bodies, flow.free, count[col.COUNT])
    elif stage != col.SOLVED:
        query_now(scene, rules, candidates, now, flow.point_speed, False)
        if not closed_contacts(rules, candidates, now, contacts, bodies, progress):
            return col.FULL
        if bouncing:
            link_islands(flow, contacts, bodies, progress)
            ask_for_bounces(rules, candidates, flow, contacts, bodies, progress)
        elif rules.middle:
            undo_turn(count[col.COUNT], step.ahead, now, flow, contacts, bodies)
        start_contacts(contacts, bodies, flow.free, count[col.COUNT])
    solved = stage == col.SOLVED
    while True:
        if not solved and not solve(rules, contacts, bodies, edges, progress, rules.last_tolerance):
            return col.UNSOLVED
        solved = False
        if not bouncing or not dull_what_gains(rules, flow, contacts, bodies, progress, RESTITUTION_STEP):
            break
        ask_for_bounces(rules, candidates, flow, contacts, bodies, progress)
    if bouncing:
        store_impulses(candidates, contacts, 0, 0)
    store_impulses(candidates, contacts, count[col.COUNT], 1)
    for i in range(scene.semi_axes.shape[0]):
        momentum_of(now.orientation, scene.inertia, bodies.twist, i, flow.momentum)
    return col.DONE

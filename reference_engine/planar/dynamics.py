"""Accelerations: external forces, the contacts that hold, A and b, contact forces.

d_i'' = sum_j A_ij f_j + b_i, from the myPhysicsLab pages "Collisions With Contact" and "ContactSim Math"
(after Baraff 1994, app. C and D) and Neumann's "Curved Edge Physics" for round edges.
"""

import numpy as np
from numba import njit

from reference_engine.complementarity.dantzig import INFEASIBLE, SOLVED, solve_complementarity
from reference_engine.planar.layout import LINE, ROUND_OFF
from reference_engine.planar.narrow_phase import find_contacts

DONE, PENETRATING, NO_ROOM, NO_FORCES, NO_SOLUTION = 0, 1, 2, 3, 4


@njit(cache=True)
def external_acceleration(bodies, law, twist, out):
    """Gravity, and damping: force -k v, torque -k_r omega. (B, 3)"""
    for i in range(bodies.inv_mass.shape[0]):
        out[i, 0] = out[i, 1] = out[i, 2] = 0.0
        if bodies.inv_mass[i] > 0.0:
            out[i, 0] = law.gravity_x - law.damping * bodies.inv_mass[i] * twist[i, 0]
            out[i, 1] = law.gravity_y - law.damping * bodies.inv_mass[i] * twist[i, 1]
            out[i, 2] = -law.rotational_damping * bodies.inv_inertia[i] * twist[i, 2]


@njit(cache=True)
def contact_matrix(bodies, contacts, n, A):
    """A_ij: acceleration (or, for impulses, velocity) of gap i for a unit force (impulse) at contact j.

    A = J M^-1 J^T;  row i of J is n_i on the primary body and -n_i on the normal body, each with its
    moment arm x n_i. On round edges the arm goes to the centre of the circle (the U vector): same moment.
    """
    for i in range(n):
        for j in range(i, n):
            entry = 0.0
            for side_i in range(2):
                for side_j in range(2):
                    body = contacts.body[i, side_i]
                    if body != contacts.body[j, side_j] or bodies.inv_mass[body] == 0.0:
                        continue
                    nix, niy = contacts.normal[i, 0], contacts.normal[i, 1]
                    njx, njy = contacts.normal[j, 0], contacts.normal[j, 1]
                    moment_i = contacts.arm[i, side_i, 0] * niy - contacts.arm[i, side_i, 1] * nix
                    moment_j = contacts.arm[j, side_j, 0] * njy - contacts.arm[j, side_j, 1] * njx
                    term = bodies.inv_mass[body] * (nix * njx + niy * njy)
                    term += bodies.inv_inertia[body] * moment_i * moment_j
                    entry += term if side_i == side_j else -term
            A[i, j] = A[j, i] = entry


@njit(cache=True)
def contact_vector(law, twist, acceleration, contacts, n, b):
    """b_i: acceleration of gap i without contact forces, and the extra acceleration.

    c'' = v' + w' x U - w^2 U                                  of the point c at arm U on either body
    LINE    b = n . (c1'' - c2'') + 2 (w2 x n) . (c1' - c2') - w2^2 span
    RADIAL  b = n . (c1'' - c2'') + |v_t|^2 / span,            v_t the part of c1' - c2' across n
    The pages set span to 0 for a corner on an edge (points in touch) and keep it for a disc's radius;
    with span, b is exact for bodies that rest on a gap. Extra: v/h, or (2 v h + gap - target)/h^2.
    With v/h, bodies that rest in touch would slowly sink into each other by the error of integration: what
    they have sunk is taken back as gap/h^2. No deeper than round-off: in the inner stages of a step gaps are
    predictions, and contacts must not bounce off them.
    """
    for k in range(n):
        i, j = contacts.body[k, 0], contacts.body[k, 1]
        nx, ny, span = contacts.normal[k, 0], contacts.normal[k, 1], contacts.span[k]
        u1x, u1y, u2x, u2y = contacts.arm[k, 0, 0], contacts.arm[k, 0, 1], contacts.arm[k, 1, 0], contacts.arm[k, 1, 1]
        w1, w2 = twist[i, 2], twist[j, 2]
        ax = acceleration[i, 0] - acceleration[i, 2] * u1y - w1 * w1 * u1x
        ay = acceleration[i, 1] + acceleration[i, 2] * u1x - w1 * w1 * u1y
        ax -= acceleration[j, 0] - acceleration[j, 2] * u2y - w2 * w2 * u2x
        ay -= acceleration[j, 1] + acceleration[j, 2] * u2x - w2 * w2 * u2y
        vx = twist[i, 0] - w1 * u1y - twist[j, 0] + w2 * u2y
        vy = twist[i, 1] + w1 * u1x - twist[j, 1] - w2 * u2x
        across = -ny * vx + nx * vy
        b[k] = nx * ax + ny * ay
        if contacts.kind[k] == LINE:
            b[k] += 2.0 * w2 * across - w2 * w2 * span
        else:
            b[k] += across * across / span
        h = law.extra_step
        if law.extra == 1:
            b[k] += contacts.speed[k] / h + min(0.0, max(contacts.gap[k], -ROUND_OFF)) / (h * h)
        elif law.extra == 2:
            b[k] += (2.0 * contacts.speed[k] * h + contacts.gap[k] - law.target_gap) / (h * h)


@njit(cache=True)
def keep_resting(law, contacts, n):
    """Drop the contacts that approach or part too fast to be at rest; returns how many stay."""
    kept = 0
    for k in range(n):
        if -law.velocity_tolerance < contacts.speed[k] < law.separation_tolerance:
            contacts.kind[kept], contacts.gap[kept] = contacts.kind[k], contacts.gap[k]
            contacts.speed[kept], contacts.span[kept] = contacts.speed[k], contacts.span[k]
            for c in range(2):
                contacts.body[kept, c] = contacts.body[k, c]
                contacts.feature[kept, c] = contacts.feature[k, c]
                contacts.normal[kept, c] = contacts.normal[k, c]
                contacts.point[kept, c] = contacts.point[k, c]
                contacts.arm[kept, c, 0], contacts.arm[kept, c, 1] = contacts.arm[k, c, 0], contacts.arm[k, c, 1]
            kept += 1
    return kept


@njit(cache=True)
def push(bodies, contacts, n, amount, change):
    """change += M^-1 J^T amount: accelerations from forces, or jumps of velocity from impulses."""
    for k in range(n):
        for side in range(2):
            i = contacts.body[k, side]
            signed = amount[k] if side == 0 else -amount[k]
            nx, ny = contacts.normal[k, 0], contacts.normal[k, 1]
            change[i, 0] += bodies.inv_mass[i] * signed * nx
            change[i, 1] += bodies.inv_mass[i] * signed * ny
            moment = contacts.arm[k, side, 0] * ny - contacts.arm[k, side, 1] * nx
            change[i, 2] += bodies.inv_inertia[i] * signed * moment


@njit(cache=True)
def accelerations(bodies, law, pose, twist, scratch, contacts, acceleration):
    """(B, 3) accelerations and the contact forces; returns (outcome, contacts, violation).

    Bodies penetrate when they are deeper than round-off, or, where they rest on each other, than the law's sink.
    With a penetrating pair the contacts are all that are within reach, and nothing else is computed.
    """
    n = find_contacts(
        bodies, pose, twist, law.distance_tolerance, law.sink, scratch.vertices, scratch.normals, contacts
    )
    if n > contacts.kind.shape[0]:
        return NO_ROOM, n, 0.0
    for k in range(n):
        rests = abs(contacts.speed[k]) < law.velocity_tolerance
        if contacts.gap[k] < (-law.sink if rests else -ROUND_OFF):
            return PENETRATING, n, 0.0
    external_acceleration(bodies, law, twist, acceleration)
    n = keep_resting(law, contacts, n)
    if n == 0:
        return DONE, 0, 0.0
    contact_matrix(bodies, contacts, n, scratch.A)
    contact_vector(law, twist, acceleration, contacts, n, scratch.b)
    outcome, violation, _, _ = solve_complementarity(
        scratch.A, scratch.b, n, scratch.factor, scratch.direction, scratch.clamped, scratch.status,
        scratch.a, contacts.force,
    )  # fmt: skip
    push(bodies, contacts, n, contacts.force, acceleration)
    if outcome == SOLVED:
        return DONE, n, violation
    return (NO_SOLUTION if outcome == INFEASIBLE else NO_FORCES), n, violation


@njit(cache=True)
def runge_kutta_4(bodies, law, pose, twist, h, scratch, contacts, end_pose, end_twist):
    """One step of the classical method on (pose, twist)' = (twist, acceleration).

    Every stage finds its contacts and forces; a stage in which bodies penetrate ends the step.
    Returns (outcome, part of the step at which that was, places within reach then, worst violation,
    jump). The jump [m/s] is the most that accelerations differ from the first stage's, times h: where
    forces come and go within the step it bounds what the step can get wrong, at any point of a body.
    """
    count = pose.shape[0]
    for i in range(count):
        for c in range(3):
            end_pose[i, c] = scratch.stage_pose[i, c] = pose[i, c]
            end_twist[i, c] = scratch.stage_twist[i, c] = twist[i, c]
    worst, jump = 0.0, 0.0
    for stage in range(4):
        weight = h / 6.0 if stage == 0 or stage == 3 else h / 3.0
        outcome, n, violation = accelerations(
            bodies, law, scratch.stage_pose, scratch.stage_twist, scratch, contacts, scratch.acceleration
        )
        worst = max(worst, violation)
        if outcome != DONE:
            return outcome, 0.0 if stage == 0 else (1.0 if stage == 3 else 0.5), n, worst, jump
        ahead = h if stage == 2 else 0.5 * h
        for i in range(count):
            if bodies.inv_mass[i] > 0.0 and stage > 0:
                dx = scratch.acceleration[i, 0] - scratch.first_acceleration[i, 0]
                dy = scratch.acceleration[i, 1] - scratch.first_acceleration[i, 1]
                turn = abs(scratch.acceleration[i, 2] - scratch.first_acceleration[i, 2])
                jump = max(jump, h * (np.hypot(dx, dy) + bodies.radius[i] * turn))
            for c in range(3):
                if stage == 0:
                    scratch.first_acceleration[i, c] = scratch.acceleration[i, c]
                end_pose[i, c] += weight * scratch.stage_twist[i, c]
                end_twist[i, c] += weight * scratch.acceleration[i, c]
                scratch.stage_pose[i, c] = pose[i, c] + ahead * scratch.stage_twist[i, c]
                scratch.stage_twist[i, c] = twist[i, c] + ahead * scratch.acceleration[i, c]
    n = find_contacts(
        bodies, end_pose, end_twist, law.distance_tolerance, ROUND_OFF, scratch.vertices, scratch.normals, contacts
    )
    return (NO_ROOM if n > contacts.kind.shape[0] else DONE), 1.0, n, worst, jump


@njit(cache=True)
def fastest_point(bodies, twist):
    """The greatest |v| + |omega| R of any moving body: no point of it is faster. [m/s]"""
    fastest = 0.0
    for i in range(twist.shape[0]):
        if bodies.inv_mass[i] > 0.0:
            speed = np.hypot(twist[i, 0], twist[i, 1]) + abs(twist[i, 2]) * bodies.radius[i]
            fastest = max(fastest, speed)
    return fastest

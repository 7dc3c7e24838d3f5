"""The equations of motion, with the pairs in contact frozen and joints held by accelerations.

Angular momentum is the state, so no gyroscopic term is needed: L' = torque, spin = R I^-1 R^T L, q' = (0, spin) q / 2.
The last rate is the power that contacts take out: with the kinetic, the elastic and gravity's energy its integral is
constant. That holds because the gap's rate is the normal velocity at the contact point: the gap is stationary in the
direction of the normal (geometry/mpr.py goes uphill until it is), so turning the normal does not change it.
"""

import numpy as np

from reference_engine.compiler.kernels import kernel
from reference_engine.compliant import contacts, joints
from reference_engine.compliant import layout as col
from reference_engine.dop853 import steps_of
from reference_engine.geometry.spatial_shapes import HALF_SPACE, SPHERE
from reference_engine.vectors import along, cross, dot, length, minus, plus, row, set_three, three, times

EPSILON = 2.0**-52
ROUNDED = 32.0  # a dozen roundings make up the gap of a turned corner; the weights of the error have the norm 2.2
ROUNDED_CENTRES = 4.0  # the same of a gap that follows from centres alone


@kernel
def rate(run, time, y, out):
    model, contact_set, work = run.model, run.contact_set, run.work
    bodies, last = model.posed.kind.shape[0], y.shape[0] - 1
    contacts.update_bodies(model, work, y)
    for i in range(bodies):
        at = col.STATE_SIZE * i
        moves = model.mass[i] < np.inf
        a, b, c, d = y[at + col.Q], y[at + col.Q + 1], y[at + col.Q + 2], y[at + col.Q + 3]
        u, v, w = work.spin[i, 0], work.spin[i, 1], work.spin[i, 2]
        for k in range(3):
            out[at + k] = y[at + col.V + k]
            out[at + col.V + k] = model.gravity[k] if moves else 0.0
            out[at + col.SPIN + k] = 0.0
        out[at + col.Q] = -0.5 * (u * b + v * c + w * d)
        out[at + col.Q + 1] = 0.5 * (u * a + v * d - w * c)
        out[at + col.Q + 2] = 0.5 * (v * a + w * b - u * d)
        out[at + col.Q + 3] = 0.5 * (w * a + u * c - v * b)
    out[last] = 0.0
    for k in range(model.pair.shape[0]):
        if contact_set.member[k] == 1:
            if not contacts.pair_gap(model, work, k):
                out[last] = np.nan
                return
            add_contact(model, contact_set, work, y, k, out)
    if model.joints.kind.shape[0] > 0:
        joints.constrain(model, work, y, out)
        joints.spread_blur(model, work)


@kernel
def contact_force(model, contact_set, work, y, k):
    """Of candidate k (its gap in work.found) on its second body: force [N], torque of rolling [N m]; power lost [W]."""
    p, q, law, n = model.pair[k, 0], model.pair[k, 1], model.law, three(work.found, col.DIRECTION)
    velocity = contacts.relative_velocity(work, y, p, q, contacts.contact_arms(model, work, p, q))
    apart = dot(velocity, n)
    depth, damping = -work.found[col.DISTANCE], contact_set.onset[k, col.DAMPING]
    force, lost = contacts.normal_force(depth, apart, law[k, col.STIFFNESS], damping)
    aside, turn = along(velocity, -apart, n), minus(row(work.spin, q), row(work.spin, p))
    slip, turning = length(aside), length(turn)
    drag = -law[k, col.FRICTION] * force / contacts.regularised(slip, law[k, col.V_SMALL])
    resist = -law[k, col.ROLLING] * force / contacts.regularised(turning, law[k, col.W_SMALL])
    lost -= drag * slip * slip + resist * turning * turning
    return along(times(force, n), drag, aside), times(resist, turn), lost


@kernel
def force_blur(model, work, k):
    """N, by which round-off blurs the normal force of candidate k, whose gap is in work.found: the gap's own times the
    stiffness there, d (c delta^1.5) / d delta."""
    posed, extent = model.posed, 0.0
    for side in range(2):
        i = model.pair[k, side]
        extent += length(row(posed.centre, i))
        extent += posed.bounding_radius[i] if posed.kind[i] != HALF_SPACE else length(row(posed.plane_point, i))
    depth = max(0.0, -work.found[col.DISTANCE])
    of_centres = posed.kind[model.pair[k, 0]] == SPHERE and posed.kind[model.pair[k, 1]] in (SPHERE, HALF_SPACE)
    rounded = ROUNDED_CENTRES if of_centres else ROUNDED
    return rounded * EPSILON * extent * 1.5 * model.law[k, col.STIFFNESS] * np.sqrt(depth)


@kernel
def add_contact(model, contact_set, work, y, k, out):
    """Adds what the contact at candidate k, whose gap is in work.found, does to both bodies."""
    p, q = model.pair[k, 0], model.pair[k, 1]
    arms = contacts.contact_arms(model, work, p, q)
    force, torque, lost = contact_force(model, contact_set, work, y, k)
    last = y.shape[0] - 1
    out[last] += lost
    blur = force_blur(model, work, k)
    velocity = contacts.relative_velocity(work, y, p, q, arms)
    work.blurred[last] = max(work.blurred[last], blur * length(velocity))
    for side in range(2):
        i, sign = (p, -1.0) if side == 0 else (q, 1.0)
        at = col.STATE_SIZE * i
        moment = plus(cross(arms[side], force), torque)
        island = model.joints.island[i]
        if island >= 0 and length(force) > 0.0:
            lever = length(moment) / length(force)
            share = blur * blur * (1.0 / model.mass[i] + lever * lever / model.greatest[i])
            work.joints.blurred[island] += share
        for c in range(3):
            linear, angular = at + col.V + c, at + col.SPIN + c
            work.blurred[linear] = max(work.blurred[linear], blur / model.mass[i])
            work.blurred[angular] = max(work.blurred[angular], blur * length(arms[side]) / model.greatest[i])
        set_three(out, at + col.V, along(three(out, at + col.V), sign / model.mass[i], force))
        set_three(out, at + col.SPIN, along(three(out, at + col.SPIN), sign / model.greatest[i], moment))


@kernel
def allowed(run, y, h, c):
    """Error of component c in a step of h seconds: m, m/s, rad/s, J.

    What is asked for, and what the arithmetic leaves: a stiff contact makes of the round-off of a gap, which no shorter
    step takes away, a force that a light body feels."""
    return run.rule.tolerance * (run.rule.floor + abs(y[c])) + h * run.work.blurred[c]


attempt_frozen, complete_frozen = steps_of(rate, allowed)


@kernel
def attempt(run, h):
    """One step of DOP853 from loop.y to work.end, with its dense output; returns the error in units of the tolerance;

    infinite where the step cannot be made. At the end joints are closed; in the dense output to the tolerance.
    """
    work, y = run.work, run.loop.y
    for c in range(y.shape[0]):
        work.blurred[c] = 0.0
    rate(run, 0.0, y, work.stages[0])
    error = attempt_frozen(run, work, work.components, 0.0, y, h, work.end)
    if error <= 1.0:
        complete_frozen(run, work, work.components, 0.0, y, h, work.end)
        if run.model.joints.kind.shape[0] > 0:
            joints.close(run.model, work, work.end)
    return error

"""The equations of motion, with the pairs in contact frozen.

Angular momentum is the state, so no gyroscopic term is needed: L' = torque, spin = R I^-1 R^T L, q' = (0, spin) q / 2.
The last rate is the power that contacts take out: with the kinetic, the elastic and gravity's energy its integral is
constant. That holds because the gap's rate is the normal velocity at the contact point: the gap is stationary in the
direction of the normal (geometry/mpr.py goes uphill until it is), so turning the normal does not change it.
"""

import numpy as np

from reference_engine.compiler.kernels import kernel
from reference_engine.compliant import contacts
from reference_engine.compliant import layout as col
from reference_engine.dop853 import steps_of


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


@kernel
def contact_force(model, contact_set, work, y, k):
    """Of candidate k (its gap in work.found) on its second body: force [N], torque of rolling [N m]; power lost [W]."""
    p, q, law = model.pair[k, 0], model.pair[k, 1], model.law
    nx, ny, nz = work.found[1], work.found[2], work.found[3]
    u, v, w = contacts.relative_velocity(work, y, p, q, contacts.contact_arms(model, work, p, q))
    apart = u * nx + v * ny + w * nz
    depth, damping = -work.found[col.DISTANCE], contact_set.onset[k, col.DAMPING]
    force, lost = contacts.normal_force(depth, apart, law[k, col.STIFFNESS], damping)
    u, v, w = u - apart * nx, v - apart * ny, w - apart * nz
    slip = np.sqrt(u * u + v * v + w * w)
    drag = -law[k, col.FRICTION] * force / contacts.regularised(slip, law[k, col.V_SMALL])
    fx, fy, fz = force * nx + drag * u, force * ny + drag * v, force * nz + drag * w
    ox = work.spin[q, 0] - work.spin[p, 0]
    oy = work.spin[q, 1] - work.spin[p, 1]
    oz = work.spin[q, 2] - work.spin[p, 2]
    turning = np.sqrt(ox * ox + oy * oy + oz * oz)
    resist = -law[k, col.ROLLING] * force / contacts.regularised(turning, law[k, col.W_SMALL])
    lost -= drag * slip * slip + resist * turning * turning
    return fx, fy, fz, resist * ox, resist * oy, resist * oz, lost


@kernel
def add_contact(model, contact_set, work, y, k, out):
    """Adds what the contact at candidate k, whose gap is in work.found, does to both bodies."""
    p, q = model.pair[k, 0], model.pair[k, 1]
    arms = contacts.contact_arms(model, work, p, q)
    fx, fy, fz, mx, my, mz, lost = contact_force(model, contact_set, work, y, k)
    out[y.shape[0] - 1] += lost
    for side in range(2):
        i, sign = (p, -1.0) if side == 0 else (q, 1.0)
        rx, ry, rz = arms[side]
        at, m, moment = col.STATE_SIZE * i, sign / model.mass[i], sign / model.greatest[i]
        out[at + col.V] += fx * m
        out[at + col.V + 1] += fy * m
        out[at + col.V + 2] += fz * m
        out[at + col.SPIN] += (ry * fz - rz * fy + mx) * moment
        out[at + col.SPIN + 1] += (rz * fx - rx * fz + my) * moment
        out[at + col.SPIN + 2] += (rx * fy - ry * fx + mz) * moment


attempt_frozen, complete_frozen = steps_of(rate)


@kernel
def attempt(run, h):
    """One step of DOP853 from loop.y to work.end, with its dense output; returns the error in units of the tolerance;

    infinite where the step cannot be made.
    """
    work, rule, y = run.work, run.rule, run.loop.y
    rate(run, 0.0, y, work.stages[0])
    error = attempt_frozen(run, work, work.components, 0.0, y, h, rule.tolerance, rule.floor, work.end)
    if error <= 1.0:
        complete_frozen(run, work, work.components, 0.0, y, h, work.end)
    return error

"""What joints do to bodies: accelerations that keep their conditions, and a projection that closes what is left.

With the rows g of all joints, J their rates by the bodies' velocities and spins, and gamma what g'' is without
accelerations, the forces lambda of the rows follow from

    J M^-1 J^T lambda = -(gamma + J a),      a: of bodies without joints,

by Cholesky's factors with pivots: a row that the others imply (a loop of hinges has some) has no pivot, and no force.
After every step gaps and their rates are closed by the least change in the metric of the masses. Angular momentum is
the state, so a spin accelerates by I^-1 (torque - omega x L).
"""

import numpy as np

from reference_engine.compiler.kernels import kernel
from reference_engine.compliant import joint_rows as of
from reference_engine.compliant import layout as col
from reference_engine.compliant.contacts import update_bodies
from reference_engine.geometry.support import to_body, to_world
from reference_engine.vectors import cross, dot, length, minus, over, plus, row, set_three, three, times

DEPENDENT = 1e-10  # of a row's inverse mass: with less left after elimination of others it is implied by them
CLOSED = 1e-9  # m, 1, m/s, 1/s: of a start
NEAR = 1e-8  # from here on Newton's method leaves round-off
PASSES = 6


@kernel
def seen(model, i, a):
    """A vector of body i, or of the world, in world axes."""
    return to_world(model.posed.R, i, a) if i >= 0 else a


@kernel
def velocity_of(work, y, i):
    """Of the centre of body i [m/s], and its spin [rad/s]."""
    if i < 0:
        return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    return three(y, col.STATE_SIZE * i + col.V), row(work.spin, i)


@kernel
def turned(model, i, torque):
    """I^-1 torque of body i [rad/s^2]; none if it is fixed."""
    a, b, c = to_body(model.posed.R, i, torque)
    d, e, f = row(model.inertia, i)
    return over(to_world(model.posed.R, i, (a / d, b / e, c / f)), model.greatest[i])


@kernel
def measure_row(model, work, y, r):
    """Gap, jacobian and bias of row r."""
    rows, own = model.joints, work.joints
    a, b, kind = rows.body[r, 0], rows.body[r, 1], rows.kind[r]
    (va, wa), (vb, wb) = velocity_of(work, y, a), velocity_of(work, y, b)
    u, w = seen(model, a, three(rows.row[r], of.DIRECTION)), seen(model, b, three(rows.row[r], of.SECOND_POINT))
    J = own.jacobian[r]
    if kind == of.TURN:
        own.gap[r] = dot(u, w) - rows.row[r, of.VALUE]
        axis, of_u, of_w = cross(u, w), cross(wa, u), cross(wb, w)
        for side in range(2):
            set_three(J, of.SIDE * side, (0.0, 0.0, 0.0))
            set_three(J, of.SIDE * side + 3, times(1.0 if side == 0 else -1.0, axis))
        own.bias[r] = dot(cross(wa, of_u), w) + 2.0 * dot(of_u, of_w) + dot(u, cross(wb, of_w))
        return
    arm_a = seen(model, a, three(rows.row[r], of.FIRST_POINT))
    point_a = plus(arm_a, row(model.posed.centre, a)) if a >= 0 else arm_a
    point_b = plus(w, row(model.posed.centre, b)) if b >= 0 else w
    d, whirl_a, whirl_b = minus(point_b, point_a), cross(wa, arm_a), cross(wb, w)
    rate = minus(plus(vb, whirl_b), plus(va, whirl_a))
    inward = minus(cross(wb, whirl_b), cross(wa, whirl_a))
    if kind == of.ALONG:
        own.gap[r] = dot(u, d)
        of_u = cross(wa, u)
        own.bias[r] = dot(u, inward) + 2.0 * dot(of_u, rate) + dot(cross(wa, of_u), d)
        arm_a = plus(arm_a, d)
    else:
        span = length(d)
        u = over(d, span)
        own.gap[r] = span - rows.row[r, of.VALUE]
        along = dot(u, rate)
        own.bias[r] = dot(u, inward) + (dot(rate, rate) - along * along) / span
    set_three(J, 0, times(-1.0, u))
    set_three(J, 3, cross(u, arm_a))
    set_three(J, of.SIDE, u)
    set_three(J, of.SIDE + 3, cross(w, u))


@kernel
def survey(model, work, y):
    """All rows in a state whose bodies are posed; and the factor of their inverse masses. Returns its rank."""
    rows, own = model.joints, work.joints
    for r in range(rows.kind.shape[0]):
        measure_row(model, work, y, r)
        for side in range(2):
            i, at = rows.body[r, side], of.SIDE * side
            if i < 0:
                set_three(own.jacobian[r], at, (0.0, 0.0, 0.0))
                set_three(own.jacobian[r], at + 3, (0.0, 0.0, 0.0))
                set_three(own.given[r], at, (0.0, 0.0, 0.0))
                set_three(own.given[r], at + 3, (0.0, 0.0, 0.0))
                continue
            set_three(own.given[r], at, over(three(own.jacobian[r], at), model.mass[i]))
            set_three(own.given[r], at + 3, turned(model, i, three(own.jacobian[r], at + 3)))
    for r in range(rows.kind.shape[0]):
        for s in range(r + 1):
            total = 0.0
            for p in range(2):
                for q in range(2):
                    if rows.body[r, p] == rows.body[s, q]:
                        for c in range(of.SIDE):
                            total += own.jacobian[r, of.SIDE * p + c] * own.given[s, of.SIDE * q + c]
            own.matrix[r, s] = own.matrix[s, r] = total
    return factor(own)


@kernel
def factor(own):
    """Cholesky's factor of own.matrix in its place, the row with the most of its diagonal left first. Its rank."""
    n = own.order.shape[0]
    for r in range(n):
        own.order[r], own.diagonal[r] = r, own.matrix[r, r]
    for k in range(n):
        best, most = k, DEPENDENT
        for i in range(k, n):
            share = own.matrix[own.order[i], own.order[i]] / own.diagonal[own.order[i]]
            if share > most:
                best, most = i, share
        if most <= DEPENDENT:
            return k
        p = own.order[best]
        own.order[best], own.order[k] = own.order[k], p
        root = np.sqrt(own.matrix[p, p])
        own.matrix[p, p] = root
        for i in range(k + 1, n):
            own.matrix[own.order[i], p] /= root
        for i in range(k + 1, n):
            o = own.order[i]
            for j in range(k + 1, n):
                own.matrix[o, own.order[j]] -= own.matrix[o, p] * own.matrix[own.order[j], p]
    return n


@kernel
def solve(own, rank):
    """own.unknown := what the matrix, of this rank, makes it of; 0 of rows that others imply."""
    x, n = own.unknown, own.order.shape[0]
    for k in range(rank):
        p = own.order[k]
        for j in range(k):
            x[p] -= own.matrix[p, own.order[j]] * x[own.order[j]]
        x[p] /= own.matrix[p, p]
    for k in range(rank, n):
        x[own.order[k]] = 0.0
    for k in range(rank - 1, -1, -1):
        p = own.order[k]
        for j in range(k + 1, rank):
            x[p] -= own.matrix[own.order[j], p] * x[own.order[j]]
        x[p] /= own.matrix[p, p]


@kernel
def measure_rates(model, work, y):
    """own.unknown := the rates of all rows."""
    rows, own = model.joints, work.joints
    for r in range(rows.kind.shape[0]):
        own.unknown[r] = 0.0
        for side in range(2):
            velocity, spin = velocity_of(work, y, rows.body[r, side])
            J, at = own.jacobian[r], of.SIDE * side
            own.unknown[r] += dot(three(J, at), velocity) + dot(three(J, at + 3), spin)


@kernel
def change_momenta(model, work, out):
    """Adds to velocities and angular momenta, or to their rates, what own.unknown makes of the rows."""
    rows, own = model.joints, work.joints
    for r in range(rows.kind.shape[0]):
        for side in range(2):
            i, at = rows.body[r, side], of.SIDE * side
            if i < 0:
                continue
            to = col.STATE_SIZE * i
            for c in range(3):
                out[to + col.V + c] += own.unknown[r] * own.given[r, at + c]
                out[to + col.SPIN + c] += own.unknown[r] * own.jacobian[r, at + 3 + c] / model.greatest[i]


@kernel
def constrain(model, work, y, out):
    """Adds the forces of the joints to the rates `out` of state y, whose bodies are posed; they are in own.force."""
    rows, own = model.joints, work.joints
    rank = survey(model, work, y)
    for r in range(rows.kind.shape[0]):
        total = own.bias[r]
        for side in range(2):
            i, at = rows.body[r, side], of.SIDE * side
            if i < 0 or model.mass[i] == np.inf:
                continue
            to = col.STATE_SIZE * i
            torque = minus(three(out, to + col.SPIN), cross(row(work.spin, i), three(y, to + col.SPIN)))
            turning = turned(model, i, times(model.greatest[i], torque))
            total += dot(three(own.jacobian[r], at), three(out, to + col.V))
            total += dot(three(own.jacobian[r], at + 3), turning)
        own.unknown[r] = -total
    solve(own, rank)
    change_momenta(model, work, out)
    for r in range(rows.kind.shape[0]):
        own.force[r] = own.unknown[r]


@kernel
def spread_blur(model, work):
    """What round-off does to one body joints bring to others of its island: no more than all of it, as of one.

    work.joints.blurred: of each island the squares of accelerations times masses [N m/s^2]; none from here on.
    """
    own, island = work.joints, model.joints.island
    for i in range(island.shape[0]):
        if island[i] < 0:
            continue
        at, total = col.STATE_SIZE * i, own.blurred[island[i]]
        for c in range(3):
            linear, angular = at + col.V + c, at + col.SPIN + c
            work.blurred[linear] = max(work.blurred[linear], np.sqrt(total / model.mass[i]))
            work.blurred[angular] = max(work.blurred[angular], np.sqrt(total / model.greatest[i]))
    for i in range(island.shape[0]):
        own.blurred[i] = 0.0


@kernel
def move(model, work, y):
    """Moves bodies by own.unknown along the rows."""
    rows, own = model.joints, work.joints
    for r in range(rows.kind.shape[0]):
        for side in range(2):
            i, at = rows.body[r, side], of.SIDE * side
            if i < 0:
                continue
            to = col.STATE_SIZE * i
            for c in range(3):
                y[to + c] += own.unknown[r] * own.given[r, at + c]
            u, v, w = times(own.unknown[r], three(own.given[r], at + 3))
            a, b, c, d = y[to + col.Q], y[to + col.Q + 1], y[to + col.Q + 2], y[to + col.Q + 3]
            y[to + col.Q] -= 0.5 * (u * b + v * c + w * d)
            y[to + col.Q + 1] += 0.5 * (u * a + v * d - w * c)
            y[to + col.Q + 2] += 0.5 * (v * a + w * b - u * d)
            y[to + col.Q + 3] += 0.5 * (w * a + u * c - v * b)


@kernel
def close(model, work, y):
    """Gaps of all rows, and then their rates, to 0 by the least change in the metric of the masses."""
    own, n = work.joints, model.joints.kind.shape[0]
    for _ in range(PASSES):
        update_bodies(model, work, y)
        rank, worst = survey(model, work, y), 0.0
        for r in range(n):
            worst = max(worst, abs(own.gap[r]))
            own.unknown[r] = -own.gap[r]
        solve(own, rank)
        move(model, work, y)
        if worst < NEAR:
            break
    update_bodies(model, work, y)
    rank = survey(model, work, y)
    measure_rates(model, work, y)
    for r in range(n):
        own.unknown[r] = -own.unknown[r]
    solve(own, rank)
    change_momenta(model, work, y)


@kernel
def begin(model, work, y):
    """Closes the joints of a start by what round-off left; False where more is open, as own.gap and own.unknown say."""
    own, n = work.joints, model.joints.kind.shape[0]
    update_bodies(model, work, y)
    survey(model, work, y)
    measure_rates(model, work, y)
    for r in range(n):
        if not (abs(own.gap[r]) <= CLOSED and abs(own.unknown[r]) <= CLOSED):
            return False
    close(model, work, y)
    return True

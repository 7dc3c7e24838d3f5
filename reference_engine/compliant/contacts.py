"""Gaps of contact points in a state, which of them are in contact, and the law of one contact.

Members of the contact set are frozen between events. Two functions tell that it changes, both below 0 within a step:

    leaving   of members:  gap - 2 h        entering   of others:  h - gap

h, the hysteresis, is what gaps are known to: a candidate enters at gap <= h and leaves at gap > 2 h, so that right
after an event neither function is at 0. The speed of approach at which it entered stays with it as long as it is a
member.

Normal: f = c delta^1.5 (1 - d s'), delta the depth, s' the speed of separation (Hertz's spring with a damping that
grows with the force; Hunt & Crossley 1975, J. Appl. Mech. 42), c from moduli and radii. d belongs to the approach:

    d = 8 (1 - e) / (5 e v),   at most `most_damping`,   v the speed at which the two met,

and e = 0 for an approach not above v_small (Flores & Lankarani 2016, Contact Force Models, ch. 3). So e is nominal:
without other forces the speeds after and before are in the ratio (1 + W(-(1 + x) e^-(1 + x))) / x, x = d v, W the upper
branch of Lambert's function, whatever mass and stiffness: 0.4704 for e = 0.5, 0.8939 for 0.9.

A contact does not pull: where something else parts two bodies faster than 1/d the force is 0.
Friction -mu f v_t / reg(|v_t|, v_small) on the second body; rolling torque -mu_r r f w / reg(|w|, w_small), w its spin
relative to the first, spinning on the spot included.
"""

import numpy as np

from reference_engine.compiler.kernels import inlined, kernel
from reference_engine.compliant import layout as col
from reference_engine.geometry import layout as found_col
from reference_engine.geometry.core_gap import half_space
from reference_engine.geometry.mpr import FOUND, mpr_pair
from reference_engine.geometry.spatial_shapes import HALF_SPACE
from reference_engine.geometry.support import pose_bodies, support, to_body, to_world, write_from_p
from reference_engine.vectors import along, dot, minus, opposite, plus, row, set_row, set_three, three

JUMPS = 1e-6  # of a normal: by more than this, and than motion explains, it has not turned
SMOOTH = 1e-2  # of the bounding radius: no rounding is sharper, so a normal turns no faster than over one such


@kernel
def damping_of(approach, restitution, v_small, most):
    """d [s/m], of an approach at this speed [m/s]."""
    e = restitution if approach > v_small else 0.0
    if e == 0.0:
        return most
    return min(most, 8.0 * (1.0 - e) / (5.0 * e * approach))


@inlined
def regularised(x, small):
    """x, but at least small / 3: twice continuously differentiable where the two meet, at x = small."""
    if x >= small:
        return x
    share = x / small
    return small * (share * share * (1.0 - share / 3.0) + 1.0 / 3.0)


@kernel
def normal_force(depth, separation_speed, stiffness, damping):
    """Force [N], and the power that its damping takes out [W]."""
    if depth <= 0.0:
        return 0.0, 0.0
    elastic = stiffness * depth * np.sqrt(depth)
    force = max(0.0, elastic * (1.0 - damping * separation_speed))
    return force, (elastic - force) * separation_speed


@kernel
def elastic_energy(depth, stiffness):
    """J."""
    return 0.4 * stiffness * depth * depth * np.sqrt(depth) if depth > 0.0 else 0.0


@kernel
def update_bodies(model, work, y):
    """Where bodies are, and their spins."""
    for i in range(model.posed.kind.shape[0]):
        at = col.STATE_SIZE * i
        set_row(work.position, i, three(y, at))
        for c in range(4):
            work.orientation[i, c] = y[at + col.Q + c]
    pose_bodies(model.posed, work.position, work.orientation)
    for i in range(model.posed.kind.shape[0]):
        at = col.STATE_SIZE * i + col.SPIN
        a, b, c = to_body(model.posed.R, i, three(y, at))
        own = a / model.inertia[i, 0], b / model.inertia[i, 1], c / model.inertia[i, 2]
        set_row(work.spin, i, to_world(model.posed.R, i, own))


@kernel
def corner_gap(model, work, k):
    """work.found of candidate k, a corner or rim of its first body over its second, a half-space."""
    posed, p, q, corner = model.posed, model.pair[k, 0], model.pair[k, 1], model.corner[k]
    n, radius = row(posed.plane_normal, q), model.corners[corner, 3]
    x, y, z = row(model.corners, corner)
    if radius > 0.0:  # the lowest point of a rim
        u, v, _ = to_body(posed.R, p, n)
        scale = -radius / np.sqrt(u * u + v * v)
        x, y = (x + scale * u, y + scale * v) if scale > -np.inf else (radius, 0.0)
    point = to_world(posed.R, p, (x, y, z))
    over_plane = minus(minus(plus(row(posed.centre, p), point), row(posed.centre, q)), row(posed.plane_point, q))
    gap = n[0] * over_plane[0] + (n[1] * over_plane[1] + n[2] * over_plane[2]) - posed.margin[p]
    write_from_p(work.found, gap, opposite(n), along(point, -posed.margin[p], n), 0.0)


@kernel
def pair_gap(model, work, k):
    """work.found of candidate k, its points from the centre of the first body. False: the two have one centre."""
    p, q = model.pair[k, 0], model.pair[k, 1]
    posed = model.posed
    if model.corner[k] != col.WHOLE:
        corner_gap(model, work, k)
        return True
    if posed.kind[q] == HALF_SPACE:
        half_space(posed, p, q, minus(row(posed.centre, q), row(posed.centre, p)), work.found)
        return True
    return mpr_pair(posed, p, q, work.mpr, work.found) == FOUND


@kernel
def contact_arms(model, work, p, q):
    """The contact point, between the two surfaces: from the centre of p and from that of q."""
    found, centre = work.found, model.posed.centre
    arm = along(three(found, found_col.ON_P), 0.5 * found[found_col.GAP], three(found, found_col.NORMAL))
    return arm, minus(plus(arm, row(centre, p)), row(centre, q))


@kernel
def relative_velocity(work, y, p, q, arms):
    """Of q's point at the contact less that of p. [m/s]"""
    (px, py, pz), (qx, qy, qz) = arms
    i, j = col.STATE_SIZE * p + col.V, col.STATE_SIZE * q + col.V
    (ax, ay, az), (bx, by, bz) = row(work.spin, p), row(work.spin, q)
    return (
        y[j] - y[i] + by * qz - bz * qy - ay * pz + az * py,
        y[j + 1] - y[i + 1] + bz * qx - bx * qz - az * px + ax * pz,
        y[j + 2] - y[i + 2] + bx * qy - by * qx - ax * py + ay * px,
    )


@kernel
def boxes(model, work):
    """Around every bounded body, in world axes."""
    for i in range(model.posed.kind.shape[0]):
        if model.posed.kind[i] == HALF_SPACE:
            continue
        for c in range(3):
            x, y, z = 1.0 if c == 0 else 0.0, 1.0 if c == 1 else 0.0, 1.0 if c == 2 else 0.0
            most = support(model.posed, i, (x, y, z))
            least = support(model.posed, i, (-x, -y, -z))
            centre, margin = model.posed.centre[i, c], model.posed.margin[i]
            work.box[i, c] = centre + x * least[0] + y * least[1] + z * least[2] - margin
            work.box[i, 3 + c] = centre + x * most[0] + y * most[1] + z * most[2] + margin


@kernel
def measure(model, contact_set, work, y):
    """work.gap of all candidates: where boxes are apart, and the candidate is no member, the distance of the boxes.

    Returns the greatest of the two functions above. NaN: a pair has one centre.
    """
    update_bodies(model, work, y)
    boxes(model, work)
    worst = -np.inf
    for k in range(model.pair.shape[0]):
        p, q, square = model.pair[k, 0], model.pair[k, 1], 0.0
        member = contact_set.member[k] == 1
        if not member and model.posed.kind[q] != HALF_SPACE:
            for c in range(3):
                apart = max(work.box[p, c] - work.box[q, 3 + c], work.box[q, c] - work.box[p, 3 + c])
                square += max(0.0, apart) ** 2
        if square > 0.0:
            work.gap[k] = np.sqrt(square)
        else:
            if not pair_gap(model, work, k):
                return np.nan
            work.gap[k] = work.found[col.DISTANCE]
            set_row(work.normal, k, three(work.found, col.DIRECTION))
        h = model.hysteresis
        worst = max(worst, work.gap[k] - 2.0 * h if member else h - work.gap[k])
    return worst


@kernel
def write_contact(model, work, k, row_out):
    """Point, normal and gap of candidate k, whose gap is in work.found."""
    p = model.pair[k, 0]
    arm, _ = contact_arms(model, work, p, model.pair[k, 1])
    set_three(row_out, col.POINT, plus(arm, row(model.posed.centre, p)))
    set_three(row_out, col.NORMAL, three(work.found, col.DIRECTION))
    row_out[col.GAP] = work.found[col.DISTANCE]


@kernel
def note_event(run, k, kind, closing, energy):
    """A row of the log, of candidate k, whose gap is in work.found."""
    log, onset, at = run.log, run.contact_set.onset, run.loop.counters[col.EVENTS]
    event = log.event[at]
    write_contact(run.model, run.work, k, event)
    log.event_ids[at, 0], log.event_ids[at, 1] = kind, k
    event[col.NOMINAL], event[col.DAMPED] = onset[k, col.COEFFICIENT], onset[k, col.DAMPING]
    event[col.CLOSING], event[col.ENERGY], event[col.AT] = closing, energy, run.loop.now[col.TIME]
    run.loop.counters[col.EVENTS] = at + 1


@kernel
def closing_speed(model, work, y, k):
    """m/s, of candidate k, whose gap is in work.found."""
    p, q = model.pair[k, 0], model.pair[k, 1]
    velocity = relative_velocity(work, y, p, q, contact_arms(model, work, p, q))
    return -dot(velocity, three(work.found, col.DIRECTION))


@kernel
def is_level(model, work, k):
    """Whether candidate k is a rim with all of its points in contact at once."""
    radius = model.corners[model.corner[k], 3] if model.corner[k] != col.WHOLE else 0.0
    if radius == 0.0:
        return False
    u, v, _ = to_body(model.posed.R, model.pair[k, 0], three(work.found, col.DIRECTION))
    return 2.0 * radius * np.sqrt(u * u + v * v) <= model.hysteresis


@kernel
def rebuild(run):
    """The contact set of this state; what has changed is logged. ONE_CENTRE, STANDS on a rim, or DONE."""
    model, contact_set, work, y = run.model, run.contact_set, run.work, run.loop.y
    if np.isnan(measure(model, contact_set, work, y)):
        return col.ONE_CENTRE
    h = model.hysteresis
    for k in range(model.pair.shape[0]):
        was = contact_set.member[k] == 1
        now = work.gap[k] <= (2.0 * h if was else h)
        if now == was:
            continue
        pair_gap(model, work, k)
        closing = closing_speed(model, work, y, k)
        contact_set.member[k] = 1 if now else 0
        if now:
            run.loop.counters[col.ONSET] = 1
            law = model.law
            approach = max(0.0, closing)
            contact_set.onset[k, col.APPROACH] = approach
            contact_set.onset[k, col.DAMPING] = damping_of(
                approach, law[k, col.RESTITUTION], law[k, col.V_SMALL], law[k, col.MOST_DAMPING]
            )
            contact_set.onset[k, col.COEFFICIENT] = law[k, col.RESTITUTION] if approach > law[k, col.V_SMALL] else 0.0
            for c in range(contact_set.seen.shape[1]):
                contact_set.seen[k, c] = work.found[c]
        note_event(run, k, col.MADE if now else col.BROKEN, closing, 0.0)
        if now and is_level(model, work, k):
            return col.STANDS
    return col.DONE


@kernel
def note_jumps(run, h):
    """After a step of h seconds, whose end is in work.gap and work.normal: candidates whose normal jumped are logged.

    So it is where another side or edge becomes the nearest way out. What the elastic energy changes by there nobody has
    done: it is counted by itself.
    """
    model, contact_set, work, y = run.model, run.contact_set, run.work, run.loop.y
    for k in range(model.pair.shape[0]):
        if contact_set.member[k] == 0:
            continue
        p, q, n = model.pair[k, 0], model.pair[k, 1], row(work.normal, k)
        change = minus(n, three(contact_set.seen[k], col.DIRECTION))
        turned = dot(change, change)
        least = SMOOTH * min(model.posed.bounding_radius[p], model.posed.bounding_radius[q])
        if turned > (JUMPS + 4.0 * h * (work.speed[p] + work.speed[q]) / least) ** 2:
            pair_gap(model, work, k)
            closing = closing_speed(model, work, y, k)
            before = -(contact_set.seen[k, col.DISTANCE] - closing * h)
            gained = elastic_energy(-work.gap[k], model.law[k, col.STIFFNESS])
            gained -= elastic_energy(before, model.law[k, col.STIFFNESS])
            run.loop.now[col.JUMPED] += gained
            note_event(run, k, col.JUMP, closing, gained)
        contact_set.seen[k, col.DISTANCE] = work.gap[k]
        set_three(contact_set.seen[k], col.DIRECTION, n)

"""The first contact in a step: conservative advancement on the dense output, so that none is missed.

Two convex pieces are apart as long as all corners of one stay above all corners of the other along some normal n. It
turns at a spin W, as the normal of the nearest features does here and now. In axes that turn so, from the centre of
mass of the second body, coefficients of Bernstein's polynomials enclose the accelerations of all points over the step:
so the height of a corner over another falls no faster than h + h' t - B t^2 / 2, and time goes on to the first zero of
these, again and again, until the gap is none (Mirtich 1996 has a normal at rest).

Pieces in contact have such a normal: that of the contact. At a vertex on a face it is the face's, and the corners of
the other piece that are above it are followed likewise. At edges and arcs the normal parts the two as long as it is
within the normals of both features, which is one of the guards of `simulate`.
"""

import numpy as np

from reference_engine import dop853
from reference_engine.compiler.kernels import entry, kernel
from reference_engine.spatial import layout as col
from reference_engine.spatial.accelerations import direct_slips, rate, time_to_stops
from reference_engine.spatial.features import (
    measure,
    position_of,
    rotate_body,
    spin_of,
    time_to_turn,
    turn,
    velocity_at,
    vertex_at,
)
from reference_engine.vectors import along, cross, dot, length, minus, plus, three, times

CLOSED = 1e-12  # of the size of the bodies: a gap that is none
FINEST = 1e-15  # of the size: round-off of a gap
BEHIND = 1e-6  # of the size: a feature so far beyond another is on its other side
PARTING = 1e-7  # of the step: so soon is it asked again how far apart two are that part from contact
SHORTEST = 1e-15  # s, of a step
IDLE_SAMPLES, HALVINGS = 32, 50
MOST_ADVANCES = 2_000  # in a step; then it is cut
BESIDE = 1e-9  # of the size: so little beyond the end of a feature is at it
LEAVES = 1e-13  # of the size: by no less does what leaves a feature do so in the time of `contacts_at`
MOST_TURN = 0.5  # rad, of the lowest point about its rim in a step, which would else go past where the rim lies flat
WORTH = 0.1  # of the step: with a normal that lasts longer none better is looked for
APART, GUARDED, IDLE = -1, -2, -3  # of a pair, where it is not a candidate


@kernel
def allowed(run, y, h, c):
    """Error of a component in a step: m, 1, m/s, rad/s."""
    return run.tolerance[0] * (1.0 + abs(y[c]))


attempt, complete = dop853.steps_of(rate, allowed)


@entry
def integrate(run, longest, first):
    """(length of a step whose error is within the tolerance, what to try next) [s]; the end is in work.end.

    A length of -1: there is none.
    """
    work, model = run.work, run.model
    start = run.time[col.START]
    rate(run, start, run.y, work.stages[0])
    direct_slips(run)
    longest = min(longest, time_to_stops(run, run.y, work.stages[0]))
    for k in range(run.active.count[0]):
        if model.candidate[run.active.candidate[k], col.KIND] == col.RIM_FACE:
            turns = time_to_turn(model, run.y, work.rotation, run.active.candidate[k])
            longest = min(longest, MOST_TURN * turns)
    h = min(first, longest)
    while h > SHORTEST:
        error = attempt(run, work, model.free, start, run.y, h, work.end)
        if error <= 1.0:
            complete(run, work, model.free, start, run.y, h, work.end)
            return h, max(first, h * dop853.next_factor(error)) if h == longest else h * dop853.next_factor(error)
        h *= min(0.9, dop853.next_factor(error)) if np.isfinite(error) else 0.1
    return -1.0, first


@entry
def step_of(run, h):
    """A step of just this length; its end is in work.end. Returns its error, in tolerances."""
    work, model = run.work, run.model
    start = run.time[col.START]
    rate(run, start, run.y, work.stages[0])
    direct_slips(run)
    error = attempt(run, work, model.free, start, run.y, h, work.end)
    complete(run, work, model.free, start, run.y, h, work.end)
    return error


@entry
def enclose_step(run):
    """Bernstein coefficients of the last step, in work.bernstein."""
    for j in range(8):
        for c in range(run.y.shape[0]):
            run.work.bernstein[j, c] = run.y[c]
    dop853.enclose(run.y, run.work.dense, run.model.free, run.work.bernstein)


@kernel
def elevated(bernstein, j, c, h):
    """Coefficient j, of the seventh degree, of the rate of three components from c on."""
    low, high = max(j - 1, 0), min(j, 6)
    before = minus(three(bernstein[low + 1], c), three(bernstein[low], c))
    after = minus(three(bernstein[high + 1], c), three(bernstein[high], c))
    return plus(times(j / h, before), times((7 - j) / h, after))


@kernel
def accelerations_within(run, h, a, b, omega):
    """No more over the step, in axes that turn at omega about the centre of body b: of the centre of body a, m/s^2;
    what distances from the centres of a and of b are times, 1/s^2; speeds of the centre of a, m/s, and of turning of
    both, 1/s."""
    b8, ka, kb = run.work.bernstein, col.BODY * a, col.BODY * b
    most, rate_a, rate_b, wa, wb, speed = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(8):
        x = minus(three(b8[j], ka), three(b8[j], kb))
        u = minus(three(b8[j], ka + col.V), three(b8[j], kb + col.V))
        d = minus(elevated(b8, j, ka + col.V, h), elevated(b8, j, kb + col.V, h))
        turned = cross(omega, x)
        d = plus(along(d, -2.0, cross(omega, u)), cross(omega, turned))
        most, speed = max(most, length(d)), max(speed, length(minus(u, turned)))
        own_a, own_b = minus(three(b8[j], ka + col.W), omega), minus(three(b8[j], kb + col.W), omega)
        wa, wb = max(wa, length(own_a)), max(wb, length(own_b))
        rate_a = max(rate_a, length(minus(elevated(b8, j, ka + col.W, h), cross(omega, own_a))))
        rate_b = max(rate_b, length(minus(elevated(b8, j, kb + col.W, h), cross(omega, own_b))))
    return most, rate_a + wa * wa, rate_b + wb * wb, speed, wa, wb


@kernel
def zero_after(gap, speed, falls):
    """s, of gap + speed t - falls t^2 / 2 = 0."""
    gap = max(gap, 0.0)
    if falls == 0.0:
        return gap / -speed if speed < 0.0 else np.inf
    root = np.sqrt(speed * speed + 2.0 * falls * gap)
    return (speed + root) / falls if speed >= 0.0 else 2.0 * gap / max(root - speed, 1e-300)


@entry
def first_closing(run, h, passed_over):
    """(s of the step of h seconds, candidate): the first that closes; (infinite, -1) where none does; with the
    candidate -2 the time up to which none does, and it is not known further on.

    passed_over (N,): 1 for candidates that are in contact now, 2 for those of them that carry no force; more get a 2,
    and corners that are level with a face of their pair, but beyond it, a 3. 4: the same contact as another candidate.
    """
    model, work = run.model, run.work
    for j in range(8):
        for c in range(run.y.shape[0]):
            work.bernstein[j, c] = run.y[c]
    dop853.enclose(run.y, work.dense, model.free, work.bernstein)
    first, found = np.inf, -1
    for p in range(model.pair.shape[0]):
        until = min(h, first)
        state_of_pair(run, p, 0.0, h)
        how = contact_of(run, p, passed_over, h)
        for k in range(model.pair[p, col.FROM], model.pair[p, col.TO]):
            if passed_over[k] == 2:
                time = closing_of_idle(run, p, k, h, until)
                if time < first:
                    first, found = time, k
        until = min(h, first)
        if how == APART:
            time, candidate = closing_of_pair(run, p, 0.0, h, until)
        elif how == IDLE:
            time, candidate = closing_from_contact(run, p, h, until)
        elif how >= 0:
            time, candidate = closing_on_face(run, p, how, h, until, passed_over)
            if goes_beyond(run, p, passed_over):
                sampled, other = closing_beyond(run, p, h, min(until, time), passed_over)
                if sampled < time:
                    time, candidate = sampled, other
        else:
            continue
        if time < first:
            first, found = time, candidate
    return first, found


@kernel
def state_of_pair(run, p, time, h):
    """Of both bodies, in work.state, and their rotations."""
    model, work = run.model, run.work
    for end in range(2):
        i = model.pair[p, end]
        if model.inverse_mass[i] > 0.0 or model.given[i, col.MOVES] > 0.0:
            for c in range(col.BODY * i, col.BODY * i + col.BODY):
                work.state[c] = dop853.dense_value(run.y, work.dense, time / h, c)
        else:
            for c in range(col.BODY * i, col.BODY * i + col.BODY):
                work.state[c] = run.y[c]
        rotate_body(work.state, i, work.rotation)


@kernel
def is_far(run, p):
    """How far the spheres about both bodies are apart, m."""
    model, a, b = run.model, run.model.pair[p, 0], run.model.pair[p, 1]
    apart = minus(three(run.work.state, col.BODY * a), three(run.work.state, col.BODY * b))
    return length(apart) - model.radius[a] - model.radius[b]


@kernel
def closing_rate(run, k):
    return rate_at(run, run.work.state, k)


@kernel
def contact_of(run, p, passed_over, h):
    """At the start of a step: APART; GUARDED, if a contact of the pair that is no vertex on a face parts the two; the
    candidate of a vertex on a face; IDLE, if other features are at gap 0 and no force keeps them so, or a vertex that
    is on a face leaves it over its edge. What is at gap 0 and neither closes nor opens is passed over from now on."""
    model, work, size = run.model, run.work, run.scale[0]
    if is_far(run, p) > 10.0 * CLOSED * size:
        return APART
    on_face, pressed, guarded, idle, left = APART, False, False, False, False
    for k in range(model.pair[p, col.FROM], model.pair[p, col.TO]):
        if passed_over[k] == 0 and model.candidate[k, col.REMOTE] == 0:
            measure(model, work.state, work.rotation, k, work.measured)
            gap, inside = work.measured[col.GAP], min(work.measured[col.INSIDE], work.measured[col.LOWEST])
            still = abs(closing_rate(run, k)) <= run.scale[1]
            if abs(gap) <= 10.0 * CLOSED * size and inside >= -BESIDE * size and still:
                passed_over[k] = 2
        if passed_over[k] > 0 and passed_over[k] < 4:
            kind = model.candidate[k, col.KIND]
            if kind == col.VERTEX_FACE and passed_over[k] == 2 and leaves_face(run, p, k, h):
                passed_over[k], left = 3, True
            elif kind == col.VERTEX_FACE or kind == col.RIM_FACE:
                if on_face == APART or passed_over[k] == 1:
                    on_face, pressed = k, passed_over[k] == 1
            elif passed_over[k] == 1:
                guarded = True
            else:
                idle = True
    if guarded and not pressed:
        watch_beside(run, p, passed_over)
        return GUARDED
    return IDLE if (idle and on_face < 0) or (left and not pressed) else on_face


@kernel
def watch_beside(run, p, passed_over):
    """What else of two pieces in contact is as near, and parts: when it comes back is looked for like what is idle."""
    model, work, near = run.model, run.work, BESIDE * run.scale[0]
    for k in range(model.pair[p, col.FROM], model.pair[p, col.TO]):
        if passed_over[k] == 0 and model.candidate[k, col.REMOTE] == 0:
            measure(model, work.state, work.rotation, k, work.measured)
            if abs(work.measured[col.GAP]) <= near and min(work.measured[col.INSIDE], work.measured[col.LOWEST]) >= 0.0:
                passed_over[k] = 2


@kernel
def leaves_face(run, p, k, h):
    """Whether a vertex is at the end of a face, or beyond it, and further beyond at the end of the step."""
    model, work, beside = run.model, run.work, BESIDE * run.scale[0]
    measure(model, work.state, work.rotation, k, work.measured)
    if work.measured[col.INSIDE] > beside:
        return False
    state_of_pair(run, p, h, h)
    measure(model, work.state, work.rotation, k, work.measured)
    state_of_pair(run, p, 0.0, h)
    return work.measured[col.INSIDE] < -beside


@entry
def contacts_at(run, y, later, near, fastest, pace, found):
    """How many candidates are at gap 0 at a state, to within `near` m, and part no faster than that, m/s; in found.

    Of what approaches more slowly than at `pace`, the gap is so much less that it closes as soon. What is at the end of
    its feature, and beyond it at the later state, is another's.
    """
    model, work, count = run.model, run.work, 0
    for i in range(model.inverse_mass.shape[0]):
        rotate_body(y, i, work.rotation)
    for p in range(model.pair.shape[0]):
        a, b = model.pair[p, 0], model.pair[p, 1]
        apart = length(minus(position_of(y, a), position_of(y, b)))
        if apart > model.radius[a] + model.radius[b] + near:
            continue
        for k in range(model.pair[p, col.FROM], model.pair[p, col.TO]):
            if model.candidate[k, col.REMOTE] > 0:
                continue
            measure(model, y, work.rotation, k, work.measured)
            inside = work.measured[col.INSIDE]
            off = min(inside, work.measured[col.LOWEST])
            rate = rate_at(run, y, k)
            if not abs(work.measured[col.GAP]) <= near or off < -near or rate > fastest:
                continue
            soon = near * min(1.0, -rate / pace)
            if rate < -run.scale[1] and work.measured[col.GAP] > max(soon, 10.0 * CLOSED * run.scale[0]):
                continue
            if inside <= near and not stays_inside(run, later, k, inside, y):
                continue
            found[count] = k
            count += 1
    return count


@kernel
def stays_inside(run, later, k, inside, y):
    """Whether a candidate is as far inside its features at the later state, which is measured and left again."""
    model, work = run.model, run.work
    for end in (col.FIRST, col.SECOND):
        rotate_body(later, model.candidate[k, end], work.rotation)
    measure(model, later, work.rotation, k, work.measured)
    for end in (col.FIRST, col.SECOND):
        rotate_body(y, model.candidate[k, end], work.rotation)
    return work.measured[col.INSIDE] >= inside - LEAVES * run.scale[0]


@kernel
def rate_at(run, y, k):
    """m/s, of the gap that has just been measured at state y."""
    i, j = run.model.candidate[k, col.FIRST], run.model.candidate[k, col.SECOND]
    u = minus(velocity_at(y, i, three(run.work.measured, col.P1)), velocity_at(y, j, three(run.work.measured, col.P2)))
    return dot(three(run.work.measured, col.N), u)


@kernel
def goes_beyond(run, p, passed_over):
    """Whether a corner that is level with a face, but beyond it, was left out: then the face does not part the two."""
    count = 0
    for k in range(run.model.pair[p, col.FROM], run.model.pair[p, col.TO]):
        count += passed_over[k] == 3
    return count > 0


@kernel
def gap_in_step(run, p, k, time, h):
    """Of a candidate in contact; its other end is far where it is outside its face."""
    state_of_pair(run, p, time, h)
    measure(run.model, run.work.state, run.work.rotation, k, run.work.measured)
    beside = run.work.measured[col.INSIDE] < -BESIDE * run.scale[0]
    return np.inf if beside else run.work.measured[col.GAP]


@kernel
def has_gone_in(run, p, k, time, h, start):
    """Whether what lies at gap 0 without force is deeper than at the start by more than round-off, and goes on so; or
    by more than any error. A bounce of the least speed that counts is lower than that error."""
    deeper, size = start - gap_in_step(run, p, k, time, h), run.scale[0]
    if deeper > 2.0 * CLOSED * size:
        return True
    well_inside = run.work.measured[col.INSIDE] > BESIDE * size
    return deeper > 10.0 * FINEST * size and well_inside and closing_rate(run, k) < -run.scale[1]


@kernel
def closing_of_idle(run, p, k, h, until):
    """When what lies at gap 0 without force goes in, s; sought at samples of the step, then by halving."""
    start, before = min(gap_in_step(run, p, k, 0.0, h), 0.0), 0.0
    for sample in range(1, IDLE_SAMPLES + 1):
        time = sample * h / IDLE_SAMPLES
        if has_gone_in(run, p, k, time, h, start):
            low, high = before, time
            for _ in range(HALVINGS):
                middle = 0.5 * (low + high)
                if has_gone_in(run, p, k, middle, h, start):
                    high = middle
                else:
                    low = middle
            return low
        before = time
        if time >= until:
            break
    return np.inf


@kernel
def closing_from_contact(run, p, h, until):
    """Of two pieces that touch without force: sought at samples of the step, close to one another at first, then by
    halving; from the sample on at which they have parted, with certainty."""
    start, before = min(nearest_gap(run, p, 0.0, h)[0], 0.0), 0.0
    closed, parted = start - CLOSED * run.scale[0], 10.0 * CLOSED * run.scale[0]
    early = h / IDLE_SAMPLES
    for _ in range(HALVINGS // 2):
        early *= 0.5
    for sample in range(1 - HALVINGS // 2, IDLE_SAMPLES + 1):
        time = early if sample < 1 else sample * h / IDLE_SAMPLES
        early *= 2.0
        gap, k = nearest_gap(run, p, time, h)
        if gap < closed - CLOSED * run.scale[0]:
            low, high = before, time
            for _ in range(HALVINGS):
                middle = 0.5 * (low + high)
                if nearest_gap(run, p, middle, h)[0] < closed:
                    high = middle
                else:
                    low = middle
            return low, nearest_gap(run, p, high, h)[1]
        if k >= 0 and gap > parted and rate_at(run, run.work.state, k) > 0.0:
            return closing_of_pair(run, p, time, h, until)
        before = time
        if time >= until:
            break
    return np.inf, -1


@kernel
def closing_beyond(run, p, h, until, passed_over):
    """Of two pieces in contact on a face, beyond which a corner is level with it or lower, so that it parts them no
    more: when no feature parts them, and the candidate that closes then; at samples of the step, then by halving."""
    closed = min(parted_by(run, p, 0.0, h), 0.0) - 2.0 * CLOSED * run.scale[0]
    before = 0.0
    for sample in range(1, IDLE_SAMPLES + 1):
        time = sample * h / IDLE_SAMPLES
        if parted_by(run, p, time, h) < closed:
            low, high = before, time
            for _ in range(HALVINGS):
                middle = 0.5 * (low + high)
                if parted_by(run, p, middle, h) < closed:
                    high = middle
                else:
                    low = middle
            return low, least_inside(run, p, high, h, passed_over)
        if time >= until:
            break
        before = time
    return np.inf, -1


@kernel
def parted_by(run, p, time, h):
    """The largest gap of two pieces along the normals of their features, m: below 0 they overlap."""
    model, size, most = run.model, run.scale[0], -np.inf
    margin = model.value[model.pair[p, col.FROM], col.MARGIN_A] + model.value[model.pair[p, col.FROM], col.MARGIN_B]
    state_of_pair(run, p, time, h)
    for k in range(model.pair[p, col.FROM], model.pair[p, col.TO]):
        kind = model.candidate[k, col.KIND]
        if model.candidate[k, col.REMOTE] == 2:
            continue
        measure(model, run.work.state, run.work.rotation, k, run.work.measured)
        gap, inside = run.work.measured[col.GAP], run.work.measured[col.INSIDE]
        if kind == col.VERTEX_FACE:
            inside = run.work.measured[col.LOWEST]
        elif kind != col.EDGE_EDGE and gap + margin <= 10.0 * CLOSED * size:  # their normal is round-off
            continue
        if inside >= 0.0:
            most = max(most, gap)
    return most


@kernel
def least_inside(run, p, time, h, passed_over):
    """Of two pieces that overlap, the candidate of the least overlap that is not in contact already."""
    most, found = -np.inf, -1
    state_of_pair(run, p, time, h)
    for k in range(run.model.pair[p, col.FROM], run.model.pair[p, col.TO]):
        at_rest = passed_over[k] == 1 or passed_over[k] == 2 or passed_over[k] == 4
        if at_rest or run.model.candidate[k, col.REMOTE] > 0:
            continue
        measure(run.model, run.work.state, run.work.rotation, k, run.work.measured)
        gap, ends = run.work.measured[col.GAP], min(run.work.measured[col.INSIDE], run.work.measured[col.LOWEST])
        if ends >= -BESIDE * run.scale[0] and most < gap < 0.0:
            most, found = gap, k
    return found


@kernel
def nearest_gap(run, p, time, h):
    """Of the nearest features, m, and their candidate, which is the last one measured."""
    state_of_pair(run, p, time, h)
    k = nearest(run, p)
    if k < 0:
        return np.inf, k
    measure(run.model, run.work.state, run.work.rotation, k, run.work.measured)
    return run.work.measured[col.GAP], k


@kernel
def closing_on_face(run, p, reference, h, until, passed_over):
    """Of what else of a body may come down on the face on which some of it is."""
    model, work, size = run.model, run.work, run.scale[0]
    x, y = model.candidate[reference, col.FIRST], model.candidate[reference, col.SECOND]
    face = model.candidate[reference, col.SECOND_FEATURE]
    time = 0.0
    for _ in range(MOST_ADVANCES):
        state_of_pair(run, p, time, h)
        omega = spin_of(work.state, y)
        centre, by_x, by_y, _, _, _ = accelerations_within(run, h, x, y, omega)
        falls = centre + by_x * model.radius[x]
        if by_y > 0.0:
            apart = length(minus(three(work.state, col.BODY * x), three(work.state, col.BODY * y)))
            falls += by_y * (apart + model.radius[x])
        forward = np.inf
        for k in range(model.pair[p, col.FROM], model.pair[p, col.TO]):
            ids = model.candidate[k]
            if passed_over[k] > 0 or ids[col.REMOTE] == 2 or ids[col.SECOND] != y or ids[col.SECOND_FEATURE] != face:
                continue
            if ids[col.KIND] == col.RIM_FACE:
                ahead = rim_clear(run, k, falls, until - time)
            elif ids[col.KIND] == col.VERTEX_FACE:
                measure(model, work.state, work.rotation, k, work.measured)
                gap, rate = work.measured[col.GAP], closing_rate(run, k)
                if time == 0.0 and gap <= 10.0 * CLOSED * size and work.measured[col.INSIDE] < -BESIDE * size:
                    passed_over[k] = 3  # it may go down beyond the face, where edges meet
                    continue
                ahead = zero_after(gap, rate, falls)
            else:
                continue
            measure(model, work.state, work.rotation, k, work.measured)
            gap, rate = work.measured[col.GAP], closing_rate(run, k)
            if gap <= CLOSED * size:
                if rate < 0.0 and min(gap, -rate * ahead) <= FINEST * size:
                    return time + ahead, k
                ahead = max(ahead, PARTING * h)
            forward = min(forward, ahead)
        time += forward
        if time >= until:
            return np.inf, -1
    return time, -2


@kernel
def rim_clear(run, k, falls, most):
    """s, for which every point of a rim stays above a face that does not turn: n . c - r |n across the axis|."""
    model, work = run.model, run.work
    a, c = model.candidate[k, col.FIRST], model.candidate[k, col.FIRST_FEATURE]
    b, f = model.candidate[k, col.SECOND], model.candidate[k, col.SECOND_FEATURE]
    n, axis = turn(work.rotation, b, three(model.face[f], 0)), turn(work.rotation, a, three(model.rim[c], 3))
    centre = plus(position_of(work.state, a), turn(work.rotation, a, three(model.rim[c], 0)))
    height = dot(n, minus(centre, position_of(work.state, b))) - model.face[f, 3]
    rate = dot(n, velocity_at(work.state, a, centre))
    side = along(n, -dot(n, axis), axis)
    turns = cross(n, spin_of(work.state, a))
    turns = along(turns, -dot(turns, axis), axis)
    low, high = 0.0, most
    radius = model.rim[c, 6]
    if height + rate * high - radius * length(along(side, high, turns)) - 0.5 * falls * high * high > 0.0:
        return np.inf
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        left = height + rate * middle - radius * length(along(side, middle, turns)) - 0.5 * falls * middle * middle
        if left > 0.0:
            low = middle
        else:
            high = middle
    return low


@kernel
def nearest(run, p):
    """The candidate of a pair's nearest features; -1 where there are none. Of equals, one that can meet."""
    model, work, size = run.model, run.work, run.scale[0]
    best, found = np.inf, -1
    for k in range(model.pair[p, col.FROM], model.pair[p, col.TO]):
        if model.candidate[k, col.REMOTE] == 2:
            continue
        measure(model, work.state, work.rotation, k, work.measured)
        gap = work.measured[col.GAP]
        if min(work.measured[col.INSIDE], work.measured[col.LOWEST]) < -CLOSED * size or gap < -BEHIND * size:
            continue
        if model.candidate[k, col.REMOTE] == 1:
            gap += CLOSED * size
        if gap < best:
            best, found = gap, k
    return found


@kernel
def clear(run, p, k, h):
    """s, for which the pieces stay apart along the normal of candidate k, just measured; and how fast any of their
    points may move against the other body, m/s."""
    model, work = run.model, run.work
    a, b = model.pair[p, 0], model.pair[p, 1]
    n, n_rate = three(work.measured, col.N), three(work.measured, col.RATE_N)
    second = model.candidate[k, col.SECOND]
    omega = along(cross(n, n_rate), dot(n, spin_of(work.state, second)), n)
    if model.candidate[k, col.FIRST] != a:
        n, n_rate = times(-1.0, n), times(-1.0, n_rate)
    centre, by_a, by_b, speed, wa, wb = accelerations_within(run, h, a, b, omega)
    origin, moves = three(work.state, col.BODY * b), three(work.state, col.BODY * b + col.V)
    plane = model.radius[b] == np.inf
    falls = centre + by_a * model.radius[a] + (0.0 if plane else by_b * model.radius[b])
    fastest = speed + wa * model.radius[a] + (0.0 if plane else wb * model.radius[b])
    first = model.pair[p, col.FROM]
    margin = model.value[first, col.MARGIN_A] + model.value[first, col.MARGIN_B]
    least = np.inf
    for v in range(model.pair[p, col.VERTICES_A], model.pair[p, col.END_A]):
        q = vertex_at(model, work.state, work.rotation, a, v)
        arm = minus(q, origin)
        height, rate = dot(n, arm) - margin, dot(n, minus(velocity_at(work.state, a, q), moves)) + dot(n_rate, arm)
        if plane:
            face = model.candidate[k, col.SECOND_FEATURE]
            least = min(least, zero_after(height - model.face[face, 3], rate, falls))
        for w in range(model.pair[p, col.VERTICES_B], model.pair[p, col.END_B]):
            q = vertex_at(model, work.state, work.rotation, b, w)
            arm = minus(q, origin)
            gap = height - dot(n, arm)
            own = dot(n, minus(velocity_at(work.state, b, q), moves)) + dot(n_rate, arm)
            least = min(least, zero_after(gap, rate - own, falls))
    return least, fastest


@kernel
def closing_of_pair(run, p, time, h, until):
    """Of two pieces that are apart at that time of the step, or part."""
    model, k = run.model, -1
    for _ in range(MOST_ADVANCES):
        state_of_pair(run, p, time, h)
        far = is_far(run, p)
        if far > 0.2 * (model.radius[model.pair[p, 0]] + model.radius[model.pair[p, 1]]):
            _, _, _, speed, _, _ = accelerations_within(run, h, model.pair[p, 0], model.pair[p, 1], (0.0, 0.0, 0.0))
            time += far / max(speed, 1e-300)
            k = -1
        else:
            time, k, ended = advanced(run, p, k, time, h, until)
            if ended:
                return time, k
        if time >= until:
            return np.inf, -1
    return time, -2


@kernel
def advanced(run, p, k, time, h, until):
    """(time, the candidate of the nearest features, 1 where it closes then). k: that of the time before, or -1."""
    model, work, size = run.model, run.work, run.scale[0]
    fresh = False
    while True:
        if k >= 0:
            measure(model, work.state, work.rotation, k, work.measured)
            if min(work.measured[col.INSIDE], work.measured[col.LOWEST], work.measured[col.GAP]) < 0.0:
                k = -1
        if k < 0:
            fresh, k = True, nearest(run, p)
            if k < 0:
                return np.inf, -1, False
            measure(model, work.state, work.rotation, k, work.measured)
        gap, rate, remote = work.measured[col.GAP], closing_rate(run, k), model.candidate[k, col.REMOTE] == 1
        if model.candidate[k, col.KIND] == col.RIM_FACE:
            still = (0.0, 0.0, 0.0)
            centre, by_a, _, _, _, _ = accelerations_within(run, h, model.pair[p, 0], model.pair[p, 1], still)
            ahead, falls = np.inf, centre + by_a * model.radius[model.pair[p, 0]]
            for rim in range(model.pair[p, col.FROM], model.pair[p, col.TO]):  # the other may be the first
                if model.candidate[rim, col.KIND] == col.RIM_FACE:
                    ahead = min(ahead, rim_clear(run, rim, falls, until - time))
        else:
            ahead, fastest = clear(run, p, k, h)
            if fresh:
                ahead = max(ahead, max(gap, 0.0) / max(fastest, 1e-300))
        if gap <= CLOSED * size:
            if rate < 0.0 and not remote and min(gap, -rate * ahead) <= FINEST * size:
                return time + ahead, k, True
            if rate >= 0.0 or remote:
                ahead = max(ahead, PARTING * h)
        if fresh or ahead > WORTH * (until - time) or ahead * -rate > 0.5 * gap:
            return time + ahead, k, False
        k = -1

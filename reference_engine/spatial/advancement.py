"""The first contact in a step: conservative advancement on the dense output, so that none is missed.

Over a step the coefficients of Bernstein's polynomials enclose every velocity, and their differences its rate. So a gap
g falls no faster than L, and its rate no faster than B; time goes on by the larger of g / L and the first zero of
g + g' t - B t^2 / 2 (Mirtich 1996), until the gap is none. Of edges and rims, whose nearest points run, by g / L alone.
"""

import numpy as np

from reference_engine import dop853
from reference_engine.compiler.kernels import entry, kernel
from reference_engine.spatial import layout as col
from reference_engine.spatial.accelerations import rate
from reference_engine.spatial.features import measure, rotate_bodies, velocity_at
from reference_engine.vectors import dot, length, minus, three

CLOSED = 1e-12  # of the size of the bodies: a gap that is none
FINEST = 1e-15  # of the size: round-off of a gap
BEHIND = 1e-6  # of the size: a feature so far beyond another is on its other side
PARTING = 1e-7  # of the step: so soon is it asked again how far apart two are that part from contact
SHORTEST = 1e-15  # s, of a step
IDLE_SAMPLES, HALVINGS = 32, 50
MOST_ADVANCES = 200_000


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
    rate(run, 0.0, run.y, work.stages[0])
    h = min(first, longest)
    while h > SHORTEST:
        error = attempt(run, work, model.free, 0.0, run.y, h, work.end)
        if error <= 1.0:
            complete(run, work, model.free, 0.0, run.y, h, work.end)
            return h, max(first, h * dop853.next_factor(error)) if h == longest else h * dop853.next_factor(error)
        h *= min(0.9, dop853.next_factor(error)) if np.isfinite(error) else 0.1
    return -1.0, first


@entry
def step_of(run, h):
    """A step of just this length; its end is in work.end. Returns its error, in tolerances."""
    work, model = run.work, run.model
    rate(run, 0.0, run.y, work.stages[0])
    error = attempt(run, work, model.free, 0.0, run.y, h, work.end)
    complete(run, work, model.free, 0.0, run.y, h, work.end)
    return error


@kernel
def largest(bernstein, c, other):
    """Of three components from c on, less those from `other` on where it is not below 0: the greatest length."""
    most = 0.0
    for j in range(8):
        a = three(bernstein[j], c)
        most = max(most, length(a if other < 0 else minus(a, three(bernstein[j], other))))
    return most


@kernel
def steepest(bernstein, c, other, h):
    """Likewise of their rate."""
    most = 0.0
    for j in range(7):
        a = minus(three(bernstein[j + 1], c), three(bernstein[j], c))
        if other >= 0:
            a = minus(a, minus(three(bernstein[j + 1], other), three(bernstein[j], other)))
        most = max(most, length(a))
    return 7.0 * most / h


@kernel
def zero_after(gap, speed, falls):
    """s, of gap + speed t - falls t^2 / 2 = 0."""
    if falls == 0.0:
        return gap / -speed if speed < 0.0 else np.inf
    root = np.sqrt(speed * speed + 2.0 * falls * gap)
    return (speed + root) / falls if speed >= 0.0 else 2.0 * gap / (root - speed)


@entry
def first_closing(run, h, passed_over):
    """(s of the step of h seconds, candidate): the first that closes; (infinite, -1) where none does.

    passed_over (N,): 1 for candidates that are in contact now, 2 for those of them that carry no force.
    """
    model, work = run.model, run.work
    for j in range(8):
        for c in range(run.y.shape[0]):
            work.bernstein[j, c] = run.y[c]
    dop853.enclose(run.y, work.dense, model.free, work.bernstein)
    first, found = np.inf, -1
    for k in range(passed_over.shape[0]):
        if passed_over[k] == 2:
            time = closing_of_idle(run, k, h, min(h, first))
            if time < first:
                first, found = time, k
    for p in range(model.pair.shape[0]):
        time, candidate = closing_of_pair(run, p, h, min(h, first), passed_over)
        if time < first:
            first, found = time, candidate
    return first, found


@kernel
def gap_in_step(run, k, time, h):
    """Of a candidate in contact; its other end is far where it is outside its face."""
    model, work = run.model, run.work
    dop853.dense_state(run.y, work.dense, time / h, model.free, work.state)
    rotate_bodies(work.state, work.rotation)
    measure(model, work.state, work.rotation, k, work.measured)
    return work.measured[col.GAP] if work.measured[col.INSIDE] >= 0.0 else np.inf


@kernel
def closing_of_idle(run, k, h, until):
    """When what lies at gap 0 without force goes in, s; sought at samples of the step, then by halving."""
    closed, before = -CLOSED * run.scale[0], 0.0
    for sample in range(1, IDLE_SAMPLES + 1):
        time = sample * h / IDLE_SAMPLES
        if gap_in_step(run, k, time, h) < 2.0 * closed:
            low, high = before, time
            for _ in range(HALVINGS):
                middle = 0.5 * (low + high)
                if gap_in_step(run, k, middle, h) < closed:
                    high = middle
                else:
                    low = middle
            return low
        before = time
        if time >= until:
            break
    return np.inf


@kernel
def closing_of_pair(run, p, h, until, passed_over):
    model, work, b8 = run.model, run.work, run.work.bernstein
    a, b = model.pair[p, 0], model.pair[p, 1]
    ka, kb = col.BODY * a, col.BODY * b
    speed, rises = largest(b8, ka + col.V, kb + col.V), steepest(b8, ka + col.V, kb + col.V, h)
    wa, wb = largest(b8, ka + col.W, -1), largest(b8, kb + col.W, -1)
    wa_rate, wb_rate = steepest(b8, ka + col.W, -1, h), steepest(b8, kb + col.W, -1, h)
    ra, rb = model.radius[a], model.radius[b]
    size = run.scale[0]
    time = 0.0
    for _ in range(MOST_ADVANCES):
        for c in range(model.free.shape[0]):
            k = model.free[c] // col.BODY
            if k in (a, b):
                work.state[model.free[c]] = dop853.dense_value(run.y, work.dense, time / h, model.free[c])
        apart = length(minus(three(work.state, ka), three(work.state, kb)))
        forward = np.inf
        if apart - ra - rb > 0.2 * (ra + rb):
            forward = (apart - ra - rb) / max(speed, 1e-300)
        else:
            # From either centre to any point of the other body, from now on
            furthest = apart + speed * (until - time)
            arm_a, arm_b = ra if rb == np.inf else furthest + rb, 0.0 if wb == 0.0 else furthest + ra
            fastest = speed + wa * arm_a + wb * arm_b
            falls = rises + (wa_rate + wa * wa) * arm_a + (wb_rate + wb * wb) * arm_b + 2.0 * max(wa, wb) * fastest
            rotate_bodies(work.state, work.rotation)
            for k in range(model.pair[p, 2], model.pair[p, 3]):
                if passed_over[k] > 0:
                    continue
                out, remote = work.measured, model.candidate[k, col.REMOTE]
                measure(model, work.state, work.rotation, k, out)
                gap = out[col.GAP]
                if out[col.INSIDE] < -CLOSED * size or gap < -BEHIND * size or gap == np.inf:
                    continue
                i, j = model.candidate[k, col.FIRST], model.candidate[k, col.SECOND]
                u = minus(
                    velocity_at(work.state, i, three(out, col.P1)), velocity_at(work.state, j, three(out, col.P2))
                )
                closing = dot(three(out, col.N), u)
                ahead, least = max(gap, 0.0) / max(fastest, 1e-300), 0.0
                kind = model.candidate[k, col.KIND]
                if kind != col.EDGE_EDGE and kind != col.RIM_FACE:
                    ahead = max(ahead, zero_after(max(gap, 0.0), closing, falls))
                if gap <= CLOSED * size:
                    if closing < 0.0 and remote == 0:
                        if min(gap, -closing * ahead) <= FINEST * size:
                            return time + ahead, k
                    else:
                        least = PARTING * h
                forward = min(forward, max(ahead, least))
        time += forward
        if time >= until:
            return np.inf, -1
    return time, -2

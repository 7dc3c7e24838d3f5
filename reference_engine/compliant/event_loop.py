"""Steps, the events in them, and samples.

An event is looked for on the dense output of each step by conservative advancement (Mirtich 1996): no point of a body
is faster than a bound that the Bernstein coefficients of the step's velocities give, so a pair cannot touch before the
time that its gap needs. Pairs in contact are looked at four times a step at least. Once a time is known at which the
contact set has changed, the change before it is bracketed, and the step is made again, to its right-hand side.
"""

import numpy as np

from reference_engine.compiler.kernels import entry, kernel
from reference_engine.compliant import contacts, joints
from reference_engine.compliant import layout as col
from reference_engine.compliant.rates import attempt, contact_force, rate
from reference_engine.dop853 import dense_state, enclose, next_factor
from reference_engine.events import event_loop
from reference_engine.vectors import length, minus, row, set_three, three

QUERY_STEP = 0.25  # of a step, at most, between two looks at the pairs in contact
LEAST_QUERY_STEP = 1e-7  # of a step
MOST_QUERIES = 2000  # in one step; a step that needs more is made shorter
HALVINGS = 60
TRIES = 12  # of a step that ends at an event
WINDOW = 2000  # steps tried: where more than half of them are refused the equations are not smooth, and time crawls


@kernel
def bound_speeds(model, work, y):
    """work.speed: of every body, over the step; of its centre, and of its spin times its bounding radius."""
    enclose(y, work.dense, work.components, work.bernstein)
    for i in range(model.posed.kind.shape[0]):
        centre = turning = 0.0
        least = min(model.inertia[i, 0], min(model.inertia[i, 1], model.inertia[i, 2]))
        for c in range(3):
            v = w = 0.0
            for j in range(8):
                v = max(v, abs(work.bernstein[j, col.STATE_SIZE * i + col.V + c]))
                w = max(w, abs(work.bernstein[j, col.STATE_SIZE * i + col.SPIN + c]))
            centre, turning = centre + v * v, turning + w * w
        bounding_radius = model.posed.bounding_radius[i] if model.posed.bounding_radius[i] < np.inf else 0.0
        work.speed[i] = np.sqrt(centre) + np.sqrt(turning) / least * bounding_radius


@kernel
def next_query(model, contact_set, work, h, in_contact):
    """The fraction of the step in which no pair outside the contact set can come to touch, from gaps in work.gap."""
    fraction = QUERY_STEP if in_contact else 1.0
    for k in range(model.pair.shape[0]):
        if contact_set.member[k] == 0:
            speed = work.speed[model.pair[k, 0]] + work.speed[model.pair[k, 1]]
            if speed > 0.0:
                fraction = min(fraction, (work.gap[k] - model.hysteresis) / (speed * h))
    return max(fraction, LEAST_QUERY_STEP)


@kernel
def find_change(run, h):
    """Whether the contact set changes within the step; its parts before and after are left in work.bracket.

    2: not known up to the end, only up to BEFORE.
    """
    model, contact_set, work, y, bracket = run.model, run.contact_set, run.work, run.loop.y, run.work.bracket
    in_contact = False
    for k in range(model.pair.shape[0]):
        in_contact = in_contact or contact_set.member[k] == 1
    if model.pair.shape[0] == 0:
        return 0
    bound_speeds(model, work, y)
    contacts.measure(model, contact_set, work, y)
    at = 0.0
    for _ in range(MOST_QUERIES):
        to = min(1.0, at + next_query(model, contact_set, work, h, in_contact))
        state = work.state
        if to == 1.0 and model.joints.kind.shape[0] > 0:
            state = work.end  # whose joints are closed
        else:
            dense_state(y, work.dense, to, work.components, work.state)
        if contacts.measure(model, contact_set, work, state) >= 0.0:
            bracket[col.BEFORE], bracket[col.AFTER] = at, to
            return 1
        if to == 1.0:
            return 0
        at = to
    bracket[col.BEFORE] = at
    return 2


@kernel
def narrow(run):
    """The bracket to round-off, by regula falsi with the Illinois rule, halved where that is slow."""
    model, contact_set, work, y, bracket = run.model, run.contact_set, run.work, run.loop.y, run.work.bracket
    low, high = bracket[col.BEFORE], bracket[col.AFTER]
    dense_state(y, work.dense, high, work.components, work.state)
    f_high = contacts.measure(model, contact_set, work, work.state)
    dense_state(y, work.dense, low, work.components, work.state)
    f_low = contacts.measure(model, contact_set, work, work.state)
    for k in range(HALVINGS):
        if high - low <= 4e-16 * high or f_high == 0.0 or not f_low < 0.0:
            break
        middle = high - f_high * (high - low) / (f_high - f_low)
        if k % 3 == 2 or not low < middle < high:
            middle = 0.5 * (low + high)
        dense_state(y, work.dense, middle, work.components, work.state)
        f = contacts.measure(model, contact_set, work, work.state)
        if f >= 0.0:
            high, f_high = middle, f
        else:
            low, f_low = middle, f
    bracket[col.BEFORE], bracket[col.AFTER] = low, high


@kernel
def end_at_change(run, h):
    """Makes the step again so that it ends where the change has just happened; its length, and its error."""
    narrow(run)
    length = run.work.bracket[col.AFTER] * h
    nudge, error = 4e-16 * length, np.inf
    for _ in range(TRIES):
        error = attempt(run, length)
        if not error <= 1.0 or contacts.measure(run.model, run.contact_set, run.work, run.work.end) >= 0.0:
            break
        length += nudge
        nudge *= 4.0
    return length, error


@kernel
def longest_step(model, contact_set, work, y):
    """s, in which no two bodies in contact pass by half of what there is to pass through.

    A step that they pass within finds them apart at all of its stages, and no error: from the last before they touched
    it has the length of a flight.
    """
    contacts.update_bodies(model, work, y)
    longest, g, radius = np.inf, length(three(model.gravity, 0)), model.posed.bounding_radius
    for k in range(model.pair.shape[0]):
        p, q = model.pair[k, 0], model.pair[k, 1]
        way = model.inside[p] + model.inside[q]
        if contact_set.member[k] == 0 or way == np.inf:
            continue
        passing = length(minus(three(y, col.STATE_SIZE * q + col.V), three(y, col.STATE_SIZE * p + col.V)))
        speed = passing + length(row(work.spin, p)) * radius[p] + length(row(work.spin, q)) * radius[q]
        longest = min(longest, min(way / speed, np.sqrt(2.0 * way) / np.sqrt(g)))
    return longest


@kernel
def normalise(y, bodies):
    """Quaternions of unit length."""
    for i in range(bodies):
        at = col.STATE_SIZE * i + col.Q
        length = np.sqrt(y[at] ** 2 + y[at + 1] ** 2 + y[at + 2] ** 2 + y[at + 3] ** 2)
        for c in range(4):
            y[at + c] /= length


@kernel
def note_contact(run, y, k):
    """What the contact at candidate k, whose gap is in work.found, does in the sample that is being taken."""
    log, at = run.log, run.loop.counters[col.CONTACTS]
    contacts.write_contact(run.model, run.work, k, log.contact[at])
    log.contact_ids[at, 0], log.contact_ids[at, 1] = run.loop.counters[col.SAMPLES], k
    force, torque, _ = contact_force(run.model, run.contact_set, run.work, y, k)
    set_three(log.contact[at], col.FORCE, force)
    set_three(log.contact[at], col.TORQUE, torque)
    run.loop.counters[col.CONTACTS] = at + 1


@kernel
def has_space(run):
    """For what one pass of the loop may add."""
    log, counters, candidates = run.log, run.loop.counters, run.model.pair.shape[0]
    return (
        counters[col.EVENTS] + 2 * candidates <= log.event.shape[0]
        and counters[col.CONTACTS] + candidates <= log.contact.shape[0]
    )


@kernel
def sample(run, time):
    """Of the state at this time, in the step or at its end."""
    model, work, log, loop, y = run.model, run.work, run.log, run.loop, run.loop.y
    row = loop.counters[col.SAMPLES]
    if loop.now[col.LENGTH] > 0.0:
        fraction = (time - loop.now[col.TIME]) / loop.now[col.LENGTH]
        dense_state(y, work.dense, fraction, work.components, work.state)
        y = work.state
    for c in range(y.shape[0]):
        log.state[row, c] = y[c]
    normalise(log.state[row], model.posed.kind.shape[0])
    contacts.update_bodies(model, work, y)
    log.energies[row, 0], log.energies[row, 1] = 0.0, loop.now[col.JUMPED]
    for k in range(model.pair.shape[0]):
        if run.contact_set.member[k] == 1 and contacts.pair_gap(model, work, k):
            log.energies[row, 0] += contacts.elastic_energy(-work.found[col.DISTANCE], model.law[k, col.STIFFNESS])
            note_contact(run, y, k)
    if model.joints.kind.shape[0] > 0:
        rate(run, time, y, work.stages[0])
        for r in range(model.joints.kind.shape[0]):
            log.reaction[row, r] = work.joints.force[r]
    loop.counters[col.SAMPLES] = row + 1


@kernel
def is_hopeless(run):
    """TOO_MANY steps, or time CRAWLS; else GOES_ON."""
    counters = run.loop.counters
    tried = counters[col.STEPS] + counters[col.REFUSED]
    if tried > run.rule.most_steps:
        return col.TOO_MANY
    if tried - counters[col.WAS_TRIED] >= WINDOW:
        if counters[col.REFUSED] - counters[col.WAS_REFUSED] > WINDOW // 2:
            return col.CRAWLS
        counters[col.WAS_TRIED], counters[col.WAS_REFUSED] = tried, counters[col.REFUSED]
    return col.GOES_ON


@kernel
def first_half_error(run, h):
    """Of the first half of a step in which a contact begins, else none.

    Where a depth begins, as delta^1.5, the estimate of a long step is no series in h, and may vanish by chance; not
    that of half of it, too.
    """
    return attempt(run, 0.5 * h) if run.loop.counters[col.ONSET] == 1 else 0.0


@kernel
def step(run):
    """One step, or the part of it up to a change of the contact set."""
    now, counters, grid = run.loop.now, run.loop.counters, run.log.grid
    while True:
        status = is_hopeless(run)
        if status != col.GOES_ON:
            return status
        h = min(now[col.STEP], grid[grid.shape[0] - 1] - now[col.TIME])
        h = min(h, longest_step(run.model, run.contact_set, run.work, run.loop.y))
        error, change = first_half_error(run, h), 0
        if error > 1.0:
            h *= 0.5
        else:
            error = attempt(run, h)
        if error <= 1.0:
            now[col.STEP] = h * next_factor(error)
            change = find_change(run, h)
            if change == 2:
                h *= run.work.bracket[col.BEFORE]
                error = attempt(run, h)
                contacts.measure(run.model, run.contact_set, run.work, run.work.end)
            elif change == 1:
                h, error = end_at_change(run, h)
        if error <= 1.0:
            now[col.LENGTH], now[col.REACHED] = h, now[col.TIME] + h
            counters[col.EVENT], counters[col.ONSET] = (1 if change == 1 else 0), 0
            return col.GOES_ON
        now[col.STEP] = h * min(0.9, next_factor(error))
        counters[col.REFUSED] += 1
        if now[col.TIME] + now[col.STEP] <= now[col.TIME]:
            return col.STUCK


@kernel
def accept(run):
    y = run.loop.y
    if run.loop.now[col.LENGTH] > 0.0:
        for c in range(y.shape[0]):
            y[c] = run.work.end[c]
        normalise(y, run.model.posed.kind.shape[0])
        contacts.note_jumps(run, run.loop.now[col.LENGTH])
    return col.GOES_ON


@kernel
def resolve(run):
    """What happens at this time: the start, or a change of the contact set."""
    loop = run.loop
    if run.model.joints.kind.shape[0] > 0 and loop.now[col.TIME] == 0.0 and loop.counters[col.STEPS] == 0:
        if not joints.begin(run.model, run.work, loop.y):
            return col.OPEN
        normalise(loop.y, run.model.posed.kind.shape[0])
    return contacts.rebuild(run)


go_on = kernel(event_loop(step, accept, resolve, sample, has_space, samples_first=False))


@entry
def advance(run):
    """From the present state until all samples are taken, or the log is full, or time stands still."""
    return go_on(run)

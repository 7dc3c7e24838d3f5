"""Steps, the events in them, and samples.

An event is looked for on the dense output of each step by conservative advancement (Mirtich 1996): no point of a body
is faster than a bound that the Bernstein coefficients of the step's velocities give, so a pair cannot touch before the
time that its gap needs. Pairs in contact are looked at four times a step at least. Once a time is known at which the
contact set has changed, the change before it is bracketed, and the step is made again, to its right-hand side.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reference_engine.compiler.kernels import entry, kernel
from reference_engine.compiler.structure import Structure
from reference_engine.compliant.contacts import contact_arms, measure, note_jumps, pair_gap, place_bodies, rebuild
from reference_engine.compliant.layout import (
    CONTACTS,
    CRAWLS,
    DONE,
    EVENTS,
    FULL,
    JUMPED,
    PLACES,
    REFUSED,
    SAMPLES,
    SPIN,
    STEP,
    STEPS,
    STIFFNESS,
    STUCK,
    TIME,
    TOO_MANY,
    WAS_REFUSED,
    WAS_TRIED,
    Q,
    V,
)
from reference_engine.compliant.rates import attempt, contact_force
from reference_engine.compliant.response import elastic_energy
from reference_engine.dop853 import dense_state, enclose, next_factor

LOOKS = 0.25  # of a step, at most, between two looks at the pairs in contact
LEAST_LOOK = 1e-7  # of a step
MOST_LOOKS = 2000  # in one step; a step that needs more is made shorter
HALVINGS = 60
TRIES = 12  # of a step that ends at an event
WINDOW = 2000  # steps tried: where more than half of them are refused the equations are not smooth, and time crawls


@dataclass(frozen=True, eq=False)
class Clock(Structure):
    y: NDArray[np.float64]  # (n,) the state now
    now: NDArray[np.float64]  # (3,)
    tally: NDArray[np.int64]  # (7,)


@kernel
def bound_speeds(solids, work, y):
    """work.speed: of every body, over the step; of its centre, and of its spin times its reach."""
    enclose(y, work.dense, work.components, work.hull)
    for i in range(solids.kind.shape[0]):
        centre = turning = 0.0
        least = min(solids.inertia[i, 0], min(solids.inertia[i, 1], solids.inertia[i, 2]))
        for c in range(3):
            v = w = 0.0
            for j in range(8):
                v = max(v, abs(work.hull[j, PLACES * i + V + c]))
                w = max(w, abs(work.hull[j, PLACES * i + SPIN + c]))
            centre, turning = centre + v * v, turning + w * w
        reach = solids.reach[i] if solids.reach[i] < np.inf else 0.0
        work.speed[i] = np.sqrt(centre) + np.sqrt(turning) / least * reach


@kernel
def next_look(solids, touching, work, h, touches):
    """The part of the step in which no pair outside the contact set can come to touch, from gaps in work.gap."""
    part = LOOKS if touches else 1.0
    for k in range(solids.pair.shape[0]):
        if touching.member[k] == 0:
            speed = work.speed[solids.pair[k, 0]] + work.speed[solids.pair[k, 1]]
            if speed > 0.0:
                part = min(part, (work.gap[k] - solids.hysteresis) / (speed * h))
    return max(part, LEAST_LOOK)


@kernel
def find_change(solids, touching, work, y, h, bracket):
    """Whether the contact set changes within the step; its parts before and after are left in `bracket`.

    2: not known up to the end, only up to bracket[0].
    """
    touches = False
    for k in range(solids.pair.shape[0]):
        touches = touches or touching.member[k] == 1
    if solids.pair.shape[0] == 0:
        return 0
    bound_speeds(solids, work, y)
    measure(solids, touching, work, y)
    at = 0.0
    for _ in range(MOST_LOOKS):
        to = min(1.0, at + next_look(solids, touching, work, h, touches))
        dense_state(y, work.dense, to, work.components, work.state)
        if measure(solids, touching, work, work.state) >= 0.0:
            bracket[0], bracket[1] = at, to
            return 1
        if to == 1.0:
            return 0
        at = to
    bracket[0] = at
    return 2


@kernel
def narrow(solids, touching, work, y, bracket):
    """The bracket to round-off, by regula falsi with the Illinois rule, halved where that is slow."""
    low, high = bracket[0], bracket[1]
    dense_state(y, work.dense, high, work.components, work.state)
    f_high = measure(solids, touching, work, work.state)
    dense_state(y, work.dense, low, work.components, work.state)
    f_low = measure(solids, touching, work, work.state)
    for k in range(HALVINGS):
        if high - low <= 4e-16 * high or f_high == 0.0 or not f_low < 0.0:
            break
        middle = high - f_high * (high - low) / (f_high - f_low)
        if k % 3 == 2 or not low < middle < high:
            middle = 0.5 * (low + high)
        dense_state(y, work.dense, middle, work.components, work.state)
        f = measure(solids, touching, work, work.state)
        if f >= 0.0:
            high, f_high = middle, f
        else:
            low, f_low = middle, f
    bracket[0], bracket[1] = low, high


@kernel
def end_at_change(solids, touching, work, clock, h, bracket, tolerance, floor):
    """Makes the step again so that it ends where the change has just happened; its length, and its error."""
    narrow(solids, touching, work, clock.y, bracket)
    length = bracket[1] * h
    nudge, error = 4e-16 * length, np.inf
    for _ in range(TRIES):
        error = attempt(solids, touching, work, clock.y, length, tolerance, floor)
        if not error <= 1.0 or measure(solids, touching, work, work.end) >= 0.0:
            break
        length += nudge
        nudge *= 4.0
    return length, error


@kernel
def longest_step(solids, touching, work, y):
    """s, in which no two bodies in contact pass by half of what there is to pass through.

    A step that they pass within finds them apart at all of its stages, and no error: from the last before they touched
    it has the length of a flight.
    """
    place_bodies(solids, work, y)
    longest, g = np.inf, 0.0
    for c in range(3):
        g += solids.gravity[c] ** 2
    for k in range(solids.pair.shape[0]):
        p, q = solids.pair[k, 0], solids.pair[k, 1]
        way = solids.inside[p] + solids.inside[q]
        if touching.member[k] == 0 or way == np.inf:
            continue
        moved = turned_p = turned_q = 0.0
        for c in range(3):
            moved += (y[PLACES * q + V + c] - y[PLACES * p + V + c]) ** 2
            turned_p, turned_q = turned_p + work.spin[p, c] ** 2, turned_q + work.spin[q, c] ** 2
        speed = np.sqrt(moved) + np.sqrt(turned_p) * solids.reach[p] + np.sqrt(turned_q) * solids.reach[q]
        longest = min(longest, min(way / speed, np.sqrt(2.0 * way) / np.sqrt(np.sqrt(g))))
    return longest


@kernel
def settle(y, bodies):
    """Quaternions of unit length."""
    for i in range(bodies):
        at = PLACES * i + Q
        length = np.sqrt(y[at] ** 2 + y[at + 1] ** 2 + y[at + 2] ** 2 + y[at + 3] ** 2)
        for c in range(4):
            y[at + c] /= length


@kernel
def note_contact(solids, touching, work, log, clock, y, k):
    """What the contact at place k, whose gap is in work.found, does in the sample that is being taken."""
    row, p, contact = clock.tally[CONTACTS], solids.pair[k, 0], log.contact
    px, py, pz, _, _, _ = contact_arms(work, p, solids.pair[k, 1])
    fx, fy, fz, mx, my, mz, _ = contact_force(solids, touching, work, y, k)
    body = work.portal.body
    log.contact_ids[row, 0], log.contact_ids[row, 1] = clock.tally[SAMPLES], k
    contact[row, 0], contact[row, 1], contact[row, 2] = px + body[p, 0], py + body[p, 1], pz + body[p, 2]
    for c in range(3):
        contact[row, 3 + c] = work.found[1 + c]
    contact[row, 6] = work.found[0]
    contact[row, 7], contact[row, 8], contact[row, 9] = fx, fy, fz
    contact[row, 10], contact[row, 11], contact[row, 12] = mx, my, mz
    clock.tally[CONTACTS] = row + 1


@kernel
def has_room(solids, touching, log, clock, h):
    """For all events and contacts that a step of h seconds may bring."""
    tally, places, members, sample = clock.tally, solids.pair.shape[0], 0, clock.tally[SAMPLES]
    for k in range(places):
        members += touching.member[k]
    while members > 0 and sample < log.time.shape[0] and log.time[sample] <= clock.now[TIME] + h:
        sample += 1
    need = (sample - tally[SAMPLES]) * members
    return tally[EVENTS] + 2 * places <= log.event.shape[0] and tally[CONTACTS] + need <= log.contact.shape[0]


@kernel
def note_sample(solids, touching, work, log, clock, y):
    row = clock.tally[SAMPLES]
    for c in range(y.shape[0]):
        log.state[row, c] = y[c]
    settle(log.state[row], solids.kind.shape[0])
    place_bodies(solids, work, y)
    log.held[row, 0], log.held[row, 1] = 0.0, clock.now[JUMPED]
    for k in range(solids.pair.shape[0]):
        if touching.member[k] == 1 and pair_gap(solids, work, k):
            log.held[row, 0] += elastic_energy(-work.found[0], solids.law[k, STIFFNESS])
            note_contact(solids, touching, work, log, clock, y, k)
    clock.tally[SAMPLES] = row + 1


@entry
def advance(solids, touching, work, log, clock, bracket, most_steps, tolerance, floor):
    """From the present state until all samples are taken, or the log of events is full, or time stands still."""
    now, tally, y = clock.now, clock.tally, clock.y
    bodies, samples = solids.kind.shape[0], log.time.shape[0]
    if tally[STEPS] == 0 and tally[REFUSED] == 0:
        status = rebuild(solids, touching, work, log, clock, y)
        if status != DONE:
            return status
    while tally[SAMPLES] < samples:
        if tally[STEPS] + tally[REFUSED] > most_steps:
            return TOO_MANY
        if tally[STEPS] + tally[REFUSED] - tally[WAS_TRIED] >= WINDOW:
            if tally[REFUSED] - tally[WAS_REFUSED] > WINDOW // 2:
                return CRAWLS
            tally[WAS_TRIED], tally[WAS_REFUSED] = tally[STEPS] + tally[REFUSED], tally[REFUSED]
        h = min(now[STEP], log.time[samples - 1] - now[TIME])
        if not has_room(solids, touching, log, clock, h):
            return FULL
        while tally[SAMPLES] < samples and log.time[tally[SAMPLES]] <= now[TIME]:
            note_sample(solids, touching, work, log, clock, y)
        if tally[SAMPLES] == samples:
            break
        h = min(h, longest_step(solids, touching, work, y))
        error, change = attempt(solids, touching, work, y, h, tolerance, floor), 0
        if error <= 1.0:
            now[STEP] = h * next_factor(error)
            change = find_change(solids, touching, work, y, h, bracket)
            if change == 2:
                h *= bracket[0]
                error = attempt(solids, touching, work, y, h, tolerance, floor)
                measure(solids, touching, work, work.end)
            elif change == 1:
                h, error = end_at_change(solids, touching, work, clock, h, bracket, tolerance, floor)
        if not error <= 1.0:
            now[STEP] = h * min(0.9, next_factor(error))
            tally[REFUSED] += 1
            if now[TIME] + now[STEP] <= now[TIME]:
                return STUCK
            continue
        until = now[TIME] + h
        while tally[SAMPLES] < samples and log.time[tally[SAMPLES]] < until:
            dense_state(y, work.dense, (log.time[tally[SAMPLES]] - now[TIME]) / h, work.components, work.state)
            note_sample(solids, touching, work, log, clock, work.state)
        for c in range(y.shape[0]):
            y[c] = work.end[c]
        settle(y, bodies)
        now[TIME] = until
        tally[STEPS] += 1
        note_jumps(solids, touching, work, log, clock, y, h)
        if change == 1:
            status = rebuild(solids, touching, work, log, clock, y)
            if status != DONE:
                return status
    return DONE

"""Contacts of a step: which places are, what gaps ask of them, what bounces."""

from __future__ import annotations

import numpy as np

from reference_engine.complementarity.cone_sweeps import prepare_contact, speed_along
from reference_engine.geometry.ellipsoid_support import tangents
from reference_engine.geometry.kernels import kernel
from reference_engine.spatial.gaps import NEAR
from reference_engine.spatial.layout import BOUNCING, COUNT, GIVE, WORST


@kernel
def put_frame(found, i, position, contacts, k):
    """Frame and arms of contact k, from place i; its impulse keeps its direction in the world."""
    frame, impulse, arm = contacts.frame, contacts.impulse, contacts.arm
    a, b = contacts.body[k, 0], contacts.body[k, 1]
    for j in range(3):
        arm[k, j] = found[i, 4 + j] - position[a, j] if a < position.shape[0] else 0.0
        arm[k, 3 + j] = found[i, 7 + j] - position[b, j] if b < position.shape[0] else 0.0
    x = frame[k, 0] * impulse[k, 0] + frame[k, 3] * impulse[k, 1] + frame[k, 6] * impulse[k, 2]
    y = frame[k, 1] * impulse[k, 0] + frame[k, 4] * impulse[k, 1] + frame[k, 7] * impulse[k, 2]
    z = frame[k, 2] * impulse[k, 0] + frame[k, 5] * impulse[k, 1] + frame[k, 8] * impulse[k, 2]
    frame[k, 0], frame[k, 1], frame[k, 2] = found[i, 1], found[i, 2], found[i, 3]
    t = tangents(found[i, 1], found[i, 2], found[i, 3])
    for j in range(6):
        frame[k, 3 + j] = t[j]
    for j in range(3):
        impulse[k, j] = frame[k, 3 * j] * x + frame[k, 3 * j + 1] * y + frame[k, 3 * j + 2] * z
    impulse[k, 0] = max(0.0, impulse[k, 0])


@kernel
def parting(found, i, a, b, position, twist):
    """Velocity of a place's point on b against its point on a."""
    u, v, w = 0.0, 0.0, 0.0
    for end in range(2):
        c, sign, at = (a, -1.0, 4) if end == 0 else (b, 1.0, 7)
        if c < position.shape[0]:
            x, y, z = (
                found[i, at] - position[c, 0],
                found[i, at + 1] - position[c, 1],
                found[i, at + 2] - position[c, 2],
            )
            u += sign * (twist[c, 0] + twist[c, 4] * z - twist[c, 5] * y)
            v += sign * (twist[c, 1] + twist[c, 5] * x - twist[c, 3] * z)
            w += sign * (twist[c, 2] + twist[c, 3] * y - twist[c, 4] * x)
    return u, v, w


@kernel
def approach(found, i, a, b, position, twist):
    """Normal speed of a place's two points, negative where they approach."""
    u, v, w = parting(found, i, a, b, position, twist)
    return found[i, 1] * u + found[i, 2] * v + found[i, 3] * w


@kernel
def make_contact(found, i, listed, position, which, give, bias, contacts, k):
    """Contact k of place i, with the impulse that `which` of the two solves of the last step found there."""
    contacts.body[k, 0], contacts.body[k, 1] = listed.body[i, 0], listed.body[i, 1]
    contacts.friction[k] = listed.law[i, 0]
    contacts.slip[k] = 0.0
    for j in range(9):
        contacts.frame[k, j] = 1.0 if j % 4 == 0 else 0.0
    for j in range(3):
        contacts.impulse[k, j] = listed.kept[which, i, j]
    put_frame(found, i, position, contacts, k)
    contacts.bias[k, 0], contacts.bias[k, 1], contacts.bias[k, 2] = bias, 0.0, 0.0
    contacts.give[k] = give
    contacts.seen[k] = -np.inf
    contacts.place[k] = i


@kernel
def choose_contacts(rules, listed, now, flow, contacts, bodies, progress, added):
    """Contacts of the places that may touch within a step; or of those alone that were missed, `added` to the others.

    A place counts if its gap is below the margin and what its approach covers in a step and a half. contacts.aim: the
    gap that it is to keep: what it has, if that is between floor and barrier, so that to stand still is always allowed.
    False: there are more than there is room for.
    """
    found, h = now.found, rules.h
    k = progress.count[COUNT] if added else 0
    for j in range(listed.order.shape[0]):
        i = listed.order[j]
        if now.sharp[i] == 0 or (added and listed.chosen[i] != 2):
            continue
        gap, a, b = found[i, 0], listed.body[i, 0], listed.body[i, 1]
        if gap == np.inf:
            continue
        if listed.chosen[i] == 0 and gap > rules.margin:
            if gap + 1.5 * h * approach(found, i, a, b, now.position, flow.free) > rules.margin:
                continue
        if k == contacts.place.shape[0]:
            return False
        aim = min(rules.barrier, max(gap, 2.0 * rules.floor))
        make_contact(
            found, i, listed, now.position, np.int64(0), progress.measure[GIVE], (gap - aim) / h, contacts, k
        )
        contacts.aim[k] = aim
        prepare_contact(contacts, k, bodies)
        listed.chosen[i] = 1
        k += 1
    progress.count[COUNT] = k
    return True


@kernel
def correct_biases(rules, listed, ahead, contacts, bodies, progress, fresh):
    """What the gaps at the poses ahead ask of the next solve: bias + u_n is (gap - aim) / h there.

    fresh: frames and arms of these poses too. With rules.middle the slip is that of the points half-way, the mean of
    both ends' arms. Progress: the largest miss of 0 <= gap - aim perp p_n, or of such a slip's way, m. Returns how many
    places that were not looked at are below the floor; these are chosen now.
    """
    worst, missed, twist, h = 0.0, 0, bodies.twist, rules.h
    bias, frame, found = contacts.bias, contacts.frame, ahead.found
    for k in range(progress.count[COUNT]):
        i = contacts.place[k]
        gap, p_n = found[i, 0] - contacts.aim[k], contacts.impulse[k, 0]
        miss = abs(min(gap + h * contacts.give[k] * p_n, h * contacts.own[k, 0] * p_n))
        worst = max(worst, miss) if miss == miss else np.inf
        if found[i, 0] == np.inf:  # a hollow sphere's second point that is there no more
            continue
        before = bias[k, 0]
        if fresh:
            put_frame(found, i, ahead.position, contacts, k)
            bias[k, 1], bias[k, 2] = 0.0, 0.0
            prepare_contact(contacts, k, bodies)
        u_n, u_1, u_2 = speed_along(contacts, k, twist)
        bias[k, 0] = gap / h - u_n
        if fresh or abs(bias[k, 0] - before) > 0.1 * rules.tolerance:
            contacts.seen[k] = -np.inf
        if rules.middle and not fresh and p_n > 0.0 and contacts.friction[k] > 0.0:
            u, v, w = parting(found, i, contacts.body[k, 0], contacts.body[k, 1], ahead.position, twist)
            for j in range(1, 3):
                further = frame[k, 3 * j] * u + frame[k, 3 * j + 1] * v + frame[k, 3 * j + 2] * w
                shift = 0.5 * (further - (u_1 if j == 1 else u_2))
                worst = max(worst, h * abs(shift - bias[k, j]))
                bias[k, j] = shift
                contacts.seen[k] = -np.inf
    for i in range(found.shape[0]):
        if listed.chosen[i] == 0 and found[i, 0] < rules.floor:
            listed.chosen[i] = 2
            missed += 1
    progress.measure[WORST] = worst
    return missed


@kernel
def keep_impulses(listed, contacts, count, which):
    """Of all places, world axes."""
    frame, impulse, kept = contacts.frame, contacts.impulse, listed.kept
    for i in range(kept.shape[1]):
        kept[which, i, 0], kept[which, i, 1], kept[which, i, 2] = 0.0, 0.0, 0.0
    for k in range(count):
        for j in range(3):
            kept[which, contacts.place[k], j] = (
                frame[k, j] * impulse[k, 0] + frame[k, 3 + j] * impulse[k, 1] + frame[k, 6 + j] * impulse[k, 2]
            )


@kernel
def note_bounces(rules, listed, now, flow, contacts, progress):
    """The speed at which each place that presses is to part: restitution times its approach."""
    total, bounce = 0, listed.bounce
    for i in range(bounce.shape[0]):
        bounce[i] = 0.0
    for k in range(progress.count[COUNT]):
        i = contacts.place[k]
        if listed.law[i, 1] > 0.0 and contacts.impulse[k, 0] > 0.0:
            speed = approach(now.found, i, listed.body[i, 0], listed.body[i, 1], now.position, flow.start)
            if speed < -rules.bounce_speed:
                bounce[i] = -listed.law[i, 1] * speed
                total += 1
    progress.count[BOUNCING] = total


@kernel
def touching_contacts(rules, listed, now, contacts, bodies, progress):
    """Contacts of the places whose gaps are as a contact's may be, where no speed is to be below their bounce."""
    k = 0
    for j in range(listed.order.shape[0]):
        i = listed.order[j]
        if now.sharp[i] == 1 and now.found[i, 0] <= NEAR * rules.barrier:
            if k == contacts.place.shape[0]:
                return False
            make_contact(now.found, i, listed, now.position, np.int64(1), 0.0, -listed.bounce[i], contacts, k)
            prepare_contact(contacts, k, bodies)
            k += 1
    progress.count[COUNT] = k
    return True

"""Contacts of a step: which candidates are, what gaps ask of them, what bounces."""

import numpy as np

from reference_engine.compiler.kernels import kernel
from reference_engine.contact_problems import cone_sweeps as cone
from reference_engine.geometry.ellipsoid_support import tangents
from reference_engine.geometry.layout import NORMAL, ON_P, ON_Q
from reference_engine.heaps import layout as col
from reference_engine.heaps.gaps import NEAR
from reference_engine.vectors import dot, minus, plus, row, set_row, set_three, three, times

LEAST = 0.25  # of a gap, or of the floor where that is less: so much a step has to leave of it
SPENT = 0.5  # of the way from the aim down to that: by which a contact may give way that has gone too far
TURNS = 0.25  # rad in half a step: a slip that turns more is about to stop, and the second line finds where it goes
LEAST_BOUNCE = 0.02  # of the restitution; below, there is none
LIFTED = 0.3  # of the barrier: by which a contact rises at most whose usual impulse is gone


@kernel
def world_impulse(contacts, k):
    c = contacts.row[k]
    return cone.in_world_axes(c, three(c, cone.IMPULSE))


@kernel
def contact_point(found, i, b, bodies):
    """Where candidate i's impulse acts: on both bodies the same, so that spins balance.

    Half-way between the two surfaces; with a container that on the body.
    """
    on_a = three(found[i], ON_P)
    return on_a if b == bodies else times(0.5, plus(on_a, three(found[i], ON_Q)))


@kernel
def put_frame(found, i, position, contacts, k):
    """Frame and arms of contact k, from candidate i; its impulse keeps its direction in the world."""
    c, a, b = contacts.row[k], contacts.body[k, 0], contacts.body[k, 1]
    at = contact_point(found, i, b, position.shape[0])
    set_three(c, cone.ARM, minus(at, row(position, a)))
    set_three(c, cone.ARM + 3, minus(at, row(position, b)) if b < position.shape[0] else (0.0, 0.0, 0.0))
    impulse = world_impulse(contacts, k)
    n = three(found[i], NORMAL)
    first, second = tangents(n)
    set_three(c, cone.FRAME, n)
    set_three(c, cone.FRAME + 3, first)
    set_three(c, cone.FRAME + 6, second)
    set_three(c, cone.IMPULSE, cone.along_frame(c, impulse))
    c[cone.IMPULSE] = max(0.0, c[cone.IMPULSE])


@kernel
def parting(found, i, a, b, position, twist):
    """Velocity of b against a where they touch."""
    u, v, w, bodies = 0.0, 0.0, 0.0, position.shape[0]
    for end in range(2):
        c, sign = (a, -1.0) if end == 0 else (b, 1.0)
        if c < bodies:
            x, y, z = minus(contact_point(found, i, b, bodies), row(position, c))
            u += sign * (twist[c, 0] + twist[c, 4] * z - twist[c, 5] * y)
            v += sign * (twist[c, 1] + twist[c, 5] * x - twist[c, 3] * z)
            w += sign * (twist[c, 2] + twist[c, 3] * y - twist[c, 4] * x)
    return u, v, w


@kernel
def approach(found, i, a, b, position, twist):
    """Normal speed of a candidate's two points, negative where they approach."""
    return dot(three(found[i], NORMAL), parting(found, i, a, b, position, twist))


@kernel
def make_contact(found, i, candidates, position, which, bias, contacts, k):
    """Contact k of candidate i, with the impulse that `which` of the two solves of the last step found there."""
    contacts.body[k, 0], contacts.body[k, 1] = candidates.body[i, 0], candidates.body[i, 1]
    c = contacts.row[k]
    c[cone.FRICTION], c[cone.SLIP], c[cone.GIVE] = candidates.coefficients[i, 0], 0.0, 0.0
    for j in range(9):
        c[cone.FRAME + j] = 1.0 if j % 4 == 0 else 0.0
    set_three(c, cone.IMPULSE, row(candidates.warm_start[which], i))
    put_frame(found, i, position, contacts, k)
    set_three(c, cone.BIAS, (bias, 0.0, 0.0))
    contacts.seen[k] = -np.inf
    contacts.candidate[k] = i


@kernel
def let_give(contacts, k, usual, give, rules):
    """Contact k gives way by give (p_n - usual), less where the loss of `usual` alone would lift it by much."""
    c, most = contacts.row[k], LIFTED * rules.barrier / rules.h
    c[cone.GIVE] = min(give, most / usual) if usual > 0.0 else give
    contacts.usual[k] = usual
    c[cone.BIAS] -= c[cone.GIVE] * usual


@kernel
def pressed(candidates, which, i):
    impulse = candidates.warm_start[which, i]
    return impulse[0] != 0.0 or impulse[1] != 0.0 or impulse[2] != 0.0


@kernel
def choose_contacts(rules, candidates, now, ahead, flow, contacts, bodies, progress, added):
    """Contacts of the candidates that may touch within a step; or of those alone that were missed, `added` to the
    others.

    A candidate counts if its gap is below the margin and what its approach covers in a step and a half. contacts.aim:
    the gap that it is to keep: what it has, if that is between floor and barrier, so that to stand still is always
    allowed, or if it was held there when the last step ended: else it would creep on, at rest by its speed.
    What is below the floor, and to open again, has no usual impulse: jammed, it presses no more than it gives way to.
    A hollow sphere's second point that there is `ahead` alone is made from there.
    False: there are more than there is space for.
    """
    found, h = now.found, rules.h
    k = progress.count[col.COUNT] if added else 0
    for i in range(candidates.body.shape[0]):
        if now.sharp[i] == 0 or (added and candidates.chosen[i] != 2):
            continue
        gap, a, b = found[i, 0], candidates.body[i, 0], candidates.body[i, 1]
        if gap == np.inf and not added:
            candidates.chosen[i] = 0
            continue
        far = candidates.chosen[i] == 0 and gap > rules.margin
        if far and gap + 1.5 * h * approach(found, i, a, b, now.position, flow.free) > rules.margin:
            continue
        if k == contacts.candidate.shape[0]:
            return False
        aim = min(rules.barrier, gap if gap >= rules.floor else 2.0 * rules.floor)
        if gap <= NEAR * rules.barrier and pressed(candidates, 1, i):
            aim = max(aim, gap)
        if gap < np.inf:
            make_contact(found, i, candidates, now.position, np.int64(0), (gap - aim) / h, contacts, k)
        else:
            make_contact(ahead.found, i, candidates, ahead.position, np.int64(0), 0.0, contacts, k)
            contacts.row[k, cone.BIAS] = (ahead.found[i, 0] - aim) / h - cone.speed_along(contacts, k, bodies.twist)[0]
        usual = contacts.row[k, cone.IMPULSE] if rules.floor <= gap < np.inf else 0.0
        let_give(contacts, k, usual, progress.measure[col.SOFT], rules)
        contacts.aim[k] = aim
        cone.prepare_contact(contacts, k, bodies)
        candidates.chosen[i] = 1
        k += 1
    progress.count[col.COUNT] = k
    return True


@kernel
def jammed_aim(rules, began):
    """What a gap below the floor is asked for that cannot open: less than it has, so that all such can be met.

    What overlapped stays as it is; what fills the space between two others to the last bit is in the middle.
    """
    if began < -rules.slack:
        return began
    return max(0.0, min(LEAST * min(rules.floor, began) + rules.slack, began - rules.slack))


@kernel
def correct_biases(rules, candidates, now, ahead, contacts, bodies, progress, fresh):
    """What the gaps at the poses ahead ask of the next solve: bias + u_n is (gap - aim) / h there.

    fresh: frames and arms with containers of these poses too, not of pairs, whose spins would not balance. With
    rules.middle the slip is that of the points half-way, the mean of
    both ends' arms. Progress, m: WORST, the largest miss of the law that is solved, 0 <= gap - aim + give perp p_n, of
    such a slip's way, or of the gap that a step has to leave; OFF, the largest miss of 0 <= gap - aim perp p_n. Where a
    contact leaves too little because it gives way it is made stiffer; where it is to open, with all others that are:
    what is jammed between two is held in the middle by both, and by one stiffer than the other beside it. Returns how
    many candidates that were not looked at are below the floor; these are chosen now.
    """
    worst, off, missed, twist, h = 0.0, 0.0, 0, bodies.twist, rules.h
    found, stiffer = ahead.found, 1.0
    for k in range(progress.count[col.COUNT]):
        i, c = contacts.candidate[k], contacts.row[k]
        gap, p_n = found[i, 0] - contacts.aim[k], c[cone.IMPULSE]
        given = h * c[cone.GIVE] * (p_n - contacts.usual[k])
        miss = abs(min(gap + given, h * c[cone.NN] * p_n))
        worst = max(worst, miss) if miss == miss else np.inf
        off = max(off, abs(min(gap, h * c[cone.NN] * p_n)))
        if found[i, 0] == np.inf:  # a hollow sphere's second point that is there no more: nothing is to press there
            c[cone.BIAS] = rules.margin / h + abs(cone.speed_along(contacts, k, twist)[0])
            contacts.seen[k] = -np.inf
            continue
        began = now.found[i, 0]
        least = jammed_aim(rules, began) - rules.slack
        if found[i, 0] < least:
            worst = max(worst, rules.miss + least - found[i, 0])
            spent = SPENT * (contacts.aim[k] - least)
            if given > spent and began < rules.floor:
                stiffer = min(stiffer, spent / given)
            elif given > spent:
                c[cone.GIVE] *= spent / given
                cone.prepare_contact(contacts, k, bodies)
        before, anew = c[cone.BIAS], fresh and contacts.body[k, 1] == now.position.shape[0]
        if anew:
            put_frame(found, i, ahead.position, contacts, k)
            c[cone.BIAS + 1], c[cone.BIAS + 2] = 0.0, 0.0
            cone.prepare_contact(contacts, k, bodies)
        u_n, u_1, u_2 = cone.speed_along(contacts, k, twist)
        c[cone.BIAS] = gap / h - u_n - c[cone.GIVE] * contacts.usual[k]
        if anew or abs(c[cone.BIAS] - before) > 0.1 * rules.tolerance:
            contacts.seen[k] = -np.inf
        if rules.middle and not anew and p_n > 0.0 and c[cone.FRICTION] > 0.0:
            a, b = contacts.body[k, 0], contacts.body[k, 1]
            further = cone.along_frame(c, parting(found, i, a, b, ahead.position, twist))
            for j in range(1, 3):
                shift = 0.5 * (further[j] - (u_1 if j == 1 else u_2))
                worst = max(worst, h * abs(shift - c[cone.BIAS + j]))
                c[cone.BIAS + j] = shift
                contacts.seen[k] = -np.inf
    if stiffer < 1.0:
        for k in range(progress.count[col.COUNT]):
            c, began = contacts.row[k], now.found[contacts.candidate[k], 0]
            if began < rules.floor:
                lower = (1.0 - stiffer) * (contacts.aim[k] - jammed_aim(rules, began))
                contacts.aim[k] -= lower
                c[cone.BIAS] += lower / h
                c[cone.GIVE] *= stiffer
                cone.prepare_contact(contacts, k, bodies)
                contacts.seen[k] = -np.inf
    for i in range(found.shape[0]):
        if candidates.chosen[i] == 0 and found[i, 0] < rules.floor:
            candidates.chosen[i] = 2
            missed += 1
    progress.measure[col.WORST], progress.measure[col.OFF] = worst, off
    return missed


@kernel
def store_impulses(candidates, contacts, count, which):
    """Of all candidates, world axes."""
    warm_start = candidates.warm_start
    for i in range(warm_start.shape[1]):
        set_row(warm_start[which], i, (0.0, 0.0, 0.0))
    for k in range(count):
        set_row(warm_start[which], contacts.candidate[k], world_impulse(contacts, k))


@kernel
def note_bounces(rules, candidates, now, ahead, flow, contacts, progress):
    """How many candidates meet in a step that may bounce: these ask for the impact law at its end."""
    total = 0
    for k in range(progress.count[col.COUNT]):
        i = contacts.candidate[k]
        if candidates.coefficients[i, 1] > 0.0 and ahead.found[i, 0] <= NEAR * rules.barrier:
            a, b = candidates.body[i, 0], candidates.body[i, 1]
            if now.found[i, 0] < np.inf:
                speed = approach(now.found, i, a, b, now.position, flow.start)
            else:
                speed = approach(ahead.found, i, a, b, ahead.position, flow.start)
            if speed < -rules.bounce_speed:
                total += 1
    progress.count[col.BOUNCING] = total


@kernel
def closed_contacts(rules, candidates, now, contacts, bodies, progress):
    """Contacts of the candidates whose gaps are as a contact's may be, or that have pressed: none is to approach now.

    They start from the impulses that led here: what is jammed has many solutions, and at rest both lines need one.
    """
    k = 0
    for i in range(candidates.body.shape[0]):
        if now.sharp[i] == 1 and (now.found[i, 0] <= NEAR * rules.barrier or pressed(candidates, 0, i)):
            if k == contacts.candidate.shape[0]:
                return False
            make_contact(now.found, i, candidates, now.position, np.int64(0), 0.0, contacts, k)
            cone.prepare_contact(contacts, k, bodies)
            k += 1
    progress.count[col.COUNT] = k
    return True


@kernel
def link_islands(flow, contacts, bodies, progress):
    """Bodies that contacts link; each island has all of its restitution at first."""
    for i in range(flow.island.shape[0]):
        flow.island[i], flow.bounce[i] = i, 1.0
    changes = True
    while changes:
        changes = False
        for k in range(progress.count[col.COUNT]):
            a, b = contacts.body[k, 0], contacts.body[k, 1]
            if bodies.inverse_mass[a] > 0.0 and bodies.inverse_mass[b] > 0.0 and flow.island[a] != flow.island[b]:
                flow.island[a] = flow.island[b] = min(flow.island[a], flow.island[b])
                changes = True


@kernel
def island_of(flow, contacts, bodies, k):
    a, b = contacts.body[k, 0], contacts.body[k, 1]
    return flow.island[a if bodies.inverse_mass[a] > 0.0 else b]


@kernel
def ask_for_bounces(rules, candidates, flow, contacts, bodies, progress):
    """u_n' >= -e u_n of the speeds before, whatever their sign (Moreau 1988): so no impulses of all gain energy.

    Times the share that the island has left.
    """
    for k in range(progress.count[col.COUNT]):
        speed, _, _ = cone.speed_along(contacts, k, flow.before)
        bounce = 0.0
        if abs(speed) > rules.bounce_speed:
            share = flow.bounce[island_of(flow, contacts, bodies, k)]
            bounce = share * candidates.coefficients[contacts.candidate[k], 1] * speed
        contacts.row[k, cone.BIAS] = bounce
        contacts.seen[k] = -np.inf


@kernel
def dull_what_gains(rules, flow, contacts, bodies, progress, share):
    """Whether impulses of impacts did work in some island, 1/2 sum P . (u + u'), by more than what the law may be
    missed by; it bounces less then."""
    flow.gain[:] = 0.0
    for k in range(progress.count[col.COUNT]):
        c, island = contacts.row[k], island_of(flow, contacts, bodies, k)
        first, last = cone.speed_along(contacts, k, flow.before), cone.speed_along(contacts, k, bodies.twist)
        for j in range(3):
            flow.gain[island, 0] += 0.5 * c[cone.IMPULSE + j] * (first[j] + last[j])
            flow.gain[island, 1] += abs(c[cone.IMPULSE + j])
    found = False
    for i in range(flow.gain.shape[0]):
        if flow.bounce[i] > 0.0 and flow.gain[i, 0] > rules.last_tolerance * flow.gain[i, 1]:
            flow.bounce[i] = duller(flow.bounce[i], share)
            found = True
    return found


@kernel
def duller(bounce, share):
    return share * bounce if bounce > LEAST_BOUNCE else 0.0


@kernel
def undo_turn(count, start, now, flow, contacts, bodies):
    """Sets the slip biases of the second line: less the turn of the slip in half a step, taken from the first half.

    The first line of a step takes the slip half-way. If the second took that of the end, friction would act along the
    slip at 3/4 of the step on the mean, and a slip that turns at a rate w would be h w / 4 off: order 1.
    start, now: the poses where the step began, and where it led; bodies.twist is still that of the middle. The change
    along the slip is left: it does not turn friction.
    """
    for k in range(count):
        c, i = contacts.row[k], contacts.candidate[k]
        if c[cone.FRICTION] == 0.0 or start.sharp[i] == 0 or start.found[i, 0] == np.inf:
            continue
        a, b = contacts.body[k, 0], contacts.body[k, 1]
        u, v, w = parting(start.found, i, a, b, start.position, bodies.twist)
        x, y, z = parting(now.found, i, a, b, now.position, bodies.twist)
        u, v, w = 0.5 * (u + x), 0.5 * (v + y), 0.5 * (w + z)
        x, y, z = parting(start.found, i, a, b, start.position, flow.start)
        _, s, t = cone.along_frame(c, (u, v, w))
        p = s - c[cone.FRAME + 3] * x - c[cone.FRAME + 4] * y - c[cone.FRAME + 5] * z
        q = t - c[cone.FRAME + 6] * x - c[cone.FRAME + 7] * y - c[cone.FRAME + 8] * z
        square = s * s + t * t
        if square > 0.0:
            turn = (s * q - t * p) / square
            if abs(turn) < TURNS:
                c[cone.BIAS + 1], c[cone.BIAS + 2] = turn * t, -turn * s

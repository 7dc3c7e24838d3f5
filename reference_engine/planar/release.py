"""What ends the present set of contacts: a force falls through zero or leaves its cone, slip stops, an edge ends."""

import numpy as np

from reference_engine.compiler.kernels import kernel
from reference_engine.contact_problems.friction_modes import FULL_PLUS, SLIPS_PLUS, STICKS
from reference_engine.dop853 import dense_state
from reference_engine.planar import layout as col
from reference_engine.planar.features import OVER_END, distance_to_end
from reference_engine.planar.layout import copy
from reference_engine.planar.rows import delassus_diagonal, divide_active, measure, rate
from reference_engine.planar_model.external import acts_by_plan

SIGN_CHECKS = np.int64(8)  # at a step, for the first sign
NEAR_LEAST = 0.25  # of its bend over three checks: so near 0 the least of a parabola through them is looked at
STEEPEST = 1.25  # of its bend a slope at the middle one, where it has a least between them, or just beyond
GOLDEN = 0.6180339887498949  # of what is left where a least margin is searched for
MOST_SEARCHES = 30
SLIDES_FOR_CERTAIN = 100.0  # times the round-off of a rate
OPENS_FOR_CERTAIN = 2.0  # times the round-off of a rate, or what rates are that ought to be 0
FORCE, CONE, SLIP_ENDS, EDGE = np.int64(0), np.int64(1), np.int64(2), np.int64(3)  # which of a contact's conditions
CONDITIONS = np.int64(4)  # of a contact: columns of work.margin in a slot
SEARCH = np.int64(3)  # the slot of a search; those before it are of the last three checks


@kernel
def along(contacts, k, G):
    """The slip of contact k in the direction of its mode [m/s]."""
    return G[k, col.SLIP] if contacts.id[k, col.MODE] in (SLIPS_PLUS, FULL_PLUS) else -G[k, col.SLIP]


@kernel
def margin(run, time, y, slot):
    """(least margin, contact, condition): negative once a contact pulls or slips though it sticks (by more than PULL),

    slides the other way (by more than work.spare, m/s), or is past its edge; or once one that has no force of its own
    opens, or closes further, as the others let it where an arm all but vanishes. All of them are left in work.margin,
    in the columns of the slot.
    """
    model, contacts, work, pull = run.model, run.active, run.work, run.loop.now[col.PULL]
    rate(run, time, y, work.rate)
    least, at, what, closed = np.inf, np.int64(-1), FORCE, OPENS_FOR_CERTAIN * run.loop.now[col.STILL]
    for k in range(run.loop.counters[col.ACTIVE]):  # the rates that are to be 0 show how exact this state is
        if work.redundant[k] == 0:
            closed = max(closed, OPENS_FOR_CERTAIN * abs(work.geometry[k, col.RATE]))
    for k in range(run.loop.counters[col.ACTIVE]):
        role, mode, found = contacts.id[k, col.ROLE], contacts.id[k, col.MODE], work.margin[k]
        for condition in range(CONDITIONS):
            found[CONDITIONS * slot + condition] = np.inf
        if role == col.JOINT:
            continue
        stiff = delassus_diagonal(model, contacts, k, work.geometry)
        found[CONDITIONS * slot + FORCE] = work.force[k, 0] * stiff + pull
        if work.redundant[k] == 1 and abs(work.geometry[k, col.RATE]) > closed:
            found[CONDITIONS * slot + FORCE] = closed - abs(work.geometry[k, col.RATE])
        if mode == STICKS:
            reserve = contacts.value[k, col.STATIC_FRICTION] * work.force[k, 0] - abs(work.force[k, 1])
            found[CONDITIONS * slot + CONE] = reserve * stiff + pull
        elif mode >= SLIPS_PLUS:
            found[CONDITIONS * slot + SLIP_ENDS] = along(contacts, k, work.geometry) + work.spare[k]
        found[CONDITIONS * slot + EDGE] = distance_to_end(model, y, contacts, k, work.geometry) + OVER_END
        for condition in range(CONDITIONS):
            if found[CONDITIONS * slot + condition] < least:
                least, at, what = found[CONDITIONS * slot + condition], np.int64(k), np.int64(condition)
    return least, at, what


@kernel
def margin_within(run, x, slot):
    """The same at the fraction x of the step."""
    now, work = run.loop.now, run.work
    if x == 0.0:
        copy(run.loop.y, work.state)
    else:
        dense_state(run.loop.y, work.dense, x, run.model.free, work.state)
    return margin(run, now[col.TIME] + x * now[col.DENSE], work.state, slot)


@kernel
def first_release(run, until):
    """(fraction of the step, contact, condition) up to `until`; (2, -1, _) if every contact holds.

    Looks at the start and eight times more, at fewer where the step is shorter than the one that the tolerance allows
    and no force acts by a plan, and between three of them where the parabola through a margin comes near 0.
    """
    contacts, work, now, y = run.active, run.work, run.loop.now, run.loop.y
    still = now[col.STILL]
    divide_active(run)
    for k in range(run.loop.counters[col.ACTIVE]):  # what has just begun to slide may do so by round-off, or turn back
        measure(run.model, y, contacts, k, work.geometry)
        slip = along(contacts, k, work.geometry)
        work.spare[k] = still + max(0.0, -slip) if abs(slip) < SLIDES_FOR_CERTAIN * still else 0.0
    checks = SIGN_CHECKS
    if not acts_by_plan(run.forces):
        checks = min(SIGN_CHECKS, 1 + np.int64(SIGN_CHECKS * until * now[col.DENSE] / now[col.STEP]))
    before, earlier, m_earlier = 0.0, 0.0, np.inf
    m_before, _, _ = margin_within(run, 0.0, np.int64(0))
    for check in range(1, checks + 1):
        after = until * check / checks
        m_after, at, what = margin_within(run, after, np.int64(check % 3))
        x = first_dip(run, check, earlier, after) if check > 1 and m_earlier >= 0.0 else 2.0
        if x <= 1.0:
            m, where, which = margin_within(run, x, SEARCH)
            return first_sign(run, until, earlier, m_earlier, x, m, where, which)
        if m_after < 0.0:
            return first_sign(run, until, before, m_before, after, m_after, at, what)
        earlier, m_earlier, before, m_before = before, m_before, after, m_after
    return 2.0, np.int64(-1), FORCE


@kernel
def first_dip(run, check, earlier, after):
    """A fraction of the step in which a margin is below 0 that is not so at the last three checks; 2 without one."""
    margin, first, slots = run.work.margin, 2.0, ((check - 2) % 3, (check - 1) % 3, check % 3)
    for k in range(run.loop.counters[col.ACTIVE]):
        for condition in range(CONDITIONS):
            m0 = margin[k, CONDITIONS * slots[0] + condition]
            m1 = margin[k, CONDITIONS * slots[1] + condition]
            m2 = margin[k, CONDITIONS * slots[2] + condition]
            if min(m0, m1, m2) >= 0.0 and max(m0, m1, m2) < np.inf and may_dip(m0, m1, m2):
                first = min(first, below_zero(run, k, condition, earlier, after))
    return first


@kernel
def may_dip(m0, m1, m2):
    """Does the parabola through three margins, evenly apart, come near 0 between them?"""
    bend, slope = m0 - 2.0 * m1 + m2, 0.5 * (m2 - m0)
    return abs(slope) < STEEPEST * bend and m1 - 0.5 * slope * slope / bend < NEAR_LEAST * bend


@kernel
def below_zero(run, k, condition, low, high):
    """A fraction of the step between these where this margin is below 0, by golden sections; 2 if its least is not."""
    margin, column = run.work.margin, CONDITIONS * SEARCH + condition
    a, b = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    margin_within(run, a, SEARCH)
    m_a = margin[k, column]
    margin_within(run, b, SEARCH)
    m_b = margin[k, column]
    for _ in range(MOST_SEARCHES):
        if m_a < 0.0:
            return a
        if m_b < 0.0:
            return b
        if m_a < m_b:
            high, b, m_b = b, a, m_a
            a = high - GOLDEN * (high - low)
            margin_within(run, a, SEARCH)
            m_a = margin[k, column]
        else:
            low, a, m_a = a, b, m_b
            b = low + GOLDEN * (high - low)
            margin_within(run, b, SEARCH)
            m_b = margin[k, column]
    return 2.0


@kernel
def first_sign(run, until, before, m_before, after, m_after, at, what):
    """(fraction, contact, condition) of the sign change between both, by regula falsi (Dowell & Jarratt 1971: Illinois
    form)."""
    side = 0
    for _ in range(200):
        x = (m_before * after - m_after * before) / (m_before - m_after)
        if m_before <= 0.0 or side > 3 or side < -3 or not (before < x < after):
            x = 0.5 * (before + after)
        if x <= before or x >= after or after - before < 1e-15 * until:
            break
        m, where, which = margin_within(run, x, SEARCH)
        if m < 0.0:
            after, m_after, at, what = x, m, where, which
            side = side + 1 if side > 0 else 1
            if side > 1:
                m_before *= 0.5
        else:
            before, m_before = x, m
            side = side - 1 if side < 0 else -1
            if side < -1:
                m_after *= 0.5
    return after, at, what

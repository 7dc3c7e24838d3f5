"""What ends the present set of contacts: a force falls through zero or leaves its cone, slip stops, an edge ends."""

import numpy as np

from reference_engine.compiler.kernels import kernel
from reference_engine.contact_problems.friction_modes import FULL_PLUS, SLIPS_PLUS, STICKS
from reference_engine.dop853 import dense_state
from reference_engine.planar import layout as col
from reference_engine.planar.features import OVER_END, distance_to_end
from reference_engine.planar.layout import copy
from reference_engine.planar.rows import delassus_diagonal, divide_active, measure, rate

SIGN_CHECKS = np.int64(8)  # at a step, for the first sign
SLIDES_FOR_CERTAIN = 100.0  # times the round-off of a rate
FORCE, CONE, SLIP_ENDS, EDGE = np.int64(0), np.int64(1), np.int64(2), np.int64(3)  # which of a contact's conditions


@kernel
def along(contacts, k, G):
    """The slip of contact k in the direction of its mode [m/s]."""
    return G[k, col.SLIP] if contacts.id[k, col.MODE] in (SLIPS_PLUS, FULL_PLUS) else -G[k, col.SLIP]


@kernel
def margin(run, time, y):
    """(least margin, contact, condition): negative once a contact pulls or slips though it sticks (by more than PULL),

    slides the other way (by more than work.spare, m/s), or is past its edge.
    """
    model, contacts, work, pull = run.model, run.active, run.work, run.loop.now[col.PULL]
    rate(run, time, y, work.rate)
    least, at, what = np.inf, np.int64(-1), FORCE
    for k in range(run.loop.counters[col.ACTIVE]):
        role, mode = contacts.id[k, col.ROLE], contacts.id[k, col.MODE]
        if role == col.JOINT:
            continue
        stiff = delassus_diagonal(model, contacts, k, work.geometry)
        m = work.force[k, 0] * stiff + pull
        if m < least:
            least, at, what = m, np.int64(k), FORCE
        if mode == STICKS:
            reserve = contacts.value[k, col.STATIC_FRICTION] * work.force[k, 0] - abs(work.force[k, 1])
            m = reserve * stiff + pull
            if m < least:
                least, at, what = m, np.int64(k), CONE
        elif mode >= SLIPS_PLUS:
            m = along(contacts, k, work.geometry) + work.spare[k]
            if m < least:
                least, at, what = m, np.int64(k), SLIP_ENDS
        m = distance_to_end(model, y, contacts, k, work.geometry) + OVER_END
        if m < least:
            least, at, what = m, np.int64(k), EDGE
    return least, at, what


@kernel
def first_release(run, until):
    """(fraction of the step, contact, condition) up to `until`; (2, -1, _) if every contact holds.

    Looks at eight times, at fewer where the step is shorter than the one that the tolerance allows; the first sign is
    narrowed down by regula falsi (Dowell & Jarratt's Illinois form, 1971).
    """
    model, contacts, work, now, y = run.model, run.active, run.work, run.loop.now, run.loop.y
    time, h, still, state, before, m_before = now[col.TIME], now[col.DENSE], now[col.STILL], work.state, 0.0, np.inf
    divide_active(run)
    for k in range(run.loop.counters[col.ACTIVE]):  # what has just begun to slide may do so by round-off, or turn back
        measure(model, y, contacts, k, work.geometry)
        slip = along(contacts, k, work.geometry)
        work.spare[k] = still + max(0.0, -slip) if abs(slip) < SLIDES_FOR_CERTAIN * still else 0.0
    checks = min(SIGN_CHECKS, 1 + np.int64(SIGN_CHECKS * until * h / now[col.STEP]))
    for check in range(1, checks + 1):
        after = until * check / checks
        dense_state(y, work.dense, after, model.free, state)
        m_after, at, what = margin(run, time + after * h, state)
        if m_after < 0.0:
            if m_before == np.inf:
                copy(y, state)
                m_before, _, _ = margin(run, time, state)
            side = 0
            for _ in range(200):
                x = (m_before * after - m_after * before) / (m_before - m_after)
                if m_before <= 0.0 or side > 3 or side < -3 or not (before < x < after):
                    x = 0.5 * (before + after)
                if x <= before or x >= after or after - before < 1e-15 * until:
                    break
                dense_state(y, work.dense, x, model.free, state)
                m, where, which = margin(run, time + x * h, state)
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
        before, m_before = after, m_after
    return 2.0, np.int64(-1), FORCE

"""One-sided joints and taut ropes: which of them hold, and what happens when they close."""

import numpy as np

from reference_engine.array_types import Array, Flags
from reference_engine.contact_problems.contact_forces import required_forces
from reference_engine.dense import lstsq, mul
from reference_engine.elementary import squared
from reference_engine.multibody.dynamics import System

CLOSED = 1e-12  # of the mechanism's size: a gap that counts as none
STILL = 1e-10  # of the speeds: a rate that counts as none
LEAST_MULTIPLIER = 1e-9  # of the greatest multiplier: less does not hold


def active_rows(system: System, time: float, y: Array, bilateral: Flags, pace: float) -> Flags:
    """Rows that are held from here on: the two-sided ones, and of the closed ones at rest those that push.

    Forces and accelerations of the gaps are complementary, and come from one solve with the joints. pace: m/s, the
    greatest speed so far; what is far below it is rest.
    """
    q, v = system.split(y)
    constraints = system.constraints_at(q, bilateral | system.rows.one_sided, time)
    closed = system.rows.one_sided & (constraints.placed.gap <= CLOSED * system.size)
    parting = system.rates(constraints, v)
    for k in np.flatnonzero(closed & (parting > STILL * pace)):  # but for those that come back before they were open
        weight = closing_acceleration(system, time, y, int(k), bilateral | (np.arange(len(closed)) == k))
        closed[k] = squared(parting[k]) <= 2.0 * weight * CLOSED * system.size
    if not closed.any():
        return bilateral
    found = bilateral.copy()
    among = bilateral | closed
    everything = system.constraints_at(q, among, time)
    S = system.scaled(everything.jacobian, everything.rotation, among)
    rates = system.free_rates(time, y, everything)[among]
    force = required_forces(mul(S, S.T), rates, bilateral[among])
    presses = force > LEAST_MULTIPLIER * max(1e-300, float(np.abs(force).max(initial=0.0)))
    found[np.flatnonzero(among)[presses & ~bilateral[among]]] = True
    return found


def after_impact(system: System, time: float, y: Array, bilateral: Flags, pace: float) -> tuple[Array, Array, Array]:
    """y after the impulses of what closes now, the change of gap rates that they are worth (N,), 0 where none acts, and
    how long rows that come to rest would still have bounced (N,) [s].

    Newton's law at each one-sided row that approaches, all at once and through the joints: rates after >= -e before,
    impulses >= 0, one of them 0. A row whose bounce would not come above what counts as closed rests from here on: the
    impulses of all bounces that were to come are those of its weight over that time, less what this one was to bring.
    """
    q, v = system.split(y)
    rows = system.rows
    constraints = system.constraints_at(q, bilateral | rows.one_sided, time)
    before = system.rates(constraints, v)
    closed = rows.one_sided & (constraints.placed.gap <= CLOSED * system.size)
    left = np.zeros(rows.count)
    if not (closed & (before < -STILL * pace)).any():
        return y, np.zeros(rows.count), left
    among = bilateral | closed
    S = system.scaled(constraints.jacobian, constraints.rotation, among)

    def after(restitution: Array) -> tuple[Array, Array]:
        aim = before + np.where(before < 0.0, restitution * before, 0.0)
        impulse = np.zeros(rows.count)
        impulse[among] = required_forces(mul(S, S.T), aim[among], bilateral[among])
        following = v + system.unscaled(mul(S.T, impulse[among]), constraints.rotation)
        return np.concatenate([q.ravel(), following.ravel()]), impulse

    restitution = rows.restitution.copy()
    bounce = np.where(closed, -restitution * before, 0.0)  # m/s
    if (bounce > 0.0).any():
        stopped, _ = after(np.where(bounce > 0.0, 0.0, restitution))
        resting = active_rows(system, time, stopped, bilateral, pace)
        for k in np.flatnonzero((bounce > 0.0) & resting):
            weight = closing_acceleration(system, time, stopped, int(k), resting)
            if squared(bounce[k]) <= 2.0 * weight * CLOSED * system.size:
                left[k] = 2.0 * bounce[k] / (weight * (1.0 - restitution[k])) if restitution[k] < 1.0 else 0.0
                restitution[k] = 0.0
    return *after(restitution), left


def closing_acceleration(system: System, time: float, y: Array, k: int, resting: Flags) -> float:
    """m/s^2, at which the gap of row k would close if it did not hold, but the other resting ones did."""
    q, _ = system.split(y)
    constraints = system.constraints_at(q, resting, time)
    S = system.scaled(constraints.jacobian, constraints.rotation, resting)
    rates = system.free_rates(time, y, constraints)[resting]
    own = np.flatnonzero(resting) == k
    W = mul(S, S.T)
    force = lstsq(W[np.ix_(~own, ~own)], -rates[~own])
    return float(-(rates[own] + mul(W[np.ix_(own, ~own)], force))[0])

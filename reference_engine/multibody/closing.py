"""One-sided joints and taut ropes: which of them hold, and what happens when they close."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reference_engine.complementarity.contact_forces import required_forces
from reference_engine.multibody.dynamics import System, speed_of

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

CLOSED = 1e-12  # of the mechanism's size: a gap that counts as none
STILL = 1e-10  # of the speeds: a rate that counts as none
PUSHES = 1e-9  # of the greatest multiplier: less does not hold


def holding(system: System, time: float, y: Array, bilateral: Flags) -> Flags:
    """Rows that are held from here on: the two-sided ones, and of the closed ones at rest those that push.

    Forces and accelerations of the gaps are complementary, and come from one solve with the joints.
    """
    q, v = system.split(y)
    held = system.hold(q, bilateral | system.rows.one_sided, time)
    still = STILL * max(speed_of(system, v), 1e-300)
    closed = system.rows.one_sided & (held.placed.gap <= CLOSED * system.size)
    closed &= system.rates(held, v) <= still
    if not closed.any():
        return bilateral
    found = bilateral.copy()
    among = bilateral | closed
    everything = system.hold(q, among, time)
    S = system.scaled(everything.jacobian, everything.rotation, among)
    rates = system.free_rates(time, y, everything)[among]
    force = required_forces(S @ S.T, rates, bilateral[among])
    pushes = force > PUSHES * max(1e-300, float(np.abs(force).max(initial=0.0)))
    found[np.flatnonzero(among)[pushes & ~bilateral[among]]] = True
    return found


def struck(system: System, time: float, y: Array, bilateral: Flags) -> tuple[Array, Array]:
    """y after the impulses of what closes now, and the change of gap rates that they are worth (N,), 0 where none acts.

    Newton's law at each one-sided row that approaches, all at once and through the joints: rates after >= -e before,
    impulses >= 0, one of them 0.
    """
    q, v = system.split(y)
    rows = system.rows
    held = system.hold(q, bilateral | rows.one_sided, time)
    before = system.rates(held, v)
    closed = rows.one_sided & (held.placed.gap <= CLOSED * system.size)
    approach = closed & (before < -STILL * max(speed_of(system, v), 1e-300))
    impulse = np.zeros(rows.count)
    if not approach.any():
        return y, impulse
    among = bilateral | closed
    S = system.scaled(held.jacobian, held.rotation, among)
    aim = before + np.where(before < 0.0, rows.restitution * before, 0.0)
    j = required_forces(S @ S.T, aim[among], bilateral[among])
    impulse[among] = j
    after = v + system.unscaled(S.T @ j, held.rotation)
    return np.concatenate([q.ravel(), after.ravel()]), impulse

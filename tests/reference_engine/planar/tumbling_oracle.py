"""A block that falls on a corner and comes to rest, by scipy's event location: the independent oracle of its events.

Newton's impact law, no friction; a corner that rests takes the impulse that it needs to stay, if it needs one.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.integrate import solve_ivp

G = 9.81
WIDE, HIGH, TILT, FALL, BACK = 1.0, 0.5, 0.3, 1.0, 0.5  # m, m, rad, m, restitution
SHORTEST = 1e-7  # s: bounces below it are summed up


class Block:
    """Height z of the centre and tilt theta; corner i at height z + s_i w/2 sin - h/2 cos, at an arm r_i = its slope.

    Unit mass, so I = (w^2 + h^2) / 12.
    """

    inertia = (WIDE**2 + HIGH**2) / 12.0

    def corner(self, y, i):
        s = -0.5 * WIDE if i == 0 else 0.5 * WIDE
        return float(y[0] + s * math.sin(y[2]) - 0.5 * HIGH * math.cos(y[2]))

    def arm(self, y, i):
        s = -0.5 * WIDE if i == 0 else 0.5 * WIDE
        return float(s * math.cos(y[2]) + 0.5 * HIGH * math.sin(y[2]))

    def flight(self, _, y):
        return y[1], -G, y[3], 0.0

    def leaning(self, i):
        """On corner i: z'' + r theta'' + r' theta'^2 = 0."""
        s = -0.5 * WIDE if i == 0 else 0.5 * WIDE

        def rate(_, y):
            r, bend = self.arm(y, i), -s * math.sin(y[2]) + 0.5 * HIGH * math.cos(y[2])
            apply_forces = (G - bend * y[3] ** 2) / (1.0 + r * r / self.inertia)
            return y[1], apply_forces - G, y[3], apply_forces * r / self.inertia

        return rate

    def impact_times(self, y, i, active):
        """Newton's law at corner i; a corner that is held takes what impulse it needs to stay, if it needs one."""
        y, r = np.array(y), self.arm(y, i)
        closing = y[1] + r * y[3]
        K, wanted = 1.0 + r * r / self.inertia, -(1.0 + BACK) * closing
        impulse, support, q = wanted / K, 0.0, 0.0
        if active is not None:
            q = self.arm(y, active)
            mixed, own = 1.0 + r * q / self.inertia, 1.0 + q * q / self.inertia
            if mixed < 0.0:
                impulse = wanted / (K - mixed * mixed / own)
                support = -mixed * impulse / own
        return y + np.array([0.0, impulse + support, 0.0, (impulse * r + support * q) / self.inertia])


def rest_times(rtol: float, method: str = "DOP853") -> np.ndarray:
    """The ends of the two accumulations."""
    block = Block()
    now, y, active, ends = 0.0, np.array([FALL, 0.0, TILT, 0.0]), None, []
    longest = math.inf
    last = [None, None]
    while len(ends) < 2:
        free = [i for i in range(2) if i != active]
        events = []
        for i in free:

            def closing(_, y, i=i):
                return block.corner(y, i)

            closing.terminal, closing.direction = True, -1
            events.append(closing)
        rate = block.flight if active is None else block.leaning(active)
        # Without a bound its first step passes over a short bounce, and finds no event or one at its own beginning.
        found = solve_ivp(rate, (now, now + 5.0), y, method, rtol=rtol, atol=rtol, events=events, max_step=longest)
        now, y = float(found.t[-1]), found.y[:, -1]
        i = next(k for k, times in zip(free, found.t_events) if len(times))
        flight = math.inf if last[i] is None else now - last[i]
        last[i] = now
        y = block.impact_times(y, i, active)
        longest = 0.4 * (y[1] + block.arm(y, i) * y[3]) / G
        if flight < SHORTEST:
            ends.append(now + flight * BACK / (1.0 - BACK))
            active, r = i, block.arm(y, i)
            longest = math.inf if len(ends) == 2 else 0.01
            impulse = -(y[1] + r * y[3]) / (1.0 + r * r / block.inertia)
            y = y + np.array([0.0, impulse, 0.0, impulse * r / block.inertia])
    return np.array(ends)

"""Joints held by accelerations: the index-reduced equations, an error-controlled step, then a projection.

J a + gamma = 0 alone holds the second derivative of the gaps; errors of integration let them drift. `projection`
closes gaps and their rates after every step (Lubich 1991: it does not lower the order); `baumgarte` adds
2 alpha g' + alpha^2 g instead; `none` lets them drift. Steps: Dormand and Prince's method of order 8, with dense output
(Hairer, Norsett & Wanner 1993, "Solving Ordinary Differential Equations I", II.5 and II.6).

Where a linkage passes a singular position (a parallelogram that lies flat), the smooth motion goes on, but beside it
accelerations grow as one over the distance to that position, and the steps of the method shrink with it. Such a stretch
is handed to impulses, which close gaps and know no accelerations.
"""

import math
from collections.abc import Callable
from typing import Literal

import numpy as np

from reference_engine.array_types import Array, Flags
from reference_engine.errors import JointError, MechanismError
from reference_engine.multibody.dynamics import System
from reference_engine.multibody.impulses import ByImpulses
from reference_engine.ode import Dop853

Stabilise = Literal["projection", "baumgarte", "none"]
FINEST = 2.3e-14  # relative tolerance that doubles can meet
CRAWL = 3e-3  # of the largest step so far, where joints are also
LOOSE, FIRM = 1e-2, 2e-2  # as firm as they were, by their smallest singular value: impulses take over, and give back
SHARES = (1.0, 0.83, 0.61, 0.37)  # of the first step by impulses, where others fail
RUNS_AWAY = 1e100  # of a state: its squares would be infinite soon


class ByAccelerations:
    """Steps of one set of active rows. `gap_moved` [m] and `energy_moved` [J] are what projection had to do so far."""

    def __init__(
        self, system: System, time: float, y: Array, active: Flags, tolerance: float, stabilise: Stabilise, alpha: float
    ) -> None:
        if stabilise == "baumgarte" and not (math.isfinite(alpha) and alpha >= 0.0):
            raise MechanismError(f"alpha: {alpha!r} 1/s; finite and at least 0")
        self.system, self.active, self.stabilise = system, active, stabilise
        self.alpha = alpha if stabilise == "baumgarte" else 0.0
        self.time, self.y, self._tolerance = time, y, tolerance
        self.energy_moved = self.gap_moved = 0.0
        self._longest, self._firmest = 0.0, self._firmness(y)
        self._most: int | None = None
        self._by_impulses = stabilise == "projection" and not (
            system.depends_on_speed or system.rows.rolling or system.rows.by_time
        )
        self._start()

    def _start(self) -> None:
        system = self.system
        self._count()
        self._solver = Dop853(
            self.rate, self.time, self.y, np.inf, rtol=max(FINEST, self._tolerance),
            atol=self._tolerance * system.scales(self.time, self.y, self.active),
        )  # fmt: skip

    def rate(self, time: float, y: Array) -> Array:
        """y'; of what a step that was too long has thrown out of all numbers none, and the step is made again."""
        if not np.abs(y).max() < RUNS_AWAY:
            return np.full_like(y, np.nan)
        q, v = self.system.split(y)
        a = self.system.accelerations(time, y, self.active, self.alpha, self._most)[0]
        return np.concatenate([self.system.poses.rate(q, v).ravel(), a.ravel()])

    def _count(self) -> None:
        """How many rows are independent, where the joints are closed: until the next step ends."""
        if self.stabilise == "projection":
            self._most = len(self.system.constraints_at(self.system.split(self.y)[0], self.active, self.time).s)

    def _firmness(self, y: Array) -> float:
        """The smallest singular value of the active rows by the greatest; 1 without any."""
        s = self.system.constraints_at(self.system.split(y)[0], self.active).s
        return float(s[-1] / s[0]) if len(s) else 1.0

    def step(self, until: float) -> Callable[[float], Array]:
        """One step, or a part of one to `until`; gives the states of it as a function of time, until the next step.

        Raises JointError.
        """
        crawls = self._by_impulses and self._solver.h_abs < CRAWL * self._longest
        if crawls and self._firmness(self.y) < LOOSE * self._firmest:
            return self._pass()
        return self._step(until)

    def _pass(self) -> Callable[[float], Array]:
        """By impulses, until the joints are firm again."""
        start, before = self.time, self.y

        def led(until: float) -> ByImpulses:
            """Steps that end too near the singular position find no next one: others then, of another first length."""
            for share in SHARES:
                segment = ByImpulses(self.system, start, before, self.active, self._tolerance, share=share)
                try:
                    while segment.time < until and (
                        segment.time == start or self._firmness(segment.y) < FIRM * self._firmest
                    ):
                        segment.step(until)
                    return segment
                except JointError as error:
                    failed = error
            raise failed

        through = led(np.inf)
        self.time, self.y = through.time, through.y
        self.gap_moved = max(self.gap_moved, through.gap_moved)
        self.energy_moved += through.energy_moved
        self._longest = 0.0
        self._start()
        ended, after = self.time, self.y
        return lambda time: after if time == ended else led(time).y

    def _step(self, until: float) -> Callable[[float], Array]:
        solver = self._solver
        if self.y is not solver.y:
            solver.y, solver.f = self.y, self.rate(self.time, self.y)
        solver.t_bound, solver.status, asked = until, "running", solver.h_abs
        message = solver.step()
        if solver.status == "failed":
            raise JointError(f"t = {solver.t:.9g} s: {message}")
        if solver.t == until:
            solver.h_abs = max(solver.h_abs, asked)  # a step cut short says nothing of the next
        self._longest = max(self._longest, solver.t - self.time)
        self.time, raw = solver.t, solver.y
        self.y = self._settled(raw, self.time)
        if self.stabilise == "projection":
            gap, energy = self.system.moved_by(raw, self.y, self.active, self.time)
            self.gap_moved, self.energy_moved = max(self.gap_moved, gap), self.energy_moved + energy
        self._count()
        dense: list[Callable[[float], Array]] = []

        def at(time: float) -> Array:
            if time == self.time:
                return self.y
            if not dense:
                dense.append(solver.dense_output())
            return self._settled(dense[0](time), time)

        return at

    def _settled(self, raw: Array, time: float) -> Array:
        if self.stabilise == "projection":
            return self.system.close(raw, self.active, time, self._most)
        q, v = self.system.split(raw)
        return np.concatenate([self.system.poses.tidy(q).ravel(), v.ravel()])

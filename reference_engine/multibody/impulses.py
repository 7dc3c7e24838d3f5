"""Joints held by impulses: a free motion, an impulse that closes the gaps at its end, one that stops their rates.

The base step of length h, at poses q and momenta p = M v:

    p += h/2 f(q) + J(q)^T j        j such that the free motion of p over h ends with g(q1) = 0
    q1 = the free motion: straight on, turning with the angular momentum kept
    p += h/2 f(q1) + J(q1)^T j1     j1 such that J(q1) v = 0

j = K^-1 (-g / h), K = J M^-1 J^T, repeated with the gap that is left: the lesson's correction by d / dt, with K of the
rows alone, linear and angular ones together. With the second impulse it is symmetric in time and of order 2 (RATTLE:
Andersen 1983, J. Comp. Phys. 52; Hairer, Lubich & Wanner 2006, "Geometric Numerical Integration", VII.1.4). Asymmetric
bodies turn by exact turns about the momentum and their principal axes (Dullweber, Leimkuhler & McLachlan 1997).

Errors of a symmetric method go with even powers of h, so that results of H in 2, 4, 6, ... base steps extrapolate to
order 4, 6, 8, ... (Gragg 1965; Hairer, Norsett & Wanner II.9): that is how impulses come to the tolerance.
"""

from collections.abc import Callable

import numpy as np

from reference_engine.array_types import Array, Flags
from reference_engine.dense import mul
from reference_engine.elementary import squared
from reference_engine.errors import JointError, MechanismError
from reference_engine.multibody.dynamics import Constraints, System

COLUMNS = 8  # of the extrapolation: order 16
FEWEST = 3  # that an estimate rests on
CORRECTIONS = 60  # of a base step's impulse
GROWTH, SHRINK = 1.6, 0.5
SHORTEST = 1e-9  # of the first step: below, no step comes to the tolerance


def base_step(
    system: System, constraints: Constraints, y: Array, f: Array, time: float, h: float
) -> tuple[Array, Constraints, Array]:
    """y after h, the factor there, and the forces there: order 2 (the symmetric step above). Raises JointError."""
    q, v = system.split(y)
    q1, v1 = closing_flight(system, constraints, q, v + 0.5 * h * system.accelerated(f, constraints.rotation), time, h)
    end = system.constraints_at(q1, constraints.active)
    f1 = system.position_forces(time + h, q1, end.rotation)
    v1 = v1 + 0.5 * h * system.accelerated(f1, end.rotation)
    v1 = v1 + system.unscaled(end.least(-system.rates(end, v1)[constraints.active]), end.rotation)
    return np.concatenate([q1.ravel(), v1.ravel()]), end, f1


def closing_flight(
    system: System, constraints: Constraints, q: Array, v: Array, time: float, h: float
) -> tuple[Array, Array]:
    """Poses and twists after a free motion that begins with twists v and the impulse that closes the joints at its end.

    j = K^-1 (-g / h), again and again; K^-1 learns from what each did to the gaps (Broyden 1965, Math. Comp. 19).
    """
    active, rows, poses = constraints.active, system.rows, system.poses
    q1, v1 = system.free_flight(q, v, constraints.rotation, h)
    if not len(constraints.U):
        return q1, v1
    inverse = mul(constraints.U / (h * squared(constraints.s)), constraints.U.T)
    kicks = system.kicks(constraints)  # twists for a unit of impulse of each row
    aim, last = 1e-16 * system.size, np.inf
    gap = rows.evaluate(*poses.placed(q1)).gap[active]
    for _ in range(CORRECTIONS):
        worst = float(np.abs(gap).max())
        if worst <= aim or (worst < 1e4 * aim and worst >= 0.5 * last):
            return q1, v1
        if not worst < 100.0 * last:
            break
        last = worst
        j = -(mul(inverse, gap))
        v = v + (mul(kicks, j)).reshape(v.shape)
        q1, v1 = system.free_flight(q, v, constraints.rotation, h)
        following = rows.evaluate(*poses.placed(q1)).gap[active]
        learnt = mul(inverse, following - gap)
        along = float(mul(j, learnt))
        if abs(along) > 1e-3 * float(mul(j, j)) > 0.0:
            inverse = inverse + np.outer((j - learnt) / along, mul(j, inverse))
        gap = following
    raise JointError(f"t = {time:.9g} s: the impulse that closes the joints is not found in a step of {h:.3e} s")


class ByImpulses:
    """Extrapolated steps of one set of active rows; see ByAccelerations, whose fields these are."""

    def __init__(
        self, system: System, time: float, y: Array, active: Flags, tolerance: float, *, share: float = 1.0
    ) -> None:
        """share: of the first step that is tried."""
        if system.depends_on_speed:
            raise MechanismError("load, springs[].damping: forces by velocity; joints held by impulses take none, "
                                 "hold='accelerations' does")  # fmt: skip
        if system.rows.rolling:
            raise MechanismError("joints: one is Rolling, a condition of velocities; hold='accelerations' takes it")
        if system.rows.by_time:
            raise MechanismError("joints: one is a Drive, a condition of time; hold='accelerations' takes it")
        self.system, self.active, self.time, self.y = system, active, time, y
        self.energy_moved = self.gap_moved = 0.0
        self._allowed = tolerance * system.scales(time, y, active)
        self._tolerance = tolerance
        a = system.accelerations(time, y, active)[0]
        self._first = self._h = 0.2 * share * float(np.sqrt(1.0 / max(1e-12, np.abs(a).max() / system.size)))

    def step(self, until: float) -> Callable[[float], Array]:
        system, start, y = self.system, self.time, self.y
        while True:
            h = min(self._h, until - start)
            found = self._extrapolated(start, y, h)
            if found is not None:
                break
            self._h = SHRINK * h
            if self._h < SHORTEST * self._first:
                raise JointError(f"t = {start:.9g} s: no step of impulses comes to {self._tolerance:.1e}")
        raw, columns = found
        if h == self._h or columns == COLUMNS:
            self._h = h * (0.8 if columns == COLUMNS else GROWTH if columns < COLUMNS - 1 else 1.0)
        self.time = until if h == until - start else start + h
        self.y = system.close(raw, self.active)
        gap, energy = system.moved_by(raw, self.y, self.active)
        self.gap_moved, self.energy_moved = max(self.gap_moved, gap), self.energy_moved + energy
        ended = self.time

        def at(time: float) -> Array:
            if time == ended:
                return self.y
            if time == start:
                return y
            again = self._extrapolated(start, y, time - start)
            if again is None:
                raise JointError(f"t = {time:.9g} s: no step of impulses comes to {self._tolerance:.1e}")
            return system.close(again[0], self.active)

        return at

    def _extrapolated(self, time: float, y: Array, H: float) -> tuple[Array, int] | None:
        """y after H and how many columns it took, or None where they do not come to the tolerance."""
        system = self.system
        q, _ = system.split(y)
        constraints = system.constraints_at(q, self.active)
        f = system.position_forces(time, q, constraints.rotation)
        rows: list[Array] = []
        scale = self._allowed + self._tolerance * np.abs(y)
        for k in range(1, COLUMNS + 1):
            n = 2 * k
            state, now, force = y, constraints, f
            try:
                for i in range(n):
                    state, now, force = base_step(system, now, state, force, time + i * H / n, H / n)
            except JointError:
                return None
            following = [state]
            for i, before in enumerate(rows):
                ratio = squared(n / (2.0 * (k - 1 - i)))
                following.append(following[-1] + (following[-1] - before) / (ratio - 1.0))
            if k >= FEWEST:
                off = (following[-1] - following[-2]) / scale
                if float(np.sqrt(mul(off, off) / len(off))) <= 1.0:
                    return following[-1], k
            rows = following
        return None

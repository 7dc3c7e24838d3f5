"""A mechanism, simulated from its start: the joints held by accelerations or by impulses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

from reference_engine.dense import inverse, mul
from reference_engine.elementary import squared
from reference_engine.multibody.accelerations import ByAccelerations, Stabilise
from reference_engine.multibody.closing import STILL, active_rows, after_impact
from reference_engine.multibody.dynamics import System, greatest
from reference_engine.multibody.errors import JointError, MechanismError
from reference_engine.multibody.friction import SHARE, Contacts
from reference_engine.multibody.impulses import ByImpulses
from reference_engine.multibody.links import numbers
from reference_engine.multibody.mechanism import Mechanism
from reference_engine.multibody.motion import JointEvent, MechanismMotion

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Margins = Callable[[float, Array], Array]
Hold = Literal["accelerations", "impulses"]

HOLDS = ("accelerations", "impulses")
STABILISES = ("projection", "baumgarte", "none")
SLACK = 1e-14  # of the size: an open row that is closed by less goes on
MOST_EVENTS = 2000
MOST_IDLE = 50  # events in a row after which all is as it was
DEEPEST = 20  # halvings of a step that is looked through

NODES, FINE = np.linspace(0.0, 1.0, 5), np.linspace(0.0, 1.0, 33)
QUARTIC = mul(np.vander(FINE, 5), inverse(np.vander(NODES, 5)))  # (33, 5) through all nodes,
PARABOLA = np.zeros_like(QUARTIC)  # and through every other one
PARABOLA[:, ::2] = mul(np.vander(FINE, 3), inverse(np.vander(NODES[::2], 3)))
OFF = np.abs(np.prod(FINE[:, None] - NODES, axis=1))  # how an interpolant's error is spread, 1 at most
OFF /= OFF.max()
TRUST = 0.5  # of what the two differ by is the quartic off, at most


def simulate_mechanism(
    mechanism: Mechanism,
    times: ArrayLike,
    *,
    hold: Hold = "accelerations",
    tolerance: float = 1e-13,
    stabilise: Stabilise = "projection",
    alpha: float = 20.0,
) -> MechanismMotion:
    """States at `times` [s], ascending from 0 or later, of a mechanism that starts at time 0.

    hold: "accelerations" solves the index-reduced equations, "impulses" closes the joints after free motions. Both keep
    `tolerance` a step, relative. stabilise (of accelerations): "projection", or, to be compared with it, "baumgarte"
    with alpha [1/s], or "none".

    Raises MechanismError for what cannot be simulated, JointError where a step does not come to its tolerance.
    """
    at = np.array(times, np.float64)
    if at.ndim != 1 or not len(at) or not np.isfinite(at).all() or at[0] < 0.0 or (np.diff(at) < 0.0).any():
        raise MechanismError("times: they must be finite, ascending and not below 0, at least one")
    for name, value, allowed in (("hold", hold, HOLDS), ("stabilise", stabilise, STABILISES)):
        if value not in allowed:
            raise MechanismError(f"{name}: {value!r}; allowed: {', '.join(allowed)}")
    if not 1e-15 < tolerance < 0.1:
        raise MechanismError(f"tolerance: {tolerance!r}; between 1e-15 and 0.1")
    run = _Run(System(mechanism), hold, float(tolerance), stabilise, float(alpha))
    for time in at:
        run.to(float(time))
    return run.motion(at)


def _dip(values: Array) -> Array:
    """By how much functions (T, O) come below their values at inner points, between these and their neighbours."""
    slope, bend = values[2:] - values[:-2], values[2:] - 2.0 * values[1:-1] + values[:-2]
    inside = np.abs(slope) < 2.0 * bend
    return np.where(inside, squared(slope) / (8.0 * np.where(inside, bend, 1.0)), 0.0)


class _Run:
    def __init__(self, system: System, hold: Hold, tolerance: float, stabilise: Stabilise, alpha: float) -> None:
        self.system, self.hold, self.tolerance, self.stabilise, self.alpha = system, hold, tolerance, stabilise, alpha
        self.bilateral: Flags = ~(system.rows.one_sided | system.rows.sticking)
        self.rubbing = Contacts(system) if any(row.friction is not None for row in system.rows.rolling) else None
        system.check_start(self.bilateral)
        self.time, self.events, self.steps = 0.0, list[JointEvent](), 0
        self.gap_moved = self.energy_moved = self.pace = 0.0
        self.idle = 0
        self.samples: list[tuple[Array, Flags]] = []
        self.active = self.bilateral
        self._at: Callable[[float], Array] | None = None
        self._change: float | None = None  # when in the present step a one-sided joint closes or lets go
        y = system.close(system.start, self.bilateral)
        self._resume(self._met(y))

    def to(self, time: float) -> None:
        """On to the time, and a sample there."""
        while (self.stepper.time if self._change is None else self._change) < time or self._change == time:
            if self._change is not None:
                self._meet(self._change)
                continue
            # Impulses land on the samples: a state inside a step costs them the step again.
            self._advance(time if self.hold == "impulses" else np.inf)
        y = self.stepper.y if self._at is None else self._at(time)
        self.samples.append((y, self.active))

    def _advance(self, limit: float) -> None:
        start, before = self.stepper.time, self.stepper.y
        if self.rubbing and isinstance(self.stepper, ByAccelerations):
            left = self.rubbing.way_left(start, before, self.active)
            if left < 0.0:
                self._stick(self.rubbing, start - left, before - left * self.stepper.rate(start, before))
                return
            limit = min(limit, start + SHARE * left)
        at = self.stepper.step(limit)
        self.steps += 1
        self._at = at
        if self.rubbing:
            self._rub(self.rubbing, start, before, at)
            return
        if not self.system.rows.one_sided.any():
            return
        self._change = self._first_change(start, before, self.stepper.time, at, self._margins)

    def _meet(self, time: float) -> None:
        """On from the change that was found inside the step."""
        assert self._at is not None
        y = self._at(time)
        if len(self.events) > MOST_EVENTS:
            raise JointError(f"t = {time:.9g} s: more than {MOST_EVENTS} events of one-sided joints")
        if self.idle > MOST_IDLE:
            k = int(np.argmin(self._margins(time, y)))
            joint = int(self.system.rows.joint[self.system.rows.one_sided][k])
            raise JointError(
                f"t = {time:.9g} s: joints[{joint}] closes again and again, and is neither struck nor held"
            )
        self.time = time
        self._resume(self._met(y))

    # --- friction ------------------------------------------------------------------------------------

    def _rub(self, contacts: Contacts, start: float, before: Array, at: Callable[[float], Array]) -> None:
        """Raises JointError where in a step the force of a contact that sticks leaves the cone."""

        def margins(time: float, y: Array) -> Array:
            return contacts.margins(time, y, self.active)

        sticking = (self.active & self.system.rows.sticking).any()
        time = self._first_change(start, before, self.stepper.time, at, margins) if sticking else None
        if time is not None:
            joint = contacts.joint(contacts.number[int(np.argmin(margins(time, at(time))))])
            raise JointError(f"t = {time:.15g} s: joints[{joint}] slips; what has stuck does not slide again here")
        contacts.check(self.stepper.time, self.stepper.y, self.active)

    def _stick(self, contacts: Contacts, time: float, y: Array) -> None:
        """A slip has come to its end."""
        if len(self.events) > MOST_EVENTS:
            raise JointError(f"t = {time:.9g} s: more than {MOST_EVENTS} events of contacts with friction")
        y, before, self.time = self.system.close(y, self.active, time), self.active, time
        self.active = contacts.settled(time, y, before)
        for i in contacts.number:
            row = contacts.first(i) + 1
            if self.active[row] and not before[row]:
                self.events.append(JointEvent(time=time, joint=contacts.joint(i), kind="grips"))
        contacts.check(time, y, self.active)
        self._resume(y)

    # --- one-sided joints ----------------------------------------------------------------------------

    def _met(self, y: Array) -> Array:
        """y after what one-sided joints do at this time, and which hold from here on."""
        if self.rubbing:
            self.active = self.rubbing.settled(self.time, y, self.bilateral)
            self.rubbing.check(self.time, y, self.active)
        if not self.system.rows.one_sided.any():
            return y
        self.pace = max(self.pace, greatest(self.system, self.system.split(y)[1]))
        y, impulse, left = after_impact(self.system, self.time, y, self.bilateral, self.pace)
        for row in np.flatnonzero((impulse != 0.0) & ~self.bilateral):
            self._record(int(row), "impact", impulse=float(impulse[row]))
        before, self.active = self.active, active_rows(self.system, self.time, y, self.bilateral, self.pace)
        changed = np.flatnonzero(before != self.active)
        for row in changed:
            self._record(int(row), "holds" if self.active[row] else "lets go", later=float(left[row]))
        self.idle = 0 if len(changed) or impulse.any() else self.idle + 1
        return y

    def _record(self, row: int, kind: str, *, impulse: float = 0.0, later: float = 0.0) -> None:
        joint = int(self.system.rows.joint[row])
        self.events.append(JointEvent(time=self.time + later, joint=joint, kind=kind, impulse=impulse))

    def _resume(self, y: Array) -> None:
        if hasattr(self, "stepper"):
            self.gap_moved = max(self.gap_moved, self.stepper.gap_moved)
            self.energy_moved += self.stepper.energy_moved
        y = self.system.close(y, self.active, self.time)
        self._at = self._change = None
        q, _ = self.system.split(y)
        gap = self.system.rows.evaluate(*self.system.poses.placed(q), self.time).gap
        rates = self.system.rates(self.system.constraints_at(q, self.active, self.time), self.system.split(y)[1])
        # What parts comes back through where it was; what rests in contact may move by round-off.
        parting = rates > STILL * self.pace
        self.closed_by = np.maximum(0.0, -gap) + np.where(parting, 0.0, SLACK * self.system.size)
        if self.hold == "impulses":
            self.stepper: ByImpulses | ByAccelerations = ByImpulses(
                self.system, self.time, y, self.active, self.tolerance
            )
        else:
            self.stepper = ByAccelerations(
                self.system, self.time, y, self.active, self.tolerance, self.stabilise, self.alpha
            )

    # --- events --------------------------------------------------------------------------------------

    def _margins(self, time: float, y: Array) -> Array:
        """Of one-sided rows: the gap of those that are open [m], above what they were closed by since the last event;
        the multiplier of those that hold. (O,)"""
        system, one = self.system, self.system.rows.one_sided
        q, _ = system.split(y)
        gap = system.rows.evaluate(*system.poses.placed(q), time).gap + self.closed_by
        if (self.active & one).any():
            _, constraints, z = system.accelerations(time, y, self.active)
            force = np.zeros(system.rows.count)
            force[self.active] = constraints.multipliers(z)
            gap = np.where(self.active, force, gap)
        found: Array = gap[one]
        return found

    def _first_change(
        self, start: float, y: Array, end: float, at: Callable[[float], Array], margins: Margins
    ) -> float | None:
        """When the first margin falls below 0, or None.

        A step is halved where the quartic through five looks, less what it may be off, comes below 0 between them: what
        falls and rises again in a small part of a step is found.
        """
        known = {start: np.maximum(margins(start, y), SLACK)}  # an event is over when it has been met

        def margins_at(time: float) -> Array:
            if time not in known:
                known[time] = margins(time, at(time))
            return known[time]

        def first(low: float, high: float, depth: int) -> float | None:
            times = [low, *(low + (high - low) * NODES[1:-1]).tolist(), high]
            found = np.array([margins_at(time) for time in times])
            fine = mul(QUARTIC, found)
            least = fine - OFF[:, None] * TRUST * np.abs(fine - mul(PARABOLA, found)).max(axis=0)
            least[1:-1] -= _dip(fine)
            below = np.flatnonzero((found[1:] < 0.0).any(axis=1))
            sure = 8 * int(below[0]) if len(below) else 32
            between = (np.arange(33) % 8 != 0) & (np.arange(33) < sure)
            if depth < DEEPEST and (least[between] < 0.0).any():
                middle = times[2]
                early = first(low, middle, depth + 1)
                return first(middle, high, depth + 1) if early is None else early
            if not len(below):
                return None
            k = int(below[0])

            def fall(row: int) -> float:
                return self._root(lambda time: float(margins_at(time)[row]), times[k], times[k + 1], start)

            return min(fall(int(row)) for row in np.flatnonzero(found[k + 1] < 0.0))

        return first(start, end, 0)

    def _root(self, margin: Callable[[float], float], low: float, high: float, start: float) -> float:
        """Where a margin falls to 0 that is below it at high, and above at low; if low is the start, just after it.

        At the start it is round-off of either sign, in which no root is looked for.
        """
        if low == start:
            middle = 0.5 * (low + high)
            while low < middle < high and margin(middle) <= 0.0:
                middle, high = 0.5 * (low + middle), middle
            if not low < middle < high:
                return low
            low = middle
        return float(brentq(margin, low, high, xtol=1e-15, rtol=1e-15, maxiter=100))

    # --- the result ----------------------------------------------------------------------------------

    def motion(self, times: Array) -> MechanismMotion:
        system, links = self.system, self.system.mechanism.links
        S, B, D, moving = len(times), len(links), self.system.mechanism.dimension, self.system.moving
        start = [np.concatenate([numbers(link.position), numbers(link.orientation)]) for link in links]
        poses = np.tile(start, (S, 1, 1))
        twists = np.zeros((S, B, system.poses.twist))
        energy, gap = np.empty(S), np.zeros(S)
        reaction = np.zeros((S, system.rows.count))
        for i, (y, active) in enumerate(self.samples):
            q, v = system.split(y)
            poses[i, moving], twists[i, moving] = q, v
            energy[i] = system.energy(y)
            _, constraints, z = system.accelerations(float(times[i]), y, active)
            reaction[i, active] = constraints.multipliers(z)
            if self.rubbing:
                for k, (N, T) in self.rubbing.forces(float(times[i]), y, active).items():
                    row = self.rubbing.first(k)
                    reaction[i, row], reaction[i, row + 1 : row + 4] = N, T
            off = np.where(active, np.abs(constraints.placed.gap), np.maximum(0.0, -constraints.placed.gap))
            gap[i] = float(off.max(initial=0.0))
        flat = D == 2
        return MechanismMotion(
            time=times, position=poses[..., :D].copy(), orientation=poses[..., 2] if flat else poses[..., 3:],
            velocity=twists[..., :D].copy(), spin=twists[..., 2] if flat else twists[..., 3:],
            energy=energy, joint_gap=gap, reaction=reaction, row_joint=system.rows.joint, events=tuple(self.events),
            steps=self.steps, gap_moved=max(self.gap_moved, self.stepper.gap_moved),
            energy_moved=self.energy_moved + self.stepper.energy_moved,
        )  # fmt: skip

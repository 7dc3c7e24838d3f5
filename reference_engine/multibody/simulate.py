"""A mechanism, simulated from its start: the joints held by accelerations or by impulses."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from reference_engine.array_types import Array, Flags
from reference_engine.errors import JointError, MechanismError
from reference_engine.events import Segment, first_fall, follow
from reference_engine.multibody.accelerations import ByAccelerations, Stabilise
from reference_engine.multibody.closing import STILL, active_rows, after_impact
from reference_engine.multibody.dynamics import System, greatest
from reference_engine.multibody.friction import SHARE, Contacts
from reference_engine.multibody.impulses import ByImpulses
from reference_engine.multibody.mechanism import JointEvent, Mechanism, MechanismMotion

Hold = Literal["accelerations", "impulses"]

HOLDS = ("accelerations", "impulses")
STABILISES = ("projection", "baumgarte", "none")
SLACK = 1e-14  # of the size: an open row that is closed by less goes on
MOST_EVENTS = 2000
MOST_IDLE = 50  # events in a row after which all is as it was


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
    follow(run, at)
    return run.motion(at)


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

    def begin(self) -> Segment:
        return self._resume(self._met(self.system.close(self.system.start, self.bilateral)))

    def step(self, until: float) -> Segment:
        """Impulses land on the samples: a state inside a step costs them the step again."""
        limit = until if self.hold == "impulses" else np.inf
        start, before = self.stepper.time, self.stepper.y
        if self.rubbing and isinstance(self.stepper, ByAccelerations):
            left = self.rubbing.way_left(start, before, self.active)
            if left < 0.0:
                stuck = before - left * self.stepper.rate(start, before)
                return Segment(start, lambda _: stuck, event=start - left)
            limit = min(limit, start + SHARE * left)
        segment = Segment(at=self.stepper.step(limit), end=self.stepper.time)
        self.steps += 1
        if self.rubbing:
            self._rub(self.rubbing, start, before, segment)
        elif self.system.rows.one_sided.any():
            return segment._replace(event=first_fall(self._margins, start, before, segment, SLACK))
        return segment

    def sample(self, time: float, state: Array) -> None:
        self.samples.append((state, self.active))

    def resolve(self, time: float, state: Array) -> Segment:
        """A slip has come to its end, or a one-sided joint closes or lets go."""
        if len(self.events) > MOST_EVENTS:
            what = "contacts with friction" if self.rubbing else "one-sided joints"
            raise JointError(f"t = {time:.9g} s: more than {MOST_EVENTS} events of {what}")
        self.time = time
        return self._stick(self.rubbing, time, state) if self.rubbing else self._meet(time, state)

    def _meet(self, time: float, y: Array) -> Segment:
        if self.idle > MOST_IDLE:
            k = int(np.argmin(self._margins(time, y)))
            joint = int(self.system.rows.joint[self.system.rows.one_sided][k])
            raise JointError(
                f"t = {time:.9g} s: joints[{joint}] closes again and again, and is neither struck nor held"
            )
        return self._resume(self._met(y))

    # --- friction ------------------------------------------------------------------------------------

    def _rub(self, contacts: Contacts, start: float, before: Array, segment: Segment) -> None:
        """Raises JointError where in a step the force of a contact that sticks leaves the cone."""

        def margins(time: float, y: Array) -> Array:
            return contacts.margins(time, y, self.active)

        sticking = (self.active & self.system.rows.sticking).any()
        time = first_fall(margins, start, before, segment, SLACK) if sticking else None
        if time is not None:
            joint = contacts.joint(contacts.number[int(np.argmin(margins(time, segment.at(time))))])
            raise JointError(f"t = {time:.15g} s: joints[{joint}] slips; what has stuck does not slide again here")
        contacts.check(self.stepper.time, self.stepper.y, self.active)

    def _stick(self, contacts: Contacts, time: float, y: Array) -> Segment:
        y, before = self.system.close(y, self.active, time), self.active
        self.active = contacts.settled(time, y, before)
        for i in contacts.number:
            row = contacts.first(i) + 1
            if self.active[row] and not before[row]:
                self.events.append(JointEvent(time=time, joint=contacts.joint(i), kind="sticks"))
        contacts.check(time, y, self.active)
        return self._resume(y)

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

    def _resume(self, y: Array) -> Segment:
        if hasattr(self, "stepper"):
            self.gap_moved = max(self.gap_moved, self.stepper.gap_moved)
            self.energy_moved += self.stepper.energy_moved
        y = self.system.close(y, self.active, self.time)
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
        return Segment(self.time, lambda time: y)

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

    # --- the result ----------------------------------------------------------------------------------

    def motion(self, times: Array) -> MechanismMotion:
        system, links = self.system, self.system.mechanism.links
        S, B, D, moving = len(times), len(links), self.system.mechanism.dimension, self.system.moving
        poses = np.tile(system.every, (S, 1, 1))
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

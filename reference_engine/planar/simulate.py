"""ContactSim's loop: go on, and when bodies come too near, back up, find when they meet, and let them bounce.

After the public myPhysicsLab engine, whose pages "Collisions With Contact" and "ContactSim Math" give the
mathematics; parameters and thresholds are its own.
"""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from reference_engine.planar import dynamics
from reference_engine.planar.dynamics import accelerations, fastest_point, runge_kutta_4
from reference_engine.planar.errors import ContactForceError, UnresolvedContact, WorldError
from reference_engine.planar.event import is_impact, is_impact_now, is_resting, is_too_far, time_to_gap
from reference_engine.planar.impulse import apply_impulses, impact_impulses
from reference_engine.planar.layout import (
    ROUND_OFF,
    Contacts,
    first_contacts,
    pack_bodies,
    pack_law,
    plain_shapes,
    room_for_contacts,
    room_to_work,
)
from reference_engine.planar.motion import NO_IMPACTS, ContactForces, Impacts, Motion, Sample, collect
from reference_engine.planar.narrow_phase import find_contacts, measure
from reference_engine.planar.shape import HalfPlane, thickness
from reference_engine.planar.world import Settings, World

Array = NDArray[np.float64]

BACKUPS = 30  # without an impact, before we give up
IMPACTS = 2000  # in one time step, before we give up
TRUST_ESTIMATES = 3  # backups, before time is halved instead
FINEST = 2.0**-12  # of a time step: shorter steps are not taken because forces jump or bodies in touch drift
NO_IMPULSE = 1e-12  # N s
RK4_STABLE = 2.785  # largest step in units of the extra acceleration's time: the method's real stability limit


def simulate(world: World, duration: float, dt: float, settings: Settings | None = None) -> Motion:
    """The motion from 0 to `duration`, sampled every dt and just before and after every impact."""
    return collect(samples(world, duration, dt, settings))


def samples(world: World, duration: float, dt: float, settings: Settings | None = None) -> Iterator[Sample]:
    """The same, one sample after the other."""
    settings = settings or Settings()
    for name, value in (("duration", duration), ("dt", dt)):
        if not (math.isfinite(value) and value > 0.0):
            raise WorldError(f"{name}: {value!r} s is not a positive finite time")
    if settings.extra_acceleration != "none" and dt > RK4_STABLE * settings.extra_acceleration_time_step:
        raise WorldError(
            f"dt: {dt!r} s is over {RK4_STABLE} times the extra acceleration's time step of "
            f"{settings.extra_acceleration_time_step!r} s, beyond which Runge-Kutta 4 is unstable; take a smaller dt"
        )
    clock = Clock(world, settings)
    yield clock.sample()
    steps = math.ceil(duration / dt - 1e-9)
    for k in range(1, steps + 1):
        until = min(k * dt, duration)
        yield from clock.advance(until)
        if not clock.shown:
            yield clock.sample()


class Clock:
    """The state of a world in time, and the arrays that the kernels work on."""

    def __init__(self, world: World, settings: Settings) -> None:
        self.world, self.settings = world, settings
        self.bodies, self.law = pack_bodies(world), pack_law(world, settings)
        self.make_room(8 + 4 * len(world.bodies))
        self.random_state = np.array([settings.random_seed], np.int64)
        self.time = 0.0
        self.pose = np.array([(*body.position, body.angle) for body in world.bodies], np.float64)
        self.twist = np.array([(*body.velocity, body.spin) for body in world.bodies], np.float64)
        solid = [thickness(shape) for shape in plain_shapes(world) if not isinstance(shape, HalfPlane)]
        self.thinnest = min(solid) if len(solid) > 1 else math.inf
        self.shown = False  # has this very state been handed out as a sample?
        self.n = self.find()
        deepest = int(np.argmin(self.contacts.gap[: self.n])) if self.n else 0
        if self.n and self.contacts.gap[deepest] < -ROUND_OFF:
            a, b = self.names(deepest)
            raise WorldError(
                f"bodies {a!r} and {b!r} overlap at the start: gap {self.contacts.gap[deepest]:.3g} m; "
                "move them apart, or use an engine that pushes bodies out of each other"
            )

    def make_room(self, capacity: int) -> None:
        self.contacts, self.scratch = room_for_contacts(capacity), room_to_work(self.bodies, capacity)

    def find(self) -> int:
        """Fill `contacts` with every place within the distance tolerance."""
        while True:
            n = find_contacts(
                self.bodies, self.pose, self.twist, self.law.distance_tolerance, ROUND_OFF,
                self.scratch.vertices, self.scratch.normals, self.contacts,
            )  # fmt: skip
            if n <= len(self.contacts.kind):
                return int(n)
            self.make_room(2 * n)

    def advance(self, until: float) -> Iterator[Sample]:
        """On to `until`, with samples just before and just after every impact on the way."""
        step, bisecting, backups, quiet, impacts = until - self.time, False, 0, 0, 0
        steady, finest = math.inf, FINEST * (until - self.time)
        while self.time < until:
            step = min(step, steady, until - self.time, self.longest_safe_step())
            reached, end_pose, end_twist, jump = self.attempt(step)
            if jump > self.law.velocity_tolerance and step > finest:
                steady = step / 2.0
                continue
            steady = 2.0 * steady
            suspects = self.suspects()
            if suspects is None:
                self.go_to(until if reached >= until - self.time else self.time + reached, end_pose, end_twist)
                hit = bool(is_impact(self.contacts, self.n, self.law).any())
                quiet += 1
                if not bisecting or quiet >= 2:
                    step, bisecting = until - self.time, False
            else:
                drift, hit, estimate = self.back_up(suspects, reached)
                if drift and step > finest:
                    steady = step / 2.0
                    continue
                backups, quiet = backups + 1, 0
                bisecting = bisecting or backups > TRUST_ESTIMATES or not 0.0 < estimate < step
                step = step / 2.0 if bisecting else estimate
                if backups > BACKUPS:
                    raise self.unresolved(suspects, f"not resolved after backing up {BACKUPS} times")
            if hit and (impulse := self.impulses()).max(initial=0.0) > NO_IMPULSE:
                touching = first_contacts(self.contacts, self.n)
                if not self.shown:
                    yield self.sample()
                yield self.bounce(touching, impulse)
                step, bisecting, backups, impacts = until - self.time, False, 0, impacts + 1
                if impacts > IMPACTS:
                    raise self.unresolved(self.contacts, f"more than {IMPACTS} impacts in one time step")

    def longest_safe_step(self) -> float:
        """So that no two bodies pass half through each other between two looks. [s]"""
        if self.thinnest == math.inf:
            return math.inf
        return 0.25 * self.thinnest / max(fastest_point(self.bodies, self.twist), 1e-300)

    def attempt(self, step: float) -> tuple[float, Array, Array, float]:
        """A step of Runge-Kutta, as far as bodies do not penetrate; `contacts` are those where it ended."""
        pose, twist = np.empty_like(self.pose), np.empty_like(self.twist)
        while True:
            outcome, part, n, violation, jump = runge_kutta_4(
                self.bodies, self.law, self.pose, self.twist, step, self.scratch, self.contacts, pose, twist
            )
            if outcome != dynamics.NO_ROOM:
                break
            self.make_room(2 * n)
        self.refuse(outcome, violation)
        self.n = int(n)
        return part * step, pose, twist, jump

    def refuse(self, outcome: int, violation: float) -> None:
        if outcome in (dynamics.NO_FORCES, dynamics.NO_SOLUTION):
            what = "no contact forces exist" if outcome == dynamics.NO_SOLUTION else "no contact forces were found"
            raise ContactForceError(
                f"t = {self.time:.9g} s: {what}: violation {violation:.3g} m/s^2", residual=violation
            )

    def suspects(self) -> Contacts | None:
        """The places at which the attempted step went too far."""
        if self.n == 0:
            return None
        far = is_too_far(self.contacts, self.n, self.law)
        return Contacts._make(field[: self.n][far] for field in self.contacts) if far.any() else None

    def back_up(self, suspects: Contacts, reached: float) -> tuple[bool, bool, float]:
        """Back at the start of the step: did the suspects only drift into each other, in touch and faster than their
        speed, so that a shorter step will do? Is one of them near enough to bounce here, and if not, when?

        `contacts` become all places near now, with those of the suspects that bounce.
        """
        self.n = self.find()
        now = first_contacts(suspects, len(suspects.kind))
        for row in range(len(now.kind)):
            measure(self.bodies, self.pose, self.twist, self.scratch.vertices, self.scratch.normals, now, row)
        drift = now.gap.max() < self.law.sink and (now.gap + np.minimum(now.speed, 0.0) * reached).min() >= -ROUND_OFF
        hit = is_impact_now(now, len(now.kind), self.law)
        for k in np.flatnonzero(hit):
            self.include(now, int(k))
        if hit.any() or reached == 0.0:
            return bool(drift), bool(hit.any()), math.nan
        estimates = [
            time_to_gap(self.law.target_gap, reached, now.gap[k], now.speed[k], suspects.gap[k], suspects.speed[k])
            for k in range(len(now.kind))
        ]
        return bool(drift), False, min((t for t in estimates if not math.isnan(t)), default=math.nan)

    def include(self, other: Contacts, k: int) -> None:
        """Append contact k of `other` unless it is among `contacts` already."""
        mine = first_contacts(self.contacts, self.n)
        same = (mine.body == other.body[k]).all(1) & (mine.feature == other.feature[k]).all(1)
        if (same & (mine.kind == other.kind[k])).any():
            return
        if self.n == len(self.contacts.kind):
            self.make_room(2 * self.n)
            for field, value in zip(self.contacts, mine, strict=True):
                field[: self.n] = value
        for field, value in zip(self.contacts, other, strict=True):
            field[self.n] = value[k]
        self.n += 1

    def impulses(self) -> Array:
        """Of the places in `contacts`, all of which take part in the impact. (n,) [N s]"""
        n = self.n
        pairs = self.contacts.body[:n]
        return impact_impulses(
            self.bodies, self.contacts, n, handling=self.settings.collision_handling,
            restitution=self.world.pair_restitution[pairs[:, 0], pairs[:, 1]],
            resting=is_resting(self.contacts, n, self.law), random_state=self.random_state, scratch=self.scratch,
        )  # fmt: skip

    def bounce(self, contacts: Contacts, impulse: Array) -> Sample:
        """Apply the impulses at these contacts; the sample just after."""
        struck = np.flatnonzero(impulse > NO_IMPULSE)
        impacts = Impacts(
            time=np.full(len(struck), self.time),
            pair=contacts.body[struck, ::-1].copy(),
            point=contacts.point[struck],
            normal=contacts.normal[struck],
            gap=contacts.gap[struck],
            speed=contacts.speed[struck],
            impulse=impulse[struck],
            friction=np.zeros(len(struck)),
        )
        twist = self.twist.copy()
        apply_impulses(self.bodies, contacts, len(impulse), impulse, twist)
        self.go_to(self.time, self.pose, twist)
        return self.sample(impacts)

    def go_to(self, time: float, pose: Array, twist: Array) -> None:
        self.time, self.pose, self.twist, self.shown = time, pose, twist, False

    def sample(self, impacts: Impacts | None = None) -> Sample:
        """The present state with its contact forces."""
        contacts, rate = self.contacts, np.empty_like(self.twist)
        while True:
            outcome, n, violation = accelerations(
                self.bodies, self.law, self.pose, self.twist, self.scratch, self.contacts, rate
            )
            if outcome != dynamics.NO_ROOM:
                break
            self.make_room(2 * n)
        self.refuse(outcome, violation)
        contacts, self.shown = self.contacts, True
        forces = ContactForces(
            pair=contacts.body[:n, ::-1].copy(),
            point=contacts.point[:n].copy(),
            normal=contacts.normal[:n].copy(),
            gap=contacts.gap[:n].copy(),
            force=contacts.force[:n].copy(),
            friction=np.zeros(n),
        )
        return Sample(time=self.time, pose=self.pose, twist=self.twist, contacts=forces, impacts=impacts or NO_IMPACTS)

    def names(self, k: int) -> tuple[str, str]:
        return self.world.body_name(self.contacts.body[k, 1]), self.world.body_name(self.contacts.body[k, 0])

    def unresolved(self, contacts: Contacts, reason: str) -> UnresolvedContact:
        k = int(np.argmin(contacts.gap))
        a, b = (self.world.body_name(int(i)) for i in contacts.body[k, ::-1])
        return UnresolvedContact(reason, time=self.time, bodies=(a, b), gap=float(contacts.gap[k]))

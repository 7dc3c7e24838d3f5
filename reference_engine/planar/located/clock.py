"""The loop of the located mode: integrate with the contacts fixed, locate what ends the step, resolve it, go on."""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from reference_engine import ContactForceError, UnresolvedContact, WorldError
from reference_engine.complementarity.contact_forces import required_forces
from reference_engine.planar.located.advancement import STALLED, first_touch
from reference_engine.planar.located.constraint import forces, free_rate, project, separate, strike, survey
from reference_engine.planar.located.impact import impulses
from reference_engine.planar.located.integrator import STAGES, attempt, dense_state, next_factor
from reference_engine.planar.located.layout import (
    GAP,
    NX,
    NY,
    RATE,
    U1X,
    U1Y,
    Places,
    pack_law,
    pack_solids,
    room_for_places,
    room_to_work,
)
from reference_engine.planar.located.release import first_release
from reference_engine.planar.located.settings import LocatedSettings
from reference_engine.planar.located.touching import PENETRATING, find_touching
from reference_engine.planar.motion import NO_IMPACTS, ContactForces, Impacts, Sample
from reference_engine.planar.world import World

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Name = tuple[int, ...]  # of a place: its bodies and features

TOUCH = 1e-12  # m, times 1 + the extent of the scene: a gap that counts as closed when an event is resolved
NEAR = 1e-8  # m, where Newton's method closes the gap of a touch
ALLOWANCE = 2e-13  # m, times 1 + the extent of the scene: round-off of a gap
STILL = 1e-12  # m/s, times 1 + the greatest speed: round-off of a rate
SEAM = 1e3  # times STILL: where a corner slides off an edge, normals differ by OVER_END over the size of a body
NEUTRAL = 1e-11  # m/s^2, times 1 + the greatest acceleration: a contact on the point of parting
FIRST_STEP = 1e-2  # s
STANDSTILL = 1000  # events at one instant, before we give up; more with more places
SHORTEST = 1e-14  # s, a step
INSTANT = 5e-12  # s, events that are no further apart are at one instant
RELANDINGS = 4
LANDED = 1e-11  # s, a touch so little before the end of a step is the one that ended it
NOBODY = np.int64(-1)


class Clock:
    """The state of a world in time, and the arrays that the kernels work on."""

    def __init__(self, world: World, settings: LocatedSettings) -> None:
        self.world, self.settings = world, settings
        self.solids, self.law = pack_solids(world), pack_law(world)
        self.make_room(8 + 4 * len(world.bodies))
        self.pair_state = np.zeros((3, 9))
        pose = np.array([(*body.position, body.angle) for body in world.bodies], np.float64)
        twist = np.array([(*body.velocity, body.spin) for body in world.bodies], np.float64)
        self.y = np.concatenate([pose.ravel(), twist.ravel()])
        self.end = np.empty_like(self.y)
        self.time, self.step, self.steps = 0.0, FIRST_STEP, 0
        self.held = 0  # the first places hold
        self.passed = NOBODY
        self.let_go: set[frozenset[int]] = set()  # pairs that parted at this instant: forces of round-off do not hold
        self.names: dict[Name, tuple[tuple[int, int], Array]] = {}  # of those that do
        self.log: list[tuple[float, str, int, int, float, float]] = []
        self.event_poses: list[Array] = []
        self.pull = 4.0 * NEUTRAL * (1.0 + math.hypot(*world.gravity))
        self.idle, self.last_event = 0, -1.0

    def make_room(self, capacity: int) -> None:
        old = getattr(self, "places", None)
        self.places, self.work = room_for_places(capacity), room_to_work(len(self.world.bodies), capacity)
        if old is not None:
            for field, value in zip(self.places, old, strict=True):
                field[: len(value)] = value

    def run(self, grid: Array) -> Iterator[Sample]:
        """Samples at the times of the grid, from 0 on, and just before and after every impact."""
        self.grid, self.shown = grid, 0
        yield from self.resolve(None)
        yield from self.show(0.0)
        while self.time < grid[-1]:
            yield from self.advance(float(grid[-1]))

    def advance(self, until: float) -> Iterator[Sample]:
        """One step of the integrator, or the part of it up to the first event."""
        h = self.integrate(until - self.time)
        touch, pair = self.first_touch(h)
        release, place = 2.0, -1
        if self.held:
            release, place = first_release(
                self.solids, self.law, self.places, self.held, self.work, self.y, min(touch, 1.0), self.pull
            )
        part = min(touch, release)
        again = part
        for _ in range(RELANDINGS):  # once; more where the shorter step's own dense output shows an earlier touch
            if again > 1.0:
                break
            h = self.land(h, again, pair) if touch < release else self.shorten(h * again)
            again, other = self.first_touch(h)
            if (1.0 - again) * h <= LANDED:
                break
            touch, pair, release = again, other, 2.0
        reached = until if part > 1.0 and h == until - self.time else self.time + h
        yield from self.show(h, reached)
        self.time, self.steps = reached, self.steps + 1
        self.y, self.end = self.end, self.y
        if self.held:
            project(self.solids, self.y, self.places, self.held, self.work)
        if part <= 1.0:
            self.count_event()
            yield from self.resolve(self.name(int(place)) if release <= touch else None)
        self.passed = self.pass_by(pair) if part <= 1.0 and touch < release else NOBODY

    def first_touch(self, h: float) -> tuple[float, int]:
        """(part of the step, pair) of the first touch on the present dense output; over 1 if there is none."""
        allowance = ALLOWANCE * (1.0 + self.extent())
        touch, pair = first_touch(
            self.solids, self.places, self.held, self.work, self.y, h, allowance, self.passed, STALLED, self.pair_state
        )
        return float(touch), int(pair)

    def pass_by(self, pair: int) -> np.int64:
        """A corner that comes within round-off of another and is over no edge yet: let time go on a little."""
        return NOBODY if frozenset(self.solids.pairs[pair].tolist()) in self.in_touch else np.int64(pair)

    def integrate(self, longest: float) -> float:
        """A step whose error is within the tolerance; its length [s]. The state at its end is in `end`."""
        while True:
            h = min(self.step, longest)
            error = self.attempt(h)
            if error <= 1.0:
                self.step = max(self.step, h * next_factor(error)) if h < self.step else h * next_factor(error)
                return h
            self.step = h * min(0.9, next_factor(error)) if math.isfinite(error) else 0.1 * h
            if self.step < SHORTEST:
                raise UnresolvedContact(
                    f"the integrator's step fell below {SHORTEST} s", time=self.time, bodies=("", ""), gap=math.nan
                )

    def attempt(self, h: float) -> float:
        return float(
            attempt(
                self.solids, self.law, self.places, self.held, self.work, self.y, h, self.settings.tolerance, self.end
            )
        )

    def shorten(self, h: float) -> float:
        self.attempt(h)
        return h

    def land(self, whole: float, part: float, pair: int) -> float:
        """The same step anew up to the touch of this pair; its length [s].

        What is left of the gap is closed by gap + rate s + acceleration s^2/2 = 0, which also a bounce not higher than
        the allowance obeys. A graze without a root stays where it is.
        """
        held, kept = self.held, Places._make(field[: self.held].copy() for field in self.places)
        bodies = set(self.solids.pairs[pair].tolist())
        h, foreseen = whole * part, np.empty_like(self.y)
        dense_state(self.y, self.work.dense, part, foreseen)
        near = NEAR
        for _ in range(8):
            self.attempt(h)
            if near == NEAR:  # the shorter step differs from what the longer one foresaw, more at loose tolerances
                near += 10.0 * float(np.abs(self.end - foreseen)[: len(self.y) // 2].max())
            n = self.find(self.end, near)
            survey(self.solids, self.end, self.work.stages[STAGES], self.places, n, self.work)
            change = math.inf
            for k in range(n):
                gap, rate, b = self.work.geometry[k, GAP], self.work.geometry[k, RATE], self.work.b[k]
                own = set(self.places.body[k].tolist()) == bodies
                if own and rate < 0.0 and self.row(k) not in self.names and rate * rate > 2.0 * b * gap:
                    change = min(change, 2.0 * gap / (math.sqrt(rate * rate - 2.0 * b * gap) - rate))
            for field, value in zip(self.places, kept, strict=True):
                field[:held] = value
            if change == math.inf or abs(change) <= 1e-16 * (1.0 + self.time) or h + change <= 0.0:
                break
            h += change
        return h

    def find(self, y: Array, reach: float) -> int:
        while True:
            n, pair = find_touching(self.solids, y, reach, self.places)
            if n == PENETRATING:
                self.refuse_overlap(int(pair))
            if n <= len(self.places.kind):
                return int(n)
            self.make_room(2 * int(n))

    def refuse_overlap(self, pair: int) -> None:
        a, b = (self.world.body_name(int(i)) for i in sorted(self.solids.pairs[pair]))
        if self.time == 0.0:
            raise WorldError(f"bodies {a!r} and {b!r} overlap at the start; move them apart")
        raise UnresolvedContact("bodies overlap: a touch was missed", time=self.time, bodies=(a, b), gap=math.nan)

    def resolve(self, released: Name | None) -> Iterator[Sample]:
        """Impacts, ends of accumulations, then the contacts that hold from here on."""
        if released is not None:
            self.let_go.add(frozenset(released[:2]))
        struck: list[Impacts] = []
        before = self.sample(self.y, self.time)
        reach = TOUCH * (1.0 + self.extent())
        separate(self.solids, self.y, self.places, self.find(self.y, reach), self.work)
        while True:
            n = self.find(self.y, reach)
            free_rate(self.solids, self.law, self.y, self.work.rate)
            survey(self.solids, self.y, self.work.rate, self.places, n, self.work)
            rate, e = self.work.geometry[:n, RATE].copy(), self.restitution(n)
            still = np.full(n, STILL * (1.0 + float(np.abs(self.y[len(self.y) // 2 :]).max())))
            if released is not None:  # a place that takes over from the one that slid off
                still[(self.places.body[:n] == released[:2]).all(axis=1)] *= SEAM
                still[(self.places.body[:n] == released[1::-1]).all(axis=1)] *= SEAM
            if (rate < -still).any():
                struck.append(self.bounce(n, rate, e, still))
                self.count_event()
                continue
            self.in_touch = {frozenset(self.pair_of(k)) for k in range(n)}
            force, acceleration, holds = self.resting(n, rate <= still)
            with np.errstate(divide="ignore", invalid="ignore"):
                bounce = np.where((rate > still) & (acceleration < 0.0) & (e < 1.0), -2.0 * rate / acceleration, np.inf)
            fading = bounce < self.settings.accumulation_cutoff
            self.sort(n, holds | fading, force)
            if not fading.any():
                break
            for k in np.flatnonzero(fading):
                self.note("accumulation", self.time + float(bounce[k] / (1.0 - e[k])), *self.kept[self.row_of[int(k)]])
            project(self.solids, self.y, self.places, self.held, self.work)
            self.count_event()
        if self.held:
            project(self.solids, self.y, self.places, self.held, self.work)
        now = {self.row(k): self.kept[k] for k in range(self.held)}
        for kind, names in (("broken", self.names.keys() - now.keys()), ("made", now.keys() - self.names.keys())):
            for name in sorted(names):
                self.note(kind, self.time, *(self.names | now)[name])
        if self.names.keys() != now.keys():
            self.step = min(self.step, FIRST_STEP)
        self.names = now
        self.event_poses.append(self.y[: len(self.y) // 2].copy())
        if struck:
            yield before
            yield self.sample(self.y, self.time, struck)

    def resting(self, n: int, still: Mask) -> tuple[Array, Array, Mask]:
        """(force, acceleration of the gap, does it hold) of all touching places; 0 <= f  perp  a >= 0 of the still."""
        force, A, b = np.zeros(n), self.work.A[:n, :n], self.work.b[:n]
        rows = np.flatnonzero(still)
        try:
            force[rows] = required_forces(A[np.ix_(rows, rows)], b[rows])
        except ContactForceError as error:
            raise ContactForceError(f"t = {self.time:.9g} s: {error}", residual=error.residual) from error
        acceleration = b + A @ force
        holds = still & (acceleration <= NEUTRAL * (1.0 + np.abs(b).max(initial=0.0)))
        for k in range(n):
            if frozenset(self.pair_of(k)) in self.let_go and force[k] * A[k, k] <= self.pull:
                holds[k] = False
        return force, acceleration, holds

    def sort(self, n: int, holds: Mask, force: Array) -> None:
        """The places that hold to the front, those that press first: of dependent ones these carry the force."""
        order = np.lexsort((np.arange(n), force[:n] <= 0.0, ~holds))
        for field in self.places:
            field[:n] = field[:n][order]
        self.work.geometry[:n] = self.work.geometry[:n][order]
        self.held = int(holds.sum())
        self.row_of = {int(k): position for position, k in enumerate(order)}
        points = self.points(self.held, self.y)
        self.kept = [(self.pair_of(k), points[k]) for k in range(self.held)]

    def bounce(self, n: int, rate: Array, e: Array, still: Array) -> Impacts:
        impulse = impulses(self.settings.impact_law, self.work.A[:n, :n].copy(), rate, e, still)
        strike(self.solids, self.y, self.places, n, self.work, impulse)
        rows, points = np.flatnonzero(impulse > 0.0), self.points(n, self.y)
        pair = self.places.body[rows][:, ::-1].copy()
        for k in rows:
            self.note("impact", self.time, self.pair_of(int(k)), points[k])
        return Impacts(
            time=np.full(len(rows), self.time),
            pair=pair,
            point=points[rows],
            normal=self.work.geometry[rows][:, [NX, NY]],
            gap=self.work.geometry[rows, GAP],
            speed=rate[rows],
            impulse=impulse[rows],
            friction=np.zeros(len(rows)),
        )

    def sample(self, y: Array, time: float, struck: list[Impacts] | None = None) -> Sample:
        """A state with the forces of the places that hold."""
        n, B = self.held, len(self.world.bodies)
        if n:
            forces(self.solids, self.law, y, self.places, n, self.work)
        contacts = ContactForces(
            pair=self.places.body[:n, ::-1].copy(),
            point=self.points(n, y),
            normal=self.work.geometry[:n][:, [NX, NY]],
            gap=self.work.geometry[:n, GAP].copy(),
            force=np.where(self.work.skipped[:n] == 1, 0.0, np.maximum(self.work.force[:n], 0.0)),
            friction=np.zeros(n),
        )
        impacts = Impacts(**{
            name: np.concatenate([getattr(one, name) for one in struck or [NO_IMPACTS]])
            for name in Impacts.__slots__
        })  # fmt: skip
        state = y.reshape(2, B, 3).copy()
        return Sample(time=time, pose=state[0], twist=state[1], contacts=contacts, impacts=impacts)

    def show(self, h: float, reached: float = 0.0) -> Iterator[Sample]:
        """Samples of the grid up to the end of this step, from its dense output."""
        y = np.empty_like(self.y)
        while self.shown < len(self.grid) and self.grid[self.shown] <= reached:
            t = float(self.grid[self.shown])
            if h > 0.0:
                dense_state(self.y, self.work.dense, min(1.0, (t - self.time) / h), y)
                if self.held:
                    project(self.solids, y, self.places, self.held, self.work)
            else:
                y[:] = self.y
            yield self.sample(y, t)
            self.shown += 1

    def points(self, n: int, y: Array) -> Array:
        """Where the first n places are, with the geometry last measured. (n, 2) [m]"""
        i = self.places.body[:n, 0]
        radius = np.where(self.places.feature[:n, 0] < 0, self.solids.radius[i], 0.0)
        centre = y[: len(y) // 2].reshape(-1, 3)[i, :2]
        g = self.work.geometry[:n]
        return centre + g[:, [U1X, U1Y]] - radius[:, None] * g[:, [NX, NY]]

    def pair_of(self, k: int) -> tuple[int, int]:
        return int(self.places.body[k, 1]), int(self.places.body[k, 0])

    def row(self, k: int) -> Name:
        return (*self.places.body[k].tolist(), *self.places.feature[k].tolist(), int(self.places.kind[k]))

    def name(self, k: int) -> Name | None:
        return self.row(k) if k >= 0 else None

    def restitution(self, n: int) -> Array:
        pairs = self.places.body[:n]
        return self.world.pair_restitution[pairs[:, 0], pairs[:, 1]]

    def extent(self) -> float:
        """The greatest coordinate of a body that moves [m]."""
        pose = self.y[: len(self.y) // 2].reshape(-1, 3)
        return float(np.abs(pose[self.solids.inv_mass > 0.0, :2]).max(initial=0.0))

    def note(self, kind: str, time: float, pair: tuple[int, int], point: Array) -> None:
        self.log.append((time, kind, *pair, float(point[0]), float(point[1])))

    def count_event(self) -> None:
        """No end of events at one instant, nor in all."""
        if self.time - self.last_event > INSTANT:
            self.idle = 0
            self.let_go.clear()
        self.idle += 1
        self.last_event = self.time
        if self.idle > STANDSTILL + 10 * len(self.places.kind):
            raise self.stuck(f"{self.idle} events at one instant")
        if len(self.log) > self.settings.max_events:
            raise self.stuck(f"more than max_events = {self.settings.max_events} events")

    def stuck(self, reason: str) -> UnresolvedContact:
        pair = self.log[-1][2:4] if self.log else (0, 0)
        a, b = (self.world.body_name(int(i)) for i in pair)
        return UnresolvedContact(reason, time=self.time, bodies=(a, b), gap=0.0)

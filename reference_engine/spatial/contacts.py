"""Bodies in contact, and what happens at an event: impulses, then which contacts carry force and how."""

import math
from collections import deque
from contextlib import suppress
from typing import Any

import numpy as np
from scipy import sparse

from reference_engine.array_types import Array, Flags, Indices
from reference_engine.compiler.structure import zeros
from reference_engine.contact_problems.cone_problem import ConeProblem
from reference_engine.contact_problems.cone_solve import solve_cones
from reference_engine.contact_problems.friction_continuation import forces_without_one, impartial_forces, seek_forces
from reference_engine.contact_problems.impact_process import ImpactError, WedgedImpactError
from reference_engine.contact_problems.multiple_impacts import multiple_impact
from reference_engine.dense import mul, norm, pinv
from reference_engine.elementary import squared
from reference_engine.errors import (
    ContactForceError,
    EndlessEventsError,
    OrderOfImpactsError,
    PainleveError,
    UnresolvedContact,
    WedgedError,
)
from reference_engine.events import Segment
from reference_engine.spatial import caps
from reference_engine.spatial import layout as col
from reference_engine.spatial.accelerations import ONSET, project_entry, rate_entry
from reference_engine.spatial.advancement import contacts_at
from reference_engine.spatial.frames import Frames, deepest, orthonormal, rates_of, surveyed
from reference_engine.spatial.layout import Active, Run, Work
from reference_engine.spatial.motion import LocatedSettings, OpenForces, SpatialEvent
from reference_engine.spatial.world import SpatialWorld, model_of, start_of

FADED = 1e-6  # of sqrt(g size): a slower approach ends without restitution, which is where bounces accumulate
MOST_RUBBING = 10.0  # times the impulse that ends bounces without friction
SLOW = 1e-10  # of the bodies' pace: a speed that is none
TOGETHER = 1e-9  # of the size: contacts so near at the same time are met together
SHUT = 1e-11  # of the size: a gap that is 0
GROWN = 1e3  # of all weights and centrifugal forces: contact forces that have no limit
YIELDS = 1e4  # of forces of joints that are not known yet, over those of contacts that are
ALIKE, EQUAL = 1e-9, 1e-6  # by which normals may differ that are the same; of forces, by which those that are equal
FORCELESS = 1e-9  # of the largest force: no force
STILL = 1e-9  # of the largest acceleration: by which forces are sought that miss no law
OFF = 1e-7  # of the largest acceleration: by which the law may be missed once forces are found
SWEEPS, MANY_SWEEPS = 5000, 200_000
CONVERGED = 1e-14  # of the largest acceleration
SPENT = 1e-6  # of what friction may be: by no less is it within its cone where it sticks on
NOTHING = 1e-12  # of gravity: an acceleration that is round-off
FIRST_STEP = 1e-3  # s
MOST_TURNS, CENTRED = 60, 1e-6  # of a cap's supports; of its radius, where pressure is in its middle; rad
GROWTH = 7  # states in a row between which forces grow that have no limit
MANY, MANY_STEPS = 100, 1000  # events, and steps, that may not take next to no time
LAST_BITS, SHORT = 10, 1e-17  # rounds, and s, in which it is sought when a rim lies flat
BRIEF = 1e-7  # s, over which accelerations of gaps are differences


class BodiesInContact:
    def __init__(
        self, world: SpatialWorld, settings: LocatedSettings, end: float, time: float = 0.0, y: Array | None = None
    ) -> None:
        self.world, self.settings, self.end = world, settings, end
        model, y = model_of(world), start_of(world) if y is None else y
        joints = len(world.joints)
        self.joints = list(range(len(model.candidate) - joints, len(model.candidate)))
        size = float(model.radius[model.inverse_mass > 0.0].max(initial=0.0)) or 1.0
        self.model, self.y, self.time = model, y, time
        self.contacts: list[int] = []  # at gap 0, with force or without
        self.step_length = FIRST_STEP
        self.around: tuple[Any, Any] | None = None  # the state before and after the impacts of the last event
        self.events: list[SpatialEvent] = []
        self.steps = self.resolved = 0
        self.recent = {"events": deque[float](maxlen=MANY), "steps": deque[float](maxlen=MANY_STEPS)}  # s
        self.starts = deque[Array](maxlen=GROWTH)  # states from which the last steps since an event went on
        self.left_open: OpenForces | None = None
        self._ahead: tuple[float, Array] | None = None
        self._stopped: list[int] = []
        self._sought: dict[int, Array] = {}  # by candidate, as of `Active.sought`
        self._fallen: dict[int, tuple[bool, bool]] = {}
        self._idle: set[int] = set()  # contacts without force
        self._twins: dict[int, int] = {}  # of contacts that would count twice, those that count
        self._closing = -1
        self.quickest = float(np.abs(model.given[:, col.RATE]).max())  # rad/s, of given swings
        self.run = self._run_of(size, 16)

    def _run_of(self, size: float, space: int) -> Run:
        n = len(self.y)
        sizes = {
            "n": n,
            "B + 1": n // int(col.BODY),
            "N": len(self.model.candidate),
            "A": space,
            "M": 3 * space,
            "M + 1": 3 * space + 1,
            "A + 1": space + 1,
        }
        work, active = zeros(Work, sizes), zeros(Active, sizes)
        for row in (work.state, work.end):
            row[:] = self.y
        run = Run(
            model=self.model, active=active, work=work, y=self.y.copy(), tolerance=np.array([self.settings.tolerance]),
            scale=np.array([size, 0.0]), time=np.array([self.time, self.time, math.inf]),
        )  # fmt: skip
        return run

    @property
    def size(self) -> float:
        return float(self.run.scale[0])

    def _names(self, k: int) -> tuple[str, str]:
        ids = self.model.candidate[k]
        return self.world.body_name(int(ids[col.FIRST])), self.world.body_name(int(ids[col.SECOND]))

    def _any_names(self) -> tuple[str, str]:
        """Of a contact that is, else of the last that was."""
        if self.contacts:
            return self._names(self.contacts[0])
        first, second = (self.events[-1].first, self.events[-1].second) if self.events else (0, 0)
        return self.world.body_name(first), self.world.body_name(second)

    def _in_contact(self, fastest: float) -> list[int]:
        """Candidates at gap 0 here, which do not part faster than that [m/s]."""
        rates, found = np.zeros_like(self.y), np.zeros(len(self.model.candidate), np.int64)
        rate_entry(self.run, self.y, rates)
        later = self.y + BRIEF * rates
        count = contacts_at(self.run, self.y, later, TOGETHER * self.size, fastest, self.pace, found)
        contacts = self._without_twins([int(k) for k in found[:count]])
        for k in caps.flat_rims(self.run, self.y, contacts):
            self._exchange([k], caps.supports(k), contacts)
            self._twins[k] = k + 1
        return contacts

    def _stand(self, k: int) -> None:
        """A flat cap on the first support of its rim's candidate k."""
        self._exchange(caps.supports(k), [k], self.contacts)
        self.model.stands[self.model.candidate[k, col.FIRST_FEATURE]] = 1

    def _exchange(self, old: list[int], new: list[int], contacts: list[int]) -> None:
        """Among contacts, where the first of the old ones is."""
        at = min(contacts.index(k) for k in old if k in contacts)
        rest = [k for k in contacts[at:] if k not in old]
        contacts[at:] = new + rest

    def _without_twins(self, contacts: list[int]) -> list[int]:
        """Of features of the same two pieces that meet at the same point along the same normal, those of the first
        kind: a corner at the rim of a face is an edge on an edge, too, and would count twice."""
        ids = self.model.candidate[contacts]
        rows = surveyed(self.run, self.y, contacts)
        point = 0.5 * (rows[:, col.C1 : col.C2] + rows[:, col.C2 : col.U])
        normal = rows[:, col.N : col.RATE_P1] * np.where(ids[:, col.FIRST] > ids[:, col.SECOND], -1.0, 1.0)[:, None]
        same = np.equal.outer(ids[:, col.PIECES], ids[:, col.PIECES])
        same &= np.abs(point[:, None] - point).max(axis=2, initial=0.0) <= TOGETHER * self.size
        same &= np.abs(normal[:, None] - normal).max(axis=2, initial=0.0) <= ALIKE
        single = np.ones(len(contacts), bool)
        self._twins = {}
        for n in np.argsort(ids[:, col.KIND], kind="stable"):
            if single[n]:
                for twin in np.flatnonzero(same[n] & single):
                    if twin != n:
                        single[twin] = False
                        self._twins[contacts[twin]] = contacts[n]
        return [k for k, one in zip(contacts, single) if one]

    def _movable(self, contacts: list[int]) -> list[int]:
        """Those of these whose force moves anything: of some, joints do not let it."""
        if not contacts or not self.joints:
            return contacts
        immobile = Frames(self.run, self.y, contacts, self.joints).immobile
        return [k for k, fast in zip(contacts, immobile) if not fast]

    def _settled(self, time: float) -> Segment:
        """Impulses where some approach, then what carries force and how, from here on."""
        self.run.time[:] = time, time, math.inf
        bodies = self.y.reshape(-1, int(col.BODY))
        finite = np.where(np.isfinite(self.model.radius), self.model.radius, 0.0)
        speed = np.sqrt(np.einsum("bi,bi->b", bodies[:, col.V : col.W], bodies[:, col.V : col.W]))
        speed += finite * np.sqrt(np.einsum("bi,bi->b", bodies[:, col.W :], bodies[:, col.W :]))
        self.model.stands[:] = 0
        self.pace = max(float(speed.max()), math.sqrt(norm(self.model.gravity) * self.size), 1e-6)
        self.run.scale[1] = SLOW * self.pace
        self.contacts = self._in_contact(float(self.run.scale[1]))
        if self._closing >= 0 and not self._is_met(self._closing):
            self.contacts.append(self._closing)
        self._closing = -1
        self.contacts = self._movable(self.contacts)
        self._aim_caps()
        while self.contacts:
            self._impacts(time)
            # What parted before, and an impact has turned round
            near = self._in_contact(float(self.run.scale[1]))
            more = self._movable([k for k in near if k not in self.contacts])
            if not more:
                break
            self.contacts += more
        self._choose(time)
        if self._come_back(time):
            self._choose(time)
        self._close_gaps()
        state = self.y.copy()
        return Segment(time, lambda _: state)

    def _close_gaps(self) -> None:
        """What carries force is moved on to gap 0; where that would press in what is as near, that, too."""
        active, before, near = self.run.active, self.y.copy(), SHUT * self.size
        chosen = [
            (int(active.candidate[k]), int(active.mode[k]), active.slip[k].copy()) for k in range(int(active.count[0]))
        ]
        carry = [one for one in chosen if one[0] not in self.joints]
        project_entry(self.run, self.y)
        if not carry or np.abs(surveyed(self.run, before, [k for k, _, _ in carry])[:, col.GAP]).max() <= near:
            return
        young = {k for (k, _, _), new in zip(chosen, active.young) if new}
        weights = {k: float(weight) for (k, _, _), weight in zip(chosen, active.weight)}
        after, self.y = self.y, before
        rest, closed = [k for k in self._in_contact(math.inf) if k not in weights], list(carry)
        for k in caps.rims_of(self.run, rest):
            if k in weights:  # it stands on its rim
                self._exchange(caps.supports(k), [], rest)
        while rest:
            gaps = surveyed(self.run, after, rest)[:, col.GAP]
            deepest = int(np.argmin(gaps))
            if gaps[deepest] >= -near:
                break
            closed.append((rest.pop(deepest), int(col.SLIP), np.zeros(3)))
            self._activate(closed, set())
            after = before.copy()
            project_entry(self.run, after)
        if len(closed) > len(carry):  # their velocities are as they were
            self._activate(carry, young)
            count = int(self.run.active.count[0])
            self.run.active.weight[:count] = [weights[int(k)] for k in self.run.active.candidate[:count]]
            bodies, moved = before.reshape(-1, int(col.BODY)), after.reshape(-1, int(col.BODY))
            moved[:, col.V :] = bodies[:, col.V :]
            project_entry(self.run, after)
        self.y = after

    def _lies_flat(self, y: Array) -> bool:
        """Whether a rim that was tilted lies in its face now, or all but does."""
        flat = (caps.flat_rims(self.run, state, self.contacts) for state in (y, self.y))
        return len(next(flat)) > len(next(flat)) or bool(caps.falling_flat(self.run, y, self.contacts))

    def _fall_flat(self) -> None:
        """Of a rim that all but lies in its face, and goes on so, time goes on the last bit."""
        self.run.time[col.START] = self.time
        for k, lasts in caps.falling_flat(self.run, self.y, self.contacts)[:1]:
            rates, halfway = np.zeros_like(self.y), np.zeros_like(self.y)
            rate_entry(self.run, self.y, rates)
            for _ in range(LAST_BITS):  # all from here: beyond flat another point of the rim is the lowest
                rate_entry(self.run, self.y + 0.5 * lasts * rates, halfway)
                after = self.y + lasts * halfway
                off = caps.time_to_flat(self.run, after, k)
                if abs(off) <= SHORT * (1.0 + self.time):
                    break
                lasts += off
            self.y, self.time = after, self.time + lasts
            caps.lay_flat(self.run, self.y, k)

    def _aim_caps(self) -> None:
        """Flat caps have no tilt, and their first supports are where they come down first, or else ahead."""
        slow = float(self.run.scale[1])
        for k in caps.rims_of(self.run, self.contacts):
            caps.lay_flat(self.run, self.y, k)
            along = caps.rates_along(self.run, self.y, k)
            way = caps.sliding_way(self.run, self.y, k, slow)
            if along.most - along.least > slow:
                caps.turn_supports(self.run, k, along.lowest)
            elif way is not None:
                caps.aim_supports(self.run, self.y, k, way)

    def _stand_caps(self) -> None:
        """Of a flat cap that turns, one point of its rim is in contact; of one that parts, none."""
        slow = float(self.run.scale[1])
        for k in caps.rims_of(self.run, self.contacts):
            along = caps.rates_along(self.run, self.y, k)
            if along.least > slow:
                self._exchange(caps.supports(k), [], self.contacts)
            elif along.most > slow:
                caps.turn_supports(self.run, k, along.lowest)
                self._stand(k)
            else:
                self._exchange(caps.supports(k), caps.supports(k), self.contacts)

    def _go_in_beside(self, values: Array, fine: float, searches: dict[int, caps.Search]) -> bool:
        """Turns the supports of flat caps of which a point between them goes in by more than `fine`; whether any does.

        values (n,): of the contacts, rates or accelerations of their gaps.
        """
        turned = False
        for k in caps.rims_of(self.run, self.contacts):
            along = caps.along_rim(values[[self.contacts.index(one) for one in caps.supports(k)]])
            search = searches.setdefault(k, caps.Search())
            if (
                along.most > fine
                and along.least < fine
                and abs(along.lowest) > caps.AIMED
                and search.rounds < MOST_TURNS
            ):
                caps.turn_supports(self.run, k, search.turn(along.lowest))
                turned = True
        return turned

    def _is_met(self, closing: int) -> bool:
        """Whether a contact of the same two pieces is there that approaches; or it is beyond its features, as a corner
        that is level with a face beside it: nothing is met there."""
        row, pieces = surveyed(self.run, self.y, [closing])[0], self.model.candidate[:, col.PIECES]
        if min(row[col.INSIDE], row[col.LOWEST]) < -TOGETHER * self.size:
            return True
        closing = self._twins.get(closing, closing)
        same = [k for k in self.contacts if k == closing or pieces[k] == pieces[closing]]
        rates = rates_of(surveyed(self.run, self.y, same)) if same else np.zeros(0)
        return closing in same or bool((rates < -self.run.scale[1]).any())

    def _end_slips(self) -> None:
        """Sliding contacts whose speed is next to none: time goes on the last bit by their deceleration."""
        self._stopped = []
        self.run.time[col.START] = self.time
        active, count = self.run.active, int(self.run.active.count[0])
        sliding = [
            k for k in range(count) if active.mode[k] == col.SLIP and self._has_friction(int(active.candidate[k]))
        ]
        if not sliding:
            return
        rates = np.zeros_like(self.y)
        rate_entry(self.run, self.y, rates)
        rows = self.run.work.row[:count].copy()
        slow = 3.0 * float(self.run.scale[1])
        for k in sliding:
            u, n = rows[k, col.U : col.FREE], rows[k, col.N : col.RATE_P1]
            if norm(u - float(mul(u, n)) * n) <= slow:
                self._stopped.append(int(active.candidate[k]))
        if self._stopped:
            first = sliding[[int(active.candidate[k]) for k in sliding].index(self._stopped[0])]
            later = self.y + BRIEF * rates
            before = rows[first, col.U : col.FREE]
            row = surveyed(self.run, later, [int(active.candidate[first])])
            slows = (row[0, col.U : col.FREE] - before) / BRIEF
            along = float(mul(before, before))
            brakes = -float(mul(before, slows))
            lasts = along / brakes if along < BRIEF * brakes else 0.0
            if lasts * norm(slows) <= 2.0 * slow:
                self.y += lasts * rates
                self.time += lasts

    def _has_friction(self, candidate: int) -> bool:
        return bool(self.model.value[candidate, col.FRICTION] > 0.0)

    def _log(self, time: float, kind: str, k: int, frames: Frames, n: int, speed: float, impulse: Array) -> None:
        ids = self.model.candidate[k]
        self.events.append(
            SpatialEvent(
                time=time, kind=kind, first=int(ids[col.FIRST]), second=int(ids[col.SECOND]),
                point=frames.point[n].copy(), normal=frames.normal[n].copy(), speed=speed, impulse=impulse,
            )
        )  # fmt: skip

    def _impacts(self, time: float) -> None:
        slow, searches = float(self.run.scale[1]), dict[int, caps.Search]()
        for _ in range(self.settings.max_events):
            frames = Frames(self.run, self.y, self.contacts, self.joints)
            approach = frames.u[:, 0]
            if not (approach < -slow).any():
                return
            n, value = frames.n, self.model.value[self.contacts]
            faded = FADED * math.sqrt(norm(self.model.gravity) * self.size)
            fast = approach < -faded
            if self.settings.order != "simultaneous":  # then an impulse goes on through contacts that are at rest
                fast[:] = fast.any()
            restitution = np.where(fast, value[:, col.RESTITUTION], 0.0)
            try:
                impulse = self._impulses(time, frames, restitution)
            except ImpactError as error:
                kind = WedgedError if isinstance(error, WedgedImpactError) else UnresolvedContact
                raise kind(str(error), time=time, bodies=self._any_names(), gap=0.0) from error
            after = frames.u + mul(frames.A, impulse.ravel()).reshape(n, 3)
            least = after[:, 0] + (restitution * frames.u[:, 0] if self.settings.impact_law == "newton" else 0.0)
            if self._go_in_beside(least, slow, searches):
                continue
            searches = {}
            for k, candidate in enumerate(self.contacts):
                if impulse[k].any():
                    bounces = after[k, 0] > slow
                    world = mul(frames.Q[k].T, impulse[k])
                    self._log(time, "impact" if bounces else "contact", candidate, frames, k, float(approach[k]), world)
            frames.give(self.run, self.y, impulse)
        raise EndlessEventsError("impacts without end", time=time, bodies=self._any_names(), gap=0.0)

    def _impulses(self, time: float, frames: Frames, restitution: Array) -> Array:
        """(n, 3) along the frames; by sweeps where the law's own solver ends a little short of its accuracy, as it does
        with redundant contacts."""
        n, order = frames.n, np.array([1, 2, 0])  # the normal last
        which = (3 * np.arange(n)[:, None] + order).ravel()
        friction = self.model.value[self.contacts, col.FRICTION]
        together = self.settings.order
        if together is None:
            moved = np.abs(frames.A.reshape(n, 3, n, 3)).max(axis=(1, 3)) > 0.0
            if np.count_nonzero(moved) > n:
                law = self.settings.impact_law
                raise OrderOfImpactsError(time=time, bodies=self._any_names(), contacts=n, law=law)
            together = "sequential"
        try:
            found = multiple_impact(
                frames.A[np.ix_(which, which)], frames.u[:, order], friction=friction, restitution=restitution,
                law=self.settings.impact_law, order=together, pace=self.pace,
            )  # fmt: skip
        except ImpactError:
            if (self.settings.impact_law, self.settings.order) != ("newton", "simultaneous"):
                raise
            impulse, aims = np.zeros((n, 3)), frames.u.copy()
            aims[:, 0] += restitution * aims[:, 0]
            _, _, jammed = seek_forces(
                frames.A, aims, friction, np.zeros((n, 2)), impulse, impulse, 1.0, MANY_SWEEPS, CONVERGED
            )
            after = aims + mul(frames.A, impulse.ravel()).reshape(n, 3)
            pressed = impulse[:, 0] > 0.0
            off = max(-float(after[:, 0].min()), float(np.abs(after[pressed, 0]).max(initial=0.0)))
            if jammed >= 0 or off > 1e-9 * float(np.abs(aims).max()):
                raise
            return impulse
        return found.impulse[:, [2, 0, 1]]

    def _come_back(self, time: float) -> bool:
        """Whether slow contacts that part are back at once, as a body's are that rocks in the end: they are at rest."""
        faded = FADED * math.sqrt(norm(self.model.gravity) * self.size)
        near = self._movable([k for k in self._in_contact(faded) if k not in self.contacts])
        for k in caps.rims_of(self.run, near):
            if caps.rates_along(self.run, self.y, k).most > faded:
                self._exchange(caps.supports(k), [], near)
        if not near:
            return False
        rates, tau = np.zeros_like(self.y), BRIEF
        rate_entry(self.run, self.y, rates)
        here, later = (rates_of(surveyed(self.run, y, near)) for y in (self.y, self.y + tau * rates))
        back = (later - here) / tau < -OFF * norm(self.model.gravity)
        if not back.any():
            return False
        self.contacts += [k for k, comes in zip(near, back) if comes]
        for k in caps.rims_of(self.run, self.contacts):
            self._exchange([k, *caps.supports(k)], caps.supports(k), self.contacts)
        frames = Frames(self.run, self.y, self.contacts, self.joints)
        frames.give(self.run, self.y, self._stopping(frames))
        return True

    def _stopping(self, frames: Frames) -> Array:
        """(n, 3) impulses that end what bounces are left, with their friction: as if the last impact had had none.

        Bounces that are left out press less than the weight by what the first of them begins with, and rub less by as
        much. Without friction where that would take far more.
        """
        friction, slow = self.model.value[self.contacts, col.FRICTION], float(self.run.scale[1])
        slip = np.sqrt(squared(frames.u[:, 1:]).sum(axis=1))
        along = np.zeros((frames.n, 3))  # how an impulse of 1 acts
        along[:, 0] = 1.0
        slides = slip > slow
        along[slides, 1:] = -friction[slides, None] * frames.u[slides, 1:] / slip[slides, None]
        normal = 3 * np.arange(frames.n)
        sticking = (normal[(friction > 0.0) & ~slides][:, None] + (1, 2)).ravel()
        rows = np.concatenate([normal, sticking])
        columns = np.zeros((3 * frames.n, len(rows)))
        columns[(normal[:, None] + (0, 1, 2)).ravel(), np.repeat(np.arange(frames.n), 3)] = along.ravel()
        columns[sticking, np.arange(frames.n, len(rows))] = 1.0
        speed = frames.u.ravel()
        plain = np.zeros(3 * frames.n)
        plain[normal] = -mul(pinv(frames.A[np.ix_(normal, normal)], rcond=1e-12), speed[normal])
        rubbing = mul(columns, -mul(pinv(mul(frames.A[rows], columns), rcond=1e-12), speed[rows]))
        return (rubbing if norm(rubbing) <= MOST_RUBBING * norm(plain) else plain).reshape(-1, 3)

    def _choose(self, time: float) -> None:
        """Which contacts carry force, and in which mode; into `run.active`."""
        support = self.model.candidate[:, col.REMOTE] == 2  # is not where it was
        self._fallen = {k: (fell and not support[k], out) for k, (fell, out) in self._fallen.items()}
        self._idle = {k for k in self._idle if not support[k]}
        run, slow, before = self.run, float(self.run.scale[1]), self._modes()
        none = ONSET * slow if run.active.young[: run.active.count[0]].any() else slow  # m/s, of slips alike for all
        self._stand_caps()
        rates = rates_of(surveyed(run, self.y, self.contacts)) if self.contacts else np.zeros(0)
        self.contacts = [k for k, rate in zip(self.contacts, rates) if rate <= slow]
        searches: dict[int, caps.Search] = {}
        while True:
            frames, friction, slides, force = self._sought_at(time, none)
            if not self._turn_caps(time, frames, force, searches):
                break
        n = frames.n
        if any(falls for _, falls in self._fallen.values()):
            self._spread(frames, friction, slides, force)
        across = np.einsum("ki,kij->kj", force[:, 1:], frames.Q[:n, 1:])
        self._sought = dict(zip(self.contacts, np.column_stack([force[:, 0], across])))
        # Without those whose force has fallen to 0, and those that had none, or have none, where the others carry
        pressed = force[:, 0] > FORCELESS * np.abs(force).max(initial=0.0)
        spared = [
            k for k, any_force in zip(self.contacts, pressed)
            if not any_force or self._fallen.get(k, (k in self._idle,))[0]
        ]  # fmt: skip
        for without in (spared, []):
            active = self._chosen(frames, force, slides, without)
            young = {k for k, mode, _ in active if mode == col.SLIP and not slides[self.contacts.index(k)].any()}
            self._activate(active, young)
            self._drop_pulling()
            if not without or not (self._leaves_cone() or self._go_in(without)):
                break
        self._take_joint_forces()
        self._idle = {*self.contacts} - {*self._modes()}
        self._fallen = {}
        self._log_modes(before, frames)

    def _sought_at(self, time: float, none: float) -> tuple[Frames, Array, Array, Array]:
        """Frames of the contacts, their friction, slips (n, 2) of what is faster than `none`, and forces (n, 3)."""
        frames = Frames(self.run, self.y, self.contacts, self.joints)
        friction = self.model.value[self.contacts, col.FRICTION]
        force, slides = np.zeros((frames.n, 3)), np.zeros((frames.n, 2))
        for k, candidate in enumerate(self.contacts):
            across = frames.u[k, 1:]
            speed = norm(across)
            if friction[k] > 0.0 and speed > none and candidate not in self._stopped:
                slides[k] = across / speed
        self._seek_forces(time, frames, friction, slides, force)
        return frames, friction, slides, force

    def _turn_caps(self, time: float, frames: Frames, force: Array, searches: dict[int, caps.Search]) -> bool:
        """Of flat caps: turns supports, between which the rim goes in, or of which the first is not where pressure is;
        or has one point of the rim in contact, about which the cap tips. Whether forces are to be sought anew."""
        rims = caps.rims_of(self.run, self.contacts)
        if not rims:
            return False
        a = (mul(frames.A, force.ravel()).reshape(frames.n, 3) + frames.b)[:, 0]
        fine, largest = OFF * float(np.abs(frames.b).max()), float(np.abs(force).max())
        if self._go_in_beside(a, fine, searches):
            return True
        again = False
        for k in rims:
            at = [self.contacts.index(one) for one in caps.supports(k)]
            along, pressing = caps.along_rim(a[at]), force[at, 0]
            if along.least < -fine:
                reason = (
                    f"no point of its rim is found about which a cap tips; others go in by {-along.least:.3g} m/s^2"
                )
                raise UnresolvedContact(reason, time=time, bodies=self._names(k), gap=0.0)
            pressed = bool(pressing.sum() > FORCELESS * largest)
            if along.most > fine or (pressed and pressing[1:].max() <= FORCELESS * pressing[0]):
                self._stand(k)
                again = True
            elif pressed and searches[k].centred < caps.MOST_CENTRED:
                far, angle = caps.centre_of(pressing)
                if far > CENTRED and abs(angle) > CENTRED:
                    caps.turn_supports(self.run, k, angle)
                    searches[k].centred += 1
                    again = True
        return again

    def _take_joint_forces(self) -> None:
        """Those of joints that go with the contact forces that were sought: from now on they change as little."""
        active = self.run.active
        joints = [k for k in range(int(active.count[0])) if int(active.candidate[k]) in self.joints]
        if not joints:
            return
        rate_entry(self.run, self.y, np.zeros_like(self.y))
        for k in joints:
            active.sought[k], active.weight[k] = (0.0, *self.run.work.force[k]), 1.0
            self._sought[int(active.candidate[k])] = active.sought[k].copy()

    def _seek_forces(self, time: float, frames: Frames, friction: Array, slides: Array, force: Array) -> None:
        """Into force (n, 3), island by island."""
        linked = self._islands([*self.contacts, *self.joints]) if self.contacts else []
        for island in ([k for k in of if k < frames.n] for of in linked):
            if not island:
                continue
            rows = (3 * np.array(island)[:, None] + np.arange(3)).ravel()
            A, b, mu, way = frames.A[np.ix_(rows, rows)], frames.b[island], friction[island], slides[island]
            scale = max(float(np.abs(b).max()), NOTHING * norm(self.model.gravity))
            found, off, jammed = impartial_forces(A, b, mu, way, STILL * scale, in_turn=SWEEPS)
            if jammed >= 0 or (off > OFF * scale and way.any()):
                other = forces_without_one(A, b, mu, way, STILL * scale)
                found, off, jammed = (found, off, jammed) if other is None else (other, 0.0, -1)
            if jammed >= 0:
                self._refuse_jam(time, frames, island[jammed], mu[jammed] * way[jammed])
            if off > OFF * scale and not way.any():
                with suppress(ContactForceError):
                    found, off = solve_cones(ConeProblem(sparse.csr_array(A), b, mu), tolerance=OFF).impulse, 0.0
            largest, those = float(np.abs(found).max()), [self.contacts[k] for k in island]
            if off > OFF * scale and way.any() and self._is_beyond_measure(largest, those):
                reason = f"a slip jams: forces that are tried grow without limit, to {largest:.3g} N"
                names = self._names(self.contacts[island[0]])
                raise EndlessEventsError(reason, time=time, bodies=names, gap=0.0)
            if off > OFF * scale:
                reason = f"contact forces are off by {off:.3g} m/s^2 after {SWEEPS} sweeps and Newton's method"
                raise UnresolvedContact(reason, time=time, bodies=self._names(self.contacts[island[0]]), gap=0.0)
            force[island] = found

    def _spread(self, frames: Frames, friction: Array, slides: Array, force: Array) -> None:
        """Of forces that the laws leave open those of what sticks go as deep into their cones as they do on the way to
        the least of them, by squares of their shares of the normal forces. No acceleration changes.

        Else a cone is left again at once, though nothing has to slip.
        """
        a = mul(frames.A, force.ravel()).reshape(frames.n, 3) + frames.b
        scale, largest = float(np.abs(frames.b).max(initial=0.0)), float(np.abs(force).max(initial=0.0))
        still = (np.abs(a).max(axis=1, initial=0.0) <= OFF * scale) & ~slides.any(axis=1) & (friction > 0.0)
        still &= force[:, 0] > FORCELESS * largest
        linked = self._islands([*self.contacts, *self.joints]) if self.contacts else []
        for island in ([k for k in of if k < frames.n and still[k]] for of in linked):
            if not any(self._fallen.get(self.contacts[k], (False, False))[1] for k in island):
                continue
            rows = (3 * np.array(island)[:, None] + np.arange(3)).ravel()
            weight = np.repeat(force[island, 0], 3)
            basis, _ = orthonormal((weight[:, None] * frames.L[rows]).T, np.zeros(frames.L.shape[1]))
            share = force[island].ravel() / weight
            way = (weight * (mul(basis.T, mul(basis, share)) - share)).reshape(-1, 3)
            force[island] += deepest(force[island], way, friction[island]) * way

    def _is_beyond_measure(self, force: float, contacts: list[int]) -> bool:
        """Whether a force is so many times the weights and centrifugal forces together of what is in these contacts."""
        inverse = self.model.inverse_mass[np.unique(self.model.candidate[contacts][:, (col.FIRST, col.SECOND)])]
        mass = float((1.0 / inverse[inverse > 0.0]).sum())
        return force > GROWN * mass * (norm(self.model.gravity) + self.pace * self.pace / self.size)

    def _refuse_jam(self, time: float, frames: Frames, k: int, pull: Array) -> None:
        """Where pressing harder makes a sliding contact go in faster. Of one contact alone that proves that no forces
        exist; of several it does not."""
        a, b = self._names(self.contacts[k])
        row = frames.A[3 * k, 3 * k : 3 * k + 3]
        p = float(row[0] - mul(row[1:], pull))
        if frames.n == 1:
            raise PainleveError(time=time, bodies=(a, b), p=p, b=float(frames.b[k, 0]))
        reason = f"pressing harder makes a sliding contact go in faster ({p:.3g} 1/kg); no impulse is tried"
        raise UnresolvedContact(reason, time=time, bodies=(a, b), gap=0.0)

    def _chosen(self, frames: Frames, force: Array, slides: Array, spared: list[int]) -> list[tuple[int, int, Array]]:
        """Candidate, mode, and the direction in which it slides or begins to; of contacts that carry force, or may."""
        a = mul(frames.A, force.ravel()).reshape(frames.n, 3) + frames.b
        largest, scale = float(np.abs(force).max(initial=0.0)), float(np.abs(frames.b).max(initial=0.0))
        active, fallen = [], {k for k, (_, falls) in self._fallen.items() if falls}
        begin = fallen if fallen - {*self._stopped} else set()  # what has just stopped begins again only with others
        for k, candidate in enumerate(self.contacts):
            closed = abs(float(a[k, 0])) <= OFF * scale and largest > 0.0
            if candidate in spared or not (force[k, 0] > FORCELESS * largest or closed):
                continue
            mode, way = col.SLIP, np.zeros(2)
            if self._has_friction(candidate):
                if slides[k].any():
                    way = slides[k]
                elif norm(a[k, 1:]) > OFF * scale:
                    way = a[k, 1:] / norm(a[k, 1:])
                elif candidate in begin and self._is_spent(candidate, force[k]):
                    way = -force[k, 1:] / norm(force[k, 1:])
                else:
                    mode = col.STICK
            active.append((candidate, int(mode), mul(frames.Q[k, 1:].T, way)))
        return active

    def _is_spent(self, candidate: int, force: Array) -> bool:
        """Whether friction has all that its cone allows: it was on its way out. Else others take some of it over."""
        across = norm(force[1:])
        return across > 0.0 and across >= (1.0 - SPENT) * float(self.model.value[candidate, col.FRICTION]) * force[0]

    def _activate(self, chosen: list[tuple[int, int, Array]], young: set[int]) -> None:
        space = len(chosen) + len(self.joints)
        if space > len(self.run.active.candidate):
            scale, times = self.run.scale.copy(), self.run.time.copy()
            self.run = self._run_of(float(scale[0]), 2 * space)
            self.run.scale[:], self.run.time[:] = scale, times
        active, every = self.run.active, [*chosen, *((j, int(col.STICK), np.zeros(3)) for j in self.joints)]
        islands = self._islands([candidate for candidate, _, _ in every])
        active.count[:] = space, len(islands)
        active.first[: len(islands) + 1] = np.cumsum([0, *map(len, islands)])
        active.young[:], active.turning[:] = 0, -1.0
        active.weight[:] = 1.0
        for k, (candidate, mode, slip) in enumerate(every[i] for island in islands for i in island):
            active.candidate[k], active.mode[k], active.slip[k] = candidate, mode, slip
            active.sought[k] = self._sought.get(candidate, 0.0)
            if candidate in self.joints and candidate not in self._sought:
                active.weight[k] = YIELDS
            active.young[k] = candidate in young and self._has_friction(candidate)

    def _islands(self, candidates: list[int]) -> list[list[int]]:
        """Numbers of these candidates, by the moving bodies that link them."""
        moves = self.model.inverse_mass > 0.0
        ends = self.model.candidate[np.array(candidates, np.int64)][:, (col.FIRST, col.SECOND)]
        both = moves[ends].all(axis=1)
        bodies = len(moves)
        links = sparse.coo_array((np.ones(both.sum()), tuple(ends[both].T)), (bodies, bodies))
        _, label = sparse.csgraph.connected_components(links, directed=False)
        of = label[np.where(moves[ends[:, 0]], ends[:, 0], ends[:, 1])]
        return [np.flatnonzero(of == one).tolist() for one in dict.fromkeys(of.tolist())]

    def _drop_pulling(self) -> None:
        """Of forces that the equations leave open the least squares may pull: such a contact carries none."""
        run, rates = self.run, np.zeros_like(self.y)
        while True:
            rate_entry(run, self.y, rates)
            count = int(run.active.count[0])
            normal = np.einsum("ki,ki->k", run.work.force[:count], run.work.row[:count, col.N : col.RATE_P1])
            joints = self.model.candidate[run.active.candidate[:count], col.KIND] == col.JOINT
            normal[joints] = np.inf
            largest = float(np.abs(run.work.force[:count]).max(initial=0.0))
            if not count or normal.min() >= -FORCELESS * largest:
                break
            worst = (1.0 - EQUAL) * float(normal.min())  # of contacts alike all or none
            chosen = [
                (int(run.active.candidate[k]), int(run.active.mode[k]), run.active.slip[k].copy())
                for k in range(count)
                if normal[k] > worst and not joints[k]
            ]
            self._activate(chosen, {int(k) for k in run.active.candidate[:count][run.active.young[:count] == 1]})
        pressing: Indices = np.arange(count)
        shares: Flags = ~joints
        if shares.any() and largest > 0.0:
            run.active.weight[pressing[shares]] = np.sqrt(np.maximum(normal[shares], 1e-6 * largest) / largest)
            rate_entry(run, self.y, rates)

    def _leaves_cone(self) -> bool:
        """Whether what sticks has more friction than its cone allows, or, if it was on its way out, as much: it would
        slip at once, though it need not."""
        run, count = self.run, int(self.run.active.count[0])
        rate_entry(run, self.y, np.zeros_like(self.y))
        force, n = run.work.force[:count], run.work.row[:count, col.N : col.RATE_P1]
        ids = run.active.candidate[:count]
        normal = np.einsum("ki,ki->k", force, n)
        across = np.sqrt(squared(force - normal[:, None] * n).sum(axis=1))
        sticks = (run.active.mode[:count] == col.STICK) & (self.model.candidate[ids, col.KIND] != col.JOINT)
        left = self.model.value[ids, col.FRICTION] * normal - across
        out = np.array([self._fallen.get(int(k), (False, False))[1] for k in ids], bool)
        least = np.where(out, SPENT * across, -FORCELESS * np.abs(force).max(initial=0.0))
        return bool((left < least)[sticks].any())

    def _go_in(self, without: list[int]) -> bool:
        """Whether contacts without force would be pressed in: the others do not carry."""
        rate_entry(self.run, self.y, np.zeros_like(self.y))
        count = int(self.run.active.count[0])
        given = dict(zip(self.run.active.candidate[:count].tolist(), self.run.work.force[:count].copy()))
        pressing = [k for k in given if k not in self.joints]
        frames = Frames(self.run, self.y, [*without, *pressing], self.joints)
        force = np.zeros((frames.n, 3))
        for n, k in enumerate(pressing, len(without)):
            force[n] = mul(frames.Q[n], given[k])
        a = mul(frames.A, force.ravel()).reshape(frames.n, 3) + frames.b
        scale = max(float(np.abs(frames.b).max()), norm(self.model.gravity))
        return bool((a[: len(without), 0] < -STILL * scale).any())

    def _modes(self) -> dict[int, int]:
        active = self.run.active
        return {int(active.candidate[k]): int(active.mode[k]) for k in range(int(active.count[0]))}

    def _log_modes(self, before: dict[int, int], frames: Frames) -> None:
        after = self._modes()
        for n, k in enumerate(self.contacts):
            if self._has_friction(k):
                change = before.get(k, 0), after.get(k, 0)
                if change in ((col.SLIP, col.STICK), (col.STICK, col.SLIP)):
                    kind = "stick" if change[1] == col.STICK else "slip"
                    self._log(self.time, kind, k, frames, n, 0.0, np.zeros(3))
        self._log_releases([k for k in before if k not in after and k in self.contacts])

    def _log_releases(self, gone: list[int]) -> None:
        """Of contacts without force now those that can open; others lie on what carries the rest."""
        if not gone:
            return
        modes = {k: mode for k, mode in self._modes().items() if k not in self.joints}
        frames = Frames(self.run, self.y, [*gone, *modes], self.joints)
        rows = [3 * n for n in range(len(gone), frames.n)]
        rows += [3 * n + c for n, mode in enumerate(modes.values(), len(gone)) if mode == col.STICK for c in (1, 2)]
        basis, _ = orthonormal(frames.L[rows], np.zeros(len(rows)))
        for n, k in enumerate(gone):
            own = frames.L[3 * n]
            left = own - mul(basis.T, mul(basis, own))
            if float(mul(left, left)) > OFF * float(mul(own, own)):
                self._log(self.time, "release", k, frames, n, 0.0, np.zeros(3))

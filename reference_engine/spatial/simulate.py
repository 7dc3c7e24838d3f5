"""The way in: the motion of rigid bodies in space, with contact and Coulomb friction, every event located."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from reference_engine.array_types import Array, Indices
from reference_engine.dense import mul, norm
from reference_engine.errors import EndlessEventsError, IllDeterminedError, SpatialWorldError, UnresolvedContact
from reference_engine.events import Segment, first_fall
from reference_engine.spatial import layout as col
from reference_engine.spatial.accelerations import MOST_OF, ONSET, project_entry, rate_entry
from reference_engine.spatial.advancement import CLOSED, SHORTEST, enclose_step, first_closing, integrate, step_of
from reference_engine.spatial.axes import levelled, turned_back
from reference_engine.spatial.contacts import BodiesInContact
from reference_engine.spatial.frames import rates_of, surveyed
from reference_engine.spatial.islands import Islands
from reference_engine.spatial.left_open import left_open
from reference_engine.spatial.motion import LocatedSettings, SpatialMotion
from reference_engine.spatial.world import SpatialWorld

OVERLAP = 1e-7  # of the size: what starts deeper is refused
FALLEN = 1e-9  # of the largest force: a guard that is 0
NOISE = 1e-11  # of the largest force, of the pace: by so much is a guard below 0 before it counts, as round-off may be
ILL_DETERMINED = 1e-6  # of the largest force: change by the positions' last bits at which no digit of a step is sure
CROWDED = 1e-6  # s, no less for so many steps or events in a row
FURTHER = 1e-11  # of the size: by so much what is at the end of its feature leaves it before that is looked at again
BARELY = 1e-12  # s
AGAIN = 4  # times that a step to an event is made anew
KNOT = 1e-14  # s, times 1 + the time: so near a knot of a given motion it is met
PLANNED_TURN = 1.0  # rad in a step, of a given swing: no error shows how quickly forces change on what sticks


def simulate_spatial(world: SpatialWorld, times: ArrayLike, settings: LocatedSettings | None = None) -> SpatialMotion:
    """The motion at these times [s], ascending from 0, exact to the tolerance.

    Contacts and joints stay closed; contact forces obey Signorini's and Coulomb's laws with the exact cone. The times
    at which contacts are made, break, stop sliding or begin to are located.

    Raises SpatialWorldError for a world or times that cannot be simulated; EndlessEventsError; PainleveError where no
    contact forces exist; UnresolvedContact where the motion cannot go on; ImpactError.
    """
    grid = np.array(times, np.float64)
    if grid.ndim != 1 or not grid.size or not np.isfinite(grid).all() or grid[0] != 0.0 or (np.diff(grid) < 0.0).any():
        raise SpatialWorldError("times: finite and ascending from 0")
    given = levelled(world)
    islands = Islands(world if given is None else given[0], settings or LocatedSettings(), grid, _InSpace)
    islands.go_on()
    motion = islands.motion()
    return motion if given is None else turned_back(motion, given[1])


class _InSpace(BodiesInContact):
    """One island in time."""

    def begin(self, first: bool) -> Segment:
        """Of no length; first: at the start of the motion, not where islands meet or come apart."""
        if first:
            self._refuse_overlaps()
        return self._settled(self.time)

    def take_over(self, others: list[Any]) -> None:
        """How long their steps were, and how many events they had, from the islands that went on up to here."""
        self.step_length = min([self.step_length, *(other.step_length for other in others)])
        self.resolved = max((other.resolved for other in others), default=0)

    def path(self) -> Array:
        """(8, B, 3) m: Bernstein coefficients of the positions in the last step."""
        enclose_step(self.run)
        return self.run.work.bernstein.reshape(8, -1, int(col.BODY))[:, :, :3]

    def _refuse_overlaps(self) -> None:
        """A vertex behind all faces of a hull, or of a plane, overlaps it; so does what is nearer than its margins."""
        ids = self.model.candidate[: len(self.model.candidate) - len(self.joints)]
        rows = surveyed(self.run, self.y, list(range(len(ids))))
        margin = self.model.value[: len(ids), (col.MARGIN_A, col.MARGIN_B)].sum(axis=1)
        deepest: dict[tuple[int, ...], tuple[float, int]] = {}
        for k, (one, gap, inside) in enumerate(zip(ids, rows[:, col.GAP], rows[:, col.INSIDE])):
            if one[col.KIND] == col.VERTEX_FACE:
                feature = int(one[col.FIRST_FEATURE]), int(one[col.PIECES])
                deepest[feature] = max(deepest.get(feature, (-math.inf, k)), (float(gap + margin[k]), k))
            outside = one[col.KIND] != col.VERTEX_FACE or gap + margin[k] >= 0.0
            if one[col.KIND] != col.EDGE_EDGE and inside >= 0.0 and outside:
                deepest[(k,)] = float(gap), k
        for gap, k in deepest.values():
            if gap < -OVERLAP * self.size:
                a, b = self._names(k)
                raise UnresolvedContact(
                    "they overlap at the start", time=0.0, bodies=(a, b), gap=float(rows[k, col.GAP])
                )

    def step(self) -> Segment:
        self._commit()
        self._refuse_crowds(self.time, "steps")
        run, start, before = self.run, self.time, self.y.copy()
        run.y[:] = before
        self.starts.append(before)
        self.left_open = self.left_open or left_open(run, before, self.contacts, self.joints, start)
        knot = self._next_knot(start)
        run.time[:] = start, start, knot - KNOT * max(1.0, abs(knot)) if knot < math.inf else math.inf
        longest = min(self.end, knot) - start
        if longest <= 0.0:
            return Segment(math.nextafter(start, math.inf), lambda _: before)
        if self.quickest > 0.0:
            longest = min(longest, PLANNED_TURN / self.quickest)
        h, self.step_length = integrate(run, longest, self.step_length)
        if h < 0.0:
            self._refuse_step(start)
        passed = np.zeros(len(self.model.candidate), np.int64)
        modes = self._modes()
        for twin, one in self._twins.items():
            if one in self.contacts:
                passed[twin] = 4 if one in modes else 2
        passed[self.contacts] = 2
        passed[[*modes, *self.joints]] = 1
        closing, candidate = first_closing(run, h, passed)
        if candidate == -2:  # no contact up to here, and it is not known further on
            if closing <= SHORTEST:
                reason = "a gap that neither closes nor opens"
                raise UnresolvedContact(reason, time=start, bodies=self._any_names(), gap=0.0)
            h, closing = closing, math.inf
            step_of(run, h)
        event, guard = (closing, -1) if closing <= h else (math.inf, -1)
        dense = self._dense(start, h, before)
        guards: Any = None
        if run.active.count[0]:
            guards, least = self._guards(before)
            fall = first_fall(guards, start, before, Segment(start + min(h, event), dense), least)
            if fall is not None and fall - start < event:
                event, guard = fall - start, 1
        if event <= h:
            h = self._land(event, candidate if guard < 0 and passed[candidate] != 2 else -1)
            dense = self._dense(start, h, before)
            if guard > 0 and h < event:  # it is met by another step
                event, guard = math.inf, -1
        after = run.work.end.copy()
        project_entry(run, after)
        self.steps += 1
        jumps = start + h >= knot - KNOT * max(1.0, abs(knot)) and event == math.inf
        end = knot if jumps else start + h
        self._ahead = end, after
        self._fallen = {}
        if guard == 1:  # of what falls in less time than there is, which guard it was shows a little later
            y = run.work.end if h > SHORTEST else before + min(BARELY, self.step_length) * run.work.stages[0]
            self._fallen = self._fallen_guards(guards, y)
        self._closing = candidate if event < math.inf and guard < 0 else -1

        def at(time: float) -> Array:
            return after if time >= end else dense(time)

        ends = event < math.inf or jumps or self._left_contact(after) or self._lies_flat(after)
        return Segment(end, at, event=end if ends else None)

    def resolve(self, time: float, state: Any) -> Segment:
        self._commit()
        self.resolved += 1
        self.starts.clear()
        if self.resolved > self.settings.max_events:
            raise EndlessEventsError(
                f"more than {self.settings.max_events} events", time=time, bodies=self._any_names(), gap=0.0
            )
        self._refuse_crowds(time, "events")
        self._end_slips()
        self._fall_flat()
        logged, self.around = len(self.events), None
        before = self.snapshot(self.time, self.y) if self.settings.at_impacts else None
        segment = self._settled(self.time)
        if before is not None and any(event.kind in ("impact", "contact") for event in self.events[logged:]):
            self.around = before, self.snapshot(self.time, self.y)
        return segment

    def _next_knot(self, time: float) -> float:
        """s, of the given motions; one that is barely ahead has been met."""
        later = self.model.knot[self.model.knot[:, 0] > time + KNOT * max(1.0, abs(time)), 0]
        return float(later[0]) if len(later) else math.inf

    def _refuse_step(self, time: float) -> None:
        """No step is short enough. Raises EndlessEventsError where forces have grown in each of the last steps, to the
        double at least, as where slip jams; IllDeterminedError where round-off changes them."""
        forces = np.stack([self._contact_forces(y) for y in self.starts])
        sizes = np.abs(forces).max(axis=(1, 2), initial=0.0)
        hardest, names = np.abs(forces[-1]).max(axis=1, initial=0.0), self._any_names()
        if len(hardest):
            names = self._names(int(self.run.active.candidate[np.argmax(hardest)]))
        if len(sizes) == self.starts.maxlen and (np.diff(sizes) > 0.0).all() and sizes[-1] > 2.0 * sizes[0]:
            reason = f"forces grow without limit, to {sizes[-1]:.3g} N; no step is short enough"
            raise EndlessEventsError(reason, time=time, bodies=names, gap=0.0)
        last_bits = [np.finfo(float).eps * (np.arange(len(self.y)) * k % 5 - 2.0) for k in (1, 2)]  # 2 of 1 at most
        nearby = np.stack([self._contact_forces(self.y + bits) for bits in last_bits])
        share = float(np.abs(nearby - forces[-1]).max(initial=0.0)) / max(sizes[-1], 1e-300)
        if share > ILL_DETERMINED:
            raise IllDeterminedError(time=time, bodies=names, share=share)
        raise UnresolvedContact("no step is short enough", time=time, bodies=self._any_names(), gap=0.0)

    def _contact_forces(self, y: Array) -> Array:
        """(n, 3) N, of all that is active, with the joints."""
        rate_entry(self.run, y, np.zeros_like(y))
        return self.run.work.force[: self.run.active.count[0]].copy()

    def _refuse_crowds(self, time: float, kind: str) -> None:
        """Raises EndlessEventsError where many "events", or "steps", take next to no time.

        Where several slips that spin come to their end together, each step is a share of the time that is left to it.
        """
        recent = self.recent[kind]
        recent.append(time)
        if len(recent) == recent.maxlen and time - recent[0] < CROWDED * (1.0 + time):
            reason = f"{recent.maxlen} {kind} within {CROWDED:g} s: no end in sight"
            raise EndlessEventsError(reason, time=time, bodies=self._any_names(), gap=0.0)

    def snapshot(self, time: float, state: Any) -> tuple[Array, tuple[Indices, Array, Array]]:
        """The state, and what presses in it: pairs of bodies, rows of `Work.row`, forces on the first."""
        count, own = int(self.run.active.count[0]), np.zeros(0, np.int64)
        self.run.time[col.START] = time
        ids = self.model.candidate[self.run.active.candidate[:count]]
        if count:
            rate_entry(self.run, np.ascontiguousarray(state), np.zeros_like(self.y))
            own = np.flatnonzero(ids[:, col.KIND] != col.JOINT)
        pressing = ids[own][:, (col.FIRST, col.SECOND)], self.run.work.row[own], self.run.work.force[own]
        return np.array(state), pressing

    def _commit(self) -> None:
        if self._ahead is not None:
            self.time, self.y = self._ahead
            self._ahead = None

    def _dense(self, start: float, h: float, before: Array) -> Callable[[float], Array]:
        F = self.run.work.dense.copy()

        def at(time: float) -> Array:
            x = (time - start) / h
            rest = F[6] * x
            for k in range(5, 0, -1):
                rest = (F[k] + rest) * (x if k % 2 == 0 else 1.0 - x)
            return np.asarray(before + (F[0] + rest) * x)

        return at

    def _guards(self, before: Array) -> tuple[Callable[[float, Array], Array], float]:
        """Three a contact: its force, what is left of the friction cone or of the slip, how far inside it is."""
        run, model, active = self.run, self.model, self.run.active
        count = int(active.count[0])
        out = np.zeros_like(before)
        ids, mode, slip = active.candidate[:count].copy(), active.mode[:count].copy(), np.zeros((count, 3))
        rate_entry(run, before, out)
        force = float(np.abs(run.work.force[:count]).max(initial=0.0)) or 1.0
        for k in range(count):
            slip[k] = self._slip_of(run.work.row[k], active.slip[k])
        friction, slow, size = model.value[ids, col.FRICTION], float(run.scale[1]), self.size
        speeds = np.einsum("ki,ki->k", run.work.row[:count, col.U : col.FREE], slip)
        active.young[:count] &= speeds < 2.0 * ONSET * slow
        begins = active.young[:count] == 1
        ends_at = np.where(begins, -slow, slow)  # m/s, of the slip: what has just begun is slow, and gets faster
        joints = model.candidate[ids, col.KIND] == col.JOINT
        within = (col.INSIDE, col.LOWEST)
        outside = np.minimum(run.work.row[:count, within].min(axis=1) / size, 0.0)

        def guards(time: float, y: Array) -> Array:
            run.time[col.START] = time
            rate_entry(run, y, out)
            row, given = run.work.row[:count], run.work.force[:count]
            normal = np.einsum("ki,ki->k", row[:, col.N : col.RATE_P1], given)
            across = given - normal[:, None] * row[:, col.N : col.RATE_P1]
            spare = friction * normal - np.sqrt(np.einsum("ki,ki->k", across, across))
            speed = np.einsum("ki,ki->k", row[:, col.U : col.FREE], slip)
            found = np.ones((count, 3))
            found[:, 0] = normal / force
            found[:, 1] = np.where(mode == col.STICK, spare / force, (speed - ends_at) / self.pace)
            found[(mode == col.SLIP) & (friction == 0.0), 1] = 1.0
            found[:, 2] = np.minimum(row[:, within].min(axis=1) / size, 1.0) - outside + FURTHER
            found[joints] = 1.0
            return found.ravel() + NOISE

        return guards, 10.0 * NOISE

    def _fallen_guards(self, guards: Callable[[float, Array], Array], y: Array) -> dict[int, tuple[bool, bool]]:
        """Of contacts, whether their force, and what was left of the cone or of the slip, is 0 here."""
        found = guards(0.0, y).reshape(-1, 3)[:, :2] <= FALLEN + NOISE
        active = self.run.active
        return {int(active.candidate[k]): (bool(row[0]), bool(row[1])) for k, row in enumerate(found) if row.any()}

    def _slip_of(self, row: Array, given: Array) -> Array:
        u, n = row[col.U : col.FREE], row[col.N : col.RATE_P1]
        across = u - float(mul(u, n)) * n
        speed = norm(across)
        if speed <= 1e-3 * self.run.scale[1]:
            return given
        return across / (speed if float(mul(across, given)) >= 0.0 else -speed)  # as friction has it

    def _land(self, length: float, candidate: int) -> float:
        """The step anew, up to its event; of a closing its last part by Newton's method. To just before a guard's fall
        where the law of friction is not smooth up to there: at the end of a slip its direction is round-off."""
        run, h = self.run, length
        run.time[col.START] = self.time
        for _ in range(AGAIN):
            error = step_of(run, h)
            if candidate < 0:
                if error <= 1.0:
                    break
                h *= MOST_OF
                continue
            row = surveyed(run, run.work.end, [candidate])
            rate = float(rates_of(row)[0])
            if not rate < 0.0:  # it grazes
                break
            change = -float(row[0, col.GAP]) / rate
            if not abs(change) < 0.5 * length or abs(change) <= 1e-16 * (1.0 + self.time):
                break
            h += change
        else:  # the state is that of the time
            step_of(run, h)
        return h

    def _left_contact(self, y: Array) -> bool:
        """Whether a contact without force approaches again; those that have parted are dropped."""
        idle = [k for k in self.contacts if k not in self.run.active.candidate[: self.run.active.count[0]]]
        if not idle:
            return False
        rows = surveyed(self.run, y, idle)
        far = rows[:, col.GAP] > 10.0 * CLOSED * self.size
        self.contacts = [k for k in self.contacts if k not in {i for i, away in zip(idle, far) if away}]
        return bool((~far & (rates_of(rows) < -self.run.scale[1])).any())

"""Bodies that cannot meet go on each in its own time.

An island is bodies that joints or contacts link, or that are near one another, with all that is fixed or has a given
motion. Each has one step at a time, of its own length, with its own events; the one whose step ends first goes on. So
at any time up to there every island has a step over it, and all can be sampled. A new step is held against those of the
other islands over the time that they share: a body stays in the box about the Bernstein coefficients of its path
(Farouki 2012), and boxes that overlap are followed by conservative advancement of the bodies' spheres (Mirtich 1996).
Islands that may meet go on as one from where the later of their steps begins. One that has come apart goes on as
several.
"""

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from reference_engine.array_types import Array, Indices
from reference_engine.dense import norm
from reference_engine.events import Segment, first_zero
from reference_engine.spatial import layout as col
from reference_engine.spatial.motion import LocatedSettings, OpenForces, SpatialContacts, SpatialEvent, SpatialMotion
from reference_engine.spatial.world import SpatialWorld, refuse_pairs, start_of

NEAR = 0.02  # of the sum of both radii: spheres so near belong to one island
APART = 0.25  # the same: bodies of an island that are further from all others leave it
MOST_ADVANCES = 64  # at two bodies in a step, before they count as near

Pressing = tuple[Indices, Array, Array]  # of a sample: pairs of bodies, rows of `Work.row`, forces


class Client(Protocol):
    """One island in time."""

    time: float  # s, where its step begins
    y: Array
    events: list[SpatialEvent]
    left_open: OpenForces | None
    steps: int
    around: tuple[Any, Any] | None  # snapshots before and after the impacts of the last event, where they are wanted

    def begin(self, first: bool) -> Segment:
        """Of no length, with what happens there; first: at the start of the motion."""

    def step(self) -> Segment:
        """One step on from the last segment."""

    def resolve(self, time: float, state: Array) -> Segment:
        """What the event does; of no length, at the event's time."""

    def snapshot(self, time: float, state: Array) -> tuple[Array, Pressing]:
        """A state within the last segment, with what presses in it."""

    def path(self) -> Array:
        """(8, B, 3) m: Bernstein coefficients of the bodies' positions in the last step."""

    def take_over(self, others: list[Any]) -> None:
        """From the clients of the islands before it."""


@dataclass(eq=False)
class Island:
    client: Client
    bodies: list[int]  # numbers in the world, ascending: those that move, and all that do not
    moves: list[int]  # numbers in the island
    segment: Segment
    together: float = -math.inf  # s, up to when it stays whole

    @property
    def reached(self) -> float:
        event = self.segment.event
        return self.segment.end if event is None else event

    def positions(self, state: Array) -> Array:
        return np.asarray(state.reshape(-1, int(col.BODY))[self.moves, :3])


class Islands:
    """All bodies of a world. `make(world, settings, end, time, y)` follows those of one island from there on."""

    def __init__(
        self, world: SpatialWorld, settings: LocatedSettings, grid: Array, make: Callable[..., Client]
    ) -> None:
        self.world, self.settings, self.grid, self.make = world, settings, grid, make
        refuse_pairs(world)
        bodies = world.bodies
        self.fixed = [i for i, body in enumerate(bodies) if body.fixed]
        radius = [world.radius_of(i) for i in range(len(bodies))]
        self.radius = {i: radius[i] for i, body in enumerate(bodies) if not body.fixed}
        self.state = start_of(world).reshape(-1, int(col.BODY))
        self.samples: list[tuple[float, Array]] = []
        self.pressing: list[tuple[int, Indices, Array, Array]] = []
        self.events: list[SpatialEvent] = []
        self.left_open: list[OpenForces] = []
        self.steps = 0
        moving = list(self.radius)
        self.low, self.high = np.full((2, len(bodies), 3), np.nan)  # m, corners of what each sweeps in its step
        self.island_of: dict[int, Island] = {}
        self.waiting: list[tuple[float, bool, int, Island]] = []  # a heap: whose step ends first, in an event at first
        self.made = 0
        groups = self._groups(moving, self.state[np.array(moving, np.int64), :3], NEAR) or [[]]
        for group in groups:
            self._add(self._island(group, 0.0, self.state, first=True))

    # --- who belongs together ---------------------------------------------------------------------------------

    def _groups(self, moving: list[int], x: Array, near: float) -> list[list[int]]:
        """Of these bodies at x (n, 3), those that joints link or that are so near."""
        if len(moving) < 2:
            return [moving] if moving else []
        r, number = np.array([self.radius[i] for i in moving]), {i: k for k, i in enumerate(moving)}
        apart = x[:, None] - x[None]
        links = np.sqrt(np.einsum("ijk,ijk->ij", apart, apart)) <= (1.0 + near) * (r[:, None] + r)
        for joint in self.world.joints:
            if joint.body in number and joint.other in number:
                links[number[joint.body], number[joint.other]] = True
        count, label = sparse.csgraph.connected_components(links, directed=False)
        return [[moving[k] for k in np.flatnonzero(label == one)] for one in range(count)]

    def _island(self, group: list[int], time: float, state: Array, *, first: bool = False, given: Any = ()) -> Island:
        bodies = sorted([*group, *self.fixed])
        number = {i: k for k, i in enumerate(bodies)} | {len(self.world.bodies): len(bodies)}
        world = replace(
            self.world,
            bodies=tuple(replace(self.world.bodies[i], name=self.world.body_name(i)) for i in bodies),
            joints=tuple(
                replace(joint, body=number[joint.body], other=None if joint.other is None else number[joint.other])
                for joint in self.world.joints
                if joint.body in number and (joint.other is None or joint.other in number)
            ),
            pairs={
                (number[a], number[b]): self.world.pairs[a, b]
                for a, b in combinations(bodies, 2)
                if (a, b) in self.world.pairs
            },
        )
        client = self.make(world, self.settings, float(self.grid[-1]), time, state[[*bodies, -1]].ravel())
        client.take_over(list(given))
        moves = [number[i] for i in group]
        return Island(client, bodies, moves, client.begin(first))

    def _add(self, island: Island) -> None:
        for k in island.moves:
            self.island_of[island.bodies[k]] = island
        self._wait(island)

    def _wait(self, island: Island) -> None:
        self.made += 1
        heapq.heappush(self.waiting, (island.reached, island.segment.event is None, self.made, island))

    @property
    def islands(self) -> list[Island]:
        """By their first bodies."""
        return sorted((row[-1] for row in self.waiting), key=lambda one: [one.bodies[k] for k in one.moves[:1]])

    # --- time -------------------------------------------------------------------------------------------------

    def go_on(self) -> None:
        """To the last sample."""
        shown = 0
        while True:
            reached = self.waiting[0][0]
            while shown < len(self.grid) and self.grid[shown] < reached:
                self._sample(float(self.grid[shown]))
                shown += 1
            if shown == len(self.grid):
                return
            island = self.waiting[0][-1]
            if island.segment.event is not None:
                self._resolve(island)
            elif self._comes_apart(island) or self._meets(island):
                continue
            heapq.heappop(self.waiting)
            self._wait(island)

    def _resolve(self, island: Island) -> None:
        time = island.reached
        island.segment = island.client.resolve(time, island.segment.at(time))
        if island.client.around is not None:
            for own in island.client.around:
                self._sample(island.client.time, island, own)

    def _meets(self, island: Island) -> bool:
        """Makes its next step; whether it goes on with others, as one, instead."""
        start = island.reached
        island.segment = island.client.step()
        end, path = island.segment.end, island.client.path()
        met: dict[int, tuple[Island, float]] = {}
        for k in island.moves if start < self.grid[-1] else ():
            i = island.bodies[k]
            wide = (1.0 + NEAR) * self.radius[i]
            self.low[i], self.high[i] = path[:, k].min(axis=0) - wide, path[:, k].max(axis=0) + wide
            for j in np.flatnonzero(((self.low <= self.high[i]) & (self.low[i] <= self.high)).all(axis=1)).tolist():
                other = self.island_of[j]
                if other is island or id(other) in met:
                    continue
                until = min(end, other.segment.end)
                if until > start and self._come_near(i, j, start, until):
                    met[id(other)] = other, until
        if not met:
            return False
        every = [island, *(other for other, _ in met.values())]
        state = self.state.copy()
        for one in every:
            own = (island.client.y if one is island else one.segment.at(start)).reshape(-1, int(col.BODY))
            state[one.bodies] = own[:-1]
        self._replace(every, [self._union(every)], start, state, max(until for _, until in met.values()))
        return True

    def _union(self, islands: list[Island]) -> list[int]:
        return sorted(one.bodies[k] for one in islands for k in one.moves)

    def _comes_apart(self, island: Island) -> bool:
        """Whether it goes on as several."""
        time = island.reached
        if len(island.moves) < 2 or time < island.together:
            return False
        own = island.segment.at(time)
        group = [island.bodies[k] for k in island.moves]
        groups = self._groups(group, island.positions(own), APART)
        if len(groups) < 2:
            return False
        state = self.state.copy()
        state[island.bodies] = own.reshape(-1, int(col.BODY))[:-1]
        self._replace([island], groups, time, state, -math.inf)
        return True

    def _replace(
        self, islands: list[Island], groups: list[list[int]], time: float, state: Array, together: float
    ) -> None:
        gone = {id(one) for one in islands}
        self.waiting = [row for row in self.waiting if id(row[-1]) not in gone]
        heapq.heapify(self.waiting)
        for one in islands:
            self._take_out(one)
        for group in groups:
            made = self._island(group, time, state, given=[one.client for one in islands])
            made.together = together
            self._add(made)

    def _take_out(self, island: Island) -> None:
        """The events and steps of an island that ends."""
        back = np.array([*island.bodies, len(self.world.bodies)])
        self.events += [
            replace(event, first=int(back[event.first]), second=int(back[event.second]))
            for event in island.client.events
        ]
        self.steps += island.client.steps
        if (found := island.client.left_open) is not None:
            own = {name: back[getattr(found, name)] for name in ("first", "second", "body")}
            self.left_open.append(replace(found, **own))

    def _come_near(self, i: int, j: int, start: float, end: float) -> bool:
        """Whether the spheres of two bodies come near in this time."""
        size, time = self.radius[i] + self.radius[j], start
        bends = self._most_acceleration(i) + self._most_acceleration(j)
        for _ in range(MOST_ADVANCES):
            between = self._motion_of(i, time) - self._motion_of(j, time)
            apart = norm(between[:3]) - size
            if apart <= NEAR * size:
                return True
            time += first_zero(apart - 0.5 * NEAR * size, -norm(between[3:]), bends)
            if time >= end:
                return False
        return True

    def _motion_of(self, i: int, time: float) -> Array:
        """Position and velocity of a body within its step."""
        island = self.island_of[i]
        y = island.segment.at(time).reshape(-1, int(col.BODY))[island.bodies.index(i)]
        return np.concatenate([y[:3], y[col.V : col.W]])

    def _most_acceleration(self, i: int) -> float:
        """No less than that of body i in its step, m/s^2."""
        island = self.island_of[i]
        bends = np.diff(island.client.path()[:, island.bodies.index(i)], 2, axis=0)
        lasts = max(island.segment.end - island.client.time, 1e-150)
        return 42.0 * math.sqrt(float(np.einsum("jk,jk->j", bends, bends).max())) / (lasts * lasts)

    # --- what comes out ---------------------------------------------------------------------------------------

    def _sample(self, time: float, at: Island | None = None, own: Any = None) -> None:
        """All bodies, with what presses; those of one island as it says."""
        state = self.state.copy()
        for island in self.islands:
            y, (pairs, rows, force) = own if island is at else island.client.snapshot(time, island.segment.at(time))
            state[island.bodies] = y.reshape(-1, int(col.BODY))[:-1]
            if len(pairs):
                back = np.array([*island.bodies, len(self.world.bodies)])
                self.pressing.append((len(self.samples), back[pairs], rows, force))
        self.samples.append((time, state[:-1]))

    def motion(self) -> SpatialMotion:
        for island in self.islands:
            self._take_out(island)
        time = np.array([time for time, _ in self.samples])
        order = np.argsort(time, kind="stable")  # what follows the end of a slip is a little later than its event
        state = np.array([y for _, y in self.samples])[order]
        q = state[..., col.Q : col.V]
        return SpatialMotion(
            time=time[order], position=state[..., :3].copy(),
            orientation=q / np.sqrt(np.einsum("sbi,sbi->sb", q, q))[..., None],
            velocity=state[..., col.V : col.W].copy(), spin=state[..., col.W :].copy(),
            contacts=self._contacts(np.argsort(order)),
            events=tuple(sorted(self.events, key=lambda event: event.time)), steps=self.steps,
            left_open=tuple(sorted(self.left_open, key=lambda found: found.time)),
        )  # fmt: skip

    def _contacts(self, number: Indices) -> SpatialContacts:
        """number: of a sample, among those in order of time."""
        renumbered = [(int(number[k]), pairs, rows, force) for k, pairs, rows, force in self.pressing]
        pressing = sorted(renumbered, key=lambda one: one[0])
        sample = [np.full(len(pairs), k, np.int64) for k, pairs, _, _ in pressing]
        pair = np.concatenate([np.zeros((0, 2), np.int64), *(pairs for _, pairs, _, _ in pressing)])
        rows = np.concatenate([np.zeros((0, int(col.ROW))), *(rows for _, _, rows, _ in pressing)])
        return SpatialContacts(
            sample=np.concatenate([np.zeros(0, np.int64), *sample]), first=pair[:, 0], second=pair[:, 1],
            point=rows[:, col.C1 : col.C2], normal=rows[:, col.N : col.RATE_P1], gap=rows[:, col.GAP],
            force=np.concatenate([np.zeros((0, 3)), *(force for _, _, _, force in pressing)]),
        )  # fmt: skip

"""Python around the compiled loop: room for it to work in, more of it when it asks, and its failures in words."""

import math
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from reference_engine.planar import event_loop as loop
from reference_engine.planar.layout import (
    ASKED,
    BLOCK_FULL,
    CONTACTS,
    DONE,
    EVENTS,
    EVENTS_FULL,
    GAP,
    HELD,
    IDLE,
    IMPACTS,
    INSTANTS,
    JOINT,
    LOG_FULL,
    NO_FORCES,
    NO_IMPULSES,
    NO_STEP,
    OVERLAP,
    PART_I,
    PLACES_FULL,
    RESIDUAL,
    ROLE,
    SAMPLES,
    STANDSTILL,
    STEPS,
    TIME,
    TOUCHED,
    WHY_B,
    WHY_I,
    WHY_J,
    WHY_P,
    Clock,
    Log,
    Solids,
    number_of,
    twice_the_room,
)
from reference_engine.planar.model import solids_in_numbers
from reference_engine.planar.settings import IMPACT_LAWS, IMPACT_ORDERS, Settings
from reference_engine.planar.workspace import ROOMS, Room, new_room
from reference_engine.planar_model.errors import ContactForceError, PainleveError, UnresolvedContact, WorldError
from reference_engine.planar_model.external import forces_in_numbers
from reference_engine.planar_model.world import World

Array = NDArray[np.float64]
Ids = NDArray[np.int64]

JOINED = 1e-9  # m, times 1 + the extent of the scene: how far the ends of a joint may be apart at the start


class Run:
    """A world in time, and the arrays that the kernels work on."""

    def __init__(self, world: World, settings: Settings, grid: Array) -> None:
        self.world, self.settings = world, settings
        if world.passing_edges:
            raise WorldError("passing_edges: of single edges only the faithful mode knows; name the pair in `passing`")
        solids, (forces, self.functions) = solids_in_numbers(world), forces_in_numbers(world, background=True)
        law, order = IMPACT_LAWS.index(settings.impact_law), IMPACT_ORDERS.index(settings.impact_order)
        rule = [settings.tolerance], [settings.accumulation_cutoff], [law], [order], [settings.max_events]
        self.size, self.kept = ROOMS.take(solids, forces, rule, len(grid) + 64)
        self.log.grid[: len(grid)] = grid
        self.clock.tally[ASKED] = len(grid)
        self.clock.y[:] = state_of(world)
        self.refuse_open_joints()

    @property
    def solids(self) -> Solids:
        return self.kept.task.solids

    @property
    def room(self) -> Room:
        return self.kept.room

    @property
    def log(self) -> Log:
        return self.kept.log

    @property
    def clock(self) -> Clock:
        return self.room.clock

    def make_room(self, capacity: int, block: int) -> None:
        """For so many places, and islands of so many rows."""
        old = self.room
        room, numbers = new_room(self.size, capacity, block)
        self.kept = self.kept.with_room(room, numbers)
        for name in Clock.__dataclass_fields__:
            getattr(self.clock, name)[...] = getattr(old.clock, name)
        count = self.clock.tally[HELD]
        self.room.held.id[:count], self.room.held.figure[:count] = old.held.id[:count], old.held.figure[:count]

    def go_on(self) -> None:
        """To the end of the grid. Raises as `simulate` says."""
        while True:
            status = loop.run(self.kept.task)
            self.functions.check()
            if status == DONE:
                return
            if status == LOG_FULL:
                self.kept = self.kept.with_log(twice_the_room(self.log))
            elif status == PLACES_FULL:
                self.make_room(2 * len(self.room.held.id), len(self.room.work.M))
            elif status == BLOCK_FULL:
                self.make_room(len(self.room.held.id), 2 * len(self.room.work.M))
            else:
                self.fail(status)

    def give_back(self) -> None:
        """The room, for another run; what is still wanted of it or of the log has been copied."""
        ROOMS.give_back(self.size, self.kept)

    # --- what came out ---------------------------------------------------------------------------

    @property
    def steps(self) -> int:
        return int(self.clock.tally[STEPS])

    @property
    def residual(self) -> float:
        return float(self.clock.now[RESIDUAL])

    def counts(self) -> tuple[int, int, int]:
        """How many samples, contacts, impacts."""
        tally = self.clock.tally
        return int(tally[SAMPLES]), int(tally[CONTACTS]), int(tally[IMPACTS])

    def events(self) -> tuple[Ids, Array]:
        """Rows (kind, a, b) and (time, point), copied."""
        count = self.clock.tally[EVENTS]
        ids = self.log.event_ids[:count].copy()
        if self.world.connectors:
            ids[:, 1:] = self.bodies(ids[:, 1:])
        return ids, self.log.event[:count].copy()

    def event_times(self) -> Array:
        """(E,) of the same [s]."""
        return self.log.instant[: self.clock.tally[INSTANTS]]

    def event_poses(self) -> Array:
        """(E, B, 3) at all events."""
        poses = self.log.pose[: self.clock.tally[INSTANTS]]
        return poses.reshape(len(poses), -1, 3)[:, :-1]

    def bodies(self, pairs: Ids) -> Ids:
        """Rows of the state as bodies of the world, copied: the background, to which connectors lead, is -1."""
        if not self.world.connectors:
            return pairs.copy()
        return np.where(pairs == len(self.world.bodies), -1, pairs)

    # --- what went wrong -------------------------------------------------------------------------

    def refuse_open_joints(self) -> None:
        if not len(self.solids.connectors):
            return
        n, _ = loop.look(self.solids, self.clock.y, self.room.found, self.room.work)
        extent = float(np.abs(self.clock.y[: len(self.clock.y) // 2]).max())
        for k in np.flatnonzero(self.room.found.id[:n, ROLE] == JOINT):
            if abs(gap := self.room.work.geometry[k, GAP]) > JOINED * (1.0 + extent):
                connector = number_of(int(self.room.found.id[k, PART_I]))
                raise WorldError(f"connectors: the ends of connector {connector} are {gap:.3g} m apart at the start")

    def fail(self, status: int) -> NoReturn:
        now, count = self.clock.now, self.clock.tally
        time = float(now[TIME])
        pair = self.solids.pairs[max(0, min(count[TOUCHED], len(self.solids.pairs) - 1))]
        names = self.names(*(self.solids.row[part] for part in pair)) if len(self.solids.pairs) else ("", "")
        if status == OVERLAP and time == 0.0:
            if count[TOUCHED] >= len(self.solids.pairs):
                rope = int(count[TOUCHED]) - len(self.solids.pairs)
                raise WorldError(f"connectors: rope {rope} is shorter than the distance of its ends at the start")
            raise WorldError(f"bodies {names[0]!r} and {names[1]!r} overlap at the start; move them apart")
        if status in (NO_FORCES, NO_IMPULSES):
            names = self.names(int(count[WHY_I]), int(count[WHY_J]))
            if status == NO_FORCES and now[WHY_P] <= 0.0:
                raise PainleveError(time=time, bodies=names, p=float(now[WHY_P]), b=float(now[WHY_B]))
            what = "contact forces" if status == NO_FORCES else "impulses"
            told = f"t = {time:.9g} s, bodies {names[0]!r} and {names[1]!r} among others: no {what} found"
            raise ContactForceError(told, residual=abs(float(now[WHY_B])))
        reasons = {
            int(OVERLAP): "bodies overlap: a touch was missed",
            int(NO_STEP): f"the integrator's step fell below {loop.SHORTEST} s",
            int(STANDSTILL): f"{int(count[IDLE])} events at one instant",
            int(EVENTS_FULL): f"more than max_events = {self.settings.max_events} events",
        }
        if status != OVERLAP and count[EVENTS]:
            names = self.names(*self.log.event_ids[count[EVENTS] - 1, 1:])
        raise UnresolvedContact(reasons[int(status)], time=time, bodies=names, gap=math.nan)

    def names(self, i: int, j: int) -> tuple[str, str]:
        first, second = (
            self.world.body_name(int(k)) if k < len(self.world.bodies) else "background" for k in sorted((i, j))
        )
        return first, second


def state_of(world: World) -> list[float]:
    """Poses of all bodies and of the background, then their twists."""
    still = (0.0, 0.0, 0.0)
    numbers: list[float] = []
    for body in world.bodies:
        numbers += (*body.position, body.angle)
    numbers += still
    for body in world.bodies:
        numbers += (*body.velocity, body.spin)
    numbers += still
    return numbers

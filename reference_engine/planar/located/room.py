"""Room for a run: what the kernels write on, prepared once and used again by later runs of worlds of the same size."""

import math
import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reference_engine.geometry.structure import Structure, in_one_block
from reference_engine.planar.external import Forces
from reference_engine.planar.located.layout import (
    Clock,
    Instant,
    Log,
    Places,
    Rule,
    Solids,
    Work,
    room_for_instant,
    room_for_places,
    room_to_log,
    room_to_work,
)

Array = NDArray[np.float64]

FIRST_BLOCK = 64  # rows of the largest island that there is room for at first
KEPT = 8  # sizes of which a room is kept
MOST_KEPT = 1_000_000  # numbers in a room, or in its log: one that has more is not kept


@dataclass(frozen=True, eq=False)
class Room(Structure):
    """For so many bodies, pairs, connectors, places and rows of islands."""

    clock: Clock
    held: Places
    found: Places
    following: Places
    instant: Instant
    work: Work


@dataclass(frozen=True, eq=False)
class Task(Structure):
    """All that the loop is called with, as one argument: numba takes a microsecond for each."""

    solids: Solids
    forces: Forces
    rule: Rule
    room: Room
    log: Log
    grid: Array  # (S,) s


class Size(NamedTuple):
    """Of a world."""

    bodies: int
    pairs: int
    connectors: int

    @property
    def places(self) -> int:
        """That there is room for at first."""
        return 8 + 4 * self.bodies + self.connectors


class Kept(NamedTuple):
    room: Room
    block: Array  # all arrays of the room
    log: Log


class Rooms:
    """Those that no run is using, at most one of each size, the last sizes used."""

    def __init__(self) -> None:
        self.free: OrderedDict[Size, Kept] = OrderedDict()
        self.lock = threading.Lock()

    def take(self, size: Size, samples: int) -> Kept:
        """A room in which all is zero, and a log for so many samples at first."""
        with self.lock:
            kept = self.free.pop(size, None)
        if kept is None:
            return Kept(*new_room(size, size.places, min(2 * size.places, FIRST_BLOCK)), new_log(size, samples))
        kept.block.fill(0.0)
        return kept if len(kept.log.time) >= samples else kept._replace(log=new_log(size, samples))

    def give_back(self, size: Size, kept: Kept) -> None:
        """What comes out of a run must have been copied by now. A room that has grown is not kept, a log is."""
        if len(kept.room.held.id) > size.places or max(kept.block.size, kept.log.state.size) > MOST_KEPT:
            return
        with self.lock:
            self.free[size] = kept
            if len(self.free) > KEPT:
                self.free.popitem(last=False)


ROOMS = Rooms()


def new_room(size: Size, capacity: int, block: int) -> tuple[Room, Array]:
    rows, links = size.bodies + 1, size.pairs + size.connectors
    clock = Clock(
        y=np.zeros(6 * rows), end=np.zeros(6 * rows), now=np.zeros(14), tally=np.zeros(22, np.int64),
        let_go=np.zeros((64, 2), np.int64), struck=np.zeros((links, 2)), passed=np.zeros(links),
        apart=np.zeros(size.pairs), travelled=np.zeros((rows, 3)),
    )  # fmt: skip
    held, found, following = (room_for_places(capacity) for _ in range(3))
    instant, work = room_for_instant(capacity, block), room_to_work(rows, capacity, block)
    room, numbers = in_one_block(Room(clock, held, found, following, instant, work))
    return room, numbers


def new_log(size: Size, samples: int) -> Log:
    contacts, events = 4 * samples + 4 * size.places, 64 + 8 * size.places
    return room_to_log(size.bodies + 1, size.connectors, samples, contacts, events)


def begin_at(room: Room, y: Array) -> None:
    """A state, before all time; the fixed components of what the kernels work on, which they write nowhere else."""
    clock, work = room.clock, room.work
    clock.struck.fill(-math.inf)
    clock.passed.fill(-math.inf)
    clock.apart.fill(-1.0)
    clock.y[:] = y
    clock.end[:] = y
    lay_out(work, y)


def lay_out(work: Work, y: Array) -> None:
    work.state[:] = y
    work.foreseen[:] = y
    work.hull[:] = y

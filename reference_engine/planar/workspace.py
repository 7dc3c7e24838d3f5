"""Room for a run: what the kernels write on, prepared once and used again by later runs of worlds of the same size."""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reference_engine.compiler.structure import Sheet, Structure, in_one_block
from reference_engine.planar.layout import (
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
from reference_engine.planar_model.external import Forces

Array = NDArray[np.float64]
Lists = Sequence[Sequence[float]]  # one for each field of a structure

FIRST_BLOCK = 64  # rows of the largest island that there is room for at first
INV_MASS, PAIRS, CONNECTORS = (list(Solids.__dataclass_fields__).index(k) for k in ("inv_mass", "pairs", "connectors"))
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


class Size(NamedTuple):
    """Of a world: how many numbers there are of each kind."""

    solids: tuple[int, ...]
    forces: tuple[int, ...]

    @property
    def bodies(self) -> int:
        return self.solids[INV_MASS] - 1

    @property
    def pairs(self) -> int:
        return self.solids[PAIRS] // 2

    @property
    def connectors(self) -> int:
        return self.solids[CONNECTORS] // 14

    @property
    def places(self) -> int:
        """That there is room for at first."""
        return 4 * self.bodies + self.connectors


class Kept(NamedTuple):
    given: tuple[Sheet, Sheet, Sheet]  # solids, forces, rule
    room: Room
    block: Array  # all arrays of the room
    log: Log
    task: Task

    def with_log(self, log: Log) -> "Kept":
        return together(self.given, self.room, self.block, log)

    def with_room(self, room: Room, block: Array) -> "Kept":
        return together(self.given, room, block, self.log)


def together(given: tuple[Sheet, Sheet, Sheet], room: Room, block: Array, log: Log) -> Kept:
    solids, forces, rule = (sheet.structure for sheet in given)
    return Kept(given, room, block, log, Task(solids, forces, rule, room, log))


class Rooms:
    """Those that no run is using, at most one of each size, the last sizes used."""

    def __init__(self) -> None:
        self.free: OrderedDict[Size, Kept] = OrderedDict()
        self.lock = threading.Lock()

    def take(self, solids: Lists, forces: Lists, rule: Lists, samples: int) -> tuple[Size, Kept]:
        """Sheets with these numbers, a room in which all is zero, and a log for so many samples at first."""
        size, given = Size(tuple(map(len, solids)), tuple(map(len, forces))), (solids, forces, rule)
        with self.lock:
            kept = self.free.pop(size, None)
        if kept is None:
            sheets = Sheet(Solids, solids), Sheet(Forces, forces), Sheet(Rule, rule)
            room, block = new_room(size, size.places, min(2 * size.places, FIRST_BLOCK))
            return size, together(sheets, room, block, new_log(size, samples))
        for sheet, numbers in zip(kept.given, given):
            sheet.write(numbers)
        kept.block.fill(0.0)
        return size, kept if len(kept.log.time) >= samples else kept.with_log(new_log(size, samples))

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
        y=np.zeros(6 * rows), end=np.zeros(6 * rows), now=np.zeros(14), tally=np.zeros(23, np.int64),
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

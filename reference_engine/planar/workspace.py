"""Arrays for a run: what the kernels write on, prepared once and used again by later runs of worlds of the same

size.
"""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reference_engine.compiler.structure import PackedStruct, Structure, in_one_block
from reference_engine.planar.layout import (
    Contacts,
    EventWork,
    Log,
    LoopState,
    Model,
    Rule,
    Work,
    empty_contacts,
    empty_log,
    new_event_work,
    new_work,
)
from reference_engine.planar_model.external import Forces

Array = NDArray[np.float64]
Lists = Sequence[Sequence[float]]  # one for each field of a structure

FIRST_BLOCK = 64  # rows of the largest island that there is space for at first
INV_MASS, PAIRS, CONNECTORS = (list(Model.__dataclass_fields__).index(k) for k in ("inv_mass", "pairs", "connectors"))
CACHED_SIZES = 8  # sizes of which a room is kept
MOST_CACHED = 1_000_000  # numbers in a room, or in its log: one that has more is not kept


@dataclass(frozen=True, eq=False)
class Workspace(Structure):
    """For so many bodies, pairs, connectors, contacts and rows of islands."""

    loop: LoopState
    active: Contacts
    found: Contacts
    following: Contacts
    event: EventWork
    work: Work


@dataclass(frozen=True, eq=False)
class LoopArguments(Structure):
    """All that the loop is called with, as one argument: numba takes a microsecond for each."""

    model: Model
    forces: Forces
    rule: Rule
    workspace: Workspace
    log: Log


class Size(NamedTuple):
    """Of a world: how many numbers there are of each kind."""

    model: tuple[int, ...]
    forces: tuple[int, ...]

    @property
    def bodies(self) -> int:
        return self.model[INV_MASS] - 1

    @property
    def pairs(self) -> int:
        return self.model[PAIRS] // 2

    @property
    def connectors(self) -> int:
        return self.model[CONNECTORS] // 14

    @property
    def contacts(self) -> int:
        """That there is space for at first."""
        return 4 * self.bodies + self.connectors


class Cached(NamedTuple):
    given: tuple[PackedStruct, PackedStruct, PackedStruct]  # model, forces, rule
    workspace: Workspace
    block: Array  # all arrays of the room
    log: Log
    arguments: LoopArguments

    def with_log(self, log: Log) -> "Cached":
        return together(self.given, self.workspace, self.block, log)

    def with_workspace(self, workspace: Workspace, block: Array) -> "Cached":
        return together(self.given, workspace, block, self.log)


def together(
    given: tuple[PackedStruct, PackedStruct, PackedStruct], workspace: Workspace, block: Array, log: Log
) -> Cached:
    model, forces, rule = (packed.structure for packed in given)
    return Cached(given, workspace, block, log, LoopArguments(model, forces, rule, workspace, log))


class Workspaces:
    """Those that no run is using, at most one of each size, the last sizes used."""

    def __init__(self) -> None:
        self.free: OrderedDict[Size, Cached] = OrderedDict()
        self.lock = threading.Lock()

    def take(self, model: Lists, forces: Lists, rule: Lists, samples: int) -> tuple[Size, Cached]:
        """Sheets with these numbers, a room in which all is zero, and a log for so many samples at first."""
        size, given = Size(tuple(map(len, model)), tuple(map(len, forces))), (model, forces, rule)
        with self.lock:
            cached = self.free.pop(size, None)
        if cached is None:
            packed_structs = PackedStruct(Model, model), PackedStruct(Forces, forces), PackedStruct(Rule, rule)
            workspace, block = new_workspace(size, size.contacts, min(2 * size.contacts, FIRST_BLOCK))
            return size, together(packed_structs, workspace, block, new_log(size, samples))
        for packed, numbers in zip(cached.given, given):
            packed.write(numbers)
        cached.block.fill(0.0)
        return size, cached if len(cached.log.time) >= samples else cached.with_log(new_log(size, samples))

    def give_back(self, size: Size, cached: Cached) -> None:
        """What comes out of a run must have been copied by now. A room that has grown is not kept, a log is."""
        if (
            len(cached.workspace.active.id) > size.contacts
            or max(cached.block.size, cached.log.state.size) > MOST_CACHED
        ):
            return
        with self.lock:
            self.free[size] = cached
            if len(self.free) > CACHED_SIZES:
                self.free.popitem(last=False)


WORKSPACES = Workspaces()


def new_workspace(size: Size, capacity: int, block: int) -> tuple[Workspace, Array]:
    rows, links = size.bodies + 1, size.pairs + size.connectors
    loop = LoopState(
        y=np.zeros(6 * rows), end=np.zeros(6 * rows), now=np.zeros(14), counters=np.zeros(23, np.int64),
        let_go=np.zeros((64, 2), np.int64), impact_times=np.zeros((links, 2)), passed=np.zeros(links),
        apart=np.zeros(size.pairs), travelled=np.zeros((rows, 3)),
    )  # fmt: skip
    active, found, following = (empty_contacts(capacity) for _ in range(3))
    event, work = new_event_work(capacity, block), new_work(rows, capacity, block)
    workspace, numbers = in_one_block(Workspace(loop, active, found, following, event, work))
    return workspace, numbers


def new_log(size: Size, samples: int) -> Log:
    contacts, events = 4 * samples + 4 * size.contacts, 64 + 8 * size.contacts
    return empty_log(size.bodies + 1, size.connectors, samples, contacts, events)

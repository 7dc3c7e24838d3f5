"""Arrays for a run: what the kernels write on, used again by later runs of worlds of the same size."""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from reference_engine.array_types import Array
from reference_engine.compiler.structure import PackedStruct, Structure, in_one_block, zeros
from reference_engine.contact_problems.friction import new_friction_work
from reference_engine.contact_problems.friction_modes import FrictionProblem, friction_sizes
from reference_engine.planar import layout as col
from reference_engine.planar.layout import Contacts, EventWork, Log, LoopState, Model, Rule, Work
from reference_engine.planar_model.external import Forces

Lists = Sequence[Sequence[float]]  # one for each field of a structure

FIRST_BLOCK = 64  # rows of the largest island that there is space for at first
INV_MASS, PAIRS, CONNECTORS = (list(Model.__dataclass_fields__).index(k) for k in ("inv_mass", "pairs", "connectors"))
CACHED_SIZES = 8  # sizes of which a workspace is kept
MOST_CACHED = 1_000_000  # numbers in a workspace, or in its log: one that has more is not kept


class Workspace(Structure):
    """For so many bodies, pairs, connectors, contacts and rows of islands."""

    loop: LoopState
    active: Contacts  # those that hold; LoopState.counters says how many
    found: Contacts  # those that touch at an event
    following: Contacts  # those that will hold after it
    event: EventWork
    work: Work


class Arrays(Workspace):
    """All that the loop is called with, as one argument."""

    model: Model
    forces: Forces
    rule: Rule
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
        return self.model[CONNECTORS] // col.IDS

    @property
    def contacts(self) -> int:
        """That there is space for at first."""
        return 4 * self.bodies + self.connectors


class Cached(NamedTuple):
    arrays: Arrays
    given: tuple[PackedStruct, PackedStruct, PackedStruct]  # model, forces, rule
    block: Array  # all arrays of the workspace

    def with_log(self, log: Log) -> "Cached":
        return self._replace(arrays=replace(self.arrays, log=log))

    def grown(self, size: Size, capacity: int, block: int) -> "Cached":
        """With space for so many contacts, and islands of so many rows; all of it zero."""
        fields, numbers = new_workspace(size, capacity, block)
        return self._replace(arrays=replace(self.arrays, **fields), block=numbers)


class Workspaces:
    """Those that no run is using, at most one of each size, the last sizes used."""

    def __init__(self) -> None:
        self.free: OrderedDict[Size, Cached] = OrderedDict()
        self.lock = threading.Lock()

    def take(self, model: Lists, forces: Lists, rule: Lists, samples: int) -> tuple[Size, Cached]:
        """With these numbers, a workspace in which all is zero, and a log for so many samples at first."""
        size = Size(tuple(map(len, model)), tuple(map(len, forces)))
        with self.lock:
            cached = self.free.pop(size, None)
        if cached is None:
            given = PackedStruct(Model, model), PackedStruct(Forces, forces), PackedStruct(Rule, rule)
            workspace, block = new_workspace(size, size.contacts, min(2 * size.contacts, FIRST_BLOCK))
            model_, forces_, rule_ = (packed.structure for packed in given)
            arrays = Arrays(**workspace, model=model_, forces=forces_, rule=rule_, log=new_log(size, samples))
            return size, Cached(arrays, given, block)
        for packed, numbers in zip(cached.given, (model, forces, rule)):
            packed.write(numbers)
        cached.block.fill(0.0)
        return size, cached if len(cached.arrays.log.time) >= samples else cached.with_log(new_log(size, samples))

    def give_back(self, size: Size, cached: Cached) -> None:
        """What comes out of a run must have been copied by now. A workspace that has grown is not kept, a log is."""
        arrays = cached.arrays
        if len(arrays.active.id) > size.contacts or max(cached.block.size, arrays.log.state.size) > MOST_CACHED:
            return
        with self.lock:
            self.free[size] = cached
            if len(self.free) > CACHED_SIZES:
                self.free.popitem(last=False)


WORKSPACES = Workspaces()


def new_workspace(size: Size, capacity: int, block: int) -> tuple[dict[str, Any], Array]:
    """The fields of a Workspace for so many contacts, and islands of so many rows; with all its arrays as one."""
    sizes = sizes_of(size.bodies + 1, size.pairs, size.connectors, capacity, block)
    own = block // 2
    answer, scratch, lemke_work = new_friction_work(own)
    problem = zeros(FrictionProblem, friction_sizes(own))
    event = zeros(EventWork, sizes, problem=problem, answer=answer, workspace=scratch, lemke_work=lemke_work)
    active, found, following = (zeros(Contacts, sizes) for _ in range(3))
    loop, work = zeros(LoopState, sizes), zeros(Work, sizes)
    workspace, numbers = in_one_block(Workspace(loop, active, found, following, event, work))
    return {name: getattr(workspace, name) for name in Workspace.__dataclass_fields__}, numbers


def sizes_of(rows: int, pairs: int, connectors: int, contacts: int, block: int) -> dict[str, int]:
    """Of arrays, as `layout` names them."""
    N, R = contacts, rows
    sizes = {"R": R, "6 R": 6 * R, "P": pairs, "P + C": pairs + connectors}
    return sizes | {"N": N, "N + 1": N + 1, "2 N": 2 * N, "L": block}


def new_log(size: Size, samples: int) -> Log:
    contacts, events, rows = 4 * samples + 4 * size.contacts, 64 + 8 * size.contacts, size.bodies + 1
    sizes = {"S": samples, "S + 1": samples + 1, "T": contacts, "M": events, "E": events, "D": events}
    log: Log = zeros(Log, sizes | {"3 R": 3 * rows, "6 R": 6 * rows, "2 C": 2 * size.connectors})
    return log

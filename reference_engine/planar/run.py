"""Python around the compiled loop: space for it to work in, more of it when it asks, and its failures in words."""

import math
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from reference_engine.errors import ContactForceError, PainleveError, UnresolvedContact, WorldError
from reference_engine.events import doubled
from reference_engine.planar import event_loop
from reference_engine.planar import layout as col
from reference_engine.planar.layout import Log, LoopState, Model, number_of
from reference_engine.planar.model import model_in_numbers
from reference_engine.planar.settings import IMPACT_LAWS, IMPACT_ORDERS, Settings
from reference_engine.planar.workspace import WORKSPACES, Workspace, new_workspace
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
        model, (forces, self.functions) = model_in_numbers(world), forces_in_numbers(world, background=True)
        impact_law, order = IMPACT_LAWS.index(settings.impact_law), IMPACT_ORDERS.index(settings.impact_order)
        rule = [settings.tolerance], [settings.accumulation_cutoff], [impact_law], [order], [settings.max_events]
        self.size, self.cached = WORKSPACES.take(model, forces, rule, len(grid) + 64)
        self.log.grid[: len(grid)] = grid
        self.loop.counters[col.ASKED] = len(grid)
        self.loop.y[:] = state_of(world)
        self.refuse_open_joints()

    @property
    def model(self) -> Model:
        return self.cached.arguments.model

    @property
    def workspace(self) -> Workspace:
        return self.cached.workspace

    @property
    def log(self) -> Log:
        return self.cached.log

    @property
    def loop(self) -> LoopState:
        return self.workspace.loop

    def grow(self, capacity: int, block: int) -> None:
        """For so many contacts, and islands of so many rows."""
        old = self.workspace
        workspace, numbers = new_workspace(self.size, capacity, block)
        self.cached = self.cached.with_workspace(workspace, numbers)
        for name in LoopState.__dataclass_fields__:
            getattr(self.loop, name)[...] = getattr(old.loop, name)
        count = self.loop.counters[col.ACTIVE]
        self.workspace.active.id[:count], self.workspace.active.value[:count] = (
            old.active.id[:count],
            old.active.value[:count],
        )

    def go_on(self) -> None:
        """To the end of the grid. Raises as `simulate` says."""
        while True:
            status = event_loop.run(self.cached.arguments)
            self.functions.check()
            if status == col.DONE:
                return
            if status == col.LOG_FULL:
                self.cached = self.cached.with_log(doubled(self.log))
            elif status == col.CONTACTS_FULL:
                self.grow(2 * len(self.workspace.active.id), len(self.workspace.work.M))
            elif status == col.BLOCK_FULL:
                self.grow(len(self.workspace.active.id), 2 * len(self.workspace.work.M))
            else:
                self.fail(status)

    def give_back(self) -> None:
        """The room, for another run; what is still wanted of it or of the log has been copied."""
        WORKSPACES.give_back(self.size, self.cached)

    # --- what came out ---------------------------------------------------------------------------

    @property
    def steps(self) -> int:
        return int(self.loop.counters[col.STEPS])

    @property
    def residual(self) -> float:
        return float(self.loop.now[col.RESIDUAL])

    def counts(self) -> tuple[int, int, int]:
        """How many samples, contacts, impacts."""
        counters = self.loop.counters
        return int(counters[col.SAMPLES]), int(counters[col.CONTACTS]), int(counters[col.IMPACTS])

    def events(self) -> tuple[Ids, Array]:
        """Rows (kind, a, b) and (time, point), copied."""
        count = self.loop.counters[col.EVENTS]
        ids = self.log.event_ids[:count].copy()
        if self.world.connectors:
            ids[:, 1:] = self.bodies(ids[:, 1:])
        return ids, self.log.event[:count].copy()

    def event_times(self) -> Array:
        """(E,) of the same [s]."""
        return self.log.event_time[: self.loop.counters[col.EVENT_TIMES]]

    def event_poses(self) -> Array:
        """(E, B, 3) at all events."""
        poses = self.log.pose[: self.loop.counters[col.EVENT_TIMES]]
        return poses.reshape(len(poses), -1, 3)[:, :-1]

    def bodies(self, pairs: Ids) -> Ids:
        """Rows of the state as bodies of the world, copied: the background, to which connectors lead, is -1."""
        if not self.world.connectors:
            return pairs.copy()
        return np.where(pairs == len(self.world.bodies), -1, pairs)

    # --- what went wrong -------------------------------------------------------------------------

    def refuse_open_joints(self) -> None:
        if not len(self.model.connectors):
            return
        n, _ = event_loop.query_contacts(self.model, self.loop.y, self.workspace.found, self.workspace.work)
        extent = float(np.abs(self.loop.y[: len(self.loop.y) // 2]).max())
        for k in np.flatnonzero(self.workspace.found.id[:n, col.ROLE] == col.JOINT):
            if abs(gap := self.workspace.work.geometry[k, col.GAP]) > JOINED * (1.0 + extent):
                connector = number_of(int(self.workspace.found.id[k, col.PIECE_I]))
                raise WorldError(f"connectors: the ends of connector {connector} are {gap:.3g} m apart at the start")

    def fail(self, status: int) -> NoReturn:
        now, count = self.loop.now, self.loop.counters
        time = float(now[col.TIME])
        pair = self.model.pairs[max(0, min(count[col.CLOSED_PAIR], len(self.model.pairs) - 1))]
        names = self.names(*(self.model.row[piece] for piece in pair)) if len(self.model.pairs) else ("", "")
        if status == col.OVERLAP and time == 0.0:
            if count[col.CLOSED_PAIR] >= len(self.model.pairs):
                rope = int(count[col.CLOSED_PAIR]) - len(self.model.pairs)
                raise WorldError(f"connectors: rope {rope} is shorter than the distance of its ends at the start")
            raise WorldError(f"bodies {names[0]!r} and {names[1]!r} overlap at the start; move them apart")
        if status in (col.NO_FORCES, col.NO_IMPULSES):
            names = self.names(int(count[col.WHY_I]), int(count[col.WHY_J]))
            if status == col.NO_FORCES and now[col.WHY_P] <= 0.0:
                raise PainleveError(time=time, bodies=names, p=float(now[col.WHY_P]), b=float(now[col.WHY_B]))
            what = "contact forces" if status == col.NO_FORCES else "impulses"
            message = f"t = {time:.9g} s, bodies {names[0]!r} and {names[1]!r} among others: no {what} found"
            raise ContactForceError(message, residual=abs(float(now[col.WHY_B])))
        reasons = {
            int(col.OVERLAP): "bodies overlap: a touch was missed",
            int(col.NO_STEP): f"the integrator's step fell below {event_loop.SHORTEST} s",
            int(col.STANDSTILL): f"{int(count[col.IDLE])} events at one time",
            int(col.EVENTS_FULL): f"more than max_events = {self.settings.max_events} events",
        }
        if status != col.OVERLAP and count[col.EVENTS]:
            names = self.names(*self.log.event_ids[count[col.EVENTS] - 1, 1:])
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

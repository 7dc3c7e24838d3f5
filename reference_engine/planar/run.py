"""Python around the compiled loop: space for it to work in, more of it when it asks, and its failures in words."""

import math
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from reference_engine.array_types import Array, Indices
from reference_engine.contact_problems import friction_modes as modes
from reference_engine.contact_problems.contact_forces import scale_of
from reference_engine.contact_problems.no_forces import DEPENDS, least_own, proven_breach, singular_breach
from reference_engine.errors import (
    ContactForceError,
    EndlessEventsError,
    PainleveError,
    SingularPositionError,
    UnresolvedContact,
    WorldError,
)
from reference_engine.events import doubled
from reference_engine.planar import event_loop
from reference_engine.planar import layout as col
from reference_engine.planar.active_set import JAMMED
from reference_engine.planar.layout import LoopState, number_of
from reference_engine.planar.model import model_in_numbers
from reference_engine.planar.projection import RATE_ROUND_OFF
from reference_engine.planar.step import SHORTEST
from reference_engine.planar.workspace import WORKSPACES, Arrays
from reference_engine.planar_model.external import forces_in_numbers
from reference_engine.planar_model.world import World

IMPACT_LAWS = ("newton", "poisson")
IMPACT_ORDERS = ("simultaneous", "sequential")
FINEST_TOLERANCE = 1e-14  # below it round-off decides which steps are taken
JOINED = 1e-9  # m, times 1 + the extent of the scene: how far the ends of a joint may be apart at the start


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of `simulate`; raises WorldError for a value that is not allowed.

    impact_law, with Coulomb's law between the impulses and the slip after the impact (Moreau 1988):
    newton         a contact leaves with e times the speed of its approach. With friction it may gain energy at one
                   contact (Kane 1984); where several are struck at once and energy would grow, e is lowered until it
                   does not, by one factor for all
    poisson        e times the impulse that stops the approach is given back (Glocker & Pfeiffer 1995)
    impact_order, where several contacts are struck at once:
    simultaneous   one complementarity problem over all of them; contacts that rest do not bounce
    sequential    one contact after the other, the fastest approach first, each with its own e, until none approaches:
                   the limit of small gaps (Newton's cradle: the last ball leaves)
    """

    tolerance: float = 1e-13  # local error of a step: relative, and absolute in m, m/s, rad, rad/s
    impact_law: str = "newton"
    impact_order: str = "simultaneous"
    accumulation_cutoff: float = 4e-6  # s; bounces that are shorter are the end of an accumulation, and summed up
    max_events: int = 100_000

    def __post_init__(self) -> None:
        if not (math.isfinite(self.tolerance) and FINEST_TOLERANCE <= self.tolerance <= 1e-2):
            raise WorldError(f"tolerance: {self.tolerance!r} is not in [{FINEST_TOLERANCE}, 0.01]")
        for name, allowed in (("impact_law", IMPACT_LAWS), ("impact_order", IMPACT_ORDERS)):
            if getattr(self, name) not in allowed:
                raise WorldError(f"{name}: {getattr(self, name)!r} is not one of {allowed}")
        if not (math.isfinite(self.accumulation_cutoff) and 1e-12 <= self.accumulation_cutoff <= 1e-3):
            raise WorldError(f"accumulation_cutoff: {self.accumulation_cutoff!r} s is not in [1e-12, 1e-3]")
        if self.max_events < 1:
            raise WorldError(f"max_events: {self.max_events!r} is not a positive number")


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
        self.arrays.log.grid[: len(grid)] = grid
        self.arrays.loop.counters[col.ASKED] = len(grid)
        self.arrays.loop.y[:] = state_of(world)
        self.refuse_open_joints()

    @property
    def arrays(self) -> Arrays:
        return self.cached.arrays

    def grow(self, capacity: int, block: int) -> None:
        """For so many contacts, and islands of so many rows."""
        old = self.arrays
        self.cached = self.cached.grown(self.size, capacity, block)
        for name in LoopState.__dataclass_fields__:
            getattr(self.arrays.loop, name)[...] = getattr(old.loop, name)
        first = slice(old.loop.counters[col.ACTIVE])
        self.arrays.active.id[first], self.arrays.active.value[first] = old.active.id[first], old.active.value[first]

    def go_on(self) -> None:
        """To the end of the grid. Raises as `simulate` says."""
        while (status := event_loop.run(self.arrays)) != col.DONE:
            self.functions.check()
            contacts, block = len(self.arrays.active.id), len(self.arrays.work.M)
            if status == col.FULL:
                self.cached = self.cached.with_log(doubled(self.arrays.log))
            elif status == col.CONTACTS_FULL:
                self.grow(2 * contacts, block)
            elif status == col.BLOCK_FULL:
                self.grow(contacts, 2 * block)
            else:
                self.fail(status)
        self.functions.check()

    def give_back(self) -> None:
        """The workspace, for another run; what is still wanted of it or of the log has been copied."""
        WORKSPACES.give_back(self.size, self.cached)

    def refuse_open_joints(self) -> None:
        model, y, found, work = self.arrays.model, self.arrays.loop.y, self.arrays.found, self.arrays.work
        if not len(model.connectors):
            return
        n, _ = event_loop.query_contacts(model, y, found, work)
        extent = float(np.abs(y[: len(y) // 2]).max())
        for k in np.flatnonzero(found.id[:n, col.ROLE] == col.JOINT):
            if abs(gap := work.geometry[k, col.GAP]) > JOINED * (1.0 + extent):
                connector = number_of(int(found.id[k, col.PIECE_I]))
                raise WorldError(f"connectors: the ends of connector {connector} are {gap:.3g} m apart at the start")

    def fail(self, status: int) -> NoReturn:
        model, now, count = self.arrays.model, self.arrays.loop.now, self.arrays.loop.counters
        time, pairs = float(now[col.TIME]), len(model.pairs)
        names = "", ""
        if pairs:
            names = self.names(*model.row[model.pairs[max(0, min(count[col.CLOSED_PAIR], pairs - 1))]])
        if status == col.OVERLAP and time == 0.0:
            if count[col.CLOSED_PAIR] >= pairs:
                rope = int(count[col.CLOSED_PAIR]) - pairs
                raise WorldError(f"connectors: rope {rope} is shorter than the distance of its ends at the start")
            raise WorldError(f"bodies {names[0]!r} and {names[1]!r} overlap at the start; move them apart")
        if status in (col.NO_FORCES, col.NO_IMPULSES):
            names = self.names(int(count[col.WHY_I]), int(count[col.WHY_J]))
            problem = self.contact_problem(status)
            scale = scale_of(problem[1]) if status == col.NO_FORCES else float(np.abs(problem[1][::2]).max())
            breach, own = singular_breach(*problem[:3], scale), least_own(problem[0])
            if breach > 0.0 or own < DEPENDS:
                of_forces = status == col.NO_FORCES
                raise SingularPositionError(time=time, bodies=names, breach=breach, own=own, of_forces=of_forces)
            if status == col.NO_IMPULSES and self.settings.impact_order == "sequential":
                raise EndlessEventsError("impacts one after another have no end", time=time, bodies=names, gap=0.0)
            if status == col.NO_FORCES and now[col.WHY_P] <= 0.0 and proven_breach(*problem) > 0.0:
                raise PainleveError(time=time, bodies=names, p=float(now[col.WHY_P]), b=float(now[col.WHY_B]))
            what = "contact forces" if status == col.NO_FORCES else "impulses"
            message = f"t = {time:.9g} s, bodies {names[0]!r} and {names[1]!r} among others: no {what} found"
            raise ContactForceError(message, residual=abs(float(now[col.WHY_B])))
        reasons = {
            int(col.OVERLAP): "bodies overlap: a touch was missed",
            int(col.NO_STEP): f"the integrator's step fell below {SHORTEST} s",
            int(col.STANDSTILL): f"{int(count[col.IDLE])} events at one time",
            int(col.EVENTS_FULL): f"more than max_events = {self.settings.max_events} events",
        }
        if status != col.OVERLAP and count[col.EVENTS]:
            names = self.names(*self.arrays.log.event_ids[count[col.EVENTS] - 1, col.FIRST_BODY :])
        error = UnresolvedContact if status == col.OVERLAP else EndlessEventsError
        raise error(reasons[int(status)], time=time, bodies=names, gap=math.nan)

    def contact_problem(self, status: int) -> tuple[Array, Array, Indices, Array, Array]:
        """Of the island without forces or impulses, as `proven_breach` has it. The loop has written over its kinds."""
        found, event, work, loop = self.arrays.found, self.arrays.event, self.arrays.work, self.arrays.loop
        m, twist = loop.counters[col.WHY_ROWS], loop.y[len(loop.y) // 2 :]
        of = event.of[:m]
        slip = work.geometry[of, col.SLIP]
        slow = JAMMED * RATE_ROUND_OFF * (1.0 + float(np.abs(twist).max()))
        kind = np.where(slip > 0.0, modes.SLIDING_PLUS, modes.SLIDING_MINUS)
        kind[np.abs(slip) <= slow] = modes.STICKING
        mu, mu_s = found.value[of, col.FRICTION], found.value[of, col.STATIC_FRICTION]
        kind[(found.id[of, col.ROLE] != col.CONTACT) | (mu_s == 0.0)] = modes.SMOOTH
        kind[found.id[of, col.ROLE] == col.JOINT] = modes.BILATERAL
        b = (work.b if status == col.NO_FORCES else event.acceleration).reshape(-1, 2)[of].ravel()  # or the speeds
        return event.problem.A[: 2 * m, : 2 * m].copy(), b, kind, mu, mu_s

    def names(self, i: int, j: int) -> tuple[str, str]:
        bodies = len(self.world.bodies)
        first, second = (self.world.body_name(int(k)) if k < bodies else "background" for k in sorted((i, j)))
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

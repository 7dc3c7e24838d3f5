"""One step of a world of ellipsoids: poses first, so that no gap ends below 0, then speeds.

Order 2 (RATTLE with inequalities; Andersen 1983, J. Comput. Phys. 52; Moreau 1999 for the contact law):

    v_h = v + h/2 f/m + M J^T p,   gap(poses moved by h v_h) >= 0  perp  p_n >= 0,   friction on the slip of v_h
    v'  = v_h + h/2 f'/m + M J'^T p',   u_n' >= e |approach|  perp  p_n' >= 0 where bodies touch, friction on u_t'

The gap is made linear about the poses that the last solve led to, again and again, until it is as promised; every
repeat takes its starting impulses from the one before. Order 1 (Anitescu & Potra 1997; Oltman & Hur 2017): the first
line alone with all of h f/m.

A fictitious barrier one gap tolerance high is aimed at, so that no gap is ever below 0: (gap - barrier) / h.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from reference_engine.array_types import Array, Indices
from reference_engine.compiler.structure import zeros
from reference_engine.contact_problems.cone_problem import cone_problem, corners
from reference_engine.contact_problems.cone_solve import solve_cones
from reference_engine.contact_problems.cone_sweeps import IMPULSE, SLIP, Bodies, Contacts, sweep_contacts
from reference_engine.dense import norm
from reference_engine.elementary import squared
from reference_engine.errors import ContactForceError, SpatialWorldError, UnresolvedStepError
from reference_engine.geometry.ellipsoid_containers import MOST_POINTS
from reference_engine.geometry.ellipsoid_depth import STACK
from reference_engine.geometry.layout import ELLIPSOID_COLUMNS
from reference_engine.heaps import layout as col
from reference_engine.heaps.broad_phase import BroadPhase
from reference_engine.heaps.layout import Flow, Progress, Rules, Scene, Step
from reference_engine.heaps.located import advance_located
from reference_engine.heaps.loop import seek_poses, seek_speeds
from reference_engine.heaps.world import FLOOR, MISS, EllipsoidWorld, HalvedSteps, SpatialSettings, TurnedTooFarError
from reference_engine.rotation import matrices

THICK = 0.25  # of the shortest semi-axis: what a gap tolerance may be
MOST_TURN = 1.0  # rad in a step: gaps are no linear functions of more, and energy is not what it was
MOST_TURNS = 4096.0  # rad in a step that is to be taken in parts
AROUND = 0.1  # of the mean shortest semi-axis: how much further gaps are looked at than asked for


@dataclass(slots=True)
class StepReport:
    """Of one step."""

    contacts: int = 0  # looked at
    repeats: int = 0  # of the linearisation, 1 if once was enough; of a step in parts the most
    sweeps: int = 0  # of Gauss-Seidel, of all solves
    visits: int = 0  # of contacts in them
    halvings: int = 0  # of the step, where one was too long
    impacts: int = 0  # located in it
    unlocated: int = 0  # rests of it, or of its parts, in which bodies struck whose time was not found
    reduced_bounces: int = 0  # impacts that would have gained energy, and were given less of a bounce
    large: int = 0  # solves that the solver for large heaps finished
    residual: float = 0.0  # m/s, the worst of all solves
    gap_error: float = 0.0  # m, by which gaps that press or are below it are off their aim: barrier, or what they had
    rebuilds: int = 0  # of the pairs, since the beginning


class StepContacts(NamedTuple):
    """What pressed in a step, K rows, world axes: first by the poses where it began, then by those at its end.

    Of a step that was taken in parts the last. Points are those of the end.
    """

    body: Indices  # (K, 2) a and b; B + i is container i
    point: Array  # (K, 3) m, half-way between the two surfaces
    normal: Array  # (K, 3) from a to b
    gap: Array  # (K,) m
    impulse: Array  # (K, 3) N s on b


class Stepper(HalvedSteps):
    """A world in motion. Arrays of the present: position (B, 3), orientation (B, 4), twist (B, 6); and a report."""

    def __init__(self, world: EllipsoidWorld, dt: float, settings: SpatialSettings | None = None) -> None:
        """dt s. Raises SpatialWorldError where bodies overlap at the start by more than the gap tolerance."""
        if settings is not None and not isinstance(settings, SpatialSettings):
            raise SpatialWorldError(f"settings: {settings!r:.60}; SpatialSettings or None")
        self.settings = given = settings or SpatialSettings()
        super().__init__(world, dt, given.gap_tolerance)
        thin = world.semi_axes.min(axis=1)
        if self.gap_tolerance > THICK * thin.min():
            raise SpatialWorldError(
                f"gap_tolerance: {self.gap_tolerance} m; at most a quarter of the shortest semi-axis, {thin.min():g} m"
            )
        self.speed_tolerance = (
            0.02 * self.gap_tolerance / dt if given.speed_tolerance is None else given.speed_tolerance
        )
        gravity = float(norm(world.gravity))
        self.bounce_speed = 2.0 * gravity * dt if given.bounce_speed is None else given.bounce_speed
        self.margin = 0.01 * float(thin.mean()) + self.gap_tolerance
        self.edges = corners(given.edges)
        count, moving = len(world.position), ~world.fixed
        self._inverse_mass = moving / world.mass
        alike = (np.ptp(world.semi_axes, axis=1) == 0.0) & (np.ptp(world.inertia, axis=1) == 0.0)
        self._turning = moving & ~alike  # whose turn changes gaps or inertia
        rows = [container.rows for container in world.containers]
        self._container_ends = count * np.cumsum(rows, dtype=np.int64)
        inverse_inertia = moving[:, None] / world.inertia
        longest = world.semi_axes.max(axis=1)
        self._scene = Scene(
            semi_axes=np.ascontiguousarray(world.semi_axes), longest=longest, inertia=world.inertia * moving[:, None],
            inverse_inertia=inverse_inertia, stack=np.empty(STACK), scratch=np.empty((MOST_POINTS, 3)),
            **containers(world),
        )  # fmt: skip
        sizes = {"B": count, "B + 1": count + 1}
        self.bodies: Bodies = zeros(
            Bodies, sizes, inverse_mass=np.append(self._inverse_mass, 0.0),
            ease=np.append(self._inverse_mass + squared(longest) * inverse_inertia.max(axis=1), 0.0),
        )  # fmt: skip
        self.bodies.twist[:-1, :3], self.bodies.twist[:-1, 3:] = world.velocity, world.spin
        self.twist = self.bodies.twist[:-1]
        R = matrices(world.orientation)
        own = world.inertia * moving[:, None] * np.einsum("bji,bj->bi", R, world.spin)
        momentum = np.einsum("bij,bj->bi", R, own)
        self._flow: Flow = zeros(
            Flow, sizes, momentum=np.ascontiguousarray(momentum), middle=world.orientation.copy(),
            linear=np.ascontiguousarray(world.gravity * moving[:, None]),
        )  # fmt: skip
        self._progress: Progress = zeros(Progress, {})
        self._rules: dict[float, Rules] = {}
        self._steps: dict[tuple[int, int], Step] = {}
        self.broad_phase = BroadPhase(
            world, 0.4 * float(thin.mean()) if given.skin is None else max(given.skin, self.margin)
        )
        table = np.empty((count, ELLIPSOID_COLUMNS))
        self._now = self.broad_phase.poses(world.position.copy(), world.orientation.copy(), table)
        self._ahead = self.broad_phase.poses(world.position.copy(), world.orientation.copy(), table)
        self._reserve(64)
        self.report = StepReport()
        self._run(col.QUERY, dt)
        self._ahead = self.broad_phase.poses(world.position.copy(), world.orientation.copy(), table.copy())
        self._steps = {}
        self._check_start(self.broad_phase.body, self._now.found[:, 0])

    @property
    def position(self) -> Array:
        """(B, 3) m."""
        return self._now.position

    @property
    def orientation(self) -> Array:
        """(B, 4) unit quaternions w x y z, body to world."""
        return self._now.orientation

    @property
    def count(self) -> int:
        """Contacts of the last solve."""
        return int(self._progress.count[col.COUNT])

    def gaps(self) -> Array:
        """(N,) m, of all `broad_phase`, or a lower bound of those that were not asked for."""
        return self._now.found[:, 0]

    def _reserve(self, count: int) -> None:
        self.contacts: Contacts = zeros(Contacts, {"C": count})
        self._steps = {}

    def _step(self, rules: Rules) -> Step:
        """Made once for each of both roles of the poses, until a list or the workspace changes."""
        key = id(rules), id(self._now)  # both are kept by the Step, so that no other has their ids
        if key not in self._steps:
            self._steps[key] = Step(
                scene=self._scene, rules=rules, candidates=self.broad_phase.candidates, now=self._now,
                ahead=self._ahead,
                flow=self._flow, contacts=self.contacts, bodies=self.bodies, edges=self.edges, progress=self._progress,
            )  # fmt: skip
        return self._steps[key]

    def _rules_of(self, h: float) -> Rules:
        if h not in self._rules:
            world, given, barrier = self.world, self.settings, self.gap_tolerance
            thin = float(world.semi_axes.min(axis=1).mean())
            self._rules[h] = Rules(
                h=h, kick=h if given.order == 1 else 0.5 * h, middle=int(given.order == 2), barrier=float(barrier),
                floor=(FLOOR - MISS) * barrier, miss=MISS * barrier, margin=self.margin,
                slack=float(min(self.speed_tolerance * self.dt, 0.5 * MISS * barrier)), skin=AROUND * thin,
                pace=10.0 * h * float(norm(world.gravity)), heaviest=float(world.mass.max()),
                tolerance=float(min(self.speed_tolerance, 0.5 * MISS * barrier / h)),
                last_tolerance=float(self.speed_tolerance), bounce_speed=float(self.bounce_speed),
                most_sweeps=given.most_sweeps, most_repeats=given.most_repeats,
            )  # fmt: skip
        return self._rules[h]

    def forget(self) -> None:
        """What was made for steps of other lengths, and for poses that are not there any more."""
        self._rules = {h: rules for h, rules in self._rules.items() if h == self.dt}
        self._steps = {}

    def _forces(self, twist: Array) -> None:
        """Accelerations and torques, now, of bodies so fast."""
        own = self.world.applied_loads(self.time, self.position, self.orientation, twist)
        if own is None:
            return
        moving = (self._inverse_mass > 0.0)[:, None]
        self._flow.linear[:] = self.world.gravity * moving + own[:, :3] * self._inverse_mass[:, None]
        self._flow.torque[:] = own[:, 3:] * moving

    def tighten(self, speed_tolerance: float) -> None:
        """From the next step on contacts may miss Coulomb's law by so much, m/s; the impulses found so far are kept.

        Raises SpatialWorldError for what is not positive and finite.
        """
        replace(self.settings, speed_tolerance=speed_tolerance)  # looks at it
        self.speed_tolerance, self._rules, self._steps = float(speed_tolerance), {}, {}

    def step(self) -> StepReport:
        """On by dt, in shorter steps where one does not come to within the tolerances.

        Raises UnresolvedStepError, if those do not help; the world is at the last time that was reached.
        """
        self.report = StepReport()
        if self.settings.located:
            advance_located(self, self.dt)
            self.forget()
        else:
            self._advance(self.dt)
        self.report.rebuilds = self.broad_phase.rebuilds
        return self.report

    def _longest(self) -> float:
        spin = float(np.sqrt(squared(self.twist[self._turning, 3:]).sum(axis=1).max(initial=0.0)))
        if spin * self.dt > MOST_TURNS:
            raise UnresolvedStepError(
                f"t = {self.time:.9g} s: a body turns by {spin * self.dt:.3g} rad in a step of {self.dt:g} s; "
                f"at most {MOST_TURNS:g}: take a shorter step"
            )
        return MOST_TURN / spin if spin > 0.0 else np.inf

    def _take(self, h: float) -> None:
        flow = self._flow
        flow.start[:] = self.bodies.twist
        momentum, seen = flow.momentum.copy(), False
        try:
            self._forces(self.twist)
            self._run(col.BEGIN, h)
            self.report.contacts = self.count
            if h > self._longest():
                raise TurnedTooFarError(
                    f"t = {self.time:.9g} s: a body turns by more than {MOST_TURN:g} rad in {h:g} s"
                )
            self._exchange(h)
            seen = True
            bouncing = self._progress.count[col.BOUNCING] > 0
            if self.settings.order == 2:
                self._forces(2.0 * self.twist - flow.start[:-1])  # speeds are those of the middle
            self._run(col.BEGIN, h, int(self.settings.order == 2 or bouncing))
        except UnresolvedStepError:
            if seen:
                self._exchange(-h)
            self.bodies.twist[:], flow.momentum[:] = flow.start, momentum
            self.report.halvings += 1
            raise

    def _exchange(self, h: float) -> None:
        """The poses that the step led to become the present, and what was the present is kept; or back, with -h."""
        self._now, self._ahead = self._ahead, self._now
        self.time += h

    def _run(self, stage: int, h: float, resolve: int = -1, rules: Rules | None = None) -> None:
        """The poses of a step, or its speeds; with what those ask for on their way."""
        rules, progress, report = rules or self._rules_of(h), self._progress, self.report
        while True:
            step = self._step(rules)
            ended = seek_poses(stage, step) if resolve < 0 else seek_speeds(stage, step, resolve)
            if ended == col.DONE:
                break
            if ended == col.LIST:
                self.broad_phase.rebuild(self._now, self._ahead, h * self._flow.free[:-1, :3])
                for name in ("_now", "_ahead"):
                    old = getattr(self, name)
                    setattr(self, name, self.broad_phase.poses(old.position, old.orientation, old.table))
                self._steps = {}
            elif ended == col.FULL:
                self._reserve(2 * len(self.contacts.candidate))
            elif ended == col.UNSOLVED:
                solved = self._solve_large(rules.tolerance if resolve < 0 else rules.last_tolerance, resolve > 0)
            else:
                raise UnresolvedStepError(
                    f"t = {self.time:.9g} s: gaps are off by {progress.measure[col.WORST]:.3g} m after "
                    f"{progress.count[col.REPEATS]} repeats; promised: {rules.miss:.3g} m"
                )
            if stage != col.QUERY:
                stage = solved if ended == col.UNSOLVED else col.AGAIN
        if resolve < 0 and stage != col.QUERY:
            report.repeats = max(report.repeats, int(progress.count[col.REPEATS]))
            report.gap_error = max(report.gap_error, float(progress.measure[col.OFF]))
        elif resolve > 0 and progress.count[col.BOUNCING] > 0:
            report.reduced_bounces += int((self._flow.bounce < 1.0).any())
        report.sweeps += int(progress.count[col.SWEEPS])
        report.visits += int(progress.count[col.VISITS])
        report.residual = max(report.residual, float(progress.measure[col.RESIDUAL]))
        progress.count[col.SWEEPS] = progress.count[col.VISITS] = 0

    def step_contacts(self) -> StepContacts:
        """What pressed in the last step: contacts of both its lines, each with the normals that its impulses had."""
        broad_phase, bodies = self.broad_phase, len(self.position)
        arrays = []
        for warm_start, poses in zip(broad_phase.warm_start, (self._ahead, self._now)):  # `_ahead`: where it began
            rows = np.flatnonzero(warm_start.any(axis=1))
            body = broad_phase.body[rows].copy()
            of_container = body[:, 1] == bodies
            moved = self.position - poses.position
            carried = 0.5 * (moved[body[:, 0]] + moved[np.where(of_container, body[:, 0], body[:, 1])])
            container = np.searchsorted(self._container_ends, rows[of_container] - len(broad_phase.pairs), "right")
            body[of_container, 1] += container
            there = np.isfinite(poses.found[rows, :1])  # a hollow sphere's second point may be of the end alone
            at, carried = np.where(there, poses.found[rows], self._now.found[rows]), np.where(there, carried, 0.0)
            arrays.append((body, 0.5 * (at[:, 4:7] + at[:, 7:10]) + carried, at[:, 1:4], at[:, 0], warm_start[rows]))
        return StepContacts(*(np.concatenate(array) for array in zip(*arrays)))

    def _solve_large(self, tolerance: float, speeds: bool) -> int:
        """Where Gauss-Seidel's sweeps are too many: the default of `solve_cones`. What is to be done next.

        Raises UnresolvedStepError where no impulses are found, unless those of a bounce may be less.
        """
        count, free = self.count, self._flow.free
        problem = cone_problem(self.contacts, self.bodies, free, count, self.settings.edges)
        impulse = self.contacts.row[:count, IMPULSE:SLIP]
        solution = None
        for start in (impulse, None):  # what is jammed has many solutions: from none those that press it least
            try:
                solution = solve_cones(problem, tolerance=tolerance / problem.scale, start=start)
                break
            except ContactForceError as error:
                unsolved = error
        if solution is None:
            progress = self._progress
            if speeds and progress.count[col.BOUNCING] > 0 and (self._flow.bounce > 0.0).any():
                return col.REDUCED
            raise UnresolvedStepError(f"t = {self.time:.9g} s: {unsolved}") from None
        impulse[:] = solution.impulse
        self.report.large += 1
        _, residual, _ = sweep_contacts(self.contacts, self.bodies, free, count, self.edges, 0, tolerance)
        self.report.residual = max(self.report.residual, float(residual))
        return col.SOLVED


def containers(world: EllipsoidWorld) -> dict[str, Any]:
    """Of a Scene."""
    given = world.containers
    return {
        "container": np.array([container.kind for container in given], np.int64),
        "point": np.array([container.point for container in given]).reshape(-1, 3),
        "normal": np.array([container.normal for container in given]).reshape(-1, 3),
        "radius": np.array([container.radius for container in given], np.float64),
    }

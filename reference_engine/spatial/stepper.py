"""One step of a world of ellipsoids: poses first, so that no gap ends below 0, then speeds.

Order 2 (RATTLE with inequalities; Andersen 1983, J. Comput. Phys. 52; Moreau 1999 for the law of contact):

    v_h = v + h/2 f/m + M J^T p,   gap(poses moved by h v_h) >= 0  perp  p_n >= 0,   friction on the slip of v_h
    v'  = v_h + h/2 f'/m + M J'^T p',   u_n' >= e |approach|  perp  p_n' >= 0 where bodies touch, friction on u_t'

The gap is made linear about the poses that the last solve led to, again and again, until it is as promised; every
repeat takes its starting impulses from the one before. Order 1 (Anitescu & Potra 1997; Oltman & Hur 2017): the first
line alone with all of h f/m.

A fictitious barrier one gap tolerance high is aimed at, so that no gap is ever below 0: (gap - barrier) / h.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reference_engine.complementarity.cone_problem import cone_problem, corners
from reference_engine.complementarity.cone_solve import solve_cones
from reference_engine.complementarity.cone_sweeps import Bodies, prepare_contacts, room_for_contacts, sweep_contacts
from reference_engine.complementarity.errors import ContactForceError
from reference_engine.geometry.furthest import MOST_POINTS
from reference_engine.spatial.errors import SpatialWorldError, UnresolvedStepError
from reference_engine.spatial.places import (
    FLOOR,
    Places,
    bounces,
    choose_contacts,
    correct_biases,
    keep_impulses,
    touching_contacts,
)
from reference_engine.spatial.rotation import end_spins, free_spins, momenta, move
from reference_engine.spatial.settings import SpatialSettings
from reference_engine.spatial.world import EllipsoidWorld, HalfSpace

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

MISS = 0.2  # of the gap tolerance, by which a gap may end a step off its aim: so that none is below 0
MOST_HALVINGS = 6  # of a step


@dataclass(slots=True)
class StepReport:
    """Of one step."""

    contacts: int = 0  # looked at
    repeats: int = 0  # of the linearisation, 1 if once was enough
    sweeps: int = 0  # of Gauss-Seidel, of all solves
    halvings: int = 0  # of the step, where one was too long
    large: int = 0  # solves that the solver for large heaps finished
    residual: float = 0.0  # m/s, the worst of all solves
    gap_error: float = 0.0  # m, of 0 <= gap - barrier perp impulse
    listings: int = 0  # of the pairs, since the beginning


class Touching(NamedTuple):
    """What pressed in a step, K rows, world axes: first with the poses where it began, then with those at its end.

    Of a step that was taken in parts the last.
    """

    body: Indices  # (K, 2) a and b; B + i is container i
    point: Array  # (K, 3) m, half-way between the two surfaces
    normal: Array  # (K, 3) from a to b
    gap: Array  # (K,) m
    impulse: Array  # (K, 3) N s on b


class Stepper:
    """A world in motion. Arrays of the present: position (B, 3), orientation (B, 4), twist (B, 6), places, reports."""

    def __init__(self, world: EllipsoidWorld, dt: float, settings: SpatialSettings | None = None) -> None:
        """dt s. Raises SpatialWorldError where bodies overlap at the start by more than the gap tolerance."""
        if not 0.0 < dt < np.inf:
            raise SpatialWorldError(f"dt: {dt} s; positive and finite")
        self.world, self.dt, self.time = world, float(dt), 0.0
        self.settings = given = settings or SpatialSettings()
        thin = world.semi_axes.min(axis=1)
        self.gap_tolerance = 1e-4 * thin.min() if given.gap_tolerance is None else given.gap_tolerance
        self.speed_tolerance = (
            0.02 * self.gap_tolerance / dt if given.speed_tolerance is None else given.speed_tolerance
        )
        gravity = float(np.linalg.norm(world.gravity))
        self.bounce_speed = 2.0 * gravity * dt if given.bounce_speed is None else given.bounce_speed
        self.margin = 0.01 * float(thin.mean()) + self.gap_tolerance
        self.edges = corners(given.edges)
        count = len(world.position)
        moving = ~world.fixed
        self.position, self.orientation = world.position.copy(), world.orientation.copy()
        self._next_position, self._next_orientation = self.position.copy(), self.orientation.copy()
        self._middle, self._momentum = self.orientation.copy(), np.zeros((count, 3))
        self._inertia = world.inertia * moving[:, None]
        self._inverse_inertia = moving[:, None] / world.inertia
        self._inverse_mass = moving / world.mass
        self._longest = world.semi_axes.max(axis=1)
        rows = [1 if isinstance(container, HalfSpace) else MOST_POINTS for container in world.containers]
        self._container_ends = count * np.cumsum(rows, dtype=np.int64)
        self.bodies = Bodies(
            twist=np.zeros((count + 1, 6)),
            inverse_mass=np.append(self._inverse_mass, 0.0),
            inverse_inertia=np.zeros((count + 1, 6)),
        )
        self.bodies.twist[:-1, :3], self.bodies.twist[:-1, 3:] = world.velocity, world.spin
        self.twist = self.bodies.twist[:-1]
        self._free, self._start = np.zeros((count + 1, 6)), np.zeros((count + 1, 6))
        momenta(self.orientation, self._inertia, self.bodies.twist, self._momentum)
        self.places = Places(world, 0.1 * float(thin.mean()) if given.skin is None else given.skin)
        self._room(64)
        self.places.begin(self.position, self.orientation, self.margin, dt * self.twist[:, :3])
        self._first = self.places.found.copy()
        self._seen = False  # whether `_first` has the gaps of the present poses
        self.report = StepReport()
        deep = int(np.argmin(self.places.found[:, 0])) if len(self.places.found) else -1
        if deep >= 0 and self.places.found[deep, 0] < -self.gap_tolerance:
            a, b = self.places.body[deep]
            other = "a container" if b == count else f"body {b}"
            raise SpatialWorldError(
                f"position: body {a} and {other} overlap by {-self.places.found[deep, 0]:.3g} m at the start; "
                f"at most {self.gap_tolerance:.3g} m"
            )

    def _room(self, count: int) -> None:
        self.contacts, self._place, self.count = room_for_contacts(count), np.zeros(count, np.int64), 0
        self._aim = np.zeros(count)

    def _force(self, twist: Array) -> tuple[Array, Array]:
        """(B, 3) accelerations, (B, 3) torques, now; of bodies with these speeds."""
        linear = np.broadcast_to(self.world.gravity, self.position.shape) * (self._inverse_mass > 0.0)[:, None]
        if self.world.force is None:
            return linear, np.zeros((0, 3))
        own = np.asarray(self.world.force(self.time, self.position, self.orientation, twist), np.float64)
        if own.shape != (len(self.position), 6) or not np.isfinite(own).all():
            raise SpatialWorldError(
                f"force: shape {own.shape} at t = {self.time:.6g} s; ({len(self.position)}, 6), finite"
            )
        return linear + own[:, :3] * self._inverse_mass[:, None], own[:, 3:]

    def _kick(self, h: float, twist: Array) -> None:
        """Speeds and momenta by the forces of a time h on bodies so fast; into `free` and `momentum`."""
        linear, torque = self._force(twist)
        self._free[:-1, :3] = self.twist[:, :3]
        self._free[:-1, :3] += h * linear
        if len(torque):
            self._momentum += h * torque * (self._inverse_mass > 0.0)[:, None]

    def step(self) -> StepReport:
        """On by dt, in shorter steps where one does not come to within the tolerances.

        Raises UnresolvedStepError, if those do not help; the world is at the last time that was reached.
        """
        self.report = StepReport()
        self._advance(self.dt, 0)
        self.report.listings = self.places.listings
        return self.report

    def _advance(self, h: float, halvings: int) -> None:
        self._start[:] = self.bodies.twist
        momentum = self._momentum.copy()
        try:
            self._kick(h if self.settings.order == 1 else 0.5 * h, self.twist)
            free_spins(
                self.orientation, self._momentum, self._inertia, self._inverse_inertia, h, self._middle,
                self.bodies.inverse_inertia, self._free,
            )  # fmt: skip
            self._poses(h)
            self._finish(h)
        except UnresolvedStepError:
            self.bodies.twist[:] = self._start
            self._momentum[:] = momentum
            if halvings == MOST_HALVINGS:
                raise
            self.report.halvings += 1
            self._advance(0.5 * h, halvings + 1)
            self._advance(0.5 * h, halvings + 1)

    def _finish(self, h: float) -> None:
        """The poses found become the present; then the second line."""
        order, places = self.settings.order, self.places
        keep_impulses(self.contacts, self._place, self.count, places.kept[0])
        bouncing = bounces(
            self._first, places.body, places.law, places.kept[0], self.position, self._start, self.bounce_speed,
            places.bounce,
        )  # fmt: skip
        momenta(self._middle, self._inertia, self.bodies.twist, self._momentum)
        self._exchange(h)
        self._seen = True
        ahead = 2.0 * self.twist - self._start[:-1]  # speeds are those of the middle
        self._kick(0.5 * h if order == 2 else 0.0, ahead)
        end_spins(self.orientation, self._momentum, self._inverse_inertia, self.bodies.inverse_inertia, self._free)
        if order == 2 or bouncing:
            try:
                self._speeds()
            except UnresolvedStepError:
                self._exchange(-h)
                self._seen = False
                raise
            momenta(self.orientation, self._inertia, self.bodies.twist, self._momentum)
        else:
            self.bodies.twist[:] = self._free
            places.kept[1] = 0.0

    def _exchange(self, h: float) -> None:
        """The poses that the step led to become the present, and what was the present is kept; or back, with -h."""
        self.position, self._next_position = self._next_position, self.position
        self.orientation, self._next_orientation = self._next_orientation, self.orientation
        self._first, self.places.found = self.places.found, self._first
        self.time += h

    def _poses(self, h: float) -> None:
        """The first line: poses whose gaps are as promised, and the speeds that lead there."""
        places, report, barrier = self.places, self.report, self.gap_tolerance
        speed = np.abs(self._free[:-1, :3]).sum(axis=1) + np.abs(self._free[:-1, 3:]).sum(axis=1) * self._longest
        needed = self.margin + 3.0 * h * float(speed.max())
        if self._seen and needed <= places.cutoff <= 4.0 * needed:
            cutoff = places.cutoff
            places.stand(self.position, h * self._free[:-1, :3])
        else:
            cutoff = 1.5 * needed
            self._look_from(cutoff)
        self._seen = False
        light = 1.0 / self.world.mass.max()
        pace = 10.0 * h * float(np.linalg.norm(self.world.gravity)) + float(speed.max())
        self._give = 0.05 * self.gap_tolerance / (h * max(pace, 1e-300)) * light
        places.chosen[:] = 0
        count, chord, before = -1, 0, np.inf
        for repeat in range(1, self.settings.most_repeats + 1):
            report.repeats = repeat
            if count < 0:
                count = self._choose(h, cutoff, barrier)
                chord, before = 0, np.inf
            self._solve(count, self._free, min(self.speed_tolerance, 0.5 * MISS * barrier / h))
            move(self.position, self.orientation, self.bodies.twist, h, self._next_position, self._next_orientation)
            listed = places.listings
            places.look(self._next_position, self._next_orientation)
            if places.listings != listed:
                self._look_from(cutoff)
                count = -1
                continue
            fresh = chord >= 3
            worst, missed = correct_biases(
                places.found, places.body, places.chosen, self._place, self.contacts, self.bodies, self._next_position,
                h, self._aim, cutoff, (FLOOR - MISS) * barrier, fresh, self.settings.order == 2, count,
            )  # fmt: skip
            report.gap_error = worst
            if missed:
                keep_impulses(self.contacts, self._place, count, places.kept[0])
                count = -1
                continue
            if worst <= MISS * barrier:
                break
            chord = chord + 1 if worst > 0.25 * before and not fresh else chord
            before = worst
            if fresh:
                prepare_contacts(self.contacts, self.bodies, count)
        else:
            raise UnresolvedStepError(
                f"t = {self.time:.9g} s: gaps are off by {report.gap_error:.3g} m after {report.repeats} repeats; "
                f"promised: {MISS * barrier:.3g} m"
            )
        self.count = report.contacts = count

    def _look_from(self, cutoff: float) -> None:
        """Gaps where the step starts, in `_first`."""
        self.places.begin(self.position, self.orientation, cutoff, self.dt * self._free[:-1, :3])
        if self._first.shape != self.places.found.shape:
            self._first = np.empty_like(self.places.found)
        self._first[:] = self.places.found

    def _choose(self, h: float, cutoff: float, barrier: float) -> int:
        while True:
            places, room = self.places, len(self._place)
            count = int(
                choose_contacts(
                    self._first,
                    places.body,
                    places.law,
                    places.chosen,
                    self._free,
                    self.position,
                    h,
                    self.margin,
                    cutoff,
                    barrier,
                    self._give,
                    places.kept[0],
                    self.contacts,
                    self._place,
                    self._aim,
                )
            )
            if count <= room:
                prepare_contacts(self.contacts, self.bodies, count)
                return count
            self._room(2 * count)

    def _speeds(self) -> None:
        """The second line: speeds of bodies that touch, and their bounces."""
        places = self.places
        while True:
            count = int(
                touching_contacts(
                    self._first,
                    places.body,
                    places.law,
                    3.0 * self.gap_tolerance,
                    0.0,
                    self.position,
                    places.kept[1],
                    places.bounce,
                    self.bodies,
                    self.contacts,
                    self._place,
                )
            )
            if count <= len(self._place):
                break
            self._room(2 * count)
        prepare_contacts(self.contacts, self.bodies, count)
        self._solve(count, self._free, self.speed_tolerance)
        keep_impulses(self.contacts, self._place, count, places.kept[1])

    def touching(self) -> Touching:
        """What pressed in the last step: contacts of both its lines, each with the normals that its impulses had."""
        places, bodies = self.places, len(self.position)
        parts = []
        for kept, found in zip(places.kept, (places.found, self._first)):
            rows = np.flatnonzero(kept.any(axis=1))
            body = places.body[rows].copy()
            of_container = body[:, 1] == bodies
            container = np.searchsorted(self._container_ends, rows[of_container] - len(places.pairs), "right")
            body[of_container, 1] += container
            at = found[rows]
            parts.append((body, 0.5 * (at[:, 4:7] + at[:, 7:10]), at[:, 1:4], at[:, 0], kept[rows]))
        return Touching(*(np.concatenate(part) for part in zip(*parts)))

    def _solve(self, count: int, free: Array, tolerance: float) -> None:
        sweeps, residual = sweep_contacts(
            self.contacts, self.bodies, free, count, self.edges, self.settings.most_sweeps, tolerance
        )
        self.report.sweeps += int(sweeps)
        if not residual <= tolerance:
            residual = self._solve_large(count, free, tolerance)
        self.report.residual = max(self.report.residual, float(residual))

    def _solve_large(self, count: int, free: Array, tolerance: float) -> float:
        """Where Gauss-Seidel's sweeps are too many: the default of `solve_cones`."""
        problem = cone_problem(self.contacts, self.bodies, free, count, self.settings.edges)
        start = self.contacts.impulse[:count]
        try:
            solution = solve_cones(problem, tolerance=tolerance / problem.scale, start=start)
        except ContactForceError as error:
            raise UnresolvedStepError(f"t = {self.time:.9g} s: {error}") from None
        self.contacts.impulse[:count] = solution.impulse
        self.report.large += 1
        _, residual = sweep_contacts(self.contacts, self.bodies, free, count, self.edges, 0, tolerance)
        return float(residual)

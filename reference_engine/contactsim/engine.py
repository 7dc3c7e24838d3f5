"""The original's step: go on, and when bodies collide, go back, estimate when they meet, and let them bounce there."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from reference_engine.array_types import Array, Flags, Indices
from reference_engine.contactsim import arrays as col
from reference_engine.contactsim import collision as row
from reference_engine.contactsim.arrays import Bodies, new_work
from reference_engine.contactsim.collision import classify, update
from reference_engine.contactsim.contact import ACCEPTED
from reference_engine.contactsim.detection import find
from reference_engine.contactsim.impulse import NO_IMPULSE, apply_impacts
from reference_engine.contactsim.integrator import FULL, NO_FORCES, WENT, attempt, evaluate, new_stages
from reference_engine.contactsim.layout import frames_of, pack_outlines, pack_rules
from reference_engine.contactsim.settings import COLLISION_HANDLINGS, INTEGRATORS, FaithfulSettings
from reference_engine.errors import ContactForceError, UnresolvedContact
from reference_engine.planar_model.external import pack_forces, potential_energy
from reference_engine.planar_model.motion import ContactForces, Impacts
from reference_engine.planar_model.world import World


@dataclass(slots=True)
class Totals:
    """What the original counts."""

    collisions: int = 0  # approaching contacts near enough to be handled
    impulses: int = 0  # calculations of impulses
    searches: int = 0  # impacts found by halving time
    backups: int = 0
    steps: int = 0  # of the integrator, also those that failed


@dataclass(slots=True)
class Rows:
    """Collisions in the order in which they were found; columns as `collision` names them."""

    ids: Indices
    values: Array
    count: int = 0

    def keep(self, wanted: Flags) -> Rows:
        """Only the wanted rows; returns the others."""
        ids, values = self.ids[: self.count], self.values[: self.count]
        gone = Rows(ids[~wanted].copy(), values[~wanted].copy(), int((~wanted).sum()))
        kept = int(wanted.sum())
        self.ids[:kept], self.values[:kept] = ids[wanted], values[wanted]
        self.count = kept
        return gone

    def copy(self) -> Rows:
        return Rows(self.ids[: self.count].copy(), self.values[: self.count].copy(), self.count)


STUCK = 30  # times back without getting on, before we give up
MAYBE_STUCK = 3  # before time is halved instead
ADVANCED = 1e-7  # s; a shorter step is no progress
NO_STEP = 1e-16  # s
SHORTEST = 1e-15  # s, of an adaptive step
ROUNDING = 1e7  # 1/s; estimates that agree to 1 / this are one time when collisions are put in order


class ContactSim:
    """A world in time. `pose` and `twist` are (B + 1, 3), the fixed background last."""

    def __init__(self, world: World, settings: FaithfulSettings | None = None, start: float = 0.0) -> None:
        self.world, self.settings = world, settings or FaithfulSettings()
        self.outlines, self.rules = pack_outlines(world), pack_rules(self.settings)
        self.forces, self.functions = pack_forces(world, background=True)
        self.method = INTEGRATORS.index(self.settings.integrator)
        self.stages = new_stages(self.forces, frames_of(world))
        self.handling = COLLISION_HANDLINGS.index(self.settings.collision_handling)
        self.seed = np.array([self.settings.random_seed], np.int64)
        self.totals = Totals()
        self.time = float(start)
        still = [(0.0, 0.0, 0.0)]
        self.pose = np.array([*((*b.position, b.angle) for b in world.bodies), *still], np.float64)
        self.twist = np.array([*((*b.velocity, b.spin) for b in world.bodies), *still], np.float64)
        self.old_pose, self.has_old = self.pose.copy(), False
        corners = np.diff(self.outlines.owns[:, col.FIRST_CORNER])
        pair = max((int(corners[i] + corners[j]) for i, j in self.outlines.pairs), default=0)
        self.capacity = 64 + 3 * pair + len(world.connectors)
        self.rows = self.new_rows()
        self.work = new_work(16 + len(world.connectors), len(world.bodies))
        self.events: list[Impacts] = []

    def new_rows(self) -> Rows:
        return Rows(np.zeros((self.capacity, row.IDS), np.int64), np.zeros((self.capacity, row.VALUES)))

    def bodies(self, step: float = 0.0) -> Bodies:
        """As the kernels see them."""
        bodies = self.stages.bodies
        bodies.frame[:, :3], bodies.old_frame[:, :3], bodies.has_old[0] = self.pose, self.old_pose, self.has_old
        bodies.twist[:], bodies.now[:] = self.twist, (self.time, step)
        return bodies

    def find(self, rows: Rows, step: float) -> None:
        """Add to the rows what meets now."""
        before, bodies = rows.copy(), self.bodies(step)
        while True:
            count = find(self.outlines, self.rules, bodies, rows.ids, rows.values, rows.count)
            if count >= 0:
                rows.count = count
                return
            self.capacity *= 2
            larger = self.new_rows()
            larger.ids[: before.count], larger.values[: before.count] = before.ids, before.values
            rows.ids, rows.values, rows.count = larger.ids, larger.values, before.count

    def grow(self, count: int) -> None:
        if count > len(self.work.A):
            self.work = new_work(2 * count, len(self.world.bodies))

    def with_space(self, call: Callable[[], tuple[int, int, float, bool]]) -> tuple[bool, bool]:
        """Of a kernel that finds contacts and forces, once there is space for what it finds: (went, busy)."""
        seed = int(self.seed[0])
        while True:
            outcome, self.rows.count, violation, busy = call()
            self.functions.check()
            if outcome != FULL:
                break
            self.seed[0] = seed
            if self.rows.count < 0:
                self.capacity *= 2
                self.rows = self.new_rows()
            else:
                self.grow(self.rows.count)
        if outcome == NO_FORCES:
            raise ContactForceError(
                f"t = {self.time:.9g} s: no contact forces found: violation {violation:.3g} m/s^2", residual=violation
            )
        return outcome == WENT, bool(busy)

    # --- integrators -----------------------------------------------------------------------------

    def plain_step(self, h: float, at_end: bool) -> tuple[bool, bool]:
        """(whether no bodies penetrated on the way, else `rows` says which; whether anything is to be seen to).

        at_end: of the end of the step too, which `rows` then has.
        """
        pose, twist = np.empty_like(self.pose), np.empty_like(self.twist)
        went, busy = self.with_space(
            lambda: attempt(
                self.outlines, self.rules, self.method, self.settings.contact_forces, self.time, h, self.pose,
                self.twist, self.old_pose, self.has_old, at_end, self.stages, self.seed, self.work, self.rows.ids,
                self.rows.values, pose, twist,
            )
        )  # fmt: skip
        if went:
            self.pose, self.twist = pose, twist
            weights = (6.0, 2.0, 1.0)[self.method]
            self.time += weights * h / weights
        return went, busy

    def adaptive_step(self, h: float) -> bool:
        """The step in ever smaller parts, each a fifth, until its change of energy no longer changes."""
        saved = self.time, self.pose, self.twist
        self.old_pose, self.has_old = self.pose.copy(), True
        start, substep, last, settled = self.energy(), h, math.inf, False
        while not settled:
            if last < math.inf:
                self.time, self.pose, self.twist = saved
                self.has_old, substep = False, substep / 5.0
                if substep < SHORTEST:
                    raise self.unresolved(self.rows, f"an adaptive step of {substep:.1e} s still changes the energy")
            now, end = saved[0], saved[0] + h
            while now < end:
                piece = end - now if now + substep > end - 1e-10 else substep
                if not self.plain_step(piece, at_end=False)[0]:
                    return False
                now += piece
            change = abs(start - self.energy())
            measure = change
            if self.settings.adaptive_second_difference:
                measure = abs(change - last)
            settled, last = measure <= self.settings.adaptive_tolerance, change
        return True

    # --- a step in time --------------------------------------------------------------------------

    def advance(self, step: float) -> None:
        """On by `step`, with as many integrator steps and impacts as it takes."""
        if step < NO_STEP:
            return
        done, substep = 0.0, step
        searching, quiet, estimate, tries, struck = False, 0, math.nan, 0, False
        while done < step - NO_STEP:
            rows, busy = self.attempt(substep)
            if not busy and substep == step and not self.settings.joint_small_impacts:
                return
            flags = self.flags(rows, False)
            rows.ids[: rows.count, row.MUST] = flags[:, 0]
            back = bool(flags[:, 0].any())
            if back:
                self.go_back(rows, substep)
                tries += 1
                searching = searching or tries >= MAYBE_STUCK
                if tries >= STUCK:
                    raise self.unresolved(rows, f"not resolved after going back {STUCK} times")
            near = int(self.flags(rows, back)[:, 3].sum())
            ahead = rows
            if near > 0:
                ahead = rows.keep(self.in_contact(rows))
                if self.handle(rows):
                    struck = True
                    self.totals.searches += int(searching)
                    self.totals.collisions += near
                    searching, quiet = False, 0
                else:
                    searching = True
                estimate = math.nan
            if not back:
                if substep > ADVANCED:
                    tries = 0
                done += substep
                quiet += int(searching)
                if searching and quiet >= 2:
                    searching, quiet = False, 0
                elif not math.isnan(estimate):
                    searching = True
            searching, quiet, estimate, substep = self.next_substep(ahead, back, searching, quiet, substep, step - done)
        if self.settings.joint_small_impacts and not struck and (ahead.ids[: ahead.count, row.BILATERAL] == 1).any():
            rows.keep(self.in_contact(rows))
            if rows.count:
                self.handle(rows, small=True)

    def next_substep(
        self, rows: Rows, back: bool, searching: bool, quiet: int, substep: float, rest: float
    ) -> tuple[bool, int, float, float]:
        """How far to go next: to the estimate, by half of the last part, or all that is left."""
        estimate = self.earliest(rows)
        if not searching:
            must = bool(rows.ids[: rows.count, row.MUST].any())
            searching = estimate < self.time or (must and math.isnan(estimate))
        if searching:
            if back:
                substep, quiet = substep / 2.0, 0
            return True, quiet, math.nan, min(substep, rest)
        if not math.isnan(estimate):
            return False, quiet, estimate, min(estimate - self.time, rest)
        return False, quiet, math.nan, rest

    def attempt(self, substep: float) -> tuple[Rows, bool]:
        """One step of the integrator; the collisions where it ended, or failed, by the time they are estimated for.

        And whether there is anything to be seen to.
        """
        self.old_pose, self.has_old = self.pose, True
        self.saved = self.time, self.pose, self.twist
        self.totals.steps += 1
        if self.settings.adaptive:
            busy = True
            if self.adaptive_step(substep):
                self.rows.count = 0
                self.find(self.rows, substep)
        else:
            _, busy = self.plain_step(substep, at_end=True)
        rows = self.rows
        if not busy and not self.settings.joint_small_impacts:
            return rows, False
        n = rows.count
        rounded = np.floor(ROUNDING * rows.values[:n, row.ESTIMATE] + 0.5)
        order = np.argsort(rounded, kind="stable")  # nan last
        rows.ids[:n], rows.values[:n] = rows.ids[order], rows.values[order]
        return rows, True

    def go_back(self, rows: Rows, substep: float) -> None:
        """To before the attempt, with the collisions that made it fail, and all that is near there."""
        self.time, self.pose, self.twist = self.saved
        self.has_old = False
        self.totals.backups += 1
        rows.keep(self.flags(rows, False)[:, 0])
        self.update(rows)
        self.find(rows, substep)

    def update(self, rows: Rows) -> None:
        update(self.outlines, self.rules, self.bodies(), rows.ids, rows.values, rows.count)

    def flags(self, rows: Rows, allow_tiny: bool) -> Flags:
        """(n, 4): colliding, contact, imminent, to be handled here and now."""
        out = np.zeros((rows.count, 4), np.bool_)
        classify(self.rules, rows.ids, rows.values, rows.count, allow_tiny, out)
        return out

    def in_contact(self, rows: Rows) -> Flags:
        gap = rows.values[: rows.count, row.GAP]
        return (rows.ids[: rows.count, row.BILATERAL] == 1) | (gap < self.rules.distance_tolerance)

    def earliest(self, rows: Rows) -> float:
        """The first estimate of those that come; nan if any of them has none."""
        coming = self.flags(rows, False)[:, 2]
        estimates = rows.values[: rows.count, row.ESTIMATE][coming]
        return float(estimates.min()) if len(estimates) else math.nan

    def handle(self, rows: Rows, small: bool = False) -> bool:
        """Impulses at all rows. Was any worth the name?"""
        self.grow(rows.count)
        speeds = rows.values[: rows.count, row.SPEED].copy()
        self.twist = self.twist.copy()
        done, violation, greatest, least = apply_impacts(
            self.outlines, self.rules, self.pose, self.twist, rows.ids, rows.values, rows.count, self.handling,
            self.seed, self.work,
        )  # fmt: skip
        if done < 0 or violation > ACCEPTED or least < -NO_IMPULSE:
            raise ContactForceError(
                f"t = {self.time:.9g} s: no impulses found at {rows.count} contacts: violation {violation:.3g} m/s, "
                f"least impulse {least:.3g} N s",
                residual=violation,
            )
        self.totals.impulses += done
        if greatest > NO_IMPULSE and not small:
            self.events.append(self.impacts(rows, speeds))
            self.update(rows)
        return bool(greatest > NO_IMPULSE)

    def impacts(self, rows: Rows, speeds: Array) -> Impacts:
        hit = np.flatnonzero(np.abs(rows.values[: rows.count, row.AMOUNT]) > NO_IMPULSE)
        values, ids = rows.values[hit], rows.ids[hit]
        return Impacts(
            time=np.full(len(hit), self.time),
            pair=ids[:, [row.NORMAL, row.PRIMARY]],
            point=values[:, [row.AX, row.AY]],
            normal=values[:, [row.NX, row.NY]],
            gap=values[:, row.GAP],
            speed=speeds[hit],
            impulse=values[:, row.AMOUNT],
            friction=np.zeros(len(hit)),
        )

    def unresolved(self, rows: Rows, reason: str) -> UnresolvedContact:
        k = int(np.argmin(rows.values[: rows.count, row.GAP])) if rows.count else -1
        pair = rows.ids[k, [row.NORMAL, row.PRIMARY]] if k >= 0 else np.zeros(2, np.int64)
        names = [self.world.body_name(int(i)) if i < len(self.world.bodies) else "background" for i in pair]
        gap = float(rows.values[k, row.GAP]) if k >= 0 else math.nan
        return UnresolvedContact(reason, time=self.time, bodies=(names[0], names[1]), gap=gap)

    # --- what others see -------------------------------------------------------------------------

    def energy(self) -> float:
        """Kinetic, and potential of gravity, attraction and springs [J]."""
        free = np.isfinite(self.forces.mass[:, 0])
        kinetic = 0.5 * (self.forces.mass[free] * self.twist[free] ** 2).sum()
        state = np.concatenate([self.pose.ravel(), self.twist.ravel()])
        return float(kinetic + potential_energy(self.forces, self.time, state, len(self.pose)))

    def contact_forces(self) -> ContactForces:
        """As they are now; it draws no random numbers that a later step would miss."""
        seed, connector, rate = self.seed.copy(), self.outlines.connector.copy(), np.empty_like(self.pose)
        self.bodies().has_old[0] = 0
        self.with_space(
            lambda: evaluate(
                self.outlines, self.rules, self.stages, self.settings.contact_forces, self.rows.ids, self.rows.values,
                self.seed, self.work, rate,
            )
        )  # fmt: skip
        self.seed[:], self.outlines.connector[:] = seed, connector
        ids, values = self.rows.ids[: self.rows.count], self.rows.values[: self.rows.count]
        return ContactForces(
            pair=ids[:, [row.NORMAL, row.PRIMARY]],
            point=values[:, [row.AX, row.AY]],
            normal=values[:, [row.NX, row.NY]],
            gap=values[:, row.GAP].copy(),
            force=values[:, row.AMOUNT].copy(),
            friction=np.zeros(len(ids)),
        )

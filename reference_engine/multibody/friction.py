"""Coulomb's friction where bodies roll: what it does to those that slide, when they stick, and for how long.

A contact that slides holds its first row alone, with the multiplier N, and is pushed by -mu N u/|u|. In the terms of
dynamics.py, with P that push for N = 1 and E the first row,

    z = S^T lambda + P^T N,   S z = b     so that     (1 + E (S^T)^+ P^T) N = E (S^T)^+ S^+ b.

Where the matrix on the left is not positive no force may exist, or more than one (Painleve 1895): an error. A contact
that does not slip holds all its rows, F = N n + T, and sticks while |T| <= mu N.

Then the slip would begin with a direction that nothing but friction itself decides, ever faster the smaller the slip:
that is not integrated, and is an error that says when.

As a slip u comes to its end its direction may turn faster and faster: steps go nine tenths of the way to where |u|
heads for 0, again and again, and the last of it, 1e-12 of the speeds, is gone on straight.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reference_engine.array_types import Array, Flags
from reference_engine.dense import determinant, mul, norm, solve
from reference_engine.errors import JointError

if TYPE_CHECKING:
    from reference_engine.multibody.dynamics import Constraints, System


STILL = 1e-12  # of the speeds: a slip that counts as none
SHARE = 0.9  # of the way to the end of a slip that a step may go
PARALLEL = 1e-9  # 1 - mu tan(...): where the matrix of N counts as singular


@dataclass(frozen=True, slots=True)
class Rub:
    """One contact that slides."""

    row: int  # the first of its four
    at: int  # where that is among the active ones
    force: Array  # (3,) of friction on the link for N = 1
    scaled_force: Array  # (F * twist,) the same as a part of z


def slip(system: System, constraints: Constraints, v: Array, contact: int) -> Array:
    """(3,) m/s, of a rolling contact along its plane."""
    first = system.rows.dots + 4 * contact
    u, n = system.rates(constraints, v)[first + 1 : first + 4], constraints.placed.rolling[contact][1]
    along: Array = u - (mul(u, n)) * n
    return along


def sliding(system: System, constraints: Constraints, v: Array, gamma: Array) -> list[Rub]:
    """The contacts with friction whose first row alone is held. gamma (N,): g'' of all rows without joints."""
    found = []
    for i, contact in enumerate(system.rows.rolling):
        first = system.rows.dots + 4 * i
        if not contact.friction or constraints.active[first + 1]:
            continue
        rows = np.zeros(system.rows.count, bool)
        rows[first + 1 : first + 4] = True
        u = slip(system, constraints, v, i)
        speed = float(norm(u))
        if speed > STILL * system.speed:
            way = u / speed
        else:  # where it is about to go: against the force that would hold it
            way = -contact_force(system, constraints, gamma, constraints.active | rows, i)[1]
            way /= max(float(norm(way)), 1e-300)
        force = -contact.friction * way
        scaled_force = mul(force, system.scaled(constraints.jacobian, constraints.rotation, rows))
        found.append(Rub(first, int(np.count_nonzero(constraints.active[:first])), force, scaled_force))
    return found


def with_friction(constraints: Constraints, rubs: list[Rub], z: Array) -> tuple[Array, Array]:
    """z of the rows, and of rows and friction, from the z (F * twist,) that rows would have without friction.

    Raises JointError where no force exists, or more than one.
    """
    at, P = [rub.at for rub in rubs], np.array([rub.scaled_force for rub in rubs])
    matrix = np.eye(len(rubs)) + np.array([constraints.multipliers(scaled_force)[at] for scaled_force in P]).T
    if determinant(matrix) < PARALLEL:
        raise JointError("a rolling contact slides where its friction has no force, or more than one (Painleve)")
    scaled_force = mul(solve(matrix, constraints.multipliers(z)[at]), P)
    of_rows = z - mul(constraints.Vt.T, mul(constraints.Vt, scaled_force))
    return of_rows, of_rows + scaled_force


def contact_force(
    system: System, constraints: Constraints, gamma: Array, active: Flags, contact: int
) -> tuple[float, Array]:
    """N, and T (3,), of a contact whose rows are all among these."""
    from_pose = system.factor(constraints, active)
    rows = np.zeros(system.rows.count)
    rows[active] = from_pose.multipliers(from_pose.least(-gamma[active]))
    first, n = system.rows.dots + 4 * contact, constraints.placed.rolling[contact][1]
    force = rows[first] * n + rows[first + 1 : first + 4]
    N = float(mul(force, n))
    return N, force - N * n


class Contacts:
    """The rolling contacts with friction of a system: which of their rows hold."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.number = [i for i, contact in enumerate(system.rows.rolling) if contact.friction is not None]

    def first(self, contact: int) -> int:
        return self.system.rows.dots + 4 * contact

    def joint(self, contact: int) -> int:
        return int(self.system.rows.joint[self.first(contact)])

    def settled(self, time: float, y: Array, active: Flags) -> Flags:
        """The rows that hold from now on: contacts that do not slip stick where they can."""
        system, found = self.system, active.copy()
        q, v = system.split(y)
        constraints = system.constraints_at(q, active, time)
        for i in self.number:
            still = float(norm(slip(system, constraints, v, i))) <= 10.0 * STILL * system.speed
            first = self.first(i)
            found[first + 1 : first + 4] = still and bool(system.rows.rolling[i].friction)
        while True:
            margins = self._sticking_margins(time, y, found)
            loose = [i for i, margin in margins.items() if margin < 0.0]
            if not loose:
                return found
            for i in loose:
                found[self.first(i) + 1 : self.first(i) + 4] = False

    def forces(self, time: float, y: Array, active: Flags) -> dict[int, tuple[float, Array]]:
        """N and friction (3,) on the link, of every contact."""
        system = self.system
        _, constraints, z = system.accelerations(time, y, active)
        rows = np.zeros(system.rows.count)
        rows[active] = constraints.multipliers(z)
        rubs = {
            rub.row: rub.force
            for rub in sliding(system, constraints, system.split(y)[1], system.free_rates(time, y, constraints))
        }
        found = {}
        for i in self.number:
            first, n = self.first(i), constraints.placed.rolling[i][1]
            force = rows[first] * n + rows[first + 1 : first + 4]
            N = float(mul(force, n))
            found[i] = N, N * rubs[first] if first in rubs else force - N * n
        return found

    def _sticking_margins(self, time: float, y: Array, active: Flags) -> dict[int, float]:
        """mu N - |T| of those that stick. [N]"""
        return {
            i: (self.system.rows.rolling[i].friction or 0.0) * N - float(norm(T))
            for i, (N, T) in self.forces(time, y, active).items()
            if active[self.first(i) + 1]
        }

    def margins(self, time: float, y: Array, active: Flags) -> Array:
        """(C,) mu N - |T| of those that stick; of others infinity."""
        margins = self._sticking_margins(time, y, active)
        return np.array([margins.get(i, math.inf) for i in self.number])

    def way_left(self, time: float, y: Array, active: Flags) -> float:
        """s, until the slip that ends soonest would be 0 if it went on as now; infinity if none does."""
        system = self.system
        _, v = system.split(y)
        a, constraints, _ = system.accelerations(time, y, active)
        gamma = system.rows.bias(constraints.placed, constraints.rotation, *system.poses.moving(v))
        rate_of = np.einsum("fni,fi->n", constraints.jacobian[:-1][:, :, system.poses.columns], a) + gamma
        left, least = math.inf, STILL * system.speed
        for i in self.number:
            u, first, n = slip(system, constraints, v, i), self.first(i), constraints.placed.rolling[i][1]
            speed = float(norm(u))
            if active[first + 1] or speed <= 1e-3 * least or not system.rows.rolling[i].friction:
                continue
            rate = rate_of[first + 1 : first + 4]
            slows = -float(mul(rate - (mul(rate, n)) * n, u)) / speed
            if slows > 0.0:
                left = min(left, speed / slows if speed > least else -speed / slows)
        return left

    def check(self, time: float, y: Array, active: Flags) -> None:
        """Raises JointError where a contact would have to pull."""
        for i, (N, _) in self.forces(time, y, active).items():
            if N < 0.0:
                raise JointError(
                    f"t = {time:.9g} s: joints[{self.joint(i)}] would have to pull; the contact parts there"
                )

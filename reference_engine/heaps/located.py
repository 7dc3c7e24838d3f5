"""Impacts at their own time: a step that strikes what it did not touch ends just before, and the rest of it follows.

So a motion through impacts converges as between them, and an impact has the speeds of its time. The time is sought
by steps of other lengths, each a whole step of the method: those too long strike, those short enough tell gap and
approach. Meant for few bodies: every impact costs some ten steps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from reference_engine.array_types import Array, Indices
from reference_engine.dense import mul
from reference_engine.heaps import layout as col
from reference_engine.heaps.gaps import NEAR

if TYPE_CHECKING:
    from reference_engine.heaps.stepper import Stepper


# In gap tolerances. Below 1.5 the end of a step lets nothing approach, so an impact that bounces has to be taken above.
AIM, NEAREST, FURTHEST = 4.0, 3.2, 5.0
IMPACT_GAP = 6.0  # what an impact is of
APART = 8.0  # what a step may strike
MOST_IMPACTS = 32  # of one step, until the rest of it is taken as a whole
MOST_TRIALS = 80
LEAST = 1e-12  # of the step


@dataclass(frozen=True, eq=False)
class Moment:
    """A stepper's state, to go back to."""

    time: float
    position: Array
    orientation: Array
    table: Array
    twist: Array
    momentum: Array
    warm_start: Array
    rebuilds: int


def advance_located(stepper: Stepper, h: float) -> None:
    """On by h, from impact to impact. Raises UnresolvedStepError."""
    left = h
    for _ in range(MOST_IMPACTS):
        before = moment_of(stepper)
        apart = keys(stepper)[gaps(stepper) > APART * stepper.gap_tolerance]
        stepper._advance(left)
        if not collides(stepper, apart):
            return
        passed = approach_impact(stepper, before, apart, left)
        if passed == 0.0:
            break
        impact(stepper)
        stepper.report.impacts += 1
        left -= passed
        if left <= LEAST * h:
            return
    stepper.report.unlocated += 1
    stepper._advance(left)


def approach_impact(stepper: Stepper, before: Moment, apart: Indices, left: float) -> float:
    """Up to just before the first impact of the time that is left, which strikes: how long that takes, or 0, s.

    Newton's method on the gap from the times that do not strike, with the acceleration seen so far, inside a bracket.
    """
    barrier = stepper.gap_tolerance
    low, high = 0.0, left
    restore(stepper, before)
    first = towards(stepper, apart)
    guess = low + until(*first, np.zeros(len(apart)), AIM * barrier)
    for _ in range(MOST_TRIALS):
        if not low < guess < high:
            guess = 0.5 * (low + high)
        if high - low <= LEAST * left:
            break
        restore(stepper, before)
        stepper._advance(guess)
        if collides(stepper, apart):
            high, guess = guess, np.nan
            continue
        stepper._run(col.QUERY, stepper.dt)
        gap, speed = towards(stepper, apart)
        low = guess
        if NEAREST * barrier <= gap.min() <= FURTHEST * barrier:
            return low
        guess = low + until(gap, speed, (speed - first[1]) / low, AIM * barrier)
    restore(stepper, before)
    if low > 0.0:
        stepper._advance(low)
    return low


def until(gap: Array, speed: Array, change: Array, aim: float) -> float:
    """s, until the first of gaps is down at its aim; NaN where none gets there. change: of the speeds, m/s^2."""
    over = np.maximum(gap - aim, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        root = np.sqrt(speed * speed - 2.0 * change * over)
        time = 2.0 * over / (root - speed)  # the smaller root; what parts and is not pulled back has none
    time = time[np.isfinite(time) & (time >= 0.0)]
    return float(time.min()) if len(time) else np.nan


def impact(stepper: Stepper) -> None:
    """Speeds after the impacts of all that touches, by the contact law, with restitution: a step without time."""
    stepper._run(col.QUERY, stepper.dt)
    now, flow, rules = stepper._now, stepper._flow, stepper._rules_of(stepper.dt)
    flow.free[:], flow.start[:], flow.middle[:] = stepper.bodies.twist, stepper.bodies.twist, now.orientation
    stepper._progress.count[col.BOUNCING] = 1
    still = replace(rules, middle=0, kick=rules.h, barrier=IMPACT_GAP / NEAR * stepper.gap_tolerance)
    stepper._run(col.BEGIN, stepper.dt, 1, still)


# --- what a stepper is asked for --------------------------------------------------------------------------------------


def moment_of(stepper: Stepper) -> Moment:
    stepper._run(col.QUERY, stepper.dt)
    now = stepper._now
    return Moment(
        stepper.time, now.position.copy(), now.orientation.copy(), now.table.copy(), stepper.bodies.twist.copy(),
        stepper._flow.momentum.copy(), stepper.broad_phase.warm_start.copy(), stepper.broad_phase.rebuilds,
    )  # fmt: skip


def restore(stepper: Stepper, moment: Moment) -> None:
    broad_phase = stepper.broad_phase
    stepper.time = moment.time
    for name in ("_now", "_ahead"):
        arrays = moment.position.copy(), moment.orientation.copy(), moment.table.copy()
        setattr(stepper, name, broad_phase.poses(*arrays))
    stepper.forget()
    stepper.bodies.twist[:], stepper._flow.momentum[:] = moment.twist, moment.momentum
    if broad_phase.rebuilds == moment.rebuilds:
        broad_phase.warm_start[:] = moment.warm_start
    stepper._run(col.QUERY, stepper.dt)


def keys(stepper: Stepper) -> Indices:
    """(N,) numbers of the candidates that stay when pairs are listed anew: a pair's, or below 0 a container's."""
    broad_phase = stepper.broad_phase
    pairs = mul(broad_phase.pairs, (len(stepper.position) + 1, 1))
    return np.concatenate([pairs, -1 - np.arange(len(broad_phase.body) - len(pairs))])


def gaps(stepper: Stepper) -> Array:
    return stepper._now.found[:, 0]


def collides(stepper: Stepper, apart: Indices) -> bool:
    """Whether the last step pressed on what was apart."""
    pressed = stepper.broad_phase.warm_start.any(axis=(0, 2))
    return bool(np.isin(keys(stepper)[pressed], apart).any())


def towards(stepper: Stepper, apart: Indices) -> tuple[Array, Array]:
    """Gaps of the candidates that were apart, and the speeds at which they part, in the order of `apart`.

    A pair that is not listed any more is far.
    """
    own = keys(stepper)
    order = np.argsort(own)
    at = order[np.minimum(np.searchsorted(own[order], apart), len(own) - 1)]
    is_candidate = (own[at] == apart) & (stepper._now.sharp[at] == 1)
    gap, speed = np.full(len(apart), np.inf), np.zeros(len(apart))
    gap[is_candidate], speed[is_candidate] = gaps(stepper)[at[is_candidate]], parting_speeds(stepper, at[is_candidate])
    return gap, speed


def parting_speeds(stepper: Stepper, rows: Indices) -> Array:
    """(K,) m/s along the normals of candidates; 0 for rows of a hollow sphere that stand for no point."""
    found, body, count = stepper._now.found[rows], stepper.broad_phase.body[rows], len(stepper.position)
    found = np.where(np.isfinite(found[:, :1]), found, 0.0)
    centre = np.concatenate([stepper.position, np.zeros((1, 3))])
    velocity = []
    for i, point in zip(body.T, (found[:, 4:7], found[:, 7:10])):
        twist, arm = stepper.bodies.twist[i], np.where(i[:, None] < count, point - centre[i], 0.0)
        velocity.append(twist[:, :3] + np.cross(twist[:, 3:], arm))
    speed: Array = ((velocity[1] - velocity[0]) * found[:, 1:4]).sum(axis=1)
    return speed

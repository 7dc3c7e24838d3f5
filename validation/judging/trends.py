"""How a metric went over runs, in words: steps with the first commit of the new level, drift, what has accumulated.

    step_time: 13.1 µs over 240 runs
      worse by 5.1 % (2.6 times what is allowed, 6.2 standard deviations) at a1b2c3d4 (run 212): 12.5 µs before, ...

Pure. A case's own runs are looked at: those with other settings or of other branches are other histories.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from reference_engine import elementary
from validation.judging.evidence.change_points import Course, Floor, Shift, course
from validation.judging.verdict import FLOOR, Move, Verdict
from validation.records.measurement import Better, Measurement
from validation.records.quantities import contrast, quantity
from validation.records.stored import Point

COMMIT_DIGITS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A shift between levels, told with runs and commits."""

    kind: Literal["step", "drift", "accumulated"]
    move: Move
    shift: Shift  # indices are those of the trend's points
    summary: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """Of one metric of one identity."""

    metric: str
    unit: str
    points: tuple[Point, ...]  # those looked at, oldest first
    course: Course | None  # None: there is no value yet
    turns: tuple[Turn, ...]  # in order of time; what has accumulated last, where no turn since the acceptance tells it
    since: int = 0  # index of the first point since the acceptance

    @property
    def fresh(self) -> tuple[Turn, ...]:
        """Those since the acceptance."""
        return tuple(turn for turn in self.turns if turn.shift.end >= self.since)


def trend(
    history: Sequence[Point],
    now: Measurement,
    *,
    engine_label: str,
    branches: Collection[str],
    machine: str,
    accepted_run: int = 0,
) -> Trend:
    """Of the points of this engine label on these branches that have a value; times only of this machine.

    `now` is the metric as measured last: it says which way is better and what it can resolve, which is the floor.
    """
    points = tuple(
        point
        for point in history
        if point.engine_label == engine_label
        and point.branch in branches
        and math.isfinite(point.value)
        and (now.noise != "timing" or point.machine == machine)
    )
    if not points:
        return Trend(metric=now.metric, unit=now.unit, points=(), course=None, turns=())
    resolution = now.resolution if now.resolution and math.isfinite(now.resolution) else 0.0
    since = next((i for i, point in enumerate(points) if point.run >= accepted_run), len(points))
    found = course([point.value for point in points], Floor(absolute=max(FLOOR, resolution)), since=since)
    turns = [_turn(shift, points, now) for shift in found.shifts]
    if found.accumulated and not any(shift.end >= since for shift in found.shifts):
        turns.append(_accumulated(found.accumulated, points[since:], now, since))
    return Trend(metric=now.metric, unit=now.unit, points=points, course=found, turns=tuple(turns), since=since)


def move_of(shift: Shift, better: Better) -> Move:
    """An error may carry a sign: what should be low is better the nearer it is to 0."""
    if better == "neither":
        return "different"
    if better == "higher":
        return "improved" if shift.size > 0.0 else "regressed"
    grew = abs(shift.after) - abs(shift.before)
    return "different" if grew == 0.0 else "regressed" if grew > 0.0 else "improved"


def _turn(shift: Shift, points: Sequence[Point], now: Measurement) -> Turn:
    new, old = contrast(shift.after, shift.before, now.unit)
    if shift.slow:
        when = f"slowly from {_commit(points[shift.start])} to {_commit(points[shift.end])}"
    else:
        when = f"at {_commit(points[shift.start])}"
        new_version, old_version = points[shift.start].engine_version, points[shift.start - 1].engine_version
        when += f", {new_version} after {old_version}" if new_version != old_version else ""
    move = move_of(shift, now.better)
    described = f"{_how(shift, move)} {when}: {old} before, {new} since"
    return Turn(kind="drift" if shift.slow else "step", move=move, shift=shift, summary=described)


def _accumulated(shift: Shift, points: Sequence[Point], now: Measurement, since: int) -> Turn:
    new, old = contrast(shift.after, shift.before, now.unit)
    move = move_of(shift, now.better)
    described = f"{_how(shift, move)} little by little since {_commit(points[0])}: {old} then, {new} now"
    moved = replace(shift, start=shift.start + since, end=shift.end + since)
    return Turn(kind="accumulated", move=move, shift=moved, summary=described)


def _how(shift: Shift, move: Move) -> str:
    """worse by 5.1 % (2.5 times what is allowed, 6.2 standard deviations)"""
    word = {"regressed": "worse", "improved": "better", "different": "different"}[move]
    share = abs(shift.size / shift.before) if shift.before else math.inf
    by = f" by {100 * share:.2g} %" if share < 1.0 else ""
    sure = "constant before" if math.isinf(shift.evidence) else f"{shift.evidence:.2g} standard deviations"
    return f"{word}{by} ({shift.tolerances:.2g} times what is allowed, {sure})"


def _commit(point: Point) -> str:
    return f"{point.commit[:COMMIT_DIGITS]} (run {point.run})" if point.commit else f"run {point.run}"


def confirmed(turn: Turn, again: float, unit: str) -> Turn | None:
    """The turn with what a second measurement gave, where that is nearer to the new level than to the old one, by the
    ratio; else None: then it is not called. For what is above 0, such as times."""
    old, new = turn.shift.before, turn.shift.after
    if not (again > 0.0 and abs(elementary.log(again / new)) < abs(elementary.log(again / old))):
        return None
    return replace(turn, summary=f"{turn.summary}; a rerun has {quantity(again, unit)}")


def timing_line(turn: Turn, verdict: Verdict) -> str:
    """The turn of the time of a step, beside what became of the motion: speed may have been bought with accuracy."""
    if turn.move == "improved" and verdict.word in ("regressed", "defect"):
        return f"{turn.summary}; bought with accuracy: {verdict.reason}"
    return turn.summary

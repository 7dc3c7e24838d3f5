"""How a metric went over runs: steps with the first commit of the new level, drift, what has accumulated.

Pure. A case's own runs are looked at: those with other settings or of other branches are other histories.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from reference_engine import elementary
from validation.judging.evidence.change_points import Course, Floor, Shift, course
from validation.judging.verdict import FLOOR, Move
from validation.records.measurement import Better, Measurement
from validation.records.stored import Point

Kind = Literal["step", "drift", "accumulated"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A shift between levels, with its runs."""

    kind: Kind
    move: Move
    shift: Shift  # indices are those of the trend's points
    unit: str
    before: Point  # the last of the old level
    first: Point  # of the new level; of what has accumulated, the first since the acceptance
    last: Point  # where a drift has arrived
    again: float | None = None  # what a second measurement gave, where that confirms it


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """Of one metric of one identity."""

    metric: str
    unit: str
    points: tuple[Point, ...]  # those looked at, oldest first
    course: Course | None  # None: there is no value yet
    turns: tuple[Turn, ...]  # in order of time; what has accumulated last, where no turn since the acceptance has it
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
    turns = [_turn("drift" if shift.slow else "step", shift, points, now) for shift in found.shifts]
    if found.accumulated and not any(shift.end >= since for shift in found.shifts):
        start, end = (found.accumulated.start + since, found.accumulated.end + since)
        moved = replace(found.accumulated, start=start, end=end)
        turns.append(replace(_turn("accumulated", moved, points, now), first=points[since]))
    return Trend(metric=now.metric, unit=now.unit, points=points, course=found, turns=tuple(turns), since=since)


def move_of(shift: Shift, better: Better) -> Move:
    """An error may carry a sign: what should be low is better the nearer it is to 0."""
    if better == "neither":
        return "different"
    if better == "higher":
        return "improved" if shift.size > 0.0 else "regressed"
    grew = abs(shift.after) - abs(shift.before)
    return "different" if grew == 0.0 else "regressed" if grew > 0.0 else "improved"


def _turn(kind: Kind, shift: Shift, points: Sequence[Point], now: Measurement) -> Turn:
    return Turn(
        kind=kind,
        move=move_of(shift, now.better),
        shift=shift,
        unit=now.unit,
        before=points[max(0, shift.start - 1)],
        first=points[shift.start],
        last=points[shift.end],
    )


def confirmed(turn: Turn, again: float) -> Turn | None:
    """The turn with what a second measurement gave, where that is nearer to the new level than to the old one, by the
    ratio; else None: then it is not called. For what is above 0, such as times."""
    old, new = turn.shift.before, turn.shift.after
    if not (again > 0.0 and abs(elementary.log(again / new)) < abs(elementary.log(again / old))):
        return None
    return replace(turn, again=again)

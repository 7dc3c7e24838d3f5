"""Runs ensembles: a case from perturbed starts, measured up to each horizon for which the starts agree."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from scenarios.scene import write_scene
from validation.judging.ensembles import Ensemble, Series
from validation.judging.policy import HORIZONS, LEAST_STARTS, STARTS
from validation.judging.verdict import FLOOR
from validation.records.case import CaseResult
from validation.records.measurement import Measurement
from validation.running.processes.pool import Pool
from validation.running.runner import Limits, Plan, execute, measure_motions
from validation.running.starts import floors, horizon, perturbed, until

LEFT_OUT = ("truth_error_goal",)
"""Metrics that mean the end of the motion: not measured on a part of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Starts:
    count: int = STARTS
    seed: int = 1

    def __post_init__(self) -> None:
        if not LEAST_STARTS <= self.count <= 1000:
            raise ValueError(f"count: {self.count} starts are not allowed; allowed: {LEAST_STARTS} to 1000")


def run_ensembles(
    pool: Pool,
    plans: Sequence[tuple[Plan, Starts]],
    limits: Limits,
    on_done: Callable[[Plan, Ensemble], None],
) -> None:
    """Every plan from all its starts, one plan after the other; `on_done` gets each as it is done."""
    for plan, starts in plans:
        on_done(plan, _ensemble(pool, plan, starts, replace(limits, timing=False)))


def _ensemble(pool: Pool, plan: Plan, starts: Starts, limits: Limits) -> Ensemble:
    results: dict[int, CaseResult] = {}
    made = []
    for number in range(starts.count):
        text = write_scene(perturbed(plan.scenario.scene, starts.seed, number), indent=None)
        made.append(replace(plan, case=replace(plan.case), scene_text=text))
    place = {id(one.case): number for number, one in enumerate(made)}
    execute(pool, made, limits, lambda result: results.update({place[id(result.case)]: result}))
    completed = [
        (motion, results[number].measurements)
        for number in sorted(results)
        for motion in [results[number].simulation.trajectory]
        if motion is not None and results[number].measurements
    ]
    known = 0.0
    series: list[Series] = []
    if len(completed) >= LEAST_STARTS:
        motions = [motion for motion, _ in completed]
        known = horizon(plan.scenario.scene, motions)
        for share in (share for share in HORIZONS if share <= known):
            whole = [measurements for _, measurements in completed]
            end = share * plan.scenario.scene.duration
            parts = whole if share == 1.0 else measure_motions(pool, [(plan, until(m, end)) for m in motions], limits)
            series += _series(share, parts, floors(plan.scenario.scene))
    return Ensemble(
        starts=starts.count, seed=starts.seed, completed=len(completed), horizon=known, series=tuple(series)
    )


def _series(share: float, starts: Sequence[Sequence[Measurement]], by_unit: Mapping[str, float]) -> list[Series]:
    """Of the metrics that every start has; none where one of them could not be measured."""
    first, *others = [{m.metric: m for m in measurements} for measurements in starts]
    return [
        Series(
            until=share,
            metric=metric,
            unit=m.unit,
            better=m.better,
            noise=m.noise,
            floor=by_unit.get(m.unit, FLOOR),
            values=tuple(one[metric].value for one in (first, *others)),
        )
        for metric, m in first.items()
        if all(metric in other for other in others) and m.noise != "timing"
        if share == 1.0 or metric not in LEFT_OUT
    ]

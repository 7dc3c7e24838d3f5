"""Runs ensembles: cases from perturbed initial states, measured up to each horizon for which the starts agree."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from scenarios.scene import write_scene
from validation.judging.comparison import ROUGH
from validation.judging.ensembles import Ensemble, EnsembleEvidence, Series, compare, settled
from validation.judging.outcomes import counts_of
from validation.judging.policy import HORIZONS, LEAST_STARTS, STARTS
from validation.judging.verdict import FLOOR
from validation.records.case import Result
from validation.records.measurement import Measurement
from validation.running.options import OpenRun, Progress
from validation.running.planning import Plan
from validation.running.processes.executor import Executor
from validation.running.runner import Limits, measure_motions, name_of, results_of
from validation.running.starts import floors, horizon, perturbed, recorded_starts, until

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
    pool: Executor, plans: Sequence[tuple[Plan, Starts]], limits: Limits, progress: Progress | None = None
) -> Iterator[Ensemble]:
    """Every plan from all its starts, one plan after the other."""
    with (progress or Progress()).bar("perturbed initial states", len(plans)) as bar:
        for plan, starts in plans:
            yield _ensemble(pool, plan, starts, replace(limits, timing=False))
            bar.advance(name_of(plan.case))


def _ensemble(pool: Executor, plan: Plan, starts: Starts, limits: Limits) -> Ensemble:
    made = []
    for number in range(starts.count):
        text = write_scene(perturbed(plan.scenario.scene, starts.seed, number), indent=None)
        made.append(replace(plan, case=replace(plan.case), scene_text=text))
    completed = [
        (result.trajectory, result.measurements, result.outcomes or ())
        for result in results_of(pool, made, limits)
        if result.trajectory is not None and result.measurements
    ]
    known = 0.0
    series: list[Series] = []
    if len(completed) >= LEAST_STARTS:
        motions = [motion for motion, _, _ in completed]
        recorded = recorded_starts(plan.scenario.scene)  # which need not agree
        known = 1.0 if recorded else horizon(plan.scenario.scene, motions)
        for share in (share for share in HORIZONS if share <= known):
            whole = [measurements for _, measurements, _ in completed]
            end = share * plan.scenario.scene.duration
            parts = whole if share == 1.0 else measure_motions(pool, [(plan, until(m, end)) for m in motions], limits)
            series += _series(share, parts, floors(plan.scenario.scene))
    return Ensemble(
        starts=starts.count,
        seed=starts.seed,
        completed=len(completed),
        horizon=known,
        series=tuple(series),
        happened=counts_of(outcomes for _, _, outcomes in completed),
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


def ensembles_of(
    run: OpenRun, plans: Sequence[Plan], results: Sequence[Result]
) -> tuple[dict[str, Ensemble], dict[str, EnsembleEvidence]]:
    """By case key: the ensembles of this run, which are stored now, and what they say against the accepted ones.

    A case that moves as the accepted one did, bit for bit, is not run again: the store knows its ensemble.
    """
    store, options = run.store, run.options
    if not options.ensemble and not options.ensemble_as_accepted:
        return {}, {}
    baselines = run.baselines
    before: dict[str, Ensemble] = {}
    wanted: list[tuple[Plan, Starts]] = []
    found: dict[str, Ensemble] = {}
    for plan, result in zip(plans, results):
        can_differ = any(not body.fixed for body in plan.scenario.scene.bodies)
        if not result.trajectory_hash or not can_differ or not any(m.noise in ROUGH for m in result.measurements):
            continue
        baseline = baselines.get(plan.case.identity.key)
        same = baseline is not None and baseline.result.trajectory_hash == result.trajectory_hash
        if same and not options.ensemble:
            continue
        known = store.ensemble(baseline.result.number) if baseline else None
        if same and known:
            continue
        if known:
            before[plan.case.key] = known
        own = store.ensemble(result.number) if result.number else None  # of a run that is resumed
        if own:
            found[plan.case.key] = own
        elif options.ensemble:
            wanted.append((plan, Starts(count=options.ensemble)))
        elif known:
            wanted.append((plan, Starts(count=known.starts, seed=known.seed)))
    if wanted:
        for (plan, _), ensemble in zip(wanted, run_ensembles(run.pool, wanted, options.limits, options.progress)):
            found[plan.case.key] = ensemble
            store.save_ensembles(run.number, {plan.case.key: ensemble})
    return found, settled({key: compare(before[key], ensemble) for key, ensemble in found.items() if key in before})

"""Which cases of a session are run with smaller time steps too, and the order of convergence that follows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from validation.judging.convergence import ERRORS, ORDER, REFINED, convergence_order
from validation.records.case import Result, case_key
from validation.records.measurement import Measurement
from validation.running.options import Options
from validation.running.processes.pool import Pool
from validation.running.runner import Plan, Request, plan_cases, results_of
from validation.store import Baseline, Store


def with_orders(
    store: Store,
    pool: Pool,
    run: int,
    plans: Sequence[Plan],
    results: Sequence[Result],
    baselines: Mapping[str, Baseline],
    options: Options,
) -> list[Result]:
    """The results, those with an order of convergence also with that; it is stored with them.

    Of the cases that have an error, all with `options.order`, else those that were accepted with an order. What moves
    as the accepted one did, bit for bit, has its order.
    """
    if not options.order and not options.ensemble_as_accepted:
        return list(results)
    found: dict[str, Measurement] = {}
    wanted: list[Plan] = []
    for plan, result in zip(plans, results):
        moved, baseline = result.trajectory_hash, baselines.get(plan.case.identity.key)
        metrics = {m.metric for m in result.measurements}
        if not moved or ORDER in metrics or not metrics & set(ERRORS):
            continue
        known = [m for m in baseline.result.measurements if m.metric == ORDER] if baseline else []
        if known and baseline and baseline.result.trajectory_hash == moved:
            found[case_key(plan.case)] = known[0]
        elif known or options.order:
            wanted.append(plan)
    if wanted:
        found |= _orders(pool, wanted, {case_key(r.case): r for r in results}, options)
    store.add_measurements(run, {key: [order] for key, order in found.items()})
    return [
        replace(result, measurements=(*result.measurements, found[key])) if key in found else result
        for result in results
        for key in [case_key(result.case)]
    ]


def _orders(pool: Pool, plans: Sequence[Plan], whole: Mapping[str, Result], options: Options) -> dict[str, Measurement]:
    """By case key; none where a smaller step does not complete, or the error says nothing."""
    asked = [Request.again(plan.scenario, plan.case) for plan in plans]
    requests = [replace(request, dt=request.dt * part) for request in asked for part in REFINED[1:]]
    untimed = replace(options.limits, timing=False)
    finer = iter(results_of(pool, plan_cases(pool, requests), untimed, options.progress, "smaller time steps"))
    orders = {}
    for plan in plans:
        key = case_key(plan.case)
        order = convergence_order([whole[key].measurements, *(next(finer).measurements for _ in REFINED[1:])])
        if order is not None:
            orders[key] = order
    return orders

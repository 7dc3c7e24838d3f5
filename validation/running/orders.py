"""Which cases of a session are run with smaller time steps too, and the order of convergence that follows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from validation.judging.convergence import ERRORS, ORDER, REFINED, convergence_order
from validation.records.case import Result
from validation.records.measurement import Measurement
from validation.running.options import OpenRun
from validation.running.planning import Plan, Request, plan_cases
from validation.running.runner import results_of


def with_orders(run: OpenRun, plans: Sequence[Plan], results: Sequence[Result]) -> list[Result]:
    """The results, those with an order of convergence also with that; it is stored with them.

    Of the cases that have an error, all with `options.order`, else those that were accepted with an order. What moves
    as the accepted one did, bit for bit, has its order.
    """
    if not run.options.order and not run.options.ensemble_as_accepted:
        return list(results)
    baselines = run.baselines
    found: dict[str, Measurement] = {}
    wanted: list[Plan] = []
    for plan, result in zip(plans, results):
        moved, baseline = result.trajectory_hash, baselines.get(plan.case.identity.key)
        metrics = {m.metric for m in result.measurements}
        if not moved or ORDER in metrics or not metrics & set(ERRORS):
            continue
        known = [m for m in baseline.result.measurements if m.metric == ORDER] if baseline else []
        if known and baseline and baseline.result.trajectory_hash == moved:
            found[plan.case.key] = known[0]
        elif known or run.options.order:
            wanted.append(plan)
    if wanted:
        found |= _orders(run, wanted, {r.case.key: r for r in results})
    run.store.add_measurements(run.number, {key: [order] for key, order in found.items()})
    return [
        replace(result, measurements=(*result.measurements, found[key])) if key in found else result
        for result in results
        for key in [result.case.key]
    ]


def _orders(run: OpenRun, plans: Sequence[Plan], whole: Mapping[str, Result]) -> dict[str, Measurement]:
    """By case key; none where a smaller step does not complete, or the error says nothing."""
    asked = [Request.again(plan.scenario, plan.case) for plan in plans]
    requests = [replace(request, dt=request.dt * part) for request in asked for part in REFINED[1:]]
    untimed, plans_finer = replace(run.options.limits, timing=False), plan_cases(run.pool, requests)
    finer = iter(results_of(run.pool, plans_finer, untimed, run.options.progress, "smaller time steps"))
    orders = {}
    for plan in plans:
        key = plan.case.key
        order = convergence_order([whole[key].measurements, *(next(finer).measurements for _ in REFINED[1:])])
        if order is not None:
            orders[key] = order
    return orders

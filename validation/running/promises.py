"""What an engine's documents promise, tried on cases of a check that move otherwise than they were accepted."""

import math
from collections.abc import Sequence
from dataclasses import replace

from validation.judging.judge import bits_are_compared
from validation.judging.relations import EXCESS, Related
from validation.records.case import Result
from validation.records.measurement import Measurement
from validation.running.options import OpenRun
from validation.running.planning import Plan, engine_remotes
from validation.running.replay import Pair, relations_of
from validation.store import Baseline, Store


def with_promises(run: OpenRun, plans: Sequence[Plan], results: Sequence[Result]) -> list[Result]:
    """The results, those that were tried also with EXCESS, which is stored with them.

    Tried is the cheapest case of each family on each engine, and what was accepted with an excess. What moves as the
    accepted one did, bit for bit, has its excess.
    """
    if not run.options.ensemble_as_accepted:
        return list(results)
    baselines = run.baselines
    found: dict[str, Measurement] = {}
    asked: dict[tuple[str, ...], Pair] = {}
    for plan, result in sorted(zip(plans, results), key=lambda pair: pair[0].cost):
        baseline = baselines.get(plan.case.identity.key)
        if baseline is None or not (result.trajectory_hash and _promises(run, plan)):
            continue
        known = [m for m in baseline.result.measurements if m.metric == EXCESS]
        if known and result.trajectory_hash == baseline.result.trajectory_hash:
            found[result.key] = known[0]
        elif result.trajectory_hash != baseline.result.trajectory_hash:
            of = (result.key,) if known else (plan.case.identity.scenario, plan.word, plan.case.identity.profile)
            if of not in asked and (pair := _pair(run, plan, baseline, result)):
                asked[of] = pair
    pairs = list(asked.values())
    tried = relations_of(run.pool, pairs, run.options.limits, run.options.progress)
    found |= {pair[1][1].key: excess(made.related) for pair, made in zip(pairs, tried) if made.related}
    run.store.add_measurements(run.number, {key: [one] for key, one in found.items()})
    return [
        replace(result, measurements=(*result.measurements, found[result.key])) if result.key in found else result
        for result in results
    ]


def excess(related: Sequence[Related]) -> Measurement:
    """How far two ways of a step are apart, over what is allowed: of the relation of the second side that is worst."""
    sides = [one.sides[1] for one in related]
    shares = [side.size / side.limit if side.limit else math.inf if side.size else 0.0 for side in sides]
    return Measurement(metric=EXCESS, value=max(shares), unit="1", better="lower", noise="tolerance")


def _promises(run: OpenRun, plan: Plan) -> bool:
    hello = engine_remotes(run.pool, {plan.word})[plan.word].hello or {}
    of_a_step = any(one["change"] is None for one in hello.get("relations", ()))
    return of_a_step and "set_state" in hello.get("abilities", ())


def _pair(run: OpenRun, plan: Plan, baseline: Baseline, result: Result) -> Pair | None:
    """The present engine on both sides, from states of both motions; None where one is not there."""
    before, after = with_motions(run.store, baseline, result)
    if before is None or before.result.trajectory is None or after.trajectory is None:
        return None
    return (plan, plan), (before.result, after)


def with_motions(store: Store, baseline: Baseline | None, found: Result) -> tuple[Baseline | None, Result]:
    """Both with their motions, where these are stored, differ, and are of one scene whose bits are compared."""
    if baseline is None or not found.trajectory_hash or found.trajectory_hash == baseline.result.trajectory_hash:
        return baseline, found
    old = baseline.result
    if old.case.scene_hash != found.case.scene_hash or not bits_are_compared(old.case, found.case):
        return baseline, found
    before = store.trajectory(old.trajectory_key) if old.trajectory_key and old.trajectory_hash else None
    after = found.trajectory or (store.trajectory(found.trajectory_key) if found.trajectory_key else None)
    return replace(baseline, result=replace(old, trajectory=before)), replace(found, trajectory=after)

"""Which cases of a session are run from perturbed starts too, and what the two ensembles of a case say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from validation.cli.progress import progress
from validation.judging.comparison import ROUGH
from validation.judging.ensembles import Ensemble, EnsembleEvidence, compare, settled
from validation.records.case import CaseResult
from validation.running.ensembles import Starts, run_ensembles
from validation.running.processes.pool import Pool
from validation.running.runner import Plan
from validation.store import Store, StoredResult, case_key

if TYPE_CHECKING:
    from validation.cli.options import Options

Found = tuple[dict[str, Ensemble], dict[str, EnsembleEvidence]]


def ensembles_of(
    store: Store,
    pool: Pool,
    run: int,
    plans: Sequence[Plan],
    results: Sequence[CaseResult | StoredResult],
    options: Options,
) -> Found:
    """By case key: the ensembles of this run, which are stored now, and what they say against the accepted ones.

    A case that moves as the accepted one did, bit for bit, is not run again: the store knows its ensemble.
    """
    if not options.ensemble and not options.ensemble_as_accepted:
        return {}, {}
    baselines = store.baselines_of(run)
    before: dict[str, Ensemble] = {}
    wanted: list[tuple[Plan, Starts]] = []
    found: dict[str, Ensemble] = {}
    for plan, result in zip(plans, map(StoredResult.of, results)):
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
            before[case_key(plan.case)] = known
        own = store.ensemble(result.number) if result.number else None  # of a run that is resumed
        if own:
            found[case_key(plan.case)] = own
        elif options.ensemble:
            wanted.append((plan, Starts(count=options.ensemble)))
        elif known:
            wanted.append((plan, Starts(count=known.starts, seed=known.seed)))
    if wanted:
        with progress("perturbed starts", len(wanted), quiet=options.quiet) as bar:

            def on_done(plan: Plan, ensemble: Ensemble) -> None:
                found[case_key(plan.case)] = ensemble
                store.save_ensembles(run, {case_key(plan.case): ensemble})
                bar.advance(f"{plan.case.label} × {plan.case.engine_label}")

            run_ensembles(pool, wanted, options.limits, on_done)
    return found, settled({key: compare(before[key], ensemble) for key, ensemble in found.items() if key in before})

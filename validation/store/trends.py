"""A metric's trend, from what is stored."""

from __future__ import annotations

from validation.judging.trends import Trend, trend
from validation.records.case import Case
from validation.records.measurement import Measurement
from validation.records.stored import Baseline, StoredRun
from validation.review.lineage import main_branches
from validation.store.store import Store


def stored_trend(store: Store, run: StoredRun, case: Case, now: Measurement, baseline: Baseline | None) -> Trend:
    """Of a case's metric up to this run, on the run's branch and the main ones; `baseline` is the one in effect."""
    branches = {run.branch, *main_branches(run.info.default_branch)}
    history = store.history(
        case.identity.key, now.metric, engine_label=case.engine_label, branches=branches, up_to=run.number
    )
    return trend(
        history,
        now,
        engine_label=case.engine_label,
        branches=branches,
        machine=run.info.machine,
        accepted_run=baseline.run if baseline else 0,
    )

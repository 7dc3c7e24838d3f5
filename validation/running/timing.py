"""Which steps have become slower or faster since they were accepted, each measured twice before it is reported."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from validation.judging.trends import Turn, confirmed
from validation.judging.verdict import Verdict
from validation.records.case import Result, case_key
from validation.running.processes.pool import Pool
from validation.running.progress import Progress
from validation.running.runner import Limits, Plan, execute
from validation.store import Baseline, Store
from validation.store.trends import stored_trend


def changed_times(
    store: Store,
    run: int,
    results: Sequence[Result],
    verdicts: Sequence[Verdict],
    baselines: Mapping[str, Baseline],
) -> list[tuple[Verdict, Turn]]:
    """The latest turn since the acceptance of each case whose steps were timed."""
    stored = store.run(run)
    changed = []
    for result, verdict in zip(results, verdicts):
        for measured in (m for m in result.measurements if m.noise == "timing"):
            baseline = baselines.get(result.case.identity.key)
            turns = stored_trend(store, stored, result.case, measured, baseline).fresh
            changed += [(verdict, turn) for turn in turns[-1:]]
    return changed


def confirmed_times(
    found: Sequence[tuple[Verdict, Turn]], again: Callable[[Sequence[str]], Mapping[str, float]]
) -> tuple[list[tuple[Verdict, Turn]], list[tuple[Verdict, Turn, float]]]:
    """Those that another measurement confirms, and those that it does not, with what it gave (s; NaN for nothing).

    `again` measures the cases of these keys once more.
    """
    if not found:
        return [], []
    seconds = again([verdict.case_key for verdict, _ in found])
    described, dropped = [], []
    for verdict, turn in found:
        value = seconds.get(verdict.case_key, float("nan"))
        sure = confirmed(turn, value)
        if sure is None:
            dropped.append((verdict, turn, value))
        else:
            described.append((verdict, sure))
    return described, dropped


def timed_again(
    pool: Pool, plans: Sequence[Plan], limits: Limits, progress: Progress
) -> Callable[[Sequence[str]], dict[str, float]]:
    """Measures the time of a step (s) of plans, by the keys of their cases."""

    def again(keys: Sequence[str]) -> dict[str, float]:
        wanted = [plan for plan in plans if case_key(plan.case) in set(keys)]
        seconds: dict[str, float] = {}
        with progress.bar("timed again", len(wanted)) as bar:

            def on_result(result: Result) -> None:
                seconds.update({case_key(result.case): m.value for m in result.measurements if m.noise == "timing"})
                bar.advance(f"{result.case.label} × {result.case.engine_label}")

            execute(pool, wanted, limits, on_result)
        return seconds

    return again

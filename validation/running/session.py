"""One run: requests from words, kernels warm, cases run, stored and judged."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from scenarios import frames
from scenarios.catalogue import scenario_of
from scenarios.scenario import Scenario
from validation.engines import (
    OURS,
    EngineChoice,
    present_engines,
    unavailable_engines,
)
from validation.judging.ensembles import Ensemble, EnsembleEvidence
from validation.judging.judge import judge
from validation.judging.trends import Turn, confirmed
from validation.judging.verdict import Verdict
from validation.records.case import Case, Result
from validation.review.groups import waived
from validation.review.lineage import current_branch, default_branch, history_of
from validation.running import kernel_cache, runner
from validation.running.cluster.address import ExecutorError
from validation.running.ensembles import ensembles_of
from validation.running.environments import Environment, commands_of, environments_of, is_here, is_made
from validation.running.executors import executor_at
from validation.running.options import LOCAL, OpenRun, Options, Progress, RunError, Stopped, UnstoredError
from validation.running.orders import with_orders
from validation.running.planning import UNKNOWN, Plan, Request, begin_engines, plan_cases
from validation.running.processes.executor import Executor
from validation.running.promises import with_motions, with_promises
from validation.running.provenance import describe_run
from validation.running.reuse import Reuse, compare_checked, reuse_of, with_cache_keys
from validation.running.runner import Totals
from validation.running.selection import Words, absent, arguments_of, stored_cases
from validation.store import Baseline, Store
from validation.store.errors import StoreError
from validation.store.stored_scenarios import stored_scenario

SAVE_EVERY = 16  # results in one transaction, at most,
SAVE_WITHIN = 0.5  # and s from one to the next, while results come
ASKED: dict[str, Any] = {"ensemble": 0, "ensemble_as_accepted": False, "order": False, "fresh": False}
"""Options that a resumed run has from the one that was stopped; what they were before these were kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    run: int
    title: str
    results: list[Result]  # in the order of the plan, then what is missing
    verdicts: list[Verdict]  # likewise
    baselines: list[Baseline]  # those that were compared with
    totals: Totals
    unavailable: dict[str, str]  # engines that are known but absent, and why, where all were asked for
    left_out: list[Case] = field(default_factory=list)  # accepted, and not asked for
    ensembles: dict[str, Ensemble] = field(default_factory=dict)  # by case key; those that were run
    times: list[tuple[Verdict, Turn]] = field(default_factory=list)  # of a step, changed since accepted; confirmed
    doubtful: list[tuple[Verdict, Turn, float]] = field(default_factory=list)  # those that a rerun (s) did not confirm
    typed: dict[str, str] = field(default_factory=dict)  # label -> the scenario's word on the command line
    moved: list[str] = field(default_factory=list)  # labels of scenarios with bodies that were given in other frames
    models: list[Scenario] = field(default_factory=list)  # of the scenarios, those that are a user's own models
    differing: list[tuple[Result, Result]] = field(default_factory=list)
    """Simulated though the store had them, now and as stored, of which something is other."""

    @property
    def all_declined(self) -> bool:
        return all(result.outcome == "declined" for result in self.results)


def run_session(store: Store, options: Options, command: str) -> Session:
    """Plan, simulate, measure, store, judge. Ctrl-C keeps what is done: it is stored case by case.

    Raises what `Words.of` does, LineageError, BuildError, RunError, and Stopped for Ctrl-C.
    """
    default = default_branch_of(store, options)
    words = Words.of(store, options)  # those that are none, before anything begins
    given: dict[str, Any] = {"executor": options.executor, "timing": options.limits.timing}
    with running_engines(words.engines, options.progress, **given) as (pool, environments):
        requests = words.requests(pool, options)
        plans = without_doubles(plan_cases(pool, requests))
        plans = with_cache_keys(plans, {request.engine.word: request.engine for request in requests}, environments)
        if all(plan.unavailable for plan in plans):
            raise RunError(f"nothing could be run: {plans[0].unavailable}")
        scenes = {plan.case.scene_hash: plan.scenario.scene for plan in plans}
        info = describe_run(command, timing=options.limits.timing, branch=options.branch, labels=options.labels)
        info = replace(info, default_branch=default)
        run = store.begin_run(
            info,
            [plan.case for plan in plans],
            scenes.values(),
            lineage=options.lineage,
            history=history_of(),
            asked=asked_of(options),
        )
        scenarios = {plan.case.key: plan.scenario for plan in plans}
        session = _finished(OpenRun(store, pool, run, options), words.title, plans, plans, scenarios)
    return replace(session, typed=dict(words.typed))


def stored_or_run(store: Store, options: Options, run: int | None, command: str) -> tuple[int, list[Result]]:
    """The cases of one scenario and the run that has them; what no run has is run now."""
    found = stored_cases(store, options.scenarios[0], options.engines, run)
    if found is None:
        number = run_session(store, options, command).run
        found = number, store.results(number)
    return found


def default_branch_of(store: Store, options: Options) -> str:
    """Raises LineageError where it is needed and not known."""
    return default_branch(
        store.accepted_branches(),
        options.branch or current_branch(),
        base=options.lineage.base if options.lineage else "",
        of_server=options.default_branch,
    )


def without_doubles(plans: Iterable[Plan]) -> list[Plan]:
    """Two words may mean one case: pymunk and pymunk@fair, or an override that the profile has already. The plainer
    word stays, for by it the case is asked for later."""
    plainest: dict[str, Plan] = {}
    for plan in plans:
        key = plan.case.key
        if key not in plainest or len(plan.case.engine_label) < len(plainest[key].case.engine_label):
            plainest[key] = plan
    return list(plainest.values())


def resume_session(store: Store, options: Options) -> Session:
    """The cases that the latest unfinished run still owes; those that it has are not run again."""
    found = store.unfinished_run()
    if found is None:
        raise RunError("no unfinished run is stored")
    run, pending = found
    options = _as_asked(store, run, options)
    done = {result.key: result for result in store.results(run)}
    # What was declined moves no more, and what was missing may be in no catalogue any more.
    cases = [case for case in store.cases(run) if case.key not in done or done[case.key].trajectory_hash]
    scenarios = {case.key: stored_scenario(store, case) for case in cases}
    if not (options.ensemble or options.ensemble_as_accepted or options.order):
        cases = pending
    requests = [Request.again(scenarios[case.key], case) for case in cases]
    choices = [request.engine for request in requests]
    timing = options.limits.timing
    with running_engines(choices, options.progress, executor=options.executor, timing=timing) as (pool, environments):
        plans = plan_cases(pool, requests)
        for i, (plan, case) in enumerate(zip(plans, cases)):
            began, now = case.engine_version, plan.case.engine_version
            if plan.unavailable is None and began == UNKNOWN:  # so are the settings that it would have had
                reason = f"could not be loaded when run {run} began; a new run has it"
                plans[i] = replace(plan, unavailable=f"{case.engine_label} {reason}")
            elif plan.unavailable is None and began != now:
                raise RunError(
                    f"run {run} began with {case.identity.engine} {began} and {now} is here now; start a new one"
                )
        plans = [replace(plan, case=case) for plan, case in zip(plans, cases)]
        plans = with_cache_keys(plans, {request.engine.word: request.engine for request in requests}, environments)
        owed = [plan for plan in plans if plan.case.key not in done]
        return _finished(OpenRun(store, pool, run, options), f"run {run}, resumed", plans, owed, scenarios)


def _finished(
    run: OpenRun, title: str, plans: list[Plan], owed: list[Plan], scenarios: Mapping[str, Scenario]
) -> Session:
    """What the run owes is simulated, and all its plans are measured further and judged. `scenarios` by case key."""
    before = run.store.run(run.number)
    try:
        reuse = reuse_of(run, owed)
        fresh, totals = _execute(run, title, owed, reuse)
        results = {result.key: result for result in (fresh if owed is plans else run.store.results(run.number))}
        again = [results[plan.case.key] for plan in plans]
        ensembles, evidence = ensembles_of(run, plans, again)
        again = with_promises(run, plans, with_orders(run, plans, again))
        results |= {result.key: result for result in again}
        session = _judged(run, title, list(results.values()), scenarios, totals, evidence)
        described, dropped = confirmed_times(session.times, _timed_again(run, owed))
        return replace(session, times=described, doubtful=dropped, ensembles=ensembles, differing=reuse.differing)
    except KeyboardInterrupt:
        raise Stopped(run.store.run(run.number)) from None
    except (StoreError, ExecutorError) as error:
        raise UnstoredError(error, run.number, before.done + len(run.stored), before.planned) from error


def asked_of(options: Options) -> dict[str, Any]:
    """What a run keeps of how it was asked for: which cases, and what a resumed one has to measure."""
    return {"words": arguments_of(options)} | {name: getattr(options, name) for name in ASKED}


def _as_asked(store: Store, run: int, options: Options) -> Options:
    asked = store.asked(run)
    given = {name: asked.get(name, default) for name, default in ASKED.items()}
    return replace(options, limits=replace(options.limits, timing=store.run(run).info.timing), **given)


@contextmanager
def running_engines(
    engines: Iterable[EngineChoice],
    progress: Progress,
    profile: str | None = None,
    *,
    executor: str = LOCAL,
    timing: bool = False,
) -> Iterator[tuple[Executor, dict[str, Environment]]]:
    """What runs these engines, and measures already, with kernels compiled; and their environments, by word.

    Raises SettingError and BuildError, as far as can be known before any environment is made, and ExecutorError.
    """
    choices = list({(choice.label, choice.profile): choice for choice in engines}.values())
    check_settings(choices, profile)
    environments = environments_of(choices, progress)
    if executor == LOCAL:  # elsewhere each machine has its own
        warm_kernels(progress)
    with executor_at(executor, commands_of(environments), timing=timing) as pool:
        runner.measuring_remotes(pool)
        begin_engines(pool, {choice.word for choice in choices})
        yield pool, environments


def check_settings(choices: Iterable[EngineChoice], profile: str | None = None) -> None:
    """Of versions that have to be installed, by the version that is here: our adapter of it knows the settings of all.

    Raises SettingError; BuildError where there are no versions.
    """
    asked = [choice for choice in choices if choice.overrides or choice.profile or profile]
    apart = [choice for choice in asked if not is_here(choice) and not is_made(choice)]
    ours = [replace(one, version=None) for one in apart if one.name in OURS and one.name in present_engines()]
    if ours:
        scenario = scenario_of("stack")
        requests = [Request(scenario=scenario, engine=one, profile=one.profile or profile) for one in ours]
        with executor_at(LOCAL) as pool:
            plan_cases(pool, requests)


def warm_kernels(progress: Progress) -> None:
    """Compile what is not compiled yet, saying so."""
    folder = kernel_cache.use_kernel_cache()
    if not kernel_cache.is_warm(folder):
        lost = f", for this command only: {kernel_cache.cache_root()} cannot be written"
        with progress.step(f"compiling kernels{', once' if kernel_cache.is_filled(folder) else lost}"):
            kernel_cache.warm(folder)


def _execute(run: OpenRun, title: str, plans: list[Plan], reuse: Reuse) -> tuple[list[Result], Totals]:
    """Results in the order of the plans, stored as they came; what the store knows of them is taken."""
    owed = reuse.owed(plans)
    results, totals = _simulated(run, title, owed)
    compare_checked(run, reuse, results.values())
    taken = reuse.taken(plans)
    run.store.save_results(run.number, list(taken.values()))
    run.stored.update(taken)
    results |= taken
    if doubtful := [plan for plan in plans if plan.case.key not in results]:
        more, spent = _simulated(run, "simulated once more", doubtful)
        results |= more
        totals.wall, totals.stepping = totals.wall + spent.wall, totals.stepping + spent.stepping
        totals.simulated += spent.simulated
    return [results[plan.case.key] for plan in plans], totals


def _simulated(run: OpenRun, title: str, plans: list[Plan]) -> tuple[dict[str, Result], Totals]:
    """By case key, stored as they came."""
    results: dict[str, Result] = {}
    unsaved: list[Result] = []
    saved = [time.monotonic()]

    def save() -> None:
        run.store.save_results(run.number, unsaved)
        run.stored.update(result.key for result in unsaved)
        unsaved.clear()
        saved[:] = [time.monotonic()]

    with run.options.progress.bar(title, len(plans)) as bar:

        def on_result(result: Result) -> None:
            results[result.key] = replace(result, encoded=b"")  # the store has it
            unsaved.append(result)
            if len(unsaved) >= SAVE_EVERY or time.monotonic() - saved[-1] > SAVE_WITHIN:
                save()
            bar.advance(runner.name_of(result.case))

        try:
            totals = runner.execute(run.pool, plans, run.options.limits, on_result)
        except StoreError:  # which another attempt would wait for once more
            raise
        except BaseException:
            save()
            raise
        save()
    return results, totals


def _judged(
    going_on: OpenRun,
    title: str,
    results: Sequence[Result],
    scenarios: Mapping[str, Scenario],
    totals: Totals,
    evidence: Mapping[str, EnsembleEvidence],
) -> Session:
    """Against what is accepted on the run's branch; the run is finished with its verdicts. `scenarios` are by case key;
    what is missing has none.

    The verdicts are stored as judged; those handed on carry the marks (known, quarantined ...), and do not fail.
    """
    store, run, baselines = going_on.store, going_on.number, going_on.baselines
    missing, left_out = absent(store, run, baselines, [result.case for result in results])
    store.save_results(run, missing)
    results = [*results, *missing]
    verdicts = [
        judge(
            *with_motions(store, baseline, result),
            scenario,
            evidence.get(result.case.key),
            scene_changed=baseline is not None and store.scene_changed(baseline.result.case, result.case),
        )
        for result in results
        for scenario in [scenarios.get(result.case.key)]
        for baseline in [baselines.get(result.case.identity.key)]
    ]
    store.save_verdicts(run, verdicts)
    store.finish_run(run)
    store.carry_over(run)
    verdicts = waived(verdicts, store.groups(run), run)
    return Session(
        run=run,
        title=title,
        results=list(results),
        verdicts=verdicts,
        baselines=[baselines[v.case.identity.key] for v in verdicts if v.baseline is not None],
        totals=totals,
        unavailable={} if store.asked(run).get("words", {}).get("engines") else unavailable_engines(),
        left_out=left_out,
        times=changed_times(store, run, results, verdicts, baselines),
        models=[one for one in scenarios.values() if getattr(one.scene, "native", None) is not None],
        moved=list(dict.fromkeys(one.label for one in scenarios.values() if frames.are_moved(one.scene))),
    )


# --- which steps have become slower or faster since they were accepted, each measured twice before it is reported


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
            turns = store.trend(stored, result.case, measured, baseline).fresh
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


def _timed_again(run: OpenRun, plans: Sequence[Plan]) -> Callable[[Sequence[str]], dict[str, float]]:
    """Measures the time of a step (s) of plans once more, in this very run, by the keys of their cases."""

    def again(keys: Sequence[str]) -> dict[str, float]:
        wanted = [plan for plan in plans if plan.case.key in set(keys)]
        results = runner.results_of(run.pool, wanted, run.options.limits, run.options.progress, "timed again")
        return {result.key: m.value for result in results for m in result.measurements if m.noise == "timing"}

    return again

"""What a run takes from the store in place of simulating it: results of which all that decides them is the same.

That is what `result_cache.key_of` has: scene, settings, time step, the engine's wheel, the processor's features, our
own code and what it measures by. Only of engines whose code a wheel identifies, or our own source: never of one that
is worked on. A few are simulated all the same and compared: an engine that gives something else is not deterministic,
and nothing that is stored of it so far is taken any more.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from validation.engines import EngineChoice
from validation.metrics import METRICS
from validation.records.case import Case, Result
from validation.running.environments import Environment
from validation.running.options import OpenRun
from validation.running.planning import Plan
from validation.running.result_cache import code_of, key_of

CHECKED = 50  # one in so many is simulated all the same,
SHORT = 1.0  # and one whose steps take so long, s, half as often as one that takes no time: a check has to cost little


@dataclass(slots=True)
class Reuse:
    """Of one run."""

    known: dict[str, Result] = field(default_factory=dict)  # by case key: what the store has, as it is there
    checked: set[str] = field(default_factory=set)  # case keys of those that are simulated all the same
    differing: list[tuple[Result, Result]] = field(default_factory=list)  # now, and as stored

    def owed(self, plans: Sequence[Plan]) -> list[Plan]:
        """Those that have to be simulated."""
        return [plan for plan in plans if (key := plan.case.key) not in self.known or key in self.checked]

    def taken(self, plans: Sequence[Plan]) -> dict[str, Result]:
        """By case key, what is taken of engines that were not found to differ."""
        doubtful = {now.case.identity.engine for now, _ in self.differing}
        return {
            key: taken(plan.case, self.known[key])
            for plan in plans
            for key in [plan.case.key]
            if key in self.known and key not in self.checked and plan.case.identity.engine not in doubtful
        }


def with_cache_keys(
    plans: Sequence[Plan], engines: Mapping[str, EngineChoice], environments: Mapping[str, Environment]
) -> list[Plan]:
    """The plans, their cases with a cache key where their engine is a registered one whose code is identified.

    `engines` are by word.
    """
    codes = {word: code_of(one, environments.get(word)) for word, one in engines.items() if one.kind == "registered"}
    released = {word: code for word, code in codes.items() if code.released}
    return [
        replace(plan, case=replace(plan.case, cache_key=key_of(plan.case, released[plan.word].digest)))
        if plan.word in released and not (plan.declined or plan.unavailable)
        else replace(plan, case=replace(plan.case, cache_key=""))
        for plan in plans
    ]


def reuse_of(run: OpenRun, plans: Sequence[Plan]) -> Reuse:
    """What the store knows of these plans; nothing with `fresh`, nor where steps are timed, for times are of now."""
    if run.options.fresh or run.options.limits.timing:
        return Reuse()
    stored = run.store.known_results({plan.case.cache_key for plan in plans if plan.case.cache_key})
    known = {plan.case.key: stored[plan.case.cache_key] for plan in plans if plan.case.cache_key in stored}
    return Reuse(known, checked_of(run.number, {key: one.stepping_time for key, one in known.items()}))


def checked_of(run: int, times: Mapping[str, float]) -> set[str]:
    """Case keys of those that are simulated all the same, others in every run. `times`: of all their steps, s."""
    weights = {key: 1.0 / (SHORT + time) for key, time in times.items()}
    share = len(times) / CHECKED / max(sum(weights.values()), 1e-300)
    return {key for key, weight in weights.items() if _drawn(run, key) < share * weight}


def _drawn(run: int, key: str) -> float:
    """In [0, 1), of this run and case."""
    return int(hashlib.sha256(f"{run} {key}".encode()).hexdigest()[:8], 16) / 2**32


def taken(case: Case, known: Result) -> Result:
    """For this case: all but times and memory, which are of a run, and what runs measure beside."""
    return replace(
        known,
        case=case,
        measurements=tuple(m for m in known.measurements if m.metric in METRICS),
        taken_from=known.run,
        run=0,
        number=0,
        wall_time=0.0,
        stepping_time=0.0,
        peak_memory=0,
    )


def compare_checked(run: OpenRun, reuse: Reuse, results: Iterable[Result]) -> None:
    """Of what was simulated all the same: notes what came out otherwise, and drops all that is known of its engine."""
    for now in results:
        if now.key in reuse.checked and _found_of(now) != _found_of(before := reuse.known[now.key]):
            reuse.differing.append((now, before))
    for engine in {now.case.identity.engine for now, _ in reuse.differing}:
        run.store.forget_results(engine)


def _found_of(result: Result) -> tuple[object, ...]:
    measured = {m.metric: repr(m.value) for m in result.measurements if m.metric in METRICS}
    return result.outcome, result.trajectory_hash, measured

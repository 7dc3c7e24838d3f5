"""What `upright compare` does: both sides' environments, every scenario on both, side by side.

What was computed before is not computed again (`result_cache.py`): a comparison that was stopped goes on from there.
"""

import json
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from scenarios.catalogue import comparison_suite
from scenarios.scenario import Scenario
from scenarios.scene import PlanarScene
from validation.engines import EngineChoice, distribution_of, engine_of
from validation.judging.comparison import Comparison, compare, cost_ratio, decides_at_once, is_chaotic, with_relations
from validation.judging.ensembles import Ensemble, settled
from validation.judging.ensembles import compare as compare_ensembles
from validation.judging.evidence.replay import Replay
from validation.judging.policy import SPEED, STARTS
from validation.judging.relations import Related
from validation.records.case import Case, Result
from validation.records.names import with_profile
from validation.running.environments import packages_apart
from validation.running.models import GivenModel, Loading, given_of, step_of
from validation.running.options import AS_IT_IS, LOCAL, ModelOptions, Progress, RunError
from validation.running.planning import Plan, Request, hello_of, plan_cases
from validation.running.processes.executor import Executor
from validation.running.replay import relations_of, replays_of
from validation.running.result_cache import ResultCache, code_of
from validation.running.runner import Limits, results_of
from validation.running.session import running_engines
from validation.running.starts import recorded_starts

BOTH = ("default", "fair")
"""Profiles that are run where none is asked for: what an engine's best settings hide shows out of the box."""
SWEPT = ("free motion", "joints", "sliding")
"""Regimes of which the cheapest scenario runs with every choice of every setting: rotation, constraints, friction."""
OF_A_FAMILY = 2
"""Scenarios of a family that run from perturbed initial states, where the suite is run: stacks of 3 and of 20 blocks
say the same of a change, and one of 20 from 20 states on both sides takes a minute."""
TIMED = 4  # cases that are timed again, the longest of those whose steps take at most
TIMED_WITHIN = 0.1  # s altogether

Pair = tuple[Plan, Plan]  # a case on both sides


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """Of a step, confirmed by a rerun."""

    ratio: float  # of the new side's time over the old side's, the one nearer to 1
    cases: int  # that were timed again


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    names: tuple[str, str]  # of the sides: as typed, with the version that ran
    comparisons: list[Comparison]  # in the order of the scenarios; of what is decided
    packages: Mapping[str, tuple[str, str]]  # that differ beside the engines
    planned: int = 0  # comparisons, had it not been stopped
    stopped: bool = False  # or an answer on the way
    speed: Speed | None = None  # None: as fast as before, or not confirmed
    replays: tuple[tuple[str, Replay], ...] = ()  # of scenarios that move otherwise, one of each family
    goes_on: bool = True  # whether what has run is kept

    @property
    def compared(self) -> int:
        return len(self.comparisons)


@dataclass(slots=True)
class _Work:
    """What a comparison has so far; all of it is in order at every moment at which Ctrl-C may come."""

    pool: Executor
    cache: ResultCache
    limits: Limits
    progress: Progress
    pairs: Sequence[Pair]
    starts: int  # perturbed initial states of what is chaotic; 0: judged by single runs
    most: int  # scenarios of a family that run from these; 0: all
    results: dict[int, Result] = field(default_factory=dict)  # by id of the case
    ensembles: dict[int, Ensemble] = field(default_factory=dict)  # likewise
    found: dict[int, Comparison] = field(default_factory=dict)  # by id of the old side's case, of single runs
    promises: dict[int, tuple[Related, ...]] = field(default_factory=dict)  # by id of the old side's case
    replays: dict[int, Replay] = field(default_factory=dict)  # likewise
    speed: Speed | None = None

    def simulate(self, pairs: Sequence[Pair], title: str) -> None:
        plans = [plan for pair in pairs for plan in pair]

        def there(result: Result) -> None:
            self.results[id(result.case)] = result

        self.cache.results_of(self.pool, plans, self.limits, self.progress, title, there)

    def run_starts(self) -> None:
        """What is chaotic, both sides from perturbed initial states; the cheap ones first."""
        pairs = sorted(self._undecided(), key=lambda pair: pair[0].cost)
        plans = [plan for pair in pairs for plan in pair]

        def there(plan: Plan, ensemble: Ensemble) -> None:
            self.ensembles[id(plan.case)] = ensemble

        self.cache.ensembles_of(self.pool, plans, self.starts, self.limits, self.progress, there)

    def take_steps(self) -> None:
        """From recorded states: what the engine's documents promise, on one scenario of each family; and where the two
        sides differ, on one of each family that moves otherwise."""
        rows = [(pair, found) for pair, found in self.by_single_runs() if found.measured and not self._is_asked(pair)]
        rows.sort(key=lambda row: row[0][0].cost)
        families = {pair[0].case.identity.scenario: (pair, found) for pair, found in reversed(rows)}
        tried = [(pair, (found.old, found.new)) for pair, found in families.values()]
        for (pair, _), made in zip(tried, relations_of(self.pool, tried, self.limits, self.progress)):
            self.promises[id(pair[0].case)] = made.related
        moved = {pair[0].case.identity.scenario: (pair, found) for pair, found in reversed(rows) if not found.identical}
        tried = [(pair, (found.old, found.new)) for pair, found in moved.values()]
        for (pair, _), replay in zip(tried, replays_of(self.pool, tried, self.limits, self.progress)):
            self.replays[id(pair[0].case)] = replay

    def _is_asked(self, pair: Pair) -> bool:
        return id(pair[0].case) in self.promises

    def time_again(self, comparisons: Sequence[Comparison]) -> None:
        """Whether steps take longer, or shorter, where the run says so: a few cases once more, one at a time. Not where
        they run on several machines."""
        first = cost_ratio(comparisons)
        if self.pool.elsewhere or first is None or 1.0 / SPEED < first[0] < SPEED:
            return
        timed = [(old, new) for old, new in self.pairs if 0.0 < self._stepping(old, new) <= TIMED_WITHIN]
        timed = sorted(timed, key=lambda pair: -self._stepping(*pair))[:TIMED]
        limits = replace(self.limits, timing=True)
        again = results_of(self.pool, [plan for pair in timed for plan in pair], limits, self.progress, "timed again")
        ratios = [_step_time(new) / _step_time(old) for old, new in zip(again[::2], again[1::2])]
        ratios = [ratio for ratio in ratios if ratio > 0.0]
        if not ratios:
            return
        second = statistics.median(ratios)
        nearer = min(first[0], second) if first[0] > 1.0 else max(first[0], second)
        if not 1.0 / SPEED < nearer < SPEED:
            self.speed = Speed(ratio=nearer, cases=len(ratios))

    def _stepping(self, *plans: Plan) -> float:
        """s; 0 where one of them has not run to its end."""
        found = [self.results[id(plan.case)] for plan in plans if id(plan.case) in self.results]
        whole = len(found) == len(plans) and all(result.outcome == "completed" for result in found)
        return max(result.stepping_time for result in found) if whole else 0.0

    def ready(self) -> list[Pair]:
        """Those that have run on both sides."""
        return [pair for pair in self.pairs if all(id(plan.case) in self.results for plan in pair)]

    def replayed(self) -> tuple[tuple[str, Replay], ...]:
        of = [(old, self.replays[id(old.case)]) for old, _ in self.pairs if id(old.case) in self.replays]
        return tuple((old.scenario.label, replay) for old, replay in of if replay.states)

    def by_single_runs(self) -> list[tuple[Pair, Comparison]]:
        for old, new in self.ready():
            if id(old.case) not in self.found:
                sides = self.results[id(old.case)], self.results[id(new.case)]
                self.found[id(old.case)] = compare(old.scenario, *sides)
        return [(pair, self.found[id(pair[0].case)]) for pair in self.ready()]

    def _undecided(self) -> list[Pair]:
        """Which single runs cannot judge and perturbed initial states have not judged yet."""
        if not self.starts:
            return []
        rough = [
            (pair, found)
            for pair, found in self.by_single_runs()
            if is_chaotic(found) or recorded_starts(pair[0].scenario.scene)
        ]
        if self.most:
            rough = few_of_each_family(rough, self.most)
        return [pair for pair, _ in rough if not all(id(plan.case) in self.ensembles for plan in pair)]

    def comparisons(self) -> list[Comparison]:
        """All that is decided; what is chaotic by its perturbed initial states, settled together."""
        made = self.ensembles
        broken = {key for key, related in self.promises.items() if any(one.sign != "same" for one in related)}
        undecided = {id(old.case) for old, _ in self._undecided()} - broken  # a promise is broken whatever the chaos
        evidence = settled(
            {
                id(old.case): compare_ensembles(made[id(old.case)], made[id(new.case)])
                for old, new in self.ready()
                if id(old.case) in made and id(new.case) in made
            }
        )
        decided = [found for (old, _), found in self.by_single_runs() if id(old.case) not in undecided]
        judged = [
            compare(found.scenario, found.old, found.new, described) if described else found
            for found in decided
            for described in [evidence.get(id(found.old.case))]
        ]
        return [with_relations(found, self.promises.get(id(found.old.case), ())) for found in judged]


def few_of_each_family(rough: Sequence[tuple[Pair, Comparison]], most: int) -> list[tuple[Pair, Comparison]]:
    """The cheapest of each family and profile, and every one in which something else happens or a law breaks."""
    seen: Counter[tuple[str, str]] = Counter()
    few = []
    for pair, found in sorted(rough, key=lambda one: one[0][0].cost):
        own = pair[0].case.identity
        seen[own.scenario, own.profile] += 1
        if seen[own.scenario, own.profile] <= most or decides_at_once(found):
            few.append((pair, found))
    return few


def _step_time(result: Result) -> float:
    return next((m.value for m in result.measurements if m.noise == "timing"), float("nan"))


def compare_engines(
    words: tuple[str, str],
    scenarios: Sequence[str],
    *,
    profile: str | None,
    dt: float | None,
    limits: Limits,
    options: bool = False,
    starts: int = STARTS,
    progress: Progress,
    resume: bool = False,
    executor: str = LOCAL,
    model: ModelOptions = AS_IT_IS,
    on_answer: Callable[[Compared], None] = lambda compared: None,
) -> Compared:
    """Every scenario on both engines, at the same time on the same machine; the comparison suite where none is named.
    What moved by a chaotic metric is run from so many perturbed `starts` on both sides, and
    judged by these; 0 for none. Ctrl-C ends it with what there is. `on_answer` gets what the first profile says of the
    suite, while the rest is run.

    `options`: every scenario also with each other choice of each setting that both sides have, one at a time; without
    it a few of the suite. `resume`: what ran before counts also of an engine that may have changed under its name.

    Raises EngineNameError, ParameterError, SceneError, SettingError, BuildError; RunError where a side cannot be
    run at all; KeyboardInterrupt where it was stopped before anything was compared.
    """
    sides = [engine_of(word) for word in words]
    named = given_of(dict.fromkeys(scenarios), replace(model, together=starts > 0))
    chosen: Sequence[Scenario | GivenModel]
    chosen = named or comparison_suite()
    asked = [profile] if profile or any(side.profile for side in sides) else BOTH
    made: Compared | None = None
    try:
        with running_engines(sides, progress, profile, executor=executor) as (pool, environments):
            loading = Loading(pool, limits)
            chosen = loading.load(chosen, sides)
            requests = _requests(loading, chosen, sides, [{}], asked, dt)
            swept = chosen if options else [] if scenarios else few_of(comparison_suite())
            requests += _requests(loading, swept, sides, _variants(pool, sides), asked[:1], dt)
            pairs = without_doubles(plan_cases(pool, requests))
            for side, i in zip(sides, (0, 1)):
                own = [pair[i] for pair in pairs]
                if all(plan.unavailable for plan in own):
                    raise RunError(f"{side.word} cannot be run: {own[0].unavailable}")
            codes = {side.word: code_of(side, environments.get(side.word)) for side in sides}
            cache = ResultCache(codes, resume=resume)
            work = _Work(pool, cache, limits, progress, pairs, starts, 0 if scenarios else OF_A_FAMILY)

            def compared(*, stopped: bool = False) -> Compared:
                found = work.comparisons()
                cases = found[0].old.case, found[0].new.case
                several = cases[0].identity.profile != cases[1].identity.profile
                apart = packages_apart(
                    (environments.get(sides[0].word), environments.get(sides[1].word)),
                    {(distribution_of(side) or "").casefold() for side in sides},
                )
                return Compared(
                    names=(_name(cases[0], profile=several), _name(cases[1], profile=several)),
                    comparisons=[replace(one, variant=_variant(one.old.case, sides[0])) for one in found],
                    packages=apart,
                    planned=len(pairs),
                    stopped=stopped,
                    speed=work.speed,
                    replays=work.replayed(),
                    goes_on=cache.lasting,
                )

            try:
                first = [pair for pair in pairs if _is_first(pair, asked[0], sides[0])]
                work.simulate(first, " and ".join(words))
                work.take_steps()
                rest = [pair for pair in pairs if not _is_first(pair, asked[0], sides[0])]
                if not scenarios and rest and work.comparisons():
                    on_answer(compared())
                work.simulate(rest, "other profiles and settings")
                work.run_starts()
                work.time_again([found for _, found in work.by_single_runs()])
                made = compared()
            except KeyboardInterrupt:
                if not work.comparisons():
                    raise
                made = compared(stopped=True)
    except KeyboardInterrupt:  # while engines were ended
        if made is None:
            raise
    return made


def _is_first(pair: Pair, profile: str | None, side: EngineChoice) -> bool:
    case = pair[0].case
    return profile in (None, case.identity.profile) and not _variant(case, side)


def _requests(
    loading: Loading,
    chosen: Iterable[Scenario | GivenModel],
    sides: Sequence[EngineChoice],
    variants: Iterable[Mapping[str, str]],
    profiles: Sequence[str | None],
    dt: float | None,
) -> list[Request]:
    """The two sides of a case stand next to each other."""
    chosen = list(chosen)
    return [
        Request(
            scenario=scenario, engine=varied, profile=side.profile or one, dt=dt or step_of(scenario), declined=fault
        )
        for given in variants
        for one in profiles
        for wanted in chosen
        for side in sides
        for scenario, fault in [loading.on(wanted, side)]
        for varied in [replace(side, overrides={**side.overrides, **given})]
    ]


def few_of(chosen: Sequence[Scenario]) -> list[Scenario]:
    """Of each regime in SWEPT the cheapest scenario, those in space first."""
    found = []
    for regime in SWEPT:
        found += sorted((scenario for scenario in chosen if scenario.regime == regime), key=_planar_and_cost)[:1]
    return found


def _planar_and_cost(scenario: Scenario) -> tuple[bool, float]:
    scene = scenario.scene
    return isinstance(scene, PlanarScene), scene.duration * len(scene.bodies)


def _variants(pool: Executor, sides: Sequence[EngineChoice]) -> list[dict[str, str]]:
    """Each choice of a setting that both sides have and neither word sets, but the one that is the default of both."""
    old, new = (hello_of(pool, side).get("choices", {}) for side in sides)
    typed = {name for side in sides for name in side.overrides}
    shared = [(name, value) for name in old if name in new and name not in typed for value in old[name]]
    return [{name: value} for name, value in shared if value in new[name] and not value == old[name][0] == new[name][0]]


def _variant(case: Case, side: EngineChoice) -> str:
    """What the case sets beyond the word that was typed."""
    given = case.engine_label.partition(":")[2].split(",")
    return ",".join(item for item in given if item.partition("=")[0] not in side.overrides)


def without_doubles(plans: Sequence[Plan]) -> list[Pair]:
    """The two sides of each case, once: an engine without a profile of that name runs as it is out of the box."""
    pairs: dict[str, Pair] = {}
    for old, new in zip(plans[::2], plans[1::2]):
        same = json.dumps([[p.case.scene_hash, p.case.label, dict(p.case.settings)] for p in (old, new)])
        pairs.setdefault(same, (old, new))
    return list(pairs.values())


def _name(case: Case, *, profile: bool) -> str:
    """pymunk==6.11.1, or with the version that is here: pymunk 7.3.1; with its profile where the sides' differ."""
    label = with_profile(case.engine_label, case.identity.profile) if profile else case.engine_label
    return label if "==" in label else f"{label} {case.engine_version}"

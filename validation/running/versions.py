"""Scenarios on the releases of an engine, each compared with the one before; environments are made meanwhile."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from packaging.version import InvalidVersion, Version

from scenarios.catalogue import canonical_suite
from scenarios.scenario import Scenario
from validation.engines import EngineChoice, distribution_of
from validation.engines.engine import SettingError
from validation.judging.comparison import Comparison, compare, is_chaotic
from validation.judging.ensembles import compare as compare_ensembles
from validation.judging.ensembles import settled
from validation.judging.policy import STARTS
from validation.records.case import Result
from validation.running.comparing import BOTH, Compared, without_doubles
from validation.running.environments import Environment, command_of, environment_of, is_here
from validation.running.executors import executor_at
from validation.running.models import GivenModel, Loading, given_of, step_of
from validation.running.options import AS_IT_IS, LOCAL, ModelOptions, Progress, RunError
from validation.running.package_index import BuildError, releases
from validation.running.planning import Plan, Request, plan_cases
from validation.running.processes.executor import Executor
from validation.running.result_cache import Code, ResultCache, code_of
from validation.running.runner import Limits, measuring_remotes
from validation.running.session import check_settings, warm_kernels
from validation.running.starts import recorded_starts

Cells = Sequence[tuple[Plan, Result]]


class LackingError(RunError):
    """A release that cannot be installed or run, and why; one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is run on every release."""

    scenarios: Sequence[Scenario | GivenModel]
    profiles: Sequence[str | None]
    dt: float | None = None  # s; None: of each scenario its own
    starts: int = STARTS  # perturbed initial states of what moved by a chaotic metric; 0 for none
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """One release, and what changed since the one before it that could be run."""

    version: str
    lacks: str = ""  # why it could not be installed or run
    before: str = ""  # "": it is the first
    results: Sequence[Result] = ()
    comparisons: Sequence[Comparison] = ()


def as_releases(compared: Sequence[Compared]) -> list[Release]:
    """Comparisons of which each begins where the one before ends: the first side, then each with what changed."""
    first = compared[0]
    found = [Release(version=first.names[0], results=[one.old for one in first.comparisons])]
    for one in compared:
        old, new = one.names
        results = [each.new for each in one.comparisons]
        found.append(Release(version=new, before=old, results=results, comparisons=one.comparisons))
    return found


def asked_of(
    choice: EngineChoice,
    scenarios: Sequence[str],
    profile: str | None,
    dt: float | None,
    starts: int,
    limits: Limits,
    model: ModelOptions = AS_IT_IS,
) -> Asked:
    """The canonical suite where no scenario is named. Raises ParameterError, SceneError, SettingError."""
    found = given_of(dict.fromkeys(scenarios), replace(model, together=starts > 0)) or canonical_suite()
    profiles = [choice.profile or profile] if choice.profile or profile else BOTH
    return Asked(scenarios=found, profiles=profiles, dt=dt, starts=starts, limits=limits)


def releases_of(
    choice: EngineChoice, first: Version | None = None, until: Version | None = None, last: int = 0
) -> list[EngineChoice]:
    """Those with a wheel for this Python from `first` to `until`, the oldest first; the `last` ones, if not 0.

    Raises RunError, BuildError.
    """
    name = distribution_of(choice)
    if name is None:
        raise RunError(f"engine '{choice.word}': no distribution has {choice.name!r}, so there are no releases of it")
    found = releases(name)
    known = [
        version
        for version in found
        if not version.is_prerelease and (first is None or version >= first) and (until is None or version <= until)
    ]
    if not known:
        asked = " ".join(f"{word} {end}" for word, end in (("from", first), ("to", until)) if end)
        raise RunError(f"{name}: no release {asked}; pip has {found[0]} to {found[-1]}")
    return [replace(choice, version=str(version)) for version in known[-last:]]


def version_of(text: str) -> Version:
    """Raises RunError."""
    try:
        return Version(text)
    except InvalidVersion:
        raise RunError(f"{text!r} is not a version; allowed: such as 6.11.1") from None


class Releases:
    """What is asked for on any of these releases: run once, known later."""

    def __init__(self, asked: Asked, pool: Executor, progress: Progress) -> None:
        self.asked, self.pool, self.progress = asked, pool, progress
        self._codes: dict[str, Code] = {}
        self._loading = Loading(pool, asked.limits)
        self._cache = ResultCache(self._codes)
        self._builder = ThreadPoolExecutor(max_workers=1)
        self._building: dict[str, Future[Environment]] = {}
        self._cells: dict[str, Cells] = {}

    def prepare(self, choices: Sequence[EngineChoice]) -> None:
        """Make their environments meanwhile, in this order."""
        for choice in choices:
            if choice.word not in self._building and not is_here(choice):
                self._building[choice.word] = self._builder.submit(environment_of, choice)

    def close(self) -> None:
        self._builder.shutdown(wait=True, cancel_futures=True)

    def cells(self, choice: EngineChoice) -> Cells:
        """Plans and results of what is asked for. Raises LackingError."""
        if choice.label not in self._cells:
            self._cells[choice.label] = self._run(choice)
        return self._cells[choice.label]

    def _run(self, choice: EngineChoice) -> Cells:
        try:
            self.prepare([choice])
            if choice.word in self._building:
                with self.progress.activity(f"environment of {choice.word}") as notify:
                    if not self._building[choice.word].done():
                        notify("is being made")
                    self._codes[choice.word] = code_of(choice, self._building[choice.word].result())
            else:
                self._codes[choice.word] = code_of(choice, None)
            plans = plan_cases(self.pool, self._requests(choice))
        except (BuildError, SettingError, RunError) as error:  # an old release may lack a setting
            raise LackingError(str(error)) from None
        if plans[0].unavailable and all(plan.unavailable for plan in plans):
            raise LackingError(plans[0].unavailable)
        # A release without the profile "fair" runs as it is out of the box: the same case, once.
        firsts = {(plan.case.label, tuple(plan.case.settings.items())): plan for plan in reversed(plans)}
        own = [*reversed(firsts.values())]
        results = self._cache.results_of(self.pool, own, self.asked.limits, self.progress, choice.word)
        found = dict(zip(map(id, own), results))
        return [(plan, found[id(firsts[plan.case.label, tuple(plan.case.settings.items())])]) for plan in plans]

    def _requests(self, choice: EngineChoice) -> list[Request]:
        loaded = self._loading.load(self.asked.scenarios, [choice])
        return [
            Request(
                scenario=scenario,
                engine=choice,
                profile=profile,
                dt=self.asked.dt or step_of(scenario),
                declined=fault,
            )
            for given in loaded
            for scenario, fault in [self._loading.on(given, choice)]
            for profile in self.asked.profiles
        ]

    def compared(self, old: EngineChoice, new: EngineChoice) -> list[Comparison]:
        """Of two releases that have cells, by perturbed initial states where it takes these."""
        sides = [self.cells(old), self.cells(new)]
        results = {id(plan): result for cells in sides for plan, result in cells}
        pairs = without_doubles([plan for both in zip(*sides) for plan, _ in both])
        of = [(results[id(a)], results[id(b)]) for a, b in pairs]
        found = [compare(a.scenario, *both) for (a, _), both in zip(pairs, of)]
        rough = [
            i
            for i, one in enumerate(found)
            if self.asked.starts and (is_chaotic(one) or recorded_starts(one.scenario.scene))
        ]
        plans = [plan for i in rough for plan in pairs[i]]
        made = self._cache.ensembles_of(self.pool, plans, self.asked.starts, self.asked.limits, self.progress)
        evidence = settled({i: compare_ensembles(*both) for i, *both in zip(rough, made[::2], made[1::2])})
        for i, described in evidence.items():
            found[i] = compare(pairs[i][0].scenario, *of[i], described)
        return found

    def let_go(self, choice: EngineChoice) -> None:
        """End its server; it starts again if it is asked for."""
        self.pool.stop(*(remote for remote in self.pool.remotes if remote.what == choice.word))


@contextmanager
def open_releases(
    choices: Sequence[EngineChoice], asked: Asked, progress: Progress, executor: str = LOCAL
) -> Iterator[Releases]:
    """Raises SettingError where no release can have the settings, and ExecutorError."""
    check_settings(choices[-1:])
    if executor == LOCAL:
        warm_kernels(progress)
    commands: Mapping[str, Sequence[str]] = {one.word: command_of(one) for one in choices if not is_here(one)}
    with executor_at(executor, commands) as pool:
        measuring_remotes(pool)
        opened = Releases(asked, pool, progress)
        try:
            yield opened
        finally:
            opened.close()


def run_releases(
    choices: Sequence[EngineChoice], asked: Asked, progress: Progress, executor: str = LOCAL
) -> Iterator[Release]:
    """Each as it is done, the oldest first."""
    with open_releases(choices, asked, progress, executor) as opened:
        opened.prepare(choices)
        before: EngineChoice | None = None
        for choice in choices:
            version = choice.version or ""
            try:
                results = [result for _, result in opened.cells(choice)]
            except LackingError as error:
                yield Release(version=version, lacks=str(error))
                continue
            if before is None:
                yield Release(version=version, results=results)
            else:
                comparisons = opened.compared(before, choice)
                yield Release(version=version, before=before.version or "", results=results, comparisons=comparisons)
                opened.let_go(before)
            before = choice

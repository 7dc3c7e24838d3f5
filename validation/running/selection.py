"""What the words of a command mean where cases are stored: SCENARIO... and --engine WORD@PROFILE."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scenarios.catalogue import canonical_suite
from scenarios.catalogue.shared.scene_file import LABEL, scenario_from_scene
from scenarios.scenario import Scenario
from validation.engines import EngineChoice, engine_of, unavailable_engines
from validation.records.case import Case, Result, platform_class
from validation.records.names import with_profile
from validation.records.simulation import Simulation
from validation.running.function_files import is_function
from validation.running.model_files import is_model
from validation.running.models import (
    GivenModel,
    Loading,
    as_given,
    check_options,
    engines_for,
    given_of,
    models_of,
    step_of,
)
from validation.running.options import AS_IT_IS, ModelOptions, Options, RunError
from validation.running.planning import Request
from validation.running.processes.executor import Executor
from validation.store import Baseline, Store


def given_in(store: Store, word: str, asked: ModelOptions = AS_IT_IS) -> list[Scenario | GivenModel]:
    """Of the catalogue, of a scene or model file, or of a scene that is stored and named by its label.

    Raises ParameterError, SceneError, StoreError.
    """
    if LABEL.fullmatch(word):
        return [as_given(scenario_from_scene(*store.labelled_scene(word)))]
    return [*models_of(word, asked)] if is_model(word) or is_function(word) else given_of([word])


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What the words of a run name."""

    scenarios: Sequence[Scenario | GivenModel]
    engines: Sequence[EngineChoice]
    typed: Mapping[str, str]  # label -> the scenario's word

    @classmethod
    def of(cls, store: Store, options: Options) -> Words:
        """Raises ParameterError, SceneError, StoreError, EngineNameError for words that are none; RunError for options
        that are of nothing here."""
        found = [(one, word) for word in options.scenarios for one in given_in(store, word, options.model)]
        given = [one for one, _ in found]
        check_options(given, options.model)
        engines = [engine_of(word) for word in options.engines] or engines_for(given)
        return cls(scenarios=given, engines=engines, typed={one.label: word for one, word in found})

    @property
    def title(self) -> str:
        labels = [one.label for one in self.scenarios]
        more = f" and {len(labels) - 3} more" if len(labels) > 3 else ""
        return ", ".join(labels[:3]) + more if labels else "canonical suite"

    def requests(self, pool: Executor, options: Options) -> list[Request]:
        """Raises RunError where no engine loads a model."""
        loading, given = Loading(pool, options.limits), self.scenarios or canonical_suite()
        given = loading.load(given, self.engines)
        return [
            Request(
                scenario=scenario,
                engine=choice,
                profile=choice.profile or options.profile,
                dt=options.dt or step_of(scenario),
                alias=options.alias,
                declined=fault,
            )
            for one in given
            for choice in self.engines
            for scenario, fault in [loading.on(one, choice)]
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The cases of these scenarios on these engines; where none are named, of all."""

    scenarios: tuple[Scenario | GivenModel, ...] = ()
    engines: tuple[EngineChoice, ...] = ()

    def __contains__(self, case: Case) -> bool:
        return any(_is_of(case, *cell) for cell in self._cells())

    def lacking(self, cases: Iterable[Case]) -> list[str]:
        """What is named and none of `cases`: stack × pymunk@fair."""
        there = list(cases)
        return [_describe_cell(*cell) for cell in self._cells() if not any(_is_of(case, *cell) for case in there)]

    def __str__(self) -> str:
        scenarios = ", ".join(scenario.label for scenario in self.scenarios)
        engines = ", ".join(with_profile(choice.label, choice.profile) for choice in self.engines)
        return " ".join(filter(None, (scenarios, f"on {engines}" if engines else ""))) or "the whole run"

    def _cells(self) -> Iterator[tuple[Scenario | GivenModel | None, EngineChoice | None]]:
        for scenario in self.scenarios or (None,):
            for choice in self.engines or (None,):
                yield scenario, choice


def selection_of(store: Store, scenarios: Iterable[str], engines: Iterable[str]) -> Selection:
    """Raises what `given_in` does, and EngineNameError."""
    return Selection(
        scenarios=tuple(one for word in scenarios for one in given_in(store, word)),
        engines=tuple(engine_of(word) for word in engines),
    )


def stored_cases(
    store: Store, scenario: str, engines: Iterable[str], run: int | None
) -> tuple[int, list[Result]] | None:
    """Of the latest run that has them all, in its order; None where none has. Raises RunError where `run` has not."""
    selection = selection_of(store, [scenario], engines)
    for number in [run] if run is not None else [stored.number for stored in store.runs()]:
        found = [result for result in store.results(number) if result.case in selection]
        lacking = selection.lacking(result.case for result in found)
        if not lacking:
            return number, found
        if run is not None:
            raise RunError(f"run {run} has no {lacking[0]}; without --run the latest that has it is shown")
    return None


def _is_of(case: Case, scenario: Scenario | GivenModel | None, choice: EngineChoice | None) -> bool:
    identity = case.identity
    if scenario and (identity.scenario, json.loads(identity.given)) != (scenario.name, scenario.given):
        return False
    return choice is None or (
        identity.engine == choice.name
        and choice.version in (None, case.engine_version)
        and choice.profile in (None, identity.profile)
        and _overrides(case.engine_label) == _overrides(choice.label)
    )


def _overrides(label: str) -> set[str]:
    """In any order."""
    return set(label.partition(":")[2].split(","))


def _describe_cell(scenario: Scenario | GivenModel | None, choice: EngineChoice | None) -> str:
    engine = with_profile(choice.label, choice.profile) if choice else ""
    return " × ".join(filter(None, (scenario.label if scenario else "", engine)))


# --- what is accepted and not in the plan of a run: missing, unless it was not asked for ------------------------------


def arguments_of(options: Options) -> dict[str, Any]:
    """Which cases are asked for, as it was typed; nothing: all of them."""
    given = {
        "scenarios": sorted(options.scenarios),
        "engines": sorted(options.engines),
        "profile": options.profile,
        "dt": options.dt,
        "alias": options.alias,
    }
    return {name: value for name, value in given.items() if value}


def absent(
    store: Store, run: int, accepted: Mapping[str, Baseline], planned: Collection[Case]
) -> tuple[list[Result], list[Case]]:
    """Of the accepted cases of this kind of machine that are not planned: results of those that are missing, and those
    that were left out.

    Missing is what a run that was asked for by the same words has had. What was accepted without a result is not.
    """
    here = {case.identity.key for case in planned}
    lacking = {
        key: baseline.result.case
        for key, baseline in accepted.items()
        if key not in here
        and baseline.result.outcome != "declined"
        and baseline.result.case.identity.platform == platform_class()
    }
    expected = store.asked_likewise(run, lacking)
    gone = unavailable_engines()
    missing = [
        Result.of(case=case, simulation=Simulation(outcome="declined", reason=_why(case, gone)))
        for key, case in lacking.items()
        if key in expected
    ]
    return missing, [case for key, case in lacking.items() if key not in expected]


def _why(case: Case, gone: Mapping[str, str]) -> str:
    engine = case.identity.engine
    return f"not run: {engine} is not here, {gone[engine]}" if engine in gone else "not run: no longer in the plan"

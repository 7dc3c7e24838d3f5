"""What the words of a command mean where cases are stored: SCENARIO... and --engine WORD@PROFILE."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from scenarios.catalogue import scenario_of
from scenarios.catalogue.scene_file import LABEL, scenario_from_scene
from scenarios.scenario import Scenario
from validation.engines import EngineChoice, engine_of
from validation.records.case import Case
from validation.records.names import with_profile
from validation.store import Store


def scenario_in(store: Store, word: str) -> Scenario:
    """Of the catalogue, of a scene file, or of a scene that is stored and named by its label.

    Raises ParameterError, SceneError, StoreError.
    """
    return scenario_from_scene(*store.labelled_scene(word)) if LABEL.fullmatch(word) else scenario_of(word)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The cases of these scenarios on these engines; where none are named, of all."""

    scenarios: tuple[Scenario, ...] = ()
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

    def _cells(self) -> Iterator[tuple[Scenario | None, EngineChoice | None]]:
        for scenario in self.scenarios or (None,):
            for choice in self.engines or (None,):
                yield scenario, choice


def selection_of(store: Store, scenarios: Iterable[str], engines: Iterable[str]) -> Selection:
    """Raises what `scenario_in` does, and EngineNameError."""
    return Selection(
        scenarios=tuple(scenario_in(store, word) for word in scenarios),
        engines=tuple(engine_of(word) for word in engines),
    )


def _is_of(case: Case, scenario: Scenario | None, choice: EngineChoice | None) -> bool:
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


def _describe_cell(scenario: Scenario | None, choice: EngineChoice | None) -> str:
    engine = with_profile(choice.label, choice.profile) if choice else ""
    return " × ".join(filter(None, (scenario.label if scenario else "", engine)))

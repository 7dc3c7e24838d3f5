"""The scenario of a stored case, and verdicts on pairs of stored results."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from scenarios.scenario import ParameterError, Scenario
from validation.judging.comparison import ROUGH, as_baseline
from validation.judging.ensembles import compare as compare_ensembles
from validation.judging.ensembles import settled
from validation.judging.judge import judge
from validation.judging.verdict import Verdict
from validation.records.case import Case, Result
from validation.store.errors import StoreError

if TYPE_CHECKING:
    from validation.store import Store


def stored_verdicts(store: Store, pairs: Sequence[tuple[Result, Result]]) -> list[Verdict]:
    """The judge's on stored results (old, new), as if the old ones were accepted: with the laws of their scenarios, and
    the ensembles that the store has of both, settled together."""
    compared = {}
    for i, (old, new) in enumerate(pairs):
        same = old.trajectory_hash == new.trajectory_hash or not (old.trajectory_hash and new.trajectory_hash)
        if same or not any(m.noise in ROUGH for m in new.measurements):
            continue
        sides = [store.ensemble(side.number) for side in (old, new)]
        if sides[0] and sides[1]:
            compared[i] = compare_ensembles(sides[0], sides[1])
    evidence = settled(compared)
    laws: dict[tuple[str, str], Mapping[str, float]] = {}
    for _, new in pairs:
        which = new.case.label, new.case.scene_hash
        if which not in laws and new.measurements:
            laws[which] = _laws_of(store, new.case)
    return [
        judge(
            as_baseline(old),
            new,
            laws.get((new.case.label, new.case.scene_hash)),
            ensemble=evidence.get(i),
            scene_changed=store.scene_changed(old.case, new.case),
        )
        for i, (old, new) in enumerate(pairs)
    ]


def stored_scenario(store: Store, case: Case) -> Scenario:
    """Of the catalogue by its label; of a scene file from the stored scene, for the file may be gone. Raises
    ParameterError where the catalogue has it no more."""
    from scenarios.catalogue import scenario_of
    from scenarios.catalogue.shared.scene_file import scenario_from_scene

    if "content" in json.loads(case.identity.given):
        return scenario_from_scene(case.identity.scenario, store.scene(case.scene_hash))
    if not _is_of_catalogue(case):  # no file is read because a database names it
        raise ParameterError(f"{case.label}: no scenario of the catalogue")
    return scenario_of(case.label)


def _is_of_catalogue(case: Case) -> bool:
    from scenarios.catalogue import FAMILIES

    return "content" not in json.loads(case.identity.given) and case.label.partition(":")[0] in FAMILIES


@lru_cache(maxsize=4096)
def _catalogue_laws(label: str) -> Mapping[str, float]:
    """Kept: a page that compares runs asks for a hundred scenarios each time, and building them is most of its work."""
    from scenarios.catalogue import scenario_of

    return MappingProxyType(dict(scenario_of(label).laws))


def _laws_of(store: Store, case: Case) -> Mapping[str, float]:
    try:
        if _is_of_catalogue(case):
            return _catalogue_laws(case.label)
        return stored_scenario(store, case).laws
    except (ParameterError, StoreError):  # a scenario or scene that there is no more has no laws either
        return {}

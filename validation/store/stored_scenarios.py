"""The scenario of a stored case, and verdicts on pairs of stored results."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
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
    """The judge's on stored results (old, new), as if the old ones were accepted: with the laws and scales of their
    scenarios, and the ensembles that the store has of both, settled together."""
    compared = {}
    for i, (old, new) in enumerate(pairs):
        same = old.trajectory_hash == new.trajectory_hash or not (old.trajectory_hash and new.trajectory_hash)
        if same or not any(m.noise in ROUGH for m in new.measurements):
            continue
        sides = [store.ensemble(side.number) for side in (old, new)]
        if sides[0] and sides[1]:
            compared[i] = compare_ensembles(sides[0], sides[1])
    evidence = settled(compared)
    scenarios: dict[tuple[str, str], Scenario | None] = {}
    for _, new in pairs:
        which = new.case.label, new.case.scene_hash
        if which not in scenarios and new.measurements:
            scenarios[which] = _nearest_scenario(store, new.case)
    return [
        judge(
            as_baseline(old),
            new,
            scenarios.get((new.case.label, new.case.scene_hash)),
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
def _of_catalogue(label: str) -> Scenario:
    """Kept: a page that compares runs asks for a hundred scenarios each time, and building them is most of its work."""
    from scenarios.catalogue import scenario_of

    return scenario_of(label)


def _nearest_scenario(store: Store, case: Case) -> Scenario | None:
    """Where the catalogue has it no more, that of its scene alone, with the laws that hold for any scene; None where
    that is gone too."""
    from scenarios.catalogue.shared.scene_file import scenario_from_scene

    try:
        return _of_catalogue(case.label) if _is_of_catalogue(case) else stored_scenario(store, case)
    except ParameterError:
        with suppress(StoreError):
            return scenario_from_scene(case.identity.scenario, store.scene(case.scene_hash))
    except StoreError:
        pass
    return None

"""What `upright compare` does: both sides' environments, every scenario on both, side by side."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from scenarios.catalogue import comparison_suite, scenario_of
from validation.engines import EngineChoice, distribution_of, engine_of
from validation.judging.comparison import Comparison, compare, is_chaotic
from validation.judging.ensembles import EnsembleEvidence, settled
from validation.judging.ensembles import compare as compare_ensembles
from validation.judging.policy import STARTS
from validation.records.case import Result
from validation.records.names import with_profile
from validation.running.ensembles import Starts, run_ensembles
from validation.running.environments import packages_apart
from validation.running.options import Progress, RunError
from validation.running.processes.pool import Pool
from validation.running.runner import STEP, Limits, Plan, Request, hello_of, plan_cases, results_of
from validation.running.session import running_engines

BOTH = ("fair", "default")
"""Profiles that are run where none is asked for: what an engine's best settings hide shows out of the box."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    names: tuple[str, str]  # of the sides: as typed, with the version that ran
    comparisons: list[Comparison]  # in the order of the scenarios
    packages: Mapping[str, tuple[str, str]]  # that differ beside the engines


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
) -> Compared:
    """Every scenario on both engines, at the same time on the same machine; the comparison suite where none is named.
    What moved by a chaotic metric is run from so many perturbed `starts` on both sides, and
    judged by these; 0 for none.

    `options`: also with each other choice of each setting that both sides have, one at a time.

    Raises EngineNameError, ParameterError, SceneError, SettingError, BuildError; RunError where a side cannot be
    run at all.
    """
    sides = [engine_of(word) for word in words]
    chosen = [scenario_of(word) for word in dict.fromkeys(scenarios)] or comparison_suite()
    asked = [profile] if profile or any(side.profile for side in sides) else BOTH
    with running_engines(sides, progress, profile) as (pool, environments):
        variants = [{}, *(_variants(pool, sides) if options else [])]
        requests = [
            Request(scenario=scenario, engine=varied, profile=side.profile or one, dt=dt or STEP)
            for given in variants
            for one in asked
            for scenario in chosen
            for side in sides
            for varied in [replace(side, overrides={**side.overrides, **given})]
        ]
        pairs = without_doubles(plan_cases(pool, requests))
        plans = [plan for pair in pairs for plan in pair]
        for side, own in zip(sides, (plans[::2], plans[1::2])):
            if all(plan.unavailable for plan in own):
                raise RunError(f"{side.word} cannot be run: {own[0].unavailable}")
        results = results_of(pool, plans, limits, progress, " and ".join(words))
        sides_of = list(zip(results[::2], results[1::2]))
        comparisons = [compare(old.scenario, *of) for (old, _), of in zip(pairs, sides_of)]
        evidence = by_starts(pool, pairs, comparisons, limits, starts, progress)
        for i, described in evidence.items():
            comparisons[i] = compare(pairs[i][0].scenario, *sides_of[i], described)
    found = sides_of[0]
    several = found[0].case.identity.profile != found[1].case.identity.profile
    return Compared(
        names=(_name(found[0], profile=several), _name(found[1], profile=several)),
        comparisons=[
            replace(comparison, variant=_variant(old, sides[0])) for comparison, (old, _) in zip(comparisons, pairs)
        ],
        packages=packages_apart(
            (environments.get(sides[0].word), environments.get(sides[1].word)),
            {(distribution_of(side) or "").casefold() for side in sides},
        ),
    )


def by_starts(
    pool: Pool,
    pairs: Sequence[tuple[Plan, Plan]],
    comparisons: Sequence[Comparison],
    limits: Limits,
    count: int,
    progress: Progress,
) -> dict[int, EnsembleEvidence]:
    """By the place of the pair, what the ensembles of both sides say; of all that are compared settled together."""
    rough = [i for i, comparison in enumerate(comparisons) if is_chaotic(comparison)] if count else []
    if not rough:
        return {}
    wanted = [(plan, Starts(count=count)) for i in rough for plan in pairs[i]]
    made = list(run_ensembles(pool, wanted, limits, progress))
    return settled({i: compare_ensembles(*both) for i, *both in zip(rough, made[::2], made[1::2])})


def _variants(pool: Pool, sides: Sequence[EngineChoice]) -> list[dict[str, str]]:
    """Each choice of a setting that both sides have and neither word sets, but the one that is the default of both."""
    old, new = (hello_of(pool, side).get("choices", {}) for side in sides)
    typed = {name for side in sides for name in side.overrides}
    shared = [(name, value) for name in old if name in new and name not in typed for value in old[name]]
    return [{name: value} for name, value in shared if value in new[name] and not value == old[name][0] == new[name][0]]


def _variant(plan: Plan, side: EngineChoice) -> str:
    """What the case sets beyond the word that was typed."""
    given = plan.case.engine_label.partition(":")[2].split(",")
    return ",".join(item for item in given if item.partition("=")[0] not in side.overrides)


def without_doubles(plans: Sequence[Plan]) -> list[tuple[Plan, Plan]]:
    """The two sides of each case, once: an engine without a profile of that name runs as it is out of the box."""
    pairs: dict[str, tuple[Plan, Plan]] = {}
    for old, new in zip(plans[::2], plans[1::2]):
        same = json.dumps([[p.case.scene_hash, p.case.label, dict(p.case.settings)] for p in (old, new)])
        pairs.setdefault(same, (old, new))
    return list(pairs.values())


def _name(result: Result, *, profile: bool) -> str:
    """pymunk==6.11.1, or with the version that is here: pymunk 7.3.1; with its profile where the sides' differ."""
    case = result.case
    label = with_profile(case.engine_label, case.identity.profile) if profile else case.engine_label
    return label if "==" in label else f"{label} {case.engine_version}"

"""What `upright compare` does: both sides' environments, every scenario on both, side by side."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import click

from scenarios.catalogue import comparison_suite, scenario_of
from validation.case import CaseResult
from validation.cli.environments import commands_of, environments_of, packages_apart
from validation.cli.progress import progress
from validation.cli.session import warm_kernels
from validation.compare import Comparison, compare
from validation.engines import distribution_of, engine_of
from validation.processes.pool import Pool
from validation.report.names import with_profile
from validation.runner import STEP, Limits, Plan, Request, execute, measuring_remotes, plan_cases

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
    quiet: bool = False,
) -> Compared:
    """Every scenario on both engines, at the same time on the same machine; the comparison suite where none is named.

    Raises EngineWordError, ParameterError, SceneError, SettingError, BuildError; ClickException where a side cannot be
    run at all.
    """
    sides = [engine_of(word) for word in words]
    chosen = [scenario_of(word) for word in dict.fromkeys(scenarios)] or comparison_suite()
    asked = [profile] if profile or any(side.profile for side in sides) else BOTH
    requests = [
        Request(scenario=scenario, engine=side, profile=side.profile or one, dt=dt or STEP)
        for one in asked
        for scenario in chosen
        for side in sides
    ]
    environments = environments_of(sides)
    warm_kernels()
    with Pool(commands_of(environments)) as pool:
        measuring_remotes(pool)
        pairs = without_doubles(plan_cases(pool, requests))
        plans = [plan for pair in pairs for plan in pair]
        for side, own in zip(sides, (plans[::2], plans[1::2])):
            if all(plan.unavailable for plan in own):
                raise click.ClickException(f"{side.word} cannot be run: {own[0].unavailable}")
        results: dict[int, CaseResult] = {}
        with progress(" and ".join(words), len(plans), quiet=quiet) as bar:

            def on_result(result: CaseResult) -> None:
                results[id(result.case)] = result
                bar.advance(f"{result.case.label} × {result.case.engine_label}")

            execute(pool, plans, limits, on_result)
    found = [results[id(plan.case)] for plan in plans]
    several = found[0].case.identity.profile != found[1].case.identity.profile
    return Compared(
        names=(_name(found[0], profile=several), _name(found[1], profile=several)),
        comparisons=[compare(pair[0].scenario, *found[2 * i : 2 * i + 2]) for i, pair in enumerate(pairs)],
        packages=packages_apart(
            (environments.get(sides[0].word), environments.get(sides[1].word)),
            {(distribution_of(side) or "").casefold() for side in sides},
        ),
    )


def without_doubles(plans: Sequence[Plan]) -> list[tuple[Plan, Plan]]:
    """The two sides of each case, once: an engine without a profile of that name runs as it is out of the box."""
    pairs: dict[str, tuple[Plan, Plan]] = {}
    for old, new in zip(plans[::2], plans[1::2]):
        same = json.dumps([[p.case.scene_hash, p.case.label, dict(p.case.settings)] for p in (old, new)])
        pairs.setdefault(same, (old, new))
    return list(pairs.values())


def _name(result: CaseResult, *, profile: bool) -> str:
    """pymunk==6.11.1, or with the version that is here: pymunk 7.3.1; with its profile where the sides' differ."""
    case = result.case
    label = with_profile(case.engine_label, case.identity.profile) if profile else case.engine_label
    return label if "==" in label else f"{label} {case.engine_version}"

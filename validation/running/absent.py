"""What is accepted and not in the plan of a run: missing, unless it was not asked for."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from validation.engines import unavailable_engines
from validation.records.case import Case, Result, platform_class
from validation.records.simulation import Simulation
from validation.running.options import Options
from validation.store import Baseline, Store


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

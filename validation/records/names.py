"""What metrics and engines are called in front of people: one name each, the same in every report."""

import json
from functools import cache
from typing import Any

from validation.records.case import Case


def metric_name(metric: str, case: Case) -> str:
    """In words, "rest drift"; `truth_error_goal` by what the scenario is about, "truth error of stop distance"."""
    return metric_name_in(case.identity.scenario, case.parameters, metric)


def metric_name_in(scenario: str, parameters: str, metric: str) -> str:
    goal = goal_of(metric, scenario, parameters)
    return f"truth error of {goal}" if goal else without_underscores(metric)


def without_underscores(metric: str) -> str:
    """The metric of no certain scenario: truth error goal"""
    return metric.replace("_", " ")


@cache
def goal_of(metric: str, scenario: str, parameters: str) -> str:
    """What the metric is the error of: stop distance; "" if it is of no goal, or the catalogue has no such scenario."""
    if metric != "truth_error_goal":
        return ""
    from scenarios.catalogue import FAMILIES  # every command reports, few need the catalogue for it
    from scenarios.scenario import ParameterError

    if scenario not in FAMILIES:
        return ""
    try:
        goal = FAMILIES[scenario].scenario(parameters_of(parameters)).truth.goal
    except ParameterError:
        return ""
    return goal.name if goal else ""


def subject_of(case: Case) -> str:
    """What the scene is of: the stack of 10; "" where it is a user's own, or of another version's catalogue."""
    from scenarios.catalogue import FAMILIES

    family = FAMILIES.get(case.identity.scenario)
    try:
        return family.subject.format_map(parameters_of(case.parameters)) if family else ""
    except KeyError:
        return ""


def parameters_of(text: str) -> dict[str, Any]:
    """Those of a catalogue scenario; of a scene file its content hash."""
    try:
        data = json.loads(text)
    except ValueError:
        data = None
    return data if isinstance(data, dict) else {"scene": text}


def engine_name(case: Case, *, profile: bool = True) -> str:
    """The engine as typed, with its profile, and the name that the case was given: pymunk@fair:iterations=5 (mine)"""
    alias = f" ({case.identity.alias})" if case.identity.alias else ""
    return (engine_token(case) if profile else case.engine_label) + alias


def engine_token(case: Case) -> str:
    """What `--engine` takes for it: pymunk@fair:iterations=5."""
    return with_profile(case.engine_label, case.identity.profile)


def with_profile(label: str, profile: str | None) -> str:
    """The word of an engine as typed without its profile."""
    name, colon, overrides = label.partition(":")
    return f"{name}@{profile}{colon}{overrides}" if profile else label

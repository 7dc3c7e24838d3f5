"""A metric and an engine are called the same in every report; the error of a goal by what the goal is."""

from __future__ import annotations

import re

import pytest
from click import unstyle

from scenarios.catalogue import scenario_of
from tests.suite import SUITE
from tests.validation.report.made import pair, stored
from tests.validation.store.made import case, measurement
from validation.judging.convergence import ORDER
from validation.judging.ensembles import COMPLETED
from validation.metrics import METRICS
from validation.records.case import Case, Result
from validation.records.names import engine_name, metric_name
from validation.report.jsonl import case_line
from validation.report.junit import junit_xml
from validation.report.listing import scenario_lines
from validation.report.markdown import markdown_summary
from validation.report.sentences import reason_of
from validation.report.table import render_case, render_table, render_verdicts

GOAL = "truth_error_goal"


def thrown(value: float) -> Result:
    of = case("thrown-box", parameters={})
    return stored(of, measurements=(measurement(GOAL, value),), headline=GOAL, trajectory_hash=f"{value}")


def test_the_error_of_a_goal_is_called_after_the_goal_of_the_scenario() -> None:
    goals = {scenario.label: scenario.truth.goal for scenario in SUITE}
    for scenario in SUITE:
        of = case(scenario.name, parameters=dict(scenario.parameters))
        goal = goals[scenario.label]
        assert metric_name(GOAL, of) == (f"truth error of {goal.name}" if goal else "truth error goal")
    assert len({goal.name for goal in goals.values() if goal}) > 5


@pytest.mark.parametrize(
    "of",
    [
        case("thrown-box", parameters={"colour": "red"}),  # a parameter of another version
        case("thrown-box", parameters={"speed": -1.0}),
        case("a scenario of another version", parameters={}),
        case("my scene", parameters={}),
    ],
)
def test_what_the_catalogue_does_not_know_keeps_the_metrics_own_name(of: Case) -> None:
    assert metric_name(GOAL, of) == "truth error goal"


@pytest.mark.parametrize("metric", [*METRICS, "step_time", ORDER, COMPLETED])
def test_a_metric_has_no_underscore_in_front_of_people(metric: str) -> None:
    """What people type and what programs read keeps it."""
    of = case("upright-block", parameters={})
    assert metric_name(metric, of) == metric.replace("_", " ")
    before, after = (stored(of, measurements=(measurement(metric, value),), headline=metric) for value in (1.0, 2.0))
    verdicts = [pair(after, before)]
    for text in (
        render_table([after]),
        render_case([after]),
        render_verdicts(verdicts, width=200),
        markdown_summary(verdicts, run=7),
        junit_xml(verdicts),
    ):
        assert metric not in text.replace("&#95;", "_")
    assert f'"{metric}"' in case_line(7, *verdicts[0])


def test_upright_scenarios_names_metrics_as_the_tables_do() -> None:
    text = scenario_lines(scenario_of("thrown-box"))
    assert "truth error of stop distance" in text and "penetration max <= " in text


def test_every_report_calls_the_error_of_a_goal_the_same() -> None:
    pairs = [pair(thrown(3.2e-3), thrown(0.4e-3))]
    name = "truth error of stop distance"
    assert f"{name} 3.2 mm, was 0.4 mm (8 times" in reason_of(pairs[0][1])
    for text in (
        render_table([pairs[0][0]]),
        render_case([pairs[0][0]]),
        render_verdicts(pairs, width=200),
        markdown_summary(pairs, run=7),
        junit_xml(pairs),
    ):
        assert name in unstyle(text) and not re.search("truth.error.goal", text)


def test_an_engine_is_called_as_typed_with_its_profile_and_the_name_that_the_case_was_given() -> None:
    of = case(overrides="iterations=5", alias="mine")
    assert engine_name(of) == "pymunk@fair:iterations=5 (mine)"
    assert engine_name(of, profile=False) == "pymunk:iterations=5 (mine)"

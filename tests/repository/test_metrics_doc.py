"""docs/metrics.md tells of the metrics as the code has them."""

from __future__ import annotations

import inspect
import re
import typing
from pathlib import Path

import pytest

from scenarios.catalogue import scenario_of
from scenarios.catalogue.shared.scene_file import may_collide, scenario_from_scene
from scenarios.truth import Invariant
from tests.suite import SUITE
from validation.metrics import METRICS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
CODE = ROOT / "validation" / "metrics"


def table(section: str) -> list[list[str]]:
    """Rows of the table under this heading, a cell each, without its heading."""
    text = PAGE.split(f"## {section}\n")[1].split("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


ROWS = {row[0].strip("`"): row[1:] for row in table("The table")}


def test_the_page_has_every_metric_once_in_the_order_of_the_code() -> None:
    assert [row[0] for row in table("The table")] == [f"`{name}`" for name in METRICS]


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_has_the_same_unit_direction_and_noise_class_on_the_page_and_in_the_code(name: str) -> None:
    metric = METRICS[name]
    _, unit, better, noise, _, _ = ROWS[name]
    assert (unit, better, noise) == (metric.unit, metric.better, metric.noise)


@pytest.mark.parametrize("name", METRICS)
def test_the_page_says_where_a_metric_is_not_a_number_if_the_code_says_that_it_may_not_be(name: str) -> None:
    not_defined = ROWS[name][4]
    assert not_defined.startswith("left out ")
    assert ("NaN " in not_defined) == (METRICS[name].happens == "perhaps")


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_has_a_definition_and_a_source_and_stands_in_the_file_that_the_page_names(name: str) -> None:
    definition, source = ROWS[name][0], ROWS[name][5]
    assert definition and source.rpartition(";")[0]
    files = re.findall(r"`(\w+\.py)`", source)
    assert Path(inspect.getfile(METRICS[name].measure)).name == files[0]
    assert all((CODE / file).exists() for file in files)


def test_every_invariant_is_judged_by_metrics_that_there_are() -> None:
    judged = judges()
    assert list(judged) == list(typing.get_args(Invariant))
    assert {name for names in judged.values() for name in names} <= set(METRICS)


def judges() -> dict[str, list[str]]:
    return {row[0].strip("`"): re.findall(r"`(\w+)`", row[1]) for row in table("Invariants and what judges them")}


@pytest.mark.parametrize("from_file", [False, True])
def test_no_scenario_claims_what_none_of_its_metrics_measures(from_file: bool) -> None:
    """The canonical suite, and its scenes once more as a user's own."""
    judged = judges()
    for scenario in [*SUITE, scenario_of("compliant-bounce"), scenario_of("rolling-balls")]:
        claimed = scenario_from_scene("mine", scenario.scene) if from_file else scenario
        for invariant in claimed.truth.invariants:
            assert set(judged[invariant]) - claimed.meaningless, f"{claimed.label}: {invariant}"
        if "no-overlap" in claimed.truth.invariants:
            assert ("penetration_max" in claimed.laws) == may_collide(claimed.scene), claimed.label


def test_the_classes_of_the_suite_are_those_that_the_page_on_noise_explains() -> None:
    explained = re.findall(r"^\| ([\w-]+) \|", (ROOT / "docs" / "noise.md").read_text(encoding="utf-8"), re.MULTILINE)
    used = {metric.noise for metric in METRICS.values()} | set(scenario_of("stack").noise.values())
    assert used <= set(explained)

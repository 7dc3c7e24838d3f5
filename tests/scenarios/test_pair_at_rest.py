"""Each pair of shapes touches at the start, and what stands there rests by statics."""

from __future__ import annotations

import numpy as np
import pytest

from scenarios.catalogue import FAMILIES, comparison_suite
from scenarios.catalogue.pair_at_rest import EVERY_PAIR
from scenarios.scene import spatial_start
from tests.scenarios.start_gaps import start_gaps
from validation.metrics import measure
from validation.running.warm_up import standing_still

TOUCHING = [given for given in EVERY_PAIR if given["start"] == "touching"]
DROPPED = [given for given in EVERY_PAIR if given["start"] == "dropped"]


def label(given: dict) -> str:
    return f"{given['upper']} on {given['lower']}"


@pytest.mark.parametrize("given", TOUCHING, ids=label)
def test_what_stands_touches_overlaps_nowhere_and_has_no_error(given: dict) -> None:
    scenario = FAMILIES["pair-at-rest"].scenario(given)
    found = {m.metric: m.value for m in measure(scenario, standing_still(scenario.scene))}
    assert found["penetration_max"] <= 1e-12 and abs(found["gap_final"]) <= 1e-12
    assert found["truth_error_position"] == found["truth_error_angle"] == 0.0


@pytest.mark.parametrize("given", DROPPED, ids=label)
def test_what_is_dropped_begins_clear_of_what_is_below_and_tilted(given: dict) -> None:
    scenario = FAMILIES["pair-at-rest"].scenario(given)
    assert all(gap > 0.0 for gap in start_gaps(scenario.scene).values())
    _, orientation, _, _ = spatial_start(scenario.scene)
    assert np.linalg.norm(orientation[0]) == pytest.approx(1.0, abs=1e-12)


def test_the_comparison_suite_has_every_scenario_once() -> None:
    suite = comparison_suite()
    labels = [scenario.label for scenario in suite]
    assert len(labels) == len(set(labels))
    assert sum(scenario.name == "pair-at-rest" for scenario in suite) == len(EVERY_PAIR) == 48

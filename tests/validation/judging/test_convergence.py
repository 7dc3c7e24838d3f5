"""The observed order of convergence is the power of the time step by which the error shrinks."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from tests.validation.command import upright
from tests.validation.judging.test_judge import accepted, of
from tests.validation.store.made import case, info, judged, measurement, result
from validation.judging.convergence import ORDER, REFINED, convergence_order
from validation.records.measurement import Measurement
from validation.store import Store, open_store
from validation.store.errors import StoreError


def errors(
    *values: float, resolution: float | None = None, metric: str = "truth_error_goal"
) -> list[list[Measurement]]:
    return [[measurement(metric, value, noise="tolerance", resolution=resolution)] for value in values]


@pytest.mark.parametrize("order", [0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_power_of_the_step_is_found_exactly(order: float, sign: float) -> None:
    found = convergence_order(errors(*(sign * 3e-2 * part**order for part in REFINED)))
    assert found and found.metric == ORDER and found.better == "higher"
    assert found.value == pytest.approx(order, rel=1e-12) and found.resolution == pytest.approx(0.0, abs=1e-12)


def test_halvings_that_disagree_are_its_resolution() -> None:
    """e = dt + dt^2: the orders of the two halvings are log2(2 / 0.75) and log2(0.75 / 0.3125)."""
    found = convergence_order(errors(*(part + part**2 for part in REFINED)))
    first, second = math.log2(2.0 / 0.75), math.log2(0.75 / 0.3125)
    assert found and found.value == pytest.approx((first + second) / 2.0)
    assert found.resolution == pytest.approx((first - second) / 2.0)


@pytest.mark.parametrize(
    "refined",
    [
        errors(1e-9, 5e-10, 2.5e-10),  # round-off
        errors(1e-2, math.nan, 2e-3),  # did not happen
        errors(4e-3, 2e-3, 1e-3, resolution=2e-4),  # hardly more than can be resolved
        [*errors(4e-3, 2e-3), []],  # could not be measured
        errors(4e-3, 2e-3, 1e-3, metric="energy_drift"),  # no error against the truth
    ],
)
def test_where_nothing_shrinks_that_can_be_told_there_is_no_order(refined: list[list[Measurement]]) -> None:
    assert convergence_order(refined) is None


def test_a_lower_order_is_a_regression_and_one_that_was_not_asked_for_is_none() -> None:
    known = measurement("truth_error_goal", 1e-2, noise="tolerance")
    order = measurement(ORDER, 2.0, "1", noise="tolerance", better="higher", resolution=0.01)
    lower = measurement(ORDER, 1.0, "1", noise="tolerance", better="higher", resolution=0.01)
    baseline = accepted(of(known, order))
    worse = judged(baseline, of(known, lower, trajectory_hash="other"))
    assert (worse.word, worse.metric) == ("regressed", ORDER)
    assert judged(baseline, of(known, trajectory_hash="other")).word == "pass"


def test_what_is_added_to_a_case_comes_last_and_changes_nothing(tmp_path: Path) -> None:
    with open_store(tmp_path / "upright.db") as store:
        run, key = stored(store)
        more = measurement(ORDER, 1.0, "1")
        store.add_measurements(run, {key: [more, measurement(value=9.0)]})
        store.add_measurements(run, {key: [measurement(ORDER, 7.0, "1")]})
        assert store.results(run)[0].measurements == (measurement(), more)
        with pytest.raises(StoreError, match="is none of its cases that are done; nothing was added"):
            store.add_measurements(run, {"else": [more]})


def stored(store: Store) -> tuple[int, str]:
    run = store.begin_run(info(), [case()])
    store.save_results(run, [result()])
    return run, store.results(run)[0].key


@pytest.mark.slow
def test_an_integrator_of_first_order_is_told_to_be_one(tmp_path: Path) -> None:
    """Chipmunk moves positions by the velocities of before the step, which is of first order."""
    words = ("thrown-box", "--engine", "pymunk", "--order")
    assert upright("run", *words, folder=tmp_path, UPRIGHT_DB="").returncode == 0
    with open_store(tmp_path / "upright.db") as store:
        (order,) = [m for m in store.results(1)[0].measurements if m.metric == ORDER]
        assert order.value == pytest.approx(1.0, abs=0.01) and order.resolution and order.resolution < 0.01
        store.accept(1, who="R.", reason="x")
    done = upright("check", "thrown-box", "--engine", "pymunk", folder=tmp_path, UPRIGHT_DB="")
    assert done.returncode == 0 and "smaller time steps" not in done.stderr
    with open_store(tmp_path / "upright.db") as store:
        assert order in store.results(2)[0].measurements, "the same bits have the same order"

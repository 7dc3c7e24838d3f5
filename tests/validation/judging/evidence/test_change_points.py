"""A history is levels with steps and drifts between them; what is noise, an outlier or below the floor is neither."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.effort import tries
from validation.judging.evidence.change_points import Course, Floor, accumulated, course, newest_step, split_evidence
from validation.judging.policy import AFTER, BEFORE, CONSTANT, EVIDENCE

Array = NDArray[np.float64]
FLOOR = Floor(absolute=1e-9)


def noise(count: int, seed: int = 0, size: float = 0.03) -> Array:
    """About 1."""
    return 1.0 + size * np.random.default_rng(seed).standard_normal(count)


def stepped(*levels: tuple[int, float], seed: int = 0, size: float = 0.03) -> Array:
    """So many values of each level."""
    shape = np.concatenate([np.full(count, level) for count, level in levels])
    return shape * noise(len(shape), seed, size)


def places(found: Course) -> list[int]:
    return [shift.start for shift in found.shifts]


# --- steps ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_a_step_of_five_per_cent_on_three_per_cent_noise_is_found_where_it_is(seed: int) -> None:
    (shift,) = course(stepped((200, 1.0), (100, 1.05), seed=seed), FLOOR).shifts
    assert not shift.slow and abs(shift.start - 200) <= 5  # one in ten is placed worse than by 3, at best
    assert shift.size == pytest.approx(0.05, abs=0.02) and shift.evidence > EVIDENCE
    assert shift.tolerances == pytest.approx(shift.size / (0.02 * shift.before))


def test_a_large_step_is_noticed_after_a_few_values_and_an_outlier_never() -> None:
    values = stepped((200, 1.0), (AFTER + 1, 2.0))
    assert newest_step(values, FLOOR) == 200
    assert newest_step(values[: 200 + AFTER - 1], FLOOR) is None, "so many outliers are not yet a level"
    wild = noise(300)
    wild[[50, 120, 121, 250, 299]] = (40.0, 1e6, 1e6, -5.0, 1e12)
    assert course(wild, FLOOR).shifts == ()


@pytest.mark.parametrize("seed", range(3))
def test_up_and_down_again_are_two_steps(seed: int) -> None:
    found = course(stepped((150, 1.0), (60, 1.2), (150, 1.0), seed=seed), FLOOR)
    assert len(found.shifts) == 2 and places(found) == pytest.approx([150, 210], abs=2)
    assert [shift.size > 0.0 for shift in found.shifts] == [True, False]
    assert found.level == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize("distribution", ["normal", "lognormal", "t3", "two values"])
def test_quiet_noise_has_no_step_however_it_is_distributed(distribution: str) -> None:
    random = np.random.default_rng(3)
    values: Any = {
        "normal": random.standard_normal((6, 400)),
        "lognormal": np.exp(random.standard_normal((6, 400))),
        "t3": random.standard_t(3, (6, 400)),
        "two values": random.integers(0, 2, (6, 400)).astype(float),
    }[distribution]
    for row in values:
        found = course(row, Floor(absolute=0.0, relative=0.0))
        assert found.shifts == () and found.accumulated is None


def test_the_evidence_has_mean_0_and_variance_1_in_any_order_of_the_values() -> None:
    """Without replacement: over all orders exactly, whatever the values; here over 4,000 of them."""
    values = np.random.default_rng(1).permuted(np.tile(np.exp(noise(60, size=2.0)), (4000, 1)), axis=1)
    evidence = split_evidence(values)
    assert evidence.shape == (4000, 59)
    inside = evidence[:, BEFORE - 1 : 60 - AFTER]
    assert np.abs(inside.mean(axis=0)).max() < 0.08 and inside.var(axis=0) == pytest.approx(1.0, abs=0.12)
    assert not evidence[:, : BEFORE - 1].any() and not evidence[:, 60 - AFTER :].any()


@given(st.integers(0, 10_000), st.floats(0.2, 5.0), st.floats(-3.0, 3.0))
@settings(max_examples=tries(20))
def test_steps_stay_where_they_are_in_other_units(seed: int, factor: float, offset: float) -> None:
    """Ranks know no unit. The relative floor is left out: it is relative to zero."""
    none = Floor(absolute=0.0, relative=0.0)
    values = stepped((80, 1.0), (40, 1.15), seed=seed)
    assert places(course(factor * values + offset, none)) == places(course(values, none)) != []


# --- constants, and what is nearly one ------------------------------------------------------------------------------


def test_the_first_other_value_of_a_constant_is_a_step() -> None:
    values = np.full(50, 4e-4)
    values[40:] = 5e-4
    for seen in (41, 42, 50):
        (shift,) = course(values[:seen], FLOOR).shifts
        assert (shift.start, shift.evidence) == (40, math.inf)
    assert newest_step(np.array([1.0] * (CONSTANT - 1) + [2.0]), FLOOR) is None, "too short to be called constant"


def test_equal_and_nearly_equal_values_are_one_level() -> None:
    assert course(np.full(300, 0.1), FLOOR) == Course(shifts=(), accumulated=None, level=0.1)
    nearly = np.full(300, 0.1)
    nearly[100:] += 1e-12  # any test would call this certain
    assert course(nearly, FLOOR).shifts == () and course(nearly, FLOOR).accumulated is None
    nearly[100:] += 1e-2
    assert places(course(nearly, Floor(absolute=1e-4))) == [100]
    assert course(nearly, Floor(absolute=2e-2)).shifts == ()


def test_a_value_that_was_there_once_is_a_step_only_until_it_is_taken_back() -> None:
    values = np.ones(60)
    values[40] = 2.0
    assert places(course(values[:41], FLOOR)) == [40]
    assert course(values, FLOOR).shifts == ()


def test_what_is_certain_but_smaller_than_the_floor_is_no_step() -> None:
    values = stepped((200, 1.0), (200, 1.015), size=0.005)
    assert course(values, FLOOR).shifts == (), "1.5 % of the level; the floor is 2 %"
    assert places(course(values, Floor(absolute=1e-9, relative=0.01))) == pytest.approx([200], abs=3)


# --- drift ----------------------------------------------------------------------------------------------------------


def drifting(by: float, over: int, *, before: int = 150, after: int = 0, seed: int = 0) -> Array:
    ramp = np.clip((np.arange(before + over + after) - before) / over, 0.0, 1.0)
    return noise(len(ramp), seed) * (1.0 + by * ramp)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("after", [0, 150])
def test_ten_per_cent_over_200_runs_is_a_drift_and_no_step(seed: int, after: int) -> None:
    (shift,) = course(drifting(0.10, 200, after=after, seed=seed), FLOOR).shifts
    assert shift.slow and shift.size == pytest.approx(0.10, abs=0.03)
    assert shift.start == pytest.approx(150, abs=60) and shift.end == pytest.approx(350, abs=60)


@pytest.mark.parametrize("seed", range(4))
def test_a_step_is_no_drift(seed: int) -> None:
    found = course(stepped((150, 1.0), (200, 1.1), seed=seed), FLOOR)
    assert [shift.slow for shift in found.shifts] == [False]


def test_what_moves_too_slowly_for_any_window_has_moved_since_it_was_accepted() -> None:
    slow = drifting(0.05, 900, before=50, seed=1)
    moved = course(slow, FLOOR).accumulated
    assert moved is not None and moved.size == pytest.approx(0.05, abs=0.015) and moved.slow
    assert course(slow, FLOOR, since=850).accumulated is None, "what was accepted lately is where it was"


def test_the_accumulated_change_needs_values_at_both_ends() -> None:
    assert accumulated(stepped((BEFORE, 1.0), (BEFORE, 2.0)), FLOOR) is None
    assert accumulated(stepped((4 * BEFORE, 1.0), (4 * BEFORE, 2.0)), FLOOR) is not None
    assert accumulated(np.array([]), FLOOR) is None


# --- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("values", [[], [1.0, math.nan], [math.inf], [[1.0]]])
def test_only_finite_values_have_a_course(values: Any) -> None:
    with pytest.raises(ValueError, match="allowed: finite"):
        course(values, FLOOR)


@pytest.mark.parametrize("given", [{"absolute": -1.0}, {"absolute": math.nan}, {"absolute": 0.0, "relative": math.inf}])
def test_a_floor_is_a_number(given: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="allowed: 0 or more, finite"):
        Floor(**given)

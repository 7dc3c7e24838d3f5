"""Two ensembles are compared by ranks, many comparisons together, and only for as long as the starts agree."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.effort import tries
from validation.judging.evidence.ensembles import (
    EXACT,
    adjusted,
    contrast,
    exact_rank_sum_p,
    failures,
    predictable_until,
)

NAN = math.nan
FLOOR = 1e-6


def ranks_of(values: np.ndarray) -> Any:
    from scipy.stats import rankdata  # which takes a second to import

    return rankdata(values)


def test_twenty_against_twenty_that_do_not_overlap_are_as_sure_as_counting_allows() -> None:
    """Two of the C(40, 20) ways to choose which twenty are the new ones are as extreme."""
    old, new = np.linspace(1.0, 2.0, 20), np.linspace(3.0, 4.0, 20)
    found = contrast(old, new, FLOOR)
    assert found.p == pytest.approx(2 / math.comb(40, 20), rel=1e-9)
    assert (found.effect, found.old, found.new) == (1.0, 1.5, 3.5)


def test_one_against_twenty_can_say_nothing() -> None:
    assert contrast(np.linspace(1.0, 2.0, 20), [1e9], FLOOR).p == pytest.approx(2 / 21)


def test_p_with_ties_is_the_share_of_all_ways_to_deal_the_values_out() -> None:
    values = np.array([1.0, 1.0, 2.0, 2.0, 2.0, 3.0, 3.0, 4.0, 5.0, 5.0])
    ranks = ranks_of(values)
    sums = [ranks[list(chosen)].sum() for chosen in itertools.combinations(range(10), 4)]
    found = ranks[[5, 7, 8, 9]].sum()
    two_sided = 2 * min(np.mean(np.less_equal(sums, found)), np.mean(np.greater_equal(sums, found)))
    assert contrast(values[[0, 1, 2, 3, 4, 6]], values[[5, 7, 8, 9]], FLOOR).p == pytest.approx(two_sided, rel=1e-12)


def test_many_starts_are_compared_as_a_hundred_are() -> None:
    random = np.random.default_rng(4)
    old, new = random.standard_normal(51), random.standard_normal(51) + 0.5
    exact = exact_rank_sum_p(ranks_of(np.concatenate([old, new])), 51)
    assert len(old) + len(new) > EXACT and contrast(old, new, FLOOR).p == pytest.approx(exact, rel=0.05)


@given(st.integers(0, 10_000))
@settings(max_examples=tries(25))
def test_the_effect_is_the_share_of_pairs_in_which_the_new_one_is_larger(seed: int) -> None:
    random = np.random.default_rng(seed)
    old, new = random.integers(0, 6, 12).astype(float), random.integers(1, 7, 15).astype(float)
    larger = (new[:, None] > old).mean() + 0.5 * (new[:, None] == old).mean()
    found, back = contrast(old, new, FLOOR), contrast(new, old, FLOOR)
    assert found.effect == pytest.approx(larger) and back.effect == pytest.approx(1.0 - larger)
    assert back.p == pytest.approx(found.p)


@pytest.mark.parametrize("apart", [0.0, 1e-12])
def test_equal_and_nearly_equal_constants_are_the_same(apart: float) -> None:
    """Eight against eight that are 1e-12 larger are certain in every test."""
    found = contrast(np.full(8, 0.1), np.full(8, 0.1 + apart), FLOOR)
    assert (found.p, found.effect) == (1.0, 0.5)
    assert contrast(np.full(8, 0.1), np.full(8, 0.1 + 3 * FLOOR), FLOOR).p < 1e-3


def test_what_did_not_happen_is_larger_than_any_number() -> None:
    old, new = [1.0] * 10, [NAN] * 9 + [1.0]
    found = contrast(old, new, FLOOR)
    assert (found.old, found.new, found.effect) == (1.0, math.inf, 0.95)
    assert found.p < 1e-3 and contrast(new, new, FLOOR).p == 1.0


def test_quiet_pairs_are_as_unlikely_as_p_says() -> None:
    random = np.random.default_rng(2)
    pairs = tries(1500)
    p = np.array([contrast(*random.lognormal(size=(2, 20)), FLOOR).p for _ in range(pairs)])
    for q in (0.5, 0.1, 0.01):
        assert (p <= q).mean() == pytest.approx(q, abs=4.0 * math.sqrt(q / pairs))


@pytest.mark.parametrize(
    ("old", "new", "floor", "words"),
    [([], [1.0], 1e-6, "0 and 1 values"), ([1.0], [1.0], 0.0, "floor: 0.0"), ([1.0], [1.0], NAN, "floor: nan")],
)
def test_what_cannot_be_compared_is_refused(old: Any, new: Any, floor: float, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        contrast(old, new, floor)


def test_of_many_comparisons_the_surest_are_held_against_their_number() -> None:
    """Benjamini & Hochberg: p times the number of tests over its rank, and no larger than that of a less sure one."""
    assert adjusted([0.01, 0.04, 0.03, 0.8]) == pytest.approx([0.04, 4 * 0.04 / 3, 4 * 0.04 / 3, 0.8])
    assert adjusted([]) == []


def test_starts_that_fail_are_counted_as_fisher_does() -> None:
    assert failures((0, 20), (0, 20)) == 1.0
    assert failures((0, 10), (10, 10)) == pytest.approx(2 / math.comb(20, 10))


def diverging(rate: float, starts: int = 9) -> tuple[Any, Any]:
    """One point in a plane; every start leaves the middle by its number times 1e-6 exp(rate t)."""
    time = np.linspace(0.0, 10.0, 101)
    number = np.linspace(-1.0, 1.0, starts)
    x = 1e-6 * number[:, None] * np.exp(rate * time)
    return time, np.stack([x, np.zeros_like(x)], axis=-1)[:, :, None, :]


def test_the_horizon_is_when_half_of_the_starts_have_left_the_middle() -> None:
    time, points = diverging(2.0)
    expected = math.log(1e-2 / 0.5e-6) / 2.0  # of the start that is half as far out as the furthest
    assert predictable_until(time, points, 1e-2) == pytest.approx(expected, abs=0.1)
    assert predictable_until(*diverging(0.0), 1e-2) == 10.0
    points[0] = NAN
    assert predictable_until(time, points, 1e-2) == 0.0, "what is no number agrees with nothing"


@pytest.mark.parametrize("shape", [(1, 101, 1, 2), (3, 100, 1, 2), (3, 101, 2)])
def test_a_horizon_needs_two_starts_at_the_same_times(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="points"):
        predictable_until(np.linspace(0.0, 10.0, 101), np.zeros(shape), 1e-2)

"""The release that changed a scenario is found in few looks, past those that cannot be run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest

from scenarios.catalogue import scenario_of
from tests.validation.report.made import stored
from validation.engines import EngineChoice
from validation.judging.comparison import Comparison, Sign
from validation.running.options import RunError
from validation.running.versions import LackingError
from validation.tools.bisect_releases import is_range, search

SCENARIO = scenario_of("upright-block")
RELEASES = [EngineChoice(kind="registered", name="toy", version=f"1.{i}") for i in range(40)]


class History:
    """Releases of which each has a depth; those named are lacking. Stands for `Releases`, and counts who is asked."""

    def __init__(self, since: int, sign: Sign = "worse", lacking: Sequence[int] = ()) -> None:
        self.since, self.sign, self.lacking = since, sign, lacking
        self.asked: list[int] = []

    def cells(self, choice: EngineChoice) -> list[Any]:
        number = RELEASES.index(choice)
        self.asked += [number] if number not in self.asked else []
        if number in self.lacking:
            raise LackingError("no wheel")
        return []

    def compared(self, old: EngineChoice, new: EngineChoice) -> list[Comparison]:
        depths = []
        for choice in (old, new):
            self.cells(choice)
            depths.append(RELEASES.index(choice) >= self.since)
        sides = [stored(value=1e-3 * (1 + deep), trajectory_hash=f"{deep}") for deep in depths]
        return [
            Comparison(
                scenario=SCENARIO, old=sides[0], new=sides[1], sign=self.sign if depths[0] != depths[1] else "same"
            )
        ]

    def prepare(self, choices: Sequence[EngineChoice]) -> None:
        pass

    let_go = prepare


def found(history: Any, metric: str = "", *, bits: bool = False) -> tuple[int, int, Sequence[str]]:
    answer = search(history, RELEASES, metric, lambda text: None, bits=bits)
    return RELEASES.index(answer.old), RELEASES.index(answer.new), answer.left_out


@pytest.mark.parametrize("sign", ["worse", "mixed", "better", "different"])
@pytest.mark.parametrize("since", [1, 17, 39])
def test_the_first_release_that_has_what_the_newer_end_has_is_found_in_few_looks(since: int, sign: Sign) -> None:
    history = History(since, sign)
    assert found(history) == (since - 1, since, [])
    assert len(history.asked) <= 2 + math.ceil(math.log2(len(RELEASES)))


def test_where_the_ends_are_the_same_the_first_with_other_bits_is_found() -> None:
    assert found(History(23, "same")) == (22, 23, [])
    assert found(History(23, "worse"), bits=True) == (22, 23, [])


def test_releases_that_cannot_be_run_are_left_out_and_named_where_they_stand_between() -> None:
    assert found(History(23, lacking=(19, 20, 22, 23, 35))) == (21, 24, ["1.22", "1.23"])


def test_two_ends_that_are_alike_leave_nothing_to_find() -> None:
    with pytest.raises(RunError, match=r"^both releases move with the same bits: there is nothing to find$"):
        found(History(40))


def test_an_end_that_cannot_be_run_is_an_error() -> None:
    with pytest.raises(LackingError, match="no wheel"):
        found(History(23, lacking=(0,)))


def test_a_metric_that_does_not_move_is_named_with_those_that_do() -> None:
    with pytest.raises(RunError, match=r"^--metric: .rest_drift. does not move .* \(moved: none\)$"):
        found(History(23), "rest drift")


def test_a_range_of_releases_is_no_range_of_commits() -> None:
    assert is_range("mujoco==3.3.0..4.0.0") and is_range("toy==1..2@fair:solver=pgs")
    assert not any(map(is_range, ("v1.2", "main..topic", "11", "mujoco==3.3.0", "toy==1..")))

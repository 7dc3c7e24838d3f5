"""The first lines of a comparison: whether to upgrade, and why, as one would forward them."""

from __future__ import annotations

from typing import Any

import pytest

from scenarios.catalogue import scenario_of
from tests.validation.judging.test_causes import FALLEN, moved, side
from tests.validation.store.made import case, failed, measurement
from validation.engines.relations import Relation
from validation.judging.comparison import Comparison, compare, with_relations
from validation.judging.relations import Agreed, Related
from validation.report.answer import answer
from validation.report.comparison import render_comparison
from validation.running.comparing import Compared, Speed

OLD, NEW = {"version": "1"}, {"version": "2"}
FAILED = failed(case("pile", parameters={}, version="2"), "not_finite", "NaN at 0.8 s")


def done(*found: Comparison, planned: int = 0, speed: Speed | None = None) -> Compared:
    return Compared(
        names=("a==1", "a==2"), comparisons=list(found), packages={}, planned=planned or len(found), speed=speed
    )


def falls(word: str = "stack:n=3", *, back: bool = False) -> Comparison:
    scenario = scenario_of(word)
    sides = [side(scenario, bits="a", **OLD), side(scenario, bits="b", outcomes=[FALLEN], **NEW)]
    return compare(scenario, *(sides[::-1] if back else sides))


def upgraded(word: str, old: float, new: float) -> Comparison:
    scenario = scenario_of(word)
    given: list[Any] = [(old, "a", OLD), (new, "a" if old == new else "b", NEW)]
    return compare(scenario, *(side(scenario, measurement(value=v), bits=bits, **of) for v, bits, of in given))


def test_a_body_that_falls_through_is_named_before_any_number_with_where_and_how_often() -> None:
    lines = answer(done(falls(), upgraded("stack:n=5", 0.5, 1e-3), upgraded("stack:n=10", 1e-3, 1e-3)))
    assert lines[0] == "a==1 → a==2: do not upgrade yet. Worse in 1, better in 1 of 3 scenarios."
    assert lines[1].startswith("Worse: box 2 went through ground at 300 ms, 96 m from there at the end")
    assert lines[1].endswith("(a box and a plane; 1 scenario: stack:n=3)")
    assert lines[2].startswith("Better: ") and "no overlap" in lines[2]


def test_the_way_back_is_an_upgrade_that_mends_it() -> None:
    lines = answer(done(falls(back=True)))
    assert lines[0] == "a==1 → a==2: nothing got worse: upgrade. Better in 1 of 1 scenario."
    assert lines[1].startswith("Better: no longer: box 2 went through ground")


@pytest.mark.parametrize(
    ("found", "advice"),
    [
        (upgraded("stack:n=5", 1e-3, 1e-3), "the same bits in 1 scenario: upgrading changes no motion."),
        (upgraded("stack:n=5", 1e-3, 1.05e-3), "no difference that can be seen in 1 scenario: you can upgrade."),
        (moved("stack:n=5", 1e-3, 1.05e-3), "no difference that can be seen in 1 scenario: you can switch."),
    ],
)
def test_an_upgrade_that_changes_nothing_is_said_in_one_line(found: Comparison, advice: str) -> None:
    assert answer(done(found)) == [f"a==1 → a==2: {advice}"]


def test_what_is_not_run_yet_is_no_reason_to_upgrade() -> None:
    lines = answer(done(upgraded("stack:n=5", 1e-3, 1e-3), planned=40))
    assert lines == ["a==1 → a==2: after 1 of 40 cases, nothing is worse so far in 1 scenario."]


@pytest.mark.parametrize(("ratio", "words"), [(1.4, "1.4 times slower"), (0.5, "2 times faster")])
def test_steps_that_take_longer_or_shorter_are_told_as_factors(ratio: float, words: str) -> None:
    lines = answer(done(upgraded("stack:n=5", 1e-3, 1e-3), speed=Speed(ratio=ratio, cases=4)))
    assert lines[-1] == f"Speed: steps are {words} (confirmed by a rerun of 4 cases)"


def test_the_answer_never_has_more_than_five_lines_and_each_sign_has_one_before_a_second_of_another() -> None:
    worse = [upgraded(f"stack:n={n},space={space}", 1e-3, 0.5) for n in (3, 5) for space in ("planar", "spatial")]
    more = [falls(), falls("stack:n=4"), falls("stack:n=3", back=True), upgraded("upright-block", 0.5, 1e-3)]
    lines = answer(done(*worse, *more, speed=Speed(ratio=1.4, cases=4)))
    assert len(lines) <= 5 and [line.partition(":")[0] for line in lines[1:]] == ["Worse", "Worse", "Better", "Speed"]


def test_a_promise_that_is_broken_is_named_as_the_reason_before_a_second_thing_that_happened() -> None:
    """Where a scenario crashes, another falls through, and a third gets better too."""
    law = Relation(name="both ways agree", one={}, other={"way": 2}, agree="round-off", promise="a test")
    sides = tuple(Agreed(met=met, size=1.0, limit=1.0) for met in (True, False))
    broken = with_relations(falls("stack:n=4"), [Related(relation=law, states=2, sides=(sides[0], sides[1]))])
    crashed = compare(scenario_of("pile"), side(scenario_of("pile"), bits="a", **OLD), FAILED)
    better = upgraded("upright-block", 0.5, 1e-3)
    lines = answer(done(crashed, broken, better))
    assert [line.partition(":")[0] for line in lines[1:]][:2] == ["Worse", "Worse"] and len(lines) <= 5
    assert any("both ways agree: to 1 m/s in A" in line for line in lines)


def test_causes_come_below_the_answer_each_with_the_command_that_plays_both_sides() -> None:
    text = render_comparison(done(falls()), number=7, database=" --db x.db")
    first, below = text.split("\n\n", 1)
    assert len(first.splitlines()) == 2
    assert "upright show stack:n=3 --comparison 7 --db x.db" in below

"""A history in words: which commit began a level, how far it lies from the one before, and whether that is worse."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scenarios.catalogue import scenario_of
from tests.validation.command import call, upright
from tests.validation.store.made import MOMENT, case, info, measurement, result
from validation.judging.trends import Trend, trend
from validation.judging.verdict import Grounds, Verdict
from validation.records.case import Case, Result
from validation.records.simulation import Simulation
from validation.records.stored import Point
from validation.report.sentences import describe_time, describe_turn
from validation.running.session import changed_times, confirmed_times
from validation.store import Store, open_store

CHANGES = Grounds(finding="changes")

TIME = measurement("step_time", 1.25e-5, "s", noise="timing")


def points(values: Any, **given: Any) -> list[Point]:
    """Run i + 1 at commit i + 1."""
    known: dict[str, Any] = {
        "branch": "main",
        "machine": "bench",
        "engine_label": "pymunk",
        "engine_version": "7.3.1",
        "outcome": "completed",
        "unit": "s",
        "trajectory_hash": "",
    }
    return [
        Point(
            run=i + 1,
            case=i + 1,
            started=MOMENT + timedelta(hours=i),
            commit=f"{i + 1:040d}"[::-1],
            value=float(value),
            **known | given,
        )
        for i, value in enumerate(values)
    ]


def trend_of(history: list[Point], now: Any = TIME, **given: Any) -> Trend:
    known: dict[str, Any] = {"engine_label": "pymunk", "branches": {"main"}, "machine": "bench"}
    return trend(history, now, **known | given)


def times(*levels: float, each: int = 120, seed: int = 0) -> Any:
    """Microseconds, with 3 % of noise."""
    shape = np.repeat(levels, each)
    return 1e-6 * shape * (1.0 + 0.03 * np.random.default_rng(seed).standard_normal(len(shape)))


def test_a_step_is_told_with_its_commit_both_levels_and_what_makes_us_sure() -> None:
    (turn,) = trend_of(points(times(12.5, 13.4))).turns
    first = turn.shift.start
    assert (turn.kind, turn.move) == ("step", "regressed") and abs(first - 120) <= 3
    commit = f"{first + 1:040d}"[::-1][:8]
    assert describe_turn(turn).startswith("worse by 6.4 % (3.2 times what is allowed, 11 standard deviations)")
    assert describe_turn(turn).endswith(f"at {commit} (run {first + 1}): 12.5 µs before, 13.3 µs since")


@pytest.mark.parametrize(
    ("better", "before", "after", "move"),
    [
        ("lower", 1.0, 2.0, "regressed"),
        ("lower", 2.0, 1.0, "improved"),
        ("lower", -2.0, 1.0, "improved"),
        ("lower", -1.0, 1.0, "different"),
        ("higher", 1.0, 2.0, "improved"),
        ("higher", 2.0, 1.0, "regressed"),
        ("neither", 1.0, 2.0, "different"),
    ],
)
def test_worse_is_away_from_where_the_metric_should_be(better: Any, before: float, after: float, move: str) -> None:
    now = measurement("truth_error_goal", after, "m", better=better)
    (turn,) = trend_of(points([before] * 10 + [after] * 3), now).turns
    assert (turn.move, turn.shift.start) == (move, 10)


def test_a_drift_names_the_commits_between_which_it_went_on() -> None:
    slow = times(12.5, each=400) * np.clip(np.arange(400) - 150, 0, 200) / 2000 + times(12.5, each=400)
    (turn,) = trend_of(points(slow)).turns
    assert turn.kind == "drift" and "slowly from" in describe_turn(turn) and describe_turn(turn).startswith("worse by")


def test_what_has_accumulated_since_the_acceptance_is_told_where_no_turn_tells_it() -> None:
    slow = points(times(12.5, each=900) * (1.0 + 0.05 * np.arange(900) / 900))
    (turn,) = trend_of(slow).turns
    assert turn.kind == "accumulated" and "little by little since 10000000 (run 1)" in describe_turn(turn)
    assert trend_of(slow, accepted_run=850).turns == ()


def test_a_turn_before_the_acceptance_is_history() -> None:
    history = points(times(12.5, 13.4))
    assert len(trend_of(history, accepted_run=100).fresh) == 1
    later = trend_of(history, accepted_run=200)
    assert len(later.turns) == 1 and later.fresh == ()


def test_another_version_of_the_engine_at_the_step_is_named() -> None:
    history = points([1.0] * 10) + [replace(p, run=11, engine_version="7.4") for p in points([2.0])]
    (turn,) = trend_of(history, measurement(unit="m")).turns
    assert "(run 11), 7.4 after 7.3.1: " in describe_turn(turn) and "constant before" in describe_turn(turn)


@pytest.mark.parametrize(
    "alien", [{"engine_label": "pymunk:iterations=2"}, {"branch": "mine"}, {"machine": "other"}, {"value": math.nan}]
)
def test_only_runs_of_one_kind_are_one_history(alien: dict[str, Any]) -> None:
    history = [replace(point, **alien) if i >= 10 else point for i, point in enumerate(points([1.0] * 10 + [2.0] * 9))]
    found = trend_of(history)
    assert len(found.points) == 10 and found.turns == ()


def test_physics_is_compared_across_machines() -> None:
    history = [replace(point, machine=f"m{point.run}") for point in points([1.0] * 10 + [2.0])]
    assert len(trend_of(history, measurement(unit="s")).turns) == 1


def test_what_the_metric_cannot_resolve_is_no_step() -> None:
    history = points([1.0] * 10 + [2.0] * 10)
    assert trend_of(history, measurement(unit="s", resolution=3.0)).turns == ()
    assert trend_of([]).course is None


def test_speed_that_was_bought_with_accuracy_is_said_to_be_so() -> None:
    (turn,) = trend_of(points(times(13.4, 12.5))).turns
    worse = Verdict(
        case=case(), word="regressed", worse=True, grounds=CHANGES, text="penetration mean 3.1 mm, was 0.4 mm"
    )
    assert describe_time(turn, worse).endswith("; bought with accuracy: penetration mean 3.1 mm, was 0.4 mm")
    assert describe_time(turn, Verdict(case=case(), word="pass", worse=False, grounds=CHANGES)) == describe_turn(turn)


# --- from the store ---------------------------------------------------------------------------------------------------


@pytest.fixture
def stored(tmp_path: Path) -> Iterator[Store]:
    """Eight runs at 0.4 mm and two at 0.6; the third is accepted."""
    with open_store(tmp_path / "upright.db") as store:
        for i in range(10):
            of = catalogue_case()
            run = store.begin_run(info(commit=f"{i:08d}"), [of])
            store.save_results(run, [result(of, measurement(value=4e-4 if i < 8 else 6e-4))])
            store.finish_run(run)
            if i == 2:
                store.accept(run, who="R.", reason="x")
        yield store


def catalogue_case() -> Case:
    from scenarios.catalogue import scenario_of

    scenario = scenario_of("upright-block")
    of = case("upright-block", parameters={})
    return replace(of, parameters=scenario.parameters_json)


def test_a_stored_trend_ends_with_the_run_that_is_asked_for(stored: Store) -> None:
    (last,) = stored.results(10)
    baseline = stored.baselines("main")[last.case.identity.key]
    (turn,) = stored.trend(stored.run(10), last.case, last.measurements[0], baseline).fresh
    assert "at 00000008 (run 9): 0.4 mm before, 0.6 mm since" in describe_turn(turn)
    assert stored.trend(stored.run(8), last.case, last.measurements[0], baseline).turns == ()


def test_check_tells_of_a_change_in_the_time_of_a_step_since_the_acceptance(tmp_path: Path) -> None:
    """And of none that was there when it was accepted."""
    with open_store(tmp_path / "u.db") as store:
        for seconds in [1e-5] * 8 + [2e-5] * 2:
            run = store.begin_run(info(timing=True), [case()])
            store.save_results(run, [result(case(), measurement(), replace(TIME, value=seconds))])
            store.finish_run(run)
        results = store.results(10)
        passed = [Verdict(case=case(), word="pass", worse=False, grounds=Grounds(finding="same bits"))]
        store.accept(5, who="R.", reason="x")
        ((verdict, turn),) = changed_times(store, 10, results, passed, store.baselines("main"))
        assert verdict is passed[0] and (turn.move, turn.shift.start) == ("regressed", 8)
        store.accept(10, who="R.", reason="the price of the new solver")
        assert changed_times(store, 10, results, passed, store.baselines("main")) == []


def test_a_change_of_time_is_called_only_where_a_rerun_has_it_too() -> None:
    (turn,) = trend_of(points([1.0e-5] * 8 + [1.5e-5])).turns
    verdict = Verdict(case=case(), word="pass", worse=False, grounds=Grounds(finding="same bits"))

    def rerun(seconds: float) -> tuple[list[Any], list[Any]]:
        return confirmed_times([(verdict, turn)], lambda keys: dict.fromkeys(keys, seconds))

    ((_, sure),), none = rerun(1.4e-5)
    assert describe_turn(sure) == f"{describe_turn(turn)}; a rerun has 14 µs" and none == []
    assert rerun(1.1e-5) == ([], [(verdict, turn, 1.1e-5)])
    described, ((_, _, nothing),) = confirmed_times([(verdict, turn)], lambda keys: {})
    assert described == [] and math.isnan(nothing)
    assert confirmed_times([], lambda keys: pytest.fail("nothing is run again where nothing changed")) == ([], [])


@pytest.mark.slow
def test_check_times_a_case_again_before_it_says_that_it_is_slower(tmp_path: Path) -> None:
    """Eight runs that took 10 ns a step, by what the store says; the engine takes longer."""
    words = ("upright-block", "--engine", "pymunk", "--timing")
    assert upright("run", *words, "--db", "real.db", folder=tmp_path).returncode == 0
    with open_store(tmp_path / "real.db") as store:
        (real,), info = store.results(1), store.run(1).info
    kept = tuple(replace(m, value=1e-8) if m.metric == "step_time" else m for m in real.measurements)
    quick = Result.of(case=real.case, simulation=Simulation(outcome="completed"), measurements=kept)
    with open_store(tmp_path / "upright.db") as store:
        for _ in range(8):
            run = store.begin_run(info, [real.case], [scenario_of("upright-block").scene])
            store.save_results(run, [quick])
            store.finish_run(run)
        store.accept(1, who="R.", reason="x")
    done = upright("check", *words, folder=tmp_path, UPRIGHT_DB="")
    described = " ".join(done.stdout.split())
    assert done.returncode == 0 and "time of a step, upright-block × pymunk@fair: worse" in described, done.stdout
    assert "; a rerun has " in described


@pytest.fixture
def history(stored: Store, tmp_path: Path, monkeypatch: Any, capsys: Any) -> Callable[..., tuple[int, str, str]]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("UPRIGHT_DB", raising=False)
    return lambda *words: call(monkeypatch, capsys, "history", *words)


def test_upright_history_tells_it(history: Callable[..., tuple[int, str, str]]) -> None:
    status, out, _ = history("upright-block", "-e", "pymunk")
    assert status == 0
    assert out.splitlines()[:2] == ["upright-block × pymunk@fair", "  penetration mean: 0.6 mm over 10 runs"]
    assert out.splitlines()[2].startswith("    worse by 50 % (25 times what is allowed, constant before) at 00000008")
    for name in ("penetration_mean", "penetration mean"):
        assert "penetration mean: 0.6 mm" in history("upright-block", "--metric", name)[1], "as typed, and as shown"
    assert "over 8 runs, no change" in history("upright-block", "--run", "8")[1]


@pytest.mark.parametrize(
    ("words", "decisions"),
    [
        (["upright-block", "--metric", "penetration_men"], "did you mean 'penetration_mean'?"),
        (["stack:n=3", "-e", "pymunk"], "no stored run has it; run it first: upright run stack:n=3 --engine pymunk"),
        (["upright-block", "--run", "1", "-e", "box2d"], "run 1 has no"),
    ],
)
def test_what_is_not_there_is_said(
    history: Callable[..., tuple[int, str, str]], words: list[str], decisions: str
) -> None:
    status, _, error = history(*words)
    assert status == 2 and decisions in error

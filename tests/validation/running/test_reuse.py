"""What nothing has changed is taken from the store, all but times; what is checked and differs is given up."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scenarios.catalogue import scenario_of
from tests.validation.command import upright
from tests.validation.store.made import case, info, measurement, result
from validation.engines import engine_of
from validation.records.case import Result
from validation.records.outcome import Outcome
from validation.running import result_cache, reuse, session
from validation.running.options import OpenRun, Options
from validation.running.planning import Plan
from validation.running.reuse import Reuse, compare_checked, reuse_of, with_cache_keys
from validation.running.runner import Limits
from validation.store import Store, open_store

STACK = scenario_of("stack:n=3")


def plan_of(scenario: str = "stack", engine: str = "pymunk", **given: Any) -> Plan:
    made = Plan(case=case(scenario, engine, **given), scenario=STACK, scene_text="", word=engine)
    return with_cache_keys([made], {engine: engine_of(engine)}, {})[0]


def completed(plan: Plan, value: float = 4e-4) -> Result:
    timing = measurement("step_time", 1e-5, "s", noise="timing")
    found = result(plan.case, measurement(value=value), timing)
    return replace(found, outcomes=(Outcome(kind="moved", bodies=("box 1",)),))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "x.db") as opened:
        yield opened


def begun(store: Store, *plans: Plan, **given: Any) -> OpenRun:
    options: dict[str, Any] = {"limits": Limits()} | given
    return OpenRun(store, None, store.begin_run(info(), [p.case for p in plans]), Options(**options))  # type: ignore[arg-type]


def ran(store: Store, *plans: Plan) -> int:
    run = begun(store, *plans)
    store.save_results(run.number, [completed(plan) for plan in plans])
    return run.number


@pytest.fixture(autouse=True)
def none_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reuse, "checked_of", lambda run, times: set())


def test_the_same_case_is_taken_with_all_but_its_times(store: Store) -> None:
    plan = plan_of()
    first = ran(store, plan)
    run = begun(store, plan)
    found = reuse_of(run, [plan])
    assert found.owed([plan]) == []
    (taken,) = found.taken([plan]).values()
    assert taken.taken_from == first and (taken.wall_time, taken.stepping_time, taken.peak_memory) == (0.0, 0.0, 0)
    assert [m.metric for m in taken.measurements] == ["penetration_mean"], "a time is of the run that measured it"
    store.save_results(run.number, [taken])
    (stored,) = store.results(run.number)
    (before,) = store.results(first)
    assert stored.taken_from == first and stored.trajectory_key == before.trajectory_key != ""
    assert (stored.trajectory_hash, stored.outcomes, stored.measurements[0]) == (
        (before.trajectory_hash, before.outcomes, before.measurements[0])
    )
    assert store.known_results([plan.case.cache_key])[plan.case.cache_key].run == first, "not the copy"


@pytest.mark.parametrize(
    "other",
    [
        {"settings": {"iterations": 51, "slop": 1e-3}},
        {"version": "7.3.2"},
        {"scene_hash": "1"},
        {"parameters": {"n": 11}},
    ],
)
def test_another_setting_version_scene_or_parameter_is_simulated(store: Store, other: dict[str, Any]) -> None:
    ran(store, plan_of())
    plan = plan_of(**other)
    assert reuse_of(begun(store, plan), [plan]).owed([plan]) == [plan]


def test_our_code_or_the_engines_wheel_changed_and_it_is_simulated(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran(store, plan_of())
    monkeypatch.setattr(result_cache, "our_code", lambda: "of another commit")
    assert reuse_of(begun(store, plan_of()), [plan_of()]).known == {}
    monkeypatch.undo()
    monkeypatch.setattr(reuse, "code_of", lambda choice, environment: result_cache.Code("another wheel", True))
    assert reuse_of(begun(store, plan_of()), [plan_of()]).known == {}


def test_an_engine_that_somebody_works_on_is_always_simulated() -> None:
    own = "tests.plugins.broken_engine.Engine"
    assert plan_of(engine="pymunk").case.cache_key and not plan_of(engine=own).case.cache_key


def test_fresh_and_timed_runs_take_nothing(store: Store) -> None:
    plan = plan_of()
    ran(store, plan)
    for options in ({"fresh": True}, {"limits": Limits(timing=True)}):
        assert reuse_of(begun(store, plan, **options), [plan]).known == {}


def test_a_fresh_run_that_was_stopped_goes_on_fresh(store: Store) -> None:
    for fresh in (True, False):
        asked = session.asked_of(Options(fresh=fresh, limits=Limits()))
        run = store.begin_run(info(), [], asked=asked)
        assert session._as_asked(store, run, Options(limits=Limits())).fresh == fresh


def test_what_failed_or_was_taken_itself_is_nothing_to_take(store: Store) -> None:
    plan, other = plan_of(), plan_of("pile")
    run = begun(store, plan, other)
    store.save_results(run.number, [replace(completed(plan), outcome="timed_out")])
    store.save_results(run.number, [replace(completed(other), taken_from=7)])
    assert reuse_of(begun(store, plan), [plan, other]).known == {}


def test_an_engine_that_gives_something_else_is_given_up_and_all_of_it_is_simulated(store: Store) -> None:
    plans = [plan_of(), plan_of("pile"), plan_of(engine="box2d")]
    ran(store, *plans)
    run = begun(store, *plans)
    known = reuse_of(run, plans).known
    found = Reuse(known, {plans[0].case.key})
    assert found.owed(plans) == [plans[0]]
    compare_checked(run, found, [completed(plans[0])])
    assert not found.differing and len(found.taken(plans)) == 2
    compare_checked(run, found, [completed(plans[0], value=5e-4)])
    assert [before.run for _, before in found.differing] == [1]
    assert list(found.taken(plans)) == [plans[2].case.key], "the other engine's stay"
    assert set(store.known_results([plan.case.cache_key for plan in plans])) == {plans[2].case.cache_key}


def test_two_in_a_hundred_are_simulated_all_the_same_others_in_every_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    checked = [reuse.checked_of(run, dict.fromkeys(map(str, range(5000)), 0.1)) for run in (1, 2)]
    assert all(60 < len(keys) < 140 for keys in checked) and checked[0] != checked[1]


def test_what_takes_long_is_checked_more_rarely_yet_two_in_a_hundred_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    times = {str(i): 9.0 if i % 2 else 0.0 for i in range(5000)}
    long, short = (sum(times[key] == time for key in reuse.checked_of(1, times)) for time in (9.0, 0.0))
    assert 60 < long + short < 140 and 2 <= long <= 20, "ten times as rarely as one that takes no time"
    assert reuse.checked_of(1, {}) == set()


def test_a_second_run_simulates_nothing_and_a_fresh_one_all(tmp_path: Path) -> None:
    def run(*options: str) -> tuple[str, list[dict[str, Any]]]:
        engines = ("--engine", "pymunk", "--engine", "reference")
        done = upright("run", "pendulum", *engines, "--db", "x.db", *options, folder=tmp_path)
        return done.stdout, [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]

    _, first = run("--json")
    _, second = run("--json")
    assert all(line["taken_from"] is None for line in first)
    assert sum(line["taken_from"] == 1 for line in second) >= 1, "one may be checked"
    for before, now in zip(first, second):
        assert before | {"taken_from": now["taken_from"], "run": 2} == now
    text, _ = run("--fresh")
    assert re.search(r"^2 cases simulated in", text, re.MULTILINE)

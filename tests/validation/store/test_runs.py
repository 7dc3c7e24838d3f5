"""What was run comes back as it was given, once."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import numpy as np
import pytest

from scenarios.scene import content_hash
from tests.validation.store.made import MOMENT, case, failed, falling, info, measurement, result, scene
from validation.records.case import Result
from validation.records.outcome import Outcome
from validation.records.simulation import Simulation
from validation.store import Store, open_store
from validation.store.errors import StoreError


def test_a_run_comes_back_with_all_that_was_said_of_it(store: Store) -> None:
    given = info(branch="feature/ölçüm", timing=True)
    run = store.begin_run(given, [case()])
    stored = store.run(run)
    assert stored.info == given
    assert stored.info.started == MOMENT and stored.info.started.utcoffset() is not None
    assert (stored.planned, stored.done, stored.finished) == (1, 0, None)


def test_a_result_comes_back_to_the_last_bit(store: Store) -> None:
    given = result(
        case(
            parameters={"n": 3, "ratio": 0.1, "start": "drop"}, settings={"iterations": 7, "slop": 1e-3, "cone": True}
        ),
        measurement(value=1 / 3, noise="tolerance", resolution=1 / 240),
        measurement("rest_time", math.nan, "s"),
        measurement("energy_gain", math.inf, "J", better="neither"),
    )
    run = store.begin_run(info(), [given.case])
    [number] = store.save_results(run, [given])
    (back,) = store.results(run)
    assert repr(back) == repr(store.result(number))  # NaN is not equal to itself
    assert back.case == given.case and back.key == given.case.key
    first, second, third = back.measurements
    assert first == given.measurements[0] and third == given.measurements[2]
    assert math.isnan(second.value) and second.unit == "s"
    assert (back.wall_time, back.peak_memory) == (given.wall_time, given.peak_memory)
    assert (back.step_count, back.headline) == (120, "penetration_mean")
    assert back.stepping_time == pytest.approx(120 * 1e-5, rel=1e-12)


@pytest.mark.parametrize(
    "happened",
    [None, (), (Outcome(kind="hangs", bodies=("box 1",), right=False, time=0.5, value=1 / 3, unit="m"),)],
)
def test_what_happened_comes_back_and_not_known_is_not_nothing(
    store: Store, happened: tuple[Outcome, ...] | None
) -> None:
    given = dataclasses.replace(result(), outcomes=happened)
    run = store.begin_run(info(), [given.case])
    store.save_results(run, [given])
    assert store.results(run)[0].outcomes == happened


def test_what_did_not_complete_is_stored_with_its_reason(store: Store) -> None:
    cases = [case(engine=name) for name in ("declining", "crashing", "hanging", "eating", "nan")]
    outcomes = ["declined", "crashed", "timed_out", "out_of_memory", "not_finite"]
    run = store.begin_run(info(), cases)
    store.save_results(run, [failed(c, o, f"why: {o}") for c, o in zip(cases, outcomes)])
    back = store.results(run)
    assert [(r.outcome, r.reason) for r in back] == [(o, f"why: {o}") for o in outcomes]
    assert all(r.trajectory_hash == "" and r.trajectory_key == "" and r.measurements == () for r in back)


def test_an_engines_words_may_hold_anything(store: Store) -> None:
    reason = "nul \0, half a surrogate \ud800, quotes ' \" and ünïcode 球"
    run = store.begin_run(info(), [case()])
    store.save_results(run, [failed(case(), "crashed", reason)])
    (back,) = store.results(run)
    assert back.reason == "nul \N{REPLACEMENT CHARACTER}, half a surrogate ?, quotes ' \" and ünïcode 球"


def test_a_case_is_never_doubled_and_its_first_result_stays(store: Store) -> None:
    """A baseline may rest on it."""
    run = store.begin_run(info(), [case(), case()])
    first = store.save_results(run, [result(case(), measurement(value=1.0))])
    again = store.save_results(run, [result(case(), measurement(value=2.0))])
    assert first == again
    assert [[m.value for m in r.measurements] for r in store.results(run)] == [[1.0]]


def test_an_override_and_another_version_are_cases_beside_the_plain_one(store: Store) -> None:
    """They share the identity, on which baselines hang, and not the key within the run."""
    cases = [case(), case(overrides="iterations=2", settings={"iterations": 2}), case(version="7.3.0")]
    run = store.begin_run(info(), cases)
    store.save_results(run, [result(c) for c in cases])
    back = store.results(run)
    assert [r.case for r in back] == cases
    assert len({r.case.identity.key for r in back}) == 1 and len({r.key for r in back}) == 3


def test_a_stopped_run_knows_what_it_owes(store: Store) -> None:
    cases = [case(parameters={"n": n}) for n in (3, 5, 10)]
    run = store.begin_run(info(), cases)
    store.save_results(run, [result(cases[1])])
    assert store.unfinished_run() == (run, [cases[0], cases[2]])
    assert store.cases(run) == cases
    assert store.latest_run() is None, "an unfinished run is not one to accept"
    store.save_results(run, [result(cases[0]), result(cases[2])])
    store.finish_run(run)
    assert store.unfinished_run() is None
    assert store.latest_run() == run and store.run(run).finished is not None


def test_the_latest_unfinished_run_is_found_behind_a_finished_one(store: Store) -> None:
    stopped, done = store.begin_run(info(), [case()]), store.begin_run(info(), [])
    store.finish_run(done)
    found = store.unfinished_run()
    assert found is not None and found[0] == stopped


def test_runs_are_listed_newest_first(store: Store) -> None:
    numbers = [store.begin_run(info(), [case()]) for _ in range(3)]
    assert [run.number for run in store.runs()] == numbers[::-1]
    assert [run.number for run in store.runs(limit=2)] == [numbers[2], numbers[1]]


def test_a_scene_comes_back_equal(store: Store) -> None:
    given = scene()
    store.begin_run(info(), [case(scene_hash=content_hash(given))], [given, given])
    store.begin_run(info(), [], [given])
    assert store.scene(content_hash(given)) == given


def test_a_scene_file_is_found_by_the_label_of_its_cases(store: Store) -> None:
    label, given = "s.json:content=0a1b2c3d", scene()
    first = dataclasses.replace(case("s.json", scene_hash=content_hash(given)), label=label)
    for _ in range(2):
        store.begin_run(info(), [first], [given])
    assert store.labelled_scene(label) == ("s.json", given)
    other = scene(height=3.0)
    again = dataclasses.replace(first, scene_hash=content_hash(other))
    store.begin_run(info(), [again], [other])
    assert store.labelled_scene(label) == ("s.json", other), "a model is described otherwise by another release"
    store.begin_run(info(), [dataclasses.replace(again, parameters='{"content": "0a1b2c3dff"}')], [other])
    with pytest.raises(StoreError, match="2 scenes of this name and content"):
        store.labelled_scene(label)


def test_a_metrics_history_is_in_order_of_time_with_gaps_where_it_was_not_measured(store: Store) -> None:
    for value in (1.0, None, 3.0):
        run = store.begin_run(info(), [case()])
        store.save_results(
            run, [failed(case(), "crashed", "") if value is None else result(case(), measurement(value=value))]
        )
    points = store.history(case().identity.key, "penetration_mean")
    assert [p.outcome for p in points] == ["completed", "crashed", "completed"]
    assert np.array_equal([p.value for p in points], [1.0, math.nan, 3.0], equal_nan=True)
    assert [p.run for p in points] == [1, 2, 3]


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda s: s.results(9), "run 9: not in this database; it has none"),
        (lambda s: s.finish_run(9), "run 9: not in this database"),
        (lambda s: s.save_results(9, [result()]), "run 9: not in this database"),
        (lambda s: s.result(9), "case 9: not in this database"),
        (lambda s: s.scene("ab12"), "scene ab12: not in this database"),
        (lambda s: s.labelled_scene("s.json:content=0a1b2c3d"), "s.json:content=0a1b2c3d: no scene of this name"),
        (lambda s: s.find(3), "find 3: not in this database; it has: none yet"),
    ],
)
def test_what_is_not_there_is_said_in_one_line(store: Store, ask: Callable[[Store], object], words: str) -> None:
    with pytest.raises(StoreError) as refused:
        ask(store)
    assert words in str(refused.value) and "\n" not in str(refused.value)


def test_two_that_write_at_the_same_time_wait_for_each_other(where: str) -> None:
    with open_store(where) as one, open_store(where) as other:
        runs = [s.begin_run(info(), [case()]) for s in (one, other, one, other)]
        for s, run in zip((other, one, other, one), runs):
            s.save_results(run, [result(trajectory=falling(samples=20))])
        assert [len(one.results(run)) for run in runs] == [1, 1, 1, 1]


def test_time_in_which_a_process_waits_for_a_core_is_none_of_its_steps() -> None:
    waited = Simulation(outcome="completed", step_times=np.array([0.5, 1.5]), cpu_share=0.25)
    assert Result.of(case=case(), simulation=waited).stepping_time == 0.5

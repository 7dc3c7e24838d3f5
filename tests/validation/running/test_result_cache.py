"""What was computed before is not computed again where all that decides it is the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from scenarios.catalogue import scenario_of
from tests.validation.judging.test_causes import FALLEN, side
from tests.validation.judging.test_ensembles import ensemble, series, spread
from tests.validation.store.made import measurement
from validation.engines import engine_of
from validation.records.case import Result
from validation.records.trajectory import to_bytes
from validation.running import result_cache
from validation.running.planning import Plan
from validation.running.result_cache import Code, ResultCache, code_of

STACK = scenario_of("stack:n=3")
RELEASED, OWN = {"toy": Code("toy 1.0", True)}, {"toy": Code("toy 1.0", False)}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("UPRIGHT_CACHE", str(tmp_path))
    return tmp_path


def made() -> tuple[Plan, Result]:
    found = side(
        STACK, measurement(value=float("nan")), measurement("gap_final", 0.1 + 0.2), bits="a", outcomes=[FALLEN]
    )
    assert found.trajectory is not None
    found = replace(found, encoded=to_bytes(found.trajectory), reason="")
    return Plan(case=found.case, scenario=STACK, scene_text="", word="toy"), found


def same(one: Result | None, other: Result) -> bool:
    return one is not None and repr(one) == repr(other) and one.encoded == other.encoded


def test_a_result_comes_back_to_the_last_bit_with_what_happened_and_its_motion() -> None:
    plan, found = made()
    (key,) = ResultCache(RELEASED).keys_of([plan])
    assert ResultCache(RELEASED).result(key, plan) is None
    ResultCache(RELEASED).save(key, found)
    again = ResultCache(RELEASED).result(key, plan)
    assert same(again, found) and again is not None and again.outcomes == (FALLEN,)


def test_another_wheel_setting_scene_or_processor_is_another_result() -> None:
    plan, _ = made()
    case = plan.case
    identity = replace(case.identity, dt=1e-3)
    others = [
        replace(case, settings={"iterations": 1}),
        replace(case, scene_hash="1"),
        replace(case, processor="x86_64 with other features"),
        replace(case, parameters='{"n": 4}'),
        replace(case, identity=identity),
    ]
    keys = {ResultCache(RELEASED).keys_of([replace(plan, case=other)])[0] for other in (case, *others)}
    keys |= set(ResultCache({"toy": Code("toy 1.1", True)}).keys_of([plan]))
    assert len(keys) == 2 + len(others)


def test_an_engine_that_may_change_under_its_name_is_run_again_unless_a_comparison_is_resumed() -> None:
    plan, found = made()
    (key,) = ResultCache(OWN).keys_of([plan])
    ResultCache(OWN).save(key, found)
    assert ResultCache(OWN).result(key, plan) is None
    assert same(ResultCache(OWN, resume=True).result(key, plan), found)


def test_an_engine_beside_itself_runs_twice() -> None:
    plan, _ = made()
    first, second = ResultCache(RELEASED).keys_of([plan, plan])
    assert first != second


def test_what_failed_is_tried_again() -> None:
    plan, found = made()
    (key,) = ResultCache(RELEASED).keys_of([plan])
    ResultCache(RELEASED).save(key, replace(found, outcome="timed_out"))
    assert ResultCache(RELEASED).result(key, plan) is None


def test_ensembles_come_back_too() -> None:
    plan, _ = made()
    (key,) = ResultCache(RELEASED).keys_of([plan])
    known = ensemble(series(spread(1e-3)))
    ResultCache(RELEASED).save_ensemble(key, known)
    assert ResultCache(RELEASED).ensemble(key, plan) == known


def test_a_file_that_is_not_whole_counts_as_none(cache: Path) -> None:
    plan, found = made()
    (key,) = ResultCache(RELEASED).keys_of([plan])
    ResultCache(RELEASED).save(key, found)
    (path,) = (cache / "results").glob("*/*")
    path.write_bytes(path.read_bytes()[:-10])
    assert ResultCache(RELEASED).result(key, plan) is None


def test_the_files_used_longest_ago_go_where_there_are_too_many(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, found = made()
    (key,) = ResultCache(RELEASED).keys_of([plan])
    ResultCache(RELEASED).save(key, found)
    monkeypatch.setattr(result_cache, "MOST", 10)
    ResultCache(RELEASED)
    assert list((cache / "results").glob("*/*")) == []


def test_a_wheel_is_known_by_its_files_and_an_engine_of_the_folder_by_nothing_that_lasts() -> None:
    assert code_of(engine_of("pymunk"), None).released
    assert not code_of(engine_of("tests.validation.test_engine_reference.Engine"), None).released

"""Motions of old runs go, and the space that they took; numbers, decisions, and what was decided on stay."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from tests.validation.command import upright
from tests.validation.store.made import case, falling, info, result
from validation.store import Store, open_store
from validation.store.errors import StoreError

NOW = datetime.now(UTC)


def moved(seed: int, samples: int = 400) -> object:
    return replace(falling(samples=samples), pose=np.random.default_rng(seed).normal(size=(samples, 2, 3)))


def stored(store: Store, runs: int, *, branch: str = "main", days: float = 10.0) -> list[int]:
    """So many, a day apart, each of two cases with motions of their own; the last began so many days ago."""
    made = []
    for k in range(runs):
        cases = [case(parameters={"n": n}) for n in (2, 3)]
        begun = info(branch, started=NOW - timedelta(days=days + runs - 1 - k))
        run = store.begin_run(begun, cases)
        store.save_results(run, [result(one, trajectory=moved(10 * run + n)) for n, one in enumerate(cases)])
        store.finish_run(run)
        made.append(run)
    return made


def motions(store: Store, run: int) -> list[bool]:
    return [bool(one.trajectory_key) and store.trajectory(one.trajectory_key) is not None for one in store.results(run)]


def test_motions_go_that_nobody_has_decided_on_and_all_numbers_stay(store: Store) -> None:
    first, second, third = stored(store, 3)
    (other,) = stored(store, 1, branch="side", days=40.0)
    store.accept(first, who="R.", reason="first look", cases=[store.results(first)[0].number])
    before = {run: [(r.key, r.measurements, r.trajectory_hash) for r in store.results(run)] for run in (first, second)}
    found = store.removable(last=1)
    assert (found.runs, found.motions, found.left) == (2, 3, 5)
    assert store.removable(days=10.5).motions == 3 + 2, "the two first on main but for what is accepted, and the side's"
    assert store.removable(days=10.5, last=1).motions == 3
    assert store.removable(days=100.0).motions == 0
    assert store.remove_motions(last=1) == found
    assert [motions(store, run) for run in (first, second, third, other)] == [
        [True, False],
        [False, False],
        [True, True],
        [True, True],
    ]
    assert {run: [(r.key, r.measurements, r.trajectory_hash) for r in store.results(run)] for run in before} == before
    assert store.remove_motions(last=1).motions == 0


def test_a_motion_that_later_runs_have_too_stays(store: Store) -> None:
    runs = []
    for _ in range(2):
        runs.append(store.begin_run(info(started=NOW), [case()]))
        store.save_results(runs[-1], [result(trajectory=falling())])
        store.finish_run(runs[-1])
    assert store.removable(last=1).motions == 0
    assert [motions(store, run) for run in runs] == [[True], [True]]


def test_a_run_that_takes_a_result_whose_motion_was_removed_meanwhile_loses_only_that(store: Store) -> None:
    first, _ = stored(store, 2)
    known = store.results(first)[0]
    store.remove_motions(last=1)
    run = store.begin_run(info(), [known.case])
    store.save_results(run, [replace(known, taken_from=first)])
    [taken] = store.results(run)
    assert (taken.trajectory_key, taken.measurements, taken.taken_from) == ("", known.measurements, first)


def test_the_space_is_given_back_but_not_while_a_run_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "u.db"
    with open_store(path) as store:
        stored(store, 5)
        going_on = store.begin_run(info(started=NOW), [case()])
    before = path.stat().st_size

    def prune(*words: str) -> tuple[int, str]:
        done = upright("results", "prune", *words, "--db", str(path), folder=tmp_path)
        return done.returncode, done.stdout + done.stderr

    code, printed = prune()
    assert code == 2 and "--older-than DAYS, --beyond RUNS" in printed
    code, printed = prune("--beyond", "1")
    assert code == 0 and "8 motions of 4 runs" in printed and "would be removed; 2 motions stay" in printed
    assert path.stat().st_size == before
    code, printed = prune("--beyond", "1", "--remove")
    assert code == 2 and f"run {going_on} is not finished" in printed and "removed 8 motions" in printed
    with open_store(path) as store:
        store.finish_run(going_on)
    code, printed = prune("--older-than", "10", "--remove")
    assert code == 0 and "removed 2 motions" in printed
    assert path.stat().st_size < before / 2
    assert sorted(one.name for one in tmp_path.glob("u.db*")) == ["u.db"]


def test_space_that_another_process_would_have_to_wait_for_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("validation.store.connection.BUSY_LIMIT", 0.1)
    refused = pytest.raises(StoreError, match="another process has kept it locked")
    with open_store(tmp_path / "u.db") as store, open_store(tmp_path / "u.db") as other, other._writing(), refused:
        store.compact()

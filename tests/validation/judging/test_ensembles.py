"""Ensembles tell what one run cannot: of a whole check together, up to where both are predictable, above the floors."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.validation.command import call, upright
from tests.validation.store.made import case, info, judged, measurement, result
from validation.judging.ensembles import COMPLETED, Ensemble, EnsembleEvidence, Series, compare, settled
from validation.judging.outcomes import Counts, What
from validation.judging.policy import FALSE_DISCOVERIES, LEAST_STARTS
from validation.judging.verdict import Verdict, changes_from_json, to_json
from validation.records.case import Result
from validation.report.sentences import describe_allowed, describe_change, reason_of
from validation.running.ensembles import Starts
from validation.store import Baseline, Store
from validation.store.errors import StoreError

NAN = math.nan


def spread(middle: float, *, starts: int = 20, seed: int = 0, share: float = 0.2) -> tuple[float, ...]:
    """Around a median."""
    values = middle * np.exp(share * np.random.default_rng(seed).standard_normal(starts))
    return tuple((values * middle / np.median(values)).tolist())


def series(values: tuple[float, ...], **given: Any) -> Series:
    known: dict[str, Any] = {
        "until": 1.0,
        "metric": "penetration_mean",
        "unit": "m",
        "better": "lower",
        "noise": "chaotic",
        "floor": 1e-6,
    }
    return Series(values=values, **known | given)


def ensemble(*of: Series, starts: int = 20, completed: int = 20, horizon: float = 1.0) -> Ensemble:
    return Ensemble(starts=starts, seed=1, completed=completed, horizon=horizon, series=of)


def evidence(old: Ensemble, new: Ensemble, *others: tuple[Ensemble, Ensemble]) -> EnsembleEvidence | None:
    """Of the first pair, in a check that compares the others too."""
    return settled({i: compare(*pair) for i, pair in enumerate([(old, new), *others])}).get(0)


def described(old: tuple[float, ...], new: tuple[float, ...], **given: Any) -> list[str]:
    found = evidence(ensemble(series(old, **given)), ensemble(series(new, **given)))
    return [describe_change(change, case()) for change in found.changes] if found else []


# --- what is told ---------------------------------------------------------------------------------------------------


def test_the_sentence_has_both_medians_the_number_of_starts_p_and_the_effect() -> None:
    (sentence,) = described(spread(1.2e-3), spread(1.9e-3, seed=1))
    assert sentence == (
        "penetration mean 1.9 mm, was 1.2 mm (1.6 times, medians of 20 starts; p = 3e-10, effect 0.99; allowed 10 %)"
    )


@pytest.mark.parametrize(
    ("better", "old", "new", "move"),
    [
        ("lower", 1.0, 2.0, "regressed"),
        ("lower", 2.0, 1.0, "improved"),
        ("lower", -2.0, 1.0, "improved"),
        ("higher", 1.0, 2.0, "improved"),
        ("higher", 2.0, 1.0, "regressed"),
        ("neither", 1.0, 2.0, "different"),
    ],
)
def test_worse_is_away_from_where_the_metric_should_be(better: Any, old: float, new: float, move: str) -> None:
    def around(middle: float) -> tuple[float, ...]:
        return spread(middle, share=0.05)

    found = evidence(ensemble(series(around(old), better=better)), ensemble(series(around(new), better=better)))
    assert found and [change.move for change in found.changes] == [move]
    expected = (abs(old), abs(new)) if better == "lower" else (old, new)
    assert (found.changes[0].old, found.changes[0].new) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("old", "new", "given"),
    [
        (spread(1e-3), spread(1e-3, seed=1), {}),  # the same, from other starts
        (spread(1e-3, share=1e-4), spread(1.05e-3, share=1e-4), {}),  # certain, and less than 10 %
        (spread(1e-7), spread(9e-7), {}),  # certain, and less than the perturbation
        (spread(1e-3), spread(1.3e-3, seed=1, share=0.5), {}),  # more than 10 %, and far from certain
        (spread(1e-3), spread(9e-3), {"noise": "tolerance"}),  # one run tells as well
        ((NAN,) * 20, (NAN,) * 20, {}),
        ((0.5,) * 20, (0.5 + 1e-12,) * 20, {}),
    ],
)
def test_what_is_not_certain_or_too_small_is_not_told(old: Any, new: Any, given: Any) -> None:
    assert described(old, new, **given) == []


def test_what_happens_no_more_is_told_so() -> None:
    (sentence,) = described(spread(2.31), (NAN,) * 20, metric="rest_time", unit="s", better="neither")
    assert sentence.startswith("rest time: no longer happens, was 2.31 s (medians of 20 starts; p = ")
    (sentence,) = described((NAN,) * 20, spread(2.31), metric="rest_time", unit="s", better="neither")
    assert sentence.startswith("rest time: 2.31 s, did not happen before (medians of 20 starts; p = ")


def test_a_comparison_among_many_must_be_surer() -> None:
    """Ten against ten that do not overlap have p = 1.1e-5: enough for one comparison, not for one of 401."""
    lower, upper = (tuple((1e-3 * np.linspace(*ends, 10)).tolist()) for ends in ((1.0, 1.4), (1.5, 1.9)))
    old, new = ensemble(series(lower), starts=10, completed=10), ensemble(series(upper), starts=10, completed=10)
    alone = evidence(old, new)
    assert alone and len(alone.changes) == 1
    still = ensemble(series((1e-3,) * 20))
    quiet = [(still, still)] * 400
    crowded = evidence(old, new, *quiet)
    assert crowded and not crowded.changes


def test_starts_that_no_longer_complete_are_a_regression() -> None:
    values = spread(1e-3)
    found = evidence(ensemble(series(values)), ensemble(series(values[:4]), completed=4, horizon=0.0))
    assert found and [(c.metric, c.move, c.old, c.new) for c in found.changes] == [(COMPLETED, "regressed", 20, 4)]
    assert "completed starts 4, was 20 (5 times less, of 20 and 20 starts; p = " in describe_change(
        found.changes[0], case()
    )
    assert found.judged == frozenset(), "four starts say nothing about the metrics"
    fewer = evidence(ensemble(series(values)), ensemble(series(values[:18]), completed=18))
    assert fewer and fewer.changes == () and fewer.judged == {"penetration_mean"}


# --- the horizon ----------------------------------------------------------------------------------------------------


def test_both_are_compared_up_to_the_longest_horizon_that_both_have() -> None:
    """After it a change is not told: it would be the chaos's, not the engine's."""
    quiet, loud = spread(1e-3), spread(3e-3)
    old = ensemble(*(series(quiet, until=until) for until in (1.0, 0.5, 0.25)))
    same = ensemble(series(quiet, until=0.5), series(quiet, until=0.25), horizon=0.6)
    found = evidence(old, same)
    assert found and (found.until, found.changes) == (0.5, ())
    worse = ensemble(series(loud, until=0.25), horizon=0.3)
    found = evidence(old, worse)
    assert found and found.until == 0.25
    assert "medians of the first quarter of 20 starts" in describe_change(found.changes[0], case())
    nothing = evidence(old, ensemble(horizon=0.05))
    assert nothing and (nothing.judged, nothing.to_the_end) == (frozenset(), False)


def test_a_part_of_the_motion_decides_on_chaotic_metrics_alone() -> None:
    values = spread(1e-3)
    for until, noise, decides in (
        (1.0, "chaotic", True),
        (0.5, "chaotic", True),
        (1.0, "step", True),
        (0.5, "step", False),
    ):
        half = ensemble(series(values, until=until, noise=noise), horizon=until)
        found = evidence(half, half)
        assert found and found.decides("penetration_mean", noise) is decides  # type: ignore[arg-type]  # parametrised by its words
        assert not found.decides("rest_drift", "chaotic"), "which was not compared"


# --- the verdict ----------------------------------------------------------------------------------------------------


def verdict(found: EnsembleEvidence | None, new: float = 2e-3, noise: str = "chaotic") -> Verdict:
    before = Result(
        case=case(), outcome="completed", trajectory_hash="a", measurements=(measurement(value=1e-3, noise=noise),)
    )
    now = Result(
        case=case(), outcome="completed", trajectory_hash="b", measurements=(measurement(value=new, noise=noise),)
    )
    accepted = Baseline(number=7, result=before, branch="main", who="R.", when=datetime.now(UTC), reason="x", scope="x")
    return judged(accepted, now, ensemble=found)


def test_a_chaotic_metric_is_worse_where_ensembles_say_so_and_never_by_one_run() -> None:
    worse = evidence(ensemble(series(spread(1e-3))), ensemble(series(spread(2e-3))))
    assert (verdict(worse).word, verdict(worse).worse) == ("regressed", True)
    assert reason_of(verdict(worse)).startswith("penetration mean 2 mm, was 1 mm (2 times, medians of 20 starts; p = ")
    same = evidence(ensemble(series(spread(1e-3))), ensemble(series(spread(1e-3, seed=1))))
    assert verdict(None, new=0.5).word == "different" and verdict(same, new=0.5).word == "pass"


def test_an_alarm_of_one_run_gives_way_to_ensembles_that_saw_the_whole_motion() -> None:
    def same(until: float) -> EnsembleEvidence | None:
        both = [ensemble(series(spread(1e-3, seed=s), noise="step", until=until), horizon=until) for s in (0, 1)]
        return evidence(*both)

    assert verdict(None, new=5e-3, noise="step").word == "regressed"
    assert verdict(same(1.0), new=5e-3, noise="step").word == "pass"
    assert verdict(same(0.5), new=5e-3, noise="step").word == "regressed"


def test_a_change_of_an_ensemble_survives_json() -> None:
    found = evidence(ensemble(series(spread(1e-3))), ensemble(series(spread(2e-3))))
    assert found and changes_from_json(to_json(found.changes)) == found.changes
    old = '[{"metric": "m", "old": 1.0, "new": 2.0, "unit": "m", "move": "regressed", "allowed": "10 %"}]'
    assert changes_from_json(old)[0].evidence == "", "stored before there were ensembles"
    assert describe_allowed(changes_from_json(old)[0]) == "10 %", "stored before it was data"
    (gone,) = changes_from_json(old.replace("10 %", "not measured"))
    assert gone.allowed is None and describe_allowed(gone) == "not measured"


def test_quiet_ensembles_raise_no_flag() -> None:
    """Twenty pairs of six metrics; the chance of one flag among them is 20 times FALSE_DISCOVERIES at most."""
    assert FALSE_DISCOVERIES <= 0.001
    for seed in range(20):
        random = np.random.default_rng(seed)
        sides = [
            ensemble(*(series(tuple(random.lognormal(size=20)), metric=f"m{i}") for i in range(6))) for _ in range(2)
        ]
        found = evidence(*sides)
        assert found and found.changes == ()


@pytest.mark.parametrize("count", [0, LEAST_STARTS - 1, 1001])
def test_too_few_starts_are_refused(count: int) -> None:
    with pytest.raises(ValueError, match=f"count: {count} starts are not allowed; allowed: {LEAST_STARTS} to 1000"):
        Starts(count=count)


# --- the store, and the command -------------------------------------------------------------------------------------


def stored(store: Store, *results: Result) -> int:
    run = store.begin_run(info(), [r.case for r in results])
    store.save_results(run, results)
    store.finish_run(run)
    return run


@pytest.fixture
def store(tmp_path: Path) -> Any:
    from validation.store import open_store

    with open_store(tmp_path / "upright.db") as opened:
        yield opened


def test_an_ensemble_comes_back_as_it_was_stored_and_stays(store: Store) -> None:
    given = ensemble(series((1.0, NAN, math.inf, 0.1 + 0.2)), series((), metric="rest_time", until=0.5), horizon=0.7)
    given = replace(given, happened=(Counts(what=What("moved", False, "box 1"), counts=(0, 1)),))
    run = stored(store, result())
    (found,) = store.results(run)
    assert store.ensemble(found.number) is None
    store.save_ensembles(run, {found.key: given})
    store.save_ensembles(run, {found.key: ensemble()})
    assert repr(store.ensemble(found.number)) == repr(given), "NaN is not equal to itself, its words are"


def test_the_same_bits_have_the_same_ensemble(store: Store) -> None:
    """`check` does not run it again where nothing has changed, and what is accepted then must have it all the same."""
    first = stored(store, result())
    store.save_ensembles(first, {store.results(first)[0].key: ensemble()})
    same, other = stored(store, result()), stored(store, result(trajectory=None, outcome="crashed"))
    assert store.ensemble(store.results(same)[0].number) == ensemble()
    assert store.ensemble(store.results(other)[0].number) is None


def test_an_ensemble_of_another_runs_case_is_refused(store: Store) -> None:
    run = stored(store, result())
    with pytest.raises(StoreError, match="is none of its cases; no ensemble was stored"):
        store.save_ensembles(run, {"elsewhere": ensemble()})
    with pytest.raises(StoreError, match="case 99: not in this database"):
        store.ensemble(99)


@pytest.mark.slow
def test_check_runs_as_many_starts_as_were_accepted_where_the_motion_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    done = upright("run", "stack:n=3", "--engine", "pymunk", "--ensemble", "10", folder=tmp_path)
    assert done.returncode == 0 and "perturbed initial states: 1 case\n" in done.stdout, done.stderr
    monkeypatch.chdir(tmp_path)
    assert call(monkeypatch, capsys, "accept", "--reason", "x", "--db", "upright.db")[0] == 0
    engines = ["--engine", "pymunk", "--engine", "pymunk:iterations=2"]
    done = upright("check", "stack:n=3", *engines, folder=tmp_path)
    assert done.returncode == 1 and "perturbed initial states: 1 case\n" in done.stdout, "the other one has not changed"
    assert "medians of 10 starts; p = " in " ".join(done.stdout.split())


@pytest.mark.parametrize("count", ["3", "-1", "1001"])
def test_a_number_of_starts_that_says_nothing_is_refused(
    count: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    status, _, error = call(monkeypatch, capsys, "run", "stack", "--ensemble", count)
    assert status == 2 and "--ensemble" in error and len(error.splitlines()) == 1

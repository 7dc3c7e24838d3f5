"""What was accepted is in effect until something later is, or until its day; nothing of it is ever erased."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, tzinfo
from functools import partial

import pytest

from tests.validation.store.made import case, failed, info, judged, measurement, result
from validation.judging.evidence.divergence import Divergence
from validation.judging.verdict import Grounds, Verdict
from validation.records.case import Result
from validation.review.ledger import LedgerError
from validation.store import Store, judgements
from validation.store.errors import StoreError


def done(store: Store, *results: Result, branch: str = "main") -> int:
    run = store.begin_run(info(branch), [r.case for r in results])
    store.save_results(run, results)
    store.finish_run(run)
    return run


def test_an_acceptance_says_who_when_why_and_what(store: Store) -> None:
    run = done(store, result(case(), measurement(value=4e-4)))
    before = datetime.now(UTC)
    [accepted] = store.accept(run, who="R.", reason="first look")
    baseline = store.baselines("main")[case().identity.key]
    assert baseline.result.number == accepted
    assert (baseline.who, baseline.reason, baseline.scope, baseline.until) == (
        "R.",
        "first look",
        "the whole run",
        None,
    )
    assert before <= baseline.when <= datetime.now(UTC)
    assert baseline.run == run and baseline.result == store.results(run)[0]
    assert store.baselines("main") == {case().identity.key: baseline}


def test_a_later_acceptance_takes_over_and_erases_nothing(store: Store) -> None:
    runs = [done(store, result(case(), measurement(value=v))) for v in (1.0, 2.0)]
    numbers = []
    for run in runs:
        store.accept(run, who="R.", reason="so")
        baseline = store.baselines("main")[case().identity.key]
        assert baseline.run == run
        numbers.append(baseline.number)
    assert numbers == sorted(set(numbers))


def test_an_acceptance_ends_on_its_day_and_the_one_before_holds_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = (done(store, result(case(), measurement(value=v))) for v in (1.0, 2.0))
    now = datetime.now(UTC)
    store.accept(old, who="R.", reason="good")
    store.accept(new, who="R.", reason="known, until it is mended", until=now + timedelta(days=1))
    assert store.baselines("main")[case().identity.key].run == new

    class Tomorrow(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return datetime.now(tz) + timedelta(days=1)

    with monkeypatch.context() as clock:
        clock.setattr(judgements, "datetime", Tomorrow)
        assert store.baselines("main")[case().identity.key].run == old
    store.accept(new, who="R.", reason="known for longer", until=now + timedelta(days=9))
    assert store.baselines("main")[case().identity.key].run == new


def test_a_branch_has_its_own_baseline_and_else_that_of_main(store: Store) -> None:
    on_main, on_feature = done(store, result()), done(store, result(), branch="feature")
    key = case().identity.key
    store.accept(on_main, who="R.", reason="main")
    assert store.baselines("feature")[key].run == on_main
    store.accept(on_feature, who="R.", reason="feature")
    assert store.baselines("feature")[key].run == on_feature
    assert store.baselines("main")[key].run == on_main, "a feature branch changes nothing on main"
    assert store.baselines("other")[key].run == on_main


def test_only_what_is_named_is_accepted(store: Store) -> None:
    cases = [case(parameters={"n": n}, engine=e) for n in (3, 10) for e in ("pymunk", "box2d")]
    run = done(store, *[result(c) for c in cases])
    numbers = [r.number for r in store.results(run)]
    assert store.accept(run, who="R.", reason="x", cases=numbers[1:2], scope="stack:n=3 on box2d") == numbers[1:2]
    (baseline,) = store.baselines("main").values()
    assert baseline.result.case == cases[1] and baseline.scope == "stack:n=3 on box2d"
    assert store.accept(run, who="R.", reason="x", cases=[]) == []
    assert store.accept(run, who="R.", reason="x", cases=numbers[::2]) == numbers[::2]


def test_of_a_case_that_the_run_does_not_have_nothing_is_accepted(store: Store) -> None:
    first, second = done(store, result()), done(store, result())
    [alien], [own] = (store.results(run) for run in (first, second))
    with pytest.raises(StoreError, match=f"run {second}: case {alien.number} is none of its cases"):
        store.accept(second, who="R.", reason="x", cases=[own.number, alien.number])
    assert store.baselines("main") == {}


def test_what_was_declined_is_accepted_with_all_the_rest_and_what_broke_is_left_out(store: Store) -> None:
    """Fault 2 of the review of 8df027a: a crash could be accepted as baseline, in bulk, without warning."""
    cases = [case(engine="pybullet"), case(engine="mujoco"), case()]
    run = done(store, failed(cases[0], "crashed", "SIGSEGV"), failed(cases[1], "declined", "no e"), result(cases[2]))
    assert len(store.accept(run, who="R.", reason="known")) == 2
    assert {b.result.outcome for b in store.baselines("main").values()} == {"completed", "declined"}


def test_what_broke_is_accepted_by_itself_where_that_is_meant(store: Store) -> None:
    cases = [case(engine="pybullet"), case()]
    run = done(store, failed(cases[0], "crashed", "SIGSEGV"), result(cases[1]))
    crash, sound = (one.number for one in store.results(run))
    both = [crash, sound]
    for given, meant in (([crash], False), (both, True)):
        with pytest.raises(StoreError, match=r"pybullet.*crashed \(SIGSEGV\).*by itself only, with --broken"):
            store.accept(run, who="R.", reason="x", cases=given, broken=meant)
        with pytest.raises(StoreError, match="by itself only"):
            store.accept_cases(given, who="R.", reason="x", scope="x", broken=meant)
    assert store.baselines("main") == {}
    assert store.accept(run, who="R.", reason="known", cases=[crash], broken=True) == [crash]


def test_what_was_decided_since_is_not_decided_by_who_has_not_seen_it(store: Store) -> None:
    """Also where it was about another result of the case; what is about another case does not matter."""
    pile = case("pile")
    runs = [done(store, result(case()), result(pile)) for _ in range(2)]
    (mine, other), (later, _) = ([one.number for one in store.results(run)] for run in runs)
    seen = store.accept_cases([mine], who="R.", reason="x", scope="x")
    store.accept_cases([other], who="M.", reason="not about it", scope="x", seen=seen)
    taken = store.undo(seen, who="M.", reason="no")
    for decide in (store.accept_cases, partial(store.mark, "reject")):
        with pytest.raises(
            StoreError, match=f"decided on meanwhile by M. .entry {taken}, undo: no.; nothing was written"
        ):
            decide([later], who="R.", reason="x", scope="x", seen=seen)
    assert len(store.entries()) == 3
    assert store.accept_cases([later], who="R.", reason="x", scope="x", seen=taken) == 4


def test_two_results_of_one_case_are_not_accepted_together(store: Store) -> None:
    numbers = [store.results(done(store, result(case())))[0].number for _ in range(2)]
    with pytest.raises(StoreError, match="runs 1 and 2 both have a result of it, and they share one baseline"):
        store.accept_cases(numbers, who="R.", reason="x", scope="x")
    assert store.entries() == []


def test_of_a_case_with_and_without_override_the_plain_one_is_accepted(store: Store) -> None:
    plain, other = case(), case(overrides="iterations=2", settings={"iterations": 2})
    run = done(store, result(other), result(plain))
    store.accept(run, who="R.", reason="x")
    assert store.baselines("main")[plain.identity.key].result.case == plain
    store.accept(run, who="R.", reason="two will do", cases=[store.results(run)[0].number])
    assert store.baselines("main")[plain.identity.key].result.case == other


def test_two_overrides_of_one_identity_cannot_both_be_its_baseline(store: Store) -> None:
    cases = [case(overrides=f"iterations={n}", settings={"iterations": n}) for n in (2, 4)]
    run = done(store, *[result(c) for c in cases])
    with pytest.raises(StoreError, match="pymunk:iterations=2, pymunk:iterations=4, and they share one baseline"):
        store.accept(run, who="R.", reason="x")
    assert store.baselines("main") == {}


def test_half_a_run_is_not_accepted(store: Store) -> None:
    run = store.begin_run(info(), [case(), case(engine="box2d")])
    store.save_results(run, [result(case())])
    with pytest.raises(StoreError, match=f"run {run}: 1 of its 2 cases are not done"):
        store.accept(run, who="R.", reason="x")


def test_an_acceptance_needs_a_reason(store: Store) -> None:
    with pytest.raises(LedgerError, match="reason: none is given"):
        store.accept(done(store, result()), who="R.", reason=" ")


def test_verdicts_come_back_as_they_were_given(store: Store) -> None:
    accepted = done(store, result(case(), measurement(value=1e-4), measurement("rest_time", 2.0, "s")))
    store.accept(accepted, who="R.", reason="x")
    run = done(
        store, result(case(), measurement(value=0.5), measurement("rest_time", float("nan"), "s"), trajectory=None)
    )
    baseline = store.baselines("main")[case().identity.key]
    (stored,) = store.results(run)
    given = replace(judged(baseline, stored, {"penetration_mean": 0.1}), divergence=Divergence(first=None))
    assert given.changes and given.defects, "there must be something to bring back"
    store.save_verdicts(run, [given])
    store.save_verdicts(run, [given])
    (back,) = store.verdicts(run)
    assert repr(back) == repr(given), "NaN is not equal to itself, its words are"


def test_a_verdict_on_a_case_of_another_run_is_refused(store: Store) -> None:
    run = done(store, result())
    alien = Verdict(case=case(engine="box2d"), word="new", worse=False, grounds=Grounds(finding="changes"))
    with pytest.raises(StoreError, match=f"run {run}: stack:n=10 × box2d is none of its cases"):
        store.save_verdicts(run, [alien])

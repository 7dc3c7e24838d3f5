"""Verdicts of one cause are one group; what is said of it is kept, counts until its day, and can be taken back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import permutations

import numpy as np
import pytest
import sqlalchemy as sa

from tests.validation.store.made import case, failed, falling, info, judged, measurement, result
from validation.judging.verdict import Findings
from validation.records.case import Case, Result
from validation.report.groups import describe_entry
from validation.review.groups import Decision, Group, member
from validation.review.ledger import LedgerError
from validation.store import Store
from validation.store.errors import StoreError

SOON = datetime.now(UTC) + timedelta(days=30)
STACK, PILE = case("stack"), case("pile")


def moved(of: Case, value: float, place: float) -> Result:
    """Another value by another motion."""
    motion = falling()
    pose = motion.pose + np.array([place, 0.0, 0.0])
    return result(of, measurement(value=value), trajectory=replace(motion, pose=pose, state_hash=""))


def checked(store: Store, commit: str, *results: Result, branch: str = "main", dirty: bool = False) -> int:
    """As `check` does it: run, judged against what is in effect, verdicts kept."""
    run = store.begin_run(info(branch, commit=commit, dirty=dirty), [r.case for r in results])
    store.save_results(run, results)
    baselines = store.baselines(branch)
    store.save_verdicts(run, [judged(baselines.get(r.case.identity.key), r) for r in store.results(run)])
    store.finish_run(run)
    return run


def good(store: Store, *cases: Case, commit: str = "aaaa", branch: str = "main") -> int:
    run = checked(store, commit, *(moved(one, 4e-4, 0.0) for one in cases), branch=branch)
    store.accept(run, who="R.", reason="first look")
    return run


def bad(*cases: Case) -> list[Result]:
    return [moved(one, 3e-3, 1.0) for one in cases]


def the(groups: Sequence[Group]) -> Group:
    (group,) = groups
    return group


def test_verdicts_of_one_commit_engine_and_kind_are_one_group(store: Store) -> None:
    accepted = good(store, STACK, PILE, case("stack", "box2d"))
    run = checked(store, "bbbb", *bad(STACK, PILE, case("stack", "box2d")))
    groups = store.groups(run)
    assert sorted((g.engine, len(g.members), g.kind) for g in groups) == [
        ("box2d", 1, "regressed"),
        ("pymunk", 2, "regressed"),
    ]
    for group in groups:
        assert (group.since.run, group.since.commit, group.good and group.good.run) == (run, "bbbb", accepted)
        assert (group.state, group.light, group.fails) == ("new", "red", True)


@pytest.mark.parametrize("where", ["sqlite"], indirect=True)
def test_the_latest_verdict_is_that_of_the_latest_commit_however_late_runs_came(store: Store) -> None:
    """In several orders in which the commits of the runs may follow one another, one the reverse of how they came."""
    good(store, STACK)
    words = {}
    for commit in "bcde":
        results = [moved(STACK, 4e-4, 0.0)] if commit == "d" else bad(STACK)
        run = checked(store, commit, *results)
        words[run] = "pass" if commit == "d" else "regressed"
    with sa.create_engine(f"sqlite:///{store.name}").connect() as connection:
        for order in [*permutations(words)][::-5]:
            for rank, number in enumerate(order, 10):
                connection.execute(sa.text(f"UPDATE runs SET rank = {rank} WHERE id = {number}"))
            connection.commit()
            for seen_from in words:
                (last,) = {m.occurrence.latest for g in store.groups(seen_from, closed=True) for m in g.members}
                assert last == words[next(one for one in reversed(order) if one <= seen_from)], (order, seen_from)


def test_the_first_bad_commit_stays_while_it_lasts_and_the_key_with_it(store: Store) -> None:
    good(store, STACK)
    between = checked(store, "bbbb", moved(STACK, 4e-4, 0.0))
    first = checked(store, "cccc", *bad(STACK))
    key = the(store.groups(first)).key
    later = checked(store, "dddd", moved(STACK, 5e-3, 2.0))
    group = the(store.groups(later))
    assert (group.since.run, group.good and group.good.run, group.key) == (first, between, key)
    assert group.worst.number == store.results(later)[0].number


def test_what_is_accepted_ends_what_was_told_before_it_and_what_was_said_of_that(store: Store) -> None:
    good(store, STACK)
    worse = checked(store, "bbbb", *bad(STACK))
    store.mark("known", [the(store.groups(worse)).worst.number], who="R.", reason="slop", scope="group", link="#31")
    store.accept(worse, who="R.", reason="the new normal")
    worse_still = checked(store, "cccc", moved(STACK, 5e-2, 2.0))
    group = the(store.groups(worse_still))
    assert (group.since.commit, group.good and group.good.commit, group.state) == ("cccc", "bbbb", "new")
    assert group.fails


def test_another_metric_that_gets_worse_has_a_first_commit_of_its_own(store: Store) -> None:
    def both(one: float, other: float, place: float) -> Result:
        motion = falling()
        pose = motion.pose + np.array([place, 0.0, 0.0])
        values = measurement(value=one), measurement("penetration_max", other)
        return result(STACK, *values, trajectory=replace(motion, pose=pose, state_hash=""))

    store.accept(checked(store, "aaaa", both(4e-4, 4e-4, 0.0)), who="R.", reason="first look")
    checked(store, "bbbb", both(3e-3, 4e-4, 1.0))
    group = the([g for g in store.groups(checked(store, "cccc", both(4e-4, 3e-3, 2.0))) if g.open and g.fails])
    assert (group.since.commit, group.good and group.good.commit) == ("cccc", "bbbb")


def test_a_crash_in_between_neither_ends_what_was_told_nor_is_good(store: Store) -> None:
    accepted = good(store, STACK)
    first = checked(store, "bbbb", *bad(STACK))
    checked(store, "cccc", failed(STACK, "crashed", "SIGSEGV"))
    group = the([g for g in store.groups(checked(store, "dddd", *bad(STACK))) if g.kind == "regressed"])
    assert (group.since.run, group.good and group.good.run) == (first, accepted)


def test_what_came_before_an_acceptance_of_an_older_run_keeps_its_commit(store: Store) -> None:
    good(store, STACK)
    worse = checked(store, "bbbb", *bad(STACK))
    checked(store, "cccc", moved(STACK, 5e-2, 2.0))
    store.accept(worse, who="R.", reason="the new normal")
    again = checked(store, "dddd", moved(STACK, 5e-2, 2.0))
    group = the(store.groups(again))
    assert (group.since.commit, group.good and group.good.commit) == ("cccc", "bbbb")


def test_a_case_that_is_bad_since_another_commit_is_another_group(store: Store) -> None:
    good(store, STACK, PILE)
    checked(store, "bbbb", *bad(STACK), moved(PILE, 4e-4, 0.0))
    run = checked(store, "cccc", *bad(STACK, PILE))
    assert sorted(str(group.since) for group in store.groups(run)) == ["bbbb (run 2)", "cccc (run 3)"]


def test_a_case_found_later_at_the_same_commit_joins_the_group_and_makes_it_new_again(store: Store) -> None:
    good(store, STACK, PILE)
    first = checked(store, "bbbb", *bad(STACK))
    group = the(store.groups(first))
    store.mark("acknowledge", [group.worst.number], who="A.", reason="I look", scope="all")
    second = checked(store, "bbbb", *bad(PILE))
    group = the(store.groups(second))
    assert [(m.verdict.case.label, m.state, m.seen) for m in group.members] == [
        ("pile:n=10", "new", True),
        ("stack:n=10", "acknowledged", False),
    ]
    assert group.state == "new"


def test_edits_that_are_not_committed_are_told_apart_by_their_runs(store: Store) -> None:
    good(store, STACK)
    first = checked(store, "bbbb", *bad(STACK), dirty=True)
    checked(store, "bbbb", moved(STACK, 4e-4, 0.0), dirty=True)
    second = checked(store, "bbbb", *bad(STACK), dirty=True)
    assert the(store.groups(first)).key != the(store.groups(second)).key


def test_settings_that_are_tried_are_no_change_of_the_engine(store: Store) -> None:
    good(store, STACK)
    tried = case("stack", overrides="iterations=2", settings={"iterations": 2})
    checked(store, "aaaa", *bad(tried))
    run = checked(store, "bbbb", moved(STACK, 4e-4, 0.0))
    assert the(store.groups(run)).engine == "pymunk:iterations=2"


def test_what_passes_again_is_fixed_and_what_was_not_run_is_not(store: Store) -> None:
    good(store, STACK, PILE)
    checked(store, "bbbb", *bad(STACK, PILE))
    half = checked(store, "cccc", moved(STACK, 4e-4, 0.0))
    group = the(store.groups(half))
    assert [(m.verdict.case.label, m.state) for m in group.members] == [("pile:n=10", "new"), ("stack:n=10", "fixed")]
    assert (group.state, group.light) == ("new", "red")
    whole = checked(store, "dddd", moved(STACK, 4e-4, 0.0), moved(PILE, 4e-4, 0.0))
    assert store.groups(whole) == []
    group = the(store.groups(whole, closed=True))
    assert (group.state, group.light) == ("fixed", "green")


def test_what_is_accepted_is_accepted_at_once_and_undone_it_is_new_again(store: Store) -> None:
    first = good(store, STACK)
    run = checked(store, "bbbb", *bad(STACK))
    store.accept(run, who="R.", reason="on purpose, see #31")
    group = the(store.groups(run))
    assert (group.state, group.light, group.fails) == ("accepted", "green", False)
    assert group.entry and (group.entry.act, group.entry.who, group.entry.reason) == (
        "accept",
        "R.",
        "on purpose, see #31",
    )
    undo = store.undo(group.entry.number, who="S.", reason="it was not")
    assert the(store.groups(run)).state == "new"
    assert store.baselines("main")[STACK.identity.key].run == first
    store.undo(undo, who="R.", reason="it was")
    assert the(store.groups(run)).state == "accepted"
    assert [entry.act for entry in store.entries()] == ["undo", "undo", "accept", "accept"]


def test_a_later_run_of_what_was_accepted_leaves_the_group_accepted_not_fixed(store: Store) -> None:
    good(store, STACK)
    store.accept(checked(store, "bbbb", *bad(STACK)), who="R.", reason="so")
    run = checked(store, "cccc", moved(STACK, 3e-3, 3.0))
    assert the(store.groups(run, closed=True)).state == "accepted"


@pytest.mark.parametrize(
    ("mark", "more", "state", "light", "fails"),
    [
        ("acknowledge", {}, "acknowledged", "red", True),
        ("reject", {}, "rejected", "red", True),
        ("known", {"link": "#31"}, "known", "amber", False),
        ("known", {"link": "#31", "until": SOON}, "known", "amber", False),
        ("quarantine", {"owner": "A.", "until": SOON}, "quarantined", "amber", False),
        ("not a fault", {}, "not a fault", "green", False),
    ],
)
def test_what_is_said_of_a_group_is_its_state(
    mark: str, more: dict[str, object], state: str, light: str, fails: bool, store: Store
) -> None:
    good(store, STACK, PILE)
    run = checked(store, "bbbb", *bad(STACK, PILE))
    numbers = [member.number for member in the(store.groups(run)).members]
    entry = store.mark(mark, numbers, who="A.", reason="so", scope="both", **more)  # type: ignore[arg-type]
    group = the(store.groups(run))
    assert (group.state, group.light, group.fails) == (state, light, fails)
    assert group.entry and (group.entry.number, group.entry.cases) == (entry, tuple(sorted(numbers)))
    store.undo(entry, who="B.", reason="no")
    assert the(store.groups(run)).state == "new"


def test_a_group_is_in_the_gravest_state_of_its_members(store: Store) -> None:
    good(store, STACK, PILE)
    run = checked(store, "bbbb", *bad(STACK, PILE))
    first, second = the(store.groups(run)).members
    store.mark("known", [first.number], who="A.", reason="so", scope="one", link="#1")
    assert the(store.groups(run)).state == "new"
    store.mark("acknowledge", [second.number], who="A.", reason="so", scope="the other")
    assert the(store.groups(run)).state == "acknowledged"


def test_a_known_issue_holds_over_commits_and_no_fault_only_for_these_very_motions(store: Store) -> None:
    good(store, STACK, PILE)
    run = checked(store, "bbbb", *bad(STACK, PILE))
    by_label = {m.verdict.case.label: m.number for m in the(store.groups(run)).members}
    store.mark("known", [by_label["stack:n=10"]], who="A.", reason="so", scope="stack", link="#1")
    store.mark("not a fault", [by_label["pile:n=10"]], who="A.", reason="so", scope="pile")
    same = checked(store, "cccc", *bad(STACK, PILE))
    assert {m.state for m in the(store.groups(same)).members} == {"known", "not a fault"}
    other = checked(store, "dddd", moved(STACK, 3e-3, 5.0), moved(PILE, 3e-3, 5.0))
    states = {m.verdict.case.label: m.state for m in the(store.groups(other)).members}
    assert states == {"stack:n=10": "known", "pile:n=10": "new"}


@pytest.mark.parametrize("mark", ["known", "quarantine"])
def test_a_mark_holds_until_it_gets_much_worse_or_another_metric_moves(mark: str, store: Store) -> None:
    """Accepted 0.4 mm and marked at 3 mm: 2.6 mm away; up to twice as far is what was spoken of."""
    good(store, STACK)
    run = checked(store, "bbbb", *bad(STACK))
    more = {"link": "#1"} if mark == "known" else {"owner": "B.", "until": SOON}
    store.mark(mark, [the(store.groups(run)).worst.number], who="A.", reason="so", scope="it", **more)  # type: ignore[arg-type]
    further = checked(store, "cccc", moved(STACK, 5.5e-3, 5.0))
    assert not the(store.groups(further)).fails
    worse = checked(store, "dddd", moved(STACK, 6e-3, 6.0))
    assert (the(store.groups(worse)).state, the(store.groups(worse)).fails) == ("new", True)


def test_a_mark_does_not_cover_another_metric(store: Store) -> None:
    def of(penetration: float, drift: float, place: float) -> Result:
        there = moved(STACK, penetration, place)
        return replace(there, measurements=(*there.measurements, measurement("rest_drift", drift)))

    store.accept(checked(store, "aaaa", of(4e-4, 1e-3, 0.0)), who="R.", reason="first look")
    run = checked(store, "bbbb", of(3e-3, 1e-3, 1.0))
    store.mark("known", [the(store.groups(run)).worst.number], who="A.", reason="so", scope="it", link="#1")
    assert not the(store.groups(checked(store, "cccc", of(3.1e-3, 1e-3, 2.0)))).fails
    assert the(store.groups(checked(store, "dddd", of(3e-3, 4e-3, 3.0)))).fails


def test_a_crash_that_is_known_covers_no_other(store: Store) -> None:
    good(store, STACK)
    run = checked(store, "bbbb", failed(STACK, "crashed", "SIGSEGV after 1.3 s"))
    store.mark("known", [the(store.groups(run)).worst.number], who="A.", reason="so", scope="it", link="#1")
    assert not the(store.groups(checked(store, "cccc", failed(STACK, "crashed", "SIGSEGV after 2 s")))).fails
    assert the(store.groups(checked(store, "dddd", failed(STACK, "crashed", "exit status 3 after 2 s")))).fails


def test_a_quarantine_ends_on_its_day(store: Store) -> None:
    good(store, STACK)
    run = checked(store, "bbbb", *bad(STACK))
    number = the(store.groups(run)).worst.number
    store.mark("quarantine", [number], who="A.", reason="so", scope="it", owner="B.", until=SOON)
    found = the(store.groups(run)).worst
    assert found.entry
    decisions = [Decision(found.entry, found.occurrence.fingerprint, Findings())]
    assert member(found.occurrence, decisions, run, SOON - timedelta(seconds=1)).state == "quarantined"
    assert member(found.occurrence, decisions, run, SOON).state == "new"


def test_missing_is_amber_and_never_green(store: Store) -> None:
    good(store, STACK)
    run = checked(store, "bbbb", failed(STACK, "declined", "no such shape"))
    group = the(store.groups(run))
    assert (group.kind, group.light) == ("missing", "amber")
    store.mark("not a fault", [group.worst.number], who="A.", reason="so", scope="it")
    assert (the(store.groups(run)).state, the(store.groups(run)).light) == ("not a fault", "amber")


def test_what_became_worse_still_is_told_by_the_graver_group_alone(store: Store) -> None:
    good(store, STACK)
    checked(store, "bbbb", *bad(STACK))
    run = checked(store, "cccc", failed(STACK, "crashed", "SIGSEGV after 1.3 s"))
    assert [group.kind for group in store.groups(run)] == ["broken"]


@pytest.mark.parametrize(
    ("mark", "given", "lacking"),
    [
        ("known", {}, "link: none is given"),
        ("quarantine", {"owner": "A."}, "until: a quarantine needs a day"),
        ("quarantine", {"until": SOON}, "owner: nobody is named"),
        ("quarantine", {"until": datetime(2020, 1, 1, tzinfo=UTC), "owner": "A."}, "until: 2020-01-01 has begun"),
        ("acknowledge", {"until": SOON}, "until: acknowledge has no end"),
        ("reject", {"who": " "}, "who: nobody is named"),
        ("reject", {"reason": ""}, "reason: none is given"),
        ("reject", {"link": "#1"}, "link: reject has none"),
        ("forgive", {}, "act: 'forgive' is none; allowed: accept, reject"),
    ],
)
def test_what_an_entry_lacks_is_one_line_and_nothing_is_written(
    mark: str, given: dict[str, object], lacking: str, store: Store
) -> None:
    good(store, STACK)
    run = checked(store, "bbbb", *bad(STACK))
    known = {"who": "A.", "reason": "so", "scope": "it"} | given
    with pytest.raises(LedgerError, match=lacking):
        store.mark(mark, [the(store.groups(run)).worst.number], **known)  # type: ignore[arg-type]
    assert [entry.act for entry in store.entries()] == ["accept"]


def test_what_is_not_there_cannot_be_marked_or_undone(store: Store) -> None:
    run = good(store, STACK)
    with pytest.raises(StoreError, match="case 99: not in this database; nothing was written"):
        store.mark("reject", [99], who="A.", reason="so", scope="it")
    with pytest.raises(StoreError, match="entry 9: not in the ledger; it has: 1"):
        store.undo(9, who="A.", reason="so")
    store.undo(1, who="A.", reason="so")
    with pytest.raises(StoreError, match="entry 1: undone already by entry 2"):
        store.undo(1, who="A.", reason="so")
    with pytest.raises(StoreError, match="group 12: names none of run 1; it has: none"):
        store.group(run, "12")


def test_what_is_accepted_cannot_be_rejected_until_that_is_undone(store: Store) -> None:
    good(store, STACK)
    run = checked(store, "bbbb", *bad(STACK))
    number = the(store.groups(run)).worst.number
    store.accept(run, who="R.", reason="so")
    with pytest.raises(StoreError, match=r"case 2: stack:n=10 is accepted, by R\. \(so\); .* upright undo 2"):
        store.mark("reject", [number], who="A.", reason="no", scope="it")
    store.undo(2, who="A.", reason="no")
    store.mark("reject", [number], who="A.", reason="no", scope="it")
    assert the(store.groups(run)).state == "rejected"


def test_nothing_fails_where_the_only_baseline_is_undone(store: Store) -> None:
    good(store, STACK)
    checked(store, "bbbb", *bad(STACK))
    store.undo(1, who="R.", reason="wrong")
    run = checked(store, "cccc", *bad(STACK))
    group = the(store.groups(run))
    assert [verdict.word for verdict in store.verdicts(run)] == ["new"]
    assert (group.state, group.fails, group.light) == ("new", False, "amber")


def test_an_acceptance_carries_over_to_a_merge_only_where_every_result_is_the_same(store: Store) -> None:
    good(store, STACK, PILE)
    branch = checked(store, "bbbb", *bad(STACK, PILE), branch="feature")
    store.accept(branch, who="R.", reason="on purpose", scope="both")
    other = checked(store, "cccc", *bad(STACK), moved(PILE, 3e-3, 7.0))
    assert store.carry_over(other) == []
    assert the(store.groups(other)).state == "new"
    merged = checked(store, "dddd", *bad(STACK, PILE))
    assert store.carry_over(merged) == [2]
    group = the(store.groups(merged))
    assert group.state == "accepted" and group.entry
    assert (group.entry.who, group.entry.reason) == ("R.", "on purpose")
    assert (group.entry.refers_to, group.entry.carried_from) == (2, "feature")
    assert ", carried over from feature (entry 2): on purpose" in describe_entry(group.entry)
    assert store.carry_over(merged) == []


def test_an_acceptance_that_was_undone_carries_nothing_over(store: Store) -> None:
    good(store, STACK)
    branch = checked(store, "bbbb", *bad(STACK), branch="feature")
    store.accept(branch, who="R.", reason="on purpose")
    store.undo(2, who="R.", reason="no")
    assert store.carry_over(checked(store, "dddd", *bad(STACK))) == []

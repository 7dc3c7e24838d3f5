"""What is accepted counts by the history of commits: of the merge base, of this life of a branch, the newest first."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import create_engine, text

from tests.validation.store.made import case, failed, info, judged
from tests.validation.store.test_groups import moved, the
from validation.judging.judge import exit_status
from validation.records.case import Result
from validation.review.groups import waived
from validation.review.lineage import History, Lineage
from validation.store import Store

STACK = case("stack")
GOOD, BAD = moved(STACK, 4e-4, 0.0), moved(STACK, 3e-3, 1.0)
LINE = {"d": ("c",), "c": ("b",), "b": ("a",), "a": ()}


def history(head: str, parents: dict[str, tuple[str, ...]] | None = None) -> History:
    """Up to `head`; newest first."""
    parents = LINE if parents is None else parents
    names = list(parents)
    return History(head=head, parents={name: parents[name] for name in names[names.index(head) :]})


def since(base: str, at: str, *before: str) -> Lineage:
    return Lineage(base=base, merge_base=at, commits=frozenset((at, *before)))


def checked(
    store: Store,
    branch: str,
    commit: str,
    *results: Result,
    lineage: Lineage | None = None,
    known: History | None = None,
    dirty: bool = False,
) -> tuple[int, int]:
    """As `check` does it, carrying over and all: the run, and the exit status."""
    run = store.begin_run(
        info(branch, commit=commit, dirty=dirty), [r.case for r in results], lineage=lineage, history=known
    )
    store.save_results(run, results)
    baselines = store.baselines_of(run)
    verdicts = [judged(baselines.get(r.case.identity.key), r) for r in store.results(run)]
    store.save_verdicts(run, verdicts)
    store.finish_run(run)
    store.carry_over(run)
    return run, exit_status(waived(verdicts, store.groups(run), run))


def accepted(store: Store, branch: str, commit: str, *results: Result, **more: object) -> int:
    """The run."""
    run, _ = checked(store, branch, commit, *results, **more)  # type: ignore[arg-type]  # any of the words of checked
    store.accept(run, who="R.", reason=f"{branch} at {commit}", broken=True)
    return run


def in_effect(store: Store, run: int) -> list[int]:
    return [baseline.run for baseline in store.baselines_of(run).values()]


def acts(store: Store) -> list[str]:
    return [entry.act for entry in store.entries()][::-1]


# --- carrying over ------------------------------------------------------------------------------------------------


def test_a_change_back_to_what_main_has_superseded_is_worse(store: Store) -> None:
    accepted(store, "main", "a", BAD)
    accepted(store, "main", "b", GOOD)
    run, status = checked(store, "feature", "c", BAD, lineage=since("main", "b", "a"), known=history("c"))
    assert (status, the(store.groups(run)).state, acts(store)) == (1, "new", ["accept", "accept"])


def test_what_is_in_effect_elsewhere_but_older_than_the_baseline_here_is_not_carried_over(store: Store) -> None:
    accepted(store, "old", "a", BAD)
    accepted(store, "main", "b", GOOD)
    assert checked(store, "main", "c", BAD)[1] == 1
    accepted(store, "old", "a", BAD)
    assert checked(store, "main", "d", BAD)[1] == 0


def test_what_was_superseded_on_its_own_branch_is_not_carried_over(store: Store) -> None:
    accepted(store, "main", "a", GOOD)
    accepted(store, "feature", "b", BAD)
    accepted(store, "feature", "c", moved(STACK, 2e-3, 2.0))
    assert checked(store, "main", "d", BAD)[1] == 1


def test_for_a_base_that_is_not_main_what_main_has_does_not_count(store: Store) -> None:
    accepted(store, "main", "a", BAD, known=history("a"))
    accepted(store, "develop", "b", GOOD, known=history("b"))
    run, status = checked(store, "feature", "c", BAD, lineage=since("develop", "b", "a"), known=history("c"))
    assert (status, the(store.groups(run)).state) == (1, "new")


def test_what_was_carried_over_and_taken_back_is_not_carried_over_again(store: Store) -> None:
    accepted(store, "main", "a", GOOD)
    accepted(store, "feature", "b", BAD)
    assert checked(store, "main", "c", BAD)[1] == 0
    undo = store.undo(store.entries(1)[0].number, who="M.", reason="not here")
    run, status = checked(store, "main", "d", BAD)
    assert (status, the(store.groups(run)).state) == (1, "new")
    store.undo(undo, who="M.", reason="here too")
    assert checked(store, "main", "e", BAD)[1] == 0


def test_what_was_rejected_here_is_not_carried_over(store: Store) -> None:
    accepted(store, "main", "a", GOOD)
    run, _ = checked(store, "main", "b", BAD)
    numbers = [member.number for member in the(store.groups(run)).members]
    reject = store.mark("reject", numbers, who="M.", reason="no", scope="it")
    accepted(store, "feature", "c", BAD)
    run, status = checked(store, "main", "d", BAD)
    assert (status, the(store.groups(run)).state) == (1, "rejected")
    store.undo(reject, who="M.", reason="well")
    assert checked(store, "main", "e", BAD)[1] == 0


def test_an_acceptance_of_one_crash_is_none_of_another(store: Store) -> None:
    accepted(store, "feature", "z", failed(STACK, "crashed", "SIGSEGV after 1.3 s"))
    accepted(store, "main", "a", GOOD)
    again = failed(STACK, "crashed", "SIGSEGV after 2 s")
    accepted(store, "feature", "z", again)
    assert checked(store, "main", "b", failed(STACK, "crashed", "SIGABRT after 2 s"))[1] == 1
    assert checked(store, "main", "c", failed(STACK, "timed_out", "SIGSEGV after 2 s"))[1] == 1
    assert checked(store, "main", "d", failed(STACK, "crashed", "SIGSEGV after 0.25 s"))[1] == 0


# --- which is the newest ------------------------------------------------------------------------------------------


def test_a_late_acceptance_of_an_older_commit_replaces_nothing(store: Store) -> None:
    first, _ = checked(store, "main", "a", BAD, known=history("a"))
    second = accepted(store, "main", "b", GOOD, known=history("b"))
    store.accept(first, who="R.", reason="late")
    change, status = checked(store, "feature", "c", BAD, lineage=since("main", "b", "a"), known=history("c"))
    assert (in_effect(store, change), status) == ([second], 1)
    onward, _ = checked(store, "main", "c", GOOD, known=history("c"))
    assert in_effect(store, onward) == [second]


def test_a_commit_whose_history_nobody_knew_counts_as_the_deepest_so_far(store: Store) -> None:
    accepted(store, "main", "b", GOOD, known=history("b"))
    shallow = accepted(store, "main", "x", moved(STACK, 5e-4, 4.0))
    run, _ = checked(store, "main", "y", GOOD)
    assert in_effect(store, run) == [shallow]


def test_what_was_run_with_edits_is_not_what_stands_at_the_merge_base(store: Store) -> None:
    clean = accepted(store, "main", "a", GOOD, known=history("a"))
    edited = accepted(store, "main", "b", BAD, known=history("b"), dirty=True)
    other = moved(STACK, 3e-3, 6.0)
    change, status = checked(store, "feature", "c", other, lineage=since("main", "b", "a"), known=history("c"))
    assert (in_effect(store, change), status) == ([clean], 1)
    onward, _ = checked(store, "main", "c", other, known=history("c"))
    assert in_effect(store, onward) == [edited], "who works with edits goes on from them"


def test_commits_between_those_that_are_known_are_put_in_their_place(store: Store) -> None:
    accepted(store, "main", "a", GOOD, known=history("a"))
    checked(store, "main", "c", GOOD, known=history("c"))
    between = accepted(store, "main", "b", moved(STACK, 5e-4, 4.0), known=history("b"))
    change, _ = checked(store, "feature", "d", GOOD, lineage=since("main", "c", "b", "a"), known=history("d"))
    assert in_effect(store, change) == [between]


APART = {"f2": ("f1", "b"), "f1": ("a",), "b": ("a",), "a": ()}
ALONE = {"f1": ("a",), "a": ()}


def accepted_apart(store: Store, on_main: Result) -> tuple[int, int]:
    """Accepted on a change, then on main beside it, then both merged: the run of the merge, and its exit status."""
    accepted(store, "main", "a", GOOD, known=history("a"))
    trade = moved(STACK, 5e-4, 3.0)
    accepted(store, "feature", "f1", trade, lineage=since("main", "a"), known=history("f1", ALONE))
    accepted(store, "main", "b", on_main, known=history("b"))
    return checked(store, "feature", "f2", trade, lineage=FROM_B, known=history("f2", APART))


def test_what_the_base_has_accepted_since_replaces_what_the_change_had_accepted(store: Store) -> None:
    run, status = accepted_apart(store, moved(STACK, 1e-5, 4.0))
    assert (in_effect(store, run), status) == ([3], 1)
    store.accept(run, who="R.", reason="the trade is worth it")
    again, status = checked(store, "feature", "f2", moved(STACK, 5e-4, 3.0), lineage=FROM_B, known=history("f2", APART))
    assert (in_effect(store, again), status) == ([run], 0)


def test_the_same_result_accepted_again_on_the_base_replaces_nothing_of_a_change(store: Store) -> None:
    run, status = accepted_apart(store, GOOD)
    assert (in_effect(store, run), status) == ([2], 0)


# --- the first bad commit -----------------------------------------------------------------------------------------

CHANGE = {"f2": ("f1",), "f1": ("b",), "b": ("a",), "a": ()}
FROM_B = since("main", "b", "a")
FAR = moved(STACK, 9e-3, 7.0)


def on_change(store: Store, commit: str, result: Result) -> tuple[int, int]:
    return checked(store, "feature", commit, result, lineage=FROM_B, known=history(commit, CHANGE))


def first_and_good(store: Store, run: int) -> tuple[str, str]:
    group = the(store.groups(run))
    return group.since.commit, group.good.commit if group.good else ""


def known_on_main(store: Store, commit: str = "b") -> None:
    accepted(store, "main", "a", GOOD, known=history("a"))
    run, _ = checked(store, "main", commit, BAD, known=history(commit))
    mark_known(store, run)


def mark_known(store: Store, run: int) -> None:
    numbers = [member.number for member in the(store.groups(run)).members]
    store.mark("known", numbers, who="R.", reason="slop", scope="it", link="#31")


@pytest.mark.parametrize("result", [BAD, moved(STACK, 3.1e-3, 6.0)], ids=["same bits", "not much worse"])
def test_what_is_known_of_the_base_is_known_of_a_change_that_is_built_on_it(result: Result, store: Store) -> None:
    known_on_main(store)
    for commit in ("f1", "f2"):
        run, status = on_change(store, commit, result)
        assert (status, the(store.groups(run)).state, first_and_good(store, run)) == (0, "known", ("b", "a"))


def test_a_change_is_not_the_first_bad_commit_of_what_the_base_has_done(store: Store) -> None:
    accepted(store, "main", "a", GOOD, known=history("a"))
    early, _ = on_change(store, "f1", BAD)
    assert first_and_good(store, early) == ("f1", "a")
    late, _ = checked(store, "main", "b", BAD, known=history("b"))
    run, status = on_change(store, "f2", BAD)
    assert (status, first_and_good(store, run), first_and_good(store, early)) == (1, ("b", "a"), ("b", "a"))
    mark_known(store, run)
    assert the(store.groups(late)).state == "new", "what a change says of itself is not said of main"


def test_what_gets_much_worse_than_the_base_is_the_change_s_own(store: Store) -> None:
    known_on_main(store)
    run, status = on_change(store, "f1", FAR)
    assert (status, the(store.groups(run)).state, first_and_good(store, run)[0]) == (1, "new", "f1")


def test_what_a_change_has_mended_and_lost_again_is_its_own(store: Store) -> None:
    known_on_main(store)
    assert on_change(store, "f1", GOOD)[1] == 0
    run, status = on_change(store, "f2", BAD)
    assert (status, first_and_good(store, run)) == (1, ("f2", "f1"))


def test_what_the_base_has_done_since_is_not_in_a_change(store: Store) -> None:
    accepted(store, "main", "a", GOOD, known=history("a"))
    checked(store, "main", "c", BAD, known=history("c"))
    run, status = on_change(store, "f1", BAD)
    assert (status, first_and_good(store, run)) == (1, ("f1", "a"))


def test_an_older_good_commit_that_is_run_again_mends_nothing(store: Store) -> None:
    known_on_main(store, "c")
    late, status = checked(store, "main", "b", GOOD, known=history("b"))
    assert (status, the(store.groups(late)).state, first_and_good(store, late)) == (0, "known", ("c", "a"))
    run, status = checked(store, "main", "d", BAD, known=history("d"))
    assert (status, the(store.groups(run)).state, first_and_good(store, run)) == (0, "known", ("c", "a"))


def test_an_older_bad_commit_that_is_run_again_is_the_first_and_what_was_said_holds(store: Store) -> None:
    known_on_main(store, "d")
    for commit in ("c", "b", "d"):
        run, status = checked(store, "main", commit, BAD, known=history(commit))
        first = "b" if commit == "d" else commit
        assert (status, the(store.groups(run)).state, first_and_good(store, run)) == (0, "known", (first, "a"))


def rows_of(store: Store, table: str) -> list[tuple[object, ...]]:
    with create_engine(f"sqlite:///{store.name}").connect() as connection:
        return [tuple(row) for row in connection.execute(text(f"SELECT * FROM {table} ORDER BY 1"))]


@pytest.mark.parametrize("where", ["sqlite"], indirect=True)
def test_a_group_that_moves_to_an_older_commit_rewrites_no_verdict_and_leaves_no_empty_row(store: Store) -> None:
    known_on_main(store, "d")
    (group,), before = rows_of(store, "verdict_groups"), rows_of(store, "verdicts")
    run, _ = checked(store, "main", "b", BAD, known=history("b"))
    (moved_to,) = rows_of(store, "verdict_groups")
    assert moved_to[1] == the(store.groups(run)).key != group[1]
    assert [number for _, number in rows_of(store, "group_members")] == [moved_to[0]] * 2
    assert rows_of(store, "verdicts")[: len(before)] == before


@pytest.mark.parametrize("where", ["sqlite"], indirect=True)
def test_the_order_of_commits_is_stored_with_the_runs(store: Store) -> None:
    """Also where those of older ones, of main or of a change, come late."""

    def order() -> str:
        with create_engine(f"sqlite:///{store.name}").connect() as connection:
            return " ".join(connection.execute(text('SELECT "commit" FROM runs ORDER BY rank')).scalars())

    for branch, commit, known in (("main", "a", LINE), ("main", "d", LINE), ("main", "b", LINE), ("main", "b", LINE)):
        checked(store, branch, commit, GOOD, known=history(commit, known))
    assert order() == "a b b d"
    for commit in ("f2", "f1", "f2"):
        on_change(store, commit, GOOD)
    assert order() == "a b b d f1 f2 f2"


def test_an_older_bad_commit_that_is_run_after_the_mend_fails_and_is_told_as_mended(store: Store) -> None:
    accepted(store, "main", "a", GOOD, known=history("a"))
    checked(store, "main", "c", GOOD, known=history("c"))
    run, status = checked(store, "main", "b", BAD, known=history("b"))
    assert (status, the(store.groups(run)).state, first_and_good(store, run)) == (1, "fixed", ("b", "a"))


@pytest.mark.parametrize("how", ["undone", "run out"])
def test_a_pass_by_a_baseline_that_counts_no_more_is_no_good_commit(how: str, store: Store) -> None:
    accepted(store, "main", "a", GOOD, known=history("a"))
    bad, _ = checked(store, "main", "b", BAD, known=history("b"))
    until = datetime.now(UTC) + timedelta(seconds=0.3) if how == "run out" else None
    store.accept(bad, who="R.", reason="for now", until=until)
    checked(store, "main", "c", BAD, known=history("c"))
    if until is None:
        store.undo(store.entries(1)[0].number, who="R.", reason="no")
    else:
        time.sleep(max(0.0, (until - datetime.now(UTC)).total_seconds()))
    run, status = checked(store, "main", "d", BAD, known=history("d"))
    assert (status, first_and_good(store, run)) == (1, ("b", "a"))


# --- lives of a branch --------------------------------------------------------------------------------------------

FORK = {"m2": ("b", "f2"), "f2": ("f1",), "m1": ("b", "f1"), "f1": ("b",), "o": ("a",), "b": ("a",), "a": ()}


def fork(head: str) -> History:
    """What comes before `head` in FORK."""
    found: dict[str, tuple[str, ...]] = {}

    def walk(names: Sequence[str]) -> None:
        for name in names:
            found.pop(name, None)
            found[name] = FORK[name]
            walk(FORK[name])

    walk([head])
    return History(head=head, parents=found)


@pytest.mark.parametrize("branch", ["patch-1", "HEAD"])
def test_what_was_accepted_on_another_branch_of_the_same_name_does_not_count(branch: str, store: Store) -> None:
    accepted(store, branch, "o", BAD, known=fork("o"))
    accepted(store, "main", "b", GOOD, known=fork("b"))
    assert checked(store, branch, "f1", BAD, lineage=since("main", "b", "a"), known=fork("f1"))[1] == 1
    assert checked(store, branch, "f1", BAD, known=fork("f1"))[1] == 1


def test_what_was_said_on_another_branch_of_the_same_name_does_not_count(store: Store) -> None:
    main = accepted(store, "main", "a", GOOD, known=fork("a"))
    old, _ = checked(store, "patch-1", "o", BAD, known=fork("o"))
    numbers = [member.number for member in the(store.groups(old)).members]
    store.mark("known", numbers, who="R.", reason="so", scope="it", link="#1")
    run, status = checked(store, "patch-1", "f1", BAD, known=fork("f1"))
    group = the(store.groups(run))
    assert (status, group.state, group.since.run, group.good and group.good.run) == (1, "new", run, main)
    assert the(store.groups(old)).state == "known"


def test_detached_commits_share_nothing_where_no_history_is_known(store: Store) -> None:
    accepted(store, "main", "a", GOOD)
    accepted(store, "HEAD", "o", moved(STACK, 3e-3, 2.0))
    assert checked(store, "HEAD", "f1", BAD)[1] == 1


def test_a_merge_that_a_server_made_to_try_a_change_belongs_to_its_branch(store: Store) -> None:
    """GitHub builds a pull request merged with its base, by a commit that no later one comes after."""
    accepted(store, "main", "b", GOOD, known=fork("b"))
    change = since("main", "b", "a")
    own = accepted(store, "feature", "m1", BAD, lineage=change, known=fork("m1"))
    run, status = checked(store, "feature", "m2", moved(STACK, 3e-3, 5.0), lineage=change, known=fork("m2"))
    assert (in_effect(store, run), status) == ([own], 0)

"""What pages look at of many runs at once, aggregated by whichever database."""

from __future__ import annotations

from tests.validation.store.made import case, failed
from tests.validation.store.test_branches import accepted, checked
from tests.validation.store.test_groups import moved
from validation.store import Store

STACK, PILE = case("stack"), case("pile")


def test_runs_are_counted_by_outcome_and_verdict(store: Store) -> None:
    first = accepted(store, "main", "a", moved(STACK, 4e-4, 0.0), moved(PILE, 4e-4, 0.0))
    second, _ = checked(store, "main", "b", moved(STACK, 3e-3, 1.0), failed(PILE, "crashed", "SIGSEGV after 1.3 s"))
    run_counts = store.run_counts([first, second])
    assert run_counts[first].outcomes == {"completed": 2} and run_counts[first].verdicts == {"new": 2}
    assert run_counts[second].outcomes == {"completed": 1, "crashed": 1}
    assert run_counts[second].verdicts == {"regressed": 1, "broken": 1}
    assert (run_counts[first].wall_time, run_counts[first].peak_memory) == (0.5, 5e9)
    size, motions = store.size()
    assert size > 1000 and motions == 2
    (old,) = store.acceptances(STACK.identity.key, ["main"])
    assert old.run == first and store.baselines_numbered([old.number]) == {old.number: old}
    assert [point.value for point in store.history(STACK.identity.key, "penetration_mean")] == [4e-4, 3e-3]
    assert store.standing(second) == [] and store.asked(second) == {}
    assert store.asked_likewise(second, [PILE.identity.key, "x"]) == {PILE.identity.key}

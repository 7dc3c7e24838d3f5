"""What fuzzing found is kept once, with all that it takes to see it again."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.validation.store.made import case, falling, info, result, scene
from validation.records.trajectory import to_bytes
from validation.store import Store
from validation.store.errors import StoreError

FIND: dict[str, Any] = {
    "engine": "gaining:strength=2",
    "engine_version": "1.0",
    "profile": "fair",
    "seed": 2**70 + 1,
    "dt": 1.0 / 60.0,
    "oracle": "energy gained",
    "message": "energy rose by 1.5 J without a source",
}


def test_a_find_comes_back_whole(store: Store) -> None:
    number = store.add_find(**FIND, scene=scene())
    found = store.find(number)
    assert {name: getattr(found, name) for name in FIND} == FIND
    assert found.scene == scene()
    assert store.finds() == [found]


def test_the_same_fault_is_found_once(store: Store) -> None:
    """Same engine, law and scene; whatever the seed."""
    first = store.add_find(**FIND, scene=scene())
    assert store.add_find(**FIND | {"seed": 3}, scene=scene()) == first
    others = [
        store.add_find(**FIND, scene=scene(3.0)),
        store.add_find(**FIND | {"oracle": "broken"}, scene=scene()),
        store.add_find(**FIND | {"engine": "pymunk"}, scene=scene()),
    ]
    assert len({first, *others}) == 4
    assert [find.number for find in store.finds()] == [first, *others]


def test_a_find_has_what_breaks_the_law_and_that_names_its_cause(store: Store) -> None:
    number = store.add_find(**FIND | {"oracle": "went through"}, scene=scene(), bodies=("ball",))
    assert store.find(number).bodies == ("ball",)
    assert store.find(number).cause == "went through: disc"


def test_a_find_is_marked_as_known_and_as_fixed_and_what_is_found_again_is_open(store: Store) -> None:
    number = store.add_find(**FIND, scene=scene())
    store.mark_find(number, known="Bullet's margin", known_by="R.", link="#31")
    store.mark_fixed(number, "3.4.0")
    found = store.find(number)
    assert (found.known, found.known_by, found.link, found.fixed_in) == ("Bullet's margin", "R.", "#31", "3.4.0")
    assert store.add_find(**FIND, scene=scene()) == number and store.find(number).fixed_in == ""
    store.mark_find(number, known="")
    assert (store.find(number).known, store.find(number).link) == ("", "")
    with pytest.raises(StoreError, match="find 99: not in this database"):
        store.mark_find(99, known="nothing")


def test_a_find_has_its_motion_script_and_issue_and_the_version_since_which_it_is_so(store: Store) -> None:
    number = store.add_find(**FIND, scene=scene())
    motion = to_bytes(falling(bodies=1))
    store.hand_over(number, {"script": "print(1)", "lacks": "no issue"}, motion)
    store.hand_over(number, {"issue": "# it falls", "lacks": ""})
    store.mark_since(number, "3.2.0", "3.1.7")
    found = store.find(number)
    assert (found.script, found.issue, found.lacks) == ("print(1)", "# it falls", "")
    assert (found.since, found.not_in) == ("3.2.0", "3.1.7")
    stored = store.trajectory(found.trajectory_key)
    assert stored is not None and to_bytes(stored) == motion


def test_the_motion_of_a_find_stays_when_those_of_old_runs_go(store: Store) -> None:
    run = store.begin_run(info(started=datetime(2020, 1, 1, tzinfo=UTC)), [case()], [scene()])
    store.save_results(run, [result(case(), trajectory=falling(bodies=1))])
    store.finish_run(run)
    number = store.add_find(**FIND, scene=scene())
    store.hand_over(number, {}, to_bytes(falling(bodies=1)))
    assert store.remove_motions(days=1.0).motions == 0
    key = store.find(number).trajectory_key
    assert key == store.results(run)[0].trajectory_key and store.trajectory(key) is not None

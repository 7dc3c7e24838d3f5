"""What fuzzing found is kept once, with all that it takes to see it again."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.validation.command import upright
from tests.validation.store.made import case, falling, info, result, scene
from validation.records.trajectory import to_bytes
from validation.store import Store, open_store
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


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ("bodies = '[1'", "damaged: table finds, row id 2, column bodies: '[1' cannot be read"),
        ("dt = 9e999", "damaged: table finds, row id 2: dt: 'inf': a time step is a positive number of seconds"),
        ("seed = 'x'", "damaged: table finds, row id 2, column seed: x cannot be read"),
        ("message = x'00ff'", "damaged: table finds, row id 2, column message: X'00FF' is not a text"),
        ('{"format": 99', "find 2: format 99 is newer than this Upright reads"),
        ('{"format": [', "damaged: table finds, row id 2: its scene is damaged: "),
    ],
)
def test_a_find_that_cannot_be_read_is_named_in_a_line_and_the_others_are_there(
    tmp_path: Path, change: str, line: str
) -> None:
    path = tmp_path / "finds.db"
    with open_store(path) as store:
        numbers = [store.add_find(**FIND, scene=scene(position)) for position in (1.0, 2.0, 3.0)]
    with closing(sqlite3.connect(path)) as database, database:
        if change.startswith("{"):
            old = "UPDATE scenes SET json = replace(json, '{\"format\": 1', ?)"
            database.execute(f"{old} WHERE hash = (SELECT scene_hash FROM finds WHERE id = 2)", [change])
        else:
            database.execute(f"UPDATE finds SET {change} WHERE id = 2")
    with open_store(path) as store:
        assert [find.number for find in store.finds()] == [numbers[0], numbers[2]]
        (named,) = store.damaged_finds()
    assert named.startswith(line) and named.endswith("; this find is left out") and named.isprintable()
    listed = upright("finds", "--db", str(path), folder=tmp_path)
    assert listed.returncode == 0 and named in listed.stderr and "Again: upright finds 3" in listed.stdout


def test_of_a_law_that_a_newer_version_knows_a_find_is_shown(store: Store) -> None:
    number = store.add_find(**FIND | {"oracle": "teleported"}, scene=scene())
    assert store.find(number).cause == "teleported: disc" and store.damaged_finds() == []

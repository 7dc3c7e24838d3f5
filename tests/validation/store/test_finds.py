"""What fuzzing found is kept once, with all that it takes to see it again."""

from __future__ import annotations

from typing import Any

from tests.validation.store.made import scene
from validation.store import Store

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

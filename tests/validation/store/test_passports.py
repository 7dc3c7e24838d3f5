"""What an engine's bits depended on is kept as it was found, the newest of each engine, version and profile."""

from __future__ import annotations

import math

from validation.records.passport import Compared, Examined, Passport, Row
from validation.store import Store


def examined(engine: str = "toy", version: str = "1.0", scenes: int = 2) -> Examined:
    own = Passport(
        upright="0.1.0", engine=engine, version=version, profile="fair", platform="linux", processor="p", motions={}
    )
    moved = Compared(scene="stack", same=False, first=0.25, apart=math.inf)
    others = tuple(Compared(scene=f"s{k}", same=True) for k in range(scenes - 1))
    untried = Compared(scene="break", same=None, why="a model is not changed")
    rows = Row(way="the same again", found=(moved, *others)), Row(way="bodies in reverse order", found=(untried,))
    return Examined(passport=own, rows=rows, declined={"pile": "toy is planar"})


def added(store: Store, found: Examined) -> int:
    return store.add_passport(found, command="upright passport toy", machine="bench")


def test_a_passport_comes_back_as_it_was_found(store: Store) -> None:
    number = added(store, found := examined())
    (one,) = store.passports()
    assert (one.number, one.engine, one.engine_version, one.profile) == (number, "toy", "1.0", "fair")
    assert one.rows == found.rows and one.declined == found.declined and one.machine == "bench"


def test_the_newest_of_each_engine_version_and_profile_counts(store: Store) -> None:
    for found in (examined(), examined("other"), examined(version="2.0"), examined(scenes=3)):
        added(store, found)
    known = store.passports()
    assert [(one.engine, one.engine_version, len(one.rows[0].found)) for one in known] == [
        ("other", "1.0", 2),
        ("toy", "1.0", 3),
        ("toy", "2.0", 2),
    ]

"""A database with rows in every table, written by the store itself; and all its rows, to be compared."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import sqlalchemy as sa

from tests.validation.store.made import case, failed, info, measurement, result, scene, tumbling
from tests.validation.store.test_branches import accepted, checked, history, since
from tests.validation.store.test_groups import SOON, moved, the
from tests.validation.store.test_passports import examined
from validation.judging.ensembles import Ensemble, Series
from validation.judging.outcomes import Counts, What
from validation.records.outcome import Outcome
from validation.store import Store

OTHER = ("alembic_version", "aside_")
PILE = case("pile", parameters={"n": 3}, scene_hash="s", alias="mine")


def fill(store: Store) -> None:
    """Runs on main and on a branch, one of them not finished; acceptances taken back, and back again; marks."""
    stack = replace(case("stack"), processor="x86-64-v3", cache_key="c" * 64)
    wrong = moved(PILE, 3e-3, 1.0)
    first = accepted(store, "main", "a", moved(stack, 4e-4, 0.0), moved(PILE, 4e-4, 0.0), known=history("a"))
    found = store.results(first)[0]
    _ensembles(store, first, stack.key)
    run, _ = checked(store, "main", "b", replace(found, taken_from=first), wrong, known=history("b"))
    group = the(store.groups(run))
    members = [one.verdict.case for one in group.members]
    assert len(members) == 1
    cases = [one.number for one in store.results(run) if one.key == PILE.key]
    mark = store.mark("known", cases, who="R.", reason="known", scope="pile", link="https://example.org/1", until=SOON)
    store.undo(mark, who="S.", reason="not known at all")
    store.mark("quarantine", cases, who="R.", reason="unclear", scope="pile", owner="S.", until=SOON)
    taken_back = store.accept_cases(cases, who="R.", reason="as it should be", scope="pile")
    store.undo(taken_back, who="S.", reason="it should not")
    again = store.accept_cases(cases, who="R.", reason="for a while", scope="pile", until=SOON + timedelta(days=1))
    undo = store.undo(again, who="S.", reason="not for a while")
    store.undo(undo, who="R.", reason="it should")
    base = since("main", "b", "a")
    broken = replace(failed(case("drop"), "crashed", "SIGSEGV"), trace="in step\nin world")
    tumbled = replace(result(case("heap")), trajectory=tumbling())
    checked(store, "feature", "c", broken, tumbled, moved(stack, 5e-3, 2.0), lineage=base, known=history("c"))
    store.add_measurements(run, {PILE.key: [measurement("jitter", float("nan")), measurement("gap", -0.0)]})
    store.add_find(
        **{"engine": "gaining:strength=2", "engine_version": "1.0", "profile": "fair", "seed": 2**70 + 1, "dt": 1 / 60},
        oracle="energy gained",
        message="energy rose by 1.5 J",
        scene=scene(),
    )
    store.add_comparison(
        command="upright compare", machine="bench", names=("a", "b"), packages={}, lines=['{"sign": "worse"}']
    )
    store.add_passport(examined(), command="upright passport", machine="bench")
    planned = [replace(case("stack"), cache_key="d" * 64), case("pile")]
    open_run = store.begin_run(info(message="first", author="A.", remote="https://example.org"), planned, [scene(3.0)])
    store.save_results(open_run, [result(planned[1], trajectory=tumbling(seed=2))])


def _ensembles(store: Store, run: int, key: str) -> None:
    given: dict[str, Any] = {"unit": "m", "better": "lower", "noise": "chaotic", "floor": 1e-6}
    series = [
        Series(until=until, metric="penetration_mean", values=(1e-3, float("nan"), 0.1 + until), **given)
        for until in (0.5, 1.0)
    ]
    counts = (Counts(what=What("fell", wrong=True), counts=(1, 0, 2)),)
    store.save_ensembles(
        run, {key: Ensemble(starts=3, seed=1, completed=3, horizon=0.5, series=tuple(series), happened=counts)}
    )


def with_outcomes(store: Store) -> None:
    """A case of which is known what happened in its motion."""
    one = case("known")
    run = store.begin_run(info(commit="d"), [one])
    store.save_results(run, [replace(result(one), outcomes=(Outcome(kind="fell", bodies=("b",), right=False),))])
    store.finish_run(run)


def rows(connection: sa.Connection) -> dict[str, list[dict[str, Any]]]:
    """Of every table, but for the revision and what is set aside; in one order."""
    found = {}
    for table in sorted(sa.inspect(connection).get_table_names()):
        if not table.startswith(OTHER):
            every = connection.execute(sa.text(f"SELECT * FROM {table}")).mappings()
            found[table] = sorted((dict(row) for row in every), key=lambda row: repr(sorted(row.items())))
    return found


def common(one: list[dict[str, Any]], other: list[dict[str, Any]], without: tuple[str, ...] = ()) -> list[Any]:
    """The rows of both, of the columns that both have, as two lists to be compared."""
    if not one or not other:
        return [one, other]
    columns = sorted((one[0].keys() & other[0].keys()) - set(without))
    return [sorted(repr([row[name] for name in columns]) for row in rows) for rows in (one, other)]

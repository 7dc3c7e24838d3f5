"""A database that is lost while it is written to: waited for so long, written to once; what is stored is reported."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import sqlalchemy.exc

from scenarios.scene import content_hash
from tests.validation.command import upright
from tests.validation.store.made import case, info, result, scene
from validation.running import session
from validation.store import Store, connection, open_store
from validation.store.errors import LostConnectionError, StoreError

REFUSED = sqlalchemy.exc.OperationalError("", {}, Exception("connection refused"))


class Restarting:
    """A server that refuses so many connections."""

    dialect = SimpleNamespace(name="postgresql")

    def __init__(self, refusals: int) -> None:
        self.refusals = refusals

    def connect(self) -> str:
        self.refusals -= 1
        if self.refusals >= 0:
            raise REFUSED
        return "connected"


def test_a_server_that_is_restarted_is_waited_for_and_one_that_stays_away_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connection, "RETRY_EVERY", 0.0)
    assert connection._connected(Restarting(3)) == "connected"  # type: ignore[arg-type, comparison-overlap]
    monkeypatch.setattr(connection, "RETRY_LIMIT", 0.02)
    with pytest.raises(sqlalchemy.exc.OperationalError):
        connection._connected(Restarting(10**9))  # type: ignore[arg-type]


def test_results_whose_confirmation_is_lost_are_stored_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    losses = [LostConnectionError("u.db: the connection was lost (by a test)")] * 2
    with open_store(tmp_path / "u.db") as store:
        run = store.begin_run(info(), [case()])
        committed = Store._writing

        @contextmanager
        def losing(self: Store) -> Iterator[Any]:
            with committed(self) as opened:
                yield opened
            if losses:
                raise losses.pop()

        monkeypatch.setattr(Store, "_writing", losing)
        store.save_results(run, [result()])
        assert not losses and store.run(run).done == 1
        [stored] = store.results(run)
        assert len(stored.measurements) == len(result().measurements)
        losses[:] = [LostConnectionError("u.db: the connection was lost (by a test)")] * 99
        with pytest.raises(LostConnectionError):
            store.save_results(run, [result()])


def test_a_run_that_is_begun_and_what_is_read_are_done_again_where_the_connection_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where its scenes come from something that can be gone through once only."""
    losses: list[str] = []

    def losing(of: str) -> Any:
        opened = getattr(Store, of)

        @contextmanager
        def lost_before(self: Store, **given: Any) -> Iterator[Any]:
            with opened(self, **given) as found:
                if losses and losses[-1] == of:
                    raise LostConnectionError(f"u.db: the connection was lost ({losses.pop()}, by a test)")
                yield found

        return lost_before

    for of in ("_writing", "_reading"):
        monkeypatch.setattr(Store, of, losing(of))
    with open_store(tmp_path / "u.db") as store:
        losses += ["_writing"] * 2
        run = store.begin_run(info(), [case()], iter([scene()]))
        losses += ["_reading"] * 2
        assert [one.number for one in store.runs()] == [run] and not losses
        assert store.scene(content_hash(scene())) == scene()
        losses += ["_reading"] * 99
        with pytest.raises(LostConnectionError):
            store.run(run)


@pytest.mark.slow
def test_a_run_whose_database_fails_names_what_is_stored_and_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save, calls = Store.save_results, []

    def failing(self: Store, run: int, results: Any) -> list[int]:
        calls.append(run)
        if len(calls) > 1:
            raise StoreError("u.db: disk I/O error")
        return save(self, run, results)

    monkeypatch.setattr(session, "SAVE_EVERY", 1)
    with monkeypatch.context() as patch:
        patch.setattr(Store, "save_results", failing)
        words = ["bouncing-ball", "slide-to-roll", "--engine", "pymunk", "--db", "u.db"]
        done = upright("run", *words, folder=tmp_path)
    assert done.returncode == 2 and len(calls) == 2, "one attempt is enough"
    assert done.stderr.splitlines()[-1] == (
        "u.db: disk I/O error. 1 of 2 cases are stored as run 1.   Go on: upright run --resume --db u.db"
    )
    assert upright("run", "--resume", "--db", "u.db", folder=tmp_path).returncode == 0
    with open_store(tmp_path / "u.db") as store:
        assert store.run(1).done == 2 and store.unfinished_run() is None

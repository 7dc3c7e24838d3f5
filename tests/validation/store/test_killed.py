"""A run that is killed in the midst of writing damages nothing, loses nothing that was said to be saved."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.effort import few
from tests.validation.store.made import case, info, result
from validation.records.case import Result
from validation.store import open_store

CASES = 500
WRITER = f"""
import sys
from tests.validation.store.made import case, falling, info, result
from validation.store import open_store
with open_store(sys.argv[1]) as store:
    cases = [case(parameters={{"n": n}}) for n in range({CASES})]
    run = store.begin_run(info(), cases)
    for n, one in enumerate(cases):
        store.save_results(run, [result(one, trajectory=falling(samples=60 + n))])
        print(n, flush=True)
"""


@pytest.mark.parametrize(("after",), few(1, [(40,), (1,), (150,)]))
def test_a_killed_run_goes_on_where_it_was(tmp_path: Path, after: int) -> None:
    path = tmp_path / "u.db"
    root = Path(__file__).parents[3]
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True, cwd=root)
    assert writer.stdout is not None
    saved = [int(writer.stdout.readline()) for _ in range(after)]
    writer.kill()  # SIGKILL
    saved += [int(line) for line in writer.stdout]
    writer.wait()
    with open_store(path) as store:
        found = store.unfinished_run()
        assert found is not None
        run, owed = found
        done = {r.key: r for r in store.results(run)}
        keys = [case(parameters={"n": n}).key for n in range(CASES)]
        assert {keys[n] for n in saved} <= set(done), "what was said to be saved is there"
        assert len(done) <= len(saved) + 1, "at most the one that was being written"
        assert set(done) | {c.key for c in owed} == set(keys) and len(done) + len(owed) == CASES
        assert all(len(r.measurements) == 1 for r in done.values())
        assert all(store.trajectory(r.trajectory_key) is not None for r in done.values())
        store.save_results(run, [result(c) for c in owed])
        store.finish_run(run)
        assert store.unfinished_run() is None
        assert sorted(r.key for r in store.results(run)) == sorted(keys)
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


@pytest.mark.usefixtures("interruptible")
def test_control_c_while_results_are_stored_comes_when_they_are(tmp_path: Path) -> None:
    class Interrupted(list[Result]):
        """By Ctrl-C when it is gone through a second time: first results are packed, then they are written."""

        looks = 0

        def __iter__(self) -> Iterator[Result]:
            self.looks += 1
            if self.looks == 2:
                signal.raise_signal(signal.SIGINT)
            return super().__iter__()

    one = case()
    with open_store(tmp_path / "u.db") as store:
        run = store.begin_run(info(), [one])
        before = signal.getsignal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            store.save_results(run, Interrupted([result(one)]))
        assert store.run(run).done == 1 and signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_while_a_database_is_closed_comes_after_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the midst of it SQLAlchemy would print a traceback."""
    done = []
    store = open_store(tmp_path / "u.db")
    close = store._engine.dispose

    def interrupted() -> None:
        signal.raise_signal(signal.SIGINT)
        close()
        done.append("closed")

    monkeypatch.setattr(store._engine, "dispose", interrupted)
    with pytest.raises(KeyboardInterrupt):
        store.close()
    assert done == ["closed"]

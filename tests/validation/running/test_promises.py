"""What documents promise is tried where a motion has changed since it was accepted, and stored with the case."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.validation.command import upright
from validation.judging.relations import EXCESS
from validation.store import open_store


@pytest.mark.slow
def test_check_tries_what_documents_promise_of_a_case_that_moves_otherwise(tmp_path: Path) -> None:
    """MuJoCo's dense and sparse Jacobian, by one step from states of both motions; what moves the same is not tried."""
    cube = ("bouncing-block:space=spatial,restitution=0", "--engine")
    softer = "mujoco:solref_timeconst=0.04"
    for words in (("run", *cube, "mujoco"), ("check", *cube, "mujoco"), ("check", *cube, softer)):
        done = upright(*words, folder=tmp_path, UPRIGHT_DB="")
        assert done.returncode in (0, 1) and ("documents promise" in done.stderr) is (words[-1] != "mujoco")
        with open_store(tmp_path / "upright.db") as store:
            if words[0] == "run":
                store.accept(1, who="R.", reason="x")
            found = [m for m in store.results(store.latest_run())[0].measurements if m.metric == EXCESS]
    assert len(found) == 1 and found[0].value >= 0.0

"""Kernels of the solvers are compiled by one process; the other workers wait for it."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session", autouse=True)
def warm_solvers() -> None:
    if os.environ.get("NUMBA_DISABLE_JIT"):
        return
    with (Path(os.environ["NUMBA_CACHE_DIR"]) / "lemke.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        from reference_engine import contact_forces
        from reference_engine.contact_problems.friction_forces import friction_forces

        for method in ("dantzig", "lemke"):
            contact_forces([[1.0]], [-1.0], method=method)
        friction_forces([[1.0, 0.0], [0.0, 1.0]], [-1.0, 0.0], "gripping", 0.5)

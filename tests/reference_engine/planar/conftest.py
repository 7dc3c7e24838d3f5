"""The located kernels are compiled by one process; the other workers wait for it."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session", autouse=True)
def warm_located_kernels() -> None:
    if os.environ.get("NUMBA_DISABLE_JIT"):
        return
    folder = Path(os.environ["NUMBA_CACHE_DIR"])
    with (folder / "located.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        from reference_engine import Body, HalfPlane, World, box, simulate

        bodies = (Body(shape=HalfPlane(), fixed=True), Body(shape=box(1.0, 1.0), position=(0.0, 0.51)))
        simulate(World(bodies=bodies), 0.5, 0.25)

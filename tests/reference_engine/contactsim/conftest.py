"""The faithful kernels are compiled by one process; the other workers wait for it."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session", autouse=True)
def warm_faithful_kernels() -> None:
    if os.environ.get("NUMBA_DISABLE_JIT"):
        return
    folder = Path(os.environ["NUMBA_CACHE_DIR"])
    with (folder / "faithful.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        from reference_engine import Body, Disc, HalfPlane, World, box, faithful_simulate

        ground = Body(shape=HalfPlane(), fixed=True)
        bodies = (ground, Body(shape=box(1.0, 1.0), position=(0.0, 0.51)), Body(shape=Disc(0.2), position=(0.1, 1.6)))
        faithful_simulate(World(bodies=bodies), 0.5, 0.025)

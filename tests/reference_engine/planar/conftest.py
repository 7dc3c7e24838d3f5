"""The located kernels are compiled by one process; the other workers wait for it."""

from __future__ import annotations

import pytest

from tests.warm import alone


@pytest.fixture(scope="session", autouse=True)
@alone("located")
def warm_located_kernels() -> None:
    from reference_engine import Body, HalfPlane, World, box, simulate

    bodies = (Body(shape=HalfPlane(), fixed=True), Body(shape=box(1.0, 1.0), position=(0.0, 0.51)))
    simulate(World(bodies=bodies), 0.5, 0.25)

"""The faithful kernels are compiled by one process; the other workers wait for it."""

from __future__ import annotations

import pytest

from tests.warm import alone


@pytest.fixture(scope="session", autouse=True)
@alone("faithful")
def warm_faithful_kernels() -> None:
    from reference_engine import Body, Disc, HalfPlane, World, box, faithful_simulate

    ground = Body(shape=HalfPlane(), fixed=True)
    bodies = (ground, Body(shape=box(1.0, 1.0), position=(0.0, 0.51)), Body(shape=Disc(0.2), position=(0.1, 1.6)))
    faithful_simulate(World(bodies=bodies), 0.5, 0.025)

"""The kernels of ellipsoids are compiled by one process; the other workers wait for it."""

from __future__ import annotations

import pytest

from tests.warm import alone


@pytest.fixture(scope="session", autouse=True)
@alone("ellipsoids")
def warm_ellipsoid_kernels() -> None:
    from reference_engine.geometry.ellipsoid_proximity import (
        ellipsoid_proximities,
        half_space_proximities,
        sphere_interior_proximities,
    )

    bodies = [(0.6, 0.5, 0.4)] * 2, [(0.0, 0.0, 0.0), (2.0, 0.0, 0.0)], [(1.0, 0.0, 0.0, 0.0)] * 2
    ellipsoid_proximities(*bodies, [(0, 1)])
    half_space_proximities(*bodies, point=(0.0, 0.0, -1.0), normal=(0.0, 0.0, 1.0))
    sphere_interior_proximities(*bodies, radius=5.0)

"""Kernels of the solvers are compiled by one process; the other workers wait for it."""

from __future__ import annotations

import pytest

from tests.warm import alone


@pytest.fixture(scope="session", autouse=True)
@alone("lemke")
def warm_solvers() -> None:
    from reference_engine import contact_forces
    from reference_engine.contact_problems.friction import friction_forces

    for method in ("dantzig", "lemke"):
        contact_forces([[1.0]], [-1.0], method=method)
    friction_forces([[1.0, 0.0], [0.0, 1.0]], [-1.0, 0.0], "sticking", 0.5)

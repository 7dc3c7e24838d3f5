"""What is tested here is read, not run: no kernel is compiled for it."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def warm_kernels() -> None:
    """In place of the one for all tests."""

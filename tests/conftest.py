"""Kernels are compiled once for the whole test run, by one process, under the digest of the sources.

Where the slow tests are left out the others try fewer examples (effort.py).
"""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests import effort
from validation.running import kernel_cache

FOLDER = kernel_cache.use_kernel_cache()  # before anything imports numba


def pytest_configure(config: pytest.Config) -> None:
    effort.quick = effort.QUICK in config.getoption("markexpr")
    # A busy machine is no fault of what is tested.
    settings.register_profile("upright", deadline=None, max_examples=effort.tries(settings.default.max_examples))
    settings.load_profile("upright")


@pytest.fixture(scope="session", autouse=True)
def warm_kernels() -> None:
    """The first worker compiles, the others wait; later runs of the same sources find it done."""
    if not kernel_cache.is_warm(FOLDER):
        kernel_cache.warm(FOLDER)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Control-C is heard, by what the test starts too, where the suite was started with it ignored: by `nohup`, or by a
    shell in the background. (A command that is started so goes on ignoring it, which is what was asked for.)"""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)

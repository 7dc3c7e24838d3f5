"""Kernels are compiled once for the whole test run, by one process, under the digest of the sources.

Where the slow tests are left out the others try fewer examples (effort.py).
"""

from __future__ import annotations

import contextlib
import gc
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests import effort
from validation.running import kernel_cache

FOLDER = kernel_cache.use_kernel_cache()  # before anything imports numba


def pytest_configure(config: pytest.Config) -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in the background; the tests of Ctrl-C send it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    effort.quick = effort.QUICK in config.getoption("markexpr")
    # A busy machine is no fault of what is tested.
    settings.register_profile("upright", deadline=None, max_examples=effort.tries(settings.default.max_examples))
    settings.load_profile("upright")


def pytest_collection_finish() -> None:
    """Looking for garbage among all that is imported by now, and often, takes a twentieth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(scope="session", autouse=True)
def warm_kernels() -> None:
    """The first worker compiles, the others wait; later runs of the same sources find it done."""
    if not kernel_cache.is_warm(FOLDER):
        kernel_cache.warm(FOLDER)


@pytest.fixture(scope="session", autouse=True)
def shortcuts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """In this process a new SQLite file begins as a copy of one that the migrations made, which take ten times as long;
    what forks servers serves one pool after the other; and Streamlit looks for no components, which it does in every
    package for each page that a test asks for."""
    with pytest.MonkeyPatch.context() as patch:
        if "streamlit.testing.v1" in sys.modules:
            patch.setattr("streamlit.components.v2.manifest_scanner.scan_component_manifests", list)
        if store := sys.modules.get("validation.store.store"):
            made = tmp_path_factory.mktemp("made") / "upright.db"
            with store.open_store(made):
                pass
            patch.setattr(store, "migrate", from_a_copy(made, store.migrate))
        if template := sys.modules.get("validation.running.processes.template"):
            patch.setattr(template.Template, "close", given_back(template))
        yield


def given_back(module: Any) -> Callable[[Any], None]:
    close = module.Template.close

    def give_back(one: Any) -> None:
        if one.fits and not module._waiting:
            module._waiting.append(one)
        else:
            close(one)

    return give_back


def from_a_copy(made: Path, migrate: Callable[[Any, str], None]) -> Callable[[Any, str], None]:
    def copy_and_migrate(engine: Any, name: str) -> None:
        file = engine.url.database
        if engine.dialect.name == "sqlite" and not Path(file).exists():
            with contextlib.suppress(OSError):  # the store says what is wrong with that place
                shutil.copy(made, file)
        migrate(engine, name)

    return copy_and_migrate


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Control-C is heard, by what the test starts too, where the suite was started with it ignored: by `nohup`, or by a
    shell in the background. (A command that is started so goes on ignoring it, which is what was asked for.)"""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)

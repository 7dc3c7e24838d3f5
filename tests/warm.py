"""Kernels that the canonical suite does not need are compiled by one process of a test run; the others load them."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path

from validation.running import kernel_cache


def alone(name: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """What it decorates runs in one process at a time, and not at all where nothing is compiled."""

    def decorated(compile_kernels: Callable[[], None]) -> Callable[[], None]:
        @functools.wraps(compile_kernels)
        def one_at_a_time() -> None:
            if not os.environ.get("NUMBA_DISABLE_JIT"):
                with kernel_cache.alone(Path(os.environ["NUMBA_CACHE_DIR"]) / f"{name}.lock"):
                    compile_kernels()

        return one_at_a_time

    return decorated

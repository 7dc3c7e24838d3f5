"""Ctrl-C, which ends a search with what it has."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def ctrl_c_calls(note: Callable[[], None]) -> Iterator[None]:
    """The first Ctrl-C in here; a second one is raised. Raised in one of hypothesis's callbacks, Python would print it
    and go on. In the background, where Ctrl-C is ignored, the first signal to end."""
    number, before = signal.SIGINT, signal.getsignal(signal.SIGINT)
    after: Any = before
    if before is signal.SIG_IGN:
        number, before, after = signal.SIGTERM, signal.getsignal(signal.SIGTERM), signal.SIG_IGN
    if threading.current_thread() is not threading.main_thread() or not callable(before):  # no other one gets signals
        yield
        return

    def noted(*_: object) -> None:
        signal.signal(number, after)
        note()

    signal.signal(number, noted)
    try:
        yield
    finally:
        if signal.getsignal(number) is noted:
            signal.signal(number, before)

"""What long work says of itself on the way: asked for by whoever shows it, silent without."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol


class Bar(Protocol):
    def advance(self, what: str = "") -> None: ...


class Progress:
    """Silent; `validation/cli/progress.py` has one that shows."""

    def bar(self, title: str, total: int) -> AbstractContextManager[Bar]:
        """So many things, each advanced with its name."""
        return nullcontext(_Silent())

    def step(self, title: str) -> AbstractContextManager[None]:
        """One thing that takes a while."""
        return nullcontext()

    def activity(self, title: str) -> AbstractContextManager[Callable[[str], None]]:
        """Work without a known end, and what is being done."""
        return nullcontext(lambda words: None)


class _Silent:
    def advance(self, what: str = "") -> None:
        pass

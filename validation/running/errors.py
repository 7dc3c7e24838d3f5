"""What a run can fail by, and how it is stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # every command knows these, few run anything
    from validation.records.stored import StoredRun


class RunError(RuntimeError):
    """Nothing could be run, or there is nothing to resume; one line."""


class Stopped(KeyboardInterrupt):
    """Ctrl-C while cases ran: what was done is stored."""

    def __init__(self, run: StoredRun) -> None:
        super().__init__()
        self.run = run

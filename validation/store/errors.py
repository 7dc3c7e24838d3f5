"""What a store cannot do, in one line that says where, what, and what to do."""

from __future__ import annotations


class StoreError(RuntimeError):
    """A database that cannot be reached or used, or something asked for that is not in it."""

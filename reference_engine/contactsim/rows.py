"""What is counted, and the collisions that a step has found."""

from __future__ import annotations

from dataclasses import dataclass

from reference_engine.array_types import Array, Flags, Indices


@dataclass(slots=True)
class Totals:
    """What the original counts."""

    collisions: int = 0  # approaching contacts near enough to be handled
    impulses: int = 0  # calculations of impulses
    searches: int = 0  # impacts found by halving time
    backups: int = 0
    steps: int = 0  # of the integrator, also those that failed


@dataclass(slots=True)
class Rows:
    """Collisions in the order in which they were found; columns as `collision` names them."""

    ids: Indices
    values: Array
    count: int = 0

    def keep(self, wanted: Flags) -> Rows:
        """Only the wanted rows; returns the others."""
        ids, values = self.ids[: self.count], self.values[: self.count]
        gone = Rows(ids[~wanted].copy(), values[~wanted].copy(), int((~wanted).sum()))
        kept = int(wanted.sum())
        self.ids[:kept], self.values[:kept] = ids[wanted], values[wanted]
        self.count = kept
        return gone

    def copy(self) -> Rows:
        return Rows(self.ids[: self.count].copy(), self.values[: self.count].copy(), self.count)

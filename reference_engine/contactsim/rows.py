"""What is counted, and the collisions that a step has found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ids = NDArray[np.int64]


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

    ids: Ids
    values: Array
    count: int = 0

    def keep(self, wanted: NDArray[np.bool_]) -> Rows:
        """Only the wanted rows; returns the others."""
        ids, values = self.ids[: self.count], self.values[: self.count]
        gone = Rows(ids[~wanted].copy(), values[~wanted].copy(), int((~wanted).sum()))
        kept = int(wanted.sum())
        self.ids[:kept], self.values[:kept] = ids[wanted], values[wanted]
        self.count = kept
        return gone

    def copy(self) -> Rows:
        return Rows(self.ids[: self.count].copy(), self.values[: self.count].copy(), self.count)

"""What a world says of a model at every step, gathered for the samples: works are summed, errors are the largest."""

from collections.abc import Sequence

import numpy as np

from reference_engine.array_types import Indices
from validation.records.trajectory import AS_THEY_ARE, SUMMED, Internals


class Gathered:
    def __init__(self) -> None:
        self._columns: tuple[str, ...] = ()
        self._rows: list[Sequence[float]] = []

    def add(self, columns: tuple[str, ...], row: Sequence[float]) -> None:
        """Of the state after a step, or at the start; works are those of the step."""
        self._columns = columns
        self._rows.append(tuple(row))

    def at(self, steps: Indices) -> Internals | None:
        """`steps`: of the samples, from 0 on."""
        if not self._columns:
            return None
        table = np.array(self._rows, np.float64).reshape(-1, len(self._columns))
        found = {}
        for name, column in zip(self._columns, table.T):
            if name in SUMMED:
                found[name] = np.cumsum(column)[steps]
            elif name in AS_THEY_ARE:
                found[name] = column[steps].copy()
            else:
                since = np.concatenate([[0], steps[:-1] + 1])
                found[name] = np.maximum.reduceat(column[: steps[-1] + 1], since)
        return Internals(**found)

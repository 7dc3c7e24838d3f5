"""Pairs of bodies that are near one another, as ragged arrays."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from reference_engine.array_types import Array, Flags, Indices


@dataclass(frozen=True, slots=True, kw_only=True)
class Proximities:
    """K near pairs, by sample, then a, then b; a < b.  World axes, D = 2 or 3.

    point_b - point_a = gap * normal.  In penetration point_a is the point of a that is deepest
    along the normal, point_b that of b against it.
    """

    sample: Indices  # (K,) index of the sample
    a: Indices  # (K,) body
    b: Indices  # (K,) body
    gap: Array  # (K,) m, negative in penetration
    normal: Array  # (K, D) unit, from a to b
    point_a: Array  # (K, D) m, on a
    point_b: Array  # (K, D) m, on b
    uncertainty: Array  # (K,) m, width of the certified bracket of the gap; 0 where it is closed form

    def __len__(self) -> int:
        return len(self.gap)


def proximities_of(
    found: Array, a: Indices, b: Indices, sample: Indices | None = None, *, dimension: int = 3
) -> Proximities:
    """Of columns gap, normal, point on a, point on b, and where there is one more the gap's uncertainty."""
    normal, point_a, point_b = (found[:, 1 + k * dimension : 1 + (k + 1) * dimension].copy() for k in range(3))
    return Proximities(
        sample=np.zeros(len(found), np.int64) if sample is None else sample, a=a, b=b, gap=found[:, 0].copy(),
        normal=normal, point_a=point_a, point_b=point_b,
        uncertainty=found[:, -1].copy() if found.shape[1] > 1 + 3 * dimension else np.zeros(len(found)),
    )  # fmt: skip


def all_rows(sweep: Callable[..., int], *, capacity: int, fields: int) -> tuple[Indices, Indices, Array]:
    """What `sweep(sample_out, pair_out, found_out)` finds; it returns how many rows there are, if more than fit too."""
    while True:
        sample, pair, found = np.empty(capacity, np.int64), np.empty(capacity, np.int64), np.empty((capacity, fields))
        total = sweep(sample, pair, found)
        if total <= capacity:
            return sample[:total], pair[:total], found[:total]
        capacity = total


def candidate_pairs(static: Flags, ignore: ArrayLike | None) -> Indices:
    """(P, 2) pairs a < b of which one moves and that are not ignored, in order."""
    wanted = ~(static[:, None] & static)
    if ignore is not None:
        i, j = np.asarray(ignore, dtype=np.int64).reshape(-1, 2).T
        wanted[np.minimum(i, j), np.maximum(i, j)] = False
    a, b = np.nonzero(wanted)
    ordered = a < b
    pairs = np.empty((np.count_nonzero(ordered), 2), np.int64)
    pairs[:, 0], pairs[:, 1] = a[ordered], b[ordered]
    return pairs

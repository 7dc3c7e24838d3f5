"""Which of many boxes overlap, in a time that grows as their number: cells of space, larger ones for larger boxes.

A box belongs to the level whose cells are just larger than it, and there to the cell of its middle. The middles of
two boxes that overlap are no further apart along any axis than the larger box's cell, so from a box one looks, at its
own level and at every coarser one that is in use, into the 27 cells around its middle. Cells are found by their hash
(Teschner et al. 2003, "Optimized spatial hashing for collision detection of deformable objects").
"""

import numpy as np

from reference_engine.array_types import Array, Indices
from reference_engine.compiler.kernels import entry, kernel

MOST_LEVELS = 64
BITS = 0xFFFFF  # of a cell's number along one axis that its hash sees: the products stay below 2^63


@kernel
def bucket(level, x, y, z, mask):
    return (((x & BITS) * 73856093) ^ ((y & BITS) * 19349663) ^ ((z & BITS) * 83492791) ^ (level * 2654435761)) & mask


@entry
def find_pairs(low, high, smallest, cell, used, first, following, pairs):
    """pairs (P, 2), a < b, of boxes that overlap or touch, in no particular order; how many there are, also beyond P.

    low, high (B, 3); smallest: edge of the finest cells, at most MOST_LEVELS doublings below the largest box.
    Scratch: cell (B, 4) level and place, used (MOST_LEVELS), first (a power of two), following (B).
    """
    mask = np.int64(first.shape[0] - 1)
    for k in range(used.shape[0]):
        used[k] = 0
    for k in range(first.shape[0]):
        first[k] = -1
    for i in range(low.shape[0]):
        edge, level = smallest, 0
        while edge < max(high[i, 0] - low[i, 0], high[i, 1] - low[i, 1], high[i, 2] - low[i, 2]):
            edge *= 2.0
            level += 1
        used[level] = 1
        cell[i, 0] = level
        for axis in range(3):
            cell[i, 1 + axis] = np.int64(np.floor(0.5 * (low[i, axis] + high[i, axis]) / edge))
        k = bucket(cell[i, 0], cell[i, 1], cell[i, 2], cell[i, 3], mask)
        following[i], first[k] = first[k], i
    total = 0
    for i in range(low.shape[0]):
        edge = smallest
        for level in range(used.shape[0]):
            if used[level] == 1 and level >= cell[i, 0]:
                x = np.int64(np.floor(0.5 * (low[i, 0] + high[i, 0]) / edge))
                y = np.int64(np.floor(0.5 * (low[i, 1] + high[i, 1]) / edge))
                z = np.int64(np.floor(0.5 * (low[i, 2] + high[i, 2]) / edge))
                for k in range(27):
                    u, v, w = x + k % 3 - 1, y + (k // 3) % 3 - 1, z + k // 9 - 1
                    j = first[bucket(np.int64(level), u, v, w, mask)]
                    while j >= 0:
                        if (
                            cell[j, 0] == level and cell[j, 1] == u and cell[j, 2] == v and cell[j, 3] == w
                            and (j > i or level > cell[i, 0])
                            and low[i, 0] <= high[j, 0] and low[j, 0] <= high[i, 0]
                            and low[i, 1] <= high[j, 1] and low[j, 1] <= high[i, 1]
                            and low[i, 2] <= high[j, 2] and low[j, 2] <= high[i, 2]
                        ):  # fmt: skip
                            if total < pairs.shape[0]:
                                pairs[total, 0], pairs[total, 1] = min(i, j), max(i, j)
                            total += 1
                        j = following[j]
            edge *= 2.0
    return total


def overlapping_boxes(low: Array, high: Array) -> Indices:
    """(P, 2) pairs a < b of the B boxes low ... high, (B, 3) each, that overlap or touch; sorted.

    Raises ValueError if a bound is not finite, or a box is inside out.
    """
    wrong = np.argwhere(~(np.isfinite(low) & np.isfinite(high) & (low <= high)))
    if wrong.size:
        i, k = wrong[0]
        raise ValueError(f"box {i}: {low[i, k]} to {high[i, k]} along axis {k}; finite, low to high")
    count = len(low)
    if count < 2:
        return np.zeros((0, 2), np.int64)
    edges = (high - low).max(axis=1)
    largest = float(edges.max())
    # Boxes far smaller than the largest share its finest level; a little wider than the boxes, for round-off.
    smallest = max(float(edges.min()), largest * 2.0 ** (2 - MOST_LEVELS), float(np.abs(low).max()) * 1e-12)
    smallest *= 1.0 + 1e-9
    if smallest == 0.0:  # points at the origin
        smallest = 1.0
    size = 1 << int(2 * count - 1).bit_length()
    cell, following = np.empty((count, 4), np.int64), np.empty(count, np.int64)
    used, first = np.empty(MOST_LEVELS, np.int64), np.empty(size, np.int64)
    capacity = 16 * count
    while True:
        pairs = np.empty((capacity, 2), np.int64)
        total = find_pairs(low, high, smallest, cell, used, first, following, pairs)
        if total <= capacity:
            break
        capacity = total
    pairs = pairs[:total]
    return np.ascontiguousarray(pairs[np.argsort(pairs[:, 0] * count + pairs[:, 1])])

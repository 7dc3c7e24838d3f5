"""Which ellipsoids are near one another, step after step."""

import numpy as np
from numpy.typing import ArrayLike

from reference_engine.array_types import Array, Indices
from reference_engine.dense import mul
from reference_engine.geometry.cells import overlapping_boxes
from reference_engine.geometry.ellipsoid_depth import STACK
from reference_engine.geometry.ellipsoid_gap import ellipsoid_gaps
from reference_engine.geometry.ellipsoid_proximity import placed
from reference_engine.geometry.ellipsoid_support import has_left, pose_ellipsoids
from reference_engine.geometry.proximities import Proximities, proximities_of
from reference_engine.geometry.support import FIELDS


class EllipsoidNeighbours:
    """The gaps below a cutoff among B ellipsoids that move a little from call to call.

    The pairs whose boxes, wider by the cutoff and a skin, overlap are listed once, and again only when a body has left
    its box; each pair's search starts from its last normal. Between two listings nothing is allocated.
    """

    def __init__(self, semi_axes: ArrayLike, *, cutoff: float, skin: float | None = None) -> None:
        """semi_axes (B, 3) m; gaps from `cutoff` m, at least 0, are not wanted; skin m: a quarter of the mean shortest
        semi-axis unless given. Raises ValueError, naming what is wrong.
        """
        axes = np.array(semi_axes, np.float64)
        still = np.zeros(len(axes) if axes.ndim else 0)
        self.semi_axes, self._body = placed(axes, np.zeros((len(still), 3)), still[:, None] + (1.0, 0.0, 0.0, 0.0))
        thin = 0.25 * self.semi_axes.min(axis=1).mean() if len(still) else 0.0
        for name, value in (("cutoff", cutoff), ("skin", thin if skin is None else skin)):
            if not 0.0 <= value < np.inf:
                raise ValueError(f"{name}: {value} m; at least 0 and finite")
        self.cutoff, self.skin = float(cutoff), float(thin if skin is None else skin)
        self.rebuilds = 0  # how often the pairs have been listed
        self.pairs: Indices = np.zeros((0, 2), np.int64)  # (P, 2) of the last listing, sorted, a < b
        self.found: Array = np.zeros((0, FIELDS))  # (P, 11) of the last update; rows from the cutoff on: gap alone
        self._normal: Array = np.zeros((0, 3))
        self._low = self._high = np.zeros((0, 3))
        self._stack = np.empty(STACK)

    def update(self, position: ArrayLike, orientation: ArrayLike) -> int:
        """Take (B, 3) m and (B, 4) w x y z, body to world; returns how many pairs have a gap of at most the cutoff.

        `found` has a row a pair: gap, normal from a to b, point on a, point on b, bound on the gap's error; of pairs
        above the cutoff the first column alone counts, and is a lower bound of the gap.
        """
        r, o = (np.require(x, np.float64, ["C", "W"]) for x in (position, orientation))
        if r.shape != (len(self._body), 3) or o.shape != (len(self._body), 4):
            raise ValueError(
                f"position, orientation: shapes {r.shape}, {o.shape}; ({len(self._body)}, 3), ({len(self._body)}, 4)"
            )
        pose_ellipsoids(self.semi_axes, r, o, self._body)
        if self.rebuilds == 0 or has_left(self._body, 0.5 * self.cutoff, self._low, self._high):
            self._list(r, o)
        return int(ellipsoid_gaps(self._body, self.pairs, self.cutoff, self._normal, self._stack, self.found))

    def proximities(self) -> Proximities:
        """The pairs of the last update with gap < cutoff."""
        keep = self.found[:, 0] < self.cutoff
        return proximities_of(self.found[keep], self.pairs[keep, 0], self.pairs[keep, 1])

    def _list(self, position: Array, orientation: Array) -> None:
        placed(self.semi_axes, position, orientation)  # says what is wrong with them, if anything
        half = np.sqrt(self._body[:, 12:15]) + 0.5 * (self.cutoff + self.skin)
        self._low, self._high = position - half, position + half
        before, normal = self.pairs, self._normal
        self.pairs = overlapping_boxes(self._low, self._high)
        self._normal = np.zeros((len(self.pairs), 3))
        if len(before):
            bodies = len(position)
            old, new = mul(before, (bodies, 1)), mul(self.pairs, (bodies, 1))
            at = np.minimum(np.searchsorted(old, new), len(old) - 1)
            kept = old[at] == new
            self._normal[kept] = normal[at[kept]]
        self.found = np.empty((len(self.pairs), FIELDS))
        self.rebuilds += 1

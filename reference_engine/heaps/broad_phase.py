"""Where bodies may touch: which pairs are listed, and what is carried over from one list to the next."""

import numpy as np

from reference_engine.array_types import Array, Indices
from reference_engine.dense import mul
from reference_engine.geometry.cells import overlapping_boxes
from reference_engine.geometry.layout import FIELDS, M
from reference_engine.heaps.layout import Candidates, Poses
from reference_engine.heaps.world import EllipsoidWorld

STEPS_AHEAD = 8  # that a list of pairs should last


class BroadPhase:
    """N candidates: P pairs, B of a half-space, 4 B of a hollow sphere. `candidates` is what the compiled step sees."""

    candidates: Candidates

    def __init__(self, world: EllipsoidWorld, skin: float) -> None:
        self.world, self.skin, self.rebuilds = world, skin, 0
        bodies = len(world.position)
        self._low = self._high = np.zeros((bodies, 3))
        per = [container.rows for container in world.containers]
        which = [np.repeat(np.arange(bodies), k) for k in per]
        self._with = np.concatenate([np.zeros(0, np.int64), *which])
        coefficients = [np.repeat(world.coefficients_with(i), k, axis=0) for i, k in enumerate(per)]
        self._coefficients = np.concatenate([np.zeros((0, 2)), *coefficients])
        self.pairs: Indices = np.zeros((0, 2), np.int64)
        self.warm_start: Array = np.zeros((2, len(self._with), 3))  # N s on b, of the two solves of a step, world axes
        self._lay_out(self.warm_start, np.zeros((0, 3)), np.zeros(len(self._with), np.int64))

    @property
    def body(self) -> Indices:
        """(N, 2) a and b; B for what nothing moves."""
        return self.candidates.body

    def poses(self, position: Array, orientation: Array, table: Array) -> Poses:
        """With space for the candidates of now, all of which have to be looked at."""
        count = len(self.candidates.body)
        return Poses(
            position=position, orientation=orientation, table=table, found=np.full((count, FIELDS), -np.inf),
            sharp=np.zeros(count, np.int64),
        )  # fmt: skip

    def rebuild(self, now: Poses, ahead: Poses, step: Array) -> None:
        """Pairs that may meet between two poses and for a while after; step (B, 3) m: how far bodies get in a step."""
        first, last = (np.sqrt(poses.table[:, M : M + 3]) for poses in (now, ahead))
        far, skin = STEPS_AHEAD * step, self.skin
        self._low = np.minimum(now.position - first, ahead.position - last) + np.minimum(0.0, far) - skin
        self._high = np.maximum(now.position + first, ahead.position + last) + np.maximum(0.0, far) + skin
        pairs = overlapping_boxes(self._low, self._high)
        if self.world.fixed.any():
            pairs = np.ascontiguousarray(pairs[~self.world.fixed[pairs].all(axis=1)])
        before, old = self.pairs, self.candidates
        count = len(pairs) + len(self._with)
        warm_start, chosen, normal = np.zeros((2, count, 3)), np.zeros(count, np.int64), np.zeros((len(pairs), 3))
        warm_start[:, len(pairs) :], chosen[len(pairs) :] = old.warm_start[:, len(before) :], old.chosen[len(before) :]
        if len(before):
            bodies = len(now.position)
            was, is_ = mul(before, (bodies, 1)), mul(pairs, (bodies, 1))
            at = np.minimum(np.searchsorted(was, is_), len(was) - 1)
            same = np.flatnonzero(was[at] == is_)
            at = at[same]
            normal[same], warm_start[:, same], chosen[same] = old.normal[at], old.warm_start[:, at], old.chosen[at]
        self.pairs = pairs
        self._lay_out(warm_start, normal, chosen)
        self.rebuilds += 1

    def _lay_out(self, warm_start: Array, normal: Array, chosen: Indices) -> None:
        count = len(self._with)
        body = np.concatenate([self.pairs, np.stack([self._with, np.full(count, len(self.world.position))], axis=1)])
        self.warm_start = warm_start
        self.candidates = Candidates(
            body=body, coefficients=np.concatenate([self.world.coefficients_of(self.pairs), self._coefficients]),
            low=self._low,
            high=self._high, normal=normal, chosen=chosen, warm_start=warm_start,
        )  # fmt: skip

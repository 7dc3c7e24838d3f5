"""The first place of a step that no longer holds: its force falls through zero, or it slides off its edge."""

import numpy as np

from reference_engine.geometry.kernels import entry, kernel
from reference_engine.planar.located.constraint import held_rate
from reference_engine.planar.located.integrator import dense_value
from reference_engine.planar.located.layout import ALONG, ALONG_PREVIOUS, HALF_PLANE, LINE

OVER_END = 1e-12  # m, how far past the end of an edge a corner has slid off it
LOOKS = 8  # at a step, for the first sign


@kernel
def margin(solids, law, y, places, n, work, pull):
    """(least margin, place): negative once a place pulls (by more than `pull` m/s^2) or is past its edge."""
    held_rate(solids, law, y, places, n, work, work.rate)
    least, at = np.inf, np.int64(-1)
    for k in range(n):
        if work.skipped[k] == 0:
            m = work.force[k] * work.A[k, k] + pull
            if m < least:
                least, at = m, np.int64(k)
        j, q = places.body[k, 1], places.feature[k, 1]
        if q < 0 or solids.kind[j] == HALF_PLANE:
            continue
        along, along_previous = work.geometry[k, ALONG], work.geometry[k, ALONG_PREVIOUS]
        if places.kind[k] == LINE:
            m = min(along, solids.lengths[q] - along) + OVER_END
        else:
            m = min(-along, along_previous) + OVER_END
        if m < least:
            least, at = m, np.int64(k)
    return least, at


@entry
def first_release(solids, law, places, n, work, y, until, pull):
    """(part of the step, place) up to `until`; (2, -1) if every place holds. Looks at eight instants, then bisects."""
    before = 0.0
    state = work.state
    for look in range(1, LOOKS + 1):
        after = until * look / LOOKS
        for c in range(y.shape[0]):
            state[c] = dense_value(y, work.dense, after, c)
        least, at = margin(solids, law, state, places, n, work, pull)
        if least < 0.0:
            while True:
                middle = 0.5 * (before + after)
                if middle <= before or middle >= after or after - before < 1e-15 * until:
                    return after, at
                for c in range(y.shape[0]):
                    state[c] = dense_value(y, work.dense, middle, c)
                least, where = margin(solids, law, state, places, n, work, pull)
                if least < 0.0:
                    after, at = middle, where
                else:
                    before = middle
        before = after
    return 2.0, np.int64(-1)

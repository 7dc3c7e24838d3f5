"""Minkowski portal refinement on random pairs of spheres and ellipsoids: failures, and how exact it is.

    python -P ci/benchmarks/mpr.py [--pairs 100000] [--seed N]

Half of the pairs touch (gaps to 1e-6 of the thinnest axis either way), half are deep in one another, to three times the
thinnest axis; aspect ratios to 1:20, one in four a sphere. Touching: against the distance in long double (a slab and
two surface points) where they are apart, else against the certified search of geometry/ellipsoid_gap.py. Deep: the
slab that is found must hold what it says, and the certified least depth is no more. Exits 1 on a failure, or an error
above 1e-10 of the pair's size where they touch.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parent))
from measuring import Table, least

from reference_engine.geometry.ellipsoid_proximity import ellipsoid_proximities
from reference_engine.geometry.spatial_shapes import Ellipsoid, Sphere, spatial_shapes
from tests.reference_engine.geometry.ellipsoid_oracle import distance, pair, slab
from tests.reference_engine.geometry.ellipsoid_scenes import facing, random_bodies, twos
from tests.reference_engine.geometry.mpr_pairs import mpr_proximities

TARGET = 1e-10  # of the size, where they touch
ASPECTS = (1.0, 2.0, 5.0, 10.0, 20.0)
CHUNK = 5000


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=20_260_101)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    right = ("us a pair:>10.1f", "worst error:>12.1e", "not the least:>14.2%", "failures:>9")
    table = Table("pairs:10", "aspect:>6g", "count:>8", *right)
    done = failures = 0
    worst = 0.0
    each = -(-options.pairs // (2 * len(ASPECTS)))
    for kind in ("touching", "deep"):
        for aspect in ASPECTS:
            count = seconds = wrong = higher = 0
            error = 0.0
            while count < each:
                now = min(CHUNK, each - count)
                axes, turned = random_bodies(rng, now, aspect)
                round_ = rng.uniform(size=2 * now) < 0.25
                axes[round_] = axes[round_, :1]
                thin = axes.reshape(-1, 6).min(axis=1)
                share = rng.choice([0.0, 1e-12, -1e-12, 1e-9, -1e-9, 1e-6, -1e-6], now)
                gap = thin * (share if kind == "touching" else -rng.uniform(0.01, 3.0, now))
                position, n = facing(rng, axes, turned, gap)
                shapes = spatial_shapes(
                    [Sphere(a[0]) if ball else Ellipsoid(a) for a, ball in zip(axes, round_)], [False] * (2 * now)
                )
                took, near = least(1, mpr_proximities, shapes, position, turned, twos(now))
                seconds += took
                apart = np.linalg.norm(position[1::2] - position[::2], axis=1)
                size = apart + axes.max(axis=1).reshape(-1, 2).sum(axis=1)
                exact = ellipsoid_proximities(axes, position, turned, twos(now))
                bad = ~np.isfinite(near.gap) | ~np.isfinite(near.normal).all(axis=1)
                if kind == "touching":
                    pairs = pair(axes, position, turned)
                    at_least, at_most = distance(pairs, n)
                    true = np.where(gap > 0.0, at_least.astype(float), exact.gap)
                    off = np.abs(near.gap - true) / size
                    bad |= (gap > 0.0) & ((at_most - at_least) > 1e-13 * size)  # the witness itself would have failed
                    error = max(error, float(off.max()))
                else:
                    width, _ = slab(pair(axes, position, turned, float), near.normal)
                    bad |= np.abs(width - near.gap) > 1e-13 * size
                    bad |= near.gap > exact.gap + exact.uncertainty + 1e-13 * size  # nothing parts them by less
                    higher += int((near.gap < exact.gap - exact.uncertainty - 1e-13 * size).sum())
                wrong += int(bad.sum())
                count += now
            touching = kind == "touching"
            known = (error, None) if touching else (None, higher / count)
            table.row(kind, aspect, count, 1e6 * seconds / count, *known, wrong)
            done, failures, worst = done + count, failures + wrong, max(worst, error)
    met = failures == 0 and worst <= TARGET
    print(
        f"{done} pairs, {failures} failures (target 0), error {worst:.1e} of the size where touching "
        f"(target {TARGET:g}): {'met' if met else 'MISSED'}"
    )
    return int(not met)


if __name__ == "__main__":
    sys.exit(main())

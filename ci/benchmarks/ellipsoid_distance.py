"""Gaps of random pairs of ellipsoids: how exact, how certain, how fast; and MuJoCo's mj_geomDistance in the same run.

    python -P ci/benchmarks/ellipsoid_distance.py [--pairs 1000000] [--seed N]

Apart and touching: the true distance is bracketed in long double (a slab and two surface points, 1e-16 of the pair's
size apart). Overlapping: against the best of many starts, on a sample. Times are from positions and quaternions to
gaps, one thread, the least of four passes over every thousand pairs (MuJoCo: hundred), which leaves out what else the
machine does. MuJoCo's are beyond its call overhead: less what the same call takes for two spheres. Exits 1 where a
target is missed.
"""

import argparse
import sys
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

sys.path.append(str(Path(__file__).parent))
from measuring import Table, least

from reference_engine.geometry.ellipsoid_depth import STACK
from reference_engine.geometry.ellipsoid_gap import ellipsoid_gaps
from reference_engine.geometry.ellipsoid_support import pose_ellipsoids
from reference_engine.geometry.layout import ELLIPSOID_COLUMNS, FIELDS
from tests.reference_engine.geometry.ellipsoid_oracle import IS_SHARPER, distance, pair, rotation, widest
from tests.reference_engine.geometry.ellipsoid_scenes import facing, random_bodies

CHUNK, BLOCK, PASSES = 25_000, 1000, 4
KINDS = ("apart", "touching", "overlapping", "deep")
ASPECTS = (1.0, 3.0, 10.0, 100.0)
TIME, OVERLAP_TIME = 0.6, 3.0  # us a pair
ERROR, GLOBAL = 1e-12, 1e-9  # of the pair's size
FASTER = 4.0  # than MuJoCo


@dataclass
class Row:
    """One line of the table."""

    kind: str
    aspect: float
    pairs: int
    mean: float  # us a pair
    error: float  # worst, of the size
    bound: float  # worst uncertainty, of the size
    failures: int  # not finite, or the truth outside the bound
    compared: int


def gaps_of(rng: np.random.Generator, kind: str, axes: np.ndarray) -> np.ndarray:
    thin, count = axes.reshape(-1, 6).min(axis=1), len(axes) // 2
    match kind:
        case "apart":
            return rng.uniform(0.01, 3.0, count)
        case "touching":
            return np.full(count, 1e-9)
        case "overlapping":
            return -0.2 * thin * rng.uniform(0.0, 1.0, count)
        case _:
            return -thin * rng.uniform(0.2, 3.0, count)


class Timed:
    """Ours, on arrays that stay: a thousand pairs at a time, as many as an engine has at hand."""

    def __init__(self, count: int) -> None:
        self.body, self.found = np.empty((2 * BLOCK, ELLIPSOID_COLUMNS)), np.empty((count, FIELDS))
        self.normal, self.stack = np.zeros((BLOCK, 3)), np.empty(STACK)
        self.pairs = np.arange(2 * BLOCK).reshape(-1, 2)

    def __call__(self, axes: np.ndarray, position: np.ndarray, turned: np.ndarray) -> float:
        """Seconds, the least of PASSES for every block; the result in `found`."""
        seconds, count = 0.0, len(axes) // 2
        for first in range(0, count, BLOCK):
            now = min(BLOCK, count - first)
            bodies = slice(2 * first, 2 * (first + now))
            body, normal, found = self.body[: 2 * now], self.normal[:now], self.found[first : first + now]
            given = axes[bodies], position[bodies], turned[bodies], body, normal, self.pairs[:now], found
            seconds += least(PASSES, self._once, *given)[0]
        return seconds

    def _once(self, axes, position, turned, body, normal, pairs, found) -> None:
        normal[:] = 0.0  # no warm start
        pose_ellipsoids(axes, position, turned, body)
        ellipsoid_gaps(body, pairs, np.inf, normal, self.stack, found)


def measure(kind: str, aspect: float, count: int, sample: int, rng: np.random.Generator) -> Row:
    row = Row(kind, aspect, 0, 0.0, 0.0, 0.0, 0, 0)
    ours, seconds = Timed(min(CHUNK, count)), 0.0
    while row.pairs < count:
        now = min(CHUNK, count - row.pairs)
        axes, turned = random_bodies(rng, now, aspect)
        position, n = facing(rng, axes, turned, gaps_of(rng, kind, axes))
        seconds += ours(axes, position, turned)
        gap, bound = ours.found[:now, 0].copy(), ours.found[:now, 10].copy()
        size = np.linalg.norm(position[1::2] - position[::2], axis=1) + axes.max(axis=1).reshape(-1, 2).sum(axis=1)
        row.bound = max(row.bound, float((bound / size).max()))
        row.pairs += now
        wrong = ~np.isfinite(ours.found[:now]).all(axis=1)
        if kind in ("apart", "touching"):
            pairs = pair(axes, position, turned)
            at_least, at_most = distance(pairs, n + 1e-3 * rng.normal(size=n.shape))
            blurred = (at_most - at_least) > 1e-3 * ERROR * size  # the oracle itself would have failed
            error = np.abs(gap - at_least).astype(float)
            wrong |= blurred | (error > bound + (at_most - at_least))
            row.compared += now
        else:
            few = slice(0, max(0, min(now, sample - row.compared)))
            if not gap[few].size:
                row.failures += int(wrong.sum())
                continue
            both = slice(0, 2 * few.stop)
            _, width = widest(pair(axes[both], position[both], turned[both], float), rng, lattice=150, climbers=6)
            error, size = np.abs(width - gap[few]), size[few]
            wrong[few] |= width > gap[few] + bound[few] + 1e-14 * size  # something better was found
            missed = width < gap[few] - 1e-12 * size  # by the many starts, not by us
            error = np.where(missed, 0.0, error)
            row.compared += few.stop
        row.failures += int(wrong.sum())
        row.error = max(row.error, float((error / size).max()))
    row.mean = 1e6 * seconds / count
    return row


def mujoco_times(axes: np.ndarray, position: np.ndarray, turned: np.ndarray, tolerance: float) -> tuple[float, Any]:
    """Seconds beyond the overhead of all pairs, and the distances."""

    def geoms(kind: str) -> str:
        two = 2 * f"<body><freejoint/><geom type='{kind}' size='1 1 1' mass='1'/></body>"
        return f"<mujoco><option ccd_tolerance='{tolerance}'/><worldbody>{two}</worldbody></mujoco>"

    xmat = rotation(turned, float).reshape(-1, 2, 9)
    xpos, size = position.reshape(-1, 2, 3), axes.reshape(-1, 2, 3)
    times, distances = [], np.empty(len(xpos))
    for kind in ("ellipsoid", "sphere"):
        model = mujoco.MjModel.from_xml_string(geoms(kind))
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        ball = np.repeat(size[:, :, :1], 3, axis=2)
        sizes, seconds = size if kind == "ellipsoid" else ball, 0.0
        for first in range(0, len(xpos), BLOCK // 10):
            some = range(first, min(first + BLOCK // 10, len(xpos)))
            seconds += least(PASSES, measure_distances, model, data, some, sizes, xpos, xmat, distances)[0]
        times.append(seconds)
        if kind == "ellipsoid":
            warm_start = distances.copy()
    return times[0] - times[1], warm_start


def measure_distances(model: Any, data: Any, pairs: range, *arrays: np.ndarray) -> None:
    (sizes, xpos, xmat, distances), fromto = arrays, np.zeros(6)
    for k in pairs:
        model.geom_size[:] = sizes[k]
        data.geom_xpos[:] = xpos[k]
        data.geom_xmat[:] = xmat[k]
        distances[k] = mujoco.mj_geomDistance(model, data, 0, 1, 1e3, fromto)


def against_mujoco(rng: np.random.Generator, count: int = 4000) -> float:
    """Prints how many times faster, kind by kind; returns it for all of them together."""
    print(f"\n{count} pairs of each")
    table = Table("kind:12", "aspect:>6g", "ours us:>8.2f", "MuJoCo us:>10.2f", "times:>6.1f", "its error:>10.1e")
    ours, times = Timed(count), np.zeros(2)
    for kind in KINDS[:3]:
        for aspect in ASPECTS[1:]:
            axes, turned = random_bodies(rng, count, aspect)
            position, _ = facing(rng, axes, turned, gaps_of(rng, kind, axes))
            mine = ours(axes, position, turned)
            theirs, distances = mujoco_times(axes, position, turned, 1e-6)  # its default
            mine = min(mine, ours(axes, position, turned))
            times += mine, theirs
            error = float(np.abs(distances - ours.found[:, 0]).max())
            table.row(kind, aspect, 1e6 * mine / count, 1e6 * theirs / count, theirs / mine, error)
    return float(times[1] / times[0])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=1_000_000, help="apart and touching, all aspect ratios together")
    parser.add_argument("--seed", type=int, default=None, help="any; a new one each run unless given")
    arguments = parser.parse_args()
    if arguments.pairs < 8:
        parser.error(f"--pairs: {arguments.pairs}; at least 8")
    seed = arguments.seed if arguments.seed is not None else int(np.random.SeedSequence().generate_state(1)[0])
    if not IS_SHARPER:
        print("long double is no sharper than double here: no independent bracket", file=sys.stderr)
        return 1
    rng = np.random.default_rng(seed)
    measure("deep", 3.0, 8, 8, np.random.default_rng(0))  # compile before the clock runs
    print(f"seed {seed}; errors and bounds are of the pair's size: |d| + the longest semi-axes")
    small = ("error:>8.1e", "bound:>8.1e", "failures:>8", "compared:>8")
    table = Table("kind:12", "aspect:>6g", "pairs:>8", "us a pair:>9.2f", *small)
    rows = []
    for kind in KINDS:
        for aspect in ASPECTS:
            apart = kind in ("apart", "touching")
            count = arguments.pairs // (2 * len(ASPECTS)) if apart else max(8, arguments.pairs // 50)
            row = measure(kind, aspect, count, 1000, rng)
            rows.append(row)
            table.row(*astuple(row))
    apart, over, deep = rows[: 2 * len(ASPECTS)], rows[2 * len(ASPECTS) : -len(ASPECTS)], rows[-len(ASPECTS) :]
    faster = against_mujoco(rng)
    mean = float(np.average([row.mean for row in apart], weights=[row.pairs for row in apart]))
    over_mean = float(np.mean([row.mean for row in over]))
    failures = sum(row.failures for row in rows)
    error, bound = max(row.error for row in apart), max(max(row.error, row.bound) for row in over)
    print(
        f"\ndeeper overlaps: {np.mean([row.mean for row in deep]):.1f} us, bound {max(row.bound for row in deep):.0e}"
    )
    met = failures == 0 and mean <= TIME and error <= ERROR and over_mean <= OVERLAP_TIME
    met = met and bound <= GLOBAL and faster >= FASTER
    print(
        f"{failures} failures (target 0); {mean:.2f} us (target {TIME}), error {error:.0e} (target {ERROR:.0e}); "
        f"overlapping {over_mean:.2f} us (target {OVERLAP_TIME}), global to {bound:.0e} (target {GLOBAL:.0e}); "
        f"{faster:.1f} times as fast as MuJoCo (target {FASTER}): {'met' if met else 'MISSED'}"
    )
    return int(not met)


if __name__ == "__main__":
    sys.exit(main())

"""How the time of ellipsoids that fall grows with their number: the table of Oltman & Hur 2017, and heaps to 10,000.

    python -P ci/benchmarks/ellipsoid_scaling.py [--largest 1000] [--steps 100]

First their lattice: N = 1 to 66 ellipsoids in a cube over a plane, random speeds, friction with four edges, dt 0.01;
a collision is a contact of a step, as theirs are. They needed 12.48 s for 18,463. Then N = 100 to `--largest` in four
layers, and in a cube, whose depth grows: the exponent p of time against contacts. Times of the processor, one thread.
Exits 1 unless a collision takes a hundredth of theirs and p is at most 1.15 for heaps of equal depth.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from pathlib import Path

import numpy as np

from validation.kernel_cache import use_kernel_cache

THEIRS = 12.4849 / 18463  # s a collision
SHAPE = (0.1, 0.08, 0.06)


def fall(count: int, layers: int, edges: int, dt: float, steps: int) -> tuple[int, float, int]:
    """(contacts, s, sweeps) of `steps` steps."""
    from reference_engine import EllipsoidWorld, HalfSpace, SpatialSettings, Stepper

    rng, side, i = np.random.default_rng(count), int(np.ceil(np.sqrt(count / layers))), np.arange(count)
    place = np.stack([i % side, i // side % side, i // side**2], axis=1) * 0.23 + [0.0, 0.0, 0.12]
    world = EllipsoidWorld(
        np.tile(SHAPE, (count, 1)), place, orientation=rng.normal(size=(count, 4)),
        velocity=rng.uniform(-0.3, 0.3, (count, 3)), containers=(HalfSpace(),), friction=0.4,
    )  # fmt: skip
    settings = SpatialSettings(order=1, edges=edges, gap_tolerance=3e-4, speed_tolerance=2e-2)
    stepper, contacts, sweeps = Stepper(world, dt, settings), 0, 0
    began = time.process_time()
    for _ in range(steps):
        report = stepper.step()
        contacts, sweeps = contacts + report.contacts, sweeps + report.sweeps
    return contacts, time.process_time() - began, sweeps


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--largest", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=100)
    chosen = parser.parse_args()
    use_kernel_cache()
    fall(2, 1, 4, 0.01, 20)
    fall(2, 1, 0, 0.01, 20)
    print(f"{'N':>6}{'collisions':>12}{'s':>9}{'us each':>10}   (theirs: {1e6 * THEIRS:.0f})")
    contacts, spent = 0, 0.0
    for count in (1, 6, 11, 16, 21, 26, 31, 36, 41, 46, 51, 56, 61, 66):
        here, seconds, _ = fall(count, round(count ** (1 / 3)), 4, 0.01, 100)
        print(f"{count:6d}{here:12d}{seconds:9.3f}{1e6 * seconds / max(1, here):10.1f}", flush=True)
        contacts, spent = contacts + here, spent + seconds
    ratio = THEIRS / (spent / contacts)
    print(f"a collision takes 1/{ratio:.0f} of theirs, wanted 1/100")
    sizes = [n for n in (100, 300, 1000, 3000, 10_000) if n <= chosen.largest]
    slopes = {}
    for name, depth in (("four layers", lambda n: 4), ("a cube", lambda n: round(n ** (1 / 3)))):
        rows = [(*fall(n, depth(n), 0, 0.005, chosen.steps), n) for n in sizes]
        for here, seconds, sweeps, n in rows:
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(f"{name:<12}{n:6d}{here:10d} contacts{seconds:9.2f} s{sweeps / chosen.steps:8.1f} sweeps a step"
                  f"{memory:8.0f} MiB", flush=True)  # fmt: skip
        slopes[name] = np.polyfit(np.log([row[0] for row in rows]), np.log([row[1] for row in rows]), 1)[0]
        print(f"{name}: time grows as contacts^{slopes[name]:.2f}")
    print(f"p = {slopes['four layers']:.2f} in heaps of equal depth, wanted at most 1.15")
    return not (ratio >= 100.0 and slopes["four layers"] <= 1.15)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    sys.exit(main())
